//! Every law is effective: a decoder with one fault is caught by the law about it, under one signature.
#![cfg(feature = "fuzz")]

mod faulty;

use faulty::{Faulty, Honest, Leaky, finish, lossy, verdict};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use utfuzz::case::{Case, Cuts};
use utfuzz::codec::Streaming;
use utfuzz::explain::first_divergence;
use utfuzz::generate::fragments::opening;
use utfuzz::generate::structured::Structured;
use utfuzz::judge::{Broken, Judge, Law, Questions, Subject, silence_panics};
use utfuzz::spec::{Contract, Detection, grammar};
use utfuzz::triage::ledger::Ledger;
use utfuzz::triage::session::Session;
use utfuzz::utf8::{ErrorLen, Kind, Malformed, Validity};
use utfuzz::{Decoder, Info, Promise, Stream, spec};

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

/// A decoder that answers only whether the input is well-formed, and where the first error is.
fn validator(validate: fn(&[u8]) -> Option<Validity>) -> Faulty {
    Faulty { validate, lossy: |_| None, ..Faulty::default() }
}

/// The verdict; well-formed input is refused, without an offset, if it is `wrong`.
fn refused(bytes: &[u8], wrong: bool) -> Option<Validity> {
    Some(if wrong { Validity::INVALID } else { verdict(bytes) })
}

fn has(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

fn count(bytes: &[u8], byte: u8) -> usize {
    bytes.iter().filter(|&&other| other == byte).count()
}

fn end_of_first_invalid(bytes: &[u8]) -> usize {
    bytes.iter().position(|&byte| byte == 0xFF).map_or(0, |at| at + 1)
}

/// The signature of the divergence on these bytes with these cuts, and the input that is shown for it.
fn shown(decoder: &Faulty, bytes: &[u8], cuts: Cuts) -> (String, Vec<u8>) {
    let divergence = first_divergence(decoder, &Case::with_cuts(bytes, cuts)).expect("a law is broken");
    (divergence.signature.to_string(), divergence.bytes)
}

fn signature_of(decoder: &Faulty, bytes: &[u8]) -> String {
    shown(decoder, bytes, Cuts::NONE).0
}

fn judged(decoder: &dyn Decoder, bytes: &[u8], cuts: Cuts) -> Vec<Broken> {
    Judge::new([decoder]).judge(&Case::with_cuts(bytes, cuts)).to_vec()
}

#[test]
fn a_fault_at_some_offsets_or_sizes_has_the_shape_that_says_so() {
    let one = |before: usize, after: usize| [&vec![b'a'; before][..], b"\xFF", &vec![b'a'; after]].concat();
    type IsWrong = fn(&[u8]) -> bool;
    let rows: [(IsWrong, Vec<u8>, &str); 4] = [
        // At the end of a block, if the input is neither short nor of medium size: what was found at offset 703 shows
        // at offset 127 too, but in no input in which offset 703 is the last but 64.
        (
            |bytes| end_of_first_invalid(bytes).is_multiple_of(64) && matches!(bytes.len(), 150..700 | 900..),
            one(703, 296),
            "edge64",
        ),
        // The period is that of the first offsets, even if there are none later.
        (|bytes| end_of_first_invalid(bytes).is_multiple_of(16) && bytes.len() < 300, one(15, 40), "edge16"),
        (|bytes| bytes.len() > 4096, one(5000, 3), "size"),
        (|bytes| end_of_first_invalid(bytes) == 11, one(10, 3), "offset"),
    ];
    for (is_wrong, bytes, shape) in rows {
        let is_wrong = move |bytes: &[u8]| bytes.contains(&0xFF) && is_wrong(bytes);
        let decoder = Wrong { info: Faulty::default().info, is_wrong, asked: AtomicUsize::new(0) };
        let signature = first_divergence(&decoder, &Case::with_cuts(&bytes, Cuts::NONE)).unwrap().signature;
        assert_eq!(signature.to_string(), format!("verdict/faulty/invalid-byte/{shape}"));
    }
}

/// Accepts what is `is_wrong`, and counts its verdicts.
struct Wrong<F> {
    info: Info,
    is_wrong: F,
    asked: AtomicUsize,
}

impl<F: Fn(&[u8]) -> bool + Send + Sync> Decoder for Wrong<F> {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        self.asked.fetch_add(1, Relaxed);
        Some(if (self.is_wrong)(bytes) { Validity::Valid } else { verdict(bytes) })
    }
}

