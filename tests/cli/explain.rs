//! `utfuzz explain`.

use super::run::{assert_none_wrong, directory_with, names, run, run_with_input};

#[test]
fn explain_names_the_broken_rule_and_its_source() {
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
        let from_hex = run(directory.path(), &["explain", "-v", hex]);
        let from_file = run(directory.path(), &["explain", "-v", "case.bin"]);
        let from_input = run_with_input(directory.path(), &["explain", "-v", "-"], bytes);
        for run in [&from_hex, &from_file, &from_input] {
            let out = run.out();
            let marked = out.lines().find(|line| line.starts_with('!')).unwrap_or_default();
            wrong.extend(run.wrong_quiet(0));
            let unsaid = says.iter().filter(|part| !marked.contains(**part));
            wrong.extend(unsaid.map(|part| format!("{}: the first marked line lacks {part:?}: {out}", run.line)));
            // wtf8 gives no answer for input that it cannot decode.
            let unasked = names(true).into_iter().filter(|name| *name != "wtf8" && !out.contains(&**name));
            wrong.extend(unasked.map(|name| format!("{}: does not name {name}: {out}", run.line)));
        }
        if from_hex.out() != from_file.out().replace("case.bin", "FILE") || from_hex.out != from_input.out {
            wrong.push(format!("{hex}: hexadecimal, file and standard input are explained differently"));
        }
    }
    assert_none_wrong(wrong);
}

/// Examples in hexadecimal, octal and binary, with the bits of each byte that belong to the code point.
#[test]
fn explain_takes_sequences_apart() {
    let rows: [(&str, &str, [&str; 4]); 6] = [
        ("24", "rfc3629", ["24", "044", "00100100", ".0100100  = 010 0100 = U+0024"]),
        (
            "C2 A2",
            "utf-8",
            ["C2       A2", "302      242", "11000010 10100010", "...00010 ..100010  = 000 1010 0010 = U+00A2"],
        ),
        (
            "E2 82 AC",
            "rfc3629",
            [
                "E2       82       AC",
                "342      202      254",
                "11100010 10000010 10101100",
                "....0010 ..000010 ..101100  = 0010 0000 1010 1100 = U+20AC",
            ],
        ),
        (
            "F0 90 8D 88",
            "RFC3629",
            [
                "F0       90       8D       88",
                "360      220      215      210",
                "11110000 10010000 10001101 10001000",
                ".....000 ..010000 ..001101 ..001000  = 0 0001 0000 0011 0100 1000 = U+10348",
            ],
        ),
        (
            "C0 80",
            "mutf-8",
            ["C0       80", "300      200", "11000000 10000000", "...00000 ..000000  = 000 0000 0000 = U+0000"],
        ),
        ("FE", "rfc2279", ["FE", "376", "11111110", "........"]),
    ];
    let directory = directory_with(&[]);
    let mut wrong = Vec::new();
    for (hex, grammar, expected) in rows {
        let run = run(directory.path(), &["explain", hex, "--as", grammar, "--decoders", "own"]);
        wrong.extend(run.wrong_quiet(0));
        let out = run.out();
        for (name, expected) in ["hex", "octal", "binary", "payload"].into_iter().zip(expected) {
            let line = out.lines().find_map(|line| line.trim_start_matches([' ', '0']).strip_prefix(name));
            if line.map(str::trim) != Some(expected) {
                wrong.push(format!("{}: {name} is {line:?} instead of {expected:?}", run.line));
            }
        }
    }
    assert_none_wrong(wrong);
}

