//! Exhaustive runs from the command line: which options are refused, how a run resumes, what a certificate says.
#![cfg(feature = "cli")]

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use utfuzz::engine::check::byte_strings::is_asked_across;

fn command(directory: &Path, args: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_utfuzz"));
    command.arg("check").args(args.split_whitespace()).current_dir(directory).stdin(Stdio::null());
    command
}

/// Runs `utfuzz check` with these arguments, in this directory.
fn run(directory: &TempDir, args: &str) -> Output {
    command(directory.path(), args).output().unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"))
}

fn file(directory: &TempDir, name: &str) -> String {
    fs::read_to_string(directory.path().join(name)).unwrap()
}

/// Asserts that the command is refused in one line that contains all of `says`.
fn assert_refused(directory: &TempDir, args: &str, says: &[&str]) {
    let output = run(directory, args);
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2), "{args}: {text}");
    assert!(output.stdout.is_empty());
    assert_eq!(text.lines().count(), 1, "{args}: {text}");
    says.iter().for_each(|part| assert!(text.contains(part), "{args}: {text}"));
}

#[test]
fn contradictory_options_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    for args in [
        "--bytes 0",
        "--bytes 5",
        "--bytes two",
        "--bytes 2 --deep",
        "--bytes 2 --seconds 3",
        "--bytes 2 --seed 3",
        "--bytes 2 --budget 3",
        "--bytes 2 --only words",
        "--bytes 2 --stop-at-first",
        "--budget 0",
        "--budget 3 --seconds 3",
        "--deep --certificate reports --budget 3",
        "--deep --certificate reports --only classes",
        "--deep --certificate reports --stop-at-first",
        "--resume state",
        "--deep --resume state",
        "--certificate reports",
    ] {
        let output = run(&directory, args);
        assert_eq!(output.status.code(), Some(2), "{args}");
        assert!(output.stdout.is_empty() && !output.stderr.is_empty(), "{args}");
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn files_that_cannot_be_used_are_named() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("file"), "what is this?").unwrap();
    assert_refused(&directory, "--bytes 1 --resume file", &["file: ", "delete it"]);
    assert_refused(&directory, "--bytes 1 --resume none/state", &["none/state", "check the path"]);
    assert_refused(&directory, "--bytes 1 --certificate file", &["file: "]);
    fs::create_dir(directory.path().join("reports")).unwrap();
    for text in ["", "{}", "[1]", r#"{"schema":3,"verdict":""}"#, r#"{"schema":4,"verdict":"","proofs":[]}"#] {
        fs::write(directory.path().join("reports/certificate.json"), text).unwrap();
        assert_refused(&directory, "--bytes 1 --certificate reports", &["certificate.json: ", "delete it"]);
    }
    assert_eq!(file(&directory, "file"), "what is this?");
}

#[test]
fn a_state_belongs_to_one_run() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(run(&directory, "--bytes 1 --resume state --decoders own,std").status.code(), Some(0));
    assert_refused(&directory, "--bytes 2 --resume state --decoders own,std", &["state is of", "length", "delete it"]);
    assert_refused(&directory, "--bytes 1 --resume state --decoders own", &["state is of", "decoders"]);
    assert_refused(&directory, "--bytes 1 --resume state --decoders own,std --no-ledger", &["state is of", "ledger"]);
    let again = run(&directory, "--bytes 1 --resume state --decoders own,std --json");
    assert_eq!(json(&again)["cases"], 256);
}

#[test]
fn a_killed_run_resumes() {
    let directory = tempfile::tempdir().unwrap();
    let args = "--bytes 3 --resume state --decoders own,std,simdutf8-* --json";
    let path = directory.path().join("state");
    let mut child = command(directory.path(), args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    let some_done = || fs::read_to_string(&path).is_ok_and(|text| !text.contains("\"done\":[]"));
    while !some_done() && start.elapsed() < Duration::from_secs(300) {
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(some_done());
    let earlier: Value = serde_json::from_str(&file(&directory, "state")).unwrap();
    let resumed = json(&run(&directory, args));
    assert_eq!(resumed["cases"], 1 << 24);
    // Which code `own` runs on longer inputs depends on the machine.
    let peers = utfuzz::peers::all();
    for decoder in resumed["decoders"].as_array().unwrap() {
        let peer = peers.iter().find(|peer| decoder["name"] == *peer.info().name).unwrap();
        let times = 1 + u64::from(is_asked_across(peer.info(), 3));
        assert_eq!(decoder["comparisons"], times << 24, "{decoder}");
    }
    assert!(earlier["strings"].as_u64().is_some_and(|strings| strings < 1 << 24), "killed too late: {earlier}");
}

#[test]
fn a_divergence_of_byte_strings_is_reported_and_certified() {
    let directory = tempfile::tempdir().unwrap();
    let clean = run(&directory, "--bytes 1 --certificate reports --json");
    assert_eq!(clean.status.code(), Some(0), "{clean:?}");
    assert_eq!(json(&clean)["stages"][0]["name"], "byte strings");
    let answer = || file(&directory, "reports/certificate.md").lines().nth(2).unwrap().to_owned();
    assert_eq!(answer(), "**no new divergence in 256 cases.**");

    let wrong = run(&directory, "--bytes 2 --certificate reports --decoders utf8-decode --no-ledger");
    assert_eq!(wrong.status.code(), Some(1), "{wrong:?}");
    let text = String::from_utf8(wrong.stdout).unwrap();
    assert!(text.contains("verdict/utf8-decode/overlong-2/anywhere"), "{text}");
    assert!(answer().contains("NEW DIVERGENCES"), "{}", answer());
    let page = file(&directory, "reports/certificate.md");
    assert!(page.contains("verdict/utf8-decode/overlong-2/anywhere"), "{page}");

    // Each kind of run keeps its own latest entry.
    let kinds = || {
        let certificate: Value = serde_json::from_str(&file(&directory, "reports/certificate.json")).unwrap();
        let proofs = certificate["proofs"].as_array().unwrap().clone();
        let kinds: Vec<_> = proofs.iter().map(|proof| (proof["kind"].clone(), proof["cases"].clone())).collect();
        (certificate["verdict"].as_str().unwrap().to_owned(), kinds)
    };
    let expected = [("byte-strings-1".into(), 256.into()), ("byte-strings-2".into(), 65536.into())];
    assert_eq!(kinds().1, expected);
    assert!(kinds().0.contains("NEW"));
    assert_eq!(run(&directory, "--bytes 2 --certificate reports").status.code(), Some(0));
    assert_eq!(kinds(), ("no new divergence".to_owned(), expected.to_vec()));
    assert_eq!(fs::read_dir(directory.path().join("reports")).unwrap().count(), 2);
}

#[test]
fn a_decoder_that_answers_nothing_is_reported() {
    let directory = tempfile::tempdir().unwrap();
    let output = run(&directory, "--bytes 1 --decoders std,encoding_rs-utf16 --certificate reports");
    assert_eq!(output.status.code(), Some(1));
    assert!(file(&directory, "reports/certificate.md").contains("SILENT: encoding\\_rs-utf16"));
}
