//! `core::str` and `<[u8]>::utf8_chunks`, on which `String::from_utf8_lossy` is built.

use crate::decoder::{Decoder, Info};
use crate::utf8::{REPLACEMENT, Validity};

pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    // `core` has no version of its own that code can read; this is the compiler's.
    let info = Info::new("std", env!("UTFUZZ_CORE_VERSION")).package("core").lineage("core::str");
    vec![Box::new(CoreStr { info })]
}

struct CoreStr {
    info: Info,
}

impl Decoder for CoreStr {
    fn info(&self) -> &Info {
        &self.info
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
