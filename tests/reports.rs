//! Records in every format: rendering is deterministic, and no name, byte or answer becomes markup. Also the stamps of
//! committed reports: a report is stale once one of its sources has changed.
//!
//! Some records are written below `target/tmp/reports` for `.ci/page` to open.
#![cfg(feature = "check")]

mod faulty;
mod record;

use faulty::{Faulty, verdict};
use pulldown_cmark::{Event, Options, Parser};
use quick_xml::events::Event as Xml;
use record::{HOSTILE, hostile, others, record, tame};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use utfuzz::Decoder;
use utfuzz::judge::Law;
use utfuzz::report::Night;
use utfuzz::report::freshness;
use utfuzz::report::freshness::{REPORTS, State};
use utfuzz::report::record::{Agreement, Section, Target, Triage};
use utfuzz::report::{Clock, Exporter, Html, Json, Junit, Markdown, Record, Sarif, Text, append, write_all};
use utfuzz::text::is_printable;
use utfuzz::triage::ledger::Ledger;
use utfuzz::triage::triage;
use utfuzz::utf8::Validity;

fn text(format: &dyn Exporter, record: &Record) -> String {
    let mut out = Vec::new();
    format.export(record, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

const FORMATS: [(&str, &dyn Exporter); 6] = [
    ("report.json", &Json),
    ("report.md", &Markdown),
    ("report.junit.xml", &Junit),
    ("report.sarif", &Sarif),
    ("report.html", &Html),
    ("text", &Text),
];

/// The formats that every kind of record has.
const PAGES: [(&str, &dyn Exporter); 4] = [("json", &Json), ("md", &Markdown), ("html", &Html), ("text", &Text)];

fn triage_of(record: &Record) -> &Triage {
    record.triage().expect("the record of a triage")
}

fn triage_mut(record: &mut Record) -> &mut Triage {
    match &mut record.section {
        Section::Triage(triage) => triage,
        _ => panic!("not the record of a triage"),
    }
}

fn directory(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("reports").join(name)
}

#[test]
fn no_format_moves_a_cursor_or_reorders_text() {
    let safe = |c: char| c == '\n' || is_printable(c);
    let hostile = hostile();
    assert!(hostile.version.chars().all(safe) && !hostile.decoders[5].name.chars().all(safe));
    let others = others();
    let texts = FORMATS.iter().map(|(name, format)| (*name, text(*format, &hostile)));
    let more =
        PAGES.iter().flat_map(|(name, format)| others.iter().map(|(hostile, _)| (*name, text(*format, hostile))));
    for (name, text) in texts.chain(more) {
        let bad: Vec<char> = text.chars().filter(|c| !safe(*c)).collect();
        assert!(bad.is_empty(), "{name}: {bad:?}");
        assert!(text.ends_with('\n'), "{name}");
    }
}

#[test]
fn rendering_is_deterministic_and_json_is_complete() {
    let hostile = hostile();
    let again: Record = serde_json::from_str(&text(&Json, &hostile)).unwrap();
    for (name, format) in FORMATS {
        assert_eq!(text(format, &hostile), text(format, &again), "{name}");
    }
    assert_eq!(triage_of(&again).members().nth(15).unwrap().files[0], HOSTILE[5]);
    for (other, _) in &others() {
        let again: Record = serde_json::from_str(&text(&Json, other)).unwrap();
        for (name, format) in PAGES {
            assert_eq!(text(format, other), text(format, &again), "{name}");
        }
    }
}

/// Every tag, without the values of its attributes.
fn tags(page: &str) -> Vec<String> {
    let tag = |part: &str| {
        let mut values = part.split('"').step_by(2).collect::<Vec<_>>().join("\"\"");
        values.truncate(values.find('>').expect("a tag that ends"));
        values
    };
    page.split('<').skip(1).map(tag).collect()
}

#[test]
fn no_text_becomes_markup_in_the_page() {
    let (page, plain) = (text(&Html, &hostile()), text(&Html, &tame()));
    let (body, script) = page.split_once("<script>").expect("the page's own script");
    assert_eq!(tags(body), tags(plain.split_once("<script>").unwrap().0));
    // No name breaks a line, except of the values that a filter separates by line feeds.
    let outside: String = body.split("<pre>").map(|part| part.split("</pre>").last().unwrap()).collect();
    assert!(outside.contains("a\\nb\\r") && !outside.contains("a\nb"), "a line feed of a name is not escaped");
    assert!(
        outside.contains("very long very") && !outside.contains(&"very long ".repeat(60)),
        "a long name is in full"
    );
    assert_eq!(script, plain.split_once("<script>").unwrap().1);
    assert!(
        body.contains("&lt;script&gt;document") && body.contains("&amp;lt; &amp;#x3c;"),
        "the text itself is missing"
    );
    assert!(!page.contains(" 49 "), "a text was run as a template");
    assert!(
        page.contains("content=\"default-src 'none'; base-uri 'none'; form-action 'none'; style-src"),
        "no content security policy"
    );
    for (hostile, plain) in &others() {
        let (page, plain) = (text(&Html, hostile), text(&Html, plain));
        let body = page.split("<script>").next().unwrap();
        assert_eq!(tags(body), tags(plain.split("<script>").next().unwrap()));
        assert!(
            body.contains("&lt;script&gt;document") && !page.contains(" 49 "),
            "the text itself is missing, or was run"
        );
    }
}

/// The structure of a Markdown page, without its text.
fn blocks(page: &str) -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    // The extensions that GitHub has.
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_MATH
        | Options::ENABLE_GFM;
    for event in Parser::new_ext(page, options) {
        let block = match event {
            Event::Text(_) | Event::SoftBreak => "text".to_owned(),
            other => format!("{other:?}"),
        };
        if block != "text" || blocks.last() != Some(&block) {
            blocks.push(block);
        }
    }
    blocks
}

#[test]
fn no_text_becomes_markup_in_markdown() {
    for (hostile, plain) in &others() {
        let (page, plain) = (text(&Markdown, hostile), text(&Markdown, plain));
        assert_eq!(blocks(&page), blocks(&plain));
        assert!(!page.contains("https://x") && page.contains("\\<script\\>"), "a bare link, or no text");
    }
    let (page, plain) = (text(&Markdown, &hostile()), text(&Markdown, &tame()));
    for (index, (got, expected)) in blocks(&page).iter().zip(blocks(&plain)).enumerate() {
        assert_eq!(*got, expected, "{index}");
    }
    assert_eq!(blocks(&page).len(), blocks(&plain).len());
    assert!(plain.contains("| tame 3 |") && blocks(&plain).iter().any(|block| block.contains("Table(")));
    let outside = page.split("```").step_by(2).collect::<String>();
    assert!(!outside.contains("https://x") && outside.contains("\\<script\\>"), "a bare link, or no text");
}

/// The elements and attributes of a document, without values and texts; and the texts.
fn elements(document: &str) -> (Vec<String>, String) {
    let mut reader = quick_xml::Reader::from_str(document);
    reader.config_mut().check_end_names = true;
    let (mut elements, mut texts) = (Vec::new(), String::new());
    loop {
        match reader.read_event().unwrap() {
            Xml::Eof => return (elements, texts),
            Xml::Start(tag) | Xml::Empty(tag) => {
                let mut element = String::from_utf8(tag.name().as_ref().to_vec()).unwrap();
                for attribute in tag.attributes() {
                    let attribute = attribute.unwrap();
                    element += &format!(" {}", String::from_utf8_lossy(attribute.key.as_ref()));
                    texts += &quick_xml::escape::unescape(&String::from_utf8_lossy(&attribute.value)).unwrap();
                }
                elements.push(element);
            }
            Xml::Text(text) => texts += &String::from_utf8_lossy(&text),
            Xml::GeneralRef(_) | Xml::End(_) | Xml::Decl(_) => {}
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn no_text_becomes_markup_in_xml() {
    let (page, plain) = (text(&Junit, &hostile()), text(&Junit, &tame()));
    let (found, texts) = elements(&page);
    assert_eq!(found, elements(&plain).0);
    assert!(texts.contains(HOSTILE[0]) && texts.contains("]]> -->"), "the text itself is missing");
    // The characters that XML 1.0 allows, without control characters.
    assert!(
        page.chars()
            .all(|c| c == '\n' || c >= ' ' && !('\u{7f}'..='\u{9f}').contains(&c) && c < '\u{fffe}' || c > '\u{ffff}')
    );
    let failures = format!("failures=\"{}\"", HOSTILE.len() + 1);
    assert!(page.contains(&failures), "each new signature fails, and nothing else");
}

#[test]
fn sarif_has_what_github_requires() {
    for record in [hostile(), tame(), planted()] {
        let findings = triage_of(&record);
        let log: Value = serde_json::from_str(&text(&Sarif, &record)).unwrap();
        assert_eq!(log["version"], "2.1.0");
        assert!(log["$schema"].as_str().unwrap().contains("sarif-schema-2.1.0.json"));
        let run = &log["runs"][0];
        let driver = &run["tool"]["driver"];
        let rules = driver["rules"].as_array().unwrap();
        assert_eq!((driver["name"].as_str(), rules.len()), (Some("utfuzz"), Law::ALL.len()));
        for (rule, law) in rules.iter().zip(Law::ALL) {
            assert_eq!(rule["id"], law.name());
            for words in ["shortDescription", "fullDescription", "help"] {
                assert!(rule[words]["text"].as_str().is_some_and(|text| text.len() > 9), "{words}");
            }
            let [short, help] = ["shortDescription", "help"].map(|words| rule[words]["text"].as_str().unwrap());
            assert!(!help.contains(short), "the help repeats the description");
            assert!(rule["helpUri"].as_str().unwrap().starts_with("https://"));
        }
        let results = run["results"].as_array().unwrap();
        assert_eq!(results.len(), findings.members().count());
        for (result, member) in results.iter().zip(findings.members()) {
            assert_eq!(result["level"], if member.status == "new" { "error" } else { "note" });
            if let Some(index) = result["ruleIndex"].as_u64() {
                assert_eq!(rules[index as usize]["id"], result["ruleId"]);
            }
            let text = result["message"]["text"].as_str().unwrap();
            assert!(!text.replace("\\\\", "").replace("\\]", "").contains(']'), "a link: {text}");
            let place = &result["locations"][0]["physicalLocation"];
            let uri = place["artifactLocation"]["uri"].as_str().unwrap();
            // A text file of this repository, and the line that speaks of the decoder.
            assert_eq!(uri, if member.status == "known" { "corpus/known.toml" } else { "crates/core/Cargo.toml" });
            assert_eq!(place["region"]["startLine"], 1);
            let input = &result["relatedLocations"][0]["physicalLocation"];
            let uri = input["artifactLocation"]["uri"].as_str().unwrap();
            let plain = |b: u8| b.is_ascii_alphanumeric() || b"-._~/%".contains(&b);
            assert!(uri.bytes().all(plain) && !uri.starts_with('/') && !uri.contains(".."), "{uri}");
            assert_eq!(input["region"], Value::Null, "the input is binary");
            assert!(result["partialFingerprints"]["primaryLocationLineHash"].as_str().is_some());
        }
        let mut prints: Vec<_> = results.iter().map(|result| result["partialFingerprints"].to_string()).collect();
        prints.dedup();
        assert_eq!(prints.len(), results.len() / if findings.inputs == 40 { 3 } else { 1 }, "one for each signature");
    }
}

#[test]
fn sarif_of_another_repository_points_to_its_ledger() {
    let mut record = record(&["known".to_owned(), "new".to_owned()]);
    for (ledger, expected) in [("fuzz/known.toml", "fuzz/known.toml"), ("./a/../b/known.toml", "b/known.toml")] {
        triage_mut(&mut record).ledger = Some(ledger.to_owned());
        let log: Value = serde_json::from_str(&text(&Sarif, &record)).unwrap();
        let results = log["runs"][0]["results"].as_array().unwrap();
        assert_eq!(results.len(), triage_of(&record).members().count());
        for result in results {
            let place = &result["locations"][0]["physicalLocation"];
            assert_eq!(place["artifactLocation"]["uri"], expected);
            assert_eq!(place["region"]["startLine"], 1);
        }
    }
}

/// A triage of the seeds with a decoder that accepts overlong forms and surrogates.
fn planted() -> Record {
    let lax = |bytes: &[u8]| {
        let lets_through =
            [&b"\xC0\xAF"[..], b"\xED\xA0\x80"].iter().any(|part| bytes.windows(part.len()).any(|at| at == *part));
        Some(if lets_through { Validity::Valid } else { verdict(bytes) })
    };
    let (lax, good) = (Faulty { validate: lax, ..Faulty::default() }, Faulty::default());
    let good = Faulty { info: good.info.clone().name("good"), ..good };
    let decoders: [&dyn Decoder; 2] = [&lax, &good];
    let scratch = tempfile::tempdir().unwrap();
    for (name, bytes) in [("<b>", &b"a\xC0\xAF"[..]), ("`b`", b"\xED\xA0\x80bc"), ("c", b"c")] {
        fs::write(scratch.path().join(name), bytes).unwrap();
    }
    let files = utfuzz::case::input::files_below(scratch.path()).unwrap();
    let outcome = triage(&decoders, &Ledger::default(), &files, None, &|_, _| {}).unwrap();
    let mut record = Record::of_triage(&Clock::start("utfuzz triage"), &decoders, &outcome, &[]);
    let target = Target { name: "differential".into(), seconds: 60.0, executions: 123_456, corpus: 789 };
    triage_mut(&mut record).targets.push(target);
    record.enter_history(vec![Night::of(&record).unwrap()]);
    record
}

#[test]
fn every_format_shows_what_was_found() {
    let record = planted();
    let findings = triage_of(&record);
    let signatures: Vec<&str> = findings.members().map(|member| member.signature.as_str()).collect();
    assert!(signatures.contains(&"verdict/faulty/overlong-2/anywhere"), "{signatures:?}");
    assert!(signatures.contains(&"verdict/faulty/surrogate/anywhere"), "{signatures:?}");
    for (name, format) in FORMATS {
        let text = text(format, &record).replace("&#x2f;", "/");
        assert!(signatures.iter().all(|signature| text.contains(signature)), "{name}:\n{text}");
    }
    let agreement = &findings.agreement;
    assert_eq!(agreement.decoders, ["faulty", "good"]);
    assert_eq!(agreement.same[0][0], agreement.inputs);
    assert!(agreement.inputs > 100 && agreement.same[0][1] < agreement.asked[0][1]);
    assert_eq!(agreement.same[0][1], agreement.same[1][0]);
    let page = text(&Html, &record);
    for wanted in ["<td class=\"a10\"", "123,456", ">789<", "<polyline ", "overlong-2: the overlong"] {
        assert!(page.contains(wanted), "no {wanted}");
    }
}

/// The page of a triage starts with its answer, cites clauses with links, and compares only decoders of one grammar.
#[test]
fn the_page_answers_first() {
    let mut record = planted();
    (record.started, record.seconds) = (1_800_000_000, 17.775_874_114);
    let page = text(&Html, &record);
    let main = page.split("<main>").nth(1).unwrap();
    let mut parts = main.split('<').skip(1);
    assert_eq!(parts.next().unwrap().split('>').nth(1).unwrap(), "utfuzz night, 2027-01-15");
    let answer = main.find("<b>Not clean: 2 new causes.</b>").unwrap_or_else(|| panic!("no answer: {main}"));
    let tiles: Vec<usize> =
        [" new<", " regression<", " known<", "<b>18 s</b> time<", " version of utfuzz<", " machine<"]
            .iter()
            .map(|tile| main.find(tile).unwrap_or_else(|| panic!("no {tile}: {main}")))
            .collect();
    assert!(answer < tiles[0] && tiles.is_sorted() && tiles[5] < main.find("<table").unwrap(), "{tiles:?}");
    assert!(!page.contains("17.775"), "seconds are not rounded");
    for wanted in [
        "<a href=\"https://www.rfc-editor.org/rfc/rfc3629#section-3\">RFC 3629 §3",
        "<a href=\"#cause-1-1\">",
        "id=\"cause-1-1\"",
        "<td class=\"number\">0</td><td><code>C0</code></td><td>overlong-2: the overlong",
        "<code>C0 61</code>, the nearest input found",
        "<h2>faulty</h2>",
    ] {
        let page = page.replace("&#x2f;", "/");
        assert!(page.contains(wanted), "no {wanted}: {page}");
    }
    // The witness is in hexadecimal, with a space between bytes, and in no other notation.
    assert!(!page.replace("C0 AF", "").split("<pre>").next().unwrap().contains("C0AF"));
    let grids = |page: &str| page.matches("class=\"grid\"").count();
    assert_eq!(grids(&page), 1);
    record.decoders[1].contract = "cesu-8".into();
    assert_eq!(grids(&text(&Html, &record)), 0, "a decoder alone in its grammar is compared with none");
}

/// Every report that exists is a page, linked from every other; `.ci/page` opens them.
#[test]
#[cfg(feature = "cli")]
fn the_site_has_a_page_for_each_report() {
    let reports = Path::new(env!("CARGO_TARGET_TMPDIR")).join("site-reports");
    let _ = fs::remove_dir_all(&reports);
    let site = |directory: &Path| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_utfuzz"));
        let output = command.args(["site", "--reports"]).arg(&reports).arg("-o").arg(directory).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    let pages = |directory: &Path| {
        let mut pages: Vec<String> =
            fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        pages.retain(|page| !page.starts_with("chart-"));
        pages.sort();
        pages
    };
    let empty = tempfile::tempdir().unwrap();
    let (status, note) = site(empty.path());
    assert!(status == Some(0) && note.contains("no such directory") && note.contains("--reports"), "{note}");
    assert_eq!(pages(empty.path()), ["index.html"]);
    let score = record::score(&["planted-a".to_owned(), "planted-b".to_owned()]);
    let night = Record { command: "utfuzz nightly --minutes 1".into(), ..planted() };
    let check = record::check(&["a".to_owned(), "b".to_owned()], false);
    for (file, record) in [
        ("check.json", &check),
        ("night/report.json", &night),
        ("triage/report.json", &planted()),
        ("score/score.json", &score),
        ("throughput/throughput.json", &record::throughput(&["ascii".to_owned(), "greek".to_owned()])),
        ("matrix/matrix.json", &record::matrix(&HOSTILE.map(str::to_owned))),
    ] {
        fs::create_dir_all(reports.join(file).parent().unwrap()).unwrap();
        fs::write(reports.join(file), text(&Json, record)).unwrap();
    }
    let proof = serde_json::to_value(record::check(&["a".to_owned(), "b".to_owned()], true)).unwrap();
    let mut certificate =
        serde_json::json!({ "schema": proof["schema"], "verdict": "no new divergence", "proofs": [proof] });
    certificate["proofs"][0]["kind"] = "class-strings".into();
    certificate["proofs"][0]["verdict"] = "no new divergence".into();
    fs::write(reports.join("certificate.json"), certificate.to_string()).unwrap();
    let lines = |missed: Value| serde_json::json!({ "lines": 9, "covered": 5, "percent": 55.6, "entered": 6, "missed": missed });
    let corpus = serde_json::json!({
        "name": "the committed corpus", "files": 8, "bytes": 99, "edges": 7, "features": null,
        "directories": { "crates/core/src/spec": lines(1.into()) }, "sources": { "crates/core/src/spec/a.rs": lines(vec!["4-5"].into()) },
    });
    let coverage = serde_json::json!({
        "schema": 1, "target": "differential", "toolchain": { "rustc": "rustc 1", "llvm": "LLVM 2" }, "kept": 7,
        "corpora": [corpus],
    });
    fs::write(reports.join("coverage.json"), coverage.to_string()).unwrap();
    let full = tempfile::tempdir().unwrap();
    assert_eq!(site(full.path()), (Some(0), String::new()));
    let names = ["certificate", "check", "coverage", "findings", "index", "matrix", "night", "score", "throughput"];
    assert_eq!(pages(full.path()), names.map(|name| format!("{name}.html")));
    for entry in fs::read_dir(full.path()).unwrap() {
        let page = fs::read_to_string(entry.unwrap().path()).unwrap();
        let missing: Vec<&str> =
            names.into_iter().filter(|name| !page.contains(&format!("href=\"{name}.html\""))).collect();
        assert!(missing.is_empty(), "{missing:?}: {page}");
        assert_eq!(page.matches(" aria-current=\"page\"").count(), 1);
    }
    // A report of another version is named and left out.
    fs::write(reports.join("check.json"), text(&Json, &Record { schema: 1, ..check.clone() })).unwrap();
    let partial = tempfile::tempdir().unwrap();
    let (status, note) = site(partial.path());
    assert_eq!(status, Some(2), "the site is not complete");
    assert!(note.starts_with("note: ") && note.contains("check.json") && note.contains("schema 1"), "{note}");
    assert!(!pages(partial.path()).contains(&"check.html".to_owned()));
    fs::write(reports.join("check.json"), text(&Json, &check)).unwrap();
}

/// Nothing in the picture of a measurement is outside it.
#[test]
fn the_picture_of_a_measurement_is_complete() {
    let page = text(&Html, &record::throughput(&record::HOSTILE.map(str::to_owned)));
    let start = page.find("<svg ").unwrap();
    let picture = &page[start..start + page[start..].find("</svg>").unwrap()];
    for wanted in ["GB/s", "own", "std", "utfuzz ", "2027-01-15"] {
        assert!(picture.contains(wanted), "no {wanted}: {picture}");
    }
    let values = |name: &str| -> Vec<f64> {
        picture
            .split(&format!(" {name}=\""))
            .skip(1)
            .map(|rest| rest.split('"').next().unwrap().parse().unwrap())
            .collect()
    };
    let size = |name: &str| values(name)[0];
    let across = values("x").into_iter().map(|x| (x, size("width")));
    let down = values("y").into_iter().map(|y| (y, size("height")));
    let ends = picture.split("<rect ").skip(1).map(|rect| {
        let value = |name: &str| rect.split(&format!("{name}=\"")).nth(1).unwrap().split('"').next().unwrap();
        value("x").parse::<f64>().unwrap() + value(" width").parse::<f64>().unwrap()
    });
    let all = across.chain(down).chain(ends.map(|end| (end, size("width"))));
    let outside: Vec<_> = all.filter(|(value, most)| !(0.0..=*most).contains(value)).collect();
    assert!(outside.is_empty(), "{outside:?}: {picture}");
    assert!(!picture.contains("<script"), "a text of the record is markup");
}

#[test]
fn an_empty_record_can_be_written() {
    let mut nothing = record(&[String::new(), String::new()]);
    for format in FORMATS {
        text(format.1, &nothing);
    }
    let agreement = Agreement { decoders: vec!["a".into()], ..Agreement::default() };
    *triage_mut(&mut nothing) = Triage { agreement, ..Triage::default() };
    nothing.seconds = f64::NAN;
    for format in FORMATS {
        let text = text(format.1, &nothing);
        assert!(!text.is_empty());
    }
}

#[test]
fn files_are_written_together_and_replaced_whole() {
    for (name, findings) in [("hostile", hostile()), ("planted", planted())] {
        let directory = directory(name);
        write_all(&tame(), &directory).unwrap();
        write_all(&findings, &directory).unwrap();
        let mut names: Vec<String> =
            fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        assert_eq!(names, ["report.html", "report.json", "report.junit.xml", "report.md", "report.sarif"]);
        for (name, format) in &FORMATS[..5] {
            assert_eq!(fs::read_to_string(directory.join(name)).unwrap(), text(*format, &findings), "{name}");
        }
    }
    let scratch = tempfile::tempdir().unwrap();
    let file = scratch.path().join("file");
    fs::write(&file, "").unwrap();
    let error = write_all(&tame(), &file).unwrap_err().to_string();
    assert!(error.contains("file"), "{error}");
}

#[test]
#[cfg(all(unix, feature = "cli"))]
fn the_command_writes_reports_and_names_what_it_keeps() {
    use std::os::unix::ffi::OsStrExt;
    let scratch = tempfile::tempdir().unwrap();
    let at = |name: &str| scratch.path().join(name);
    fs::create_dir_all(at("crashes")).unwrap();
    fs::write(at("crashes").join(std::ffi::OsStr::from_bytes(b"a \xFF\x1B[2J<b>|")), b"a\xC0\xAFb").unwrap();
    fs::create_dir_all(at("reports")).unwrap();
    let night = triage_of(&record(&[String::new(), String::new()])).history[0].clone();
    append(&at("reports/history.jsonl"), &night).unwrap();
    let triage = || {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_utfuzz"));
        command.current_dir(scratch.path()).args(["triage", "crashes", "--no-ledger", "--decoders", "own,utf8-decode"]);
        command.args(["--output", "kept", "--report", "reports"]).output().unwrap().status.code()
    };
    let kept = "kept/overlong-2__verdict__utf8-decode.bin";
    for (status, level, exit) in [("new", "error", 1), ("regression", "note", 0)] {
        assert_eq!(triage(), Some(exit));
        let record: Record = serde_json::from_slice(&fs::read(at("reports/report.json")).unwrap()).unwrap();
        let findings = triage_of(&record);
        let member = findings.members().next().unwrap();
        assert_eq!((member.status.as_str(), findings.history.len()), (status, 1));
        assert!(member.files[0].starts_with("crashes/a \u{fffd}\u{1b}["), "{:?}", member.files);
        let log: Value = serde_json::from_slice(&fs::read(at("reports/report.sarif")).unwrap()).unwrap();
        let result = &log["runs"][0]["results"][0];
        assert_eq!(result["level"], level);
        assert_eq!(result["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"], kept);
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], "crates/core/Cargo.toml");
        let line = place["region"]["startLine"].as_u64().unwrap() as usize;
        let manifest = include_str!("../crates/core/Cargo.toml").lines().nth(line - 1).unwrap();
        assert!(manifest.starts_with("utf8-decode = "), "{manifest}");
    }
    assert_eq!(fs::read_dir(at("reports")).unwrap().count(), 6);
}

mod scores {
    use super::{Html, Markdown, text};
    use crate::record::score;
    use utfuzz::engine::score::Summary;
    use utfuzz::engine::score::{Cell, Engine, Outcome, Row, Score};
    use utfuzz::report::record::Section;
    use utfuzz::report::{Exporter, Json, Record, Text};

    fn tame() -> Record {
        score(&(0..9).map(|_| "tame".to_owned()).collect::<Vec<_>>())
    }

    fn score_of(record: &mut Record) -> &mut Score {
        match &mut record.section {
            Section::Score { score } => score,
            _ => panic!("not the record of a score"),
        }
    }

    fn picture(page: &str) -> &str {
        let start = page.find("<svg ").unwrap();
        &page[start..start + page[start..].find("</svg>").unwrap()]
    }

    #[test]
    fn no_text_is_in_the_picture() {
        let texts = crate::record::HOSTILE.map(str::to_owned);
        let tame = score(&texts.clone().map(|_| "tame".to_owned()));
        assert_eq!(picture(&text(&Html, &score(&texts))), picture(&text(&Html, &tame)));
    }

    #[test]
    fn the_comparisons_and_what_was_left_out_are_in_every_format() {
        let record = tame();
        let formats: [&dyn Exporter; 3] = [&Html, &Markdown, &Text];
        for page in formats.map(|format| text(format, &record)) {
            for words in ["of these missed", "× 0.250", "tame (× 4, × 5)", "proptest", "eft out: afl"] {
                assert!(page.contains(words), "{words}: {page}");
            }
        }
        let json: serde_json::Value = serde_json::from_str(&text(&Json, &record)).unwrap();
        assert_eq!(json["score"]["comparisons"][0]["behind"].as_array().unwrap().len(), 9);
        assert_eq!(json["score"]["left_out"][8]["why"], "tame");
    }

    /// The line of an engine that catches every decoder ends below the top of the axis, so its marks are whole.
    #[test]
    fn no_mark_is_clipped() {
        let mut record = tame();
        score_of(&mut record).rows.truncate(9);
        let page = text(&Html, &record);
        let tops = |stroke: &str| -> Vec<f64> {
            let lines = picture(&page).split("<poly").filter(|line| line.contains(stroke));
            let points =
                lines.flat_map(|line| line.split("points=\"").nth(1).unwrap().split('"').next().unwrap().split(' '));
            points.filter_map(|point| point.split_once(',')?.1.parse().ok()).collect()
        };
        let axis = tops("#555555").into_iter().fold(f64::MAX, f64::min);
        let line = tops("#0072B2").into_iter().fold(f64::MAX, f64::min);
        assert!(axis + 7.0 < line && line < 500.0, "{line} is too close to the top, {axis}");
    }

    #[test]
    fn an_empty_score_can_be_written() {
        let with = |engines: &[Engine], rows: &[Row]| {
            let mut record = tame();
            (score_of(&mut record).engines, score_of(&mut record).rows) = (engines.to_vec(), rows.to_vec());
            record
        };
        let bare = Row { cells: Vec::new(), ..score_of(&mut tame()).rows[0].clone() };
        let empty = Row { cells: vec![Cell { engine: Engine::Plain, runs: Vec::new() }], ..bare.clone() };
        let mut strange = tame();
        score_of(&mut strange).rows[0].cells[0].runs[0].executions = u64::MAX;
        score_of(&mut strange).rows[1].cells[1].runs[0].executions = 0;
        let records = [
            with(&[], &[]),
            with(&[], std::slice::from_ref(&bare)),
            with(&Engine::ALL, &[]),
            with(&Engine::ALL, &[bare, empty]),
            strange,
        ];
        for record in records {
            let formats: [&dyn Exporter; 4] = [&Html, &Markdown, &Text, &Json];
            let pages: String = formats[..3].iter().map(|format| text(*format, &record)).collect();
            let bare = pages.split(|c: char| !c.is_alphanumeric()).find(|word| ["inf", "NaN"].contains(word));
            assert_eq!(bare, None, "{pages}");
            let page = text(&Html, &record);
            let picture = picture(&page);
            let values = picture.split('"').skip(1).step_by(2).filter(|value| !value.starts_with(['#', 'h']));
            let numbers =
                values.flat_map(|value| value.split([' ', ',', '(', ')'])).filter_map(|n| n.parse::<f64>().ok());
            let outside: Vec<f64> = numbers.filter(|n| !(0.0..=1000.0).contains(n)).collect();
            assert!(outside.is_empty(), "{outside:?}: {picture}");
        }
    }

    #[test]
    fn every_format_has_the_figures_of_the_summary() {
        let mut record = tame();
        score_of(&mut record).rows[3].cells[2].runs.iter_mut().for_each(|run| run.outcome = Outcome::Missed);
        let (page, markdown) = (text(&Html, &record), text(&Markdown, &record));
        let score = score_of(&mut record).clone();
        for (figures, expected) in Summary::of(&score).engines.iter().zip([9, 9, 8, 9, 0]) {
            assert_eq!(figures.caught, expected);
            let name = figures.engine.name();
            assert!(picture(&page).contains(&format!("\n{name}: {expected}\n")), "{page}");
            let row = page.split(&format!("<td>{name}</td>")).nth(1).unwrap();
            assert!(
                row.split("</tr>").next().unwrap().contains(&format!("<td class=\"number\">{expected}</td>")),
                "{row}"
            );
            let row = markdown.lines().find(|line| line.starts_with(&format!("| {name} |"))).unwrap();
            assert!(row.split(" | ").nth(2) == Some(&expected.to_string()), "{row}");
        }
        assert!(page.contains("Not clean"));
        assert!(markdown.contains("**missed 0/3, up to 3k**"), "{markdown}");
        // The filter finds a wrong run in a cell that is caught.
        assert_eq!(page.matches("data-exhaustive=\"caught\nwrong law\"").count(), 9, "{page}");
        let score = score_of(&mut record);
        score.rows.truncate(3);
        score
            .rows
            .iter_mut()
            .flat_map(|row| &mut row.cells)
            .for_each(|cell| cell.runs.retain(|run| run.seed != Some(2)));
        let (page, markdown) = (text(&Html, &record), text(&Markdown, &record));
        assert!(
            page.contains("<b>Clean: 3 of 3 planted decoders are caught.</b>") && markdown.contains("caught 2/2, 2k |"),
            "{markdown}"
        );
    }
}

/// A directory with every source and every file of every report.
fn tree() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for report in &REPORTS {
        for path in report.sources.iter().filter(|path| !path.starts_with('!')).chain(report.files) {
            let mut path = root.path().join(path);
            if path.extension().is_none() {
                path.push("source");
            }
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, report.name).unwrap();
        }
    }
    root
}

