use crate::engine::score::summary::Summary;
use crate::engine::score::{Row, Run};
use crate::report::escape::safe;
use crate::report::score::*;

/// What a page, a terminal, a table or a reader may trip over, each where there is an unremarkable text in `tame`.
const HOSTILE: [&str; 9] = [
    "<script>alert(1)</script>",
    "\"'><img src=x onerror=alert(1)>",
    "a\nb\r\n\n# c\n---",
    "a | b \\| c \\",
    "\u{1b}[2J\u{1b}]0;title\u{7}\u{9b}31m\0\u{7f}",
    "\u{202e}txt\u{2066}\u{200b}\u{feff}\u{2028}",
    "`*b*` _i_ ~~s~~ [l](javascript:alert(1)) ![i](//x) https://x.example www.x.example a@x.example $m$ &lt; &#x3c;",
    "]]> --> */ </style></svg> {{ 7 * 7 }} {% raw %}",
    "",
];

fn score(texts: &[&str]) -> Score {
    let run = |seed: u64, outcome, text: &str| Run {
        seed: Some(seed),
        outcome,
        signature: Some(text.to_owned()),
        executions: seed * 1000,
        seconds: 0.5,
    };
    let cell = |(engine, text): (Engine, &str)| Cell {
        engine,
        runs: vec![run(1, Outcome::Caught, text), run(2, Outcome::WrongLaw, text), run(3, Outcome::Caught, text)],
    };
    let row = |text: &&str| Row {
        decoder: text.to_string(),
        id: text.to_string(),
        fault: text.to_string(),
        citation: text.to_string(),
        signs: vec![text.to_string()],
        // The last cell of each row is without runs, and its decoder is in the lists of the uncaught.
        cells: Engine::ALL.into_iter().map(|engine| cell((engine, text))).take(4).collect(),
    };
    let mut rows: Vec<Row> = texts.iter().map(row).collect();
    let uncaught: Vec<Row> = rows.iter().map(|row| Row { cells: missed(), ..row.clone() }).collect();
    rows.extend(uncaught);
    Score {
        schema: 1,
        version: texts[0].to_owned(),
        jobs: 2,
        budget_seconds: 60.0,
        seeds: vec![1, 2, 3],
        seconds: 1234.5,
        engines: Engine::ALL.to_vec(),
        rows,
    }
}

fn missed() -> Vec<Cell> {
    let run = Run { seed: None, outcome: Outcome::Missed, signature: None, executions: 1 << 30, seconds: 60.0 };
    vec![Cell { engine: Engine::Plain, runs: vec![run] }]
}

fn hostile() -> Score {
    score(&HOSTILE)
}

fn tame() -> Score {
    score(&["tame"; HOSTILE.len()])
}

fn html(score: &Score) -> String {
    html::page(score, &picture::svg(score).unwrap()).unwrap()
}

/// Every tag with its attributes, in order.
fn tags(page: &str) -> Vec<&str> {
    page.split('<').skip(1).map(|part| part.split_once('>').expect("a tag that ends").0).collect()
}

/// The lines, with nothing but the punctuation that Markdown acts on.
fn markup(page: &str) -> Vec<String> {
    let of_line = |line: &str| {
        let mut kept = String::new();
        let mut chars = line.chars();
        while let Some(c) = chars.next() {
            match c {
                '\\' => drop(chars.next()),
                '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '$' | '@' | ':' | '!' | '#' => kept.push(c),
                _ => {}
            }
        }
        kept
    };
    page.lines().map(of_line).collect()
}

#[test]
fn no_text_becomes_markup_in_the_page() {
    let page = html(&hostile());
    assert_eq!(tags(&page), tags(&html(&tame())));
    let style = page.split_once("<style>").unwrap().1.split_once("</style>").unwrap().0;
    assert!(html(&tame()).contains(style), "a name is in the style sheet");
    assert!(page.contains("&lt;script&gt;alert(1)"), "the text itself is gone");
    assert!(page.contains("&amp;lt; &amp;#x3c;"), "the text itself is gone");
    assert!(!page.contains(" 49 "), "a text was run as a template");
}

#[test]
fn no_text_becomes_markup_in_markdown() {
    let page = markdown::page(&hostile());
    let (got, expected) = (markup(&page), markup(&markdown::page(&tame())));
    // Signatures that are the same are shown once; which they are does not change the columns.
    assert_eq!(got, expected, "{page}");
    assert!(!page.contains("www.") && !page.contains("https://"), "a bare link:\n{page}");
    assert!(page.contains("\\<script\\>alert(1)"), "the text itself is gone");
}

#[test]
fn no_text_is_in_the_picture() {
    assert_eq!(picture::svg(&hostile()).unwrap(), picture::svg(&tame()).unwrap());
}

#[test]
fn no_file_moves_a_cursor_or_reorders_text() {
    let score = hostile();
    assert!(HOSTILE.iter().flat_map(|text| text.chars()).any(|c| c != '\n' && !safe(c)));
    for text in [json(&score).unwrap(), markdown::page(&score), html(&score), picture::svg(&score).unwrap()] {
        let bad: Vec<char> = text.chars().filter(|c| *c != '\n' && !safe(*c)).collect();
        assert!(bad.is_empty(), "{bad:?}");
    }
}

#[test]
fn the_json_is_the_score() {
    let score = hostile();
    let text = json(&score).unwrap();
    let read: Score = serde_json::from_str(&text).unwrap();
    assert_eq!(serde_json::to_value(&read).unwrap(), serde_json::to_value(&score).unwrap());
    for (row, text) in read.rows.iter().zip(HOSTILE) {
        assert_eq!(row.decoder, text);
    }
}

