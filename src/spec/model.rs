//! From (contract, bytes) to segments, and from the segments to everything observable.
//!
//! [`segments`] is the one function that reads bytes. A segment is a well-formed sequence, or ill-formed bytes that the
//! contract reports as one error; segments follow each other without gaps. Verdict, offset, length, kind, spans and
//! output all follow from them.

use crate::spec::grammar::{Form, Grammar, Row};
use crate::spec::policy::{Bom, Contract, End, Segmentation};
use crate::utf8::{
    BYTE_ORDER_MARK, ErrorLen, Kind, Malformed, Validity, announced_len, extended_len, is_continuation, payload,
    push_extended,
};

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
        (0xF0, 0xA0..=0xBF) if matched == 2 && rest[1] == 0x8D => Kind::Surrogate,
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

/// Appends the one well-formed sequence of the grammar for a code point.
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