/// A panic on the other one of two threads is one of the decoder, and nothing waits for that thread's answer.
#[test]
fn a_panic_on_another_thread_is_reported() {
    silence_panics();
    let home = std::thread::current().id();
    let is_wrong = move |_: &[u8]| {
        assert!(std::thread::current().id() == home, "not here");
        false
    };
    let decoder = Wrong { info: Faulty::default().info, is_wrong, asked: AtomicUsize::new(0) };
    let mut judge = Judge::new([&decoder as &dyn Decoder]);
    let laws =
        opening().flat_map(|input| judge.judge(&input.case()).iter().map(|broken| broken.law).collect::<Vec<_>>());
    assert_eq!(laws.collect::<Vec<_>>(), [Law::Panic]);
}

/// Offsets after the first 192 cost several times as many questions, and are not tried if the first ones tell all.
#[test]
fn a_fault_near_the_start_is_explained_with_few_questions() {
    let is_wrong = |bytes: &[u8]| end_of_first_invalid(bytes) == 11;
    let decoder = Wrong { info: Faulty::default().info, is_wrong, asked: AtomicUsize::new(0) };
    let case = Case::with_cuts(b"aaaaaaaaaa\xFFaaa", Cuts::NONE);
    first_divergence(&decoder, &case).unwrap();
    let asked = decoder.asked.into_inner();
    assert!(asked < 1500, "{asked}");
}

#[test]
fn a_fault_that_needs_a_hundred_errors_has_the_shape_size() {
    let many = |bytes: &[u8]| only_valid(bytes, count(bytes, 0xFF) >= 100);
    let input = b"\xFFb".repeat(150);
    assert_eq!(signature_of(&validator(many), &input), "verdict/faulty/invalid-byte/size");
    // Fewer are not repeated.
    let some = |bytes: &[u8]| only_valid(bytes, count(bytes, 0xFF) >= 50);
    assert_eq!(signature_of(&validator(some), &b"\xFFb".repeat(60)), "verdict/faulty/invalid-byte/context");
    // The law is the one that the repeated error breaks, if that is stronger than the one that the input breaks.
    let lossy = |bytes: &[u8]| {
        let errors = count(bytes, 0xFF) + count(bytes, 0x80);
        Some(if errors >= 100 { b"?".to_vec() } else { lossy(bytes) })
    };
    let decoder = Faulty { validate: many, lossy, ..Faulty::default() };
    assert_eq!(signature_of(&decoder, &b"\xFFb\x80b".repeat(60)), "verdict/faulty/invalid-byte/size");
    // If it is weaker, the repeated error is not the cause.
    let validate = |bytes: &[u8]| only_valid(bytes, count(bytes, 0xFF) >= 100 && bytes.contains(&0x7F));
    let decoder = Faulty { validate, lossy, ..Faulty::default() };
    let input = [&b"\xFFb".repeat(100)[..], b"\x7F"].concat();
    assert_eq!(signature_of(&decoder, &input), "verdict/faulty/invalid-byte/context");
}

/// As many copies of the long run would be more than a megabyte.
#[test]
fn a_long_error_is_not_repeated() {
    fn lossy(bytes: &[u8]) -> Option<Vec<u8>> {
        let contract: Contract = "rfc3629 run".parse().unwrap();
        let mut out = Vec::new();
        spec::lossy(&contract, bytes, &mut out)?;
        let errors = out.windows(3).filter(|window| *window == b"\xEF\xBF\xBD").count();
        Some(if errors >= 100 { b"?".to_vec() } else { out })
    }
    let info = Faulty::default().info.contract("rfc3629 run".parse().unwrap());
    let decoder = Faulty { info, validate: |_| None, lossy, ..Faulty::default() };
    let run = |len: usize| [&vec![0xFF; len][..], b"a", &b"\xFFa".repeat(99)].concat();
    assert_eq!(signature_of(&decoder, &run(20)), "lossy/faulty/invalid-byte/size");
    assert_eq!(signature_of(&decoder, &run(20_000)), "lossy/faulty/invalid-byte/context");
}

