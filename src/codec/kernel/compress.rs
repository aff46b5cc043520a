//! The units of a window of UTF-8 as UTF-16 and UTF-32, for SSE4.1 and AVX2, which have no instruction that compresses.
//!
//! # Idea
//!
//! For every byte the unit is computed that it would end, of the byte and up to three before it; a shuffle, looked up by the
//! places where units are written, moves the others out:
//!
//! ```text
//! bytes     61   C3   A9   E4   B8   96
//! units     0061 C3.. 00E9 E4.. 0138 4E16      two dots: undefined
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
//! Sixteen bytes take some forty instructions, whatever their text; twice as many for UTF-32.
#![allow(
    unsafe_op_in_unsafe_fn,
    reason = "register intrinsics need the instructions only, as the contract of each function states"
)]

use crate::codec::kernel::window::{Places, WINDOW};
use core::arch::x86_64::*;

const REGISTER: usize = 16;

/// By a mask of lanes of `LANE` bytes: the bytes of these lanes, in order, and how many lanes those are.
struct Compression<const MASKS: usize> {
    places: [[u8; REGISTER]; MASKS],
    lanes: [u8; MASKS],
}

impl<const MASKS: usize> Compression<MASKS> {
    const fn of<const LANE: usize>() -> Self {
        let mut compression = Self { places: [[0x80; REGISTER]; MASKS], lanes: [0; MASKS] };
        let mut mask = 0;
        while mask < MASKS {
            let (mut lane, mut to) = (0, 0);
            while lane < REGISTER / LANE {
                let mut byte = 0;
                while mask >> lane & 1 == 1 && byte < LANE {
                    compression.places[mask][to * LANE + byte] = (lane * LANE + byte) as u8;
                    byte += 1;
                }
                to += mask >> lane & 1;
                lane += 1;
            }
            compression.lanes[mask] = to as u8;
            mask += 1;
        }
        compression
    }

    /// Writes the lanes of a mask, of which only the lowest bits count, and returns their end.
    ///
    /// # Safety
    /// The processor has SSE4.1; a register can be written at `to`.
    #[inline(always)]
    unsafe fn write<U>(&self, lanes: __m128i, mask: u64, to: *mut U) -> *mut U {
        let mask = mask as usize % MASKS;
        // SAFETY: reads an entry of the table; writes a register, of which at most as many lanes are kept as it has.
        unsafe {
            let places = _mm_loadu_si128(self.places[mask].as_ptr().cast());
            _mm_storeu_si128(to.cast(), _mm_shuffle_epi8(lanes, places));
            to.add(usize::from(self.lanes[mask]))
        }
    }
}

static OF_16: Compression<256> = Compression::of::<2>();
static OF_32: Compression<16> = Compression::of::<4>();

