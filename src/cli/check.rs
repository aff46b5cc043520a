//! `utfuzz check`: the embedded engine.

use crate::cli::arguments::{Judging, Selection};
use crate::cli::isolate::{Checked, Job, Part, Whole, check_isolated, one_by_one, unless_found, whole};
use crate::cli::output::{Bar, Failure, Verdict, note, stop_when_interrupted};
use crate::decoder::{Batched, Decoder};
use crate::engine::check::{ByteOptions, Control, Options, Outcome, Plan, Stage, byte_strings, check, check_bytes};
use crate::error::Error;
use crate::judge::isolate::is_child;
use crate::report::{Certificate, Clock, Exhaustive, Record};
use crate::spec::Contract;
use crate::triage::ledger::Ledger;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Judge decoders on vectors, the corpus, every short string, random inputs
///
/// Five stages: published vectors, the corpus, short strings of text fragments, every short string over the byte
/// classes, then random structured inputs until the time is up. With --budget they take turns.
#[derive(Debug, Args)]
pub(super) struct Check {
    /// How many seconds to run structured inputs after the other stages [default: 10, or 1 with --quick]
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
    /// Run every byte string of this length, 1 to 4, and nothing else: verdicts of own, std and simdutf8, or of
    /// --decoders
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

/// The decoders of `--bytes` if none are named; of these, only the ones with the standard contract are used.
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

fn note_contradictions(contradictions: &[String]) {
    for contradiction in contradictions {
        note(&format!("the standard contradicts a published vector: {contradiction}"));
    }
}

/// Checks one decoder, with fewer strings if it is in another process.
fn check_one(decoder: &dyn Decoder, options: &Options, clock: &Clock) -> Result<Checked, Error> {
    let one = &[decoder];
    let plan = match decoder.batched().map(Batched::is_slow) {
        Some(true) if options.plan != Plan::Deep => Plan::Few,
        Some(false) if options.plan != Plan::Deep => Plan::Remote,
        Some(_) => Plan::Quick,
        None => options.plan,
    };
    let options = &Options { plan, ..options.clone() };
    let outcome = check(one, options, &|_, _| {})?;
    Ok(Checked::of(Record::of_check(clock, one, &options.ledger, &outcome), outcome))
}

impl Check {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        if let Some(directory) = is_child() {
            return self.run_as_child(&directory);
        }
        let boxes = self.decoders()?;
        let decoders: Vec<_> = boxes.iter().map(|decoder| &**decoder).collect();
        let corpus = self.judging.known.corpus()?;
        let ledger = self.judging.ledger(corpus.as_deref())?;
        if corpus.is_none() && self.bytes.is_none() && self.stages().contains(&Stage::Corpus) {
            note("no corpus directory here, so the corpus stage is skipped; name one with --corpus DIR");
        }
        if self.isolate {
            return self.run_isolated(&decoders, &ledger, out);
        }
        if self.bytes.is_none() && decoders.iter().any(|decoder| decoder.batched().is_some()) {
            return self.run_one_by_one(&decoders, corpus, &ledger, out);
        }
        let certificate = self.certificate.as_deref().map(Certificate::open).transpose()?;
        let control = Control::default();
        stop_when_interrupted(&control.stop);
        let bar = Bar::counting(control.cases.clone());
        let clock = Clock::start(self.command());
        let outcome = match self.bytes {
            Some(len) => self.every_string(&decoders, len, &ledger, &control, &bar)?,
            None => self.every_stage(&decoders, corpus, &ledger, Duration::from_secs(self.time()), &control, &bar)?,
        };
        bar.finish();
        note_contradictions(&outcome.contradictions);
        let mut record = Record::of_check(&clock, &decoders, &ledger, &outcome);
        if self.bytes.is_some() {
            // The time of a resumed run includes the earlier runs.
            record.seconds = outcome.stages.iter().map(|ran| ran.seconds).sum();
        }
        let run = self.bytes.map_or(Exhaustive::Classes, Exhaustive::Bytes);
        let write = |certificate: Certificate| certificate.write(run, &decoders, &outcome, &record);
        // What was not run cannot be certified.
        let written = certificate.filter(|_| !outcome.interrupted).map_or(Ok(()), write);
        self.judging.print(&record, out)?;
        written?;
        if outcome.interrupted {
            let stage = outcome.stages.last().map_or("", |ran| ran.stage.name());
            note(&format!("interrupted during {stage}; {}", self.how_to_go_on()));
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
            (None, _) => "the same command starts again, and --quick takes ten seconds",
        }
    }

