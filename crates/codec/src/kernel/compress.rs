//! The units of a window of UTF-8 as UTF-16 and UTF-32, for kernels without an instruction that compresses: SSE4.1,
//! AVX2 and NEON.
//!
//! # Idea
//!
//! ASCII is widened. A stretch of other text is validated and then written as text, which needs no masks of errors. At an error
//! windows are decoded one by one (to_utf16_32.rs), until some in a row have no error.
//!
//! For every byte, the unit that it would end is computed from the byte and up to three before it; a shuffle, looked up by
//! the places where units are written, leaves the others out:
//!
//! ```text
//! bytes     61   C3   A9   E4   B8   96
//! units     0061 .... 00E9 .... 0938 4E16      four dots: undefined
//! places    1    .    1    .    .    1
//! written   0061 00E9 4E16
//! ```
//!
//! A continuation byte adds six bits, and so does each continuation byte before it; the lead adds its lowest bits. Which byte
//! is the lead need not be known for the places where units are written: there it is the first that is no continuation byte.
//! A high surrogate is computed at the third byte of four.
//!
//! # Cost
//!
//! Sixteen bytes of text take some 25 instructions without sequences of three bytes, 35 with them, and 50 with sequences of four.
#![allow(
    unsafe_op_in_unsafe_fn,
    reason = "register intrinsics need the instructions only, as the contract of each function states"
)]

use crate::kernel::room::{MARGIN, Room};
use crate::kernel::to_utf16_32::{Form, ascii_run, padded, windows};
use crate::kernel::validate::{Partial, well_formed_prefix};
use crate::kernel::vector::{hidden, *};
use crate::kernel::window::{self, Left, Places, READ, WINDOW, WindowWriter};
use crate::scalar::pending;

const REGISTER: usize = 16;

/// The lanes of a mask, in order. The places are aligned, so that the shuffle reads them without a load of their own, and both are
/// in one cache line.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
struct Kept {
    /// Where the bytes of these lanes are.
    places: [u8; REGISTER],
    /// How many lanes those are.
    lanes: u8,
}

/// What is kept of a register, by a mask of its lanes.
struct Compression<const MASKS: usize>([Kept; MASKS]);

impl<const MASKS: usize> Compression<MASKS> {
    /// For lanes of `LANE` bytes.
    const fn of<const LANE: usize>() -> Self {
        let mut compression = [Kept { places: [0x80; REGISTER], lanes: 0 }; MASKS];
        let mut mask = 0;
        while mask < MASKS {
            let (mut lane, mut to) = (0, 0);
            while mask >> lane != 0 {
                let mut byte = 0;
                while mask >> lane & 1 == 1 && byte < LANE {
                    compression[mask].places[to * LANE + byte] = (lane * LANE + byte) as u8;
                    byte += 1;
                }
                to += mask >> lane & 1;
                lane += 1;
            }
            compression[mask].lanes = to as u8;
            mask += 1;
        }
        Self(compression)
    }

    /// Writes the lanes of a mask, of which only the lowest bits count, and returns their end.
    ///
    /// # Safety
    /// The processor has SSE4.1 or NEON; a register can be written at `to`.
    #[inline(always)]
    unsafe fn write<U>(&self, lanes: __m128i, mask: u64, to: *mut U) -> *mut U {
        let kept = &self.0[mask as usize % MASKS];
        // SAFETY: the places are aligned, being first in an aligned structure. Writes a register, of which at most as many lanes are
        // kept as it has.
        unsafe {
            let places = _mm_load_si128(kept.places.as_ptr().cast());
            _mm_storeu_si128(to.cast(), _mm_shuffle_epi8(lanes, places));
            to.add(usize::from(kept.lanes))
        }
    }
}

static OF_16: Compression<256> = Compression::of::<2>();
static OF_32: Compression<16> = Compression::of::<4>();

