//! The trait of report formats, and all formats except pictures and CSV.
//!
//! Every record can be written as JSON, for programs; as text, for a terminal; and as Markdown (for a repository's web view) and
//! HTML, both from one [`Document`], Markdown in its own file. The HTML page is self-contained: it needs no network, and has no
//! script but its own.
//!
//! A triage can also be written as SARIF 2.1.0, in the form that GitHub code scanning accepts, and as JUnit XML, which services for
//! continuous integration show.

use crate::engine::check::headline;
use crate::engine::score::{Outcome, Score, Summary};
use crate::judge::Law;
use crate::report::document::{Document, grouped, markdown};
use crate::report::record::{Check, Cluster, Member, Record, SCHEMA, Section, Target, Triage};
#[cfg(feature = "cli")]
use crate::report::tables::throughput;
use crate::report::{findings, tables};
use crate::text::{counted, printable, printable_json, printable_lines};
use base64::prelude::{BASE64_STANDARD, Engine};
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde::Serialize;
use serde_sarif::sarif;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::hash::Hasher;
use std::io::{self, Write};
use std::time::Duration;

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

/// The triage of a record. SARIF and JUnit XML show nothing else.
fn triage(record: &Record) -> io::Result<&Triage> {
    record.triage().ok_or_else(|| io::Error::new(io::ErrorKind::Unsupported, "only a triage can be written for CI"))
}

/// A SARIF log: a rule for each law, a result for each signature.
pub struct Sarif;

const SARIF_SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

impl Exporter for Sarif {
    fn export(&self, record: &Record, out: &mut dyn Write) -> io::Result<()> {
        let triage = triage(record)?;
        let driver = sarif::ToolComponent::builder()
            .name("utfuzz")
            .version(printable(&record.version))
            .rules(Law::ALL.map(rule).to_vec())
            .build();
        let run = sarif::Run::builder()
            .tool(sarif::Tool::builder().driver(driver).build())
            .invocations(vec![invocation(triage)])
            .results(triage.members().map(|member| result(record, triage, member)).collect::<Vec<_>>())
            .build();
        let log = sarif::Sarif::builder().schema(SARIF_SCHEMA).version("2.1.0").runs(vec![run]).build();
        out.write_all(json(&log)?.as_bytes())
    }
}

fn rule(law: Law) -> sarif::ReportingDescriptor {
    let words = |text: String| sarif::MultiformatMessageString::builder().text(text).build();
    sarif::ReportingDescriptor::builder()
        .id(law.name())
        .short_description(words(law.sentence().to_owned()))
        .full_description(words(law.sentence().to_owned()))
        .help(words(HELP.to_owned()))
        .help_uri(clause(law))
        .default_configuration(sarif::ReportingConfiguration::builder().level("error").build())
        .build()
}

const HELP: &str = "`utfuzz explain BYTES` shows which byte is wrong, by which rule, and what every decoder answers. If the \
                    decoder cannot be fixed, enter the difference in the ledger: corpus/known.toml, or fuzz/known.toml in \
                    a crate with the targets of `utfuzz init`.";

/// The clause that a law enforces.
fn clause(law: Law) -> &'static str {
    match law {
        Law::Verdict | Law::ValidUpTo | Law::ErrorKind | Law::Identity | Law::WellFormedOutput | Law::Concatenation => {
            "https://www.rfc-editor.org/rfc/rfc3629#section-4"
        }
        Law::ErrorLength | Law::Spans | Law::Lossy => {
            "https://www.unicode.org/versions/latest/core-spec/chapter-3/#G66453"
        }
        Law::Panic | Law::Bounds | Law::Progress => "https://www.rfc-editor.org/rfc/rfc3629#section-10",
        // The others are about what an answer depends on. A decoder is defined there as a function of a stream of bytes.
        _ => "https://encoding.spec.whatwg.org/#utf-8-decoder",
    }
}

fn invocation(triage: &Triage) -> sarif::Invocation {
    let groups = [("error", &triage.faults), ("warning", &triage.unread), ("note", &triage.slow)];
    let notification =
        |(level, text): (&str, &String)| sarif::Notification::builder().level(level).message(message(text)).build();
    let texts = groups.into_iter().flat_map(|(level, texts)| texts.iter().map(move |text| (level, text)));
    sarif::Invocation::builder()
        .execution_successful(triage.faults.is_empty())
        .tool_execution_notifications(texts.map(notification).collect::<Vec<_>>())
        .build()
}

