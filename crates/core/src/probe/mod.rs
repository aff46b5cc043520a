//! What a decoder does: the contract that it keeps, found by asking it, whatever it claims.
//!
//! First a few questions about ASCII and offsets, to see what it can be asked. Then a questionnaire: each question is the
//! input that tells most of the remaining contracts apart, so that at most eight are enough. Then all other questions are
//! asked at once; if no contract gives all the answers, the nearest is the one that gives most of them. The result holds for
//! the inputs asked; to confirm it, judge the decoder by the contract ([`Held`], [`confirm`]).
//!
//! A [`Machine`] is the finite-state machine of its verdicts: which bytes lead from one state to another. Two strings
//! lead to the same state if the verdicts on them, each continued by every suffix of a list, are the same. Nothing
//! about byte classes is assumed: each of the 256 bytes is tried in each state. The machine is then held to the
//! verdicts on all class strings; the suffixes of a string that it gets wrong join the list, and everything is asked
//! again.

mod contracts;
mod matrix;
mod units;

pub use contracts::{Abilities, Answer, Confirmed, Departure, Place, all, answer, confirm, in_words, rust};
pub use matrix::{
    COLUMNS, Cell, Column, Compared, Difference, Disguised, Kind, LONGEST, SEPARATORS, Verdicts, cells, differences,
    disguised,
};
pub use units::{Question, is_well_formed, questions, unit_cells};

use crate::decoder::{Batched, Decoder, Info, Promise, Stream};
use crate::generate::classes::Block;
use crate::judge::isolate::panics;
use crate::spec::{Bom, Contract, End, Replacement};
use crate::text::{hex_separated, printable};
use crate::utf8::{ByteClass, Malformed, Validity};
use contracts::{INPUTS, Table};
use core::fmt;
use std::collections::{BTreeMap, HashMap, HashSet};

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

    /// The first question whose answer alone excludes the greatest number of contracts that differ from the one found
    /// only in this field; `None` if no answer alone excludes any.
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

    /// By the offset stated for the error in [`Offsets::INPUT`], and by that in two supplementary characters (which not
    /// every grammar has) followed by FF.
    fn of(stated: usize, supplementary: Option<usize>) -> Self {
        match supplementary {
            // In the other input, an error after 8 bytes, 2 code points or 4 code units.
            Some(units) if matches!(stated, 4 | 5) && units == stated => Self::Counted(Unit::Utf16, stated - 4),
            _ => Self::counted(stated, [11, 4, usize::MAX]),
        }
    }

    /// By the offset stated for an error after these numbers of bytes, code points and code units of UTF-16.
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

/// Asks a decoder about some inputs, all at once if that is possible. A decoder that panics gives no answer.
pub fn ask(decoder: &dyn Decoder, inputs: &[&[u8]]) -> Vec<Answer> {
    let one = |decoder: &dyn Decoder, bytes: &[u8]| {
        let mut answer = Answer::default();
        let panicked = panics(&decoder.info().name, bytes, || {
            let mut output = Vec::new();
            answer.verdict = decoder.validate(bytes);
            answer.output = decoder.decode_lossy(bytes, &mut output).map(|()| output);
        });
        Answer { panicked, ..answer }
    };
    if let Some(batched) = decoder.batched() {
        inputs.iter().for_each(|bytes| drop(one(batched.planner(), bytes)));
        batched.ask_planned();
    }
    inputs.iter().map(|bytes| one(decoder, bytes)).collect()
}

/// A decoder, held to a contract other than the one it claims.
pub struct Held<'d> {
    decoder: &'d dyn Decoder,
    info: Info,
    /// Whether the offsets that it states are those of this crate. If not, they are left out.
    has_offsets: bool,
}

impl<'d> Held<'d> {
    /// The decoder, held to this contract. With `has_offsets`, its offsets are compared too.
    pub fn to(contract: Contract, decoder: &'d dyn Decoder, has_offsets: bool) -> Self {
        let info = Info { contract, promise: Promise::Everything, ..decoder.info().clone() };
        Self { decoder, info, has_offsets }
    }
}

fn without_offsets(verdict: Validity) -> Validity {
    match verdict {
        Validity::Valid => Validity::Valid,
        Validity::Invalid(_) => Validity::Invalid(Malformed { valid_up_to: None, len: None, kind: None }),
    }
}

impl Decoder for Held<'_> {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        let verdict = self.decoder.validate(bytes);
        if self.has_offsets { verdict } else { verdict.map(without_offsets) }
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        self.decoder.decode_lossy(bytes, out)
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        let stream = self.decoder.stream()?;
        Some(if self.has_offsets { stream } else { Box::new(WithoutOffsets(stream)) })
    }

    fn batched(&self) -> Option<&dyn Batched> {
        self.decoder.batched()
    }
}

