//! Reports of what a run found.
//!
//! A [`Record`] is the single source of every report, and its JSON is complete. Every format is an [`Exporter`] that
//! renders the record, so it can be generated again from the JSON. Everything in a record that comes from outside is
//! untrusted, and is escaped by every format.

mod certificate;
#[cfg(feature = "cli")]
pub(crate) mod chart;
mod document;
mod exporter;
mod findings;
#[doc(hidden)]
pub mod freshness;
mod matrix;
#[cfg(feature = "cli")]
pub(crate) mod pages;
pub mod record;
mod svg;
mod tables;

pub use certificate::{Certificate, Exhaustive};
pub use exporter::{Exporter, Html, Json, Junit, Markdown, Sarif, Text, write_json};
pub use record::{Clock, Night, Record, append, history, store};

use crate::error::Error;
use crate::io::replace_file;
use record::Section;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// The picture of a score, a matrix or a measurement.
struct Svg;

impl Exporter for Svg {
    fn export(&self, record: &Record, out: &mut dyn Write) -> io::Result<()> {
        let picture = match &record.section {
            Section::Score { score } => svg::score(score)?,
            Section::Matrix(matrix) => svg::answers(matrix)?,
            #[cfg(feature = "cli")]
            Section::Throughput(measured) => tables::throughput::picture(record, measured)?,
            _ => return Err(io::Error::new(io::ErrorKind::Unsupported, "this record has no picture")),
        };
        out.write_all(picture.as_bytes())
    }
}

/// The cells of a matrix.
struct Csv;

impl Exporter for Csv {
    fn export(&self, record: &Record, out: &mut dyn Write) -> io::Result<()> {
        match &record.section {
            Section::Matrix(matrix) => out.write_all(&matrix.csv()?),
            _ => Err(io::Error::new(io::ErrorKind::Unsupported, "this record has no cells")),
        }
    }
}

/// Writes a record into a directory, which is created if necessary, in every format its kind has: `report.json`, `.md`,
/// `.html`, `.junit.xml` and `.sarif` of a triage; `score.*` and `throughput.*` as `.json`, `.md`, `.html` and `.svg`;
/// `check.json`, `.md`, `.html` and `.txt`; `matrix.json`, `.md`, `.html`, `.csv` and `.svg`. Nothing is written unless
/// all of them can be rendered, and each file is replaced atomically.
///
/// # Errors
/// The record cannot be rendered, or the directory or a file in it cannot be written.
pub fn write_all(record: &Record, directory: &Path) -> Result<(), Error> {
    let pages: [(&str, &dyn Exporter); 3] = [("json", &Json), ("md", &Markdown), ("html", &Html)];
    let (name, more): (&str, &[(&str, &dyn Exporter)]) = match &record.section {
        Section::Check(_) => ("check", &[("txt", &Text)]),
        Section::Triage(_) => ("report", &[("junit.xml", &Junit), ("sarif", &Sarif)]),
        Section::Score { .. } => ("score", &[("svg", &Svg)]),
        Section::Matrix(_) => ("matrix", &[("svg", &Svg), ("csv", &Csv)]),
        #[cfg(feature = "cli")]
        Section::Throughput(_) => ("throughput", &[("svg", &Svg)]),
    };
    let mut files = Vec::new();
    for (ending, format) in pages.iter().chain(more) {
        let (path, mut text) = (directory.join(format!("{name}.{ending}")), Vec::new());
        format.export(record, &mut text).map_err(|error| Error::io(&path, &error))?;
        files.push((path, text));
    }
    fs::create_dir_all(directory).map_err(|error| Error::io(directory, &error))?;
    files.iter().try_for_each(|(path, text)| replace_file(path, text))
}
