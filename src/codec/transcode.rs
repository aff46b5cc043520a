//! UTF-8 to UTF-16 and UTF-32 and back, and Latin-1 to UTF-8.
//!
//! Every function appends. Those named `lossy` write U+FFFD for what is ill-formed (of UTF-8 for every maximal subpart, of
//! UTF-16 for every lone surrogate, of UTF-32 for every number that is no scalar value); the others append nothing then,
//! and say where it is.

use crate::codec::chars::{Piece, pieces};
use crate::codec::kernel::Kernel;
use crate::codec::validate::{Utf8Error, validate};
use crate::utf8::REPLACEMENT;
use core::fmt;

/// The first code unit of UTF-16 or UTF-32 that is ill-formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitError {
    valid_up_to: usize,
}

impl UnitError {
    /// How many code units before it are well-formed.
    pub fn valid_up_to(&self) -> usize {
        self.valid_up_to
    }
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ill-formed code unit at {}", self.valid_up_to)
    }
}

impl core::error::Error for UnitError {}

/// Appends `bytes` in UTF-16. At most one code unit for each byte.
///
/// # Errors
/// The first error of `bytes`.
pub fn utf16_into(bytes: &[u8], out: &mut Vec<u16>) -> Result<(), Utf8Error> {
    validate(bytes)?;
    utf16_lossy_into(bytes, out);
    Ok(())
}

/// Appends `bytes` in UTF-16, with replacement. At most one code unit for each byte.
pub fn utf16_lossy_into(bytes: &[u8], out: &mut Vec<u16>) {
    Kernel::best().utf16_lossy_into(bytes, out);
}

/// Appends `bytes` in UTF-32. At most one code unit for each byte.
///
/// # Errors
/// The first error of `bytes`.
pub fn utf32_into(bytes: &[u8], out: &mut Vec<u32>) -> Result<(), Utf8Error> {
    validate(bytes)?;
    utf32_lossy_into(bytes, out);
    Ok(())
}

/// Appends `bytes` in UTF-32, with replacement. At most one code unit for each byte.
pub fn utf32_lossy_into(bytes: &[u8], out: &mut Vec<u32>) {
    Kernel::best().utf32_lossy_into(bytes, out);
}

/// Appends UTF-16 in UTF-8. At most three bytes for each code unit.
///
/// # Errors
/// The first lone surrogate.
pub fn from_utf16_into(units: &[u16], out: &mut Vec<u8>) -> Result<(), UnitError> {
    all_valid(Kernel::best().utf16_valid_up_to(units), units)?;
    from_utf16_lossy_into(units, out);
    Ok(())
}

/// Appends UTF-16 in UTF-8, with replacement. At most three bytes for each code unit.
pub fn from_utf16_lossy_into(units: &[u16], out: &mut Vec<u8>) {
    Kernel::best().from_utf16_lossy_into(units, out);
}

/// Appends UTF-32 in UTF-8. At most four bytes for each code unit.
///
/// # Errors
/// The first number that is no scalar value.
pub fn from_utf32_into(units: &[u32], out: &mut Vec<u8>) -> Result<(), UnitError> {
    all_valid(Kernel::best().utf32_valid_up_to(units), units)?;
    from_utf32_lossy_into(units, out);
    Ok(())
}

fn all_valid<U>(valid_up_to: usize, units: &[U]) -> Result<(), UnitError> {
    if valid_up_to == units.len() { Ok(()) } else { Err(UnitError { valid_up_to }) }
}

/// Appends UTF-32 in UTF-8, with replacement. At most four bytes for each code unit.
pub fn from_utf32_lossy_into(units: &[u32], out: &mut Vec<u8>) {
    Kernel::best().from_utf32_lossy_into(units, out);
}

/// Appends UTF-16 in UTF-32, with replacement. At most one code unit for each.
pub fn utf32_from_utf16_lossy_into(units: &[u16], out: &mut Vec<u32>) {
    Kernel::best().utf32_from_utf16_lossy_into(units, out);
}

/// Appends UTF-32 in UTF-16, with replacement. At most two code units for each.
pub fn utf16_from_utf32_lossy_into(units: &[u32], out: &mut Vec<u16>) {
    Kernel::best().utf16_from_utf32_lossy_into(units, out);
}

/// Appends Latin-1 (ISO/IEC 8859-1) in UTF-8: every byte is the code point of that number. At most two bytes for each.
pub fn from_latin_1_into(bytes: &[u8], out: &mut Vec<u8>) {
    Kernel::best().from_latin_1_into(bytes, out);
}

/// UTF-8 to UTF-16, character by character.
pub(super) fn utf16_by_chars(bytes: &[u8], out: &mut Vec<u16>) {
    out.reserve(bytes.len());
    for piece in pieces(bytes) {
        match piece {
            Piece::Ascii(block) => out.extend(block.map(u16::from)),
            Piece::Char(scalar) => out.extend_from_slice(scalar.encode_utf16(&mut [0; 2])),
        }
    }
}

/// UTF-8 to UTF-32, character by character.
pub(super) fn utf32_by_chars(bytes: &[u8], out: &mut Vec<u32>) {
    out.reserve(bytes.len());
    for piece in pieces(bytes) {
        match piece {
            Piece::Ascii(block) => out.extend(block.map(u32::from)),
            Piece::Char(scalar) => out.push(scalar.into()),
        }
    }
}

/// UTF-16 to UTF-8, character by character.
pub(super) fn from_utf16_by_chars(units: &[u16], out: &mut Vec<u8>) {
    out.reserve(units.len());
    for scalar in char::decode_utf16(units.iter().copied()) {
        match scalar {
            Ok(scalar) => push(scalar, out),
            Err(_) => out.extend_from_slice(REPLACEMENT),
        }
    }
}

/// Latin-1 to UTF-8, byte by byte.
pub(super) fn from_latin_1_by_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len());
    for &byte in bytes {
        push(char::from(byte), out);
    }
}

pub(super) fn push(scalar: char, out: &mut Vec<u8>) {
    out.extend_from_slice(scalar.encode_utf8(&mut [0; 4]).as_bytes());
}