struct WithoutOffsets<'s>(Box<dyn Stream + 's>);

impl Stream for WithoutOffsets<'_> {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        self.0.push(chunk, out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        self.0.finish(out).map(without_offsets)
    }

    fn is_answered(&self) -> bool {
        self.0.is_answered()
    }
}

/// A decoder whose replacement is in no contract, presented as one that writes that of a contract: U+FFFD if it
/// writes the same for every byte, such as `?`, and U+DC80 to U+DCFF if it writes something else for each, such as `%8F`.
pub struct Rewritten<'d> {
    decoder: &'d dyn Decoder,
    /// What it writes for each of the bytes 80 to FF by itself, or for all of them.
    written: Vec<Vec<u8>>,
    /// Whether any of them starts with a byte.
    starts: [bool; 256],
}

impl<'d> Rewritten<'d> {
    /// Tries what the decoder writes for single bytes; `None` if that is U+FFFD or nothing, or the same for only some of
    /// them.
    pub fn of(decoder: &'d dyn Decoder) -> Option<Self> {
        let inputs: Vec<[u8; 1]> = (0x80..=0xFF).map(|byte| [byte]).collect();
        let answers = ask(decoder, &inputs.iter().map(|input| input.as_slice()).collect::<Vec<_>>());
        let mut written: Vec<Vec<u8>> = answers.into_iter().map(|answer| answer.output).collect::<Option<_>>()?;
        let different: HashSet<&[u8]> = written.iter().map(Vec::as_slice).collect();
        let is_new = !different.contains(&[][..]) && !different.contains("\u{FFFD}".as_bytes());
        let count = different.len();
        let can_be_told = count == 1 || count == written.len();
        written.truncate(count);
        let mut starts = [false; 256];
        written.iter().flat_map(|written| written.first()).for_each(|&byte| starts[usize::from(byte)] = true);
        (is_new && can_be_told).then_some(Self { decoder, written, starts })
    }

    /// What it writes, and instead of what.
    pub fn says(&self) -> String {
        let shown = |written: &[u8]| match std::str::from_utf8(written) {
            Ok(text) if text.is_ascii() => format!("\"{}\"", printable(text)),
            _ => hex_separated(written, " "),
        };
        match self.written.as_slice() {
            [all] => format!("{} instead of U+FFFD", shown(all)),
            each => format!("{} instead of U+DC8F for the byte 8F, and so on", shown(&each[0x0F])),
        }
    }

    /// If these bytes start with what it writes for some byte: that byte, and the length of what it writes.
    fn at_start(&self, bytes: &[u8]) -> Option<(u8, usize)> {
        bytes.first().filter(|&&byte| self.starts[usize::from(byte)])?;
        let mut all = (0x80..=0xFF).zip(&self.written);
        let (byte, written) = all.find(|(_, written)| bytes.starts_with(written))?;
        Some((byte, written.len()))
    }

    /// Writes `from` as the contract would have it.
    fn rewrite(&self, mut from: &[u8], out: &mut Vec<u8>) {
        while let Some((&first, rest)) = from.split_first() {
            match self.at_start(from) {
                Some((byte, len)) => {
                    let replacement = if self.written.len() == 1 {
                        Replacement::ReplacementCharacter
                    } else {
                        Replacement::SurrogateEscape
                    };
                    replacement.push(&[byte], out);
                    from = &from[len..];
                }
                None => {
                    out.push(first);
                    from = rest;
                }
            }
        }
    }
}

impl Decoder for Rewritten<'_> {
    fn info(&self) -> &Info {
        self.decoder.info()
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        self.decoder.validate(bytes)
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let mut written = Vec::new();
        self.decoder.decode_lossy(bytes, &mut written)?;
        // In an input that contains what it writes, that cannot be told from a replacement.
        let is_clear = (0..bytes.len()).all(|start| self.at_start(&bytes[start..]).is_none());
        is_clear.then(|| self.rewrite(&written, out))
    }

    fn batched(&self) -> Option<&dyn Batched> {
        self.decoder.batched()
    }
}

/// A decoder's verdicts as a finite-state machine with as few states as possible.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The states; it starts in the first.
    pub states: Vec<State>,
    /// On how many inputs it was compared with the decoder, besides those from which it was found.
    pub cases: usize,
    /// The first of them on which its verdict is not that of the decoder.
    pub wrong: Option<Vec<u8>>,
}

