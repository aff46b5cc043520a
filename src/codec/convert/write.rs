//! From code points to bytes.

use crate::codec::Kernel;
use crate::codec::convert::encoding::{Bytes, Octets, Order, Shape, Surrogate};
use crate::codec::convert::windows_1252;
use crate::utf8::BYTE_ORDER_MARK;

/// A writer of one encoding.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    shape: Shape,
    /// Unpaired surrogates are written.
    pass: bool,
    /// U+DC80..U+DCFF are written as the bytes 80..FF.
    escapes: bool,
    /// A leading surrogate that waits for its other half (WTF-8).
    lead: Option<u32>,
    units: Vec<u16>,
}

impl Writer {
    pub(super) fn new(shape: Shape, pass: bool, escapes: bool) -> Self {
        let escapes = escapes && matches!(shape, Shape::Octets(_) | Shape::Bytes(_));
        Self { shape, pass, escapes, lead: None, units: Vec::new() }
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    /// Appends the code points up to the first that has no place in the encoding.
    ///
    /// # Errors
    /// The index of that one.
    pub(super) fn write(&mut self, code_points: &[u32], out: &mut Vec<u8>) -> Result<(), usize> {
        let mut at = 0;
        while at < code_points.len() {
            at += self.run(&code_points[at..], out);
            /// Code points that are written one by one before a run is tried.
            const STRETCH: usize = 32;
            let end = code_points.len().min(at + STRETCH);
            while at < end {
                self.push(code_points[at], out).ok_or(at)?;
                at += 1;
            }
        }
        Ok(())
    }

    /// Whether what was written last is not yet in the output.
    pub(super) fn is_waiting(&self) -> bool {
        self.lead.is_some()
    }

    /// Writes what waits.
    pub(super) fn flush(&mut self, out: &mut Vec<u8>) {
        if let Some(lead) = self.lead.take() {
            push_three(lead, out);
        }
    }

    /// Appends the code points up to the first of them, or of a block of them, that wants a second look, and says how many.
    fn run(&mut self, code_points: &[u32], out: &mut Vec<u8>) -> usize {
        let kernel = Kernel::best();
        let is_unit = |it: u32| (it < 0x1_0000) & (it & !0x7FF != 0xD800);
        let good = match self.shape {
            Shape::Octets(octets) if octets.null_as_two => good_blocks(code_points, |it| is_unit(it) & (it != 0)),
            Shape::Octets(octets) if octets.longest < 4 => good_blocks(code_points, is_unit),
            Shape::Units16 { pairs: false, .. } => good_blocks(code_points, is_unit),
            Shape::Octets(_) | Shape::Units16 { .. } => kernel.utf32_valid_up_to(code_points),
            Shape::Units32 { last, .. } => kernel.ucs4_valid_up_to(code_points, last),
            Shape::Bytes(Bytes::Latin1) => good_blocks(code_points, |it| it < 0x100),
            Shape::Bytes(Bytes::Ascii) => good_blocks(code_points, |it| it < 0x80),
            Shape::Bytes(Bytes::Windows1252 { .. }) => {
                good_blocks(code_points, |it| (it < 0x80) | (it.wrapping_sub(0xA0) < 0x60))
            }
        };
        let code_points = &code_points[..good];
        match self.shape {
            Shape::Octets(_) if good > 0 => {
                self.flush(out);
                kernel.from_utf32_lossy_into(code_points, out);
            }
            Shape::Octets(_) => {}
            Shape::Units16 { order, .. } => {
                self.units.clear();
                kernel.utf16_from_utf32_lossy_into(code_points, &mut self.units);
                order.write_16(&self.units, out);
            }
            Shape::Units32 { order, .. } => order.write_32(code_points, out),
            Shape::Bytes(_) => out.extend(code_points.iter().map(|&code_point| code_point as u8)),
        }
        good
    }

    /// Appends one code point; none where it has no place.
    #[inline]
    fn push(&mut self, code_point: u32, out: &mut Vec<u8>) -> Option<()> {
        let is_surrogate = code_point & !0x7FF == 0xD800;
        if self.escapes && (0xDC80..=0xDCFF).contains(&code_point) {
            out.push(code_point as u8);
            return Some(());
        }
        match self.shape {
            Shape::Octets(Octets { surrogates: Surrogate::Apart, .. }) => self.push_joined(code_point, out),
            Shape::Octets(octets) => octets.push(code_point, out),
            Shape::Units16 { order, pairs } => {
                let mut unit = |unit: u32| out.extend_from_slice(&order.bytes_16(unit as u16));
                match code_point {
                    0xD800..=0xDFFF if !self.pass => return None,
                    0..=0xFFFF => unit(code_point),
                    0x1_0000..=0x10_FFFF if pairs => halves(code_point).into_iter().for_each(unit),
                    _ => return None,
                }
                Some(())
            }
            Shape::Units32 { last, .. } if code_point > last || is_surrogate && !self.pass => None,
            Shape::Units32 { order, .. } => {
                out.extend_from_slice(&order.bytes_32(code_point));
                Some(())
            }
            Shape::Bytes(bytes) => {
                out.push(bytes.byte(code_point)?);
                Some(())
            }
        }
    }

    /// WTF-8: a leading surrogate waits, and a trailing one behind it makes it a pair.
    fn push_joined(&mut self, code_point: u32, out: &mut Vec<u8>) -> Option<()> {
        match (code_point, self.lead) {
            (0x11_0000.., _) => return None,
            (0xDC00..=0xDFFF, Some(lead)) => {
                self.lead = None;
                push_scalar(0x1_0000 + ((lead - 0xD800) << 10) + (code_point - 0xDC00), out);
                return Some(());
            }
            _ => self.flush(out),
        }
        match code_point {
            0xD800..=0xDBFF => self.lead = Some(code_point),
            0xDC00..=0xDFFF => push_three(code_point, out),
            _ => push_scalar(code_point, out),
        }
        Some(())
    }
}

impl Shape {
    /// U+FEFF, the byte order mark; empty where there is none.
    pub(super) fn mark(self) -> &'static [u8] {
        match self {
            Self::Octets(_) => BYTE_ORDER_MARK,
            Self::Units16 { order: Order::Little, .. } => b"\xFF\xFE",
            Self::Units16 { order: Order::Big, .. } => b"\xFE\xFF",
            Self::Units32 { order: Order::Little, .. } => b"\xFF\xFE\0\0",
            Self::Units32 { order: Order::Big, .. } => b"\0\0\xFE\xFF",
            Self::Bytes(_) => b"",
        }
    }

