//! The table as a page.

use crate::bench::{Kind, Operation, Row};
use crate::report::escape::markdown;
use crate::report::throughput::{Throughput, three};
use std::fmt::Write;

/// Texts up to so many bytes stand in a table of their own.
const SHORT: usize = 128;

pub(super) fn page(all: &Throughput<'_>) -> String {
    let mut page = String::from("# Throughput\n\n");
    let machine = &all.machine;
    let processor = all.processor.as_deref().map_or_else(String::new, |name| format!("{}; ", markdown(name)));
    let _ = writeln!(
        page,
        "`{}`, utfuzz {}, rustc {}; {processor}{}.\n\nGigabytes of input in a second, one core, the median of the rounds; \
         a dash: it cannot do this; **wrong**: its answer was not what the standard says, so it was not timed. The last \
         column is the time of the fastest peer divided by ours. What a quarter of the rounds took less and more than is in \
         `throughput.json`.\n\n![How many times as fast as the fastest peer](throughput.svg)",
        all.command,
        all.version,
        markdown(&machine.rustc),
        machine.has.join(" "),
    );
    for operation in Operation::ALL {
        let rows: Vec<&Row> = all.measured.rows.iter().filter(|row| row.operation == operation).collect();
        let (short, long): (Vec<&Row>, Vec<&Row>) = rows.into_iter().partition(|row| row.bytes <= SHORT);
        table(operation, &long, &mut page);
        lengths(&short, &mut page);
    }
    page
}

fn table(operation: Operation, rows: &[&Row], page: &mut String) {
    let Some(first) = rows.first() else { return };
    let names: Vec<&str> = first.cells.iter().map(|cell| &*cell.name).collect();
    let _ = writeln!(page, "\n## {}\n\n| text | bytes | {} | ratio |", operation.name(), names.join(" | "));
    let _ = writeln!(page, "| --- | --: |{} --: |", " --: |".repeat(names.len()));
    for row in rows {
        let cells = row.cells.iter().map(|cell| match cell.time {
            Some(time) => row.throughput(time).map_or_else(|| "–".into(), three),
            None if cell.wrong => "**wrong**".into(),
            None => "–".into(),
        });
        let cells: Vec<String> = cells.collect();
        let _ = writeln!(page, "| {} | {} | {} | {} |", markdown(&row.text), row.bytes, cells.join(" | "), ratio(row));
    }
}

fn ratio(row: &Row) -> String {
    row.ratio("own").map_or_else(|| "–".into(), three)
}

/// Short texts: nanoseconds, ours and the best.
fn lengths(rows: &[&Row], page: &mut String) {
    if rows.is_empty() {
        return;
    }
    let slower: Vec<String> = rows
        .iter()
        .filter(|row| row.ratio("own").is_some_and(|ratio| ratio < 1.0))
        .map(|row| format!("{} ({})", markdown(&row.text), ratio(row)))
        .collect();
    let _ = writeln!(
        page,
        "\n### Short texts, nanoseconds\n\nOf {} texts of up to {SHORT} bytes ours is slower than the fastest peer on {}: {}.\n",
        rows.len(),
        slower.len(),
        if slower.is_empty() { "none".into() } else { slower.join(", ") },
    );
    let names: Vec<&str> =
        rows[0].cells.iter().filter(|cell| cell.kind != Kind::Kernel).map(|cell| &*cell.name).collect();
    let _ = writeln!(page, "| text | {} | ratio |\n| --- |{} --: |", names.join(" | "), " --: |".repeat(names.len()));
    for row in rows.iter().filter(|row| row.bytes % 16 == 0 || row.bytes < 4) {
        let cells = row.cells.iter().filter(|cell| cell.kind != Kind::Kernel);
        let cells: Vec<String> =
            cells.map(|cell| cell.time.map_or_else(|| "–".into(), |time| three(time.median))).collect();
        let _ = writeln!(page, "| {} | {} | {} |", markdown(&row.text), cells.join(" | "), ratio(row));
    }
}