/// A state of a machine.
#[derive(Clone, Debug)]
pub struct State {
    /// A shortest string that leads here.
    pub after: Vec<u8>,
    /// Whether strings that lead here are well-formed; `None` if the decoder does not say.
    pub accepts: Option<bool>,
    /// For each byte the index of the next state.
    pub next: Vec<usize>,
}

/// Verdicts on a string continued by each suffix.
type Row = Vec<Option<bool>>;

impl Machine {
    /// With more states than this it would explain nothing.
    const MOST: usize = 48;
    /// How many times suffixes may be added.
    const ROUNDS: usize = 8;

    /// The machine of a decoder, compared with it on all class strings of up to this length. `None` if it has no
    /// verdicts, or the machine would have too many states.
    pub fn of(decoder: &dyn Decoder, longest: u32) -> Option<Self> {
        let mut suffixes = suffixes();
        let inputs = strings(longest);
        let verdicts = verdicts(decoder, inputs.iter().map(Vec::as_slice));
        if verdicts.iter().all(Option::is_none) {
            return None;
        }
        let mut machine = Self::by(decoder, &suffixes)?;
        for round in 0..=Self::ROUNDS {
            let mut answered = inputs.iter().zip(&verdicts);
            let wrong = answered.find(|(bytes, verdict)| verdict.is_some() && **verdict != machine.accepts(bytes));
            machine.wrong = wrong.map(|(bytes, _)| bytes.clone());
            let Some(wrong) = machine.wrong.as_deref().filter(|_| round < Self::ROUNDS) else { break };
            let known = suffixes.len();
            suffixes.extend((0..wrong.len()).map(|start| wrong[start..].to_vec()));
            suffixes.sort();
            suffixes.dedup();
            match Self::by(decoder, &suffixes) {
                Some(better) if suffixes.len() > known => machine = better,
                _ => break,
            }
        }
        machine.cases = verdicts.iter().flatten().count();
        Some(machine)
    }

    /// Whether the machine accepts these bytes.
    pub fn accepts(&self, bytes: &[u8]) -> Option<bool> {
        let state = bytes.iter().fold(0, |state: usize, &byte| self.states[state].next[usize::from(byte)]);
        self.states[state].accepts
    }

    /// The state from which no byte leads anywhere else, if it rejects.
    pub fn dead(&self) -> Option<usize> {
        let is_dead = |(index, state): &(usize, &State)| {
            state.accepts == Some(false) && state.next.iter().all(|next| next == index)
        };
        self.states.iter().enumerate().find(is_dead).map(|(index, _)| index)
    }

    /// The bytes that lead from one state to each other one, as ranges, in the order of the first byte.
    pub fn edges(state: &State) -> Vec<(usize, Vec<(u8, u8)>)> {
        let mut edges: BTreeMap<usize, Vec<(u8, u8)>> = BTreeMap::new();
        for (byte, &next) in (0..=u8::MAX).zip(&state.next) {
            let ranges = edges.entry(next).or_default();
            match ranges.last_mut() {
                Some((_, last)) if byte.checked_sub(1) == Some(*last) => *last = byte,
                _ => ranges.push((byte, byte)),
            }
        }
        let mut edges: Vec<_> = edges.into_iter().collect();
        edges.sort_by_key(|(_, ranges)| ranges.first().copied());
        edges
    }

    /// The name of a state: the shortest string that leads to it.
    pub fn name(&self, index: usize) -> String {
        match self.states[index].after.as_slice() {
            _ if self.dead() == Some(index) => "ill-formed".to_owned(),
            [] => "start".to_owned(),
            after => format!("after {}", hex_separated(after, " ")),
        }
    }

    /// As a graph in the language of Graphviz, without the state from which nothing becomes well-formed again.
    pub fn dot(&self, title: &str) -> String {
        let dead = self.dead();
        let shown = |index: &usize| Some(*index) != dead;
        let mut dot = format!("digraph {title:?} {{\n  rankdir=LR;\n");
        for index in (0..self.states.len()).filter(shown) {
            let shape = if self.states[index].accepts == Some(true) { "doublecircle" } else { "circle" };
            dot += &format!("  {index} [label={:?}, shape={shape}];\n", self.name(index));
        }
        for (index, state) in self.states.iter().enumerate().filter(|(index, _)| shown(index)) {
            for (next, ranges) in Self::edges(state).into_iter().filter(|(next, _)| shown(next)) {
                dot += &format!("  {index} -> {next} [label=\"{}\"];\n", shown_ranges(&ranges));
            }
        }
        dot + "}\n"
    }

