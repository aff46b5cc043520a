//! Peers of other grammars: every known difference has a witness, and wtf8 joins surrogate pairs.
#![cfg(all(feature = "peers", feature = "ledger"))]

use std::fs;
use std::path::PathBuf;
use utfuzz::case::Case;
use utfuzz::judge::Judge;
use utfuzz::spec::grammar;
use utfuzz::triage::ledger::Ledger;
use utfuzz::{peers, spec};
use wtf8::{CodePoint, Wtf8Buf};

/// Each entry of the ledger about a decoder of this build has a witness among the regressions, named after that
/// decoder.
#[test]
fn every_known_difference_has_a_witness() {
    let decoders = peers::all();
    let ledger = Ledger::built_in();
    let files = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/regressions")).unwrap();
    let files: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    let mut seen = vec![false; ledger.entries().len()];
    let mut entries = 0;
    for decoder in &decoders {
        let info = decoder.info();
        entries += ledger.entries().iter().filter(|entry| entry.is_about(info)).count();
        let mut judge = Judge::new([&**decoder]);
        let is_named = |path: &&PathBuf| {
            let stem = path.file_stem().unwrap_or_default().to_string_lossy();
            stem.split("__").nth(2) == Some(&*info.name)
        };
        for path in files.iter().filter(is_named) {
            for broken in judge.judge(&Case::new(&fs::read(path).unwrap())) {
                if let Some(entry) = ledger.covers(info, broken.law, broken.subject) {
                    seen[entry] = true;
                }
            }
        }
    }
    let is_here = |entry: &utfuzz::triage::ledger::Entry| decoders.iter().any(|decoder| entry.is_about(decoder.info()));
    let missing = ledger.entries().iter().zip(&seen).filter(|(entry, seen)| is_here(entry) && !**seen);
    let missing: Vec<&str> = missing.map(|(entry, _)| entry.id.as_str()).collect();
    assert!(missing.is_empty() && entries >= 13, "{entries} entries, without a witness: {missing:?}");
}

/// `push_wtf8` joins every leading surrogate with the first and the last trailing one, and every trailing surrogate
/// with the first and the last leading one.
#[test]
fn surrogates_that_meet_join() {
    let one = |code_point| {
        let mut buffer = Wtf8Buf::new();
        buffer.push(CodePoint::from_u32(code_point).unwrap());
        buffer
    };
    let leads = (0xD800..=0xDBFF).flat_map(|lead| [0xDC00, 0xDFFF].map(|trail| (lead, trail)));
    let trails = (0xDC00..=0xDFFF).flat_map(|trail| [0xD800, 0xDBFF].map(|lead| (lead, trail)));
    let mut pairs = 0;
    for (lead, trail) in leads.chain(trails) {
        let mut joined = one(lead);
        joined.push_wtf8(&one(trail));
        let code_points: Vec<u32> = joined.code_points().map(|code_point| code_point.to_u32()).collect();
        let mut cesu = Vec::new();
        [lead, trail].into_iter().for_each(|half| utfuzz::utf8::push_extended(half, &mut cesu));
        let contract = spec::Contract { grammar: &grammar::CESU8, ..spec::Contract::STANDARD };
        assert_eq!(code_points, spec::code_points(&contract, &cesu).collect::<Vec<_>>(), "{cesu:02X?}");
        // In the opposite order they are not joined.
        let mut apart = one(trail);
        apart.push_wtf8(&one(lead));
        assert_eq!(apart.code_points().count(), 2);
        pairs += 1;
    }
    assert_eq!(pairs, 4096);
}
