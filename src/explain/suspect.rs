//! Which part of the input a decoder goes wrong on.
//!
//! A broken law says where answers part, if it can. That may be behind what caused it, or nowhere; here are the parts of
//! the input that may be the cause, the likeliest first.

use crate::case::{Case, Cuts};
use crate::judge::Subject;
use crate::judge::isolate::panics::panics;
use crate::judge::laws::{Broken, Law};
use crate::judge::{Judge, Questions};
use crate::spec::model::announced_len;
use crate::spec::{Contract, Reading, Unit, units};
use crate::utf8::is_continuation;

/// The laws about related inputs name a fault that a stronger law names on the related input itself.
pub(super) fn direct(judge: &mut Judge<'_>, case: &Case<'_>, broken: &Broken) -> Option<(Vec<u8>, Broken)> {
    const ENDS: usize = 16;
    let panics_here = |judge: &mut Judge<'_>| judge.judge_on(case, Questions::HERE).iter().any(|b| b.law == Law::Panic);
    if broken.law == Law::Panic && panics_here(judge) {
        return None;
    }
    let related: Vec<Vec<u8>> = match broken.law {
        Law::Prefix | Law::Panic => vec![[&vec![b'a'; case.prefix], case.bytes].concat()],
        Law::Concatenation => {
            let cut = case.cuts().offsets().first().copied()?;
            vec![case.bytes[..cut].to_vec(), case.bytes[cut..].to_vec()]
        }
        // Up to where a decoder goes that passes over an error, or stops where there is none.
        Law::ValidUpTo => {
            let decoder = judge.decoders().next()?;
            let mut verdict = None;
            panics(|| verdict = decoder.validate(case.bytes));
            let offset = verdict?.malformed()?.valid_up_to?.min(case.bytes.len());
            let unit = units(&decoder.info().contract, case.bytes).find(|unit| unit.range().contains(&offset));
            let ends = [Some(offset), unit.map(|unit| unit.range().end)];
            ends.into_iter().flatten().map(|end| case.bytes[..end].to_vec()).collect()
        }
        // What stands behind an error, the nearest to where answers part first.
        Law::Spans => {
            let contract = judge.decoders().next()?.info().contract;
            let parting = broken.offset.unwrap_or(case.bytes.len());
            let is_error = |unit: &Unit| matches!(unit.reading, Reading::IllFormed { .. });
            let ends = units(&contract, case.bytes).filter(is_error).map(|unit| unit.range().end);
            let mut ends: Vec<usize> = ends.take_while(|&end| end <= parting).collect();
            ends.reverse();
            ends.into_iter().take(ENDS).map(|end| case.bytes[end..].to_vec()).collect()
        }
        _ => return None,
    };
    related.into_iter().find_map(|bytes| {
        let first = judge.judge_on(&Case::with_cuts(&bytes, Cuts::NONE), Questions::HERE).first().copied()?;
        (first.law < broken.law || broken.law == Law::Panic).then_some((bytes, first))
    })
}

/// A piece of the input that may be all that matters.
pub(super) struct Core<'a> {
    pub(super) bytes: &'a [u8],
    /// Its offset in the input.
    pub(super) start: usize,
    /// Where in it the suspected unit begins.
    pub(super) focus: usize,
    /// Whether the input ends with it.
    pub(super) at_end: bool,
}

/// The parts of the input that may be the cause: of each of the ill-formed units in a row up to where answers part, and of
/// what stands there, all that its lead announces; the same with the byte behind it; as many bytes as it announces; and
/// each with those before and behind it.
pub(super) fn suspects<'a>(contract: &Contract, case: &Case<'a>, offset: Option<usize>) -> Vec<Core<'a>> {
    const IN_A_ROW: usize = 64;
    let Some(offset) = offset else { return Vec::new() };
    let all: Vec<Unit> = units(contract, case.bytes).collect();
    let Some(index) = all.iter().position(|unit| unit.range().contains(&offset)) else { return Vec::new() };
    let is_ill_formed = |unit: &&Unit| matches!(unit.reading, Reading::IllFormed { .. });
    let in_a_row = all[..index].iter().rev().take(IN_A_ROW).take_while(is_ill_formed).count();
    let row = &all[index - in_a_row..=index];
    let reaches: [fn(&[u8], &Unit) -> usize; 3] =
        [form_end, |bytes, unit| form_end(bytes, unit) + 1, |bytes, unit| unit.start + announced(bytes, unit)];
    let alone = |reach: fn(&[u8], &Unit) -> usize| {
        row.iter().map(move |unit| core(case.bytes, unit.start, reach(case.bytes, unit).min(case.bytes.len())))
    };
    let surrounded = (index - in_a_row..=index).map(|index| surrounded(case.bytes, &all, index));
    reaches.into_iter().flat_map(alone).chain(surrounded).collect()
}

fn core(bytes: &[u8], start: usize, end: usize) -> Core<'_> {
    Core { bytes: &bytes[start..end], start, focus: 0, at_end: end == bytes.len() }
}

