//! Whole inputs, on the fastest kernel; and input in chunks, pushed by the caller or pulled from a reader.

use crate::kernel::Kernel;
use crate::scalar::{Sequence, Utf8Error, errors};
use crate::utf8::{Kind, REPLACEMENT};
use core::fmt;
use std::borrow::Cow;
use std::io::{self, Read};

/// Checks that `bytes` are well-formed UTF-8.
///
/// # Errors
/// The first error: its offset, its length, its kind.
///
/// ```
/// use utfuzz_codec::validate;
///
/// assert!(validate("Grüße".as_bytes()).is_ok());
/// let error = validate(b"a\xED\xA0\x80").unwrap_err();
/// assert_eq!((error.valid_up_to(), error.error_len()), (1, Some(1)));
/// assert_eq!(error.to_string(), "ill-formed UTF-8 at byte 1: surrogate");
/// ```
#[inline]
pub fn validate(bytes: &[u8]) -> Result<(), Utf8Error> {
    Kernel::best().validate(bytes)
}

/// `bytes` as text.
///
/// # Errors
/// The first error: its offset, its length, its kind.
///
/// ```
/// assert_eq!(utfuzz_codec::from_utf8(b"\xC3\xA9"), Ok("é"));
/// assert_eq!(utfuzz_codec::from_utf8(b"ab\xC3").unwrap_err().error_len(), None);
/// ```
#[inline]
pub fn from_utf8(bytes: &[u8]) -> Result<&str, Utf8Error> {
    Kernel::best().from_utf8(bytes)
}

/// `bytes` as text, with U+FFFD for every maximal subpart; borrowed if they are well-formed.
///
/// ```
/// assert_eq!(utfuzz_codec::from_utf8_lossy(b"a\xF0\x9F\x98b\xFF"), "a\u{FFFD}b\u{FFFD}");
/// ```
pub fn from_utf8_lossy(bytes: &[u8]) -> Cow<'_, str> {
    Kernel::best().from_utf8_lossy(bytes)
}

/// Appends `bytes` with U+FFFD for every maximal subpart. At most three bytes are written for each byte read.
///
/// ```
/// let mut out = b"> ".to_vec();
/// utfuzz_codec::lossy_into(b"a\xFF", &mut out);
/// assert_eq!(out, "> a\u{FFFD}".as_bytes());
/// ```
pub fn lossy_into(bytes: &[u8], out: &mut Vec<u8>) {
    Kernel::best().lossy_into(bytes, out);
}

/// How many characters (scalar values) `text` has: its length in UTF-32.
///
/// ```
/// assert_eq!(utfuzz_codec::char_count("aé😀"), 3);
/// ```
pub fn char_count(text: &str) -> usize {
    Kernel::best().char_count(text)
}

/// How many code units `text` has in UTF-16.
///
/// ```
/// assert_eq!(utfuzz_codec::utf16_len("aé😀"), 4);
/// ```
pub fn utf16_len(text: &str) -> usize {
    Kernel::best().utf16_len(text)
}

/// The first code unit of UTF-16 or UTF-32 that is ill-formed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnitError {
    valid_up_to: usize,
}

impl UnitError {
    /// How many code units before it are well-formed.
    pub fn valid_up_to(&self) -> usize {
        self.valid_up_to
    }
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ill-formed code unit at {}", self.valid_up_to)
    }
}

impl core::error::Error for UnitError {}

fn all_valid<U>(valid_up_to: usize, units: &[U]) -> Result<(), UnitError> {
    if valid_up_to == units.len() { Ok(()) } else { Err(UnitError { valid_up_to }) }
}

/// Appends `bytes` as UTF-16. At most one code unit for each byte; it reserves memory for that many and 192
/// more.
///
/// # Errors
/// The first error of `bytes`, in which case nothing is appended.
///
/// ```
/// let mut units = Vec::new();
/// utfuzz_codec::utf16_into("a😀".as_bytes(), &mut units)?;
/// assert_eq!(units, [0x61, 0xD83D, 0xDE00]);
/// # Ok::<(), utfuzz_codec::Utf8Error>(())
/// ```
pub fn utf16_into(bytes: &[u8], out: &mut Vec<u16>) -> Result<(), Utf8Error> {
    validate(bytes)?;
    utf16_lossy_into(bytes, out);
    Ok(())
}