    fn by(decoder: &dyn Decoder, suffixes: &[Vec<u8>]) -> Option<Self> {
        let rows = |prefixes: &[Vec<u8>]| -> Vec<Row> {
            let all =
                prefixes.iter().flat_map(|prefix| suffixes.iter().map(move |suffix| [&prefix[..], suffix].concat()));
            let all: Vec<Vec<u8>> = all.collect();
            let verdicts = verdicts(decoder, all.iter().map(Vec::as_slice));
            verdicts.chunks(suffixes.len()).map(<[_]>::to_vec).collect()
        };
        // The first suffix is the empty one.
        let accepts = |row: &Row| row.first().copied().flatten();
        let first = rows(&[Vec::new()]).pop()?;
        let mut states = vec![State { after: Vec::new(), accepts: accepts(&first), next: Vec::new() }];
        let mut known = HashMap::from([(first, 0)]);
        let mut index = 0;
        while let Some(state) = states.get(index) {
            let after = state.after.clone();
            let longer: Vec<Vec<u8>> = (0..=u8::MAX).map(|byte| [&after[..], &[byte]].concat()).collect();
            for (after, row) in longer.iter().zip(rows(&longer)) {
                let next = *known.entry(row).or_insert_with_key(|row| {
                    states.push(State { after: after.clone(), accepts: accepts(row), next: Vec::new() });
                    states.len() - 1
                });
                states[index].next.push(next);
            }
            if states.len() > Self::MOST {
                return None;
            }
            index += 1;
        }
        Some(Self { states, cases: 0, wrong: None })
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dead = self.dead();
        for (index, state) in self.states.iter().enumerate().filter(|(index, _)| Some(*index) != dead) {
            let accepts = match state.accepts {
                Some(true) => "well-formed",
                Some(false) => "not yet well-formed",
                None => "no answer",
            };
            writeln!(f, "{}: {accepts}", self.name(index))?;
            for (next, ranges) in Self::edges(state).into_iter().filter(|(next, _)| Some(*next) != dead) {
                writeln!(f, "  {:<24}  {}", shown_ranges(&ranges), self.name(next))?;
            }
        }
        if dead.is_some() {
            writeln!(f, "after any other byte: ill-formed, whatever follows")?;
        }
        Ok(())
    }
}

/// Ranges of bytes in hexadecimal.
pub fn shown_ranges(ranges: &[(u8, u8)]) -> String {
    let shown = |&(first, last): &(u8, u8)| match first == last {
        true => format!("{first:02X}"),
        false => format!("{first:02X}-{last:02X}"),
    };
    ranges.iter().map(shown).collect::<Vec<_>>().join(" ")
}

/// The empty suffix; a byte of each class and up to four continuation bytes; and, for grammars with pairs of
/// surrogates, the second surrogate of a pair, alone or after a byte of each class and at most one continuation byte.
fn suffixes() -> Vec<Vec<u8>> {
    let mut suffixes = vec![Vec::new(), b"\xED\xB0\x80".to_vec()];
    for (first, _) in ByteClass::BOUNDS {
        suffixes.extend((0..=4).map(|count| [&[first], &[0x80; 4][..count]].concat()));
        suffixes.extend((0..=1).map(|count| [&[first], &[0x80; 1][..count], b"\xED\xB0\x80"].concat()));
    }
    suffixes.sort();
    suffixes.dedup();
    suffixes
}

/// All class strings of up to this length, and the inputs of the questionnaire.
fn strings(longest: u32) -> Vec<Vec<u8>> {
    let blocks = (0..=longest).map(|len| Block { len, offset: 0 });
    let strings = blocks.flat_map(|block| {
        (0..block.count()).map(move |index| {
            let mut bytes = Vec::new();
            block.write(index, &mut bytes);
            bytes
        })
    });
    INPUTS.iter().map(|bytes| bytes.to_vec()).chain(strings).collect()
}

/// Whether each input is well-formed; `None` if the decoder does not say.
fn verdicts<'b>(decoder: &dyn Decoder, inputs: impl Iterator<Item = &'b [u8]>) -> Row {
    /// How many inputs are asked about at once.
    const BATCH: usize = 4096;
    let inputs: Vec<&[u8]> = inputs.collect();
    let answers = inputs.chunks(BATCH).flat_map(|some| ask(decoder, some));
    answers.map(|answer| answer.verdict.map(|verdict| verdict.is_valid())).collect()
}

/// The length of the class strings on which a machine is compared with this decoder.
pub fn longest(decoder: &dyn Decoder) -> u32 {
    if decoder.batched().is_some_and(Batched::is_slow) { 3 } else { 4 }
}
