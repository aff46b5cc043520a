//! Triages as JUnit XML.

use crate::report::exporter::{Exporter, triage};
use crate::report::record::{Member, Record, Triage};
use crate::text::{printable, printable_lines};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};
use std::io::{self, Write};
use std::time::Duration;

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
