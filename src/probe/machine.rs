//! The finite-state machine of a decoder's verdicts: which bytes lead from which state to which other one.
//!
//! Two strings lead to the same state if the verdicts on them, each continued by every suffix of a list, are the same.
//! Nothing about byte classes is presumed: each of the 256 bytes is tried in each state. The machine is then held to the
//! verdicts on all class strings; a suffix of a string that it gets wrong joins the list, and all is asked again.

use crate::decoder::{Batched, Decoder};
use crate::generate::classes::Block;
use crate::probe::asking::ask;
use crate::probe::contracts::INPUTS;
use crate::text::hex_separated;
use crate::utf8::ByteClass;
use core::fmt;
use std::collections::{BTreeMap, HashMap};

/// A decoder's verdicts as a finite-state machine with as few states as possible.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The states; it starts in the first.
    pub states: Vec<State>,
    /// How many inputs it was compared with the decoder on, besides those from which it was found.
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
    /// How many times a suffix may be added.
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

/// The empty suffix; a byte of each class, followed by up to four continuation bytes; and, for grammars with pairs of
/// surrogates, by the second surrogate of a pair.
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
