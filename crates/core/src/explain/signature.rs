//! The signature: the name of a divergence, the same on every machine and in every run; and how it is determined.
//!
//! [`examine`] finds the part of the input that a decoder gets wrong, and whether the failure depends on where that part
//! is. A broken law usually states the offset at which the answers differ. That offset may be missing, or lie after the
//! cause; so the parts that may be the cause are tried, the most likely first: each without its original surroundings,
//! with ASCII before it at every offset, and with or without text after it. The signature then names the strongest law
//! that is broken there, so that inputs which differ only in the surroundings get the same signature.

use crate::case::{Case, Cuts};
use crate::decoder::Decoder;
use crate::judge::isolate::panics;
use crate::judge::laws::Broken;
use crate::judge::{Judge, Law, Questions, Subject};
use crate::spec::{Contract, Reading, Segment, segments};
use crate::utf8::{announced_len, is_continuation};
use core::fmt;
use std::borrow::Cow;

/// Whether a divergence depends on where its subject is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Shape {
    /// At every offset, with text after it.
    Anywhere,
    /// Only at certain offsets, which repeat every 16, 32, 64, 128 or 256 bytes.
    Edge(u16),
    /// Only at certain addresses, which repeat every 16, 32 or 64 bytes.
    Aligned(u16),
    /// Only in an input of a certain size, or with a certain number of errors.
    Size,
    /// Only at certain offsets, which do not repeat with such a period.
    Offset,
    /// Only at the end of the input.
    Tail,
    /// Only where chunks are cut.
    Cut,
    /// Only together with the text before it, or with more of the surrounding bytes.
    Context,
}

impl Shape {
    /// Every shape.
    pub const ALL: [Self; 14] = [
        Self::Anywhere,
        Self::Edge(16),
        Self::Edge(32),
        Self::Edge(64),
        Self::Edge(128),
        Self::Edge(256),
        Self::Aligned(16),
        Self::Aligned(32),
        Self::Aligned(64),
        Self::Size,
        Self::Offset,
        Self::Tail,
        Self::Cut,
        Self::Context,
    ];

    /// Whether the cause is not the subject, but where it is, what surrounds it, or the size of the input.
    pub fn is_location(self) -> bool {
        match self {
            Self::Anywhere | Self::Tail => false,
            Self::Edge(_) | Self::Aligned(_) | Self::Size | Self::Offset | Self::Cut | Self::Context => true,
        }
    }

    /// The shape with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|shape| shape.to_string() == name)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anywhere => f.write_str("anywhere"),
            Self::Edge(period) => write!(f, "edge{period}"),
            Self::Aligned(period) => write!(f, "aligned{period}"),
            Self::Size => f.write_str("size"),
            Self::Offset => f.write_str("offset"),
            Self::Tail => f.write_str("tail"),
            Self::Cut => f.write_str("cut"),
            Self::Context => f.write_str("context"),
        }
    }
}

/// What a divergence is, the same on every machine and run: `law/decoder/subject/shape`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signature {
    /// The strongest law that shows it.
    pub law: Law,
    /// The decoder's name.
    pub decoder: Cow<'static, str>,
    /// What the decoder gets wrong.
    pub subject: Subject,
    /// Whether that depends on the position.
    pub shape: Shape,
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.law, self.decoder, self.subject, self.shape)
    }
}

impl Signature {
    /// The signature with its digits spelled out, for crash states in which digits are normalised.
    pub fn spelled(&self) -> String {
        const DIGITS: [&str; 10] = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
        let spell = |c: char| match c.to_digit(10) {
            Some(digit) => DIGITS[digit as usize].to_owned(),
            None => c.to_string(),
        };
        self.to_string().chars().map(spell).collect()
    }
}

/// The result of locating the cause of a broken law.
pub(super) struct Located {
    pub(super) law: Law,
    pub(super) subject: Subject,
    pub(super) shape: Shape,
    /// An input that breaks this law on this subject, if the original input breaks another law, or this one on another
    /// subject.
    pub(super) witness: Option<Vec<u8>>,
}

impl Located {
    pub(super) fn signature(&self, decoder: &dyn Decoder) -> Signature {
        Signature { law: self.law, decoder: decoder.info().name.clone(), subject: self.subject, shape: self.shape }
    }
}

