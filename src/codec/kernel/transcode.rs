//! UTF-8 to UTF-16 and UTF-32, window by window. A unit is written where the last byte of a sequence stands, and of a
//! sequence of four bytes the high surrogate where the third stands: all that it is made of stands there, and in the
//! bytes before.

use crate::codec::automaton::pending;
use crate::codec::kernel::replace::{LINE, READ, WINDOW, masks, non_ascii_and_leads};
use crate::codec::kernel::vector::Vector;
use crate::codec::kernel::window::{Carry, Masks, Window};
use crate::utf8::is_continuation;

/// Windows for which room is made at a time.
const STRETCH: usize = 256;

/// Where units are written from a window: bit `i` is byte `i`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    /// Last bytes of well-formed sequences.
    pub(super) last: u64,
    /// Third bytes of sequences of four, and last ones.
    pub(super) third_of_4: u64,
    pub(super) last_of_4: u64,
    /// Maximal subparts of ill-formed ones.
    pub(super) replaced: u64,
    /// Continuation bytes, and those behind another.
    pub(super) continuation: u64,
    pub(super) second_continuation: u64,
}

/// What is left from a window for the places of the next.
#[derive(Clone, Copy, Debug, Default)]
struct Left {
    fours: u64,
    continuation: u64,
}

impl Places {
    #[inline(always)]
    fn of(masks: Masks, window: Window, carry: &Carry, left: &mut Left) -> Self {
        let continuation = masks.non_ascii & !masks.lead;
        let goes_on = (window.good & continuation) >> 1 | (carry.good & 1) << 63;
        let fours = window.good & masks.lead_of_4;
        let places = Self {
            last: window.good & !goes_on,
            third_of_4: fours << 2 | left.fours >> 1 & 3,
            last_of_4: fours << 3 | left.fours & 7,
            replaced: window.replaced,
            continuation,
            second_continuation: continuation & (continuation << 1 | left.continuation),
        };
        *left = Left { fours: fours >> 61, continuation: continuation >> 63 };
        places
    }

    /// Where any unit is written.
    #[inline(always)]
    pub(super) fn any(&self) -> u64 {
        self.last | self.third_of_4 | self.replaced
    }
}

/// What is written.
pub(super) trait Form {
    /// A code unit.
    type Unit: Copy;

    /// Whether sequences of four bytes become two units.
    const PAIRS: bool;

    /// Writes the units of a window at `from`, the `first` of a text or not, and returns the place behind them.
    ///
    /// # Safety
    /// 64 units can be written and as many more; the window, and the bytes before it where it is not the first, can be read;
    /// the processor has the instructions of `V`.
    unsafe fn write<V: Vector>(from: *const u8, first: bool, places: Places, to: *mut Self::Unit) -> *mut Self::Unit;

    /// Writes the units of a window at `from`, not the first of a text, if it is nothing but well-formed sequences of one and
    /// two bytes; see [`Vector::utf16_of_twos`].
    ///
    /// # Safety
    /// As of [`Form::write`]; 128 bytes can be read.
    #[inline(always)]
    unsafe fn write_twos<V: Vector>(from: *const u8, begun: &mut u64, to: *mut Self::Unit) -> Option<*mut Self::Unit> {
        let _ = (from, begun, to);
        None
    }

    /// Writes 64 bytes, of which those that are `replaced` are errors of their own, and the others are ASCII.
    ///
    /// # Safety
    /// They can be read and written; the processor has the instructions of `V`.
    unsafe fn widen<V: Vector>(from: *const u8, replaced: u64, to: *mut Self::Unit);
}

pub(super) struct Utf16;
pub(super) struct Utf32;

impl Form for Utf16 {
    type Unit = u16;
    const PAIRS: bool = true;

    #[inline(always)]
    unsafe fn write<V: Vector>(from: *const u8, first: bool, places: Places, to: *mut u16) -> *mut u16 {
        // SAFETY: as the caller says.
        unsafe { V::utf16(from, first, places, to) }
    }

    #[inline(always)]
    unsafe fn write_twos<V: Vector>(from: *const u8, begun: &mut u64, to: *mut u16) -> Option<*mut u16> {
        // SAFETY: as the caller says.
        unsafe { V::utf16_of_twos(from, begun, to) }
    }

    #[inline(always)]
    unsafe fn widen<V: Vector>(from: *const u8, replaced: u64, to: *mut u16) {
        // SAFETY: as the caller says.
        unsafe { V::widen_to_16(from, replaced, to) }
    }
}

impl Form for Utf32 {
    type Unit = u32;
    const PAIRS: bool = false;

