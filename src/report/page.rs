//! The two page formats, written from one [`Document`]: Markdown for a repository's web view, and a self-contained HTML
//! page, without network access and with only its own script.

use crate::report::document::{Block, Cell, Document, Row, Span, Style, Table};
use crate::report::exporter::Exporter;
use crate::report::record::Record;
use crate::report::tables;
use crate::text::{printable, printable_lines};
use minijinja::value::Serde;
use minijinja::{Environment, UndefinedBehavior, Value};
use std::io::{self, Write};

/// A Markdown page, as GitHub shows it.
pub struct Markdown;

/// An HTML page.
pub struct Html;

const SCRIPT: &str = include_str!("page.js");
/// The SHA-256 of the script, as written in a content security policy. `.ci/page` fails if it does not match the
/// script.
const SCRIPT_HASH: &str = "sha256-uTtMrnJj1u7195r30Pm9ut3DsHLpMmpIAXRLg5QKvZY=";

impl Exporter for Markdown {
    fn export(&self, record: &Record, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(markdown(&tables::document(record)?).as_bytes())
    }
}

impl Exporter for Html {
    fn export(&self, record: &Record, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", html(&tables::document(record)?)?)
    }
}

/// The document as one HTML page. Because the name of the template ends in `.html`, minijinja escapes every value. If
/// one got through nevertheless, the policy of the page permits only the script with the given hash.
pub(super) fn html(document: &Document) -> io::Result<String> {
    let render = || {
        let mut environment = Environment::empty();
        environment.set_auto_escape_callback(minijinja::default_auto_escape_callback);
        environment.set_undefined_behavior(UndefinedBehavior::Strict);
        environment.add_filter("safe", Value::from_safe_string);
        environment.add_filter("lines", |values: Vec<String>| values.join("\n"));
        environment.add_template("page.html", include_str!("page.html"))?;
        let mut page = serde_json::to_value(document).unwrap_or_default();
        clean("", &mut page);
        page["script"] = SCRIPT.into();
        page["script_hash"] = SCRIPT_HASH.into();
        environment.get_template("page.html")?.render(Value::from(Serde(&page)))
    };
    render().map_err(|error: minijinja::Error| io::Error::other(error))
}

/// Makes every text safe to print, on one line. A very long one is shortened, except lines of code. Pictures contain only
/// our own texts.
fn clean(name: &str, value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(_) if matches!(name, "svg" | "script_data") => {}
        serde_json::Value::String(text) if name == "lines" => *text = printable(text),
        serde_json::Value::String(text) => *text = shortened(&printable(text)),
        serde_json::Value::Array(values) => values.iter_mut().for_each(|value| clean(name, value)),
        serde_json::Value::Object(fields) => fields.iter_mut().for_each(|(name, value)| clean(name, value)),
        _ => {}
    }
}

/// The start and the end of a text of more than 500 characters, and the number of those between.
fn shortened(text: &str) -> String {
    const ENDS: (usize, usize) = (300, 100);
    let chars: Vec<char> = text.chars().collect();
    if chars.len() <= 500 {
        return text.to_owned();
    }
    let until = chars.len() - ENDS.1;
    let [first, last] = [&chars[..ENDS.0], &chars[until..]].map(|part| part.iter().collect::<String>());
    format!("{first} … {} characters … {last}", until - ENDS.0)
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
        Style::Code => format!("`{}`", printable(span.text())),
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
    let longest = lines.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}{language}\n{}\n{fence}\n", lines.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_feed_in_a_name_is_escaped() {
        let mut document = Document::new("title\nof two lines");
        document.blocks.push(Block::Heading { level: 2, text: "name\n::error".into() });
        let page = html(&document).unwrap();
        assert!(page.contains("<h2>name\\n::error</h2>") && !page.contains("\nof two lines"), "{page}");
    }
}