/// A register of bytes, and for each byte what it and those before it add to the unit it ends.
pub(super) struct Parts {
    /// The bits of the byte itself, and of the bytes one and two places before.
    bits: [__m128i; 3],
    /// Whether the byte and the one before it are continuation bytes; all bits of a byte or none.
    continued: __m128i,
    /// The bytes two and three places before.
    before: [__m128i; 2],
}

impl Parts {
    /// Of part `part` of a window. The bytes before the `first` window count as zeros.
    ///
    /// # Safety
    /// The processor has SSE4.1 or NEON; the window can be read, and the three bytes before it unless it is the first.
    #[inline(always)]
    unsafe fn of(from: *const u8, first: bool, part: usize) -> Self {
        // SAFETY: part `p` reads `16 * p..16 * (p + 1)` of the window, and up to three bytes before.
        let [this, one, two, three] = unsafe {
            let from = hidden(from.add(REGISTER * part));
            let this = _mm_loadu_si128(from.cast());
            if first && part == 0 {
                [this, _mm_slli_si128::<1>(this), _mm_slli_si128::<2>(this), _mm_slli_si128::<3>(this)]
            } else {
                let before = |places: usize| _mm_loadu_si128(from.sub(places).cast());
                [this, before(1), before(2), before(3)]
            }
        };
        let low = _mm_set1_epi8(0x3F);
        let is_continuation = continuations(this);
        let continued = _mm_and_si128(is_continuation, continuations(one));
        let own = without_mark(this);
        let second = _mm_and_si128(_mm_and_si128(one, low), is_continuation);
        let third = _mm_and_si128(two, continued);
        Self { bits: [own, second, third], continued, before: [two, three] }
    }

    /// The units of UTF-16, in two registers.
    #[inline(always)]
    unsafe fn with_surrogates(&self) -> [__m128i; 2] {
        let set = |bits: u16| _mm_set1_epi16(bits as i16);
        let [low, high] = self.low_units();
        let [two, _] = self.before;
        let third = _mm_and_si128(self.continued, at_least(two, 0xF0));
        let fourth = _mm_and_si128(self.continued, continuations(two));
        let surrogates = |units: __m128i, third: __m128i, fourth: __m128i| {
            let of_third = _mm_add_epi16(_mm_srli_epi16::<4>(units), set(0xD7C0));
            let of_fourth = _mm_or_si128(_mm_and_si128(units, set(0x3FF)), set(0xDC00));
            _mm_blendv_epi8(_mm_blendv_epi8(units, of_third, third), of_fourth, fourth)
        };
        [
            surrogates(low, _mm_unpacklo_epi8(third, third), _mm_unpacklo_epi8(fourth, fourth)),
            surrogates(high, _mm_unpackhi_epi8(third, third), _mm_unpackhi_epi8(fourth, fourth)),
        ]
    }

    /// The bits of each unit above its lowest sixteen: bits 4 and 5 of the byte two places before, and the lowest three of the
    /// lead before that.
    #[inline(always)]
    unsafe fn upper_bits(&self) -> __m128i {
        let [two, three] = self.before;
        let fourth = _mm_and_si128(self.continued, continuations(two));
        _mm_and_si128(upper_bits(two, three), fourth)
    }

    /// The lowest sixteen bits of every unit, in two registers.
    #[inline(always)]
    unsafe fn low_units(&self) -> [__m128i; 2] {
        let [own, second, third] = self.bits;
        joined(own, second, third)
    }
}

/// The bytes 80 to BF: all bits or none.
#[inline(always)]
unsafe fn continuations(bytes: __m128i) -> __m128i {
    _mm_cmpgt_epi8(_mm_set1_epi8(0xC0_u8 as i8), bytes)
}

/// The bits of ASCII and of continuation bytes, without the mark 80 of the latter; 40 is not set in them.
#[inline(always)]
unsafe fn without_mark(bytes: __m128i) -> __m128i {
    _mm_and_si128(bytes, _mm_set1_epi8(0x7F))
}

