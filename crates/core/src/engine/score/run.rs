//! Every engine against every planted decoder.

use crate::case::{Case, Cuts};
use crate::decoder::Decoder;
use crate::engine::fuzz::{DECODERS, FEATURES};
use crate::engine::score::{Cell, Comparison, Engine, LeftOut, Outcome, Row, Run, Score};
use crate::engine::targets::{self, Log, Programs, Sanitizer};
use crate::error::Error;
use crate::explain::Signature;
use crate::generate::classes::blocks;
use crate::generate::fragments;
use crate::generate::structured::Structured;
use crate::judge::Law;
use crate::peers::planted;
use crate::text::matches_glob;
use crate::triage::fails_on_every_kind;
use crate::triage::ledger::Ledger;
use crate::triage::session::Session;
use core::fmt;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The engines.
    pub engines: Vec<Engine>,
    /// The time limit for one engine, decoder and seed.
    pub budget: Duration,
    /// The number of seeds for the random engines: the seeds are 1 to this number.
    pub seeds: u64,
    /// How many runs in parallel; each uses one core.
    pub jobs: usize,
    /// The root of the repository, for the fuzz targets.
    pub root: PathBuf,
    /// With what the fuzz targets are built. The rivals are built without a sanitizer.
    pub sanitizer: Sanitizer,
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
/// A naive engine whose program cannot be built here is left out.
///
/// # Errors
/// The fuzz targets cannot be built.
pub fn run(decoders: &[&dyn Decoder], options: &Options, progress: &(dyn Fn(f64) + Sync)) -> Result<Score, Error> {
    let start = Instant::now();
    crate::judge::silence_panics();
    let (rivals, left_out) = Rivals::build(&options.root.join("fuzz/rivals"), &options.engines);
    let engines: Vec<Engine> =
        options.engines.iter().copied().filter(|engine| left_out.iter().all(|out| out.engine != *engine)).collect();
    let targets = match options.engines.iter().any(|engine| engine.is_target()) {
        true => {
            let built = [targets::PLAIN, targets::DIFFERENTIAL];
            Some(Programs::build(&options.root.join("fuzz"), built, options.sanitizer)?)
        }
        false => None,
    };
    let mut rows: Vec<Row> = Vec::new();
    let mut jobs = Vec::new();
    for &decoder in decoders {
        let Some((_, fault)) = planted::rows().find(|(name, _)| *name == decoder.info().name) else { continue };
        for (cell, &engine) in engines.iter().enumerate() {
            let seeds = if engine.draws() { 1..=options.seeds } else { 0..=0 };
            jobs.extend(seeds.map(|seed| Job { row: rows.len(), cell, decoder, engine, seed }));
        }
        let cells = engines.iter().map(|&engine| Cell { engine, runs: Vec::new() }).collect();
        rows.push(Row {
            decoder: decoder.info().name.clone().into_owned(),
            id: fault.id.into(),
            fault: fault.fault.into(),
            citation: fault.citation.into(),
            signs: fault.expected_signatures.iter().map(|sign| (*sign).into()).collect(),
            on_every_kind: Vec::new(),
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
            _ if job.engine.is_naive() => rivals.run(job.decoder, job.engine, job.seed, options.budget),
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
    for row in &mut rows {
        let Some(decoder) = decoders.iter().find(|decoder| decoder.info().name == row.decoder) else { continue };
        let laws: BTreeSet<String> =
            row.signatures().iter().filter_map(|text| text.split('/').next()).map(str::to_owned).collect();
        let is_broken =
            |name: &String| Law::ALL.into_iter().any(|law| law.name() == name && fails_on_every_kind(*decoder, law));
        row.on_every_kind = laws.into_iter().filter(is_broken).collect();
    }
    let budget_seconds = options.budget.as_secs_f64();
    let comparisons = Comparison::all(&engines, &rows, budget_seconds);
    Ok(Score {
        schema: 1,
        version: env!("CARGO_PKG_VERSION").into(),
        jobs: options.jobs,
        budget_seconds,
        seeds: (1..=options.seeds).collect(),
        seconds: start.elapsed().as_secs_f64(),
        sanitizer: options.sanitizer,
        engines,
        left_out,
        rows,
        comparisons,
    })
}

fn run_of(row: &Row, job: &Job<'_>, ended: Ended) -> Run {
    let outcome = match &ended.find {
        None => Outcome::Missed,
        Some(Find::Failure(_)) => Outcome::WrongLaw,
        Some(find) if job.engine.is_naive() || find.is_implied_by(&row.signs) => Outcome::Caught,
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

/// How a run of an engine ended.
struct Ended {
    find: Option<Find>,
    executions: u64,
    seconds: f64,
}

impl Ended {
    fn failed(error: &Error, start: Instant) -> Self {
        let find = Some(Find::Failure(error.to_string()));
        Self { find, executions: 0, seconds: start.elapsed().as_secs_f64() }
    }
}

/// Judges the inputs of an engine until a law is broken, the inputs end, or the time is up.
fn run_embedded(decoder: &dyn Decoder, engine: Engine, seed: u64, budget: Duration) -> Ended {
    let ledger = Ledger::default();
    let mut session = Session::new([decoder], &ledger);
    let start = Instant::now();
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
    Ended {
        find,
        executions,
        seconds: start.elapsed().saturating_sub(session.explaining() + session.confirming()).as_secs_f64(),
    }
}

/// Calls `each` with the inputs of an engine, in order, until it breaks. The inputs do not depend on the decoder.
fn inputs(engine: Engine, seed: u64, mut each: impl FnMut(&Case<'_>) -> ControlFlow<()>) {
    let mut bytes = Vec::new();
    let flow = fragments::opening().try_for_each(|input| each(&input.case()));
    if flow.is_break() {
        return;
    }
    let flow = match engine {
        Engine::Exhaustive => fragments_and_class_strings(&mut bytes, &mut each),
        // Seeds are far apart, so that runs do not generate the same inputs.
        Engine::Structured => (0..).try_for_each(|index| each(&Case::new(&Structured::seeded((seed << 40) + index).0))),
        _ => ControlFlow::Continue(()),
    };
    debug_assert!(flow.is_break() || engine != Engine::Structured);
}

fn fragments_and_class_strings(
    bytes: &mut Vec<u8>,
    each: &mut dyn FnMut(&Case<'_>) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let followed = fragments::strings_up_to(1).map(|string| [&string[..], b"a"].concat());
    let mut strings = fragments::forms().chain(fragments::strings_up_to(1)).chain(followed);
    strings.try_for_each(|string| each(&Case::new(&string)))?;
    fragments::mixtures().filter(|input| input.cuts.is_some()).try_for_each(|input| each(&input.case()))?;
    let mut strings = fragments::marks().chain(fragments::strings_up_to(2));
    strings.try_for_each(|string| each(&Case::new(&string)))?;
    fragments::sizes().try_for_each(|input| each(&input.case()))?;
    let mut strings =
        fragments::pairs_of_bounds().chain(fragments::texts()).chain(fragments::strings_up_to(fragments::LONGEST));
    strings.try_for_each(|string| each(&Case::new(&string)))?;
    blocks().into_iter().try_for_each(|block| {
        (0..block.count()).try_for_each(|index| {
            block.write(index, bytes);
            each(&Case::new(bytes))
        })
    })
}

/// Runs one fuzz target against one decoder: one process, from an empty corpus, which stays in memory. If the target does
/// not start, or ends neither by a divergence nor at the time limit, the result is that failure.
fn run_target(programs: &Programs, decoder: &str, engine: Engine, seed: u64, budget: Duration) -> Ended {
    let start = Instant::now();
    try_run_target(programs, decoder, engine, seed, budget).unwrap_or_else(|error| Ended::failed(&error, start))
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
    let start = Instant::now();
    let output = programs
        .command(&target, decoder, scratch.path())
        .arg(format!("-seed={seed}"))
        .arg(format!("-max_total_time={}", budget.as_secs().max(1)))
        .arg("-print_final_stats=1")
        .env(FEATURES, features(engine))
        .output()
        .map_err(|error| Error::io(&programs.program(&target), &error))?;
    let elapsed = start.elapsed().as_secs_f64();
    let text = String::from_utf8_lossy(&output.stderr);
    let seconds = Log(&text).seconds().unwrap_or(elapsed);
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

/// The programs of `fuzz/rivals`, by engine.
struct Rivals {
    directory: PathBuf,
    programs: BTreeMap<Engine, PathBuf>,
}

impl Rivals {
    /// What `cargo bolero` passes to the compiler for its libFuzzer engine.
    const BOLERO: &'static str = "--cfg fuzzing --cfg fuzzing_libfuzzer -Cpasses=sancov-module \
        -Cllvm-args=-sanitizer-coverage-level=4 -Cllvm-args=-sanitizer-coverage-inline-8bit-counters \
        -Cllvm-args=-sanitizer-coverage-pc-table -Cllvm-args=-sanitizer-coverage-trace-compares \
        -Cllvm-args=-sanitizer-coverage-stack-depth";

    /// For a machine that is not tuned for AFL++, without a terminal for its UI; it stops at the first crash.
    const AFL: [&'static str; 5] = [
        "AFL_SKIP_CPUFREQ",
        "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES",
        "AFL_NO_AFFINITY",
        "AFL_NO_UI",
        "AFL_BENCH_UNTIL_CRASH",
    ];

    /// What AFL++ says when it refuses to start.
    const SEED_CRASHES: &'static str = "at least one valid input seed that does not crash";

    /// Builds the programs of those engines that are naive, and says which cannot be built.
    fn build(directory: &Path, engines: &[Engine]) -> (Self, Vec<LeftOut>) {
        let (mut programs, mut left_out) = (BTreeMap::new(), Vec::new());
        for &engine in engines.iter().filter(|engine| engine.is_naive()) {
            match Self::program(directory, engine) {
                Ok(program) => drop(programs.insert(engine, program)),
                Err(error) => left_out.push(LeftOut { engine, why: error.to_string() }),
            }
        }
        (Self { directory: directory.to_owned(), programs }, left_out)
    }

    fn program(directory: &Path, engine: Engine) -> Result<PathBuf, Error> {
        let directory = std::path::absolute(directory).map_err(|error| Error::io(directory, &error))?;
        let name = engine.name();
        // Each has build options of its own, so in a shared directory each would build everything anew.
        let target = directory.join("target").join(name);
        let mut build = Command::new("cargo");
        let (install, built) = match engine {
            Engine::Afl => {
                build.args(["afl", "build"]);
                ("; it needs `cargo install --locked cargo-afl && cargo afl config --build`", target.clone())
            }
            // With `--target`, the flags do not apply to build scripts.
            Engine::Bolero => {
                build.args(["build", "--target", env!("UTFUZZ_TARGET")]).env("RUSTFLAGS", Self::BOLERO);
                ("; it needs a C++ compiler", target.join(env!("UTFUZZ_TARGET")))
            }
            _ => {
                build.arg("build");
                ("", target.clone())
            }
        };
        build.args(["--quiet", "--release", "--features", name, "--bin", name, "--target-dir"]).arg(&target);
        let output = build.current_dir(&directory).stdin(Stdio::null()).output();
        let output = output.map_err(|error| Error::usage(format!("{}: {error}", directory.display())))?;
        if !output.status.success() {
            let text = String::from_utf8_lossy(&output.stderr);
            let error = text.lines().find(|line| line.starts_with("error")).unwrap_or_default();
            return Err(Error::usage(format!("fuzz/rivals: {name} cannot be built: {error}{install}")));
        }
        Ok(built.join("release").join(name))
    }

    /// Runs one program against one decoder: one process, which starts without inputs; AFL++ needs a seed, and gets one
    /// letter.
    fn run(&self, decoder: &dyn Decoder, engine: Engine, seed: u64, budget: Duration) -> Ended {
        let start = Instant::now();
        self.try_run(decoder, engine, seed, budget).unwrap_or_else(|error| Ended::failed(&error, start))
    }

    fn try_run(&self, decoder: &dyn Decoder, engine: Engine, seed: u64, budget: Duration) -> Result<Ended, Error> {
        let program = self.programs.get(&engine).ok_or_else(|| Error::usage("the program was not built"))?;
        let name = &*decoder.info().name;
        let scratch = tempfile::tempdir().map_err(|error| Error::io(&std::env::temp_dir(), &error))?;
        let scratch = scratch.path();
        let seconds = budget.as_secs().max(1).to_string();
        let seeds = scratch.join("seeds");
        let written = std::fs::create_dir(&seeds).and_then(|()| match engine {
            Engine::Afl => std::fs::write(seeds.join("a"), "a"),
            _ => Ok(()),
        });
        written.map_err(|error| Error::io(&seeds, &error))?;
        let mut command = Command::new(if engine == Engine::Afl { Path::new("cargo") } else { program });
        match engine {
            Engine::Afl => {
                command.args(["afl", "fuzz", "-V", &seconds, "-s", &seed.to_string(), "-i"]).arg(&seeds);
                command.arg("-o").arg(scratch).arg("--").arg(program).envs(Self::AFL.map(|name| (name, "1")));
                // cargo-afl looks for the AFL++ of the compiler that is selected in this directory.
                command.current_dir(&self.directory);
            }
            Engine::Bolero => {
                command.current_dir(scratch);
                let (seeds, scratch) = (seeds.display(), scratch.display());
                let options = format!("-artifact_prefix={scratch}/ -seed={seed} -max_total_time={seconds}");
                command.env("BOLERO_LIBFUZZER_ARGS", format!("{seeds} {options} -print_final_stats=1"));
            }
            _ => {
                command.current_dir(scratch).env("UTFUZZ_SEED", seed.to_string()).env("UTFUZZ_SECONDS", &seconds);
            }
        }
        let start = Instant::now();
        let output = command.env(DECODERS, name).stdin(Stdio::null()).output();
        let output = output.map_err(|error| Error::io(program, &error))?;
        let elapsed = start.elapsed().as_secs_f64();
        let said = String::from_utf8_lossy(&output.stdout);
        let log = String::from_utf8_lossy(&output.stderr);
        let ended = match engine {
            Engine::Afl if said.contains(Self::SEED_CRASHES) || log.contains(Self::SEED_CRASHES) => {
                // The seed is what it found, by the first execution.
                let find = found_alone(program, decoder, &seeds.join("a"));
                Some(Ended { find: Some(find), executions: 1, seconds: 0.0 })
            }
            Engine::Afl => ended_afl(&scratch.join("default"), program, decoder, elapsed),
            _ => {
                let find = named(decoder, &said);
                let counted = field(&said, "executions: ").and_then(|count| count.parse().ok());
                let executions = counted.or_else(|| Log(&log).executions());
                let is_whole = find.is_some() || output.status.success();
                let seconds = field(&said, "seconds: ").and_then(|text| text.parse().ok()).unwrap_or(elapsed);
                executions.filter(|_| is_whole).map(|executions| Ended { find, executions, seconds })
            }
        };
        ended.ok_or_else(|| {
            let last = log.lines().chain(said.lines()).rev().take(3).collect::<Vec<_>>().join(" / ");
            Error::usage(format!("{} against {name}: {}: {last}", engine.name(), output.status))
        })
    }
}

/// What a run of AFL++ left in its directory. The name of a crash has the milliseconds and executions until then.
fn ended_afl(directory: &Path, program: &Path, decoder: &dyn Decoder, elapsed: f64) -> Option<Ended> {
    let crashes = std::fs::read_dir(directory.join("crashes")).ok()?.filter_map(Result::ok);
    let mut crashes = crashes.filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())));
    let Some((name, path)) = crashes.find(|(name, _)| name.starts_with("id:")) else {
        let stats = std::fs::read_to_string(directory.join("fuzzer_stats")).ok()?;
        let executions =
            field(&stats, "execs_done").and_then(|text| text.trim_start_matches([' ', ':']).parse().ok())?;
        return Some(Ended { find: None, executions, seconds: elapsed });
    };
    let part = |key: &str| name.split(',').find_map(|part| part.strip_prefix(key)?.parse::<u64>().ok());
    let (executions, milliseconds) = (part("execs:")?, part("time:")?);
    let find = Some(found_alone(program, decoder, &path));
    Some(Ended { find, executions, seconds: milliseconds as f64 / 1000.0 })
}

/// What a program finds on the input in this file. Outside AFL++, it reads one input, and says what is wrong.
fn found_alone(program: &Path, decoder: &dyn Decoder, file: &Path) -> Find {
    let output = File::open(file)
        .and_then(|input| Command::new(program).env(DECODERS, &*decoder.info().name).stdin(input).output());
    let said = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    named(decoder, &said).unwrap_or_else(|| Find::Violation("crash".into()))
}

/// The rest of the line that begins with `key`.
fn field<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(key)).map(str::trim)
}

/// What a program of `fuzz/rivals` said of the input it found, with the signature that the judge gives to that input.
fn named(decoder: &dyn Decoder, said: &str) -> Option<Find> {
    let violation = field(said, "violation: ")?;
    let signature = || {
        let digits = field(said, "input: ")?;
        let pairs = (0..digits.len() / 2).map(|at| digits.get(2 * at..2 * at + 2));
        let bytes = pairs.map(|pair| u8::from_str_radix(pair?, 16).ok()).collect::<Option<Vec<u8>>>()?;
        let chunk = field(said, "chunk: ")?.parse().ok()?;
        let ledger = Ledger::default();
        let mut session = Session::new([decoder], &ledger);
        let shown = session.judge(&Case::with_cuts(&bytes, Cuts::every(chunk, bytes.len())));
        shown.first()?.signature().cloned()
    };
    Some(signature().map_or_else(|| Find::Violation(violation.to_owned()), Find::Signature))
}

/// What an engine reported.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Find {
    /// A signature.
    Signature(Signature),
    /// A signature, as a target prints it.
    Token(String),
    /// A violation of the naive property, for which the judge has no signature.
    Violation(String),
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
            Self::Failure(_) | Self::Violation(_) => return false,
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
            Self::Violation(what) => write!(f, "without a signature: {what}"),
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
            // A thread of the judge has no name. How often it asks is a matter of chance.
            if asked.len() < 20_000 && std::thread::current().name().is_some() {
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
            assert!(run_embedded(&spy, engine, 1, Duration::from_secs(2)).find.is_none());
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
    fn what_a_rival_found_is_named_by_the_judge() {
        let decoders = crate::peers::all();
        let decoder = decoders.iter().find(|decoder| decoder.info().name == "planted-surrogates").unwrap();
        let said = |input: &str| format!("violation: validity\ninput: {input}\nchunk: 64\nexecutions: 7\n");
        let find = named(&**decoder, &said("61EDA080")).unwrap();
        assert!(find.to_string().starts_with("verdict/planted-surrogates/surrogate/"), "{find}");
        for input in ["61", "6", "+1", ""] {
            assert_eq!(named(&**decoder, &said(input)), Some(Find::Violation("validity".into())), "{input}");
        }
        assert_eq!(named(&**decoder, "executions: 7\n"), None);
    }

    #[test]
    fn a_rival_that_cannot_be_built_is_left_out_and_named() {
        let (rivals, left_out) = Rivals::build(Path::new("no such directory"), &[Engine::Plain, Engine::Afl]);
        assert!(rivals.programs.is_empty());
        assert_eq!(left_out.iter().map(|out| out.engine).collect::<Vec<_>>(), [Engine::Afl]);
        assert!(left_out[0].why.contains("no such directory"), "{left_out:?}");
    }

    #[test]
    fn what_afl_left_is_read() {
        let decoders = crate::peers::all();
        let decoder = &*decoders[0];
        let left = tempfile::tempdir().unwrap();
        let ended = || ended_afl(left.path(), Path::new("no program"), decoder, 5.0);
        assert!(ended().is_none());
        std::fs::create_dir(left.path().join("crashes")).unwrap();
        std::fs::write(left.path().join("fuzzer_stats"), "run_time          : 5\nexecs_done        : 815\n").unwrap();
        let missed = ended().unwrap();
        assert_eq!((missed.find, missed.executions, missed.seconds), (None, 815, 5.0));
        let crash = "crashes/id:000000,sig:06,src:000000,time:983,execs:577,op:havoc,rep:14";
        std::fs::write(left.path().join(crash), "a").unwrap();
        let caught = ended().unwrap();
        assert_eq!((caught.executions, caught.seconds), (577, 0.983));
        assert_eq!(caught.find, Some(Find::Violation("crash".into())));
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
