//! Every short string of fragments (characters and faults that decoders, or the formats on top of them, treat
//! specially), text that contains every character, pairs of the first and last characters of each width, marks of other
//! encodings, and inputs of sizes at which counters wrap and buffers end.
//!
//! Class strings represent each class by two bytes, so they contain no byte order mark, U+FFFD or quotation mark.

use crate::case::{Cuts, Input};
use crate::spec::grammar::RFC3629;
use crate::utf8::{ByteClass, announced_len};

/// What the strings are made of; ASCII last, since alone it shows least.
const FRAGMENTS: [&[u8]; 25] = [
    b"\x80",
    b"\xBF",
    b"\xC0\x80",
    b"\xC2",
    b"\xC3\xA9",
    b"\xCC\x81",
    b"\xE2\x82",
    b"\xE2\x82\xAC",
    b"\xED\xA0\x80",
    b"\xED\xB0\x80",
    b"\xEF\xBB\xBF",
    b"\xEF\xBF\xBD",
    b"\xEF\xBF\xBE",
    b"\xF0\x9F\x98\x80",
    b"\xF4\x90\x80\x80",
    b"\xFE",
    b"\xFF",
    b"\xF0\x90\x80",
    b"a",
    b"\0",
    b"\n",
    b"\r",
    b"\"",
    b"\\",
    b"\x7F",
];

/// The maximum number of fragments in a string.
pub const LONGEST: u32 = 3;
/// How many ASCII bytes precede the first fragment: none, or enough to put it across the end of a block of 64 bytes.
const OFFSETS: [usize; 2] = [0, 61];

/// Every string of up to this many fragments, at the start of the input and across a block edge.
pub fn strings_up_to(longest: u32) -> impl Iterator<Item = Vec<u8>> {
    let lengths = (1..=longest).map(|len| (len, FRAGMENTS.len().pow(len)));
    let all = lengths.flat_map(|(len, count)| (0..count).map(move |index| (len, index)));
    OFFSETS.into_iter().flat_map(move |offset| {
        all.clone().map(move |(len, mut index)| {
            let mut bytes = vec![b'a'; offset];
            for _ in 0..len {
                bytes.extend_from_slice(FRAGMENTS[index % FRAGMENTS.len()]);
                index /= FRAGMENTS.len();
            }
            bytes
        })
    })
}

/// Text with every scalar value and every pair of ASCII bytes, at most 256 characters to an input, to catch decoders
/// that treat one character or one pair specially.
pub fn texts() -> impl Iterator<Item = Vec<u8>> {
    const EACH: usize = 64;
    let scalars = (0..=char::MAX as u32).step_by(EACH).filter_map(|first| {
        let text: String = (first..first + EACH as u32).filter_map(char::from_u32).collect();
        (!text.is_empty()).then(|| text.into_bytes())
    });
    // The sequence `first, 0, first, 1, first, 2, …` contains each pair with `first` in both orders.
    let pairs = (0..0x80u8).map(|first| (0..0x80).flat_map(|second| [first, second]).collect());
    scalars.chain(pairs)
}

/// How many [`mixture`]s there are.
const MIXTURES: usize = 6;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// All fragments, all marks and all [`forms`].
fn everything() -> impl Iterator<Item = Vec<u8>> {
    FRAGMENTS.into_iter().chain(MARKS).map(<[u8]>::to_vec).chain(forms())
}

/// Many fragments in one input: a byte order mark; all fragments that are well-formed; then [`everything`], each followed
/// by a letter, by the next one, by a stray continuation byte or between quotation marks; then a truncated character. The
/// second and the third are only the text, without and with a truncated character.
fn mixture(index: usize) -> Vec<u8> {
    let [before, after, end]: [&[u8]; 3] = match index {
        0 => [b"", b"a", b"\xE2\x82"],
        1 => [b"", b"", b""],
        2 => [b"", b"", b"\xE2"],
        3 => [b"", b"", b"\xF0\x9F\x98"],
        4 => [b"", b"\x80", b"\xC3"],
        _ => [b"\"", b"\"", b"\xE2\x82"],
    };
    // A quotation mark would end the quotation.
    let fits = |one: &Vec<u8>| before.is_empty() || !one.contains(&b'"');
    let parts = everything().filter(|one| index != 1 && index != 2 && fits(one));
    joined(parts.map(|one| [before, &one, after].concat()), end)
}

