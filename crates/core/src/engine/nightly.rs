//! A night of fuzzing: every target runs for its share of the time, its findings are triaged, and the corpus is merged
//! for the next night.
//!
//! All persistent state is in one directory, which CI keeps from night to night:
//!
//! ```text
//! state.json            the progress of this night, from which the next start resumes
//! TARGET/corpus/        inputs that libFuzzer found worth keeping
//! TARGET/artifacts/     inputs on which it crashed, this night
//! TARGET/reported       the signatures of these; a target goes on after one that is in it three times
//! before/STARTED/       the artifacts of the last seven nights
//! ```
//! A target runs in libFuzzer's fork mode: it continues after every crash. The targets write their files themselves, and
//! the state is replaced atomically, so these exist no matter how this process ends.

use crate::case::input::files_below;
use crate::decoder::Decoder;
use crate::engine::fuzz::REPORTED;
use crate::engine::targets::{FuzzTarget, Log, Programs, Sanitizer, fuzzed};
use crate::error::Error;
use crate::generate;
use crate::generate::input_file::Form;
use crate::io::{create_file, fresh_file, lock_file, read_regular, replace_file};
use crate::text::shown;
use crate::triage::ledger::Ledger;
use crate::triage::{Outcome, Status, regression, triage};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// The error if a night is interrupted by [`Options::stop`].
pub const INTERRUPTED: &str = "interrupted; the same command continues where it ended";

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
    /// If it is set while a target runs, that target is ended, and the night is interrupted.
    pub stop: Arc<AtomicBool>,
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
/// of it that is done; `report` with the complete result. The night ends when `report` succeeds: if it fails, or the process
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
    let programs = Programs::build(&options.fuzz, targets.iter().copied(), Sanitizer::Address)?;
    let share = options.time / targets.len().max(1) as u32;
    for target in targets {
        let name = target.name;
        let seeds = seeds(&target, options)?;
        let run = Run {
            programs: &programs,
            target: &target,
            decoders: &options.decoders,
            directory: options.directory.join(name),
            seeds,
            jobs: options.jobs,
            stop: &options.stop,
        };
        let progress = |part: f64| progress(name, part);
        faults.extend(run.fuzz(share, &mut state, &progress)?);
        faults.extend(run.merge(&mut state)?);
    }
    let conversions = artifacts(&options.directory, true)?;
    // The report names files where they are after the night.
    let later = |file: &Path| where_put_away(&options.directory, state.started, file);
    let deviates = |file: &PathBuf| {
        let file = shown(&later(file));
        format!("{file}: a conversion deviates; see `cargo fuzz run roundtrip {file}`")
    };
    faults.extend(conversions.iter().map(deviates));
    let files = artifacts(&options.directory, false)?;
    let mut outcome = triage(decoders, ledger, &files, Some(&options.regressions), progress)?;
    let members = outcome.clusters.iter_mut().flat_map(|cluster| &mut cluster.members);
    let named = members.flat_map(|member| &mut member.finding.files).chain(&mut outcome.slow);
    named.for_each(|file| *file = later(file));
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

/// The directory to which the artifacts of a target are moved after the night that started then.
fn before(directory: &Path, started: u64, target: &str) -> PathBuf {
    directory.join("before").join(started.to_string()).join(target)
}

/// Where a file is after [`put_away`].
fn where_put_away(directory: &Path, started: u64, file: &Path) -> PathBuf {
    let moved = |target: &FuzzTarget| {
        let rest = file.strip_prefix(directory.join(target.name).join("artifacts")).ok()?;
        Some(before(directory, started, target.name).join(rest))
    };
    fuzzed().find_map(|target| moved(&target)).unwrap_or_else(|| file.to_owned())
}

