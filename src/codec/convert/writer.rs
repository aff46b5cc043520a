//! From code points to bytes.

use crate::codec::Kernel;
use crate::codec::convert::charset::{Identity, Shift};
use crate::codec::convert::encoding::{Form, Surrogates, Utf8Like};
use crate::codec::convert::utf8_like::{halves, push_scalar, push_three};

/// A writer of one encoding.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    form: Form,
    /// U+DC80..U+DCFF are written as the bytes 80..FF.
    escapes: bool,
    /// The byte order mark has been written.
    marked: bool,
    /// A leading surrogate that waits for its other half (WTF-8).
    lead: Option<u32>,
    shift: Shift,
    units: Vec<u16>,
}

impl Writer {
    pub(super) fn new(form: Form, escapes: bool) -> Self {
        let escapes = escapes && form.unit_len() == 1;
        Self { form, escapes, marked: false, lead: None, shift: Shift::START, units: Vec::new() }
    }

    pub(super) fn form(&self) -> Form {
        self.form
    }

    /// Appends the byte order mark, once.
    pub(super) fn mark(&mut self, out: &mut Vec<u8>) {
        if !core::mem::replace(&mut self.marked, true) {
            out.extend_from_slice(self.form.mark());
        }
    }

    /// Appends the code points up to the first that the encoding lacks.
    ///
    /// # Errors
    /// The index of that code point.
    pub(super) fn write(&mut self, code_points: &[u32], out: &mut Vec<u8>) -> Result<(), usize> {
        let mut at = 0;
        while at < code_points.len() {
            at += self.run(&code_points[at..], out);
            /// Code points that are written singly before a run is tried.
            const STRETCH: usize = 32;
            let end = code_points.len().min(at + STRETCH);
            while at < end {
                self.push(code_points[at], out).ok_or(at)?;
                at += 1;
            }
        }
        Ok(())
    }

    /// Whether the last code point is not yet in the output.
    pub(super) fn is_waiting(&self) -> bool {
        self.lead.is_some()
    }

    /// Ends the text: writes the code point that waits.
    pub(super) fn flush(&mut self, out: &mut Vec<u8>) {
        if let Some(lead) = self.lead.take() {
            push_three(lead, out);
        }
        if let Form::Legacy(legacy) = self.form {
            legacy.flush(&mut self.shift, out);
        }
    }

    /// Appends the code points up to the first, or to the block of the first, that needs a closer look. Returns how many
    /// these are.
    fn run(&mut self, code_points: &[u32], out: &mut Vec<u8>) -> usize {
        let kernel = Kernel::best();
        let is_unit = |it: u32| (it < 0x1_0000) & (it & !0x7FF != 0xD800);
        let good = match self.form {
            Form::Utf8Like(like) if like.null_as_two => good_blocks(code_points, |it| is_unit(it) & (it != 0)),
            Form::Utf8Like(like) if like.longest < 4 => good_blocks(code_points, is_unit),
            Form::Units16 { pairs: false, .. } => good_blocks(code_points, is_unit),
            Form::Utf8Like(_) | Form::Units16 { .. } => kernel.utf32_valid_up_to(code_points),
            Form::Units32 { last, .. } => kernel.ucs4_valid_up_to(code_points, last),
            Form::SingleByte(table) => match table.identity {
                Identity::Ascii => good_blocks(code_points, |it| it < 0x80),
                Identity::Outside80To9F => good_blocks(code_points, |it| (it < 0x80) | (it.wrapping_sub(0xA0) < 0x60)),
                Identity::All => good_blocks(code_points, |it| it < 0x100),
            },
            Form::Legacy(legacy) => return legacy.write(code_points, out),
        };
        let code_points = &code_points[..good];
        match self.form {
            Form::Utf8Like(_) if good > 0 => {
                self.flush(out);
                kernel.from_utf32_lossy_into(code_points, out);
            }
            Form::Utf8Like(_) => {}
            Form::Units16 { order, .. } => {
                self.units.clear();
                kernel.utf16_from_utf32_lossy_into(code_points, &mut self.units);
                order.write_16(&self.units, out);
            }
            Form::Units32 { order, .. } => order.write_32(code_points, out),
            Form::SingleByte(_) => out.extend(code_points.iter().map(|&code_point| code_point as u8)),
            Form::Legacy(_) => {}
        }
        good
    }

    /// Appends one code point; `None` if the encoding lacks it.
    #[inline]
    fn push(&mut self, code_point: u32, out: &mut Vec<u8>) -> Option<()> {
        let is_surrogate = code_point & !0x7FF == 0xD800;
        if self.escapes && (0xDC80..=0xDCFF).contains(&code_point) {
            out.push(code_point as u8);
            return Some(());
        }
        match self.form {
            Form::Utf8Like(Utf8Like { surrogates: Surrogates::LoneOnly, .. }) => self.push_joined(code_point, out),
            Form::Utf8Like(like) => like.push(code_point, out),
            Form::Units16 { order, pairs, lone } => {
                let mut unit = |unit: u32| out.extend_from_slice(&order.bytes_16(unit as u16));
                match code_point {
                    0xD800..=0xDFFF if !lone => return None,
                    0..=0xFFFF => unit(code_point),
                    0x1_0000..=0x10_FFFF if pairs => halves(code_point).into_iter().for_each(unit),
                    _ => return None,
                }
                Some(())
            }
            Form::Units32 { last, lone, .. } if code_point > last || is_surrogate && !lone => None,
            Form::Units32 { order, .. } => {
                out.extend_from_slice(&order.bytes_32(code_point));
                Some(())
            }
            Form::SingleByte(table) => {
                out.push(table.byte(code_point)?);
                Some(())
            }
            Form::Legacy(legacy) => legacy.push(&mut self.shift, code_point, out),
        }
    }

    /// WTF-8: a leading surrogate waits, and a trailing one after it makes it a pair.
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

const BLOCK: usize = 32;

/// How many code points are in the blocks at the start in which all are good.
#[inline]
fn good_blocks(code_points: &[u32], is_good: impl Fn(u32) -> bool) -> usize {
    let is_good = |block: &&[u32; BLOCK]| block.iter().fold(true, |all, &code_point| all & is_good(code_point));
    BLOCK * code_points.as_chunks::<BLOCK>().0.iter().take_while(is_good).count()
}
