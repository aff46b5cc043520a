//! Triage through the public interface: brute force finds no smaller witnesses, and any mix of files can be triaged.

mod faulty;

use faulty::{Faulty, Honest, Leaky, finish, verdict};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::{self, ThreadId};
use utfuzz::Contract;
use utfuzz::case::{Case, Cuts, Input};
use utfuzz::codec::Streaming;
use utfuzz::decoder::Batched;
use utfuzz::engine::check::{Options, Plan, Stage, check};
use utfuzz::generate::classes::Block;
use utfuzz::generate::structured::Structured;
use utfuzz::judge::{Judge, Law, Questions, silence_panics};
use utfuzz::triage::Causes;
use utfuzz::triage::ledger::Ledger;
use utfuzz::triage::minimise::{Witness, minimise_as};
use utfuzz::triage::session::{Session, Shown};
use utfuzz::triage::{Status, regression, triage};
use utfuzz::utf8::Validity;
use utfuzz::{Decoder, Info, Stream, peers};

fn planted(id: &str) -> Box<dyn Decoder> {
    let name = format!("planted-{id}");
    peers::all().into_iter().find(|decoder| decoder.info().name == name).unwrap()
}

/// The witness to which the first structured input that shows the fault is minimised.
fn witness(decoder: &dyn Decoder) -> Witness {
    let mut judge = Judge::new([decoder]);
    let mut inputs =
        (0..10_000).map(|seed| if seed % 2 == 0 { Structured::dense(seed) } else { Structured::seeded(seed) }.0);
    let divergence = inputs.find_map(|bytes| {
        let case = Case::new(&bytes);
        let broken = judge.judge(&case).first().copied()?;
        Some(utfuzz::explain::explain(&judge, &case, &broken))
    });
    let divergence = divergence.expect("an input shows the fault");
    let decoders = [decoder];
    let causes = Causes::new(&decoders);
    minimise_as(decoder, &divergence, &|signature| causes.are_one(signature, &divergence.signature))
}

/// A class string, cut or not, that is shorter than the witness and has its signature.
fn shorter_one(decoder: &dyn Decoder, witness: &Witness) -> Option<Vec<u8>> {
    let mut judge = Judge::new([decoder]);
    let decoders = [decoder];
    let causes = Causes::new(&decoders);
    let mut bytes = Vec::new();
    for len in 0..witness.input.bytes.len() as u32 {
        let block = Block { len, offset: 0 };
        for index in 0..block.count() {
            block.write(index, &mut bytes);
            let cuts = match witness.input.cuts {
                None => vec![None],
                Some(_) => (0..=len as usize).map(|cut| Some(Cuts::new([cut], len as usize))).collect(),
            };
            for cuts in cuts {
                let case = cuts.map_or_else(|| Case::new(&bytes), |cuts| Case::with_cuts(&bytes, cuts));
                let Some(broken) = judge.judge(&case).first().copied() else { continue };
                if broken.law == witness.signature.law
                    && causes.are_one(
                        &utfuzz::explain::signature(judge.decoder(broken.decoder), &case, &broken),
                        &witness.signature,
                    )
                {
                    return Some(bytes);
                }
            }
        }
    }
    None
}

#[test]
fn a_witness_is_as_small_as_brute_force_can_make_it() {
    silence_panics();
    let mut small = 0;
    for id in [
        "g01", "g06", "g09", "g19", "s08", "s13", "r04", "r06", "r13", "r16", "t06", "t10", "t13", "t15", "t21", "m01",
        "x01", "x02", "t08", "r01",
    ] {
        let decoder = planted(id);
        let witness = witness(&*decoder);
        let len = witness.input.bytes.len();
        println!("{id}: {} in {len} bytes, {} steps", witness.signature, witness.steps);
        // Longer ones would take too long.
        if len <= 5 {
            small += 1;
            assert_eq!(shorter_one(&*decoder, &witness), None, "{id}: {witness:?}");
        }
    }
    assert!(small >= 19, "{small}");
}

#[test]
fn a_witness_is_deterministic_and_shows_its_signature() {
    for id in ["s05", "t13", "g09"] {
        let decoder = planted(id);
        let (first, second) = (witness(&*decoder), witness(&*decoder));
        assert_eq!((first.input.clone(), first.steps), (second.input, second.steps));
        let mut judge = Judge::new([&*decoder]);
        let case = first.input.case();
        let broken = judge.judge(&case).first().copied().unwrap();
        assert_eq!(utfuzz::explain::signature(judge.decoder(broken.decoder), &case, &broken), first.signature);
        let agreeing = first.agreeing.unwrap();
        let agreeing = Input { bytes: agreeing, cuts: first.input.cuts };
        assert!(judge.judge(&agreeing.case()).is_empty());
    }
    // An error at the edge of a block of 32 bytes, and nothing more than it needs.
    assert!(witness(&*planted("s05")).input.bytes.len() <= 33);
}

