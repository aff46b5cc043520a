//! The embedded engine: puts inputs from every source to the judge, on all cores, without libFuzzer.
//!
//! Five stages: published vectors, the corpus, every short string of fragments, every class string up to a length, then
//! structured inputs generated from seeds until the time is up. All but the last are the same on every machine and run.

pub mod byte_strings;
mod class_strings;
mod outcome;
mod progress;

pub use byte_strings::{ByteOptions, check_bytes};
pub(crate) use outcome::headline;
pub use outcome::{Control, Covered, Outcome, Replayed, Stage};
pub(crate) use progress::stretches;

use crate::case::{Case, Input, input};
use crate::decoder::{Decoder, check_infos};
use crate::engine::targets;
use crate::error::Error;
use crate::generate::plan;
use crate::generate::structured::Structured;
use crate::generate::{fragments, input_file, vectors};
use crate::judge::Questions;
use crate::text::shown;
use crate::triage::ledger::Ledger;
use crate::triage::session::{Record, Shown};
use outcome::{BATCH, session};
use rayon::prelude::*;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// What to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// How long to run structured inputs after the other stages.
    pub time: Duration,
    /// The first seed of the structured inputs.
    pub seed: u64,
    /// A directory with the seeds of the fuzz targets, `regressions/`, and possibly further `vectors/`. `None` skips
    /// the corpus stage.
    pub corpus: Option<PathBuf>,
    /// The known differences.
    pub ledger: Ledger,
    /// Which class strings.
    pub plan: Plan,
    /// To watch the check, and to end it early.
    pub control: Control,
}

/// Which class strings a check runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Plan {
    /// [`remote`](crate::generate::plan::remote) with few strings, and no corpus, for decoders that are slow.
    Few,
    /// [`remote`](crate::generate::plan::remote), for decoders in other processes; fewer texts too.
    Remote,
    /// [`quick`](crate::generate::plan::quick), a few seconds.
    Quick,
    /// [`standard`](crate::generate::plan::standard), a minute or two.
    #[default]
    Standard,
    /// [`deep`](crate::generate::plan::deep), some minutes.
    Deep,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            time: Duration::from_secs(10),
            seed: 0,
            corpus: None,
            ledger: Ledger::built_in(),
            plan: Plan::Standard,
            control: Control::default(),
        }
    }
}

/// Checks decoders, calling `progress` from any thread with the stage and the fraction of it that is done.
///
/// # Errors
/// The [names or contracts](check_infos) of the decoders are wrong; a corpus directory or file cannot be read, or a vector
/// file cannot be parsed.
pub fn check(
    decoders: &[&dyn Decoder],
    options: &Options,
    progress: &(dyn Fn(Stage, f64) + Sync),
) -> Result<Outcome, Error> {
    check_infos(decoders.iter().copied())?;
    let (ledger, control) = (&options.ledger, &options.control);
    let (mut stages, mut record) = (Vec::new(), Record::default());
    let mut run = |stage: Stage, work: &mut dyn FnMut() -> Result<Record, Error>| -> Result<(), Error> {
        if control.is_stopped() {
            return Ok(());
        }
        let start = Instant::now();
        progress(stage, 0.0);
        let part = work()?;
        stages.push((stage, part.statistics.cases, start.elapsed().as_secs_f64()));
        record = std::mem::take(&mut record).merge(part);
        Ok(())
    };
    let (mut contradictions, mut covered) = (Vec::new(), Vec::new());
    run(Stage::Vectors, &mut || {
        let vectors = vectors(options.corpus.as_deref())?;
        contradictions = vectors.iter().flat_map(|(suite, vector)| vector.contradictions(suite)).collect();
        let inputs = vectors.into_iter().map(|(_, vector)| Input { bytes: vector.bytes, cuts: None });
        Ok(judge_inputs(decoders, ledger, inputs.collect(), Questions::ALL, control, &|_| {}))
    })?;
    if let Some(corpus) = options.corpus.as_ref().filter(|_| options.plan != Plan::Few) {
        run(Stage::Corpus, &mut || {
            let inputs = corpus_files(corpus)?.into_iter().map(|path| input_file::read(&path));
            let inputs = inputs.collect::<Result<Vec<_>, _>>()?;
            Ok(judge_inputs(decoders, ledger, inputs, Questions::ALL, control, &|_| {}))
        })?;
    }
    run(Stage::Words, &mut || {
        // How long the strings are, which of the texts are judged, and by which questions.
        let (longest, nth, questions) = match options.plan {
            Plan::Few => (1, 64, Questions::ANSWERS),
            Plan::Remote => (2, 8, Questions::ANSWERS),
            Plan::Quick => (2, 1, Questions::ALL),
            Plan::Standard | Plan::Deep => (fragments::LONGEST, 1, Questions::ALL),
        };
        let judge = |strings: &mut dyn Iterator<Item = Vec<u8>>, questions| {
            let inputs = strings.map(|bytes| Input { bytes, cuts: None }).collect();
            judge_inputs(decoders, ledger, inputs, questions, control, &|share| progress(Stage::Words, share))
        };
        let strings = judge(&mut fragments::strings_up_to(longest), Questions::ALL);
        Ok(strings.merge(judge(&mut fragments::texts().step_by(nth), questions)))
    })?;
    run(Stage::Classes, &mut || {
        let parts = match options.plan {
            Plan::Few => plan::remote(true),
            Plan::Remote => plan::remote(false),
            Plan::Quick => plan::quick(),
            Plan::Standard => plan::standard(),
            Plan::Deep => plan::deep(),
        };
        let part;
        (covered, part) =
            class_strings::check(decoders, ledger, parts, control, &|share| progress(Stage::Classes, share));
        Ok(part)
    })?;
    if !options.time.is_zero() {
        run(Stage::Structured, &mut || Ok(structured(decoders, options, progress)))?;
    }
    let interrupted = control.is_stopped();
    let stale = if interrupted { Vec::new() } else { stale(decoders, ledger, &record) };
    Ok(Outcome { stages, covered, contradictions, stale, interrupted, ..Outcome::of(record) })
}

