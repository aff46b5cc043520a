//! How far a night has got, in a file that is replaced as a whole.

use crate::error::Error;
use crate::io::replace_file;
use crate::text::shown;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// How far a night has got.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct State {
    /// When it began, in seconds since 1970; this identifies it.
    pub(super) started: u64,
    pub(super) targets: BTreeMap<String, Done>,
    /// Signatures that were new this night.
    pub(super) new: BTreeSet<String>,
    #[serde(skip)]
    path: PathBuf,
    /// Released by the system when the process ends, however it ends.
    #[serde(skip)]
    _lock: Option<fs::File>,
}

/// One target's part of a night.
#[derive(Clone, Debug)]
pub struct TargetRun {
    /// Its name.
    pub name: String,
    /// How long it ran, in seconds.
    pub seconds: f64,
    /// How many inputs it ran.
    pub executions: u64,
    /// How many files its corpus has now.
    pub corpus: u64,
}

/// One target's part, as it is saved.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Done {
    /// Seconds it has run.
    pub(super) seconds: f64,
    pub(super) executions: u64,
    /// Executions of runs that have ended; the others are of the current run.
    #[serde(alias = "before")]
    pub(super) prior_executions: u64,
    pub(super) corpus: u64,
    pub(super) merged: bool,
    /// The process group that runs it, while it does.
    pub(super) group: Option<u32>,
}

impl Done {
    pub(super) fn to_run(&self, name: &str) -> TargetRun {
        TargetRun { name: name.into(), seconds: self.seconds, executions: self.executions, corpus: self.corpus }
    }
}

impl State {
    /// The state of the night in this directory; of a new one where none was interrupted.
    ///
    /// # Errors
    /// It cannot be read or written.
    pub(super) fn open(directory: &Path) -> Result<Self, Error> {
        let path = directory.join("state.json");
        let lock = Some(locked(&directory.join("lock"))?);
        // Only this program writes it, and in one step: what cannot be parsed is of another version.
        if let Some(state) = fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Self>(&text).ok()) {
            return Ok(Self { path, _lock: lock, ..state });
        }
        let started = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let state = Self { started, targets: BTreeMap::new(), new: BTreeSet::new(), path, _lock: lock };
        state.save()?;
        Ok(state)
    }

    /// Saves it.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn save(&self) -> Result<(), Error> {
        replace_file(&self.path, &serde_json::to_vec_pretty(self).unwrap_or_default())
    }

    /// Ends the night in this directory.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub(super) fn forget(directory: &Path) -> Result<(), Error> {
        let path = directory.join("state.json");
        fs::remove_file(&path).map_err(|error| Error::io(&path, &error))
    }

    pub(super) fn of(&mut self, target: &str) -> &mut Done {
        self.targets.entry(target.into()).or_default()
    }
}

/// Creates a directory where it does not exist.
pub(super) fn make(directory: &Path) -> Result<(), Error> {
    fs::create_dir_all(directory).map_err(|error| Error::io(directory, &error))
}

/// A file that no other process can lock while this one holds it.
fn locked(path: &Path) -> Result<fs::File, Error> {
    let file = fs::File::create(path).map_err(|error| Error::io(path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(fs::TryLockError::WouldBlock) => {
            let path = shown(path);
            Err(Error::usage(format!("{path}: another night runs here; wait for it, or name another --state")))
        }
        Err(fs::TryLockError::Error(error)) => Err(Error::io(path, &error)),
    }
}
