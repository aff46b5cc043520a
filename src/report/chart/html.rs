//! The code page as one page that needs nothing else: no script, no network.

use crate::report::chart::{Cell, Chart, Role, Span};
use crate::spec::Grammar;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value};
use serde::Serialize;

#[derive(Serialize)]
struct Page {
    grammar: &'static str,
    source: &'static str,
    columns: Vec<String>,
    lines: Vec<Line>,
    roles: Vec<Legend>,
    faults: Vec<String>,
    lengths: Vec<Entry>,
    rows: Vec<Entry>,
}

#[derive(Serialize)]
struct Line {
    head: String,
    cells: Vec<Place>,
}

#[derive(Serialize)]
struct Place {
    class: Role,
    symbol: String,
    small: String,
    words: String,
}

#[derive(Serialize)]
struct Legend {
    class: Role,
    words: &'static str,
    count: usize,
}

#[derive(Serialize)]
struct Entry {
    bits: u32,
    first: String,
    last: String,
    count: u64,
    patterns: String,
    ranges: String,
    octal_first: String,
    octal_last: String,
    form: &'static str,
}

/// The whole page.
///
/// # Errors
/// The template cannot be rendered.
pub fn page(grammar: &'static Grammar) -> Result<String, minijinja::Error> {
    let mut environment = Environment::empty();
    environment.set_auto_escape_callback(minijinja::default_auto_escape_callback);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_template("chart.html", include_str!("page.html"))?;
    let chart = Chart::of(grammar);
    let legend = |class| {
        let count = chart.bytes.iter().filter(|cell| cell.role == class).count();
        Legend { class, words: class.words(), count }
    };
    let page = Page {
        grammar: chart.grammar,
        source: chart.source,
        columns: (0..16).map(|column| format!("_{column:X}")).collect(),
        lines: chart.bytes.chunks(16).map(line).collect(),
        roles: Role::ALL.map(legend).into_iter().filter(|legend| legend.count > 0).collect(),
        faults: chart.faults().into_iter().map(|(fault, bytes)| format!("{fault}: {bytes}")).collect(),
        lengths: chart.lengths.iter().map(entry).collect(),
        rows: chart.rows.iter().map(entry).collect(),
    };
    environment.get_template("chart.html")?.render(Value::from(Serde(&page)))
}

fn line(cells: &[Cell]) -> Line {
    Line { head: format!("{:X}_", cells[0].byte >> 4), cells: cells.iter().map(place).collect() }
}

fn place(cell: &Cell) -> Place {
    let first = cell.code_points.map(|(first, _)| format!("{first:04X}"));
    let detail = match (cell.code_points, cell.adds, cell.fault) {
        (Some((first, last)), _, _) if first == last => format!("U+{first:04X}"),
        (Some((first, last)), _, _) => format!("U+{first:04X} to U+{last:04X}"),
        (None, Some(bits), _) => format!("adds {bits:06b}"),
        (None, None, Some(fault)) => fault.to_owned(),
        (None, None, None) => String::new(),
    };
    Place {
        class: cell.role,
        symbol: cell.symbol(),
        small: first.unwrap_or_default(),
        words: format!("{:02X}, {}: {}; {detail}", cell.byte, cell.byte, cell.role.words()),
    }
}

fn entry(span: &Span) -> Entry {
    let [octal_first, octal_last] = span.octal();
    Entry {
        bits: span.bits,
        first: format!("U+{:04X}", span.first),
        last: format!("U+{:04X}", span.last),
        count: span.count,
        patterns: span.patterns().join(" "),
        ranges: span.ranges().join(" "),
        octal_first,
        octal_last,
        form: span.form,
    }
}
