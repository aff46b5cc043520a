//! Nothing is lost when files cannot be read or written: links, pipes, limits, full disks, damaged state.
#![cfg(all(feature = "cli", target_os = "linux"))]

#[allow(dead_code, reason = "not every helper is needed here")]
#[path = "cli/run.rs"]
mod run;

use run::{Run, assert_none_wrong, command, directory_with, run};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// An input on which `utf8-decode` diverges.
const CASE: &[u8] = b"\xC0\xAF";
const TRIAGE: [&str; 5] = ["triage", "heap", "--decoders", "own,utf8-decode", "--no-ledger"];
const SIGNATURE: &str = "verdict/utf8-decode/overlong-2/anywhere";

fn names(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).unwrap();
    let mut names: Vec<String> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

/// The result of a command that may wait for ever; a failure after twenty seconds.
fn run_soon(directory: &Path, args: &[&str]) -> Run {
    let mut command = command(directory, args);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let start = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > Duration::from_secs(20) {
            child.kill().unwrap();
            panic!("{args:?} waits");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    Run::of(&command, child.wait_with_output().unwrap())
}

fn unsaid(run: &Run, says: &[&str]) -> Option<String> {
    let missing = says.iter().find(|part| !run.out().contains(**part))?;
    Some(format!("{}: does not print {missing:?}: {}{}", run.line, run.out(), run.err()))
}

#[test]
fn what_cannot_be_read_is_a_row_and_the_rest_is_judged() {
    let directory = directory_with(&[("heap/case.bin", CASE), ("heap/folder/good.bin", b"a"), ("kept/good.bin", b"a")]);
    for link in ["heap/dangling", "heap/folder/again", "kept/gone"] {
        symlink("/nonexistent/file", directory.path().join(link)).unwrap();
    }
    let rows: [(&[&str], i32, &[&str]); 5] = [
        (
            &TRIAGE,
            1,
            &[SIGNATURE, "unread: heap/dangling: ", "unread: heap/folder/again: ", "2 inputs, 1 shows nothing"],
        ),
        (&[&TRIAGE[..], &["-o", "kept"]].concat(), 1, &[SIGNATURE, "unread: kept/gone: ", "written: kept/"]),
        (
            &["replay", "-r", "heap", "--decoders", "own,utf8-decode", "--no-ledger"],
            1,
            &[SIGNATURE, "unread: heap/dang"],
        ),
        (&["replay", "-r", "heap", "--decoders", "own"], 2, &["all agree", "unread: heap/dangling: ", "2 cases"]),
        (&["minimize", "-r", "heap", "--decoders", "own"], 2, &["unread: heap/dangling: ", "good.bin: shows nothing"]),
    ];
    assert_none_wrong(rows.iter().filter_map(|(args, status, says)| {
        let run = run(directory.path(), args);
        run.wrong_status(*status).or_else(|| unsaid(&run, says))
    }));
    let json = run(directory.path(), &["replay", "-r", "heap", "--decoders", "own", "--json"]);
    assert_none_wrong(json.wrong_status(2));
    assert_eq!(json.json()["cases"], 2);
    assert!(json.err().contains("note: unread: heap/dangling: "), "{}", json.err());
}

#[test]
fn nothing_read_is_never_clean() {
    let directory = directory_with(&[("heap/folder/.hidden", b"")]);
    for link in ["heap/dangling", "heap/folder/again"] {
        symlink("nowhere", directory.path().join(link)).unwrap();
    }
    let rows: [&[&str]; 3] = [&TRIAGE, &["replay", "-r", "heap"], &["minimize", "-r", "heap", "--decoders", "own"]];
    assert_none_wrong(rows.iter().filter_map(|args| run(directory.path(), args).wrong_status(2)));
}

#[test]
fn a_pipe_in_the_place_of_a_file_is_refused_at_once() {
    let directory = directory_with(&[("heap/case.bin", CASE), ("kept/good.bin", b"a"), ("reports/x", b"")]);
    let path = |name: &str| directory.path().join(name);
    pipe(&path("kept/overlong-2__verdict__utf8-decode.bin"));
    pipe(&path("reports/history.jsonl"));
    pipe(&path("state.json"));
    let kept = run_soon(directory.path(), &[&TRIAGE[..], &["-o", "kept"]].concat());
    let reported = run_soon(directory.path(), &[&TRIAGE[..], &["--report", "reports"]].concat());
    let args = ["check", "--bytes", "1", "--decoders", "own", "--resume", "state.json"];
    let resumed = run_soon(directory.path(), &args);
    for run in [&kept, &reported] {
        assert_none_wrong(run.wrong_status(2).or_else(|| unsaid(run, &[SIGNATURE])));
    }
    assert!(kept.err().contains("overlong-2__verdict__utf8-decode.bin: not a regular file"), "{}", kept.err());
    assert!(reported.err().contains("history.jsonl: not a regular file"), "{}", reported.err());
    assert_none_wrong(resumed.wrong_refusal(&["state.json", "not a regular file"]));
}

#[test]
fn reports_and_witnesses_do_not_follow_links() {
    let directory = directory_with(&[("heap/case.bin", CASE), ("victim", b"untouched"), ("reports/x", b"")]);
    for link in ["report.json", "report.json.new", "report.md", "report.html"] {
        symlink("../victim", directory.path().join("reports").join(link)).unwrap();
    }
    let reported = run(directory.path(), &[&TRIAGE[..], &["--report", "reports", "-o", "kept"]].concat());
    assert_none_wrong(reported.wrong_quiet(1));
    assert_eq!(fs::read(directory.path().join("victim")).unwrap(), b"untouched");
    assert!(fs::symlink_metadata(directory.path().join("reports/report.json")).unwrap().is_file());
    assert_eq!(names(&directory.path().join("kept")), ["overlong-2__verdict__utf8-decode.bin"]);
}

#[test]
fn a_conversion_goes_where_a_link_leads() {
    use std::os::unix::fs::PermissionsExt;
    let directory = directory_with(&[("in", b"a"), ("folder/x", b"")]);
    let path = |name: &str| directory.path().join(name);
    symlink("folder/second", path("first")).unwrap();
    symlink("third", path("folder/second")).unwrap();
    symlink("nowhere/file", path("lost")).unwrap();
    symlink("round", path("round")).unwrap();
    let convert = |output: &str| run(directory.path(), &["convert", "-f", "utf8", "-t", "utf16le", "in", "-o", output]);
    assert_none_wrong(convert("first").wrong_quiet(0));
    assert_eq!(fs::read(path("folder/third")).unwrap(), b"a\0");
    assert_eq!(fs::metadata(path("folder/third")).unwrap().permissions().mode() & 0o700, 0o600);
    assert!(fs::symlink_metadata(path("first")).unwrap().is_symlink());
    assert_none_wrong(convert("lost").wrong_refusal(&["nowhere"]).or_else(|| convert("round").wrong_status(2)));
    assert_eq!(names(directory.path()), ["first", "folder", "in", "lost", "round"]);
    let piped = convert("/dev/stdout");
    assert_none_wrong(piped.wrong_quiet(0));
    assert_eq!(piped.out, b"a\0");
}

#[test]
fn a_limit_on_the_size_of_files_is_an_error() {
    let directory = directory_with(&[("in", &vec![b'a'; 1 << 20]), ("out", b"before")]);
    let mut shell = Command::new("sh");
    shell.args(["-c", "ulimit -f 8; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_utfuzz")]);
    shell.args(["convert", "-f", "utf8", "-t", "utf16", "in", "-o", "out"]).current_dir(directory.path());
    let output = shell.output().unwrap();
    assert_none_wrong(Run::of(&shell, output).wrong_refusal(&["out: ", "raise the limit on the size of files"]));
    assert_eq!(names(directory.path()), ["in", "out"]);
    assert_eq!(fs::read(directory.path().join("out")).unwrap(), b"before");
}

