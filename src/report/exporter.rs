//! The trait of report formats, and the formats that every record has. JSON is for programs, and text for a terminal.
//! Markdown (for a repository's web view) and HTML are both written from one [`Document`], Markdown in its own file; the
//! HTML page is self-contained: it needs no network, and has no script but its own.

use crate::engine::check::headline;
use crate::engine::score::{Outcome, Score, Summary};
use crate::report::document::{Document, grouped, markdown};
use crate::report::record::{Check, Cluster, Member, Record, SCHEMA, Section, Target, Triage};
#[cfg(feature = "cli")]
use crate::report::throughput;
use crate::report::{findings, tables};
use crate::text::{counted, printable, printable_json, printable_lines};
use base64::prelude::{BASE64_STANDARD, Engine};
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::io::{self, Write};

/// A report format.
pub trait Exporter {
    /// Writes the record.
    ///
    /// # Errors
    /// Those of the writer; or the format cannot represent a record of this kind.
    fn export(&self, record: &Record, out: &mut dyn Write) -> io::Result<()>;
}

/// For programs: one JSON object, indented so that two can be compared line by line.
pub struct Json;

/// For users, in a terminal: new divergences in full, then known ones, then totals.
pub struct Text;

impl Exporter for Json {
    fn export(&self, record: &Record, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(json(record)?.as_bytes())
    }
}

/// What the JSON of an object that is not a [`Record`] has first; see [`SCHEMA`].
#[derive(Serialize)]
struct Headed<'a, T> {
    schema: u32,
    version: &'a str,
    record: &'a str,
    #[serde(flatten)]
    body: &'a T,
}

/// Writes an object that is not a [`Record`] as JSON, with the version of the format and the kind of the object first.
///
/// # Errors
/// Those of the writer; or the value is not an object.
pub fn write_json(kind: &str, body: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    let object = Headed { schema: SCHEMA, version: env!("CARGO_PKG_VERSION"), record: kind, body };
    out.write_all(json(&object)?.as_bytes())
}

/// A value as indented JSON and a line feed, every character of it safe to print.
pub(super) fn json(value: &impl Serialize) -> serde_json::Result<String> {
    Ok(printable_json(&(serde_json::to_string_pretty(value)? + "\n")))
}

impl Exporter for Text {
    fn export(&self, record: &Record, out: &mut dyn Write) -> io::Result<()> {
        match &record.section {
            Section::Check(check) => write_check(record, check, out),
            Section::Triage(triage) => write_triage(record, triage, out),
            Section::Score { score } => write_score(record, score, out),
            Section::Matrix(matrix) => matrix.write(out),
            #[cfg(feature = "cli")]
            Section::Throughput(measured) => {
                out.write_all(throughput::own_and_best_peer(measured).plain_text().as_bytes())?;
                for row in &measured.rows {
                    for cell in row.cells.iter().filter(|cell| cell.wrong) {
                        let (operation, text) = (row.operation.name(), printable(&row.text));
                        writeln!(out, "{operation}, {text}: {} gives a wrong answer", printable(&cell.name))?;
                    }
                }
                writeln!(out, "{} rows in {:.0} s; median of the rounds", measured.rows.len(), record.seconds)
            }
        }
    }
}

