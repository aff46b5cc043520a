//! SSE4.1: registers of 16 bytes.
//!
//! `check` is the lookup of J. Keiser and D. Lemire, "Validating UTF-8 in less than one instruction per byte" (2021), with other
//! indices. Three tables of sixteen entries hold one bit for each rule; a rule is broken where its bit is set in all three entries.
//! The rules are about two bytes. To apply them to longer sequences, the bytes two and three places earlier are lowered, so that a
//! lead whose sequence reaches this byte becomes a lead of two bytes and any other byte none; the highest of the three counts as the
//! byte before.
//!
//! ```text
//! bytes                       E2 82 AC A9
//! one before                   . E2 82 AC
//! two before, less 20          .  . C2 62
//! three before, less 30        .  .  . B2
//! highest                      . E2 C2 B2     a lead before 82 and before AC
//! errors                       .  .  .  1     A9 continues nothing
//! ```
//!
//! `check_pairs` needs no tables: after a lead, C2 or above, a byte must be in 80..BF; anywhere else it must not be in 80..C1.
//!
//! A register costs three shuffles and about fifteen other operations. SSE4.1 is needed for `ptest`; `pshufb` is older.
#![allow(
    unsafe_op_in_unsafe_fn,
    reason = "register intrinsics need the instructions only, as the contract of `Vector` states once"
)]

use crate::kernel::compress::{self, OfThree};
use crate::kernel::info::Path;
use crate::kernel::to_utf8::{OF_EIGHT, SequenceWriter, pack};
use crate::kernel::validate::{
    BELOW_FIRST_LEAD, FINISHED, LOWERED, NIBBLES, Nibbles, Partial, REFUSED, path_of_words, prefix_of_words,
};
use crate::kernel::vector::Vector;
use crate::kernel::window::{Places, WindowWriter};
use core::arch::x86_64::*;

/// 16 bytes.
#[derive(Clone, Copy)]
pub(super) struct Sse41(pub(super) __m128i);

