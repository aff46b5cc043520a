//! Faults of block-structured validators.
//!
//! The validator is branch-free on purpose: masks of 64 bytes each, errors gathered to the end, so that the coverage of
//! its code says nothing of its input, as with the decoders these faults were found in.
//!
//! S10 and S16 are in `register`, S14, S15 and S17 in `buffer`, S07 in `memory`. Left out: S12 (no precise fault known).

use crate::codec::validate;
use crate::peers::planted::{Planted, decided, sound};
use crate::utf8::{ErrorLen, Malformed, Validity};

/// The fault of a validator, as a const parameter.
type Fault = u8;
const NONE: Fault = 0;
const S01: Fault = 1;
const S04: Fault = 4;
const S05: Fault = 5;
const S13: Fault = 13;

pub(super) static FAULTS: &[Planted] = &[
    Planted {
        validate: by_blocks::<S01>,
        ..sound(
            "s01",
            "a byte that never leads is missed as the last of the last whole block",
            "simdjson#1169",
            &["verdict/invalid-byte/edge64", "verdict/overlong-2/edge64", "verdict/too-large/edge64"],
        )
    },
    Planted {
        validate: |bytes| {
            let (errors, last) = scan::<NONE>(bytes);
            let is_behind = errors == 0 && last.never >> 63 == 1;
            let behind = Malformed { valid_up_to: Some(bytes.len()), len: None, kind: None };
            if is_behind { Some(behind.into()) } else { crate::peers::planted::validate(bytes) }
        },
        ..sound(
            "s02",
            "a byte that never leads, as the last of the last whole block, is placed behind it",
            "simdutf#458",
            &["valid-up-to/invalid-byte/edge64", "valid-up-to/overlong-2/edge64", "valid-up-to/too-large/edge64"],
        )
    },
    Planted {
        validate: by_blocks::<S04>,
        ..sound(
            "s04",
            "before an ASCII block an incomplete sequence is missed",
            "simdutf#381",
            &[
                "verdict/too-short/edge64",
                "verdict/invalid-byte/edge64",
                "verdict/overlong-2/edge64",
                "verdict/too-large/edge64",
            ],
        )
    },
    Planted {
        validate: by_blocks::<S05>,
        ..sound(
            "s05",
            "before 32 ASCII bytes, and at the end, an incomplete sequence is missed",
            "simd-json#166",
            &[
                "verdict/too-short/edge32",
                "verdict/incomplete/edge32",
                "verdict/invalid-byte/edge32",
                "verdict/overlong-2/edge32",
                "verdict/too-large/edge32",
            ],
        )
    },
    Planted {
        validate: |bytes| {
            let start = bytes.iter().take_while(|byte| byte.is_ascii()).count();
            let len = bytes.len() - start;
            decided(bytes, validate(&bytes[start..len.max(start)]).is_ok())
        },
        ..sound(
            "s08",
            "the length of what lies behind skipped ASCII is taken for where it ends",
            "haskell/text#540",
            &["verdict/*/*"],
        )
    },
    Planted {
        validate: |bytes| {
            let skipped = bytes.as_chunks::<8>().0.iter().take_while(|word| word.is_ascii()).count() * 8;
            let Err(error) = validate(bytes) else { return Some(Validity::Valid) };
            let len = ErrorLen::from_error_len(error.error_len());
            Some(Malformed::at(error.valid_up_to().saturating_sub(skipped), len).into())
        },
        ..sound(
            "s09",
            "the offset counts from behind the ASCII that was skipped",
            "protobuf#18126",
            &["valid-up-to/*/*"],
        )
    },
    Planted {
        validate: by_blocks::<S13>,
        ..sound(
            "s13",
            "a stray continuation is missed as the first byte of a block",
            "simdutf#612",
            &["verdict/continuation/edge64"],
        )
    },
    Planted {
        validate: |bytes| decided(bytes, !bytes.is_empty() && validate(bytes).is_ok()),
        ..sound("s18", "empty input is an error", "simdutf#491", &["verdict/end/*", "verdict/unplaced/*"])
    },
];

/// Bit n speaks of byte n of a block.
#[derive(Clone, Copy, Default)]
struct Masks {
    non_ascii: u64,
    from_80: u64,
    from_90: u64,
    from_a0: u64,
    two: u64,
    three: u64,
    four: u64,
    never: u64,
    e0: u64,
    ed: u64,
    f0: u64,
    f4: u64,
}

