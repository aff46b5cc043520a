//! `utfuzz repair`: text that was decoded wrongly and encoded again.

use crate::cli::detect::Input;
use crate::cli::output::{Failure, OutputFile, Verdict, note};
use crate::codec::convert::{Left, Repaired, Repairs, repair};
use crate::error::Error;
use crate::report::write_json;
use crate::text::{hex, printable};
use clap::Args;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Repair text that was decoded wrongly: UTF-8 that was read as Latin-1 or Windows-1252 and encoded again, once or
/// several times ("cafÃ©"), and Windows-1252 among UTF-8
///
/// By default it prints what would change, as a diff, and the lines that may be wrong but are left, because they are
/// plausible as they are or could be repaired in two ways.
///
/// Exit status 1: there is something to repair, or lines are left.
#[derive(Debug, Args)]
pub(super) struct Repair {
    /// The file to repair, all of which is read into memory; - is standard input
    #[arg(value_name = "FILE", default_value = "-")]
    file: PathBuf,
    /// Write the repaired text
    #[arg(long, requires = "output")]
    apply: bool,
    /// The file to write with --apply, which is replaced only at the end; - is standard output
    #[arg(short, long, value_name = "FILE", requires = "apply")]
    output: Option<PathBuf>,
    /// Repair the file itself, and keep a copy of the original, with this added to its name, such as .orig
    #[arg(long, value_name = "SUFFIX", conflicts_with_all = ["apply", "output"])]
    in_place: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(serde::Serialize)]
struct Record<'a> {
    name: &'a str,
    lines: u64,
    repaired: Vec<RepairedRow<'a>>,
    left: Vec<LeftRow<'a>>,
}

/// Bytes are in hexadecimal.
#[derive(serde::Serialize)]
struct RepairedRow<'a> {
    line: u64,
    offset: u64,
    before: String,
    after: &'a str,
    layers: u32,
    stray_bytes: u64,
}

#[derive(serde::Serialize)]
struct LeftRow<'a> {
    line: u64,
    offset: u64,
    bytes: String,
    doubt: &'static str,
    candidates: &'a [String],
}

impl Repair {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let mut input = Input::open(&self.file)?;
        let text = input.read_all()?;
        let repairs = repair(&text);
        let to_standard_output = self.output.as_deref() == Some(Path::new("-"));
        if to_standard_output && self.json {
            return Err(Error::usage("--json and the repaired text cannot both be written to standard output").into());
        }
        let is_written = self.write(&text, &repairs, input.has_end, out)?;
        if self.json {
            write_json("repair", &Record::of(&input.name, &repairs), out)?;
        } else if to_standard_output {
            note(&summary(&input.name, &repairs));
        } else {
            if !is_written {
                print_diff(&input.name, &repairs.repaired, out)?;
            }
            print_left(&input.name, &repairs.left, out)?;
            out.flush()?;
            note(&summary(&input.name, &repairs));
        }
        let is_clean = repairs.left.is_empty() && (is_written || repairs.repaired.is_empty());
        Ok(if is_clean { Verdict::Clean } else { Verdict::IllFormed })
    }

    /// Writes the repaired text, if it is wanted. Returns whether it is.
    fn write(&self, before: &[u8], repairs: &Repairs, is_file: bool, out: &mut dyn Write) -> Result<bool, Failure> {
        if let Some(suffix) = &self.in_place {
            if suffix.is_empty() || suffix.contains(['/', '\\']) {
                return Err(Error::usage("--in-place needs a suffix for the name of the copy, such as .orig").into());
            }
            if !is_file {
                return Err(Error::usage("--in-place repairs files only").into());
            }
            if repairs.repaired.is_empty() {
                return Ok(true);
            }
            let mut copy = self.file.clone().into_os_string();
            copy.push(suffix);
            let copy = PathBuf::from(copy);
            if copy.symlink_metadata().is_ok() {
                let exists = io::Error::from(io::ErrorKind::AlreadyExists);
                return Err(Error::io(&copy, &exists).into());
            }
            write(&copy, before)?;
            write(&self.file, &repairs.text)?;
        } else {
            match self.output.as_deref() {
                None => return Ok(false),
                Some(path) if path == Path::new("-") => out.write_all(&repairs.text)?,
                Some(path) => write(path, &repairs.text)?,
            }
        }
        Ok(true)
    }
}

fn write(path: &Path, text: &[u8]) -> Result<(), Error> {
    let mut file = OutputFile::create(path)?;
    file.write(text)?;
    file.finish()
}

/// A unified diff without context, in which control characters and bytes that are not UTF-8 are escaped.
fn print_diff(name: &str, repaired: &[Repaired], out: &mut dyn Write) -> io::Result<()> {
    if !repaired.is_empty() {
        writeln!(out, "--- {name}\n+++ {name}, repaired")?;
    }
    for Repaired { line, before, after, .. } in repaired {
        writeln!(out, "@@ -{line} +{line} @@\n-{}\n+{}", shown_bytes(before), printable(after))?;
    }
    Ok(())
}

fn print_left(name: &str, left: &[Left], out: &mut dyn Write) -> io::Result<()> {
    for Left { line, offset, text, doubt, candidates, .. } in left {
        writeln!(out, "{name}: byte {offset}, line {line}: left: {}\n  {}", doubt.reason(), shown_bytes(text))?;
        for candidate in candidates {
            writeln!(out, "? {}", printable(candidate))?;
        }
    }
    Ok(())
}

fn summary(name: &str, repairs: &Repairs) -> String {
    let (repaired, left) = (repairs.repaired.len(), repairs.left.len());
    format!("{name}: lines: {}, to repair: {repaired}, left: {left}", repairs.lines)
}

/// Text with its bytes that are not UTF-8 escaped.
fn shown_bytes(bytes: &[u8]) -> String {
    let chunks = bytes.utf8_chunks();
    chunks.map(|chunk| printable(chunk.valid()) + &chunk.invalid().escape_ascii().to_string()).collect()
}

impl<'a> Record<'a> {
    fn of(name: &'a str, repairs: &'a Repairs) -> Self {
        let repaired = repairs.repaired.iter().map(|row| RepairedRow {
            line: row.line,
            offset: row.offset,
            before: hex(&row.before),
            after: &row.after,
            layers: row.layers,
            stray_bytes: row.stray_bytes,
        });
        let left = repairs.left.iter().map(|row| LeftRow {
            line: row.line,
            offset: row.offset,
            bytes: hex(&row.text),
            doubt: row.doubt.name(),
            candidates: &row.candidates,
        });
        Self { name, lines: repairs.lines, repaired: repaired.collect(), left: left.collect() }
    }
}
