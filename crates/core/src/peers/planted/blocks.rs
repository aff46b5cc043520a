//! Faults of code that works in blocks, registers and buffers, of sizes and counters, and of reading outside the slice.
//!
//! The validators are branch-free on purpose and accumulate errors to the end, so that code coverage says nothing about
//! their input. The decoders in which these faults were found work in the same way.
//!
//! Omitted: S12 (no precise fault known).

use crate::codec::{Streaming, chars, errors, lossy_into, utf16_lossy_into, validate};
use crate::peers::adapter::push_utf16;
use crate::peers::planted::fault;
use crate::peers::planted::fault::{INVENTED, Planted, decided, losing, missing, replacing, sound};
use crate::utf8::{ErrorLen, Malformed, REPLACEMENT, Validity};
use core::ops::Range;

// A validator that reads blocks of 64 bytes as bit masks.

/// The fault of a validator, as a const parameter.
type Fault = u8;
const NONE: Fault = 0;
const S01: Fault = 1;
const S04: Fault = 4;
const S05: Fault = 5;
const S10: Fault = 10;
const S13: Fault = 13;
const S16: Fault = 16;

pub(super) static BLOCKS: &[Planted] = &[
    Planted {
        validate: by_blocks::<S01>,
        ..sound(
            "s01",
            "a byte that never occurs is missed at the end of the last whole block",
            "simdjson#1169",
            &["verdict/invalid-byte/edge64", "verdict/overlong-2/edge64", "verdict/too-large/edge64"],
        )
    },
    Planted {
        validate: |bytes| {
            let (errors, last) = scan::<NONE>(bytes);
            let is_last = errors == 0 && last.never >> 63 == 1;
            let after = Malformed { valid_up_to: Some(bytes.len()), len: None, kind: None };
            if is_last { Some(after.into()) } else { fault::validate(bytes) }
        },
        ..sound(
            "s02",
            "the offset of a byte that never occurs, at the end of the last whole block, is one too large",
            "simdutf#458",
            &["valid-up-to/invalid-byte/edge64", "valid-up-to/overlong-2/edge64", "valid-up-to/too-large/edge64"],
        )
    },
    Planted {
        validate: by_blocks::<S04>,
        ..sound(
            "s04",
            "a truncated sequence before an ASCII block is missed",
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
            "a truncated sequence before 32 ASCII bytes or at the end is missed",
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
            "the length of the bytes after skipped ASCII is used as their end offset",
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
            "the offset is counted from the end of the skipped ASCII",
            "protobuf#18126",
            &["valid-up-to/*/*"],
        )
    },
    Planted {
        validate: by_blocks::<S13>,
        ..sound(
            "s13",
            "a stray continuation at the start of a block is missed",
            "simdutf#612",
            &["verdict/continuation/edge64"],
        )
    },
    Planted {
        validate: |bytes| decided(bytes, !bytes.is_empty() && validate(bytes).is_ok()),
        ..sound("s18", "empty input is an error", "simdutf#491", &["verdict/end/*", "verdict/unplaced/*"])
    },
];

/// Bit n describes byte n of a block.
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

    /// Lead bytes whose sequence includes the byte `n` bytes later.
    fn reach(&self, n: u32) -> u64 {
        let wide = if n < 3 { self.three } else { 0 };
        let narrow = if n < 2 { self.two } else { 0 };
        self.four | wide | narrow
    }

    /// Errors determined by this block and the previous one. A byte that never occurs is reported at the byte after it.
    fn errors<const FAULT: Fault>(&self, before: &Self) -> u64 {
        let after = |now: u64, before: u64, n: u32| now << n | before >> (64 - n);
        let due = (1..4).fold(0, |due, n| due | after(self.reach(n), before.reach(n), n));
        let continuations = self.from_80 | self.from_90 | self.from_a0;
        let missing = due & !continuations;
        let stray = continuations & !due & if FAULT == S13 { !1 } else { !0 };
        let refused = after(self.e0, before.e0, 1) & (self.from_80 | self.from_90)
            | after(self.ed, before.ed, 1) & self.from_a0
            | after(self.f0, before.f0, 1) & self.from_80
            | after(self.f4, before.f4, 1) & (self.from_90 | self.from_a0);
        let errors = missing | stray | refused | after(self.never, before.never, 1);
        // The mask `bytes` if any byte in it is not ASCII, else 0.
        let not_ascii = |bytes: u64| u64::from(self.non_ascii & bytes != 0).wrapping_neg() & bytes;
        match FAULT {
            S04 => errors & not_ascii(!0),
            S05 => errors & (not_ascii(u64::from(u32::MAX)) | not_ascii(!u64::from(u32::MAX))),
            _ => errors,
        }
    }

    /// Errors that result if the input ends with this block.
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

