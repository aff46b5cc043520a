//! Windows of 64 bytes where errors may be: what each byte is, what becomes of it, and how it is written; and decoding
//! with replacement, U+FFFD for every maximal subpart, which uses them.
//!
//! # Idea
//!
//! One bit of a word stands for one byte of the window. What becomes of a byte is decided by the three bytes before it and
//! the three after it, so windows lie at fixed offsets, and all that one window passes to the next is which of its first
//! three bytes continue something ([`Carry`]). Nothing starts again at an error, and the branches are the same wherever errors are.
//!
//! ```text
//! by_1 = leads followed by a continuation byte they do not refuse
//! by_2 = of those, leads from E0 on followed by a second one
//! by_3 = of those, leads from F0 on followed by a third one
//! good = ASCII | complete sequences, their leads shifted over their length
//! rest = the bytes in by_1 << 1, by_2 << 2, by_3 << 3 that are not good: later bytes of maximal subparts
//! replaced = all others: first bytes of maximal subparts, one U+FFFD each
//! ```
//!
//! # Example
//!
//! `61 E2 82 41 C3 A9 FF 80`, byte 0 on the left:
//!
//! ```text
//! bytes         61 E2 82 41 C3 A9 FF 80
//! non_ascii      .  1  1  .  1  1  1  1
//! lead           .  1  .  .  1  .  1  .
//! lead_of_3      .  1  .  .  .  .  1  .
//! refused        .  .  .  .  .  .  1  .      FF refuses every continuation byte
//! by_1           .  1  .  .  1  .  .  .
//! by_2           .  .  .  .  .  .  .  .      41 does not continue E2 82
//! good           1  .  .  1  1  1  .  .
//! replaced       .  1  .  .  .  .  1  1      61 U+FFFD 41 C3 A9 U+FFFD U+FFFD
//! ```
//!
//! # Cost
//!
//! Twelve (AVX-512) to about twenty-two register operations for each register to make the masks, then up to seventy on
//! words; windows without errors, and windows where every error stands alone, leave after about twenty. On text without
//! errors validation and a copy are faster, so decoding with replacement validates first and turns to windows only at an
//! error.
//!
//! # Decoding with replacement
//!
//! Text without errors is validated and copied, which is faster than anything that looks for errors while it copies. At
//! an error the loop changes to windows, which cost the same however many errors follow, and changes back
//! after some windows without any. Their number grows if validation then fails within 512 bytes, so that text with many errors is
//! not validated in vain over and over. ASCII at the beginning of a stretch is copied as it is checked.
//!
//! ```text
//! while more than four windows are left:
//!     good = the well-formed prefix of the next 16 KiB; copy it
//!     patience = 2 if good is 512 or more, else twice as before, at most 256
//!     if there is an error: decode windows until `patience` of them in a row have no error
//! the same for the rest, in a copy with zeros after it
//! ```
//!
//! # Example of decoding
//!
//! 8001 times `C3 A9`, then `FF`, then 8000 times `C3 A9`, with registers of sixteen bytes:
//!
//! ```text
//! validate    C3 A9 C3 …                 stops at the register with FF; copied
//! window 1    C3 A9 FF C3 A9 C3 …        writes C3 A9 EF BF BD C3 A9 C3 …
//! window 2, 3 A9 C3 A9 … C3              good, two in a row; the last byte begins a sequence that the next would end
//! take back   C3                         one byte is pending, so output and input go back by one
//! validate    C3 A9 C3 A9 …              to the end of the stretch
//! ```
//!
//! # Cost of decoding
//!
//! Without errors: validation and a copy, in turns every 16 KiB. With errors everywhere: the windows.
//! It is slow where errors are a few hundred bytes apart: each costs either a change to windows and back, or windows all the way.
//! Inputs below 32 bytes never get here
//! ([`Kernel::lossy_into`](crate::Kernel::lossy_into)).

use crate::kernel::validate::{Partial, well_formed_prefix};
use crate::kernel::vector::{Apart, Vector, hidden, opaque};
use crate::scalar::{LINE, Sequence, pending};
use crate::utf8::{REPLACEMENT, is_continuation};
use core::hint::select_unpredictable;

/// Bytes in a window.
pub(super) const WINDOW: usize = 64;

