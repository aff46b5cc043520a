//! What becomes of a window, written by AVX-512: UTF-8 with replacement, UTF-16, UTF-32. Bytes that are the last of no
//! unit are compressed away.

use crate::codec::kernel::avx512::{Avx512, table};
use crate::codec::kernel::replace::replace_by_runs;
use crate::codec::kernel::transcode::Places;
use crate::codec::kernel::vector::Vector;
use crate::codec::kernel::window::Window;
use crate::utf8::is_continuation;
use core::arch::x86_64::*;

/// Writes what a window decodes to: see [`Vector::replace`].
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn replace(from: *const u8, window: Window, to: *mut u8) -> *mut u8 {
    // SAFETY: as the caller says.
    unsafe {
        match (!window.good).count_ones() <= FEW {
            true => replace_by_runs::<Avx512>(from, window, to),
            false => replace_by_thirds(from, window, to),
        }
    }
}

/// Writes the units of UTF-16 of a window: see [`Vector::utf16`].
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn utf16(from: *const u8, first: bool, places: Places, to: *mut u16) -> *mut u16 {
    // SAFETY: as the caller says.
    unsafe {
        let here = Avx512::load(from);
        let [one, two] = match first {
            true => [here.later()[0], here.later()[1]],
            false => [Avx512::load(from.sub(1)), Avx512::load(from.sub(2))],
        };
        let any = places.any();
        let low_6 = _mm512_set1_epi8(0x3F);
        // The bits each byte gives to the unit, and no others but those that are shifted out.
        let here = _mm512_mask_mov_epi8(here.0, places.continuation, _mm512_and_si512(here.0, low_6));
        let one = _mm512_and_si512(_mm512_maskz_mov_epi8(places.continuation, one.0), low_6);
        let here = _mm512_maskz_compress_epi8(any, here);
        let one = _mm512_maskz_compress_epi8(any, one);
        // Text of shorter sequences has no third byte, and not once.
        let two = match places.second_continuation {
            0 => _mm512_setzero_si512(),
            third => _mm512_maskz_compress_epi8(any, _mm512_maskz_mov_epi8(third, two.0)),
        };
        let pairs = Pairs {
            high: _pext_u64(places.third_of_4, any),
            low: _pext_u64(places.last_of_4, any),
            replaced: _pext_u64(places.replaced, any),
        };
        store_units(
            [_mm512_castsi512_si256(here), _mm512_castsi512_si256(one), _mm512_castsi512_si256(two)],
            pairs,
            to,
        );
        let count = any.count_ones() as usize;
        if count > 32 {
            let high = [
                _mm512_extracti64x4_epi64::<1>(here),
                _mm512_extracti64x4_epi64::<1>(one),
                _mm512_extracti64x4_epi64::<1>(two),
            ];
            store_units(high, pairs.later(), to.add(32));
        }
        to.add(count)
    }
}

/// Writes those of a window of one and two bytes: see [`Vector::utf16_of_twos`].
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn utf16_of_twos(from: *const u8, begun: &mut u64, mut to: *mut u16) -> Option<*mut u16> {
    // SAFETY: as the caller says.
    unsafe {
        let bytes = Avx512::load(from);
        let continuation = bytes.continuations();
        let lead = _mm512_cmpge_epu8_mask(bytes.0, _mm512_set1_epi8(0xC0_u8 as i8));
        let from_c2 = _mm512_sub_epi8(bytes.0, _mm512_set1_epi8(0xC2_u8 as i8));
        let lead_of_2 = _mm512_cmplt_epu8_mask(from_c2, _mm512_set1_epi8(0xE0_u8.wrapping_sub(0xC2) as i8));
        let goes_on = u64::from(is_continuation(*from.add(64)));
        if (lead ^ lead_of_2) | (lead << 1 | *begun) ^ continuation | lead >> 63 & !goes_on != 0 {
            return None;
        }
        *begun = lead >> 63;
        let ascii = !(lead | continuation);
        for half in 0..2 {
            // Each byte behind the one before it, as words.
            let before = _mm512_loadu_si512(from.add(32 * half).sub(1).cast());
            let pairs = _mm512_permutexvar_epi8(table(&PAIRS), before);
            // The bits they give, the first times 40.
            let bits = _mm512_and_si512(pairs, _mm512_set1_epi16(0x3F1F));
            let units = _mm512_maddubs_epi16(bits, _mm512_set1_epi16(0x0140));
            let units = _mm512_mask_srli_epi16::<8>(units, (ascii >> (32 * half)) as u32, pairs);
            let kept = (!lead >> (32 * half)) as u32;
            _mm512_storeu_si512(to.cast(), _mm512_maskz_compress_epi16(kept, units));
            to = to.add(kept.count_ones() as usize);
        }
        Some(to)
    }
}

