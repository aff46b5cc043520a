//! simdutf8: its two public functions, each kernel this machine can run, and its streaming validators.
//!
//! Its public functions call `core::str` for inputs below 64 bytes and to locate errors; the kernels called directly do
//! not.
#![cfg(feature = "peers")]

use crate::decoder::{Decoder, Info};
use crate::peers::adapter::{Functions, accepted, invalid};
use crate::spec::Contract;
use crate::utf8::Validity;

/// The kernels by name, and the CPU features that each needs.
pub(super) const KERNELS: [(&str, &[&str]); 3] =
    [("simdutf8-avx2", &["avx2"]), ("simdutf8-avx2-chunked", &["avx2"]), ("simdutf8-sse42", &["sse4.2"])];

/// The decoders of this family that this machine can run.
pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    let public = |name| info(name).lineage_by_length(|len| if len < 64 { "core::str" } else { "simdutf8" });
    let basic = |bytes: &[u8]| accepted(simdutf8::basic::from_utf8(bytes).is_ok());
    let compat = |bytes: &[u8]| match simdutf8::compat::from_utf8(bytes) {
        Ok(_) => Validity::Valid,
        Err(error) => invalid(error.valid_up_to(), error.error_len()),
    };
    let family = [
        Functions::new(public("simdutf8-basic")).validate(basic).boxed(),
        Functions::new(public("simdutf8-compat")).validate(compat).boxed(),
    ];
    #[cfg(target_arch = "x86_64")]
    let family = family.into_iter().chain(x86::family());
    family.into_iter().collect()
}

fn info(name: &'static str) -> Info {
    Info::new("simdutf8", "0.1.5").name(name).contract(Contract::VALIDATOR)
}

/// The kernels, called directly, which is unsafe on a CPU without the instructions.
#[cfg(all(feature = "cli", target_arch = "x86_64"))]
pub(crate) use x86::is_well_formed_by_sse42;

#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "kernels that need CPU features")]
mod x86 {
    use super::{Decoder, Functions, Validity, accepted, info};
    use crate::decoder::Stream;
    use simdutf8::basic::imp::x86::{avx2, sse42};
    use simdutf8::basic::imp::{ChunkedUtf8Validator, Utf8Validator};

    #[cfg(feature = "cli")]
    /// What its implementation for SSE4.2 answers, if this processor can run it.
    pub(crate) fn is_well_formed_by_sse42(bytes: &[u8]) -> Option<bool> {
        // SAFETY: SSE4.2 was detected just before.
        is_x86_feature_detected!("sse4.2").then(|| unsafe { sse42::validate_utf8(bytes) }.is_ok())
    }

    pub(super) fn family() -> Vec<Box<dyn Decoder>> {
        let mut family = Vec::new();
        if is_x86_feature_detected!("avx2") {
            family.push(
                Functions::new(info("simdutf8-avx2"))
                    // SAFETY: AVX2 was detected just above.
                    .validate(|bytes| accepted(unsafe { avx2::validate_utf8(bytes) }.is_ok()))
                    .stream(|| Box::new(Updating::<avx2::Utf8ValidatorImp>::new())),
            );
            family.push(
                Functions::new(info("simdutf8-avx2-chunked"))
                    .validate(|bytes| accepted(Chunked::<avx2::ChunkedUtf8ValidatorImp>::new().whole(bytes)))
                    .stream(|| Box::new(Chunked::<avx2::ChunkedUtf8ValidatorImp>::new())),
            );
        }
        if is_x86_feature_detected!("sse4.2") {
            family.push(
                Functions::new(info("simdutf8-sse42"))
                    // SAFETY: SSE4.2 was detected just above.
                    .validate(|bytes| accepted(unsafe { sse42::validate_utf8(bytes) }.is_ok()))
                    .stream(|| Box::new(Updating::<sse42::Utf8ValidatorImp>::new())),
            );
        }
        family.into_iter().map(Functions::boxed).collect()
    }

    /// `Utf8Validator`: chunks of any length. Only `family` constructs it, after CPU detection.
    struct Updating<V>(V);

    impl<V: Utf8Validator> Updating<V> {
        fn new() -> Self {
            // SAFETY: `family` detected the instructions before it named this type.
            Self(unsafe { V::new() })
        }
    }

    impl<V: Utf8Validator> Stream for Updating<V> {
        fn push(&mut self, chunk: &[u8], _out: &mut Vec<u8>) {
            // SAFETY: as in `new`.
            unsafe { self.0.update(chunk) }
        }

        fn finish(&mut self, _out: &mut Vec<u8>) -> Option<Validity> {
            // SAFETY: as in `new`.
            Some(accepted(unsafe { core::mem::replace(self, Self::new()).0.finalize() }.is_ok()))
        }
    }

    /// `ChunkedUtf8Validator`: blocks of 64 bytes, and a shorter one at the end. Only `family` constructs it, after CPU
    /// detection.
    struct Chunked<V> {
        validator: V,
        block: [u8; 64],
        filled: usize,
    }

    impl<V: ChunkedUtf8Validator> Chunked<V> {
        fn new() -> Self {
            // SAFETY: `family` detected the instructions before it named this type.
            Self { validator: unsafe { V::new() }, block: [0; 64], filled: 0 }
        }

        fn whole(mut self, bytes: &[u8]) -> bool {
            let (blocks, rest) = bytes.split_at(bytes.len() / 64 * 64);
            // SAFETY: as in `new`.
            unsafe {
                self.validator.update_from_chunks(blocks);
                self.validator.finalize(Some(rest)).is_ok()
            }
        }
    }

    impl<V: ChunkedUtf8Validator> Stream for Chunked<V> {
        fn push(&mut self, mut chunk: &[u8], _out: &mut Vec<u8>) {
            while !chunk.is_empty() {
                let taken = chunk.len().min(64 - self.filled);
                self.block[self.filled..self.filled + taken].copy_from_slice(&chunk[..taken]);
                self.filled += taken;
                chunk = &chunk[taken..];
                if self.filled == 64 {
                    // SAFETY: as in `new`.
                    unsafe { self.validator.update_from_chunks(&self.block) }
                    self.filled = 0;
                }
            }
        }

        fn finish(&mut self, _out: &mut Vec<u8>) -> Option<Validity> {
            let Self { validator, block, filled } = core::mem::replace(self, Self::new());
            // SAFETY: as in `new`.
            Some(accepted(unsafe { validator.finalize(Some(&block[..filled])) }.is_ok()))
        }
    }
}
