//! From bytes to code points and back: single steps, and whole runs of well-formed text. For some pairs of encodings
//! `converter.rs` copies or widens well-formed text without going through this file.
//!
//! UTF-8 and its relatives are read and written one sequence at a time, without `spec`, which judges the result. Text that is
//! well-formed in RFC 3629, which is nearly all, goes through the kernels in whole runs; the single steps are for the rest.

use crate::codec;
use crate::codec::Kernel;
use crate::codec::convert::charset::{Identity, IllFormed, Shift, Step, WINDOWS_1252};
use crate::codec::convert::encoding::{Form, Order, Surrogates, Utf8Like, first_of};
use crate::spec::{Replacement, Segmentation};
use crate::utf8::{Kind, is_continuation};

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
        const STRETCH: usize = 1024;
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

/// A writer of one encoding.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    form: Form,
    /// U+DC80..U+DCFF are written as the bytes 80..FF.
    escapes: bool,
    /// The byte order mark has been written.
    marked: bool,
    /// A leading surrogate that waits for its other half (WTF-8).
    lead: Option<u32>,
    shift: Shift,
    units: Vec<u16>,
}

impl Writer {
    pub(super) fn new(form: Form, escapes: bool) -> Self {
        let escapes = escapes && form.unit_len() == 1;
        Self { form, escapes, marked: false, lead: None, shift: Shift::START, units: Vec::new() }
    }

    pub(super) fn form(&self) -> Form {
        self.form
    }

    /// Appends the byte order mark, once.
    pub(super) fn mark(&mut self, out: &mut Vec<u8>) {
        if !core::mem::replace(&mut self.marked, true) {
            out.extend_from_slice(self.form.mark());
        }
    }

    /// Appends the code points up to the first that the encoding lacks.
    ///
    /// # Errors
    /// The index of that code point.
    pub(super) fn write(&mut self, code_points: &[u32], out: &mut Vec<u8>) -> Result<(), usize> {
        let mut at = 0;
        while at < code_points.len() {
            at += self.run(&code_points[at..], out);
            /// Code points that are written singly before a run is tried.
            const STRETCH: usize = 32;
            let end = code_points.len().min(at + STRETCH);
            while at < end {
                self.push(code_points[at], out).ok_or(at)?;
                at += 1;
            }
        }
        Ok(())
    }

    /// Whether the last code point is not yet in the output.
    pub(super) fn is_waiting(&self) -> bool {
        self.lead.is_some()
    }

    /// Ends the text: writes the code point that waits.
    pub(super) fn flush(&mut self, out: &mut Vec<u8>) {
        if let Some(lead) = self.lead.take() {
            push_three(lead, out);
        }
        if let Form::Legacy(legacy) = self.form {
            legacy.flush(&mut self.shift, out);
        }
    }

    /// Appends the code points up to the first, or to the block of the first, that needs a closer look. Returns how many
    /// these are.
    fn run(&mut self, code_points: &[u32], out: &mut Vec<u8>) -> usize {
        let kernel = Kernel::best();
        let is_unit = |it: u32| (it < 0x1_0000) & (it & !0x7FF != 0xD800);
        let good = match self.form {
            Form::Utf8Like(like) if like.null_as_two => good_blocks(code_points, |it| is_unit(it) & (it != 0)),
            Form::Utf8Like(like) if like.longest < 4 => good_blocks(code_points, is_unit),
            Form::Units16 { pairs: false, .. } => good_blocks(code_points, is_unit),
            Form::Utf8Like(_) | Form::Units16 { .. } => kernel.utf32_valid_up_to(code_points),
            Form::Units32 { last, .. } => kernel.ucs4_valid_up_to(code_points, last),
            Form::SingleByte(table) => match table.identity {
                Identity::Ascii => good_blocks(code_points, |it| it < 0x80),
                Identity::Outside80To9F => good_blocks(code_points, |it| (it < 0x80) | (it.wrapping_sub(0xA0) < 0x60)),
                Identity::All => good_blocks(code_points, |it| it < 0x100),
            },
            Form::Legacy(legacy) => return legacy.write(code_points, out),
        };
        let code_points = &code_points[..good];
        match self.form {
            Form::Utf8Like(_) if good > 0 => {
                self.flush(out);
                kernel.from_utf32_lossy_into(code_points, out);
            }
            Form::Utf8Like(_) => {}
            Form::Units16 { order, .. } => {
                self.units.clear();
                kernel.utf16_from_utf32_lossy_into(code_points, &mut self.units);
                order.write_16(&self.units, out);
            }
            Form::Units32 { order, .. } => order.write_32(code_points, out),
            Form::SingleByte(_) => out.extend(code_points.iter().map(|&code_point| code_point as u8)),
            Form::Legacy(_) => {}
        }
        good
    }

