//! Text and bytes, generated from the file, are converted there and back and compared with the standard
//! (`utfuzz::engine::fuzz::RoundTrip`).
#![no_main]

utfuzz::fuzz_target!(conversion);
