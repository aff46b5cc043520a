//! The plan of `check`: which class strings are judged, with which padding before and after, and by which questions.
//!
//! A plan is a list of parts, a part is a list of [`Set`]s, and a set is every class string of one length with the same
//! offset, padding and questions. Reports derive what was covered from the sets, so they cannot claim what was not run.

use crate::case::{Case, Cuts};
use crate::generate::classes::{Block, Turn, blocks};

/// How many cases there are for each string of a set, and which questions are asked about them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ask {
    /// One case for each string: every question.
    Everything,
    /// One case for each string: every question about the bytes, none about neighbouring bytes or earlier inputs.
    Bytes,
    /// One case for each string: the verdict and the output.
    Answers,
    /// Only the stream: with every set of cuts inside the string and at its ends, each cut twice, and all cuts twice.
    EveryWayCut,
    /// Only the stream: with each cut inside the string and at its ends, and with all of them, once and twice.
    EveryCut,
    /// Only the verdict and the output: at each of 64 alignments, between ASCII and between bytes that change it if they are read.
    Placement,
}

impl Ask {
    /// The questions in words, for reports.
    pub fn says(self) -> &'static str {
        match self {
            Self::Everything => {
                "every law: verdict, every error, output, memory bounds, stream and its early output (cuts derived from the bytes), reset, placement (one alignment), prefix, concatenation"
            }
            Self::Bytes => "verdict, every error, output, stream and its early output (cuts derived from the bytes)",
            Self::Answers => "verdict, first error, output",
            Self::EveryWayCut => {
                "stream, and its early output at one of the cuts: with every set of cuts in the string, its ends included; with each cut twice, which makes an empty chunk; with all of them twice"
            }
            Self::EveryCut => {
                "stream, and its early output at one of the cuts: with each cut in the string, its ends included, once and twice, which makes an empty chunk; with all of them, once and twice"
            }
            Self::Placement => {
                "verdict, first error and output at each of 64 alignments, between lead and continuation bytes, and between ASCII"
            }
        }
    }

    /// The number of cases for each string of this length.
    pub fn variants(self, len: u32) -> u64 {
        let ends = u64::from(len) + 1;
        match self {
            Self::Everything | Self::Bytes | Self::Answers => 1,
            Self::EveryWayCut => (1 << ends) + ends + 1,
            Self::EveryCut => 2 * (ends + 1),
            Self::Placement => 2 * 64,
        }
    }
}

/// Class strings of one length at one offset, with the same padding and questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set {
    /// The length of the strings, and their offset.
    pub strings: Block,
    /// Which of them.
    pub turn: Turn,
    /// What fills the bytes before them.
    pub before: Padding,
    /// What fills the 64 bytes after them; `None` if the input ends with the string.
    pub after: Option<Padding>,
    /// The questions.
    pub ask: Ask,
}

impl Set {
    /// How many bytes of padding follow a string, unless the input ends with it.
    pub const AFTER: usize = 64;

    /// The number of cases.
    pub fn cases(&self) -> u64 {
        self.turn.count(&self.strings) * self.ask.variants(self.strings.len)
    }

    /// When this set is run if time is short, the lowest first: short strings at every offset, then longer ones at the
    /// start of the input and where a register of 16 bytes ends, then the rest.
    pub fn rank(&self) -> u32 {
        let Block { len, offset } = self.strings;
        let is_at_edge = self.strings.is_at_edge();
        let around = u32::from(self.before != Padding::Ascii || self.after.is_some());
        around
            + match len {
                0..=2 => 0,
                3 if is_at_edge => 1,
                4 if offset == 0 => 1,
                3 => 2,
                4 if is_at_edge => 2,
                _ => 3,
            }
    }

    /// Writes the inputs of this set.
    pub fn writer(&self) -> Writer {
        let forms = |padding: Padding, write: &dyn Fn(usize) -> Vec<u8>| (0..padding.variants()).map(write).collect();
        let before = forms(self.before, &|turn| self.before.before(self.strings.offset, turn));
        let after = match self.after {
            Some(padding) => forms(padding, &|turn| padding.after(Self::AFTER, turn)),
            None => vec![Vec::new()],
        };
        Writer { set: *self, before, after, string: Vec::new(), bytes: Vec::new() }
    }
}

