//! Every string over the 13 byte classes, and which of them a grammar can distinguish.
//!
//! A class is represented by its first or its last byte, chosen pseudo-randomly for each place, since bugs in range
//! checks occur at the bounds.

use crate::case::Rng;
use crate::spec::grammar::{Form, RFC3629};
use crate::spec::{Contract, Segmentation};
use crate::utf8::ByteClass;
use core::ops::Range;

/// The class strings of one length at one offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Length of the class strings.
    pub len: u32,
    /// How many ASCII bytes precede them.
    pub offset: usize,
}

impl Block {
    /// How many strings there are: 13 to the power of the length.
    pub fn count(&self) -> u64 {
        (ByteClass::COUNT as u64).pow(self.len)
    }

    /// Whether its strings are at the start of the input, or touch the edge of a register of 16 bytes.
    pub(super) fn is_at_edge(&self) -> bool {
        /// The length of the shortest registers in bytes.
        const REGISTER: usize = 16;
        self.offset.is_multiple_of(REGISTER) || self.offset % REGISTER + self.len as usize >= REGISTER
    }

    /// Writes the string of this index, offset included, into `out`.
    pub fn write(&self, index: u64, out: &mut Vec<u8>) {
        out.clear();
        out.resize(self.offset, b'a');
        let mut digits = index;
        // One independent bit for each place.
        let bounds = Rng::new(index ^ (self.offset as u64) << 48).next_u32();
        for at in 0..self.len {
            let class = ByteClass::BOUNDS[(digits % ByteClass::COUNT as u64) as usize];
            digits /= ByteClass::COUNT as u64;
            out.push(if bounds >> at & 1 == 0 { class.0 } else { class.1 });
        }
    }
}

/// What `check --deep` covers, and `check` in turns: lengths 0 to 4 at offsets 0 to 64; length 5 at offset 0 and across the edges at 16, 32 and 64.
pub fn blocks() -> Vec<Block> {
    let short = (0..=4).flat_map(|len| (0..=64).map(move |offset| Block { len, offset }));
    let crossing = [0].into_iter().chain(12..16).chain(28..32).chain(60..64);
    short.chain(crossing.map(|offset| Block { len: 5, offset })).collect()
}

/// Which strings of a block are judged, if not all.
///
/// It is the turn of a string if the numbers of its classes and its offset add up to a multiple of
/// [`TURNS`](Turn::TURNS). So each string has its turn at one of any [`TURNS`](Turn::TURNS) consecutive offsets; and at
/// every offset, the strings whose turn it is have every combination of classes in all places but one, whichever that
/// is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Turn {
    /// Every string.
    Every,
    /// The strings whose turn it is at this offset.
    Its,
    /// The others.
    NotIts,
}

impl Turn {
    /// A string has its turn at one offset in this many.
    pub const TURNS: u64 = 4;

    /// Whether the string is judged at this offset.
    pub fn has(self, string: &[u8], offset: usize) -> bool {
        let number = || string.iter().fold(offset as u64, |sum, &byte| sum + ByteClass::of(byte).index() as u64);
        match self {
            Self::Every => true,
            Self::Its => number() % Self::TURNS == 0,
            Self::NotIts => number() % Self::TURNS != 0,
        }
    }

    /// How many strings of this block are judged.
    pub fn count(self, block: &Block) -> u64 {
        // For each remainder, how many strings have it; longer by one class at each step.
        let mut sums = [0; Self::TURNS as usize];
        sums[block.offset % Self::TURNS as usize] = 1;
        for _ in 0..block.len {
            let shorter = std::mem::take(&mut sums);
            for (sum, count) in shorter.into_iter().enumerate() {
                (0..ByteClass::COUNT).for_each(|class| sums[(sum + class) % Self::TURNS as usize] += count);
            }
        }
        match self {
            Self::Every => block.count(),
            Self::Its => sums[0],
            Self::NotIts => block.count() - sums[0],
        }
    }
}

/// Groups of class strings that a contract does not distinguish, and which member of each group is judged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassPartition {
    /// For each class, the first class of its group. A group holds the classes that the contract does not distinguish.
    group: [u8; ByteClass::COUNT],
    /// For each class its index in its group.
    place: [u8; ByteClass::COUNT],
    /// For each class how many are in its group.
    size: [u8; ByteClass::COUNT],
    /// Whether any group has more than one class.
    merges: bool,
    /// Whether long strings are judged at some positions only.
    by_turns: bool,
    /// Lengths that are omitted.
    idle: Range<usize>,
}

