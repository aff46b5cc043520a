//! Redirects LLVM's callbacks for traced comparisons to a function that does nothing.
//!
//! libFuzzer records the operands of every integer comparison. In byte classifiers that takes most of the run time, and
//! the constants it would find are in the dictionary. cargo-fuzz always enables these callbacks, so they are redirected
//! when the targets are linked.

use std::path::Path;

/// The targets that keep the callbacks, as any target of cargo-fuzz has them, since others are measured against these.
const YARDSTICKS: [&str; 2] = ["baseline", "plain"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=fuzz_targets");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return;
    }
    let sources = std::fs::read_dir("fuzz_targets").expect("fuzz_targets is beside this file");
    let names = sources.map(|source| source.expect("fuzz_targets can be read").path());
    let names = names.filter_map(|source| Some(Path::new(source.file_stem()?).to_str()?.to_owned()));
    for target in names.filter(|name| !YARDSTICKS.contains(&name.as_str())) {
        let sizes = [1, 2, 4, 8];
        let compares = sizes.iter().flat_map(|size| [format!("cmp{size}"), format!("const_cmp{size}")]);
        for callback in compares.chain(["switch".to_owned()]) {
            let symbol = format!("__sanitizer_cov_trace_{callback}");
            let argument = format!("-Wl,--wrap={symbol},--defsym=__wrap_{symbol}=utfuzz_ignore_comparison");
            println!("cargo::rustc-link-arg-bin={target}={argument}");
        }
    }
}
