//! What a decoder gets wrong.

use crate::decoder::Ending;
use crate::spec::{Contract, Reading, segments};
use crate::utf8::Kind;
use core::fmt;

/// What is at the offset where the observed answer differs from the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Subject {
    /// An ill-formed segment of this kind.
    Fault(Kind),
    /// A well-formed sequence of this many bytes.
    WellFormed(usize),
    /// The end of the input.
    End,
    /// The decoder states no offset.
    Unplaced,
    /// The whole process: the decoder ended it.
    Process(Ending),
}

impl Subject {
    /// What `spec` reads at this offset.
    pub(crate) fn at(contract: &Contract, bytes: &[u8], offset: Option<usize>) -> Self {
        let Some(offset) = offset else { return Self::Unplaced };
        let segment = segments(contract, bytes).find(|segment| segment.range().contains(&offset));
        segment.map_or(Self::End, |segment| match segment.reading {
            Reading::WellFormed(_) => Self::WellFormed(segment.len),
            Reading::IllFormed { kind, .. } => Self::Fault(kind),
        })
    }

    /// Every subject.
    pub fn all() -> impl Iterator<Item = Self> {
        let kinds = Kind::ALL.into_iter().map(Self::Fault);
        let widths = (1..=6).map(Self::WellFormed);
        let endings = Ending::ALL.into_iter().map(Self::Process);
        kinds.chain(widths).chain([Self::End, Self::Unplaced]).chain(endings)
    }

    /// The name used in signatures and the ledger: a kind, `valid-1` to `valid-6`, `end`, `unplaced`, or the name of
    /// an [`Ending`].
    pub fn name(self) -> &'static str {
        match self {
            Self::Fault(kind) => kind.name(),
            Self::WellFormed(1) => "valid-1",
            Self::WellFormed(2) => "valid-2",
            Self::WellFormed(3) => "valid-3",
            Self::WellFormed(4) => "valid-4",
            Self::WellFormed(5) => "valid-5",
            Self::WellFormed(_) => "valid-6",
            Self::End => "end",
            Self::Unplaced => "unplaced",
            Self::Process(ending) => ending.name(),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
