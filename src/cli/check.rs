//! `utfuzz check`: the embedded engine.
//!
//! With `--isolate` each decoder is checked in a process of its own, so that a decoder that ends its process is named and the
//! others are still checked. The process is this program with the same arguments. It finds its job in a directory that it
//! shares with its parent, and leaves its result there. The decoder of an adapter has a process of its own anyway.

use crate::cli::arguments::{Judging, Selection, one_by_one, require};
use crate::cli::output::{Bar, Failure, Verdict, fail, note, stop_when_interrupted};
use crate::decoder::{Batched, Decoder};
use crate::engine::check::{ByteOptions, Control, Options, Outcome, Plan, Stage, byte_strings, check, check_bytes};
use crate::error::Error;
use crate::explain::{Shape, Signature, annotate};
use crate::io::replace_file;
use crate::judge::isolate::{Child, Crash, is_child, note_questions};
use crate::judge::{Ending, Law, Subject};
use crate::report::record::{Difference, KnownDifference, Section};
use crate::report::{Certificate, Clock, Exhaustive, Record, record};
use crate::spec::Contract;
use crate::text::{counted, hex, shown};
use crate::triage::ledger::Ledger;
use crate::triage::session::Kept;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Judge decoders on vectors, the corpus, every short string, random inputs
///
/// Five stages: published vectors, the corpus, short strings of text fragments, every short string over the byte
/// classes, then random structured inputs until the time is up. With --budget they take turns.
#[derive(Debug, Args)]
pub(super) struct Check {
    /// How many seconds to run structured inputs after the other stages [default: 10; 1 with --quick; 0 for
    /// decoders in other processes]
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    /// End the whole check after this many seconds: the stages take turns, those that find most first, and structured
    /// inputs fill the rest
    #[arg(long, value_name = "SECONDS", conflicts_with_all = ["seconds", "bytes", "certificate"],
        value_parser = clap::value_parser!(u64).range(1..))]
    budget: Option<u64>,
    /// Stop at the first new divergence, and explain it
    #[arg(long, conflicts_with_all = ["bytes", "certificate"])]
    stop_at_first: bool,
    /// Run only these stages
    #[arg(long, value_name = "STAGE", value_delimiter = ',', conflicts_with_all = ["bytes", "certificate"],
        value_parser = stage())]
    only: Vec<Stage>,
    /// The first seed of the structured inputs
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Run every stage in about ten seconds, with fewer class strings
    #[arg(long, conflicts_with_all = ["deep", "bytes"])]
    quick: bool,
    /// Run the deep plan of class strings, which takes minutes: up to length 7, with padding, and with every cut
    #[arg(long, group = "exhaustive")]
    deep: bool,
    /// Run every byte string of this length, 1 to 4, and nothing else: verdicts of --decoders, or of your adapters,
    /// plugins and registered decoders; without any of these, of own, std and simdutf8
    #[arg(long, value_name = "N", group = "exhaustive", conflicts_with_all = ["seconds", "seed"],
        value_parser = clap::value_parser!(u32).range(1..=byte_strings::LONGEST as i64))]
    bytes: Option<u32>,
    /// Record the progress of --bytes in this file, and resume an interrupted run from it
    #[arg(long, value_name = "FILE", requires = "bytes", conflicts_with = "deep")]
    resume: Option<PathBuf>,
    /// Write what was covered to certificate.json and certificate.md in this directory
    #[arg(long, value_name = "DIR", requires = "exhaustive")]
    certificate: Option<PathBuf>,
    /// Check each decoder in a process of its own, so that one that crashes, exits or hangs is named and the others are
    /// still checked; --seconds or --budget is shared among the decoders
    #[arg(long, conflicts_with_all = ["certificate", "resume"])]
    isolate: bool,
    #[command(flatten)]
    judging: Judging,
}

/// The decoders of `--bytes` if none are named and the user has none; of these, only the ones with the standard
/// contract are used.
const BYTE_DECODERS: &str = "own*,std,simdutf8*";

fn is_standard(contract: &Contract) -> bool {
    let Contract { detection, end, .. } = *contract;
    [Contract::STANDARD, Contract::VALIDATOR]
        .iter()
        .any(|standard| *contract == Contract { detection, end, ..*standard })
}

/// The name of a stage.
fn stage() -> impl TypedValueParser<Value = Stage> {
    let known = |name: String| Stage::ALL.into_iter().find(|stage| stage.word() == name);
    PossibleValuesParser::new(Stage::ALL.map(Stage::word)).try_map(move |name| known(name).ok_or("no such stage"))
}

