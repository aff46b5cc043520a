//! What a decoder promises: its contract. Grammar, segmentation, replacement, byte order mark, end of input, detection.
//!
//! Real decoders differ in these on purpose, so each is held only to its own contract.
//!
//! ```
//! # use utfuzz_core as utfuzz;
//! use utfuzz::spec::{Contract, Segmentation, lossy, validity};
//!
//! // One U+FFFD for each maximal subpart (Unicode D93b), or one for each byte.
//! let by_byte = Contract { segmentation: Segmentation::Byte, ..Contract::STANDARD };
//! let (mut subparts, mut bytes) = (Vec::new(), Vec::new());
//! lossy(&Contract::STANDARD, b"a\xE2\x82b", &mut subparts);
//! lossy(&by_byte, b"a\xE2\x82b", &mut bytes);
//! assert_eq!((subparts, bytes), ("a\u{FFFD}b".into(), "a\u{FFFD}\u{FFFD}b".into()));
//! assert_eq!(validity(&by_byte, b"a\xE2\x82b").to_string(), "invalid at 1, length 1, too-short");
//! ```

use crate::spec::grammar::{self, Form, Grammar, RFC3629};
use crate::utf8::REPLACEMENT;
use crate::utf8::push_extended;
use core::fmt;
use core::str::FromStr;

/// A decoder's promise. The expected answer to every question follows from the contract and the bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contract {
    /// What is well-formed.
    pub grammar: &'static Grammar,
    /// How ill-formed bytes are cut into segments, one error each.
    pub segmentation: Segmentation,
    /// What is written for an ill-formed segment; `None` for a validator, and for a decoder that rejects the whole
    /// input.
    pub replacement: Option<Replacement>,
    /// How a byte order mark at the start is treated.
    pub bom: Bom,
    /// How a sequence truncated by the end of the input is reported.
    pub end: End,
    /// When a stream writes output that later bytes cannot change.
    pub detection: Detection,
}

/// How ill-formed bytes are cut into segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Segmentation {
    /// The maximal subpart (Unicode D93b, "U+FFFD Substitution of Maximal Subparts"; the WHATWG decoder).
    MaximalSubpart,
    /// Like `MaximalSubpart`, but a three-byte surrogate, or its truncation `ED A0..BF`, is one segment (OpenJDK).
    MaximalSubpartSurrogate,
    /// One segment for each byte (Go `range`).
    Byte,
    /// One segment for each maximal run of ill-formed bytes (Go `strings.ToValidUTF8`).
    Run,
    /// The length the lead byte announces, cut before the first byte that is not a continuation byte (ICU before 60).
    LeadAnnounced,
    /// Like `LeadAnnounced`, but cut only before a byte that can start a character; one that cannot announces nothing
    /// (PHP `htmlspecialchars`).
    SwallowNonLead,
}

impl Segmentation {
    /// Every segmentation.
    pub const ALL: [Self; 6] = [
        Self::MaximalSubpart,
        Self::MaximalSubpartSurrogate,
        Self::Byte,
        Self::Run,
        Self::LeadAnnounced,
        Self::SwallowNonLead,
    ];

    /// The name in contracts and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::MaximalSubpart => "maximal-subpart",
            Self::MaximalSubpartSurrogate => "maximal-subpart-surrogate",
            Self::Byte => "byte",
            Self::Run => "run",
            Self::LeadAnnounced => "lead-announced",
            Self::SwallowNonLead => "swallow-non-lead",
        }
    }

    /// A description for readers, with the software or standard that uses it.
    pub fn summary(self) -> &'static str {
        match self {
            Self::MaximalSubpart => "The maximal subpart (the Unicode Standard, the Encoding Standard)",
            Self::MaximalSubpartSurrogate => "The same, but a three-byte surrogate is one segment (OpenJDK)",
            Self::Byte => "Each byte (Go)",
            Self::Run => "Each run of ill-formed bytes (Go strings.ToValidUTF8)",
            Self::LeadAnnounced => "The length the lead byte announces (ICU before 60)",
            Self::SwallowNonLead => "The same, including any byte that cannot start a character (PHP htmlspecialchars)",
        }
    }
}

