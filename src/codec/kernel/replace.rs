//! Decoding with replacement, window by window, without starting anew at an error.

use crate::codec::automaton::pending;
use crate::codec::kernel::prefix::well_formed_prefix;
use crate::codec::kernel::vector::Vector;
use crate::codec::kernel::window::{Carry, Masks, Window, opaque};
use crate::utf8::REPLACEMENT;

/// Bytes in a window.
pub(super) const WINDOW: usize = 64;

/// Bytes that may be read from the first of a window on: as many as it has from any of them.
pub(super) const READ: usize = 2 * WINDOW;

/// Bytes a window may write: three for each of its own, and a window too many.
const WRITTEN: usize = 4 * WINDOW;

/// Bytes for which room is made at a time.
const STRETCH: usize = 256 * WINDOW;

/// Windows without error in a row after which the bytes behind are taken to be without for a stretch; so many to begin
/// with, twice as many where that was wrong.
const QUIET: [u32; 2] = [8, 256];

/// Bytes of ASCII that are passed at once.
const ASCII: usize = 4 * WINDOW;

/// Bytes in a line of the cache. To write a register across two takes longer.
pub(super) const LINE: usize = 64;

/// Appends `bytes` with U+FFFD for every maximal subpart.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn lossy_into<V: Vector>(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len() + 2 * WRITTEN);
    let mut at = 0;
    let mut patience = QUIET[0];
    // Where a window stands, as many bytes as may be read stand behind it.
    while bytes.len() - at > 2 * READ {
        let stretch = &bytes[at..bytes.len().min(at + STRETCH)];
        // SAFETY: the caller has the instructions.
        let good = unsafe { well_formed_prefix::<V>(stretch) };
        out.extend_from_slice(&stretch[..good]);
        at += good;
        patience = if good == 0 { (2 * patience).min(QUIET[1]) } else { QUIET[0] };
        // SAFETY: the caller has the instructions.
        at += unsafe { windows::<V>(&bytes[at..], patience, out) };
    }
    // SAFETY: the caller has the instructions.
    let good = unsafe { well_formed_prefix::<V>(&bytes[at..]) };
    out.extend_from_slice(&bytes[at..at + good]);
    let rest = &bytes[at + good..];
    let mut carry = Carry::default();
    let mut padded = [0; 4 * READ];
    padded[..rest.len()].copy_from_slice(rest);
    for at in (0..rest.len()).step_by(WINDOW) {
        out.reserve(WRITTEN);
        let there = rest.len() - at;
        // SAFETY: the caller has the instructions; `padded` is longer than `rest` by as much as may be read.
        unsafe {
            let from = padded.as_ptr().add(at);
            let mut window = masks::<V>(from).decide(masks::<V>(from.add(WINDOW)), &mut carry);
            if there < WINDOW {
                window.good &= (1 << there) - 1;
                window.replaced &= (1 << there) - 1;
            }
            let to = V::replace(from, window, out.as_mut_ptr().add(out.len()));
            out.set_len(to.offset_from_unsigned(out.as_ptr()));
        }
    }
}

/// Decodes windows, for a stretch, or until so many in a row have no error, or the rest is short. Returns how many bytes
/// are decoded; they end between two units.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn windows<V: Vector>(bytes: &[u8], patience: u32, out: &mut Vec<u8>) -> usize {
    // As far as there is room already, and a window at least.
    let room = ((out.capacity() - out.len()).saturating_sub(WRITTEN) / 3).max(WINDOW);
    let end = bytes.len().saturating_sub(READ).min(STRETCH).min(room) / WINDOW * WINDOW;
    if end == 0 {
        return 0;
    }
    out.reserve(3 * end + WRITTEN);
    let (mut at, mut quiet) = (0, 0);
    let mut carry = Carry::default();
    // SAFETY: the caller has the instructions. A window begins before `end`, behind which stand `READ` bytes, so that they
    // stand behind the last byte before it, too. There is room for three bytes for each that is read, and for as many as
    // are written too many.
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
            let next = masks::<V>(from.add(at + WINDOW));
            let window = here.decide(next, &mut carry);
            to = V::replace(from.add(at), window, to);
            quiet = if window.good == !0 { quiet + 1 } else { 0 };
            here = next;
            at += WINDOW;
        }
        let written = to.offset_from_unsigned(out.as_ptr());
        // What the last window began: a sequence is decoded anew with the rest of it; of an error the rest is passed over.
        if carry.good == 0 {
            out.set_len(written);
            return at + carry.others.count_ones() as usize;
        }
        let begun = pending(bytes, at);
        out.set_len(written - begun);
        at - begun
    }
}

