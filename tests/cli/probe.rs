//! `utfuzz probe` and `utfuzz diff`.

use super::run::{assert_none_wrong, directory_with, run};

#[test]
fn probe_names_a_contract_and_what_departs_from_it() {
    let directory = directory_with(&[]);
    let named = run(directory.path(), &["probe", "--decoders", "own-wtf-8,simdutf8-basic"]);
    assert_none_wrong(named.wrong_quiet(0));
    let out = named.out();
    for line in [
        "  contract: wtf-8 maximal-subpart U+FFFD bom-kept incomplete-reported detected-at-once, as it claims",
        "  as Rust's core::str, but by the grammar of wtf-8",
        "    segmentation     not determined",
        "    offsets          in bytes, from 0",
    ] {
        assert!(out.lines().any(|printed| printed == line), "{line} is not in {out}");
    }
    let other = run(directory.path(), &["probe", "--decoders", "utf8-decode"]);
    assert_none_wrong(other.wrong_quiet(1));
    assert!(other.out().contains("no known contract fits; the nearest: rfc3629-with-overlong"), "{}", other.out());
    assert!(other.out().contains("departs: error-length of too-short, everywhere"), "{}", other.out());
}

#[test]
fn diff_prints_a_shortest_input_of_each_kind() {
    let directory = directory_with(&[]);
    let alike = run(directory.path(), &["diff", "own", "std"]);
    assert_none_wrong(alike.wrong_quiet(0));
    assert!(alike.out().contains("answer alike"), "{}", alike.out());
    let differ = run(directory.path(), &["diff", "own", "own-cesu-8"]);
    assert_none_wrong(differ.wrong_quiet(1));
    let out = differ.out();
    let kinds: Vec<&str> = out.lines().filter_map(|line| line.split_once(": ")).map(|(kind, _)| kind).collect();
    assert!(kinds.contains(&"verdict") && kinds.contains(&"output"), "{out}");
    let apart = run(directory.path(), &["diff", "wtf8", "simdutf8-basic"]);
    assert_none_wrong(apart.wrong_refusal(&["wtf8 and simdutf8-basic cannot be compared", "utfuzz list"]));
    let unknown = run(directory.path(), &["diff", "own", "nosuch"]);
    assert_none_wrong(unknown.wrong_refusal(&["nosuch", "no decoder is named"]));
}
