//! Every string over the 13 byte classes.
//!
//! Each class is stood for by its first or its last byte, by turns, since bugs in range tests live at the bounds.

use crate::utf8::ByteClass;

/// The class strings of one length at one offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Block {
    /// Length of the class strings.
    pub len: u32,
    /// How many ASCII bytes stand before them.
    pub offset: usize,
}

impl Block {
    /// How many strings there are: 13 to the power of the length.
    pub fn count(&self) -> u64 {
        (ByteClass::COUNT as u64).pow(self.len)
    }

    /// Writes the string of this index, offset included, into `out`.
    pub fn write(&self, index: u64, out: &mut Vec<u8>) {
        out.clear();
        out.resize(self.offset, b'a');
        let mut digits = index;
        for at in 0..self.len {
            let class = ByteClass::BOUNDS[(digits % ByteClass::COUNT as u64) as usize];
            digits /= ByteClass::COUNT as u64;
            let turn = (index ^ index >> 3 ^ u64::from(at)) & 1;
            out.push(if turn == 0 { class.0 } else { class.1 });
        }
    }
}

/// What `check` covers: nothing, and up to length 4 at offsets 0 to 64; length 5 at 0 and where it crosses 16, 32 and 64.
pub fn plan() -> Vec<Block> {
    let short = (0..=4).flat_map(|len| (0..=64).map(move |offset| Block { len, offset }));
    let crossing = [0].into_iter().chain(12..16).chain(28..32).chain(60..64);
    short.chain(crossing.map(|offset| Block { len: 5, offset })).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let plan = plan();
        assert_eq!(plan.iter().filter(|block| block.len == 4).count(), 65);
        for offset in [0, 12, 15, 28, 31, 60, 63] {
            assert!(plan.contains(&Block { len: 5, offset }));
        }
    }
}
