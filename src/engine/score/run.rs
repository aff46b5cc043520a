//! Every engine against every planted decoder.

use crate::case::Case;
use crate::decoder::Decoder;
use crate::engine::fuzz::FEATURES;
use crate::engine::libfuzzer::{Log, Programs};
use crate::engine::score::{Cell, Engine, Outcome, Row, Run, Score};
use crate::engine::targets;
use crate::error::Error;
use crate::explain::Signature;
use crate::generate::classes::blocks;
use crate::generate::fragments;
use crate::generate::structured::Structured;
use crate::judge::Law;
use crate::peers::planted;
use crate::text::matches_glob;
use crate::triage::ledger::Ledger;
use crate::triage::session::Session;
use core::fmt;
use rayon::prelude::*;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The engines.
    pub engines: Vec<Engine>,
    /// The time limit for one engine, decoder and seed.
    pub budget: Duration,
    /// The number of seeds for the random engines: the seeds are 1 to this.
    pub seeds: u64,
    /// How many runs in parallel; each uses one core.
    pub jobs: usize,
    /// The root of the repository, for the fuzz targets.
    pub root: PathBuf,
}

/// One run to be made.
struct Job<'d> {
    row: usize,
    cell: usize,
    decoder: &'d dyn Decoder,
    engine: Engine,
    seed: u64,
}

/// Scores the engines on those of these decoders that are planted. `progress` is called with the fraction that is done.
///
/// # Errors
/// The fuzz targets cannot be built.
pub fn run(decoders: &[&dyn Decoder], options: &Options, progress: &(dyn Fn(f64) + Sync)) -> Result<Score, Error> {
    let start = Instant::now();
    crate::judge::silence_panics();
    let targets = match options.engines.iter().any(|engine| engine.is_target()) {
        true => Some(Programs::build(&options.root.join("fuzz"), [targets::PLAIN, targets::DIFFERENTIAL])?),
        false => None,
    };
    let mut rows: Vec<Row> = Vec::new();
    let mut jobs = Vec::new();
    for &decoder in decoders {
        let Some((_, fault)) = planted::rows().find(|(name, _)| *name == decoder.info().name) else { continue };
        for (cell, &engine) in options.engines.iter().enumerate() {
            let seeds = if engine.draws() { 1..=options.seeds } else { 0..=0 };
            jobs.extend(seeds.map(|seed| Job { row: rows.len(), cell, decoder, engine, seed }));
        }
        let cells = options.engines.iter().map(|&engine| Cell { engine, runs: Vec::new() }).collect();
        rows.push(Row {
            decoder: decoder.info().name.clone().into_owned(),
            id: fault.id.into(),
            fault: fault.fault.into(),
            citation: fault.citation.into(),
            signs: fault.expected_signatures.iter().map(|sign| (*sign).into()).collect(),
            cells,
        });
    }
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.jobs).build().map_err(Error::usage)?;
    let done = std::sync::atomic::AtomicUsize::new(0);
    let work = |job: &Job<'_>| {
        let ended = match &targets {
            Some(targets) if job.engine.is_target() => {
                run_target(targets, &job.decoder.info().name, job.engine, job.seed, options.budget)
            }
            _ => run_embedded(job.decoder, job.engine, job.seed, options.budget),
        };
        let done = done.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
        progress(done as f64 / jobs.len() as f64);
        run_of(&rows[job.row], job, ended)
    };
    let runs: Vec<Run> = pool.install(|| jobs.par_iter().with_max_len(1).map(work).collect());
    for (job, run) in jobs.iter().zip(runs) {
        rows[job.row].cells[job.cell].runs.push(run);
    }
    Ok(Score {
        schema: 1,
        version: env!("CARGO_PKG_VERSION").into(),
        jobs: options.jobs,
        budget_seconds: options.budget.as_secs_f64(),
        seeds: (1..=options.seeds).collect(),
        seconds: start.elapsed().as_secs_f64(),
        engines: options.engines.clone(),
        rows,
    })
}

fn run_of(row: &Row, job: &Job<'_>, ended: Ended) -> Run {
    let outcome = match &ended.find {
        None => Outcome::Missed,
        Some(find) if find.is_implied_by(&row.signs) => Outcome::Caught,
        Some(_) => Outcome::WrongLaw,
    };
    Run {
        seed: job.engine.draws().then_some(job.seed),
        outcome,
        signature: ended.find.map(|find| find.to_string()),
        executions: ended.executions,
        seconds: ended.seconds,
    }
}

/// How a run of the embedded engine ended.
struct Ended {
    find: Option<Find>,
    executions: u64,
    seconds: f64,
}