/// [`WindowWriter::utf16`](crate::kernel::window::WindowWriter::utf16).
///
/// # Safety
/// The same, on a processor with SSE4.1 or NEON.
#[inline(always)]
pub(super) unsafe fn utf16(from: *const u8, first: bool, places: Places, start: *mut u16) -> *mut u16 {
    let any = places.any();
    let has_pairs = places.third_of_4 | places.last_of_4 != 0;
    let mut to = start;
    for part in 0..WINDOW / REGISTER {
        // SAFETY: the same contract; every write is a register from the end of at most 64 units on.
        unsafe {
            let parts = Parts::of(from, first, part);
            let [low, high] = if has_pairs { parts.with_surrogates() } else { parts.low_units() };
            let mask = any >> (REGISTER * part);
            to = OF_16.write(low, mask, to);
            to = OF_16.write(high, mask >> 8, to);
        }
    }
    // SAFETY: a unit was written for each place.
    unsafe { replace(places.replaced, any, 0xFFFD, start) };
    to
}

/// [`WindowWriter::utf32`](crate::kernel::window::WindowWriter::utf32).
///
/// # Safety
/// The same, on a processor with SSE4.1 or NEON.
#[inline(always)]
pub(super) unsafe fn utf32(from: *const u8, first: bool, places: Places, start: *mut u32) -> *mut u32 {
    let any = places.last | places.replaced;
    let mut to = start;
    for part in 0..WINDOW / REGISTER {
        // SAFETY: the same contract; every write is a register from the end of at most 64 units on.
        unsafe {
            let parts = Parts::of(from, first, part);
            let [low, high] = parts.low_units();
            let upper = parts.upper_bits();
            let zero = _mm_setzero_si128();
            let mask = any >> (REGISTER * part);
            let uppers = [_mm_unpacklo_epi8(upper, zero), _mm_unpackhi_epi8(upper, zero)];
            for (half, (low, upper)) in [low, high].into_iter().zip(uppers).enumerate() {
                let mask = mask >> (8 * half);
                to = OF_32.write(_mm_unpacklo_epi16(low, upper), mask, to);
                to = OF_32.write(_mm_unpackhi_epi16(low, upper), mask >> 4, to);
            }
        }
    }
    // SAFETY: a unit was written for each place.
    unsafe { replace(places.replaced, any, 0xFFFD, start) };
    to
}

/// Overwrites the units of the places in `replaced`, which are among `any`.
///
/// # Safety
/// From `start` on a unit was written for each of `any`.
#[inline(always)]
unsafe fn replace<U: Copy>(mut replaced: u64, any: u64, unit: U, start: *mut U) {
    while replaced != 0 {
        let before = any & ((1 << replaced.trailing_zeros()) - 1);
        // SAFETY: one unit was written for each place before this one, and one for it.
        unsafe { start.add(before.count_ones() as usize).write(unit) };
        replaced &= replaced - 1;
    }
}

/// Bytes that are validated, and then written while they are in the nearest cache: 256 windows.
const STRETCH: usize = 0x4000;

// `padded_text` asks for two windows more than there are bytes, and up to 63 units of zeros.
const _: () = assert!(3 * WINDOW <= MARGIN);

