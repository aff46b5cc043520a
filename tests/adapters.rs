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

/// Makes a link in this directory to an example, and returns its path, which only the processes of one test have in their command
/// lines.
#[cfg(target_os = "linux")]
fn linked(name: &str, directory: &Path) -> String {
    let path = directory.join(name);
    std::os::unix::fs::symlink(example(name), &path).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The processes whose command line contains this text, which should begin with the path of a program that is [`linked`].
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

/// Writes the adapter in `docs/adapter.md` into a directory.
fn first_adapter(directory: &Path) -> String {
    let document = std::fs::read_to_string("docs/adapter.md").unwrap();
    let block = document.split("```python\n").nth(1).unwrap().split("```").next().unwrap();
    let path = directory.join("mine.py");
    std::fs::write(&path, block).unwrap();
    path.to_str().unwrap().to_owned()
}

/// The blocks of Python in the documents are whole adapters.
#[test]
fn the_first_adapter_of_the_documents_is_clean() {
    let directory = tempfile::tempdir().unwrap();
    let output = check(&format!("python3 {}", first_adapter(directory.path())));
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
    let directory = tempfile::tempdir().unwrap();
    let program = linked("planted_adapter", directory.path());
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
    none_is_left(&program);
}

#[test]
fn an_adapter_that_does_not_greet_is_refused() {
    let program = example("planted_adapter");
    let commands = [
        (format!("{program} banner"), "the first line is \"Welcome to the runtime\""),
        (format!("{program} version"), "the first line must be `utfuzz 1 lines`"),
        (format!("{program} segmentation"), "any-segmentation promises no length"),
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

#[test]
fn an_entry_point_that_an_adapter_lacks_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let file = |entry: &str| {
        let text =
            format!("[[adapter]]\ncommand = [{:?}, \"sound\"]\nentries = [{entry:?}]\n", example("planted_adapter"));
        std::fs::write(directory.path().join("adapter.toml"), text).unwrap();
        let output = utfuzz(directory.path(), &["list", "--adapters=."]).output().unwrap();
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    let listed = file("typo");
    assert!(listed.contains("`entries` names \"typo\"; its entry points are foreign-sound"), "{listed}");
    assert!(!file("foreign-sound").contains("`entries`"));
}

#[test]
fn a_single_decoder_is_not_called_all() {
    let adapter = format!("{} sound", example("planted_adapter"));
    let directory = tempfile::tempdir().unwrap();
    let output = utfuzz(directory.path(), &["explain", "C0 AF", "--adapter", &adapter]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.ends_with("\nthe only decoder that answers rejects it; -v shows its answer\n"), "{text}");
}

/// What is killed takes its adapters with it.
#[cfg(target_os = "linux")]
#[test]
fn a_killed_check_leaves_no_adapter() {
    let directory = tempfile::tempdir().unwrap();
    let program = linked("planted_adapter", directory.path());
    let (adapter, asked) = (format!("{program} hang"), format!("{program} hang foreign-hang"));
    let mut check = utfuzz(directory.path(), &["check", "--quick", "--adapter", &adapter]);
    let mut check = check.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    // The name of the entry point is an argument only of the process that is asked.
    while running(&asked).is_empty() && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(!running(&asked).is_empty());
    check.kill().unwrap();
    check.wait().unwrap();
    none_is_left(&program);
}

/// What `utfuzz adapter check` says about one entry point, and its exit status.
fn proof(command: &str) -> (Option<i32>, String) {
    let directory = tempfile::tempdir().unwrap();
    let words = ["adapter", "check", "--timeout", "3"];
    let output = utfuzz(directory.path(), &words).args(command.split(' ')).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}

/// Each fault in speaking the protocol, the step that fails, and what is said about it.
const LIES: [(&str, &str, &str); 24] = [
    ("banner", "it starts, and greets", "the first line is \"Welcome to the runtime\""),
    ("twins", "it starts, and greets", "the entry point \"one\" greets twice"),
    ("deaf", "it greets alone", "it greets with one two instead of one alone"),
    ("order", "ASCII comes back", "the output of answer 1 of 20 is that of operation 20"),
    ("cached", "ASCII comes back", "the output of answer 2 of 20 is that of operation 1"),
    ("missing", "ASCII comes back", "19 of 20 answers came, and then nothing within 3.0 s"),
    ("extra", "ASCII comes back", "after the 20 answers it writes more than was asked for: \"done"),
    ("short", "ASCII comes back", "the output ends after 7 of 8 bytes"),
    ("late", "ASCII comes back", "the output lacks the first 1 of 8 bytes"),
    ("silent", "ASCII comes back", "it claims output, and states none"),
    ("mute", "ASCII comes back", "it says of every input that the decoder cannot be asked about it"),
    ("truncated", "text of every length", "the output ends after 256 of 257 bytes"),
    ("latin-1", "text of every length", "plain text comes back changed"),
    ("state", "does not depend on what was asked before", "the answer differs from the one before"),
    ("offset", "lie within the input", "is beyond the input, which has"),
    ("pieces", "arrive in pieces", "when the request arrives in pieces of 1 byte"),
    ("empty", "an empty batch", "it ended when a batch was empty; it ended with status 0"),
    ("huge", "a huge input", "it ended instead of answering; it ended with status 3"),
    // Of ten thousand, or of fewer on a machine that is busy.
    ("thousand", "a big batch", "wrong: 1000 of "),
    ("mixes", "do not mix", "while other streams are open the answer differs"),
    ("unfinished", "starts anew", "after the stream was finished"),
    ("nonsense", "means nothing", "it answers with something that is not an answer"),
    ("lingers", "at the end of its input", "1.0 s after the end of its input it is still running"),
    ("status", "at the end of its input", "at the end of its input it exits with status 1, not 0"),
];

#[cfg(target_os = "linux")]
#[test]
fn every_adapter_that_lies_is_refused_with_a_sentence_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let program = linked("lying_adapter", directory.path());
    let mut wrong = Vec::new();
    let offspring = ("offspring", "at the end of its input", "a process that it started goes on running");
    let undropped = ("undropped", "starts anew", "after the stream was dropped inside a character, the answer differs");
    for (fault, step, says) in LIES.into_iter().chain([offspring, undropped]) {
        let entry = if fault == "twins" { "" } else { "--entry one " };
        let (status, text) = proof(&format!("{entry}{program} {fault}"));
        let failed: Vec<&str> = text.lines().skip_while(|line| !line.starts_with("  failed")).collect();
        let is_right = failed.first().is_some_and(|line| line.contains(step))
            && failed.get(1).is_some_and(|line| line.contains("wrong: ") && line.contains(says));
        if status != Some(1) || !is_right {
            wrong.push(format!("{fault}: {status:?}\n{text}"));
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    none_is_left(&program);
}

#[test]
fn honest_adapters_pass_every_step() {
    for (command, steps) in [(format!("{} honest", example("lying_adapter")), 29), (example("adapter"), 25)] {
        let (status, text) = proof(&command);
        assert_eq!(status, Some(0), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("  ok ")).count(), steps, "{text}");
        assert!(
            text.contains(&format!("utfuzz check --quick --adapter '{command}'")) || !command.contains(' '),
            "{text}"
        );
    }
}

/// The adapter in the document is proved as its readers are told to prove theirs.
#[test]
fn the_first_adapter_of_the_documents_passes() {
    let directory = tempfile::tempdir().unwrap();
    let path = first_adapter(directory.path());
    let (status, text) = proof(&format!("python3 {path}"));
    assert_eq!(status, Some(0), "{text}");
}

/// The same adapter for another encoding is proved with texts in that encoding.
#[test]
fn a_decoder_of_utf_16_is_proved_with_texts_in_utf_16() {
    let directory = tempfile::tempdir().unwrap();
    let path = first_adapter(directory.path());
    let first = std::fs::read_to_string(&path).unwrap();
    let named = r#""encoding=utf-16be""#;
    let changed = first.replace(r#""contract=rfc3629 maximal-subpart no-output""#, named);
    assert!(changed.contains(named), "{changed}");
    for (codec, expected, says) in [
        ("utf-16-be", Some(0), "ASCII comes back as it was sent"),
        ("utf-16-le", Some(1), "plain text comes back changed"),
    ] {
        std::fs::write(&path, changed.replace(r#".decode("utf-8")"#, &format!(".decode({codec:?})"))).unwrap();
        let (status, text) = proof(&format!("python3 {path}"));
        assert!(status == expected && text.contains(says), "{codec}: {status:?}: {text}");
    }
}

#[test]
fn what_is_no_adapter_is_named() {
    let directory = tempfile::tempdir().unwrap();
    for (words, says, status) in [
        (&["none/such"][..], "none/such cannot be started", 1),
        (&["."], "no adapter.toml there", 2),
        (
            &["--entry", "three", &example("adapter")],
            "there is no entry point three; it greets with core-str core-str-lossy",
            2,
        ),
    ] {
        let output = utfuzz(directory.path(), &["adapter", "check"]).args(words).output().unwrap();
        let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.code() == Some(status) && text.contains(says), "{words:?}: {text}");
    }
}

#[test]
fn a_command_with_a_space_in_a_word_is_for_a_file() {
    let directory = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(example("adapter"), directory.path().join("an adapter")).unwrap();
    for (program, next) in [
        (&[&*example("adapter")][..], "  utfuzz check --quick --adapter "),
        (&["env", "./an adapter"], "  write the command into a file adapter.toml"),
    ] {
        let words = [&["adapter", "check", "--entry", "core-str"], program].concat();
        let output = utfuzz(directory.path(), &words).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.rsplit("next:\n").next().unwrap().starts_with(next), "{text}");
    }
    std::fs::write(directory.path().join("adapter.toml"), "").unwrap();
    let output = utfuzz(directory.path(), &["list", "--adapters=adapter.toml"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("adapter.toml: it names no adapter") && output.status.code() == Some(2), "{text}");
}

#[test]
fn the_cost_of_an_operation_is_measured_in_batches_of_each_size() {
    let directory = tempfile::tempdir().unwrap();
    let words = ["measure", "--quick", "--json", "--adapter", &example("adapter"), "--subjects", "core-str"];
    let output = utfuzz(directory.path(), &words).output().unwrap();
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let entries = value["entries"].as_array().unwrap();
    let sizes: Vec<_> = entries[0]["batches"].as_array().unwrap().iter().map(|cost| &cost["operations"]).collect();
    assert_eq!(sizes, [1, 16, 256, 4096]);
    assert_eq!(entries.len(), 1);
    // Alone, an operation waits for two processes to be woken; in a batch it does not.
    let cost = |index: usize| entries[0]["batches"][index]["nanoseconds"].as_f64().unwrap();
    assert!(cost(0) > cost(2) && cost(2) > 0.0, "{entries:?}");
}

#[test]
fn the_record_of_a_check_of_adapters_has_the_command_that_ran() {
    let directory = tempfile::tempdir().unwrap();
    let mut command = utfuzz(directory.path(), &["check", "--quick", "--json", "--adapter", &example("adapter")]);
    let output = command.output().unwrap();
    let record: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(record["command"], "utfuzz check --quick --seconds 0");
}
