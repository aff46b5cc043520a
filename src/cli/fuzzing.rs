//! Fuzzing in a project. `utfuzz nightly` runs the targets; `utfuzz replay`, `minimize` and `triage` are for files left by a fuzz
//! target or a user.

use crate::case::{Input, input};
use crate::cli::arguments::{Judging, Known, Selection, registered};
use crate::cli::output::{Bar, Failure, INTERRUPTED, Verdict, note, stop_when_interrupted};
use crate::cli::reports::write_night;
use crate::decoder::Decoder;
use crate::engine::check::replay;
use crate::engine::nightly;
use crate::engine::targets::fuzzed;
use crate::error::Error;
use crate::explain::notation;
use crate::generate::input_file;
use crate::report::{Clock, Exporter, Record, Text, history, write_all};
use crate::text::shown;
use crate::triage::ledger::Ledger;
use crate::triage::minimise::minimise;
use crate::triage::session::{Session, Shown};
use crate::triage::{Outcome, regression, triage};
use clap::Args;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// Group crash files by cause, minimise them, and report which are new
#[derive(Debug, Args)]
pub(super) struct Triage {
    /// Directories and files: crashes, timeouts, corpora, anything
    #[arg(required = true, value_name = "DIR")]
    paths: Vec<PathBuf>,
    /// Write the witnesses of new signatures into this directory; signatures that its files already show are not new
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Write report.json, .md, .junit.xml, .sarif and .html into this directory; they also show the nights in its history.jsonl
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    #[command(flatten)]
    judging: Judging,
}

impl Triage {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let boxes = self.judging.selection.decoders()?;
        let decoders: Vec<&dyn Decoder> = boxes.iter().map(|decoder| &**decoder).collect();
        let ledger = self.judging.ledger(self.judging.known.corpus()?.as_deref())?;
        let files = input::named_files(&self.paths, true)?;
        if files.is_empty() {
            return Err(Error::usage("the named directories contain no files; nothing was triaged").into());
        }
        let clock = Clock::start("utfuzz triage");
        let bar = Bar::new();
        let outcome = triage(&decoders, &ledger, &files, self.output.as_deref(), &|what, share| bar.show(what, share))?;
        bar.finish();
        let mut kept = Vec::new();
        let all_kept = self.output.as_ref().map_or(Ok(()), |directory| keep(&outcome, directory, &mut kept));
        let mut record = Record::of_triage(&clock, &decoders, &outcome, &kept);
        record.enter_ledger(self.judging.known.other_ledger(&self.judging.selection, Path::new("fuzz")).as_deref());
        let nights = self.report.as_ref().map(|directory| history(&directory.join("history.jsonl")));
        if let Some(Ok(nights)) = &nights {
            record.enter_history(nights.clone());
        }
        self.judging.print(&record, out)?;
        if !self.judging.json {
            kept.iter().try_for_each(|(_, file)| writeln!(out, "written: {}", shown(file)))?;
        }
        // What could not be read or written ends the triage only now, so that the text is not lost.
        all_kept?;
        nights.transpose()?;
        if let Some(directory) = &self.report {
            write_all(&record, directory)?;
        }
        if outcome.inputs == 0 {
            return Err(Error::usage("none of the files could be read; nothing was triaged").into());
        }
        let verdict = if outcome.new_members().next().is_none() { Verdict::Clean } else { Verdict::Diverged };
        // Those that were found in a directory are only reported.
        let is_named = |text: &&String| self.paths.iter().any(|path| text.starts_with(&format!("{}: ", shown(path))));
        verdict_unless_unread(verdict, outcome.unread.iter().filter(is_named).count())
    }
}

/// Keeps the witnesses of new signatures; adds each signature with its file to `kept`.
fn keep(outcome: &Outcome, directory: &Path, kept: &mut Vec<(String, PathBuf)>) -> Result<(), Error> {
    outcome.new_members().map(|member| &member.witness).try_for_each(|witness| {
        let file = regression::keep(directory, &witness.signature, &witness.input)?;
        kept.push((witness.signature.to_string(), file));
        Ok(())
    })
}

