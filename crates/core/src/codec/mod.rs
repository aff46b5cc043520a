//! Our own codec: that of the crate `utfuzz-codec`, and [conversions](convert) on top of it.
//!
//! [`crate::spec`], which judges that crate, shares only its vocabulary ([`utf8`]), and no algorithm. [`convert`] takes
//! grammars, policies and the wording of errors from the standard.

pub mod convert;

pub use utfuzz_codec::*;
