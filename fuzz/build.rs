//! Answers LLVM's callbacks for traced comparisons with a function that does nothing.
//!
//! libFuzzer notes the operands of every integer comparison. On byte classifiers that takes most of the run time, and the
//! constants it would find are in the dictionary. cargo-fuzz always asks the compiler for these callbacks, so the linker
//! is asked to send them elsewhere.

use std::path::Path;

/// The targets that are left as cargo-fuzz makes any target, since others are measured against them.
const YARDSTICKS: [&str; 2] = ["baseline", "plain"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=fuzz_targets");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return;
    }
    let sources = std::fs::read_dir("fuzz_targets").expect("the targets lie beside this file");
    let names = sources.map(|source| source.expect("the folder can be read").path());
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
