//! AVX-512 with byte permutations (VBMI, VBMI2): registers of 64 bytes, and how they write windows.
//!
//! # Validation
//!
//! Where a continuation byte is needed follows from the bytes before by saturating subtraction, which leaves the sign bit
//! set only for leads that are long enough. Refused second bytes come from two tables of 64 entries, by the low six bits of
//! the lead and of the second byte: a bit set in both is a refusal. Continuation bytes share those six bits with leads, so
//! the first table is masked to leads; a lead before anything but a continuation byte is an error anyway.
//!
//! ```text
//! bytes           ED A0 80
//! LEAD[one before]    4  .      ED: low bits 2D, refuses the range A0..BF
//! SECOND[byte]        4  1      A0: low bits 20, is in the range A0..BF
//! both                4  .      refused
//! ```
//!
//! In text without longer sequences, only the leads C0 and C1 refuse continuation bytes, and they are errors wherever they occur, so
//! `check_pairs` needs no tables.
//!
//! # Windows
//!
//! What is written is computed for every place, and the places that hold nothing are compressed away (`vpcompressb`,
//! `vpcompressw`). For UTF-8 with replacement each byte gets room for three; 21 are tripled at a time:
//!
//! ```text
//! bytes       61          E2          82          41
//! tripled     61 61 61    E2 E2 E2    82 82 82    41 41 41
//! replaced    .  .  .     EF BF BD    .  .  .     .  .  .
//! kept        1  .  .     1  1  1     .  .  .     1  .  .
//! written     61 EF BF BD 41
//! ```
//!
//! For UTF-16 and UTF-32 each place takes the bits of its byte and of the bytes before, loaded again one to three places earlier, so
//! that all of a unit stands at the last byte of its sequence: its lowest eight bits in one register, the next eight in another.
//! The other places are compressed away in both, and what is left is interleaved. Where a sequence of four bytes ends, UTF-32 has a
//! third register, and UTF-16 two units that are made surrogates.
//!
//! ```text
//! bytes       61   C3   A9   E4   B8   96
//! lowest      61    .   E9    .    .   16      compressed: 61 E9 16
//! next        00    .   00    .    .   4E      compressed: 00 00 4E
//! units     0061      00E9           4E16
//! ```
//!
//! # Cost
//!
//! A window costs three compressions for UTF-8; two for UTF-16 and UTF-32, three with sequences of four bytes for UTF-32. Where a
//! window has few errors, writing it as UTF-8 run by run is faster, and is done instead; runs of ASCII are copied or widened
//! before they get here.

pub(super) mod from_units;

use crate::kernel::avx2::Avx2;
use crate::kernel::info::{Path, Registers, note_run};
use crate::kernel::sse41::Sse41;
use crate::kernel::validate::{BELOW_LEADS, FINISHED, LEAD, Partial, SECOND, prefix_of_sequences};
use crate::kernel::vector::{Aligned, Vector};
use crate::kernel::window::{Places, Window, WindowWriter, replace_by_runs};
use crate::utf8::is_continuation;
use core::arch::x86_64::*;

/// 64 bytes.
#[derive(Clone, Copy)]
pub(super) struct Avx512(__m512i);

/// Errors found: missing and unneeded continuation bytes, and in `check_pairs` C0 and C1, by their sign bits; refused ones by any bits.
#[derive(Clone, Copy)]
pub(super) struct Errors {
    sign: __m512i,
    any: __m512i,
}

/// A table of 64 entries.
type Table = Aligned<[u8; 64]>;

/// Loads a table.
///
/// # Safety
/// The processor has the instructions.
#[inline(always)]
unsafe fn table(bytes: &Table) -> __m512i {
    // SAFETY: reads the 64 bytes of the array.
    unsafe { _mm512_loadu_si512(bytes.as_ptr().cast()) }
}

#[allow(unsafe_op_in_unsafe_fn, reason = "register intrinsics need the instructions only, as the contract states once")]
// SAFETY: it is an `__m512i`, 64 bytes; `crates/core/tests/kernels.rs` compares the results with those of portable code.
unsafe impl Vector for Avx512 {
    const LEN: usize = 64;
    const NAME: &'static str = "avx512";
    type Errors = Errors;
    type Far = Avx2;