/// Reads a file. One that was found below a directory may be unreadable; then the inner error is the reason.
fn read_found(path: &PathBuf, named: &[PathBuf]) -> Result<Result<Input, Error>, Error> {
    match input_file::read(path) {
        Err(error) if named.contains(path) => Err(error),
        read => Ok(read),
    }
}

/// A failure if some files were not read, unless the verdict is worse.
fn verdict_unless_unread(verdict: Verdict, unread: usize) -> Result<Verdict, Failure> {
    match (verdict, unread) {
        (Verdict::Clean, 1..) => Err(Error::usage(format!("{unread} of the files could not be read")).into()),
        _ => Ok(verdict),
    }
}

/// Find the smallest input with the same signature
///
/// This is done for each decoder that diverges on a file. The nearest input on which the decoder is right is shown, too.
#[derive(Debug, Args)]
pub(super) struct Minimize {
    /// The files; those named *.cut, or in a directory named `streaming` or `structured`, are read as these
    /// fuzz targets read them
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Take every file below a directory
    #[arg(long, short)]
    recursive: bool,
    /// Write each witness into this directory, under its signature
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    known: Known,
}

impl Minimize {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let boxes = self.selection.decoders()?;
        let decoders: Vec<&dyn Decoder> = boxes.iter().map(|decoder| &**decoder).collect();
        let ledger = self.known.ledger(&self.selection, self.known.corpus()?.as_deref())?;
        // Known differences are minimised too, and looked up in the ledger afterwards.
        let everything = Ledger::default();
        let mut session = Session::new(decoders.iter().copied(), &everything);
        let (mut verdict, mut unread) = (Verdict::Clean, 0);
        let files = input::named_files(&self.paths, self.recursive)?;
        if files.is_empty() {
            return Err(Error::usage("the named directories contain no files; nothing was minimised").into());
        }
        for path in files {
            let input = match read_found(&path, &self.paths)? {
                Ok(input) => input,
                Err(error) => {
                    unread += 1;
                    writeln!(out, "unread: {error}")?;
                    continue;
                }
            };
            let found = session.judge(&input.case());
            if found.is_empty() {
                writeln!(out, "{}: shows nothing", shown(&path))?;
            }
            for found in found {
                let Shown::New(divergence) = found else { continue };
                let wrong = decoders.iter().find(|decoder| decoder.info().name == divergence.signature.decoder);
                let Some(&decoder) = wrong else { continue };
                let witness = minimise(decoder, &divergence);
                let signature = &witness.signature;
                let known = ledger.covers(decoder.info(), signature.law, signature.subject);
                let known = known.map_or(String::new(), |entry| format!(", known: {}", ledger.entries()[entry].id));
                if known.is_empty() {
                    verdict = Verdict::Diverged;
                }
                let (before, after) = (input.bytes.len(), witness.input.bytes.len());
                writeln!(out, "{}: {signature}{known}, {before} bytes to {after}", shown(&path))?;
                write!(out, "  {}", notation(&witness.input.bytes))?;
                match &witness.input.cuts {
                    Some(cuts) => writeln!(out, ", cut at {:?}", cuts.offsets())?,
                    None => writeln!(out)?,
                }
                if let Some(agreeing) = &witness.agreeing {
                    writeln!(out, "  agrees: {}", notation(agreeing))?;
                }
                if let Some(directory) = &self.output {
                    let file = regression::keep(directory, signature, &witness.input)?;
                    writeln!(out, "  written: {}", shown(&file))?;
                }
            }
        }
        verdict_unless_unread(verdict, unread)
    }
}

/// Judge decoders on files
///
/// Each file is exactly the bytes that decoders see, except files named *.cut or in a directory named `streaming` or
/// `structured`, which are read as these fuzz targets read them.
#[derive(Debug, Args)]
pub(super) struct Replay {
    /// Files, directories (every file below them is taken), or - for standard input
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Has no effect: directories need no option
    #[arg(long, short, hide = true)]
    recursive: bool,
    #[command(flatten)]
    judging: Judging,
}

