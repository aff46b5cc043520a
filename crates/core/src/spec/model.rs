//! From (contract, bytes) to segments, and from the segments to everything observable.
//!
//! [`segments`] is the one function that reads bytes. A segment is a well-formed sequence, or ill-formed bytes that the
//! contract replaces as one; segments follow each other without gaps. Verdict, offset, length, kind, spans, output
//! and decoded text ([`decode`]) all follow from them; [`encode_text`] goes the other way, and [`Rule`] names the clause
//! that an ill-formed segment violates.

use crate::spec::grammar::{Form, Grammar, RFC3629, Row};
use crate::spec::policy::{Bom, Contract, End, Replacement, Segmentation};
use crate::utf8::{
    BYTE_ORDER_MARK, ErrorLen, Kind, Malformed, Validity, announced_len, extended_len, is_continuation, payload,
    push_extended,
};
use core::fmt;

/// The bytes that are read in one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Offset of the first byte.
    pub start: usize,
    /// Length in bytes, at least 1.
    pub len: usize,
    /// What the bytes are.
    pub reading: Reading,
}

impl Segment {
    /// The range of bytes.
    pub fn range(&self) -> core::ops::Range<usize> {
        self.start..self.start + self.len
    }

    /// Whether all that is left of the input is a proper prefix of a well-formed sequence.
    pub fn is_incomplete(&self) -> bool {
        self.reading == Reading::IllFormed { kind: Kind::Incomplete }
    }
}

/// What the bytes of a segment are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// A well-formed sequence for this code point (up to 31 bits in RFC 2279, surrogates where the grammar has them).
    WellFormed(u32),
    /// An ill-formed segment.
    IllFormed {
        /// The rule it breaks: [`Kind::Incomplete`] if all that is left of the input, which may be several segments, is
        /// a proper prefix of a well-formed sequence.
        kind: Kind,
    },
}

/// Reads `bytes` by the contract, without allocating.
pub fn segments<'a>(contract: &Contract, bytes: &'a [u8]) -> Segments<'a> {
    Segments::resume(contract, bytes, 0, None)
}

/// Iterator over [`Segment`]s; see [`segments`].
#[derive(Clone, Debug)]
pub struct Segments<'a> {
    contract: Contract,
    bytes: &'a [u8],
    at: usize,
    previous: Option<Form>,
}

impl<'a> Segments<'a> {
    /// Continues at `at`, after a sequence of the form `previous`.
    pub(crate) fn resume(contract: &Contract, bytes: &'a [u8], at: usize, previous: Option<Form>) -> Self {
        Self { contract: *contract, bytes, at, previous }
    }
}

impl Iterator for Segments<'_> {
    type Item = Segment;

    fn next(&mut self) -> Option<Segment> {
        let start = self.at;
        let rest = &self.bytes[start..];
        if rest.is_empty() {
            return None;
        }
        let (len, reading) = match Match::longest(self.contract.grammar, rest, self.previous) {
            Match::Whole(row) => {
                self.previous = Some(row.form);
                (row.bytes.len(), Reading::WellFormed(code_point(row.form, &rest[..row.bytes.len()])))
            }
            Match::Prefix(matched) => {
                let kind = fault(self.contract.grammar, rest, matched, self.previous);
                let len = ill_formed_len(&self.contract, rest, matched);
                self.previous = None;
                (len, Reading::IllFormed { kind })
            }
        };
        self.at = start + len;
        Some(Segment { start, len, reading })
    }
}

