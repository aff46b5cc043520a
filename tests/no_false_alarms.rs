//! The laws are sound: a decoder that does exactly what `spec` says breaks none of them, whatever contract it has, and
//! whichever questions it answers. A contract that no decoder can keep is refused.
#![cfg(feature = "fuzz")]

mod faulty;

use faulty::Honest;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;
use utfuzz::case::{Case, Cuts};
use utfuzz::decoder::check_infos;
use utfuzz::generate::classes::Block;
use utfuzz::generate::structured::Structured;
use utfuzz::generate::{fragments, seeds};
use utfuzz::judge::Judge;
use utfuzz::probe::answer;
use utfuzz::spec::{Bom, Contract, Detection, End, Replacement, Segmentation, grammar};
use utfuzz::utf8::{ErrorLen, Malformed, Validity};
use utfuzz::{Decoder, Info, Promise, Stream, peers, spec};

/// A decoder made of the standard.
struct Perfect {
    info: Info,
    /// What it does, where that is not promised.
    does: Contract,
    answers: Answers,
}

/// The questions that a decoder answers, and how much it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Answers {
    verdict: bool,
    /// What is stated of an error: offset, length, kind.
    stated: [bool; 3],
    output: bool,
    stream: bool,
    /// Whether a stream gives a verdict.
    concludes: bool,
    /// Whether a stream writes what is decided, or everything at its end.
    prompt: bool,
}

impl Answers {
    const ALL: Self =
        Self { verdict: true, stated: [true; 3], output: true, stream: true, concludes: true, prompt: true };

    fn stated(self, validity: Validity) -> Validity {
        let Validity::Invalid(Malformed { valid_up_to, len, kind }) = validity else { return validity };
        let [offset, length, name] = self.stated;
        Validity::Invalid(Malformed {
            valid_up_to: valid_up_to.filter(|_| offset),
            len: len.filter(|_| length),
            kind: kind.filter(|_| name),
        })
    }
}

impl Decoder for Perfect {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        self.answers.verdict.then(|| self.answers.stated(spec::validity(&self.does, bytes)))
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        if !self.answers.output {
            return None;
        }
        out.extend(answer(&self.does, bytes).output?);
        Some(())
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        let stream = PerfectStream { does: &self.does, answers: self.answers, read: Vec::new(), written: 0 };
        self.answers.stream.then(|| Box::new(stream) as Box<dyn Stream>)
    }
}

struct PerfectStream<'d> {
    does: &'d Contract,
    answers: Answers,
    read: Vec<u8>,
    written: usize,
}

impl PerfectStream<'_> {
    fn write(&mut self, end: usize, out: &mut Vec<u8>) {
        if self.does.replacement.is_none() {
            return;
        }
        let mut text = Vec::new();
        spec::lossy(self.does, &self.read[..end], &mut text);
        out.extend_from_slice(&text[self.written..]);
        self.written = text.len();
    }
}

impl Stream for PerfectStream<'_> {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        self.read.extend_from_slice(chunk);
        if !self.answers.prompt {
            return;
        }
        // A run ends before any byte at which a sequence begins.
        let segmentation = match self.does.segmentation {
            Segmentation::Run => Segmentation::Byte,
            other => other,
        };
        let contract = Contract { segmentation, ..*self.does };
        let waits = spec::segments(&contract, &self.read).find(|segment| segment.is_incomplete());
        self.write(waits.map_or(self.read.len(), |segment| segment.start), out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        self.write(self.read.len(), out);
        self.written = 0;
        let read = std::mem::take(&mut self.read);
        self.answers.concludes.then(|| self.answers.stated(spec::validity(self.does, &read)))
    }

    fn sendable(&mut self) -> Option<&mut (dyn Stream + Send + '_)> {
        Some(self)
    }
}

/// The laws broken on any of the inputs, each with the first input that breaks it.
fn broken<'i>(
    decoders: &[Box<dyn Decoder>],
    inputs: impl IntoIterator<Item = (&'i [u8], Option<Cuts>)>,
) -> BTreeMap<String, String> {
    let mut judge = Judge::new(decoders.iter().map(|decoder| &**decoder));
    let mut broken = BTreeMap::new();
    for (bytes, cuts) in inputs {
        let case = cuts.map_or_else(|| Case::new(bytes), |cuts| Case::with_cuts(bytes, cuts));
        for broke in judge.judge(&case) {
            let info = decoders[broke.decoder].info();
            let what = format!("{} {} of {} under {}", broke.law, broke.subject, info.name, info.claim());
            broken.entry(what).or_insert_with(|| bytes.escape_ascii().to_string());
        }
    }
    broken
}

