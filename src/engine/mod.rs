//! Engines that run the judge: a test of one decoder, the embedded engine, the fuzz targets, the score of both, and the
//! nightly run.

#[cfg(feature = "check")]
pub mod check;
pub mod conformance;
#[cfg(feature = "fuzz")]
pub mod fuzz;
#[cfg(all(feature = "check", feature = "fuzz"))]
pub mod libfuzzer;
pub mod link;
#[cfg(feature = "cli")]
pub mod nightly;
#[cfg(feature = "check")]
pub mod score;
#[cfg(feature = "check")]
pub mod targets;
