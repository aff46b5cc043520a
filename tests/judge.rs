//! Details of the judge that no planted fault depends on: bounds, offsets, and decoders that must not be blamed.
#![cfg(feature = "fuzz")]

mod faulty;

use faulty::{Faulty, Leaky, finish, lossy, verdict};
use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use utfuzz::case::{Case, Cuts};
use utfuzz::codec::Streaming;
use utfuzz::decoder::{Batched, NoAnswer};
use utfuzz::explain::first_divergence;
use utfuzz::judge::{Ending, Judge, Law, Questions, Subject, silence_panics};
use utfuzz::spec::{Bom, Contract, Detection, Replacement, Segmentation, grammar};
use utfuzz::utf8::{ErrorLen, Kind, Malformed, REPLACEMENT, Validity};
use utfuzz::{Decoder, Info, Promise, Stream, spec};

fn first_law(decoder: &Faulty, bytes: &[u8]) -> Option<Law> {
    Judge::new([decoder as &dyn Decoder]).judge(&Case::with_cuts(bytes, Cuts::NONE)).first().map(|broken| broken.law)
}

#[test]
fn output_may_have_four_bytes_for_each_byte_and_sixteen_more() {
    for (len, law) in [(20, Law::Lossy), (21, Law::Progress), (4000, Law::Progress)] {
        let lossy = match len {
            20 => |_: &[u8]| Some(vec![b'x'; 20]),
            21 => |_: &[u8]| Some(vec![b'x'; 21]),
            _ => |_: &[u8]| Some(vec![b'x'; 4000]),
        };
        assert_eq!(first_law(&Faulty { lossy, ..Faulty::default() }, b"\xFF"), Some(law), "{len}");
    }
}

#[test]
fn a_fault_after_a_prefix_is_at_its_offset_without_it() {
    let validate = |bytes: &[u8]| Some(if bytes.starts_with(b"a") { Validity::Valid } else { verdict(bytes) });
    let decoder = Faulty { validate, lossy: |_| None, ..Faulty::default() };
    let mut judge = Judge::new([&decoder as &dyn Decoder]);
    for (bytes, offset) in [(&b"\xE2\x82("[..], 0), (b"bcd\xE2\x82(", 3)] {
        let broken = judge.judge(&Case::with_cuts(bytes, Cuts::NONE)).to_vec();
        assert_eq!(broken.len(), 1, "{broken:?}");
        assert_eq!((broken[0].law, broken[0].offset), (Law::Prefix, Some(offset)));
        assert_eq!(broken[0].subject, Subject::Fault(Kind::TooShort));
    }
}

/// A stream that changes what the output contained before, and is right otherwise.
#[test]
fn a_stream_that_changes_existing_output_is_found() {
    fn push(stream: &mut Streaming, chunk: &[u8], out: &mut Vec<u8>) {
        // Recognised only before the first chunk, since the inputs do not contain these texts.
        if [&b"ab"[..], b"\xEF\xBF\xBD\xFF\xE2\x82"].contains(&&out[..]) {
            out[0] = b'!';
        }
        stream.push(chunk, out);
    }
    let stream = || Some(Box::new(Leaky { inner: Streaming::new(), push, finish }) as Box<dyn Stream>);
    let decoder = Faulty { stream, ..Faulty::default() };
    let mut judge = Judge::new([&decoder as &dyn Decoder]);
    let laws = (0..2000u32).filter_map(|number| {
        let bytes = format!("{number:x} text").replace("ab", "a-b").into_bytes();
        Some(judge.judge(&Case::with_cuts(&bytes, Cuts::NONE)).first()?.law)
    });
    let laws: Vec<Law> = laws.collect();
    assert!(laws.len() > 100 && laws.iter().all(|law| *law == Law::Placement), "{} {:?}", laws.len(), laws.first());
}

#[test]
fn a_decoder_that_strips_the_byte_order_mark_is_not_blamed() {
    const STRIPS: Contract = Contract { bom: Bom::Strip, ..Contract::STANDARD };
    let lossy = |bytes: &[u8]| {
        let mut out = Vec::new();
        spec::lossy(&STRIPS, bytes, &mut out).map(|()| out)
    };
    let decoder = Faulty { info: Faulty::default().info.contract(STRIPS), lossy, ..Faulty::default() };
    for bytes in [&b"\xEF\xBB\xBFtext"[..], b"\xEF\xBB\xBF", b"\xEF\xBB\xBF\xEF\xBB\xBF", b"a\xEF\xBB\xBF\xFF"] {
        assert_eq!(first_law(&decoder, bytes), None, "{bytes:02X?}");
    }
}

