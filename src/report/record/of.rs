//! Records of what runs return.

use super::{
    Agreement, Answer, Check, Clock, Cluster, Difference, FileName, Judged, KnownDifference, Machine, Member, Record,
    Replayed, Rule, SCHEMA, Section, Stage, Target, Triage,
};
#[cfg(feature = "cli")]
use crate::bench::Measured;
use crate::decoder::{Decoder, Info};
use crate::engine::check;
#[cfg(feature = "cli")]
use crate::engine::nightly;
use crate::engine::score::Score;
use crate::explain::{Grid, Signature, annotate, notation};
use crate::generate::seeds;
use crate::peers;
use crate::report::history::Night;
use crate::report::record::matrix::Matrix;
use crate::text::hex;
use crate::triage;
use crate::triage::Status;
use crate::triage::ledger::Ledger;
use crate::triage::session::Finding;
use std::path::{Path, PathBuf};

impl Record {
    fn new(clock: &Clock, decoders: Vec<Judged>, section: Section) -> Self {
        Self {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION").into(),
            command: clock.command.clone(),
            started: clock.started,
            seconds: clock.elapsed().as_secs_f64(),
            machine: Machine::here(),
            decoders,
            section,
        }
    }

    /// The record of a check, or of a replay, that ends now.
    pub fn of_check(clock: &Clock, decoders: &[&dyn Decoder], ledger: &Ledger, outcome: &check::Outcome) -> Self {
        let counted = &outcome.statistics.comparisons;
        let judged = decoders.iter().enumerate().map(|(index, decoder)| Judged {
            comparisons: Some(counted.get(index).map_or(0, |(_, count)| *count)),
            ..Judged::of(decoder.info())
        });
        Self::new(clock, judged.collect(), Section::Check(Check::of(outcome, ledger)))
    }

    /// The record of a triage that ends now; `kept` are signatures with the files in which their witnesses are kept.
    pub fn of_triage(
        clock: &Clock,
        decoders: &[&dyn Decoder],
        outcome: &triage::Outcome,
        kept: &[(String, PathBuf)],
    ) -> Self {
        let judged = decoders.iter().map(|decoder| Judged::of(decoder.info())).collect();
        let mut triage = Triage::of(outcome, decoders);
        kept.iter().for_each(|(signature, file)| triage.enter_kept(signature, file));
        Self::new(clock, judged, Section::Triage(triage))
    }

    /// The record of a matrix that ends now.
    pub fn of_matrix(clock: &Clock, matrix: Matrix) -> Self {
        Self::new(clock, Vec::new(), Section::Matrix(matrix))
    }

    /// The record of a night, or of one `shard` of it, such as `1/4`.
    #[cfg(feature = "cli")]
    pub fn of_night(clock: &Clock, decoders: &[&dyn Decoder], night: &nightly::Night, shard: Option<String>) -> Self {
        let mut record = Self::of_triage(clock, decoders, &night.outcome, &night.kept);
        (record.started, record.seconds) = (night.started, night.seconds);
        if let Section::Triage(triage) = &mut record.section {
            let target = |run: &nightly::TargetRun| Target {
                name: run.name.clone(),
                seconds: run.seconds,
                executions: run.executions,
                corpus: run.corpus,
            };
            triage.targets = night.targets.iter().map(target).collect();
            triage.faults = night.faults.clone();
            if let Some(shard) = shard {
                triage.enter_shard(shard, night.started, night.seconds);
            }
        }
        record
    }

    /// Adds the nights before this one to the record of a triage.
    pub fn enter_history(&mut self, history: Vec<Night>) {
        if let Section::Triage(triage) = &mut self.section {
            triage.history = history;
        }
    }

    /// The record of a score that ends now.
    pub fn of_score(clock: &Clock, score: Score) -> Self {
        Self::new(clock, Vec::new(), Section::Score { score })
    }

    /// The record of a measurement that ends now.
    #[cfg(feature = "cli")]
    pub fn of_throughput(clock: &Clock, measured: Measured) -> Self {
        Self::new(clock, Vec::new(), Section::Throughput(measured))
    }

    /// The measurement, if it is the record of one.
    #[cfg(feature = "cli")]
    pub fn measured(self) -> Option<Measured> {
        if let Section::Throughput(measured) = self.section { Some(measured) } else { None }
    }
}