#[test]
fn any_mix_of_files_is_triaged_and_kept_witnesses_are_no_longer_new() {
    let scratch = tempfile::tempdir().unwrap();
    let folder = scratch.path().join("folder");
    fs::create_dir_all(folder.join("streaming")).unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        path
    };
    let mut files = vec![
        file("crash-1", b"text \xED\xA0\x80 text"),
        file("oom-2", b"nothing wrong"),
        file("slow-unit-3", b"\xED\xA0\x80"),
        file("empty", b""),
        file("\u{1B}[2J<b>", b"\xED\xBF\xBF"),
        file("huge", &vec![b'a'; (1 << 20) + 1]),
        file("streaming/crash-4", b"a\xED\xA0\x80\x01\x00\x01"),
    ];
    files.push(folder.join("gone"));
    files.push(PathBuf::from(&folder));
    let decoder = planted("surrogates");
    let kept = scratch.path().join("kept");
    let shares: Mutex<BTreeMap<&str, Vec<f64>>> = Mutex::default();
    let progress = |step, share| shares.lock().unwrap().entry(step).or_default().push(share);
    let run = || triage(&[&*decoder], &Ledger::default(), &files, Some(&kept), &progress).unwrap();
    let outcome = run();
    let mut seen = std::mem::take(&mut *shares.lock().unwrap());
    seen.values_mut().for_each(|shares| shares.sort_by(f64::total_cmp));
    let ninths = (1..=files.len()).map(|done| done as f64 / files.len() as f64).collect();
    assert_eq!(seen, BTreeMap::from([("sorting", ninths), ("minimising", vec![1.0])]));
    assert_eq!((outcome.inputs, outcome.clean, outcome.clusters.len()), (6, 2, 1));
    assert_eq!(outcome.clusters[0].inputs(), 4);
    assert_eq!((outcome.unread.len(), outcome.slow.len()), (3, 1), "{:?}", outcome.unread);
    assert!(outcome.unread.iter().all(|line| !line.contains('\u{1B}')));
    let member = outcome.new_members().next().unwrap();
    assert_eq!((member.finding.hits, &member.witness.input.bytes[..]), (4, &b"\xED\xA0\x80"[..]));
    let path = regression::keep(&kept, &member.witness.signature, &member.witness.input).unwrap();
    assert_eq!(path.file_name().unwrap(), "surrogate__verdict__planted-surrogates.bin");
    let again = run();
    assert_eq!(again.new_members().count(), 0);
    assert_eq!(*again.clusters[0].status(), Status::Regression(path));
}

/// Which of the results of judging the input this often are explanations.
fn explained(session: &mut Session<'_>, bytes: &[u8], times: usize) -> Vec<bool> {
    let case = Case::with_cuts(bytes, Cuts::NONE);
    let once = |_| match &session.judge(&case)[..] {
        [Shown::New(_)] => true,
        [Shown::Again(_)] => false,
        other => panic!("{other:?}"),
    };
    (0..times).map(once).collect()
}

#[test]
fn a_law_is_explained_until_the_result_is_settled() {
    silence_panics();
    let (surrogates, edge) = (planted("surrogates"), planted("s05"));
    let ledger = Ledger::default();
    let session = |decoder| Session::new([decoder], &ledger);
    let anywhere = b"a\xED\xA0\x80b";
    let at_edge = [&[b'a'; 31][..], b"\xFE"].concat();
    assert_eq!(explained(&mut session(&*surrogates), anywhere, 3), [true; 3]);
    // The first explanation says that it is everywhere.
    assert_eq!(explained(&mut session(&*surrogates).settling_after(3), anywhere, 3), [true, false, false]);
    let mut settling = session(&*edge).settling_after(3);
    assert_eq!(explained(&mut settling, &at_edge, 5), [true, true, true, false, false]);
    assert!(!settling.explaining().is_zero());
    let record = settling.finish();
    assert_eq!(record.findings.values().map(|finding| finding.hits).collect::<Vec<_>>(), [5]);
    assert_eq!(explained(&mut session(&*edge), &at_edge, 5), [true; 5]);
}

