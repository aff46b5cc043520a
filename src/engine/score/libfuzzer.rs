//! The engines that are fuzz targets: one process for each run, from an empty corpus, read from its standard error.

use crate::engine::fuzz::{DECODERS, FEATURES};
use crate::engine::libfuzzer::Targets;
use crate::engine::score::embedded::Ended;
use crate::engine::score::{Engine, Find};
use crate::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// The targets that are engines.
pub(super) struct Engines(Targets);

impl Engines {
    /// Builds them, with the planted decoders.
    ///
    /// # Errors
    /// See [`Targets::build`].
    pub(super) fn build(root: &Path) -> Result<Self, Error> {
        Targets::build(root, &["plain", "differential"]).map(Self)
    }

    /// Runs one target against one decoder. A target that does not start, or ends by neither a divergence nor the time
    /// limit, has found nothing but that.
    pub(super) fn run(&self, decoder: &str, engine: Engine, seed: u64, budget: Duration) -> Ended {
        let start = Instant::now();
        self.try_run(decoder, engine, seed, budget).unwrap_or_else(|error| Ended {
            find: Some(Find::Failure(error.to_string())),
            executions: 0,
            seconds: start.elapsed().as_secs_f64(),
        })
    }

    fn try_run(&self, decoder: &str, engine: Engine, seed: u64, budget: Duration) -> Result<Ended, Error> {
        let target = self.0.program(if engine == Engine::Plain { "plain" } else { "differential" });
        let scratch = tempfile::tempdir().map_err(|error| Error::io(&std::env::temp_dir(), &error))?;
        let corpus = scratch.path().join("corpus");
        std::fs::create_dir(&corpus).map_err(|error| Error::io(&corpus, &error))?;
        let start = Instant::now();
        let output = Command::new(&target)
            .arg(&corpus)
            .arg(format!("-seed={seed}"))
            .arg(format!("-max_total_time={}", budget.as_secs().max(1)))
            .arg(format!("-artifact_prefix={}/", scratch.path().display()))
            .arg("-print_final_stats=1")
            .env(DECODERS, decoder)
            .env(FEATURES, features(engine))
            // Naming the frames of a crash takes longer than most catches.
            .env("ASAN_OPTIONS", "symbolize=0")
            .stdin(Stdio::null())
            .output()
            .map_err(|error| Error::io(&target, &error))?;
        let seconds = start.elapsed().as_secs_f64();
        let text = String::from_utf8_lossy(&output.stderr);
        let (find, executions) = read(&text);
        let (true, Some(executions)) = (find.is_some() || output.status.success(), executions) else {
            let last = text.lines().rev().take(3).collect::<Vec<_>>().join(" / ");
            return Err(Error::usage(format!("target against {decoder}: {}, no signature: {last}", output.status)));
        };
        Ok(Ended { find, executions, seconds })
    }
}

/// The behaviour features an engine goes by: all, unless the environment asks for some; code coverage alone.
fn features(engine: Engine) -> String {
    match engine {
        Engine::Behaviour => std::env::var(FEATURES).unwrap_or_default(),
        _ => "none".into(),
    }
}

/// What a target found, and after how many inputs.
fn read(stderr: &str) -> (Option<Find>, Option<u64>) {
    let behind = |mark: &str| stderr.lines().find_map(|line| Some(line.split_once(mark)?.1.trim().to_owned()));
    let token = behind("DEDUP_TOKEN: ").map(Find::Token);
    // Without a signature of ours it is the sanitizer's: the first word of its report.
    let sanitizer = || behind("ERROR: AddressSanitizer: ");
    let error = || Some(Find::Sanitizer(sanitizer()?.split_whitespace().next()?.to_owned()));
    let executions = behind("stat::number_of_executed_units:").and_then(|count| count.parse().ok());
    (token.filter(|find| matches!(find, Find::Token(token) if token.contains('/'))).or_else(error), executions)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_fails_is_a_find_that_says_so() {
        let nowhere = Engines(Targets::in_directory("no such directory".into()));
        let ended = nowhere.run("planted-s01", Engine::Plain, 1, Duration::from_secs(1));
        let find = ended.find.map(|find| find.to_string()).unwrap_or_default();
        assert!(find.starts_with("the run failed: ") && find.contains("no such directory"), "{find}");
    }

    #[test]
    fn a_report_is_read() {
        let caught =
            "#2 INITED\nDEDUP_TOKEN: verdict/planted-g12/surrogate/anywhere\nstat::number_of_executed_units: 44\n";
        assert_eq!(read(caught), (Some(Find::Token("verdict/planted-g12/surrogate/anywhere".into())), Some(44)));
        let sanitizer =
            "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x5 at\nDEDUP_TOKEN: read--main\n";
        assert_eq!(read(sanitizer), (Some(Find::Sanitizer("heap-buffer-overflow".into())), None));
        assert_eq!(read("Done 12 runs in 1 second(s)\nstat::number_of_executed_units: 12\n"), (None, Some(12)));
    }
}
