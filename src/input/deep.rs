//! The deep plan: class strings up to length 7, in surroundings and across cuts, where minutes are at hand.
//!
//! A plan is a list of parts, a part a list of [`Set`]s, and a set is every class string of one length in one setting.
//! What a plan covers is told from its sets, so that nothing can be claimed that is not run.

use super::case::{Case, Cuts};
use super::exhaustive::{Block, plan};

/// What stands on one side of a class string.
///
/// Where a filler has several forms they come by turns, so that a string meets another at each offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Filler {
    /// ASCII.
    Ascii,
    /// Characters of two to four bytes, the lowest and the highest of their length; a single byte is ASCII.
    Valid,
    /// ASCII with an ill-formed unit next to the string, and one in every 16 bytes further off.
    IllFormed,
}

impl Filler {
    /// Every filler.
    pub const ALL: [Self; 3] = [Self::Ascii, Self::Valid, Self::IllFormed];

    /// The name, for people and for JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ascii => "ASCII",
            Self::Valid => "valid",
            Self::IllFormed => "ill-formed",
        }
    }

    /// How many forms it comes in.
    fn turns(self) -> usize {
        match self {
            Self::Ascii => 1,
            Self::Valid => 2 * 3,
            Self::IllFormed => UNITS.len(),
        }
    }

    /// The units from the string outwards, until they fill `len` bytes.
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

    /// What comes next, `filled` bytes away from the string, where `room` bytes are left.
    fn piece(self, room: usize, filled: usize, count: usize, turn: usize) -> &'static [u8] {
        const A: &[u8] = b"a";
        match self {
            Self::Ascii => A,
            Self::Valid => {
                // One byte alone could not be filled with anything but ASCII.
                let fits = |piece: &&[u8]| piece.len() <= room && piece.len() + 1 != room;
                let characters = CHARACTERS[turn % 2];
                (0..3).map(|step| characters[(count + step) % 3]).find(fits).unwrap_or(A)
            }
            Self::IllFormed => match filled % 16 {
                0 => {
                    let unit = UNITS[(turn + filled / 16) % UNITS.len()];
                    &unit[unit.len().saturating_sub(room)..]
                }
                _ => A,
            },
        }
    }

    /// What stands before the string.
    fn before(self, len: usize, turn: usize) -> Vec<u8> {
        self.outwards(len, turn).into_iter().rev().flatten().copied().collect()
    }

    /// What stands behind the string.
    fn behind(self, len: usize, turn: usize) -> Vec<u8> {
        self.outwards(len, turn).into_iter().flatten().copied().collect()
    }
}

/// The lowest and the highest characters of two to four bytes that are not noncharacters.
const CHARACTERS: [[&[u8]; 3]; 2] =
    [[b"\xC2\x80", b"\xE0\xA0\x80", b"\xF0\x90\x80\x80"], [b"\xDF\xBF", b"\xED\x9F\xBF", b"\xF4\x8F\xBF\xBD"]];

/// Ill-formed units; what is left of one when its first bytes are taken away is ill-formed as well.
const UNITS: [&[u8]; 8] =
    [b"\x80", b"\xFF", b"\xE2\x82", b"\xF0\x9F\x98", b"\xC3", b"\xED\xA0\x80", b"\xC0\xAF", b"\xF4\x90\xBF"];

/// What the cases of a set are, and what is asked of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ask {
    /// One case for each string: every question there is.
    Everything,
    /// One case for each string: the verdict and the output.
    Answers,
    /// The stream alone, with every set of cuts inside the string and at its ends; a cut twice, for each; all twice.
    EveryWayCut,
    /// The stream alone, with every single cut inside the string and at its ends, and with all of them; each twice too.
    EveryCut,
    /// The verdict alone, at each of 64 alignments, between neighbours that would spoil it and others that would not.
    Placement,
}

