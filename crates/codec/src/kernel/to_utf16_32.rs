//! UTF-8 to UTF-16 and UTF-32 with replacement, window by window; and how long well-formed UTF-8 is in them.
//!
//! # Idea
//!
//! A code unit is written at the last byte of its sequence, where it and the bytes before it have all its bits; the high
//! surrogate of a pair at the third byte. So the units of a window depend on nothing after it, and are its bytes at
//! [`Places::any`], each combined with up to three bytes before it, with the other places left out. Windows where every byte
//! is ASCII or an error of its own are widened as they are. AVX-512 decodes all windows so, and has a loop for those of sequences of
//! one and two bytes, which needs fewer masks. The other kernels do so only after an error (compress.rs).
//!
//! ```text
//! for each window:
//!     if no lead is followed by a continuation byte: widen bytes, U+FFFD for those from 80 on
//!     else: decide what each byte is (window.rs); write the units at the last bytes
//! ```
//!
//! # Example
//!
//! `61 C3 A9 F0 9F 98 80 FF` to UTF-16:
//!
//! ```text
//! bytes          61 C3 A9 F0 9F 98 80 FF
//! last            1  .  1  .  .  .  1  .
//! third_of_4      .  .  .  .  .  1  .  .
//! replaced        .  .  .  .  .  .  .  1
//! units        0061    00E9       D83D DE00 FFFD
//! ```
//!
//! # Cost
//!
//! A window costs the masks and a fixed number of register operations, whatever its text; AVX-512 compresses a register in an
//! instruction, the other kernels look up a shuffle (compress.rs). Inputs below 64 bytes are slow, and so is an end that is not
//! ASCII: they are copied to be padded.
//!
//! # Length
//!
//! A character has exactly one byte that is not a continuation byte, and makes two units of UTF-16 exactly where that
//! byte is F0 or above. So [`count`] counts bytes and decodes nothing:
//!
//! ```text
//! UTF-32: bytes - continuation bytes                 61 C3 A9 F0 9F 98 80: 7 - 4 = 3
//! UTF-16: the same + leads of four bytes             and one lead from F0 on: 4
//! ```
//!
//! A register costs a load, a few operations for the mask and a population count; only AVX-512 uses this. SSE4.1 and AVX2
//! are faster with the portable loop, which the compiler turns into registers of sums. Up to 63 bytes at either end are counted
//! by that loop, too.

use crate::kernel::room::Room;
use crate::kernel::vector::{Vector, hidden};
use crate::kernel::window::{Carry, Left, Padded, Places, READ, WINDOW, WindowWriter, masks};
use crate::scalar::{LINE, before_and_from_line, chars_by_bytes, pending, utf16_len_by_bytes};
use crate::utf8::is_continuation;

/// The encoding that is written.
///
/// # Safety
/// Each function calls the one of [`WindowWriter`] that its contract names, or its counterpart for UTF-32, and does nothing else.
/// `PAIRS` is true if `write` makes two units of a sequence of four bytes, and only then.
pub(super) unsafe trait Form {
    /// A code unit.
    type Unit: Copy;

    /// Whether sequences of four bytes are written as two units.
    const PAIRS: bool;

    /// Writes the units of a window.
    ///
    /// # Safety
    /// As of [`WindowWriter::utf16`].
    unsafe fn write<V: WindowWriter>(
        from: *const u8,
        first: bool,
        places: Places,
        to: *mut Self::Unit,
    ) -> *mut Self::Unit;

    /// Writes the units of a window if it holds only well-formed sequences of one and two bytes and there is a way to do that
    /// faster.
    ///
    /// # Safety
    /// As of [`WindowWriter::utf16_one_two_byte`].
    unsafe fn write_one_two_byte<V: WindowWriter>(
        from: *const u8,
        begun: &mut u64,
        to: *mut Self::Unit,
    ) -> Option<*mut Self::Unit>;

