//! `utfuzz convert`, `utfuzz detect` and `utfuzz repair`.

use super::run::{Run, assert_none_wrong, command, directory_with, run, run_with_input};
use std::fs;
use std::path::Path;

/// The names in a directory, which must not include an unfinished file.
fn names(directory: &Path) -> Vec<String> {
    let names = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<_> = names.collect();
    names.sort();
    names
}

#[test]
fn text_goes_from_one_encoding_to_another() {
    let directory = directory_with(&[("a", b"\xC3\xA9\n"), ("b", b"\xE2\x82\xAC")]);
    let rows: [(&[&str], &[u8], &[u8]); 12] = [
        (&["-f", "utf8", "-t", "latin1"], b"\xC3\xA9", b"\xE9"),
        (&["--from", "UNICODE-1-1-UTF-8", "--to", "utf_16le", "-"], b"\xC3\xA9", b"\xE9\0"),
        (&["-f", "x-cp1252", "-t", "utf-8"], b"\x80", b"\xE2\x82\xAC"),
        (&["-f", "utf-8", "-t", "utf-16", "a", "b"], b"", b"\xFF\xFE\xE9\0\x0A\0\xAC\x20"),
        (&["-f", "utf-8", "-t", "utf-8", "b", "-", "a"], b"-", b"\xE2\x82\xAC-\xC3\xA9\n"),
        (&["-f", "utf-8", "-t", "utf-8", "--bom", "add"], b"a", b"\xEF\xBB\xBFa"),
        (&["-f", "utf-8", "-t", "utf-8", "--bom", "strip"], b"\xEF\xBB\xBFa", b"a"),
        (&["-f", "utf-8", "-t", "utf-8", "--bom", "detect"], b"\xFE\xFF\0a", b"a"),
        (&["-f", "utf-8b", "-t", "wtf-8"], b"a\xFF", b"a\xED\xB3\xBF"),
        (&["-f", "wtf-8", "-t", "utf-8b"], b"a\xED\xB3\xBF", b"a\xFF"),
        (&["-f", "utf-16le", "-t", "wtf-8", "--surrogates", "pass"], b"\x00\xD8", b"\xED\xA0\x80"),
        (&["-f", "mutf-8", "-t", "cesu-8"], b"\xC0\x80", b"\0"),
    ];
    assert_none_wrong(rows.iter().filter_map(|(args, input, wanted)| {
        let run = run_with_input(directory.path(), &[&["convert"], *args].concat(), input);
        let differs = || (run.out != *wanted).then(|| format!("{}: {:02X?}", run.line, run.out));
        run.wrong_quiet(0).or_else(differs)
    }));
}

#[test]
fn ill_formed_input_is_named_or_replaced() {
    let directory = directory_with(&[("bad", b"a\n\xC0\xAF\xE2\x82z")]);
    let rows: [(&[&str], &[u8], i32); 9] = [
        (&[], b"a\n", 1),
        (&["--on-error", "strict"], b"a\n", 1),
        (&["--on-error", "replace"], b"a\n\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz", 0),
        (&["--on-error", "skip"], b"a\nz", 0),
        (&["--on-error", "escape"], b"a\n\xC0\xAF\xE2\x82z", 0),
        (&["--on-error", "latin1"], b"a\n\xC3\x80\xC2\xAF\xC3\xA2\xC2\x82z", 0),
        (&["--on-error", "windows-1252"], b"a\n\xC3\x80\xC2\xAF\xC3\xA2\xE2\x80\x9Az", 0),
        (&["--on-error", "replace", "--policy", "run"], b"a\n\xEF\xBF\xBDz", 0),
        (&["--on-error", "replace", "--policy", "byte"], b"a\n\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz", 0),
    ];
    assert_none_wrong(rows.iter().filter_map(|(args, wanted, status)| {
        let run = run(directory.path(), &[&["convert", "-f", "utf8", "-t", "utf8", "bad"], *args].concat());
        let who = if *status == 0 { "note: bad: " } else { "utfuzz: bad: byte 2, line 2: C0: overlong-2: " };
        let told =
            run.err().starts_with(who) && run.err().contains("byte 2, line 2: ") && run.err().lines().count() == 1;
        let unsaid = || (!told).then(|| format!("{}: {:?}", run.line, run.err()));
        let differs = || (run.out != *wanted).then(|| format!("{}: {:02X?}", run.line, run.out));
        run.wrong_status(*status).or_else(unsaid).or_else(differs).or_else(|| run.controls().filter(|_| *status == 1))
    }));
}

