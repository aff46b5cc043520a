//! A night of fuzzing: every target runs for its share of the time, its findings are triaged, and the corpus is merged
//! for the next night.
//!
//! All persistent state is in one directory, which CI keeps from night to night:
//!
//! ```text
//! state.json            the progress of this night, from which the next start resumes
//! TARGET/corpus/        inputs that libFuzzer found worth keeping
//! TARGET/artifacts/     inputs on which it crashed, this night
//! before/STARTED/       the artifacts of the last seven nights
//! ```
//! The targets write their files themselves, so these exist no matter how this process ends.

mod run;

pub use run::TargetRun;

use crate::case::input::files_below;
use crate::decoder::Decoder;
use crate::engine::fuzz::DECODERS;
use crate::engine::libfuzzer::Programs;
use crate::engine::targets::{FuzzTarget, fuzzed};
use crate::error::Error;
use crate::generate;
use crate::generate::input_file::Form;
use crate::io::create_file;
use crate::text::shown;
use crate::triage::ledger::Ledger;
use crate::triage::{Outcome, Status, regression, triage};
use run::{Run, State, make};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The options of a night.
#[derive(Clone, Debug)]
pub struct Options {
    /// The total time for all targets.
    pub time: Duration,
    /// How many processes of a target run in parallel.
    pub jobs: usize,
    /// The root of the repository, for the seeds.
    pub root: PathBuf,
    /// The directory of the crate of fuzz targets.
    pub fuzz: PathBuf,
    /// The directory of the night.
    pub directory: PathBuf,
    /// Where new signatures are kept.
    pub regressions: PathBuf,
    /// Which decoders: a filter, see [`crate::peers::select`].
    pub decoders: String,
}

/// The result of a night.
#[derive(Debug)]
pub struct Night {
    /// When it began, in seconds since 1970.
    pub started: u64,
    /// How long it took, in seconds, over all its starts.
    pub seconds: f64,
    /// The triage of all inputs on which the targets crashed.
    pub outcome: Outcome,
    /// Each new signature, and the file with its witness.
    pub kept: Vec<(String, PathBuf)>,
    /// What each target did.
    pub targets: Vec<TargetRun>,
    /// Targets that failed to run, and conversions that deviate.
    pub faults: Vec<String>,
}

