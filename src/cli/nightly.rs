//! `utfuzz nightly`: fuzzing for a given time, with reports.

use crate::cli::arguments::{Known, Selection};
use crate::cli::output::{Bar, Failure, Verdict};
use crate::decoder::Decoder;
use crate::engine::nightly;
use crate::error::Error;
use crate::report::Night;
use crate::report::{Clock, Exporter, Record, Text, append, history, write_all};
use crate::text::shown;
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

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
        let filter = self.selection.decoders.clone();
        let boxes = self.selection.decoders()?;
        let decoders: Vec<&dyn Decoder> = boxes.iter().map(|decoder| &**decoder).collect();
        // The ledger of a crate of fuzz targets is beside them.
        let beside_targets = Some(self.fuzz_dir.clone()).filter(|path| path.join("known.toml").is_file());
        let corpus = if self.known.corpus.is_none() { beside_targets } else { None };
        let corpus = corpus.map_or_else(|| self.known.corpus(), |path| Ok(Some(path)))?;
        let ledger = self.known.ledger(&self.selection, corpus.as_deref())?;
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
        };
        let bar = Bar::new();
        let clock = Clock::start(format!("utfuzz nightly --minutes {}", self.minutes));
        let mut finished = None;
        let mut has_faults = false;
        let ended = nightly::run(&decoders, &ledger, &options, &|what, share| bar.show(what, share), &mut |night| {
            has_faults = !night.faults.is_empty();
            let is_whole = self.shards.is_none();
            let record = finished.insert(Record::of_night(&clock, &decoders, night, self.shards.clone()));
            if is_whole { write(record, &self.history, &self.output) } else { write_all(record, &self.output) }
        });
        bar.finish();
        // The text is printed even if a report cannot be written.
        if let Some(record) = &finished {
            Text.export(record, out)?;
        }
        ended?;
        let Some(record) = finished else { return Ok(Verdict::Clean) };
        let is_new = record.triage().is_some_and(|triage| triage.count("new") > 0);
        Ok(if is_new || has_faults { Verdict::Diverged } else { Verdict::Clean })
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

/// Merge the results of the shards of a night into one report
///
/// Results may be given in any order and more than once.
#[derive(Debug, Args)]
pub(super) struct Merge {
    /// The directories that the shards wrote with `nightly --shards I/N -o DIR`, or their files report.json
    #[arg(required = true, value_name = "DIR")]
    results: Vec<PathBuf>,
    /// The directory for the reports
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
    /// The file with the history of nights, one line for each
    #[arg(long, value_name = "FILE", default_value = "reports/history.jsonl")]
    history: PathBuf,
}

impl Merge {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let mut merged: Option<Record> = None;
        for result in &self.results {
            let file = if result.is_dir() { result.join("report.json") } else { result.clone() };
            let text = std::fs::read(&file).map_err(|error| Error::io(&file, &error))?;
            let wrong = |error: &dyn std::fmt::Display| Error::parse(format!("{}: {error}", shown(&file)));
            let record: Record = serde_json::from_slice(&text).map_err(|error| wrong(&error))?;
            let first = merged.take().unwrap_or_else(|| record.clone());
            merged = Some(first.merge(record).map_err(|error| wrong(&error))?);
        }
        let Some(mut record) = merged else { return Ok(Verdict::Clean) };
        let written = write(&mut record, &self.history, &self.output);
        Text.export(&record, out)?;
        written?;
        let triage = record.triage();
        let is_dirty = triage.is_some_and(|triage| triage.count("new") > 0 || !triage.faults.is_empty());
        Ok(if is_dirty { Verdict::Diverged } else { Verdict::Clean })
    }
}

/// Writes a line in the history, only once for each night, and the reports.
fn write(record: &mut Record, file: &Path, reports: &Path) -> Result<(), Error> {
    let nights = history(file)?;
    // If the night was interrupted after this point, its line already exists.
    if nights.iter().all(|night| night.started != record.started) {
        if let Some(directory) = file.parent() {
            std::fs::create_dir_all(directory).map_err(|error| Error::io(directory, &error))?;
        }
        if let Some(night) = Night::of(record) {
            append(file, &night)?;
        }
    }
    record.enter_history(history(file)?);
    write_all(record, reports)
}
