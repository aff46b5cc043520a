//! What the parts of a check share: the options, the stages and their shares of the time, the result, and the saved state
//! from which a run over byte strings is resumed.
//!
//! The file of that state records whole pieces and is replaced atomically, so it is always consistent. Only the same run
//! can resume from it: the same program, decoders, ledger and length.

use crate::case::{Cuts, Input};
use crate::decoder::Decoder;
use crate::error::Error;
use crate::explain::Signature;
use crate::generate::plan::Part;
use crate::io::read_regular;
use crate::judge::Statistics;
use crate::text::{counted, shown};
use crate::triage::ledger::Ledger;
use crate::triage::session::{Finding, Record, Session};
use crate::utf8::Kind;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::Hasher;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use std::{fmt, fs};

/// What a running check shares with other threads.
#[derive(Clone, Debug, Default)]
pub struct Control {
    /// The number of cases so far, updated piece by piece.
    pub cases: Arc<AtomicU64>,
    /// Once this is true, the check ends within about a second, and its result is what it found until then.
    pub stop: Arc<AtomicBool>,
}

impl Control {
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// What to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long to run structured inputs after the other stages, if there is no budget.
    pub time: Duration,
    /// How long the check may take; it ends a little later. The stages take turns, so that each has its share, and
    /// structured inputs fill the rest. `None` runs one stage after the other, each to its end.
    pub budget: Option<Duration>,
    /// Whether the first new divergence ends the check.
    pub stop_at_first: bool,
    /// The stages to run; the others are skipped.
    pub only: Vec<Stage>,
    /// The first seed of the structured inputs.
    pub seed: u64,
    /// A directory with the seeds of the fuzz targets, `regressions/`, and possibly further `vectors/`. `None` skips
    /// the corpus stage.
    pub corpus: Option<PathBuf>,
    /// The known differences.
    pub ledger: Ledger,
    /// Which class strings.
    pub plan: Plan,
    /// To watch the check, and to end it early.
    pub control: Control,
}

/// Which class strings a check runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Plan {
    /// [`remote`](crate::generate::plan::remote) with few strings, and no corpus, for decoders that are slow.
    Few,
    /// [`remote`](crate::generate::plan::remote), for decoders in other processes; fewer texts too.
    Remote,
    /// [`quick`](crate::generate::plan::quick), a few seconds.
    Quick,
    /// [`standard`](crate::generate::plan::standard), about a minute.
    #[default]
    Standard,
    /// [`deep`](crate::generate::plan::deep), some minutes.
    Deep,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(10),
            budget: None,
            stop_at_first: false,
            only: Stage::ALL.to_vec(),
            seed: 0,
            corpus: None,
            ledger: Ledger::built_in(),
            plan: Plan::Standard,
            control: Control::default(),
        }
    }
}

/// How often each thread and piece of work explains a broken law before it is settled.
const EXPLANATIONS: u32 = 3;

/// How many cases are planned at a time, for decoders that answer many questions at once.
pub(super) const BATCH: usize = 256;

/// A session for one thread or piece of work.
pub(super) fn session<'d>(decoders: &[&'d dyn Decoder], ledger: &'d Ledger) -> Session<'d> {
    Session::new(decoders.iter().copied(), ledger).settling_after(EXPLANATIONS)
}

/// A stage of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Published vectors.
    Vectors,
    /// Corpus files.
    Corpus,
    /// Every short string of fragments, and text with every character.
    Words,
    /// Every class string of the plan.
    Classes,
    /// Structured inputs.
    Structured,
    /// Every byte string of a length.
    Bytes,
}

impl Stage {
    /// The stages of [`check`](super::check), in their order.
    pub const ALL: [Self; 5] = [Self::Vectors, Self::Corpus, Self::Words, Self::Classes, Self::Structured];

    /// Its share of the time, relative to the other stages, if they take turns. The first three find most.
    pub(super) fn share(self) -> u32 {
        match self {
            Self::Vectors => 8,
            Self::Words => 6,
            Self::Corpus => 4,
            Self::Classes | Self::Bytes => 2,
            Self::Structured => 1,
        }
    }

    /// The name in one word, for options.
    pub fn word(self) -> &'static str {
        match self {
            Self::Vectors => "vectors",
            Self::Corpus => "corpus",
            Self::Words => "words",
            Self::Classes => "classes",
            Self::Structured => "structured",
            Self::Bytes => "bytes",
        }
    }

    /// The name, for people and for JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Vectors => "vectors",
            Self::Corpus => "corpus",
            Self::Words => "words and texts",
            Self::Classes => "class strings",
            Self::Structured => "structured",
            Self::Bytes => "byte strings",
        }
    }
}

/// The result of a check.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Each stage that was run.
    pub stages: Vec<Ran>,
    /// The class strings that were run, part by part; only parts that were run to their end.
    pub covered: Vec<Covered>,
    /// Published vectors whose claims `spec` contradicts: the vector, the claim, and what `spec` says.
    pub contradictions: Vec<String>,
    /// Counts of what was seen and compared.
    pub statistics: Statistics,
    /// New divergences.
    pub divergences: BTreeMap<Signature, Finding>,
    /// Known differences: the index in the ledger, and how often it was hit.
    pub known: BTreeMap<usize, u64>,
    /// Ids of ledger entries for these decoders that matched nothing, if everything was run.
    pub stale: Vec<String>,
    /// In a replay: what each file shows.
    pub files: Vec<Replayed>,
    /// Whether it was ended early, so that nothing is known about the rest of its inputs.
    pub interrupted: bool,
    /// Whether it was to run less than everything, and did: within a budget, up to the first new divergence, or only some
    /// stages.
    pub partial: bool,
}

