//! What becomes of divergences: which are known, which are one, what each comes down to, and what is kept.
//!
//! [`triage`] does all of it for a heap of files: it sorts them by signature, minimises the smallest of each, puts those of
//! one cause together, and says of each whether it is new, known to the ledger, or a regression already.

#[cfg(feature = "check")]
pub mod cluster;
#[cfg(feature = "ledger")]
pub mod ledger;
#[cfg(feature = "check")]
pub mod minimise;
#[cfg(feature = "check")]
mod pipeline;
#[cfg(feature = "check")]
pub mod regression;
#[cfg(feature = "check")]
pub mod sorter;

#[cfg(feature = "check")]
pub use pipeline::{Cluster, Member, Outcome, Status, triage};
