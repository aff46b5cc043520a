//! Every byte string of a length: the verdict of each decoder, held to the standard.
//!
//! Four billion strings leave no time for a [`Judge`](crate::judge::Judge), which asks and keeps much more. Here a
//! verdict is compared on the spot, by the same measure, and only a wrong one is put to the judge. A decoder whose code
//! is another for a longer input is asked twice: the string alone, and across the edge of a block of 64 between ASCII.

use super::state::{Run, State};
use super::worker::Worker;
use super::{Outcome, Stage};
use crate::decoder::{Decoder, Info};
use crate::error::Error;
use crate::input::Case;
use crate::judge::gives;
use crate::spec::model::malformed;
use crate::spec::{Automaton, Contract};
use crate::triage::ledger::Ledger;
use crate::utf8::{ErrorLen, Kind, Malformed, Validity};
use rayon::prelude::*;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;

/// The greatest length.
pub const LONGEST: u32 = 4;

/// The length of the input that has a string across the edge of its first block.
pub const ACROSS: usize = 128;

/// What to run.
#[derive(Clone, Debug)]
pub struct ByteOptions {
    /// The length of the strings, 1 to [`LONGEST`].
    pub len: u32,
    /// The known differences.
    pub ledger: Ledger,
    /// A file that keeps what is done, so that a run that is broken off can go on.
    pub resume: Option<PathBuf>,
}

/// Whether a decoder is asked for each string of this length also across the edge of a block.
pub fn is_asked_across(info: &Info, len: u32) -> bool {
    (info.lineage)(len as usize) != (info.lineage)(ACROSS)
}

/// How many ASCII bytes then stand before the string.
pub fn bytes_before(len: u32) -> usize {
    64 - len.div_ceil(2) as usize
}

/// Puts every byte string of a length to decoders, calling `progress` with the share that is done, from any thread.
///
/// # Errors
/// A length that is none of 1 to 4; a file to resume from that is of another run, or cannot be read or written.
pub fn check_bytes(
    decoders: &[&dyn Decoder],
    options: &ByteOptions,
    progress: &(dyn Fn(Stage, f64) + Sync),
) -> Result<Outcome, Error> {
    run(decoders, options, progress, usize::MAX)
}

/// As [`check_bytes`], but it ends after so many pieces.
fn run(
    decoders: &[&dyn Decoder],
    options: &ByteOptions,
    progress: &(dyn Fn(Stage, f64) + Sync),
    pieces: usize,
) -> Result<Outcome, Error> {
    if !(1..=LONGEST).contains(&options.len) {
        return Err(Error::usage(format!("byte strings of length {}; choose 1 to {LONGEST}", options.len)));
    }
    let of_this = Run::of(decoders, options);
    let state = match &options.resume {
        Some(path) => State::open(path, of_this, decoders, &options.ledger)?,
        None => State::new(of_this),
    };
    let todo: Vec<usize> = state.todo().take(pieces).collect();
    let (all, total) = (options.len, state.pieces() as f64);
    let state = Mutex::new(state);
    let start = Instant::now();
    todo.into_par_iter().try_for_each(|piece| {
        let range = piece_range(all, piece);
        let mut scan = Scan::new(decoders, &options.ledger, all);
        range.for_each(|index| scan.string(index));
        let of_piece = scan.finish();
        // A poisoned lock would mean a panic of ours; what the state holds is whole pieces all the same.
        let mut state = state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        state.add(piece, of_piece, start.elapsed());
        progress(Stage::Bytes, state.done() as f64 / total);
        state.save_now_and_then(options.resume.as_deref(), &options.ledger)
    })?;
    let mut state = state.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    state.end(start.elapsed());
    if let Some(path) = &options.resume {
        state.save(path, &options.ledger)?;
    }
    Ok(state.into_outcome())
}

/// How many strings a piece has.
fn piece_len(len: u32) -> u64 {
    const MOST: u64 = 1 << 20;
    (1u64 << (8 * len)).div_ceil(16).min(MOST)
}

/// How many pieces there are.
pub(super) fn piece_count(len: u32) -> usize {
    ((1u64 << (8 * len)) / piece_len(len)) as usize
}

fn piece_range(len: u32, piece: usize) -> Range<u64> {
    let count = piece_len(len);
    piece as u64 * count..(piece as u64 + 1) * count
}

/// One piece at work.
struct Scan<'d> {
    len: usize,
    groups: Vec<Group<'d>>,
    worker: Worker<'d>,
    /// The string, an `a` behind it.
    followed: [u8; LONGEST as usize + 1],
    across: [u8; ACROSS],
    wrong: Vec<(usize, bool)>,
    strings: u64,
    valid: u64,
    kinds: [u64; Kind::ALL.len()],
    comparisons: Vec<(&'static str, u64)>,
}