/// Writes the units of UTF-32 of a window: see [`Vector::utf32`].
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn utf32(from: *const u8, first: bool, places: Places, to: *mut u32) -> *mut u32 {
    // SAFETY: as the caller says.
    unsafe {
        let here = Avx512::load(from);
        let [one, two, three] = match first {
            true => here.later(),
            false => [Avx512::load(from.sub(1)), Avx512::load(from.sub(2)), Avx512::load(from.sub(3))],
        };
        let any = places.last | places.replaced;
        let low_6 = _mm512_set1_epi8(0x3F);
        // The bits each byte gives to the unit, and no others.
        let here = _mm512_mask_mov_epi8(here.0, places.continuation, _mm512_and_si512(here.0, low_6));
        let one = _mm512_and_si512(_mm512_maskz_mov_epi8(places.continuation, one.0), low_6);
        let two = _mm512_maskz_mov_epi8(places.second_continuation, two.0);
        let low_4 = _mm512_and_si512(two, _mm512_set1_epi8(0xF));
        let two = _mm512_mask_mov_epi8(low_4, places.last_of_4, _mm512_and_si512(two, low_6));
        let three = _mm512_and_si512(_mm512_maskz_mov_epi8(places.last_of_4, three.0), _mm512_set1_epi8(7));
        let here = _mm512_maskz_compress_epi8(any, here);
        let one = _mm512_maskz_compress_epi8(any, one);
        let two = _mm512_maskz_compress_epi8(any, two);
        let three = _mm512_maskz_compress_epi8(any, three);
        let replaced = _pext_u64(places.replaced, any);
        let count = any.count_ones() as usize;
        store_quarter::<0>([here, one, two, three], replaced, to);
        if count > 16 {
            store_quarter::<1>([here, one, two, three], replaced, to);
        }
        if count > 32 {
            store_quarter::<2>([here, one, two, three], replaced, to);
            store_quarter::<3>([here, one, two, three], replaced, to);
        }
        to.add(count)
    }
}

/// Writes ASCII and errors of their own as UTF-16: see [`Vector::widen_to_16`].
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn widen_to_16(from: *const u8, replaced: u64, to: *mut u16) {
    // SAFETY: as the caller says.
    unsafe {
        for half in 0..2 {
            let bytes = _mm256_loadu_si256(from.add(32 * half).cast());
            let replacement = _mm512_set1_epi16(0xFFFD_u16 as i16);
            let units = _mm512_cvtepu8_epi16(bytes);
            let units = _mm512_mask_mov_epi16(units, (replaced >> (32 * half)) as u32, replacement);
            _mm512_storeu_si512(to.add(32 * half).cast(), units);
        }
    }
}

/// The same as UTF-32: see [`Vector::widen_to_32`].
///
/// # Safety
/// As there.
#[inline(always)]
pub(super) unsafe fn widen_to_32(from: *const u8, replaced: u64, to: *mut u32) {
    // SAFETY: as the caller says.
    unsafe {
        for quarter in 0..4 {
            let bytes = _mm_loadu_si128(from.add(16 * quarter).cast());
            let units = _mm512_cvtepu8_epi32(bytes);
            let units = _mm512_mask_mov_epi32(units, (replaced >> (16 * quarter)) as u16, _mm512_set1_epi32(0xFFFD));
            _mm512_storeu_si512(to.add(16 * quarter).cast(), units);
        }
    }
}

/// Each of 32 bytes, and the one behind it.
static PAIRS: [u8; 64] = {
    let mut table = [0; 64];
    let mut at = 0;
    while at < 64 {
        table[at] = at.div_ceil(2) as u8;
        at += 1;
    }
    table
};

/// So many bytes that are not good are stepped over one by one.
const FEW: u32 = 3;

/// Byte `i` of each third holds what stands at a third of `i` in it.
static THIRDS: [[u8; 64]; 3] = {
    let mut tables = [[0; 64]; 3];
    let mut at = 0;
    while at < 3 * 64 {
        tables[at / 64][at % 64] = (at / 64 * 21 + at % 64 / 3) as u8;
        at += 1;
    }
    tables
};

/// EF BF BD, again and again.
static REPLACEMENTS: [u8; 64] = {
    let mut bytes = [0; 64];
    let mut at = 0;
    while at < 64 {
        bytes[at] = [0xEF, 0xBF, 0xBD][at % 3];
        at += 1;
    }
    bytes
};