/// Every class string of this many bytes at this offset.
fn class_strings(len: u32, offset: usize) -> impl Iterator<Item = Vec<u8>> {
    let block = Block { len, offset };
    (0..block.count()).map(move |index| {
        let mut bytes = Vec::new();
        block.write(index, &mut bytes);
        bytes
    })
}

/// The seeds, and every class string of two bytes at the start and across the end of a block.
fn inputs() -> Vec<Vec<u8>> {
    let seeds = seeds::differential().into_values().chain(seeds::relatives().into_values());
    seeds.chain(class_strings(2, 0)).chain(class_strings(2, 62)).collect()
}

/// Judges decoders that do what the standard says, under contracts with every grammar and segmentation.
fn judge_the_standard(inputs: &[Vec<u8>]) {
    let outputs = [
        (Some(Replacement::ReplacementCharacter), Bom::Keep, End::Incomplete),
        (Some(Replacement::ReplacementCharacter), Bom::Strip, End::Error),
        (Some(Replacement::Drop), Bom::Keep, End::Error),
        (Some(Replacement::SurrogateEscape), Bom::Keep, End::Incomplete),
        (Some(Replacement::Windows1252), Bom::Strip, End::Incomplete),
        (None, Bom::Keep, End::Incomplete),
    ];
    let is_chosen = |contract: &Contract| outputs.contains(&(contract.replacement, contract.bom, contract.end));
    let chosen = claims().into_iter().filter(|(contract, promise)| {
        let is_whole = (*promise, contract.detection) == (Promise::Everything, Detection::Earliest);
        is_whole && is_chosen(contract) && contract.check().is_ok()
    });
    let perfect = |(does, promise)| Perfect { info: claim((does, promise)), does, answers: Answers::ALL };
    let decoders: Vec<_> = chosen.map(|claim| Box::new(perfect(claim)) as Box<dyn Decoder>).collect();
    assert!(decoders.len() > 250, "{}", decoders.len());
    let broken = broken(&decoders, inputs.iter().map(|bytes| (&bytes[..], None)));
    assert!(broken.is_empty(), "{} kinds of false alarm: {broken:#?}", broken.len());
}

#[test]
fn the_standard_itself_breaks_no_law() {
    let inputs = inputs();
    assert!(inputs.len() > 500, "{}", inputs.len());
    judge_the_standard(&inputs);
}

#[test]
#[ignore = "`.ci/run full` runs it, in release"]
fn the_standard_itself_breaks_no_law_on_three_bytes() {
    let inputs: Vec<_> = class_strings(3, 0).collect();
    assert!(inputs.len() > 2000, "{}", inputs.len());
    judge_the_standard(&inputs);
}