fn stamp_all(root: &Path) {
    for report in &REPORTS {
        let sources = freshness::digest(root, report.sources).unwrap();
        freshness::stamp(root, report, &sources, 12, Some(3456)).unwrap();
    }
}

fn not_current(root: &Path) -> Vec<(&'static str, State)> {
    let states = freshness::states(root).unwrap().into_iter();
    states.filter(|(_, _, state)| *state != State::Current).map(|(report, _, state)| (report.name, state)).collect()
}

#[test]
fn a_report_is_stale_once_a_source_has_changed() {
    let root = tree();
    let root = root.path();
    assert_eq!(not_current(root).len(), REPORTS.len(), "a report without a stamp is not current");
    stamp_all(root);
    assert_eq!(not_current(root), []);
    let change = |path: &str, text: &str| fs::write(root.join(path), text).unwrap();
    change("src/bench/source", "changed");
    assert_eq!(not_current(root), [("throughput", State::Stale)]);
    change("src/bench/source", "throughput");
    assert_eq!(not_current(root), []);
    // A new file, a hidden one, what is built, and one that is moved.
    change("src/bench/.swap", "");
    fs::create_dir(root.join("src/bench/target")).unwrap();
    change("src/bench/target/built", "");
    assert_eq!(not_current(root), []);
    fs::rename(root.join("src/bench/source"), root.join("src/bench/moved")).unwrap();
    assert_eq!(not_current(root), [("throughput", State::Stale)]);
    change("src/bench/source", "throughput");
    assert_eq!(not_current(root), [("throughput", State::Stale)]);
    // Comments and empty lines in Rust code cannot change a result, so only other changes make a report stale.
    change("src/bench/code.rs", "fn one() {}\n");
    change("src/bench/other", "one\n");
    stamp_all(root);
    change("src/bench/code.rs", "//! About one.\n\n    // More.\nfn one() {}\n");
    assert_eq!(not_current(root), []);
    change("src/bench/code.rs", "fn two() {}\n");
    assert_eq!(not_current(root), [("throughput", State::Stale)]);
    change("src/bench/code.rs", "fn one() {}\n");
    change("src/bench/other", "// More.\none\n");
    assert_eq!(not_current(root), [("throughput", State::Stale)]);
    stamp_all(root);
    // Tests at the end of a file change a report only if it is about tests.
    let tested = |test: &str| format!("fn one() {{}}\n\n#[cfg(test)]\nmod tests {{\n    fn {test}() {{}}\n}}\n");
    change("crates/codec/code.rs", &tested("one"));
    stamp_all(root);
    change("crates/codec/code.rs", &tested("two"));
    assert_eq!(not_current(root), [("mutants", State::Stale)]);
    for changed in [tested("one").replace("fn one", "fn two"), tested("one") + "\nfn three() {}\n"] {
        change("crates/codec/code.rs", &changed);
        let stale = not_current(root).into_iter().map(|(name, _)| name);
        assert!(stale.eq(["matrix", "check", "certificate", "throughput", "coverage", "mutants"]), "{changed}");
    }
    stamp_all(root);
    // Only the matrix depends on decoders in other processes.
    fs::create_dir(root.join("crates/core/src/peers/foreign")).unwrap();
    change("crates/core/src/peers/foreign/code", "new");
    assert_eq!(not_current(root), [("matrix", State::Stale)]);
    // Of the dependencies only those that decode can change it.
    let lock = |tempfile: u8, encoding_rs: u8| {
        let package =
            |name: &str, version: u8| format!("[[package]]\nname = \"{name}\"\nversion = \"{version}.0.0\"\n\n");
        package("tempfile", tempfile) + &package("encoding_rs", encoding_rs)
    };
    change("Cargo.lock", &lock(1, 1));
    stamp_all(root);
    change("Cargo.lock", &lock(2, 1));
    assert_eq!(not_current(root), []);
    change("Cargo.lock", &lock(2, 2));
    assert!(not_current(root).contains(&("throughput", State::Stale)));
    stamp_all(root);
    change("crates/core/src/spec/source", "changed");
    let stale: Vec<&str> = not_current(root).into_iter().map(|(name, _)| name).collect();
    assert_eq!(stale, ["matrix", "check", "certificate", "score", "rivals", "ablation", "coverage", "mutants"]);
    stamp_all(root);
    change("reports/coverage.md", "edited by hand");
    assert_eq!(not_current(root), [("coverage", State::Changed)]);
    fs::remove_file(root.join("reports/check.txt")).unwrap();
    assert_eq!(not_current(root), [("check", State::Missing), ("coverage", State::Changed)]);
    // A source that does not exist is an error, so that the list stays correct.
    fs::remove_dir_all(root.join("crates/core/src/spec")).unwrap();
    assert!(freshness::states(root).unwrap_err().to_string().contains("crates/core/src/spec"));
}

