//! How far a night has come, in a file that is replaced as a whole.

use crate::error::Error;
use crate::io::replace_file;
use crate::report::findings;
use crate::text::shown;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// How far a night has come.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct State {
    /// When it began, seconds since 1970; what it is known by.
    pub(super) started: u64,
    pub(super) targets: BTreeMap<String, Done>,
    /// Signatures that were new this night.
    pub(super) new: BTreeSet<String>,
    #[serde(skip)]
    path: PathBuf,
    /// Held as long as this is; the system lets go of it when the process ends, however it ends.
    #[serde(skip)]
    _lock: Option<fs::File>,
}

/// One target's part.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Done {
    /// Seconds it has run.
    pub(super) seconds: f64,
    pub(super) executions: u64,
    /// Executions of runs that have ended; the rest is of the last one.
    pub(super) before: u64,
    pub(super) corpus: u64,
    pub(super) merged: bool,
    /// The process group that runs it, while it does.
    pub(super) group: Option<u32>,
}

impl Done {
    pub(super) fn told(&self, name: &str) -> findings::Target {
        findings::Target { name: name.into(), seconds: self.seconds, executions: self.executions, corpus: self.corpus }
    }
}

impl State {
    /// The state of the night in this directory; of a new one where none was broken off.
    ///
    /// # Errors
    /// It cannot be read or written.
    pub(super) fn open(directory: &Path) -> Result<Self, Error> {
        let path = directory.join("state.json");
        let lock = Some(locked(&directory.join("lock"))?);
        // Only this program writes it, in one step: what cannot be understood is of another version.
        if let Some(state) = fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Self>(&text).ok()) {
            return Ok(Self { path, _lock: lock, ..state });
        }
        let started = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let state = Self { started, targets: BTreeMap::new(), new: BTreeSet::new(), path, _lock: lock };
        state.save()?;
        Ok(state)
    }

    /// Writes it down.
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

/// A file that no other process can lock while this one has it.
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
