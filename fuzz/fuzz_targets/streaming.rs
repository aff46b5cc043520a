//! The bytes, then a trailer that says where they are cut (`utfuzz::input::trailer`).
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use utfuzz::input::trailer::CutInput;
use utfuzz_fuzz::corpus;

fuzz_target!(|input: CutInput<'_>| -> Corpus { corpus(utfuzz::fuzz::streaming(&input)) });
