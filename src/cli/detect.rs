//! `utfuzz detect`: which encoding some bytes are in.

use crate::cli::convert::Input;
use crate::cli::{Failure, Verdict};
use crate::codec::convert::{Detection, Detector, Encoding};
use crate::error::Error;
use crate::text::{hex, shown};
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Say which encoding files are in: valid UTF-8, or else the likeliest, with the reason
///
/// Exit status: 0 each has an encoding, 1 one of them is no text, 2 wrong use or trouble outside.
#[derive(Debug, Args)]
pub(super) struct Detect {
    /// What to look at; - is standard input [default: -]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print one JSON array
    #[arg(long)]
    json: bool,
}

#[derive(serde::Serialize)]
struct Row {
    name: String,
    encoding: Option<&'static str>,
    valid_utf8: bool,
    byte_order_mark: bool,
    reason: String,
    bytes: u64,
    first_error: Option<FirstError>,
}

/// Where UTF-8 ends.
#[derive(serde::Serialize)]
struct FirstError {
    offset: u64,
    line: u64,
    bytes: String,
    kind: Option<&'static str>,
}

impl Row {
    fn of(name: String, detection: Detection) -> Self {
        let first_error = detection.not_utf8.map(|fault| FirstError {
            offset: fault.offset(),
            line: fault.line(),
            bytes: hex(fault.bytes()),
            kind: fault.kind().map(crate::utf8::Kind::name),
        });
        Self {
            name,
            encoding: detection.encoding.map(Encoding::name),
            valid_utf8: detection.not_utf8.is_none(),
            byte_order_mark: detection.byte_order_mark,
            reason: detection.reason,
            bytes: detection.read,
            first_error,
        }
    }
}

impl Detect {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let files = if self.files.is_empty() { vec![PathBuf::from("-")] } else { self.files };
        let rows = files.iter().map(|path| {
            let name = if path == Path::new("-") { "standard input".into() } else { shown(path) };
            Ok(Row::of(name, look(path)?))
        });
        let rows = rows.collect::<Result<Vec<Row>, Error>>()?;
        if self.json {
            serde_json::to_writer(&mut *out, &rows).map_err(std::io::Error::from)?;
            writeln!(out)?;
        } else {
            for row in &rows {
                writeln!(out, "{}: {}: {}", row.name, row.encoding.unwrap_or("no text"), row.reason)?;
            }
        }
        let all = rows.iter().all(|row| row.encoding.is_some());
        Ok(if all { Verdict::Clean } else { Verdict::IllFormed })
    }
}

fn look(path: &Path) -> Result<Detection, Error> {
    let mut input = Input::open(path)?;
    let mut detector = Detector::new();
    let mut chunk = vec![0; 64 << 10];
    while !detector.is_decided() {
        match input.read(&mut chunk)? {
            0 => break,
            read => detector.push(&chunk[..read]),
        }
    }
    Ok(detector.finish())
}
