//! Decoders in processes of their own.
//!
//! `utfuzz check --isolate` checks each decoder in a process of its own, so that a decoder that ends its process is named
//! and the others are still checked. The process is this program with the same arguments. It finds its job in a directory
//! that it shares with its parent, and leaves its result there.
//!
//! `utfuzz serve-plugin`, which `--plugin` starts, is an adapter for a shared library, as `docs/adapter.md` describes it;
//! `utfuzz adapter` is what an author of adapters needs.

use crate::cli::output::{Bar, Failure, Verdict, note};
use crate::decoder::{Decoder, Info};
use crate::engine::check::Outcome;
use crate::error::Error;
use crate::explain::{Shape, Signature, annotate};
use crate::io::replace_file;
#[cfg(target_os = "linux")]
use crate::judge::isolate::guard_pages::GuardedBuffer;
use crate::judge::isolate::{Child, Crash, note_questions};
use crate::judge::{Ending, Law, Subject};
use crate::peers::foreign::plugin::{self, Plugin, Said, Server};
use crate::peers::foreign::process::Program;
use crate::peers::foreign::protocol::Operation;
use crate::peers::foreign::prove::{Step, prove};
use crate::peers::foreign::registry::{Configured, configured};
use crate::report::record::{Check, Difference, KnownDifference, Record, Section, Stage};
use crate::report::{Clock, write_json};
use crate::text::{counted, hex, printable, shown};
use crate::triage::ledger::Ledger;
use crate::triage::session::Kept;
use clap::{Args, Subcommand};
use rayon::ThreadPoolBuilder;
use rayon::prelude::*;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

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

/// What `examine` returns for each decoder, in order, until `stop` is set. `done` is called with each result, in the same
/// order, as soon as all results before it are there. A note says how fast a decoder in another process answered. Each
/// decoder is examined on one thread, so it has one process, which ends afterwards, and no more adapters run at a time
/// than there are processors.
///
/// # Errors
/// A thread cannot be started.
pub(super) fn one_by_one<R: Send>(
    decoders: &[&dyn Decoder],
    stop: &AtomicBool,
    examine: impl Fn(&dyn Decoder) -> R + Sync,
    mut done: impl FnMut(&R),
) -> Result<Vec<R>, Error> {
    let (bar, next) = (Bar::new(), AtomicUsize::new(0));
    let (sender, results) = mpsc::channel();
    let some = |sender: mpsc::Sender<(usize, R)>| {
        while !stop.load(Ordering::Relaxed)
            && let index = next.fetch_add(1, Ordering::Relaxed)
            && let Some(decoder) = decoders.get(index)
        {
            bar.show("decoders", index as f64 / decoders.len() as f64);
            let start = Instant::now();
            let result = examine(*decoder);
            if let Some(batched) = decoder.batched() {
                let Info { name, version, .. } = decoder.info();
                let seconds = start.elapsed().as_secs_f64();
                note(&format!("{name} {}: {}; {seconds:.2} s in all", printable(version), batched.summary()));
                batched.stop();
            }
            // The receiver is there until all senders are gone.
            let _ = sender.send((index, result));
        }
    };
    let threads = rayon::current_num_threads().min(decoders.len());
    let pools = (0..threads).map(|_| ThreadPoolBuilder::new().num_threads(1).build());
    let pools: Vec<_> = pools.collect::<Result<_, _>>().map_err(|error| {
        Error::parse(format!("cannot start a thread: {error}; set RAYON_NUM_THREADS to a lower number"))
    })?;
    let mut all: Vec<Option<R>> = decoders.iter().map(|_| None).collect();
    thread::scope(|scope| {
        for pool in &pools {
            let sender = sender.clone();
            scope.spawn(|| pool.install(|| some(sender)));
        }
        drop(sender);
        let mut first = 0;
        for (index, result) in results {
            all[index] = Some(result);
            while let Some(Some(result)) = all.get(first) {
                done(result);
                first += 1;
            }
        }
    });
    bar.finish();
    Ok(all.into_iter().flatten().collect())
}

/// Serve the decoders of a shared library as an adapter
#[derive(Debug, Args)]
pub(super) struct ServePlugin {
    /// The library, by its absolute path
    library: PathBuf,
    /// Serve only this entry point
    entry: Option<String>,
}

impl ServePlugin {
    /// Greets, and answers requests until there are no more.
    pub(super) fn run(self) -> Result<Verdict, Failure> {
        // What the library prints must not get mixed into the answers.
        let mut to = File::from(io::stdout().as_fd().try_clone_to_owned()?);
        rustix::stdio::dup2_stdout(io::stderr()).map_err(io::Error::from)?;
        let mut greeting = String::from("utfuzz 1 frames\n");
        let mut plugins = plugin::read(&self.library).unwrap_or_else(|why| {
            greeting += &format!("error={}\n", printable(&why));
            Vec::new()
        });
        plugins.retain(|plugin| {
            self.entry.as_ref().is_none_or(|entry| plugin.texts().first().is_some_and(|(_, name)| name == entry))
        });
        for (key, text) in plugins.iter().flat_map(Plugin::texts) {
            greeting += &format!("{key}={text}\n");
        }
        to.write_all(format!("{greeting}\n").as_bytes())?;
        if let [plugin] = &plugins[..] {
            let served = serve(plugin, &mut io::stdin().lock(), &mut to);
            served.map_err(|error| Error::usage(format!("the requests on standard input: {error}")))?;
        }
        Ok(Verdict::Clean)
    }
}

fn serve(plugin: &Plugin, from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut server = Server::new(plugin);
    #[cfg(target_os = "linux")]
    let mut guarded = GuardedBuffer::new();
    let mut ask = |operation, bytes: &[u8]| {
        #[cfg(target_os = "linux")]
        if let Some(guarded) = &mut guarded
            && let Some(placed) = guarded.at_end(bytes)
        {
            let said = server.ask(operation, placed);
            return if guarded.out_of_bounds_access() { Said::failed("it reads outside its input") } else { said };
        }
        server.ask(operation, bytes)
    };
    let (mut request, mut reply) = (Vec::new(), Vec::new());
    loop {
        let mut size = [0; 4];
        match from.read_exact(&mut size) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(()),
            result => result?,
        }
        request.resize(u32::from_le_bytes(size) as usize, 0);
        from.read_exact(&mut request)?;
        reply.clear();
        reply.extend_from_slice(&[0; 4]);
        let mut rest = &request[..];
        while let Some((operation, bytes)) = Operation::take(&mut rest) {
            ask(operation, bytes).write(&mut reply);
        }
        if !rest.is_empty() {
            return Err(io::Error::other("the request is not made of whole operations"));
        }
        let size = (reply.len() - 4) as u32;
        reply[..4].copy_from_slice(&size.to_le_bytes());
        to.write_all(&reply)?;
    }
}

/// Prove an adapter, before its decoder is judged
#[derive(Debug, Args)]
pub(super) struct Adapter {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Check(AdapterCheck),
}

/// Prove that an adapter passes on what is asked and answered
///
/// Each step is printed when it is done; docs/adapter.md describes what an adapter does. Exit status 1: a step failed, so
/// what the adapter says about its decoder proves nothing.
#[derive(Debug, Args)]
struct AdapterCheck {
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

impl AdapterCheck {
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