/// A byte order mark, all fragments that are well-formed, these parts, and this end.
fn joined(parts: impl Iterator<Item = Vec<u8>>, end: &[u8]) -> Vec<u8> {
    let text = FRAGMENTS.into_iter().filter(|one| core::str::from_utf8(one).is_ok()).flatten();
    BYTE_ORDER_MARK.iter().chain(text).copied().chain(parts.flatten()).chain(end.iter().copied()).collect()
}

/// Equal letters, as many as [`SMALL`] says; then a truncated character, which streams get in two chunks; all fragments,
/// overlong or too large forms of each length and three truncated characters, each followed by a letter; and a truncated
/// character: a tenth of a mixture, at a tenth of its cost. For an input of this length, an output buffer without capacity is
/// chosen.
fn small_mixture() -> Vec<u8> {
    [SMALL.bytes(), text_of_small_mixture()].concat()
}

fn text_of_small_mixture() -> Vec<u8> {
    const TRUNCATED: &[u8] = b"\xE2\x82";
    const REFUSED: [&[u8]; 11] = [
        b"\x80\xC0\x80",
        b"\xED\xA0\x80\xED\xB0\x80",
        b"\xED",
        b"\xF4",
        b"\xE0",
        b"\xC1\xBF",
        b"\xF8\x88\x80\x80\x80",
        b"\xFC\x84\x80\x80\x80\x80",
        b"\xF5\x80\x80\x80",
        b"\xE0\x80\x80",
        b"\xF0\x80\x80\x80",
    ];
    let parts = [TRUNCATED].into_iter().chain(FRAGMENTS).chain(REFUSED).map(|one| [one, b"a"].concat());
    joined(parts, TRUNCATED)
}

/// A byte order mark, [`everything`] with a block of ASCII after each part, and a truncated character: one input that
/// is much longer than the mixtures.
fn spread() -> Vec<u8> {
    let all = everything().flat_map(|one| [&one[..], &[b'a'; 64]].concat());
    BYTE_ORDER_MARK.iter().copied().chain(all).chain(*b"\xE2\x82").collect()
}

fn every(step: usize, bytes: Vec<u8>) -> Input {
    Input { cuts: Some(Cuts::every(step, bytes.len())), bytes }
}

fn whole(bytes: Vec<u8>) -> Input {
    Input { bytes, cuts: None }
}

/// The mixtures of all fragments and a longer one, cut pseudo-randomly; then the mixtures again, cut after every byte,
/// and after every three and seven bytes.
pub fn mixtures() -> impl Iterator<Item = Input> {
    let all = || (0..MIXTURES).map(mixture);
    let cut = [1, 3, 7].into_iter().flat_map(move |step| all().map(move |bytes| every(step, bytes)));
    all().chain(std::iter::once_with(spread)).map(whole).chain(cut)
}

/// What shows most faults, for the start of a run: the empty input; the [short inputs](opening_bytes); two mixtures cut
/// after every few bytes; and a longer mixture.
pub fn opening() -> impl Iterator<Item = Input> {
    let short = std::iter::once(Vec::new()).chain((0..).map_while(opening_bytes));
    let cut = [(0, 1), (0, 3), (0, 7), (4, 3), (4, 7)].into_iter().map(|(index, step)| every(step, mixture(index)));
    short.map(whole).chain(cut).chain(std::iter::once_with(|| whole(spread())))
}

/// Short inputs that show most of what a small mixture does not.
const TELLING: [&[u8]; 6] =
    [b"\xF0\x9F\x98\x80", b"\xEF\xBB\xBFab\xE2\x82", b"\xED\xA0\x80", b"\xEDa", b"\xC0", b"\xF5"];