/// The answers differ two segments after the byte that is the cause.
#[test]
fn the_cause_may_be_several_ill_formed_bytes_earlier() {
    let without_the_third = |bytes: &[u8]| {
        let Some(at) = bytes.windows(3).position(|window| window == b"\xF8\x80\x80") else { return Some(lossy(bytes)) };
        Some([&lossy(&bytes[..at])[..], REPLACEMENT, REPLACEMENT, &lossy(&bytes[at + 3..])].concat())
    };
    let decoder = Faulty { lossy: without_the_third, ..Faulty::default() };
    let case = Case::with_cuts(b"ab\xF8\x80\x80cd", Cuts::NONE);
    let found = first_divergence(&decoder, &case).unwrap().signature.to_string();
    assert_eq!(found, "lossy/faulty/continuation/anywhere");
}

const PAIRS: Contract = Contract {
    grammar: &grammar::CESU8,
    segmentation: Segmentation::Byte,
    detection: Detection::Earliest,
    ..Contract::STANDARD
};

/// A stream that writes at each chunk what no continuation can change, as found by trying continuations.
#[derive(Default)]
struct Prompt {
    read: Vec<u8>,
    written: usize,
}

impl Prompt {
    fn output(&self, continuation: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let _ = spec::lossy(&PAIRS, &[&self.read, continuation].concat(), &mut out);
        out
    }
}

impl Stream for Prompt {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        self.read.extend_from_slice(chunk);
        let sequences: [&[u8]; 8] =
            [b"", b"a", b"\x80", b"\x80\x80", b"\xB0\x80", b"\xA0\x80", b"\xED\xB0\x80", b"\x80\xED\xB0\x80"];
        let possible: Vec<Vec<u8>> = sequences.iter().map(|sequence| self.output(sequence)).collect();
        let is_same = |at: &usize| possible.iter().all(|other| other.get(*at) == possible[1].get(*at));
        let decided = (0..possible[0].len()).take_while(is_same).count();
        out.extend_from_slice(&possible[1][self.written..decided.max(self.written)]);
        self.written = decided.max(self.written);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        out.extend_from_slice(&self.output(b"")[self.written..]);
        *self = Self::default();
        None
    }
}

/// Byte by byte, a surrogate pair may begin four or five bytes before the cut, inside bytes that did not become one.
#[test]
fn a_prompt_stream_may_wait_for_a_pair_that_begins_inside_another() {
    let validate = |bytes: &[u8]| Some(spec::validity(&PAIRS, bytes));
    let lossy = |bytes: &[u8]| {
        let mut out = Vec::new();
        spec::lossy(&PAIRS, bytes, &mut out).map(|()| out)
    };
    let info = Info::new("faulty", "0").contract(PAIRS);
    let stream = || Some(Box::new(Prompt::default()) as Box<dyn Stream>);
    let decoder = Faulty { info, validate, lossy, stream };
    let mut judge = Judge::new([&decoder as &dyn Decoder]);
    for bytes in [&b"\xED\xA0\x80\xED\xA0\x80\xED\xB0\x80"[..], b"a\xED\xA0\x80\xED\xA0\x80\xEDa"] {
        for cut in 0..=bytes.len() {
            let broken = judge.judge(&Case::with_cuts(bytes, Cuts::new([cut], bytes.len()))).to_vec();
            assert_eq!(broken, [], "{bytes:02X?} cut at {cut}");
        }
    }
}

