//! The record of a run, from which every report is rendered.
//!
//! As JSON it is one object: the fields of [`Record`], then `record` with the kind of its [`Section`], then the fields
//! of that section. Every change that a reader of the JSON could notice increments [`SCHEMA`]. Texts from outside
//! (bytes, names of files and decoders, answers) are stored unchanged and are untrusted; every format escapes them.
//!
//! The history of nights is an append-only file with one JSON object, a [`Night`], on each line.

pub mod matrix;
mod of;

pub(super) use of::answers;

#[cfg(feature = "cli")]
use crate::bench::Measured;
use crate::engine::score::Score;
use crate::error::Error;
use crate::io::{read_regular, replace_file};
use crate::text::hex;
use matrix::Matrix;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;
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
    /// Of `matrix`.
    Matrix(Matrix),
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
    /// Which fraction of the cases was well-formed, and which had each kind of error as the first; one line.
    pub shares: String,
    /// New divergences.
    pub divergences: Vec<Difference>,
    /// Differences that are in the ledger.
    pub known: Vec<KnownDifference>,
    /// Ids of ledger entries that matched nothing.
    pub stale: Vec<String>,
    /// Decoders that answered nothing.
    pub silent: Vec<String>,
    /// Decoders in other processes that failed so often that the rest was not asked; the check is then `partial`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set_aside: Vec<String>,
    /// Claims of published vectors that the standard contradicts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<String>,
    /// Of a replay: what each file shows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Replayed>,
    /// Whether it was ended early; nothing is then said of `stale` and `silent`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interrupted: bool,
    /// Whether it was to run less than everything: within a budget, up to the first new divergence, or only some stages.
    /// Nothing is then said of `stale`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partial: bool,
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

/// What a replayed file shows.
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
    /// Number of cases that it has in all, if they have an end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub planned: Option<u64>,
    /// How long it took, in seconds: the time of all threads, divided by their number.
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
    /// The decoder; if the entry names several decoders of the run, as the entry names them.
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
    /// The nights so far; of a nightly run, including this one.
    pub history: Vec<Night>,
    /// Files that could not be read, and why.
    pub unread: Vec<String>,
    /// Files that libFuzzer reported for time or memory, and that show no divergence.
    pub slow: Vec<String>,
    /// Failures of the run itself, such as a target that was not built or did not run.
    pub faults: Vec<String>,
    /// Where a difference can be accepted, if that is not the ledger of this repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ledger: Option<String>,
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
    /// Number of inputs: the seeds, and the witnesses of all clusters; in a merged record, of one shard.
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
    /// Its signatures, the strongest law first; by name in a merged record. Never empty.
    pub members: Vec<Member>,
}

/// One signature.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Member {
    /// `law/decoder/subject/shape`.
    pub signature: String,
    /// Other signatures of the same decoder, law and cause.
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
    /// Whether everything the answer states agrees with the contract of the decoder that diverges; in an explanation, with
    /// the grammar by which the input is read.
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

impl Judged {
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

impl Check {
    /// True if it ran to its end, and nothing new, stale, silent or contradicted was found.
    pub fn is_clean(&self) -> bool {
        let is_complete = self.silent.is_empty() && self.contradictions.is_empty();
        is_complete && self.divergences.is_empty() && self.stale.is_empty() && !self.interrupted
    }
}

impl Triage {
    /// Every signature of every cluster.
    pub fn members(&self) -> impl Iterator<Item = &Member> {
        self.clusters.iter().flat_map(|cluster| &cluster.members)
    }

