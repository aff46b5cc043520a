//! Does a divergence depend on where it happens? Found by trying its subject elsewhere.
//!
//! What is tried: the unit alone, with ASCII before it at every offset and behind it or not. The signature then names
//! the strongest law that shows it there, so that inputs which differ only in their surroundings get one signature.

use super::Judge;
use super::divergence::{Shape, Subject};
use super::laws::{Broken, Law};
use crate::decoder::Decoder;
use crate::input::{Case, Cuts};
use crate::spec::model::announced_len;
use crate::spec::{Contract, units};
use crate::utf8::is_continuation;

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
    for core in cores(&contract, case, broken) {
        for behind in [&[b'a'; 64][..], &[]] {
            let shows = (0..OFFSETS).map(|offset| strongest(&mut judge, offset, core, behind)).collect::<Vec<_>>();
            let Some(&(law, subject)) = shows.iter().flatten().min() else { continue };
            let shape = match period(&shows.iter().map(Option::is_some).collect::<Vec<_>>()) {
                Some(1) if behind.is_empty() => Shape::Tail,
                Some(1) => Shape::Anywhere,
                Some(period) => Shape::Edge(period),
                None => Shape::Offset,
            };
            return Seen { law, subject, shape };
        }
    }
    match broken.law {
        Law::Stream => unchanged(Shape::Cut),
        Law::Prefix => unchanged(Shape::Offset),
        _ => unchanged(Shape::Context),
    }
}

/// What breaks where `core` stands behind so many ASCII bytes, in one chunk.
fn strongest(judge: &mut Judge<'_>, offset: usize, core: &[u8], behind: &[u8]) -> Option<(Law, Subject)> {
    let bytes = [&vec![b'a'; offset], core, behind].concat();
    let broken = judge.judge(&Case::with_cuts(&bytes, Cuts::NONE)).first()?;
    // These laws look at other inputs still, at other offsets.
    let here = !matches!(broken.law, Law::Prefix | Law::Concatenation);
    here.then_some((broken.law, broken.subject))
}

/// Ever more of what the decoder goes wrong on: the form its lead byte announces, the same with the byte behind it,
/// and that with the units around.
fn cores<'a>(contract: &Contract, case: &Case<'a>, broken: &Broken) -> Vec<&'a [u8]> {
    let bytes = case.bytes;
    let Some(offset) = broken.offset else { return Vec::new() };
    let all: Vec<_> = units(contract, bytes).collect();
    let Some(index) = all.iter().position(|unit| unit.range().contains(&offset)) else { return Vec::new() };
    let start = all[index].start;
    let announced = announced_len(bytes[start]).max(all[index].len);
    let form = bytes[start + 1..].iter().take(announced - 1).take_while(|&&byte| is_continuation(byte)).count() + 1;
    let end = (start + form).max(all[index].range().end);
    let before = all[index.saturating_sub(1)].start;
    let behind = all.iter().find(|unit| unit.start >= end).map_or(end, |unit| unit.range().end);
    vec![&bytes[start..end], &bytes[start..bytes.len().min(end + 1)], &bytes[before..behind]]
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
