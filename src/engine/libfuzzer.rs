//! The fuzz targets under `fuzz/`, built by cargo-fuzz and run as processes.

use crate::error::Error;
use crate::text::shown;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Built targets.
#[derive(Clone, Debug)]
pub struct Targets {
    directory: PathBuf,
}

impl Targets {
    /// Builds these targets; `root` is the directory `fuzz/` lies in. Where this program has the planted decoders, they
    /// have too.
    ///
    /// # Errors
    /// cargo-fuzz is not there, or the build fails.
    pub fn build(root: &Path, names: &[&str]) -> Result<Self, Error> {
        let fuzz = root.join("fuzz");
        if !fuzz.join("Cargo.toml").is_file() {
            let path = shown(&fuzz);
            return Err(Error::usage(format!(
                "{path}: no fuzz targets here; run this from the root of the repository"
            )));
        }
        let planted: &[&str] = if cfg!(feature = "planted") { &["--features", "planted"] } else { &[] };
        for name in names {
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

    /// The program of a target.
    pub fn program(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    /// Targets that lie in this directory already.
    #[cfg(all(test, feature = "planted"))]
    pub(crate) fn in_directory(directory: PathBuf) -> Self {
        Self { directory }
    }
}
