//! Segments of text and of faults across block edges, drawn from the file (`utfuzz::generate::structured`).
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use utfuzz::engine::fuzz::Shown;
use utfuzz_fuzz::corpus;

fuzz_target!(|input: Shown| -> Corpus { corpus(utfuzz::engine::fuzz::structured(&input)) });
