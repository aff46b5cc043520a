//! The state of a run over byte strings, in memory and in the file from which it is resumed.
//!
//! The file records whole pieces and is replaced atomically, so it is always consistent. Only the same run can resume
//! from it: the same program, decoders, ledger and length.

use crate::case::{Cuts, Input};
use crate::decoder::Decoder;
use crate::engine::check::outcome::{Outcome, Ran, Stage};
use crate::error::Error;
use crate::explain::Signature;
use crate::io::read_regular;
use crate::judge::Statistics;
use crate::text::shown;
use crate::triage::ledger::Ledger;
use crate::triage::session::{Finding, Record, Session};
use crate::utf8::Kind;
use serde::{Deserialize, Serialize};
use std::fs;
use std::hash::Hasher;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

/// The number of strings in a piece.
fn piece_len(len: u32) -> u64 {
    const MOST: u64 = 1 << 20;
    (1u64 << (8 * len)).div_ceil(16).min(MOST)
}

/// The number of pieces.
pub(super) fn piece_count(len: u32) -> usize {
    ((1u64 << (8 * len)) / piece_len(len)) as usize
}

pub(super) fn piece_range(len: u32, piece: usize) -> Range<u64> {
    let count = piece_len(len);
    piece as u64 * count..(piece as u64 + 1) * count
}

/// What identifies a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Run {
    schema: u32,
    program: String,
    len: u32,
    decoders: Vec<String>,
    ledger: String,
}

impl Run {
    pub(super) fn of(decoders: &[&dyn Decoder], len: u32, ledger: &Ledger, is_saved: bool) -> Self {
        // This is needed only for a file.
        let program = is_saved.then(|| fs::read(std::env::current_exe().ok()?).ok()).flatten();
        let decoders = decoders.iter().map(|decoder| {
            let info = decoder.info();
            format!("{} {} {}", info.name, info.version, info.claim())
        });
        Self {
            schema: 2,
            program: format!("{} {}", env!("CARGO_PKG_VERSION"), fingerprint(&program.unwrap_or_default())),
            len,
            decoders: decoders.collect(),
            ledger: fingerprint(format!("{:?}", ledger.entries()).as_bytes()),
        }
    }

    /// What differs, if anything.
    fn difference(&self, other: &Self) -> Option<&'static str> {
        let differences = [
            (self.len != other.len, "another length"),
            (self.decoders != other.decoders, "other decoders or versions"),
            (self.ledger != other.ledger, "another ledger"),
            (self != other, "another build"),
        ];
        differences.into_iter().find(|(differ, _)| *differ).map(|(_, what)| what)
    }
}

/// A hash in hexadecimal. It is not cryptographic.
fn fingerprint(bytes: &[u8]) -> String {
    let mut hasher = fnv::FnvHasher::default();
    hasher.write(bytes);
    format!("{:016x}", hasher.finish())
}

/// Which pieces of a run are done, and what they found.
pub(super) struct State {
    run: Run,
    done: Vec<bool>,
    record: Record,
    /// The time of earlier starts.
    before: Duration,
    /// The time of this one.
    now: Duration,
}

/// The file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    run: Run,
    /// First and last of each range of pieces that are done.
    done: Vec<(usize, usize)>,
    seconds: f64,
    strings: u64,
    valid: u64,
    kinds: Vec<(String, u64)>,
    comparisons: Vec<u64>,
    known: Vec<(String, u64)>,
    divergences: Vec<SavedFinding>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedFinding {
    signature: String,
    decoder: String,
    bytes: Vec<u8>,
    cuts: Vec<usize>,
    /// The distance of the cuts in bytes, if it is regular; there may be more cuts than are stored.
    step: Option<usize>,
    hits: u64,
}

impl State {
    /// The state of a run at its start.
    pub(super) fn new(run: Run) -> Self {
        let done = vec![false; piece_count(run.len)];
        let zero = Duration::ZERO;
        Self { run, done, record: Record::default(), before: zero, now: zero }
    }

