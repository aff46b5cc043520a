//! Segments of text and of faults across block edges, drawn from the file (`utfuzz::input::generate`).
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use utfuzz::fuzz::Shown;
use utfuzz_fuzz::corpus;

fuzz_target!(|input: Shown| -> Corpus { corpus(utfuzz::fuzz::structured(&input)) });
