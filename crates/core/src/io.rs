//! Files that are written completely or not at all; and reading without waiting, whatever is at a path.

use crate::error::Error;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
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
    builder.tempfile_in(directory).map_err(|error| {
        // The message of `error` contains the temporary name.
        let plain = directory.metadata().err().unwrap_or_else(|| error.kind().into());
        Error::io(path, &plain)
    })
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
    match read_regular(path) {
        Ok(existing) => return Ok(existing == bytes),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(Error::io(path, &error)),
    }
    match filled(path, bytes)?.persist_noclobber(path) {
        Ok(_) => Ok(true),
        // Another process has created it meanwhile.
        Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => {
            let existing = read_regular(path).map_err(|error| Error::io(path, &error))?;
            Ok(existing == bytes)
        }
        Err(error) => Err(Error::io(path, &error.error)),
    }
}

/// A new empty file at `path`, for a process to write to. It takes the place of what was there, without following a
/// symbolic link.
///
/// # Errors
/// The directory does not exist or cannot be written, or `path` is a directory.
pub fn fresh_file(path: &Path) -> Result<File, Error> {
    temporary_beside(path)?.persist(path).map_err(|error| Error::io(path, &error.error))
}

/// A file that cannot be locked again while this one is open, in this process or another; it is created if it does not exist. `None` if
/// it is locked. A symbolic link is not followed.
///
/// # Errors
/// It cannot be opened or locked.
pub fn lock_file(path: &Path) -> Result<Option<File>, Error> {
    let file = at_once(OpenOptions::new().create(true).truncate(false).write(true), false).open(path);
    let file = file.map_err(|error| Error::io(path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(std::fs::TryLockError::WouldBlock) => Ok(None),
        Err(std::fs::TryLockError::Error(error)) => Err(Error::io(path, &error)),
    }
}

/// Reads a regular file. It does not wait for anything else, such as a pipe that nobody writes to.
///
/// # Errors
/// It cannot be read, or is not a regular file.
pub fn read_regular(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = at_once(OpenOptions::new().read(true), true).open(path)?;
    let mut bytes = Vec::new();
    match file.metadata()? {
        kind if kind.is_file() => file.read_to_end(&mut bytes).map(|_| bytes),
        kind if kind.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        _ => Err(io::Error::other("not a regular file")),
    }
}

/// The same options, changed so that opening a pipe does not wait for its other end, and a symbolic link is followed only
/// if `follow`.
fn at_once(options: &mut OpenOptions, follow: bool) -> &mut OpenOptions {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(libc::O_NONBLOCK | if follow { 0 } else { libc::O_NOFOLLOW });
    }
    #[cfg(not(unix))]
    let _ = follow;
    options
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
            let created = directory.path().join("created");
            create_file(&created, b"").unwrap();
            assert_eq!(mode(&created), mode(&plain));
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
    #[cfg(unix)]
    fn logs_and_locks_do_not_follow_links() {
        use std::io::Write;
        let directory = tempfile::tempdir().unwrap();
        let (victim, log) = (directory.path().join("victim"), directory.path().join("fuzz.log"));
        fs::write(&victim, "untouched").unwrap();
        std::os::unix::fs::symlink("victim", &log).unwrap();
        assert!(lock_file(&log).is_err());
        fresh_file(&log).unwrap().write_all(b"line").unwrap();
        assert_eq!((fs::read(&victim).unwrap(), fs::read(&log).unwrap()), (b"untouched".to_vec(), b"line".to_vec()));
        let held = lock_file(&log).unwrap();
        assert!(held.is_some() && lock_file(&log).unwrap().is_none());
        drop(held);
        assert!(lock_file(&log).unwrap().is_some());
        assert_eq!(fs::read(&log).unwrap(), b"line");
    }

    #[test]
    #[cfg(unix)]
    fn nothing_waits_for_a_pipe() {
        let directory = tempfile::tempdir().unwrap();
        let pipe = directory.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        let (sent, received) = std::sync::mpsc::channel();
        let (path, folder) = (pipe.clone(), directory.path().to_owned());
        std::thread::spawn(move || {
            let text = |error: &dyn std::fmt::Display| error.to_string();
            let created = create_file(&path, b"").map_err(|error| text(&error));
            let read = read_regular(&path).map_err(|error| text(&error)).map(|_| true);
            let folder = read_regular(&folder).map_err(|error| text(&error)).map(|_| true);
            let locked = lock_file(&path).map_err(|error| text(&error)).map(|_| true);
            sent.send([created, read, folder, locked]).unwrap();
        });
        let wait = std::time::Duration::from_secs(10);
        for refused in received.recv_timeout(wait).expect("it waits for the pipe") {
            assert!(refused.is_err());
        }
    }

    #[test]
    fn a_file_that_two_write_is_always_whole() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("report.json");
        let contents = [vec![b'a'; 1 << 16], vec![b'b'; 1 << 17]];
        replace_file(&path, &contents[0]).unwrap();
        std::thread::scope(|scope| {
            for content in &contents {
                scope.spawn(|| (0..50).for_each(|_| replace_file(&path, content).unwrap()));
            }
            for _ in 0..200 {
                let read = fs::read(&path).unwrap();
                assert!(contents.contains(&read), "{} bytes", read.len());
            }
        });
        assert_eq!(names(directory.path()), ["report.json"]);
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
