//! What the targets share.

use libfuzzer_sys::Corpus;

/// What libFuzzer does with an input that did something new, or did not.
pub fn corpus(novel: bool) -> Corpus {
    if novel { Corpus::Keep } else { Corpus::Reject }
}

/// Takes the place of LLVM's callbacks for traced comparisons; see `build.rs`.
#[unsafe(no_mangle)]
pub extern "C" fn utfuzz_ignore_comparison() {}

/// Options of AddressSanitizer: a shadow copy of every stack frame, to find uses of a frame that is gone, would cost a
/// tenth of the speed and find nothing in safe code.
#[unsafe(no_mangle)]
pub extern "C" fn __asan_default_options() -> *const core::ffi::c_char {
    c"detect_stack_use_after_return=0".as_ptr()
}
