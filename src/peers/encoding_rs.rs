//! encoding_rs, the decoder of Firefox, through four of its ways in: `decode_to_string` with the byte order mark kept
//! and stripped, `decode_to_utf16`, and `decode_to_utf8_without_replacement`.
//!
//! For 64 bytes or more its validation is simdutf8's, so there it is no independent witness.

use crate::decoder::{Decoder, Info, Stream};
use crate::peers::{append_text, push_utf16};
use crate::spec::{Bom, Contract, Detection, End};
use crate::utf8::{ErrorLen, Malformed, Validity};
use encoding_rs::{CoderResult, DecoderResult, Encoding, UTF_8};

/// The four decoders of this family.
pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    let keep = Contract { detection: Detection::Earliest, ..Contract::STANDARD };
    let strip = Contract { bom: Bom::Strip, ..keep };
    let strict = Contract { end: End::Error, ..Contract::VALIDATOR };
    let info = |name, contract| {
        let info = Info::new("encoding_rs", "0.8.44").name(name).contract(contract);
        info.lineage_by_length(|len| if len < 64 { "encoding_rs" } else { "simdutf8" })
    };
    vec![
        Box::new(ToUtf8 { info: info("encoding_rs", keep), start: UTF_8_KEEPING_BOM }),
        Box::new(ToUtf8 { info: info("encoding_rs-bom", strip), start: UTF_8_STRIPPING_BOM }),
        Box::new(ToUtf16 { info: info("encoding_rs-utf16", keep) }),
        Box::new(Strict { info: info("encoding_rs-strict", strict) }),
    ]
}

type Start = fn() -> encoding_rs::Decoder;
const UTF_8_KEEPING_BOM: Start = || UTF_8.new_decoder_without_bom_handling();
const UTF_8_STRIPPING_BOM: Start = || UTF_8.new_decoder_with_bom_removal();

/// `utf8_valid_up_to`, and `Decoder::decode_to_string`.
struct ToUtf8 {
    info: Info,
    start: Start,
}

impl Decoder for ToUtf8 {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        let valid_up_to = Encoding::utf8_valid_up_to(bytes);
        Some(match valid_up_to == bytes.len() {
            true => Validity::Valid,
            false => Malformed { valid_up_to: Some(valid_up_to), len: None, kind: None }.into(),
        })
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        append_text(out, |text| to_utf8(&mut (self.start)(), bytes, true, text));
        Some(())
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        Some(Box::new(Utf8Stream { start: self.start, decoder: (self.start)() }))
    }
}

struct Utf8Stream {
    start: Start,
    decoder: encoding_rs::Decoder,
}

impl Utf8Stream {
    fn feed(&mut self, chunk: &[u8], last: bool, out: &mut Vec<u8>) {
        append_text(out, |text| to_utf8(&mut self.decoder, chunk, last, text));
    }
}

impl Stream for Utf8Stream {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        self.feed(chunk, false, out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        self.feed(&[], true, out);
        self.decoder = (self.start)();
        None
    }
}

fn to_utf8(decoder: &mut encoding_rs::Decoder, mut bytes: &[u8], last: bool, out: &mut String) {
    loop {
        // One byte becomes three at the most; what is pending, three more.
        out.reserve(bytes.len() * 3 + 6);
        let (result, read, _) = decoder.decode_to_string(bytes, out, last);
        bytes = &bytes[read..];
        if result == CoderResult::InputEmpty {
            return;
        }
    }
}

/// `Decoder::decode_to_utf16`.
struct ToUtf16 {
    info: Info,
}

impl Decoder for ToUtf16 {
    fn info(&self) -> &Info {
        &self.info
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        to_utf16(&mut UTF_8_KEEPING_BOM(), bytes, true, out);
        Some(())
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        Some(Box::new(Utf16Stream { decoder: UTF_8_KEEPING_BOM() }))
    }
}

struct Utf16Stream {
    decoder: encoding_rs::Decoder,
}

impl Stream for Utf16Stream {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        to_utf16(&mut self.decoder, chunk, false, out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        to_utf16(&mut self.decoder, &[], true, out);
        self.decoder = UTF_8_KEEPING_BOM();
        None
    }
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
        let mut stream = StrictStream::new();
        stream.feed(bytes, true);
        Some(stream.verdict())
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        Some(Box::new(StrictStream::new()))
    }
}

struct StrictStream {
    decoder: encoding_rs::Decoder,
    consumed: usize,
    error: Option<Malformed>,
}

impl StrictStream {
    fn new() -> Self {
        Self { decoder: UTF_8_KEEPING_BOM(), consumed: 0, error: None }
    }

    fn feed(&mut self, mut bytes: &[u8], last: bool) {
        let mut buffer = [0; 128];
        while self.error.is_none() {
            let (result, read, _) = self.decoder.decode_to_utf8_without_replacement(bytes, &mut buffer, last);
            self.consumed += read;
            bytes = &bytes[read..];
            match result {
                DecoderResult::InputEmpty => return,
                DecoderResult::OutputFull => {}
                DecoderResult::Malformed(len, after) => {
                    let (len, after) = (usize::from(len), usize::from(after));
                    self.error = Some(Malformed::at(self.consumed - len - after, ErrorLen::Bytes(len)));
                }
            }
        }
    }

    fn verdict(&self) -> Validity {
        self.error.map_or(Validity::Valid, Validity::Invalid)
    }
}

impl Stream for StrictStream {
    fn push(&mut self, chunk: &[u8], _out: &mut Vec<u8>) {
        self.feed(chunk, false);
    }

    fn finish(&mut self, _out: &mut Vec<u8>) -> Option<Validity> {
        self.feed(&[], true);
        let verdict = self.verdict();
        *self = Self::new();
        Some(verdict)
    }
}