fn result(record: &Record, triage: &Triage, member: &Member) -> sarif::Result {
    let level = if member.status == "new" { sarif::ResultLevel::Error } else { sarif::ResultLevel::Note };
    let known_as = member.known_as.as_ref().map_or(String::new(), |known_as| format!(" as {known_as}"));
    let others = match member.others.as_slice() {
        [] => String::new(),
        others => format!(" Also: {}.", others.join(", ")),
    };
    let rule = member.rule.as_ref().map_or(String::new(), |rule| format!(" {} [{}]", rule.says, rule.source));
    let text = format!(
        "{}: {} {} on {}, {}{known_as}.{others}{rule}",
        member.signature, member.decoder, member.version, member.notation, member.status
    );
    let artifact = |path: &str| sarif::ArtifactLocation::builder().uri(uri(path)).uri_base_id("%SRCROOT%").build();
    let (path, line) = place(record, triage, member);
    let region = sarif::Region::builder().start_line(line).build();
    let place = sarif::PhysicalLocation::builder().artifact_location(artifact(path)).region(region).build();
    let input = sarif::PhysicalLocation::builder().artifact_location(artifact(file(member))).build();
    let input = sarif::Location::builder().physical_location(input).message(message("the input")).id(1).build();
    // GitHub identifies a result only by the second fingerprint; without it, it would use the text of the file.
    let fingerprints = [
        ("signature/v1", printable(&member.signature)),
        ("primaryLocationLineHash", format!("{:016x}:1", fingerprint(&member.signature))),
    ];
    let fingerprints: BTreeMap<String, String> = fingerprints.map(|(name, value)| (name.to_owned(), value)).into();
    let mut result = sarif::Result::builder()
        .rule_id(printable(&member.law))
        .level(level)
        .message(message(&text))
        .locations(vec![sarif::Location::builder().physical_location(place).build()])
        .related_locations(vec![input])
        .partial_fingerprints(fingerprints)
        .build();
    let index = Law::ALL.iter().position(|law| law.name() == member.law);
    result.rule_index = index.and_then(|index| index.try_into().ok());
    result
}

/// Where to act on a difference, as a file of text and a line: for a known difference its entry in the ledger, otherwise the dependency
/// in the manifest; the first line, if our ledger or manifest has no such entry. In another repository it is always the first
/// line of its ledger.
fn place<'r>(record: &Record, triage: &'r Triage, member: &Member) -> (&'r str, i64) {
    const LEDGER: (&str, &str) = ("corpus/known.toml", include_str!("../../corpus/known.toml"));
    const MANIFEST: (&str, &str) = ("crates/core/Cargo.toml", crate::peers::MANIFEST);
    if let Some(ledger) = &triage.ledger {
        return (ledger, 1);
    }
    let known_as = member.known_as.as_ref().filter(|_| member.status == "known");
    let judged = record.decoders.iter().find(|judged| judged.name == member.decoder);
    let ((path, text), wanted) = match known_as {
        Some(id) => (LEDGER, format!("id = \"{id}\"")),
        None => (MANIFEST, format!("{} = ", judged.map_or("", |judged| &judged.package))),
    };
    let line = text.lines().position(|line| line.starts_with(&wanted)).unwrap_or(0);
    (path, line as i64 + 1)
}

/// The file that shows a difference: the one in which it is or was kept, otherwise one in which it was found.
fn file(member: &Member) -> &str {
    let before = member.known_as.as_deref().filter(|_| member.status == "regression");
    let files = [member.kept.as_deref(), before, member.files.first().map(String::as_str)];
    files.into_iter().flatten().next().unwrap_or_default()
}

/// A path as a URI reference relative to the repository. For a path outside it, only the file name; for no path, the
/// ledger, since the file must exist.
fn uri(path: &str) -> String {
    let mut parts = Vec::new();
    let mut outside = path.starts_with('/');
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => outside |= parts.pop().is_none(),
            _ => parts.push(part),
        }
    }
    if outside {
        parts.drain(..parts.len().saturating_sub(1));
    }
    let path = if parts.is_empty() { "corpus/known.toml".to_owned() } else { parts.join("/") };
    let encode = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    path.bytes().map(encode).collect()
}

/// Text without links and placeholders (SARIF 2.1.0, sections 3.11.5 and 3.11.6).
fn message(text: &str) -> sarif::Message {
    let mut escaped = String::new();
    for c in printable(text).chars() {
        match c {
            '\\' | '[' | ']' => escaped.extend(['\\', c]),
            '{' | '}' => escaped.extend([c, c]),
            _ => escaped.push(c),
        }
    }
    sarif::Message::builder().text(escaped).build()
}

