//! Decoders with exactly one fault each, to show that the harness finds it. Feature `planted`.
//!
//! Every fault occurred in a real decoder, except for those marked as invented, or as of the family of a real one.
//! Apart from the fault, each answers as our decoder does or, for relatives of UTF-8, as `spec` does.

mod blocks;
mod fault;
mod grammar;
mod hard;
mod resync;
mod streams;

pub use fault::Row;

use crate::decoder::{Decoder, Info, Stream};
use crate::utf8::Validity;
use fault::Planted;

/// The planted decoders.
pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    let decoder = |planted: &'static Planted| {
        let info = Info::new("planted", "0.0.0").contract(planted.contract);
        Decoding { info: info.name(planted.name()).lineage(planted.name()), planted }
    };
    planted().map(|planted| Box::new(decoder(planted)) as Box<dyn Decoder>).collect()
}

/// The name of each planted decoder, as in its [`Info`], and its fault.
pub fn rows() -> impl Iterator<Item = (String, &'static Row)> {
    planted().map(|planted| (planted.name(), &planted.row))
}

fn planted() -> impl Iterator<Item = &'static Planted> {
    let families = [
        grammar::FAULTS,
        blocks::BLOCKS,
        blocks::REGISTERS,
        blocks::BUFFERS,
        resync::FAULTS,
        streams::STREAMS,
        streams::WAITING,
        blocks::MEMORY,
        grammar::RELATIVES,
        hard::STREAMS,
        hard::ADDRESSES,
        blocks::SIZES,
        hard::LITERALS,
        hard::NEIGHBOURS,
        hard::HISTORIES,
    ];
    families.into_iter().flatten()
}

struct Decoding {
    info: Info,
    planted: &'static Planted,
}

impl Decoder for Decoding {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        (self.planted.validate)(bytes)
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        (self.planted.lossy)(bytes, out);
        Some(())
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        (self.planted.stream)()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_complete_and_ids_unique() {
        let mut ids: Vec<_> = rows().map(|(_, row)| row.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), family().len());
        for (name, row) in rows() {
            assert!(name == format!("planted-{}", row.id) || name == "planted-surrogates", "{name}");
            assert!(!row.fault.is_empty() && !row.citation.is_empty(), "{name}");
            assert!(!row.expected_signatures.is_empty(), "{name}");
            for expected in row.expected_signatures {
                let parts: Vec<_> = expected.split('/').collect();
                assert!(parts.len() == 3 && parts.iter().all(|part| !part.is_empty()), "{name}: {expected}");
            }
        }
    }
}
