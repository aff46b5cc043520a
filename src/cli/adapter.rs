//! `utfuzz adapter`: what an author of adapters needs.

use crate::cli::output::{Failure, Verdict};
use crate::error::Error;
use crate::peers::foreign::process::Program;
use crate::peers::foreign::prove::{Step, prove};
use crate::peers::foreign::registry::{Configured, configured};
use crate::report::write_json;
use crate::text::printable;
use clap::{Args, Subcommand};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// Prove an adapter, before its decoder is judged
#[derive(Debug, Args)]
pub(super) struct Adapter {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Check(Check),
}

/// Prove that an adapter passes on what is asked and answered
///
/// Each step is printed when it is done; docs/adapter.md describes what an adapter does. Exit status 1: a step failed, so
/// what the adapter says about its decoder proves nothing.
#[derive(Debug, Args)]
struct Check {
    /// Only this entry point [default: all]
    #[arg(long, value_name = "NAME")]
    entry: Vec<String>,
    /// How long it may take for a batch [default: as its adapter.toml says, otherwise 10]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    timeout: Option<u32>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// The command that starts the adapter; or a directory with a file adapter.toml, or that file
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<String>,
}

#[derive(serde::Serialize)]
struct Proof {
    command: String,
    passed: bool,
    steps: Vec<Step>,
}

#[derive(serde::Serialize)]
struct Proofs {
    adapters: Vec<Proof>,
}

impl Adapter {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let Verb::Check(check) = self.verb;
        check.run(out)
    }
}

impl Check {
    fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let mut proofs = Vec::new();
        let typed = self.command.join(" ");
        for Configured { mut program, entries, .. } in self.programs()? {
            if let Some(seconds) = self.timeout {
                program.timeout = Duration::from_secs(seconds.into());
            }
            let only = if self.entry.is_empty() { entries.unwrap_or_default() } else { self.entry.clone() };
            let command = program.command.join(" ");
            if !self.json {
                writeln!(out, "{}", printable(&command))?;
            }
            let mut written = Ok(());
            let mut tell = |step: &Step| {
                if !self.json {
                    written = print(step, out).and_then(|()| out.flush());
                }
            };
            let steps = prove(&program, &only, &mut tell).map_err(Error::usage)?;
            written?;
            proofs.push(Proof { command, passed: steps.iter().all(|step| step.fault.is_none()), steps });
        }
        let wrong = proofs.iter().flat_map(|proof| &proof.steps).filter(|step| step.fault.is_some()).count();
        if self.json {
            write_json("adapter", &Proofs { adapters: proofs }, out)?;
        } else if wrong == 0 {
            let option = if is_configured(&typed) { "--adapters=" } else { "--adapter " };
            let typed = if typed.contains(' ') { format!("'{typed}'") } else { typed };
            writeln!(out, "\nnext:\n  utfuzz check --quick {option}{typed}\n  utfuzz measure {option}{typed}")?;
        } else {
            writeln!(out, "\n{wrong} failed; correct the adapter before you judge its decoder")?;
        }
        Ok(if wrong == 0 { Verdict::Clean } else { Verdict::Diverged })
    }

    /// The programs to prove.
    fn programs(&self) -> Result<Vec<Configured>, Error> {
        let program = |command| Configured {
            name: String::new(),
            program: Program::of_command(command),
            entries: None,
            slow: Vec::new(),
        };
        match self.command.as_slice() {
            [path] if is_configured(path) => configured(Path::new(path), u8::MAX),
            [line] => Ok(vec![program(line.split_whitespace().map(str::to_owned).collect())]),
            words => Ok(vec![program(words.to_vec())]),
        }
    }
}

fn is_configured(path: &str) -> bool {
    let path = Path::new(path);
    path.is_dir() || path.extension().is_some_and(|extension| extension == "toml")
}

fn print(step: &Step, out: &mut dyn Write) -> std::io::Result<()> {
    let entry = step.entry.as_ref().map(|entry| format!("{entry}: ")).unwrap_or_default();
    match &step.fault {
        None => {
            let seen = step.seen.as_deref().filter(|seen| !seen.is_empty());
            let seen = seen.map(|seen| format!(": {}", printable(seen))).unwrap_or_default();
            writeln!(out, "  ok      {entry}{}{seen}", step.title)
        }
        Some(fault) => {
            writeln!(out, "  failed  {entry}{}", step.title)?;
            let parts = [("wrong", &fault.what), ("asked", &fault.request), ("answered", &fault.answer)];
            for (name, text) in parts.into_iter().chain([("do", &fault.remedy)]).filter(|(_, text)| !text.is_empty()) {
                writeln!(out, "          {name}: {}", printable(text))?;
            }
            Ok(())
        }
    }
}
