//! `utfuzz chart`: the code page of a grammar.

use crate::cli::{Failure, Verdict, grammar};
use crate::error::Error;
use crate::report::chart;
use clap::Args;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;

/// Show the code page of a grammar: what each of the 256 bytes may be, and how the ranges of code points are written
#[derive(Debug, Args)]
pub(super) struct Chart {
    /// The grammar: rfc3629, rfc2279, cesu-8, modified-utf-8, wtf-8 or another; an unknown name lists them all
    #[arg(long, value_name = "NAME", default_value = "rfc3629")]
    grammar: String,
    /// Write it as a page to this file, and print nothing
    #[arg(short = 'o', long, value_name = "FILE", conflicts_with = "json")]
    html: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

impl Chart {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let grammar = grammar(&self.grammar)?;
        if let Some(path) = &self.html {
            let page = chart::page(grammar).map_err(|error| Error::io(path, &io::Error::other(error)))?;
            crate::io::replace_file(path, page.as_bytes())?;
        } else if self.json {
            serde_json::to_writer(&mut *out, &chart::Chart::of(grammar)).map_err(io::Error::from)?;
            writeln!(out)?;
        } else {
            chart::text(grammar, wants_colours(), out)?;
        }
        Ok(Verdict::Clean)
    }
}

/// On a terminal, unless its user asks for none (no-color.org).
fn wants_colours() -> bool {
    io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}
