//! simd_cesu8: CESU-8 and Modified UTF-8, each strict, strict with replacement, and through the shortcut for UTF-8.
//!
//! Text that is UTF-8 as a whole, and in the strict ones needs no conversion, is accepted by simdutf8; whatever is refused,
//! and every pair, goes through code of its own.

use crate::decoder::{Decoder, Info};
use crate::peers::text::{STRICT, Text};
use crate::spec::grammar::{CESU8, Grammar, MODIFIED_UTF8};
use crate::spec::{Contract, Replacement, UnitRule};
use crate::utf8::Validity;
use simd_cesu8::mutf8;
use std::borrow::Cow;

fn info(name: &'static str, contract: Contract) -> Info {
    Info::new("simd_cesu8", "1.2.0").name(name).contract(contract)
}

/// Three decoders of each encoding.
pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    let strict = |name, grammar| info(name, Contract { grammar, ..STRICT });
    vec![
        Box::new(Text {
            info: strict("simd_cesu8-strict", &CESU8),
            decode: |bytes| simd_cesu8::decode_strict(bytes).ok(),
        }),
        Box::new(Lossy {
            info: lossy("simd_cesu8-lossy", &CESU8),
            accepts: None,
            decode: simd_cesu8::decode_lossy_strict,
        }),
        Box::new(Lossy {
            info: lossy("simd_cesu8", &CESU8),
            accepts: Some(|bytes| simd_cesu8::decode(bytes).is_ok()),
            decode: simd_cesu8::decode_lossy,
        }),
        Box::new(Text {
            info: strict("simd_cesu8-mutf8-strict", &MODIFIED_UTF8),
            decode: |bytes| mutf8::decode_strict(bytes).ok(),
        }),
        Box::new(Lossy {
            info: lossy("simd_cesu8-mutf8-lossy", &MODIFIED_UTF8),
            accepts: None,
            decode: mutf8::decode_lossy_strict,
        }),
        Box::new(Lossy {
            info: lossy("simd_cesu8-mutf8", &MODIFIED_UTF8),
            accepts: Some(|bytes| mutf8::decode(bytes).is_ok()),
            decode: mutf8::decode_lossy,
        }),
    ]
}

/// One U+FFFD for each byte of what is ill-formed.
fn lossy(name: &'static str, grammar: &'static Grammar) -> Info {
    let replacement = Some(Replacement::ReplacementCharacter);
    info(name, Contract { grammar, unit: UnitRule::Byte, replacement, ..STRICT })
}

struct Lossy {
    info: Info,
    accepts: Option<fn(&[u8]) -> bool>,
    decode: fn(&[u8]) -> Cow<'_, str>,
}

impl Decoder for Lossy {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        Some(if (self.accepts?)(bytes) { Validity::Valid } else { Validity::INVALID })
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        out.extend_from_slice((self.decode)(bytes).as_bytes());
        Some(())
    }
}
