//! The embedded engine: every source of input through the judge, on all cores, without libFuzzer.
//!
//! Five stages: published vectors, the corpus, every short string of words, every class string up to a length, then
//! structured inputs drawn from seeds until the time is up. All but the last are the same on every machine and run.

pub mod byte_strings;
mod class_strings;
mod resume;
mod worker;

pub use byte_strings::{ByteOptions, check_bytes};
pub use class_strings::Covered;
pub(crate) use resume::stretches;

use crate::case::Input;
use crate::case::{Case, files};
use crate::decoder::Decoder;
use crate::error::Error;
use crate::explain::{Divergence, Signature};
use crate::generate::structured::Structured;
use crate::generate::{fragments, input_file, vectors};
use crate::judge::Statistics;
use crate::triage::ledger::Ledger;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use worker::Worker;

/// What to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long structured inputs are drawn after the other stages.
    pub time: Duration,
    /// The first seed of the structured inputs.
    pub seed: u64,
    /// The directory with `vectors/`, `differential/` and `regressions/`; `None` leaves these stages out.
    pub corpus: Option<PathBuf>,
    /// The known differences.
    pub ledger: Ledger,
    /// Which class strings.
    pub plan: Plan,
}

/// Which class strings a check runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Plan {
    /// [`quick`](crate::generate::classes::plan::quick), half a minute.
    #[default]
    Quick,
    /// [`deep`](crate::generate::classes::plan::deep), some minutes.
    Deep,
}

impl Default for Options {
    fn default() -> Self {
        Self { time: Duration::from_secs(10), seed: 0, corpus: None, ledger: Ledger::built_in(), plan: Plan::Quick }
    }
}

/// A stage of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Published vectors.
    Vectors,
    /// Corpus files.
    Corpus,
    /// Every short string of words, and text with every character.
    Words,
    /// Every class string of the plan.
    Classes,
    /// Structured inputs.
    Structured,
    /// Every byte string of a length.
    Bytes,
}

impl Stage {
    /// The name, for people and for JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Vectors => "vectors",
            Self::Corpus => "corpus",
            Self::Words => "words and texts",
            Self::Classes => "class strings",
            Self::Structured => "structured",
            Self::Bytes => "byte strings",
        }
    }
}

/// What came of a check.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// Cases of each stage that was run, with the seconds it took.
    pub stages: Vec<(Stage, u64, f64)>,
    /// The class strings that were run, part by part.
    pub covered: Vec<Covered>,
    /// What was seen and compared.
    pub statistics: Statistics,
    /// New divergences by signature: the smallest input found, and how often it was seen.
    pub divergences: BTreeMap<Signature, Found>,
    /// Known differences: the place in the ledger, and how often it was hit.
    pub known: BTreeMap<usize, u64>,
    /// Ids of ledger entries about these decoders that nothing matched.
    pub stale: Vec<String>,
}

/// A divergence and how often it was seen.
#[derive(Clone, Debug)]
pub struct Found {
    /// The explanation of the smallest input.
    pub divergence: Divergence,
    /// Number of cases. Where one signature was seen very often, cases that break the same law on the same subject are
    /// counted here without an examination of their own.
    pub hits: u64,
}

impl Outcome {
    /// True where nothing new, stale or silent was found.
    pub fn is_clean(&self) -> bool {
        self.divergences.is_empty() && self.stale.is_empty() && self.statistics.silent().next().is_none()
    }

    fn merge(mut self, other: Self) -> Self {
        self.covered.extend(other.covered);
        self.statistics.merge(&other.statistics);
        for (signature, found) in other.divergences {
            self.add(signature, found);
        }
        for (entry, hits) in other.known {
            *self.known.entry(entry).or_default() += hits;
        }
        self
    }

    fn add(&mut self, signature: Signature, found: Found) {
        let size = |found: &Found| (found.divergence.bytes.len(), found.divergence.bytes.clone());
        match self.divergences.get_mut(&signature) {
            None => {
                self.divergences.insert(signature, found);
            }
            Some(known) => {
                let hits = known.hits + found.hits;
                if size(&found) < size(known) {
                    *known = found;
                }
                known.hits = hits;
            }
        }
    }
}

