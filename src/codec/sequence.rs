//! One sequence at a time: the scalar step every operation is built from.

use crate::utf8::{Kind, is_continuation};

/// What stands at the start of a non-empty byte string.
#[derive(Clone, Copy)]
pub(super) enum Sequence {
    /// A well-formed sequence of `len` bytes.
    WellFormed { len: usize, scalar: char },
    /// A maximal subpart of `len` bytes. `Kind::Incomplete` where more bytes could complete it.
    IllFormed { len: usize, kind: Kind },
}

impl Sequence {
    /// Reads the start of `rest`; `None` where it is empty.
    #[inline]
    pub(super) fn read(rest: &[u8]) -> Option<Self> {
        let tail = |byte: u8| u32::from(byte & 0x3F);
        let (len, bits) = match *rest {
            [] => return None,
            [one @ ..0x80, ..] => (1, u32::from(one)),
            [one @ 0xC2..=0xDF, two, ..] if is_continuation(two) => (2, u32::from(one & 0x1F) << 6 | tail(two)),
            [one @ 0xE0..=0xEF, two, three, ..] if is_second(one, two) && is_continuation(three) => {
                (3, u32::from(one & 0xF) << 12 | tail(two) << 6 | tail(three))
            }
            [one @ 0xF0..=0xF4, two, three, four, ..]
                if is_second(one, two) && is_continuation(three) && is_continuation(four) =>
            {
                (4, u32::from(one & 7) << 18 | tail(two) << 12 | tail(three) << 6 | tail(four))
            }
            _ => return Some(Self::ill_formed(rest)),
        };
        // What `is_second` refuses leaves no surrogate and nothing beyond U+10FFFF, so this is always `Some`.
        char::from_u32(bits).map(|scalar| Self::WellFormed { len, scalar })
    }

    /// The maximal subpart where no well-formed sequence stands.
    fn ill_formed(rest: &[u8]) -> Self {
        let (len, kind) = match *rest {
            [lead, ..] if !matches!(lead, 0xC2..=0xF4) => (1, never_leads(lead)),
            [_] => (1, Kind::Incomplete),
            [lead, second, ..] if !is_second(lead, second) => (1, refused_second(lead, second)),
            [_, _] => (2, Kind::Incomplete),
            [0xF0..=0xF4, _, third] if is_continuation(third) => (3, Kind::Incomplete),
            [0xF0..=0xF4, _, third, ..] if is_continuation(third) => (3, Kind::TooShort),
            _ => (2, Kind::TooShort),
        };
        Self::IllFormed { len, kind }
    }
}

/// Whether `second` may follow `lead`, which is none but C2 to F4 (RFC 3629 §4).
#[inline]
fn is_second(lead: u8, second: u8) -> bool {
    match lead {
        0xE0 => matches!(second, 0xA0..=0xBF),
        0xED => matches!(second, 0x80..=0x9F),
        0xF0 => matches!(second, 0x90..=0xBF),
        0xF4 => matches!(second, 0x80..=0x8F),
        _ => is_continuation(second),
    }
}

fn never_leads(byte: u8) -> Kind {
    match byte {
        0x80..=0xBF => Kind::Continuation,
        0xC0 | 0xC1 => Kind::Overlong(2),
        0xF5..=0xF7 => Kind::TooLarge,
        _ => Kind::InvalidByte,
    }
}

fn refused_second(lead: u8, second: u8) -> Kind {
    match lead {
        _ if !is_continuation(second) => Kind::TooShort,
        0xE0 => Kind::Overlong(3),
        0xED => Kind::Surrogate,
        0xF0 => Kind::Overlong(4),
        _ => Kind::TooLarge,
    }
}
