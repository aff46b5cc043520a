//! Does a divergence depend on where it happens? Found by trying its subject elsewhere.
//!
//! What is tried: the unit alone, with ASCII before it at every offset and behind it or not. The signature then names
//! the strongest law that shows it there, so that inputs which differ only in their surroundings get one signature.

use super::Judge;
use super::divergence::{Shape, Subject};
use super::laws::{Broken, Law};
use super::panics::panics;
use crate::decoder::Decoder;
use crate::input::{Case, Cuts};
use crate::spec::model::announced_len;
use crate::spec::{Contract, Reading, Unit, units};
use crate::utf8::is_continuation;

/// What became of a broken law under examination.
pub(super) struct Seen {
    pub(super) law: Law,
    pub(super) subject: Subject,
    pub(super) shape: Shape,
    /// An input that breaks this law on this subject, where the one at hand breaks another.
    pub(super) witness: Option<Vec<u8>>,
}

/// Offsets tried; the period of a shape is looked for behind the first 64, where whole blocks lie before the subject.
const OFFSETS: usize = 192;
const SETTLED: usize = 64;

pub(super) fn examine(decoder: &dyn Decoder, case: &Case<'_>, broken: &Broken) -> Seen {
    let mut judge = Judge::new([decoder]);
    let Some((bytes, direct)) = direct(&mut judge, case, broken) else {
        return examine_here(&mut judge, decoder, case, broken);
    };
    let seen = examine_here(&mut judge, decoder, &Case::with_cuts(&bytes, Cuts::NONE), &direct);
    Seen { witness: seen.witness.or(Some(bytes)), ..seen }
}

/// The laws about related inputs name a fault that a stronger law names on the related input itself.
fn direct(judge: &mut Judge<'_>, case: &Case<'_>, broken: &Broken) -> Option<(Vec<u8>, Broken)> {
    const ENDS: usize = 16;
    let related: Vec<Vec<u8>> = match broken.law {
        Law::Prefix => vec![[&vec![b'a'; case.prefix], case.bytes].concat()],
        Law::Concatenation => {
            let cut = case.cuts().offsets().first().copied()?;
            vec![case.bytes[..cut].to_vec(), case.bytes[cut..].to_vec()]
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
        let first = judge.judge(&Case::with_cuts(&bytes, Cuts::NONE)).first().copied()?;
        (first.law < broken.law).then_some((bytes, first))
    })
}

fn examine_here(judge: &mut Judge<'_>, decoder: &dyn Decoder, case: &Case<'_>, broken: &Broken) -> Seen {
    let contract = decoder.info().contract;
    let unchanged = |shape| Seen { law: broken.law, subject: broken.subject, shape, witness: None };
    if broken.law == Law::Reset {
        return unchanged(Shape::Cut);
    }
    let offset = broken.offset.or_else(|| locate(decoder, case));
    for Core { bytes: core, start, at_end } in offset.map_or(Vec::new(), |offset| cores(&contract, case.bytes, offset))
    {
        let behinds = [&[b'a'; 64][..], &[]];
        for behind in &behinds[..if at_end { 2 } else { 1 }] {
            let shows = (0..OFFSETS).map(|offset| strongest(judge, offset, core, behind)).collect::<Vec<_>>();
            // A fault that shows elsewhere but not where it was seen is another one.
            if shows[SETTLED + start % 64].is_none() && shows.get(start).is_none_or(Option::is_none) {
                continue;
            }
            let Some(&(law, subject)) = shows.iter().flatten().min() else { continue };
            let shape = match period(&shows.iter().map(Option::is_some).collect::<Vec<_>>()) {
                Some(1) if behind.is_empty() => Shape::Tail,
                Some(1) => Shape::Anywhere,
                Some(period) => Shape::Edge(period),
                None => Shape::Offset,
            };
            let first = shows.iter().position(|show| *show == Some((law, subject)));
            let witness = first.map(|offset| relocated(offset, core, behind));
            let witness = witness.filter(|_| (law, subject) != (broken.law, broken.subject));
            // Where less of the input shows only a weaker law broken, more of it is needed.
            if law <= broken.law {
                return Seen { law, subject, shape, witness };
            }
        }
    }
    match broken.law {
        Law::Stream | Law::Detection => {
            let subject = cut_subject(judge, case, broken.law).unwrap_or(broken.subject);
            Seen { subject, ..unchanged(Shape::Cut) }
        }
        Law::Placement | Law::Prefix => unchanged(Shape::Offset),
        _ => unchanged(Shape::Context),
    }
}

fn relocated(offset: usize, core: &[u8], behind: &[u8]) -> Vec<u8> {
    [&vec![b'a'; offset], core, behind].concat()
}

