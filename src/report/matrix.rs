//! The behaviour matrix as a page, Markdown, text and CSV.

use crate::explain::annotate;
use crate::generate::vectors::parse_hex;
use crate::probe;
use crate::report::document::{
    self, Block, Document, MatrixCell, MatrixRow, Table, collected, date, fixed, grouped, plain, run_tiles, tile,
};
use crate::report::record::Record;
use crate::report::record::matrix::{Breach, Column, Injection, Matrix, Row};
use crate::spec::Contract;
use crate::text::{counted, printable, printable_json};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

impl Matrix {
    /// The result in a few words.
    pub(super) fn answer(&self) -> String {
        let lineages: BTreeSet<&str> = self.rows.iter().map(|row| &*row.lineage).collect();
        let breaches: usize = self.rows.iter().map(|row| row.broken.len()).sum();
        format!(
            "{} of {} by {}; {} break the contract that the decoder claims.",
            counted(self.rows.len(), "decoder"),
            counted(lineages.len(), "lineage"),
            counted(self.columns.len(), "question"),
            counted(breaches, "answer")
        )
    }

    /// The rows of each package, with its name.
    fn packages(&self) -> impl Iterator<Item = (&str, &[Row])> {
        self.rows.chunk_by(|one, other| one.package == other.package).map(|rows| (&*rows[0].package, rows))
    }

    pub(super) fn page(&self, record: &Record) -> Document {
        let mut document = Document::new(format!("How UTF-8 decoders behave, {}", date(record.started)));
        let mut tiles = vec![
            tile(grouped(self.rows.len() as u64), "decoders", ""),
            tile(grouped(self.packages().count() as u64), "runtimes and packages", ""),
            tile(self.columns.len(), "questions", ""),
            tile(self.classes.len(), "ideas of what is well-formed", ""),
        ];
        tiles.extend(run_tiles(record));
        document.blocks.push(Block::Answer { words: self.answer(), is_good: true });
        document.blocks.push(Block::Tiles { tiles });
        document.paragraph(
            "Each column is a question about one input, and each cell is what the decoder answered. A red cell with an \
             exclamation mark breaks the contract that the decoder claims. Among the others nothing is right or wrong: \
             standards and documentations differ.",
        );
        document
            .blocks
            .push(Block::Fold { title: "What the symbols mean", blocks: vec![Block::Facts { facts: legend() }] });
        let names = ["runtime", "lineage", "grammar", "contract"];
        document.filters = collected(self.rows.iter().map(data), &names);
        document.items = self.rows.len();
        document.blocks.push(Block::Page { blocks: vec![Block::Filter, Block::Matrix(self.table())] });
        document.heading(2, "Who accepts what another rejects");
        document.paragraph(format!(
            "A check by one decoder does not protect another that accepts more. These are the decoders that give \
             verdicts, divided by what they accept of all strings over the 13 byte classes of up to {} bytes. For each class \
             the table has the shortest string that it accepts and strict UTF-8 rejects, and the reverse; the JSON has \
             one for each pair of classes.",
            probe::LONGEST
        ));
        document.table(self.class_table());
        document.heading(2, "Characters that were not there");
        document.paragraph(
            "These inputs do not contain the character, and some decoders write it. A check that looks for the character \
             in the bytes, or by a decoder that lets the input pass, does not find it.",
        );
        document.table(self.injection_table());
        document.heading(2, "By question");
        for (at, column) in self.columns.iter().enumerate() {
            let title = vec![plain(format!("{}: {} ", column.group, column.title)), fixed(spaced(&column.bytes))];
            let blocks = vec![Block::Table(self.answers_of(at))];
            let (level, id, class) = (3, column.id.clone(), "");
            document.blocks.push(Block::Item { level, id, title, class, open: false, data: Vec::new(), blocks });
        }
        document
    }

