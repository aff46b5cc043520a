//! The committed corpus: the seeds are those that the code generates, and each regression is a test of its own.
//!
//! A regression passes if every divergence that it shows is in the ledger.

use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use utfuzz::generate::input_file;
use utfuzz::generate::seeds;
use utfuzz::triage::ledger::Ledger;
use utfuzz::triage::session::{Session, Shown};

fn main() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    let mut trials = vec![Trial::test("seeds_match_the_code", {
        let corpus = corpus.clone();
        move || {
            seeds_match_the_code(&corpus.join("differential"), seeds::differential())?;
            seeds_match_the_code(&corpus.join("relatives"), seeds::relatives())
        }
    })];
    for path in files(&corpus.join("regressions")) {
        let name = format!("regression {}", path.file_name().unwrap_or_default().to_string_lossy());
        trials.push(Trial::test(name, move || replay(&path)));
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}

fn seeds_match_the_code(directory: &Path, expected: BTreeMap<String, Vec<u8>>) -> Result<(), Failed> {
    let named = |path: &PathBuf| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    // What libFuzzer finds locally is named by its hash and not committed.
    let is_found = |name: &str| name.len() == 40 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let committed: Vec<String> = files(directory).iter().map(named).filter(|name| !is_found(name)).collect();
    if committed != expected.keys().cloned().collect::<Vec<_>>() {
        let directory = directory.display();
        return Err(format!(
            "the files in {directory} are not the generated seeds; run `cargo run --example write_seeds`"
        )
        .into());
    }
    for (name, bytes) in expected {
        if fs::read(directory.join(&name))? != bytes {
            return Err(format!("{name} is not the generated seed; run `cargo run --example write_seeds`").into());
        }
    }
    Ok(())
}

fn replay(path: &Path) -> Result<(), Failed> {
    let (decoders, ledger) = (utfuzz::peers::all(), Ledger::built_in());
    let mut session = Session::new(decoders.iter().map(|decoder| &**decoder), &ledger);
    match session.judge(&input_file::read(path)?.case()).into_iter().find_map(new) {
        None => Ok(()),
        Some(divergence) => Err(divergence.into()),
    }
}

fn new(shown: Shown) -> Option<String> {
    if let Shown::New(divergence) = shown { Some(divergence.to_string()) } else { None }
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut files: Vec<PathBuf> = entries
        .filter(|path| {
            path.is_file() && !path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
        })
        .collect();
    files.sort();
    files
}
