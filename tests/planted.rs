//! The planted decoders: their expected signatures are valid, and the embedded engines catch each under one of them.
#![cfg(all(feature = "planted", feature = "check"))]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use utfuzz::case::input::files_below;
use utfuzz::engine::score::Summary;
use utfuzz::engine::score::{Engine, Options};
use utfuzz::engine::{check, score};
use utfuzz::judge::{Law, Subject, silence_panics};
use utfuzz::peers;
use utfuzz::peers::planted::rows;
use utfuzz::report::{Clock, Exporter, Record, Text};
use utfuzz::text::matches_glob;

#[test]
fn every_planted_fault_is_caught_under_an_expected_signature() {
    let decoders = peers::all();
    let decoders: Vec<_> = decoders.iter().map(|decoder| &**decoder).collect();
    let options = Options {
        engines: vec![Engine::Exhaustive, Engine::Structured],
        budget: Duration::from_secs(5),
        seeds: 1,
        jobs: 2,
        sanitizer: Default::default(),
        root: ".".into(),
    };
    let score = score::run(&decoders, &options, &|_| ()).unwrap();
    assert_eq!(score.rows.len(), rows().count());
    let clean = score.rows.len() >= 55 && Summary::of(&score).is_clean();
    let mut text = Vec::new();
    Text.export(&Record::of_score(&Clock::start("score"), score), &mut text).unwrap();
    assert!(clean, "{}", String::from_utf8_lossy(&text));
}

/// `cargo test --release --features planted --test planted -- --ignored --nocapture budget` prints both figures. It needs
/// an optimised build and a machine that does nothing else; beside other work, `BUDGET_CPU_SECONDS` is the time of
/// all processors together, and replaces the budget.
#[test]
#[ignore = "ten seconds of two processors; .ci/run planted"]
fn a_budget_of_ten_seconds_is_kept_and_catches_nearly_every_planted_fault() {
    let of_processors: Option<f64> = std::env::var("BUDGET_CPU_SECONDS").ok().map(|seconds| seconds.parse().unwrap());
    let budget = Duration::from_secs(if of_processors.is_some() { 60 } else { 10 });
    // A backtrace of each planted panic would take the time.
    silence_panics();
    let decoders = peers::all();
    let planted: BTreeSet<String> = rows().map(|(name, _)| name).collect();
    let decoders = decoders.iter().map(|decoder| &**decoder).filter(|of| planted.contains(&*of.info().name));
    let options = check::Options {
        budget: Some(budget),
        corpus: Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus")),
        ..check::Options::default()
    };
    let start = Instant::now();
    let before = worked();
    let progress = |_, _| {
        let is_used = of_processors.is_some_and(|most| worked() - before >= most);
        options.control.stop.fetch_or(is_used, Ordering::Relaxed);
    };
    let outcome = check::check(&decoders.collect::<Vec<_>>(), &options, &progress).unwrap();
    let (seconds, worked) = (start.elapsed().as_secs_f64(), worked() - before);
    let caught: BTreeSet<&str> = outcome.divergences.keys().map(|signature| &*signature.decoder).collect();
    let missed: Vec<&String> = planted.iter().filter(|name| !caught.contains(name.as_str())).collect();
    println!(
        "{} of {} planted decoders in {seconds:.1} s, {worked:.1} s of processors; missed: {missed:?}",
        caught.len(),
        planted.len()
    );
    for check::Ran { stage, cases, planned, seconds } in &outcome.stages {
        println!("{}: {cases} cases of {planned:?} in {seconds:.1} s", stage.name());
    }
    assert!(caught.len() * 100 >= planted.len() * 95);
    assert!(seconds <= budget.as_secs_f64() * 3.0, "the budget is not kept at all");
}

/// Seconds for which all threads of this process together have worked.
#[allow(unsafe_code, reason = "the standard library does not ask for this time")]
fn worked() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` may be written to.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) }, 0);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// No code that generates inputs (generators, mutator, feedback, targets) contains a name, id or citation of a planted
/// fault. What it could learn from a decoder at run time is tested in `engine/score/run.rs`.
#[test]
fn generators_do_not_know_the_planted_faults() {
    let mut texts = Vec::new();
    for place in [
        "crates/core/src/case",
        "crates/core/src/generate",
        "crates/core/src/judge/features.rs",
        "crates/core/src/engine/fuzz/macros.rs",
        "fuzz/fuzz_targets",
        "fuzz/utf8.dict",
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(place);
        let files = if path.is_dir() { files_below(&path).unwrap() } else { vec![path] };
        texts.extend(files.into_iter().map(|path| (fs::read_to_string(&path).unwrap(), path)));
    }
    assert!(texts.len() >= 15, "{}", texts.len());
    let mut known = Vec::new();
    for (text, path) in &texts {
        // An escaped byte is not an id.
        let text = text.replace("\\x", " ");
        let words: BTreeSet<&str> = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '-').collect();
        for (name, row) in rows() {
            if words.contains(&*name) || words.contains(row.id) || text.contains(row.citation) {
                known.push(format!("{}: {name}", path.display()));
            }
        }
        if text.contains("planted") {
            known.push(format!("{}: planted", path.display()));
        }
    }
    assert!(known.is_empty(), "{known:#?}");
}

#[test]
fn expected_signatures_name_existing_laws_subjects_and_shapes() {
    let shapes = [
        "anywhere",
        "edge16",
        "edge32",
        "edge64",
        "edge128",
        "edge256",
        "aligned16",
        "aligned32",
        "aligned64",
        "size",
        "offset",
        "tail",
        "cut",
        "context",
    ];
    let mut wrong = Vec::new();
    for (name, row) in rows() {
        for signature in row.expected_signatures {
            let [law, subject, shape] = signature.split('/').collect::<Vec<_>>()[..] else {
                wrong.push(format!("{name}: {signature}"));
                continue;
            };
            let is_law = Law::ALL.iter().any(|known| known.name() == law);
            let is_subject = Subject::all().any(|known| matches_glob(subject, known.name()));
            let is_shape = shapes.iter().any(|known| matches_glob(shape, known));
            if !(is_law && is_subject && is_shape) {
                wrong.push(format!("{name}: {signature}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
