//! Decoders in other processes: an honest adapter, adapters that misbehave in every way, and nothing left running.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

/// An example of this package, which `cargo test` builds.
fn example(name: &str) -> String {
    let tests = std::env::current_exe().unwrap();
    let path: PathBuf = tests.ancestors().nth(2).unwrap().join("examples").join(name);
    assert!(path.is_file(), "{} is not built", path.display());
    path.to_str().unwrap().to_owned()
}

fn utfuzz(directory: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_utfuzz"));
    // Its trace would be printed by each adapter that aborts.
    command.current_dir(directory).args(args).stdin(Stdio::null()).env_remove("RUST_BACKTRACE");
    command
}

fn check(adapter: &str) -> Output {
    let directory = tempfile::tempdir().unwrap();
    let args = ["check", "--quick", "--seconds", "0", "--adapter", adapter];
    utfuzz(directory.path(), &args).output().unwrap()
}

/// The processes whose command line contains this text.
#[cfg(target_os = "linux")]
fn running(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let line = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
        let line = String::from_utf8_lossy(&line).replace('\0', " ");
        let is_ours = process.file_name().to_string_lossy() == std::process::id().to_string();
        found.extend((line.contains(text) && !is_ours).then_some(line));
    }
    found
}

#[cfg(target_os = "linux")]
fn none_is_left(text: &str) {
    let start = Instant::now();
    while !running(text).is_empty() {
        assert!(start.elapsed() < Duration::from_secs(5), "left running: {:?}", running(text));
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn an_honest_adapter_is_clean() {
    let output = check(&example("adapter"));
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{out}{err}");
    assert!(out.contains("2 decoders, ") && out.contains("\nall agree\n"), "{out}");
    for name in ["core-str ", "core-str-lossy "] {
        assert!(
            err.lines().any(|line| line.starts_with(&format!("note: {name}")) && line.contains(" a second")),
            "{err}"
        );
    }
}

/// The blocks of Python in the documents are whole adapters.
#[test]
fn the_first_adapter_of_the_documents_is_clean() {
    let document = std::fs::read_to_string("docs/adapter.md").unwrap();
    let block = document.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mine.py");
    std::fs::write(&path, block).unwrap();
    let output = check(&format!("python3 {}", path.display()));
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("my-strict "), "{output:?}");
}

/// Each fault, and the signature under which it is reported.
const FAULTS: [(&str, &str); 11] = [
    ("wrong", "verdict/foreign-wrong/invalid-byte/anywhere"),
    ("abort", "panic/foreign-abort/abort/anywhere"),
    ("exit", "panic/foreign-exit/exit/anywhere"),
    ("hang", "progress/foreign-hang/hang/anywhere"),
    ("memory", "panic/foreign-memory/abort/anywhere"),
    ("stdout", "panic/foreign-stdout/garbage/anywhere"),
    ("verdict", "panic/foreign-verdict/garbage/anywhere"),
    ("lengths", "panic/foreign-lengths/garbage/anywhere"),
    ("count", "panic/foreign-count/garbage/anywhere"),
    ("flood", "panic/foreign-flood/garbage/anywhere"),
    ("late", "panic/foreign-late/abort/anywhere"),
];

/// The last one starts a process of its own that would outlive it.
#[cfg(target_os = "linux")]
#[test]
fn every_adapter_that_misbehaves_is_named_and_none_is_left_running() {
    let program = example("planted_adapter");
    let mut wrong = Vec::new();
    for (fault, signature) in FAULTS {
        let output = check(&format!("{program} {fault}"));
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        let is_named = out.lines().any(|line| line == format!("  {signature}"));
        if output.status.code() != Some(1) || !is_named {
            wrong.push(format!("{fault}: {:?}\n{out}\n{err}", output.status));
        }
    }
    let output = check(&format!("{program} offspring"));
    wrong.extend((output.status.code() != Some(0)).then(|| format!("offspring: {output:?}")));
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    none_is_left("planted_adapter");
    none_is_left("sleep 3599");
}

#[test]
fn an_adapter_that_does_not_greet_is_refused() {
    let program = example("planted_adapter");
    let commands = [
        (format!("{program} banner"), "the first line is \"Welcome to the runtime\""),
        (format!("{program} version"), "this is version 1"),
        ("false".to_owned(), "it ended without a greeting; it ended with status 1"),
        ("none/such".to_owned(), "none/such: cannot be started"),
    ];
    for (command, says) in commands {
        let output = check(&command);
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command}: {err}");
        assert!(err.contains(says), "{command}: {err}");
    }
}

/// What is killed takes its adapters with it.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_check_leaves_no_adapter() {
    let copy = tempfile::tempdir().unwrap();
    let program = copy.path().join("doomed_adapter");
    std::fs::copy(example("planted_adapter"), &program).unwrap();
    let adapter = format!("{} hang", program.display());
    let mut check = utfuzz(copy.path(), &["check", "--quick", "--adapter", &adapter]);
    let mut check = check.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    // The name of the entry point is an argument only of the process that is asked.
    while running("doomed_adapter hang foreign-hang").is_empty() && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!running("doomed_adapter hang foreign-hang").is_empty());
    check.kill().unwrap();
    check.wait().unwrap();
    none_is_left("doomed_adapter");
}
