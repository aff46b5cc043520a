//! SSE4.1: 16 bytes.

use crate::codec::kernel::prefix::prefix_of;
use crate::codec::kernel::tables::{BELOW_LEADS, FINISHED, NIBBLES, REFUSED, TWO_CONTINUATIONS};
use crate::codec::kernel::vector::Vector;

use core::arch::x86_64::*;

/// 16 bytes.
#[derive(Clone, Copy)]
pub(super) struct Sse41(pub(super) __m128i);

/// Sixteen entries.
#[inline(always)]
unsafe fn table(bytes: &[u8; 16]) -> __m128i {
    // SAFETY: 16 bytes can be read there; the caller has the instructions.
    unsafe { _mm_loadu_si128(bytes.as_ptr().cast()) }
}

#[inline(always)]
unsafe fn high_nibbles(bytes: __m128i) -> __m128i {
    // SAFETY: the caller has the instructions.
    unsafe { _mm_and_si128(_mm_srli_epi16(bytes, 4), _mm_set1_epi8(0x0F)) }
}

/// What the tables say of bytes and those before them.
#[inline(always)]
unsafe fn agreed(before: __m128i, bytes: __m128i) -> __m128i {
    // SAFETY: the caller has the instructions.
    unsafe {
        let [high, low, next] = &NIBBLES;
        let high = _mm_shuffle_epi8(table(high), high_nibbles(before));
        let low = _mm_shuffle_epi8(table(low), _mm_and_si128(before, _mm_set1_epi8(0x0F)));
        let next = _mm_shuffle_epi8(table(next), high_nibbles(bytes));
        _mm_and_si128(_mm_and_si128(high, low), next)
    }
}

impl Vector for Sse41 {
    const LEN: usize = 16;
    type Found = Self;

    #[inline(always)]
    unsafe fn nothing() -> Self {
        // SAFETY: the caller has the instructions.
        unsafe { Self(_mm_setzero_si128()) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller vouches for the bytes that are read, and has the instructions.
        unsafe { Self(_mm_loadu_si128(from.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller vouches for the bytes that are written, and has the instructions.
        unsafe { _mm_storeu_si128(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: the caller has the instructions.
        unsafe { Self(_mm_or_si128(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the caller has the instructions.
        unsafe { Self(_mm_setzero_si128()) }
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        // SAFETY: the caller has the instructions.
        unsafe { Self(_mm_max_epu8(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn is_below(self, limit: u8) -> bool {
        // SAFETY: the caller has the instructions.
        unsafe { !Self::is_wrong(Self(_mm_subs_epu8(self.0, _mm_set1_epi8((limit - 1) as i8)))) }
    }

    #[inline(always)]
    unsafe fn is_ascii(self) -> bool {
        // SAFETY: the caller has the instructions.
        unsafe { _mm_movemask_epi8(self.0) == 0 }
    }

    #[inline(always)]
    unsafe fn later(self) -> [Self; 3] {
        // SAFETY: the caller has the instructions.
        unsafe {
            [Self(_mm_bslli_si128::<1>(self.0)), Self(_mm_bslli_si128::<2>(self.0)), Self(_mm_bslli_si128::<3>(self.0))]
        }
    }

    #[inline(always)]
    unsafe fn check(self, [one, two, three]: [Self; 3], found: Self) -> Self {
        // SAFETY: the caller has the instructions.
        unsafe {
            let wrong = agreed(one.0, self.0);
            let asked = _mm_or_si128(
                _mm_subs_epu8(two.0, _mm_set1_epi8(BELOW_LEADS[1])),
                _mm_subs_epu8(three.0, _mm_set1_epi8(BELOW_LEADS[2])),
            );
            let asked = _mm_and_si128(asked, _mm_set1_epi8(TWO_CONTINUATIONS as i8));
            Self(_mm_or_si128(found.0, _mm_xor_si128(wrong, asked)))
        }
    }

    #[inline(always)]
    unsafe fn is_wrong(found: Self) -> bool {
        // SAFETY: the caller has the instructions.
        unsafe { _mm_testz_si128(found.0, found.0) == 0 }
    }

    #[inline(always)]
    unsafe fn wrong(found: Self) -> u64 {
        // SAFETY: the caller has the instructions.
        unsafe { u64::from(u16::MAX) ^ Self(_mm_cmpeq_epi8(found.0, _mm_setzero_si128())).signs() }
    }

    #[inline(always)]
    unsafe fn is_complete(self, found: Self) -> bool {
        // SAFETY: the caller has the instructions.
        unsafe {
            !Self::is_wrong(Self(_mm_or_si128(found.0, _mm_subs_epu8(self.0, Self::load(FINISHED[48..].as_ptr()).0))))
        }
    }

    #[inline(always)]
    unsafe fn short_prefix(bytes: &[u8]) -> usize {
        let [low, high] = words(bytes);
        if (low | high) & 0x8080_8080_8080_8080 == 0 {
            return bytes.len();
        }
        // SAFETY: the caller has the instructions.
        unsafe { prefix_of(Self(_mm_set_epi64x(high as i64, low as i64)), bytes, (1 << bytes.len()) - 1) }
    }

    #[inline(always)]
    unsafe fn doubled(self) -> Self {
        // SAFETY: the caller has the instructions.
        unsafe { Self(_mm_add_epi8(self.0, self.0)) }
    }

    #[inline(always)]
    unsafe fn signs(self) -> u64 {
        // SAFETY: the caller has the instructions.
        unsafe { u64::from(_mm_movemask_epi8(self.0) as u16) }
    }

    #[inline(always)]
    unsafe fn refused(self, next: Self) -> u64 {
        // SAFETY: the caller has the instructions.
        unsafe { Self::wrong(Self(_mm_and_si128(agreed(self.0, next.0), _mm_set1_epi8(REFUSED as i8)))) }
    }
}

/// Fewer than sixteen bytes, with zeros behind them. They are read in two parts, which may overlap.
#[inline(always)]
fn words(bytes: &[u8]) -> [u64; 2] {
    let len = bytes.len();
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        // The last bytes that the first part does not have; of eight there are none.
        return [u64::from_le_bytes(*first), u64::from_le_bytes(*last) >> 8 >> (8 * ((15 - len as u32) & 7))];
    }
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        let place = |bytes: [u8; 4], at: usize| u64::from(u32::from_le_bytes(bytes)) << (8 * at);
        return [place(*first, 0) | place(*last, len - 4), 0];
    }
    let place = |at: usize| bytes.get(at).map_or(0, |&byte| u64::from(byte) << (8 * at));
    [place(0) | place(1) | place(2), 0]
}
