//! From bytes to code points: single steps, and whole runs where nothing is wrong.

use crate::codec;
use crate::codec::Kernel;
use crate::codec::convert::encoding::{Bytes, Order, Shape};
use crate::codec::convert::octets::first_of;
use crate::codec::convert::windows_1252;
use crate::spec::{Replacement, UnitRule};
use crate::utf8::Kind;

/// What stands at the start of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Whole {
        len: usize,
        code_point: u32,
    },
    Broken {
        len: usize,
        kind: Kind,
        incomplete: bool,
    },
    /// A byte that is not assigned.
    Unassigned,
    /// The bytes to come decide.
    Wait,
}

/// What a reader writes for ill-formed units, so that it need not stop at them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Substitute {
    Nothing,
    CodePoint(u32),
    Bytes(Replacement),
}

/// What came of reading: how many bytes were read, and what was wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) used: usize,
    /// How many units were replaced, with the first of them and where it stands.
    pub(super) replaced: u64,
    pub(super) first: Option<(usize, Broken)>,
    /// The unit behind those bytes that is not replaced.
    pub(super) broken: Option<Broken>,
}

/// An ill-formed unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Broken {
    pub(super) len: usize,
    /// The rule, or none where the byte is not assigned.
    pub(super) kind: Option<Kind>,
    pub(super) incomplete: bool,
}

/// A reader of one encoding: its shape, and what stood before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader {
    shape: Shape,
    rule: UnitRule,
    /// Unpaired surrogates are code points.
    pass: bool,
    substitute: Option<Substitute>,
    /// A leading surrogate was the last that was read.
    behind_lead: bool,
    /// Something was wrong a moment ago, so it may be again.
    rough: bool,
}

impl Reader {
    pub(super) fn new(shape: Shape, rule: UnitRule, pass: bool, substitute: Option<Substitute>) -> Self {
        Self { shape, rule, pass, substitute, behind_lead: false, rough: false }
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    /// Whether it is better to go step by step.
    pub(super) fn is_rough(&self) -> bool {
        self.rough
    }

    /// Others have read on: well-formed text without surrogates.
    pub(super) fn passed(&mut self) {
        self.behind_lead = false;
    }

    /// Appends the code points of `bytes` up to the first unit that is not replaced, or to where the bytes to come decide.
    /// `units` is a place to work.
    pub(super) fn read(&mut self, bytes: &[u8], last: bool, units: &mut Vec<u16>, block: &mut Vec<u32>) -> Read {
        /// Bytes that are read step by step before a run is tried.
        const STRETCH: usize = 64;
        let mut read = Read::default();
        let mut at = 0;
        while at < bytes.len() {
            if !core::mem::take(&mut self.rough) {
                let len = self.run(&bytes[at..], units, block);
                self.behind_lead &= len == 0;
                at += len;
            }
            let end = bytes.len().min(at + STRETCH);
            while at < end {
                let broken = match self.step(&bytes[at..], last) {
                    Step::Whole { len, code_point } => {
                        block.push(code_point);
                        at += len;
                        continue;
                    }
                    Step::Wait => return Read { used: at, ..read },
                    Step::Unassigned => Broken { len: 1, kind: None, incomplete: false },
                    Step::Broken { len, kind, incomplete } => Broken { len, kind: Some(kind), incomplete },
                };
                let Some(substitute) = self.substitute else {
                    return Read { used: at, broken: Some(broken), ..read };
                };
                substitute.push(&bytes[at..at + broken.len], block);
                read.replaced += 1;
                read.first = read.first.or(Some((at, broken)));
                at += broken.len;
            }
        }
        Read { used: at, ..read }
    }

    /// Where in `bytes`, which were read, the unit of the code point of this index stands, and how long it is.
    pub(super) fn place(&mut self, bytes: &[u8], last: bool, index: usize) -> (usize, usize) {
        let (mut at, mut left, mut unit) = (0, index, Vec::new());
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            unit.clear();
            let len = match (self.step(rest, last), self.substitute) {
                (Step::Whole { len, code_point }, _) => {
                    unit.push(code_point);
                    len
                }
                (Step::Broken { len, .. }, Some(substitute)) => {
                    substitute.push(&rest[..len], &mut unit);
                    len
                }
                (Step::Unassigned, Some(substitute)) => {
                    substitute.push(&rest[..1], &mut unit);
                    1
                }
                _ => return (at, 0),
            };
            match left.checked_sub(unit.len()) {
                None => return (at, len),
                Some(fewer) => (left, at) = (fewer, at + len),
            }
        }
    }

