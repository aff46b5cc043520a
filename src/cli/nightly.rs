//! `utfuzz nightly`: fuzzing for a given time, with reports.

use crate::cli::{Bar, Failure, Known, Selection, Verdict};
use crate::decoder::Decoder;
use crate::nightly;
use crate::report::findings::{Exporter, Text};
use clap::Args;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

/// Run every fuzz target, triage what they find, keep new signatures as regressions, write the reports
#[derive(Debug, Args)]
pub(super) struct Nightly {
    /// How long the targets run, all together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=10_000))]
    minutes: u64,
    /// How many processes of a target run at a time [default: one for each core]
    #[arg(long, value_name = "J")]
    jobs: Option<std::num::NonZeroUsize>,
    /// Where the reports are written
    #[arg(long, short, value_name = "DIR", default_value = "reports/night")]
    output: PathBuf,
    /// The history of nights, one line each
    #[arg(long, value_name = "FILE", default_value = "reports/history.jsonl")]
    history: PathBuf,
    /// Where corpus and artifacts are kept from night to night, and a night that was broken off
    #[arg(long, value_name = "DIR", default_value = "target/night")]
    state: PathBuf,
    /// Where new signatures are kept
    #[arg(long, value_name = "DIR", default_value = "corpus/regressions")]
    regressions: PathBuf,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    known: Known,
}

impl Nightly {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let filter = self.selection.decoders.clone();
        let boxes = self.selection.decoders()?;
        let decoders: Vec<&dyn Decoder> = boxes.iter().map(|decoder| &**decoder).collect();
        let ledger = self.known.ledger(self.known.corpus()?.as_deref())?;
        let jobs = self.jobs.or(std::thread::available_parallelism().ok()).map_or(1, std::num::NonZeroUsize::get);
        let options = nightly::Options {
            time: Duration::from_secs(60 * self.minutes),
            jobs,
            root: PathBuf::from("."),
            directory: self.state,
            regressions: self.regressions,
            reports: self.output,
            history: self.history,
            decoders: filter,
        };
        let bar = Bar::new();
        let findings = nightly::run(&decoders, &ledger, &options, &|what, share| bar.show(what, share))?;
        bar.finish();
        Text.export(&findings, out)?;
        Ok(match findings.clusters.iter().any(|cluster| cluster.status == "new") {
            true => Verdict::Diverged,
            false => Verdict::Clean,
        })
    }
}
