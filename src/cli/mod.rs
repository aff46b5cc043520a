//! The command line: one file for each verb.
//!
//! Exit status: 0 clean, 1 a new divergence (or a stale ledger entry, or a silent decoder) or ill-formed input, 2 usage or
//! environment.

mod chart;
mod check;
mod convert;
mod detect;
mod explain;
mod grammar;
mod list;
mod measure;
mod minimize;
mod nightly;
mod output;
mod replay;
mod score;
mod triage;

use crate::decoder::Decoder;
use crate::error::Error;
use crate::peers;
use crate::report::{Exporter, Json, Report, Text};
use crate::text::{hex, printable};
use crate::triage::ledger::Ledger;
use clap::{Args, Parser, Subcommand};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Differential testing of UTF-8 decoders against an executable standard.
#[derive(Debug, Parser)]
#[command(version, max_term_width = 100)]
pub struct Cli {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Check(check::Check),
    Replay(replay::Replay),
    Explain(explain::Explain),
    Convert(convert::Convert),
    Detect(detect::Detect),
    Chart(chart::Chart),
    List(list::List),
    Score(score::Score),
    Measure(measure::Measure),
    Minimize(minimize::Minimize),
    Triage(triage::Triage),
    Nightly(nightly::Nightly),
}

/// What a verb ended with, where nothing failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Clean,
    Diverged,
    /// Input was not what it was to be.
    IllFormed,
}

