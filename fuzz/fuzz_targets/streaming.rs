//! The bytes, then a trailer that says where they are cut (`utfuzz::input::trailer`).
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_mutator, fuzz_target};
use utfuzz::input::{mutate::mutate_cut, trailer::CutInput};
use utfuzz_fuzz::{corpus, mutated};

fuzz_target!(|input: CutInput<'_>| -> Corpus { corpus(utfuzz::fuzz::streaming(&input)) });

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutated(data, size, max_size, seed, mutate_cut)
});
