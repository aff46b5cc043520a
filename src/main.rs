//! The command `utfuzz`: see `utfuzz --help`.

use std::process::ExitCode;

fn main() -> ExitCode {
    utfuzz::cli::Cli::main()
}
