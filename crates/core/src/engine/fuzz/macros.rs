//! The macro `fuzz_target!`, and the functions that its expansion calls.

use super::Target;
use crate::case::Case;
use crate::generate::fragments::opening_bytes;
use crate::generate::mutate::{Pool, shorten};
use crate::judge::FEATURES;
use core::sync::atomic::{AtomicU8, AtomicUsize, Ordering};
use libfuzzer_sys::Corpus;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::LocalKey;

/// Counters that libFuzzer reads after each input.
#[repr(align(8))]
struct Counters([AtomicU8; FEATURES]);

/// `used`, since nothing in the program reads it: otherwise the optimiser removes it, and every store to it.
#[used]
#[cfg_attr(target_os = "linux", unsafe(link_section = "__libfuzzer_extra_counters"))]
#[allow(unsafe_code, reason = "libFuzzer finds its counters by the name of their section")]
static COUNTERS: Counters = Counters([const { AtomicU8::new(0) }; FEATURES]);

/// Judges a case, sets the counters of its features, and returns whether libFuzzer should keep the input.
pub fn judged(target: &'static LocalKey<Target>, case: &Case<'_>) -> Corpus {
    let count = |feature: usize| COUNTERS.0[feature].store(1, Ordering::Relaxed);
    if target.with(|target| target.run(case, count)) {
        locked(&POOL).keep(case.bytes);
        Corpus::Keep
    } else {
        Corpus::Reject
    }
}

/// Returns the next of the prepared inputs with which a run begins, or `None` after the last. They show most faults, so the
/// input that was to be mutated is ignored.
fn opening(most: usize) -> Option<Vec<u8>> {
    const ALL_TAKEN: usize = usize::MAX;
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let index = NEXT.load(Ordering::Relaxed);
    if index == ALL_TAKEN {
        return None;
    }
    let bytes = opening_bytes(index);
    NEXT.store(if bytes.is_some() { index + 1 } else { ALL_TAKEN }, Ordering::Relaxed);
    bytes.map(|mut bytes| {
        bytes.truncate(most);
        bytes
    })
}

/// Starts a target before its first input, so that an error in its environment is not taken for a crash.
pub fn start(target: &'static LocalKey<Target>) {
    target.with(|target| target.with(|_| ()));
}

/// Mutates the first `size` bytes of `data` with `mutate`, or one time in eight with `by_libfuzzer`, libFuzzer's
/// mutator. Returns the new size.
pub fn mutated(
    data: &mut [u8],
    size: usize,
    max_size: usize,
    seed: u32,
    mutate: fn(&mut Vec<u8>, usize, u32),
    by_libfuzzer: fn(&mut [u8], usize, usize) -> usize,
) -> usize {
    if let Some(bytes) = opening(max_size) {
        data[..bytes.len()].copy_from_slice(&bytes);
        return bytes.len();
    }
    /// The last mutant, whose memory is used again.
    static MUTANT: Mutex<Vec<u8>> = Mutex::new(Vec::new());
    let mut bytes = locked(&MUTANT);
    bytes.clear();
    bytes.extend_from_slice(&data[..size]);
    let is_libfuzzers = seed.is_multiple_of(8);
    if is_libfuzzers {
        shorten(&mut bytes, seed)
    } else {
        mutate(&mut bytes, max_size, seed)
    }
    data[..bytes.len()].copy_from_slice(&bytes);
    if is_libfuzzers { by_libfuzzer(data, bytes.len(), max_size) } else { bytes.len() }
}

static POOL: Mutex<Pool> = Mutex::new(Pool::new());

