//! `utfuzz check`: the embedded engine.

use super::{Bar, Failure, Judging, Verdict, note};
use crate::check::{Options, Plan, check};
use crate::report::Report;
use clap::Args;
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
    /// Run the deep plan of class strings, which takes minutes: up to length 7, in surroundings, across every cut
    #[arg(long)]
    deep: bool,
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
        let plan = if self.deep { Plan::Deep } else { Plan::Quick };
        let options = Options { time: Duration::from_secs(self.seconds), seed: self.seed, corpus, ledger, plan };
        let bar = Bar::new();
        let start = Instant::now();
        let outcome = check(&decoders, &options, &|stage, share| bar.show(stage.name(), share))?;
        let seconds = start.elapsed().as_secs_f64();
        bar.finish();
        let report = Report { decoders: &decoders, ledger: &options.ledger, outcome: &outcome, seconds };
        self.judging.print(&report, out)?;
        Ok(if outcome.is_clean() { Verdict::Clean } else { Verdict::Diverged })
    }
}
