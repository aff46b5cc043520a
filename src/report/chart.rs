//! The byte chart of a grammar: the role of each byte, and the number of bytes for each range of code points.
//!
//! Everything is derived from the rows of `spec`; the text and the page are rendered from it.

use crate::report::document::{Cell as TableCell, Document, Row as TableRow, Table, cited, grouped, paragraph, plain};
use crate::report::exporter::html;
use crate::spec::grammar::{Form, Row};
use crate::spec::{Contract, Grammar, Reading, segments};
use serde::Serialize;
use std::io::{self, Write};

/// A grammar laid out.
#[derive(Debug, Serialize)]
pub(crate) struct Chart {
    /// Its name.
    grammar: &'static str,
    /// Where its rows come from.
    source: &'static str,
    /// What each of the 256 bytes may be.
    bytes: Vec<Cell>,
    /// The code points by the length of their sequences.
    lengths: Vec<Span>,
    /// The code points by row.
    rows: Vec<Span>,
}

/// What one byte may be.
#[derive(Debug, Serialize)]
struct Cell {
    /// The byte.
    byte: u8,
    /// Where it may occur.
    role: Role,
    /// The lengths of the sequences it starts.
    lengths: Vec<usize>,
    /// First and last code point of the sequences it starts.
    code_points: Option<(u32, u32)>,
    /// The six bits that a continuation byte adds.
    adds: Option<u8>,
    /// The rule it breaks, if it occurs in no sequence.
    fault: Option<&'static str>,
}

/// Where a byte may occur.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Role {
    /// It is a character by itself.
    Single,
    /// After a lead byte.
    Continuation,
    /// A lead byte, followed by any continuation bytes.
    Lead,
    /// A lead byte, followed by certain continuation bytes only.
    RestrictedLead,
    /// Nowhere.
    Never,
}

impl Role {
    /// Every role.
    const ALL: [Self; 5] = [Self::Single, Self::Continuation, Self::Lead, Self::RestrictedLead, Self::Never];

    /// What a byte of this role is, in words.
    fn words(self) -> &'static str {
        match self {
            Self::Single => "a character of one byte",
            Self::Continuation => "a continuation byte, and the six bits it adds",
            Self::Lead => "starts a sequence of this many bytes",
            Self::RestrictedLead => "the same, but not with every continuation byte",
            Self::Never => "in no sequence",
        }
    }
}

impl Role {
    /// The name, as in JSON.
    fn class(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Continuation => "continuation",
            Self::Lead => "lead",
            Self::RestrictedLead => "restricted-lead",
            Self::Never => "never",
        }
    }
}

/// A range of code points and the sequences they take.
#[derive(Debug, Serialize)]
struct Span {
    /// First code point.
    first: u32,
    /// Last code point.
    last: u32,
    /// How many code points are in the range, without those that have another form or none.
    count: u64,
    /// The number of payload bits in a sequence.
    bits: u32,
    /// First and last of each byte.
    bytes: Vec<(u8, u8)>,
    /// The sequence of the first code point.
    first_bytes: Vec<u8>,
    /// The sequence of the last code point.
    last_bytes: Vec<u8>,
    /// The kind of surrogates that the sequences encode; empty if none.
    form: &'static str,
}

impl Chart {
    /// Lays out a grammar.
    pub(crate) fn of(grammar: &'static Grammar) -> Self {
        let rows: Vec<Span> = grammar.rows.iter().map(|row| Span::of(grammar, row)).collect();
        let mut lengths: Vec<Span> = Vec::new();
        for span in grammar.rows.iter().map(|row| Span::of(grammar, row)) {
            match lengths.iter_mut().find(|other| other.bytes.len() == span.bytes.len()) {
                Some(other) => other.merge(&span),
                None => lengths.push(Span { form: "", ..span }),
            }
        }
        lengths.sort_by_key(|span| span.bytes.len());
        let bytes = (0..=u8::MAX).map(|byte| Cell::of(grammar, byte)).collect();
        Self { grammar: grammar.name, source: grammar.source, bytes, lengths, rows }
    }
}