    /// Writes 64 bytes as units, U+FFFD for those in `replaced`; the others are ASCII.
    ///
    /// # Safety
    /// As of [`WindowWriter::widen_to_16`].
    unsafe fn widen<V: WindowWriter>(from: *const u8, replaced: u64, to: *mut Self::Unit);

    /// Writes a window if it is ASCII.
    ///
    /// # Safety
    /// As of [`WindowWriter::widen_to_16`].
    unsafe fn ascii<V: WindowWriter>(from: *const u8, to: *mut Self::Unit) -> bool;
}

pub(super) struct Utf16;
pub(super) struct Utf32;

// SAFETY: each function calls the one for UTF-16.
unsafe impl Form for Utf16 {
    type Unit = u16;
    const PAIRS: bool = true;

    #[inline(always)]
    unsafe fn write<V: WindowWriter>(from: *const u8, first: bool, places: Places, to: *mut u16) -> *mut u16 {
        // SAFETY: the same contract.
        unsafe { V::utf16(from, first, places, to) }
    }

    #[inline(always)]
    unsafe fn write_one_two_byte<V: WindowWriter>(from: *const u8, begun: &mut u64, to: *mut u16) -> Option<*mut u16> {
        // SAFETY: the same contract.
        unsafe { V::utf16_one_two_byte(from, begun, to) }
    }

    #[inline(always)]
    unsafe fn widen<V: WindowWriter>(from: *const u8, replaced: u64, to: *mut u16) {
        // SAFETY: the same contract.
        unsafe { V::widen_to_16(from, replaced, to) }
    }

    #[inline(always)]
    unsafe fn ascii<V: WindowWriter>(from: *const u8, to: *mut u16) -> bool {
        // SAFETY: the same contract.
        unsafe { V::ascii_to_16(from, to) }
    }
}

// SAFETY: each function calls the one for UTF-32, which has no pairs.
unsafe impl Form for Utf32 {
    type Unit = u32;
    const PAIRS: bool = false;

    #[inline(always)]
    unsafe fn write<V: WindowWriter>(from: *const u8, first: bool, places: Places, to: *mut u32) -> *mut u32 {
        // SAFETY: the same contract.
        unsafe { V::utf32(from, first, places, to) }
    }

    #[inline(always)]
    unsafe fn write_one_two_byte<V: WindowWriter>(from: *const u8, begun: &mut u64, to: *mut u32) -> Option<*mut u32> {
        // SAFETY: the same contract.
        unsafe { V::utf32_one_two_byte(from, begun, to) }
    }

    #[inline(always)]
    unsafe fn widen<V: WindowWriter>(from: *const u8, replaced: u64, to: *mut u32) {
        // SAFETY: the same contract.
        unsafe { V::widen_to_32(from, replaced, to) }
    }

    #[inline(always)]
    unsafe fn ascii<V: WindowWriter>(from: *const u8, to: *mut u32) -> bool {
        // SAFETY: the same contract.
        unsafe { V::ascii_to_32(from, to) }
    }
}

/// Writes `bytes` as UTF-16 or UTF-32, with U+FFFD for every maximal subpart.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only AVX-512 uses it"))]
pub(super) unsafe fn append<F: Form, V: WindowWriter>(bytes: &[u8], out: &mut Room<'_, F::Unit>) {
    // SAFETY: the instructions; there are as many bytes as `windows` requires. It leaves fewer than `WINDOW + 3 + READ`, and so at
    // most `2 * READ`.
    unsafe {
        let mut at = if bytes.len() > 2 * READ { windows::<F, V>(bytes, usize::MAX, out) } else { 0 };
        at += ascii_rest::<F, V>(&bytes[at..], out);
        padded::<F, V>(&bytes[at..], out);
    }
}

