//! All contracts, what each answers to a list of inputs, and which input tells most of them apart.

use crate::judge::laws::verdict_mismatch;
use crate::spec::grammar::{ALL, RFC2279};
use crate::spec::{Bom, Contract, Detection, End, Replacement, Segmentation, lossy, validity};
use crate::text::hex;
use crate::utf8::{Malformed, Validity};
use core::fmt;
use std::collections::HashMap;
use std::sync::LazyLock;

/// What a decoder answers to one input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The verdict; `None` if it has none.
    pub verdict: Option<Validity>,
    /// The text; `None` if it gives none.
    pub output: Option<Vec<u8>>,
    /// Whether it failed instead of answering.
    pub panicked: bool,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.verdict, &self.output) {
            _ if self.panicked => f.write_str("no answer: it fails"),
            (None, None) => f.write_str("no answer"),
            (Some(verdict), None) => verdict.fmt(f),
            (None, Some(output)) => write!(f, "output {}", hex(output)),
            (Some(verdict), Some(output)) => write!(f, "{verdict}, output {}", hex(output)),
        }
    }
}

/// What of an answer a decoder states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Abilities {
    /// A verdict.
    pub verdict: bool,
    /// With the verdict, the offset of the first error.
    pub offset: bool,
    /// With the verdict, the length of the first error.
    pub length: bool,
    /// Text.
    pub output: bool,
    /// Text for ill-formed input too.
    pub replacement: bool,
}

/// The inputs of which the questionnaire consists. Together they tell apart all contracts that any class string of up to
/// four bytes tells apart; a test compares half of them.
pub(super) const INPUTS: &[&[u8]] = &[
    b"\xC0\x80\x80A",
    b"\xED\xA0\x80\xED\xB0\x80",
    b"\xEF\xBB\xBFA",
    b"\xF4\x90\x80\x80",
    b"\xF8\x88\x80\x80\x80",
    b"\xE0\xF0\x90",
    b"\0",
    b"\xF0\x90\x80\x80",
    b"\xC0\x90\x80",
    b"\xFF\x80",
    b"\xF5\x80",
    b"\xE0\xA0",
    b"\xFC\x80\x80\x80\x80\x80",
    b"\x80\x80",
    b"\xF8\x80",
    b"\xC0\x80",
    b"\xC1\xBF",
    b"\xE0\x80\xAF",
    b"\xE0\x9F\xBFA",
    b"\xF0\x80\x80\xAF",
    b"\xED\xA0\x80",
    b"\xED\xA0",
    b"\xED\xA0A",
    b"\xED\xB0\x80A",
    b"\xED\xA0\x80\xED\xA0\x80",
    b"\xEF\xBF\xBE",
    b"\xEF\xB7\x90",
    b"\xF0\x9F\xBF\xBF",
    b"\xF4\x8F\xBF\xBF",
    b"\xF5\x80\x80\x80A",
    b"\xF7\xBF\xBF\xBF",
    b"\xFB\xBF\xBF\xBF\xBFA",
    b"\xFD\xBF\xBF\xBF\xBF\xBF",
    b"\xFE\x80\x80",
    b"\xFF",
    b"A\x80B",
    b"\x81\x9D",
    b"\x85\xA0",
    b"\xE2\x82A",
    b"\xE2\x82",
    b"\xC2",
    b"\xC2\xFF",
    b"\xC2\xC3\x80",
    b"\xE1\x80\xC0\x80",
    b"\xE1\x80\xC2\x80",
    b"\xF1\x80\x80",
    b"\xF1\x80\x80\xF1A",
    b"\xF0\x80\x80",
    b"\xF4\x90\x80A",
    b"\xEF\xBB\xBF",
    b"\xEF\xBB\xBF\xEF\xBB\xBF",
    b"\xEF\xBB\xBF\xFF",
    b"A\xEF\xBB\xBF",
];

/// The replacements, and none.
fn replacements() -> impl Iterator<Item = Option<Replacement>> {
    Replacement::ALL.into_iter().map(Some).chain([None])
}

/// Every contract that does not contradict itself, the plainest first. Whether a stream detects errors at once is asked
/// of streams.
pub fn all() -> Vec<Contract> {
    let mut contracts = Vec::new();
    for grammar in ALL {
        for segmentation in Segmentation::ALL {
            for replacement in replacements() {
                for bom in [Bom::Keep, Bom::Strip] {
                    for end in [End::Incomplete, End::Error] {
                        let detection = Detection::Late;
                        contracts.push(Contract { grammar, segmentation, replacement, bom, end, detection });
                    }
                }
            }
        }
    }
    contracts.retain(|contract| contract.check().is_ok());
    contracts
}

