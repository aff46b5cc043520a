//! What a decoder does: the contract that it keeps, found by asking it, whatever it claims.
//!
//! First a few questions about ASCII and offsets, to see what it can be asked. Then a questionnaire: each question is the
//! input that tells most of the remaining contracts apart, so that at most eight are enough. Then all other questions are
//! asked at once; if no contract gives all the answers, the nearest is the one that gives most of them. The result holds for
//! the inputs asked; to confirm it, judge the decoder by the contract ([`Held`], [`confirm`]).

mod asking;
mod confirm;
mod contracts;
mod diff;
mod machine;
mod matrix;
mod security;
mod units;
mod words;

pub use asking::{Held, Rewritten, ask};
pub use confirm::{Confirmed, Departure, Place, confirm};
pub use contracts::{Abilities, Answer, all, answer};
pub use diff::{Compared, Difference, Kind, differences};
pub use machine::{Machine, State, longest, shown_ranges};
pub use matrix::{COLUMNS, Cell, Column, cells};
pub use security::{Disguised, LONGEST, SEPARATORS, Verdicts, disguised};
pub use units::{Question, is_well_formed, questions, unit_cells};
pub use words::{in_words, rust};

use crate::decoder::Decoder;
use crate::spec::{Bom, Contract, End};
use crate::utf8::{Malformed, Validity};
use contracts::Table;

/// What a decoder was found to do.
#[derive(Clone, Debug)]
pub struct Probe {
    /// What it can be asked.
    pub able: Abilities,
    /// How it counts offsets, if it states any.
    pub offsets: Option<Offsets>,
    /// The contract, or the nearest.
    pub contract: Contract,
    /// How many answers are not those of the contract. If there are any, the contract is only the nearest one.
    pub wrong: usize,
    /// The fields that no question could determine: contracts that differ only in them give the same answers.
    pub open: Vec<Field>,
    /// The questions that led to the contract, in order, and the answers.
    pub asked: Vec<Asked>,
}

/// A question and its answer.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The input.
    pub bytes: Vec<u8>,
    /// What the decoder answered.
    pub answer: Answer,
    /// How many contracts were still possible after it.
    pub left: usize,
}

impl Probe {
    /// Whether the contract gives all answers.
    pub fn is_exact(&self) -> bool {
        self.wrong == 0
    }

    /// Whether a contract is the one found, as far as that could be determined. Whether a stream detects errors at once does
    /// not count.
    pub fn agrees(&self, claimed: &Contract) -> bool {
        Field::ALL.into_iter().all(|field| self.open.contains(&field) || field.is_same(&self.contract, claimed))
    }

    /// The first question whose answer excludes most of the contracts that differ from the one found only in this field;
    /// `None` if none of them was excluded by one answer alone.
    pub fn witness(&self, field: Field) -> Option<&Asked> {
        let others: Vec<Contract> = contracts::all()
            .into_iter()
            .filter(|other| Field::ALL.into_iter().all(|of| (of == field) != of.is_same(&self.contract, other)))
            .collect();
        let excluded = |asked: &Asked| {
            others.iter().filter(|other| !asked.answer.agrees(&answer(other, &asked.bytes), self.able)).count()
        };
        let best = self.asked.iter().rev().max_by_key(|asked| excluded(asked))?;
        (excluded(best) > 0).then_some(best)
    }
}

/// A field of a contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Field {
    /// What is well-formed.
    Grammar,
    /// How ill-formed bytes are cut.
    Segmentation,
    /// What is written for them.
    Replacement,
    /// What becomes of a byte order mark.
    Bom,
    /// Whether an incomplete sequence has a length.
    End,
}

impl Field {
    /// Every field.
    pub const ALL: [Self; 5] = [Self::Grammar, Self::Segmentation, Self::Replacement, Self::Bom, Self::End];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Grammar => "grammar",
            Self::Segmentation => "segmentation",
            Self::Replacement => "replacement",
            Self::Bom => "byte order mark",
            Self::End => "end of input",
        }
    }

    /// The value that a contract has here, in the words of contracts.
    pub fn value(self, contract: &Contract) -> String {
        let words = contract.to_string();
        let at = Self::ALL.into_iter().position(|field| field == self).unwrap_or_default();
        words.split(' ').nth(at).unwrap_or_default().to_owned()
    }

    fn is_same(self, one: &Contract, other: &Contract) -> bool {
        self.value(one) == self.value(other)
    }
}

/// How a decoder counts offsets of errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offsets {
    /// In this unit, the first being this number.
    Counted(Unit, usize),
    /// In another way: for [`Offsets::INPUT`] it states this.
    Other(usize),
}

/// What is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Bytes of the input.
    Bytes,
    /// Code points before the error.
    CodePoints,
    /// Code units of UTF-16 before the error.
    Utf16,
}