fn blocks_accept<const FAULT: Fault>(bytes: &[u8]) -> bool {
    let (errors, last) = scan::<FAULT>(bytes);
    errors | last.errors_at_end::<FAULT>() == 0
}

fn by_blocks<const FAULT: Fault>(bytes: &[u8]) -> Option<Validity> {
    decided(bytes, blocks_accept::<FAULT>(bytes))
}

// A validator that reads registers of 16 bytes: the algorithm of `fastvalidate-utf-8`, from which those of simdjson and
// its relatives descend. The number of bytes that a sequence still needs is carried from byte to byte and from register
// to register. A register is represented by an array.

pub(super) static REGISTERS: &[Planted] = &[
    Planted {
        validate: by_registers::<S10>,
        ..sound(
            "s10",
            "the range a lead byte requires of the second byte is lost between registers of 16 bytes",
            "simdjson#357, which gives no details",
            &[
                "verdict/overlong-2/edge16",
                "verdict/overlong-3/edge16",
                "verdict/overlong-4/edge16",
                "verdict/surrogate/edge16",
                "verdict/too-large/edge16",
            ],
        )
    },
    Planted {
        validate: by_registers::<S16>,
        ..sound(
            "s16",
            "80 is taken for ASCII in a 64-byte block if the other three registers have 00 or 80 in the same lane",
            "simdjson#1346",
            &["verdict/continuation/*", "verdict/valid-2/*", "verdict/valid-3/*", "verdict/valid-4/*"],
        )
    },
];

const WIDTH: usize = 16;
type Register = [u8; WIDTH];

/// The length of a sequence by the high half of its first byte; 0 for a continuation byte.
const LENGTHS: [u8; 16] = [1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 2, 2, 3, 4];

/// A register, and what it carries to the next. The default is 16 bytes of ASCII.
#[derive(Clone, Copy, Default)]
struct Processed {
    bytes: Register,
    /// For each byte how many bytes its sequence still needs, including this one.
    carried: Register,
}

/// For each byte the one `N` bytes before it.
fn preceding<const N: usize>(now: Register, before: Register) -> Register {
    core::array::from_fn(|at| if at < N { before[WIDTH + at - N] } else { now[at - N] })
}

impl Processed {
    /// Processes a register. The second value is not 0 if there is an error.
    fn of<const FAULT: Fault>(bytes: Register, before: &Self) -> (Self, u8) {
        let lengths = bytes.map(|byte| LENGTHS[usize::from(byte >> 4)]);
        let one_before = preceding::<1>(lengths, before.carried);
        let sum: Register = core::array::from_fn(|at| lengths[at] + one_before[at].saturating_sub(1));
        let two_before = preceding::<2>(sum, before.carried);
        let carried: Register = core::array::from_fn(|at| sum[at] + two_before[at].saturating_sub(2));
        let previous = preceding::<1>(bytes, if FAULT == S10 { Register::default() } else { before.bytes });
        let errors = (0..WIDTH).fold(0, |errors, at| {
            let (byte, previous) = (bytes[at], previous[at]);
            let miscounted = (carried[at] > lengths[at]) == (lengths[at] > 0);
            let too_low =
                (previous & 0xFE == 0xC0) | (previous == 0xE0) & (byte < 0xA0) | (previous == 0xF0) & (byte < 0x90);
            let too_high = (byte > 0xF4) | (previous == 0xED) & (byte > 0x9F) | (previous == 0xF4) & (byte > 0x8F);
            errors | u8::from(miscounted | too_low | too_high)
        });
        (Self { bytes, carried }, errors)
    }

    /// Not 0 if the last sequence needs more bytes.
    fn errors_before_ascii(&self) -> u8 {
        self.carried[WIDTH - 1].saturating_sub(1)
    }
}

