//! The commands that write reports on decoders and engines: `utfuzz measure`, how fast they are; `utfuzz score`, how many
//! planted decoders each engine catches; `utfuzz matrix`, what they do; `utfuzz site`, a static site of all reports; and
//! `utfuzz reports`, the committed reports of this repository, for its own scripts. `utfuzz merge` merges the results of the shards
//! of a night.

use crate::bench;
#[cfg(unix)]
use crate::bench::{AdapterCost, BATCHES, BatchCost, measure};
use crate::bench::{Class, Kind, Measured, Plan};
use crate::cli::arguments::{Judging, one_by_one, require};
use crate::cli::output::{Bar, Failure, Verdict, is_quiet, note};
use crate::codec::Kernel;
use crate::decoder::Decoder;
use crate::error::Error;
use crate::report::freshness::{State, report};
use crate::report::record::Section;
use crate::report::record::matrix::{Change, Examined, ExaminedUnits, Matrix};
#[cfg(unix)]
use crate::report::write_json;
use crate::report::{Clock, Exporter, Html, Json, Markdown, Record, Text, freshness, history, pages, store, write_all};
#[cfg(unix)]
use crate::text::matches_glob;
use crate::text::{counted, printable, shown};
use clap::{Args, Subcommand, ValueEnum};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
#[cfg(unix)]
use std::time::Duration;

/// The options that measure adapters; no option that is about texts, classes or pages goes with them.
const OF_ADAPTERS: &[&str] = if cfg!(unix) { &["adapters", "adapter", "plugin"] } else { &[] };

/// Measure how fast each decoder and kernel is
///
/// Validation, replacement, UTF-16 and more, with ratios to the fastest peer of the same run. Each answer is compared
/// with the standard before it is timed. Exit status 1: an answer of our own decoder is wrong.
#[derive(Debug, Args)]
pub(super) struct Measure {
    /// Texts to measure on, or directories of them [default: generated text in twelve scripts]
    #[arg(value_name = "FILE|DIR", conflicts_with_all = OF_ADAPTERS)]
    paths: Vec<PathBuf>,
    /// Run fewer rounds, and no large texts
    #[arg(long)]
    quick: bool,
    /// The subjects to measure, separated by commas; `*` matches any characters [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    subjects: Vec<String>,
    /// Only texts whose name contains this
    #[arg(long, value_name = "WORDS", default_value = "", hide_default_value = true, conflicts_with_all = OF_ADAPTERS)]
    texts: String,
    /// Hold our decoder and its peers to these instruction sets, one after the other; `all`: every one that this processor
    /// has [default: what each chooses]
    #[arg(long, value_name = "LIST", value_delimiter = ',', conflicts_with_all = OF_ADAPTERS)]
    classes: Vec<String>,
    /// Measure with this build of utfuzz instead of the running one. Given several times, each row is that of the build whose
    /// ratio of our decoder to the fastest peer is the median
    #[arg(long = "program", value_name = "FILE", requires = "classes")]
    programs: Vec<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[cfg(unix)]
    #[command(flatten)]
    adapters: crate::cli::arguments::Adapters,
    /// Write throughput.json, throughput.md, throughput.svg and throughput.html into this directory
    #[arg(short, long, value_name = "DIR", conflicts_with_all = OF_ADAPTERS)]
    output: Option<PathBuf>,
}

