//! Every planted fault is found.
#![cfg(all(feature = "planted", feature = "check"))]

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use utfuzz::check::{Options, check};
use utfuzz::triage::ledger::Ledger;
use utfuzz::{Decoder, peers};

/// Planted decoders that a check does not catch, and why.
const NOT_YET_CAUGHT: [(&str, &str); 0] = [];

#[test]
fn every_planted_fault_is_found() {
    let decoders = peers::all();
    let planted: Vec<&dyn Decoder> =
        decoders.iter().map(|decoder| &**decoder).filter(|decoder| decoder.info().package == "planted").collect();
    let options = Options { time: Duration::from_secs(2), ledger: Ledger::default(), ..Options::default() };
    let outcome = check(&planted, &options, &|_, _| {}).unwrap();
    println!("{} planted decoders, {:?}", planted.len(), outcome.stages);

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