impl Ask {
    /// What is asked, in words.
    pub fn says(self) -> &'static str {
        match self {
            Self::Everything => {
                "verdict, first error, every further error, output, stream (cuts picked by the bytes), reset, placement, prefix, concatenation"
            }
            Self::Answers => "verdict, first error, output",
            Self::EveryWayCut => {
                "stream: with each of all possible sets of cuts in the string, its ends included; with each single cut twice, so that a chunk is empty; with all of them twice"
            }
            Self::EveryCut => {
                "stream: with each single cut in the string, its ends included, once and twice (a chunk is empty); with all of them, once and twice"
            }
            Self::Placement => {
                "verdict and first error at each of the 64 alignments, between leads and continuation bytes, and between ASCII"
            }
        }
    }

    /// How many cases there are for each string of this length.
    pub fn variants(self, len: u32) -> u64 {
        let ends = u64::from(len) + 1;
        match self {
            Self::Everything | Self::Answers => 1,
            Self::EveryWayCut => (1 << ends) + ends + 1,
            Self::EveryCut => 2 * (ends + 1),
            Self::Placement => 2 * 64,
        }
    }
}

/// Every class string of one length, in one setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set {
    /// The strings, and their offset.
    pub strings: Block,
    /// What fills the bytes before them.
    pub before: Filler,
    /// What 64 bytes behind them are filled with; `None`: the input ends with the string.
    pub behind: Option<Filler>,
    /// What is asked.
    pub ask: Ask,
}

impl Set {
    /// How many bytes stand behind a string, if any do.
    pub const BEHIND: usize = 64;

    /// How many cases there are.
    pub fn cases(&self) -> u64 {
        self.strings.count() * self.ask.variants(self.strings.len)
    }

    /// A writer of its inputs.
    pub fn writer(&self) -> Writer {
        let forms = |filler: Filler, write: &dyn Fn(usize) -> Vec<u8>| (0..filler.turns()).map(write).collect();
        let before = forms(self.before, &|turn| self.before.before(self.strings.offset, turn));
        let behind = match self.behind {
            Some(filler) => forms(filler, &|turn| filler.behind(Self::BEHIND, turn)),
            None => vec![Vec::new()],
        };
        Writer { set: *self, before, behind, string: Vec::new(), bytes: Vec::new() }
    }
}

/// Writes the inputs of a set; its buffers are kept from one to the next.
#[derive(Clone, Debug)]
pub struct Writer {
    set: Set,
    before: Vec<Vec<u8>>,
    behind: Vec<Vec<u8>>,
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
        self.bytes.extend_from_slice(&self.behind[(turn >> 6) % self.behind.len()]);
        &self.bytes
    }

    /// Calls `judge` with each case of the string of this index.
    pub fn each(&mut self, index: u64, mut judge: impl FnMut(&Case<'_>)) {
        let Set { strings: Block { len, offset }, ask, .. } = self.set;
        self.write(index);
        let bytes = &self.bytes[..];
        let ends = offset..offset + len as usize + 1;
        for variant in 0..ask.variants(len) {
            judge(&match ask {
                Ask::Everything | Ask::Answers => Case::new(bytes),
                Ask::EveryWayCut => Case::with_cuts(bytes, every_way(ends.clone(), variant, bytes.len())),
                Ask::EveryCut => Case::with_cuts(bytes, every_cut(ends.clone(), variant, bytes.len())),
                Ask::Placement => Case::placed(bytes, variant as usize / 2, variant % 2 == 0),
            });
        }
    }
}

/// The cuts of variant `variant` among the places of `ends`: each subset, then each place twice, then all twice.
fn every_way(ends: std::ops::Range<usize>, variant: u64, len: usize) -> Cuts {
    let subsets = 1u64 << ends.len();
    let start = ends.start;
    match variant.checked_sub(subsets) {
        None => Cuts::new(ends.filter(|cut| variant >> (cut - start) & 1 == 1), len),
        Some(twice) => some_twice(ends, twice as usize, len),
    }
}

/// The cuts of variant `variant` among the places of `ends`: each alone, all, each twice, all twice.
fn every_cut(ends: std::ops::Range<usize>, variant: u64, len: usize) -> Cuts {
    let (variant, count) = (variant as usize, ends.len());
    match variant.checked_sub(count + 1) {
        None if variant < count => Cuts::new([ends.start + variant], len),
        None => Cuts::new(ends, len),
        Some(twice) => some_twice(ends, twice, len),
    }
}