impl Measure {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        #[cfg(unix)]
        if self.adapters.is_used() {
            require("--program", !self.programs.is_empty(), "--classes", !self.classes.is_empty())?;
            return self.adapters(out);
        }
        let classes = classes(&self.classes)?;
        let mut plan = match self.paths.is_empty() {
            true => Plan::built_in(self.quick, &self.texts),
            false => Plan::of_files(&self.paths, self.quick)?,
        };
        plan.subjects.clone_from(&self.subjects);
        plan.texts.retain(|text| text.name.contains(&self.texts));
        if plan.texts.is_empty() {
            return Err(Error::usage(format!(
                "no text matches --texts {:?}; omit it to measure all texts",
                self.texts
            ))
            .into());
        }
        let known = bench::names();
        if !known.iter().any(|name| plan.selects(name)) {
            return Err(Error::usage(format!("--subjects matches nothing; known: {}", known.join(", "))).into());
        }
        if !classes.is_empty() && known.iter().all(|name| !plan.selects(name) || is_kernel(name)) {
            let why =
                "--subjects matches kernels only, which --classes measures as `own`; add own to it, or omit --classes";
            return Err(Error::usage(why).into());
        }
        note_if_not_optimised();
        let bar = Bar::new();
        let quick = if self.quick { " --quick" } else { "" };
        let of = if self.classes.is_empty() { String::new() } else { format!(" --classes {}", self.classes.join(",")) };
        let programs = self.programs.iter().map(|program| format!(" --program {}", shown(program))).collect::<String>();
        let clock = Clock::start(format!("utfuzz measure{quick}{of}{programs}"));
        let measured = match classes.is_empty() {
            true => bench::run(&plan, &|share| bar.show("measure", share)),
            false => self.by_class(&classes, &plan)?,
        };
        bar.finish();
        let ours = |kind: Kind| matches!(kind, Kind::Own | Kind::Kernel);
        let wrong = measured.rows.iter().flat_map(|row| &row.cells).any(|cell| ours(cell.kind) && cell.wrong);
        let record = Record::of_throughput(&clock, measured);
        let format: &dyn Exporter = if self.json { &Json } else { &Text };
        format.export(&record, out)?;
        if let Some(directory) = &self.output {
            write_all(&record, directory)?;
        }
        Ok(if wrong { Verdict::Diverged } else { Verdict::Clean })
    }

    /// Measures each class in a process of its own, since decoders choose their instructions once. The other kernels are left
    /// out; they have classes of their own.
    fn by_class(&self, classes: &[Class], plan: &Plan) -> Result<Measured, Failure> {
        let mut programs = self.programs.clone();
        if programs.is_empty() {
            programs.push(std::env::current_exe().map_err(|error| Error::io(Path::new("utfuzz"), &error))?);
        }
        let names = bench::names().into_iter().filter(|name| plan.selects(name) && !is_kernel(name));
        let subjects = names.collect::<Vec<_>>().join(",");
        let mut rows = Vec::new();
        for class in classes {
            let mut all = Vec::new();
            for program in &programs {
                let output = self.child(program, *class, &subjects).output();
                let output = output.map_err(|error| Error::io(program, &error))?;
                let measured = serde_json::from_slice(&output.stdout).ok().and_then(Record::measured);
                let (class, status) = (class.kernel, output.status);
                let why = || Error::parse(format!("{}: class {class} was not measured: {status}", shown(program)));
                all.push(measured.ok_or_else(why)?);
            }
            let differ = || Error::parse("the builds measured different texts; build them all from one commit");
            rows.extend(Measured::middle(all).ok_or_else(differ)?.rows);
        }
        Ok(Measured { rows })
    }

    /// The process that measures one class. It reads no `utfuzz.toml`: the options that it needs are given here, and
    /// with `classes` it would start such processes itself.
    fn child(&self, program: &Path, class: Class, subjects: &str) -> Command {
        let mut child = Command::new(program);
        child.env(Kernel::LIMIT, class.kernel).env(Class::SIMDUTF, class.simdutf).env("UTFUZZ_CONFIG", "");
        child.args(["measure", "--json"]).args(self.quick.then_some("--quick")).args(is_quiet().then_some("--quiet"));
        child.args(["--subjects", subjects, "--texts", &self.texts, "--"]).args(&self.paths).stderr(Stdio::inherit());
        child
    }

    #[cfg(unix)]
    fn adapters(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        note_if_not_optimised();
        let mut decoders = self.adapters.foreign()?;
        let names = &self.subjects;
        decoders
            .retain(|decoder| names.is_empty() || names.iter().any(|name| matches_glob(name, &decoder.entry().name)));
        if decoders.is_empty() {
            return Err(Error::usage("--subjects matches no entry point of these adapters").into());
        }
        let time = Duration::from_millis(if self.quick { 50 } else { 300 });
        let bar = Bar::new();
        let mut entries = Vec::new();
        for (index, decoder) in decoders.iter().enumerate() {
            bar.show("measure", index as f64 / decoders.len() as f64);
            entries.push(measure(decoder, time));
        }
        bar.finish();
        if self.json {
            write_json("adapter-costs", &Costs { entries }, out)?;
            return Ok(Verdict::Clean);
        }
        let mut table = comfy_table::Table::new();
        let head = BATCHES.map(|operations| format!("{operations} a batch"));
        table.load_style(comfy_table::presets::NOTHING);
        table.set_header(["µs for an operation".to_owned()].into_iter().chain(head));
        for AdapterCost { name, batches, trouble } in entries {
            let cost = |cost: &BatchCost| cost.nanoseconds.map_or("-".into(), |time| format!("{:.3}", time / 1000.0));
            let cells = match trouble {
                None => batches.iter().map(cost).collect(),
                Some(trouble) => vec![format!("skipped: {}", printable(&trouble))],
            };
            table.add_row([name].into_iter().chain(cells));
        }
        table.column_iter_mut().skip(1).for_each(|column| column.set_cell_alignment(comfy_table::CellAlignment::Right));
        writeln!(out, "{}", table.trim_fmt())?;
        Ok(Verdict::Clean)
    }
}