impl Machine {
    /// This machine.
    pub fn here() -> Self {
        let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
        Self {
            target: env!("UTFUZZ_TARGET").into(),
            processor: processor(),
            features: owned(peers::features()),
            missing: owned(peers::missing()),
            threads: rayon::current_num_threads(),
            rustc: env!("UTFUZZ_CORE_VERSION").into(),
        }
    }
}

fn processor() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let field = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    Some(format!("{}, family {}, model {}", field("model name")?, field("cpu family")?, field("model\t")?))
}

impl Judged {
    fn of(info: &Info) -> Self {
        Self {
            name: info.name.to_string(),
            version: info.version.to_string(),
            package: info.package.to_string(),
            contract: info.claim(),
            comparisons: None,
            lineage: lineage(info),
        }
    }
}

/// The implementation that runs from each input length in bytes on.
fn lineage(info: &Info) -> Vec<(usize, String)> {
    let mut lineage: Vec<(usize, String)> = Vec::new();
    for len in 0..=256 {
        let name = info.lineage.at(len).to_string();
        if lineage.last().is_none_or(|(_, last)| *last != name) {
            lineage.push((len, name));
        }
    }
    lineage
}

impl Check {
    fn of(outcome: &check::Outcome, ledger: &Ledger) -> Self {
        let statistics = &outcome.statistics;
        let known = outcome.known.iter().map(|(index, &hits)| {
            let entry = &ledger.entries()[*index];
            let mut named = statistics.comparisons.iter().map(|(name, _)| name).filter(|name| entry.names(name));
            let decoder = match (named.next(), named.next()) {
                (Some(only), None) => only.to_string(),
                _ => entry.decoder.clone(),
            };
            KnownDifference { id: entry.id.clone(), decoder, hits }
        });
        let stages = outcome.stages.iter();
        Self {
            cases: statistics.cases,
            comparisons: statistics.total_comparisons(),
            stages: stages.map(stage).collect(),
            shares: statistics.shares(),
            divergences: outcome.divergences.iter().map(|(signature, found)| difference(signature, found)).collect(),
            known: known.collect(),
            stale: outcome.stale.clone(),
            silent: outcome.silent().map(str::to_owned).collect(),
            files: outcome.files.iter().map(|file| replayed(file, ledger)).collect(),
            interrupted: outcome.interrupted,
            partial: outcome.partial,
            coverage: None,
        }
    }
}

fn stage(ran: &check::Ran) -> Stage {
    let check::Ran { stage, cases, planned, seconds } = *ran;
    Stage { name: stage.name().into(), cases, planned, seconds }
}

fn replayed(file: &check::Replayed, ledger: &Ledger) -> Replayed {
    let mut known: Vec<(String, u64)> = Vec::new();
    for &index in &file.known {
        let id = &ledger.entries()[index].id;
        match known.iter_mut().find(|(counted, _)| counted == id) {
            Some((_, count)) => *count += 1,
            None => known.push((id.clone(), 1)),
        }
    }
    Replayed { name: FileName::of(&file.path), new: file.new.iter().map(ToString::to_string).collect(), known }
}

fn difference(signature: &Signature, found: &Finding) -> Difference {
    Difference {
        signature: signature.to_string(),
        law: signature.law.name().into(),
        decoder: signature.decoder.to_string(),
        subject: signature.subject.name().into(),
        shape: signature.shape.to_string(),
        hits: found.hits,
        witness_hex: hex(&found.divergence.bytes),
        cuts: found.divergence.cuts.clone(),
        explanation: found.divergence.to_string(),
    }
}

impl Triage {
    fn of(outcome: &triage::Outcome, decoders: &[&dyn Decoder]) -> Self {
        let mut clusters: Vec<Cluster> = outcome.clusters.iter().map(cluster).collect();
        clusters.sort_by_key(|cluster| ["new", "regression", "known"].iter().position(|name| *name == cluster.status));
        Self {
            inputs: outcome.inputs,
            quiet: outcome.clean,
            clusters,
            agreement: agreement(outcome, decoders),
            unread: outcome.unread.clone(),
            slow: outcome.slow.iter().map(|file| named(file)).collect(),
            ..Self::default()
        }
    }

