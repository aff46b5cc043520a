//! Conversions there and back: text and bytes drawn from the file, held to the standard (`utfuzz::fuzz::RoundTrip`).
#![no_main]

use utfuzz::fuzz::RoundTrip;

libfuzzer_sys::fuzz_target!(|input: RoundTrip| utfuzz::fuzz::roundtrip(&input));
