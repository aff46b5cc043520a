//! Decoders that are crates written in Rust: encoding_rs, simdutf8, small crates for UTF-8, and crates for its relatives.
//!
//! encoding_rs, the decoder of Firefox, has four entry points here: `decode_to_string` with the byte order mark kept and
//! stripped, `decode_to_utf16`, and `decode_to_utf8_without_replacement`. It validates inputs of 64 bytes or more with
//! simdutf8, so it is not an independent implementation for those.
//!
//! simdutf8 has its two public functions, each kernel this machine can run, and its streaming validators. Its public
//! functions call `core::str` for inputs below 64 bytes and to locate errors; the kernels called directly do not.
//!
//! The small crates are bstr, utf-8 and its fork utf8-zero, utf8_iter and utf8-decode.
//!
//! The crates for CESU-8, Modified UTF-8 and UTF-8 with surrogates are simd_cesu8, cesu8, residua-mutf8, mutf8, java_string
//! and wtf8. Several accept more than their encoding: input that is valid UTF-8 as a whole (cesu8, residua-mutf8,
//! simd_cesu8), or any bytes (mutf8). They are held to their encodings, and their differences are in the ledger.
#![cfg(feature = "peers")]

#[cfg(all(feature = "check", target_arch = "x86_64"))]
pub use x86::is_well_formed_by_sse42;

use crate::decoder::{Decoder, Info, Stream};
use crate::peers::adapter::{Functions, accepted, append_text, invalid, invalid_at, push_utf16};
use crate::spec::grammar::{CESU8, Grammar, MODIFIED_UTF8, RFC3629_WITH_SURROGATES};
use crate::spec::{Bom, Contract, Detection, End, Replacement, Segmentation};
use crate::utf8::{ErrorLen, Malformed, REPLACEMENT, Validity, push_extended};
use bstr::ByteSlice;
use encoding_rs::{CoderResult, DecoderResult, Encoding, UTF_8};
use java_string::{JavaStr, Utf8Error};
use mutf8::mutf8_to_utf8;
use std::borrow::Cow;
use std::cell::RefCell;
use std::rc::Rc;
use utf8_decode::try_decode_char;
use utf8_iter::{ErrorReportingUtf8Chars, Utf8Chars};
use wtf8::{CodePoint, Wtf8Buf};

/// A truncated sequence at the end of the input is an error like any other.
const END_IS_ERROR: Contract = Contract { end: End::Error, ..Contract::STANDARD };

/// bstr, utf-8, utf8-zero, utf8_iter and utf8-decode.
pub(super) fn small() -> Vec<Box<dyn Decoder>> {
    vec![bstr(), utf8(), utf8_zero(), utf8_iter(), utf8_decode()]
}

/// `to_str`, and `to_str_lossy_into`.
fn bstr() -> Box<dyn Decoder> {
    let validate = |bytes: &[u8]| match bytes.to_str() {
        Ok(_) => Validity::Valid,
        Err(error) => invalid(error.valid_up_to(), error.error_len()),
    };
    let lossy = |bytes: &[u8], out: &mut Vec<u8>| {
        append_text(out, |text| bytes.to_str_lossy_into(text));
        Some(())
    };
    Functions::new(Info::new("bstr", "1.13.1")).validate(validate).lossy(lossy).boxed()
}

/// `decode`, and `LossyDecoder`, both on top of `core::str`.
fn utf8() -> Box<dyn Decoder> {
    use utf8::{DecodeError, LossyDecoder};
    let validate = |bytes: &[u8]| match utf8::decode(bytes) {
        Ok(_) => Validity::Valid,
        Err(DecodeError::Invalid { valid_prefix, invalid_sequence, .. }) => {
            invalid(valid_prefix.len(), Some(invalid_sequence.len()))
        }
        Err(DecodeError::Incomplete { valid_prefix, .. }) => invalid(valid_prefix.len(), None),
    };
    let lossy = |bytes: &[u8], out: &mut Vec<u8>| {
        LossyDecoder::new(|text| out.extend_from_slice(text.as_bytes())).feed(bytes);
        Some(())
    };
    let stream = || Lossy::boxed(|output| LossyDecoder::new(appending(output)));
    Functions::new(incremental("utf-8", "0.7.6")).validate(validate).lossy(lossy).stream(stream).boxed()
}