/// Why there is no certificate of `--deep` for a decoder in another process.
fn uncertified(decoder: &dyn Decoder) -> Error {
    Error::usage(format!(
        "the deep plan is not run for {}, which is in another process, so there is nothing to certify; use --bytes N \
         instead of --deep, or --in-process for a plugin",
        decoder.info().name
    ))
}

/// The first of these decoders that is in another process.
fn foreign<'d>(decoders: &[&'d dyn Decoder]) -> Option<&'d dyn Decoder> {
    decoders.iter().copied().find(|decoder| decoder.batched().is_some())
}

/// Checks one decoder from this process: on every string of `bytes` bytes, or else in stages, with fewer strings if it
/// is in another process.
fn check_one(decoder: &dyn Decoder, bytes: Option<u32>, options: &Options, clock: &Clock) -> Result<Checked, Error> {
    let one = &[decoder];
    let plan = match decoder.batched().map(Batched::is_slow) {
        Some(true) if options.plan != Plan::Deep => Plan::Few,
        Some(false) if options.plan != Plan::Deep => Plan::Remote,
        Some(_) => Plan::Quick,
        None => options.plan,
    };
    let Options { ledger, control, .. } = options.clone();
    let outcome = match bytes {
        Some(len) => check_bytes(one, &ByteOptions { len, ledger, resume: None, control }, &|_, _| {})?,
        None => check(one, &Options { plan, ..options.clone() }, &|_, _| {})?,
    };
    Ok(Checked::of(Record::of_check(clock, one, &options.ledger, &outcome), outcome))
}

