//! Encodings that are not Unicode: ASCII, Latin-1 and Windows-1252, as tables; and, with the feature `charsets`, the
//! others of the Encoding Standard, single-byte ones included, through the crate encoding_rs.

use crate::codec::Kernel;
use crate::utf8::Kind;

/// What is at the start of some bytes, in any encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Whole {
        len: usize,
        code_point: u32,
    },
    /// No code point (an escape sequence), or two.
    #[cfg_attr(not(feature = "charsets"), expect(dead_code))]
    Other {
        len: usize,
        code_points: [Option<u32>; 2],
    },
    IllFormed(IllFormed),
    /// The bytes to come decide.
    Wait,
}

/// An ill-formed segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IllFormed {
    pub(super) len: usize,
    /// The rule, or `None` if the byte is not assigned.
    pub(super) kind: Option<Kind>,
    pub(super) incomplete: bool,
}

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
const LATIN_1_UPPER: [u16; 128] = latin_1_upper();

const fn latin_1_upper() -> [u16; 128] {
    let mut upper = [0; 128];
    let mut at = 0;
    while at < 128 {
        upper[at] = 0x80 + at as u16;
        at += 1;
    }
    upper
}

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
    /// All tables have only code points below this; the highest is U+2122.
    const CODE_POINTS: usize = 0x2600;

    /// The encoding with these code points for 80..FF.
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

    /// The length of a prefix of assigned bytes, in whole blocks.
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

/// An encoding of the crate encoding_rs; without the feature `charsets` there is none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Legacy {
    #[cfg(feature = "charsets")]
    By(&'static encoding_rs::Encoding),
}

/// What earlier bytes mean for those to come, in ISO-2022-JP; the other encodings have no state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shift {
    /// The last escape sequence.
    escape: [u8; 3],
    /// Nothing has come after it.
    is_last: bool,
}

impl Shift {
    const ASCII: [u8; 3] = *b"\x1B(B";
    /// At the start of a text.
    pub(super) const START: Self = Self { escape: Self::ASCII, is_last: false };
}

#[cfg(not(feature = "charsets"))]
impl Legacy {
    pub(super) fn step(self, _: &mut Shift, _: &[u8], _: bool) -> Step {
        match self {}
    }

    pub(super) fn run(self, _: &[u8], _: &mut Vec<u16>) -> usize {
        match self {}
    }

    pub(super) fn write(self, _: &[u32], _: &mut Vec<u8>) -> usize {
        match self {}
    }

    pub(super) fn push(self, _: &mut Shift, _: u32, _: &mut Vec<u8>) -> Option<()> {
        match self {}
    }

    pub(super) fn flush(self, _: &mut Shift, _: &mut Vec<u8>) {
        match self {}
    }
}

#[cfg(feature = "charsets")]
mod by_encoding_rs {
    use super::*;
    use encoding_rs::{Decoder, DecoderResult, EncoderResult, ISO_2022_JP};

    impl Legacy {
        fn has_shifts(self) -> bool {
            let Self::By(encoding) = self;
            encoding == ISO_2022_JP
        }

        /// A decoder in the state that it has after the bytes so far.
        fn decoder(self, shift: Shift) -> Decoder {
            let Self::By(encoding) = self;
            let mut decoder = encoding.new_decoder_without_bom_handling();
            if self.has_shifts() {
                // Two bytes that are characters in every state.
                let before = [&shift.escape[..], if shift.is_last { b"" } else { b"!!" }].concat();
                let _ = decoder.decode_to_utf16_without_replacement(&before, &mut [0; 8], false);
            }
            decoder
        }

        /// Reads the start of `rest`, which is not empty.
        pub(crate) fn step(self, shift: &mut Shift, rest: &[u8], last: bool) -> Step {
            let mut decoder = self.decoder(*shift);
            let mut units = [0; 8];
            let wrong = |bad: u8, len: usize, kind| {
                // If an earlier escape sequence is at fault, the fault is counted here.
                let len = usize::from(bad).min(len);
                Step::IllFormed(IllFormed { len, kind, incomplete: kind.is_some() })
            };
            for len in 1..=rest.len() {
                let (result, _, written) =
                    decoder.decode_to_utf16_without_replacement(&rest[len - 1..len], &mut units, false);
                let is_escape = self.has_shifts() && len == 3 && rest[0] == 0x1B;
                // A second escape sequence in a row is a fault, but it takes effect.
                if is_escape
                    && matches!(result, DecoderResult::InputEmpty | DecoderResult::Malformed(3, _))
                    && let Some(escape) = rest.first_chunk()
                {
                    *shift = Shift { escape: *escape, is_last: true };
                }
                if let DecoderResult::Malformed(bad, _) = result {
                    return wrong(bad, len, None);
                }
                if is_escape {
                    return Step::Other { len, code_points: [None; 2] };
                }
                if written > 0 {
                    shift.is_last = false;
                    let mut code_points = char::decode_utf16(units[..written].iter().copied())
                        .map(|scalar| u32::from(scalar.unwrap_or(char::REPLACEMENT_CHARACTER)));
                    return match (code_points.next(), code_points.next()) {
                        (Some(code_point), None) => Step::Whole { len, code_point },
                        (one, other) => Step::Other { len, code_points: [one, other] },
                    };
                }
            }
            if !last {
                return Step::Wait;
            }
            match decoder.decode_to_utf16_without_replacement(&[], &mut units, true).0 {
                DecoderResult::Malformed(bad, _) => wrong(bad, rest.len(), Some(Kind::Incomplete)),
                _ => wrong(u8::MAX, rest.len(), Some(Kind::Incomplete)),
            }
        }

