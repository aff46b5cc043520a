//! Structured inputs: segments of text and faults across block edges, generated with `arbitrary`.

use crate::case::Rng;
use crate::generate::fragments::MARKS;
use crate::utf8::{push_extended, push_form};
use arbitrary::{Arbitrary, Result, Unstructured};
use core::fmt;

/// A byte string made of segments; most have at most about [`Structured::LONGEST`] bytes, and a few are long on purpose.
#[derive(Clone, PartialEq, Eq)]
pub struct Structured(pub Vec<u8>);

impl Structured {
    /// No segment is added to an input longer than this, except for the few that are [long](Self::LONG) on purpose.
    pub const LONGEST: usize = 600;
    /// About the maximum length of a long input, in bytes.
    pub const LONG: usize = 10 << 16;

    /// The input generated from this seed; one in sixteen is [dense](Self::dense).
    pub fn seeded(seed: u64) -> Self {
        if seed.is_multiple_of(16) {
            return Self::dense(seed);
        }
        let mut entropy = [0; 160];
        Rng::new(seed).fill(&mut entropy);
        let len = 8 + (seed.wrapping_mul(37) % (entropy.len() as u64 - 8)) as usize;
        // This fails only if the entropy runs out, and every segment is optional.
        Self::arbitrary(&mut Unstructured::new(&entropy[..len])).unwrap_or(Self(Vec::new()))
    }
}

/// Inputs that `Arbitrary` does not generate: much shorter ones, and ones with far more faults.
impl Structured {
    /// One to three segments.
    pub fn small(seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let segments = 1 + rng.below(2) + rng.below(2);
        Self::of_segments(&mut rng, segments)
    }

    /// 160 segments, so that every kind of fault is likely to occur.
    pub fn dense(seed: u64) -> Self {
        const SEGMENTS: usize = 160;
        Self::of_segments(&mut Rng::new(seed), SEGMENTS)
    }

    fn of_segments(rng: &mut Rng, segments: usize) -> Self {
        let mut bytes = Vec::new();
        for _ in 0..segments {
            let mut entropy = [0; 32];
            rng.fill(&mut entropy);
            add(&mut Unstructured::new(&entropy), &mut bytes, segment);
        }
        Self(bytes)
    }
}

impl fmt::Debug for Structured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "b\"{}\"", self.0.escape_ascii())
    }
}

impl<'a> Arbitrary<'a> for Structured {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let mut bytes = Vec::new();
        if one_in(u, 128) {
            add(u, &mut bytes, long);
        }
        if one_in(u, 64) {
            add(u, &mut bytes, many);
        }
        let longest = bytes.len() + Self::LONGEST;
        // One input in four is text whose only fault is at the very end.
        let fault_at_end = one_in(u, 4);
        let segments = if fault_at_end { u.int_in_range(0..=6).unwrap_or(0) } else { usize::MAX };
        let mut count = 0;
        while !u.is_empty() && bytes.len() < longest && count < segments {
            count += 1;
            add(u, &mut bytes, if fault_at_end { text_segment } else { segment });
        }
        if fault_at_end {
            add(u, &mut bytes, fault_at_the_end);
        }
        Ok(Self(bytes))
    }
}

/// True one time in `count`. False without entropy, for which `ratio` would return true, since it draws the lowest number.
fn one_in(u: &mut Unstructured<'_>, count: u8) -> bool {
    !u.is_empty() && u.ratio(1, count).unwrap_or(false)
}

/// Adds a segment, or nothing if the entropy runs out.
fn add(u: &mut Unstructured<'_>, out: &mut Vec<u8>, segment: fn(&mut Unstructured<'_>, &mut Vec<u8>) -> Result<()>) {
    let start = out.len();
    if segment(u, out).is_err() {
        out.truncate(start);
    }
}

fn text_segment(u: &mut Unstructured<'_>, out: &mut Vec<u8>) -> Result<()> {
    match u.int_in_range(0..=3)? {
        0 => ascii(u, out)?,
        1 => to_edge(u, out)?,
        _ => text(u, out)?,
    }
    Ok(())
}

/// A fault at the end of the input; usually a truncated character.
fn fault_at_the_end(u: &mut Unstructured<'_>, out: &mut Vec<u8>) -> Result<()> {
    if u.ratio(2, 3)? { truncated(u, out) } else { fault(u, out) }
}

/// Text, a fault, a mark of another encoding, random bytes, or padding that moves the next segment to a block edge.
pub(super) fn segment(u: &mut Unstructured<'_>, out: &mut Vec<u8>) -> Result<()> {
    match u.int_in_range(0..=13)? {
        13 => at_edge(u, out)?,
        0 => ascii(u, out)?,
        11 => out.extend_from_slice(u.choose(&MARKS)?),
        12 => neighbours(u, out)?,
        1 | 2 => to_edge(u, out)?,
        3 | 4 => text(u, out)?,
        5..=8 => fault(u, out)?,
        9 => enclosed(u, out)?,
        _ => {
            let len = u.int_in_range(1..=6)?;
            out.extend_from_slice(u.bytes(len)?);
        }
    }
    Ok(())
}

