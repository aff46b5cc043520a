//! Conversions there and back: text and bytes drawn from the file, held to the standard (`utfuzz::engine::fuzz::RoundTrip`).
#![no_main]

use utfuzz::engine::fuzz::RoundTrip;

libfuzzer_sys::fuzz_target!(|input: RoundTrip| utfuzz::engine::fuzz::roundtrip(&input));
