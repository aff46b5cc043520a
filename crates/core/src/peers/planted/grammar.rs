//! Wrong verdicts: ill-formed input that is accepted, and well-formed input that is rejected (G20); and faults of decoders
//! of relatives of UTF-8, and of decoders that fall back from UTF-8 to another encoding.
//!
//! Omitted because another row has the same effect: G02 and G24 (G01), G03 (G08), G21 (G05). Omitted because the trait
//! cannot express it: G18 (reverse decoding), G22 (validation of several strings at once). Omitted because no precise
//! fault is known: G23. The second half of G08, the swallowed byte, is R02. X10 is in `resync`. X09 was found in a decoder
//! of UTF-16; here it is planted in CESU-8, which has the same surrogates.

use crate::codec::lossy_into;
use crate::decoder::Stream;
use crate::peers::planted::fault::{Planted, decided, forgiving, sound};
use crate::spec::{Contract, Reading, Replacement, Segmentation, grammar};
use crate::utf8::{ErrorLen, Malformed, REPLACEMENT, Validity, is_continuation, push_extended};
use crate::{codec, spec};

// A scalar decoder driven by a table of forms, so that a faulty table makes a faulty decoder.

/// The sequences that start with one of these leads. Ranges are first and last byte.
#[derive(Clone, Copy)]
pub(super) struct Form {
    pub(super) leads: (u8, u8),
    pub(super) len: usize,
    pub(super) second: (u8, u8),
    /// The third byte and those after it.
    pub(super) others: (u8, u8),
}

/// Any continuation byte.
pub(super) const CONTINUATION: (u8, u8) = (0x80, 0xBF);

pub(super) const fn form(first: u8, last: u8, len: usize, second: (u8, u8)) -> Form {
    Form { leads: (first, last), len, second, others: CONTINUATION }
}

enum Step {
    Char { len: usize, code_point: u32 },
    IllFormed { len: usize, error_len: ErrorLen },
}

/// Reads the start of `rest`; `None` if it is empty. The first form that has the lead byte applies.
fn read(rest: &[u8], forms: &[Form]) -> Option<Step> {
    let within = |byte: u8, (first, last): (u8, u8)| (first..=last).contains(&byte);
    let &lead = rest.first()?;
    if lead.is_ascii() {
        return Some(Step::Char { len: 1, code_point: u32::from(lead) });
    }
    let ill_formed = |len| Some(Step::IllFormed { len, error_len: ErrorLen::Bytes(len) });
    let Some(form) = forms.iter().find(|form| within(lead, form.leads)) else { return ill_formed(1) };
    let mut code_point = u32::from(lead) & (0x7F >> form.len);
    for at in 1..form.len {
        let Some(&byte) = rest.get(at) else {
            return Some(Step::IllFormed { len: at, error_len: ErrorLen::Incomplete });
        };
        if !within(byte, if at == 1 { form.second } else { form.others }) {
            return ill_formed(at);
        }
        code_point = code_point << 6 | u32::from(byte & 0x3F);
    }
    Some(Step::Char { len: form.len, code_point })
}

/// The verdict according to these forms.
pub(super) fn validate(bytes: &[u8], forms: &[Form]) -> Validity {
    let mut at = 0;
    while let Some(step) = read(&bytes[at..], forms) {
        match step {
            Step::Char { len, .. } => at += len,
            Step::IllFormed { error_len, .. } => return Malformed::at(at, error_len).into(),
        }
    }
    Validity::Valid
}

/// Appends the output according to these forms.
pub(super) fn lossy(bytes: &[u8], forms: &[Form], out: &mut Vec<u8>) {
    let mut at = 0;
    while let Some(step) = read(&bytes[at..], forms) {
        at += match step {
            Step::Char { len, code_point } => {
                push_extended(code_point, out);
                len
            }
            Step::IllFormed { len, .. } => {
                out.extend_from_slice(REPLACEMENT);
                len
            }
        };
    }
}

/// Decodes chunks according to a table of forms.
pub(super) struct Chunked {
    forms: &'static [Form],
    /// The forms that decide whether the rest of a chunk waits for the next chunk.
    at_cut: &'static [Form],
    pending: Vec<u8>,
    /// The number of bytes read before the pending ones.
    read: usize,
    first_error: Option<Malformed>,
}

