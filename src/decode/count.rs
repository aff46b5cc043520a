//! How long text is in other units.

use super::kernel::Kernel;

/// How many characters (scalar values) `text` has: its length in UTF-32.
pub fn char_count(text: &str) -> usize {
    Kernel::best().lengths(text).chars
}

/// How many code units `text` has in UTF-16.
pub fn utf16_len(text: &str) -> usize {
    let lengths = Kernel::best().lengths(text);
    lengths.chars + lengths.of_four
}

/// How many characters a text has, and how many of them take four bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lengths {
    /// All characters.
    pub chars: usize,
    /// Those of four bytes, which UTF-16 writes as a surrogate pair.
    pub of_four: usize,
}

/// Byte by byte.
pub(super) fn lengths_by_bytes(bytes: &[u8]) -> Lengths {
    let count = |is: fn(u8) -> bool| bytes.iter().filter(|&&byte| is(byte)).count();
    Lengths { chars: count(|byte| byte & 0xC0 != 0x80), of_four: count(|byte| byte >= 0xF0) }
}
