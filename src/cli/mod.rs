//! The command line.
//!
//! Exit status: 0 clean, 1 a new divergence (or a stale ledger entry, or a silent decoder) or ill-formed input, 2 usage or
//! environment. Standard output does not decide a verdict: a reader that goes away (a closed pipe) changes nothing, and a
//! full disk turns 0 into 2, never 1 into anything else.

mod check;
mod convert;
mod explain;
mod list;
mod measure;
mod minimize;
mod nightly;
mod output;
mod replay;
mod reports;
mod score;
mod triage;

use crate::cli::output::StandardOutput;
use crate::codec::convert::Encoding;
use crate::decoder::Decoder;
use crate::error::Error;
use crate::peers;
use crate::report::{Exporter, Json, Record, Text};
use crate::spec::Grammar;
use crate::spec::grammar::ALL;
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
    Detect(convert::Detect),
    Chart(explain::Chart),
    List(list::List),
    Score(score::Score),
    Measure(measure::Measure),
    Minimize(minimize::Minimize),
    Triage(triage::Triage),
    Nightly(nightly::Nightly),
    #[command(hide = true)]
    Reports(reports::Reports),
}

/// The verdict of a subcommand that ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Clean,
    Diverged,
    /// Input is ill-formed.
    IllFormed,
}

/// Why a subcommand has no verdict: usage or environment.
struct Failure(Error);

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

/// [`StandardOutput`] does not fail while a subcommand runs; a report that cannot be serialised does.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self(Error::io(Path::new("standard output"), &error))
    }
}

impl Cli {
    /// Reads the arguments of the process, does what they ask and returns the exit status.
    pub fn main() -> ExitCode {
        match Self::try_parse() {
            Ok(cli) => cli.run(),
            Err(error) if error.use_stderr() => {
                // The message repeats the arguments, which are untrusted.
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
            std::process::exit(DIVERGED.into());
        });
        let mut out = StandardOutput::open();
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
            Verb::Reports(reports) => reports.run(&mut out),
        };
        let unwritten = out.finish();
        match (result, unwritten) {
            (Err(Failure(error)), _) => fail(&error),
            (Ok(Verdict::Clean), None) => ExitCode::SUCCESS,
            (Ok(Verdict::Diverged | Verdict::IllFormed), None) => ExitCode::from(DIVERGED),
            (Ok(verdict), Some(error)) => {
                let status = fail(format_args!("standard output: {error}"));
                if verdict == Verdict::Clean { status } else { ExitCode::from(DIVERGED) }
            }
        }
    }
}

/// The exit status of a new divergence and of ill-formed input.
const DIVERGED: u8 = 1;

/// A decoder that takes longer than this for one case is taken to hang.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(60);

fn fail(message: impl std::fmt::Display) -> ExitCode {
    // The exit status stands even if nobody reads standard error.
    let _ = writeln!(io::stderr(), "utfuzz: {message}");
    ExitCode::from(2)
}

fn note(message: &str) {
    let _ = writeln!(io::stderr(), "note: {message}");
}

/// A progress bar on standard error, if that is a terminal.
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

/// The grammar of this name; also by the names of the encoding it is of.
fn grammar(name: &str) -> Result<&'static Grammar, Error> {
    let of_encoding = || Encoding::named(name).ok().filter(|encoding| *encoding != Encoding::Utf8b)?.grammar();
    Grammar::named(&name.to_lowercase()).or_else(of_encoding).ok_or_else(|| {
        let known = ALL.map(|grammar| grammar.name).join(", ");
        Error::usage(format!("no grammar is named {name:?}; there are: {known}"))
    })
}

/// Which decoders are judged, by which ledger, and how the result is printed.
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
    fn print(&self, record: &Record, out: &mut dyn Write) -> io::Result<()> {
        let exporter: &dyn Exporter = if self.json { &Json } else { &Text };
        exporter.export(record, out)
    }
}

/// Which decoders.
#[derive(Debug, Args)]
struct Selection {
    /// Decoders by name, separated by commas; `*` matches any characters, `-NAME` leaves one out
    #[arg(long, value_name = "FILTER", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    decoders: String,
}

impl Selection {
    /// The decoders that were named, or all.
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
