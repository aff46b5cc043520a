//! Conversions for every processor, with replacement: UTF-8 to UTF-8, UTF-16 and UTF-32; UTF-16, UTF-32 and Latin-1 to UTF-8.
//!
//! # Idea
//!
//! Decoding branches on the length of each sequence: text has runs of one length, and a loop for one length is shorter than
//! a branch-free one for every length. Among sequences of two bytes, though, words are short, and the end of each would be a wrong
//! prediction: there four characters are converted at once, wherever each begins. Encoding does not branch either, since a wrong
//! prediction costs as much as ten units. Instead it looks up, by the upper bits of a unit, the bytes and the place of the six lowest
//! bits in them; writes four bytes; and moves on by the length. The next sequence overwrites the excess.
//!
//! ```text
//! U+20AC    BASIC[20AC >> 6] = E2 82 80, place 16      E2 82 80 | (20AC & 3F) << 16 = E2 82 AC
//! U+0020    BASIC[0020 >> 6] = 00 00 00, place 0       00 00 00 | (0020 & 3F)       = 20
//! ```
//!
//! Blocks of ASCII are converted at once by loops that the compiler turns into registers.
//!
//! Room is reserved in advance: for a stretch of what becomes UTF-8, for all of what becomes UTF-16 or UTF-32. A whole block
//! can be read at every step. So no step compares an index with a length.

use crate::kernel::room::{MARGIN, Room};
use crate::scalar::{Sequence, ascii_len, is_ascii, well_formed_prefix};
use crate::utf8::{REPLACEMENT, is_continuation};
use core::hint::select_unpredictable;
use core::mem::MaybeUninit;

/// Units that can be read from wherever a step begins, and written from wherever it ends.
const BLOCK: usize = 16;

/// Units for which room is made at a time.
const STRETCH: usize = 0x1000;

/// ASCII is copied when there are at least this many bytes of it.
const COPIED: usize = 0x4000;

/// Bytes of ASCII after which more is likely.
const LONG: usize = 64;

/// At most this many times [`LONG`] bytes are found to be ASCII before they are written as units: they are then still in the
/// first-level cache.
const RUN: usize = 16;

/// The bits that are not set in ASCII.
const NON_ASCII: u64 = 0x8080_8080_8080_8080;

/// A code unit of UTF-16 or UTF-32, or a byte of Latin-1, to be written as UTF-8.
///
/// # Safety
/// The sequence of a scalar value has at most [`LONGEST`](Source::LONGEST) bytes for each unit that it is read from. `scalar` takes
/// at least one unit, unless there are none, and at most all. A unit without a bit of `OVER_7FF` is below 800. A character from
/// `supplementary` has `SUPPLEMENTARY` units, one or two. The type is an unsigned integer of one, two or four bytes.
pub(super) unsafe trait Source: Copy + Into<u32> {
    /// Most bytes of UTF-8 for one unit.
    const LONGEST: usize;

    /// Units of a supplementary character.
    const SUPPLEMENTARY: usize;

    /// In a word of units, the bits that only units from 800 on have.
    const OVER_7FF: u64;

    /// The bytes of a block if it is ASCII. Written for each type in the way that the compiler turns into registers.
    fn ascii(block: &[Self; BLOCK]) -> Option<[u8; BLOCK]>;

    /// The supplementary character that begins here, if one does.
    ///
    /// # Safety
    /// Two units can be read.
    unsafe fn supplementary(from: *const Self) -> Option<u32>;

    /// The first scalar value, U+FFFD for what is none, and how many units it takes: 0 if `units` is empty.
    fn scalar(units: &[Self]) -> (u32, usize);
}

// SAFETY: `scalar` takes one unit, a byte is below 800, and makes at most two.
unsafe impl Source for u8 {
    const LONGEST: usize = 2;
    const SUPPLEMENTARY: usize = 1;
    const OVER_7FF: u64 = 0;

    #[inline(always)]
    fn ascii(block: &[Self; BLOCK]) -> Option<[u8; BLOCK]> {
        (any_bits(block) & NON_ASCII == 0).then_some(*block)
    }

    #[inline(always)]
    unsafe fn supplementary(_: *const Self) -> Option<u32> {
        None
    }

    #[inline(always)]
    fn scalar(units: &[Self]) -> (u32, usize) {
        units.first().map_or((0, 0), |&unit| (unit.into(), 1))
    }
}

// SAFETY: `scalar` takes one unit, or two of a pair; the bits are F800; a unit makes at most three bytes, a pair four.
unsafe impl Source for u16 {
    const LONGEST: usize = 3;
    const SUPPLEMENTARY: usize = 2;
    const OVER_7FF: u64 = 0xF800_F800_F800_F800;

    #[inline(always)]
    fn ascii(block: &[Self; BLOCK]) -> Option<[u8; BLOCK]> {
        let is_ascii = block.iter().fold(0, |any, &unit| any | u32::from(unit)) < 0x80;
        is_ascii.then(|| block.map(|unit| u32::from(unit) as u8))
    }

