//! `utfuzz list`: all decoders of this build.

use crate::cli::arguments::Selection;
use crate::cli::output::{Failure, Verdict};
use crate::decoder::Decoder;
use clap::Args;
use std::io::Write;

/// List the decoders: version, the questions they answer, lineage, and contract
#[derive(Debug, Args)]
pub(super) struct List {
    /// Print one JSON array
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    selection: Selection,
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
            contract: info.contract.to_string(),
        }
    }
}

impl List {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let decoders = self.selection.decoders()?;
        let rows: Vec<Row<'_>> = decoders.iter().map(|decoder| Row::of(&**decoder)).collect();
        if self.json {
            serde_json::to_writer(&mut *out, &rows).map_err(std::io::Error::from)?;
            writeln!(out)?;
            return Ok(Verdict::Clean);
        }
        let lineage = |row: &Row<'_>| match row.lineage_short == row.lineage_long {
            true => row.lineage_short.to_owned(),
            false => format!("{} (long input: {})", row.lineage_short, row.lineage_long),
        };
        let width = |column: &dyn Fn(&Row<'_>) -> usize| rows.iter().map(column).max().unwrap_or(0);
        let (names, versions) = (width(&|row| row.name.len()), width(&|row| row.version.len()));
        let (answers, lineages) = (width(&|row| row.answers.join("+").len()), width(&|row| lineage(row).len()));
        for row in &rows {
            writeln!(
                out,
                "{:names$}  {:versions$}  {:answers$}  {:lineages$}  {}",
                row.name,
                row.version,
                row.answers.join("+"),
                lineage(row),
                row.contract,
            )?;
        }
        Ok(Verdict::Clean)
    }
}
