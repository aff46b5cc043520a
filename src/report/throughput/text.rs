//! The table on a terminal.

use crate::bench::{Kind, Measured};
use crate::report::throughput::three;
use crate::text::printable;
use std::io::{self, Write};

/// Writes a line for each row: ours, the fastest peer, and how many times as fast ours is.
///
/// # Errors
/// Those of the writer.
pub fn text(measured: &Measured, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "{:12} {:34} {:>10} {:>10}  {:16} {:>6}",
        "operation", "text", "bytes", "own GB/s", "best peer", "ratio"
    )?;
    for row in &measured.rows {
        let own = row.cells.iter().find(|cell| cell.kind == Kind::Own);
        let speed = |time| row.throughput(time).map_or_else(|| "–".into(), three);
        let ours = own.map_or_else(
            || "–".into(),
            |own| own.time.map_or_else(|| if own.wrong { "wrong" } else { "–" }.into(), speed),
        );
        let best = row.best_peer().map_or_else(|| "–".into(), |(name, time)| format!("{name} {}", speed(time)));
        let ratio = own.and_then(|own| row.ratio(&own.name)).map_or_else(|| "–".into(), three);
        let text = printable(&row.text);
        writeln!(out, "{:12} {text:34} {:>10} {ours:>10}  {best:16} {ratio:>6}", row.operation.name(), row.bytes)?;
        for cell in row.cells.iter().filter(|cell| cell.wrong) {
            writeln!(out, "{:12} {text:34} {} gives a wrong answer", row.operation.name(), cell.name)?;
        }
    }
    writeln!(out, "{} rows in {:.0} s; median of the rounds", measured.rows.len(), measured.seconds)
}
