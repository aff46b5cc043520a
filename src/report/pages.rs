//! Pages other than those of single records: the explanation of an input, for people, in a terminal or as a page, and
//! for programs; and a static site with every report that exists as a page, the byte charts of the grammars, and an
//! index of them.

use crate::case::Case;
use crate::decoder::Decoder;
use crate::error::Error;
use crate::explain::{Family, Grid, Guess, Window, annotate_from, bits};
use crate::io::replace_file;
use crate::report::document::{Block, Cell, Document, Link, Table, code, date, paragraph, plain, strong};
use crate::report::exporter::html;
use crate::report::record::{Answer, FileName, Record, Rule, SCHEMA, answers};
use crate::report::{certificate, chart, tables};
use crate::spec::{Contract, Grammar, Reading, code_points, grammar, segments, validity};
use crate::text::{counted, hex, shown as printable_path};
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;
use std::io::ErrorKind;
use std::path::Path;
use std::{fs, io};

/// What an input is, what is wrong with it, what probably happened, and what decoders make of it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Explanation {
    /// How many bytes the input has.
    pub(crate) bytes: u64,
    /// How the bytes were given: `bytes`, or the notation of an argument.
    pub(crate) notation: String,
    /// The file, if it is one.
    #[serde(flatten)]
    pub(crate) path: Option<FileName>,
    /// The grammar by which it is read.
    pub(crate) grammar: String,
    /// Whether all of it is well-formed.
    pub(crate) valid: bool,
    /// The number of ill-formed segments.
    pub(crate) faults: u64,
    /// The first of them.
    pub(crate) first: Option<Fault>,
    /// The part that the fields below are about, all of a short input: its offset and its length in bytes.
    pub(crate) part: (u64, u64),
    /// The segments of the part; only the first 1000.
    pub(crate) segments: Vec<Segment>,
    /// What probably happened.
    pub(crate) guesses: Vec<Probably>,
    /// The decoders of each grammar, by verdict.
    pub(crate) families: Vec<Verdicts>,
    /// Every answer.
    pub(crate) answers: Vec<Answer>,
    /// Whether another notation may have been meant.
    #[serde(skip)]
    pub(crate) doubtful: bool,
    #[serde(skip)]
    lines: Vec<String>,
    #[serde(skip)]
    bits: String,
    #[serde(skip)]
    grid: String,
}

/// The first ill-formed segment.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Fault {
    /// Its offset in bytes.
    pub(crate) offset: u64,
    /// Its line, counted from 1.
    pub(crate) line: u64,
    /// Its bytes.
    pub(crate) hex: String,
    /// The kind of error.
    pub(crate) kind: String,
    /// The clause it breaks.
    pub(crate) rule: Rule,
}

/// A well-formed sequence, or an ill-formed segment.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Segment {
    /// Its offset in bytes.
    pub(crate) offset: u64,
    /// Its bytes.
    pub(crate) hex: String,
    /// The code point; `null` if it is ill-formed.
    pub(crate) code_point: Option<u32>,
    /// The kind of error; `null` if it is well-formed.
    pub(crate) kind: Option<String>,
}

/// What probably happened to the input.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Probably {
    /// `double-encoding`, `single-byte`, `encoding`, `cut` or `replaced`.
    pub(crate) guess: String,
    /// One sentence.
    pub(crate) says: String,
    /// A command that repairs the file.
    pub(crate) repair: Option<String>,
}

/// The decoders of one grammar.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Verdicts {
    /// The name of the grammar.
    pub(crate) grammar: String,
    /// Those that accept the part.
    pub(crate) accept: Vec<String>,
    /// Those that reject it.
    pub(crate) reject: Vec<String>,
    #[serde(skip)]
    says: String,
}

