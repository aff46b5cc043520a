//! Which sources each committed report depends on, and whether they have changed since it was generated.
//!
//! `reports/manifest.json` has a stamp for each report: digests of its sources and of its own files, the command, its
//! cost, the date and the machine. [`REPORTS`] is the only list of reports and of their sources.

use crate::error::Error;
use crate::io::replace_file;
use crate::report::document::{Block, Cell, Document, Table, date, grouped, markdown};
use crate::report::exporter::json;
use crate::report::record::Machine;
use crate::text::shown;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A committed report.
#[derive(Debug)]
pub struct Report {
    /// Its name.
    pub name: &'static str,
    /// What it shows.
    pub about: &'static str,
    /// Its files, relative to the root of the repository.
    pub files: &'static [&'static str],
    /// The files and directories it depends on, relative to the root of the repository; `!` marks those it does not
    /// depend on.
    pub sources: &'static [&'static str],
    /// The command that generates it.
    pub command: &'static str,
    /// Whether it may be stale without an error; `.ci/report all` does not generate it.
    pub slow: bool,
}

/// Every committed report.
pub const REPORTS: [Report; 9] = [
    Report {
        name: "matrix",
        about: "what every decoder does, those of other languages included, side by side",
        files: &[
            "reports/matrix/matrix.json",
            "reports/matrix/matrix.md",
            "reports/matrix/matrix.html",
            "reports/matrix/matrix.csv",
            "reports/matrix/matrix.svg",
        ],
        sources: &[
            "Cargo.lock",
            "adapters",
            "corpus/known.toml",
            "crates/codec",
            "crates/core/src/codec",
            "crates/core/src/decoder.rs",
            "crates/core/src/generate",
            "crates/core/src/judge",
            "crates/core/src/peers",
            "!crates/core/src/peers/planted",
            "crates/core/src/probe",
            "src/report/record/matrix.rs",
            "crates/core/src/spec",
        ],
        command: ".ci/report matrix",
        slow: false,
    },
    Report {
        name: "check",
        about: "every decoder against the standard: vectors, corpus, short strings",
        files: &["reports/check.json", "reports/check.txt"],
        sources: &[
            "Cargo.lock",
            "corpus/differential",
            "corpus/known.toml",
            "corpus/regressions",
            "corpus/relatives",
            "corpus/streaming",
            "corpus/vectors",
            "crates/codec",
            "crates/core/src/case",
            "crates/core/src/codec",
            "crates/core/src/decoder.rs",
            "crates/core/src/engine/check",
            "crates/core/src/explain",
            "crates/core/src/generate",
            "crates/core/src/judge",
            "crates/core/src/peers",
            "!crates/core/src/peers/foreign",
            "crates/core/src/spec",
            "crates/core/src/triage",
        ],
        command: ".ci/report check",
        slow: false,
    },
    Report {
        name: "certificate",
        about: "what exhaustive runs covered: every string of four bytes, every class string of the deep plan",
        files: &["reports/certificate.json", "reports/certificate.md"],
        sources: &[
            "Cargo.lock",
            "corpus/known.toml",
            "crates/codec",
            "crates/core/src/case",
            "crates/core/src/codec",
            "crates/core/src/decoder.rs",
            "crates/core/src/engine/check",
            "crates/core/src/generate/classes.rs",
            "crates/core/src/generate/plan.rs",
            "crates/core/src/judge",
            "crates/core/src/peers",
            "!crates/core/src/peers/foreign",
            "crates/core/src/spec",
        ],
        command: ".ci/report certificate",
        slow: false,
    },
    Report {
        name: "score",
        about: "how many planted decoders each engine catches, and how fast",
        files: &[
            "reports/score/score.json",
            "reports/score/score.md",
            "reports/score/score.html",
            "reports/score/score.svg",
            "reports/score/cost.md",
        ],
        sources: &[
            "Cargo.lock",
            "fuzz/Cargo.lock",
            "fuzz/fuzz_targets",
            "crates/core/src/case",
            "crates/core/src/engine",
            "!crates/core/src/engine/check",
            "!crates/core/src/engine/conformance.rs",
            "!crates/core/src/engine/nightly.rs",
            "crates/core/src/explain",
            "crates/core/src/generate",
            // It reads files, which no engine does.
            "!crates/core/src/generate/input_file.rs",
            "crates/core/src/judge",
            "crates/core/src/peers/planted",
            "crates/core/src/spec",
            "crates/core/src/triage",
        ],
        command: ".ci/report score",
        slow: false,
    },
    Report {
        name: "rivals",
        about: "our engines beside plain libFuzzer, proptest, bolero and AFL++",
        files: &["reports/score/rivals.json", "reports/score/rivals.md", "reports/score/rivals.svg"],
        sources: &[
            "Cargo.lock",
            "fuzz/Cargo.lock",
            "fuzz/fuzz_targets",
            "fuzz/rivals",
            "crates/core/src/case",
            "crates/core/src/engine",
            "!crates/core/src/engine/check",
            "!crates/core/src/engine/conformance.rs",
            "!crates/core/src/engine/nightly.rs",
            "crates/core/src/explain",
            "crates/core/src/generate",
            // It reads files, which no engine does.
            "!crates/core/src/generate/input_file.rs",
            "crates/core/src/judge",
            "crates/core/src/peers/planted",
            "crates/core/src/spec",
            "crates/core/src/triage",
        ],
        command: ".ci/report rivals",
        slow: true,
    },
    Report {
        name: "ablation",
        about: "the worth of each group of behaviour features",
        files: &["reports/score/ablation.md"],
        sources: &[
            "fuzz/Cargo.lock",
            "fuzz/fuzz_targets",
            "crates/core/src/case",
            "crates/core/src/engine",
            "!crates/core/src/engine/check",
            "!crates/core/src/engine/conformance.rs",
            "!crates/core/src/engine/nightly.rs",
            "crates/core/src/generate",
            // It reads files, which no engine does.
            "!crates/core/src/generate/input_file.rs",
            "crates/core/src/judge",
            "crates/core/src/peers/planted",
            "crates/core/src/spec",
        ],
        command: ".ci/report ablation",
        slow: true,
    },
    Report {
        name: "throughput",
        about: "our decoder, its kernels and its peers, in gigabytes a second",
        files: &[
            "reports/throughput/throughput.json",
            "reports/throughput/throughput.md",
            "reports/throughput/throughput.html",
            "reports/throughput/throughput.svg",
        ],
        sources: &["Cargo.lock", "crates/codec", "src/bench"],
        command: ".ci/report throughput",
        slow: false,
    },
    Report {
        name: "coverage",
        about: "lines that the committed corpus reaches in the target differential",
        files: &["reports/coverage.json", "reports/coverage.md"],
        sources: &[
            "corpus/differential",
            "corpus/regressions",
            "crates/codec",
            "fuzz/fuzz_targets",
            "crates/core/src/codec",
            "crates/core/src/engine/fuzz",
            "crates/core/src/engine/fuzz.rs",
            "crates/core/src/explain",
            "crates/core/src/judge",
            "crates/core/src/spec",
        ],
        command: ".ci/report coverage",
        slow: false,
    },
    Report {
        name: "mutants",
        about: "small changes of the code that no test notices",
        files: &["reports/mutants.md"],
        sources: &[
            ".cargo/mutants.toml",
            ".ci/mutants",
            "crates/codec",
            "crates/core/tests",
            "fuzz/mutants",
            "crates/core/src/codec",
            "crates/core/src/explain",
            "crates/core/src/judge",
            "crates/core/src/spec",
            "crates/core/src/triage",
            "tests",
        ],
        command: ".ci/mutants",
        slow: true,
    },
];