impl Chunked {
    pub(super) fn new(forms: &'static [Form]) -> Self {
        Self::cut_by(forms, forms)
    }

    pub(super) fn cut_by(forms: &'static [Form], at_cut: &'static [Form]) -> Self {
        Self { forms, at_cut, pending: Vec::new(), read: 0, first_error: None }
    }

    /// The next step; `None` if the rest waits for the next chunk.
    fn step(&self, rest: &[u8]) -> Option<Step> {
        let step = read(rest, self.forms)?;
        match (read(rest, self.at_cut), &step) {
            (Some(Step::IllFormed { error_len: ErrorLen::Incomplete, .. }), Step::IllFormed { .. }) => None,
            (refused, Step::IllFormed { error_len: ErrorLen::Incomplete, .. }) => refused,
            _ => Some(step),
        }
    }

    fn take(&mut self, at: usize, step: Step, out: &mut Vec<u8>) -> usize {
        match step {
            Step::IllFormed { len, error_len } => {
                out.extend_from_slice(REPLACEMENT);
                self.first_error.get_or_insert(Malformed::at(self.read + at, error_len));
                len
            }
            Step::Char { len, code_point } => {
                push_extended(code_point, out);
                len
            }
        }
    }
}

impl Stream for Chunked {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        self.pending.extend_from_slice(chunk);
        let mut at = 0;
        while let Some(step) = self.step(&self.pending[at..]) {
            at += self.take(at, step, out);
        }
        self.pending.drain(..at);
        self.read += at;
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        let mut ended = core::mem::replace(self, Self::cut_by(self.forms, self.at_cut));
        let mut at = 0;
        while let Some(step) = read(&ended.pending[at..], self.forms) {
            at += ended.take(at, step, out);
        }
        Some(ended.first_error.map_or(Validity::Valid, Validity::Invalid))
    }

    fn sendable(&mut self) -> Option<&mut (dyn Stream + Send + '_)> {
        Some(self)
    }
}

/// RFC 3629 §4, and a form without lead bytes, to fill tables with.
pub(super) const SOUND: [Form; 8] = [
    form(0xC2, 0xDF, 2, CONTINUATION),
    form(0xE0, 0xE0, 3, (0xA0, 0xBF)),
    form(0xED, 0xED, 3, (0x80, 0x9F)),
    form(0xE1, 0xEF, 3, CONTINUATION),
    form(0xF0, 0xF0, 4, (0x90, 0xBF)),
    form(0xF1, 0xF3, 4, CONTINUATION),
    form(0xF4, 0xF4, 4, (0x80, 0x8F)),
    form(0xF8, 0x00, 0, CONTINUATION),
];

/// The sound forms, preceded by these.
pub(super) const fn with<const N: usize>(first: [Form; N]) -> [Form; 16] {
    let mut forms = [SOUND[7]; 16];
    let mut at = 0;
    while at < SOUND.len() + N {
        forms[at] = if at < N { first[at] } else { SOUND[at - N] };
        at += 1;
    }
    forms
}

static OVERLONG_2: [Form; 16] = with([form(0xC0, 0xC1, 2, CONTINUATION)]);
static OVERLONG_C1: [Form; 16] = with([form(0xC1, 0xC1, 2, CONTINUATION)]);
static OVERLONG: [Form; 16] =
    with([form(0xC0, 0xC1, 2, CONTINUATION), form(0xE0, 0xE0, 3, CONTINUATION), form(0xF0, 0xF0, 4, CONTINUATION)]);
static LENGTH_ONLY: [Form; 16] = {
    const ANY: (u8, u8) = (0x00, 0xFF);
    with([
        Form { others: ANY, ..form(0xC2, 0xDF, 2, ANY) },
        Form { others: ANY, ..form(0xE0, 0xEF, 3, ANY) },
        Form { others: ANY, ..form(0xF0, 0xF4, 4, ANY) },
    ])
};
static SHAPE_ONLY: [Form; 16] =
    with([form(0xC0, 0xDF, 2, CONTINUATION), form(0xE0, 0xEF, 3, CONTINUATION), form(0xF0, 0xF7, 4, CONTINUATION)]);
