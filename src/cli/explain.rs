//! `utfuzz explain`: what bytes mean, and what each decoder answers; and `utfuzz chart`: the code page of a grammar.

use crate::cli::arguments::{Selection, grammar};
use crate::cli::output::{Failure, Verdict};
use crate::cli::terminal::{has_colours, is_verbose, painted};
use crate::cli::typed;
use crate::cli::typed::{Notation, Typed};
use crate::error::Error;
use crate::explain::Window;
use crate::generate::input_file;
use crate::report::explanation::Explanation;
use crate::report::record::FileName;
use crate::report::{chart, write_json};
use crate::spec::grammar::ALL;
use crate::spec::{Contract, Grammar, encode, encode_text};
use crate::text::shown;
use clap::Args;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Explain text or bytes: what they are, what is wrong, and how to repair it
///
/// The input is the name of a file, - for standard input, or what is typed: text, hexadecimal ('C0 AF', 0xC0,0xAF),
/// escapes (\\xC0, %C3%A9, \\u20AC) or code points (U+20AC). Only a part of a long input is shown, around its first error.
#[derive(Debug, Args)]
pub(super) struct Explain {
    /// A file, - for standard input, or text or bytes in any usual notation
    #[arg(value_name = "TEXT|HEX|FILE|-", required = true)]
    input: Vec<OsString>,
    /// Take the arguments, or standard input, as text, never as a file or another notation
    #[arg(long, group = "notation")]
    text: bool,
    /// Take them as hexadecimal
    #[arg(long, group = "notation")]
    hex: bool,
    /// Take them as text with escapes
    #[arg(long, group = "notation")]
    escapes: bool,
    /// Read and write by this grammar: rfc3629, rfc2279, cesu-8, modified-utf-8, wtf-8 or another; an unknown name
    /// lists them all. The decoders are held to their own grammars
    #[arg(long = "as", value_name = "GRAMMAR", default_value = "rfc3629")]
    grammar: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Write an HTML page to this file, and print nothing
    #[arg(long, value_name = "FILE", conflicts_with = "json")]
    html: Option<PathBuf>,
    #[command(flatten)]
    selection: Selection,
}

/// What is explained.
struct Given {
    window: Window,
    notation: &'static str,
    /// Whether another notation may have been meant.
    doubtful: bool,
    path: Option<FileName>,
}

impl Given {
    fn typed(contract: &Contract, text: &str, notation: Notation) -> Result<Self, Error> {
        let bytes = match typed::read(text, notation)? {
            Typed::Bytes(bytes) => bytes,
            Typed::CodePoints(code_points) => encoded(contract, &code_points)?,
        };
        let doubtful = notation == Notation::Hex && text.chars().all(|c| c.is_ascii_alphabetic()) && !text.is_empty();
        Ok(Self { doubtful, ..Self::bytes(contract, &bytes, notation.name())? })
    }

    fn bytes(contract: &Contract, bytes: &[u8], notation: &'static str) -> Result<Self, Error> {
        let window = Window::read(contract, bytes).map_err(|error| Error::io(Path::new("the arguments"), &error))?;
        Ok(Self { window, notation, doubtful: false, path: None })
    }
}

impl Explain {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let boxes = self.selection.decoders()?;
        let decoders: Vec<_> = boxes.iter().map(|decoder| &**decoder).collect();
        let contract = Contract { grammar: grammar(&self.grammar)?, ..Contract::STANDARD };
        let Given { window, notation, doubtful, path } = self.given(&contract)?;
        let mut explanation = Explanation::of(&contract, &window, notation, path, &decoders);
        explanation.doubtful = doubtful;
        if self.json {
            write_json("explain", &explanation, out)?;
        } else if let Some(path) = &self.html {
            let page = explanation.page().map_err(|error| Error::io(path, &error))?;
            crate::io::replace_file(path, page.as_bytes())?;
        } else {
            let details = is_verbose() || !self.selection.decoders.is_empty();
            out.write_all(painted(&explanation.text(details)).as_bytes())?;
        }
        Ok(Verdict::Clean)
    }

    /// The notation that the user chose.
    fn notation(&self) -> Option<Notation> {
        let chosen = [(self.text, Notation::Text), (self.hex, Notation::Hex), (self.escapes, Notation::Escapes)];
        chosen.into_iter().find(|(is_chosen, _)| *is_chosen).map(|(_, notation)| notation)
    }

    fn given(&self, contract: &Contract) -> Result<Given, Error> {
        if let [only] = &self.input[..] {
            if only == "-" {
                return self.standard_input(contract);
            }
            let path = Path::new(only);
            if self.notation().is_none() && path.exists() {
                let opened = File::open(path).and_then(|file| Window::read(contract, file));
                let window = opened.map_err(|error| Error::io(path, &error))?;
                let path = Some(FileName::of(path));
                return Ok(Given { window, notation: "bytes", doubtful: false, path });
            }
        }
        let words: Option<Vec<&str>> = self.input.iter().map(|word| word.to_str()).collect();
        let Some(words) = words else {
            // Bytes that are not Unicode are taken literally.
            let words: Vec<&[u8]> = self.input.iter().map(|word| word.as_encoded_bytes()).collect();
            return Given::bytes(contract, &words.join(&b' '), "text");
        };
        let text = words.join(" ");
        let notation = self.notation().unwrap_or_else(|| typed::recognise(&text));
        if self.notation().is_none() && notation == Notation::Text && is_like_a_path(&text) {
            let name = shown(Path::new(&text));
            return Err(Error::usage(format!("{name}: there is no such file; --text explains the name itself")));
        }
        Given::typed(contract, &text, notation)
    }

    fn standard_input(&self, contract: &Contract) -> Result<Given, Error> {
        /// More than the longest input whose notation is recognised without being chosen.
        const START: u64 = 8 << 10;
        let wrong = |error: io::Error| Error::io(Path::new("standard input"), &error);
        let mut input = io::stdin().lock();
        let mut start = Vec::new();
        let most = if self.hex || self.escapes { input_file::LONGEST } else { START };
        input.by_ref().take(most).read_to_end(&mut start).map_err(wrong)?;
        let notation = match self.notation() {
            Some(notation) => Some(notation).filter(|notation| *notation != Notation::Text),
            None => typed::recognise_content(&start),
        };
        match notation {
            None => {
                let window = Window::read(contract, start.chain(input)).map_err(wrong)?;
                Ok(Given { window, notation: "bytes", doubtful: false, path: None })
            }
            Some(notation) => {
                let text = String::from_utf8_lossy(&start);
                Ok(Given { doubtful: self.notation().is_none(), ..Given::typed(contract, text.trim(), notation)? })
            }
        }
    }
}

/// Whether a word is probably the name of a file: it has a slash, or an extension.
fn is_like_a_path(text: &str) -> bool {
    let has_extension = text.rsplit_once('.').is_some_and(|(stem, extension)| {
        let is_name = extension.len() <= 5 && extension.chars().all(|c| c.is_ascii_alphanumeric());
        !stem.is_empty() && is_name && extension.starts_with(|c: char| c.is_ascii_alphabetic())
    });
    !text.contains(char::is_whitespace) && (has_extension || text.contains('/'))
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
