//! The record of a run, from which every report is rendered.
//!
//! As JSON it is one object: the fields of [`Record`], then `record` with the kind of its [`Section`], then the fields
//! of that section. Every change that a reader of the JSON could notice increments [`SCHEMA`]. Texts from outside
//! (bytes, names of files and decoders, answers) are stored unchanged and are untrusted; every format escapes them.

#[cfg(feature = "cli")]
use crate::bench::Measured;
use crate::decoder::{Decoder, Info};
use crate::engine::check;
#[cfg(feature = "cli")]
use crate::engine::nightly;
use crate::engine::score::Score;
use crate::explain::{Grid, Signature, annotate, notation};
use crate::generate::seeds;
use crate::peers;
use crate::report::history::Night;
use crate::text::hex;
use crate::triage;
use crate::triage::Status;
use crate::triage::ledger::Ledger;
use crate::triage::session::Finding;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

/// The version of the JSON format.
pub const SCHEMA: u32 = 3;

/// A run and its result.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The version of this crate.
    pub version: String,
    /// The command that made it.
    pub command: String,
    /// When it began, in seconds since 1970.
    pub started: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Where it ran.
    pub machine: Machine,
    /// The decoders that took part; empty if the section names them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decoders: Vec<Judged>,
    /// The result.
    #[serde(flatten)]
    pub section: Section,
}

/// The result of a run, by the kind of run.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "record", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Section {
    /// Of `check` and `replay`.
    Check(Check),
    /// Of `triage` and `nightly`.
    Triage(Triage),
    /// Of `score`.
    Score {
        /// The runs of every engine.
        score: Score,
    },
    /// Of `measure`.
    #[cfg(feature = "cli")]
    Throughput(Measured),
}

/// When a run began, and by which command.
#[derive(Clone, Debug)]
pub struct Clock {
    command: String,
    started: u64,
    start: Instant,
}

/// A machine and a compiler.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Machine {
    /// The target triple.
    pub target: String,
    /// The processor, if the system names it.
    pub processor: Option<String>,
    /// The CPU features that decoders use and that it has.
    pub features: Vec<String>,
    /// The decoders that it cannot run, because it lacks such a feature.
    pub missing: Vec<String>,
    /// The number of threads.
    pub threads: usize,
    /// The compiler's version.
    pub rustc: String,
}

/// A decoder that took part.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Judged {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The crate or library that it is part of; empty if not recorded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub package: String,
    /// Its contract.
    pub contract: String,
    /// How many of its answers were compared, if counted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub comparisons: Option<u64>,
    /// The implementation that runs from each input length in bytes on, if recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lineage: Vec<(usize, String)>,
}

/// The result of a check.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Check {
    /// Number of cases.
    pub cases: u64,
    /// Number of answers that were compared.
    pub comparisons: u64,
    /// The stages, in order.
    pub stages: Vec<Stage>,
    /// Which fraction of the cases was well-formed, and which began with each kind of error; one line.
    pub shares: String,
    /// New divergences.
    pub divergences: Vec<Difference>,
    /// Differences that are in the ledger.
    pub known: Vec<KnownDifference>,
    /// Ids of ledger entries that matched nothing.
    pub stale: Vec<String>,
    /// Decoders that answered nothing.
    pub silent: Vec<String>,
    /// Of a replay: what each file shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Replayed>,
    /// Whether it was ended early; nothing is then said of `stale` and `silent`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// What an exhaustive run covered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Coverage>,
}

/// The name of a file, with which a program can open it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileName {
    /// The name; what is not Unicode in it is replaced.
    pub path: String,
    /// Its bytes in hexadecimal, if it is not Unicode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_bytes: Option<String>,
}

impl FileName {
    /// The name of this file.
    pub fn of(path: &Path) -> Self {
        let path_bytes = path.to_str().is_none().then(|| hex(path.as_os_str().as_encoded_bytes()));
        Self { path: path.to_string_lossy().into_owned(), path_bytes }
    }

    /// The name as one word of a shell, or FILE if it has unusual characters.
    pub(super) fn word(&self) -> &str {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
        if self.path.chars().all(is_plain) && !self.path.starts_with('-') { &self.path } else { "FILE" }
    }
}

