//! Crates for CESU-8, Modified UTF-8 and UTF-8 with surrogates: simd_cesu8, cesu8, residua-mutf8, mutf8, java_string,
//! wtf8.
//!
//! Several accept more than their encoding: input that is valid UTF-8 as a whole (cesu8, residua-mutf8, simd_cesu8), or
//! any bytes (mutf8). They are held to their encodings, and their differences are in the ledger.
#![cfg(feature = "peers")]

use crate::decoder::{Decoder, Info};
use crate::peers::adapter::{Functions, accepted, invalid};
use crate::spec::grammar::{CESU8, Grammar, MODIFIED_UTF8, RFC3629_WITH_SURROGATES};
use crate::spec::{Contract, End, Replacement, Segmentation};
use crate::utf8::Validity;
use crate::utf8::push_extended;
use java_string::{JavaStr, Utf8Error};
use mutf8::mutf8_to_utf8;
use std::borrow::Cow;
use wtf8::{CodePoint, Wtf8Buf};

pub(super) fn family() -> Vec<Box<dyn Decoder>> {
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
