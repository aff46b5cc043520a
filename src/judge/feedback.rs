//! Behaviour features: what an input exercises, in terms of the standard.
//!
//! The decoders that matter are branch-free, and `core` is not instrumented, so code coverage hardly tells inputs
//! apart. What tells them apart is which classes of bytes meet, where in a block, and which errors come of it.

use super::expect::Expectation;
use crate::spec::Reading;
use crate::utf8::{ByteClass, Kind};

/// The features seen so far.
pub(super) struct Features {
    /// One byte for each feature: 0 where it has not been seen. A power of two, so that indices need no check.
    seen: Box<[u8; SIZE]>,
}

/// Each class at each place near a block edge, with the class at the place before it.
const PAIRS: usize = ByteClass::COUNT * ByteClass::COUNT * PLACES;
/// Each kind of error at each position in a block of 64 bytes.
const ERRORS: usize = Kind::ALL.len() * BLOCK;
/// Each kind of error next behind each other.
const NEIGHBOURS: usize = Kind::ALL.len() * Kind::ALL.len();
/// Each length within a block, well-formed or not.
const LENGTHS: usize = 2 * BLOCK;
const SIZE: usize = (PAIRS + ERRORS + NEIGHBOURS + LENGTHS).next_power_of_two();

const BLOCK: usize = 64;
const PLACES: usize = EDGES.len();

/// The positions in a block next to its edge, or to that of a half or a quarter, that are looked at.
const EDGES: [usize; 10] = [0, 1, 2, 15, 16, 31, 32, 61, 62, 63];

impl Features {
    pub(super) fn new() -> Self {
        Self { seen: Box::new([0; SIZE]) }
    }

    /// Notes what an input exercises. True where any of it is new.
    pub(super) fn note(&mut self, expectation: Expectation<'_>, bytes: &[u8]) -> bool {
        let mut seen = self.note_errors(expectation, bytes.len());
        for block in bytes.chunks(BLOCK) {
            let mut before = ByteClass::of(b'a').index();
            for (place, &position) in EDGES.iter().enumerate() {
                let Some(&byte) = block.get(position) else { break };
                let class = ByteClass::of(byte).index();
                seen &= self.add((before * ByteClass::COUNT + class) * PLACES + place);
                before = class;
            }
        }
        seen == 0
    }

    fn note_errors(&mut self, expectation: Expectation<'_>, len: usize) -> u8 {
        const FIRST: usize = PAIRS;
        let valid = usize::from(expectation.units().is_empty());
        let mut seen = self.add(FIRST + ERRORS + NEIGHBOURS + valid * BLOCK + len % BLOCK);
        let mut before = Kind::ALL.len() - 1;
        for unit in expectation.units() {
            let Reading::IllFormed { kind, .. } = unit.reading else { continue };
            let kind = kind.index();
            seen &= self.add(FIRST + kind * BLOCK + unit.start % BLOCK);
            seen &= self.add(FIRST + ERRORS + before * Kind::ALL.len() + kind);
            before = kind;
        }
        seen
    }

    /// Notes a feature; 0 where it is new, else 1.
    fn add(&mut self, feature: usize) -> u8 {
        core::mem::replace(&mut self.seen[feature % SIZE], 1)
    }
}
