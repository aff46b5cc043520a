//! Decoders for tests, written against the public trait: one with answers replaced, and one made of the standard.
#![allow(dead_code, reason = "not every test uses all of it")]

use utfuzz::codec::Streaming;
use utfuzz::probe::answer;
use utfuzz::spec::Contract;
use utfuzz::utf8::Validity;
use utfuzz::{Decoder, Info, Stream, codec};

/// Our own decoder, with any of its answers replaced.
pub(crate) struct Faulty {
    pub(crate) info: Info,
    pub(crate) validate: fn(&[u8]) -> Option<Validity>,
    pub(crate) lossy: fn(&[u8]) -> Option<Vec<u8>>,
    pub(crate) stream: fn() -> Option<Box<dyn Stream>>,
}

impl Default for Faulty {
    fn default() -> Self {
        let info = Info::new("faulty", "0");
        Self { info, validate: |bytes| Some(verdict(bytes)), lossy: |bytes| Some(lossy(bytes)), stream: || None }
    }
}

impl Decoder for Faulty {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        (self.validate)(bytes)
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        (self.lossy)(bytes).map(|text| out.extend(text))
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        (self.stream)()
    }
}

/// A decoder with this contract, made of the standard itself.
pub(crate) struct Honest(pub(crate) Info);

impl Honest {
    pub(crate) fn new(contract: Contract) -> Self {
        Self(Info::new("honest", "0").contract(contract))
    }
}

impl Decoder for Honest {
    fn info(&self) -> &Info {
        &self.0
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        answer(&self.0.contract, bytes).verdict
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        out.extend(answer(&self.0.contract, bytes).output?);
        Some(())
    }
}

pub(crate) fn verdict(bytes: &[u8]) -> Validity {
    std::str::from_utf8(bytes).map(drop).into()
}

pub(crate) fn lossy(bytes: &[u8]) -> Vec<u8> {
    codec::from_utf8_lossy(bytes).into_owned().into_bytes()
}

/// A stream with a fault in `push` or in `finish`.
pub(crate) struct Leaky {
    pub(crate) inner: Streaming,
    pub(crate) push: fn(&mut Streaming, &[u8], &mut Vec<u8>),
    pub(crate) finish: fn(&mut Streaming, &mut Vec<u8>),
}

impl Stream for Leaky {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        (self.push)(&mut self.inner, chunk, out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        (self.finish)(&mut self.inner, out);
        None
    }
}

pub(crate) fn finish(stream: &mut Streaming, out: &mut Vec<u8>) {
    let _ = stream.finish(out);
}
