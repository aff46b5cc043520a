//! What stands around a class string.

/// What stands on one side of a class string.
///
/// Where a padding has several variants they alternate, so that a string meets another at each offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Padding {
    /// ASCII.
    Ascii,
    /// Characters of two to four bytes, the lowest and the highest of their length; a single byte is ASCII.
    Valid,
    /// ASCII with an ill-formed unit next to the string, and one in every 16 bytes beyond.
    IllFormed,
}

impl Padding {
    /// Every padding.
    pub const ALL: [Self; 3] = [Self::Ascii, Self::Valid, Self::IllFormed];

    /// The name, for people and for JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ascii => "ASCII",
            Self::Valid => "valid",
            Self::IllFormed => "ill-formed",
        }
    }

    /// How many variants there are.
    pub(super) fn variants(self) -> usize {
        match self {
            Self::Ascii => 1,
            Self::Valid => 2 * 3,
            Self::IllFormed => UNITS.len(),
        }
    }

    /// The units from the string outwards, until they fill `len` bytes.
    fn outwards(self, len: usize, turn: usize) -> Vec<&'static [u8]> {
        let mut pieces: Vec<&'static [u8]> = Vec::new();
        let mut filled = 0;
        while filled < len {
            let piece = self.piece(len - filled, filled, pieces.len() + turn, turn);
            filled += piece.len();
            pieces.push(piece);
        }
        pieces
    }

    /// What comes next, `filled` bytes away from the string, where `room` bytes are left.
    fn piece(self, room: usize, filled: usize, count: usize, turn: usize) -> &'static [u8] {
        const A: &[u8] = b"a";
        match self {
            Self::Ascii => A,
            Self::Valid => {
                // One byte alone could not be filled with anything but ASCII.
                let fits = |piece: &&[u8]| piece.len() <= room && piece.len() + 1 != room;
                let characters = CHARACTERS[turn % 2];
                (0..3).map(|step| characters[(count + step) % 3]).find(fits).unwrap_or(A)
            }
            Self::IllFormed => match filled % 16 {
                0 => {
                    let unit = UNITS[(turn + filled / 16) % UNITS.len()];
                    &unit[unit.len().saturating_sub(room)..]
                }
                _ => A,
            },
        }
    }

    /// What stands before the string.
    pub(super) fn before(self, len: usize, turn: usize) -> Vec<u8> {
        self.outwards(len, turn).into_iter().rev().flatten().copied().collect()
    }

    /// What stands after the string.
    pub(super) fn after(self, len: usize, turn: usize) -> Vec<u8> {
        self.outwards(len, turn).into_iter().flatten().copied().collect()
    }
}

/// The lowest and the highest characters of two to four bytes that are not noncharacters.
const CHARACTERS: [[&[u8]; 3]; 2] =
    [[b"\xC2\x80", b"\xE0\xA0\x80", b"\xF0\x90\x80\x80"], [b"\xDF\xBF", b"\xED\x9F\xBF", b"\xF4\x8F\xBF\xBD"]];

/// Ill-formed units; what remains of one without its first bytes is ill-formed as well.
const UNITS: [&[u8]; 8] =
    [b"\x80", b"\xFF", b"\xE2\x82", b"\xF0\x9F\x98", b"\xC3", b"\xED\xA0\x80", b"\xC0\xAF", b"\xF4\x90\xBF"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Contract, validity};

    #[test]
    fn every_padding_is_as_described_at_every_length() {
        let ill_formed = |bytes: &[u8]| !validity(&Contract::STANDARD, bytes).is_valid();
        for len in 0..=130 {
            for turn in 0..8 {
                for write in [Padding::before, Padding::after] {
                    let [ascii, valid, wrong] = Padding::ALL.map(|padding| write(padding, len, turn));
                    assert_eq!([ascii.len(), valid.len(), wrong.len()], [len; 3]);
                    assert!(ascii.is_ascii());
                    assert!(!ill_formed(&valid), "{len} {turn}: {valid:02X?}");
                    assert!(len == 1 || !valid.iter().any(u8::is_ascii), "{len} {turn}: {valid:02X?}");
                    let pieces = wrong.chunks(16).filter(|piece| piece.len() > 3);
                    assert!(pieces.into_iter().all(ill_formed), "{len} {turn}: {wrong:02X?}");
                    assert!(len == 0 || ill_formed(&wrong), "{len} {turn}: {wrong:02X?}");
                }
                // Next to the string stands no ASCII.
                assert!(Padding::IllFormed.before(len, turn).last().is_none_or(|byte| !byte.is_ascii()));
                assert!(Padding::IllFormed.after(len, turn).first().is_none_or(|byte| !byte.is_ascii()));
            }
        }
    }
}
