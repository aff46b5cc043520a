//! utf8-decode: `try_decode_char`.
//!
//! It promises UTF-8 and is held to that; what it really does is in the ledger.

use crate::decoder::{Decoder, Info};
use crate::spec::{Contract, End};
use crate::utf8::{ErrorLen, Malformed, REPLACEMENT, Validity};
use utf8_decode::try_decode_char;

pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    vec![Box::new(Utf8Decode)]
}

struct Utf8Decode;

static INFO: Info = Info::new("utf8-decode", "2.0.0").contract(Contract { end: End::Error, ..Contract::STANDARD });

impl Decoder for Utf8Decode {
    fn info(&self) -> &Info {
        &INFO
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        let mut at = 0;
        loop {
            match try_decode_char(bytes, &mut at) {
                Ok(None) => return Some(Validity::Valid),
                Ok(Some(_)) => {}
                Err(error) => return Some(Malformed::at(error.offset, ErrorLen::Bytes(error.len)).into()),
            }
        }
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let mut at = 0;
        loop {
            match try_decode_char(bytes, &mut at) {
                Ok(None) => return Some(()),
                Ok(Some((scalar, _))) => out.extend_from_slice(scalar.encode_utf8(&mut [0; 4]).as_bytes()),
                Err(_) => out.extend_from_slice(REPLACEMENT),
            }
        }
    }
}
