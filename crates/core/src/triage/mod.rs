//! Sorts divergences: which are known, which have the same cause, the smallest input of each, and which are kept.
//!
//! [`session`] is the loop that every engine runs. [`triage`] processes files that fuzzing left: it sorts them by
//! signature, minimises the smallest of each, groups those with the same cause, and marks each as new, known to the
//! ledger, or already a regression.

#[cfg(feature = "ledger")]
pub mod ledger;
#[cfg(feature = "check")]
pub mod minimise;
#[cfg(feature = "check")]
pub mod regression;
#[cfg(feature = "ledger")]
pub mod session;

#[cfg(feature = "check")]
pub use regression::{Cause, Causes, Cluster, Member, Outcome, Status, fails_on_every_kind, triage};
