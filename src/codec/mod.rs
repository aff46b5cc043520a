//! Our own decoder: RFC 3629, one U+FFFD for each maximal subpart, exact offsets and lengths.
//!
//! Each operation is run by a [`Kernel`]: the best this processor has where none is named. It shares no code with `spec`,
//! which judges it.

mod automaton;
mod chars;
pub mod convert;
mod count;
mod kernel;
mod reader;
mod replace;
mod sequence;
mod stream;
mod transcode;
mod validate;

pub use chars::{Chars, chars};
pub use count::{char_count, utf16_len};
pub use kernel::Kernel;
pub use reader::Utf8Reader;
pub use replace::{from_utf8_lossy, lossy_into};
pub use stream::Streaming;
pub use transcode::{
    UnitError, from_latin_1_into, from_utf16_into, from_utf16_lossy_into, from_utf32_into, from_utf32_lossy_into,
    utf16_from_utf32_lossy_into, utf16_into, utf16_lossy_into, utf32_from_utf16_lossy_into, utf32_into,
    utf32_lossy_into,
};
pub use validate::{Errors, Utf8Error, errors, from_utf8, validate};
