//! Decoding with replacement: U+FFFD for every maximal subpart.
//!
//! # Idea
//!
//! Text without errors is validated and copied, which is faster than anything that looks for errors while it copies. At
//! an error the loop changes to windows (`window.rs`), which cost the same however many errors follow, and changes back
//! after some windows without any. Their number grows if validation then fails at once, so that text with an error now
//! and then is not validated in vain over and over.
//!
//! ```text
//! while more than two windows are left:
//!     good = the well-formed prefix of the next 16 KiB; copy it
//!     patience = 8 if good > 0, else twice as before, at most 256
//!     if there is an error: decode windows until `patience` of them in a row have no error, or 16 KiB are done
//! the same for the rest, in a copy with zeros after it
//! ```
//!
//! # Example
//!
//! 8000 times `61`, then `FF`, then 8000 times `C3 A9`:
//!
//! ```text
//! validate    61 61 61 …                 stops at most eight registers before FF; copied
//! window 1    … 61 61 FF C3 A9 C3 …      writes … 61 61 EF BF BD C3 A9 C3 …
//! window 2…9  A9 C3 A9 … C3              good, eight in a row; the last byte begins a sequence that the next would end
//! take back   C3                         one byte is pending, so output and input go back by one
//! validate    C3 A9 C3 A9 …              to the end of the stretch
//! ```
//!
//! # Cost
//!
//! Without errors: validation and a copy, in turns every 16 KiB. With errors everywhere: the windows.
//! It loses where a short burst of errors follows each few KiB of good text: each burst costs at least eight windows
//! that plain copying would have done faster. Inputs below 32 bytes never get here
//! ([`Kernel::lossy_into`](crate::codec::Kernel::lossy_into)).

use crate::codec::kernel::validate::{Partial, well_formed_prefix};
use crate::codec::kernel::vector::Vector;
use crate::codec::kernel::window::{Carry, LINE, Padded, READ, WINDOW, WRITTEN, WindowWriter, copy, masks};
use crate::codec::scalar::{Sequence, pending};
use crate::utf8::REPLACEMENT;

/// Bytes for which room is made at a time.
const STRETCH: usize = 256 * WINDOW;

/// After this many windows in a row without an error the loop validates again. The first number is where it begins; it is
/// doubled, up to the second, each time validation finds an error at once.
const PATIENCE: [u32; 2] = [8, 256];

/// Bytes of ASCII that are copied at once.
const ASCII: usize = 4 * WINDOW;

/// Appends `bytes` with U+FFFD for every maximal subpart.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn lossy_into<V: Partial + WindowWriter>(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len() + 2 * WRITTEN);
    let mut at = 0;
    let mut patience = PATIENCE[0];
    // At least `READ` bytes follow every window that is read here.
    while bytes.len() - at > 2 * READ {
        let stretch = &bytes[at..bytes.len().min(at + STRETCH)];
        // SAFETY: the instructions are all it requires, here and below.
        let good = unsafe { well_formed_prefix::<V>(stretch) };
        out.extend_from_slice(&stretch[..good]);
        at += good;
        patience = if good == 0 { (2 * patience).min(PATIENCE[1]) } else { PATIENCE[0] };
        // At most three bytes are left of a sequence that ends after the stretch.
        if good > 0 && stretch.len() - good <= 3 {
            continue;
        }
        // SAFETY: as above.
        at += unsafe { windows::<V>(&bytes[at..], patience, out) };
    }
    // SAFETY: as above.
    let good = unsafe { well_formed_prefix::<V>(&bytes[at..]) };
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

