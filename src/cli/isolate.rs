//! `utfuzz check --isolate`: each decoder is checked in a process of its own, so that a decoder that ends its process is
//! named and the others are still checked.
//!
//! The process is this program with the same arguments. It finds its job in a directory that it shares with its parent,
//! and leaves its result there.

use crate::cli::output::Bar;
use crate::decoder::Decoder;
use crate::engine::check::Outcome;
use crate::error::Error;
use crate::explain::{Shape, Signature, annotate};
use crate::io::replace_file;
use crate::judge::isolate::{Child, Crash, note_questions};
use crate::judge::{Ending, Law, Subject};
use crate::report::Clock;
use crate::report::record::{Check, Difference, KnownDifference, Record, Section, Stage};
use crate::text::{counted, hex, shown};
use crate::triage::ledger::Ledger;
use crate::triage::session::Kept;
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

/// A decoder that takes longer than this for one case is considered to hang.
pub(super) const TIMEOUT: Duration = Duration::from_secs(60);

/// What one process does.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Job {
    /// The name of the decoder that it checks.
    pub(super) decoder: String,
    /// How long to run structured inputs or, with a budget, everything, in seconds.
    pub(super) seconds: f64,
}

/// What one process found.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) record: Record,
    pub(super) is_clean: bool,
    pub(super) is_interrupted: bool,
    pub(super) contradictions: Vec<String>,
}

/// What all of them found.
pub(super) struct Whole {
    pub(super) record: Record,
    pub(super) is_clean: bool,
    pub(super) is_interrupted: bool,
    pub(super) contradictions: Vec<String>,
    /// Why there is no result for a decoder that did not end its process.
    pub(super) failures: Vec<Error>,
}

impl Job {
    /// The job of this process. From now on, each question is kept for its parent.
    pub(super) fn accept(directory: &Path) -> Result<Self, Error> {
        note_questions(directory).map_err(|error| Error::io(directory, &error))?;
        read(&directory.join("job.json"))
    }
}

