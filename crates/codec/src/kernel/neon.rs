//! NEON: registers of 16 bytes, on AArch64.
//!
//! `check` and `check_pairs` are those of SSE4.1 (sse41.rs). NEON has shifts of bytes, but no instruction that gathers the
//! highest bits of a register, so the masks of text without errors are gathered from four registers at a time.
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
use crate::kernel::vector::{_mm_movemask_epi8, Aligned, Vector, bits_to_add, bytes_of_halves};
use crate::kernel::window::{Places, WindowWriter, widen};
use core::arch::aarch64::*;

/// 16 bytes.
#[derive(Clone, Copy)]
pub(super) struct Neon(uint8x16_t);

/// The highest bit of each byte: that of byte `i` is bit `i`.
#[inline(always)]
unsafe fn movemask(bytes: uint8x16_t) -> u64 {
    _mm_movemask_epi8(bytes) as u64
}

/// A mask of four registers: for each byte, whether `is` sets all its bits or none.
///
/// # Safety
/// 64 bytes can be read.
#[inline(always)]
unsafe fn of_window(from: *const u8, is: impl Fn(uint8x16_t) -> uint8x16_t) -> u64 {
    // SAFETY: part `p` reads `16 * p..16 * (p + 1)`, and the last ends at 64.
    let [a, b, c, d] = [0, 16, 32, 48].map(|at| bits_to_add(is(unsafe { vld1q_u8(from.add(at)) })));
    let pairs = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
    vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(pairs, pairs)))
}

/// The rules of [`NIBBLES`] that `bytes` break, one bit each. `highest` selects from the first table, `before` from the second.
#[inline(always)]
unsafe fn table_errors(highest: uint8x16_t, before: uint8x16_t, bytes: uint8x16_t) -> uint8x16_t {
    let Nibbles { high, low, next } = &NIBBLES;
    let high = vqtbl1q_u8(vld1q_u8(high.as_ptr()), vshrq_n_u8::<4>(highest));
    let before = vqsubq_u8(before, vdupq_n_u8(BELOW_FIRST_LEAD as u8));
    let low = vqtbl1q_u8(vld1q_u8(low.as_ptr()), vandq_u8(before, vdupq_n_u8(0x0F)));
    let next = vqtbl1q_u8(vld1q_u8(next.as_ptr()), vshrq_n_u8::<4>(bytes));
    vandq_u8(vandq_u8(high, low), next)
}

// SAFETY: it is a `uint8x16_t`, 16 bytes; `crates/core/tests/kernels.rs` compares the results with those of portable code.
unsafe impl Vector for Neon {
    const LEN: usize = 16;
    const NAME: &'static str = "neon";
    type Errors = Self;
    type Far = Self;