/// Writes `bytes` as UTF-16 or UTF-32, with U+FFFD for every maximal subpart: writes ASCII; validates a stretch of anything else and
/// writes it as text; at an error, decodes windows until some in a row have none.
///
/// # Safety
/// The processor has the instructions of `V`, and SSE4.1 or NEON.
#[inline(always)]
pub(super) unsafe fn append<F: Form<Unit: Unit>, V: Partial + OfThree>(bytes: &[u8], out: &mut Room<'_, F::Unit>) {
    let mut at = 0;
    let mut patience = 0;
    // At least `READ` bytes follow every window.
    while bytes.len() - at > 2 * READ {
        let most = (bytes.len() - at - READ) / WINDOW;
        // ASCII needs no validation.
        // SAFETY: there is room for two windows more than are read.
        unsafe {
            let to = out.next((most + 2) * WINDOW);
            let passed = ascii_run::<F, V>(bytes.as_ptr().add(at), most, to);
            out.end_at(to.add(passed * WINDOW), 0);
            at += passed * WINDOW;
            if passed == most {
                break;
            }
        }
        let stretch = &bytes[at..(bytes.len() - READ).min(at + STRETCH)];
        // SAFETY: the instructions are all it requires.
        let good = unsafe { well_formed_prefix::<V, true>(stretch) };
        // The byte after the windows is text, too.
        let count = good.saturating_sub(1) / WINDOW;
        if count > 0 {
            // SAFETY: there is room for two windows more than are written. The windows end before the end of the stretch, after
            // which `READ` bytes follow. They begin with a sequence, since some bytes are good. A high surrogate that is taken
            // back was written by the last window.
            unsafe {
                let to = text::<F, V>(bytes.as_ptr().add(at), count, out.next((count + 2) * WINDOW));
                at += count * WINDOW;
                // The last window may end inside a sequence, which is decoded again with the rest of it. If three of its bytes
                // are here, its high surrogate is written already.
                let begun = pending(bytes, at);
                out.end_at(to, usize::from(F::PAIRS && begun == 3));
                at -= begun;
            }
            // At most three bytes are left of a sequence that ends after the stretch.
            if stretch.len() - good <= 3 {
                continue;
            }
        }
        patience = window::patience(patience, good, window::CLOSE);
        let stretch = &bytes[at..bytes.len().min(at + STRETCH + READ)];
        if stretch.len() >= READ + WINDOW {
            // SAFETY: the instructions; there are as many bytes as it requires.
            at += unsafe { windows::<F, V>(stretch, patience, out) };
        }
    }
    let rest = &bytes[at..];
    // SAFETY: the instructions are all that is required; at most `2 * READ` bytes are left.
    unsafe {
        if well_formed_prefix::<V, true>(rest) == rest.len() {
            padded_text::<F, V>(rest, out);
        } else {
            padded::<F, V>(rest, out);
        }
    }
}

/// Writes at most `2 * READ` bytes of text.
///
/// # Safety
/// The processor has the instructions of `V`, and SSE4.1 or NEON; the bytes are well-formed.
#[inline(always)]
unsafe fn padded_text<F: Form<Unit: Unit>, V: Partial + OfThree>(bytes: &[u8], out: &mut Room<'_, F::Unit>) {
    let mut copy = [0; 4 * READ];
    copy[..2 * READ][..bytes.len()].copy_from_slice(bytes);
    let count = bytes.len().div_ceil(WINDOW);
    // SAFETY: there is room for two windows more than are written. They are at most four windows, after which `2 * READ` bytes
    // follow, all of them text. Each zero after the input was written as one unit.
    unsafe {
        let to = text::<F, V>(copy.as_ptr(), count, out.next((count + 2) * WINDOW));
        out.end_at(to, count * WINDOW - bytes.len());
    }
}

/// Registers that write eight sequences of three bytes, of text, as units. Those for bytes that are not such a sequence may be
/// any units.
///
/// # Safety
/// An implementation writes eight units and nothing else. Every function may be called only where they can be written and 24
/// bytes read, on a processor with the instructions of the implementing file.
pub(super) unsafe trait OfThree: WindowWriter {
    unsafe fn utf16_of_three(from: *const u8, to: *mut u16);
    unsafe fn utf32_of_three(from: *const u8, to: *mut u32);
}

/// A code unit that [`text`] writes.
///
/// # Safety
/// An implementation writes only within what can be written, and returns the end of one unit for each of the lowest sixteen bits
/// of `places`, or of `places | thirds`, all of them written.
pub(super) unsafe trait Unit: Copy {
    /// Writes the units that the bytes at `places` end, where two registers hold the lowest sixteen bits of each, and returns
    /// their end. No sequence has four bytes.
    ///
    /// # Safety
    /// The processor has SSE4.1 or NEON; sixteen units, and a register, can be written.
    unsafe fn write(units: [__m128i; 2], places: u64, to: *mut Self) -> *mut Self;

