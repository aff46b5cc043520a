//! The fuzz targets under `fuzz/`, built by cargo-fuzz and run as processes.

use crate::engine::fuzz::DECODERS;
use crate::engine::targets::FuzzTarget;
use crate::error::Error;
use crate::text::shown;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Built targets.
#[derive(Clone, Debug)]
pub struct Programs {
    directory: PathBuf,
}

impl Programs {
    /// Builds these targets; `root` is the directory `fuzz/` lies in. They have the planted decoders if this program has.
    ///
    /// # Errors
    /// cargo-fuzz is not installed, or the build fails.
    pub fn build(root: &Path, targets: impl IntoIterator<Item = FuzzTarget>) -> Result<Self, Error> {
        let fuzz = root.join("fuzz");
        if !fuzz.join("Cargo.toml").is_file() {
            let path = shown(&fuzz);
            return Err(Error::usage(format!(
                "{path}: no fuzz targets here; run this from the root of the repository"
            )));
        }
        let planted: &[&str] = if cfg!(feature = "planted") { &["--features", "planted"] } else { &[] };
        for FuzzTarget { name, .. } in targets {
            let build = Command::new("cargo")
                .args(["fuzz", "build"])
                .args(planted)
                .arg(name)
                .current_dir(root)
                .stdin(Stdio::null())
                .status();
            let built = build.map_err(|error| Error::usage(format!("cargo: {error}; install Rust")))?;
            if !built.success() {
                return Err(Error::usage(format!(
                    "cargo fuzz build {name} failed ({built}); it needs `cargo install --locked cargo-fuzz`"
                )));
            }
        }
        Ok(Self { directory: fuzz.join("target").join(env!("UTFUZZ_TARGET")).join("release") })
    }

    /// Targets that were built into this directory.
    pub fn in_directory(directory: PathBuf) -> Self {
        Self { directory }
    }

    /// The program of a target.
    pub fn program(&self, target: &FuzzTarget) -> PathBuf {
        self.directory.join(target.name)
    }

    /// The command that runs a target on some decoders (a filter; all of the target's if it is empty). What it stops at
    /// is written to the directory `artifacts`. The corpora, and what else libFuzzer is to do, are for the caller to add.
    pub fn command(&self, target: &FuzzTarget, decoders: &str, artifacts: &Path) -> Command {
        let mut command = Command::new(self.program(target));
        command
            .env(DECODERS, decoders)
            // Naming the frames of a crash takes longer than most catches.
            .env("ASAN_OPTIONS", "symbolize=0")
            .arg(format!("-artifact_prefix={}/", artifacts.display()))
            .stdin(Stdio::null());
        command
    }
}

/// What a target printed to standard error.
pub struct Log<'a>(pub &'a str);

impl Log<'_> {
    /// The signature of the divergence it stopped at, or of another crash the sanitizer's token.
    pub fn token(&self) -> Option<&str> {
        self.after("DEDUP_TOKEN: ")
    }

    /// The error that AddressSanitizer reported.
    pub fn sanitizer_error(&self) -> Option<&str> {
        self.after("ERROR: AddressSanitizer: ")?.split_whitespace().next()
    }

    /// How many inputs were run: the final count, which `-print_final_stats=1` asks for, else the last on the way.
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
        assert_eq!(caught.executions(), Some(44));
        let crash =
            Log("==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x5 at\nDEDUP_TOKEN: read--main\n");
        assert_eq!((crash.token(), crash.sanitizer_error()), (Some("read--main"), Some("heap-buffer-overflow")));
        assert_eq!(crash.executions(), None);
        assert_eq!(Log("#7: cov: 3\n#512\tpulse\n#20 x\n").executions(), Some(512));
    }
}
