//! Triage of files, and the regressions that are kept from it.
//!
//! Each file is judged, the smallest input of each signature is minimised, and signatures with the same cause form a cluster.
//! A regression is a witness kept as a file, named after its signature: `SUBJECT__LAW__DECODER.bin`, with the shape after
//! the decoder unless it is `anywhere`, and `.cut` instead of `.bin` if the file contains cuts. `cargo test` replays each of
//! them.

use crate::case::input::files_below;
use crate::case::{Case, Input};
use crate::decoder::{Decoder, check_infos};
use crate::error::Error;
use crate::explain::{Shape, Signature};
use crate::generate::input_file;
use crate::io::create_file;
use crate::judge::{Judge, Law, Questions, Subject};
use crate::spec::{Contract, Reading, segments};
use crate::text::shown;
use crate::triage::ledger::Ledger;
use crate::triage::minimise::{Witness, minimise_as};
use crate::triage::session::{Finding, Record, Session};
use crate::utf8::{Kind, announced_len};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The result of a triage.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// How many inputs were judged.
    pub inputs: u64,
    /// How many of them showed no divergence.
    pub clean: u64,
    /// The divergences of the others, in the order of their signatures.
    pub clusters: Vec<Cluster>,
    /// Files that could not be read, and why.
    pub unread: Vec<String>,
    /// Files that libFuzzer reported as slow, hanging or using too much memory, and that show no divergence.
    pub slow: Vec<PathBuf>,
}

/// Divergences with the same cause.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Each signature, the strongest law first. Never empty.
    pub members: Vec<Member>,
}

/// One signature.
#[derive(Clone, Debug)]
pub struct Member {
    /// The inputs that have it, and the explanation of the witness.
    pub finding: Finding,
    /// Other signatures of the same decoder, law and cause; their inputs are counted here.
    pub others: Vec<Signature>,
    /// The minimised input.
    pub witness: Witness,
    /// Whether it was known before.
    pub status: Status,
}

/// Whether a signature was known before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// It was not known.
    New,
    /// It is in the ledger, under this id.
    Known(String),
    /// This regression file shows it.
    Regression(PathBuf),
}

impl Outcome {
    /// The signatures that are new.
    pub fn new_members(&self) -> impl Iterator<Item = &Member> {
        self.clusters.iter().flat_map(|cluster| &cluster.members).filter(|member| member.status == Status::New)
    }
}

impl Cluster {
    /// How many inputs show it.
    pub fn inputs(&self) -> u64 {
        self.members.iter().map(|member| member.finding.hits).sum()
    }

    /// New if any of its signatures is; otherwise a regression if any is; otherwise known.
    pub fn status(&self) -> &Status {
        let weight = |status: &&Status| match status {
            Status::New => 0,
            Status::Regression(_) => 1,
            Status::Known(_) => 2,
        };
        self.members.iter().map(|member| &member.status).min_by_key(weight).unwrap_or(&Status::New)
    }
}

