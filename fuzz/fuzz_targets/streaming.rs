//! The bytes, then a trailer with the offsets at which they are cut (`utfuzz::case::Input`).
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_mutator, fuzz_target};
use utfuzz::case::Input;
use utfuzz::engine::fuzz::{Scope, Target};
use utfuzz::generate::mutate::mutate_cut;
use utfuzz_fuzz::{judged, mutated};

thread_local!(static TARGET: Target = const { Target::new(Scope::All, Vec::new) });

fuzz_target!(|input: Input| -> Corpus { judged(&TARGET, &input.case()) });

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutated(data, size, max_size, seed, mutate_cut)
});
