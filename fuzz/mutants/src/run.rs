//! Building the instrumented crate, and running its tests.

use crate::instrument::{self, Instrumented};
use crate::{Mutant, Outcome, Sources};
use rayon::prelude::*;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs};
use wait_timeout::ChildExt;

/// A test that takes longer than this is not run: a mutant that is missed would cost the time of all tests that reach it.
const LONGEST: Duration = Duration::from_secs(4);

/// No more tests are tried with a mutant once those tried take this long: it is missed then.
const ENOUGH: Duration = Duration::from_secs(40);

/// The same for a mutant that need not be noticed.
const ENOUGH_IF_EXPLAINED: Duration = Duration::from_secs(8);

/// The programs with tests, and the mutants that do not compile.
pub struct Build {
    pub programs: Vec<PathBuf>,
    pub unviable: BTreeSet<usize>,
}

/// A test, how long it takes, and the mutants it reaches.
pub struct Test {
    program: PathBuf,
    name: String,
    time: Duration,
    reaches: BTreeSet<usize>,
}

fn cargo(tree: &Path, command: &[&str], options: &[String]) -> Vec<Value> {
    let output = Command::new("cargo")
        .args(command)
        .args(options)
        .arg("--message-format=json")
        .current_dir(tree)
        .env("RUSTFLAGS", "--cap-lints=allow")
        .stderr(Stdio::null())
        .output()
        .expect("cargo cannot be run");
    output.stdout.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

/// Writes all mutants into the tree and builds the tests. Those that do not compile are taken out, until all others do.
pub fn build(tree: &Path, sources: &Sources, mutants: &[Mutant], options: &[String]) -> Build {
    let mut unviable = BTreeSet::new();
    let switch = instrument::SWITCH.to_owned() + &format!("    const COUNT: usize = {};\n}}\n", mutants.len());
    let attributes = "#![feature(core_intrinsics, const_eval_select)]\n#![allow(internal_features)]\n";
    // The libraries of the crates that are mutated; `crates/codec`, on which the others depend, comes first.
    let library = |mutant: &Mutant| {
        let (of_crate, _) = mutant.file.split_once("src/").unwrap_or_else(|| panic!("{} is in no crate", mutant.file));
        tree.join(of_crate).join("src/lib.rs")
    };
    let libraries: BTreeSet<PathBuf> = mutants.iter().map(library).collect();
    for (index, path) in libraries.iter().enumerate() {
        let library = fs::read_to_string(path).unwrap();
        let added = if index == 0 { &switch } else { "#[doc(hidden)]\npub use utfuzz_codec::mutant;\n" };
        // Attributes of the crate come before its first item.
        let body = library.find("\n\n").unwrap() + 1;
        fs::write(path, format!("{}{attributes}{}{added}", &library[..body], &library[body..])).unwrap();
    }
    for round in 1.. {
        let mut written: BTreeMap<&Path, Instrumented> = BTreeMap::new();
        for (path, text) in &sources.0 {
            let is_here = |&index: &usize| Path::new(&mutants[index].file) == path && !unviable.contains(&index);
            let indices: Vec<usize> = (0..mutants.len()).filter(is_here).collect();
            let file = if indices.is_empty() {
                Instrumented { text: text.clone(), places: Vec::new(), switches: Vec::new() }
            } else {
                instrument::instrument(text, mutants, &indices)
            };
            fs::write(tree.join(path), &file.text).unwrap();
            written.insert(path, file);
        }
        let start = Instant::now();
        let mut bad = BTreeSet::new();
        let mut unexplained = Vec::new();
        let messages = cargo(tree, &["test", "--no-run"], options);
        for message in &messages {
            let message = &message["message"];
            if message["level"] != "error" || message["spans"].as_array().is_none_or(Vec::is_empty) {
                continue;
            }
            match blamed(message, &written) {
                found if found.is_empty() => unexplained.push(message["rendered"].as_str().unwrap_or("").to_owned()),
                found => bad.extend(found),
            }
        }
        eprintln!("round {round}: {} more do not compile; {:.0?}", bad.len(), start.elapsed());
        if bad.is_empty() && !unexplained.is_empty() {
            panic!("errors outside every mutant:\n{}", unexplained.join("\n"));
        }
        if bad.is_empty() {
            let programs: Vec<PathBuf> = messages
                .iter()
                .filter(|message| message["profile"]["test"] == true)
                .filter_map(|message| message["executable"].as_str().map(PathBuf::from))
                .collect();
            assert!(!programs.is_empty(), "nothing was built; try `cargo test --no-run` in {}", tree.display());
            return Build { programs, unviable };
        }
        unviable.extend(bad);
    }
    unreachable!("a round takes out a mutant, or is the last")
}

/// The mutants that an error is about: those whose code it names, or else the innermost switch around what it names.
fn blamed(message: &Value, written: &BTreeMap<&Path, Instrumented>) -> BTreeSet<usize> {
    let mut spans = Vec::new();
    all_spans(message, &mut spans);
    let inside = |(path, start, end): &(String, usize, usize)| {
        let file = written.get(Path::new(path))?;
        let innermost = |places: &[(std::ops::Range<usize>, usize)]| {
            let around = places.iter().filter(|(range, _)| range.start <= *start && *end <= range.end);
            around.min_by_key(|(range, _)| range.len()).map(|&(_, index)| index)
        };
        Some((innermost(&file.places), innermost(&file.switches)))
    };
    let found: Vec<_> = spans.iter().filter_map(inside).collect();
    let named: BTreeSet<usize> = found.iter().filter_map(|(named, _)| *named).collect();
    if named.is_empty() { found.iter().filter_map(|(_, around)| *around).take(1).collect() } else { named }
}

fn all_spans(value: &Value, spans: &mut Vec<(String, usize, usize)>) {
    match value {
        Value::Array(values) => values.iter().for_each(|value| all_spans(value, spans)),
        Value::Object(fields) => {
            if let (Some(path), Some(start), Some(end)) =
                (value["file_name"].as_str(), value["byte_start"].as_u64(), value["byte_end"].as_u64())
            {
                spans.push((path.to_owned(), start as usize, end as usize));
            }
            fields.iter().filter(|(key, _)| *key != "rendered").for_each(|(_, value)| all_spans(value, spans));
        }
        _ => {}
    }
}

enum End {
    Passed,
    Failed,
    Late,
}

/// Runs one test in a process of its own.
fn test(program: &Path, name: &str, tree: &Path, variables: &[(&str, &str)], limit: Duration) -> End {
    let temporary = env::temp_dir().join(format!("mutants-{}-{:?}", std::process::id(), std::thread::current().id()));
    fs::create_dir_all(&temporary).unwrap();
    let mut child = Command::new("setsid")
        .arg(program)
        .args(["--exact", name, "--test-threads=1"])
        .current_dir(tree)
        .envs(variables.iter().copied())
        .env("TMPDIR", &temporary)
        .env("CARGO_MANIFEST_DIR", tree)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a test cannot be run");
    let end = match child.wait_timeout(limit).unwrap() {
        Some(status) if status.success() => End::Passed,
        Some(_) => End::Failed,
        None => End::Late,
    };
    // With all that it started.
    let _ = Command::new("kill").args(["-9", "--", &format!("-{}", child.id())]).stderr(Stdio::null()).status();
    let _ = child.kill();
    let _ = child.wait();
    let _ = fs::remove_dir_all(&temporary);
    end
}

/// Every test that passes in time, with the mutants it reaches, and the names of those that fail although no mutant is active:
/// they notice nothing.
pub fn reached(programs: &[PathBuf], tree: &Path) -> (Vec<Test>, Vec<String>) {
    let mut names = Vec::new();
    for program in programs {
        let output = Command::new(program).args(["--list", "--format=terse"]).current_dir(tree).output().unwrap();
        let list = String::from_utf8_lossy(&output.stdout).into_owned();
        let ignored =
            Command::new(program).args(["--list", "--format=terse", "--ignored"]).current_dir(tree).output().unwrap();
        let ignored = String::from_utf8_lossy(&ignored.stdout).into_owned();
        let ignored: BTreeSet<&str> = ignored.lines().collect();
        for line in list.lines().filter(|line| !ignored.contains(line)) {
            if let Some(name) = line.strip_suffix(": test") {
                names.push((program.clone(), name.to_owned()));
            }
        }
    }
    let start = Instant::now();
    let record = |(index, (program, name)): (usize, (PathBuf, String))| {
        let file = env::temp_dir().join(format!("reached-{}-{index}", std::process::id()));
        let begin = Instant::now();
        let variables = [("MUTANT", "record"), ("REACHED", file.to_str().unwrap())];
        let end = test(&program, &name, tree, &variables, LONGEST);
        let time = begin.elapsed();
        let marks = fs::read(&file).unwrap_or_default();
        let _ = fs::remove_file(&file);
        let short = program.file_stem().unwrap().to_string_lossy().into_owned();
        match end {
            End::Passed => Ok(Some(Test {
                program,
                name,
                time,
                reaches: (0..marks.len()).filter(|&index| marks[index] == 1).collect(),
            })),
            End::Failed => {
                eprintln!("fails without a mutant, and is left out: {short} {name}");
                Err(format!("{short} {name}"))
            }
            End::Late => {
                eprintln!("takes too long, and is left out: {short} {name}");
                Ok(None)
            }
        }
    };
    let (tests, failed): (Vec<_>, Vec<_>) = names.into_par_iter().enumerate().map(record).partition(Result::is_ok);
    let mut tests: Vec<Test> = tests.into_iter().flatten().flatten().collect();
    let failed = failed.into_iter().filter_map(Result::err).collect();
    tests.sort_by_key(|test| test.time);
    eprintln!("{} tests, run in {:.0?}", tests.len(), start.elapsed());
    (tests, failed)
}

/// What became of each mutant, and which test noticed it. `is_explained` says which need not be noticed.
pub fn outcomes(
    tree: &Path,
    mutants: &[Mutant],
    build: &Build,
    tests: &[Test],
    is_explained: &[bool],
) -> Vec<(Outcome, Option<String>)> {
    let (start, done) = (Instant::now(), AtomicUsize::new(0));
    let switched = |index: usize| {
        if build.unviable.contains(&index) {
            return (Outcome::Unviable, None);
        }
        let variable = (index + 1).to_string();
        let mut outcome = (Outcome::Unreached, None);
        let enough = if is_explained[index] { ENOUGH_IF_EXPLAINED } else { ENOUGH };
        let mut tried = Duration::ZERO;
        for case in tests.iter().filter(|test| test.reaches.contains(&index)) {
            if tried > enough {
                break;
            }
            tried += case.time;
            let limit = case.time * 8 + Duration::from_secs(5);
            let by = format!("{} {}", case.program.file_stem().unwrap().to_string_lossy(), case.name);
            match test(&case.program, &case.name, tree, &[("MUTANT", &variable)], limit) {
                End::Passed => outcome = (Outcome::Missed, None),
                End::Failed => {
                    outcome = (Outcome::Caught, Some(by));
                    break;
                }
                End::Late => {
                    outcome = (Outcome::TimedOut, Some(by));
                    break;
                }
            }
        }
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        if done.is_multiple_of(200) {
            eprintln!("{done} of {}; {:.0?}", mutants.len(), start.elapsed());
        }
        if matches!(outcome.0, Outcome::Missed | Outcome::Unreached) && !is_explained[index] {
            eprintln!("{:?}: {}", outcome.0, mutants[index].name);
        }
        outcome
    };
    (0..mutants.len()).into_par_iter().map(switched).collect()
}
