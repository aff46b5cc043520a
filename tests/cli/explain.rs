//! `utfuzz explain`.

use super::run::{assert_none_wrong, directory_with, names, run, run_with_input};

#[test]
fn explain_names_the_broken_rule_and_where_it_stands() {
    let rows: [(&str, &[u8], &[&str]); 6] = [
        ("C0 AF", b"\xC0\xAF", &["overlong 2-byte form of U+002F", "RFC 3629 §3"]),
        ("E2 82", b"\xE2\x82", &["truncated", "E2 announces 3 bytes", "RFC 3629 §4"]),
        ("eda080", b"\xED\xA0\x80", &["surrogate U+D800", "RFC 3629 §3"]),
        ("F490 8080", b"\xF4\x90\x80\x80", &["U+110000 is beyond U+10FFFF", "RFC 3629 §3"]),
        ("80", b"\x80", &["80 is a continuation byte", "RFC 3629 §4"]),
        ("61 62 FF", b"ab\xFF", &["FF", "RFC 3629 §1"]),
    ];
    let mut wrong = Vec::new();
    for (hex, bytes, says) in rows {
        let directory = directory_with(&[("case.bin", bytes)]);
        let from_hex = run(directory.path(), &["explain", hex]);
        let from_file = run(directory.path(), &["explain", "case.bin"]);
        let from_input = run_with_input(directory.path(), &["explain", "-"], bytes);
        for run in [&from_hex, &from_file, &from_input] {
            let out = run.out();
            let marked = out.lines().find(|line| line.starts_with('!')).unwrap_or_default();
            wrong.extend(run.wrong_quiet(0));
            let unsaid = says.iter().filter(|part| !marked.contains(**part));
            wrong.extend(unsaid.map(|part| format!("{}: the first marked line lacks {part:?}: {out}", run.line)));
            let unasked = names(true).into_iter().filter(|name| !out.contains(name));
            wrong.extend(unasked.map(|name| format!("{}: says nothing of {name}: {out}", run.line)));
        }
        if from_hex.out != from_file.out || from_hex.out != from_input.out {
            wrong.push(format!("{hex}: hexadecimal, file and standard input are explained differently"));
        }
    }
    assert_none_wrong(wrong);
}
