//! Arguments shared by several subcommands: which decoders are judged, with which ledger, and how the result is printed; and
//! the commands about these decoders.
//!
//! `utfuzz adapter` is what an author of adapters needs. `utfuzz
//! serve-plugin`, which `--plugin` starts, is an adapter for a shared library, as `docs/adapter.md` describes it. Each
//! decoder of an adapter is examined on one thread, by [`one_by_one`].

use crate::cli::output::{Bar, Failure, Verdict, note, painted};
use crate::codec::convert::Encoding;
use crate::decoder::{Decoder, Info, check_infos};
use crate::engine::targets;
use crate::error::Error;
#[cfg(target_os = "linux")]
use crate::judge::isolate::guard_pages::GuardedBuffer;
use crate::peers;
use crate::peers::foreign::Foreign;
use crate::peers::foreign::plugin::{self, Plugin, Server, load};
use crate::peers::foreign::process::{Process, Program};
use crate::peers::foreign::protocol::Operation;
use crate::peers::foreign::prove::{Step, prove};
use crate::peers::foreign::registry::{Configured, Found, configured};
use crate::peers::units::{self, UnitDecoder};
use crate::report::{Exporter, Json, Record, Text, write_json};
use crate::spec::Grammar;
use crate::spec::grammar::ALL;
use crate::text::{printable, shown};
use crate::triage::ledger::Ledger;
use clap::{Args, Subcommand};
use rayon::ThreadPoolBuilder;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Write};
use std::os::fd::AsFd;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

/// The grammar of this name; the names of its encoding are accepted too.
pub(super) fn grammar(name: &str) -> Result<&'static Grammar, Error> {
    let of_encoding = || Encoding::named(name).ok().filter(|encoding| *encoding != Encoding::Utf8b)?.grammar();
    Grammar::named(&name.to_lowercase()).or_else(of_encoding).ok_or_else(|| {
        let known = ALL.map(|grammar| grammar.name).join(", ");
        Error::usage(format!("no grammar is named {name:?}; known: {known}"))
    })
}

/// Which decoders are judged, with which ledger, and how the result is printed.
#[derive(Debug, Args)]
pub(super) struct Judging {
    /// Print one JSON object
    #[arg(long)]
    pub(super) json: bool,
    #[command(flatten)]
    pub(super) selection: Selection,
    #[command(flatten)]
    pub(super) known: Known,
}

impl Judging {
    /// The known differences; see [`Known::ledger`].
    pub(super) fn ledger(&self, corpus: Option<&Path>) -> Result<Ledger, Error> {
        self.known.ledger(&self.selection, corpus)
    }

    pub(super) fn print(&self, record: &Record, out: &mut dyn Write) -> io::Result<()> {
        if self.json {
            return Json.export(record, out);
        }
        let mut text = Vec::new();
        Text.export(record, &mut text)?;
        out.write_all(painted(&String::from_utf8_lossy(&text)).as_bytes())
    }
}

/// Which decoders are judged.
#[derive(Debug, Default, Args)]
pub(super) struct Selection {
    /// Decoders by name, separated by commas; `*` matches any characters, `-NAME` excludes one
    #[arg(long, value_name = "FILTER", default_value = "", hide_default_value = true, allow_hyphen_values = true)]
    pub(super) decoders: String,
    #[cfg(unix)]
    #[command(flatten)]
    pub(super) adapters: Adapters,
}

/// An error if an option was given without the one it is about. `requires` of clap does not see this if that other one conflicts
/// with something else that was given.
pub(super) fn require(option: &str, is_given: bool, about: &str, is_there: bool) -> Result<(), Error> {
    match is_given && !is_there {
        true => Err(Error::usage(format!("{option} is only for {about}"))),
        false => Ok(()),
    }
}