/// The number of offsets tried. The period of a shape is determined after the first 64, where whole blocks precede the
/// subject.
const OFFSETS: usize = 192;
const SETTLED: usize = 64;
/// The number of offsets tried if that is not enough to tell a period: the first 64, and three times the longest period.
const MORE_OFFSETS: usize = 832;

pub(super) fn examine(decoder: &dyn Decoder, case: &Case<'_>, broken: &Broken) -> Located {
    if let Subject::Process(_) = broken.subject {
        // Each further question would end the process again.
        return Located { law: broken.law, subject: broken.subject, shape: Shape::Anywhere, witness: None };
    }
    let mut judge = Judge::new([decoder]);
    let mut moved: Option<(Vec<u8>, Broken)> = None;
    // A related input may have a related input itself.
    for _ in 0..3 {
        let nearer = match &moved {
            None => on_related_input(&mut judge, case, broken),
            Some((bytes, broken)) => on_related_input(&mut judge, &case.alike(bytes, Cuts::NONE), broken),
        };
        match nearer {
            Some(nearer) => moved = Some(nearer),
            None => break,
        }
    }
    let Some((bytes, nearest)) = moved else { return examine_here(&mut judge, decoder, case, broken) };
    let located = examine_here(&mut judge, decoder, &case.alike(&bytes, Cuts::NONE), &nearest);
    Located { witness: located.witness.or(Some(bytes)), ..located }
}

fn examine_here(judge: &mut Judge<'_>, decoder: &dyn Decoder, case: &Case<'_>, broken: &Broken) -> Located {
    let contract = decoder.info().contract;
    let mut broken = *broken;
    if !broken.law.is_about_state() && broken.offset.is_none() {
        broken.offset = locate(judge, &contract, case, broken.law);
        if broken.subject == Subject::Unplaced {
            broken.subject = Subject::at(&contract, case.bytes, broken.offset);
        }
    }
    let unchanged = |shape| Located { law: broken.law, subject: broken.subject, shape, witness: None };
    if broken.law.is_about_state() {
        return unchanged(if broken.law == Law::Reset { Shape::Cut } else { Shape::Context });
    }
    if let Some(located) = at_suspects(judge, &contract, case, &broken, broken.offset) {
        return located;
    }
    // An output that lacks one of many equal characters differs from the expected one only at the end of these.
    if broken.law == Law::Lossy
        && let cause @ Some(_) = locate(judge, &contract, case, broken.law)
        && cause != broken.offset
        && let Some(located) = at_suspects(judge, &contract, case, &broken, cause)
    {
        return located;
    }
    if let Some((law, subject)) = only_if_many(judge, &contract, case, &broken) {
        return Located { law, subject, ..unchanged(Shape::Size) };
    }
    match broken.law {
        law if law.is_about_streams() && fails_uncut(judge, case, law) => unchanged(Shape::Context),
        law if law.may_depend_on_cuts() => match cut_subject(judge, &contract, case, broken.law) {
            Some(subject) => Located { subject, ..unchanged(Shape::Cut) },
            None if broken.law == Law::Panic => unchanged(Shape::Context),
            None => unchanged(Shape::Cut),
        },
        Law::Placement => unchanged(alignment(judge, case)),
        Law::Prefix => unchanged(Shape::Offset),
        _ => unchanged(Shape::Context),
    }
}