    #[inline(always)]
    unsafe fn supplementary(from: *const Self) -> Option<u32> {
        // SAFETY: the same contract.
        let [high, low] = unsafe { from.cast::<[Self; 2]>().read() }.map(u32::from);
        // The bits that are the same in all high, and in all low surrogates.
        let are_surrogates = (high & 0xFC00) << 16 | low & 0xFC00 == 0xD800_DC00;
        are_surrogates.then(|| 0x1_0000 + ((high & 0x3FF) << 10 | low & 0x3FF))
    }

    #[inline(always)]
    fn scalar(units: &[Self]) -> (u32, usize) {
        match *units {
            [] => (0, 0),
            [lead @ 0xD800..=0xDBFF, trail @ 0xDC00..=0xDFFF, ..] => {
                (0x1_0000 + (u32::from(lead & 0x3FF) << 10) + u32::from(trail & 0x3FF), 2)
            }
            [0xD800..=0xDFFF, ..] => (0xFFFD, 1),
            [unit, ..] => (unit.into(), 1),
        }
    }
}

// SAFETY: `scalar` takes one unit; the bits are FFFFF800; a number makes at most four bytes.
unsafe impl Source for u32 {
    const LONGEST: usize = 4;
    const SUPPLEMENTARY: usize = 1;
    const OVER_7FF: u64 = 0xFFFF_F800_FFFF_F800;

    #[inline(always)]
    fn ascii(block: &[Self; BLOCK]) -> Option<[u8; BLOCK]> {
        let mut bytes = [0; BLOCK];
        for place in 0..BLOCK {
            bytes[place] = block[place] as u8;
        }
        (any_bits(block) & 0xFFFF_FF80_FFFF_FF80 == 0).then_some(bytes)
    }

    #[inline(always)]
    unsafe fn supplementary(from: *const Self) -> Option<u32> {
        // SAFETY: the same contract.
        Some(unsafe { *from }).filter(|unit| (0x1_0000..0x11_0000).contains(unit))
    }

    #[inline(always)]
    fn scalar(units: &[Self]) -> (u32, usize) {
        units.first().map_or((0, 0), |&unit| (char::from_u32(unit).map_or(0xFFFD, u32::from), 1))
    }
}

/// Appends units as UTF-8, with U+FFFD for what is not a scalar value.
#[inline(always)]
fn append_utf8<U: Source>(units: &[U], out: &mut Vec<u8>) {
    let mut at = 0;
    while units.len() - at > BLOCK {
        let end = (units.len() - BLOCK).min(at + STRETCH);
        out.reserve(U::LONGEST * (end - at + BLOCK) + BLOCK);
        // SAFETY: a block follows `end`; room is reserved for the units up to its end.
        unsafe {
            let (next, to) = utf8_run(units.as_ptr(), at..end, out.as_mut_ptr().add(out.len()));
            out.set_len(to.offset_from_unsigned(out.as_ptr()));
            at = next;
        }
    }
    if at == units.len() {
        return;
    }
    out.reserve(U::LONGEST * (units.len() - at) + BLOCK);
    // SAFETY: room is reserved for what is left.
    unsafe {
        let mut to = out.as_mut_ptr().add(out.len());
        while at < units.len() {
            let (scalar, taken) = U::scalar(&units[at..]);
            (at, to) = (at + taken, utf8(scalar, to));
        }
        out.set_len(to.offset_from_unsigned(out.as_ptr()));
    }
}

/// The sequences of the characters below U+0800; of ASCII, the first byte.
static SHORT: [[u8; 2]; 0x800] = short();

const fn short() -> [[u8; 2]; 0x800] {
    let mut short = [[0; 2]; 0x800];
    let mut scalar = 0;
    while scalar < short.len() {
        let first = if scalar < 0x80 { scalar } else { 0xC0 | scalar >> 6 };
        short[scalar] = [first as u8, 0x80 | (scalar & 0x3F) as u8];
        scalar += 1;
    }
    short
}

/// For sixty-four characters of the Basic Multilingual Plane each: the bytes of their sequences without the last six bits of
/// the character, and in the highest byte the place of these bits. [`u32::MAX`] for surrogates.
static BASIC: [u32; 0x400] = basic();

const fn basic() -> [u32; 0x400] {
    let mut basic = [u32::MAX; 0x400];
    let mut row = 0;
    while row < 0x400 {
        basic[row as usize] = match row {
            0..2 => row << 6,
            2..0x20 => 0x0800_80C0 | row,
            0x360..0x380 => u32::MAX,
            _ => 0x1080_80E0 | row >> 6 | (row & 0x3F) << 8,
        };
        row += 1;
    }
    basic
}

