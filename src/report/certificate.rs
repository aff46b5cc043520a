//! What exhaustive runs covered, kept in `certificate.json` and shown in `certificate.md`.
//!
//! The fields are `schema`, `verdict` and `proofs[]`, the latest run of each kind. The rows of coverage are derived
//! from the sets of cases that were run; an interrupted run writes no certificate.

use crate::decoder::{Decoder, Info};
use crate::engine::check;
use crate::engine::check::byte_strings;
use crate::engine::check::stretches;
use crate::error::Error;
use crate::generate::plan;
use crate::generate::plan::Ask;
use crate::generate::plan::Padding;
use crate::io::{replace_file, temporary_beside};
use crate::report::document::{Block, Document, command, date, duration, grouped, markdown, paragraph, plain};
use crate::report::exporter::json;
use crate::report::record::{Coverage, CoveredPart, CoveredSet, Record, SCHEMA, Section};
use crate::report::tables::check_blocks;
use crate::text::{counted, shown};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The certificate of a directory.
pub struct Certificate {
    directory: PathBuf,
    proofs: Vec<Proof>,
}

/// A kind of exhaustive run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exhaustive {
    /// The deep plan of class strings.
    Classes,
    /// Every byte string of this length.
    Bytes(u32),
}

#[derive(Serialize, Deserialize)]
struct File {
    schema: u32,
    verdict: String,
    proofs: Vec<Proof>,
}

/// One run.
#[derive(Serialize, Deserialize)]
struct Proof {
    kind: String,
    verdict: String,
    #[serde(flatten)]
    record: Record,
}

impl Certificate {
    /// The certificate in this directory, which is created if it does not exist. A certificate of an earlier schema is
    /// about an earlier decoder, and is replaced. This writes no certificate, but checks that one can be written.
    ///
    /// # Errors
    /// The directory cannot be created or written to; the certificate in it cannot be read.
    pub fn open(directory: &Path) -> Result<Self, Error> {
        fs::create_dir_all(directory).map_err(|error| Error::io(directory, &error))?;
        let path = directory.join("certificate.json");
        temporary_beside(&path)?;
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Ok(Self { directory: directory.to_owned(), proofs: Vec::new() });
            }
            Err(error) => return Err(Error::io(&path, &error)),
        };
        let unreadable = |what: String| {
            Error::parse(format!("{}: {what}; delete it, or name another directory with --certificate", shown(&path)))
        };
        let invalid = |error: &dyn std::fmt::Display| unreadable(format!("not a certificate of this version: {error}"));
        let value: Value = serde_json::from_slice(&text).map_err(|error| invalid(&error))?;
        let proofs = match value.get("schema").and_then(Value::as_u64) {
            Some(schema) if schema < SCHEMA.into() => Vec::new(),
            Some(_) => {
                let file: File = serde_json::from_value(value).map_err(|error| invalid(&error))?;
                if file.schema != SCHEMA {
                    return Err(unreadable(format!("schema {}", file.schema)));
                }
                file.proofs
            }
            None => return Err(invalid(&"it has no schema")),
        };
        Ok(Self { directory: directory.to_owned(), proofs })
    }

    /// Replaces the earlier run of the same kind by a finished one, and writes both files. `record` is that of the
    /// run's outcome.
    ///
    /// # Errors
    /// The run covered less than its kind requires; a file cannot be written.
    pub fn write(
        mut self,
        run: Exhaustive,
        decoders: &[&dyn Decoder],
        outcome: &check::Outcome,
        record: &Record,
    ) -> Result<(), Error> {
        if !run.is_completed_by(outcome) {
            return Err(Error::usage(format!("{}: the run was not completed, so it proves nothing", run.command())));
        }
        let proof = Proof::of(run, decoders, outcome, record);
        self.proofs.retain(|earlier| earlier.kind != proof.kind);
        self.proofs.push(proof);
        self.proofs.sort_by(|a, b| a.kind.cmp(&b.kind));
        let file = File { schema: SCHEMA, verdict: verdict(&self.proofs), proofs: self.proofs };
        let path = self.directory.join("certificate.json");
        let json = json(&file).map_err(|error| Error::parse(format!("{}: {error}", shown(&path))))?;
        replace_file(&path, json.as_bytes())?;
        replace_file(&self.directory.join("certificate.md"), markdown(&layout(&file)).as_bytes())
    }
}

