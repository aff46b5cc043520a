//! simdutf, the C++ library, through its crate: feature `simdutf`, which needs a C++ compiler.
#![allow(unsafe_code)]

use crate::decoder::{Decoder, Info};
use crate::spec::Contract;
use crate::utf8::{Malformed, Validity};
use simdutf::ErrorCode;

static INFO: Info = Info::new("simdutf", "0.7.0").contract(Contract::VALIDATOR);

pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    vec![Box::new(Simdutf)]
}

struct Simdutf;

impl Decoder for Simdutf {
    fn info(&self) -> &Info {
        &INFO
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        let result = simdutf::validate_utf8_with_errors(bytes);
        Some(match result.error {
            ErrorCode::Success => Validity::Valid,
            _ => Malformed { valid_up_to: Some(result.count), len: None, kind: None }.into(),
        })
    }
}

/// Well-formed bytes in UTF-16, from the start of `out`, which has a unit for each byte: how many units. `None` where
/// they are ill-formed, or `out` is too short.
pub fn utf16(bytes: &[u8], out: &mut [u16]) -> Option<usize> {
    if out.len() < bytes.len() {
        return None;
    }
    // SAFETY: both are slices, and no byte becomes more than one unit.
    let written = unsafe { simdutf::convert_utf8_to_utf16(bytes.as_ptr(), bytes.len(), out.as_mut_ptr()) };
    (written > 0 || bytes.is_empty()).then_some(written)
}

/// The same in UTF-32.
pub fn utf32(bytes: &[u8], out: &mut [u32]) -> Option<usize> {
    if out.len() < bytes.len() {
        return None;
    }
    // SAFETY: both are slices, and no byte becomes more than one unit.
    let written = unsafe { simdutf::convert_utf8_to_utf32(bytes.as_ptr(), bytes.len(), out.as_mut_ptr()) };
    (written > 0 || bytes.is_empty()).then_some(written)
}

/// Well-formed UTF-16 in UTF-8, from the start of `out`, which has three bytes for each unit: how many bytes. `None` where
/// it is ill-formed, or `out` is too short.
pub fn from_utf16(units: &[u16], out: &mut [u8]) -> Option<usize> {
    if out.len() < 3 * units.len() {
        return None;
    }
    // SAFETY: both are slices, and no unit becomes more than three bytes.
    let written = unsafe { simdutf::convert_utf16_to_utf8(units.as_ptr(), units.len(), out.as_mut_ptr()) };
    (written > 0 || units.is_empty()).then_some(written)
}

/// Latin-1 in UTF-8, from the start of `out`, which has two bytes for each: how many bytes. `None` where it is too short.
pub fn from_latin_1(bytes: &[u8], out: &mut [u8]) -> Option<usize> {
    if out.len() < 2 * bytes.len() {
        return None;
    }
    // SAFETY: both are slices, and no byte becomes more than two.
    Some(unsafe { simdutf::convert_latin1_to_utf8(bytes.as_ptr(), bytes.len(), out.as_mut_ptr()) })
}
