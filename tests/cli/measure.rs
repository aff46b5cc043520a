//! `utfuzz measure`.

use super::run;
use std::fs;

#[test]
fn a_file_is_measured_with_every_decoder_that_can_read_it() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("text"), "naïve 世界".repeat(20)).unwrap();
    let words = ["measure", "text", "--quick", "--json", "--output", "out"];
    let run = run(directory.path(), &words);
    assert_eq!(run.wrong_status(0), None);
    let json = run.json();
    let rows = json["rows"].as_array().unwrap();
    let operations: Vec<_> = rows.iter().map(|row| row["operation"].as_str().unwrap()).collect();
    assert_eq!(
        operations,
        ["validate", "locate", "lossy", "utf16", "utf32", "from-utf16", "from-utf32", "from-latin-1", "count"]
    );
    for row in rows {
        for name in ["own", "own-scalar", "std"] {
            let cell = row["cells"].as_array().unwrap().iter().find(|cell| cell["name"] == name).unwrap();
            assert!(cell["time"]["median"].as_f64().unwrap() > 0.0, "{cell}");
            assert_eq!(cell["wrong"], false);
        }
    }
    let out = directory.path().join("out");
    let page = fs::read_to_string(out.join("throughput.md")).unwrap();
    assert!(page.contains("## utf16") && page.contains("| text | 260 |"), "{page}");
    assert!(fs::read_to_string(out.join("throughput.svg")).unwrap().starts_with("<svg"));
    assert_eq!(fs::read_to_string(out.join("throughput.json")).unwrap().lines().count(), run.out().lines().count());
}

#[test]
fn every_class_has_rows_of_its_own() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("text"), "naïve 世界".repeat(20)).unwrap();
    let run =
        run(directory.path(), &["measure", "text", "--quick", "--json", "--subjects", "own,std", "--classes", "all"]);
    assert_eq!(run.wrong_status(0), None);
    let json = run.json();
    let mut classes: Vec<_> =
        json["rows"].as_array().unwrap().iter().map(|row| row["class"].as_str().unwrap()).collect();
    classes.dedup();
    let kernels: Vec<_> = utfuzz::codec::Kernel::available().map(|kernel| kernel.name()).collect();
    for kernel in &kernels {
        assert_eq!(classes.iter().filter(|class| *class == kernel).count(), 1, "{kernel}: {classes:?}");
    }
    assert_eq!(classes.len(), kernels.len());
}

#[test]
fn what_cannot_be_measured_is_named() {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("empty")).unwrap();
    let rows = [
        (&["measure", "none"][..], "none"),
        (&["measure", "empty"], "no file"),
        (&["measure", "--texts", "klingon"], "klingon"),
        (&["measure", "--classes", "mmx"], "there is no such class"),
        (
            &["measure", "--classes", if cfg!(target_arch = "x86_64") { "neon" } else { "avx2" }],
            "lacks its instructions",
        ),
        (&["measure", "--quick", "--texts", "ascii, 0", "--subjects", "owl"], "own-scalar"),
        (&["measure", "--classes", "all", "--subjects", "own-scalar"], "omit --classes"),
        (&["measure", "--adapter", "false", "--program", "none"], "--program is only for --classes"),
    ];
    let wrong = rows.map(|(words, says)| run(directory.path(), words).wrong_refusal(&[says]));
    assert_eq!(wrong, [const { None }; 8]);
}
