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
        let &lead = rest.first()?;
        if lead.is_ascii() {
            return Some(Self::WellFormed { len: 1, scalar: char::from(lead) });
        }
        // Announced length, and the range the second byte must be in (RFC 3629 §4).
        let (len, lowest, highest) = match lead {
            0xC2..=0xDF => (2, 0x80, 0xBF),
            0xE0 => (3, 0xA0, 0xBF),
            0xED => (3, 0x80, 0x9F),
            0xE1..=0xEF => (3, 0x80, 0xBF),
            0xF0 => (4, 0x90, 0xBF),
            0xF1..=0xF3 => (4, 0x80, 0xBF),
            0xF4 => (4, 0x80, 0x8F),
            _ => return Some(Self::IllFormed { len: 1, kind: never_leads(lead) }),
        };
        let Some(&second) = rest.get(1) else { return Some(Self::IllFormed { len: 1, kind: Kind::Incomplete }) };
        if second < lowest || second > highest {
            return Some(Self::IllFormed { len: 1, kind: refused_second(lead, second) });
        }
        let mut bits = (u32::from(lead) & (0x7F >> len)) << 6 | u32::from(second & 0x3F);
        for at in 2..len {
            match rest.get(at) {
                None => return Some(Self::IllFormed { len: at, kind: Kind::Incomplete }),
                Some(&byte) if is_continuation(byte) => bits = bits << 6 | u32::from(byte & 0x3F),
                Some(_) => return Some(Self::IllFormed { len: at, kind: Kind::TooShort }),
            }
        }
        // The ranges above leave no surrogate and nothing beyond U+10FFFF, so this is always `Some`.
        char::from_u32(bits).map(|scalar| Self::WellFormed { len, scalar })
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
