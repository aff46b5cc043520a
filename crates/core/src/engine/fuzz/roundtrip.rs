//! Target `roundtrip`: conversions there and back, compared with `spec`.
//!
//! An input is generated: an encoding, a text of code points, bytes, and an offset to cut at. (1) The converted text is
//! what `spec` encodes, or both reject the same code point; converting it back gives the same text. (2) The bytes are
//! decoded as by `spec`, or both report the same offset; encoding the result gives the same bytes. (3) A cut changes
//! nothing. (4) Any bytes survive conversion through UTF-8B.

use crate::codec::convert::{Converter, Encoding, Fault, Mark, Options, UnpairedSurrogates};
use crate::spec;
use crate::spec::grammar::Form;
use crate::spec::{Contract, Grammar};
use crate::utf8::Kind;
use crate::utf8::{extended_len, push_form};
use arbitrary::{Arbitrary, Unstructured};
use core::fmt;

/// One case: a text and bytes, and the encoding through which they are converted.
#[derive(Clone, PartialEq, Eq)]
pub struct RoundTrip {
    through: Encoding,
    text: Vec<u32>,
    bytes: Vec<u8>,
    cut: usize,
}

/// A law that does not hold, with the details.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Deviation {
    law: &'static str,
    through: Encoding,
    what: String,
}

impl fmt::Display for Deviation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { law, through, what } = self;
        write!(f, "{what}\nDEDUP_TOKEN: {law}/{through}")
    }
}

/// All encodings but those that the feature `charsets` adds: most of them have several byte sequences for some characters.
fn generated() -> impl Iterator<Item = Encoding> {
    Encoding::all().filter(|encoding| !encoding.is_charset())
}

impl<'a> Arbitrary<'a> for RoundTrip {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let all: Vec<Encoding> = generated().collect();
        let through = *u.choose(&all)?;
        let cut = u.arbitrary::<u8>()?.into();
        let count = u.int_in_range(0..=48)?;
        let highest = u.choose(&[0x7F, 0xFF, 0xD7FF, 0x10_FFFF, 0x7FFF_FFFF])?;
        let text = (0..count).map(|_| Ok(code_point(u)? & highest)).collect::<arbitrary::Result<_>>()?;
        let mut bytes = Vec::new();
        while !u.is_empty() {
            push_segment(u, &mut bytes)?;
        }
        Ok(Self { through, text, bytes, cut })
    }
}

/// A code point in a form of any length, possibly overlong or truncated; or arbitrary bytes.
fn push_segment(u: &mut Unstructured<'_>, bytes: &mut Vec<u8>) -> arbitrary::Result<()> {
    let len = u.int_in_range(0..=8)?;
    if len == 0 {
        let count = u.len().min(4);
        bytes.extend_from_slice(u.bytes(count)?);
        return Ok(());
    }
    let code_point = code_point(u)?;
    let len = if len > 6 { extended_len(code_point) } else { len };
    push_form(code_point & (u32::MAX >> (32 - BITS[len - 1])), len, bytes);
    let cut_off = if u.ratio(1, 8)? { u.int_in_range(0..=len - 1)? } else { 0 };
    bytes.truncate(bytes.len() - cut_off);
    Ok(())
}

/// How many bits a form of each length has (RFC 2279 §2).
const BITS: [u32; 6] = [7, 11, 16, 21, 26, 31];

/// A code point near the limits of the forms, or any code point.
fn code_point(u: &mut Unstructured<'_>) -> arbitrary::Result<u32> {
    const BOUNDS: [u32; 12] =
        [0, 0x80, 0x800, 0xD800, 0xDC00, 0xDC80, 0xE000, 0x1_0000, 0x11_0000, 0x20_0000, 0x400_0000, 0x8000_0000];
    Ok(match u.int_in_range(0..=7)? {
        0..=3 => u.int_in_range(0..=0x7F)?,
        4 => u.choose(&BOUNDS)?.wrapping_add_signed(u.int_in_range(-2..=2)?) & 0x7FFF_FFFF,
        5 => u.int_in_range(0xD7F0..=0xE00F)?,
        6 => u.int_in_range(0..=0x10_FFFF)?,
        _ => u.int_in_range(0..=0x7FFF_FFFF)?,
    })
}

