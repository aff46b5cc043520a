//! The portable decoder: one sequence at a time, no unsafe code.
//!
//! Validation, errors, replacement and counting are implemented here in full. A kernel decodes the middle of long inputs in
//! registers, and calls these functions for inputs that are too short and to find where an error is. Conversions to and from
//! code units are in `kernel/portable.rs`.

mod automaton;
pub(super) mod units;

pub(super) use automaton::well_formed_prefix;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(super) use automaton::{boundary, pending};

use crate::utf8::{Kind, REPLACEMENT, is_continuation};
use core::fmt;

/// The first segment of a non-empty byte string.
#[derive(Clone, Copy)]
pub(super) enum Sequence {
    /// A well-formed sequence of `len` bytes.
    WellFormed { len: usize, scalar: char },
    /// A maximal subpart of `len` bytes. `Kind::Incomplete` if more bytes could complete it.
    IllFormed { len: usize, kind: Kind },
}

impl Sequence {
    /// Reads the first segment of `rest`; `None` if it is empty.
    #[inline]
    pub(super) fn read(rest: &[u8]) -> Option<Self> {
        let tail = |byte: u8| u32::from(byte & 0x3F);
        let (len, bits) = match *rest {
            [] => return None,
            [one @ ..0x80, ..] => (1, u32::from(one)),
            [one @ 0xC2..=0xDF, two, ..] if is_continuation(two) => (2, u32::from(one & 0x1F) << 6 | tail(two)),
            [one @ 0xE0..=0xEF, two, three, ..] if is_second(one, two) && is_continuation(three) => {
                (3, u32::from(one & 0xF) << 12 | tail(two) << 6 | tail(three))
            }
            [one @ 0xF0..=0xF4, two, three, four, ..]
                if is_second(one, two) && is_continuation(three) && is_continuation(four) =>
            {
                (4, u32::from(one & 7) << 18 | tail(two) << 12 | tail(three) << 6 | tail(four))
            }
            _ => return Some(Self::ill_formed(rest)),
        };
        // `is_second` excludes surrogates and everything above U+10FFFF, so this is always `Some`.
        char::from_u32(bits).map(|scalar| Self::WellFormed { len, scalar })
    }

    /// The maximal subpart at the start of `rest`, which does not start with a well-formed sequence.
    fn ill_formed(rest: &[u8]) -> Self {
        let (len, kind) = match *rest {
            [lead, ..] if !matches!(lead, 0xC2..=0xF4) => (1, never_leads(lead)),
            [_] => (1, Kind::Incomplete),
            [lead, second, ..] if !is_second(lead, second) => (1, refused_second(lead, second)),
            [_, _] => (2, Kind::Incomplete),
            [0xF0..=0xF4, _, third] if is_continuation(third) => (3, Kind::Incomplete),
            [0xF0..=0xF4, _, third, ..] if is_continuation(third) => (3, Kind::TooShort),
            _ => (2, Kind::TooShort),
        };
        Self::IllFormed { len, kind }
    }
}

/// Whether `second` may follow `lead`, one of C2 to F4 (RFC 3629 §4).
#[inline]
fn is_second(lead: u8, second: u8) -> bool {
    match lead {
        0xE0 => matches!(second, 0xA0..=0xBF),
        0xED => matches!(second, 0x80..=0x9F),
        0xF0 => matches!(second, 0x90..=0xBF),
        0xF4 => matches!(second, 0x80..=0x8F),
        _ => is_continuation(second),
    }
}

fn never_leads(byte: u8) -> Kind {
    match byte {
        0x80..=0xBF => Kind::Continuation,
        0xC0 | 0xC1 => Kind::Overlong(2),
        0xF5..=0xF7 => Kind::TooLarge,
        _ => Kind::InvalidByte,
    }
}

fn refused_second(lead: u8, second: u8) -> Kind {
    match lead {
        _ if !is_continuation(second) => Kind::TooShort,
        0xE0 => Kind::Overlong(3),
        0xED => Kind::Surrogate,
        0xF0 => Kind::Overlong(4),
        _ => Kind::TooLarge,
    }
}

/// An error of an ill-formed string, as `core::str::Utf8Error` reports it, with the rule that is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Utf8Error {
    pub(super) valid_up_to: usize,
    pub(super) len: usize,
    pub(super) kind: Kind,
}

impl Utf8Error {
    /// Offset of the error in bytes. The bytes before the first error are well-formed.
    pub fn valid_up_to(&self) -> usize {
        self.valid_up_to
    }

    /// Length in bytes of the maximal subpart, 1 to 3; `None` if the input ends inside a sequence.
    pub fn error_len(&self) -> Option<usize> {
        (self.kind != Kind::Incomplete).then_some(self.len)
    }