/// Judges only these inputs, each with the name of its file. Ledger entries that match nothing are not reported as stale.
pub fn replay(decoders: &[&dyn Decoder], ledger: &Ledger, inputs: Vec<(PathBuf, Input)>) -> Outcome {
    let mut session = session(decoders, ledger);
    session.prepare(inputs.iter().map(|(_, input)| input.case()), Questions::ALL);
    let file = |(path, input): (PathBuf, Input)| {
        let shown = session.judge_file(&input.case(), &path);
        let new = shown.iter().filter_map(Shown::signature).cloned().collect();
        let known = shown.iter().filter_map(|shown| if let Shown::Known(index) = shown { Some(*index) } else { None });
        Replayed { new, known: known.collect(), path }
    };
    let files = inputs.into_iter().map(file).collect();
    Outcome { files, ..Outcome::of(session.finish()) }
}

/// Judges inputs on all cores, in pieces of thousands.
fn judge_inputs(
    decoders: &[&dyn Decoder],
    ledger: &Ledger,
    inputs: Vec<Input>,
    questions: Questions,
    control: &Control,
    progress: &(dyn Fn(f64) + Sync),
) -> Record {
    const INPUTS: usize = 2048;
    let done = AtomicUsize::new(0);
    let pieces = inputs.par_chunks(INPUTS).map(|piece| {
        control.piece(|| {
            let mut session = session(decoders, ledger);
            for batch in piece.chunks(BATCH) {
                session.prepare(batch.iter().map(Input::case), questions);
                batch.iter().for_each(|input| drop(session.judge_selected(&input.case(), questions, |_| true)));
            }
            progress((done.fetch_add(piece.len(), Ordering::Relaxed) + piece.len()) as f64 / inputs.len() as f64);
            session.finish()
        })
    });
    pieces.reduce(Record::default, Record::merge)
}

fn stale(decoders: &[&dyn Decoder], ledger: &Ledger, record: &Record) -> Vec<String> {
    let entries = ledger.entries().iter().enumerate();
    let about_these = entries.filter(|(_, entry)| decoders.iter().any(|decoder| entry.names(&decoder.info().name)));
    about_these.filter(|(index, _)| !record.known.contains_key(index)).map(|(_, entry)| entry.id.clone()).collect()
}

