//! What the targets share.

use libfuzzer_sys::Corpus;

/// What libFuzzer does with an input that did something new, or did not.
pub fn corpus(novel: bool) -> Corpus {
    if novel { Corpus::Keep } else { Corpus::Reject }
}

/// Takes the place of LLVM's callbacks for traced comparisons; see `build.rs`.
#[unsafe(no_mangle)]
pub extern "C" fn utfuzz_ignore_comparison() {}
