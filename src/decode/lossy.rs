//! Decoding with replacement: U+FFFD for each maximal subpart.

use super::chars::chars;
use super::kernel::Kernel;
use super::validate::{errors, validate};
use crate::utf8::REPLACEMENT;
use std::borrow::Cow;

/// `bytes` with every maximal subpart replaced; borrowed where they are well-formed.
pub fn lossy(bytes: &[u8]) -> Cow<'_, [u8]> {
    let Err(error) = validate(bytes) else { return Cow::Borrowed(bytes) };
    let (good, rest) = bytes.split_at(error.valid_up_to());
    let mut out = good.to_vec();
    lossy_into(rest, &mut out);
    Cow::Owned(out)
}

/// Appends `bytes` with every maximal subpart replaced. At most three bytes are written for each byte read.
pub fn lossy_into(bytes: &[u8], out: &mut Vec<u8>) {
    Kernel::best().lossy_into(bytes, out);
}

/// The same, error by error.
pub(super) fn lossy_by_errors(bytes: &[u8], out: &mut Vec<u8>) {
    let mut copied = 0;
    for error in errors(bytes) {
        out.extend_from_slice(&bytes[copied..error.range().start]);
        out.extend_from_slice(REPLACEMENT);
        copied = error.range().end;
    }
    out.extend_from_slice(&bytes[copied..]);
}

/// Appends `bytes` in UTF-16, with U+FFFD for every maximal subpart. At most one code unit for each byte read.
pub fn utf16_lossy_into(bytes: &[u8], out: &mut Vec<u16>) {
    Kernel::best().utf16_lossy_into(bytes, out);
}

/// The same, character by character.
pub(super) fn utf16_by_chars(bytes: &[u8], out: &mut Vec<u16>) {
    let mut units = [0; 2];
    for scalar in chars(bytes) {
        let scalar = scalar.unwrap_or(char::REPLACEMENT_CHARACTER);
        out.extend_from_slice(scalar.encode_utf16(&mut units));
    }
}
