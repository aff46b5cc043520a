//! The file is exactly the bytes every decoder sees.
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use utfuzz_fuzz::corpus;

fuzz_target!(|bytes: &[u8]| -> Corpus { corpus(utfuzz::fuzz::differential(bytes)) });
