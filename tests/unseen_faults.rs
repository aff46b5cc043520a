//! Faults unlike those of the planted decoders are found as well: counters that wrap around, memory, streams that
//! affect each other, and buffers whose previous contents are read. An earlier judge missed each of them.
#![cfg(feature = "fuzz")]

mod faulty;

use faulty::{Faulty, Leaky, finish, lossy, verdict};
use std::cell::{Cell, RefCell};
use utfuzz::case::Case;
use utfuzz::codec::Streaming;
use utfuzz::generate::structured::Structured;
use utfuzz::judge::{Judge, Law, silence_panics};
use utfuzz::utf8::{ErrorLen, Malformed, REPLACEMENT, Validity};
use utfuzz::{Decoder, Stream};

/// The first law that the decoder breaks, on each of the first three of `inputs` structured inputs that show a fault.
fn broken(decoder: &Faulty, inputs: u64) -> Vec<Law> {
    let mut judge = Judge::new([decoder as &dyn Decoder]);
    let laws = (0..inputs).filter_map(|seed| Some(judge.judge(&Case::new(&Structured::seeded(seed).0)).first()?.law));
    laws.take(3).collect()
}

fn leaky(
    push: fn(&mut Streaming, &[u8], &mut Vec<u8>),
    finish: fn(&mut Streaming, &mut Vec<u8>),
) -> Option<Box<dyn Stream>> {
    Some(Box::new(Leaky { inner: Streaming::new(), push, finish }))
}

thread_local! {
    static SHARED: RefCell<Streaming> = RefCell::default();
    static LAST: Cell<(usize, usize, Option<Validity>)> = const { Cell::new((0, 0, None)) };
}

/// A stream that counts its chunks.
#[derive(Default)]
struct Counting {
    inner: Streaming,
    chunks: usize,
    last: Vec<u8>,
    finish: Option<fn(&Counting)>,
}

impl Stream for Counting {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        self.chunks += 1;
        self.last = chunk.to_vec();
        // Pending bytes are lost from the 65th chunk on.
        if self.chunks > 64 {
            let _ = self.inner.finish(&mut Vec::new());
        }
        self.inner.push(chunk, out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        self.finish.inspect(|check| check(self));
        let _ = self.inner.finish(out);
        self.chunks = 0;
        None
    }
}

fn unseen_faults() -> Vec<(&'static str, Faulty, &'static [Law])> {
    let sound = Faulty::default;
    vec![
        (
            "offsets are 16 bits wide",
            Faulty {
                validate: |bytes| {
                    Some(match verdict(bytes) {
                        Validity::Invalid(Malformed { valid_up_to: Some(offset), len: Some(len), .. }) => {
                            Malformed::at(offset & 0xFFFF, len).into()
                        }
                        valid => valid,
                    })
                },
                ..sound()
            },
            &[Law::Prefix, Law::Spans, Law::ValidUpTo],
        ),
        (
            "the 256th replacement is lost",
            Faulty {
                lossy: |bytes| {
                    let text = lossy(bytes);
                    let found = text.windows(3).enumerate().filter(|(_, window)| *window == REPLACEMENT).nth(255);
                    let Some((at, _)) = found else { return Some(text) };
                    Some([&text[..at], &text[at + 3..]].concat())
                },
                ..sound()
            },
            &[Law::Lossy, Law::Identity],
        ),
        (
            "a verdict is remembered by address and length",
            Faulty {
                validate: |bytes| {
                    let (address, len, verdict_then) = LAST.get();
                    if (address, len) == (bytes.as_ptr() as usize, bytes.len()) && len > 8 {
                        return verdict_then;
                    }
                    LAST.set((bytes.as_ptr() as usize, bytes.len(), Some(verdict(bytes))));
                    Some(verdict(bytes))
                },
                ..sound()
            },
            &[Law::Placement, Law::Repeat, Law::Verdict],
        ),
        (
            "streams that exist at the same time share their pending bytes",
            Faulty {
                stream: || {
                    leaky(
                        |_, chunk, out| SHARED.with_borrow_mut(|shared| shared.push(chunk, out)),
                        |_, out| {
                            let _ = SHARED.with_borrow_mut(|shared| shared.finish(out));
                        },
                    )
                },
                ..sound()
            },
            &[Law::Stream],
        ),
        (
            "`finish` panics on a stream that was given nothing",
            Faulty {
                stream: || {
                    let finish: Option<fn(&Counting)> = Some(|stream| assert!(stream.chunks > 0));
                    Some(Box::new(Counting { finish, ..Counting::default() }))
                },
                ..sound()
            },
            &[Law::Panic],
        ),
        (
            "pending bytes are lost from the 65th chunk on",
            Faulty { stream: || Some(Box::new(Counting::default())), ..sound() },
            &[Law::Stream],
        ),
        (
            "a push clears the output",
            Faulty {
                stream: || {
                    leaky(
                        |stream, chunk, out| {
                            if !out.ends_with(b"a") && !chunk.is_empty() {
                                out.retain(|_| false);
                            }
                            stream.push(chunk, out);
                        },
                        finish,
                    )
                },
                ..sound()
            },
            &[Law::Stream, Law::Placement],
        ),
        (
            "`finish` repairs all of the output",
            Faulty {
                stream: || {
                    leaky(
                        |stream, chunk, out| stream.push(chunk, out),
                        |stream, out| {
                            finish(stream, out);
                            *out = lossy(out);
                        },
                    )
                },
                ..sound()
            },
            &[Law::Placement],
        ),
        (
            "an error of one byte is reported as two if it is the 256th byte",
            Faulty {
                validate: |bytes| {
                    Some(match verdict(bytes) {
                        Validity::Invalid(Malformed {
                            valid_up_to: Some(255), len: Some(ErrorLen::Bytes(1)), ..
                        }) => Malformed::at(255, ErrorLen::Bytes(2)).into(),
                        other => other,
                    })
                },
                ..sound()
            },
            &[Law::ErrorLength, Law::Prefix, Law::Spans],
        ),
    ]
}

#[test]
fn every_unseen_fault_is_found() {
    silence_panics();
    let mut missed = Vec::new();
    for (fault, decoder, laws) in unseen_faults() {
        let found = broken(&decoder, 40_000);
        if found.is_empty() || found.iter().any(|law| !laws.contains(law)) {
            missed.push(format!("{fault}: {found:?}, not {laws:?}"));
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

#[test]
fn a_sound_decoder_breaks_no_law() {
    let sound = Faulty { stream: || leaky(|stream, chunk, out| stream.push(chunk, out), finish), ..Faulty::default() };
    assert_eq!(broken(&sound, 20_000), []);
}
