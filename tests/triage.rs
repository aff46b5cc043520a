//! Triage through the public interface: brute force finds no smaller witnesses, and any mix of files can be triaged.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use utfuzz::case::{Case, Cuts, Input};
use utfuzz::generate::classes::Block;
use utfuzz::generate::structured::Structured;
use utfuzz::judge::{Judge, silence_panics};
use utfuzz::triage::Causes;
use utfuzz::triage::ledger::Ledger;
use utfuzz::triage::minimise::{Witness, minimise_as};
use utfuzz::triage::session::{Session, Shown};
use utfuzz::triage::{Status, regression, triage};
use utfuzz::{Decoder, peers};

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