#[test]
fn explain_reads_by_the_grammar_it_is_given() {
    let rows: [(&str, &str, &str); 9] = [
        ("ED A1 8C ED BE B4", "cesu-8", "6 bytes: valid"),
        ("ED A1 8C ED BE B4", "rfc3629", "6 bytes: invalid at 0, length 1, surrogate"),
        ("ED A1 8C ED BE B4", "wtf-8", "6 bytes: invalid at 3, length 1, surrogate-pair"),
        ("ED A1 8C", "cesu-8", "3 bytes: invalid at 0, incomplete, incomplete"),
        ("C0 80", "modified-utf-8", "2 bytes: valid"),
        ("00", "modified-utf-8", "1 byte: invalid at 0, length 1, null"),
        ("FD BF BF BF BF BF", "rfc2279", "6 bytes: valid"),
        ("FD BF BF BF BF BF", "rfc3629", "6 bytes: invalid at 0, length 1, invalid-byte"),
        ("F0 9F 98 80", "cesu-8", "4 bytes: invalid at 0, length 1, four-byte"),
    ];
    let directory = directory_with(&[]);
    let mut wrong = Vec::new();
    for (hex, grammar, says) in rows {
        let run = run(directory.path(), &["explain", hex, "--as", grammar, "--decoders", "own"]);
        wrong.extend(run.wrong_quiet(0));
        if !run.out().starts_with(&format!("{says}\n")) {
            wrong.push(format!("{}: {}", run.line, run.out()));
        }
        // The broken rule is from the chosen grammar, not from RFC 3629.
        if grammar != "rfc3629" && run.out().lines().any(|line| line.starts_with('!') && line.contains("RFC 3629")) {
            wrong.push(format!("{} cites RFC 3629: {}", run.line, run.out()));
        }
    }
    assert_none_wrong(wrong);
}

#[test]
fn explain_writes_code_points_as_bytes() {
    let directory = directory_with(&[("U+0042", b"a file")]);
    let same = |code_points: &str, hex: &str, grammar: &str| {
        let [named, from_hex] =
            [code_points, hex].map(|input| run(directory.path(), &["explain", input, "--as", grammar]));
        let differ = || (named.out != from_hex.out).then(|| format!("{} and {} differ", named.line, from_hex.line));
        named.wrong_quiet(0).or_else(differ)
    };
    let mut wrong: Vec<String> = [
        ("U+20AC", "E2 82 AC", "rfc3629"),
        ("u+20ac", "E2 82 AC", "rfc3629"),
        ("U+0041 U+2262,U+0391, U+002E", "41 E2 89 A2 CE 91 2E", "rfc3629"),
        ("U+0", "C0 80", "modified-utf-8"),
        ("U+D84C U+DFB4", "F0 A3 8E B4", "wtf-8"),
        ("U+233B4", "ED A1 8C ED BE B4", "cesu-8"),
        ("U+7FFFFFFF", "FD BF BF BF BF BF", "rfc2279"),
        // If a file has this name, it is read.
        ("U+0042", "61 20 66 69 6C 65", "rfc3629"),
    ]
    .into_iter()
    .filter_map(|(code_points, hex, grammar)| same(code_points, hex, grammar))
    .collect();
    let refused: [(&[&str], &[&str]); 8] = [
        (&["U+D800"], &["rfc3629 refuses U+D800 at index 0: surrogate", "--as: rfc2279", "wtf-8"]),
        (&["U+61 U+110000"], &["U+110000 at index 1: too-large", "rfc2279"]),
        (&["U+80000000", "--as", "rfc2279"], &["U+80000000", "no grammar has it"]),
        (&["U+"], &["\"U+\" is not a code point"]),
        (&["U+20AG"], &["\"U+20AG\" is not a code point", "U+20AC"]),
        (&["U+100000000"], &["\"U+100000000\" is not a code point"]),
        (&["U+41 42"], &["\"42\" is not a code point"]),
        (&["80", "--as", "ebcdic"], &["\"ebcdic\"", "rfc3629", "cesu-8", "wtf-8"]),
    ];
    wrong.extend(
        refused
            .iter()
            .filter_map(|(args, says)| run(directory.path(), &[&["explain"], *args].concat()).wrong_refusal(says)),
    );
    assert_none_wrong(wrong);
}