/// What a decoder with this contract answers, if it states all it can.
pub fn answer(contract: &Contract, bytes: &[u8]) -> Answer {
    let verdict = validity(contract, bytes);
    let mut output = Vec::new();
    let of_replacing = lossy(contract, bytes, &mut output);
    let output = match contract.replacement {
        Some(_) => of_replacing.map(|()| output),
        // It decodes what it accepts, as any decoder with the same grammar.
        None if verdict.is_valid() => {
            let replacing = Contract { replacement: Some(Replacement::ReplacementCharacter), ..*contract };
            let mut output = Vec::new();
            lossy(&replacing, bytes, &mut output).map(|()| output)
        }
        None => None,
    };
    Answer { verdict: Some(verdict), output, panicked: false }
}

/// A contract by whose grammar every output can be read: generalized and extended UTF-8.
pub(super) const GENERALIZED: Contract = Contract { grammar: &RFC2279, ..Contract::VALIDATOR };

/// What decoders of each grammar in which the bytes are well-formed decode them to, as extended UTF-8.
pub(super) fn decoded(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    ALL.into_iter().filter_map(|grammar| answer(&Contract { grammar, ..Contract::VALIDATOR }, bytes).output)
}

impl Answer {
    /// The part that a decoder with these abilities states.
    pub fn stated(&self, able: Abilities) -> Self {
        let verdict = self.verdict.filter(|_| able.verdict).map(|verdict| match verdict {
            Validity::Valid => Validity::Valid,
            Validity::Invalid(Malformed { valid_up_to, len, .. }) => Validity::Invalid(Malformed {
                valid_up_to: valid_up_to.filter(|_| able.offset),
                len: len.filter(|_| able.length),
                kind: None,
            }),
        });
        Self { verdict, output: self.output.clone().filter(|_| able.output), panicked: self.panicked }
    }

    /// Whether a decoder that gave this answer may be one that is expected to give `expected`.
    pub fn agrees(&self, expected: &Self, able: Abilities) -> bool {
        // About some inputs a decoder cannot be asked, such as one that reads JSON about a quotation mark.
        let refuses_by_silence = !able.verdict && !able.replacement;
        if self.verdict.is_none() && self.output.is_none() && !self.panicked && !refuses_by_silence {
            return true;
        }
        let (observed, expected) = (self.stated(able), expected.stated(able));
        let verdict = match (&expected.verdict, &observed.verdict) {
            (Some(expected), Some(observed)) => verdict_mismatch(expected, observed).is_none(),
            _ => true,
        };
        verdict && (!able.output || observed.output == expected.output)
    }
}

/// Contracts with the answers of each to all inputs.
pub(super) struct Table {
    pub(super) contracts: Vec<Contract>,
    /// The answers of a contract to all inputs.
    answers: Vec<Vec<Answer>>,
}

impl Table {
    pub(super) fn get() -> &'static Self {
        static TABLE: LazyLock<Table> = LazyLock::new(|| {
            let contracts = all();
            let answers = |contract| INPUTS.iter().map(|bytes| answer(contract, bytes)).collect();
            let answers = contracts.iter().map(answers).collect();
            Table { contracts, answers }
        });
        &TABLE
    }

    pub(super) fn inputs(&self) -> &'static [&'static [u8]] {
        INPUTS
    }

    pub(super) fn answer(&self, contract: usize, input: usize) -> &Answer {
        &self.answers[contract][input]
    }

    /// Of the inputs left, the one whose answer leaves the fewest of these contracts in the worst case; `None` if no
    /// input tells any of them apart.
    pub(super) fn best(&self, contracts: &[usize], left: &[usize], able: Abilities) -> Option<usize> {
        let worst = |input: usize| {
            let mut groups: HashMap<_, usize> = HashMap::new();
            for &contract in contracts {
                let Answer { verdict, output, .. } = self.answer(contract, input).stated(able);
                let verdict = verdict.map(|verdict| match verdict {
                    Validity::Valid => None,
                    Validity::Invalid(Malformed { valid_up_to, len, .. }) => Some((valid_up_to, len)),
                });
                *groups.entry((verdict, output)).or_default() += 1;
            }
            groups.into_values().max().unwrap_or_default()
        };
        let (worst, input) = left.iter().map(|&input| (worst(input), input)).min()?;
        (worst < contracts.len()).then_some(input)
    }
}