/// When, how and from what a report was generated.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Stamp {
    /// The digest of its sources before it was generated.
    pub sources: String,
    /// The digest of its files.
    pub files: String,
    /// The command that generated it.
    pub command: String,
    /// How long that took, in seconds.
    pub seconds: u64,
    /// How many cases were run, if they are counted.
    pub cases: Option<u64>,
    /// When it was generated, in seconds since 1970.
    pub made: u64,
    /// The machine.
    pub machine: Machine,
}

#[derive(Serialize, Deserialize)]
struct Manifest {
    schema: u32,
    reports: BTreeMap<String, Stamp>,
}

/// Whether a report was generated from the current sources.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It was.
    Current,
    /// Its sources have changed.
    Stale,
    /// Its files have changed since they were stamped.
    Changed,
    /// It has no stamp, or one of its files does not exist.
    Missing,
}

impl State {
    /// The state in a few words.
    pub fn name(self) -> &'static str {
        match self {
            Self::Current => "current",
            Self::Stale => "stale: its sources have changed",
            Self::Changed => "its files are not those that were stamped",
            Self::Missing => "missing, or without a stamp",
        }
    }
}

/// The report of this name.
///
/// # Errors
/// No report has this name.
pub fn report(name: &str) -> Result<&'static Report, Error> {
    let names = || REPORTS.each_ref().map(|report| report.name).join(", ");
    REPORTS
        .iter()
        .find(|report| report.name == name)
        .ok_or_else(|| Error::usage(format!("no report is named {name:?}; known: {}", names())))
}

