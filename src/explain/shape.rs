//! Does a divergence depend on where it happens? Found by trying its subject elsewhere.
//!
//! What is tried: the unit alone, with ASCII before it at every offset and behind it or not. The signature then names
//! the strongest law that shows it there, so that inputs which differ only in their surroundings get one signature.

use crate::case::{Case, Cuts};
use crate::decoder::Decoder;
use crate::explain::signature::{Shape, Signature};
use crate::explain::suspect::{Core, cut_subject, direct, locate, suspects};
use crate::judge::Subject;
use crate::judge::laws::{Broken, Law};
use crate::judge::{Judge, Questions};

/// What became of a broken law under examination.
pub(super) struct Seen {
    pub(super) law: Law,
    pub(super) subject: Subject,
    pub(super) shape: Shape,
    /// An input that breaks this law on this subject, where the one at hand breaks another.
    pub(super) witness: Option<Vec<u8>>,
}

impl Seen {
    pub(super) fn signature(&self, decoder: &dyn Decoder) -> Signature {
        Signature { law: self.law, decoder: decoder.info().name.clone(), subject: self.subject, shape: self.shape }
    }
}

/// Offsets tried; the period of a shape is looked for behind the first 64, where whole blocks lie before the subject.
const OFFSETS: usize = 192;
const SETTLED: usize = 64;

pub(super) fn examine(decoder: &dyn Decoder, case: &Case<'_>, broken: &Broken) -> Seen {
    let mut judge = Judge::new([decoder]);
    let mut moved: Option<(Vec<u8>, Broken)> = None;
    // A related input may lead to another.
    for _ in 0..3 {
        let nearer = match &moved {
            None => direct(&mut judge, case, broken),
            Some((bytes, broken)) => direct(&mut judge, &Case::with_cuts(bytes, Cuts::NONE), broken),
        };
        match nearer {
            Some(nearer) => moved = Some(nearer),
            None => break,
        }
    }
    let Some((bytes, direct)) = moved else { return examine_here(&mut judge, decoder, case, broken) };
    let seen = examine_here(&mut judge, decoder, &Case::with_cuts(&bytes, Cuts::NONE), &direct);
    Seen { witness: seen.witness.or(Some(bytes)), ..seen }
}

fn examine_here(judge: &mut Judge<'_>, decoder: &dyn Decoder, case: &Case<'_>, broken: &Broken) -> Seen {
    let contract = decoder.info().contract;
    let mut broken = *broken;
    let remembers = matches!(broken.law, Law::Reset | Law::Repeat);
    if !remembers && broken.offset.is_none() {
        broken.offset = locate(judge, &contract, case, broken.law);
        if broken.subject == Subject::Unplaced {
            broken.subject = Subject::at(&contract, case.bytes, broken.offset);
        }
    }
    let unchanged = |shape| Seen { law: broken.law, subject: broken.subject, shape, witness: None };
    if remembers {
        return unchanged(if broken.law == Law::Reset { Shape::Cut } else { Shape::Context });
    }
    for Core { bytes: core, start, focus, at_end } in suspects(&contract, case, broken.offset) {
        let behinds = [&[b'a'; 64][..], &[]];
        for behind in &behinds[..if at_end { 2 } else { 1 }] {
            // A fault that shows elsewhere but not where it was seen is another one.
            if [SETTLED + start % 64, start]
                .iter()
                .all(|&offset| strongest(judge, offset, core, focus, behind).is_none())
            {
                continue;
            }
            let shows = (0..OFFSETS).map(|offset| strongest(judge, offset, core, focus, behind)).collect::<Vec<_>>();
            // It may show only farther behind than was tried.
            let far = if start >= OFFSETS { strongest(judge, start, core, focus, behind) } else { None };
            let Some(&(law, subject)) = shows.iter().chain([&far]).flatten().min() else { continue };
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
        Law::Stream | Law::Detection | Law::Panic => match cut_subject(judge, &contract, case, broken.law) {
            Some(subject) => Seen { subject, ..unchanged(Shape::Cut) },
            None if broken.law == Law::Panic => unchanged(Shape::Context),
            None => unchanged(Shape::Cut),
        },
        Law::Placement | Law::Prefix => unchanged(Shape::Offset),
        _ => unchanged(Shape::Context),
    }
}

fn relocated(offset: usize, core: &[u8], behind: &[u8]) -> Vec<u8> {
    [&vec![b'a'; offset], core, behind].concat()
}

/// What breaks where `core` stands behind so many ASCII bytes, in one chunk.
fn strongest(judge: &mut Judge<'_>, offset: usize, core: &[u8], focus: usize, behind: &[u8]) -> Option<(Law, Subject)> {
    let bytes = relocated(offset, core, behind);
    // The other questions are about other inputs still, at other offsets.
    let broken = judge.judge_on(&Case::with_cuts(&bytes, Cuts::NONE), Questions::HERE).first()?;
    let (law, subject) = (broken.law, broken.subject);
    let contract = judge.decoders().next()?.info().contract;
    let placed =
        if subject == Subject::Unplaced { Subject::at(&contract, &bytes, Some(offset + focus)) } else { subject };
    Some((law, placed))
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
