//! The property under the crate `proptest`: arbitrary bytes, and random text with up to four bytes changed.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use utfuzz_rivals::{LONGEST_CHUNK, Rival};

fn text_with_changes() -> impl Strategy<Value = Vec<u8>> {
    (any::<Vec<char>>(), vec(any::<(Index, u8)>(), 0..=4)).prop_map(|(text, changes)| {
        let mut bytes = text.into_iter().collect::<String>().into_bytes();
        for (place, byte) in changes {
            if !bytes.is_empty() {
                let place = place.index(bytes.len());
                bytes[place] = byte;
            }
        }
        bytes
    })
}

fn main() {
    let rival = Rival::from_env();
    let seed: u64 = std::env::var("UTFUZZ_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(1);
    let mut seeds = [0; 32];
    seeds[..8].copy_from_slice(&seed.to_le_bytes());
    let config = Config { cases: u32::MAX, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &seeds));
    let inputs = (prop_oneof![any::<Vec<u8>>(), text_with_changes()], 1..=LONGEST_CHUNK);
    let ended = runner.run(&inputs, |(bytes, chunk)| {
        rival.test(&bytes, chunk);
        Ok(())
    });
    ended.expect("an input that violates the property ends the process");
}
