//! What exhaustive runs covered, kept in `certificate.json` and shown in `certificate.md`.
//!
//! `schema` (1), `verdict`, `proofs[]`: one for each kind of run, the latest. It tells what was run and nothing else:
//! the rows are made from the very sets of cases, and a run that is broken off writes none.

mod coverage;
mod machine;
mod markdown;

use crate::error::Error;
use crate::generate::classes::plan;
use crate::io::replace_file;
use crate::report::Report;
use crate::text::shown;
use coverage::{Part, Row};
pub(super) use machine::Machine;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// The certificate of a directory.
pub struct Certificate {
    directory: PathBuf,
    proofs: Vec<Proof>,
}

/// What a run was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhaustive {
    /// The deep plan of class strings.
    Classes,
    /// Every byte string of this length.
    Bytes(u32),
}

#[derive(Serialize, Deserialize)]
struct File {
    schema: u32,
    verdict: String,
    proofs: Vec<Proof>,
}

/// One run.
#[derive(Serialize, Deserialize)]
struct Proof {
    kind: String,
    command: String,
    verdict: String,
    machine: Machine,
    decoders: Vec<Judged>,
    /// What was covered.
    covered: Vec<Row>,
    /// What it came to, part by part.
    parts: Vec<Part>,
    cases: u64,
    comparisons: u64,
    seconds: f64,
    /// New divergences of the run; in a deep run those of its other stages as well.
    divergences: Vec<Diverged>,
    known: Vec<Known>,
    stale: Vec<String>,
    silent: Vec<String>,
}

#[derive(Serialize, Deserialize)]
struct Judged {
    name: String,
    version: String,
    contract: String,
    /// Whose code runs from which length on.
    lineage: Vec<(usize, String)>,
}

#[derive(Serialize, Deserialize)]
struct Diverged {
    signature: String,
    hits: u64,
    witness_hex: String,
    cuts: Vec<usize>,
}

#[derive(Serialize, Deserialize)]
struct Known {
    id: String,
    decoder: String,
    hits: u64,
}

impl Certificate {
    const SCHEMA: u32 = 1;

    /// The certificate in this directory, which is made where it does not exist. Nothing is written yet, but that
    /// something can be is made sure of.
    ///
    /// # Errors
    /// The directory cannot be made or written to; the certificate in it cannot be read.
    pub fn open(directory: &Path) -> Result<Self, Error> {
        fs::create_dir_all(directory).map_err(|error| Error::io(directory, &error))?;
        let path = directory.join("certificate.json");
        let probe = directory.join("certificate.json.new");
        let probed = fs::write(&probe, b"").and_then(|()| fs::remove_file(&probe));
        probed.map_err(|error| Error::io(&probe, &error))?;
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => b"null".to_vec(),
            Err(error) => return Err(Error::io(&path, &error)),
        };
        let unreadable = |what: String| {
            Error::parse(format!("{}: {what}; delete it, or name another directory with --certificate", shown(&path)))
        };
        let file: Option<File> = serde_json::from_slice(&text)
            .map_err(|error| unreadable(format!("not a certificate of this version: {error}")))?;
        match file {
            Some(file) if file.schema != Self::SCHEMA => Err(unreadable(format!("schema {}", file.schema))),
            file => {
                Ok(Self { directory: directory.to_owned(), proofs: file.map_or_else(Vec::new, |file| file.proofs) })
            }
        }
    }

    /// Puts a finished run in the place of an earlier one of its kind, and writes both files.
    ///
    /// # Errors
    /// The run was less than it is said to be; a file cannot be written.
    pub fn write(mut self, run: Exhaustive, report: &Report<'_>) -> Result<(), Error> {
        if !run.was_all_of(report) {
            return Err(Error::usage(format!(
                "{}: the run was not all it should be, so it proves nothing",
                run.command()
            )));
        }
        let proof = Proof::of(run, report);
        self.proofs.retain(|earlier| earlier.kind != proof.kind);
        self.proofs.push(proof);
        self.proofs.sort_by(|a, b| a.kind.cmp(&b.kind));
        let file = File { schema: Self::SCHEMA, verdict: verdict(&self.proofs), proofs: self.proofs };
        let path = self.directory.join("certificate.json");
        let mut json =
            serde_json::to_string_pretty(&file).map_err(|error| Error::parse(format!("{}: {error}", shown(&path))))?;
        json.push('\n');
        replace_file(&path, json.as_bytes())?;
        replace_file(&self.directory.join("certificate.md"), markdown::render(&file).as_bytes())
    }
}

impl Exhaustive {
    fn kind(self) -> String {
        match self {
            Self::Classes => "class-strings".to_owned(),
            Self::Bytes(len) => format!("byte-strings-{len}"),
        }
    }

    fn command(self) -> String {
        match self {
            Self::Classes => "utfuzz check --deep".to_owned(),
            Self::Bytes(len) => format!("utfuzz check --bytes {len}"),
        }
    }

    /// Whether a run came to its end.
    fn was_all_of(self, report: &Report<'_>) -> bool {
        let outcome = report.outcome;
        match self {
            Self::Classes => {
                let ended = outcome.covered.iter().all(|covered| covered.cases == covered.part.cases());
                ended && outcome.covered.iter().map(|covered| &covered.part).eq(&plan::deep())
            }
            Self::Bytes(len) => 1u64.checked_shl(8 * len) == Some(outcome.statistics.cases),
        }
    }
}

