//! The class strings of a plan, in pieces that the threads take in turn.

use crate::case::Case;
use crate::decoder::Decoder;
use crate::engine::check::outcome::{BATCH, Control, Covered, session};
use crate::generate::classes::ClassPartition;
use crate::generate::plan::{Part, Set};
use crate::judge::Questions;
use crate::triage::ledger::Ledger;
use crate::triage::session::Record;
use rayon::prelude::*;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// Runs these parts of a plan one after the other, each on all cores. A decoder whose grammar distinguishes fewer
/// classes is judged on one string of each group that its grammar does not distinguish.
pub(super) fn check(
    decoders: &[&dyn Decoder],
    ledger: &Ledger,
    parts: Vec<Part>,
    control: &Control,
    progress: &(dyn Fn(f64) + Sync),
) -> (Vec<Covered>, Record) {
    let total: u64 = parts.iter().map(Part::cases).sum();
    let done = AtomicU64::new(0);
    let (mut covered, mut record) = (Vec::new(), Record::default());
    for part in parts {
        let start = Instant::now();
        let of_part = pieces(&part).into_par_iter().map(|piece| {
            let of_piece = control.piece(|| run_piece(decoders, ledger, piece));
            let cases = of_piece.statistics.cases;
            progress((done.fetch_add(cases, Ordering::Relaxed) + cases) as f64 / total as f64);
            of_piece
        });
        let of_part = of_part.reduce(Record::default, Record::merge);
        let (cases, comparisons) = (of_part.statistics.cases, of_part.statistics.comparisons.clone());
        record = record.merge(of_part);
        if control.is_stopped() {
            break;
        }
        covered.push(Covered { part, cases, comparisons, seconds: start.elapsed().as_secs_f64() });
    }
    (covered, record)
}

/// Some strings of a set.
type Stretch = (Set, Range<u64>);

/// Every string of every set once, in pieces of tens of thousands of cases.
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

fn run_piece(decoders: &[&dyn Decoder], ledger: &Ledger, piece: Vec<Stretch>) -> Record {
    let mut session = session(decoders, ledger);
    let partitions: Vec<ClassPartition> =
        decoders.iter().map(|decoder| ClassPartition::of(&decoder.info().contract)).collect();
    for (set, range) in piece {
        let questions = Questions::from(set.ask);
        let mut writer = set.writer();
        let (start, end) = (set.strings.offset, set.strings.offset + set.strings.len as usize);
        for first in range.clone().step_by(BATCH) {
            let batch = first..range.end.min(first + BATCH as u64);
            let is_selected = |case: &Case<'_>, decoder: usize| partitions[decoder].has(&case.bytes[start..end], start);
            if session.is_batched() {
                batch.clone().for_each(|index| {
                    writer.each(index, |case| session.plan(case, questions, |decoder| is_selected(case, decoder)));
                });
                session.ask_planned();
            }
            batch.for_each(|index| {
                writer.each(index, |case| {
                    session.judge_selected(case, questions, |decoder| is_selected(case, decoder));
                });
            });
        }
    }
    session.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::check::faulty::{Faulty, RIGHT};
    use crate::engine::check::outcome::Outcome;
    use crate::generate::plan;
    use crate::judge::Law;
    use crate::utf8::Validity;
    use std::collections::BTreeMap;

    /// The parts, with only their short strings.
    fn small(parts: Vec<Part>, longest: u32) -> Vec<Part> {
        let keep = |mut part: Part| {
            part.sets.retain(|set| set.strings.len <= longest);
            part
        };
        parts.into_iter().map(keep).filter(|part| !part.sets.is_empty()).collect()
    }

    fn run_on(decoder: &Faulty, parts: Vec<Part>) -> Outcome {
        let (covered, record) = check(&[decoder], &Ledger::default(), parts, &Control::default(), &|_| {});
        Outcome { covered, ..Outcome::of(record) }
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

    /// Asserts that the deep plan finds the fault and the standard plan does not, both with strings up to this length.
    fn only_deep_finds(decoder: &Faulty, longest: u32, law: Law) {
        let standard = run_on(decoder, small(plan::standard(), longest));
        assert!(standard.divergences.is_empty(), "{:?}", standard.divergences.keys());
        let deep = run_on(decoder, small(plan::deep(), longest));
        let laws: Vec<Law> = deep.divergences.keys().map(|signature| signature.law).collect();
        assert!(laws.contains(&law), "{laws:?}");
    }

    #[test]
    fn a_fault_in_ill_formed_surroundings_is_found() {
        // The fourth error and later ones are not replaced.
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
        // An empty chunk after each byte: cuts derived from the bytes have fewer of these.
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
