//! Shortcuts between encodings: well-formed runs go through the kernels, most by way of UTF-16, and never become single code
//! points.

use crate::codec;
use crate::codec::Kernel;
use crate::codec::convert::charset::{Identity, SingleByte};
use crate::codec::convert::encoding::{Form, Order, Utf8Like, first_of, text_prefix};

/// A way from one encoding to another for text that is well-formed in RFC 3629, in UTF-16, or in an encoding of one byte for
/// each code point.
#[derive(Clone, Copy, Debug)]
pub(super) enum Direct {
    /// The bytes that are well-formed in RFC 3629 are copied.
    Copy(Utf8Like),
    /// The bytes that are assigned in this encoding are copied.
    CopyBytes(&'static SingleByte),
    /// From single bytes to single bytes that differ only in 80..9F.
    CopyOutside80To9F,
    /// Latin-1 to UTF-8.
    FromLatin1,
    /// From single bytes to units of 32 bits.
    Widen(&'static SingleByte, Order),
    /// By way of UTF-16.
    Utf16 { from: Form, to: Form },
}

impl Direct {
    /// The shortcut, if there is one.
    pub(super) fn between(from: Form, to: Form) -> Option<Self> {
        match (from, to) {
            (Form::Legacy(_), _) | (_, Form::Legacy(_)) => None,
            (Form::Utf8Like(from), Form::Utf8Like(to)) if to.extends_rfc3629() => Some(Self::Copy(from)),
            (Form::SingleByte(from), Form::SingleByte(to)) => Some(Self::between_single_bytes(from, to)),
            (Form::SingleByte(from), Form::Utf8Like(Utf8Like { null_as_two: false, .. })) if from.is_ascii() => {
                Some(Self::CopyBytes(from))
            }
            (Form::SingleByte(from), Form::Utf8Like(to)) if from.identity == Identity::All && to.extends_rfc3629() => {
                Some(Self::FromLatin1)
            }
            (Form::SingleByte(from), Form::Units32 { order, .. }) => Some(Self::Widen(from, order)),
            (Form::Units32 { .. }, _) | (_, Form::Units32 { .. }) => None,
            (_, Form::Utf8Like(to)) if !to.extends_rfc3629() => None,
            _ => Some(Self::Utf16 { from, to }),
        }
    }

    fn between_single_bytes(from: &'static SingleByte, to: &'static SingleByte) -> Self {
        match (from.identity, to.identity) {
            _ if from == to || from.is_ascii() => Self::CopyBytes(from),
            _ if to.is_ascii() => Self::CopyBytes(to),
            (Identity::Ascii, _) | (_, Identity::Ascii) => {
                Self::Utf16 { from: Form::SingleByte(from), to: Form::SingleByte(to) }
            }
            _ => Self::CopyOutside80To9F,
        }
    }

    /// Converts the bytes at the start that are well-formed and complete. Returns how many these are. `units` is
    /// working memory.
    pub(super) fn convert(self, bytes: &[u8], units: &mut Vec<u16>, out: &mut Vec<u8>) -> usize {
        match self {
            Self::Copy(like) => {
                let common = like.common_prefix(bytes);
                out.extend_from_slice(&bytes[..common]);
                common
            }
            Self::CopyBytes(all) => {
                let clean = all.clean_prefix(bytes);
                out.extend_from_slice(&bytes[..clean]);
                clean
            }
            Self::FromLatin1 => {
                codec::from_latin_1_into(bytes, out);
                bytes.len()
            }
            Self::Widen(from, order) => {
                units.clear();
                let clean = from.clean_prefix(bytes);
                from.to_utf16(&bytes[..clean], units);
                Kernel::best().write_16_as_32_into(units, order.is_big_endian(), out);
                clean
            }
            Self::CopyOutside80To9F => {
                let same = first_of(bytes, |byte| byte & 0xE0 == 0x80);
                out.extend_from_slice(&bytes[..same]);
                same
            }
            Self::Utf16 { from, to } => {
                units.clear();
                let used = to_utf16(from, bytes, units);
                let start = out.len();
                let written = from_utf16(to, units, out);
                match from {
                    _ if written == units.len() => used,
                    Form::SingleByte(_) => written,
                    Form::Units16 { .. } => 2 * written,
                    // The length of the sequences that were written is not known.
                    Form::Utf8Like(_) | Form::Units32 { .. } | Form::Legacy(_) => {
                        out.truncate(start);
                        0
                    }
                }
            }
        }
    }
}

/// Reads the bytes at the start that are well-formed and complete as UTF-16. Returns how many these are.
fn to_utf16(from: Form, bytes: &[u8], units: &mut Vec<u16>) -> usize {
    match from {
        Form::Utf8Like(like) => {
            let common = like.common_prefix(bytes);
            codec::utf16_lossy_into(&bytes[..common], units);
            common
        }
        Form::Units16 { order, pairs, .. } => {
            let good = order.read_16(bytes, pairs, units);
            units.truncate(good);
            2 * good
        }
        Form::SingleByte(from) => {
            let clean = from.clean_prefix(bytes);
            from.to_utf16(&bytes[..clean], units);
            clean
        }
        Form::Units32 { .. } | Form::Legacy(_) => 0,
    }
}

/// Writes well-formed UTF-16 up to the first code unit, or to the block of the first, that `to` lacks. Returns how many
/// units these are.
fn from_utf16(to: Form, units: &[u16], out: &mut Vec<u8>) -> usize {
    match to {
        Form::Utf8Like(_) => {
            codec::from_utf16_lossy_into(units, out);
            units.len()
        }
        Form::Units16 { order, pairs, .. } => {
            let text = if pairs { units.len() } else { text_prefix(units, pairs) };
            order.write_16(&units[..text], out);
            text
        }
        Form::SingleByte(to) => narrow(to, units, out),
        Form::Units32 { .. } | Form::Legacy(_) => 0,
    }
}

/// Writes UTF-16 in an encoding of one byte for each code point, up to the first code unit, or to the block of the
/// first, that it lacks. Returns how many units are written.
fn narrow(to: &SingleByte, units: &[u16], out: &mut Vec<u8>) -> usize {
    const BLOCK: usize = 32;
    let start = out.len();
    out.reserve(units.len());
    let (blocks, rest) = units.as_chunks::<BLOCK>();
    for block in blocks {
        let is_same = match to.identity {
            Identity::Ascii => block.iter().fold(true, |all, &unit| all & (unit < 0x80)),
            Identity::Outside80To9F => {
                block.iter().fold(true, |all, &unit| all & ((unit < 0x80) | (unit.wrapping_sub(0xA0) < 0x60)))
            }
            Identity::All => block.iter().fold(true, |all, &unit| all & (unit < 0x100)),
        };
        let mut bytes = [0; BLOCK];
        if is_same {
            bytes.iter_mut().zip(block).for_each(|(byte, &unit)| *byte = unit as u8);
        } else {
            let mut all = true;
            for (place, &unit) in bytes.iter_mut().zip(block) {
                *place = to.byte_or_0(unit);
                all &= (*place != 0) | (unit == 0);
            }
            if !all {
                return out.len() - start;
            }
        }
        out.extend_from_slice(&bytes);
    }
    out.extend(rest.iter().map_while(|&unit| to.byte(unit.into())));
    out.len() - start
}
