//! A night of fuzzing: every target gets its time, what they find is triaged, and the corpus is merged for the next one.
//!
//! All that must not be lost lies in one directory (`target/night` unless another is named), which CI keeps from night to
//! night:
//!
//! ```text
//! state.json            how far this night has come; a second start goes on from there
//! TARGET/corpus/        what libFuzzer has found worth keeping
//! TARGET/artifacts/     what it has stopped at, this night
//! before/STARTED/       the artifacts of earlier nights, the last seven
//! ```
//! What a target writes there it writes itself, so it is there whenever this process ends, however it ends.

mod state;
mod target;

use crate::case::files::files_below;
use crate::decoder::Decoder;
use crate::engine::fuzz::DECODERS;
use crate::engine::targets::Targets;
use crate::error::Error;
use crate::report::findings::{Findings, Night, append, history, write_all};
use crate::text::shown;
use crate::triage::ledger::Ledger;
use crate::triage::{Outcome, Status, regression, triage};
use state::State;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The targets of a night, each with its committed seeds.
pub const TARGETS: [(&str, &[&str]); 4] = [
    ("differential", &["corpus/differential", "corpus/regressions"]),
    ("relatives", &["corpus/relatives", "corpus/regressions"]),
    ("streaming", &["corpus/streaming"]),
    ("structured", &[]),
];

/// What to do.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long the targets run, all together.
    pub time: Duration,
    /// How many processes of a target run at a time.
    pub jobs: usize,
    /// The root of the repository.
    pub root: PathBuf,
    /// Where the night is kept.
    pub directory: PathBuf,
    /// Where new signatures are kept.
    pub regressions: PathBuf,
    /// Where its reports are written.
    pub reports: PathBuf,
    /// The file with a line for each night.
    pub history: PathBuf,
    /// Which decoders: a filter, see [`crate::peers::select`].
    pub decoders: String,
}

/// Runs a night, or the rest of one that was broken off, to its reports. `progress` is told what is done and the share of
/// it.
///
/// # Errors
/// A directory cannot be read or written, another night runs in it, or no target can be built. A target that does not run is a fault in the
/// findings.
pub fn run(
    decoders: &[&dyn Decoder],
    ledger: &Ledger,
    options: &Options,
    progress: &(dyn Fn(&'static str, f64) + Sync),
) -> Result<Findings, Error> {
    make(&options.directory)?;
    let mut state = State::open(&options.directory)?;
    // What an earlier start has done counts too.
    let earlier: f64 = state.targets.values().map(|done| done.seconds).sum();
    let start = Instant::now();
    let mut faults = Vec::new();
    progress("building", 0.0);
    let targets = Targets::build(&options.root, &TARGETS.map(|(name, _)| name))?;
    let share = options.time / TARGETS.len() as u32;
    for (index, (name, seeds)) in TARGETS.iter().enumerate() {
        let seeds: Vec<PathBuf> =
            seeds.iter().map(|path| options.root.join(path)).filter(|path| path.is_dir()).collect();
        let run = target::Run {
            program: targets.program(name),
            name,
            directory: options.directory.join(name),
            seeds,
            jobs: options.jobs,
            environment: vec![(DECODERS.into(), options.decoders.clone())],
        };
        let told = |part: f64| progress(name, (index as f64 + part) / TARGETS.len() as f64);
        faults.extend(run.fuzz(share, &mut state, &told)?);
        faults.extend(run.merge(&mut state)?);
    }
    let files = artifacts(&options.directory)?;
    let mut outcome = triage(decoders, ledger, &files, Some(&options.regressions), progress)?;
    remember_what_was_new(&mut outcome, &mut state)?;
    let mut findings = Findings::of(&outcome, decoders, state.started, earlier + start.elapsed().as_secs_f64());
    for member in outcome.new_members() {
        let signature = &member.witness.signature;
        let file = regression::keep(&options.regressions, signature, &member.witness.input)?;
        findings.enter_kept(&signature.to_string(), &file);
    }
    findings.targets = state.targets.iter().map(|(name, done)| done.told(name)).collect();
    findings.faults.extend(faults);
    write(&mut findings, &options.history, &options.reports)?;
    finish(&options.directory, findings.started)?;
    Ok(findings)
}

/// Writes down what a night found: a line in the history, once, and the reports.
fn write(findings: &mut Findings, file: &Path, reports: &Path) -> Result<(), Error> {
    let nights = history(file)?;
    // The line of a night that was broken off behind it is there.
    if nights.iter().all(|night| night.started != findings.started) {
        if let Some(directory) = file.parent() {
            make(directory)?;
        }
        append(file, &Night::of(findings))?;
    }
    findings.history = history(file)?;
    write_all(findings, reports)
}

/// Ends the night, once all that it found is written down: the artifacts are put by, and the next start is a new night.
fn finish(directory: &Path, started: u64) -> Result<(), Error> {
    /// So many nights' artifacts are kept.
    const NIGHTS: usize = 7;
    let before = directory.join("before");
    let this = before.join(started.to_string());
    make(&this)?;
    for (name, _) in TARGETS {
        let artifacts = directory.join(name).join("artifacts");
        if artifacts.is_dir() {
            fs::rename(&artifacts, this.join(name)).map_err(|error| Error::io(&artifacts, &error))?;
        }
    }
    let mut nights: Vec<PathBuf> = fs::read_dir(&before)
        .map_err(|error| Error::io(&before, &error))?
        .flatten()
        .map(|entry| entry.path())
        .collect();
    nights.sort();
    for night in nights.iter().rev().skip(NIGHTS) {
        fs::remove_dir_all(night).map_err(|error| Error::io(night, &error))?;
    }
    State::forget(directory)
}

fn make(directory: &Path) -> Result<(), Error> {
    fs::create_dir_all(directory).map_err(|error| Error::io(directory, &error))
}

/// What the targets have stopped at.
fn artifacts(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for (name, _) in TARGETS {
        let artifacts = directory.join(name).join("artifacts");
        if artifacts.is_dir() {
            files.extend(files_below(&artifacts)?);
        }
    }
    Ok(files)
}

/// What was new when this night was broken off, perhaps with the regression written already, is new still.
fn remember_what_was_new(outcome: &mut Outcome, state: &mut State) -> Result<(), Error> {
    for member in outcome.clusters.iter_mut().flat_map(|cluster| &mut cluster.members) {
        let signature = member.witness.signature.to_string();
        if matches!(member.status, Status::Regression(_)) && state.new.contains(&signature) {
            member.status = Status::New;
        }
    }
    state.new.extend(outcome.new_members().map(|member| member.witness.signature.to_string()));
    state.save()
}

/// The text of an error about a path.
fn at(path: &Path, message: impl std::fmt::Display) -> String {
    format!("{}: {message}", shown(path))
}
