//! Decoding to `char`s.

use crate::codec::sequence::Sequence;
use crate::codec::validate::Utf8Error;

/// The characters of `bytes`; an error for each maximal subpart.
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

/// A piece of bytes as they are read.
pub(super) enum Piece<'a> {
    /// A block that is ASCII.
    Ascii(&'a [u8; 16]),
    /// A character; U+FFFD for a maximal subpart.
    Char(char),
}

/// All of `bytes`, in order.
pub(super) fn pieces(mut bytes: &[u8]) -> impl Iterator<Item = Piece<'_>> {
    core::iter::from_fn(move || {
        let (len, piece) = match (Sequence::read(bytes)?, bytes.first_chunk()) {
            // Where one byte is ASCII more may be.
            (Sequence::WellFormed { len: 1, .. }, Some(block)) if block.is_ascii() => {
                (block.len(), Piece::Ascii(block))
            }
            (Sequence::WellFormed { len, scalar }, _) => (len, Piece::Char(scalar)),
            (Sequence::IllFormed { len, .. }, _) => (len, Piece::Char(char::REPLACEMENT_CHARACTER)),
        };
        bytes = &bytes[len..];
        Some(piece)
    })
}