/// The vectors of this crate and those of other suites below `vectors/`, each with the name of its suite.
fn vectors(corpus: Option<&Path>) -> Result<Vec<(String, vectors::Vector)>, Error> {
    let mut suites: Vec<(String, String)> = vectors::SUITES.map(|(name, text)| (name.into(), text.into())).into();
    if let Some(directory) = corpus.map(|corpus| corpus.join("vectors")).filter(|directory| directory.is_dir()) {
        for path in input::files_below(&directory)? {
            let text = String::from_utf8_lossy(&input::read_file(&path, input_file::LONGEST)?).into_owned();
            if suites.iter().all(|(_, known)| *known != text) {
                suites.push((shown(&path), text));
            }
        }
    }
    let mut all = Vec::new();
    for (name, text) in suites {
        let vectors = vectors::parse(&text).map_err(|error| Error::parse(format!("{name}, {error}")))?;
        all.extend(vectors.into_iter().map(|vector| (name.clone(), vector)));
    }
    Ok(all)
}

/// The files of the existing directories of seeds and regressions; an error if none exists and there is no `vectors/`.
fn corpus_files(corpus: &Path) -> Result<Vec<PathBuf>, Error> {
    let seeds: BTreeSet<&str> = targets::ALL.iter().flat_map(|target| target.seeds).copied().collect();
    let directories = seeds.iter().filter_map(|path| path.strip_prefix("corpus/")).map(|name| corpus.join(name));
    let directories: Vec<PathBuf> = directories.filter(|path| path.is_dir()).collect();
    if directories.is_empty() && !corpus.join("vectors").is_dir() {
        let path = shown(corpus);
        return Err(Error::usage(format!("{path}: not a corpus; it has neither vectors/ nor regressions/ nor seeds")));
    }
    let files = directories.iter().map(|path| input::files_below(path));
    Ok(files.collect::<Result<Vec<_>, _>>()?.concat())
}

fn structured(decoders: &[&dyn Decoder], options: &Options, progress: &(dyn Fn(Stage, f64) + Sync)) -> Record {
    let start = Instant::now();
    let threads = rayon::current_num_threads() as u64;
    let parts = (0..threads).into_par_iter().map(|thread| {
        let mut session = session(decoders, &options.ledger);
        for round in 0.. {
            let elapsed = start.elapsed();
            if elapsed >= options.time || options.control.is_stopped() {
                break;
            }
            progress(Stage::Structured, elapsed.as_secs_f64() / options.time.as_secs_f64());
            let first = round * BATCH as u64;
            let seeds = (first..first + BATCH as u64).map(|index| options.seed.wrapping_add(index * threads + thread));
            let inputs: Vec<Vec<u8>> = seeds.map(|seed| Structured::seeded(seed).0).collect();
            session.prepare(inputs.iter().map(|bytes| Case::new(bytes)), Questions::ALL);
            inputs.iter().for_each(|bytes| drop(session.judge(&Case::new(bytes))));
            options.control.cases.fetch_add(BATCH as u64, Ordering::Relaxed);
        }
        session.finish()
    });
    parts.reduce(Record::default, Record::merge)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::check::faulty::{Faulty, RIGHT};
    use crate::utf8::Validity;

    /// Each directory of the corpus contains one file, and the decoder must see all of them.
    #[test]
    fn every_directory_of_the_corpus_is_read() {
        let corpus = tempfile::tempdir().unwrap();
        let folders = ["differential", "relatives", "streaming", "regressions"];
        for (index, folder) in folders.iter().enumerate() {
            std::fs::create_dir(corpus.path().join(folder)).unwrap();
            // A file with cuts ends with their number.
            let bytes = [&[b'x', b'0' + index as u8][..], if *folder == "streaming" { b"\0" } else { b"" }].concat();
            std::fs::write(corpus.path().join(folder).join("input"), bytes).unwrap();
        }
        let read: Vec<Vec<u8>> =
            corpus_files(corpus.path()).unwrap().iter().map(|path| input_file::read(path).unwrap().bytes).collect();
        for index in 0..folders.len() as u8 {
            assert!(read.contains(&vec![b'x', b'0' + index]), "{} is not read", folders[usize::from(index)]);
        }
        assert_eq!(read.len(), folders.len());
    }

    #[test]
    fn a_vector_that_the_standard_contradicts_is_reported() {
        let of = |corpus: Option<&Path>| vectors(corpus).unwrap();
        let built_in = of(None);
        assert!(built_in.len() > 100 && built_in.iter().all(|(suite, vector)| vector.contradictions(suite).is_empty()));
        let corpus = tempfile::tempdir().unwrap();
        std::fs::create_dir(corpus.path().join("vectors")).unwrap();
        std::fs::write(corpus.path().join("vectors/mine.txt"), "slash | C0 AF | valid\n").unwrap();
        std::fs::write(corpus.path().join("vectors/again.txt"), vectors::SUITES[0].1).unwrap();
        let added = of(Some(corpus.path()));
        assert_eq!(added.len(), built_in.len() + 1);
        let said: Vec<String> = added.iter().flat_map(|(suite, vector)| vector.contradictions(suite)).collect();
        assert!(said.len() == 1 && said[0].contains("mine.txt, slash: claimed valid: true"), "{said:?}");
        let outcome = Outcome { contradictions: said, ..Outcome::default() };
        assert!(!outcome.is_clean() && Outcome::default().is_clean());
        let text = outcome.to_string();
        assert!(text.starts_with("not clean, but no new signature: 0 cases, 0 comparisons\n"), "{text}");
        assert!(text.contains("\ncontradicted by the standard: ") && text.contains("mine.txt, slash"), "{text}");
    }

    #[test]
    fn a_clean_outcome_passes_and_one_with_a_finding_panics_with_it() {
        Outcome::default().assert_clean();
        assert_eq!(Outcome::default().to_string(), "clean: 0 cases, 0 comparisons");
        let wrong = Faulty { verdict: |_, _| Validity::Valid, ..RIGHT };
        let ledger = Ledger::default();
        let mut session = session(&[&wrong], &ledger);
        session.judge(&Case::new(b"\xC0\xAF"));
        let outcome = Outcome::of(session.finish());
        let panic = std::panic::catch_unwind(|| outcome.assert_clean()).unwrap_err();
        let message = panic.downcast_ref::<String>().unwrap();
        assert!(message.starts_with("1 new signature: 1 case, "), "{message}");
        assert!(message.contains("verdict/faulty/overlong-2/anywhere") && message.contains("#[test]"), "{message}");
    }
}

