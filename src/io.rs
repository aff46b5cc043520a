//! Files that are written completely or not at all.

use crate::error::Error;
use std::io::{self, Write};
use std::path::Path;
use tempfile::{Builder, NamedTempFile};

/// An empty file with a random hidden name in the directory of `path`. It is removed when dropped, and
/// [`persist`](NamedTempFile::persist) renames it to `path`. Its permissions follow the umask.
///
/// # Errors
/// The directory does not exist or cannot be written.
pub fn temporary_beside(path: &Path) -> Result<NamedTempFile, Error> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    // Files whose name begins with a dot are never read as inputs.
    let mut builder = Builder::new();
    builder.prefix(".utfuzz-");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(directory).map_err(|error| Error::io(path, &error))
}

/// Replaces or creates a file atomically: readers see either the old or the new content, even after a crash. If `path`
/// is a symbolic link, the link itself is replaced.
///
/// # Errors
/// The file cannot be written; the old content is unchanged.
pub fn replace_file(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let file = filled(path, bytes)?;
    file.persist(path).map(|_| ()).map_err(|error| Error::io(path, &error.error))
}

/// Creates a file atomically, and never changes an existing one. True if the file now has this content.
///
/// # Errors
/// The file cannot be written, or the existing one cannot be read.
pub fn create_file(path: &Path, bytes: &[u8]) -> Result<bool, Error> {
    match std::fs::read(path) {
        Ok(existing) => return Ok(existing == bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(Error::io(path, &error)),
    }
    match filled(path, bytes)?.persist_noclobber(path) {
        Ok(_) => Ok(true),
        // Another process has created it meanwhile.
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
            let existing = std::fs::read(path).map_err(|error| Error::io(path, &error))?;
            Ok(existing == bytes)
        }
        Err(error) => Err(Error::io(path, &error.error)),
    }
}

fn filled(path: &Path, bytes: &[u8]) -> Result<NamedTempFile, Error> {
    let mut file = temporary_beside(path)?;
    let written = file.write_all(bytes).and_then(|()| file.as_file().sync_all());
    written.map_err(|error| Error::io(path, &error))?;
    Ok(file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = entries.collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report.json");
        replace_file(&path, b"old").unwrap();
        let open = fs::File::open(&path).unwrap();
        replace_file(&path, b"new").unwrap();
        // A reader that opened the old file still reads all of it.
        #[cfg(unix)]
        assert_eq!(io::read_to_string(open).unwrap(), "old");
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(directory.path()), ["report.json"]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let plain = directory.path().join("plain");
            fs::write(&plain, "").unwrap();
            let mode = |path: &Path| path.metadata().unwrap().permissions().mode();
            assert_eq!(mode(&path), mode(&plain));
        }
    }

    #[test]
    #[cfg(unix)]
    fn links_are_not_followed() {
        let directory = tempfile::tempdir().unwrap();
        let victim = directory.path().join("victim");
        fs::write(&victim, "untouched").unwrap();
        let path = directory.path().join("report.json");
        for link in ["report.json", "report.json.new"] {
            std::os::unix::fs::symlink("victim", directory.path().join(link)).unwrap();
        }
        replace_file(&path, b"report").unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"untouched");
        assert!(path.symlink_metadata().unwrap().is_file());
    }

    #[test]
    fn an_existing_file_is_not_changed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("witness");
        assert!(create_file(&path, b"a").unwrap());
        assert!(create_file(&path, b"a").unwrap());
        assert!(!create_file(&path, b"b").unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"a");
        assert_eq!(names(directory.path()), ["witness"]);
    }

    #[test]
    fn an_error_names_the_path_and_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let taken = directory.path().join("taken");
        fs::create_dir_all(taken.join("x")).unwrap();
        let error = replace_file(&taken, b"").unwrap_err().to_string();
        assert!(error.contains("taken: ") && error.contains("expected a file"), "{error}");
        let error = replace_file(&taken.join("no/file"), b"").unwrap_err().to_string();
        assert!(error.contains("no/file: ") && error.contains("check the path"), "{error}");
        assert_eq!(names(directory.path()), ["taken"]);
        assert_eq!(names(&taken), ["x"]);
    }
}
