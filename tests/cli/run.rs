//! Runs of the command, and checks of their results.

use serde_json::Value;
use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;
use utfuzz::Info;
use utfuzz::spec::grammar::RFC3629;

/// An accepted difference that covers C0 AF in utf8-decode; `the-entry` is its id.
pub(crate) const LEDGER: &str = r#"
[[known]]
id = "the-entry"
decoder = "utf8-decode"
versions = "*"
laws = ["verdict"]
subjects = ["overlong-2"]
reason = "A test."
link = "https://example.org"
date = "2026-11-20"
"#;

/// The result of one run.
pub(crate) struct Run {
    pub(crate) line: String,
    pub(crate) status: Option<i32>,
    pub(crate) out: Vec<u8>,
    pub(crate) err: Vec<u8>,
}

impl Run {
    pub(crate) fn of(command: &Command, output: Output) -> Self {
        Self { line: format!("{command:?}"), status: output.status.code(), out: output.stdout, err: output.stderr }
    }

    pub(crate) fn out(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }

    pub(crate) fn err(&self) -> String {
        String::from_utf8_lossy(&self.err).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.out).unwrap_or_else(|error| panic!("{}: {error}: {}", self.line, self.out()))
    }

    /// Describes what is wrong unless the run ended with this status and without a panic.
    pub(crate) fn wrong_status(&self, status: i32) -> Option<String> {
        let wrong = if self.err().contains("panicked") {
            "panicked".to_owned()
        } else if self.status != Some(status) {
            format!("status {:?} instead of {status}", self.status)
        } else {
            return None;
        };
        Some(format!("{}: {wrong}\nstdout {:?}\nstderr {:?}", self.line, self.out(), self.err()))
    }

    /// Describes what is wrong unless the run ended with this status and an empty standard error.
    pub(crate) fn wrong_quiet(&self, status: i32) -> Option<String> {
        // On a busy machine a command that takes ten seconds says how far it is.
        let err = self.err();
        let is_progress = |line: &str| line.contains(" %, ") && (line.ends_with(" elapsed") || line.ends_with(" left"));
        let is_quiet = err.lines().all(is_progress);
        let noise = || (!is_quiet).then(|| format!("{}: stderr {err:?}", self.line));
        self.wrong_status(status).or_else(noise)
    }

    /// Describes what is wrong unless the run was refused in one line that contains all of `says`.
    pub(crate) fn wrong_refusal(&self, says: &[&str]) -> Option<String> {
        if let Some(wrong) = self.wrong_status(2) {
            return Some(wrong);
        }
        let err = self.err();
        let wrong = if !self.out.is_empty() {
            format!("stdout {:?}", self.out())
        } else if err.lines().count() != 1 || !err.ends_with('\n') {
            "not one line".to_owned()
        } else if !err.starts_with("utfuzz: ") {
            "does not name the program".to_owned()
        } else {
            let missing = says.iter().find(|part| !err.contains(**part))?;
            format!("does not say {missing:?}")
        };
        Some(format!("{}: {wrong}\nstderr {err:?}", self.line))
    }

    /// Describes control characters in the output, on which a terminal would act.
    pub(crate) fn controls(&self) -> Option<String> {
        let mut wrong = Vec::new();
        for (stream, bytes) in [("stdout", &self.out), ("stderr", &self.err)] {
            match std::str::from_utf8(bytes) {
                Err(error) => wrong.push(format!("{stream} is not UTF-8: {error}")),
                Ok(text) => {
                    let controls: String = text.chars().filter(|&c| c.is_control() && c != '\n').collect();
                    if !controls.is_empty() {
                        wrong.push(format!("{stream} holds the controls {controls:?}: {text:?}"));
                    }
                }
            }
        }
        (!wrong.is_empty()).then(|| format!("{}: {}", self.line, wrong.join("; ")))
    }
}

pub(crate) fn command<A: AsRef<OsStr>>(directory: &Path, args: &[A]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_utfuzz"));
    command
        .args(args)
        .current_dir(directory)
        .env_remove("CLICOLOR_FORCE")
        .env_remove("UTFUZZ_CONFIG")
        .stdin(Stdio::null());
    command
}

pub(crate) fn run<A: AsRef<OsStr>>(directory: &Path, args: &[A]) -> Run {
    let mut command = command(directory, args);
    let output = command.output().unwrap();
    Run::of(&command, output)
}

pub(crate) fn run_with_input(directory: &Path, args: &[&str], input: &[u8]) -> Run {
    let mut command = command(directory, args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    Run::of(&command, output)
}

/// A new directory, without a `corpus`, that contains these files.
pub(crate) fn directory_with(files: &[(&str, &[u8])]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    directory
}

pub(crate) fn assert_none_wrong(wrong: impl IntoIterator<Item = String>) {
    let wrong: Vec<String> = wrong.into_iter().collect();
    assert!(wrong.is_empty(), "{} wrong:\n\n{}", wrong.len(), wrong.join("\n\n"));
}

/// The decoders of the library this command was built from: all, or those of RFC 3629 that have no planted fault.
pub(crate) fn names(all: bool) -> Vec<String> {
    let decoders = utfuzz::peers::all();
    let infos = decoders.iter().map(|decoder| decoder.info());
    let standard = |info: &&Info| info.package != "planted" && *info.contract.grammar == RFC3629;
    infos.filter(|info| all || standard(info)).map(|info| info.name.to_string()).collect()
}