/// An input whose number of letters makes a choice that is rare for other inputs.
struct Rare {
    before: &'static [u8],
    letter: u8,
    count: usize,
    /// Follows the letters, this many times.
    text: (&'static str, usize),
    end: &'static [u8],
}

/// The letters before the text of the small mixture.
const SMALL: Rare = Rare { before: b"", letter: b'p', count: 1, text: ("", 0), end: b"" };
/// Stray continuation bytes after characters, and a lead byte at the end. A new stream gets half of the first character in
/// its first chunk, and the output buffer has exactly the capacity that is needed.
const STRAY: Rare =
    Rare { before: b"ab\xC3\xA9\x80a\xC3\xA9\x80a\xC3\xA9\x80a", letter: b'p', count: 42, text: ("", 0), end: b"\xC3" };
/// Two byte order marks and faults, for a new stream and for an output buffer without capacity.
const MARKED_TWICE: Rare = Rare {
    before: b"\xEF\xBB\xBF\xEF\xBB\xBFaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
    letter: b'f',
    count: 1,
    text: ("", 0),
    end: b"\xFFa\xC3",
};
/// Text, of which a stream gets the second chunk, from inside a character on, on another thread.
const MOVED: Rare = Rare { before: b"", letter: b'w', count: 26, text: ("€", 4), end: b"" };
/// Text and a truncated character, for two threads at the same time; so long that an answer is interrupted by the other.
const AT_ONCE: Rare = Rare { before: b"", letter: b'j', count: 178, text: ("€", 1000), end: b"\xE2\x82" };
/// An error and a truncated character, which are also decoded after 65,536 letters.
const FAR: Rare = Rare { before: b"", letter: b'r', count: 37, text: ("€", 1), end: b"\xFF\xE2\x82" };
/// The same, but a character is at the edge of 65,536 bytes.
const AT_EDGE: Rare = Rare { before: "€".as_bytes(), letter: b'r', count: 435, text: ("", 0), end: b"\xFF\xE2\x82" };

impl Rare {
    fn bytes(&self) -> Vec<u8> {
        let (text, often) = self.text;
        [self.before, &vec![self.letter; self.count], text.repeat(often).as_bytes(), self.end].concat()
    }
}

/// A truncated character at the end of a block of 64 bytes, before a block of ASCII.
fn before_ascii() -> Vec<u8> {
    [&[b'a'; 62][..], b"\xE2\x82", &[b'a'; 64]].concat()
}

/// Short inputs that show most faults, by index: a small mixture; a few shorter inputs; the mixtures, and between them two
/// inputs that are asked about on other threads, and each fragment alone that is not ASCII; each mark of another encoding,
/// followed by letters and a truncated character; and two inputs that are also decoded after 64 KiB.
pub fn opening_bytes(mut index: usize) -> Option<Vec<u8>> {
    /// How many mixtures come first. A decoder that reports only the first error of an input needs others.
    const FIRST: usize = 4;
    let alone = || FRAGMENTS.iter().filter(|one| !one.is_ascii() && !TELLING.contains(one));
    type Part<'p> = &'p dyn Fn(usize) -> Vec<u8>;
    let parts: [(usize, Part<'_>); 14] = [
        (1, &|_| small_mixture()),
        (1, &|_| STRAY.bytes()),
        (1, &|_| TELLING[0].to_vec()),
        (1, &|_| MARKED_TWICE.bytes()),
        (TELLING.len() - 1, &|at| TELLING[1 + at].to_vec()),
        (1, &|_| before_ascii()),
        (FIRST, &mixture),
        (1, &|_| MOVED.bytes()),
        (1, &|_| AT_ONCE.bytes()),
        (alone().count(), &|at| alone().nth(at).map_or_else(Vec::new, |one| one.to_vec())),
        (MIXTURES - FIRST, &|at| mixture(FIRST + at)),
        // That of the first, the byte order mark, is one of those above.
        (MARKS.len() - 1, &|at| [MARKS[1 + at], b"ab\xE2\x82"].concat()),
        (1, &|_| FAR.bytes()),
        (1, &|_| AT_EDGE.bytes()),
    ];
    for (count, part) in parts {
        match index.checked_sub(count) {
            None => return Some(part(index)),
            Some(rest) => index = rest,
        }
    }
    None
}

/// Each byte from C0 on, followed by as many of the lowest or of the highest continuation bytes as it announces, by one
/// fewer, and by none; those at the bounds of the classes first.
pub fn forms() -> impl Iterator<Item = Vec<u8>> {
    let is_bound = |lead: &u8| ByteClass::BOUNDS.iter().any(|(first, last)| [first, last].contains(&lead));
    let (bounds, others): (Vec<u8>, Vec<u8>) = (0xC0..=0xFF).partition(is_bound);
    let form = |lead, tail, count| std::iter::once(lead).chain(std::iter::repeat_n(tail, count)).collect();
    [bounds, others].into_iter().flat_map(move |leads| {
        let of = |missing: usize| {
            // The number of continuation bytes. None at all is left to `alone`, unless nothing is missing.
            let count = move |lead: u8| {
                (announced_len(lead) - 1).checked_sub(missing).filter(|&count| missing == 0 || count > 0)
            };
            let counted = leads.iter().filter_map(move |&lead| Some((lead, count(lead)?)));
            counted.flat_map(move |(lead, count)| [0x80, 0xBF].map(|tail| form(lead, tail, count)))
        };
        let alone = leads.iter().filter(|lead| announced_len(**lead) > 1).map(|&lead| vec![lead]);
        let mut all: Vec<Vec<u8>> = of(0).chain(of(1)).chain(alone).collect();
        // A byte that announces nothing has one form.
        all.dedup();
        all
    })
}

/// The first and the last character of each row of the grammar.
pub(super) fn bounds() -> Vec<Vec<u8>> {
    let of_row = |pick: fn(&(u8, u8)) -> u8| RFC3629.rows.iter().map(move |row| row.bytes.iter().map(pick).collect());
    of_row(|range| range.0).chain(of_row(|range| range.1)).collect()
}

/// Every pair of the first and last characters of each row of the grammar, at each offset in a block of 64 bytes.
pub fn pairs_of_bounds() -> impl Iterator<Item = Vec<u8>> {
    let bounds = bounds();
    (0..64).flat_map(move |offset| {
        let pairs = bounds.iter().flat_map(|first| bounds.iter().map(move |second| [&first[..], second].concat()));
        pairs.map(|pair| [&vec![b'a'; offset], &pair[..]].concat()).collect::<Vec<_>>()
    })
}

/// What means something in other encodings, or to programs that guess the encoding of a text: byte order marks, escape
/// sequences, declarations.
pub(super) const MARKS: [&[u8]; 24] = [
    b"\xEF\xBB\xBF",
    b"\xEF\xBB\xBF\xEF\xBB\xBF",
    b"\xFE\xFF",
    b"\xFF\xFE",
    b"\0\0\xFE\xFF",
    b"\xFF\xFE\0\0",
    b"+/v8-",
    b"+ADw-",
    b"\xF7\x64\x4C",
    b"\xDD\x73\x66\x73",
    b"\x0E\xFE\xFF",
    b"\xFB\xEE\x28",
    b"\x84\x31\x95\x33",
    b"\x1B$B",
    b"\x1B%G",
    b"~{",
    b"\x0E",
    b"<?xml version='1.0' encoding='latin1'?>",
    b"<meta charset=latin1>",
    b"#!/bin/sh\xFF\n",
    b"# coding: latin1\n",
    b"\0\0\0\0\0\0\0\0",
    b"%C3%A9",
    b"&#xE9;",
];

/// Each of the byte order marks of other encodings, at the start and inside, followed by text and by an error.
pub fn marks() -> impl Iterator<Item = Vec<u8>> {
    const AFTER: [&[u8]; 5] = [b"", b"abc", "abé€".as_bytes(), b"ab\xE2\x82", b"a\xFF"];
    let before: [&[u8]; 2] = [b"", b"ab"];
    before.into_iter().flat_map(|before| {
        MARKS.into_iter().flat_map(move |mark| AFTER.into_iter().map(move |after| [before, mark, after].concat()))
    })
}

/// Inputs of sizes at which counters wrap and buffers end: just below and above 64 KiB and 1 MiB, 256, 4096 and 65,536
/// errors, outputs that cross 4 to 64 KiB, 600 chunks, two errors far apart. Streams get them in chunks of 64 KiB, or
/// byte by byte.
pub fn sizes() -> impl Iterator<Item = Input> {
    const PIECES: [&[u8]; 6] = [b"a", b"\xC3\xA9", b"\xE2\x82\xAC", b"\xF0\x9F\x98\x80", b"a\xFF", b"\xE2\x82a"];
    const ENDS: [&[u8]; 4] = [b"", b"\xFF", b"\xE2\x82", b"\xF0\x9F\x98\x80"];
    let filled = |len: usize, piece: &[u8], end: &[u8]| {
        let body = len - end.len();
        let mut bytes = piece.repeat(body / piece.len());
        bytes.splice(0..0, vec![b'a'; body % piece.len()]);
        [&bytes, end].concat()
    };
    let near = |size: usize| size - 3..=size + 3;
    let of_64_kib = near(1 << 16)
        .flat_map(move |len| (0..2).map(move |at| filled(len, PIECES[(len + at) % 4], ENDS[len % 2 + 2 * at])));
    let of_1_mib =
        near(1 << 20).zip(0..).map(move |(len, at): (_, usize)| filled(len, PIECES[at % 4], ENDS[at * 3 % 4]));
    let errors = [256, 4096, 65_536].into_iter().flat_map(move |many| {
        (many - 1..=many + 1).flat_map(|count| [b"\x80".repeat(count), b"\xE2\x82a".repeat(count)])
    });
    let crossing = [4096, 8192, 16_384, 65_536].into_iter().flat_map(move |size| {
        (0..=3).flat_map(move |back| {
            // The output may be cut where the text ends, or later.
            let ends: [&[u8]; 2] = [b"", b"ab"];
            let pieces = PIECES[1..].iter().zip(ends.into_iter().cycle().skip(back));
            pieces.map(move |(piece, end)| [&vec![b'a'; size - back], *piece, end].concat())
        })
    });
    let far = [1100, 5000].into_iter().map(|len| [b"\xFF", &vec![b'a'; len][..], b"\xFFa"].concat());
    let whole = of_64_kib.chain(of_1_mib).chain(errors).chain(crossing).chain(far);
    let whole = whole.map(|bytes| Input { cuts: Some(Cuts::every(1 << 16, bytes.len())), bytes });
    let single = PIECES.into_iter().map(move |piece| {
        let bytes = filled(600, piece, b"\xE2\x82");
        Input { cuts: Some(Cuts::every(1, bytes.len())), bytes }
    });
    whole.chain(single)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use std::collections::BTreeSet;

    #[test]
    fn the_texts_contain_every_scalar_value_and_every_ascii_pair() {
        let texts: Vec<String> = texts().map(|bytes| String::from_utf8(bytes).unwrap()).collect();
        let scalars: BTreeSet<char> = texts.iter().flat_map(|text| text.chars()).collect();
        assert_eq!(scalars.len(), 0x11_0000 - 0x800);
        let pairs: BTreeSet<[u8; 2]> =
            texts.iter().flat_map(|text| text.as_bytes().windows(2)).map(|pair| [pair[0], pair[1]]).collect();
        assert_eq!(pairs.iter().filter(|pair| pair.is_ascii()).count(), 128 * 128);
    }

    /// Each first and last character of each row, at each offset in a block, with each other before and after it.
    #[test]
    fn every_bound_of_every_row_occurs_at_every_offset() {
        let mut seen: BTreeSet<(usize, &[u8])> = BTreeSet::new();
        let pairs: Vec<Vec<u8>> = pairs_of_bounds().collect();
        let bounds = bounds();
        assert_eq!((pairs.len(), bounds.len()), (64 * 18 * 18, 18));
        for pair in &pairs {
            assert!(std::str::from_utf8(pair).is_ok());
            for bound in &bounds {
                let starts = (0..pair.len()).filter(|&start| pair[start..].starts_with(bound));
                seen.extend(starts.map(|start| (start % 64, &bound[..])));
            }
        }
        for bound in bounds.iter().filter(|bound| bound.len() > 1) {
            let offsets = (0..64).filter(|&offset| seen.contains(&(offset, bound))).count();
            assert_eq!(offsets, 64, "{bound:02X?}");
        }
    }

    #[test]
    fn the_sizes_are_those_at_which_counters_end() {
        let sizes: Vec<Input> = sizes().collect();
        let has = |len: usize| sizes.iter().any(|input| input.bytes.len() == len);
        for size in [1 << 16, 1 << 20] {
            assert!((size - 3..=size + 3).all(has));
        }
        let errors = |bytes: &[u8]| bytes.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
        for count in [255, 256, 257, 4095, 4096, 4097, 65_535, 65_536, 65_537] {
            assert!(sizes.iter().any(|input| errors(&input.bytes) == count), "{count} errors");
        }
        let chunks = |input: &Input| input.case().cuts().chunks(&input.bytes).count();
        assert!(sizes.iter().any(|input| chunks(input) > 256));
        let all: usize = sizes.iter().map(|input| input.bytes.len()).sum();
        assert!(all < 20 << 20, "{all} bytes");
        assert!(marks().count() > 200);
    }

    #[test]
    fn the_forms_have_each_lead_with_what_it_announces() {
        let all: Vec<Vec<u8>> = forms().collect();
        // Complete, without the last byte if more than one is announced, and alone; but FE and FF only alone.
        assert_eq!(all.len(), 2 * 62 + 2 * (62 - 32) + 62 + 2);
        assert_eq!(all[..4], [&b"\xC0\x80"[..], b"\xC0\xBF", b"\xC1\x80", b"\xC1\xBF"]);
        for form in [&b"\xF5\x80\x80\x80"[..], b"\xED\xBF\xBF", b"\xE2\x80", b"\xF0\xBF\xBF", b"\xFF"] {
            assert!(all.iter().any(|string| string == form), "{form:02X?}");
        }
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        assert!(all[..28].iter().any(|string| string[0] == 0xF5) && all[..28].iter().all(|string| string[0] != 0xC3));
    }

    #[test]
    fn the_mixtures_are_text_and_all_forms() {
        let all: Vec<Vec<u8>> = mixtures().take(MIXTURES + 1).map(|input| input.bytes).collect();
        assert_eq!(mixtures().count(), 4 * MIXTURES + 1);
        assert!(all.iter().all(|mixture| mixture.starts_with(BYTE_ORDER_MARK)));
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), all.len());
        assert!(std::str::from_utf8(&all[1]).is_ok());
        assert!(std::str::from_utf8(&all[2]).is_err_and(|error| error.error_len().is_none()));
        for index in [0, 3, 4, 5, 6] {
            let has = |form: Vec<u8>| all[index].windows(form.len()).any(|window| window == form);
            assert!(forms().all(has), "{index}");
        }
    }