/// What a decoder without documentation, or with documentation for well-formed input only, is held to.
#[test]
fn only_what_is_promised_is_expected() {
    let first = |promise, lossy, bytes: &[u8]| {
        let mut decoder = Faulty { validate: |_| None, lossy, stream: || None, ..Faulty::default() };
        decoder.info.promise = promise;
        Judge::new([&decoder as &dyn Decoder]).judge(&Case::new(bytes)).first().map(|broken| broken.law)
    };
    let questions = |bytes: &[u8]| Some(String::from_utf8_lossy(bytes).replace('\u{FFFD}', "?").into_bytes());
    assert_eq!(first(Promise::Everything, questions, b"a\xFF"), Some(Law::Lossy));
    assert_eq!(first(Promise::WellFormed, questions, b"a\xFF"), None);
    assert_eq!(first(Promise::WellFormed, questions, REPLACEMENT), Some(Law::Lossy));
    assert_eq!(first(Promise::Nothing, questions, REPLACEMENT), None);
    // How many U+FFFD there are may be left open, but not whether there is one, or where.
    let by_byte = |bytes: &[u8]| {
        let mut out = Vec::new();
        spec::lossy(&Contract { segmentation: Segmentation::Byte, ..Contract::STANDARD }, bytes, &mut out).map(|()| out)
    };
    let dropped = |bytes: &[u8]| Some(String::from_utf8_lossy(bytes).replace('\u{FFFD}', "").into_bytes());
    let zero = |bytes: &[u8]| Some(String::from_utf8_lossy(bytes).replace("\u{FFFD}", "0\u{FFFD}").into_bytes());
    assert_eq!(first(Promise::Everything, by_byte, b"a\xE2\x82b"), Some(Law::Lossy));
    assert_eq!(first(Promise::AnySegmentation, by_byte, b"a\xE2\x82b"), None);
    assert_eq!(first(Promise::AnySegmentation, dropped, b"a\xE2\x82b"), Some(Law::Lossy));
    assert_eq!(first(Promise::AnySegmentation, zero, b"a\xE2\x82b"), Some(Law::Lossy));
    // In a grammar with pairs, another segmentation may find characters in what this one replaces.
    let pairs: Contract = "cesu-8".parse().unwrap();
    let of_pairs = |promise, lossy, bytes: &[u8]| {
        let mut decoder = Faulty { validate: |_| None, lossy, stream: || None, ..Faulty::default() };
        decoder.info = decoder.info.contract(pairs);
        decoder.info.promise = promise;
        Judge::new([&decoder as &dyn Decoder]).judge(&Case::new(bytes)).first().map(|broken| broken.law)
    };
    let pairs_by_byte = |bytes: &[u8]| {
        let mut out = Vec::new();
        let contract: Contract = "cesu-8 byte".parse().unwrap();
        spec::lossy(&contract, bytes, &mut out).map(|()| out)
    };
    let half = b"\xED\xA0\x80\xED\x9F\xBF";
    assert_eq!(of_pairs(Promise::Everything, pairs_by_byte, half), Some(Law::Lossy));
    assert_eq!(of_pairs(Promise::AnySegmentation, pairs_by_byte, half), None);
    assert_eq!(of_pairs(Promise::AnySegmentation, zero, half), Some(Law::Lossy));
    // What becomes of one byte depends on the length of the input.
    let by_length = |bytes: &[u8]| Some(if bytes.len() < 2 { b"short".to_vec() } else { bytes.to_vec() });
    assert_eq!(first(Promise::Nothing, by_length, b"b"), Some(Law::Prefix));
    // A byte order mark is one only at the start.
    let stripped = |bytes: &[u8]| Some(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes).to_vec());
    assert_eq!(first(Promise::Nothing, stripped, b"\xEF\xBB\xBFtext"), None);
    assert_eq!(first(Promise::WellFormed, stripped, b"\xEF\xBB\xBFtext"), Some(Law::Lossy));
}

/// A report marks what the contract of the decoder expects, not what the standard does.
#[test]
fn a_report_says_what_the_contract_of_the_decoder_expects() {
    let input = b"\xEF\xBB\xBFa\xED\xA0\x80\xE2\x82";
    for contract in [
        "rfc3629 byte",
        "rfc3629 run latin-1 incomplete-is-error",
        "rfc3629 maximal-subpart-surrogate surrogateescape",
        "rfc3629-without-noncharacters drop bom-stripped",
        "cesu-8 byte incomplete-is-error",
        "modified-utf-8 lead-announced windows-1252",
    ] {
        let contract: Contract = contract.parse().unwrap();
        let decoder = Faulty {
            info: Info::new("faulty", "0").contract(contract),
            validate: |_| Some(Validity::Valid),
            lossy: |_| Some(b"?".to_vec()),
            ..Faulty::default()
        };
        let report = first_divergence(&decoder, &Case::with_cuts(input, Cuts::NONE)).unwrap().to_string();
        let mut output = Vec::new();
        spec::lossy(&contract, input, &mut output).unwrap();
        let output: Vec<String> = output.iter().map(|byte| format!("{byte:02X}")).collect();
        let mut expected = vec![
            format!("contract: {contract}\n"),
            format!("(* is the answer of {contract};"),
            format!("\n* {}\n    no decoder answers this\n", spec::validity(&contract, input)),
            format!("\n* {}\n    no decoder answers this\n", output.join(" ")),
        ];
        expected.extend(spec::segments(&contract, input).filter_map(|segment| match segment.reading {
            spec::Reading::IllFormed { kind } => {
                let rule = spec::Rule::broken(contract.grammar, kind, &input[segment.start..]);
                Some(format!("{kind}: {} [{}]", rule.says, rule.source))
            }
            spec::Reading::WellFormed(_) => None,
        }));
        let missing: Vec<&String> = expected.iter().filter(|part| !report.contains(&***part)).collect();
        assert!(missing.is_empty(), "{report}\nlacks {missing:?}");
        assert!(!report.contains("should answer"), "{report}");
    }
}

