//! What may be wrong in what is converted.

use crate::codec::convert::encoding::Encoding;
use crate::spec::Rule;
use crate::utf8::Kind;
use core::fmt;

/// A place where the input is ill-formed, or cannot be said in the other encoding.
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
pub enum Reason {
    /// The bytes are ill-formed in the encoding they are read in.
    IllFormed(Kind),
    /// The byte is not assigned in the encoding it is read in.
    Unassigned,
    /// The code point has no place in the encoding that is written.
    Unencodable(u32),
}

impl Fault {
    /// As many bytes as are kept.
    pub(super) const SHOWN: usize = 8;

    /// Offset in bytes of the first byte, from the start of the input.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// The line it is in, counted from 1 by U+000A.
    pub fn line(&self) -> u64 {
        self.line
    }

    /// How many bytes it spans.
    pub fn byte_len(&self) -> u64 {
        self.len
    }

    /// The bytes, or the first eight of them.
    pub fn bytes(&self) -> &[u8] {
        &self.shown[..Self::SHOWN.min(self.len as usize)]
    }

    /// True where the input ends here in what more bytes could complete.
    pub fn is_incomplete(&self) -> bool {
        self.incomplete
    }

    /// What is wrong.
    pub fn reason(&self) -> Reason {
        self.reason
    }

    /// The rule the bytes break, where they are ill-formed.
    pub fn kind(&self) -> Option<Kind> {
        match self.reason {
            Reason::IllFormed(kind) => Some(kind),
            Reason::Unassigned | Reason::Unencodable(_) => None,
        }
    }

    /// The encoding whose rule is broken: that which is read, or that which is written.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The rule and where it stands.
    fn rule(&self) -> String {
        let bytes = self.bytes();
        match (self.reason, self.encoding.grammar()) {
            (Reason::Unencodable(code_point), _) => {
                format!("unencodable: U+{code_point:04X} has no place in {}", self.encoding)
            }
            (Reason::Unassigned, _) => format!("unassigned: {:02X} is no character of {}", bytes[0], self.encoding),
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
        let bytes: Vec<String> = self.bytes().iter().map(|byte| format!("{byte:02X}")).collect();
        let more = if self.len > Self::SHOWN as u64 { " …" } else { "" };
        write!(f, "byte {}, line {}: {}{more}: {}", self.offset, self.line, bytes.join(" "), self.rule())
    }
}

impl core::error::Error for Fault {}
