//! UTF-16 and UTF-32, from one to the other and from single bytes, by AVX-512: 16 or 32 units at a time, what is too many compressed away.

use crate::codec::kernel::units;
use core::arch::x86_64::*;

/// Units of UTF-32 in a register.
const UNITS: usize = 16;

/// Steps for which room is made at a time.
pub(super) const STEPS: usize = 128;

/// Appends to `$out` what `$written` makes of each step: it writes at `$to`, at most `$room` units, and is the place behind
/// those that count. A macro, for a closure would not be compiled for the instruction set.
macro_rules! append_by_steps {
    ($steps:expr, $room:expr, $out:expr, |$step:ident, $to:ident| $written:expr) => {
        for steps in $steps.chunks(STEPS) {
            $out.reserve($room * (steps.len() + 1));
            let mut to = $out.as_mut_ptr().add($out.len());
            for $step in steps {
                let $to = to;
                to = $written;
            }
            $out.set_len(to.offset_from_unsigned($out.as_ptr()));
        }
    };
}
pub(super) use append_by_steps;

/// Sixteen scalar values from units of UTF-16.
#[derive(Clone, Copy)]
pub(super) struct Joined {
    /// Each where its first unit stands, U+FFFD for lone surrogates.
    pub(super) scalars: __m512i,
    /// Where pairs begin, the last of which may end behind.
    pub(super) pair: u16,
    /// Where the second units of pairs stand, and no scalar value is.
    pub(super) done: u16,
}

/// Joins sixteen `units`, that stand at `from`, into scalar values. `low_is_done`: the first belongs to a pair before.
///
/// # Safety
/// 17 units can be read; the processor has AVX-512.
#[inline(always)]
pub(super) unsafe fn join(units: __m512i, from: *const u16, low_is_done: u16) -> Joined {
    // SAFETY: as the caller says.
    unsafe {
        let high_bits = _mm512_and_si512(units, _mm512_set1_epi32(0xFC00));
        let high = _mm512_cmpeq_epi32_mask(high_bits, _mm512_set1_epi32(0xD800));
        let low = _mm512_cmpeq_epi32_mask(high_bits, _mm512_set1_epi32(0xDC00));
        if high | low == 0 {
            return Joined { scalars: units, pair: 0, done: 0 };
        }
        // Not loaded from one place later: such loads come out in pieces.
        let behind = _mm512_set1_epi32(i32::from(*from.add(UNITS)));
        let next = _mm512_alignr_epi32::<1>(behind, units);
        let low_next =
            _mm512_cmpeq_epi32_mask(_mm512_and_si512(next, _mm512_set1_epi32(0xFC00)), _mm512_set1_epi32(0xDC00));
        let pair = high & low_next;
        let done = pair << 1 | low_is_done;
        let lone = (high | low) & !pair & !done;
        // (high - D800) << 10 + (low - DC00) + 10000
        let joined = _mm512_add_epi32(_mm512_slli_epi32::<10>(units), next);
        let joined = _mm512_sub_epi32(joined, _mm512_set1_epi32((0xD800 << 10) + 0xDC00 - 0x1_0000));
        let scalars = _mm512_mask_mov_epi32(units, pair, joined);
        Joined { scalars: _mm512_mask_mov_epi32(scalars, lone, _mm512_set1_epi32(0xFFFD)), pair, done }
    }
}

/// Sixteen units of UTF-32, U+FFFD for what is no scalar value.
///
/// # Safety
/// They can be read; the processor has AVX-512.
#[inline(always)]
pub(super) unsafe fn scalars(from: *const u32) -> __m512i {
    // SAFETY: as the caller says.
    unsafe {
        let units = _mm512_loadu_si512(from.cast());
        let high_bits = _mm512_and_si512(units, _mm512_set1_epi32(!0x7FF));
        let wrong = _mm512_cmpeq_epi32_mask(high_bits, _mm512_set1_epi32(0xD800))
            | _mm512_cmpgt_epu32_mask(units, _mm512_set1_epi32(0x10_FFFF));
        _mm512_mask_mov_epi32(units, wrong, _mm512_set1_epi32(0xFFFD))
    }
}

/// How many units at the start are UTF-16 without a lone surrogate.
///
/// # Safety
/// The processor has AVX-512.
#[inline(always)]
pub(super) unsafe fn utf16_prefix(units: &[u16]) -> usize {
    // Whether the last unit was the first of a pair.
    let (mut at, mut begun) = (0, 0);
    for block in units.as_chunks::<{ 2 * UNITS }>().0 {
        // SAFETY: as the caller says.
        let (high, low) = unsafe {
            let units =
                _mm512_and_si512(_mm512_loadu_si512(block.as_ptr().cast()), _mm512_set1_epi16(0xFC00_u16 as i16));
            (
                _mm512_cmpeq_epi16_mask(units, _mm512_set1_epi16(0xD800_u16 as i16)),
                _mm512_cmpeq_epi16_mask(units, _mm512_set1_epi16(0xDC00_u16 as i16)),
            )
        };
        if (high << 1 | begun) != low {
            break;
        }
        begun = high >> 31;
        at += 2 * UNITS;
    }
    at -= begun as usize;
    at + units::utf16_prefix(&units[at..])
}