impl Part {
    pub(super) fn hand_over(&self, directory: &Path) -> Result<(), Error> {
        write(&directory.join("part.json"), self)
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> Result<T, Error> {
    let text = std::fs::read(path).map_err(|error| Error::io(path, &error))?;
    serde_json::from_slice(&text).map_err(|error| Error::parse(format!("{}: {error}", shown(path))))
}

fn write(path: &Path, value: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_vec(value).map_err(|error| Error::parse(format!("{}: {error}", shown(path))))?;
    replace_file(path, &text)
}

/// Checks each of these decoders in a process of its own, as many at a time as there are threads. Structured inputs, or
/// with a budget everything, run for `seconds` in total. Once `stop` is set, no more processes are started.
pub(super) fn check_isolated(
    decoders: &[&dyn Decoder],
    ledger: &Ledger,
    clock: &Clock,
    seconds: u64,
    stop_at_first: bool,
    stop: &AtomicBool,
    bar: &Bar,
) -> Whole {
    let (count, done) = (decoders.len(), AtomicUsize::new(0));
    let seconds = seconds as f64 * rayon::current_num_threads().min(count) as f64 / count as f64;
    let found = AtomicBool::default();
    let each = |decoder: &&dyn Decoder| {
        let result = match stop.load(Ordering::Relaxed) {
            true => Ok(Checked::Skipped),
            false => unless_found(stop_at_first, &found, || check_one(*decoder, seconds)),
        };
        bar.show("decoders", (done.fetch_add(1, Ordering::Relaxed) + 1) as f64 / count as f64);
        result
    };
    let results = decoders.par_iter().with_max_len(1).map(each).collect();
    whole(decoders, ledger, clock, results, stop.load(Ordering::Relaxed))
}

/// What `check` returns. It is skipped if something new was `found` before and the first finding ends the check.
pub(super) fn unless_found(
    stop_at_first: bool,
    found: &AtomicBool,
    check: impl FnOnce() -> Result<Checked, Error>,
) -> Result<Checked, Error> {
    if stop_at_first && found.load(Ordering::Relaxed) {
        return Ok(Checked::Skipped);
    }
    let checked = check()?;
    found.fetch_or(checked.has_found(), Ordering::Relaxed);
    Ok(checked)
}

/// What all the decoders together showed, one result for each.
pub(super) fn whole(
    decoders: &[&dyn Decoder],
    ledger: &Ledger,
    clock: &Clock,
    results: Vec<Result<Checked, Error>>,
    mut is_interrupted: bool,
) -> Whole {
    let mut total = Check::default();
    let mut record = Record::of_check(clock, decoders, ledger, &Outcome::default());
    let mut is_clean = true;
    let (mut contradictions, mut failures) = (Vec::new(), Vec::new());
    for ((decoder, judged), result) in decoders.iter().zip(&mut record.decoders).zip(results) {
        judged.comparisons = None;
        match result {
            Ok(Checked::Finished(part)) => {
                is_clean &= part.is_clean;
                is_interrupted |= part.is_interrupted;
                contradictions = part.contradictions;
                judged.comparisons = part.record.decoders.first().and_then(|judged| judged.comparisons);
                if let Section::Check(check) = part.record.section {
                    add(&mut total, check);
                }
            }
            Ok(Checked::Died(mut died)) => {
                total.divergences.append(&mut died.before);
                match died.in_ledger(*decoder, ledger) {
                    Some(known) => total.known.push(known),
                    None => total.divergences.push(died.difference(*decoder)),
                }
            }
            Ok(Checked::Skipped) => total.partial |= !is_interrupted,
            Err(error) => failures.push(error),
        }
    }
    // An entry may be about several decoders.
    total.stale.retain(|id| total.known.iter().all(|known| known.id != *id));
    total.stale.sort();
    total.stale.dedup();
    is_clean &= total.divergences.is_empty() && total.stale.is_empty();
    total.divergences.sort_by(|a, b| a.signature.cmp(&b.signature));
    record.section = Section::Check(total);
    Whole { record, is_clean, is_interrupted, contradictions, failures }
}

/// The cases are the same for each decoder, so they are not added up.
fn add(total: &mut Check, part: Check) {
    total.cases = total.cases.max(part.cases);
    total.comparisons += part.comparisons;
    for stage in part.stages {
        match total.stages.iter_mut().find(|known| known.name == stage.name) {
            Some(known) => {
                known.seconds = known.seconds.max(stage.seconds);
                // Within a budget, one decoder may be asked less than another.
                let left_out = |of: &Stage| (of.planned.unwrap_or(0).saturating_sub(of.cases), of.cases);
                if left_out(&stage) > left_out(known) {
                    (known.cases, known.planned) = (stage.cases, stage.planned);
                }
            }
            None => total.stages.push(stage),
        }
    }
    total.shares = part.shares;
    total.divergences.extend(part.divergences);
    total.known.extend(part.known);
    total.stale.extend(part.stale);
    total.silent.extend(part.silent);
    total.partial |= part.partial;
}

/// The result of checking one decoder.
pub(super) enum Checked {
    Finished(Box<Part>),
    Died(Died),
    Skipped,
}

impl Checked {
    /// Whether something new was found.
    fn has_found(&self) -> bool {
        match self {
            Self::Finished(part) => part.record.check().is_some_and(|check| !check.divergences.is_empty()),
            Self::Died(_) => true,
            Self::Skipped => false,
        }
    }

    /// A decoder that was checked in this process.
    pub(super) fn of(record: Record, outcome: Outcome) -> Self {
        let (is_clean, is_interrupted) = (outcome.is_clean_but_for_the_ledger(), outcome.interrupted);
        Self::Finished(Box::new(Part { record, is_clean, is_interrupted, contradictions: outcome.contradictions }))
    }
}

/// A decoder that ended its process.
pub(super) struct Died {
    crash: Crash,
    /// The end of what the process printed.
    printed: String,
    /// What the process had found before, without duplicates.
    before: Vec<Difference>,
}

fn check_one(decoder: &dyn Decoder, seconds: f64) -> Result<Checked, Error> {
    let name = &decoder.info().name;
    let failed = |what: &dyn std::fmt::Display| Error::usage(format!("the process that checks {name}: {what}"));
    let program = std::env::current_exe().map_err(|error| failed(&error))?;
    let mut command = Command::new(program);
    // Questions of several threads could not be told apart.
    command.args(std::env::args_os().skip(1)).env("RAYON_NUM_THREADS", "1");
    let mut child = Child::new(command).map_err(|error| failed(&error))?;
    write(&child.directory().join("job.json"), &Job { decoder: name.to_string(), seconds })?;
    let ended = child.run(TIMEOUT).map_err(|error| failed(&error))?;
    match ended.crash {
        Some(crash) => {
            let before = differences(child.findings().iter().filter_map(|line| serde_json::from_str(line).ok()));
            Ok(Checked::Died(Died { crash, printed: ended.printed, before }))
        }
        None => read(&child.directory().join("part.json"))
            .map(Checked::Finished)
            .map_err(|_| failed(&format_args!("no result, {}: {}", ended.status, ended.printed))),
    }
}

/// One difference for each signature, with the smallest input.
fn differences(kept: impl Iterator<Item = Kept>) -> Vec<Difference> {
    let mut all: BTreeMap<String, (u64, Kept)> = BTreeMap::new();
    for kept in kept {
        match all.get_mut(&kept.signature) {
            None => {
                all.insert(kept.signature.clone(), (1, kept));
            }
            Some((hits, known)) => {
                *hits += 1;
                if kept.bytes.len() < known.bytes.len() {
                    *known = kept;
                }
            }
        }
    }
    let difference = |(hits, kept): (u64, Kept)| {
        let mut parts = kept.signature.split('/').map(str::to_owned);
        let [law, decoder, subject, shape] = std::array::from_fn(|_| parts.next().unwrap_or_default());
        let (witness_hex, cuts) = (hex(&kept.bytes), kept.cuts);
        Difference {
            signature: kept.signature,
            law,
            decoder,
            subject,
            shape,
            hits,
            witness_hex,
            cuts,
            explanation: kept.explanation,
        }
    };
    all.into_values().map(difference).collect()
}

impl Died {
    fn law_and_subject(&self) -> (Law, Subject) {
        let law = if self.crash.ending == Ending::Hang { Law::Progress } else { Law::Panic };
        (law, Subject::Process(self.crash.ending))
    }

    fn in_ledger(&self, decoder: &dyn Decoder, ledger: &Ledger) -> Option<KnownDifference> {
        let (law, subject) = self.law_and_subject();
        let entry = &ledger.entries()[ledger.covers(decoder.info(), law, subject)?];
        Some(KnownDifference { id: entry.id.clone(), decoder: decoder.info().name.to_string(), hits: 1 })
    }

    fn difference(&self, decoder: &dyn Decoder) -> Difference {
        let (Self { crash, printed, .. }, info) = (self, decoder.info());
        let (law, subject) = self.law_and_subject();
        let signature = Signature { law, decoder: info.name.clone(), subject, shape: Shape::Anywhere };
        let mut explanation = format!(
            "divergence: {signature}\ndecoder {} {}, contract: {}\nit ended the process that asked it: {}; the rest of \
             its check was not run\n\ninput, {}:\n{}\n",
            info.name,
            info.version,
            info.claim(),
            crash.detail,
            counted(crash.bytes.len(), "byte"),
            annotate(&info.contract, &crash.bytes),
        );
        if !printed.is_empty() {
            explanation += &format!("it printed:\n{printed}\n");
        }
        Difference {
            signature: signature.to_string(),
            law: law.name().into(),
            decoder: info.name.to_string(),
            subject: subject.name().into(),
            shape: signature.shape.to_string(),
            hits: 1,
            witness_hex: hex(&crash.bytes),
            cuts: Vec::new(),
            explanation,
        }
    }
}
