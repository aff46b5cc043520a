//! `utfuzz triage`: files grouped by cause, minimised, and kept as regressions.

use crate::case::files;
use crate::cli::{Bar, Failure, Judging, Verdict};
use crate::decoder::Decoder;
use crate::error::Error;
use crate::report::{Clock, Record, history, write_all};
use crate::text::shown;
use crate::triage::{Member, Outcome, regression, triage};
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Triage directories of crash files: one cluster for each cause, minimised, new ones kept as regressions
#[derive(Debug, Args)]
pub(super) struct Triage {
    /// Directories and files: crashes, timeouts, corpora, anything
    #[arg(required = true, value_name = "DIR")]
    paths: Vec<PathBuf>,
    /// Keep the witnesses of new signatures in this directory; signatures of its files are not new
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
    /// Write report.json, .md, .junit.xml, .sarif and .html into this directory; nights in its history.jsonl are shown
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    #[command(flatten)]
    judging: Judging,
}

impl Triage {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let boxes = self.judging.selection.decoders()?;
        let decoders: Vec<&dyn Decoder> = boxes.iter().map(|decoder| &**decoder).collect();
        let ledger = self.judging.known.ledger(self.judging.known.corpus()?.as_deref())?;
        let files = files::named_files(&self.paths, true)?;
        if files.is_empty() {
            return Err(Error::usage("the named directories contain no files; nothing was triaged").into());
        }
        let clock = Clock::start("utfuzz triage");
        let bar = Bar::new();
        let outcome = triage(&decoders, &ledger, &files, self.output.as_deref(), &|what, share| bar.show(what, share))?;
        bar.finish();
        let kept = match &self.output {
            Some(directory) => keep(&outcome, directory)?,
            None => Vec::new(),
        };
        let mut record = Record::of_triage(&clock, &decoders, &outcome, &kept);
        if let Some(directory) = &self.report {
            record.enter_history(history(&directory.join("history.jsonl"))?);
        }
        self.judging.print(&record, out)?;
        if !self.judging.json {
            kept.iter().try_for_each(|(_, file)| writeln!(out, "written: {}", shown(file)))?;
        }
        // After the text, which is not lost if a report cannot be written.
        if let Some(directory) = &self.report {
            write_all(&record, directory)?;
        }
        if outcome.inputs == 0 {
            return Err(Error::usage("none of the files could be read; nothing was triaged").into());
        }
        Ok(if outcome.new_members().next().is_none() { Verdict::Clean } else { Verdict::Diverged })
    }
}

/// Keeps the witnesses of new signatures; each with its file.
fn keep(outcome: &Outcome, directory: &Path) -> Result<Vec<(String, PathBuf)>, Error> {
    let keep = |member: &Member| {
        let signature = &member.witness.signature;
        Ok((signature.to_string(), regression::keep(directory, signature, &member.witness.input)?))
    };
    outcome.new_members().map(keep).collect()
}