/// Bytes that must be readable from the start of a window: two windows.
pub(super) const READ: usize = 128;

/// Bytes of UTF-8 that a window may write: three for each input byte, plus 64 for a copy that may run past the end.
pub(super) const WRITTEN: usize = 256;

/// What the bytes of a window are: bit `i` is byte `i`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Masks {
    /// 80 and above.
    pub(super) non_ascii: u64,
    /// C0 and above.
    pub(super) lead: u64,
    /// E0 and above.
    pub(super) lead_of_3: u64,
    /// F0 and above.
    pub(super) lead_of_4: u64,
    /// Leads that refuse the byte after them, where that is a continuation byte. Bits of other bytes are undefined.
    pub(super) refused: u64,
}

/// What becomes of the bytes of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// Bytes of well-formed sequences.
    pub(super) good: u64,
    /// First bytes of maximal subparts. Bytes in neither mask are their later bytes.
    pub(super) replaced: u64,
    /// If set, each of the eight groups of eight bytes has one that is not good; if not, nothing is known.
    pub(super) dense: bool,
}

/// What the end of a window decides about the next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Carry {
    /// Bytes that continue a well-formed sequence.
    pub(super) good: u64,
    /// Bytes that continue any segment.
    pub(super) others: u64,
}

impl Masks {
    /// 80 to BF.
    #[inline(always)]
    fn continuation(self) -> u64 {
        self.non_ascii & !self.lead
    }

    /// Whether a lead is followed by a continuation byte.
    #[inline(always)]
    pub(super) fn has_continued_lead(self) -> bool {
        self.lead << 1 & self.continuation() != 0
    }

    /// Whether no lead is followed by a continuation byte, nothing continues from the window before, and the last byte does not lead:
    /// then every byte that is not ASCII is an error of its own, and no segment continues after this window.
    #[inline(always)]
    pub(super) fn all_isolated(self, carry: Carry) -> bool {
        !self.has_continued_lead() && self.lead >> 63 | carry.others == 0
    }

    /// Decides what becomes of the bytes of this window, after one that left `carry` and before one that is `next`.
    #[inline(always)]
    pub(super) fn decide(self, next: Self, carry: &mut Carry) -> Window {
        let Self { non_ascii, lead, lead_of_3, lead_of_4, refused } = self;
        let (continuation, continuation_after) = (self.continuation(), next.continuation());
        // Where continuation bytes are needed, here and after this window.
        let needed = lead << 1 | lead_of_3 << 2 | lead_of_4 << 3 | carry.good;
        let needed_after = lead >> 63 | lead_of_3 >> 62 | lead_of_4 >> 61;
        // What continues an ill-formed segment of the window before is a continuation byte that is not needed.
        if needed ^ continuation | lead & refused | needed_after & !continuation_after == 0 {
            *carry = Carry { good: needed_after, others: needed_after };
            return Window { good: !0, replaced: 0, dense: false };
        }
        if self.all_isolated(*carry) {
            return Window { good: !non_ascii, replaced: non_ascii, dense: false };
        }
        // Leads followed by one, two and three of their continuation bytes.
        let by_1 = lead & !refused & (opaque(continuation >> 1) | continuation_after << 63);
        let by_2 = by_1 & lead_of_3 & (opaque(continuation >> 2) | continuation_after << 62);
        let by_3 = by_2 & lead_of_4 & (opaque(continuation >> 3) | continuation_after << 61);
        // Leads of complete sequences of three or more bytes, and of two or more.
        let of_3 = by_2 & !lead_of_4 | by_3;
        let of_2 = by_1 & !lead_of_3 | of_3;
        let good = !non_ascii | of_2 | of_2 << 1 | of_3 << 2 | by_3 << 3 | carry.good;
        let others = by_1 << 1 | by_2 << 2 | by_3 << 3 | carry.others;
        *carry = Carry { good: of_2 >> 63 | of_3 >> 62 | by_3 >> 61, others: by_1 >> 63 | by_2 >> 62 | by_3 >> 61 };
        Window { good, replaced: !(good | others), dense: !has_zero_byte(!good) }
    }
}

