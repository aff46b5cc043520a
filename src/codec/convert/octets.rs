//! UTF-8 and its relatives, read one sequence at a time.
//!
//! Written without `spec`, which judges it. What is well-formed in RFC 3629, and that is nearly all, goes through
//! `decode` by whole runs; here is what is left.

use crate::codec;
use crate::codec::convert::encoding::{Octets, Surrogate};
use crate::codec::convert::read::Step;
use crate::spec::UnitRule;
use crate::utf8::{Kind, is_continuation};

/// What the bytes at the start begin.
enum Found {
    Whole {
        len: usize,
        code_point: u32,
    },
    /// So many bytes begin a sequence, and it does not go on.
    Broken {
        matched: usize,
        kind: Kind,
    },
    /// A leading surrogate whole in itself, unless the bytes to come make it a pair.
    Perhaps {
        code_point: u32,
    },
}

impl Octets {
    /// Reads the start of `rest`, which is not empty. `behind_lead`: a leading surrogate stands before it.
    #[inline]
    pub(super) fn step(self, rule: UnitRule, rest: &[u8], last: bool, behind_lead: bool) -> Step {
        let (matched, kind) = match self.find(rest, behind_lead) {
            Found::Whole { len, code_point } => return Step::Whole { len, code_point },
            Found::Perhaps { code_point } if last => return Step::Whole { len: 3, code_point },
            Found::Perhaps { .. } => return Step::Wait,
            Found::Broken { matched, kind } => (matched, kind),
        };
        /// As many bytes as any rule looks at.
        const FARTHEST: usize = 6;
        let looks_ahead = !matches!(rule, UnitRule::MaximalSubpart | UnitRule::Byte | UnitRule::Run);
        if !last && (kind == Kind::Incomplete || looks_ahead && rest.len() < FARTHEST) {
            return Step::Wait;
        }
        let len = unit_len(rule, rest, matched);
        Step::Broken { len, kind, incomplete: kind == Kind::Incomplete && len == rest.len() }
    }

    #[inline]
    fn find(self, rest: &[u8], behind_lead: bool) -> Found {
        let lead = rest[0];
        if lead < 0x80 {
            return match lead {
                0 if self.null_as_two => Found::Broken { matched: 0, kind: Kind::Null },
                _ => Found::Whole { len: 1, code_point: lead.into() },
            };
        }
        let Some((len, lowest, highest)) = self.announced(lead, behind_lead) else {
            return Found::Broken { matched: 0, kind: self.never_leads(lead) };
        };
        let mut bits = u32::from(lead & (0x7F >> len));
        for at in 1..len {
            let Some(&byte) = rest.get(at) else { return Found::Broken { matched: at, kind: Kind::Incomplete } };
            if !is_continuation(byte) {
                return Found::Broken { matched: at, kind: Kind::TooShort };
            }
            if at == 1 && !(lowest..=highest).contains(&byte) {
                return Found::Broken { matched: 1, kind: self.refused_second(lead) };
            }
            bits = bits << 6 | u32::from(byte & 0x3F);
        }
        match (self.surrogates, bits) {
            (Surrogate::Paired | Surrogate::PairedOrAlone, 0xD800..=0xDBFF) => self.pair(bits, &rest[3..]),
            _ => Found::Whole { len, code_point: bits },
        }
    }

    /// How long a sequence with this lead byte is, and the range its second byte must be in.
    #[inline]
    fn announced(self, lead: u8, behind_lead: bool) -> Option<(usize, u8, u8)> {
        Some(match lead {
            0xC2..=0xDF => (2, 0x80, 0xBF),
            0xE0 => (3, 0xA0, 0xBF),
            0xED => match self.surrogates {
                Surrogate::Refused => (3, 0x80, 0x9F),
                Surrogate::Paired => (3, 0x80, 0xAF),
                Surrogate::Apart if behind_lead => (3, 0x80, 0xAF),
                _ => (3, 0x80, 0xBF),
            },
            0xE1..=0xEF => (3, 0x80, 0xBF),
            0xF0 if self.longest >= 4 => (4, 0x90, 0xBF),
            0xF1..=0xF3 if self.longest >= 4 => (4, 0x80, 0xBF),
            0xF4 if self.longest == 4 => (4, 0x80, 0x8F),
            0xF4..=0xF7 if self.longest == 6 => (4, 0x80, 0xBF),
            0xF8 if self.longest == 6 => (5, 0x88, 0xBF),
            0xF9..=0xFB if self.longest == 6 => (5, 0x80, 0xBF),
            0xFC if self.longest == 6 => (6, 0x84, 0xBF),
            0xFD if self.longest == 6 => (6, 0x80, 0xBF),
            0xC0 if self.null_as_two => (2, 0x80, 0x80),
            _ => return None,
        })
    }

