//! Triage of files: each is judged, the smallest input of each signature is minimised, and signatures with the same
//! cause form a cluster.

use crate::case::input::files_below;
use crate::decoder::{Decoder, check_infos};
use crate::error::Error;
use crate::explain::{Shape, Signature};
use crate::generate::input_file;
use crate::judge::Judge;
use crate::judge::Subject;
use crate::triage::ledger::Ledger;
use crate::triage::minimise::{Witness, minimise_as};
use crate::triage::session::{Finding, Record, Session};
use crate::utf8::Kind;
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

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
    /// Signatures that differ only in the subject, because the location is the cause; their inputs are counted here.
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
    let groups = merge_equivalent(sorted.findings);
    let done = AtomicUsize::new(0);
    let work = |group: &MergeGroup| {
        let index = decoders.iter().position(|decoder| decoder.info().name == group.signatures[0].decoder)?;
        let same = |signature: &Signature| group.signatures.iter().any(|other| share_location_cause(other, signature));
        let witness = minimise_as(decoders[index], &group.finding.divergence, &same);
        let mut judge = Judge::new(decoders.iter().copied());
        let case = witness.input.case();
        let divergence = judge.judge_one(index, &case).map(|broken| crate::explain::explain(&judge, &case, &broken));
        progress("minimising", (done.fetch_add(1, Ordering::Relaxed) + 1) as f64 / groups.len() as f64);
        let status = status(&witness.signature, decoders[index], ledger, &kept);
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

/// Merges the findings that are [equivalent](share_location_cause).
fn merge_equivalent(findings: BTreeMap<Signature, Finding>) -> Vec<MergeGroup> {
    let mut groups: Vec<MergeGroup> = Vec::new();
    for (signature, finding) in findings {
        match groups.iter_mut().find(|group| share_location_cause(&group.signatures[0], &signature)) {
            Some(group) => {
                group.signatures.push(signature);
                group.finding.absorb(finding);
            }
            None => groups.push(MergeGroup { signatures: vec![signature], finding }),
        }
    }
    groups
}

fn status(
    signature: &Signature,
    decoder: &dyn Decoder,
    ledger: &Ledger,
    kept: &BTreeMap<Signature, Finding>,
) -> Status {
    if let Some(entry) = ledger.covers(decoder.info(), signature.law, signature.subject) {
        return Status::Known(ledger.entries()[entry].id.clone());
    }
    match kept
        .iter()
        .find(|(other, _)| share_location_cause(other, signature))
        .and_then(|(_, finding)| finding.files.first())
    {
        Some(file) => Status::Regression(file.clone()),
        None => Status::New,
    }
}

/// Reads and sorts files on all cores, a few hundred at a time.
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

/// Whether two signatures are the same, or differ only in the subject while their location is the cause: then they are
/// equivalent.
pub fn share_location_cause(a: &Signature, b: &Signature) -> bool {
    let both_placed = a.shape.is_location() && b.shape.is_location();
    a == b || both_placed && a.decoder == b.decoder && a.law == b.law
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::Law;

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
    }
}
