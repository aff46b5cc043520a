//! Conversions there and back: text and bytes drawn from the file, compared with the standard
//! (`utfuzz::engine::fuzz::RoundTrip`).
#![no_main]

use utfuzz::engine::fuzz::RoundTrip;
// The linker sends the callbacks for traced comparisons there.
use utfuzz_fuzz as _;

libfuzzer_sys::fuzz_target!(|input: RoundTrip| utfuzz::engine::fuzz::roundtrip(&input));
