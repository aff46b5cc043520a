//! `utfuzz minimize`: the smallest input that shows the same.

use crate::case::files;
use crate::cli::{Failure, Known, Selection, Verdict};
use crate::decoder::Decoder;
use crate::explain::notation;
use crate::generate::input_file;
use crate::text::shown;
use crate::triage::ledger::Ledger;
use crate::triage::minimise::minimise;
use crate::triage::regression;
use crate::triage::session::{Session, Shown};
use clap::Args;
use std::io::Write;
use std::path::PathBuf;

/// Minimise files: the smallest input with the same signature, for each decoder a file shows something of
#[derive(Debug, Args)]
pub(super) struct Minimize {
    /// The files; below a directory named `streaming` or `structured`, or named *.cut, they are read as those targets do
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Take every file below a directory
    #[arg(long, short)]
    recursive: bool,
    /// Write each witness into this directory, under its signature
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    #[command(flatten)]
    selection: Selection,
    #[command(flatten)]
    known: Known,
}

impl Minimize {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let boxes = self.selection.decoders()?;
        let decoders: Vec<&dyn Decoder> = boxes.iter().map(|decoder| &**decoder).collect();
        let ledger = self.known.ledger(self.known.corpus()?.as_deref())?;
        // Known differences are minimised too, and named by the ledger afterwards.
        let everything = Ledger::default();
        let mut session = Session::new(decoders.iter().copied(), &everything);
        let mut verdict = Verdict::Clean;
        for path in files::named_files(&self.paths, self.recursive)? {
            let input = input_file::read(&path)?;
            let found = session.judge(&input.case());
            if found.is_empty() {
                writeln!(out, "{}: shows nothing", shown(&path))?;
            }
            for found in found {
                let Shown::New(divergence) = found else { continue };
                let wrong = decoders.iter().find(|decoder| decoder.info().name == divergence.signature.decoder);
                let Some(&decoder) = wrong else { continue };
                let witness = minimise(decoder, &divergence);
                let signature = &witness.signature;
                let known = ledger.covers(decoder.info(), signature.law, signature.subject);
                let known = known.map_or(String::new(), |entry| format!(", known: {}", ledger.entries()[entry].id));
                if known.is_empty() {
                    verdict = Verdict::Diverged;
                }
                let (before, after) = (input.bytes.len(), witness.input.bytes.len());
                writeln!(out, "{}: {signature}{known}, {before} bytes to {after}", shown(&path))?;
                write!(out, "  {}", notation(&witness.input.bytes))?;
                match &witness.input.cuts {
                    Some(cuts) => writeln!(out, ", cut at {:?}", cuts.offsets())?,
                    None => writeln!(out)?,
                }
                if let Some(agreeing) = &witness.agreeing {
                    writeln!(out, "  agrees: {}", notation(agreeing))?;
                }
                if let Some(directory) = &self.output {
                    let file = regression::keep(directory, signature, &witness.input)?;
                    writeln!(out, "  written: {}", shown(&file))?;
                }
            }
        }
        Ok(verdict)
    }
}
