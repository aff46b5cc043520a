//! How many planted decoders each engine catches, and how fast.
//!
//! What an engine can find is measured on known faults: each engine is run against each planted decoder alone, and must
//! report one of the signatures that the fault implies. No engine knows which fault is planted.
//!
//! Engines that know nothing of this crate are run as well, as rivals: those of `fuzz/rivals` test the property that an
//! ordinary user would write. The property has no signatures, so any violation is a catch.

mod figures;
#[cfg(feature = "planted")]
mod run;

pub use figures::{Figures, SignaturesPerFault, Summary};
#[cfg(feature = "planted")]
pub use run::{Options, run};

use crate::engine::targets::Sanitizer;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The result of a score, from which every report is rendered.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Score {
    /// Version of this format, 1.
    pub schema: u32,
    /// The version of this package.
    pub version: String,
    /// How many runs were made in parallel.
    pub jobs: usize,
    /// The time limit for one engine, decoder and seed, in seconds.
    pub budget_seconds: f64,
    /// With what the fuzz targets were built.
    #[serde(default)]
    pub sanitizer: Sanitizer,
    /// The seeds of the random engines.
    pub seeds: Vec<u64>,
    /// How long the whole score took, in seconds.
    pub seconds: f64,
    /// The engines, in the order of the cells.
    pub engines: Vec<Engine>,
    /// The engines that were asked for and cannot be run here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// One row for each planted decoder.
    pub rows: Vec<Row>,
    /// Each of our engines against each rival.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub comparisons: Vec<Comparison>,
}

/// An engine that cannot be run here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftOut {
    /// The engine.
    pub engine: Engine,
    /// What failed, and the remedy if there is one.
    pub why: String,
}

/// One of our engines against a rival, over the planted decoders that the rival catches and our engine was run against.
/// A ratio is ours divided by the rival's: below 1, ours catches it sooner. If ours does not catch a decoder, it counts
/// with all that it did within the budget. Times below a millisecond count as one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// Our engine.
    pub engine: Engine,
    /// The rival.
    pub rival: Engine,
    /// How many decoders are compared.
    pub decoders: usize,
    /// How many of them our engine does not catch.
    pub missed: usize,
    /// The geometric mean of the ratios of executions; `None` without decoders.
    pub executions: Option<f64>,
    /// The same for the seconds.
    pub seconds: Option<f64>,
    /// The decoders on which our engine is behind by more than [`Comparison::FAR`], in executions or in seconds.
    pub behind: Vec<Behind>,
}

/// A decoder that a rival catches far sooner.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Behind {
    /// The planted decoder.
    pub decoder: String,
    /// The ratio of executions.
    pub executions: f64,
    /// The ratio of seconds.
    pub seconds: f64,
    /// Whether our engine misses it.
    pub missed: bool,
}

/// A source of inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// Inputs that show most faults, the other inputs of `generate::fragments`, then every class string of the plan.
    Exhaustive,
    /// Inputs that show most faults, then structured inputs generated from a seed.
    Structured,
    /// Unmodified libFuzzer: its own mutations, code coverage.
    Plain,
    /// libFuzzer with the mutator of `generate::mutate`, code coverage.
    Mutator,
    /// libFuzzer with the mutator and behaviour features.
    Behaviour,
    /// A rival: the crate `proptest` with the naive property of `fuzz/rivals`.
    Proptest,
    /// A rival: the crate `bolero` with its libFuzzer engine, and the same property.
    Bolero,
    /// A rival: AFL++, and the same property.
    Afl,
}

/// One planted decoder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// Its name.
    pub decoder: String,
    /// The id of its fault.
    pub id: String,
    /// What it does wrong.
    pub fault: String,
    /// Where the fault was reported.
    pub citation: String,
    /// The signatures the fault implies, without the decoder: `law/subject/shape`, with `*` for any characters.
    pub signs: Vec<String>,
    /// The laws of the reported signatures that it breaks on [every kind](crate::triage::fails_on_every_kind) of
    /// ill-formed sequence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub on_every_kind: Vec<String>,
    /// One for each engine.
    pub cells: Vec<Cell>,
}

/// One engine against one planted decoder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cell {
    /// The engine.
    pub engine: Engine,
    /// One for each seed; a single one if the engine is not random.
    pub runs: Vec<Run>,
}

/// One run of an engine against a planted decoder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// The seed, if the engine is random.
    pub seed: Option<u64>,
    /// The outcome.
    pub outcome: Outcome,
    /// The signature reported, or the sanitizer's error. For an engine without signatures, the one that the judge gives
    /// to the input it found; if the judge gives none, what the engine said.
    pub signature: Option<String>,
    /// Executions until then.
    pub executions: u64,
    /// Seconds until then, from the first input on: without the start of a process, and without explaining what was found.
    pub seconds: f64,
}

/// The outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Caught, with a signature that the fault implies; by an engine without signatures, with any violation.
    Caught,
    /// Caught, but with another signature; or the run itself failed.
    WrongLaw,
    /// Not caught within the budget.
    Missed,
}

impl Engine {
    /// Every engine.
    pub const ALL: [Self; 8] = [
        Self::Exhaustive,
        Self::Structured,
        Self::Plain,
        Self::Mutator,
        Self::Behaviour,
        Self::Proptest,
        Self::Bolero,
        Self::Afl,
    ];

    /// Our engines that are compared with the rivals.
    pub const OURS: [Self; 3] = [Self::Exhaustive, Self::Structured, Self::Behaviour];