/// Where the law is broken, if one of the [`suspects`] at the offset breaks it, or a stronger one, by itself.
fn at_suspects(
    judge: &mut Judge<'_>,
    contract: &Contract,
    case: &Case<'_>,
    broken: &Broken,
    offset: Option<usize>,
) -> Option<Located> {
    for Core { bytes: core, start, focus, at_end, needs_text } in suspects(contract, case, offset) {
        let endings = [&[b'a'; 64][..], &[]];
        for ending in &endings[..if at_end { 2 } else { 1 }] {
            // A fault that occurs elsewhere but not at the original offset is a different one.
            if [SETTLED + start % 64, start]
                .iter()
                .all(|&offset| strongest(judge, case, offset, core, focus, ending).is_none())
            {
                continue;
            }
            let moved: Vec<Vec<u8>> = (0..OFFSETS).map(|offset| relocated(offset, core, ending)).collect();
            judge.prepare(moved.iter().map(|bytes| case.alike(bytes, Cuts::NONE)), Questions::IN_PLACE);
            let mut try_at = |offset| strongest(judge, case, offset, core, focus, ending);
            let mut shows = (0..OFFSETS).map(&mut try_at).collect::<Vec<_>>();
            // It may occur only at larger offsets than those tried.
            let far = if start >= OFFSETS { try_at(start) } else { None };
            let settled = &shows[SETTLED..];
            let varies = settled.iter().any(Option::is_some) && settled.iter().any(Option::is_none);
            if period(&shows).is_none() && (varies || far.is_some()) {
                shows.extend((OFFSETS..MORE_OFFSETS).map(&mut try_at));
            }
            let Some(&(law, subject)) = shows.iter().chain([&far]).flatten().min() else { continue };
            let shape = match period(&shows) {
                Some(1) if ending.is_empty() => Shape::Tail,
                Some(1) if needs_text => Shape::Context,
                Some(1) => Shape::Anywhere,
                Some(period) => Shape::Edge(period),
                None if shows.iter().all(Option::is_none) => Shape::Size,
                None => Shape::Offset,
            };
            let first = shows.iter().position(|show| *show == Some((law, subject)));
            let witness = first.map(|offset| relocated(offset, core, ending));
            let witness = witness.filter(|_| (law, subject) != (broken.law, broken.subject));
            // If this part breaks only a weaker law, more of the input is needed.
            if law.is_at_least_as_strong_as(broken.law) {
                return Some(Located { law, subject, shape, witness });
            }
        }
    }
    None
}

fn relocated(offset: usize, core: &[u8], ending: &[u8]) -> Vec<u8> {
    [&vec![b'a'; offset], core, ending].concat()
}

/// The law that is broken, and on which subject, if `core` follows `offset` ASCII bytes, in one chunk.
fn strongest(
    judge: &mut Judge<'_>,
    case: &Case<'_>,
    offset: usize,
    core: &[u8],
    focus: usize,
    ending: &[u8],
) -> Option<(Law, Subject)> {
    let bytes = relocated(offset, core, ending);
    // The other questions are about related inputs, with other offsets.
    let broken = judge.judge_on(&case.alike(&bytes, Cuts::NONE), Questions::IN_PLACE).first()?;
    let (law, subject) = (broken.law, broken.subject);
    let contract = judge.decoders().next()?.info().contract;
    let placed =
        if subject == Subject::Unplaced { Subject::at(&contract, &bytes, Some(offset + focus)) } else { subject };
    Some((law, placed))
}

/// The smallest period of 1, 16, 32, 64, 128 and 256 with which the result repeats, at least twice, after the first 64
/// offsets.
fn period<T>(shows: &[Option<T>]) -> Option<u16> {
    let is_same = |one: &Option<T>, other: &Option<T>| one.is_some() == other.is_some();
    let settled = &shows[SETTLED..];
    if settled.iter().all(Option::is_none) {
        return None;
    }
    if settled.iter().all(Option::is_some) {
        // Everywhere, or everywhere except near the start.
        return shows.iter().all(Option::is_some).then_some(1);
    }
    let repeats = |period: usize| {
        settled.len() >= 2 * period && settled.windows(period + 1).all(|window| is_same(&window[0], &window[period]))
    };
    [16, 32, 64, 128, 256].into_iter().find(|&period| repeats(usize::from(period)))
}

/// Whether the law is broken without any cut.
fn fails_uncut(judge: &mut Judge<'_>, case: &Case<'_>, law: Law) -> bool {
    let whole = case.alike(case.bytes, Cuts::NONE);
    judge.judge_on(&whole, Questions::STREAM).iter().any(|broken| broken.law == law)
}

/// The law that is broken by one error repeated as often as there are errors in the input, if the error alone breaks none.
fn only_if_many(
    judge: &mut Judge<'_>,
    contract: &Contract,
    case: &Case<'_>,
    broken: &Broken,
) -> Option<(Law, Subject)> {
    const FEW: usize = 100;
    const LONGEST: usize = 1_048_576;
    if !broken.law.is_about_one_answer() {
        return None;
    }
    let is_error = |segment: &Segment| matches!(segment.reading, Reading::IllFormed { .. });
    let count = segments(contract, case.bytes).filter(is_error).take(LONGEST).count();
    let error = segments(contract, case.bytes)
        .filter(is_error)
        .find(|error| broken.offset.is_none_or(|offset| error.range().end > offset))?;
    let one = [&case.bytes[error.range()], b"a"].concat();
    let mut breaks = |count: usize| {
        let bytes = one.repeat(count);
        judge.judge_on(&case.alike(&bytes, Cuts::NONE), Questions::IN_PLACE).first().copied()
    };
    let many = (count >= FEW && count * one.len() <= LONGEST).then(|| breaks(count)).flatten();
    let many = many.filter(|many| many.law.is_at_least_as_strong_as(broken.law) && breaks(1).is_none());
    many.map(|many| (many.law, many.subject))
}

