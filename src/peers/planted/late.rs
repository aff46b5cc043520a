//! Faults of waiting: of a decoder that waits for bytes which can change nothing, that does not wait for one which can,
//! or that falls over what it has waited for.

use crate::peers::planted::grammar::{SOUND, with};
use crate::peers::planted::scalar::{CONTINUATION, Chunked, Form, form, lossy, validate};
use crate::peers::planted::stream::{Chunks, finish};
use crate::peers::planted::{Planted, sound};
use crate::spec::grammar::WITH_SURROGATES;
use crate::spec::{Contract, Detection};
use crate::utf8::{ErrorLen, Malformed, Validity};

static SURROGATES: [Form; 16] = with([form(0xED, 0xED, 3, CONTINUATION)]);
static TOO_LARGE: [Form; 16] = with([form(0xF4, 0xF7, 4, CONTINUATION)]);

/// The contract of a decoder whose stream writes at once what is decided.
const PROMPT: Contract = Contract { detection: Detection::Earliest, ..Contract::STANDARD };

pub(super) static FAULTS: &[Planted] = &[
    Planted {
        validate: |bytes| Some(validate(bytes, &SURROGATES)),
        lossy: |bytes, out| lossy(bytes, &SURROGATES, out),
        stream: || Some(Box::new(Chunked::cut_by(&SURROGATES, &SOUND))),
        ..sound(
            "t20",
            "a surrogate that is cut behind its second byte is an error where surrogates are passed",
            "CPython bpo-24214",
            &["stream/valid-3/cut", "stream/too-short/cut", "stream/incomplete/*"],
        )
        .under(Contract { grammar: &WITH_SURROGATES, ..Contract::STANDARD })
    },
    Planted {
        stream: || Some(Box::new(Chunked::cut_by(&SOUND, &SURROGATES))),
        ..sound("t21", "ED A0 waits for a third byte", "python#154520", &["detection/surrogate/*"]).under(PROMPT)
    },
    Planted {
        stream: || Some(Box::new(Chunked::cut_by(&SOUND, &TOO_LARGE))),
        ..sound("t22", "F4 90 and F5 to F7 wait for four bytes", "JDK-8039751", &["detection/too-large/*"])
            .under(PROMPT)
    },
    Planted {
        validate: |bytes| {
            let exact = crate::peers::planted::validate(bytes);
            match (exact, bytes.last()) {
                (Some(Validity::Invalid(error)), Some(0xC0 | 0xC1 | 0xF5..=0xF7))
                    if error.valid_up_to == Some(bytes.len() - 1) =>
                {
                    Some(Malformed::at(bytes.len() - 1, ErrorLen::Incomplete).into())
                }
                _ => exact,
            }
        },
        ..sound(
            "t23",
            "C0, C1 and F5 to F7 at the end are incomplete",
            "golang#11733, glibc 2.36 mbrtowc",
            &["error-length/overlong-2/tail", "error-length/too-large/tail"],
        )
    },
    Planted {
        stream: || {
            Chunks::boxed(
                |chunks, chunk, _| chunks.held.extend_from_slice(chunk),
                |chunks, out| {
                    let held = core::mem::take(&mut chunks.held);
                    chunks.inner.push(&held, out);
                    chunks.ended(out)
                },
            )
        },
        ..sound("t26", "nothing is decoded before the end", "haskell/text#390", &["detection/*/*"]).under(PROMPT)
    },
    Planted {
        stream: || {
            Chunks::boxed(
                |chunks, chunk, out| {
                    let is_due = !chunks.pending().is_empty();
                    assert!(!is_due || !chunk.first().is_some_and(u8::is_ascii), "no clause for ASCII");
                    chunks.inner.push(chunk, out);
                },
                finish,
            )
        },
        ..sound(
            "t24",
            "it panics on ASCII where a sequence in need of more was cut",
            "cowlib#159",
            &["panic/too-short/*"],
        )
    },
    Planted {
        stream: || {
            Chunks::boxed(
                |chunks, chunk, out| {
                    if !chunk.is_empty() {
                        assert!(!chunks.seen, "out of range index");
                        chunks.inner.push(chunk, out);
                        chunks.seen = matches!(chunk, [.., 0xC0..=0xDF, 0x80..=0xBF, 0x80..=0xBF]);
                    }
                },
                |chunks, out| {
                    chunks.seen = false;
                    chunks.ended(out)
                },
            )
        },
        ..sound(
            "t07",
            "it panics behind a chunk that ends in two bytes of a character and a continuation too many",
            "node#7308",
            &["panic/continuation/*"],
        )
    },
];