/// What a file shows that was replayed.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Replayed {
    /// Its name.
    #[serde(flatten)]
    pub name: FileName,
    /// The signatures that are not in the ledger.
    pub new: Vec<String>,
    /// The ids of known differences, each with the number of decoders that show it.
    pub known: Vec<(String, u64)>,
}

/// A stage of a check.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stage {
    /// Its name.
    pub name: String,
    /// Number of cases.
    pub cases: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
}

/// A new divergence that a check found.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Difference {
    /// `law/decoder/subject/shape`.
    pub signature: String,
    /// The law that does not hold.
    pub law: String,
    /// The decoder.
    pub decoder: String,
    /// The kind of text it is wrong about.
    pub subject: String,
    /// The circumstances it depends on.
    pub shape: String,
    /// Number of cases.
    pub hits: u64,
    /// The smallest input seen.
    pub witness_hex: String,
    /// The offsets at which it is cut.
    pub cuts: Vec<usize>,
    /// The explanation as text of several lines.
    pub explanation: String,
}

/// A difference that is in the ledger.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct KnownDifference {
    /// The id in the ledger.
    pub id: String,
    /// The decoder.
    pub decoder: String,
    /// Number of cases.
    pub hits: u64,
}

/// What an exhaustive run covered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Coverage {
    /// The sets of strings.
    pub sets: Vec<CoveredSet>,
    /// Cost and comparisons, part by part.
    pub parts: Vec<CoveredPart>,
}

/// Strings of some lengths at some offsets, with the same padding and questions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CoveredSet {
    /// The part it belongs to.
    pub part: String,
    /// The shortest and the longest length.
    pub lengths: (u32, u32),
    /// First and last of each run of offsets.
    pub offsets: Vec<(usize, usize)>,
    /// The padding before the string.
    pub before: String,
    /// The padding after the string.
    pub after: String,
    /// The questions that were asked.
    pub asked: String,
    /// Number of strings, times the number of offsets.
    pub strings: u64,
    /// Number of cases.
    pub cases: u64,
}

/// Cost and comparisons of one part.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CoveredPart {
    /// Its name.
    pub name: String,
    /// Number of cases.
    pub cases: u64,
    /// Each decoder, and how many of its answers were compared.
    pub comparisons: Vec<(String, u64)>,
    /// How long it took, in seconds.
    pub seconds: f64,
}

/// The result of a triage, or of a night.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Triage {
    /// The fuzz targets that were run, if any.
    pub targets: Vec<Target>,
    /// How many inputs were triaged.
    pub inputs: u64,
    /// How many of them show no divergence.
    pub quiet: u64,
    /// The clusters of the others: new ones first, then regressions, then known ones.
    pub clusters: Vec<Cluster>,
    /// Which decoders agree.
    pub agreement: Agreement,
    /// The nightly runs up to and including this one, if this record is of a nightly run.
    pub history: Vec<Night>,
    /// Files that could not be read, and why.
    pub unread: Vec<String>,
    /// Files that libFuzzer reported for time or memory, and that show no divergence.
    pub slow: Vec<String>,
    /// Failures of the run itself, such as a target that was not built or did not run.
    pub faults: Vec<String>,
    /// What each shard contributed, by its name, if the night was divided into shards.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub shards: BTreeMap<String, Shard>,
}

/// What one shard contributed to a night.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Shard {
    /// When it began, in seconds since 1970.
    pub started: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// How many inputs it triaged.
    pub inputs: u64,
    /// How many of them show no divergence.
    pub quiet: u64,
    /// Its fuzz targets.
    pub targets: Vec<Target>,
    /// How many inputs show each signature.
    pub signatures: BTreeMap<String, u64>,
}

/// One fuzz target's part of a night.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// How long it ran, in seconds.
    pub seconds: f64,
    /// The number of executions.
    pub executions: u64,
    /// How many files its corpus has now.
    pub corpus: u64,
}

