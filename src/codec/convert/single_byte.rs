//! Encodings of one byte for each code point, as tables.

use crate::codec::Kernel;

pub(super) static ASCII: SingleByte = SingleByte::new([UNASSIGNED; 128]);

pub(super) static LATIN_1: SingleByte = SingleByte::new(LATIN_1_UPPER);

/// WHATWG Encoding Standard, index windows-1252.
pub(super) static WINDOWS_1252: SingleByte = SingleByte::new(WINDOWS_1252_UPPER);

/// Unicode MAPPINGS/VENDORS/MICSFT/WINDOWS/CP1252.TXT.
pub(super) static WINDOWS_1252_STRICT: SingleByte = SingleByte::new(except(
    WINDOWS_1252_UPPER,
    &[(0x81, UNASSIGNED), (0x8D, UNASSIGNED), (0x8F, UNASSIGNED), (0x90, UNASSIGNED), (0x9D, UNASSIGNED)],
));

/// The code points of 80..FF in Latin-1.
const LATIN_1_UPPER: [u16; 128] = {
    let mut upper = [0; 128];
    let mut at = 0;
    while at < 128 {
        upper[at] = 0x80 + at as u16;
        at += 1;
    }
    upper
};

#[rustfmt::skip]
const WINDOWS_1252_UPPER: [u16; 128] = except(LATIN_1_UPPER, &[
    (0x80, 0x20AC), (0x82, 0x201A), (0x83, 0x0192), (0x84, 0x201E), (0x85, 0x2026), (0x86, 0x2020), (0x87, 0x2021),
    (0x88, 0x02C6), (0x89, 0x2030), (0x8A, 0x0160), (0x8B, 0x2039), (0x8C, 0x0152), (0x8E, 0x017D), (0x91, 0x2018),
    (0x92, 0x2019), (0x93, 0x201C), (0x94, 0x201D), (0x95, 0x2022), (0x96, 0x2013), (0x97, 0x2014), (0x98, 0x02DC),
    (0x99, 0x2122), (0x9A, 0x0161), (0x9B, 0x203A), (0x9C, 0x0153), (0x9E, 0x017E), (0x9F, 0x0178),
]);

/// An encoding of one byte for each code point, of which 00..7F are ASCII.
pub(super) struct SingleByte {
    /// The code point of each byte; [`UNASSIGNED`] for none.
    pub(super) code_points: [u16; 256],
    /// The code points of 80..9F again.
    from_80: [u16; 32],
    /// The byte of each code point; 0 for none, and for U+0000.
    bytes: [u8; SingleByte::CODE_POINTS],
    pub(super) identity: Identity,
    /// Each of A0..FF that is assigned is the code point of that number.
    is_latin_1_from_a0: bool,
    /// The bytes that are not assigned, and their number.
    unassigned: ([u8; 128], usize),
}

/// The bytes that are code points of the same number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Identity {
    /// At least 00..7F.
    Ascii,
    /// 00..7F and A0..FF.
    Outside80To9F,
    All,
}

/// No code point.
const UNASSIGNED: u16 = 0xFFFF;

/// A table of 80..FF with some bytes changed.
const fn except(mut upper: [u16; 128], changes: &[(u8, u16)]) -> [u16; 128] {
    let mut at = 0;
    while at < changes.len() {
        upper[changes[at].0 as usize - 0x80] = changes[at].1;
        at += 1;
    }
    upper
}

impl SingleByte {
    /// Code points from here on are in none of the tables: box-drawing characters are the last below.
    const CODE_POINTS: usize = 0x2600;

    /// By the code points of 80..FF.
    const fn new(upper: [u16; 128]) -> Self {
        let mut it = Self {
            code_points: [0; 256],
            from_80: [0; 32],
            bytes: [0; Self::CODE_POINTS],
            identity: Identity::Ascii,
            is_latin_1_from_a0: true,
            unassigned: ([0; 128], 0),
        };
        let (mut is_latin_1, mut is_latin_1_from_a0) = (true, true);
        let mut byte = 0;
        while byte < 256 {
            let code_point = if byte < 0x80 { byte as u16 } else { upper[byte - 0x80] };
            it.code_points[byte] = code_point;
            if 0x80 <= byte && byte < 0xA0 {
                it.from_80[byte - 0x80] = code_point;
            }
            let is_same = code_point == byte as u16;
            is_latin_1 &= is_same;
            is_latin_1_from_a0 &= is_same || byte < 0xA0;
            if code_point == UNASSIGNED {
                it.unassigned.0[it.unassigned.1] = byte as u8;
                it.unassigned.1 += 1;
            } else {
                it.bytes[code_point as usize] = byte as u8;
                it.is_latin_1_from_a0 &= is_same || byte < 0xA0;
            }
            byte += 1;
        }
        if is_latin_1 {
            it.identity = Identity::All;
        } else if is_latin_1_from_a0 {
            it.identity = Identity::Outside80To9F;
        }
        it
    }

    /// Whether only 00..7F are assigned.
    pub(super) fn is_ascii(&self) -> bool {
        self.unassigned.1 == 128
    }

    /// The code point of a byte; `None` if it is not assigned.
    #[inline]
    pub(super) fn code_point(&self, byte: u8) -> Option<u32> {
        let code_point = self.code_points[usize::from(byte)];
        (code_point != UNASSIGNED).then_some(code_point.into())
    }

    /// The byte of a code point, 0 if there is none.
    #[inline]
    pub(super) fn byte_or_0(&self, code_point: u16) -> u8 {
        self.bytes.get(usize::from(code_point)).map_or(0, |&byte| byte)
    }

    /// The byte of a code point.
    #[inline]
    pub(super) fn byte(&self, code_point: u32) -> Option<u8> {
        let byte = self.byte_or_0(u16::try_from(code_point).ok()?);
        (byte != 0 || code_point == 0).then_some(byte)
    }

    /// How many bytes at the start are assigned, in blocks.
    pub(super) fn clean_prefix(&self, bytes: &[u8]) -> usize {
        const BLOCK: usize = 256;
        let unassigned = &self.unassigned.0[..self.unassigned.1];
        if unassigned.is_empty() {
            return bytes.len();
        }
        let is_clean =
            |block: &&[u8]| block.is_ascii() || !self.is_ascii() && !unassigned.iter().any(|byte| block.contains(byte));
        bytes.chunks(BLOCK).take_while(is_clean).map(<[u8]>::len).sum()
    }

    /// Appends assigned bytes as UTF-16.
    pub(super) fn to_utf16(&self, bytes: &[u8], units: &mut Vec<u16>) {
        if self.is_latin_1_from_a0 {
            Kernel::best().utf16_from_bytes_into(bytes, &self.from_80, units);
        } else {
            units.extend(bytes.iter().map(|&byte| self.code_points[usize::from(byte)]));
        }
    }
}

/// Each is a static of its own.
impl PartialEq for SingleByte {
    fn eq(&self, other: &Self) -> bool {
        core::ptr::eq(self, other)
    }
}

impl Eq for SingleByte {}

impl core::fmt::Debug for SingleByte {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "SingleByte({:04X?})", &self.code_points[0x80..])
    }
}
