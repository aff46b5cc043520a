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

const INFO: Info = Info {
    name: "java_string-semi",
    version: "0.1.3",
    package: "java_string",
    contract: Contract { grammar: &WITH_SURROGATES, ..Contract::VALIDATOR },
    lineage: |_| "core::str",
};

pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    let modified = Contract { grammar: &MODIFIED_UTF8, ..Contract::VALIDATOR };
    vec![
        Box::new(Java { info: INFO, decode: |bytes| JavaStr::from_semi_utf8(bytes).map(Cow::Borrowed) }),
        Box::new(Java {
            info: Info { name: "java_string", contract: modified, lineage: |_| "cesu8", ..INFO },
            decode: JavaStr::from_modified_utf8,
        }),
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
