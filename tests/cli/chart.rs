//! `utfuzz chart`.

use super::run::{Run, assert_none_wrong, command, directory_with, run};
use quick_xml::Reader;
use quick_xml::events::Event;
use std::fs;
use utfuzz::spec::grammar::ALL;
use utfuzz::spec::{Contract, segments};

/// The sixteen cells of each of the sixteen lines.
fn cells(run: &Run) -> Vec<String> {
    let out = run.out();
    let lines = out.lines().filter(|line| line.get(1..3) == Some("_ "));
    lines
        .flat_map(|line| (0..16).map(|column| line[4 + 4 * column..][..3].trim().to_owned()).collect::<Vec<_>>())
        .collect()
}

#[test]
fn every_grammar_is_charted_as_spec_reads_it() {
    let directory = directory_with(&[]);
    let mut wrong = Vec::new();
    for grammar in ALL {
        let chart = run(directory.path(), &["chart", "--grammar", grammar.name]);
        wrong.extend(chart.wrong_quiet(0).or_else(|| chart.controls()));
        let cells = cells(&chart);
        assert_eq!(cells.len(), 256, "{}", chart.out());
        let json = run(directory.path(), &["chart", "--json", "--grammar", grammar.name]);
        wrong.extend(json.wrong_quiet(0));
        for byte in 0..=255u8 {
            let alone = segments(&Contract { grammar, ..Contract::VALIDATOR }, &[byte]).next().unwrap();
            let is_single = matches!(alone.reading, utfuzz::spec::Reading::WellFormed(_));
            let begins = alone.is_incomplete();
            let cell = &cells[usize::from(byte)];
            let shown = match cell.as_str() {
                "--" => byte != b'-',
                sign if sign.len() == 3 && sign.starts_with('+') => (0x80..0xC0).contains(&byte),
                sign if begins => sign.contains(['2', '3', '4', '5', '6']),
                _ => is_single,
            };
            let role = json.json()["bytes"][usize::from(byte)]["role"].as_str().unwrap().to_owned();
            let told = match role.as_str() {
                "single" => is_single,
                "lead" | "restricted-lead" => begins && role.starts_with("restricted") == cell.ends_with('!'),
                "continuation" => cell.starts_with('+'),
                _ => cell == "--",
            };
            if !shown || !told {
                wrong.push(format!("{}: {byte:02X} is {cell:?} and {role}", grammar.name));
            }
        }
    }
    assert_none_wrong(wrong);
}

#[test]
fn the_chart_shows_what_the_standards_show() {
    let directory = directory_with(&[]);
    let standard = run(directory.path(), &["chart"]);
    let out = standard.out();
    let rows = [
        "E_   3!   3   3",
        "F_   4!   4   4   4  4!  --",
        "  16  U+0800      U+FFFF            61440  1110xxxx 10xxxxxx 10xxxxxx",
        "U+D000      U+D7FF             2048  ED 80..9F 80..BF",
        "4177777  364 217 277 277",
        "overlong-2: C0..C1",
        "invalid-byte: F8..FF",
    ];
    let missing: Vec<&&str> = rows.iter().filter(|row| !out.contains(**row)).collect();
    assert!(missing.is_empty(), "{missing:?} are not in\n{out}");
    for (name, grammar) in [("UTF-8", "rfc3629"), ("cesu8", "cesu-8"), ("MUTF-8", "modified-utf-8"), ("WTF_8", "wtf-8")]
    {
        let by_name = run(directory.path(), &["chart", "--grammar", name]);
        let expected = run(directory.path(), &["chart", "--grammar", grammar]);
        assert!(by_name.out == expected.out && by_name.status == Some(0), "{name}: {}", by_name.err());
    }
}

/// The page has balanced tags and 256 cells, and fetches and runs nothing.
#[test]
fn the_page_is_self_contained() {
    for grammar in ALL {
        let directory = directory_with(&[("chart.html", b"what stood here before")]);
        let to_file = run(directory.path(), &["chart", "--grammar", grammar.name, "-o", "chart.html"]);
        assert_none_wrong(to_file.wrong_quiet(0));
        assert!(to_file.out.is_empty());
        let page = fs::read_to_string(directory.path().join("chart.html")).unwrap();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
        let body = &page[page.find("<body>").unwrap()..];
        let mut reader = Reader::from_str(body);
        let (mut depth, mut cells) = (0, 0);
        loop {
            match reader.read_event().unwrap_or_else(|error| panic!("{error} in {page}")) {
                Event::Start(tag) => {
                    depth += 1;
                    cells += usize::from(
                        tag.name().as_ref() == b"td"
                            && tag.attributes().any(|a| a.is_ok_and(|a| a.key.as_ref() == b"title")),
                    );
                }
                Event::End(tag) if tag.name().as_ref() == b"body" => break,
                Event::End(_) => depth -= 1,
                Event::Eof => panic!("the body does not end"),
                _ => {}
            }
        }
        assert_eq!((depth, cells), (1, 256));
        let title = if grammar.name == "rfc3629" { "UTF-8 (RFC 3629)" } else { "" };
        assert!(page.contains(&format!("<h1>{title}")) && page.contains("default-src 'none'"));
        assert!(page.contains(&format!("The grammar {}", grammar.name)));
        // What a cell with two lengths and a mark means is said below.
        assert_eq!(page.contains("36!"), page.contains("Starts a sequence of 3 or 6 bytes. The ! says"));
        // Links go to the standards only.
        let mut links = page.split(" href=\"").skip(1);
        let links = links.all(|link| link.replace("&#x2f;", "/").starts_with("https://"));
        assert!(links && ["<script", "src=", "http:"].iter().all(|part| !page.contains(part)), "{page}");
        // The cells of < > & " ' are text.
        assert!(
            ["&lt;", "&gt;", "&amp;", "&quot;"].iter().all(|part| page.contains(&format!(">{part}<small>"))),
            "{page}"
        );
    }
}

#[test]
fn an_impossible_chart_is_refused_in_one_line() {
    let directory = directory_with(&[("tree/file", b"")]);
    let rows: [(&[&str], &[&str]); 5] = [
        (&["chart", "--grammar", "utf-9"], &["\"utf-9\"", "rfc3629", "rfc2279", "cesu-8", "modified-utf-8", "wtf-8"]),
        (&["chart", "--grammar", ""], &["no grammar", "rfc3629"]),
        (&["chart", "--grammar", "\u{1B}[31m"], &["no grammar", "rfc3629"]),
        (&["chart", "-o", "nowhere/chart.html"], &["nowhere/chart.html"]),
        (&["chart", "-o", "tree"], &["tree"]),
    ];
    assert_none_wrong(rows.iter().filter_map(|(args, says)| {
        let run = run(directory.path(), args);
        run.wrong_refusal(says).or_else(|| run.controls())
    }));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1, "something was left behind");
    let both = run(directory.path(), &["chart", "--json", "-o", "chart.html"]);
    assert_none_wrong(both.wrong_status(2));
    // A pipe is not a terminal.
    let mut piped = command(directory.path(), &["chart"]);
    let output = piped.env("TERM", "xterm-256color").output().unwrap();
    assert_none_wrong(Run::of(&piped, output).controls());
}
