//! From code units by AVX-512: UTF-16 and UTF-32 to UTF-8 and to each other, and single bytes to UTF-8 and UTF-16.
//!
//! # Idea
//!
//! Every unit gets a lane as wide as the longest form that it may need: two bytes if all units are below 800 or halves of whole
//! pairs, otherwise four. All forms are computed at once: `vpmultishiftqb` picks any eight consecutive bits of a lane for each byte, so a
//! form costs that one shift, and one operation that masks the payload and sets the marks. Masks select the form of each
//! unit. Bytes that are not needed stay zero and are compressed away: all that are neither the first of a unit nor a continuation
//! byte. Pairs of UTF-16 are joined to scalar values first, unless lanes of two bytes suffice: each half of a pair is two of the
//! four bytes. On the way to UTF-8 no step ends inside a pair.
//!
//! ```text
//! while 33 units are left:
//!     all below 800: one or two bytes for each, in lanes of two
//!     all but whole pairs below 800: two bytes for each half, in lanes of two, too
//!     otherwise: join pairs, if there are any; lone surrogates are U+FFFD; second units of pairs are `done`
//!         bytes = for each unit, in lanes of four, the form with 1, 2, 3 or 4 bytes, and zeros
//!         kept = continuation bytes, and the first of each unit that is not done
//!         write compress(kept, bytes)
//! the rest by portable code
//! ```
//!
//! # Example
//!
//! `0061 D83D DE00 20AC` to UTF-8:
//!
//! ```text
//! units        0061        D83D        DE00        20AC
//! scalars      61          1F600       (done)      20AC
//! bytes        61 .. .. .. F0 9F 98 80 .. .. .. .. E2 82 AC ..
//! kept          1  .  .  .  1  1  1  1  .  .  .  .  1  1  1  .
//! written      61 F0 9F 98 80 E2 82 AC
//! ```
//!
//! # Cost
//!
//! Sixteen units cost about twenty instructions and a compression. Where lanes of two bytes suffice, or 32 units are ASCII, a unit
//! costs half of that. ASCII that a stretch of 4096 units begins with is narrowed 64 units at a time. Branches tell these cases apart:
//! text that changes between them every few units loses time to mispredictions. What does not fill a
//! step, from UTF-16 at most 32 units at the end, is left to code without intrinsics.

use crate::kernel::avx512::{Table, table};
use crate::kernel::portable;
use crate::kernel::vector::Aligned;
use crate::scalar;
use core::arch::x86_64::*;

/// Units of 32 bits in a register.
const UNITS: usize = 16;

/// Units of 16 bits in a register.
const UNITS_16: usize = 32;

/// Bytes in a register.
const BYTES: usize = 64;

/// Steps for which room is made at a time.
const STEPS: usize = 128;

/// One step of a conversion whose steps read an array `From` each and do not depend on each other.
///
/// # Safety
/// `write` writes only within `to..to + ROOM` and returns the end of the output, at most `to + ROOM`; everything before it is
/// written. It may be called only where that room can be written and the processor has the instructions.
unsafe trait Step<From, To> {
    /// How many units of the output a step may write.
    const ROOM: usize;

    unsafe fn write(from: &From, to: *mut To) -> *mut To;
}

/// Appends what each step writes.
///
/// # Safety
/// The processor has the instructions.
#[inline(always)]
unsafe fn append_steps<S: Step<From, To>, From, To>(steps: &[From], out: &mut Vec<To>) {
    for steps in steps.chunks(STEPS) {
        out.reserve(S::ROOM * (steps.len() + 1));
        // SAFETY: each step moves `to` by at most `ROOM` and writes at most `ROOM` from there: within what is reserved.
        unsafe {
            let mut to = out.as_mut_ptr().add(out.len());
            for step in steps {
                to = S::write(step, to);
            }
            out.set_len(to.offset_from_unsigned(out.as_ptr()));
        }
    }
}

/// Scalar values of sixteen units of UTF-16.
#[derive(Clone, Copy)]
struct Joined {
    /// Each at the place of its first unit; U+FFFD for lone surrogates.
    scalars: __m512i,
    /// The first units of pairs. The second unit of the last may be after the sixteen.
    pair: u16,
    /// The second units of pairs, whose places hold no scalar value.
    done: u16,
}