/// The signature and the input that is shown are those of the part of the input that breaks a stronger law.
#[test]
fn a_fault_on_a_part_of_the_input_is_explained_there() {
    silence_panics();
    // After `x1` the overlong form is missed.
    let missed = validator(|bytes| {
        let Some(rest) = bytes.strip_prefix(b"x1\xC0\x80") else { return Some(verdict(bytes)) };
        Some(match verdict(rest) {
            Validity::Invalid(Malformed { valid_up_to: Some(offset), len: Some(len), .. }) => {
                Malformed::at(offset + 4, len).into()
            }
            other => other,
        })
    });
    // The first error is reported too late; the second one is not reported; half the input is accepted.
    let signature = "verdict/faulty/overlong-2/context".to_owned();
    let part = (signature, b"x1\xC0\x80b".to_vec());
    assert_eq!(shown(&missed, b"x1\xC0\x80b\xFF", Cuts::NONE), part);
    assert_eq!(shown(&missed, b"\xFFx1\xC0\x80b", Cuts::NONE), part);
    let alone = validator(|bytes| only_valid(bytes, bytes == b"\xE2"));
    let half = ("verdict/faulty/incomplete/offset".to_owned(), b"\xE2".to_vec());
    assert_eq!(shown(&alone, b"a\xE2", Cuts::new([1], 2)), half);
    // It panics only on the input after a prefix.
    let panics = validator(|bytes| {
        assert!(!bytes.iter().skip(1).any(|&byte| byte == 0x7F));
        Some(verdict(bytes))
    });
    let prefixed = [&vec![b'a'; Case::new(b"\x7F").prefix()][..], b"\x7F"].concat();
    assert_eq!(shown(&panics, b"\x7F", Cuts::NONE), ("panic/faulty/valid-1/offset".to_owned(), prefixed));
}

#[test]
fn the_subject_is_what_the_decoder_gets_wrong_and_not_what_is_beside_it() {
    silence_panics();
    // Together with both neighbours.
    let between = validator(|bytes| refused(bytes, has(bytes, "x\u{E9}y".as_bytes())));
    assert_eq!(signature_of(&between, "bbx\u{E9}y".as_bytes()), "verdict/faulty/valid-2/context");
    // An error of any kind between quotation marks.
    let quoted = validator(|bytes| only_valid(bytes, has(bytes, b"\"\xFF\"")));
    assert_eq!(signature_of(&quoted, b"ab\"\xFF\"c"), "verdict/faulty/invalid-byte/context");
    // Together with the next byte; the neighbour before it would prevent it after an `a`.
    let before = validator(|bytes| only_valid(bytes, has(bytes, b"\xFFb") && !has(bytes, b"az\xFFb")));
    assert_eq!(signature_of(&before, b"yz\xFFb"), "verdict/faulty/invalid-byte/anywhere");
    // The end of the shortest part of the input that is refused; longer parts are not, and then they are again.
    let waits = validator(|bytes| {
        let after = bytes.iter().rev().position(|&byte| byte == 0x7F);
        refused(bytes, after.is_some_and(|after| after == 0 || after > 30))
    });
    let input = [&b"\x7F"[..], &[b'b'; 40]].concat();
    assert_eq!(signature_of(&waits, &input), "verdict/faulty/valid-1/anywhere");
    // A panic that depends on two places, and on no cut.
    let apart = validator(|bytes| {
        assert!(!(bytes.contains(&b'x') && bytes.contains(&0x7F)));
        Some(verdict(bytes))
    });
    let cuts = Cuts::new([3], 10);
    assert_eq!(shown(&apart, b"xbbbbbbbb\x7F", cuts).0, "panic/faulty/valid-1/context");
}

/// A stream with a verdict of its own.
struct Judging {
    inner: Streaming,
    read: Vec<u8>,
    verdict: fn(&[u8]) -> Validity,
}

impl Judging {
    fn boxed(verdict: fn(&[u8]) -> Validity) -> Option<Box<dyn Stream>> {
        Some(Box::new(Self { inner: Streaming::new(), read: Vec::new(), verdict }))
    }
}

impl Stream for Judging {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        self.read.extend_from_slice(chunk);
        self.inner.push(chunk, out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        finish(&mut self.inner, out);
        Some((self.verdict)(&std::mem::take(&mut self.read)))
    }
}

