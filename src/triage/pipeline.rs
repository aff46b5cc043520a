//! Triage of files, from reading them to clusters with witnesses.

use crate::case::files::files_below;
use crate::decoder::Decoder;
use crate::error::Error;
use crate::explain::Signature;
use crate::generate::input_file;
use crate::judge::Judge;
use crate::triage::cluster::{clusters, share_location_cause};
use crate::triage::ledger::Ledger;
use crate::triage::minimise::{Witness, minimise_as};
use crate::triage::session::{Finding, Record, Session};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// What came of some files.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// How many inputs were judged.
    pub inputs: u64,
    /// How many of them showed nothing.
    pub clean: u64,
    /// What the others showed, in the order of the signatures.
    pub clusters: Vec<Cluster>,
    /// Files that could not be read, and why.
    pub unread: Vec<String>,
    /// Files that libFuzzer names for being slow, not ending or taking too much memory, and that show nothing else.
    pub slow: Vec<PathBuf>,
}

/// Divergences of one cause.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// Each signature, the strongest law first. Never empty.
    pub members: Vec<Member>,
}

/// One signature.
#[derive(Clone, Debug)]
pub struct Member {
    /// The inputs that have it, and the witness explained.
    pub finding: Finding,
    /// Signatures with the same location as their cause, on another subject; their inputs are counted here.
    pub others: Vec<Signature>,
    /// What they come down to.
    pub witness: Witness,
    /// Whether it was there before.
    pub status: Status,
}

/// Whether a signature was there before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// It was not.
    New,
    /// The ledger has it, under this id.
    Known(String),
    /// This file among the regressions shows it.
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

    /// New where any of its signatures is; else a regression where any is; else known.
    pub fn status(&self) -> &Status {
        let weight = |status: &&Status| match status {
            Status::New => 0,
            Status::Regression(_) => 1,
            Status::Known(_) => 2,
        };
        self.members.iter().map(|member| &member.status).min_by_key(weight).unwrap_or(&Status::New)
    }
}

/// Triages these files. `regressions` is a directory of inputs that are known to show something; `progress` is called with
/// what is being done and the share of it, from any thread. Files that cannot be read are reported, not an error.
///
/// # Errors
/// The regressions cannot be listed.
pub fn triage(
    decoders: &[&dyn Decoder],
    ledger: &Ledger,
    files: &[PathBuf],
    regressions: Option<&Path>,
    progress: &(dyn Fn(&'static str, f64) + Sync),
) -> Result<Outcome, Error> {
    let kept = match regressions.filter(|directory| directory.is_dir()) {
        Some(directory) => sort(decoders, &files_below(directory)?, &|_| {}).0.findings,
        None => BTreeMap::new(),
    };
    let (sorted, unread, slow) = sort(decoders, files, &|share| progress("sorting", share));
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

/// Merges the findings of which each may stand for the other.
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

/// Reads and sorts files on all cores, some hundreds at a time.
fn sort(
    decoders: &[&dyn Decoder],
    files: &[PathBuf],
    progress: &(dyn Fn(f64) + Sync),
) -> (Record, Vec<String>, Vec<PathBuf>) {
    /// The same pieces on every machine, so that what is settled in one is the same too.
    const PIECES: usize = 16;
    const PIECE: usize = 64;
    /// How often a broken law is explained before that is settled.
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
