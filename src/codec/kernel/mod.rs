//! The kernels: one algorithm for each operation, generic over the instruction set, and one file for each of those.
//!
//! A [`Kernel`] exists only where the processor has its instructions. That is what makes the calls in this file sound,
//! and no other file makes such calls.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "x86_64")]
mod count;
#[cfg(target_arch = "x86_64")]
mod encode;
#[cfg(target_arch = "x86_64")]
mod forms;
#[cfg(target_arch = "x86_64")]
mod prefix;
#[cfg(target_arch = "x86_64")]
mod replace;
#[cfg(target_arch = "x86_64")]
mod sse41;
#[cfg(target_arch = "x86_64")]
mod tables;
#[cfg(target_arch = "x86_64")]
mod transcode;
mod units;
#[cfg(target_arch = "x86_64")]
mod vector;
#[cfg(target_arch = "x86_64")]
mod window;
#[cfg(target_arch = "x86_64")]
mod write_window;

use crate::codec::automaton;
use crate::codec::count::{chars_by_bytes, utf16_len_by_bytes};
use crate::codec::replace::lossy_by_errors;
use crate::codec::transcode::{from_latin_1_by_bytes, from_utf16_by_chars, utf16_by_chars, utf32_by_chars};
use crate::codec::validate::{Utf8Error, first_error};
use core::sync::atomic::{AtomicPtr, Ordering};
use core::{fmt, ptr};
use std::borrow::Cow;