impl Exhaustive {
    fn kind(self) -> String {
        match self {
            Self::Classes => "class-strings".to_owned(),
            Self::Bytes(len) => format!("byte-strings-{len}"),
        }
    }

    fn command(self) -> String {
        match self {
            Self::Classes => "utfuzz check --deep".to_owned(),
            Self::Bytes(len) => format!("utfuzz check --bytes {len}"),
        }
    }

    fn is_completed_by(self, outcome: &check::Outcome) -> bool {
        match self {
            Self::Classes => {
                let ended = outcome.covered.iter().all(|covered| covered.cases == covered.part.cases());
                ended && outcome.covered.iter().map(|covered| &covered.part).eq(&plan::deep())
            }
            Self::Bytes(len) => 1u64.checked_shl(8 * len) == Some(outcome.statistics.cases),
        }
    }
}

impl Proof {
    fn of(run: Exhaustive, decoders: &[&dyn Decoder], outcome: &check::Outcome, record: &Record) -> Self {
        let infos: Vec<&Info> = decoders.iter().map(|decoder| decoder.info()).collect();
        let coverage = match run {
            Exhaustive::Classes => Coverage {
                sets: outcome.covered.iter().flat_map(|covered| sets(&covered.part)).collect(),
                parts: outcome.covered.iter().map(part).collect(),
            },
            Exhaustive::Bytes(len) => Coverage {
                sets: byte_sets(&infos, len),
                parts: vec![CoveredPart {
                    name: "byte strings".to_owned(),
                    cases: outcome.statistics.cases,
                    comparisons: named(&outcome.statistics.comparisons),
                    seconds: record.seconds,
                }],
            },
        };
        let mut record = Record { command: run.command(), seconds: coverage.seconds(), ..record.clone() };
        if let Section::Check(check) = &mut record.section {
            // The counts of a deep run include only its class strings; divergences are counted in every stage.
            (check.cases, check.comparisons) = (coverage.cases(), coverage.comparisons());
            check.coverage = Some(coverage);
        }
        let mut proof = Self { kind: run.kind(), verdict: String::new(), record };
        proof.verdict = verdict(std::slice::from_ref(&proof));
        proof
    }
}

fn part(covered: &check::Covered) -> CoveredPart {
    CoveredPart {
        name: covered.part.name.to_owned(),
        cases: covered.cases,
        comparisons: named(&covered.comparisons),
        seconds: covered.seconds,
    }
}

fn named<N: ToString>(comparisons: &[(N, u64)]) -> Vec<(String, u64)> {
    comparisons.iter().map(|(name, count)| (name.to_string(), *count)).collect()
}

/// The result of these runs in one line.
fn verdict(proofs: &[Proof]) -> String {
    let checks: Vec<_> = proofs.iter().filter_map(|proof| proof.record.check()).collect();
    let new: usize = checks.iter().map(|check| check.divergences.len()).sum();
    let stale: usize = checks.iter().map(|check| check.stale.len()).sum();
    let silent: usize = checks.iter().map(|check| check.silent.len()).sum();
    let contradicted: usize = checks.iter().map(|check| check.contradictions.len()).sum();
    let mut verdict = match new {
        0 => "no new divergence".to_owned(),
        1 => "1 NEW DIVERGENCE".to_owned(),
        _ => format!("{new} NEW DIVERGENCES"),
    };
    for (count, what) in [
        (silent, "decoders that answered nothing"),
        (contradicted, "published vectors that the standard contradicts"),
        (stale, "ledger entries that match nothing"),
    ] {
        if count > 0 {
            verdict += &format!(", {what}: {count}");
        }
    }
    verdict
}

/// The result in a sentence.
fn answer(file: &File) -> String {
    let cases: u64 = file.proofs.iter().filter_map(|proof| proof.record.check()).map(|check| check.cases).sum();
    format!("{} in {}.", file.verdict, counted(cases as usize, "case"))
}

