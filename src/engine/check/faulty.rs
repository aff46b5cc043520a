//! Decoders with a fault, for the tests of the engines.

use crate::decoder::{Decoder, Info, Stream};
use crate::spec;
use crate::spec::Contract;
use crate::utf8::Validity;

/// Right in everything but what its functions spoil.
pub(super) struct Faulty {
    pub(super) info: Info,
    /// What becomes of a verdict.
    pub(super) verdict: fn(&[u8], Validity) -> Validity,
    /// What becomes of an output.
    pub(super) output: fn(&[u8], &mut Vec<u8>),
    /// What becomes of what a stream has been given, knowing the lengths of the chunks.
    pub(super) streamed: fn(&[usize], &mut Vec<u8>),
}

/// One that is right throughout.
pub(super) const RIGHT: Faulty = Faulty {
    info: Info::new("faulty", "1.0.0").lineage_by_length(|len| if len < 64 { "short" } else { "long" }),
    verdict: |_, verdict| verdict,
    output: |_, _| {},
    streamed: |_, _| {},
};

impl Decoder for Faulty {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        Some((self.verdict)(bytes, spec::validity(&Contract::STANDARD, bytes)))
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let mut output = Vec::new();
        spec::lossy(&Contract::STANDARD, bytes, &mut output);
        (self.output)(bytes, &mut output);
        out.extend(output);
        Some(())
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        Some(Box::new(Collecting { spoil: self.streamed, chunks: Vec::new(), bytes: Vec::new() }))
    }
}

/// Keeps everything until the end.
struct Collecting {
    spoil: fn(&[usize], &mut Vec<u8>),
    chunks: Vec<usize>,
    bytes: Vec<u8>,
}

impl Stream for Collecting {
    fn push(&mut self, chunk: &[u8], _: &mut Vec<u8>) {
        self.chunks.push(chunk.len());
        self.bytes.extend_from_slice(chunk);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        let mut bytes = std::mem::take(&mut self.bytes);
        (self.spoil)(&std::mem::take(&mut self.chunks), &mut bytes);
        spec::lossy(&Contract::STANDARD, &bytes, out);
        Some(spec::validity(&Contract::STANDARD, &bytes))
    }
}
