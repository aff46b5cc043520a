//! The kernels: each operation compiled for each instruction set.
//!
//! An operation is a row of [`operations!`] and the functions it names. A [`Kernel`] exists only where the processor has the
//! features of its instruction set; that makes the calls in this file sound, and those of every function below it.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
mod compress;
mod info;
#[cfg(all(target_arch = "aarch64", target_endian = "little"))]
mod neon;
mod portable;
pub(crate) mod room;
#[cfg(target_arch = "x86_64")]
mod sse41;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
mod to_utf16_32;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
mod to_utf8;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
mod validate;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
mod vector;
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
mod window;

pub use info::{KernelInfo, Path, Registers};

use crate::kernel::room::{MARGIN, Room};
use crate::scalar;
use crate::scalar::{Utf8Error, first_error};
use core::sync::atomic::{AtomicPtr, Ordering};
use core::{fmt, ptr};
use std::borrow::Cow;

/// A way to run our codec on this processor.
///
/// ```
/// use utfuzz_codec::Kernel;
///
/// for kernel in Kernel::available() {
///     assert!(kernel.validate("Grüße, 世界 😀".as_bytes()).is_ok(), "{kernel}");
///     assert_eq!(kernel.from_utf8_lossy(b"a\xFF"), "a\u{FFFD}", "{kernel}");
/// }
/// assert_eq!(Kernel::available().next(), Some(Kernel::SCALAR));
/// assert_eq!(Kernel::available().last(), Some(Kernel::best()));
/// ```
#[derive(Clone, Copy)]
pub struct Kernel(&'static Operations);

/// The table of operations: `name(arguments) -> result = portable, vector, avx512;`, where SSE4.1, AVX2 and NEON share
/// the second column. Functions in the last two columns are compiled for the instruction set, whose register is `V`.
macro_rules! operations {
    ($use:ident $($options:tt)*) => { $use! { $($options)*
        /// Length in bytes of a prefix that is well-formed and ends between two sequences. If it is not the whole input,
        /// the first error follows within a few registers, or the input ends inside a sequence.
        well_formed_prefix(bytes: &[u8]) -> usize =
            scalar::well_formed_prefix, validate::well_formed_prefix::<V, false>, validate::well_formed_prefix::<V, false>;
        lossy_into(bytes: &[u8], out: &mut Vec<u8>) -> () =
            portable::lossy, window::lossy_into::<V>, window::lossy_into::<V>;
        /// Needs room for a unit for each byte and [`MARGIN`] more. If there is less it may panic; it writes nothing outside.
        utf16_lossy(bytes: &[u8], out: &mut Room<'_, u16>) -> () =
            portable::utf16, compress::append::<Utf16, V>, to_utf16_32::append::<Utf16, V>;
        /// Needs room for a unit for each byte and [`MARGIN`] more. If there is less it may panic; it writes nothing outside.
        utf32_lossy(bytes: &[u8], out: &mut Room<'_, u32>) -> () =
            portable::utf32, compress::append::<Utf32, V>, to_utf16_32::append::<Utf32, V>;
        from_utf16_lossy_into(units: &[u16], out: &mut Vec<u8>) -> () =
            portable::from_utf16, to_utf8::from_utf16::<V>, from_units::from_utf16;
        from_utf32_lossy_into(units: &[u32], out: &mut Vec<u8>) -> () =
            portable::from_utf32, to_utf8::from_utf32::<V>, from_units::from_utf32;
        from_latin_1_into(bytes: &[u8], out: &mut Vec<u8>) -> () =
            portable::from_latin_1, to_utf8::from_latin_1::<V>, from_units::from_latin_1;
        utf16_prefix(units: &[u16]) -> usize =
            scalar::utf16_prefix, scalar::utf16_prefix, from_units::utf16_prefix;
        utf32_prefix(units: &[u32], last: u32) -> usize =
            scalar::utf32_prefix, scalar::utf32_prefix, scalar::utf32_prefix;
        utf32_from_utf16(units: &[u16], out: &mut Vec<u32>) -> () =
            scalar::utf32_from_utf16, scalar::utf32_from_utf16, from_units::utf32_from_utf16;
        utf16_from_utf32(units: &[u32], out: &mut Vec<u16>) -> () =
            scalar::utf16_from_utf32, to_utf8::utf16_from_utf32, from_units::utf16_from_utf32;
        utf16_from_bytes(bytes: &[u8], of_80: &[u16; 32], out: &mut Vec<u16>) -> () =
            scalar::utf16_from_bytes, scalar::utf16_from_bytes, from_units::utf16_from_bytes;
        read_16(bytes: &[u8], big_endian: bool, out: &mut Vec<u16>) -> () =
            scalar::read_units::<u16, 2>, scalar::read_units::<u16, 2>, scalar::read_units::<u16, 2>;
        read_32(bytes: &[u8], big_endian: bool, out: &mut Vec<u32>) -> () =
            scalar::read_units::<u32, 4>, scalar::read_units::<u32, 4>, scalar::read_units::<u32, 4>;
        write_16(units: &[u16], big_endian: bool, out: &mut Vec<u8>) -> () =
            scalar::write_units::<u16, u16, 2>, scalar::write_units::<u16, u16, 2>, scalar::write_units::<u16, u16, 2>;
        write_32(units: &[u32], big_endian: bool, out: &mut Vec<u8>) -> () =
            scalar::write_units::<u32, u32, 4>, scalar::write_units::<u32, u32, 4>, scalar::write_units::<u32, u32, 4>;
        write_16_as_32(units: &[u16], big_endian: bool, out: &mut Vec<u8>) -> () =
            scalar::write_units::<u32, u16, 4>, scalar::write_units::<u32, u16, 4>, scalar::write_units::<u32, u16, 4>;
        char_count(bytes: &[u8]) -> usize =
            scalar::chars_by_bytes, scalar::chars_by_bytes, to_utf16_32::count::<V, false>;
        utf16_len(bytes: &[u8]) -> usize =
            scalar::utf16_len_by_bytes, scalar::utf16_len_by_bytes, to_utf16_32::count::<V, true>;
    } };
}

/// Declares the operations, and those of the scalar kernel.
macro_rules! declare {
    ($(
        $(#[$doc:meta])*
        $name:ident($($argument:ident: $kind:ty),*) -> $result:ty = $portable:expr, $vector:expr, $avx512:expr;
    )*) => {
        /// What a kernel does. The operations may be called only where the processor has the features in `info`.
        struct Operations {
            info: KernelInfo,
            /// Whether this processor has the features.
            is_here: fn() -> bool,
            $($(#[$doc])* $name: unsafe fn($($kind),*) -> $result,)*
        }

        static SCALAR: Operations = Operations {
            info: KernelInfo {
                name: "scalar",
                features: &[],
                path: |_| Path::SCALAR,
            },
            is_here: || true,
            $($name: $portable,)*
        };
    };
}

operations!(declare);

/// Every kernel, the plainest first.
static ALL: &[&Operations] = &[
    &SCALAR,
    #[cfg(target_arch = "x86_64")]
    &compiled::SSE41,
    #[cfg(target_arch = "x86_64")]
    &compiled::AVX2,
    #[cfg(target_arch = "x86_64")]
    &compiled::AVX512,
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    &compiled::NEON,
];

/// The kernel to use; null until it is first asked for.
static BEST: AtomicPtr<Operations> = AtomicPtr::new(ptr::null_mut());

/// Calls an operation of a kernel.
macro_rules! run {
    ($kernel:ident.$operation:ident($($argument:expr),*)) => {
        // SAFETY: a `Kernel` is made by `available`, if the processor has its features; from `SCALAR`, which needs none; or by
        // `best`, from the table of one that these made. The operations have no other precondition.
        unsafe { ($kernel.0.$operation)($($argument),*) }
    };
}

impl Kernel {
    /// The kernel every processor can run.
    pub const SCALAR: Self = Self(&SCALAR);

    /// Every kernel of this build, the plainest first, whether or not this processor can run it.
    pub fn known() -> impl Iterator<Item = &'static KernelInfo> {
        ALL.iter().map(|operations| &operations.info)
    }

    /// The kernels this processor can run, the plainest first.
    pub fn available() -> impl Iterator<Item = Self> {
        ALL.iter().filter(|operations| (operations.is_here)()).map(|&operations| Self(operations))
    }

    /// The kernel that is used if none is named: the last of those available, or the one that [`LIMIT`](Self::LIMIT) names.
    /// Determined at the first call.
    #[inline]
    pub fn best() -> Self {
        // SAFETY: the pointer is null, or `find_best` made it from the static table of a kernel that this processor can run.
        unsafe { BEST.load(Ordering::Relaxed).as_ref() }.map_or_else(Self::find_best, Self)
    }

    /// The environment variable that names the kernel for [`best`](Self::best) to return, for measurements and tests. A
    /// name that is not among those [available](Self::available) is ignored.
    pub const LIMIT: &'static str = "UTFUZZ_KERNEL";

    #[cold]
    fn find_best() -> Self {
        let limit = std::env::var(Self::LIMIT).ok();
        let limited = limit.and_then(|name| Self::available().find(|kernel| kernel.name() == name));
        let best = limited.or_else(|| Self::available().last()).unwrap_or(Self::SCALAR);
        BEST.store(ptr::from_ref(best.0).cast_mut(), Ordering::Relaxed);
        best
    }

    /// The name: `scalar`, or that of the instruction set.
    pub fn name(self) -> &'static str {
        self.0.info.name
    }

    /// Its name, the processor features it needs, and its paths.
    pub fn info(self) -> &'static KernelInfo {
        &self.0.info
    }

    /// The code that validates an input of `len` bytes. [`lossy_into`](Self::lossy_into) uses scalar code below 32 bytes.
    pub fn path(self, len: usize) -> Path {
        (self.0.info.path)(len)
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
        let good = run!(self.well_formed_prefix(bytes));
        if good == bytes.len() { Ok(()) } else { first_error(bytes, good) }
    }

    /// `bytes` as text.
    ///
    /// # Errors
    /// The first error: its offset, its length, its kind.
    #[inline]
    pub fn from_utf8(self, bytes: &[u8]) -> Result<&str, Utf8Error> {
        self.validate(bytes)?;
        // SAFETY: `validate` found all of `bytes` well-formed.
        Ok(unsafe { core::str::from_utf8_unchecked(bytes) })
    }

    /// `bytes` as text, with U+FFFD for every maximal subpart; borrowed if they are well-formed.
    pub fn from_utf8_lossy(self, bytes: &[u8]) -> Cow<'_, str> {
        let error = match self.from_utf8(bytes) {
            Ok(text) => return Cow::Borrowed(text),
            Err(error) => error,
        };
        let (good, rest) = bytes.split_at(error.valid_up_to());
        let mut out = good.to_vec();
        self.lossy_into(rest, &mut out);
        // SAFETY: `good` is well-formed up to a boundary, and `lossy_into` appends well-formed sequences and U+FFFD only.
        Cow::Owned(unsafe { String::from_utf8_unchecked(out) })
    }

    /// Appends `bytes` with U+FFFD for every maximal subpart. At most three bytes are written for each byte read.
    pub fn lossy_into(self, bytes: &[u8], out: &mut Vec<u8>) {
        /// Inputs with fewer bytes are decoded without windows.
        const SHORT: usize = 32;
        if bytes.len() < SHORT {
            return scalar::lossy_by_errors(bytes, out);
        }
        run!(self.lossy_into(bytes, out))
    }

    /// Appends `bytes` as UTF-16, with U+FFFD for every maximal subpart. At most one code unit for each byte; it reserves memory
    /// for that many and 192 more.
    pub fn utf16_lossy_into(self, bytes: &[u8], out: &mut Vec<u16>) {
        Room::append(out, bytes.len() + MARGIN, |room| self.utf16_lossy(bytes, room));
    }

    /// Appends `bytes` as UTF-32, with U+FFFD for every maximal subpart. At most one code unit for each byte; it reserves memory
    /// for that many and 192 more.
    pub fn utf32_lossy_into(self, bytes: &[u8], out: &mut Vec<u32>) {
        Room::append(out, bytes.len() + MARGIN, |room| self.utf32_lossy(bytes, room));
    }

    /// Writes `bytes` as UTF-16. May panic if there is room for fewer units than bytes and [`MARGIN`].
    pub(crate) fn utf16_lossy(self, bytes: &[u8], out: &mut Room<'_, u16>) {
        run!(self.utf16_lossy(bytes, out))
    }

    /// Writes `bytes` as UTF-32. May panic if there is room for fewer units than bytes and [`MARGIN`].
    pub(crate) fn utf32_lossy(self, bytes: &[u8], out: &mut Room<'_, u32>) {
        run!(self.utf32_lossy(bytes, out))
    }

    /// Appends UTF-16 as UTF-8, with U+FFFD for every lone surrogate. At most three bytes for each code unit.
    pub fn from_utf16_lossy_into(self, units: &[u16], out: &mut Vec<u8>) {
        run!(self.from_utf16_lossy_into(units, out))
    }

    /// Appends UTF-32 as UTF-8, with U+FFFD for every number that is not a scalar value. At most four bytes for each code
    /// unit.
    pub fn from_utf32_lossy_into(self, units: &[u32], out: &mut Vec<u8>) {
        run!(self.from_utf32_lossy_into(units, out))
    }

    /// How many code units at the start are UTF-16 without a lone surrogate.
    pub fn utf16_valid_up_to(self, units: &[u16]) -> usize {
        run!(self.utf16_prefix(units))
    }

    /// How many code units at the start are UTF-32: scalar values.
    pub fn utf32_valid_up_to(self, units: &[u32]) -> usize {
        self.ucs4_valid_up_to(units, char::MAX.into())
    }

    /// Appends UTF-16 as UTF-32, with U+FFFD for every lone surrogate. At most one code unit for each that is read.
    pub fn utf32_from_utf16_lossy_into(self, units: &[u16], out: &mut Vec<u32>) {
        run!(self.utf32_from_utf16(units, out))
    }

    /// Appends UTF-32 as UTF-16, with U+FFFD for every number that is not a scalar value. At most two code units for each that
    /// is read.
    pub fn utf16_from_utf32_lossy_into(self, units: &[u32], out: &mut Vec<u16>) {
        run!(self.utf16_from_utf32(units, out))
    }

    /// Appends Latin-1 as UTF-8. At most two bytes for each byte.
    pub fn from_latin_1_into(self, bytes: &[u8], out: &mut Vec<u8>) {
        run!(self.from_latin_1_into(bytes, out))
    }

    /// How many characters `text` has.
    pub fn char_count(self, text: &str) -> usize {
        run!(self.char_count(text.as_bytes()))
    }

    /// How many code units `text` has in UTF-16.
    pub fn utf16_len(self, text: &str) -> usize {
        run!(self.utf16_len(text.as_bytes()))
    }
}

/// For conversions, and the tests of the kernels.
#[doc(hidden)]
impl Kernel {
    /// How many code units at the start are at most `last` and not surrogates.
    pub fn ucs4_valid_up_to(self, units: &[u32], last: u32) -> usize {
        run!(self.utf32_prefix(units, last))
    }

    /// Appends bytes of a single-byte encoding as UTF-16: each is the code point of the same number, except 80..9F,
    /// whose code points are in `of_80`.
    pub fn utf16_from_bytes_into(self, bytes: &[u8], of_80: &[u16; 32], out: &mut Vec<u16>) {
        run!(self.utf16_from_bytes(bytes, of_80, out))
    }

    /// Appends `bytes` as code units of 16 bits; a single byte at the end is left out.
    pub fn read_16_into(self, bytes: &[u8], big_endian: bool, out: &mut Vec<u16>) {
        run!(self.read_16(bytes, big_endian, out))
    }

    /// Appends `bytes` as code units of 32 bits; up to three bytes at the end are left out.
    pub fn read_32_into(self, bytes: &[u8], big_endian: bool, out: &mut Vec<u32>) {
        run!(self.read_32(bytes, big_endian, out))
    }

    /// Appends the bytes of code units, two for each.
    pub fn write_16_into(self, units: &[u16], big_endian: bool, out: &mut Vec<u8>) {
        run!(self.write_16(units, big_endian, out))
    }

    /// Appends the bytes of code units, four for each.
    pub fn write_32_into(self, units: &[u32], big_endian: bool, out: &mut Vec<u8>) {
        run!(self.write_32(units, big_endian, out))
    }

    /// Appends the bytes of code units of 16 bits widened to 32, four for each.
    pub fn write_16_as_32_into(self, units: &[u16], big_endian: bool, out: &mut Vec<u8>) {
        run!(self.write_16_as_32(units, big_endian, out))
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

/// The table, compiled for every instruction set.
#[cfg(any(target_arch = "x86_64", all(target_arch = "aarch64", target_endian = "little")))]
mod compiled {
    #[cfg(target_arch = "x86_64")]
    use super::avx2::Avx2;
    #[cfg(target_arch = "x86_64")]
    use super::avx512::{Avx512, from_units};
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    use super::neon::Neon;
    #[cfg(target_arch = "x86_64")]
    use super::sse41::Sse41;
    #[cfg(target_arch = "x86_64")]
    use super::to_utf16_32;
    use super::to_utf16_32::{Utf16, Utf32};
    use super::vector::{Apart, Vector};
    use super::{KernelInfo, Operations, Room, compress, scalar, to_utf8, validate, window};
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    use std::arch::is_aarch64_feature_detected as is_feature_detected;
    #[cfg(target_arch = "x86_64")]
    use std::is_x86_feature_detected as is_feature_detected;

    /// Compiles for an instruction set the functions of [`Apart`], and the table, from its column `vector` or `avx512`. The list of
    /// features is also used for run-time detection.
    macro_rules! compile {
        ($kernel:ident, $column:ident $register:ident $features:tt) => {
            // SAFETY: each calls the function of its name.
            unsafe impl Apart for $register {
                function! { $features long_prefix(bytes: &[u8], at: usize) -> usize = validate::long_prefix::<Self> }
                function! { $features good_groups(from: *const u8, most: usize) -> usize = validate::good_groups::<Self> }
                function! { $features sparse_run(from: *const u8, at: usize, end: usize, to: *mut u8) -> (usize, *mut u8) =
                    window::sparse_run::<Self> }
            }
            pub(super) static $kernel: Operations = operations!(table $column $register $features);
        };
    }

    /// The functions of one column of the table, compiled, and the [`Operations`] they make.
    macro_rules! table {
        (vector $register:ident $features:tt $(
            $(#[$doc:meta])* $name:ident $arguments:tt -> $result:ty = $portable:expr, $vector:expr, $avx512:expr;
        )*) => { table! { @ $register $features $($name $arguments -> $result = $vector;)* } };
        (avx512 $register:ident $features:tt $(
            $(#[$doc:meta])* $name:ident $arguments:tt -> $result:ty = $portable:expr, $vector:expr, $avx512:expr;
        )*) => { table! { @ $register $features $($name $arguments -> $result = $avx512;)* } };
        (@ $register:ident $features:tt $($name:ident $arguments:tt -> $result:ty = $function:expr;)*) => {{
            type V = $register;
            $(function! { $features $name $arguments -> $result = $function })*
            Operations {
                info: KernelInfo { name: V::NAME, features: &$features, path: validate::path::<V> },
                is_here: || is_here!($features),
                $($name,)*
            }
        }};
    }

    macro_rules! is_here {
        ([$($feature:tt),*]) => { $(is_feature_detected!($feature))&&* };
    }

    /// Compiles a function for a set of features. What it calls is inlined, so compiled for them too, except the functions of
    /// [`Apart`], which have the same features, and portable ones.
    macro_rules! function {
        (
            [$($feature:literal),*]
            $name:ident($($argument:ident: $kind:ty),*) -> $result:ty = $function:expr
        ) => {
            /// # Safety
            /// The processor has the features; other conditions are those of what it calls.
            #[target_feature($(enable = $feature),*)]
            #[inline(never)]
            #[allow(unused_unsafe, reason = "the portable functions are safe")]
            unsafe fn $name($($argument: $kind),*) -> $result {
                // SAFETY: the functions of the table require the features and nothing else; those of `Apart` have the contract
                // of what they call.
                unsafe { $function($($argument),*) }
            }
        };
    }

    #[cfg(target_arch = "x86_64")]
    compile! { SSE41, vector Sse41 ["sse4.1"] }
    #[cfg(target_arch = "x86_64")]
    compile! { AVX2, vector Avx2 ["avx2", "bmi1", "bmi2", "lzcnt", "popcnt"] }
    #[cfg(target_arch = "x86_64")]
    compile! { AVX512, avx512 Avx512 [
        "avx512f", "avx512bw", "avx512vl", "avx512vbmi", "avx512vbmi2", "avx2", "bmi1", "bmi2", "lzcnt", "popcnt"
    ] }
    #[cfg(all(target_arch = "aarch64", target_endian = "little"))]
    compile! { NEON, vector Neon ["neon"] }
}

#[cfg(test)]
mod tests {
    use super::info::trace::RAN;
    use super::*;

    /// Compares paths with what the code itself notes when it runs.
    #[test]
    fn a_path_is_the_code_that_runs() {
        let mut wrong = Vec::new();
        for kernel in Kernel::available() {
            for len in 1..=300 {
                // Not ASCII, so that nothing returns early.
                let text = "é".repeat(len / 2) + &"a"[..len % 2];
                RAN.take();
                assert!(kernel.validate(text.as_bytes()).is_ok());
                let (ran, path) = (RAN.take(), kernel.path(len));
                let expected = if kernel == Kernel::SCALAR { vec![] } else { vec![path] };
                if ran != expected {
                    wrong.push(format!("{kernel}, {len} bytes: {path:?}, but {ran:?} ran"));
                }
            }
        }
        assert!(wrong.is_empty(), "{} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    }
}
