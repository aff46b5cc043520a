//! `core::str::from_utf8`, and `<[u8]>::utf8_chunks`, on which `String::from_utf8_lossy` is built.

use crate::decoder::{Decoder, Info};
use crate::peers::adapter::Functions;
use crate::utf8::REPLACEMENT;

pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    // `core` does not expose its version; this is the compiler's.
    let info = Info::new("std", env!("UTFUZZ_CORE_VERSION")).package("core").lineage("core::str");
    let std =
        Functions::new(info).validate(|bytes| core::str::from_utf8(bytes).map(drop).into()).lossy(|bytes, out| {
            for chunk in bytes.utf8_chunks() {
                out.extend_from_slice(chunk.valid().as_bytes());
                if !chunk.invalid().is_empty() {
                    out.extend_from_slice(REPLACEMENT);
                }
            }
            Some(())
        });
    vec![std.boxed()]
}