/// How a grammar matches the start of a byte string.
enum Match {
    /// This row, completely.
    Whole(&'static Row),
    /// No row completely; this many bytes match the start of one.
    Prefix(usize),
}

impl Match {
    fn longest(grammar: &Grammar, bytes: &[u8], previous: Option<Form>) -> Self {
        let mut longest = 0;
        for row in bytes.first().map_or(&[][..], |&lead| grammar.rows_from(lead)) {
            let matched = matching_prefix(row, bytes);
            if matched == 0 {
                break;
            }
            if must_join(grammar, row, previous) {
                continue;
            }
            if matched == row.bytes.len() {
                return Self::Whole(row);
            }
            longest = longest.max(matched);
        }
        Self::Prefix(longest)
    }
}

fn must_join(grammar: &Grammar, row: &Row, previous: Option<Form>) -> bool {
    grammar.pairs_join && row.form == Form::TrailSurrogate && previous == Some(Form::LeadSurrogate)
}

fn matching_prefix(row: &Row, bytes: &[u8]) -> usize {
    row.bytes.iter().zip(bytes).take_while(|&(&(first, last), &byte)| first <= byte && byte <= last).count()
}

/// The code point of a well-formed sequence (RFC 3629 §3 "Decoding", RFC 2279 §2; UTR #26 for pairs).
fn code_point(form: Form, sequence: &[u8]) -> u32 {
    if form == Form::Pair {
        let lead = payload(&sequence[..3]);
        let trail = payload(&sequence[3..]);
        return 0x1_0000 + ((lead - 0xD800) << 10) + (trail - 0xDC00);
    }
    payload(sequence)
}

/// The rule that is broken if `matched` bytes begin a sequence and the next byte cannot continue it.
pub(crate) fn fault(grammar: &Grammar, rest: &[u8], matched: usize, previous: Option<Form>) -> Kind {
    let Some(&next) = rest.get(matched) else { return Kind::Incomplete };
    let joins = |row: &Row| must_join(grammar, row, previous) && matching_prefix(row, rest) > matched;
    if grammar.rows.iter().any(joins) {
        return Kind::SurrogatePair;
    }
    if matched > 0 && !is_continuation(next) {
        // The three bytes of a leading surrogate are complete; the rest of the pair is missing.
        return if matched == 3 && rest[0] == 0xED { Kind::Surrogate } else { Kind::TooShort };
    }
    match (rest[0], next) {
        (0x00, _) => Kind::Null,
        (0x80..=0xBF, _) => Kind::Continuation,
        (0xC0 | 0xC1, _) => Kind::Overlong(2),
        (0xE0, 0x80..=0x9F) => Kind::Overlong(3),
        (0xED, _) => Kind::Surrogate,
        (0xEF, _) => Kind::Noncharacter,
        (0xF0, 0xA0..=0xBF) if rest[1] == 0x8D => Kind::Surrogate,
        (0xF0, 0x80..=0x8F) if matched == 1 => Kind::Overlong(4),
        (0xF4, 0x90..=0xBF) if matched == 1 => Kind::TooLarge,
        (0xF0..=0xF4, _) if matched > 0 => Kind::Noncharacter,
        (0xF0..=0xF4, _) => Kind::FourByte,
        (0xF5..=0xF7, _) => Kind::TooLarge,
        (0xF8, _) if matched == 1 => Kind::Overlong(5),
        (0xFC, _) if matched == 1 => Kind::Overlong(6),
        _ => Kind::InvalidByte,
    }
}

/// Length of the ill-formed segment at the start of `rest`, where `matched` bytes begin a well-formed sequence.
fn ill_formed_len(contract: &Contract, rest: &[u8], matched: usize) -> usize {
    match contract.segmentation {
        Segmentation::MaximalSubpart => matched.max(1),
        Segmentation::MaximalSubpartSurrogate => match rest {
            [0xED, 0xA0..=0xBF, 0x80..=0xBF, ..] => 3,
            [0xED, 0xA0..=0xBF, ..] => 2,
            _ => matched.max(1),
        },
        Segmentation::Byte => 1,
        Segmentation::Run => {
            let ill_formed =
                |at: &usize| matches!(Match::longest(contract.grammar, &rest[*at..], None), Match::Prefix(_));
            1 + (1..rest.len()).take_while(ill_formed).count()
        }
        Segmentation::LeadAnnounced => 1 + follow(rest, is_continuation),
        Segmentation::SwallowNonLead => {
            let leads = |byte: u8| contract.grammar.has_lead(byte);
            if leads(rest[0]) { 1 + follow(rest, |byte| !leads(byte)) } else { 1 }
        }
    }
}

/// How many of the bytes announced after the lead byte satisfy `allowed`, up to the first that does not.
fn follow(rest: &[u8], allowed: impl Fn(u8) -> bool) -> usize {
    rest[1..].iter().take(announced_len(rest[0]) - 1).take_while(|&&byte| allowed(byte)).count()
}

/// The verdict, with offset, length and kind of the first error.
pub fn validity(contract: &Contract, bytes: &[u8]) -> Validity {
    segments(contract, bytes)
        .find_map(|segment| malformed(contract, &segment))
        .map_or(Validity::Valid, Validity::Invalid)
}

/// An ill-formed segment as an error of the contract; `None` for a well-formed one.
///
/// Under [`End::Incomplete`] the segments that follow one of [`Kind::Incomplete`] belong to the same error.
pub fn malformed(contract: &Contract, segment: &Segment) -> Option<Malformed> {
    let Reading::IllFormed { kind } = segment.reading else { return None };
    let len = if is_last_error(contract, segment) { ErrorLen::Incomplete } else { ErrorLen::Bytes(segment.len) };
    Some(Malformed { kind: Some(kind), ..Malformed::at(segment.start, len) })
}

/// Whether the contract reports this segment, and all that is left of the input, as an incomplete sequence.
pub(crate) fn is_last_error(contract: &Contract, segment: &Segment) -> bool {
    contract.end == End::Incomplete && segment.is_incomplete()
}

/// The number of bytes after which a decoder fed one byte at a time can know that the input is ill-formed.
///
/// `None` if the input is well-formed or merely incomplete, so that only its end decides.
pub fn detected_at(grammar: &'static Grammar, bytes: &[u8]) -> Option<usize> {
    let mut segments = segments(&Contract { grammar, ..Contract::STANDARD }, bytes);
    loop {
        let previous = segments.previous;
        let segment = segments.next()?;
        if let Reading::IllFormed { .. } = segment.reading {
            return match Match::longest(grammar, &bytes[segment.start..], previous) {
                Match::Prefix(matched) if segment.start + matched < bytes.len() => Some(segment.start + matched + 1),
                _ => None,
            };
        }
    }
}

/// The code points of the output: those of well-formed sequences, and the replacements of ill-formed segments.
///
/// Ill-formed segments yield nothing if the contract has no replacement.
pub fn code_points<'a>(contract: &Contract, bytes: &'a [u8]) -> impl Iterator<Item = u32> + 'a {
    let replacement = contract.replacement;
    let body = &bytes[stripped(contract, bytes)..];
    segments(contract, body).flat_map(move |segment| {
        let (well_formed, ill_formed) = match segment.reading {
            Reading::WellFormed(code_point) => (Some(code_point), None),
            Reading::IllFormed { .. } => (None, replacement),
        };
        let replaced = ill_formed.map(|replacement| replacement.code_points(&body[segment.range()]));
        well_formed.into_iter().chain(replaced.into_iter().flatten())
    })
}