#[test]
fn a_finding_lists_twenty_files_and_keeps_the_smallest_input() {
    let decoder = planted("surrogates");
    let ledger = Ledger::default();
    let record = |settles: bool, names: std::ops::Range<usize>, bytes: &[u8]| {
        let session = Session::new([&*decoder], &ledger);
        let mut session = if settles { session.settling_after(1) } else { session };
        for name in names {
            let file = PathBuf::from(format!("file-{name}"));
            session.judge_file(&Case::with_cuts(bytes, Cuts::NONE), &file);
        }
        assert_eq!(session.record().findings.len(), 1);
        session.finish()
    };
    let (long, short) = (b"some text \xED\xA0\x80", b"\xED\xA0\x80");
    for settles in [true, false] {
        let merged = record(settles, 0..15, long).merge(record(settles, 15..40, short));
        let other = record(settles, 15..40, short).merge(record(settles, 0..15, long));
        for record in [merged, other] {
            let finding = record.findings.values().next().unwrap();
            assert_eq!((finding.hits, finding.files.len(), record.clean), (40, 20, 0));
            assert_eq!(finding.divergence.bytes, short);
        }
        let many = record(settles, 0..25, short);
        assert_eq!(many.findings.values().map(|of| (of.hits, of.files.len())).collect::<Vec<_>>(), [(25, 20)]);
    }
}

/// A validator that gives these verdicts.
fn validator(validate: fn(&[u8]) -> Option<Validity>) -> Faulty {
    let info = Info::new("faulty", "1.0.0").contract(Contract::VALIDATOR);
    Faulty { info, validate, lossy: |_| None, ..Faulty::default() }
}

/// A ledger with one entry.
fn ledger(versions: &str, law: &str, subject: &str) -> Ledger {
    let text = format!(
        r#"
        [[known]]
        id = "it-is-known"
        decoder = "faulty"
        versions = "{versions}"
        laws = ["{law}"]
        subjects = ["{subject}"]
        reason = "r"
        link = "l"
        date = "2026-11-20"
    "#
    );
    Ledger::parse(&text, "a test").unwrap()
}

/// A stream without output.
struct Silent;

impl Stream for Silent {
    fn push(&mut self, _: &[u8], _: &mut Vec<u8>) {}

    fn finish(&mut self, _: &mut Vec<u8>) -> Option<Validity> {
        None
    }
}

/// The questions asked show that the stream is wrong; the stronger law that is broken is reported.
#[test]
fn a_decoder_is_reported_for_its_strongest_law_whatever_was_asked() {
    let validate = |bytes: &[u8]| Some(if bytes == b"abc" { Validity::INVALID } else { verdict(bytes) });
    let faulty = Faulty { validate, stream: || Some(Box::new(Silent)), ..Faulty::default() };
    let ledger = Ledger::default();
    let mut session = Session::new([&faulty as &dyn Decoder], &ledger);
    let shown = session.judge_selected(&Case::new(b"abc"), Questions::STREAM, |_| true);
    assert_eq!(shown[0].signature().unwrap().law, Law::Verdict, "{shown:?}");
    assert!(!session.confirming().is_zero() && !session.explaining().is_zero());
}

#[test]
fn every_number_of_a_version_counts_however_it_is_written() {
    for version in ["1.5.2", "expat_1.5.2", "1.5.2_15+6-Debian", "release 1.5.2, patched"] {
        let is_about =
            |versions| ledger(versions, "verdict", "surrogate").entries()[0].is_about(&Info::new("faulty", version));
        assert!(is_about("=1.5.2") && is_about(">=1.5.2, <1.5.3"), "{version}");
        assert!(!is_about("<=1.5.1") && !is_about(">=1.5.3") && !is_about("<1.5"), "{version}");
    }
}