    /// The same with sequences of four bytes. `thirds` are their third bytes.
    ///
    /// # Safety
    /// The same.
    unsafe fn write_any(parts: &Parts, places: u64, thirds: u64, to: *mut Self) -> *mut Self;

    /// Writes eight sequences of three bytes: calls the function of [`OfThree`].
    ///
    /// # Safety
    /// As of that.
    unsafe fn write_of_three<V: OfThree>(from: *const u8, to: *mut Self);
}

// SAFETY: `to` moves by one unit for each of sixteen places; `places` and `thirds` have sixteen together.
unsafe impl Unit for u16 {
    #[inline(always)]
    unsafe fn write([low, high]: [__m128i; 2], places: u64, to: *mut Self) -> *mut Self {
        // SAFETY: the same contract; the second begins at most eight units on.
        unsafe {
            let to = OF_16.write(low, places, to);
            OF_16.write(high, places >> 8, to)
        }
    }

    #[inline(always)]
    unsafe fn write_of_three<V: OfThree>(from: *const u8, to: *mut Self) {
        // SAFETY: the same contract.
        unsafe { V::utf16_of_three(from, to) }
    }

    #[inline(always)]
    unsafe fn write_any(parts: &Parts, places: u64, thirds: u64, to: *mut Self) -> *mut Self {
        // SAFETY: the same contract.
        unsafe { Self::write(parts.with_surrogates(), places | thirds, to) }
    }
}

// SAFETY: `to` moves by one unit for each of sixteen places.
unsafe impl Unit for u32 {
    #[inline(always)]
    unsafe fn write([low, high]: [__m128i; 2], places: u64, to: *mut Self) -> *mut Self {
        // SAFETY: the same contract; the second begins at most eight units on.
        unsafe {
            let to = write_eight_of_32(low, None, places, to);
            write_eight_of_32(high, None, places >> 8, to)
        }
    }

    #[inline(always)]
    unsafe fn write_of_three<V: OfThree>(from: *const u8, to: *mut Self) {
        // SAFETY: the same contract.
        unsafe { V::utf32_of_three(from, to) }
    }

    #[inline(always)]
    unsafe fn write_any(parts: &Parts, places: u64, _: u64, to: *mut Self) -> *mut Self {
        let zero = _mm_setzero_si128();
        // SAFETY: the same contract; the second begins at most eight units on.
        unsafe {
            let ([low, high], upper) = (parts.low_units(), parts.upper_bits());
            let to = write_eight_of_32(low, Some(_mm_unpacklo_epi8(upper, zero)), places, to);
            write_eight_of_32(high, Some(_mm_unpackhi_epi8(upper, zero)), places >> 8, to)
        }
    }
}

/// Writes those of eight units whose places are set, by their lowest sixteen bits and the others, if there are any, and returns
/// their end. Both are compressed before they are joined, which takes half as many shuffles.
///
/// # Safety
/// The processor has SSE4.1 or NEON; eight units can be written.
#[inline(always)]
unsafe fn write_eight_of_32(low: __m128i, upper: Option<__m128i>, places: u64, to: *mut u32) -> *mut u32 {
    let kept = &OF_16.0[places as usize % 256];
    // SAFETY: the same contract; the places are aligned. Eight units are written, and at most eight kept.
    unsafe {
        let order = _mm_load_si128(kept.places.as_ptr().cast());
        let low = _mm_shuffle_epi8(low, order);
        let upper = upper.map_or(_mm_setzero_si128(), |upper| _mm_shuffle_epi8(upper, order));
        _mm_storeu_si128(to.cast(), _mm_unpacklo_epi16(low, upper));
        _mm_storeu_si128(to.add(4).cast(), _mm_unpackhi_epi16(low, upper));
        to.add(usize::from(kept.lanes))
    }
}

/// Runs a block for each part of a window. A loop would not be unrolled, and would decide four times whether the part is the
/// first of a text.
macro_rules! for_each_part {
    ($part:ident => $block:block) => {
        for_each_part!(@ $part $block 0 1 2 3)
    };
    (@ $part:ident $block:block $($index:literal)*) => {
        $({
            let $part: usize = $index;
            $block
        })*
    };
}