/// What is written for an ill-formed segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// U+FFFD, once for each segment.
    ReplacementCharacter,
    /// Nothing.
    Drop,
    /// U+DC80..U+DCFF, one for each byte (Python `surrogateescape`, UTF-8B).
    SurrogateEscape,
    /// U+0080..U+00FF, one for each byte (Latin-1).
    Latin1,
    /// The character of each byte in the index windows-1252 of the WHATWG Encoding Standard.
    Windows1252,
    /// The character of each byte in the vendor's table of Windows-1252; U+FFFD for its five undefined bytes (Java,
    /// Perl), which [`decode`](crate::spec::decode) rejects.
    Windows1252Strict,
}

/// How `EF BB BF` at the start of the input is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bom {
    /// It is kept as U+FEFF.
    Keep,
    /// The first one is stripped from the output (WHATWG "UTF-8 decode"). Offsets of errors still include its bytes.
    Strip,
}

/// How a sequence truncated by the end of the input is reported. What is written for it does not depend on this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All of it as one error, [`ErrorLen::Incomplete`](crate::utf8::ErrorLen::Incomplete), since more bytes could
    /// complete it. Decoders that replace each byte report it so too: glibc's `mbrtowc`, Go's `FullRune`, CPython's
    /// incremental decoders, Perl's `STOP_AT_PARTIAL`.
    Incomplete,
    /// As errors with a length in bytes, one for each segment.
    Error,
}

/// When a stream writes the text and replacements for the chunks it has received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detection {
    /// At any time up to its end.
    Late,
    /// Immediately: only a sequence that more bytes could complete is held back.
    Earliest,
}

impl Contract {
    /// RFC 3629, maximal subparts, U+FFFD, byte order mark kept, incomplete sequences reported as such: `core::str`,
    /// WHATWG.
    pub const STANDARD: Self = Self {
        grammar: &RFC3629,
        segmentation: Segmentation::MaximalSubpart,
        replacement: Some(Replacement::ReplacementCharacter),
        bom: Bom::Keep,
        end: End::Incomplete,
        detection: Detection::Late,
    };

    /// [`Contract::STANDARD`] for a decoder without output.
    pub const VALIDATOR: Self = Self { replacement: None, ..Self::STANDARD };

    /// Checks that the parts of the contract do not contradict each other.
    ///
    /// ```
    /// # use utfuzz_core as utfuzz;
    /// use utfuzz::spec::{Contract, Grammar, Replacement};
    ///
    /// let grammar = Grammar::named("wtf-8").unwrap();
    /// let ambiguous = Contract { grammar, replacement: Some(Replacement::SurrogateEscape), ..Contract::STANDARD };
    /// assert!(ambiguous.check().unwrap_err().contains("U+DC80"));
    /// ```
    ///
    /// # Errors
    /// Which parts contradict each other, why, and what to declare instead.
    pub fn check(&self) -> Result<(), String> {
        let grammar = self.grammar;
        let accepts_surrogates = grammar.rows.iter().any(|row| row.form == Form::TrailSurrogate);
        let escapes = self.replacement == Some(Replacement::SurrogateEscape);
        let contradicts = |part: &str, why: &str, instead: &str| {
            Err(format!("{part} contradicts the grammar {}: {why}; {instead}", grammar.name))
        };
        if escapes && accepts_surrogates {
            let why = "U+DC80 would be a character of the text and an escaped byte 80";
            return contradicts("surrogateescape", why, "declare a grammar without surrogates, or another replacement");
        }
        if escapes && (0..0x80).any(|byte| !grammar.has_lead(byte)) {
            let why = "it has bytes below 80 that are ill-formed, and only those from 80 up can be escaped";
            return contradicts("surrogateescape", why, "declare another replacement");
        }
        // In WTF-8 a trailing surrogate after a leading one is ill-formed.
        let never_ill_formed = accepts_surrogates && !grammar.pairs_join;
        if self.segmentation == Segmentation::MaximalSubpartSurrogate && never_ill_formed {
            let why = "all surrogates are well-formed, so that none is an error of three bytes";
            return contradicts(self.segmentation.name(), why, "declare maximal-subpart");
        }
        Ok(())
    }
}

