//! `utfuzz convert`: from one encoding to another.

use crate::cli::detect::{CHUNK, Input, detect, label, or_standard_input};
use crate::cli::output::{Bar, Failure, OutputFile, StandardOutput, Verdict, fail, note};
use crate::codec::convert::{
    Confidence, Converter, Detection, Detector, Encoding, Fault, Mark, Options, Reason, Summary, UnpairedSurrogates,
};
use crate::error::Error;
use crate::spec::{Replacement, Segmentation};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use rayon::{ThreadPool, ThreadPoolBuilder};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Convert text from one encoding to another, of any length in constant memory
///
/// Without --from the encoding is detected as by `utfuzz detect`: from the whole of a file, or from the first 256 KiB of a
/// stream. A note says what was found. An encoding that is only guessed is refused.
///
/// A file that cannot be read does not keep the others from being converted. Standard output receives everything up to the
/// first error; a file is written completely or not at all. If standard output is closed early, regular files are still
/// read to the end for the exit status; pipes and standard input are not.
#[derive(Debug, Args)]
pub(super) struct Convert {
    /// The encoding of the input, one of those that --list lists [default: what is detected]
    #[arg(short, long, value_name = "ENCODING")]
    from: Option<String>,
    /// The encoding of the output
    #[arg(short, long, value_name = "ENCODING", default_value = "UTF-8")]
    to: String,
    /// Also convert from an encoding that is only guessed
    #[arg(long, conflicts_with = "from")]
    guess: bool,
    /// List the encodings and their other names
    #[arg(short, long, conflicts_with_all = ["from", "to", "guess", "on_error", "skip", "policy", "bom", "surrogates", "jobs", "output", "files"])]
    list: bool,
    /// What to write for ill-formed input, and for characters that the output encoding lacks
    #[arg(long, value_name = "WHAT", default_value = "strict")]
    on_error: OnError,
    /// The same as --on-error skip
    #[arg(short = 'c', conflicts_with = "on_error")]
    skip: bool,
    /// How ill-formed UTF-8 is cut into segments, each of which is replaced [default: maximal-subpart]
    #[arg(long, value_name = "RULE", value_parser = policy())]
    policy: Option<Segmentation>,
    /// What to do with a byte order mark [default: detect; with --from, UTF-16 and UTF-32 have one, other encodings keep
    /// it as text]
    #[arg(long, value_name = "WHAT", value_parser = mark())]
    bom: Option<Mark>,
    /// What to do with unpaired surrogates
    #[arg(long, value_name = "WHAT", default_value = "refuse", value_parser = surrogates())]
    surrogates: UnpairedSurrogates,
    /// Convert on this many threads; the output is the same [default: 1]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Write to this file, which is replaced only at the end; - is standard output [default: -]
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
                "U+DC80..U+DCFF for each byte (Python surrogateescape). They are written as those bytes again, unless \
                 the output encoding has surrogates, as UTF-8 has with --surrogates pass",
            ),
            Some(Replacement::Latin1) => ("latin1", "Each byte read as Latin-1"),
            Some(Replacement::Windows1252) => ("windows-1252", "Each byte read as Windows-1252"),
            Some(Replacement::Windows1252Strict) => return None,
        };
        Some(PossibleValue::new(name).help(help))
    }
}

/// A parser of the names of these values, each with its name and what it is.
fn one_of<T: Copy + Send + Sync + 'static>(
    all: impl IntoIterator<Item = (T, &'static str, &'static str)>,
) -> impl TypedValueParser<Value = T> {
    let all: Vec<_> = all.into_iter().collect();
    let names: Vec<_> = all.iter().map(|&(_, name, help)| PossibleValue::new(name).help(help)).collect();
    PossibleValuesParser::new(names).try_map(move |chosen| {
        let value = all.iter().find(|(_, name, _)| *name == chosen);
        value.map(|&(value, ..)| value).ok_or("not one of the values")
    })
}

fn policy() -> impl TypedValueParser<Value = Segmentation> {
    one_of(Segmentation::ALL.map(|policy| (policy, policy.name(), policy.summary())))
}

