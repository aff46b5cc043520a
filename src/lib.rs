//! utfuzz finds and explains differences between UTF-8 decoders.
//!
//! It is a differential testing harness. [`spec`] is the standard as a program; [`codec`] is our own decoder; a
//! [`Decoder`] is anything that claims to decode UTF-8; the [`judge`] runs decoders on cases and compares each answer
//! with what the standard requires under that decoder's own [contract](spec::Contract).
//!
//! All of that is the library `utfuzz-core`, which this crate exports. Here are the reports, the benchmark and the command.
//!
//! Modules are declared lowest layer first: each imports only modules declared before it.

#[cfg(feature = "cli")]
pub mod bench;

#[cfg(feature = "check")]
pub mod report;

#[cfg(feature = "cli")]
pub mod cli;

#[doc(inline)]
pub use utfuzz_core::*;

/// The Rust blocks of the documents, which are run as tests; `tests/documents.rs` checks that none is missing.
#[cfg(all(doctest, feature = "cli"))]
mod documents {
    #[doc = include_str!("../README.md")]
    mod readme {}

    #[doc = include_str!("../docs/contracts.md")]
    mod contracts {}

    #[doc = include_str!("../docs/your-crate.md")]
    mod your_crate {}
}