#[test]
fn a_score_of_nothing_can_be_written() {
    let none = |engines: &[Engine], rows: &[Row]| Score { engines: engines.to_vec(), rows: rows.to_vec(), ..tame() };
    let bare = Row { cells: Vec::new(), ..tame().rows[0].clone() };
    let empty = Row { cells: vec![Cell { engine: Engine::Plain, runs: Vec::new() }], ..bare.clone() };
    let mut strange = tame();
    strange.rows[0].cells[0].runs[0].executions = u64::MAX;
    strange.rows[1].cells[1].runs[0].executions = 0;
    let scores = [
        none(&[], &[]),
        none(&[], std::slice::from_ref(&bare)),
        none(&Engine::ALL, &[]),
        none(&Engine::ALL, &[bare, empty]),
        strange,
    ];
    for score in scores {
        let pages = html(&score) + &markdown::page(&score) + &picture::svg(&score).unwrap();
        let bare = pages.split(|c: char| !c.is_alphanumeric()).find(|word| ["inf", "NaN"].contains(word));
        assert_eq!(bare, None, "{pages}");
        let picture = picture::svg(&score).unwrap();
        let values = picture.split('"').skip(1).step_by(2).filter(|value| !value.starts_with(['#', 'h']));
        let numbers = values.flat_map(|value| value.split([' ', ',', '(', ')'])).filter_map(|n| n.parse::<f64>().ok());
        let outside: Vec<f64> = numbers.filter(|n| !(0.0..=1000.0).contains(n)).collect();
        assert!(outside.is_empty(), "{outside:?}: {picture}");
    }
}

#[test]
fn files_are_replaced_whole() {
    let directory = tempfile::tempdir().unwrap();
    let inner = directory.path().join("new/reports");
    write(&tame(), &inner).unwrap();
    let open = fs::File::open(inner.join("score.json")).unwrap();
    write(&hostile(), &inner).unwrap();
    // Who was reading the old file still reads it to its end.
    #[cfg(unix)]
    assert_eq!(io::read_to_string(open).unwrap(), json(&tame()).unwrap());
    let mut names: Vec<_> = fs::read_dir(&inner).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["score.html", "score.json", "score.md", "score.svg"]);
    assert_eq!(fs::read_to_string(inner.join("score.json")).unwrap(), json(&hostile()).unwrap());
    assert_eq!(fs::read_to_string(inner.join("score.html")).unwrap(), html(&hostile()));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let plain = inner.join("plain");
        fs::write(&plain, "").unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode();
        assert_eq!(mode(&inner.join("score.json")), mode(&plain));
    }
}

#[test]
fn an_error_names_the_path_and_the_remedy() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "").unwrap();
    let error = write(&tame(), &file).unwrap_err().to_string();
    assert!(error.contains("file: ") && error.contains("name a directory"), "{error}");
    // A directory in the way of a file: the error names that file, and nothing is left behind.
    let taken = directory.path().join("taken");
    fs::create_dir_all(taken.join("score.md/x")).unwrap();
    let error = write(&tame(), &taken).unwrap_err().to_string();
    assert!(error.contains("score.md: ") && error.contains("name a directory"), "{error}");
    let left =
        fs::read_dir(&taken).unwrap().filter(|entry| entry.as_ref().unwrap().file_name() != "score.json").count();
    assert_eq!(left, 1, "a temporary file stayed");
}

#[test]
fn numbers_are_short() {
    let cases = [
        (0.0, "0"),
        (7.0, "7"),
        (22.5, "22.5"),
        (0.15, "0.150"),
        (0.0012, "0.0012"),
        (999.0, "999"),
        (999.6, "1.00k"),
        (1000.0, "1k"),
        (12_345.0, "12.3k"),
        (123_456.0, "123k"),
        (999_999.0, "1.00M"),
        (2.2e6, "2.20M"),
        (1.8e19, "18E"),
    ];
    for (value, expected) in cases {
        assert_eq!(short(value), expected, "{value}");
    }
    assert_eq!(
        (cost(None), cost(Some(f64::INFINITY)), ratio(Some(0.5))),
        ("–".into(), "missed".into(), "× 0.500".into())
    );
}

#[test]
fn every_rendering_says_what_the_summary_says() {
    let mut score = tame();
    score.rows[3].cells[2].runs.iter_mut().for_each(|run| run.outcome = Outcome::Missed);
    let (page, picture, markdown) = (html(&score), picture::svg(&score).unwrap(), markdown::page(&score));
    for (figures, expected) in Summary::of(&score).engines.iter().zip([9, 9, 8, 9, 0]) {
        assert_eq!(figures.caught, expected);
        assert!(picture.contains(&format!("\n{}: {expected}\n", figures.engine.name())), "{picture}");
        let words = engine_words(figures.engine);
        assert!(page.contains(&format!("<td>{words}</td><td class=\"number\">{expected}</td>")), "{page}");
        assert!(markdown.contains(&format!("| {words} | {expected} |")), "{markdown}");
    }
    assert!(page.contains("Not clean"));
    assert!(markdown.contains("**missed** 0/3, up to 3k"), "{markdown}");
    // The filter finds a wrong run in a cell that is caught.
    assert_eq!(page.matches("exhaustive-caught exhaustive-wrong-law ").count(), 9, "{page}");
    score.rows.truncate(3);
    score.rows.iter_mut().flat_map(|row| &mut row.cells).for_each(|cell| cell.runs.retain(|run| run.seed != Some(2)));
    let (page, markdown) = (html(&score), markdown::page(&score));
    assert!(page.contains("<b>Clean:</b>") && markdown.contains("caught 2/2, 2k |"), "{markdown}");
}
