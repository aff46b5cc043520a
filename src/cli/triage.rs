//! `utfuzz triage`: files grouped by cause, minimised, and kept as regressions.

use crate::case::files;
use crate::cli::{Bar, Failure, Judging, Verdict};
use crate::decoder::Decoder;
use crate::error::Error;
use crate::report::findings::{Exporter, Findings, Json, Text, history, write_all};
use crate::text::shown;
use crate::triage::{Member, Outcome, regression, triage};
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Instant, SystemTime};

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
        let (now, start) = (SystemTime::now(), Instant::now());
        let bar = Bar::new();
        let outcome = triage(&decoders, &ledger, &files, self.output.as_deref(), &|what, share| bar.show(what, share))?;
        bar.finish();
        let kept = match &self.output {
            Some(directory) => keep(&outcome, directory)?,
            None => Vec::new(),
        };
        let started = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
        let mut findings = Findings::of(&outcome, &decoders, started, start.elapsed().as_secs_f64());
        kept.iter().for_each(|(signature, file)| findings.enter_kept(signature, file));
        if let Some(directory) = &self.report {
            findings.history = history(&directory.join("history.jsonl"))?;
        }
        if self.judging.json {
            Json.export(&findings, out)?;
        } else {
            Text.export(&findings, out)?;
            kept.iter().try_for_each(|(_, file)| writeln!(out, "written: {}", shown(file)))?;
        }
        // After the text, which is not lost if a report cannot be written.
        if let Some(directory) = &self.report {
            write_all(&findings, directory)?;
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
