//! The behaviour matrix as a page, Markdown, text and CSV.

use crate::codec::convert::Encoding;
use crate::explain::annotate;
use crate::generate::vectors::parse_hex;
use crate::probe;
use crate::report::document::{
    self, Block, Cell, Document, MatrixCell, MatrixRow, Table, collected, date, fixed, grouped, paragraph, plain,
    run_tiles, tile,
};
use crate::report::record::Record;
use crate::report::record::matrix::{Breach, Column, Injection, Matrix, Row, Seen, Units};
use crate::spec::grammar::RFC3629;
use crate::spec::{Contract, Grammar, validity};
use crate::text::{counted, printable, printable_json};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

/// A decoder of strict UTF-8.
const STRICT: &str = "own";

impl Matrix {
    /// The result in a few words.
    pub(super) fn answer(&self) -> String {
        let lineages: BTreeSet<&str> = self.rows.iter().map(|row| &*row.lineage).collect();
        let breaches: usize = self.rows.iter().map(|row| row.broken.len()).sum();
        let units = match self.units.iter().map(|units| units.rows.len()).sum() {
            0 => String::new(),
            more => format!(" {} of UTF-16 or UTF-32: a table for each encoding.", counted(more, "decoder")),
        };
        format!(
            "{} of {}, {}; {} break the contract that the decoder claims.{units}",
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
        document.paragraph(format!(
            "{} Each column is a question about one input, and each cell is what the decoder answered. A red cell with an \
             exclamation mark breaks the contract that the decoder claims; the other cells are not judged, since standards and \
             documentation differ.",
            self.answer()
        ));
        document
            .blocks
            .push(Block::Fold { title: "What the symbols mean", blocks: vec![Block::Facts { facts: legend() }] });
        let names = ["runtime", "lineage", "grammar", "contract"];
        document.filters = collected(self.rows.iter().map(data), &names);
        document.items = self.rows.len();
        let how = "To look something up, type a part of a decoder's name or runtime and choose a question: the answers appear in words \
                   above the table. Choose a cell to see the input and the answer in full, or the head of a column to sort by \
                   it.";
        let blocks = vec![paragraph([plain(how)]), Block::Choose, Block::Filter, Block::Matrix(self.table())];
        document.blocks.push(Block::Page { blocks });
        document.heading(2, "Who accepts what another rejects");
        document.paragraph(format!(
            "A check by one decoder does not protect another that accepts more. Every string of up to {} bytes from 13 \
             classes of bytes was tried, and some longer ones; decoders that accept the same strings are in one group. The table has the \
             shortest string that a group accepts and strict UTF-8 rejects, and the reverse; matrix.json has one for each \
             pair of groups.",
            probe::LONGEST
        ));
        document.table(self.class_table());
        document.heading(2, "Characters produced from bytes that do not contain them");
        document.paragraph(
            "These inputs do not contain the character, and some decoders write it. A search for its byte misses it, and \
             so does a check by a decoder that accepts the input without writing it.",
        );
        document.table(self.injection_table());
        document.heading(2, "Decoders of other grammars");
        document.paragraph(
            "The decoders that claim another grammar than that of RFC 3629, each grammar by itself: what the grammar has, \
             and what its decoders do.",
        );
        for grammar in
            self.rows.iter().map(|row| &*row.grammar).filter(|name| *name != RFC3629.name).collect::<BTreeSet<_>>()
        {
            let rows = counted(self.rows.iter().filter(|row| row.grammar == grammar).count(), "decoder");
            let source = Grammar::named(grammar).map_or_else(String::new, |grammar| format!(", {}", grammar.source));
            let title = vec![plain(format!("{grammar}{source}: {rows}"))];
            let blocks = vec![Block::Table(self.grammar_table(grammar))];
            let (level, id, class) = (3, format!("grammar-{grammar}"), "");
            document.blocks.push(Block::Item { level, id, title, class, open: false, data: Vec::new(), blocks });
        }
        if !self.units.is_empty() {
            document.heading(2, "Decoders of UTF-16 and UTF-32");
            document.paragraph(
                "Each encoding by itself: whether the input is well-formed by the Unicode Standard, which does not define UCS-2 \
                 and UCS-4, and what the decoders do. They claim no contract, so no answer is judged. An input in UTF-16 or UTF-32 without a byte order in its name begins with a \
                 byte order mark, unless the question is about that.",
            );
        }
        for units in &self.units {
            let title = vec![plain(format!("{}: {}", units.encoding, counted(units.rows.len(), "decoder")))];
            let versions: BTreeSet<_> =
                units.rows.iter().map(|row| format!("{} {}", row.package, row.version)).collect();
            let versions = versions.into_iter().collect::<Vec<_>>().join(", ");
            let blocks = vec![paragraph([plain(format!("Of {versions}."))]), Block::Table(units.table())];
            let (level, id, class) = (3, format!("encoding-{}", units.encoding.to_lowercase()), "");
            document.blocks.push(Block::Item { level, id, title, class, open: false, data: Vec::new(), blocks });
        }
        document.heading(2, "By question");
        for (at, column) in self.columns.iter().enumerate() {
            let title = vec![plain(format!("{}: {} ", column.group, column.title)), fixed(spaced(&column.bytes))];
            let blocks = vec![Block::Table(self.answers_of(at))];
            let (level, id, class) = (3, column.id.clone(), "");
            document.blocks.push(Block::Item { level, id, title, class, open: false, data: Vec::new(), blocks });
        }
        document.heading(2, "What was run");
        let mut tiles = vec![
            tile(grouped(self.rows.len() as u64), "decoders", ""),
            tile(grouped(self.packages().count() as u64), "runtimes and packages", ""),
            tile(self.columns.len(), "questions", ""),
            tile(self.classes.len(), "different sets of accepted strings", ""),
        ];
        if !self.units.is_empty() {
            let count: usize = self.units.iter().map(|units| units.rows.len()).sum();
            tiles.push(tile(grouped(count as u64), "decoders of UTF-16 and UTF-32", ""));
        }
        tiles.extend(run_tiles(record));
        document.blocks.push(Block::Tiles { tiles });
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
            claim: row.contract.clone(),
            beyond: self.beyond_strict(&row.name),
            data: data(row),
            cells: (0..self.columns.len()).map(|at| cell(row, at)).collect(),
        };
        let opened = |column: &Column| {
            let bytes = parse_hex(&column.bytes).unwrap_or_default();
            let answers = column.answers.iter().map(|seen| {
                [&*seen.word, &spaced_output(&seen.says), seen.witness.as_deref().unwrap_or(&column.bytes)]
                    .map(str::to_owned)
            });
            json!({
                "title": format!("{}: {}", column.group, column.title),
                "bytes": spaced(&column.bytes),
                "lines": annotate(&Contract::STANDARD, &bytes).to_string().lines().collect::<Vec<_>>(),
                "answers": answers.collect::<Vec<_>>(),
            })
        };
        let data = json!({ "columns": self.columns.iter().map(opened).collect::<Vec<_>>() });
        document::Matrix {
            groups: groups.map(|columns| (columns[0].group.clone(), columns.len())).collect(),
            columns: self.columns.iter().map(|column| [column.title.clone(), spaced(&column.bytes)]).collect(),
            width: self.columns.len() + 1,
            bodies: self.packages().map(|(name, rows)| (name.to_owned(), rows.iter().map(row).collect())).collect(),
            // Inside a script element nothing may look like markup.
            script_data: printable_json(&data.to_string()).replace('<', "\\u003c"),
        }
    }

