//! The command line as a user sees it: exit status, what goes to which stream, and what never reaches a terminal.
//!
//! This file has the tests of several subcommands at once.
#![cfg(feature = "cli")]

mod chart;
mod check;
mod convert;
mod explain;
mod frame;
mod hostile;
mod list;
mod measure;
mod probe;
mod replay;
mod run;

use run::{LEDGER, Run, assert_none_wrong, command, directory_with, names, run, run_with_input};
use std::fs;

#[test]
fn bad_input_is_refused_in_one_line_that_names_it() {
    let not_a_date = LEDGER.replace("2026-11-20", "yesterday");
    let twice = LEDGER.repeat(2);
    let files: [(&str, &[u8]); 15] = [
        ("case.bin", b"\xC0\xAF"),
        ("tree/case.bin", b"\xC0\xAF"),
        ("not-toml.toml", b"\n[[known]\n"),
        ("key.toml", b"[[known]]\nraison = 1\n"),
        ("date.toml", not_a_date.as_bytes()),
        ("twice.toml", twice.as_bytes()),
        ("not-text.toml", b"\xFF\n"),
        ("fields/vectors/bad.txt", b"# a suite\na | C0 AF\n"),
        ("word/vectors/bad.txt", b"a | C0 AF | perhaps\n"),
        ("key/vectors/bad.txt", b"a | C0 AF | invalid color=red\n"),
        ("hex/vectors/bad.txt", b"\n\na | C0 A | invalid\n"),
        ("digit/vectors/bad.txt", b"a | C0 AG | invalid\n"),
        ("claim/vectors/bad.txt", b"a | C0 AF | invalid fail-at=soon\n"),
        ("known/known.toml", b"[[known]\n"),
        ("known/vectors/good.txt", b"a | C0 AF | invalid\n"),
    ];
    let directory = directory_with(&files);
    let check: [&str; 5] = ["check", "--seconds", "0", "--decoders", "own"];
    let corpus = |name| [&check[..], &["--corpus", name]].concat();
    let rows: Vec<(Vec<&str>, &[&str])> = vec![
        (vec!["replay", "nowhere.bin"], &["nowhere.bin"]),
        (vec!["replay", "case.bin", "nowhere.bin"], &["nowhere.bin"]),
        (vec!["replay", "--recursive", "nowhere"], &["nowhere"]),
        (vec!["replay", "--json", "nowhere.bin"], &["nowhere.bin"]),
        (vec!["replay", "no\nwhere.bin"], &["where.bin"]),
        (vec!["explain", "tree"], &["tree"]),
        (vec!["explain", "nowhere.bin"], &["nowhere.bin: there is no such file"]),
        (vec!["explain", "no/where.bin"], &["no/where.bin"]),
        (vec!["explain", "C0 A"], &["C0 A"]),
        (vec!["explain", "C0 AG"], &["C0 AG", "'G'"]),
        (vec!["explain", "0xC"], &["0xC", "each byte needs two"]),
        (vec!["explain", "C0", "AG"], &["C0 AG", "--text"]),
        (vec!["explain", "C0\nA"], &["C0"]),
        (vec!["explain", "--hex", "é"], &["'é' is not a hexadecimal digit"]),
        (vec!["explain", "--escapes", "\\xC"], &["escape"]),
        (vec!["explain", "80", "--decoders", "owl"], &["\"owl\"", "own"]),
        (vec!["replay", "case.bin", "--decoders", "own,owl"], &["\"owl\"", "own"]),
        (vec!["list", "--decoders", "-owl"], &["owl", "own"]),
        (vec!["list", "--json", "--decoders", "owl*"], &["\"owl*\""]),
        (vec!["check", "--seconds", "0", "--decoders", "owl"], &["\"owl\"", "own"]),
        (vec!["replay", "case.bin", "--ledger", "not-toml.toml"], &["not-toml.toml", "line 2"]),
        (vec!["replay", "case.bin", "--ledger", "key.toml"], &["key.toml", "line 2", "raison"]),
        (vec!["replay", "case.bin", "--ledger", "date.toml"], &["date.toml", "yesterday"]),
        (vec!["replay", "case.bin", "--ledger", "twice.toml"], &["twice.toml", "\"the-entry\""]),
        (vec!["replay", "case.bin", "--ledger", "not-text.toml"], &["not-text.toml"]),
        (vec!["replay", "case.bin", "--ledger", "nowhere.toml"], &["nowhere.toml"]),
        (vec!["replay", "case.bin", "--ledger", "tree"], &["tree"]),
        (vec!["replay", "case.bin", "--corpus", "nowhere"], &["nowhere"]),
        (vec!["replay", "case.bin", "--corpus", "known"], &["known.toml", "line 1"]),
        (vec!["check", "--seconds", "0", "--ledger", "nowhere.toml"], &["nowhere.toml"]),
        (corpus("nowhere"), &["nowhere"]),
        (corpus("case.bin"), &["case.bin"]),
        (corpus("tree"), &["vectors"]),
        (corpus("known"), &["known.toml", "line 1"]),
        (corpus("fields"), &["bad.txt", "line 2"]),
        (corpus("word"), &["bad.txt", "line 1", "perhaps"]),
        (corpus("key"), &["bad.txt", "line 1", "color"]),
        (corpus("hex"), &["bad.txt", "line 3"]),
        (corpus("digit"), &["bad.txt", "line 1", "'G'"]),
        (corpus("claim"), &["bad.txt", "line 1", "soon"]),
    ];
    assert_none_wrong(rows.iter().filter_map(|(args, says)| run(directory.path(), args).wrong_refusal(says)));
}