/// A hash that is the same on every machine and in every version.
fn fingerprint(text: &str) -> u64 {
    let mut hasher = fnv::FnvHasher::default();
    hasher.write(text.as_bytes());
    hasher.finish()
}

/// A JUnit document: a suite for each decoder, a case for each signature. New signatures fail; regressions and known
/// ones are skipped.
pub struct Junit;

impl Exporter for Junit {
    fn export(&self, record: &Record, out: &mut dyn Write) -> io::Result<()> {
        let triage = triage(record)?;
        let mut report = Report::new("utfuzz");
        report.set_time(Duration::try_from_secs_f64(record.seconds).unwrap_or_default());
        let mut names: Vec<&str> = record.decoders.iter().map(|decoder| decoder.name.as_str()).collect();
        for member in triage.members() {
            if !names.contains(&member.decoder.as_str()) {
                names.push(&member.decoder);
            }
        }
        for name in names {
            report.add_test_suite(suite(record, triage, name));
        }
        report.add_test_suite(run(triage));
        report.serialize(out).map_err(io::Error::other)
    }
}

fn suite(record: &Record, triage: &Triage, name: &str) -> TestSuite {
    let mut suite = TestSuite::new(printable(name));
    if let Some(judged) = record.decoders.iter().find(|judged| judged.name == name) {
        suite.add_property(("version", printable(&judged.version).as_str()));
        suite.add_property(("contract", printable(&judged.contract).as_str()));
    }
    let cases: Vec<TestCase> = triage.members().filter(|member| member.decoder == name).map(case).collect();
    if cases.is_empty() {
        suite.add_test_case(TestCase::new("no divergence", TestCaseStatus::success()));
    }
    suite.add_test_cases(cases);
    suite
}

fn case(member: &Member) -> TestCase {
    let mut status = match member.status.as_str() {
        "new" => TestCaseStatus::non_success(NonSuccessKind::Failure),
        _ => TestCaseStatus::skipped(),
    };
    let known_as = member.known_as.as_ref().map_or(String::new(), |known_as| format!(" as {known_as}"));
    status.set_type(printable(&member.law));
    status.set_message(printable(&format!("{}{known_as}: {}", member.status, member.notation)));
    let others: String = member.others.iter().map(|other| format!("also: {other}\n")).collect();
    status.set_description(printable_lines(&format!("{others}{}\n{}", member.annotated, member.test)));
    let mut case = TestCase::new(printable(&member.signature), status);
    case.set_classname(printable(&member.decoder));
    case
}

/// The run itself. It always has a case, so that a run without findings differs from one that did not take place.
fn run(triage: &Triage) -> TestSuite {
    let mut suite = TestSuite::new("utfuzz");
    let name = format!("triage of {} inputs", triage.inputs);
    suite.add_test_case(TestCase::new(name, TestCaseStatus::success()));
    let error = || TestCaseStatus::non_success(NonSuccessKind::Error);
    let groups: [(_, _, &dyn Fn() -> TestCaseStatus); 3] = [
        ("fault", &triage.faults, &error),
        ("unread", &triage.unread, &TestCaseStatus::skipped),
        ("slow", &triage.slow, &TestCaseStatus::skipped),
    ];
    for (what, texts, status) in groups {
        for (index, text) in texts.iter().enumerate() {
            let mut status = status();
            status.set_message(printable(text));
            suite.add_test_case(TestCase::new(format!("{what} {}", index + 1), status));
        }
    }
    suite
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

    #[test]
    fn a_path_is_relative_to_the_repository() {
        for (path, expected) in [
            ("corpus/regressions/a__b.bin", "corpus/regressions/a__b.bin"),
            ("./a/./b/../c", "a/c"),
            ("/tmp/crash-1", "crash-1"),
            ("../up/crash-1", "crash-1"),
            ("javascript:alert(1)", "javascript%3Aalert%281%29"),
            ("//host/x", "x"),
            ("a b?c#d%2e\\", "a%20b%3Fc%23d%252e%5C"),
            ("\u{202e}\0\u{fffd}", "%E2%80%AE%00%EF%BF%BD"),
            ("..", "corpus/known.toml"),
            ("", "corpus/known.toml"),
        ] {
            assert_eq!(uri(path), expected, "{path:?}");
        }
    }

    /// FNV-1a's published test vector; alerts that exist keep their identity.
    #[test]
    fn fingerprints_never_change() {
        assert_eq!(fingerprint("foobar"), 0x8594_4171_F739_67E8);
    }
}
