//! How many planted decoders each engine catches, and how fast.
//!
//! A detector that has never been shown a bug detects nothing. Here each engine is run against each planted decoder
//! alone; what it reports must bear one of the signatures the fault implies. No engine is told which fault is planted.

#[cfg(all(feature = "planted", feature = "fuzz"))]
mod run;

pub mod summary;

#[cfg(all(feature = "planted", feature = "fuzz"))]
pub use run::{Options, run};

use serde::{Deserialize, Serialize};

/// What came of a score: the truth every rendering is made from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Score {
    /// Version of this format, 1.
    pub schema: u32,
    /// The version of this package.
    pub version: String,
    /// How many cells were run at a time.
    pub jobs: usize,
    /// The most seconds an engine was given for one decoder and seed.
    pub budget_seconds: f64,
    /// The seeds of the random engines.
    pub seeds: Vec<u64>,
    /// How long the whole score took.
    pub seconds: f64,
    /// The engines, in the order of the cells.
    pub engines: Vec<Engine>,
    /// One row for each planted decoder.
    pub rows: Vec<Row>,
}

/// What draws the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Engine {
    /// Every class string of the plan, in its order.
    Exhaustive,
    /// Structured inputs drawn from a seed.
    Structured,
    /// libFuzzer as it comes: its own mutations, code coverage.
    Plain,
    /// libFuzzer with the mutator of `generate::mutate`, code coverage.
    Mutator,
    /// libFuzzer with the mutator and behaviour features.
    Behaviour,
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
    /// The signatures it implies, without the decoder: `law/subject/shape`, `*` for anything.
    pub signs: Vec<String>,
    /// One for each engine.
    pub cells: Vec<Cell>,
}

/// One engine against one planted decoder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cell {
    /// The engine.
    pub engine: Engine,
    /// One for each seed; a single one where the engine draws nothing.
    pub runs: Vec<Run>,
}

/// One run of an engine against a planted decoder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Run {
    /// The seed, where the engine draws.
    pub seed: Option<u64>,
    /// What came of it.
    pub outcome: Outcome,
    /// The signature reported, or the sanitizer's error.
    pub signature: Option<String>,
    /// Inputs run until then.
    pub executions: u64,
    /// Seconds until then.
    pub seconds: f64,
}

/// What came of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Caught, by a signature the fault implies.
    Caught,
    /// Caught, by another signature.
    WrongLaw,
    /// Not caught within the budget.
    Missed,
}

impl Engine {
    /// Every engine.
    pub const ALL: [Self; 5] = [Self::Exhaustive, Self::Structured, Self::Plain, Self::Mutator, Self::Behaviour];

    /// The name, for people and for the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Exhaustive => "exhaustive",
            Self::Structured => "structured",
            Self::Plain => "plain",
            Self::Mutator => "mutator",
            Self::Behaviour => "behaviour",
        }
    }

    /// Whether it is a fuzz target, in a process of its own.
    pub fn is_target(self) -> bool {
        matches!(self, Self::Plain | Self::Mutator | Self::Behaviour)
    }

    /// Whether its inputs depend on a seed.
    pub fn draws(self) -> bool {
        self != Self::Exhaustive
    }
}
