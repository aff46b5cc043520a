//! Faults of decoders of relatives of UTF-8, and of decoders that fall back from UTF-8 to another encoding.
//!
//! X10 is in `resync`. X09 was found in a decoder of UTF-16; here it is planted in CESU-8, which has the same
//! surrogates.

use crate::codec;
use crate::codec::lossy_into;
use crate::decoder::Stream;
use crate::peers::planted::fault::{Planted, sound};
use crate::spec;
use crate::spec::{Contract, Reading, Replacement, Segmentation, grammar};
use crate::utf8::push_extended;
use crate::utf8::{Malformed, REPLACEMENT, Validity, is_continuation};

const CESU8: Contract = Contract { grammar: &grammar::CESU8, ..Contract::STANDARD };
const CESU8_WHOLE: Contract = Contract { segmentation: Segmentation::MaximalSubpartSurrogate, ..CESU8 };
const MODIFIED: Contract = Contract { grammar: &grammar::MODIFIED_UTF8, ..Contract::STANDARD };
const WTF8: Contract = Contract { grammar: &grammar::WTF8, ..Contract::STANDARD };
const LATIN1: Contract = Contract { replacement: Some(Replacement::Latin1), ..Contract::STANDARD };
const WINDOWS1252: Contract = Contract { replacement: Some(Replacement::Windows1252), ..Contract::STANDARD };

/// A correct decoder of this contract, made of `spec`, to which a fault is added. It has no stream.
macro_rules! by_spec {
    ($contract:ident, $sound:expr) => {
        Planted {
            validate: |bytes| Some(spec::validity(&$contract, bytes)),
            lossy: |bytes, out| {
                spec::lossy(&$contract, bytes, out);
            },
            stream: || None,
            ..$sound.under($contract)
        }
    };
}

pub(super) static FAULTS: &[Planted] = &[
    Planted {
        validate: |bytes| {
            let is_utf8 = codec::validate(bytes).is_ok();
            Some(if is_utf8 { Validity::Valid } else { spec::validity(&CESU8, bytes) })
        },
        ..by_spec!(
            CESU8,
            sound(
                "x01",
                "input that is valid UTF-8 as a whole is accepted as CESU-8",
                "cesu8 1.1.0, simd_cesu8 1.2.0",
                &["verdict/four-byte/*", "concatenation/four-byte/*"]
            )
        )
    },
    Planted {
        validate: |bytes| {
            let is_in_both = codec::validate(bytes).is_ok() && bytes.iter().all(|&byte| byte < 0xF0);
            Some(if is_in_both { Validity::Valid } else { spec::validity(&MODIFIED, bytes) })
        },
        ..by_spec!(
            MODIFIED,
            sound(
                "x02",
                "a raw 00 is accepted if the input needs no conversion",
                "cesu8 1.1.0",
                &["verdict/null/*", "concatenation/null/*"]
            )
        )
    },
    Planted {
        validate: |bytes| {
            let has_null = bytes.windows(2).any(|pair| pair == NULL);
            let accepts = |text: &[u8]| codec::validate(text).is_ok() || spec::validity(&CESU8, text).is_valid();
            let accepted = has_null && accepts(&with_raw_nulls(bytes));
            Some(if accepted { Validity::Valid } else { spec::validity(&MODIFIED, bytes) })
        },
        ..by_spec!(
            MODIFIED,
            sound(
                "x03",
                "C0 80 is converted to 00 first; the result may then be UTF-8 and contain a raw 00",
                "residua-mutf8 2.0.0",
                &["verdict/four-byte/*", "verdict/null/*"]
            )
        )
    },
    Planted {
        validate: |_| Some(Validity::Valid),
        ..by_spec!(MODIFIED, sound("x04", "nothing is validated", "mutf8 0.5.0", &["verdict/*/*"]))
    },
    Planted {
        lossy: |bytes, out| {
            let is_wide = |segment: spec::Segment| matches!(segment.reading, Reading::WellFormed(_)) && segment.len > 1;
            let is_one_byte = !spec::segments(&WINDOWS1252, bytes).any(is_wide);
            spec::lossy(if is_one_byte { &LATIN1 } else { &WINDOWS1252 }, bytes, out);
        },
        ..by_spec!(
            WINDOWS1252,
            sound(
                "x06",
                "windows-1252 is read as Latin-1 if every character is one byte",
                "node#60888",
                &["lossy/continuation/*", "lossy/too-short/*", "lossy/incomplete/*"]
            )
        )
    },
    Planted {
        validate: |bytes| {
            let mut start = 0;
            loop {
                let Validity::Invalid(error) = spec::validity(&MODIFIED, bytes.get(start..)?) else {
                    return Some(Validity::Valid);
                };
                let offset = error.valid_up_to.map(|offset| offset + start)?;
                start = match bytes[offset..] {
                    [0xC0 | 0xC1, second, ..] if is_continuation(second) => offset + 2,
                    [0xE0, 0x80..=0x9F, third, ..] if is_continuation(third) => offset + 3,
                    _ => return Some(Malformed { valid_up_to: Some(offset), ..error }.into()),
                };
            }
        },
        ..by_spec!(
            MODIFIED,
            sound(
                "x07",
                "overlong forms of two and three bytes are accepted",
                "OpenJDK 17 DataInputStream.readUTF",
                &["verdict/overlong-2/*", "verdict/overlong-3/*"]
            )
        )
    },
    Planted {
        lossy: |bytes, out| {
            let is_four =
                |segment: &spec::Segment| matches!(segment.reading, Reading::WellFormed(_)) && segment.len == 4;
            let end =
                spec::segments(&Contract::STANDARD, bytes).find(is_four).map_or(bytes.len(), |segment| segment.start);
            lossy_into(&bytes[..end], out);
        },
        ..sound(
            "x08",
            "the output ends before the first character of four bytes",
            "MySQL utf8mb3, CVE-2015-3438",
            &["identity/valid-4/*", "lossy/valid-4/*"],
        )
    },
    Planted {
        lossy: |bytes, out| {
            let is_trail = |segment: &spec::Segment| matches!(bytes[segment.range()], [0xED, 0xB0..=0xBF, _]);
            let mut segments = spec::segments(&CESU8_WHOLE, bytes).peekable();
            while let Some(segment) = segments.next() {
                match segment.reading {
                    Reading::WellFormed(code_point) => push_extended(code_point, out),
                    Reading::IllFormed { .. } => {
                        out.extend_from_slice(REPLACEMENT);
                        if is_trail(&segment) {
                            segments.next_if(is_trail);
                        }
                    }
                }
            }
        },
        ..by_spec!(
            CESU8_WHOLE,
            sound(
                "x09",
                "the first of two trailing surrogates is taken for a leading one, so both are replaced as a pair",
                "golang#39492",
                &["lossy/surrogate/*"]
            )
        )
    },
    Planted {
        stream: || Some(Box::new(Apart::default())),
        ..by_spec!(
            WTF8,
            sound(
                "x11",
                "a surrogate pair that is split between chunks is not joined",
                "Rust wtf8, test push_wtf8",
                &["stream/surrogate-pair/cut"]
            )
        )
    },
];