#[cfg(unix)]
#[derive(serde::Serialize)]
struct Costs {
    entries: Vec<AdapterCost>,
}

/// The classes of these names.
fn classes(names: &[String]) -> Result<Vec<Class>, Error> {
    let here: Vec<Class> = Class::available().collect();
    let known = |name: &String| here.iter().find(|class| class.kernel == *name).copied();
    let of_names =
        names.iter().filter(|name| *name != "all").map(|name| known(name).ok_or_else(|| no_class(name, &here)));
    let of_names: Vec<Class> = of_names.collect::<Result<_, _>>()?;
    Ok(if names.iter().any(|name| name == "all") { here } else { of_names })
}

/// Whether a subject is one kernel of our decoder, which `--classes` measures as `own`.
fn is_kernel(name: &str) -> bool {
    name.starts_with("own-")
}

fn no_class(name: &str, here: &[Class]) -> Error {
    let there = Class::ALL.iter().any(|class| class.kernel == name);
    let names: Vec<&str> = here.iter().map(|class| class.kernel).collect();
    let why = if there { "this processor lacks its instructions" } else { "there is no such class" };
    Error::usage(format!("--classes {}: {why}; known: {}, all", printable(name), names.join(", ")))
}

fn note_if_not_optimised() {
    if cfg!(debug_assertions) {
        note("this build is not optimised; measure with cargo run --release");
    }
}

/// Measure the engines: how many decoders with a planted fault each catches, and how fast
///
/// Needs a build with the planted decoders: cargo run --release --features planted -- score
#[derive(Debug, Args)]
pub(super) struct Score {
    /// The engines, separated by commas: exhaustive, structured, plain, mutator, behaviour, and the rivals proptest,
    /// bolero, afl
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "exhaustive,structured")]
    engines: Vec<String>,
    /// Planted decoders by name, separated by commas; `*` matches any characters, `-NAME` excludes one
    #[arg(long, value_name = "FILTER", default_value = "planted-*", allow_hyphen_values = true)]
    decoders: String,
    /// The time limit in seconds for one engine, decoder and seed
    #[arg(long, value_name = "SECONDS", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    budget: u64,
    /// How many seeds to run the random engines with
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    seeds: u64,
    /// How many runs in parallel [default: one for each core]
    #[arg(long, value_name = "N")]
    jobs: Option<std::num::NonZeroUsize>,
    /// Build the fuzz targets without AddressSanitizer, as the rivals are, to compare them with these
    #[arg(long)]
    unsanitized: bool,
    /// Write score.json, score.md, score.html and score.svg into this directory
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

