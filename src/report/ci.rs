//! Triages in the formats that continuous integration shows: SARIF 2.1.0, in the form that GitHub code scanning accepts, and
//! JUnit XML.

use crate::judge::Law;
use crate::report::exporter::{Exporter, json, triage};
use crate::report::record::{Member, Record, Triage};
use crate::text::{printable, printable_lines};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use serde_sarif::sarif;
use std::collections::BTreeMap;
use std::hash::Hasher;
use std::io::{self, Write};
use std::time::Duration;

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

/// Where to act on it, as a file of text and a line: for a known difference its entry in the ledger, otherwise the dependency
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

/// The file that shows it: the one in which it is or was kept, otherwise one in which it was found.
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