/// Checks decoders, calling `progress` with the stage and the share of it that is done, from any thread.
///
/// # Errors
/// A corpus directory or file that cannot be read, a vector file that cannot be understood.
pub fn check(
    decoders: &[&dyn Decoder],
    options: &Options,
    progress: &(dyn Fn(Stage, f64) + Sync),
) -> Result<Outcome, Error> {
    let mut outcome = Outcome::default();
    let mut run = |stage: Stage, work: &dyn Fn() -> Result<Outcome, Error>| -> Result<(), Error> {
        let start = Instant::now();
        progress(stage, 0.0);
        let part = work()?;
        outcome.stages.push((stage, part.statistics.cases, start.elapsed().as_secs_f64()));
        let so_far = std::mem::take(&mut outcome);
        outcome = so_far.merge(part);
        Ok(())
    };
    if let Some(corpus) = &options.corpus {
        run(Stage::Vectors, &|| {
            let inputs = vector_inputs(&corpus.join("vectors"))?;
            Ok(each(decoders, &options.ledger, &inputs))
        })?;
        run(Stage::Corpus, &|| {
            let mut inputs = Vec::new();
            for directory in
                ["differential", "regressions"].map(|name| corpus.join(name)).iter().filter(|path| path.is_dir())
            {
                for path in files::files_below(directory)? {
                    inputs.push(input_file::read(&path)?);
                }
            }
            Ok(replay(decoders, &options.ledger, &inputs))
        })?;
    }
    run(Stage::Words, &|| {
        Ok(each(decoders, &options.ledger, &fragments::strings().chain(fragments::texts()).collect::<Vec<_>>()))
    })?;
    run(Stage::Classes, &|| {
        let share = |share| progress(Stage::Classes, share);
        Ok(class_strings::run(decoders, &options.ledger, class_strings::parts(options.plan), &share))
    })?;
    if !options.time.is_zero() {
        run(Stage::Structured, &|| Ok(structured(decoders, options, progress)))?;
    }
    outcome.stale = stale(decoders, &options.ledger, &outcome);
    Ok(outcome)
}

/// Judges these inputs and nothing else; ledger entries cannot go stale by it.
pub fn replay(decoders: &[&dyn Decoder], ledger: &Ledger, inputs: &[Input]) -> Outcome {
    let mut worker = Worker::new(decoders, ledger);
    inputs.iter().for_each(|input| worker.run(&input.case()));
    worker.finish()
}

fn stale(decoders: &[&dyn Decoder], ledger: &Ledger, outcome: &Outcome) -> Vec<String> {
    let entries = ledger.entries().iter().enumerate();
    let about_these = entries.filter(|(_, entry)| decoders.iter().any(|decoder| decoder.info().name == entry.decoder));
    about_these.filter(|(index, _)| !outcome.known.contains_key(index)).map(|(_, entry)| entry.id.clone()).collect()
}

fn vector_inputs(directory: &Path) -> Result<Vec<Vec<u8>>, Error> {
    let mut inputs = Vec::new();
    for path in files::files_below(directory)? {
        let text = String::from_utf8_lossy(&files::read_file(&path, input_file::LONGEST)?).into_owned();
        let rows =
            vectors::parse(&text).map_err(|error| Error::parse(format!("{}, {error}", crate::text::shown(&path))))?;
        inputs.extend(rows.into_iter().map(|row| row.bytes));
    }
    Ok(inputs)
}

fn each(decoders: &[&dyn Decoder], ledger: &Ledger, inputs: &[Vec<u8>]) -> Outcome {
    let mut worker = Worker::new(decoders, ledger);
    inputs.iter().for_each(|bytes| worker.run(&Case::new(bytes)));
    worker.finish()
}

fn structured(decoders: &[&dyn Decoder], options: &Options, progress: &(dyn Fn(Stage, f64) + Sync)) -> Outcome {
    let start = Instant::now();
    let threads = rayon::current_num_threads() as u64;
    let parts = (0..threads).into_par_iter().map(|thread| {
        let mut worker = Worker::new(decoders, &options.ledger);
        for round in 0.. {
            let elapsed = start.elapsed();
            if elapsed >= options.time {
                break;
            }
            progress(Stage::Structured, elapsed.as_secs_f64() / options.time.as_secs_f64());
            for index in 0..256 {
                let seed = options.seed.wrapping_add((round * 256 + index) * threads + thread);
                worker.run(&Case::new(&Structured::seeded(seed).0));
            }
        }
        worker.finish()
    });
    parts.reduce(Outcome::default, Outcome::merge)
}

#[cfg(test)]
mod faulty;
