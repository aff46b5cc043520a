//! Decoding with replacement: U+FFFD for each maximal subpart.

use crate::codec::kernel::Kernel;
use crate::codec::validate::errors;
use crate::utf8::REPLACEMENT;
use std::borrow::Cow;

/// `bytes` as text, with U+FFFD for every maximal subpart; borrowed where they are well-formed.
pub fn from_utf8_lossy(bytes: &[u8]) -> Cow<'_, str> {
    Kernel::best().from_utf8_lossy(bytes)
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