    fn table(&self) -> document::Matrix {
        let groups = self.columns.chunk_by(|one, other| one.group == other.group);
        let cell = |row: &Row, at: usize| {
            let seen = self.seen(row, at);
            let symbol = seen.map_or_else(String::new, |seen| seen.symbol.clone());
            let broken = row.broken.get(&self.columns[at].id);
            let class = if broken.is_some() { "breach" } else { class(&symbol) };
            let breach = broken.map(Breach::words).unwrap_or_default();
            MatrixCell { symbol, class, answer: row.cells.get(at).copied().unwrap_or_default(), breach }
        };
        let row = |row: &Row| MatrixRow {
            name: row.name.clone(),
            small: row.version.clone(),
            data: data(row),
            cells: (0..self.columns.len()).map(|at| cell(row, at)).collect(),
        };
        let opened = |column: &Column| {
            let bytes = parse_hex(&column.bytes).unwrap_or_default();
            let answers = column
                .answers
                .iter()
                .map(|seen| [&*seen.word, &*seen.says, seen.witness.as_deref().unwrap_or(&column.bytes)]);
            json!({
                "title": format!("{}: {}", column.group, column.title),
                "lines": annotate(&Contract::STANDARD, &bytes).to_string().lines().collect::<Vec<_>>(),
                "answers": answers.collect::<Vec<_>>(),
            })
        };
        let data = json!({ "columns": self.columns.iter().map(opened).collect::<Vec<_>>() });
        document::Matrix {
            groups: groups.map(|columns| (columns[0].group.clone(), columns.len())).collect(),
            columns: self.columns.iter().map(|column| column.title.clone()).collect(),
            width: self.columns.len() + 1,
            bodies: self.packages().map(|(name, rows)| (name.to_owned(), rows.iter().map(row).collect())).collect(),
            // Inside a script element nothing may look like markup.
            script_data: printable_json(&data.to_string()).replace('<', "\\u003c"),
        }
    }

    fn class_table(&self) -> Table {
        let standard = self.classes.iter().position(|class| class.decoders.iter().any(|name| name == "own"));
        let mut table = Table::new([
            "#accepted",
            "accepts, unlike strict UTF-8",
            "rejects, unlike strict UTF-8",
            "#decoders",
            "who",
        ]);
        for (at, class) in self.classes.iter().enumerate() {
            let between = |from: usize, to: usize| self.beyond.get(from)?.get(to)?.as_deref().map(spaced);
            let (more, less) = standard.map(|own| (between(at, own), between(own, at))).unwrap_or_default();
            let (more, less) = (more.unwrap_or_default(), less.unwrap_or_default());
            let numbers = [grouped(class.accepted as u64), more, less, class.decoders.len().to_string()];
            table.row(numbers.into_iter().chain([some(&class.decoders)]));
        }
        table
    }

    fn injection_table(&self) -> Table {
        let mut table = Table::new(["character", "input", "written by", "accepted, and not written, by"]);
        for Injection { character, bytes, written_by, passed_by } in &self.injections {
            table.row([character.clone(), spaced(bytes), some(written_by), some(passed_by)]);
        }
        table
    }

    /// The answers to one question, the most frequent first, and who gives them; an exclamation mark is at the names of those
    /// that break their contract.
    fn by_word(&self, at: usize) -> Vec<(&str, Vec<String>)> {
        let mut by_word: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for row in &self.rows {
            if let Some(seen) = self.seen(row, at) {
                let mark = if row.broken.contains_key(&self.columns[at].id) { "!" } else { "" };
                by_word.entry(&seen.word).or_default().push(format!("{}{mark}", row.name));
            }
        }
        let mut answers: Vec<(&str, Vec<String>)> = by_word.into_iter().collect();
        answers.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
        answers
    }

    /// A table of them.
    fn answers_of(&self, at: usize) -> Table {
        let answers = self.by_word(at);
        let mut table = Table::new(["answer", "#decoders", "who"]);
        for (place, (word, names)) in answers.iter().enumerate() {
            let who = if place == 0 && answers.len() > 1 { "the others".to_owned() } else { some(names) };
            table.row([(*word).to_owned(), names.len().to_string(), who]);
        }
        table
    }

