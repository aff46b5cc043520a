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
    let record = run.json();
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
    let directory = directory_with(&[("utfuzz.toml", b"[check]\nonly = 'vectors,words'\n")]);
    for (args, stages) in [(&[][..], "vectors, words and texts"), (&["--only", "vectors"], "vectors")] {
        let run = run(directory.path(), &[&["check", "--quick", "--decoders", "std"], args].concat());
        assert_none_wrong(run.wrong_quiet(0).or_else(|| run.controls()));
        assert!(run.out().starts_with("clean as far as it ran: "), "{}", run.out());
        let out = run.out();
        let ran = out.lines().filter(|line| line.contains(" cases in ") && !line.contains("comparisons"));
        let ran: Vec<&str> = ran.map(|line| line.split("  ").next().unwrap()).collect();
        assert_eq!(ran.join(", "), stages, "{}", run.out());
    }
    let unknown = run(directory.path(), &["check", "--only", "vectors,letters"]);
    assert_none_wrong(unknown.wrong_status(2));
    assert!(unknown.err().contains("letters") && unknown.err().contains("vectors, corpus, words, classes, structured"));
    let nothing = run(directory.path(), &["check", "--only", "corpus"]);
    assert_none_wrong(nothing.wrong_status(2));
    assert!(nothing.err().contains("nothing is left to run: the corpus stage needs a corpus"), "{}", nothing.err());
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

/// Interrupts a check, and the processes it has started, after three seconds.
#[cfg(unix)]
fn interrupted(args: &[&str]) -> Run {
    use std::os::unix::process::CommandExt;
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};
    let directory = directory_with(&[]);
    let mut command = command(directory.path(), &[&["check", "--quick", "--seconds", "100"], args].concat());
    let child = command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    std::thread::sleep(Duration::from_secs(3));
    let start = Instant::now();
    assert!(Command::new("kill").args(["-INT", "--", &format!("-{}", child.id())]).status().unwrap().success());
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
        assert!(note.is_some_and(|note| note.contains("the same command starts over")), "{}", run.err());
        assert!(!run.out().contains("SILENT") && !run.out().contains("all agree"), "{}", run.out());
    }
}

#[cfg(unix)]
#[test]
fn an_interrupted_check_of_isolated_decoders_is_not_clean() {
    let run = interrupted(&["--isolate", "--decoders", "own,std"]);
    assert_none_wrong(run.wrong_status(130));
    assert!(run.out().starts_with("interrupted, with no new signature until then: "), "{}", run.out());
    assert!(!run.out().contains("STALE") && !run.out().contains("all agree"), "{}", run.out());
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

/// The time for each decoder is computed without an overflow, and reaches its process.
#[test]
fn a_budget_may_be_longer_than_any_check() {
    let directory = directory_with(&[]);
    let most = u64::MAX.to_string();
    let args = ["check", "--isolate", "--budget", &most, "--only", "vectors", "--decoders", "own,std"];
    let run = run(directory.path(), &args);
    assert_none_wrong(run.wrong_quiet(0));
    assert!(run.out().starts_with("clean as far as it ran: "), "{}", run.out());
    assert!(run.out().lines().any(|line| line.starts_with("vectors ") && !line.contains(" of ")), "{}", run.out());
}

#[test]
fn every_decoder_that_cannot_be_checked_is_named() {
    let directory = directory_with(&[("corpus/vectors/bad.txt", b"a | C0 AF | perhaps\n")]);
    let args = ["check", "--quick", "--isolate", "--corpus", "corpus", "--decoders", "own,std"];
    let run = run(directory.path(), &args);
    assert_none_wrong(run.wrong_status(2));
    for name in ["own", "std"] {
        let start = format!("utfuzz: the process that checks {name}: no result");
        assert!(run.err().lines().any(|line| line.starts_with(&start)), "{start}: {}", run.err());
    }
}

/// A directory with an adapter in `adapter.sh`. Its decoder `mine` can be asked only about single bytes.
#[cfg(unix)]
fn directory_with_adapter() -> tempfile::TempDir {
    let adapter: &[u8] = br#"
printf 'utfuzz 1 lines\npackage=p\nversion=1\nname=mine\nanswers=verdict\n'
printf 'contract=rfc3629 maximal-subpart no-output\n\n'
answers=
while read -r line; do
    case $line in
        '') printf "$answers"; answers= ;;
        .|[0-7]?) answers="${answers}1 -1 -1 -\n" ;;
        ??) answers="${answers}0 -1 -1 -\n" ;;
        *) answers="${answers}3 -1 -1 -\n" ;;
    esac
done
"#;
    directory_with(&[("adapter.sh", adapter)])
}

#[cfg(unix)]
const ADAPTER: [&str; 3] = ["check", "--adapter", "sh adapter.sh"];