impl RoundTrip {
    /// The first law that does not hold.
    pub fn deviation(&self) -> Option<Deviation> {
        let deviates = |law: &'static str, what: Result<(), String>| {
            what.err().map(|what| Deviation { law, through: self.through, what })
        };
        deviates("text", self.text_there_and_back())
            .or_else(|| deviates("bytes", self.bytes_there_and_back()))
            .or_else(|| deviates("utf-8b", self.any_bytes()))
    }

    fn text_there_and_back(&self) -> Result<(), String> {
        let wide = wide(&self.text);
        let has_surrogates = self.through.grammar().is_some_and(has_surrogates);
        let options = self.options(has_surrogates);
        let there = self.convert(Encoding::Ucs4Le, self.through, options, &wide)?;
        if let Some(expected) = encoded(self.through, &self.text) {
            let expected = expected.map_err(|index| 4 * index as u64);
            same("the text", &expected, &there.clone().map_err(|fault| fault.offset()))?;
        }
        let Ok(there) = there else { return Ok(()) };
        let back = self.convert(self.through, Encoding::Ucs4Le, options, &there)?;
        // An adjacent surrogate pair has become one code point.
        let joins = has_surrogates && self.text.windows(2).any(|pair| is_pair(pair[0], pair[1]));
        if joins { Ok(()) } else { same("the text, there and back", &Ok(wide), &back.map_err(|fault| fault.offset())) }
    }

    fn bytes_there_and_back(&self) -> Result<(), String> {
        let has_surrogates = self.through.grammar().is_some_and(has_surrogates);
        let options = self.options(has_surrogates);
        let there = self.convert(self.through, Encoding::Ucs4Le, options, &self.bytes)?;
        if let Some(expected) = decoded(self.through, &self.bytes) {
            let converted = there.clone().map_err(|fault| (Some(fault.offset()), fault.kind()));
            same("the bytes", &expected, &converted)?;
        }
        let Ok(there) = there else { return Ok(()) };
        let back = self.convert(Encoding::Ucs4Le, self.through, options, &there)?;
        if let (Encoding::Utf16 | Encoding::Utf32, Ok(back)) = (self.through, &back) {
            // The byte order may have changed, but not the text.
            let again = self.convert(self.through, Encoding::Ucs4Le, options, back)?;
            return same("the text of the bytes", &Ok(there), &again.map_err(|fault| fault.offset()));
        }
        same("the bytes, there and back", &Ok(self.bytes.clone()), &back.map_err(|fault| fault.offset()))
    }

    /// UTF-16 and UTF-32 without a byte order in their name have a byte order mark; other encodings do not.
    fn options(&self, has_surrogates: bool) -> Options {
        match self.through {
            Encoding::Utf16 | Encoding::Utf32 => Options::STRICT,
            _ if has_surrogates => PASSING,
            _ => PLAIN,
        }
    }

    fn any_bytes(&self) -> Result<(), String> {
        let there = self.convert(Encoding::Utf8b, Encoding::Wtf8, PASSING, &self.bytes)?;
        let Ok(there) = there else { return Err("bytes are refused as UTF-8B".into()) };
        let back = self.convert(Encoding::Wtf8, Encoding::Utf8b, PASSING, &there)?;
        same("the bytes as UTF-8B", &Ok(self.bytes.clone()), &back.map_err(|fault| fault.offset()))
    }

    /// Converts in one piece and in two chunks, which must give the same result.
    fn convert(&self, from: Encoding, to: Encoding, options: Options, bytes: &[u8]) -> Result<Converted, String> {
        let pieces = |cut: usize| {
            let mut converter = Converter::new(from, to, options).map_err(|error| error.to_string())?;
            let mut out = Vec::new();
            let (first, second) = bytes.split_at(cut);
            let pushed = converter.push(first, &mut out).and_then(|()| converter.push(second, &mut out));
            let finished = converter.finish(&mut out).map(|_| ());
            Ok::<_, String>((pushed.and(finished).map(|()| out.clone()), out))
        };
        let (whole, out) = pieces(bytes.len())?;
        let (cut, cut_out) = pieces(self.cut.min(bytes.len()))?;
        if (&whole, &out) != (&cut, &cut_out) {
            return Err(format!("{from} to {to}, {bytes:02X?}: {whole:02X?} whole, {cut:02X?} cut at {}", self.cut));
        }
        Ok(whole)
    }
}

/// Byte order marks are neither detected nor written.
const PLAIN: Options = Options { mark: Mark::Keep, ..Options::STRICT };

const PASSING: Options = Options { surrogates: UnpairedSurrogates::Pass, ..PLAIN };

/// The output, or the fault that ended the conversion.
type Converted = Result<Vec<u8>, Fault>;

