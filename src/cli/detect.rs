//! `utfuzz detect`: the encoding of text; and `utfuzz repair`: text that was decoded wrongly and encoded again.

use crate::cli::output::{
    Failure, OutputFile, Verdict, fail, is_standard_output, note, set_owner_and_permissions, write_to,
};
use crate::codec::convert::{Detection, Detector, Encoding, Left, Repaired, Repairs, repair};
use crate::error::Error;
use crate::io::temporary_beside;
use crate::report::write_json;
use crate::text::{hex, printable, shown};
use clap::Args;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// Detect the encoding of files: valid UTF-8, otherwise the most likely encoding, with the reason
///
/// Each answer says how sure it is: certain (well-formed UTF-8, or a byte order mark), likely, or a guess, as for bytes
/// in an unknown encoding, which are read as ISO-8859-1 or Windows-1252.
/// A file that cannot be read does not keep the others from being examined.
#[derive(Debug, Args)]
pub(super) struct Detect {
    /// The files to examine; - is standard input [default: -]
    #[arg(value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Print only the name of each encoding, as iconv takes it; "binary" if a file is not text
    #[arg(short, long, conflicts_with = "json")]
    brief: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(serde::Serialize)]
struct Detected {
    files: Vec<Row>,
}

#[derive(serde::Serialize)]
struct Row {
    /// The path, safe to print.
    name: String,
    /// The path as it is; `null` if it is not Unicode.
    path: Option<String>,
    /// The path in hexadecimal, if it is not Unicode.
    #[serde(skip_serializing_if = "Option::is_none")]
    path_bytes: Option<String>,
    #[serde(flatten)]
    answer: Answer,
}

#[derive(serde::Serialize)]
#[serde(untagged)]
enum Answer {
    Unread {
        error: String,
    },
    Read {
        encoding: Option<&'static str>,
        confidence: &'static str,
        unknown: bool,
        valid_utf8: bool,
        ascii: bool,
        byte_order_mark: bool,
        reason: String,
        bytes: u64,
        first_error: Option<FirstError>,
    },
}

/// Where the input stops being UTF-8.
#[derive(serde::Serialize)]
struct FirstError {
    offset: u64,
    line: u64,
    bytes: String,
    kind: Option<&'static str>,
}

impl From<&Detection> for Answer {
    fn from(detection: &Detection) -> Self {
        Self::Read {
            encoding: detection.name,
            confidence: detection.confidence.name(),
            unknown: detection.is_unknown(),
            valid_utf8: detection.not_utf8.is_none(),
            ascii: detection.is_ascii,
            byte_order_mark: detection.byte_order_mark,
            reason: detection.reason.clone(),
            bytes: detection.read,
            first_error: detection.not_utf8.map(|fault| FirstError {
                offset: fault.offset(),
                line: fault.line(),
                bytes: hex(fault.bytes()),
                kind: fault.kind().map(crate::utf8::Kind::name),
            }),
        }
    }
}

impl Detect {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let mut rows = Vec::new();
        let (mut all_text, mut unread) = (true, None);
        for path in or_standard_input(&self.files) {
            let (name, found) = match Input::open(&path) {
                Ok(mut input) => (input.name.clone(), detect(&mut input)),
                Err(error) => (shown(&path), Err(error)),
            };
            all_text &= found.as_ref().is_ok_and(|detection| detection.name.is_some());
            if self.json {
                rows.push(Row::of(name, &path, &found));
            } else if self.brief {
                writeln!(out, "{}", found.as_ref().map_or("unread", iconv_name))?;
            } else {
                writeln!(out, "{name}: {}", line(&found))?;
            }
            // The other files are still examined.
            if let Some(before) = found.err().and_then(|error| unread.replace(error)) {
                fail(before);
            }
        }
        if self.json {
            write_json("detect", &Detected { files: rows }, out)?;
        }
        match unread {
            Some(error) => Err(error.into()),
            None if all_text => Ok(Verdict::Clean),
            None => Ok(Verdict::IllFormed),
        }
    }
}

/// Detects the encoding of what is left to read.
pub(super) fn detect(input: &mut Input) -> Result<Detection, Error> {
    let mut detector = Detector::new();
    let mut chunk = vec![0; CHUNK];
    while !detector.is_decided() {
        match input.read(&mut chunk)? {
            0 => break,
            read => detector.push(&chunk[..read]),
        }
    }
    Ok(detector.finish())
}

/// What is printed about a file.
fn line(found: &Result<Detection, Error>) -> String {
    match found {
        Ok(detection) => format!("{}: {}", label(detection), detection.reason),
        Err(_) => "not read".into(),
    }
}

/// The encoding, and how sure that is.
pub(super) fn label(detection: &Detection) -> String {
    match detection.name {
        None => "not text".into(),
        Some(name) if detection.is_unknown() => format!("unknown 8-bit (read as {name})"),
        Some(name) => format!("{name} ({})", detection.confidence.name()),
    }
}

/// The name for iconv; of UTF-16 and UTF-32 with a byte order mark, the one by which iconv removes it.
fn iconv_name(detection: &Detection) -> &'static str {
    match (detection.name, detection.encoding) {
        (_, Some(Encoding::Utf16Le | Encoding::Utf16Be)) if detection.byte_order_mark => "UTF-16",
        (_, Some(Encoding::Utf32Le | Encoding::Utf32Be)) if detection.byte_order_mark => "UTF-32",
        (Some(name), _) => name,
        (None, _) => "binary",
    }
}