/// The answers to a question in the grid: the mark and text of each, and the line of decoders below it.
fn answers(out: &str, question: &str) -> Vec<(String, String)> {
    let grid = out.lines().skip_while(|line| !line.starts_with(&format!("{question} ("))).skip(1);
    let lines: Vec<&str> = grid.take_while(|line| line.starts_with(['*', ' '])).collect();
    lines.chunks(2).map(|pair| (pair[0].to_owned(), pair[pair.len() - 1].trim().to_owned())).collect()
}

/// What is printed for a decoder is what it answered, whatever its contract; the star marks the answer of the chosen
/// grammar.
#[test]
fn explain_prints_what_each_decoder_answers() {
    let both = "(2 decoders, 2 lineages)";
    let accepted = format!("own-cesu-8, cesu8  {both}");
    type Row<'a> = (&'a str, &'a str, &'a str, &'a [(&'a str, &'a str)]);
    let rows: [Row<'_>; 4] = [
        (
            "rfc3629",
            "ED A0 BD ED B8 80",
            "verdict",
            &[("* invalid at 0, length 1, surrogate", "no decoder answers this"), ("  valid", &accepted)],
        ),
        ("cesu-8", "ED A0 BD ED B8 80", "verdict", &[("* valid", &accepted)]),
        ("cesu-8", "ED A0 BD ED B8 80", "output", &[("* F0 9F 98 80", &accepted)]),
        (
            "cesu-8",
            "F0 9F 98 80",
            "verdict",
            &[
                ("* invalid at 0, length 1, four-byte", "own-cesu-8  (1 decoder, 1 lineage)"),
                ("  valid", "cesu8!  (1 decoder, 1 lineage)"),
            ],
        ),
    ];
    let directory = directory_with(&[]);
    let mut wrong = Vec::new();
    for (grammar, hex, question, expected) in rows {
        let run = run(directory.path(), &["explain", hex, "--as", grammar, "--decoders", "cesu8,own-cesu-8"]);
        wrong.extend(run.wrong_quiet(0));
        let found = answers(&run.out(), question);
        let is_so = found.len() == expected.len()
            && found
                .iter()
                .zip(expected)
                .all(|(found, expected)| found.0 == expected.0 && found.1.split("  (0 ").next() == Some(expected.1));
        if !is_so {
            wrong.push(format!("{}: {question} is answered {found:#?} instead of {expected:#?}", run.line));
        }
    }
    assert_none_wrong(wrong);
}

/// A decoder is marked exactly where it breaks its own contract. If its contract expects another answer than the starred
/// one, that answer is printed.
#[test]
fn explain_marks_who_breaks_a_contract() {
    let directory = directory_with(&[]);
    let run = |args: &[&str]| run(directory.path(), &[&["explain"], args].concat());
    let mut wrong = Vec::new();
    let overlong = run(&["C0 AF", "--decoders", "own,utf8-decode,own-cesu-8"]);
    let marked = answers(&overlong.out(), "verdict")
        .into_iter()
        .any(|(answer, decoders)| answer == "  valid" && decoders.starts_with("utf8-decode!"));
    if !marked {
        wrong.push(format!("{}: utf8-decode is not marked: {}", overlong.line, overlong.out()));
    }
    for keeps in ["own!", "own-cesu-8!"] {
        wrong.extend(overlong.out().contains(keeps).then(|| format!("{}: {keeps}", overlong.line)));
    }
    let other = run(&["ED A0 BD ED B8 80", "--decoders", "own,own-cesu-8,own-wtf-8"]);
    wrong.extend(other.out().contains("own-cesu-8!").then(|| format!("{}: {}", other.line, other.out())));
    // The answer of the chosen grammar may break a decoder's own contract.
    let modified = run(&["C0 80", "--as", "modified-utf-8", "--decoders", "utf8-decode"]);
    for expected in ["* valid\n    utf8-decode!  (", "utf8-decode! should answer: invalid at 0, length 1, overlong-2\n"]
    {
        let lacks = || format!("{} lacks {expected:?}: {}", modified.line, modified.out());
        wrong.extend((!modified.out().contains(expected)).then(lacks));
    }
    assert_none_wrong(wrong);
}