    /// The same with the bytes of each unit the other way round; none where there are no units.
    pub(super) fn reversed(self) -> Option<Self> {
        match self {
            Self::Units16 { order, pairs } => Some(Self::Units16 { order: order.reversed(), pairs }),
            Self::Units32 { order, last } => Some(Self::Units32 { order: order.reversed(), last }),
            _ => None,
        }
    }
}

impl Octets {
    fn push(self, code_point: u32, out: &mut Vec<u8>) -> Option<()> {
        let passes = matches!(self.surrogates, Surrogate::Alone | Surrogate::PairedOrAlone);
        match (code_point, self.longest) {
            (0, _) if self.null_as_two => out.extend_from_slice(b"\xC0\x80"),
            (0xD800..=0xDFFF, _) if passes => push_three(code_point, out),
            (0xD800..=0xDFFF, _) => return None,
            (0x1_0000..=0x10_FFFF, 3) => halves(code_point).into_iter().for_each(|half| push_three(half, out)),
            (0x11_0000..=0x7FFF_FFFF, 6) => push_long(code_point, out),
            (0x11_0000.., _) => return None,
            _ => push_scalar(code_point, out),
        }
        Some(())
    }
}

impl Bytes {
    #[inline]
    fn byte(self, code_point: u32) -> Option<u8> {
        let byte = match self {
            Self::Latin1 | Self::Ascii => u8::try_from(code_point).ok()?,
            Self::Windows1252 { .. } => windows_1252::byte(code_point)?,
        };
        (self.code_point(byte) == Some(code_point)).then_some(byte)
    }

