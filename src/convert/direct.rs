//! Short ways between encodings that much text is in: well-formed runs go through `decode` without becoming code points.

use super::encoding::{Bytes, Octets, Order, Shape};
use crate::decode;

/// A way from one encoding to another for text that is well-formed in RFC 3629, or is UTF-16, ASCII or Latin-1.
#[derive(Clone, Copy, Debug)]
pub(super) enum Direct {
    /// The bytes mean the same.
    Copy(Octets),
    ToUtf16(Octets, Order),
    FromUtf16(Order),
    Utf16(Order, Order),
    FromLatin1,
    Ascii,
}

impl Direct {
    /// The short way, if there is one.
    pub(super) fn between(from: Shape, to: Shape) -> Option<Self> {
        match (from, to) {
            (Shape::Octets(from), Shape::Octets(to)) if to.extends_rfc3629() => Some(Self::Copy(from)),
            (Shape::Octets(from), Shape::Units16 { order, pairs: true }) => Some(Self::ToUtf16(from, order)),
            (Shape::Units16 { order, pairs: true }, Shape::Octets(to)) if to.extends_rfc3629() => {
                Some(Self::FromUtf16(order))
            }
            (Shape::Units16 { order, pairs: true }, Shape::Units16 { order: to, pairs: true }) => {
                Some(Self::Utf16(order, to))
            }
            (Shape::Bytes(Bytes::Ascii), Shape::Bytes(_) | Shape::Octets(Octets { null_as_two: false, .. })) => {
                Some(Self::Ascii)
            }
            (Shape::Bytes(Bytes::Latin1), Shape::Octets(to)) if to.extends_rfc3629() => Some(Self::FromLatin1),
            _ => None,
        }
    }

    /// Converts as many bytes as are well-formed and whole, and says how many.
    pub(super) fn convert(self, bytes: &[u8], units: &mut Vec<u16>, out: &mut Vec<u8>) -> usize {
        units.clear();
        match self {
            Self::Copy(octets) => {
                let common = octets.common_prefix(bytes);
                out.extend_from_slice(&bytes[..common]);
                common
            }
            Self::ToUtf16(octets, order) => {
                let common = octets.common_prefix(bytes);
                decode::utf16_lossy_into(&bytes[..common], units);
                order.write_16(units, out);
                common
            }
            Self::FromUtf16(order) => {
                units.extend(bytes.as_chunks().0.iter().map(|&bytes| order.unit_16(bytes)));
                let paired = paired_prefix(units);
                decode::from_utf16_lossy_into(&units[..paired], out);
                2 * paired
            }
            Self::Utf16(order, to) => {
                units.extend(bytes.as_chunks().0.iter().map(|&bytes| order.unit_16(bytes)));
                let paired = paired_prefix(units);
                to.write_16(&units[..paired], out);
                2 * paired
            }
            Self::Ascii => {
                let ascii = if bytes.is_ascii() { bytes.len() } else { 0 };
                out.extend_from_slice(&bytes[..ascii]);
                ascii
            }
            Self::FromLatin1 => {
                decode::from_latin_1_into(bytes, out);
                bytes.len()
            }
        }
    }
}

/// How many units at the start are text: no surrogate without its other half.
fn paired_prefix(units: &[u16]) -> usize {
    const BLOCK: usize = 32;
    let is_surrogate = |unit: u16| unit & 0xF800 == 0xD800;
    let mut at = 0;
    while at < units.len() {
        let blocks = units[at..].as_chunks::<BLOCK>().0;
        let clean = blocks.iter().take_while(|block| !block.iter().fold(false, |any, &unit| any | is_surrogate(unit)));
        at += BLOCK * clean.count();
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