/// Writes the whole windows of ASCII that `bytes` begin with and, if there is one and all of `bytes` is ASCII, the rest, too.
/// Returns how many bytes are written. [`padded`] is slower: it copies the bytes, and decodes ASCII like any other text.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn ascii_rest<F: Form, V: WindowWriter>(bytes: &[u8], out: &mut Room<'_, F::Unit>) -> usize {
    let most = bytes.len() / WINDOW;
    let (from, to) = (bytes.as_ptr(), out.next(bytes.len()));
    // SAFETY: the instructions. `most` windows can be read, and there is room for a unit for each byte. If there is a window, there
    // are bytes for one that ends with the input; where it overlaps the one before, both write the same units. All units before
    // `at` are written.
    unsafe {
        let mut at = WINDOW * ascii_run::<F, V>(from, most, to);
        if most > 0 && at == WINDOW * most {
            let last = bytes.len() - WINDOW;
            at = if F::ascii::<V>(from.add(last), to.add(last)) { bytes.len() } else { at };
        }
        out.end_at(to.add(at), 0);
        at
    }
}

/// Writes at most `2 * READ` bytes as UTF-16 or UTF-32, with U+FFFD for every maximal subpart.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn padded<F: Form, V: WindowWriter>(bytes: &[u8], out: &mut Room<'_, F::Unit>) {
    let (mut rest, mut left, mut first) = (Padded::new(bytes), Left::default(), true);
    // SAFETY: the instructions are all that `next` requires. It returns where `READ` bytes can be read; before a window
    // that is not the first are the bytes of another. There is room for `2 * WINDOW` units.
    unsafe {
        while let Some((from, here, window)) = rest.next::<V>() {
            let places = Places::of(here, window, &rest.carry, &mut left);
            let to = F::write::<V>(from, first, places, out.next(2 * WINDOW));
            out.end_at(to, 0);
            first = false;
        }
    }
}

/// Decodes windows, until `patience` of them in a row have no error (at the start, `patience + 3`); with [`usize::MAX`], to the
/// end. Returns how many bytes are decoded; they end between two segments.
///
/// # Safety
/// The processor has the instructions of `V`; there are at least `READ + WINDOW` bytes.
#[inline(always)]
pub(super) unsafe fn windows<F: Form, V: WindowWriter>(
    bytes: &[u8],
    patience: usize,
    out: &mut Room<'_, F::Unit>,
) -> usize {
    let count = (bytes.len() - READ) / WINDOW;
    let (mut carry, mut left) = (Carry::default(), Left::default());
    // SAFETY: `count * WINDOW + READ <= bytes.len()`. `index < count` at each window, `index <= count` at each call of `masks`,
    // which reads 65 bytes: all reads are below `count * WINDOW + READ`. Where bytes before a window are read, `index > 0`.
    // Output: before window `index` at most `index * WINDOW` units are written, as each byte makes at most one, and a window
    // writes at most `2 * WINDOW` from there on: there is room for `(count + 1) * WINDOW`. `ascii_run` and `isolated_run` write as
    // many units as they read bytes. A high surrogate that is taken back was written by the last window.
    unsafe {
        let from = bytes.as_ptr();
        let mut to = out.next((count + 1) * WINDOW);
        let mut here = masks::<V>(from);
        let is_endless = patience == usize::MAX;
        // How many more windows without an error may follow. Three more at first: validation usually stops within a few windows of
        // the error.
        let (mut index, mut quiet) = (0, patience.saturating_add(3));
        while index < count && quiet > 0 {
            if here.all_isolated(carry) {
                let passed = if here.non_ascii == 0 {
                    ascii_run::<F, V>(from.add(index * WINDOW), count - index, to)
                } else {
                    isolated_run::<F, V>(from.add(index * WINDOW), (count - index) * WINDOW, here.non_ascii, to)
                };
                to = to.add(passed * WINDOW);
                index += passed;
                quiet = if here.non_ascii == 0 { quiet.saturating_sub(passed) } else { patience };
                here = masks::<V>(from.add(index * WINDOW));
                left = Left::default();
                continue;
            }
            if here.lead_of_3 == 0 && index > 0 {
                let passed;
                (passed, to) = one_two_byte_run::<F, V>(from.add(index * WINDOW), count - index, &mut carry, to);
                if passed > 0 {
                    index += passed;
                    here = masks::<V>(from.add(index * WINDOW));
                    left = Left { fours: 0, continuation: u64::from(is_continuation(*from.add(index * WINDOW - 1))) };
                    continue;
                }
            }
            // Text of longer sequences goes on here, with fewer decisions, until a window has no lead of three or more bytes, or none
            // that is continued.
            loop {
                let window_at = from.add(index * WINDOW);
                let next = masks::<V>(window_at.add(WINDOW));
                let window = here.decide(next, &mut carry);
                // Not worth a branch where windows are decoded only after an error.
                if is_endless && window.good == !0 && here.lead_of_4 | left.fours == 0 {
                    let places = Places::of_up_to_three(here, carry, &mut left);
                    to = F::write::<V>(window_at, index == 0, places, to);
                } else {
                    let places = Places::of(here, window, &carry, &mut left);
                    to = F::write::<V>(window_at, index == 0, places, to);
                }
                // One line: a window that is not ASCII fills about as much in UTF-16, and up to two in UTF-32.
                V::prefetch(to.cast::<u8>().wrapping_add(AHEAD));
                if !is_endless {
                    quiet = if window.good == !0 { quiet - 1 } else { patience };
                }
                here = next;
                index += 1;
                let is_longer = here.lead_of_3 != 0 && here.has_continued_lead();
                if index == count || quiet == 0 || !is_longer {
                    break;
                }
            }
        }
        let at = index * WINDOW;
        if carry.good == 0 {
            out.end_at(to, 0);
            return at + carry.others.count_ones() as usize;
        }
        // The last window ends inside a sequence, which is decoded again with the rest of it. If three of its bytes are here,
        // its high surrogate is written already.
        let begun = pending(bytes, at);
        out.end_at(to, usize::from(F::PAIRS && begun == 3));
        at - begun
    }
}

