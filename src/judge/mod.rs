//! The verdict. Everything here is pure: no I/O, no panic.
//!
//! A [`Judge`] puts one [`Case`] to all its decoders, holds each answer to what `spec` says under that decoder's own
//! contract, and to what the decoder says of related inputs. It allocates only while its buffers grow and when
//! something diverges.

mod annotate;
mod divergence;
mod expect;
mod grid;
mod laws;
mod observe;
mod shape;
mod statistics;

pub use annotate::{annotate, escape};
pub use divergence::{Divergence, Shape, Signature, Subject};
pub use grid::{Grid, Group, Question};
pub use laws::{Broken, Law};
pub use statistics::Statistics;

use crate::decoder::{Decoder, Stream};
use crate::input::{Case, Cuts};
use expect::Expectation;
use observe::Observation;

/// Judges cases for a fixed list of decoders.
pub struct Judge<'d> {
    slots: Vec<Slot<'d>>,
    expectations: Vec<Expectation>,
    observation: Observation,
    broken: Vec<Broken>,
    statistics: Statistics,
}

struct Slot<'d> {
    decoder: &'d dyn Decoder,
    stream: Option<Box<dyn Stream + 'd>>,
    expectation: usize,
    on: bool,
}

impl<'d> Judge<'d> {
    /// A judge of these decoders; a [`Broken`] names them by their place in the list.
    pub fn new(decoders: impl IntoIterator<Item = &'d dyn Decoder>) -> Self {
        let mut expectations: Vec<Expectation> = Vec::new();
        let slots: Vec<_> = decoders
            .into_iter()
            .map(|decoder| {
                let contract = decoder.info().contract;
                let known = expectations.iter().position(|expectation| expectation.contract == contract);
                let expectation = known.unwrap_or_else(|| {
                    expectations.push(Expectation::new(contract));
                    expectations.len() - 1
                });
                Slot { decoder, stream: decoder.stream(), expectation, on: true }
            })
            .collect();
        let statistics = Statistics::new(slots.iter().map(|slot| slot.decoder.info().name));
        Self { slots, expectations, observation: Observation::default(), broken: Vec::new(), statistics }
    }

    /// The decoders, in their order.
    pub fn decoders(&self) -> impl ExactSizeIterator<Item = &'d dyn Decoder> + '_ {
        self.slots.iter().map(|slot| slot.decoder)
    }

    /// Leaves a decoder out from now on; the others keep their places.
    pub fn switch_off(&mut self, decoder: usize) {
        if let Some(slot) = self.slots.get_mut(decoder) {
            slot.on = false;
            self.statistics.forget(decoder);
        }
    }

    /// The broken laws of the last case.
    pub fn broken(&self) -> &[Broken] {
        &self.broken
    }

    /// What this judge has seen so far.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Judges one case: for each decoder that breaks a law, the first law it breaks.
    pub fn judge(&mut self, case: &Case<'_>) -> &[Broken] {
        self.broken.clear();
        expect::fill(&mut self.expectations, case.bytes);
        self.statistics.count_case(self.expectations.first());
        for (index, slot) in self.slots.iter_mut().enumerate().filter(|(_, slot)| slot.on) {
            let expectation = &self.expectations[slot.expectation];
            self.observation.observe(slot.decoder, slot.stream.as_deref_mut(), case);
            let mut comparisons = 0;
            let broken = laws::first_broken(expectation, &self.observation, case, &mut comparisons);
            self.statistics.count_comparisons(index, comparisons);
            if let Some((mut law, offset)) = broken {
                if matches!(law, Law::Stream | Law::Reset) {
                    law = slot.stream_law(expectation, &mut self.observation, case);
                    // It may carry its state into the next case.
                    slot.stream = slot.decoder.stream();
                }
                let subject = Subject::at(&expectation.contract, case.bytes, offset);
                self.broken.push(Broken { decoder: index, law, offset, subject });
            }
        }
        &self.broken
    }

    /// All there is to say of a broken law, its signature first. This takes a thousand judgements or so.
    pub fn explain(&self, case: &Case<'_>, broken: &Broken) -> Divergence {
        Divergence::new(&self.slots, case, broken)
    }
}

impl Slot<'_> {
    /// Whether a stream that went wrong goes wrong from the start, or only after something else.
    fn stream_law(&self, expectation: &Expectation, observation: &mut Observation, case: &Case<'_>) -> Law {
        for cuts in [case.cuts, Cuts::NONE] {
            let case = Case { cuts, ..*case };
            observation.observe(self.decoder, self.decoder.stream().as_deref_mut(), &case);
            if let Some((Law::Stream, _)) = laws::first_broken(expectation, observation, &case, &mut 0) {
                return Law::Stream;
            }
        }
        Law::Reset
    }
}

/// The first law a single decoder breaks on a case, explained; `None` where it keeps them all.
///
/// This is what a regression test calls.
pub fn first_divergence(decoder: &dyn Decoder, case: &Case<'_>) -> Option<Divergence> {
    let mut judge = Judge::new([decoder]);
    let broken = judge.judge(case).first().copied()?;
    Some(judge.explain(case, &broken))
}
