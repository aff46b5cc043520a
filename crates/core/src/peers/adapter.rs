//! Helpers for adapters: a decoder made of functions, verdicts, and ways to write text to an output of bytes.
#![allow(dead_code, reason = "which of these are used depends on the features")]

use crate::decoder::{Decoder, Info, Stream};
use crate::utf8::push_extended;
use crate::utf8::{ErrorLen, Malformed, Validity};
use core::cell::RefCell;

/// A decoder made of functions, for code under test that keeps no state between calls. It answers `None` to questions
/// for which it has no function.
pub(super) struct Functions {
    info: Info,
    validate: Option<fn(&[u8]) -> Validity>,
    lossy: fn(&[u8], &mut Vec<u8>) -> Option<()>,
    stream: Option<fn() -> Box<dyn Stream>>,
}

impl Functions {
    pub(super) fn new(info: Info) -> Self {
        Self { info, validate: None, lossy: |_, _| None, stream: None }
    }

    pub(super) fn validate(self, validate: fn(&[u8]) -> Validity) -> Self {
        Self { validate: Some(validate), ..self }
    }

    pub(super) fn lossy(self, lossy: fn(&[u8], &mut Vec<u8>) -> Option<()>) -> Self {
        Self { lossy, ..self }
    }

    pub(super) fn stream(self, stream: fn() -> Box<dyn Stream>) -> Self {
        Self { stream: Some(stream), ..self }
    }

    pub(super) fn boxed(self) -> Box<dyn Decoder> {
        Box::new(self)
    }
}

impl Decoder for Functions {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        self.validate.map(|validate| validate(bytes))
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        (self.lossy)(bytes, out)
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        Some((self.stream?)())
    }
}

/// The verdict of a decoder that only accepts or rejects.
pub(super) fn accepted(accepted: bool) -> Validity {
    if accepted { Validity::Valid } else { Validity::INVALID }
}

/// The verdict of a decoder that reports an error as [`core::str::Utf8Error`] does: its offset, and its length unless
/// the input is incomplete.
pub(super) fn invalid(valid_up_to: usize, error_len: Option<usize>) -> Validity {
    Malformed::at(valid_up_to, ErrorLen::from_error_len(error_len)).into()
}

/// The verdict of a decoder that reports the offset of an error but not its length.
pub(super) fn invalid_at(valid_up_to: usize) -> Validity {
    Malformed { valid_up_to: Some(valid_up_to), len: None, kind: None }.into()
}

/// Lets `write` append to `out` as a `String`: in place if `out` is short and well-formed, otherwise through a
/// thread-local buffer, so that nothing is allocated. The buffer is empty at the start of each call.
pub(super) fn append_text(out: &mut Vec<u8>, write: impl FnOnce(&mut String)) {
    const LITTLE: usize = 16;
    thread_local! {
        static BUFFER: RefCell<String> = const { RefCell::new(String::new()) };
    }
    let before = core::mem::take(out);
    let as_text = if before.len() <= LITTLE {
        String::from_utf8(before).map_err(|error| error.into_bytes())
    } else {
        Err(before)
    };
    match as_text {
        // Keep its allocation.
        Ok(mut text) => {
            write(&mut text);
            *out = text.into_bytes();
        }
        Err(before) => BUFFER.with_borrow_mut(|text| {
            text.clear();
            // Release the memory that a long text needed.
            text.shrink_to(4096);
            write(text);
            *out = before;
            out.extend_from_slice(text.as_bytes());
        }),
    }
}

/// Appends UTF-16 as UTF-8; a lone surrogate is written as three bytes.
pub(super) fn push_utf16(units: &[u16], out: &mut Vec<u8>) {
    for scalar in char::decode_utf16(units.iter().copied()) {
        let code_point = scalar.map_or_else(|error| error.unpaired_surrogate().into(), u32::from);
        push_extended(code_point, out);
    }
}
