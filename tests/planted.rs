//! The planted decoders: their signs are well spelled, and the embedded engines catch each for what it is.
#![cfg(all(feature = "planted", feature = "check"))]

use std::time::Duration;
use utfuzz::judge::{Law, Subject};
use utfuzz::peers::planted::rows;
use utfuzz::peers::{self, matches_glob};
use utfuzz::score::summary::Summary;
use utfuzz::score::{self, Engine, Options};

#[test]
fn every_planted_fault_is_caught_for_what_it_is() {
    let decoders = peers::all();
    let decoders: Vec<_> = decoders.iter().map(|decoder| &**decoder).collect();
    let options = Options {
        engines: vec![Engine::Exhaustive, Engine::Structured],
        budget: Duration::from_secs(5),
        seeds: 1,
        jobs: 2,
        root: ".".into(),
    };
    let score = score::run(&decoders, &options, &|_| ()).unwrap();
    let mut told = Vec::new();
    utfuzz::report::score::text(&score, &mut told).unwrap();
    assert_eq!(score.rows.len(), rows().count());
    assert!(score.rows.len() >= 55 && Summary::of(&score).is_clean(), "{}", String::from_utf8_lossy(&told));
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