/// The same for the fork, which has types of its own.
fn utf8_zero() -> Box<dyn Decoder> {
    use utf8_zero::{DecodeError, LossyDecoder};
    let validate = |bytes: &[u8]| match utf8_zero::decode(bytes) {
        Ok(_) => Validity::Valid,
        Err(DecodeError::Invalid { valid_prefix, invalid_sequence, .. }) => {
            invalid(valid_prefix.len(), Some(invalid_sequence.len()))
        }
        Err(DecodeError::Incomplete { valid_prefix, .. }) => invalid(valid_prefix.len(), None),
    };
    let lossy = |bytes: &[u8], out: &mut Vec<u8>| {
        LossyDecoder::new(|text| out.extend_from_slice(text.as_bytes())).feed(bytes);
        Some(())
    };
    let stream = || Lossy::boxed(|output| LossyDecoder::new(appending(output)));
    Functions::new(incremental("utf8-zero", "0.8.1")).validate(validate).lossy(lossy).stream(stream).boxed()
}

fn incremental(name: &'static str, version: &'static str) -> Info {
    let contract = Contract { detection: Detection::Earliest, ..Contract::STANDARD };
    Info::new(name, version).contract(contract).lineage("core::str")
}

/// A `LossyDecoder`, which writes through a callback and ends its input when it is dropped.
trait Feed {
    fn feed(&mut self, chunk: &[u8]);
}

impl<F: FnMut(&str)> Feed for utf8::LossyDecoder<F> {
    fn feed(&mut self, chunk: &[u8]) {
        Self::feed(self, chunk);
    }
}

impl<F: FnMut(&str)> Feed for utf8_zero::LossyDecoder<F> {
    fn feed(&mut self, chunk: &[u8]) {
        Self::feed(self, chunk);
    }
}

type Output = Rc<RefCell<Vec<u8>>>;

/// The callback that appends to `output`.
fn appending(output: &Output) -> impl FnMut(&str) + use<> {
    let output = Rc::clone(output);
    move |text| output.borrow_mut().extend_from_slice(text.as_bytes())
}

/// A stream of a `LossyDecoder`, made by `start`.
struct Lossy<D, S> {
    decoder: D,
    output: Output,
    start: S,
}

impl<D: Feed + 'static, S: Fn(&Output) -> D + 'static> Lossy<D, S> {
    fn boxed(start: S) -> Box<dyn Stream> {
        let output = Output::default();
        Box::new(Self { decoder: start(&output), output, start })
    }
}

impl<D: Feed, S: Fn(&Output) -> D> Stream for Lossy<D, S> {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        self.decoder.feed(chunk);
        out.append(&mut self.output.borrow_mut());
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        self.decoder = (self.start)(&self.output);
        out.append(&mut self.output.borrow_mut());
        None
    }
}

/// `ErrorReportingUtf8Chars`, and `Utf8Chars`.
fn utf8_iter() -> Box<dyn Decoder> {
    let validate = |bytes: &[u8]| {
        let mut chars = ErrorReportingUtf8Chars::new(bytes);
        loop {
            let rest = chars.as_slice().len();
            match chars.next() {
                None => return Validity::Valid,
                Some(Ok(_)) => {}
                Some(Err(_)) => return invalid(bytes.len() - rest, Some(rest - chars.as_slice().len())),
            }
        }
    };
    let lossy = |bytes: &[u8], out: &mut Vec<u8>| {
        Utf8Chars::new(bytes).for_each(|scalar| out.extend_from_slice(scalar.encode_utf8(&mut [0; 4]).as_bytes()));
        Some(())
    };
    Functions::new(Info::new("utf8_iter", "1.1.0").contract(END_IS_ERROR)).validate(validate).lossy(lossy).boxed()
}

