//! The command line.
//!
//! Exit status: 0 clean, 1 a new divergence (or a stale ledger entry, or a silent decoder) or ill-formed input, 2 usage
//! or environment, 130 interrupted before anything new was found. A closed pipe on standard output does not change the
//! status. A write error changes 0 to 2, but leaves 1 unchanged.

#[cfg(unix)]
mod adapter;
mod arguments;
mod artifacts;
mod check;
mod config;
mod convert;
mod detect;
mod explain;
mod help;
mod init;
mod isolate;
mod list;
mod matrix;
mod measure;
mod nightly;
mod one_by_one;
mod output;
mod probe;
mod progress;
mod repair;
mod reports;
mod score;
mod serve_plugin;
mod site;
mod terminal;
mod typed;

use crate::cli::isolate::TIMEOUT;
use crate::cli::output::{DIVERGED, Failure, INTERRUPTED, StandardOutput, Verdict, fail, survive_the_file_size_limit};
use crate::codec::Kernel;
use crate::decoder::Decoder;
use crate::error::Error;
use crate::judge::isolate::{exit, is_child, name_crashes};
use crate::text::{hex, printable};
use clap::{Command, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::io::{self, Write};
use std::process::ExitCode;

/// Differential testing of UTF-8 decoders against an executable standard.
#[derive(Debug, Parser)]
#[command(version, max_term_width = help::WIDEST, args_override_self = true)]
pub struct Cli {
    #[command(flatten)]
    display: terminal::Display,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Check(check::Check),
    Replay(artifacts::Replay),
    Explain(explain::Explain),
    Convert(convert::Convert),
    Detect(detect::Detect),
    Repair(repair::Repair),
    Chart(explain::Chart),
    List(list::List),
    Probe(probe::ProbeVerb),
    Diff(probe::Diff),
    Matrix(matrix::MatrixVerb),
    #[command(hide = cfg!(not(feature = "planted")))]
    Score(score::Score),
    Measure(measure::Measure),
    #[cfg(unix)]
    Adapter(adapter::Adapter),
    Minimize(artifacts::Minimize),
    Triage(artifacts::Triage),
    Nightly(nightly::Nightly),
    Merge(nightly::Merge),
    Init(init::Init),
    Site(site::Site),
    Completions(help::Completions),
    Man(help::Man),
    #[command(hide = true)]
    Reports(reports::Reports),
    #[command(hide = true)]
    ServePlugin(serve_plugin::ServePlugin),
}

impl Cli {
    /// The same as [`Cli::main`] for a program with decoders of its own. Subcommands judge these unless `--decoders` names
    /// others.
    ///
    /// ```no_run
    /// # fn decoders() -> Vec<Box<dyn utfuzz::Decoder>> { Vec::new() }
    /// fn main() -> std::process::ExitCode {
    ///     utfuzz::cli::Cli::main_with(decoders)
    /// }
    /// ```
    pub fn main_with(decoders: fn() -> Vec<Box<dyn Decoder>>) -> ExitCode {
        arguments::register(decoders);
        Self::main()
    }

    /// Parses the arguments of the process, runs the subcommand and returns the exit status.
    pub fn main() -> ExitCode {
        terminal::apply_color(std::env::args_os());
        let command = help::with_groups(command());
        let arguments = match config::arguments(&command) {
            Ok(arguments) => arguments,
            Err(error) => return fail(&error),
        };
        let matches = command.try_get_matches_from(arguments.all());
        match matches.and_then(|matches| Self::from_arg_matches(&matches)) {
            Ok(cli) => cli.run(arguments.line()),
            Err(error) if error.use_stderr() => {
                // The message repeats the arguments, which are untrusted.
                let text = error.render().to_string();
                let lines: Vec<String> = text.lines().map(printable).collect();
                let _ = writeln!(io::stderr(), "{}", lines.join("\n").trim_end());
                if let Some(origin) = arguments.origin() {
                    output::note(&origin);
                }
                ExitCode::from(2)
            }
            Err(help) => match help.print() {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => fail(error),
                _ => ExitCode::SUCCESS,
            },
        }
    }

    fn run(self, line: String) -> ExitCode {
        self.display.apply();
        if let Err(error) = kernel_is_known() {
            return fail(&error);
        }
        survive_the_file_size_limit();
        crate::judge::silence_panics();
        // The process that started an adapter sees how it ends, and the parent of an isolated process watches it.
        let is_adapter = matches!(self.verb, Verb::ServePlugin(_));
        let _guard = (!is_adapter).then(|| name_crashes(DIVERGED));
        if !is_adapter && is_child().is_none() {
            watch_for_hangs();
        }
        let mut out = StandardOutput::open();
        let result = match self.verb {
            Verb::Check(check) => check.run(&mut out),
            Verb::Replay(replay) => replay.run(&mut out),
            Verb::Explain(explain) => explain.run(&mut out),
            Verb::Convert(convert) => convert.run(&mut out),
            Verb::Detect(detect) => detect.run(&mut out),
            Verb::Repair(repair) => repair.run(&mut out),
            Verb::Chart(chart) => chart.run(&mut out),
            Verb::List(list) => list.run(&mut out),
            Verb::Probe(probe) => probe.run(&mut out),
            Verb::Diff(diff) => diff.run(&mut out),
            Verb::Matrix(matrix) => matrix.run(line, &mut out),
            Verb::Score(score) => score.run(&mut out),
            Verb::Measure(measure) => measure.run(&mut out),
            #[cfg(unix)]
            Verb::Adapter(adapter) => adapter.run(&mut out),
            Verb::Minimize(minimize) => minimize.run(&mut out),
            Verb::Triage(triage) => triage.run(&mut out),
            Verb::Nightly(nightly) => nightly.run(&mut out),
            Verb::Merge(merge) => merge.run(&mut out),
            Verb::Init(init) => init.run(&mut out),
            Verb::Completions(completions) => completions.run(command(), &mut out),
            Verb::Man(man) => man.run(command(), &mut out),
            Verb::Site(site) => site.run(&mut out),
            Verb::Reports(reports) => reports.run(&mut out),
            Verb::ServePlugin(serve) => serve.run(),
        };
        let unwritten = out.finish();
        match (result, unwritten) {
            (Err(Failure(error)), _) => fail(&error),
            (Ok(Verdict::Clean), None) => ExitCode::SUCCESS,
            (Ok(Verdict::Diverged | Verdict::IllFormed), None) => ExitCode::from(DIVERGED),
            (Ok(Verdict::Interrupted), None) => ExitCode::from(INTERRUPTED),
            (Ok(verdict), Some(error)) => {
                let status = fail(format_args!("standard output: {error}"));
                match verdict {
                    Verdict::Clean | Verdict::Interrupted => status,
                    Verdict::Diverged | Verdict::IllFormed => ExitCode::from(DIVERGED),
                }
            }
        }
    }
}

/// # Errors
/// The environment limits our codec to a kernel that this processor cannot run, or that does not exist.
fn kernel_is_known() -> Result<(), Error> {
    let Some(name) = std::env::var_os(Kernel::LIMIT) else { return Ok(()) };
    let names: Vec<&str> = Kernel::available().map(Kernel::name).collect();
    if names.iter().any(|known| name == *known) {
        return Ok(());
    }
    let (variable, name, names) = (Kernel::LIMIT, name.to_string_lossy(), names.join(", "));
    Err(Error::usage(format!("{variable}: no kernel {name:?} on this processor; there are {names}")))
}

/// Ends the process when a decoder hangs.
fn watch_for_hangs() {
    crate::judge::watch(TIMEOUT, |stuck| {
        let bytes = hex(&stuck.bytes);
        let (decoder, seconds) = (&stuck.decoder, stuck.waited.as_secs());
        let _ = writeln!(
            io::stderr(),
            "utfuzz: progress/{decoder}: no answer for {seconds} s on {} bytes: {bytes}; leave it out with \
             --decoders=-{decoder}",
            stuck.bytes.len()
        );
        exit(DIVERGED);
    });
}

/// The command with the help of every subcommand.
fn command() -> Command {
    help::with_examples(Cli::command())
}
