//! There is one list of fuzz targets; every other place that names them is compared with it.
#![cfg(all(feature = "check", unix))]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use utfuzz::engine::targets::{self, ALL, FuzzTarget, fuzzed};
use utfuzz::generate::input_file::{self, Form};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

fn names(targets: impl IntoIterator<Item = FuzzTarget>) -> BTreeSet<String> {
    targets.into_iter().map(|target| target.name.to_owned()).collect()
}

/// Each place is listed with the targets it names and those it should name.
#[test]
fn every_place_names_the_same_targets() {
    let manifest = text("fuzz/Cargo.toml");
    let bins = manifest.split("[[bin]]").skip(1).map(|bin| bin.split('"').nth(1).unwrap().to_owned()).collect();
    let files = fs::read_dir(root().join("fuzz/fuzz_targets")).unwrap();
    let files = files.map(|file| file.unwrap().path().file_stem().unwrap().to_str().unwrap().to_owned()).collect();
    let workflow = text(".github/workflows/ci.yml");
    let matrix = workflow.lines().find_map(|line| line.trim().strip_prefix("target: [")).unwrap();
    let matrix = matrix.trim_end_matches(']').split(", ").map(str::to_owned).collect();
    let document = text("docs/fuzzing.md");
    let table = document.split("\n| target | a file is |\n").nth(1).unwrap().lines().skip(1);
    let table = table.map_while(|row| Some(row.strip_prefix("| `")?.split('`').next()?.to_owned())).collect();
    let documented = ALL.into_iter().filter(|target| target.name != "baseline");
    let places: [(&str, BTreeSet<String>, BTreeSet<String>); 4] = [
        ("fuzz/Cargo.toml", bins, names(ALL)),
        ("fuzz/fuzz_targets", files, names(ALL)),
        ("the matrix of ci.yml", matrix, names(fuzzed())),
        ("the table of docs/fuzzing.md", table, names(documented)),
    ];
    let wrong: Vec<_> = places.into_iter().filter(|(_, named, expected)| named != expected).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Every script reads `.ci/targets`: name, directory of seeds, form.
#[test]
fn scripts_are_given_the_same_targets() {
    let output = Command::new(root().join(".ci/targets")).output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let expected = |target: FuzzTarget| format!("{} {} {}\n", target.name, target.seeds[0], target.form.name());
    assert_eq!(printed, fuzzed().map(expected).collect::<String>());
    for script in [".ci/run", ".ci/kill", ".ci/clusterfuzz", ".clusterfuzzlite/build.sh"] {
        let text = text(script);
        assert!(text.contains(".ci/targets"), "{script} does not read .ci/targets");
        let lists = text.lines().filter(|line| line.contains("streaming") && line.contains("structured"));
        assert_eq!(lists.collect::<Vec<_>>(), [""; 0], "{script} has a list of its own");
    }
}

/// Every place that builds targets to find faults, or tells a user how to, leaves out traced comparisons.
#[test]
fn every_place_builds_the_targets_alike() {
    let places = [
        "README.md",
        "docs/fuzzing.md",
        "docs/your-crate.md",
        "src/cli/init.rs",
        "examples/template/build.sh.txt",
        ".clusterfuzzlite/build.sh",
        ".github/workflows/ci.yml",
    ];
    for place in places {
        let text = text(place);
        // Prose has the commands without arguments.
        let is_command =
            |line: &&str| ["fuzz run ", "fuzz run{", "fuzz build "].iter().any(|start| line.contains(start));
        let commands: Vec<&str> = text.lines().filter(is_command).collect();
        assert_ne!(commands.len(), 0, "{place} has no command");
        for command in commands {
            assert!(command.contains(" --no-trace-compares "), "{place}: {command}");
        }
    }
}

/// A night's targets write no input that `triage` would refuse as too long, and the document says how to reach the same length.
#[test]
fn the_longest_input_is_that_of_a_file() {
    let options: BTreeSet<String> = ALL.iter().flat_map(targets::options).collect();
    let longest = format!("-max_len={}", input_file::LONGEST);
    assert_eq!(options.iter().filter(|option| option.starts_with("-max_len=")).collect::<Vec<_>>(), [&longest]);
    let document = text("docs/fuzzing.md").replace('\n', " ");
    for target in ALL.iter().filter(|target| !target.is_yardstick) {
        let options = targets::options(target);
        let stated = format!("`{}`", options.join(" "));
        assert!(options.is_empty() || document.contains(&stated), "docs/fuzzing.md: {stated}");
    }
}

/// The build script has no list of targets: it excludes the yardsticks by name, and finds the others in the directory.
#[test]
fn the_build_script_leaves_out_the_yardsticks() {
    let script = text("fuzz/build.rs");
    let line = script.lines().find_map(|line| line.trim().strip_prefix("const YARDSTICKS: ")).unwrap();
    let named: BTreeSet<String> = line.split('"').skip(1).step_by(2).map(str::to_owned).collect();
    assert_eq!(named, names(ALL.into_iter().filter(|target| target.is_yardstick)));
    assert!(script.contains("utfuzz::engine::link::fuzz_targets(&YARDSTICKS)"));
}

#[test]
fn every_target_has_seeds_and_its_artifact_directory_determines_its_form() {
    for target in ALL {
        for directory in target.seeds {
            assert!(fs::read_dir(root().join(directory)).unwrap().next().is_some(), "{directory}");
        }
        let artifact = PathBuf::from(format!("fuzz/artifacts/{}/crash-1", target.name));
        assert_eq!(Form::of(&artifact), target.form, "{}", target.name);
    }
}

#[test]
fn a_target_is_a_few_lines() {
    let long: Vec<_> = ALL
        .into_iter()
        .map(|target| (target.name, text(&format!("fuzz/fuzz_targets/{}.rs", target.name)).lines().count()))
        .filter(|(_, lines)| *lines > 20)
        .collect();
    assert!(long.is_empty(), "{long:?}");
}
