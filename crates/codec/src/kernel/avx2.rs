//! AVX2: registers of 32 bytes, in two halves that shuffles do not cross.
//!
//! `check` and `check_pairs` are those of SSE4.1 (sse41.rs), with each table repeated in both halves.
//!
//! A register costs what one of SSE4.1 costs, for twice the bytes. Where bytes are moved across the halves it takes another
//! instruction, in [`Vector::shift_in`]. Inputs of 4 to 31 bytes are checked by registers of SSE4.1.
#![allow(
    unsafe_op_in_unsafe_fn,
    reason = "register intrinsics need the instructions only, as the contract of `Vector` states once"
)]

use crate::kernel::compress::{self, OfThree};
use crate::kernel::info::Path;
use crate::kernel::sse41::{self, Sse41};
use crate::kernel::to_utf8::{OF_EIGHT, OF_UP_TO_THREE, SequenceWriter, all_of_three, pack};
use crate::kernel::validate::{
    BELOW_FIRST_LEAD, FINISHED, LOWERED, NIBBLES, Nibbles, Partial, REFUSED, path, short_prefix,
};
use crate::kernel::vector::{Vector, hidden};
use crate::kernel::window::{Places, WindowWriter, widen};
use core::arch::x86_64::*;

/// 32 bytes.
#[derive(Clone, Copy)]
pub(super) struct Avx2(pub(super) __m256i);

/// Sixteen entries, once for each half.
#[inline(always)]
unsafe fn table(bytes: &[u8; 16]) -> __m256i {
    // SAFETY: reads the 16 bytes of the array.
    let half = unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) };
    _mm256_broadcastsi128_si256(half)
}

#[inline(always)]
unsafe fn high_nibbles(bytes: __m256i) -> __m256i {
    _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(0x0F))
}

/// The rules of [`NIBBLES`] that `bytes` break, one bit each. `highest` selects from the first table, `before` from the second.
#[inline(always)]
unsafe fn table_errors(highest: __m256i, before: __m256i, bytes: __m256i) -> __m256i {
    let Nibbles { high, low, next } = &NIBBLES;
    let high = _mm256_shuffle_epi8(table(high), high_nibbles(highest));
    let low = _mm256_shuffle_epi8(table(low), _mm256_subs_epu8(before, _mm256_set1_epi8(BELOW_FIRST_LEAD)));
    let next = _mm256_shuffle_epi8(table(next), high_nibbles(bytes));
    _mm256_and_si256(_mm256_and_si256(high, low), next)
}

// SAFETY: it is an `__m256i`, 32 bytes; `crates/core/tests/kernels.rs` compares the results with those of portable code.
unsafe impl Vector for Avx2 {
    const LEN: usize = 32;
    const NAME: &'static str = "avx2";
    type Errors = Self;
    type Far = Self;