/// A register of bytes, and for each byte what it and those before it add to the unit it ends.
struct Parts {
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
    /// The processor has SSE4.1; the window can be read, and the three bytes before it unless it is the first.
    #[inline(always)]
    unsafe fn of(from: *const u8, first: bool, part: usize) -> Self {
        // SAFETY: part `p` reads `16 * p..16 * (p + 1)` of the window, and up to three bytes before.
        let [this, one, two, three] = unsafe {
            let from = from.add(REGISTER * part);
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
        let own = _mm_blendv_epi8(this, _mm_and_si128(this, low), is_continuation);
        let second = _mm_and_si128(_mm_and_si128(one, low), is_continuation);
        let third = _mm_and_si128(two, continued);
        Self { bits: [own, second, third], continued, before: [two, three] }
    }

    /// The lowest sixteen bits of every unit, in two registers.
    #[inline(always)]
    unsafe fn low_units(&self) -> [__m128i; 2] {
        let zero = _mm_setzero_si128();
        let [own, second, third] = self.bits;
        let join = |own, second, third| {
            _mm_or_si128(_mm_or_si128(own, _mm_slli_epi16::<6>(second)), _mm_slli_epi16::<4>(third))
        };
        [
            join(_mm_unpacklo_epi8(own, zero), _mm_unpacklo_epi8(second, zero), _mm_unpacklo_epi8(zero, third)),
            join(_mm_unpackhi_epi8(own, zero), _mm_unpackhi_epi8(second, zero), _mm_unpackhi_epi8(zero, third)),
        ]
    }
}

/// The bytes 80 to BF: all bits or none.
#[inline(always)]
unsafe fn continuations(bytes: __m128i) -> __m128i {
    _mm_cmpgt_epi8(_mm_set1_epi8(0xC0_u8 as i8), bytes)
}

/// [`WindowWriter::utf16`](crate::codec::kernel::window::WindowWriter::utf16).
///
/// # Safety
/// The same, on a processor with SSE4.1.
#[inline(always)]
pub(super) unsafe fn utf16(from: *const u8, first: bool, places: Places, start: *mut u16) -> *mut u16 {
    let set = |bits: u16| _mm_set1_epi16(bits as i16);
    let any = places.any();
    let has_pairs = places.third_of_4 | places.last_of_4 != 0;
    let mut to = start;
    for part in 0..WINDOW / REGISTER {
        // SAFETY: the same contract; every write is a register from the end of at most 64 units on.
        unsafe {
            let parts = Parts::of(from, first, part);
            let [mut low, mut high] = parts.low_units();
            if has_pairs {
                let [two, _] = parts.before;
                let is_lead_of_4 = _mm_cmpeq_epi8(_mm_max_epu8(two, _mm_set1_epi8(0xF0_u8 as i8)), two);
                let third = _mm_and_si128(parts.continued, is_lead_of_4);
                let fourth = _mm_and_si128(parts.continued, continuations(two));
                let surrogates = |units: __m128i, third: __m128i, fourth: __m128i| {
                    let of_third = _mm_add_epi16(_mm_srli_epi16::<4>(units), set(0xD7C0));
                    let of_fourth = _mm_or_si128(_mm_and_si128(units, set(0x3FF)), set(0xDC00));
                    _mm_blendv_epi8(_mm_blendv_epi8(units, of_third, third), of_fourth, fourth)
                };
                low = surrogates(low, _mm_unpacklo_epi8(third, third), _mm_unpacklo_epi8(fourth, fourth));
                high = surrogates(high, _mm_unpackhi_epi8(third, third), _mm_unpackhi_epi8(fourth, fourth));
            }
            let mask = any >> (REGISTER * part);
            to = OF_16.write(low, mask, to);
            to = OF_16.write(high, mask >> 8, to);
        }
    }
    // SAFETY: a unit was written for each place.
    unsafe { replace(places.replaced, any, 0xFFFD, start) };
    to
}

/// [`WindowWriter::utf32`](crate::codec::kernel::window::WindowWriter::utf32).
///
/// # Safety
/// The same, on a processor with SSE4.1.
#[inline(always)]
pub(super) unsafe fn utf32(from: *const u8, first: bool, places: Places, start: *mut u32) -> *mut u32 {
    let any = places.last | places.replaced;
    let mut to = start;
    for part in 0..WINDOW / REGISTER {
        // SAFETY: the same contract; every write is a register from the end of at most 64 units on.
        unsafe {
            let parts = Parts::of(from, first, part);
            let [low, high] = parts.low_units();
            // The bits from the seventeenth on: the highest two of a continuation byte two places before, and those of the
            // lead three places before.
            let [two, three] = parts.before;
            let fourth = _mm_and_si128(parts.continued, continuations(two));
            let of_two = _mm_and_si128(_mm_srli_epi16::<4>(two), _mm_set1_epi8(3));
            let of_three = _mm_and_si128(_mm_slli_epi16::<2>(three), _mm_set1_epi8(0x1C));
            let upper = _mm_and_si128(_mm_or_si128(of_two, of_three), fourth);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_compression_keeps_the_lanes_of_the_mask() {
        fn check<const MASKS: usize>(compression: &Compression<MASKS>, lane: usize) {
            for mask in 0..MASKS {
                let kept = (0..REGISTER / lane).filter(|at| mask >> at & 1 == 1);
                let expected: Vec<u8> = kept.flat_map(|at| (at * lane..(at + 1) * lane).map(|at| at as u8)).collect();
                assert_eq!(compression.places[mask][..expected.len()], expected, "{mask:b}");
                assert_eq!(usize::from(compression.lanes[mask]), mask.count_ones() as usize);
            }
        }
        check(&OF_16, 2);
        check(&OF_32, 4);
    }
}