/// Moves the artifacts of a night that has ended to `before/`. Those that stay where they are, because the process is
/// killed, are triaged again in the next night.
fn put_away(directory: &Path, started: u64) -> Result<(), Error> {
    /// The number of nights whose artifacts are kept.
    const NIGHTS: usize = 7;
    let nights = directory.join("before");
    make(&nights.join(started.to_string()))?;
    for target in fuzzed() {
        let artifacts = directory.join(target.name).join("artifacts");
        if artifacts.is_dir() {
            fs::rename(&artifacts, before(directory, started, target.name))
                .map_err(|error| Error::io(&artifacts, &error))?;
        }
        match fs::remove_file(directory.join(target.name).join("reported")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(Error::io(directory, &error)),
            _ => {}
        }
    }
    let mut nights: Vec<PathBuf> = fs::read_dir(&nights)
        .map_err(|error| Error::io(&nights, &error))?
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

/// One target of a night.
struct Run<'a> {
    programs: &'a Programs,
    target: &'a FuzzTarget,
    /// Which decoders it judges.
    decoders: &'a str,
    /// Its directory, below the directory of the night.
    directory: PathBuf,
    /// The directories of seeds, which are only read.
    seeds: Vec<PathBuf>,
    jobs: usize,
    /// See [`Options::stop`].
    stop: &'a AtomicBool,
}

impl Run<'_> {
    fn corpus(&self) -> PathBuf {
        self.directory.join("corpus")
    }

    /// The inputs on which it crashed.
    fn artifacts(&self) -> PathBuf {
        self.directory.join("artifacts")
    }

    fn program(&self) -> PathBuf {
        self.programs.program(self.target)
    }

    /// Runs it for the rest of its time. Returns what went wrong.
    fn fuzz(&self, time: Duration, state: &mut State, progress: &dyn Fn(f64)) -> Result<Vec<String>, Error> {
        let name = self.target.name;
        self.undo_merge()?;
        make(&self.corpus())?;
        make(&self.artifacts())?;
        let done = state.of(name).clone();
        end_group(done.group, &self.program());
        let left = time.saturating_sub(Duration::try_from_secs_f64(done.seconds).unwrap_or_default());
        if done.merged || left < Duration::from_secs(1) {
            return Ok(Vec::new());
        }
        state.of(name).prior_executions = done.executions;
        let mut command = self.command();
        command
            .arg(format!("-fork={}", self.jobs))
            .args(["-ignore_crashes=1", "-ignore_timeouts=1", "-ignore_ooms=1"])
            .arg(format!("-max_total_time={}", left.as_secs()))
            .arg(self.corpus())
            .args(&self.seeds);
        let log = self.directory.join("fuzz.log");
        let start = Instant::now();
        let seconds = |elapsed: Duration| time.as_secs_f64() - left.as_secs_f64() + elapsed.as_secs_f64();
        // In fork mode libFuzzer checks the time only between jobs.
        let ended = self.watched(command, &log, left + Duration::from_secs(60), state, &|state, elapsed| {
            let done = state.of(name);
            let ran = executions(&log);
            // If it is killed while it still reads its seeds, the time spent on that does not count.
            if ran > 0 {
                done.seconds = seconds(elapsed);
            }
            done.executions = done.prior_executions + ran;
            progress((seconds(elapsed) / time.as_secs_f64().max(1.0)).min(1.0));
        })?;
        /// libFuzzer reads its clock in whole seconds.
        const MARGIN: Duration = Duration::from_secs(2);
        let ran_for = start.elapsed();
        state.of(name).seconds = seconds(ran_for);
        state.of(name).corpus = files_below(&self.corpus())?.len() as u64;
        state.save()?;
        let what = match state.of(name).executions > done.executions {
            false => "nothing was run".to_owned(),
            true if ran_for + MARGIN < left => {
                format!("it ended after {} of {} s", ran_for.as_secs(), left.as_secs())
            }
            true => return Ok(Vec::new()),
        };
        Ok(vec![format!("{}: {what} ({ended}); see {}", shown(&self.program()), shown(&log))])
    }

    /// Minimises the corpus without losing a feature that guides libFuzzer. If that fails, the corpus is unchanged.
    fn merge(&self, state: &mut State) -> Result<Vec<String>, Error> {
        if state.of(self.target.name).merged {
            return Ok(Vec::new());
        }
        /// A merge that takes longer than this is abandoned until another night.
        const TIMEOUT: Duration = Duration::from_secs(600);
        let (corpus, smaller) = (self.corpus(), self.directory.join("corpus.new"));
        remove(&smaller)?;
        make(&smaller)?;
        let mut command = self.command();
        command.arg("-merge=1").arg(&smaller).arg(&corpus);
        let ended = self.watched(command, &self.directory.join("merge.log"), TIMEOUT, state, &|_, _| {})?;
        let merged = ended.starts_with("exit status: 0");
        if merged {
            let larger = self.directory.join("corpus.old");
            remove(&larger)?;
            fs::rename(&corpus, &larger).map_err(|error| Error::io(&corpus, &error))?;
            fs::rename(&smaller, &corpus).map_err(|error| Error::io(&smaller, &error))?;
            remove(&larger)?;
        } else {
            remove(&smaller)?;
        }
        let files = files_below(&corpus)?.len() as u64;
        let done = state.of(self.target.name);
        (done.merged, done.corpus) = (true, files);
        state.save()?;
        Ok(if merged { Vec::new() } else { vec![format!("{}: not merged: {ended}", shown(&corpus))] })
    }

    /// Undoes a merge that was interrupted between its two renames: the larger corpus is put back.
    fn undo_merge(&self) -> Result<(), Error> {
        let (corpus, larger) = (self.corpus(), self.directory.join("corpus.old"));
        if !corpus.is_dir() && larger.is_dir() {
            fs::rename(&larger, &corpus).map_err(|error| Error::io(&larger, &error))?;
        }
        Ok(())
    }

    fn command(&self) -> Command {
        let mut command = self.programs.command(self.target, self.decoders, &self.artifacts());
        command.env(REPORTED, self.directory.join("reported"));
        command
    }

    /// Runs a command in its own process group with its output in a log, and kills it after `timeout`. Returns how it
    /// ended.
    ///
    /// # Errors
    /// A file cannot be written, or the night is interrupted.
    fn watched(
        &self,
        mut command: Command,
        log: &Path,
        timeout: Duration,
        state: &mut State,
        on_tick: &dyn Fn(&mut State, Duration),
    ) -> Result<String, Error> {
        const EVERY: Duration = Duration::from_millis(500);
        let file = fresh_file(log)?;
        let copy = file.try_clone().map_err(|error| Error::io(log, &error))?;
        let start = Instant::now();
        let child = command.stdout(file).stderr(copy).process_group(0).spawn();
        let mut child = match child {
            Ok(child) => child,
            Err(error) => return Ok(format!("not started: {error}")),
        };
        let group = Some(child.id());
        state.of(self.target.name).group = group;
        state.save()?;
        let ended: Result<ExitStatus, String> = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Ok(status),
                Ok(None) if start.elapsed() < timeout && !self.stop.load(Ordering::Relaxed) => {
                    // A second ^C ends this process, and the target must have ended by then.
                    let next = Instant::now() + EVERY;
                    while Instant::now() < next && !self.stop.load(Ordering::Relaxed) {
                        std::thread::sleep(Duration::from_millis(10));
                    }
                }
                Ok(None) => {
                    if !kill_group(child.id()) {
                        let _ = child.kill();
                    }
                    let _ = child.wait();
                    break Err(format!("ended after {} s", timeout.as_secs()));
                }
                Err(error) => break Err(error.to_string()),
            }
            on_tick(state, start.elapsed());
            state.save()?;
        };
        on_tick(state, start.elapsed());
        state.of(self.target.name).group = None;
        state.save()?;
        if self.stop.load(Ordering::Relaxed) {
            return Err(Error::usage(INTERRUPTED));
        }
        Ok(ended.map_or_else(|message| message, |status| status.to_string()))
    }
}

