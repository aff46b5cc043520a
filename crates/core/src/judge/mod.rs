//! The verdict: compares each answer of a decoder with what `spec` expects under that decoder's own contract, and with
//! what the decoder answers to related inputs.
//!
//! A [`Judge`] runs all its decoders on one [`Case`] and returns the laws they break. It does no I/O, does not panic,
//! has no global state, and treats no decoder specially. It allocates only while its buffers grow, when something
//! diverges, and where a case asks for it ([`Case::allocates`]). What a process needs to survive decoders that panic, hang
//! or read outside their input is in [`isolate`].
//!
//! It counts what it has seen and compared ([`Statistics`]), so that an oracle that compares nothing is noticed; and it notes
//! behaviour features, which are explained in `features.rs`.

pub(crate) mod expect;
mod features;
#[doc(hidden)]
pub mod isolate;
pub(crate) mod laws;
pub(crate) mod observe;

pub use crate::decoder::Ending;
pub use expect::Questions;
pub use features::FEATURES;
pub use isolate::{Timeout, silence_panics, watch};
pub use laws::{Broken, Law, Subject};

use crate::case::{Case, Cuts};
use crate::decoder::{Decoder, Promise};
use crate::spec::{Contract, Detection};
use crate::utf8::{Kind, Validity};
use core::fmt;
use expect::{Abilities, Expectation, Expectations, Question};
use features::Features;
use isolate::{panicked, panics};
use laws::Mismatch;
use observe::{Observation, Streams};
use std::borrow::Cow;

/// Judges cases for a fixed list of decoders.
///
/// Each method that judges returns what it found.
pub struct Judge<'d> {
    slots: Vec<Slot<'d>>,
    expectations: Expectations,
    observation: Observation,
    broken: Vec<Broken>,
    features: Features,
    /// The indices of the decoders that are not switched off.
    on: Vec<usize>,
    statistics: Statistics,
}

/// The result of [`Judge::judge_novelty`].
#[derive(Clone, Copy, Debug)]
pub struct Novel<'j> {
    /// For each decoder that breaks a law, the first law it breaks.
    pub broken: &'j [Broken],
    /// Whether the case has a feature that no earlier case had.
    pub is_novel: bool,
}

struct Slot<'d> {
    decoder: &'d dyn Decoder,
    /// `None` if the decoder panics when asked for them.
    streams: Option<Streams<'d>>,
    expectation: usize,
    able: Abilities,
    /// Whether its stream promises to write decided output immediately.
    prompt: bool,
    /// The streams of its planner, if it has one.
    planned: Option<Streams<'d>>,
    /// How its process ended when it last panicked.
    ending: Option<Ending>,
}

impl<'d> Judge<'d> {
    /// A judge of these decoders; a [`Broken`] identifies them by their index in the list.
    pub fn new(decoders: impl IntoIterator<Item = &'d dyn Decoder>) -> Self {
        let mut expectations = Expectations::default();
        let slots: Vec<Slot<'d>> = decoders
            .into_iter()
            .map(|decoder| {
                let contract = decoder.info().contract;
                let prompt = contract.detection == Detection::Earliest;
                // What is expected of the whole input does not depend on when a stream writes its output.
                let expectation = expectations.place(Contract { detection: Detection::Late, ..contract });
                let (streams, able) = abilities(decoder);
                let planned = decoder.batched().map(|batched| fresh_streams(batched.planner()).unwrap_or_default());
                Slot { decoder, streams, expectation, able, prompt, planned, ending: None }
            })
            .collect();
        let features = Features::new();
        let on = (0..slots.len()).collect();
        let statistics = Statistics::new(slots.iter().map(|slot| slot.decoder.info().name.clone()));
        Self { slots, expectations, observation: Observation::default(), broken: Vec::new(), features, on, statistics }
    }

    /// The decoders, in their order.
    pub fn decoders(&self) -> impl ExactSizeIterator<Item = &'d dyn Decoder> + '_ {
        self.slots.iter().map(|slot| slot.decoder)
    }

    /// Skips a decoder from now on; the others keep their indices.
    pub fn switch_off(&mut self, decoder: usize) {
        self.on.retain(|&on| on != decoder);
        self.statistics.forget(decoder);
    }

    /// What this judge has seen so far.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Judges one case: for each decoder that breaks a law, the first law it breaks.
    pub fn judge(&mut self, case: &Case<'_>) -> &[Broken] {
        self.start(case);
        self.ask_all(case);
        &self.broken
    }

    /// Judges one case by these questions only.
    pub fn judge_on(&mut self, case: &Case<'_>, questions: Questions) -> &[Broken] {
        self.judge_selected(case, questions, |_| true)
    }