    #[test]
    fn a_run_opens_with_mixtures_and_fragments() {
        let short: Vec<Vec<u8>> = (0..).map_while(opening_bytes).collect();
        let expected: BTreeSet<Vec<u8>> =
            FRAGMENTS.map(<[u8]>::to_vec).into_iter().filter(|one| !one.is_ascii()).collect();
        assert_eq!(short.iter().collect::<BTreeSet<_>>().len(), short.len());
        let others = TELLING.iter().filter(|one| !expected.contains(**one)).count();
        assert_eq!(short.len(), 8 + others + MIXTURES + expected.len() + MARKS.len() - 1);
        assert!(short[0].len() < 200, "a small mixture has {} bytes", short[0].len());
        assert_eq!(short.iter().filter(|one| expected.contains(*one)).count(), expected.len());
        assert!((0..MIXTURES).all(|index| short.contains(&mixture(index))));
        assert!(short.iter().all(|bytes| bytes.len() < 4096), "libFuzzer shortens what is longer");
        assert!(opening().skip(1).map(|input| input.bytes).zip(short).all(|(one, other)| one == other));
    }

    /// The fewest equal letters between these bytes with which the choices derived from the input are those wanted.
    fn lettered(before: &[u8], after: &[u8], is_wanted: impl Fn(&Case<'_>) -> bool) -> Vec<u8> {
        const MOST: usize = 1000;
        let joined = |(count, letter)| [before, &vec![letter; count], after].concat();
        let all = (0..MOST).flat_map(|count| (b'a'..=b'z').map(move |letter| (count, letter)));
        all.map(joined).find(|bytes| is_wanted(&Case::new(bytes))).unwrap()
    }

    /// The letters are the fewest with which the input has such a case; `more` follows it.
    fn check(rare: &Rare, more: &[u8], is_wanted: impl Fn(&Case<'_>) -> bool) {
        let after = [Rare { before: b"", count: 0, ..*rare }.bytes(), more.to_vec()].concat();
        let found = lettered(rare.before, &after, &is_wanted);
        let input = [rare.bytes(), more.to_vec()].concat();
        assert_eq!(String::from_utf8_lossy(&input), String::from_utf8_lossy(&found));
    }

    #[test]
    fn the_letters_are_those_for_which_something_rare_is_drawn() {
        /// Streams get three bytes at a time, which shows most of their faults.
        fn is_cut_after_three(case: &Case<'_>) -> bool {
            case.cuts().step() == Some(3)
        }
        let is_in_two_chunks = |case: &Case<'_>| {
            let at = std::str::from_utf8(case.bytes).map_or_else(|error| error.valid_up_to(), str::len);
            case.cuts().step().is_some_and(|step| !at.is_multiple_of(step))
        };
        check(&SMALL, &text_of_small_mixture(), |case| {
            is_cut_after_three(case) && case.choices.room() == 0 && is_in_two_chunks(case)
        });
        check(&STRAY, b"", |case| is_cut_after_three(case) && case.choices.is_new_stream() && case.choices.room() == 1);
        check(&MARKED_TWICE, b"", |case| case.choices.is_new_stream() && case.choices.room() == 0);
        let is_cut_inside = |case: &Case<'_>| {
            let first = case.cuts().offsets().first().map(|&at| &case.bytes[..at]);
            first.is_some_and(|first| std::str::from_utf8(first).is_err())
        };
        let is_far = |len: usize| move |case: &Case<'_>| case.prefix() == len;
        check(&MOVED, b"", |case| case.choices.is_moved() && is_cut_inside(case));
        check(&AT_ONCE, b"", |case| case.choices.is_at_once());
        check(&FAR, b"", is_far(65_536));
        check(&AT_EDGE, b"", is_far(65_535));
    }

    #[test]
    fn every_string_of_fragments_is_generated() {
        let all: BTreeSet<Vec<u8>> = strings_up_to(LONGEST).collect();
        for bytes in [&b"\xEF\xBB\xBF\xFFa"[..], b"\"\x80\"", b"\xEF\xBF\xBD", b"\xED\xA0\x80\xED\xB0\x80"] {
            assert!(all.contains(bytes));
            assert!(all.contains(&[&[b'a'; 61], bytes].concat()));
        }
        // Some strings result from several combinations, so there are slightly fewer strings than combinations.
        let ways = OFFSETS.len() * (25 + 25 * 25 + 25 * 25 * 25);
        assert!(strings_up_to(LONGEST).count() == ways && all.len() > ways * 9 / 10, "{} of {ways}", all.len());
    }
}
