//! Small crates that decode UTF-8: bstr, utf-8 and its fork utf8-zero, utf8_iter, utf8-decode.
#![cfg(feature = "peers")]

use crate::decoder::{Decoder, Info, Stream};
use crate::peers::adapter::{Functions, append_text, invalid};
use crate::spec::{Contract, Detection, End};
use crate::utf8::{REPLACEMENT, Validity};
use bstr::ByteSlice;
use std::cell::RefCell;
use std::rc::Rc;
use utf8_decode::try_decode_char;
use utf8_iter::{ErrorReportingUtf8Chars, Utf8Chars};

/// A truncated sequence at the end of the input is an error like any other.
const END_IS_ERROR: Contract = Contract { end: End::Error, ..Contract::STANDARD };

pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    vec![bstr(), utf8(), utf8_zero(), utf8_iter(), utf8_decode()]
}

/// `to_str`, and `to_str_lossy_into`.
fn bstr() -> Box<dyn Decoder> {
    let validate = |bytes: &[u8]| match bytes.to_str() {
        Ok(_) => Validity::Valid,
        Err(error) => invalid(error.valid_up_to(), error.error_len()),
    };
    let lossy = |bytes: &[u8], out: &mut Vec<u8>| {
        append_text(out, |text| bytes.to_str_lossy_into(text));
        Some(())
    };
    Functions::new(Info::new("bstr", "1.13.1")).validate(validate).lossy(lossy).boxed()
}

/// `decode`, and `LossyDecoder`, both on top of `core::str`.
fn utf8() -> Box<dyn Decoder> {
    use utf8::{DecodeError, LossyDecoder};
    let validate = |bytes: &[u8]| match utf8::decode(bytes) {
        Ok(_) => Validity::Valid,
        Err(DecodeError::Invalid { valid_prefix, invalid_sequence, .. }) => {
            invalid(valid_prefix.len(), Some(invalid_sequence.len()))
        }
        Err(DecodeError::Incomplete { valid_prefix, .. }) => invalid(valid_prefix.len(), None),
    };
    let lossy = |bytes: &[u8], out: &mut Vec<u8>| {
        LossyDecoder::new(|text| out.extend_from_slice(text.as_bytes())).feed(bytes);
        Some(())
    };
    let stream = || Lossy::boxed(|output| LossyDecoder::new(appending(output)));
    Functions::new(incremental("utf-8", "0.7.6")).validate(validate).lossy(lossy).stream(stream).boxed()
}

/// The same for the fork, which has types of its own.
fn utf8_zero() -> Box<dyn Decoder> {
    use utf8_zero::{DecodeError, LossyDecoder};
    let validate = |bytes: &[u8]| match utf8_zero::decode(bytes) {
        Ok(_) => Validity::Valid,
        Err(DecodeError::Invalid { valid_prefix, invalid_sequence, .. }) => {
            invalid(valid_prefix.len(), Some(invalid_sequence.len()))
        }
        Err(DecodeError::Incomplete { valid_prefix, .. }) => invalid(valid_prefix.len(), None),
    };
    let lossy = |bytes: &[u8], out: &mut Vec<u8>| {
        LossyDecoder::new(|text| out.extend_from_slice(text.as_bytes())).feed(bytes);
        Some(())
    };
    let stream = || Lossy::boxed(|output| LossyDecoder::new(appending(output)));
    Functions::new(incremental("utf8-zero", "0.8.1")).validate(validate).lossy(lossy).stream(stream).boxed()
}

fn incremental(name: &'static str, version: &'static str) -> Info {
    let contract = Contract { detection: Detection::Earliest, ..Contract::STANDARD };
    Info::new(name, version).contract(contract).lineage("core::str")
}

/// A `LossyDecoder`, which writes through a callback and ends its input when it is dropped.
trait Feed {
    fn feed(&mut self, chunk: &[u8]);
}

impl<F: FnMut(&str)> Feed for utf8::LossyDecoder<F> {
    fn feed(&mut self, chunk: &[u8]) {
        Self::feed(self, chunk);
    }
}

impl<F: FnMut(&str)> Feed for utf8_zero::LossyDecoder<F> {
    fn feed(&mut self, chunk: &[u8]) {
        Self::feed(self, chunk);
    }
}

type Output = Rc<RefCell<Vec<u8>>>;

/// The callback that appends to `output`.
fn appending(output: &Output) -> impl FnMut(&str) + use<> {
    let output = Rc::clone(output);
    move |text| output.borrow_mut().extend_from_slice(text.as_bytes())
}

/// A stream of a `LossyDecoder`, made by `start`.
struct Lossy<D, S> {
    decoder: D,
    output: Output,
    start: S,
}

impl<D: Feed + 'static, S: Fn(&Output) -> D + 'static> Lossy<D, S> {
    fn boxed(start: S) -> Box<dyn Stream> {
        let output = Output::default();
        Box::new(Self { decoder: start(&output), output, start })
    }
}

impl<D: Feed, S: Fn(&Output) -> D> Stream for Lossy<D, S> {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        self.decoder.feed(chunk);
        out.append(&mut self.output.borrow_mut());
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        self.decoder = (self.start)(&self.output);
        out.append(&mut self.output.borrow_mut());
        None
    }
}

/// `ErrorReportingUtf8Chars`, and `Utf8Chars`.
fn utf8_iter() -> Box<dyn Decoder> {
    let validate = |bytes: &[u8]| {
        let mut chars = ErrorReportingUtf8Chars::new(bytes);
        loop {
            let rest = chars.as_slice().len();
            match chars.next() {
                None => return Validity::Valid,
                Some(Ok(_)) => {}
                Some(Err(_)) => return invalid(bytes.len() - rest, Some(rest - chars.as_slice().len())),
            }
        }
    };
    let lossy = |bytes: &[u8], out: &mut Vec<u8>| {
        Utf8Chars::new(bytes).for_each(|scalar| out.extend_from_slice(scalar.encode_utf8(&mut [0; 4]).as_bytes()));
        Some(())
    };
    Functions::new(Info::new("utf8_iter", "1.1.0").contract(END_IS_ERROR)).validate(validate).lossy(lossy).boxed()
}

/// `try_decode_char`. It claims to decode UTF-8 and is held to that; its differences are in the ledger.
fn utf8_decode() -> Box<dyn Decoder> {
    let validate = |bytes: &[u8]| {
        let mut at = 0;
        loop {
            match try_decode_char(bytes, &mut at) {
                Ok(None) => return Validity::Valid,
                Ok(Some(_)) => {}
                Err(error) => return invalid(error.offset, Some(error.len)),
            }
        }
    };
    let lossy = |bytes: &[u8], out: &mut Vec<u8>| {
        let mut at = 0;
        loop {
            match try_decode_char(bytes, &mut at) {
                Ok(None) => return Some(()),
                Ok(Some((scalar, _))) => out.extend_from_slice(scalar.encode_utf8(&mut [0; 4]).as_bytes()),
                Err(_) => out.extend_from_slice(REPLACEMENT),
            }
        }
    };
    Functions::new(Info::new("utf8-decode", "2.0.0").contract(END_IS_ERROR)).validate(validate).lossy(lossy).boxed()
}