/// Sound, and counts what it is asked.
struct Counting {
    info: Info,
    verdicts: AtomicUsize,
    outputs: AtomicUsize,
}

impl Counting {
    fn new(name: &'static str) -> Self {
        Self { info: Info::new(name, "0"), verdicts: AtomicUsize::new(0), outputs: AtomicUsize::new(0) }
    }

    /// How many questions there were since the last call: verdicts, outputs.
    fn take(&self) -> (usize, usize) {
        (self.verdicts.swap(0, Relaxed), self.outputs.swap(0, Relaxed))
    }
}

impl Decoder for Counting {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        self.verdicts.fetch_add(1, Relaxed);
        Some(verdict(bytes))
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        self.outputs.fetch_add(1, Relaxed);
        out.extend(lossy(bytes));
        Some(())
    }
}

/// A judge that saw this case 8,191 times with two decoders, which makes 16,382 judgements.
fn tired<'d>(decoders: &[&'d dyn Decoder; 2], case: &Case<'_>) -> Judge<'d> {
    let mut judge = Judge::new(*decoders);
    for _ in 0..8191 {
        assert!(judge.judge_novelty(case, |_| {}).broken.is_empty());
    }
    judge
}

#[test]
fn the_first_judgements_are_made_in_full_and_then_one_decoder_is_asked_one_question() {
    let (one, two) = (Counting::new("one"), Counting::new("two"));
    let text = b"a\xE2\x82\xAC and \xFF";
    let case = Case::new(text);
    let mut judge = Judge::new([&one as &dyn Decoder, &two]);
    for number in 1..=8191 {
        one.take();
        two.take();
        let novel = judge.judge_novelty(&case, |_| {}).is_novel;
        let ((first, _), (second, _)) = (one.take(), two.take());
        assert!(first > 2 && second > 2, "case {number}: {first} {second}");
        assert_eq!(novel, number == 1);
    }
    for _ in 0..64 {
        judge.judge_novelty(&case, |_| {});
        let ((first, first_outputs), (second, second_outputs)) = (one.take(), two.take());
        assert!((first == 0 && first_outputs == 0) != (second == 0 && second_outputs == 0), "{first} {second}");
        assert!(first + second <= 3, "{first} {second}");
    }
    let long =
        (0..).map(|number| format!("{number:08}")).find(|text| Case::new(text.as_bytes()).prefix() > 64).unwrap();
    // New in its length, at first.
    for _ in 0..2 {
        one.take();
        two.take();
        judge.judge_novelty(&Case::new(long.as_bytes()), |_| {});
    }
    let ((first, first_outputs), (second, second_outputs)) = (one.take(), two.take());
    assert!((first == 0 && first_outputs == 0) != (second == 0 && second_outputs == 0), "{first} {second}");
    assert!(first + second > 3, "a long prefix is drawn rarely, so all is asked: {first} {second}");
}

#[test]
fn a_sampled_question_goes_to_every_decoder_and_is_of_every_kind() {
    let (one, two) = (Counting::new("one"), Counting::new("two"));
    let mut judge = tired(&[&one, &two], &Case::new(b"text"));
    one.take();
    two.take();
    // The cases in which each was asked for a verdict, and for an output.
    let mut asked = [[0; 2]; 2];
    for number in 0..2000u32 {
        // New only at first.
        judge.judge_novelty(&Case::new(format!("{number:08}").as_bytes()), |_| {});
        for (cases, decoder) in asked.iter_mut().zip([&one, &two]) {
            let (verdicts, outputs) = decoder.take();
            *cases = [cases[0] + u32::from(verdicts > 0), cases[1] + u32::from(outputs > 0)];
        }
    }
    for cases in asked {
        assert!(cases.iter().all(|count| (100..1000).contains(count)), "{cases:?}");
    }
}

/// States no offset after an error of its own, so that only the sampled question about the next error shows it.
#[test]
fn a_sampled_question_follows_any_error() {
    let validate = |bytes: &[u8]| match bytes {
        // The rest after the second of three errors.
        b"c\xFF" => Some(Validity::Valid),
        _ => Some(verdict(bytes)),
    };
    let decoder = Faulty { validate, ..Faulty::default() };
    let sound = Counting::new("sound");
    let mut judge = tired(&[&sound, &sound], &Case::new(b"text"));
    let ends = [&b"\xFF"[..], b"a\xFF\xE2\x82b", b"\xFE\xF0\x90\x80abc\xFF", b"\xC0\xC0\xC0\xE2\x82"];
    for (number, end) in (0..3000u32).zip(ends.into_iter().cycle()) {
        let bytes = [format!("{number:08}").as_bytes(), end].concat();
        assert_eq!(judge.judge_novelty(&Case::new(&bytes), |_| {}).broken, [], "{bytes:02X?}");
    }
    let mut judge = tired(&[&decoder, &decoder], &Case::new(b"text"));
    let laws: Vec<Law> = (0..3000u32)
        .filter_map(|number| {
            let bytes = [format!("{number:08}").as_bytes(), b"\xFEb\xFFc\xFF"].concat();
            Some(judge.judge_novelty(&Case::new(&bytes), |_| {}).broken.first()?.law)
        })
        .collect();
    assert!(laws.len() > 20 && laws.iter().all(|law| *law == Law::Spans), "{} {:?}", laws.len(), laws.first());
}

