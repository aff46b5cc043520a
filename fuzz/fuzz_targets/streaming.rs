//! The bytes, then a trailer that says where they are cut (`utfuzz::input::trailer`).
#![no_main]

use utfuzz::input::trailer::CutInput;

libfuzzer_sys::fuzz_target!(|input: CutInput<'_>| utfuzz::fuzz::streaming(&input));