fn write_check(record: &Record, check: &Check, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "{}\n",
        headline(
            check.is_clean(),
            [check.interrupted, check.partial],
            check.divergences.len(),
            check.cases,
            check.comparisons
        )
    )?;
    for file in check.files.iter().filter(|_| check.files.len() > 1) {
        let known = file
            .known
            .iter()
            .map(|(id, count)| format!("known {} by {}", printable(id), counted(*count as usize, "decoder")));
        let shown: Vec<String> = file.new.iter().map(|new| format!("new {}", printable(new))).chain(known).collect();
        let shown = if shown.is_empty() { "nothing".to_owned() } else { shown.join("; ") };
        writeln!(out, "{}: {shown}", printable(&file.name.path))?;
    }
    if check.files.len() > 1 {
        writeln!(out)?;
    }
    for found in &check.divergences {
        let text = printable_lines(&found.explanation);
        writeln!(out, "{text}seen in {}\n\n{}\n", counted(found.hits as usize, "case"), "-".repeat(72))?;
    }
    writeln!(out, "{}", tables::answers_compared(record, check).plain_text())?;
    for known in &check.known {
        writeln!(out, "known: {}, {}", printable(&known.id), counted(known.hits as usize, "hit"))?;
    }
    for id in &check.stale {
        writeln!(out, "STALE: ledger entry {} matches nothing; remove it, or find out why", printable(id))?;
    }
    for name in &check.silent {
        writeln!(out, "SILENT: {} answered nothing, so nothing is known about it", printable(name))?;
    }
    for name in &check.set_aside {
        writeln!(out, "SET ASIDE: {} failed so often that the rest was not asked", printable(name))?;
    }
    for contradiction in &check.contradictions {
        writeln!(out, "CONTRADICTED by the standard: {}", printable(contradiction))?;
    }
    for stage in &check.stages {
        let planned = stage.planned.filter(|planned| *planned != stage.cases);
        let planned = planned.map_or(String::new(), |planned| format!(" of {planned}"));
        writeln!(out, "{:<15} {:>9}{planned} cases in {:.1} s", printable(&stage.name), stage.cases, stage.seconds)?;
    }
    writeln!(out, "{}", printable(&check.shares))?;
    let rate = check.cases as f64 / record.seconds.max(1e-9);
    writeln!(
        out,
        "{}, {}, {} in {:.1} s ({rate:.0} cases/s)",
        counted(record.decoders.len(), "decoder"),
        counted(check.cases as usize, "case"),
        counted(check.comparisons as usize, "comparison"),
        record.seconds,
    )?;
    match (check.divergences.len(), check.known.len()) {
        (0, _) if check.interrupted => Ok(()),
        (0, 0) if check.is_clean() => writeln!(out, "all agree"),
        (0, known) => {
            let stale = match check.stale.len() {
                0 => String::new(),
                1 => ", 1 stale ledger entry".to_owned(),
                count => format!(", {count} stale ledger entries"),
            };
            writeln!(out, "nothing new; {}{stale}", counted(known, "known difference"))
        }
        (new, known) => {
            writeln!(out, "{}, {known} known:", counted(new, "NEW divergence"))?;
            check.divergences.iter().try_for_each(|found| writeln!(out, "  {}", printable(&found.signature)))
        }
    }
}

fn write_triage(record: &Record, triage: &Triage, out: &mut dyn Write) -> io::Result<()> {
    for cluster in &triage.clusters {
        write_cluster(cluster, out)?;
    }
    for (what, files) in [("unread", &triage.unread), ("slow", &triage.slow), ("fault", &triage.faults)] {
        files.iter().try_for_each(|file| writeln!(out, "{what}: {}", printable(file)))?;
    }
    if !triage.targets.is_empty() {
        let sum = |of: fn(&Target) -> u64| grouped(triage.targets.iter().map(of).sum());
        writeln!(
            out,
            "{} {} executions of {}; {} files in the corpus",
            findings::answer(triage).0,
            sum(|target| target.executions),
            counted(triage.targets.len(), "target"),
            sum(|target| target.corpus),
        )?;
    }
    writeln!(out, "{}; {:.1} s", findings::totals(triage), record.seconds)
}

fn write_cluster(cluster: &Cluster, out: &mut dyn Write) -> io::Result<()> {
    for (index, member) in cluster.members.iter().enumerate() {
        let signature = printable(&member.signature);
        match index {
            0 => writeln!(
                out,
                "{}: {signature}, {}",
                printable(&cluster.status),
                counted(cluster.inputs as usize, "input")
            )?,
            _ => writeln!(out, "  and: {signature}, {}", counted(member.inputs as usize, "input"))?,
        }
        write_member(member, out)?;
    }
    writeln!(out)
}

fn write_member(member: &Member, out: &mut dyn Write) -> io::Result<()> {
    if !member.others.is_empty() {
        writeln!(out, "    also:    {}", printable(&member.others.join(" ")))?;
    }
    writeln!(out, "    witness: {}{}", printable(&member.notation), findings::cut_at(member))?;
    if let Some(agreeing) = &member.agreeing {
        writeln!(out, "    agrees:  {}", printable(agreeing))?;
    }
    if let Some(rule) = &member.rule {
        writeln!(out, "    rule:    {} [{}]", printable(&rule.says), printable(&rule.source))?;
    }
    if let Some(known_as) = &member.known_as {
        writeln!(out, "    {}: {}", if member.status == "known" { "ledger" } else { "file" }, printable(known_as))?;
    }
    Ok(())
}