/// What `spec` encodes, or the index of the first code point it rejects; `None` for an encoding that `spec` lacks.
fn encoded(through: Encoding, text: &[u32]) -> Option<Result<Vec<u8>, usize>> {
    if let Some(charset) = through.charset() {
        let bytes = text.iter().enumerate().map(|(index, &code_point)| charset.encode(code_point).ok_or(index));
        return Some(bytes.collect());
    }
    let grammar = through.grammar().filter(|_| through != Encoding::Utf8b)?;
    // If the grammar excludes surrogates, the first one is an error.
    let is_refused = |code_point: &u32| !has_surrogates(grammar) && (0xD800..0xE000).contains(code_point);
    let passing = text.iter().position(is_refused).unwrap_or(text.len());
    let (contract, mut bytes) = (Contract { grammar, ..Contract::VALIDATOR }, Vec::new());
    Some(match spec::encode_text(&contract, &text[..passing], &mut bytes) {
        Err(refused) => Err(refused.index),
        Ok(()) if passing < text.len() => Err(passing),
        Ok(()) => Ok(bytes),
    })
}

/// Offset and kind of the first fault, if known.
type FirstFault = (Option<u64>, Option<Kind>);

/// What `spec` decodes, as 32-bit code units, or the offset and kind of the first error; `None` for an encoding that
/// `spec` lacks.
fn decoded(through: Encoding, bytes: &[u8]) -> Option<Result<Vec<u8>, FirstFault>> {
    if let Some(charset) = through.charset() {
        let code_points =
            bytes.iter().enumerate().map(|(at, &byte)| charset.decode(byte).ok_or((Some(at as u64), None)));
        return Some(code_points.collect::<Result<Vec<u32>, _>>().map(|code_points| wide(&code_points)));
    }
    let grammar = through.grammar().filter(|_| through != Encoding::Utf8b)?;
    let mut code_points = Vec::new();
    let read = spec::decode(&Contract { grammar, ..Contract::VALIDATOR }, bytes, &mut code_points);
    let error = |error: crate::utf8::Malformed| (error.valid_up_to.map(|at| at as u64), error.kind);
    Some(read.map(|()| wide(&code_points)).map_err(error))
}

/// Code points as little-endian UCS-4.
fn wide(code_points: &[u32]) -> Vec<u8> {
    code_points.iter().flat_map(|code_point| code_point.to_le_bytes()).collect()
}

fn has_surrogates(grammar: &Grammar) -> bool {
    grammar.rows.iter().any(|row| row.form == Form::LeadSurrogate)
}

fn is_pair(lead: u32, trail: u32) -> bool {
    (0xD800..0xDC00).contains(&lead) && (0xDC00..0xE000).contains(&trail)
}

fn same<T: PartialEq + fmt::Debug>(
    what: &str,
    expected: &Result<Vec<u8>, T>,
    converted: &Result<Vec<u8>, T>,
) -> Result<(), String> {
    if expected == converted {
        Ok(())
    } else {
        Err(format!("{what}: {expected:02X?} expected, {converted:02X?} given"))
    }
}

/// Prints a case so that it can be typed: the encoding, and hexadecimal digits.
impl fmt::Debug for RoundTrip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { through, text, bytes, cut } = self;
        write!(f, "through {through}, cut at {cut}\ntext {text:04X?}\nbytes {bytes:02X?}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_encoding_is_generated_and_none_deviates() {
        let mut drawn = std::collections::BTreeSet::new();
        let mut dice = 0x9E37_79B9_7F4A_7C15_u64;
        for _ in 0..20_000 {
            let state: Vec<u8> = (0..96)
                .map(|_| {
                    dice ^= dice << 13;
                    dice ^= dice >> 7;
                    dice ^= dice << 17;
                    dice as u8
                })
                .collect();
            let Ok(case) = RoundTrip::arbitrary(&mut Unstructured::new(&state)) else { continue };
            assert_eq!(case.deviation(), None, "{case:?}");
            drawn.insert(case.through.name());
        }
        assert_eq!(drawn.len(), generated().count());
    }

    #[test]
    fn a_difference_is_reported() {
        assert!(same::<u64>("x", &Ok(vec![1]), &Err(0)).is_err_and(|what| what.starts_with("x: Ok([01]) expected")));
        let deviation = Deviation { law: "text", through: Encoding::Cesu8, what: "other bytes".into() };
        assert!(deviation.to_string().ends_with("\nDEDUP_TOKEN: text/CESU-8"));
    }
}
