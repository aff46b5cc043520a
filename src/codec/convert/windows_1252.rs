//! Windows-1252 by the index of the WHATWG Encoding Standard.

/// The code points of 80..9F; the five bytes without one of their own stand for controls.
pub(super) static FROM_80: [u16; 32] = [
    0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008D,
    0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
    0x0153, 0x009D, 0x017E, 0x0178,
];

/// The code point of each byte.
pub(super) static CODE_POINTS: [u16; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = if byte & 0xE0 == 0x80 { FROM_80[byte & 0x1F] } else { byte as u16 };
        byte += 1;
    }
    table
};

/// Whether the byte has no code point of its own.
#[inline]
pub(super) fn is_hole(byte: u8) -> bool {
    (byte == 0x81) | (byte == 0x8D) | (byte == 0x8F) | (byte == 0x90) | (byte == 0x9D)
}

/// The byte of each code point up to the last that has one; 0 where there is none, and for U+0000.
static BYTES: [u8; 0x2123] = {
    let mut table = [0; 0x2123];
    let mut byte = 0;
    while byte < 256 {
        table[CODE_POINTS[byte] as usize] = byte as u8;
        byte += 1;
    }
    table
};

/// The byte of a code point, 0 where there is none.
#[inline]
pub(super) fn byte_or_0(code_point: u16) -> u8 {
    BYTES.get(usize::from(code_point)).map_or(0, |&byte| byte)
}

/// The byte of a code point.
#[inline]
pub(super) fn byte(code_point: u32) -> Option<u8> {
    let byte = byte_or_0(u16::try_from(code_point).ok()?);
    (byte != 0 || code_point == 0).then_some(byte)
}