fn write_score(record: &Record, score: &Score, out: &mut dyn Write) -> io::Result<()> {
    let summary = Summary::of(score);
    writeln!(out, "{}", tables::engines(&summary).plain_text())?;
    if !score.comparisons.is_empty() {
        writeln!(out, "{}", tables::comparisons(score).plain_text())?;
    }
    for left_out in &score.left_out {
        writeln!(out, "left out: {}: {}", left_out.engine.name(), printable(&left_out.why))?;
    }
    for row in &score.rows {
        for cell in &row.cells {
            for run in cell.runs.iter().filter(|run| run.outcome != Outcome::Caught) {
                let (name, engine) = (printable(&row.decoder), cell.engine.name());
                match &run.signature {
                    None => writeln!(out, "{name}: missed by {engine}, {} executions", run.executions)?,
                    Some(signature) => {
                        let (signature, signs) = (printable(signature), printable(&row.signs.join(" ")));
                        writeln!(out, "{name}: {engine} reports {signature}, which is none of {signs}")?;
                    }
                }
            }
        }
    }
    writeln!(out, "{}", printable(&tables::signatures(&summary)))?;
    let caught = summary.decoders - summary.by_none.len();
    writeln!(out, "{caught} of {} planted decoders caught in {:.1} s", summary.decoders, record.seconds)
}

/// A Markdown page, as GitHub shows it.
pub struct Markdown;

/// An HTML page.
pub struct Html;

const SCRIPT: &str = include_str!("page.js");

/// The SHA-256 of the script, as written in a content security policy.
fn script_hash() -> String {
    format!("sha256-{}", BASE64_STANDARD.encode(Sha256::digest(SCRIPT)))
}

impl Exporter for Markdown {
    fn export(&self, record: &Record, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(markdown(&tables::document(record)?).as_bytes())
    }
}

impl Exporter for Html {
    fn export(&self, record: &Record, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", html(&tables::document(record)?)?)
    }
}

/// The document as one HTML page. Because the name of the template ends in `.html`, minijinja escapes every value. If
/// one got through nevertheless, the policy of the page permits only the script with the given hash.
pub(super) fn html(document: &Document) -> io::Result<String> {
    let render = || {
        let mut environment = Environment::empty();
        environment.set_auto_escape_callback(minijinja::default_auto_escape_callback);
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.add_filter("safe", Value::from_safe_string);
        environment.add_filter("lines", |values: Vec<String>| values.join("\n"));
        environment.add_template("page.html", include_str!("page.html"))?;
        let mut page = serde_json::to_value(document).unwrap_or_default();
        clean("", &mut page);
        page["script"] = SCRIPT.into();
        page["script_hash"] = script_hash().into();
        environment.get_template("page.html")?.render(Value::from(Serde(&page)))
    };
    render().map_err(|error: minijinja::Error| io::Error::other(error))
}

/// Makes every text safe to print, on one line. A very long one is shortened, except lines of code. Pictures are made
/// safe where they are drawn.
fn clean(name: &str, value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(_) if matches!(name, "svg" | "script_data") => {}
        serde_json::Value::String(text) if name == "lines" => *text = printable(text),
        serde_json::Value::String(text) => *text = shortened(&printable(text)),
        serde_json::Value::Array(values) => values.iter_mut().for_each(|value| clean(name, value)),
        serde_json::Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| clean(name, value)),
        _ => {}
    }
}

/// The start and the end of a text of more than 500 characters, and the number of those between.
fn shortened(text: &str) -> String {
    const ENDS: (usize, usize) = (300, 100);
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= 500 {
        return text.to_owned();
    }
    let until = chars.len() - ENDS.1;
    let [first, last] = [&chars[..ENDS.0], &chars[until..]].map(|part| part.iter().collect::<String>());
    format!("{first} … {} characters … {last}", until - ENDS.0)
}

/// The triage of a record, for formats that have nothing else.
pub(super) fn triage(record: &Record) -> io::Result<&Triage> {
    record.triage().ok_or_else(|| io::Error::new(io::ErrorKind::Unsupported, "only a triage can be written for CI"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::check;
    use crate::report::document::Block;
    use crate::report::record::{Clock, Stage};
    use crate::triage::ledger::Ledger;

    #[test]
    fn a_line_feed_in_a_name_is_escaped() {
        let mut document = Document::new("title\nof two lines");
        document.blocks.push(Block::Heading { level: 2, text: "name\n::error".into() });
        let page = html(&document).unwrap();
        assert!(page.contains("<h2>name\\n::error</h2>") && !page.contains("\nof two lines"), "{page}");
    }

    #[test]
    fn the_name_of_a_stage_is_escaped() {
        let mut record = Record::of_check(&Clock::start(""), &[], &Ledger::default(), &check::Outcome::default());
        let stage = Stage { name: "a\u{1B}".into(), cases: 1, planned: None, seconds: 0.0 };
        record.section = Section::Check(Check { stages: vec![stage], ..Check::default() });
        let mut text = Vec::new();
        Text.export(&record, &mut text).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("\na\\u{1b} "), "{text:?}");
    }
}
