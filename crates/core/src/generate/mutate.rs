//! A UTF-8-aware mutator: it changes whole sequences, their encoded forms, their position in a block, and the cuts.
//!
//! A byte-level mutator mostly produces inputs that fail at their first byte. These mutations find where a sequence
//! begins, replace it with a related one, and move it across block edges. They are independent of the decoders.

use crate::case::{Cuts, Input, Rng};
use crate::generate::structured::{Structured, segment};
use crate::utf8::{BYTE_ORDER_MARK, ByteClass, REPLACEMENT, is_continuation};
use crate::utf8::{announced_len, payload, push_extended, push_form};
use arbitrary::Unstructured;
use core::iter::repeat_n;
use core::ops::Range;
use std::collections::VecDeque;

/// Mutates `bytes`. The result has at most `most` bytes and depends only on `bytes` and `seed`.
pub fn mutate(bytes: &mut Vec<u8>, most: usize, seed: u32) {
    let mut rng = Rng::new(seed.into());
    change(bytes, &mut rng);
    bytes.truncate(most);
}

/// Shortens a long input as [`mutate`] usually does, for use with mutators that do not.
pub fn shorten(bytes: &mut Vec<u8>, seed: u32) {
    if bytes.len() > MUCH {
        keep_window(bytes, &mut Rng::new(seed.into()));
    }
}

/// Like [`mutate`], for a file of the target `streaming`: changes the bytes, the cuts, or both.
pub fn mutate_cut(file: &mut Vec<u8>, most: usize, seed: u32) {
    let mut rng = Rng::new(seed.into());
    let Input { mut bytes, cuts } = Input::from_cut_file(file);
    let cuts = cuts.unwrap_or(Cuts::NONE);
    if !rng.one_in(3) {
        change(&mut bytes, &mut rng);
    }
    // Room for the trailer.
    bytes.truncate(most.saturating_sub(2 * Cuts::MOST + 1));
    let cuts = if rng.one_in(3) { cuts } else { recut(&bytes, &cuts, &mut rng) };
    let cuts = Cuts::new(cuts.offsets().iter().copied(), bytes.len());
    *file = Input { bytes, cuts: Some(cuts) }.to_file().0;
    file.truncate(most);
}

/// The last inputs that did something new, to be joined with others.
pub struct Pool(VecDeque<Vec<u8>>);

impl Pool {
    /// How many inputs are kept.
    const MOST: usize = 1024;
    /// Most bytes of an input that is kept.
    const LONGEST: usize = 1 << 14;

    /// An empty pool.
    #[allow(clippy::new_without_default, reason = "only a static needs one")]
    pub const fn new() -> Self {
        Self(VecDeque::new())
    }

    /// Keeps an input, unless it is empty or long, instead of the oldest if there are many.
    pub fn keep(&mut self, bytes: &[u8]) {
        if bytes.is_empty() || bytes.len() > Self::LONGEST {
            return;
        }
        if self.0.len() == Self::MOST {
            self.0.pop_front();
        }
        self.0.push_back(bytes.to_vec());
    }

    /// Mutates `bytes`, or joins it with an input that was kept, with equal chances. The result has at most `most` bytes and
    /// depends only on `bytes`, `seed` and what is kept.
    pub fn mutate(&self, bytes: &mut Vec<u8>, most: usize, seed: u32) {
        let choice = seed as usize;
        match choice.is_multiple_of(2) || self.0.is_empty() {
            true => mutate(bytes, most, seed),
            false => cross(bytes, &self.0[choice / 2 % self.0.len()], most, seed),
        }
    }
}