/// Decoders in other processes, in any language, and in shared libraries.
#[cfg(unix)]
#[derive(Debug, Default, Args)]
pub(super) struct Adapters {
    /// Use the decoders of the adapters in this directory, or of one file adapter.toml [default: ./adapters]
    #[arg(long, value_name = "PATH", num_args = 0..=1, default_missing_value = "adapters", require_equals = true)]
    adapters: Option<PathBuf>,
    /// With --adapters, only those that take at most this much to install: 0 nothing, 1 system packages, 2 language
    /// packages (PyPI, npm and others), 3 large ones
    #[arg(long, value_name = "N", default_value_t = 3, requires = "adapters", hide_default_value = true)]
    tier: u8,
    /// Use the decoders of the adapter that this command starts
    #[arg(long, value_name = "COMMAND")]
    adapter: Vec<String>,
    /// Judge the decoders of these shared libraries, each in a process of its own
    #[arg(long, value_name = "LIBRARY", value_delimiter = ',')]
    plugin: Vec<PathBuf>,
    /// Load the libraries of --plugin into this process: this is faster, but a decoder that crashes ends the process
    #[arg(long, requires = "plugin")]
    in_process: bool,
}

#[cfg(unix)]
impl Adapters {
    /// Those in other processes. Anything an `adapter.toml` names that cannot be started is reported and skipped.
    fn found(&self) -> Result<Found, Error> {
        let mut all = Vec::new();
        if let Some(path) = &self.adapters {
            all.push(Found::read(path, self.tier)?);
        }
        for command in &self.adapter {
            all.push(Found::command(command.split_whitespace().map(str::to_owned).collect())?);
        }
        for path in self.plugin.iter().filter(|_| !self.in_process) {
            all.push(Found::plugin(path, server()?)?);
        }
        for (name, why) in all.iter().flat_map(|found| &found.skipped) {
            note(&format!("skipped {name}: {why}"));
        }
        let mut found = Found::default();
        for of in &mut all {
            found.decoders.append(&mut of.decoders);
            found.units.append(&mut of.units);
        }
        if !found.decoders.is_empty() || !found.units.is_empty() || self.in_process {
            return Ok(found);
        }
        match &self.adapters {
            Some(path) if all.iter().all(|found| found.skipped.is_empty()) => Err(Error::usage(format!(
                "{}: it names no adapter, or none up to --tier {}; each is a table [[adapter]] of a file adapter.toml",
                shown(path),
                self.tier
            ))),
            _ => Err(Error::usage("no adapter can be started; `adapters/setup` installs what they need")),
        }
    }

    /// The decoders of UTF-8 and its relatives among them.
    pub(super) fn foreign(&self) -> Result<Vec<Foreign>, Error> {
        Ok(self.found()?.decoders)
    }

    /// All of them, including those loaded into this process.
    fn decoders(&self) -> Result<Decoders, Error> {
        let Found { decoders, units, .. } = self.found()?;
        let mut decoders: Vec<_> = decoders.into_iter().map(|decoder| Box::new(decoder) as Box<dyn Decoder>).collect();
        for path in self.plugin.iter().filter(|_| self.in_process) {
            decoders.extend(load(path)?.into_iter().map(|plugin| Box::new(plugin) as Box<dyn Decoder>));
        }
        Ok((decoders, units))
    }

    pub(super) fn is_used(&self) -> bool {
        self.adapters.is_some() || !self.adapter.is_empty() || !self.plugin.is_empty()
    }
}

/// The command that serves a library: this program.
#[cfg(unix)]
fn server() -> Result<Vec<String>, Error> {
    let wrong = |what: &dyn std::fmt::Display| Error::usage(format!("the path of this program: {what}"));
    let program = std::env::current_exe().map_err(|error| wrong(&error))?;
    let program = program.into_os_string().into_string().map_err(|_| wrong(&"it is not UTF-8; use --in-process"))?;
    Ok(vec![program, "serve-plugin".to_owned()])
}

/// What [`Cli::main_with`](crate::cli::Cli::main_with) was given.
static REGISTERED: Mutex<Constructor> = Mutex::new(Vec::new);

/// Decoders of UTF-8 and its relatives; and those of UTF-16 and UTF-32.
type Decoders = (Vec<Box<dyn Decoder>>, Vec<UnitDecoder>);

type Constructor = fn() -> Vec<Box<dyn Decoder>>;

