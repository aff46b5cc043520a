//! simdutf, the C++ library, through its crate: feature `simdutf`, which needs a C++ compiler.
#![cfg(feature = "simdutf")]
#![allow(unsafe_code, reason = "a C++ library")]

use crate::decoder::{Decoder, Info};
use crate::peers::adapter::{Functions, invalid_at};
use crate::spec::Contract;
use crate::utf8::Validity;
use simdutf::ErrorCode;

pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    let validate = |bytes: &[u8]| {
        let result = simdutf::validate_utf8_with_errors(bytes);
        match result.error {
            ErrorCode::Success => Validity::Valid,
            _ => invalid_at(result.count),
        }
    };
    vec![Functions::new(Info::new("simdutf", "0.7.0").contract(Contract::VALIDATOR)).validate(validate).boxed()]
}

/// Converts UTF-8 to UTF-16 at the start of `out`, which needs one code unit for each byte, and returns how many were
/// written; `None` if the bytes are ill-formed or `out` is too short.
pub fn utf16(bytes: &[u8], out: &mut [u16]) -> Option<usize> {
    if out.len() < bytes.len() {
        return None;
    }
    // SAFETY: `bytes` is readable for its length; no byte becomes more than one unit, and `out` has as many as `bytes`.
    let written = unsafe { simdutf::convert_utf8_to_utf16(bytes.as_ptr(), bytes.len(), out.as_mut_ptr()) };
    (written > 0 || bytes.is_empty()).then_some(written)
}

/// Converts UTF-8 to UTF-32 at the start of `out`, which needs one element for each byte, and returns how many were
/// written; `None` if the bytes are ill-formed or `out` is too short.
pub fn utf32(bytes: &[u8], out: &mut [u32]) -> Option<usize> {
    if out.len() < bytes.len() {
        return None;
    }
    // SAFETY: `bytes` is readable for its length; no byte becomes more than one unit, and `out` has as many as `bytes`.
    let written = unsafe { simdutf::convert_utf8_to_utf32(bytes.as_ptr(), bytes.len(), out.as_mut_ptr()) };
    (written > 0 || bytes.is_empty()).then_some(written)
}

/// Converts UTF-16 to UTF-8 at the start of `out`, which needs three bytes for each code unit, and returns how many
/// bytes were written; `None` if the code units are ill-formed or `out` is too short.
pub fn from_utf16(units: &[u16], out: &mut [u8]) -> Option<usize> {
    if out.len() < 3 * units.len() {
        return None;
    }
    // SAFETY: `units` is readable for its length; no unit becomes more than three bytes, and `out` has as many.
    let written = unsafe { simdutf::convert_utf16_to_utf8(units.as_ptr(), units.len(), out.as_mut_ptr()) };
    (written > 0 || units.is_empty()).then_some(written)
}

/// Converts UTF-32 to UTF-8 at the start of `out`, which needs four bytes for each code unit, and returns how many bytes were
/// written; `None` if `out` is too short or a code unit is not a scalar value.
pub fn from_utf32(units: &[u32], out: &mut [u8]) -> Option<usize> {
    if out.len() < 4 * units.len() {
        return None;
    }
    // SAFETY: `units` is readable for its length; no unit becomes more than four bytes, and `out` has as many.
    let written = unsafe { simdutf::convert_utf32_to_utf8(units.as_ptr(), units.len(), out.as_mut_ptr()) };
    (written > 0 || units.is_empty()).then_some(written)
}

/// Converts Latin-1 to UTF-8 at the start of `out`, which needs two bytes for each byte, and returns how many bytes
/// were written; `None` if `out` is too short.
pub fn from_latin_1(bytes: &[u8], out: &mut [u8]) -> Option<usize> {
    if out.len() < 2 * bytes.len() {
        return None;
    }
    // SAFETY: `bytes` is readable for its length; no byte becomes more than two, and `out` has as many.
    Some(unsafe { simdutf::convert_latin1_to_utf8(bytes.as_ptr(), bytes.len(), out.as_mut_ptr()) })
}
