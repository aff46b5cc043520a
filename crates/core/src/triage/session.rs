//! The loop that every engine runs: judge a case, look up what it shows in the ledger, explain it, count it, keep the
//! smallest input.

use crate::case::Case;
use crate::decoder::Decoder;
use crate::explain::{Divergence, Shape, Signature};
use crate::judge::{Broken, Judge, Law, Questions, Statistics, Subject};
use crate::triage::ledger::Ledger;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The inputs that show one signature.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The smallest of them, explained.
    pub divergence: Divergence,
    /// How many there are. Once a signature has been explained often enough, inputs that break the same law on the same
    /// subject are counted here without an explanation.
    pub hits: u64,
    /// Their files, if they came from files; only the first [`Finding::NAMED`].
    pub files: Vec<PathBuf>,
}

impl Finding {
    /// The maximum number of files listed.
    pub const NAMED: usize = 20;

    /// Adds the inputs of another finding; keeps the smaller divergence.
    pub(super) fn absorb(&mut self, other: Self) {
        let size = |of: &Divergence| (of.bytes.len(), of.bytes.clone(), of.cuts.clone());
        self.hits += other.hits;
        let room = Self::NAMED.saturating_sub(self.files.len());
        self.files.extend(other.files.into_iter().take(room));
        if size(&other.divergence) < size(&self.divergence) {
            self.divergence = other.divergence;
        }
    }
}

/// The result of one or more sessions.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// How many cases showed no divergence.
    pub clean: u64,
    /// What was seen and compared.
    pub statistics: Statistics,
    /// New divergences.
    pub findings: BTreeMap<Signature, Finding>,
    /// Known differences: the index in the ledger, and how often it was hit.
    pub known: BTreeMap<usize, u64>,
}

impl Record {
    /// Fills the grids of the findings with the answers of these decoders.
    #[cfg(feature = "check")]
    pub(crate) fn ask(&mut self, decoders: &[&dyn Decoder]) {
        use rayon::prelude::*;
        let findings = self.findings.values_mut().collect::<Vec<_>>();
        findings.into_par_iter().with_max_len(1).for_each(|finding| finding.divergence.ask(decoders.iter().copied()));
    }

    /// Combines both, in any order.
    pub fn merge(mut self, other: Self) -> Self {
        self.clean += other.clean;
        self.statistics.merge(&other.statistics);
        for (signature, finding) in other.findings {
            self.add(signature, finding);
        }
        for (entry, hits) in other.known {
            *self.known.entry(entry).or_default() += hits;
        }
        self
    }

    fn add(&mut self, signature: Signature, finding: Finding) {
        match self.findings.get_mut(&signature) {
            None => {
                self.findings.insert(signature, finding);
            }
            Some(known) => known.absorb(finding),
        }
    }

    fn count(&mut self, signature: &Signature, file: Option<&Path>) {
        if let Some(known) = self.findings.get_mut(signature) {
            known.hits += 1;
            known.files.extend(file.filter(|_| known.files.len() < Finding::NAMED).map(Path::to_owned));
        }
    }
}

/// What one decoder got wrong on a case.
#[derive(Clone, Debug)]
pub enum Shown {
    /// It is in the ledger, at this index.
    Known(usize),
    /// A new divergence, explained.
    New(Box<Divergence>),
    /// A new divergence of a signature that was explained often enough.
    Again(Signature),
}

impl Shown {
    /// The signature of a new divergence.
    pub fn signature(&self) -> Option<&Signature> {
        match self {
            Self::Known(_) => None,
            Self::New(divergence) => Some(&divergence.signature),
            Self::Again(signature) => Some(signature),
        }
    }
}

/// A finding as a line of text, which outlives a process that a decoder ends.
#[cfg(all(unix, feature = "check"))]
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub struct Kept {
    /// `law/decoder/subject/shape`.
    pub signature: String,
    /// The input.
    pub bytes: Vec<u8>,
    /// The offsets at which it is cut.
    pub cuts: Vec<usize>,
    /// The explanation.
    pub explanation: String,
}

#[cfg(all(unix, feature = "check"))]
impl Kept {
    fn of(divergence: &Divergence) -> Self {
        let Divergence { signature, bytes, cuts, .. } = divergence;
        let (signature, explanation) = (signature.to_string(), divergence.to_string());
        Self { signature, bytes: bytes.clone(), cuts: cuts.clone(), explanation }
    }

