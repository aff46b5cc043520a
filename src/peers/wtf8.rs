//! wtf8: a buffer that joins surrogates as they meet, so that the halves of CESU-8, pushed one by one, become its text.
//!
//! It has no way in from bytes; java_string takes them apart, and lets through what CESU-8 refuses. That is in the ledger.

use crate::decoder::{Decoder, Info};
use crate::peers::text::STRICT;
use crate::spec::Contract;
use crate::spec::grammar::CESU8;
use crate::spec::model::push_generalised;
use java_string::JavaStr;
use wtf8::{CodePoint, Wtf8Buf};

pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    vec![Box::new(Joining)]
}

struct Joining;

static INFO: Info = Info::new("wtf8", "0.1.0").contract(Contract { grammar: &CESU8, ..STRICT });

impl Decoder for Joining {
    fn info(&self) -> &Info {
        &INFO
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let apart = JavaStr::from_semi_utf8(bytes).ok()?;
        let mut joined = Wtf8Buf::with_capacity(bytes.len());
        apart.chars().filter_map(|half| CodePoint::from_u32(half.as_u32())).for_each(|half| joined.push(half));
        joined.code_points().for_each(|code_point| push_generalised(code_point.to_u32(), out));
        Some(())
    }
}
