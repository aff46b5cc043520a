//! The trait of report formats, and the two formats that are printed: JSON, and text for a terminal.

use crate::engine::check::headline;
use crate::engine::score::Summary;
use crate::engine::score::{Outcome, Score};
use crate::report::document::grouped;
use crate::report::findings;
use crate::report::record::{Check, Cluster, Member, Record, SCHEMA, Section, Target, Triage};
use crate::report::tables;
#[cfg(feature = "cli")]
use crate::report::throughput;
use crate::text::{counted, printable, printable_json};
use serde::Serialize;
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

/// What every JSON output has first; see [`SCHEMA`].
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
        let text = crate::text::printable_lines(&found.explanation);
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
    for stage in &check.stages {
        let planned = stage.planned.filter(|planned| *planned != stage.cases);
        let planned = planned.map_or(String::new(), |planned| format!(" of {planned}"));
        writeln!(out, "{:<15} {:>9}{planned} cases in {:.1} s", stage.name, stage.cases, stage.seconds)?;
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
        (0, known) => writeln!(out, "nothing new; {}", counted(known, "known difference")),
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