/// Appends the output in extended (RFC 2279) UTF-8: up to six bytes for a code point, surrogates included.
///
/// `None`, and nothing appended, if the contract has no replacement and `bytes` are ill-formed.
pub fn lossy(contract: &Contract, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
    if contract.replacement.is_none() && !validity(contract, bytes).is_valid() {
        return None;
    }
    let mut copied = stripped(contract, bytes);
    for segment in segments(contract, bytes).skip(usize::from(copied > 0)) {
        match segment.reading {
            Reading::WellFormed(code_point) if extended_len(code_point) == segment.len => continue,
            Reading::WellFormed(code_point) => {
                out.extend_from_slice(&bytes[copied..segment.start]);
                push_extended(code_point, out);
            }
            Reading::IllFormed { .. } => {
                out.extend_from_slice(&bytes[copied..segment.start]);
                contract.replacement.iter().for_each(|replacement| replacement.push(&bytes[segment.range()], out));
            }
        }
        copied = segment.range().end;
    }
    out.extend_from_slice(&bytes[copied..]);
    Some(())
}

/// Appends the output in UTF-16; code points above U+10FFFF, which UTF-16 cannot encode, become U+FFFD.
pub fn utf16(contract: &Contract, bytes: &[u8], out: &mut Vec<u16>) {
    for code_point in code_points(contract, bytes) {
        match code_point {
            0..=0xFFFF => out.push(code_point as u16),
            0x1_0000..=0x10_FFFF => out.extend(surrogates(code_point)),
            _ => out.push(0xFFFD),
        }
    }
}

