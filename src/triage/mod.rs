//! What becomes of divergences: which are known, which have one cause, the smallest input of each, and what is kept.
//!
//! [`session`] is the loop that every engine runs. [`triage`] works through files that were left behind: it sorts them by
//! signature, minimises the smallest of each, groups those of one cause, and tells which are new, known to the ledger, or
//! a regression already.

#[cfg(feature = "check")]
mod cluster;
#[cfg(feature = "ledger")]
pub mod ledger;
#[cfg(feature = "check")]
pub mod minimise;
#[cfg(feature = "check")]
pub mod regression;
#[cfg(feature = "ledger")]
pub mod session;

#[cfg(feature = "check")]
pub use cluster::{Cluster, Member, Outcome, Status, share_location_cause, triage};
