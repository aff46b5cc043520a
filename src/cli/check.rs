//! `utfuzz check`: the embedded engine.

use super::{Failure, Judging, Verdict, note};
use crate::check::{Options, Stage, check};
use crate::report::Report;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::Write;
use std::time::{Duration, Instant};

/// Judge the decoders: published vectors, the corpus, every short string over the byte classes, then random
/// structured inputs
#[derive(Debug, Args)]
pub(super) struct Check {
    /// How long to draw structured inputs after the other stages
    #[arg(long, value_name = "N", default_value_t = 10)]
    seconds: u64,
    /// The first seed of the structured inputs
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    judging: Judging,
}

impl Check {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let boxes = self.judging.selection.decoders()?;
        let decoders: Vec<_> = boxes.iter().map(|decoder| &**decoder).collect();
        let corpus = self.judging.known.corpus()?;
        let ledger = self.judging.known.ledger(corpus.as_deref())?;
        if corpus.is_none() {
            note("no corpus directory here, so vectors and corpus are left out; name one with --corpus DIR");
        }
        let options = Options { time: Duration::from_secs(self.seconds), seed: self.seed, corpus, ledger };
        let bar = Bar::new();
        let start = Instant::now();
        let outcome = check(&decoders, &options, &|stage, share| bar.show(stage, share))?;
        let seconds = start.elapsed().as_secs_f64();
        bar.0.finish_and_clear();
        let report = Report { decoders: &decoders, ledger: &options.ledger, outcome: &outcome, seconds };
        self.judging.print(&report, out)?;
        Ok(if outcome.is_clean() { Verdict::Clean } else { Verdict::Diverged })
    }
}

/// A progress bar on standard error, where that is a terminal.
struct Bar(ProgressBar);

impl Bar {
    const STEPS: u64 = 1000;

    fn new() -> Self {
        let bar = ProgressBar::new(Self::STEPS);
        if let Ok(style) = ProgressStyle::with_template("{msg:14} {wide_bar} {percent:>3} %") {
            bar.set_style(style);
        }
        Self(bar)
    }

    fn show(&self, stage: Stage, share: f64) {
        self.0.set_message(stage.name());
        self.0.set_position((share * Self::STEPS as f64) as u64);
    }
}
