//! Arguments shared by several subcommands: which decoders are judged, with which ledger, and how the result is printed;
//! and `utfuzz list`, which lists what they select.

#[cfg(unix)]
use crate::cli::output::note;
use crate::cli::output::{Failure, Verdict, painted, width};
use crate::codec::convert::Encoding;
use crate::decoder::{Decoder, check_infos};
use crate::error::Error;
use crate::peers;
#[cfg(unix)]
use crate::peers::foreign::Foreign;
#[cfg(unix)]
use crate::peers::foreign::plugin::load;
#[cfg(unix)]
use crate::peers::foreign::registry::Found;
use crate::peers::units::{self, UnitDecoder};
use crate::report::{Exporter, Json, Record, Text, write_json};
use crate::spec::Grammar;
use crate::spec::grammar::ALL;
use crate::triage::ledger::Ledger;
use clap::Args;
use comfy_table::presets::NOTHING;
use comfy_table::{ColumnConstraint, ContentArrangement, Width};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// The grammar of this name; the names of its encoding are accepted too.
pub(super) fn grammar(name: &str) -> Result<&'static Grammar, Error> {
    let of_encoding = || Encoding::named(name).ok().filter(|encoding| *encoding != Encoding::Utf8b)?.grammar();
    Grammar::named(&name.to_lowercase()).or_else(of_encoding).ok_or_else(|| {
        let known = ALL.map(|grammar| grammar.name).join(", ");
        Error::usage(format!("no grammar is named {name:?}; there are: {known}"))
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

/// Decoders in other processes, in any language, and in shared libraries.
#[cfg(unix)]
#[derive(Debug, Default, Args)]
pub(super) struct Adapters {
    /// Use the decoders of the adapters in this directory, or of one file adapter.toml [default: ./adapters]
    #[arg(long, value_name = "PATH", num_args = 0..=1, default_missing_value = "adapters", require_equals = true)]
    adapters: Option<PathBuf>,
    /// With --adapters, only those that take at most this much to install: 0 nothing, 1 packages of the system, 2 packages
    /// of a language, 3 large ones
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
    /// Those in other processes. What cannot be started is named and skipped.
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
        for Found { decoders, units, .. } in all {
            found.decoders.extend(decoders);
            found.units.extend(units);
        }
        match found.decoders.is_empty() && found.units.is_empty() && !self.in_process {
            true => Err(Error::usage("no adapter can be started; `adapters/setup` installs what they need")),
            false => Ok(found),
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

fn registered() -> Vec<Box<dyn Decoder>> {
    let decoders = *REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
    decoders()
}

impl Selection {
    /// The ledger of the adapters: the file `known.toml` in their directory or in a directory above, if there is one.
    fn ledger(&self) -> Option<PathBuf> {
        #[cfg(unix)]
        if let Some(path) = self.adapters.adapters.as_ref().and_then(|path| std::fs::canonicalize(path).ok()) {
            return path.ancestors().take(3).map(|path| path.join("known.toml")).find(|path| path.is_file());
        }
        None
    }

    /// The decoders that were named. If none were named, or only some to exclude: those that were registered, or all peers
    /// if none were registered.
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

    fn selects_none(&self) -> Error {
        Error::usage(format!("--decoders {:?} selects no decoder", self.decoders))
    }

    /// These, and the decoders of UTF-16 and UTF-32 that were named.
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
        let names_some = self.decoders.split(',').any(|name| !name.is_empty() && !name.starts_with('-'));
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

/// List the decoders: version, answers, whose code runs, and contract
#[derive(Debug, Args)]
pub(super) struct List {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    selection: Selection,
}

#[derive(serde::Serialize)]
struct Listed<'a> {
    decoders: Vec<Row<'a>>,
}

#[derive(serde::Serialize)]
struct Row<'a> {
    name: &'a str,
    package: &'a str,
    version: &'a str,
    answers: Vec<&'static str>,
    lineage_short: &'a str,
    lineage_long: &'a str,
    contract: String,
}

impl<'a> Row<'a> {
    fn of(decoder: &'a dyn Decoder) -> Self {
        let info = decoder.info();
        let answers = [
            ("validate", decoder.validate(b"").is_some()),
            ("lossy", decoder.decode_lossy(b"", &mut Vec::new()).is_some()),
            ("stream", decoder.stream().is_some()),
        ];
        Self {
            name: &info.name,
            package: &info.package,
            version: &info.version,
            answers: answers.into_iter().filter(|(_, can)| *can).map(|(name, _)| name).collect(),
            lineage_short: info.lineage.at(0),
            lineage_long: info.lineage.at(usize::MAX),
            contract: info.claim(),
        }
    }
}

impl List {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let decoders = self.selection.decoders()?;
        let rows: Vec<Row<'_>> = decoders.iter().map(|decoder| Row::of(&**decoder)).collect();
        if self.json {
            write_json("list", &Listed { decoders: rows }, out)?;
            return Ok(Verdict::Clean);
        }
        let lineage = |row: &Row<'_>| match row.lineage_short == row.lineage_long {
            true => row.lineage_short.to_owned(),
            false => format!("{} (long input: {})", row.lineage_short, row.lineage_long),
        };
        /// On a terminal with fewer columns there is no room for the lineage, which `--json` has.
        const NARROW: u16 = 110;
        let width = width();
        let is_narrow = width.is_some_and(|width| width < NARROW);
        let lineage_title = if is_narrow { None } else { Some("lineage") };
        let head = ["decoder", "version", "answers"].into_iter().chain(lineage_title).chain(["contract"]);
        let mut table = comfy_table::Table::new();
        table.load_style(NOTHING).set_header(head);
        for row in &rows {
            let lineage = lineage_title.map(|_| lineage(row));
            let cells = [row.name.to_owned(), row.version.to_owned(), row.answers.join(" ")];
            table.add_row(cells.into_iter().chain(lineage).chain([row.contract.clone()]));
        }
        table.column_iter_mut().for_each(|column| {
            // No line needs space at its start.
            column.set_padding((0, 2));
        });
        if let Some(width) = width {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
            // One answer per line; the rest of the terminal is for the last columns.
            let answer = ColumnConstraint::Absolute(Width::Fixed(10));
            let constraints = [ColumnConstraint::ContentWidth, ColumnConstraint::ContentWidth, answer];
            table.column_iter_mut().zip(constraints).for_each(|(column, constraint)| {
                column.set_constraint(constraint);
            });
        }
        writeln!(out, "{}", table.trim_fmt())?;
        Ok(Verdict::Clean)
    }
}
