//! The least a differential target can do; `.ci/speed` measures `differential` against it.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let core_str = std::str::from_utf8(bytes).map_err(|error| error.valid_up_to());
    let compat = simdutf8::compat::from_utf8(bytes).map_err(|error| error.valid_up_to());
    let valid_up_to = encoding_rs::Encoding::utf8_valid_up_to(bytes);
    assert_eq!(core_str, compat);
    assert_eq!(valid_up_to, core_str.map_or_else(|offset| offset, str::len));
});
