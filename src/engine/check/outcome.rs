//! What the parts of a check share, and its result.

use crate::decoder::Decoder;
use crate::explain::Signature;
use crate::generate::plan::Part;
use crate::judge::Statistics;
use crate::text::counted;
use crate::triage::ledger::Ledger;
use crate::triage::session::{Finding, Record, Session};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

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
    /// How long the check may take; a little more passes until it has ended. The stages take turns, so that each has its
    /// share, and structured inputs fill the rest. `None` runs one stage after the other, each to its end.
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

    /// Its share of the time, relative to the other stages, if they take turns. The first two are short and find most.
    pub(super) fn share(self) -> u32 {
        match self {
            Self::Vectors => 8,
            Self::Corpus => 4,
            Self::Words => 1,
            Self::Classes | Self::Structured | Self::Bytes => 2,
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

/// What a file shows that was replayed.
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
    /// True if it ran to its end and nothing new, stale, silent or contradicted was found.
    pub fn is_clean(&self) -> bool {
        self.is_clean_but_for_the_ledger() && self.stale.is_empty()
    }

    /// Like [`Outcome::is_clean`], but entries of the ledger may match nothing.
    pub(crate) fn is_clean_but_for_the_ledger(&self) -> bool {
        let is_silent = self.silent().next().is_some();
        !self.interrupted && self.divergences.is_empty() && self.contradictions.is_empty() && !is_silent
    }

    /// The decoders that answered nothing. Not every decoder is asked every class string, so of some of these nothing is
    /// known.
    pub fn silent(&self) -> impl Iterator<Item = &str> {
        let asked_all = |ran: &Ran| ran.cases > 0 && (ran.stage != Stage::Classes || ran.planned == Some(ran.cases));
        let is_known = !self.interrupted && (self.stages.is_empty() || self.stages.iter().any(asked_all));
        self.statistics.silent().filter(move |_| is_known)
    }

    /// For a test: does nothing if nothing new, stale, silent or contradicted was found.
    ///
    /// ```
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

/// The first line of a report: whether the result is clean, how many signatures are new, and how much was judged; of a
/// run that was interrupted, or was to run less than everything.
pub(crate) fn headline(
    is_clean: bool,
    [interrupted, partial]: [bool; 2],
    new: usize,
    cases: u64,
    comparisons: u64,
) -> String {
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
