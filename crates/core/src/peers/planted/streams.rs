//! Faults of decoding in chunks: at the end, between streams, with a byte order mark.
//!
//! Omitted: T04, T09 and T16 (same effect as T03, T28 and T13), T27 (a fault of an encoder).

use crate::codec::{Streaming, errors, lossy_into};
use crate::decoder::Stream;
use crate::peers::own::validity;
use crate::peers::planted::fault;
use crate::peers::planted::fault::{Planted, sound};
use crate::peers::planted::grammar::{CONTINUATION, Chunked, Form, SOUND, form, lossy, validate, with};
use crate::spec::grammar::RFC3629_WITH_SURROGATES;
use crate::spec::{Bom, Contract, Detection};
use crate::utf8::{BYTE_ORDER_MARK, ErrorLen, Malformed, Validity, is_continuation};
use core::cell::Cell;

type Push = fn(&mut Chunks, &[u8], &mut Vec<u8>);
type Finish = fn(&mut Chunks, &mut Vec<u8>) -> Validity;

/// Our streaming decoder, and the state that the faults need.
struct Chunks {
    inner: Streaming,
    push: Push,
    finish: Finish,
    /// The last bytes of the stream, at most three.
    last: Vec<u8>,
    /// The number of bytes pushed so far.
    pushed: usize,
    /// Bytes kept back from the inner decoder.
    held: Vec<u8>,
    /// The first error, if it is not the one of the inner decoder.
    error: Option<Malformed>,
    /// Whether the event that a fault waits for has occurred: the start of the text, an error.
    seen: bool,
}

impl Chunks {
    fn boxed(push: Push, finish: Finish) -> Option<Box<dyn Stream>> {
        let (last, held) = (Vec::new(), Vec::new());
        Some(Box::new(Self { inner: Streaming::new(), push, finish, last, pushed: 0, held, error: None, seen: false }))
    }

    /// The incomplete sequence at the end of the stream so far.
    fn pending(&self) -> &[u8] {
        let incomplete = errors(&self.last).find(|error| error.error_len().is_none());
        incomplete.map_or(&[], |error| &self.last[error.range()])
    }

    fn ended(&mut self, out: &mut Vec<u8>) -> Validity {
        validity(self.inner.finish(out))
    }
}

impl Stream for Chunks {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        (self.push)(self, chunk, out);
        self.pushed += chunk.len();
        self.last.extend_from_slice(&chunk[chunk.len().saturating_sub(3)..]);
        self.last.drain(..self.last.len().saturating_sub(3));
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        let validity = (self.finish)(self, out);
        self.last.clear();
        self.held.clear();
        self.pushed = 0;
        Some(validity)
    }

    fn sendable(&mut self) -> Option<&mut (dyn Stream + Send + '_)> {
        Some(self)
    }
}

fn push(chunks: &mut Chunks, chunk: &[u8], out: &mut Vec<u8>) {
    chunks.inner.push(chunk, out);
}

fn finish(chunks: &mut Chunks, out: &mut Vec<u8>) -> Validity {
    chunks.ended(out)
}

/// Strips a byte order mark at the start of the decoded text, unless `seen`.
fn push_stripped(chunks: &mut Chunks, chunk: &[u8], out: &mut Vec<u8>) {
    let mut text = Vec::new();
    chunks.inner.push(chunk, &mut text);
    let kept = if chunks.seen { None } else { text.strip_prefix(BYTE_ORDER_MARK) };
    out.extend_from_slice(kept.unwrap_or(&text));
    chunks.seen |= !text.is_empty();
}

/// Ends the stream and resets `seen` for the next one.
fn finish_stripped(chunks: &mut Chunks, out: &mut Vec<u8>) -> Validity {
    chunks.seen = false;
    chunks.ended(out)
}

fn lossy_stripped(bytes: &[u8], out: &mut Vec<u8>) {
    lossy_into(bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes), out);
}

/// The same decoder with a contract that strips the byte order mark.
const fn stripping(mut planted: Planted) -> Planted {
    planted.contract = Contract { bom: Bom::Strip, ..Contract::STANDARD };
    planted
}

thread_local! {
    /// The lead byte at the end of the previous input (T12); 0 if there was none.
    static LEAD: Cell<u8> = const { Cell::new(0) };
}