/// Writes the inputs of a set, one at a time, reusing its buffers.
#[derive(Clone, Debug)]
pub struct Writer {
    set: Set,
    before: Vec<Vec<u8>>,
    after: Vec<Vec<u8>>,
    string: Vec<u8>,
    bytes: Vec<u8>,
}

impl Writer {
    /// The input with the string of this index.
    pub fn write(&mut self, index: u64) -> &[u8] {
        let Block { len, offset } = self.set.strings;
        Block { len, offset: 0 }.write(index, &mut self.string);
        let turn = (index.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as usize + offset;
        self.bytes.clear();
        self.bytes.extend_from_slice(&self.before[turn % self.before.len()]);
        self.bytes.extend_from_slice(&self.string);
        self.bytes.extend_from_slice(&self.after[(turn >> 6) % self.after.len()]);
        &self.bytes
    }

    /// Calls `judge` with each case of the string of this index; with none if it is not its turn.
    pub fn each(&mut self, index: u64, mut judge: impl FnMut(&Case<'_>)) {
        let Set { strings: Block { len, offset }, turn, ask, .. } = self.set;
        self.write(index);
        let bytes = &self.bytes[..];
        if !turn.has(&bytes[offset..offset + len as usize], offset) {
            return;
        }
        let ends = offset..offset + len as usize + 1;
        for variant in 0..ask.variants(len) {
            judge(&match ask {
                Ask::Everything | Ask::Bytes | Ask::Answers => Case::new(bytes),
                Ask::EveryWayCut => Case::with_cuts(bytes, every_way(ends.clone(), variant, bytes.len())),
                Ask::EveryCut => Case::with_cuts(bytes, every_cut(ends.clone(), variant, bytes.len())),
                Ask::Placement => Case::placed(bytes, variant as usize / 2, variant % 2 == 0),
            });
        }
    }
}

/// The cuts of variant `variant` at the offsets `ends`: each subset, then each offset twice, then all twice.
fn every_way(ends: std::ops::Range<usize>, variant: u64, len: usize) -> Cuts {
    let subsets = 1u64 << ends.len();
    let start = ends.start;
    match variant.checked_sub(subsets) {
        None => Cuts::new(ends.filter(|cut| variant >> (cut - start) & 1 == 1), len),
        Some(twice) => some_twice(ends, twice as usize, len),
    }
}

/// The cuts of variant `variant` at the offsets `ends`: each alone, all, each twice, all twice.
fn every_cut(ends: std::ops::Range<usize>, variant: u64, len: usize) -> Cuts {
    let (variant, count) = (variant as usize, ends.len());
    match variant.checked_sub(count + 1) {
        None if variant < count => Cuts::new([ends.start + variant], len),
        None => Cuts::new(ends, len),
        Some(twice) => some_twice(ends, twice, len),
    }
}

/// The offset of this index twice; all offsets twice if the index is past the last.
fn some_twice(ends: std::ops::Range<usize>, index: usize, len: usize) -> Cuts {
    match index < ends.len() {
        true => Cuts::new([ends.start + index; 2], len),
        false => Cuts::new(ends.clone().chain(ends), len),
    }
}

/// Some sets that are run and counted together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The name, for people and for JSON.
    pub name: &'static str,
    /// The sets.
    pub sets: Vec<Set>,
}

impl Part {
    fn new(name: &'static str, sets: impl IntoIterator<Item = Set>) -> Self {
        Self { name, sets: sets.into_iter().collect() }
    }