#[cfg(not(feature = "planted"))]
impl Score {
    pub(super) fn run(self, _: &mut dyn Write) -> Result<Verdict, Failure> {
        let message =
            "score needs the planted decoders; build with them: cargo run --release --features planted -- score";
        Err(crate::error::Error::usage(message).into())
    }
}

#[cfg(feature = "planted")]
impl Score {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        use crate::cli::arguments::Selection;
        use crate::cli::output::Bar;
        use crate::engine::score::Summary;
        use crate::engine::score::{Engine, Options};
        use crate::engine::targets::Sanitizer;
        use crate::error::Error;
        use crate::report::{Clock, Exporter, Record, Text, write_all};
        use std::time::Duration;

        let engine = |name: &String| {
            let names = || Engine::ALL.map(Engine::name).join(", ");
            let known = Engine::ALL.into_iter().find(|engine| engine.name() == name);
            known.ok_or_else(|| Error::usage(format!("no engine is named {name:?}; known: {}", names())))
        };
        let engines = self.engines.iter().map(engine).collect::<Result<Vec<_>, _>>()?;
        let boxes = Selection { decoders: self.decoders, ..Selection::default() }.decoders()?;
        let decoders: Vec<_> = boxes.iter().map(|decoder| &**decoder).collect();
        let options = Options {
            engines,
            budget: Duration::from_secs(self.budget),
            seeds: self.seeds,
            jobs: self.jobs.or(std::thread::available_parallelism().ok()).map_or(1, std::num::NonZeroUsize::get),
            root: PathBuf::from("."),
            sanitizer: if self.unsanitized { Sanitizer::None } else { Sanitizer::Address },
        };
        let unsanitized = if self.unsanitized { " --unsanitized" } else { "" };
        let engines = self.engines.join(",");
        let clock = Clock::start(format!("utfuzz score --engines {engines} --budget {}{unsanitized}", self.budget));
        let bar = Bar::new();
        let score = crate::engine::score::run(&decoders, &options, &|share| bar.show("score", share))?;
        bar.finish();
        if score.rows.is_empty() {
            return Err(Error::usage("--decoders selects no planted decoder; `utfuzz list` shows their names").into());
        }
        let verdict = if Summary::of(&score).is_clean() { Verdict::Clean } else { Verdict::Diverged };
        let record = Record::of_score(&clock, score);
        Text.export(&record, out)?;
        if let Some(directory) = &self.output {
            write_all(&record, directory)?;
        }
        Ok(verdict)
    }
}

/// Show what decoders do, side by side, by asking each some fifty questions
///
/// All decoders of this build take part, and with --adapters those of every adapter that is installed; --decoders selects
/// some. Decoders of UTF-16 and UTF-32 are asked some twenty questions of their own.
#[derive(Debug, Args)]
pub(super) struct MatrixVerb {
    /// Write matrix.json, .html, .md, .csv and .svg into this directory
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Print which answers differ from those in this older matrix.json
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    since: Option<PathBuf>,
    #[command(flatten)]
    judging: Judging,
}

