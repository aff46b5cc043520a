//! What runs: the fuzz targets, the embedded engine, the measure of both, and a night of fuzzing.

#[cfg(feature = "check")]
pub mod check;
#[cfg(feature = "fuzz")]
pub mod fuzz;
#[cfg(feature = "cli")]
pub mod nightly;
#[cfg(feature = "check")]
pub mod libfuzzer;
#[cfg(feature = "check")]
pub mod score;
#[cfg(feature = "check")]
pub mod targets;