/// Triages these files. `regressions` is a directory of inputs that are known to show a divergence; `progress` is
/// called, from any thread, with the current step and the fraction of it that is done. Files that cannot be read are
/// listed in the result and are not an error.
///
/// # Errors
/// The [names or contracts](check_infos) of the decoders are wrong, or the regressions cannot be listed.
pub fn triage(
    decoders: &[&dyn Decoder],
    ledger: &Ledger,
    files: &[PathBuf],
    regressions: Option<&Path>,
    progress: &(dyn Fn(&'static str, f64) + Sync),
) -> Result<Outcome, Error> {
    check_infos(decoders.iter().copied())?;
    let regressions = match regressions.filter(|directory| directory.is_dir()) {
        Some(directory) => files_below(directory)?,
        None => Vec::new(),
    };
    let (Record { findings: kept, .. }, unread_regressions, _) = sort(decoders, &regressions, &|_| {});
    let (sorted, mut unread, slow) = sort(decoders, files, &|share| progress("sorting", share));
    unread.extend(unread_regressions);
    let inputs = sorted.statistics.cases;
    let causes = Causes::new(decoders);
    let is_known = |signature: &Signature| {
        let decoder = decoders.iter().find(|decoder| decoder.info().name == signature.decoder);
        decoder.is_some_and(|decoder| ledger.covers(decoder.info(), signature.law, signature.subject).is_some())
    };
    // What the ledger covers is merged only with what it also covers, so that it never hides a kind that it does not name.
    let groups = merge_equivalent(sorted.findings, |signature| (causes.of(signature), is_known(signature)));
    let done = AtomicUsize::new(0);
    let work = |group: &MergeGroup| {
        let index = decoders.iter().position(|decoder| decoder.info().name == group.signatures[0].decoder)?;
        let first = &group.signatures[0];
        let same = |signature: &Signature| causes.are_one(first, signature) && is_known(first) == is_known(signature);
        let witness = minimise_as(decoders[index], &group.finding.divergence, &same);
        let mut judge = Judge::new(decoders.iter().copied());
        let case = witness.input.case();
        let divergence = judge.judge_one(index, &case).map(|broken| crate::explain::explain(&judge, &case, &broken));
        progress("minimising", (done.fetch_add(1, Ordering::Relaxed) + 1) as f64 / groups.len() as f64);
        let status = status(&witness.signature, decoders[index], ledger, &kept, &causes);
        let others = group.signatures.iter().filter(|signature| **signature != witness.signature).cloned().collect();
        let divergence = divergence.unwrap_or_else(|| group.finding.divergence.clone());
        Some(Member { finding: Finding { divergence, ..group.finding.clone() }, others, witness, status })
    };
    let members: Vec<Option<Member>> = groups.par_iter().with_max_len(1).map(work).collect();
    let mut members: BTreeMap<Signature, Member> =
        members.into_iter().flatten().map(|member| (member.witness.signature.clone(), member)).collect();
    let signatures: Vec<Signature> = members.keys().cloned().collect();
    let clusters = clusters(&signatures)
        .into_iter()
        .map(|group| Cluster { members: group.iter().filter_map(|signature| members.remove(signature)).collect() });
    Ok(Outcome { inputs, clean: sorted.clean, clusters: clusters.collect(), unread, slow })
}

/// Signatures that are minimised as one.
struct MergeGroup {
    /// Never empty.
    signatures: Vec<Signature>,
    finding: Finding,
}

/// Merges the findings whose signatures have one key.
fn merge_equivalent<K: Ord>(findings: BTreeMap<Signature, Finding>, key: impl Fn(&Signature) -> K) -> Vec<MergeGroup> {
    let mut groups: BTreeMap<K, MergeGroup> = BTreeMap::new();
    for (signature, finding) in findings {
        match groups.entry(key(&signature)) {
            Entry::Occupied(mut group) => {
                group.get_mut().signatures.push(signature);
                group.get_mut().finding.absorb(finding);
            }
            Entry::Vacant(place) => {
                place.insert(MergeGroup { signatures: vec![signature], finding });
            }
        }
    }
    groups.into_values().collect()
}

fn status(
    signature: &Signature,
    decoder: &dyn Decoder,
    ledger: &Ledger,
    kept: &BTreeMap<Signature, Finding>,
    causes: &Causes<'_>,
) -> Status {
    if let Some(entry) = ledger.covers(decoder.info(), signature.law, signature.subject) {
        return Status::Known(ledger.entries()[entry].id.clone());
    }
    match kept.iter().find(|(other, _)| causes.are_one(other, signature)).and_then(|(_, finding)| finding.files.first())
    {
        Some(file) => Status::Regression(file.clone()),
        None => Status::New,
    }
}

/// Reads and sorts files on all cores, in at most 16 pieces.
fn sort(
    decoders: &[&dyn Decoder],
    files: &[PathBuf],
    progress: &(dyn Fn(f64) + Sync),
) -> (Record, Vec<String>, Vec<PathBuf>) {
    /// The number of pieces is the same on every machine, so that every machine settles the same signatures.
    const PIECES: usize = 16;
    const PIECE: usize = 64;
    /// How often a broken law is explained before it is settled.
    const EXPLANATIONS: u32 = 8;
    let (all, done) = (files.len(), AtomicUsize::new(0));
    let sort_piece = |files: &[PathBuf]| {
        let ledger = Ledger::default();
        let mut session = Session::new(decoders.iter().copied(), &ledger).settling_after(EXPLANATIONS);
        let (mut unread, mut slow) = (Vec::new(), Vec::new());
        for file in files {
            match input_file::read(file) {
                Ok(input) => {
                    let is_clean = session.judge_file(&input.case(), file).is_empty();
                    slow.extend((is_clean && is_slow(file)).then(|| file.clone()));
                }
                Err(error) => unread.push(error.to_string()),
            }
            progress((done.fetch_add(1, Ordering::Relaxed) + 1) as f64 / all as f64);
        }
        (session.finish(), unread, slow)
    };
    let pieces: Vec<_> = files.par_chunks(files.len().div_ceil(PIECES).max(PIECE)).map(sort_piece).collect();
    let nothing = (Record::default(), Vec::new(), Vec::new());
    pieces.into_iter().fold(nothing, |(sorted, mut unread, mut slow), piece| {
        unread.extend(piece.1);
        slow.extend(piece.2);
        (sorted.merge(piece.0), unread, slow)
    })
}

/// Whether libFuzzer named the file for something other than a crash.
fn is_slow(file: &Path) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    ["slow-unit-", "timeout-", "oom-", "leak-"].iter().any(|start| name.starts_with(start))
}

/// The cause of a finding, as far as its signature tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// The location, regardless of the bytes there.
    Location,
    /// That the input is ill-formed, regardless of the kind: see [`fails_on_every_kind`].
    IllFormed,
    /// This subject.
    Subject(Subject, Shape),
}

