//! The input file of the target `streaming`: the bytes, then a trailer that says where they are cut.
//!
//! ```text
//! file    = bytes *cut count
//! cut     = 2 bytes, little endian; the bytes are cut at offset (cut mod (number of bytes + 1))
//! count   = 1 byte; there are (count mod 33) cuts, or as many as the file has room for
//! ```
//! An empty file is no bytes and no cuts. Any file is a valid case, and a cut changed in the file moves a cut.

use crate::case::{Case, Cuts};
use arbitrary::{Arbitrary, Unstructured};

/// Bytes and cuts, read from a file as described above.
#[derive(Clone, Copy, Debug)]
pub struct CutInput<'a> {
    /// What the decoders see.
    pub bytes: &'a [u8],
    /// Where it is cut.
    pub cuts: Cuts,
}

impl<'a> CutInput<'a> {
    /// Reads a file.
    pub fn parse(file: &'a [u8]) -> Self {
        let Some((&count, rest)) = file.split_last() else { return Self { bytes: file, cuts: Cuts::NONE } };
        let count = (usize::from(count) % (Cuts::MOST + 1)).min(rest.len() / 2);
        let (bytes, trailer) = rest.split_at(rest.len() - 2 * count);
        let cut = |pair: &[u8; 2]| usize::from(u16::from_le_bytes(*pair)) % (bytes.len() + 1);
        Self { bytes, cuts: Cuts::new(trailer.as_chunks().0.iter().map(cut), bytes.len()) }
    }

    /// The file of these bytes and cuts. Cuts beyond 65,535 cannot be written and are left out.
    pub fn compose(bytes: &[u8], cuts: &Cuts) -> Vec<u8> {
        let cuts: Vec<u16> = cuts.offsets().iter().filter_map(|&cut| u16::try_from(cut).ok()).collect();
        let trailer = cuts.iter().flat_map(|cut| cut.to_le_bytes());
        bytes.iter().copied().chain(trailer).chain([cuts.len() as u8]).collect()
    }

    /// The case to judge.
    pub fn case(&self) -> Case<'a> {
        Case::with_cuts(self.bytes, self.cuts)
    }
}

impl<'a> Arbitrary<'a> for CutInput<'a> {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let file = u.bytes(u.len())?;
        Ok(Self::parse(file))
    }

    fn arbitrary_take_rest(u: Unstructured<'a>) -> arbitrary::Result<Self> {
        Ok(Self::parse(u.take_rest()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_it_was_written() {
        for (bytes, cuts) in [(&b""[..], &[][..]), (b"abc", &[1, 1, 3]), (b"\xE2\x82\xAC", &[0, 1, 2, 3])] {
            let cuts = Cuts::new(cuts.iter().copied(), bytes.len());
            let file = CutInput::compose(bytes, &cuts);
            let read = CutInput::parse(&file);
            assert_eq!((read.bytes, read.cuts), (bytes, cuts));
        }
    }

    #[test]
    fn every_file_is_a_case() {
        for file in [&b""[..], b"\xFF", b"a\xFF", b"abcdefg\x03", &[0xFF; 100]] {
            let read = CutInput::parse(file);
            assert!(read.bytes.len() <= file.len());
            assert!(read.cuts.offsets().iter().all(|&cut| cut <= read.bytes.len()));
        }
        let read = CutInput::parse(b"ab\x03\x00\x01");
        assert_eq!((read.bytes, read.cuts.offsets()), (&b"ab"[..], &[0][..]));
    }
}
