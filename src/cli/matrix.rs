//! `utfuzz matrix`: what every decoder does, side by side.

use crate::cli::arguments::Judging;
use crate::cli::one_by_one::one_by_one;
use crate::cli::output::{Failure, Verdict, note};
use crate::decoder::Decoder;
use crate::error::Error;
use crate::report::record::Section;
use crate::report::record::matrix::{Change, Examined, ExaminedUnits, Matrix};
use crate::report::{Clock, Record, write_all};
use crate::text::{counted, printable, shown};
use clap::Args;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

/// Show what decoders do, side by side, by asking each some fifty questions
///
/// All decoders of this build take part, and with --adapters those of every adapter that is installed; --decoders selects
/// some. Decoders of UTF-16 and UTF-32 are asked some twenty questions of their own.
#[derive(Debug, Args)]
pub(super) struct MatrixVerb {
    /// Write matrix.json, .html, .md, .csv and .svg into this directory
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Print which answers differ from those in this older matrix.json
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    since: Option<PathBuf>,
    #[command(flatten)]
    judging: Judging,
}

impl MatrixVerb {
    /// `command` is the command line, with the options of `utfuzz.toml`.
    pub(super) fn run(mut self, command: String, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let old = self.since.as_deref().map(read).transpose()?;
        let clock = Clock::start(command);
        let selection = &mut self.judging.selection;
        if selection.decoders.is_empty() {
            selection.decoders = "*".into();
        }
        let (decoders, units) = selection.decoders_and_units()?;
        let ledger = self.judging.ledger(self.judging.known.corpus()?.as_deref())?;
        let decoders: Vec<_> = decoders.iter().map(|decoder| &**decoder).collect();
        // Missing rows would look like decoders that no longer exist, so ^C ends the command without a matrix.
        let never = AtomicBool::new(false);
        let examined = one_by_one(&decoders, &never, |decoder| Examined::of(decoder, &ledger), |_| ())?;
        let encodings: BTreeMap<_, _> = units.iter().map(|of| (&*of.decoder.info().name, of.encoding)).collect();
        let units: Vec<_> = units.iter().map(|of| &*of.decoder).collect();
        let examine =
            |decoder: &dyn Decoder| encodings.get(&*decoder.info().name).map(|of| ExaminedUnits::of(decoder, *of));
        let units = one_by_one(&units, &never, examine, |_| ())?;
        let matrix = Matrix::of(examined).with_units(units.into_iter().flatten().collect());
        let record = Record::of_matrix(&clock, matrix);
        if let Some(directory) = &self.output {
            write_all(&record, directory)?;
            note(&format!("wrote {}", shown(&directory.join("matrix.html"))));
        }
        let Section::Matrix(matrix) = &record.section else { return Ok(Verdict::Clean) };
        match old {
            Some(old) => write_changes(&matrix.since(&old), out)?,
            None if self.output.is_none() || self.judging.json => self.judging.print(&record, out)?,
            None => {}
        }
        Ok(Verdict::Clean)
    }
}

/// The matrix of a record in a file.
fn read(path: &Path) -> Result<Matrix, Error> {
    let wrong =
        |why: String| Error::parse(format!("{}: {why}; name a matrix.json that this command wrote", shown(path)));
    let text = std::fs::read(path).map_err(|error| Error::io(path, &error))?;
    let record: Record = serde_json::from_slice(&text).map_err(|error| wrong(error.to_string()))?;
    match record.section {
        Section::Matrix(matrix) => Ok(matrix),
        _ => Err(wrong("this is another kind of record".into())),
    }
}

fn write_changes(changes: &[Change<'_>], out: &mut dyn Write) -> Result<(), Failure> {
    for Change { name, before, version, column, from, to } in changes {
        let (name, group, title) = (printable(name), printable(&column.group), printable(&column.title));
        writeln!(out, "{name}, {group} {title} ({}):", printable(&column.bytes))?;
        writeln!(out, "  {}: {}", printable(before), printable(&from.word))?;
        writeln!(out, "  {}: {}", printable(version), printable(&to.word))?;
    }
    writeln!(out, "{}", counted(changes.len(), "changed answer"))?;
    Ok(())
}