/// Decodes windows: for a stretch, or until `patience` of them in a row have no error, or the rest is short. Returns how many
/// bytes are decoded; they end between two segments.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn windows<V: WindowWriter>(bytes: &[u8], patience: u32, out: &mut Vec<u8>) -> usize {
    // Decode as many windows as fit in the spare capacity, but at least one.
    let room = ((out.capacity() - out.len()).saturating_sub(WRITTEN) / 3).max(WINDOW);
    let end = bytes.len().saturating_sub(READ).min(STRETCH).min(room) / WINDOW * WINDOW;
    if end == 0 {
        return 0;
    }
    out.reserve(3 * end + WRITTEN);
    let (mut at, mut quiet) = (0, 0);
    let mut carry = Carry::default();
    // SAFETY: `end + READ <= bytes.len()`, and `at < end` at each window, `at <= end` at each call of `masks`, which reads 65
    // bytes: all reads are below `end + READ`. Output: before a window at most `3 * at` bytes are written, and it writes at
    // most `WRITTEN` from there on; `3 * end + WRITTEN` are reserved. `ascii_run` writes as many bytes as it reads;
    // `sparse_run` ends at `end` at most, and keeps at most three bytes for each that it reads.
    // `written - begun` cannot be negative: the pending bytes were written by the last window.
    unsafe {
        let from = bytes.as_ptr();
        let mut to = out.as_mut_ptr().add(out.len());
        let mut here = masks::<V>(from);
        while at < end && quiet < patience {
            if here.non_ascii | carry.others == 0 && at + ASCII <= end && is_ascii::<V>(from.add(at)) {
                let passed = ascii_run::<V>(from.add(at), end - at, to);
                at += passed;
                to = to.add(passed);
                here = masks::<V>(from.add(at));
                continue;
            }
            if carry.others == 0 && here.non_ascii.count_ones() <= SPARSE && at + 2 * WINDOW <= end {
                (at, to) = sparse_run::<V>(from, at, end, to);
                quiet = 0;
                here = masks::<V>(from.add(at));
                continue;
            }
            let next = masks::<V>(from.add(at + WINDOW));
            let window = here.decide(next, &mut carry);
            to = V::replace(from.add(at), window, to);
            quiet = if window.good == !0 { quiet + 1 } else { 0 };
            here = next;
            at += WINDOW;
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

/// Windows with at most this many bytes that are not ASCII are decoded one such byte after the other.
const SPARSE: u32 = 2;

/// After this many windows of ASCII, more is likely.
const LONG: usize = 4;

/// Decodes the first window, which begins between two segments and has at most [`SPARSE`] bytes that are not ASCII, and those
/// after it until one has more. Returns where it ends, between two segments, and the end of what is written.
///
/// # Safety
/// `at + 2 * WINDOW <= end`; `from..from + end` can be read; `3 * (end - at)` bytes can be written at `to`; the processor has the
/// instructions of `V`.
#[inline(always)]
unsafe fn sparse_run<V: WindowWriter>(from: *const u8, mut at: usize, end: usize, mut to: *mut u8) -> (usize, *mut u8) {
    // SAFETY: a window and the sequence after it end at `end` at most. A window is written, of which one byte for each is kept, and
    // for a segment, four bytes, of which at most three are kept for each of its bytes.
    unsafe {
        // Windows of ASCII in a row.
        let mut clean = 0;
        while at + 2 * WINDOW <= end {
            let here = from.add(at);
            let (mut registers, mut all) = ([V::zero(); WINDOW / 16], V::zero());
            for (part, register) in registers.iter_mut().take(WINDOW / V::LEN).enumerate() {
                *register = V::load(here.add(part * V::LEN));
                register.store(to.add(part * V::LEN));
                all = all.or(*register);
            }
            if all.is_ascii() {
                (at, to, clean) = (at + WINDOW, to.add(WINDOW), clean + 1);
                while clean >= LONG && at + ASCII + 2 * WINDOW <= end && is_ascii::<V>(from.add(at)) {
                    copy_ascii::<V>(from.add(at), to);
                    (at, to) = (at + ASCII, to.add(ASCII));
                }
                continue;
            }
            let mut others = 0;
            for (part, register) in registers.iter().take(WINDOW / V::LEN).enumerate() {
                others |= register.movemask() << (part * V::LEN);
            }
            if others.count_ones() > SPARSE {
                break;
            }
            clean = 0;
            let ascii = others.trailing_zeros() as usize;
            (at, to) = (at + ascii, to.add(ascii));
            let four = from.add(at).cast::<[u8; 4]>().read();
            match Sequence::read(&four) {
                Some(Sequence::IllFormed { len, .. }) => {
                    to.copy_from_nonoverlapping(REPLACEMENT.as_ptr(), REPLACEMENT.len());
                    (at, to) = (at + len, to.add(REPLACEMENT.len()));
                }
                Some(Sequence::WellFormed { len, .. }) => {
                    to.cast::<[u8; 4]>().write(four);
                    (at, to) = (at + len, to.add(len));
                }
                None => break,
            }
        }
        (at, to)
    }
}

/// Copies ASCII from the start of `len` bytes, of which the first [`ASCII`] are ASCII. Returns how many bytes are
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
        while at + ASCII <= len && is_ascii::<V>(from.add(at)) {
            copy_ascii::<V>(from.add(at), to.add(at));
            at += ASCII;
        }
        at
    }
}

/// Copies [`ASCII`] bytes.
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

/// Whether [`ASCII`] bytes are ASCII.
///
/// # Safety
/// They can be read at `from`; the processor has the instructions of `V`.
#[inline(always)]
unsafe fn is_ascii<V: Vector>(from: *const u8) -> bool {
    // SAFETY: part `p` reads `p * LEN..(p + 1) * LEN`, and the last ends at `ASCII`.
    unsafe {
        let mut all = V::load(from);
        for part in 1..ASCII / V::LEN {
            all = all.or(V::load(from.add(part * V::LEN)));
        }
        all.is_ascii()
    }
}