/// `try_decode_char`. It claims to decode UTF-8 and is held to that; its differences are in the ledger.
fn utf8_decode() -> Box<dyn Decoder> {
    let validate = |bytes: &[u8]| {
        let mut at = 0;
        loop {
            match try_decode_char(bytes, &mut at) {
                Ok(None) => return Validity::Valid,
                Ok(Some(_)) => {}
                Err(error) => return invalid(error.offset, Some(error.len)),
            }
        }
    };
    let lossy = |bytes: &[u8], out: &mut Vec<u8>| {
        let mut at = 0;
        loop {
            match try_decode_char(bytes, &mut at) {
                Ok(None) => return Some(()),
                Ok(Some((scalar, _))) => out.extend_from_slice(scalar.encode_utf8(&mut [0; 4]).as_bytes()),
                Err(_) => out.extend_from_slice(REPLACEMENT),
            }
        }
    };
    Functions::new(Info::new("utf8-decode", "2.0.0").contract(END_IS_ERROR)).validate(validate).lossy(lossy).boxed()
}

/// The entry points of encoding_rs.
pub(super) fn encoding_rs() -> Vec<Box<dyn Decoder>> {
    let keep = Contract { detection: Detection::Earliest, ..Contract::STANDARD };
    let strip = Contract { bom: Bom::Strip, ..keep };
    let strict = Contract { end: End::Error, ..Contract::VALIDATOR };
    let info = |name, contract| {
        let info = Info::new("encoding_rs", "0.8.44").name(name).contract(contract);
        info.lineage_by_length(|len| if len < 64 { "encoding_rs" } else { "simdutf8" })
    };
    let keeping = Coding { validate: Some(valid_up_to), start: UTF_8_KEEPING_BOM, decode: to_utf8 };
    let stripping = Coding { start: UTF_8_STRIPPING_BOM, ..keeping };
    let utf16 = Coding { validate: None, decode: to_utf16, ..keeping };
    vec![
        Box::new(Replacing { info: info("encoding_rs", keep), coding: keeping }),
        Box::new(Replacing { info: info("encoding_rs-bom", strip), coding: stripping }),
        Box::new(Replacing { info: info("encoding_rs-utf16", keep), coding: utf16 }),
        Box::new(Strict { info: info("encoding_rs-strict", strict) }),
    ]
}

type Start = fn() -> encoding_rs::Decoder;
const UTF_8_KEEPING_BOM: Start = || UTF_8.new_decoder_without_bom_handling();
const UTF_8_STRIPPING_BOM: Start = || UTF_8.new_decoder_with_bom_removal();

/// An entry point that replaces ill-formed sequences.
#[derive(Clone, Copy)]
struct Coding {
    validate: Option<fn(&[u8]) -> Validity>,
    start: Start,
    /// Decodes a chunk, which may be the last, and appends the text.
    decode: fn(&mut encoding_rs::Decoder, &[u8], bool, &mut Vec<u8>),
}

struct Replacing {
    info: Info,
    coding: Coding,
}

impl Decoder for Replacing {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        self.coding.validate.map(|validate| validate(bytes))
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        (self.coding.decode)(&mut (self.coding.start)(), bytes, true, out);
        Some(())
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        Some(Box::new(LossyStream { coding: self.coding, decoder: (self.coding.start)() }))
    }
}

struct LossyStream {
    coding: Coding,
    decoder: encoding_rs::Decoder,
}

impl Stream for LossyStream {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        (self.coding.decode)(&mut self.decoder, chunk, false, out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        (self.coding.decode)(&mut self.decoder, &[], true, out);
        self.decoder = (self.coding.start)();
        None
    }