/// Sixteen entries.
#[inline(always)]
unsafe fn table(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: reads the 16 bytes of the array.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[inline(always)]
unsafe fn high_nibbles(bytes: __m128i) -> __m128i {
    _mm_and_si128(_mm_srli_epi16(bytes, 4), _mm_set1_epi8(0x0F))
}

/// The rules of [`NIBBLES`] that `bytes` break, one bit each. `highest` selects from the first table, `before` from the second.
#[inline(always)]
unsafe fn table_errors(highest: __m128i, before: __m128i, bytes: __m128i) -> __m128i {
    let Nibbles { high, low, next } = &NIBBLES;
    let high = _mm_shuffle_epi8(table(high), high_nibbles(highest));
    let low = _mm_shuffle_epi8(table(low), _mm_subs_epu8(before, _mm_set1_epi8(BELOW_FIRST_LEAD)));
    let next = _mm_shuffle_epi8(table(next), high_nibbles(bytes));
    _mm_and_si128(_mm_and_si128(high, low), next)
}

/// The scalar values of four sequences of three bytes of text, of which the first begins at byte `AT`, 0 or 4.
#[inline(always)]
unsafe fn four_of_three<const AT: i8>(bytes: __m128i) -> __m128i {
    // Third, second and first byte of each.
    let [a, b, c, d] = [AT, AT + 3, AT + 6, AT + 9];
    let order = _mm_setr_epi8(a + 2, a + 1, a, -1, b + 2, b + 1, b, -1, c + 2, c + 1, c, -1, d + 2, d + 1, d, -1);
    let bits = _mm_and_si128(_mm_shuffle_epi8(bytes, order), _mm_set1_epi32(0x000F_3F3F));
    // The second byte counts 40, then the first counts 1000.
    let pairs = _mm_maddubs_epi16(bits, _mm_set1_epi32(0x0001_4001));
    _mm_madd_epi16(pairs, _mm_set1_epi32(0x1000_0001))
}

// SAFETY: it is an `__m128i`, 16 bytes; `crates/core/tests/kernels.rs` compares the results with those of portable code.
unsafe impl Vector for Sse41 {
    const LEN: usize = 16;
    const NAME: &'static str = "sse41";
    type Errors = Self;
    type Far = Self;

    #[inline(always)]
    unsafe fn no_errors() -> Self {
        Self(_mm_setzero_si128())
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: reads `LEN` bytes at `from`, as the contract says; no alignment is needed.
        unsafe { Self(_mm_loadu_si128(from.cast())) }
    }

    #[inline(always)]
    unsafe fn load_aligned(from: *const u8) -> Self {
        // SAFETY: reads `LEN` bytes at `from`, which is a multiple of `LEN`, as the contract says.
        unsafe { Self(_mm_load_si128(from.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: writes `LEN` bytes at `to`, as the contract says; no alignment is needed.
        unsafe { _mm_storeu_si128(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        Self(_mm_or_si128(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn zero() -> Self {
        Self(_mm_setzero_si128())
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        Self(_mm_max_epu8(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn is_below(self, limit: u8) -> bool {
        !Self::has_error(Self(_mm_subs_epu8(self.0, _mm_set1_epi8((limit - 1) as i8))))
    }

    #[inline(always)]
    unsafe fn is_ascii(self) -> bool {
        _mm_movemask_epi8(self.0) == 0
    }

    #[inline(always)]
    unsafe fn shift_in(self) -> [Self; 3] {
        [Self(_mm_bslli_si128::<1>(self.0)), Self(_mm_bslli_si128::<2>(self.0)), Self(_mm_bslli_si128::<3>(self.0))]
    }

    #[inline(always)]
    unsafe fn check(self, [one, two, three]: [Self; 3], errors: Self) -> Self {
        let two = _mm_subs_epu8(two.0, _mm_set1_epi8(LOWERED[0]));
        let three = _mm_subs_epu8(three.0, _mm_set1_epi8(LOWERED[1]));
        let highest = _mm_max_epu8(_mm_max_epu8(two, three), one.0);
        Self(_mm_or_si128(errors.0, table_errors(highest, one.0, self.0)))
    }

    #[inline(always)]
    unsafe fn check_pairs(self, one: Self, errors: Self) -> Self {
        let needed = _mm_cmpgt_epi8(_mm_subs_epu8(one.0, _mm_set1_epi8(0xC1_u8 as i8)), _mm_setzero_si128());
        // After a lead a byte must be in 80..BF; after any other byte it must not be in 80..C1. As signed numbers, bytes from 80 on
        // are the lowest, so one comparison with C0 or C2 finds either range.
        let limit = _mm_or_si128(_mm_andnot_si128(needed, _mm_set1_epi8(2)), _mm_set1_epi8(0xC0_u8 as i8));
        let below = _mm_cmpgt_epi8(limit, self.0);
        Self(_mm_or_si128(errors.0, _mm_xor_si128(below, needed)))
    }

    #[inline(always)]
    unsafe fn has_error(errors: Self) -> bool {
        _mm_testz_si128(errors.0, errors.0) == 0
    }

    #[inline(always)]
    unsafe fn error_mask(errors: Self) -> u64 {
        u64::from(u16::MAX) ^ Self(_mm_cmpeq_epi8(errors.0, _mm_setzero_si128())).movemask()
    }

    #[inline(always)]
    unsafe fn is_complete(self, errors: Self) -> bool {
        // SAFETY: reads the last 16 bytes of the table, which has 64.
        let finished = unsafe { Self::load(FINISHED[48..].as_ptr()).0 };
        !Self::has_error(Self(_mm_or_si128(errors.0, _mm_subs_epu8(self.0, finished))))
    }

    #[inline(always)]
    unsafe fn shl1(self) -> Self {
        Self(_mm_add_epi8(self.0, self.0))
    }

    #[inline(always)]
    unsafe fn movemask(self) -> u64 {
        u64::from(_mm_movemask_epi8(self.0) as u16)
    }

    #[inline(always)]
    unsafe fn continuations(self) -> u64 {
        // As signed numbers they are the lowest.
        Self(_mm_cmpgt_epi8(_mm_set1_epi8(0xC0_u8 as i8), self.0)).movemask()
    }

    #[inline(always)]
    unsafe fn refused(self, next: Self) -> u64 {
        Self::error_mask(Self(_mm_and_si128(table_errors(self.0, self.0, next.0), _mm_set1_epi8(REFUSED as i8))))
    }
}

/// [`SequenceWriter::write_sixteen_bytes`].
///
/// # Safety
/// The same, on a processor with SSE4.1.
#[inline(always)]
pub(super) unsafe fn write_sixteen_bytes(bytes: __m128i, to: *mut u8) -> *mut u8 {
    // C2 for 80 to BF, which as signed numbers are the lowest, and C3 for C0 to FF.
    let leads = _mm_add_epi8(_mm_cmpgt_epi8(_mm_set1_epi8(0xC0_u8 as i8), bytes), _mm_set1_epi8(0xC3_u8 as i8));
    let first = _mm_blendv_epi8(bytes, leads, bytes);
    let second = _mm_and_si128(bytes, _mm_set1_epi8(0xBF_u8 as i8));
    let of_two = _mm_movemask_epi8(bytes) as usize;
    // SAFETY: the same contract; half of the bytes make a register at most.
    unsafe {
        let to = pack(_mm_unpacklo_epi8(first, second), &OF_EIGHT, of_two, to);
        pack(_mm_unpackhi_epi8(first, second), &OF_EIGHT, of_two >> 8, to)
    }
}

// SAFETY: what it adds to the trait returns the end of the sequences.
unsafe impl SequenceWriter for Sse41 {
    #[inline(always)]
    unsafe fn write_sixteen_bytes(bytes: __m128i, to: *mut u8) -> *mut u8 {
        // SAFETY: the same contract.
        unsafe { write_sixteen_bytes(bytes, to) }
    }
}

// SAFETY: no function accesses memory beyond what its contract allows, as its comments show; `to` moves by one unit for each place, or as `replace` states.
unsafe impl WindowWriter for Sse41 {
    #[inline(always)]
    unsafe fn ascii_to_16(from: *const u8, to: *mut u16) -> bool {
        // SAFETY: reads four registers and writes eight.
        unsafe {
            let parts = [0, 16, 32, 48].map(|at| Self::load(from.add(at)));
            let [a, b, c, d] = parts;
            if !a.or(b).or(c.or(d)).is_ascii() {
                return false;
            }
            for (part, bytes) in parts.into_iter().enumerate() {
                let zero = _mm_setzero_si128();
                _mm_storeu_si128(to.add(16 * part).cast(), _mm_unpacklo_epi8(bytes.0, zero));
                _mm_storeu_si128(to.add(16 * part + 8).cast(), _mm_unpackhi_epi8(bytes.0, zero));
            }
            true
        }
    }

    #[inline(always)]
    unsafe fn ascii_to_32(from: *const u8, to: *mut u32) -> bool {
        // SAFETY: quarter `q` reads 16 bytes at `from + 16 * q` and writes 16 units at `to + 16 * q`.
        unsafe {
            let quarters = [0, 16, 32, 48].map(|at| Self::load(from.add(at)));
            let [a, b, c, d] = quarters;
            if !a.or(b).or(c.or(d)).is_ascii() {
                return false;
            }
            for (quarter, Self(bytes)) in quarters.into_iter().enumerate() {
                let to = to.add(16 * quarter);
                _mm_storeu_si128(to.cast(), _mm_cvtepu8_epi32(bytes));
                _mm_storeu_si128(to.add(4).cast(), _mm_cvtepu8_epi32(_mm_srli_si128::<4>(bytes)));
                _mm_storeu_si128(to.add(8).cast(), _mm_cvtepu8_epi32(_mm_srli_si128::<8>(bytes)));
                _mm_storeu_si128(to.add(12).cast(), _mm_cvtepu8_epi32(_mm_srli_si128::<12>(bytes)));
            }
            true
        }
    }

    #[inline(always)]
    unsafe fn utf16(from: *const u8, first: bool, places: Places, to: *mut u16) -> *mut u16 {
        // SAFETY: the same contract.
        unsafe { compress::utf16(from, first, places, to) }
    }

    #[inline(always)]
    unsafe fn utf32(from: *const u8, first: bool, places: Places, to: *mut u32) -> *mut u32 {
        // SAFETY: the same contract.
        unsafe { compress::utf32(from, first, places, to) }
    }
}

// SAFETY: eight units are written.
unsafe impl OfThree for Sse41 {
    #[inline(always)]
    unsafe fn utf16_of_three(from: *const u8, to: *mut u16) {
        // SAFETY: reads the first and the last sixteen of 24 bytes.
        unsafe {
            let first = four_of_three::<0>(_mm_loadu_si128(from.cast()));
            let last = four_of_three::<4>(_mm_loadu_si128(from.add(8).cast()));
            _mm_storeu_si128(to.cast(), _mm_packus_epi32(first, last));
        }
    }

    #[inline(always)]
    unsafe fn utf32_of_three(from: *const u8, to: *mut u32) {
        // SAFETY: reads the first and the last sixteen of 24 bytes.
        unsafe {
            _mm_storeu_si128(to.cast(), four_of_three::<0>(_mm_loadu_si128(from.cast())));
            _mm_storeu_si128(to.add(4).cast(), four_of_three::<4>(_mm_loadu_si128(from.add(8).cast())));
        }
    }
}

// SAFETY: the result is that of `prefix_of_words`.
unsafe impl Partial for Sse41 {
    fn partial_path(len: usize) -> Path {
        path_of_words::<Self>(len)
    }

    #[inline(always)]
    unsafe fn partial_prefix(bytes: &[u8]) -> usize {
        prefix_of_words(bytes, |[low, high]| Self(_mm_set_epi64x(high as i64, low as i64)))
    }
}