impl MatrixVerb {
    /// `command` is the command line, with the options of `utfuzz.toml`.
    pub(super) fn run(mut self, command: String, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let old = self.since.as_deref().map(read).transpose()?;
        let clock = Clock::start(command);
        let selection = &mut self.judging.selection;
        selection.decoders = or_all(&selection.decoders);
        let (decoders, units) = selection.decoders_and_units()?;
        let ledger = self.judging.ledger(self.judging.known.corpus()?.as_deref())?;
        let decoders: Vec<_> = decoders.iter().map(|decoder| &**decoder).collect();
        // Missing rows would look like decoders that no longer exist, so ^C ends the command without a matrix.
        let never = AtomicBool::new(false);
        let examined = one_by_one(&decoders, &never, |decoder| Examined::of(decoder, &ledger), |_| ())?;
        let encodings: BTreeMap<_, _> = units.iter().map(|of| (&*of.decoder.info().name, of.encoding)).collect();
        let units: Vec<_> = units.iter().map(|of| &*of.decoder).collect();
        let examine =
            |decoder: &dyn Decoder| encodings.get(&*decoder.info().name).map(|of| ExaminedUnits::of(decoder, *of));
        let units = one_by_one(&units, &never, examine, |_| ())?;
        let matrix = Matrix::of(examined).with_units(units.into_iter().flatten().collect());
        let record = Record::of_matrix(&clock, matrix);
        let Section::Matrix(matrix) = &record.section else { return Ok(Verdict::Clean) };
        let written = self.output.as_deref().map_or(Ok(()), |directory| write_all(&record, directory));
        match old {
            Some(old) => write_changes(matrix, &old, out)?,
            // If it cannot be written, it is printed, and not lost.
            None if self.output.is_none() || self.judging.json || written.is_err() => {
                self.judging.print(&record, out)?
            }
            None => {}
        }
        written?;
        if let Some(directory) = &self.output {
            note(&format!("wrote {}", shown(&directory.join("matrix.html"))));
        }
        Ok(Verdict::Clean)
    }
}

/// A filter of decoders. If it names none, or only some to exclude, all are meant, even if there are adapters.
fn or_all(filter: &str) -> String {
    let names_none = filter.split(',').map(str::trim).all(|name| name.is_empty() || name.starts_with('-'));
    if names_none { format!("*,{filter}") } else { filter.to_owned() }
}

/// The matrix of a record in a file.
fn read(path: &Path) -> Result<Matrix, Error> {
    let wrong =
        |why: String| Error::parse(format!("{}: {why}; name a matrix.json that this command wrote", shown(path)));
    let text = std::fs::read(path).map_err(|error| Error::io(path, &error))?;
    let record: Record = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
    match record.section {
        Section::Matrix(matrix) => Ok(matrix),
        _ => Err(wrong("this is another kind of record".into())),
    }
}

/// The names of the decoders of a matrix, those of UTF-16 and UTF-32 with their encoding.
fn names(matrix: &Matrix) -> BTreeSet<String> {
    let units =
        matrix.units.iter().flat_map(|units| units.rows.iter().map(|row| format!("{} ({})", row.name, units.encoding)));
    matrix.rows.iter().map(|row| row.name.clone()).chain(units).collect()
}

fn write_changes(matrix: &Matrix, old: &Matrix, out: &mut dyn Write) -> Result<(), Failure> {
    let (ours, theirs) = (names(matrix), names(old));
    if ours.is_disjoint(&theirs) {
        return Err(Error::usage("--since: the two matrices have no decoder in common, so nothing was compared").into());
    }
    let changes = matrix.since(old);
    for Change { name, before, version, column, from, to } in &changes {
        let (name, group, title) = (printable(name), printable(&column.group), printable(&column.title));
        writeln!(out, "{name}, {group} {title} ({}):", printable(&column.bytes))?;
        writeln!(out, "  {}: {}", printable(before), printable(&from.word))?;
        writeln!(out, "  {}: {}", printable(version), printable(&to.word))?;
    }
    for (what, names) in [("only in the older matrix", &theirs - &ours), ("only in this one", &ours - &theirs)] {
        if !names.is_empty() {
            let names: Vec<String> = names.iter().map(|name| printable(name)).collect();
            writeln!(out, "{what}: {}", names.join(", "))?;
        }
    }
    writeln!(out, "{}", counted(changes.len(), "changed answer"))?;
    Ok(())
}

/// Write a static site of the reports that exist, and of the byte charts of all grammars
#[derive(Debug, Args)]
pub(super) struct Site {
    /// The directory for the pages; index.html is the first
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// The directory of the reports
    #[arg(long, value_name = "DIR", default_value = "reports")]
    reports: PathBuf,
}

impl Site {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        if !self.reports.is_dir() {
            note(&format!(
                "{}: no such directory, so the site has no reports; name one with --reports",
                shown(&self.reports)
            ));
        }
        let unread = pages::write(&self.reports, &self.output)?;
        for unread in &unread {
            note(&format!("not shown: {unread}"));
        }
        writeln!(out, "{}", shown(&self.output.join("index.html")))?;
        match unread.len() {
            0 => Ok(Verdict::Clean),
            count => Err(Error::usage(format!("{count} of the reports cannot be shown; make them again")).into()),
        }
    }
}