static TOO_LARGE_LEADS: [Form; 16] = with([form(0xF5, 0xF7, 4, CONTINUATION)]);
static UPPER_BOUND_ONLY: [Form; 16] = with([form(0xED, 0xED, 3, (0x00, 0x9F)), form(0xF4, 0xF4, 4, (0x00, 0x8F))]);
static LONG_FORMS: [Form; 16] = with([
    form(0xF4, 0xF7, 4, CONTINUATION),
    form(0xF8, 0xF8, 5, (0x88, 0xBF)),
    form(0xF9, 0xFB, 5, CONTINUATION),
    form(0xFC, 0xFC, 6, (0x84, 0xBF)),
    form(0xFD, 0xFD, 6, CONTINUATION),
]);

/// A decoder that uses these forms for verdict, output and stream.
macro_rules! by_forms {
    ($forms:expr, $sound:expr) => {
        Planted {
            validate: |bytes| Some(validate(bytes, &$forms)),
            lossy: |bytes, out| lossy(bytes, &$forms, out),
            stream: || Some(Box::new(Chunked::new(&$forms))),
            ..$sound
        }
    };
}

pub(super) static FAULTS: &[Planted] = &[
    by_forms!(
        OVERLONG_2,
        sound(
            "g01",
            "two-byte overlong forms are decoded",
            "IIS 4 and 5, CVE-2000-0884",
            &["verdict/overlong-2/*", "error-length/overlong-2/tail"]
        )
    ),
    by_forms!(
        OVERLONG_C1,
        sound(
            "g04",
            "only C0 is rejected as the lead of a two-byte overlong form, not C1",
            "Ghostscript, CVE-2024-46954",
            &["verdict/overlong-2/*", "error-length/overlong-2/tail"]
        )
    ),
    Planted {
        lossy: |bytes, out| lossy(bytes, &OVERLONG_2, out),
        ..sound("g05", "decoding with replacement accepts two-byte overlong forms", "bun#9582", &["lossy/overlong-2/*"])
    },
    Planted {
        validate: |bytes| {
            forgiving(bytes, |bytes, at| {
                let is_in_tail = at >= bytes.len() / 64 * 64;
                (is_in_tail && is_form(&bytes[at..], &[(0xF0, 0xF0), (0x80, 0x8F), CONTINUATION, CONTINUATION]))
                    .then_some(4)
            })
        },
        ..sound(
            "g06",
            "four-byte overlong forms are accepted after the last whole block",
            "simdjson#1187",
            &["verdict/overlong-4/*"],
        )
    },
    Planted {
        validate: |bytes| {
            forgiving(bytes, |bytes, at| {
                is_form(&bytes[at..], &[(0xE0, 0xE0), (0x80, 0x9F), CONTINUATION]).then_some(3)
            })
        },
        ..sound("g07", "validation accepts three-byte overlong forms", "julia#29311", &["verdict/overlong-3/*"])
    },
    by_forms!(
        OVERLONG,
        sound(
            "g08",
            "every overlong form is decoded",
            "utf8-decode 2.0.0",
            &["verdict/overlong-*/*", "error-length/overlong-*/*"]
        )
    ),
    by_forms!(
        LENGTH_ONLY,
        sound(
            "g09",
            "any bytes may follow a lead",
            "lexbor#354",
            &[
                "verdict/overlong-3/*",
                "verdict/overlong-4/*",
                "verdict/surrogate/*",
                "verdict/too-*/*",
                "error-length/overlong-3/tail",
                "error-length/overlong-4/tail",
                "error-length/surrogate/tail",
                "error-length/too-*/tail"
            ]
        )
    ),
    by_forms!(
        SHAPE_ONLY,
        sound(
            "g10",
            "only the pattern of lead and continuation bytes is checked",
            "Nim#19333",
            &[
                "verdict/overlong-*/*",
                "verdict/surrogate/*",
                "verdict/too-large/*",
                "error-length/overlong-*/*",
                "error-length/surrogate/*",
                "error-length/too-large/*"
            ]
        )
    ),
    by_forms!(
        TOO_LARGE_LEADS,
        sound("g11", "leads F5 to F7 are decoded", "duckdb#4708", &["verdict/too-large/*", "error-length/too-large/*"])
    ),
    Planted {
        validate: |bytes| {
            forgiving(bytes, |bytes, at| {
                is_form(&bytes[at..], &[(0xED, 0xED), (0xA0, 0xBF), CONTINUATION]).then_some(3)
            })
        },
        name: Some("planted-surrogates"),
        ..sound(
            "g12",
            "validation accepts surrogates",
            "jackson-core#363, Lua 5.3, CPython 2.7",
            &["verdict/surrogate/*"],
        )
    },
    by_forms!(
        UPPER_BOUND_ONLY,
        sound(
            "g13",
            "only the upper bound of the second byte is checked after ED and F4",
            "utf-8-validate#32",
            &["verdict/too-short/*", "error-length/too-short/*"]
        )
    ),
    Planted {
        validate: |bytes| forgiving(bytes, |bytes, at| (at > 0 && is_continuation(bytes[at])).then_some(1)),
        ..sound(
            "g15",
            "stray continuation bytes after a character are skipped",
            "Lua 5.4 utf8.codes",
            &["verdict/continuation/*"],
        )
    },
    by_forms!(
        LONG_FORMS,
        sound(
            "g16",
            "code points up to 7FFFFFFF are decoded",
            "glibc 2.36 iconv",
            &[
                "verdict/too-large/*",
                "verdict/invalid-byte/*",
                "error-length/too-large/*",
                "error-length/invalid-byte/*"
            ]
        )
    ),
    Planted {
        validate: |bytes| {
            forgiving(bytes, |bytes, at| {
                let error = codec::validate(&bytes[at..]).err()?;
                error.error_len().is_none().then_some(bytes.len() - at)
            })
        },
        ..sound(
            "g19",
            "an incomplete sequence at the end of the input is accepted",
            "lemire blog code #29",
            &["verdict/incomplete/tail"],
        )
    },
    Planted {
        validate: |bytes| {
            let half = bytes.len() / 2;
            let split = half + bytes[half..].iter().take_while(|&&byte| is_continuation(byte) && byte > 0x80).count();
            decided(bytes, [&bytes[..split], &bytes[split..]].iter().all(|half| codec::validate(half).is_ok()))
        },
        ..sound(
            "g20",
            "80 is not recognised as a continuation byte where the input is split in half",
            "lemire blog code #29",
            &["verdict/valid-2/*", "verdict/valid-3/*", "verdict/valid-4/*"],
        )
    },
    Planted {
        validate: |bytes| {
            forgiving(bytes, |bytes, at| {
                let is_quote = |byte: &u8| *byte == b'"';
                let is_open = bytes[..at].iter().filter(|byte| is_quote(byte)).count() % 2 == 1;
                bytes[at..].iter().position(is_quote).filter(|_| is_open)
            })
        },
        ..sound(
            "g25",
            "bytes between quotation marks are not validated",
            "simd-json#451",
            &[
                "verdict/continuation/*",
                "verdict/invalid-byte/*",
                "verdict/overlong-*/*",
                "verdict/surrogate/*",
                "verdict/too-*/*",
            ],
        )
    },
];

/// Whether `rest` starts with bytes in these ranges.
fn is_form(rest: &[u8], ranges: &[(u8, u8)]) -> bool {
    rest.len() >= ranges.len() && rest.iter().zip(ranges).all(|(byte, (first, last))| (first..=last).contains(&byte))
}

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

pub(super) static RELATIVES: &[Planted] = &[
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::classes::Block;

    #[test]
    fn with_sound_forms_the_decoder_is_sound() {
        let mut bytes = Vec::new();
        for len in 1..=4 {
            let block = Block { len, offset: 0 };
            for index in 0..block.count() {
                block.write(index, &mut bytes);
                assert_eq!(validate(&bytes, &SOUND), core::str::from_utf8(&bytes).map(drop).into());
                let (mut whole, mut cut) = (Vec::new(), Vec::new());
                lossy(&bytes, &SOUND, &mut whole);
                assert_eq!(whole, String::from_utf8_lossy(&bytes).as_bytes());
                let mut stream = Chunked::new(&SOUND);
                bytes.iter().for_each(|&byte| stream.push(&[byte], &mut cut));
                assert_eq!(stream.finish(&mut cut), Some(validate(&bytes, &SOUND)));
                assert_eq!(whole, cut);
            }
        }
    }
}