/// Writes the units of a range as UTF-8, and those of the last step, which may end up to a block after it. Returns where it
/// ends, and the end of what is written.
///
/// # Safety
/// A block can be read from the end of the range. [`Source::LONGEST`] bytes can be written for each unit and those of a
/// block, and [`BLOCK`] more.
#[inline(always)]
unsafe fn utf8_run<U: Source>(units: *const U, range: core::ops::Range<usize>, mut to: *mut u8) -> (usize, *mut u8) {
    let (mut at, end) = (range.start, range.end);
    // SAFETY: every step begins below `end`, reads at most a block, and writes at most `LONGEST` bytes for each unit it takes;
    // up to a register more is overwritten later. Units without a bit of `OVER_7FF` are below 800, the length of `SHORT`;
    // `fewer + 2 * place` is between `to + place` and `to + 2 * place`.
    unsafe {
        while at < end {
            while let Some(bytes) = U::ascii(&*units.add(at).cast()) {
                to.cast::<[u8; BLOCK]>().write(bytes);
                (at, to) = (at + BLOCK, to.add(BLOCK));
                if at >= end {
                    return (at, to);
                }
            }
            let stop = at + BLOCK;
            if (*units.add(at)).into() < 0x800 {
                if any_bits::<U>(&*units.add(at).cast()) & U::OVER_7FF == 0 {
                    // From one unit to the next, only the number of those below 80 is carried on, by one instruction.
                    let mut fewer = to;
                    for place in 0..BLOCK {
                        let unit = (*units.add(at + place)).into() as usize;
                        fewer.wrapping_add(2 * place).cast::<[u8; 2]>().write(*SHORT.get_unchecked(unit));
                        fewer = fewer.wrapping_sub(usize::from(unit < 0x80));
                    }
                    (at, to) = (stop, fewer.wrapping_add(2 * BLOCK));
                    continue;
                }
                // One or two bytes: in scripts whose letters take two bytes, whole words and the spaces after them.
                while at < stop
                    && let unit @ 0..0x800 = (*units.add(at)).into() as usize
                {
                    to.cast::<[u8; 2]>().write(SHORT[unit]);
                    (at, to) = (at + 1, to.add(1 + usize::from(unit >= 0x80)));
                }
            }
            while at < stop
                && let unit @ 0..0x1_0000 = (*units.add(at)).into()
                && let row = BASIC[unit as usize >> 6]
                && row != u32::MAX
            {
                let place = row >> 24;
                to.cast::<[u8; 4]>().write((row | (unit & 0x3F) << place).to_le_bytes());
                (at, to) = (at + 1, to.add(1 + place as usize / 8));
            }
            if at == stop || at >= end {
                continue;
            }
            let here = units.add(at);
            if let Some(first) = U::supplementary(here) {
                (at, to) = (at + U::SUPPLEMENTARY, utf8(first, to));
                while at < end
                    && let Some(scalar) = U::supplementary(units.add(at))
                {
                    (at, to) = (at + U::SUPPLEMENTARY, utf8(scalar, to));
                }
            } else {
                let (scalar, taken) = U::scalar(core::slice::from_raw_parts(here, 2));
                (at, to) = (at + taken, utf8(scalar, to));
            }
        }
    }
    (at, to)
}

/// The bits that are set in any word of a block.
#[inline(always)]
fn any_bits<U: Source>(block: &[U; BLOCK]) -> u64 {
    let words = core::ptr::from_ref(block).cast::<[u64; 2]>();
    let [mut even, mut odd] = [0; 2];
    for pair in 0..size_of_val(block) / 16 {
        // SAFETY: the words are those of the block.
        let pair = unsafe { words.add(pair).read_unaligned() };
        even |= pair[0];
        odd |= pair[1];
    }
    even | odd
}

/// Whether the number is a scalar value whose sequence has three bytes.
#[inline(always)]
fn is_of_three(unit: u32) -> bool {
    (0x800..0x1_0000).contains(&unit) & (unit & 0xF800 != 0xD800)
}

/// Writes the sequence of a scalar value, and returns its end.
///
/// # Safety
/// Four bytes can be written.
#[inline(always)]
unsafe fn utf8(scalar: u32, to: *mut u8) -> *mut u8 {
    let tail = |place: u32, bits: u32| (0x80 | (bits & 0x3F)) << (8 * place);
    let (bytes, len) = match scalar {
        0..0x80 => (scalar, 1),
        0x80..0x800 => (0xC0 | scalar >> 6 | tail(1, scalar), 2),
        0x800..0x1_0000 => (0xE0 | scalar >> 12 | tail(1, scalar >> 6) | tail(2, scalar), 3),
        _ => (0xF0 | scalar >> 18 | tail(1, scalar >> 12) | tail(2, scalar >> 6) | tail(3, scalar), 4),
    };
    // SAFETY: the same contract.
    unsafe {
        to.cast::<[u8; 4]>().write(bytes.to_le_bytes());
        to.add(len)
    }
}

/// Appends UTF-16 as UTF-8, with U+FFFD for every lone surrogate.
pub(super) fn from_utf16(units: &[u16], out: &mut Vec<u8>) {
    append_utf8(units, out);
}

/// Appends UTF-32 as UTF-8, with U+FFFD for every number that is not a scalar value.
pub(super) fn from_utf32(units: &[u32], out: &mut Vec<u8>) {
    append_utf8(units, out);
}

/// Appends Latin-1 as UTF-8.
pub(super) fn from_latin_1(bytes: &[u8], out: &mut Vec<u8>) {
    append_utf8(bytes, out);
}

/// A code unit that UTF-8 is converted to.
///
/// # Safety
/// A function writes only the four units it may, and returns the end of those that count, all written: at least one and at most
/// [`LONGEST`](Target::LONGEST) for each byte of the sequence or maximal subpart. `LONGEST` is at least 1.
unsafe trait Target: Copy + From<u8> {
    /// Most units for one byte.
    const LONGEST: usize;

    /// Writes a scalar value; as UTF-8, its sequence, which is the first `LEN` of `bytes`. Returns its end.
    ///
    /// # Safety
    /// Four units can be written.
    unsafe fn put<const LEN: usize>(scalar: u32, bytes: u32, to: *mut Self) -> *mut Self;

