//! `utfuzz check`.

#[cfg(unix)]
use super::run::{Run, command};
use super::run::{assert_none_wrong, directory_with, run};

#[test]
fn a_quick_check_runs_every_stage_and_says_first_whether_it_is_clean() {
    let directory = directory_with(&[("corpus/vectors/mine.txt", b"slash | C0 AF | invalid\n")]);
    let run = run(directory.path(), &["check", "--quick", "--corpus", "corpus", "--decoders", "own,std"]);
    assert_none_wrong(run.wrong_status(0).or_else(|| run.controls()));
    let out = run.out();
    assert!(
        out.starts_with("clean: ") && out.lines().next().is_some_and(|line| line.ends_with(" comparisons")),
        "{out}"
    );
    for stage in ["vectors", "corpus", "words and texts", "class strings", "structured"] {
        assert!(out.lines().any(|line| line.starts_with(stage) && line.contains(" cases in ")), "{stage}: {out}");
    }
}

#[test]
fn a_check_ends_within_its_budget_and_says_what_was_left_out() {
    let directory = directory_with(&[("utfuzz.toml", b"[check]\nseconds = 60\n")]);
    let start = std::time::Instant::now();
    let run = run(directory.path(), &["check", "--deep", "--budget", "2", "--decoders", "own,std", "--json"]);
    assert_none_wrong(run.wrong_status(0));
    assert!(start.elapsed().as_secs() < 15, "{:?}", start.elapsed());
    let record: serde_json::Value = serde_json::from_str(run.out()).unwrap();
    assert_eq!(record["command"], "utfuzz check --deep --budget 2");
    assert_eq!(record["partial"], true);
    let of = |name: &str| {
        let stages = record["stages"].as_array().unwrap();
        stages.iter().find(|stage| stage["name"] == name).unwrap_or_else(|| panic!("{name}: {stages:?}")).clone()
    };
    for stage in ["vectors", "words and texts", "class strings"] {
        assert!(of(stage)["cases"].as_u64() > Some(0), "{}", of(stage));
    }
    assert!(of("class strings")["cases"].as_u64() < of("class strings")["planned"].as_u64());
    assert!(of("structured")["cases"].as_u64() > Some(0) && of("structured")["planned"].is_null());
}

#[test]
fn only_the_stages_named_are_run_and_their_names_are_listed() {
    let directory = directory_with(&[("utfuzz.toml", b"[check]\nonly = ['vectors', 'words']\n")]);
    for (args, stages) in [(&[][..], "vectors, words and texts"), (&["--only", "vectors"], "vectors")] {
        let run = run(directory.path(), &[&["check", "--quick", "--decoders", "std"], args].concat());
        assert_none_wrong(run.wrong_quiet(0).or_else(|| run.controls()));
        assert!(run.out().starts_with("clean as far as it ran: "), "{}", run.out());
        let ran = run.out().lines().filter(|line| line.contains(" cases in ") && !line.contains("comparisons"));
        let ran: Vec<&str> = ran.map(|line| line.split("  ").next().unwrap()).collect();
        assert_eq!(ran.join(", "), stages, "{}", run.out());
    }
    let unknown = run(directory.path(), &["check", "--only", "vectors,letters"]);
    assert_none_wrong(unknown.wrong_refusal(&["letters", "vectors, corpus, words, classes, structured"]));
    let nothing = run(directory.path(), &["check", "--only", "corpus"]);
    assert_none_wrong(nothing.wrong_refusal(&["nothing is left to run", "corpus"]));
}

#[test]
fn the_first_new_divergence_can_end_a_check() {
    let directory = directory_with(&[]);
    for more in [&[][..], &["--budget", "60"], &["--isolate"]] {
        let args = ["check", "--stop-at-first", "--quiet", "--no-ledger", "--decoders", "utf8-decode"];
        let run = run(directory.path(), &[&args, more].concat());
        assert_none_wrong(run.wrong_status(1));
        assert!(run.out().starts_with("1 new signature: "), "{more:?}: {}", run.out());
        assert_eq!(run.out().matches("divergence: ").count(), 1, "{more:?}: {}", run.out());
    }
}

/// A run that takes longer than ten seconds: `--seconds 11`, and what comes before.
#[test]
fn a_long_check_without_a_terminal_writes_progress() {
    let directory = directory_with(&[]);
    let run = run(directory.path(), &["check", "--quick", "--seconds", "11", "--decoders", "own-scalar"]);
    assert_none_wrong(run.wrong_status(0).or_else(|| run.controls()));
    let err = run.err();
    let mut lines = err.lines();
    assert!(lines.next().is_some_and(|line| line.starts_with("note: ") && line.contains("--corpus DIR")), "{err:?}");
    let mut progress = lines.filter(|line| line.contains(" %, ") && line.contains(" elapsed"));
    assert!(progress.any(|line| line.contains(" cases/s, ") && line.ends_with(" left")), "{err:?}");
}

/// Interrupts a check after three seconds.
#[cfg(unix)]
fn interrupted(args: &[&str]) -> Run {
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    let directory = directory_with(&[]);
    let mut command = command(directory.path(), &[&["check", "--quick", "--seconds", "100"], args].concat());
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(3));
    let start = Instant::now();
    assert!(Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status().unwrap().success());
    let run = Run::of(&command, child.wait_with_output().unwrap());
    assert!(start.elapsed() < Duration::from_secs(60), "{}: {:?}", run.line, start.elapsed());
    run
}

#[cfg(unix)]
#[test]
fn an_interrupted_check_prints_what_it_found() {
    let nothing = interrupted(&["--decoders", "own"]);
    let new = interrupted(&["--decoders", "utf8-decode", "--no-ledger"]);
    assert_none_wrong([nothing.wrong_status(130), new.wrong_status(1)].into_iter().flatten());
    assert!(nothing.out().starts_with("interrupted, with no new signature until then: "), "{}", nothing.out());
    let first = new.out().lines().next().unwrap().to_owned();
    assert!(first.contains(" new signature") && first.contains(" until it was interrupted: "), "{first}");
    assert!(new.out().contains("\n  verdict/utf8-decode/overlong-2/anywhere\n"), "{}", new.out());
    for run in [nothing, new] {
        let note = run.err().lines().find(|line| line.starts_with("note: interrupted during ")).map(str::to_owned);
        assert!(note.is_some_and(|note| note.contains("the same command starts again")), "{}", run.err());
        assert!(!run.out().contains("SILENT") && !run.out().contains("all agree"), "{}", run.out());
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_of_byte_strings_can_be_continued() {
    use std::process::Stdio;
    let directory = directory_with(&[]);
    let args = ["check", "--bytes", "4", "--decoders", "std", "--resume", "state"];
    let mut command = command(directory.path(), &args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let state = directory.path().join("state");
    while !state.exists() {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    std::process::Command::new("kill").args(["-s", "INT", &child.id().to_string()]).status().unwrap();
    let run = Run::of(&command, child.wait_with_output().unwrap());
    assert_none_wrong(run.wrong_status(130));
    assert!(run.err().contains("the same command continues where it ended"), "{}", run.err());
    assert!(state.exists());
}