/// The layout of a certificate.
fn layout(file: &File) -> Document {
    let made = file.proofs.iter().map(|proof| proof.record.started).max().unwrap_or(0);
    let mut document = Document::new(format!("utfuzz certificate, {}", date(made)));
    document.blocks.push(Block::Answer { words: answer(file), is_good: file.verdict == verdict(&[]) });
    document.paragraph(
        "What was run, on what, and with which result; rendered from certificate.json. Each entry is the latest run of \
         its kind. A string is covered where every decoder named was asked what is listed, as far as it can answer, and \
         each answer was held to the standard under that decoder's contract.",
    );
    for Proof { record, verdict, .. } in &file.proofs {
        let Some(check) = record.check() else { continue };
        document.heading(2, format!("{}: {verdict}", record.command));
        let machine = &record.machine;
        document.blocks.push(paragraph([
            command(&record.command),
            plain(format!(
                ": {} cases, {} comparisons, {} on {}; {}, rustc {}. Processor features: {}.",
                grouped(check.cases),
                grouped(check.comparisons),
                duration(record.seconds),
                counted(machine.threads, "thread"),
                machine.target,
                machine.rustc,
                machine.features.join(", "),
            )),
        ]));
        if !machine.missing.is_empty() {
            document.paragraph(format!("MISSING: this machine cannot run {}.", machine.missing.join(", ")));
        }
        document.blocks.extend(check_blocks(record, check));
    }
    document
}

/// The result of the certificate in a file, whether it is good, and the page.
///
/// # Errors
/// It is not a certificate of this version.
#[cfg(feature = "cli")]
pub(super) fn shown_from(text: &[u8]) -> Result<(String, bool, Document), String> {
    let file: File = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    Ok((answer(&file), file.verdict == verdict(&[]), layout(&file)))
}

/// The offsets of each length, with the same padding and questions.
type Lengths = BTreeMap<u32, Vec<usize>>;

/// The sets of a part: one row for all lengths with the same offsets, padding and questions.
fn sets(part: &plan::Part) -> Vec<CoveredSet> {
    let mut settings: BTreeMap<(Ask, Padding, Option<Padding>), Lengths> = BTreeMap::new();
    for set in &part.sets {
        let lengths = settings.entry((set.ask, set.before, set.after)).or_default();
        lengths.entry(set.strings.len).or_default().push(set.strings.offset);
    }
    let mut rows = Vec::new();
    for ((ask, before, after), lengths) in settings {
        let mut setting: Vec<CoveredSet> = Vec::new();
        for (len, mut offsets) in lengths {
            offsets.sort_unstable();
            let strings = 13u64.pow(len) * offsets.len() as u64;
            let cases = strings * ask.variants(len);
            let offsets = stretches(offsets);
            match setting.last_mut() {
                Some(row) if row.offsets == offsets && row.lengths.1 + 1 == len => {
                    row.lengths.1 = len;
                    row.strings += strings;
                    row.cases += cases;
                }
                _ => setting.push(CoveredSet {
                    part: part.name.to_owned(),
                    lengths: (len, len),
                    before: if offsets == [(0, 0)] { "nothing" } else { before.name() }.to_owned(),
                    after: after
                        .map_or("nothing".to_owned(), |filler| format!("{} bytes {}", plan::Set::AFTER, filler.name())),
                    offsets,
                    asked: ask.says().to_owned(),
                    strings,
                    cases,
                }),
            }
        }
        rows.extend(setting);
    }
    rows
}