    /// The number of cases.
    pub fn cases(&self) -> u64 {
        self.sets.iter().map(Set::cases).sum()
    }
}

const SHORT: &str = "short strings, every question";
const SHORT_IN_TURNS: &str = "short strings, every question in turn";
const CROSSING: &str = "strings across block edges";

/// What `check --quick` covers: lengths 0 to 2 at the offsets 0 to 64, length 3 at the edges of 16, 32 and 64 bytes and
/// at the start, length 4 at the start.
pub fn quick() -> Vec<Part> {
    let is_chosen = |strings: &Block| match strings.len {
        0..=2 => true,
        3 => matches!(strings.offset, 0 | 14 | 15 | 30 | 31 | 62 | 63),
        4 => strings.offset == 0,
        _ => false,
    };
    let short = blocks().into_iter().filter(is_chosen);
    vec![Part::new(SHORT, short.map(|strings| alone(strings, Ask::Everything)))]
}

/// What `check` covers for decoders in other processes, where each answer takes a microsecond or more. Some decoders are
/// wrong only at the end of the input, only before text or only in inputs of some lengths, so there are strings of length
/// 4 without text around them, of lengths 1 to 3 with text on both sides, and short ones after up to 300 bytes of ASCII.
///
/// Of these, `few` leaves out those of length 4 and most with surroundings, for decoders that take tens of microseconds.
pub fn remote(few: bool) -> Vec<Part> {
    let set = |len, offset, before, after| Set { before, after, ..alone(Block { len, offset }, Ask::Answers) };
    let everything = if few { 2 } else { 3 };
    let bare = |len| alone(Block { len, offset: 0 }, if len <= everything { Ask::Everything } else { Ask::Answers });
    let afters = || Padding::ALL.into_iter().map(Some).chain([None]);
    let between = Padding::ALL
        .into_iter()
        .flat_map(|before| afters().flat_map(move |after| (1..=2).map(move |len| set(len, 5, before, after))));
    let in_text = [None, Some(Padding::Ascii)].map(|after| set(3, 5, Padding::Ascii, after));
    let lengths = (1..=300).map(|offset| set(1, offset, Padding::Ascii, None));
    let edges = (1..=8).chain(14..=17).chain(30..=33).chain(62..=65);
    let edges = edges.map(|offset| set(2, offset, Padding::Ascii, None));
    let mut parts = vec![
        Part::new(SHORT, (0..=if few { 3 } else { 4 }).map(bare)),
        Part::new("short strings, every cut", (1..=2).map(|len| alone(Block { len, offset: 0 }, Ask::EveryCut))),
        Part::new("after ASCII", lengths.chain(edges.filter(|_| !few))),
    ];
    if !few {
        parts.push(Part::new("surroundings", between.chain(in_text)));
    }
    parts
}

/// What `check` covers by default: [`blocks`], but strings that make up most of the time take turns.
///
/// For strings of length 4, the answers are asked for at every offset, and every question at the start of the input.
/// When it is their turn, every question is asked where a register of 16 bytes ends, and elsewhere every question about
/// the bytes. The questions that are thus asked only at some offsets are about cuts, the address, what was asked before,
/// or text before the string, and most of this is chosen pseudo-randomly in any case. Strings of length 5 cross each edge
/// at one offset of four, and streams are cut only at the last of the edges and, in their turn, at the start of
/// the input. A sequence of RFC 3629 has four bytes at most, so one of the five places is a neighbour; whichever that
/// is, the other four have every combination of classes at each of the four offsets.
pub fn standard() -> Vec<Part> {
    let (short, crossing): (Vec<_>, Vec<_>) = blocks().into_iter().partition(|strings| strings.len <= 4);
    let its = |strings, ask| Set { turn: Turn::Its, ..alone(strings, ask) };
    let answers = |strings| Set { turn: Turn::NotIts, ..alone(strings, Ask::Answers) };
    let in_turns = |strings: Block| match strings.offset {
        1.. if strings.len == 4 => {
            let ask = if strings.is_at_edge() { Ask::Everything } else { Ask::Bytes };
            vec![its(strings, ask), answers(strings)]
        }
        _ => vec![alone(strings, Ask::Everything)],
    };
    let crossing = crossing.into_iter().flat_map(|strings| match strings.offset {
        0 => vec![its(strings, Ask::Bytes), answers(strings)],
        1..32 => vec![its(strings, Ask::Answers)],
        _ => vec![its(strings, Ask::Bytes)],
    });
    vec![Part::new(SHORT_IN_TURNS, short.into_iter().flat_map(in_turns)), Part::new(CROSSING, crossing)]
}

/// What `check --deep` covers: every string of [`blocks`], longer ones, and other surroundings.
pub fn deep() -> Vec<Part> {
    let (short, crossing): (Vec<_>, Vec<_>) = blocks().into_iter().partition(|strings| strings.len <= 4);
    vec![
        Part::new(SHORT, short.into_iter().map(|strings| alone(strings, Ask::Everything))),
        Part::new(CROSSING, crossing.into_iter().map(|strings| alone(strings, Ask::Bytes))),
        Part::new("long strings", (6..=7).map(|len| alone(Block { len, offset: 0 }, Ask::Answers))),
        Part::new("surroundings", surroundings()),
        Part::new("after whole blocks", after_whole_blocks()),
        Part::new("every set of cuts", every_set_of_cuts()),
        Part::new("every cut", every_single_cut()),
        Part::new("alignments", alignments()),
    ]
}

fn alone(strings: Block, ask: Ask) -> Set {
    Set { strings, turn: Turn::Every, before: Padding::Ascii, after: None, ask }
}

/// Up to length 4: each padding before with each padding after or none, except ASCII before and none after, which is in
/// the standard plan. Length 5: the same padding on both sides.
fn surroundings() -> Vec<Set> {
    let mut sets = Vec::new();
    for offset in 0..64 {
        for before in Padding::ALL {
            let set = |len, after| Set { before, after, ..alone(Block { len, offset }, Ask::Answers) };
            for len in 0..=4 {
                sets.extend(Padding::ALL.map(|after| set(len, Some(after))));
                sets.extend((before != Padding::Ascii).then(|| set(len, None)));
            }
            sets.push(set(5, Some(before)));
        }
    }
    sets
}

fn after_whole_blocks() -> Vec<Set> {
    let mut sets = Vec::new();
    for offset in 64..128 {
        for before in Padding::ALL {
            let set = |len, after| Set { before, after, ..alone(Block { len, offset }, Ask::Answers) };
            sets.extend((0..=4).flat_map(|len| [set(len, None), set(len, Some(before))]));
        }
    }
    sets
}

fn every_set_of_cuts() -> Vec<Set> {
    let mut sets = Vec::new();
    for offset in [0, 1, 15, 16, 31, 32, 60, 61, 62, 63, 64, 65] {
        for after in [None, Some(Padding::Ascii)] {
            sets.extend((0..=4).map(|len| Set { after, ..alone(Block { len, offset }, Ask::EveryWayCut) }));
        }
    }
    sets
}

/// Length 5 at the start of the input and around offset 64; lengths 1 to 3 with every padding at every offset below 64.
fn every_single_cut() -> Vec<Set> {
    let mut sets: Vec<Set> =
        [0].into_iter().chain(59..=64).map(|offset| alone(Block { len: 5, offset }, Ask::EveryCut)).collect();
    for offset in 0..64 {
        for before in Padding::ALL {
            let strings = (1..=3).map(|len| Block { len, offset });
            sets.extend(strings.map(|strings| Set { before, after: Some(before), ..alone(strings, Ask::EveryCut) }));
        }
    }
    sets
}

/// Without padding, with 64 bytes before, and with 64 bytes after.
fn alignments() -> Vec<Set> {
    let settings = [(0, None), (64, None), (0, Some(Padding::Ascii))];
    let sets = settings.into_iter().flat_map(|(offset, after)| {
        (0..=3).map(move |len| Set { after, ..alone(Block { len, offset }, Ask::Placement) })
    });
    sets.collect()
}

/// The bytes on one side of a class string.
///
/// A padding may have several variants. They alternate, so that a string has different neighbours at each offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Padding {
    /// ASCII.
    Ascii,
    /// Characters of two to four bytes, the lowest of their length and high ones; a single byte is ASCII.
    Valid,
    /// ASCII with an ill-formed segment next to the string, and one in every 16 bytes beyond.
    IllFormed,
}