impl Replacement {
    /// Appends what is written for an ill-formed segment, in extended (RFC 2279) UTF-8.
    pub fn push(self, segment: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::ReplacementCharacter => out.extend_from_slice(REPLACEMENT),
            _ => self.code_points(segment).for_each(|code_point| push_extended(code_point, out)),
        }
    }

    /// The code points written for an ill-formed segment.
    pub fn code_points(self, segment: &[u8]) -> impl Iterator<Item = u32> + '_ {
        let (whole, each) = match self {
            Self::ReplacementCharacter => (Some(0xFFFD), &[][..]),
            Self::Drop => (None, &[][..]),
            _ => (None, segment),
        };
        whole.into_iter().chain(each.iter().map(move |&byte| self.escape(byte)))
    }

    /// The charset by which ill-formed bytes are decoded.
    pub fn charset(self) -> Option<Charset> {
        match self {
            Self::ReplacementCharacter | Self::Drop | Self::SurrogateEscape => None,
            Self::Latin1 => Some(Charset::Latin1),
            Self::Windows1252 => Some(Charset::Windows1252),
            Self::Windows1252Strict => Some(Charset::Windows1252Strict),
        }
    }

    /// The index of the first byte of an ill-formed segment that is undefined in the charset.
    pub fn hole(self, segment: &[u8]) -> Option<usize> {
        let charset = self.charset()?;
        segment.iter().position(|&byte| charset.decode(byte).is_none())
    }

    fn escape(self, byte: u8) -> u32 {
        match self.charset() {
            Some(charset) => charset.decode(byte).unwrap_or(0xFFFD),
            None => 0xDC00 + u32::from(byte),
        }
    }
}

impl Replacement {
    /// Every replacement.
    pub const ALL: [Self; 6] = [
        Self::ReplacementCharacter,
        Self::Drop,
        Self::SurrogateEscape,
        Self::Latin1,
        Self::Windows1252,
        Self::Windows1252Strict,
    ];

    /// The name in contracts.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReplacementCharacter => "U+FFFD",
            Self::Drop => "drop",
            Self::SurrogateEscape => "surrogateescape",
            Self::Latin1 => Charset::Latin1.name(),
            Self::Windows1252 => Charset::Windows1252.name(),
            Self::Windows1252Strict => Charset::Windows1252Strict.name(),
        }
    }
}

/// The word for a contract without a replacement.
const NO_OUTPUT: &str = "no-output";

impl Bom {
    fn name(self) -> &'static str {
        match self {
            Self::Keep => "bom-kept",
            Self::Strip => "bom-stripped",
        }
    }
}

impl End {
    fn name(self) -> &'static str {
        match self {
            Self::Incomplete => "incomplete-reported",
            Self::Error => "incomplete-is-error",
        }
    }
}

/// The word for [`Detection::Earliest`].
const AT_ONCE: &str = "detected-at-once";

/// The grammar, then the other words.
impl fmt::Display for Contract {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let replacement = self.replacement.map_or(NO_OUTPUT, Replacement::name);
        let (segmentation, bom, end) = (self.segmentation.name(), self.bom.name(), self.end.name());
        write!(f, "{} {segmentation} {replacement} {bom} {end}", self.grammar.name)?;
        match self.detection {
            Detection::Late => Ok(()),
            Detection::Earliest => write!(f, " {AT_ONCE}"),
        }
    }
}

/// The grammar, then the other words in any order. What is not stated is as in [`Contract::STANDARD`]. Contradictory words
/// are refused; see [`Contract::check`].
impl FromStr for Contract {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or_default();
        let grammar = Grammar::named(name).ok_or_else(|| {
            format!("no grammar is named {name:?}; known: {}", grammar::ALL.map(|known| known.name).join(", "))
        })?;
        let mut contract = Self { grammar, ..Self::STANDARD };
        for word in words {
            if let Some(segmentation) = Segmentation::ALL.into_iter().find(|of| of.name() == word) {
                contract.segmentation = segmentation;
            } else if let Some(replacement) = Replacement::ALL.into_iter().find(|of| of.name() == word) {
                contract.replacement = Some(replacement);
            } else if let Some(bom) = [Bom::Keep, Bom::Strip].into_iter().find(|of| of.name() == word) {
                contract.bom = bom;
            } else if let Some(end) = [End::Incomplete, End::Error].into_iter().find(|of| of.name() == word) {
                contract.end = end;
            } else if word == NO_OUTPUT {
                contract.replacement = None;
            } else if word == AT_ONCE {
                contract.detection = Detection::Earliest;
            } else {
                return Err(format!("{word:?} is not a word of a contract"));
            }
        }
        contract.check().map(|()| contract)
    }
}

