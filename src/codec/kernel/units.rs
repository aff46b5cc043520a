//! Code units of 16 and 32 bits: how far they are well-formed, from one width to the other, to bytes and back, and
//! from single bytes. Plain loops
//! over blocks: compiled for an instruction set, they use its registers.

use crate::codec::transcode::push;

/// Units at a time.
const BLOCK: usize = 32;

#[inline(always)]
fn is_surrogate(unit: u16) -> bool {
    unit & 0xF800 == 0xD800
}

#[inline(always)]
fn is_scalar(unit: u32, last: u32) -> bool {
    (unit.wrapping_sub(0xD800) >= 0x800) & (unit <= last)
}

#[inline(always)]
fn any_surrogate(block: &[u16; BLOCK]) -> bool {
    let mut any = false;
    for &unit in block {
        any |= is_surrogate(unit);
    }
    any
}

#[inline(always)]
fn all_scalars(block: &[u32; BLOCK], last: u32) -> bool {
    let mut all = true;
    for &unit in block {
        all &= is_scalar(unit, last);
    }
    all
}

/// How many units at the start are UTF-16 without a lone surrogate.
#[inline(always)]
pub(super) fn utf16_prefix(units: &[u16]) -> usize {
    let mut at = 0;
    while at < units.len() {
        while units[at..].first_chunk().is_some_and(|block| !any_surrogate(block)) {
            at += BLOCK;
        }
        let end = units.len().min(at + BLOCK);
        while at < end {
            at += match units[at..] {
                [0xD800..=0xDBFF, 0xDC00..=0xDFFF, ..] => 2,
                [unit, ..] if !is_surrogate(unit) => 1,
                _ => return at,
            };
        }
    }
    at
}

/// How many units at the start are at most the last, and no surrogates.
#[inline(always)]
pub(super) fn utf32_prefix(units: &[u32], last: u32) -> usize {
    let mut at = 0;
    while units[at..].first_chunk().is_some_and(|block| all_scalars(block, last)) {
        at += BLOCK;
    }
    while units.get(at).is_some_and(|&unit| is_scalar(unit, last)) {
        at += 1;
    }
    at
}

/// Appends UTF-16 in UTF-32, with U+FFFD for every lone surrogate.
#[inline(always)]
pub(super) fn utf32_from_utf16(units: &[u16], out: &mut Vec<u32>) {
    out.reserve(units.len());
    let mut at = 0;
    while at < units.len() {
        if let Some(block) = units[at..].first_chunk::<BLOCK>()
            && !any_surrogate(block)
        {
            let mut wide = [0; BLOCK];
            for place in 0..BLOCK {
                wide[place] = u32::from(block[place]);
            }
            out.extend_from_slice(&wide);
            at += BLOCK;
            continue;
        }
        let end = units.len().min(at + BLOCK);
        while at < end {
            let (unit, len) = match units[at..] {
                [lead @ 0xD800..=0xDBFF, trail @ 0xDC00..=0xDFFF, ..] => {
                    (0x1_0000 + (u32::from(lead & 0x3FF) << 10) + u32::from(trail & 0x3FF), 2)
                }
                [unit, ..] if is_surrogate(unit) => (0xFFFD, 1),
                _ => (u32::from(units[at]), 1),
            };
            out.push(unit);
            at += len;
        }
    }
}

/// Appends units of sixteen bits as units of 32 bits, as bytes.
#[inline(always)]
pub(super) fn write_16_as_32(units: &[u16], big_endian: bool, out: &mut Vec<u8>) {
    out.reserve(4 * units.len());
    let (blocks, rest) = units.as_chunks::<BLOCK>();
    for block in blocks {
        let mut bytes = [[0; 4]; BLOCK];
        for at in 0..BLOCK {
            let unit = u32::from(block[at]);
            bytes[at] = if big_endian { unit.swap_bytes() } else { unit }.to_le_bytes();
        }
        out.extend_from_slice(bytes.as_flattened());
    }
    for &unit in rest {
        let unit = u32::from(unit);
        out.extend_from_slice(&if big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() });
    }
}