/// Writes what a window decodes to, 21 bytes at a time: each is tripled, what is replaced is overwritten, and the rest
/// compressed away. Returns the place behind it.
///
/// # Safety
/// 64 bytes can be read and 256 written; the processor has the instructions of this file.
#[inline(always)]
unsafe fn replace_by_thirds(from: *const u8, window: Window, mut to: *mut u8) -> *mut u8 {
    const EVERY_THIRD: u64 = 0x1249_2492_4924_9249;
    // SAFETY: a third becomes at most 63 bytes, of which 64 are written, and the last byte at most three.
    unsafe {
        let bytes = Avx512::load(from).0;
        let replacements = table(&REPLACEMENTS);
        for (third, places) in THIRDS.iter().enumerate() {
            let replaced = 7 * _pdep_u64(window.replaced >> (21 * third), EVERY_THIRD);
            let kept = _pdep_u64(window.good >> (21 * third), EVERY_THIRD) | replaced;
            let tripled = _mm512_mask_permutexvar_epi8(replacements, !replaced, table(places), bytes);
            Avx512(_mm512_maskz_compress_epi8(kept, tripled)).store(to);
            to = to.add(kept.count_ones() as usize);
        }
        // One is left.
        let last = if window.good >> 63 == 1 { [*from.add(63), 0, 0] } else { [0xEF, 0xBF, 0xBD] };
        to.copy_from_nonoverlapping(last.as_ptr(), last.len());
        to.add((window.good >> 63) as usize + 3 * (window.replaced >> 63) as usize)
    }
}

/// Which units are made otherwise than of three times six bits.
#[derive(Clone, Copy)]
struct Pairs {
    high: u64,
    low: u64,
    replaced: u64,
}

impl Pairs {
    /// Those of the second half.
    fn later(self) -> Self {
        Self { high: self.high >> 32, low: self.low >> 32, replaced: self.replaced >> 32 }
    }
}

/// Writes 32 units, each made of the low bits of one byte, of another, and of a third.
///
/// # Safety
/// 32 units can be written; the processor has the instructions of this file.
#[inline(always)]
unsafe fn store_units([here, one, two]: [__m256i; 3], pairs: Pairs, to: *mut u16) {
    // SAFETY: as the caller says.
    unsafe {
        let here = _mm512_cvtepu8_epi16(here);
        let one = _mm512_slli_epi16::<6>(_mm512_cvtepu8_epi16(one));
        let two = _mm512_slli_epi16::<12>(_mm512_cvtepu8_epi16(two));
        let mut units = _mm512_ternarylogic_epi64::<0xFE>(here, one, two);
        if pairs.high | pairs.low | pairs.replaced != 0 {
            let high = _mm512_add_epi16(_mm512_srli_epi16::<4>(units), _mm512_set1_epi16(0xD7C0_u16 as i16));
            let low = _mm512_or_si512(
                _mm512_and_si512(units, _mm512_set1_epi16(0x3FF)),
                _mm512_set1_epi16(0xDC00_u16 as i16),
            );
            units = _mm512_mask_mov_epi16(units, pairs.high as u32, high);
            units = _mm512_mask_mov_epi16(units, pairs.low as u32, low);
            units = _mm512_mask_mov_epi16(units, pairs.replaced as u32, _mm512_set1_epi16(0xFFFD_u16 as i16));
        }
        _mm512_storeu_si512(to.cast(), units);
    }
}

/// Writes the sixteen units of UTF-32 of one quarter, each made of the bits of four bytes.
///
/// # Safety
/// 64 units can be written; the processor has the instructions of this file.
#[inline(always)]
unsafe fn store_quarter<const QUARTER: i32>([here, one, two, three]: [__m512i; 4], replaced: u64, to: *mut u32) {
    // SAFETY: as the caller says.
    unsafe {
        let here = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<QUARTER>(here));
        let one = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<QUARTER>(one));
        let two = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<QUARTER>(two));
        let three = _mm512_cvtepu8_epi32(_mm512_extracti32x4_epi32::<QUARTER>(three));
        let low = _mm512_or_si512(here, _mm512_slli_epi32::<6>(one));
        let units =
            _mm512_ternarylogic_epi64::<0xFE>(low, _mm512_slli_epi32::<12>(two), _mm512_slli_epi32::<18>(three));
        let replaced = (replaced >> (16 * QUARTER)) as u16;
        let units = _mm512_mask_mov_epi32(units, replaced, _mm512_set1_epi32(0xFFFD));
        _mm512_storeu_si512(to.add(16 * QUARTER as usize).cast(), units);
    }
}
