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
mod prefix;
#[cfg(target_arch = "x86_64")]
mod replace;
#[cfg(target_arch = "x86_64")]
mod sse41;
#[cfg(target_arch = "x86_64")]
mod tables;
#[cfg(target_arch = "x86_64")]
mod transcode;
#[cfg(target_arch = "x86_64")]
mod vector;
#[cfg(target_arch = "x86_64")]
mod window;

use super::count::{chars_by_bytes, pairs_by_bytes};
use super::replace::lossy_by_errors;
use super::transcode::{from_latin_1_by_bytes, from_utf16_by_chars, utf16_by_chars, utf32_by_chars};
use super::validate::{Utf8Error, first_error};
use core::fmt;
use core::sync::atomic::{AtomicU8, Ordering};
use std::borrow::Cow;

/// A way to run our decoder on this processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Kernel(Set);

/// The instructions a kernel is written in, the plainest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
enum Set {
    Scalar,
    #[cfg(target_arch = "x86_64")]
    Sse41,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Set {
    const ALL: &'static [Self] = &[
        Self::Scalar,
        #[cfg(target_arch = "x86_64")]
        Self::Sse41,
        #[cfg(target_arch = "x86_64")]
        Self::Avx2,
        #[cfg(target_arch = "x86_64")]
        Self::Avx512,
    ];

    /// Whether this processor has it.
    fn is_here(self) -> bool {
        match self {
            Self::Scalar => true,
            #[cfg(target_arch = "x86_64")]
            Self::Sse41 => is_x86_feature_detected!("sse4.1"),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("lzcnt")
                    && is_x86_feature_detected!("popcnt")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                Self::Avx2.is_here()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vbmi")
                    && is_x86_feature_detected!("avx512vbmi2")
            }
        }
    }
}

/// One more than the best set there is; 0 where it was not looked for yet.
static BEST: AtomicU8 = AtomicU8::new(0);

impl Kernel {
    /// The kernel every processor has: portable and without unsafe code.
    pub const SCALAR: Self = Self(Set::Scalar);

    /// The kernels this processor can run, the plainest first.
    pub fn available() -> impl Iterator<Item = Self> {
        Set::ALL.iter().copied().filter(|set| set.is_here()).map(Self)
    }

    /// The kernel that is used where none is named: the last of those available, found once.
    #[inline]
    pub fn best() -> Self {
        let place = BEST.load(Ordering::Relaxed);
        match () {
            #[cfg(target_arch = "x86_64")]
            () if place == 1 + Set::Avx512 as u8 => Self(Set::Avx512),
            #[cfg(target_arch = "x86_64")]
            () if place == 1 + Set::Avx2 as u8 => Self(Set::Avx2),
            #[cfg(target_arch = "x86_64")]
            () if place == 1 + Set::Sse41 as u8 => Self(Set::Sse41),
            () if place == 1 + Set::Scalar as u8 => Self::SCALAR,
            _ => Self::find_best(),
        }
    }

    #[cold]
    fn find_best() -> Self {
        let best = Self::available().last().unwrap_or(Self::SCALAR);
        BEST.store(1 + best.0 as u8, Ordering::Relaxed);
        best
    }

