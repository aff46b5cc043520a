//! Decoding to `char`s.

use super::sequence::Sequence;
use super::validate::Utf8Error;

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
