//! The judge behind libFuzzer as it comes: its own mutations, code coverage, every input judged in full. `utfuzz score`
//! measures the other targets against it.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| utfuzz::engine::fuzz::plain(bytes));