impl Cause {
    /// The cause according to a signature, if `is_every_kind` is the answer of [`fails_on_every_kind`].
    pub fn of(subject: Subject, shape: Shape, is_every_kind: impl FnOnce() -> bool) -> Self {
        match (subject, shape) {
            (_, shape) if shape.is_location() => Self::Location,
            (Subject::Fault(_), Shape::Anywhere) if is_every_kind() => Self::IllFormed,
            _ => Self::Subject(subject, shape),
        }
    }
}

/// The causes of signatures of these decoders. Signatures of one decoder, law and cause are merged.
pub struct Causes<'a> {
    decoders: &'a [&'a dyn Decoder],
    /// The answers so far.
    every_kind: Mutex<BTreeMap<(String, Law), bool>>,
}

impl<'a> Causes<'a> {
    /// Asks a decoder only when it must.
    pub fn new(decoders: &'a [&'a dyn Decoder]) -> Self {
        Self { decoders, every_kind: Mutex::default() }
    }

    fn of(&self, signature: &Signature) -> (String, Law, Cause) {
        let cause = Cause::of(signature.subject, signature.shape, || self.is_every_kind(signature));
        (signature.decoder.clone().into_owned(), signature.law, cause)
    }

    /// Whether both are of one decoder, law and cause.
    pub fn are_one(&self, a: &Signature, b: &Signature) -> bool {
        self.of(a) == self.of(b)
    }

    fn is_every_kind(&self, signature: &Signature) -> bool {
        let Some(decoder) = self.decoders.iter().find(|decoder| decoder.info().name == signature.decoder) else {
            return false;
        };
        let mut answers = self.every_kind.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (signature.decoder.clone().into_owned(), signature.law);
        *answers.entry(key).or_insert_with(|| fails_on_every_kind(*decoder, signature.law))
    }
}

/// Whether the law is the strongest that the decoder breaks on every kind of ill-formed sequence that starts with a lead
/// byte, in the middle of ASCII. Then the kind is not the cause.
pub fn fails_on_every_kind(decoder: &dyn Decoder, law: Law) -> bool {
    const AROUND: [u8; 64] = [b'a'; 64];
    let mut judge = Judge::new([decoder]);
    let examples = examples(&decoder.info().contract);
    let mut is_broken = |example: &Vec<u8>| {
        let bytes = [&AROUND[..], example, &AROUND].concat();
        let case = Case::new(&bytes);
        judge.judge_on(&case, Questions::IN_PLACE).first().is_some_and(|broken| broken.law == law)
    };
    examples.values().all(|forms| forms.iter().any(&mut is_broken))
}

