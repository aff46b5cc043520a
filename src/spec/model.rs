//! From (contract, bytes) to units, and from the units to everything observable.
//!
//! [`units`] is the one function that reads bytes. A unit is a well-formed sequence or one ill-formed unit of the
//! contract; units follow each other without gaps. Verdict, offset, length, kind, spans, output: all follow from them.

use crate::spec::grammar::{Form, Grammar, Row};
use crate::spec::policy::{Bom, Contract, End, UnitRule};
use crate::utf8::{BYTE_ORDER_MARK, ErrorLen, Kind, Malformed, Validity, is_continuation};

/// One step of reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unit {
    /// Offset of the first byte.
    pub start: usize,
    /// Length in bytes, at least 1.
    pub len: usize,
    /// What the bytes are.
    pub reading: Reading,
}

impl Unit {
    /// The range of bytes.
    pub fn range(&self) -> core::ops::Range<usize> {
        self.start..self.start + self.len
    }
}

/// What the bytes of a unit are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// A well-formed sequence for this code point (up to 31 bits in RFC 2279, surrogates where the grammar has them).
    WellFormed(u32),
    /// An ill-formed unit.
    IllFormed {
        /// The rule it breaks.
        kind: Kind,
        /// True where the input ends here in a proper prefix of a well-formed sequence.
        incomplete: bool,
    },
}

/// Reads `bytes` by the contract, without allocating.
pub fn units<'a>(contract: &Contract, bytes: &'a [u8]) -> Units<'a> {
    Units::behind(contract, bytes, 0, None)
}

/// Iterator over [`Unit`]s; see [`units`].
#[derive(Clone, Debug)]
pub struct Units<'a> {
    contract: Contract,
    bytes: &'a [u8],
    at: usize,
    previous: Option<Form>,
}

impl<'a> Units<'a> {
    /// Continues at `at`, after a sequence of the form `previous`.
    pub(crate) fn behind(contract: &Contract, bytes: &'a [u8], at: usize, previous: Option<Form>) -> Self {
        Self { contract: *contract, bytes, at, previous }
    }
}

impl Iterator for Units<'_> {
    type Item = Unit;

    fn next(&mut self) -> Option<Unit> {
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
                // A rule that cuts the truncated sequence into several units leaves nothing to complete.
                let incomplete = matched == rest.len() && len == rest.len();
                self.previous = None;
                (len, Reading::IllFormed { kind, incomplete })
            }
        };
        self.at = start + len;
        Some(Unit { start, len, reading })
    }
}

