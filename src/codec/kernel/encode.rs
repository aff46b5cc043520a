//! UTF-16, UTF-32 and Latin-1 to UTF-8, by AVX-512: every unit takes the room of the longest form it can have, and the bytes
//! that are none are compressed away.

use crate::codec::kernel::forms::{Joined, STEPS, append_by_steps, join, scalars};
use crate::codec::kernel::units::from_utf32;
use crate::codec::transcode::{from_latin_1_by_bytes, from_utf16_by_chars};
use core::arch::x86_64::*;

/// Code units, or bytes, at a time.
const UNITS: usize = 32;

/// Appends UTF-16 in UTF-8, with U+FFFD for every lone surrogate.
///
/// # Safety
/// The processor has AVX-512 with VBMI2, and BMI2.
#[inline(always)]
pub(super) unsafe fn from_utf16_lossy_into(units: &[u16], out: &mut Vec<u8>) {
    let mut at = 0;
    // A step reads one unit more than its own.
    while units.len() - at > UNITS {
        let end = (units.len() - 1).min(at + STEPS * UNITS);
        out.reserve(3 * (end - at) + 4 * UNITS);
        // Whether the first unit belongs to the pair before.
        let mut low_is_done = 0;
        // SAFETY: `UNITS + 1` units can be read at each step; so many units become at most three bytes each and one more
        // (a pair may end behind the last), and each step writes 64 bytes from where it is.
        unsafe {
            let mut to = out.as_mut_ptr().add(out.len());
            while end - at >= UNITS {
                let from = units.as_ptr().add(at);
                let all = _mm512_loadu_si512(from.cast());
                if _mm512_cmpgt_epu16_mask(all, _mm512_set1_epi16(0x7FF)) | u32::from(low_is_done) == 0 {
                    to = encode_up_to_7ff(all, to);
                    at += UNITS;
                } else {
                    (to, low_is_done) = encode_16(from, low_is_done, to);
                    at += UNITS / 2;
                }
            }
            out.set_len(to.offset_from_unsigned(out.as_ptr()));
        }
        at += usize::from(low_is_done);
    }
    from_utf16_by_chars(&units[at..], out);
}

/// Writes 32 units, none of which is above 7FF.
///
/// # Safety
/// The processor has the instructions, and 64 bytes can be written.
#[inline(always)]
unsafe fn encode_up_to_7ff(units: __m512i, to: *mut u8) -> *mut u8 {
    // SAFETY: as the caller says.
    unsafe {
        let over_7f = _mm512_cmpgt_epu16_mask(units, _mm512_set1_epi16(0x7F));
        if over_7f == 0 {
            _mm256_storeu_si256(to.cast(), _mm512_cvtepi16_epi8(units));
            return to.add(UNITS);
        }
        let two = or(
            _mm512_srli_epi16::<6>(units),
            _mm512_slli_epi16::<8>(_mm512_and_si512(units, _mm512_set1_epi16(0x3F))),
            _mm512_set1_epi16(0x80C0_u16 as i16),
        );
        let bytes = _mm512_mask_mov_epi16(units, over_7f, two);
        let kept = 0x5555_5555_5555_5555 | _pdep_u64(u64::from(over_7f), 0xAAAA_AAAA_AAAA_AAAA);
        _mm512_storeu_si512(to.cast(), _mm512_maskz_compress_epi8(kept, bytes));
        to.add(kept.count_ones() as usize)
    }
}

/// # Safety
/// As of [`from_utf16_lossy_into`]; 17 units can be read and 64 bytes written.
#[inline(always)]
unsafe fn encode_16(from: *const u16, low_is_done: u16, to: *mut u8) -> (*mut u8, u16) {
    // SAFETY: as the caller says.
    unsafe {
        let units = _mm512_cvtepu16_epi32(_mm256_loadu_si256(from.cast()));
        let over_7f = _mm512_cmpgt_epu32_mask(units, _mm512_set1_epi32(0x7F));
        if over_7f | low_is_done == 0 {
            _mm_storeu_si128(to.cast(), _mm512_cvtepi32_epi8(units));
            return (to.add(UNITS / 2), 0);
        }
        let joined = join(units, from, low_is_done);
        (encode_scalars(joined, over_7f, to), joined.pair >> 15)
    }
}