/// Decoders of whose verdicts the same is expected.
struct Group<'d> {
    contract: Contract,
    automaton: Automaton,
    decoders: Vec<Asked<'d>>,
    any_across: bool,
}

struct Asked<'d> {
    decoder: &'d dyn Decoder,
    index: usize,
    across: bool,
}

impl<'d> Scan<'d> {
    fn new(decoders: &[&'d dyn Decoder], ledger: &'d Ledger, len: u32) -> Self {
        Self {
            len: len as usize,
            groups: Group::all(decoders, len),
            worker: Worker::new(decoders, ledger),
            followed: [b'a'; LONGEST as usize + 1],
            across: [b'a'; ACROSS],
            wrong: Vec::new(),
            strings: 0,
            valid: 0,
            kinds: [0; Kind::ALL.len()],
            comparisons: decoders.iter().map(|decoder| (decoder.info().name, 0)).collect(),
        }
    }

    /// Asks for the string of this number.
    fn string(&mut self, number: u64) {
        let len = self.len;
        let before = bytes_before(len as u32);
        let string = &number.to_be_bytes()[8 - len..];
        self.followed[..len].copy_from_slice(string);
        self.across[before..before + len].copy_from_slice(string);
        self.strings += 1;
        for (place, group) in self.groups.iter().enumerate() {
            let expected = group.alone(&self.followed[..len]);
            if place == 0 {
                match expected.malformed().and_then(|malformed| malformed.kind) {
                    None => self.valid += 1,
                    Some(kind) => self.kinds[kind.index()] += 1,
                }
            }
            let across = if group.any_across { group.across(&expected, &self.followed[..len + 1]) } else { expected };
            for asked in &group.decoders {
                let count = &mut self.comparisons[asked.index].1;
                if asked.is_wrong(&self.followed[..len], &expected, count) {
                    self.wrong.push((asked.index, false));
                }
                if asked.across && asked.is_wrong(&self.across, &across, count) {
                    self.wrong.push((asked.index, true));
                }
            }
        }
        if !self.wrong.is_empty() {
            self.confirm();
        }
    }

    fn confirm(&mut self) {
        for (decoder, across) in std::mem::take(&mut self.wrong) {
            let bytes = if across { &self.across[..] } else { &self.followed[..self.len] };
            self.worker.confirm(decoder, &Case::new(bytes));
        }
    }

    fn finish(self) -> Outcome {
        let mut outcome = self.worker.finish();
        let statistics = &mut outcome.statistics;
        (statistics.cases, statistics.valid) = (self.strings, self.valid);
        statistics.comparisons = self.comparisons;
        let kinds = Kind::ALL.into_iter().zip(self.kinds);
        statistics.kinds = kinds.filter(|(_, count)| *count > 0).collect();
        outcome
    }
}

impl<'d> Group<'d> {
    fn all(decoders: &[&'d dyn Decoder], len: u32) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for (index, &decoder) in decoders.iter().enumerate() {
            let Contract { grammar, unit, end, .. } = decoder.info().contract;
            // These three are all a verdict hangs on.
            let contract = Contract { grammar, unit, end, ..Contract::VALIDATOR };
            let place = groups.iter().position(|group| group.contract == contract).unwrap_or_else(|| {
                let automaton = Automaton::of(grammar);
                groups.push(Self { contract, automaton, decoders: Vec::new(), any_across: false });
                groups.len() - 1
            });
            let across = is_asked_across(decoder.info(), len);
            groups[place].any_across |= across;
            groups[place].decoders.push(Asked { decoder, index, across });
        }
        groups
    }

    /// What the standard says of the string.
    fn alone(&self, string: &[u8]) -> Validity {
        let unit = self.automaton.first_ill_formed(&self.contract, string);
        unit.and_then(|unit| malformed(&self.contract, &unit)).map_or(Validity::Valid, Validity::Invalid)
    }

    /// What it says of the string between ASCII: the same, so much later, unless the string ends within a sequence.
    fn across(&self, alone: &Validity, followed: &[u8]) -> Validity {
        let at_the_end = |malformed: &Malformed| {
            malformed.kind == Some(Kind::Incomplete) || malformed.len == Some(ErrorLen::Incomplete)
        };
        let open = alone.malformed().is_some_and(at_the_end);
        let before = bytes_before(followed.len() as u32 - 1);
        match if open { self.alone(followed) } else { *alone } {
            Validity::Valid => Validity::Valid,
            Validity::Invalid(malformed) => {
                let valid_up_to = malformed.valid_up_to.map(|offset| offset + before);
                Validity::Invalid(Malformed { valid_up_to, ..malformed })
            }
        }
    }
}

impl Asked<'_> {
    fn is_wrong(&self, bytes: &[u8], expected: &Validity, comparisons: &mut u64) -> bool {
        let Some(right) = gives(self.decoder, bytes, expected) else { return false };
        *comparisons += 1;
        !right
    }
}
