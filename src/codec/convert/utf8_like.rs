//! UTF-8 and its relatives, one sequence at a time.
//!
//! Written without `spec`, which judges it. Text that is well-formed in RFC 3629, which is nearly all, goes through the
//! kernels in whole runs; this is for the rest.

use crate::codec;
use crate::codec::convert::charset::{IllFormed, Step};
use crate::codec::convert::encoding::{Surrogates, Utf8Like, first_of};
use crate::spec::Segmentation;
use crate::utf8::{Kind, is_continuation};

/// What the bytes at the start begin.
enum Found {
    Whole {
        len: usize,
        code_point: u32,
    },
    /// `matched` bytes begin a sequence that does not continue.
    Broken {
        matched: usize,
        kind: Kind,
    },
    /// A leading surrogate, complete unless the bytes to come make it a pair.
    Perhaps {
        code_point: u32,
    },
}

impl Utf8Like {
    /// Reads the start of `rest`, which is not empty. `after_lead`: a leading surrogate comes before it.
    #[inline]
    pub(super) fn step(self, rule: Segmentation, rest: &[u8], last: bool, after_lead: bool) -> Step {
        let (matched, kind) = match self.find(rest, after_lead) {
            Found::Whole { len, code_point } => return Step::Whole { len, code_point },
            Found::Perhaps { code_point } if last => return Step::Whole { len: 3, code_point },
            Found::Perhaps { .. } => return Step::Wait,
            Found::Broken { matched, kind } => (matched, kind),
        };
        /// How many bytes ahead the rules look.
        const FARTHEST: usize = 6;
        let looks_ahead = !matches!(rule, Segmentation::MaximalSubpart | Segmentation::Byte | Segmentation::Run);
        if !last && (kind == Kind::Incomplete || looks_ahead && rest.len() < FARTHEST) {
            return Step::Wait;
        }
        let len = self.unit_len(rule, rest, matched);
        Step::IllFormed(IllFormed { len, kind: Some(kind), incomplete: kind == Kind::Incomplete })
    }

    #[inline]
    fn find(self, rest: &[u8], after_lead: bool) -> Found {
        let lead = rest[0];
        if lead < 0x80 {
            return match lead {
                0 if self.null_as_two => Found::Broken { matched: 0, kind: Kind::Null },
                _ => Found::Whole { len: 1, code_point: lead.into() },
            };
        }
        let Some((len, lowest, highest)) = self.announced(lead, after_lead) else {
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
            (Surrogates::Pairs | Surrogates::PairsOrLone, 0xD800..=0xDBFF) => self.pair(bits, &rest[3..]),
            _ => Found::Whole { len, code_point: bits },
        }
    }

