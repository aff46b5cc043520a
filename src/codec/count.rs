//! How long text is in other units.

use crate::codec::kernel::Kernel;

/// How many characters (scalar values) `text` has: its length in UTF-32.
pub fn char_count(text: &str) -> usize {
    Kernel::best().char_count(text)
}

/// How many code units `text` has in UTF-16.
pub fn utf16_len(text: &str) -> usize {
    Kernel::best().utf16_len(text)
}

/// Characters, byte by byte.
pub(super) fn chars_by_bytes(bytes: &[u8]) -> usize {
    bytes.iter().filter(|&&byte| byte & 0xC0 != 0x80).count()
}

/// Code units of UTF-16, byte by byte: one for each character, another for each of four bytes.
pub(super) fn utf16_len_by_bytes(bytes: &[u8]) -> usize {
    chars_by_bytes(bytes) + bytes.iter().filter(|&&byte| byte >= 0xF0).count()
}