impl Explanation {
    /// Asks the decoders about a window, and sums up.
    pub(crate) fn of(
        contract: &Contract,
        window: &Window,
        notation: &str,
        path: Option<FileName>,
        decoders: &[&dyn Decoder],
    ) -> Self {
        let bytes = &window.bytes[..];
        let grid = Grid::of(contract, decoders.iter().copied(), &Case::new(bytes));
        let file = path.as_ref().map_or("FILE", FileName::word).to_owned();
        let guesses = Guess::all(contract, window).into_iter().map(|guess| Probably {
            guess: guess.name.into(),
            says: guess.says,
            repair: guess.repair.map(|arguments| format!("utfuzz {arguments} {file}")),
        });
        let families = Family::all(&grid, decoders.iter().copied()).into_iter().map(|family| Verdicts {
            says: family.says(),
            grammar: family.grammar.into(),
            accept: family.accept.iter().map(ToString::to_string).collect(),
            reject: family.reject.iter().map(ToString::to_string).collect(),
        });
        let is_long = !window.is_whole();
        Self {
            bytes: window.total,
            notation: notation.into(),
            path,
            grammar: contract.grammar.name.into(),
            valid: window.faults == 0,
            faults: window.faults,
            first: first(contract, window),
            part: (window.start, bytes.len() as u64),
            segments: shown(contract, window),
            guesses: guesses.collect(),
            families: families.collect(),
            answers: answers(&grid),
            doubtful: false,
            lines: lines(contract, window, is_long),
            bits: bits(contract, bytes),
            grid: grid.to_string(),
        }
    }

    /// The first screen: what it is, what is wrong, what to do; and with `details` the bits and all answers.
    pub(crate) fn text(&self, details: bool) -> String {
        let [head, annotated, decoded] = &self.lines[..] else { return String::new() };
        let mut text = format!("{head}\n");
        // Writing to a `String` cannot fail.
        if self.doubtful {
            let _ = writeln!(text, "given in {}; --text explains the characters as they are", self.notation);
        }
        if let Some(first) = &self.first
            && (self.faults > 1 || first.line > 1)
        {
            let _ = writeln!(text, "{}, the first in line {}", counted(self.faults as usize, "error"), first.line);
        }
        for Probably { says, repair, .. } in &self.guesses {
            let _ = writeln!(text, "probably: {}", crate::text::printable(says));
            if let Some(repair) = repair {
                let _ = writeln!(text, "repair:   {repair}");
            }
        }
        let _ = write!(text, "\n{annotated}\n");
        if details && !self.bits.is_empty() {
            let _ = writeln!(text, "{}", self.bits);
        }
        let _ = writeln!(text, "decoded: {decoded}\n");
        if details {
            return text + &self.grid;
        }
        let count = |side: fn(&Verdicts) -> usize| self.families.iter().map(side).sum::<usize>();
        let (accept, reject) = (count(|family| family.accept.len()), count(|family| family.reject.len()));
        if accept == 0 || reject == 0 {
            let does = if accept == 0 { "reject" } else { "accept" };
            return text
                + &match accept + reject {
                    0 => "no decoder says whether it is well-formed; -v shows their answers\n".to_owned(),
                    1 => format!("the only decoder that answers {does}s it; -v shows its answer\n"),
                    count => format!("all {count} decoders {does} it; -v shows their answers\n"),
                };
        }
        let width = self.families.iter().map(|family| family.grammar.len()).max().unwrap_or(0);
        for Verdicts { grammar, says, .. } in &self.families {
            let _ = writeln!(text, "decoders of {grammar:width$}  {says}");
        }
        text + "-v shows the answers of every decoder\n"
    }

