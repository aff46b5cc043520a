//! What a triage found, written out. [`Findings`] is the record and JSON its truth; every other format is rendered from
//! it, so that any of them can be made again from a JSON file.
//!
//! Everything in it that comes from outside (bytes, file names, what decoders print) is hostile to whoever shows it.

mod chart;
mod history;
mod html;
mod json;
mod junit;
mod markdown;
mod sarif;
mod text;

pub use history::{Night, append, history};
pub use html::Html;
pub use json::Json;
pub use junit::Junit;
pub use markdown::Markdown;
pub use sarif::Sarif;
pub use text::Text;

use crate::decoder::Decoder;
use crate::error::Error;
use crate::explain::{annotate, notation};
use crate::generate::seeds;
use crate::io::replace_file;
use crate::peers;
use crate::triage;
use crate::triage::{Outcome, Status};
use serde::{Deserialize, Serialize};
use std::io::{self, Write};
use std::path::Path;

/// A format.
pub trait Exporter {
    /// Writes the findings.
    ///
    /// # Errors
    /// Those of the writer.
    fn export(&self, findings: &Findings, out: &mut dyn Write) -> io::Result<()>;
}

/// The record of a triage, or of a night.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Findings {
    /// The version of this record: 1.
    pub schema: u32,
    /// The version of this crate.
    pub version: String,
    /// When it began, seconds since 1970.
    pub started: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Where it ran.
    pub machine: Machine,
    /// Who was asked.
    pub decoders: Vec<Asked>,
    /// The fuzz targets that were run, if any.
    pub targets: Vec<Target>,
    /// How many inputs were triaged.
    pub inputs: u64,
    /// How many of them showed nothing.
    pub quiet: u64,
    /// What the others showed: new clusters first, then regressions, then what is known.
    pub clusters: Vec<Cluster>,
    /// Which decoders say the same.
    pub agreement: Agreement,
    /// The nights before this one, if it is one, and itself.
    pub history: Vec<Night>,
    /// Files that could not be read, and why.
    pub unread: Vec<String>,
    /// Files libFuzzer names for being slow, not coming back or taking too much memory, and that show nothing else.
    pub slow: Vec<String>,
    /// What went wrong besides: a target that did not build or run.
    pub faults: Vec<String>,
}

/// A machine.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Machine {
    /// The target triple.
    pub target: String,
    /// Features of the processor that decoders look for.
    pub features: Vec<String>,
    /// Decoders that this machine cannot run, for want of such a feature.
    pub missing: Vec<String>,
    /// How many threads there were.
    pub threads: usize,
}

/// A decoder that was asked.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Asked {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// What it is held to.
    pub contract: String,
}

/// One fuzz target's part of a night.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Target {
    /// Its name.
    pub name: String,
    /// How long it ran, in seconds.
    pub seconds: f64,
    /// How many inputs it ran.
    pub executions: u64,
    /// How many files its corpus has now.
    pub corpus: u64,
}

/// For each pair of decoders, on how many inputs they say the same.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Agreement {
    /// How many inputs there were: the seeds, and the witnesses of all clusters.
    pub inputs: u64,
    /// The decoders.
    pub decoders: Vec<String>,
    /// By row and column: on how many inputs both say the same, verdict and output.
    pub same: Vec<Vec<u64>>,
    /// By row and column: on how many inputs both say something that can be compared.
    pub asked: Vec<Vec<u64>>,
}

/// Divergences of one cause.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cluster {
    /// `new`, `regression` or `known`: the first of these that one of its signatures is.
    pub status: String,
    /// How many inputs show it.
    pub inputs: u64,
    /// Its signatures, the strongest law first. Never empty.
    pub members: Vec<Member>,
}

/// One signature.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Member {
    /// `law/decoder/subject/shape`.
    pub signature: String,
    /// Signatures that differ only in what stands at the place that is their cause.
    pub others: Vec<String>,
    /// The strongest law that shows it.
    pub law: String,
    /// The decoder.
    pub decoder: String,
    /// Its version.
    pub version: String,
    /// What it goes wrong on.
    pub subject: String,
    /// Where it does.
    pub shape: String,
    /// `new`, `regression` or `known`.
    pub status: String,
    /// The ledger's id, or the file that shows it already.
    pub known_as: Option<String>,
    /// How many inputs show it.
    pub inputs: u64,
    /// Some of their files.
    pub files: Vec<String>,
    /// The file in which the smallest input is kept.
    pub kept: Option<String>,
    /// The smallest input that shows it.
    pub witness_hex: String,
    /// The same, short.
    pub notation: String,
    /// Where it is cut; `null` where that follows from the bytes.
    pub cuts: Option<Vec<usize>>,
    /// The nearest input found on which the decoder does what it should.
    pub agreeing_hex: Option<String>,
    /// The same, short.
    pub agreeing: Option<String>,
    /// The clause that decides, and where it stands.
    pub rule: Option<Rule>,
    /// The witness, a line for each unit, with what the standard reads there.
    pub annotated: String,
    /// Who says what of the smallest input found.
    pub answers: Vec<Answer>,
    /// A test that fails while the decoder diverges.
    pub test: String,
}

/// A clause of a standard.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rule {
    /// What it says.
    pub says: String,
    /// Where it stands.
    pub source: String,
}

/// One answer to one question.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Answer {
    /// `verdict`, `output` or `stream`.
    pub question: String,
    /// The answer.
    pub answer: String,
    /// Whether it is what the standard says, as far as it is stated.
    pub arbiter: bool,
    /// Those of the decoders that break their own contract by it.
    #[serde(default)]
    pub breaches: Vec<String>,
    /// Who gives it.
    pub decoders: Vec<String>,
    /// Whose code gives it, each once.
    pub lineages: Vec<String>,
}

