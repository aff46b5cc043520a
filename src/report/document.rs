//! The layout of a report: headings, paragraphs, tables. Every page format is written from it; Markdown is written
//! here. Its texts contain no markup.

use crate::report::record::Record;
use crate::text::{printable, printable_lines};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// A page.
#[derive(Serialize)]
pub(super) struct Document {
    pub(super) title: String,
    /// The pages of the site that it is part of; none if it stands alone.
    pub(super) pages: Vec<Link>,
    /// The filters for rows and items: a name, and the values that occur.
    pub(super) filters: Vec<Filter>,
    /// The number of rows and items that can be filtered.
    pub(super) items: usize,
    pub(super) blocks: Vec<Block>,
}

/// A link to a page of the same site.
#[derive(Clone, Serialize)]
pub(super) struct Link {
    pub(super) name: &'static str,
    pub(super) href: String,
    /// Whether it is the page that has the link.
    pub(super) current: bool,
}

#[derive(Serialize)]
pub(super) struct Filter {
    pub(super) name: &'static str,
    pub(super) values: Vec<String>,
}

/// The values of one row or item for each filter.
pub(super) type Data = Vec<(&'static str, Vec<String>)>;

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(super) enum Block {
    /// A heading of this level, at least 2.
    Heading { level: u8, text: String },
    /// A paragraph; `alert` marks what needs attention.
    Paragraph { spans: Vec<Span>, alert: bool },
    /// The result in a few words.
    Answer { words: String, is_good: bool },
    /// The main figures of a page.
    Tiles { tiles: Vec<Tile> },
    /// Names and values, one on each line.
    Facts { facts: Vec<(&'static str, Vec<Span>)> },
    /// A table.
    Table(Table),
    /// Bytes with their reading, segment by segment.
    Bytes { lines: Vec<BytesLine> },
    /// Text in a fixed-width font.
    Code { language: &'static str, lines: Vec<String> },
    /// A picture, embedded in an HTML page; `file` is the path that a Markdown page links to.
    Figure { svg: String, file: Option<&'static str>, caption: &'static str },
    /// Blocks that are hidden together when all items in them are hidden.
    Group { blocks: Vec<Block> },
    /// An item of a list that can be filtered and folded.
    Item { level: u8, id: String, title: Vec<Span>, class: &'static str, open: bool, data: Data, blocks: Vec<Block> },
    /// Folded blocks without a heading.
    Fold { title: &'static str, blocks: Vec<Block> },
    /// A table of many columns, in which every cell can be opened; only in an HTML page.
    Matrix(Matrix),
    /// Blocks that only an HTML page shows.
    Page { blocks: Vec<Block> },
    /// The position of the filters.
    Filter,
    /// The choice of what a matrix shows: decoders by name, and a column. It is above the matrix, only in an HTML page.
    Choose,
}

/// A part of a line.
#[derive(Serialize)]
pub(super) struct Span {
    style: Style,
    text: String,
    /// The address it links to, which only an HTML page has; empty for none. Only our own text.
    href: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Style {
    Plain,
    Strong,
    /// A fixed-width font.
    Code,
    /// A fixed-width font in an HTML page; for any text.
    Fixed,
}

/// A figure in large type, and what it counts.
#[derive(Serialize)]
pub(super) struct Tile {
    pub(super) value: String,
    pub(super) name: &'static str,
    /// A class for the style sheet.
    pub(super) class: &'static str,
}

/// A line of [`crate::explain::annotate`].
#[derive(Serialize)]
pub(super) struct BytesLine {
    /// The whole line, for Markdown.
    pub(super) text: String,
    pub(super) offset: String,
    pub(super) bytes: String,
    pub(super) reading: Vec<Span>,
    /// Whether the bytes are ill-formed.
    pub(super) alert: bool,
}

#[derive(Default, Serialize)]
pub(super) struct Table {
    pub(super) caption: &'static str,
    /// A class for the style sheet.
    pub(super) class: &'static str,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Row>,
}

#[derive(Serialize)]
pub(super) struct Column {
    pub(super) name: String,
    /// Whether the column contains numbers, which are aligned to the right.
    pub(super) number: bool,
}

#[derive(Default, Serialize)]
pub(super) struct Row {
    pub(super) class: &'static str,
    pub(super) data: Data,
    pub(super) cells: Vec<Cell>,
}

/// A table of symbols.
#[derive(Serialize)]
pub(super) struct Matrix {
    /// The headings above the columns, and how many columns each is about.
    pub(super) groups: Vec<(String, usize)>,
    /// For each column its title and input.
    pub(super) columns: Vec<[String; 2]>,
    /// The number of columns, with that of the names.
    pub(super) width: usize,
    /// The rows that belong together, and what they have in common.
    pub(super) bodies: Vec<(String, Vec<MatrixRow>)>,
    /// What is shown when a cell is opened: JSON that the script of the page reads, without markup.
    pub(super) script_data: String,
}

#[derive(Serialize)]
pub(super) struct MatrixRow {
    pub(super) name: String,
    /// A second, smaller line.
    pub(super) small: String,
    /// The contract that the decoder claims.
    pub(super) claim: String,
    /// The shortest string that it accepts and strict UTF-8 rejects, or that there is none; empty if that is not known.
    pub(super) beyond: String,
    pub(super) data: Data,
    pub(super) cells: Vec<MatrixCell>,
}

#[derive(Serialize)]
pub(super) struct MatrixCell {
    pub(super) symbol: String,
    /// A class for the style sheet.
    pub(super) class: &'static str,
    /// The index of the answer.
    pub(super) answer: usize,
    /// How the contract is broken here; empty if it is kept.
    pub(super) breach: String,
}

/// A cell of a table.
#[derive(Default, Serialize)]
pub(super) struct Cell {
    pub(super) text: String,
    /// Whether it is the heading of its row.
    pub(super) head: bool,
    pub(super) strong: bool,
    pub(super) code: bool,
    /// A class for the style sheet.
    pub(super) class: String,
    /// An address, in an HTML page. Only our own text.
    pub(super) href: String,
    /// The tooltip.
    pub(super) title: String,
    /// A second, smaller line in an HTML page.
    pub(super) small: Option<String>,
    /// What is shown when the cell is unfolded.
    pub(super) details: Vec<String>,
}

impl Document {
    pub(super) fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), pages: Vec::new(), filters: Vec::new(), items: 0, blocks: Vec::new() }
    }

    pub(super) fn heading(&mut self, level: u8, text: impl Into<String>) {
        self.blocks.push(Block::Heading { level, text: text.into() });
    }

    pub(super) fn paragraph(&mut self, text: impl Into<String>) {
        self.blocks.push(paragraph([plain(text)]));
    }

    pub(super) fn table(&mut self, table: Table) {
        self.blocks.push(Block::Table(table));
    }
}

/// The filters of these names, with the values that occur.
pub(super) fn collected(data: impl Iterator<Item = Data>, names: &[&'static str]) -> Vec<Filter> {
    let mut values: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for (name, of) in data.flatten() {
        values.entry(name).or_default().extend(of);
    }
    let filter =
        |name: &&'static str| Filter { name, values: values.remove(*name).unwrap_or_default().into_iter().collect() };
    names.iter().map(filter).collect()
}

pub(super) fn paragraph(spans: impl IntoIterator<Item = Span>) -> Block {
    Block::Paragraph { spans: spans.into_iter().collect(), alert: false }
}

pub(super) fn code(language: &'static str, text: &str) -> Block {
    Block::Code { language, lines: text.trim_end_matches('\n').split('\n').map(str::to_owned).collect() }
}

fn span(style: Style, text: impl Into<String>, href: &'static str) -> Span {
    Span { style, text: text.into(), href }
}

pub(super) fn linked(text: impl Into<String>, href: &'static str) -> Span {
    span(Style::Plain, text, href)
}

pub(super) fn tile(value: impl ToString, name: &'static str, class: &'static str) -> Tile {
    Tile { value: value.to_string(), name, class }
}

/// Time, version and machine of a run.
pub(super) fn run_tiles(record: &Record) -> Vec<Tile> {
    let processor = record.machine.processor.as_deref().and_then(|name| name.split(',').next());
    vec![
        tile(duration(record.seconds), "time", ""),
        tile(&record.version, "version of utfuzz", ""),
        tile(processor.unwrap_or(&record.machine.target), "machine", ""),
    ]
}

pub(super) fn plain(text: impl Into<String>) -> Span {
    span(Style::Plain, text, "")
}

pub(super) fn strong(text: impl Into<String>) -> Span {
    span(Style::Strong, text, "")
}

pub(super) fn command(text: impl Into<String>) -> Span {
    span(Style::Code, text, "")
}

pub(super) fn fixed(text: impl Into<String>) -> Span {
    span(Style::Fixed, text, "")
}

impl Span {
    pub(super) fn style(&self) -> Style {
        self.style
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    #[cfg(test)]
    pub(super) fn href(&self) -> &str {
        self.href
    }
}

impl Table {
    /// A table with these columns; a name that begins with `#` marks a column of numbers.
    pub(super) fn new<N: AsRef<str>>(columns: impl IntoIterator<Item = N>) -> Self {
        let column = |name: N| match name.as_ref().strip_prefix('#') {
            Some(name) => Column { name: name.to_owned(), number: true },
            None => Column { name: name.as_ref().to_owned(), number: false },
        };
        Self { columns: columns.into_iter().map(column).collect(), ..Self::default() }
    }

    pub(super) fn row<C: Into<Cell>>(&mut self, cells: impl IntoIterator<Item = C>) {
        self.rows.push(Row { cells: cells.into_iter().map(Into::into).collect(), ..Row::default() });
    }

    /// The table as lines of text, each column as wide as its widest cell.
    pub(super) fn plain_text(&self) -> String {
        let cells = |row: &Row| row.cells.iter().map(|cell| crate::text::printable(&cell.text)).collect::<Vec<_>>();
        let heads = self.columns.iter().map(|column| column.name.clone()).collect();
        let lines: Vec<Vec<String>> = [heads].into_iter().chain(self.rows.iter().map(cells)).collect();
        let width = |at: usize| lines.iter().filter_map(|line| line.get(at)).map(|cell| cell.chars().count()).max();
        let widths: Vec<usize> = (0..self.columns.len()).map(|at| width(at).unwrap_or(0)).collect();
        let mut text = String::new();
        for line in lines {
            let padded =
                line.iter().zip(&widths).zip(&self.columns).map(|((cell, &width), column)| match column.number {
                    true => format!("{cell:>width$}"),
                    false => format!("{cell:<width$}"),
                });
            text += padded.collect::<Vec<_>>().join("  ").trim_end();
            text.push('\n');
        }
        text
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self { text, ..Self::default() }
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

/// At most three significant digits, with a suffix for the power of a thousand.
pub(super) fn short(value: f64) -> String {
    let (mut value, mut suffixes) = (value, ["", "k", "M", "G", "T", "P", "E"].iter());
    let mut suffix = suffixes.next().copied().unwrap_or_default();
    while value >= 999.5 {
        let Some(next) = suffixes.next() else { break };
        (value, suffix) = (value / 1000.0, next);
    }
    let decimals = match value {
        _ if value.fract() == 0.0 || value >= 99.95 => 0,
        _ if value >= 9.995 => 1,
        _ if value >= 0.9995 => 2,
        _ if value >= 0.09995 => 3,
        _ => 4,
    };
    format!("{value:.decimals$}{suffix}")
}

/// A time in one or two units.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        s if s >= 3599.5 => {
            format!("{:.0} h {:.0} min", (s / 60.0).round().div_euclid(60.0), (s / 60.0).round() % 60.0)
        }
        s if s >= 59.5 => format!("{:.0} min {:.0} s", s.round().div_euclid(60.0), s.round() % 60.0),
        s if s >= 9.95 => format!("{s:.0} s"),
        s => format!("{s:.1} s"),
    }
}

/// Three significant digits, at most two of them decimals.
pub(super) fn three(value: f64) -> String {
    let decimals = match value {
        _ if value >= 99.95 => 0,
        _ if value >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}

/// A number with its digits in groups of three.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// The date of a time in seconds since 1970, as YYYY-MM-DD in UTC; the number of seconds if it is out of range.
pub(super) fn date(seconds: u64) -> String {
    let time = i64::try_from(seconds).ok().and_then(|seconds| jiff::Timestamp::from_second(seconds).ok());
    time.map_or_else(|| format!("second {seconds}"), |time| time.strftime("%Y-%m-%d").to_string())
}

/// How a citation starts, and the address of the clause; the first that fits is taken.
const CLAUSES: [(&str, &str); 10] = [
    ("RFC 3629 §1", "https://www.rfc-editor.org/rfc/rfc3629#section-1"),
    ("RFC 3629 §3", "https://www.rfc-editor.org/rfc/rfc3629#section-3"),
    ("RFC 3629 §4", "https://www.rfc-editor.org/rfc/rfc3629#section-4"),
    ("RFC 2279 §2", "https://www.rfc-editor.org/rfc/rfc2279#section-2"),
    ("Unicode Table 3-7", "https://www.unicode.org/versions/latest/core-spec/chapter-3/#G27506"),
    ("Unicode D93b", "https://www.unicode.org/versions/latest/core-spec/chapter-3/#G66453"),
    ("Unicode D14", "https://www.unicode.org/versions/latest/core-spec/chapter-3/"),
    ("UTR #26", "https://www.unicode.org/reports/tr26/"),
    ("The WTF-8 encoding", "https://wtf-8.codeberg.page/"),
    (
        "Java SE java.io.DataInput",
        "https://docs.oracle.com/en/java/javase/21/docs/api/java.base/java/io/DataInput.html",
    ),
];

/// A source as [`crate::spec::Rule`] names it, with a link for each citation.
pub(super) fn cited(source: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    for (index, citation) in source.split("; ").enumerate() {
        spans.extend((index > 0).then(|| plain("; ")));
        let clause = CLAUSES.iter().find(|(start, _)| citation.starts_with(start));
        spans.push(clause.map_or_else(|| plain(citation), |(_, address)| linked(citation, address)));
    }
    spans
}

/// The document as Markdown.
pub(super) fn markdown(document: &Document) -> String {
    let mut page = format!("# {}\n", escaped(&document.title));
    document.blocks.iter().for_each(|block| write(block, &mut page));
    page
}

fn write(block: &Block, page: &mut String) {
    let text = match block {
        Block::Heading { level, text } => format!("{} {}\n", "#".repeat((*level).into()), escaped(text)),
        Block::Paragraph { spans, .. } => format!("{}\n", block_start(line(spans))),
        Block::Facts { facts } => {
            facts.iter().map(|(name, spans)| format!("- {}: {}\n", escaped(name), line(spans))).collect()
        }
        Block::Table(of) => table(of),
        Block::Answer { words, .. } => format!("**{}**\n", escaped(words)),
        Block::Tiles { tiles } => {
            tiles.iter().map(|tile| format!("- {}: {}\n", escaped(tile.name), escaped(&tile.value))).collect()
        }
        Block::Bytes { lines } => fenced("text", &lines.iter().map(|line| &*line.text).collect::<Vec<_>>().join("\n")),
        Block::Code { language, lines } => fenced(language, &lines.join("\n")),
        Block::Figure { file: Some(file), caption, .. } => format!("![{}]({file})\n", escaped(caption)),
        Block::Item { level, title, blocks, .. } => {
            *page += &format!("\n{} {}\n", "#".repeat((*level).into()), line(title));
            return blocks.iter().for_each(|block| write(block, page));
        }
        Block::Group { blocks } | Block::Fold { blocks, .. } => {
            return blocks.iter().for_each(|block| write(block, page));
        }
        Block::Figure { .. } | Block::Page { .. } | Block::Filter | Block::Choose | Block::Matrix(_) => return,
    };
    *page += &format!("\n{text}");
}

fn line(spans: &[Span]) -> String {
    let span = |span: &Span| match span.style() {
        Style::Code => code_span(span.text()),
        Style::Strong => format!("**{}**", escaped(span.text())),
        Style::Plain | Style::Fixed => escaped_part(span.text()),
    };
    spans.iter().map(span).collect::<String>().trim().to_owned()
}

/// Escapes what would start a list or a heading at the start of a line.
fn block_start(line: String) -> String {
    let digits = line.chars().take_while(char::is_ascii_digit).count();
    match line[digits..].chars().next() {
        Some('.' | ')') if digits > 0 => format!("{}\\{}", &line[..digits], &line[digits..]),
        Some('-' | '+' | '=') if digits == 0 => format!("\\{line}"),
        _ => line,
    }
}

fn table(table: &Table) -> String {
    let cells = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut text = match table.caption {
        "" => String::new(),
        caption => format!("{}\n\n", escaped(caption)),
    };
    text += &cells(table.columns.iter().map(|column| escaped(&column.name)).collect());
    text += &cells(table.columns.iter().map(|column| if column.number { "--:" } else { "---" }.into()).collect());
    let cell = |cell: &Cell| match escaped(&cell.text) {
        text if cell.strong && !text.is_empty() => format!("**{text}**"),
        // The details of a heading are those of its row, and only in the page.
        text if !cell.head && !cell.details.is_empty() => {
            let details = cell.details.iter().map(|line| escaped(line)).collect::<Vec<_>>().join(", ");
            format!("<details><summary>{text}</summary>{details}</details>")
        }
        text => text,
    };
    table.rows.iter().for_each(|Row { cells: of, .. }| text += &cells(of.iter().map(cell).collect()));
    text
}

/// Escapes text inside a line, so that it contains no markup, HTML, link, or end of a table cell.
fn escaped(text: &str) -> String {
    escaped_part(text).trim().to_owned()
}

fn escaped_part(text: &str) -> String {
    let mut escaped = String::new();
    let text = printable(text);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        // A colon before a space starts neither a link nor an emoji.
        let is_markup = match c {
            ':' => chars.peek() != Some(&' '),
            _ => "\\`*_[]<>|~&$@!#".contains(c),
        };
        if is_markup {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    // GitHub turns this into a link without any markup.
    escaped.replace("www.", "www\\.")
}

/// Several lines as a fenced code block.
fn fenced(language: &str, text: &str) -> String {
    let lines = printable_lines(text);
    let fence = "`".repeat(3.max(longest_run(&lines) + 1));
    format!("{fence}{language}\n{}\n{fence}\n", lines.trim_end())
}

/// Text as code in a line.
fn code_span(text: &str) -> String {
    let text = printable(text);
    match longest_run(&text) {
        0 => format!("`{text}`"),
        longest => {
            let fence = "`".repeat(longest + 1);
            format!("{fence} {text} {fence}")
        }
    }
}

/// The most backticks in a row; a fence of more is not ended by the text.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::{Rule, grammar};
    use crate::utf8::Kind;

    #[test]
    fn days_are_those_of_the_calendar() {
        for (seconds, day) in [
            (0, "1970-01-01"),
            (951_782_399, "2000-02-28"),
            (951_782_400, "2000-02-29"),
            (1_798_761_599, "2026-12-31"),
            (4_107_542_400, "2100-03-01"),
            (u64::MAX, "second 18446744073709551615"),
        ] {
            assert_eq!(date(seconds), day);
        }
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
        assert_eq!([0, 12, 123, 1234, 4_294_967_296].map(grouped), ["0", "12", "123", "1,234", "4,294,967,296"]);
    }

    #[test]
    fn times_are_rounded() {
        let cases = [
            (0.04, "0.0 s"),
            (9.94, "9.9 s"),
            (17.775_874_114, "18 s"),
            (59.6, "1 min 0 s"),
            (3599.4, "59 min 59 s"),
            (3599.6, "1 h 0 min"),
            (86_400.0, "24 h 0 min"),
            (f64::NAN, "NaN s"),
        ];
        for (seconds, expected) in cases {
            assert_eq!(duration(seconds), expected);
        }
    }

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(["name", "#count"]);
        table.row(["a", "1000"]);
        table.row(["long\u{1B}", "7"]);
        assert_eq!(table.plain_text(), "name        count\na            1000\nlong\\u{1b}      7\n");
    }

    /// Every source that a report can cite has an address, and every address is cited.
    #[test]
    fn every_source_has_an_address() {
        let mut sources: Vec<&str> = grammar::ALL.iter().map(|grammar| grammar.source).collect();
        for kind in Kind::ALL {
            let rests = [&b"\xF0"[..], b"\xED\xA0\x80"];
            sources.extend(rests.map(|rest| Rule::broken(&grammar::RFC3629, kind, rest).source));
        }
        let cited: Vec<Span> = sources.iter().flat_map(|source| cited(source)).collect();
        let missing: Vec<&str> =
            cited.iter().filter(|span| span.href().is_empty() && span.text() != "; ").map(Span::text).collect();
        assert_eq!(missing, Vec::<&str>::new());
        let unused = CLAUSES.iter().filter(|(_, address)| cited.iter().all(|span| span.href() != *address));
        assert_eq!(unused.collect::<Vec<_>>(), Vec::<&(&str, &str)>::new());
    }

    #[test]
    fn a_backtick_does_not_end_a_code_span() {
        for (text, span) in [("check", "`check`"), ("a `b` c", "`` a `b` c ``"), ("``", "``` `` ```")] {
            assert_eq!(line(&[command(text)]), span);
        }
    }
}
