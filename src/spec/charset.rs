//! The charsets of one byte a character that decoders fall back to.
//!
//! Windows-1252 comes in two: the index of the WHATWG Encoding Standard gives five bytes the C1 controls of the same
//! number, and the vendor's own table (Unicode MAPPINGS/VENDORS/MICSFT/WINDOWS/CP1252.TXT) leaves them undefined.

/// A charset of one byte a character.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Charset {
    /// ISO/IEC 8859-1 with both sets of controls: byte and code point are the same number.
    Latin1,
    /// WHATWG Encoding Standard, index windows-1252: every byte is a character.
    Windows1252,
    /// Windows-1252 by the vendor's table: 81, 8D, 8F, 90 and 9D are none.
    Windows1252Strict,
}

impl Charset {
    /// Every charset.
    pub const ALL: [Self; 3] = [Self::Latin1, Self::Windows1252, Self::Windows1252Strict];

    /// The name in contracts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Latin1 => "latin-1",
            Self::Windows1252 => "windows-1252",
            Self::Windows1252Strict => "windows-1252-strict",
        }
    }

    /// The code point of a byte; `None` for a hole.
    pub fn decode(self, byte: u8) -> Option<u32> {
        let from_80 = usize::from(byte).checked_sub(0x80).and_then(|index| FROM_80.get(index));
        match (self, from_80) {
            (Self::Latin1, _) | (_, None) => Some(byte.into()),
            (Self::Windows1252, Some(0)) => Some(byte.into()),
            (Self::Windows1252Strict, Some(0)) => None,
            (Self::Windows1252 | Self::Windows1252Strict, Some(&code_point)) => Some(code_point.into()),
        }
    }

    /// The one byte of a code point; `None` for a code point the charset lacks.
    pub fn encode(self, code_point: u32) -> Option<u8> {
        (0..=u8::MAX).find(|&byte| self.decode(byte) == Some(code_point))
    }
}

/// The code points of 80..9F in windows-1252; 0 for a hole.
const FROM_80: [u16; 32] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0, 0,
    0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E, 0x0178,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_charset_is_one_to_one() {
        for charset in Charset::ALL {
            let characters = (0..=255).filter_map(|byte| charset.decode(byte).map(|code_point| (byte, code_point)));
            let characters: Vec<(u8, u32)> = characters.collect();
            assert!(characters.iter().all(|&(byte, code_point)| charset.encode(code_point) == Some(byte)));
            let code_points = (0..=0xFFFF).filter(|&code_point| charset.encode(code_point).is_some()).count();
            assert_eq!(code_points, characters.len(), "{}", charset.name());
        }
    }

    #[test]
    fn the_holes_are_five() {
        let holes: Vec<u8> = (0..=255).filter(|&byte| Charset::Windows1252Strict.decode(byte).is_none()).collect();
        assert_eq!(holes, [0x81, 0x8D, 0x8F, 0x90, 0x9D]);
        for byte in 0..=255 {
            let (lax, strict) = (Charset::Windows1252.decode(byte), Charset::Windows1252Strict.decode(byte));
            assert_eq!(lax, strict.or(Some(byte.into())));
            assert_eq!(Charset::Latin1.decode(byte), Some(byte.into()));
        }
    }
}