/// The number of executions that libFuzzer reports at the end of its log.
fn executions(log: &Path) -> u64 {
    const END: u64 = 1 << 16;
    let read = || -> std::io::Result<String> {
        let mut file = fs::File::open(log)?;
        let from = file.metadata()?.len().saturating_sub(END);
        file.seek(SeekFrom::Start(from))?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    };
    Log(&read().unwrap_or_default()).executions().unwrap_or(0)
}

/// Kills a target's process group, of this start or an earlier one, if it still runs this program.
fn end_group(group: Option<u32>, program: &Path) {
    let Some(group) = group else { return };
    let runs = fs::read_link(format!("/proc/{group}/exe"));
    let same = runs.is_ok_and(|runs| program.canonicalize().is_ok_and(|program| program == runs));
    if same {
        kill_group(group);
    }
}

/// Returns whether the processes of the group were killed.
fn kill_group(group: u32) -> bool {
    let kill = Command::new("kill").args(["-KILL", "--", &format!("-{group}")]).status();
    kill.is_ok_and(|status| status.success())
}

fn remove(directory: &Path) -> Result<(), Error> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io(directory, &error)),
        _ => Ok(()),
    }
}

/// The progress of a night.
#[derive(Debug, Serialize, Deserialize)]
struct State {
    /// When the night began, in seconds since 1970; this identifies it.
    started: u64,
    targets: BTreeMap<String, Done>,
    /// Signatures that were new this night.
    new: BTreeSet<String>,
    #[serde(skip)]
    path: PathBuf,
    /// The operating system releases it when the process ends, even if it is killed.
    #[serde(skip)]
    _lock: Option<fs::File>,
}