    /// Appends one code point; `None` if the encoding lacks it.
    #[inline]
    fn push(&mut self, code_point: u32, out: &mut Vec<u8>) -> Option<()> {
        let is_surrogate = code_point & !0x7FF == 0xD800;
        if self.escapes && (0xDC80..=0xDCFF).contains(&code_point) {
            out.push(code_point as u8);
            return Some(());
        }
        match self.form {
            Form::Utf8Like(Utf8Like { surrogates: Surrogates::LoneOnly, .. }) => self.push_joined(code_point, out),
            Form::Utf8Like(like) => like.push(code_point, out),
            Form::Units16 { order, pairs, lone } => {
                let mut unit = |unit: u32| out.extend_from_slice(&order.bytes_16(unit as u16));
                match code_point {
                    0xD800..=0xDFFF if !lone => return None,
                    0..=0xFFFF => unit(code_point),
                    0x1_0000..=0x10_FFFF if pairs => halves(code_point).into_iter().for_each(unit),
                    _ => return None,
                }
                Some(())
            }
            Form::Units32 { last, lone, .. } if code_point > last || is_surrogate && !lone => None,
            Form::Units32 { order, .. } => {
                out.extend_from_slice(&order.bytes_32(code_point));
                Some(())
            }
            Form::SingleByte(table) => {
                out.push(table.byte(code_point)?);
                Some(())
            }
            Form::Legacy(legacy) => legacy.push(&mut self.shift, code_point, out),
        }
    }

    /// WTF-8: a leading surrogate waits, and a trailing one after it makes it a pair.
    fn push_joined(&mut self, code_point: u32, out: &mut Vec<u8>) -> Option<()> {
        match (code_point, self.lead) {
            (0x11_0000.., _) => return None,
            (0xDC00..=0xDFFF, Some(lead)) => {
                self.lead = None;
                push_scalar(0x1_0000 + ((lead - 0xD800) << 10) + (code_point - 0xDC00), out);
                return Some(());
            }
            _ => self.flush(out),
        }
        match code_point {
            0xD800..=0xDBFF => self.lead = Some(code_point),
            0xDC00..=0xDFFF => push_three(code_point, out),
            _ => push_scalar(code_point, out),
        }
        Some(())
    }
}

const BLOCK: usize = 32;

/// How many code points the blocks at the start have, up to the first block in which one is not good.
#[inline]
fn good_blocks(code_points: &[u32], is_good: impl Fn(u32) -> bool) -> usize {
    let is_good = |block: &&[u32; BLOCK]| block.iter().fold(true, |all, &code_point| all & is_good(code_point));
    BLOCK * code_points.as_chunks::<BLOCK>().0.iter().take_while(is_good).count()
}

/// What is at the start of some bytes.
enum Found {
    Whole {
        len: usize,
        code_point: u32,
    },
    /// `matched` bytes begin a sequence that does not continue.
    Broken {
        matched: usize,
        kind: Kind,
    },
    /// A leading surrogate, complete unless the bytes to come make it a pair.
    Perhaps {
        code_point: u32,
    },
}

impl Utf8Like {
    /// Reads the start of `rest`, which is not empty. `after_lead`: a leading surrogate comes before it.
    #[inline]
    pub(super) fn step(self, rule: Segmentation, rest: &[u8], last: bool, after_lead: bool) -> Step {
        let (matched, kind) = match self.find(rest, after_lead) {
            Found::Whole { len, code_point } => return Step::Whole { len, code_point },
            Found::Perhaps { code_point } if last => return Step::Whole { len: 3, code_point },
            Found::Perhaps { .. } => return Step::Wait,
            Found::Broken { matched, kind } => (matched, kind),
        };
        /// How many bytes ahead the rules look.
        const FARTHEST: usize = 6;
        let looks_ahead = !matches!(rule, Segmentation::MaximalSubpart | Segmentation::Byte | Segmentation::Run);
        if !last && (kind == Kind::Incomplete || looks_ahead && rest.len() < FARTHEST) {
            return Step::Wait;
        }
        let len = self.unit_len(rule, rest, matched);
        Step::IllFormed(IllFormed { len, kind: Some(kind), incomplete: kind == Kind::Incomplete })
    }