    #[inline]
    fn step(&mut self, rest: &[u8], last: bool) -> Step {
        if rest.is_empty() {
            return Step::Wait;
        }
        let step = match self.shape {
            Shape::Octets(octets) => octets.step(self.rule, rest, last, self.behind_lead),
            Shape::Units16 { order, pairs } => self.step_16(order, pairs, rest, last),
            Shape::Units32 { order, last: highest } => self.step_32(order, highest, rest, last),
            Shape::Bytes(bytes) => match bytes.code_point(rest[0]) {
                Some(code_point) => Step::Whole { len: 1, code_point },
                None => Step::Unassigned,
            },
        };
        match step {
            Step::Whole { code_point, .. } => self.behind_lead = (0xD800..0xDC00).contains(&code_point),
            Step::Wait => {}
            Step::Broken { .. } | Step::Unassigned => {
                self.behind_lead = false;
                self.rough = true;
            }
        }
        step
    }

    fn step_16(&self, order: Order, pairs: bool, rest: &[u8], last: bool) -> Step {
        let unit = |at: usize| rest.get(at..)?.first_chunk().map(|bytes| u32::from(order.unit_16(*bytes)));
        let cut = || if last { broken(rest.len(), Kind::Incomplete) } else { Step::Wait };
        let Some(first) = unit(0) else { return cut() };
        let whole = Step::Whole { len: 2, code_point: first };
        let lone = || if self.pass { whole } else { broken(2, Kind::Surrogate) };
        match (first, unit(2)) {
            (0xD800..=0xDBFF, Some(second @ 0xDC00..=0xDFFF)) if pairs => {
                Step::Whole { len: 4, code_point: 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00) }
            }
            (0xD800..=0xDBFF, None) if pairs && !last => Step::Wait,
            (0xD800..=0xDBFF, None) if pairs && !self.pass => cut(),
            (0xD800..=0xDFFF, _) => lone(),
            _ => whole,
        }
    }

    fn step_32(&self, order: Order, highest: u32, rest: &[u8], last: bool) -> Step {
        let Some(bytes) = rest.first_chunk() else {
            return if last { broken(rest.len(), Kind::Incomplete) } else { Step::Wait };
        };
        match order.unit_32(*bytes) {
            0xD800..=0xDFFF if !self.pass => broken(4, Kind::Surrogate),
            unit if unit > highest => broken(4, Kind::TooLarge),
            code_point => Step::Whole { len: 4, code_point },
        }
    }

    /// Appends the code points of as many bytes as are well-formed without a second look, and says how many.
    fn run(&self, bytes: &[u8], units: &mut Vec<u16>, block: &mut Vec<u32>) -> usize {
        /// Bytes that are read before it is asked whether they are good; then twice as many.
        const STRETCH: usize = 1 << 10;
        match self.shape {
            Shape::Octets(octets) => {
                let common = octets.common_prefix(bytes);
                codec::utf32_lossy_into(&bytes[..common], block);
                common
            }
            Shape::Units16 { order, pairs } => {
                let (mut used, mut stretch) = (0, STRETCH);
                loop {
                    units.clear();
                    let good = order.read_16(&bytes[used..bytes.len().min(used + stretch)], pairs, units);
                    codec::utf32_from_utf16_lossy_into(&units[..good], block);
                    used += 2 * good;
                    stretch *= 2;
                    // Half of a pair may be left.
                    if good == 0 || good + 1 < units.len() {
                        return used;
                    }
                }
            }
            Shape::Units32 { order, last } => {
                let (mut used, mut stretch) = (0, STRETCH);
                while used + 4 <= bytes.len() {
                    let (before, kernel) = (block.len(), Kernel::best());
                    let end = bytes.len().min(used + stretch);
                    kernel.read_32_into(&bytes[used..end], order.is_big_endian(), block);
                    let good = kernel.ucs4_valid_up_to(&block[before..], last);
                    used += 4 * good;
                    stretch *= 2;
                    if good < block.len() - before {
                        block.truncate(before + good);
                        break;
                    }
                }
                used
            }
            Shape::Bytes(kind) => {
                let clean = kind.clean_prefix(bytes);
                units.clear();
                kind.to_utf16(&bytes[..clean], units);
                codec::utf32_from_utf16_lossy_into(units, block);
                clean
            }
        }
    }
}

