//! Our own decoder: RFC 3629, one U+FFFD for each maximal subpart, exact offsets and lengths.
//!
//! Each operation is run by a [`Kernel`]: the best this processor has where none is named. It shares no code with `spec`,
//! which judges it.

mod chars;
mod kernel;
mod lossy;
mod sequence;
mod stream;
mod validate;

pub use chars::{Chars, chars};
pub use kernel::Kernel;
pub use lossy::{lossy, lossy_into, utf16_lossy_into};
pub use stream::Streaming;
pub use validate::{Errors, Utf8Error, errors, validate};