    /// Judges one case by these questions only, and only the decoders at the indices that `is_selected` accepts.
    pub fn judge_selected(
        &mut self,
        case: &Case<'_>,
        questions: Questions,
        is_selected: impl Fn(usize) -> bool,
    ) -> &[Broken] {
        self.start(case);
        for index in 0..self.on.len() {
            if is_selected(self.on[index]) {
                self.ask(self.on[index], case, questions);
            }
        }
        &self.broken
    }

    /// Judges a case in full if it has a feature that is new to this judge; otherwise asks [`Judge::SAMPLE`] decoders
    /// one question each, or every question if the case is a rare one. For engines that run very many similar inputs, where throughput matters most. Decoders and
    /// questions are derived from the bytes.
    ///
    /// If the case is novel, `feature` is called with each of its behaviour features, numbers below [`FEATURES`], some
    /// of them perhaps more than once.
    ///
    /// For a deterministic decoder, [`Judge::judge`] finds every divergence that this finds, though perhaps as a
    /// violation of a stronger law.
    pub fn judge_novelty(&mut self, case: &Case<'_>, feature: impl FnMut(usize)) -> Novel<'_> {
        /// The number of initial judgements made in full, since almost every case is new to a new judge.
        const FIRST_JUDGEMENTS: u64 = 16_384;
        self.start(case);
        let first = self.expectations.of(0, case.bytes, false);
        let mut is_novel = first.is_some_and(|first| self.features.note(first, case.bytes));
        if is_novel || self.statistics.cases * (self.on.len() as u64) < FIRST_JUDGEMENTS {
            self.ask_all(case);
            if let Some(first) = self.expectations.of(0, case.bytes, false) {
                is_novel |= self.features.note_outcome(first, &self.broken);
                if is_novel {
                    self.features.name(first, case.bytes, &self.broken, feature);
                }
            }
        } else {
            self.ask_some(case);
        }
        Novel { broken: &self.broken, is_novel }
    }

    /// Counts only the features of these groups as novel.
    ///
    /// # Errors
    /// The names of all groups, if a name is unknown.
    pub fn only_features(&mut self, groups: &[&str]) -> Result<(), Vec<&'static str>> {
        self.features.only(groups)
    }

    /// How many decoders are asked about a case that is not novel.
    pub const SAMPLE: usize = 1;

    /// The first law one decoder breaks on a case, judged in full.
    ///
    /// # Panics
    /// If the index is out of range.
    pub fn judge_one(&mut self, decoder: usize, case: &Case<'_>) -> Option<Broken> {
        self.expectations.forget();
        self.broken.clear();
        self.ask(decoder, case, Questions::ALL);
        self.broken.pop()
    }

    fn start(&mut self, case: &Case<'_>) {
        self.broken.clear();
        self.expectations.forget();
        self.statistics.count_case(self.expectations.of(0, case.bytes, false));
    }

    fn ask_all(&mut self, case: &Case<'_>) {
        (0..self.on.len()).for_each(|index| self.ask(self.on[index], case, Questions::ALL));
    }

    fn ask_some(&mut self, case: &Case<'_>) {
        let count = self.on.len();
        let errors = self.expectations.of(0, case.bytes, false).map_or(0, |first| first.errors().len());
        for turn in 0..count.min(Self::SAMPLE) {
            let picked = case.choices.sampled_decoder(count);
            let index = self.on[(picked + turn * count / Self::SAMPLE) % count];
            // What is drawn rarely would be asked about almost never if the question had to be drawn as well.
            let questions = match case.is_rare() {
                true => Questions::ALL,
                false => self.slots[index].able.pick(&case.choices, errors),
            };
            self.ask(index, case, questions);
        }
    }

    fn ask(&mut self, index: usize, case: &Case<'_>, questions: Questions) {
        let slot = &mut self.slots[index];
        let questions = slot.applicable(questions);
        let output = questions.has(&[Question::Output, Question::Stream, Question::Reused, Question::Placement]);
        let Some(expectation) = self.expectations.of(slot.expectation, case.bytes, output) else { return };
        let mut comparisons = 0;
        let mismatch = slot.first_broken(&expectation, &mut self.observation, case, questions, &mut comparisons);
        self.statistics.count_comparisons(index, comparisons);
        let Some(Mismatch { mut law, offset }) = mismatch else { return };
        if law != Law::Panic && slot.is_stateful_failure(law, &expectation, &mut self.observation, case, questions) {
            law = if law.is_about_streams() { Law::Reset } else { Law::Repeat };
        }
        // The stream may carry its state into the next case.
        slot.renew_streams();
        // A failure that depends on other inputs is not caused by any part of this one.
        let subject = match slot.ending.take().filter(|_| law == Law::Panic) {
            Some(ending) => {
                // The same law as for a decoder in this process that does not return.
                law = if ending == Ending::Hang { Law::Progress } else { Law::Panic };
                Subject::Process(ending)
            }
            None if law.is_about_state() => Subject::End,
            None => Subject::at(expectation.contract(), case.bytes, offset),
        };
        self.broken.push(Broken { decoder: index, law, offset, subject });
    }