/// Makes decoders known to this process, besides the peers.
pub(super) fn register(decoders: Constructor) {
    *REGISTERED.lock().unwrap_or_else(PoisonError::into_inner) = decoders;
}

pub(super) fn registered() -> Vec<Box<dyn Decoder>> {
    let decoders = *REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    decoders()
}

impl Selection {
    /// The ledger of the adapters: the file `known.toml` where they are or up to two directories above, if it exists.
    fn ledger(&self) -> Option<PathBuf> {
        #[cfg(unix)]
        if let Some(path) = self.adapters.adapters.as_ref().and_then(|path| std::fs::canonicalize(path).ok()) {
            return path.ancestors().take(3).map(|path| path.join("known.toml")).find(|path| path.is_file());
        }
        None
    }

    /// The decoders that were named. If none were named, or only some to exclude: those of the adapters, else those
    /// that were registered, else all peers.
    pub(super) fn decoders(&self) -> Result<Vec<Box<dyn Decoder>>, Error> {
        let (all, _) = self.everything()?;
        let names: Vec<_> = all.iter().map(|decoder| &*decoder.info().name).collect();
        let selected = peers::select_names(&names, &self.decoders).map_err(Error::usage)?;
        let chosen: Vec<_> =
            all.into_iter().zip(selected).filter(|(_, selected)| *selected).map(|(decoder, _)| decoder).collect();
        match chosen.is_empty() {
            true => Err(self.selects_none()),
            false => Ok(chosen),
        }
    }

    /// Whether the user has decoders: those of adapters and plugins, or registered ones.
    pub(super) fn has_users_decoders(&self) -> bool {
        #[cfg(unix)]
        if self.adapters.is_used() {
            return true;
        }
        !registered().is_empty()
    }

    fn selects_none(&self) -> Error {
        Error::usage(format!("--decoders {:?} selects no decoder; `utfuzz list` shows their names", self.decoders))
    }

    /// As [`decoders`](Self::decoders), with those of UTF-16 and UTF-32.
    pub(super) fn decoders_and_units(&self) -> Result<Decoders, Error> {
        let (all, units) = self.everything()?;
        let infos = || all.iter().chain(units.iter().map(|unit| &unit.decoder)).map(|decoder| decoder.info());
        let names: Vec<_> = infos().map(|info| &*info.name).collect();
        let mut selected = peers::select_names(&names, &self.decoders).map_err(Error::usage)?.into_iter();
        let mut is_selected = || selected.next().unwrap_or_default();
        let decoders: Vec<_> = all.into_iter().filter(|_| is_selected()).collect();
        let units: Vec<_> = units.into_iter().filter(|_| is_selected()).collect();
        match decoders.is_empty() && units.is_empty() {
            true => Err(self.selects_none()),
            false => Ok((decoders, units)),
        }
    }

    /// All that can be selected from.
    fn everything(&self) -> Result<Decoders, Error> {
        let (mut all, mut of_units) = (registered(), Vec::new());
        #[cfg(unix)]
        if self.adapters.is_used() {
            (all, of_units) = self.adapters.decoders()?;
        }
        let names_some = self.decoders.split(',').map(str::trim).any(|name| !name.is_empty() && !name.starts_with('-'));
        let is_default = !names_some && !all.is_empty();
        if !is_default {
            all.extend(peers::all());
            of_units.extend(units::all());
        }
        check_infos(all.iter().chain(of_units.iter().map(|unit| &unit.decoder)).map(|decoder| &**decoder))?;
        Ok((all, of_units))
    }
}

/// Which differences are accepted.
#[derive(Debug, Args)]
pub(super) struct Known {
    /// The corpus directory [default: ./corpus or ./fuzz, if there is a corpus or a ledger]
    #[arg(long, value_name = "DIR")]
    pub(super) corpus: Option<PathBuf>,
    /// The ledger of known differences [default: known.toml in the corpus directory, or the one built in]
    #[arg(long, value_name = "FILE")]
    pub(super) ledger: Option<PathBuf>,
    /// Ignore the ledger: report known differences as if they were new
    #[arg(long, conflicts_with = "ledger")]
    pub(super) no_ledger: bool,
}