/// How a grammar matches the start of a byte string.
enum Match {
    /// This row, completely.
    Whole(&'static Row),
    /// No row; this many bytes begin one.
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

pub(crate) fn payload(sequence: &[u8]) -> u32 {
    let lead_bits = match sequence.len() {
        1 => 0x7F,
        len => 0x7F >> len,
    };
    sequence[1..].iter().fold(u32::from(sequence[0] & lead_bits), |bits, byte| bits << 6 | u32::from(byte & 0x3F))
}

/// Length announced by a lead byte (RFC 2279 §2); 1 for bytes that announce nothing.
pub(crate) fn announced_len(lead: u8) -> usize {
    match lead {
        0xC0..=0xDF => 2,
        0xE0..=0xEF => 3,
        0xF0..=0xF7 => 4,
        0xF8..=0xFB => 5,
        0xFC..=0xFD => 6,
        _ => 1,
    }
}

/// Names the rule broken where `matched` bytes begin a sequence and the next byte cannot continue it.
pub(crate) fn fault(grammar: &Grammar, rest: &[u8], matched: usize, previous: Option<Form>) -> Kind {
    let Some(&next) = rest.get(matched) else { return Kind::Incomplete };
    let joins = |row: &Row| must_join(grammar, row, previous) && matching_prefix(row, rest) > matched;
    if grammar.rows.iter().any(joins) {
        return Kind::SurrogatePair;
    }
    if matched > 0 && !is_continuation(next) {
        // The three bytes of a leading surrogate are complete; what is missing is the rest of the pair.
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

/// Length of the ill-formed unit at the start of `rest`, of which `matched` bytes begin a well-formed sequence.
fn ill_formed_len(contract: &Contract, rest: &[u8], matched: usize) -> usize {
    match contract.unit {
        UnitRule::MaximalSubpart => matched.max(1),
        UnitRule::MaximalSubpartSurrogate => match rest {
            [0xED, 0xA0..=0xBF, 0x80..=0xBF, ..] => 3,
            [0xED, 0xA0..=0xBF, ..] => 2,
            _ => matched.max(1),
        },
        UnitRule::Byte => 1,
        UnitRule::Run => {
            let ill_formed =
                |at: &usize| matches!(Match::longest(contract.grammar, &rest[*at..], None), Match::Prefix(_));
            1 + (1..rest.len()).take_while(ill_formed).count()
        }
        UnitRule::LeadAnnounced => 1 + follow(rest, is_continuation),
        UnitRule::SwallowNonLead => swallowed(rest),
    }
}

/// How many of the bytes announced after the lead byte satisfy `allowed`, up to the first that does not.
fn follow(rest: &[u8], allowed: impl Fn(u8) -> bool) -> usize {
    rest[1..].iter().take(announced_len(rest[0]) - 1).take_while(|&&byte| allowed(byte)).count()
}

/// PHP's `get_next_char` for UTF-8: bytes that are neither ASCII nor a lead byte of RFC 3629 are included.
fn swallowed(rest: &[u8]) -> usize {
    match rest[0] {
        0xC2..=0xF4 => 1 + follow(rest, |byte| matches!(byte, 0x80..=0xC1 | 0xF5..=0xFF)),
        _ => 1,
    }
}

/// The verdict, with offset, length and kind of the first error.
pub fn validity(contract: &Contract, bytes: &[u8]) -> Validity {
    units(contract, bytes).find_map(|unit| malformed(contract, &unit)).map_or(Validity::Valid, Validity::Invalid)
}

/// An ill-formed unit as an error of the contract; `None` for a well-formed one.
pub fn malformed(contract: &Contract, unit: &Unit) -> Option<Malformed> {
    let Reading::IllFormed { kind, incomplete } = unit.reading else { return None };
    let len = match contract.end {
        End::Incomplete if incomplete => ErrorLen::Incomplete,
        _ => ErrorLen::Bytes(unit.len),
    };
    Some(Malformed { kind: Some(kind), ..Malformed::at(unit.start, len) })
}

/// The number of bytes after which a decoder fed one byte at a time can know that the input is ill-formed.
///
/// `None` if the input is well-formed or merely incomplete, so that only its end decides.
pub fn detected_at(grammar: &'static Grammar, bytes: &[u8]) -> Option<usize> {
    let mut units = units(&Contract { grammar, ..Contract::STANDARD }, bytes);
    loop {
        let previous = units.previous;
        let unit = units.next()?;
        if let Reading::IllFormed { .. } = unit.reading {
            return match Match::longest(grammar, &bytes[unit.start..], previous) {
                Match::Prefix(matched) if unit.start + matched < bytes.len() => Some(unit.start + matched + 1),
                _ => None,
            };
        }
    }
}

/// The code points of the output: those of well-formed sequences, and what the replacement writes for the others.
///
/// Empty for ill-formed units where the contract has no replacement.
pub fn code_points<'a>(contract: &Contract, bytes: &'a [u8]) -> impl Iterator<Item = u32> + 'a {
    let replacement = contract.replacement;
    let body = &bytes[stripped(contract, bytes)..];
    units(contract, body).flat_map(move |unit| {
        let (well_formed, ill_formed) = match unit.reading {
            Reading::WellFormed(code_point) => (Some(code_point), None),
            Reading::IllFormed { .. } => (None, replacement),
        };
        let replaced = ill_formed.map(|replacement| replacement.code_points(&body[unit.range()]));
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
    for unit in units(contract, bytes).skip(usize::from(copied > 0)) {
        match unit.reading {
            Reading::WellFormed(code_point) if generalised_len(code_point) == unit.len => continue,
            Reading::WellFormed(code_point) => {
                out.extend_from_slice(&bytes[copied..unit.start]);
                push_generalised(code_point, out);
            }
            Reading::IllFormed { .. } => {
                out.extend_from_slice(&bytes[copied..unit.start]);
                contract.replacement.iter().for_each(|replacement| replacement.push(&bytes[unit.range()], out));
            }
        }
        copied = unit.range().end;
    }
    out.extend_from_slice(&bytes[copied..]);
    Some(())
}

/// Appends the output in UTF-16; code points beyond U+10FFFF, which UTF-16 lacks, become U+FFFD.
pub fn utf16(contract: &Contract, bytes: &[u8], out: &mut Vec<u16>) {
    for code_point in code_points(contract, bytes) {
        match code_point {
            0..=0xFFFF => out.push(code_point as u16),
            0x1_0000..=0x10_FFFF => out.extend(surrogates(code_point)),
            _ => out.push(0xFFFD),
        }
    }
}

/// How many bytes of a byte order mark the contract leaves out of the output.
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

/// Length of a code point's shortest form in extended UTF-8, 1 to 6 bytes (the ranges of RFC 2279 §2).
pub fn generalised_len(code_point: u32) -> usize {
    match code_point {
        0..=0x7F => 1,
        0x80..=0x7FF => 2,
        0x800..=0xFFFF => 3,
        0x1_0000..=0x1F_FFFF => 4,
        0x20_0000..=0x3FF_FFFF => 5,
        _ => 6,
    }
}

/// Appends the shortest form of any code point of up to 31 bits, surrogates included (RFC 2279 §2).
pub fn push_generalised(code_point: u32, out: &mut Vec<u8>) {
    push_form(code_point, generalised_len(code_point), out);
}

/// Appends a code point in a form of `len` bytes, 1 to 6, which need not be the shortest (RFC 2279 §2).
pub fn push_form(code_point: u32, len: usize, out: &mut Vec<u8>) {
    if len == 1 {
        out.push(code_point as u8);
        return;
    }
    let marker = !(0xFFu8 >> len);
    out.push(marker | (code_point >> (6 * (len - 1))) as u8);
    out.extend((0..len - 1).rev().map(|index| 0x80 | (code_point >> (6 * index) & 0x3F) as u8));
}

/// Appends the one well-formed sequence of the grammar for a code point.
///
/// # Errors
/// The rule that keeps the code point out of the grammar; nothing is appended then.
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
        let whole = Unit { start: 0, len: out.len() - start, reading: Reading::WellFormed(code_point) };
        if units(&contract, &out[start..]).next() == Some(whole) {
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

/// The ways a grammar may spell a code point.
#[derive(Clone, Copy)]
enum Spelling {
    Scalar,
    Pair,
    NullAsTwo,
}

impl Spelling {
    fn push(self, code_point: u32, out: &mut Vec<u8>) -> bool {
        match (self, code_point) {
            (Self::Scalar, _) => push_generalised(code_point, out),
            (Self::Pair, 0x1_0000..=0x10_FFFF) => {
                surrogates(code_point).into_iter().for_each(|half| push_generalised(half.into(), out));
            }
            (Self::NullAsTwo, 0) => out.extend_from_slice(b"\xC0\x80"),
            _ => return false,
        }
        true
    }
}