#[test]
fn kinds_of_one_cause_are_one_finding_unless_the_ledger_names_some_of_them() {
    let everything = validator(|_| Some(Validity::Valid));
    let decoders: [&dyn Decoder; 1] = [&everything];
    let scratch = tempfile::tempdir().unwrap();
    let inputs: [(&str, &[u8]); 2] = [("surrogate", b"some text \xED\xA0\x80 and more"), ("overlong", b"a \xC0\x80 b")];
    let files = inputs.map(|(name, bytes)| {
        let path = scratch.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    });
    let shares: Mutex<Vec<f64>> = Mutex::default();
    let run = |ledger: &Ledger| {
        let progress = |step, share| {
            if step == "minimising" {
                shares.lock().unwrap().push(share);
            }
        };
        let outcome = triage(&decoders, ledger, &files, None, &progress).unwrap();
        let mut shares = std::mem::take(&mut *shares.lock().unwrap());
        shares.sort_by(f64::total_cmp);
        let members: Vec<_> = outcome.clusters.into_iter().flat_map(|cluster| cluster.members).collect();
        for member in &members {
            assert_eq!(member.finding.divergence.bytes, member.witness.input.bytes, "the witness is explained");
        }
        (members, shares)
    };
    let (together, shares_of_one) = run(&Ledger::default());
    assert_eq!((together.len(), shares_of_one), (1, vec![1.0]));
    let others: Vec<String> = together[0].others.iter().map(ToString::to_string).collect();
    let expected = ["verdict/faulty/overlong-2/anywhere", "verdict/faulty/surrogate/anywhere"];
    let witness = together[0].witness.signature.to_string();
    let expected: Vec<&str> = expected.into_iter().filter(|one| *one != witness).collect();
    assert_eq!(
        (others, together[0].finding.hits),
        (expected.iter().map(ToString::to_string).collect(), 2),
        "{witness}"
    );

    let (apart, shares_of_two) = run(&ledger("1", "verdict", "surrogate"));
    let found: Vec<_> = apart.iter().map(|member| (&member.status, member.finding.hits, member.others.len())).collect();
    assert_eq!(found.len(), 2, "{found:?}");
    let known = Status::Known("it-is-known".to_owned());
    assert!([&Status::New, &known].iter().all(|status| found.contains(&(*status, 1, 0))), "{found:?}");
    assert_eq!(shares_of_two, [0.5, 1.0]);
}

/// Accepts surrogates and overlong forms of two bytes, which are shorter.
fn accepts_two_kinds(mut bytes: &[u8]) -> Option<Validity> {
    while let Err(error) = std::str::from_utf8(bytes) {
        bytes = match &bytes[error.valid_up_to()..] {
            [0xED, 0xA0..=0xBF, 0x80..=0xBF, rest @ ..] | [0xC0 | 0xC1, 0x80..=0xBF, rest @ ..] => rest,
            _ => return Some(Validity::INVALID),
        };
    }
    Some(Validity::Valid)
}

#[test]
fn a_witness_is_of_the_kind_that_was_found_even_if_another_kind_is_shorter() {
    let decoder = validator(accepts_two_kinds);
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("crash");
    fs::write(&file, b"text \xED\xA0\x80").unwrap();
    let outcome = triage(&[&decoder], &Ledger::default(), &[file], None, &|_, _| {}).unwrap();
    let member = outcome.new_members().next().unwrap();
    assert_eq!(member.witness.signature.to_string(), "verdict/faulty/surrogate/anywhere");
    assert_eq!(member.witness.input.bytes, b"\xED\xA0\x80");
}

#[test]
fn a_law_whose_explanation_varies_is_settled_after_four_times_as_many() {
    // Two faults in one kind of byte: at certain offsets, and in inputs of a certain size.
    let decoder = validator(|bytes| {
        let is_missed = |at: usize| bytes[at] == 0xFE && (at % 32 == 31 || bytes.len() == 11);
        let is_wrong = (0..bytes.len()).any(is_missed);
        Some(if is_wrong { Validity::Valid } else { verdict(bytes) })
    });
    let ledger = Ledger::default();
    let mut session = Session::new([&decoder as &dyn Decoder], &ledger).settling_after(2);
    let (at_edge, in_eleven) = ([&[b'a'; 31][..], b"\xFE"].concat(), b"text \xFE text");
    let mut is_new = Vec::new();
    for _ in 0..5 {
        is_new.extend(explained(&mut session, &at_edge, 1));
        is_new.extend(explained(&mut session, in_eleven, 1));
    }
    let found: Vec<String> = session.record().findings.keys().map(ToString::to_string).collect();
    assert_eq!(found, ["verdict/faulty/invalid-byte/edge32", "verdict/faulty/invalid-byte/context"]);
    assert_eq!(is_new, [[true; 8].as_slice(), &[false; 2]].concat());
}