    #[inline]
    fn find(self, rest: &[u8], after_lead: bool) -> Found {
        let lead = rest[0];
        if lead < 0x80 {
            return match lead {
                0 if self.null_as_two => Found::Broken { matched: 0, kind: Kind::Null },
                _ => Found::Whole { len: 1, code_point: lead.into() },
            };
        }
        let Some((len, lowest, highest)) = self.announced(lead, after_lead) else {
            return Found::Broken { matched: 0, kind: self.never_leads(lead) };
        };
        let mut bits = u32::from(lead & (0x7F >> len));
        for at in 1..len {
            let Some(&byte) = rest.get(at) else { return Found::Broken { matched: at, kind: Kind::Incomplete } };
            if !is_continuation(byte) {
                return Found::Broken { matched: at, kind: Kind::TooShort };
            }
            if at == 1 && !(lowest..=highest).contains(&byte) {
                return Found::Broken { matched: 1, kind: self.refused_second(lead) };
            }
            bits = bits << 6 | u32::from(byte & 0x3F);
        }
        match (self.surrogates, bits) {
            (Surrogates::Pairs | Surrogates::PairsOrLone, 0xD800..=0xDBFF) => self.pair(bits, &rest[3..]),
            _ => Found::Whole { len, code_point: bits },
        }
    }

    /// How long a sequence with this lead byte is, and the range its second byte must be in.
    #[inline]
    fn announced(self, lead: u8, after_lead: bool) -> Option<(usize, u8, u8)> {
        Some(match lead {
            0xC2..=0xDF => (2, 0x80, 0xBF),
            0xE0 => (3, 0xA0, 0xBF),
            0xED => match self.surrogates {
                Surrogates::Refused => (3, 0x80, 0x9F),
                Surrogates::Pairs => (3, 0x80, 0xAF),
                Surrogates::LoneOnly if after_lead => (3, 0x80, 0xAF),
                _ => (3, 0x80, 0xBF),
            },
            0xE1..=0xEF => (3, 0x80, 0xBF),
            0xF0 if self.longest >= 4 => (4, 0x90, 0xBF),
            0xF1..=0xF3 if self.longest >= 4 => (4, 0x80, 0xBF),
            0xF4 if self.longest == 4 => (4, 0x80, 0x8F),
            0xF4..=0xF7 if self.longest == 6 => (4, 0x80, 0xBF),
            0xF8 if self.longest == 6 => (5, 0x88, 0xBF),
            0xF9..=0xFB if self.longest == 6 => (5, 0x80, 0xBF),
            0xFC if self.longest == 6 => (6, 0x84, 0xBF),
            0xFD if self.longest == 6 => (6, 0x80, 0xBF),
            0xC0 if self.null_as_two => (2, 0x80, 0x80),
            _ => return None,
        })
    }

    /// Length of the ill-formed segment at the start of `rest`, of which `matched` bytes begin a sequence.
    fn unit_len(self, rule: Segmentation, rest: &[u8], matched: usize) -> usize {
        let announced = match rest[0] {
            0xC0..=0xDF => 1,
            0xE0..=0xEF => 2,
            0xF0..=0xF7 => 3,
            0xF8..=0xFB => 4,
            0xFC | 0xFD => 5,
            _ => 0,
        };
        let follow = |most: usize, allowed: &dyn Fn(u8) -> bool| {
            1 + rest[1..].iter().take(most).take_while(|&&byte| allowed(byte)).count()
        };
        let leads = |byte: u8| match byte {
            0 => !self.null_as_two,
            1..0x80 => true,
            _ => self.announced(byte, false).is_some(),
        };
        match (rule, rest[0]) {
            // The converter joins the bytes of a run.
            (Segmentation::Byte | Segmentation::Run, _) => 1,
            (Segmentation::LeadAnnounced, _) => follow(announced, &is_continuation),
            (Segmentation::SwallowNonLead, lead) if leads(lead) => follow(announced, &|byte| !leads(byte)),
            (Segmentation::MaximalSubpartSurrogate, 0xED) => follow(2, &is_continuation),
            _ => matched.max(1),
        }
    }

    fn never_leads(self, lead: u8) -> Kind {
        match lead {
            0x80..=0xBF => Kind::Continuation,
            0xC0 | 0xC1 => Kind::Overlong(2),
            0xF0..=0xF4 => Kind::FourByte,
            0xF5..=0xF7 => Kind::TooLarge,
            _ => Kind::InvalidByte,
        }
    }