/// A single-byte character set, to which decoders fall back and which conversions read and write.
///
/// Windows-1252 occurs twice: the index of the WHATWG Encoding Standard maps five bytes to the C1 controls of the same
/// number, and the vendor's own table (Unicode MAPPINGS/VENDORS/MICSFT/WINDOWS/CP1252.TXT) leaves them undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Charset {
    /// ISO/IEC 646, the U.S. version: 00..7F.
    Ascii,
    /// ISO/IEC 8859-1 with both sets of control characters: the code point is the value of the byte.
    Latin1,
    /// WHATWG Encoding Standard, index windows-1252: every byte is a character.
    Windows1252,
    /// Windows-1252 by the vendor's table: 81, 8D, 8F, 90 and 9D are undefined.
    Windows1252Strict,
}

impl Charset {
    /// Every charset.
    pub const ALL: [Self; 4] = [Self::Ascii, Self::Latin1, Self::Windows1252, Self::Windows1252Strict];

    /// The name in contracts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ascii => "us-ascii",
            Self::Latin1 => "latin-1",
            Self::Windows1252 => "windows-1252",
            Self::Windows1252Strict => "windows-1252-strict",
        }
    }

    /// The code point of a byte; `None` for an undefined byte.
    pub fn decode(self, byte: u8) -> Option<u32> {
        let from_80 = usize::from(byte).checked_sub(0x80).and_then(|index| WINDOWS_1252_FROM_80.get(index));
        match (self, from_80) {
            (Self::Ascii, _) => byte.is_ascii().then_some(byte.into()),
            (Self::Latin1, _) | (_, None) => Some(byte.into()),
            (Self::Windows1252, Some(0)) => Some(byte.into()),
            (Self::Windows1252Strict, Some(0)) => None,
            (Self::Windows1252 | Self::Windows1252Strict, Some(&code_point)) => Some(code_point.into()),
        }
    }

    /// The byte of a code point; `None` for a code point the charset lacks.
    pub fn encode(self, code_point: u32) -> Option<u8> {
        (0..=u8::MAX).find(|&byte| self.decode(byte) == Some(code_point))
    }
}

/// The code points of 80..9F in windows-1252; 0 for an undefined byte.
const WINDOWS_1252_FROM_80: [u16; 32] = [
    0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0, 0,
    0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E, 0x0178,
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "takes Miri too long")]
    fn a_charset_is_one_to_one() {
        for charset in Charset::ALL {
            let characters = (0..=255).filter_map(|byte| charset.decode(byte).map(|code_point| (byte, code_point)));
            let characters: Vec<(u8, u32)> = characters.collect();
            assert!(characters.iter().all(|&(byte, code_point)| charset.encode(code_point) == Some(byte)));
            let code_points = (0..=0xFFFF).filter(|&code_point| charset.encode(code_point).is_some()).count();
            assert_eq!(code_points, characters.len(), "{}", charset.name());
        }
    }

    #[test]
    fn five_bytes_are_undefined() {
        let holes: Vec<u8> = (0..=255).filter(|&byte| Charset::Windows1252Strict.decode(byte).is_none()).collect();
        assert_eq!(holes, [0x81, 0x8D, 0x8F, 0x90, 0x9D]);
        for byte in 0..=255 {
            let (lax, strict) = (Charset::Windows1252.decode(byte), Charset::Windows1252Strict.decode(byte));
            assert_eq!(lax, strict.or(Some(byte.into())));
            assert_eq!(Charset::Latin1.decode(byte), Some(byte.into()));
        }
    }
}