/// ASCII that formats on top of UTF-8 (JSON, HTML, URLs) treat as syntax, and the lowest and highest ASCII byte.
const SYNTAX: &[u8] = b"\0\t\n\r \"%&'/<=>[\\]{}\x7F";

fn filler(len: usize, out: &mut Vec<u8>) {
    out.resize(out.len() + len, b'a');
}

/// A run of the letter `a`, or one time in four of a [`SYNTAX`] byte.
fn ascii(u: &mut Unstructured<'_>, out: &mut Vec<u8>) -> Result<()> {
    let byte = if u.ratio(1, 4)? { *u.choose(SYNTAX)? } else { b'a' };
    let len = u.int_in_range(1..=20)?;
    out.resize(out.len() + len, byte);
    Ok(())
}

/// Two to nine characters that are the first or the last of a row of the grammar.
fn neighbours(u: &mut Unstructured<'_>, out: &mut Vec<u8>) -> Result<()> {
    for _ in 0..u.int_in_range(2..=9)? {
        let (first, last) = *u.choose(&RANGES[..9])?;
        push_extended(if u.arbitrary()? { first } else { last }, out);
    }
    Ok(())
}

/// A fault or text between two equal [`SYNTAX`] bytes.
fn enclosed(u: &mut Unstructured<'_>, out: &mut Vec<u8>) -> Result<()> {
    let byte = *u.choose(SYNTAX)?;
    out.push(byte);
    if u.ratio(1, 4)? {
        text(u, out)?
    } else {
        fault(u, out)?
    };
    out.push(byte);
    Ok(())
}

/// A few characters, or a letter, repeated to the end of a large buffer, then text or a fault; this twice, then ASCII.
fn long(u: &mut Unstructured<'_>, out: &mut Vec<u8>) -> Result<()> {
    let edge = if u.ratio(1, 8)? { 1 << 16 } else { *u.choose(&[1024, 4096, 8192])? };
    let mut character = Vec::new();
    if u.ratio(1, 2)? {
        text(u, &mut character)?
    } else {
        filler(1, &mut character)
    };
    for _ in 0..2 {
        let end = out.len() + edge - u.int_in_range(0..=5)?;
        while out.len() < end {
            out.extend_from_slice(&character[..character.len().min(end - out.len())]);
        }
        if u.ratio(1, 2)? {
            text(u, out)?
        } else {
            fault(u, out)?
        };
    }
    let end = out.len() + edge;
    filler(end.saturating_sub(out.len()), out);
    Ok(())
}

/// ASCII padding up to a block edge, up to four bytes before it, or one byte after it.
fn to_edge(u: &mut Unstructured<'_>, out: &mut Vec<u8>) -> Result<()> {
    let edge = *u.choose(&[16, 32, 64, 64, 128, 256])?;
    let short = u.int_in_range(0..=5)?;
    let target = (out.len() + 5).next_multiple_of(edge) + 1 - short;
    filler(target.saturating_sub(out.len()), out);
    Ok(())
}

/// A fault or some [neighbours] that end at the edge of a block, or are across it; then nothing, a few ASCII bytes, or a
/// block of them.
fn at_edge(u: &mut Unstructured<'_>, out: &mut Vec<u8>) -> Result<()> {
    let mut one = Vec::new();
    if u.ratio(2, 3)? {
        fault(u, &mut one)?
    } else {
        neighbours(u, &mut one)?
    };
    let before = if u.ratio(1, 2)? { one.len() } else { u.int_in_range(0..=one.len())? };
    let edge = (out.len() + before).next_multiple_of(*u.choose(&[16, 32, 64, 64])?);
    filler(edge - before - out.len(), out);
    out.extend_from_slice(&one);
    filler(*u.choose(&[0, 1, 15, 64, 128])?, out);
    Ok(())
}

/// One fault repeated 2^n times, or once more or less, to overflow counters.
fn many(u: &mut Unstructured<'_>, out: &mut Vec<u8>) -> Result<()> {
    let mut one = Vec::new();
    fault(u, &mut one)?;
    let times = if u.ratio(1, 16)? { *u.choose(&[4096, 1 << 16])? } else { *u.choose(&[16, 32, 64, 128, 256, 256])? };
    let times = times + 1 - u.int_in_range(0..=2)?;
    (0..times).for_each(|_| out.extend_from_slice(&one));
    Ok(())
}

/// One to twelve characters of one of the [`RANGES`], often its first or its last.
fn text(u: &mut Unstructured<'_>, out: &mut Vec<u8>) -> Result<()> {
    let (first, last) = *u.choose(&RANGES)?;
    for _ in 0..u.int_in_range(1..=12)? {
        push_extended(scalar(u, first, last)?, out);
    }
    Ok(())
}

