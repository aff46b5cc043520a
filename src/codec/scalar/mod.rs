//! The portable decoder: one sequence at a time, no unsafe code.
//!
//! Every operation is implemented here in full. A kernel decodes the middle of long inputs in registers, and calls these
//! functions for inputs that are too short and to find where an error is.

mod automaton;
pub(super) mod units;

pub(super) use automaton::{boundary, pending, well_formed_prefix};

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

/// Appends `bytes` as UTF-16 with replacement, character by character.
pub(super) fn utf16_by_chars(bytes: &[u8], out: &mut Vec<u16>) {
    append_by_chars(bytes, out, |scalar, units: &mut [u16; ROOM], len| {
        let bits = scalar.wrapping_sub(0x1_0000);
        let is_pair = scalar >= 0x1_0000;
        units[len % ROOM] = if is_pair { 0xD800 | (bits >> 10) as u16 } else { scalar as u16 };
        // If there is only one, the next overwrites the second.
        units[(len + 1) % ROOM] = 0xDC00 | (bits & 0x3FF) as u16;
        len + 1 + usize::from(is_pair)
    });
}

/// Appends `bytes` as UTF-32 with replacement, character by character.
pub(super) fn utf32_by_chars(bytes: &[u8], out: &mut Vec<u32>) {
    append_by_chars(bytes, out, |scalar, units: &mut [u32; ROOM], len| {
        units[len % ROOM] = scalar;
        len + 1
    });
}

/// Units that are collected before they are appended: a power of two, so that an index needs no comparison.
const ROOM: usize = 512;

/// ASCII bytes that are widened at a time, and the bits that are not set in them.
const ASCII: usize = 16;
const NON_ASCII: u128 = 0x8080_8080_8080_8080_8080_8080_8080_8080;

/// Appends `bytes`: calls `write` for each character, and for U+FFFD in place of each maximal subpart. It writes units at an
/// index, and returns the next index.
#[inline(always)]
fn append_by_chars<U: Copy + Default + From<u8>>(
    bytes: &[u8],
    out: &mut Vec<U>,
    write: impl Fn(u32, &mut [U; ROOM], usize) -> usize,
) {
    out.reserve(bytes.len());
    let (mut units, mut at) = ([U::default(); ROOM], 0);
    while at < bytes.len() {
        let mut len = 0;
        // The last step writes up to `ASCII` units.
        while len < ROOM - ASCII && at < bytes.len() {
            let rest = &bytes[at..];
            if rest[0].is_ascii()
                && let Some(block) = rest.first_chunk::<ASCII>()
            {
                // After one ASCII byte, more are likely: those up to the first that is not ASCII count.
                for (unit, &byte) in units[len..].iter_mut().zip(block) {
                    *unit = U::from(byte);
                }
                let count = (u128::from_le_bytes(*block) & NON_ASCII).trailing_zeros() as usize / 8;
                (at, len) = (at + count, len + count);
                continue;
            }
            // Where one byte is not ASCII, the next is likely not to be, either.
            for _ in 0..ASCII / 2 {
                let (scalar, read) = scalar_value(&bytes[at..]);
                len = write(scalar, &mut units, len);
                at += read;
                if bytes.get(at).is_none_or(u8::is_ascii) {
                    break;
                }
            }
        }
        out.extend_from_slice(&units[..len]);
    }
}

/// The first scalar value of `rest`, U+FFFD for a maximal subpart, and how many bytes it takes: none if there are none.
#[inline(always)]
fn scalar_value(rest: &[u8]) -> (u32, usize) {
    let Some(&window) = rest.first_chunk() else { return scalar_value_at_end(rest) };
    let word = u32::from_le_bytes(window);
    let tail = |byte: u32| word >> (8 * byte) & 0x3F;
    if word & 0x80 == 0 {
        return (word & 0x7F, 1);
    }
    if word & 0xC0E0 == 0x80C0 && word & 0x1E != 0 {
        return ((word & 0x1F) << 6 | tail(1), 2);
    }
    if word & 0xC0_C0F0 == 0x80_80E0 {
        let scalar = (word & 0xF) << 12 | tail(1) << 6 | tail(2);
        if scalar >= 0x800 && scalar & 0xF800 != 0xD800 {
            return (scalar, 3);
        }
    } else if word & 0xC0C0_C0F8 == 0x8080_80F0 {
        let scalar = (word & 7) << 18 | tail(1) << 12 | tail(2) << 6 | tail(3);
        if matches!(scalar, 0x1_0000..=0x10_FFFF) {
            return (scalar, 4);
        }
    }
    scalar_value_at_end(rest)
}

/// The same for fewer than four bytes, and for what is ill-formed.
#[inline(never)]
fn scalar_value_at_end(rest: &[u8]) -> (u32, usize) {
    match Sequence::read(rest) {
        Some(Sequence::WellFormed { len, scalar }) => (scalar.into(), len),
        Some(Sequence::IllFormed { len, .. }) => (char::REPLACEMENT_CHARACTER.into(), len),
        None => (0, 0),
    }
}

/// The sum of a number below four for each byte.
#[inline(always)]
fn sum(bytes: &[u8], number: impl Fn(u8) -> u8) -> usize {
    // So many that a sum fits a byte, which the compiler turns into registers of sums.
    let (blocks, rest) = bytes.as_chunks::<64>();
    let of = |bytes: &[u8]| usize::from(bytes.iter().fold(0u8, |sum, &byte| sum.wrapping_add(number(byte))));
    blocks.iter().map(|block| of(block)).sum::<usize>() + of(rest)
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