    /// The same for four bytes.
    ///
    /// # Safety
    /// Four units can be written.
    unsafe fn put_supplementary(scalar: u32, bytes: u32, to: *mut Self) -> *mut Self;

    /// Writes U+FFFD.
    ///
    /// # Safety
    /// Four units can be written.
    unsafe fn replace(to: *mut Self) -> *mut Self;
}

// SAFETY: four bytes are written, and `to` moves by the length of the sequence, or by the three bytes of U+FFFD.
unsafe impl Target for u8 {
    const LONGEST: usize = 3;

    #[inline(always)]
    unsafe fn put<const LEN: usize>(_: u32, bytes: u32, to: *mut Self) -> *mut Self {
        // SAFETY: the same contract.
        unsafe {
            to.cast::<[Self; 4]>().write(bytes.to_le_bytes());
            to.add(LEN)
        }
    }

    #[inline(always)]
    unsafe fn put_supplementary(scalar: u32, bytes: u32, to: *mut Self) -> *mut Self {
        // SAFETY: the same contract.
        unsafe { Self::put::<4>(scalar, bytes, to) }
    }

    #[inline(always)]
    unsafe fn replace(to: *mut Self) -> *mut Self {
        // SAFETY: the same contract.
        unsafe { utf8(0xFFFD, to) }
    }
}

// SAFETY: each function moves `to` by what it writes.
unsafe impl Target for u16 {
    const LONGEST: usize = 1;

    #[inline(always)]
    unsafe fn put<const LEN: usize>(scalar: u32, _: u32, to: *mut Self) -> *mut Self {
        // SAFETY: the same contract.
        unsafe {
            to.write(scalar as Self);
            to.add(1)
        }
    }

    #[inline(always)]
    unsafe fn put_supplementary(scalar: u32, _: u32, to: *mut Self) -> *mut Self {
        // SAFETY: the same contract.
        unsafe {
            to.write((0xD7C0 + (scalar >> 10)) as Self);
            to.add(1).write(0xDC00 | (scalar & 0x3FF) as Self);
            to.add(2)
        }
    }

    #[inline(always)]
    unsafe fn replace(to: *mut Self) -> *mut Self {
        // SAFETY: the same contract.
        unsafe { Self::put::<3>(0xFFFD, 0, to) }
    }
}

// SAFETY: each function moves `to` by what it writes.
unsafe impl Target for u32 {
    const LONGEST: usize = 1;

    #[inline(always)]
    unsafe fn put<const LEN: usize>(scalar: u32, _: u32, to: *mut Self) -> *mut Self {
        // SAFETY: the same contract.
        unsafe {
            to.write(scalar);
            to.add(1)
        }
    }

    #[inline(always)]
    unsafe fn put_supplementary(scalar: u32, bytes: u32, to: *mut Self) -> *mut Self {
        // SAFETY: the same contract.
        unsafe { Self::put::<4>(scalar, bytes, to) }
    }

    #[inline(always)]
    unsafe fn replace(to: *mut Self) -> *mut Self {
        // SAFETY: the same contract.
        unsafe { Self::put::<3>(0xFFFD, 0, to) }
    }
}

/// Appends UTF-8 with U+FFFD for every maximal subpart. ASCII and single errors in it are copied and replaced as they are read, as
/// long as there is much of it; other text is validated and copied, up to an error. Where errors are close to each other, it is
/// decoded in steps, up to one with few errors.
pub(super) fn lossy(bytes: &[u8], out: &mut Vec<u8>) {
    /// Before an error that is not close to another one, this many bytes are well-formed.
    const APART: usize = 16;
    /// Bytes in a step.
    const STEP: usize = 256;
    /// The most errors in a step after which it validates again.
    const FEW: usize = 4;
    /// After this many close errors in a row, decoding goes in steps.
    const CLOSE: u32 = 3;
    let (mut at, mut close, mut is_ascii_likely) = (0, 0, true);
    loop {
        if is_ascii_likely || bytes[at..].first_chunk::<8>().is_some_and(|eight| eight.is_ascii()) {
            let ascii = append_ascii_with_errors(&bytes[at..], out);
            is_ascii_likely = ascii >= APART;
            at += ascii;
        }
        let good = well_formed_prefix(&bytes[at..]);
        out.extend_from_slice(&bytes[at..at + good]);
        at += good;
        if at == bytes.len() {
            return;
        }
        close = if good < APART { close + 1 } else { 0 };
        if close < CLOSE {
            let first = bytes[at];
            at += subpart_len(&bytes[at..]);
            out.extend_from_slice(REPLACEMENT);
            // The continuation bytes after that are errors, too. In a damaged sequence of three or four bytes, a byte of ASCII may
            // stand before them.
            if first >= 0xE0
                && let [ascii @ ..0x80, 0x80..0xC0, ..] = bytes[at..]
            {
                out.push(ascii);
                at += 1;
            }
            while bytes.get(at).copied().is_some_and(is_continuation) {
                out.extend_from_slice(REPLACEMENT);
                at += 1;
            }
            continue;
        }
        close = 0;
        let mut errors = usize::MAX;
        while errors > FEW {
            if bytes.len() - at <= STEP + BLOCK {
                let rest = &bytes[at..];
                return Room::append(out, <u8 as Target>::LONGEST * rest.len() + MARGIN, |out| write_units(rest, out));
            }
            out.reserve(3 * (STEP + BLOCK) + BLOCK);
            // SAFETY: a block follows the range; room is reserved for the bytes up to its end, and a block.
            unsafe {
                let (from, to) = (bytes.as_ptr(), out.as_mut_ptr().add(out.len()));
                let (next, to, met) = units_run(from, at..at + STEP, to);
                out.set_len(to.offset_from_unsigned(out.as_ptr()));
                (at, errors) = (next, met);
            }
        }
    }
}