#[cfg(unix)]
#[test]
fn what_cannot_be_read_or_written_is_refused_in_one_line_that_names_it() {
    use std::os::unix::fs::PermissionsExt;
    let directory = directory_with(&[
        ("locked.bin", b"\xC0\xAF"),
        ("case.bin", b"\xC0\xAF"),
        ("tree/case.bin", b"\xC0\xAF"),
        ("closed/case.bin", b"\xC0\xAF"),
    ]);
    let path = |name: &str| directory.path().join(name);
    fs::set_permissions(path("locked.bin"), fs::Permissions::from_mode(0o000)).unwrap();
    fs::set_permissions(path("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    std::os::unix::fs::symlink("nowhere", path("tree/dangling")).unwrap();
    let mut rows: Vec<(Vec<&str>, &str)> = vec![(vec!["replay", "tree/dangling"], "tree/dangling")];
    if fs::read(path("locked.bin")).is_ok() {
        println!("skipped: this user can read files without permissions");
    } else {
        rows.extend([
            (vec!["explain", "locked.bin"], "locked.bin"),
            (vec!["replay", "locked.bin"], "locked.bin"),
            (vec!["replay", "case.bin", "locked.bin"], "locked.bin"),
            (vec!["replay", "--ledger", "locked.bin", "case.bin"], "locked.bin"),
            (vec!["replay", "--recursive", "closed"], "closed"),
            (vec!["check", "--seconds", "0", "--corpus", "closed"], "closed"),
        ]);
    }
    if cfg!(target_os = "linux") {
        // Reading the address space of a process from 0 fails, even for root.
        rows.extend([
            (vec!["explain", "/proc/self/mem"], "/proc/self/mem"),
            (vec!["replay", "/proc/self/mem"], "/proc/self/mem"),
        ]);
    }
    let mut wrong: Vec<String> =
        rows.iter().filter_map(|(args, says)| run(directory.path(), args).wrong_refusal(&[says])).collect();
    fs::set_permissions(path("closed"), fs::Permissions::from_mode(0o700)).unwrap();

    let mut from_directory = command(directory.path(), &["explain", "-"]);
    let output = from_directory.stdin(fs::File::open(directory.path()).unwrap()).output().unwrap();
    wrong.extend(Run::of(&from_directory, output).wrong_refusal(&["standard input"]));
    if cfg!(target_os = "linux") {
        for args in [&["list"][..], &["list", "--json"], &["explain", "80"]] {
            let mut to_full = command(directory.path(), args);
            let full = fs::File::options().write(true).open("/dev/full").unwrap();
            let output = to_full.stdout(full).output().unwrap();
            wrong.extend(Run::of(&to_full, output).wrong_refusal(&["standard output"]));
        }
    }
    assert_none_wrong(wrong);
}

#[test]
fn wrong_usage_ends_with_status_2_and_nothing_on_standard_output() {
    let directory = directory_with(&[("case.bin", b"\xC0\xAF")]);
    let rows: [(&[&str], &str); 9] = [
        (&[], "Usage"),
        (&["examine"], "examine"),
        (&["explain"], "HEX"),
        (&["explain", "80", "--hex", "--text"], "--text"),
        (&["replay"], "PATH"),
        (&["replay", "--loudly", "case.bin"], "--loudly"),
        (&["replay", "case.bin", "--ledger", "x", "--no-ledger"], "--no-ledger"),
        (&["check", "--seconds", "soon"], "soon"),
        (&["check", "--seconds", "-1"], "-1"),
    ];
    assert_none_wrong(rows.iter().filter_map(|(args, says)| {
        let run = run(directory.path(), args);
        let unsaid = || (!run.err().contains(says)).then(|| format!("{}: {:?}", run.line, run.err()));
        let noise = || (!run.out.is_empty()).then(|| format!("{}: stdout {:?}", run.line, run.out()));
        run.wrong_status(2).or_else(unsaid).or_else(noise)
    }));
}

#[test]
fn the_empty_input_is_a_case_like_any_other() {
    let directory = directory_with(&[("empty", b""), ("tree/empty", b""), ("tree/more/empty", b"")]);
    let filter = names(false).join(",");
    let explained = [
        run(directory.path(), &["explain", "empty"]),
        run(directory.path(), &["explain", ""]),
        run_with_input(directory.path(), &["explain", "-"], b""),
    ];
    let wrong: Vec<String> = explained.iter().filter_map(|run| run.wrong_quiet(0)).collect();
    assert_none_wrong(wrong);
    assert!(explained[0].out().starts_with("0 bytes: valid\n"), "{}", explained[0].out());
    assert!(explained.iter().all(|run| run.out == explained[0].out), "{}", explained[2].out());
    for (args, cases) in [(&["empty"][..], 1), (&["--recursive", "tree"], 2), (&["empty", "empty", "tree", "-r"], 4)] {
        let run = run(directory.path(), &[&["replay", "--json", "--decoders", &filter], args].concat());
        assert_none_wrong(run.wrong_quiet(0));
        let report = run.json();
        assert_eq!(report["cases"], cases, "{report}");
        assert!(report["comparisons"].as_u64() > Some(0), "{report}");
    }
}

#[test]
fn a_filter_narrows_replay_and_explain_too() {
    let directory = directory_with(&[("case.bin", b"\xC0\xAF")]);
    let without = run(directory.path(), &["replay", "--no-ledger", "--decoders", "own,std", "case.bin"]);
    let with = run(directory.path(), &["replay", "--no-ledger", "--decoders", "utf8-d*", "case.bin"]);
    let explained = run(directory.path(), &["explain", "C0 AF", "--decoders", "-utf8-decode"]);
    assert_none_wrong([without.wrong_quiet(0), with.wrong_quiet(1), explained.wrong_quiet(0)].into_iter().flatten());
    assert!(!explained.out().contains("utf8-decode") && explained.out().contains("bstr"), "{}", explained.out());
}

/// The writing end of a pipe without a reader.
fn broken_pipe() -> std::io::PipeWriter {
    std::io::pipe().unwrap().1
}

/// Commands with the exit status of their verdict: 1 for a new divergence or ill-formed input.
const VERDICTS: [(&[&str], i32); 20] = [
    (&["list"], 0),
    (&["list", "--json"], 0),
    (&["--help"], 0),
    (&["check", "--help"], 0),
    (&["--version"], 0),
    (&["explain", "C0 AF"], 0),
    (&["check", "--bytes", "2", "--decoders", "own", "--no-ledger"], 0),
    (&["check", "--bytes", "2", "--decoders", "utf8-decode", "--no-ledger"], 1),
    (&["check", "--bytes", "2", "--decoders", "utf8-decode", "--no-ledger", "--json"], 1),
    (&["replay", "case.bin", "--decoders", "own,utf8-decode"], 0),
    (&["replay", "case.bin", "--decoders", "own,utf8-decode", "--no-ledger"], 1),
    (&["replay", "case.bin", "--decoders", "own,utf8-decode", "--no-ledger", "--json"], 1),
    (&["triage", "case.bin", "--decoders", "own,utf8-decode"], 0),
    (&["triage", "case.bin", "--decoders", "own,utf8-decode", "--no-ledger"], 1),
    (&["triage", "case.bin", "--decoders", "own,utf8-decode", "--no-ledger", "--json"], 1),
    (&["minimize", "case.bin", "--decoders", "utf8-decode", "--no-ledger"], 1),
    (&["detect", "case.bin", "noise.bin"], 1),
    (&["convert", "-f", "latin1", "-t", "utf16", "long.txt"], 0),
    (&["convert", "-f", "utf8", "-t", "utf16", "case.bin"], 1),
    (&["convert", "-f", "utf8", "-t", "utf16", "long.txt"], 1),
];

/// A directory for [`VERDICTS`]. The text is longer than any pipe, and ill-formed at its end.
fn directory_of_verdicts() -> tempfile::TempDir {
    let long = [&b"0123456789\n".repeat(1 << 16)[..], b"\xFF"].concat();
    directory_with(&[("case.bin", b"\xC0\xAF"), ("noise.bin", b"\xFF\x01\x02\x03"), ("long.txt", &long)])
}

#[test]
fn a_reader_that_leaves_never_changes_a_verdict() {
    let directory = directory_of_verdicts();
    let mut wrong = Vec::new();
    for (args, status) in VERDICTS {
        let read = run(directory.path(), args);
        wrong.extend(read.wrong_status(status));
        let mut command = command(directory.path(), args);
        let output = command.stdout(broken_pipe()).output().unwrap();
        let left = Run::of(&command, output);
        wrong.extend(left.wrong_status(status));
        if left.err != read.err {
            wrong.push(format!("{}: stderr {:?}, and {:?} with a reader", left.line, left.err(), read.err()));
        }
    }
    assert_none_wrong(wrong);
}

#[cfg(unix)]
#[test]
fn a_verdict_needs_no_standard_output() {
    let directory = directory_of_verdicts();
    assert_none_wrong(VERDICTS.iter().filter_map(|(args, status)| {
        let mut shell = std::process::Command::new("sh");
        shell.args(["-c", "exec \"$0\" \"$@\" >&-", env!("CARGO_BIN_EXE_utfuzz")]).args(*args);
        let output = shell.current_dir(directory.path()).stdin(std::process::Stdio::null()).output().unwrap();
        Run::of(&shell, output).wrong_status(*status)
    }));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_status_2_unless_the_verdict_is_1() {
    let directory = directory_of_verdicts();
    assert_none_wrong(VERDICTS.iter().filter_map(|(args, status)| {
        let full = fs::File::options().write(true).open("/dev/full").unwrap();
        let mut command = command(directory.path(), args);
        let output = command.stdout(full).output().unwrap();
        let run = Run::of(&command, output);
        let unsaid = || (!run.err().contains("No space left")).then(|| format!("{}: {:?}", run.line, run.err()));
        run.wrong_status(if *status == 1 { 1 } else { 2 }).or_else(unsaid)
    }));
}

#[test]
fn a_triage_of_nothing_but_unreadable_files_is_not_clean() {
    // Longer than an input may be.
    let directory = directory_with(&[("crashes/long.bin", &vec![b'a'; 2 << 20])]);
    let run = run(directory.path(), &["triage", "crashes", "--decoders", "own"]);
    let unsaid = || (!run.out().contains("long.bin")).then(|| format!("{}: {}", run.line, run.out()));
    assert_none_wrong(run.wrong_status(2).or_else(unsaid));
}

/// Input that never ends has no verdict.
#[test]
fn a_conversion_of_a_stream_ends_when_its_reader_leaves() {
    let directory = directory_with(&[]);
    let mut command = command(directory.path(), &["convert", "-f", "utf8", "-t", "utf16"]);
    let (input, mut endless) = std::io::pipe().unwrap();
    let mut child = command.stdin(input).stdout(broken_pipe()).stderr(std::process::Stdio::piped()).spawn().unwrap();
    // The command holds the only reading end.
    drop(command);
    let refused = (0..1 << 10).find_map(|_| std::io::Write::write_all(&mut endless, &[b'a'; 1 << 20]).err());
    assert_eq!(refused.map(|error| error.kind()), Some(std::io::ErrorKind::BrokenPipe), "a GiB was read");
    let output = child.wait().unwrap();
    assert_eq!(output.code(), Some(0));
}

#[test]
fn the_exit_status_does_not_depend_on_standard_error() {
    let directory = directory_with(&[]);
    let rows: [&[&str]; 4] =
        [&["explain", "0xZ"], &["replay", "nowhere.bin"], &["list", "--decoders", "owl"], &["list", "--loudly"]];
    assert_none_wrong(rows.iter().filter_map(|args| {
        let mut command = command(directory.path(), args);
        let output = command.stderr(broken_pipe()).output().unwrap();
        Run::of(&command, output).wrong_status(2)
    }));
}