/// What the 64 bytes at `from` are; the 65th is read too.
///
/// # Safety
/// They can be read, and the processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn masks<V: Vector>(from: *const u8) -> Masks {
    let mut all = Masks::default();
    for part in 0..WINDOW / V::LEN {
        // SAFETY: as the caller says.
        unsafe {
            let place = part * V::LEN;
            let bytes = V::load(from.add(place));
            let (doubled, next) = (bytes.doubled(), V::load(from.add(place + 1)));
            let non_ascii = opaque(bytes.signs());
            let lead = non_ascii & opaque(doubled.signs());
            let lead_of_3 = lead & opaque(doubled.doubled().signs());
            let lead_of_4 = lead_of_3 & opaque(doubled.doubled().doubled().signs());
            all.non_ascii |= non_ascii << place;
            all.lead |= lead << place;
            all.lead_of_3 |= lead_of_3 << place;
            all.lead_of_4 |= lead_of_4 << place;
            all.refused |= opaque(bytes.refused(next)) << place;
        }
    }
    all
}

/// Which of the 64 bytes at `from` are 80 and above, and which C0 and above.
///
/// # Safety
/// They can be read, and the processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn non_ascii_and_leads<V: Vector>(from: *const u8) -> [u64; 2] {
    let mut all = [0; 2];
    for place in (0..WINDOW).step_by(V::LEN) {
        // SAFETY: as the caller says.
        unsafe {
            let bytes = V::load(from.add(place));
            let non_ascii = opaque(bytes.signs());
            all[0] |= non_ascii << place;
            all[1] |= (non_ascii & opaque(bytes.doubled().signs())) << place;
        }
    }
    all
}

/// Writes what a window decodes to, run by run of good bytes; returns the place behind it.
///
/// # Safety
/// [`READ`] bytes can be read and [`WRITTEN`] written; the processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn replace_by_runs<V: Vector>(from: *const u8, window: Window, mut to: *mut u8) -> *mut u8 {
    let mut bad = !window.good;
    let mut done = 0;
    // SAFETY: at most three bytes are written for each of the window, and a window too many.
    unsafe {
        copy::<V>(from, to);
        while bad != 0 {
            let at = bad.trailing_zeros() as usize;
            to = to.add(at - done);
            to.copy_from_nonoverlapping(REPLACEMENT.as_ptr(), REPLACEMENT.len());
            to = to.add(REPLACEMENT.len() * (window.replaced >> at & 1) as usize);
            done = at + 1;
            copy::<V>(from.add(done), to);
            bad &= bad - 1;
        }
        to.add(WINDOW - done)
    }
}

/// Copies ASCII from `from` on, of which there are [`ASCII`] bytes at least, as far as it goes, but for some bytes; there are
/// `len` bytes. Returns how many are copied.
///
/// # Safety
/// They can be read and written; the processor has the instructions of `V`.
#[inline(always)]
unsafe fn ascii_run<V: Vector>(from: *const u8, len: usize, to: *mut u8) -> usize {
    // SAFETY: as the caller says.
    unsafe {
        copy_ascii::<V>(from, to);
        // Then from a place where no register is written across two lines of the cache.
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
/// They can be read and written; the processor has the instructions of `V`.
#[inline(always)]
unsafe fn copy_ascii<V: Vector>(from: *const u8, to: *mut u8) {
    for at in (0..ASCII).step_by(WINDOW) {
        // SAFETY: as the caller says.
        unsafe { copy::<V>(from.add(at), to.add(at)) };
    }
}

/// Whether so many bytes, [`ASCII`], are that.
///
/// # Safety
/// They can be read; the processor has the instructions of `V`.
#[inline(always)]
unsafe fn is_ascii<V: Vector>(from: *const u8) -> bool {
    // SAFETY: as the caller says.
    unsafe {
        let mut all = V::load(from);
        for part in 1..ASCII / V::LEN {
            all = all.or(V::load(from.add(part * V::LEN)));
        }
        all.is_ascii()
    }
}

/// Copies 64 bytes.
///
/// # Safety
/// They can be read and written; the processor has the instructions of `V`.
#[inline(always)]
unsafe fn copy<V: Vector>(from: *const u8, to: *mut u8) {
    for part in 0..WINDOW / V::LEN {
        // SAFETY: as the caller says.
        unsafe { V::load(from.add(part * V::LEN)).store(to.add(part * V::LEN)) };
    }
}
