//! Like `differential`, for decoders of relatives of UTF-8: other grammars and other replacement policies.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_crossover, fuzz_mutator, fuzz_target};
use utfuzz::case::Case;
use utfuzz::engine::fuzz::{Scope, Target};
use utfuzz::generate::mutate::mutate;
use utfuzz_fuzz::{crossed, judged, mutated};

thread_local!(static TARGET: Target = const { Target::new(Scope::Relatives, utfuzz::peers::policies) });

fuzz_target!(|bytes: &[u8]| -> Corpus { judged(&TARGET, &Case::new(bytes)) });

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutated(data, size, max_size, seed, mutate)
});

fuzz_crossover!(|first: &[u8], second: &[u8], out: &mut [u8], seed: u32| { crossed(first, second, out, seed) });