    /// For the decoders that `is_selected` accepts and that answer many questions at once, notes what they will be
    /// asked, so that judging this case by these questions takes its answers from memory. See [`Judge::ask_planned`].
    pub fn plan(&mut self, case: &Case<'_>, questions: Questions, is_selected: impl Fn(usize) -> bool) {
        for &index in self.on.iter().filter(|&&index| is_selected(index)) {
            let slot = &mut self.slots[index];
            let questions = slot.applicable(questions);
            let (Some(batched), Some(streams)) = (slot.decoder.batched(), &mut slot.planned) else { continue };
            self.expectations.forget();
            let Some(expectation) = self.expectations.of(slot.expectation, case.bytes, false) else { continue };
            self.observation.observe(batched.planner(), streams, case, questions, expectation.errors());
            if questions.has(&[Question::Stream]) && case.drops_streams() {
                *streams = fresh_streams(batched.planner()).unwrap_or_default();
            }
        }
    }

    /// Asks everything that was planned since the last call.
    pub fn ask_planned(&mut self) {
        self.slots.iter().filter_map(|slot| slot.decoder.batched()).for_each(|batched| batched.ask_planned());
    }

    /// Asks decoders that answer many questions at once for all answers needed to judge these cases by these questions.
    pub fn prepare<'c>(&mut self, cases: impl IntoIterator<Item = Case<'c>>, questions: Questions) {
        if self.is_batched() {
            cases.into_iter().for_each(|case| self.plan(&case, questions, |_| true));
            self.ask_planned();
        }
    }

    /// Whether planning makes sense: some decoder answers many questions at once.
    pub fn is_batched(&self) -> bool {
        self.on.iter().any(|&index| self.slots[index].planned.is_some())
    }

    /// The decoder at this index.
    ///
    /// # Panics
    /// If the index is out of range.
    pub fn decoder(&self, place: usize) -> &'d dyn Decoder {
        self.slots[place].decoder
    }

    /// The decoders that are not switched off.
    pub fn active(&self) -> impl ExactSizeIterator<Item = &'d dyn Decoder> + '_ {
        self.on.iter().map(|&place| self.slots[place].decoder)
    }
}

/// The questions a decoder can answer, and its streams. A decoder that panics counts as able to answer.
fn abilities(decoder: &dyn Decoder) -> (Option<Streams<'_>>, Abilities) {
    let mut able = Abilities { validate: true, lossy: true, stream: true };
    let name = &decoder.info().name;
    panics(name, b"", || able.validate = decoder.validate(b"").is_some());
    panics(name, b"", || able.lossy = decoder.decode_lossy(b"", &mut Vec::new()).is_some());
    let streams = fresh_streams(decoder);
    able.stream = streams.as_ref().is_none_or(|streams| streams.primary.is_some());
    (streams, able)
}

/// New streams; `None` if the decoder panics.
fn fresh_streams(decoder: &dyn Decoder) -> Option<Streams<'_>> {
    let mut streams = None;
    let ask = || streams = Some(Streams { primary: decoder.stream(), interleaved: decoder.stream() });
    panics(&decoder.info().name, b"", ask);
    streams
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        self.drop_streams();
    }
}