/// Appends `bytes` as UTF-16, with replacement. At most one code unit for each byte; it reserves memory for that many and 192
/// more.
///
/// ```
/// let mut units = Vec::new();
/// utfuzz_codec::utf16_lossy_into(b"a\xE2\x82", &mut units);
/// assert_eq!(units, [0x61, 0xFFFD]);
/// ```
pub fn utf16_lossy_into(bytes: &[u8], out: &mut Vec<u16>) {
    Kernel::best().utf16_lossy_into(bytes, out);
}

/// Appends `bytes` as UTF-32. At most one code unit for each byte; it reserves memory for that many and 192
/// more.
///
/// # Errors
/// The first error of `bytes`, in which case nothing is appended.
///
/// ```
/// let mut units = Vec::new();
/// utfuzz_codec::utf32_into("a😀".as_bytes(), &mut units)?;
/// assert_eq!(units, [0x61, 0x1F600]);
/// # Ok::<(), utfuzz_codec::Utf8Error>(())
/// ```
pub fn utf32_into(bytes: &[u8], out: &mut Vec<u32>) -> Result<(), Utf8Error> {
    validate(bytes)?;
    utf32_lossy_into(bytes, out);
    Ok(())
}

/// Appends `bytes` as UTF-32, with replacement. At most one code unit for each byte; it reserves memory for that many and 192
/// more.
///
/// ```
/// let mut units = Vec::new();
/// utfuzz_codec::utf32_lossy_into(b"\xFFa", &mut units);
/// assert_eq!(units, [0xFFFD, 0x61]);
/// ```
pub fn utf32_lossy_into(bytes: &[u8], out: &mut Vec<u32>) {
    Kernel::best().utf32_lossy_into(bytes, out);
}

/// Appends UTF-16 as UTF-8. At most three bytes for each code unit.
///
/// # Errors
/// The first lone surrogate, in which case nothing is appended.
///
/// ```
/// let mut text = Vec::new();
/// utfuzz_codec::from_utf16_into(&[0x61, 0xD83D, 0xDE00], &mut text)?;
/// assert_eq!(text, "a😀".as_bytes());
/// assert_eq!(utfuzz_codec::from_utf16_into(&[0x61, 0xD83D], &mut text).unwrap_err().valid_up_to(), 1);
/// # Ok::<(), utfuzz_codec::UnitError>(())
/// ```
pub fn from_utf16_into(units: &[u16], out: &mut Vec<u8>) -> Result<(), UnitError> {
    all_valid(Kernel::best().utf16_valid_up_to(units), units)?;
    from_utf16_lossy_into(units, out);
    Ok(())
}

/// Appends UTF-16 as UTF-8, with replacement. At most three bytes for each code unit.
///
/// ```
/// let mut text = Vec::new();
/// utfuzz_codec::from_utf16_lossy_into(&[0xDE00, 0x61], &mut text);
/// assert_eq!(text, "\u{FFFD}a".as_bytes());
/// ```
pub fn from_utf16_lossy_into(units: &[u16], out: &mut Vec<u8>) {
    Kernel::best().from_utf16_lossy_into(units, out);
}

/// Appends UTF-32 as UTF-8. At most four bytes for each code unit.
///
/// # Errors
/// The first number that is not a scalar value, in which case nothing is appended.
///
/// ```
/// let mut text = Vec::new();
/// utfuzz_codec::from_utf32_into(&[0x61, 0x1F600], &mut text)?;
/// assert_eq!(text, "a😀".as_bytes());
/// assert!(utfuzz_codec::from_utf32_into(&[0x11_0000], &mut text).is_err());
/// # Ok::<(), utfuzz_codec::UnitError>(())
/// ```
pub fn from_utf32_into(units: &[u32], out: &mut Vec<u8>) -> Result<(), UnitError> {
    all_valid(Kernel::best().utf32_valid_up_to(units), units)?;
    from_utf32_lossy_into(units, out);
    Ok(())
}

/// Appends UTF-32 as UTF-8, with replacement. At most four bytes for each code unit.
///
/// ```
/// let mut text = Vec::new();
/// utfuzz_codec::from_utf32_lossy_into(&[0x61, 0xD800], &mut text);
/// assert_eq!(text, "a\u{FFFD}".as_bytes());
/// ```
pub fn from_utf32_lossy_into(units: &[u32], out: &mut Vec<u8>) {
    Kernel::best().from_utf32_lossy_into(units, out);
}

/// Appends UTF-16 as UTF-32, with replacement. At most one code unit for each that is read.
///
/// ```
/// let mut scalars = Vec::new();
/// utfuzz_codec::utf32_from_utf16_lossy_into(&[0xD83D, 0xDE00, 0xD83D], &mut scalars);
/// assert_eq!(scalars, [0x1F600, 0xFFFD]);
/// ```
pub fn utf32_from_utf16_lossy_into(units: &[u16], out: &mut Vec<u32>) {
    Kernel::best().utf32_from_utf16_lossy_into(units, out);
}

