//! Our own codec: UTF-8 by RFC 3629, one U+FFFD for each maximal subpart, exact error offsets and lengths.
//!
//! The functions here run on [`Kernel::best`], the fastest kernel this processor can run. Functions named `*_into` append.
//! Those named `lossy` write U+FFFD for what is ill-formed: in UTF-8 for every maximal subpart, in UTF-16 for every lone
//! surrogate, in UTF-32 for every number that is not a scalar value. The others append nothing if
//! there is an error, and return where the first one is. No code is shared with [`crate::spec`], which judges this codec.

pub mod convert;
mod kernel;
#[cfg(feature = "rayon")]
pub mod parallel;
mod scalar;
mod stream;

pub use kernel::{Kernel, KernelInfo, Path, Registers};
pub use scalar::{Chars, Errors, Utf8Error, chars, errors};
pub use stream::{Streaming, Utf8Reader};

use core::fmt;
use std::borrow::Cow;

/// Checks that `bytes` are well-formed UTF-8.
///
/// # Errors
/// The first error: its offset, its length, its kind.
///
/// ```
/// use utfuzz::codec::validate;
///
/// assert!(validate("Grüße".as_bytes()).is_ok());
/// let error = validate(b"a\xED\xA0\x80").unwrap_err();
/// assert_eq!((error.valid_up_to(), error.error_len()), (1, Some(1)));
/// assert_eq!(error.to_string(), "ill-formed UTF-8 at byte 1: surrogate");
/// ```
#[inline]
pub fn validate(bytes: &[u8]) -> Result<(), Utf8Error> {
    Kernel::best().validate(bytes)
}

/// `bytes` as text.
///
/// # Errors
/// The first error: its offset, its length, its kind.
///
/// ```
/// assert_eq!(utfuzz::codec::from_utf8(b"\xC3\xA9"), Ok("é"));
/// assert_eq!(utfuzz::codec::from_utf8(b"ab\xC3").unwrap_err().error_len(), None);
/// ```
#[inline]
pub fn from_utf8(bytes: &[u8]) -> Result<&str, Utf8Error> {
    Kernel::best().from_utf8(bytes)
}

/// `bytes` as text, with U+FFFD for every maximal subpart; borrowed if they are well-formed.
///
/// ```
/// assert_eq!(utfuzz::codec::from_utf8_lossy(b"a\xF0\x9F\x98b\xFF"), "a\u{FFFD}b\u{FFFD}");
/// ```
pub fn from_utf8_lossy(bytes: &[u8]) -> Cow<'_, str> {
    Kernel::best().from_utf8_lossy(bytes)
}

/// Appends `bytes` with U+FFFD for every maximal subpart. At most three bytes are written for each byte read.
///
/// ```
/// let mut out = b"> ".to_vec();
/// utfuzz::codec::lossy_into(b"a\xFF", &mut out);
/// assert_eq!(out, "> a\u{FFFD}".as_bytes());
/// ```
pub fn lossy_into(bytes: &[u8], out: &mut Vec<u8>) {
    Kernel::best().lossy_into(bytes, out);
}

/// How many characters (scalar values) `text` has: its length in UTF-32.
///
/// ```
/// assert_eq!(utfuzz::codec::char_count("aé😀"), 3);
/// ```
pub fn char_count(text: &str) -> usize {
    Kernel::best().char_count(text)
}

/// How many code units `text` has in UTF-16.
///
/// ```
/// assert_eq!(utfuzz::codec::utf16_len("aé😀"), 4);
/// ```
pub fn utf16_len(text: &str) -> usize {
    Kernel::best().utf16_len(text)
}

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

fn all_valid<U>(valid_up_to: usize, units: &[U]) -> Result<(), UnitError> {
    if valid_up_to == units.len() { Ok(()) } else { Err(UnitError { valid_up_to }) }
}

/// Appends `bytes` as UTF-16. At most one code unit for each byte.
///
/// # Errors
/// The first error of `bytes`, in which case nothing is appended.
///
/// ```
/// let mut units = Vec::new();
/// utfuzz::codec::utf16_into("a😀".as_bytes(), &mut units)?;
/// assert_eq!(units, [0x61, 0xD83D, 0xDE00]);
/// # Ok::<(), utfuzz::codec::Utf8Error>(())
/// ```
pub fn utf16_into(bytes: &[u8], out: &mut Vec<u16>) -> Result<(), Utf8Error> {
    validate(bytes)?;
    utf16_lossy_into(bytes, out);
    Ok(())
}

/// Appends `bytes` as UTF-16, with replacement. At most one code unit for each byte.
///
/// ```
/// let mut units = Vec::new();
/// utfuzz::codec::utf16_lossy_into(b"a\xE2\x82", &mut units);
/// assert_eq!(units, [0x61, 0xFFFD]);
/// ```
pub fn utf16_lossy_into(bytes: &[u8], out: &mut Vec<u16>) {
    Kernel::best().utf16_lossy_into(bytes, out);
}