/// Replaces the end of an input by the end of another, which usually keeps its position within a block.
fn cross(bytes: &mut Vec<u8>, other: &[u8], most: usize, seed: u32) {
    const BLOCK: usize = 64;
    let mut rng = Rng::new(seed.into());
    bytes.truncate(rng.below(bytes.len() + 1));
    let from = rng.below(other.len() + 1);
    if !rng.one_in(4) {
        let padding = (from + BLOCK - bytes.len() % BLOCK) % BLOCK;
        bytes.resize(bytes.len() + padding, b'a');
    }
    bytes.extend_from_slice(&other[from..]);
    bytes.truncate(most);
}

type Change = fn(&mut Vec<u8>, &mut Rng);

/// The mutations. One that is listed twice is chosen twice as often.
const CHANGES: [Change; 22] = [
    swap_class,
    swap_class,
    spell_overlong,
    spell_surrogate,
    truncate_sequence,
    truncate_sequence,
    duplicate,
    remove,
    move_to_edge,
    move_to_edge,
    move_to_edge,
    isolate,
    isolate,
    change_width,
    insert_segments,
    insert_segments,
    insert_segments,
    end_early,
    end_early,
    start_late,
    mark_start,
    start_anew,
];

fn change(bytes: &mut Vec<u8>, rng: &mut Rng) {
    if bytes.len() > MUCH && !rng.one_in(64) {
        keep_window(bytes, rng);
    }
    loop {
        match bytes[..] {
            // libFuzzer starts from this input if there is no corpus. Replace it with many faults at once.
            [b'\n'] => *bytes = Structured::dense(rng.next()).0,
            [] => *bytes = Structured::small(rng.next()).0,
            _ => rng.choose(CHANGES)(bytes, rng),
        }
        if rng.one_in(2) {
            break;
        }
    }
    if rng.one_in(512) && !bytes.is_empty() {
        lengthen(bytes, rng);
    }
}

/// Some faults need long inputs, but those are slow to judge, so most mutants are at most this many bytes.
const MUCH: usize = 128;

/// Keeps at most [`MUCH`] bytes of the input, starting at a block edge.
fn keep_window(bytes: &mut Vec<u8>, rng: &mut Rng) {
    const BLOCK: usize = 64;
    let start = BLOCK * rng.below(bytes.len() / BLOCK);
    bytes.drain(..start);
    bytes.truncate(1 + rng.below(MUCH));
}

/// The sequence that contains this offset: from its lead byte through the continuation bytes, at most as many as the
/// lead byte announces.
fn sequence(bytes: &[u8], at: usize) -> Range<usize> {
    let back = bytes[..at].iter().rev().take(5).take_while(|&&byte| is_continuation(byte)).count();
    let is_inside = bytes.get(at).is_some_and(|&byte| is_continuation(byte));
    let lead = at.checked_sub(back + 1).filter(|_| is_inside);
    let start = lead.filter(|&lead| announced_len(bytes[lead]) > back + 1).unwrap_or(at);
    let announced = bytes.get(start).map_or(0, |&byte| announced_len(byte));
    let rest = bytes[start..].iter().skip(1).take(announced.saturating_sub(1));
    start..(start + 1 + rest.take_while(|&&byte| is_continuation(byte)).count()).min(bytes.len())
}

/// A sequence picked at random, usually a non-ASCII one.
fn some_sequence(bytes: &[u8], rng: &mut Rng) -> Range<usize> {
    const FAR: usize = 256;
    let at = rng.below(bytes.len());
    let near = bytes[at..].iter().take(FAR).position(|byte| !byte.is_ascii());
    sequence(bytes, if rng.one_in(8) { at } else { at + near.unwrap_or(0) })
}

fn replace(bytes: &mut Vec<u8>, range: Range<usize>, by: &[u8]) {
    bytes.splice(range, by.iter().copied());
}

fn replace_by_padding(bytes: &mut Vec<u8>, range: Range<usize>, len: usize) {
    bytes.splice(range, repeat_n(b'a', len));
}