/// Every notation that people paste, in one argument or in several.
#[test]
fn explain_takes_what_people_paste() {
    let directory = directory_with(&[("there.txt", b"\xC0\xAF")]);
    let of = |args: &[&str]| run(directory.path(), &[&["explain"], args].concat());
    let expected = of(&["C0 AF"]);
    let mut wrong = Vec::new();
    for args in [
        &["C0", "AF"][..],
        &["0xC0,0xAF"],
        &["{0xC0, 0xAF}"],
        &["\\xC0\\xAF"],
        &["%C0%AF"],
        &["\\300\\257"],
        &["there.txt"],
        &["--hex", "c0af"],
    ] {
        let run = of(args);
        wrong.extend(run.wrong_quiet(0));
        // A repair names the file.
        let is_same = run.out().replace("there.txt", "FILE") == expected.out();
        wrong.extend((!is_same).then(|| format!("{}: {}", run.line, run.out())));
    }
    for (args, says) in [
        (&["Grüße"][..], "7 bytes: valid\n"),
        (&["two", "words"], "9 bytes: valid\n"),
        (&["--text", "C0 AF"], "5 bytes: valid\n"),
        (&["--text", "there.txt"], "9 bytes: valid\n"),
        (&["U+20AC", "U+41"], "4 bytes: valid\n"),
        (&["caf%C3%A9"], "5 bytes: valid\n"),
        (&["face"], "2 bytes: invalid at 0, length 1, invalid-byte\ngiven in hexadecimal; --text "),
    ] {
        let run = of(args);
        wrong.extend(run.wrong_quiet(0));
        wrong.extend((!run.out().starts_with(says)).then(|| format!("{}: {}", run.line, run.out())));
    }
    for (args, says) in [
        (&["0x"][..], &["\"0x\" is not hexadecimal", "--text"][..]),
        (&["there.txt", "there.txt"], &["one file at a time", "--text"]),
        (&["there.txt", "not/there"], &["one file at a time"]),
        (&["-", "-"], &["one file at a time"]),
        (&["not/there"], &["no such file", "--text"]),
    ] {
        wrong.extend(of(args).wrong_refusal(says));
    }
    for (args, input, says) in [
        (&["-"][..], &b"C0 AF\n"[..], "2 bytes: invalid"),
        (&["-"], b"\\xC0\\xAF", "2 bytes: invalid"),
        (&["-"], b"C0 AF is overlong\n", "18 bytes: valid"),
        (&["-"], b"C0AF\n", "5 bytes: valid"),
        (&["-"], b"{}\n", "3 bytes: valid"),
        (&["-"], b"\"\"", "2 bytes: valid"),
        (&["-", "--text"], b"C0 AF\n", "6 bytes: valid"),
        (&["-", "--hex"], b"C0AF\n", "2 bytes: invalid"),
        (&["-", "--escapes"], b"caf\\xC3", "4 bytes: invalid"),
    ] {
        let run = run_with_input(directory.path(), &[&["explain"], args].concat(), input);
        wrong.extend(run.wrong_quiet(0));
        wrong.extend((!run.out().starts_with(says)).then(|| format!("{} {input:?}: {}", run.line, run.out())));
    }
    assert_none_wrong(wrong);
}

