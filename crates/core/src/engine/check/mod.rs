//! The embedded engine: puts inputs from every source to the judge, on all cores, without libFuzzer.
//!
//! Five stages: published vectors, the corpus, every short string of fragments, every class string up to a length, and
//! structured inputs generated from seeds. Each runs to its end, the last for [`Options::time`]; all but the last are the
//! same on every machine and run. With [`Options::budget`] they take turns until it is used up.

pub mod byte_strings;
mod outcome;
mod pieces;

pub use byte_strings::{ByteOptions, check_bytes};
pub use outcome::{Control, Covered, Options, Outcome, Plan, Ran, Replayed, Stage};
pub use outcome::{headline, stretches};

use crate::case::{Input, input};
use crate::decoder::{Decoder, check_infos};
use crate::engine::targets;
use crate::error::Error;
use crate::generate::{fragments, input_file, plan, vectors};
use crate::judge::Questions;
use crate::text::shown;
use crate::triage::ledger::Ledger;
use crate::triage::session::Shown;
use outcome::session;
use pieces::{Inputs, Work};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// Checks decoders, calling `progress` from any thread with the stage and the fraction of it, or of the budget, that is
/// done.
///
/// # Errors
/// The [names or contracts](check_infos) of the decoders are wrong; no stage is left to run; a corpus directory or file
/// cannot be read, or a vector file cannot be parsed.
pub fn check(
    decoders: &[&dyn Decoder],
    options: &Options,
    progress: &(dyn Fn(Stage, f64) + Sync),
) -> Result<Outcome, Error> {
    let deadline = options.budget.and_then(|budget| Instant::now().checked_add(budget));
    check_infos(decoders.iter().copied())?;
    let mut contradictions = Vec::new();
    let work = work(options, &mut contradictions)?;
    let outcome = pieces::run(decoders, options, deadline, &work, progress);
    let partial = outcome.partial || Stage::ALL.iter().any(|stage| !options.only.contains(stage));
    let is_whole = !outcome.interrupted && !partial;
    let stale = if is_whole { stale(decoders, &options.ledger, &outcome) } else { Vec::new() };
    Ok(Outcome { contradictions, stale, partial, ..outcome })
}