#[cfg(unix)]
#[test]
fn byte_strings_are_for_the_decoders_of_an_adapter_if_there_is_one() {
    let directory = directory_with_adapter();
    for more in [&[][..], &["--isolate"]] {
        let run = run(directory.path(), &[&ADAPTER[..], &["--bytes", "1", "--json"], more].concat());
        assert_none_wrong(run.wrong_status(0));
        let record = run.json();
        let names: Vec<_> = record["decoders"].as_array().unwrap().iter().map(|decoder| &decoder["name"]).collect();
        assert_eq!(names, ["mine"]);
        assert_eq!(record["cases"], 256);
    }
}

/// What the standard contradicts is in the report, in whatever form.
#[test]
fn a_contradicted_vector_is_reported() {
    let directory = directory_with(&[("c/vectors/mine.txt", b"slash | C0 AF | valid\n")]);
    let args = ["check", "-q", "--only", "vectors", "--decoders", "own", "--corpus", "c"];
    let text = run(directory.path(), &args);
    assert_none_wrong(text.wrong_quiet(1));
    assert!(text.out().starts_with("not clean") && text.out().contains("CONTRADICTED"), "{}", text.out());
    let json = run(directory.path(), &[&args[..], &["--json"]].concat()).json();
    assert!(json["contradictions"][0].as_str().is_some_and(|what| what.contains("mine.txt, slash")), "{json}");
}

/// A decoder that is not asked any more, since it failed too often, is in the report.
#[cfg(unix)]
#[test]
fn a_decoder_that_is_set_aside_is_reported() {
    let adapter: &[u8] = br#"
printf 'utfuzz 1 lines\npackage=p\nversion=1\nname=mine\nanswers=verdict\n\n'
read -r line
"#;
    let directory = directory_with(&[("adapter.sh", adapter)]);
    let args = ["check", "--adapter", "sh adapter.sh", "--only", "vectors", "--json"];
    let run = run(directory.path(), &args);
    assert_none_wrong(run.wrong_status(1));
    let record = run.json();
    assert_eq!((&record["set_aside"], &record["partial"]), (&["mine"][..].into(), &true.into()));
}

#[cfg(unix)]
#[test]
fn isolation_does_not_change_how_an_adapter_is_checked() {
    let directory = directory_with_adapter();
    for (more, named) in [(&[][..], ""), (&["--isolate"], " --isolate")] {
        let run = run(directory.path(), &[&ADAPTER[..], &["--only", "vectors", "--json"], more].concat());
        assert_none_wrong(run.wrong_status(0));
        assert!(run.err().lines().any(|line| line.starts_with("note: mine 1: ")), "{}", run.err());
        assert_eq!(run.json()["command"], format!("utfuzz check --seconds 0 --only vectors{named}"));
    }
}

#[cfg(unix)]
#[test]
fn the_deep_plan_is_not_certified_for_an_adapter() {
    let directory = directory_with_adapter();
    let args = [&ADAPTER[..], &["--deep", "--certificate", "reports"]].concat();
    assert_none_wrong(run(directory.path(), &args).wrong_refusal(&["mine", "--bytes N", "--in-process"]));
    assert!(!directory.path().join("reports").exists());
}

#[test]
fn options_of_other_options_are_refused_without_them() {
    let directory = directory_with(&[]);
    let check = |args: &[&str]| run(directory.path(), &[&["check", "--decoders", "own,std"], args].concat());
    let resume = [&["--seconds", "0"][..], &["--quick"], &["--budget", "1"], &["--only", "vectors"]];
    let refused =
        resume.map(|args| check(&[args, &["--resume", "r.json"]].concat()).wrong_refusal(&["--resume", "--bytes"]));
    assert_none_wrong(refused.into_iter().flatten());
}

#[cfg(unix)]
#[test]
fn a_check_that_could_not_start_is_not_clean() {
    let directory = directory_with(&[]);
    let args = ["check", "--isolate", "--only", "vectors", "--decoders", "std,own"];
    for args in [&args[..], &[&args[..], &["--json"]].concat()] {
        let mut command = command(directory.path(), args);
        let output = command.env("TMPDIR", "/nonexistent").output().unwrap();
        let run = Run::of(&command, output);
        assert_none_wrong(run.wrong_status(2));
        assert!(run.out.is_empty() && run.err().contains("/nonexistent"), "{} {}", run.out(), run.err());
    }
}

#[test]
fn a_ledger_may_be_all_that_is_here() {
    let directory = directory_with(&[("fuzz/known.toml", super::run::LEDGER.as_bytes())]);
    let check = |more: &[&str]| {
        let args = ["check", "--only", "vectors,corpus,words", "--seconds", "0", "--decoders", "own,std"];
        run(directory.path(), &[&args[..], more].concat())
    };
    let found = check(&[]);
    assert_none_wrong(found.wrong_status(0));
    assert!(found.err().contains("note: no corpus directory here"), "{}", found.err());
    assert_none_wrong(check(&["--corpus", "fuzz"]).wrong_refusal(&["fuzz: not a corpus"]));
}