/// Decoders with a fault, for the tests of the engine.
#[cfg(test)]
mod faulty {
    use crate::decoder::{Decoder, Info, Stream};
    use crate::spec;
    use crate::spec::Contract;
    use crate::utf8::Validity;

    /// A decoder that is correct except for what its functions change.
    pub(in crate::engine::check) struct Faulty {
        pub(in crate::engine::check) info: Info,
        /// Changes a verdict.
        pub(in crate::engine::check) verdict: fn(&[u8], Validity) -> Validity,
        /// Changes an output.
        pub(in crate::engine::check) output: fn(&[u8], &mut Vec<u8>),
        /// Changes the input of a stream, given the lengths of the chunks.
        pub(in crate::engine::check) streamed: fn(&[usize], &mut Vec<u8>),
    }

    /// A correct decoder.
    pub(in crate::engine::check) const RIGHT: Faulty = Faulty {
        info: Info::new("faulty", "1.0.0").lineage_by_length(|len| if len < 64 { "short" } else { "long" }),
        verdict: |_, verdict| verdict,
        output: |_, _| {},
        streamed: |_, _| {},
    };

    impl Decoder for Faulty {
        fn info(&self) -> &Info {
            &self.info
        }

        fn validate(&self, bytes: &[u8]) -> Option<Validity> {
            Some((self.verdict)(bytes, spec::validity(&Contract::STANDARD, bytes)))
        }

        fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
            let mut output = Vec::new();
            spec::lossy(&Contract::STANDARD, bytes, &mut output);
            (self.output)(bytes, &mut output);
            out.extend(output);
            Some(())
        }

        fn stream(&self) -> Option<Box<dyn Stream + '_>> {
            Some(Box::new(Collecting { spoil: self.streamed, chunks: Vec::new(), bytes: Vec::new() }))
        }
    }

    /// Collects its input, and decodes it at the end.
    struct Collecting {
        spoil: fn(&[usize], &mut Vec<u8>),
        chunks: Vec<usize>,
        bytes: Vec<u8>,
    }

    impl Stream for Collecting {
        fn push(&mut self, chunk: &[u8], _: &mut Vec<u8>) {
            self.chunks.push(chunk.len());
            self.bytes.extend_from_slice(chunk);
        }

        fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
            let mut bytes = std::mem::take(&mut self.bytes);
            (self.spoil)(&std::mem::take(&mut self.chunks), &mut bytes);
            spec::lossy(&Contract::STANDARD, &bytes, out);
            Some(spec::validity(&Contract::STANDARD, &bytes))
        }
    }
}