#[test]
fn our_conversions_break_no_law_under_any_policy() {
    let policies = peers::policies();
    assert_eq!(policies.len(), 10);
    let inputs: Vec<_> = inputs().into_iter().chain(class_strings(3, 0)).collect();
    let broken = broken(&policies, inputs.iter().map(|bytes| (&bytes[..], None)));
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn a_decoder_by_bytes_may_report_an_incomplete_sequence() {
    let contract = Contract { segmentation: Segmentation::Byte, ..Contract::STANDARD };
    let decoder = faulty::Faulty {
        info: Info::new("by-byte", "0").contract(contract),
        validate: |bytes| {
            let Err(error) = std::str::from_utf8(bytes) else { return Some(Validity::Valid) };
            let len = ErrorLen::from_error_len(error.error_len().map(|_| 1));
            Some(Malformed::at(error.valid_up_to(), len).into())
        },
        lossy: |bytes| {
            let mut out = Vec::new();
            let mut rest = bytes;
            while let Err(error) = std::str::from_utf8(rest) {
                let (text, wrong) = rest.split_at(error.valid_up_to());
                out.extend([text, "\u{FFFD}".as_bytes()].concat());
                rest = &wrong[1..];
            }
            out.extend(rest);
            Some(out)
        },
        ..faulty::Faulty::default()
    };
    let broken = broken(&[Box::new(decoder)], inputs().iter().map(|bytes| (&bytes[..], None)));
    assert!(broken.is_empty(), "{broken:#?}");
}

/// Every combination of the parts of a contract, with everything that may be promised of it; also those that contradict
/// themselves.
fn claims() -> Vec<(Contract, Promise)> {
    let mut claims = Vec::new();
    for grammar in grammar::ALL {
        for segmentation in Segmentation::ALL {
            for replacement in Replacement::ALL.into_iter().map(Some).chain([None]) {
                for bom in [Bom::Keep, Bom::Strip] {
                    for end in [End::Incomplete, End::Error] {
                        for detection in [Detection::Late, Detection::Earliest] {
                            let contract = Contract { grammar, segmentation, replacement, bom, end, detection };
                            claims.extend(PROMISES.map(|promise| (contract, promise)));
                        }
                    }
                }
            }
        }
    }
    claims
}

const PROMISES: [Promise; 4] = [Promise::Everything, Promise::AnySegmentation, Promise::WellFormed, Promise::Nothing];

fn claim((contract, promise): (Contract, Promise)) -> Info {
    let mut info = Info::new("perfect", "0").contract(contract);
    info.promise = promise;
    info
}

/// What cannot be kept is refused, by a sentence that names it; and for each reason it is shown that it cannot be kept.
#[test]
fn a_contract_that_contradicts_itself_is_refused() {
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    for (contract, promise) in claims() {
        let Err(reason) = claim((contract, promise)).check() else { continue };
        let (cause, _) = reason.split_once(" contradicts ").unwrap();
        *reasons.entry(cause.to_owned()).or_default() += 1;
        let parsed = contract.to_string().parse::<Contract>();
        assert_eq!(parsed.err(), contract.check().err(), "{contract}");
        let mut honest = Honest::new(contract);
        honest.0.promise = promise;
        let refused = check_infos([&honest as &dyn Decoder]).unwrap_err().to_string();
        assert!(refused.contains(&reason) && refused.contains("decoder 1 of the list (honest)"), "{refused}");
        assert!(refused.contains("declare") || refused.contains("promise everything"), "{refused}");
    }
    println!("{reasons:?}");
    let causes: Vec<&str> = reasons.keys().map(String::as_str).collect();
    let replacements = ["drop", "latin-1", "no-output", "surrogateescape", "windows-1252", "windows-1252-strict"];
    assert!(replacements.iter().all(|name| causes.contains(name)), "{causes:?}");
    assert_eq!(causes.len(), replacements.len() + 2, "{causes:?}");

    let strings = || inputs().into_iter().filter(|bytes| bytes.len() <= 6);
    for grammar in grammar::ALL {
        // Escaped bytes are told from text, and there are no others than U+DC80..U+DCFF.
        let escaping = Contract { grammar, replacement: Some(Replacement::SurrogateEscape), ..Contract::STANDARD };
        let is_told = strings().all(|bytes| {
            let escapes = |segment: spec::Segment| match segment.reading {
                spec::Reading::WellFormed(code_point) => !(0xDC00..=0xDCFF).contains(&code_point),
                spec::Reading::IllFormed { .. } => bytes[segment.range()].iter().all(|byte| *byte >= 0x80),
            };
            spec::segments(&escaping, &bytes).all(escapes)
        });
        assert_eq!(escaping.check().is_ok(), is_told, "{escaping}");
        // Of two segmentations one may not be another name of the other.
        for (index, segmentation) in Segmentation::ALL.into_iter().enumerate() {
            let contract = Contract { grammar, segmentation, ..Contract::STANDARD };
            let is_alike = |other: &Segmentation| {
                let other = Contract { segmentation: *other, ..contract };
                strings().all(|bytes| answer(&contract, &bytes) == answer(&other, &bytes))
            };
            let is_another_name = Segmentation::ALL[..index].iter().any(is_alike);
            assert_eq!(contract.check().is_err(), is_another_name, "{contract}");
        }
    }
}

/// Random numbers (SplitMix64).
struct Lot(u64);

impl Lot {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((mixed ^ (mixed >> 31)) % bound as u64) as usize
    }

    fn toss(&mut self) -> bool {
        self.below(2) == 0
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    fn answers(&mut self, detection: Detection) -> Answers {
        loop {
            let answers = Answers {
                verdict: self.below(4) > 0,
                stated: [self.toss(), self.toss(), self.toss()],
                output: self.below(3) > 0,
                stream: self.below(3) > 0,
                concludes: self.toss(),
                prompt: detection == Detection::Earliest || self.toss(),
            };
            if answers.verdict || answers.output || answers.stream {
                return answers;
            }
        }
    }

    /// What a decoder does that keeps what is promised of its contract.
    fn does(&mut self, contract: Contract, promise: Promise) -> Contract {
        loop {
            let mut does = contract;
            if promise != Promise::Everything {
                does.segmentation = self.of(&Segmentation::ALL);
            }
            if matches!(promise, Promise::WellFormed | Promise::Nothing) {
                does.end = self.of(&[End::Incomplete, End::Error]);
                // The contract says how it is asked: whether streams write anything.
                does.replacement = contract.replacement.map(|_| self.of(&Replacement::ALL));
            }
            if promise == Promise::Nothing {
                does.bom = self.of(&[Bom::Keep, Bom::Strip]);
                // In WTF-8 alone, a concatenation of well-formed strings may be ill-formed.
                let like = |grammar: &&grammar::Grammar| grammar.pairs_join == contract.grammar.pairs_join;
                let grammars: Vec<_> = grammar::ALL.into_iter().filter(like).collect();
                does.grammar = self.of(&grammars);
            }
            if does.check().is_ok() {
                return does;
            }
        }
    }

    /// A class string, a string of fragments, or a structured input; some with cuts of their own.
    fn input(&mut self, fragments: &[Vec<u8>]) -> (Vec<u8>, Option<Cuts>) {
        let bytes = match self.below(8) {
            0..3 => {
                let block = Block { len: 1 + self.below(5) as u32, offset: self.of(&[0, 0, 0, 1, 13, 30, 62]) };
                let mut bytes = Vec::new();
                block.write(self.below(block.count() as usize) as u64, &mut bytes);
                bytes
            }
            3..5 => fragments[self.below(fragments.len())].clone(),
            5..7 => Structured::small(self.below(usize::MAX) as u64).0,
            // The longest are left to other tests: streams here read everything again at each chunk.
            _ => {
                let mut bytes = Structured::seeded(self.below(usize::MAX) as u64).0;
                bytes.truncate(Structured::LONGEST / 4);
                bytes
            }
        };
        let cuts = match self.below(4) {
            0 => Some(Cuts::every(1 + self.below(3), bytes.len())),
            1 => Some(Cuts::new([self.below(bytes.len() + 1)], bytes.len())),
            _ => None,
        };
        (bytes, cuts)
    }
}

/// Judges this many decoders, each with another combination of contract, promise and answers, on this many inputs each.
/// Returns the false alarms.
fn judge_random(combinations: usize, inputs: usize, seed: u64) -> BTreeMap<String, String> {
    const TOGETHER: usize = 50;
    let start = Instant::now();
    let claims = claims();
    let fragments: Vec<Vec<u8>> = fragments::strings_up_to(3).collect();
    let mut lot = Lot(seed);
    let (mut drawn, mut refused) = (BTreeSet::new(), 0);
    let mut decoders: Vec<Box<dyn Decoder>> = Vec::new();
    while decoders.len() < combinations {
        let (contract, promise) = lot.of(&claims);
        let info = claim((contract, promise));
        if info.check().is_err() {
            refused += 1;
            continue;
        }
        let answers = lot.answers(contract.detection);
        if drawn.insert((info.claim(), answers)) {
            let info = info.name(format!("perfect-{}", decoders.len()));
            decoders.push(Box::new(Perfect { info, does: lot.does(contract, promise), answers }));
        }
    }
    check_infos(decoders.iter().map(|decoder| &**decoder)).unwrap();
    let parts: Vec<(usize, &[Box<dyn Decoder>])> = decoders.chunks(TOGETHER).enumerate().collect();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let found: BTreeMap<String, String> = std::thread::scope(|scope| {
        let work = |worker: usize| {
            let (parts, fragments) = (&parts, &fragments);
            move || {
                let mut found = BTreeMap::new();
                for (index, decoders) in parts.iter().skip(worker).step_by(threads) {
                    let mut lot = Lot(seed ^ (*index as u64) << 32);
                    let inputs: Vec<_> = (0..inputs).map(|_| lot.input(fragments)).collect();
                    found.extend(broken(decoders, inputs.iter().map(|(bytes, cuts)| (&bytes[..], *cuts))));
                }
                found
            }
        };
        let workers: Vec<_> = (0..threads).map(|worker| scope.spawn(work(worker))).collect();
        workers.into_iter().flat_map(|worker| worker.join().unwrap()).collect()
    });
    println!(
        "{combinations} combinations of contract, promise and answers, {refused} contradictory ones refused, {inputs} \
         inputs each, in {:.0} s: {} kinds of false alarm",
        start.elapsed().as_secs_f64(),
        found.len()
    );
    found
}

#[test]
fn no_decoder_that_keeps_its_contract_is_accused() {
    let alarms = judge_random(400, 150, 17);
    assert!(alarms.is_empty(), "{} kinds of false alarm: {alarms:#?}", alarms.len());
}

/// `cargo test --release --test no_false_alarms -- --ignored --nocapture`
#[test]
#[ignore = "minutes; `.ci/run full` runs it, in release"]
fn ten_thousand_decoders_that_keep_their_contracts_are_not_accused() {
    let alarms = judge_random(10_000, 1000, 1);
    assert!(alarms.is_empty(), "{} kinds of false alarm: {alarms:#?}", alarms.len());
}