#[test]
fn wrong_usage_is_refused_in_one_line() {
    let directory = directory_with(&[("a", b"a"), ("tree/a", b"a")]);
    let rows: [(&[&str], &[&str]); 12] = [
        (&["-f", "utf-9", "-t", "utf-8"], &["\"utf-9\"", "did you mean UTF-8?"]),
        (&["-f", "utf-8", "-t", "klingon"], &["\"klingon\"", "WTF-8"]),
        (&["-f", "utf-8", "-t", "\u{1B}[2J"], &["no encoding is named"]),
        (&["-f", "utf-8", "-t", "latin1", "--bom", "add"], &["ISO-8859-1", "byte order mark"]),
        (&["-f", "utf-8", "-t", "utf-16", "--bom", "strip"], &["UTF-16LE"]),
        (&["-f", "utf-16le", "-t", "utf-8", "--on-error", "latin1"], &["UTF-16LE"]),
        (&["-f", "latin1", "-t", "utf-8", "--on-error", "replace", "--policy", "byte"], &["ISO-8859-1", "policy"]),
        (&["-f", "utf-8", "-t", "utf-8", "--policy", "byte"], &["--policy", "strict"]),
        (&["-f", "utf-8", "-t", "utf-8", "nowhere"], &["nowhere"]),
        (&["-f", "utf-8", "-t", "utf-8", "tree"], &["tree"]),
        (&["-f", "utf-8", "-t", "utf-8", "a", "-o", "no/where"], &["no/where"]),
        (&["-f", "utf-8", "-t", "utf-8", "a", "-o", "tree"], &["tree"]),
    ];
    assert_none_wrong(rows.iter().filter_map(|(args, says)| {
        let run = run(directory.path(), &[&["convert"], *args].concat());
        run.wrong_refusal(says).or_else(|| run.controls())
    }));
    assert_eq!(names(directory.path()), ["a", "tree"]);
    let usage: [&[&str]; 3] =
        [&["-l", "-f", "utf-8"], &["-c", "--on-error", "skip"], &["-f", "utf-8", "-t", "utf-8", "--on-error", "panic"]];
    assert_none_wrong(usage.iter().filter_map(|args| {
        let run = run(directory.path(), &[&["convert"], *args].concat());
        run.wrong_status(2)
    }));
}

#[test]
fn a_file_is_written_whole_or_not_at_all() {
    let directory = directory_with(&[("good", b"\xC3\xA9"), ("bad", b"abc\xFF"), ("out", b"before")]);
    let path = |name: &str| directory.path().join(name);
    let convert = |args: &[&str]| run(directory.path(), &[&["convert", "-f", "utf8", "-t", "latin1"], args].concat());
    assert_none_wrong(convert(&["bad", "-o", "out"]).wrong_status(1));
    assert_none_wrong(convert(&["good", "bad", "-o", "new"]).wrong_status(1));
    assert_eq!(fs::read(path("out")).unwrap(), b"before");
    assert_eq!(names(directory.path()), ["bad", "good", "out"]);
    assert_none_wrong(convert(&["good", "-o", "out"]).wrong_quiet(0));
    assert_none_wrong(convert(&["good", "-o", "good"]).wrong_quiet(0));
    assert_eq!((fs::read(path("out")).unwrap(), fs::read(path("good")).unwrap()), (b"\xE9".to_vec(), b"\xE9".to_vec()));
    assert_eq!(names(directory.path()), ["bad", "good", "out"]);
}

