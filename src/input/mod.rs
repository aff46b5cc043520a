//! What is fed to decoders: cases, and where they come from.

#[cfg(feature = "check")]
pub mod artifact;
pub mod case;
#[cfg(feature = "check")]
pub mod corpus;
pub mod deep;
mod dice;
pub mod exhaustive;
#[cfg(all(target_os = "linux", feature = "fence"))]
pub mod fence;
pub mod filler;
#[cfg(feature = "arbitrary")]
pub mod generate;
#[cfg(feature = "arbitrary")]
pub mod mutate;
pub mod scripts;
pub mod seeds;
pub mod sieve;
#[cfg(feature = "arbitrary")]
pub mod trailer;
pub mod vectors;
pub mod words;

pub use case::{Case, Cuts};