impl Check {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        if let Some(directory) = is_child() {
            return self.run_as_child(&directory);
        }
        require("--resume", self.resume.is_some(), "--bytes N", self.bytes.is_some())?;
        let boxes = self.decoders()?;
        let decoders: Vec<_> = boxes.iter().map(|decoder| &**decoder).collect();
        let foreign = foreign(&decoders).filter(|_| self.bytes.is_none());
        if let (Some(foreign), Some(_)) = (foreign, &self.certificate) {
            return Err(uncertified(foreign).into());
        }
        let corpus = self.judging.known.corpus()?;
        let ledger = self.judging.ledger(corpus.as_deref())?;
        let corpus = self.judging.known.inputs(corpus);
        if corpus.is_none() && self.bytes.is_none() && self.stages().contains(&Stage::Corpus) {
            note("no corpus directory here, so the corpus stage is skipped; name one with --corpus DIR");
        }
        if self.isolate || foreign.is_some() {
            return self.run_one_by_one(&decoders, corpus, &ledger, out);
        }
        let certificate = self.certificate.as_deref().map(Certificate::open).transpose()?;
        let control = Control::default();
        stop_when_interrupted(&control.stop);
        let bar = Bar::counting(control.cases.clone());
        let time = self.time(&decoders);
        let clock = Clock::start(self.command(time));
        let outcome = match self.bytes {
            Some(len) => self.every_string(&decoders, len, &ledger, &control, &bar)?,
            None => self.every_stage(&decoders, corpus, &ledger, Duration::from_secs(time), &control, &bar)?,
        };
        bar.finish();
        let mut record = Record::of_check(&clock, &decoders, &ledger, &outcome);
        if self.bytes.is_some() {
            // The time of a resumed run includes the earlier runs.
            record.seconds = outcome.stages.iter().map(|ran| ran.seconds).sum();
        }
        let run = self.bytes.map_or(Exhaustive::Classes, Exhaustive::Bytes);
        let write = |certificate: Certificate| certificate.write(run, &decoders, &outcome, &record);
        // What was not run cannot be certified.
        let set_aside = record.check().map_or(0, |check| check.set_aside.len());
        let written = certificate.filter(|_| !outcome.interrupted && set_aside == 0).map_or(Ok(()), write);
        self.judging.print(&record, out)?;
        written?;
        if outcome.interrupted {
            let stage = outcome.stages.last().map_or("", |ran| ran.stage.name());
            note(&format!("interrupted during {stage}; {}", self.how_to_go_on()));
        }
        if self.certificate.is_some() && set_aside > 0 {
            return Err(Error::usage("no certificate: decoders were set aside; leave them out").into());
        }
        Ok(match outcome.interrupted && outcome.divergences.is_empty() {
            true => Verdict::Interrupted,
            false if outcome.is_clean() => Verdict::Clean,
            false => Verdict::Diverged,
        })
    }

    fn how_to_go_on(&self) -> &'static str {
        match (self.bytes, &self.resume) {
            (Some(_), Some(_)) => "the same command continues where it ended",
            (Some(_), None) => "with --resume FILE, a run can be continued",
            (None, _) => "the same command starts over; --quick takes ten seconds",
        }
    }

    /// Checks each decoder by itself; with `--isolate`, those that are in this process in one of their own.
    fn run_one_by_one(
        &self,
        decoders: &[&dyn Decoder],
        corpus: Option<PathBuf>,
        ledger: &Ledger,
        out: &mut dyn Write,
    ) -> Result<Verdict, Failure> {
        let control = Control::default();
        stop_when_interrupted(&control.stop);
        let seconds = self.time(decoders);
        let clock = Clock::start(self.command(seconds) + if self.isolate { " --isolate" } else { "" });
        // With `--isolate` or a budget, these are seconds on the clock; otherwise, those of all threads together.
        let is_on_the_clock = self.isolate || self.budget.is_some();
        let at_a_time = if is_on_the_clock { rayon::current_num_threads().min(decoders.len()) } else { 1 };
        let time = Duration::from_secs(seconds).saturating_mul(at_a_time as u32) / decoders.len() as u32;
        let options = self.options(corpus, ledger, time, &control);
        let found = AtomicBool::default();
        let check = |decoder: &dyn Decoder| {
            unless_found(self.stop_at_first, &found, || match self.isolate && decoder.batched().is_none() {
                true => check_in_a_process(decoder, time),
                false => check_one(decoder, self.bytes, &options, &clock),
            })
        };
        let results = one_by_one(decoders, &control.stop, check, |_| ())?;
        let interrupted = control.stop.load(Ordering::Relaxed);
        self.conclude(whole(decoders, ledger, &clock, results, interrupted), out)
    }

    fn conclude(&self, whole: Whole, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let Whole { record, is_clean, is_interrupted, mut failures } = whole;
        // If no decoder was checked, a record would look like that of a clean check.
        if failures.len() < record.decoders.len() {
            self.judging.print(&record, out)?;
        }
        if is_interrupted {
            note(&format!("interrupted; {}", self.how_to_go_on()));
        }
        let has_found = record.check().is_some_and(|check| !check.divergences.is_empty());
        // What is wrong with the corpus, for example, is wrong for every decoder.
        failures.dedup_by_key(|failure| failure.to_string());
        let last = failures.pop();
        for failure in failures {
            let _ = fail(failure);
        }
        match last {
            Some(failure) => Err(failure.into()),
            None if is_interrupted && !has_found => Ok(Verdict::Interrupted),
            None => Ok(if is_clean { Verdict::Clean } else { Verdict::Diverged }),
        }
    }

    /// Checks one decoder, as a process that another one has started for it.
    fn run_as_child(&self, directory: &Path) -> Result<Verdict, Failure> {
        let job = Job::accept(directory)?;
        let mut boxes = self.decoders()?;
        boxes.retain(|decoder| decoder.info().name == job.decoder);
        let decoders: Vec<_> = boxes.iter().map(|decoder| &**decoder).collect();
        let corpus = self.judging.known.corpus()?;
        let ledger = self.judging.ledger(corpus.as_deref())?;
        let corpus = self.judging.known.inputs(corpus);
        let (bar, clock) = (Bar::new(), Clock::start(self.command(self.time(&decoders))));
        let control = Control::default();
        // ^C reaches the parent and its children.
        stop_when_interrupted(&control.stop);
        let outcome = match self.bytes {
            Some(len) => self.every_string(&decoders, len, &ledger, &control, &bar)?,
            None => self.every_stage(&decoders, corpus, &ledger, job.time, &control, &bar)?,
        };
        let record = Record::of_check(&clock, &decoders, &ledger, &outcome);
        let (is_clean, is_interrupted) = (outcome.is_clean_but_for_the_ledger(), outcome.interrupted);
        Part { record, is_clean, is_interrupted }.hand_over(directory)?;
        Ok(Verdict::Clean)
    }

    /// The decoders that were named; otherwise those of the user; otherwise all, or for `--bytes` those in
    /// [`BYTE_DECODERS`].
    fn decoders(&self) -> Result<Vec<Box<dyn Decoder>>, Error> {
        let selection = &self.judging.selection;
        if self.bytes.is_none() || !selection.decoders.is_empty() || selection.has_users_decoders() {
            return selection.decoders();
        }
        let mut decoders = Selection { decoders: BYTE_DECODERS.to_owned(), ..Selection::default() }.decoders()?;
        decoders.retain(|decoder| is_standard(&decoder.info().contract));
        Ok(decoders)
    }

    /// How many seconds the whole check may take if there is a budget; otherwise, structured inputs.
    fn time(&self, decoders: &[&dyn Decoder]) -> u64 {
        let usual = match (foreign(decoders), self.quick) {
            (Some(_), _) => 0,
            (None, true) => 1,
            (None, false) => 10,
        };
        self.budget.or(self.seconds).unwrap_or(usual)
    }

    fn stages(&self) -> Vec<Stage> {
        if self.only.is_empty() { Stage::ALL.to_vec() } else { self.only.clone() }
    }

    /// The command in the record, without the options about decoders, corpus, ledger and seed; `time` is that of
    /// structured inputs or, if there is a budget, of the whole check.
    fn command(&self, time: u64) -> String {
        let mut command = "utfuzz check".to_owned();
        if let Some(len) = self.bytes {
            return format!("{command} --bytes {len}");
        }
        for (is_given, option) in [(self.deep, " --deep"), (self.quick, " --quick")] {
            command += if is_given { option } else { "" };
        }
        command += &format!(" {} {}", if self.budget.is_some() { "--budget" } else { "--seconds" }, time);
        command += if self.stop_at_first { " --stop-at-first" } else { "" };
        if !self.only.is_empty() {
            command += &format!(" --only {}", self.only.iter().map(|stage| stage.word()).collect::<Vec<_>>().join(","));
        }
        command
    }

    /// The options; `time` is that of structured inputs or, if there is a budget, of the whole check.
    fn options(&self, corpus: Option<PathBuf>, ledger: &Ledger, time: Duration, control: &Control) -> Options {
        let plan = match (self.quick, self.deep) {
            (true, _) => Plan::Quick,
            (_, true) => Plan::Deep,
            _ => Plan::Standard,
        };
        Options {
            time,
            budget: self.budget.map(|_| time),
            stop_at_first: self.stop_at_first,
            only: self.stages(),
            seed: self.seed,
            corpus,
            ledger: ledger.clone(),
            plan,
            control: control.clone(),
        }
    }

    fn every_stage(
        &self,
        decoders: &[&dyn Decoder],
        corpus: Option<PathBuf>,
        ledger: &Ledger,
        time: Duration,
        control: &Control,
        bar: &Bar,
    ) -> Result<Outcome, Failure> {
        let options = self.options(corpus, ledger, time, control);
        let name = |stage: Stage| if options.budget.is_some() { "in turns" } else { stage.name() };
        Ok(check(decoders, &options, &|stage, share| bar.show(name(stage), share))?)
    }

    fn every_string(
        &self,
        decoders: &[&dyn Decoder],
        len: u32,
        ledger: &Ledger,
        control: &Control,
        bar: &Bar,
    ) -> Result<Outcome, Failure> {
        let options =
            ByteOptions { len, ledger: ledger.clone(), resume: self.resume.clone(), control: control.clone() };
        Ok(check_bytes(decoders, &options, &|stage, share| bar.show(stage.name(), share))?)
    }
}

