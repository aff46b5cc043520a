//! java_string: `from_semi_utf8`, which is UTF-8 with surrogates, and `from_modified_utf8`.
//!
//! The first is the validation of `core::str` with one range widened, the second the loop of cesu8 with lone surrogates let
//! through, behind the first with surrogates refused.

use crate::decoder::{Decoder, Info};
use crate::spec::Contract;
use crate::spec::grammar::{MODIFIED_UTF8, WITH_SURROGATES};
use crate::utf8::{ErrorLen, Malformed, Validity};
use java_string::{JavaStr, Utf8Error};
use std::borrow::Cow;

pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    let info = |grammar| Info::new("java_string", "0.1.3").contract(Contract { grammar, ..Contract::VALIDATOR });
    let semi = info(&WITH_SURROGATES).name("java_string-semi").lineage("core::str");
    let modified = info(&MODIFIED_UTF8).lineage("cesu8");
    vec![
        Box::new(Java { info: semi, decode: |bytes| JavaStr::from_semi_utf8(bytes).map(Cow::Borrowed) }),
        Box::new(Java { info: modified, decode: JavaStr::from_modified_utf8 }),
    ]
}

struct Java {
    info: Info,
    decode: fn(&[u8]) -> Result<Cow<'_, JavaStr>, Utf8Error>,
}

impl Decoder for Java {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        Some(match (self.decode)(bytes) {
            Ok(_) => Validity::Valid,
            Err(error) => Malformed::at(error.valid_up_to(), ErrorLen::from_error_len(error.error_len())).into(),
        })
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        out.extend_from_slice((self.decode)(bytes).ok()?.as_bytes());
        Some(())
    }
}
