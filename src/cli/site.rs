//! `utfuzz site`: a static site of all reports.

use crate::cli::output::{Failure, Verdict, note};
use crate::report::site;
use crate::text::shown;
use clap::Args;
use std::io::Write;
use std::path::PathBuf;

/// Write a static site of the reports that exist, and of the code pages of all grammars
#[derive(Debug, Args)]
pub(super) struct Site {
    /// The directory for the pages; index.html is the first
    #[arg(short, long, value_name = "DIR")]
    output: PathBuf,
    /// The directory of the reports
    #[arg(long, value_name = "DIR", default_value = "reports")]
    reports: PathBuf,
}

impl Site {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        for unread in site::write(&self.reports, &self.output)? {
            note(&format!("not shown: {unread}"));
        }
        writeln!(out, "{}", shown(&self.output.join("index.html")))?;
        Ok(Verdict::Clean)
    }
}
