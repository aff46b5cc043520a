//! `utfuzz measure`: how fast decoders are.

use crate::bench;
use crate::bench::{Kind, Plan};
use crate::cli::output::{Bar, Failure, Verdict, note};
use crate::error::Error;
use crate::report::{Clock, Exporter, Json, Record, Text, write_all};
use clap::Args;
use std::io::Write;
use std::path::PathBuf;

/// Measure how fast each decoder and kernel is
///
/// Validation, replacement, UTF-16 and more, with ratios to the fastest peer of the same run. Each answer is compared with the standard before it is timed. Exit status 1: an answer of our own decoder is wrong.
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
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Write throughput.json, throughput.md and throughput.svg into this directory
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Measure {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let mut plan = match self.paths.is_empty() {
            true => Plan::built_in(self.quick),
            false => Plan::of_files(&self.paths, self.quick)?,
        };
        plan.subjects = self.subjects;
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
        if cfg!(debug_assertions) {
            note("this build is not optimised; measure with cargo run --release");
        }
        let bar = Bar::new();
        let clock = Clock::start(if self.quick { "utfuzz measure --quick" } else { "utfuzz measure" });
        let measured = bench::run(&plan, &|share| bar.show("measure", share));
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
}
