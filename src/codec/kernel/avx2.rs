//! AVX2: 32 bytes.

use crate::codec::kernel::prefix::short_prefix;
use crate::codec::kernel::sse41::Sse41;
use crate::codec::kernel::tables::{BELOW_LEADS, FINISHED, NIBBLES, REFUSED, TWO_CONTINUATIONS};
use crate::codec::kernel::vector::Vector;
use core::arch::x86_64::*;

/// 32 bytes.
#[derive(Clone, Copy)]
pub(super) struct Avx2(pub(super) __m256i);

/// Sixteen entries, once for each half.
#[inline(always)]
unsafe fn table(bytes: &[u8; 16]) -> __m256i {
    // SAFETY: 16 bytes can be read there; the caller has the instructions.
    unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(bytes.as_ptr().cast())) }
}

#[inline(always)]
unsafe fn high_nibbles(bytes: __m256i) -> __m256i {
    // SAFETY: the caller has the instructions.
    unsafe { _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(0x0F)) }
}

/// What the tables say of bytes and those before them.
#[inline(always)]
unsafe fn agreed(before: __m256i, bytes: __m256i) -> __m256i {
    // SAFETY: the caller has the instructions.
    unsafe {
        let [high, low, next] = &NIBBLES;
        let high = _mm256_shuffle_epi8(table(high), high_nibbles(before));
        let low = _mm256_shuffle_epi8(table(low), _mm256_and_si256(before, _mm256_set1_epi8(0x0F)));
        let next = _mm256_shuffle_epi8(table(next), high_nibbles(bytes));
        _mm256_and_si256(_mm256_and_si256(high, low), next)
    }
}

impl Vector for Avx2 {
    const LEN: usize = 32;
    type Found = Self;

    #[inline(always)]
    unsafe fn nothing() -> Self {
        // SAFETY: the caller has the instructions.
        unsafe { Self(_mm256_setzero_si256()) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller vouches for the bytes that are read, and has the instructions.
        unsafe { Self(_mm256_loadu_si256(from.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller vouches for the bytes that are written, and has the instructions.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: the caller has the instructions.
        unsafe { Self(_mm256_or_si256(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the caller has the instructions.
        unsafe { Self(_mm256_setzero_si256()) }
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        // SAFETY: the caller has the instructions.
        unsafe { Self(_mm256_max_epu8(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn is_below(self, limit: u8) -> bool {
        // SAFETY: the caller has the instructions.
        unsafe { !Self::is_wrong(Self(_mm256_subs_epu8(self.0, _mm256_set1_epi8((limit - 1) as i8)))) }
    }

    #[inline(always)]
    unsafe fn is_ascii(self) -> bool {
        // SAFETY: the caller has the instructions.
        unsafe { _mm256_movemask_epi8(self.0) == 0 }
    }

    #[inline(always)]
    unsafe fn later(self) -> [Self; 3] {
        // SAFETY: the caller has the instructions.
        unsafe {
            // The low half stands high, zeros low.
            let low = _mm256_permute2x128_si256::<0x08>(self.0, self.0);
            [
                Self(_mm256_alignr_epi8::<15>(self.0, low)),
                Self(_mm256_alignr_epi8::<14>(self.0, low)),
                Self(_mm256_alignr_epi8::<13>(self.0, low)),
            ]
        }
    }

    #[inline(always)]
    unsafe fn check(self, [one, two, three]: [Self; 3], found: Self) -> Self {
        // SAFETY: the caller has the instructions.
        unsafe {
            let wrong = agreed(one.0, self.0);
            let asked = _mm256_or_si256(
                _mm256_subs_epu8(two.0, _mm256_set1_epi8(BELOW_LEADS[1])),
                _mm256_subs_epu8(three.0, _mm256_set1_epi8(BELOW_LEADS[2])),
            );
            let asked = _mm256_and_si256(asked, _mm256_set1_epi8(TWO_CONTINUATIONS as i8));
            Self(_mm256_or_si256(found.0, _mm256_xor_si256(wrong, asked)))
        }
    }

    #[inline(always)]
    unsafe fn is_wrong(found: Self) -> bool {
        // SAFETY: the caller has the instructions.
        unsafe { _mm256_testz_si256(found.0, found.0) == 0 }
    }

    #[inline(always)]
    unsafe fn wrong(found: Self) -> u64 {
        // SAFETY: the caller has the instructions.
        unsafe { u64::from(u32::MAX) ^ Self(_mm256_cmpeq_epi8(found.0, _mm256_setzero_si256())).signs() }
    }

    #[inline(always)]
    unsafe fn is_complete(self, found: Self) -> bool {
        // SAFETY: the caller has the instructions.
        unsafe {
            !Self::is_wrong(Self(_mm256_or_si256(
                found.0,
                _mm256_subs_epu8(self.0, Self::load(FINISHED[32..].as_ptr()).0),
            )))
        }
    }

    #[inline(always)]
    unsafe fn short_prefix(bytes: &[u8]) -> usize {
        // SAFETY: the caller has the instructions.
        unsafe { short_prefix::<Sse41>(bytes) }
    }

    #[inline(always)]
    unsafe fn doubled(self) -> Self {
        // SAFETY: the caller has the instructions.
        unsafe { Self(_mm256_add_epi8(self.0, self.0)) }
    }

    #[inline(always)]
    unsafe fn signs(self) -> u64 {
        // SAFETY: the caller has the instructions.
        unsafe { u64::from(_mm256_movemask_epi8(self.0) as u32) }
    }

    #[inline(always)]
    unsafe fn refused(self, next: Self) -> u64 {
        // SAFETY: the caller has the instructions.
        unsafe { Self::wrong(Self(_mm256_and_si256(agreed(self.0, next.0), _mm256_set1_epi8(REFUSED as i8)))) }
    }
}
