//! Segments of text and of faults across block edges, drawn from the file (`utfuzz::input::generate`).
#![no_main]

libfuzzer_sys::fuzz_target!(|input: utfuzz::fuzz::Shown| utfuzz::fuzz::structured(&input));