/// Appends ASCII, and U+FFFD for the maximal subparts in it, up to a well-formed sequence of more than one byte or near the
/// end. Returns how many bytes of the input that takes.
fn append_ascii_with_errors(bytes: &[u8], out: &mut Vec<u8>) -> usize {
    let mut at = 0;
    loop {
        let (ascii, is_last) = append_ascii(&bytes[at..], out);
        at += ascii;
        if is_last {
            return at;
        }
        // A byte that is not ASCII and that no continuation byte follows is a maximal subpart.
        at += match bytes[at..] {
            [_] | [_, 0..0x80 | 0xC0.., ..] => 1,
            _ => match Sequence::read(&bytes[at..]) {
                Some(Sequence::IllFormed { len, .. }) => len,
                _ => return at,
            },
        };
        out.extend_from_slice(REPLACEMENT);
    }
}

/// Bytes that are loaded at a time where registers have 16 bytes.
const ALIGN: usize = 16;

/// Appends the ASCII that `bytes` begin with, up to the first other byte, or until fewer bytes than a block are left. Returns how
/// many bytes those are, and true if no other byte was met.
fn append_ascii(bytes: &[u8], out: &mut Vec<u8>) -> (usize, bool) {
    let (mut len, mut copied) = (0, 0);
    if let Some(block) = bytes.first_chunk() {
        if !is_ascii(block) {
            let ascii = ascii_len(block);
            // All of it, since copying as many bytes as are ASCII takes longer.
            out.extend_from_slice(block);
            out.truncate(out.len() - (block.len() - ascii));
            return (ascii, false);
        }
        // The next blocks begin where none of their words is in two cache lines.
        len = block.len() - bytes.as_ptr().addr() % ALIGN;
    }
    while let Some(block) = bytes[len..].first_chunk() {
        if !is_ascii(block) {
            len += ascii_len(block);
            out.extend_from_slice(&bytes[copied..len]);
            return (len, false);
        }
        len += block.len();
        // While it is in the first-level cache.
        if len - copied >= COPIED {
            out.extend_from_slice(&bytes[copied..len]);
            copied = len;
        }
    }
    out.extend_from_slice(&bytes[copied..len]);
    (len, true)
}

// For the last block and the zeros after it.
const _: () = assert!((2 * <u8 as Target>::LONGEST + 1) * BLOCK <= MARGIN);

/// Writes UTF-8 as units, with U+FFFD for every maximal subpart, where there is room for the most that the bytes may become, and
/// [`MARGIN`].
#[inline(always)]
fn write_units<U: Target>(bytes: &[u8], out: &mut Room<'_, U>) {
    let mut at = 0;
    if bytes.len() > BLOCK {
        let to = out.next(U::LONGEST * bytes.len() + BLOCK);
        // SAFETY: a block follows the range; there is room for the bytes up to its end, and a block.
        unsafe {
            let (next, to, _) = units_run(bytes.as_ptr(), 0..bytes.len() - BLOCK, to);
            out.end_at(to, 0);
            at = next;
        }
    }
    // What follows is read, too, and zeros continue no sequence.
    let mut padded = [[0; BLOCK]; 2];
    let padded = padded.as_flattened_mut();
    let len = bytes.len() - at;
    padded[..len].copy_from_slice(&bytes[at..]);
    let to = out.next(2 * U::LONGEST * BLOCK + BLOCK);
    // SAFETY: at most a block is left, and a block follows it. Each zero that was taken was written as one unit.
    unsafe {
        let (taken, to, _) = units_run(padded.as_ptr(), 0..len, to);
        out.end_at(to, taken - len);
    }
}