/// Why a verb did not end.
enum Failure {
    Error(Error),
    Output(io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

impl Cli {
    /// Reads the arguments of the process, does what they ask and returns the exit status.
    pub fn main() -> ExitCode {
        match Self::try_parse() {
            Ok(cli) => cli.run(),
            Err(error) if error.use_stderr() => {
                // What clap says repeats the arguments, which are not to be trusted.
                let text = error.render().to_string();
                let lines: Vec<String> = text.lines().map(printable).collect();
                let _ = writeln!(io::stderr(), "{}", lines.join("\n").trim_end());
                ExitCode::from(2)
            }
            Err(help) => match help.print() {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => fail(error),
                _ => ExitCode::SUCCESS,
            },
        }
    }

    fn run(self) -> ExitCode {
        crate::judge::silence_panics();
        crate::judge::watch(PATIENCE, |stuck| {
            let bytes = hex(&stuck.bytes);
            let (decoder, seconds) = (&stuck.decoder, stuck.waited.as_secs());
            let _ = writeln!(
                io::stderr(),
                "utfuzz: progress/{decoder}: no answer for {seconds} s on {} bytes: {bytes}; leave it out with \
                 --decoders=-{decoder}",
                stuck.bytes.len()
            );
            std::process::exit(1);
        });
        let mut out = io::BufWriter::new(standard_output());
        let result = match self.verb {
            Verb::Check(check) => check.run(&mut out),
            Verb::Replay(replay) => replay.run(&mut out),
            Verb::Explain(explain) => explain.run(&mut out),
            Verb::Convert(convert) => convert.run(&mut out),
            Verb::Detect(detect) => detect.run(&mut out),
            Verb::Chart(chart) => chart.run(&mut out),
            Verb::List(list) => list.run(&mut out),
            Verb::Score(score) => score.run(&mut out),
            Verb::Measure(measure) => measure.run(&mut out),
            Verb::Minimize(minimize) => minimize.run(&mut out),
            Verb::Triage(triage) => triage.run(&mut out),
            Verb::Nightly(nightly) => nightly.run(&mut out),
        };
        let flushed = out.flush();
        match result.and_then(|verdict| flushed.map(|()| verdict).map_err(Failure::Output)) {
            Ok(Verdict::Clean) => ExitCode::SUCCESS,
            Ok(Verdict::Diverged | Verdict::IllFormed) => ExitCode::from(1),
            // Whoever reads the output has seen enough.
            Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Err(Failure::Output(error)) => fail(format_args!("standard output: {error}")),
            Err(Failure::Error(error)) => fail(&error),
        }
    }
}

/// Standard output as a file: the one of the library looks through all that is written for the end of its last line.
fn standard_output() -> Box<dyn io::Write> {
    #[cfg(unix)]
    if let Ok(descriptor) = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned() {
        return Box::new(std::fs::File::from(descriptor));
    }
    Box::new(io::stdout().lock())
}

/// A decoder that has not answered a case for so long is taken not to come back.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

fn fail(message: impl std::fmt::Display) -> ExitCode {
    // Where nobody reads standard error, the exit status still says it.
    let _ = writeln!(io::stderr(), "utfuzz: {message}");
    ExitCode::from(2)
}

fn note(message: &str) {
    let _ = writeln!(io::stderr(), "note: {message}");
}

/// A progress bar on standard error, where that is a terminal.
struct Bar(ProgressBar);

impl Bar {
    const STEPS: u64 = 1000;

    fn new() -> Self {
        let bar = ProgressBar::new(Self::STEPS);
        if let Ok(style) = ProgressStyle::with_template("{msg:14} {wide_bar} {percent:>3} %") {
            bar.set_style(style);
        }
        Self(bar)
    }

    fn show(&self, stage: &'static str, share: f64) {
        self.0.set_message(stage);
        self.0.set_position((share * Self::STEPS as f64) as u64);
    }

    fn finish(&self) {
        self.0.finish_and_clear();
    }
}

/// Which decoders are judged, by which ledger, and how it is printed.
#[derive(Debug, Args)]
struct Judging {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    known: Known,
}

impl Judging {
    fn print(&self, report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
        let exporter: &dyn Exporter = if self.json { &Json } else { &Text };
        exporter.export(report, out)
    }
}

/// Which decoders.
#[derive(Debug, Args)]
struct Selection {
    /// Decoders by name, separated by commas; `*` stands for any characters, `-NAME` leaves one out
    #[arg(long, value_name = "FILTER", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    decoders: String,
}

impl Selection {
    fn decoders(&self) -> Result<Vec<Box<dyn Decoder>>, Error> {
        let all = peers::all();
        let selected = peers::select(&all, &self.decoders).map_err(Error::usage)?;
        let chosen: Vec<_> =
            all.into_iter().zip(selected).filter(|(_, selected)| *selected).map(|(decoder, _)| decoder).collect();
        match chosen.is_empty() {
            true => Err(Error::usage(format!("--decoders {:?} leaves no decoder; name one", self.decoders))),
            false => Ok(chosen),
        }
    }
}

/// Which differences are accepted.
#[derive(Debug, Args)]
struct Known {
    /// The corpus directory [default: ./corpus where there is one]
    #[arg(long, value_name = "DIR")]
    corpus: Option<PathBuf>,
    /// The ledger of known differences [default: known.toml in the corpus directory, or the one built in]
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// Accept nothing: report known differences as if they were new
    #[arg(long, conflicts_with = "ledger")]
    no_ledger: bool,
}

impl Known {
    fn corpus(&self) -> Result<Option<PathBuf>, Error> {
        match &self.corpus {
            Some(path) => match std::fs::read_dir(path) {
                Ok(_) => Ok(Some(path.clone())),
                Err(error) => Err(Error::io(path, &error)),
            },
            None => Ok(Some(PathBuf::from("corpus")).filter(|path| path.join("vectors").is_dir())),
        }
    }

    fn ledger(&self, corpus: Option<&Path>) -> Result<Ledger, Error> {
        if self.no_ledger {
            return Ok(Ledger::default());
        }
        let beside = corpus.map(|path| path.join("known.toml")).filter(|path| path.exists());
        self.ledger.clone().or(beside).map_or_else(|| Ok(Ledger::built_in()), |path| Ledger::read(&path))
    }
}
