//! The stage of class strings: every part of a plan, on all cores. A decoder of a grammar that tells fewer classes apart
//! is asked for one of each string it cannot tell from others.

use crate::decoder::Decoder;
use crate::engine::check::worker::Worker;
use crate::engine::check::{Outcome, Plan};
use crate::generate::classes::partition::Sieve;
use crate::generate::classes::plan;
use crate::generate::classes::plan::{Ask, Part, Set};
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
    pub comparisons: Vec<(std::borrow::Cow<'static, str>, u64)>,
    /// How long it took.
    pub seconds: f64,
}

/// The parts of a plan.
pub(super) fn parts(plan: Plan) -> Vec<Part> {
    match plan {
        Plan::Quick => plan::quick(),
        Plan::Deep => plan::deep(),
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
    let sieves: Vec<Sieve> = decoders.iter().map(|decoder| Sieve::of(&decoder.info().contract)).collect();
    for (set, range) in piece {
        let questions = match set.ask {
            Ask::Everything => Questions::ALL,
            Ask::Bytes => Questions::BYTES,
            Ask::Answers => Questions::ANSWERS,
            Ask::EveryWayCut | Ask::EveryCut => Questions::STREAM,
            Ask::Placement => Questions::PLACEMENT,
        };
        let mut writer = set.writer();
        let (start, end) = (set.strings.offset, set.strings.offset + set.strings.len as usize);
        range.for_each(|index| {
            writer.each(index, |case| {
                worker.ask(case, questions, |decoder| sieves[decoder].asks(&case.bytes[start..end], start));
            });
        });
    }
    worker.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::check::faulty::{Faulty, RIGHT};
    use crate::judge::Law;
    use crate::utf8::Validity;
    use std::collections::BTreeMap;

    /// The parts with their short strings alone.
    fn small(parts: Vec<Part>, longest: u32) -> Vec<Part> {
        let keep = |mut part: Part| {
            part.sets.retain(|set| set.strings.len <= longest);
            part
        };
        parts.into_iter().map(keep).filter(|part| !part.sets.is_empty()).collect()
    }

    fn run_on(decoder: &Faulty, parts: Vec<Part>) -> Outcome {
        run(&[decoder], &Ledger::default(), parts, &|_| {})
    }

    #[test]
    fn pieces_hold_every_string_of_every_set_once() {
        for part in plan::deep() {
            let mut ends: BTreeMap<String, u64> = BTreeMap::new();
            for (set, range) in pieces(&part).into_iter().flatten() {
                let end = ends.entry(format!("{set:?}")).or_default();
                assert_eq!(range.start, *end, "{set:?}");
                assert!(range.end > range.start);
                *end = range.end;
            }
            assert_eq!(ends.len(), part.sets.len());
            part.sets.iter().for_each(|set| assert_eq!(ends[&format!("{set:?}")], set.strings.count()));
        }
    }

    #[test]
    fn what_is_covered_is_what_was_planned() {
        let parts = small(plan::deep(), 1);
        let outcome = run_on(&RIGHT, parts.clone());
        assert!(outcome.divergences.is_empty(), "{:?}", outcome.divergences.keys());
        assert_eq!(outcome.covered.len(), parts.len());
        for (covered, part) in outcome.covered.iter().zip(parts) {
            assert_eq!(covered.part, part);
            assert_eq!(covered.cases, part.cases());
            assert!(covered.comparisons[0].1 >= part.cases(), "{}", part.name);
        }
        assert_eq!(outcome.statistics.cases, outcome.covered.iter().map(|covered| covered.cases).sum::<u64>());
    }

    /// The deep plan finds what is wrong with it; the quick one does not, with strings as short.
    fn only_deep_finds(decoder: &Faulty, longest: u32, law: Law) {
        let quick = run_on(decoder, small(plan::quick(), longest));
        assert!(quick.divergences.is_empty(), "{:?}", quick.divergences.keys());
        let deep = run_on(decoder, small(plan::deep(), longest));
        let laws: Vec<Law> = deep.divergences.keys().map(|signature| signature.law).collect();
        assert!(laws.contains(&law), "{laws:?}");
    }

    #[test]
    fn a_fault_in_ill_formed_surroundings_is_found() {
        // The fourth error is the first that is left out.
        let output = |bytes: &[u8], out: &mut Vec<u8>| {
            if core::str::from_utf8(bytes).is_err() && String::from_utf8_lossy(bytes).matches('\u{FFFD}').count() > 3 {
                out.pop();
            }
        };
        only_deep_finds(&Faulty { output, ..RIGHT }, 1, Law::Lossy);
    }

    #[test]
    fn a_fault_in_valid_surroundings_is_found() {
        let verdict = |bytes: &[u8], verdict: Validity| {
            let spoiled = bytes.first().is_some_and(|byte| !byte.is_ascii()) && bytes.len() > 64;
            if spoiled && !verdict.is_valid() { Validity::Valid } else { verdict }
        };
        only_deep_finds(&Faulty { verdict, ..RIGHT }, 1, Law::Verdict);
    }

    #[test]
    fn a_fault_at_certain_cuts_is_found() {
        // An empty chunk behind each byte: cuts picked by the bytes have not so many of these.
        let streamed = |chunks: &[usize], bytes: &mut Vec<u8>| {
            if chunks.windows(5).any(|lengths| lengths == [0, 1, 0, 1, 0]) {
                bytes.pop();
            }
        };
        only_deep_finds(&Faulty { streamed, ..RIGHT }, 2, Law::Stream);
    }

    #[test]
    fn a_fault_at_one_alignment_is_found() {
        let verdict = |bytes: &[u8], verdict: Validity| {
            let spoiled = bytes.as_ptr().addr() % 64 == 13 && bytes == b"\xFF";
            if spoiled { Validity::Valid } else { verdict }
        };
        let decoder = Faulty { verdict, ..RIGHT };
        let mut parts = small(plan::deep(), 1);
        parts.retain(|part| part.name == "alignments");
        let outcome = run_on(&decoder, parts);
        assert!(outcome.divergences.keys().all(|signature| signature.law == Law::Placement));
        assert!(!outcome.divergences.is_empty());
    }
}