impl Chart {
    /// Each rule that excludes bytes, with these bytes as ranges in hexadecimal.
    fn faults(&self) -> Vec<(&'static str, String)> {
        let mut faults: Vec<(&str, Vec<(u8, u8)>)> = Vec::new();
        for (byte, fault) in self.bytes.iter().filter_map(|cell| Some((cell.byte, cell.fault?))) {
            match faults.last_mut() {
                Some((other, ranges)) if *other == fault => extend(ranges, byte),
                _ => faults.push((fault, vec![(byte, byte)])),
            }
        }
        faults.into_iter().map(|(fault, ranges)| (fault, hex_ranges(&ranges).join(" "))).collect()
    }
}

/// Adds a byte after the others.
fn extend(ranges: &mut Vec<(u8, u8)>, byte: u8) {
    match ranges.last_mut() {
        Some((_, last)) if last.checked_add(1) == Some(byte) => *last = byte,
        _ => ranges.push((byte, byte)),
    }
}

fn hex_ranges(ranges: &[(u8, u8)]) -> Vec<String> {
    let range = |&(first, last): &(u8, u8)| match first == last {
        true => format!("{first:02X}"),
        false => format!("{first:02X}..{last:02X}"),
    };
    ranges.iter().map(range).collect()
}

impl Span {
    fn of(grammar: &'static Grammar, row: &Row) -> Self {
        let ends = |which: fn(&(u8, u8)) -> u8| -> Vec<u8> { row.bytes.iter().map(which).collect() };
        let (first_bytes, last_bytes) = (ends(|range| range.0), ends(|range| range.1));
        Self {
            first: code_point(grammar, &first_bytes).unwrap_or(0),
            last: code_point(grammar, &last_bytes).unwrap_or(0),
            count: row.bytes.iter().map(|&(first, last)| u64::from(last - first) + 1).product(),
            bits: match (row.form, row.bytes.len() as u32) {
                (Form::Pair, _) => 20,
                (_, 1) => 7,
                (_, len) => 5 * len + 1,
            },
            bytes: row.bytes.to_vec(),
            first_bytes,
            last_bytes,
            form: match row.form {
                Form::Scalar => "",
                Form::LeadSurrogate => "leading surrogates",
                Form::TrailSurrogate => "trailing surrogates",
                Form::Pair => "surrogate pairs",
            },
        }
    }

    fn merge(&mut self, other: &Self) {
        if other.first < self.first {
            (self.first, self.first_bytes) = (other.first, other.first_bytes.clone());
        }
        if other.last > self.last {
            (self.last, self.last_bytes) = (other.last, other.last_bytes.clone());
        }
        self.count += other.count;
        for (range, (first, last)) in self.bytes.iter_mut().zip(&other.bytes) {
            *range = (range.0.min(*first), range.1.max(*last));
        }
    }

    /// The bits of each byte: those that are the same in the whole range, then an `x` for each of the others.
    fn patterns(&self) -> Vec<String> {
        let pattern = |&(first, last): &(u8, u8)| {
            let free = 8 - (first ^ last).leading_zeros() as usize;
            let fixed = format!("{first:08b}");
            format!("{}{}", &fixed[..8 - free], "x".repeat(free))
        };
        self.bytes.iter().map(pattern).collect()
    }

    /// First and last code point, in the usual notation.
    fn ends(&self) -> [String; 2] {
        [self.first, self.last].map(|code_point| format!("U+{code_point:04X}"))
    }

    /// The range of each byte in hexadecimal.
    fn ranges(&self) -> Vec<String> {
        hex_ranges(&self.bytes)
    }

    /// First and last sequence in octal, three digits a byte.
    fn octal(&self) -> [String; 2] {
        let octal = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:03o}")).collect::<Vec<_>>().join(" ");
        [octal(&self.first_bytes), octal(&self.last_bytes)]
    }
}