/// A way to run our decoder on this processor.
#[derive(Clone, Copy)]
pub struct Kernel(&'static Operations);

/// What a kernel does. The operations are called only where the processor has the instructions.
struct Operations {
    /// `scalar`, or the name of the instruction set.
    name: &'static str,
    /// Whether this processor has the instructions.
    is_here: fn() -> bool,
    /// Length in bytes of a prefix that is well-formed and ends between two sequences. Where it is not all there is, an
    /// error follows soon, or little.
    well_formed_prefix: unsafe fn(&[u8]) -> usize,
    lossy_into: unsafe fn(&[u8], &mut Vec<u8>),
    utf16_lossy_into: unsafe fn(&[u8], &mut Vec<u16>),
    utf32_lossy_into: unsafe fn(&[u8], &mut Vec<u32>),
    from_utf16_lossy_into: unsafe fn(&[u16], &mut Vec<u8>),
    from_utf32_lossy_into: unsafe fn(&[u32], &mut Vec<u8>),
    from_latin_1_into: unsafe fn(&[u8], &mut Vec<u8>),
    utf16_prefix: unsafe fn(&[u16]) -> usize,
    utf32_prefix: unsafe fn(&[u32], u32) -> usize,
    utf32_from_utf16: unsafe fn(&[u16], &mut Vec<u32>),
    utf16_from_utf32: unsafe fn(&[u32], &mut Vec<u16>),
    utf16_from_bytes: unsafe fn(&[u8], &[u16; 32], &mut Vec<u16>),
    read_16: unsafe fn(&[u8], bool, &mut Vec<u16>),
    read_32: unsafe fn(&[u8], bool, &mut Vec<u32>),
    write_16: unsafe fn(&[u16], bool, &mut Vec<u8>),
    write_32: unsafe fn(&[u32], bool, &mut Vec<u8>),
    write_16_as_32: unsafe fn(&[u16], bool, &mut Vec<u8>),
    char_count: unsafe fn(&[u8]) -> usize,
    utf16_len: unsafe fn(&[u8]) -> usize,
}

static SCALAR: Operations = Operations {
    name: "scalar",
    is_here: || true,
    well_formed_prefix: automaton::well_formed_prefix,
    lossy_into: lossy_by_errors,
    utf16_lossy_into: utf16_by_chars,
    utf32_lossy_into: utf32_by_chars,
    from_utf16_lossy_into: from_utf16_by_chars,
    from_utf32_lossy_into: units::from_utf32,
    from_latin_1_into: from_latin_1_by_bytes,
    utf16_prefix: units::utf16_prefix,
    utf32_prefix: units::utf32_prefix,
    utf32_from_utf16: units::utf32_from_utf16,
    utf16_from_utf32: units::utf16_from_utf32,
    utf16_from_bytes: units::utf16_from_bytes,
    read_16: units::read_16,
    read_32: units::read_32,
    write_16: units::write_16,
    write_32: units::write_32,
    write_16_as_32: units::write_16_as_32,
    char_count: chars_by_bytes,
    utf16_len: utf16_len_by_bytes,
};

/// Every kernel, the plainest first.
static ALL: &[&Operations] = &[
    &SCALAR,
    #[cfg(target_arch = "x86_64")]
    &x86::SSE41,
    #[cfg(target_arch = "x86_64")]
    &x86::AVX2,
    #[cfg(target_arch = "x86_64")]
    &x86::AVX512,
];

/// The kernel to use; null where it was not looked for yet.
static BEST: AtomicPtr<Operations> = AtomicPtr::new(ptr::null_mut());

impl Kernel {
    /// The kernel every processor has: portable and without unsafe code.
    pub const SCALAR: Self = Self(&SCALAR);

    /// The kernels this processor can run, the plainest first.
    pub fn available() -> impl Iterator<Item = Self> {
        ALL.iter().filter(|operations| (operations.is_here)()).map(|&operations| Self(operations))
    }

    /// The kernel that is used where none is named: the last of those available, found once.
    #[inline]
    pub fn best() -> Self {
        // SAFETY: what is stored is null, or was a reference to a static.
        unsafe { BEST.load(Ordering::Relaxed).as_ref() }.map_or_else(Self::find_best, Self)
    }

    #[cold]
    fn find_best() -> Self {
        let best = Self::available().last().unwrap_or(Self::SCALAR);
        BEST.store(ptr::from_ref(best.0).cast_mut(), Ordering::Relaxed);
        best
    }

    /// The name: `scalar`, or that of the instruction set.
    pub fn name(self) -> &'static str {
        self.0.name
    }

    /// Checks that `bytes` are well-formed UTF-8.
    ///
    /// # Errors
    /// The first error: its offset, its length, its kind.
    #[inline]
    pub fn validate(self, bytes: &[u8]) -> Result<(), Utf8Error> {
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: a kernel exists where the processor has its instructions.
        let good = unsafe { (self.0.well_formed_prefix)(bytes) };
        if good == bytes.len() { Ok(()) } else { first_error(bytes, good) }
    }

    /// `bytes` as text.
    ///
    /// # Errors
    /// The first error: its offset, its length, its kind.
    #[inline]
    pub fn from_utf8(self, bytes: &[u8]) -> Result<&str, Utf8Error> {
        self.validate(bytes)?;
        // SAFETY: they are well-formed.
        Ok(unsafe { core::str::from_utf8_unchecked(bytes) })
    }

    /// `bytes` as text, with U+FFFD for every maximal subpart; borrowed where they are well-formed.
    pub fn from_utf8_lossy(self, bytes: &[u8]) -> Cow<'_, str> {
        let error = match self.from_utf8(bytes) {
            Ok(text) => return Cow::Borrowed(text),
            Err(error) => error,
        };
        let (good, rest) = bytes.split_at(error.valid_up_to());
        let mut out = good.to_vec();
        self.lossy_into(rest, &mut out);
        // SAFETY: what is replaced is well-formed.
        Cow::Owned(unsafe { String::from_utf8_unchecked(out) })
    }

    /// Appends `bytes` with U+FFFD for every maximal subpart. At most three bytes are written for each byte read.
    pub fn lossy_into(self, bytes: &[u8], out: &mut Vec<u8>) {
        /// Fewer bytes are not worth a window.
        const SHORT: usize = 32;
        if bytes.len() < SHORT {
            return lossy_by_errors(bytes, out);
        }
        // SAFETY: a kernel exists where the processor has its instructions.
        unsafe { (self.0.lossy_into)(bytes, out) }
    }

    /// Appends `bytes` in UTF-16, with U+FFFD for every maximal subpart. At most one code unit for each byte read.
    pub fn utf16_lossy_into(self, bytes: &[u8], out: &mut Vec<u16>) {
        // SAFETY: a kernel exists where the processor has its instructions.
        unsafe { (self.0.utf16_lossy_into)(bytes, out) }
    }

    /// Appends `bytes` in UTF-32, with U+FFFD for every maximal subpart. At most one code unit for each byte read.
    pub fn utf32_lossy_into(self, bytes: &[u8], out: &mut Vec<u32>) {
        // SAFETY: a kernel exists where the processor has its instructions.
        unsafe { (self.0.utf32_lossy_into)(bytes, out) }
    }

    /// Appends UTF-16 in UTF-8, with U+FFFD for every lone surrogate. At most three bytes for each code unit.
    pub fn from_utf16_lossy_into(self, units: &[u16], out: &mut Vec<u8>) {
        // SAFETY: a kernel exists where the processor has its instructions.
        unsafe { (self.0.from_utf16_lossy_into)(units, out) }
    }

    /// Appends UTF-32 in UTF-8, with U+FFFD for what is no scalar value. At most four bytes for each code unit.
    pub fn from_utf32_lossy_into(self, units: &[u32], out: &mut Vec<u8>) {
        // SAFETY: a kernel exists where the processor has its instructions.
        unsafe { (self.0.from_utf32_lossy_into)(units, out) }
    }

    /// How many code units at the start are UTF-16 without a lone surrogate.
    pub fn utf16_valid_up_to(self, units: &[u16]) -> usize {
        // SAFETY: a kernel exists where the processor has its instructions.
        unsafe { (self.0.utf16_prefix)(units) }
    }

    /// How many code units at the start are UTF-32: scalar values.
    pub fn utf32_valid_up_to(self, units: &[u32]) -> usize {
        self.ucs4_valid_up_to(units, char::MAX.into())
    }

    /// How many code units at the start are at most `last`, and no surrogates.
    pub fn ucs4_valid_up_to(self, units: &[u32], last: u32) -> usize {
        // SAFETY: a kernel exists where the processor has its instructions.
        unsafe { (self.0.utf32_prefix)(units, last) }
    }

    /// Appends UTF-16 in UTF-32, with U+FFFD for every lone surrogate. At most one code unit for each.
    pub fn utf32_from_utf16_lossy_into(self, units: &[u16], out: &mut Vec<u32>) {
        // SAFETY: a kernel exists where the processor has its instructions.
        unsafe { (self.0.utf32_from_utf16)(units, out) }
    }

    /// Appends UTF-32 in UTF-16, with U+FFFD for what is no scalar value. At most two code units for each.
    pub fn utf16_from_utf32_lossy_into(self, units: &[u32], out: &mut Vec<u16>) {
        // SAFETY: a kernel exists where the processor has its instructions.
        unsafe { (self.0.utf16_from_utf32)(units, out) }
    }

    /// Appends an encoding of single bytes in UTF-16: each byte is the code point of that number, but those of 80..9F are
    /// the 32 code points `of_80`.
    pub fn utf16_from_bytes_into(self, bytes: &[u8], of_80: &[u16; 32], out: &mut Vec<u16>) {
        // SAFETY: a kernel exists where the processor has its instructions.
        unsafe { (self.0.utf16_from_bytes)(bytes, of_80, out) }
    }

    /// Appends the code units of sixteen bits that `bytes` are, one for each two; a single byte at the end is left out.
    pub fn read_16_into(self, bytes: &[u8], big_endian: bool, out: &mut Vec<u16>) {
        // SAFETY: a kernel exists where the processor has its instructions.
        unsafe { (self.0.read_16)(bytes, big_endian, out) }
    }

    /// Appends the code units of 32 bits that `bytes` are, one for each four; up to three bytes at the end are left out.
    pub fn read_32_into(self, bytes: &[u8], big_endian: bool, out: &mut Vec<u32>) {
        // SAFETY: a kernel exists where the processor has its instructions.
        unsafe { (self.0.read_32)(bytes, big_endian, out) }
    }

    /// Appends the bytes of code units, two for each.
    pub fn write_16_into(self, units: &[u16], big_endian: bool, out: &mut Vec<u8>) {
        // SAFETY: a kernel exists where the processor has its instructions.
        unsafe { (self.0.write_16)(units, big_endian, out) }
    }

    /// Appends the bytes of code units, four for each.
    pub fn write_32_into(self, units: &[u32], big_endian: bool, out: &mut Vec<u8>) {
        // SAFETY: a kernel exists where the processor has its instructions.
        unsafe { (self.0.write_32)(units, big_endian, out) }
    }

    /// Appends code units of sixteen bits as bytes of such of 32 bits, four for each.
    pub fn write_16_as_32_into(self, units: &[u16], big_endian: bool, out: &mut Vec<u8>) {
        // SAFETY: a kernel exists where the processor has its instructions.
        unsafe { (self.0.write_16_as_32)(units, big_endian, out) }
    }

    /// Appends Latin-1 in UTF-8. At most two bytes for each byte.
    pub fn from_latin_1_into(self, bytes: &[u8], out: &mut Vec<u8>) {
        // SAFETY: a kernel exists where the processor has its instructions.
        unsafe { (self.0.from_latin_1_into)(bytes, out) }
    }

    /// How many characters `text` has.
    pub fn char_count(self, text: &str) -> usize {
        // SAFETY: a kernel exists where the processor has its instructions.
        unsafe { (self.0.char_count)(text.as_bytes()) }
    }

    /// How many code units `text` has in UTF-16.
    pub fn utf16_len(self, text: &str) -> usize {
        // SAFETY: a kernel exists where the processor has its instructions.
        unsafe { (self.0.utf16_len)(text.as_bytes()) }
    }
}