/// Replaces a byte by one of a random class, often the lowest or highest of that class.
#[allow(clippy::ptr_arg, reason = "one of the mutations")]
fn swap_class(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let at = some_sequence(bytes, rng);
    let at = at.start + rng.below(at.len() + 1);
    let (first, last) = rng.choose(ByteClass::BOUNDS);
    let between = first + rng.below(usize::from(last - first) + 1) as u8;
    if let Some(byte) = bytes.get_mut(at) {
        *byte = rng.choose([first, last, between]);
    }
}

/// Replaces a sequence by an overlong form of its code point.
fn spell_overlong(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let range = some_sequence(bytes, rng);
    let len = (range.len() + 1 + rng.below(2)).clamp(2, 6);
    let mut form = Vec::new();
    push_form(payload(&bytes[range.clone()]), len, &mut form);
    replace(bytes, range, &form);
}

/// Replaces a sequence by one or two surrogates.
fn spell_surrogate(bytes: &mut Vec<u8>, rng: &mut Rng) {
    const BOUNDS: [u32; 6] = [0xD800, 0xDB7F, 0xDBFF, 0xDC00, 0xDF00, 0xDFFF];
    let range = some_sequence(bytes, rng);
    let mut form = Vec::new();
    for _ in 0..1 + rng.below(2) {
        push_extended(rng.choose(BOUNDS), &mut form);
    }
    replace(bytes, range, &form);
}

/// Removes the last bytes of a sequence, or overwrites them with ASCII so that the length stays the same.
fn truncate_sequence(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let range = some_sequence(bytes, rng);
    let lost = 1 + rng.below(range.len().saturating_sub(1));
    let kept = (range.end - lost.min(range.len())).max(range.start);
    let padding = if rng.one_in(2) { range.end - kept } else { 0 };
    replace_by_padding(bytes, kept..range.end, padding);
}

/// Inserts copies of a few sequences, directly after them or elsewhere.
fn duplicate(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let first = some_sequence(bytes, rng);
    let end = (first.end + rng.below(8)).min(bytes.len());
    let copy = bytes[first.start..end].repeat(1 + rng.below(3));
    let to = if rng.one_in(2) { end } else { rng.below(bytes.len() + 1) };
    replace(bytes, to..to, &copy);
}

fn remove(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let first = some_sequence(bytes, rng);
    let end = (first.end + rng.below(16)).min(bytes.len());
    replace(bytes, first.start..end, &[]);
}

/// Moves a sequence to a block edge, up to four bytes before the edge or one byte after it, by ASCII padding.
fn move_to_edge(bytes: &mut Vec<u8>, rng: &mut Rng) {
    const EDGES: [usize; 8] = [16, 16, 32, 32, 64, 64, 64, 256];
    let at = some_sequence(bytes, rng).start;
    let edge = rng.choose(EDGES);
    let target = at.next_multiple_of(edge) + edge + 1 - rng.below(6);
    let padding = (target - at) % edge;
    // Sometimes remove ASCII instead of adding it, so that inputs do not only grow.
    let before = bytes[..at].iter().rev().take_while(|byte| byte.is_ascii()).count();
    let taken = if rng.one_in(2) { before.min(edge - padding) } else { 0 };
    let padding = if taken == edge - padding { 0 } else { padding + taken };
    replace_by_padding(bytes, at - taken..at, padding);
}

/// Keeps only one or a few sequences, at a block edge, with ASCII before and sometimes after them.
fn isolate(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let first = some_sequence(bytes, rng);
    let end = (first.end + if rng.one_in(2) { 0 } else { rng.below(6) }).min(bytes.len());
    let kept = bytes[first.start..end].to_vec();
    let before = rng.choose([0, 16, 32, 64]) + rng.choose([0, 0, 0, 64]);
    let after = rng.choose([0, 0, 1, 16, 64, 128]);
    bytes.clear();
    bytes.resize((before + 1usize).saturating_sub(rng.below(6)), b'a');
    bytes.extend(kept);
    bytes.resize(bytes.len() + after, b'a');
}

