//! Code units of 16 and 32 bits, and single-byte encodings: validation, and conversion from one width to the other, and to
//! bytes and back.
//!
//! Plain loops over blocks of 32. A kernel compiles the functions marked `#[inline(always)]` for its instruction set, and
//! the compiler turns the loops over a block into register operations; the loops over single units are for surrogates and
//! the last block.

/// Units at a time.
const BLOCK: usize = 32;

/// A code unit of `N` bytes.
pub(crate) trait CodeUnit<const N: usize>: Copy + Default {
    fn from_le_bytes(bytes: [u8; N]) -> Self;
    fn to_le_bytes(self) -> [u8; N];
    fn swap_bytes(self) -> Self;
}

impl CodeUnit<2> for u16 {
    #[inline(always)]
    fn from_le_bytes(bytes: [u8; 2]) -> Self {
        Self::from_le_bytes(bytes)
    }

    #[inline(always)]
    fn to_le_bytes(self) -> [u8; 2] {
        self.to_le_bytes()
    }

    #[inline(always)]
    fn swap_bytes(self) -> Self {
        self.swap_bytes()
    }
}

impl CodeUnit<4> for u32 {
    #[inline(always)]
    fn from_le_bytes(bytes: [u8; 4]) -> Self {
        Self::from_le_bytes(bytes)
    }

    #[inline(always)]
    fn to_le_bytes(self) -> [u8; 4] {
        self.to_le_bytes()
    }

    #[inline(always)]
    fn swap_bytes(self) -> Self {
        self.swap_bytes()
    }
}

/// `unit`, with its bytes in the other order if `swap`.
#[inline(always)]
fn swapped_if<U: CodeUnit<N>, const N: usize>(swap: bool, unit: U) -> U {
    if swap { unit.swap_bytes() } else { unit }
}

#[inline(always)]
fn is_surrogate(unit: u16) -> bool {
    unit & 0xF800 == 0xD800
}

/// Whether `unit` is at most `last` and not a surrogate.
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
pub(crate) fn utf16_prefix(units: &[u16]) -> usize {
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

/// How many units at the start are at most `last` and not surrogates.
#[inline(always)]
pub(crate) fn utf32_prefix(units: &[u32], last: u32) -> usize {
    let mut at = 0;
    while units[at..].first_chunk().is_some_and(|block| all_scalars(block, last)) {
        at += BLOCK;
    }
    while units.get(at).is_some_and(|&unit| is_scalar(unit, last)) {
        at += 1;
    }
    at
}

/// Appends UTF-16 as UTF-32, with U+FFFD for every lone surrogate.
#[inline(always)]
pub(crate) fn utf32_from_utf16(units: &[u16], out: &mut Vec<u32>) {
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

/// Appends UTF-32 as UTF-16, with U+FFFD for every number that is not a scalar value.
#[inline(always)]
pub(crate) fn utf16_from_utf32(units: &[u32], out: &mut Vec<u16>) {
    out.reserve(units.len());
    for block in units.chunks(BLOCK) {
        // Both units of a pair are always written; where there is only one, the next overwrites the second.
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

/// Appends bytes of a single-byte encoding as UTF-16: each is the code point of the same number, except 80..9F, whose code
/// points are in `of_80`.
#[inline(always)]
pub(crate) fn utf16_from_bytes(bytes: &[u8], of_80: &[u16; 32], out: &mut Vec<u16>) {
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

/// Appends `bytes` as code units, in either byte order. Bytes at the end that are not a whole unit are left out.
#[inline(always)]
pub(crate) fn read<U: CodeUnit<N>, const N: usize>(bytes: &[u8], big_endian: bool, out: &mut Vec<U>) {
    let (blocks, rest) = bytes.as_chunks::<N>().0.as_chunks::<BLOCK>();
    out.reserve(bytes.len() / N);
    for block in blocks {
        let mut units = [U::default(); BLOCK];
        for at in 0..BLOCK {
            units[at] = U::from_le_bytes(block[at]);
        }
        if big_endian {
            for unit in &mut units {
                *unit = unit.swap_bytes();
            }
        }
        out.extend_from_slice(&units);
    }
    for &bytes in rest {
        out.push(swapped_if(big_endian, U::from_le_bytes(bytes)));
    }
}

/// Appends the bytes of units, each widened to `U`, in either byte order.
#[inline(always)]
pub(crate) fn write<U: CodeUnit<N> + From<F>, F: Copy, const N: usize>(
    units: &[F],
    big_endian: bool,
    out: &mut Vec<u8>,
) {
    let (blocks, rest) = units.as_chunks::<BLOCK>();
    out.reserve(N * units.len());
    for block in blocks {
        let mut bytes = [[0; N]; BLOCK];
        for at in 0..BLOCK {
            bytes[at] = swapped_if(big_endian, U::from(block[at])).to_le_bytes();
        }
        out.extend_from_slice(bytes.as_flattened());
    }
    for &unit in rest {
        out.extend_from_slice(&swapped_if(big_endian, U::from(unit)).to_le_bytes());
    }
}