impl Replay {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let boxes = self.judging.selection.decoders()?;
        let decoders: Vec<_> = boxes.iter().map(|decoder| &**decoder).collect();
        let ledger = self.judging.ledger(self.judging.known.corpus()?.as_deref())?;
        let is_input = |path: &&PathBuf| path.as_os_str() == "-";
        let (piped, named): (Vec<_>, Vec<_>) = self.paths.iter().partition(is_input);
        let named: Vec<PathBuf> = named.into_iter().cloned().collect();
        let mut files = input::named_files(&named, true)?;
        files.extend(piped.first().map(|path| path.to_path_buf()));
        if files.is_empty() {
            return Err(Error::usage("the named directories contain no files; nothing was judged").into());
        }
        let (mut inputs, mut unread) = (Vec::new(), Vec::new());
        for path in &files {
            let read = if is_input(&path) { Ok(standard_input()?) } else { read_found(path, &named)? };
            match read {
                Ok(input) => inputs.push((path.clone(), input)),
                Err(error) => unread.push(error),
            }
        }
        if inputs.is_empty() {
            return Err(unread.remove(0).into());
        }
        let clock = Clock::start("utfuzz replay");
        let outcome = replay(&decoders, &ledger, inputs);
        let record = Record::of_check(&clock, &decoders, &ledger, &outcome);
        self.judging.print(&record, out)?;
        for error in &unread {
            match self.judging.json {
                true => note(&format!("unread: {error}")),
                false => writeln!(out, "unread: {error}")?,
            }
        }
        let verdict = if outcome.is_clean_but_for_the_ledger() { Verdict::Clean } else { Verdict::Diverged };
        verdict_unless_unread(verdict, unread.len())
    }
}

/// Standard input: exactly the bytes that decoders see.
fn standard_input() -> Result<Input, Error> {
    let path = Path::new("standard input");
    let mut bytes = Vec::new();
    let read = std::io::stdin().lock().take(input_file::LONGEST + 1).read_to_end(&mut bytes);
    read.map_err(|error| Error::io(path, &error))?;
    match bytes.len() as u64 > input_file::LONGEST {
        true => Err(Error::usage(format!("standard input: longer than the limit of {} bytes", input_file::LONGEST))),
        false => Ok(Input { bytes, cuts: None }),
    }
}

/// Run every fuzz target, triage what they find, keep new signatures as regressions, write the reports
#[derive(Debug, Args)]
pub(super) struct Nightly {
    /// How many minutes to run all targets in total
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    minutes: u64,
    /// How many processes of a target to run in parallel [default: one for each core]
    #[arg(long, value_name = "J")]
    jobs: Option<std::num::NonZeroUsize>,
    /// The directory for the reports
    #[arg(long, short, value_name = "DIR", default_value = "reports/night")]
    output: PathBuf,
    /// The file with the history of nights, one line for each
    #[arg(long, value_name = "FILE", default_value = "reports/history.jsonl")]
    history: PathBuf,
    /// The directory for corpora and artifacts of all nights, and the state of an interrupted night
    #[arg(long, value_name = "DIR", default_value = "target/night")]
    state: PathBuf,
    /// Run shard I of a night on N machines; `utfuzz merge` makes one report of all of them
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shards: Option<String>,
    /// The directory of the crate of fuzz targets
    #[arg(long, value_name = "DIR", default_value = "fuzz")]
    fuzz_dir: PathBuf,
    /// The directory for the witnesses of new signatures [default: regressions in the corpus directory]
    #[arg(long, value_name = "DIR")]
    regressions: Option<PathBuf>,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    known: Known,
}

