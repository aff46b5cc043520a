//! What a check found, written out. JSON is the truth; the text for people says the same in fewer words.

mod certificate;
pub mod chart;
mod escape;
pub mod findings;
mod json;
pub mod score;
mod text;
#[cfg(feature = "cli")]
pub mod throughput;

use crate::decoder::Decoder;
use crate::engine::check::Outcome;
use crate::triage::ledger::Ledger;
use std::io::{self, Write};

/// All there is to report of one run.
pub struct Report<'a> {
    /// The decoders that were judged.
    pub decoders: &'a [&'a dyn Decoder],
    /// The ledger they were judged by.
    pub ledger: &'a Ledger,
    /// What came of it.
    pub outcome: &'a Outcome,
    /// How long it took.
    pub seconds: f64,
}

/// A format.
pub trait Exporter {
    /// Writes the report.
    ///
    /// # Errors
    /// Those of the writer.
    fn export(&self, report: &Report<'_>, out: &mut dyn Write) -> io::Result<()>;
}

pub use certificate::{Certificate, Exhaustive};
pub use json::Json;
pub use text::Text;