#[test]
fn the_table_of_reports_is_written_between_its_markers() {
    let root = tree();
    let root = root.path();
    let path = root.join("docs/reports.md");
    freshness::write_table(root).unwrap();
    stamp_all(root);
    let page = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("# Before\n\n{}\nafter\n", page.split_once("\n\n").unwrap().1)).unwrap();
    freshness::write_table(root).unwrap();
    let page = fs::read_to_string(&path).unwrap();
    assert!(page.starts_with("# Before\n\n<!--") && page.ends_with("-->\n\nafter\n"), "{page}");
    for report in &REPORTS {
        let row = page.lines().find(|line| line.starts_with(&format!("| {} |", report.name))).unwrap();
        assert!(row.contains(" | 12 | 3,456 |") && row.contains(report.command), "{row}");
    }
}

/// `.ci/report table` writes the committed table from the committed manifest.
#[test]
fn the_committed_table_is_that_of_the_manifest() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let copy = tempfile::tempdir().unwrap();
    for (directory, file) in [("docs", "reports.md"), ("reports", "manifest.json")] {
        fs::create_dir(copy.path().join(directory)).unwrap();
        let Ok(text) = fs::read(repository.join(directory).join(file)) else { return };
        fs::write(copy.path().join(directory).join(file), text).unwrap();
    }
    freshness::write_table(copy.path()).unwrap();
    let page = |root: &Path| fs::read_to_string(root.join("docs/reports.md")).unwrap();
    assert!(page(copy.path()) == page(repository), "`.ci/report table` writes docs/reports.md");
}

