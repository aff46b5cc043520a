//! Every law is effective: a decoder with one fault is caught by the law about it, under one signature.
#![cfg(feature = "fuzz")]

mod faulty;

use faulty::{Faulty, Leaky, finish, lossy, verdict};
use utfuzz::case::{Case, Cuts};
use utfuzz::codec::Streaming;
use utfuzz::explain::first_divergence;
use utfuzz::generate::structured::Structured;
use utfuzz::judge::{Judge, Law, silence_panics};
use utfuzz::spec::{Contract, Detection, grammar};
use utfuzz::triage::ledger::Ledger;
use utfuzz::triage::session::Session;
use utfuzz::utf8::{ErrorLen, Malformed, Validity};
use utfuzz::{Decoder, Info, Stream, spec};

fn only_valid(bytes: &[u8], valid: bool) -> Option<Validity> {
    Some(if valid && !bytes.is_empty() { Validity::Valid } else { verdict(bytes) })
}

/// The verdict, with its first error replaced by `change`.
fn changed(bytes: &[u8], change: fn(usize, ErrorLen) -> Malformed) -> Option<Validity> {
    Some(match verdict(bytes) {
        Validity::Invalid(Malformed { valid_up_to: Some(offset), len: Some(len), .. }) => change(offset, len).into(),
        other => other,
    })
}

/// The output, with two adjacent replacement characters merged into one.
fn merged(bytes: &[u8]) -> Vec<u8> {
    let text = String::from_utf8_lossy(bytes);
    if bytes.windows(3).any(|window| window == b"\xEF\xBF\xBD") {
        return text.into_owned().into_bytes();
    }
    text.replace("\u{FFFD}\u{FFFD}", "\u{FFFD}").into_bytes()
}

/// The same bytes, after reading the byte after them if they end in a lead byte.
#[allow(unsafe_code, reason = "reading outside the slice is the fault")]
fn reading_beyond(bytes: &[u8]) -> &[u8] {
    if bytes.last().is_some_and(|&last| last >= 0xC0) {
        // SAFETY: deliberately unsound; in the judge's buffers the byte after the input is mapped.
        unsafe { bytes.as_ptr_range().end.read_volatile() };
    }
    bytes
}

/// A stream that writes nothing before `finish`.
#[derive(Default)]
struct Lazy(Vec<u8>);

impl Stream for Lazy {
    fn push(&mut self, chunk: &[u8], _: &mut Vec<u8>) {
        self.0.extend_from_slice(chunk);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        out.extend(lossy(&std::mem::take(&mut self.0)));
        None
    }
}

/// Declares a stream that writes everything already decided on every push.
fn prompt() -> Info {
    let contract = Contract { detection: Detection::Earliest, ..Contract::STANDARD };
    Faulty::default().info.contract(contract)
}

