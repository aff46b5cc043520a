//! Merging the records of the shards of a night into one.
//!
//! Merging is commutative, associative and idempotent, so results may arrive in any order, in groups, and more than
//! once. Counts are kept by shard, and totals are derived from them; of two descriptions of the same thing, the smaller
//! in a fixed order is kept.

use crate::error::Error;
use crate::report::history::Night;
use crate::report::record::{Cluster, Member, Record, Section, Shard, Target, Triage};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

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
            let (mine, others) = (&self.version, &other.version);
            let reason = if mine == others { "other decoders".to_owned() } else { format!("{mine} and {others}") };
            return Err(Error::usage(format!("shards of different builds cannot be merged: {reason}")));
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
            shards,
        };
        merged.count_inputs();
        merged
    }

    /// Enters what this record has as that of one shard.
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

/// Signatures that are in one cluster anywhere are in one cluster.
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
    use crate::report::record::{Machine, SCHEMA};

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
