//! Records of what runs return, and the records of the shards of a night merged into one.
//!
//! Merging is commutative, associative and idempotent, so results may arrive in any order, in groups, and more than
//! once. Counts are kept by shard, and totals are derived from them; of two descriptions of the same thing, the smaller
//! in a fixed order is kept.

#[cfg(feature = "cli")]
use crate::bench::Measured;
use crate::decoder::{Batched, Decoder, Info};
use crate::engine::check;
#[cfg(feature = "cli")]
use crate::engine::nightly;
use crate::engine::score::Score;
use crate::error::Error;
use crate::explain::annotate;
use crate::explain::{Grid, Signature, notation};
use crate::generate::seeds;
use crate::report::record::matrix::Matrix;
use crate::report::record::{
    Agreement, Answer, Check, Clock, Cluster, Difference, FileName, Judged, KnownDifference, Machine, Member, Night,
    Record, Replayed, Rule, SCHEMA, Section, Shard, Stage, Target, Triage,
};
use crate::text::hex;
use crate::triage::Status;
use crate::triage::ledger::Ledger;
use crate::triage::session::Finding;
use crate::{peers, triage};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
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
        Self::new(clock, judged.collect(), Section::Check(Check::of(outcome, decoders, ledger)))
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

    /// Sets the file of the ledger in the record of a triage.
    pub fn enter_ledger(&mut self, ledger: Option<&Path>) {
        if let Section::Triage(triage) = &mut self.section {
            triage.ledger = ledger.map(named);
        }
    }

    /// Sets the history of nights in the record of a triage.
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
            target: crate::TARGET.into(),
            processor: processor(),
            features: owned(peers::features()),
            missing: owned(peers::missing()),
            threads: rayon::current_num_threads(),
            rustc: crate::COMPILER.into(),
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
    fn of(outcome: &check::Outcome, decoders: &[&dyn Decoder], ledger: &Ledger) -> Self {
        let set_aside = decoders.iter().filter(|decoder| decoder.batched().is_some_and(Batched::is_set_aside));
        let set_aside: Vec<String> = set_aside.map(|decoder| decoder.info().name.to_string()).collect();
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
            contradictions: outcome.contradictions.clone(),
            files: outcome.files.iter().map(|file| replayed(file, ledger)).collect(),
            interrupted: outcome.interrupted,
            partial: outcome.partial || !set_aside.is_empty(),
            set_aside,
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
            shards: triage.shards.values().map(|shard| shard.started).collect(),
        })
    }
}

impl Record {
    /// The night of all shards of both records.
    ///
    /// # Errors
    /// One of them is not the record of a shard, or they are of different versions or decoders.
    pub fn merge(self, other: Self) -> Result<Self, Error> {
        let shards = |record: &Self| record.triage().is_some_and(|triage| !triage.shards.is_empty());
        if !shards(&self) || !shards(&other) {
            return Err(Error::usage("not the record of a shard; run utfuzz nightly --shards I/N".to_owned()));
        }
        let decoders = |record: &Self| order(&record.decoders);
        if (self.schema, &self.version) != (other.schema, &other.version) || decoders(&self) != decoders(&other) {
            let reason = if self.version != other.version {
                format!("versions {} and {}", self.version, other.version)
            } else if self.schema != other.schema {
                format!("schemas {} and {}", self.schema, other.schema)
            } else {
                "different decoders".to_owned()
            };
            return Err(Error::usage(format!(
                "shards of different builds cannot be merged: {reason}; run every shard with the same build and --decoders"
            )));
        }
        let (first, second) = (order(&self.machine) <= order(&other.machine), self.started.min(other.started));
        let machine = if first { self.machine.clone() } else { other.machine.clone() };
        let merged = match (self.section, other.section) {
            (Section::Triage(mine), Section::Triage(others)) => mine.merge(others),
            (section, _) => return Ok(Self { section, machine, ..other }),
        };
        let seconds = merged.shards.values().map(|shard| shard.seconds).fold(0.0, f64::max);
        let command = "utfuzz merge".to_owned();
        Ok(Self { command, machine, started: second, seconds, section: Section::Triage(merged), ..other })
    }
}

