//! A score, written out: JSON is the truth; the pages and the picture say the same for people.
//!
//! Names, faults, citations and signatures are untrusted here: a page escapes them, and no file holds what moves a
//! terminal's cursor or reorders text.

mod html;
mod markdown;
mod picture;
mod text;

pub use text::text;

use crate::engine::score::{Cell, Engine, Outcome, Score};
use crate::error::Error;
use crate::report::escape::json;
use crate::text::printable;
use std::fmt::Display;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Writes `score.json`, `score.md`, `score.html` and `score.svg` into `directory`, which is made if need be. Nothing is
/// written unless all of them can be rendered, and each file is replaced whole or not at all.
///
/// # Errors
/// If the directory or a file in it cannot be written.
pub fn write(score: &Score, directory: &Path) -> Result<(), Error> {
    let unrenderable = |name: &str, error: &dyn Display| {
        let error = format!("cannot be rendered: {error}; this is a fault of utfuzz, please report it");
        Error::io(&directory.join(name), &io::Error::other(error))
    };
    let json = json(score).map_err(|error| unrenderable("score.json", &error))?;
    let picture = picture::svg(score).map_err(|error| unrenderable("score.svg", &error))?;
    let page = html::page(score, &picture).map_err(|error| unrenderable("score.html", &error))?;
    let unwritable = |path: &Path, error: &io::Error| {
        Error::io(path, &io::Error::other(format!("{error}; name a directory that can be written to")))
    };
    fs::create_dir_all(directory).map_err(|error| unwritable(directory, &error))?;
    let files =
        [("score.json", json), ("score.md", markdown::page(score)), ("score.html", page), ("score.svg", picture)];
    for (name, text) in files {
        replace(directory, name, &text).map_err(|error| unwritable(&directory.join(name), &error))?;
    }
    Ok(())
}

/// Writes beside the file, then renames: a reader sees the old text or the new one.
fn replace(directory: &Path, name: &str, text: &str) -> io::Result<()> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".score-");
    // By default nobody else may read it; a report is for all whom the umask lets.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut file = builder.tempfile_in(directory)?;
    file.write_all(text.as_bytes())?;
    file.as_file().sync_all()?;
    file.persist(directory.join(name)).map_err(|error| error.error)?;
    Ok(())
}

fn engine_words(engine: Engine) -> &'static str {
    match engine {
        Engine::Exhaustive => "every class string of the plan, in its order",
        Engine::Structured => "structured inputs drawn from a seed",
        Engine::Plain => "libFuzzer: its own mutations, code coverage",
        Engine::Mutator => "libFuzzer: our mutator, code coverage",
        Engine::Behaviour => "libFuzzer: our mutator, behaviour features",
    }
}

fn verdict_name(verdict: Option<Outcome>) -> &'static str {
    match verdict {
        Some(Outcome::Caught) => "caught",
        Some(Outcome::WrongLaw) => "wrong law",
        Some(Outcome::Missed) => "missed",
        None => "not run",
    }
}

/// What follows the verdict of a cell: how many of its runs caught the decoder, and after how many executions.
fn cell_words(cell: &Cell) -> String {
    let (caught, wrong) = (cell.count(Outcome::Caught), cell.count(Outcome::WrongLaw));
    let without = cell.runs.iter().filter(|run| run.outcome != Outcome::Caught);
    let most = without.map(|run| run.executions).max().unwrap_or(0) as f64;
    let words = match cell.verdict() {
        None => return String::new(),
        Some(Outcome::Caught) => format!("{caught}/{}, {}", cell.runs.len(), cost(cell.executions())),
        Some(_) => format!("{caught}/{}, up to {}", cell.runs.len(), short(most)),
    };
    if wrong > 0 { format!("{words}; wrong law {wrong}/{}", cell.runs.len()) } else { words }
}

/// What the runs of a row reported, each once, in the order of the cells.
fn signatures<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> Vec<&'a str> {
    let mut seen = Vec::new();
    for signature in cells.into_iter().flat_map(|cell| &cell.runs).filter_map(|run| run.signature.as_deref()) {
        if !seen.contains(&signature) {
            seen.push(signature);
        }
    }
    seen
}

/// One sentence on how the score was made.
fn conditions(score: &Score) -> String {
    let seeds: Vec<String> = score.seeds.iter().map(u64::to_string).collect();
    let seeds = if seeds.is_empty() { String::from("none") } else { seeds.join(", ") };
    format!(
        "utfuzz {}; at most {} s for each decoder, engine and seed; seeds {seeds}; {} at a time; {:.0} s in all.",
        printable(&score.version),
        short(score.budget_seconds),
        score.jobs,
        score.seconds,
    )
}

/// A median: `missed` where it is infinite, a dash where there is none.
fn cost(value: Option<f64>) -> String {
    match value {
        None => String::from("–"),
        Some(value) if value == f64::INFINITY => String::from("missed"),
        Some(value) => short(value),
    }
}

/// How many times the executions of `Plain`.
fn ratio(value: Option<f64>) -> String {
    match value {
        Some(value) if value.is_finite() => format!("× {}", short(value)),
        other => cost(other),
    }
}

/// Three digits that count, with a suffix for each thousandfold.
pub(super) fn short(value: f64) -> String {
    let (mut value, mut suffixes) = (value, ["", "k", "M", "G", "T", "P", "E"].iter());
    let mut suffix = suffixes.next().copied().unwrap_or_default();
    while value >= 999.5 {
        let Some(next) = suffixes.next() else { break };
        (value, suffix) = (value / 1000.0, next);
    }
    let decimals = match value {
        _ if value.fract() == 0.0 || value >= 99.95 => 0,
        _ if value >= 9.995 => 1,
        _ if value >= 0.9995 => 2,
        _ if value >= 0.09995 => 3,
        _ => 4,
    };
    format!("{value:.decimals$}{suffix}")
}

#[cfg(test)]
mod tests;
