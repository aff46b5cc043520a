//! Code units of 16 and 32 bits, and single-byte encodings: validation, and conversion from one width to the other, to
//! UTF-8, and to bytes and back.
//!
//! Plain loops over blocks of 32. A kernel compiles the functions marked `#[inline(always)]` for its instruction set, and
//! the compiler turns the loops over a block into registers; the loops over single units are for surrogates and the last
//! block.

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

/// Units that are looked at together: ASCII, and text of three bytes each, have loops of their own.
const UNITS: usize = 16;

/// Bytes that are collected before they are appended.
const ROOM: usize = 512;

/// UTF-8 before it is appended.
struct Text {
    bytes: [u8; ROOM],
    len: usize,
}

impl Text {
    /// Bytes that [`Text::push`] and [`Text::push_four`] may add.
    const STEP: usize = 4;

    fn has_room(&self) -> bool {
        self.len <= ROOM - Self::STEP
    }

    #[inline(always)]
    fn add<const N: usize>(&mut self, bytes: [u8; N]) {
        if let Some(place) = self.bytes.get_mut(self.len..self.len + N) {
            place.copy_from_slice(&bytes);
        }
        self.len += N;
    }

    /// Adds the sequence of a scalar value. Text has runs of the same length, so the branches are predicted well.
    #[inline(always)]
    fn push(&mut self, scalar: u32) {
        let tail = |bits: u32| 0x80 | (bits & 0x3F) as u8;
        match scalar {
            0..0x80 => self.add([scalar as u8]),
            0x80..0x800 => self.add([0xC0 | (scalar >> 6) as u8, tail(scalar)]),
            0x800..0x1_0000 => self.add([0xE0 | (scalar >> 12) as u8, tail(scalar >> 6), tail(scalar)]),
            _ => self.add([0xF0 | (scalar >> 18) as u8, tail(scalar >> 12), tail(scalar >> 6), tail(scalar)]),
        }
    }

    /// Adds four units, if they are ASCII.
    #[inline(always)]
    fn push_four<U: Copy + Into<u32>>(&mut self, units: &[U]) -> bool {
        let Some(four) = units.first_chunk::<4>() else { return false };
        let four = four.map(Into::into);
        let are_ascii = four.iter().fold(0, |any, unit| any | unit) < 0x80;
        if are_ascii {
            self.add(four.map(|unit| unit as u8));
        }
        are_ascii
    }

    fn append_to(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.bytes[..self.len.min(ROOM)]);
    }
}

/// A block as bytes, if it is ASCII.
#[inline(always)]
fn ascii<U: Copy + Into<u32>>(block: &[U; UNITS]) -> Option<[u8; UNITS]> {
    let mut any = 0;
    for &unit in block {
        any |= unit.into();
    }
    (any < 0x80).then(|| block.map(|unit| unit.into() as u8))
}

/// Appends units as UTF-8: `read` returns the scalar value of the first of those it is given, at least one, and how many it
/// takes. `ascii` is [`ascii`], or does the same.
#[inline(always)]
fn append_utf8<U: Copy + Into<u32>>(
    units: &[U],
    out: &mut Vec<u8>,
    ascii: impl Fn(&[U; UNITS]) -> Option<[u8; UNITS]>,
    read: impl Fn(&[U]) -> (u32, usize),
) {
    out.reserve(units.len() + ROOM);
    let (mut at, mut text) = (0, Text { bytes: [0; ROOM], len: 0 });
    while at < units.len() {
        let rest = &units[at..];
        if let Some(block) = rest.first_chunk::<UNITS>() {
            if let Some(bytes) = ascii(block) {
                out.extend_from_slice(&bytes);
                at += UNITS;
                continue;
            }
            let is_of_three = |unit: u32| (0x800..0x1_0000).contains(&unit) & (unit & 0xF800 != 0xD800);
            if block.iter().fold(true, |all, &unit| all & is_of_three(unit.into())) {
                let mut bytes = [0; 3 * UNITS];
                for (sequence, &unit) in bytes.as_chunks_mut::<3>().0.iter_mut().zip(block) {
                    let unit: u32 = unit.into();
                    let tail = |unit: u32| 0x80 | (unit & 0x3F) as u8;
                    *sequence = [0xE0 | (unit >> 12) as u8, tail(unit >> 6), tail(unit)];
                }
                out.extend_from_slice(&bytes);
                at += UNITS;
                continue;
            }
        }
        // Up to the next run of ASCII.
        let mut in_a_row = 0;
        text.len = 0;
        while text.has_room() && at < units.len() && in_a_row < UNITS / 4 {
            let rest = &units[at..];
            let (scalar, len) = read(rest);
            if scalar < 0x80 && text.push_four(rest) {
                (at, in_a_row) = (at + 4, in_a_row + 1);
                continue;
            }
            in_a_row = 0;
            text.push(scalar);
            at += len;
        }
        text.append_to(out);
    }
}

/// Appends UTF-16 as UTF-8, with U+FFFD for every lone surrogate.
#[inline(always)]
pub(crate) fn from_utf16(units: &[u16], out: &mut Vec<u8>) {
    append_utf8(units, out, ascii, |units| match *units {
        [unit, ..] if !is_surrogate(unit) => (unit.into(), 1),
        [lead @ 0xD800..=0xDBFF, trail @ 0xDC00..=0xDFFF, ..] => {
            (0x1_0000 + (u32::from(lead & 0x3FF) << 10) + u32::from(trail & 0x3FF), 2)
        }
        _ => (0xFFFD, 1),
    });
}

/// Appends UTF-32 as UTF-8, with U+FFFD for every number that is not a scalar value.
#[inline(always)]
pub(crate) fn from_utf32(units: &[u32], out: &mut Vec<u8>) {
    append_utf8(units, out, ascii, |units| match *units {
        [unit, ..] if is_scalar(unit, 0x10_FFFF) => (unit, 1),
        _ => (0xFFFD, 1),
    });
}

/// Appends Latin-1 as UTF-8.
#[inline(always)]
pub(crate) fn from_latin_1(bytes: &[u8], out: &mut Vec<u8>) {
    let ascii = |block: &[u8; UNITS]| block.is_ascii().then_some(*block);
    append_utf8(bytes, out, ascii, |bytes| (bytes.first().copied().unwrap_or_default().into(), 1));
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
