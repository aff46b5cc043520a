//! utfuzz finds and explains differences between UTF-8 decoders.
//!
//! It is a differential testing harness. [`spec`] is the standard as a program; [`codec`] is our own decoder; a
//! [`Decoder`] is anything that claims to decode UTF-8; the [`judge`] runs decoders on cases and compares each answer
//! with what the standard requires under that decoder's own [contract](spec::Contract).
//!
//! Modules are declared lowest layer first: each imports only modules declared before it.

pub mod utf8;

pub mod text;

pub mod error;

#[cfg(feature = "check")]
pub mod io;

pub mod spec;

pub mod codec;

pub mod case;

pub mod generate;

pub mod decoder;

pub mod peers;

pub mod judge;

pub mod explain;

pub mod probe;

pub mod triage;

pub mod engine;

#[cfg(feature = "cli")]
pub mod bench;

#[cfg(feature = "check")]
pub mod report;

#[cfg(feature = "cli")]
pub mod cli;

pub use case::{Case, Cuts};
pub use decoder::{Decoder, Info, Promise, Stream};
pub use engine::conformance::{Conformance, assert_conforms, assert_conforms_on};
pub use explain::{Divergence, first_divergence};
pub use judge::Judge;
pub use spec::Contract;
pub use utf8::{Malformed, Validity};

/// The Rust blocks of the documents, which are run as tests; `tests/documents.rs` checks that none is missing.
#[cfg(all(doctest, documents, feature = "cli"))]
mod documents {
    #[doc = include_str!("../README.md")]
    mod readme {}

    #[doc = include_str!("../docs/contracts.md")]
    mod contracts {}

    #[doc = include_str!("../docs/your-crate.md")]
    mod your_crate {}
}