/// A decoder, an input that shows its fault, and the expected signature.
fn faults() -> Vec<(Faulty, &'static [u8], &'static str)> {
    vec![
        (
            Faulty {
                validate: |bytes| {
                    assert!(!bytes.contains(&0x7F));
                    Some(verdict(bytes))
                },
                ..Faulty::default()
            },
            b"a\x7F",
            "panic/faulty/valid-1/anywhere",
        ),
        (
            Faulty { validate: |bytes| Some(verdict(reading_beyond(bytes))), ..Faulty::default() },
            b"a\xE2",
            "bounds/faulty/incomplete/tail",
        ),
        (
            Faulty { lossy: |bytes| Some(lossy(bytes).repeat(bytes.len())), ..Faulty::default() },
            b"a\xFFbcdefgh\xFF",
            "progress/faulty/end/anywhere",
        ),
        (
            Faulty { info: prompt(), stream: || Some(Box::new(Lazy::default())), ..Faulty::default() },
            b"a\xFFa\xFF",
            "detection/faulty/valid-1/cut",
        ),
        (
            Faulty { validate: |bytes| only_valid(bytes, bytes.ends_with(b"\xFF")), ..Faulty::default() },
            b"a\xFF",
            "verdict/faulty/invalid-byte/tail",
        ),
        (
            Faulty {
                validate: |bytes| {
                    only_valid(bytes, bytes.len() >= 64 && bytes.iter().position(|&b| b == 0xFF) == Some(63))
                },
                lossy: |_| None,
                ..Faulty::default()
            },
            &[&[b'a'; 63][..], b"\xFF"].concat().leak()[..],
            "verdict/faulty/invalid-byte/offset",
        ),
        (
            Faulty {
                validate: |bytes| Some(if bytes.contains(&0x7F) { Validity::INVALID } else { verdict(bytes) }),
                ..Faulty::default()
            },
            b"ab\x7Fc",
            "verdict/faulty/valid-1/anywhere",
        ),
        (
            Faulty {
                validate: |bytes| changed(bytes, |offset, len| Malformed::at(offset + 1, len)),
                ..Faulty::default()
            },
            b"a\x80",
            "valid-up-to/faulty/continuation/anywhere",
        ),
        (
            Faulty {
                validate: |bytes| changed(bytes, |offset, _| Malformed::at(offset, ErrorLen::Bytes(1))),
                ..Faulty::default()
            },
            b"a\xE2\x82b",
            "error-length/faulty/too-short/anywhere",
        ),
        (
            Faulty {
                validate: |bytes| {
                    changed(bytes, |offset, len| {
                        Malformed::at(offset, if len == ErrorLen::Incomplete { ErrorLen::Bytes(1) } else { len })
                    })
                },
                ..Faulty::default()
            },
            b"a\xE2\x82",
            "error-length/faulty/incomplete/tail",
        ),
        (
            Faulty { lossy: |bytes| Some(merged(bytes)), ..Faulty::default() },
            b"a\x80\x80b",
            "lossy/faulty/continuation/anywhere",
        ),
        (
            Faulty {
                lossy: |bytes| Some(String::from_utf8_lossy(bytes).replace('\u{FEFF}', "").into_bytes()),
                ..Faulty::default()
            },
            b"\xFFa\xEF\xBB\xBFb",
            "identity/faulty/valid-3/anywhere",
        ),
        (
            Faulty {
                lossy: |bytes| Some(if bytes == b"\xF0\x9F" { b"\xF0".to_vec() } else { lossy(bytes) }),
                ..Faulty::default()
            },
            b"\xF0\x9F",
            "well-formed-output/faulty/incomplete/offset",
        ),
        (
            Faulty {
                stream: || {
                    Some(Box::new(Leaky {
                        inner: Streaming::new(),
                        push: |stream, chunk, out| {
                            if chunk.is_empty() { *stream = Streaming::new() } else { stream.push(chunk, out) }
                        },
                        finish,
                    }))
                },
                ..Faulty::default()
            },
            b"a\xE2\x82\xAC",
            "stream/faulty/valid-3/cut",
        ),
        (
            Faulty {
                stream: || {
                    Some(Box::new(Leaky {
                        inner: Streaming::new(),
                        push: |stream, chunk, out| stream.push(chunk, out),
                        finish: |stream, out| finish(&mut stream.clone(), out),
                    }))
                },
                ..Faulty::default()
            },
            b"a\xE2",
            "reset/faulty/end/cut",
        ),
    ]
}

