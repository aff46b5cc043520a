//! The verdict: holds each answer of a decoder to what `spec` expects under that decoder's own contract, and to what the
//! decoder answers to related inputs.
//!
//! A [`Judge`] puts one [`Case`] to all its decoders and returns the laws they break. It does no I/O, does not panic, has no
//! state outside itself, and knows no decoder by name. It allocates only while its buffers grow and when something
//! diverges. What a process needs to survive decoders that panic, hang or read outside their input is in [`isolate`].

pub(crate) mod automaton;
pub(crate) mod expect;
#[doc(hidden)]
pub mod isolate;
pub(crate) mod laws;
mod novelty;
pub(crate) mod observe;
pub(crate) mod question;
mod statistics;
mod subject;

pub use isolate::{Timeout, silence_panics, watch};
pub use laws::{Broken, Law};
pub use novelty::FEATURES;
pub use question::Questions;
pub use statistics::Statistics;
pub use subject::Subject;

use crate::case::{Case, Cuts};
use crate::decoder::Decoder;
use crate::spec::{Contract, Detection, Segmentation};
use crate::utf8::Validity;
use expect::{Expectation, Expectations};
use isolate::panics;
use isolate::watchdog::watched;
use laws::Mismatch;
use novelty::Features;
use observe::{Observation, Streams};
use question::{Abilities, Question};

/// Judges cases for a fixed list of decoders.
///
/// Each method that judges returns what it found.
pub struct Judge<'d> {
    slots: Vec<Slot<'d>>,
    expectations: Expectations,
    observation: Observation,
    broken: Vec<Broken>,
    features: Features,
    /// The places of the decoders that are not switched off.
    on: Vec<usize>,
    statistics: Statistics,
}

/// What came of [`Judge::judge_novelty`].
#[derive(Clone, Copy, Debug)]
pub struct Novel<'j> {
    /// For each decoder that breaks a law, the first law it breaks.
    pub broken: &'j [Broken],
    /// Whether the case did something that no case before it had done.
    pub is_novel: bool,
}

struct Slot<'d> {
    decoder: &'d dyn Decoder,
    /// `None` if the decoder panics when asked for them.
    streams: Option<Streams<'d>>,
    expectation: usize,
    able: Abilities,
    /// Whether its stream promises to write immediately what is decided.
    prompt: bool,
}