impl Triage {
    fn merge(self, other: Self) -> Self {
        let mut shards = self.shards;
        for (name, shard) in other.shards {
            let kept = match shards.remove(&name) {
                Some(mine) => smaller(mine, shard),
                None => shard,
            };
            shards.insert(name, kept);
        }
        let larger =
            order(&(self.agreement.inputs, &self.agreement)) >= order(&(other.agreement.inputs, &other.agreement));
        let mut merged = Self {
            inputs: shards.values().map(|shard| shard.inputs).sum(),
            quiet: shards.values().map(|shard| shard.quiet).sum(),
            targets: targets(&shards),
            clusters: clusters(self.clusters.into_iter().chain(other.clusters)),
            agreement: if larger { self.agreement } else { other.agreement },
            history: nights(self.history.into_iter().chain(other.history)),
            unread: union(self.unread, other.unread),
            slow: union(self.slow, other.slow),
            faults: union(self.faults, other.faults),
            ledger: self.ledger.max(other.ledger),
            shards,
        };
        merged.count_inputs();
        merged
    }

    /// Stores the counts of this record as those of one shard.
    pub(super) fn enter_shard(&mut self, name: String, started: u64, seconds: f64) {
        let members = self.clusters.iter().flat_map(|cluster| &cluster.members);
        let signatures = members.map(|member| (member.signature.clone(), member.inputs)).collect();
        let (inputs, quiet, targets) = (self.inputs, self.quiet, self.targets.clone());
        self.shards = [(name, Shard { started, seconds, inputs, quiet, targets, signatures })].into();
    }

    /// Sets the counts of signatures and clusters to the sums over all shards.
    fn count_inputs(&mut self) {
        for cluster in &mut self.clusters {
            for member in &mut cluster.members {
                let counts = self.shards.values().filter_map(|shard| shard.signatures.get(&member.signature));
                member.inputs = counts.sum();
            }
            cluster.inputs = cluster.members.iter().map(|member| member.inputs).sum();
        }
    }
}

/// A fixed order of anything that is written to a record.
fn order(of: &impl Serialize) -> String {
    serde_json::to_string(of).unwrap_or_default()
}

fn smaller<T: Serialize>(one: T, other: T) -> T {
    if order(&one) <= order(&other) { one } else { other }
}

fn union(one: Vec<String>, other: Vec<String>) -> Vec<String> {
    one.into_iter().chain(other).collect::<BTreeSet<_>>().into_iter().collect()
}

/// Each target with its time and executions in all shards, and its largest corpus.
fn targets(shards: &BTreeMap<String, Shard>) -> Vec<Target> {
    let mut by_name: BTreeMap<&str, Target> = BTreeMap::new();
    for target in shards.values().flat_map(|shard| &shard.targets) {
        let empty = || Target { name: target.name.clone(), seconds: 0.0, executions: 0, corpus: 0 };
        let sum = by_name.entry(&target.name).or_insert_with(empty);
        sum.seconds += target.seconds;
        sum.executions += target.executions;
        sum.corpus = sum.corpus.max(target.corpus);
    }
    by_name.into_values().collect()
}

fn nights(all: impl Iterator<Item = Night>) -> Vec<Night> {
    let mut by_start: BTreeMap<u64, Night> = BTreeMap::new();
    for night in all {
        let night = match by_start.remove(&night.started) {
            Some(mine) => smaller(mine, night),
            None => night,
        };
        by_start.insert(night.started, night);
    }
    by_start.into_values().collect()
}

/// Signatures that share any of these clusters share one in the result.
fn clusters(all: impl Iterator<Item = Cluster>) -> Vec<Cluster> {
    let mut groups: Vec<BTreeMap<String, Member>> = Vec::new();
    for cluster in all {
        let mut together: BTreeMap<String, Member> = BTreeMap::new();
        let (joined, apart): (Vec<_>, Vec<_>) = groups
            .into_iter()
            .partition(|group| cluster.members.iter().any(|member| group.contains_key(&member.signature)));
        for mut member in joined.into_iter().flat_map(BTreeMap::into_values).chain(cluster.members) {
            (member.files, member.others) = (union(member.files, Vec::new()), union(member.others, Vec::new()));
            let member = match together.remove(&member.signature) {
                Some(mine) => one_member(mine, member),
                None => member,
            };
            together.insert(member.signature.clone(), member);
        }
        groups = apart;
        groups.push(together);
    }
    let mut clusters: Vec<Cluster> = groups.into_iter().map(of_members).collect();
    clusters.sort_by_cached_key(|cluster| (weight(&cluster.status), order(&cluster.members)));
    clusters
}

