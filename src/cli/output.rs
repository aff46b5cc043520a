//! A file that is written whole or not at all.

use crate::error::Error;
use crate::io::temporary_beside;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::NamedTempFile;

/// A file on its way: written beside its place, and put there at the end.
pub(super) struct Output {
    path: PathBuf,
    file: Way,
}

enum Way {
    Beside(NamedTempFile),
    /// What is no regular file, such as a pipe or a device, is written as it comes.
    Through(File),
}

impl Output {
    /// Begins to write what is to be found at `path`.
    ///
    /// # Errors
    /// Nothing can be written there.
    pub(super) fn create(path: &Path) -> Result<Self, Error> {
        let wrong = |error: io::Error| Error::io(path, &error);
        // Behind a link is what is meant.
        let place = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let before = match fs::metadata(&place) {
            Ok(before) => Some(before),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(wrong(error)),
        };
        if before.is_some() {
            let opened = File::options().write(true).open(&place).map_err(wrong)?;
            if before.as_ref().is_some_and(|before| !before.is_file()) {
                return Ok(Self { path: path.to_owned(), file: Way::Through(opened) });
            }
        }
        // None may come between: what a signal finds here is removed.
        let mut unfinished = unfinished();
        let file = temporary_beside(&place)?;
        *unfinished = Some(file.path().to_owned());
        drop(unfinished);
        if let Some(before) = before {
            file.as_file().set_permissions(before.permissions()).map_err(wrong)?;
        }
        #[cfg(unix)]
        clean_up_on_signals().map_err(wrong)?;
        Ok(Self { path: place, file: Way::Beside(file) })
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// The disk is full, for one.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = match &mut self.file {
            Way::Beside(file) => file.write_all(bytes),
            Way::Through(file) => file.write_all(bytes),
        };
        written.map_err(|error| Error::io(&self.path, &error))
    }

    /// Puts the file in its place.
    ///
    /// # Errors
    /// That cannot be done; what was there before still is.
    pub(super) fn finish(self) -> Result<(), Error> {
        let Way::Beside(file) = self.file else { return Ok(()) };
        let mut unfinished = unfinished();
        let put = file
            .as_file()
            .sync_all()
            .map_err(|error| Error::io(&self.path, &error))
            .and_then(|()| file.persist(&self.path).map_err(|error| Error::io(&self.path, &error.error)));
        *unfinished = None;
        put.map(|_| ())
    }
}

/// The file that is to be removed where the process is ended.
fn unfinished() -> MutexGuard<'static, Option<PathBuf>> {
    static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Has a signal that ends the process remove the unfinished file first.
#[cfg(unix)]
fn clean_up_on_signals() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
    std::thread::Builder::new().spawn(move || {
        if let Some(signal) = signals.forever().next() {
            // Held to the end, so that nothing is put in place any more.
            let unfinished = unfinished();
            if let Some(path) = &*unfinished {
                let _ = fs::remove_file(path);
            }
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    })?;
    Ok(())
}