    fn to_line(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The result of [`Session::judge_novelty`].
#[derive(Clone, Debug)]
pub struct Novel {
    /// What each diverging decoder got wrong.
    pub shown: Vec<Shown>,
    /// Whether the case did something that no case before it had done.
    pub is_novel: bool,
}

/// A broken law of one decoder on one subject.
type Key = (usize, Law, Subject);

/// How a broken law has been explained so far.
#[derive(Clone, Debug)]
struct Explained {
    /// The result of the last explanation.
    signature: Signature,
    /// The entry in the ledger that covers it.
    entry: Option<usize>,
    /// How many explanations in a row had this result.
    in_a_row: u32,
    /// The total number of explanations.
    total: u32,
}

/// Judges cases by one ledger, and records what they show.
pub struct Session<'d> {
    judge: Judge<'d>,
    ledger: &'d Ledger,
    record: Record,
    settled_after: u32,
    /// Whether decoders are asked for their answers to a finding later, by [`Record::ask`], and not at once.
    asks_later: bool,
    /// Results of ledger look-ups.
    covered: BTreeMap<Key, Option<usize>>,
    explained: BTreeMap<Key, Explained>,
    explaining: Duration,
    confirming: Duration,
}

impl<'d> Session<'d> {
    /// A session that explains every new divergence.
    pub fn new(decoders: impl IntoIterator<Item = &'d dyn Decoder>, ledger: &'d Ledger) -> Self {
        Self {
            judge: Judge::new(decoders),
            ledger,
            record: Record::default(),
            settled_after: u32::MAX,
            asks_later: false,
            covered: BTreeMap::new(),
            explained: BTreeMap::new(),
            explaining: Duration::ZERO,
            confirming: Duration::ZERO,
        }
    }

    /// Stops explaining a law that a decoder breaks on a subject once the explanation is settled: it had the same
    /// signature this many times in a row, or it named this law and subject with the shape `anywhere`; or it was explained
    /// four times as often. An explanation takes about a thousand judgements.
    pub fn settling_after(self, explanations: u32) -> Self {
        Self { settled_after: explanations, ..self }
    }

    /// Leaves the grids of findings without answers; [`Record::ask`] fills them. It takes longer to ask many decoders than to
    /// explain, and most findings are dropped for smaller ones.
    #[cfg(feature = "check")]
    pub(crate) fn asking_later(self) -> Self {
        Self { asks_later: true, ..self }
    }

    /// The judge, to switch decoders off or restrict features.
    pub fn judge_mut(&mut self) -> &mut Judge<'d> {
        &mut self.judge
    }

    /// What has been found so far. Its statistics are not up to date until [`Session::finish`]; see
    /// [`Session::statistics`].
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// What has been judged so far.
    pub fn statistics(&self) -> &Statistics {
        self.judge.statistics()
    }

    /// How much time was spent on explaining divergences.
    pub fn explaining(&self) -> Duration {
        self.explaining
    }

    /// How much time was spent on asking every question again after a broken law was found.
    pub fn confirming(&self) -> Duration {
        self.confirming
    }

    /// Whether some decoder answers many questions at once; then cases should be planned before they are judged.
    pub fn is_batched(&self) -> bool {
        self.judge.is_batched()
    }

    /// Notes what judging this case by these questions will ask; see [`Judge::plan`].
    pub fn plan(&mut self, case: &Case<'_>, questions: Questions, is_selected: impl Fn(usize) -> bool) {
        self.judge.plan(case, questions, is_selected);
    }

    /// Asks what was planned; see [`Judge::ask_planned`].
    pub fn ask_planned(&mut self) {
        self.judge.ask_planned();
    }

