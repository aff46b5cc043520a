//! Our own decoder: RFC 3629, one U+FFFD for each maximal subpart, exact offsets and lengths.
//!
//! Scalar and safe. It shares no code with `spec`, which judges it.

mod chars;
mod lossy;
mod sequence;
mod stream;
mod validate;

pub use chars::{Chars, chars};
pub use lossy::{lossy, lossy_into, utf16_lossy_into};
pub use stream::Streaming;
pub use validate::{Errors, Utf8Error, errors, validate};
