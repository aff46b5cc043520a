//! The command as a user meets it: exit status, what stands on which stream, and what never reaches a terminal.
#![cfg(feature = "cli")]

use serde_json::Value;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Sets a colour and a title, rings, clears the screen by a C1 control; delete, backspace, line end, bidi override.
const HOSTILE: &str = "\u{1B}[31m\u{1B}]0;title\u{7}\u{9B}2J\u{7F}\u{8}\r\n\u{202E}";

/// An accepted difference that covers C0 AF at utf8-decode; `the-entry` is its id.
const LEDGER: &str = r#"
[[known]]
id = "the-entry"
decoder = "utf8-decode"
versions = "*"
laws = ["verdict"]
subjects = ["overlong-2"]
reason = "A test."
link = "https://example.org"
date = "2026-11-20"
"#;

/// What a run of the command came to.
struct Run {
    line: String,
    status: Option<i32>,
    out: Vec<u8>,
    err: Vec<u8>,
}

impl Run {
    fn of(command: &Command, output: Output) -> Self {
        Self { line: format!("{command:?}"), status: output.status.code(), out: output.stdout, err: output.stderr }
    }

    fn out(&self) -> String {
        String::from_utf8_lossy(&self.out).into_owned()
    }

    fn err(&self) -> String {
        String::from_utf8_lossy(&self.err).into_owned()
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.out).unwrap_or_else(|error| panic!("{}: {error}: {}", self.line, self.out()))
    }

    /// What is wrong with it, if it was to end with this status without a panic.
    fn wrong_status(&self, status: i32) -> Option<String> {
        let wrong = if self.err().contains("panicked") {
            "panicked".to_owned()
        } else if self.status != Some(status) {
            format!("status {:?} instead of {status}", self.status)
        } else {
            return None;
        };
        Some(format!("{}: {wrong}\nstdout {:?}\nstderr {:?}", self.line, self.out(), self.err()))
    }

    /// What is wrong with it, if it was to end with this status and nothing on standard error.
    fn wrong_quiet(&self, status: i32) -> Option<String> {
        let noise = || (!self.err.is_empty()).then(|| format!("{}: stderr {:?}", self.line, self.err()));
        self.wrong_status(status).or_else(noise)
    }

    /// What is wrong with it, if it was to be refused in one line that says all of `says`.
    fn wrong_refusal(&self, says: &[&str]) -> Option<String> {
        if let Some(wrong) = self.wrong_status(2) {
            return Some(wrong);
        }
        let err = self.err();
        let wrong = if !self.out.is_empty() {
            format!("stdout {:?}", self.out())
        } else if err.lines().count() != 1 || !err.ends_with('\n') {
            "not one line".to_owned()
        } else if !err.starts_with("utfuzz: ") {
            "does not say who speaks".to_owned()
        } else {
            let missing = says.iter().find(|part| !err.contains(**part))?;
            format!("does not say {missing:?}")
        };
        Some(format!("{}: {wrong}\nstderr {err:?}", self.line))
    }

    /// The controls that went to a stream, where a terminal would act upon them.
    fn controls(&self) -> Option<String> {
        let mut wrong = Vec::new();
        for (stream, bytes) in [("stdout", &self.out), ("stderr", &self.err)] {
            match std::str::from_utf8(bytes) {
                Err(error) => wrong.push(format!("{stream} is no UTF-8: {error}")),
                Ok(text) => {
                    let controls: String = text.chars().filter(|&c| c.is_control() && c != '\n').collect();
                    if !controls.is_empty() {
                        wrong.push(format!("{stream} holds the controls {controls:?}: {text:?}"));
                    }
                }
            }
        }
        (!wrong.is_empty()).then(|| format!("{}: {}", self.line, wrong.join("; ")))
    }
}

fn command<A: AsRef<OsStr>>(directory: &Path, args: &[A]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_utfuzz"));
    command.args(args).current_dir(directory).env_remove("CLICOLOR_FORCE").stdin(Stdio::null());
    command
}

fn run<A: AsRef<OsStr>>(directory: &Path, args: &[A]) -> Run {
    let mut command = command(directory, args);
    let output = command.output().unwrap();
    Run::of(&command, output)
}