/// What the 64 bytes at `from` are.
///
/// # Safety
/// `from..from + 65` can be read; the processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn masks<V: Vector>(from: *const u8) -> Masks {
    let mut all = Masks::default();
    for part in 0..WINDOW / V::LEN {
        // SAFETY: the loads read `place..place + LEN` and one byte further; `place + LEN` is at most 64.
        unsafe {
            let place = part * V::LEN;
            let bytes = V::load(from.add(place));
            let (doubled, next) = (bytes.shl1(), V::load(from.add(place + 1)));
            let non_ascii = opaque(bytes.movemask());
            let lead = non_ascii & opaque(doubled.movemask());
            let lead_of_3 = lead & opaque(doubled.shl1().movemask());
            let lead_of_4 = lead_of_3 & opaque(doubled.shl1().shl1().movemask());
            all.non_ascii |= non_ascii << place;
            all.lead |= lead << place;
            all.lead_of_3 |= lead_of_3 << place;
            all.lead_of_4 |= lead_of_4 << place;
            all.refused |= opaque(bytes.refused(next)) << place;
        }
    }
    all
}

/// The end of an input, in a copy with zeros after it, window by window: a window at the very end of the input would be
/// read beyond it.
pub(super) struct Padded {
    bytes: [[u8; READ]; 4],
    /// How many of them are input.
    len: usize,
    /// Offset of the next window.
    at: usize,
    /// What the window before it decided.
    pub(super) carry: Carry,
}

impl Padded {
    /// Begins between two segments, with at most `2 * READ` bytes.
    #[inline(always)]
    pub(super) fn new(rest: &[u8]) -> Self {
        let mut padded = Self { bytes: [[0; READ]; 4], len: rest.len(), at: 0, carry: Carry::default() };
        padded.bytes[..2].as_flattened_mut()[..rest.len()].copy_from_slice(rest);
        padded
    }

    /// The next window: where it is, with [`READ`] bytes to be read from there, what its bytes are, and what becomes of
    /// those that are input. The bytes of the windows before it stand before it.
    ///
    /// # Safety
    /// The processor has the instructions of `V`.
    #[inline(always)]
    pub(super) unsafe fn next<V: Vector>(&mut self) -> Option<(*const u8, Masks, Window)> {
        let there = self.len.checked_sub(self.at).filter(|&there| there > 0)?;
        // SAFETY: `at < len <= 2 * READ`, so from there on `2 * READ` bytes follow, and the masks read two windows and a
        // byte of these.
        unsafe {
            let from = self.bytes.as_flattened().as_ptr().add(self.at);
            let here = masks::<V>(from);
            let mut window = here.decide(masks::<V>(from.add(WINDOW)), &mut self.carry);
            // Fewer good bytes leave `dense` true.
            if there < WINDOW {
                window.good &= (1 << there) - 1;
                window.replaced &= (1 << there) - 1;
            }
            self.at += WINDOW;
            Some((from, here, window))
        }
    }
}

/// Where a window writes code units: bit `i` is byte `i`. A unit is written at the last byte of its sequence; of a sequence of
/// four bytes the high surrogate is written at the third, which with the two before has all its bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    /// The last bytes of well-formed sequences.
    pub(super) last: u64,
    /// The third bytes of sequences of four.
    pub(super) third_of_4: u64,
    /// Their last bytes.
    pub(super) last_of_4: u64,
    /// The first bytes of maximal subparts.
    pub(super) replaced: u64,
    /// Continuation bytes.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only AVX-512 uses it"))]
    pub(super) continuation: u64,
    /// Continuation bytes that follow another continuation byte.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only AVX-512 uses it"))]
    pub(super) second_continuation: u64,
}

/// What the end of a window means for the places of the next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Left {
    /// Leads of four bytes among the last three.
    pub(super) fours: u64,
    /// Whether the last byte is a continuation byte.
    pub(super) continuation: u64,
}

impl Places {
    #[inline(always)]
    pub(super) fn of(masks: Masks, window: Window, carry: &Carry, left: &mut Left) -> Self {
        let continuation = masks.continuation();
        let continued = (window.good & continuation) >> 1 | (carry.good & 1) << 63;
        let fours = window.good & masks.lead_of_4;
        Self { replaced: window.replaced, ..Self::of_text(continuation, window.good & !continued, fours, left) }
    }