/// A cache line of the output is loaded this many bytes before it is written.
const AHEAD: usize = 1024;

/// Hints that the cache lines [`AHEAD`] bytes after those of the units of a window at `to` will be written. The processor
/// prefetches well for reads by itself, less well for writes: without this, large output takes up to an eighth longer.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn load_ahead<F: Form, V: Vector>(to: *const F::Unit) {
    for line in 0..size_of::<F::Unit>() * WINDOW / LINE {
        // SAFETY: the same contract.
        unsafe { V::prefetch(to.cast::<u8>().wrapping_add(AHEAD + LINE * line)) };
    }
}

/// Widens windows as long as they are ASCII, at most `most`; returns how many.
///
/// # Safety
/// `most` windows can be read, and a unit written for each of their bytes; the processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn ascii_run<F: Form, V: WindowWriter>(from: *const u8, most: usize, to: *mut F::Unit) -> usize {
    /// In bytes: the units of a longer run may not fit into a second-level cache. A shorter run is written faster without
    /// [`load_ahead`].
    const LARGE: usize = 256 << 10;
    if most == 0 {
        return 0;
    }
    // SAFETY: each window begins at `last` at most, so it and its units end at `most * WINDOW` at most.
    unsafe {
        if !F::ascii::<V>(from, to) {
            return 0;
        }
        // From here on no register is written across two cache lines.
        let mut at = to.align_offset(LINE) % WINDOW;
        let last = (most - 1) * WINDOW;
        if last > LARGE / size_of::<F::Unit>() {
            while at <= last && F::ascii::<V>(from.add(at), to.add(at)) {
                load_ahead::<F, V>(to.wrapping_add(at));
                at += WINDOW;
            }
        } else {
            while at <= last && F::ascii::<V>(from.add(at), to.add(at)) {
                at += WINDOW;
            }
        }
        if at > last && F::ascii::<V>(from.add(last), to.add(last)) { most } else { (at / WINDOW).max(1) }
    }
}