impl Known {
    pub(super) fn corpus(&self) -> Result<Option<PathBuf>, Error> {
        match &self.corpus {
            Some(path) => match std::fs::read_dir(path) {
                Ok(_) => Ok(Some(path.clone())),
                Err(error) => Err(Error::io(path, &error)),
            },
            None => {
                let is_corpus = |path: &PathBuf| path.join("vectors").is_dir() || path.join("known.toml").is_file();
                Ok(["corpus", "fuzz"].map(PathBuf::from).into_iter().find(is_corpus))
            }
        }
    }

    /// The corpus directory; `None` if it was found rather than typed and has no inputs.
    pub(super) fn inputs(&self, corpus: Option<PathBuf>) -> Option<PathBuf> {
        let seeds = targets::ALL.iter().flat_map(|target| target.seeds).filter_map(|path| path.strip_prefix("corpus/"));
        let directories: Vec<&str> = seeds.chain(["vectors"]).collect();
        let has_inputs = |path: &PathBuf| directories.iter().any(|name| path.join(name).is_dir());
        corpus.filter(|path| self.corpus.is_some() || has_inputs(path))
    }

    /// Where a difference can be accepted, if that is not the ledger of this repository: the ledger that was named, that of the
    /// adapters, or that of another crate, which has its fuzz targets in `fuzz`.
    pub(super) fn other_ledger(&self, selection: &Selection, fuzz: &Path) -> Option<PathBuf> {
        let of_crate = || Some(self.corpus.as_deref().unwrap_or(fuzz).join("known.toml"));
        self.ledger.clone().or_else(|| if registered().is_empty() { selection.ledger() } else { of_crate() })
    }

    /// The known differences of the decoders in this crate, or of the user, and those of the selected adapters.
    pub(super) fn ledger(&self, selection: &Selection, corpus: Option<&Path>) -> Result<Ledger, Error> {
        if self.no_ledger {
            return Ok(Ledger::default());
        }
        let beside = corpus.map(|path| path.join("known.toml")).filter(|path| path.exists());
        let ledger =
            self.ledger.clone().or(beside).map_or_else(|| Ok(Ledger::built_in()), |path| Ledger::read(&path))?;
        match selection.ledger() {
            Some(path) => ledger.with(Ledger::read(&path)?),
            None => Ok(ledger),
        }
    }
}

/// What `examine` returns for each decoder, in order, until `stop` is set. `done` is called with each result, in the
/// same order, as soon as it and all results before it are available. A note says how fast a decoder in another process
/// answered. Each decoder is examined on one thread, so it has one process, which ends afterwards, and no more adapters
/// run at a time than there are processors.
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
            return if guarded.out_of_bounds_access() {
                plugin::Said::failed("it reads outside its input")
            } else {
                said
            };
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

/// Test an adapter, before its decoder is judged
#[derive(Debug, Args)]
pub(super) struct Adapter {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Check(AdapterCheck),
}

