//! Short ways between encodings that much text is in: well-formed runs go through `decode` without becoming code points.

use super::encoding::{Bytes, Octets, Order, Shape};
use crate::decode;

/// A way from one encoding to another for text that is well-formed in RFC 3629, or is UTF-16, ASCII or Latin-1.
#[derive(Clone, Copy, Debug)]
pub(super) enum Direct {
    /// The bytes mean the same.
    Copy(Octets),
    ToUnits(Octets, Units),
    FromUnits(Units),
    /// From units to those of the same value, in the other order perhaps.
    Units(Units, Order),
    /// From single bytes to text.
    FromBytes(Bytes),
    /// From single bytes to units.
    BytesToUnits(Bytes, Order),
    /// ASCII, as it is.
    Ascii,
}

/// Units of sixteen bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Units {
    order: Order,
    /// Whether surrogates may stand in pairs; else there may be none.
    pairs: bool,
}

impl Direct {
    /// The short way, if there is one.
    pub(super) fn between(from: Shape, to: Shape) -> Option<Self> {
        match (from, to) {
            (Shape::Octets(from), Shape::Octets(to)) if to.extends_rfc3629() => Some(Self::Copy(from)),
            (Shape::Octets(from), Shape::Units16 { order, pairs }) => Some(Self::ToUnits(from, Units { order, pairs })),
            (Shape::Units16 { order, pairs }, Shape::Octets(to)) if to.extends_rfc3629() => {
                Some(Self::FromUnits(Units { order, pairs }))
            }
            (Shape::Units16 { order, pairs }, Shape::Units16 { order: to, pairs: pairs_there }) => {
                Some(Self::Units(Units { order, pairs: pairs && pairs_there }, to))
            }
            (Shape::Bytes(Bytes::Ascii), Shape::Bytes(_) | Shape::Octets(Octets { null_as_two: false, .. })) => {
                Some(Self::Ascii)
            }
            (Shape::Bytes(from), Shape::Octets(to)) if to.extends_rfc3629() => Some(Self::FromBytes(from)),
            (Shape::Bytes(from), Shape::Units16 { order, .. }) => Some(Self::BytesToUnits(from, order)),
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
            Self::ToUnits(octets, to) => {
                let common = octets.common_prefix(bytes);
                decode::utf16_lossy_into(&bytes[..common], units);
                if !to.pairs && to.prefix(units) < units.len() {
                    return 0;
                }
                to.order.write_16(units, out);
                common
            }
            Self::FromUnits(from) => {
                let good = from.read(bytes, units);
                decode::from_utf16_lossy_into(&units[..good], out);
                2 * good
            }
            Self::Units(from, to) => {
                let good = from.read(bytes, units);
                to.write_16(&units[..good], out);
                2 * good
            }
            Self::Ascii => {
                let ascii = Bytes::Ascii.clean_prefix(bytes);
                out.extend_from_slice(&bytes[..ascii]);
                ascii
            }
            Self::FromBytes(Bytes::Latin1) => {
                decode::from_latin_1_into(bytes, out);
                bytes.len()
            }
            Self::FromBytes(from) => {
                let clean = from.clean_prefix(bytes);
                from.extend(&bytes[..clean], units);
                decode::from_utf16_lossy_into(units, out);
                clean
            }
            Self::BytesToUnits(from, order) => {
                let clean = from.clean_prefix(bytes);
                from.extend(&bytes[..clean], units);
                order.write_16(units, out);
                clean
            }
        }
    }
}

impl Units {
    /// Reads units, and says how many are text.
    fn read(self, bytes: &[u8], units: &mut Vec<u16>) -> usize {
        units.extend(bytes.as_chunks().0.iter().map(|&bytes| self.order.unit_16(bytes)));
        self.prefix(units)
    }

    /// How many units at the start are text: no surrogate without its other half.
    fn prefix(self, units: &[u16]) -> usize {
        const BLOCK: usize = 32;
        let is_surrogate = |unit: u16| unit & 0xF800 == 0xD800;
        let is_clean = |block: &&[u16; BLOCK]| !block.iter().fold(false, |any, &unit| any | is_surrogate(unit));
        let mut at = 0;
        while at < units.len() {
            at += BLOCK * units[at..].as_chunks().0.iter().take_while(is_clean).count();
            let end = units.len().min(at + BLOCK);
            while at < end {
                at += match units[at..] {
                    [0xD800..=0xDBFF, 0xDC00..=0xDFFF, ..] if self.pairs => 2,
                    [unit, ..] if !is_surrogate(unit) => 1,
                    _ => return at,
                };
            }
        }
        at
    }
}