/// Parts of the input are tried only for a law about one answer for the whole input.
#[test]
fn a_stream_that_refuses_without_an_offset_has_no_subject() {
    let stream = || Judging::boxed(|bytes| refused(bytes, bytes.contains(&0x7F)).unwrap());
    let decoder = Faulty { stream, ..Faulty::default() };
    assert_eq!(signature_of(&decoder, b"ab\x7Fcd"), "stream/faulty/unplaced/context");
}

/// What a stream has seen of its chunks since the last end.
#[derive(Clone, Copy, Default)]
struct Seen {
    chunks: usize,
    is_empty: bool,
    is_cut: bool,
}

/// A stream that writes more, before a chunk or at the end, depending on how the input was cut.
#[derive(Default)]
struct Chunked {
    inner: Streaming,
    seen: Seen,
    before: Option<fn(Seen) -> bool>,
    at_end: Option<fn(Seen) -> bool>,
}

impl Stream for Chunked {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        self.seen.chunks += 1;
        self.seen.is_empty |= chunk.is_empty();
        if self.before.is_some_and(|is_wrong| is_wrong(self.seen)) {
            out.push(b'!');
        }
        self.seen.is_cut |= chunk.last().is_some_and(|&last| last >= 0xC0);
        self.inner.push(chunk, out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        finish(&mut self.inner, out);
        let seen = std::mem::take(&mut self.seen);
        if self.at_end.is_some_and(|is_wrong| is_wrong(seen)) {
            out.push(b'!');
        }
        None
    }
}

/// Of an input that is cut at regular distances, only these cuts are tried, in order, and more than one only if none alone
/// breaks the law.
#[test]
fn the_cut_that_matters_is_found_among_regular_ones() {
    let sequence = Faulty {
        stream: || Some(Box::new(Chunked { at_end: Some(|seen| seen.is_cut), ..Chunked::default() })),
        ..Faulty::default()
    };
    let regular = |decoder, text: &str, step| shown(decoder, text.as_bytes(), Cuts::every(step, text.len())).0;
    assert_eq!(regular(&sequence, "\u{E9}\u{20AC}b", 3), "stream/faulty/valid-3/cut");
    assert_eq!(regular(&sequence, "aa\u{E9}aa\u{20AC}a", 3), "stream/faulty/valid-2/cut");
    let third = Faulty {
        stream: || {
            let before: fn(Seen) -> bool = |seen| seen.chunks > 2 || seen.is_empty;
            Some(Box::new(Chunked { before: Some(before), ..Chunked::default() }))
        },
        ..Faulty::default()
    };
    assert_eq!(regular(&third, "ab\u{E9}cd", 2), "stream/faulty/valid-2/cut");
}

/// Each cut that is tried costs as much as the whole input, so only the first are tried, and those near the end of the shortest
/// prefix that breaks the law.
#[test]
fn the_cut_that_matters_is_found_among_many() {
    let decoder = Faulty {
        stream: || Some(Box::new(Chunked { at_end: Some(|seen| seen.is_cut), ..Chunked::default() })),
        ..Faulty::default()
    };
    for cut in [1, 9, 10, 11, 99, 523] {
        let mut text = vec![b'a'; 1 << 19];
        text[1000 * cut - 1..=1000 * cut].copy_from_slice("\u{E9}".as_bytes());
        let signature = shown(&decoder, &text, Cuts::every(1000, text.len())).0;
        assert_eq!(signature, "stream/faulty/valid-2/cut", "{cut}");
    }
    for stray in [0, 1000, 1023, 1024, 1025, 3000] {
        let bytes = [&vec![b'a'; stray][..], "\u{20AC}".as_bytes()].concat();
        let signature = shown(&decoder, &bytes, Cuts::every(1, bytes.len())).0;
        assert_eq!(signature, "stream/faulty/valid-3/cut", "{stray}");
    }
    // On each side of that end, no more are tried than at the beginning: in this text nine, just enough to find the cut in a sequence.
    let text = ["a".repeat(1100), "\u{E9}".to_owned(), "a".repeat(515_000)].concat();
    let irregular = Cuts::new((1..=32).map(|index| 100 * index + index % 2), text.len());
    for cuts in [Cuts::every(1, text.len()), irregular] {
        assert_eq!(shown(&decoder, text.as_bytes(), cuts).0, "stream/faulty/valid-2/cut", "{cuts:?}");
    }
}

