//! From bytes to code points: single steps, and whole runs of well-formed text. For some pairs of encodings `direct.rs`
//! copies or widens well-formed text past this reader.

use crate::codec;
use crate::codec::Kernel;
use crate::codec::convert::charset::{IllFormed, Shift, Step, WINDOWS_1252};
use crate::codec::convert::encoding::{Form, Order};
use crate::spec::{Replacement, Segmentation};
use crate::utf8::Kind;

/// What a reader writes for ill-formed segments, so that it need not stop at them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Substitute {
    Nothing,
    CodePoint(u32),
    Bytes(Replacement),
}

/// The result of reading: how many bytes were read, and what was wrong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Read {
    pub(super) used: usize,
    /// How many segments were replaced.
    pub(super) replaced: u64,
    /// The first of them, and its offset.
    pub(super) first: Option<(usize, IllFormed)>,
    /// The segment after those bytes, which is not replaced.
    pub(super) ill_formed: Option<IllFormed>,
}

/// A reader of one encoding: its form, and what came before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader {
    form: Form,
    rule: Segmentation,
    substitute: Option<Substitute>,
    /// The last code point was a leading surrogate.
    after_lead: bool,
    /// The last segment was ill-formed, so the next may be: single steps are faster than the start of a run.
    after_error: bool,
    shift: Shift,
}

impl Reader {
    pub(super) fn new(form: Form, rule: Segmentation, substitute: Option<Substitute>) -> Self {
        Self { form, rule, substitute, after_lead: false, after_error: false, shift: Shift::START }
    }

    pub(super) fn form(&self) -> Form {
        self.form
    }

    /// Whether the last segment was ill-formed.
    pub(super) fn is_after_error(&self) -> bool {
        self.after_error
    }

    /// Continues after well-formed text without surrogates that was read elsewhere.
    pub(super) fn skip_text(&mut self) {
        self.after_lead = false;
    }

    /// Appends the code points of `bytes` up to the first segment that is not replaced, or up to bytes whose meaning depends
    /// on those to come. `units` is working memory.
    pub(super) fn read(&mut self, bytes: &[u8], last: bool, units: &mut Vec<u16>, block: &mut Vec<u32>) -> Read {
        /// Bytes that are read in single steps before a run is tried.
        const STRETCH: usize = 64;
        let mut read = Read::default();
        let mut at = 0;
        while at < bytes.len() {
            if !core::mem::take(&mut self.after_error) {
                let len = self.run(&bytes[at..], units, block);
                self.after_lead &= len == 0;
                at += len;
            }
            let end = bytes.len().min(at + STRETCH);
            while at < end {
                let ill_formed = match self.step(&bytes[at..], last) {
                    Step::Whole { len, code_point } => {
                        block.push(code_point);
                        at += len;
                        continue;
                    }
                    Step::Other { len, code_points } => {
                        block.extend(code_points.into_iter().flatten());
                        at += len;
                        continue;
                    }
                    Step::Wait => return Read { used: at, ..read },
                    Step::IllFormed(ill_formed) => ill_formed,
                };
                let Some(substitute) = self.substitute else {
                    return Read { used: at, ill_formed: Some(ill_formed), ..read };
                };
                substitute.push(&bytes[at..at + ill_formed.len], block);
                read.replaced += 1;
                read.first = read.first.or(Some((at, ill_formed)));
                at += ill_formed.len;
            }
        }
        Read { used: at, ..read }
    }

