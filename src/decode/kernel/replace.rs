//! Decoding with replacement, window by window; where there are no errors for long, by validating and copying.

use super::prefix::well_formed_prefix;
use super::vector::Vector;
use super::window::{Masks, Window};
use crate::utf8::REPLACEMENT;

/// Bytes in a window, the undecided ones included.
pub(super) const WINDOW: usize = 64;

/// Bytes that are validated and then copied, while they are near.
const STRETCH: usize = 16 << 10;

/// So many windows without error in a row, and the next bytes are taken for a stretch.
const QUIET: u32 = 8;

/// Bytes a window may read behind its first: its own, and as many from any of them on.
const READ: usize = 2 * WINDOW;

/// Bytes a window may write: three for each of its own, and a window too many.
const WRITTEN: usize = 4 * WINDOW;

/// Appends `bytes` with U+FFFD for every maximal subpart.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn lossy_into<V: Vector>(bytes: &[u8], out: &mut Vec<u8>) {
    out.reserve(bytes.len() + WRITTEN);
    let mut at = 0;
    while bytes.len() - at >= READ {
        let stretch = &bytes[at..bytes.len().min(at + STRETCH)];
        // SAFETY: as the caller says.
        let good = unsafe { well_formed_prefix::<V>(stretch) };
        out.extend_from_slice(&stretch[..good]);
        at += good;
        let mut quiet = 0;
        while quiet < QUIET && bytes.len() - at >= READ {
            out.reserve(WRITTEN);
            // SAFETY: so many bytes can be read and written.
            let window = unsafe {
                let from = bytes.as_ptr().add(at);
                let window = masks::<V>(from).decide();
                let written = V::replace(from, window, out.as_mut_ptr().add(out.len()));
                out.set_len(out.len() + written);
                window
            };
            at += window.len;
            quiet = if window.is_good() { quiet + 1 } else { 0 };
        }
    }
    // The rest where more than it can be read.
    let mut rest = [0; 2 * READ];
    let end = bytes.len() - at;
    rest[..end].copy_from_slice(&bytes[at..]);
    let mut at = 0;
    while at < end {
        out.reserve(WRITTEN);
        // SAFETY: so many bytes can be read and written.
        unsafe {
            let from = rest.as_ptr().add(at);
            let masks = masks::<V>(from);
            let window = if end - at >= WINDOW { masks.decide() } else { masks.decide_last(end - at) };
            let written = V::replace(from, window, out.as_mut_ptr().add(out.len()));
            out.set_len(out.len() + written);
            at += window.len;
        }
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
            let from = from.add(part * V::LEN);
            let bytes = V::load(from);
            let place = part * V::LEN;
            let (bit_6, bit_5, bit_4) = {
                let once = bytes.doubled();
                let twice = once.doubled();
                (once.signs(), twice.signs(), twice.doubled().signs())
            };
            let non_ascii = bytes.signs();
            let lead = non_ascii & bit_6;
            let lead_of_3 = lead & bit_5;
            all.non_ascii |= non_ascii << place;
            all.lead |= lead << place;
            all.lead_of_3 |= lead_of_3 << place;
            all.lead_of_4 |= (lead_of_3 & bit_4) << place;
            all.refused |= bytes.refused(V::load(from.add(1))) << place;
        }
    }
    all
}

/// Writes what a window decodes to, run by run of good bytes; returns how many bytes that are.
///
/// # Safety
/// [`READ`] bytes can be read and [`WRITTEN`] written; the processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn replace_by_runs<V: Vector>(from: *const u8, window: Window, to: *mut u8) -> usize {
    let mut bad = window.bad();
    let (mut done, mut written) = (0, 0);
    // SAFETY: `done` is at most 64, and `written` at most three times that.
    unsafe {
        while bad != 0 {
            let at = bad.trailing_zeros() as usize;
            copy::<V>(from.add(done), to.add(written));
            written += at - done;
            to.add(written).copy_from_nonoverlapping(REPLACEMENT.as_ptr(), REPLACEMENT.len());
            written += REPLACEMENT.len() * (window.replaced >> at & 1) as usize;
            done = at + 1;
            bad &= bad - 1;
        }
        copy::<V>(from.add(done), to.add(written));
    }
    written + window.len - done
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