/// What breaks where `core` stands behind so many ASCII bytes, in one chunk.
fn strongest(judge: &mut Judge<'_>, offset: usize, core: &[u8], behind: &[u8]) -> Option<(Law, Subject)> {
    let bytes = relocated(offset, core, behind);
    let broken = judge.judge(&Case::with_cuts(&bytes, Cuts::NONE)).first()?;
    // These laws look at other inputs still, at other offsets.
    let here = !matches!(broken.law, Law::Placement | Law::Prefix | Law::Concatenation);
    let (law, subject) = (broken.law, broken.subject);
    let contract = judge.decoders().next()?.info().contract;
    let placed = if subject == Subject::Unplaced { Subject::at(&contract, &bytes, Some(offset)) } else { subject };
    here.then_some((law, placed))
}

/// Where a decoder that does not say goes wrong: the last unit of the shortest prefix it judges wrongly.
fn locate(decoder: &dyn Decoder, case: &Case<'_>) -> Option<usize> {
    let mut well_formed = true;
    for unit in units(&decoder.info().contract, case.bytes) {
        well_formed &= matches!(unit.reading, Reading::WellFormed(_));
        let mut verdict = None;
        if panics(|| verdict = decoder.validate(&case.bytes[..unit.range().end])) || verdict?.is_valid() != well_formed
        {
            return Some(unit.start);
        }
    }
    None
}

/// The unit that a single cut splits when the stream goes wrong, for the first cut that makes it do so.
fn cut_subject(judge: &mut Judge<'_>, case: &Case<'_>, law: Law) -> Option<Subject> {
    let contract = judge.decoders().next()?.info().contract;
    let cut = case.cuts().offsets().iter().copied().find(|&cut| {
        let alone = Case::with_cuts(case.bytes, Cuts::new([cut], case.bytes.len()));
        judge.judge(&alone).first().is_some_and(|broken| broken.law == law)
    })?;
    Some(Subject::at(&contract, case.bytes, Some(cut.saturating_sub(1))))
}

/// A piece of the input that may be all that matters.
struct Core<'a> {
    bytes: &'a [u8],
    /// Its offset in the input.
    start: usize,
    /// Whether the input ends with it.
    at_end: bool,
}

/// Ever more of what the decoder goes wrong on: the form its lead byte announces, the same with the byte behind it,
/// as many bytes as it announces whatever they are, and the first with the units around.
fn cores<'a>(contract: &Contract, bytes: &'a [u8], offset: usize) -> Vec<Core<'a>> {
    let all: Vec<_> = units(contract, bytes).collect();
    let Some(index) = all.iter().position(|unit| unit.range().contains(&offset)) else { return Vec::new() };
    let start = all[index].start;
    let announced = announced_len(bytes[start]).max(all[index].len);
    let form = bytes[start + 1..].iter().take(announced - 1).take_while(|&&byte| is_continuation(byte)).count() + 1;
    let end = (start + form).max(all[index].range().end);
    let before = all[index.saturating_sub(1)].start;
    let behind = all.iter().find(|unit| unit.start >= end).map_or(end, |unit| unit.range().end);
    let whole = bytes.len().min(start + announced);
    let ranges = [(start, end), (start, bytes.len().min(end + 1)), (start, whole), (before, behind)];
    ranges.map(|(start, end)| Core { bytes: &bytes[start..end], start, at_end: end == bytes.len() }).into()
}

/// The least of 1, 16, 32 and 64 with which the hits behind the first offsets repeat.
fn period(hits: &[bool]) -> Option<u8> {
    let settled = &hits[SETTLED..];
    if !settled.contains(&true) {
        return None;
    }
    if !settled.contains(&false) {
        // Everywhere, or everywhere but near the start.
        return hits.iter().all(|&hit| hit).then_some(1);
    }
    [16, 32, 64]
        .into_iter()
        .find(|&period| settled.windows(period + 1).all(|window| window[0] == window[period]))
        .map(|period| period as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_is_the_least_that_fits() {
        let every = |period: usize| (0..OFFSETS).map(|offset| offset % period == period - 1).collect::<Vec<_>>();
        assert_eq!(period(&every(1)), Some(1));
        assert_eq!(period(&every(16)), Some(16));
        assert_eq!(period(&every(32)), Some(32));
        assert_eq!(period(&every(64)), Some(64));
        assert_eq!(period(&every(48)), None);
        assert_eq!(period(&(0..OFFSETS).map(|offset| offset > 0).collect::<Vec<_>>()), None);
        assert_eq!(period(&(0..OFFSETS).map(|offset| offset < 20).collect::<Vec<_>>()), None);
    }
}
