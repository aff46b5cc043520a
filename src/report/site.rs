//! A static site: every report that exists as a page, the code pages of the grammars, and an index of them.

use crate::error::Error;
use crate::io::replace_file;
use crate::report::certificate;
use crate::report::chart;
use crate::report::document::{Cell, Document, Link, Table, date};
use crate::report::page::html;
use crate::report::record::{Record, SCHEMA};
use crate::report::tables;
use crate::spec::{Grammar, grammar};
use crate::text::shown as printable_path;
use serde_json::Value;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// A page that is made of one report.
struct Source {
    name: &'static str,
    about: &'static str,
    /// The report, in the directory of reports.
    file: &'static str,
    /// The version of its format.
    schema: u32,
    read: fn(&[u8]) -> Result<Shown, String>,
}

/// What the reports are read from, in the order of the index.
const SOURCES: [Source; 8] = [
    Source {
        name: "matrix",
        about: "what every decoder does, side by side",
        file: "matrix/matrix.json",
        schema: SCHEMA,
        read: of_record,
    },
    Source {
        name: "check",
        about: "every decoder against the standard: vectors, corpus, short strings",
        file: "check.json",
        schema: SCHEMA,
        read: of_record,
    },
    Source {
        name: "night",
        about: "what the last night of fuzzing found",
        file: "night/report.json",
        schema: SCHEMA,
        read: of_record,
    },
    Source {
        name: "findings",
        about: "what a triage of crash files found",
        file: "report.json",
        schema: SCHEMA,
        read: of_record,
    },
    Source {
        name: "score",
        about: "how many planted faults each engine finds, and how fast",
        file: "score/score.json",
        schema: SCHEMA,
        read: of_record,
    },
    Source {
        name: "throughput",
        about: "our decoder and its peers, in gigabytes a second",
        file: "throughput/throughput.json",
        schema: SCHEMA,
        read: of_record,
    },
    Source {
        name: "coverage",
        about: "lines that the corpus reaches",
        file: "coverage.json",
        schema: 1,
        read: of_coverage,
    },
    Source {
        name: "certificate",
        about: "what exhaustive runs covered",
        file: "certificate.json",
        schema: SCHEMA,
        read: of_certificate,
    },
];

/// A report, ready to be shown.
struct Shown {
    document: Document,
    answer: String,
    is_good: bool,
    made: String,
}

fn of_record(text: &[u8]) -> Result<Shown, String> {
    let record: Record = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    let document = tables::document(&record).map_err(|error| error.to_string())?;
    let (answer, is_good) = tables::answer(&record);
    Ok(Shown { document, answer, is_good, made: date(record.started) })
}

fn of_coverage(text: &[u8]) -> Result<Shown, String> {
    let coverage: tables::CorpusCoverage = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    Ok(Shown { document: coverage.page(), answer: coverage.answer(), is_good: true, made: String::new() })
}

fn of_certificate(text: &[u8]) -> Result<Shown, String> {
    let (answer, is_good, document) = certificate::shown_from(text)?;
    Ok(Shown { document, answer, is_good, made: String::new() })
}

/// Reads a report; `None` if it does not exist. The error says why it cannot be shown.
fn read(path: &Path, source: &Source) -> Option<Result<Shown, String>> {
    match fs::read(path) {
        Ok(text) => {
            let schema = serde_json::from_slice::<Value>(&text).ok().and_then(|value| value["schema"].as_u64());
            Some(match schema {
                Some(schema) if schema != u64::from(source.schema) => {
                    Err(format!("schema {schema}, but this version reads {}; generate it again", source.schema))
                }
                _ => (source.read)(&text),
            })
        }
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => Some(Err(error.to_string())),
    }
}

/// Writes the site of the reports in a directory, and returns which reports cannot be shown, and why. Reports that do not
/// exist are left out.
///
/// # Errors
/// A page cannot be written.
pub(crate) fn write(reports: &Path, site: &Path) -> Result<Vec<String>, Error> {
    let (mut pages, mut unread) = (Vec::new(), Vec::new());
    for source in &SOURCES {
        let path = reports.join(source.file);
        match read(&path, source) {
            Some(Ok(shown)) => pages.push((source, shown)),
            Some(Err(why)) => unread.push(format!("{}: {why}", printable_path(&path))),
            None => {}
        }
    }
    let mut links = vec![("utfuzz", INDEX.to_owned())];
    links.extend(pages.iter().map(|(source, _)| (source.name, file(source.name))));
    links.push(("code pages", chart_file(&grammar::RFC3629)));
    let mut documents = vec![(INDEX.to_owned(), index(&pages))];
    documents.extend(pages.into_iter().map(|(source, shown)| (file(source.name), shown.document)));
    documents.extend(grammar::ALL.map(|grammar| (chart_file(grammar), code_page(grammar))));
    fs::create_dir_all(site).map_err(|error| Error::io(site, &error))?;
    for (name, mut document) in documents {
        let is_chart = name.starts_with("chart-");
        let link = |(text, href): &(&'static str, String)| {
            let current = *href == name || is_chart && href.starts_with("chart-");
            Link { name: text, href: href.clone(), current }
        };
        document.pages = links.iter().map(link).collect();
        let path = site.join(&name);
        let page = html(&document).map_err(|error| Error::io(&path, &error))?;
        replace_file(&path, (page + "\n").as_bytes())?;
    }
    Ok(unread)
}

const INDEX: &str = "index.html";

fn file(name: &str) -> String {
    format!("{name}.html")
}

fn chart_file(grammar: &Grammar) -> String {
    format!("chart-{}.html", grammar.name)
}

fn index(pages: &[(&Source, Shown)]) -> Document {
    let mut document = Document::new("utfuzz: how UTF-8 decoders behave");
    document.paragraph(
        "Every decoder is held to an executable standard, and every difference is explained. These pages show the latest \
         reports.",
    );
    let mut table = Table::new(["report", "result"]);
    for (source, shown) in pages {
        table.row([
            Cell { href: file(source.name), small: Some(source.about.into()), ..Cell::from(source.name) },
            Cell { strong: !shown.is_good, small: Some(shown.made.clone()), ..Cell::from(&*shown.answer) },
        ]);
    }
    if !table.rows.is_empty() {
        document.table(table);
    }
    document.heading(2, "Code pages");
    document.table(code_pages());
    document
}

fn code_pages() -> Table {
    let mut table = Table::new(["code page", "source"]);
    for grammar in grammar::ALL {
        let name = Cell { href: chart_file(grammar), ..Cell::from(chart::title(grammar)) };
        table.row([name, Cell::from(grammar.source)]);
    }
    table
}

/// A code page, with links to the others.
fn code_page(grammar: &'static Grammar) -> Document {
    let mut document = chart::layout(grammar);
    document.heading(2, "Other grammars");
    document.table(code_pages());
    document
}