/// How much of a stage was run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ran {
    /// The stage.
    pub stage: Stage,
    /// The number of cases that were judged.
    pub cases: u64,
    /// The number of cases that the whole stage has; `None` if there is no end to them.
    pub planned: Option<u64>,
    /// How long it took, in seconds: the time of all threads, divided by their number.
    pub seconds: f64,
}

/// What a replayed file shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// The file.
    pub path: PathBuf,
    /// The new signatures.
    pub new: Vec<Signature>,
    /// Known differences, by their index in the ledger, once for each decoder.
    pub known: Vec<usize>,
}

/// A part of a plan of class strings that was run to its end.
#[derive(Clone, Debug)]
pub struct Covered {
    /// What was run.
    pub part: Part,
    /// How many cases were judged.
    pub cases: u64,
    /// For each decoder, how many answers were compared.
    pub comparisons: Vec<(Cow<'static, str>, u64)>,
    /// How long it took, in seconds.
    pub seconds: f64,
}

impl Outcome {
    /// True if it was not interrupted, and nothing new, stale, silent or contradicted was found.
    pub fn is_clean(&self) -> bool {
        self.is_clean_but_for_the_ledger() && self.stale.is_empty()
    }

    /// Like [`Outcome::is_clean`], but entries of the ledger may match nothing.
    pub fn is_clean_but_for_the_ledger(&self) -> bool {
        let is_silent = self.silent().next().is_some();
        !self.interrupted && self.divergences.is_empty() && self.contradictions.is_empty() && !is_silent
    }

    /// The decoders that answered nothing. None are named after an interruption, or if nothing but a part of the class
    /// strings was run: not every decoder is asked every class string, so some may not have been asked at all.
    pub fn silent(&self) -> impl Iterator<Item = &str> {
        let asked_all = |ran: &Ran| ran.cases > 0 && (ran.stage != Stage::Classes || ran.planned == Some(ran.cases));
        let is_known = !self.interrupted && (self.stages.is_empty() || self.stages.iter().any(asked_all));
        self.statistics.silent().filter(move |_| is_known)
    }

    /// For a test: does nothing if nothing new, stale, silent or contradicted was found.
    ///
    /// ```
    /// # use utfuzz_core as utfuzz;
    /// use utfuzz::engine::check::{Options, check};
    /// use utfuzz::{Decoder, peers};
    ///
    /// let peers = peers::all();
    /// let std = peers.iter().find(|peer| peer.info().name == "std").unwrap();
    /// # let skipped = || {
    /// check(&[&**std], &Options::default(), &|_, _| {}).unwrap().assert_clean();
    /// # };
    /// ```
    ///
    /// # Panics
    /// Anything was found. The message is that of [`Display`](fmt::Display).
    #[track_caller]
    pub fn assert_clean(&self) {
        assert!(self.is_clean(), "{self}");
    }

    pub(super) fn of(record: Record) -> Self {
        let Record { statistics, findings, known, .. } = record;
        Self { statistics, divergences: findings, known, ..Self::default() }
    }
}

/// The first line says whether anything was found. Everything found follows: divergences with their explanations, the
/// strongest law first, and the test that reproduces each.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Statistics { cases, .. } = self.statistics;
        let comparisons = self.statistics.total_comparisons();
        let interrupted = self.interrupted;
        let (new, early) = (self.divergences.len(), [interrupted, self.partial]);
        f.write_str(&headline(self.is_clean(), early, new, cases, comparisons))?;
        let lines = |title: &'static str, of: &[String]| of.iter().map(|line| format!("\n{title}: {line}")).collect();
        let silent: Vec<String> = self.silent().map(ToString::to_string).collect();
        let rest: [String; 3] = [
            lines("contradicted by the standard", &self.contradictions),
            lines("stale in the ledger", &self.stale),
            lines("answered nothing", &silent),
        ];
        f.write_str(&rest.concat())?;
        self.divergences.values().try_for_each(|finding| write!(f, "\n\n{}", finding.divergence))
    }
}

/// The first line of a report: whether the result is clean, how many signatures are new, and how much was judged.
/// `interrupted` and `partial` say whether the run was interrupted, or was to run less than everything.
pub fn headline(is_clean: bool, [interrupted, partial]: [bool; 2], new: usize, cases: u64, comparisons: u64) -> String {
    let result = match (is_clean, new) {
        (true, _) if partial => "clean as far as it ran".to_owned(),
        (true, _) => "clean".to_owned(),
        (false, 0) if interrupted => "interrupted, with no new signature until then".to_owned(),
        (false, _) if interrupted => format!("{} until it was interrupted", counted(new, "new signature")),
        (false, 0) => "not clean, but no new signature".to_owned(),
        (false, _) => counted(new, "new signature"),
    };
    format!("{result}: {}, {}", counted(cases as usize, "case"), counted(comparisons as usize, "comparison"))
}

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
pub fn stretches(numbers: impl IntoIterator<Item = usize>) -> Vec<(usize, usize)> {
    let mut stretches: Vec<(usize, usize)> = Vec::new();
    for number in numbers {
        match stretches.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => stretches.push((number, number)),
        }
    }
    stretches
}