    fn never_leads(self, lead: u8) -> Kind {
        match lead {
            0x80..=0xBF => Kind::Continuation,
            0xC0 | 0xC1 => Kind::Overlong(2),
            0xF0..=0xF4 => Kind::FourByte,
            0xF5..=0xF7 => Kind::TooLarge,
            _ => Kind::InvalidByte,
        }
    }

    fn refused_second(self, lead: u8) -> Kind {
        match lead {
            0xC0 => Kind::Overlong(2),
            0xE0 => Kind::Overlong(3),
            0xED if self.surrogates == Surrogate::Apart => Kind::SurrogatePair,
            0xED => Kind::Surrogate,
            0xF0 => Kind::Overlong(4),
            0xF8 => Kind::Overlong(5),
            0xFC => Kind::Overlong(6),
            _ => Kind::TooLarge,
        }
    }

    /// A leading surrogate of three bytes and what is behind it.
    fn pair(self, lead: u32, behind: &[u8]) -> Found {
        let begins: [core::ops::RangeInclusive<u8>; 3] = [0xED..=0xED, 0xB0..=0xBF, 0x80..=0xBF];
        let matched = behind.iter().zip(&begins).take_while(|(byte, range)| range.contains(*byte)).count();
        let alone = self.surrogates == Surrogate::PairedOrAlone;
        match behind.get(matched) {
            _ if matched == 3 => {
                let trail = u32::from(behind[1] & 0x0F) << 6 | u32::from(behind[2] & 0x3F);
                Found::Whole { len: 6, code_point: 0x1_0000 + ((lead - 0xD800) << 10) + trail }
            }
            None if alone => Found::Perhaps { code_point: lead },
            Some(_) if alone => Found::Whole { len: 3, code_point: lead },
            None => Found::Broken { matched: 3 + matched, kind: Kind::Incomplete },
            Some(&byte) if matched > 0 && !is_continuation(byte) => {
                Found::Broken { matched: 3 + matched, kind: Kind::TooShort }
            }
            Some(_) => Found::Broken { matched: 3 + matched, kind: Kind::Surrogate },
        }
    }

    /// How many bytes at the start are well-formed in RFC 3629 and mean the same here.
    pub(super) fn common_prefix(self, bytes: &[u8]) -> usize {
        let common = match (self.longest, self.null_as_two) {
            (3, false) => first_of(bytes, |byte| byte >= 0xF0),
            (3, true) => first_of(bytes, |byte| byte >= 0xF0 || byte == 0),
            _ => bytes.len(),
        };
        codec::validate(&bytes[..common]).map_or_else(|error| error.valid_up_to(), |()| common)
    }
}

/// Where the first such unit is, or the end.
pub(super) fn first_of<U: Copy>(units: &[U], is: impl Fn(U) -> bool) -> usize {
    const BLOCK: usize = 64;
    let blocks = units.as_chunks::<BLOCK>().0;
    let clean = blocks.iter().take_while(|block| !block.iter().fold(false, |any, &unit| any | is(unit))).count();
    let start = clean * BLOCK;
    start + units[start..].iter().take_while(|&&unit| !is(unit)).count()
}

/// Length of the ill-formed unit at the start of `rest`, of which `matched` bytes begin a sequence.
fn unit_len(rule: UnitRule, rest: &[u8], matched: usize) -> usize {
    let follow = |most: usize, allowed: fn(u8) -> bool| {
        1 + rest[1..].iter().take(most).take_while(|&&byte| allowed(byte)).count()
    };
    let behind_lead = match rest[0] {
        0xC0..=0xDF => 1,
        0xE0..=0xEF => 2,
        0xF0..=0xF7 => 3,
        0xF8..=0xFB => 4,
        0xFC | 0xFD => 5,
        _ => 0,
    };
    match (rule, rest[0]) {
        // A run is put together of its bytes by whoever writes.
        (UnitRule::Byte | UnitRule::Run, _) => 1,
        (UnitRule::LeadAnnounced, _) => follow(behind_lead, is_continuation),
        (UnitRule::SwallowNonLead, 0xC2..=0xF4) => follow(behind_lead, |byte| matches!(byte, 0x80..=0xC1 | 0xF5..)),
        (UnitRule::SwallowNonLead, _) => 1,
        (UnitRule::MaximalSubpartSurrogate, 0xED) if matches!(rest.get(1), Some(0xA0..=0xBF)) => {
            follow(2, is_continuation)
        }
        _ => matched.max(1),
    }
}
