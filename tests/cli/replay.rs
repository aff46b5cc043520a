//! `utfuzz replay`.

use super::run::{LEDGER, assert_none_wrong, directory_with, names, run};
use serde_json::Value;

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().map_or(Vec::new(), |object| object.keys().map(String::as_str).collect())
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
        assert_eq!((&report["schema"], &report["record"]), (&3.into(), &"check".into()));
        assert_eq!(report["cases"], 2);
        assert!(report["comparisons"].as_u64() > Some(2 * names.len() as u64), "{}", report["comparisons"]);
        assert!(report["seconds"].as_f64() >= Some(0.0), "{}", report["seconds"]);
        let judged: Vec<_> = report["decoders"].as_array().unwrap().iter().map(|row| row["name"].as_str()).collect();
        assert_eq!(judged, names.iter().map(|name| Some(&**name)).collect::<Vec<_>>());
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
fn replay_says_what_each_file_shows() {
    let directory = directory_with(&[
        ("tree/case.bin", b"\xC0\xAF"),
        ("tree/good.bin", "é".as_bytes()),
        ("long.bin", b"a\xE0\x80\xAF"),
    ]);
    let filter = names(false).join(",");
    let run =
        |more: &[&str]| run(directory.path(), &[&["replay", "tree", "long.bin", "--decoders", &filter], more].concat());
    let (new, known) = (run(&["--no-ledger"]), run(&[]));
    assert_none_wrong([new.wrong_quiet(1), known.wrong_quiet(0)].into_iter().flatten());
    for line in [
        "tree/case.bin: new verdict/utf8-decode/overlong-2/anywhere",
        "long.bin: new verdict/utf8-decode/overlong-3/anywhere",
        "tree/good.bin: nothing",
    ] {
        assert!(new.out().lines().any(|found| found == line), "{line:?}: {}", new.out());
    }
    let line = "tree/case.bin: known utf8-decode-accepts-overlong by 1 decoder";
    assert!(known.out().lines().any(|found| found == line), "{line:?}: {}", known.out());
    let files = run(&["--json"]).json()["files"].clone();
    let case = files.as_array().unwrap().iter().find(|file| file["path"] == "tree/case.bin").unwrap();
    assert_eq!((&case["new"], &case["known"][0][1]), (&Value::Array(vec![]), &1.into()), "{case}");
}

/// However its path is typed, a file below `structured` is what that fuzz target reads.
#[test]
fn the_path_as_typed_does_not_change_how_a_file_is_read() {
    let directory = directory_with(&[("structured/case", b"\xC0\xAF")]);
    let absolute = directory.path().join("structured/case");
    let read = |directory: &std::path::Path, file: &str| {
        let run = run(directory, &["replay", "--json", "--no-ledger", "--decoders", "utf8-decode", file]);
        (run.status, run.json()["shares"].clone())
    };
    let from_above = read(directory.path(), "structured/case");
    assert_eq!(read(directory.path(), absolute.to_str().unwrap()), from_above);
    assert_eq!(read(&directory.path().join("structured"), "case"), from_above);
    assert_eq!(read(&directory.path().join("structured"), "."), from_above);
}

/// A decoder that answers nothing does not pass.
#[cfg(unix)]
#[test]
fn a_silent_decoder_fails() {
    let adapter: &[u8] = br#"
printf 'utfuzz 1 lines\npackage=p\nversion=1\nname=mute\nanswers=verdict\n\n'
while read -r line; do test -z "$line" || echo '3 -1 -1 -'; done
"#;
    let directory = directory_with(&[("adapter.sh", adapter), ("case.bin", b"a")]);
    let run = run(directory.path(), &["replay", "case.bin", "--adapter", "sh adapter.sh"]);
    assert_none_wrong(run.wrong_status(1));
    assert!(run.out().contains("SILENT: mute"), "{}", run.out());
}