impl PartialEq for Kernel {
    fn eq(&self, other: &Self) -> bool {
        ptr::eq(self.0, other.0)
    }
}

impl Eq for Kernel {}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Kernel({})", self.name())
    }
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Every operation, compiled for every instruction set.
#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::avx2::Avx2;
    use super::avx512::Avx512;
    use super::count::count;
    use super::prefix::{SHORT, long_prefix, short_prefix};
    use super::replace::lossy_into;
    use super::sse41::Sse41;
    use super::transcode::{Utf16, Utf32, transcode_into};
    use super::vector::Vector;
    use super::{Operations, units};

    /// Compiles functions for a set of instructions. What they call is inlined, so compiled for them too.
    macro_rules! functions {
        ($features:literal: $($name:ident($($argument:ident: $kind:ty),*) -> $result:ty = $body:expr;)*) => {$(
            /// # Safety
            /// The processor has the instructions.
            #[target_feature(enable = $features)]
            #[inline(never)]
            #[allow(unused_unsafe, reason = "some have no need of it but the instructions")]
            unsafe fn $name($($argument: $kind),*) -> $result {
                // SAFETY: as the caller says.
                unsafe { $body }
            }
        )*};
    }

    /// The operations of one instruction set.
    macro_rules! operations {
        ($kernel:ident, $name:literal, $vector:ident, $features:literal, [$($feature:tt),*]) => {
            pub(super) static $kernel: Operations = {
                functions! { $features:
                    prefix(bytes: &[u8]) -> usize =
                        if bytes.len() <= SHORT { short_prefix::<$vector>(bytes) } else { rest(bytes) };
                    rest(bytes: &[u8]) -> usize = long_prefix::<$vector>(bytes);
                    lossy(bytes: &[u8], out: &mut Vec<u8>) -> () = lossy_into::<$vector>(bytes, out);
                    utf16(bytes: &[u8], out: &mut Vec<u16>) -> () = transcode_into::<Utf16, $vector>(bytes, out);
                    utf32(bytes: &[u8], out: &mut Vec<u32>) -> () = transcode_into::<Utf32, $vector>(bytes, out);
                    from_utf16(units: &[u16], out: &mut Vec<u8>) -> () = $vector::from_utf16_lossy_into(units, out);
                    from_utf32(units: &[u32], out: &mut Vec<u8>) -> () = $vector::from_utf32_lossy_into(units, out);
                    from_latin_1(bytes: &[u8], out: &mut Vec<u8>) -> () = $vector::from_latin_1_into(bytes, out);
                    utf16_prefix(units: &[u16]) -> usize = $vector::utf16_prefix(units);
                    utf32_prefix(units: &[u32], last: u32) -> usize = units::utf32_prefix(units, last);
                    utf32_from_utf16(units: &[u16], out: &mut Vec<u32>) -> () = $vector::utf32_from_utf16(units, out);
                    utf16_from_utf32(units: &[u32], out: &mut Vec<u16>) -> () = $vector::utf16_from_utf32(units, out);
                    utf16_from_bytes(bytes: &[u8], of_80: &[u16; 32], out: &mut Vec<u16>) -> () =
                        $vector::utf16_from_bytes(bytes, of_80, out);
                    read_16(bytes: &[u8], big: bool, out: &mut Vec<u16>) -> () = units::read_16(bytes, big, out);
                    read_32(bytes: &[u8], big: bool, out: &mut Vec<u32>) -> () = units::read_32(bytes, big, out);
                    write_16(units: &[u16], big: bool, out: &mut Vec<u8>) -> () = units::write_16(units, big, out);
                    write_32(units: &[u32], big: bool, out: &mut Vec<u8>) -> () = units::write_32(units, big, out);
                    write_16_as_32(units: &[u16], big: bool, out: &mut Vec<u8>) -> () =
                        units::write_16_as_32(units, big, out);
                    char_count(bytes: &[u8]) -> usize = count::<$vector, false>(bytes);
                    utf16_len(bytes: &[u8]) -> usize = count::<$vector, true>(bytes);
                }
                Operations {
                    name: $name,
                    is_here: || $(is_x86_feature_detected!($feature))&&*,
                    well_formed_prefix: prefix,
                    lossy_into: lossy,
                    utf16_lossy_into: utf16,
                    utf32_lossy_into: utf32,
                    from_utf16_lossy_into: from_utf16,
                    from_utf32_lossy_into: from_utf32,
                    from_latin_1_into: from_latin_1,
                    utf16_prefix,
                    utf32_prefix,
                    utf32_from_utf16,
                    utf16_from_utf32,
                    utf16_from_bytes,
                    read_16,
                    read_32,
                    write_16,
                    write_32,
                    write_16_as_32,
                    char_count,
                    utf16_len,
                }
            };
        };
    }

    operations!(SSE41, "sse41", Sse41, "sse4.1", ["sse4.1"]);
    operations!(AVX2, "avx2", Avx2, "avx2,bmi1,bmi2,lzcnt,popcnt", ["avx2", "bmi1", "bmi2", "lzcnt", "popcnt"]);
    operations!(
        AVX512,
        "avx512",
        Avx512,
        "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi1,bmi2,lzcnt,popcnt",
        ["avx512f", "avx512bw", "avx512vl", "avx512vbmi", "avx512vbmi2", "avx2", "bmi1", "bmi2", "lzcnt", "popcnt"]
    );
}