pub(super) static STREAMS: &[Planted] = &[
    Planted {
        stream: || {
            Chunks::boxed(
                |chunks, chunk, out| {
                    let mut text = Vec::new();
                    chunks.inner.push(chunk, &mut text);
                    let is_failed = validity(chunks.inner.clone().finish(&mut Vec::new()))
                        .malformed()
                        .is_some_and(|error| error.len != Some(ErrorLen::Incomplete));
                    if !core::mem::replace(&mut chunks.seen, is_failed) {
                        out.extend_from_slice(&text);
                    }
                },
                |chunks, out| {
                    chunks.seen = false;
                    chunks.ended(out)
                },
            )
        },
        ..sound("r10", "nothing is written after the chunk with the first error", "pypy#3274", &["stream/*/cut"])
    },
    Planted {
        stream: || {
            Chunks::boxed(
                |chunks, chunk, out| {
                    let missing = 4 - chunks.pending().len();
                    let (Some(taken), true) = (chunk.get(..missing), missing < 4) else {
                        return chunks.inner.push(chunk, out);
                    };
                    let joined = [chunks.pending(), taken].concat();
                    let is_ill_formed = errors(&joined).next().is_some_and(|error| error.range().start == 0);
                    chunks.inner.push(taken, out);
                    chunks.inner.push(&chunk[(missing + usize::from(is_ill_formed)).min(chunk.len())..], out);
                },
                finish,
            )
        },
        ..sound(
            "t02",
            "a byte is dropped after four ill-formed bytes in the buffer",
            "haskell/text#528",
            &["stream/too-*/cut", "stream/overlong-3/cut", "stream/overlong-4/cut", "stream/surrogate/cut"],
        )
    },
    Planted {
        stream: || {
            Chunks::boxed(push, |chunks, out| {
                let len = if chunks.pending().is_empty() { usize::MAX } else { out.len() };
                let validity = chunks.ended(out);
                out.truncate(len);
                validity
            })
        },
        ..sound(
            "t03",
            "an incomplete sequence at the end is dropped",
            "haskell/text#61, bun#3214",
            &["stream/incomplete/tail"],
        )
    },
    Planted {
        stream: || {
            Chunks::boxed(push, |chunks, out| {
                let pending = chunks.pending().to_vec();
                let validity = chunks.ended(out);
                chunks.inner.push(&pending, &mut Vec::new());
                validity
            })
        },
        ..sound(
            "t06",
            "an incomplete sequence at the end of a stream is kept for the next stream",
            "node#16564",
            &["reset/end/*"],
        )
    },
    Planted {
        stream: || {
            Chunks::boxed(
                |chunks, chunk, out| {
                    let joined = [core::mem::take(&mut chunks.held).as_slice(), chunk].concat();
                    let lead = joined.len().saturating_sub(3)..joined.len();
                    let mut rest = joined.as_slice();
                    if chunks.seen {
                        let len = 1 + rest[1..].iter().take(3).take_while(|&&byte| is_continuation(byte)).count();
                        if len < 4 && len == rest.len() {
                            chunks.held = joined;
                            return;
                        }
                        chunks.inner.push(&[0xFF], out);
                        chunks.seen = false;
                        rest = &rest[len..];
                    }
                    let from = joined.len() - rest.len();
                    let cut = lead.filter(|&at| at >= from).find(|&at| {
                        matches!(joined[at], 0xF5..=0xF7) && joined[at + 1..].iter().all(|&byte| is_continuation(byte))
                    });
                    let cut = cut.unwrap_or(joined.len());
                    chunks.inner.push(&joined[from..cut], out);
                    chunks.held = joined[cut..].to_vec();
                    chunks.seen = cut < joined.len();
                },
                |chunks, out| {
                    if core::mem::take(&mut chunks.seen) {
                        chunks.inner.push(&[0xFF], out);
                    }
                    chunks.ended(out)
                },
            )
        },
        ..sound(
            "t08",
            "F5 to F7 at the end of a chunk wait for continuation bytes",
            "node#22626",
            &["stream/too-large/*", "stream/continuation/cut"],
        )
    },
    Planted {
        stream: || {
            Chunks::boxed(push, |chunks, out| {
                chunks.ended(out);
                Validity::Valid
            })
        },
        ..sound(
            "t10",
            "errors are replaced but not reported",
            "bun#3572, boa#4614",
            &[
                "stream/continuation/*",
                "stream/invalid-byte/*",
                "stream/overlong-*/*",
                "stream/surrogate/*",
                "stream/too-*/*",
                "stream/incomplete/*",
            ],
        )
    },
    stripping(Planted {
        lossy: lossy_stripped,
        stream: || {
            Chunks::boxed(push_stripped, |chunks, out| {
                let validity = chunks.ended(out);
                chunks.seen &= !validity.is_valid();
                validity
            })
        },
        ..sound(
            "t11",
            "the byte order mark is kept after a stream with an error",
            "Firefox bug 2005419",
            &["reset/end/*"],
        )
    }),
    Planted {
        lossy: |bytes, out| {
            let before = LEAD.replace(match bytes.last() {
                Some(&lead @ 0xC2..=0xF4) => lead,
                _ => 0,
            });
            let left: &[u8] = if before == 0 { &[] } else { &[before] };
            lossy_into(&[left, bytes].concat(), out);
        },
        ..sound(
            "t12",
            "a lead byte at the end of an input is prepended to the next input",
            "WebKit bug 312131",
            &["repeat/end/*"],
        )
    },
    stripping(Planted {
        lossy: lossy_stripped,
        stream: || {
            Chunks::boxed(
                |chunks, chunk, out| {
                    chunks.seen = false;
                    push_stripped(chunks, chunk, out);
                },
                finish_stripped,
            )
        },
        ..sound(
            "t13",
            "a byte order mark is stripped at the start of every chunk",
            "bun#25495",
            &["stream/valid-3/cut"],
        )
    }),
    stripping(Planted {
        lossy: lossy_stripped,
        stream: || {
            Chunks::boxed(
                |chunks, chunk, out| {
                    chunks.seen |= !chunks.pending().is_empty();
                    push_stripped(chunks, chunk, out);
                },
                finish_stripped,
            )
        },
        ..sound("t14", "a byte order mark that is split between chunks is kept", "deno#10846", &["stream/valid-3/cut"])
    }),
    stripping(sound("t15", "the byte order mark is kept", "servo#38112", &["lossy/valid-3/*"])),
    Planted {
        stream: || {
            Chunks::boxed(
                |chunks, chunk, out| {
                    chunks.inner.push(chunk, out);
                    if let Validity::Invalid(error) = chunks.ended(out) {
                        let offset = error.valid_up_to.map(|offset| offset + chunks.pushed);
                        chunks.error.get_or_insert(Malformed { valid_up_to: offset, ..error });
                    }
                },
                |chunks, _| chunks.error.take().map_or(Validity::Valid, Validity::Invalid),
            )
        },
        ..sound(
            "t17",
            "the end of a chunk is taken for the end of the stream",
            "corefx#29834",
            &[
                "stream/valid-2/cut",
                "stream/valid-3/cut",
                "stream/valid-4/cut",
                "stream/incomplete/cut",
                "stream/too-*/cut",
                "stream/overlong-3/cut",
                "stream/overlong-4/cut",
                "stream/surrogate/cut",
            ],
        )
    },
    Planted {
        stream: || {
            Chunks::boxed(
                |chunks, chunk, out| {
                    let pending = chunks.pending().len();
                    chunks.inner.push(chunk, out);
                    let now = validity(chunks.inner.clone().finish(&mut Vec::new()));
                    let decided = now.malformed().filter(|error| error.len != Some(ErrorLen::Incomplete));
                    if let Some(error) = decided.filter(|_| chunks.error.is_none()) {
                        let is_earlier = pending > 0 && error.valid_up_to < Some(chunks.pushed);
                        let offset = if is_earlier { Some(chunks.pushed) } else { error.valid_up_to };
                        chunks.error = Some(Malformed { valid_up_to: offset, ..*error });
                    }
                },
                |chunks, out| {
                    let validity = chunks.ended(out);
                    chunks.error.take().map_or(validity, Validity::Invalid)
                },
            )
        },
        ..sound(
            "t19",
            "an error found in the next chunk is placed at its start",
            "corefx#37969",
            &["stream/too-*/cut", "stream/overlong-3/cut", "stream/overlong-4/cut", "stream/surrogate/cut"],
        )
    },
    Planted {
        stream: || {
            Chunks::boxed(push, |chunks, out| {
                let validity = chunks.ended(out);
                if let Validity::Invalid(error) = validity {
                    chunks.error.get_or_insert(error);
                }
                chunks.error.map_or(validity, Validity::Invalid)
            })
        },
        ..sound("t25", "after an error, every later stream fails too", "musl 23ab8c2", &["reset/end/*"])
    },
    Planted {
        stream: || {
            Chunks::boxed(push, |chunks, out| match chunks.ended(out) {
                Validity::Invalid(Malformed { len: Some(ErrorLen::Incomplete), .. }) => Validity::Valid,
                validity => validity,
            })
        },
        ..sound(
            "t28",
            "an incomplete sequence at the end of a stream is not an error",
            "coreclr#27191",
            &["stream/incomplete/tail"],
        )
    },
];

