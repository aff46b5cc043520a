//! The clause that each kind of error violates, for readers of reports: what is wrong, and the source.

use crate::spec::grammar::{Form, Grammar, RFC3629};
use crate::utf8::Kind;
use crate::utf8::announced_len;

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