    /// The class of a decoder by what it accepts.
    fn class_of(&self, name: &str) -> Option<usize> {
        self.classes.iter().position(|class| class.decoders.iter().any(|one| one == name))
    }

    /// The shortest string that one class accepts and another rejects, or `none`.
    fn between(&self, from: usize, to: usize) -> String {
        self.beyond.get(from).and_then(|row| row.get(to)?.as_deref()).map_or_else(|| "none".to_owned(), spaced)
    }

    /// The shortest string that a decoder accepts and strict UTF-8 rejects, or `none`; empty if that is not known.
    fn beyond_strict(&self, name: &str) -> String {
        let classes = self.class_of(name).zip(self.class_of(STRICT));
        classes.map(|(at, strict)| self.between(at, strict)).unwrap_or_default()
    }

    fn class_table(&self) -> Table {
        let strict = self.class_of(STRICT);
        let mut table = Table::new([
            "#strings accepted",
            "shortest that strict UTF-8 rejects",
            "shortest rejected that strict UTF-8 accepts",
            "#decoders",
            "which",
        ]);
        for (at, class) in self.classes.iter().enumerate() {
            let [more, less] =
                strict.map(|strict| [self.between(at, strict), self.between(strict, at)]).unwrap_or_default();
            let numbers = [grouped(class.accepted as u64), more, less, class.decoders.len().to_string()];
            table.row(numbers.into_iter().map(Cell::from).chain([folded(&class.decoders)]));
        }
        table
    }