    /// A self-contained HTML page.
    ///
    /// # Errors
    /// The page cannot be rendered.
    pub(crate) fn page(&self) -> io::Result<String> {
        let [head, annotated, decoded] = &self.lines[..] else { return Ok(String::new()) };
        let mut document = Document::new("Explanation");
        document.blocks.push(paragraph([strong(head)]));
        for Probably { says, repair, .. } in &self.guesses {
            let repair = repair.as_ref().map_or(String::new(), |command| format!(" Repair: {command}"));
            document.paragraph(format!("Probably: {says}.{repair}"));
        }
        document.blocks.push(code("text", annotated));
        document.blocks.push(paragraph([plain(format!("Decoded: {decoded}"))]));
        document.heading(2, "Decoders");
        let mut table = Table::new(["grammar", "what they do"]);
        self.families.iter().for_each(|family| table.row([&*family.grammar, &*family.says]));
        document.table(table);
        let mut table = Table::new(["question", "answer", "as the grammar", "decoders"]);
        for answer in &self.answers {
            let agrees = if answer.arbiter { "yes" } else { "no" };
            table.row([&*answer.question, &*answer.answer, agrees, &answer.decoders.join(", ")]);
        }
        document.table(table);
        if !self.bits.is_empty() {
            document.blocks.push(Block::Fold { title: "Bits", blocks: vec![code("text", &self.bits)] });
        }
        html(&document)
    }
}

/// The head line, the annotated bytes, and the code points.
fn lines(contract: &Contract, window: &Window, is_long: bool) -> Vec<String> {
    const MOST: usize = 64;
    let (bytes, total) = (&window.bytes[..], counted(window.total as usize, "byte"));
    let head = match (is_long, window.first) {
        (false, _) => format!("{total}: {}", validity(contract, bytes)),
        (true, None) => format!("{total}: valid"),
        (true, Some((offset, _))) => format!("{total}: invalid at {offset}"),
    };
    let until = window.start + bytes.len() as u64;
    let part = if is_long { format!("bytes {} to {until}:\n", window.start) } else { String::new() };
    let annotated = part + &annotate_from(contract, bytes, window.start);
    let named: Vec<String> = code_points(contract, bytes).take(MOST).map(|point| format!("U+{point:04X}")).collect();
    let more = if is_long { usize::MAX } else { code_points(contract, bytes).skip(MOST).count() };
    let more = match more {
        0 => String::new(),
        usize::MAX => " …".to_owned(),
        more => format!(" … {more} more"),
    };
    vec![head, annotated, named.join(" ") + &more]
}

fn first(contract: &Contract, window: &Window) -> Option<Fault> {
    let (offset, line) = window.first?;
    let rest = window.bytes.get(usize::try_from(offset.checked_sub(window.start)?).ok()?..)?;
    let segment = segments(contract, rest).next()?;
    let Reading::IllFormed { kind, .. } = segment.reading else { return None };
    let broken = crate::spec::Rule::broken(contract.grammar, kind, rest);
    let rule = Rule { says: broken.says, source: broken.source.to_owned() };
    Some(Fault { offset, line, hex: hex(&rest[segment.range()]), kind: kind.to_string(), rule })
}

fn shown(contract: &Contract, window: &Window) -> Vec<Segment> {
    const MOST: usize = 1000;
    let segment = |segment: crate::spec::Segment| {
        let (code_point, kind) = match segment.reading {
            Reading::WellFormed(code_point) => (Some(code_point), None),
            Reading::IllFormed { kind, .. } => (None, Some(kind.to_string())),
        };
        let part = &window.bytes[segment.range()];
        Segment { offset: window.start + segment.start as u64, hex: hex(part), code_point, kind }
    };
    segments(contract, &window.bytes).take(MOST).map(segment).collect()
}

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
        file: "triage/report.json",
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
    links.push(("byte charts", chart_file(&grammar::RFC3629)));
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
    let mut table = Table::new(["byte chart", "source"]);
    for grammar in grammar::ALL {
        let name = Cell { href: chart_file(grammar), ..Cell::from(chart::title(grammar)) };
        table.row([name, Cell::from(grammar.source)]);
    }
    table
}

/// A byte chart, with links to the others.
fn code_page(grammar: &'static Grammar) -> Document {
    let mut document = chart::layout(grammar);
    document.heading(2, "Other grammars");
    document.table(code_pages());
    document
}
