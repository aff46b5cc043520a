//! `utfuzz convert`: text from one encoding to another.

use crate::cli::output::Output;
use crate::cli::{Bar, Failure, Verdict, note};
use crate::codec::convert::{Converter, Encoding, Mark, Options, Summary, Surrogates};
use crate::error::Error;
use crate::spec::{Replacement, UnitRule};
use crate::text::shown;
use clap::{Args, ValueEnum};
use std::fs::File;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Convert text from one encoding to another, of any length in constant memory
///
/// Exit status: 0 done, 1 the input is ill-formed or cannot be said in the other encoding (where errors are not replaced),
/// 2 wrong use or trouble outside. What stands before the first error has been written to standard output then; a file is
/// written whole or not at all.
#[derive(Debug, Args)]
#[command(after_help = encodings())]
pub(super) struct Convert {
    /// The encoding of the input
    #[arg(short, long, value_name = "ENCODING")]
    from: String,
    /// The encoding of the output
    #[arg(short, long, value_name = "ENCODING")]
    to: String,
    /// What becomes of ill-formed input, and of what the other encoding cannot say
    #[arg(long, value_name = "WHAT", default_value = "strict")]
    on_error: OnError,
    /// How ill-formed UTF-8 is cut into units, each of which is replaced [default: maximal-subpart]
    #[arg(long, value_name = "RULE")]
    policy: Option<Policy>,
    /// What becomes of a byte order mark [default: UTF-16 and UTF-32 have one, any other keeps one]
    #[arg(long, value_name = "WHAT")]
    bom: Option<Bom>,
    /// What becomes of unpaired surrogates
    #[arg(long, value_name = "WHAT", default_value = "refuse")]
    surrogates: Unpaired,
    /// Write to this file, in one step at the end [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// What to read, one after the other; - is standard input [default: -]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnError {
    /// The first ends the conversion
    Strict,
    /// U+FFFD, or ? where the encoding has none
    Replace,
    /// Leave it out
    Skip,
    /// U+DC80..U+DCFF for each byte, which become those bytes again where they are written (Python surrogateescape)
    Escape,
    /// Each byte is Latin-1
    Latin1,
    /// Each byte is Windows-1252
    #[value(name = "windows-1252")]
    Windows1252,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Policy {
    /// As the Unicode Standard and the Encoding Standard do
    MaximalSubpart,
    /// The same, but a surrogate of three bytes is one unit (OpenJDK)
    MaximalSubpartSurrogate,
    /// Each byte (Go)
    Byte,
    /// Each run of ill-formed bytes (Go strings.ToValidUTF8)
    Run,
    /// As long as the lead byte says (ICU before 60)
    LeadAnnounced,
    /// The same, over any byte that leads nothing (PHP htmlspecialchars)
    SwallowNonLead,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Bom {
    /// It is text
    Keep,
    /// Leave it out
    Strip,
    /// The output has one
    Add,
    /// It says what the input is in, and is left out
    Detect,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Unpaired {
    /// They are ill-formed
    Refuse,
    /// They are read and written like characters
    Pass,
}

fn encodings() -> String {
    let names: Vec<_> = Encoding::all().map(Encoding::name).collect();
    format!("Encodings: {}; and what else the Encoding Standard and IANA call them.", names.join(", "))
}

/// Bytes that are read at a time.
const CHUNK: usize = 64 << 10;

impl Convert {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let mut converter = self.converter()?;
        let files = if self.files.is_empty() { vec![PathBuf::from("-")] } else { self.files.clone() };
        let mut output = self.output.as_deref().map(Output::create).transpose()?;
        let mut progress = Progress::of(&files);
        for path in &files {
            let name = if path == Path::new("-") { "standard input".into() } else { shown(path) };
            let mut input = Input::open(path)?;
            let mut write = |bytes: &[u8]| match &mut output {
                Some(output) => output.write(bytes).map_err(Failure::Error),
                None => out.write_all(bytes).map_err(Failure::Output),
            };
            match convert(&mut converter, &mut input, &mut write, &mut progress)? {
                Ok(summary) => self.tell(&name, &summary),
                Err(fault) => {
                    progress.finish();
                    out.flush()?;
                    let _ = writeln!(io::stderr(), "utfuzz: {name}: {fault}");
                    return Ok(Verdict::IllFormed);
                }
            }
        }
        progress.finish();
        output.map_or(Ok(()), Output::finish)?;
        Ok(Verdict::Clean)
    }

    fn converter(&self) -> Result<Converter, Error> {
        if self.on_error == OnError::Strict && self.policy.is_some() {
            return Err(Error::usage("--policy cuts what is replaced, and --on-error strict replaces nothing"));
        }
        let options = Options {
            on_error: match self.on_error {
                OnError::Strict => None,
                OnError::Replace => Some(Replacement::ReplacementCharacter),
                OnError::Skip => Some(Replacement::Drop),
                OnError::Escape => Some(Replacement::SurrogateEscape),
                OnError::Latin1 => Some(Replacement::Latin1),
                OnError::Windows1252 => Some(Replacement::Windows1252),
            },
            unit: match self.policy {
                None | Some(Policy::MaximalSubpart) => UnitRule::MaximalSubpart,
                Some(Policy::MaximalSubpartSurrogate) => UnitRule::MaximalSubpartSurrogate,
                Some(Policy::Byte) => UnitRule::Byte,
                Some(Policy::Run) => UnitRule::Run,
                Some(Policy::LeadAnnounced) => UnitRule::LeadAnnounced,
                Some(Policy::SwallowNonLead) => UnitRule::SwallowNonLead,
            },
            mark: match self.bom {
                None => Mark::AsEncoded,
                Some(Bom::Keep) => Mark::Keep,
                Some(Bom::Strip) => Mark::Strip,
                Some(Bom::Add) => Mark::Add,
                Some(Bom::Detect) => Mark::Detect,
            },
            surrogates: match self.surrogates {
                Unpaired::Refuse => Surrogates::Refuse,
                Unpaired::Pass => Surrogates::Pass,
            },
        };
        Converter::new(Encoding::named(&self.from)?, Encoding::named(&self.to)?, options)
    }

    fn tell(&self, name: &str, summary: &Summary) {
        if let Some(first) = summary.first {
            let done = if self.on_error == OnError::Skip { "left out" } else { "replaced" };
            note(&format!("{name}: {} {done}, the first at {first}", summary.faults));
        }
    }
}

/// Converts one input to its end, or to what ends the conversion.
fn convert(
    converter: &mut Converter,
    input: &mut Input,
    write: &mut dyn FnMut(&[u8]) -> Result<(), Failure>,
    progress: &mut Progress,
) -> Result<Result<Summary, crate::codec::convert::Fault>, Failure> {
    let mut chunk = vec![0; CHUNK];
    let mut converted = Vec::new();
    loop {
        converted.clear();
        let read = input.read(&mut chunk)?;
        let summary = match read {
            0 => converter.finish(&mut converted).map(Some),
            _ => converter.push(&chunk[..read], &mut converted).map(|()| None),
        };
        write(&converted)?;
        progress.add(read);
        match summary {
            Ok(None) => {}
            Ok(Some(summary)) => return Ok(Ok(summary)),
            Err(fault) => return Ok(Err(fault)),
        }
    }
}

/// A file or standard input.
pub(super) struct Input {
    reader: Box<dyn Read>,
    path: PathBuf,
}

impl Input {
    /// Opens a file; `-` is standard input.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        if path == Path::new("-") {
            return Ok(Self { reader: Box::new(io::stdin().lock()), path: "standard input".into() });
        }
        let file = File::open(path).map_err(|error| Error::io(path, &error))?;
        Ok(Self { reader: Box::new(file), path: path.to_owned() })
    }

    /// Reads a chunk; 0 bytes at the end.
    pub(super) fn read(&mut self, chunk: &mut [u8]) -> Result<usize, Error> {
        loop {
            match self.reader.read(chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other.map_err(|error| Error::io(&self.path, &error)),
            }
        }
    }
}

/// How far it is, where that takes a while and is known.
struct Progress {
    bar: Option<Bar>,
    read: u64,
    total: u64,
}

impl Progress {
    fn of(files: &[PathBuf]) -> Self {
        /// Less than this is done at once.
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