impl Masks {
    fn of(block: &[u8; 64]) -> Self {
        let mut masks = Self::default();
        for (at, &byte) in block.iter().enumerate() {
            let bit = |is: bool| u64::from(is) << at;
            masks.non_ascii |= bit(byte >= 0x80);
            masks.from_80 |= bit(byte & 0xF0 == 0x80);
            masks.from_90 |= bit(byte & 0xF0 == 0x90);
            masks.from_a0 |= bit(byte & 0xE0 == 0xA0);
            masks.two |= bit((0xC2..0xE0).contains(&byte));
            masks.three |= bit(byte & 0xF0 == 0xE0);
            masks.four |= bit((0xF0..0xF5).contains(&byte));
            masks.never |= bit((byte & 0xFE == 0xC0) | (byte >= 0xF5));
            masks.e0 |= bit(byte == 0xE0);
            masks.ed |= bit(byte == 0xED);
            masks.f0 |= bit(byte == 0xF0);
            masks.f4 |= bit(byte == 0xF4);
        }
        masks
    }

    /// Bytes whose sequence goes on `n` bytes later.
    fn reach(&self, n: u32) -> u64 {
        let wide = if n < 3 { self.three } else { 0 };
        let narrow = if n < 2 { self.two } else { 0 };
        self.four | wide | narrow
    }

    /// Errors of this block that follow from it and the block before. A byte that never leads is found one byte later.
    fn errors<const FAULT: Fault>(&self, before: &Self) -> u64 {
        let behind = |now: u64, before: u64, n: u32| now << n | before >> (64 - n);
        let due = (1..4).fold(0, |due, n| due | behind(self.reach(n), before.reach(n), n));
        let continuations = self.from_80 | self.from_90 | self.from_a0;
        let missing = due & !continuations;
        let stray = continuations & !due & if FAULT == S13 { !1 } else { !0 };
        let refused = behind(self.e0, before.e0, 1) & (self.from_80 | self.from_90)
            | behind(self.ed, before.ed, 1) & self.from_a0
            | behind(self.f0, before.f0, 1) & self.from_80
            | behind(self.f4, before.f4, 1) & (self.from_90 | self.from_a0);
        let errors = missing | stray | refused | behind(self.never, before.never, 1);
        // All ones where there is anything but ASCII in these bytes.
        let not_ascii = |bytes: u64| u64::from(self.non_ascii & bytes != 0).wrapping_neg() & bytes;
        match FAULT {
            S04 => errors & not_ascii(!0),
            S05 => errors & (not_ascii(u64::from(u32::MAX)) | not_ascii(!u64::from(u32::MAX))),
            _ => errors,
        }
    }

    /// Errors that show where the input ends with this block.
    fn errors_at_end<const FAULT: Fault>(&self) -> u64 {
        let incomplete = (1..4).fold(0, |due, n| due | self.reach(n) >> (64 - n));
        match FAULT {
            S01 => incomplete,
            S05 => 0,
            _ => incomplete | self.never >> 63,
        }
    }
}

/// The errors inside the blocks, and the last block.
fn scan<const FAULT: Fault>(bytes: &[u8]) -> (u64, Masks) {
    let (blocks, rest) = bytes.as_chunks::<64>();
    let mut padded = [b' '; 64];
    padded[..rest.len()].copy_from_slice(rest);
    let tail = if rest.is_empty() { None } else { Some(&padded) };
    let mut before = Masks::default();
    let mut errors = 0;
    for block in blocks.iter().chain(tail) {
        let masks = Masks::of(block);
        errors |= masks.errors::<FAULT>(&before);
        before = masks;
    }
    (errors, before)
}

fn accepts<const FAULT: Fault>(bytes: &[u8]) -> bool {
    let (errors, last) = scan::<FAULT>(bytes);
    errors | last.errors_at_end::<FAULT>() == 0
}

fn by_blocks<const FAULT: Fault>(bytes: &[u8]) -> Option<Validity> {
    decided(bytes, accepts::<FAULT>(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::planted::tests::assert_sound;

    #[test]
    fn without_a_fault_it_is_sound() {
        assert_sound(accepts::<NONE>);
    }
}
