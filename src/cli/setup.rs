//! `utfuzz completions` and `utfuzz man`: what a shell and `man` need to know about the command.

use crate::cli::output::{Failure, Verdict};
use crate::error::Error;
use clap::{Args, Command};
use clap_complete::Shell;
use std::io::Write;
use std::path::PathBuf;

/// Print a script that completes commands and options in a shell
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, mut command: Command, out: &mut dyn Write) -> Result<Verdict, Failure> {
        clap_complete::generate(self.shell, &mut command, "utfuzz", &mut &mut *out);
        Ok(Verdict::Clean)
    }
}

/// Print the manual page, or write one for each command
#[derive(Debug, Args)]
pub(super) struct Man {
    /// Write utfuzz.1, utfuzz-check.1 and so on into this directory, which is created if necessary
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Man {
    pub(super) fn run(self, command: Command, out: &mut dyn Write) -> Result<Verdict, Failure> {
        match self.output {
            Some(directory) => {
                let written =
                    std::fs::create_dir_all(&directory).and_then(|()| clap_mangen::generate_to(command, &directory));
                written.map_err(|error| Error::io(&directory, &error))?;
            }
            None => clap_mangen::Man::new(command).render(&mut &mut *out)?,
        }
        Ok(Verdict::Clean)
    }
}
