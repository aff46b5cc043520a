//! Every decoder on every published vector, after up to 65 ASCII bytes, cut at every position. With the feature `glibc` only
//! the decoders of the GNU C library, which take longer than all others.
#![cfg(all(feature = "peers", feature = "ledger"))]

use std::collections::BTreeMap;
use std::fs;
use utfuzz::case::{Case, Cuts};
use utfuzz::generate::vectors;
use utfuzz::judge::Judge;
use utfuzz::triage::ledger::Ledger;

#[test]
fn every_decoder_keeps_its_contract_on_every_vector() {
    // Where a vector is at the start of a register, in the middle, or across the end.
    judge_vectors(&[0, 1, 7, 13, 14, 15, 16, 29, 30, 31, 32, 33, 61, 62, 63, 64, 65]);
}

#[test]
#[ignore = "takes a minute; .ci/run exhaustive"]
fn every_decoder_keeps_its_contract_on_every_vector_at_every_offset() {
    judge_vectors(&(0..=65).collect::<Vec<_>>());
}

/// Judges every decoder on every vector after each of these numbers of ASCII bytes.
fn judge_vectors(paddings: &[usize]) {
    let decoders = utfuzz::peers::all();
    let ledger = Ledger::built_in();
    let is_meant = |package: &str| package != "planted" && (!cfg!(feature = "glibc") || package == "glibc");
    let mut judge = Judge::new(decoders.iter().map(|decoder| &**decoder).filter(|d| is_meant(&d.info().package)));
    let mut known = BTreeMap::<&str, u64>::new();
    let mut new = BTreeMap::<String, String>::new();
    let mut rows = 0;
    for entry in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/vectors")).unwrap() {
        let text = fs::read_to_string(entry.unwrap().path()).unwrap();
        for row in vectors::parse(&text).unwrap() {
            rows += 1;
            for &padding in paddings {
                let bytes = [&vec![b'a'; padding], &row.bytes[..]].concat();
                for cut in padding..=bytes.len() {
                    let case = Case::with_cuts(&bytes, Cuts::new([cut], bytes.len()));
                    for broken in judge.judge(&case).to_vec() {
                        let info = judge.decoders().nth(broken.decoder).unwrap().info();
                        match ledger.covers(info, broken.law, broken.subject) {
                            Some(_) => *known.entry(&info.name).or_default() += 1,
                            None => {
                                let what = format!("{}/{}/{}", broken.law, info.name, broken.subject);
                                new.entry(what)
                                    .or_insert_with(|| format!("{} after {padding} bytes, cut at {cut}", row.name));
                            }
                        }
                    }
                }
            }
        }
    }
    let statistics = judge.statistics();
    println!("{rows} rows, {} cases, {} comparisons", statistics.cases, statistics.total_comparisons());
    println!("known differences passed over: {known:?}");
    assert!(
        rows > 700 && statistics.cases > rows * 4 * paddings.len() as u64,
        "{rows} rows, {} cases",
        statistics.cases
    );
    assert_eq!(statistics.silent().collect::<Vec<_>>(), [""; 0]);
    assert!(new.is_empty(), "{new:#?}");
}
