//! `utfuzz explain`: what bytes are, and who says what of them.

use super::{Failure, Selection, Verdict};
use crate::error::Error;
use crate::input::{Case, corpus, vectors};
use crate::judge::{Grid, annotate};
use crate::spec::{Contract, code_points, validity};
use clap::Args;
use std::ffi::OsString;
use std::io::{Read, Write};
use std::path::Path;

/// Explain bytes: what each is, which rule is broken and where that stands, and what every decoder answers
#[derive(Debug, Args)]
pub(super) struct Explain {
    /// Hexadecimal digits such as 'C0 AF', the name of a file, or - for standard input
    #[arg(value_name = "HEX|FILE|-")]
    input: OsString,
    #[command(flatten)]
    selection: Selection,
}

impl Explain {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let boxes = self.selection.decoders()?;
        let bytes = self.bytes()?;
        let contract = Contract::STANDARD;
        writeln!(out, "{} bytes: {}\n", bytes.len(), validity(&contract, &bytes))?;
        writeln!(out, "{}", annotate(&contract, &bytes))?;
        const MOST: usize = 64;
        let shown: Vec<String> =
            code_points(&contract, &bytes).take(MOST).map(|code_point| format!("U+{code_point:04X}")).collect();
        let more = code_points(&contract, &bytes).skip(MOST).count();
        let more = if more > 0 { format!(" … {more} more") } else { String::new() };
        writeln!(out, "decoded: {}{more}\n", shown.join(" "))?;
        write!(out, "{}", Grid::of(boxes.iter().map(|decoder| &**decoder), &Case::new(&bytes)))?;
        Ok(Verdict::Clean)
    }

    fn bytes(&self) -> Result<Vec<u8>, Error> {
        if self.input == "-" {
            let mut bytes = Vec::new();
            return match std::io::stdin().lock().read_to_end(&mut bytes) {
                Ok(_) => Ok(bytes),
                Err(error) => Err(Error::io(Path::new("standard input"), &error)),
            };
        }
        let path = Path::new(&self.input);
        if path.exists() {
            return corpus::read_file(path);
        }
        let text = self.input.to_string_lossy();
        vectors::parse_hex(&text).map_err(|what| {
            Error::usage(format!("{text:?} is neither a file nor hexadecimal: {what}; write bytes as in 'C0 AF'"))
        })
    }
}
