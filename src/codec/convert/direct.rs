//! Short ways between encodings that much text is in: well-formed runs go through `decode`, most as UTF-16, which most of
//! them can say, and do not become code points.

use crate::codec;
use crate::codec::Kernel;
use crate::codec::convert::encoding::{Bytes, Octets, Order, Shape};
use crate::codec::convert::octets::first_of;
use crate::codec::convert::read::text_prefix;

/// A way from one encoding to another for text that is well-formed in RFC 3629, or is UTF-16, ASCII or Latin-1.
#[derive(Clone, Copy, Debug)]
pub(super) enum Direct {
    /// The bytes mean the same as far as they are common with RFC 3629.
    Copy(Octets),
    /// The bytes mean the same as far as they are of this encoding.
    CopyBytes(Bytes),
    /// Latin-1 and Windows-1252, from one to the other.
    CopyOutside80To9F,
    /// Latin-1 to UTF-8.
    FromLatin1,
    /// From single bytes to units of 32 bits.
    Widen(Bytes, Order),
    /// By way of UTF-16.
    Utf16 { from: Shape, to: Shape },
}

impl Direct {
    /// The short way, if there is one.
    pub(super) fn between(from: Shape, to: Shape) -> Option<Self> {
        match (from, to) {
            (Shape::Octets(from), Shape::Octets(to)) if to.extends_rfc3629() => Some(Self::Copy(from)),
            (Shape::Bytes(_), Shape::Bytes(Bytes::Ascii)) => Some(Self::CopyBytes(Bytes::Ascii)),
            (Shape::Bytes(Bytes::Ascii), Shape::Bytes(_) | Shape::Octets(Octets { null_as_two: false, .. })) => {
                Some(Self::CopyBytes(Bytes::Ascii))
            }
            (Shape::Bytes(from), Shape::Bytes(to)) if from == to => Some(Self::CopyBytes(from)),
            (Shape::Bytes(Bytes::Latin1), Shape::Bytes(_)) | (Shape::Bytes(_), Shape::Bytes(Bytes::Latin1)) => {
                Some(Self::CopyOutside80To9F)
            }
            (Shape::Bytes(Bytes::Latin1), Shape::Octets(to)) if to.extends_rfc3629() => Some(Self::FromLatin1),
            (Shape::Bytes(from), Shape::Units32 { order, .. }) => Some(Self::Widen(from, order)),
            (Shape::Units32 { .. }, _) | (_, Shape::Units32 { .. }) => None,
            (_, Shape::Octets(to)) if !to.extends_rfc3629() => None,
            _ => Some(Self::Utf16 { from, to }),
        }
    }

    /// Converts as many bytes as are well-formed and whole, and says how many. `units` is a place to work.
    pub(super) fn convert(self, bytes: &[u8], units: &mut Vec<u16>, out: &mut Vec<u8>) -> usize {
        match self {
            Self::Copy(octets) => {
                let common = octets.common_prefix(bytes);
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
                    Shape::Bytes(_) => written,
                    Shape::Units16 { .. } => 2 * written,
                    // How long the sequences of those were is not known.
                    Shape::Octets(_) | Shape::Units32 { .. } => {
                        out.truncate(start);
                        0
                    }
                }
            }
        }
    }
}

/// Reads UTF-16 from as many bytes as are well-formed and whole, and says how many.
fn to_utf16(from: Shape, bytes: &[u8], units: &mut Vec<u16>) -> usize {
    match from {
        Shape::Octets(octets) => {
            let common = octets.common_prefix(bytes);
            codec::utf16_lossy_into(&bytes[..common], units);
            common
        }
        Shape::Units16 { order, pairs } => {
            let good = order.read_16(bytes, pairs, units);
            units.truncate(good);
            2 * good
        }
        Shape::Bytes(from) => {
            let clean = from.clean_prefix(bytes);
            from.to_utf16(&bytes[..clean], units);
            clean
        }
        Shape::Units32 { .. } => 0,
    }
}

/// Writes as many units of well-formed UTF-16 as can be said, or a block of them fewer, and says how many.
fn from_utf16(to: Shape, units: &[u16], out: &mut Vec<u8>) -> usize {
    match to {
        Shape::Octets(_) => {
            codec::from_utf16_lossy_into(units, out);
            units.len()
        }
        Shape::Units16 { order, pairs } => {
            let text = if pairs { units.len() } else { text_prefix(units, pairs) };
            order.write_16(&units[..text], out);
            text
        }
        Shape::Bytes(to) => to.narrow(units, out),
        Shape::Units32 { .. } => 0,
    }
}
