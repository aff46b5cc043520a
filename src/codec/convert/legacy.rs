//! The other encodings of the Encoding Standard, by the crate encoding_rs. Without the feature `charsets` there are none.

use crate::codec::convert::step::Step;

/// One of these encodings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Legacy {
    #[cfg(feature = "charsets")]
    By(&'static encoding_rs::Encoding),
}

/// What the bytes before mean for those to come, in ISO-2022-JP; the other encodings have no state.
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
    use crate::codec::convert::step::IllFormed;
    use crate::utf8::Kind;
    use encoding_rs::{Decoder, DecoderResult, EncoderResult, ISO_2022_JP};

    impl Legacy {
        fn has_shifts(self) -> bool {
            let Self::By(encoding) = self;
            encoding == ISO_2022_JP
        }

        /// A decoder after the bytes that led to this state.
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
        pub(in crate::codec::convert) fn step(self, shift: &mut Shift, rest: &[u8], last: bool) -> Step {
            let mut decoder = self.decoder(*shift);
            let mut units = [0; 8];
            let wrong = |bad: u8, len: usize, kind| {
                // If the fault is that of an escape sequence before, it counts here.
                let len = usize::from(bad).min(len);
                Step::IllFormed(IllFormed { len, kind, incomplete: kind.is_some() })
            };
            for len in 1..=rest.len() {
                let (result, _, written) =
                    decoder.decode_to_utf16_without_replacement(&rest[len - 1..len], &mut units, false);
                let is_escape = self.has_shifts() && len == 3 && rest[0] == 0x1B;
                // A second escape sequence in a row is a fault, and counts.
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

        /// Appends the characters at the start that are whole as UTF-16. Returns how many bytes these are.
        pub(in crate::codec::convert) fn run(self, bytes: &[u8], units: &mut Vec<u16>) -> usize {
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
        pub(in crate::codec::convert) fn write(self, code_points: &[u32], out: &mut Vec<u8>) -> usize {
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
        pub(in crate::codec::convert) fn push(
            self,
            shift: &mut Shift,
            code_point: u32,
            out: &mut Vec<u8>,
        ) -> Option<()> {
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
        pub(in crate::codec::convert) fn flush(self, shift: &mut Shift, out: &mut Vec<u8>) {
            self.shift(shift, Shift::ASCII, out);
        }
    }
}