impl Padding {
    /// Every padding.
    pub const ALL: [Self; 3] = [Self::Ascii, Self::Valid, Self::IllFormed];

    /// The name, for people and for JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ascii => "ASCII",
            Self::Valid => "valid",
            Self::IllFormed => "ill-formed",
        }
    }

    /// The number of variants.
    pub(super) fn variants(self) -> usize {
        match self {
            Self::Ascii => 1,
            Self::Valid => 2 * 3,
            Self::IllFormed => SEGMENTS.len(),
        }
    }

    /// Segments that fill `len` bytes, ordered from the string outwards.
    fn outwards(self, len: usize, turn: usize) -> Vec<&'static [u8]> {
        let mut pieces: Vec<&'static [u8]> = Vec::new();
        let mut filled = 0;
        while filled < len {
            let piece = self.piece(len - filled, filled, pieces.len() + turn, turn);
            filled += piece.len();
            pieces.push(piece);
        }
        pieces
    }

    /// The next segment, `filled` bytes away from the string; at most `room` bytes long.
    fn piece(self, room: usize, filled: usize, count: usize, turn: usize) -> &'static [u8] {
        const A: &[u8] = b"a";
        match self {
            Self::Ascii => A,
            Self::Valid => {
                // Leave no single byte over, which only ASCII could fill.
                let fits = |piece: &&[u8]| piece.len() <= room && piece.len() + 1 != room;
                let characters = CHARACTERS[turn % 2];
                (0..3).map(|step| characters[(count + step) % 3]).find(fits).unwrap_or(A)
            }
            Self::IllFormed => match filled % 16 {
                0 => {
                    let segment = SEGMENTS[(turn + filled / 16) % SEGMENTS.len()];
                    &segment[segment.len().saturating_sub(room)..]
                }
                _ => A,
            },
        }
    }

    /// The `len` bytes before the string.
    pub(super) fn before(self, len: usize, turn: usize) -> Vec<u8> {
        self.outwards(len, turn).into_iter().rev().flatten().copied().collect()
    }

    /// The `len` bytes after the string.
    pub(super) fn after(self, len: usize, turn: usize) -> Vec<u8> {
        self.outwards(len, turn).into_iter().flatten().copied().collect()
    }
}