impl Cell {
    fn of(grammar: &'static Grammar, byte: u8) -> Self {
        let led: Vec<&Row> = grammar.rows.iter().filter(|row| within(row.bytes[0], byte)).collect();
        let mut lengths: Vec<usize> = led.iter().map(|row| row.bytes.len()).collect();
        lengths.sort_unstable();
        lengths.dedup();
        let ends = led.iter().flat_map(|row| {
            let with = |rest: fn(&(u8, u8)) -> u8| -> Vec<u8> {
                [byte].into_iter().chain(row.bytes[1..].iter().map(rest)).collect()
            };
            [with(|range| range.0), with(|range| range.1)]
        });
        let code_points: Vec<u32> = ends.filter_map(|sequence| code_point(grammar, &sequence)).collect();
        let code_points = code_points.iter().copied().min().zip(code_points.iter().copied().max());
        let follows = grammar.rows.iter().any(|row| row.bytes[1..].iter().any(|&range| within(range, byte)));
        // If the number of sequences is 64 to the power of their continuation bytes, any continuation byte may follow.
        let begun =
            |row: &&Row| row.bytes[1..].iter().map(|&(first, last)| u64::from(last - first) + 1).product::<u64>();
        let role = match lengths[..] {
            [1] => Role::Single,
            [len] if led.iter().map(begun).sum::<u64>() == 1 << (6 * (len - 1)) => Role::Lead,
            [_, ..] => Role::RestrictedLead,
            [] if follows => Role::Continuation,
            [] => Role::Never,
        };
        Self {
            byte,
            role,
            lengths,
            code_points,
            adds: (role == Role::Continuation).then_some(byte & 0x3F),
            fault: (role == Role::Never).then(|| fault(grammar, byte)),
        }
    }

    /// The symbol in the byte chart, at most three columns wide.
    fn symbol(&self) -> String {
        const CONTROLS: [&str; 32] = [
            "NUL", "SOH", "STX", "ETX", "EOT", "ENQ", "ACK", "BEL", "BS", "HT", "LF", "VT", "FF", "CR", "SO", "SI",
            "DLE", "DC1", "DC2", "DC3", "DC4", "NAK", "SYN", "ETB", "CAN", "EM", "SUB", "ESC", "FS", "GS", "RS", "US",
        ];
        let digits = || self.lengths.iter().map(ToString::to_string).collect::<String>();
        match (self.role, self.byte) {
            (Role::Single, 0x20) => "SP".into(),
            (Role::Single, 0x7F) => "DEL".into(),
            (Role::Single, byte) => {
                CONTROLS.get(usize::from(byte)).map_or(char::from(byte).into(), |&name| name.into())
            }
            (Role::Continuation, byte) => format!("+{:02X}", byte & 0x3F),
            (Role::Lead, _) => digits(),
            (Role::RestrictedLead, _) => digits() + "!",
            (Role::Never, _) => "--".into(),
        }
    }
}

fn within((first, last): (u8, u8), byte: u8) -> bool {
    (first..=last).contains(&byte)
}

fn code_point(grammar: &'static Grammar, sequence: &[u8]) -> Option<u32> {
    match segments(&Contract { grammar, ..Contract::VALIDATOR }, sequence).next()?.reading {
        Reading::WellFormed(code_point) => Some(code_point),
        Reading::IllFormed { .. } => None,
    }
}

