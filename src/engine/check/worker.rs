//! One thread's part of a check.

use crate::case::Case;
use crate::decoder::Decoder;
use crate::engine::check::{Found, Outcome};
use crate::explain::Signature;
use crate::judge::{Broken, Judge, Law, Questions, Subject};
use crate::triage::ledger::Ledger;
use std::collections::BTreeMap;

/// A broken law of one decoder on one subject.
type Key = (usize, Law, Subject);

/// Judges cases and sorts what they show into new and known.
pub(super) struct Worker<'d> {
    judge: Judge<'d>,
    ledger: &'d Ledger,
    outcome: Outcome,
    /// The ledger's answers.
    covered: BTreeMap<Key, Option<usize>>,
    /// For each broken law and subject of a decoder: how many were examined, and the signature of the first.
    examined: BTreeMap<Key, (usize, Signature)>,
}

impl<'d> Worker<'d> {
    /// So many divergences of a decoder, law and subject are examined by each worker, the others counted.
    const EXAMINED: usize = 3;

    pub(super) fn new(decoders: &[&'d dyn Decoder], ledger: &'d Ledger) -> Self {
        let judge = Judge::new(decoders.iter().copied());
        Self { judge, ledger, outcome: Outcome::default(), covered: BTreeMap::new(), examined: BTreeMap::new() }
    }

    /// Asks everything of all decoders.
    pub(super) fn run(&mut self, case: &Case<'_>) {
        self.ask(case, Questions::ALL, |_| true);
    }

    /// Asks these questions of the decoders whose place `asked` picks. What a decoder that then breaks a law is reported
    /// for is the strongest law it breaks on this case.
    pub(super) fn ask(&mut self, case: &Case<'_>, questions: Questions, asked: impl Fn(usize) -> bool) {
        for broken in self.judge.judge_selected(case, questions, asked).to_vec() {
            let weaker = questions != Questions::ALL && self.known(&broken).is_none();
            let strongest = if weaker { self.judge.judge_one(broken.decoder, case) } else { None };
            self.sort(case, strongest.unwrap_or(broken));
        }
    }

    /// Asks everything of one decoder that was seen to give a wrong verdict. Where it now gives the right one, that it
    /// gave another is reported all the same.
    pub(super) fn confirm(&mut self, decoder: usize, case: &Case<'_>) {
        let broken = self.judge.judge_one(decoder, case).unwrap_or(vanished(decoder));
        self.sort(case, broken);
    }

    /// Adds to `outcome` what this decoder was reported for on this case in an earlier run.
    pub(super) fn again(&mut self, decoder: usize, case: &Case<'_>, hits: u64, outcome: &mut Outcome) {
        let broken = self.judge.judge_one(decoder, case).unwrap_or(vanished(decoder));
        let divergence = crate::explain::explain(&self.judge, case, &broken);
        outcome.add(divergence.signature.clone(), Found { divergence, hits });
    }

    fn sort(&mut self, case: &Case<'_>, broken: Broken) {
        if let Some(entry) = self.known(&broken) {
            *self.outcome.known.entry(entry).or_default() += 1;
            return;
        }
        let key = (broken.decoder, broken.law, broken.subject);
        if let Some((count, signature)) = self.examined.get_mut(&key) {
            if *count >= Self::EXAMINED {
                if let Some(found) = self.outcome.divergences.get_mut(signature) {
                    found.hits += 1;
                }
                return;
            }
            *count += 1;
        }
        let divergence = crate::explain::explain(&self.judge, case, &broken);
        let signature = divergence.signature.clone();
        // The broken law may be the shadow of a stronger one that is known.
        if let Some(entry) = self.covers((broken.decoder, signature.law, signature.subject)) {
            *self.outcome.known.entry(entry).or_default() += 1;
            return;
        }
        self.examined.entry(key).or_insert_with(|| (1, signature.clone()));
        self.outcome.add(signature, Found { divergence, hits: 1 });
    }

    /// The place of the ledger entry that covers this, if one does.
    fn known(&mut self, broken: &Broken) -> Option<usize> {
        let key = (broken.decoder, broken.law, broken.subject);
        match self.covered.get(&key) {
            Some(known) => *known,
            None => {
                let known = self.covers(key);
                self.covered.insert(key, known);
                known
            }
        }
    }

    fn covers(&self, (decoder, law, subject): Key) -> Option<usize> {
        let info = self.judge.decoders().nth(decoder).map(Decoder::info);
        info.and_then(|info| self.ledger.covers(info, law, subject))
    }

    pub(super) fn finish(mut self) -> Outcome {
        self.outcome.statistics = self.judge.statistics().clone();
        self.outcome
    }
}

/// What is reported of a wrong verdict that is a right one when it is asked for again.
fn vanished(decoder: usize) -> Broken {
    Broken { decoder, law: Law::Verdict, offset: None, subject: Subject::Unplaced }
}