    /// The places of a window of well-formed sequences of up to three bytes.
    #[inline(always)]
    pub(super) fn of_up_to_three(masks: Masks, carry: Carry, left: &mut Left) -> Self {
        let continuation = masks.continuation();
        let places = Self::of_text(continuation, !(continuation >> 1 | carry.good << 63), 0, left);
        // The compiler does not know that no sequence of four bytes began before.
        Self { third_of_4: 0, last_of_4: 0, ..places }
    }

    /// The places of text without errors, by the leads of four bytes.
    #[inline(always)]
    pub(super) fn of_text(continuation: u64, last: u64, fours: u64, left: &mut Left) -> Self {
        let places = Self {
            last,
            third_of_4: fours << 2 | left.fours >> 1 & 3,
            last_of_4: fours << 3 | left.fours & 7,
            replaced: 0,
            continuation,
            second_continuation: continuation & (continuation << 1 | left.continuation),
        };
        *left = Left { fours: fours >> 61, continuation: continuation >> 63 };
        places
    }

    /// Where any unit of UTF-16 is written.
    #[inline(always)]
    pub(super) fn any(&self) -> u64 {
        self.last | self.third_of_4 | self.replaced
    }
}

/// How a window is written. What is written past the returned pointer is not part of the output.
///
/// # Safety
/// An implementation reads and writes only the memory that is stated, in units of the output where it says so. A pointer that it
/// returns is the end of its output, all of which is written: for `replace` a byte for each byte in `good` and three for each
/// in `replaced`, if what `window` says of them is true; for `utf16` and `utf32` a unit for each place; for the functions of one
/// and two bytes a unit for each byte except leads. If a function returns true, all units are written. Every function may be called
/// only on a processor with the instructions of the implementing file. Input and output do not overlap.
pub(super) unsafe trait WindowWriter: Vector {
    /// Writes UTF-8 with replacement. Reads `from..from + READ` and writes within `to..to + WRITTEN`.
    #[inline(always)]
    unsafe fn replace(from: *const u8, window: Window, to: *mut u8) -> *mut u8 {
        // SAFETY: the same contract.
        unsafe { replace_by_runs::<Self>(from, window, to) }
    }

    /// Writes UTF-16. Reads `from..from + READ`, and unless the window is the `first` the three bytes before; writes within
    /// `to..to + 128` units.
    unsafe fn utf16(from: *const u8, first: bool, places: Places, to: *mut u16) -> *mut u16;

    /// Writes UTF-16 if the window holds only well-formed sequences of one and two bytes, and not only ASCII; the last may
    /// end after it. `begun`: whether the window before ends with a lead; afterwards, whether this one does. Reads
    /// `from - 1..from + READ`; writes within `to..to + 128` units.
    #[inline(always)]
    unsafe fn utf16_one_two_byte(from: *const u8, begun: &mut u64, to: *mut u16) -> Option<*mut u16> {
        let _ = (from, begun, to);
        None
    }

    /// Writes UTF-32 in the same way; reads and writes as [`Self::utf16_one_two_byte`].
    #[inline(always)]
    unsafe fn utf32_one_two_byte(from: *const u8, begun: &mut u64, to: *mut u32) -> Option<*mut u32> {
        let _ = (from, begun, to);
        None
    }

    /// Writes UTF-32; reads and writes as [`Self::utf16`].
    unsafe fn utf32(from: *const u8, first: bool, places: Places, to: *mut u32) -> *mut u32;

    /// Writes bytes as units of UTF-16, U+FFFD for those in `replaced`; the others are ASCII. Reads `from..from + 64` and
    /// writes 64 units.
    #[inline(always)]
    unsafe fn widen_to_16(from: *const u8, replaced: u64, to: *mut u16) {
        // SAFETY: the same contract.
        unsafe { widen(from, replaced, 0xFFFD, to) }
    }

    /// Writes a window as units of UTF-16 if it is ASCII; reads and writes as [`Self::widen_to_16`].
    #[inline(always)]
    unsafe fn ascii_to_16(from: *const u8, to: *mut u16) -> bool {
        // SAFETY: the same contract.
        unsafe {
            let are_ascii = is_ascii::<Self>(from);
            if are_ascii {
                Self::widen_to_16(hidden(from), 0, to);
            }
            are_ascii
        }
    }