    #[inline(always)]
    unsafe fn write<V: Vector>(from: *const u8, first: bool, places: Places, to: *mut u32) -> *mut u32 {
        // SAFETY: as the caller says.
        unsafe { V::utf32(from, first, places, to) }
    }

    #[inline(always)]
    unsafe fn widen<V: Vector>(from: *const u8, replaced: u64, to: *mut u32) {
        // SAFETY: as the caller says.
        unsafe { V::widen_to_32(from, replaced, to) }
    }
}

/// Appends `bytes` in another form, with U+FFFD for every maximal subpart.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn transcode_into<F: Form, V: Vector>(bytes: &[u8], out: &mut Vec<F::Unit>) {
    let mut at = 0;
    while bytes.len() - at > 2 * READ {
        // SAFETY: the caller has the instructions.
        at += unsafe { windows::<F, V>(&bytes[at..], out) };
    }
    let rest = &bytes[at..];
    let mut padded = [0; 4 * READ];
    padded[..rest.len()].copy_from_slice(rest);
    let (mut carry, mut left) = (Carry::default(), Left::default());
    for at in (0..rest.len()).step_by(WINDOW) {
        out.reserve(2 * WINDOW);
        let there = rest.len() - at;
        // SAFETY: the caller has the instructions; `padded` is longer than `rest` by as much as may be read.
        unsafe {
            let from = padded.as_ptr().add(at);
            let here = masks::<V>(from);
            let mut window = here.decide(masks::<V>(from.add(WINDOW)), &mut carry);
            if there < WINDOW {
                window.good &= (1 << there) - 1;
                window.replaced &= (1 << there) - 1;
            }
            let places = Places::of(here, window, &carry, &mut left);
            let to = F::write::<V>(from, at == 0, places, out.as_mut_ptr().add(out.len()));
            out.set_len(to.offset_from_unsigned(out.as_ptr()));
        }
    }
}

/// Decodes a stretch of windows. Returns how many bytes are decoded; they end between two units.
///
/// # Safety
/// The processor has the instructions of `V`, and there are more than two windows.
#[inline(always)]
unsafe fn windows<F: Form, V: Vector>(bytes: &[u8], out: &mut Vec<F::Unit>) -> usize {
    let count = ((bytes.len() - READ) / WINDOW).min(STRETCH);
    out.reserve((count + 1) * WINDOW);
    let (mut carry, mut left) = (Carry::default(), Left::default());
    // SAFETY: the caller has the instructions. Behind each window stand `READ` bytes, and there is room for a unit for each
    // byte that is read, and for as many as are written too many.
    unsafe {
        let from = bytes.as_ptr();
        let mut to = out.as_mut_ptr().add(out.len());
        let mut here = masks::<V>(from);
        let mut index = 0;
        while index < count {
            if here.are_alone(carry) {
                let len = (count - index) * WINDOW;
                let passed = run_of_alone::<F, V>(from.add(index * WINDOW), len, here.non_ascii, to);
                to = to.add(passed * WINDOW);
                index += passed;
                here = masks::<V>(from.add(index * WINDOW));
                left = Left::default();
                continue;
            }
            if here.lead_of_3 == 0 && index > 0 {
                let passed;
                (passed, to) = run_of_twos::<F, V>(from.add(index * WINDOW), count - index, &mut carry, to);
                if passed > 0 {
                    index += passed;
                    here = masks::<V>(from.add(index * WINDOW));
                    left = Left { fours: 0, continuation: u64::from(is_continuation(*from.add(index * WINDOW - 1))) };
                    continue;
                }
            }
            let window_at = from.add(index * WINDOW);
            let next = masks::<V>(window_at.add(WINDOW));
            let window = here.decide(next, &mut carry);
            let places = Places::of(here, window, &carry, &mut left);
            to = F::write::<V>(window_at, index == 0, places, to);
            here = next;
            index += 1;
        }
        let written = to.offset_from_unsigned(out.as_ptr());
        let at = count * WINDOW;
        if carry.good == 0 {
            out.set_len(written);
            return at + carry.others.count_ones() as usize;
        }
        // What is begun is decoded anew with the rest of it; of three bytes the high surrogate is written already.
        let begun = pending(bytes, at);
        out.set_len(written - usize::from(F::PAIRS && begun == 3));
        at - begun
    }
}