    /// Asks for all answers needed to judge these cases by these questions; see [`Judge::prepare`].
    pub fn prepare<'c>(&mut self, cases: impl IntoIterator<Item = Case<'c>>, questions: Questions) {
        self.judge.prepare(cases, questions);
    }

    /// Asks every decoder every question.
    pub fn judge(&mut self, case: &Case<'_>) -> Vec<Shown> {
        let broken = self.judge.judge(case).to_vec();
        self.take_all(case, broken, true, None)
    }

    /// Like [`Session::judge`], for the content of a file; findings list the file.
    pub fn judge_file(&mut self, case: &Case<'_>, file: &Path) -> Vec<Shown> {
        let broken = self.judge.judge(case).to_vec();
        self.take_all(case, broken, true, Some(file))
    }

    /// Asks these questions of the decoders at the indices that `is_selected` accepts. A decoder that breaks a law is
    /// reported for the strongest law it breaks on this case.
    pub fn judge_selected(
        &mut self,
        case: &Case<'_>,
        questions: Questions,
        is_selected: impl Fn(usize) -> bool,
    ) -> Vec<Shown> {
        let broken = self.judge.judge_selected(case, questions, is_selected).to_vec();
        self.take_all(case, broken, questions == Questions::ALL, None)
    }

    /// Judges a case in full if it has a new feature, otherwise by a sample; see [`Judge::judge_novelty`].
    pub fn judge_novelty(&mut self, case: &Case<'_>, feature: impl FnMut(usize)) -> Novel {
        let novel = self.judge.judge_novelty(case, feature);
        let (broken, is_novel) = (novel.broken.to_vec(), novel.is_novel);
        Novel { shown: self.take_all(case, broken, false, None), is_novel }
    }

    /// Reports a decoder that has given a wrong verdict, for the strongest law it breaks. It is reported even if the
    /// verdict is right when asked for again.
    pub fn confirm(&mut self, decoder: usize, case: &Case<'_>) -> Shown {
        let broken = self.judge.judge_one(decoder, case).unwrap_or(vanished(decoder));
        self.take(case, broken, None)
    }

    /// Restores a finding of an earlier session: this decoder was reported on this case and `hits` inputs in all.
    pub fn restore(&mut self, decoder: usize, case: &Case<'_>, hits: u64) {
        let broken = self.judge.judge_one(decoder, case).unwrap_or(vanished(decoder));
        let divergence = crate::explain::explain(&self.judge, case, &broken);
        self.record.add(divergence.signature.clone(), Finding { divergence, hits, files: Vec::new() });
    }

    /// What was found.
    pub fn finish(self) -> Record {
        Record { statistics: self.judge.statistics().clone(), ..self.record }
    }

    fn take_all(
        &mut self,
        case: &Case<'_>,
        broken: Vec<Broken>,
        is_strongest: bool,
        file: Option<&Path>,
    ) -> Vec<Shown> {
        self.record.clean += u64::from(broken.is_empty());
        let mut take = |broken: Broken| {
            // Asking every question may show that this is a known difference. If it is not found again, it depends on
            // earlier questions, which is a divergence too.
            let mut strongest = None;
            if !is_strongest && self.known(&broken).is_none() {
                let start = Instant::now();
                strongest = self.judge.judge_one(broken.decoder, case);
                self.confirming += start.elapsed();
            }
            self.take(case, strongest.unwrap_or(broken), file)
        };
        broken.into_iter().map(&mut take).collect()
    }

    fn take(&mut self, case: &Case<'_>, broken: Broken, file: Option<&Path>) -> Shown {
        if let Some(entry) = self.known(&broken) {
            return self.take_known(entry);
        }
        let key = (broken.decoder, broken.law, broken.subject);
        match self.settled(&key) {
            Some((_, Some(entry))) => return self.take_known(entry),
            Some((signature, None)) => {
                self.record.count(&signature, file);
                return Shown::Again(signature);
            }
            None => {}
        }
        let start = Instant::now();
        let mut divergence = crate::explain::explain_alone(self.judge.decoder(broken.decoder), case, &broken);
        let signature = divergence.signature.clone();
        // The broken law may be a consequence of a stronger one that is known.
        let entry = self.covers((broken.decoder, signature.law, signature.subject));
        let before = self.explained.remove(&key);
        let total = before.as_ref().map_or(0, |before| before.total) + 1;
        let in_a_row = before.filter(|before| before.signature == signature).map_or(0, |before| before.in_a_row) + 1;
        self.explained.insert(key, Explained { signature: signature.clone(), entry, in_a_row, total });
        if entry.is_none() && !self.asks_later {
            divergence.ask(self.judge.active());
        }
        self.explaining += start.elapsed();
        if let Some(entry) = entry {
            return self.take_known(entry);
        }
        #[cfg(all(unix, feature = "check"))]
        crate::judge::isolate::keep_finding(|| {
            divergence.ask(self.judge.active());
            Kept::of(&divergence).to_line()
        });
        let files = file.map(Path::to_owned).into_iter().collect();
        self.record.add(signature, Finding { divergence: divergence.clone(), hits: 1, files });
        Shown::New(Box::new(divergence))
    }

    fn take_known(&mut self, entry: usize) -> Shown {
        *self.record.known.entry(entry).or_default() += 1;
        Shown::Known(entry)
    }

    /// The signature of a broken law, and its entry in the ledger, if it is settled.
    fn settled(&self, key: &Key) -> Option<(Signature, Option<usize>)> {
        let Explained { signature, entry, in_a_row, total } = self.explained.get(key)?;
        let (_, law, subject) = *key;
        let is_anywhere = signature.shape == Shape::Anywhere && (signature.law, signature.subject) == (law, subject);
        let often = self.settled_after;
        let is_settled = often < u32::MAX && (is_anywhere || *in_a_row >= often || *total >= often.saturating_mul(4));
        is_settled.then(|| (signature.clone(), *entry))
    }

    /// The index of the ledger entry that covers this, if any.
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
}

/// What is reported for a wrong verdict that is right when asked for again.
fn vanished(decoder: usize) -> Broken {
    Broken { decoder, law: Law::Verdict, offset: None, subject: Subject::Unplaced }
}