    /// Writes a window as units of UTF-32 if it is ASCII; reads and writes as [`Self::widen_to_16`].
    #[inline(always)]
    unsafe fn ascii_to_32(from: *const u8, to: *mut u32) -> bool {
        // SAFETY: the same contract.
        unsafe {
            let are_ascii = is_ascii::<Self>(from);
            if are_ascii {
                Self::widen_to_32(hidden(from), 0, to);
            }
            are_ascii
        }
    }

    /// Writes bytes as units of UTF-32; reads and writes as [`Self::widen_to_16`].
    #[inline(always)]
    unsafe fn widen_to_32(from: *const u8, replaced: u64, to: *mut u32) {
        // SAFETY: the same contract.
        unsafe { widen(from, replaced, 0xFFFD, to) }
    }
}

/// Whether a window is ASCII.
///
/// # Safety
/// `from..from + 64` can be read; the processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn is_ascii<V: Vector>(from: *const u8) -> bool {
    // SAFETY: part `p` reads `p * LEN..(p + 1) * LEN`, and the last ends at 64.
    unsafe { (0..WINDOW / V::LEN).fold(V::zero(), |all, part| all.or(V::load(from.add(V::LEN * part)))).is_ascii() }
}

/// Copies 64 bytes.
///
/// # Safety
/// `from..from + 64` can be read and `to..to + 64` written; the processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn copy<V: Vector>(from: *const u8, to: *mut u8) {
    for part in 0..WINDOW / V::LEN {
        // SAFETY: part `p` reads and writes `p * LEN..(p + 1) * LEN`, and the last ends at 64.
        unsafe { V::load(from.add(part * V::LEN)).store(to.add(part * V::LEN)) };
    }
}

/// U+FFFD and a byte that is overwritten: one store instead of two.
const REPLACEMENT_AND_MORE: [u8; 4] = [REPLACEMENT[0], REPLACEMENT[1], REPLACEMENT[2], 0];

/// [`WindowWriter::replace`] run by run of good bytes: for each run 64 bytes are copied, or 16 if no run is longer, and what comes
/// next overwrites those after the run.
///
/// # Safety
/// As of [`WindowWriter::replace`].
#[inline(always)]
pub(super) unsafe fn replace_by_runs<V: Vector>(from: *const u8, window: Window, to: *mut u8) -> *mut u8 {
    // SAFETY: the same contract. If one of each eight bytes is bad, no run is longer than 14 bytes.
    unsafe {
        if V::LEN == 16 && window.dense {
            replace_runs(from, window, to, |from, to| V::load(from).store(to))
        } else {
            replace_runs(from, window, to, |from, to| copy::<V>(from, to))
        }
    }
}

/// Whether one of the eight bytes of `word` is zero.
#[inline(always)]
fn has_zero_byte(word: u64) -> bool {
    let (ones, signs) = (u64::from_ne_bytes([1; 8]), u64::from_ne_bytes([0x80; 8]));
    word.wrapping_sub(ones) & !word & signs != 0
}

/// [`replace_by_runs`], with a function that copies a run.
///
/// # Safety
/// As of [`WindowWriter::replace`]. `copy` copies at least as many bytes as the longest run has, and at most 64.
#[inline(always)]
unsafe fn replace_runs(from: *const u8, window: Window, mut to: *mut u8, copy: impl Fn(*const u8, *mut u8)) -> *mut u8 {
    let mut bad = !window.good;
    let mut done = 0;
    // SAFETY: `done` is at most 64, so that copies read below `from + 128`, which is `READ`. Before each write `to` has moved by
    // at most three for each byte done, 192 in all, and at most 64 bytes are written there: below `WRITTEN`.
    unsafe {
        copy(from, to);
        while bad != 0 {
            let at = bad.trailing_zeros() as usize;
            to = to.add(at - done);
            to.cast::<[u8; 4]>().write(REPLACEMENT_AND_MORE);
            to = to.add(REPLACEMENT.len() * (window.replaced >> at & 1) as usize);
            done = at + 1;
            copy(from.add(done), to);
            bad &= bad - 1;
        }
        to.add(WINDOW - done)
    }
}

