//! Files and directories of inputs.

use crate::error::Error;
use crate::text::shown;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Reads one file of at most `most` bytes. No more than that is read of a device that never ends, either.
///
/// # Errors
/// It cannot be read, is a directory, or is longer.
pub fn read_file(path: &Path, most: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(most.saturating_add(1)).read_to_end(&mut bytes));
    read.map_err(|error| Error::io(path, &error))?;
    if bytes.len() as u64 > most {
        return Err(Error::usage(format!("{}: longer than the {most} bytes that are read", shown(path))));
    }
    Ok(bytes)
}

/// Every file below a directory, sorted by path, except through links to directories. Names that begin with a dot are
/// skipped: a file that is being written has one.
///
/// # Errors
/// A directory cannot be listed.
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
/// A path does not exist, or is a directory without `recursive`.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_allowed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), [0; 10]).unwrap();
        assert_eq!(read_file(file.path(), 10).unwrap().len(), 10);
        assert!(read_file(file.path(), 9).unwrap_err().to_string().contains("9 bytes"));
        #[cfg(unix)]
        assert!(read_file(Path::new("/dev/zero"), 100).is_err());
    }
}
