//! A walk over the code points of a grammar: encodes and decodes each, and counts properties of the sequences.

use utfuzz::spec;
use utfuzz::spec::{Contract, Grammar, Reading, Segment};
use utfuzz::utf8::extended_len;
use utfuzz::utf8::{Kind, is_continuation};

/// Something that encodes and decodes one code point.
pub(crate) struct Codec {
    /// Its name in messages.
    pub(crate) name: &'static str,
    /// Appends the sequence of a code point, or says why there is none.
    pub(crate) encode: fn(&'static Grammar, u32, &mut Vec<u8>) -> Result<(), Kind>,
    /// The code point of exactly one well-formed sequence.
    pub(crate) decode: fn(&'static Grammar, &[u8]) -> Option<u32>,
}

impl Codec {
    /// The standard itself.
    pub(crate) const SPEC: Self = Self { name: "spec", encode: spec::encode, decode };
}

fn decode(grammar: &'static Grammar, sequence: &[u8]) -> Option<u32> {
    match spec::segments(&Contract { grammar, ..Contract::VALIDATOR }, sequence).next()? {
        Segment { len, reading: Reading::WellFormed(code_point), .. } if len == sequence.len() => Some(code_point),
        _ => None,
    }
}

/// Properties of the sequences of a range of code points.
#[derive(Clone, Debug)]
pub(crate) struct Tally {
    /// How many code points have a sequence.
    pub(crate) encoded: u64,
    /// How many have none, and for what reason, by [`Kind::index`].
    pub(crate) refused: [u64; Kind::ALL.len()],
    /// Which bytes occur.
    pub(crate) seen: [bool; 256],
    /// For each first byte, the lengths of the sequences that it starts, one bit each.
    pub(crate) lengths: [u8; 256],
    /// How many sequences are longer than the shortest form.
    pub(crate) long: u64,
    /// How many do not sort after the previous one.
    pub(crate) unsorted: u64,
    /// How many of more than one byte contain a byte below 80.
    pub(crate) with_ascii: u64,
    /// How many have a first byte that is a continuation byte, or a later byte that is not.
    pub(crate) unmarked: u64,
}

impl Tally {
    /// The tally of no code points.
    pub(crate) const EMPTY: Self = Self {
        encoded: 0,
        refused: [0; Kind::ALL.len()],
        seen: [false; 256],
        lengths: [0; 256],
        long: 0,
        unsorted: 0,
        with_ascii: 0,
        unmarked: 0,
    };

    /// Walks the code points from `first` up to but not including `end`; panics at the first that does not round-trip.
    pub(crate) fn of(codec: &Codec, grammar: &'static Grammar, first: u32, end: u32) -> Self {
        let mut tally = Self::EMPTY;
        let (mut before, mut bytes) = (Vec::new(), Vec::new());
        // The sequence before the range, to compare the order.
        if first > 0 {
            let _ = (codec.encode)(grammar, first - 1, &mut before);
        }
        for code_point in first..end {
            bytes.clear();
            match (codec.encode)(grammar, code_point, &mut bytes) {
                Ok(()) => {
                    let back = (codec.decode)(grammar, &bytes);
                    assert_eq!(back, Some(code_point), "{}, {}: {bytes:02X?}", codec.name, grammar.name);
                    tally.see(code_point, &bytes, &before);
                    std::mem::swap(&mut before, &mut bytes);
                }
                Err(kind) => tally.refused[kind.index()] += 1,
            }
        }
        tally
    }

    fn see(&mut self, code_point: u32, bytes: &[u8], before: &[u8]) {
        self.encoded += 1;
        bytes.iter().for_each(|&byte| self.seen[usize::from(byte)] = true);
        self.lengths[usize::from(bytes[0])] |= 1 << bytes.len();
        self.long += u64::from(bytes.len() != extended_len(code_point));
        self.unsorted += u64::from(bytes <= before);
        self.with_ascii += u64::from(bytes.len() > 1 && bytes.iter().any(u8::is_ascii));
        let (lead, rest) = bytes.split_at(1);
        self.unmarked += u64::from(is_continuation(lead[0]) || !rest.iter().all(|&byte| is_continuation(byte)));
    }

    /// Adds the tally of another walk.
    pub(crate) fn add(&mut self, other: Self) {
        self.encoded += other.encoded;
        self.long += other.long;
        self.unsorted += other.unsorted;
        self.with_ascii += other.with_ascii;
        self.unmarked += other.unmarked;
        self.refused.iter_mut().zip(other.refused).for_each(|(sum, more)| *sum += more);
        self.seen.iter_mut().zip(other.seen).for_each(|(sum, more)| *sum |= more);
        self.lengths.iter_mut().zip(other.lengths).for_each(|(sum, more)| *sum |= more);
    }
}

/// Asserts each property for a walk over at least all scalar values, except where the grammar is known to differ.
pub(crate) fn assert_properties(grammar: &Grammar, tally: &Tally) {
    let name = grammar.name;
    // A supplementary code point as a pair is six bytes long, has a lead byte inside, and U+10000 sorts before U+FFFF.
    let pairs = if ["cesu-8", "modified-utf-8"].contains(&name) { 1 << 20 } else { 0 };
    // U+0000 as C0 80 is long, and U+0001 sorts before it.
    let null = u64::from(name == "modified-utf-8");
    assert_eq!(tally.with_ascii, 0, "{name}: an ASCII byte inside a sequence");
    assert!(!tally.seen[0xFE] && !tally.seen[0xFF], "{name}: FE or FF");
    assert_eq!(tally.unsorted, u64::from(pairs > 0) + null, "{name}: out of order");
    assert_eq!(tally.unmarked, pairs, "{name}: lead bytes and continuation bytes overlap");
    assert_eq!(tally.long, pairs + null, "{name}: not the shortest form");
    let ambiguous: Vec<usize> = (0..256).filter(|&lead| tally.lengths[lead].count_ones() > 1).collect();
    assert_eq!(
        ambiguous,
        if pairs > 0 { vec![0xED] } else { vec![] },
        "{name}: the first byte does not determine the length"
    );
}