fn of_nothing(mut decoder: Faulty) -> Faulty {
    decoder.info.promise = Promise::Nothing;
    decoder
}

/// The first law that a decoder breaks that promises nothing.
fn inconsistent(decoder: Faulty, bytes: &[u8], cut: usize) -> Option<Law> {
    let decoder = of_nothing(decoder);
    judged(&decoder, bytes, Cuts::new([cut], bytes.len())).first().map(|broken| broken.law)
}

/// The verdict, and in another decoder the output, is another one at certain addresses.
#[test]
fn a_decoder_that_promises_nothing_gives_the_same_answers_at_every_address() {
    let verdicts = validator(|bytes| refused(bytes, bytes.as_ptr() as usize % 64 == 1));
    let outputs = Faulty {
        validate: |_| None,
        lossy: |bytes| Some(if bytes.as_ptr() as usize % 64 == 1 { b"?".to_vec() } else { lossy(bytes) }),
        ..Faulty::default()
    };
    let buffer = [b'a'; 128];
    let even = &buffer[buffer.as_ptr().align_offset(64)..][..3];
    for decoder in [verdicts, outputs].map(of_nothing) {
        let mut judge = Judge::new([&decoder as &dyn Decoder]);
        let mut laws = |alignment| -> Vec<Law> {
            judge.judge(&Case::placed(even, alignment, false)).iter().map(|broken| broken.law).collect()
        };
        assert_eq!((laws(0), laws(1)), (vec![], vec![Law::Placement]));
    }
}

#[test]
fn what_precedes_does_not_change_the_output_of_a_decoder_that_promises_nothing() {
    // As long as expected, but other text.
    let upper = |bytes: &[u8]| {
        let text = lossy(bytes);
        Some(if bytes.len() > 3 { text.to_ascii_uppercase() } else { text })
    };
    let case = Case::with_cuts(b"bcd", Cuts::NONE);
    assert!(case.prefix() > 0);
    let decoder = of_nothing(Faulty { validate: |_| None, lossy: upper, ..Faulty::default() });
    let broken = Judge::new([&decoder as &dyn Decoder]).judge(&case).to_vec();
    assert_eq!(broken.iter().map(|broken| broken.law).collect::<Vec<_>>(), [Law::Prefix]);
}

/// The grammar says only where the error is expected; no answer is compared with it.
#[test]
fn two_strings_that_a_decoder_accepts_make_one_that_it_accepts() {
    const MARKED: &[u8] = b"\xFE\xFFab";
    const PAIR: &[u8] = b"\xED\xA0\x80\xED\xB0\x80";
    let whole: fn(&[u8]) -> Option<Validity> = |bytes| refused(b"", bytes.ends_with(b"ab\xFFcd"));
    assert_eq!(inconsistent(validator(whole), b"ab\xFFcd", 2), Some(Law::Concatenation));
    // One half is refused as well.
    let ends: fn(&[u8]) -> Option<Validity> = |bytes| refused(b"", bytes.ends_with(b"cd"));
    assert_eq!(inconsistent(validator(ends), b"ab\xFFcd", 2), None);
    let starts: fn(&[u8]) -> Option<Validity> = |bytes| refused(b"", has(bytes, b"ab"));
    assert_eq!(inconsistent(validator(starts), b"ab\xFFcd", 2), None);
    // A byte order mark at the start of either half may mean something there.
    let marked: fn(&[u8]) -> Option<Validity> = |bytes| refused(b"", bytes.ends_with(MARKED));
    assert_eq!(inconsistent(validator(marked), MARKED, 2), None);
    let later: fn(&[u8]) -> Option<Validity> = |bytes| refused(b"", bytes.ends_with(b"ab\xFE\xFFcd"));
    assert_eq!(inconsistent(validator(later), b"ab\xFE\xFFcd", 2), None);
    // In WTF-8 the halves of a pair must not follow each other.
    let pair: fn(&[u8]) -> Option<Validity> = |bytes| refused(b"", bytes.ends_with(PAIR));
    let mut decoder = validator(pair);
    assert_eq!(inconsistent(validator(pair), PAIR, 3), Some(Law::Concatenation));
    decoder.info = decoder.info.contract(Contract { grammar: &grammar::WTF8, ..Contract::STANDARD });
    assert_eq!(inconsistent(decoder, PAIR, 3), None);
}