    #[inline(always)]
    unsafe fn no_errors() -> Self {
        Self(_mm256_setzero_si256())
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: reads `LEN` bytes at `from`, as the contract says; no alignment is needed.
        unsafe { Self(_mm256_loadu_si256(from.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: writes `LEN` bytes at `to`, as the contract says; no alignment is needed.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        Self(_mm256_or_si256(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn zero() -> Self {
        Self(_mm256_setzero_si256())
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        Self(_mm256_max_epu8(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn is_below(self, limit: u8) -> bool {
        !Self::has_error(Self(_mm256_subs_epu8(self.0, _mm256_set1_epi8((limit - 1) as i8))))
    }

    #[inline(always)]
    unsafe fn is_ascii(self) -> bool {
        _mm256_movemask_epi8(self.0) == 0
    }

    #[inline(always)]
    unsafe fn shift_in(self) -> [Self; 3] {
        // Zeros in the low half, the low half of the bytes in the high one.
        let low = _mm256_permute2x128_si256::<0x08>(self.0, self.0);
        [
            Self(_mm256_alignr_epi8::<15>(self.0, low)),
            Self(_mm256_alignr_epi8::<14>(self.0, low)),
            Self(_mm256_alignr_epi8::<13>(self.0, low)),
        ]
    }

    #[inline(always)]
    unsafe fn check(self, [one, two, three]: [Self; 3], errors: Self) -> Self {
        let two = _mm256_subs_epu8(two.0, _mm256_set1_epi8(LOWERED[0]));
        let three = _mm256_subs_epu8(three.0, _mm256_set1_epi8(LOWERED[1]));
        let highest = _mm256_max_epu8(_mm256_max_epu8(two, three), one.0);
        Self(_mm256_or_si256(errors.0, table_errors(highest, one.0, self.0)))
    }

    #[inline(always)]
    unsafe fn check_pairs(self, one: Self, errors: Self) -> Self {
        let needed =
            _mm256_cmpgt_epi8(_mm256_subs_epu8(one.0, _mm256_set1_epi8(0xC1_u8 as i8)), _mm256_setzero_si256());
        // After a lead a byte must be in 80..BF; after any other byte it must not be in 80..C1. As signed numbers, bytes from 80 on
        // are the lowest, so one comparison with C0 or C2 finds either range.
        let limit = _mm256_or_si256(_mm256_andnot_si256(needed, _mm256_set1_epi8(2)), _mm256_set1_epi8(0xC0_u8 as i8));
        let below = _mm256_cmpgt_epi8(limit, self.0);
        Self(_mm256_or_si256(errors.0, _mm256_xor_si256(below, needed)))
    }

    #[inline(always)]
    unsafe fn has_error(errors: Self) -> bool {
        _mm256_testz_si256(errors.0, errors.0) == 0
    }

    #[inline(always)]
    unsafe fn error_mask(errors: Self) -> u64 {
        u64::from(u32::MAX) ^ Self(_mm256_cmpeq_epi8(errors.0, _mm256_setzero_si256())).movemask()
    }

    #[inline(always)]
    unsafe fn is_complete(self, errors: Self) -> bool {
        // SAFETY: reads the last 32 bytes of the table, which has 64.
        let finished = unsafe { Self::load(FINISHED[32..].as_ptr()).0 };
        !Self::has_error(Self(_mm256_or_si256(errors.0, _mm256_subs_epu8(self.0, finished))))
    }

    #[inline(always)]
    unsafe fn shl1(self) -> Self {
        Self(_mm256_add_epi8(self.0, self.0))
    }

    #[inline(always)]
    unsafe fn movemask(self) -> u64 {
        u64::from(_mm256_movemask_epi8(self.0) as u32)
    }

    #[inline(always)]
    unsafe fn continuations(self) -> u64 {
        // As signed numbers they are the lowest.
        Self(_mm256_cmpgt_epi8(_mm256_set1_epi8(0xC0_u8 as i8), self.0)).movemask()
    }

    #[inline(always)]
    unsafe fn refused(self, next: Self) -> u64 {
        Self::error_mask(Self(_mm256_and_si256(table_errors(self.0, self.0, next.0), _mm256_set1_epi8(REFUSED as i8))))
    }
}

// SAFETY: no function accesses memory beyond what its contract allows, as its comments show; each returns the end of the sequences.
unsafe impl SequenceWriter for Avx2 {
    #[inline(always)]
    unsafe fn have_none(first: __m128i, second: __m128i, bits: u16) -> bool {
        _mm256_testz_si256(_mm256_set_m128i(second, first), _mm256_set1_epi16(bits as i16)) == 1
    }

    #[inline(always)]
    unsafe fn have_no_surrogate(first: __m128i, second: __m128i) -> bool {
        let set = |bits: u16| _mm256_set1_epi16(bits as i16);
        let highest = _mm256_and_si256(_mm256_set_m128i(second, first), set(0xF800));
        _mm256_movemask_epi8(_mm256_cmpeq_epi16(highest, set(0xD800))) == 0
    }

    #[inline(always)]
    unsafe fn narrow_ascii(from: *const u16, to: *mut u8) -> bool {
        // SAFETY: each register is two of the blocks.
        unsafe {
            let [first, second] = [0, 16].map(|at| _mm256_loadu_si256(from.add(at).cast()));
            let are_ascii = _mm256_testz_si256(_mm256_or_si256(first, second), _mm256_set1_epi16(!0x7F)) == 1;
            if are_ascii {
                // The halves of both are packed in turns.
                let packed = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_packus_epi16(first, second));
                _mm256_storeu_si256(to.cast(), packed);
            }
            are_ascii
        }
    }

    #[inline(always)]
    unsafe fn write_sixteen_of_two(first: __m128i, second: __m128i, to: *mut u8) -> *mut u8 {
        // SAFETY: the same contract.
        unsafe { write_sixteen(_mm256_set_m128i(second, first), to) }
    }

    #[inline(always)]
    unsafe fn write_sixteen_bytes(bytes: __m128i, to: *mut u8) -> *mut u8 {
        // SAFETY: the same contract.
        unsafe { sse41::write_sixteen_bytes(bytes, to) }
    }

    #[inline(always)]
    unsafe fn write_sixteen_of_three(first: __m128i, second: __m128i, to: *mut u8) -> *mut u8 {
        let scalars = _mm256_set_m128i(second, first);
        let set = |bits: u16| _mm256_set1_epi16(bits as i16);
        let at_least = |first: u16| _mm256_cmpeq_epi16(_mm256_max_epu16(scalars, set(first)), scalars);
        let (two, three) = (at_least(0x80), at_least(0x800));
        let raised = _mm256_slli_epi16::<8>(scalars);
        let middle = _mm256_and_si256(_mm256_srli_epi16::<6>(scalars), set(0x003F));
        let leads = _mm256_or_si256(_mm256_srli_epi16::<4>(scalars), set(0xE000));
        let halves = |low, high| {
            [
                _mm256_castsi256_si128(low),
                _mm256_castsi256_si128(high),
                _mm256_extracti128_si256::<1>(low),
                _mm256_extracti128_si256::<1>(high),
            ]
        };
        let (of_two, of_three) = (_mm256_movemask_epi8(two) as u32, _mm256_movemask_epi8(three) as u32);
        if of_three == !0 {
            let tails = _mm256_or_si256(_mm256_and_si256(raised, set(0x3F00)), _mm256_or_si256(middle, set(0x8080)));
            let order = _mm256_broadcastsi128_si256(all_of_three());
            let low = _mm256_shuffle_epi8(_mm256_unpacklo_epi16(leads, tails), order);
            let high = _mm256_shuffle_epi8(_mm256_unpackhi_epi16(leads, tails), order);
            for (index, part) in halves(low, high).into_iter().enumerate() {
                // SAFETY: the last register is written at 36.
                unsafe { _mm_storeu_si128(to.add(12 * index).cast(), part) };
            }
            // SAFETY: 64 bytes can be written.
            return unsafe { to.add(48) };
        }
        let marks = _mm256_or_si256(set(0x8080), _mm256_andnot_si256(three, set(0x0040)));
        let tails = _mm256_or_si256(_mm256_and_si256(raised, set(0x3F00)), middle);
        let tails = _mm256_blendv_epi8(raised, _mm256_or_si256(tails, marks), two);
        // Four scalar values in each half: in `low` those from 0 and from 8 on, in `high` those from 4 and from 12 on.
        let (low, high) = (_mm256_unpacklo_epi16(leads, tails), _mm256_unpackhi_epi16(leads, tails));
        // Two bits for each scalar value; as many are set as its sequence has bytes after the first.
        let more = of_two & 0x5555_5555 | of_three & 0xAAAA_AAAA;
        // SAFETY: an offset in the table is 16 times a byte, so an entry is read. Each register is written at most twelve bytes
        // after the one before, so the last ends at 52 or before.
        unsafe {
            let places = |shift: u32| {
                let entry = OF_UP_TO_THREE.places.as_ptr().byte_add(((u64::from(more) << 4 >> shift) & 0xFF0) as usize);
                _mm_loadu_si128(entry.cast())
            };
            let low = _mm256_shuffle_epi8(low, _mm256_set_m128i(places(16), places(0)));
            let high = _mm256_shuffle_epi8(high, _mm256_set_m128i(places(24), places(8)));
            for (index, part) in halves(low, high).into_iter().enumerate() {
                let before = more & !(!0 << (8 * index));
                _mm_storeu_si128(to.add(4 * index + before.count_ones() as usize).cast(), part);
            }
            to.add(16 + more.count_ones() as usize)
        }
    }
}

/// Writes sixteen scalar values below 800.
///
/// # Safety
/// 32 bytes can be written at `to`; the processor has the instructions of this file.
#[inline(always)]
unsafe fn write_sixteen(scalars: __m256i, to: *mut u8) -> *mut u8 {
    let two = _mm256_cmpgt_epi16(scalars, _mm256_set1_epi16(0x7F));
    let tails = _mm256_slli_epi16::<8>(_mm256_and_si256(scalars, _mm256_set1_epi16(0x3F)));
    let sequences = _mm256_or_si256(_mm256_srli_epi16::<6>(scalars), tails);
    let sequences = _mm256_or_si256(sequences, _mm256_set1_epi16(0x80C0_u16 as i16));
    let lanes = _mm256_blendv_epi8(scalars, sequences, two);
    let lengths = _mm256_movemask_epi8(_mm256_packs_epi16(two, _mm256_setzero_si256())) as u32;
    // SAFETY: each index has eight bits; each block makes at most a register.
    unsafe {
        let to = pack(_mm256_castsi256_si128(lanes), &OF_EIGHT, (lengths & 0xFF) as usize, to);
        pack(_mm256_extracti128_si256::<1>(lanes), &OF_EIGHT, (lengths >> 16) as usize, to)
    }
}

/// The scalar values of eight sequences of three bytes of text.
///
/// # Safety
/// 24 bytes can be read; the processor has the instructions of this file.
#[inline(always)]
unsafe fn eight_of_three(from: *const u8) -> __m256i {
    // SAFETY: reads the first and the last sixteen of the bytes.
    let bytes = unsafe { _mm256_loadu2_m128i(from.add(8).cast(), from.cast()) };
    // Third, second and first byte of each; in the second half the first sequence begins at byte 4.
    let order = _mm256_setr_epi8(
        2, 1, 0, -1, 5, 4, 3, -1, 8, 7, 6, -1, 11, 10, 9, -1, 6, 5, 4, -1, 9, 8, 7, -1, 12, 11, 10, -1, 15, 14, 13, -1,
    );
    let bits = _mm256_and_si256(_mm256_shuffle_epi8(bytes, order), _mm256_set1_epi32(0x000F_3F3F));
    // The second byte counts 40, then the first counts 1000.
    let pairs = _mm256_maddubs_epi16(bits, _mm256_set1_epi32(0x0001_4001));
    _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x1000_0001))
}

// SAFETY: no function accesses memory beyond what its contract allows, as its comments show; `to` moves by one unit for each place, or as `replace` states.
unsafe impl WindowWriter for Avx2 {
    #[inline(always)]
    unsafe fn widen_to_16(from: *const u8, replaced: u64, to: *mut u16) {
        if replaced != 0 {
            // SAFETY: the same contract.
            return unsafe { widen(from, replaced, 0xFFFD, to) };
        }
        for part in 0..4 {
            // SAFETY: part `p` reads `16 * p..16 * (p + 1)` and writes as many units.
            unsafe {
                let bytes = _mm_loadu_si128(hidden(from).add(16 * part).cast());
                _mm256_storeu_si256(to.add(16 * part).cast(), _mm256_cvtepu8_epi16(bytes));
            }
        }
    }

    #[inline(always)]
    unsafe fn ascii_to_16(from: *const u8, to: *mut u16) -> bool {
        // SAFETY: reads two registers and writes four.
        unsafe {
            let [first, second] = [Self::load(from), Self::load(from.add(32))];
            if !first.or(second).is_ascii() {
                return false;
            }
            for (part, bytes) in [first, second].into_iter().enumerate() {
                let (low, high) = (_mm256_castsi256_si128(bytes.0), _mm256_extracti128_si256::<1>(bytes.0));
                _mm256_storeu_si256(to.add(32 * part).cast(), _mm256_cvtepu8_epi16(low));
                _mm256_storeu_si256(to.add(32 * part + 16).cast(), _mm256_cvtepu8_epi16(high));
            }
            true
        }
    }

    #[inline(always)]
    unsafe fn ascii_to_32(from: *const u8, to: *mut u32) -> bool {
        // SAFETY: quarter `q` reads 16 bytes at `from + 16 * q` and writes 16 units at `to + 16 * q`.
        unsafe {
            let quarters = [0, 16, 32, 48].map(|at| _mm_loadu_si128(from.add(at).cast()));
            let [a, b, c, d] = quarters;
            if _mm_movemask_epi8(_mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d))) != 0 {
                return false;
            }
            for (quarter, bytes) in quarters.into_iter().enumerate() {
                let to = to.add(16 * quarter);
                _mm256_storeu_si256(to.cast(), _mm256_cvtepu8_epi32(bytes));
                _mm256_storeu_si256(to.add(8).cast(), _mm256_cvtepu8_epi32(_mm_srli_si128::<8>(bytes)));
            }
            true
        }
    }

    #[inline(always)]
    unsafe fn widen_to_32(from: *const u8, replaced: u64, to: *mut u32) {
        if replaced != 0 {
            // SAFETY: the same contract.
            return unsafe { widen(from, replaced, 0xFFFD, to) };
        }
        for part in 0..8 {
            // SAFETY: part `p` reads `8 * p..8 * (p + 1)` and writes as many units.
            unsafe {
                let bytes = _mm_loadl_epi64(hidden(from).add(8 * part).cast());
                _mm256_storeu_si256(to.add(8 * part).cast(), _mm256_cvtepu8_epi32(bytes));
            }
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
unsafe impl OfThree for Avx2 {
    #[inline(always)]
    unsafe fn utf16_of_three(from: *const u8, to: *mut u16) {
        // SAFETY: the same contract.
        unsafe {
            let scalars = eight_of_three(from);
            let (first, last) = (_mm256_castsi256_si128(scalars), _mm256_extracti128_si256::<1>(scalars));
            _mm_storeu_si128(to.cast(), _mm_packus_epi32(first, last));
        }
    }

    #[inline(always)]
    unsafe fn utf32_of_three(from: *const u8, to: *mut u32) {
        // SAFETY: the same contract.
        unsafe { _mm256_storeu_si256(to.cast(), eight_of_three(from)) }
    }
}

// SAFETY: the result is that of `short_prefix`.
unsafe impl Partial for Avx2 {
    /// 32 bytes fill a register of this kernel.
    const MOST: usize = Self::LEN - 1;

    fn partial_path(len: usize) -> Path {
        path::<Sse41>(len)
    }

    #[inline(always)]
    unsafe fn partial_prefix(bytes: &[u8]) -> usize {
        short_prefix::<Sse41>(bytes)
    }
}
