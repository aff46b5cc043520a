//! encoding_rs, the decoder of Firefox, through four of its entry points: `decode_to_string` with the byte order mark
//! kept and stripped, `decode_to_utf16`, and `decode_to_utf8_without_replacement`.
//!
//! It validates inputs of 64 bytes or more with simdutf8, so it is not an independent implementation for those.
#![cfg(feature = "peers")]

use crate::decoder::{Decoder, Info, Stream};
use crate::peers::adapter::{append_text, invalid_at, push_utf16};
use crate::spec::{Bom, Contract, Detection, End};
use crate::utf8::{ErrorLen, Malformed, Validity};
use encoding_rs::{CoderResult, DecoderResult, Encoding, UTF_8};

pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    let keep = Contract { detection: Detection::Earliest, ..Contract::STANDARD };
    let strip = Contract { bom: Bom::Strip, ..keep };
    let strict = Contract { end: End::Error, ..Contract::VALIDATOR };
    let info = |name, contract| {
        let info = Info::new("encoding_rs", "0.8.44").name(name).contract(contract);
        info.lineage_by_length(|len| if len < 64 { "encoding_rs" } else { "simdutf8" })
    };
    let keeping = Coding { validate: Some(valid_up_to), start: UTF_8_KEEPING_BOM, decode: to_utf8 };
    let stripping = Coding { start: UTF_8_STRIPPING_BOM, ..keeping };
    let utf16 = Coding { validate: None, decode: to_utf16, ..keeping };
    vec![
        Box::new(Lossy { info: info("encoding_rs", keep), coding: keeping }),
        Box::new(Lossy { info: info("encoding_rs-bom", strip), coding: stripping }),
        Box::new(Lossy { info: info("encoding_rs-utf16", keep), coding: utf16 }),
        Box::new(Strict { info: info("encoding_rs-strict", strict) }),
    ]
}

type Start = fn() -> encoding_rs::Decoder;
const UTF_8_KEEPING_BOM: Start = || UTF_8.new_decoder_without_bom_handling();
const UTF_8_STRIPPING_BOM: Start = || UTF_8.new_decoder_with_bom_removal();

/// An entry point that replaces ill-formed sequences.
#[derive(Clone, Copy)]
struct Coding {
    validate: Option<fn(&[u8]) -> Validity>,
    start: Start,
    /// Decodes a chunk, which may be the last, and appends the text.
    decode: fn(&mut encoding_rs::Decoder, &[u8], bool, &mut Vec<u8>),
}

struct Lossy {
    info: Info,
    coding: Coding,
}

impl Decoder for Lossy {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        self.coding.validate.map(|validate| validate(bytes))
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        (self.coding.decode)(&mut (self.coding.start)(), bytes, true, out);
        Some(())
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        Some(Box::new(LossyStream { coding: self.coding, decoder: (self.coding.start)() }))
    }
}

struct LossyStream {
    coding: Coding,
    decoder: encoding_rs::Decoder,
}

impl Stream for LossyStream {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        (self.coding.decode)(&mut self.decoder, chunk, false, out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        (self.coding.decode)(&mut self.decoder, &[], true, out);
        self.decoder = (self.coding.start)();
        None
    }

    fn sendable(&mut self) -> Option<&mut (dyn Stream + Send + '_)> {
        Some(self)
    }
}

fn valid_up_to(bytes: &[u8]) -> Validity {
    let valid_up_to = Encoding::utf8_valid_up_to(bytes);
    if valid_up_to == bytes.len() { Validity::Valid } else { invalid_at(valid_up_to) }
}

pub(super) fn to_utf8(decoder: &mut encoding_rs::Decoder, mut bytes: &[u8], last: bool, out: &mut Vec<u8>) {
    append_text(out, |text| {
        loop {
            // Each byte becomes at most three bytes; the six are for pending ones.
            text.reserve(bytes.len() * 3 + 6);
            let (result, read, _) = decoder.decode_to_string(bytes, text, last);
            bytes = &bytes[read..];
            if result == CoderResult::InputEmpty {
                return;
            }
        }
    });
}

fn to_utf16(decoder: &mut encoding_rs::Decoder, mut bytes: &[u8], last: bool, out: &mut Vec<u8>) {
    let mut buffer = [0; 64];
    loop {
        let (result, read, written, _) = decoder.decode_to_utf16(bytes, &mut buffer, last);
        push_utf16(&buffer[..written], out);
        bytes = &bytes[read..];
        if result == CoderResult::InputEmpty {
            return;
        }
    }
}

/// `Decoder::decode_to_utf8_without_replacement`: offset and length of the first error, whole or in chunks.
struct Strict {
    info: Info,
}

impl Decoder for Strict {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        let mut stream = StrictStream::new(UTF_8_KEEPING_BOM());
        Some(stream.feed(bytes, true, |_| ()))
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        Some(Box::new(StrictStream::new(UTF_8_KEEPING_BOM())))
    }
}

pub(super) struct StrictStream {
    decoder: encoding_rs::Decoder,
    consumed: usize,
    error: Option<Malformed>,
}

impl StrictStream {
    pub(super) fn new(decoder: encoding_rs::Decoder) -> Self {
        Self { decoder, consumed: 0, error: None }
    }

    /// Reads a chunk, which may be the last, writes its text, and returns the verdict so far.
    pub(super) fn feed(&mut self, mut bytes: &[u8], last: bool, mut write: impl FnMut(&[u8])) -> Validity {
        let mut buffer = [0; 128];
        while self.error.is_none() {
            let (result, read, written) = self.decoder.decode_to_utf8_without_replacement(bytes, &mut buffer, last);
            write(&buffer[..written]);
            self.consumed += read;
            bytes = &bytes[read..];
            match result {
                DecoderResult::InputEmpty => break,
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(len, after) => {
                    let (len, after) = (usize::from(len), usize::from(after));
                    self.error = Some(Malformed::at(self.consumed - len - after, ErrorLen::Bytes(len)));
                }
            }
        }
        self.error.map_or(Validity::Valid, Validity::Invalid)
    }
}

impl Stream for StrictStream {
    fn push(&mut self, chunk: &[u8], _out: &mut Vec<u8>) {
        self.feed(chunk, false, |_| ());
    }

    fn finish(&mut self, _out: &mut Vec<u8>) -> Option<Validity> {
        let verdict = self.feed(&[], true, |_| ());
        *self = Self::new(UTF_8_KEEPING_BOM());
        Some(verdict)
    }

    fn sendable(&mut self) -> Option<&mut (dyn Stream + Send + '_)> {
        Some(self)
    }
}