    #[inline(always)]
    unsafe fn no_errors() -> Self {
        Self::zero()
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: reads `LEN` bytes at `from`, as the contract says; no alignment is needed.
        unsafe { Self(vld1q_u8(from)) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: writes `LEN` bytes at `to`, as the contract says; no alignment is needed.
        unsafe { vst1q_u8(to, self.0) }
    }

    #[inline(always)]
    unsafe fn zero() -> Self {
        Self(vdupq_n_u8(0))
    }

    #[inline(always)]
    unsafe fn or(self, other: Self) -> Self {
        Self(vorrq_u8(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn max(self, other: Self) -> Self {
        Self(vmaxq_u8(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn is_below(self, limit: u8) -> bool {
        vmaxvq_u8(self.0) < limit
    }

    #[inline(always)]
    unsafe fn is_ascii(self) -> bool {
        self.is_below(0x80)
    }

    #[inline(always)]
    unsafe fn shift_in(self) -> [Self; 3] {
        let zero = vdupq_n_u8(0);
        [Self(vextq_u8::<15>(zero, self.0)), Self(vextq_u8::<14>(zero, self.0)), Self(vextq_u8::<13>(zero, self.0))]
    }

    #[inline(always)]
    unsafe fn check(self, [one, two, three]: [Self; 3], errors: Self) -> Self {
        let two = vqsubq_u8(two.0, vdupq_n_u8(LOWERED[0] as u8));
        let three = vqsubq_u8(three.0, vdupq_n_u8(LOWERED[1] as u8));
        let highest = vmaxq_u8(vmaxq_u8(two, three), one.0);
        Self(vorrq_u8(errors.0, table_errors(highest, one.0, self.0)))
    }

    #[inline(always)]
    unsafe fn check_pairs(self, one: Self, errors: Self) -> Self {
        let needed = vcgtq_u8(one.0, vdupq_n_u8(0xC1));
        // After a lead a byte must be in 80..BF; after any other byte it must not be in 80..C1. As signed numbers, bytes from 80 on
        // are the lowest, so one comparison with C0 or C2 finds either range.
        let limit = vbslq_u8(needed, vdupq_n_u8(0xC0), vdupq_n_u8(0xC2));
        let below = vcgtq_s8(vreinterpretq_s8_u8(limit), vreinterpretq_s8_u8(self.0));
        Self(vorrq_u8(errors.0, veorq_u8(below, needed)))
    }

    #[inline(always)]
    unsafe fn has_error(errors: Self) -> bool {
        vmaxvq_u32(vreinterpretq_u32_u8(errors.0)) != 0
    }

    #[inline(always)]
    unsafe fn error_mask(errors: Self) -> u64 {
        movemask(vtstq_u8(errors.0, errors.0))
    }

    #[inline(always)]
    unsafe fn is_complete(self, errors: Self) -> bool {
        // SAFETY: reads the last 16 bytes of the table, which has 64.
        let finished = unsafe { Self::load(FINISHED[48..].as_ptr()).0 };
        !Self::has_error(Self(vorrq_u8(errors.0, vqsubq_u8(self.0, finished))))
    }

    #[inline(always)]
    unsafe fn shl1(self) -> Self {
        Self(vshlq_n_u8::<1>(self.0))
    }

    #[inline(always)]
    unsafe fn movemask(self) -> u64 {
        movemask(self.0)
    }

    #[inline(always)]
    unsafe fn continuations(self) -> u64 {
        // As signed numbers they are the lowest.
        movemask(vcltq_s8(vreinterpretq_s8_u8(self.0), vdupq_n_s8(0xC0_u8 as i8)))
    }

    #[inline(always)]
    unsafe fn leads_of_4(self) -> u64 {
        movemask(vcgeq_u8(self.0, vdupq_n_u8(0xF0)))
    }

    #[inline(always)]
    unsafe fn continuations_of(from: *const u8) -> u64 {
        // SAFETY: the same contract.
        unsafe { of_window(from, |bytes| vcltq_s8(vreinterpretq_s8_u8(bytes), vdupq_n_s8(0xC0_u8 as i8))) }
    }

    #[inline(always)]
    unsafe fn leads_of_4_of(from: *const u8) -> u64 {
        // SAFETY: the same contract.
        unsafe { of_window(from, |bytes| vcgeq_u8(bytes, vdupq_n_u8(0xF0))) }
    }

    #[inline(always)]
    unsafe fn refused(self, next: Self) -> u64 {
        Self::error_mask(Self(vandq_u8(table_errors(self.0, self.0, next.0), vdupq_n_u8(REFUSED))))
    }
}

/// Writes sixteen characters of one or two bytes: the first byte of each, and the second if `two` is set.
///
/// # Safety
/// Two registers can be written.
#[inline(always)]
unsafe fn write_sixteen(first: uint8x16_t, second: uint8x16_t, two: uint8x16_t, to: *mut u8) -> *mut u8 {
    let [low, high] = bytes_of_halves(two).map(usize::from);
    // SAFETY: the eight characters of each half have at most a register.
    unsafe {
        let to = pack(vzip1q_u8(first, second), &OF_EIGHT, low, to);
        pack(vzip2q_u8(first, second), &OF_EIGHT, high, to)
    }
}

// SAFETY: no function accesses memory beyond what its contract allows, as its comments show; each returns the end of the sequences.
unsafe impl SequenceWriter for Neon {
    #[inline(always)]
    unsafe fn write_sixteen_of_two(a: uint8x16_t, b: uint8x16_t, to: *mut u8) -> *mut u8 {
        let (a, b) = (vreinterpretq_u16_u8(a), vreinterpretq_u16_u8(b));
        let low = vuzp1q_u8(vreinterpretq_u8_u16(a), vreinterpretq_u8_u16(b));
        // At most 1 for one byte, since 80 is 2 << 6.
        let upper = vshrn_high_n_u16::<6>(vshrn_n_u16::<6>(a), b);
        let two = vcgtq_u8(upper, vdupq_n_u8(1));
        let first = vbslq_u8(two, vorrq_u8(upper, vdupq_n_u8(0xC0)), low);
        // SAFETY: the same contract.
        unsafe { write_sixteen(first, vsliq_n_u8::<6>(low, vdupq_n_u8(0b10)), two, to) }
    }

    #[inline(always)]
    unsafe fn write_sixteen_bytes(bytes: uint8x16_t, to: *mut u8) -> *mut u8 {
        let two = vcltzq_s8(vreinterpretq_s8_u8(bytes));
        let first = vbslq_u8(two, vorrq_u8(vshrq_n_u8::<6>(bytes), vdupq_n_u8(0xC0)), bytes);
        // SAFETY: the same contract. The highest bit of the second byte is set already.
        unsafe { write_sixteen(first, vandq_u8(bytes, vdupq_n_u8(0xBF)), two, to) }
    }
}

/// The units of eight sequences of three bytes of text.
///
/// # Safety
/// 24 bytes can be read.
#[inline(always)]
unsafe fn eight_of_three(from: *const u8) -> uint16x8_t {
    // SAFETY: the same contract.
    let uint8x8x3_t(first, second, third) = unsafe { vld3_u8(from) };
    let low = vdup_n_u8(0x3F);
    let tails = vaddw_u8(vshll_n_u8::<6>(vand_u8(second, low)), vand_u8(third, low));
    vsliq_n_u16::<12>(tails, vmovl_u8(first))
}

/// Calls `widen` with each register of a window and its offset, if all of the window is ASCII.
///
/// # Safety
/// 64 bytes can be read.
#[inline(always)]
unsafe fn if_ascii(from: *const u8, widen: impl Fn(uint8x16_t, usize)) -> bool {
    // SAFETY: part `p` reads `16 * p..16 * (p + 1)`, and the last ends at 64.
    let [a, b, c, d] = [0, 16, 32, 48].map(|at| unsafe { vld1q_u8(from.add(at)) });
    let are_ascii = Neon(vorrq_u8(vorrq_u8(a, b), vorrq_u8(c, d))).is_ascii();
    if are_ascii {
        widen(a, 0);
        widen(b, 16);
        widen(c, 32);
        widen(d, 48);
    }
    are_ascii
}

/// Writes sixteen bytes as units of 16 bits.
///
/// # Safety
/// They can be written.
#[inline(always)]
unsafe fn widen_sixteen_to_16(bytes: uint8x16_t, to: *mut u16) {
    // SAFETY: the same contract.
    unsafe {
        vst1q_u16(to, vmovl_u8(vget_low_u8(bytes)));
        vst1q_u16(to.add(8), vmovl_high_u8(bytes));
    }
}

/// For each four of sixteen bytes, their places in lanes of four bytes; lookups beyond a register are zero.
static IN_LANES: Aligned<[[u8; 16]; 4]> = {
    let mut places = [[0xFF; 16]; 4];
    let mut byte = 0;
    while byte < 16 {
        places[byte / 4][byte % 4 * 4] = byte as u8;
        byte += 1;
    }
    Aligned(places)
};

/// Writes sixteen bytes as units of 32 bits.
///
/// # Safety
/// They can be written.
#[inline(always)]
unsafe fn widen_sixteen_to_32(bytes: uint8x16_t, to: *mut u32) {
    // SAFETY: reads the sixteen bytes of each entry.
    let [a, b, c, d] = IN_LANES.each_ref().map(|places| vqtbl1q_u8(bytes, unsafe { vld1q_u8(places.as_ptr()) }));
    // SAFETY: four registers of four units.
    unsafe {
        vst1q_u8(to.cast(), a);
        vst1q_u8(to.add(4).cast(), b);
        vst1q_u8(to.add(8).cast(), c);
        vst1q_u8(to.add(12).cast(), d);
    }
}

// SAFETY: no function accesses memory beyond what its contract allows, as its comments show; `to` moves by one unit for each place, or as `replace` states.
unsafe impl WindowWriter for Neon {
    #[inline(always)]
    unsafe fn widen_to_16(from: *const u8, replaced: u64, to: *mut u16) {
        if replaced != 0 {
            // SAFETY: the same contract.
            return unsafe { widen(from, replaced, 0xFFFD, to) };
        }
        for at in [0, 16, 32, 48] {
            // SAFETY: reads `at..at + 16` and writes as many units.
            unsafe { widen_sixteen_to_16(vld1q_u8(from.add(at)), to.add(at)) };
        }
    }

    #[inline(always)]
    unsafe fn ascii_to_16(from: *const u8, to: *mut u16) -> bool {
        // SAFETY: reads four registers, and writes eight.
        unsafe { if_ascii(from, |bytes, at| widen_sixteen_to_16(bytes, to.add(at))) }
    }

    #[inline(always)]
    unsafe fn widen_to_32(from: *const u8, replaced: u64, to: *mut u32) {
        if replaced != 0 {
            // SAFETY: the same contract.
            return unsafe { widen(from, replaced, 0xFFFD, to) };
        }
        for at in [0, 16, 32, 48] {
            // SAFETY: reads `at..at + 16` and writes as many units.
            unsafe { widen_sixteen_to_32(vld1q_u8(from.add(at)), to.add(at)) };
        }
    }

    #[inline(always)]
    unsafe fn ascii_to_32(from: *const u8, to: *mut u32) -> bool {
        // SAFETY: reads four registers, and writes sixteen.
        unsafe { if_ascii(from, |bytes, at| widen_sixteen_to_32(bytes, to.add(at))) }
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
unsafe impl OfThree for Neon {
    #[inline(always)]
    unsafe fn utf16_of_three(from: *const u8, to: *mut u16) {
        // SAFETY: the same contract.
        unsafe { vst1q_u16(to, eight_of_three(from)) }
    }

    #[inline(always)]
    unsafe fn utf32_of_three(from: *const u8, to: *mut u32) {
        // SAFETY: the same contract.
        unsafe {
            let units = eight_of_three(from);
            vst1q_u32(to, vmovl_u16(vget_low_u16(units)));
            vst1q_u32(to.add(4), vmovl_high_u16(units));
        }
    }
}

// SAFETY: the result is that of `prefix_of_words`.
unsafe impl Partial for Neon {
    fn partial_path(len: usize) -> Path {
        path_of_words::<Self>(len)
    }

    #[inline(always)]
    unsafe fn partial_prefix(bytes: &[u8]) -> usize {
        prefix_of_words(bytes, |[low, high]| {
            Self(vreinterpretq_u8_u64(vcombine_u64(vcreate_u64(low), vcreate_u64(high))))
        })
    }
}
