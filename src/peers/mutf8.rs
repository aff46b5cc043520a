//! mutf8: `mutf8_to_utf8`, which fails only where the input ends too soon.
//!
//! It converts what it takes for Modified UTF-8 and is held to that; that it validates nothing is in the ledger.

use crate::decoder::{Decoder, Info};
use crate::peers::text::STRICT;
use crate::spec::Contract;
use crate::spec::grammar::MODIFIED_UTF8;
use crate::utf8::Validity;
use mutf8::mutf8_to_utf8;

pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    vec![Box::new(Mutf8)]
}

struct Mutf8;

static INFO: Info = Info::new("mutf8", "0.5.0").contract(Contract { grammar: &MODIFIED_UTF8, ..STRICT });

impl Decoder for Mutf8 {
    fn info(&self) -> &Info {
        &INFO
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        Some(mutf8_to_utf8(bytes).map_or(Validity::INVALID, |_| Validity::Valid))
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        out.extend_from_slice(&mutf8_to_utf8(bytes).ok()?);
        Some(())
    }
}
