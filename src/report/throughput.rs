//! The layout of a measurement: a picture of the main operations, then the figures of every subject on every text.

use crate::bench::{Kind, Measured, Operation, Row};
use crate::report::document::{Block, Cell, Document, Table, date, grouped, run_tiles, three, tile};
use crate::report::record::Record;
use crate::report::svg;
use crate::text::printable;
use std::io;

/// The operations in the picture.
pub(super) const OVERVIEW: [Operation; 4] =
    [Operation::Validate, Operation::Lossy, Operation::Utf16, Operation::FromUtf16];

/// Texts of up to this many bytes have a table of their own.
const SHORT: usize = 128;

/// A line for each row: ours, the fastest peer, and how many times as fast ours is.
pub(super) fn own_and_best_peer(measured: &Measured) -> Table {
    let mut table = Table::new(["operation", "text", "#bytes", "#own GB/s", "best peer", "#ratio"]);
    for row in &measured.rows {
        let speed = |time| row.throughput(time).map_or_else(dash, three);
        let own = row.cells.iter().find(|cell| cell.kind == Kind::Own);
        let ours = own
            .map_or_else(dash, |own| own.time.map_or_else(|| if own.wrong { "wrong".into() } else { dash() }, speed));
        let best = row.best_peer().map_or_else(dash, |(name, time)| format!("{name} {}", speed(time)));
        let ratio = own.and_then(|own| row.ratio(&own.name)).map_or_else(dash, three);
        table.row([row.operation.name().to_owned(), row.text.clone(), row.bytes.to_string(), ours, best, ratio]);
    }
    table
}

fn dash() -> String {
    "–".into()
}

/// Of the texts longer than [`SHORT`]: on how many ours is at least as fast as the fastest peer, and how many there are.
fn wins(measured: &Measured) -> (usize, usize) {
    let long = measured.rows.iter().filter(|row| row.bytes > SHORT);
    let ratios: Vec<f64> = long.filter_map(|row| row.ratio("own")).collect();
    (ratios.iter().filter(|ratio| **ratio >= 1.0).count(), ratios.len())
}

/// The result in a few words.
pub(super) fn answer(measured: &Measured) -> String {
    let (wins, of) = wins(measured);
    format!("Ours is at least as fast as the fastest peer in {wins} of {of} measurements on long texts.")
}

/// Where and when it was measured.
pub(super) fn source(record: &Record) -> String {
    let machine = &record.machine;
    let processor = machine.processor.as_deref().unwrap_or(&machine.target);
    format!("one core of {}, utfuzz {}, {}", printable(processor), printable(&record.version), date(record.started))
}

pub(super) fn page(record: &Record, measured: &Measured) -> io::Result<Document> {
    let mut document = Document::new(format!("utfuzz throughput, {}", date(record.started)));
    document.blocks.push(Block::Answer { words: answer(measured), is_good: true });
    let (wins, of) = wins(measured);
    let mut tiles = vec![tile(format!("{wins} of {of}"), "times ours is fastest, on long texts", "")];
    tiles.extend(run_tiles(record));
    document.blocks.push(Block::Tiles { tiles });
    document.paragraph(
        "Gigabytes (10⁹ bytes) of input in a second on one core, the median of the rounds. A dash: it cannot do this. \
         Wrong: its answer was not that of the standard, so it was not timed. Ratio: the time of the fastest peer divided \
         by ours. The quartiles are in throughput.json.",
    );
    document.blocks.push(Block::Figure {
        svg: svg::speeds(&OVERVIEW, measured, &source(record))?,
        file: Some("throughput.svg"),
        caption: "Throughput by script, for four operations; the tables below have all of them.",
    });
    for operation in Operation::ALL {
        let rows: Vec<_> = measured.rows.iter().filter(|row| row.operation == operation).collect();
        let (short, long): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.bytes <= SHORT);
        if let Some(first) = long.first() {
            document.heading(2, operation.name());
            let names = first.cells.iter().map(|cell| format!("#{}", cell.name));
            let heads = ["text".to_owned(), "#bytes".to_owned()].into_iter().chain(names).chain(["#ratio".to_owned()]);
            let mut table = Table::new(heads);
            for row in long {
                let cells = row.cells.iter().map(|cell| match cell.time {
                    Some(time) => Cell::from(row.throughput(time).map_or_else(dash, three)),
                    None if cell.wrong => Cell { strong: true, ..Cell::from("wrong") },
                    None => Cell::from(dash()),
                });
                let heads = [row.text.clone(), grouped(row.bytes as u64)].map(Cell::from);
                let ratio = Cell::from(row.ratio("own").map_or_else(dash, three));
                table.row(heads.into_iter().chain(cells).chain([ratio]));
            }
            document.table(table);
        }
        short_texts(&short, &mut document);
    }
    Ok(document)
}

fn short_texts(rows: &[&Row], document: &mut Document) {
    let Some(first) = rows.first() else { return };
    let ratio = |row: &Row| row.ratio("own").map_or_else(dash, three);
    let slower = rows.iter().filter(|row| row.ratio("own").is_some_and(|ratio| ratio < 1.0));
    let slower: Vec<String> = slower.map(|row| format!("{} ({})", row.text, ratio(row))).collect();
    document.heading(3, "Short texts, nanoseconds");
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
