//! What becomes of divergences: which are known.

#[cfg(feature = "ledger")]
pub mod ledger;
