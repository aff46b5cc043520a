//! Decoders in other processes beside a fuzz target. A question takes much less time among a thousand others than by
//! itself (see [`foreign`](crate::peers::foreign)). So inputs that did something new wait in a queue until there are a few
//! hundred; then the decoders are asked about all of them at once.

use crate::case::{Case, Input};
use crate::decoder::Decoder;
use crate::error::Error;
use crate::explain::Divergence;
use crate::peers::foreign::registry::Found;
use crate::text::hex;
use crate::triage::ledger::Ledger;
use crate::triage::session::{Session, Shown};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};

/// The environment variable that names the adapters whose decoders are judged too: a directory of adapters, or a command
/// that starts one.
pub const ADAPTERS: &str = "UTFUZZ_ADAPTERS";

/// How many inputs wait.
const INPUTS: usize = 256;

/// The decoders of adapters, and the ledger of their known differences together with that of the target.
pub(super) struct Foreign {
    pub(super) decoders: Vec<Box<dyn Decoder>>,
    pub(super) ledger: Ledger,
}

impl Foreign {
    /// The decoders of the adapters that [`ADAPTERS`] names; `None` if it is not set.
    ///
    /// # Errors
    /// An adapter cannot be started, or there is none.
    pub(super) fn named(ledger: &Ledger) -> Result<Option<Self>, String> {
        let read = |adapters: String| Self::read(&adapters, ledger).map_err(|error| format!("{ADAPTERS}: {error}"));
        std::env::var(ADAPTERS).ok().map(read).transpose()
    }

    fn read(adapters: &str, ledger: &Ledger) -> Result<Self, Error> {
        let path = Path::new(adapters);
        let found = match path.exists() {
            true => Found::read(path, u8::MAX)?,
            false => Found::command(adapters.split_whitespace().map(str::to_owned).collect())?,
        };
        for (name, why) in &found.skipped {
            eprintln!("skipped {name}: {why}");
        }
        let ledger = match path.join("known.toml") {
            known if known.is_file() => ledger.clone().with(Ledger::read(&known)?)?,
            _ => ledger.clone(),
        };
        let decoders = found.decoders.into_iter().map(|decoder| Box::new(decoder) as Box<dyn Decoder>);
        Ok(Self { decoders: decoders.collect(), ledger })
    }
}

/// Inputs that wait for decoders in other processes.
pub(super) struct Queue {
    session: Session<'static>,
    inputs: Vec<Input>,
}

impl Queue {
    pub(super) fn of(decoders: &'static [Box<dyn Decoder>], ledger: &'static Ledger) -> Self {
        Self { session: Session::new(decoders.iter().map(|decoder| &**decoder), ledger), inputs: Vec::new() }
    }

    /// Adds an input; asks about all that wait if there are enough of them. Returns the first new divergence, and the
    /// input that shows it.
    pub(super) fn add(&mut self, case: &Case<'_>) -> Option<(Box<Divergence>, Input)> {
        let bytes = case.bytes.to_vec();
        let is_derived = Case::new(case.bytes).cuts().offsets() == case.cuts().offsets();
        self.inputs.push(Input { bytes, cuts: (!is_derived).then(|| *case.cuts()) });
        if self.inputs.len() < INPUTS { None } else { self.ask() }
    }

    /// Asks about all inputs that wait.
    pub(super) fn ask(&mut self) -> Option<(Box<Divergence>, Input)> {
        let inputs = std::mem::take(&mut self.inputs);
        self.session.prepare(inputs.iter().map(Input::case), crate::judge::Questions::ALL);
        inputs.into_iter().find_map(|input| {
            let new = self.session.judge(&input.case()).into_iter().find_map(|shown| match shown {
                Shown::New(divergence) => Some(divergence),
                Shown::Known(_) | Shown::Again(_) => None,
            })?;
            Some((new, input))
        })
    }

    /// What was judged, in a few lines.
    pub(super) fn statistics(&self) -> String {
        self.session.statistics().to_string()
    }
}

/// Writes an input where libFuzzer writes its artifacts, and returns the path. libFuzzer itself would write the input that
/// it ran last.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write_artifact(input: &Input) -> std::io::Result<PathBuf> {
    let arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
    let prefix =
        arguments.filter_map(|argument| Some(argument.strip_prefix("-artifact_prefix=")?.to_owned())).next_back();
    let (bytes, extension) = input.to_file();
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    let name = hex(&hasher.finish().to_be_bytes()).to_ascii_lowercase();
    let path = PathBuf::from(format!("{}crash-{name}.{extension}", prefix.unwrap_or_default()));
    fs::write(&path, bytes)?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// An adapter whose decoder accepts everything.
    const CREDULOUS: &str = r#"#!/bin/sh
printf 'utfuzz 1 lines\nname=credulous\npackage=sh\nversion=1\nanswers=verdict\ncontract=rfc3629 no-output\n\n'
answers=
while read -r line; do
    if [ -n "$line" ]; then answers="${answers}1 -1 -1 -\n"; else printf "$answers"; answers=; fi
done
"#;

    fn adapter(directory: &Path) -> String {
        let path = directory.join("adapter");
        fs::write(&path, CREDULOUS).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        // A program that was just written may still be open in a child of another test.
        format!("sh {}", path.display())
    }

    #[test]
    fn inputs_wait_until_there_are_enough() {
        let directory = tempfile::tempdir().unwrap();
        let foreign = Foreign::read(&adapter(directory.path()), &Ledger::default()).unwrap();
        let mut queue = Queue::of(foreign.decoders.leak(), Box::leak(Box::new(foreign.ledger)));
        for index in 1..INPUTS {
            let bytes: &[u8] = if index == 7 { b"text \xFF" } else { b"text" };
            assert!(queue.add(&Case::new(bytes)).is_none(), "{index}");
        }
        let (divergence, input) = queue.add(&Case::new(b"text")).unwrap();
        assert_eq!(divergence.signature.to_string(), "verdict/credulous/invalid-byte/anywhere");
        assert_eq!(input, Input { bytes: b"text \xFF".to_vec(), cuts: None });
        assert!(queue.ask().is_none(), "no input is asked twice");
    }

    #[test]
    fn an_adapter_that_cannot_be_started_is_named() {
        let error = Foreign::read("/no/such/adapter", &Ledger::default()).err().unwrap();
        assert!(error.to_string().contains("/no/such/adapter"), "{error}");
    }
}
