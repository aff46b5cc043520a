//! The build script: `core` has no version that code can read, so the compiler is asked for its own.

use std::env;
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=src/peers/core_version.rs");
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).arg("--version").output().ok();
    let text = output.and_then(|output| String::from_utf8(output.stdout).ok()).unwrap_or_default();
    // "rustc 1.97.0-nightly (e50aa6fba 2026-05-19)"
    let version = text.split_whitespace().nth(1).unwrap_or("0.0.0-unknown");
    println!("cargo::rustc-env=UTFUZZ_CORE_VERSION={version}");
    // Where cargo-fuzz puts what it builds.
    println!("cargo::rustc-env=UTFUZZ_TARGET={}", env::var("TARGET").unwrap_or_default());
}
