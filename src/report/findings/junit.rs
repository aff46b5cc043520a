//! The findings as JUnit XML: a suite for each decoder, a case for each signature. New ones fail; what was there before
//! is skipped.

use crate::report::escape::lines;
use crate::report::findings::{Exporter, Findings, Member};
use crate::text::printable;
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::io::{self, Write};
use std::time::Duration;

/// One XML document.
pub struct Junit;

impl Exporter for Junit {
    fn export(&self, findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
        let mut report = Report::new("utfuzz");
        report.set_time(Duration::try_from_secs_f64(findings.seconds).unwrap_or_default());
        let mut names: Vec<&str> = findings.decoders.iter().map(|decoder| decoder.name.as_str()).collect();
        for member in findings.members() {
            if !names.contains(&member.decoder.as_str()) {
                names.push(&member.decoder);
            }
        }
        for name in names {
            report.add_test_suite(decoder(findings, name));
        }
        report.add_test_suite(run(findings));
        report.serialize(out).map_err(io::Error::other)
    }
}

fn decoder(findings: &Findings, name: &str) -> TestSuite {
    let mut suite = TestSuite::new(printable(name));
    if let Some(asked) = findings.decoders.iter().find(|asked| asked.name == name) {
        suite.add_property(("version", printable(&asked.version).as_str()));
        suite.add_property(("contract", printable(&asked.contract).as_str()));
    }
    let cases: Vec<TestCase> = findings.members().filter(|member| member.decoder == name).map(case).collect();
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
    status.set_description(lines(&format!("{others}{}\n{}", member.annotated, member.test)));
    let mut case = TestCase::new(printable(&member.signature), status);
    case.set_classname(printable(&member.decoder));
    case
}

/// What went wrong besides. There is always a case, so that a run that found nothing is not one that did not take place.
fn run(findings: &Findings) -> TestSuite {
    let mut suite = TestSuite::new("utfuzz");
    let words = format!("triage of {} inputs", findings.inputs);
    suite.add_test_case(TestCase::new(words, TestCaseStatus::success()));
    let error = || TestCaseStatus::non_success(NonSuccessKind::Error);
    let groups: [(_, _, &dyn Fn() -> TestCaseStatus); 3] = [
        ("fault", &findings.faults, &error),
        ("unread", &findings.unread, &TestCaseStatus::skipped),
        ("slow", &findings.slow, &TestCaseStatus::skipped),
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
