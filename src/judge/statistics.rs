//! What a judge has seen and compared, so that an oracle that compares nothing is noticed.

use crate::judge::expect::Expectation;
use crate::utf8::Kind;
use core::fmt;
use std::borrow::Cow;

/// Counts over all cases of a judge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Statistics {
    /// Cases judged.
    pub cases: u64,
    /// How many of these are well-formed under the first decoder's contract.
    pub valid: u64,
    /// How often each kind was the first error, under the first decoder's contract.
    pub kinds: Vec<(Kind, u64)>,
    /// For each decoder, how many laws had something to compare.
    pub comparisons: Vec<(Cow<'static, str>, u64)>,
    /// The indices of decoders that are switched off.
    off: Vec<usize>,
}

impl Statistics {
    pub(super) fn new(names: impl Iterator<Item = Cow<'static, str>>) -> Self {
        Self { comparisons: names.map(|name| (name, 0)).collect(), ..Self::default() }
    }

    pub(super) fn count_case(&mut self, expectation: Option<Expectation<'_>>) {
        self.cases += 1;
        let Some(expectation) = expectation else { return };
        match expectation.errors().next().and_then(|error| error.kind) {
            None => self.valid += 1,
            Some(kind) => self.add_kind(kind, 1),
        }
    }

    pub(super) fn count_comparisons(&mut self, decoder: usize, count: u64) {
        self.comparisons[decoder].1 += count;
    }

    fn add_kind(&mut self, kind: Kind, count: u64) {
        match self.kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, seen)) => *seen += count,
            None => self.kinds.push((kind, count)),
        }
    }

    pub(super) fn forget(&mut self, decoder: usize) {
        self.off.push(decoder);
    }

    fn on(&self) -> impl Iterator<Item = &(Cow<'static, str>, u64)> {
        self.comparisons.iter().enumerate().filter(|(index, _)| !self.off.contains(index)).map(|(_, entry)| entry)
    }

    /// The number of comparisons of all decoders.
    pub fn total_comparisons(&self) -> u64 {
        self.comparisons.iter().map(|(_, count)| count).sum()
    }

    /// The decoders that answered nothing although cases were judged.
    pub fn silent(&self) -> impl Iterator<Item = &str> {
        self.on().filter(|_| self.cases > 0).filter(|(_, count)| *count == 0).map(|(name, _)| &**name)
    }

    /// Adds the counts of another judge of the same decoders.
    pub fn merge(&mut self, other: &Self) {
        if self.comparisons.is_empty() {
            self.comparisons = other.comparisons.iter().map(|(name, _)| (name.clone(), 0)).collect();
        }
        self.cases += other.cases;
        self.valid += other.valid;
        other.kinds.iter().for_each(|&(kind, count)| self.add_kind(kind, count));
        for ((_, sum), (_, count)) in self.comparisons.iter_mut().zip(&other.comparisons) {
            *sum += count;
        }
    }
}

impl Statistics {
    /// One line: how many cases were well-formed, and which errors the others began with.
    pub fn shares(&self) -> String {
        let share = |count: u64| format!("{:.1} %", 100.0 * count as f64 / self.cases.max(1) as f64);
        let mut kinds = self.kinds.clone();
        kinds.sort_unstable();
        let kinds = kinds.iter().map(|(kind, count)| format!(", {kind} {}", share(*count)));
        format!("well-formed {}{}", share(self.valid), kinds.collect::<String>())
    }
}

impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} cases, {} comparisons\n{}", self.cases, self.total_comparisons(), self.shares())?;
        f.write_str("comparisons:")?;
        self.on().try_for_each(|(name, count)| write!(f, " {name} {count}"))?;
        self.silent().try_for_each(|name| write!(f, "\n{name} ANSWERED NOTHING"))
    }
}
