//! What was measured, written out: JSON is the truth; the table and the picture say the same for people.

mod markdown;
mod picture;
mod text;

pub use text::text;

use crate::bench::Measured;
use crate::error::Error;
use crate::io::replace_file;
use crate::report::certificate::Machine;
use crate::report::escape::json;
use serde::Serialize;
use std::path::Path;
use std::{fs, io};

/// All of a report.
#[derive(Serialize)]
struct Throughput<'a> {
    schema: u32,
    version: &'static str,
    /// The arguments it was made with.
    command: &'a str,
    machine: Machine,
    processor: Option<String>,
    #[serde(flatten)]
    measured: &'a Measured,
}

/// The version of the JSON format.
const SCHEMA: u32 = 1;

/// Writes `throughput.json`, `throughput.md` and `throughput.svg` into `directory`, which is made if need be. Each file is
/// replaced whole or not at all.
///
/// # Errors
/// The directory or a file in it cannot be written.
pub fn write(measured: &Measured, command: &str, directory: &Path) -> Result<(), Error> {
    let (machine, processor) = (Machine::here(), processor());
    let all = Throughput { schema: SCHEMA, version: env!("CARGO_PKG_VERSION"), command, machine, processor, measured };
    let unrenderable = |error: String| Error::io(directory, &io::Error::other(error));
    let files = [
        ("throughput.json", json(&all).map_err(|error| unrenderable(error.to_string()))?),
        ("throughput.md", markdown::page(&all)),
        ("throughput.svg", picture::svg(measured).map_err(|error| unrenderable(error.to_string()))?),
    ];
    fs::create_dir_all(directory).map_err(|error| Error::io(directory, &error))?;
    files.iter().try_for_each(|(name, text)| replace_file(&directory.join(name), text.as_bytes()))
}

/// Measured as JSON alone.
///
/// # Errors
/// It cannot be written as JSON, which is a fault of ours.
pub fn to_json(measured: &Measured, command: &str) -> Result<String, Error> {
    let (machine, processor) = (Machine::here(), processor());
    let all = Throughput { schema: SCHEMA, version: env!("CARGO_PKG_VERSION"), command, machine, processor, measured };
    json(&all).map_err(Error::usage)
}

/// What the processor calls itself.
fn processor() -> Option<String> {
    let text = fs::read_to_string("/proc/cpuinfo").ok()?;
    let field = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    Some(format!("{}, family {}, model {}", field("model name")?, field("cpu family")?, field("model\t")?))
}

/// Three digits that count.
fn three(value: f64) -> String {
    let decimals = match value {
        _ if value >= 99.95 => 0,
        _ if value >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.decimals$}")
}
