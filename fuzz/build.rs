//! Answers LLVM's callbacks for traced comparisons with a function that does nothing.
//!
//! libFuzzer notes the operands of every integer comparison. On byte classifiers that is most of the run time, and the
//! constants it would find are in the dictionary. cargo-fuzz always asks the compiler for these callbacks, so the
//! linker is asked to send them elsewhere.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").as_deref() != Ok("linux") {
        return;
    }
    let sizes = [1, 2, 4, 8];
    let compares = sizes.iter().flat_map(|size| [format!("cmp{size}"), format!("const_cmp{size}")]);
    for callback in compares.chain(["switch".to_owned()]) {
        let symbol = format!("__sanitizer_cov_trace_{callback}");
        let argument = format!("-Wl,--wrap={symbol},--defsym=__wrap_{symbol}=utfuzz_ignore_comparison");
        // `baseline` and `plain` are left as cargo-fuzz makes any target.
        for target in ["differential", "streaming", "structured"] {
            println!("cargo::rustc-link-arg-bin={target}={argument}");
        }
    }
}