#[test]
fn a_decoder_that_is_switched_off_is_not_asked() {
    let (one, two) = (Counting::new("one"), Counting::new("two"));
    let mute = Faulty { validate: |_| None, lossy: |_| None, ..Faulty::default() };
    let mut judge = Judge::new([&one as &dyn Decoder, &mute, &two]);
    judge.judge(&Case::new(b"a"));
    judge.switch_off(0);
    one.take();
    two.take();
    judge.judge(&Case::new(b"a\xFF"));
    assert_eq!(one.take(), (0, 0));
    assert!(two.take().0 > 0);
    assert_eq!(judge.active().map(|decoder| &*decoder.info().name).collect::<Vec<_>>(), ["faulty", "two"]);
    assert_eq!((judge.statistics().cases, judge.statistics().valid), (2, 1));
    assert_eq!(judge.statistics().kinds, [(Kind::InvalidByte, 1)]);
    judge.judge(&Case::new(b"\xFF\xFE"));
    assert_eq!(judge.statistics().kinds, [(Kind::InvalidByte, 2)]);
    assert!(!judge.is_batched());
    // What answers nothing is named, unless it is switched off, or nothing was asked.
    assert_eq!(judge.statistics().silent().collect::<Vec<_>>(), ["faulty"]);
    judge.switch_off(1);
    assert_eq!(judge.statistics().silent().count(), 0);
    assert_eq!(Judge::new([&mute as &dyn Decoder]).statistics().silent().count(), 0);
}

#[test]
fn only_known_groups_of_features_can_be_selected() {
    let decoder = Faulty::default();
    let mut judge = Judge::new([&decoder as &dyn Decoder]);
    let names = judge.only_features(&["no such group"]).unwrap_err();
    assert!(names.contains(&"pairs"), "{names:?}");
    judge.only_features(&["lengths"]).unwrap();
    let mut features = 0;
    judge.judge_novelty(&Case::new(b"\xFF\xFE\xE2\x82"), |_| features += 1);
    let mut all = 0;
    Judge::new([&decoder as &dyn Decoder]).judge_novelty(&Case::new(b"\xFF\xFE\xE2\x82"), |_| all += 1);
    assert!(0 < features && features < all, "{features} of {all}");
}

/// Panics when it is dropped.
struct Sticky(Streaming);

impl Stream for Sticky {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        self.0.push(chunk, out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        finish(&mut self.0, out);
        None
    }
}

impl Drop for Sticky {
    fn drop(&mut self) {
        panic!("a stream is dropped");
    }
}

#[test]
fn a_panic_when_a_stream_is_dropped_is_found_and_contained() {
    let stream = || Some(Box::new(Sticky(Streaming::new())) as Box<dyn Stream>);
    let decoder = Faulty { stream, ..Faulty::default() };
    let mut judge = Judge::new([&decoder as &dyn Decoder]);
    let laws =
        (0..500u32).filter_map(|number| Some(judge.judge(&Case::new(format!("{number}").as_bytes())).first()?.law));
    let laws: Vec<Law> = laws.collect();
    assert!(!laws.is_empty() && laws.iter().all(|law| *law == Law::Panic), "{laws:?}");
    drop(judge);
}

#[test]
fn how_the_process_of_a_decoder_ended_is_reported() {
    fn unanswered(bytes: &[u8]) -> Option<Validity> {
        let ending = match bytes {
            b"a" => Some(Ending::Fault),
            b"b" => Some(Ending::Hang),
            b"c" => None,
            _ => return Some(verdict(bytes)),
        };
        resume_unwind(Box::new(NoAnswer { ending, what: String::new() }))
    }
    let decoder = Faulty { validate: unanswered, lossy: |_| Some(b"?".to_vec()), ..Faulty::default() };
    let mut judge = Judge::new([&decoder as &dyn Decoder]);
    for (bytes, law, subject) in [
        (&b"a"[..], Law::Panic, Subject::Process(Ending::Fault)),
        (b"b", Law::Progress, Subject::Process(Ending::Hang)),
        // It goes on, and answered wrongly.
        (b"c", Law::Panic, Subject::Unplaced),
        (b"d\xFF", Law::Lossy, Subject::WellFormed(1)),
    ] {
        let broken = judge.judge(&Case::with_cuts(bytes, Cuts::NONE));
        assert_eq!(broken.iter().map(|broken| (broken.law, broken.subject)).collect::<Vec<_>>(), [(law, subject)]);
    }
}

