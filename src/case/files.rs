//! Corpus files: exactly the bytes a decoder sees.

use crate::error::Error;
use crate::text::shown;
use std::fs;
use std::path::{Path, PathBuf};

/// Reads one file.
///
/// # Errors
/// It cannot be read, or is a directory.
pub fn read_file(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|error| Error::io(path, &error))
}

/// Every file below a directory, sorted by path. Links to directories, what is no file, and names that begin with a dot
/// (a file that is being written is named so) are passed over.
///
/// # Errors
/// A directory that cannot be listed.
pub fn files_below(directory: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    let mut directories = vec![directory.to_owned()];
    while let Some(directory) = directories.pop() {
        let entries = fs::read_dir(&directory).map_err(|error| Error::io(&directory, &error))?;
        for entry in entries {
            let entry = entry.map_err(|error| Error::io(&directory, &error))?;
            let path = entry.path();
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            let metadata = fs::metadata(&path).map_err(|error| Error::io(&path, &error))?;
            if metadata.is_file() {
                files.push(path);
            } else if metadata.is_dir() && !is_link {
                directories.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The files a user named: files as they are, directories only where `recursive` allows them.
///
/// # Errors
/// A path that does not exist; a directory without leave.
pub fn named_files(paths: &[PathBuf], recursive: bool) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for path in paths {
        let metadata = fs::metadata(path).map_err(|error| Error::io(path, &error))?;
        match (metadata.is_dir(), recursive) {
            (false, _) => files.push(path.clone()),
            (true, true) => files.extend(files_below(path)?),
            (true, false) => {
                return Err(Error::usage(format!(
                    "{} is a directory; add --recursive for every file below it",
                    shown(path)
                )));
            }
        }
    }
    Ok(files)
}