    fn refused_second(self, lead: u8) -> Kind {
        match lead {
            0xC0 => Kind::Overlong(2),
            0xE0 => Kind::Overlong(3),
            0xED if self.surrogates == Surrogates::LoneOnly => Kind::SurrogatePair,
            0xED => Kind::Surrogate,
            0xF0 => Kind::Overlong(4),
            0xF8 => Kind::Overlong(5),
            0xFC => Kind::Overlong(6),
            _ => Kind::TooLarge,
        }
    }

    /// A leading surrogate of three bytes and the bytes after it.
    fn pair(self, lead: u32, after: &[u8]) -> Found {
        let begins: [core::ops::RangeInclusive<u8>; 3] = [0xED..=0xED, 0xB0..=0xBF, 0x80..=0xBF];
        let matched = after.iter().zip(&begins).take_while(|(byte, range)| range.contains(*byte)).count();
        let lone = self.surrogates == Surrogates::PairsOrLone;
        match after.get(matched) {
            _ if matched == 3 => {
                let trail = u32::from(after[1] & 0x0F) << 6 | u32::from(after[2] & 0x3F);
                Found::Whole { len: 6, code_point: 0x1_0000 + ((lead - 0xD800) << 10) + trail }
            }
            None if lone => Found::Perhaps { code_point: lead },
            Some(_) if lone => Found::Whole { len: 3, code_point: lead },
            None => Found::Broken { matched: 3 + matched, kind: Kind::Incomplete },
            Some(&byte) if matched > 0 && !is_continuation(byte) => {
                Found::Broken { matched: 3 + matched, kind: Kind::TooShort }
            }
            Some(_) => Found::Broken { matched: 3 + matched, kind: Kind::Surrogate },
        }
    }

    /// How many bytes at the start are well-formed in RFC 3629 and mean the same here.
    pub(super) fn common_prefix(self, bytes: &[u8]) -> usize {
        let common = match (self.longest, self.null_as_two) {
            (3, false) => first_of(bytes, |byte| byte >= 0xF0),
            (3, true) => first_of(bytes, |byte| byte >= 0xF0 || byte == 0),
            _ => bytes.len(),
        };
        codec::validate(&bytes[..common]).map_or_else(|error| error.valid_up_to(), |()| common)
    }

    /// Appends one code point; `None` if it has no form.
    #[inline]
    pub(super) fn push(self, code_point: u32, out: &mut Vec<u8>) -> Option<()> {
        let passes = matches!(self.surrogates, Surrogates::Lone | Surrogates::PairsOrLone);
        match (code_point, self.longest) {
            (0, _) if self.null_as_two => out.extend_from_slice(b"\xC0\x80"),
            (0xD800..=0xDFFF, _) if passes => push_three(code_point, out),
            (0xD800..=0xDFFF, _) => return None,
            (0x1_0000..=0x10_FFFF, 3) => halves(code_point).into_iter().for_each(|half| push_three(half, out)),
            (0x11_0000..=0x7FFF_FFFF, 6) => push_long(code_point, out),
            (0x11_0000.., _) => return None,
            _ => push_scalar(code_point, out),
        }
        Some(())
    }
}

/// The surrogates of a supplementary code point.
pub(super) fn halves(code_point: u32) -> [u32; 2] {
    let bits = code_point - 0x1_0000;
    [0xD800 | bits >> 10, 0xDC00 | bits & 0x3FF]
}

pub(super) fn push_scalar(scalar: u32, out: &mut Vec<u8>) {
    let scalar = char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER);
    out.extend_from_slice(scalar.encode_utf8(&mut [0; 4]).as_bytes());
}

pub(super) fn push_three(code_point: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&[0xE0 | (code_point >> 12) as u8, tail(code_point >> 6), tail(code_point)]);
}

/// Forms of four to six bytes, for code points beyond U+10FFFF.
fn push_long(code_point: u32, out: &mut Vec<u8>) {
    match code_point {
        0..=0x1F_FFFF => out.push(0xF0 | (code_point >> 18) as u8),
        0x20_0000..=0x3FF_FFFF => out.extend_from_slice(&[0xF8 | (code_point >> 24) as u8, tail(code_point >> 18)]),
        _ => out.extend_from_slice(&[0xFC | (code_point >> 30) as u8, tail(code_point >> 24), tail(code_point >> 18)]),
    }
    out.extend_from_slice(&[tail(code_point >> 12), tail(code_point >> 6), tail(code_point)]);
}

fn tail(bits: u32) -> u8 {
    0x80 | (bits & 0x3F) as u8
}
