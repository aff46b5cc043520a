//! Control characters in untrusted text never reach a terminal.

use super::run::{LEDGER, Run, assert_none_wrong, command, directory_with, run, run_with_input};
use std::ffi::{OsStr, OsString};
use std::fs;

/// Sets a colour and a title, rings, clears the screen by a C1 control; delete, backspace, line end, bidi override.
const HOSTILE: &str = "\u{1B}[31m\u{1B}]0;title\u{7}\u{9B}2J\u{7F}\u{8}\r\n\u{202E}";

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
    assert!(new >= 3, "hostile bytes were in only {new} reports of a divergence");
    assert_none_wrong(wrong);
}

#[test]
fn hostile_arguments_are_refused_without_their_controls() {
    let directory = directory_with(&[("case.bin", b"\xC0\xAF")]);
    let rows: [&[&str]; 9] = [
        &["explain", "--hex", HOSTILE],
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
    let explained = [&["explain", HOSTILE][..], &["explain", "-v", HOSTILE], &["explain", "--json", HOSTILE]];
    assert_none_wrong(explained.iter().filter_map(|args| {
        let run = run(directory.path(), args);
        run.wrong_quiet(0).or_else(|| run.controls())
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
        // As on a terminal, where colours are allowed and escape sequences are not removed.
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

        // Nothing has this name yet.
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
        // A directory, given as a case and as a corpus with a bad vector file.
        let vectors = path(&name).join("vectors");
        fs::create_dir_all(&vectors).unwrap();
        fs::write(vectors.join(&name), format!("{HOSTILE} | C0 AF | {HOSTILE}\n")).unwrap();
        for words in [&["minimize"][..], &["explain"], &["check", "--seconds", "0", "--decoders", "own", "--corpus"]] {
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
