//! The layout of a measurement: a picture of the main operations, then the figures of every subject on every text.

use crate::bench::{Kind, Measured, Operation, Row};
use crate::report::document::{Block, Cell, Document, Table, date, grouped, run_tiles, three, tile};
use crate::report::record::Record;
use crate::report::svg;
use crate::text::printable;
use std::io;

/// The operations in the picture.
const OVERVIEW: [Operation; 6] = [
    Operation::Validate,
    Operation::Lossy,
    Operation::Utf16,
    Operation::FromUtf16,
    Operation::Utf32,
    Operation::FromUtf32,
];

/// Texts of up to this many bytes have a table of their own.
const SHORT: usize = 128;

/// A line for each row: ours, the fastest peer, and how many times as fast ours is.
pub(super) fn own_and_best_peer(measured: &Measured) -> Table {
    let mut table = Table::new(["class", "operation", "text", "#bytes", "#own GB/s", "best peer", "#ratio"]);
    for row in &measured.rows {
        let speed = |time| row.throughput(time).map_or_else(dash, three);
        let own = row.cells.iter().find(|cell| cell.kind == Kind::Own);
        let ours = own
            .map_or_else(dash, |own| own.time.map_or_else(|| if own.wrong { "wrong".into() } else { dash() }, speed));
        let best = row.best_peer().map_or_else(dash, |(name, time)| format!("{name} {}", speed(time)));
        let ratio = own.and_then(|own| row.ratio(&own.name)).map_or_else(dash, three);
        table.row([
            row.class.clone(),
            row.operation.name().to_owned(),
            row.text.clone(),
            row.bytes.to_string(),
            ours,
            best,
            ratio,
        ]);
    }
    table
}

fn dash() -> String {
    "–".into()
}

/// The rows of each class of machines that was measured.
fn classes(measured: &Measured) -> Vec<(&str, Vec<&Row>)> {
    let mut classes: Vec<(&str, Vec<&Row>)> = Vec::new();
    for row in &measured.rows {
        match classes.iter_mut().find(|(class, _)| *class == row.class) {
            Some((_, rows)) => rows.push(row),
            None => classes.push((&row.class, vec![row])),
        }
    }
    classes
}

/// Of the texts longer than [`SHORT`]: on how many ours is at least as fast as the fastest peer, and how many there are.
fn wins(rows: &[&Row]) -> (usize, usize) {
    let long = rows.iter().filter(|row| row.bytes > SHORT);
    let ratios: Vec<f64> = long.filter_map(|row| row.ratio("own")).collect();
    (ratios.iter().filter(|ratio| **ratio >= 1.0).count(), ratios.len())
}

/// The result in a few words, for only the classes that were measured.
pub(super) fn answer(measured: &Measured) -> String {
    let classes = classes(measured).into_iter().map(|(class, rows)| {
        let (wins, of) = wins(&rows);
        format!("{wins} of {of} ({})", printable(class))
    });
    let classes: Vec<String> = classes.collect();
    format!("Ours is at least as fast as the fastest peer in {} measurements on long texts.", classes.join(", "))
}

/// The bars of the class that was measured first.
pub(super) fn picture(record: &Record, measured: &Measured) -> io::Result<String> {
    let classes = classes(measured);
    let (class, rows) = classes.first().map_or(("nothing", &[][..]), |(class, rows)| (*class, &rows[..]));
    svg::speeds(&OVERVIEW, rows, &source(record, class))
}

/// Where and when it was measured.
fn source(record: &Record, class: &str) -> String {
    let machine = &record.machine;
    let processor = machine.processor.as_deref().unwrap_or(&machine.target);
    let (class, processor, version) = (printable(class), printable(processor), printable(&record.version));
    format!("{class}: one core of {processor}, utfuzz {version}, {}", date(record.started))
}