#[test]
fn a_decoder_that_panics_when_a_stream_is_taken_has_not_answered_nothing() {
    silence_panics();
    let decoder = Faulty { validate: |_| None, lossy: |_| None, stream: || panic!(), ..Faulty::default() };
    let mut judge = Judge::new([&decoder as &dyn Decoder]);
    for times in 1..=3 {
        let broken = judge.judge(&Case::with_cuts(b"a", Cuts::NONE));
        assert_eq!(broken.iter().map(|broken| broken.law).collect::<Vec<_>>(), [Law::Panic]);
        assert_eq!(judge.statistics().comparisons, [("faulty".into(), times)]);
        assert_eq!(judge.statistics().silent().count(), 0);
    }
}

/// The output is wrong too, but it is the verdict that is asked for again.
#[test]
fn a_verdict_that_is_right_when_it_is_asked_for_again_depends_on_earlier_questions() {
    static AFTER_A: AtomicBool = AtomicBool::new(false);
    let validate = |bytes: &[u8]| {
        let is_right = AFTER_A.swap(bytes == b"a", Relaxed) || !bytes.ends_with(b"\xFF");
        Some(if is_right { verdict(bytes) } else { Validity::Valid })
    };
    let decoder = Faulty { validate, lossy: |_| Some(b"?".to_vec()), ..Faulty::default() };
    assert_eq!(first_law(&decoder, b"bc\xFF"), Some(Law::Repeat));
}

#[test]
fn a_verdict_that_is_kept_for_the_next_long_input_depends_on_earlier_questions() {
    static KEPT: Mutex<Option<(usize, Validity)>> = Mutex::new(None);
    let validate = |bytes: &[u8]| {
        let right = verdict(bytes);
        let mut kept = KEPT.lock().unwrap();
        match *kept {
            _ if bytes.len() < 128 => Some(right),
            Some((len, kept)) if len == bytes.len() => Some(kept),
            _ => {
                *kept = Some((bytes.len(), right));
                Some(right)
            }
        }
    };
    let decoder = Faulty { validate, ..Faulty::default() };
    decoder.validate(&[b'a'; 128]);
    let input = [&[b'a'; 127][..], b"\xFF"].concat();
    assert_eq!(first_law(&decoder, &input), Some(Law::Repeat));
}

#[test]
fn in_a_long_input_as_many_errors_are_followed_as_make_about_four_mebibytes() {
    let counting = Counting::new("counting");
    let mut judge = Judge::new([&counting as &dyn Decoder]);
    for (len, rests) in [(100, 100), (1_000, 1_000), (65_535, 1 + 64), (262_143, 1 + 16)] {
        counting.take();
        assert_eq!(judge.judge_on(&Case::with_cuts(&vec![0xFF; len], Cuts::NONE), Questions::BYTES), []);
        assert_eq!(counting.take().0, 1 + rests, "{len}");
    }
}

/// Where the decoder itself says that an error ends, others would go on.
#[test]
fn what_is_left_after_an_error_begins_where_the_decoder_says() {
    silence_panics();
    let by_byte = |bytes: &[u8]| {
        assert_ne!(bytes, b"\x82b");
        Some(spec::validity(&Contract { segmentation: Segmentation::Byte, ..Contract::STANDARD }, bytes))
    };
    let mut decoder = Faulty { validate: by_byte, lossy: |_| None, ..Faulty::default() };
    decoder.info.promise = Promise::AnySegmentation;
    assert_eq!(first_law(&decoder, b"\xE2\x82c"), None);
    assert_eq!(first_law(&decoder, b"\xE2\x82b"), Some(Law::Panic));
}