impl ClassPartition {
    /// The partition of a contract.
    pub fn of(contract: &Contract) -> Self {
        // RFC 3629 itself is not grouped: C0 and F5 never start a sequence, but they break different rules. Other
        // segmentations may distinguish bytes that the grammar does not.
        let by_grammar = *contract.grammar != RFC3629
            && matches!(contract.segmentation, Segmentation::MaximalSubpart | Segmentation::Byte);
        let of_class = |class: usize| (0..=u8::MAX).filter(move |&byte| ByteClass::of(byte).index() == class);
        let same = |one: usize, other: usize| {
            let mut pairs = of_class(one).flat_map(|byte| of_class(other).map(move |with| (byte, with)));
            one == other || by_grammar && !pairs.any(|(byte, with)| contract.grammar.tells_apart(byte, with))
        };
        let first = |class: usize| (0..class).find(|&other| same(other, class)).unwrap_or(class);
        let group: [u8; ByteClass::COUNT] = core::array::from_fn(|class| first(class) as u8);
        let count =
            |class: usize, end: usize| group[..end].iter().filter(|other| **other == group[class]).count() as u8;
        let size = core::array::from_fn(|class| count(class, ByteClass::COUNT));
        let longest = |pairs: bool| {
            let rows = contract.grammar.rows.iter().filter(|row| (row.form == Form::Pair) == pairs);
            rows.map(|row| row.bytes.len()).max()
        };
        let idle = longest(true).map_or(0..0, |pair| longest(false).map_or(0, |single| single + 2)..pair);
        Self {
            group,
            place: core::array::from_fn(|class| count(class, class)),
            size,
            merges: size != [1; _],
            by_turns: by_grammar,
            idle,
        }
    }

    /// Whether it suffices to judge strings when it is their turn, as it does for grammars other than RFC 3629 with
    /// maximal subparts or single bytes.
    pub fn is_by_turns(&self) -> bool {
        self.by_turns
    }