    #[inline(always)]
    unsafe fn no_errors() -> Errors {
        Errors { sign: _mm512_setzero_si512(), any: _mm512_setzero_si512() }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: reads `LEN` bytes at `from`, as the contract says; no alignment is needed.
        unsafe { Self(_mm512_loadu_si512(from.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: writes `LEN` bytes at `to`, as the contract says; no alignment is needed.
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        Self(_mm512_or_si512(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn zero() -> Self {
        Self(_mm512_setzero_si512())
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        Self(_mm512_max_epu8(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn is_below(self, limit: u8) -> bool {
        _mm512_cmpge_epu8_mask(self.0, _mm512_set1_epi8(limit as i8)) == 0
    }

    #[inline(always)]
    unsafe fn is_ascii(self) -> bool {
        _mm512_movepi8_mask(self.0) == 0
    }

    #[inline(always)]
    unsafe fn shift_in(self) -> [Self; 3] {
        // Each sixteen bytes come after those before them, the first after zeros.
        let before = _mm512_alignr_epi64::<6>(self.0, _mm512_setzero_si512());
        [
            Self(_mm512_alignr_epi8::<15>(self.0, before)),
            Self(_mm512_alignr_epi8::<14>(self.0, before)),
            Self(_mm512_alignr_epi8::<13>(self.0, before)),
        ]
    }

    #[inline(always)]
    unsafe fn check(self, [one, two, three]: [Self; 3], errors: Errors) -> Errors {
        let lead = _mm512_cmpge_epu8_mask(one.0, _mm512_set1_epi8(0xC0_u8 as i8));
        let refuses = _mm512_maskz_permutexvar_epi8(lead, one.0, table(&LEAD));
        let second = _mm512_permutexvar_epi8(self.0, table(&SECOND));
        // any | (refuses & second)
        let any = _mm512_ternarylogic_epi64::<0xF8>(errors.any, refuses, second);
        let needed = _mm512_ternarylogic_epi64::<0xFE>(
            _mm512_subs_epu8(one.0, _mm512_set1_epi8(BELOW_LEADS[0])),
            _mm512_subs_epu8(two.0, _mm512_set1_epi8(BELOW_LEADS[1])),
            _mm512_subs_epu8(three.0, _mm512_set1_epi8(BELOW_LEADS[2])),
        );
        // needed ^ (byte & !(byte << 1)): a continuation byte has its highest bit, and not the next.
        let doubled = _mm512_add_epi8(self.0, self.0);
        let sign = _mm512_ternarylogic_epi64::<{ 0xF0 ^ (0xCC & !0xAA) }>(needed, self.0, doubled);
        Errors { sign: _mm512_or_si512(errors.sign, sign), any }
    }

    #[inline(always)]
    unsafe fn check_pairs(self, one: Self, errors: Errors) -> Errors {
        // The highest bits say all: here, of leads from C2 on.
        let needed = _mm512_subs_epu8(one.0, _mm512_set1_epi8(0x42));
        // Of bytes from 80 on: needed ? below C0 : below C2
        let doubled = _mm512_add_epi8(self.0, self.0);
        let below_c2 = _mm512_add_epi8(self.0, _mm512_set1_epi8(0x3E));
        let within = _mm512_ternarylogic_epi64::<{ 0xF0 & !0xCC | !0xF0 & 0xAA }>(needed, doubled, below_c2);
        // needed ^ (byte & within)
        let sign = _mm512_ternarylogic_epi64::<{ 0xF0 ^ (0xCC & 0xAA) }>(needed, self.0, within);
        Errors { sign: _mm512_or_si512(errors.sign, sign), ..errors }
    }

    #[inline(always)]
    unsafe fn has_error(errors: Errors) -> bool {
        Self::error_mask(errors) != 0
    }

    #[inline(always)]
    unsafe fn error_mask(errors: Errors) -> u64 {
        _mm512_movepi8_mask(errors.sign) | _mm512_test_epi8_mask(errors.any, errors.any)
    }

    #[inline(always)]
    unsafe fn is_complete(self, errors: Errors) -> bool {
        let any = _mm512_or_si512(errors.any, _mm512_subs_epu8(self.0, table(&FINISHED)));
        !Self::has_error(Errors { any, ..errors })
    }

    #[inline(always)]
    unsafe fn shl1(self) -> Self {
        Self(_mm512_add_epi8(self.0, self.0))
    }

    #[inline(always)]
    unsafe fn movemask(self) -> u64 {
        _mm512_movepi8_mask(self.0)
    }

    #[inline(always)]
    unsafe fn continuations(self) -> u64 {
        _mm512_cmplt_epi8_mask(self.0, _mm512_set1_epi8(0xC0_u8 as i8))
    }

    #[inline(always)]
    unsafe fn leads_of_4(self) -> u64 {
        _mm512_cmpge_epu8_mask(self.0, _mm512_set1_epi8(0xF0_u8 as i8))
    }

    #[inline(always)]
    unsafe fn refused(self, next: Self) -> u64 {
        let refuses = _mm512_permutexvar_epi8(self.0, table(&LEAD));
        _mm512_test_epi8_mask(refuses, _mm512_permutexvar_epi8(next.0, table(&SECOND)))
    }
}

/// An input is checked by the shortest register that holds it.
// SAFETY: the result is that of `prefix_of`, or 0 for no bytes.
unsafe impl Partial for Avx512 {
    fn partial_path(len: usize) -> Path {
        let kernel = if len <= Sse41::LEN {
            Sse41::NAME
        } else if len <= Avx2::LEN {
            Avx2::NAME
        } else {
            Self::NAME
        };
        Path { kernel, registers: Registers::One }
    }

    #[inline(always)]
    unsafe fn partial_prefix(bytes: &[u8]) -> usize {
        // SAFETY: a masked load reads only the bytes whose mask bits are set, the first `len`, which are 64 at most; the load without
        // a mask reads 64 of 64. The empty input, whose address may be dangling, is not loaded: a load of no bytes from unmapped memory
        // is slow.
        unsafe {
            let (from, mask) = (bytes.as_ptr().cast(), _bzhi_u64(!0, bytes.len() as u32));
            // Shorter input comes first: its case is then the next in the code, and not a jump away.
            if bytes.len() <= Avx2::LEN {
                if bytes.len() > Sse41::LEN {
                    prefix_of::<_, true>(Avx2(_mm256_maskz_loadu_epi8(mask as u32, from)), bytes, mask)
                } else if bytes.is_empty() {
                    0
                } else {
                    prefix_of::<_, true>(Sse41(_mm_maskz_loadu_epi8(mask as u16, from)), bytes, mask)
                }
            } else {
                // With 64 bytes, another jump takes less time than waiting for the mask.
                let all = if bytes.len() == Self::LEN {
                    _mm512_loadu_epi8(from)
                } else {
                    _mm512_maskz_loadu_epi8(mask, from)
                };
                prefix_of::<_, false>(Self(all), bytes, mask)
            }
        }
    }
}

/// As [`prefix_of_sequences`], but `bytes` may all be ASCII. `ASCII` decides only the speed: if set, the compiler takes ASCII to be
/// the likely case.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn prefix_of<V: Vector, const ASCII: bool>(all: V, bytes: &[u8], mask: u64) -> usize {
    // SAFETY: the same contract.
    unsafe {
        if all.is_ascii() {
            note_run(V::NAME, Registers::One);
            return bytes.len();
        }
        if ASCII {
            cold();
        }
        prefix_of_sequences(all, bytes, mask)
    }
}

/// Tells the compiler that what leads to this call is unlikely.
#[cold]
#[inline(always)]
fn cold() {}

// SAFETY: no function accesses memory beyond what its contract allows, as its comments show; `to` moves by one unit for each place, or as `replace` states.
unsafe impl WindowWriter for Avx512 {
    #[inline(always)]
    unsafe fn replace(from: *const u8, window: Window, to: *mut u8) -> *mut u8 {
        // SAFETY: the same contract.
        unsafe {
            if (!window.good).count_ones() <= FEW {
                replace_by_runs::<Avx512>(from, window, to)
            } else {
                replace_by_thirds(from, window, to)
            }
        }
    }

    #[inline(always)]
    unsafe fn utf16(from: *const u8, first: bool, places: Places, to: *mut u16) -> *mut u16 {
        // SAFETY: the same contract.
        unsafe { sixteen_bits(from, first, places, to) }
    }

    #[inline(always)]
    unsafe fn utf16_one_two_byte(from: *const u8, begun: &mut u64, to: *mut u16) -> Option<*mut u16> {
        // SAFETY: the same contract.
        unsafe { one_two_byte(from, begun, to) }
    }

    #[inline(always)]
    unsafe fn utf32_one_two_byte(from: *const u8, begun: &mut u64, to: *mut u32) -> Option<*mut u32> {
        // SAFETY: the same contract.
        unsafe { one_two_byte(from, begun, to) }
    }

    #[inline(always)]
    unsafe fn utf32(from: *const u8, first: bool, places: Places, to: *mut u32) -> *mut u32 {
        // SAFETY: the same contract.
        unsafe {
            if places.last_of_4 == 0 {
                sixteen_bits(from, first, Places { third_of_4: 0, ..places }, to)
            } else {
                any_bits(from, first, places, to)
            }
        }
    }

    #[inline(always)]
    unsafe fn ascii_to_16(from: *const u8, to: *mut u16) -> bool {
        // SAFETY: half `h` reads 32 bytes at `from + 32 * h` and writes 32 units at `to + 32 * h`.
        unsafe {
            let halves = [0, 32].map(|at| _mm256_loadu_si256(from.add(at).cast()));
            let are_ascii = Avx2(_mm256_or_si256(halves[0], halves[1])).is_ascii();
            if are_ascii {
                for (half, bytes) in halves.into_iter().enumerate() {
                    _mm512_storeu_si512(to.add(32 * half).cast(), _mm512_cvtepu8_epi16(bytes));
                }
            }
            are_ascii
        }
    }

    #[inline(always)]
    unsafe fn widen_to_16(from: *const u8, replaced: u64, to: *mut u16) {
        // SAFETY: half `h` reads 32 bytes at `from + 32 * h` and writes 32 units at `to + 32 * h`.
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

    #[inline(always)]
    unsafe fn widen_to_32(from: *const u8, replaced: u64, to: *mut u32) {
        // SAFETY: quarter `q` reads 16 bytes at `from + 16 * q` and writes 16 units at `to + 16 * q`.
        unsafe {
            for quarter in 0..4 {
                let bytes = _mm_loadu_si128(from.add(16 * quarter).cast());
                let units = _mm512_cvtepu8_epi32(bytes);
                let units =
                    _mm512_mask_mov_epi32(units, (replaced >> (16 * quarter)) as u16, _mm512_set1_epi32(0xFFFD));
                _mm512_storeu_si512(to.add(16 * quarter).cast(), units);
            }
        }
    }
}

/// A code unit that 32 units of sixteen bits are written as.
///
/// # Safety
/// `store` writes all 32 units, and nothing else.
unsafe trait Units: Copy {
    /// Writes them.
    ///
    /// # Safety
    /// 32 units can be written at `to`; the processor has the instructions of this file.
    unsafe fn store(units: __m512i, to: *mut Self);
}

// SAFETY: one register of 32 units.
unsafe impl Units for u16 {
    #[inline(always)]
    unsafe fn store(units: __m512i, to: *mut Self) {
        // SAFETY: the same contract.
        unsafe { _mm512_storeu_si512(to.cast(), units) }
    }
}

// SAFETY: two registers of sixteen units.
unsafe impl Units for u32 {
    #[inline(always)]
    unsafe fn store(units: __m512i, to: *mut Self) {
        // SAFETY: the same contract; the second store is of the last sixteen units.
        unsafe {
            _mm512_storeu_si512(to.cast(), _mm512_cvtepu16_epi32(_mm512_castsi512_si256(units)));
            _mm512_storeu_si512(to.add(16).cast(), _mm512_cvtepu16_epi32(_mm512_extracti64x4_epi64::<1>(units)));
        }
    }
}

/// [`WindowWriter::utf16_one_two_byte`], and of UTF-32.
///
/// # Safety
/// The same.
#[inline(always)]
unsafe fn one_two_byte<U: Units>(from: *const u8, begun: &mut u64, mut to: *mut U) -> Option<*mut U> {
    // SAFETY: the loads read `from..from + 64`, the byte after, and for each half 64 bytes from `from - 1` and `from + 31`. Each
    // half writes 32 units, the second at most 32 units after `to`.
    unsafe {
        let bytes = Avx512::load(from);
        let continuation = bytes.continuations();
        let lead = _mm512_cmpge_epu8_mask(bytes.0, _mm512_set1_epi8(0xC0_u8 as i8));
        let from_c2 = _mm512_sub_epi8(bytes.0, _mm512_set1_epi8(0xC2_u8 as i8));
        let lead_of_2 = _mm512_cmplt_epu8_mask(from_c2, _mm512_set1_epi8(0xE0_u8.wrapping_sub(0xC2) as i8));
        let continued = u64::from(is_continuation(*from.add(64)));
        if (lead ^ lead_of_2) | (lead << 1 | *begun) ^ continuation | lead >> 63 & !continued != 0 {
            return None;
        }
        // Other code is faster for ASCII.
        if lead | continuation == 0 {
            return None;
        }
        *begun = lead >> 63;
        let ascii = !(lead | continuation);
        for half in 0..2 {
            // Each byte after the one before it, as 16 bits.
            let before = _mm512_loadu_si512(from.add(32 * half).sub(1).cast());
            let pairs = _mm512_permutexvar_epi8(table(&PAIRS), before);
            let units = units_of_two(pairs, (ascii >> (32 * half)) as u32);
            let kept = (!lead >> (32 * half)) as u32;
            U::store(_mm512_maskz_compress_epi16(kept, units), to);
            to = to.add(kept.count_ones() as usize);
        }
        Some(to)
    }
}

/// The unit that ends with the upper byte of each lane: from both bytes, or from the upper one alone where `ascii` is set.
///
/// # Safety
/// The processor has the instructions of this file.
#[inline(always)]
unsafe fn units_of_two(pairs: __m512i, ascii: u32) -> __m512i {
    // SAFETY: registers only.
    unsafe {
        // Six bits of each, those of the first times 40 (hexadecimal). Leads of two bytes have no sixth.
        let bits = _mm512_and_si512(pairs, _mm512_set1_epi16(0x3F3F));
        let units = _mm512_maddubs_epi16(bits, _mm512_set1_epi16(0x0140));
        _mm512_mask_srli_epi16::<8>(units, ascii, pairs)
    }
}

/// [`WindowWriter::utf16`], and of UTF-32 where no sequence of four bytes ends.
///
/// # Safety
/// The same.
#[inline(always)]
unsafe fn sixteen_bits<U: Units>(from: *const u8, first: bool, places: Places, to: *mut U) -> *mut U {
    // SAFETY: the loads read `from - 2..from + 64`, before `from` only if the window is not the first. Each half writes 32 units,
    // the second those from 32 on.
    unsafe {
        let any = places.any();
        let planes = compressed(low_planes(&before::<2>(from, first), places), any);
        let count = any.count_ones() as usize;
        if places.third_of_4 | places.last_of_4 | places.replaced == 0 {
            U::store(half_of::<0>(planes), to);
            if count > 32 {
                U::store(half_of::<1>(planes), to.add(32));
            }
        } else {
            let (high, low) = (_pext_u64(places.third_of_4, any), _pext_u64(places.last_of_4, any));
            let replaced = _pext_u64(places.replaced, any);
            U::store(finished(half_of::<0>(planes), high as u32, low as u32, replaced as u32), to);
            // Sixteen pairs are 32 units: whether there are a few more would be hard to predict.
            if low != 0 || count > 32 {
                let [high, low, replaced] = [(high >> 32) as u32, (low >> 32) as u32, (replaced >> 32) as u32];
                U::store(finished(half_of::<1>(planes), high, low, replaced), to.add(32));
            }
        }
        to.add(count)
    }
}

/// Units of UTF-16, with surrogates made of those that are to be one, and U+FFFD for those that are replaced.
///
/// # Safety
/// The processor has the instructions of this file.
#[inline(always)]
unsafe fn finished(units: __m512i, high: u32, low: u32, replaced: u32) -> __m512i {
    // SAFETY: registers only.
    unsafe {
        let of_high = _mm512_add_epi16(_mm512_srli_epi16::<4>(units), _mm512_set1_epi16(0xD7C0_u16 as i16));
        let ten_bits = _mm512_and_si512(units, _mm512_set1_epi16(0x3FF));
        let of_low = _mm512_or_si512(ten_bits, _mm512_set1_epi16(0xDC00_u16 as i16));
        let units = _mm512_mask_mov_epi16(units, high, of_high);
        let units = _mm512_mask_mov_epi16(units, low, of_low);
        _mm512_mask_mov_epi16(units, replaced, _mm512_set1_epi16(0xFFFD_u16 as i16))
    }
}

/// [`WindowWriter::utf32`], with a third plane for sequences of four bytes.
///
/// # Safety
/// The same.
#[inline(always)]
unsafe fn any_bits(from: *const u8, first: bool, places: Places, to: *mut u32) -> *mut u32 {
    // SAFETY: the loads read `from - 3..from + 64`, before `from` only if the window is not the first. Quarter `q` writes 16 units
    // at `to + 16 * q`.
    unsafe {
        let any = places.last | places.replaced;
        let bytes = before::<3>(from, first);
        let planes = compressed(low_planes(&bytes, places), any);
        // Bits 4 and 5 of the second byte, and the lowest three of the lead above them.
        let second = _mm512_and_si512(_mm512_srli_epi16::<4>(bytes[2]), _mm512_set1_epi8(3));
        let lead = _mm512_slli_epi16::<2>(bytes[3]);
        let upper = _mm512_ternarylogic_epi64::<0xF8>(second, lead, _mm512_set1_epi8(0x1C));
        let upper = _mm512_maskz_compress_epi8(any, _mm512_maskz_mov_epi8(places.last_of_4, upper));
        let replaced = _pext_u64(places.replaced, any);
        let count = any.count_ones() as usize;
        for (quarter, order) in WITH_UPPER.iter().enumerate() {
            let low = if quarter < 2 { half_of::<0>(planes) } else { half_of::<1>(planes) };
            let units = _mm512_permutex2var_epi8(low, table(order), upper);
            let units = _mm512_maskz_mov_epi8(0x7777_7777_7777_7777, units);
            let replaced = (replaced >> (16 * quarter)) as u16;
            let units = _mm512_mask_mov_epi32(units, replaced, _mm512_set1_epi32(0xFFFD));
            _mm512_storeu_si512(to.add(16 * quarter).cast(), units);
            // Sixteen sequences have sixteen units: whether there are a few more would be hard to predict.
            if quarter > 0 && count <= 16 * (quarter + 1) {
                break;
            }
        }
        to.add(count)
    }
}

/// Half a register of each plane, the bytes of both in turns.
///
/// # Safety
/// The processor has the instructions of this file.
#[inline(always)]
unsafe fn half_of<const HALF: usize>([lowest, next]: [__m512i; 2]) -> __m512i {
    // SAFETY: registers only.
    unsafe { _mm512_permutex2var_epi8(lowest, table(&INTERLEAVED[HALF]), next) }
}

/// A window and the registers that begin one to `COUNT` places before it. The bytes before the `first` window count as zeros.
///
/// # Safety
/// `from..from + 64` can be read, and unless the window is the first, `COUNT` bytes before; the processor has the instructions of
/// this file.
#[inline(always)]
unsafe fn before<const COUNT: usize>(from: *const u8, first: bool) -> [__m512i; 4] {
    // SAFETY: the same contract.
    unsafe {
        let here = Avx512::load(from);
        let [one, two, three] = here.shift_in();
        let mut all = [here.0, one.0, two.0, three.0];
        for (places, bytes) in all.iter_mut().enumerate().take(COUNT + 1).skip(1) {
            if !first {
                *bytes = Avx512::load(from.sub(places)).0;
            }
        }
        all
    }
}

/// For each byte, the lowest and the next eight bits of the unit that ends with it; of a unit of UTF-16 before surrogates are made
/// of it.
///
/// # Safety
/// The processor has the instructions of this file.
#[inline(always)]
unsafe fn low_planes([here, one, two, _]: &[__m512i; 4], places: Places) -> [__m512i; 2] {
    // SAFETY: registers only.
    unsafe {
        // (byte & mask) | (other & !mask)
        const CHOOSE: i32 = 0xE4;
        let mixed = _mm512_ternarylogic_epi64::<CHOOSE>(*here, _mm512_slli_epi16::<6>(*one), _mm512_set1_epi8(0x3F));
        let lowest = _mm512_mask_mov_epi8(*here, places.continuation, mixed);
        let third = _mm512_maskz_mov_epi8(places.second_continuation, _mm512_slli_epi16::<4>(*two));
        let next = _mm512_ternarylogic_epi64::<CHOOSE>(_mm512_srli_epi16::<2>(*one), third, _mm512_set1_epi8(0x0F));
        [lowest, _mm512_maskz_mov_epi8(places.continuation, next)]
    }
}

/// The bytes of each plane that are set in `places`.
///
/// # Safety
/// The processor has the instructions of this file.
#[inline(always)]
unsafe fn compressed(planes: [__m512i; 2], places: u64) -> [__m512i; 2] {
    // SAFETY: registers only.
    unsafe { [_mm512_maskz_compress_epi8(places, planes[0]), _mm512_maskz_compress_epi8(places, planes[1])] }
}

/// Permutations of two registers that interleave the bytes of their halves.
static INTERLEAVED: [Table; 2] = interleaved();

const fn interleaved() -> [Table; 2] {
    let mut tables = [Aligned([0; 64]); 2];
    let mut at = 0;
    while at < 128 {
        tables[at / 64].0[at % 64] = (at / 2 + at % 2 * 64) as u8;
        at += 1;
    }
    tables
}

/// For each quarter of the output, a permutation that makes lanes of four: two bytes of the first register, then one of the other;
/// the fourth may be anything.
static WITH_UPPER: [Table; 4] = with_upper();

const fn with_upper() -> [Table; 4] {
    let mut tables = [Aligned([0; 64]); 4];
    let mut at = 0;
    while at < 256 {
        let (quarter, lane) = (at / 64, at % 64 / 4);
        tables[quarter].0[at % 64] = match at % 4 {
            2 => 64 + 16 * quarter + lane,
            byte => 32 * (quarter % 2) + 2 * lane + byte % 2,
        } as u8;
        at += 1;
    }
    tables
}

/// Permutes bytes to pairs of each of 32 bytes and the one after it.
static PAIRS: Table = Aligned(pairs());

const fn pairs() -> [u8; 64] {
    let mut table = [0; 64];
    let mut at = 0;
    while at < 64 {
        table[at] = at.div_ceil(2) as u8;
        at += 1;
    }
    table
}

/// Windows with at most this many bytes that are not good are written run by run.
const FEW: u32 = 3;

/// Permutations that write each byte of a third of a window, 21 bytes, three times.
static THIRDS: [Table; 3] = thirds();

const fn thirds() -> [Table; 3] {
    let mut tables = [Aligned([0; 64]); 3];
    let mut at = 0;
    while at < 3 * 64 {
        tables[at / 64].0[at % 64] = (at / 64 * 21 + at % 64 / 3) as u8;
        at += 1;
    }
    tables
}

/// EF BF BD over and over.
static REPLACEMENTS: Table = Aligned(replacements());

const fn replacements() -> [u8; 64] {
    let mut bytes = [0; 64];
    let mut at = 0;
    while at < 64 {
        bytes[at] = [0xEF, 0xBF, 0xBD][at % 3];
        at += 1;
    }
    bytes
}

/// [`WindowWriter::replace`], 21 bytes at a time: each is tripled, overwritten with U+FFFD where it is replaced, and the
/// places that hold nothing are compressed away.
///
/// # Safety
/// As of [`WindowWriter::replace`].
#[inline(always)]
unsafe fn replace_by_thirds(from: *const u8, window: Window, mut to: *mut u8) -> *mut u8 {
    const EVERY_THIRD: u64 = 0x1249_2492_4924_9249;
    // SAFETY: reads `from..from + 64`. A third moves `to` by at most 63 bytes and writes 64: below `to + 190`. The last byte
    // writes three, at `to + 189` at most.
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
        // The 64th byte.
        let last = if window.good >> 63 == 1 { [*from.add(63), 0, 0] } else { [0xEF, 0xBF, 0xBD] };
        to.copy_from_nonoverlapping(last.as_ptr(), last.len());
        to.add((window.good >> 63) as usize + 3 * (window.replaced >> 63) as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_permute_to_pairs_thirds_halves_and_quarters() {
        let halves = [0..32, 32..64].map(|half| half.flat_map(|byte| [byte, byte + 64]));
        assert!(interleaved().into_iter().zip(halves).all(|(table, half)| table.0.into_iter().eq(half)));
        for (quarter, table) in with_upper().into_iter().enumerate() {
            let (first, upper) = (32 * (quarter as u8 % 2), 64 + 16 * quarter as u8);
            let expected = (0..16).map(|lane| [first + 2 * lane, first + 2 * lane + 1, upper + lane]);
            assert!(table.as_chunks::<4>().0.iter().map(|&[low, next, upper, _]| [low, next, upper]).eq(expected));
        }
        assert!(pairs().into_iter().eq((0..32).flat_map(|byte| [byte, byte + 1])));
        for (first, third) in [0, 21, 42].into_iter().zip(thirds()) {
            // The place after the 21 bytes is not used.
            assert!(third[..63].iter().copied().eq((first..first + 21).flat_map(|byte| [byte; 3])));
        }
        assert!(replacements().into_iter().eq("\u{FFFD}".bytes().cycle().take(64)));
    }
}