/// Writes bytes as units, `replacement` for those in `replaced`.
///
/// # Safety
/// `from..from + 64` can be read and 64 units written.
#[inline(always)]
pub(super) unsafe fn widen<U: Copy + Default + From<u8>>(
    from: *const u8,
    mut replaced: u64,
    replacement: U,
    to: *mut U,
) {
    // SAFETY: 64 bytes are read and then 64 units written, none aligned. Bits of `replaced` are below 64.
    unsafe {
        let bytes = from.cast::<[u8; 64]>().read_unaligned();
        let mut units = [U::default(); 64];
        for at in 0..units.len() {
            units[at] = U::from(bytes[at]);
        }
        to.cast::<[U; 64]>().write_unaligned(units);
        while replaced != 0 {
            to.add(replaced.trailing_zeros() as usize).write(replacement);
            replaced &= replaced - 1;
        }
    }
}

/// The most bytes that are validated and then copied: they are still in the nearest cache.
const STRETCH: usize = 0x4000;

/// The most bytes that are decoded as windows or ASCII before validation is tried again.
const LIMIT: usize = 0x1_0000;

/// The fewest and the most windows in a row without an error after which a loop over windows ends.
const PATIENCE: [usize; 2] = [2, 256];

/// If validation finds fewer good bytes than this before an error, errors are close to each other.
pub(super) const CLOSE: usize = 512;

/// The same for decoding to UTF-8 with registers of more than 16 bytes, for which decoding in windows takes little more time than
/// validation and a copy.
const CLOSE_IF_WIDE: usize = 2048;

/// How many windows in a row must have no error before validation, which has just stopped after `good` bytes, is tried again:
/// the fewest, or twice as many as `before` if `good` is less than `close`, so that text with many errors is not validated in vain.
#[inline(always)]
pub(super) fn patience(before: usize, good: usize, close: usize) -> usize {
    if good < close { (2 * before).clamp(PATIENCE[0], PATIENCE[1]) } else { PATIENCE[0] }
}

/// Bytes of ASCII that are copied at once: four windows.
const ASCII: usize = 256;

/// Appends `bytes` with U+FFFD for every maximal subpart.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn lossy_into<V: Partial + WindowWriter>(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len() + 2 * WRITTEN);
    let mut at = 0;
    let mut patience = 0;
    // At least `READ` bytes follow every window that is read here.
    while bytes.len() - at > 2 * READ {
        // ASCII is copied as it is checked.
        let rest = &bytes[at..];
        // SAFETY: `rest` has more bytes than [`ASCII`], and as many are reserved.
        unsafe {
            if is_stretch_ascii::<V>(rest.as_ptr()) {
                out.reserve(rest.len());
                let copied = ascii_run::<V>(rest.as_ptr(), rest.len(), out.as_mut_ptr().add(out.len()));
                out.set_len(out.len() + copied);
                at += copied;
                continue;
            }
        }
        let stretch = &rest[..rest.len().min(STRETCH)];
        // SAFETY: the instructions are all it requires, here and below.
        let good = unsafe { well_formed_prefix::<V, true>(stretch) };
        out.extend_from_slice(&stretch[..good]);
        at += good;
        patience = self::patience(patience, good, if V::LEN > 16 { CLOSE_IF_WIDE } else { CLOSE });
        // At most three bytes are left of a sequence that ends after the stretch.
        if good > 0 && stretch.len() - good <= 3 {
            continue;
        }
        // SAFETY: as above.
        at += unsafe { windows::<V>(&bytes[at..], patience, out) };
    }
    // SAFETY: as above.
    let good = unsafe { well_formed_prefix::<V, true>(&bytes[at..]) };
    out.extend_from_slice(&bytes[at..at + good]);
    let rest = &bytes[at + good..];
    if rest.is_empty() {
        return;
    }
    let mut rest = Padded::new(rest);
    // SAFETY: the instructions are all that `next` requires. It returns where `READ` bytes can be read; `WRITTEN` bytes are
    // reserved.
    unsafe {
        while let Some((from, _, window)) = rest.next::<V>() {
            out.reserve(WRITTEN);
            let to = V::replace(from, window, out.as_mut_ptr().add(out.len()));
            out.set_len(to.offset_from_unsigned(out.as_ptr()));
        }
    }
}