    /// The bytes of the error, incomplete or not.
    pub fn range(&self) -> core::ops::Range<usize> {
        self.valid_up_to..self.valid_up_to + self.len
    }

    /// The rule that is broken.
    pub fn kind(&self) -> Kind {
        self.kind
    }
}

impl fmt::Display for Utf8Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ill-formed UTF-8 at byte {}: {}", self.valid_up_to, self.kind)
    }
}

impl core::error::Error for Utf8Error {}

/// The first error of `bytes`, whose first `good` bytes are well-formed and end between two sequences.
pub(super) fn first_error(bytes: &[u8], good: usize) -> Result<(), Utf8Error> {
    Errors { bytes, at: good }.next().map_or(Ok(()), Err)
}

/// Every error of `bytes`, in order: the maximal subparts between the well-formed runs.
///
/// ```
/// let errors: Vec<_> = utfuzz::codec::errors(b"a\xFFb\xE2\x82").map(|error| error.range()).collect();
/// assert_eq!(errors, [1..2, 3..5]);
/// ```
pub fn errors(bytes: &[u8]) -> Errors<'_> {
    Errors { bytes, at: 0 }
}

/// Iterator over the errors of a byte string; see [`errors`].
#[derive(Clone, Debug)]
pub struct Errors<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Iterator for Errors<'_> {
    type Item = Utf8Error;

    fn next(&mut self) -> Option<Utf8Error> {
        let valid_up_to = self.at + well_formed_prefix(&self.bytes[self.at..]);
        match Sequence::read(&self.bytes[valid_up_to..])? {
            Sequence::IllFormed { len, kind } => {
                self.at = valid_up_to + len;
                Some(Utf8Error { valid_up_to, len, kind })
            }
            Sequence::WellFormed { .. } => None,
        }
    }
}

/// The characters of `bytes`; an error for each maximal subpart.
///
/// ```
/// let text: String = utfuzz::codec::chars(b"a\xFF\xC3\xA9").map(|c| c.unwrap_or('?')).collect();
/// assert_eq!(text, "a?é");
/// ```
pub fn chars(bytes: &[u8]) -> Chars<'_> {
    Chars { bytes, at: 0 }
}

/// Iterator over characters and errors; see [`chars`].
#[derive(Clone, Debug)]
pub struct Chars<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Iterator for Chars<'_> {
    type Item = Result<char, Utf8Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.at;
        match Sequence::read(&self.bytes[start..])? {
            Sequence::WellFormed { len, scalar } => {
                self.at += len;
                Some(Ok(scalar))
            }
            Sequence::IllFormed { len, kind } => {
                self.at += len;
                Some(Err(Utf8Error { valid_up_to: start, len, kind }))
            }
        }
    }
}

/// Appends `bytes` with U+FFFD for every maximal subpart, error by error.
pub(super) fn lossy_by_errors(bytes: &[u8], out: &mut Vec<u8>) {
    let mut copied = 0;
    for error in errors(bytes) {
        out.extend_from_slice(&bytes[copied..error.range().start]);
        out.extend_from_slice(REPLACEMENT);
        copied = error.range().end;
    }
    out.extend_from_slice(&bytes[copied..]);
}

/// The sum over all bytes of `number`, which is below four.
#[inline(always)]
fn sum(bytes: &[u8], number: impl Fn(u8) -> u8) -> usize {
    const BLOCK: usize = 64;
    /// How many blocks can be summed in one byte for each place.
    const BLOCKS: usize = 255 / 3;
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    let mut total = rest.iter().map(|&byte| usize::from(number(byte))).sum();
    for blocks in blocks.chunks(BLOCKS) {
        // The compiler keeps these in registers.
        let mut sums = [0; BLOCK];
        for block in blocks {
            for place in 0..BLOCK {
                sums[place] += number(block[place]);
            }
        }
        total += sums.iter().map(|&sum| usize::from(sum)).sum::<usize>();
    }
    total
}

/// Characters of well-formed `bytes`: one for each byte that is not a continuation byte.
#[inline(always)]
pub(super) fn chars_by_bytes(bytes: &[u8]) -> usize {
    sum(bytes, |byte| u8::from(!is_continuation(byte)))
}

/// UTF-16 code units of well-formed `bytes`: one for each character, and one more for each character of four bytes.
#[inline(always)]
pub(super) fn utf16_len_by_bytes(bytes: &[u8]) -> usize {
    sum(bytes, |byte| u8::from(!is_continuation(byte)) + u8::from(byte >= 0xF0))
}
