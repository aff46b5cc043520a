//! `utfuzz explain`: what bytes mean, and what each decoder answers; and `utfuzz chart`: the code page of a grammar.

use crate::case::{Case, input};
use crate::cli::arguments::{Selection, grammar};
use crate::cli::output::{Failure, Verdict};
use crate::cli::terminal::{has_colours, painted};
use crate::error::Error;
use crate::explain::{Grid, annotate, bits};
use crate::generate::{input_file, vectors};
use crate::report::{chart, write_json};
use crate::spec::grammar::ALL;
use crate::spec::{Contract, Grammar, code_points, encode, encode_text, validity};
use clap::Args;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Explain text or bytes: what they are, what is wrong, and how to repair it
#[derive(Debug, Args)]
pub(super) struct Explain {
    /// Hexadecimal digits such as 'C0 AF', code points such as U+20AC, the name of a file, or - for standard input
    #[arg(value_name = "HEX|U+XXXX|FILE|-")]
    input: OsString,
    /// Read and write by this grammar: rfc3629, rfc2279, cesu-8, modified-utf-8, wtf-8 or another; an unknown name
    /// lists them all. The decoders are held to their own grammars
    #[arg(long = "as", value_name = "GRAMMAR", default_value = "rfc3629")]
    grammar: String,
    #[command(flatten)]
    selection: Selection,
}

impl Explain {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let boxes = self.selection.decoders()?;
        let contract = Contract { grammar: grammar(&self.grammar)?, ..Contract::STANDARD };
        let bytes = self.bytes(&contract)?;
        writeln!(out, "{} bytes: {}\n", bytes.len(), validity(&contract, &bytes))?;
        writeln!(out, "{}", painted(&annotate(&contract, &bytes)))?;
        if !bytes.is_empty() {
            writeln!(out, "{}", bits(&contract, &bytes))?;
        }
        const MOST: usize = 64;
        let shown: Vec<String> =
            code_points(&contract, &bytes).take(MOST).map(|code_point| format!("U+{code_point:04X}")).collect();
        let more = code_points(&contract, &bytes).skip(MOST).count();
        let more = if more > 0 { format!(" … {more} more") } else { String::new() };
        writeln!(out, "decoded: {}{more}\n", shown.join(" "))?;
        let grid = Grid::of(&contract, boxes.iter().map(|decoder| &**decoder), &Case::new(&bytes));
        write!(out, "{}", painted(&grid.to_string()))?;
        Ok(Verdict::Clean)
    }

    fn bytes(&self, contract: &Contract) -> Result<Vec<u8>, Error> {
        if self.input == "-" {
            let mut bytes = Vec::new();
            return match io::stdin().lock().read_to_end(&mut bytes) {
                Ok(_) => Ok(bytes),
                Err(error) => Err(Error::io(Path::new("standard input"), &error)),
            };
        }
        let path = Path::new(&self.input);
        if path.exists() {
            return input::read_file(path, input_file::LONGEST);
        }
        let text = self.input.to_string_lossy();
        if let Some(text) = named_code_points(&text) {
            return encoded(contract, &text?);
        }
        vectors::parse_hex(&text).map_err(|what| {
            Error::usage(format!(
                "{text:?} is neither a file nor hexadecimal: {what}; write bytes as in 'C0 AF', code points as in U+20AC"
            ))
        })
    }
}

/// Code points written as U+20AC, with white space or commas between; `None` for any other text.
fn named_code_points(text: &str) -> Option<Result<Vec<u32>, Error>> {
    let mut words = text.split([' ', ',', '\t', '\n']).filter(|word| !word.is_empty()).peekable();
    let digits = |word: &str| word.strip_prefix("U+").or_else(|| word.strip_prefix("u+")).map(str::to_owned);
    digits(words.peek()?)?;
    let code_point = |word: &str| {
        let digits = digits(word).filter(|digits| digits.chars().all(|c| c.is_ascii_hexdigit()));
        let number = digits.and_then(|digits| u32::from_str_radix(&digits, 16).ok());
        number.ok_or_else(|| Error::usage(format!("{word:?} is not a code point; write one as in U+20AC")))
    };
    Some(words.map(code_point).collect())
}

/// The bytes of these code points; if the grammar refuses one, the error names the grammars that accept it.
fn encoded(contract: &Contract, text: &[u32]) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    encode_text(contract, text, &mut bytes).map(|()| bytes).map_err(|refused| {
        let takes = |grammar: &&&'static Grammar| encode(grammar, refused.code_point, &mut Vec::new()).is_ok();
        let others: Vec<&str> = ALL.iter().filter(takes).map(|grammar| grammar.name).collect();
        let remedy = match &others[..] {
            [] => "no grammar has it".to_owned(),
            _ => format!("these have it, choose one with --as: {}", others.join(", ")),
        };
        Error::usage(format!("{} refuses {refused}; {remedy}", contract.grammar.name))
    })
}

/// Show the code page of a grammar: what each of the 256 bytes may be
#[derive(Debug, Args)]
pub(super) struct Chart {
    /// The grammar: rfc3629, rfc2279, cesu-8, modified-utf-8, wtf-8 or another; an unknown name lists them all
    #[arg(long, value_name = "NAME", default_value = "rfc3629")]
    grammar: String,
    /// Write it as an HTML page to this file, and print nothing
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
            let page = chart::page(grammar).map_err(|error| Error::io(path, &error))?;
            crate::io::replace_file(path, page.as_bytes())?;
        } else if self.json {
            write_json("chart", &chart::Chart::of(grammar), out)?;
        } else {
            chart::text(grammar, has_colours(), out)?;
        }
        Ok(Verdict::Clean)
    }
}
