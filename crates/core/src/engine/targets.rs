//! The fuzz targets: their list, the options they run with, building them with cargo-fuzz, running them as processes,
//! and reading what libFuzzer logs.
//!
//! The engines and the nightly run read this list; `tests/targets.rs` compares `fuzz/`, the workflows, ClusterFuzzLite,
//! `.ci/targets` and `docs/fuzzing.md` with it.

use crate::engine::fuzz::{DECODERS, FOUND_AFTER};
use crate::error::Error;
use crate::generate::input_file::Form;
use crate::text::shown;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A program under `fuzz/fuzz_targets`.
#[derive(Clone, Copy, Debug)]
pub struct FuzzTarget {
    /// The name of the program, its source file and its directory of artifacts.
    pub name: &'static str,
    /// The form of its input files.
    pub form: Form,
    /// The directories with its seeds, below the root of the repository; the first is packaged for ClusterFuzzLite.
    pub seeds: &'static [&'static str],
    /// Whether it is a baseline for measurements. Such a target is not run to find faults (in CI, in the nightly run,
    /// or by ClusterFuzzLite), and it keeps cargo-fuzz's defaults: traced comparisons, and the counters of the code.
    pub is_yardstick: bool,
}

impl FuzzTarget {
    /// Whether the crate in this directory has this target.
    pub fn is_in(&self, fuzz: &Path) -> bool {
        fuzz.join("fuzz_targets").join(self.name).with_extension("rs").is_file()
    }
}

/// Every target.
pub const ALL: [FuzzTarget; 7] = [
    DIFFERENTIAL,
    FuzzTarget { name: "relatives", form: Form::Bytes, seeds: &["corpus/relatives", REGRESSIONS], is_yardstick: false },
    FuzzTarget { name: "streaming", form: Form::Cut, seeds: &["corpus/streaming"], is_yardstick: false },
    // These two use the bytes of any file as entropy.
    FuzzTarget { name: "structured", form: Form::Structured, seeds: &[SEEDS], is_yardstick: false },
    FuzzTarget { name: "roundtrip", form: Form::Conversion, seeds: &[SEEDS], is_yardstick: false },
    PLAIN,
    FuzzTarget { name: "baseline", form: Form::Bytes, seeds: &[SEEDS], is_yardstick: true },
];

/// The main target.
pub const DIFFERENTIAL: FuzzTarget =
    FuzzTarget { name: "differential", form: Form::Bytes, seeds: &[SEEDS, REGRESSIONS], is_yardstick: false };

/// The same judge with libFuzzer's own mutations and code coverage.
pub const PLAIN: FuzzTarget = FuzzTarget { name: "plain", form: Form::Bytes, seeds: &[SEEDS], is_yardstick: true };

const SEEDS: &str = "corpus/differential";
const REGRESSIONS: &str = "corpus/regressions";

/// The targets that are run to find faults.
pub fn fuzzed() -> impl Iterator<Item = FuzzTarget> {
    ALL.into_iter().filter(|target| !target.is_yardstick)
}

/// With what the targets are built to find invalid accesses of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sanitizer {
    /// AddressSanitizer.
    #[default]
    Address,
    /// Nothing but the guard pages of the judge.
    None,
}

impl Sanitizer {
    /// Its name, as cargo-fuzz spells it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Address => "address",
            Self::None => "none",
        }
    }
}

/// Targets that have been built.
#[derive(Clone, Debug)]
pub struct Programs {
    directory: PathBuf,
}

