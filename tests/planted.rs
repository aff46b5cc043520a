//! Every planted fault is found, and for what it is.
#![cfg(all(feature = "planted", feature = "check"))]

use std::collections::{BTreeMap, BTreeSet};
use utfuzz::check::replay;
use utfuzz::input::exhaustive::Block;
use utfuzz::input::generate::Structured;
use utfuzz::judge::{Law, Subject, silence_panics};
use utfuzz::peers::matches_glob;
use utfuzz::peers::planted::rows;
use utfuzz::triage::ledger::Ledger;
use utfuzz::{Decoder, peers};

/// Planted decoders that these inputs do not catch, and why.
const NOT_YET_CAUGHT: [(&str, &str); 0] = [];

/// Planted decoders of which no signature is found that the fault implies, and why.
const NOT_YET_NAMED: [(&str, &str); 4] = [
    ("planted-t07", "a panic is not placed"),
    ("planted-t21", "what stands last before a cut is named, not what has waited longest"),
    ("planted-t24", "a panic is not placed"),
    ("planted-x11", "what stands before a cut is named, not what stands behind it"),
];

/// What `check` feeds, less of it: its whole plan takes minutes with so many decoders.
fn inputs() -> Vec<Vec<u8>> {
    let offsets = [0].into_iter().chain(12..=16).chain(28..=32).chain(60..=64);
    let blocks = offsets.flat_map(|offset| (1..=3).map(move |len| Block { len, offset }));
    let mut inputs = Vec::new();
    for block in blocks.chain([0, 4].map(|len| Block { len, offset: 0 })) {
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
    silence_panics();
    let decoders = peers::all();
    let planted: Vec<&dyn Decoder> =
        decoders.iter().map(|decoder| &**decoder).filter(|decoder| decoder.info().package == "planted").collect();
    let inputs = inputs();
    let outcome = replay(&planted, &Ledger::default(), &inputs);
    println!("{} planted decoders, {} inputs", planted.len(), inputs.len());

    let mut found: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let mut named = BTreeSet::new();
    for (signature, divergence) in &outcome.divergences {
        let name = signature.decoder;
        let sign = format!("{}/{}/{}", signature.law, signature.subject, signature.shape);
        let is_implied = signs(name).iter().any(|glob| matches_glob(glob, &sign));
        if is_implied {
            named.insert(name);
        }
        let mark = if is_implied { ' ' } else { '?' };
        let witness = divergence.divergence.bytes.escape_ascii();
        found.entry(name).or_default().push(format!("{mark} {sign}, {} times: {witness}", divergence.hits));
    }
    for decoder in &planted {
        let name = decoder.info().name;
        println!("{name}");
        found.get(name).into_iter().flatten().for_each(|line| println!("  {line}"));
    }

    let names = || planted.iter().map(|decoder| decoder.info().name);
    let missed: BTreeSet<&str> = names().filter(|name| !found.contains_key(name)).collect();
    let misnamed = names().filter(|name| found.contains_key(name) && !named.contains(name)).collect();
    let mut wrong = differences("missed", &missed, &NOT_YET_CAUGHT);
    wrong.extend(differences("found, but by no signature of theirs", &misnamed, &NOT_YET_NAMED));
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// What these are and the list does not say, and what it says that is so no longer.
fn differences(what: &str, seen: &BTreeSet<&str>, list: &[(&str, &str)]) -> Vec<String> {
    let known: BTreeSet<&str> = list.iter().map(|(name, _)| *name).collect();
    let surprising = seen.difference(&known).map(|name| format!("{what}: {name}"));
    let stale = known.difference(seen).map(|name| format!("no longer {what}, take it off the list: {name}"));
    surprising.chain(stale).collect()
}

fn signs(name: &str) -> &'static [&'static str] {
    rows().find(|(known, _)| *known == name).map_or(&[], |(_, row)| row.signs)
}

#[test]
fn signs_name_what_there_is() {
    let shapes = ["anywhere", "edge16", "edge32", "edge64", "offset", "tail", "cut", "context"];
    let mut wrong = Vec::new();
    for (name, row) in rows() {
        for sign in row.signs {
            let [law, subject, shape] = sign.split('/').collect::<Vec<_>>()[..] else {
                wrong.push(format!("{name}: {sign}"));
                continue;
            };
            let is_law = Law::ALL.iter().any(|known| known.name() == law);
            let is_subject = Subject::names().iter().any(|known| matches_glob(subject, known));
            let is_shape = shapes.iter().any(|known| matches_glob(shape, known));
            if !(is_law && is_subject && is_shape) {
                wrong.push(format!("{name}: {sign}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