/// One target's part of a night.
#[derive(Clone, Debug)]
pub struct TargetRun {
    /// Its name.
    pub name: String,
    /// How long it ran, in seconds.
    pub seconds: f64,
    /// The number of executions.
    pub executions: u64,
    /// How many files its corpus has now.
    pub corpus: u64,
}

/// One target's part, as stored in the state.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
struct Done {
    /// Seconds it has run.
    seconds: f64,
    executions: u64,
    /// Executions of finished runs; the others are of the current run.
    prior_executions: u64,
    corpus: u64,
    merged: bool,
    /// The process group of the current run, if there is one.
    group: Option<u32>,
}

impl Done {
    /// Restricts a damaged state to values that can be added up and written.
    fn restrict(&mut self) {
        const DAY: f64 = 86_400.0;
        self.seconds = self.seconds.clamp(0.0, 1000.0 * DAY);
        for count in [&mut self.executions, &mut self.prior_executions, &mut self.corpus] {
            *count = (*count).min(1 << 56);
        }
    }

    fn to_run(&self, name: &str) -> TargetRun {
        TargetRun { name: name.into(), seconds: self.seconds, executions: self.executions, corpus: self.corpus }
    }
}

impl State {
    /// The state of the interrupted night in this directory, or of a new night.
    ///
    /// # Errors
    /// It cannot be read or written.
    fn open(directory: &Path) -> Result<Self, Error> {
        let path = directory.join("state.json");
        let lock = Some(locked(&directory.join("lock"))?);
        // Only this program writes it, and atomically, so a file that cannot be parsed is of another version.
        if let Some(mut state) = read_regular(&path).ok().and_then(|text| serde_json::from_slice::<Self>(&text).ok()) {
            state.targets.values_mut().for_each(Done::restrict);
            return Ok(Self { path, _lock: lock, ..state });
        }
        let started = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let state = Self { started, targets: BTreeMap::new(), new: BTreeSet::new(), path, _lock: lock };
        state.save()?;
        Ok(state)
    }

    /// Saves it.
    ///
    /// # Errors
    /// It cannot be written.
    fn save(&self) -> Result<(), Error> {
        replace_file(&self.path, &serde_json::to_vec_pretty(self).unwrap_or_default())
    }

    /// Ends the night in this directory.
    ///
    /// # Errors
    /// The file cannot be removed.
    fn forget(directory: &Path) -> Result<(), Error> {
        let path = directory.join("state.json");
        fs::remove_file(&path).map_err(|error| Error::io(&path, &error))
    }

    fn of(&mut self, target: &str) -> &mut Done {
        self.targets.entry(target.into()).or_default()
    }
}

/// Creates a directory if it does not exist.
fn make(directory: &Path) -> Result<(), Error> {
    fs::create_dir_all(directory).map_err(|error| Error::io(directory, &error))
}

