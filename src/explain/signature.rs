//! The signature: what a divergence is, the same on every machine and run.

use crate::judge::{Law, Subject};
use core::fmt;
use std::borrow::Cow;

/// Whether a divergence depends on where its subject is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Shape {
    /// At every offset, with text after it.
    Anywhere,
    /// Only at certain offsets, which repeat every 16, 32, 64, 128 or 256 bytes.
    Edge(u16),
    /// Only at certain addresses, which repeat every 16, 32 or 64 bytes.
    Aligned(u16),
    /// Only in an input of a certain size, or with a certain number of errors.
    Size,
    /// Only at certain offsets, which do not repeat with such a period.
    Offset,
    /// Only at the end of the input.
    Tail,
    /// Only where chunks are cut.
    Cut,
    /// Only together with more of the surrounding bytes.
    Context,
}

impl Shape {
    /// Every shape.
    pub const ALL: [Self; 14] = [
        Self::Anywhere,
        Self::Edge(16),
        Self::Edge(32),
        Self::Edge(64),
        Self::Edge(128),
        Self::Edge(256),
        Self::Aligned(16),
        Self::Aligned(32),
        Self::Aligned(64),
        Self::Size,
        Self::Offset,
        Self::Tail,
        Self::Cut,
        Self::Context,
    ];

    /// Whether the location is the cause, regardless of the bytes there.
    pub fn is_location(self) -> bool {
        match self {
            Self::Anywhere | Self::Tail => false,
            Self::Edge(_) | Self::Aligned(_) | Self::Size | Self::Offset | Self::Cut | Self::Context => true,
        }
    }

    /// The shape with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|shape| shape.to_string() == name)
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anywhere => f.write_str("anywhere"),
            Self::Edge(period) => write!(f, "edge{period}"),
            Self::Aligned(period) => write!(f, "aligned{period}"),
            Self::Size => f.write_str("size"),
            Self::Offset => f.write_str("offset"),
            Self::Tail => f.write_str("tail"),
            Self::Cut => f.write_str("cut"),
            Self::Context => f.write_str("context"),
        }
    }
}

/// What a divergence is, the same on every machine and run: `law/decoder/subject/shape`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signature {
    /// The strongest law that shows it.
    pub law: Law,
    /// The decoder's name.
    pub decoder: Cow<'static, str>,
    /// What the decoder gets wrong.
    pub subject: Subject,
    /// Whether that depends on the position.
    pub shape: Shape,
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.law, self.decoder, self.subject, self.shape)
    }
}

impl Signature {
    /// The signature with its digits spelled out, for crash states in which digits are normalised.
    pub fn spelled(&self) -> String {
        const DIGITS: [&str; 10] = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
        let spell = |c: char| match c.to_digit(10) {
            Some(digit) => DIGITS[digit as usize].to_owned(),
            None => c.to_string(),
        };
        self.to_string().chars().map(spell).collect()
    }
}