    fn sendable(&mut self) -> Option<&mut (dyn Stream + Send + '_)> {
        Some(self)
    }
}

fn valid_up_to(bytes: &[u8]) -> Validity {
    let valid_up_to = Encoding::utf8_valid_up_to(bytes);
    if valid_up_to == bytes.len() { Validity::Valid } else { invalid_at(valid_up_to) }
}

pub(super) fn to_utf8(decoder: &mut encoding_rs::Decoder, mut bytes: &[u8], last: bool, out: &mut Vec<u8>) {
    append_text(out, |text| {
        loop {
            // Each byte becomes at most three bytes; the six are for pending ones.
            text.reserve(bytes.len() * 3 + 6);
            let (result, read, _) = decoder.decode_to_string(bytes, text, last);
            bytes = &bytes[read..];
            if result == CoderResult::InputEmpty {
                return;
            }
        }
    });
}

fn to_utf16(decoder: &mut encoding_rs::Decoder, mut bytes: &[u8], last: bool, out: &mut Vec<u8>) {
    let mut buffer = [0; 64];
    loop {
        let (result, read, written, _) = decoder.decode_to_utf16(bytes, &mut buffer, last);
        push_utf16(&buffer[..written], out);
        bytes = &bytes[read..];
        if result == CoderResult::InputEmpty {
            return;
        }
    }
}

/// `Decoder::decode_to_utf8_without_replacement`: offset and length of the first error, whole or in chunks.
struct Strict {
    info: Info,
}

impl Decoder for Strict {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        let mut stream = StrictStream::new(UTF_8_KEEPING_BOM());
        Some(stream.feed(bytes, true, |_| ()))
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        Some(Box::new(StrictStream::new(UTF_8_KEEPING_BOM())))
    }
}

pub(super) struct StrictStream {
    decoder: encoding_rs::Decoder,
    consumed: usize,
    error: Option<Malformed>,
}

impl StrictStream {
    pub(super) fn new(decoder: encoding_rs::Decoder) -> Self {
        Self { decoder, consumed: 0, error: None }
    }

    /// Reads a chunk, which may be the last, writes its text, and returns the verdict so far.
    pub(super) fn feed(&mut self, mut bytes: &[u8], last: bool, mut write: impl FnMut(&[u8])) -> Validity {
        let mut buffer = [0; 128];
        while self.error.is_none() {
            let (result, read, written) = self.decoder.decode_to_utf8_without_replacement(bytes, &mut buffer, last);
            write(&buffer[..written]);
            self.consumed += read;
            bytes = &bytes[read..];
            match result {
                DecoderResult::InputEmpty => break,
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(len, after) => {
                    let (len, after) = (usize::from(len), usize::from(after));
                    self.error = Some(Malformed::at(self.consumed - len - after, ErrorLen::Bytes(len)));
                }
            }
        }
        self.error.map_or(Validity::Valid, Validity::Invalid)
    }
}

impl Stream for StrictStream {
    fn push(&mut self, chunk: &[u8], _out: &mut Vec<u8>) {
        self.feed(chunk, false, |_| ());
    }

    fn finish(&mut self, _out: &mut Vec<u8>) -> Option<Validity> {
        let verdict = self.feed(&[], true, |_| ());
        *self = Self::new(UTF_8_KEEPING_BOM());
        Some(verdict)
    }

    fn sendable(&mut self) -> Option<&mut (dyn Stream + Send + '_)> {
        Some(self)
    }
}

/// The kernels of simdutf8 by name, and the CPU features that each needs.
pub(super) const KERNELS: [(&str, &[&str]); 3] =
    [("simdutf8-avx2", &["avx2"]), ("simdutf8-avx2-chunked", &["avx2"]), ("simdutf8-sse42", &["sse4.2"])];