// Faults of incomplete sequences at a cut: waiting for bytes that cannot change the verdict, not waiting for bytes that
// can, panicking on the bytes that follow.

static SURROGATES: [Form; 16] = with([form(0xED, 0xED, 3, CONTINUATION)]);
static TOO_LARGE: [Form; 16] = with([form(0xF4, 0xF7, 4, CONTINUATION)]);

/// The contract of a decoder whose stream writes all decided output at once.
const PROMPT: Contract = Contract { detection: Detection::Earliest, ..Contract::STANDARD };

pub(super) static WAITING: &[Planted] = &[
    Planted {
        validate: |bytes| Some(validate(bytes, &SURROGATES)),
        lossy: |bytes, out| lossy(bytes, &SURROGATES, out),
        stream: || Some(Box::new(Chunked::cut_by(&SURROGATES, &SOUND))),
        ..sound(
            "t20",
            "a surrogate cut after its second byte is an error although surrogates are accepted",
            "CPython bpo-24214",
            &["stream/valid-3/cut", "stream/too-short/cut", "stream/incomplete/*"],
        )
        .under(Contract { grammar: &RFC3629_WITH_SURROGATES, ..Contract::STANDARD })
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
            let exact = fault::validate(bytes);
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
            "C0, C1 and F5 to F7 at the end are reported as incomplete",
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
            "it panics on ASCII after a chunk that ends in an incomplete sequence",
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
            "it panics after a chunk that ends in a two-byte character and a stray continuation",
            "node#7308",
            &["panic/continuation/*"],
        )
    },
];