#[test]
fn replay_reads_standard_input() {
    let directory = directory_with(&[]);
    let args = ["replay", "-", "--decoders", "utf8-decode", "--no-ledger"];
    let piped = super::run::run_with_input(directory.path(), &args, b"\xC0\xAF");
    assert_none_wrong(piped.wrong_quiet(1));
    assert!(piped.out().contains("verdict/utf8-decode/overlong-2/anywhere"), "{}", piped.out());
    let long = super::run::run_with_input(directory.path(), &args, &vec![b'a'; (1 << 20) + 1]);
    assert_none_wrong(long.wrong_refusal(&["standard input: longer than the limit"]));
}

/// A name that is not Unicode can be opened again.
#[cfg(target_os = "linux")]
#[test]
fn names_in_json_can_be_opened_again() {
    use std::ffi::OsString;
    use std::os::unix::ffi::OsStringExt;
    let directory = directory_with(&[]);
    let bytes = b"caf\xE9\n.bin";
    let name = OsString::from_vec(bytes.to_vec());
    std::fs::write(directory.path().join(&name), b"\xC0\xAF").unwrap();
    let args: Vec<OsString> =
        ["replay", "--json", "--decoders", "own"].map(OsString::from).into_iter().chain([name.clone()]).collect();
    let replayed = run(directory.path(), &args).json();
    let explained = run(directory.path(), &["explain".into(), "--json".into(), name]).json();
    let hex: String = bytes.iter().map(|byte| format!("{byte:02X}")).collect();
    for file in [&replayed["files"][0], &explained] {
        assert_eq!(file["path_bytes"], hex.as_str(), "{file}");
        assert_eq!(file["path"], "caf\u{FFFD}\n.bin");
    }
}

#[test]
fn a_named_file_that_cannot_be_triaged_is_a_failure() {
    let long = vec![b'a'; (1 << 20) + 1];
    let directory = directory_with(&[("good", b"abc"), ("in/good", b"abc"), ("in/long", &long), ("long", &long)]);
    let triage = |path: &str| run(directory.path(), &["triage", "--decoders", "own,std", path, "good"]);
    let (named, found) = (triage("long"), triage("in"));
    assert_none_wrong([named.wrong_status(2), found.wrong_status(0)].into_iter().flatten());
    for (run, path) in [(named, "unread: long: "), (found, "unread: in/long: ")] {
        assert!(run.out().contains(path), "{}", run.out());
    }
}

#[test]
fn a_file_may_be_called_help() {
    let directory = directory_with(&[("help", b"abc"), ("utfuzz.toml", b"[replay]\ndecoders = 'std'\n")]);
    let decoders = |args: &[&str]| {
        let run = run(directory.path(), args);
        assert_none_wrong(run.wrong_status(0));
        run.json()["decoders"].as_array().unwrap().len()
    };
    assert_eq!(decoders(&["replay", "help", "--json"]), 1);
    // Help of a group of commands is help.
    std::fs::write(directory.path().join("utfuzz.toml"), "[nonsense]\n").unwrap();
    for words in [&["help", "replay"][..], &["adapter", "help", "check"], &["replay", "--help"]] {
        assert_none_wrong(run(directory.path(), words).wrong_status(0));
    }
}

#[test]
fn matrices_without_a_common_decoder_are_not_compared() {
    let directory = directory_with(&[]);
    let matrix = |args: &[&str]| run(directory.path(), &[&["matrix", "--no-ledger"], args].concat());
    assert_none_wrong(matrix(&["--decoders", "std", "-o", "old"]).wrong_status(0));
    let since = |decoders: &str| matrix(&["--decoders", decoders, "--since", "old/matrix.json"]);
    assert_none_wrong(since("own").wrong_refusal(&["no decoder in common"]));
    let both = since("own,std");
    assert_none_wrong(both.wrong_status(0));
    assert_eq!(both.out(), "only in this one: own\n0 changed answers\n");
}