/// Decodes windows, until `patience` of them in a row have no error, or the input or [`LIMIT`] ends. Returns how many bytes
/// are decoded; they end between two segments.
///
/// # Safety
/// As of [`lossy_into`].
#[inline(always)]
unsafe fn windows<V: Apart + WindowWriter>(bytes: &[u8], patience: usize, out: &mut Vec<u8>) -> usize {
    let end = bytes.len().saturating_sub(READ).min(LIMIT) / WINDOW * WINDOW;
    if end == 0 {
        return 0;
    }
    out.reserve(3 * end + WRITTEN);
    let (mut at, mut quiet, mut sparse_from) = (0, 0, 0);
    let mut carry = Carry::default();
    // SAFETY: `end + READ <= bytes.len()`, and `at < end` at each window. `masks` reads 65 bytes, at `at + WINDOW` at most: all
    // reads are below `end + READ`. Output: before a window at most `3 * at` bytes are written, and it writes at
    // most `WRITTEN` from there on; `3 * end + WRITTEN` are reserved. `sparse_run` ends at `end` at most, and keeps at most three
    // bytes for each that it reads.
    // `written - begun` cannot be negative: the pending bytes were written by the last window.
    unsafe {
        let from = bytes.as_ptr();
        let mut to = out.as_mut_ptr().add(out.len());
        let mut here = masks::<V>(from);
        // `loop` would do, as the conditions are checked again below, but makes AVX-512 up to a tenth slower with 1 % errors.
        while at < end && quiet < patience {
            // A loop of its own, without a call, keeps constants in registers.
            while at < end && quiet < patience && here.non_ascii | carry.others != 0 {
                let next = masks::<V>(from.add(at + WINDOW));
                let window = here.decide(next, &mut carry);
                to = V::replace(from.add(at), window, to);
                quiet = if window.good == !0 { quiet + 1 } else { 0 };
                here = next;
                at += WINDOW;
            }
            if at >= end || quiet >= patience {
                break;
            }
            let begun = at;
            if at >= sparse_from {
                (at, to) = V::sparse_run(from, at, end, to);
                sparse_from = if at - begun < WORTHWHILE { at + PAUSE } else { at };
            } else {
                copy::<V>(from.add(at), to);
                (at, to, quiet) = (at + WINDOW, to.add(WINDOW), quiet + 1);
            }
            here = masks::<V>(from.add(at));
        }
        let written = to.offset_from_unsigned(out.as_ptr());
        // The last window may end inside a segment. A sequence is taken back, to be decoded with the rest of it; of a maximal
        // subpart, which is replaced already, the rest is skipped.
        if carry.good == 0 {
            out.set_len(written);
            return at + carry.others.count_ones() as usize;
        }
        let begun = pending(bytes, at);
        out.set_len(written - begun);
        at - begun
    }
}

/// After a window of ASCII, segments are decoded one after the other as long as a window has at most this many bytes that are not
/// ASCII.
const SPARSE: u32 = 2;

/// Bytes that [`sparse_run`] reads at once: two windows.
const RUN: usize = 2 * WINDOW;

/// If a run of such windows has fewer bytes than this, it cost more than it saved, and none is looked for in the next [`PAUSE`]
/// bytes.
const WORTHWHILE: usize = 512;
const PAUSE: usize = 4096;