    /// Whether this string is judged at this turn. At each turn exactly one string of a group is, or none: some lengths
    /// show no more than shorter ones, and long strings are judged one time in four.
    pub fn has(&self, string: &[u8], turn: usize) -> bool {
        if self.idle.contains(&string.len()) {
            return false;
        }
        /// Strings of this length or more make up most of the plan.
        const LONG: usize = 5;
        if self.by_turns && string.len() >= LONG && !Turn::Its.has(string, turn) {
            return false;
        }
        if !self.merges {
            return true;
        }
        let classes = || string.iter().map(|&byte| ByteClass::of(byte).index());
        let mix = |hash: u64, more: u64| (hash ^ more).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        let mut hash = classes().fold(turn as u64, |hash, class| mix(hash, self.group[class].into()));
        classes().all(|class| {
            hash = mix(hash, 1);
            (hash >> 32) % u64::from(self.size[class]) == u64::from(self.place[class])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{grammar, segments};
    use std::collections::BTreeMap;
    use std::collections::BTreeSet;

    #[test]
    fn a_block_holds_every_class_string_once() {
        let block = Block { len: 3, offset: 2 };
        let mut seen = BTreeSet::new();
        let mut bytes = Vec::new();
        for index in 0..block.count() {
            block.write(index, &mut bytes);
            assert_eq!(bytes[..2], *b"aa");
            seen.insert(bytes[2..].iter().map(|&byte| ByteClass::of(byte)).collect::<Vec<_>>());
        }
        assert_eq!(seen.len() as u64, 13 * 13 * 13);
    }

    #[test]
    fn the_plan_is_what_it_says() {
        let plan = blocks();
        assert_eq!(plan.iter().filter(|block| block.len == 4).count(), 65);
        for offset in [0, 12, 15, 28, 31, 60, 63] {
            assert!(plan.contains(&Block { len: 5, offset }));
        }
    }

    /// At every offset, those whose turn it is have every combination of classes in all places but one, and each string
    /// has its turn at one of four offsets.
    #[test]
    fn turns_leave_no_combination_out() {
        let (mut string, mut seen) = (Vec::new(), BTreeSet::new());
        for (len, offsets) in [(1, 0..8), (2, 0..8), (3, 0..8), (4, 60..64)] {
            let mut turns = vec![0; Block { len, offset: 0 }.count() as usize];
            for offset in offsets.clone() {
                seen.clear();
                let mut count = 0;
                for index in 0..turns.len() as u64 {
                    Block { len, offset: 0 }.write(index, &mut string);
                    assert_ne!(Turn::Its.has(&string, offset), Turn::NotIts.has(&string, offset));
                    if !Turn::Its.has(&string, offset) {
                        continue;
                    }
                    count += 1;
                    turns[index as usize] += 1;
                    for place in 0..len as usize {
                        let mut others: Vec<u8> = string.iter().map(|&byte| ByteClass::of(byte).canonical()).collect();
                        others.remove(place);
                        seen.insert((place, others));
                    }
                }
                assert_eq!(seen.len() as u64, u64::from(len) * Block { len: len - 1, offset }.count());
                let counts = [Turn::Its, Turn::Every, Turn::NotIts].map(|turn| turn.count(&Block { len, offset }));
                assert_eq!(counts, [count, counts[1], counts[1] - count]);
            }
            assert!(turns.iter().all(|&turns| turns * 4 == offsets.len()), "{len}");
        }
        assert!(Turn::Its.has(b"", 4) && Turn::NotIts.has(b"", 5) && Turn::Every.has(b"", 5));
    }

    #[test]
    fn one_string_of_each_group_is_judged() {
        for grammar in grammar::ALL {
            for segmentation in [Segmentation::MaximalSubpart, Segmentation::Byte, Segmentation::LeadAnnounced] {
                let contract = Contract { grammar, segmentation, ..Contract::STANDARD };
                let partition = ClassPartition::of(&contract);
                let block = Block { len: 3, offset: 0 };
                let (mut string, mut groups) = (Vec::new(), BTreeMap::<Vec<u8>, u32>::new());
                for index in 0..block.count() {
                    block.write(index, &mut string);
                    let group = |byte: &u8| partition.group[ByteClass::of(*byte).index()];
                    let asked = groups.entry(string.iter().map(group).collect()).or_default();
                    *asked += u32::from(partition.has(&string, 7));
                    // The judged string represents the others of its group: all are read in the same way.
                    let in_place = |byte: &u8| match partition.size[ByteClass::of(*byte).index()] {
                        1 => *byte,
                        _ => ByteClass::BOUNDS[usize::from(group(byte))].0,
                    };
                    let other: Vec<u8> = string.iter().map(in_place).collect();
                    let read = |bytes| segments(&contract, bytes).map(|segment| segment.range()).collect::<Vec<_>>();
                    assert_eq!(read(&string), read(&other), "{contract}: {string:02X?}, {other:02X?}");
                }
                assert!(groups.values().all(|asked| *asked == 1), "{contract}");
            }
        }
    }

    #[test]
    fn rfc_3629_tells_all_classes_apart_and_cesu_8_does_not() {
        let of = |grammar| ClassPartition::of(&Contract { grammar, ..Contract::STANDARD });
        assert!(!of(&grammar::RFC3629).merges);
        assert!((0..ByteClass::COUNT).all(|class| of(&grammar::RFC3629).size[class] == 1));
        let cesu = of(&grammar::CESU8);
        assert_eq!(cesu.size[ByteClass::of(0xF0).index()], 5);
        assert_eq!(cesu.size[ByteClass::of(0xA0).index()], 1);
        for (partition, idle) in [(of(&grammar::RFC3629), 0..0), (of(&grammar::WTF8), 0..0), (cesu.clone(), 5..6)] {
            assert_eq!(partition.idle, idle);
            assert!(!idle.contains(&5) || !partition.has(b"aaaaa", 0));
        }
        let rfc2279 = of(&grammar::RFC2279);
        for first in 0..64 {
            let asked = (first..first + 4).filter(|&turn| rfc2279.has(b"\xF8\x88\x80\x80\x80", turn)).count();
            assert_eq!(asked, 1);
        }
        let turns = (0..64).filter(|&turn| cesu.has(b"\xF0\xA0", turn)).count();
        assert!((4..24).contains(&turns), "{turns}");
    }
}
