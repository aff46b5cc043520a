//! Conversions between UTF-8, its relatives, UTF-16, UTF-32, UCS-2, UCS-4 and encodings that are not Unicode.
//!
//! A [`Converter`] reads bytes in one [`Encoding`], in chunks cut anywhere, and writes them in another, in constant
//! memory. A place that is ill-formed, or that the other encoding cannot express, is a [`Fault`]: a value with the
//! offset and the rule. [`convert`] converts bytes at once; a [`ConvertReader`] and a [`ConvertWriter`] convert what is
//! read from another reader, or written to another writer. A [`Detector`] names the likeliest encoding of bytes.
//!
//! ```
//! # use utfuzz_core as utfuzz;
//! use utfuzz::codec::convert::{Converter, Encoding, Options};
//!
//! let mut converter = Converter::new(Encoding::Utf8, Encoding::Utf16Le, Options::STRICT)?;
//! let mut out = Vec::new();
//! converter.push(b"\xE2\x82", &mut out)?;
//! converter.push(b"\xAC\xC0\xAF", &mut out).unwrap_err();
//! assert_eq!(out, [0xAC, 0x20]);
//! let fault = converter.finish(&mut out).unwrap_err();
//! assert_eq!((fault.offset(), fault.line(), fault.bytes()), (3, 1, &b"\xC0"[..]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod charset;
mod code_points;
mod converter;
mod detect;
mod encoding;
mod fault;
mod repair;

pub use converter::{Converter, Summary};
pub use detect::{Confidence, Detection, Detector};
pub use encoding::Encoding;
pub use fault::{Fault, Mark, Options, Reason, UnpairedSurrogates};
pub use repair::{Doubt, Left, Repaired, Repairs, repair};

use crate::codec::read_some;
use crate::error::Error;
use core::fmt;
use std::io::{self, Read, Write};

/// Why bytes were not converted.
#[derive(Debug)]
pub enum Failed {
    /// The options make no sense for these encodings.
    Options(Error),
    /// The input is ill-formed, or cannot be encoded in the output encoding.
    Fault(Fault),
}

impl From<Error> for Failed {
    fn from(error: Error) -> Self {
        Self::Options(error)
    }
}

impl From<Fault> for Failed {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Options(error) => error.fmt(f),
            Self::Fault(fault) => fault.fmt(f),
        }
    }
}

impl core::error::Error for Failed {}

/// Converts bytes from one encoding to another.
///
/// ```
/// # use utfuzz_core as utfuzz;
/// use utfuzz::codec::convert::{Encoding, Failed, Options, convert};
///
/// let bytes = convert(b"caf\xC3\xA9", Encoding::Utf8, Encoding::Latin1, Options::STRICT)?;
/// assert_eq!(bytes, b"caf\xE9");
/// let failed = convert("€".as_bytes(), Encoding::Utf8, Encoding::Latin1, Options::STRICT).unwrap_err();
/// assert!(matches!(failed, Failed::Fault(fault) if fault.offset() == 0));
/// # Ok::<(), Failed>(())
/// ```
///
/// # Errors
/// The options make no sense for these encodings, or there is a fault that they do not replace.
pub fn convert(bytes: &[u8], from: Encoding, to: Encoding, options: Options) -> Result<Vec<u8>, Failed> {
    let mut converter = Converter::new(from, to, options)?;
    let mut out = Vec::with_capacity(bytes.len());
    converter.push(bytes, &mut out)?;
    converter.finish(&mut out)?;
    Ok(out)
}

/// A fault, as the error of a reader or writer: its inner error is the [`Fault`].
fn invalid_data(fault: Fault) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, fault)
}

/// Converts what is read from another reader.
///
/// ```
/// # use utfuzz_core as utfuzz;
/// use std::io::Read;
/// use utfuzz::codec::convert::{ConvertReader, Converter, Encoding, Options};
///
/// let converter = Converter::new(Encoding::Utf16Le, Encoding::Utf8, Options::STRICT)?;
/// let mut reader = ConvertReader::new(&b"a\0\xE9\0"[..], converter);
/// let mut text = String::new();
/// reader.read_to_string(&mut text)?;
/// assert_eq!(text, "aé");
/// assert_eq!(reader.summary().map(|summary| summary.read), Some(4));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ConvertReader<R> {
    inner: R,
    converter: Converter,
    chunk: Box<[u8]>,
    converted: Vec<u8>,
    /// How many bytes of `converted` have been read.
    taken: usize,
    ended: Option<Result<Summary, Fault>>,
}