#[test]
fn in_wtf_8_two_well_formed_strings_may_make_an_ill_formed_one() {
    let honest = Honest::new(Contract { grammar: &grammar::WTF8, ..Contract::STANDARD });
    let pair = b"\xED\xA0\x80\xED\xB0\x80";
    assert_eq!(judged(&honest, pair, Cuts::new([3], pair.len())), []);
    assert!(!spec::validity(&honest.0.contract, pair).is_valid());
}

/// Whether the law is broken or not, the outputs were compared.
#[test]
fn each_comparison_of_a_decoder_that_promises_nothing_is_counted() {
    type NewStream = fn() -> Option<Box<dyn Stream>>;
    let streams: [NewStream; 2] = [
        || Some(Box::new(Chunked::default())),
        || Some(Box::new(Chunked { at_end: Some(|_| true), ..Chunked::default() })),
    ];
    for (broken, stream) in streams.into_iter().enumerate() {
        let decoder = of_nothing(Faulty { validate: |_| None, stream, ..Faulty::default() });
        let mut judge = Judge::new([&decoder as &dyn Decoder]);
        let found = judge.judge_on(&Case::with_cuts(b"abc", Cuts::NONE), Questions::BYTES).len();
        assert_eq!((found, judge.statistics().total_comparisons()), (broken, 1));
    }
}

/// The verdict is wrong only the first time, so the law about state is broken, even if the output is wrong every time.
#[test]
fn a_verdict_that_changes_breaks_the_law_about_state_whatever_else_is_wrong() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    let validate = |bytes: &[u8]| only_valid(bytes, bytes == b"a\xFF" && ASKED.fetch_add(1, Relaxed) == 0);
    let decoder = Faulty { validate, lossy: |_| Some(b"?".to_vec()), ..Faulty::default() };
    let broken = judged(&decoder, b"a\xFF", Cuts::NONE);
    assert_eq!(broken.iter().map(|broken| broken.law).collect::<Vec<_>>(), [Law::Repeat]);
}

#[test]
fn a_wrong_output_is_wrong_at_the_bytes_that_were_decoded_wrongly() {
    let place = |lossy, bytes: &[u8]| {
        let decoder = Faulty { validate: |_| None, lossy, ..Faulty::default() };
        let broken = judged(&decoder, bytes, Cuts::NONE);
        (broken[0].law, broken[0].offset, broken[0].subject)
    };
    // A byte order mark that is kept rightly, and then nothing.
    let first_three = |bytes: &[u8]| Some(lossy(&bytes[..bytes.len().min(3)]));
    assert_eq!(place(first_three, b"\xEF\xBB\xBFa"), (Law::Lossy, Some(3), Subject::WellFormed(1)));
    // The character after an error is left out.
    let without_b = |bytes: &[u8]| Some(lossy(bytes).into_iter().filter(|&byte| byte != b'b').collect());
    assert_eq!(place(without_b, b"a\xFFbc"), (Law::Lossy, Some(2), Subject::WellFormed(1)));
    // The replacement of the error is wrong.
    let twice =
        |bytes: &[u8]| Some(String::from_utf8_lossy(bytes).replace('\u{FFFD}', "\u{FFFD}\u{FFFD}").into_bytes());
    assert_eq!(place(twice, b"a\xFFbc"), (Law::Lossy, Some(1), Subject::Fault(Kind::InvalidByte)));
}

/// Sixteen bytes at once may be passed over only if all of them are ASCII.
#[test]
fn a_run_of_one_byte_is_judged_like_the_byte() {
    for contract in ["rfc3629", "modified-utf-8", "cesu-8 byte", "wtf-8 run"] {
        let honest = Honest::new(contract.parse().unwrap());
        for byte in 0..=u8::MAX {
            assert_eq!(judged(&honest, &[byte; 40], Cuts::NONE), [], "{contract}: {byte:02X}");
        }
    }
}

/// A stream that holds back only what more bytes could complete, in a contract that writes each byte of a run of ill-formed
/// bytes.
#[derive(Default)]
struct Held {
    read: Vec<u8>,
    written: usize,
}

impl Held {
    fn contract() -> Contract {
        "rfc3629 run latin-1 detected-at-once".parse().unwrap()
    }

