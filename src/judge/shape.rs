//! Does a divergence depend on where it happens? Found by trying its subject elsewhere.
//!
//! What is tried: the unit alone, with ASCII before it at every offset and behind it or not. The signature then names
//! the strongest law that shows it there, so that inputs which differ only in their surroundings get one signature.

use super::Judge;
use super::divergence::{Shape, Subject};
use super::laws::{Broken, Law};
use crate::decoder::Decoder;
use crate::input::{Case, Cuts};
use crate::spec::{Contract, units};

/// What became of a broken law under examination.
pub(super) struct Seen {
    pub(super) law: Law,
    pub(super) subject: Subject,
    pub(super) shape: Shape,
}

/// Offsets tried; the period of a shape is looked for behind the first 64, where whole blocks lie before the subject.
const OFFSETS: usize = 192;
const SETTLED: usize = 64;

pub(super) fn examine(decoder: &dyn Decoder, case: &Case<'_>, broken: &Broken) -> Seen {
    let contract = decoder.info().contract;
    let mut judge = Judge::new([decoder]);
    let unchanged = |shape| Seen { law: broken.law, subject: broken.subject, shape };
    if broken.law == Law::Reset {
        return unchanged(Shape::Cut);
    }
    let Some(core) = core(&contract, case, broken) else { return unchanged(Shape::Context) };
    for behind in [&[b'a'; 64][..], &[]] {
        let shows: Vec<Option<(Law, Subject)>> = (0..OFFSETS)
            .map(|offset| {
                let bytes = [&vec![b'a'; offset], core, behind].concat();
                let hit = judge.judge(&Case::with_cuts(&bytes, Cuts::NONE)).first().copied();
                hit.map(|hit| (hit.law, hit.subject))
                    .filter(|(law, _)| *law != Law::Prefix && *law != Law::Concatenation)
            })
            .collect();
        let Some(&(law, subject)) = shows.iter().flatten().min() else { continue };
        let shape = match period(&shows.iter().map(Option::is_some).collect::<Vec<_>>()) {
            Some(1) if behind.is_empty() => Shape::Tail,
            Some(1) => Shape::Anywhere,
            Some(period) => Shape::Edge(period),
            None => Shape::Offset,
        };
        return Seen { law, subject, shape };
    }
    match broken.law {
        Law::Stream => unchanged(Shape::Cut),
        Law::Prefix => unchanged(Shape::Offset),
        _ => unchanged(Shape::Context),
    }
}

/// The unit the decoder goes wrong on, with the byte that ends it where that is no character of its own.
fn core<'a>(contract: &Contract, case: &Case<'a>, broken: &Broken) -> Option<&'a [u8]> {
    let offset = broken.offset?;
    let unit = units(contract, case.bytes).find(|unit| unit.range().contains(&offset))?;
    let end = match case.bytes.get(unit.range().end) {
        // What follows an ill-formed unit may be what makes it so.
        Some(byte) if !byte.is_ascii() && matches!(broken.subject, Subject::Fault(_)) => unit.range().end + 1,
        _ => unit.range().end,
    };
    Some(&case.bytes[unit.start..end])
}

/// The least of 1, 16, 32 and 64 with which the hits behind the first offsets repeat.
fn period(hits: &[bool]) -> Option<u8> {
    let settled = &hits[SETTLED..];
    if !settled.contains(&true) {
        return None;
    }
    if hits.iter().all(|&hit| hit) {
        return Some(1);
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
        assert_eq!(period(&(0..OFFSETS).map(|offset| offset < 20).collect::<Vec<_>>()), None);
    }
}