    /// Offset and length, in `bytes`, of the segment that [`read`](Self::read) reads as the code point of this index.
    pub(super) fn place(mut self, bytes: &[u8], last: bool, index: usize) -> (usize, usize) {
        let (mut at, mut left, mut unit) = (0, index, Vec::new());
        loop {
            let rest = bytes.get(at..).unwrap_or_default();
            unit.clear();
            let len = match (self.step(rest, last), self.substitute) {
                (Step::Whole { len, code_point }, _) => {
                    unit.push(code_point);
                    len
                }
                (Step::Other { len, code_points }, _) => {
                    unit.extend(code_points.into_iter().flatten());
                    len
                }
                (Step::IllFormed(IllFormed { len, .. }), Some(substitute)) => {
                    substitute.push(&rest[..len], &mut unit);
                    len
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
        let step = match self.form {
            Form::Utf8Like(like) => like.step(self.rule, rest, last, self.after_lead),
            Form::Units16 { order, pairs, lone } => step_16(order, pairs, lone, rest, last),
            Form::Units32 { order, last: highest, lone } => step_32(order, highest, lone, rest, last),
            Form::SingleByte(table) => match table.code_point(rest[0]) {
                Some(code_point) => Step::Whole { len: 1, code_point },
                None => Step::IllFormed(IllFormed { len: 1, kind: None, incomplete: false }),
            },
            Form::Legacy(legacy) => legacy.step(&mut self.shift, rest, last),
        };
        match step {
            Step::Whole { code_point, .. } => self.after_lead = (0xD800..0xDC00).contains(&code_point),
            Step::Other { .. } => self.after_lead = false,
            Step::Wait => {}
            Step::IllFormed(_) => {
                self.after_lead = false;
                self.after_error = true;
            }
        }
        step
    }

    /// Appends the code points of the bytes at the start that are well-formed without a closer look. Returns how many bytes
    /// these are.
    fn run(&self, bytes: &[u8], units: &mut Vec<u16>, block: &mut Vec<u32>) -> usize {
        /// Bytes that are read before they are validated; twice as many each time.
        const STRETCH: usize = 1 << 10;
        match self.form {
            Form::Utf8Like(like) => {
                let common = like.common_prefix(bytes);
                codec::utf32_lossy_into(&bytes[..common], block);
                common
            }
            Form::Units16 { order, pairs, .. } => {
                let (mut used, mut stretch) = (0, STRETCH);
                loop {
                    units.clear();
                    let good = order.read_16(&bytes[used..bytes.len().min(used + stretch)], pairs, units);
                    codec::utf32_from_utf16_lossy_into(&units[..good], block);
                    used += 2 * good;
                    stretch *= 2;
                    // The first half of a pair may be left.
                    if good == 0 || good + 1 < units.len() {
                        return used;
                    }
                }
            }
            Form::Units32 { order, last, .. } => {
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
            Form::SingleByte(table) => {
                let clean = table.clean_prefix(bytes);
                units.clear();
                table.to_utf16(&bytes[..clean], units);
                codec::utf32_from_utf16_lossy_into(units, block);
                clean
            }
            Form::Legacy(legacy) => {
                units.clear();
                let used = legacy.run(bytes, units);
                codec::utf32_from_utf16_lossy_into(units, block);
                used
            }
        }
    }
}

fn step_16(order: Order, pairs: bool, lone: bool, rest: &[u8], last: bool) -> Step {
    let unit = |at: usize| rest.get(at..)?.first_chunk().map(|bytes| u32::from(order.unit_16(*bytes)));
    let cut = || if last { ill_formed(rest.len(), Kind::Incomplete) } else { Step::Wait };
    let Some(first) = unit(0) else { return cut() };
    let whole = Step::Whole { len: 2, code_point: first };
    let unpaired = || if lone { whole } else { ill_formed(2, Kind::Surrogate) };
    match (first, unit(2)) {
        (0xD800..=0xDBFF, Some(second @ 0xDC00..=0xDFFF)) if pairs => {
            Step::Whole { len: 4, code_point: 0x1_0000 + ((first - 0xD800) << 10) + (second - 0xDC00) }
        }
        (0xD800..=0xDBFF, None) if pairs && !last => Step::Wait,
        (0xD800..=0xDBFF, None) if pairs && !lone => cut(),
        (0xD800..=0xDFFF, _) => unpaired(),
        _ => whole,
    }
}

fn step_32(order: Order, highest: u32, lone: bool, rest: &[u8], last: bool) -> Step {
    let Some(bytes) = rest.first_chunk() else {
        return if last { ill_formed(rest.len(), Kind::Incomplete) } else { Step::Wait };
    };
    match order.unit_32(*bytes) {
        0xD800..=0xDFFF if !lone => ill_formed(4, Kind::Surrogate),
        unit if unit > highest => ill_formed(4, Kind::TooLarge),
        code_point => Step::Whole { len: 4, code_point },
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
                block.extend(unit.iter().map(|&byte| u32::from(WINDOWS_1252.code_points[usize::from(byte)])));
            }
            Self::Bytes(_) => block.extend(unit.iter().map(|&byte| u32::from(byte))),
        }
    }
}

fn ill_formed(len: usize, kind: Kind) -> Step {
    Step::IllFormed(IllFormed { len, kind: Some(kind), incomplete: kind == Kind::Incomplete })
}