/// What is to be run. Published vectors whose claims `spec` contradicts are added to `contradictions`.
fn work(options: &Options, contradictions: &mut Vec<String>) -> Result<Work, Error> {
    let is_wanted = |stage| options.only.contains(&stage);
    let mut work = Work::default();
    let mut add = |stage, rank, inputs: Vec<Input>, questions| {
        work.lists.push(Inputs { stage, rank, inputs, questions });
    };
    if is_wanted(Stage::Vectors) {
        let vectors = vectors(options.corpus.as_deref())?;
        contradictions.extend(vectors.iter().flat_map(|(suite, vector)| vector.contradictions(suite)));
        let inputs = vectors.into_iter().map(|(_, vector)| Input { bytes: vector.bytes, cuts: None });
        add(Stage::Vectors, 0, inputs.collect(), Questions::ALL);
    }
    let corpus = options.corpus.as_ref().filter(|_| is_wanted(Stage::Corpus) && options.plan != Plan::Few);
    if let Some(corpus) = corpus {
        let inputs = corpus_files(corpus)?.into_iter().map(|path| input_file::read(&path));
        add(Stage::Corpus, 0, inputs.collect::<Result<_, _>>()?, Questions::ALL);
    }
    if is_wanted(Stage::Words) {
        // How long the strings are, which of the texts are judged, and by which questions.
        let (longest, nth, questions) = match options.plan {
            Plan::Few => (1, 64, Questions::ANSWERS),
            Plan::Remote => (2, 8, Questions::ANSWERS),
            Plan::Quick => (2, 1, Questions::BYTES),
            Plan::Standard => (fragments::LONGEST, 1, Questions::BYTES),
            Plan::Deep => (fragments::LONGEST, 1, Questions::ALL),
        };
        let input = |bytes| Input { bytes, cuts: None };
        if options.budget.is_some() {
            add(Stage::Words, 0, fragments::opening().collect(), Questions::ALL);
        }
        let short = fragments::mixtures().chain(fragments::forms().map(input));
        add(Stage::Words, 3, short.collect(), Questions::ALL);
        add(Stage::Words, 3, fragments::strings_up_to(longest).map(input).collect(), Questions::ALL);
        add(Stage::Words, 3, fragments::texts().step_by(nth).map(input).collect(), questions);
        if !matches!(options.plan, Plan::Few | Plan::Remote) {
            add(Stage::Words, 2, fragments::marks().map(input).collect(), Questions::ALL);
            let (large, small) = fragments::sizes().partition(|input| input.bytes.len() > 1 << 15);
            add(Stage::Words, 1, small, Questions::IN_CHUNKS_TOO);
            add(Stage::Words, 3, large, Questions::IN_CHUNKS_TOO);
            let nth = if options.plan == Plan::Quick { 7 } else { 1 };
            add(Stage::Words, 3, fragments::pairs_of_bounds().step_by(nth).map(input).collect(), Questions::BYTES);
        }
    }
    if is_wanted(Stage::Classes) {
        work.parts = match options.plan {
            Plan::Few => plan::remote(true),
            Plan::Remote => plan::remote(false),
            Plan::Quick => plan::quick(),
            Plan::Standard => plan::standard(),
            Plan::Deep => plan::deep(),
        };
    }
    let has_time = options.budget.is_some() || !options.time.is_zero();
    work.structured = is_wanted(Stage::Structured) && has_time;
    if work.lists.is_empty() && work.parts.is_empty() && !work.structured {
        return Err(Error::usage(
            "nothing is left to run: the corpus stage needs a corpus, structured inputs need time",
        ));
    }
    Ok(work)
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

fn stale(decoders: &[&dyn Decoder], ledger: &Ledger, outcome: &Outcome) -> Vec<String> {
    let entries = ledger.entries().iter().enumerate();
    let about_these = entries.filter(|(_, entry)| decoders.iter().any(|decoder| entry.names(&decoder.info().name)));
    about_these.filter(|(index, _)| !outcome.known.contains_key(index)).map(|(_, entry)| entry.id.clone()).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use crate::engine::check::faulty::{Faulty, RIGHT};
    use crate::utf8::Validity;
    use std::time::Duration;

    /// Each directory of the corpus contains one file, and all of them are read.
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

    fn options() -> Options {
        Options { ledger: Ledger::default(), plan: Plan::Quick, ..Options::default() }
    }

    /// The budget is too short for everything, but something of every stage is run.
    #[test]
    fn a_budget_is_kept_and_every_stage_has_a_share() {
        let budget = Duration::from_millis(1500);
        let never = "[[known]]\nid = \"never\"\ndecoder = \"faulty\"\nversions = \"=1.0.0\"\nlaws = [\"reset\"]\n\
                     subjects = [\"end\"]\nreason = \"r\"\nlink = \"https://localhost\"\ndate = \"2026-01-01\"\n";
        let ledger = Ledger::parse(never, "a test").unwrap();
        let options = Options { budget: Some(budget), plan: Plan::Deep, ledger, ..options() };
        let start = Instant::now();
        let outcome = check(&[&RIGHT], &options, &|_, _| {}).unwrap();
        let elapsed = start.elapsed();
        assert!(elapsed >= budget && elapsed < 4 * budget, "{elapsed:?}");
        let stages: Vec<Stage> = outcome.stages.iter().map(|ran| ran.stage).collect();
        assert_eq!(stages, [Stage::Vectors, Stage::Words, Stage::Classes, Stage::Structured]);
        assert!(outcome.stages.iter().all(|ran| ran.cases > 0 && ran.seconds < elapsed.as_secs_f64()), "{outcome}");
        assert!(outcome.stages.iter().any(|ran| ran.planned.is_some_and(|planned| planned > ran.cases)));
        assert!(outcome.partial && outcome.stale.is_empty() && outcome.is_clean(), "{outcome}");
        assert!(outcome.covered.iter().all(|covered| covered.cases == covered.part.cases()));
        assert!(outcome.covered.len() < plan::deep().len());
        assert!(outcome.to_string().starts_with("clean as far as it ran: "), "{outcome}");
    }

    #[test]
    fn the_first_new_divergence_ends_a_check() {
        let wrong = Faulty { verdict: |_, _| Validity::Valid, ..RIGHT };
        for budget in [None, Some(Duration::from_secs(60))] {
            let options = Options { stop_at_first: true, budget, ..options() };
            let outcome = check(&[&wrong], &options, &|_, _| {}).unwrap();
            assert!(outcome.divergences.len() == 1 && outcome.partial && !outcome.interrupted, "{outcome}");
            assert!(outcome.statistics.cases < 1000 && outcome.silent().next().is_none(), "{outcome}");
            assert!(outcome.to_string().contains("divergence: "), "{outcome}");
        }
    }

    #[test]
    fn only_the_stages_that_are_named_are_run() {
        let run = |only: &[Stage]| check(&[&RIGHT], &Options { only: only.to_vec(), ..options() }, &|_, _| {});
        for stage in [Stage::Vectors, Stage::Words] {
            let outcome = run(&[stage]).unwrap();
            assert_eq!(outcome.stages.iter().map(|ran| ran.stage).collect::<Vec<_>>(), [stage]);
            assert!(outcome.partial && outcome.is_clean() && outcome.covered.is_empty(), "{outcome}");
            assert!(outcome.stages.iter().all(|ran| ran.planned == Some(ran.cases)));
        }
        // Without a corpus, that would be nothing.
        assert!(run(&[Stage::Corpus]).is_err_and(|error| error.to_string().contains("needs a corpus")));
        assert!(run(&[]).is_err());
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
