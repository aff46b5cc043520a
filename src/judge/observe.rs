//! What a decoder answers: every question of a case put to it, and the answers kept as they are.

use crate::decoder::{Decoder, Stream};
use crate::input::Case;
use crate::utf8::{ErrorLen, Malformed, Validity};

/// The answers of one decoder to one case. The buffers are kept from case to case.
#[derive(Default)]
pub(super) struct Observation {
    /// The verdict on the input.
    pub(super) validity: Option<Validity>,
    /// The output, where there is one.
    pub(super) lossy: Option<()>,
    pub(super) lossy_bytes: Vec<u8>,
    /// Every error, found by going on behind each; `None` for a decoder that does not state offset and length.
    pub(super) errors: Option<()>,
    pub(super) error_list: Vec<Malformed>,
    /// The input in chunks.
    pub(super) streamed: Option<Streamed>,
    pub(super) streamed_bytes: Vec<u8>,
    /// The input in one chunk, on the stream that has just been finished.
    pub(super) again: Option<Streamed>,
    pub(super) again_bytes: Vec<u8>,
    /// The verdict on the input behind an ASCII prefix.
    pub(super) prefixed: Option<Validity>,
    prefixed_bytes: Vec<u8>,
    /// The verdicts on the input before and after the first cut, where the input as a whole was rejected.
    pub(super) halves: Option<(Validity, Validity)>,
}

/// What a finished stream said.
#[derive(Clone, Copy)]
pub(super) struct Streamed {
    pub(super) validity: Option<Validity>,
}

impl Observation {
    /// Puts every question of the case to the decoder.
    pub(super) fn observe<'s>(
        &mut self,
        decoder: &dyn Decoder,
        stream: Option<&mut (dyn Stream + 's)>,
        case: &Case<'_>,
    ) {
        let bytes = case.bytes;
        self.validity = decoder.validate(bytes);
        self.lossy_bytes.clear();
        self.lossy = decoder.decode_lossy(bytes, &mut self.lossy_bytes);
        self.observe_errors(decoder, bytes);
        self.observe_stream(stream, case);
        self.observe_prefix(decoder, case);
        self.halves = match (self.validity, case.cuts.offsets().first()) {
            (Some(Validity::Invalid(_)), Some(&cut)) if cut > 0 && cut < bytes.len() => {
                decoder.validate(&bytes[..cut]).zip(decoder.validate(&bytes[cut..]))
            }
            _ => None,
        };
    }

    fn observe_errors(&mut self, decoder: &dyn Decoder, bytes: &[u8]) {
        self.error_list.clear();
        self.errors = None;
        let mut start = 0;
        let mut verdict = self.validity;
        while let Some(Validity::Invalid(malformed)) = verdict {
            let (Some(offset), Some(len)) = (malformed.valid_up_to, malformed.len) else { return };
            let offset = start + offset;
            self.error_list.push(Malformed { valid_up_to: Some(offset), ..malformed });
            match len {
                ErrorLen::Bytes(len) if len > 0 && offset + len <= bytes.len() => start = offset + len,
                _ => break,
            }
            verdict = decoder.validate(&bytes[start..]);
        }
        self.errors = verdict.map(|_| ());
    }

    fn observe_stream<'s>(&mut self, stream: Option<&mut (dyn Stream + 's)>, case: &Case<'_>) {
        self.streamed = None;
        self.again = None;
        self.streamed_bytes.clear();
        self.again_bytes.clear();
        let Some(stream) = stream else { return };
        for chunk in case.cuts.chunks(case.bytes) {
            stream.push(chunk, &mut self.streamed_bytes);
        }
        self.streamed = Some(Streamed { validity: stream.finish(&mut self.streamed_bytes) });
        stream.push(case.bytes, &mut self.again_bytes);
        self.again = Some(Streamed { validity: stream.finish(&mut self.again_bytes) });
    }

    fn observe_prefix(&mut self, decoder: &dyn Decoder, case: &Case<'_>) {
        self.prefixed_bytes.clear();
        self.prefixed_bytes.resize(case.prefix, b'a');
        self.prefixed_bytes.extend_from_slice(case.bytes);
        self.prefixed = decoder.validate(&self.prefixed_bytes);
    }
}