/// Writes the bytes of a range as units, and those of the last step, which may end up to a block after it. Returns where it
/// ends, the end of what is written, and the number of errors.
///
/// # Safety
/// A block can be read from the end of the range. [`Target::LONGEST`] units can be written for each byte and those of a block,
/// and a block more.
#[inline(always)]
unsafe fn units_run<U: Target>(
    bytes: *const u8,
    range: core::ops::Range<usize>,
    mut to: *mut U,
) -> (usize, *mut U, usize) {
    let (mut at, end) = (range.start, range.end);
    let mut errors = 0;
    // SAFETY: every step begins below `end`, reads at most a block, or up to `end`, and keeps at most `LONGEST` units for each
    // byte it takes; up to a block of units more is overwritten later.
    unsafe {
        'step: while at < end {
            let here = bytes.add(at);
            let word = u32::from_le(here.cast::<u32>().read_unaligned());
            let tail = |byte: u32| word >> (8 * byte) & 0x3F;
            if word & 0x80 == 0 {
                if word & 0x8000 != 0 {
                    to.write(U::from(word as u8));
                    (at, to) = (at + 1, to.add(1));
                    continue;
                }
                let (count, next) = ascii_of_eight(bytes.add(at), to);
                (at, to) = (at + count, next);
                if count < 8 {
                    continue;
                }
                // More is likely.
                while end.saturating_sub(at) >= LONG && (*bytes.add(at).cast::<[u8; LONG]>()).is_ascii() {
                    let run = ascii_run(core::slice::from_raw_parts(bytes.add(at), end - at), to);
                    (at, to) = (at + run, to.add(run));
                }
                while at < end {
                    let (count, next) = ascii_of_eight(bytes.add(at), to);
                    (at, to) = (at + count, next);
                    if count < 8 {
                        continue 'step;
                    }
                }
                continue;
            }
            if word & 0xC0E0 == 0x80C0 && word & 0x1E != 0 {
                (at, to) = (at + 2, U::put::<2>((word & 0x1F) << 6 | tail(1), word, to));
                // After two of them more are likely. Not for UTF-8, where a character is not one unit.
                let word = word >> 16;
                if U::LONGEST == 1 && word & 0xC0E0 == 0x80C0 && word & 0x1E != 0 {
                    (at, to) = (at + 2, U::put::<2>((word & 0x1F) << 6 | word >> 8 & 0x3F, word, to));
                    while at < end {
                        let Some((count, next)) = four_of_up_to_two(bytes.add(at), to) else { break };
                        (at, to) = (at + count, next);
                    }
                }
                continue;
            }
            if let Some(scalar) = of_three(word) {
                (at, to) = (at + 3, U::put::<3>(scalar, word, to));
                while at < end {
                    let word = u32::from_le(bytes.add(at).cast::<u32>().read_unaligned());
                    let Some(scalar) = of_three(word) else { break };
                    (at, to) = (at + 3, U::put::<3>(scalar, word, to));
                }
                continue;
            }
            if let Some(scalar) = of_four(word) {
                (at, to) = (at + 4, U::put_supplementary(scalar, word, to));
                while at < end {
                    let word = u32::from_le(bytes.add(at).cast::<u32>().read_unaligned());
                    let Some(scalar) = of_four(word) else { break };
                    (at, to) = (at + 4, U::put_supplementary(scalar, word, to));
                }
                continue;
            }
            // Most errors are bytes that no continuation byte follows.
            let is_alone = word & 0xC000 != 0x8000 || word & 0xC0 == 0x80;
            let len = if is_alone { 1 } else { len_of_subpart(word) };
            (at, to) = (at + len, U::replace(to));
            errors += 1;
        }
    }
    (at, to, errors)
}

/// Writes the ASCII that eight bytes begin with, as units; returns how many those are, and their end.
///
/// # Safety
/// Eight bytes can be read, and as many units written.
#[inline(always)]
unsafe fn ascii_of_eight<U: Target>(from: *const u8, to: *mut U) -> (usize, *mut U) {
    // SAFETY: the same contract.
    unsafe {
        let eight = u64::from_le(from.cast::<u64>().read_unaligned());
        to.cast::<[U; 8]>().write(eight.to_le_bytes().map(U::from));
        let count = (eight & NON_ASCII).trailing_zeros() as usize / 8;
        (count, to.add(count))
    }
}

/// What [`four_of_up_to_two`] needs to know, by the set of those of eight bytes that are not ASCII. All 0 if fewer than two of the
/// first four characters are sequences of two bytes: other ways are as fast there.
struct Four {
    /// Where the second, third and fourth character begin, in bits.
    beginnings: [[u8; 3]; 256],
    /// How many bytes the four have.
    lengths: [u8; 256],
}

static FOUR: Four = four();

const fn four() -> Four {
    let mut four = Four { beginnings: [[0; 3]; 256], lengths: [0; 256] };
    let mut set = 0;
    while set < 256 {
        // A sequence has two of the bytes in the set.
        let (mut beginnings, mut character, mut at, mut sequences) = ([0; 4], 0, 0, 0);
        while character < 4 {
            beginnings[character] = 8 * at;
            let is_sequence = (set >> at & 1) as u8;
            (character, at, sequences) = (character + 1, at + 1 + is_sequence, sequences + is_sequence);
        }
        if sequences >= 2 {
            four.beginnings[set] = [beginnings[1], beginnings[2], beginnings[3]];
            four.lengths[set] = at;
        }
        set += 1;
    }
    four
}