/// Appends `bytes` as UTF-32. At most one code unit for each byte.
///
/// # Errors
/// The first error of `bytes`, in which case nothing is appended.
///
/// ```
/// let mut units = Vec::new();
/// utfuzz::codec::utf32_into("a😀".as_bytes(), &mut units)?;
/// assert_eq!(units, [0x61, 0x1F600]);
/// # Ok::<(), utfuzz::codec::Utf8Error>(())
/// ```
pub fn utf32_into(bytes: &[u8], out: &mut Vec<u32>) -> Result<(), Utf8Error> {
    validate(bytes)?;
    utf32_lossy_into(bytes, out);
    Ok(())
}

/// Appends `bytes` as UTF-32, with replacement. At most one code unit for each byte.
///
/// ```
/// let mut units = Vec::new();
/// utfuzz::codec::utf32_lossy_into(b"\xFFa", &mut units);
/// assert_eq!(units, [0xFFFD, 0x61]);
/// ```
pub fn utf32_lossy_into(bytes: &[u8], out: &mut Vec<u32>) {
    Kernel::best().utf32_lossy_into(bytes, out);
}

/// Appends UTF-16 as UTF-8. At most three bytes for each code unit.
///
/// # Errors
/// The first lone surrogate, in which case nothing is appended.
///
/// ```
/// let mut text = Vec::new();
/// utfuzz::codec::from_utf16_into(&[0x61, 0xD83D, 0xDE00], &mut text)?;
/// assert_eq!(text, "a😀".as_bytes());
/// assert_eq!(utfuzz::codec::from_utf16_into(&[0x61, 0xD83D], &mut text).unwrap_err().valid_up_to(), 1);
/// # Ok::<(), utfuzz::codec::UnitError>(())
/// ```
pub fn from_utf16_into(units: &[u16], out: &mut Vec<u8>) -> Result<(), UnitError> {
    all_valid(Kernel::best().utf16_valid_up_to(units), units)?;
    from_utf16_lossy_into(units, out);
    Ok(())
}

/// Appends UTF-16 as UTF-8, with replacement. At most three bytes for each code unit.
///
/// ```
/// let mut text = Vec::new();
/// utfuzz::codec::from_utf16_lossy_into(&[0xDE00, 0x61], &mut text);
/// assert_eq!(text, "\u{FFFD}a".as_bytes());
/// ```
pub fn from_utf16_lossy_into(units: &[u16], out: &mut Vec<u8>) {
    Kernel::best().from_utf16_lossy_into(units, out);
}

/// Appends UTF-32 as UTF-8. At most four bytes for each code unit.
///
/// # Errors
/// The first number that is not a scalar value, in which case nothing is appended.
///
/// ```
/// let mut text = Vec::new();
/// utfuzz::codec::from_utf32_into(&[0x61, 0x1F600], &mut text)?;
/// assert_eq!(text, "a😀".as_bytes());
/// assert!(utfuzz::codec::from_utf32_into(&[0x11_0000], &mut text).is_err());
/// # Ok::<(), utfuzz::codec::UnitError>(())
/// ```
pub fn from_utf32_into(units: &[u32], out: &mut Vec<u8>) -> Result<(), UnitError> {
    all_valid(Kernel::best().utf32_valid_up_to(units), units)?;
    from_utf32_lossy_into(units, out);
    Ok(())
}

/// Appends UTF-32 as UTF-8, with replacement. At most four bytes for each code unit.
///
/// ```
/// let mut text = Vec::new();
/// utfuzz::codec::from_utf32_lossy_into(&[0x61, 0xD800], &mut text);
/// assert_eq!(text, "a\u{FFFD}".as_bytes());
/// ```
pub fn from_utf32_lossy_into(units: &[u32], out: &mut Vec<u8>) {
    Kernel::best().from_utf32_lossy_into(units, out);
}

/// Appends UTF-16 as UTF-32, with replacement. At most one code unit for each.
///
/// ```
/// let mut scalars = Vec::new();
/// utfuzz::codec::utf32_from_utf16_lossy_into(&[0xD83D, 0xDE00, 0xD83D], &mut scalars);
/// assert_eq!(scalars, [0x1F600, 0xFFFD]);
/// ```
pub fn utf32_from_utf16_lossy_into(units: &[u16], out: &mut Vec<u32>) {
    Kernel::best().utf32_from_utf16_lossy_into(units, out);
}

/// Appends UTF-32 as UTF-16, with replacement. At most two code units for each.
///
/// ```
/// let mut units = Vec::new();
/// utfuzz::codec::utf16_from_utf32_lossy_into(&[0x1F600, 0xD800], &mut units);
/// assert_eq!(units, [0xD83D, 0xDE00, 0xFFFD]);
/// ```
pub fn utf16_from_utf32_lossy_into(units: &[u32], out: &mut Vec<u16>) {
    Kernel::best().utf16_from_utf32_lossy_into(units, out);
}

/// Appends Latin-1 (ISO/IEC 8859-1) as UTF-8: every byte is the code point of that number. At most two bytes for each.
///
/// ```
/// let mut text = Vec::new();
/// utfuzz::codec::from_latin_1_into(b"caf\xE9", &mut text);
/// assert_eq!(text, "café".as_bytes());
/// ```
pub fn from_latin_1_into(bytes: &[u8], out: &mut Vec<u8>) {
    Kernel::best().from_latin_1_into(bytes, out);
}
