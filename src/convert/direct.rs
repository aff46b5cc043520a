//! Short ways between encodings that much text is in: well-formed runs go through `decode`, and most do not become code
//! points.

use super::encoding::{Bytes, Octets, Order, Shape};
use super::read::text_prefix;
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
    /// From single bytes to units of 32 bits.
    BytesToUnits32(Bytes, Order),
    /// From text to single bytes.
    OctetsToBytes(Octets, Bytes),
    /// From units to single bytes.
    UnitsToBytes(Units, Bytes),
    /// From single bytes to others.
    Bytes(Bytes, Bytes),
    /// Single bytes that mean the same.
    Same(Bytes),
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
                Some(Self::Same(Bytes::Ascii))
            }
            (Shape::Bytes(from), Shape::Octets(to)) if to.extends_rfc3629() => Some(Self::FromBytes(from)),
            (Shape::Bytes(from), Shape::Units16 { order, .. }) => Some(Self::BytesToUnits(from, order)),
            (Shape::Bytes(from), Shape::Units32 { order, .. }) => Some(Self::BytesToUnits32(from, order)),
            (Shape::Octets(from), Shape::Bytes(to)) => Some(Self::OctetsToBytes(from, to)),
            (Shape::Units16 { order, pairs }, Shape::Bytes(to)) => Some(Self::UnitsToBytes(Units { order, pairs }, to)),
            (Shape::Bytes(_), Shape::Bytes(Bytes::Ascii)) => Some(Self::Same(Bytes::Ascii)),
            (Shape::Bytes(from), Shape::Bytes(to)) if from == to => Some(Self::Same(from)),
            (Shape::Bytes(from), Shape::Bytes(to)) => Some(Self::Bytes(from, to)),
            _ => None,
        }
    }

    /// Converts as many bytes as are well-formed and whole, and says how many.
    /// `units` and `block` are places to work.
    pub(super) fn convert(self, bytes: &[u8], units: &mut Vec<u16>, block: &mut Vec<u32>, out: &mut Vec<u8>) -> usize {
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
                if text_prefix(units, to.pairs) < units.len() {
                    return 0;
                }
                to.order.write_16(units, out);
                common
            }
            Self::FromUnits(from) => {
                let good = from.order.read_16(bytes, from.pairs, units);
                decode::from_utf16_lossy_into(&units[..good], out);
                2 * good
            }
            Self::Units(from, to) => {
                let good = from.order.read_16(bytes, from.pairs, units);
                to.write_16(&units[..good], out);
                2 * good
            }
            Self::Same(all) => {
                let clean = all.clean_prefix(bytes);
                out.extend_from_slice(&bytes[..clean]);
                clean
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
            Self::BytesToUnits32(from, order) => {
                block.clear();
                let clean = from.clean_prefix(bytes);
                from.extend(&bytes[..clean], block);
                order.write_32(block, out);
                clean
            }
            Self::OctetsToBytes(from, to) => {
                let common = from.common_prefix(bytes);
                decode::utf16_lossy_into(&bytes[..common], units);
                let start = out.len();
                if to.narrow(units, out) == units.len() {
                    return common;
                }
                out.truncate(start);
                0
            }
            Self::UnitsToBytes(from, to) => {
                let good = from.order.read_16(bytes, from.pairs, units);
                2 * to.narrow(&units[..good], out)
            }
            Self::Bytes(from, to) => {
                let clean = from.clean_prefix(bytes);
                from.extend(&bytes[..clean], units);
                to.narrow(units, out)
            }
        }
    }
}