pub(super) fn page(record: &Record, measured: &Measured) -> io::Result<Document> {
    let mut document = Document::new(format!("utfuzz throughput, {}", date(record.started)));
    document.blocks.push(Block::Answer { words: answer(measured), is_good: true });
    let classes = classes(measured);
    let mut tiles = Vec::new();
    for (class, rows) in &classes {
        let (wins, of) = wins(rows);
        tiles.push(tile(format!("{wins} of {of}, {}", printable(class)), "times ours is fastest, on long texts", ""));
    }
    tiles.extend(run_tiles(record));
    document.blocks.push(Block::Tiles { tiles });
    document.paragraph(
        "Gigabytes (10⁹ bytes) of input in a second on one core, the median of the rounds. A dash: it cannot do this. \
         Wrong: its answer was not that of the standard, so it was not timed. Ratio: the time of the fastest peer divided \
         by ours. The errors of a corrupted text are in other places in each pass. The quartiles are in throughput.json.",
    );
    if classes.len() > 1 {
        document.paragraph(
            "Each class of machines is measured in a process of its own, in which our decoder, simdutf and simdutf8 use no \
             instructions beyond those of the class. std and encoding_rs are compiled for the plainest processor of the \
             target, and are the same in every class.",
        );
    }
    for (at, (class, rows)) in classes.iter().enumerate() {
        document.heading(2, *class);
        document.blocks.push(Block::Figure {
            svg: svg::speeds(&OVERVIEW, rows, &source(record, class))?,
            file: (at == 0).then_some("throughput.svg"),
            caption: "Throughput by script; the tables have all operations and texts.",
        });
        for operation in Operation::ALL {
            let rows: Vec<&Row> = rows.iter().copied().filter(|row| row.operation == operation).collect();
            let (short, long): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.bytes <= SHORT);
            if long.is_empty() && short.is_empty() {
                continue;
            }
            document.heading(3, operation.name());
            if !long.is_empty() {
                document.table(long_texts(&long));
            }
            short_texts(&short, &mut document);
        }
    }
    Ok(document)
}

fn long_texts(rows: &[&Row]) -> Table {
    let names = rows.iter().take(1).flat_map(|row| &row.cells).map(|cell| format!("#{}", cell.name));
    let heads = ["text".to_owned(), "#bytes".to_owned()].into_iter().chain(names).chain(["#ratio".to_owned()]);
    let mut table = Table::new(heads);
    for row in rows {
        let cells = row.cells.iter().map(|cell| match cell.time {
            Some(time) => Cell::from(row.throughput(time).map_or_else(dash, three)),
            None if cell.wrong => Cell { strong: true, ..Cell::from("wrong") },
            None => Cell::from(dash()),
        });
        let heads = [row.text.clone(), grouped(row.bytes as u64)].map(Cell::from);
        let ratio = Cell::from(row.ratio("own").map_or_else(dash, three));
        table.row(heads.into_iter().chain(cells).chain([ratio]));
    }
    table
}

fn short_texts(rows: &[&Row], document: &mut Document) {
    let Some(first) = rows.first() else { return };
    let ratio = |row: &Row| row.ratio("own").map_or_else(dash, three);
    let slower = rows.iter().filter(|row| row.ratio("own").is_some_and(|ratio| ratio < 1.0));
    let slower: Vec<String> = slower.map(|row| format!("{} ({})", row.text, ratio(row))).collect();
    document.heading(4, "Short texts, nanoseconds");
    document.paragraph(format!(
        "Of {} texts of up to {SHORT} bytes ours is slower than the fastest peer on {}: {}.",
        rows.len(),
        slower.len(),
        if slower.is_empty() { "none".into() } else { slower.join(", ") },
    ));
    let names = first.cells.iter().filter(|cell| cell.kind != Kind::Kernel).map(|cell| format!("#{}", cell.name));
    let mut table = Table::new(["text".to_owned()].into_iter().chain(names).chain(["#ratio".to_owned()]));
    for row in rows.iter().filter(|row| row.bytes % 16 == 0 || row.bytes < 4) {
        let cells = row.cells.iter().filter(|cell| cell.kind != Kind::Kernel);
        let times = cells.map(|cell| cell.time.map_or_else(dash, |time| three(time.median)));
        table.row([row.text.clone()].into_iter().chain(times).chain([ratio(row)]));
    }
    document.table(table);
}