/// The packages whose version may change a report: those of the decoders, and those that make inputs.
const DECISIVE: [&str; 17] = [
    "arbitrary",
    "bstr",
    "cesu8",
    "encoding_rs",
    "java_string",
    "libfuzzer-sys",
    "mutf8",
    "residua-mutf8",
    "simd_cesu8",
    "simdutf",
    "simdutf8",
    "utf-8",
    "utf8-decode",
    "utf8-zero",
    "utf8_iter",
    "utfuzz",
    "wtf8",
];

/// SHA-256 of the names, lengths and contents of files below `root`, sorted by path; in directories, hidden files and what is
/// built, `target`, are skipped. What cannot change a result is ignored: blank and comment lines of Rust files, the module
/// `tests` at the end of a Rust file unless the directory `tests` is a source too, and in `Cargo.lock` packages other than
/// those of decoders and of the fuzzer.
///
/// # Errors
/// A file cannot be read, or does not exist.
pub fn digest(root: &Path, paths: &[&str]) -> Result<String, Error> {
    let mut files = Vec::new();
    let without: Vec<PathBuf> =
        paths.iter().filter_map(|path| path.strip_prefix('!')).map(|path| root.join(path)).collect();
    for path in paths.iter().filter(|path| !path.starts_with('!')) {
        collect(&root.join(path), &mut files)?;
    }
    files.retain(|file| !without.iter().any(|path| file.starts_with(path)));
    files.sort();
    let mut hash = Sha256::new();
    for file in files {
        let mut bytes = fs::read(&file).map_err(|error| Error::io(&file, &error))?;
        if file.extension().is_some_and(|extension| extension == "rs") {
            bytes = code(&String::from_utf8_lossy(&bytes), paths.contains(&"tests")).into_bytes();
        }
        if file.file_name().is_some_and(|name| name == "Cargo.lock") {
            bytes = decisive(&String::from_utf8_lossy(&bytes)).into_bytes();
        }
        let name = file.strip_prefix(root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        hash.update(format!("{name}\0{}\0", bytes.len()));
        hash.update(&bytes);
    }
    Ok(crate::text::hex(&hash.finalize()).to_ascii_lowercase())
}

/// The lines of a Rust file that are neither blank nor comments, with or without the module `tests` if the file ends with it.
fn code(text: &str, with_tests: bool) -> String {
    let ends_with_tests = |at: &usize| text[*at..].find("\n}\n") == Some(text.len() - at - 3);
    let tests = text.find("\n#[cfg(test)]\nmod tests {\n").filter(ends_with_tests);
    let text = tests.filter(|_| !with_tests).map_or(text, |at| &text[..=at]);
    let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
    text.split_inclusive('\n').filter(is_code).collect()
}

/// The entries of the [`DECISIVE`] packages in the text of a `Cargo.lock`, without their dependencies.
fn decisive(lock: &str) -> String {
    let is_decisive = |entry: &&str| DECISIVE.iter().any(|name| entry.contains(&format!("name = \"{name}\"\n")));
    let entries = lock.split("[[package]]\n").filter(is_decisive);
    entries.map(|entry| entry.split("dependencies = [").next().unwrap_or(entry)).collect()
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Error> {
    if !path.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    for entry in fs::read_dir(path).map_err(|error| Error::io(path, &error))? {
        let entry = entry.map_err(|error| Error::io(path, &error))?;
        let name = entry.file_name();
        if name != "target" && !name.to_string_lossy().starts_with('.') {
            collect(&entry.path(), files)?;
        }
    }
    Ok(())
}

fn manifest_path(root: &Path) -> PathBuf {
    root.join("reports/manifest.json")
}

fn read(root: &Path) -> Result<Manifest, Error> {
    let path = manifest_path(root);
    match fs::read(&path) {
        Ok(text) => serde_json::from_slice(&text)
            .map_err(|error| Error::parse(format!("{}: {error}; delete it and stamp the reports again", shown(&path)))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Manifest { schema: 1, reports: BTreeMap::new() }),
        Err(error) => Err(Error::io(&path, &error)),
    }
}

/// Stamps a report that was just generated from the sources with this digest.
///
/// # Errors
/// One of its files does not exist; the manifest cannot be read or written.
pub fn stamp(root: &Path, report: &Report, sources: &str, seconds: u64, cases: Option<u64>) -> Result<(), Error> {
    let mut manifest = read(root)?;
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let stamp = Stamp {
        sources: sources.to_owned(),
        files: digest(root, report.files)?,
        command: report.command.to_owned(),
        seconds,
        cases,
        made: since.map_or(0, |since| since.as_secs()),
        machine: Machine::here(),
    };
    manifest.reports.insert(report.name.to_owned(), stamp);
    let path = manifest_path(root);
    let text = json(&manifest).map_err(|error| Error::parse(format!("{}: {error}", shown(&path))))?;
    replace_file(&path, text.as_bytes())
}

/// A report, its stamp if it has one, and whether it is current.
pub type Dated = (&'static Report, Option<Stamp>, State);

/// Each report with its stamp and its state.
///
/// # Errors
/// A source or the manifest cannot be read.
pub fn states(root: &Path) -> Result<Vec<Dated>, Error> {
    let mut manifest = read(root)?;
    let state = |report: &'static Report| {
        let sources = digest(root, report.sources)?;
        let stamp = manifest.reports.remove(report.name);
        let exists = report.files.iter().all(|file| root.join(file).is_file());
        let state = match &stamp {
            Some(_) if !exists => State::Missing,
            Some(stamp) if stamp.files != digest(root, report.files)? => State::Changed,
            Some(stamp) if stamp.sources != sources => State::Stale,
            Some(_) => State::Current,
            None => State::Missing,
        };
        Ok((report, stamp, state))
    };
    REPORTS.iter().map(state).collect()
}

const BEGIN: &str = "<!-- Written by .ci/report table; do not edit. -->\n";
const END: &str = "<!-- End of the table. -->\n";

/// Writes the table of reports into `docs/reports.md`, between its two markers; a page without them gets them at its
/// end. The table does not say which are current, since that changes with the sources.
///
/// # Errors
/// The manifest or the page cannot be read, or the page cannot be written.
pub fn write_table(root: &Path) -> Result<(), Error> {
    let path = root.join("docs/reports.md");
    let page = match fs::read_to_string(&path) {
        Ok(page) => page,
        Err(error) if error.kind() == io::ErrorKind::NotFound => "# Reports\n\n".to_owned(),
        Err(error) => return Err(Error::io(&path, &error)),
    };
    let (before, after) = match (page.split_once(BEGIN), page.split_once(END)) {
        (Some((before, _)), Some((_, after))) => (before.to_owned(), after),
        _ => (page.trim_end().to_owned() + "\n\n", ""),
    };
    let directory = root.join("docs");
    fs::create_dir_all(&directory).map_err(|error| Error::io(&directory, &error))?;
    replace_file(&path, format!("{before}{BEGIN}{}{END}{after}", table(root)?).as_bytes())
}

fn table(root: &Path) -> Result<String, Error> {
    let mut manifest = read(root)?;
    let mut table = Table::new(["report", "about", "made", "#seconds", "#cases", "regenerate with"]);
    for report in &REPORTS {
        let stamp = manifest.reports.remove(report.name);
        let unknown = || "–".to_owned();
        let cases = stamp.as_ref().and_then(|stamp| stamp.cases);
        table.row([
            Cell::from(report.name),
            Cell::from(report.about),
            Cell::from(stamp.as_ref().map_or_else(unknown, |stamp| date(stamp.made))),
            Cell::from(stamp.as_ref().map_or_else(unknown, |stamp| grouped(stamp.seconds))),
            Cell::from(cases.map_or_else(unknown, grouped)),
            Cell::from(report.command),
        ]);
    }
    let page = markdown(&Document { blocks: vec![Block::Table(table)], ..Document::new("") });
    // Without the heading.
    Ok(page.split_once("\n\n").map_or(String::new(), |(_, table)| table.to_owned()))
}