/// For each pair of decoders, on how many inputs they agree.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Agreement {
    /// Number of inputs: the seeds, and the witnesses of all clusters.
    pub inputs: u64,
    /// The decoders.
    pub decoders: Vec<String>,
    /// By row and column: on how many inputs both give the same verdict and output.
    pub same: Vec<Vec<u64>>,
    /// By row and column: on how many inputs both give answers that can be compared.
    pub asked: Vec<Vec<u64>>,
}

/// Divergences of one cause.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cluster {
    /// `new`, `regression` or `known`: the first of these that applies to one of its signatures.
    pub status: String,
    /// How many inputs show it.
    pub inputs: u64,
    /// Its signatures, the strongest law first. Never empty.
    pub members: Vec<Member>,
}

/// One signature.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Member {
    /// `law/decoder/subject/shape`.
    pub signature: String,
    /// Signatures that differ only in the bytes at the location that causes the divergence.
    pub others: Vec<String>,
    /// The strongest law that shows it.
    pub law: String,
    /// The decoder.
    pub decoder: String,
    /// Its version.
    pub version: String,
    /// The kind of text it is wrong about.
    pub subject: String,
    /// The circumstances it depends on.
    pub shape: String,
    /// `new`, `regression` or `known`.
    pub status: String,
    /// The id in the ledger, or the regression file that shows it.
    pub known_as: Option<String>,
    /// How many inputs show it.
    pub inputs: u64,
    /// Some of their files.
    pub files: Vec<String>,
    /// The file in which the smallest input is kept.
    pub kept: Option<String>,
    /// The smallest input that shows it.
    pub witness_hex: String,
    /// The same in the short notation.
    pub notation: String,
    /// The offsets at which it is cut; `null` if they are derived from the bytes.
    pub cuts: Option<Vec<usize>>,
    /// The nearest input found on which the decoder is right.
    pub agreeing_hex: Option<String>,
    /// The same in the short notation.
    pub agreeing: Option<String>,
    /// The clause that decides.
    pub rule: Option<Rule>,
    /// The witness, a line for each segment, with its reading by the standard.
    pub annotated: String,
    /// The answers of all decoders to the smallest input found.
    pub answers: Vec<Answer>,
    /// A test that fails while the decoder diverges.
    pub test: String,
}

/// A clause of a standard.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rule {
    /// Its content, in a sentence.
    pub says: String,
    /// The standard and section.
    pub source: String,
}

/// One answer to one question.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// `verdict`, `output` or `stream`.
    pub question: String,
    /// The answer.
    pub answer: String,
    /// Whether everything the answer states agrees with the standard.
    pub arbiter: bool,
    /// The decoders whose own contract this answer violates.
    #[serde(default)]
    pub breaches: Vec<String>,
    /// The decoders that give it.
    pub decoders: Vec<String>,
    /// The implementations that gave it, without duplicates.
    pub lineages: Vec<String>,
}

impl Clock {
    /// A run of this command that begins now.
    pub fn start(command: impl Into<String>) -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Self { command: command.into(), started: since.map_or(0, |since| since.as_secs()), start: Instant::now() }
    }

    /// The time since the start.
    pub fn elapsed(&self) -> Duration {
        self.start.elapsed()
    }
}

