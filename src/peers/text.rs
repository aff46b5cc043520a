//! A strict decoder whose answer is text or nothing, and says no more: one adapter for all of them.

use crate::decoder::{Decoder, Info};
use crate::spec::{Contract, End};
use crate::utf8::Validity;
use std::borrow::Cow;

/// What such a decoder promises beside its grammar.
pub(super) const STRICT: Contract = Contract { end: End::Error, ..Contract::VALIDATOR };

pub(super) struct Text {
    pub(super) info: Info,
    pub(super) decode: fn(&[u8]) -> Option<Cow<'_, str>>,
}

impl Decoder for Text {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        Some((self.decode)(bytes).map_or(Validity::INVALID, |_| Validity::Valid))
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        out.extend_from_slice((self.decode)(bytes)?.as_bytes());
        Some(())
    }
}