/// Appends UTF-32 as UTF-16, with replacement. At most two code units for each that is read.
///
/// ```
/// let mut units = Vec::new();
/// utfuzz_codec::utf16_from_utf32_lossy_into(&[0x1F600, 0xD800], &mut units);
/// assert_eq!(units, [0xD83D, 0xDE00, 0xFFFD]);
/// ```
pub fn utf16_from_utf32_lossy_into(units: &[u32], out: &mut Vec<u16>) {
    Kernel::best().utf16_from_utf32_lossy_into(units, out);
}

/// Appends Latin-1 (ISO/IEC 8859-1) as UTF-8: every byte is the code point of that number. At most two bytes for each that is read.
///
/// ```
/// let mut text = Vec::new();
/// utfuzz_codec::from_latin_1_into(b"caf\xE9", &mut text);
/// assert_eq!(text, "café".as_bytes());
/// ```
pub fn from_latin_1_into(bytes: &[u8], out: &mut Vec<u8>) {
    Kernel::best().from_latin_1_into(bytes, out);
}

/// Chunks with fewer bytes are decoded error by error, without the kernel.
const SHORT: usize = 16;

/// Decodes input in chunks, cut anywhere, with the same output as for the whole input. At most three bytes wait for the
/// next chunk.
///
/// ```
/// use utfuzz_codec::Streaming;
///
/// let (mut stream, mut out) = (Streaming::new(), Vec::new());
/// stream.push(b"a\xF0\x9F", &mut out);
/// assert_eq!(out, b"a");
/// stream.push(b"\x98\x80\xC3", &mut out);
/// let error = stream.finish(&mut out).unwrap_err();
/// assert_eq!(out, "a😀\u{FFFD}".as_bytes());
/// assert_eq!((error.valid_up_to(), error.error_len()), (5, None));
/// ```
#[derive(Clone, Debug)]
pub struct Streaming {
    kernel: Kernel,
    /// An incomplete sequence at the end of the chunks so far.
    pending: [u8; 3],
    pending_len: usize,
    /// Bytes pushed so far, including the pending ones.
    pushed: u64,
    first_error: Option<Utf8Error>,
}

impl Streaming {
    /// A decoder at the start of a stream.
    pub fn new() -> Self {
        Self::with(Kernel::best())
    }

    /// A decoder at the start of a stream, on this kernel.
    pub fn with(kernel: Kernel) -> Self {
        Self { kernel, pending: [0; 3], pending_len: 0, pushed: 0, first_error: None }
    }

    /// Decodes a chunk and appends to `out` whatever the chunks to come cannot change.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        let body = self.complete_pending(chunk, out);
        let start = self.pushed + (chunk.len() - body.len()) as u64;
        self.pushed += chunk.len() as u64;
        let decided = match body.len() {
            ..SHORT => self.push_by_errors(body, start, out),
            _ => self.push_at_once(body, start, out),
        };
        let incomplete = &body[decided..];
        if !incomplete.is_empty() {
            self.pending_len = incomplete.len();
            self.pending[..incomplete.len()].copy_from_slice(incomplete);
        }
    }

    /// Decodes all but an incomplete sequence at the end; returns how many bytes are decoded.
    fn push_at_once(&mut self, body: &[u8], start: u64, out: &mut Vec<u8>) -> usize {
        if self.first_error.is_none()
            && let Err(error) = self.kernel.validate(body)
            && error.kind != Kind::Incomplete
        {
            self.note(start + error.valid_up_to as u64, error);
        }
        let decided = body.len() - incomplete_suffix(body);
        match self.first_error {
            None => out.extend_from_slice(&body[..decided]),
            Some(_) => self.kernel.lossy_into(&body[..decided], out),
        }
        decided
    }

    /// [`Self::push_at_once`] for a few bytes, in one pass.
    fn push_by_errors(&mut self, body: &[u8], start: u64, out: &mut Vec<u8>) -> usize {
        let (mut copied, mut decided) = (0, body.len());
        for error in errors(body) {
            let range = error.range();
            out.extend_from_slice(&body[copied..range.start]);
            copied = range.end;
            if error.kind == Kind::Incomplete {
                decided = range.start;
                break;
            }
            out.extend_from_slice(REPLACEMENT);
            self.note(start + error.valid_up_to as u64, error);
        }
        out.extend_from_slice(&body[copied..]);
        decided
    }

    /// Ends the stream: replaces an incomplete sequence, and gets ready for another stream.
    ///
    /// # Errors
    /// The first error of the whole stream. Its offset counts from the start of the stream; where it does not fit into a
    /// `usize`, which happens in streams over 4 GiB on a 32-bit platform, it is `usize::MAX`.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<(), Utf8Error> {
        if self.pending_len > 0 {
            out.extend_from_slice(REPLACEMENT);
            let len = self.pending_len;
            self.note(self.pushed - len as u64, Utf8Error { valid_up_to: 0, len, kind: Kind::Incomplete });
        }
        let fresh = Self::with(self.kernel);
        core::mem::replace(self, fresh).first_error.map_or(Ok(()), Err)
    }

    /// Completes the pending sequence, or finds its error; returns the rest of the chunk.
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
                self.note(self.pushed - held as u64, Utf8Error { valid_up_to: 0, len, kind });
                len
            }
            None => held,
        };
        self.pending_len = 0;
        &chunk[decided - held..]
    }

    /// Keeps the first error. On a 32-bit platform its offset may not fit into a `usize`.
    fn note(&mut self, offset: u64, error: Utf8Error) {
        let valid_up_to = usize::try_from(offset).unwrap_or(usize::MAX);
        self.first_error.get_or_insert(Utf8Error { valid_up_to, ..error });
    }
}

