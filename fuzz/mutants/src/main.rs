//! Mutation testing with all mutants in one build.
//!
//! cargo-mutants lists the mutants. Instead of building the crate once for each, this program writes a copy of the
//! sources in which every mutant stands beside the original code, and a switch selects one when a process starts:
//!
//! ```text
//! if crate::mutant::is_active(17) { a - b } else { a + b }
//! ```
//!
//! The switch is in the first crate that is mutated, and the others import it from `crates/codec`, on which they depend.
//!
//! A mutant that does not compile is taken out, and the copy is written again. Every test then runs once, alone, and
//! records which mutants it reaches; each mutant is tried with the tests that reach it, fastest first, until one fails.
//!
//! Usage: `mutants TREE LIST REASONS REPORT CARGO-TEST-ARGUMENT...`. TREE is a copy of the repository, which is changed; LIST
//! is what `cargo mutants --list --json` prints; REASONS is a TOML file that says which mutants need not be noticed, and why.
//! Exits with 1 if others are missed, or if a test fails without a mutant.

mod instrument;
mod report;
mod run;

use report::Reasons;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs};

/// A mutant, as cargo-mutants lists it.
#[derive(Clone, Debug, Deserialize)]
struct Mutant {
    file: String,
    genre: String,
    name: String,
    replacement: String,
    span: Span,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct Span {
    start: Position,
    end: Position,
}

/// Both from 1; the column counts characters.
#[derive(Clone, Copy, Debug, Deserialize)]
struct Position {
    line: usize,
    column: usize,
}

/// What became of a mutant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// A test failed.
    Caught,
    /// A test did not end.
    TimedOut,
    /// It does not compile.
    Unviable,
    /// Tests reach it, and none fails.
    Missed,
    /// No test reaches it.
    Unreached,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [tree, list, reasons, output, options @ ..] = &arguments[..] else {
        panic!("usage: mutants TREE LIST REASONS REPORT CARGO-TEST-ARGUMENT...");
    };
    let tree = fs::canonicalize(tree).unwrap_or_else(|error| panic!("{tree}: {error}"));
    let read = |path: &String| fs::read_to_string(path).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mutants: Vec<Mutant> = serde_json::from_str(&read(list))
        .unwrap_or_else(|error| panic!("{list}: {error}; make it with `cargo mutants --list --json`"));
    let reasons: Reasons = toml::from_str(&read(reasons)).unwrap_or_else(|error| panic!("{reasons}: {error}"));
    // Other systems than Linux have no such file; there every reason applies.
    let reasons = reasons.on(&fs::read_to_string("/proc/cpuinfo").unwrap_or_default());
    for mutant in &mutants {
        assert!(!mutant.file.ends_with("src/lib.rs"), "{} has mutants; move its code into a module", mutant.file);
    }
    let sources = Sources::read(&tree, &mutants);
    let build = run::build(&tree, &sources, &mutants, options);
    let (tests, failed) = run::reached(&build.programs, &tree);
    let is_explained: Vec<bool> = report::names(&mutants).iter().map(|name| reasons.of(name).is_some()).collect();
    let outcomes = run::outcomes(&tree, &mutants, &build, &tests, &is_explained);
    let (text, complete) = report::report(&mutants, &outcomes, &reasons, &failed);
    fs::write(output, text).unwrap_or_else(|error| panic!("{output}: {error}"));
    ExitCode::from(u8::from(!complete))
}

/// The files with mutants, as they were.
struct Sources(BTreeMap<PathBuf, String>);

impl Sources {
    fn read(tree: &Path, mutants: &[Mutant]) -> Self {
        let read = |mutant: &Mutant| {
            let path = PathBuf::from(&mutant.file);
            let text =
                fs::read_to_string(tree.join(&path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (path, text)
        };
        Self(mutants.iter().map(read).collect())
    }
}