fn registers_accept<const FAULT: Fault>(bytes: &[u8]) -> bool {
    let (blocks, rest) = bytes.as_chunks::<64>();
    let mut padded = [0; 64];
    padded[..rest.len()].copy_from_slice(rest);
    let mut before = Processed::default();
    let mut errors = 0;
    for block in blocks.iter().chain([&padded]) {
        let registers = block.as_chunks::<WIDTH>().0;
        let together = registers
            .iter()
            .fold(Register::default(), |all, register| core::array::from_fn(|at| all[at] | register[at]));
        let most_ascii = if FAULT == S16 { 0x80 } else { 0x7F };
        let is_ascii = together.iter().fold(true, |ascii, &bits| ascii & (bits <= most_ascii));
        let ascii = u8::from(is_ascii).wrapping_neg();
        errors |= before.errors_before_ascii() & ascii;
        for &register in registers {
            let (now, found) = Processed::of::<FAULT>(register, &before);
            errors |= found & !ascii;
            before = now;
        }
        // After a block taken for ASCII, no sequence continues.
        before.carried = before.carried.map(|carried| carried & !ascii | ascii & 1);
    }
    errors | before.errors_before_ascii() == 0
}

fn by_registers<const FAULT: Fault>(bytes: &[u8]) -> Option<Validity> {
    decided(bytes, registers_accept::<FAULT>(bytes))
}

// Output through a buffer of fixed size. Bytes written past its end are lost here; in the decoders in which these
// faults were found, they overwrote other memory.

pub(super) static BUFFERS: &[Planted] = &[
    Planted {
        lossy: through_small_scratch,
        ..sound(
            "s14",
            "1024 UTF-16 units are too few for a chunk of 1024 bytes that completes a 4-byte sequence",
            "dart-lang/sdk#64325",
            &["identity/valid-1/*", "lossy/*/*"],
        )
    },
    Planted {
        lossy: through_reused_chunk,
        ..sound(
            "s15",
            "a pair across the end of a chunk of 8192 UTF-16 units leaves a stale unit in the buffer",
            "protobuf.js#1486",
            &["identity/*/*", "well-formed-output/*/*"],
        )
    },
    Planted {
        lossy: through_crowded_scratch,
        ..sound(
            "s17",
            "a character is written to a 256-byte buffer with a single free byte",
            "encoding_rs a074922, dart-lang/sdk#36235",
            &["identity/valid-2/*", "identity/valid-3/*", "identity/valid-4/*", "well-formed-output/*/*"],
        )
    },
];

/// Decodes chunks of 1024 bytes into 1024 UTF-16 code units each.
fn through_small_scratch(bytes: &[u8], out: &mut Vec<u8>) {
    const SCRATCH: usize = 1024;
    let mut stream = Streaming::new();
    let mut text = Vec::new();
    let mut units = Vec::new();
    for chunk in bytes.chunks(SCRATCH) {
        text.clear();
        stream.push(chunk, &mut text);
        let start = units.len();
        utf16_lossy_into(&text, &mut units);
        units.truncate(start + SCRATCH);
    }
    text.clear();
    // The error is not needed: the verdict is that of `validate`.
    let _ = stream.finish(&mut text);
    utf16_lossy_into(&text, &mut units);
    push_utf16(&units, out);
}

/// Writes UTF-16 into a chunk that grows by one code unit when a pair crosses its end, and from then on is flushed at
/// its full length.
fn through_reused_chunk(bytes: &[u8], out: &mut Vec<u8>) {
    const CHUNK: usize = 8192;
    let mut units = Vec::new();
    utf16_lossy_into(bytes, &mut units);
    let mut chunk: Vec<u16> = Vec::new();
    let mut text = Vec::new();
    let mut filled = 0;
    for scalar in char::decode_utf16(units) {
        let scalar = scalar.unwrap_or(char::REPLACEMENT_CHARACTER);
        for &unit in scalar.encode_utf16(&mut [0; 2]).iter() {
            match chunk.get_mut(filled) {
                Some(slot) => *slot = unit,
                None => chunk.push(unit),
            }
            filled += 1;
        }
        if filled >= CHUNK {
            text.extend_from_slice(&chunk);
            filled = 0;
        }
    }
    text.extend_from_slice(&chunk[..filled]);
    push_utf16(&text, out);
}

