//! Code that the targets share.

use core::sync::atomic::{AtomicU8, Ordering};
use libfuzzer_sys::{Corpus, fuzzer_mutate};
use std::thread::LocalKey;
use utfuzz::case::Case;
use utfuzz::engine::fuzz::Target;
use utfuzz::generate::mutate::shorten;
use utfuzz::judge::FEATURES;

/// Counters that libFuzzer reads after each input, in addition to code coverage.
#[repr(align(8))]
struct Counters([AtomicU8; FEATURES]);

/// `used`, since nothing in the program reads it: otherwise the optimiser removes it, and every store to it.
#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = "__libfuzzer_extra_counters"))]
static COUNTERS: Counters = Counters([const { AtomicU8::new(0) }; FEATURES]);

/// Judges a case, sets the counters of its features, and returns whether libFuzzer should keep the input.
pub fn judged(target: &'static LocalKey<Target>, case: &Case<'_>) -> Corpus {
    let count = |feature: usize| COUNTERS.0[feature].store(1, Ordering::Relaxed);
    if target.with(|target| target.run(case, count)) { Corpus::Keep } else { Corpus::Reject }
}

/// Mutates the first `size` bytes of `data` with `mutate`, or one time in eight with libFuzzer's mutator. Returns the
/// new size.
pub fn mutated(
    data: &mut [u8],
    size: usize,
    max_size: usize,
    seed: u32,
    mutate: fn(&mut Vec<u8>, usize, u32),
) -> usize {
    let mut bytes = data[..size].to_vec();
    let by_libfuzzer = seed.is_multiple_of(8);
    if by_libfuzzer {
        shorten(&mut bytes, seed)
    } else {
        mutate(&mut bytes, max_size, seed)
    }
    data[..bytes.len()].copy_from_slice(&bytes);
    if by_libfuzzer { fuzzer_mutate(data, bytes.len(), max_size) } else { bytes.len() }
}

/// Writes a crossover of two inputs to `out`; returns its size.
pub fn crossed(first: &[u8], second: &[u8], out: &mut [u8], seed: u32) -> usize {
    let bytes = utfuzz::generate::mutate::cross(first, second, out.len(), seed);
    out[..bytes.len()].copy_from_slice(&bytes);
    bytes.len()
}

/// Replaces LLVM's callbacks for traced comparisons; see `build.rs`.
#[unsafe(no_mangle)]
pub extern "C" fn utfuzz_ignore_comparison() {}

/// Options of AddressSanitizer: a shadow copy of every stack frame, to find uses of a frame after its return, would
/// cost a tenth of the speed and find nothing in safe code.
#[unsafe(no_mangle)]
pub extern "C" fn __asan_default_options() -> *const core::ffi::c_char {
    c"detect_stack_use_after_return=0".as_ptr()
}