/// Prepends what some decoders treat specially at the start of a text: a byte order mark, whole or cut, or U+FFFD.
fn mark_start(bytes: &mut Vec<u8>, rng: &mut Rng) {
    const MARKS: [&[u8]; 5] = [BYTE_ORDER_MARK, BYTE_ORDER_MARK, REPLACEMENT, b"\xFF\xFE", b"\xEF\xBB"];
    replace(bytes, 0..0, rng.choose(MARKS));
}

/// Repeats a sequence, or `a`, until what follows is at or near the end of a large buffer.
fn lengthen(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let range = some_sequence(bytes, rng);
    let target = rng.choose([512, 1024, 2048, 4096, 8192, 16_384, 65_536]) + 3 - rng.below(7);
    let run = if rng.one_in(2) { b"a".to_vec() } else { bytes[range.clone()].to_vec() };
    let missing = target.saturating_sub(range.end);
    let filling: Vec<u8> = run.iter().copied().cycle().take(missing).collect();
    replace(bytes, range.end..range.end, &filling);
}

/// Replaces a sequence by a character of another width; adds or removes ASCII after it to keep the length.
fn change_width(bytes: &mut Vec<u8>, rng: &mut Rng) {
    const CHARACTERS: [u32; 8] = [0x61, 0x7F, 0x80, 0x7FF, 0x800, 0xFFFD, 0x1_0000, 0x10_FFFF];
    let range = some_sequence(bytes, rng);
    let mut form = Vec::new();
    push_extended(rng.choose(CHARACTERS), &mut form);
    let ascii =
        bytes[range.end..].iter().take(form.len().saturating_sub(range.len())).take_while(|byte| byte.is_ascii());
    let end = range.end + ascii.count();
    form.resize(form.len().max(end - range.start), b'a');
    replace(bytes, range.start..end, &form);
}

/// Inserts segments of structured inputs at any offset.
fn insert_segments(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let mut entropy = [0; 64];
    rng.fill(&mut entropy);
    let mut u = Unstructured::new(&entropy);
    let at = if rng.one_in(3) { bytes.len() } else { some_sequence(bytes, rng).start };
    let rest = bytes.split_off(at);
    for _ in 0..1 + rng.below(3) {
        // If the entropy runs out, nothing more is inserted.
        let _ = segment(&mut u, bytes);
    }
    bytes.extend(rest);
}

/// Truncates the input inside a sequence or directly after it.
fn end_early(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let range = some_sequence(bytes, rng);
    bytes.truncate(range.start + 1 + rng.below(range.len()));
}

/// Makes the input begin inside a sequence, or directly before or after it.
fn start_late(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let range = some_sequence(bytes, rng);
    bytes.drain(..range.start + rng.below(range.len() + 1));
}

fn start_anew(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let seed = rng.next();
    let Structured(anew) = match rng.below(64) {
        0 => Structured::dense(seed),
        1..=8 => Structured::seeded(seed),
        _ => Structured::small(seed),
    };
    *bytes = anew;
}