/// The lowest characters of two to four bytes; and high ones: U+07FF, U+D7FF and U+10FFFD.
const CHARACTERS: [[&[u8]; 3]; 2] =
    [[b"\xC2\x80", b"\xE0\xA0\x80", b"\xF0\x90\x80\x80"], [b"\xDF\xBF", b"\xED\x9F\xBF", b"\xF4\x8F\xBF\xBD"]];

/// Ill-formed segments, of which every suffix is ill-formed too.
const SEGMENTS: [&[u8]; 8] =
    [b"\x80", b"\xFF", b"\xE2\x82", b"\xF0\x9F\x98", b"\xC3", b"\xED\xA0\x80", b"\xC0\xAF", b"\xF4\x90\xBF"];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Contract, validity};
    use crate::utf8::ByteClass;
    use std::collections::BTreeSet;

    fn every_setting() -> impl Iterator<Item = (Padding, Option<Padding>)> {
        let after = || Padding::ALL.map(Some).into_iter().chain([None]);
        Padding::ALL.into_iter().flat_map(move |before| after().map(move |after| (before, after)))
    }

    #[test]
    fn a_set_holds_every_class_string_once_at_its_offset() {
        for (before, after) in every_setting() {
            for offset in [0, 1, 2, 3, 5, 16, 63, 127] {
                let set = Set { before, after, ..alone(Block { len: 2, offset }, Ask::Answers) };
                let mut writer = set.writer();
                let mut seen = BTreeSet::new();
                for index in 0..set.strings.count() {
                    let bytes = writer.write(index);
                    assert_eq!(bytes.len(), offset + 2 + if after.is_some() { Set::AFTER } else { 0 });
                    seen.insert([bytes[offset], bytes[offset + 1]].map(ByteClass::of));
                }
                assert_eq!(seen.len(), 13 * 13);
            }
        }
    }

    #[test]
    fn every_variant_of_a_padding_is_used() {
        for padding in [Padding::Valid, Padding::IllFormed] {
            let strings = Block { len: 2, offset: 9 };
            let mut writer = Set { before: padding, after: Some(padding), ..alone(strings, Ask::Answers) }.writer();
            let written = (0..strings.count()).map(|index| {
                let bytes = writer.write(index);
                (bytes[..9].to_vec(), bytes[11..].to_vec())
            });
            let (before, after): (BTreeSet<_>, BTreeSet<_>) = written.unzip();
            assert_eq!((before.len(), after.len()), (padding.variants(), padding.variants()));
        }
    }

    /// The cuts of all cases of one string.
    fn cuts(ask: Ask, len: u32, offset: usize) -> Vec<Vec<usize>> {
        let set = Set { after: Some(Padding::Ascii), ..alone(Block { len, offset }, ask) };
        let mut all = Vec::new();
        set.writer().each(7, |case| all.push(case.cuts().offsets().to_vec()));
        assert_eq!(all.len() as u64, ask.variants(len));
        all
    }

    #[test]
    fn every_cut_occurs_once() {
        for (len, offset) in [(0, 0), (1, 5), (4, 61), (5, 0)] {
            let ends = offset..offset + len as usize + 1;
            let all: Vec<usize> = ends.clone().collect();
            let mut doubled: Vec<Vec<usize>> = ends.clone().map(|cut| vec![cut; 2]).collect();
            doubled.push(ends.clone().flat_map(|cut| [cut; 2]).collect());

            let every_way: BTreeSet<_> = cuts(Ask::EveryWayCut, len, offset).into_iter().collect();
            let subsets = (0..1u32 << all.len()).map(|subset| {
                all.iter().enumerate().filter(|(at, _)| subset >> at & 1 == 1).map(|(_, &cut)| cut).collect()
            });
            let expected: BTreeSet<Vec<usize>> = subsets.chain(doubled.iter().cloned()).collect();
            assert_eq!(every_way, expected);
            // With a single offset, "each twice" and "all twice" are the same.
            assert_eq!(expected.len() as u64, Ask::EveryWayCut.variants(len) - u64::from(len == 0));

            let every: BTreeSet<_> = cuts(Ask::EveryCut, len, offset).into_iter().collect();
            let singles = ends.map(|cut| vec![cut]).chain([all]);
            assert_eq!(every, singles.chain(doubled).collect());
        }
    }

    #[test]
    fn every_alignment_occurs_with_both_margins() {
        let set = Set { ask: Ask::Placement, ..alone(Block { len: 1, offset: 64 }, Ask::Placement) };
        let mut seen = BTreeSet::new();
        set.writer().each(0, |case| assert!(seen.insert(case.placement())));
        assert_eq!(seen, (0..64).flat_map(|at| [(at, false), (at, true)]).collect());
    }

    #[test]
    fn the_deep_plan_contains_no_set_twice() {
        let parts = deep();
        let mut seen: Vec<Set> = Vec::new();
        for set in parts.iter().flat_map(|part| &part.sets) {
            assert!(!seen.contains(set), "{set:?}");
            seen.push(*set);
        }
        assert!(quick()[0].sets.iter().all(|set| parts[0].sets.contains(set)));
        let up_to_4 = (0..=4).map(|len| 13u64.pow(len)).sum::<u64>();
        let surroundings = parts.iter().find(|part| part.name == "surroundings").unwrap();
        assert_eq!(surroundings.cases(), 64 * (3 * 13u64.pow(5) + 11 * up_to_4));
    }

    /// The standard plan has every string of the first two parts of the deep one, across an edge at one offset of four.
    #[test]
    fn the_standard_plan_is_what_it_says() {
        let (standard, deep) = (standard(), deep());
        assert!(quick()[0].sets.iter().all(|set| standard[0].sets.contains(set)));
        assert_eq!(standard[0].cases(), deep[0].cases());
        let at_the_start = Block { len: 5, offset: 0 }.count();
        assert_eq!(standard[1].cases(), at_the_start + (deep[1].cases() - at_the_start) / Turn::TURNS);
        let mut strings = [0; 2];
        for (of, part) in strings.iter_mut().zip(&standard) {
            for set in &part.sets {
                let mut writer = set.writer();
                (0..set.strings.count()).for_each(|index| writer.each(index, |_| *of += 1));
            }
            assert_eq!(*of, part.cases());
        }
        let asked = |len, offset| {
            let sets = standard.iter().flat_map(|part| &part.sets);
            let of_block = sets.filter(move |set| set.strings == Block { len, offset });
            of_block.map(|set| (set.turn, set.ask)).collect::<Vec<_>>()
        };
        let answers = (Turn::NotIts, Ask::Answers);
        for (len, offset) in [(0, 64), (3, 17), (4, 0)] {
            assert_eq!(asked(len, offset), [(Turn::Every, Ask::Everything)]);
        }
        assert_eq!(asked(4, 61), [(Turn::Its, Ask::Everything), answers]);
        assert_eq!(asked(4, 5), [(Turn::Its, Ask::Bytes), answers]);
        assert_eq!(asked(5, 0), [(Turn::Its, Ask::Bytes), answers]);
        assert_eq!((asked(5, 13), asked(5, 63)), (vec![(Turn::Its, Ask::Answers)], vec![(Turn::Its, Ask::Bytes)]));
    }

    /// When time is short, what `check --quick` has comes first.
    #[test]
    fn short_strings_and_edges_come_first() {
        let rank = |len, offset| alone(Block { len, offset }, Ask::Everything).rank();
        assert!((0..=64).all(|offset| rank(2, offset) < rank(3, 63) && rank(3, offset) < rank(5, 63)));
        assert!(rank(4, 0) < rank(4, 5) && rank(4, 61) < rank(4, 20) && rank(3, 63) < rank(3, 20));
        let quick = quick().into_iter().flat_map(|part| part.sets).map(|set| set.rank()).max();
        assert!(quick < Some(rank(3, 20)));
    }

    #[test]
    fn the_deep_plan_is_what_it_says() {
        let sets: Vec<Set> = deep().into_iter().flat_map(|part| part.sets).collect();
        for len in 0..=7 {
            assert!(sets.iter().any(|set| set.strings == Block { len, offset: 0 } && set.ask <= Ask::Answers));
        }
        for offset in 0..64 {
            for padding in Padding::ALL {
                let strings = |len| alone(Block { len, offset }, Ask::Answers);
                let around = |len| Set { before: padding, after: Some(padding), ..strings(len) };
                assert!((0..=5).all(|len| sets.contains(&around(len))));
                assert!((1..=3).all(|len| sets.contains(&Set { ask: Ask::EveryCut, ..around(len) })));
            }
        }
        for offset in [0].into_iter().chain(59..=64) {
            assert!(sets.contains(&alone(Block { len: 5, offset }, Ask::EveryCut)));
        }
    }

    #[test]
    fn every_padding_is_as_described_at_every_length() {
        let ill_formed = |bytes: &[u8]| !validity(&Contract::STANDARD, bytes).is_valid();
        for len in 0..=130 {
            for turn in 0..8 {
                for write in [Padding::before, Padding::after] {
                    let [ascii, valid, wrong] = Padding::ALL.map(|padding| write(padding, len, turn));
                    assert_eq!([ascii.len(), valid.len(), wrong.len()], [len; 3]);
                    assert!(ascii.is_ascii());
                    assert!(!ill_formed(&valid), "{len} {turn}: {valid:02X?}");
                    assert!(len == 1 || !valid.iter().any(u8::is_ascii), "{len} {turn}: {valid:02X?}");
                    let pieces = wrong.chunks(16).filter(|piece| piece.len() > 3);
                    assert!(pieces.into_iter().all(ill_formed), "{len} {turn}: {wrong:02X?}");
                    assert!(len == 0 || ill_formed(&wrong), "{len} {turn}: {wrong:02X?}");
                }
                // The byte next to the string is not ASCII.
                assert!(Padding::IllFormed.before(len, turn).last().is_none_or(|byte| !byte.is_ascii()));
                assert!(Padding::IllFormed.after(len, turn).first().is_none_or(|byte| !byte.is_ascii()));
            }
        }
    }
}