/// Writes UTF-8 into a buffer of 256 bytes that is flushed when it is full.
fn through_crowded_scratch(bytes: &[u8], out: &mut Vec<u8>) {
    let mut scratch = [0; 256];
    let mut filled = 0;
    for c in chars(bytes).map(|read| read.unwrap_or(char::REPLACEMENT_CHARACTER)) {
        if filled == scratch.len() {
            out.extend_from_slice(&scratch);
            filled = 0;
        }
        for &byte in c.encode_utf8(&mut [0; 4]).as_bytes() {
            if let Some(slot) = scratch.get_mut(filled) {
                *slot = byte;
                filled += 1;
            }
        }
    }
    out.extend_from_slice(&scratch[..filled]);
}

// Reads outside the slice. This is undefined behaviour on purpose: it is the fault of these decoders. The reads are
// volatile, so that the compiler keeps them, and reach at most three bytes past the slice, or one before it. The
// harness places its inputs between readable margins or between guard pages whose faults it handles, and heap
// allocations have readable neighbours.

#[allow(unsafe_code, reason = "reading outside the slice is the fault")]
pub(super) static MEMORY: &[Planted] = &[
    Planted {
        validate: |bytes| {
            let incomplete = validate(bytes).err().filter(|error| error.error_len().is_none());
            if let Some(error) = incomplete {
                let announced = bytes[error.valid_up_to()].leading_ones() as usize;
                for at in error.range().len()..announced {
                    // SAFETY: none, this is the fault; see above. At most three bytes after the slice are read.
                    unsafe { bytes.as_ptr().wrapping_add(error.valid_up_to() + at).read_volatile() };
                }
            }
            fault::validate(bytes)
        },
        ..sound(
            "m01",
            "an incomplete sequence is read past the end, to the length its lead announces",
            "oniguruma#16, ultrajson#719",
            &["bounds/incomplete/*", "panic/fault/*"],
        )
    },
    Planted {
        validate: |bytes| {
            /// The length of a block in bytes.
            const BLOCK: usize = 128;
            if bytes.is_empty() || bytes.len() >= BLOCK {
                return fault::validate(bytes);
            }
            // SAFETY: none, this is the fault; see above. One byte before the slice is read.
            let before = unsafe { bytes.as_ptr().wrapping_sub(1).read_volatile() };
            decided(bytes, validate(&[&[before], bytes].concat()).is_ok())
        },
        ..sound(
            "s07",
            "if the input is shorter than a block, it is read from one byte before its start",
            "haskell/bytestring#620",
            &["bounds/*/*", "placement/*/*", "spans/*/*", "panic/fault/*"],
        )
    },
];

// Faults that depend on a size: of the input, of the output, or of the number of errors.

/// The range of bytes of each character of a text.
fn spans(text: &[u8]) -> impl Iterator<Item = Range<usize>> {
    let mut end = 0;
    chars(text).map(move |c| {
        let start = end;
        end += c.unwrap_or(char::REPLACEMENT_CHARACTER).len_utf8();
        start..end
    })
}

/// Our output, without the characters for which `is_lost` holds, given where in the output they are.
fn losing_spans(bytes: &[u8], out: &mut Vec<u8>, is_lost: impl Fn(&Range<usize>, &[u8]) -> bool) {
    let mut text = Vec::new();
    lossy_into(bytes, &mut text);
    for span in spans(&text) {
        if !is_lost(&span, &text[span.clone()]) {
            out.extend_from_slice(&text[span]);
        }
    }
}

/// Our verdict on the bytes from `start` on, with offsets in the whole input.
fn verdict_from(bytes: &[u8], start: usize) -> Option<Validity> {
    let shifted = |error: Malformed| Malformed { valid_up_to: error.valid_up_to.map(|at| at + start), ..error };
    fault::validate(&bytes[start..]).map(|verdict| match verdict {
        Validity::Invalid(error) => Validity::Invalid(shifted(error)),
        Validity::Valid => Validity::Valid,
    })
}