fn of_members(members: BTreeMap<String, Member>) -> Cluster {
    let members: Vec<Member> = members.into_values().collect();
    let status = members.iter().map(|member| &member.status).min_by_key(|status| weight(status));
    Cluster { status: status.cloned().unwrap_or_default(), inputs: 0, members }
}

/// New before regressions before known ones, as in a triage.
fn weight(status: &str) -> u8 {
    match status {
        "new" => 0,
        "regression" => 1,
        _ => 2,
    }
}

/// One description of a signature: that of the smaller witness, with all its files. It is known if any shard knows it.
fn one_member(one: Member, other: Member) -> Member {
    let (files, others) =
        (union(one.files.clone(), other.files.clone()), union(one.others.clone(), other.others.clone()));
    let known = [(&one.status, &one.known_as), (&other.status, &other.known_as)];
    let known = known.into_iter().max_by_key(|(status, known_as)| (weight(status), order(known_as)));
    let (status, known_as) = known.map(|(status, known_as)| (status.clone(), known_as.clone())).unwrap_or_default();
    // What differs between shards without being a property of the witness must not decide.
    let bare = |member: Member| Member {
        files: Vec::new(),
        others: Vec::new(),
        inputs: 0,
        status: status.clone(),
        known_as: known_as.clone(),
        ..member
    };
    let (one, other) = (bare(one), bare(other));
    let size = |member: &Member| (member.witness_hex.len(), member.witness_hex.clone(), order(member));
    let smallest = if size(&one) <= size(&other) { one } else { other };
    Member { files, others, ..smallest }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::record::{Machine, SCHEMA, history, store};

    /// Numbers from a small generator (xorshift), the same at every run.
    struct Dice(u64);

    impl Dice {
        fn below(&mut self, limit: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 % limit
        }
    }

    fn member(dice: &mut Dice) -> Member {
        let signature = format!("verdict/d/{}/anywhere", dice.below(6));
        let status = ["new", "regression", "known"][dice.below(3) as usize];
        Member {
            signature,
            status: status.into(),
            known_as: (status != "new").then(|| format!("id-{}", dice.below(2))),
            inputs: 1 + dice.below(5),
            files: (0..dice.below(3)).map(|_| format!("crash-{}", dice.below(9))).collect(),
            witness_hex: ["C0", "C1", "E080"][dice.below(3) as usize].into(),
            annotated: format!("{}", dice.below(2)),
            ..Member::default()
        }
    }

    fn shard(dice: &mut Dice, index: u64) -> Record {
        let clusters = (0..dice.below(4)).map(|_| {
            let members = (0..=dice.below(2)).map(|_| member(dice));
            of_members(members.map(|member| (member.signature.clone(), member)).collect())
        });
        let clusters: Vec<Cluster> = clusters.collect();
        let target =
            Target { name: "differential".into(), seconds: 1.0, executions: dice.below(99), corpus: dice.below(9) };
        let mut triage = Triage {
            inputs: dice.below(99),
            quiet: dice.below(9),
            targets: vec![target],
            // A signature is in one cluster of a record.
            clusters: super::clusters(clusters.into_iter()),
            unread: vec![format!("unread-{}", dice.below(3))],
            ledger: (dice.below(2) == 1).then(|| format!("{}/known.toml", dice.below(2))),
            ..Triage::default()
        };
        let started = 1000 + dice.below(3);
        triage.enter_shard(format!("{index}/9"), started, dice.below(9) as f64);
        triage.count_inputs();
        let machine = Machine { target: format!("t{}", dice.below(2)), ..Machine::default() };
        let (schema, version, command) = (SCHEMA, "1.0.0".into(), "utfuzz merge".into());
        let seconds = triage.shards.values().map(|shard| shard.seconds).sum();
        Record {
            schema,
            version,
            command,
            started,
            seconds,
            machine,
            decoders: Vec::new(),
            section: Section::Triage(triage),
        }
    }

    fn merged(one: &Record, other: &Record) -> Record {
        one.clone().merge(other.clone()).unwrap()
    }

    #[test]
    fn a_night_has_one_line_however_its_shards_are_merged() {
        let mut dice = Dice(7);
        let [a, b, c] = [0, 1, 2].map(|index| {
            let mut shard = shard(&mut dice, index);
            shard.started = 1000 + index;
            let Section::Triage(triage) = &mut shard.section else { panic!() };
            triage.shards.values_mut().for_each(|shard| shard.started = 1000 + index);
            shard
        });
        let all = merged(&merged(&a, &b), &c);
        let directory = tempfile::tempdir().unwrap();
        // A later night, which stands after it.
        let later = Record { started: 2000, section: Section::Triage(Triage::default()), ..a.clone() };
        for (number, groups) in
            [[&b, &merged(&a, &b)], [&merged(&b, &c), &a], [&c, &all], [&all, &all]].iter().enumerate()
        {
            let path = directory.path().join(number.to_string());
            let earlier = Record { started: 1, section: Section::Triage(Triage::default()), ..a.clone() };
            store(&earlier, &path).unwrap();
            std::fs::write(&path, [&std::fs::read(&path).unwrap()[..], b"of another version\n"].concat()).unwrap();
            store(groups[0], &path).unwrap();
            store(&later, &path).unwrap();
            // What counts less than the whole night does not replace it.
            [groups[1], &all, groups[0], groups[1]].iter().for_each(|record| store(record, &path).unwrap());
            let lines = [&earlier, &all, &later].map(|record| Night::of(record).unwrap());
            assert_eq!(history(&path).unwrap(), lines, "{number}");
            assert!(String::from_utf8(std::fs::read(&path).unwrap()).unwrap().contains("\nof another version\n"));
        }
    }

    #[test]
    fn merging_is_commutative_associative_and_idempotent() {
        let mut dice = Dice(0x9E37_79B9_7F4A_7C15);
        let mut joined = 0;
        for _ in 0..500 {
            // Two of them may be the same shard with different results.
            let [a, b, c] = [0; 3].map(|_| {
                let index = dice.below(4);
                shard(&mut dice, index)
            });
            let ab = merged(&a, &b);
            assert_eq!(order(&ab), order(&merged(&b, &a)));
            assert_eq!(order(&merged(&ab, &c)), order(&merged(&a, &merged(&b, &c))));
            assert_eq!(order(&merged(&ab, &ab)), order(&ab));
            assert_eq!(order(&merged(&ab, &a)), order(&ab));
            joined += usize::from(ab.triage().unwrap().clusters.len() < 3);
        }
        assert!(joined > 0);
    }

    #[test]
    fn totals_are_sums_over_shards() {
        let mut dice = Dice(7);
        let [a, b] = [1, 2].map(|index| shard(&mut dice, index));
        let triage = |record: &Record| record.triage().unwrap().clone();
        let (of_a, of_b, of_both) = (triage(&a), triage(&b), triage(&merged(&a, &b)));
        assert_eq!(of_both.inputs, of_a.inputs + of_b.inputs);
        assert_eq!(of_both.targets[0].executions, of_a.targets[0].executions + of_b.targets[0].executions);
        let inputs = |triage: &Triage| triage.clusters.iter().map(|cluster| cluster.inputs).sum::<u64>();
        assert_eq!(inputs(&of_both), inputs(&of_a) + inputs(&of_b));
        assert_eq!(of_both.shards.len(), 2);
    }

    #[test]
    fn what_is_not_of_the_same_night_is_refused() {
        let mut dice = Dice(7);
        let [a, mut b] = [1, 2].map(|index| shard(&mut dice, index));
        b.version = "2.0.0".into();
        let error = a.clone().merge(b).unwrap_err().to_string();
        assert!(error.contains("1.0.0 and 2.0.0"), "{error}");
        let mut alone = a.clone();
        let Section::Triage(triage) = &mut alone.section else { panic!() };
        triage.shards.clear();
        assert!(a.merge(alone).unwrap_err().to_string().contains("--shards"));
    }
}