    fn injection_table(&self) -> Table {
        let mut table = Table::new(["character", "input", "written by", "accepted without writing it by"]);
        for Injection { character, bytes, written_by, passed_by } in &self.injections {
            let input = [character.clone(), spaced(bytes)].map(Cell::from);
            table.row(input.into_iter().chain([folded(written_by), folded(passed_by)]));
        }
        table
    }

    /// What the decoders of a grammar answer, and which of the inputs are well-formed in it.
    fn grammar_table(&self, grammar: &str) -> Table {
        let of = Grammar::named(grammar).map(|grammar| Contract { grammar, ..Contract::VALIDATOR });
        let has = |bytes: &[u8]| of.as_ref().map(|of| validity(of, bytes).is_valid());
        let asked = self.columns.iter().enumerate().filter(|(_, column)| column.cuts.is_empty());
        questions("the grammar", asked.map(|(at, column)| (column, self.by_word(at, Some(grammar)))), has)
    }

    /// The answers to one question, the most frequent first, and who gives them, of all decoders or those of a grammar; an
    /// exclamation mark follows the names of those that break their contract.
    fn by_word(&self, at: usize, grammar: Option<&str>) -> Answers<'_> {
        let rows = self.rows.iter().filter(|row| grammar.is_none_or(|grammar| row.grammar == grammar));
        by_word(rows.filter_map(|row| {
            let mark = if row.broken.contains_key(&self.columns[at].id) { "!" } else { "" };
            Some((self.seen(row, at)?, format!("{}{mark}", row.name)))
        }))
    }

    /// A table of these answers.
    fn answers_of(&self, at: usize) -> Table {
        let answers = self.by_word(at, None);
        let mut table = Table::new(["answer", "#decoders", "which"]);
        for (place, (word, names)) in answers.iter().enumerate() {
            let which = if place == 0 && answers.len() > 1 { "all others".into() } else { folded(names) };
            table.row([(*word).into(), names.len().to_string().into(), which]);
        }
        table
    }

    /// For a terminal: each question, and who gives which answer.
    pub(super) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}", self.answer())?;
        for (at, column) in self.columns.iter().enumerate().filter(|_| !self.rows.is_empty()) {
            write_answers(column, self.by_word(at, None), out)?;
        }
        for units in &self.units {
            writeln!(out, "\n{}, {}", printable(&units.encoding), counted(units.rows.len(), "decoder"))?;
            for (column, answers) in units.answers() {
                write_answers(column, answers, out)?;
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

/// The answers in words, each with the names of the decoders that gave it.
type Answers<'m> = Vec<(&'m str, Vec<String>)>;

/// The answers, the most frequent first, and who gives them.
fn by_word<'m>(seen: impl Iterator<Item = (&'m Seen, String)>) -> Answers<'m> {
    let mut by_word: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    seen.for_each(|(seen, name)| by_word.entry(&seen.word).or_default().push(name));
    let mut answers: Answers<'_> = by_word.into_iter().collect();
    answers.sort_by_key(|(_, names)| std::cmp::Reverse(names.len()));
    answers
}

/// For a terminal.
fn write_answers(column: &Column, answers: Answers<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n{}: {} ({})", printable(&column.group), printable(&column.title), spaced(&column.bytes))?;
    for (word, names) in answers {
        writeln!(out, "  {}: {}", printable(word), printable(&some(&names)))?;
    }
    Ok(())
}

/// A table of questions and answers; its third column, which has this head, says what is well-formed.
fn questions<'m>(
    head: &'static str,
    asked: impl Iterator<Item = (&'m Column, Answers<'m>)>,
    is_well_formed: impl Fn(&[u8]) -> Option<bool>,
) -> Table {
    let mut table = Table::new(["question", "input", head, "answers", "which"]);
    for (column, answers) in asked {
        let has = is_well_formed(&parse_hex(&column.bytes).unwrap_or_default());
        let has = has.map_or("", |has| if has { "well-formed" } else { "ill-formed" });
        let mut head = [format!("{}: {}", column.group, column.title), spaced(&column.bytes), has.to_owned()];
        for (word, names) in answers {
            let answer = [word.to_owned(), names.join(", ")];
            table.row(std::mem::take(&mut head).into_iter().chain(answer).map(Cell::from));
        }
    }
    table
}