    /// Records the file in which the witness of a signature is kept.
    fn enter_kept(&mut self, signature: &str, file: &Path) {
        for member in self.clusters.iter_mut().flat_map(|cluster| &mut cluster.members) {
            if member.signature == signature {
                member.kept = Some(named(file));
            }
        }
    }
}

fn agreement(outcome: &triage::Outcome, decoders: &[&dyn Decoder]) -> Agreement {
    let seeds = seeds::differential();
    let members = outcome.clusters.iter().flat_map(|cluster| &cluster.members);
    let witnesses = members.map(|member| &member.witness.input.bytes);
    let inputs = seeds.values().chain(witnesses).map(Vec::as_slice);
    let crate::explain::Agreement { inputs, decoders, same, asked } = crate::explain::Agreement::of(decoders, inputs);
    Agreement { inputs, decoders: decoders.iter().map(ToString::to_string).collect(), same, asked }
}

/// The name of a file in the record: relative to the current directory if it is below it.
fn named(file: &Path) -> String {
    let here = std::env::current_dir().ok();
    let short = here.and_then(|here| file.strip_prefix(here).ok()).unwrap_or(file);
    short.to_string_lossy().into_owned()
}

fn cluster(cluster: &triage::Cluster) -> Cluster {
    Cluster {
        status: status(cluster.status()).0.into(),
        inputs: cluster.inputs(),
        members: cluster.members.iter().map(member).collect(),
    }
}

fn status(status: &Status) -> (&'static str, Option<String>) {
    match status {
        Status::New => ("new", None),
        Status::Known(id) => ("known", Some(id.clone())),
        Status::Regression(file) => ("regression", Some(named(file))),
    }
}

fn member(member: &triage::Member) -> Member {
    let (divergence, witness) = (&member.finding.divergence, &member.witness);
    let signature = &witness.signature;
    let (status, known_as) = status(&member.status);
    Member {
        signature: signature.to_string(),
        others: member.others.iter().map(ToString::to_string).collect(),
        law: signature.law.name().into(),
        decoder: signature.decoder.to_string(),
        version: divergence.version.to_string(),
        subject: signature.subject.name().into(),
        shape: signature.shape.to_string(),
        status: status.into(),
        known_as,
        inputs: member.finding.hits,
        files: member.finding.files.iter().map(|file| named(file)).collect(),
        kept: None,
        witness_hex: hex(&witness.input.bytes),
        notation: notation(&witness.input.bytes),
        cuts: witness.input.cuts.map(|cuts| cuts.offsets().to_vec()),
        agreeing_hex: witness.agreeing.as_deref().map(hex),
        agreeing: witness.agreeing.as_deref().map(notation),
        rule: divergence.rule.as_ref().map(|rule| Rule { says: rule.says.clone(), source: rule.source.to_string() }),
        annotated: annotate(&divergence.contract, &witness.input.bytes),
        answers: answers(&divergence.grid),
        test: divergence.test().to_owned(),
    }
}

/// Every answer of a grid.
pub(crate) fn answers(grid: &Grid) -> Vec<Answer> {
    let answers = grid.questions.iter().flat_map(|question| {
        question.groups.iter().map(|group| Answer {
            question: question.name.into(),
            answer: group.answer.clone(),
            arbiter: group.arbiter,
            breaches: group.breaches.iter().map(|breach| breach.decoder.to_string()).collect(),
            decoders: group.decoders.iter().map(ToString::to_string).collect(),
            lineages: group.lineages.iter().map(ToString::to_string).collect(),
        })
    });
    answers.collect()
}

impl Night {
    /// The figures of a night's record; `None` if it is not a triage.
    pub fn of(record: &Record) -> Option<Self> {
        let triage = record.triage()?;
        let count = |status| triage.count(status) as u64;
        Some(Self {
            started: record.started,
            seconds: record.seconds,
            version: record.version.clone(),
            executions: triage.targets.iter().map(|target| target.executions).sum(),
            corpus: triage.targets.iter().map(|target| target.corpus).sum(),
            inputs: triage.inputs,
            clusters: triage.clusters.len() as u64,
            new: count("new"),
            regression: count("regression"),
            known: count("known"),
        })
    }
}
