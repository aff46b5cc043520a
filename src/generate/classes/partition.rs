//! Skips class strings that a grammar cannot distinguish, if it distinguishes fewer classes than RFC 3629.
//!
//! To CESU-8 all bytes from F0 on are the same, so of the strings that differ only there one is enough. Which one changes
//! with the position: a shortcut for UTF-8 may distinguish what the grammar does not. And where pairs replace four-byte
//! forms, a string of five bytes shows no more than one of four: a sequence, and an error after it. Other strings of that
//! length are each put at one position in four.

use crate::spec::grammar::{Form, RFC3629};
use crate::spec::{Contract, UnitRule};
use crate::utf8::ByteClass;
use core::ops::Range;

/// The class strings that a contract does not distinguish, and which of them is put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassPartition {
    /// For each class the first that is the same to the contract.
    group: [u8; ByteClass::COUNT],
    /// For each class how many of its group stand before it.
    place: [u8; ByteClass::COUNT],
    /// For each class how many are in its group.
    size: [u8; ByteClass::COUNT],
    /// Whether any two are the same.
    merges: bool,
    /// Whether long strings are put at some positions only.
    by_turns: bool,
    /// Lengths that are left out.
    idle: Range<usize>,
}

impl ClassPartition {
    /// The partition of a contract.
    pub fn of(contract: &Contract) -> Self {
        // The classes are those of RFC 3629: there C0 and F5 break other rules, if both lead nothing. And other rules of
        // units look at bytes in their own way.
        let by_grammar =
            *contract.grammar != RFC3629 && matches!(contract.unit, UnitRule::MaximalSubpart | UnitRule::Byte);
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

    /// Whether this string is put at this turn. At each turn exactly one of those that are the same is, or none of a length
    /// that shows no more than a shorter one.
    pub fn has(&self, string: &[u8], turn: usize) -> bool {
        if self.idle.contains(&string.len()) {
            return false;
        }
        /// The length from which on strings are most of all.
        const LONG: usize = 5;
        /// One position in this many.
        const PLACES: u64 = 4;
        let number = || string.iter().fold(turn as u64, |number, &byte| number + ByteClass::of(byte).index() as u64);
        if self.by_turns && string.len() >= LONG && number() % PLACES != 0 {
            return false;
        }
        if !self.merges {
            return true;
        }
        let classes = || string.iter().map(|&byte| ByteClass::of(byte).index());
        let mix = |lot: u64, more: u64| (lot ^ more).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(29);
        let mut lot = classes().fold(turn as u64, |lot, class| mix(lot, self.group[class].into()));
        classes().all(|class| {
            lot = mix(lot, 1);
            (lot >> 32) % u64::from(self.size[class]) == u64::from(self.place[class])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::classes::strings::Block;
    use crate::spec::{grammar, units};
    use std::collections::BTreeMap;

    #[test]
    fn of_strings_that_are_the_same_one_is_asked() {
        for grammar in grammar::ALL {
            for unit in [UnitRule::MaximalSubpart, UnitRule::Byte, UnitRule::LeadAnnounced] {
                let contract = Contract { grammar, unit, ..Contract::STANDARD };
                let partition = ClassPartition::of(&contract);
                let block = Block { len: 3, offset: 0 };
                let (mut string, mut groups) = (Vec::new(), BTreeMap::<Vec<u8>, u32>::new());
                for index in 0..block.count() {
                    block.write(index, &mut string);
                    let group = |byte: &u8| partition.group[ByteClass::of(*byte).index()];
                    let asked = groups.entry(string.iter().map(group).collect()).or_default();
                    *asked += u32::from(partition.has(&string, 7));
                    // What is asked is asked in place of the others: they are read alike.
                    let in_place = |byte: &u8| match partition.size[ByteClass::of(*byte).index()] {
                        1 => *byte,
                        _ => ByteClass::BOUNDS[usize::from(group(byte))].0,
                    };
                    let other: Vec<u8> = string.iter().map(in_place).collect();
                    let read = |bytes| units(&contract, bytes).map(|unit| unit.range()).collect::<Vec<_>>();
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
