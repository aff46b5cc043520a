//! Validation, and the errors one by one.

use crate::codec::automaton::well_formed_prefix;
use crate::codec::kernel::Kernel;
use crate::codec::sequence::Sequence;
use crate::utf8::Kind;
use core::fmt;

/// The first error of an ill-formed string, as `core::str::Utf8Error` reports it, with the rule that is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Utf8Error {
    pub(super) valid_up_to: usize,
    pub(super) len: usize,
    pub(super) kind: Kind,
}

impl Utf8Error {
    /// Length in bytes of the longest well-formed prefix.
    pub fn valid_up_to(&self) -> usize {
        self.valid_up_to
    }

    /// Length in bytes of the maximal subpart, 1 to 3; `None` where the input ends inside a sequence.
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

/// Checks that `bytes` are well-formed UTF-8.
///
/// # Errors
/// The first error: its offset, its length, its kind.
#[inline]
pub fn validate(bytes: &[u8]) -> Result<(), Utf8Error> {
    Kernel::best().validate(bytes)
}

/// The first error of `bytes`, of which so many are well-formed and end between two sequences.
pub(super) fn first_error(bytes: &[u8], good: usize) -> Result<(), Utf8Error> {
    next_error(bytes, good).map_or(Ok(()), Err)
}

/// `bytes` as text.
///
/// # Errors
/// The first error: its offset, its length, its kind.
#[inline]
pub fn from_utf8(bytes: &[u8]) -> Result<&str, Utf8Error> {
    Kernel::best().from_utf8(bytes)
}

/// Every error of `bytes`, in order: the maximal subparts between the well-formed runs.
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
        let error = next_error(self.bytes, self.at)?;
        self.at = error.range().end;
        Some(error)
    }
}

fn next_error(bytes: &[u8], at: usize) -> Option<Utf8Error> {
    let valid_up_to = at + well_formed_prefix(&bytes[at..]);
    match Sequence::read(&bytes[valid_up_to..])? {
        Sequence::IllFormed { len, kind } => Some(Utf8Error { valid_up_to, len, kind }),
        Sequence::WellFormed { .. } => None,
    }
}
