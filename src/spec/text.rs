//! Whole texts: from bytes to code points and back, or the first error.

use crate::spec::grammar::{Form, Grammar};
use crate::spec::model::{Reading, encode, malformed, segments, stripped, validity};
use crate::spec::policy::{Contract, Replacement};
use crate::utf8::push_extended;
use crate::utf8::{ErrorLen, Kind, Malformed, Validity};
use core::fmt;

/// A code point that the grammar cannot encode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unencodable {
    /// Index among the given code points or code units.
    pub index: usize,
    /// The code point.
    pub code_point: u32,
    /// The rule that excludes it from the grammar.
    pub kind: Kind,
}

impl fmt::Display for Unencodable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "U+{:04X} at index {}: {}", self.code_point, self.index, self.kind)
    }
}

impl core::error::Error for Unencodable {}

/// Appends the code points of the output.
///
/// # Errors
/// The first ill-formed segment, if the contract has no replacement; under [`Replacement::Windows1252Strict`] the first
/// ill-formed byte that is undefined, as an error of one byte. The output before the error has been appended.
pub fn decode(contract: &Contract, bytes: &[u8], out: &mut Vec<u32>) -> Result<(), Malformed> {
    let skipped = stripped(contract, bytes);
    for segment in segments(contract, bytes).skip(usize::from(skipped > 0)) {
        if let Reading::WellFormed(code_point) = segment.reading {
            out.push(code_point);
        }
        let Some(error) = malformed(contract, &segment) else { continue };
        let Some(replacement) = contract.replacement else { return Err(error) };
        let ill_formed = &bytes[segment.range()];
        let hole = replacement.hole(ill_formed);
        out.extend(replacement.code_points(&ill_formed[..hole.unwrap_or(segment.len)]));
        if let Some(index) = hole {
            return Err(Malformed { kind: error.kind, ..Malformed::at(segment.start + index, ErrorLen::Bytes(1)) });
        }
    }
    Ok(())
}

/// Appends the well-formed sequences of a text.
///
/// A leading surrogate followed by a trailing one is one code point if the grammar has one form for both (WTF-8,
/// CESU-8, Modified UTF-8), and two otherwise. Under [`Replacement::SurrogateEscape`] U+DC80..U+DCFF become the bytes
/// they represent (UTF-8B): any bytes survive [`decode`] followed by [`encode_text`] unchanged, if the grammar excludes
/// surrogates, contains every byte below 80 and has one form for each code point.
///
/// # Errors
/// The first code point that the grammar excludes; nothing is appended then.
pub fn encode_text(contract: &Contract, code_points: &[u32], out: &mut Vec<u8>) -> Result<(), Unencodable> {
    let grammar = contract.grammar;
    let joins = grammar.pairs_join || grammar.rows.iter().any(|row| row.form == Form::Pair);
    push_text(contract, code_points, joins, out)
}

/// Appends the well-formed sequences of a text in UTF-16. A surrogate pair is one code point in every grammar.
///
/// # Errors
/// The first unpaired surrogate, if the grammar excludes surrogates; nothing is appended then.
pub fn encode_utf16(contract: &Contract, code_units: &[u16], out: &mut Vec<u8>) -> Result<(), Unencodable> {
    let wide: Vec<u32> = code_units.iter().map(|&unit| unit.into()).collect();
    push_text(contract, &wide, true, out)
}

fn push_text(contract: &Contract, text: &[u32], joins: bool, out: &mut Vec<u8>) -> Result<(), Unencodable> {
    let start = out.len();
    let escapes = contract.replacement == Some(Replacement::SurrogateEscape);
    let mut index = 0;
    while let Some(&first) = text.get(index) {
        let pair = text.get(index + 1).and_then(|&second| pair(first, second)).filter(|_| joins);
        let code_point = pair.unwrap_or(first);
        if escapes && (0xDC80..=0xDCFF).contains(&code_point) {
            out.push((code_point - 0xDC00) as u8);
        } else if let Err(kind) = encode(contract.grammar, code_point, out) {
            out.truncate(start);
            return Err(Unencodable { index, code_point, kind });
        }
        index += if pair.is_some() { 2 } else { 1 };
    }
    Ok(())
}

/// The code point of a surrogate pair (Unicode D91, Table 3-5).
fn pair(lead: u32, trail: u32) -> Option<u32> {
    let is_pair = (0xD800..=0xDBFF).contains(&lead) && (0xDC00..=0xDFFF).contains(&trail);
    is_pair.then(|| 0x1_0000 + ((lead - 0xD800) << 10) + (trail - 0xDC00))
}

/// Appends the concatenation of two well-formed texts: their bytes one after the other, except that in WTF-8 a leading
/// surrogate at the end of the first and a trailing one at the start of the second become one four-byte form (The WTF-8
/// encoding, "Concatenating").
///
/// # Errors
/// The first ill-formed segment of either, with its offset from the start of the first; nothing is appended then.
pub fn concatenate(grammar: &'static Grammar, first: &[u8], second: &[u8], out: &mut Vec<u8>) -> Result<(), Malformed> {
    let contract = Contract { grammar, ..Contract::VALIDATOR };
    for (text, before) in [(first, 0), (second, first.len())] {
        if let Validity::Invalid(error) = validity(&contract, text) {
            return Err(Malformed { valid_up_to: error.valid_up_to.map(|offset| before + offset), ..error });
        }
    }
    let code_point = |segment| match segment {
        Reading::WellFormed(code_point) => Some(code_point),
        Reading::IllFormed { .. } => None,
    };
    let lead = segments(&contract, first).last().and_then(|segment| code_point(segment.reading));
    let trail = segments(&contract, second).next().and_then(|segment| code_point(segment.reading));
    match lead.zip(trail).and_then(|(lead, trail)| pair(lead, trail)) {
        Some(supplementary) if grammar.pairs_join => {
            out.extend_from_slice(&first[..first.len() - 3]);
            push_extended(supplementary, out);
            out.extend_from_slice(&second[3..]);
        }
        _ => {
            out.extend_from_slice(first);
            out.extend_from_slice(second);
        }
    }
    Ok(())
}