    /// The name: `scalar`, or that of the instruction set.
    pub fn name(self) -> &'static str {
        match self.0 {
            Set::Scalar => "scalar",
            #[cfg(target_arch = "x86_64")]
            Set::Sse41 => "sse41",
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => "avx2",
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => "avx512",
        }
    }

    /// Checks that `bytes` are well-formed UTF-8.
    ///
    /// # Errors
    /// The first error: its offset, its length, its kind.
    #[inline]
    pub fn validate(self, bytes: &[u8]) -> Result<(), Utf8Error> {
        let good = self.well_formed_prefix(bytes);
        if good == bytes.len() { Ok(()) } else { first_error(bytes, good) }
    }

    /// Length in bytes of a prefix that is well-formed and ends between two sequences. Where it is not all there is, an
    /// error follows soon, or little.
    #[inline]
    fn well_formed_prefix(self, bytes: &[u8]) -> usize {
        match self.0 {
            Set::Scalar => {
                let _ = bytes;
                0
            }
            // SAFETY: a kernel exists where the processor has its instructions.
            #[cfg(target_arch = "x86_64")]
            Set::Sse41 => unsafe { x86::prefix_sse41(bytes) },
            // SAFETY: the same.
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => unsafe { x86::prefix_avx2(bytes) },
            // SAFETY: the same.
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => unsafe { x86::prefix_avx512(bytes) },
        }
    }

    /// Appends `bytes` with U+FFFD for every maximal subpart. At most three bytes are written for each byte read.
    pub fn lossy_into(self, bytes: &[u8], out: &mut Vec<u8>) {
        /// Fewer bytes are not worth a window.
        const SHORT: usize = 32;
        match self.0 {
            _ if bytes.len() < SHORT => lossy_by_errors(bytes, out),
            Set::Scalar => lossy_by_errors(bytes, out),
            // SAFETY: a kernel exists where the processor has its instructions.
            #[cfg(target_arch = "x86_64")]
            Set::Sse41 => unsafe { x86::lossy_sse41(bytes, out) },
            // SAFETY: the same.
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => unsafe { x86::lossy_avx2(bytes, out) },
            // SAFETY: the same.
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => unsafe { x86::lossy_avx512(bytes, out) },
        }
    }

    /// Appends `bytes` in UTF-16, with U+FFFD for every maximal subpart. At most one code unit for each byte read.
    pub fn utf16_lossy_into(self, bytes: &[u8], out: &mut Vec<u16>) {
        match self.0 {
            Set::Scalar => utf16_by_chars(bytes, out),
            // SAFETY: a kernel exists where the processor has its instructions.
            #[cfg(target_arch = "x86_64")]
            Set::Sse41 => unsafe { x86::utf16_sse41(bytes, out) },
            // SAFETY: the same.
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => unsafe { x86::utf16_avx2(bytes, out) },
            // SAFETY: the same.
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => unsafe { x86::utf16_avx512(bytes, out) },
        }
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

    /// Appends `bytes` in UTF-32, with U+FFFD for every maximal subpart. At most one code unit for each byte read.
    pub fn utf32_lossy_into(self, bytes: &[u8], out: &mut Vec<u32>) {
        match self.0 {
            // SAFETY: a kernel exists where the processor has its instructions.
            #[cfg(target_arch = "x86_64")]
            Set::Sse41 => unsafe { x86::utf32_sse41(bytes, out) },
            // SAFETY: the same.
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => unsafe { x86::utf32_avx2(bytes, out) },
            // SAFETY: the same.
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => unsafe { x86::utf32_avx512(bytes, out) },
            Set::Scalar => utf32_by_chars(bytes, out),
        }
    }

    /// Appends UTF-16 in UTF-8, with U+FFFD for every lone surrogate. At most three bytes for each code unit.
    pub fn from_utf16_lossy_into(self, units: &[u16], out: &mut Vec<u8>) {
        match self.0 {
            // SAFETY: a kernel exists where the processor has its instructions.
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => unsafe { x86::from_utf16_avx512(units, out) },
            _ => from_utf16_by_chars(units, out),
        }
    }

    /// Appends Latin-1 in UTF-8. At most two bytes for each byte.
    pub fn from_latin_1_into(self, bytes: &[u8], out: &mut Vec<u8>) {
        match self.0 {
            // SAFETY: a kernel exists where the processor has its instructions.
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => unsafe { x86::from_latin_1_avx512(bytes, out) },
            _ => from_latin_1_by_bytes(bytes, out),
        }
    }

    /// How many characters `text` has.
    pub fn char_count(self, text: &str) -> usize {
        let bytes = text.as_bytes();
        match self.0 {
            Set::Scalar => chars_by_bytes(bytes),
            // SAFETY: a kernel exists where the processor has its instructions.
            #[cfg(target_arch = "x86_64")]
            Set::Sse41 => unsafe { x86::char_count_sse41(bytes) },
            // SAFETY: the same.
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => unsafe { x86::char_count_avx2(bytes) },
            // SAFETY: the same.
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => unsafe { x86::char_count_avx512(bytes) },
        }
    }

    /// How many code units `text` has in UTF-16.
    pub fn utf16_len(self, text: &str) -> usize {
        let bytes = text.as_bytes();
        match self.0 {
            Set::Scalar => chars_by_bytes(bytes) + pairs_by_bytes(bytes),
            // SAFETY: a kernel exists where the processor has its instructions.
            #[cfg(target_arch = "x86_64")]
            Set::Sse41 => unsafe { x86::utf16_len_sse41(bytes) },
            // SAFETY: the same.
            #[cfg(target_arch = "x86_64")]
            Set::Avx2 => unsafe { x86::utf16_len_avx2(bytes) },
            // SAFETY: the same.
            #[cfg(target_arch = "x86_64")]
            Set::Avx512 => unsafe { x86::utf16_len_avx512(bytes) },
        }
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
    use super::encode::{from_latin_1_into, from_utf16_lossy_into};
    use super::prefix::well_formed_prefix;
    use super::replace::lossy_into;
    use super::sse41::Sse41;
    use super::transcode::{Utf16, Utf32, transcode_into};

    /// Compiles a function for a set of instructions. What it calls is inlined, so compiled for them too.
    macro_rules! compile {
        ($features:literal: $($name:ident($($argument:ident: $kind:ty),*) -> $result:ty = $body:expr;)*) => {$(
            /// # Safety
            /// The processor has the instructions.
            #[target_feature(enable = $features)]
            pub(super) unsafe fn $name($($argument: $kind),*) -> $result {
                // SAFETY: as the caller says.
                unsafe { $body }
            }
        )*};
    }

    compile! { "sse4.1":
        prefix_sse41(bytes: &[u8]) -> usize = well_formed_prefix::<Sse41>(bytes);
        utf16_sse41(bytes: &[u8], out: &mut Vec<u16>) -> () = transcode_into::<Utf16, Sse41>(bytes, out);
        utf32_sse41(bytes: &[u8], out: &mut Vec<u32>) -> () = transcode_into::<Utf32, Sse41>(bytes, out);
        char_count_sse41(bytes: &[u8]) -> usize = count::<Sse41, false>(bytes);
        utf16_len_sse41(bytes: &[u8]) -> usize = count::<Sse41, true>(bytes);
        lossy_sse41(bytes: &[u8], out: &mut Vec<u8>) -> () = lossy_into::<Sse41>(bytes, out);
    }
    compile! { "avx2,bmi1,bmi2,lzcnt,popcnt":
        prefix_avx2(bytes: &[u8]) -> usize = well_formed_prefix::<Avx2>(bytes);
        utf16_avx2(bytes: &[u8], out: &mut Vec<u16>) -> () = transcode_into::<Utf16, Avx2>(bytes, out);
        utf32_avx2(bytes: &[u8], out: &mut Vec<u32>) -> () = transcode_into::<Utf32, Avx2>(bytes, out);
        char_count_avx2(bytes: &[u8]) -> usize = count::<Avx2, false>(bytes);
        utf16_len_avx2(bytes: &[u8]) -> usize = count::<Avx2, true>(bytes);
        lossy_avx2(bytes: &[u8], out: &mut Vec<u8>) -> () = lossy_into::<Avx2>(bytes, out);
    }
    compile! { "avx512f,avx512bw,avx512vl,avx512vbmi,avx512vbmi2,avx2,bmi1,bmi2,lzcnt,popcnt":
        prefix_avx512(bytes: &[u8]) -> usize = well_formed_prefix::<Avx512>(bytes);
        utf16_avx512(bytes: &[u8], out: &mut Vec<u16>) -> () = transcode_into::<Utf16, Avx512>(bytes, out);
        utf32_avx512(bytes: &[u8], out: &mut Vec<u32>) -> () = transcode_into::<Utf32, Avx512>(bytes, out);
        char_count_avx512(bytes: &[u8]) -> usize = count::<Avx512, false>(bytes);
        utf16_len_avx512(bytes: &[u8]) -> usize = count::<Avx512, true>(bytes);
        from_utf16_avx512(units: &[u16], out: &mut Vec<u8>) -> () = from_utf16_lossy_into(units, out);
        from_latin_1_avx512(bytes: &[u8], out: &mut Vec<u8>) -> () = from_latin_1_into(bytes, out);
        lossy_avx512(bytes: &[u8], out: &mut Vec<u8>) -> () = lossy_into::<Avx512>(bytes, out);
    }
}
