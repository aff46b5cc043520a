//! The file is exactly the bytes every decoder sees.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| utfuzz::fuzz::differential(bytes));