fn locked<T>(mutex: &'static Mutex<T>) -> MutexGuard<'static, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Mutates `bytes` by the [`Pool`] of inputs that did something new. libFuzzer's own crossover would clear a buffer of the
/// longest possible input first, which takes longer than to judge one of the first inputs.
pub fn mutate_by_pool(bytes: &mut Vec<u8>, most: usize, seed: u32) {
    // The lowest bits chose between the mutators.
    locked(&POOL).mutate(bytes, most, seed >> 3);
}

/// Defines the libFuzzer target of a program under `fuzz/fuzz_targets`, with mutators and behaviour feedback. The crate
/// needs the dependency `libfuzzer-sys`, which the macros of that crate name.
///
/// The first argument is the form of an input file: `bytes` (exactly what the decoders see), `cut` (the bytes and where
/// they are cut for streams), `structured` (entropy for generated text and errors) or `conversion` (entropy for a
/// conversion there and back). The second, which `conversion` does not have, is the
/// [`Target`](crate::engine::fuzz::Target).
///
/// ```
/// # use utfuzz_core as utfuzz;
/// # mod fuzzed {
/// use utfuzz::engine::fuzz::Target;
///
/// # pub fn decoders() -> Vec<Box<dyn utfuzz::Decoder>> { Vec::new() }
/// utfuzz::fuzz_target!(bytes, Target::of(decoders));
/// # }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! fuzz_target {
    (bytes, $target:expr) => {
        $crate::fuzz_target!(@judge $target, &[u8], |bytes| $crate::Case::new(bytes));
        $crate::fuzz_target!(@mutate $crate::engine::fuzz::mutate_by_pool);
    };
    (cut, $target:expr) => {
        $crate::fuzz_target!(@judge $target, $crate::case::Input, |input| input.case());
        $crate::fuzz_target!(@mutate $crate::generate::mutate::mutate_cut);
    };
    (structured, $target:expr) => {
        $crate::fuzz_target!(@judge $target, $crate::engine::fuzz::StructuredInput, |input| input.case());
    };
    (conversion) => {
        // Without behaviour features.
        $crate::fuzz_target!(@symbols true);
        $crate::engine::fuzz::libfuzzer_sys::fuzz_target!(|input: $crate::engine::fuzz::RoundTrip| {
            $crate::engine::fuzz::roundtrip(&input)
        });
    };
    (@judge $target:expr, &[u8], |$input:ident| $case:expr) => {
        $crate::fuzz_target!(@target $target);
        $crate::engine::fuzz::libfuzzer_sys::fuzz_target!(
            init: $crate::engine::fuzz::start(&TARGET),
            |$input: &[u8]| -> $crate::engine::fuzz::libfuzzer_sys::Corpus {
                $crate::engine::fuzz::judged(&TARGET, &$case)
            }
        );
    };
    (@judge $target:expr, $type:ty, |$input:ident| $case:expr) => {
        $crate::fuzz_target!(@target $target);
        $crate::engine::fuzz::libfuzzer_sys::fuzz_target!(
            init: $crate::engine::fuzz::start(&TARGET),
            |$input: $type| -> $crate::engine::fuzz::libfuzzer_sys::Corpus {
                $crate::engine::fuzz::judged(&TARGET, &$case)
            }
        );
    };
    (@target $target:expr) => {
        $crate::fuzz_target!(@symbols $crate::engine::fuzz::is_guided_by_code());
        ::std::thread_local! {
            static TARGET: $crate::engine::fuzz::Target = const { $target };
        }
    };
    (@mutate $mutate:expr) => {
        $crate::engine::fuzz::libfuzzer_sys::fuzz_mutator!(
            |data: &mut [u8], size: usize, max_size: usize, seed: u32| {
                let by_libfuzzer = $crate::engine::fuzz::libfuzzer_sys::fuzzer_mutate;
                $crate::engine::fuzz::mutated(data, size, max_size, seed, $mutate, by_libfuzzer)
            }
        );
    };
    (@symbols $is_guided_by_code:expr) => {
        /// What LLVM's callbacks for traced comparisons and calls are redirected to; see `utfuzz::engine::link`. Naked, since
        /// LLVM would make an ordinary function count its calls.
        // SAFETY: it only returns.
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        #[unsafe(no_mangle)]
        #[unsafe(naked)]
        pub extern "C" fn utfuzz_ignore_trace() {
            ::core::arch::naked_asm!("ret")
        }

        /// What LLVM's callbacks for traced comparisons and calls are redirected to; see `utfuzz::engine::link`.
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        #[unsafe(no_mangle)]
        pub extern "C" fn utfuzz_ignore_trace() {}

        $crate::fuzz_target!(@table utfuzz_counters, "__real___sanitizer_cov_8bit_counters_init", $is_guided_by_code);
        $crate::fuzz_target!(@table utfuzz_counted_places, "__real___sanitizer_cov_pcs_init", $is_guided_by_code);

        /// AddressSanitizer calls this before it reports an error.
        #[unsafe(no_mangle)]
        pub extern "C" fn __asan_on_error() {
            $crate::engine::fuzz::memory_fault()
        }

        /// Options of AddressSanitizer: a shadow copy of every stack frame, to find uses of a frame after its return,
        /// would cost a tenth of the speed and find nothing in safe code. The last 64 MiB of freed memory are not reused, so that
        /// a use after free is noticed; a call of a decoder frees less. The default, 256 MiB, is slower and leaves less for other
        /// processes.
        #[unsafe(no_mangle)]
        pub extern "C" fn __asan_default_options() -> *const ::core::ffi::c_char {
            c"detect_stack_use_after_return=0:quarantine_size_mb=64".as_ptr()
        }
    };
    (@table $name:ident, $real:literal, $is_guided_by_code:expr) => {
        /// Called before `main` in place of a function of libFuzzer, with the start and the end of a table: the counters of the
        /// code, or the places that they count. Calls that function if libFuzzer is to be guided by them; see
        /// `utfuzz::engine::link`.
        #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
        #[unsafe(no_mangle)]
        pub extern "C" fn $name(start: *const ::core::ffi::c_void, end: *const ::core::ffi::c_void) {
            /// Jumps to the function of libFuzzer. Its symbol is weak, since a program whose callbacks are not redirected
            /// does not have it.
            // SAFETY: it jumps with the arguments and the stack as they are.
            #[unsafe(naked)]
            extern "C" fn real(_start: *const ::core::ffi::c_void, _end: *const ::core::ffi::c_void) {
                #[cfg(target_arch = "x86_64")]
                ::core::arch::naked_asm!(
                    ::core::concat!(".weak ", $real),
                    ::core::concat!("jmp qword ptr [rip + ", $real, "@GOTPCREL]"),
                );
                #[cfg(target_arch = "aarch64")]
                ::core::arch::naked_asm!(
                    ::core::concat!(".weak ", $real),
                    ::core::concat!("adrp x16, :got:", $real),
                    ::core::concat!("ldr x16, [x16, :got_lo12:", $real, "]"),
                    "br x16",
                );
            }
            if $is_guided_by_code {
                real(start, end);
            }
        }
    };
}
