//! The shortest inputs that tell two decoders apart.

use crate::decoder::Decoder;
use crate::generate::classes::Block;
use crate::judge::Law;
use crate::judge::laws::verdict_mismatch;
use crate::probe::asking::ask;
use crate::probe::contracts::Answer;

/// In what two answers differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// One accepts what the other rejects.
    Verdict,
    /// Both reject, and state different offsets.
    Offset,
    /// Both reject, and state different lengths of the error.
    Length,
    /// The text differs.
    Output,
    /// One fails where the other answers.
    Failure,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Verdict, Self::Offset, Self::Length, Self::Output, Self::Failure];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Verdict => "verdict",
            Self::Offset => "offset",
            Self::Length => "length",
            Self::Output => "output",
            Self::Failure => "failure",
        }
    }
}

/// An input to which two decoders give answers that differ.
#[derive(Clone, Debug)]
pub struct Difference {
    /// In what they differ first.
    pub kind: Kind,
    /// The input.
    pub bytes: Vec<u8>,
    /// Both answers.
    pub answers: [Answer; 2],
}

/// What a comparison of two decoders found.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    /// For each kind in which their answers differ, a shortest input that shows it.
    pub differences: Vec<Difference>,
    /// On how many inputs both stated a verdict, or both an output. On all others there was nothing to compare.
    pub comparable: usize,
}

/// The kinds in which two answers differ, comparing what both of them state.
fn kinds(one: &Answer, other: &Answer) -> Vec<Kind> {
    if one.panicked || other.panicked {
        return if one.panicked == other.panicked { Vec::new() } else { vec![Kind::Failure] };
    }
    let mut kinds = Vec::new();
    if let (Some(one), Some(other)) = (&one.verdict, &other.verdict) {
        kinds.extend(match verdict_mismatch(one, other).map(|mismatch| mismatch.law) {
            Some(Law::ValidUpTo) => Some(Kind::Offset),
            Some(Law::ErrorLength) => Some(Kind::Length),
            Some(Law::Verdict) => Some(Kind::Verdict),
            _ => None,
        });
    }
    if let (Some(one), Some(other)) = (&one.output, &other.output) {
        kinds.extend((one != other).then_some(Kind::Output));
    }
    kinds
}

/// Compares the answers of two decoders to all class strings of up to `longest` bytes, until they differ in every kind. The
/// differences are the first in the order of [`Block::write`].
pub fn differences(one: &dyn Decoder, other: &dyn Decoder, longest: u32) -> Compared {
    /// How many inputs are asked about at once.
    const BATCH: u64 = 4096;
    let mut found = Compared::default();
    for len in 0..=longest {
        let block = Block { len, offset: 0 };
        let mut start = 0;
        while start < block.count() && found.differences.len() < Kind::ALL.len() {
            let end = block.count().min(start + BATCH);
            let string = |index| {
                let mut bytes = Vec::new();
                block.write(index, &mut bytes);
                bytes
            };
            let strings: Vec<Vec<u8>> = (start..end).map(string).collect();
            let inputs: Vec<&[u8]> = strings.iter().map(Vec::as_slice).collect();
            for ((bytes, one), other) in inputs.iter().zip(ask(one, &inputs)).zip(ask(other, &inputs)) {
                let both_state = (one.verdict.is_some() && other.verdict.is_some())
                    || (one.output.is_some() && other.output.is_some());
                found.comparable += usize::from(both_state);
                for kind in kinds(&one, &other) {
                    if found.differences.iter().all(|found| found.kind != kind) {
                        found.differences.push(Difference {
                            kind,
                            bytes: bytes.to_vec(),
                            answers: [one.clone(), other.clone()],
                        });
                    }
                }
            }
            start = end;
        }
    }
    found
}