impl Record {
    fn new(clock: &Clock, decoders: Vec<Judged>, section: Section) -> Self {
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").into(),
            command: clock.command.clone(),
            started: clock.started,
            seconds: clock.elapsed().as_secs_f64(),
            machine: Machine::here(),
            decoders,
            section,
        }
    }

    /// The record of a check, or of a replay, that ends now.
    pub fn of_check(clock: &Clock, decoders: &[&dyn Decoder], ledger: &Ledger, outcome: &check::Outcome) -> Self {
        let counted = &outcome.statistics.comparisons;
        let judged = decoders.iter().enumerate().map(|(index, decoder)| Judged {
            comparisons: Some(counted.get(index).map_or(0, |(_, count)| *count)),
            ..Judged::of(decoder.info())
        });
        Self::new(clock, judged.collect(), Section::Check(Check::of(outcome, ledger)))
    }

    /// The record of a triage that ends now; `kept` are signatures with the files in which their witnesses are kept.
    pub fn of_triage(
        clock: &Clock,
        decoders: &[&dyn Decoder],
        outcome: &triage::Outcome,
        kept: &[(String, PathBuf)],
    ) -> Self {
        let judged = decoders.iter().map(|decoder| Judged::of(decoder.info())).collect();
        let mut triage = Triage::of(outcome, decoders);
        kept.iter().for_each(|(signature, file)| triage.enter_kept(signature, file));
        Self::new(clock, judged, Section::Triage(triage))
    }

    /// The record of a night, or of one `shard` of it, such as `1/4`.
    #[cfg(feature = "cli")]
    pub fn of_night(clock: &Clock, decoders: &[&dyn Decoder], night: &nightly::Night, shard: Option<String>) -> Self {
        let mut record = Self::of_triage(clock, decoders, &night.outcome, &night.kept);
        (record.started, record.seconds) = (night.started, night.seconds);
        if let Section::Triage(triage) = &mut record.section {
            let target = |run: &nightly::TargetRun| Target {
                name: run.name.clone(),
                seconds: run.seconds,
                executions: run.executions,
                corpus: run.corpus,
            };
            triage.targets = night.targets.iter().map(target).collect();
            triage.faults = night.faults.clone();
            if let Some(shard) = shard {
                triage.enter_shard(shard, night.started, night.seconds);
            }
        }
        record
    }

    /// Adds the nights before this one to the record of a triage.
    pub fn enter_history(&mut self, history: Vec<Night>) {
        if let Section::Triage(triage) = &mut self.section {
            triage.history = history;
        }
    }

    /// The record of a score that ends now.
    pub fn of_score(clock: &Clock, score: Score) -> Self {
        Self::new(clock, Vec::new(), Section::Score { score })
    }

    /// The record of a measurement that ends now.
    #[cfg(feature = "cli")]
    pub fn of_throughput(clock: &Clock, measured: Measured) -> Self {
        Self::new(clock, Vec::new(), Section::Throughput(measured))
    }

    /// The result, if this is a check.
    pub fn check(&self) -> Option<&Check> {
        match &self.section {
            Section::Check(check) => Some(check),
            _ => None,
        }
    }

    /// The result, if this is a triage.
    pub fn triage(&self) -> Option<&Triage> {
        match &self.section {
            Section::Triage(triage) => Some(triage),
            _ => None,
        }
    }
}

impl Machine {
    /// This machine.
    pub fn here() -> Self {
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
        Self {
            target: env!("UTFUZZ_TARGET").into(),
            processor: processor(),
            features: owned(peers::features()),
            missing: owned(peers::missing()),
            threads: rayon::current_num_threads(),
            rustc: env!("UTFUZZ_CORE_VERSION").into(),
        }
    }
}

fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let field = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    Some(format!("{}, family {}, model {}", field("model name")?, field("cpu family")?, field("model\t")?))
}

impl Judged {
    fn of(info: &Info) -> Self {
        Self {
            name: info.name.to_string(),
            version: info.version.to_string(),
            package: info.package.to_string(),
            contract: info.contract.to_string(),
            comparisons: None,
            lineage: lineage(info),
        }
    }

    /// The grammar of its contract.
    pub(super) fn grammar(&self) -> &str {
        self.contract.split(' ').next().unwrap_or_default()
    }

    /// The implementations that run, and from which length on.
    pub(super) fn implementation(&self) -> String {
        let names = self.lineage.iter().map(|(from, name)| match from {
            0 => name.clone(),
            from => format!("from {from} bytes on {name}"),
        });
        names.collect::<Vec<_>>().join(", ")
    }
}

/// The implementation that runs from each input length in bytes on.
fn lineage(info: &Info) -> Vec<(usize, String)> {
    let mut lineage: Vec<(usize, String)> = Vec::new();
    for len in 0..=256 {
        let name = info.lineage.at(len).to_string();
        if lineage.last().is_none_or(|(_, last)| *last != name) {
            lineage.push((len, name));
        }
    }
    lineage
}

impl Check {
    /// True if it ran to its end, and nothing new, stale or silent was found.
    pub fn is_clean(&self) -> bool {
        let nothing_found = self.divergences.is_empty() && self.stale.is_empty() && self.silent.is_empty();
        nothing_found && !self.interrupted
    }