    fn write(&mut self, end: usize, out: &mut Vec<u8>) {
        let mut all = Vec::new();
        let _ = spec::lossy(&Self::contract(), &self.read[..end], &mut all);
        out.extend_from_slice(&all[self.written..]);
        self.written = all.len();
    }
}

impl Stream for Held {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        self.read.extend_from_slice(chunk);
        let by_byte: Contract = "rfc3629 byte".parse().unwrap();
        let open = spec::segments(&by_byte, &self.read).find(|segment| segment.is_incomplete());
        self.write(open.map_or(self.read.len(), |segment| segment.start), out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        self.write(self.read.len(), out);
        *self = Self::default();
        None
    }
}

#[test]
fn a_prompt_stream_may_wait_for_a_character_after_a_run_of_ill_formed_bytes() {
    let decoder = Faulty {
        info: Faulty::default().info.contract(Held::contract()),
        validate: |_| None,
        lossy: |bytes| {
            let mut out = Vec::new();
            spec::lossy(&Held::contract(), bytes, &mut out).map(|()| out)
        },
        stream: || Some(Box::new(Held::default())),
    };
    let bytes = b"a\xFF\xFE\xE2\x82\xAC\xFFb";
    for cut in 0..=bytes.len() {
        assert_eq!(judged(&decoder, bytes, Cuts::new([cut], bytes.len())), [], "{cut}");
    }
}

/// A stream that adds a character at the end, of decoders that promise more and less.
#[test]
fn a_fault_of_streams_is_named_so_whatever_is_promised() {
    let text = "a\u{E9}b\u{E9}";
    for promise in [Promise::Everything, Promise::AnySegmentation, Promise::WellFormed, Promise::Nothing] {
        let mut decoder = Faulty {
            stream: || Some(Box::new(Chunked { at_end: Some(|_| true), ..Chunked::default() })),
            ..Faulty::default()
        };
        decoder.info.promise = promise;
        for bytes in [text.as_bytes(), &[text.as_bytes(), b"\xFF"].concat()] {
            let signature = shown(&decoder, bytes, Cuts::every(2, bytes.len())).0;
            assert!(signature.starts_with("stream/faulty/"), "{promise:?}, {bytes:02X?}: {signature}");
        }
    }
}

/// The character after a truncated one is lost, which shows only at the end of a run of equal characters, where only the outputs
/// are compared.
#[test]
fn an_output_that_lacks_one_of_many_equal_characters_is_explained_by_its_cause() {
    let swallowed = |bytes: &[u8]| {
        let at = bytes.windows(2).position(|two| two == b"\xF4a");
        let kept = at.map_or(bytes.to_vec(), |at| [&bytes[..=at], &bytes[at + 2..]].concat());
        Some(lossy(&kept))
    };
    let decoder = Faulty { validate: |_| None, lossy: swallowed, ..Faulty::default() };
    for errors in [1, 3000] {
        let bytes = [&vec![0x8F; errors][..], b"bc\xF4", &[b'a'; 28], b"\xFF"].concat();
        assert_eq!(signature_of(&decoder, &bytes), "lossy/faulty/valid-1/anywhere", "{errors}");
    }
}

/// More than 150 errors, one of them truncated, change the character before the last error, here `é`. The signature names what
/// is wrong in a simpler input: many times the first error after the wrong character, and `a`.
#[test]
fn a_fault_that_needs_many_errors_is_shown_with_one_of_them() {
    let changed = |bytes: &[u8]| {
        let is_truncated = bytes.last() == Some(&0xC2) || bytes.windows(2).any(|two| two == b"\xC2a");
        let mut text = String::from_utf8(lossy(bytes)).unwrap();
        if is_truncated && text.matches('\u{FFFD}').count() > 150 {
            let last = text.rfind('\u{FFFD}').unwrap();
            let (at, before) = text[..last].char_indices().next_back().unwrap();
            text.replace_range(at..last, &char::from_u32(before as u32 + 1).unwrap().to_string());
        }
        Some(text.into_bytes())
    };
    let decoder = Faulty { validate: |_| None, lossy: changed, ..Faulty::default() };
    let bytes = [&[0xFF; 200][..], "é".as_bytes(), b"\xC2"].concat();
    assert_eq!(signature_of(&decoder, &bytes), "lossy/faulty/too-short/size");
}