/// The decoders of simdutf8 that this machine can run.
pub(super) fn simdutf8() -> Vec<Box<dyn Decoder>> {
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
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code, reason = "kernels that need CPU features")]
mod x86 {
    use super::{Decoder, Functions, Validity, accepted, info};
    use crate::decoder::Stream;
    use simdutf8::basic::imp::x86::{avx2, sse42};
    use simdutf8::basic::imp::{ChunkedUtf8Validator, Utf8Validator};

    #[cfg(feature = "check")]
    /// What simdutf8's kernel for SSE4.2 answers, if this processor can run it.
    pub fn is_well_formed_by_sse42(bytes: &[u8]) -> Option<bool> {
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

/// The decoders of relatives of UTF-8.
pub(super) fn relatives() -> Vec<Box<dyn Decoder>> {
    let families = [simd_cesu8, cesu8, mutf8, java_string, wtf8];
    families.into_iter().flat_map(|family: fn() -> Vec<Box<dyn Decoder>>| family()).collect()
}

/// The contract of a decoder that returns either text or an error.
const fn refusing(grammar: &'static Grammar) -> Contract {
    Contract { grammar, end: End::Error, ..Contract::VALIDATOR }
}

/// The text, or the verdict of the error.
type Answer<'a> = Result<Cow<'a, [u8]>, Validity>;

/// A decoder that returns either text or an error.
struct Refusing {
    info: Info,
    decode: fn(&[u8]) -> Answer<'_>,
}

impl Decoder for Refusing {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        Some((self.decode)(bytes).map_or_else(|refusal| refusal, |_| Validity::Valid))
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        out.extend_from_slice(&(self.decode)(bytes).ok()?);
        Some(())
    }
}

/// The answer of a decoder whose errors carry no offset.
fn text<E>(answer: Result<Cow<'_, str>, E>) -> Result<Cow<'_, [u8]>, Validity> {
    match answer {
        Ok(Cow::Borrowed(text)) => Ok(Cow::Borrowed(text.as_bytes())),
        Ok(Cow::Owned(text)) => Ok(Cow::Owned(text.into_bytes())),
        Err(_) => Err(Validity::INVALID),
    }
}

/// simd_cesu8: both encodings, each strict, strict with replacement, and with the fast path for UTF-8.
///
/// Input that is valid UTF-8 as a whole (and, in the strict functions, needs no conversion) is accepted by simdutf8.
/// All other input, which includes every surrogate pair, goes through its own code.
fn simd_cesu8() -> Vec<Box<dyn Decoder>> {
    use simd_cesu8::mutf8;
    let info = |name: &'static str, contract| Info::new("simd_cesu8", "1.2.0").name(name).contract(contract);
    let strict = |name, grammar, decode| Box::new(Refusing { info: info(name, refusing(grammar)), decode });
    // One U+FFFD for each ill-formed byte.
    let replacement = Some(Replacement::ReplacementCharacter);
    let lossy = |name, grammar| {
        Functions::new(info(name, Contract { segmentation: Segmentation::Byte, replacement, ..refusing(grammar) }))
    };
    vec![
        strict("simd_cesu8-strict", &CESU8, |bytes| text(simd_cesu8::decode_strict(bytes))),
        lossy("simd_cesu8-lossy", &CESU8)
            .lossy(|bytes, out| append(&simd_cesu8::decode_lossy_strict(bytes), out))
            .boxed(),
        lossy("simd_cesu8", &CESU8)
            .validate(|bytes| accepted(simd_cesu8::decode(bytes).is_ok()))
            .lossy(|bytes, out| append(&simd_cesu8::decode_lossy(bytes), out))
            .boxed(),
        strict("simd_cesu8-mutf8-strict", &MODIFIED_UTF8, |bytes| text(mutf8::decode_strict(bytes))),
        lossy("simd_cesu8-mutf8-lossy", &MODIFIED_UTF8)
            .lossy(|bytes, out| append(&mutf8::decode_lossy_strict(bytes), out))
            .boxed(),
        lossy("simd_cesu8-mutf8", &MODIFIED_UTF8)
            .validate(|bytes| accepted(mutf8::decode(bytes).is_ok()))
            .lossy(|bytes, out| append(&mutf8::decode_lossy(bytes), out))
            .boxed(),
    ]
}

fn append(text: &str, out: &mut Vec<u8>) -> Option<()> {
    out.extend_from_slice(text.as_bytes());
    Some(())
}

/// cesu8: `from_cesu8` and `from_java_cesu8`; and residua-mutf8, which is a rewrite of it.
fn cesu8() -> Vec<Box<dyn Decoder>> {
    let info = Info::new("cesu8", "1.1.0").contract(refusing(&CESU8));
    let java = info.clone().name("cesu8-java").contract(refusing(&MODIFIED_UTF8));
    let residua = Info::new("residua-mutf8", "2.0.0").contract(refusing(&MODIFIED_UTF8)).lineage("cesu8");
    vec![
        Box::new(Refusing { info, decode: |bytes| text(cesu8::from_cesu8(bytes)) }),
        Box::new(Refusing { info: java, decode: |bytes| text(cesu8::from_java_cesu8(bytes)) }),
        Box::new(Refusing { info: residua, decode: |bytes| text(residua_mutf8::decode(bytes)) }),
    ]
}

/// mutf8: `mutf8_to_utf8`, which rejects only input that ends inside a sequence.
fn mutf8() -> Vec<Box<dyn Decoder>> {
    let info = Info::new("mutf8", "0.5.0").contract(refusing(&MODIFIED_UTF8));
    vec![Box::new(Refusing { info, decode: |bytes| mutf8_to_utf8(bytes).map_err(|_| Validity::INVALID) })]
}

/// java_string: `from_semi_utf8`, which is UTF-8 with surrogates, and `from_modified_utf8`.
///
/// The first is the validation of `core::str` with one range widened. The second tries the first without surrogates,
/// and then runs the loop of cesu8, modified to accept lone surrogates.
fn java_string() -> Vec<Box<dyn Decoder>> {
    fn bytes(answer: Result<Cow<'_, JavaStr>, Utf8Error>) -> Result<Cow<'_, [u8]>, Validity> {
        match answer {
            Ok(Cow::Borrowed(text)) => Ok(Cow::Borrowed(text.as_bytes())),
            Ok(Cow::Owned(text)) => Ok(Cow::Owned(text.into_bytes())),
            Err(error) => Err(invalid(error.valid_up_to(), error.error_len())),
        }
    }
    let info = |grammar| Info::new("java_string", "0.1.3").contract(Contract { grammar, ..Contract::VALIDATOR });
    let semi = info(&RFC3629_WITH_SURROGATES).name("java_string-semi").lineage("core::str");
    let modified = info(&MODIFIED_UTF8).lineage("cesu8");
    vec![
        Box::new(Refusing { info: semi, decode: |input| bytes(JavaStr::from_semi_utf8(input).map(Cow::Borrowed)) }),
        Box::new(Refusing { info: modified, decode: |input| bytes(JavaStr::from_modified_utf8(input)) }),
    ]
}

/// wtf8: a buffer that joins adjacent surrogates, so that pushing the code points of CESU-8 one by one gives its text.
///
/// It does not read bytes: java_string decodes them, and accepts some that CESU-8 rejects.
fn wtf8() -> Vec<Box<dyn Decoder>> {
    let joining = Functions::new(Info::new("wtf8", "0.1.0").contract(refusing(&CESU8))).lossy(|bytes, out| {
        let apart = JavaStr::from_semi_utf8(bytes).ok()?;
        let mut joined = Wtf8Buf::with_capacity(bytes.len());
        apart.chars().filter_map(|half| CodePoint::from_u32(half.as_u32())).for_each(|half| joined.push(half));
        joined.code_points().for_each(|code_point| push_extended(code_point.to_u32(), out));
        Some(())
    });
    vec![joining.boxed()]
}
