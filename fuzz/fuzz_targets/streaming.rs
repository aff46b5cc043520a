//! The bytes, then a trailer that says where they are cut (`utfuzz::case::Input`).
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_mutator, fuzz_target};
use utfuzz::case::Input;
use utfuzz::generate::mutate::mutate_cut;
use utfuzz_fuzz::{corpus, mutated};

fuzz_target!(|input: Input| -> Corpus { corpus(utfuzz::engine::fuzz::streaming(&input)) });

fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    mutated(data, size, max_size, seed, mutate_cut)
});