    /// Checks each decoder by itself.
    fn run_one_by_one(
        &self,
        decoders: &[&dyn Decoder],
        corpus: Option<PathBuf>,
        ledger: &Ledger,
        out: &mut dyn Write,
    ) -> Result<Verdict, Failure> {
        let control = Control::default();
        stop_when_interrupted(&control.stop);
        let clock = Clock::start(self.command());
        let at_a_time = rayon::current_num_threads().min(decoders.len()) as u32;
        let time = match self.budget {
            Some(budget) => Duration::from_secs(budget) * at_a_time / decoders.len() as u32,
            None => Duration::from_secs(self.seconds.unwrap_or(0)) / decoders.len() as u32,
        };
        let options = self.options(corpus, ledger, time, &control);
        let found = AtomicBool::default();
        let check =
            |decoder: &dyn Decoder| unless_found(self.stop_at_first, &found, || check_one(decoder, &options, &clock));
        let results = one_by_one(decoders, &control.stop, check, |_| ())?;
        let interrupted = control.stop.load(Ordering::Relaxed);
        self.conclude(whole(decoders, ledger, &clock, results, interrupted), out)
    }

    /// Checks every decoder in a process of its own.
    fn run_isolated(
        &self,
        decoders: &[&dyn Decoder],
        ledger: &Ledger,
        out: &mut dyn Write,
    ) -> Result<Verdict, Failure> {
        let (bar, stop) = (Bar::new(), Arc::default());
        stop_when_interrupted(&stop);
        let clock = Clock::start(format!("{} --isolate", self.command()));
        let seconds = if self.bytes.is_some() { 0 } else { self.time() };
        let whole = check_isolated(decoders, ledger, &clock, seconds, self.stop_at_first, &stop, &bar);
        bar.finish();
        self.conclude(whole, out)
    }

    fn conclude(&self, whole: Whole, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let Whole { record, is_clean, is_interrupted, contradictions, failures } = whole;
        note_contradictions(&contradictions);
        self.judging.print(&record, out)?;
        if is_interrupted {
            note(&format!("interrupted; {}", self.how_to_go_on()));
        }
        let has_found = record.check().is_some_and(|check| !check.divergences.is_empty());
        match failures.into_iter().next() {
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
        let (bar, clock) = (Bar::new(), Clock::start(self.command()));
        let control = Control::default();
        // ^C reaches the parent and its children.
        stop_when_interrupted(&control.stop);
        let outcome = match self.bytes {
            Some(len) => self.every_string(&decoders, len, &ledger, &control, &bar)?,
            None => {
                let time = Duration::try_from_secs_f64(job.seconds).unwrap_or_default();
                self.every_stage(&decoders, corpus, &ledger, time, &control, &bar)?
            }
        };
        let record = Record::of_check(&clock, &decoders, &ledger, &outcome);
        let (is_clean, is_interrupted) = (outcome.is_clean_but_for_the_ledger(), outcome.interrupted);
        Part { record, is_clean, is_interrupted, contradictions: outcome.contradictions }.hand_over(directory)?;
        Ok(Verdict::Clean)
    }

    /// The decoders that were named; otherwise all, or for `--bytes` those in [`BYTE_DECODERS`].
    fn decoders(&self) -> Result<Vec<Box<dyn Decoder>>, Error> {
        let selection = &self.judging.selection;
        if self.bytes.is_none() || !selection.decoders.is_empty() {
            return selection.decoders();
        }
        let mut decoders = Selection { decoders: BYTE_DECODERS.to_owned(), ..Selection::default() }.decoders()?;
        decoders.retain(|decoder| is_standard(&decoder.info().contract));
        Ok(decoders)
    }

    /// How many seconds the whole check may take if there is a budget; otherwise, structured inputs.
    fn time(&self) -> u64 {
        self.budget.or(self.seconds).unwrap_or(if self.quick { 1 } else { 10 })
    }

    fn stages(&self) -> Vec<Stage> {
        if self.only.is_empty() { Stage::ALL.to_vec() } else { self.only.clone() }
    }

    fn command(&self) -> String {
        let mut command = "utfuzz check".to_owned();
        if let Some(len) = self.bytes {
            return format!("{command} --bytes {len}");
        }
        for (is_given, option) in [(self.deep, " --deep"), (self.quick, " --quick")] {
            command += if is_given { option } else { "" };
        }
        command += &format!(" {} {}", if self.budget.is_some() { "--budget" } else { "--seconds" }, self.time());
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