/// For each kind of error at a lead byte, one or two ill-formed sequences, with all bytes that the lead announces or
/// only those of the first segment: decoders differ in how many they read.
fn examples(contract: &Contract) -> BTreeMap<Kind, Vec<Vec<u8>>> {
    let mut examples: BTreeMap<Kind, Vec<Vec<u8>>> = BTreeMap::new();
    let first = |form: &[u8]| segments(contract, &[form, b"a"].concat()).next();
    for lead in 0xC0..=0xFF {
        for second in [b'a', 0x80, 0x90, 0xA0, 0xBF] {
            let mut form = vec![0x80; announced_len(lead).max(2)];
            (form[0], form[1]) = (lead, second);
            let shortest = first(&form).map(|segment| form[segment.range()].to_vec());
            for form in [Some(form), shortest].into_iter().flatten() {
                if let Some(Reading::IllFormed { kind, .. }) = first(&form).map(|segment| segment.reading) {
                    let forms = examples.entry(kind).or_default();
                    forms.extend((forms.len() < 2 && !forms.contains(&form)).then_some(form));
                }
            }
        }
    }
    examples
}

/// Groups the signatures by cause; each group, and the list of groups, is in the order of the signatures.
fn clusters(signatures: &[Signature]) -> Vec<Vec<Signature>> {
    let mut groups: Vec<Vec<Signature>> = Vec::new();
    for signature in signatures {
        let of_one_cause =
            |group: &Vec<Signature>| group.iter().any(|other| have_one_cause(signature, other, signatures));
        let (joined, others): (Vec<_>, Vec<_>) = groups.into_iter().partition(of_one_cause);
        groups = others;
        groups.push(joined.into_iter().flatten().chain([signature.clone()]).collect());
    }
    groups.iter_mut().for_each(|group| group.sort());
    groups.sort();
    groups
}

fn have_one_cause(a: &Signature, b: &Signature, all: &[Signature]) -> bool {
    if a.decoder != b.decoder || a.law.aspect() != b.law.aspect() {
        return false;
    }
    // The decoder gets the same subject wrong, but the law that breaks differs between inputs.
    if a.subject == b.subject {
        return true;
    }
    if a.law != b.law {
        return false;
    }
    match (a.shape, b.shape) {
        // Only the kind distinguishes them.
        (Shape::Anywhere, Shape::Anywhere) => family(a.subject) == family(b.subject) || is_about_any_kind(a, all),
        // The surroundings could not be removed, but the fault may still be the same.
        (Shape::Anywhere, Shape::Context | Shape::Offset) | (Shape::Context | Shape::Offset, Shape::Anywhere) => true,
        (Shape::Anywhere, _) | (_, Shape::Anywhere) => false,
        // The location is the cause.
        _ => true,
    }
}

/// Overlong forms of every length are one family.
fn family(subject: Subject) -> Subject {
    match subject {
        Subject::Fault(Kind::Overlong(_)) => Subject::Fault(Kind::Overlong(2)),
        other => other,
    }
}

/// Whether the decoder breaks this law on three kinds or more, so that the kind is not the cause.
fn is_about_any_kind(signature: &Signature, all: &[Signature]) -> bool {
    let alike = |other: &&Signature| {
        other.decoder == signature.decoder && other.law == signature.law && other.shape == Shape::Anywhere
    };
    let mut kinds: Vec<Subject> = all.iter().filter(alike).map(|other| family(other.subject)).collect();
    kinds.sort();
    kinds.dedup();
    kinds.len() >= 3
}

/// The name of the file for a signature, without its extension.
pub fn name(signature: &Signature) -> String {
    let Signature { law, decoder, subject, shape } = signature;
    match shape {
        Shape::Anywhere => format!("{subject}__{law}__{decoder}"),
        _ => format!("{subject}__{law}__{decoder}__{shape}"),
    }
}

