//! `utfuzz score`: how many planted decoders each engine catches.

use crate::cli::output::{Failure, Verdict};
use clap::Args;
use std::io::Write;
use std::path::PathBuf;

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
        use crate::error::Error;
        use crate::report::{Clock, Exporter, Record, Text, write_all};
        use std::time::Duration;

        let engine = |name: &String| {
            let names = || Engine::ALL.map(Engine::name).join(", ");
            let known = Engine::ALL.into_iter().find(|engine| engine.name() == name);
            known.ok_or_else(|| Error::usage(format!("no engine is named {name:?}; there are: {}", names())))
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
        };
        let clock = Clock::start(format!("utfuzz score --engines {} --budget {}", self.engines.join(","), self.budget));
        let bar = Bar::new();
        let score = crate::engine::score::run(&decoders, &options, &|share| bar.show("score", share))?;
        bar.finish();
        if score.rows.is_empty() {
            return Err(Error::usage("--decoders selects no planted decoder").into());
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