#[test]
fn a_known_difference_is_counted_without_an_explanation() {
    silence_panics();
    let verdicts = validator(|_| Some(Validity::Valid));
    let ledger_of_verdicts = ledger("1", "verdict", "surrogate");
    let case = Case::with_cuts(b"a\xED\xA0\x80", Cuts::NONE);
    let mut session = Session::new([&verdicts as &dyn Decoder], &ledger_of_verdicts);
    assert!(matches!(session.judge(&case)[..], [Shown::Known(0)]));
    assert!(session.explaining().is_zero() && session.record().known == BTreeMap::from([(0, 1)]));

    // Its output is wrong too, but that is not what is known about it: its stream panics.
    const PUSH: fn(&mut Streaming, &[u8], &mut Vec<u8>) = |stream, chunk, out| {
        assert!(!chunk.contains(&0xED), "as it is known to");
        stream.push(chunk, out);
    };
    let panics = Faulty {
        info: Info::new("faulty", "1.0.0"),
        lossy: |bytes| Some(if bytes.contains(&0xED) { Vec::new() } else { faulty::lossy(bytes) }),
        stream: || Some(Box::new(Leaky { inner: Streaming::new(), push: PUSH, finish })),
        ..Faulty::default()
    };
    let ledger_of_panics = ledger("1", "panic", "unplaced");
    let mut session = Session::new([&panics as &dyn Decoder], &ledger_of_panics);
    let shown = session.judge_selected(&case, Questions::ANSWERS, |_| true);
    assert!(matches!(shown[..], [Shown::Known(0)]), "{shown:?}");
    assert!(session.explaining().is_zero(), "it is found by asking every question");
}

#[test]
fn a_finding_of_a_check_has_the_answers_of_all_decoders() {
    let (wrong, right) = (validator(|_| Some(Validity::Valid)), Honest::new(Contract::VALIDATOR));
    let decoders: [&dyn Decoder; 2] = [&wrong, &right];
    let options = Options { only: vec![Stage::Vectors], ledger: Ledger::default(), ..Options::default() };
    let outcome = check(&decoders, &options, &|_, _| {}).unwrap();
    assert!(!outcome.divergences.is_empty());
    for (signature, finding) in &outcome.divergences {
        let groups = finding.divergence.grid.questions.iter().flat_map(|question| &question.groups);
        let mut names: Vec<_> = groups.flat_map(|group| &group.decoders).collect();
        names.sort();
        assert_eq!(names, ["faulty", "honest"], "{signature}");
    }
}

/// What one thread has noted, and what it asked for before that.
#[derive(Default)]
struct Told {
    noted: BTreeSet<Vec<u8>>,
    asked: BTreeSet<Vec<u8>>,
}

/// Answers many questions at once; counts those that it was not told of before.
struct Remote {
    planner: Planner,
    times: AtomicUsize,
    questions: AtomicUsize,
    untold: AtomicUsize,
}

struct Planner {
    standard: Honest,
    told: Mutex<HashMap<ThreadId, Told>>,
}

impl Planner {
    fn told<T>(&self, with: impl FnOnce(&mut Told) -> T) -> T {
        with(self.told.lock().unwrap().entry(thread::current().id()).or_default())
    }
}

impl Decoder for Planner {
    fn info(&self) -> &Info {
        self.standard.info()
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        self.told(|told| told.noted.insert(bytes.to_vec()));
        self.standard.validate(bytes)
    }
}

impl Decoder for Remote {
    fn info(&self) -> &Info {
        self.planner.info()
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        self.questions.fetch_add(1, Ordering::Relaxed);
        let is_told = self.planner.told(|told| told.asked.contains(bytes));
        // What it can answer is found out with empty input.
        if !is_told && !bytes.is_empty() {
            self.untold.fetch_add(1, Ordering::Relaxed);
        }
        self.planner.standard.validate(bytes)
    }

    fn batched(&self) -> Option<&dyn Batched> {
        Some(self)
    }
}

impl Batched for Remote {
    fn planner(&self) -> &dyn Decoder {
        &self.planner
    }

    fn ask_planned(&self) {
        self.times.fetch_add(1, Ordering::Relaxed);
        self.planner.told(|told| told.asked = std::mem::take(&mut told.noted));
    }

    fn is_slow(&self) -> bool {
        false
    }

    fn stop(&self) {}

    fn summary(&self) -> String {
        String::new()
    }
}

#[test]
fn a_decoder_in_another_process_is_asked_many_questions_at_once_and_no_other() {
    let planner = Planner { standard: Honest::new(Contract::VALIDATOR), told: Mutex::default() };
    let (times, questions, untold) = Default::default();
    let remote = Remote { planner, times, questions, untold };
    let only = vec![Stage::Vectors, Stage::Classes];
    let options = Options { only, plan: Plan::Few, ledger: Ledger::default(), ..Options::default() };
    let outcome = check(&[&remote], &options, &|_, _| {}).unwrap();
    assert!(outcome.divergences.is_empty());
    let count = |of: &AtomicUsize| of.load(Ordering::Relaxed);
    let (times, questions) = (count(&remote.times), count(&remote.questions));
    assert_eq!(count(&remote.untold), 0, "of {questions}");
    assert!(times > 10 && questions > 10 * times, "{questions} in {times}");
}
