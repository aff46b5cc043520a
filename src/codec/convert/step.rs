//! One step of a reader.

use crate::utf8::Kind;

/// What is at the start of some bytes, in any encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Whole {
        len: usize,
        code_point: u32,
    },
    /// No code point (an escape sequence), or two.
    #[cfg_attr(not(feature = "charsets"), expect(dead_code))]
    Other {
        len: usize,
        code_points: [Option<u32>; 2],
    },
    IllFormed(IllFormed),
    /// The bytes to come decide.
    Wait,
}

/// An ill-formed segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct IllFormed {
    pub(super) len: usize,
    /// The rule, or `None` if the byte is not assigned.
    pub(super) kind: Option<Kind>,
    pub(super) incomplete: bool,
}