/// Every [`Mark`] but the default, which has no name.
fn mark() -> impl TypedValueParser<Value = Mark> {
    one_of([
        (Mark::Keep, "keep", "It is text"),
        (Mark::Strip, "strip", "It is not copied to the output"),
        (Mark::Add, "add", "The output starts with one"),
        (Mark::Detect, "detect", "It names the encoding of the input, and is not copied"),
    ])
}

fn surrogates() -> impl TypedValueParser<Value = UnpairedSurrogates> {
    one_of([
        (UnpairedSurrogates::Refuse, "refuse", "They are ill-formed"),
        (UnpairedSurrogates::Pass, "pass", "They are read and written like characters"),
    ])
}

/// One line for each encoding: its name, and its other names.
fn encodings(out: &mut dyn Write) -> io::Result<()> {
    for encoding in Encoding::all() {
        let names: Vec<_> = [encoding.name()].into_iter().chain(encoding.aliases().iter().copied()).collect();
        writeln!(out, "{}", names.join(" "))?;
    }
    Ok(())
}

/// How the conversion of one input ended.
enum End {
    Finished(Summary),
    /// The first error, if errors are not replaced.
    Fault(Fault),
    /// The input cannot be read to its end.
    Unread(Error),
    /// The reader of standard output has closed it, and the input may be endless.
    ReaderLeft,
}

impl Convert {
    pub(super) fn run(mut self, out: &mut StandardOutput) -> Result<Verdict, Failure> {
        if self.list {
            encodings(out)?;
            return Ok(Verdict::Clean);
        }
        if self.skip {
            self.on_error = OnError(Some(Replacement::Drop));
        }
        let to = Encoding::named(&self.to)?;
        let from = self.from.as_deref().map(Encoding::named).transpose()?;
        let mut converter = Converter::new(from.unwrap_or(Encoding::Utf8), to, self.options()?)?;
        let threads = self.jobs.filter(|&jobs| jobs > 1).map(threads).transpose()?;
        if threads.is_some() {
            converter = converter.in_parallel();
        }
        let files = or_standard_input(&self.files);
        let output = self.output.as_deref().filter(|path| *path != Path::new("-"));
        let mut file = output.map(OutputFile::create).transpose()?;
        let mut progress = Progress::of(&files);
        let mut unread = None;
        for path in &files {
            let (name, end) = match self.open(path, &mut converter) {
                Ok(mut input) => {
                    let end = convert(&mut converter, threads.as_ref(), &mut input, file.as_mut(), out, &mut progress)?;
                    (input.name, end)
                }
                Err(error) => (String::new(), End::Unread(error)),
            };
            match end {
                End::Finished(summary) => self.report(&name, &summary),
                End::Fault(fault) => {
                    progress.finish();
                    out.flush()?;
                    if let Some(before) = unread {
                        fail(before);
                    }
                    let _ = writeln!(io::stderr(), "utfuzz: {name}: {fault}{}", remedy(&fault));
                    return Ok(Verdict::IllFormed);
                }
                // The other files are still converted.
                End::Unread(error) => {
                    if let Some(before) = unread.replace(error) {
                        fail(before);
                    }
                }
                End::ReaderLeft => break,
            }
        }
        progress.finish();
        match unread {
            Some(error) => Err(error.into()),
            None => {
                file.map_or(Ok(()), OutputFile::finish)?;
                Ok(Verdict::Clean)
            }
        }
    }

    fn options(&self) -> Result<Options, Error> {
        if self.on_error.0.is_none() && self.policy.is_some() {
            return Err(Error::usage(
                "--policy applies to replacements, and --on-error strict makes none; choose another --on-error, or leave --policy out",
            ));
        }
        // Detection looks for a byte order mark first.
        let mark = if self.from.is_some() { Mark::AsEncoded } else { Mark::Detect };
        Ok(Options {
            on_error: self.on_error.0,
            segmentation: self.policy.unwrap_or(Segmentation::MaximalSubpart),
            mark: self.bom.unwrap_or(mark),
            surrogates: self.surrogates,
        })
    }

