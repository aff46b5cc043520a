//! Engines that run the judge: the fuzz targets, the embedded engine, the score of both, and the nightly run.

#[cfg(feature = "check")]
pub mod check;
#[cfg(feature = "fuzz")]
pub mod fuzz;
#[cfg(all(feature = "check", feature = "fuzz"))]
pub mod libfuzzer;
#[cfg(feature = "cli")]
pub mod nightly;
#[cfg(feature = "check")]
pub mod score;
#[cfg(feature = "check")]
pub mod targets;