impl Default for Streaming {
    fn default() -> Self {
        Self::new()
    }
}

/// Reads well-formed UTF-8 from a reader of any bytes: every maximal subpart is replaced by U+FFFD, wherever the chunks
/// of the inner reader end.
///
/// ```
/// use std::io::Read;
///
/// let mut reader = utfuzz_codec::Utf8Reader::new(&b"a\xFFb"[..]);
/// let mut text = String::new();
/// reader.read_to_string(&mut text)?;
/// assert_eq!(text, "a\u{FFFD}b");
/// assert_eq!(reader.verdict().unwrap().unwrap_err().valid_up_to(), 1);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Utf8Reader<R> {
    inner: R,
    stream: Streaming,
    chunk: Box<[u8]>,
    text: Vec<u8>,
    /// How many bytes of `text` have been read.
    taken: usize,
    verdict: Option<Result<(), Utf8Error>>,
}

impl<R: Read> Utf8Reader<R> {
    /// Bytes read from the inner reader at a time.
    const CHUNK: usize = 0x1_0000;

    /// Reads from `inner`.
    pub fn new(inner: R) -> Self {
        let chunk = vec![0; Self::CHUNK].into_boxed_slice();
        Self { inner, stream: Streaming::new(), chunk, text: Vec::new(), taken: 0, verdict: None }
    }

    /// Whether everything read was well-formed, or the first error, its offset counted from the start; `None` before the end
    /// is reached.
    pub fn verdict(&self) -> Option<Result<(), Utf8Error>> {
        self.verdict
    }
}

impl<R: Read> Read for Utf8Reader<R> {
    /// Reads text. Where `buffer` ends, a character may be cut.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.text.len() && self.verdict.is_none() && !buffer.is_empty() {
            let chunk = read_some(&mut self.inner, &mut self.chunk)?;
            self.text.clear();
            self.taken = 0;
            match chunk {
                [] => self.verdict = Some(self.stream.finish(&mut self.text)),
                _ => self.stream.push(chunk, &mut self.text),
            }
        }
        let count = buffer.len().min(self.text.len() - self.taken);
        buffer[..count].copy_from_slice(&self.text[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}

/// Reads at least one byte, except at the end or into an empty `chunk`. Retries when a read is interrupted.
///
/// # Errors
/// The reader fails, or says that it read more than there is room for.
pub fn read_some<'a>(reader: &mut impl Read, chunk: &'a mut [u8]) -> io::Result<&'a [u8]> {
    let count = loop {
        match reader.read(chunk) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => break other?,
        }
    };
    let room = chunk.len();
    let lie = || io::Error::other(format!("the reader claims to have read {count} bytes into a buffer of {room}"));
    chunk.get(..count).ok_or_else(lie)
}

/// How many bytes at the end are an incomplete sequence.
fn incomplete_suffix(bytes: &[u8]) -> usize {
    let is_incomplete = |len: &usize| {
        let sequence = bytes.len().checked_sub(*len).and_then(|start| Sequence::read(&bytes[start..]));
        matches!(sequence, Some(Sequence::IllFormed { len: read, kind: Kind::Incomplete }) if read == *len)
    };
    (1..=3).find(is_incomplete).unwrap_or(0)
}
