//! Text and bytes, generated from the file, are converted there and back and compared with the standard
//! (`utfuzz::engine::fuzz::RoundTrip`).
#![no_main]

use utfuzz::engine::fuzz::RoundTrip;
// Links the function to which the callbacks for traced comparisons are redirected.
use utfuzz_fuzz as _;

libfuzzer_sys::fuzz_target!(|input: RoundTrip| utfuzz::engine::fuzz::roundtrip(&input));
