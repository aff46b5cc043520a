//! A judge that has warmed up allocates nothing, whatever the decoders: not per case, not per decoder.
#![cfg(feature = "peers")]

use utfuzz::input::{Case, seeds};
use utfuzz::judge::Judge;

#[test]
fn judging_does_not_allocate() {
    let decoders = utfuzz::peers::all();
    // Decoders that break laws on the seeds are left out: to place a broken law may allocate.
    let sound = decoders.iter().filter(|decoder| !["utf8-decode", "planted"].contains(&decoder.info().package));
    let mut judge = Judge::new(sound.map(|decoder| &**decoder));
    let seeds: Vec<Vec<u8>> = seeds::differential().into_values().collect();
    let mut run = || {
        for bytes in &seeds {
            let case = Case::new(bytes);
            assert!(judge.judge(&case).is_empty());
            assert!(judge.judge_novelty(&case).is_empty());
        }
    };
    run();
    let allocations = allocation_counter::measure(run);
    assert_eq!(allocations.count_total, 0, "{} seeds, {} decoders", seeds.len(), decoders.len());
    assert!(allocation_counter::measure(|| drop(vec![1])).count_total > 0, "the counter counts nothing");
}