/// Keeps an input in this directory, which is created if it does not exist. An existing file of that name is never
/// changed: if it has the same bytes, nothing is written; otherwise the new file gets a number. A file is written
/// completely or not at all.
///
/// # Errors
/// The directory or the file cannot be written.
pub fn keep(directory: &Path, signature: &Signature, input: &Input) -> Result<PathBuf, Error> {
    let (bytes, ending) = input.to_file();
    let name = name(signature);
    fs::create_dir_all(directory).map_err(|error| Error::io(directory, &error))?;
    for number in 1..1000 {
        let number = if number == 1 { String::new() } else { format!("__{number}") };
        let path = directory.join(format!("{name}{number}.{ending}"));
        if create_file(&path, &bytes)? {
            return Ok(path);
        }
    }
    Err(Error::usage(format!(
        "{}: there are already a thousand files named {name}; triage or delete some",
        shown(directory)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Cuts;
    use crate::decoder::Info;
    use crate::judge::{Law, Subject};
    use crate::spec::grammar;
    use crate::utf8::{Kind, Validity};

    fn signature(law: Law, decoder: &'static str, subject: Subject, shape: Shape) -> Signature {
        Signature { law, decoder: decoder.into(), subject, shape }
    }

    #[test]
    fn signatures_are_merged_if_the_location_is_the_cause_and_not_if_the_kind_is() {
        let fault = Subject::Fault;
        let edge = |kind| signature(Law::Verdict, "a", fault(kind), Shape::Edge(64));
        let anywhere = |law, decoder, kind| signature(law, decoder, fault(kind), Shape::Anywhere);
        let all = [
            edge(Kind::Surrogate),
            edge(Kind::TooShort),
            anywhere(Law::Verdict, "a", Kind::Surrogate),
            anywhere(Law::Verdict, "b", Kind::Surrogate),
            anywhere(Law::Verdict, "b", Kind::Overlong(2)),
            anywhere(Law::Verdict, "b", Kind::Overlong(3)),
            anywhere(Law::ErrorLength, "b", Kind::Surrogate),
            anywhere(Law::Lossy, "b", Kind::Surrogate),
        ];
        let groups = clusters(&all);
        let sizes: Vec<(&str, Law, usize)> =
            groups.iter().map(|group| (&*group[0].decoder, group[0].law, group.len())).collect();
        assert_eq!(sizes.len(), 4, "{groups:#?}");
        // The surrogate of `a` is wrong at an edge too: one subject, one aspect.
        assert!(sizes.contains(&("a", Law::Verdict, 3)));
        assert!(sizes.contains(&("b", Law::Verdict, 2)) && sizes.contains(&("b", Law::Lossy, 1)));
        let three = [Kind::Surrogate, Kind::TooShort, Kind::Continuation].map(|kind| anywhere(Law::Lossy, "c", kind));
        assert_eq!(clusters(&three).len(), 1);
        assert_eq!(clusters(&three[..2]).len(), 2);
        assert!(clusters(&[]).is_empty());
        let other = |decoder, kind, shape| signature(Law::Lossy, decoder, fault(kind), shape);
        let pairs = [
            (other("d", Kind::Surrogate, Shape::Anywhere), other("d", Kind::TooShort, Shape::Context), 1),
            (other("d", Kind::Surrogate, Shape::Offset), other("d", Kind::TooShort, Shape::Anywhere), 1),
            (other("d", Kind::Surrogate, Shape::Edge(16)), other("d", Kind::TooShort, Shape::Anywhere), 2),
            (other("d", Kind::Surrogate, Shape::Tail), other("d", Kind::TooShort, Shape::Anywhere), 2),
            (other("d", Kind::Surrogate, Shape::Edge(16)), other("d", Kind::TooShort, Shape::Cut), 1),
            (other("d", Kind::Surrogate, Shape::Edge(16)), other("e", Kind::Surrogate, Shape::Edge(16)), 2),
        ];
        for (one, two, count) in pairs {
            assert_eq!(clusters(&[one.clone(), two.clone()]).len(), count, "{one} {two}");
        }
        // Only kinds of the same decoder and law are counted.
        let mixed = [
            other("f", Kind::Surrogate, Shape::Anywhere),
            other("f", Kind::TooShort, Shape::Anywhere),
            other("f", Kind::Continuation, Shape::Cut),
            other("g", Kind::Continuation, Shape::Anywhere),
            signature(Law::Verdict, "f", fault(Kind::Continuation), Shape::Anywhere),
        ];
        let groups = clusters(&mixed);
        assert!(!groups.iter().any(|group| group.contains(&mixed[0]) && group.contains(&mixed[1])), "{groups:#?}");
    }

    #[test]
    fn there_are_examples_of_every_kind_with_a_lead_byte() {
        let examples = examples(&Contract::STANDARD);
        let mut counts: Vec<String> = examples.iter().map(|(kind, forms)| format!("{kind} {}", forms.len())).collect();
        counts.sort();
        let kinds = ["invalid-byte 2", "overlong-2 2", "overlong-3 2", "overlong-4 1", "surrogate 2", "too-large 2"];
        assert_eq!(counts, [&kinds[..], &["too-short 2"]].concat());
        assert_eq!(examples[&Kind::Surrogate], [b"\xED\xA0\x80", b"\xED\xBF\x80"]);
        for grammar in grammar::ALL {
            let kinds = super::examples(&Contract { grammar, ..Contract::STANDARD });
            assert!(
                [Kind::InvalidByte, Kind::TooShort].iter().all(|kind| kinds.contains_key(kind)),
                "{}",
                grammar.name
            );
        }
    }

    /// Its verdict is wrong on ill-formed sequences of these kinds.
    struct Accepting(Info, fn(Kind) -> bool);

    impl Decoder for Accepting {
        fn info(&self) -> &Info {
            &self.0
        }

        fn validate(&self, bytes: &[u8]) -> Option<Validity> {
            let contract = self.0.contract;
            let error = segments(&contract, bytes)
                .find(|segment| matches!(segment.reading, Reading::IllFormed { kind, .. } if !(self.1)(kind)));
            Some(error.map_or(Validity::Valid, |_| Validity::INVALID))
        }
    }

    #[test]
    fn the_kind_is_not_the_cause_if_every_kind_with_a_lead_byte_fails() {
        let info = || Info::new("accepting", "1").contract(Contract::VALIDATOR);
        let every = Accepting(info(), |_| true);
        let most = Accepting(info(), |kind| kind != Kind::TooLarge);
        let fails = |decoder: &Accepting, law| fails_on_every_kind(decoder, law);
        assert!(fails(&every, Law::Verdict) && !fails(&every, Law::Lossy) && !fails(&most, Law::Verdict));
        let kinds: Vec<Kind> = examples(&Contract::VALIDATOR).into_keys().collect();
        let overlong = [2, 3, 4].map(Kind::Overlong);
        let all = [[Kind::InvalidByte].as_slice(), &overlong, &[Kind::Surrogate, Kind::TooLarge, Kind::TooShort]];
        assert_eq!(kinds, all.concat());

        let of = |subject| signature(Law::Verdict, "accepting", subject, Shape::Anywhere);
        let (two, three) = (of(Subject::Fault(Kind::Overlong(2))), of(Subject::Fault(Kind::Overlong(3))));
        let are_one = |decoder: &dyn Decoder, a, b| Causes::new(&[decoder]).are_one(a, b);
        assert!(are_one(&every, &two, &three) && !are_one(&most, &two, &three) && are_one(&most, &two, &two));
        assert!(!are_one(&every, &two, &of(Subject::WellFormed(2))), "what is well-formed is another matter");
    }

    #[test]
    fn nothing_is_overwritten() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("regressions");
        let subject = Subject::Fault(Kind::Overlong(2));
        let mut signature = Signature { law: Law::Verdict, decoder: "d".into(), subject, shape: Shape::Anywhere };
        let input = |bytes: &[u8], cuts: Option<Cuts>| Input { bytes: bytes.to_vec(), cuts };
        let first = keep(&directory, &signature, &input(b"\xC0\x80", None)).unwrap();
        assert_eq!(first.file_name().unwrap(), "overlong-2__verdict__d.bin");
        assert_eq!(keep(&directory, &signature, &input(b"\xC0\x80", None)).unwrap(), first);
        let second = keep(&directory, &signature, &input(b"\xC0\xAF", None)).unwrap();
        assert_eq!(second.file_name().unwrap(), "overlong-2__verdict__d__2.bin");
        signature.shape = Shape::Edge(64);
        let cut = keep(&directory, &signature, &input(b"\xC0\xAF", Some(Cuts::new([1], 2)))).unwrap();
        assert_eq!(cut.file_name().unwrap(), "overlong-2__verdict__d__edge64.cut");
        assert_eq!(fs::read(first).unwrap(), b"\xC0\x80");
        assert_eq!(fs::read(cut).unwrap(), b"\xC0\xAF\x01\x00\x01");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 3);
    }
}
