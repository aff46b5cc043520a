//! Decoding with replacement: U+FFFD for each maximal subpart.

use super::chars::chars;
use super::validate::errors;
use crate::utf8::REPLACEMENT;
use std::borrow::Cow;

/// `bytes` with every maximal subpart replaced; borrowed where they are well-formed.
pub fn lossy(bytes: &[u8]) -> Cow<'_, [u8]> {
    if errors(bytes).next().is_none() {
        return Cow::Borrowed(bytes);
    }
    let mut out = Vec::with_capacity(bytes.len() + bytes.len() / 2);
    lossy_into(bytes, &mut out);
    Cow::Owned(out)
}

/// Appends `bytes` with every maximal subpart replaced. At most three bytes are written for each byte read.
pub fn lossy_into(bytes: &[u8], out: &mut Vec<u8>) {
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
    let mut units = [0; 2];
    for scalar in chars(bytes) {
        let scalar = scalar.unwrap_or(char::REPLACEMENT_CHARACTER);
        out.extend_from_slice(scalar.encode_utf16(&mut units));
    }
}
