//! A reader that gives text.

use crate::codec::stream::Streaming;
use crate::codec::validate::Utf8Error;
use std::io::{self, Read};

/// Reads bytes from another reader and gives well-formed UTF-8: what is ill-formed is replaced by U+FFFD, wherever the
/// pieces that are read end.
#[derive(Debug)]
pub struct Utf8Reader<R> {
    inner: R,
    stream: Streaming,
    chunk: Box<[u8]>,
    text: Vec<u8>,
    /// How much of `text` has been given.
    given: usize,
    verdict: Option<Result<(), Utf8Error>>,
}

impl<R: Read> Utf8Reader<R> {
    /// Bytes that are read at a time.
    const CHUNK: usize = 64 << 10;

    /// A reader of what `inner` gives.
    pub fn new(inner: R) -> Self {
        let chunk = vec![0; Self::CHUNK].into_boxed_slice();
        Self { inner, stream: Streaming::new(), chunk, text: Vec::new(), given: 0, verdict: None }
    }

    /// What all that was read is: known at its end. The offset of the first error counts from the start.
    pub fn verdict(&self) -> Option<Result<(), Utf8Error>> {
        self.verdict
    }
}

impl<R: Read> Read for Utf8Reader<R> {
    /// Gives text. A character may be given in two pieces where `buffer` is short.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.text.len() && self.verdict.is_none() && !buffer.is_empty() {
            let count = match self.inner.read(&mut self.chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            self.text.clear();
            self.given = 0;
            match count {
                0 => self.verdict = Some(self.stream.finish(&mut self.text)),
                _ => self.stream.push(&self.chunk[..count], &mut self.text),
            }
        }
        let count = buffer.len().min(self.text.len() - self.given);
        buffer[..count].copy_from_slice(&self.text[self.given..self.given + count]);
        self.given += count;
        Ok(count)
    }
}