fn run_with_input(directory: &Path, args: &[&str], input: &[u8]) -> Run {
    let mut command = command(directory, args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    Run::of(&command, output)
}

/// A directory of its own, so that no `corpus` lies about, with these files.
fn directory_with(files: &[(&str, &[u8])]) -> TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, bytes) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    directory
}

fn assert_none_wrong(wrong: impl IntoIterator<Item = String>) {
    let wrong: Vec<String> = wrong.into_iter().collect();
    assert!(wrong.is_empty(), "{} wrong:\n\n{}", wrong.len(), wrong.join("\n\n"));
}

/// The decoders of the library this command was built from; those with a planted fault apart.
fn names(planted: bool) -> Vec<&'static str> {
    let decoders = utfuzz::peers::all();
    let infos = decoders.iter().map(|decoder| decoder.info());
    infos.filter(|info| planted || info.package != "planted").map(|info| info.name).collect()
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().map_or(Vec::new(), |object| object.keys().map(String::as_str).collect())
}

fn listed(run: &Run) -> Vec<String> {
    run.out().lines().map(|line| line.split(' ').next().unwrap_or_default().to_owned()).collect()
}

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
        (vec!["replay", "tree"], &["tree", "--recursive"]),
        (vec!["replay", "case.bin", "tree"], &["tree", "--recursive"]),
        (vec!["explain", "tree"], &["tree"]),
        (vec!["explain", "nowhere.bin"], &["nowhere.bin"]),
        (vec!["explain", "no/where.bin"], &["no/where.bin"]),
        (vec!["explain", "C0 A"], &["C0 A"]),
        (vec!["explain", "C0 AG"], &["C0 AG", "'G'"]),
        (vec!["explain", "0xC0"], &["0xC0", "'x'"]),
        (vec!["explain", "C0\nA"], &["C0"]),
        (vec!["explain", "é"], &["neither a file nor hexadecimal"]),
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
    let mut rows: Vec<(Vec<&str>, &str)> = vec![(vec!["replay", "-r", "tree"], "tree/dangling")];
    if fs::read(path("locked.bin")).is_ok() {
        println!("skipped: files without permissions, which this user may read all the same");
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
        // Nobody may read their own address space from 0 on, not even root.
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
        for args in [&["list"][..], &["list", "--json"], &["explain", "80"], &["replay", "--no-ledger", "case.bin"]] {
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
        (&["explain", "80", "81"], "81"),
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
fn no_bytes_at_all_are_a_case_like_any_other() {
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
fn explain_names_the_broken_rule_and_where_it_stands() {
    let rows: [(&str, &[u8], &[&str]); 6] = [
        ("C0 AF", b"\xC0\xAF", &["overlong 2-byte form of U+002F", "RFC 3629 §3"]),
        ("E2 82", b"\xE2\x82", &["truncated", "E2 announces 3 bytes", "RFC 3629 §4"]),
        ("eda080", b"\xED\xA0\x80", &["surrogate U+D800", "RFC 3629 §3"]),
        ("F490 8080", b"\xF4\x90\x80\x80", &["U+110000 is beyond U+10FFFF", "RFC 3629 §3"]),
        ("80", b"\x80", &["80 is a continuation byte", "RFC 3629 §4"]),
        ("61 62 FF", b"ab\xFF", &["FF", "RFC 3629 §1"]),
    ];
    let mut wrong = Vec::new();
    for (hex, bytes, says) in rows {
        let directory = directory_with(&[("case.bin", bytes)]);
        let from_hex = run(directory.path(), &["explain", hex]);
        let from_file = run(directory.path(), &["explain", "case.bin"]);
        let from_input = run_with_input(directory.path(), &["explain", "-"], bytes);
        for run in [&from_hex, &from_file, &from_input] {
            let out = run.out();
            let marked = out.lines().find(|line| line.starts_with('!')).unwrap_or_default();
            wrong.extend(run.wrong_quiet(0));
            let unsaid = says.iter().filter(|part| !marked.contains(**part));
            wrong.extend(unsaid.map(|part| format!("{}: the first marked line lacks {part:?}: {out}", run.line)));
            let unasked = names(true).into_iter().filter(|name| !out.contains(name));
            wrong.extend(unasked.map(|name| format!("{}: says nothing of {name}: {out}", run.line)));
        }
        if from_hex.out != from_file.out || from_hex.out != from_input.out {
            wrong.push(format!("{hex}: hexadecimal, file and standard input are explained differently"));
        }
    }
    assert_none_wrong(wrong);
}

#[test]
fn a_difference_is_new_without_the_ledger_and_known_with_it() {
    let directory = directory_with(&[("case.bin", b"\xC0\xAF"), ("our.toml", LEDGER.as_bytes())]);
    let filter = names(false).join(",");
    let replay =
        |more: &[&str]| run(directory.path(), &[&["replay", "case.bin", "--decoders", &filter], more].concat());
    let new = replay(&["--no-ledger"]);
    assert_none_wrong(new.wrong_quiet(1));
    assert!(new.out().contains("verdict/utf8-decode/overlong-2/anywhere"), "{}", new.out());
    for (known, id) in [(replay(&[]), "utf8-decode-accepts-overlong"), (replay(&["--ledger", "our.toml"]), "the-entry")]
    {
        assert_none_wrong(known.wrong_quiet(0));
        assert!(!known.out().contains("overlong-2/anywhere"), "{}", known.out());
        assert!(known.out().contains(id), "{}", known.out());
    }
}

#[test]
fn replay_writes_one_json_object() {
    let directory = directory_with(&[("case.bin", b"\xC0\xAF"), ("good.bin", "aé€😀".as_bytes())]);
    let names = names(false);
    let filter = names.join(",");
    let args = ["replay", "--json", "case.bin", "good.bin", "--decoders", &filter];
    let known = run(directory.path(), &args);
    let new = run(directory.path(), &[&args[..], &["--no-ledger"]].concat());
    assert_none_wrong([known.wrong_quiet(0), new.wrong_quiet(1)].into_iter().flatten());
    for report in [known.json(), new.json()] {
        let there = keys(&report);
        for key in ["schema", "decoders", "cases", "comparisons", "seconds", "divergences", "known"] {
            assert!(there.contains(&key), "{key} is not among {there:?}");
        }
        assert_eq!(report["schema"], 1);
        assert_eq!(report["cases"], 2);
        assert!(report["comparisons"].as_u64() > Some(2 * names.len() as u64), "{}", report["comparisons"]);
        assert!(report["seconds"].as_f64() >= Some(0.0), "{}", report["seconds"]);
        let judged: Vec<_> = report["decoders"].as_array().unwrap().iter().map(|row| row["name"].as_str()).collect();
        assert_eq!(judged, names.iter().copied().map(Some).collect::<Vec<_>>());
    }
    let (known, new) = (known.json(), new.json());
    assert_eq!(known["divergences"], Value::Array(vec![]));
    assert_eq!(known["known"][0]["id"], "utf8-decode-accepts-overlong");
    assert_eq!(known["known"][0]["decoder"], "utf8-decode");
    assert_eq!(known["known"][0]["hits"], 1);
    assert_eq!(new["known"], Value::Array(vec![]));
    assert_eq!(new["divergences"].as_array().map(Vec::len), Some(1), "{}", new["divergences"]);
    for (key, value) in [
        ("signature", "verdict/utf8-decode/overlong-2/anywhere"),
        ("law", "verdict"),
        ("decoder", "utf8-decode"),
        ("witness_hex", "C0AF"),
    ] {
        assert_eq!(new["divergences"][0][key], value);
    }
}

#[test]
fn list_shows_every_decoder_the_filter_selects() {
    let directory = directory_with(&[]);
    type Keeps = fn(&str) -> bool;
    let rows: [(&[&str], Keeps); 11] = [
        (&[], |_| true),
        (&["--decoders", "*"], |_| true),
        (&["--decoders", "own"], |name| name == "own"),
        (&["--decoders", "std, own"], |name| ["own", "std"].contains(&name)),
        (&["--decoders", "-own"], |name| name != "own"),
        (&["--decoders=-own,-std"], |name| !["own", "std"].contains(&name)),
        (&["--decoders", "simdutf8-*"], |name| name.starts_with("simdutf8-")),
        (&["--decoders", "utf*8*"], |name| name.starts_with("utf")),
        (&["--decoders", "*8"], |name| name.ends_with('8')),
        (&["--decoders", "*,-encoding_rs*"], |name| !name.starts_with("encoding_rs")),
        (&["--decoders", "encoding_rs*,-encoding_rs-bom"], |name| {
            name.starts_with("encoding_rs") && name != "encoding_rs-bom"
        }),
    ];
    let mut wrong = Vec::new();
    for (args, keeps) in rows {
        let expected: Vec<_> = names(true).into_iter().filter(|name| keeps(name)).map(str::to_owned).collect();
        assert!(!expected.is_empty(), "{args:?} would test nothing");
        let text = run(directory.path(), &[&["list"], args].concat());
        let json = run(directory.path(), &[&["list", "--json"], args].concat());
        wrong.extend(text.wrong_quiet(0).into_iter().chain(json.wrong_quiet(0)));
        if listed(&text) != expected {
            wrong.push(format!("{}: {:?} instead of {expected:?}", text.line, listed(&text)));
        }
        let rows = json.json();
        let in_json: Vec<_> =
            rows.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap_or("").to_owned()).collect();
        if in_json != expected {
            wrong.push(format!("{}: {in_json:?} instead of {expected:?}", json.line));
        }
        for row in rows.as_array().unwrap() {
            let told = |key: &str| row[key].as_str().is_some_and(|value| !value.is_empty());
            if !["version", "contract"].into_iter().all(told) || row["answers"].as_array().is_none_or(Vec::is_empty) {
                wrong.push(format!("{}: version, contract or answers are not told: {row}", json.line));
            }
        }
    }
    assert_none_wrong(wrong);
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

/// The writing end of a pipe nobody reads.
fn broken_pipe() -> std::io::PipeWriter {
    std::io::pipe().unwrap().1
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let directory = directory_with(&[("case.bin", b"\xC0\xAF")]);
    let filter = names(false).join(",");
    let rows: [&[&str]; 8] = [
        &["list"],
        &["list", "--json"],
        &["explain", "C0 AF"],
        &["replay", "case.bin", "--decoders", &filter],
        &["replay", "case.bin", "--json", "--decoders", &filter],
        &["--help"],
        &["check", "--help"],
        &["--version"],
    ];
    assert_none_wrong(rows.iter().filter_map(|args| {
        let mut command = command(directory.path(), args);
        let output = command.stdout(broken_pipe()).output().unwrap();
        Run::of(&command, output).wrong_quiet(0)
    }));
}

#[test]
fn the_exit_status_stands_where_nobody_reads_standard_error() {
    let directory = directory_with(&[]);
    let rows: [&[&str]; 4] =
        [&["explain", "zz"], &["replay", "nowhere.bin"], &["list", "--decoders", "owl"], &["list", "--loudly"]];
    assert_none_wrong(rows.iter().filter_map(|args| {
        let mut command = command(directory.path(), args);
        let output = command.stderr(broken_pipe()).output().unwrap();
        Run::of(&command, output).wrong_status(2)
    }));
}

#[test]
fn hostile_bytes_are_shown_without_their_controls() {
    let shell = [HOSTILE.as_bytes(), b"\0\x1B\\"].concat();
    let every_control: Vec<u8> = (0..0x20).chain([0x7F]).chain((0x80..0xA0).flat_map(|low| [0xC2, low])).collect();
    let cases = [
        ("shell", shell.clone()),
        ("broken", [&shell[..], b"\xC0\xAF", &shell[..]].concat()),
        ("every-control", every_control.clone()),
        ("every-control-broken", [&every_control[..], b"\xC0\xAF", &every_control[..]].concat()),
        ("stray-c1", [&b"\xC0\xAF"[..], b"\x9B2J", b"\x80\x85\x9D"].concat()),
        ("overlong-escape", b"\xC0\x9B[31m\xE0\x80\x9B\xC2\x1B]0;t\x07".to_vec()),
    ];
    let mut wrong = Vec::new();
    let mut new = 0;
    for (name, bytes) in &cases {
        let directory = directory_with(&[(name, bytes)]);
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        let explained = [
            run(directory.path(), &["explain", name]),
            run(directory.path(), &["explain", &hex]),
            run_with_input(directory.path(), &["explain", "-"], bytes),
        ];
        let replayed = [
            run(directory.path(), &["replay", "--no-ledger", name]),
            run(directory.path(), &["replay", "--no-ledger", "--json", name]),
            run(directory.path(), &["replay", name]),
        ];
        new += usize::from(replayed[0].status == Some(1) && replayed[0].out().contains("divergence: "));
        wrong.extend(explained.iter().filter_map(|run| run.wrong_status(0)));
        wrong.extend(explained.iter().chain(&replayed).filter_map(Run::controls));
        wrong.extend(replayed.iter().filter(|run| run.out.is_empty()).map(|run| format!("{}: says nothing", run.line)));
    }
    assert!(new >= 3, "hostile bytes went into {new} reports of a divergence only");
    assert_none_wrong(wrong);
}

#[test]
fn hostile_arguments_are_refused_without_their_controls() {
    let directory = directory_with(&[("case.bin", b"\xC0\xAF")]);
    let rows: [&[&str]; 9] = [
        &["explain", HOSTILE],
        &["replay", HOSTILE],
        &["replay", "--recursive", HOSTILE],
        &["replay", "case.bin", "--ledger", HOSTILE],
        &["replay", "case.bin", "--corpus", HOSTILE],
        &["check", "--seconds", "0", "--corpus", HOSTILE],
        &["list", "--decoders", HOSTILE],
        &["explain", "80", "--decoders", HOSTILE],
        &["replay", "\u{1B}[2J\u{9B}2J"],
    ];
    assert_none_wrong(rows.iter().filter_map(|args| {
        let run = run(directory.path(), args);
        run.wrong_refusal(&["[", "2J"]).or_else(|| run.controls())
    }));
}

#[test]
fn hostile_usage_is_refused_without_its_controls() {
    let directory = directory_with(&[]);
    let option = format!("--{HOSTILE}");
    let rows: [&[&str]; 5] = [
        &[HOSTILE],
        &["list", HOSTILE],
        &["list", &option],
        &["check", "--seconds", HOSTILE],
        &["explain", "80", HOSTILE],
    ];
    let mut wrong = Vec::new();
    for args in rows {
        let plain = run(directory.path(), args);
        wrong.extend(plain.wrong_status(2).or_else(|| plain.controls()));
        // As on a terminal, where colours are allowed and nothing takes escape sequences out.
        let mut command = command(directory.path(), args);
        let output = command.env("CLICOLOR_FORCE", "1").output().unwrap();
        let coloured = Run::of(&command, output);
        let told = ["\u{1B}]0;", "\u{7}", "\u{9B}"].into_iter().find(|part| coloured.err().contains(part));
        wrong.extend(told.map(|part| format!("{}, in colour: {part:?} in {:?}", coloured.line, coloured.err())));
    }
    assert_none_wrong(wrong);
}

#[cfg(unix)]
#[test]
fn hostile_file_names_are_shown_without_their_controls() {
    use std::os::unix::ffi::OsStringExt;
    let latin = OsString::from_vec(b"caf\xE9\x9B2J\x1B[31m\xFF".to_vec());
    let escape = OsString::from("a\u{1B}[31m\u{1B}]0;title\u{7}\u{9B}2J\u{7F}\r\nb");
    let mut wrong = Vec::new();
    for name in [latin, escape] {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &OsStr| directory.path().join(name);
        let args = |words: &[&str], name: &OsStr| -> Vec<OsString> {
            words.iter().map(OsString::from).chain([name.to_owned()]).collect()
        };
        let run = |words: &[&str], name: &OsStr| run(directory.path(), &args(words, name));

        // Nothing is there yet.
        for words in [&["replay"][..], &["replay", "-r"], &["check", "--seconds", "0", "--corpus"]] {
            let run = run(words, &name);
            wrong.extend(run.wrong_refusal(&["2J"]).or_else(|| run.controls()));
        }
        // A file.
        fs::write(path(&name), b"\xC0\xAF").unwrap();
        for (words, status) in [(&["replay", "--no-ledger"][..], 1), (&["explain"], 0)] {
            let run = run(words, &name);
            wrong.extend(run.wrong_quiet(status).or_else(|| run.controls()));
        }
        for words in [&["replay", ".", "-r", "--ledger"][..], &["check", "--seconds", "0", "--corpus"]] {
            let run = run(words, &name);
            wrong.extend(run.wrong_refusal(&["2J"]).or_else(|| run.controls()));
        }
        fs::remove_file(path(&name)).unwrap();
        // A directory, as that of a case and of a corpus with a bad vector file.
        let vectors = path(&name).join("vectors");
        fs::create_dir_all(&vectors).unwrap();
        fs::write(vectors.join(&name), format!("{HOSTILE} | C0 AF | {HOSTILE}\n")).unwrap();
        for words in [&["replay"][..], &["explain"], &["check", "--seconds", "0", "--decoders", "own", "--corpus"]] {
            let run = run(words, &name);
            wrong.extend(run.wrong_refusal(&["2J"]).or_else(|| run.controls()));
        }
    }
    assert_none_wrong(wrong);
}

#[test]
fn hostile_ledgers_and_vectors_are_shown_without_their_controls() {
    let hostile: String = HOSTILE.chars().map(|c| format!("\\u{:04X}", u32::from(c))).collect();
    let id = LEDGER.replace("the-entry", &hostile);
    let unknown_key = format!("\"{hostile}\" = 1\n");
    let unknown_entry_key = format!("[[known]]\n\"{hostile}\" = 1\n");
    let version = LEDGER.replace("\"*\"", &format!("\"{hostile}\""));
    let law = LEDGER.replace("\"verdict\"", &format!("\"{hostile}\""));
    let date = LEDGER.replace("2026-11-20", &hostile);
    let raw = format!("id = {}\n", HOSTILE.replace('\n', ""));
    let line = HOSTILE.replace(['\r', '\n'], "");
    let vectors = [
        format!("{line}\n"),
        format!("{line} | 80 | {line}\n"),
        format!("{line} | {line} | invalid\n"),
        format!("{line} | 80 | invalid {line}={line}\n"),
        format!("{line} | 80 | invalid grammar={line}\n"),
        format!("{line} | 80 | invalid replace={line}0\n"),
        format!("{line} | 80 | invalid fail-at={line}\n"),
    ];
    let mut wrong = Vec::new();

    let directory = directory_with(&[("case.bin", b"\xC0\xAF")]);
    for ledger in [unknown_key, unknown_entry_key, version, law, date, raw, id] {
        fs::write(directory.path().join("ledger.toml"), ledger).unwrap();
        let run = run(directory.path(), &["replay", "case.bin", "--ledger", "ledger.toml"]);
        wrong.extend(run.wrong_refusal(&["ledger.toml"]).or_else(|| run.controls()));
    }
    for text in vectors {
        let directory = directory_with(&[("corpus/vectors/bad.txt", text.as_bytes())]);
        let run = run(directory.path(), &["check", "--seconds", "0", "--decoders", "own", "--corpus", "corpus"]);
        wrong.extend(run.wrong_refusal(&["bad.txt", "line 1"]).or_else(|| run.controls()));
    }
    assert_none_wrong(wrong);
}

/// The one long test: every class string, which takes 37 s on two cores without optimisation and 3 to 8 s with it.
#[test]
fn a_check_without_a_corpus_says_so_and_runs() {
    let directory = directory_with(&[]);
    let start = std::time::Instant::now();
    let run = run(directory.path(), &["check", "--seconds", "0", "--decoders", "own"]);
    println!("{:.1} s", start.elapsed().as_secs_f64());
    assert_none_wrong(run.wrong_status(0));
    let err = run.err();
    assert!(err.starts_with("note: ") && err.contains("corpus") && err.lines().count() == 1, "{err:?}");
    assert!(run.out().contains("class strings") && run.out().contains("all agree"), "{}", run.out());
    assert!(!run.out().contains("structured"), "no seconds were given for structured inputs: {}", run.out());
    assert_none_wrong(run.controls());
}