#[test]
fn each_fault_has_the_signature_that_names_it() {
    let mut wrong = Vec::new();
    silence_panics();
    for (decoder, witness, signature) in faults() {
        let cuts = [vec![1, 2, 2], (0..=witness.len()).collect(), vec![]];
        let divergences: Vec<String> = cuts
            .into_iter()
            .filter_map(|cuts| first_divergence(&decoder, &Case::with_cuts(witness, Cuts::new(cuts, witness.len()))))
            .map(|divergence| divergence.signature.to_string())
            .collect();
        if !divergences.iter().any(|found| found == signature) {
            wrong.push(format!("{signature}: found {divergences:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A decoder without a replacement: it decodes CESU-8 to text, or refuses.
#[test]
fn text_without_a_replacement_is_judged() {
    const STRICT: Contract = Contract { grammar: &grammar::CESU8, ..Contract::VALIDATOR };
    fn text(bytes: &[u8]) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        spec::lossy(&STRICT, bytes, &mut out).map(|()| out)
    }
    fn other_character(bytes: &[u8]) -> Option<Vec<u8>> {
        Some(String::from_utf8_lossy(&text(bytes)?).replace('\u{10401}', "\u{10400}").into_bytes())
    }
    fn never_refuses(bytes: &[u8]) -> Option<Vec<u8>> {
        Some(text(bytes).unwrap_or_default())
    }
    let signature = |lossy, bytes| {
        let info = Faulty::default().info.contract(STRICT);
        let decoder = Faulty { info, validate: |_| None, lossy, stream: || None };
        let case = Case::with_cuts(bytes, Cuts::NONE);
        first_divergence(&decoder, &case).map(|divergence| divergence.signature.to_string())
    };
    let (pair, half) = (b"a\xED\xA0\x81\xED\xB0\x81a", b"a\xED\xA0\x81a");
    assert_eq!((signature(text, pair), signature(text, half)), (None, None));
    assert_eq!(signature(other_character, pair).as_deref(), Some("lossy/faulty/valid-6/anywhere"));
    assert_eq!(signature(never_refuses, half).as_deref(), Some("verdict/faulty/surrogate/anywhere"));
}

#[test]
fn a_sound_decoder_keeps_every_law() {
    let sound = Faulty {
        stream: || Some(Box::new(Leaky { inner: Streaming::new(), push: |s, chunk, out| s.push(chunk, out), finish })),
        ..Faulty::default()
    };
    let mut judge = Judge::new([&sound as &dyn Decoder]);
    for seed in 0..5000 {
        let Structured(bytes) = Structured::seeded(seed);
        assert_eq!(judge.judge(&Case::new(&bytes)), [], "{bytes:02X?}");
    }
    assert!(judge.statistics().total_comparisons() > 30_000);
}

/// A fault that depends only on the address of the bytes: any input shows it if it is judged often enough.
#[test]
fn a_verdict_that_depends_on_the_address_is_found() {
    let validate =
        |bytes: &[u8]| Some(if bytes.as_ptr() as usize % 16 == 5 { Validity::INVALID } else { verdict(bytes) });
    let faulty = Faulty { validate, ..Faulty::default() };
    let mut judge = Judge::new([&faulty as &dyn Decoder]);
    let laws = (0..500).filter_map(|index| {
        let bytes = vec![b'a'; 16 + index];
        Some(judge.judge(&Case::new(&bytes)).first()?.law)
    });
    let laws: Vec<Law> = laws.collect();
    assert!(laws.len() > 10 && laws.iter().all(|law| *law == Law::Placement), "{laws:?}");
}

/// Remembers after `finish` that a stream contained FE, and fails on the next stream that does not.
#[derive(Default)]
struct Grudge {
    inner: Streaming,
    seen: bool,
    remembered: bool,
}

impl Stream for Grudge {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        self.seen |= chunk.contains(&0xFE);
        self.inner.push(chunk, out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        finish(&mut self.inner, out);
        if self.remembered && !self.seen {
            out.push(b'!');
        }
        self.remembered = std::mem::take(&mut self.seen);
        None
    }
}

/// A fault that depends on the previous input is reported, although no input shows it alone.
#[test]
fn a_stream_that_keeps_state_after_its_end_is_reported() {
    let faulty = Faulty { stream: || Some(Box::new(Grudge::default())), ..Faulty::default() };
    let ledger = Ledger::default();
    let mut session = Session::new([&faulty as &dyn Decoder], &ledger);
    let shown = session.judge_novelty(&Case::new(b"a\xFE"), |_| {}).shown;
    assert_eq!(shown[0].signature().unwrap().to_string(), "reset/faulty/end/cut");
}