    /// For a terminal: each question, and who gives which answer.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", self.answer())?;
        for (at, column) in self.columns.iter().enumerate() {
            writeln!(out, "\n{}: {} ({})", printable(&column.group), printable(&column.title), spaced(&column.bytes))?;
            for (word, names) in self.by_word(at) {
                writeln!(out, "  {}: {}", printable(word), printable(&some(&names)))?;
            }
        }
        Ok(())
    }

    /// Comma-separated values: a line for each decoder, with the word of each cell, and an exclamation mark where the
    /// contract is broken.
    pub(super) fn csv(&self) -> Result<Vec<u8>, csv::Error> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let head = ["decoder", "package", "version", "lineage", "contract"];
        writer.write_record(head.into_iter().chain(self.columns.iter().map(|column| &*column.id)))?;
        for row in &self.rows {
            let word = |(at, column): (usize, &Column)| {
                let mark = if row.broken.contains_key(&column.id) { "!" } else { "" };
                format!("{}{mark}", self.seen(row, at).map_or("", |seen| &*seen.word))
            };
            let head = [&row.name, &row.package, &row.version, &row.lineage, &row.contract].map(|text| printable(text));
            writer.write_record(head.into_iter().chain(self.columns.iter().enumerate().map(word)))?;
        }
        writer.into_inner().map_err(|error| error.into_error().into())
    }
}

impl Breach {
    fn words(&self) -> String {
        let link = self.link.as_ref().map(|link| format!("; known, see {link}")).unwrap_or_default();
        format!("{} of {}{link}", self.law, self.subject)
    }
}

/// What the page filters by.
fn data(row: &Row) -> document::Data {
    let contract = if row.broken.is_empty() { "kept" } else { "broken" };
    vec![
        ("runtime", vec![row.package.clone()]),
        ("lineage", vec![row.lineage.clone()]),
        ("grammar", vec![row.grammar.clone()]),
        ("contract", vec![contract.to_owned()]),
    ]
}

/// The class of a symbol in the style sheet.
pub(super) fn class(symbol: &str) -> &'static str {
    match symbol {
        "✓" | "=" | "now" => "yes",
        "✗" => "no",
        "1252" => "odd",
        "" => "",
        _ if symbol.bytes().all(|byte| byte.is_ascii_digit()) => "one",
        _ => "odd",
    }
}

fn legend() -> Vec<(&'static str, Vec<document::Span>)> {
    [
        ("✓  ✗", "accepts; rejects"),
        ("1, 2, …", "how many U+FFFD are written; for lengths, how many bytes"),
        ("∅  =", "nothing is written, or U+FEFF removed; kept, or as expected of chunks and lengths"),
        ("2?  DC  L1  1252  esc", "question marks; U+DC80 to U+DCFF; Latin-1; Windows-1252; escapes"),
        ("-", "after the rest: the next character is lost"),
        ("B0  C0  U0", "offsets in bytes, code points, UTF-16 code units, from 0 (or from 1)"),
        ("now  late  end", "text appears with its chunk, with a later one, at the end"),
    ]
    .map(|(symbols, words)| (symbols, vec![plain(words)]))
    .into()
}

/// Names in a line; of many, the first.
fn some(names: &[String]) -> String {
    const MOST: usize = 40;
    let more = names.len().saturating_sub(MOST);
    let listed = names[..names.len() - more].join(", ");
    if more > 0 { format!("{listed} and {more} more") } else { listed }
}

/// Hexadecimal digits as bytes.
pub(super) fn spaced(digits: &str) -> String {
    let pairs = digits.as_bytes().chunks(2).map(|pair| String::from_utf8_lossy(pair));
    pairs.collect::<Vec<_>>().join(" ")
}
