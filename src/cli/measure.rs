//! `utfuzz measure`: how fast decoders are.

use crate::bench;
#[cfg(unix)]
use crate::bench::adapters::{AdapterCost, BATCHES, BatchCost, measure};
use crate::bench::{Class, Kind, Measured, Plan};
use crate::cli::output::{Bar, Failure, Verdict, note};
use crate::codec::Kernel;
use crate::error::Error;
#[cfg(unix)]
use crate::report::write_json;
use crate::report::{Clock, Exporter, Json, Record, Text, write_all};
#[cfg(unix)]
use crate::text::matches_glob;
use crate::text::printable;
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
#[cfg(unix)]
use std::time::Duration;

/// Measure how fast each decoder and kernel is
///
/// Validation, replacement, UTF-16 and more, with ratios to the fastest peer of the same run. Each answer is compared
/// with the standard before it is timed. Exit status 1: an answer of our own decoder is wrong.
#[derive(Debug, Args)]
pub(super) struct Measure {
    /// Texts to measure on, or directories of them [default: generated text in twelve scripts]
    #[arg(value_name = "FILE|DIR")]
    paths: Vec<PathBuf>,
    /// Run fewer rounds, and no large texts
    #[arg(long)]
    quick: bool,
    /// The subjects to measure, separated by commas; `*` matches any characters [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    subjects: Vec<String>,
    /// Only texts whose name contains this
    #[arg(long, value_name = "WORDS", default_value = "", hide_default_value = true)]
    texts: String,
    /// Hold our decoder and its peers to these instruction sets, one after the other; `all`: every one that this processor
    /// has [default: what each chooses]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    classes: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[cfg(unix)]
    #[command(flatten)]
    adapters: crate::cli::arguments::Adapters,
    /// Write throughput.json, throughput.md and throughput.svg into this directory
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Measure {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        #[cfg(unix)]
        if self.adapters.is_used() {
            return self.adapters(out);
        }
        let mut plan = match self.paths.is_empty() {
            true => Plan::built_in(self.quick),
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
            return Err(Error::usage(format!("--subjects matches nothing; there are: {}", known.join(", "))).into());
        }
        let classes = classes(&self.classes)?;
        note_if_not_optimised();
        let bar = Bar::new();
        let quick = if self.quick { " --quick" } else { "" };
        let of = if self.classes.is_empty() { String::new() } else { format!(" --classes {}", self.classes.join(",")) };
        let clock = Clock::start(format!("utfuzz measure{quick}{of}"));
        let measured = match classes.is_empty() {
            true => bench::run(&plan, &|share| bar.show("measure", share)),
            false => self.by_class(&classes, &plan)?,
        };
        bar.finish();
        let ours = |kind: Kind| matches!(kind, Kind::Own | Kind::Kernel);
        let wrong = measured.rows.iter().flat_map(|row| &row.cells).any(|cell| ours(cell.kind) && cell.wrong);
        let record = Record::of_throughput(&clock, measured);
        if let Some(directory) = &self.output {
            write_all(&record, directory)?;
        }
        let format: &dyn Exporter = if self.json { &Json } else { &Text };
        format.export(&record, out)?;
        Ok(if wrong { Verdict::Diverged } else { Verdict::Clean })
    }

    /// Measures each class in a process of its own, since decoders choose their instructions once. The other kernels are left
    /// out; they have classes of their own.
    fn by_class(&self, classes: &[Class], plan: &Plan) -> Result<Measured, Failure> {
        let program = std::env::current_exe().map_err(|error| Error::io(Path::new("utfuzz"), &error))?;
        let names = bench::names().into_iter().filter(|name| plan.selects(name) && !name.starts_with("own-"));
        let subjects = names.collect::<Vec<_>>().join(",");
        let mut rows = Vec::new();
        for class in classes {
            let mut child = Command::new(&program);
            child.env(Kernel::LIMIT, class.kernel).env(Class::SIMDUTF, class.simdutf).args(["measure", "--json"]);
            child.args(["--subjects", &subjects, "--texts", &self.texts]).args(self.quick.then_some("--quick"));
            let output = child.args(["--"]).args(&self.paths).stderr(Stdio::inherit()).output();
            let output = output.map_err(|error| Error::io(&program, &error))?;
            let measured = serde_json::from_slice(&output.stdout).ok().and_then(Record::measured);
            let why = || Error::parse(format!("the class {} was not measured: {}", class.kernel, output.status));
            rows.extend(measured.ok_or_else(why)?.rows);
        }
        Ok(Measured { rows })
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
    if names == ["all"] {
        return Ok(here);
    }
    let known = |name: &String| here.iter().find(|class| class.kernel == *name).copied();
    names.iter().map(|name| known(name).ok_or_else(|| no_class(name, &here))).collect()
}

fn no_class(name: &str, here: &[Class]) -> Error {
    let there = Class::ALL.iter().any(|class| class.kernel == name);
    let names: Vec<&str> = here.iter().map(|class| class.kernel).collect();
    let why = if there { "this processor lacks its instructions" } else { "there is no such class" };
    Error::usage(format!("--classes {}: {why}; there are: {}, all", printable(name), names.join(", ")))
}

fn note_if_not_optimised() {
    if cfg!(debug_assertions) {
        note("this build is not optimised; measure with cargo run --release");
    }
}