/// Every byte string of a length: alone, and for some decoders also across the edge of a block.
fn byte_sets(infos: &[&Info], len: u32) -> Vec<CoveredSet> {
    let strings = 1u64 << (8 * len);
    let row = |offset, before: &str, after: String, decoders: Vec<&str>| CoveredSet {
        part: "byte strings".to_owned(),
        lengths: (len, len),
        offsets: vec![(offset, offset)],
        before: before.to_owned(),
        after,
        asked: format!("verdict, and offset, length and kind of the first error where stated: {}", decoders.join(", ")),
        strings,
        cases: strings,
    };
    let mut rows = vec![row(0, "nothing", "nothing".to_owned(), infos.iter().map(|info| &*info.name).collect())];
    let across: Vec<_> =
        infos.iter().filter(|info| byte_strings::is_asked_across(info, len)).map(|info| &*info.name).collect();
    if !across.is_empty() {
        let before = byte_strings::bytes_before(len);
        let after = byte_strings::ACROSS - before - len as usize;
        rows.push(row(before, "ASCII", format!("{after} bytes ASCII"), across));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::check::{Covered, Outcome};
    use crate::generate::classes::{Block, Turn};
    use crate::report::record::Clock;
    use crate::triage::ledger::Ledger;

    /// The sets a row describes.
    fn described(row: &CoveredSet) -> Vec<plan::Set> {
        let filler = |name: &str| Padding::ALL.into_iter().find(|filler| name.ends_with(filler.name()));
        let asks = [Ask::Everything, Ask::Bytes, Ask::Answers, Ask::EveryWayCut, Ask::EveryCut, Ask::Placement];
        let ask = asks.into_iter().find(|ask| ask.says() == row.asked).unwrap();
        let before = filler(&row.before).unwrap_or(Padding::Ascii);
        let offsets = || row.offsets.iter().flat_map(|&(first, last)| first..=last);
        let blocks = (row.lengths.0..=row.lengths.1).flat_map(|len| offsets().map(move |offset| Block { len, offset }));
        let (turn, after) = (Turn::Every, filler(&row.after));
        blocks.map(|strings| plan::Set { strings, turn, before, after, ask }).collect()
    }

    #[test]
    fn rows_describe_every_set_and_no_other() {
        for part in plan::deep() {
            let rows = sets(&part);
            let mut described: Vec<_> = rows.iter().flat_map(described).map(|set| format!("{set:?}")).collect();
            let mut run: Vec<_> = part.sets.iter().map(|set| format!("{set:?}")).collect();
            described.sort();
            run.sort();
            assert_eq!(described, run);
            assert_eq!(rows.iter().map(|row| row.cases).sum::<u64>(), part.cases());
            assert_eq!(
                rows.iter().map(|row| row.strings).sum::<u64>(),
                part.sets.iter().map(|set| set.strings.count()).sum::<u64>()
            );
        }
    }

    fn covered(part: plan::Part) -> Covered {
        Covered { cases: part.cases(), comparisons: vec![("d".into(), 1)], seconds: 1.0, part }
    }

    #[test]
    fn a_run_that_was_not_completed_proves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let whole = Outcome { covered: plan::deep().into_iter().map(covered).collect(), ..Outcome::default() };
        let write = |run, outcome: &Outcome| {
            let record = Record::of_check(&Clock::start("utfuzz check"), &[], &Ledger::default(), outcome);
            Certificate::open(directory.path()).unwrap().write(run, &[], outcome, &record)
        };
        let mut interrupted = whole.clone();
        interrupted.covered[1].cases -= 1;
        let mut without_a_part = whole.clone();
        without_a_part.covered.remove(1);
        let standard = Outcome { covered: plan::standard().into_iter().map(covered).collect(), ..Outcome::default() };
        for outcome in [interrupted, without_a_part, standard, Outcome::default()] {
            assert!(write(Exhaustive::Classes, &outcome).is_err());
        }
        let mut strings = Outcome::default();
        strings.statistics.cases = (1 << 16) - 1;
        assert!(write(Exhaustive::Bytes(2), &strings).is_err());
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);

        // A proof of an earlier version is replaced.
        fs::write(directory.path().join("certificate.json"), r#"{"schema":1,"verdict":"","proofs":[{}]}"#).unwrap();
        strings.statistics.cases += 1;
        write(Exhaustive::Bytes(2), &strings).unwrap();
        write(Exhaustive::Classes, &whole).unwrap();
        let page = fs::read_to_string(directory.path().join("certificate.md")).unwrap();
        whole.covered.iter().for_each(|covered| assert!(page.contains(covered.part.name)));
        assert!(page.contains("`utfuzz check --bytes 2`") && page.contains("`utfuzz check --deep`"), "{page}");
    }
}
