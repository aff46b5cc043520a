//! The history of nights: an append-only file with one JSON object on each line.

use crate::error::Error;
use crate::io::read_regular;
use serde::{Deserialize, Serialize};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// The figures of one night.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Night {
    /// When it began, in seconds since 1970.
    pub started: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// The version of this crate.
    pub version: String,
    /// The number of executions of all targets.
    pub executions: u64,
    /// The number of files in their corpora.
    pub corpus: u64,
    /// The number of inputs that were triaged.
    pub inputs: u64,
    /// The number of clusters.
    pub clusters: u64,
    /// How many of these are new.
    pub new: u64,
    /// How many are regressions.
    pub regression: u64,
    /// How many are known.
    pub known: u64,
}

/// Reads the nights in the order of the file; none if the file does not exist. Invalid lines are skipped, since a
/// process may have been killed while it wrote one.
///
/// # Errors
/// The file cannot be read.
pub fn history(path: &Path) -> Result<Vec<Night>, Error> {
    let text = match read_regular(path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(Error::io(path, &error)),
    };
    Ok(text.split(|&byte| byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect())
}

/// Appends a night to a history file, on a new line even after an incomplete one, and syncs the file to disk.
///
/// # Errors
/// The file cannot be written.
pub fn append(path: &Path, night: &Night) -> Result<(), Error> {
    let written = || {
        let mut file = OpenOptions::new().create(true).read(true).append(true).open(path)?;
        let mut last = *b"\n";
        if file.seek(SeekFrom::End(0))? > 0 {
            file.seek(SeekFrom::End(-1))?;
            file.read_exact(&mut last)?;
        }
        let mut line = if last == *b"\n" { Vec::new() } else { vec![b'\n'] };
        serde_json::to_writer(&mut line, night)?;
        line.push(b'\n');
        file.write_all(&line)?;
        file.sync_all()
    };
    written().map_err(|error| Error::io(path, &error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn night(started: u64) -> Night {
        Night {
            started,
            seconds: 1.5,
            version: "0\n".into(),
            executions: 1,
            corpus: 2,
            inputs: 3,
            clusters: 6,
            new: 1,
            regression: 2,
            known: 3,
        }
    }

    #[test]
    fn an_incomplete_line_does_not_affect_others() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("history.jsonl");
        assert_eq!(history(&path).unwrap(), []);
        append(&path, &night(1)).unwrap();
        append(&path, &night(2)).unwrap();
        assert_eq!(history(&path).unwrap(), [night(1), night(2)]);
        let whole = std::fs::read(&path).unwrap();
        for end in 0..whole.len() {
            std::fs::write(&path, &whole[..end]).unwrap();
            append(&path, &night(3)).unwrap();
            let read = history(&path).unwrap();
            assert_eq!(read.last(), Some(&night(3)), "{end}");
            // A complete line is still there, whether or not its line feed was written.
            assert!(read.len() > usize::from(end + 1 >= whole.len() / 2), "{end}: {read:?}");
        }
        std::fs::write(&path, b"\xFF\n[1]\n{}\n\0\n").unwrap();
        append(&path, &night(4)).unwrap();
        assert_eq!(history(&path).unwrap(), [night(4)]);
        assert!(history(scratch.path()).is_err() && append(scratch.path(), &night(5)).is_err());
    }
}
