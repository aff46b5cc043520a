//! Decoders with exactly one fault each, to show that the harness sees it.
//!
//! Every fault was found in a real decoder. What it does not touch is our decoder, or for a grammar ours does not read,
//! the standard as `spec` has it.

mod block;
mod buffer;
mod grammar;
mod late;
mod memory;
mod register;
mod relatives;
mod resync;
mod scalar;
mod stream;

use crate::codec;
use crate::decoder::{Decoder, Info, Stream};
use crate::peers::own::validity;
use crate::spec::Contract;
use crate::utf8::Validity;

/// The planted decoders.
pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    let decoder = |planted: &'static Planted| {
        let info = Info::new("planted", "0.0.0").contract(planted.contract);
        Decoding { info: info.name(planted.name()).lineage(planted.name()), planted }
    };
    planted().map(|planted| Box::new(decoder(planted)) as Box<dyn Decoder>).collect()
}

/// What is planted: the name of each decoder, as in its [`Info`], and its fault.
pub fn rows() -> impl Iterator<Item = (String, &'static Row)> {
    planted().map(|planted| (planted.name(), &planted.row))
}

fn planted() -> impl Iterator<Item = &'static Planted> {
    let families = [
        grammar::FAULTS,
        block::FAULTS,
        register::FAULTS,
        buffer::FAULTS,
        resync::FAULTS,
        stream::FAULTS,
        late::FAULTS,
        memory::FAULTS,
        relatives::FAULTS,
    ];
    families.into_iter().flatten()
}

/// A fault and where it was reported.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// A letter for the class (g: grammar, s: blocks and buffers, r: replacement, t: streams, m: memory, x: relatives
    /// of UTF-8) and a number.
    pub id: &'static str,
    /// What the decoder does wrong.
    pub fault: &'static str,
    /// The decoders that had it.
    pub citation: &'static str,
    /// The signatures it implies, without the decoder: `law/subject/shape`, `*` for any characters.
    ///
    /// They follow from the fault, not from what the harness makes of it. The shape is given where the fault is about
    /// position. Of the laws that a fault breaks together these are the strongest.
    pub signs: &'static [&'static str],
}

/// Our decoder, with one answer replaced.
#[derive(Clone, Copy)]
struct Planted {
    row: Row,
    /// Where it is not "planted-" and the id.
    name: Option<&'static str>,
    contract: Contract,
    validate: fn(&[u8]) -> Option<Validity>,
    lossy: fn(&[u8], &mut Vec<u8>),
    stream: fn() -> Option<Box<dyn Stream>>,
}

/// A decoder that has no fault yet: `Planted { lossy: ..., ..sound(...) }`. The arguments are the fields of [`Row`].
const fn sound(
    id: &'static str,
    fault: &'static str,
    citation: &'static str,
    signs: &'static [&'static str],
) -> Planted {
    Planted {
        row: Row { id, fault, citation, signs },
        name: None,
        contract: Contract::STANDARD,
        validate,
        lossy: codec::lossy_into,
        stream,
    }
}

impl Planted {
    /// The same under another contract.
    const fn under(self, contract: Contract) -> Self {
        Self { contract, ..self }
    }

    fn name(&self) -> String {
        self.name.map_or_else(|| format!("planted-{}", self.row.id), str::to_owned)
    }
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

fn validate(bytes: &[u8]) -> Option<Validity> {
    Some(validity(codec::validate(bytes)))
}

fn stream() -> Option<Box<dyn Stream>> {
    Some(Box::new(codec::Streaming::new()))
}

/// The first error that `forgiven` does not pass over. It is given the input and the offset of an error, and answers
/// how many bytes to go on behind.
fn forgiving(bytes: &[u8], forgiven: fn(&[u8], usize) -> Option<usize>) -> Option<Validity> {
    let mut start = 0;
    while let Some(error) = codec::errors(bytes.get(start..)?).next() {
        let at = start + error.valid_up_to();
        match forgiven(bytes, at) {
            Some(len) => start = at + len.max(1),
            None => {
                let len = crate::utf8::ErrorLen::from_error_len(error.error_len());
                return Some(crate::utf8::Malformed::at(at, len).into());
            }
        }
    }
    Some(Validity::Valid)
}

/// The verdict of `accepts`, with the particulars our decoder gives.
fn decided(bytes: &[u8], accepts: bool) -> Option<Validity> {
    let exact = validity(codec::validate(bytes));
    Some(match (accepts, exact) {
        (true, _) => Validity::Valid,
        (false, Validity::Valid) => Validity::INVALID,
        (false, invalid) => invalid,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::classes::strings::Block;

    /// Short strings at every offset, and longer ones across an edge, are accepted as by the standard.
    pub(super) fn assert_sound(accepts: fn(&[u8]) -> bool) {
        let blocks = (1..=3).flat_map(|len| (0..=130).map(move |offset| Block { len, offset }));
        let mut bytes = Vec::new();
        for block in blocks.chain([Block { len: 4, offset: 13 }]) {
            for index in 0..block.count() {
                block.write(index, &mut bytes);
                let valid = core::str::from_utf8(&bytes).is_ok();
                assert_eq!(accepts(&bytes), valid, "{}: {:02X?}", block.offset, &bytes[block.offset..]);
            }
        }
    }

    #[test]
    fn rows_are_complete_and_ids_unique() {
        let mut ids: Vec<_> = rows().map(|(_, row)| row.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), family().len());
        for (name, row) in rows() {
            assert!(name == format!("planted-{}", row.id) || name == "planted-surrogates", "{name}");
            assert!(!row.fault.is_empty() && !row.citation.is_empty(), "{name}");
            assert!(!row.signs.is_empty(), "{name}");
            for sign in row.signs {
                let parts: Vec<_> = sign.split('/').collect();
                assert!(parts.len() == 3 && parts.iter().all(|part| !part.is_empty()), "{name}: {sign}");
            }
        }
    }
}