/// How many bytes the lead of a unit announces; at least those of the unit.
fn announced(bytes: &[u8], unit: &Unit) -> usize {
    announced_len(bytes[unit.start]).max(unit.len)
}

/// The end of the form that the lead of a unit announces, as far as its bytes go on.
fn form_end(bytes: &[u8], unit: &Unit) -> usize {
    let others = bytes[unit.start + 1..].iter().take(announced(bytes, unit) - 1);
    (unit.start + 1 + others.take_while(|&&byte| is_continuation(byte)).count()).max(unit.range().end)
}

/// A unit with those before and behind it.
fn surrounded<'a>(bytes: &'a [u8], all: &[Unit], index: usize) -> Core<'a> {
    let end = form_end(bytes, &all[index]);
    let behind = all.iter().find(|unit| unit.start >= end).map_or(end, |unit| unit.range().end);
    let before = all[index.saturating_sub(1)].start;
    Core { focus: all[index].start - before, ..core(bytes, before, behind) }
}

/// Where a decoder that does not say goes wrong: the last unit of the shortest prefix that breaks this law or a stronger
/// one, once what need not stand before it is gone; or the only one there for which no ASCII can stand.
pub(super) fn locate(judge: &mut Judge<'_>, contract: &Contract, case: &Case<'_>, law: Law) -> Option<usize> {
    const FEW: usize = 64;
    if law >= Law::Stream {
        return None;
    }
    let mut breaks = |bytes: &[u8]| {
        let case = Case::with_cuts(bytes, Cuts::NONE);
        judge.judge(&case).first().is_some_and(|broken| broken.law <= law)
    };
    let all: Vec<Unit> = units(contract, case.bytes).collect();
    let last = count(&all, |unit| !breaks(&case.bytes[..unit.range().end]));
    let all = all.get(..=last)?;
    let end = all.last()?.range().end;
    let first = count(all, |unit| breaks(&case.bytes[unit.range().end.min(end)..end])).min(last);
    let kept = &all[first..];
    let start = kept.first()?.start;
    let last = count(kept, |unit| !breaks(&case.bytes[start..unit.range().end]));
    let kept = kept.get(..=last)?;
    // Where all else may be ASCII, it is the one that may not.
    let mut bytes = case.bytes[start..kept.last()?.range().end].to_vec();
    let mut needed = kept.iter().filter(|unit| unit.len > 1).take(FEW).filter(|unit| {
        let range = unit.start - start..unit.range().end - start;
        let before = bytes[range.clone()].to_vec();
        bytes[range.clone()].fill(b'a');
        let heals = !breaks(&bytes);
        if heals {
            bytes[range].copy_from_slice(&before);
        }
        heals
    });
    let only = needed.next().filter(|_| needed.next().is_none());
    only.or(kept.last()).map(|unit| unit.start)
}

/// For how many units, from the first on, this holds. Where there are very many they are halved, not tried in turn.
fn count(units: &[Unit], mut holds: impl FnMut(&Unit) -> bool) -> usize {
    const MANY: usize = 2048;
    match units.len() {
        ..=MANY => units.iter().take_while(|unit| holds(unit)).count(),
        _ => units.partition_point(holds),
    }
}

/// What stands at the cut that makes the law break: the unit that waits there for more; the unit where answers part, if that stands
/// at the cut; else the unit at the side of the cut where they do.
pub(super) fn cut_subject(judge: &mut Judge<'_>, contract: &Contract, case: &Case<'_>, law: Law) -> Option<Subject> {
    const FEW: usize = 1024;
    let len = case.bytes.len();
    let cuts: Vec<usize> = match case.cuts().step() {
        Some(step) => (1..).map(|index| index * step).take_while(|&cut| cut < len).take(FEW).collect(),
        None => case.cuts().offsets().to_vec(),
    };
    // One cut, or where that is not enough a few in a row.
    let (cut, broken) = [1, 2, 4].into_iter().find_map(|count| {
        cuts.windows(count).find_map(|cuts| {
            let alone = Case::with_cuts(case.bytes, Cuts::new(cuts.iter().copied(), len));
            let broken =
                judge.judge_on(&alone, Questions::STREAM).first().copied().filter(|broken| broken.law == law)?;
            Some((cuts[0], broken))
        })
    })?;
    let at = |offset: usize| units(contract, case.bytes).find(|unit| unit.range().contains(&offset));
    let parts_at_cut = broken.offset.and_then(at).is_some_and(|unit| [unit.start, unit.range().end].contains(&cut));
    let last = units(contract, &case.bytes[..cut]).last();
    let is_waiting = last.is_some_and(|unit| matches!(unit.reading, Reading::IllFormed { incomplete: true, .. }));
    let side = if broken.offset.is_some_and(|offset| offset >= cut) { cut } else { cut.saturating_sub(1) };
    Some(match law {
        Law::Detection => broken.subject,
        _ if is_waiting => Subject::at(contract, case.bytes, Some(cut.saturating_sub(1))),
        _ if parts_at_cut => broken.subject,
        _ => Subject::at(contract, case.bytes, Some(side)),
    })
}