    /// Appends the bytes of units up to the first of them, or of a block of them, that has none, and says how many.
    pub(super) fn narrow(self, units: &[u16], out: &mut Vec<u8>) -> usize {
        let start = out.len();
        out.reserve(units.len());
        let (blocks, rest) = units.as_chunks::<BLOCK>();
        let is_same = |unit: u16| match self {
            Self::Latin1 => unit < 0x100,
            Self::Ascii => unit < 0x80,
            Self::Windows1252 { .. } => (unit < 0x80) | (unit.wrapping_sub(0xA0) < 0x60),
        };
        for block in blocks {
            let mut bytes = [0; BLOCK];
            if block.iter().fold(true, |all, &unit| all & is_same(unit)) {
                bytes.iter_mut().zip(block).for_each(|(byte, &unit)| *byte = unit as u8);
            } else {
                let Self::Windows1252 { holes } = self else { return out.len() - start };
                let mut all = true;
                for (place, &unit) in bytes.iter_mut().zip(block) {
                    let byte = windows_1252::byte_or_0(unit);
                    all &= (byte != 0) | (unit == 0);
                    *place = byte;
                }
                if !all || holes && bytes.iter().any(|&byte| windows_1252::is_hole(byte)) {
                    return out.len() - start;
                }
            }
            out.extend_from_slice(&bytes);
        }
        out.extend(rest.iter().map_while(|&unit| self.byte(unit.into())));
        out.len() - start
    }
}

impl Order {
    fn reversed(self) -> Self {
        match self {
            Self::Little => Self::Big,
            Self::Big => Self::Little,
        }
    }

    pub(super) fn write_16(self, units: &[u16], out: &mut Vec<u8>) {
        Kernel::best().write_16_into(units, self.is_big_endian(), out);
    }

    pub(super) fn write_32(self, units: &[u32], out: &mut Vec<u8>) {
        Kernel::best().write_32_into(units, self.is_big_endian(), out);
    }

    fn bytes_16(self, unit: u16) -> [u8; 2] {
        match self {
            Self::Little => unit.to_le_bytes(),
            Self::Big => unit.to_be_bytes(),
        }
    }

    fn bytes_32(self, unit: u32) -> [u8; 4] {
        match self {
            Self::Little => unit.to_le_bytes(),
            Self::Big => unit.to_be_bytes(),
        }
    }
}

const BLOCK: usize = 32;

/// How many code points stand in the blocks at the start that are good throughout.
#[inline]
fn good_blocks(code_points: &[u32], is_good: impl Fn(u32) -> bool) -> usize {
    let is_good = |block: &&[u32; BLOCK]| block.iter().fold(true, |all, &code_point| all & is_good(code_point));
    BLOCK * code_points.as_chunks::<BLOCK>().0.iter().take_while(is_good).count()
}

/// The surrogates of a supplementary code point.
fn halves(code_point: u32) -> [u32; 2] {
    let bits = code_point - 0x1_0000;
    [0xD800 | bits >> 10, 0xDC00 | bits & 0x3FF]
}

fn push_scalar(scalar: u32, out: &mut Vec<u8>) {
    let scalar = char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER);
    out.extend_from_slice(scalar.encode_utf8(&mut [0; 4]).as_bytes());
}

fn push_three(code_point: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&[0xE0 | (code_point >> 12) as u8, tail(code_point >> 6), tail(code_point)]);
}

/// Forms of four to six bytes, for what is beyond U+10FFFF.
fn push_long(code_point: u32, out: &mut Vec<u8>) {
    match code_point {
        0..=0x1F_FFFF => out.push(0xF0 | (code_point >> 18) as u8),
        0x20_0000..=0x3FF_FFFF => out.extend_from_slice(&[0xF8 | (code_point >> 24) as u8, tail(code_point >> 18)]),
        _ => out.extend_from_slice(&[0xFC | (code_point >> 30) as u8, tail(code_point >> 24), tail(code_point >> 18)]),
    }
    out.extend_from_slice(&[tail(code_point >> 12), tail(code_point >> 6), tail(code_point)]);
}

fn tail(bits: u32) -> u8 {
    0x80 | (bits & 0x3F) as u8
}