impl Unit {
    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::CodePoints => "code points",
            Self::Utf16 => "UTF-16 code units",
        }
    }
}

impl Offsets {
    /// An error after 11 bytes, 4 code points or code units.
    pub const INPUT: &[u8] = b"\xC3\xA9\xE2\x82\xAC\xE2\x82\xAC\xE2\x82\xAC\xFF";

    /// By the offset stated for the error in [`Offsets::INPUT`] and that in two supplementary characters, which not every
    /// grammar has, followed by FF.
    fn of(stated: usize, supplementary: Option<usize>) -> Self {
        match supplementary {
            // In the other input, an error after 8 bytes, 2 code points or 4 code units.
            Some(units) if matches!(stated, 4 | 5) && units == stated => Self::Counted(Unit::Utf16, stated - 4),
            _ => Self::counted(stated, [11, 4, usize::MAX]),
        }
    }

    /// By the offset stated for an error after so many bytes, code points and code units of UTF-16.
    fn counted(stated: usize, places: [usize; 3]) -> Self {
        let units = [Unit::Bytes, Unit::CodePoints, Unit::Utf16].into_iter().zip(places);
        let mut found = units.filter(|(_, place)| matches!(stated.checked_sub(*place), Some(0 | 1)));
        found.next().map_or(Self::Other(stated), |(unit, place)| Self::Counted(unit, stated - place))
    }

    /// Whether they are byte offsets as this crate counts them.
    pub fn is_plain(self) -> bool {
        self == Self::Counted(Unit::Bytes, 0)
    }
}

/// Finds out what a decoder does. `None` if it answers nothing at all.
pub fn probe(decoder: &dyn Decoder) -> Option<Probe> {
    let table = Table::get();
    let first = ask(decoder, &[b"A", b"", Offsets::INPUT, b"\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xFF"]);
    let [ascii, _, error, supplementary] = first.as_slice() else { return None };
    let malformed = |answer: &Answer| match answer.verdict {
        Some(Validity::Invalid(malformed)) => Some(malformed),
        _ => None,
    };
    let stated = malformed(error);
    let offset = |malformed: Option<Malformed>| malformed?.valid_up_to;
    let offsets = offset(stated).map(|stated| Offsets::of(stated, offset(malformed(supplementary))));
    let is_plain = offsets.is_some_and(Offsets::is_plain);
    let able = Abilities {
        verdict: first.iter().any(|answer| answer.verdict.is_some()),
        offset: is_plain,
        length: is_plain && stated.is_some_and(|malformed| malformed.len.is_some()),
        output: ascii.output.is_some(),
        replacement: error.output.is_some(),
    };
    if !able.verdict && !able.output {
        return None;
    }
    let possible = |contract: &Contract| {
        // Of contracts that differ in what cannot be asked, only the plainest.
        (able.output || (contract.replacement.is_none() && contract.bom == Bom::Keep))
            && (able.length || contract.end == End::Incomplete)
    };
    let everything: Vec<usize> = (0..table.contracts.len()).filter(|&at| possible(&table.contracts[at])).collect();
    let mut left = everything.clone();
    let mut unasked: Vec<usize> = (0..table.inputs().len()).collect();
    let mut asked = Vec::new();
    let mut known: Vec<(usize, Answer)> = Vec::new();
    while let Some(input) = table.best(&left, &unasked, able) {
        unasked.retain(|&other| other != input);
        let bytes = table.inputs()[input];
        let Some(answer) = ask(decoder, &[bytes]).pop() else { break };
        left.retain(|&contract| answer.agrees(table.answer(contract, input), able));
        asked.push(Asked { bytes: bytes.to_vec(), answer: answer.clone(), left: left.len() });
        known.push((input, answer));
    }
    // The rest of the questions are asked at once. They exclude contracts that the first answers suggest by chance.
    let inputs: Vec<&[u8]> = unasked.iter().map(|&input| table.inputs()[input]).collect();
    known.extend(unasked.iter().copied().zip(ask(decoder, &inputs)));
    let wrong = |contract: usize| {
        known.iter().filter(|(input, answer)| !answer.agrees(table.answer(contract, *input), able)).count()
    };
    if left.first().is_none_or(|&contract| wrong(contract) > 0) {
        left = everything.into_iter().min_by_key(|&contract| wrong(contract)).into_iter().collect();
    }
    let nearest = *left.first()?;
    let (contract, wrong) = (table.contracts[nearest], wrong(nearest));
    let open = Field::ALL.into_iter().filter(|field| {
        let is_asked = match field {
            Field::Grammar | Field::Segmentation => true,
            Field::Replacement | Field::Bom => able.output,
            Field::End => able.length,
        };
        !is_asked || left.iter().any(|&other| !field.is_same(&contract, &table.contracts[other]))
    });
    Some(Probe { able, offsets, contract, wrong, open: open.collect(), asked })
}
