//! Asking a decoder: about some inputs at once, and held to another contract than it claims.

use crate::decoder::{Batched, Decoder, Info, Promise, Stream};
use crate::judge::isolate::panics;
use crate::probe::contracts::Answer;
use crate::spec::Contract;
use crate::utf8::{Malformed, Validity};

/// Asks a decoder about some inputs, all at once if it can be asked so. A decoder that panics gives no answer.
pub fn ask(decoder: &dyn Decoder, inputs: &[&[u8]]) -> Vec<Answer> {
    let one = |decoder: &dyn Decoder, bytes: &[u8]| {
        let mut answer = Answer::default();
        let panicked = panics(&decoder.info().name, bytes, || {
            let mut output = Vec::new();
            answer.verdict = decoder.validate(bytes);
            answer.output = decoder.decode_lossy(bytes, &mut output).map(|()| output);
        });
        Answer { panicked, ..answer }
    };
    if let Some(batched) = decoder.batched() {
        inputs.iter().for_each(|bytes| drop(one(batched.planner(), bytes)));
        batched.ask_planned();
    }
    inputs.iter().map(|bytes| one(decoder, bytes)).collect()
}

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