    /// How long a sequence with this lead byte is, and the range its second byte must be in.
    #[inline]
    fn announced(self, lead: u8, after_lead: bool) -> Option<(usize, u8, u8)> {
        Some(match lead {
            0xC2..=0xDF => (2, 0x80, 0xBF),
            0xE0 => (3, 0xA0, 0xBF),
            0xED => match self.surrogates {
                Surrogates::Refused => (3, 0x80, 0x9F),
                Surrogates::Pairs => (3, 0x80, 0xAF),
                Surrogates::LoneOnly if after_lead => (3, 0x80, 0xAF),
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

    /// Length of the ill-formed segment at the start of `rest`, of which `matched` bytes begin a sequence.
    fn unit_len(self, rule: Segmentation, rest: &[u8], matched: usize) -> usize {
        let announced = match rest[0] {
            0xC0..=0xDF => 1,
            0xE0..=0xEF => 2,
            0xF0..=0xF7 => 3,
            0xF8..=0xFB => 4,
            0xFC | 0xFD => 5,
            _ => 0,
        };
        let follow = |most: usize, allowed: &dyn Fn(u8) -> bool| {
            1 + rest[1..].iter().take(most).take_while(|&&byte| allowed(byte)).count()
        };
        let leads = |byte: u8| match byte {
            0 => !self.null_as_two,
            1..0x80 => true,
            _ => self.announced(byte, false).is_some(),
        };
        match (rule, rest[0]) {
            // The converter joins the bytes of a run.
            (Segmentation::Byte | Segmentation::Run, _) => 1,
            (Segmentation::LeadAnnounced, _) => follow(announced, &is_continuation),
            (Segmentation::SwallowNonLead, lead) if leads(lead) => follow(announced, &|byte| !leads(byte)),
            (Segmentation::SwallowNonLead, _) => 1,
            (Segmentation::MaximalSubpartSurrogate, 0xED) if matches!(rest.get(1), Some(0xA0..=0xBF)) => {
                follow(2, &is_continuation)
            }
            _ => matched.max(1),
        }
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
            0xED if self.surrogates == Surrogates::LoneOnly => Kind::SurrogatePair,
            0xED => Kind::Surrogate,
            0xF0 => Kind::Overlong(4),
            0xF8 => Kind::Overlong(5),
            0xFC => Kind::Overlong(6),
            _ => Kind::TooLarge,
        }
    }

    /// A leading surrogate of three bytes and the bytes after it.
    fn pair(self, lead: u32, after: &[u8]) -> Found {
        let begins: [core::ops::RangeInclusive<u8>; 3] = [0xED..=0xED, 0xB0..=0xBF, 0x80..=0xBF];
        let matched = after.iter().zip(&begins).take_while(|(byte, range)| range.contains(*byte)).count();
        let lone = self.surrogates == Surrogates::PairsOrLone;
        match after.get(matched) {
            _ if matched == 3 => {
                let trail = u32::from(after[1] & 0x0F) << 6 | u32::from(after[2] & 0x3F);
                Found::Whole { len: 6, code_point: 0x1_0000 + ((lead - 0xD800) << 10) + trail }
            }
            None if lone => Found::Perhaps { code_point: lead },
            Some(_) if lone => Found::Whole { len: 3, code_point: lead },
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

    /// Appends one code point; `None` if it has no form.
    #[inline]
    pub(super) fn push(self, code_point: u32, out: &mut Vec<u8>) -> Option<()> {
        let passes = matches!(self.surrogates, Surrogates::Lone | Surrogates::PairsOrLone);
        match (code_point, self.longest) {
            (0, _) if self.null_as_two => out.extend_from_slice(b"\xC0\x80"),
            (0xD800..=0xDFFF, _) if passes => push_three(code_point, out),
            (0xD800..=0xDFFF, _) => return None,
            (0x1_0000..=0x10_FFFF, 3) => halves(code_point).into_iter().for_each(|half| push_three(half, out)),
            (0x11_0000..=0x7FFF_FFFF, 6) => push_long(code_point, out),
            (0x11_0000.., _) => return None,
            _ => push_scalar(code_point, out),
        }
        Some(())
    }
}

/// The surrogates of a supplementary code point.
pub(super) fn halves(code_point: u32) -> [u32; 2] {
    let bits = code_point - 0x1_0000;
    [0xD800 | bits >> 10, 0xDC00 | bits & 0x3FF]
}

pub(super) fn push_scalar(scalar: u32, out: &mut Vec<u8>) {
    let scalar = char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER);
    out.extend_from_slice(scalar.encode_utf8(&mut [0; 4]).as_bytes());
}

pub(super) fn push_three(code_point: u32, out: &mut Vec<u8>) {
    out.extend_from_slice(&[0xE0 | (code_point >> 12) as u8, tail(code_point >> 6), tail(code_point)]);
}

/// Forms of four to six bytes, for code points beyond U+10FFFF.
fn push_long(code_point: u32, out: &mut Vec<u8>) {
    match code_point {
        0..=0x1F_FFFF => out.push(0xF0 | (code_point >> 18) as u8),
        0x20_0000..=0x3FF_FFFF => out.extend_from_slice(&[0xF8 | (code_point >> 24) as u8, tail(code_point >> 18)]),
        _ => out.extend_from_slice(&[0xFC | (code_point >> 30) as u8, tail(code_point >> 24), tail(code_point >> 18)]),
    }
    out.extend_from_slice(&[tail(code_point >> 12), tail(code_point >> 6), tail(code_point)]);
}

fn tail(bits: u32) -> u8 {
    0x80 | (bits & 0x3F) as u8
}
