//! A decoder, held to another contract than it claims.

use crate::decoder::{Batched, Decoder, Info, Promise, Stream};
use crate::spec::Contract;
use crate::utf8::{Malformed, Validity};

/// A decoder, held to another contract than it claims.
pub struct Held<'d> {
    decoder: &'d dyn Decoder,
    info: Info,
    /// Whether the offsets that it states are those of this crate. If not, they are left out.
    has_offsets: bool,
}

impl<'d> Held<'d> {
    /// The decoder, held to this contract. With `has_offsets`, its offsets are compared too.
    pub fn to(contract: Contract, decoder: &'d dyn Decoder, has_offsets: bool) -> Self {
        let info = Info { contract, promise: Promise::Everything, ..decoder.info().clone() };
        Self { decoder, info, has_offsets }
    }
}

fn without_offsets(verdict: Validity) -> Validity {
    match verdict {
        Validity::Valid => Validity::Valid,
        Validity::Invalid(_) => Validity::Invalid(Malformed { valid_up_to: None, len: None, kind: None }),
    }
}

impl Decoder for Held<'_> {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        let verdict = self.decoder.validate(bytes);
        if self.has_offsets { verdict } else { verdict.map(without_offsets) }
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        self.decoder.decode_lossy(bytes, out)
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        let stream = self.decoder.stream()?;
        Some(if self.has_offsets { stream } else { Box::new(WithoutOffsets(stream)) })
    }

    fn batched(&self) -> Option<&dyn Batched> {
        self.decoder.batched()
    }
}

struct WithoutOffsets<'s>(Box<dyn Stream + 's>);

impl Stream for WithoutOffsets<'_> {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        self.0.push(chunk, out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        self.0.finish(out).map(without_offsets)
    }

    fn is_answered(&self) -> bool {
        self.0.is_answered()
    }
}
