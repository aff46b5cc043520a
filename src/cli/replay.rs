//! `utfuzz replay`: judge files.

use crate::case::files;
use crate::cli::{Failure, Judging, Verdict};
use crate::engine::check::replay;
use crate::error::Error;
use crate::generate::input_file;
use crate::report::{Clock, Record};
use clap::Args;
use std::io::Write;
use std::path::PathBuf;

/// Judge the decoders on files; each is exactly the bytes they see, but those named *.cut and those below a directory
/// named `streaming` or `structured`, which are read as these targets do
#[derive(Debug, Args)]
pub(super) struct Replay {
    /// The files
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Take every file below a directory
    #[arg(long, short)]
    recursive: bool,
    #[command(flatten)]
    judging: Judging,
}

impl Replay {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let boxes = self.judging.selection.decoders()?;
        let decoders: Vec<_> = boxes.iter().map(|decoder| &**decoder).collect();
        let ledger = self.judging.known.ledger(self.judging.known.corpus()?.as_deref())?;
        let files = files::named_files(&self.paths, self.recursive)?;
        if files.is_empty() {
            return Err(Error::usage("the named directories contain no files; nothing was judged").into());
        }
        let inputs = files.iter().map(|path| input_file::read(path)).collect::<Result<Vec<_>, _>>()?;
        let clock = Clock::start("utfuzz replay");
        let outcome = replay(&decoders, &ledger, inputs);
        let record = Record::of_check(&clock, &decoders, &ledger, &outcome);
        self.judging.print(&record, out)?;
        Ok(if outcome.divergences.is_empty() { Verdict::Clean } else { Verdict::Diverged })
    }
}