    /// How many clusters are `new`, `regression` or `known`.
    pub fn count(&self, status: &str) -> usize {
        self.clusters.iter().filter(|cluster| cluster.status == status).count()
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

impl Agreement {
    /// For two decoders, given by index: the number of inputs on which they agree, and the number compared; zeros if
    /// the record has none.
    pub(super) fn pair(&self, row: usize, column: usize) -> (u64, u64) {
        let of = |table: &[Vec<u64>]| table.get(row).and_then(|row| row.get(column)).copied().unwrap_or(0);
        (of(&self.same), of(&self.asked))
    }
}

/// The figures of one night.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Night {
    /// When it began, in seconds since 1970.
    pub started: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// The version of this crate.
    pub version: String,
    /// The number of executions of all targets.
    pub executions: u64,
    /// The number of files in their corpora.
    pub corpus: u64,
    /// The number of inputs that were triaged.
    pub inputs: u64,
    /// The number of clusters.
    pub clusters: u64,
    /// How many of these are new.
    pub new: u64,
    /// How many are regressions.
    pub regression: u64,
    /// How many are known.
    pub known: u64,
    /// When its shards began, if it was divided into shards.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shards: Vec<u64>,
}

/// Reads the nights in the order of the file; none if the file does not exist. Invalid lines are skipped, since a
/// process may have been killed while it wrote one.
///
/// # Errors
/// The file cannot be read.
pub fn history(path: &Path) -> Result<Vec<Night>, Error> {
    let text = match read_regular(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io(path, &error)),
    };
    Ok(text.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

/// Writes the line of a night into a history file. If there is one already, the night was interrupted after this point, or some of
/// its shards were merged before; it is replaced, unless it counts more executions and inputs. Nothing is written for the record of something else.
///
/// # Errors
/// The file cannot be read or written.
pub fn store(record: &Record, path: &Path) -> Result<(), Error> {
    let Some(night) = Night::of(record) else { return Ok(()) };
    let starts = |night: &Night| night.shards.iter().copied().chain([night.started]).collect::<BTreeSet<u64>>();
    let is_of_night = |line: &Night| !starts(line).is_disjoint(&starts(&night));
    let lines: Vec<Night> = history(path)?.into_iter().filter(is_of_night).collect();
    if lines.is_empty() {
        if let Some(directory) = path.parent() {
            std::fs::create_dir_all(directory).map_err(|error| Error::io(directory, &error))?;
        }
        return append(path, &night);
    }
    // The counts of a night are sums over its shards.
    let counted = |night: &Night| (night.executions, night.inputs);
    if lines.iter().any(|line| counted(line) > counted(&night)) {
        return Ok(());
    }
    let wrong = |error: std::io::Error| Error::io(path, &error);
    let mut line = serde_json::to_vec(&night).map_err(|error| wrong(error.into()))?;
    line.push(b'\n');
    let mut text = Vec::new();
    for old in read_regular(path).map_err(wrong)?.split(|&byte| byte == b'\n').filter(|old| !old.is_empty()) {
        // Lines that this version cannot read are kept.
        match serde_json::from_slice(old) {
            Ok(old) if is_of_night(&old) => text.append(&mut line),
            _ => text.extend([old, b"\n"].concat()),
        }
    }
    replace_file(path, &text)
}

/// Appends a night to a history file, on a new line even after an incomplete one, and syncs the file to disk.
///
/// # Errors
/// The file cannot be written.
pub fn append(path: &Path, night: &Night) -> Result<(), Error> {
    let written = || {
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
        let mut last = *b"\n";
        if file.seek(SeekFrom::End(0))? > 0 {
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
        }
        let mut line = if last == *b"\n" { Vec::new() } else { vec![b'\n'] };
        serde_json::to_writer(&mut line, night)?;
        line.push(b'\n');
        file.write_all(&line)?;
        file.sync_all()
    };
    written().map_err(|error| Error::io(path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn night(started: u64) -> Night {
        Night {
            started,
            seconds: 1.5,
            version: "0\n".into(),
            executions: 1,
            corpus: 2,
            inputs: 3,
            clusters: 6,
            new: 1,
            regression: 2,
            known: 3,
            shards: Vec::new(),
        }
    }

    #[test]
    fn an_incomplete_line_does_not_affect_others() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("history.jsonl");
        assert_eq!(history(&path).unwrap(), []);
        append(&path, &night(1)).unwrap();
        append(&path, &night(2)).unwrap();
        assert_eq!(history(&path).unwrap(), [night(1), night(2)]);
        let whole = std::fs::read(&path).unwrap();
        for end in 0..whole.len() {
            std::fs::write(&path, &whole[..end]).unwrap();
            append(&path, &night(3)).unwrap();
            let read = history(&path).unwrap();
            assert_eq!(read.last(), Some(&night(3)), "{end}");
            // A complete line is still there, whether or not its line feed was written.
            assert!(read.len() > usize::from(end + 1 >= whole.len() / 2), "{end}: {read:?}");
        }
        std::fs::write(&path, b"\xFF\n[1]\n{}\n\0\n").unwrap();
        append(&path, &night(4)).unwrap();
        assert_eq!(history(&path).unwrap(), [night(4)]);
        assert!(history(scratch.path()).is_err() && append(scratch.path(), &night(5)).is_err());
    }
}
