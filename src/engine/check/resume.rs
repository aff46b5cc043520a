//! What is done of a run over byte strings, kept in a file so that the run can be broken off at any moment.
//!
//! The file holds whole pieces and is replaced in one step, so what it says is always exact. It is taken up again only
//! by the same run: the same program, decoders, ledger and length.

use crate::case::{Case, Cuts};
use crate::decoder::Decoder;
use crate::engine::check::byte_strings::ByteOptions;
use crate::engine::check::worker::Worker;
use crate::engine::check::{Found, Outcome, Stage, byte_strings};
use crate::error::Error;
use crate::text::shown;
use crate::triage::ledger::Ledger;
use crate::utf8::Kind;
use serde::{Deserialize, Serialize};
use std::fs;
use std::hash::Hasher;
use std::path::Path;
use std::time::Duration;

/// What makes a run the same run.
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
    pub(super) fn of(decoders: &[&dyn Decoder], options: &ByteOptions) -> Self {
        // Only a file needs to know.
        let program = options.resume.as_ref().and_then(|_| fs::read(std::env::current_exe().ok()?).ok());
        let decoders = decoders.iter().map(|decoder| {
            let info = decoder.info();
            format!("{} {} {}", info.name, info.version, info.contract)
        });
        Self {
            schema: 2,
            program: format!("{} {}", env!("CARGO_PKG_VERSION"), fingerprint(&program.unwrap_or_default())),
            len: options.len,
            decoders: decoders.collect(),
            ledger: fingerprint(format!("{:?}", options.ledger.entries()).as_bytes()),
        }
    }

    /// What is not the same.
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

/// Tells contents apart; nobody is expected to forge them.
fn fingerprint(bytes: &[u8]) -> String {
    struct Fnv(u64);
    impl Hasher for Fnv {
        fn finish(&self) -> u64 {
            self.0
        }
        fn write(&mut self, bytes: &[u8]) {
            self.0 = bytes.iter().fold(self.0, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3));
        }
    }
    let mut hasher = Fnv(0xCBF2_9CE4_8422_2325);
    hasher.write(bytes);
    format!("{:016x}", hasher.finish())
}

/// What is done of a run, and what came of it.
pub(super) struct State {
    run: Run,
    done: Vec<bool>,
    outcome: Outcome,
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
    /// First and last of each stretch of pieces that are done.
    done: Vec<(usize, usize)>,
    seconds: f64,
    strings: u64,
    valid: u64,
    kinds: Vec<(String, u64)>,
    comparisons: Vec<u64>,
    known: Vec<(String, u64)>,
    divergences: Vec<Witness>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Witness {
    signature: String,
    decoder: String,
    bytes: Vec<u8>,
    cuts: Vec<usize>,
    /// The distance of the cuts, where it is even; there may be more of them than are kept.
    step: Option<usize>,
    hits: u64,
}

impl State {
    /// Nothing is done.
    pub(super) fn new(run: Run) -> Self {
        let done = vec![false; byte_strings::piece_count(run.len)];
        let zero = Duration::ZERO;
        Self { run, done, outcome: Outcome::default(), before: zero, now: zero }
    }

    /// What the file says; nothing where there is none.
    pub(super) fn open(path: &Path, run: Run, decoders: &[&dyn Decoder], ledger: &Ledger) -> Result<Self, Error> {
        let remedy = "; delete it to start anew, or name another with --resume";
        let text = match fs::read(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let new = Self::new(run);
                // Where it cannot be written, better now than later.
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

    /// A piece is done.
    pub(super) fn add(&mut self, piece: usize, of_piece: Outcome, now: Duration) {
        self.done[piece] = true;
        self.now = now;
        let so_far = std::mem::take(&mut self.outcome);
        self.outcome = so_far.merge(of_piece);
    }

    pub(super) fn end(&mut self, now: Duration) {
        self.now = now;
    }

    pub(super) fn into_outcome(mut self) -> Outcome {
        let seconds = (self.before + self.now).as_secs_f64();
        self.outcome.stages.push((Stage::Bytes, self.outcome.statistics.cases, seconds));
        self.outcome
    }

    /// Replaces the file in one step.
    pub(super) fn save(&self, path: &Path, ledger: &Ledger) -> Result<(), Error> {
        let file = File::of(self, ledger);
        let text = serde_json::to_vec(&file).map_err(|error| Error::parse(format!("{}: {error}", shown(path))))?;
        crate::io::replace_file(path, &text)
    }
}

impl File {
    fn of(state: &State, ledger: &Ledger) -> Self {
        let Outcome { statistics, divergences, known, .. } = &state.outcome;
        let witness = |(signature, found): (&crate::explain::Signature, &Found)| Witness {
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
            divergences: divergences.iter().map(witness).collect(),
        }
    }

    /// `None` where it cannot be what [`File::of`] wrote.
    fn into_state(self, decoders: &[&dyn Decoder], ledger: &Ledger) -> Option<State> {
        let mut state = State::new(self.run);
        for (first, last) in self.done {
            state.done.get_mut(first..=last)?.fill(true);
        }
        state.before = Duration::try_from_secs_f64(self.seconds).ok()?;
        let outcome = &mut state.outcome;
        for witness in self.divergences {
            let decoder = decoders.iter().position(|decoder| decoder.info().name == witness.decoder)?;
            let len = witness.bytes.len();
            let cuts = match witness.step {
                Some(step) => Cuts::every(step, len),
                None => Cuts::new(witness.cuts, len),
            };
            let case = Case::with_cuts(&witness.bytes, cuts);
            Worker::new(decoders, ledger).again(decoder, &case, witness.hits, outcome);
        }
        for (id, hits) in self.known {
            let entry = ledger.entries().iter().position(|entry| entry.id == id)?;
            outcome.known.insert(entry, hits);
        }
        let statistics = &mut outcome.statistics;
        (statistics.cases, statistics.valid) = (self.strings, self.valid);
        for (name, count) in self.kinds {
            let kind = Kind::ALL.into_iter().find(|kind| kind.name() == name)?;
            statistics.kinds.push((kind, count));
        }
        let names = decoders.iter().map(|decoder| decoder.info().name.clone());
        statistics.comparisons = names.zip(self.comparisons.iter().copied()).collect();
        let faulty = statistics.kinds.iter().map(|(_, count)| count).sum::<u64>();
        let strings = state.done() as u64 * byte_strings::piece_len(state.run.len);
        let sound = self.strings == strings && faulty.checked_add(self.valid) == Some(strings);
        (sound && (strings == 0 || self.comparisons.len() == decoders.len())).then_some(state)
    }
}

/// First and last of each stretch of ascending numbers.
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
