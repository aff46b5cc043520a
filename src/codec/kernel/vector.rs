//! What the algorithms need of an instruction set: a register of bytes, a handful of operations, no more.
//!
//! Every function is unsafe for one reason: the instructions exist only on processors that were asked. A [`crate::codec::kernel::Kernel`]
//! is made after asking, and is the one way in. All are inlined into functions compiled for the instruction set.

use crate::codec::kernel::replace::replace_by_runs;
use crate::codec::kernel::transcode::{Places, utf16_one_by_one, utf32_one_by_one};
use crate::codec::kernel::units;
use crate::codec::kernel::window::{Window, opaque};
use crate::codec::transcode::{from_latin_1_by_bytes, from_utf16_by_chars};

/// A register of [`Vector::LEN`] bytes.
///
/// # Safety
/// Each function may be called only where the processor has the instructions of the implementing file. `load` reads
/// `LEN` bytes at `from`, `store` writes as many at `to`; nothing else touches memory.
pub(super) trait Vector: Copy {
    /// Bytes in a register: 16, 32 or 64.
    const LEN: usize;

    /// What the checks of several registers have found, added up.
    type Found: Copy;

    /// Nothing found.
    unsafe fn nothing() -> Self::Found;

    /// Reads a register from anywhere.
    unsafe fn load(from: *const u8) -> Self;

    /// Writes a register to anywhere.
    unsafe fn store(self, to: *mut u8);

    /// Bitwise or.
    unsafe fn or(self, other: Self) -> Self;

    /// Zeros.
    unsafe fn zero() -> Self;

    /// The higher of each two bytes.
    unsafe fn max(self, other: Self) -> Self;

    /// Whether every byte is below the limit, which is not zero.
    unsafe fn is_below(self, limit: u8) -> bool;

    /// Whether every byte is below 80.
    unsafe fn is_ascii(self) -> bool;

    /// The register with its bytes one, two and three places later, zeros before them.
    unsafe fn later(self) -> [Self; 3];

    /// Checks every byte of `self`, of which `before` are the bytes one, two and three places earlier: a continuation byte
    /// stands there just where one of them asks for it, and it is none that the byte before refuses. Adds what is wrong to
    /// `found`.
    unsafe fn check(self, before: [Self; 3], found: Self::Found) -> Self::Found;

    /// Whether there is anything wrong.
    unsafe fn is_wrong(found: Self::Found) -> bool;

    /// Which bytes are wrong.
    unsafe fn wrong(found: Self::Found) -> u64;

    /// Whether there is nothing wrong, and no sequence goes on behind the register.
    unsafe fn is_complete(self, found: Self::Found) -> bool;

    /// Length of a prefix of fewer than `LEN` bytes that is well-formed and ends between two sequences.
    unsafe fn short_prefix(bytes: &[u8]) -> usize;

    /// Every byte times two; what does not fit is lost.
    unsafe fn doubled(self) -> Self;

    /// The highest bit of each byte: that of byte `i` is bit `i`.
    unsafe fn signs(self) -> u64;

    /// Which bytes are continuation bytes.
    #[inline(always)]
    unsafe fn continuations(self) -> u64 {
        // SAFETY: as the caller says.
        unsafe { opaque(self.signs()) & !opaque(self.doubled().signs()) }
    }

    /// Which bytes are F0 or above.
    #[inline(always)]
    unsafe fn leads_of_4(self) -> u64 {
        // SAFETY: as the caller says.
        unsafe {
            let (once, twice) = (self.doubled(), self.doubled().doubled());
            opaque(self.signs()) & opaque(once.signs()) & opaque(twice.signs()) & opaque(twice.doubled().signs())
        }
    }

    /// Of `self` and `next`, the bytes one place later, the leads that refuse the continuation byte behind them. Bits of
    /// other bytes mean nothing.
    unsafe fn refused(self, next: Self) -> u64;

    /// Writes what a window at `from` decodes to, and returns the place behind it; may read 128 bytes there, and write
    /// 256.
    #[inline(always)]
    unsafe fn replace(from: *const u8, window: Window, to: *mut u8) -> *mut u8 {
        // SAFETY: as the caller says.
        unsafe { replace_by_runs::<Self>(from, window, to) }
    }