/// Joins sixteen `units`, those at `from`, into scalar values. `low_is_done`: 1 if the first is the second of a pair.
///
/// # Safety
/// `from..from + 17` can be read; the processor has the instructions.
#[inline(always)]
unsafe fn join(units: __m512i, from: *const u16, low_is_done: u16) -> Joined {
    // SAFETY: reads the unit at `from + 16`; all else is in registers.
    unsafe {
        let high_bits = _mm512_and_si512(units, _mm512_set1_epi32(0xFC00));
        let high = _mm512_cmpeq_epi32_mask(high_bits, _mm512_set1_epi32(0xD800));
        let low = _mm512_cmpeq_epi32_mask(high_bits, _mm512_set1_epi32(0xDC00));
        if high | low == 0 {
            return Joined { scalars: units, pair: 0, done: 0 };
        }
        // Loading one place later would be misaligned every time.
        let after = _mm512_set1_epi32(i32::from(*from.add(UNITS)));
        let next = _mm512_alignr_epi32::<1>(after, units);
        let low_next =
            _mm512_cmpeq_epi32_mask(_mm512_and_si512(next, _mm512_set1_epi32(0xFC00)), _mm512_set1_epi32(0xDC00));
        let pair = high & low_next;
        let done = pair << 1 | low_is_done;
        let lone = (high | low) & !pair & !done;
        let scalars = _mm512_mask_mov_epi32(units, pair, joined(units, next));
        Joined { scalars: _mm512_mask_mov_epi32(scalars, lone, _mm512_set1_epi32(0xFFFD)), pair, done }
    }
}

