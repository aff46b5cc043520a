//! Conversions between UTF-8, its relatives, UTF-16, UTF-32, Latin-1 and Windows-1252.
//!
//! A [`Converter`] reads bytes in one [`Encoding`], in chunks cut anywhere, and writes them in another, in constant
//! memory. A place that is ill-formed, or that the other encoding cannot express, is a [`Fault`]: a value with the
//! offset and the rule. [`convert`] converts bytes at once; a [`ConvertReader`] and a [`ConvertWriter`] convert what is
//! read from another reader, or written to another writer. A [`Detector`] names the likeliest encoding of bytes.
//!
//! ```
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

mod adapters;
mod charset;
mod converter;
mod detect;
mod direct;
mod encoding;
mod fault;
mod reader;
mod repair;
mod utf8_like;
mod writer;

pub use adapters::{ConvertReader, ConvertWriter, Failed, convert};
pub use converter::{Converter, Summary};
pub use detect::{Confidence, Detection, Detector};
pub use encoding::Encoding;
pub use fault::{Fault, Mark, Options, Reason, UnpairedSurrogates};
pub use repair::{Doubt, Left, Repaired, Repairs, repair};
