//! AVX-512 with byte permutations (VBMI, VBMI2): 64 bytes.
//!
//! Where a continuation byte must stand is read off the bytes before by saturating subtraction, which leaves the sign bit
//! just for the leads long enough. Which second byte a lead refuses is one table of 64 entries for the lead and one for
//! the second byte, by their low six bits: what both name is refused. Continuation bytes share those six bits with leads,
//! so the first table is asked for leads alone; a lead before anything but a continuation byte is wrong anyway.

use crate::codec::kernel::avx2::Avx2;
use crate::codec::kernel::prefix::prefix_of;
use crate::codec::kernel::sse41::Sse41;
use crate::codec::kernel::tables::{BELOW_LEADS, FINISHED, LEAD, SECOND};
use crate::codec::kernel::transcode::Places;
use crate::codec::kernel::vector::Vector;
use crate::codec::kernel::window::Window;
use crate::codec::kernel::{encode, forms, write_window};
use core::arch::x86_64::*;

/// 64 bytes.
#[derive(Clone, Copy)]
pub(super) struct Avx512(pub(super) __m512i);

/// What is wrong: in the sign bits, and in any bits.
#[derive(Clone, Copy)]
pub(super) struct Found {
    sign: __m512i,
    any: __m512i,
}

/// Sixty-four entries.
#[inline(always)]
pub(super) unsafe fn table(bytes: &[u8; 64]) -> __m512i {
    // SAFETY: 64 bytes can be read there; the caller has the instructions.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

impl Vector for Avx512 {
    const LEN: usize = 64;
    type Found = Found;

    #[inline(always)]
    unsafe fn nothing() -> Found {
        // SAFETY: the caller has the instructions.
        unsafe { Found { sign: _mm512_setzero_si512(), any: _mm512_setzero_si512() } }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller vouches for the bytes that are read, and has the instructions.
        unsafe { Self(_mm512_loadu_si512(from.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller vouches for the bytes that are written, and has the instructions.
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        // SAFETY: the caller has the instructions.
        unsafe { Self(_mm512_or_si512(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the caller has the instructions.
        unsafe { Self(_mm512_setzero_si512()) }
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        // SAFETY: the caller has the instructions.
        unsafe { Self(_mm512_max_epu8(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn is_below(self, limit: u8) -> bool {
        // SAFETY: the caller has the instructions.
        unsafe { _mm512_cmpge_epu8_mask(self.0, _mm512_set1_epi8(limit as i8)) == 0 }
    }

    #[inline(always)]
    unsafe fn is_ascii(self) -> bool {
        // SAFETY: the caller has the instructions.
        unsafe { _mm512_movepi8_mask(self.0) == 0 }
    }

    #[inline(always)]
    unsafe fn later(self) -> [Self; 3] {
        // SAFETY: the caller has the instructions.
        unsafe {
            // Each sixteen bytes behind those before them; zeros behind the first.
            let before = _mm512_alignr_epi64::<6>(self.0, _mm512_setzero_si512());
            [
                Self(_mm512_alignr_epi8::<15>(self.0, before)),
                Self(_mm512_alignr_epi8::<14>(self.0, before)),
                Self(_mm512_alignr_epi8::<13>(self.0, before)),
            ]
        }
    }

    #[inline(always)]
    unsafe fn check(self, [one, two, three]: [Self; 3], found: Found) -> Found {
        // SAFETY: the caller has the instructions.
        unsafe {
            let lead = _mm512_cmpge_epu8_mask(one.0, _mm512_set1_epi8(0xC0_u8 as i8));
            let refuses = _mm512_maskz_permutexvar_epi8(lead, one.0, table(&LEAD));
            let second = _mm512_permutexvar_epi8(self.0, table(&SECOND));
            // any | (refuses & second)
            let any = _mm512_ternarylogic_epi64::<0xF8>(found.any, refuses, second);
            let asked = _mm512_ternarylogic_epi64::<0xFE>(
                _mm512_subs_epu8(one.0, _mm512_set1_epi8(BELOW_LEADS[0])),
                _mm512_subs_epu8(two.0, _mm512_set1_epi8(BELOW_LEADS[1])),
                _mm512_subs_epu8(three.0, _mm512_set1_epi8(BELOW_LEADS[2])),
            );
            // asked ^ (byte & !(byte << 1)): a continuation byte has its highest bit, and not the next.
            let doubled = _mm512_add_epi8(self.0, self.0);
            let sign = _mm512_ternarylogic_epi64::<{ 0xF0 ^ (0xCC & !0xAA) }>(asked, self.0, doubled);
            Found { sign: _mm512_or_si512(found.sign, sign), any }
        }
    }

    #[inline(always)]
    unsafe fn is_wrong(found: Found) -> bool {
        // SAFETY: the caller has the instructions.
        unsafe { Self::wrong(found) != 0 }
    }

    #[inline(always)]
    unsafe fn wrong(found: Found) -> u64 {
        // SAFETY: the caller has the instructions.
        unsafe { _mm512_movepi8_mask(found.sign) | _mm512_test_epi8_mask(found.any, found.any) }
    }

    #[inline(always)]
    unsafe fn is_complete(self, found: Found) -> bool {
        // SAFETY: the caller has the instructions.
        unsafe {
            let any = _mm512_or_si512(found.any, _mm512_subs_epu8(self.0, table(&FINISHED)));
            !Self::is_wrong(Found { any, ..found })
        }
    }

    #[inline(always)]
    unsafe fn short_prefix(bytes: &[u8]) -> usize {
        // SAFETY: the caller has the instructions.
        unsafe {
            // A masked load touches the bytes whose bits are set alone; of none at an address that is none it takes long.
            let (from, there) = (bytes.as_ptr().cast(), _bzhi_u64(!0, bytes.len() as u32));
            match bytes.len() {
                0 => 0,
                1..=16 => prefix_of(Sse41(_mm_maskz_loadu_epi8(there as u16, from)), bytes, there),
                17..=32 => prefix_of(Avx2(_mm256_maskz_loadu_epi8(there as u32, from)), bytes, there),
                _ => prefix_of(Self(_mm512_maskz_loadu_epi8(there, from)), bytes, there),
            }
        }
    }

    #[inline(always)]
    unsafe fn doubled(self) -> Self {
        // SAFETY: the caller has the instructions.
        unsafe { Self(_mm512_add_epi8(self.0, self.0)) }
    }

    #[inline(always)]
    unsafe fn signs(self) -> u64 {
        // SAFETY: the caller has the instructions.
        unsafe { _mm512_movepi8_mask(self.0) }
    }

    #[inline(always)]
    unsafe fn continuations(self) -> u64 {
        // SAFETY: the caller has the instructions.
        unsafe { _mm512_cmplt_epi8_mask(self.0, _mm512_set1_epi8(0xC0_u8 as i8)) }
    }

    #[inline(always)]
    unsafe fn leads_of_4(self) -> u64 {
        // SAFETY: the caller has the instructions.
        unsafe { _mm512_cmpge_epu8_mask(self.0, _mm512_set1_epi8(0xF0_u8 as i8)) }
    }

    #[inline(always)]
    unsafe fn refused(self, next: Self) -> u64 {
        // SAFETY: the caller has the instructions.
        unsafe {
            let refuses = _mm512_permutexvar_epi8(self.0, table(&LEAD));
            _mm512_test_epi8_mask(refuses, _mm512_permutexvar_epi8(next.0, table(&SECOND)))
        }
    }

    #[inline(always)]
    unsafe fn replace(from: *const u8, window: Window, to: *mut u8) -> *mut u8 {
        // SAFETY: as the caller says.
        unsafe { write_window::replace(from, window, to) }
    }

    #[inline(always)]
    unsafe fn utf16(from: *const u8, first: bool, places: Places, to: *mut u16) -> *mut u16 {
        // SAFETY: as the caller says.
        unsafe { write_window::utf16(from, first, places, to) }
    }

    #[inline(always)]
    unsafe fn utf16_of_twos(from: *const u8, begun: &mut u64, to: *mut u16) -> Option<*mut u16> {
        // SAFETY: as the caller says.
        unsafe { write_window::utf16_of_twos(from, begun, to) }
    }

    #[inline(always)]
    unsafe fn utf32(from: *const u8, first: bool, places: Places, to: *mut u32) -> *mut u32 {
        // SAFETY: as the caller says.
        unsafe { write_window::utf32(from, first, places, to) }
    }

    #[inline(always)]
    unsafe fn widen_to_16(from: *const u8, replaced: u64, to: *mut u16) {
        // SAFETY: as the caller says.
        unsafe { write_window::widen_to_16(from, replaced, to) }
    }

    #[inline(always)]
    unsafe fn widen_to_32(from: *const u8, replaced: u64, to: *mut u32) {
        // SAFETY: as the caller says.
        unsafe { write_window::widen_to_32(from, replaced, to) }
    }

    #[inline(always)]
    unsafe fn from_utf16_lossy_into(units: &[u16], out: &mut Vec<u8>) {
        // SAFETY: as the caller says.
        unsafe { encode::from_utf16_lossy_into(units, out) }
    }

    #[inline(always)]
    unsafe fn from_utf32_lossy_into(units: &[u32], out: &mut Vec<u8>) {
        // SAFETY: as the caller says.
        unsafe { encode::from_utf32_lossy_into(units, out) }
    }

    #[inline(always)]
    unsafe fn utf16_prefix(units: &[u16]) -> usize {
        // SAFETY: as the caller says.
        unsafe { forms::utf16_prefix(units) }
    }

    #[inline(always)]
    unsafe fn utf32_from_utf16(units: &[u16], out: &mut Vec<u32>) {
        // SAFETY: as the caller says.
        unsafe { forms::utf32_from_utf16(units, out) }
    }

    #[inline(always)]
    unsafe fn utf16_from_bytes(bytes: &[u8], of_80: &[u16; 32], out: &mut Vec<u16>) {
        // SAFETY: as the caller says.
        unsafe { forms::utf16_from_bytes(bytes, of_80, out) }
    }

    #[inline(always)]
    unsafe fn utf16_from_utf32(units: &[u32], out: &mut Vec<u16>) {
        // SAFETY: as the caller says.
        unsafe { forms::utf16_from_utf32(units, out) }
    }

    #[inline(always)]
    unsafe fn from_latin_1_into(bytes: &[u8], out: &mut Vec<u8>) {
        // SAFETY: as the caller says.
        unsafe { encode::from_latin_1_into(bytes, out) }
    }
}