    /// Opens a file, and detects its encoding unless it was named.
    fn open(&self, path: &Path, converter: &mut Converter) -> Result<Input, Error> {
        let mut input = Input::open(path)?;
        if self.from.is_some() {
            return Ok(input);
        }
        let detection = if input.has_end {
            let detection = detect(&mut input)?;
            input = Input::open(path)?;
            detection
        } else {
            detect_start(&mut input)?
        };
        let (name, found) = (&input.name, label(&detection));
        let reason = detection.reason;
        let remedy = match detection.encoding {
            Some(_) if detection.confidence == Confidence::Guess && !self.guess => {
                "name its encoding with --from, or accept the guess with --guess"
            }
            Some(encoding) => {
                note(&format!("{name}: read as {found}: {reason}"));
                converter.set_from(encoding)?;
                return Ok(input);
            }
            None => "name its encoding with --from",
        };
        Err(Error::usage(format!("{name}: {found}: {reason}; {remedy}")))
    }

    fn report(&self, name: &str, summary: &Summary) {
        if let Some(first) = summary.first {
            let done = if self.on_error.0 == Some(Replacement::Drop) { "left out" } else { "replaced" };
            note(&format!("{name}: {} {done}, the first at {first}", summary.faults));
        }
    }
}

/// What to do about a fault, if the command has an option for it.
fn remedy(fault: &Fault) -> &'static str {
    match fault.reason() {
        Reason::Unencodable(0xFEFF) if fault.offset() == 0 => "; --bom strip leaves out this byte order mark",
        _ => "",
    }
}

/// Detects the encoding of a stream by its start, which is put back.
fn detect_start(input: &mut Input) -> Result<Detection, Error> {
    /// Bytes that are examined.
    const START: usize = 256 << 10;
    let (mut start, mut chunk) = (Vec::new(), vec![0; CHUNK]);
    let mut is_all = false;
    while start.len() < START && !is_all {
        match input.read(&mut chunk)? {
            0 => is_all = true,
            read => start.extend_from_slice(&chunk[..read]),
        }
    }
    let mut detector = Detector::new();
    detector.push(&start);
    input.put_back(start);
    Ok(if is_all { detector.finish() } else { detector.finish_start() })
}

fn threads(jobs: u16) -> Result<ThreadPool, Error> {
    let threads = ThreadPoolBuilder::new().num_threads(jobs.into()).build();
    threads.map_err(|error| Error::usage(format!("--jobs {jobs}: {error}; name fewer")))
}

/// Converts one input to the file if there is one, otherwise to standard output.
fn convert(
    converter: &mut Converter,
    threads: Option<&ThreadPool>,
    input: &mut Input,
    mut file: Option<&mut OutputFile>,
    out: &mut StandardOutput,
    progress: &mut Progress,
) -> Result<End, Failure> {
    /// How many bytes of a chunk each of several threads converts.
    const SHARE: usize = 1 << 20;
    let mut chunk = vec![0; threads.map_or(CHUNK, |threads| SHARE * threads.current_num_threads())];
    let mut converted = Vec::new();
    loop {
        converted.clear();
        let read = if threads.is_some() { input.read_full(&mut chunk) } else { input.read(&mut chunk) };
        let (read, unread) = match read {
            Ok(read) => (read, None),
            Err(error) => (0, Some(error)),
        };
        let summary = match read {
            0 => converter.finish(&mut converted).map(Some),
            _ => match threads {
                Some(threads) => threads.install(|| converter.push(&chunk[..read], &mut converted)).map(|()| None),
                None => converter.push(&chunk[..read], &mut converted).map(|()| None),
            },
        };
        match &mut file {
            Some(file) => file.write(&converted)?,
            None => out.write_all(&converted)?,
        }
        progress.add(read);
        // If reading failed, a sequence cut off at the end is not an error of the input.
        if let Some(error) = unread {
            return Ok(End::Unread(error));
        }
        match summary {
            Ok(Some(summary)) => return Ok(End::Finished(summary)),
            Err(fault) => return Ok(End::Fault(fault)),
            Ok(None) if file.is_none() && out.is_closed() && !input.has_end => return Ok(End::ReaderLeft),
            Ok(None) => {}
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