/// The scalar values by width and lead byte, and code points that decoders are known to treat specially.
pub(super) const RANGES: [(u32, u32); 13] = [
    (0x00, 0x7F),
    (0x80, 0x7FF),
    (0x800, 0xFFF),
    (0x1000, 0xCFFF),
    (0xD000, 0xD7FF),
    (0xE000, 0xFFFF),
    (0x1_0000, 0x3_FFFF),
    (0x4_0000, 0xF_FFFF),
    (0x10_0000, 0x10_FFFF),
    (0xFEFF, 0xFEFF),
    (0xFFFD, 0xFFFF),
    (0x1_F600, 0x1_F64F),
    (0x300, 0x303),
];

pub(super) fn scalar(u: &mut Unstructured<'_>, first: u32, last: u32) -> Result<u32> {
    Ok(match u.int_in_range(0..=3)? {
        0 => first,
        1 => last,
        _ => u.int_in_range(first..=last)?,
    })
}

/// A sequence that is nearly always ill-formed, sometimes followed by `a`.
fn fault(u: &mut Unstructured<'_>, out: &mut Vec<u8>) -> Result<()> {
    match u.int_in_range(0..=8)? {
        0 => truncated(u, out)?,
        1 => overlong(u, out)?,
        2 => push_extended(scalar(u, 0xD800, 0xDFFF)?, out),
        3 => {
            push_extended(scalar(u, 0xD800, 0xDBFF)?, out);
            push_extended(scalar(u, 0xDC00, 0xDFFF)?, out);
        }
        4 => push_extended(scalar(u, 0x11_0000, 0x1F_FFFF)?, out),
        5 => push_extended(scalar(u, 0x20_0000, 0x7FFF_FFFF)?, out),
        6 => {
            let count = u.int_in_range(1..=5)?;
            out.extend((0..count).map(|index| 0x80 + 0x15 * index));
        }
        7 => out.push(*u.choose(&[0xC0, 0xC1, 0xF5, 0xF7, 0xF8, 0xFC, 0xFE, 0xFF, 0x80, 0xBF])?),
        _ => {
            // A lead byte, a second byte just inside or outside its range, and up to three continuation bytes.
            out.push(*u.choose(&[0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF, 0xF0, 0xF1, 0xF3, 0xF4])?);
            out.push(*u.choose(&[0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0])?);
            let count = u.int_in_range(0..=3)?;
            out.extend((0..count).map(|index| 0x80 + 0x1F * index));
        }
    }
    if u.ratio(1, 4)? {
        out.push(b'a');
    }
    Ok(())
}

/// A character truncated by one byte or more.
fn truncated(u: &mut Unstructured<'_>, out: &mut Vec<u8>) -> Result<()> {
    let (first, last) = *u.choose(&RANGES[1..9])?;
    let start = out.len();
    push_extended(scalar(u, first, last)?, out);
    let whole = out.len() - start;
    out.truncate(start + u.int_in_range(1..=whole - 1)?);
    Ok(())
}

/// An overlong form of a code point.
fn overlong(u: &mut Unstructured<'_>, out: &mut Vec<u8>) -> Result<()> {
    let (len, last) = *u.choose(&[(2, 0x7F), (3, 0x7FF), (4, 0xFFFF), (5, 0x1F_FFFF), (6, 0x3FF_FFFF)])?;
    let code_point = scalar(u, 0, last)?;
    push_form(code_point, len, out);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Contract, validity};
    use crate::utf8::Validity;
    use std::collections::BTreeMap;

    #[test]
    fn without_entropy_there_is_no_input() {
        let generated = |entropy: &[u8]| Structured::arbitrary(&mut Unstructured::new(entropy)).unwrap().0;
        assert_eq!(generated(b""), b"");
        // The only byte decides whether the input is long: two of its 256 values say so.
        assert_eq!((0..=255).filter(|&byte| generated(&[byte]).len() >= Structured::LONGEST).count(), 2);
    }

    #[test]
    fn every_kind_valid_text_and_block_edges_are_drawn() {
        let mut kinds = BTreeMap::new();
        let mut across_edge = 0;
        let mut long = 0;
        for seed in 0..20_000 {
            let Structured(bytes) = Structured::seeded(seed);
            assert!(bytes.len() < Structured::LONG + Structured::LONGEST + 3000);
            long += usize::from(bytes.len() > 8192);
            match validity(&Contract::STANDARD, &bytes) {
                Validity::Valid => *kinds.entry("valid").or_insert(0) += 1,
                Validity::Invalid(malformed) => {
                    *kinds.entry(malformed.kind.unwrap().name()).or_insert(0) += 1;
                    across_edge += usize::from((61..=64).contains(&(malformed.valid_up_to.unwrap() % 64)));
                }
            }
        }
        for kind in [
            "valid",
            "continuation",
            "invalid-byte",
            "overlong-2",
            "overlong-3",
            "overlong-4",
            "surrogate",
            "too-large",
            "too-short",
            "incomplete",
        ] {
            assert!(kinds.get(kind).is_some_and(|&count| count > 100), "{kind}: {kinds:?}");
        }
        assert!(across_edge > 500, "{across_edge}");
        assert!((50..400).contains(&long), "{long}");
        assert_eq!(Structured::seeded(7), Structured::seeded(7));
    }
}
