//! The error type for I/O, parsing and processes.
//!
//! Ill-formed input and divergences are values, never errors.

use crate::text::{printable, shown};
use core::fmt;
use std::io;
use std::path::Path;

/// An I/O, parse or usage error: one line that names the thing and the remedy.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

/// The kind of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A file or directory could not be read or written.
    Io,
    /// A text could not be parsed: hexadecimal, a vector file, the ledger.
    Parse,
    /// A request cannot be met: an unknown name, options that exclude each other.
    Usage,
}

impl Error {
    /// A failure to read or write `path`.
    pub fn io(path: &Path, error: &io::Error) -> Self {
        let remedy = match error.kind() {
            io::ErrorKind::NotFound => "; check the path",
            io::ErrorKind::PermissionDenied => "; check its permissions",
            io::ErrorKind::AlreadyExists => "; remove it, or name another",
            io::ErrorKind::InvalidData => "; expected text in UTF-8",
            io::ErrorKind::IsADirectory => "; expected a file, not a directory",
            io::ErrorKind::NotADirectory => "; expected a directory",
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "; free some space, then run it again",
            io::ErrorKind::FileTooLarge => "; raise the limit on the size of files",
            io::ErrorKind::ReadOnlyFilesystem => "; name a directory that can be written",
            _ => "",
        };
        Self { kind: ErrorKind::Io, message: one_line(format_args!("{}: {error}{remedy}", shown(path))) }
    }

    /// A text that cannot be parsed.
    pub fn parse(message: impl fmt::Display) -> Self {
        Self { kind: ErrorKind::Parse, message: one_line(message) }
    }

    /// A request that cannot be met.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self { kind: ErrorKind::Usage, message: one_line(message) }
    }

    /// The kind of error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

fn one_line(message: impl fmt::Display) -> String {
    let text = message.to_string();
    printable(&text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; "))
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