impl Slot<'_> {
    /// Of these questions, those that make sense for this decoder.
    fn applicable(&self, questions: Questions) -> Questions {
        let questions = if self.prompt { questions } else { questions.without(&[Question::Written]) };
        let questions = match self.decoder.info().promise {
            Promise::Everything => questions,
            _ => questions.comparable(),
        };
        // A decoder in another process does not see the memory of this one.
        match self.planned {
            None => questions,
            Some(_) => questions.without(&[Question::Bounds, Question::Placement]),
        }
    }

    /// Takes new streams. True if the decoder panics when the old ones are dropped.
    fn renew_streams(&mut self) -> bool {
        let panicked = self.drop_streams();
        self.streams = fresh_streams(self.decoder);
        panicked
    }

    /// One after the other: a panic while another is under way would end the process.
    fn drop_streams(&mut self) -> bool {
        let Some(mut streams) = self.streams.take() else { return false };
        let (primary, interleaved) = (streams.primary.take(), streams.interleaved.take());
        let name = &self.decoder.info().name;
        [primary, interleaved].map(|stream| panics(name, b"", || drop(stream))).contains(&true)
    }

    /// Asks these questions, and checks the answers by the laws.
    fn first_broken(
        &mut self,
        expectation: &Expectation<'_>,
        observation: &mut Observation,
        case: &Case<'_>,
        questions: Questions,
        comparisons: &mut u64,
    ) -> Option<Mismatch> {
        const PANICKED: Mismatch = Mismatch { law: Law::Panic, offset: None };
        if questions.has(&[Question::Stream]) && self.streams.is_none() {
            *comparisons += 1;
            return Some(PANICKED);
        }
        let streams = self.streams.get_or_insert_default();
        let ask = || observation.observe(self.decoder, streams, case, questions, expectation.errors());
        if let Some(ending) = panicked(&self.decoder.info().name, case.bytes, ask) {
            *comparisons += 1;
            self.ending = ending;
            return Some(PANICKED);
        }
        if questions.has(&[Question::Stream]) && case.drops_streams() && self.renew_streams() {
            return Some(PANICKED);
        }
        laws::first_broken(self.decoder.info().promise, expectation, observation, case, comparisons)
    }

    /// Whether a decoder that broke a law complies with it when asked again after other inputs, or with a new stream: then the
    /// failure depends on earlier questions. The other inputs are text, a longer one and a short one, since what a decoder keeps
    /// it may keep only for long inputs.
    fn is_stateful_failure(
        &mut self,
        law: Law,
        expectation: &Expectation<'_>,
        observation: &mut Observation,
        case: &Case<'_>,
        questions: Questions,
    ) -> bool {
        self.renew_streams();
        let longer = vec![b'a'; case.bytes.len() + 1];
        for other in [&longer[..], b"a"] {
            let between = |decoder: &dyn Decoder| {
                decoder.validate(other);
                decoder.decode_lossy(other, &mut Vec::new());
            };
            if panics(&self.decoder.info().name, other, || between(self.decoder)) {
                return false;
            }
        }
        if law.is_about_streams() {
            return !self.stream_goes_wrong(expectation, observation, case);
        }
        // A decoder without a replacement gives its verdict by its output too.
        let decodes = questions.has(&[Question::Output]) && expectation.contract().replacement.is_none();
        let questions = match law.is_about_first_error() {
            true if decodes => Questions::ANSWERS,
            true => Questions::VERDICT,
            false => questions,
        };
        self.first_broken(expectation, observation, case, questions, &mut 0).is_none()
    }

    /// Whether a new stream breaks a law, with the cuts or without.
    fn stream_goes_wrong(
        &mut self,
        expectation: &Expectation<'_>,
        observation: &mut Observation,
        case: &Case<'_>,
    ) -> bool {
        [*case.cuts(), Cuts::NONE].into_iter().any(|cuts| {
            self.renew_streams();
            let case = Case::with_cuts(case.bytes, cuts);
            let questions = self.applicable(Questions::STREAM);
            self.first_broken(expectation, observation, &case, questions, &mut 0).is_some()
        })
    }
}

/// Whether the decoder gives this verdict, comparing what both state; `None` if it cannot answer, false if it panics.
/// For engines that ask only this question about very many strings and need no [`Judge`].
pub fn agrees_with(decoder: &dyn Decoder, bytes: &[u8], expected: &Validity) -> Option<bool> {
    let mut observed = None;
    let panicked = panics(&decoder.info().name, bytes, || observed = decoder.validate(bytes));
    let agrees = |observed| laws::verdict_mismatch(expected, &observed).is_none();
    if panicked { Some(false) } else { observed.map(agrees) }
}

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
    fn new(names: impl Iterator<Item = Cow<'static, str>>) -> Self {
        Self { comparisons: names.map(|name| (name, 0)).collect(), ..Self::default() }
    }

    fn count_case(&mut self, expectation: Option<Expectation<'_>>) {
        self.cases += 1;
        let Some(expectation) = expectation else { return };
        match expectation.errors().next().and_then(|error| error.kind) {
            None => self.valid += 1,
            Some(kind) => self.add_kind(kind, 1),
        }
    }

    fn count_comparisons(&mut self, decoder: usize, count: u64) {
        self.comparisons[decoder].1 += count;
    }

    fn add_kind(&mut self, kind: Kind, count: u64) {
        match self.kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, seen)) => *seen += count,
            None => self.kinds.push((kind, count)),
        }
    }

    fn forget(&mut self, decoder: usize) {
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
