//! What a decoder promises: its contract. Grammar, unit rule, replacement, byte order mark, end of input.
//!
//! Real decoders differ in these on purpose, so each is held to its own contract and to nothing else.

use crate::spec::charset::Charset;
use crate::spec::grammar::{Grammar, RFC3629};
use crate::spec::model::push_generalised;
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
    /// One for each byte by the vendor's table of Windows-1252; U+FFFD for its five holes (Java, Perl), which
    /// [`decode`](crate::spec::decode) refuses.
    Windows1252Strict,
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
            Self::ReplacementCharacter => (Some(0xFFFD), &[][..]),
            Self::Drop => (None, &[][..]),
            _ => (None, unit),
        };
        whole.into_iter().chain(each.iter().map(move |&byte| self.escape(byte)))
    }

    /// The charset ill-formed bytes are read in.
    pub fn charset(self) -> Option<Charset> {
        match self {
            Self::ReplacementCharacter | Self::Drop | Self::SurrogateEscape => None,
            Self::Latin1 => Some(Charset::Latin1),
            Self::Windows1252 => Some(Charset::Windows1252),
            Self::Windows1252Strict => Some(Charset::Windows1252Strict),
        }
    }

    /// The first byte of an ill-formed unit that is a hole of the charset: its index.
    pub fn hole(self, unit: &[u8]) -> Option<usize> {
        let charset = self.charset()?;
        unit.iter().position(|&byte| charset.decode(byte).is_none())
    }

    fn escape(self, byte: u8) -> u32 {
        match self.charset() {
            Some(charset) => charset.decode(byte).unwrap_or(0xFFFD),
            None => 0xDC00 + u32::from(byte),
        }
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
            Some(Replacement::Latin1) => Charset::Latin1.name(),
            Some(Replacement::Windows1252) => Charset::Windows1252.name(),
            Some(Replacement::Windows1252Strict) => Charset::Windows1252Strict.name(),
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