/// How many bytes of a byte order mark the contract strips.
pub(crate) fn stripped(contract: &Contract, bytes: &[u8]) -> usize {
    match contract.bom {
        Bom::Strip if bytes.starts_with(BYTE_ORDER_MARK) => BYTE_ORDER_MARK.len(),
        _ => 0,
    }
}

fn surrogates(code_point: u32) -> [u16; 2] {
    let bits = code_point - 0x1_0000;
    [0xD800 | (bits >> 10) as u16, 0xDC00 | (bits & 0x3FF) as u16]
}

/// Appends the shortest well-formed sequence of the grammar for a code point.
///
/// # Errors
/// The rule that excludes the code point from the grammar; nothing is appended then.
pub fn encode(grammar: &'static Grammar, code_point: u32, out: &mut Vec<u8>) -> Result<(), Kind> {
    if code_point > 0x7FFF_FFFF {
        return Err(Kind::TooLarge);
    }
    let start = out.len();
    let contract = Contract { grammar, ..Contract::STANDARD };
    for spelling in [Spelling::Scalar, Spelling::Pair, Spelling::NullAsTwo] {
        if !spelling.push(code_point, out) {
            continue;
        }
        let whole = Segment { start: 0, len: out.len() - start, reading: Reading::WellFormed(code_point) };
        if segments(&contract, &out[start..]).next() == Some(whole) {
            return Ok(());
        }
        out.truncate(start);
    }
    Err(match code_point {
        0xD800..=0xDFFF => Kind::Surrogate,
        0x11_0000.. => Kind::TooLarge,
        _ => Kind::Noncharacter,
    })
}

/// The ways in which a grammar may encode a code point.
#[derive(Clone, Copy)]
enum Spelling {
    Scalar,
    Pair,
    NullAsTwo,
}

impl Spelling {
    fn push(self, code_point: u32, out: &mut Vec<u8>) -> bool {
        match (self, code_point) {
            (Self::Scalar, _) => push_extended(code_point, out),
            (Self::Pair, 0x1_0000..=0x10_FFFF) => {
                surrogates(code_point).into_iter().for_each(|half| push_extended(half.into(), out));
            }
            (Self::NullAsTwo, 0) => out.extend_from_slice(b"\xC0\x80"),
            _ => return false,
        }
        true
    }
}

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
/// they represent (UTF-8B): any bytes survive [`decode`] followed by [`encode_text`] unchanged, if the contract keeps a
/// byte order mark and the grammar excludes surrogates, contains every byte below 80 and has one form for each code point.
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
            // The low eight bits of U+DC00 are zero, so those of the code point are the byte.
            out.push(code_point as u8);
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

/// Why an ill-formed segment is ill-formed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// One sentence about these bytes.
    pub says: String,
    /// The clause of the standard.
    pub source: &'static str,
}

