//! The reason: what a broken law comes from, and how that is shown.
//!
//! [`explain`] finds the part of the input a decoder goes wrong on and gives the divergence its signature.

mod agreement;
mod annotate;
mod bits;
mod divergence;
mod grid;
mod shape;
mod signature;
mod suspect;

pub use agreement::Agreement;
pub use annotate::{annotate, escape};
pub use bits::bits;
pub use divergence::{Divergence, explain, signature};
pub use grid::{Grid, Group, Question};
pub use signature::{Shape, Signature};

use crate::case::Case;
use crate::decoder::Decoder;
use crate::judge::Judge;

/// The first law a single decoder breaks on a case, explained; `None` where it keeps them all.
///
/// This is what a regression test calls.
pub fn first_divergence(decoder: &dyn Decoder, case: &Case<'_>) -> Option<Divergence> {
    let mut judge = Judge::new([decoder]);
    let broken = judge.judge(case).first().copied()?;
    Some(explain(&judge, case, &broken))
}
