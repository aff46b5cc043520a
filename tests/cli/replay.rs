//! `utfuzz replay`.

use super::run::{LEDGER, assert_none_wrong, directory_with, names, run};
use serde_json::Value;

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().map_or(Vec::new(), |object| object.keys().map(String::as_str).collect())
}

#[test]
fn a_difference_is_new_without_the_ledger_and_known_with_it() {
    let directory = directory_with(&[("case.bin", b"\xC0\xAF"), ("our.toml", LEDGER.as_bytes())]);
    let filter = names(false).join(",");
    let replay =
        |more: &[&str]| run(directory.path(), &[&["replay", "case.bin", "--decoders", &filter], more].concat());
    let new = replay(&["--no-ledger"]);
    assert_none_wrong(new.wrong_quiet(1));
    assert!(new.out().contains("verdict/utf8-decode/overlong-2/anywhere"), "{}", new.out());
    for (known, id) in [(replay(&[]), "utf8-decode-accepts-overlong"), (replay(&["--ledger", "our.toml"]), "the-entry")]
    {
        assert_none_wrong(known.wrong_quiet(0));
        assert!(!known.out().contains("overlong-2/anywhere"), "{}", known.out());
        assert!(known.out().contains(id), "{}", known.out());
    }
}

#[test]
fn replay_writes_one_json_object() {
    let directory = directory_with(&[("case.bin", b"\xC0\xAF"), ("good.bin", "aé€😀".as_bytes())]);
    let names = names(false);
    let filter = names.join(",");
    let args = ["replay", "--json", "case.bin", "good.bin", "--decoders", &filter];
    let known = run(directory.path(), &args);
    let new = run(directory.path(), &[&args[..], &["--no-ledger"]].concat());
    assert_none_wrong([known.wrong_quiet(0), new.wrong_quiet(1)].into_iter().flatten());
    for report in [known.json(), new.json()] {
        let there = keys(&report);
        for key in ["schema", "decoders", "cases", "comparisons", "seconds", "divergences", "known"] {
            assert!(there.contains(&key), "{key} is not among {there:?}");
        }
        assert_eq!((&report["schema"], &report["record"]), (&2.into(), &"check".into()));
        assert_eq!(report["cases"], 2);
        assert!(report["comparisons"].as_u64() > Some(2 * names.len() as u64), "{}", report["comparisons"]);
        assert!(report["seconds"].as_f64() >= Some(0.0), "{}", report["seconds"]);
        let judged: Vec<_> = report["decoders"].as_array().unwrap().iter().map(|row| row["name"].as_str()).collect();
        assert_eq!(judged, names.iter().map(|name| Some(&**name)).collect::<Vec<_>>());
    }
    let (known, new) = (known.json(), new.json());
    assert_eq!(known["divergences"], Value::Array(vec![]));
    assert_eq!(known["known"][0]["id"], "utf8-decode-accepts-overlong");
    assert_eq!(known["known"][0]["decoder"], "utf8-decode");
    assert_eq!(known["known"][0]["hits"], 1);
    assert_eq!(new["known"], Value::Array(vec![]));
    assert_eq!(new["divergences"].as_array().map(Vec::len), Some(1), "{}", new["divergences"]);
    for (key, value) in [
        ("signature", "verdict/utf8-decode/overlong-2/anywhere"),
        ("law", "verdict"),
        ("decoder", "utf8-decode"),
        ("witness_hex", "C0AF"),
    ] {
        assert_eq!(new["divergences"][0][key], value);
    }
}