impl Rule {
    /// Explains a segment of this kind under this grammar that starts at the start of `rest`.
    pub fn broken(grammar: &Grammar, kind: Kind, rest: &[u8]) -> Self {
        let lead = rest.first().copied().unwrap_or(0);
        let announced = announced_len(lead);
        let (says, source) = match kind {
            Kind::Continuation => (
                format!("{lead:02X} is a continuation byte (80..BF) where a character must start"),
                "RFC 3629 §4 (UTF8-tail occurs only after a lead byte)",
            ),
            Kind::InvalidByte => {
                (format!("{lead:02X} occurs in no well-formed sequence"), "RFC 3629 §1 and §4; Unicode Table 3-7")
            }
            Kind::Overlong(len) => {
                let form = match spelled(rest, len.into()) {
                    Some(code_point) => format!("the overlong {len}-byte form of U+{code_point:04X}"),
                    None => format!("the start of an overlong {len}-byte form"),
                };
                (
                    format!("{form}; the shortest form is required"),
                    "RFC 3629 §3 (there is only one valid way to encode a character number)",
                )
            }
            Kind::Surrogate => {
                let half = grammar.rows.iter().any(|row| row.form == Form::Pair);
                let why = if half { "not half of a pair" } else { "not a character" };
                let form = match spelled(rest, 3) {
                    Some(code_point) => format!("the surrogate U+{code_point:04X}"),
                    None => "the start of a surrogate (U+D800..U+DFFF)".into(),
                };
                (format!("{form}, which is {why}"), "RFC 3629 §3 (character numbers between U+D800 and U+DFFF)")
            }
            Kind::SurrogatePair => (
                "a trailing surrogate after a leading one; a pair has a four-byte form".into(),
                "The WTF-8 encoding, §3.2",
            ),
            Kind::TooLarge => {
                let form = match spelled(rest, announced) {
                    Some(code_point) => format!("U+{code_point:04X}"),
                    None => format!("{lead:02X} starts a code point that"),
                };
                (format!("{form} is beyond U+10FFFF, the last code point"), "RFC 3629 §3 and §4 (UTF8-4 ends at F4 8F)")
            }
            // These three bytes are well-formed where a surrogate may stand alone.
            Kind::TooShort if matches!(rest, [0xED, 0xA0..=0xAF, 0x80..=0xBF, ..]) => {
                ("a leading surrogate, and the other half of its pair is not complete".into(), "UTR #26 §2")
            }
            Kind::TooShort => (
                format!(
                    "{lead:02X} announces {announced} bytes, but a byte before their end is not a continuation byte"
                ),
                "RFC 3629 §4; Unicode D93b (maximal subpart)",
            ),
            Kind::Incomplete if rest.len() >= announced => (
                "truncated: a leading surrogate, and the input ends before the other half of the pair".into(),
                "UTR #26 §2",
            ),
            Kind::Incomplete => (
                format!("truncated: {lead:02X} announces {announced} bytes, and the input ends after {}", rest.len()),
                "RFC 3629 §4; Unicode D93b (maximal subpart)",
            ),
            Kind::Noncharacter => ("a noncharacter, which this grammar excludes".into(), "Unicode D14"),
            Kind::FourByte => ("a four-byte form, which this grammar writes as a pair".into(), "UTR #26 §2"),
            Kind::Null => ("a raw 00, which this grammar writes as C0 80".into(), "Java SE java.io.DataInput"),
        };
        let kept = matches!(kind, Kind::SurrogatePair | Kind::Noncharacter | Kind::FourByte | Kind::Null);
        Self { says, source: if kept || *grammar == RFC3629 { source } else { grammar.source } }
    }
}

/// The code point the first `len` bytes would encode by RFC 2279 §2 if no rule forbade it.
fn spelled(rest: &[u8], len: usize) -> Option<u32> {
    let sequence = rest.get(..len)?;
    let tail = &sequence[1..];
    let structural = announced_len(sequence[0]) == len && tail.iter().all(|&byte| crate::utf8::is_continuation(byte));
    structural.then(|| crate::utf8::payload(sequence))
}