/// The continuation bytes of a window where all sequences have three bytes, by how many of them it begins with.
const OF_THREE: [u64; 4] = [0x6DB6_DB6D_B6DB_6DB6, 0xDB6D_B6DB_6DB6_DB6D, 0xB6DB_6DB6_DB6D_B6DB, 0];

/// Writes windows of text that is known to be well-formed, and returns the end of the units: those that end in these windows.
///
/// ```text
/// ASCII                          widened
/// sequences of three bytes only  combined where they are, without a table
/// anything else                  every byte's unit is computed; those that end no sequence are left out
/// ```
///
/// No window waits for the one before: what it needs of the bytes before, it reads again.
///
/// # Safety
/// The processor has the instructions of `V`, and SSE4.1 or NEON. The windows and `READ` bytes after them can be read. The windows
/// and the byte after them begin well-formed text. `2 * WINDOW` units can be written, and one for each byte.
#[inline(always)]
unsafe fn text<F: Form<Unit: Unit>, V: OfThree>(from: *const u8, count: usize, mut to: *mut F::Unit) -> *mut F::Unit {
    // SAFETY: every read is in a window, up to four bytes before one that is not the first, or up to `WINDOW` bytes after one.
    // At most a unit is kept for each byte, and at most `2 * WINDOW` units are written from the end of those.
    unsafe {
        let mut continuation = V::continuations_of(from);
        let (mut index, mut was_three) = (0, false);
        while index < count {
            let here = hidden(from.add(index * WINDOW));
            let next = V::continuations_of(here.add(WINDOW));
            let this = core::mem::replace(&mut continuation, next);
            let last = !(this >> 1 | next << 63);
            index += 1;
            // The last byte may be a lead.
            if this == 0 {
                F::widen::<V>(here, 0, to);
                let kept = WINDOW - (next & 1) as usize;
                to = to.add(kept);
                if kept == WINDOW {
                    let passed = ascii_run::<F, V>(from.add(index * WINDOW), count - index, to);
                    if passed > 0 {
                        (index, to) = (index + passed, to.add(passed * WINDOW));
                        continuation = V::continuations_of(from.add(index * WINDOW));
                    }
                }
                continue;
            }
            // Where all sequences have three bytes, the continuation bytes have a period of three. That alone decides for most
            // windows, without a look into the table. The last sequence may go on after the window, whatever its length. One that
            // began before must have three bytes.
            let begun = this.trailing_ones() as usize % 4;
            let is_three = (this ^ this >> 3) << 3 == 0
                && this == OF_THREE[begun]
                && next & 1 == u64::from(begun != 1)
                && (begun == 0 || *here.add(begun).sub(3) & 0xF0 == 0xE0);
            // A single such window among others would be a mispredicted branch, so the window before must be one, too.
            if core::mem::replace(&mut was_three, is_three) && is_three {
                let start = if begun == 0 { here } else { here.add(begun).sub(3) };
                for part in 0..3 {
                    F::Unit::write_of_three::<V>(start.add(24 * part), to.add(8 * part));
                }
                to = to.add(last.count_ones() as usize);
                continue;
            }
            // No sequence continues in the first window, whatever is before it.
            let first = index == 1;
            // With the three bytes before, where a sequence may begin that ends here.
            let mut highest = V::load(if first { here } else { here.sub(3) });
            for part in 0..WINDOW / V::LEN {
                highest = highest.max(V::load(here.add(V::LEN * part)));
            }
            if highest.is_below(0xE0) {
                for part in 0..WINDOW / REGISTER {
                    to = F::Unit::write(units_of_two(here, first, part), last >> (REGISTER * part), to);
                }
                continue;
            }
            if highest.is_below(0xF0) {
                for_each_part!(part => {
                    to = F::Unit::write(units_of_three(here, first, part), last >> (REGISTER * part), to);
                });
                continue;
            }
            let before = if first { 0 } else { here.sub(4).cast::<u32>().read_unaligned().swap_bytes() & 0xFF_FFFF };
            // Which of the three bytes before are F0 or above: the highest bit of each.
            let above_f0 = before & before << 1 & before << 2 & before << 3 & 0x80_8080;
            let fours = V::leads_of_4_of(here);
            let of_before = u64::from(above_f0 >> 23 | above_f0 >> 14 & 2 | above_f0 >> 5 & 4);
            let mut left = Left { fours: of_before, continuation: u64::from(before & 0xC0 == 0x80) };
            let places = Places::of_text(this, last, fours, &mut left);
            let thirds = places.third_of_4;
            for_each_part!(part => {
                let parts = Parts::of(here, first, part);
                to = F::Unit::write_any(&parts, last >> (REGISTER * part), thirds >> (REGISTER * part), to);
            });
        }
        to
    }
}