/// Appends UTF-32 in UTF-16, with U+FFFD for what is no scalar value.
#[inline(always)]
pub(super) fn utf16_from_utf32(units: &[u32], out: &mut Vec<u16>) {
    out.reserve(units.len());
    for block in units.chunks(BLOCK) {
        // Both halves are written, and the second is overwritten where there is but one.
        let mut narrow = [0; 2 * BLOCK];
        let mut len = 0;
        for &unit in block {
            let scalar = if is_scalar(unit, 0x10_FFFF) { unit } else { 0xFFFD };
            let bits = scalar.wrapping_sub(0x1_0000);
            let is_pair = scalar >= 0x1_0000;
            narrow[len % (2 * BLOCK)] = if is_pair { 0xD800 | (bits >> 10) as u16 } else { scalar as u16 };
            narrow[(len + 1) % (2 * BLOCK)] = 0xDC00 | (bits & 0x3FF) as u16;
            len += 1 + usize::from(is_pair);
        }
        out.extend_from_slice(&narrow[..len]);
    }
}

/// Appends single bytes in UTF-16: each is the code point of that number, but those of 80..9F are what `of_80` says.
#[inline(always)]
pub(super) fn utf16_from_bytes(bytes: &[u8], of_80: &[u16; 32], out: &mut Vec<u16>) {
    out.reserve(bytes.len());
    let is_mapped = |byte: u8| byte & 0xE0 == 0x80;
    let unit = |byte: u8| if is_mapped(byte) { of_80[usize::from(byte & 0x1F)] } else { byte.into() };
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    for block in blocks {
        let mut any = false;
        for &byte in block {
            any |= is_mapped(byte);
        }
        let mut wide = [0; BLOCK];
        for place in 0..BLOCK {
            wide[place] = u16::from(block[place]);
        }
        if any {
            for place in 0..BLOCK {
                wide[place] = unit(block[place]);
            }
        }
        out.extend_from_slice(&wide);
    }
    for &byte in rest {
        out.push(unit(byte));
    }
}

/// Appends UTF-32 in UTF-8, with U+FFFD for what is no scalar value.
pub(super) fn from_utf32(units: &[u32], out: &mut Vec<u8>) {
    out.reserve(units.len());
    for &unit in units {
        push(char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER), out);
    }
}

/// The order of the bytes of a unit, and its width: reads units from bytes, and writes them.
macro_rules! in_order {
    ($read:ident, $write:ident, $unit:ty, $len:literal) => {
        /// Appends the units of so many bytes, an odd rest of them left out.
        #[inline(always)]
        pub(super) fn $read(bytes: &[u8], big_endian: bool, out: &mut Vec<$unit>) {
            let (blocks, rest) = bytes.as_chunks::<$len>().0.as_chunks::<BLOCK>();
            out.reserve(bytes.len() / $len);
            for block in blocks {
                let mut units = [0; BLOCK];
                for at in 0..BLOCK {
                    units[at] = <$unit>::from_le_bytes(block[at]);
                }
                if big_endian {
                    for unit in &mut units {
                        *unit = unit.swap_bytes();
                    }
                }
                out.extend_from_slice(&units);
            }
            for &bytes in rest {
                out.push(if big_endian { <$unit>::from_be_bytes(bytes) } else { <$unit>::from_le_bytes(bytes) });
            }
        }

        /// Appends the bytes of units.
        #[inline(always)]
        pub(super) fn $write(units: &[$unit], big_endian: bool, out: &mut Vec<u8>) {
            let (blocks, rest) = units.as_chunks::<BLOCK>();
            out.reserve($len * units.len());
            for block in blocks {
                let mut bytes = [[0; $len]; BLOCK];
                for at in 0..BLOCK {
                    let unit = if big_endian { block[at].swap_bytes() } else { block[at] };
                    bytes[at] = unit.to_le_bytes();
                }
                out.extend_from_slice(bytes.as_flattened());
            }
            for &unit in rest {
                out.extend_from_slice(&if big_endian { unit.to_be_bytes() } else { unit.to_le_bytes() });
            }
        }
    };
}

in_order!(read_16, write_16, u16, 2);
in_order!(read_32, write_32, u32, 4);
