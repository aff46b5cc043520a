//! The engines that run in this process: inputs in a fixed order, or drawn from a seed, until the first broken law.

use crate::case::Case;
use crate::decoder::Decoder;
use crate::engine::score::{Engine, Find};
use crate::generate::classes::strings::plan;
use crate::generate::fragments;
use crate::generate::structured::Structured;
use crate::judge::Judge;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// How far a decoder got.
pub(super) struct Ended {
    pub(super) find: Option<Find>,
    pub(super) executions: u64,
    pub(super) seconds: f64,
}

/// Judges the inputs of an engine until a law is broken, the inputs end, or the time is up.
pub(super) fn run(decoder: &dyn Decoder, engine: Engine, seed: u64, budget: Duration) -> Ended {
    let start = Instant::now();
    let mut judge = Judge::new([decoder]);
    let (mut find, mut executions) = (None, 0u64);
    inputs(engine, seed, |bytes| {
        executions += 1;
        let case = Case::new(bytes);
        if let Some(broken) = judge.judge(&case).first().copied() {
            find = Some(Find::Signature(crate::explain::explain(&judge, &case, &broken).signature));
            return ControlFlow::Break(());
        }
        let is_late = executions % 64 == 0 && start.elapsed() >= budget;
        if is_late { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    Ended { find, executions, seconds: start.elapsed().as_secs_f64() }
}

/// Hands the inputs of an engine to `each`, in order, until it breaks. Nothing is known here of any decoder.
fn inputs(engine: Engine, seed: u64, mut each: impl FnMut(&[u8]) -> ControlFlow<()>) {
    let mut bytes = Vec::new();
    let flow = match engine {
        Engine::Exhaustive => class_and_word_strings(&mut bytes, &mut each),
        // Seeds lie far apart, so that runs do not draw the same inputs.
        Engine::Structured => (0..).try_for_each(|index| each(&Structured::seeded((seed << 40) + index).0)),
        Engine::Plain | Engine::Mutator | Engine::Behaviour => ControlFlow::Continue(()),
    };
    debug_assert!(flow.is_break() || engine != Engine::Structured);
}

fn class_and_word_strings(bytes: &mut Vec<u8>, each: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> ControlFlow<()> {
    fragments::strings().chain(fragments::texts()).try_for_each(|string| each(&string))?;
    plan().into_iter().try_for_each(|block| {
        (0..block.count()).try_for_each(|index| {
            block.write(index, bytes);
            each(bytes)
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoder::Info;
    use crate::spec::Contract;
    use crate::utf8::Validity;
    use std::sync::Mutex;

    /// Notes what it is asked, and answers as `core::str`.
    struct Spy(Info, Mutex<Vec<Vec<u8>>>);

    impl Decoder for Spy {
        fn info(&self) -> &Info {
            &self.0
        }

        fn validate(&self, bytes: &[u8]) -> Option<Validity> {
            let mut asked = self.1.lock().unwrap();
            if asked.len() < 20_000 {
                asked.push(bytes.to_vec());
            }
            Some(core::str::from_utf8(bytes).map(drop).into())
        }
    }

    /// What a decoder is asked hangs neither on its name nor on whose it is.
    #[test]
    fn an_engine_does_not_look_at_names() {
        let asked = |engine, name: &'static str, package: &'static str| {
            let info = Info::new(name, "0").package(package).contract(Contract::VALIDATOR);
            let spy = Spy(info, Mutex::default());
            assert!(run(&spy, engine, 1, Duration::from_millis(400)).find.is_none());
            let asked = spy.1.into_inner().unwrap();
            assert!(asked.len() > 5000, "{}", asked.len());
            asked
        };
        for engine in [Engine::Exhaustive, Engine::Structured] {
            let (first, second) = (asked(engine, "planted-g12", "planted"), asked(engine, "some", "other"));
            let both = first.len().min(second.len());
            assert!(first[..both] == second[..both]);
        }
    }

    #[test]
    fn other_seeds_draw_other_inputs() {
        let first = |seed| {
            let mut drawn = Vec::new();
            inputs(Engine::Structured, seed, |bytes| {
                drawn.push(bytes.to_vec());
                if drawn.len() < 100 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            });
            drawn
        };
        assert_eq!(first(1), first(1));
        assert_ne!(first(1), first(2));
    }
}