/// A decoder that takes longer than this for one case is considered to hang.
pub(super) const TIMEOUT: Duration = Duration::from_secs(60);

/// What one process does.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Job {
    /// The name of the decoder that it checks.
    pub(super) decoder: String,
    /// How long to run structured inputs or, with a budget, everything.
    pub(super) time: Duration,
}

/// What one process found.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) record: Record,
    pub(super) is_clean: bool,
    pub(super) is_interrupted: bool,
}

/// What all of them found.
pub(super) struct Whole {
    pub(super) record: Record,
    pub(super) is_clean: bool,
    pub(super) is_interrupted: bool,
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
    let mut total = record::Check::default();
    let mut record = Record::of_check(clock, decoders, ledger, &Outcome::default());
    record.decoders.iter_mut().for_each(|judged| judged.comparisons = None);
    let all_finished = results.iter().all(|result| matches!(result, Ok(Checked::Finished(_))));
    let mut is_clean = true;
    let mut failures = Vec::new();
    for ((decoder, judged), result) in decoders.iter().zip(&mut record.decoders).zip(results) {
        match result {
            Ok(Checked::Finished(part)) => {
                is_clean &= part.is_clean;
                is_interrupted |= part.is_interrupted;
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
            Err(error) => {
                total.partial = true;
                failures.push(error);
            }
        }
    }
    total.interrupted = is_interrupted;
    // An entry may be about several decoders, and cover what was not run.
    let is_whole = all_finished && !is_interrupted && !total.partial;
    total.stale.retain(|id| is_whole && total.known.iter().all(|known| known.id != *id));
    total.stale.sort();
    total.stale.dedup();
    is_clean &= total.divergences.is_empty() && total.stale.is_empty();
    total.divergences.sort_by(|a, b| a.signature.cmp(&b.signature));
    record.section = Section::Check(total);
    Whole { record, is_clean, is_interrupted, failures }
}

/// The cases are the same for each decoder, so they are not added up.
fn add(total: &mut record::Check, part: record::Check) {
    total.cases = total.cases.max(part.cases);
    total.comparisons += part.comparisons;
    for stage in part.stages {
        match total.stages.iter_mut().find(|known| known.name == stage.name) {
            Some(known) => {
                known.seconds = known.seconds.max(stage.seconds);
                // Within a budget, one decoder may be asked less than another.
                let left_out = |of: &record::Stage| (of.planned.unwrap_or(0).saturating_sub(of.cases), of.cases);
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
    total.set_aside.extend(part.set_aside);
    // The same for each decoder.
    total.contradictions = part.contradictions;
    total.partial |= part.partial;
}

/// The result of checking one decoder.
pub(super) enum Checked {
    Finished(Box<Part>),
    Died(Died),
    Skipped,
}

impl Checked {
    /// Whether something new was found, or the decoder ended its process.
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
        Self::Finished(Box::new(Part { record, is_clean, is_interrupted }))
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

fn check_in_a_process(decoder: &dyn Decoder, time: Duration) -> Result<Checked, Error> {
    let name = &decoder.info().name;
    let failed = |what: &dyn std::fmt::Display| Error::usage(format!("the process that checks {name}: {what}"));
    let program = std::env::current_exe().map_err(|error| failed(&error))?;
    let mut command = Command::new(program);
    // Questions of several threads could not be told apart.
    command.args(std::env::args_os().skip(1)).env("RAYON_NUM_THREADS", "1");
    let mut child = Child::new(command).map_err(|error| failed(&error))?;
    write(&child.directory().join("job.json"), &Job { decoder: name.to_string(), time })?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers;

    /// What two decoders show together whose checks ended like this; the check of one without an outcome was skipped.
    fn both(outcomes: [Option<Outcome>; 2], is_interrupted: bool) -> Whole {
        let (boxes, ledger, clock) = (peers::all(), Ledger::default(), Clock::start("a test"));
        let decoders: Vec<&dyn Decoder> = boxes.iter().take(2).map(|decoder| &**decoder).collect();
        let results = decoders.iter().zip(outcomes).map(|(decoder, outcome)| match outcome {
            Some(outcome) => Ok(Checked::of(Record::of_check(&clock, &[*decoder], &ledger, &outcome), outcome)),
            None => Ok(Checked::Skipped),
        });
        whole(&decoders, &ledger, &clock, results.collect(), is_interrupted)
    }

    #[test]
    fn a_check_is_interrupted_if_a_part_is_and_only_a_whole_one_names_stale_entries() {
        let stale = || Some(Outcome { stale: vec!["entry".to_owned()], ..Outcome::default() });
        let interrupted = || Some(Outcome { interrupted: true, ..Outcome::default() });
        let partial = Some(Outcome { partial: true, ..Outcome::default() });
        for (outcomes, is_stopped, expected) in [
            ([stale(), stale()], false, (false, 1)),
            ([stale(), stale()], true, (true, 0)),
            ([stale(), interrupted()], false, (true, 0)),
            ([interrupted(), stale()], false, (true, 0)),
            ([stale(), partial], false, (false, 0)),
            ([stale(), None], false, (false, 0)),
            ([stale(), None], true, (true, 0)),
        ] {
            let whole = both(outcomes, is_stopped);
            let check = whole.record.check().unwrap();
            assert_eq!((check.interrupted, check.stale.len()), expected);
            assert_eq!(whole.is_interrupted, check.interrupted);
        }
    }
}
