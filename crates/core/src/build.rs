//! The build script: facts that only the compiler has. `core` does not expose its version, and `cfg(sanitize)`, which
//! says whether AddressSanitizer is on, is unstable.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=src/build.rs");
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().ok();
    let text = output.and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    // "rustc 1.97.0-nightly (e50aa6fba 2026-05-19)"
    let version = text.split_whitespace().nth(1).unwrap_or("0.0.0-unknown");
    println!("cargo::rustc-env=UTFUZZ_CORE_VERSION={version}");
    // The target triple, which is the name of cargo-fuzz's output directory.
    println!("cargo::rustc-env=UTFUZZ_TARGET={}", env::var("TARGET").unwrap_or_default());
    if env::var_os("CARGO_FEATURE_PLANTED").is_some() && !Path::new("src/peers/planted/mod.rs").exists() {
        println!(
            "cargo::error=the feature `planted` needs a clone of the repository: the package has no planted decoders"
        );
    }
    println!("cargo::rustc-check-cfg=cfg(address_sanitizer)");
    if env::var("CARGO_CFG_SANITIZE").is_ok_and(|sanitizers| sanitizers.split(',').any(|name| name == "address")) {
        println!("cargo::rustc-cfg=address_sanitizer");
    }
}
