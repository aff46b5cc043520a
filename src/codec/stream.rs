//! Decoding in chunks. At most three bytes wait for the next chunk.

use crate::codec::kernel::Kernel;
use crate::codec::sequence::Sequence;
use crate::codec::validate::{Utf8Error, errors};
use crate::utf8::{Kind, REPLACEMENT};

/// Chunks of fewer bytes are not worth a kernel.
const SHORT: usize = 16;

/// A decoder that is fed chunks, cut anywhere, and writes what the whole would have given.
#[derive(Clone, Debug)]
pub struct Streaming {
    kernel: Kernel,
    /// An incomplete sequence at the end of the chunks so far.
    pending: [u8; 3],
    pending_len: usize,
    /// Bytes pushed so far, the pending ones included.
    pushed: usize,
    first_error: Option<Utf8Error>,
}

impl Streaming {
    /// A decoder at the start of a stream.
    pub fn new() -> Self {
        Self::with(Kernel::best())
    }

    /// The same, run by this kernel.
    pub fn with(kernel: Kernel) -> Self {
        Self { kernel, pending: [0; 3], pending_len: 0, pushed: 0, first_error: None }
    }

    /// Decodes a chunk and appends to `out` all that is certain.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        let body = self.complete_pending(chunk, out);
        let start = self.pushed + chunk.len() - body.len();
        self.pushed += chunk.len();
        let certain = match body.len() {
            ..SHORT => self.push_by_errors(body, start, out),
            _ => self.push_at_once(body, start, out),
        };
        let incomplete = &body[certain..];
        if !incomplete.is_empty() {
            self.pending_len = incomplete.len();
            self.pending[..incomplete.len()].copy_from_slice(incomplete);
        }
    }

    /// Decodes all but what is incomplete at the end; returns how many bytes that are.
    fn push_at_once(&mut self, body: &[u8], start: usize, out: &mut Vec<u8>) -> usize {
        if self.first_error.is_none()
            && let Err(error) = self.kernel.validate(body)
            && error.kind != Kind::Incomplete
        {
            self.note(Utf8Error { valid_up_to: start + error.valid_up_to, ..error });
        }
        let certain = body.len() - incomplete_suffix(body);
        match self.first_error {
            None => out.extend_from_slice(&body[..certain]),
            Some(_) => self.kernel.lossy_into(&body[..certain], out),
        }
        certain
    }

    /// The same, in one pass over a few bytes.
    fn push_by_errors(&mut self, body: &[u8], start: usize, out: &mut Vec<u8>) -> usize {
        let (mut copied, mut certain) = (0, body.len());
        for error in errors(body) {
            let range = error.range();
            out.extend_from_slice(&body[copied..range.start]);
            copied = range.end;
            if error.kind == Kind::Incomplete {
                certain = range.start;
                break;
            }
            out.extend_from_slice(REPLACEMENT);
            self.note(Utf8Error { valid_up_to: start + error.valid_up_to, ..error });
        }
        out.extend_from_slice(&body[copied..]);
        certain
    }

    /// Ends the stream and starts anew: an incomplete sequence is replaced.
    ///
    /// # Errors
    /// The first error of the whole stream, its offset counted from the start of the stream.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Utf8Error> {
        if self.pending_len > 0 {
            out.extend_from_slice(REPLACEMENT);
            let len = self.pending_len;
            self.note(Utf8Error { valid_up_to: self.pushed - len, len, kind: Kind::Incomplete });
        }
        let fresh = Self::with(self.kernel);
        core::mem::replace(self, fresh).first_error.map_or(Ok(()), Err)
    }

    /// Goes on with the pending sequence until it is decided; returns what is left of the chunk.
    fn complete_pending<'a>(&mut self, chunk: &'a [u8], out: &mut Vec<u8>) -> &'a [u8] {
        let held = self.pending_len;
        if held == 0 {
            return chunk;
        }
        let mut joined = [0; 4];
        let taken = chunk.len().min(joined.len() - held);
        joined[..held].copy_from_slice(&self.pending[..held]);
        joined[held..held + taken].copy_from_slice(&chunk[..taken]);
        let joined = &joined[..held + taken];
        let decided = match Sequence::read(joined) {
            Some(Sequence::WellFormed { len, .. }) => {
                out.extend_from_slice(&joined[..len]);
                len
            }
            Some(Sequence::IllFormed { len, kind: Kind::Incomplete }) => {
                self.pending[..len].copy_from_slice(&joined[..len]);
                self.pending_len = len;
                return &chunk[taken..];
            }
            Some(Sequence::IllFormed { len, kind }) => {
                out.extend_from_slice(REPLACEMENT);
                self.note(Utf8Error { valid_up_to: self.pushed - held, len, kind });
                len
            }
            None => held,
        };
        self.pending_len = 0;
        &chunk[decided - held..]
    }

    fn note(&mut self, error: Utf8Error) {
        self.first_error.get_or_insert(error);
    }
}

impl Default for Streaming {
    fn default() -> Self {
        Self::new()
    }
}

/// How many bytes at the end begin a sequence that more could complete.
fn incomplete_suffix(bytes: &[u8]) -> usize {
    let is_incomplete = |len: &usize| {
        let sequence = bytes.len().checked_sub(*len).and_then(|start| Sequence::read(&bytes[start..]));
        matches!(sequence, Some(Sequence::IllFormed { len: read, kind: Kind::Incomplete }) if read == *len)
    };
    (1..=3).find(is_incomplete).unwrap_or(0)
}