/// Writes four characters as units if eight bytes are ASCII and two or more sequences of two bytes; the last byte may begin
/// another. Returns how many bytes that takes, and the end of the units. No branch depends on where the sequences are.
///
/// # Safety
/// Eight bytes can be read, and as many units written.
#[inline(always)]
unsafe fn four_of_up_to_two<U: Target>(from: *const u8, to: *mut U) -> Option<(usize, *mut U)> {
    let repeated = |byte: u8| u64::from_ne_bytes([byte; 8]);
    // SAFETY: the same contract.
    let eight = u64::from_le(unsafe { from.cast::<u64>().read_unaligned() });
    // The highest bit of each byte that is, or is not, what the name says.
    let non_ascii = eight & NON_ASCII;
    // The bits are moved to the highest byte, in the same order.
    let set = (non_ascii.wrapping_mul(0x0002_0408_1020_4081) >> 56) as usize & 0xFF;
    let len = FOUR.lengths[set];
    let leads = non_ascii & eight << 1;
    let leads_of_three = leads & eight << 2;
    let not_c0_or_c1 = (eight & repeated(0x1E)) + repeated(0x7E);
    let wrong = (leads << 8 ^ leads ^ non_ascii) | leads_of_three | leads & !not_c0_or_c1;
    if wrong != 0 || len == 0 {
        return None;
    }
    let [second, third, fourth] = FOUR.beginnings[set];
    for (place, beginning) in [0, second, third, fourth].into_iter().enumerate() {
        let word = (eight >> (beginning & 0x3F)) as u32;
        let of_two = (word & 0x1F) << 6 | word >> 8 & 0x3F;
        let scalar = select_unpredictable(word & 0x80 == 0, word & 0x7F, of_two);
        // SAFETY: the same contract; `put` writes one unit.
        unsafe { U::put::<1>(scalar, word, to.add(place)) };
    }
    // SAFETY: four units were written.
    Some((usize::from(len), unsafe { to.add(4) }))
}

/// Length in bytes of the maximal subpart at the start of `bytes`, which must not begin with a well-formed sequence.
#[inline(always)]
fn subpart_len(bytes: &[u8]) -> usize {
    match *bytes {
        [first, second @ 0x80..0xC0, ref rest @ ..] => {
            len_of_subpart(u32::from_le_bytes([first, second, rest.first().copied().unwrap_or(0), 0]))
        }
        _ => 1,
    }
}

/// As [`subpart_len`], for the bytes of a little-endian word.
#[inline(never)]
fn len_of_subpart(word: u32) -> usize {
    // Whether the second byte may follow the lead. After a lead of three bytes, the lowest scalar value that begins so must need
    // three bytes, and not be a surrogate; after a lead of four, the plane must be 1 to 16.
    let of_three = (word & 0xC0F0 == 0x80E0) & is_of_three((word & 0xF) << 12 | (word >> 8 & 0x3F) << 6);
    let of_four = (word & 0xC0F8 == 0x80F0) & matches!((word & 7) << 2 | word >> 12 & 3, 1..=0x10);
    1 + usize::from(of_three | of_four) + usize::from(of_four & (word & 0xC0_0000 == 0x80_0000))
}

/// The scalar value of a sequence of three bytes.
#[inline(always)]
fn of_three(word: u32) -> Option<u32> {
    let scalar = (word & 0xF) << 12 | (word >> 8 & 0x3F) << 6 | word >> 16 & 0x3F;
    ((word & 0xC0_C0F0 == 0x80_80E0) & is_of_three(scalar)).then_some(scalar)
}

/// The scalar value of a sequence of four bytes.
#[inline(always)]
fn of_four(word: u32) -> Option<u32> {
    let scalar = (word & 7) << 18 | (word >> 8 & 0x3F) << 12 | (word >> 16 & 0x3F) << 6 | word >> 24 & 0x3F;
    ((word & 0xC0C0_C0F8 == 0x8080_80F0) & matches!(scalar, 0x1_0000..=0x10_FFFF)).then_some(scalar)
}

/// Writes the blocks of [`LONG`] bytes of ASCII that `bytes` begin with, at most [`RUN`], as units. Returns how many bytes
/// those are.
///
/// # Safety
/// A unit can be written for each of `bytes`.
#[inline(never)]
unsafe fn ascii_run<U: Target>(bytes: &[u8], to: *mut U) -> usize {
    let blocks = bytes.as_chunks::<LONG>().0.iter().take(RUN).take_while(|block| block.is_ascii());
    let ascii = &bytes[..LONG * blocks.count()];
    // SAFETY: the same contract.
    let units = unsafe { core::slice::from_raw_parts_mut(to.cast::<MaybeUninit<U>>(), ascii.len()) };
    // A loop of its own, whose end the compiler does not know, becomes one of registers.
    for (unit, &byte) in units.iter_mut().zip(ascii) {
        unit.write(byte.into());
    }
    ascii.len()
}

/// Writes UTF-8 as UTF-16, with U+FFFD for every maximal subpart.
pub(super) fn utf16(bytes: &[u8], out: &mut Room<'_, u16>) {
    write_units(bytes, out);
}