impl<'d> Judge<'d> {
    /// A judge of these decoders; a [`Broken`] names them by their place in the list.
    pub fn new(decoders: impl IntoIterator<Item = &'d dyn Decoder>) -> Self {
        let mut expectations = Expectations::default();
        let slots: Vec<Slot<'d>> = decoders
            .into_iter()
            .map(|decoder| {
                let contract = decoder.info().contract;
                // Other segmentations may need more input to know where a segment ends.
                let at_once = matches!(contract.segmentation, Segmentation::MaximalSubpart | Segmentation::Byte);
                let prompt = contract.detection == Detection::Earliest && at_once;
                // What is expected of the whole input does not depend on when it is written.
                let expectation = expectations.place(Contract { detection: Detection::Late, ..contract });
                let (streams, able) = abilities(decoder);
                Slot { decoder, streams, expectation, able, prompt }
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

    /// Leaves a decoder out from now on; the others keep their places.
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

    /// Judges one case by these questions alone.
    pub fn judge_on(&mut self, case: &Case<'_>, questions: Questions) -> &[Broken] {
        self.judge_selected(case, questions, |_| true)
    }

    /// Judges one case by these questions alone, for those decoders alone whose place `is_selected` picks.
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

    /// Judges a case in full if it does something new to this judge; otherwise puts one question to each of
    /// [`Judge::SAMPLE`] decoders. For engines that run very many similar inputs, where the number of inputs matters
    /// most. Decoders and questions are picked by the bytes.
    ///
    /// Where the case is novel, `feature` is called with each behaviour feature it has, below [`FEATURES`], some of them
    /// perhaps more than once.
    ///
    /// What this finds on a decoder that always answers the same question alike, [`Judge::judge`] finds too, if
    /// perhaps as a violation of a stronger law.
    pub fn judge_novelty(&mut self, case: &Case<'_>, feature: impl FnMut(usize)) -> Novel<'_> {
        /// The first judgements are made in full: a judge that has seen little finds everything new.
        const FIRST_JUDGEMENTS: u64 = 16 * 1024;
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

    /// Lets no features count as novel but those of these groups.
    ///
    /// # Errors
    /// The names there are, where one is not known.
    pub fn only_features(&mut self, groups: &[&str]) -> Result<(), Vec<&'static str>> {
        self.features.only(groups)
    }

    /// How many decoders a case that shows nothing new is put to.
    pub const SAMPLE: usize = 1;

    /// The first law one decoder breaks on a case, judged in full.
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
            self.ask(index, case, self.slots[index].able.pick(&case.choices, errors));
        }
    }

    fn ask(&mut self, index: usize, case: &Case<'_>, questions: Questions) {
        let slot = &mut self.slots[index];
        let output = questions.has(&[Question::Output, Question::Stream, Question::Reused]);
        let Some(expectation) = self.expectations.of(slot.expectation, case.bytes, output) else { return };
        let questions = if slot.prompt { questions } else { questions.without(&[Question::Written]) };
        let mut comparisons = 0;
        let mismatch = slot.first_broken(&expectation, &mut self.observation, case, questions, &mut comparisons);
        self.statistics.count_comparisons(index, comparisons);
        let Some(Mismatch { mut law, offset }) = mismatch else { return };
        if law != Law::Panic && slot.is_stateful_failure(law, &expectation, &mut self.observation, case, questions) {
            law = if law.is_about_streams() { Law::Reset } else { Law::Repeat };
        }
        // The stream may carry its state into the next case.
        slot.streams = fresh_streams(slot.decoder);
        // A failure that depends on other inputs is not about any part of this one.
        let subject = match law.is_about_state() {
            true => Subject::End,
            false => Subject::at(expectation.contract(), case.bytes, offset),
        };
        self.broken.push(Broken { decoder: index, law, offset, subject });
    }

    /// The decoder at this place.
    pub fn decoder(&self, place: usize) -> &'d dyn Decoder {
        self.slots[place].decoder
    }

    /// The decoders that are not switched off.
    pub fn active(&self) -> impl ExactSizeIterator<Item = &'d dyn Decoder> + '_ {
        self.on.iter().map(|&place| self.slots[place].decoder)
    }
}

/// What a decoder can answer, and its streams. A decoder that panics counts as able.
fn abilities(decoder: &dyn Decoder) -> (Option<Streams<'_>>, Abilities) {
    let mut able = Abilities { validate: true, lossy: true, stream: true };
    panics(|| able.validate = decoder.validate(b"").is_some());
    panics(|| able.lossy = decoder.decode_lossy(b"", &mut Vec::new()).is_some());
    let streams = fresh_streams(decoder);
    able.stream = streams.as_ref().is_none_or(|streams| streams.primary.is_some());
    (streams, able)
}

/// New streams; `None` if the decoder panics.
fn fresh_streams(decoder: &dyn Decoder) -> Option<Streams<'_>> {
    let mut streams = None;
    panics(|| streams = Some(Streams { primary: decoder.stream(), interleaved: decoder.stream() }));
    streams
}

impl Slot<'_> {
    /// Puts these questions, and holds the answers to the laws.
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
        if watched(&self.decoder.info().name, case.bytes, || panics(ask)) {
            *comparisons += 1;
            return Some(PANICKED);
        }
        laws::first_broken(expectation, observation, case, comparisons)
    }

    /// Whether a decoder that broke a law keeps it after another input, or with a new stream: then the failure depends on
    /// what was asked before.
    fn is_stateful_failure(
        &mut self,
        law: Law,
        expectation: &Expectation<'_>,
        observation: &mut Observation,
        case: &Case<'_>,
        questions: Questions,
    ) -> bool {
        self.streams = fresh_streams(self.decoder);
        let between = |decoder: &dyn Decoder| {
            decoder.validate(b"a");
            decoder.decode_lossy(b"a", &mut Vec::new());
        };
        if panics(|| between(self.decoder)) {
            return false;
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

    /// Whether a new stream breaks a law, cut or whole.
    fn stream_goes_wrong(
        &mut self,
        expectation: &Expectation<'_>,
        observation: &mut Observation,
        case: &Case<'_>,
    ) -> bool {
        [*case.cuts(), Cuts::NONE].into_iter().any(|cuts| {
            self.streams = fresh_streams(self.decoder);
            let case = Case::with_cuts(case.bytes, cuts);
            let questions = if self.prompt { Questions::STREAM } else { Questions::CHUNKS };
            self.first_broken(expectation, observation, &case, questions, &mut 0).is_some()
        })
    }
}

/// Whether the decoder gives this verdict, as far as both state it; `None` if it cannot answer. A decoder that panics
/// does not. For engines that put this one question for very many strings and need no [`Judge`]. The watchdog does not see
/// it.
pub fn agrees_with(decoder: &dyn Decoder, bytes: &[u8], expected: &Validity) -> Option<bool> {
    let mut observed = None;
    let panicked = panics(|| observed = decoder.validate(bytes));
    let agrees = |observed| laws::verdict_mismatch(expected, &observed).is_none();
    if panicked { Some(false) } else { observed.map(agrees) }
}