impl Substitute {
    fn push(self, unit: &[u8], block: &mut Vec<u32>) {
        match self {
            Self::Nothing => {}
            Self::CodePoint(code_point) => block.push(code_point),
            Self::Bytes(Replacement::SurrogateEscape) => {
                block.extend(unit.iter().map(|&byte| 0xDC00 + u32::from(byte)))
            }
            Self::Bytes(Replacement::Windows1252) => {
                block.extend(unit.iter().map(|&byte| u32::from(windows_1252::CODE_POINTS[usize::from(byte)])));
            }
            Self::Bytes(_) => block.extend(unit.iter().map(|&byte| u32::from(byte))),
        }
    }
}

fn broken(len: usize, kind: Kind) -> Step {
    Step::Broken { len, kind, incomplete: kind == Kind::Incomplete }
}

impl Order {
    pub(super) fn is_big_endian(self) -> bool {
        self == Self::Big
    }

    /// Appends units, and says how many at the start are text: no surrogate without its other half, or none where there are
    /// no pairs.
    pub(super) fn read_16(self, bytes: &[u8], pairs: bool, units: &mut Vec<u16>) -> usize {
        let start = units.len();
        Kernel::best().read_16_into(bytes, self.is_big_endian(), units);
        text_prefix(&units[start..], pairs)
    }

    #[inline]
    pub(super) fn unit_16(self, bytes: [u8; 2]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes(bytes),
            Self::Big => u16::from_be_bytes(bytes),
        }
    }

    #[inline]
    pub(super) fn unit_32(self, bytes: [u8; 4]) -> u32 {
        match self {
            Self::Little => u32::from_le_bytes(bytes),
            Self::Big => u32::from_be_bytes(bytes),
        }
    }
}

/// How many units at the start are text: no surrogate without its other half, or none where there are no pairs.
pub(super) fn text_prefix(units: &[u16], pairs: bool) -> usize {
    match pairs {
        true => Kernel::best().utf16_valid_up_to(units),
        false => first_of(units, |unit| unit & 0xF800 == 0xD800),
    }
}

impl Bytes {
    /// The code point of a byte; none where it is not assigned.
    #[inline]
    pub(super) fn code_point(self, byte: u8) -> Option<u32> {
        let is_assigned = match self {
            Self::Latin1 | Self::Windows1252 { holes: false } => true,
            Self::Ascii => byte.is_ascii(),
            Self::Windows1252 { holes: true } => !windows_1252::is_hole(byte),
        };
        let code_point = match self {
            Self::Latin1 | Self::Ascii => byte.into(),
            Self::Windows1252 { .. } => windows_1252::CODE_POINTS[usize::from(byte)].into(),
        };
        is_assigned.then_some(code_point)
    }

    /// How many bytes at the start are assigned, a block of them at a time.
    pub(super) fn clean_prefix(self, bytes: &[u8]) -> usize {
        const BLOCK: usize = 256;
        let is_clean = |block: &&[u8]| match self {
            Self::Latin1 | Self::Windows1252 { holes: false } => true,
            Self::Ascii => block.is_ascii(),
            Self::Windows1252 { holes: true } => {
                !block.iter().fold(false, |any, &byte| any | windows_1252::is_hole(byte))
            }
        };
        bytes.chunks(BLOCK).take_while(is_clean).map(<[u8]>::len).sum()
    }

    /// Appends bytes that are assigned in UTF-16.
    pub(super) fn to_utf16(self, bytes: &[u8], units: &mut Vec<u16>) {
        let of_80 = match self {
            Self::Latin1 | Self::Ascii => &CONTROLS,
            Self::Windows1252 { .. } => &windows_1252::FROM_80,
        };
        Kernel::best().utf16_from_bytes_into(bytes, of_80, units);
    }
}

/// The code points of the bytes 80..9F in Latin-1.
static CONTROLS: [u16; 32] = {
    let mut controls = [0; 32];
    let mut at = 0;
    while at < 32 {
        controls[at] = 0x80 + at as u16;
        at += 1;
    }
    controls
};