#[test]
fn what_is_left_after_an_error_is_shorter_or_is_not_asked_about() {
    static ASKED: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());
    fn of_no_length(bytes: &[u8]) -> Option<Validity> {
        ASKED.lock().unwrap().push(bytes.to_vec());
        let at = bytes.iter().position(|&byte| byte == 0xFF);
        Some(at.map_or(Validity::Valid, |at| Malformed::at(at, ErrorLen::Bytes(0)).into()))
    }
    /// Where it states no offset, the expected error ends where the last one did.
    fn too_long(bytes: &[u8]) -> Option<Validity> {
        ASKED.lock().unwrap().push(bytes.to_vec());
        let nowhere = Malformed { valid_up_to: None, len: None, kind: None };
        Some(if bytes.len() > 2 { Malformed::at(0, ErrorLen::Bytes(2)).into() } else { nowhere.into() })
    }
    for (validate, bytes, asked) in [
        (of_no_length as fn(&[u8]) -> _, &b"ab\xFFc"[..], vec![&b"ab\xFFc"[..]]),
        (too_long, b"\xFF\xFF\xFFb", vec![b"\xFF\xFF\xFFb", b"\xFFb"]),
    ] {
        let mut decoder = Faulty { validate, lossy: |_| None, ..Faulty::default() };
        // The lengths of errors are its own affair, so it is not asked again.
        decoder.info.promise = Promise::AnySegmentation;
        let mut judge = Judge::new([&decoder as &dyn Decoder]);
        ASKED.lock().unwrap().clear();
        assert_eq!(judge.judge_on(&Case::with_cuts(bytes, Cuts::NONE), Questions::BYTES), []);
        assert_eq!(*ASKED.lock().unwrap(), asked);
    }
}

#[test]
fn a_stream_is_fed_a_prefix_only_if_that_is_longer_than_usual() {
    static LONGEST: AtomicUsize = AtomicUsize::new(0);
    fn push(stream: &mut Streaming, chunk: &[u8], out: &mut Vec<u8>) {
        LONGEST.fetch_max(chunk.len(), Relaxed);
        stream.push(chunk, out);
    }
    let stream = || Some(Box::new(Leaky { inner: Streaming::new(), push, finish }) as Box<dyn Stream>);
    let decoder = Faulty { stream, ..Faulty::default() };
    let mut judge = Judge::new([&decoder as &dyn Decoder]);
    let (mut usual, mut longer) = (0, 0);
    for number in 0..40_000u32 {
        let bytes = format!("{number} text").into_bytes();
        let case = Case::new(&bytes);
        if case.prefix() < Case::SHORT_PREFIX {
            continue;
        }
        LONGEST.store(0, Relaxed);
        assert_eq!(judge.judge(&case), []);
        let longest = LONGEST.load(Relaxed);
        if case.prefix() == Case::SHORT_PREFIX {
            usual += 1;
            assert!(longest <= bytes.len(), "{bytes:02X?}");
        } else {
            longer += 1;
            assert_eq!(longest, case.prefix(), "{bytes:02X?}");
        }
    }
    assert!(usual > 100 && longer > 2, "{usual} {longer}");
}

/// Writes nothing for ill-formed bytes, and notes where it was last asked to read, and to write after what.
struct Placing {
    info: Info,
    read: AtomicUsize,
    /// The address, how much is there, and the capacity.
    written: Mutex<(usize, usize, usize)>,
}

impl Placing {
    fn new() -> Self {
        let contract = Contract { replacement: Some(Replacement::Drop), ..Contract::STANDARD };
        let info = Info::new("placing", "0").contract(contract);
        Self { info, read: AtomicUsize::new(0), written: Mutex::default() }
    }
}

impl Decoder for Placing {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        self.read.store(bytes.as_ptr().addr(), Relaxed);
        Some(verdict(bytes))
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        *self.written.lock().unwrap() = (out.as_ptr().addr(), out.len(), out.capacity());
        spec::lossy(&self.info.contract, bytes, out)
    }
}

#[test]
fn a_copy_begins_at_its_alignment_or_as_far_before_the_edge_of_a_page() {
    let placing = Placing::new();
    let (mut aligned, mut across) = (0, 0);
    for (number, len) in (0..1000u32).zip([0, 1, 10, 200, 4_000, 5_000, 10_000].into_iter().cycle()) {
        let mut bytes = format!("{number:08}").into_bytes();
        bytes.resize(len, b'x');
        let case = Case::with_cuts(&bytes, Cuts::NONE);
        assert_eq!(Judge::new([&placing as &dyn Decoder]).judge_on(&case, Questions::PLACEMENT), []);
        let (address, (alignment, _)) = (placing.read.load(Relaxed), case.placement());
        // In proportion to its length, and at most as far as leaves a margin in the page before.
        let before = (alignment * (len + 1) / 64).min(4096 - 64);
        match (address % 64 == alignment, (address + before).is_multiple_of(4096)) {
            (true, _) => aligned += 1,
            (false, is_across) => {
                assert!(is_across, "{len} bytes at {address:X}, {alignment}");
                across += 1;
            }
        }
    }
    assert!(aligned > 500 && across > 150, "{aligned} {across}");
}