/// The place of this index twice, or behind the last, all of them.
fn some_twice(ends: std::ops::Range<usize>, index: usize, len: usize) -> Cuts {
    match index < ends.len() {
        true => Cuts::new([ends.start + index; 2], len),
        false => Cuts::new(ends.clone().chain(ends), len),
    }
}

/// Some sets that are run and counted together.
#[derive(Clone, Debug)]
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

    /// How many cases there are.
    pub fn cases(&self) -> u64 {
        self.sets.iter().map(Set::cases).sum()
    }
}

/// What `check` covers by default: [`plan`], every question.
pub fn quick() -> Vec<Part> {
    let all = plan().into_iter().map(|strings| alone(strings, Ask::Everything));
    vec![Part::new("short strings, every question", all)]
}

/// What `check --deep` covers.
pub fn deep() -> Vec<Part> {
    let mut parts = quick();
    parts.push(Part::new("long strings", (6..=7).map(|len| alone(Block { len, offset: 0 }, Ask::Answers))));
    parts.push(Part::new("surroundings", surroundings()));
    parts.push(Part::new("behind whole blocks", behind_whole_blocks()));
    parts.push(Part::new("every way cut", every_way_cut()));
    parts.push(Part::new("every cut", every_single_cut()));
    parts.push(Part::new("alignments", alignments()));
    parts
}

fn alone(strings: Block, ask: Ask) -> Set {
    Set { strings, before: Filler::Ascii, behind: None, ask }
}

/// Up to length 4: each filler before with each behind, and with nothing behind but for ASCII, which the quick plan has.
/// Length 5: the same filler at both sides.
fn surroundings() -> Vec<Set> {
    let mut sets = Vec::new();
    for offset in 0..64 {
        for before in Filler::ALL {
            let set = |len, behind| Set { strings: Block { len, offset }, before, behind, ask: Ask::Answers };
            for len in 0..=4 {
                sets.extend(Filler::ALL.map(|behind| set(len, Some(behind))));
                sets.extend((before != Filler::Ascii).then(|| set(len, None)));
            }
            sets.push(set(5, Some(before)));
        }
    }
    sets
}

fn behind_whole_blocks() -> Vec<Set> {
    let mut sets = Vec::new();
    for offset in 64..128 {
        for before in Filler::ALL {
            let set = |len, behind| Set { strings: Block { len, offset }, before, behind, ask: Ask::Answers };
            sets.extend((0..=4).flat_map(|len| [set(len, None), set(len, Some(before))]));
        }
    }
    sets
}

fn every_way_cut() -> Vec<Set> {
    let mut sets = Vec::new();
    for offset in [0, 1, 15, 16, 31, 32, 60, 61, 62, 63, 64, 65] {
        for behind in [None, Some(Filler::Ascii)] {
            sets.extend((0..=4).map(|len| Set { behind, ..alone(Block { len, offset }, Ask::EveryWayCut) }));
        }
    }
    sets
}

/// Length 5 alone and where chunks cross 64, length 6 alone; up to length 3 in every surrounding at every offset.
fn every_single_cut() -> Vec<Set> {
    let mut sets: Vec<Set> =
        [0].into_iter().chain(59..=64).map(|offset| alone(Block { len: 5, offset }, Ask::EveryCut)).collect();
    sets.push(alone(Block { len: 6, offset: 0 }, Ask::EveryCut));
    for offset in 0..64 {
        for before in Filler::ALL {
            let strings = (1..=3).map(|len| Block { len, offset });
            sets.extend(strings.map(|strings| Set { strings, before, behind: Some(before), ask: Ask::EveryCut }));
        }
    }
    sets
}

/// Alone, and with whole blocks before and behind.
fn alignments() -> Vec<Set> {
    let settings = [(0, None), (64, None), (0, Some(Filler::Ascii))];
    let sets = settings.into_iter().flat_map(|(offset, behind)| {
        (0..=3).map(move |len| Set { behind, ..alone(Block { len, offset }, Ask::Placement) })
    });
    sets.collect()
}
