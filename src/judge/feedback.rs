//! Behaviour features: what an input exercises, in terms of the standard.

use super::expect::Expectation;
use crate::utf8::Kind;

/// The features seen so far.
pub(super) struct Features {
    seen: Box<[u64; WORDS]>,
}

const POSITIONS: usize = 64;
const AT_POSITION: usize = Kind::ALL.len() * POSITIONS;
const BEHIND: usize = Kind::ALL.len() * Kind::ALL.len();
const LENGTHS: usize = 2 * POSITIONS;
const WORDS: usize = (AT_POSITION + BEHIND + LENGTHS).div_ceil(64);

impl Features {
    pub(super) fn new() -> Self {
        Self { seen: Box::new([0; WORDS]) }
    }

    /// Notes what an input of this length exercises: each error's kind and position in a 64-byte block, each pair of
    /// errors in a row, the length in a block and the verdict. True where any of it is new.
    pub(super) fn note(&mut self, expectation: &Expectation, len: usize) -> bool {
        let valid = expectation.errors.is_empty();
        let mut new = self.add(AT_POSITION + BEHIND + usize::from(valid) * POSITIONS + len % POSITIONS);
        let mut before: Option<(usize, usize)> = None;
        for error in &expectation.errors {
            let (Some(kind), Some(offset)) = (error.kind, error.valid_up_to) else { continue };
            let kind = kind.index();
            new |= self.add(kind * POSITIONS + offset % POSITIONS);
            if let Some((kind_before, _)) = before.filter(|(_, offset_before)| offset - offset_before <= 3) {
                new |= self.add(AT_POSITION + kind_before * Kind::ALL.len() + kind);
            }
            before = Some((kind, offset));
        }
        new
    }

    fn add(&mut self, feature: usize) -> bool {
        let word = &mut self.seen[feature / 64];
        let bit = 1 << (feature % 64);
        let new = *word & bit == 0;
        *word |= bit;
        new
    }
}
