//! How to convert, and what can be wrong with the input.

use crate::codec::convert::encoding::Encoding;
use crate::error::Error;
use crate::spec::{Replacement, Rule, Segmentation};
use crate::text::hex_separated;
use crate::utf8::Kind;
use core::fmt;

/// Error, byte order mark and surrogate handling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What is written for an ill-formed segment; `None` if the first error ends the conversion.
    ///
    /// U+FFFD, or `?` if the output encoding lacks it, also replaces code points that the output encoding lacks; `Drop` omits
    /// them. The others say how ill-formed bytes are read, and a code point that the output encoding lacks still ends the
    /// conversion.
    pub on_error: Option<Replacement>,
    /// How ill-formed bytes of UTF-8 and its relatives are cut into segments: each is replaced, or the first ends the
    /// conversion.
    pub segmentation: Segmentation,
    /// How a byte order mark is treated.
    pub mark: Mark,
    /// How unpaired surrogates are treated.
    pub surrogates: UnpairedSurrogates,
}

/// How a byte order mark, U+FEFF at the start, is treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// As the encodings define it: UTF-16 and UTF-32 without a byte order in their name start with one, which is not part of
    /// the text; in any other encoding it is kept.
    AsEncoded,
    /// It is part of the text.
    Keep,
    /// It is not copied to the output.
    Strip,
    /// The output starts with one, whether the input does or not.
    Add,
    /// It decides what the input is read as, whatever was named, and is not copied.
    Detect,
}

/// How unpaired surrogates are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnpairedSurrogates {
    /// They are ill-formed, except in encodings that have them: RFC 2279, WTF-8, UTF-8B (some).
    Refuse,
    /// They are code points like any others, to be read and written.
    Pass,
}

impl Options {
    /// The first error ends the conversion.
    pub const STRICT: Self = Self {
        on_error: None,
        segmentation: Segmentation::MaximalSubpart,
        mark: Mark::AsEncoded,
        surrogates: UnpairedSurrogates::Refuse,
    };

    /// Whether these options make sense for a conversion from one encoding to the other.
    ///
    /// # Errors
    /// What makes no sense.
    pub(super) fn check(&self, from: Encoding, to: Encoding) -> Result<(), Error> {
        let by_bytes = !matches!(self.on_error, None | Some(Replacement::ReplacementCharacter | Replacement::Drop));
        let wrong = if by_bytes && from.form().unit_len() > 1 {
            format!("ill-formed {from} does not consist of single bytes to replace; use --on-error replace or skip")
        } else if self.segmentation != Segmentation::MaximalSubpart && !from.is_utf8_like() {
            format!("{from} is not a relative of UTF-8, so no policy cuts it; leave the policy out")
        } else if self.segmentation == Segmentation::Run && self.on_error.is_none() {
            "the policy run joins errors, and the first error ends the conversion; leave the policy out".into()
        } else if self.mark == Mark::Add && !to.has_byte_order_mark() {
            format!("{to} has no byte order mark to add; leave the option out")
        } else if self.mark == Mark::Strip && to.is_marked() {
            format!("{to} begins with a byte order mark; name {to}LE or {to}BE to have none")
        } else {
            return Ok(());
        };
        Err(Error::usage(wrong))
    }
}

/// A place where the input is ill-formed, or cannot be encoded in the output encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    pub(super) offset: u64,
    pub(super) line: u64,
    pub(super) len: u64,
    pub(super) shown: [u8; Self::SHOWN],
    pub(super) incomplete: bool,
    pub(super) reason: Reason,
    pub(super) encoding: Encoding,
}

/// What is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// The bytes are ill-formed in the input encoding.
    IllFormed(Kind),
    /// The bytes are not assigned in the input encoding.
    Unassigned,
    /// The output encoding lacks the code point.
    Unencodable(u32),
}

impl Fault {
    /// How many bytes are kept.
    pub(super) const SHOWN: usize = 8;

    /// Offset in bytes of the first byte, from the start of the input.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The line, from 1; lines end with U+000A.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// The length in bytes.
    pub fn byte_len(&self) -> u64 {
        self.len
    }

    /// The bytes, or the first eight of them.
    pub fn bytes(&self) -> &[u8] {
        &self.shown[..Self::SHOWN.min(self.len as usize)]
    }

    /// True if the input ends here in a sequence that more bytes could complete.
    pub fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// What is wrong.
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// The rule the bytes break, if they are ill-formed.
    pub fn kind(&self) -> Option<Kind> {
        match self.reason {
            Reason::IllFormed(kind) => Some(kind),
            Reason::Unassigned | Reason::Unencodable(_) => None,
        }
    }

    /// The encoding whose rule is broken: that of the input or of the output.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The rule and its source.
    fn rule(&self) -> String {
        let bytes = self.bytes();
        match (self.reason, self.encoding.grammar()) {
            (Reason::Unencodable(code_point), _) => {
                format!("unencodable: U+{code_point:04X} is not in {}", self.encoding)
            }
            (Reason::Unassigned, _) => {
                format!("unassigned: {} is not a character of {}", hex_separated(bytes, " "), self.encoding)
            }
            (Reason::IllFormed(kind), Some(grammar)) => {
                let Rule { says, source } = Rule::broken(grammar, kind, bytes);
                format!("{kind}: {says} [{source}]")
            }
            (Reason::IllFormed(kind), None) => {
                let says = match kind {
                    Kind::Surrogate => "a surrogate without its other half [Unicode D91; RFC 2781 §2.2]",
                    Kind::TooLarge => "beyond the last code point [Unicode D90]",
                    _ => "the input ends before the code point does",
                };
                format!("{kind} in {}: {says}", self.encoding)
            }
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = hex_separated(self.bytes(), " ");
        let more = if self.len > Self::SHOWN as u64 { " …" } else { "" };
        write!(f, "byte {}, line {}: {}{more}: {}", self.offset, self.line, bytes, self.rule())
    }
}

impl core::error::Error for Fault {}
