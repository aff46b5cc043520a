//! Behaviour features: what an input exercises, in terms of the standard.
//!
//! The decoders that matter are branch-free, and `core` is not instrumented, so code coverage hardly tells inputs
//! apart. What tells them apart is which classes of bytes meet, where in a block, and which errors come of it.

use super::expect::Expectation;
use crate::utf8::{ByteClass, Kind};

/// The features seen so far.
pub(super) struct Features {
    /// One byte for each feature: 0 where it has not been seen. A power of two, so that indices need no check.
    seen: Box<[u8; SIZE]>,
}

/// Each pair of classes at each place near a block edge.
const PAIRS: usize = ByteClass::COUNT * ByteClass::COUNT * PLACES;
/// Each kind of error at each position in a block of 64 bytes.
const ERRORS: usize = Kind::ALL.len() * BLOCK;
/// Each kind of error right behind each other.
const NEIGHBOURS: usize = Kind::ALL.len() * Kind::ALL.len();
/// Each length within a block, well-formed or not.
const LENGTHS: usize = 2 * BLOCK;
const SIZE: usize = (PAIRS + ERRORS + NEIGHBOURS + LENGTHS).next_power_of_two();

const BLOCK: usize = 64;
const PLACES: usize = 11;

/// The place of a position in a block: within three bytes of its edge, at an edge of 32 or 16 bytes, or elsewhere.
const PLACE: [u8; BLOCK] = {
    let mut place = [0; BLOCK];
    let edges = [61, 62, 63, 0, 1, 2, 31, 32, 15, 16];
    let mut index = 0;
    while index < edges.len() {
        place[edges[index]] = index as u8 + 1;
        index += 1;
    }
    place
};

impl Features {
    pub(super) fn new() -> Self {
        Self { seen: Box::new([0; SIZE]) }
    }

    /// Notes what an input exercises. True where any of it is new.
    pub(super) fn note(&mut self, expectation: &Expectation, bytes: &[u8]) -> bool {
        let mut seen = self.note_errors(expectation, bytes.len());
        let mut before = ByteClass::of(b'a').index();
        for (position, &byte) in bytes.iter().enumerate() {
            let class = ByteClass::of(byte).index();
            let place = usize::from(PLACE[position % BLOCK]);
            seen &= self.add((before * ByteClass::COUNT + class) * PLACES + place);
            before = class;
        }
        seen == 0
    }

    fn note_errors(&mut self, expectation: &Expectation, len: usize) -> u8 {
        const FIRST: usize = PAIRS;
        let valid = usize::from(expectation.errors.is_empty());
        let mut seen = self.add(FIRST + ERRORS + NEIGHBOURS + valid * BLOCK + len % BLOCK);
        let mut before: Option<(usize, usize)> = None;
        for error in &expectation.errors {
            let (Some(kind), Some(offset)) = (error.kind, error.valid_up_to) else { continue };
            let kind = kind.index();
            seen &= self.add(FIRST + kind * BLOCK + offset % BLOCK);
            if let Some((kind_before, _)) = before.filter(|(_, offset_before)| offset - offset_before <= 3) {
                seen &= self.add(FIRST + ERRORS + kind_before * Kind::ALL.len() + kind);
            }
            before = Some((kind, offset));
        }
        seen
    }

    /// Notes a feature; 0 where it is new, else 1.
    fn add(&mut self, feature: usize) -> u8 {
        core::mem::replace(&mut self.seen[feature % SIZE], 1)
    }
}