impl<R: Read> ConvertReader<R> {
    /// Bytes read from the inner reader at a time.
    const CHUNK: usize = 0x1_0000;

    /// Reads one input, up to its end, from `inner`.
    pub fn new(inner: R, converter: Converter) -> Self {
        let chunk = vec![0; Self::CHUNK].into_boxed_slice();
        Self { inner, converter, chunk, converted: Vec::new(), taken: 0, ended: None }
    }

    /// What was converted, when the end has been reached without a fault that ends the conversion.
    pub fn summary(&self) -> Option<Summary> {
        self.ended.and_then(Result::ok)
    }
}

impl<R: Read> Read for ConvertReader<R> {
    /// Reads converted bytes. Where `buffer` ends, a character may be cut.
    ///
    /// # Errors
    /// The inner reader fails; or, with `InvalidData` and the [`Fault`], what was read cannot be converted. By then,
    /// everything before the fault has been read.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.converted.len() && !buffer.is_empty() {
            match self.ended {
                Some(Ok(_)) => return Ok(0),
                Some(Err(fault)) => return Err(invalid_data(fault)),
                None => {}
            }
            let chunk = read_some(&mut self.inner, &mut self.chunk)?;
            self.converted.clear();
            self.taken = 0;
            self.ended = match chunk {
                [] => Some(self.converter.finish(&mut self.converted)),
                _ => self.converter.push(chunk, &mut self.converted).err().map(Err),
            };
        }
        let count = buffer.len().min(self.converted.len() - self.taken);
        buffer[..count].copy_from_slice(&self.converted[self.taken..self.taken + count]);
        self.taken += count;
        Ok(count)
    }
}

/// Converts what is written, and writes it to another writer. [`finish`](Self::finish) must be called at the end.
///
/// ```
/// # use utfuzz_core as utfuzz;
/// use std::io::Write;
/// use utfuzz::codec::convert::{ConvertWriter, Converter, Encoding, Options};
///
/// let converter = Converter::new(Encoding::Utf8, Encoding::Utf16Be, Options::STRICT)?;
/// let mut writer = ConvertWriter::new(Vec::new(), converter);
/// writer.write_all(b"a\xC3")?;
/// writer.write_all(b"\xA9")?;
/// let (written, summary) = writer.finish()?;
/// assert_eq!((&written[..], summary.read), (&b"\0a\0\xE9"[..], 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct ConvertWriter<W> {
    inner: W,
    converter: Converter,
    converted: Vec<u8>,
}

impl<W: Write> ConvertWriter<W> {
    /// Writes to `inner`.
    pub fn new(inner: W, converter: Converter) -> Self {
        Self { inner, converter, converted: Vec::new() }
    }

    /// Ends the text: writes what is left, and returns the inner writer and what was converted.
    ///
    /// # Errors
    /// The inner writer fails; or, with `InvalidData` and the [`Fault`], what was written cannot be converted.
    pub fn finish(mut self) -> io::Result<(W, Summary)> {
        let summary = self.converter.finish(&mut self.converted);
        self.write_converted()?;
        let summary = summary.map_err(invalid_data)?;
        self.inner.flush()?;
        Ok((self.inner, summary))
    }

    fn write_converted(&mut self) -> io::Result<()> {
        let written = self.inner.write_all(&self.converted);
        self.converted.clear();
        written
    }
}

impl<W: Write> Write for ConvertWriter<W> {
    /// Converts all of `bytes`. The start of a character waits for the rest of it.
    ///
    /// # Errors
    /// The inner writer fails, and some of the text may be lost; or, with `InvalidData` and the [`Fault`], `bytes` cannot
    /// be converted, and all that comes before the fault has been written.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let pushed = self.converter.push(bytes, &mut self.converted);
        self.write_converted()?;
        pushed.map_err(invalid_data)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