/// Judges the inputs of an engine until a law is broken, the inputs end, or the time is up.
fn run_embedded(decoder: &dyn Decoder, engine: Engine, seed: u64, budget: Duration) -> Ended {
    let start = Instant::now();
    let ledger = Ledger::default();
    let mut session = Session::new([decoder], &ledger);
    let (mut find, mut executions) = (None, 0u64);
    inputs(engine, seed, |case| {
        executions += 1;
        if let Some(shown) = session.judge(case).first() {
            find = shown.signature().cloned().map(Find::Signature);
            return ControlFlow::Break(());
        }
        let is_late = executions % 64 == 0 && start.elapsed() >= budget;
        if is_late { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    Ended { find, executions, seconds: start.elapsed().as_secs_f64() }
}

/// Calls `each` with the inputs of an engine, in order, until it breaks. The inputs do not depend on the decoder.
fn inputs(engine: Engine, seed: u64, mut each: impl FnMut(&Case<'_>) -> ControlFlow<()>) {
    let mut bytes = Vec::new();
    let flow = match engine {
        Engine::Exhaustive => fragments_and_class_strings(&mut bytes, &mut each),
        // Seeds are far apart, so that runs do not generate the same inputs.
        Engine::Structured => (0..).try_for_each(|index| each(&Case::new(&Structured::seeded((seed << 40) + index).0))),
        Engine::Plain | Engine::Mutator | Engine::Behaviour => ControlFlow::Continue(()),
    };
    debug_assert!(flow.is_break() || engine != Engine::Structured);
}

fn fragments_and_class_strings(
    bytes: &mut Vec<u8>,
    each: &mut dyn FnMut(&Case<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let short = fragments::strings_up_to(2).chain(fragments::marks());
    let longer =
        fragments::strings_up_to(fragments::LONGEST).chain(fragments::texts()).chain(fragments::pairs_of_bounds());
    short.chain(longer).try_for_each(|string| each(&Case::new(&string)))?;
    fragments::sizes().try_for_each(|input| each(&input.case()))?;
    blocks().into_iter().try_for_each(|block| {
        (0..block.count()).try_for_each(|index| {
            block.write(index, bytes);
            each(&Case::new(bytes))
        })
    })
}

/// Runs one fuzz target against one decoder: one process, from an empty corpus. If the target does not start, or ends
/// neither by a divergence nor at the time limit, the result is that failure.
fn run_target(programs: &Programs, decoder: &str, engine: Engine, seed: u64, budget: Duration) -> Ended {
    let start = Instant::now();
    try_run_target(programs, decoder, engine, seed, budget).unwrap_or_else(|error| Ended {
        find: Some(Find::Failure(error.to_string())),
        executions: 0,
        seconds: start.elapsed().as_secs_f64(),
    })
}

fn try_run_target(
    programs: &Programs,
    decoder: &str,
    engine: Engine,
    seed: u64,
    budget: Duration,
) -> Result<Ended, Error> {
    let target = if engine == Engine::Plain { targets::PLAIN } else { targets::DIFFERENTIAL };
    let scratch = tempfile::tempdir().map_err(|error| Error::io(&std::env::temp_dir(), &error))?;
    let corpus = scratch.path().join("corpus");
    std::fs::create_dir(&corpus).map_err(|error| Error::io(&corpus, &error))?;
    let start = Instant::now();
    let output = programs
        .command(&target, decoder, scratch.path())
        .arg(&corpus)
        .arg(format!("-seed={seed}"))
        .arg(format!("-max_total_time={}", budget.as_secs().max(1)))
        .arg("-print_final_stats=1")
        .env(FEATURES, features(engine))
        .output()
        .map_err(|error| Error::io(&programs.program(&target), &error))?;
    let seconds = start.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&output.stderr);
    let find = find(&Log(&text));
    let (true, Some(executions)) = (find.is_some() || output.status.success(), Log(&text).executions()) else {
        let last = text.lines().rev().take(3).collect::<Vec<_>>().join(" / ");
        return Err(Error::usage(format!("target against {decoder}: {}, no signature: {last}", output.status)));
    };
    Ok(Ended { find, executions, seconds })
}

/// The behaviour features an engine uses: `none` for only code coverage; otherwise all, unless the environment selects
/// some.
fn features(engine: Engine) -> String {
    match engine {
        Engine::Behaviour => std::env::var(FEATURES).unwrap_or_default(),
        _ => "none".into(),
    }
}

/// What a target found. A token that is not a signature comes from the sanitizer.
fn find(log: &Log<'_>) -> Option<Find> {
    let signature = log.token().filter(|token| token.contains('/')).map(|token| Find::Token(token.to_owned()));
    signature.or_else(|| log.sanitizer_error().map(|error| Find::Sanitizer(error.to_owned())))
}

/// What an engine reported.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Find {
    /// A signature.
    Signature(Signature),
    /// A signature, as a target prints it.
    Token(String),
    /// An error of AddressSanitizer, which ends the process before the judge can report a divergence.
    Sanitizer(String),
    /// The run itself failed. The other runs are kept.
    Failure(String),
}

impl Find {
    /// Whether it has one of these signatures, which are `law/subject/shape` without the decoder and with `*` for any
    /// characters. An error of AddressSanitizer counts as a read outside the slice.
    fn is_implied_by(&self, expected: &[String]) -> bool {
        let found = match self {
            Self::Sanitizer(_) => return expected.iter().any(|pattern| pattern.starts_with(Law::Bounds.name())),
            Self::Failure(_) => return false,
            Self::Signature(signature) => signature.to_string(),
            Self::Token(token) => token.clone(),
        };
        let parts: Vec<&str> = found.split('/').collect();
        let [law, _, subject, shape] = parts[..] else { return false };
        expected.iter().any(|pattern| matches_glob(pattern, &format!("{law}/{subject}/{shape}")))
    }
}

impl fmt::Display for Find {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Signature(signature) => signature.fmt(f),
            Self::Token(token) => f.write_str(token),
            Self::Sanitizer(error) => write!(f, "AddressSanitizer: {error}"),
            Self::Failure(error) => write!(f, "the run failed: {error}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoder::Info;
    use crate::spec::Contract;
    use crate::utf8::Validity;
    use std::sync::Mutex;

    /// Records its inputs, and answers like `core::str`.
    struct Spy(Info, Mutex<Vec<Vec<u8>>>);

    impl Decoder for Spy {
        fn info(&self) -> &Info {
            &self.0
        }

        fn validate(&self, bytes: &[u8]) -> Option<Validity> {
            let mut asked = self.1.lock().unwrap();
            if asked.len() < 20_000 {
                asked.push(bytes.to_vec());
            }
            Some(core::str::from_utf8(bytes).map(drop).into())
        }
    }

    /// The inputs of a decoder depend neither on its name nor on its package.
    #[test]
    fn an_engine_does_not_look_at_names() {
        let asked = |engine, name: &'static str, package: &'static str| {
            let info = Info::new(name, "0").package(package).contract(Contract::VALIDATOR);
            let spy = Spy(info, Mutex::default());
            assert!(run_embedded(&spy, engine, 1, Duration::from_millis(400)).find.is_none());
            let asked = spy.1.into_inner().unwrap();
            assert!(asked.len() > 5000, "{}", asked.len());
            asked
        };
        for engine in [Engine::Exhaustive, Engine::Structured] {
            let (first, second) = (asked(engine, "planted-g12", "planted"), asked(engine, "some", "other"));
            let both = first.len().min(second.len());
            assert!(first[..both] == second[..both]);
        }
    }

    #[test]
    fn other_seeds_generate_other_inputs() {
        let first = |seed| {
            let mut drawn = Vec::new();
            inputs(Engine::Structured, seed, |case| {
                drawn.push(case.bytes.to_vec());
                if drawn.len() < 100 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            drawn
        };
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }

    #[test]
    fn an_expected_signature_is_a_pattern_without_the_decoder() {
        let token = Find::Token("verdict/planted-s01/invalid-byte/edge64".into());
        let implied = |pattern: &str| token.is_implied_by(&[pattern.to_owned()]);
        assert!(implied("verdict/invalid-byte/edge*") && implied("verdict/*/*"));
        assert!(!implied("verdict/invalid-byte/anywhere") && !implied("lossy/*") && !implied("verdict/planted-s01/*"));
        let error = Find::Sanitizer("heap-buffer-overflow".into());
        assert!(!Find::Failure("verdict/x/y/z".into()).is_implied_by(&["*".into()]));
        assert!(error.is_implied_by(&["bounds/*/tail".into()]) && !error.is_implied_by(&["verdict/*/*".into()]));
    }

    #[test]
    fn a_run_that_fails_is_reported_as_a_failure() {
        let nowhere = Programs::in_directory("no such directory".into());
        let ended = run_target(&nowhere, "planted-s01", Engine::Plain, 1, Duration::from_secs(1));
        let find = ended.find.map(|find| find.to_string()).unwrap_or_default();
        assert!(find.starts_with("the run failed: ") && find.contains("no such directory"), "{find}");
    }

    #[test]
    fn a_signature_is_distinguished_from_the_token_of_the_sanitizer() {
        let signature = "verdict/planted-g12/surrogate/anywhere";
        let caught = format!("DEDUP_TOKEN: {signature}\n");
        assert_eq!(find(&Log(&caught)), Some(Find::Token(signature.into())));
        let crash = "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x5 at\nDEDUP_TOKEN: read--main\n";
        assert_eq!(find(&Log(crash)), Some(Find::Sanitizer("heap-buffer-overflow".into())));
        assert_eq!(find(&Log("Done 12 runs in 1 second(s)\n")), None);
    }
}
