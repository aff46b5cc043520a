//! The list of fuzz targets. `fuzz/`, the workflows, ClusterFuzzLite, `.ci/targets` and `docs/fuzzing.md` are compared
//! with it by `tests/targets.rs`; the engines and the nightly run read it.

use crate::generate::input_file::Form;
use std::path::Path;

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
    /// or by ClusterFuzzLite), and it keeps cargo-fuzz's default tracing of comparisons.
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
