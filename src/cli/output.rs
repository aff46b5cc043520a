//! The result of a subcommand, and where its output goes: standard output, standard error, and files that are written
//! completely or not at all.

pub(super) use crate::cli::progress::Bar;

use crate::cli::terminal::is_quiet;
use crate::error::Error;
use crate::io::temporary_beside;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tempfile::NamedTempFile;

/// The verdict of a subcommand that ran to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Clean,
    Diverged,
    /// Input is ill-formed.
    IllFormed,
    /// The user interrupted it before it found anything new.
    Interrupted,
}

/// The usage or environment error because of which a subcommand has no verdict.
pub(super) struct Failure(pub(super) Error);

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

/// [`StandardOutput`] does not fail while a subcommand runs, so this is a report that cannot be serialised.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self(Error::io(Path::new("standard output"), &error))
    }
}

/// The exit status of a new divergence and of ill-formed input.
pub(super) const DIVERGED: u8 = 1;
/// The exit status of an interrupted command, as shells have it: 128 plus the number of the signal.
pub(super) const INTERRUPTED: u8 = 130;

pub(super) fn fail(message: impl std::fmt::Display) -> ExitCode {
    // The exit status does not change if standard error is closed.
    let _ = writeln!(io::stderr(), "utfuzz: {message}");
    ExitCode::from(2)
}

pub(super) fn note(message: &str) {
    if !is_quiet() {
        let _ = writeln!(io::stderr(), "note: {message}");
    }
}

/// Sets `stop` at the first ^C or SIGTERM; the second ends the process.
pub(super) fn stop_when_interrupted(stop: &Arc<AtomicBool>) {
    #[cfg(unix)]
    {
        use signal_hook::consts::{SIGINT, SIGTERM};
        use signal_hook::flag;
        for (signal, status) in [(SIGINT, INTERRUPTED), (SIGTERM, INTERRUPTED - 2 + 15)] {
            // If a handler cannot be installed, the signal ends the process as usual.
            let _ = flag::register_conditional_shutdown(signal, status.into(), Arc::clone(stop))
                .and_then(|_| flag::register(signal, Arc::clone(stop)));
        }
    }
    #[cfg(not(unix))]
    let _ = stop;
}

/// Standard output. Writing to it never fails: after the first error nothing more is written, and the subcommand
/// continues to its verdict.
pub(super) struct StandardOutput {
    out: BufWriter<Box<dyn Write>>,
    error: Option<io::Error>,
}

impl StandardOutput {
    pub(super) fn open() -> Self {
        Self { out: BufWriter::new(standard_output()), error: None }
    }

    /// Whether nothing more can be written.
    pub(super) fn is_closed(&self) -> bool {
        self.error.is_some()
    }

    /// Writes what is buffered. Returns why not all of the output was written, unless its reader closed it.
    pub(super) fn finish(mut self) -> Option<io::Error> {
        let _ = self.flush();
        self.error.filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
    }
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.error.is_none() {
            self.error = self.out.write_all(bytes).err();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.error.is_none() {
            self.error = self.out.flush().err();
        }
        Ok(())
    }
}

/// Standard output as a file, since `std::io::Stdout` searches everything for its last line feed.
fn standard_output() -> Box<dyn Write> {
    #[cfg(unix)]
    if let Ok(descriptor) = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned() {
        return Box::new(File::from(descriptor));
    }
    Box::new(io::stdout().lock())
}

/// A file that appears at its path only when it is complete.
pub(super) struct OutputFile {
    path: PathBuf,
    sink: Sink,
}

enum Sink {
    TempFile(NamedTempFile),
    /// A pipe or a device is written to directly.
    Direct(File),
}

impl OutputFile {
    /// Starts writing the file at `path`.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn create(path: &Path) -> Result<Self, Error> {
        let wrong = |error: io::Error| Error::io(path, &error);
        let place = fs::canonicalize(path).unwrap_or_else(|_| behind_dangling_links(path));
        let before = match fs::metadata(&place) {
            Ok(before) => Some(before),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(wrong(error)),
        };
        if before.is_some() {
            let opened = File::options().write(true).open(&place).map_err(wrong)?;
            if before.as_ref().is_some_and(|before| !before.is_file()) {
                return Ok(Self { path: path.to_owned(), sink: Sink::Direct(opened) });
            }
        }
        // The lock is held until the name is stored, so that a signal handler finds and removes the file.
        let mut unfinished = unfinished();
        let file = temporary_beside(&place)?;
        *unfinished = Some(file.path().to_owned());
        drop(unfinished);
        if let Some(before) = before {
            file.as_file().set_permissions(before.permissions()).map_err(wrong)?;
        }
        #[cfg(unix)]
        clean_up_on_signals().map_err(wrong)?;
        Ok(Self { path: place, sink: Sink::TempFile(file) })
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// The file cannot be written, for example because the disk is full.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = match &mut self.sink {
            Sink::TempFile(file) => file.write_all(bytes),
            Sink::Direct(file) => file.write_all(bytes),
        };
        written.map_err(|error| Error::io(&self.path, &error))
    }

    /// Moves the file to its path.
    ///
    /// # Errors
    /// That is not possible; the old file is unchanged.
    pub(super) fn finish(self) -> Result<(), Error> {
        let Sink::TempFile(file) = self.sink else { return Ok(()) };
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

/// The path to which dangling symbolic links lead, where nothing exists; the path itself if something exists there.
fn behind_dangling_links(path: &Path) -> PathBuf {
    /// Opening a path that leads through more links is an error.
    const LINKS: usize = 40;
    let mut place = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&place) {
            Ok(target) if fs::metadata(&place).is_err() => {
                place = place.parent().unwrap_or(Path::new("")).join(target);
            }
            _ => break,
        }
    }
    place
}

/// Makes a write beyond the limit on the size of files fail, instead of ending the process.
pub(super) fn survive_the_file_size_limit() {
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}

/// The file to remove when a signal ends the process.
fn unfinished() -> MutexGuard<'static, Option<PathBuf>> {
    static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Installs handlers that remove the unfinished file when a signal ends the process.
#[cfg(unix)]
fn clean_up_on_signals() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
    std::thread::Builder::new().spawn(move || {
        if let Some(signal) = signals.forever().next() {
            // The lock is held until the process ends, so that no file is moved to its path any more.
            let unfinished = unfinished();
            if let Some(path) = &*unfinished {
                let _ = fs::remove_file(path);
            }
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    })?;
    Ok(())
}