/// Stamp the committed reports, and list those whose sources have changed
#[derive(Debug, Args)]
pub(super) struct Reports {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print the digest of a report's sources
    Digest {
        /// The report
        name: String,
    },
    /// Record that a report was just generated
    Stamp {
        /// The report
        name: String,
        /// The digest of its sources before it was generated
        #[arg(long, value_name = "DIGEST")]
        sources: String,
        /// How many seconds that took
        #[arg(long, value_name = "N")]
        seconds: u64,
        /// How many cases were run
        #[arg(long, value_name = "N")]
        cases: Option<u64>,
    },
    /// List the reports that are not current; exit status 1 if they include one that is fast to generate
    Stale,
    /// Write the table of reports into docs/reports.md
    Table,
    /// Print the record in a JSON file in another format
    Render {
        /// The format
        format: Format,
        /// The file
        file: PathBuf,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Json,
    Markdown,
    Html,
}

impl Reports {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let root = Path::new(".");
        match self.action {
            Action::Digest { name } => writeln!(out, "{}", freshness::digest(root, report(&name)?.sources)?)?,
            Action::Stamp { name, sources, seconds, cases } => {
                freshness::stamp(root, report(&name)?, &sources, seconds, cases)?;
            }
            Action::Table => freshness::write_table(root)?,
            Action::Stale => {
                let states = freshness::states(root)?;
                let stale: Vec<_> = states.iter().filter(|(_, _, state)| *state != State::Current).collect();
                for (report, _, state) in &stale {
                    writeln!(out, "{}: {}; generate it with {}", report.name, state.name(), report.command)?;
                }
                let fails = stale.iter().any(|(report, _, _)| !report.slow);
                return Ok(if fails { Verdict::Diverged } else { Verdict::Clean });
            }
            Action::Render { format, file } => {
                let text = crate::case::input::read_file(&file, u64::MAX)?;
                let record: Record = serde_json::from_slice(&text)
                    .map_err(|error| Error::parse(format!("{}: {error}", crate::text::shown(&file))))?;
                let format: &dyn Exporter = match format {
                    Format::Text => &Text,
                    Format::Json => &Json,
                    Format::Markdown => &Markdown,
                    Format::Html => &Html,
                };
                format.export(&record, out)?;
            }
        }
        Ok(Verdict::Clean)
    }
}

/// Merge the results of the shards of a night into one report
///
/// Results may be given in any order and more than once.
#[derive(Debug, Args)]
pub(super) struct Merge {
    /// The directories that the shards wrote with `nightly --shards I/N -o DIR`, or their files report.json
    #[arg(required = true, value_name = "DIR")]
    results: Vec<PathBuf>,
    /// The directory for the reports
    #[arg(long, short, value_name = "DIR")]
    output: PathBuf,
    /// The file with the history of nights, one line for each
    #[arg(long, value_name = "FILE", default_value = "reports/history.jsonl")]
    history: PathBuf,
}

impl Merge {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let mut merged: Option<Record> = None;
        for result in &self.results {
            let file = if result.is_dir() { result.join("report.json") } else { result.clone() };
            let text = std::fs::read(&file).map_err(|error| Error::io(&file, &error))?;
            let wrong = |error: &dyn std::fmt::Display| Error::parse(format!("{}: {error}", shown(&file)));
            let record: Record = serde_json::from_slice(&text).map_err(|error| wrong(&error))?;
            let first = merged.take().unwrap_or_else(|| record.clone());
            merged = Some(first.merge(record).map_err(|error| wrong(&error))?);
        }
        let Some(mut record) = merged else { return Ok(Verdict::Clean) };
        let written = write_night(&mut record, &self.history, &self.output);
        Text.export(&record, out)?;
        written?;
        let triage = record.triage();
        let is_dirty = triage.is_some_and(|triage| triage.count("new") > 0 || !triage.faults.is_empty());
        Ok(if is_dirty { Verdict::Diverged } else { Verdict::Clean })
    }
}