#[test]
fn the_first_screen_says_what_happened_and_how_to_repair_it() {
    let directory = directory_with(&[
        ("double.txt", "GrÃ¼ÃŸe aus KÃ¶ln\n".as_bytes()),
        ("latin.txt", b"Gr\xFC\xDFe\n"),
        ("cut.txt", &[&[b'a'; 1022][..], b"\xE2\x82"].concat()),
    ]);
    let of = |name: &str| run(directory.path(), &["explain", name]);
    // With planted decoders, some accept what is cut off.
    let rejected = if cfg!(feature = "planted") { " reject it" } else { " decoders reject it; -v shows" };
    let mut wrong = Vec::new();
    for (name, parts) in [
        ("double.txt", &["\"Grüße aus Köln\"", "repair:   utfuzz repair --apply -o - double.txt\n"][..]),
        ("latin.txt", &["that was read as UTF-8: \"Grüße\\n\"", "latin.txt\n"]),
        ("cut.txt", &["ends inside a character at byte 1024", rejected, "-v shows"]),
    ] {
        let run = of(name);
        wrong.extend(run.wrong_quiet(0));
        let lacks = parts.iter().find(|part| !run.out().contains(**part));
        wrong.extend(lacks.map(|part| format!("{} lacks {part:?}: {}", run.line, run.out())));
        let lines = run.out().lines().count();
        wrong.extend((lines > 45 || run.out().contains("payload")).then(|| format!("{}: {}", run.line, run.out())));
        // The command that it names does what it says.
        if let Some(command) =
            run.out().lines().find_map(|line| line.strip_prefix("repair:   utfuzz ").map(str::to_owned))
        {
            let repaired = super::run::run(directory.path(), &command.split(' ').collect::<Vec<_>>());
            wrong.extend(repaired.wrong_status(0));
            wrong.extend(
                (!repaired.out().starts_with("Grüße")).then(|| format!("{}: {}", repaired.line, repaired.out())),
            );
        }
    }
    let symbols = run(directory.path(), &["explain", "© – €"]);
    wrong.extend((!symbols.out().contains("U+00A9 ©")).then(|| symbols.out()));
    assert_none_wrong(wrong);
}

/// A hundred megabytes in a few, on Linux, where the limit of the address space is known.
#[cfg(target_os = "linux")]
#[test]
fn a_long_input_takes_little_memory() {
    let directory = directory_with(&[]);
    let path = directory.path().join("long");
    let file = std::fs::File::create(&path).unwrap();
    file.set_len(100 << 20).unwrap();
    std::os::unix::fs::FileExt::write_all_at(&file, b"\xE2\x82", 60 << 20).unwrap();
    // Before, this needed 250 MB.
    let script = "ulimit -v 200000; exec \"$0\" explain --decoders own,std long";
    let mut shell = std::process::Command::new("sh");
    shell.args(["-c", script, env!("CARGO_BIN_EXE_utfuzz")]).current_dir(directory.path());
    let output = shell.output().unwrap();
    let run = super::run::Run::of(&shell, output);
    assert_none_wrong(run.wrong_quiet(0));
    let out = run.out();
    assert!(out.starts_with("104857600 bytes: invalid at 62914560\n"), "{out}");
    assert!(out.contains("\n! 62914560  E2 82 ") && out.lines().count() < 150, "{out}");
    assert!(out.contains("a character is cut off") || out.contains("too-short"), "{out}");
}

#[test]
fn explain_is_available_as_json_and_as_a_page() {
    let directory = directory_with(&[("cut.bin", b"caf\xC3\n")]);
    let json = run(directory.path(), &["explain", "--json", "cut.bin"]);
    assert_none_wrong(json.wrong_quiet(0));
    let json = json.json();
    assert_eq!((&json["record"], &json["bytes"], &json["valid"]), (&"explain".into(), &5.into(), &false.into()));
    assert_eq!((&json["first"]["offset"], &json["first"]["kind"]), (&3.into(), &"too-short".into()));
    assert_eq!(json["segments"].as_array().map(Vec::len), Some(5));
    assert_eq!((&json["path"], &json["path_bytes"]), (&"cut.bin".into(), &serde_json::Value::Null));
    assert!(json["families"][0]["reject"].as_array().is_some_and(|names| names.contains(&"std".into())), "{json}");
    let page = run(directory.path(), &["explain", "cut.bin", "--html", "page.html"]);
    assert_none_wrong(page.wrong_quiet(0).or_else(|| (!page.out.is_empty()).then(|| page.out())));
    let page = std::fs::read_to_string(directory.path().join("page.html")).unwrap();
    for part in ["<h1>Explanation</h1>", "5 bytes: invalid at 3", "too-short", "utf8-decode"] {
        assert!(page.contains(part), "lacks {part:?}: {page}");
    }
}
