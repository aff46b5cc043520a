//! The command `utfuzz`: see `utfuzz --help`.

use clap::Parser;
use std::process::ExitCode;

fn main() -> ExitCode {
    utfuzz::cli::Cli::parse().run()
}
