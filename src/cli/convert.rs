//! `utfuzz convert` and `utfuzz detect`: the encodings of text.

use crate::cli::output::{Bar, Failure, OutputFile, StandardOutput, Verdict, fail, note};
use crate::codec::convert::{
    Converter, Detection, Detector, Encoding, Fault, Mark, Options, Summary, UnpairedSurrogates,
};
use crate::error::Error;
use crate::spec::{Replacement, Segmentation};
use crate::text::{hex, shown};
use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Convert text from one encoding to another, of any length in constant memory
///
/// Exit status: 0 done, 1 the input is ill-formed or cannot be encoded in the output encoding (unless errors are
/// replaced), 2 usage or environment. Standard output receives everything up to the first error; a file is written
/// completely or not at all. If standard output is closed early, regular files are still read to the end for the exit
/// status; pipes and standard input are not.
#[derive(Debug, Args)]
#[command(after_help = encodings())]
pub(super) struct Convert {
    /// The encoding of the input
    #[arg(short, long, value_name = "ENCODING")]
    from: String,
    /// The encoding of the output
    #[arg(short, long, value_name = "ENCODING")]
    to: String,
    /// What to write for ill-formed input, and for characters that the output encoding lacks
    #[arg(long, value_name = "WHAT", default_value = "strict")]
    on_error: OnError,
    /// How ill-formed UTF-8 is cut into segments, each of which is replaced [default: maximal-subpart]
    #[arg(long, value_name = "RULE")]
    policy: Option<Segmentation>,
    /// What to do with a byte order mark [default: UTF-16 and UTF-32 have one, other encodings keep it as text]
    #[arg(long, value_name = "WHAT")]
    bom: Option<Mark>,
    /// What to do with unpaired surrogates
    #[arg(long, value_name = "WHAT", default_value = "refuse")]
    surrogates: UnpairedSurrogates,
    /// Write to this file, which is replaced only at the end [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The files to read, one after the other; - is standard input [default: -]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

/// What is written for ill-formed input; `None` if the first error ends the conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct OnError(Option<Replacement>);

impl ValueEnum for OnError {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            Self(None),
            Self(Some(Replacement::ReplacementCharacter)),
            Self(Some(Replacement::Drop)),
            Self(Some(Replacement::SurrogateEscape)),
            Self(Some(Replacement::Latin1)),
            Self(Some(Replacement::Windows1252)),
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self.0 {
            None => ("strict", "The first error ends the conversion"),
            Some(Replacement::ReplacementCharacter) => ("replace", "U+FFFD, or ? if the encoding lacks it"),
            Some(Replacement::Drop) => ("skip", "Nothing"),
            Some(Replacement::SurrogateEscape) => (
                "escape",
                "U+DC80..U+DCFF for each byte, written as that byte again if the encoding lacks surrogates (Python \
                 surrogateescape)",
            ),
            Some(Replacement::Latin1) => ("latin1", "Each byte read as Latin-1"),
            Some(Replacement::Windows1252) => ("windows-1252", "Each byte read as Windows-1252"),
            Some(Replacement::Windows1252Strict) => return None,
        };
        Some(PossibleValue::new(name).help(help))
    }
}

impl ValueEnum for Segmentation {
    fn value_variants<'a>() -> &'a [Self] {
        &Self::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.name()).help(self.summary()))
    }
}

impl ValueEnum for Mark {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Keep, Self::Strip, Self::Add, Self::Detect]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let (name, help) = match self {
            // The default, which has no name.
            Self::AsEncoded => return None,
            Self::Keep => ("keep", "It is text"),
            Self::Strip => ("strip", "It is not copied to the output"),
            Self::Add => ("add", "The output starts with one"),
            Self::Detect => ("detect", "It names the encoding of the input, and is not copied"),
        };
        Some(PossibleValue::new(name).help(help))
    }
}

impl ValueEnum for UnpairedSurrogates {
    fn value_variants<'a>() -> &'a [Self] {
        &[Self::Refuse, Self::Pass]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(match self {
            Self::Refuse => PossibleValue::new("refuse").help("They are ill-formed"),
            Self::Pass => PossibleValue::new("pass").help("They are read and written like characters"),
        })
    }
}

fn encodings() -> String {
    let names: Vec<_> = Encoding::all().map(Encoding::name).collect();
    format!("Encodings: {}; and their other names in the Encoding Standard and in the IANA registry.", names.join(", "))
}

/// How the conversion of one input ended.
enum End {
    Finished(Summary),
    /// The first error, if errors are not replaced.
    Fault(Fault),
    /// The reader of standard output has closed it, and the input may be endless.
    ReaderLeft,
}

impl Convert {
    pub(super) fn run(self, out: &mut StandardOutput) -> Result<Verdict, Failure> {
        let mut converter = self.converter()?;
        let files = or_standard_input(&self.files);
        let mut file = self.output.as_deref().map(OutputFile::create).transpose()?;
        let mut progress = Progress::of(&files);
        for path in &files {
            let mut input = Input::open(path)?;
            match convert(&mut converter, &mut input, file.as_mut(), out, &mut progress)? {
                End::Finished(summary) => self.report(&input.name, &summary),
                End::Fault(fault) => {
                    progress.finish();
                    out.flush()?;
                    let _ = writeln!(io::stderr(), "utfuzz: {}: {fault}", input.name);
                    return Ok(Verdict::IllFormed);
                }
                End::ReaderLeft => break,
            }
        }
        progress.finish();
        file.map_or(Ok(()), OutputFile::finish)?;
        Ok(Verdict::Clean)
    }