    /// The engines that they are compared with.
    pub const RIVALS: [Self; 4] = [Self::Plain, Self::Proptest, Self::Bolero, Self::Afl];

    /// The name, for people and for the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exhaustive => "exhaustive",
            Self::Structured => "structured",
            Self::Plain => "plain",
            Self::Mutator => "mutator",
            Self::Behaviour => "behaviour",
            Self::Proptest => "proptest",
            Self::Bolero => "bolero",
            Self::Afl => "afl",
        }
    }

    /// Whether it is a fuzz target, in a process of its own.
    pub fn is_target(self) -> bool {
        matches!(self, Self::Plain | Self::Mutator | Self::Behaviour)
    }

    /// Whether it is a program of `fuzz/rivals`, which reports violations without a signature.
    pub fn is_naive(self) -> bool {
        matches!(self, Self::Proptest | Self::Bolero | Self::Afl)
    }

    /// Whether its inputs depend on a seed.
    pub fn draws(self) -> bool {
        self != Self::Exhaustive
    }
}

impl Row {
    /// The different signatures that engines reported. Neither what a sanitizer says nor what a rival says is one.
    pub fn signatures(&self) -> BTreeSet<&str> {
        let runs = self.cells.iter().filter(|cell| !cell.engine.is_naive()).flat_map(|cell| &cell.runs);
        runs.filter_map(|run| run.signature.as_deref()).filter(|text| text.split('/').count() == 4).collect()
    }

    /// The cell of `engine`, if there is one.
    pub fn cell(&self, engine: Engine) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.engine == engine)
    }
}

impl Cell {
    /// How many runs have this outcome.
    pub fn count(&self, outcome: Outcome) -> usize {
        self.runs.iter().filter(|run| run.outcome == outcome).count()
    }

    /// The outcome of the cell: caught if more than half of the runs are; otherwise the wrong law if any run is;
    /// otherwise missed. `None` without runs.
    pub fn verdict(&self) -> Option<Outcome> {
        if self.runs.is_empty() {
            None
        } else if self.count(Outcome::Caught) > self.runs.len() / 2 {
            Some(Outcome::Caught)
        } else if self.count(Outcome::WrongLaw) > 0 {
            Some(Outcome::WrongLaw)
        } else {
            Some(Outcome::Missed)
        }
    }

    /// The median executions until caught, infinite for a miss; `None` without runs. Finite if and only if the verdict
    /// is caught.
    pub fn executions(&self) -> Option<f64> {
        self.median(|run| run.executions as f64)
    }

    /// The same for the seconds.
    pub fn seconds(&self) -> Option<f64> {
        self.median(|run| run.seconds)
    }

    fn median(&self, cost: fn(&Run) -> f64) -> Option<f64> {
        let cost = |run: &Run| if run.outcome == Outcome::Caught { cost(run) } else { f64::INFINITY };
        median(self.runs.iter().map(cost))
    }
}

/// The middle value, or the mean of the middle two; `None` if there are no values.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let upper = *values.get(values.len() / 2)?;
    let lower = values[(values.len() - 1) / 2];
    // The mean of one value is that value, to the bit.
    Some(if lower == upper { upper } else { lower / 2.0 + upper / 2.0 })
}

#[cfg(test)]
mod tests {
    use super::Outcome::{Caught, Missed, WrongLaw};
    use super::*;

    pub(super) const MISS: f64 = f64::INFINITY;

    pub(super) fn cell(engine: Engine, runs: &[(Outcome, u64)]) -> Cell {
        let run = |&(outcome, executions)| Run {
            seed: Some(1),
            outcome,
            signature: None,
            executions,
            seconds: executions as f64 / 100.0,
        };
        Cell { engine, runs: runs.iter().map(run).collect() }
    }

    #[test]
    fn medians() {
        assert_eq!(median([]), None);
        assert_eq!(median([7.0]), Some(7.0));
        assert_eq!(median([30.0, 10.0, 20.0]), Some(20.0));
        assert_eq!(median([40.0, 10.0, 20.0, 25.0]), Some(22.5));
        assert_eq!(median([10.0, MISS]), Some(MISS));
        assert_eq!(median([MISS, 10.0, 20.0]), Some(20.0));
        assert_eq!(median([MISS, MISS]), Some(MISS));
    }

    #[test]
    fn a_cell_is_finite_exactly_where_it_is_caught() {
        let holds = |runs: &[(Outcome, u64)], verdict, executions: Option<f64>| {
            let cell = cell(Engine::Plain, runs);
            assert_eq!((cell.verdict(), cell.executions()), (verdict, executions), "{runs:?}");
            assert_eq!(cell.seconds().map(f64::is_finite), executions.map(f64::is_finite), "{runs:?}");
        };
        holds(&[], None, None);
        holds(&[(Caught, 10), (Missed, 90), (Missed, 90)], Some(Missed), Some(MISS));
        holds(&[(Caught, 10), (Missed, 90), (Caught, 20)], Some(Caught), Some(20.0));
        holds(&[(Caught, 10), (Missed, 90)], Some(Missed), Some(MISS));
        holds(&[(Caught, 10), (Missed, 90), (Caught, 20), (Caught, 40)], Some(Caught), Some(30.0));
        holds(&[(Caught, 10), (WrongLaw, 5), (Missed, 90)], Some(WrongLaw), Some(MISS));
        holds(&[(Caught, 10), (WrongLaw, 5), (Caught, 30)], Some(Caught), Some(30.0));
    }
}
