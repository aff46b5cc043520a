//! `utfuzz list`: all decoders of this build.

use crate::cli::arguments::Selection;
use crate::cli::output::{Failure, Verdict};
use crate::cli::terminal::width;
use crate::decoder::Decoder;
use crate::report::write_json;
use clap::Args;
use comfy_table::presets::NOTHING;
use comfy_table::{ColumnConstraint, ContentArrangement, Width};
use std::io::Write;

/// List the decoders: version, answers, whose code runs, and contract
#[derive(Debug, Args)]
pub(super) struct List {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    selection: Selection,
}

#[derive(serde::Serialize)]
struct Listed<'a> {
    decoders: Vec<Row<'a>>,
}

#[derive(serde::Serialize)]
struct Row<'a> {
    name: &'a str,
    package: &'a str,
    version: &'a str,
    answers: Vec<&'static str>,
    lineage_short: &'a str,
    lineage_long: &'a str,
    contract: String,
}

impl<'a> Row<'a> {
    fn of(decoder: &'a dyn Decoder) -> Self {
        let info = decoder.info();
        let answers = [
            ("validate", decoder.validate(b"").is_some()),
            ("lossy", decoder.decode_lossy(b"", &mut Vec::new()).is_some()),
            ("stream", decoder.stream().is_some()),
        ];
        Self {
            name: &info.name,
            package: &info.package,
            version: &info.version,
            answers: answers.into_iter().filter(|(_, can)| *can).map(|(name, _)| name).collect(),
            lineage_short: info.lineage.at(0),
            lineage_long: info.lineage.at(usize::MAX),
            contract: info.claim(),
        }
    }
}

impl List {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let decoders = self.selection.decoders()?;
        let rows: Vec<Row<'_>> = decoders.iter().map(|decoder| Row::of(&**decoder)).collect();
        if self.json {
            write_json("list", &Listed { decoders: rows }, out)?;
            return Ok(Verdict::Clean);
        }
        let lineage = |row: &Row<'_>| match row.lineage_short == row.lineage_long {
            true => row.lineage_short.to_owned(),
            false => format!("{} (long input: {})", row.lineage_short, row.lineage_long),
        };
        /// On a terminal with fewer columns there is no room for the lineage, which `--json` has.
        const NARROW: u16 = 110;
        let width = width();
        let is_narrow = width.is_some_and(|width| width < NARROW);
        let lineage_title = if is_narrow { None } else { Some("lineage") };
        let head = ["decoder", "version", "answers"].into_iter().chain(lineage_title).chain(["contract"]);
        let mut table = comfy_table::Table::new();
        table.load_style(NOTHING).set_header(head);
        for row in &rows {
            let lineage = lineage_title.map(|_| lineage(row));
            let cells = [row.name.to_owned(), row.version.to_owned(), row.answers.join(" ")];
            table.add_row(cells.into_iter().chain(lineage).chain([row.contract.clone()]));
        }
        table.column_iter_mut().for_each(|column| {
            // No line needs space at its start.
            column.set_padding((0, 2));
        });
        if let Some(width) = width {
            table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width);
            // One answer per line; the rest of the terminal is for the last columns.
            let answer = ColumnConstraint::Absolute(Width::Fixed(10));
            let constraints = [ColumnConstraint::ContentWidth, ColumnConstraint::ContentWidth, answer];
            table.column_iter_mut().zip(constraints).for_each(|(column, constraint)| {
                column.set_constraint(constraint);
            });
        }
        writeln!(out, "{}", table.trim_fmt())?;
        Ok(Verdict::Clean)
    }
}