#[cfg(unix)]
#[test]
fn links_modes_and_devices_are_preserved() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let directory = directory_with(&[("in", b"a"), ("out", b"before")]);
    let path = |name: &str| directory.path().join(name);
    fs::set_permissions(path("out"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("out", path("link")).unwrap();
    let convert = |output: &str| run(directory.path(), &["convert", "-f", "utf8", "-t", "utf16le", "in", "-o", output]);
    assert_none_wrong(
        [convert("link"), convert("new"), convert("/dev/null")].iter().filter_map(|run| run.wrong_quiet(0)),
    );
    assert_eq!(fs::read(path("out")).unwrap(), b"a\0");
    assert_eq!(fs::metadata(path("out")).unwrap().permissions().mode() & 0o777, 0o640);
    assert!(fs::symlink_metadata(path("link")).unwrap().is_symlink());
    assert_eq!(fs::metadata(path("new")).unwrap().permissions().mode() & 0o077 & !0o022, 0o044);
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    // Nor is the file that standard output is redirected to replaced.
    fs::write(path("log"), "before\n").unwrap();
    let log = fs::File::options().append(true).open(path("log")).unwrap();
    let mut command = command(directory.path(), &["convert", "-f", "utf8", "in", "-o", "/dev/stdout"]);
    assert!(command.stdout(log).status().unwrap().success());
    assert_eq!(fs::read(path("log")).unwrap(), b"before\na");
    // Pages are written in the same way.
    for page in [&["chart", "-o", "link"][..], &["explain", "a", "--html", "link"]] {
        fs::write(path("out"), "before").unwrap();
        assert_none_wrong(run(directory.path(), page).wrong_quiet(0));
        assert!(fs::symlink_metadata(path("link")).unwrap().is_symlink());
        assert!(fs::read_to_string(path("out")).unwrap().contains("<html"), "{page:?}");
    }
    let piped = run(directory.path(), &["chart", "-o", "-"]);
    assert_none_wrong(piped.wrong_quiet(0));
    assert!(piped.out().contains("<html") && !path("-").exists());
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_and_a_signal_leave_nothing_behind() {
    use std::io::Write;
    use std::process::Stdio;
    let directory = directory_with(&[("in", b"a"), ("out", b"before")]);
    let full = run(directory.path(), &["convert", "-f", "utf8", "-t", "utf8", "in", "-o", "/dev/full"]);
    assert_none_wrong(full.wrong_refusal(&["/dev/full"]));
    for signal in ["-INT", "-TERM", "-HUP"] {
        // The input never ends.
        let mut command = command(directory.path(), &["convert", "-f", "utf8", "-t", "utf16", "-o", "out"]);
        let mut child = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(&[b'a'; 1 << 20]).unwrap();
        assert!(names(directory.path()).iter().any(|name| name.starts_with(".utfuzz-")));
        let killed = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap();
        assert!(killed.success());
        let output = child.wait_with_output().unwrap();
        assert!(!output.status.success(), "{signal}");
        assert!(output.stderr.is_empty(), "{signal}: {:?}", Run::of(&command, output).err());
        assert_eq!(names(directory.path()), ["in", "out"], "{signal}");
        assert_eq!(fs::read(directory.path().join("out")).unwrap(), b"before");
    }
}

#[test]
fn detect_says_which_encoding_and_why() {
    let files: [(&str, &[u8]); 6] = [
        ("ascii", b"a\n"),
        ("utf8", b"\xEF\xBB\xBF\xC3\xA9"),
        ("western", b"a\n\x93caf\xE9\x94"),
        ("utf16", b"a\0b\0\n\0"),
        ("cesu", b"\xED\xA0\xBD\xED\xB8\x80"),
        ("noise", b"\xFF\x01\x02\x03\x9B\x1B[2J"),
    ];
    let directory = directory_with(&files);
    let all = run(directory.path(), &["detect", "ascii", "utf8", "western", "utf16", "cesu"]);
    assert_none_wrong(all.wrong_quiet(0).or_else(|| all.controls()));
    let out = all.out();
    let starts = [
        "ascii: UTF-8 (certain): ",
        "utf8: UTF-8 (certain): ",
        "western: unknown 8-bit (read as windows-1252): ",
        "utf16: UTF-16LE (likely): ",
        "cesu: CESU-8 (likely): ",
    ];
    for (line, start) in out.lines().zip(starts) {
        assert!(line.starts_with(start), "{line}");
    }
    assert_eq!(out.lines().count(), starts.len());
    assert!(out.contains("byte 2, line 2: 93: continuation"), "{out}");
    let noise = run_with_input(directory.path(), &["detect", "--json"], files[5].1);
    assert_none_wrong(noise.wrong_quiet(1));
    let row = &noise.json()["files"][0];
    assert_eq!((&row["encoding"], &row["valid_utf8"]), (&serde_json::Value::Null, &false.into()));
    assert_eq!((&row["name"], &row["first_error"]["offset"]), (&"standard input".into(), &0.into()));
    assert_eq!(row["first_error"]["kind"], "invalid-byte");
}

#[test]
fn detect_examines_the_files_that_can_be_read() {
    let directory = directory_with(&[("ascii", b"a\n"), ("noise", b"\xFF\x01\x02\x03"), ("tree/file", b"")]);
    let text = run(directory.path(), &["detect", "nowhere", "ascii", "tree", "noise"]);
    let json = run(directory.path(), &["detect", "--json", "nowhere", "ascii", "tree", "noise"]);
    assert_none_wrong([text.wrong_status(2), json.wrong_status(2)].into_iter().flatten());
    let lines: Vec<String> = text.out().lines().map(str::to_owned).collect();
    let starts = ["nowhere: not read", "ascii: UTF-8 ", "tree: not read", "noise: not text: "];
    assert_eq!(lines.len(), starts.len());
    assert!(lines.iter().zip(starts).all(|(line, start)| line.starts_with(start)), "{lines:?}");
    assert_eq!(json.json()["files"].as_array().map(Vec::len), Some(4));
    for run in [text, json] {
        let named = ["nowhere: ", "tree: "].map(|name| run.err().matches(name).count());
        assert_eq!((named, run.err().lines().count()), ([1, 1], 2), "{}", run.err());
    }
}

#[test]
fn a_misleading_name_of_an_encoding_is_refused() {
    let directory = directory_with(&[]);
    let convert = run(directory.path(), &["convert", "-f", "rfc2279-surrogates", "-t", "utf-8"]);
    let explain = run(directory.path(), &["explain", "80", "--as", "rfc2279-surrogates"]);
    assert_none_wrong(convert.wrong_refusal(&["no encoding is named", "RFC2279-without-surrogates"]));
    assert_none_wrong(explain.wrong_refusal(&["no grammar is named", "rfc2279-without-surrogates"]));
}

#[test]
fn every_answer_of_detect_says_how_sure_it_is() {
    let directory = directory_with(&[
        ("ascii", b"a\n"),
        ("latin", b"caf\xE9\n"),
        ("marked", b"\xFF\xFEa\0"),
        ("jis", b"\x1B$B$\"\x1B(B\n"),
        ("noise", b"\xFF\x01\x02\x03"),
    ]);
    let files = ["ascii", "latin", "marked", "nowhere", "jis", "noise"];
    let detect = |options: &[&str]| run(directory.path(), &[&["detect"], options, &files].concat());
    let (text, brief, json) = (detect(&[]), detect(&["--brief"]), detect(&["--json"]));
    assert_none_wrong([&text, &brief, &json].into_iter().filter_map(|run| run.wrong_status(2)));
    let starts = [
        "ascii: UTF-8 (certain): ",
        "latin: unknown 8-bit (read as ISO-8859-1): ",
        "marked: UTF-16LE (certain): ",
        "nowhere: not read",
        "jis: ISO-2022-JP (likely): ",
        "noise: not text: ",
    ];
    for (line, start) in text.out().lines().zip(starts) {
        assert!(line.starts_with(start), "{line}");
    }
    assert_eq!(text.out().lines().count(), starts.len());
    assert_eq!(brief.out(), "UTF-8\nISO-8859-1\nUTF-16\nunread\nISO-2022-JP\nbinary\n");
    let record = json.json();
    assert_eq!((&record["record"], &record["version"]), (&"detect".into(), &env!("CARGO_PKG_VERSION").into()));
    assert!(record["schema"].is_u64());
    let rows = record["files"].as_array().unwrap();
    let column = |name: &str| rows.iter().map(|row| row[name].to_string()).collect::<Vec<_>>().join(" ");
    assert_eq!(column("path"), r#""ascii" "latin" "marked" "nowhere" "jis" "noise""#);
    assert_eq!(column("encoding"), r#""UTF-8" "ISO-8859-1" "UTF-16LE" null "ISO-2022-JP" null"#);
    assert_eq!(column("confidence"), r#""certain" "guess" "certain" null "likely" "likely""#);
    assert_eq!(column("ascii"), "true false false null true false");
    assert_eq!(column("unknown"), "false true false null false false");
    assert!(rows[3]["error"].as_str().unwrap().starts_with("nowhere: "));
}

#[cfg(unix)]
#[test]
fn a_name_that_is_not_unicode_is_in_hexadecimal_too() {
    use std::os::unix::ffi::OsStringExt;
    let directory = directory_with(&[]);
    let name = std::ffi::OsString::from_vec(b"caf\xE9".to_vec());
    if fs::write(directory.path().join(&name), b"a").is_err() {
        println!("skipped: this file system refuses such names");
        return;
    }
    let json = run(directory.path(), &["detect".into(), "--json".into(), name]).json();
    let row = &json["files"][0];
    assert_eq!((&row["path"], &row["path_bytes"]), (&serde_json::Value::Null, &"636166E9".into()));
}

#[test]
fn convert_detects_what_is_not_named() {
    let directory = directory_with(&[
        ("latin", b"caf\xE9"),
        ("marked", b"\xFF\xFE\xE9\0"),
        ("utf8", "é".as_bytes()),
        ("be", b"\0a\0b\0c\0\xE9"),
        ("noise", b"\xFF\x01\x02\x03"),
    ]);
    let convert = |args: &[&str]| run(directory.path(), &[&["convert"], args].concat());
    let all = convert(&["marked", "utf8", "be"]);
    assert_none_wrong(all.wrong_status(0));
    assert_eq!(all.out(), "ééabcé");
    let notes: Vec<String> = all.err().lines().map(str::to_owned).collect();
    let starts =
        ["marked: read as UTF-16LE (certain): ", "utf8: read as UTF-8 (certain): ", "be: read as UTF-16BE (likely): "];
    for (note, start) in notes.iter().zip(starts) {
        assert!(note.starts_with(&format!("note: {start}")), "{note}");
    }
    assert_eq!(notes.len(), starts.len());
    let stream = run_with_input(directory.path(), &["convert", "-t", "latin1"], b"\xFE\xFF\0\xE9");
    assert_eq!((stream.status, &stream.out[..]), (Some(0), &b"\xE9"[..]));
    // Of a stream only the start is examined, which may end inside a character.
    let long = "a".repeat((256 << 10) - 1) + "é Grüße\n";
    let stream = run_with_input(directory.path(), &["convert"], long.as_bytes());
    assert_none_wrong(stream.wrong_status(0));
    assert_eq!(stream.out(), long);
    assert!(stream.err().contains("read as UTF-8 (certain)"), "{}", stream.err());
    assert_none_wrong(convert(&["latin"]).wrong_refusal(&["latin: unknown 8-bit", "--from", "--guess"]));
    assert_none_wrong(convert(&["noise"]).wrong_refusal(&["noise: not text", "--from"]));
    let guessed = convert(&["--guess", "latin"]);
    assert_eq!((guessed.status, guessed.out()), (Some(0), "café".into()));
    assert_none_wrong(convert(&["--guess", "-f", "utf-8", "latin"]).wrong_status(2));
}

#[test]
fn convert_goes_on_after_a_file_that_cannot_be_read() {
    let directory = directory_with(&[("a", b"a\xE9"), ("b", b"b"), ("tree/x", b""), ("out", b"before")]);
    let convert = |args: &[&str]| run(directory.path(), &[&["convert", "-f", "latin1"], args].concat());
    let run = convert(&["a", "nowhere", "tree", "b"]);
    assert_none_wrong(run.wrong_status(2));
    assert_eq!(run.out(), "aéb");
    let named = ["nowhere: ", "tree: "].map(|name| run.err().matches(name).count());
    assert_eq!((named, run.err().lines().count()), ([1, 1], 2), "{}", run.err());
    assert_none_wrong(convert(&["a", "nowhere", "b", "-o", "out"]).wrong_refusal(&["nowhere"]));
    assert_eq!(fs::read(directory.path().join("out")).unwrap(), b"before");
}

#[test]
fn convert_has_the_options_of_iconv() {
    let directory = directory_with(&[("a", "a€é".as_bytes()), ("marked", b"\xEF\xBB\xBFa")]);
    let convert = |args: &[&str]| run(directory.path(), &[&["convert"], args].concat());
    let list = convert(&["-l"]);
    assert_none_wrong(list.wrong_quiet(0));
    assert!(list.out().lines().any(|line| line.starts_with("ISO-8859-1 latin-1 ")), "{}", list.out());
    assert_none_wrong(
        [convert(&["-q", "--list"]).wrong_quiet(0), convert(&["-l", "a"]).wrong_status(2)].into_iter().flatten(),
    );
    let skipped = convert(&["-c", "-f", "utf-8", "-t", "latin1", "a"]);
    assert_eq!((skipped.status, &skipped.out[..]), (Some(0), &b"a\xE9"[..]));
    assert!(skipped.err().contains("1 left out, the first at byte 1, line 1: E2 82 AC: "), "{}", skipped.err());
    let output = convert(&["-f", "utf-8", "a", "-o", "-"]);
    assert_none_wrong(output.wrong_quiet(0));
    assert_eq!((output.out(), names(directory.path())), ("a€é".into(), vec!["a".into(), "marked".into()]));
    let marked = convert(&["-f", "utf-8", "-t", "latin1", "marked"]);
    assert_none_wrong(marked.wrong_status(1));
    assert!(marked.err().ends_with("; --bom strip leaves out this byte order mark\n"), "{}", marked.err());
    let nowhere = convert(&["-f", "utf-8", "a", "-o", "no/where"]);
    assert_none_wrong(nowhere.wrong_refusal(&["no/where: No such file"]));
    assert!(!nowhere.err().contains(".utfuzz-"), "{}", nowhere.err());
}

#[test]
fn repair_shows_writes_and_lists() {
    let text = "plain\ncafÃ©\r\nCAFÉ…\nthé\n".as_bytes();
    let wrong = [text, b"\x93x\x94\x1B"].concat();
    let directory = directory_with(&[("wrong", &wrong), ("good", "café\n".as_bytes())]);
    let read = |name: &str| fs::read(directory.path().join(name)).unwrap();
    let repair = |args: &[&str]| run(directory.path(), &[&["repair"], args].concat());
    assert_none_wrong(repair(&["good"]).wrong_status(0));
    let shown = repair(&["wrong"]);
    assert_none_wrong(shown.wrong_status(1).or_else(|| shown.controls()));
    let diff = "--- wrong\n+++ wrong, repaired\n@@ -2 +2 @@\n-cafÃ©\\r\n+café\\r\n@@ -5 +5 @@\n-\\x93x\\x94\\u{1b}\n+“x”\\u{1b}\n\
        wrong: byte 15, line 3: left: it is plausible as it is\n  CAFÉ…\n? CAFɅ\n";
    assert_eq!(shown.out(), diff);
    assert_eq!(read("wrong"), wrong);
    let record = repair(&["--json", "wrong"]).json();
    assert_eq!((&record["record"], &record["lines"]), (&"repair".into(), &5.into()));
    assert_eq!(record["repaired"][0]["before"], "636166C383C2A90D");
    assert_eq!((&record["left"][0]["doubt"], &record["left"][0]["offset"]), (&"plausible".into(), &15.into()));

    let repaired = "plain\ncafé\r\nCAFÉ…\nthé\n“x”\u{1B}".as_bytes();
    assert_none_wrong(repair(&["wrong", "--apply", "-o", "new"]).wrong_status(1));
    assert_eq!((read("new"), read("wrong")), (repaired.to_vec(), wrong.clone()));
    assert_eq!(repair(&["wrong", "--apply", "-o", "-"]).out, repaired);
    if cfg!(unix) {
        assert_eq!(repair(&["wrong", "--apply", "-o", "/dev/stdout"]).out, repaired);
    }
    assert_none_wrong(repair(&["wrong", "--in-place", ".orig"]).wrong_status(1));
    assert_eq!((read("wrong"), read("wrong.orig")), (repaired.to_vec(), wrong.clone()));
    // An earlier copy is never overwritten.
    fs::write(directory.path().join("wrong"), &wrong).unwrap();
    assert_none_wrong(repair(&["wrong", "--in-place", ".orig"]).wrong_refusal(&["wrong.orig"]));
    assert_eq!(read("wrong"), wrong);
    let refused: [&[&str]; 4] = [&["--apply", "good"], &["good", "-o", "x"], &["good", "--in-place", ""], &["nowhere"]];
    assert_none_wrong(refused.iter().filter_map(|args| repair(args).wrong_status(2)));
}