impl Findings {
    /// The record of a triage that began at `started` (seconds since 1970) and took so many seconds.
    pub fn of(outcome: &Outcome, decoders: &[&dyn Decoder], started: u64, seconds: f64) -> Self {
        let mut clusters: Vec<Cluster> = outcome.clusters.iter().map(cluster).collect();
        clusters.sort_by_key(|cluster| ["new", "regression", "known"].iter().position(|name| *name == cluster.status));
        Self {
            schema: 1,
            version: env!("CARGO_PKG_VERSION").into(),
            started,
            seconds,
            machine: machine(),
            decoders: decoders.iter().map(|decoder| asked(*decoder)).collect(),
            targets: Vec::new(),
            inputs: outcome.inputs,
            quiet: outcome.quiet,
            clusters,
            agreement: agreement(outcome, decoders),
            history: Vec::new(),
            unread: outcome.unread.clone(),
            slow: outcome.slow.iter().map(|file| named(file)).collect(),
            faults: Vec::new(),
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

    /// Enters the file in which the witness of a signature is kept.
    pub fn enter_kept(&mut self, signature: &str, file: &Path) {
        for member in self.clusters.iter_mut().flat_map(|cluster| &mut cluster.members) {
            if member.signature == signature {
                member.kept = Some(named(file));
            }
        }
    }
}

impl Agreement {
    /// On how many inputs two decoders, by their places, say the same, and of how many; nothing where the record has none.
    fn pair(&self, row: usize, column: usize) -> (u64, u64) {
        let of = |table: &[Vec<u64>]| table.get(row).and_then(|row| row.get(column)).copied().unwrap_or(0);
        (of(&self.same), of(&self.asked))
    }
}

/// Writes the findings in every format into a directory, which is made if need be: `report.json`, `report.md`,
/// `report.junit.xml`, `report.sarif` and `report.html`. Nothing is written unless all of them can be rendered, and each
/// file is replaced whole or not at all.
///
/// # Errors
/// The directory or a file in it cannot be written.
pub fn write_all(findings: &Findings, directory: &Path) -> Result<(), Error> {
    let formats: [(&str, &dyn Exporter); 5] = [
        ("report.json", &Json),
        ("report.md", &Markdown),
        ("report.junit.xml", &Junit),
        ("report.sarif", &Sarif),
        ("report.html", &Html),
    ];
    let mut files = Vec::new();
    for (name, format) in formats {
        let (path, mut text) = (directory.join(name), Vec::new());
        format.export(findings, &mut text).map_err(|error| Error::io(&path, &error))?;
        files.push((path, text));
    }
    std::fs::create_dir_all(directory).map_err(|error| Error::io(directory, &error))?;
    files.iter().try_for_each(|(path, text)| replace_file(path, text))
}

fn machine() -> Machine {
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    Machine {
        target: env!("UTFUZZ_TARGET").into(),
        features: owned(peers::features()),
        missing: owned(peers::missing()),
        threads: std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get),
    }
}

fn agreement(outcome: &Outcome, decoders: &[&dyn Decoder]) -> Agreement {
    let seeds = seeds::differential();
    let members = outcome.clusters.iter().flat_map(|cluster| &cluster.members);
    let witnesses = members.map(|member| &member.witness.input.bytes);
    let inputs = seeds.values().chain(witnesses).map(Vec::as_slice);
    let crate::explain::Agreement { inputs, decoders, same, asked } = crate::explain::Agreement::of(decoders, inputs);
    Agreement { inputs, decoders: decoders.into_iter().map(Into::into).collect(), same, asked }
}

/// A file's name for the record: from the current directory on where it is below that.
fn named(file: &Path) -> String {
    let here = std::env::current_dir().ok();
    let short = here.and_then(|here| file.strip_prefix(here).ok()).unwrap_or(file);
    short.to_string_lossy().into_owned()
}

fn asked(decoder: &dyn Decoder) -> Asked {
    let info = decoder.info();
    Asked { name: info.name.clone().into(), version: info.version.clone().into(), contract: info.contract.to_string() }
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
    let answers = divergence.grid.questions.iter().flat_map(|question| {
        question.groups.iter().map(|group| Answer {
            question: question.name.into(),
            answer: group.answer.clone(),
            arbiter: group.arbiter,
            breaches: group.breaches.iter().map(|breach| breach.decoder.to_string()).collect(),
            decoders: group.decoders.iter().map(ToString::to_string).collect(),
            lineages: group.lineages.clone(),
        })
    });
    Member {
        signature: signature.to_string(),
        others: member.others.iter().map(ToString::to_string).collect(),
        law: signature.law.name().into(),
        decoder: signature.decoder.clone().into(),
        version: divergence.version.clone().into(),
        subject: signature.subject.name().into(),
        shape: signature.shape.to_string(),
        status: status.into(),
        known_as,
        inputs: member.finding.inputs,
        files: member.finding.files.iter().map(|file| named(file)).collect(),
        kept: None,
        witness_hex: hex(&witness.input.bytes),
        notation: notation(&witness.input.bytes),
        cuts: witness.input.cuts.clone(),
        agreeing_hex: witness.agreeing.as_deref().map(hex),
        agreeing: witness.agreeing.as_deref().map(notation),
        rule: divergence.rule.as_ref().map(|rule| Rule { says: rule.says.clone(), source: rule.source.to_string() }),
        annotated: annotate(&divergence.contract, &witness.input.bytes),
        answers: answers.collect(),
        test: divergence.test().to_owned(),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}