    /// Reads the file; a new state if there is none.
    pub(super) fn open(path: &Path, run: Run, decoders: &[&dyn Decoder], ledger: &Ledger) -> Result<Self, Error> {
        let remedy = "; delete it to start again, or name another with --resume";
        let text = match read_regular(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let new = Self::new(run);
                // If it cannot be written, fail now and not after the first piece.
                new.save(path, ledger)?;
                return Ok(new);
            }
            Err(error) => return Err(Error::io(path, &error)),
        };
        let file: File = serde_json::from_slice(&text)
            .map_err(|error| Error::parse(format!("{}: not the state of a run: {error}{remedy}", shown(path))))?;
        if let Some(what) = run.difference(&file.run) {
            return Err(Error::usage(format!("{} is of another run ({what}){remedy}", shown(path))));
        }
        let damaged = || Error::parse(format!("{}: damaged{remedy}", shown(path)));
        file.into_state(decoders, ledger).ok_or_else(damaged)
    }

    pub(super) fn pieces(&self) -> usize {
        self.done.len()
    }

    pub(super) fn done(&self) -> usize {
        self.done.iter().filter(|done| **done).count()
    }

    /// The pieces that are not done.
    pub(super) fn todo(&self) -> impl Iterator<Item = usize> + '_ {
        self.done.iter().enumerate().filter(|(_, done)| !**done).map(|(piece, _)| piece)
    }

    /// Records that a piece is done.
    pub(super) fn add(&mut self, piece: usize, of_piece: Record, now: Duration) {
        self.done[piece] = true;
        self.now = now;
        self.record = std::mem::take(&mut self.record).merge(of_piece);
    }

    pub(super) fn end(&mut self, now: Duration) {
        self.now = now;
    }

    pub(super) fn into_outcome(self) -> Outcome {
        let seconds = (self.before + self.now).as_secs_f64();
        let (cases, planned) = (self.record.statistics.cases, Some(self.pieces() as u64 * piece_len(self.run.len)));
        let stages = vec![Ran { stage: Stage::Bytes, cases, planned, seconds }];
        Outcome { stages, ..Outcome::of(self.record) }
    }

    /// Replaces the file atomically.
    pub(super) fn save(&self, path: &Path, ledger: &Ledger) -> Result<(), Error> {
        let file = File::of(self, ledger);
        let text = serde_json::to_vec(&file).map_err(|error| Error::parse(format!("{}: {error}", shown(path))))?;
        crate::io::replace_file(path, &text)
    }
}

impl File {
    fn of(state: &State, ledger: &Ledger) -> Self {
        let Record { statistics, findings, known, .. } = &state.record;
        let witness = |(signature, found): (&Signature, &Finding)| SavedFinding {
            signature: signature.to_string(),
            decoder: signature.decoder.clone().into_owned(),
            bytes: found.divergence.bytes.clone(),
            cuts: found.divergence.cuts.clone(),
            step: found.divergence.step,
            hits: found.hits,
        };
        Self {
            run: state.run.clone(),
            done: stretches((0..state.done.len()).filter(|&piece| state.done[piece])),
            seconds: (state.before + state.now).as_secs_f64(),
            strings: statistics.cases,
            valid: statistics.valid,
            kinds: statistics.kinds.iter().map(|(kind, count)| (kind.name().to_owned(), *count)).collect(),
            comparisons: statistics.comparisons.iter().map(|(_, count)| *count).collect(),
            known: known.iter().map(|(entry, hits)| (ledger.entries()[*entry].id.clone(), *hits)).collect(),
            divergences: findings.iter().map(witness).collect(),
        }
    }

    /// `None` if [`File::of`] cannot have written it.
    fn into_state(self, decoders: &[&dyn Decoder], ledger: &Ledger) -> Option<State> {
        let mut state = State::new(self.run);
        for (first, last) in self.done {
            state.done.get_mut(first..=last)?.fill(true);
        }
        state.before = Duration::try_from_secs_f64(self.seconds).ok()?;
        let mut session = Session::new(decoders.iter().copied(), ledger);
        for saved in self.divergences {
            let decoder = decoders.iter().position(|decoder| decoder.info().name == saved.decoder)?;
            let len = saved.bytes.len();
            let cuts = match saved.step {
                Some(step) => Cuts::every(step, len),
                None => Cuts::new(saved.cuts, len),
            };
            session.restore(decoder, &Input { bytes: saved.bytes, cuts: Some(cuts) }.case(), saved.hits);
        }
        state.record = session.finish();
        for (id, hits) in self.known {
            let entry = ledger.entries().iter().position(|entry| entry.id == id)?;
            state.record.known.insert(entry, hits);
        }
        let statistics = &mut state.record.statistics;
        // Restoring judges the findings again, which must not be counted.
        *statistics = Statistics::default();
        (statistics.cases, statistics.valid) = (self.strings, self.valid);
        for (name, count) in self.kinds {
            let kind = Kind::ALL.into_iter().find(|kind| kind.name() == name)?;
            statistics.kinds.push((kind, count));
        }
        let names = decoders.iter().map(|decoder| decoder.info().name.clone());
        statistics.comparisons = names.zip(self.comparisons.iter().copied()).collect();
        let faulty = statistics.kinds.iter().map(|(_, count)| count).sum::<u64>();
        let strings = state.done() as u64 * piece_len(state.run.len);
        let sound = self.strings == strings && faulty.checked_add(self.valid) == Some(strings);
        (sound && (strings == 0 || self.comparisons.len() == decoders.len())).then_some(state)
    }
}

/// First and last of each range of consecutive numbers.
pub(crate) fn stretches(numbers: impl IntoIterator<Item = usize>) -> Vec<(usize, usize)> {
    let mut stretches: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match stretches.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => stretches.push((number, number)),
        }
    }
    stretches
}