/// Whether the addresses at which the law of placement is broken repeat.
fn alignment(judge: &mut Judge<'_>, case: &Case<'_>) -> Shape {
    const BLOCK: usize = 64;
    let keeps = |alignment| judge.judge_on(&case.at_alignment(alignment), Questions::PLACEMENT).is_empty();
    let kept: Vec<bool> = (0..BLOCK).map(keeps).collect();
    if !(kept.contains(&true) && kept.contains(&false)) {
        return Shape::Offset;
    }
    let repeats = |period: &usize| kept.windows(period + 1).all(|window| window[0] == window[*period]);
    Shape::Aligned([16, 32].into_iter().find(repeats).unwrap_or(BLOCK) as u16)
}

/// A law about related inputs may be broken because a stronger law is broken on a related input itself. Returns that
/// input, and the law it breaks.
fn on_related_input(judge: &mut Judge<'_>, case: &Case<'_>, broken: &Broken) -> Option<(Vec<u8>, Broken)> {
    const ENDS: usize = 16;
    let panics_here =
        |judge: &mut Judge<'_>| judge.judge_on(case, Questions::IN_PLACE).iter().any(|b| b.law == Law::Panic);
    if broken.law == Law::Panic && panics_here(judge) {
        return None;
    }
    let related: Vec<Vec<u8>> = match broken.law {
        Law::Prefix | Law::Panic => vec![[&vec![b'a'; case.prefix()], case.bytes].concat()],
        Law::Concatenation => {
            let cut = case.cuts().offsets().first().copied()?;
            vec![case.bytes[..cut].to_vec(), case.bytes[cut..].to_vec()]
        }
        // The decoder missed an error or reported one that does not exist: try the input up to the offset it reported.
        Law::ValidUpTo => {
            let decoder = judge.decoders().next()?;
            let mut verdict = None;
            panics(&decoder.info().name, case.bytes, || verdict = decoder.validate(case.bytes));
            let offset = verdict?.malformed()?.valid_up_to?.min(case.bytes.len());
            let segment =
                segments(&decoder.info().contract, case.bytes).find(|segment| segment.range().contains(&offset));
            let ends = [Some(offset), segment.map(|segment| segment.range().end)];
            ends.into_iter().flatten().map(|end| case.bytes[..end].to_vec()).collect()
        }
        // The input after an error, starting with the error nearest to where the answers differ.
        Law::Spans => {
            let contract = judge.decoders().next()?.info().contract;
            let mismatch = broken.offset.unwrap_or(case.bytes.len());
            let is_error = |segment: &Segment| matches!(segment.reading, Reading::IllFormed { .. });
            let ends = segments(&contract, case.bytes).filter(is_error).map(|segment| segment.range().end);
            let mut ends: Vec<usize> = ends.take_while(|&end| end <= mismatch).collect();
            ends.reverse();
            ends.into_iter().take(ENDS).map(|end| case.bytes[end..].to_vec()).collect()
        }
        _ => return None,
    };
    related.into_iter().find_map(|bytes| {
        let first = judge.judge_on(&case.alike(&bytes, Cuts::NONE), Questions::IN_PLACE).first().copied()?;
        (first.law != broken.law && first.law.is_at_least_as_strong_as(broken.law) || broken.law == Law::Panic)
            .then_some((bytes, first))
    })
}

/// A part of the input that may be the cause.
struct Core<'a> {
    bytes: &'a [u8],
    /// Its offset in the input.
    start: usize,
    /// The offset in it of the suspected segment.
    focus: usize,
    /// Whether the input ends with it.
    at_end: bool,
    /// Whether it begins with a well-formed segment before the suspected one.
    needs_text: bool,
}