/// Writes UTF-8 as UTF-32, with U+FFFD for every maximal subpart.
pub(super) fn utf32(bytes: &[u8], out: &mut Room<'_, u32>) {
    write_units(bytes, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_hold_the_sequence_of_every_character() {
        let (short, basic) = (short(), basic());
        for character in '\0'..='\u{FFFF}' {
            let (scalar, mut bytes) = (u32::from(character), [0; 4]);
            let sequence = character.encode_utf8(&mut bytes).as_bytes();
            if let Some(found) = short.get(scalar as usize) {
                assert_eq!(found[..sequence.len()], *sequence, "{scalar:04X}");
            }
            let row = basic[scalar as usize >> 6];
            let place = row >> 24;
            let found = (row | (scalar & 0x3F) << place).to_le_bytes();
            assert_eq!(found[..1 + place as usize / 8], *sequence, "{scalar:04X}");
        }
        assert!((0xD800..0xE000).all(|surrogate| basic[surrogate >> 6] == u32::MAX));
    }

    /// Single errors between ASCII, more than a block before the end, where they are replaced without validation.
    #[test]
    fn errors_in_ascii_are_replaced() {
        for ill_formed in [&b"\xFF"[..], b"\xC3", b"\xE2\x82", b"\xF0\x9F\x98", b"\x80\x80"] {
            for before in 1..100 {
                let text = [&vec![b'a'; before][..], ill_formed, b"b", ill_formed, &[b'c'; 200]].concat();
                let mut out = Vec::new();
                lossy(&text, &mut out);
                assert_eq!(out, String::from_utf8_lossy(&text).as_bytes(), "{ill_formed:02X?} after {before} bytes");
            }
        }
    }

    /// Every two bytes, before bytes of every class and at the end.
    #[test]
    fn the_length_of_a_maximal_subpart_is_found_without_branches() {
        for first_two in (0..=u16::MAX).step_by(if cfg!(miri) { 97 } else { 1 }) {
            for (third, fourth) in [0x61, 0x80, 0xBF, 0xC3].into_iter().flat_map(|byte| [(byte, 0x61), (byte, 0x80)]) {
                let [first, second] = first_two.to_be_bytes();
                for len in 1..=4 {
                    let bytes = &[first, second, third, fourth][..len];
                    if let Some(Sequence::IllFormed { len, .. }) = Sequence::read(bytes) {
                        assert_eq!(subpart_len(bytes), len, "{bytes:02X?}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_table_holds_where_four_characters_begin() {
        let four = four();
        for order in 0..256_usize {
            let (mut beginnings, mut set, mut at) = (Vec::new(), 0, 0);
            for place in 0..8 {
                beginnings.push(8 * at);
                let is_sequence = order >> place & 1;
                set |= (0b11 * is_sequence) << at;
                at += 1 + is_sequence as u8;
            }
            let has_two = (order & 0xF).count_ones() >= 2;
            let expected =
                if has_two { [beginnings[1], beginnings[2], beginnings[3], beginnings[4] / 8] } else { [0; 4] };
            let [second, third, fourth] = four.beginnings[set & 0xFF];
            assert_eq!([second, third, fourth, four.lengths[set & 0xFF]], expected, "{order:08b}");
        }
    }

    /// Sequences of two bytes and ASCII in every order, with every byte wrong in turn.
    #[test]
    fn sequences_of_two_bytes_are_converted_four_characters_at_a_time() {
        for order in 0..1 << 8_u32 {
            let text: String = (0..8).map(|place| if order >> place & 1 == 1 { 'ש' } else { 'a' }).collect();
            for (at, byte) in (0..=text.len()).flat_map(|at| [0x61, 0x80, 0xC1, 0xC2, 0xE0].map(|byte| (at, byte))) {
                let mut bytes = ["éé", &text, "éé and no more"].concat().into_bytes();
                bytes[4 + at] = byte;
                let expected = String::from_utf8_lossy(&bytes);
                let (mut units, mut numbers) = (Vec::new(), Vec::new());
                Room::append(&mut units, bytes.len() + MARGIN, |room| utf16(&bytes, room));
                Room::append(&mut numbers, bytes.len() + MARGIN, |room| utf32(&bytes, room));
                assert!(expected.encode_utf16().eq(units), "{bytes:02X?}");
                assert!(expected.chars().map(u32::from).eq(numbers), "{bytes:02X?}");
            }
        }
    }

    /// What a wrong byte makes of the sequence it is in, and of the text after it.
    #[test]
    fn a_wrong_byte_anywhere_is_replaced() {
        let text = "Grüße, 世界 😀😀 ".repeat(8);
        for at in 0..text.len() {
            for byte in [b'a', 0x80, 0xC3, 0xE4, 0xFF] {
                let mut bytes = text.clone().into_bytes();
                bytes[at] = byte;
                let mut out = Vec::new();
                lossy(&bytes, &mut out);
                assert_eq!(out, String::from_utf8_lossy(&bytes).as_bytes(), "{byte:02X} at {at}");
            }
        }
    }

    /// Errors close to each other in text that is not ASCII, where decoding goes in steps, and what follows them.
    #[test]
    fn close_errors_are_replaced_in_steps() {
        for close in ["é\u{20AC}".as_bytes(), "日本".as_bytes(), "😀".as_bytes()] {
            for (errors, after) in (0..=200).step_by(8).flat_map(|errors| [(errors, 0), (errors, 99), (errors, 999)]) {
                let text = [&[close, b"\xFF"].concat().repeat(errors)[..], &"é".repeat(after).into_bytes()].concat();
                let mut out = Vec::new();
                lossy(&text, &mut out);
                let expected = String::from_utf8_lossy(&text);
                assert_eq!(String::from_utf8_lossy(&out), expected, "{errors} errors and {after} letters");
            }
        }
    }

    #[test]
    fn there_is_room_for_a_block_of_errors_in_an_empty_vector() {
        for len in 0..=BLOCK {
            let mut out = Vec::<u8>::new();
            Room::append(&mut out, <u8 as Target>::LONGEST * len + MARGIN, |out| write_units(&vec![0xFF; len], out));
            assert_eq!(out, REPLACEMENT.repeat(len));
        }
    }
}