/// The bytes from `first` on: all bits or none.
#[inline(always)]
unsafe fn at_least(bytes: __m128i, first: u8) -> __m128i {
    _mm_cmpeq_epi8(_mm_max_epu8(bytes, _mm_set1_epi8(first as i8)), bytes)
}

/// The units that the bytes of a register end, where no sequence is longer than two bytes.
///
/// # Safety
/// As of [`Parts::of`].
#[inline(always)]
unsafe fn units_of_two(from: *const u8, first: bool, part: usize) -> [__m128i; 2] {
    // SAFETY: part `p` reads `16 * p..16 * (p + 1)` of the window, and a byte before unless it is the first.
    let (bytes, before) = unsafe {
        let from = hidden(from.add(REGISTER * part));
        let bytes = _mm_loadu_si128(from.cast());
        (bytes, if first && part == 0 { _mm_slli_si128::<1>(bytes) } else { _mm_loadu_si128(from.sub(1).cast()) })
    };
    let is_continuation = continuations(bytes);
    let own = without_mark(bytes);
    let second = _mm_and_si128(_mm_and_si128(before, is_continuation), _mm_set1_epi8(0x1F));
    joined(own, second, _mm_setzero_si128())
}

/// The units that the bytes of a register end, where no sequence is longer than three bytes.
///
/// # Safety
/// As of [`Parts::of`]. The bytes are text.
#[inline(always)]
unsafe fn units_of_three(from: *const u8, first: bool, part: usize) -> [__m128i; 2] {
    // SAFETY: part `p` reads `16 * p..16 * (p + 1)` of the window, and two bytes before unless it is the first.
    let [bytes, one, two] = unsafe {
        let from = hidden(from.add(REGISTER * part));
        let bytes = _mm_loadu_si128(from.cast());
        if first && part == 0 {
            [bytes, _mm_slli_si128::<1>(bytes), _mm_slli_si128::<2>(bytes)]
        } else {
            [bytes, _mm_loadu_si128(from.sub(1).cast()), _mm_loadu_si128(from.sub(2).cast())]
        }
    };
    let own = without_mark(bytes);
    let second = _mm_and_si128(_mm_and_si128(one, _mm_set1_epi8(0x3F)), continuations(bytes));
    // Two bytes before the end of a sequence of text, only its own lead can be E0 or above; all else becomes zero.
    let third = _mm_subs_epu8(two, _mm_set1_epi8(0xE0_u8 as i8));
    joined(own, second, third)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compression_keeps_the_lanes_of_the_mask() {
        fn check<const MASKS: usize>(compression: &Compression<MASKS>, lane: usize) {
            for mask in 0..MASKS {
                let kept = (0..REGISTER / lane).filter(|at| mask >> at & 1 == 1);
                let expected: Vec<u8> = kept.flat_map(|at| (at * lane..(at + 1) * lane).map(|at| at as u8)).collect();
                let kept = &compression.0[mask];
                assert_eq!(kept.places[..expected.len()], expected, "{mask:b}");
                assert_eq!(usize::from(kept.lanes), mask.count_ones() as usize);
            }
        }
        check::<256>(&Compression::of::<2>(), 2);
        check::<16>(&Compression::of::<4>(), 4);
    }
}
