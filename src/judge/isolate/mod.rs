//! What keeps the harness alive when a decoder does not behave: panics are caught, hangs are reported, and reads outside
//! the input are faults.

#[cfg(all(target_os = "linux", feature = "fence"))]
pub mod guard_pages;
pub(crate) mod panics;
pub(crate) mod watchdog;

pub use panics::silence_panics;
pub use watchdog::{Stuck, watch};
