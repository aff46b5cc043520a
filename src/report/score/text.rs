//! A score for the terminal: the figures of each engine, then every run that did not go as it should.

use crate::engine::score::summary::Summary;
use crate::engine::score::{Outcome, Score};
use crate::report::score::{cost, ratio};
use std::io::{self, Write};

/// Writes the score for people.
///
/// # Errors
/// Those of the writer.
pub fn text(score: &Score, out: &mut dyn Write) -> io::Result<()> {
    let summary = Summary::of(score);
    writeln!(
        out,
        "{:<11} {:>7} {:>10} {:>7} {:>18} {:>15} {:>8}",
        "engine", "caught", "wrong law", "missed", "median executions", "median seconds", "x plain"
    )?;
    for of in &summary.engines {
        writeln!(
            out,
            "{:<11} {:>7} {:>10} {:>7} {:>18} {:>15} {:>8}",
            of.engine.name(),
            of.caught,
            of.wrong_law,
            of.missed,
            cost(of.executions),
            cost(of.seconds),
            ratio(of.against_plain),
        )?;
    }
    for row in &score.rows {
        for cell in &row.cells {
            for run in cell.runs.iter().filter(|run| run.outcome != Outcome::Caught) {
                let (name, engine) = (&row.decoder, cell.engine.name());
                match &run.signature {
                    None => writeln!(out, "{name}: missed by {engine}, {} executions", run.executions)?,
                    Some(signature) => {
                        writeln!(
                            out,
                            "{name}: {engine} reports {signature}, which is none of {}",
                            row.signs.join(" ")
                        )?;
                    }
                }
            }
        }
    }
    let caught = summary.decoders - summary.by_none.len();
    writeln!(out, "{caught} of {} planted decoders caught in {:.1} s", summary.decoders, score.seconds)
}