/// Writes a line in the history, only once for each night, and the reports.
pub(super) fn write_night(record: &mut Record, file: &Path, reports: &Path) -> Result<(), Error> {
    store(record, file)?;
    record.enter_history(history(file)?);
    write_all(record, reports)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, ELSEWHERE, Verb};
    use clap::Parser;
    use std::ffi::OsStr;

    fn command(words: &[&str]) -> Result<Verb, clap::Error> {
        Cli::try_parse_from(["utfuzz"].iter().chain(words)).map(|cli| cli.verb)
    }

    #[test]
    fn the_process_of_a_class_takes_no_options_from_a_file() {
        let Ok(Verb::Measure(measure)) = command(&["measure", "--quick", "--classes", "all", "text"]) else { panic!() };
        let child = measure.child(Path::new("utfuzz"), Class::ALL[0], "own,std");
        let variables: BTreeMap<&OsStr, Option<&OsStr>> = child.get_envs().collect();
        assert_eq!(variables.get(OsStr::new(ELSEWHERE)), Some(&Some(OsStr::new(""))));
        let words: Vec<&OsStr> = child.get_args().collect();
        assert_eq!(
            words,
            ["measure", "--json", "--quick", "--subjects", "own,std", "--texts", "", "--", "text"].map(OsStr::new)
        );
    }

    #[cfg(unix)]
    #[test]
    fn options_that_are_not_about_adapters_do_not_go_with_them() {
        use clap::error::ErrorKind;
        for words in [&["text"][..], &["-o", "out"], &["--texts", "latin"], &["--classes", "all"]] {
            for adapters in ["--adapters", "--adapter=a", "--plugin=a.so"] {
                let refused = command(&[&["measure", adapters], words].concat());
                assert_eq!(refused.unwrap_err().kind(), ErrorKind::ArgumentConflict, "{adapters} {words:?}");
            }
        }
        assert!(command(&["measure", "--adapters", "--quick", "--json", "--subjects", "a"]).is_ok());
    }

    #[test]
    fn all_classes_may_be_named_beside_one() {
        let named = |names: &[&str]| classes(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        let kernels = |classes: Vec<Class>| classes.iter().map(|class| class.kernel).collect::<Vec<_>>();
        assert_eq!(kernels(named(&["all", "scalar"]).unwrap()), kernels(named(&["all"]).unwrap()));
        assert_eq!(kernels(named(&["scalar"]).unwrap()), ["scalar"]);
        assert!(named(&["all", "none"]).is_err_and(|error| error.to_string().contains("none")));
    }

    #[test]
    fn a_filter_that_only_excludes_is_about_all_decoders() {
        for (filter, expected) in
            [("", "*,"), ("-own", "*,-own"), ("-own, -std", "*,-own, -std"), ("own", "own"), ("-own,std", "-own,std")]
        {
            assert_eq!(or_all(filter), expected);
        }
    }

    #[test]
    fn what_cannot_be_written_is_printed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("text");
        std::fs::write(&path, "naïve 世界").unwrap();
        let path = path.to_str().unwrap();
        // The output is to be written into a directory, and this is a file.
        let words = ["measure", "--quick", "--subjects", "own,std", "-o", path, path];
        let Ok(Verb::Measure(measure)) = command(&words) else { panic!() };
        let words = ["matrix", "--decoders", "own,std", "--no-ledger", "-o", path];
        let Ok(Verb::Matrix(matrix)) = command(&words) else { panic!() };
        let (mut measured, mut answers) = (Vec::new(), Vec::new());
        assert!(measure.run(&mut measured).is_err() && matrix.run(String::new(), &mut answers).is_err());
        assert!(String::from_utf8_lossy(&measured).contains("own"), "{measured:?}");
        assert!(String::from_utf8_lossy(&answers).contains("own"), "{answers:?}");
    }
}
