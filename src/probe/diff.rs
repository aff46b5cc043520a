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
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Verdict, Self::Offset, Self::Length, Self::Output];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Verdict => "verdict",
            Self::Offset => "offset",
            Self::Length => "length",
            Self::Output => "output",
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

/// The kinds in which two answers differ, comparing what both of them state.
fn kinds(one: &Answer, other: &Answer) -> Vec<Kind> {
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

/// For each kind in which the answers of two decoders differ, a shortest class string to which they do, the first in the
/// order of [`Block::write`]. None is longer than `longest`.
pub fn differences(one: &dyn Decoder, other: &dyn Decoder, longest: u32) -> Vec<Difference> {
    /// How many inputs are asked about at once.
    const BATCH: u64 = 4096;
    let mut found: Vec<Difference> = Vec::new();
    for len in 0..=longest {
        let block = Block { len, offset: 0 };
        let mut start = 0;
        while start < block.count() && found.len() < Kind::ALL.len() {
            let end = block.count().min(start + BATCH);
            let string = |index| {
                let mut bytes = Vec::new();
                block.write(index, &mut bytes);
                bytes
            };
            let strings: Vec<Vec<u8>> = (start..end).map(string).collect();
            let inputs: Vec<&[u8]> = strings.iter().map(Vec::as_slice).collect();
            for ((bytes, one), other) in inputs.iter().zip(ask(one, &inputs)).zip(ask(other, &inputs)) {
                for kind in kinds(&one, &other) {
                    if found.iter().all(|found| found.kind != kind) {
                        found.push(Difference { kind, bytes: bytes.to_vec(), answers: [one.clone(), other.clone()] });
                    }
                }
            }
            start = end;
        }
    }
    found
}