/// Also if there is nothing to write.
#[test]
fn an_output_is_placed_in_a_full_buffer_or_at_an_address_of_its_own() {
    let placing = Placing::new();
    let (mut full, mut placed) = (0, 0);
    for bytes in (0x80..=0xFF).flat_map(|first| [[first, 0x80], [first, 0xFF]]) {
        if verdict(&bytes) == Validity::Valid {
            continue;
        }
        let case = Case::with_cuts(&bytes, Cuts::NONE);
        assert_eq!(Judge::new([&placing as &dyn Decoder]).judge_on(&case, Questions::PLACEMENT), []);
        let (alignment, _) = case.placement();
        let (address, len, capacity) = *placing.written.lock().unwrap();
        if len == capacity && [0, alignment].contains(&len) {
            full += 1;
        } else {
            assert_eq!((address + len) % 64, (5 * alignment + 3) % 64, "{bytes:02X?}: {len} of {capacity}");
            placed += 1;
        }
    }
    assert!(full > 50 && placed > 100, "{full} {placed}");
}

/// Sound, and answers from memory what was planned. Its planner is `Planner`.
struct Remote(Planner);

/// Notes what it is asked.
struct Planner {
    info: Info,
    planned: Mutex<BTreeSet<Asked>>,
    /// What was planned and then asked.
    known: Mutex<BTreeSet<Asked>>,
    /// How many questions were not known, and how many streams the planner and the decoder have started.
    unknown: AtomicUsize,
    streams: [AtomicUsize; 2],
}

/// The question, and the bytes.
type Asked = (&'static str, Vec<u8>);

impl Decoder for Planner {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        self.planned.lock().unwrap().insert(("validate", bytes.to_vec()));
        Some(verdict(bytes))
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        self.planned.lock().unwrap().insert(("decode", bytes.to_vec()));
        out.extend(lossy(bytes));
        Some(())
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        self.streams[0].fetch_add(1, Relaxed);
        Some(sound_stream())
    }
}

impl Remote {
    fn new() -> Self {
        let (planned, known) = (Mutex::default(), Mutex::default());
        let (unknown, streams) = (AtomicUsize::new(0), [AtomicUsize::new(0), AtomicUsize::new(0)]);
        Self(Planner { info: Info::new("remote", "0"), planned, known, unknown, streams })
    }

    fn count(&self, question: &'static str, bytes: &[u8]) {
        let is_known = self.0.known.lock().unwrap().contains(&(question, bytes.to_vec()));
        self.0.unknown.fetch_add(usize::from(!is_known), Relaxed);
    }
}

impl Decoder for Remote {
    fn info(&self) -> &Info {
        &self.0.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        self.count("validate", bytes);
        Some(verdict(bytes))
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        self.count("decode", bytes);
        out.extend(lossy(bytes));
        Some(())
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        self.0.streams[1].fetch_add(1, Relaxed);
        Some(sound_stream())
    }

    fn batched(&self) -> Option<&dyn Batched> {
        Some(self)
    }
}

impl Batched for Remote {
    fn planner(&self) -> &dyn Decoder {
        &self.0
    }

    fn ask_planned(&self) {
        self.0.known.lock().unwrap().append(&mut self.0.planned.lock().unwrap());
    }

    fn is_slow(&self) -> bool {
        false
    }

    fn stop(&self) {}

    fn summary(&self) -> String {
        String::new()
    }
}

fn sound_stream() -> Box<dyn Stream> {
    Box::new(Leaky { inner: Streaming::new(), push: |stream, chunk, out| stream.push(chunk, out), finish })
}

#[test]
fn what_is_planned_is_all_that_is_asked() {
    let remote = Remote::new();
    let inputs: Vec<Vec<u8>> =
        (0..400).map(|number| [format!("{number} ").as_bytes(), b"\xE2\x82\xAC\xFF a\xE2\x82"].concat()).collect();
    let cases = || inputs.iter().map(|bytes| Case::new(bytes));
    let counters = || [&remote.0.unknown, &remote.0.streams[0], &remote.0.streams[1]];
    let mut judge = Judge::new([&remote as &dyn Decoder]);
    let is_sound = |judge: &mut Judge<'_>| cases().all(|case| judge.judge(&case).is_empty());
    assert!(judge.is_batched());
    let counts = |judge: &mut Judge<'_>| {
        counters().iter().for_each(|counter| counter.store(0, Relaxed));
        judge.prepare(cases(), Questions::ALL);
        assert!(is_sound(judge));
        counters().map(|counter| counter.load(Relaxed))
    };
    let [unknown, planned_streams, streams] = counts(&mut judge);
    assert_eq!((unknown, planned_streams), (0, streams));
    // Those of cases after which streams are dropped, among others.
    assert!(streams > 400 / 64, "{streams}");
    remote.0.known.lock().unwrap().clear();
    assert!(is_sound(&mut judge));
    assert!(remote.0.unknown.load(Relaxed) > 400, "{:?}", remote.0.unknown);
}