/// New cuts: one near a sequence, several around it, or one every few bytes; or the existing cuts with one changed.
fn recut(bytes: &[u8], cuts: &Cuts, rng: &mut Rng) -> Cuts {
    if bytes.is_empty() {
        return Cuts::new((0..rng.below(3)).map(|_| 0), 0);
    }
    let near = some_sequence(bytes, rng);
    match rng.below(4) {
        0 => Cuts::new([near.start + rng.below(near.len() + 1)], bytes.len()),
        1 => Cuts::new(near.start.saturating_sub(1)..near.start + 9, bytes.len()),
        2 => {
            let step = 1 + rng.below(65);
            Cuts::new((1..=Cuts::MOST).map(|index| index * step).take_while(|&cut| cut < bytes.len()), bytes.len())
        }
        _ => {
            let moved = rng.below(cuts.offsets().len() + 1);
            let kept = cuts.offsets().iter().enumerate().filter(|(index, _)| *index != moved).map(|(_, &cut)| cut);
            Cuts::new(kept.chain([near.end, near.end]).take(Cuts::MOST), bytes.len())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Contract, validity};
    use crate::utf8::{Kind, Validity};
    use std::collections::BTreeSet;

    #[test]
    fn it_keeps_to_the_bound_and_to_the_seed() {
        for seed in 0..20_000 {
            let Structured(bytes) = Structured::seeded(u64::from(seed) % 50);
            for most in [0, 1, 7, 64, 4096] {
                let mutated = |mutate: fn(&mut Vec<u8>, usize, u32)| {
                    let mut bytes = bytes[..bytes.len().min(most)].to_vec();
                    mutate(&mut bytes, most, seed);
                    assert!(bytes.len() <= most);
                    bytes
                };
                assert_eq!(mutated(mutate), mutated(mutate));
                assert_eq!(mutated(mutate_cut), mutated(mutate_cut));
                let mut crossed = bytes.clone();
                cross(&mut crossed, &bytes, most, seed);
                assert!(crossed.len() <= most);
            }
        }
    }

    #[test]
    fn half_of_the_mutants_are_joined_with_an_input_that_was_kept() {
        let mut pool = Pool::new();
        let mutant = |pool: &Pool, seed: u32| {
            let mut bytes = vec![b'a'; 100];
            pool.mutate(&mut bytes, 4096, seed);
            bytes
        };
        let alone: Vec<_> = (0..200).map(|seed| mutant(&pool, seed)).collect();
        pool.keep(&[0x80; Pool::LONGEST + 1]);
        pool.keep(b"");
        assert!((0..200).all(|seed| mutant(&pool, seed) == alone[seed as usize]));
        // No other mutation writes as many of these bytes.
        let kept = [0xFE; 1000];
        pool.keep(&kept);
        let joined = (0..200).filter(|&seed| mutant(&pool, seed).iter().filter(|&&byte| byte == 0xFE).count() > 100);
        assert!((75..=100).contains(&joined.count()));
        for _ in 0..Pool::MOST {
            pool.keep(b"new");
        }
        assert_eq!((pool.0.len(), pool.0.iter().any(|bytes| bytes[..] == kept)), (Pool::MOST, false));
    }

    #[test]
    fn mutating_an_empty_input_reaches_every_kind_of_error_near_every_edge() {
        let mut reached = BTreeSet::new();
        let mut bytes = Vec::new();
        for seed in 0..200_000 {
            mutate(&mut bytes, 4096, seed);
            let Validity::Invalid(malformed) = validity(&Contract::STANDARD, &bytes) else { continue };
            reached.insert((malformed.kind, malformed.valid_up_to.unwrap() % 64));
        }
        for kind in [Kind::Continuation, Kind::InvalidByte, Kind::Overlong(2), Kind::Overlong(3), Kind::Overlong(4)]
            .into_iter()
            .chain([Kind::Surrogate, Kind::TooLarge, Kind::TooShort, Kind::Incomplete])
        {
            for place in [0, 1, 15, 16, 31, 32, 61, 62, 63] {
                assert!(reached.contains(&(Some(kind), place)), "{kind} at {place}");
            }
        }
    }

    #[test]
    fn cuts_fall_inside_sequences() {
        let mut inside = 0;
        let input = Input { bytes: "aé€😀".into(), cuts: Some(Cuts::NONE) };
        for seed in 0..1000 {
            let (mut file, _) = input.to_file();
            mutate_cut(&mut file, 4096, seed);
            let Input { bytes, cuts } = Input::from_cut_file(&file);
            let is_inside = |&cut: &usize| bytes.get(cut).is_some_and(|&byte| is_continuation(byte));
            inside += usize::from(cuts.unwrap().offsets().iter().any(is_inside));
        }
        assert!(inside > 200, "{inside}");
    }
}