/// A file that no other process can lock while this one holds it.
fn locked(path: &Path) -> Result<fs::File, Error> {
    lock_file(path)?.ok_or_else(|| {
        let path = shown(path);
        Error::usage(format!("{path}: another night runs here; wait for it, or name another --state"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a script as the target `differential`, in this directory, and returns what went wrong and the state.
    fn fuzz(
        scratch: &Path,
        script: &str,
        seconds: u64,
        stop: &AtomicBool,
        progress: &dyn Fn(f64),
    ) -> (Result<Vec<String>, Error>, State) {
        // Written by another process: a process that a test beside this one starts would inherit the open file, and a
        // file that is open for writing cannot be executed.
        let write = "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$0\" && chmod +x \"$0\"";
        let program = scratch.join("differential");
        assert!(Command::new("sh").arg("-c").arg(write).arg(&program).arg(script).status().unwrap().success());
        let mut state = State::open(scratch).unwrap();
        let run = Run {
            programs: &Programs::in_directory(scratch.to_owned()),
            target: &fuzzed().find(|target| target.name == "differential").unwrap(),
            decoders: "",
            directory: scratch.join("night"),
            seeds: Vec::new(),
            jobs: 1,
            stop,
        };
        (run.fuzz(Duration::from_secs(seconds), &mut state, progress), state)
    }

    /// These programs run as long as they are told to, or end early.
    #[test]
    fn a_target_that_ends_early_is_a_fault() {
        let whole = "for a; do case $a in -max_total_time=*) sleep ${a#*=};; esac; done; echo '#5 done'";
        for (script, seconds, says) in [
            (whole, 1, None),
            ("echo '#5 done'; kill -9 $$", 9, Some("it ended after 0 of 9 s (signal: 9 (SIGKILL))")),
            ("exit 3", 1, Some("nothing was run (exit status: 3)")),
        ] {
            let scratch = tempfile::tempdir().unwrap();
            let faults = fuzz(scratch.path(), script, seconds, &AtomicBool::new(false), &|_| ()).0.unwrap();
            assert_eq!(faults.len(), usize::from(says.is_some()), "{faults:?}");
            assert!(says.is_none_or(|says| faults[0].contains(says) && faults[0].contains("fuzz.log")), "{faults:?}");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_target_does_not_outlive_an_interrupted_night() {
        let scratch = tempfile::tempdir().unwrap();
        // It starts a process of its own, as libFuzzer does with -fork.
        let script = "sleep 60 & echo $! >\"$0.child\"; wait";
        let stop = AtomicBool::new(false);
        let child = scratch.path().join("differential.child");
        let started = || fs::read_to_string(&child).is_ok_and(|child| child.ends_with('\n'));
        // Progress is told twice a second.
        let progress = |_| stop.store(started(), Ordering::Relaxed);
        let (ended, mut state) = fuzz(scratch.path(), script, 50, &stop, &progress);
        assert!(ended.is_err_and(|error| error.to_string().contains("interrupted")));
        assert_eq!(state.of("differential").group, None);
        let process = PathBuf::from(format!("/proc/{}/stat", fs::read_to_string(&child).unwrap().trim()));
        let runs = || fs::read_to_string(&process).is_ok_and(|stat| !stat.contains(") Z "));
        let start = Instant::now();
        while runs() && start.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(10));
        }
        assert!(!runs());
    }

    #[test]
    fn files_are_named_where_they_are_put_away() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path();
        let artifact = directory.join("streaming/artifacts/a/crash-1");
        make(artifact.parent().unwrap()).unwrap();
        fs::write(&artifact, "x").unwrap();
        let later = where_put_away(directory, 7, &artifact);
        assert!(!later.exists());
        put_away(directory, 7).unwrap();
        assert!(later.exists() && !artifact.exists());
        let elsewhere = Path::new("corpus/regressions/a.bin");
        assert_eq!(where_put_away(directory, 7, elsewhere), elsewhere);
    }

    #[test]
    fn a_damaged_state_is_restricted() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path();
        let of = |seconds: &str| {
            format!(
                r#"{{"seconds":{seconds},"executions":{0},"prior_executions":{0},"corpus":{0},"merged":false,"group":0}}"#,
                u64::MAX
            )
        };
        let text = format!(
            r#"{{"started":7,"targets":{{"a":{},"b":{},"c":{}}},"new":[]}}"#,
            of("-1e300"),
            of("1e308"),
            of("1e308")
        );
        fs::write(directory.join("state.json"), text).unwrap();
        let state = State::open(directory).unwrap();
        assert_eq!((state.started, state.targets.len()), (7, 3));
        let seconds: f64 = state.targets.values().map(|done| done.seconds).sum();
        assert!(Duration::try_from_secs_f64(seconds).is_ok(), "{seconds}");
        let runs = || state.targets.iter().map(|(name, done)| done.to_run(name));
        assert!(runs().try_fold(0u64, |sum, run| sum.checked_add(run.executions)).is_some());
        assert!(runs().try_fold(0u64, |sum, run| sum.checked_add(run.corpus)).is_some());
        state.save().unwrap();
        assert!(State::open(directory).is_err(), "it is locked");
        drop(state);
        assert_eq!(State::open(directory).unwrap().started, 7);
    }
}