impl Units {
    /// Every question, and its answers.
    fn answers(&self) -> impl Iterator<Item = (&Column, Answers<'_>)> {
        let seen = move |at| self.rows.iter().filter_map(move |row| Some((self.seen(row, at)?, row.name.clone())));
        self.columns.iter().enumerate().map(move |(at, column)| (column, by_word(seen(at))))
    }

    fn table(&self) -> Table {
        let encoding = Encoding::named(&self.encoding).ok();
        let asked = self.answers().map(|(column, answers)| (column, shortened(answers, self.rows.len())));
        questions("the encoding", asked, |bytes| probe::is_well_formed(encoding?, bytes))
    }
}

/// The answers of this number of decoders, without the names for an answer that most of them give.
fn shortened(mut answers: Answers<'_>, decoders: usize) -> Answers<'_> {
    let all = if answers.len() == 1 { "all" } else { "all others" };
    if let Some((_, names)) = answers.first_mut().filter(|(_, names)| 2 * names.len() > decoders) {
        *names = vec![all.to_owned()];
    }
    answers
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

/// The symbols. A test checks that every symbol of the committed matrix is listed: any number as 1, and the hyphen that
/// may follow another symbol as a symbol of its own.
fn legend() -> Vec<(&'static str, Vec<document::Span>)> {
    [
        ("✓", "taken for well-formed"),
        ("✗", "rejected; or, by a decoder that replaces, not taken for well-formed"),
        ("1", "1, 2 and so on: that many U+FFFD; for the length of an error, that many bytes"),
        ("1?", "1?, 2? and so on: that many question marks"),
        ("∅", "nothing is written: the bytes are dropped, or U+FEFF is removed"),
        ("1/2", "one U+FEFF of two is kept"),
        ("=", "the same bytes are written; U+FEFF is kept; the same in chunks as in one piece, and after up to 300 bytes of ASCII"),
        ("≠", "not the same in chunks, or after ASCII; another offset than that of the error. The opened cell says which"),
        ("DC", "U+DC80 to U+DCFF are written, one for each byte (surrogateescape)"),
        ("L1", "the bytes are decoded as Latin-1"),
        ("1252", "the bytes are decoded as Windows-1252"),
        ("esc", "an escape in ASCII is written, such as \\xFF"),
        ("…", "other text is written; the opened cell has it"),
        ("-", "after another symbol: the character that follows is lost"),
        ("B1", "B0, B1: offsets count bytes, from 0 or from 1"),
        ("C1", "C0, C1: offsets count code points"),
        ("U1", "U0, U1: offsets count UTF-16 code units"),
        ("inc", "the error is reported as an incomplete sequence, without a length"),
        ("now", "output is written with the chunk that completes it"),
        ("late", "output is written with a later chunk"),
        ("end", "output is written only at the end of the input"),
        ("err", "the decoder fails: no answer"),
        ("(empty)", "the decoder has no such answer, or does not state it"),
        ("!", "on red: the answer breaks the contract that the decoder claims"),
    ]
    .map(|(symbol, words)| (symbol, vec![plain(words)]))
    .into()
}

/// Names in a cell; of more than six, the first six and the number of others, and all of them when the cell is
/// unfolded.
fn folded(names: &[String]) -> Cell {
    const MOST: usize = 6;
    let first = names[..names.len().min(MOST)].join(", ");
    match names.len().checked_sub(MOST) {
        None | Some(0) => first.into(),
        Some(more) => Cell { details: names.to_vec(), ..Cell::from(format!("{first} and {more} more")) },
    }
}

/// The words of an answer, with spaces between the bytes of its output.
fn spaced_output(says: &str) -> String {
    match says.rsplit_once("output ") {
        Some((head, digits)) if digits.bytes().all(|digit| digit.is_ascii_hexdigit()) => {
            format!("{head}output {}", if digits.is_empty() { "nothing".to_owned() } else { spaced(digits) })
        }
        _ => says.to_owned(),
    }
}

/// Names in a line; if there are many, only the first ones.
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