/// Sixteen units of UTF-32, U+FFFD for those that are not scalar values.
///
/// # Safety
/// `from..from + 16` can be read; the processor has the instructions.
#[inline(always)]
unsafe fn scalars(from: *const u32) -> __m512i {
    // SAFETY: the load reads 16 units at `from`.
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
/// The processor has the instructions.
#[inline(always)]
pub(crate) unsafe fn utf16_prefix(units: &[u16]) -> usize {
    // 1 if the last unit was the first of a pair.
    let (mut at, mut begun) = (0, 0);
    for block in units.as_chunks::<UNITS_16>().0 {
        // SAFETY: the load reads the 32 units of the block.
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
        at += UNITS_16;
    }
    at -= begun as usize;
    at + scalar::utf16_prefix(&units[at..])
}

/// Appends UTF-16 as UTF-32, with U+FFFD for every lone surrogate.
///
/// # Safety
/// The processor has the instructions.
#[inline(always)]
pub(crate) unsafe fn utf32_from_utf16(units: &[u16], out: &mut Vec<u32>) {
    let (mut at, mut low_is_done) = (0, 0);
    // A step reads one unit more than it converts.
    while units.len() - at > UNITS {
        let end = (units.len() - 1).min(at + STEPS * UNITS);
        out.reserve(end - at + UNITS);
        // SAFETY: `at + UNITS <= end < units.len()`: 17 units can be read. A step writes 16 units and moves `to` by at most as
        // many, and there is room for `end - at` and 16 more.
        unsafe {
            let mut to = out.as_mut_ptr().add(out.len());
            while end - at >= UNITS {
                let from = units.as_ptr().add(at);
                let joined = join(_mm512_cvtepu16_epi32(_mm256_loadu_si256(from.cast())), from, low_is_done);
                // Without surrogates, `to` does not depend on a population count.
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
    scalar::utf32_from_utf16(&units[at + usize::from(low_is_done)..], out);
}

/// UTF-32 to UTF-16.
struct Utf16FromUtf32;

// SAFETY: the stores are of 32 units at most, from `to`; as many or fewer are kept.
unsafe impl Step<[u32; UNITS], u16> for Utf16FromUtf32 {
    const ROOM: usize = UNITS_16;

    #[inline(always)]
    unsafe fn write(from: &[u32; UNITS], to: *mut u16) -> *mut u16 {
        // SAFETY: `scalars` reads the array. The stores write 16 or 32 units at `to`.
        unsafe {
            let scalars = scalars(from.as_ptr());
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
        }
    }
}

/// Appends UTF-32 as UTF-16, with U+FFFD for every number that is not a scalar value.
///
/// # Safety
/// The processor has the instructions.
#[inline(always)]
pub(crate) unsafe fn utf16_from_utf32(units: &[u32], out: &mut Vec<u16>) {
    let (steps, rest) = units.as_chunks::<UNITS>();
    // SAFETY: the instructions are all it requires.
    unsafe { append_steps::<Utf16FromUtf32, _, _>(steps, out) };
    scalar::utf16_from_utf32(rest, out);
}

/// Appends bytes of a single-byte encoding as UTF-16: each is the code point of the same number, except 80..9F, whose code
/// points are in `of_80`.
///
/// # Safety
/// The processor has the instructions.
#[inline(always)]
pub(crate) unsafe fn utf16_from_bytes(bytes: &[u8], of_80: &[u16; 32], out: &mut Vec<u16>) {
    let (steps, rest) = bytes.as_chunks::<UNITS_16>();
    out.reserve(bytes.len());
    // SAFETY: the table has 32 units. Each step reads the 32 bytes of its array and writes 32 units; there is room for a unit
    // for each byte.
    unsafe {
        let table = _mm512_loadu_si512(of_80.as_ptr().cast());
        let mut to = out.as_mut_ptr().add(out.len());
        for step in steps {
            let units = _mm512_cvtepu8_epi16(_mm256_loadu_si256(step.as_ptr().cast()));
            let high = _mm512_and_si512(units, _mm512_set1_epi16(0xE0));
            let is_mapped = _mm512_cmpeq_epi16_mask(high, _mm512_set1_epi16(0x80));
            let units = _mm512_mask_permutexvar_epi16(units, is_mapped, units, table);
            _mm512_storeu_si512(to.cast(), units);
            to = to.add(UNITS_16);
        }
        out.set_len(to.offset_from_unsigned(out.as_ptr()));
    }
    scalar::utf16_from_bytes(rest, of_80, out);
}

/// Appends UTF-16 as UTF-8, with U+FFFD for every lone surrogate.
///
/// # Safety
/// The processor has the instructions.
#[inline(always)]
pub(crate) unsafe fn from_utf16(units: &[u16], out: &mut Vec<u8>) {
    let mut at = 0;
    // A step reads one unit more than 32, and converts 32, or 31 if the last would be the first of a pair.
    while units.len() - at > UNITS_16 {
        let end = (units.len() - 1).min(at + STEPS * UNITS_16);
        out.reserve(3 * (end - at) + 4 * UNITS_16);
        // SAFETY: `narrow_run` reads only units before `end`, and writes a byte for each. `at + UNITS_16 <= end < units.len()` at
        // each step: 33 units can be read. A step moves `to` by at most three bytes for each unit, its first half by at most 64,
        // and each half writes at most 64 bytes from where it is: within the `3 * (end - at) + 128` reserved.
        unsafe {
            let mut to = out.as_mut_ptr().add(out.len());
            // Once for each stretch: in the loop it would slow down text with little ASCII.
            let ascii = narrow_run(units.as_ptr().add(at), end - at, to);
            (at, to) = (at + ascii, to.add(ascii));
            while end - at >= UNITS_16 {
                let from = units.as_ptr().add(at);
                let units = _mm512_loadu_si512(from.cast());
                let any = any(units);
                if has_none(any, 0xF800_F800) {
                    to = if has_none(any, 0xFF80_FF80) { narrow(units, to) } else { encode_up_to_two(units, to) };
                } else if surrogates(units) == 0 {
                    let (first, second) = (_mm512_castsi512_si256(units), _mm512_extracti64x4_epi64::<1>(units));
                    to = encode_up_to_three(_mm512_cvtepu16_epi32(first), to);
                    to = encode_up_to_three(_mm512_cvtepu16_epi32(second), to);
                } else {
                    let len = UNITS_16 - usize::from(*from.add(UNITS_16 - 1) & 0xFC00 == 0xD800);
                    (at, to) = (at + len, encode_any(units, from, len, to));
                    continue;
                }
                at += UNITS_16;
            }
            out.set_len(to.offset_from_unsigned(out.as_ptr()));
        }
    }
    portable::from_utf16(&units[at..], out);
}

/// All bits that are set in either half.
///
/// # Safety
/// The processor has the instructions.
#[inline(always)]
unsafe fn any(units: __m512i) -> __m256i {
    // SAFETY: registers only.
    unsafe { _mm256_or_si256(_mm512_castsi512_si256(units), _mm512_extracti64x4_epi64::<1>(units)) }
}

/// Whether none of these bits is set in any four bytes of `any`. A comparison whose result is a mask, and a branch on the mask, take
/// longer on Zen 5.
///
/// # Safety
/// The processor has the instructions.
#[inline(always)]
unsafe fn has_none(any: __m256i, bits: u32) -> bool {
    // SAFETY: registers only.
    unsafe { _mm256_testz_si256(any, _mm256_set1_epi32(bits as i32)) == 1 }
}

/// Writes 32 units as bytes.
///
/// # Safety
/// 32 bytes can be written at `to`; the processor has the instructions.
#[inline(always)]
unsafe fn narrow(units: __m512i, to: *mut u8) -> *mut u8 {
    // SAFETY: the store writes 32 bytes.
    unsafe {
        _mm256_storeu_si256(to.cast(), _mm512_cvtepi16_epi8(units));
        to.add(UNITS_16)
    }
}

/// Writes 64 units as bytes if they are ASCII; returns whether they are.
///
/// # Safety
/// They can be read, and as many bytes written; the processor has the instructions.
#[inline(always)]
unsafe fn narrow_if_ascii(from: *const u16, to: *mut u8) -> bool {
    // SAFETY: each load reads 32 units, for which as many bytes are written.
    unsafe {
        let [first, second] = [0, UNITS_16].map(|at| _mm512_loadu_si512(from.add(at).cast()));
        let are_ascii = _mm512_testn_epi16_mask(_mm512_or_si512(first, second), _mm512_set1_epi16(!0x7F)) == !0;
        if are_ascii {
            narrow(second, narrow(first, to));
        }
        are_ascii
    }
}

/// Writes units as long as they are ASCII, 64 at a time and at most `most`; returns how many.
///
/// # Safety
/// `most` units can be read, and as many bytes written; the processor has the instructions.
#[inline(always)]
unsafe fn narrow_run(from: *const u16, most: usize, to: *mut u8) -> usize {
    // SAFETY: each call of `narrow_if_ascii` ends at `most` or before. The second begins within the first 64 units, so none is left out.
    unsafe {
        if most < BYTES || !narrow_if_ascii(from, to) {
            return 0;
        }
        // From here on no store crosses a cache line.
        let mut at = to.align_offset(BYTES) % BYTES;
        while at + BYTES <= most && narrow_if_ascii(from.add(at), to.add(at)) {
            at += BYTES;
        }
        at.max(BYTES)
    }
}

/// The units that are surrogates.
///
/// # Safety
/// The processor has the instructions.
#[inline(always)]
unsafe fn surrogates(units: __m512i) -> u32 {
    // SAFETY: registers only.
    unsafe { are(units, 0xF800, 0xD800) }
}

/// The units that have these values in these bits.
///
/// # Safety
/// The processor has the instructions.
#[inline(always)]
unsafe fn are(units: __m512i, bits: u16, values: u16) -> u32 {
    // SAFETY: registers only.
    unsafe {
        let bits = _mm512_and_si512(units, _mm512_set1_epi16(bits as i16));
        _mm512_cmpeq_epi16_mask(bits, _mm512_set1_epi16(values as i16))
    }
}

/// Writes the first `len` of 32 `units`, those at `from`: all, or all but the last, which is a high surrogate then. So no pair is
/// split.
///
/// # Safety
/// `from..from + 33` can be read, and 128 bytes written at `to`; the processor has the instructions.
#[inline(always)]
unsafe fn encode_any(units: __m512i, from: *const u16, len: usize, to: *mut u8) -> *mut u8 {
    // SAFETY: the load reads the units one place after. The first half writes 64 bytes and moves `to` by at most as many; the second
    // writes 64. `encode_halves` needs less.
    unsafe {
        let (high, low) = (are(units, 0xFC00, 0xD800), are(units, 0xFC00, 0xDC00));
        let over_7ff = _mm512_cmpgt_epu16_mask(units, _mm512_set1_epi16(0x7FF));
        if high << 1 ^ low | over_7ff ^ (high | low) == 0 {
            return encode_halves(units, from, [high, low], len, to);
        }
        let next = _mm512_loadu_si512(from.add(1).cast());
        let (pair, left_out) = (high & low >> 1, !_bzhi_u32(!0, len as u32));
        let done = low & high << 1 | left_out;
        let lone = (high | low) & !(pair | done);
        let units = _mm512_mask_mov_epi16(units, lone, _mm512_set1_epi16(0xFFFD_u16 as i16));
        let halves = |units| [_mm512_castsi512_si256(units), _mm512_extracti64x4_epi64::<1>(units)];
        let mut to = to;
        for (half, (units, next)) in halves(units).into_iter().zip(halves(next)).enumerate() {
            let (units, next) = (_mm512_cvtepu16_epi32(units), _mm512_cvtepu16_epi32(next));
            let [pair, done] = [pair, done].map(|mask| (mask >> (UNITS * half)) as u16);
            to = encode_scalars(_mm512_mask_mov_epi32(units, pair, joined(units, next)), pair, done, to);
        }
        to
    }
}

/// Writes the first `len` of 32 `units`, those at `from`, of which those above 7FF are halves of pairs: the `high` and the `low`
/// ones. Each half becomes two bytes of the four, so lanes of two bytes suffice.
///
/// # Safety
/// `from..from + 32` can be read, and 64 bytes written at `to`; the processor has the instructions.
#[inline(always)]
unsafe fn encode_halves(units: __m512i, from: *const u16, [high, low]: [u32; 2], len: usize, to: *mut u8) -> *mut u8 {
    // SAFETY: the load reads the units one place before, but for the first. `write_kept` writes 64 bytes at `to`.
    unsafe {
        // All but the lowest two of the eleven bits of the scalar value in a high surrogate: (units - D800 + 40) >> 2.
        let first = _mm512_srli_epi16::<2>(_mm512_add_epi16(units, _mm512_set1_epi16(0x2840)));
        // These two and the ten in a low surrogate: before << 10 | units & 3FF.
        let before = _mm512_maskz_loadu_epi16(!1, from.wrapping_sub(1).cast());
        let second =
            _mm512_ternarylogic_epi64::<0xEA>(units, _mm512_set1_epi16(0x3FF), _mm512_slli_epi16::<10>(before));
        let words = _mm512_mask_mov_epi16(_mm512_mask_mov_epi16(units, high, first), low, second);
        let shifted = _mm512_multishift_epi64_epi8(table(&BITS_OF_TWO), words);
        let marks = _mm512_set1_epi16(0x80C0_u16 as i16);
        let marks = _mm512_mask_mov_epi16(marks, high, _mm512_set1_epi16(0x80F0_u16 as i16));
        let marks = _mm512_mask_mov_epi16(marks, low, _mm512_set1_epi16(0x8080_u16 as i16));
        let bytes = _mm512_ternarylogic_epi64::<0xEA>(shifted, _mm512_set1_epi8(0x3F), marks);
        let over_7f = _mm512_cmpgt_epu16_mask(units, _mm512_set1_epi16(0x7F));
        let bytes = _mm512_mask_mov_epi16(units, over_7f, bytes);
        write_kept(bytes, _bzhi_u64(kept_of_twos(bytes), 2 * len as u32), to)
    }
}

/// The scalar values of pairs of surrogates.
///
/// # Safety
/// The processor has the instructions.
#[inline(always)]
unsafe fn joined(high: __m512i, low: __m512i) -> __m512i {
    // SAFETY: registers only.
    unsafe {
        // (high - D800) << 10 + (low - DC00) + 10000
        let joined = _mm512_add_epi32(_mm512_slli_epi32::<10>(high), low);
        _mm512_sub_epi32(joined, _mm512_set1_epi32((0xD800 << 10) + 0xDC00 - 0x1_0000))
    }
}

/// Writes 32 units, none of which is above 7FF.
///
/// # Safety
/// 64 bytes can be written at `to`; the processor has the instructions.
#[inline(always)]
unsafe fn encode_up_to_two(units: __m512i, to: *mut u8) -> *mut u8 {
    // SAFETY: `write_kept` writes 64 bytes at `to`.
    unsafe {
        let two = _mm512_ternarylogic_epi64::<0xFE>(
            _mm512_srli_epi16::<6>(units),
            _mm512_slli_epi16::<8>(_mm512_and_si512(units, _mm512_set1_epi16(0x3F))),
            _mm512_set1_epi16(0x80C0_u16 as i16),
        );
        let over_7f = _mm512_cmpgt_epu16_mask(units, _mm512_set1_epi16(0x7F));
        let bytes = _mm512_mask_mov_epi16(units, over_7f, two);
        write_kept(bytes, kept_of_twos(bytes), to)
    }
}

/// What is kept of lanes of two bytes: the first, and the second if it is a continuation byte.
///
/// # Safety
/// The processor has the instructions.
#[inline(always)]
unsafe fn kept_of_twos(bytes: __m512i) -> u64 {
    // SAFETY: registers only.
    unsafe { _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi16(0x8000_u16 as i16)) }
}

/// Writes sixteen scalar values below 10000.
///
/// # Safety
/// 64 bytes can be written at `to`; the processor has the instructions.
#[inline(always)]
unsafe fn encode_up_to_three(scalars: __m512i, to: *mut u8) -> *mut u8 {
    // SAFETY: `write_kept` writes 64 bytes at `to`.
    unsafe {
        let bytes = up_to_three(scalars);
        // The first, and those that are continuation bytes.
        write_kept(bytes, _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi32(0x8080_8000_u32 as i32)), to)
    }
}

/// The bytes of sixteen scalar values below 10000, the first lowest, and zeros after them.
///
/// # Safety
/// The processor has the instructions.
#[inline(always)]
unsafe fn up_to_three(scalars: __m512i) -> __m512i {
    // SAFETY: registers only.
    unsafe {
        let over_7f = _mm512_cmpgt_epu32_mask(scalars, _mm512_set1_epi32(0x7F));
        let over_7ff = _mm512_cmpgt_epu32_mask(scalars, _mm512_set1_epi32(0x7FF));
        let two = selected::<0x3F1F, 0x80C0>(table(&BITS_OF_TWO), scalars);
        let three = selected::<0x3F_3F0F, 0x80_80E0>(table(&BITS_OF_THREE), scalars);
        _mm512_mask_mov_epi32(_mm512_mask_mov_epi32(scalars, over_7f, two), over_7ff, three)
    }
}

/// Writes sixteen scalar values, of which those in `over_ffff` are above FFFF, and those in `done` are left out.
///
/// # Safety
/// 64 bytes can be written at `to`; the processor has the instructions.
#[inline(always)]
unsafe fn encode_scalars(scalars: __m512i, over_ffff: u16, done: u16, to: *mut u8) -> *mut u8 {
    // SAFETY: `write_kept` writes 64 bytes at `to`.
    unsafe {
        if over_ffff | done == 0 {
            return encode_up_to_three(scalars, to);
        }
        let four = selected::<0x3F3F_3F07, 0x8080_80F0>(table(&BITS_OF_FOUR), scalars);
        // Pairs are most often among other pairs and ASCII.
        let over_7f = _mm512_cmpgt_epu32_mask(scalars, _mm512_set1_epi32(0x7F));
        let others = if over_7f & !(over_ffff | done) == 0 { scalars } else { up_to_three(scalars) };
        let bytes = _mm512_mask_mov_epi32(others, over_ffff, four);
        // The lowest byte of U+0000 is kept, too, and nothing of what is done.
        let marked = _mm512_maskz_or_epi32(!done, bytes, _mm512_set1_epi32(1));
        write_kept(bytes, _mm512_test_epi8_mask(marked, marked), to)
    }
}

/// Writes the `kept` bytes.
///
/// # Safety
/// 64 bytes can be written at `to`; the processor has the instructions.
#[inline(always)]
unsafe fn write_kept(bytes: __m512i, kept: u64, to: *mut u8) -> *mut u8 {
    // SAFETY: the store writes 64 bytes at `to`.
    unsafe {
        _mm512_storeu_si512(to.cast(), _mm512_maskz_compress_epi8(kept, bytes));
        to.add(kept.count_ones() as usize)
    }
}

/// For every byte eight bits of its word, from the bit in `from` on; of these the bits in `BITS`, with the `MARKS` set.
///
/// # Safety
/// The processor has the instructions.
#[inline(always)]
unsafe fn selected<const BITS: u32, const MARKS: u32>(from: __m512i, words: __m512i) -> __m512i {
    // SAFETY: registers only.
    unsafe {
        let shifted = _mm512_multishift_epi64_epi8(from, words);
        // shifted & BITS | MARKS
        let (bits, marks) = (_mm512_set1_epi32(BITS as i32), _mm512_set1_epi32(MARKS as i32));
        _mm512_ternarylogic_epi64::<0xEA>(shifted, bits, marks)
    }
}

/// For each byte of a sequence, the bit of the scalar value from which its bits are taken; a lane has `LANE` bytes.
const fn bits_of<const LANE: usize>(len: usize) -> [u8; BYTES] {
    let mut from = [0; BYTES];
    let mut at = 0;
    while at < BYTES {
        let (lane, byte) = (at % 8 / LANE * LANE, at % LANE);
        // What is taken for bytes after the sequence is masked out.
        let bit = if byte < len { 6 * (len - 1 - byte) } else { 0 };
        from[at] = (8 * lane + bit) as u8;
        at += 1;
    }
    from
}

static BITS_OF_TWO: Table = Aligned(bits_of::<2>(2));
static BITS_OF_THREE: Table = Aligned(bits_of::<4>(3));
static BITS_OF_FOUR: Table = Aligned(bits_of::<4>(4));

/// UTF-32 to UTF-8.
struct Utf8FromUtf32;

// SAFETY: the stores reach at most 128 bytes after `to`, and each half makes at most 64 bytes.
unsafe impl Step<[u32; UNITS_16], u8> for Utf8FromUtf32 {
    /// Four bytes for each unit.
    const ROOM: usize = 128;

    #[inline(always)]
    unsafe fn write(from: &[u32; UNITS_16], mut to: *mut u8) -> *mut u8 {
        // SAFETY: the loads read the array, in two halves. The stores write 64 bytes at `to`, and 64 more at most 64 later.
        unsafe {
            let halves = [0, UNITS].map(|at| from.as_ptr().add(at));
            let [first, second] = halves.map(|half| _mm512_loadu_si512(half.cast()));
            let any = any(_mm512_or_si512(first, second));
            if has_none(any, !0x7F) {
                _mm_storeu_si128(to.cast(), _mm512_cvtepi32_epi8(first));
                _mm_storeu_si128(to.add(UNITS).cast(), _mm512_cvtepi32_epi8(second));
                return to.add(UNITS_16);
            }
            if has_none(any, !0x7FF) {
                let narrow = _mm512_castsi256_si512(_mm512_cvtepi32_epi16(first));
                return encode_up_to_two(_mm512_inserti64x4::<1>(narrow, _mm512_cvtepi32_epi16(second)), to);
            }
            if has_none(any, !0xFFFF) && surrogates(_mm512_packus_epi32(first, second)) == 0 {
                return encode_up_to_three(second, encode_up_to_three(first, to));
            }
            for half in halves {
                let scalars = scalars(half);
                to = encode_scalars(scalars, _mm512_cmpgt_epu32_mask(scalars, _mm512_set1_epi32(0xFFFF)), 0, to);
            }
            to
        }
    }
}

/// Appends UTF-32 as UTF-8, with U+FFFD for every number that is not a scalar value.
///
/// # Safety
/// The processor has the instructions.
#[inline(always)]
pub(crate) unsafe fn from_utf32(units: &[u32], out: &mut Vec<u8>) {
    let (steps, rest) = units.as_chunks::<UNITS_16>();
    // SAFETY: the instructions are all it requires.
    unsafe { append_steps::<Utf8FromUtf32, _, _>(steps, out) };
    portable::from_utf32(rest, out);
}

/// Latin-1 to UTF-8.
struct Utf8FromLatin1;

// SAFETY: the stores reach at most 128 bytes after `to`, and each half makes at most 64 bytes.
unsafe impl Step<[u8; BYTES], u8> for Utf8FromLatin1 {
    /// Two bytes for each.
    const ROOM: usize = 128;

    #[inline(always)]
    unsafe fn write(from: &[u8; BYTES], to: *mut u8) -> *mut u8 {
        // SAFETY: the loads read the array. Each half writes 64 bytes at `to`, and moves it by at most as many.
        unsafe {
            let halves = [0, UNITS_16].map(|at| _mm256_loadu_si256(from.as_ptr().add(at).cast()));
            if has_none(_mm256_or_si256(halves[0], halves[1]), 0x8080_8080) {
                _mm512_storeu_si512(to.cast(), _mm512_loadu_si512(from.as_ptr().cast()));
                return to.add(BYTES);
            }
            // Every byte becomes a lane of C2 and itself, from C0 on of C3 and 40 less; C2 is left out of ASCII. No branch for
            // each half: halves of text are ASCII and not ASCII in turns, which cannot be predicted.
            halves.into_iter().fold(to, |to, half| {
                let units = _mm512_cvtepu8_epi16(half);
                let lanes = _mm512_or_si512(_mm512_slli_epi16::<8>(units), _mm512_set1_epi16(0x00C2));
                let over_bf = _mm512_cmpge_epu16_mask(units, _mm512_set1_epi16(0xC0));
                let lanes = _mm512_mask_add_epi16(lanes, over_bf, lanes, _mm512_set1_epi16(1 - 0x4000));
                // The low byte of a unit, where C2 is in the lane, is kept from 80 on; the high one is 0, and kept.
                write_kept(lanes, _mm512_cmpge_epu8_mask(units, _mm512_set1_epi16(0x0080)), to)
            })
        }
    }
}

/// Appends Latin-1 as UTF-8.
///
/// # Safety
/// The processor has the instructions.
#[inline(always)]
pub(crate) unsafe fn from_latin_1(bytes: &[u8], out: &mut Vec<u8>) {
    let (steps, rest) = bytes.as_chunks::<BYTES>();
    // SAFETY: the instructions are all it requires.
    unsafe { append_steps::<Utf8FromLatin1, _, _>(steps, out) };
    portable::from_latin_1(rest, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the instruction does, eight bits of the word of each byte are taken, from the bit in the table on. The tables hold
    /// the same for each word.
    #[test]
    fn the_bits_are_those_of_the_sequence() {
        fn check<const LANE: usize>(len: usize, first: u32, last: u32) {
            let words: Vec<[u8; 8]> = bits_of::<LANE>(len).as_chunks().0.to_vec();
            assert!(words.iter().all(|word| *word == words[0]));
            for character in (first..=last).step_by(13).filter_map(char::from_u32) {
                let sequence = character.to_string().into_bytes();
                assert_eq!(sequence.len(), len);
                // The number in one lane, and other bits in the others.
                for lane in 0..8 / LANE {
                    let all = !0_u64 >> (64 - 8 * LANE as u32);
                    let word = !(all << (8 * LANE * lane)) | u64::from(character) << (8 * LANE * lane);
                    for (at, &byte) in sequence.iter().enumerate() {
                        let found = word.rotate_right(words[0][LANE * lane + at].into()) as u8;
                        let bits = if at > 0 { 0x3F } else { 0x7F >> len };
                        assert_eq!(found & bits, byte & bits, "byte {at} of {character:?}, lane {lane}");
                    }
                }
            }
        }
        check::<2>(2, 0x80, 0x7FF);
        check::<4>(3, 0x800, 0xFFFF);
        check::<4>(4, 0x1_0000, 0x10_FFFF);
    }
}
