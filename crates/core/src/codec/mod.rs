//! Our own codec: that of the crate `utfuzz-codec`, and [conversions](convert) on top of it.
//!
//! That crate shares no code with [`crate::spec`], which judges it: it does not depend on this one. [`convert`] takes
//! grammars, policies and the wording of errors from the standard.

pub mod convert;

pub use utfuzz_codec::*;