/// Writes bytes of which each is ASCII or an error of its own, as those of the first window are, which are no ASCII where
/// `non_ascii` says so. Goes on as far as that is so, but for a window perhaps, or to the end of `len` bytes. Returns how many
/// windows are written, one at least.
///
/// # Safety
/// The bytes can be read, and as many units written; the processor has the instructions of `V`.
#[inline(always)]
unsafe fn run_of_alone<F: Form, V: Vector>(from: *const u8, len: usize, non_ascii: u64, to: *mut F::Unit) -> usize {
    // SAFETY: as the caller says.
    unsafe {
        F::widen::<V>(from, non_ascii, to);
        // A place where no register is written across two lines of the cache.
        let mut at = to.align_offset(LINE) % WINDOW;
        while at + WINDOW <= len {
            let [non_ascii, lead] = non_ascii_and_leads::<V>(from.add(at));
            if lead << 1 & non_ascii & !lead | lead >> 63 != 0 {
                break;
            }
            F::widen::<V>(from.add(at), non_ascii, to.add(at));
            at += WINDOW;
        }
        (at / WINDOW).max(1)
    }
}

/// Writes the units of up to `most` windows that are nothing but well-formed sequences of one and two bytes. Returns how many
/// windows those are, and the place behind their units.
///
/// # Safety
/// As of [`Form::write_twos`], for each of them; a byte stands before the first.
#[inline(always)]
unsafe fn run_of_twos<F: Form, V: Vector>(
    from: *const u8,
    most: usize,
    carry: &mut Carry,
    mut to: *mut F::Unit,
) -> (usize, *mut F::Unit) {
    let mut passed = 0;
    // SAFETY: as the caller says.
    unsafe {
        // What goes on here must be of two bytes, too.
        let mut begun = u64::from(*from.sub(1) >= 0xC0);
        if begun != carry.good || begun != carry.others {
            return (0, to);
        }
        while passed < most
            && let Some(behind) = F::write_twos::<V>(from.add(passed * WINDOW), &mut begun, to)
        {
            to = behind;
            passed += 1;
        }
        *carry = Carry { good: begun, others: begun };
    }
    (passed, to)
}

/// Writes the units of a window one by one; returns the place behind them.
///
/// # Safety
/// The bytes of the window can be read, and those before it that its sequences have; 64 units can be written.
#[inline(always)]
pub(super) unsafe fn utf16_one_by_one(from: *const u8, places: Places, mut to: *mut u16) -> *mut u16 {
    let mut any = places.any();
    while any != 0 {
        let at = any.trailing_zeros() as usize;
        let has = |mask: u64| mask >> at & 1 == 1;
        let unit = match has(places.replaced) {
            true => 0xFFFD,
            // SAFETY: the sequence of a good byte has those before it that its length asks for.
            false => unsafe {
                let byte = |back: usize| u32::from(*from.wrapping_add(at).wrapping_sub(back));
                let bits = match () {
                    () if has(places.second_continuation) => {
                        byte(2) << 12 & 0xF000 | (byte(1) & 0x3F) << 6 | byte(0) & 0x3F
                    }
                    () if has(places.continuation) => (byte(1) & 0x3F) << 6 | byte(0) & 0x3F,
                    () => byte(0),
                };
                match () {
                    () if has(places.third_of_4) => 0xD7C0 + (bits >> 4),
                    () if has(places.last_of_4) => 0xDC00 | bits & 0x3FF,
                    () => bits,
                }
            },
        };
        // SAFETY: at most one unit for each byte of the window.
        unsafe {
            to.write(unit as u16);
            to = to.add(1);
        }
        any &= any - 1;
    }
    to
}

/// The same in UTF-32.
///
/// # Safety
/// As of [`utf16_one_by_one`].
#[inline(always)]
pub(super) unsafe fn utf32_one_by_one(from: *const u8, places: Places, mut to: *mut u32) -> *mut u32 {
    let mut any = places.last | places.replaced;
    while any != 0 {
        let at = any.trailing_zeros() as usize;
        let has = |mask: u64| mask >> at & 1 == 1;
        let unit = match has(places.replaced) {
            true => 0xFFFD,
            // SAFETY: the sequence of a good byte has those before it that its length asks for.
            false => unsafe {
                let byte = |back: usize| u32::from(*from.wrapping_add(at).wrapping_sub(back));
                let low = |back: usize| (byte(back) & 0x3F) << (6 * back);
                match () {
                    () if has(places.last_of_4) => (byte(3) & 7) << 18 | low(2) | low(1) | low(0),
                    () if has(places.second_continuation) => (byte(2) & 0xF) << 12 | low(1) | low(0),
                    () if has(places.continuation) => low(1) | low(0),
                    () => byte(0),
                }
            },
        };
        // SAFETY: at most one unit for each byte of the window.
        unsafe {
            to.write(unit);
            to = to.add(1);
        }
        any &= any - 1;
    }
    to
}
