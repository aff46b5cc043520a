//! Every planted fault is found.
#![cfg(all(feature = "planted", feature = "check"))]

use std::collections::{BTreeMap, BTreeSet};
use utfuzz::check::replay;
use utfuzz::input::exhaustive::Block;
use utfuzz::input::generate::Structured;
use utfuzz::triage::ledger::Ledger;
use utfuzz::{Decoder, peers};

/// Planted decoders that these inputs do not catch, and why.
const NOT_YET_CAUGHT: [(&str, &str); 2] = [
    ("planted-g25", "no input has an error between two bytes 22"),
    ("planted-s15", "no input is long enough: over 8192 units, a pair at the end of the first chunk"),
];

/// What `check` feeds, less of it: its whole plan takes minutes with so many decoders.
fn inputs() -> Vec<Vec<u8>> {
    let offsets = [0].into_iter().chain(12..=16).chain(28..=32).chain(60..=64);
    let blocks = offsets.flat_map(|offset| (1..=3).map(move |len| Block { len, offset }));
    let mut inputs = Vec::new();
    for block in blocks.chain([Block { len: 4, offset: 0 }]) {
        inputs.extend((0..block.count()).map(|index| {
            let mut bytes = Vec::new();
            block.write(index, &mut bytes);
            bytes
        }));
    }
    inputs.extend((0..10_000).map(|seed| Structured::seeded(seed).0));
    inputs
}

#[test]
fn every_planted_fault_is_found() {
    let decoders = peers::all();
    let planted: Vec<&dyn Decoder> =
        decoders.iter().map(|decoder| &**decoder).filter(|decoder| decoder.info().package == "planted").collect();
    let inputs = inputs();
    let outcome = replay(&planted, &Ledger::default(), &inputs);
    println!("{} planted decoders, {} inputs", planted.len(), inputs.len());

    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (signature, divergence) in &outcome.divergences {
        let witness = divergence.divergence.bytes.escape_ascii();
        found.entry(signature.decoder).or_default().push(format!("{signature}, {} times: {witness}", divergence.hits));
    }
    for decoder in &planted {
        let name = decoder.info().name;
        println!("{name}");
        found.get(name).into_iter().flatten().for_each(|line| println!("  {line}"));
    }

    let missed: BTreeSet<&str> =
        planted.iter().map(|decoder| decoder.info().name).filter(|name| !found.contains_key(name)).collect();
    let known: BTreeSet<&str> = NOT_YET_CAUGHT.into_iter().map(|(name, _)| name).collect();
    let surprising: Vec<_> = missed.difference(&known).collect();
    assert!(surprising.is_empty(), "missed: {surprising:?}");
    let caught: Vec<_> = known.difference(&missed).collect();
    assert!(caught.is_empty(), "caught by now, take them off the list: {caught:?}");
}
