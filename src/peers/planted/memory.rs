//! Faults of reading outside the slice.
//!
//! That is undefined behaviour, and meant to be: what these decoders do wrong cannot be done right. The reads are
//! volatile, so that they are really made, and reach a few bytes at the most. The harness lays its inputs between
//! readable margins, or between pages whose faults it handles; the heap has bytes of its own around what it lends.
#![allow(unsafe_code, reason = "reading outside the slice is the fault")]

use crate::codec;
use crate::peers::planted::{Planted, decided, sound};

pub(super) static FAULTS: &[Planted] = &[
    Planted {
        validate: |bytes| {
            let incomplete = codec::validate(bytes).err().filter(|error| error.error_len().is_none());
            if let Some(error) = incomplete {
                let announced = bytes[error.valid_up_to()].leading_ones() as usize;
                for at in error.range().len()..announced {
                    // SAFETY: there is none; see above. At most three bytes behind the slice are read.
                    unsafe { bytes.as_ptr().wrapping_add(error.valid_up_to() + at).read_volatile() };
                }
            }
            crate::peers::planted::validate(bytes)
        },
        ..sound(
            "m01",
            "an incomplete sequence is read to the length its lead announces, past the end",
            "oniguruma#16, ultrajson#719",
            &["bounds/incomplete/*"],
        )
    },
    Planted {
        validate: |bytes| {
            /// Shorter inputs than this have no whole block.
            const BLOCK: usize = 128;
            if bytes.is_empty() || bytes.len() >= BLOCK {
                return crate::peers::planted::validate(bytes);
            }
            // SAFETY: there is none; see above. One byte before the slice is read.
            let before = unsafe { bytes.as_ptr().wrapping_sub(1).read_volatile() };
            decided(bytes, codec::validate(&[&[before], bytes].concat()).is_ok())
        },
        ..sound(
            "s07",
            "where no block was read, the rest is still read from the byte before it",
            "haskell/bytestring#620",
            &["bounds/*/*", "placement/*/*"],
        )
    },
];