/// The parts of the input that may be the cause. The suspected segments are the one at the offset and the run of
/// ill-formed segments before it. For each of them the parts are: the lead byte and the announced continuation bytes
/// that follow; the same and the next byte; as many bytes as are announced; and the segment with its neighbours.
fn suspects<'a>(contract: &Contract, case: &Case<'a>, offset: Option<usize>) -> Vec<Core<'a>> {
    const IN_A_ROW: usize = 64;
    let Some(offset) = offset else { return Vec::new() };
    let all: Vec<Segment> = segments(contract, case.bytes).collect();
    let Some(index) = all.iter().position(|segment| segment.range().contains(&offset)) else { return Vec::new() };
    let is_ill_formed = |segment: &&Segment| matches!(segment.reading, Reading::IllFormed { .. });
    let in_a_row = all[..index].iter().rev().take(IN_A_ROW).take_while(is_ill_formed).count();
    let row = &all[index - in_a_row..=index];
    let reaches: [fn(&[u8], &Segment) -> usize; 3] = [
        form_end,
        |bytes, segment| form_end(bytes, segment) + 1,
        |bytes, segment| segment.start + announced(bytes, segment),
    ];
    let alone = |reach: fn(&[u8], &Segment) -> usize| {
        row.iter().map(move |segment| core(case.bytes, segment.start, reach(case.bytes, segment).min(case.bytes.len())))
    };
    let surrounded = (index - in_a_row..=index).map(|index| surrounded(case.bytes, &all, index));
    reaches.into_iter().flat_map(alone).chain(surrounded).collect()
}

fn core(bytes: &[u8], start: usize, end: usize) -> Core<'_> {
    Core { bytes: &bytes[start..end], start, focus: 0, at_end: end == bytes.len(), needs_text: false }
}

/// How many bytes the lead byte of a segment announces; at least the length of the segment.
fn announced(bytes: &[u8], segment: &Segment) -> usize {
    announced_len(bytes[segment.start]).max(segment.len)
}

/// The end of the lead byte's sequence: as many continuation bytes as follow, up to the announced length.
fn form_end(bytes: &[u8], segment: &Segment) -> usize {
    let others = bytes[segment.start + 1..].iter().take(announced(bytes, segment) - 1);
    (segment.start + 1 + others.take_while(|&&byte| is_continuation(byte)).count()).max(segment.range().end)
}

/// A segment with its neighbours.
fn surrounded<'a>(bytes: &'a [u8], all: &[Segment], index: usize) -> Core<'a> {
    let end = form_end(bytes, &all[index]);
    let after = all.iter().find(|segment| segment.start >= end).map_or(end, |segment| segment.range().end);
    let before = &all[index.saturating_sub(1)];
    let needs_text = index > 0 && !matches!(before.reading, Reading::IllFormed { .. });
    Core { focus: all[index].start - before.start, needs_text, ..core(bytes, before.start, after) }
}

/// The offset of the cause for a decoder that states no offset. The input is reduced to the shortest prefix that breaks
/// this law or a stronger one, without the segments at its start that are not needed. The cause is its last segment, or
/// the only segment that cannot be replaced by ASCII.
fn locate(judge: &mut Judge<'_>, contract: &Contract, case: &Case<'_>, law: Law) -> Option<usize> {
    const FEW: usize = 64;
    if !law.is_about_one_answer() {
        return None;
    }
    let mut breaks = |bytes: &[u8]| {
        let case = case.alike(bytes, Cuts::NONE);
        judge.judge(&case).first().is_some_and(|broken| broken.law.is_at_least_as_strong_as(law))
    };
    let all: Vec<Segment> = segments(contract, case.bytes).collect();
    let last = count(&all, |segment| !breaks(&case.bytes[..segment.range().end]));
    let all = all.get(..=last)?;
    let end = all.last()?.range().end;
    let first = count(all, |segment| breaks(&case.bytes[segment.range().end.min(end)..end])).min(last);
    let kept = &all[first..];
    let start = kept.first()?.start;
    let last = count(kept, |segment| !breaks(&case.bytes[start..segment.range().end]));
    let kept = kept.get(..=last)?;
    // If all other segments can be ASCII, the cause is the one that cannot.
    let mut bytes = case.bytes[start..kept.last()?.range().end].to_vec();
    let mut needed = kept.iter().filter(|segment| segment.len > 1).take(FEW).filter(|segment| {
        let range = segment.start - start..segment.range().end - start;
        let before = bytes[range.clone()].to_vec();
        bytes[range.clone()].fill(b'a');
        let heals = !breaks(&bytes);
        if heals {
            bytes[range].copy_from_slice(&before);
        }
        heals
    });
    let only = needed.next().filter(|_| needed.next().is_none());
    only.or(kept.last()).map(|segment| segment.start)
}