/// Writes the UTF-8 of sixteen scalar values, of which those `over_7f` are.
///
/// # Safety
/// The processor has the instructions, and 64 bytes can be written.
#[inline(always)]
unsafe fn encode_scalars(Joined { scalars, pair, done }: Joined, over_7f: u16, to: *mut u8) -> *mut u8 {
    // SAFETY: as the caller says.
    unsafe {
        let over_7ff = _mm512_cmpgt_epu32_mask(scalars, _mm512_set1_epi32(0x7FF));
        // The bytes of each form, the first lowest.
        let (last, second, third) = (six(scalars, 0), six(scalars, 6), six(scalars, 12));
        let two = or(_mm512_srli_epi32::<6>(scalars), _mm512_slli_epi32::<8>(last), _mm512_set1_epi32(0x80C0));
        let three = or(
            or(_mm512_srli_epi32::<12>(scalars), _mm512_slli_epi32::<8>(second), _mm512_slli_epi32::<16>(last)),
            _mm512_set1_epi32(0x80_80E0),
            _mm512_setzero_si512(),
        );
        let mut bytes = _mm512_mask_mov_epi32(scalars, over_7f, two);
        bytes = _mm512_mask_mov_epi32(bytes, over_7ff, three);
        if pair != 0 {
            let four = or(
                or(_mm512_srli_epi32::<18>(scalars), _mm512_slli_epi32::<8>(third), _mm512_slli_epi32::<16>(second)),
                _mm512_slli_epi32::<24>(last),
                _mm512_set1_epi32(0x8080_80F0_u32 as i32),
            );
            bytes = _mm512_mask_mov_epi32(bytes, pair, four);
        }
        let kept = spread(!done) | spread(over_7f & !done) << 1 | spread(over_7ff & !done) << 2 | spread(pair) << 3;
        _mm512_storeu_si512(to.cast(), _mm512_maskz_compress_epi8(kept, bytes));
        to.add(kept.count_ones() as usize)
    }
}

/// Six bits of each, from a place on.
///
/// # Safety
/// The processor has the instructions.
#[inline(always)]
unsafe fn six(scalars: __m512i, places: u32) -> __m512i {
    // SAFETY: as the caller says.
    unsafe { _mm512_and_si512(_mm512_srlv_epi32(scalars, _mm512_set1_epi32(places as i32)), _mm512_set1_epi32(0x3F)) }
}

/// The three, or-ed.
///
/// # Safety
/// The processor has the instructions.
#[inline(always)]
unsafe fn or(one: __m512i, two: __m512i, three: __m512i) -> __m512i {
    // SAFETY: as the caller says.
    unsafe { _mm512_ternarylogic_epi64::<0xFE>(one, two, three) }
}

/// Each bit at four times its place.
///
/// # Safety
/// The processor has the instructions.
#[inline(always)]
unsafe fn spread(mask: u16) -> u64 {
    // SAFETY: as the caller says.
    unsafe { _pdep_u64(u64::from(mask), 0x1111_1111_1111_1111) }
}

/// Appends UTF-32 in UTF-8, with U+FFFD for what is no scalar value.
///
/// # Safety
/// The processor has AVX-512 with VBMI2, and BMI2.
#[inline(always)]
pub(super) unsafe fn from_utf32_lossy_into(units: &[u32], out: &mut Vec<u8>) {
    let (steps, rest) = units.as_chunks::<{ UNITS / 2 }>();
    // SAFETY: as the caller says; a step writes 64 bytes at most.
    unsafe {
        append_by_steps!(steps, 2 * UNITS, out, |step, to| {
            let scalars = scalars(step.as_ptr());
            let over_7f = _mm512_cmpgt_epu32_mask(scalars, _mm512_set1_epi32(0x7F));
            if over_7f == 0 {
                _mm_storeu_si128(to.cast(), _mm512_cvtepi32_epi8(scalars));
                to.add(UNITS / 2)
            } else {
                let pair = _mm512_cmpgt_epu32_mask(scalars, _mm512_set1_epi32(0xFFFF));
                encode_scalars(Joined { scalars, pair, done: 0 }, over_7f, to)
            }
        });
    }
    from_utf32(rest, out);
}

/// Appends Latin-1 in UTF-8.
///
/// # Safety
/// The processor has AVX-512 with VBMI2, and BMI2.
#[inline(always)]
pub(super) unsafe fn from_latin_1_into(bytes: &[u8], out: &mut Vec<u8>) {
    let (steps, rest) = bytes.as_chunks::<UNITS>();
    // SAFETY: as the caller says; a step writes 64 bytes at most.
    unsafe {
        append_by_steps!(steps, 2 * UNITS, out, |step, to| {
            encode_up_to_7ff(_mm512_cvtepu8_epi16(_mm256_loadu_si256(step.as_ptr().cast())), to)
        });
    }
    from_latin_1_by_bytes(rest, out);
}