/// Writes windows in which every byte is ASCII or an error of its own. The first window is such a one, with errors at
/// `non_ascii`. Stops at the first that is not, or one window before it, or after `len` bytes. Returns how many windows are
/// written, at least one.
///
/// # Safety
/// `len >= WINDOW`; `from..from + len + 1` can be read and `len` units written; the processor has the instructions of `V`.
#[inline(always)]
unsafe fn isolated_run<F: Form, V: WindowWriter>(
    from: *const u8,
    len: usize,
    non_ascii: u64,
    to: *mut F::Unit,
) -> usize {
    // SAFETY: each window ends at `at + WINDOW <= len`, and so do its units; the first at `WINDOW`. Masks read a byte more.
    unsafe {
        F::widen::<V>(from, non_ascii, to);
        // From here on no register is written across two cache lines.
        let mut at = to.align_offset(LINE) % WINDOW;
        while at + WINDOW <= len {
            let here = masks::<V>(from.add(at));
            if !here.all_isolated(Carry::default()) {
                break;
            }
            F::widen::<V>(hidden(from.add(at)), here.non_ascii, to.add(at));
            load_ahead::<F, V>(to.wrapping_add(at));
            at += WINDOW;
        }
        (at / WINDOW).max(1)
    }
}

/// Writes up to `most` windows that hold only well-formed sequences of one and two bytes. Returns how many those are, and the
/// end of their units.
///
/// # Safety
/// `most` is at least 1. As of [`WindowWriter::utf16_one_two_byte`], for each of `most` windows at `from`.
#[inline(always)]
unsafe fn one_two_byte_run<F: Form, V: WindowWriter>(
    from: *const u8,
    most: usize,
    carry: &mut Carry,
    mut to: *mut F::Unit,
) -> (usize, *mut F::Unit) {
    // SAFETY: there is a first window, and later `passed < most`; before the window at `passed` at most a unit is written for each
    // byte. The byte before `from` can be read.
    unsafe {
        // A sequence that continues here must be one of two bytes, too.
        let mut begun = u64::from(*from.sub(1) >= 0xC0);
        if begun != carry.good || begun != carry.others {
            return (0, to);
        }
        // The first one before the loop: once it is written, the masks that the caller has of it take no registers in the loop.
        let Some(end) = F::write_one_two_byte::<V>(from, &mut begun, to) else {
            return (0, to);
        };
        let mut passed = 1;
        to = end;
        while passed < most
            && let Some(end) = F::write_one_two_byte::<V>(from.add(passed * WINDOW), &mut begun, to)
        {
            to = end;
            passed += 1;
        }
        *carry = Carry { good: begun, others: begun };
        (passed, to)
    }
}

/// The characters of well-formed `bytes`; with `PAIRS`, the units of UTF-16.
///
/// # Safety
/// The processor has the instructions of `V`.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only AVX-512 uses it"))]
#[inline(always)]
pub(super) unsafe fn count<V: Vector, const PAIRS: bool>(bytes: &[u8]) -> usize {
    let (before, bytes) = before_and_from_line(bytes);
    let (windows, rest) = bytes.as_chunks::<WINDOW>();
    let units_of = |window: &[u8; WINDOW]| {
        let mut units = 0;
        for part in 0..WINDOW / V::LEN {
            // SAFETY: part `p` reads `p * LEN..(p + 1) * LEN` of the window, and the last ends at 64.
            unsafe {
                let bytes = V::load(window.as_ptr().add(part * V::LEN));
                units += V::LEN - bytes.continuations().count_ones() as usize;
                if PAIRS {
                    units += bytes.leads_of_4().count_ones() as usize;
                }
            }
        }
        units
    };
    // Four windows at a time: there are fewer jumps.
    let (fours, windows) = windows.as_chunks::<4>();
    let of_fours: usize = fours.iter().map(|[a, b, c, d]| units_of(a) + units_of(b) + units_of(c) + units_of(d)).sum();
    let of_few = |bytes| if PAIRS { utf16_len_by_bytes(bytes) } else { chars_by_bytes(bytes) };
    of_fours + windows.iter().map(units_of).sum::<usize>() + of_few(before) + of_few(rest)
}