/// Runs a night, or the rest of one that was interrupted. `progress` is called with the current step and the fraction
/// that is done; `report` with the complete result. The night ends when `report` succeeds: if it fails, or the process
/// is killed before, the next start completes the same night.
///
/// # Errors
/// A directory cannot be read or written, another night is running in it, the targets cannot be built, or `report`
/// fails. A target that fails to run is not an error but one of [`Night::faults`].
pub fn run(
    decoders: &[&dyn Decoder],
    ledger: &Ledger,
    options: &Options,
    progress: &(dyn Fn(&'static str, f64) + Sync),
    report: &mut dyn FnMut(&Night) -> Result<(), Error>,
) -> Result<(), Error> {
    make(&options.directory)?;
    let mut state = State::open(&options.directory)?;
    // Earlier starts of this night count too.
    let earlier: f64 = state.targets.values().map(|done| done.seconds).sum();
    let start = Instant::now();
    let mut faults = Vec::new();
    progress("building", 0.0);
    let targets: Vec<FuzzTarget> = fuzzed().filter(|target| target.is_in(&options.fuzz)).collect();
    let programs = Programs::build(&options.fuzz, targets.iter().copied())?;
    let count = targets.len();
    let share = options.time / count.max(1) as u32;
    for (index, target) in targets.into_iter().enumerate() {
        let name = target.name;
        let seeds = seeds(&target, options)?;
        let run = Run {
            program: programs.program(&target),
            name,
            directory: options.directory.join(name),
            seeds,
            jobs: options.jobs,
            options: crate::engine::libfuzzer::lengths(&target),
            environment: vec![(DECODERS.into(), options.decoders.clone())],
        };
        let progress = |part: f64| progress(name, (index as f64 + part) / count as f64);
        faults.extend(run.fuzz(share, &mut state, &progress)?);
        faults.extend(run.merge(&mut state)?);
    }
    let conversions = artifacts(&options.directory, true)?;
    let deviates = |file: &PathBuf| {
        let file = shown(file);
        format!("{file}: a conversion deviates; see `cargo fuzz run roundtrip {file}`")
    };
    faults.extend(conversions.iter().map(deviates));
    let files = artifacts(&options.directory, false)?;
    let mut outcome = triage(decoders, ledger, &files, Some(&options.regressions), progress)?;
    let unread = outcome.unread.len();
    faults.extend((unread > 0).then(|| format!("{unread} files could not be read")));
    keep_new(&mut outcome, &mut state)?;
    let mut kept = Vec::new();
    for member in outcome.new_members() {
        let signature = &member.witness.signature;
        match regression::keep(&options.regressions, signature, &member.witness.input) {
            Ok(file) => kept.push((signature.to_string(), file)),
            // The report is more important.
            Err(error) => faults.push(format!("{signature} is not kept: {error}")),
        }
    }
    report(&Night {
        started: state.started,
        seconds: earlier + start.elapsed().as_secs_f64(),
        outcome,
        kept,
        targets: state.targets.iter().map(|(name, done)| done.to_run(name)).collect(),
        faults,
    })?;
    State::forget(&options.directory)?;
    put_away(&options.directory, state.started)
}

/// The directories of seeds: the committed ones, what `cargo fuzz run` found, and the kept regressions. If there are no
/// committed ones, seeds are written.
fn seeds(target: &FuzzTarget, options: &Options) -> Result<Vec<PathBuf>, Error> {
    let mut seeds: Vec<PathBuf> = target.seeds.iter().map(|path| options.root.join(path)).collect();
    seeds.retain(|path| path.is_dir());
    if seeds.is_empty() {
        let directory = options.directory.join(target.name).join("seeds");
        make(&directory)?;
        for (name, bytes) in generate::seeds::differential() {
            create_file(&directory.join(name), &bytes)?;
        }
        seeds.push(directory);
    }
    let others = [options.fuzz.join("corpus").join(target.name), options.regressions.clone()];
    let others = others.into_iter().filter(|path| path.is_dir() && !seeds.contains(path)).collect::<Vec<_>>();
    seeds.extend(others);
    Ok(seeds)
}

/// Moves the artifacts of a night that has ended to `before/`. Those that stay where they are, because the process is
/// killed, are triaged again in the next night.
fn put_away(directory: &Path, started: u64) -> Result<(), Error> {
    /// The number of nights whose artifacts are kept.
    const NIGHTS: usize = 7;
    let before = directory.join("before");
    let this = before.join(started.to_string());
    make(&this)?;
    for target in fuzzed() {
        let artifacts = directory.join(target.name).join("artifacts");
        if artifacts.is_dir() {
            fs::rename(&artifacts, this.join(target.name)).map_err(|error| Error::io(&artifacts, &error))?;
        }
    }
    let mut nights: Vec<PathBuf> = fs::read_dir(&before)
        .map_err(|error| Error::io(&before, &error))?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir())
        .collect();
    nights.sort();
    for night in nights.iter().rev().skip(NIGHTS) {
        fs::remove_dir_all(night).map_err(|error| Error::io(night, &error))?;
    }
    Ok(())
}

/// The inputs on which the targets crashed: either inputs for decoders, or conversions.
fn artifacts(directory: &Path, conversions: bool) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for target in fuzzed().filter(|target| (target.form == Form::Conversion) == conversions) {
        let artifacts = directory.join(target.name).join("artifacts");
        if artifacts.is_dir() {
            files.extend(files_below(&artifacts)?);
        }
    }
    Ok(files)
}

/// A signature that was new before this night was interrupted is still new, even if its regression file has been
/// written.
fn keep_new(outcome: &mut Outcome, state: &mut State) -> Result<(), Error> {
    for member in outcome.clusters.iter_mut().flat_map(|cluster| &mut cluster.members) {
        let signature = member.witness.signature.to_string();
        if matches!(member.status, Status::Regression(_)) && state.new.contains(&signature) {
            member.status = Status::New;
        }
    }
    state.new.extend(outcome.new_members().map(|member| member.witness.signature.to_string()));
    state.save()
}
