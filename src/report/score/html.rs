//! The score as one page that needs nothing else: no script, no network.
//!
//! The template's name ends in `.html`, which is what makes minijinja escape every value; only the picture, our own, is
//! passed through. The filter is CSS.

use crate::engine::score::summary::{Figures, Summary};
use crate::engine::score::{Cell, Engine, Outcome, Row, Score};
use crate::report::score::{cell_words, conditions, cost, engine_words, ratio, verdict_name};
use crate::text::printable;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value};
use serde::Serialize;

#[derive(Serialize)]
struct Page<'a> {
    clean: bool,
    caught: usize,
    decoders: usize,
    wrong_runs: usize,
    conditions: String,
    picture: &'a str,
    engines: Vec<Head>,
    verdicts: Vec<Verdict>,
    by_none: String,
    never_by_plain: String,
    rows: Vec<Line>,
}

#[derive(Serialize)]
struct Head {
    name: &'static str,
    words: &'static str,
    caught: usize,
    wrong_law: usize,
    missed: usize,
    not_run: usize,
    executions: String,
    seconds: String,
    against_plain: String,
}

#[derive(Serialize)]
struct Line {
    decoder: String,
    fault: String,
    citation: String,
    signs: Vec<String>,
    /// What the filter looks for: `engine-verdict`.
    classes: String,
    cells: Vec<Entry>,
}

#[derive(Serialize)]
struct Entry {
    verdict: Verdict,
    words: String,
    runs: Vec<String>,
}

/// A verdict three ways, so that none depends on colour.
#[derive(Serialize)]
struct Verdict {
    name: &'static str,
    class: &'static str,
    mark: &'static str,
}

/// The whole page.
pub(super) fn page(score: &Score, picture: &str) -> Result<String, minijinja::Error> {
    let mut environment = Environment::empty();
    environment.set_auto_escape_callback(minijinja::default_auto_escape_callback);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_filter("safe", Value::from_safe_string);
    environment.add_template("score.html", include_str!("page.html"))?;
    let summary = Summary::of(score);
    let page = Page {
        clean: summary.is_clean(),
        caught: summary.decoders - summary.by_none.len(),
        decoders: summary.decoders,
        wrong_runs: summary.wrong_runs,
        conditions: conditions(score),
        picture,
        engines: summary.engines.iter().map(head).collect(),
        verdicts: [Some(Outcome::Caught), Some(Outcome::WrongLaw), Some(Outcome::Missed), None].map(verdict).into(),
        by_none: names(&summary.by_none),
        never_by_plain: names(&summary.never_by_plain),
        rows: score.rows.iter().map(|row| line(row, &score.engines)).collect(),
    };
    environment.get_template("score.html")?.render(Value::from(Serde(&page)))
}

fn head(of: &Figures) -> Head {
    Head {
        name: of.engine.name(),
        words: engine_words(of.engine),
        caught: of.caught,
        wrong_law: of.wrong_law,
        missed: of.missed,
        not_run: of.not_run,
        executions: cost(of.executions),
        seconds: cost(of.seconds),
        against_plain: ratio(of.against_plain),
    }
}

fn line(row: &Row, engines: &[Engine]) -> Line {
    let cells: Vec<Entry> = engines.iter().map(|engine| entry(row.cell(*engine))).collect();
    // A wrong run is worth finding in a cell that is caught, too.
    let wrong = |engine| row.cell(engine).is_some_and(|cell| cell.count(Outcome::WrongLaw) > 0);
    let classes = engines.iter().zip(&cells).flat_map(|(engine, cell)| {
        let wrong = wrong(*engine).then_some(verdict(Some(Outcome::WrongLaw)).class);
        let engine = engine.name();
        [Some(cell.verdict.class), wrong].into_iter().flatten().map(move |class| format!("{engine}-{class} "))
    });
    Line {
        decoder: printable(&row.decoder),
        fault: printable(&row.fault),
        citation: printable(&row.citation),
        signs: row.signs.iter().map(|sign| printable(sign)).collect(),
        classes: classes.collect(),
        cells,
    }
}

fn entry(cell: Option<&Cell>) -> Entry {
    let runs = cell.map_or(&[][..], |cell| &cell.runs).iter().map(|run| {
        let seed = run.seed.map(|seed| format!("seed {seed}: ")).unwrap_or_default();
        let outcome = verdict_name(Some(run.outcome));
        let signature = run.signature.as_deref().map(|text| format!(", {}", printable(text))).unwrap_or_default();
        format!("{seed}{outcome}{signature}; {} executions, {:.2} s", run.executions, run.seconds)
    });
    Entry {
        verdict: verdict(cell.and_then(Cell::verdict)),
        words: cell.map(cell_words).unwrap_or_default(),
        runs: runs.collect(),
    }
}

fn verdict(verdict: Option<Outcome>) -> Verdict {
    let (class, mark) = match verdict {
        Some(Outcome::Caught) => ("caught", "✓"),
        Some(Outcome::WrongLaw) => ("wrong-law", "!"),
        Some(Outcome::Missed) => ("missed", "✗"),
        None => ("not-run", "–"),
    };
    Verdict { name: verdict_name(verdict), class, mark }
}

fn names(names: &[&str]) -> String {
    if names.is_empty() { String::from("none") } else { printable(&names.join(", ")) }
}