/// Test that an adapter passes on what is asked and answered
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
        for (mut program, only) in self.chosen()? {
            if let Some(seconds) = self.timeout {
                program.timeout = Duration::from_secs(seconds.into());
            }
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
            // `--adapter` divides its command at spaces, and so does this command if it is one word.
            let has_space =
                self.command.len() > 1 && self.command.iter().any(|word| word.contains(char::is_whitespace));
            let is_path = is_configured(&typed);
            let typed = if typed.contains(char::is_whitespace) { format!("'{typed}'") } else { typed };
            let option = match (is_path, has_space) {
                (true, _) => format!("--adapters={typed}"),
                (false, false) => format!("--adapter {typed}"),
                (false, true) => "--adapters=FILE".to_owned(),
            };
            writeln!(out, "\nnext:")?;
            if option == "--adapters=FILE" {
                writeln!(out, "  write the command into a file adapter.toml, since one of its words has a space")?;
            }
            writeln!(out, "  utfuzz check --quick {option}\n  utfuzz measure {option}")?;
        } else {
            writeln!(out, "\n{wrong} failed; correct the adapter before you judge its decoder")?;
        }
        Ok(if wrong == 0 { Verdict::Clean } else { Verdict::Diverged })
    }

    /// The programs to test, each with the entry points to test; an empty list stands for all.
    fn chosen(&self) -> Result<Vec<(Program, Vec<String>)>, Error> {
        let programs = self.programs()?;
        if self.entry.is_empty() {
            return Ok(programs.into_iter().map(|of| (of.program, of.entries.unwrap_or_default())).collect());
        }
        if programs.len() == 1 {
            return Ok(programs.into_iter().map(|of| (of.program, self.entry.clone())).collect());
        }
        let (mut chosen, mut known) = (Vec::new(), Vec::<String>::new());
        for Configured { program, .. } in programs {
            let names: Vec<String> = match Process::start(&program, None) {
                Ok((_, greeting)) => greeting.entries.into_iter().map(|entry| entry.name).collect(),
                // Its proof says why it does not start.
                Err(_) => self.entry.clone(),
            };
            let only: Vec<String> = self.entry.iter().filter(|name| names.contains(name)).cloned().collect();
            known.extend(names);
            chosen.extend((!only.is_empty()).then_some((program, only)));
        }
        match self.entry.iter().find(|name| !known.contains(name)) {
            Some(name) => Err(Error::usage(format!("there is no entry point {name}; known: {}", known.join(" ")))),
            None => Ok(chosen),
        }
    }

    /// The programs that are named.
    fn programs(&self) -> Result<Vec<Configured>, Error> {
        let program = |command| Configured {
            name: String::new(),
            program: Program::of_command(command),
            entries: None,
            slow: Vec::new(),
        };
        match self.command.as_slice() {
            [path] if is_configured(path) => match configured(Path::new(path), u8::MAX)? {
                none if none.is_empty() => Err(Error::usage(format!(
                    "{}: no [[adapter]] there, so there is nothing to test; docs/adapter.md describes adapter.toml",
                    shown(Path::new(path))
                ))),
                programs => Ok(programs),
            },
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

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    /// A directory with a file adapter.toml, whose programs greet with one of these entry points each.
    fn adapters(entries: &[&str]) -> TempDir {
        let program = |entry: &&str| {
            let greeting = format!(r"utfuzz 1 lines\npackage=p\nversion=1\nname={entry}\nanswers=verdict\n\n");
            format!("[[adapter]]\ncommand = [\"printf\", '{greeting}']\n")
        };
        let directory = tempfile::tempdir().unwrap();
        let text: String = entries.iter().map(program).collect();
        std::fs::write(directory.path().join("adapter.toml"), text).unwrap();
        directory
    }

    /// The entry points that `adapter check` tests of each program.
    fn chosen(directory: &TempDir, entry: &[&str]) -> Result<Vec<Vec<String>>, String> {
        let command = vec![directory.path().to_str().unwrap().to_owned()];
        let entry = entry.iter().map(|name| (*name).to_owned()).collect();
        let check = AdapterCheck { entry, timeout: None, json: false, command };
        let chosen = check.chosen().map_err(|error| error.to_string())?;
        Ok(chosen.into_iter().map(|(_, only)| only).collect())
    }

    #[test]
    fn an_entry_point_is_looked_for_in_every_program() {
        let two = adapters(&["a", "b"]);
        let lists = |lists: &[&[&str]]| -> Result<Vec<Vec<String>>, String> {
            Ok(lists.iter().map(|list| list.iter().map(|name| (*name).to_owned()).collect()).collect())
        };
        assert_eq!(chosen(&two, &[]), lists(&[&[], &[]]));
        assert_eq!(chosen(&two, &["b"]), lists(&[&["b"]]));
        assert_eq!(chosen(&two, &["b", "a"]), lists(&[&["a"], &["b"]]));
        assert_eq!(chosen(&two, &["a", "c"]), Err("there is no entry point c; known: a b".to_owned()));
    }

    #[test]
    fn a_file_without_adapters_proves_nothing() {
        assert!(chosen(&adapters(&[]), &[]).is_err_and(|error| error.contains("no [[adapter]] there")));
    }
}