    fn of(outcome: &check::Outcome, ledger: &Ledger) -> Self {
        let statistics = &outcome.statistics;
        let known = outcome.known.iter().map(|(index, &hits)| {
            let entry = &ledger.entries()[*index];
            KnownDifference { id: entry.id.clone(), decoder: entry.decoder.clone(), hits }
        });
        let stages = outcome.stages.iter();
        Self {
            cases: statistics.cases,
            comparisons: statistics.total_comparisons(),
            stages: stages.map(|&(of, cases, seconds)| Stage { name: of.name().into(), cases, seconds }).collect(),
            shares: statistics.shares(),
            divergences: outcome.divergences.iter().map(|(signature, found)| difference(signature, found)).collect(),
            known: known.collect(),
            stale: outcome.stale.clone(),
            silent: statistics.silent().map(str::to_owned).filter(|_| !outcome.interrupted).collect(),
            files: outcome.files.iter().map(|file| replayed(file, ledger)).collect(),
            interrupted: outcome.interrupted,
            coverage: None,
        }
    }
}

fn replayed(file: &check::Replayed, ledger: &Ledger) -> Replayed {
    let mut known: Vec<(String, u64)> = Vec::new();
    for &index in &file.known {
        let id = &ledger.entries()[index].id;
        match known.iter_mut().find(|(counted, _)| counted == id) {
            Some((_, count)) => *count += 1,
            None => known.push((id.clone(), 1)),
        }
    }
    Replayed { name: FileName::of(&file.path), new: file.new.iter().map(ToString::to_string).collect(), known }
}

fn difference(signature: &Signature, found: &Finding) -> Difference {
    Difference {
        signature: signature.to_string(),
        law: signature.law.name().into(),
        decoder: signature.decoder.to_string(),
        subject: signature.subject.name().into(),
        shape: signature.shape.to_string(),
        hits: found.hits,
        witness_hex: hex(&found.divergence.bytes),
        cuts: found.divergence.cuts.clone(),
        explanation: found.divergence.to_string(),
    }
}

impl Coverage {
    /// Number of cases.
    pub fn cases(&self) -> u64 {
        self.parts.iter().map(|part| part.cases).sum()
    }

    /// Number of answers that were compared.
    pub fn comparisons(&self) -> u64 {
        self.parts.iter().flat_map(|part| &part.comparisons).map(|(_, count)| count).sum()
    }

    /// How long it took, in seconds.
    pub fn seconds(&self) -> f64 {
        self.parts.iter().map(|part| part.seconds).sum()
    }
}

impl Triage {
    fn of(outcome: &triage::Outcome, decoders: &[&dyn Decoder]) -> Self {
        let mut clusters: Vec<Cluster> = outcome.clusters.iter().map(cluster).collect();
        clusters.sort_by_key(|cluster| ["new", "regression", "known"].iter().position(|name| *name == cluster.status));
        Self {
            inputs: outcome.inputs,
            quiet: outcome.clean,
            clusters,
            agreement: agreement(outcome, decoders),
            unread: outcome.unread.clone(),
            slow: outcome.slow.iter().map(|file| named(file)).collect(),
            ..Self::default()
        }
    }

    /// Every signature of every cluster.
    pub fn members(&self) -> impl Iterator<Item = &Member> {
        self.clusters.iter().flat_map(|cluster| &cluster.members)
    }

    /// How many clusters are `new`, `regression` or `known`.
    pub fn count(&self, status: &str) -> usize {
        self.clusters.iter().filter(|cluster| cluster.status == status).count()
    }

    /// Records the file in which the witness of a signature is kept.
    fn enter_kept(&mut self, signature: &str, file: &Path) {
        for member in self.clusters.iter_mut().flat_map(|cluster| &mut cluster.members) {
            if member.signature == signature {
                member.kept = Some(named(file));
            }
        }
    }
}

