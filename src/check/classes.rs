//! The stage of class strings: every part of a plan, on all cores.

use super::worker::Worker;
use super::{Outcome, Plan};
use crate::decoder::Decoder;
use crate::input::deep::{self, Ask, Part, Set};
use crate::judge::Questions;
use crate::triage::ledger::Ledger;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// A part that was run to its end.
#[derive(Clone, Debug)]
pub struct Covered {
    /// What was run.
    pub part: Part,
    /// How many cases were judged.
    pub cases: u64,
    /// For each decoder, how many answers were compared.
    pub comparisons: Vec<(&'static str, u64)>,
    /// How long it took.
    pub seconds: f64,
}

/// The parts of a plan.
pub(super) fn parts(plan: Plan) -> Vec<Part> {
    match plan {
        Plan::Quick => deep::quick(),
        Plan::Deep => deep::deep(),
    }
}

/// Runs these parts one after the other.
pub(super) fn run(
    decoders: &[&dyn Decoder],
    ledger: &Ledger,
    parts: Vec<Part>,
    progress: &(dyn Fn(f64) + Sync),
) -> Outcome {
    let total: u64 = parts.iter().map(Part::cases).sum();
    let done = AtomicU64::new(0);
    let mut outcome = Outcome::default();
    for part in parts {
        let start = Instant::now();
        let of_part = pieces(&part).into_par_iter().map(|piece| {
            let of_piece = run_piece(decoders, ledger, piece);
            let cases = of_piece.statistics.cases;
            progress((done.fetch_add(cases, Ordering::Relaxed) + cases) as f64 / total as f64);
            of_piece
        });
        let mut of_part = of_part.reduce(Outcome::default, Outcome::merge);
        let (cases, comparisons) = (of_part.statistics.cases, of_part.statistics.comparisons.clone());
        of_part.covered.push(Covered { part, cases, comparisons, seconds: start.elapsed().as_secs_f64() });
        outcome = outcome.merge(of_part);
    }
    outcome
}

/// Some strings of a set.
type Stretch = (Set, Range<u64>);

/// Every string of every set once, in pieces of some tens of thousands of cases.
fn pieces(part: &Part) -> Vec<Vec<Stretch>> {
    const CASES: u64 = 1 << 16;
    let mut pieces = Vec::new();
    let mut piece = Vec::new();
    let mut room = CASES;
    for set in &part.sets {
        let (count, variants) = (set.strings.count(), set.ask.variants(set.strings.len));
        let mut next = 0;
        while next < count {
            let end = count.min(next + room.div_ceil(variants));
            piece.push((*set, next..end));
            room = room.saturating_sub((end - next) * variants);
            next = end;
            if room == 0 {
                pieces.push(std::mem::take(&mut piece));
                room = CASES;
            }
        }
    }
    pieces.extend((!piece.is_empty()).then_some(piece));
    pieces
}

fn run_piece(decoders: &[&dyn Decoder], ledger: &Ledger, piece: Vec<Stretch>) -> Outcome {
    let mut worker = Worker::new(decoders, ledger);
    for (set, range) in piece {
        let questions = match set.ask {
            Ask::Everything => Questions::ALL,
            Ask::Answers => Questions::ANSWERS,
            Ask::EveryWayCut | Ask::EveryCut => Questions::STREAM,
            Ask::Placement => Questions::PLACEMENT,
        };
        let mut writer = set.writer();
        range.for_each(|index| writer.each(index, |case| worker.ask(case, questions)));
    }
    worker.finish()
}