impl Programs {
    /// Builds these targets of the crate in the directory `fuzz`. Our own include the planted decoders if this program
    /// does.
    ///
    /// # Errors
    /// cargo-fuzz is not installed, or the build fails.
    pub fn build(
        fuzz: &Path,
        targets: impl IntoIterator<Item = FuzzTarget>,
        sanitizer: Sanitizer,
    ) -> Result<Self, Error> {
        let manifest = std::fs::read_to_string(fuzz.join("Cargo.toml")).map_err(|_| {
            let path = shown(fuzz);
            Error::usage(format!("{path}: no fuzz targets here; run this where fuzz/ is, or name it with --fuzz-dir"))
        })?;
        let has_planted = cfg!(feature = "planted") && manifest.contains("\nplanted = ");
        let planted: &[&str] = if has_planted { &["--features", "planted"] } else { &[] };
        let fuzz = std::path::absolute(fuzz).map_err(|error| Error::io(fuzz, &error))?;
        // Not the directory that CARGO_TARGET_DIR names, which other builds share.
        let directory = fuzz.join("target");
        // Two builds in one directory would build everything anew in turn.
        let directory = if sanitizer == Sanitizer::None { directory.join(sanitizer.name()) } else { directory };
        let rustc = Command::new("rustc").arg("--version").current_dir(&fuzz).stdin(Stdio::null()).output();
        let is_nightly = rustc.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains("nightly"));
        for FuzzTarget { name, is_yardstick, .. } in targets {
            let mut build = Command::new("cargo");
            build.args(["fuzz", "build", "--sanitizer", sanitizer.name(), "--fuzz-dir"]).arg(&fuzz);
            build.arg("--target-dir").arg(&directory);
            build.current_dir(&fuzz);
            if !is_yardstick {
                build.arg("--no-trace-compares");
            }
            // Targets need options that only a nightly compiler has.
            if !is_nightly {
                build.env("RUSTUP_TOOLCHAIN", "nightly");
            }
            let built = build.args(planted).arg(name).stdin(Stdio::null()).status();
            let built = built.map_err(|error| Error::usage(format!("cargo: {error}; install Rust")))?;
            if !built.success() {
                return Err(Error::usage(format!(
                    "cargo fuzz build {name} failed ({built}); it needs a nightly toolchain and `cargo install --locked \
                     cargo-fuzz`"
                )));
            }
        }
        Ok(Self { directory: directory.join(env!("UTFUZZ_TARGET")).join("release") })
    }

    /// Targets that were built into this directory.
    pub fn in_directory(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// The program of a target.
    pub fn program(&self, target: &FuzzTarget) -> PathBuf {
        self.directory.join(target.name)
    }

    /// The command that runs a target on the decoders that this filter selects, or on all of the target's decoders if
    /// it is empty. Inputs on which it crashes are written to the directory `artifacts`. The caller adds the corpora
    /// and further libFuzzer options.
    pub fn command(&self, target: &FuzzTarget, decoders: &str, artifacts: &Path) -> Command {
        let mut command = Command::new(self.program(target));
        command
            .env(DECODERS, decoders)
            // Symbolizing the frames of a crash takes longer than finding most faults.
            .env("ASAN_OPTIONS", "symbolize=0")
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            .args(options(target))
            .stdin(Stdio::null());
        command
    }
}

/// libFuzzer's options for a target. The yardsticks, `plain` and `baseline`, have none.
///
/// libFuzzer's own limit for the length of inputs is 4096 bytes without a corpus, which some counters and buffers exceed. Our
/// mutators keep most inputs short by themselves; libFuzzer's would not. For the other forms, which are entropy, its limit is
/// kept.
pub fn options(target: &FuzzTarget) -> Vec<String> {
    /// The longest input in bytes.
    const LONGEST: usize = 1 << 20;
    match target.form {
        Form::Bytes | Form::Cut if !target.is_yardstick => {
            vec![format!("-max_len={LONGEST}"), "-len_control=0".into()]
        }
        _ => Vec::new(),
    }
}

/// What a target printed to standard error.
pub struct Log<'a>(pub &'a str);

impl Log<'_> {
    /// The signature of the divergence that ended it; for any other crash, the deduplication token of the sanitizer.
    pub fn token(&self) -> Option<&str> {
        self.after("DEDUP_TOKEN: ")
    }

    /// The error that AddressSanitizer reported.
    pub fn sanitizer_error(&self) -> Option<&str> {
        self.after("ERROR: AddressSanitizer: ")?.split_whitespace().next()
    }

    /// The seconds from the first input until the divergence was found, without the start of the process.
    pub fn seconds(&self) -> Option<f64> {
        self.after(FOUND_AFTER)?.parse().ok()
    }

    /// The number of executions: the final count, which `-print_final_stats=1` prints, or else the last one in the log.
    pub fn executions(&self) -> Option<u64> {
        let last = || {
            let count = |line: &str| line.strip_prefix('#')?.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok();
            self.0.lines().filter_map(count).max()
        };
        self.after("stat::number_of_executed_units:").and_then(|count| count.parse().ok()).or_else(last)
    }

    fn after(&self, mark: &str) -> Option<&str> {
        self.0.lines().find_map(|line| Some(line.split_once(mark)?.1.trim()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read() {
        let caught = Log("#2 INITED\nDEDUP_TOKEN: verdict/d/surrogate/anywhere\nstat::number_of_executed_units: 44\n");
        assert_eq!((caught.token(), caught.sanitizer_error()), (Some("verdict/d/surrogate/anywhere"), None));
        assert_eq!((caught.executions(), caught.seconds()), (Some(44), None));
        assert_eq!(Log("x\nFOUND_AFTER: 0.25\n").seconds(), Some(0.25));
        let crash =
            Log("==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x5 at\nDEDUP_TOKEN: read--main\n");
        assert_eq!((crash.token(), crash.sanitizer_error()), (Some("read--main"), Some("heap-buffer-overflow")));
        assert_eq!(crash.executions(), None);
        assert_eq!(Log("#7: cov: 3\n#512\tpulse\n#20 x\n").executions(), Some(512));
    }
}
