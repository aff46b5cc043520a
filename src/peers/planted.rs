//! Decoders with exactly one fault each, to show that the harness sees it.

use crate::decode::{Streaming, lossy_into, validate};
use crate::decoder::{Decoder, Info, Stream};
use crate::spec::Contract;
use crate::utf8::{ErrorLen, Malformed, Validity};

/// The planted decoders.
pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    vec![Box::new(SurrogatesAccepted)]
}

/// Accepts surrogates in `validate`, as many decoders did before RFC 3629 (jackson-core#363, Lua 5.3, CPython 2.7).
struct SurrogatesAccepted;

static INFO: Info = Info {
    name: "planted-surrogates",
    version: "0.0.0",
    package: "planted",
    contract: Contract::STANDARD,
    lineage: |_| "planted-surrogates",
};

impl Decoder for SurrogatesAccepted {
    fn info(&self) -> &Info {
        &INFO
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        let mut start = 0;
        loop {
            let Err(error) = validate(&bytes[start..]) else { return Some(Validity::Valid) };
            let at = start + error.valid_up_to();
            match bytes[at..] {
                [0xED, 0xA0..=0xBF, 0x80..=0xBF, ..] => start = at + 3,
                _ => return Some(Malformed::at(at, ErrorLen::from_error_len(error.error_len())).into()),
            }
        }
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        lossy_into(bytes, out);
        Some(())
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        Some(Box::new(Streaming::new()))
    }
}