/// Appends UTF-16 in UTF-32, with U+FFFD for every lone surrogate.
///
/// # Safety
/// The processor has AVX-512.
#[inline(always)]
pub(super) unsafe fn utf32_from_utf16(units: &[u16], out: &mut Vec<u32>) {
    let (mut at, mut low_is_done) = (0, 0);
    // A step reads one unit more than its own.
    while units.len() - at > UNITS {
        let end = (units.len() - 1).min(at + STEPS * UNITS);
        out.reserve(end - at + UNITS);
        // SAFETY: a step reads 17 units, writes sixteen and goes on by at most as many.
        unsafe {
            let mut to = out.as_mut_ptr().add(out.len());
            while end - at >= UNITS {
                let from = units.as_ptr().add(at);
                let joined = join(_mm512_cvtepu16_epi32(_mm256_loadu_si256(from.cast())), from, low_is_done);
                // Where there is no surrogate nothing waits for one.
                if joined.done == 0 {
                    _mm512_storeu_si512(to.cast(), joined.scalars);
                    to = to.add(UNITS);
                } else {
                    _mm512_storeu_si512(to.cast(), _mm512_maskz_compress_epi32(!joined.done, joined.scalars));
                    to = to.add(joined.done.count_zeros() as usize);
                }
                low_is_done = joined.pair >> 15;
                at += UNITS;
            }
            out.set_len(to.offset_from_unsigned(out.as_ptr()));
        }
    }
    units::utf32_from_utf16(&units[at + usize::from(low_is_done)..], out);
}

/// Appends UTF-32 in UTF-16, with U+FFFD for what is no scalar value.
///
/// # Safety
/// The processor has AVX-512 with VBMI2, and BMI2.
#[inline(always)]
pub(super) unsafe fn utf16_from_utf32(units: &[u32], out: &mut Vec<u16>) {
    let (steps, rest) = units.as_chunks::<UNITS>();
    // SAFETY: as the caller says; a step writes 32 units at most.
    unsafe {
        append_by_steps!(steps, 2 * UNITS, out, |step, to| {
            let scalars = scalars(step.as_ptr());
            let over = _mm512_cmpgt_epu32_mask(scalars, _mm512_set1_epi32(0xFFFF));
            if over == 0 {
                _mm256_storeu_si256(to.cast(), _mm512_cvtepi32_epi16(scalars));
                to.add(UNITS)
            } else {
                // The first unit low, the second high.
                let first = _mm512_add_epi32(_mm512_srli_epi32::<10>(scalars), _mm512_set1_epi32(0xD7C0));
                let second = _mm512_slli_epi32::<16>(_mm512_and_si512(scalars, _mm512_set1_epi32(0x3FF)));
                let second = _mm512_or_si512(second, _mm512_set1_epi32(0xDC00_0000_u32 as i32));
                let pairs = _mm512_mask_or_epi32(scalars, over, first, second);
                let kept = 0x5555_5555 | _pdep_u32(over.into(), 0xAAAA_AAAA);
                _mm512_storeu_si512(to.cast(), _mm512_maskz_compress_epi16(kept, pairs));
                to.add(kept.count_ones() as usize)
            }
        });
    }
    units::utf16_from_utf32(rest, out);
}

/// Appends single bytes in UTF-16: each is the code point of that number, but those of 80..9F are what `of_80` says.
///
/// # Safety
/// The processor has AVX-512 with VBMI.
#[inline(always)]
pub(super) unsafe fn utf16_from_bytes(bytes: &[u8], of_80: &[u16; 32], out: &mut Vec<u16>) {
    let (steps, rest) = bytes.as_chunks::<{ 2 * UNITS }>();
    out.reserve(bytes.len());
    // SAFETY: as the caller says; a step writes 32 units, for which there is room.
    unsafe {
        let table = _mm512_loadu_si512(of_80.as_ptr().cast());
        let mut to = out.as_mut_ptr().add(out.len());
        for step in steps {
            let units = _mm512_cvtepu8_epi16(_mm256_loadu_si256(step.as_ptr().cast()));
            let high = _mm512_and_si512(units, _mm512_set1_epi16(0xE0));
            let is_mapped = _mm512_cmpeq_epi16_mask(high, _mm512_set1_epi16(0x80));
            let units = _mm512_mask_permutexvar_epi16(units, is_mapped, units, table);
            _mm512_storeu_si512(to.cast(), units);
            to = to.add(2 * UNITS);
        }
        out.set_len(to.offset_from_unsigned(out.as_ptr()));
    }
    units::utf16_from_bytes(rest, of_80, out);
}
