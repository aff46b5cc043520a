//! The findings as one page that needs nothing else and lets nothing in: no network, no script but its own.
//!
//! The template's name ends in `.html`, which is what makes minijinja escape every value. Should a value get through
//! nevertheless, the page's policy lets no script run but the one whose hash it names.

use crate::judge::Law;
use crate::report::escape;
use crate::report::findings::chart::{Chart, charts, date};
use crate::report::findings::{Agreement, Exporter, Findings, Member};
use crate::text::printable;
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value};
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::{self, Write};

/// One page.
pub struct Html;

const SCRIPT: &str = include_str!("page.js");
/// The SHA-256 of the script, as a policy has it. `.ci/page` is red where it is another's.
const SCRIPT_HASH: &str = "sha256-nyrGlNoW98OT69pZZiG/Ok4SDN8fT/8W2yLLBjOLoKc=";

#[derive(Serialize)]
struct Page {
    /// The record, all its texts safe to print.
    findings: serde_json::Value,
    script: &'static str,
    script_hash: &'static str,
    started: String,
    seconds: String,
    filters: Vec<Filter>,
    signatures: usize,
    grid: Vec<Row>,
    charts: Vec<Chart>,
}

/// A choice of what is shown.
#[derive(Serialize)]
struct Filter {
    name: &'static str,
    values: BTreeSet<String>,
}

/// A decoder in the agreement grid.
#[derive(Serialize)]
struct Row {
    name: String,
    cells: Vec<Cell>,
}

#[derive(Serialize)]
struct Cell {
    /// `a0` to `a10`: in how many tenths of the inputs they agree, rounded down.
    class: String,
    text: String,
    words: String,
}

impl Exporter for Html {
    fn export(&self, findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
        let page = render(findings).map_err(io::Error::other)?;
        writeln!(out, "{page}")
    }
}

fn render(findings: &Findings) -> Result<String, minijinja::Error> {
    let mut environment = Environment::empty();
    environment.set_auto_escape_callback(minijinja::default_auto_escape_callback);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.add_filter("safe", Value::from_safe_string);
    environment.add_filter("lines", |text: String| text.lines().map(str::to_owned).collect::<Vec<_>>());
    environment.add_filter("is_fault", |line: String| line.starts_with('!'));
    environment.add_filter("says", |name: String| {
        Law::ALL.iter().find(|law| law.name() == name).map_or("", |law| law.sentence())
    });
    // A choice is one line, so that several can stand in one attribute.
    environment.add_filter("choice", |text: String| printable(&text));
    environment.add_filter("kinds", |subject: String, others: Vec<String>| kinds(&subject, &others).join("\n"));
    environment.add_template("findings.html", include_str!("page.html"))?;
    let mut record = serde_json::to_value(findings).unwrap_or_default();
    clean(&mut record);
    let page = Page {
        findings: record,
        script: SCRIPT,
        script_hash: SCRIPT_HASH,
        started: date(findings.started),
        seconds: format!("{:.1}", findings.seconds),
        filters: filters(findings),
        signatures: findings.members().count(),
        grid: grid(&findings.agreement),
        charts: charts(&findings.history),
    };
    environment.get_template("findings.html")?.render(Value::from(Serde(&page)))
}

/// Makes every text safe to print; line feeds stay.
fn clean(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(text) => *text = escape::lines(text),
        serde_json::Value::Array(values) => values.iter_mut().for_each(clean),
        serde_json::Value::Object(fields) => fields.values_mut().for_each(clean),
        _ => {}
    }
}

fn filters(findings: &Findings) -> Vec<Filter> {
    type Of = fn(&Member) -> Vec<String>;
    let by: [(&'static str, Of); 4] = [
        ("decoder", |member| vec![printable(&member.decoder)]),
        ("law", |member| vec![printable(&member.law)]),
        ("kind", |member| kinds(&member.subject, &member.others)),
        ("status", |member| vec![printable(&member.status)]),
    ];
    by.map(|(name, of)| Filter { name, values: findings.members().flat_map(of).collect() }).into()
}

/// What a decoder goes wrong on, by this signature or another of its cause.
fn kinds(subject: &str, others: &[String]) -> Vec<String> {
    let others = others.iter().filter_map(|signature| signature.split('/').nth(2));
    std::iter::once(subject).chain(others).map(printable).collect()
}

fn grid(agreement: &Agreement) -> Vec<Row> {
    let names: Vec<String> = agreement.decoders.iter().map(|name| escape::lines(name)).collect();
    let cell = |row: usize, column: usize| {
        let (same, asked) = agreement.pair(row, column);
        let pair = format!("{} and {}", names[row], names[column]);
        // Rounded down, so that only what is always the same shows 100.
        match (u128::from(same) * 100).checked_div(u128::from(asked)) {
            None => {
                Cell { class: "none".into(), text: "–".into(), words: format!("{pair} have no answer in common") }
            }
            Some(share) => Cell {
                class: format!("a{}", share / 10),
                text: share.to_string(),
                words: format!("{pair} say the same on {same} of {asked}"),
            },
        }
    };
    let row = |row: usize| Row { name: names[row].clone(), cells: (0..names.len()).map(|at| cell(row, at)).collect() };
    (0..names.len()).map(row).collect()
}
