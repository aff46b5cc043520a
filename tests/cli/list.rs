//! `utfuzz list`.

use super::run::{Run, assert_none_wrong, directory_with, names, run};

fn listed(run: &Run) -> Vec<String> {
    run.out().lines().skip(1).map(|line| line.split(' ').next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn list_shows_every_decoder_the_filter_selects() {
    let directory = directory_with(&[]);
    type Keeps = fn(&str) -> bool;
    let rows: [(&[&str], Keeps); 11] = [
        (&[], |_| true),
        (&["--decoders", "*"], |_| true),
        (&["--decoders", "own"], |name| name == "own"),
        (&["--decoders", "std, own"], |name| ["own", "std"].contains(&name)),
        (&["--decoders", "-own"], |name| name != "own"),
        (&["--decoders=-own,-std"], |name| !["own", "std"].contains(&name)),
        (&["--decoders", "simdutf8-*"], |name| name.starts_with("simdutf8-")),
        (&["--decoders", "utf*8*"], |name| name.starts_with("utf")),
        (&["--decoders", "*8"], |name| name.ends_with('8')),
        (&["--decoders", "*,-encoding_rs*"], |name| !name.starts_with("encoding_rs")),
        (&["--decoders", "encoding_rs*,-encoding_rs-bom"], |name| {
            name.starts_with("encoding_rs") && name != "encoding_rs-bom"
        }),
    ];
    let mut wrong = Vec::new();
    for (args, keeps) in rows {
        let expected: Vec<_> = names(true).into_iter().filter(|name| keeps(name)).collect();
        assert!(!expected.is_empty(), "{args:?} would test nothing");
        let text = run(directory.path(), &[&["list"], args].concat());
        let json = run(directory.path(), &[&["list", "--json"], args].concat());
        wrong.extend(text.wrong_quiet(0).into_iter().chain(json.wrong_quiet(0)));
        if listed(&text) != expected {
            wrong.push(format!("{}: {:?} instead of {expected:?}", text.line, listed(&text)));
        }
        let json_rows = json.json();
        let rows = json_rows["decoders"].as_array().unwrap();
        let in_json: Vec<_> = rows.iter().map(|row| row["name"].as_str().unwrap_or("").to_owned()).collect();
        if in_json != expected {
            wrong.push(format!("{}: {in_json:?} instead of {expected:?}", json.line));
        }
        for row in rows {
            let told = |key: &str| row[key].as_str().is_some_and(|value| !value.is_empty());
            if !["version", "contract"].into_iter().all(told) || row["answers"].as_array().is_none_or(Vec::is_empty) {
                wrong.push(format!("{}: version, contract or answers are missing: {row}", json.line));
            }
        }
    }
    assert_none_wrong(wrong);
}

#[test]
fn the_list_has_a_header_and_fits_the_terminal() {
    let directory = directory_with(&[]);
    for columns in [50, 80, 120] {
        let mut command = super::run::command(directory.path(), &["list"]);
        let output = command.env("COLUMNS", columns.to_string()).output().unwrap();
        let run = Run::of(&command, output);
        assert_none_wrong(run.wrong_quiet(0));
        let out = run.out();
        let header: Vec<&str> = out.lines().next().unwrap().split_whitespace().collect();
        let lineage = if columns < 110 { None } else { Some("lineage") };
        let expected = ["decoder", "version", "answers"].into_iter().chain(lineage).chain(["contract"]);
        assert_eq!(header, expected.collect::<Vec<_>>());
        assert!(out.contains(" maximal-subpart"), "a word is broken: {out}");
        let long = out.lines().find(|line| line.chars().count() > columns.max(80));
        assert!(long.is_none(), "{columns}: {long:?}");
    }
}

#[cfg(unix)]
#[test]
fn what_an_adapter_says_about_itself_does_not_act_on_the_terminal() {
    let adapter: &[u8] = br#"
printf 'utfuzz 1 lines\npackage=p\nversion=1\033[31m\nlineage=l\033[32m\nname=mine\nanswers=verdict\n\n'
while read -r line; do test -z "$line" || echo '1 -1 -1 -'; done
"#;
    let directory = directory_with(&[("adapter.sh", adapter)]);
    let run = run(directory.path(), &["list", "--adapter", "sh adapter.sh"]);
    assert_none_wrong(run.wrong_quiet(0).or_else(|| run.controls()));
    assert!(run.out().contains("mine") && run.out().contains(r"1\u{1b}[31m"), "{}", run.out());
}

/// A name that is left out may be after a space; the built-in decoders are not added for that.
#[cfg(unix)]
#[test]
fn a_space_does_not_make_a_name_that_is_left_out_one_that_is_wanted() {
    let adapter: &[u8] = br#"
printf 'utfuzz 1 lines\npackage=p\nversion=1\n'
for name in one two three; do printf "name=$name\nanswers=verdict\n"; done
echo
"#;
    let directory = directory_with(&[("adapter.sh", adapter)]);
    for left_out in ["--decoders=-one,-two", "--decoders=-one, -two"] {
        let run = run(directory.path(), &["list", "--adapter", "sh adapter.sh", left_out]);
        assert_none_wrong(run.wrong_quiet(0));
        assert_eq!(listed(&run), ["three"]);
    }
}
