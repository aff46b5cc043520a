//! What a decoder promises: its contract. Grammar, unit rule, replacement, byte order mark, end of input.
//!
//! Real decoders differ in these on purpose, so each is held to its own contract and to nothing else.

use super::grammar::{Grammar, RFC3629};
use super::model::push_generalised;
use crate::utf8::REPLACEMENT;
use core::fmt;

/// A decoder's promise. Everything a decoder can be asked follows from a contract and the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contract {
    /// What is well-formed.
    pub grammar: &'static Grammar,
    /// How ill-formed bytes are cut into units, one error each.
    pub unit: UnitRule,
    /// What is written for an ill-formed unit; `None` for a decoder that refuses the whole, and a validator.
    pub replacement: Option<Replacement>,
    /// What becomes of a byte order mark at the start.
    pub bom: Bom,
    /// How a sequence cut off by the end of the input is reported.
    pub end: End,
    /// When a stream writes what it knows.
    pub detection: Detection,
}

/// How ill-formed bytes are cut into units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnitRule {
    /// The maximal subpart (Unicode D93b, "U+FFFD Substitution of Maximal Subparts"; the WHATWG decoder).
    MaximalSubpart,
    /// As `MaximalSubpart`, but a three-byte surrogate, or its truncation `ED A0..BF`, is one unit (OpenJDK).
    MaximalSubpartSurrogate,
    /// One unit for each byte (Go `range`).
    Byte,
    /// One unit for each maximal run of ill-formed bytes (Go `strings.ToValidUTF8`).
    Run,
    /// The length the lead byte announces, cut before the first byte that is no continuation (ICU before 60).
    LeadAnnounced,
    /// As `LeadAnnounced`, but swallowing any byte that cannot start a character (PHP `htmlspecialchars`).
    SwallowNonLead,
}

/// What is written for an ill-formed unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// U+FFFD, once for each unit.
    ReplacementCharacter,
    /// Nothing.
    Drop,
    /// U+DC80..U+DCFF, one for each byte (Python `surrogateescape`, UTF-8B).
    SurrogateEscape,
    /// U+0080..U+00FF, one for each byte (Latin-1).
    Latin1,
    /// One for each byte by the index windows-1252 of the WHATWG Encoding Standard.
    Windows1252,
}

/// What becomes of `EF BB BF` at the start of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bom {
    /// It is U+FEFF like any other.
    Keep,
    /// One is left out of the output (WHATWG "UTF-8 decode"). Offsets of errors still count its bytes.
    Strip,
}

/// How a sequence cut off by the end of the input is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// As [`ErrorLen::Incomplete`](crate::utf8::ErrorLen::Incomplete): more bytes could complete it.
    Incomplete,
    /// As an error of so many bytes.
    Error,
}

/// When a stream writes the text and the replacements of the chunks it has been given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detection {
    /// When it likes, and at the latest at its end.
    Late,
    /// At once: nothing waits but a sequence that more bytes could complete.
    Earliest,
}

impl Contract {
    /// RFC 3629, maximal subparts, U+FFFD, byte order mark kept, incomplete told apart: `core::str`, WHATWG.
    pub const STANDARD: Self = Self {
        grammar: &RFC3629,
        unit: UnitRule::MaximalSubpart,
        replacement: Some(Replacement::ReplacementCharacter),
        bom: Bom::Keep,
        end: End::Incomplete,
        detection: Detection::Late,
    };

    /// [`Contract::STANDARD`] of a decoder that writes no output.
    pub const VALIDATOR: Self = Self { replacement: None, ..Self::STANDARD };
}

impl Replacement {
    /// Appends what is written for an ill-formed unit, in generalised UTF-8.
    pub fn push(self, unit: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::ReplacementCharacter => out.extend_from_slice(REPLACEMENT),
            _ => self.code_points(unit).for_each(|code_point| push_generalised(code_point, out)),
        }
    }

    /// The code points written for an ill-formed unit.
    pub fn code_points(self, unit: &[u8]) -> impl Iterator<Item = u32> + '_ {
        let (whole, each) = match self {
            Self::ReplacementCharacter => (Some(0xFFFD), None),
            Self::Drop => (None, None),
            Self::SurrogateEscape => (None, Some(surrogate_escape as fn(u8) -> u32)),
            Self::Latin1 => (None, Some(u32::from as fn(u8) -> u32)),
            Self::Windows1252 => (None, Some(windows_1252 as fn(u8) -> u32)),
        };
        whole.into_iter().chain(each.into_iter().flat_map(move |escape| unit.iter().map(move |&byte| escape(byte))))
    }
}

fn surrogate_escape(byte: u8) -> u32 {
    0xDC00 + u32::from(byte)
}

/// WHATWG Encoding Standard, index windows-1252: only 80..9F differ from Latin-1, and of these five holes do not.
fn windows_1252(byte: u8) -> u32 {
    const FROM_80: [u16; 32] = [
        0x20AC, 0x0081, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x008D,
        0x017D, 0x008F, 0x0090, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A,
        0x0153, 0x009D, 0x017E, 0x0178,
    ];
    match byte {
        0x80..=0x9F => u32::from(FROM_80[usize::from(byte - 0x80)]),
        _ => u32::from(byte),
    }
}

impl fmt::Display for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit = match self.unit {
            UnitRule::MaximalSubpart => "maximal-subpart",
            UnitRule::MaximalSubpartSurrogate => "maximal-subpart-surrogate",
            UnitRule::Byte => "byte",
            UnitRule::Run => "run",
            UnitRule::LeadAnnounced => "lead-announced",
            UnitRule::SwallowNonLead => "swallow-non-lead",
        };
        let replacement = match self.replacement {
            None => "no-output",
            Some(Replacement::ReplacementCharacter) => "U+FFFD",
            Some(Replacement::Drop) => "drop",
            Some(Replacement::SurrogateEscape) => "surrogateescape",
            Some(Replacement::Latin1) => "latin-1",
            Some(Replacement::Windows1252) => "windows-1252",
        };
        let bom = match self.bom {
            Bom::Keep => "bom-kept",
            Bom::Strip => "bom-stripped",
        };
        let end = match self.end {
            End::Incomplete => "incomplete-told",
            End::Error => "incomplete-is-error",
        };
        let detection = match self.detection {
            Detection::Late => "",
            Detection::Earliest => " detected-at-once",
        };
        write!(f, "{} {unit} {replacement} {bom} {end}{detection}", self.grammar.name)
    }
}