        /// Fills `units` with the complete characters at the start, as UTF-16. Returns how many bytes these are.
        pub(crate) fn run(self, bytes: &[u8], units: &mut Vec<u16>) -> usize {
            if self.has_shifts() {
                return 0;
            }
            let mut decoder = self.decoder(Shift::START);
            units.resize(decoder.max_utf16_buffer_length(bytes.len()).unwrap_or(0), 0);
            let (result, read, written) = decoder.decode_to_utf16_without_replacement(bytes, units, false);
            units.truncate(written);
            let left = match result {
                DecoderResult::InputEmpty => {
                    // A fault here is a character that is cut off.
                    decoder.decode_to_utf16_without_replacement(&[], &mut [0; 8], true).0
                }
                other => other,
            };
            match left {
                DecoderResult::Malformed(bad, more) => read.saturating_sub(usize::from(bad) + usize::from(more)),
                _ => read,
            }
        }

        /// Appends the code points up to the first that the encoding lacks. Returns how many these are.
        pub(crate) fn write(self, code_points: &[u32], out: &mut Vec<u8>) -> usize {
            let Self::By(encoding) = self;
            if self.has_shifts() {
                return 0;
            }
            let text: String = code_points.iter().map_while(|&code_point| char::from_u32(code_point)).collect();
            let mut encoder = encoding.new_encoder();
            out.reserve(encoder.max_buffer_length_from_utf8_without_replacement(text.len()).unwrap_or(0));
            let (result, read) = encoder.encode_from_utf8_to_vec_without_replacement(&text, out, true);
            let written = text.get(..read).unwrap_or_default().chars().count();
            written - usize::from(matches!(result, EncoderResult::Unmappable(_)))
        }

        /// Appends one code point; `None` if the encoding lacks it.
        pub(crate) fn push(self, shift: &mut Shift, code_point: u32, out: &mut Vec<u8>) -> Option<()> {
            let Self::By(encoding) = self;
            let scalar = char::from_u32(code_point)?;
            let mut utf8 = [0; 4];
            let (bytes, _, has_unmappable) = encoding.encode(scalar.encode_utf8(&mut utf8));
            if has_unmappable {
                return None;
            }
            match bytes.strip_suffix(&Shift::ASCII) {
                Some(shifted) if self.has_shifts() => {
                    let (escape, shifted) = shifted.split_first_chunk()?;
                    self.shift(shift, *escape, out);
                    out.extend_from_slice(shifted);
                }
                _ => {
                    self.flush(shift, out);
                    out.extend_from_slice(&bytes);
                }
            }
            Some(())
        }

        fn shift(self, shift: &mut Shift, escape: [u8; 3], out: &mut Vec<u8>) {
            if core::mem::replace(&mut shift.escape, escape) != escape {
                out.extend_from_slice(&escape);
            }
        }

        /// Ends the text: what follows is ASCII.
        pub(crate) fn flush(self, shift: &mut Shift, out: &mut Vec<u8>) {
            self.shift(shift, Shift::ASCII, out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Charset;

    #[test]
    fn the_tables_are_those_of_the_standard() {
        let upper = latin_1_upper();
        let changes: Vec<(u8, u16)> = (0x80..=0xFF)
            .map(|byte| (byte, Charset::Windows1252.decode(byte)))
            .filter_map(|(byte, code_point)| Some((byte, u16::try_from(code_point?).ok()?)))
            .filter(|&(byte, code_point)| u16::from(byte) != code_point)
            .collect();
        assert_eq!(changes.len(), 27);
        let changed = except(upper, &changes);
        for (at, byte) in (0x80..=0xFF).enumerate() {
            assert_eq!(Some(upper[at].into()), Charset::Latin1.decode(byte));
            assert_eq!(Some(changed[at].into()), Charset::Windows1252.decode(byte));
            assert_eq!(Some(WINDOWS_1252_UPPER[at]), Some(changed[at]));
        }
    }
}
