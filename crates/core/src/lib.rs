//! The library of utfuzz: all of it but the reports, the benchmark and the command. Users depend on the crate `utfuzz`,
//! which exports everything here.
//!
//! Modules are declared lowest layer first: each imports only modules declared before it.

pub use utfuzz_codec::utf8;

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

pub use case::{Case, Cuts};
pub use decoder::{Decoder, Info, Promise, Stream};
pub use engine::conformance::{Conformance, assert_conforms, assert_conforms_on};
pub use explain::{Divergence, first_divergence};
pub use judge::Judge;
pub use spec::Contract;
pub use utf8::{Malformed, Validity};

/// The version of the compiler that built this, such as `1.97.0-nightly`.
pub const COMPILER: &str = env!("UTFUZZ_CORE_VERSION");
/// The target that this was built for, such as `x86_64-unknown-linux-gnu`.
pub const TARGET: &str = env!("UTFUZZ_TARGET");