pub(super) static SIZES: &[Planted] = &[
    Planted {
        validate: |bytes| {
            fault::validate(bytes).map(|verdict| match verdict {
                Validity::Invalid(error) => {
                    Malformed { valid_up_to: error.valid_up_to.map(|at| at & 0xFFFF), ..error }.into()
                }
                Validity::Valid => Validity::Valid,
            })
        },
        ..sound(
            "h15",
            "the offset of the first error is counted in 16 bits",
            INVENTED,
            &["valid-up-to/*/*", "prefix/*/*"],
        )
    },
    Planted {
        validate: |bytes| {
            const CHUNK: usize = 1 << 16;
            let wrong = |at: usize| verdict_from(&bytes[..(at + CHUNK).min(bytes.len())], at);
            let starts = (0..bytes.len()).step_by(CHUNK);
            Some(starts.filter_map(wrong).find(|verdict| !verdict.is_valid()).unwrap_or(Validity::Valid))
        },
        ..sound(
            "h16",
            "a character across the edge of two chunks of 65,536 bytes is rejected",
            "the family of dotnet/corefx#29834",
            &["verdict/*/*", "valid-up-to/*/*", "error-length/*/*", "prefix/*/*"],
        )
    },
    Planted {
        lossy: |bytes, out| {
            replacing(bytes, out, |number, _, out| {
                if number != 255 {
                    out.extend_from_slice(REPLACEMENT)
                }
            });
        },
        ..sound("h17", "the 256th error is not replaced", INVENTED, &["lossy/*/*"])
    },
    Planted {
        lossy: |bytes, out| {
            replacing(bytes, out, |number, _, out| {
                if number < 4096 {
                    out.extend_from_slice(REPLACEMENT)
                }
            });
        },
        ..sound("h18", "errors after the 4096th are not replaced", INVENTED, &["lossy/*/*"])
    },
    Planted {
        validate: |bytes| {
            let is_many = errors(bytes).nth(65_535).is_some();
            if is_many && errors(bytes).count() == 65_536 { Some(Validity::Valid) } else { fault::validate(bytes) }
        },
        ..sound("h19", "65,536 errors are counted as none", INVENTED, &["verdict/*/*"])
    },
    Planted {
        lossy: |bytes, out| {
            losing_spans(bytes, out, |span, text| span.start < 4096 && span.end > 4096 && text.len() == 3)
        },
        ..sound(
            "h20",
            "a character of three bytes across the end of an output buffer of 4096 bytes is lost",
            "the family of encoding_rs a074922",
            &["identity/valid-3/*", "lossy/*/*"],
        )
    },
    Planted {
        lossy: |bytes, out| {
            let is_lost = |span: &Range<usize>, text: &[u8]| span.start == 16_382 && text == REPLACEMENT;
            losing_spans(bytes, out, is_lost);
        },
        ..sound(
            "h21",
            "a replacement of which two bytes fit into an output buffer of 16,384 bytes is lost",
            INVENTED,
            &["identity/valid-3/*", "lossy/*/*"],
        )
    },
    Planted {
        lossy: |bytes, out| {
            let is_long = bytes.len() > 1 << 16 && chars(bytes).nth(1 << 16).is_some();
            losing(bytes, out, is_long);
        },
        ..sound("h22", "the last of more than 65,536 characters is lost", INVENTED, &["identity/*/*", "lossy/*/*"])
    },
    Planted {
        validate: |bytes| {
            let is_long = bytes.len() >= 1 << 20;
            missing(bytes, |at| is_long && at == bytes.len() - 1)
        },
        ..sound("h26", "an error in the last byte of an input of 1 MiB or more is missed", INVENTED, &["verdict/*/*"])
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::planted::fault::tests::assert_sound;

    /// Whether text is decoded unchanged.
    fn is_kept(lossy: fn(&[u8], &mut Vec<u8>), text: &[u8]) -> bool {
        let mut out = Vec::new();
        lossy(text, &mut out);
        out == text
    }

    #[test]
    fn only_full_buffers_lose_anything() {
        let bike = "\u{1F6B2}".as_bytes();
        let text = |before: usize, after: usize| [&vec![b'a'; before], bike, &vec![b'a'; after]].concat();
        assert!(!is_kept(through_small_scratch, &text(1021, 1023)));
        assert!(is_kept(through_small_scratch, &text(1021, 1022)));
        assert!(is_kept(through_small_scratch, &text(1020, 3000)));
        assert!(!is_kept(through_reused_chunk, &text(8191, 8192)));
        assert!(is_kept(through_reused_chunk, &text(8191, 8191)));
        assert!(is_kept(through_reused_chunk, &text(8190, 20_000)));
        assert!(!is_kept(through_crowded_scratch, &text(253, 0)));
        assert!(is_kept(through_crowded_scratch, &text(252, 300)));
    }

    #[test]
    fn without_a_fault_the_validators_are_sound() {
        assert_sound(blocks_accept::<NONE>);
        assert_sound(registers_accept::<NONE>);
    }
}