impl Proof {
    fn of(run: Exhaustive, report: &Report<'_>) -> Self {
        let outcome = report.outcome;
        let covered = match run {
            Exhaustive::Classes => outcome.covered.iter().flat_map(|covered| coverage::rows(&covered.part)).collect(),
            Exhaustive::Bytes(len) => coverage::byte_rows(report, len),
        };
        let parts = match run {
            Exhaustive::Classes => outcome.covered.iter().map(Part::of).collect(),
            Exhaustive::Bytes(_) => vec![Part::whole(report)],
        };
        let mut proof = Self {
            kind: run.kind(),
            command: run.command(),
            verdict: String::new(),
            machine: Machine::here(),
            decoders: report.decoders.iter().map(|decoder| Judged::of(decoder.info())).collect(),
            covered,
            cases: parts.iter().map(|part| part.cases).sum(),
            comparisons: parts.iter().map(Part::compared).sum(),
            seconds: parts.iter().map(|part| part.seconds).sum(),
            parts,
            divergences: outcome.divergences.iter().map(|(signature, found)| Diverged::of(signature, found)).collect(),
            known: known(report),
            stale: outcome.stale.clone(),
            silent: outcome.statistics.silent().map(str::to_owned).collect(),
        };
        proof.verdict = verdict(std::slice::from_ref(&proof));
        proof
    }
}

fn known(report: &Report<'_>) -> Vec<Known> {
    let known = report.outcome.known.iter().map(|(index, &hits)| {
        let entry = &report.ledger.entries()[*index];
        Known { id: entry.id.clone(), decoder: entry.decoder.clone(), hits }
    });
    known.collect()
}

impl Diverged {
    fn of(signature: &crate::explain::Signature, found: &crate::engine::check::Found) -> Self {
        Self {
            signature: signature.to_string(),
            hits: found.hits,
            witness_hex: found.divergence.bytes.iter().map(|byte| format!("{byte:02X}")).collect(),
            cuts: found.divergence.cuts.clone(),
        }
    }
}

impl Judged {
    fn of(info: &crate::decoder::Info) -> Self {
        let mut lineage: Vec<(usize, String)> = Vec::new();
        for len in 0..=256 {
            let name = info.lineage.at(len);
            if lineage.last().is_none_or(|(_, last)| last != name) {
                lineage.push((len, name.to_owned()));
            }
        }
        Self {
            name: info.name.clone().into_owned(),
            version: info.version.clone().into_owned(),
            contract: info.contract.to_string(),
            lineage,
        }
    }
}

/// In one line, what came of these runs.
fn verdict(proofs: &[Proof]) -> String {
    let sum = |count: fn(&Proof) -> usize| proofs.iter().map(count).sum::<usize>();
    let new = sum(|proof| proof.divergences.len());
    let (stale, silent) = (sum(|proof| proof.stale.len()), sum(|proof| proof.silent.len()));
    let mut verdict = match new {
        0 => "no new divergence".to_owned(),
        1 => "1 NEW DIVERGENCE".to_owned(),
        _ => format!("{new} NEW DIVERGENCES"),
    };
    let mut add = |count: usize, what: &str| {
        if count > 0 {
            verdict += &format!(", {what}: {count}");
        }
    };
    add(silent, "decoders that answered nothing");
    add(stale, "ledger entries that match nothing");
    verdict
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::check::{Covered, Outcome};
    use crate::triage::ledger::Ledger;

    fn covered(part: plan::Part) -> Covered {
        Covered { cases: part.cases(), comparisons: vec![("d".into(), 1)], seconds: 1.0, part }
    }

    #[test]
    fn a_run_that_was_not_all_of_it_proves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let whole = Outcome { covered: plan::deep().into_iter().map(covered).collect(), ..Outcome::default() };
        let write = |run, outcome: &Outcome| {
            let (decoders, ledger) = (&[][..], &Ledger::default());
            let report = Report { decoders, ledger, outcome, seconds: 7.0 };
            Certificate::open(directory.path()).unwrap().write(run, &report)
        };
        let mut broken_off = whole.clone();
        broken_off.covered[1].cases -= 1;
        let mut without_a_part = whole.clone();
        without_a_part.covered.remove(1);
        let quick = Outcome { covered: plan::quick().into_iter().map(covered).collect(), ..Outcome::default() };
        for outcome in [broken_off, without_a_part, quick, Outcome::default()] {
            assert!(write(Exhaustive::Classes, &outcome).is_err());
        }
        let mut strings = Outcome::default();
        strings.statistics.cases = (1 << 16) - 1;
        assert!(write(Exhaustive::Bytes(2), &strings).is_err());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);

        strings.statistics.cases += 1;
        write(Exhaustive::Bytes(2), &strings).unwrap();
        write(Exhaustive::Classes, &whole).unwrap();
        let page = fs::read_to_string(directory.path().join("certificate.md")).unwrap();
        whole.covered.iter().for_each(|covered| assert!(page.contains(covered.part.name)));
        assert!(page.contains("`utfuzz check --bytes 2`") && page.contains("`utfuzz check --deep`"));
    }
}