impl Agreement {
    /// For two decoders, given by index: the number of inputs on which they agree, and the number compared; zeros if
    /// the record has none.
    pub(super) fn pair(&self, row: usize, column: usize) -> (u64, u64) {
        let of = |table: &[Vec<u64>]| table.get(row).and_then(|row| row.get(column)).copied().unwrap_or(0);
        (of(&self.same), of(&self.asked))
    }
}

fn agreement(outcome: &triage::Outcome, decoders: &[&dyn Decoder]) -> Agreement {
    let seeds = seeds::differential();
    let members = outcome.clusters.iter().flat_map(|cluster| &cluster.members);
    let witnesses = members.map(|member| &member.witness.input.bytes);
    let inputs = seeds.values().chain(witnesses).map(Vec::as_slice);
    let crate::explain::Agreement { inputs, decoders, same, asked } = crate::explain::Agreement::of(decoders, inputs);
    Agreement { inputs, decoders: decoders.iter().map(ToString::to_string).collect(), same, asked }
}

/// The name of a file in the record: relative to the current directory if it is below it.
fn named(file: &Path) -> String {
    let here = std::env::current_dir().ok();
    let short = here.and_then(|here| file.strip_prefix(here).ok()).unwrap_or(file);
    short.to_string_lossy().into_owned()
}

fn cluster(cluster: &triage::Cluster) -> Cluster {
    Cluster {
        status: status(cluster.status()).0.into(),
        inputs: cluster.inputs(),
        members: cluster.members.iter().map(member).collect(),
    }
}

fn status(status: &Status) -> (&'static str, Option<String>) {
    match status {
        Status::New => ("new", None),
        Status::Known(id) => ("known", Some(id.clone())),
        Status::Regression(file) => ("regression", Some(named(file))),
    }
}

fn member(member: &triage::Member) -> Member {
    let (divergence, witness) = (&member.finding.divergence, &member.witness);
    let signature = &witness.signature;
    let (status, known_as) = status(&member.status);
    Member {
        signature: signature.to_string(),
        others: member.others.iter().map(ToString::to_string).collect(),
        law: signature.law.name().into(),
        decoder: signature.decoder.to_string(),
        version: divergence.version.to_string(),
        subject: signature.subject.name().into(),
        shape: signature.shape.to_string(),
        status: status.into(),
        known_as,
        inputs: member.finding.hits,
        files: member.finding.files.iter().map(|file| named(file)).collect(),
        kept: None,
        witness_hex: hex(&witness.input.bytes),
        notation: notation(&witness.input.bytes),
        cuts: witness.input.cuts.map(|cuts| cuts.offsets().to_vec()),
        agreeing_hex: witness.agreeing.as_deref().map(hex),
        agreeing: witness.agreeing.as_deref().map(notation),
        rule: divergence.rule.as_ref().map(|rule| Rule { says: rule.says.clone(), source: rule.source.to_string() }),
        annotated: annotate(&divergence.contract, &witness.input.bytes),
        answers: answers(&divergence.grid),
        test: divergence.test().to_owned(),
    }
}

/// Every answer of a grid.
pub(super) fn answers(grid: &Grid) -> Vec<Answer> {
    let answers = grid.questions.iter().flat_map(|question| {
        question.groups.iter().map(|group| Answer {
            question: question.name.into(),
            answer: group.answer.clone(),
            arbiter: group.arbiter,
            breaches: group.breaches.iter().map(|breach| breach.decoder.to_string()).collect(),
            decoders: group.decoders.iter().map(ToString::to_string).collect(),
            lineages: group.lineages.iter().map(ToString::to_string).collect(),
        })
    });
    answers.collect()
}

impl Night {
    /// The figures of a night's record; `None` if it is not a triage.
    pub fn of(record: &Record) -> Option<Self> {
        let triage = record.triage()?;
        let count = |status| triage.count(status) as u64;
        Some(Self {
            started: record.started,
            seconds: record.seconds,
            version: record.version.clone(),
            executions: triage.targets.iter().map(|target| target.executions).sum(),
            corpus: triage.targets.iter().map(|target| target.corpus).sum(),
            inputs: triage.inputs,
            clusters: triage.clusters.len() as u64,
            new: count("new"),
            regression: count("regression"),
            known: count("known"),
        })
    }
}
