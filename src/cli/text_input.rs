//! Files of text, or standard input, read in chunks.

use crate::error::Error;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// How many bytes are read at a time.
pub(super) const CHUNK: usize = 64 << 10;

/// The files that were named, or standard input.
pub(super) fn or_standard_input(files: &[PathBuf]) -> Vec<PathBuf> {
    if files.is_empty() { vec![PathBuf::from("-")] } else { files.to_vec() }
}

/// A file or standard input.
pub(super) struct Input {
    reader: Box<dyn Read>,
    path: PathBuf,
    /// The name, safe to print.
    pub(super) name: String,
    /// Whether it is a file and not a stream.
    pub(super) has_end: bool,
}

impl Input {
    /// Opens a file; `-` is standard input.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let (path, reader, has_end): (PathBuf, Box<dyn Read>, bool) = if path == Path::new("-") {
            ("standard input".into(), Box::new(io::stdin().lock()), false)
        } else {
            let file = File::open(path).map_err(|error| Error::io(path, &error))?;
            let has_end = file.metadata().is_ok_and(|metadata| metadata.is_file());
            (path.to_owned(), Box::new(file), has_end)
        };
        Ok(Self { name: crate::text::shown(&path), reader, path, has_end })
    }

    /// Reads some bytes; 0 at the end.
    pub(super) fn read(&mut self, chunk: &mut [u8]) -> Result<usize, Error> {
        loop {
            match self.reader.read(chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other.map_err(|error| Error::io(&self.path, &error)),
            }
        }
    }

    /// The next read begins with these bytes, which have been read already.
    pub(super) fn put_back(&mut self, bytes: Vec<u8>) {
        let rest = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(io::Cursor::new(bytes).chain(rest));
    }

    /// Reads all of it.
    pub(super) fn read_all(&mut self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        self.reader.read_to_end(&mut bytes).map_err(|error| Error::io(&self.path, &error))?;
        Ok(bytes)
    }
}