    fn converter(&self) -> Result<Converter, Error> {
        if self.on_error.0.is_none() && self.policy.is_some() {
            return Err(Error::usage("--policy applies to replacements, and --on-error strict makes none"));
        }
        let options = Options {
            on_error: self.on_error.0,
            segmentation: self.policy.unwrap_or(Segmentation::MaximalSubpart),
            mark: self.bom.unwrap_or(Mark::AsEncoded),
            surrogates: self.surrogates,
        };
        Converter::new(Encoding::named(&self.from)?, Encoding::named(&self.to)?, options)
    }

    fn report(&self, name: &str, summary: &Summary) {
        if let Some(first) = summary.first {
            let done = if self.on_error.0 == Some(Replacement::Drop) { "left out" } else { "replaced" };
            note(&format!("{name}: {} {done}, the first at {first}", summary.faults));
        }
    }
}

/// Converts one input to the file if there is one, otherwise to standard output.
fn convert(
    converter: &mut Converter,
    input: &mut Input,
    mut file: Option<&mut OutputFile>,
    out: &mut StandardOutput,
    progress: &mut Progress,
) -> Result<End, Failure> {
    let mut chunk = vec![0; CHUNK];
    let mut converted = Vec::new();
    loop {
        converted.clear();
        let read = input.read(&mut chunk)?;
        let summary = match read {
            0 => converter.finish(&mut converted).map(Some),
            _ => converter.push(&chunk[..read], &mut converted).map(|()| None),
        };
        match &mut file {
            Some(file) => file.write(&converted)?,
            None => out.write_all(&converted)?,
        }
        progress.add(read);
        match summary {
            Ok(Some(summary)) => return Ok(End::Finished(summary)),
            Err(fault) => return Ok(End::Fault(fault)),
            Ok(None) if file.is_none() && out.is_closed() && !input.has_end => return Ok(End::ReaderLeft),
            Ok(None) => {}
        }
    }
}

/// Detect the encoding of files: valid UTF-8, otherwise the most likely encoding, with the reason
///
/// Exit status: 0 every file has an encoding, 1 a file is not text, 2 usage or environment.
#[derive(Debug, Args)]
pub(super) struct Detect {
    /// The files to examine; - is standard input [default: -]
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

/// Where the input stops being UTF-8.
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
        let mut rows = Vec::new();
        let mut unread = None;
        for path in or_standard_input(&self.files) {
            match detect(&path) {
                Ok(row) => rows.push(row),
                // The other files are still examined.
                Err(error) => {
                    if let Some(before) = unread.replace(error) {
                        fail(before);
                    }
                }
            }
        }
        if self.json {
            serde_json::to_writer(&mut *out, &rows).map_err(io::Error::from)?;
            writeln!(out)?;
        } else {
            for row in &rows {
                writeln!(out, "{}: {}: {}", row.name, row.encoding.unwrap_or("no text"), row.reason)?;
            }
        }
        if let Some(error) = unread {
            return Err(error.into());
        }
        let all = rows.iter().all(|row| row.encoding.is_some());
        Ok(if all { Verdict::Clean } else { Verdict::IllFormed })
    }
}

fn detect(path: &Path) -> Result<Row, Error> {
    let mut input = Input::open(path)?;
    let mut detector = Detector::new();
    let mut chunk = vec![0; CHUNK];
    while !detector.is_decided() {
        match input.read(&mut chunk)? {
            0 => break,
            read => detector.push(&chunk[..read]),
        }
    }
    Ok(Row::of(input.name, detector.finish()))
}

/// The files that were named, or standard input.
fn or_standard_input(files: &[PathBuf]) -> Vec<PathBuf> {
    if files.is_empty() { vec![PathBuf::from("-")] } else { files.to_vec() }
}

/// How many bytes are read at a time.
const CHUNK: usize = 64 << 10;

/// A file or standard input, read in chunks.
struct Input {
    reader: Box<dyn Read>,
    path: PathBuf,
    /// The name, safe to print.
    name: String,
    /// Whether it is a file and not a stream.
    has_end: bool,
}

impl Input {
    /// Opens a file; `-` is standard input.
    fn open(path: &Path) -> Result<Self, Error> {
        let (path, reader, has_end): (PathBuf, Box<dyn Read>, bool) = if path == Path::new("-") {
            ("standard input".into(), Box::new(io::stdin().lock()), false)
        } else {
            let file = File::open(path).map_err(|error| Error::io(path, &error))?;
            let has_end = file.metadata().is_ok_and(|metadata| metadata.is_file());
            (path.to_owned(), Box::new(file), has_end)
        };
        Ok(Self { name: shown(&path), reader, path, has_end })
    }

    /// Reads some bytes; 0 at the end.
    fn read(&mut self, chunk: &mut [u8]) -> Result<usize, Error> {
        loop {
            match self.reader.read(chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other.map_err(|error| Error::io(&self.path, &error)),
            }
        }
    }
}

/// A progress bar for long input of known length.
struct Progress {
    bar: Option<Bar>,
    read: u64,
    total: u64,
}

impl Progress {
    fn of(files: &[PathBuf]) -> Self {
        /// Shorter input, in bytes, takes no noticeable time.
        const LONG: u64 = 64 << 20;
        let size =
            |path: &PathBuf| std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file).map(|file| file.len());
        let total = files.iter().map(size).sum::<Option<u64>>().unwrap_or(0);
        Self { bar: (total >= LONG).then(Bar::new), read: 0, total }
    }

    fn add(&mut self, read: usize) {
        self.read += read as u64;
        if let Some(bar) = &self.bar {
            bar.show("convert", self.read as f64 / self.total as f64);
        }
    }

    fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish();
        }
    }
}
