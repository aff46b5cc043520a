//! `core::str` and `<[u8]>::utf8_chunks`, on which `String::from_utf8_lossy` is built.

use crate::decoder::{Decoder, Info};
use crate::spec::Contract;
use crate::utf8::{REPLACEMENT, Validity};

pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    vec![Box::new(CoreStr)]
}

struct CoreStr;

static INFO: Info = Info {
    name: "std",
    version: env!("UTFUZZ_CORE_VERSION"), // the compiler's: `core` has no version of its own that code can read
    package: "core",
    contract: Contract::STANDARD,
    lineage: |_| "core::str",
};

impl Decoder for CoreStr {
    fn info(&self) -> &Info {
        &INFO
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        Some(core::str::from_utf8(bytes).map(drop).into())
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        for chunk in bytes.utf8_chunks() {
            out.extend_from_slice(chunk.valid().as_bytes());
            if !chunk.invalid().is_empty() {
                out.extend_from_slice(REPLACEMENT);
            }
        }
        Some(())
    }
}
