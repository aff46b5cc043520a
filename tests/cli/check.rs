//! `utfuzz check`.

use super::run::{assert_none_wrong, directory_with, run};

/// The one slow test: it checks every class string, which takes 37 s on two cores without optimisation and 3 to 8 s
/// with it.
#[test]
fn a_check_without_a_corpus_says_so_and_runs() {
    let directory = directory_with(&[]);
    let start = std::time::Instant::now();
    let run = run(directory.path(), &["check", "--seconds", "0", "--decoders", "own"]);
    println!("{:.1} s", start.elapsed().as_secs_f64());
    assert_none_wrong(run.wrong_status(0));
    let err = run.err();
    assert!(err.starts_with("note: ") && err.contains("corpus") && err.lines().count() == 1, "{err:?}");
    assert!(run.out().contains("class strings") && run.out().contains("all agree"), "{}", run.out());
    assert!(!run.out().contains("structured"), "no seconds were given for structured inputs: {}", run.out());
    assert_none_wrong(run.controls());
}
