//! `utfuzz reports`: the committed reports of this repository, for its own scripts.

use crate::cli::output::{Failure, Verdict};
use crate::error::Error;
use crate::report::freshness;
use crate::report::freshness::{State, report};
use crate::report::{Exporter, Html, Json, Markdown, Record, Text};
use clap::{Args, Subcommand, ValueEnum};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Stamp the committed reports, and list those whose sources have changed
#[derive(Debug, Args)]
pub(super) struct Reports {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, Subcommand)]
enum Action {
    /// Print the digest of a report's sources
    Digest {
        /// The report
        name: String,
    },
    /// Record that a report was just generated
    Stamp {
        /// The report
        name: String,
        /// The digest of its sources before it was generated
        #[arg(long, value_name = "DIGEST")]
        sources: String,
        /// How many seconds that took
        #[arg(long, value_name = "N")]
        seconds: u64,
        /// How many cases were run
        #[arg(long, value_name = "N")]
        cases: Option<u64>,
    },
    /// List the reports that are not current; exit status 1 if they include one that is fast to generate
    Stale,
    /// Write the table of reports into docs/reports.md
    Table,
    /// Print the record in a JSON file in another format
    Render {
        /// The format
        format: Format,
        /// The file
        file: PathBuf,
    },
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Text,
    Json,
    Markdown,
    Html,
}

impl Reports {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let root = Path::new(".");
        match self.action {
            Action::Digest { name } => writeln!(out, "{}", freshness::digest(root, report(&name)?.sources)?)?,
            Action::Stamp { name, sources, seconds, cases } => {
                freshness::stamp(root, report(&name)?, &sources, seconds, cases)?;
            }
            Action::Table => freshness::write_table(root)?,
            Action::Stale => {
                let states = freshness::states(root)?;
                let stale: Vec<_> = states.iter().filter(|(_, _, state)| *state != State::Current).collect();
                for (report, _, state) in &stale {
                    writeln!(out, "{}: {}; generate it with {}", report.name, state.name(), report.command)?;
                }
                let fails = stale.iter().any(|(report, _, _)| !report.slow);
                return Ok(if fails { Verdict::Diverged } else { Verdict::Clean });
            }
            Action::Render { format, file } => {
                let text = crate::case::input::read_file(&file, u64::MAX)?;
                let record: Record = serde_json::from_slice(&text)
                    .map_err(|error| Error::parse(format!("{}: {error}", crate::text::shown(&file))))?;
                let format: &dyn Exporter = match format {
                    Format::Text => &Text,
                    Format::Json => &Json,
                    Format::Markdown => &Markdown,
                    Format::Html => &Html,
                };
                format.export(&record, out)?;
            }
        }
        Ok(Verdict::Clean)
    }
}
