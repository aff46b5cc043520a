//! The error of everything that touches files, text formats and processes.
//!
//! Ill-formed input and divergences are values, never errors.

use core::fmt;
use std::io;
use std::path::Path;

/// What went wrong outside: one line that names the thing and the remedy.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    message: String,
}

/// The sort of an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// A file or directory could not be read or written.
    Io,
    /// A text could not be understood: hexadecimal, a vector file, the ledger.
    Parse,
    /// A request makes no sense: an unknown name, options that exclude each other.
    Usage,
}

impl Error {
    /// A failure to read or write `path`.
    pub fn io(path: &Path, error: &io::Error) -> Self {
        let remedy = match error.kind() {
            io::ErrorKind::NotFound => "; check the path",
            io::ErrorKind::PermissionDenied => "; check its permissions",
            io::ErrorKind::IsADirectory => "; name a file",
            _ => "",
        };
        Self { kind: ErrorKind::Io, message: one_line(format_args!("{}: {error}{remedy}", shown(path))) }
    }

    /// A text that cannot be understood.
    pub fn parse(message: impl fmt::Display) -> Self {
        Self { kind: ErrorKind::Parse, message: one_line(message) }
    }

    /// A request that makes no sense.
    pub fn usage(message: impl fmt::Display) -> Self {
        Self { kind: ErrorKind::Usage, message: one_line(message) }
    }

    /// The sort of error.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }
}

/// Writes a file in one step: whoever reads it sees what was there before, or all of this.
///
/// # Errors
/// The file, or one beside it, cannot be written.
pub fn replace(path: &Path, text: &[u8]) -> Result<(), Error> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let beside = path.with_file_name(name);
    let written = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, path));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&beside);
        Error::io(path, &error)
    })
}

fn one_line(message: impl fmt::Display) -> String {
    let text = message.to_string();
    printable(&text.lines().map(str::trim).filter(|line| !line.is_empty()).collect::<Vec<_>>().join("; "))
}

/// A path that is safe to print.
pub fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

/// Untrusted text that is safe to print on a line: controls, line separators, what reorders text and
/// what XML cannot hold are escaped.
pub fn printable(text: &str) -> String {
    let escape = |c: char| {
        let unsafe_here = c.is_control()
            || matches!(c, '\u{61C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}');
        if unsafe_here { c.escape_default().collect() } else { String::from(c) }
    };
    text.chars().map(escape).collect()
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}