/// The rule that this byte breaks when continuation bytes follow.
fn fault(grammar: &'static Grammar, byte: u8) -> &'static str {
    let bytes = [byte, 0x80, 0x80, 0x80, 0x80, 0x80];
    match segments(&Contract { grammar, ..Contract::VALIDATOR }, &bytes).next().map(|unit| unit.reading) {
        Some(Reading::IllFormed { kind, .. }) => kind.name(),
        _ => "",
    }
}

/// Writes the byte chart, a legend and the ranges, in colour if `colours` is set.
///
/// # Errors
/// Those of the writer.
pub(crate) fn text(grammar: &'static Grammar, colours: bool, out: &mut dyn Write) -> io::Result<()> {
    let chart = Chart::of(grammar);
    let is_long = chart.grammar.len() + chart.source.chars().count() + 2 > 80;
    writeln!(out, "{}:{}{}\n", chart.grammar, if is_long { '\n' } else { ' ' }, chart.source)?;
    write!(out, "   ")?;
    for column in 0..16 {
        write!(out, "  _{column:X}")?;
    }
    writeln!(out)?;
    for line in chart.bytes.chunks(16) {
        write!(out, "{:X}_ ", line[0].byte >> 4)?;
        for cell in line {
            write!(out, " {}", paint(colours, cell.role, &format!("{:>3}", cell.symbol())))?;
        }
        writeln!(out)?;
    }
    writeln!(out)?;
    for role in Role::ALL {
        let count = chart.bytes.iter().filter(|cell| cell.role == role).count();
        let signs = match role {
            Role::Single => "NUL, A",
            Role::Continuation => "+00",
            Role::Lead => "2, 3",
            Role::RestrictedLead => "3!",
            Role::Never => "--",
        };
        if count > 0 {
            writeln!(out, "{}  {count:3} bytes: {}", paint(colours, role, &format!("{signs:>6}")), role.words())?;
        }
    }
    for (fault, bytes) in chart.faults() {
        writeln!(out, "             {fault}: {bytes}")?;
    }
    write_ranges(&chart, out)
}

fn write_ranges(chart: &Chart, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nbits  {:10}  {:10}  {:>10}  bytes", "first", "last", "code points")?;
    for span in &chart.lengths {
        let [first, last] = span.ends();
        writeln!(out, "{:4}  {first:10}  {last:10}  {:11}  {}", span.bits, span.count, span.patterns().join(" "))?;
    }
    writeln!(out, "\n      {:10}  {:10}  {:>10}  bytes", "first", "last", "code points")?;
    for span in &chart.rows {
        let [first, last] = span.ends();
        let form = if span.form.is_empty() { String::new() } else { format!("  {}", span.form) };
        writeln!(out, "      {first:10}  {last:10}  {:11}  {}{form}", span.count, span.ranges().join(" "))?;
    }
    writeln!(out, "\nIn octal, where a continuation byte is 2 and two more digits:\n")?;
    for span in &chart.lengths {
        for (code_point, bytes) in [span.first, span.last].into_iter().zip(span.octal()) {
            writeln!(out, "      {code_point:>11o}  {bytes}")?;
        }
    }
    Ok(())
}

fn paint(colours: bool, role: Role, text: &str) -> String {
    let code = match role {
        Role::Single => return text.to_owned(),
        Role::Continuation => 33,
        Role::Lead => 32,
        Role::RestrictedLead => 35,
        Role::Never => 31,
    };
    if colours { format!("\x1B[{code}m{text}\x1B[0m") } else { text.to_owned() }
}

/// The usual name of a grammar; if it has none, its name here.
pub(super) fn title(grammar: &Grammar) -> String {
    let usual = match grammar.name {
        "rfc3629" => "UTF-8 (RFC 3629)",
        "rfc2279" => "UTF-8 of 1998 (RFC 2279)",
        "cesu-8" => "CESU-8 (UTR #26)",
        "modified-utf-8" => "Modified UTF-8 of Java",
        "wtf-8" => "WTF-8",
        other => return format!("The grammar {other}"),
    };
    usual.to_owned()
}

/// The byte chart as an HTML page.
///
/// # Errors
/// It cannot be rendered.
pub(crate) fn page(grammar: &'static Grammar) -> io::Result<String> {
    html(&layout(grammar))
}

/// The layout of a byte chart.
pub(super) fn layout(grammar: &'static Grammar) -> Document {
    let chart = Chart::of(grammar);
    let mut document = Document::new(title(grammar));
    let mut source = vec![plain(format!("The grammar {}: ", chart.grammar))];
    source.extend(cited(chart.source));
    document.blocks.push(paragraph(source));
    let mut table = Table::new([String::new()].into_iter().chain((0..16).map(|column| format!("_{column:X}"))));
    table.class = "page";
    table.caption = "What each byte may be, and below it the first code point of what it starts.";
    for line in chart.bytes.chunks(16) {
        let head = TableCell { head: true, ..TableCell::from(format!("{:X}_", line[0].byte >> 4)) };
        let cells = [head].into_iter().chain(line.iter().map(place)).collect();
        table.rows.push(TableRow { cells, ..TableRow::default() });
    }
    document.table(table);
    let mut legend = Table::new(["#bytes", "symbol", "meaning"]);
    for role in Role::ALL {
        let mut kinds: Vec<(&Cell, usize)> = Vec::new();
        for cell in chart.bytes.iter().filter(|cell| cell.role == role) {
            match kinds.iter_mut().find(|(first, _)| first.lengths == cell.lengths) {
                Some((_, count)) => *count += 1,
                None => kinds.push((cell, 1)),
            }
        }
        for (first, count) in kinds {
            let symbol = if role == Role::Single { "A".into() } else { first.symbol() };
            let cells =
                vec![count.to_string().into(), TableCell { code: true, ..symbol.into() }, meaning(first).into()];
            legend.rows.push(TableRow { class: role.class(), cells, ..TableRow::default() });
        }
    }
    document.table(legend);
    let mut faults =
        Table { caption: "Bytes in no sequence, by the rule they break.", ..Table::new(["bytes", "rule"]) };
    chart.faults().into_iter().for_each(|(fault, bytes)| faults.row([bytes, fault.to_owned()]));
    document.table(faults);
    let heads = ["#bits", "first", "last", "#code points", "bytes", "first, octal", "last, octal"];
    let mut lengths = Table { caption: "By length. An x is a bit of the code point.", ..Table::new(heads) };
    for span in &chart.lengths {
        let ([first, last], [first_octal, last_octal]) = (span.ends(), span.octal());
        let bytes = span.patterns().join(" ");
        lengths.row([span.bits.to_string(), first, last, grouped(span.count), bytes, first_octal, last_octal]);
    }
    document.table(lengths);
    let has_forms = chart.rows.iter().any(|span| !span.form.is_empty());
    let heads = ["first", "last", "#code points", "bytes"].into_iter().chain(has_forms.then_some("which"));
    let mut rows = Table { caption: "By row of the grammar.", ..Table::new(heads) };
    for span in &chart.rows {
        let [first, last] = span.ends();
        let cells = [first, last, grouped(span.count), span.ranges().join(" ")].into_iter();
        rows.row(cells.chain(has_forms.then(|| span.form.to_owned())));
    }
    document.table(rows);
    document
}

/// What the symbol of a cell means.
fn meaning(cell: &Cell) -> String {
    let lengths: Vec<String> = cell.lengths.iter().map(ToString::to_string).collect();
    let lengths = lengths.join(" or ");
    match cell.role {
        Role::Single => "A character of one byte.".into(),
        Role::Continuation => "A continuation byte, and the six bits it adds, in hexadecimal.".into(),
        Role::Lead => format!("Starts a sequence of {lengths} bytes; any continuation bytes may follow."),
        Role::RestrictedLead => format!(
            "Starts a sequence of {lengths} bytes. The ! says that not every continuation byte may follow; see the rows \
             of the grammar below."
        ),
        Role::Never => "Occurs in no sequence.".into(),
    }
}

fn place(cell: &Cell) -> TableCell {
    let first = cell.code_points.map(|(first, _)| format!("{first:04X}"));
    let detail = match (cell.code_points, cell.adds, cell.fault) {
        (Some((first, last)), _, _) if first == last => format!("U+{first:04X}"),
        (Some((first, last)), _, _) => format!("U+{first:04X} to U+{last:04X}"),
        (None, Some(bits), _) => format!("adds {bits:06b}"),
        (None, None, Some(fault)) => fault.to_owned(),
        (None, None, None) => String::new(),
    };
    TableCell {
        class: cell.role.class().into(),
        title: format!("{:02X}, {}: {}; {detail}", cell.byte, cell.byte, cell.role.words()),
        small: Some(first.unwrap_or_default()),
        ..TableCell::from(cell.symbol())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::grammar;

    /// The bytes of one role, as ranges.
    fn ranges(chart: &Chart, role: Role) -> Vec<(u8, u8)> {
        let mut ranges: Vec<(u8, u8)> = Vec::new();
        chart.bytes.iter().filter(|cell| cell.role == role).for_each(|cell| extend(&mut ranges, cell.byte));
        ranges
    }

    /// The published byte chart of UTF-8, and how the relatives differ from it.
    #[test]
    fn the_code_page_is_the_published_one() {
        let chart = Chart::of(&grammar::RFC3629);
        assert_eq!(ranges(&chart, Role::Single), [(0x00, 0x7F)]);
        assert_eq!(ranges(&chart, Role::Continuation), [(0x80, 0xBF)]);
        assert_eq!(ranges(&chart, Role::Never), [(0xC0, 0xC1), (0xF5, 0xFF)]);
        assert_eq!(ranges(&chart, Role::RestrictedLead), [(0xE0, 0xE0), (0xED, 0xED), (0xF0, 0xF0), (0xF4, 0xF4)]);
        assert_eq!(chart.bytes[0xE0].code_points, Some((0x800, 0xFFF)));
        assert_eq!(chart.bytes[0xF4].code_points, Some((0x10_0000, 0x10_FFFF)));
        let faults = chart.faults();
        let expected = [("overlong-2", "C0..C1"), ("too-large", "F5..F7"), ("invalid-byte", "F8..FF")];
        assert_eq!(faults.iter().map(|(fault, bytes)| (*fault, bytes.as_str())).collect::<Vec<_>>(), expected);
        let chart = Chart::of(&grammar::RFC2279);
        assert_eq!(ranges(&chart, Role::Never), [(0xC0, 0xC1), (0xFE, 0xFF)]);
        assert_eq!(ranges(&chart, Role::RestrictedLead), [(0xE0, 0xE0), (0xF0, 0xF0), (0xF8, 0xF8), (0xFC, 0xFC)]);
        let chart = Chart::of(&grammar::MODIFIED_UTF8);
        assert_eq!(ranges(&chart, Role::Never), [(0x00, 0x00), (0xC1, 0xC1), (0xF0, 0xFF)]);
        assert_eq!(chart.bytes[0xED].lengths, [3, 6]);
        assert_eq!(chart.bytes[0xED].code_points, Some((0xD000, 0x10_FFFF)));
    }

    #[test]
    fn the_ranges_are_the_published_ones() {
        let line = |span: &Span| (span.bits, span.first, span.last, span.patterns().join(" "));
        let lines: Vec<_> = Chart::of(&grammar::RFC2279).lengths.iter().map(line).collect();
        let tail = |len: usize| " 10xxxxxx".repeat(len);
        let expected = [
            (7, 0, 0x7F, "0xxxxxxx".to_owned()),
            (11, 0x80, 0x7FF, "110xxxxx".to_owned() + &tail(1)),
            (16, 0x800, 0xFFFF, "1110xxxx".to_owned() + &tail(2)),
            (21, 0x1_0000, 0x1F_FFFF, "11110xxx".to_owned() + &tail(3)),
            (26, 0x20_0000, 0x3FF_FFFF, "111110xx".to_owned() + &tail(4)),
            (31, 0x400_0000, 0x7FFF_FFFF, "1111110x".to_owned() + &tail(5)),
        ];
        assert_eq!(lines, expected);
        let chart = Chart::of(&grammar::RFC3629);
        assert_eq!(chart.rows[2].ranges(), ["E0", "A0..BF", "80..BF"]);
        assert_eq!(chart.lengths[3].octal(), ["360 220 200 200", "364 217 277 277"]);
        assert_eq!(chart.lengths.iter().map(|span| span.count).sum::<u64>(), 1_112_064);
    }

    #[test]
    fn every_symbol_fits_its_cell() {
        for grammar in grammar::ALL {
            let chart = Chart::of(grammar);
            assert!(chart.bytes.iter().all(|cell| (1..=3).contains(&cell.symbol().len())), "{}", grammar.name);
            let rows: u64 = chart.rows.iter().map(|span| span.count).sum();
            assert_eq!(rows, chart.lengths.iter().map(|span| span.count).sum::<u64>());
        }
    }

    fn written(grammar: &'static Grammar, colours: bool) -> String {
        let mut out = Vec::new();
        text(grammar, colours, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn colours_are_all_that_differs() {
        for grammar in grammar::ALL {
            let (plain, mut coloured) = (written(grammar, false), written(grammar, true));
            assert!(!plain.contains('\x1B') && coloured.contains("\x1B[31m"), "{coloured}");
            for code in [0, 31, 32, 33, 35] {
                coloured = coloured.replace(&format!("\x1B[{code}m"), "");
            }
            assert_eq!(coloured, plain);
            let page = plain.lines().take(20);
            assert!(page.into_iter().all(|line| line.chars().count() <= 80), "{plain}");
        }
    }
}