impl Nightly {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        if registered().is_empty() {
            refuse_targets_of_others(&self.fuzz_dir)?;
        }
        let filter = self.selection.decoders.clone();
        let boxes = self.selection.decoders()?;
        let decoders: Vec<&dyn Decoder> = boxes.iter().map(|decoder| &**decoder).collect();
        // The ledger of a crate of fuzz targets is beside them.
        let beside_targets = Some(self.fuzz_dir.clone()).filter(|path| path.join("known.toml").is_file());
        let corpus = if self.known.corpus.is_none() { beside_targets } else { None };
        let corpus = corpus.map_or_else(|| self.known.corpus(), |path| Ok(Some(path)))?;
        let ledger = self.known.ledger(&self.selection, corpus.as_deref())?;
        let other_ledger = self.known.other_ledger(&self.selection, &self.fuzz_dir);
        let beside = || corpus.unwrap_or_else(|| PathBuf::from("corpus")).join("regressions");
        let jobs = self.jobs.or(std::thread::available_parallelism().ok()).map_or(1, std::num::NonZeroUsize::get);
        let options = nightly::Options {
            time: Duration::from_secs(60 * self.minutes),
            jobs,
            root: PathBuf::from("."),
            fuzz: self.fuzz_dir,
            directory: self.state,
            regressions: self.regressions.unwrap_or_else(beside),
            decoders: filter,
            stop: Arc::default(),
        };
        stop_when_interrupted(&options.stop);
        let bar = Bar::new();
        let clock = Clock::start(format!("utfuzz nightly --minutes {}", self.minutes));
        let mut finished = None;
        let mut has_faults = false;
        // A target is ended first; what follows the targets may be interrupted anywhere.
        let show = |what, share| {
            if options.stop.load(Ordering::Relaxed) && fuzzed().all(|target| target.name != what) {
                note(nightly::INTERRUPTED);
                std::process::exit(INTERRUPTED.into());
            }
            bar.show(what, share);
        };
        let ended = nightly::run(&decoders, &ledger, &options, &show, &mut |night| {
            has_faults = !night.faults.is_empty();
            let is_whole = self.shards.is_none();
            let record = finished.insert(Record::of_night(&clock, &decoders, night, self.shards.clone()));
            record.enter_ledger(other_ledger.as_deref());
            if is_whole { write_night(record, &self.history, &self.output) } else { write_all(record, &self.output) }
        });
        bar.finish();
        // The text is printed even if a report cannot be written.
        if let Some(record) = &finished {
            Text.export(record, out)?;
        }
        match ended {
            Err(error) if error.to_string() == nightly::INTERRUPTED => {
                note(nightly::INTERRUPTED);
                return Ok(Verdict::Interrupted);
            }
            ended => ended?,
        }
        let Some(record) = finished else { return Ok(Verdict::Clean) };
        let is_new = record.triage().is_some_and(|triage| triage.count("new") > 0);
        Ok(if is_new || has_faults { Verdict::Diverged } else { Verdict::Clean })
    }
}

/// An error if the crate of fuzz targets is not the one of this repository: its targets judge decoders that this program does
/// not have, and their crashes would be triaged without them.
fn refuse_targets_of_others(fuzz: &Path) -> Result<(), Error> {
    let path = fuzz.join("Cargo.toml");
    let manifest = std::fs::read_to_string(&path).ok().and_then(|text| text.parse::<toml::Table>().ok());
    let name = manifest.as_ref().and_then(|manifest| manifest.get("package")?.get("name")?.as_str());
    match name {
        // What is wrong with a manifest, cargo-fuzz says.
        None | Some("utfuzz-fuzz") => Ok(()),
        Some(name) => Err(Error::usage(format!(
            "{}: the targets of {name} judge decoders that this program does not contain; run the one that does: \
             cargo run --release --manifest-path {} --example utfuzz -- nightly",
            shown(&path),
            shown(&path)
        ))),
    }
}

/// `I/N`, with I from 1 to N.
fn shard(text: &str) -> Result<String, String> {
    let number = |text: &str| text.parse::<u32>().ok();
    match text.split_once('/').and_then(|(index, count)| Some((number(index)?, number(count)?))) {
        Some((index, count)) if (1..=count).contains(&index) => Ok(format!("{index}/{count}")),
        _ => Err(format!("{text:?} is not I/N, the number of this shard and the number of shards, such as 1/4")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_of_another_crate_are_refused() {
        let fuzz = tempfile::tempdir().unwrap();
        let refusal = |name: &str| {
            std::fs::write(fuzz.path().join("Cargo.toml"), format!("[package]\nname = \"{name}\"\n")).unwrap();
            refuse_targets_of_others(fuzz.path()).map_err(|error| error.to_string())
        };
        assert_eq!(refusal("utfuzz-fuzz"), Ok(()));
        let error = refusal("mine-fuzz").unwrap_err();
        assert!(error.contains("the targets of mine-fuzz") && error.contains("--example utfuzz -- nightly"), "{error}");
        assert!(refuse_targets_of_others(&fuzz.path().join("none")).is_ok());
    }
}