    /// Writes the units of UTF-16 of a window at `from`, the `first` of a text or not, and returns the place behind them; may
    /// write 64 units and as many more.
    #[inline(always)]
    unsafe fn utf16(from: *const u8, first: bool, places: Places, to: *mut u16) -> *mut u16 {
        let _ = first;
        // SAFETY: as the caller says.
        unsafe { utf16_one_by_one(from, places, to) }
    }

    /// Writes the units of UTF-16 of a window at `from` if it is nothing but well-formed sequences of one and two bytes, and
    /// one that goes on behind it does so there. Returns the place behind them; writes what [`Vector::utf16`] may. `begun`:
    /// the last byte of the window before is a lead byte; then that of this one.
    #[inline(always)]
    unsafe fn utf16_of_twos(from: *const u8, begun: &mut u64, to: *mut u16) -> Option<*mut u16> {
        let _ = (from, begun, to);
        None
    }

    /// What [`Vector::utf16`] does in UTF-32.
    #[inline(always)]
    unsafe fn utf32(from: *const u8, first: bool, places: Places, to: *mut u32) -> *mut u32 {
        let _ = first;
        // SAFETY: as the caller says.
        unsafe { utf32_one_by_one(from, places, to) }
    }

    /// Writes 64 bytes as units of UTF-16, U+FFFD for those that are `replaced`; the others are ASCII.
    #[inline(always)]
    unsafe fn widen_to_16(from: *const u8, replaced: u64, to: *mut u16) {
        // SAFETY: as the caller says.
        unsafe { widen(from, replaced, 0xFFFD, to) }
    }

    /// The same as units of UTF-32.
    #[inline(always)]
    unsafe fn widen_to_32(from: *const u8, replaced: u64, to: *mut u32) {
        // SAFETY: as the caller says.
        unsafe { widen(from, replaced, 0xFFFD, to) }
    }

    /// Appends UTF-16 in UTF-8, with U+FFFD for every lone surrogate.
    #[inline(always)]
    unsafe fn from_utf16_lossy_into(units: &[u16], out: &mut Vec<u8>) {
        from_utf16_by_chars(units, out);
    }

    /// Appends UTF-32 in UTF-8, with U+FFFD for what is no scalar value.
    #[inline(always)]
    unsafe fn from_utf32_lossy_into(units: &[u32], out: &mut Vec<u8>) {
        units::from_utf32(units, out);
    }

    /// How many units at the start are UTF-16 without a lone surrogate.
    #[inline(always)]
    unsafe fn utf16_prefix(units: &[u16]) -> usize {
        units::utf16_prefix(units)
    }

    /// Appends UTF-16 in UTF-32, with U+FFFD for every lone surrogate.
    #[inline(always)]
    unsafe fn utf32_from_utf16(units: &[u16], out: &mut Vec<u32>) {
        units::utf32_from_utf16(units, out);
    }

    /// Appends single bytes in UTF-16, those of 80..9F by a table.
    #[inline(always)]
    unsafe fn utf16_from_bytes(bytes: &[u8], of_80: &[u16; 32], out: &mut Vec<u16>) {
        units::utf16_from_bytes(bytes, of_80, out);
    }

    /// Appends UTF-32 in UTF-16, with U+FFFD for what is no scalar value.
    #[inline(always)]
    unsafe fn utf16_from_utf32(units: &[u32], out: &mut Vec<u16>) {
        units::utf16_from_utf32(units, out);
    }

    /// Appends Latin-1 in UTF-8.
    #[inline(always)]
    unsafe fn from_latin_1_into(bytes: &[u8], out: &mut Vec<u8>) {
        from_latin_1_by_bytes(bytes, out);
    }
}

/// Writes 64 bytes as units, `replacement` for those that are `replaced`.
///
/// # Safety
/// They can be read, and 64 units written.
#[inline(always)]
unsafe fn widen<U: Copy + Default + From<u8>>(from: *const u8, mut replaced: u64, replacement: U, to: *mut U) {
    // SAFETY: as the caller says. Read whole and then written whole, for the places may not overlap.
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
