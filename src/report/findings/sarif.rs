//! The findings as SARIF 2.1.0, the way GitHub code scanning reads it: a rule for each law, a result for each signature.

use crate::judge::Law;
use crate::report::escape;
use crate::report::findings::{Exporter, Findings, Member};
use crate::text::printable;
use serde_sarif::sarif;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// One JSON object of that standard.
pub struct Sarif;

const SCHEMA: &str = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

impl Exporter for Sarif {
    fn export(&self, findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
        let driver = sarif::ToolComponent::builder()
            .name("utfuzz")
            .version(printable(&findings.version))
            .rules(Law::ALL.map(rule).to_vec())
            .build();
        let run = sarif::Run::builder()
            .tool(sarif::Tool::builder().driver(driver).build())
            .invocations(vec![invocation(findings)])
            .results(findings.members().map(result).collect::<Vec<_>>())
            .build();
        let log = sarif::Sarif::builder().schema(SCHEMA).version("2.1.0").runs(vec![run]).build();
        out.write_all(escape::json(&log)?.as_bytes())
    }
}

fn rule(law: Law) -> sarif::ReportingDescriptor {
    let words = |text: String| sarif::MultiformatMessageString::builder().text(text).build();
    sarif::ReportingDescriptor::builder()
        .id(law.name())
        .short_description(words(law.sentence().to_owned()))
        .full_description(words(law.sentence().to_owned()))
        .help(words(format!("{} A result names a decoder that breaks this, and on what.", law.sentence())))
        .default_configuration(sarif::ReportingConfiguration::builder().level("error").build())
        .build()
}

fn invocation(findings: &Findings) -> sarif::Invocation {
    let groups = [("error", &findings.faults), ("warning", &findings.unread), ("note", &findings.slow)];
    let notification =
        |(level, text): (&str, &String)| sarif::Notification::builder().level(level).message(message(text)).build();
    let texts = groups.into_iter().flat_map(|(level, texts)| texts.iter().map(move |text| (level, text)));
    sarif::Invocation::builder()
        .execution_successful(findings.faults.is_empty())
        .tool_execution_notifications(texts.map(notification).collect::<Vec<_>>())
        .build()
}

fn result(member: &Member) -> sarif::Result {
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
    let file = sarif::ArtifactLocation::builder().uri(uri(file(member))).uri_base_id("%SRCROOT%").build();
    // The file is bytes; GitHub wants a line nevertheless.
    let region = sarif::Region::builder().start_line(1).build();
    let place = sarif::PhysicalLocation::builder().artifact_location(file).region(region).build();
    // GitHub tells results apart by the second alone, and would otherwise take it from the text of the file.
    let prints = [
        ("signature/v1", printable(&member.signature)),
        ("primaryLocationLineHash", format!("{:016x}:1", hash(&member.signature))),
    ];
    let prints: BTreeMap<String, String> = prints.map(|(name, value)| (name.to_owned(), value)).into();
    let mut result = sarif::Result::builder()
        .rule_id(printable(&member.law))
        .level(level)
        .message(message(&text))
        .locations(vec![sarif::Location::builder().physical_location(place).build()])
        .partial_fingerprints(prints)
        .build();
    let index = Law::ALL.iter().position(|law| law.name() == member.law);
    result.rule_index = index.and_then(|index| index.try_into().ok());
    result
}

/// The file that shows it: the one it is kept in, or was; else one of those it was found in.
fn file(member: &Member) -> &str {
    let before = member.known_as.as_deref().filter(|_| member.status == "regression");
    let files = [member.kept.as_deref(), before, member.files.first().map(String::as_str)];
    files.into_iter().flatten().next().unwrap_or_default()
}

/// A path as a reference relative to the repository. What is not below it keeps only its last name, and what has none
/// is the ledger, as a file that is there.
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

/// Text that is no link and no placeholder (§3.11.5 and §3.11.6).
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

/// FNV-1a: the same on every machine.
fn hash(text: &str) -> u64 {
    text.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01B3))
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
}