/// Every committed report can be shown.
#[test]
#[cfg(feature = "cli")]
fn the_site_of_the_committed_reports_is_complete() {
    let reports = Path::new(env!("CARGO_MANIFEST_DIR")).join("reports");
    if !reports.is_dir() {
        return;
    }
    let site = tempfile::tempdir().unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_utfuzz"));
    let output = command.args(["site", "--reports"]).arg(&reports).arg("-o").arg(site.path()).output().unwrap();
    assert_eq!((output.status.code(), &*String::from_utf8_lossy(&output.stderr)), (Some(0), ""));
    assert!(["check", "score", "matrix"].iter().all(|page| site.path().join(format!("{page}.html")).is_file()));
}

/// The sources that the list names exist in this repository.
#[test]
fn every_source_of_every_report_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    if root.join("fuzz").is_dir() {
        let missing = REPORTS.iter().flat_map(|report| report.sources);
        let missing = missing.filter(|path| !root.join(path.trim_start_matches('!')).exists());
        assert_eq!(missing.collect::<Vec<_>>(), Vec::<&&str>::new());
    }
}

/// A module is a file and a directory: `fuzz.rs` and `fuzz/`. A report that depends on one depends on both.
#[test]
fn a_report_depends_on_whole_modules() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut missing = Vec::new();
    for report in &REPORTS {
        let is_covered = |path: &str| report.sources.iter().any(|source| Path::new(path).starts_with(source));
        let modules =
            report.sources.iter().filter(|source| !source.starts_with('!')).map(|source| format!("{source}.rs"));
        let left_out = modules.filter(|module| root.join(module).is_file() && !is_covered(module));
        missing.extend(left_out.map(|module| format!("{}: {module}", report.name)));
    }
    assert_eq!(missing, Vec::<String>::new());
}

/// `utfuzz check` reads the seeds of every target, so its report depends on them.
#[test]
fn the_report_of_a_check_depends_on_every_corpus() {
    let report = freshness::report("check").unwrap();
    let seeds = utfuzz::engine::targets::ALL.iter().flat_map(|target| target.seeds);
    let missing: Vec<_> = seeds.filter(|seeds| !report.sources.contains(seeds)).collect();
    assert_eq!(missing, Vec::<&&str>::new());
}