/// The number of leading segments for which this holds. If there are many segments, they are bisected.
fn count(segments: &[Segment], mut holds: impl FnMut(&Segment) -> bool) -> usize {
    const MANY: usize = 2048;
    match segments.len() {
        ..=MANY => segments.iter().take_while(|segment| holds(segment)).count(),
        _ => segments.partition_point(holds),
    }
}

/// The subject at the cut that breaks the law: the segment that is incomplete there; otherwise the segment next to the
/// cut, on the side where the answers differ.
fn cut_subject(judge: &mut Judge<'_>, contract: &Contract, case: &Case<'_>, law: Law) -> Option<Subject> {
    const FEW: usize = 1024;
    /// About how many bytes are judged again for each number of cuts.
    const BYTES: usize = 4_194_304;
    /// More bytes than a sequence has.
    const LONGEST: usize = 8;
    const NEAR: usize = 16;
    let len = case.bytes.len();
    let few = FEW.min(1 + BYTES / len.max(1));
    let all: Vec<usize> = match case.cuts().step() {
        Some(step) => (step..len).step_by(step).collect(),
        None => case.cuts().offsets().to_vec(),
    };
    let breaks = |judge: &mut Judge<'_>, bytes: &[u8], cuts: Cuts| {
        judge.judge_on(&case.alike(bytes, cuts), Questions::STREAM).first().copied().filter(|broken| broken.law == law)
    };
    // A single cut; if that is not enough, a few consecutive ones.
    let alone = |judge: &mut Judge<'_>, cuts: &[usize]| {
        [1, 2, 3, 4].into_iter().find_map(|count| {
            cuts.windows(count).find_map(|cuts| {
                let broken = breaks(judge, case.bytes, Cuts::new(cuts.iter().copied(), len))?;
                Some((cuts[0], broken))
            })
        })
    };
    let found = alone(judge, &all[..few.min(all.len())]);
    let (cut, broken) = found.or_else(|| {
        // Of many, those near the end of the shortest prefix that breaks the law.
        let near = few.min(NEAR);
        let later = all.get(few..)?;
        let end = later.partition_point(|&cut| {
            let bytes = &case.bytes[..(cut + LONGEST).min(len)];
            let before = all.iter().copied().take_while(|&before| before < bytes.len());
            let cuts = case.cuts().step().map_or_else(|| Cuts::new(before, len), |step| Cuts::every(step, bytes.len()));
            breaks(judge, bytes, cuts).is_none()
        });
        alone(judge, &later[end.saturating_sub(near)..(end + near).min(later.len())])
    })?;
    let is_waiting = segments(contract, &case.bytes[..cut]).any(|segment| segment.is_incomplete());
    let side = if broken.offset.is_some_and(|offset| offset >= cut) { cut } else { cut.saturating_sub(1) };
    Some(match law {
        Law::Detection => broken.subject,
        _ if is_waiting => Subject::at(contract, case.bytes, Some(cut.saturating_sub(1))),
        _ => Subject::at(contract, case.bytes, Some(side)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_is_the_smallest_that_fits() {
        let hits = |is_hit: &dyn Fn(usize) -> bool, count| {
            (0..count).map(|offset| is_hit(offset).then_some(())).collect::<Vec<_>>()
        };
        let every = |period: usize| hits(&|offset| offset % period == period - 1, OFFSETS);
        for wide in [128, 256] {
            assert_eq!(period(&hits(&|offset| offset % wide == wide - 1, MORE_OFFSETS)), Some(wide as u16));
        }
        assert_eq!(period(&every(128)), None, "once is not enough");
        let one_and_a_half = SETTLED + 128 + 64;
        assert_eq!(period(&hits(&|offset| offset % 128 == 127, one_and_a_half)), None, "nor is once and a half");
        assert_eq!(period(&every(1)), Some(1));
        assert_eq!(period(&every(16)), Some(16));
        assert_eq!(period(&every(32)), Some(32));
        assert_eq!(period(&every(64)), Some(64));
        assert_eq!(period(&every(48)), None);
        assert_eq!(period(&hits(&|offset| offset > 0, OFFSETS)), None);
        assert_eq!(period(&hits(&|offset| offset < 20, OFFSETS)), None);
    }
}