/// Decodes ASCII and the segments between it one after the other, from between two segments on, up to a byte from which on one
/// window has more than [`SPARSE`] bytes that are not ASCII, or near `end`. Returns where it ends, between two segments, and the
/// end of what is written.
///
/// # Safety
/// `at <= end`; `from..from + end` can be read; `3 * (end - at)` bytes can be written at `to`; the processor has the instructions
/// of `V`.
#[inline(always)]
pub(super) unsafe fn sparse_run<V: WindowWriter>(
    from: *const u8,
    mut at: usize,
    end: usize,
    mut to: *mut u8,
) -> (usize, *mut u8) {
    // SAFETY: at each step `at + RUN + 2 * WINDOW <= end`, and at most three bytes are kept for each that was read, so that three
    // times as many as precede `end` can be written. A step reads and writes `RUN` bytes, and four bytes that begin among them.
    unsafe {
        while at + RUN + 2 * WINDOW <= end {
            let here = from.add(at);
            // All registers are read before any is written, after which the compiler would read them again.
            let mut registers = [V::zero(); RUN / 16];
            for (part, register) in registers.iter_mut().take(RUN / V::LEN).enumerate() {
                *register = V::load(here.add(part * V::LEN));
            }
            for (part, register) in registers.iter().take(RUN / V::LEN).enumerate() {
                register.store(to.add(part * V::LEN));
            }
            if registers.iter().fold(V::zero(), |all, &register| all.or(register)).is_ascii() {
                (at, to) = (at + RUN, to.add(RUN));
                continue;
            }
            let [first, second] = [0, 1].map(|window| {
                let parts = registers.iter().skip(window * WINDOW / V::LEN).take(WINDOW / V::LEN).enumerate();
                parts.fold(0, |all, (part, register)| all | register.movemask() << (part * V::LEN))
            });
            // In which of them the first error is cannot be predicted, so that no branch depends on it.
            let others = select_unpredictable(first == 0, second, first);
            let ascii = select_unpredictable(first == 0, WINDOW, 0) + others.trailing_zeros() as usize;
            (at, to) = (at + ascii, to.add(ascii));
            if (0..SPARSE).fold(others, |others, _| others & others.wrapping_sub(1)) != 0 {
                break;
            }
            let four = from.add(at).cast::<[u8; 4]>().read();
            // A byte that is not ASCII and that no continuation byte follows is a maximal subpart.
            let ill_formed = if !is_continuation(four[1]) {
                1
            } else {
                match Sequence::read(&four) {
                    Some(Sequence::IllFormed { len, .. }) => len,
                    Some(Sequence::WellFormed { len, .. }) => {
                        to.cast::<[u8; 4]>().write(four);
                        (at, to) = (at + len, to.add(len));
                        continue;
                    }
                    None => break,
                }
            };
            to.cast::<[u8; 4]>().write(REPLACEMENT_AND_MORE);
            (at, to) = (at + ill_formed, to.add(REPLACEMENT.len()));
        }
        (at, to)
    }
}

/// Copies ASCII from the start of `len` bytes; the first block of [`ASCII`] is known to be ASCII. Returns how many bytes are
/// copied; the run may be a little longer.
///
/// # Safety
/// `len >= ASCII`; `from..from + len` can be read and `to..to + len` written; the processor has the instructions of `V`.
#[inline(always)]
unsafe fn ascii_run<V: Vector>(from: *const u8, len: usize, to: *mut u8) -> usize {
    // SAFETY: the first copy ends at `ASCII <= len`. `at` is then at most `ASCII`, and each further copy ends at
    // `at + ASCII <= len`.
    unsafe {
        copy_ascii::<V>(from, to);
        // From here on no register is written across two cache lines.
        let mut at = ASCII - LINE + to.align_offset(LINE) % LINE;
        while at + ASCII <= len && is_stretch_ascii::<V>(from.add(at)) {
            copy_ascii::<V>(from.add(at), to.add(at));
            at += ASCII;
        }
        at
    }
}

/// Copies a block of [`ASCII`] bytes.
///
/// # Safety
/// They can be read at `from` and written at `to`; the processor has the instructions of `V`.
#[inline(always)]
unsafe fn copy_ascii<V: Vector>(from: *const u8, to: *mut u8) {
    for at in (0..ASCII).step_by(WINDOW) {
        // SAFETY: windows at multiples of 64 below `ASCII`, a multiple of 64.
        unsafe { copy::<V>(from.add(at), to.add(at)) };
    }
}

/// Whether a block of [`ASCII`] bytes is ASCII.
///
/// # Safety
/// They can be read at `from`; the processor has the instructions of `V`.
#[inline(always)]
unsafe fn is_stretch_ascii<V: Vector>(from: *const u8) -> bool {
    // SAFETY: part `p` reads `p * LEN..(p + 1) * LEN`, and the last ends at `ASCII`.
    unsafe {
        let mut all = V::load(from);
        for part in 1..ASCII / V::LEN {
            all = all.or(V::load(from.add(part * V::LEN)));
        }
        all.is_ascii()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zero_byte_is_found_at_each_place_beside_any_other_byte() {
        for other in 1..=255 {
            assert!(!has_zero_byte(u64::from_ne_bytes([other; 8])), "{other:02X}");
            for place in 0..8 {
                let mut bytes = [other; 8];
                bytes[place] = 0;
                assert!(has_zero_byte(u64::from_ne_bytes(bytes)), "{bytes:02X?}");
            }
        }
    }
}