/// A file system with 64 KiB, which is full; unmounted when dropped.
struct FullDisk(tempfile::TempDir);

impl FullDisk {
    /// `None` if this user cannot mount one.
    fn new() -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", "size=64k", "utfuzz"]).arg(directory.path()).stderr(Stdio::null());
        let mounted = mount.status().is_ok_and(|status| status.success());
        if !mounted {
            println!("skipped: this user cannot mount a small file system");
            return None;
        }
        let disk = Self(directory);
        // Not a byte is left.
        let _ = fs::write(disk.0.path().join("filler"), vec![0; 1 << 17]);
        Some(disk)
    }
}

impl Drop for FullDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn the_result_is_printed_on_a_full_disk() {
    let Some(disk) = FullDisk::new() else { return };
    let directory = directory_with(&[("heap/case.bin", CASE), ("in", b"a")]);
    let full = disk.0.path().to_str().unwrap();
    for option in ["--report", "-o"] {
        let run = run(directory.path(), &[&TRIAGE[..], &[option, full]].concat());
        assert_none_wrong(run.wrong_status(2).or_else(|| unsaid(&run, &[SIGNATURE, "1 input, 0 show nothing"])));
        assert!(run.err().contains("free some space"), "{}", run.err());
    }
    let args = ["check", "--bytes", "1", "--decoders", "own", "--certificate", full];
    let run = run(directory.path(), &args);
    assert_none_wrong(run.wrong_status(2));
    assert_eq!(names(disk.0.path()), ["filler"]);
}