/// U+0000 in Modified UTF-8.
const NULL: [u8; 2] = [0xC0, 0x80];

fn with_raw_nulls(mut bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    while let Some((&first, tail)) = bytes.split_first() {
        let rest = bytes.strip_prefix(&NULL);
        out.push(if rest.is_some() { 0 } else { first });
        bytes = rest.unwrap_or(tail);
    }
    out
}

/// Decodes at the end of the stream, starting again at every cut between a leading and a trailing surrogate.
#[derive(Default)]
struct Apart {
    bytes: Vec<u8>,
    cuts: Vec<usize>,
}

impl Stream for Apart {
    fn push(&mut self, chunk: &[u8], _: &mut Vec<u8>) {
        self.cuts.push(self.bytes.len());
        self.bytes.extend_from_slice(chunk);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        let Self { bytes, cuts } = core::mem::take(self);
        let is_lead = |before: &[u8]| matches!(before, [.., 0xED, 0xA0..=0xAF, last] if is_continuation(*last));
        let is_trail = |after: &[u8]| matches!(after, [0xED, 0xB0..=0xBF, last, ..] if is_continuation(*last));
        let meets = |cut: &usize| is_lead(&bytes[..*cut]) && is_trail(&bytes[*cut..]);
        let mut first_error = None;
        let mut start = 0;
        for end in cuts.into_iter().filter(meets).chain([bytes.len()]) {
            let part = &bytes[start..end];
            spec::lossy(&WTF8, part, out);
            if let Validity::Invalid(error) = spec::validity(&WTF8, part) {
                let offset = error.valid_up_to.map(|offset| offset + start);
                first_error.get_or_insert(Malformed { valid_up_to: offset, ..error });
            }
            start = end;
        }
        Some(first_error.map_or(Validity::Valid, Validity::Invalid))
    }
}