impl Row {
    fn of(name: String, path: &Path, found: &Result<Detection, Error>) -> Self {
        let answer = match found {
            Ok(detection) => detection.into(),
            Err(error) => Answer::Unread { error: error.to_string() },
        };
        let unicode = path.to_str().map(str::to_owned);
        let path_bytes = unicode.is_none().then(|| hex(path.as_os_str().as_encoded_bytes()));
        Self { name, path: unicode, path_bytes, answer }
    }
}

/// How many bytes are read at a time.
pub(super) const CHUNK: usize = 64 << 10;

/// The files that were named, or standard input.
pub(super) fn or_standard_input(files: &[PathBuf]) -> Vec<PathBuf> {
    if files.is_empty() { vec![PathBuf::from("-")] } else { files.to_vec() }
}

/// A file or standard input.
pub(super) struct Input {
    reader: Box<dyn Read>,
    path: PathBuf,
    /// An error that came after some bytes had been read.
    late: Option<Error>,
    /// The name, safe to print.
    pub(super) name: String,
    /// Whether it is a file and not a stream.
    pub(super) has_end: bool,
}

impl Input {
    /// Opens a file; `-` is standard input.
    pub(super) fn open(path: &Path) -> Result<Self, Error> {
        let (path, reader, has_end): (PathBuf, Box<dyn Read>, bool) = if path == Path::new("-") {
            ("standard input".into(), Box::new(io::stdin().lock()), false)
        } else {
            let file = File::open(path).map_err(|error| Error::io(path, &error))?;
            let has_end = file.metadata().is_ok_and(|metadata| metadata.is_file());
            (path.to_owned(), Box::new(file), has_end)
        };
        Ok(Self { name: shown(&path), reader, path, late: None, has_end })
    }

    /// Reads some bytes; 0 at the end.
    pub(super) fn read(&mut self, chunk: &mut [u8]) -> Result<usize, Error> {
        loop {
            match self.reader.read(chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => return other.map_err(|error| Error::io(&self.path, &error)),
            }
        }
    }

    /// Reads until the chunk is full or the input ends. Bytes that were read before an error are returned first.
    pub(super) fn read_full(&mut self, chunk: &mut [u8]) -> Result<usize, Error> {
        if let Some(error) = self.late.take() {
            return Err(error);
        }
        let mut filled = 0;
        while filled < chunk.len() {
            match self.read(&mut chunk[filled..]) {
                Ok(0) => break,
                Ok(read) => filled += read,
                Err(error) if filled == 0 => return Err(error),
                Err(error) => {
                    self.late = Some(error);
                    break;
                }
            }
        }
        Ok(filled)
    }

    /// The next read begins with these bytes, which have been read already.
    pub(super) fn put_back(&mut self, bytes: Vec<u8>) {
        let rest = std::mem::replace(&mut self.reader, Box::new(io::empty()));
        self.reader = Box::new(io::Cursor::new(bytes).chain(rest));
    }

    /// Reads all of it.
    pub(super) fn read_all(&mut self) -> Result<Vec<u8>, Error> {
        let mut bytes = Vec::new();
        self.reader.read_to_end(&mut bytes).map_err(|error| Error::io(&self.path, &error))?;
        Ok(bytes)
    }
}

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
        let to_standard_output = self.output.as_deref().is_some_and(is_standard_output);
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
            // If the new text cannot be written, no copy is left; if only the last rename fails, one is.
            let mut file = OutputFile::create(&self.file)?;
            file.write(&repairs.text)?;
            keep(&self.file, &copy, before)?;
            file.finish()?;
        } else {
            let Some(path) = &self.output else { return Ok(false) };
            write_to(path, &repairs.text, out)?;
        }
        Ok(true)
    }
}

/// Writes a copy of a file; even while it is written, only those can read it who can read the file.
fn keep(original: &Path, copy: &Path, text: &[u8]) -> Result<(), Error> {
    let before = fs::metadata(original).map_err(|error| Error::io(original, &error))?;
    let mut file = temporary_beside(copy)?;
    let permitted = set_owner_and_permissions(file.as_file(), &before);
    let written = permitted.and_then(|()| file.write_all(text)).and_then(|()| file.as_file().sync_all());
    written.map_err(|error| Error::io(copy, &error))?;
    file.persist(copy).map(|_| ()).map_err(|error| Error::io(copy, &error.error))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn the_copy_has_the_permissions_of_the_original() {
        use std::os::unix::fs::PermissionsExt;
        for mode in [0o600, 0o640, 0o666] {
            let directory = tempfile::tempdir().unwrap();
            let [original, copy] = ["a", "a.orig"].map(|name| directory.path().join(name));
            fs::write(&original, "cafÃ©\n").unwrap();
            fs::set_permissions(&original, fs::Permissions::from_mode(mode)).unwrap();
            let in_place = Some(".orig".to_owned());
            let repair = Repair { file: original.clone(), apply: false, output: None, in_place, json: true };
            assert!(repair.run(&mut Vec::new()).is_ok());
            for (path, text) in [(&original, "café\n"), (&copy, "cafÃ©\n")] {
                let is = fs::metadata(path).unwrap().permissions().mode() & 0o777;
                assert_eq!((fs::read_to_string(path).unwrap().as_str(), is), (text, mode), "{is:o}");
            }
        }
    }
}
