//! The adapter protocol, version 1, as described in `docs/adapter.md`: the greeting, batches of operations, and their
//! answers; in lines of hexadecimal digits, or in binary frames.

use crate::codec::convert::Encoding;
use crate::decoder::Promise;
use crate::peers::units::ENCODINGS;
use crate::spec::Contract;
use crate::text::{hex, printable, quoted};
use crate::utf8::{ErrorLen, Malformed, Validity, push_extended};
use std::io::{self, BufRead, Read, Write};
use std::ops::Range;

/// How requests and answers are spelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spelling {
    /// Lines of hexadecimal digits.
    Lines,
    /// Binary frames with their lengths.
    Frames,
}

/// How an adapter spells output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputForm {
    /// As UTF-8, in which lone surrogates have three bytes.
    Utf8,
    /// As UTF-16, little endian.
    Utf16Le,
    /// As code points of four bytes, little endian.
    Utf32Le,
}

/// Which parts of an answer an entry point gives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts {
    /// The verdict.
    pub verdict: bool,
    /// The offset of the first error.
    pub offset: bool,
    /// The length of the first error.
    pub length: bool,
    /// The output.
    pub output: bool,
    /// Streams.
    pub stream: bool,
}

/// An entry point, as the adapter describes it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// The runtime, library or package.
    pub package: String,
    /// The version that the running thing reports.
    pub version: String,
    /// The implementation that runs.
    pub lineage: String,
    /// What it answers.
    pub answers: Parts,
    /// How its output is spelled.
    pub output: OutputForm,
    /// What it decodes, if that is not UTF-8 or a relative of it.
    pub encoding: Option<Encoding>,
    /// What its documentation promises; `None` if that is nothing.
    pub contract: Option<Contract>,
    /// The input about which it promises that.
    pub promise: Promise,
    /// The address of the documentation.
    pub source: Option<String>,
    /// What else may change the answers.
    pub environment: Option<String>,
}

impl Entry {
    /// The entry point that these keys describe.
    ///
    /// # Errors
    /// What is wrong with them, in words.
    pub(super) fn of<'k>(keys: impl IntoIterator<Item = (&'k str, &'k str)>) -> Result<Self, String> {
        let mut all = Keys::default();
        keys.into_iter().try_for_each(|(key, value)| all.set(key, value))?;
        all.into_entry()
    }
}

/// What an adapter says first.
#[derive(Clone, Debug)]
pub struct Greeting {
    /// The spelling of everything that follows.
    pub spelling: Spelling,
    /// Its entry points.
    pub entries: Vec<Entry>,
    /// Why it has none, in words.
    pub error: Option<String>,
}

const DIGITS: [u8; 16] = *b"0123456789ABCDEF";

/// The maximum size of a greeting, in bytes.
const LONGEST_GREETING: u64 = 1 << 20;

impl Greeting {
    /// Reads a greeting.
    ///
    /// # Errors
    /// What is wrong with it, in words for the author of the adapter.
    pub(super) fn read(from: &mut impl BufRead) -> Result<Self, String> {
        let mut lines = Vec::new();
        let mut from = from.take(LONGEST_GREETING);
        loop {
            let mut line = Vec::new();
            let read = from.read_until(b'\n', &mut line).map_err(|error| format!("the greeting: {error}"))?;
            if read == 0 {
                return Err(match lines.is_empty() && line.is_empty() {
                    true => "it ended without a greeting".into(),
                    false => "the greeting has no end; an empty line ends it".into(),
                });
            }
            let line = line.strip_suffix(b"\n").unwrap_or(&line);
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let line = std::str::from_utf8(line).map_err(|_| {
                format!("line {} of the greeting is not UTF-8: {}", lines.len() + 1, hex(&line[..line.len().min(40)]))
            })?;
            if line.is_empty() {
                break;
            }
            if lines.is_empty() && !line.starts_with("utfuzz ") {
                let line = quoted(line, 80);
                return Err(format!("the first line is {line}; it must be `utfuzz 1 lines` or `utfuzz 1 frames`"));
            }
            lines.push(line.to_owned());
        }
        Self::parse(&lines)
    }

    fn parse(lines: &[String]) -> Result<Self, String> {
        let Some((first, keys)) = lines.split_first() else { return Err("the greeting is empty".into()) };
        let spelling = match first.as_str() {
            "utfuzz 1 lines" => Spelling::Lines,
            "utfuzz 1 frames" => Spelling::Frames,
            _ => {
                let first = quoted(first, 80);
                return Err(format!(
                    "the greeting begins with {first}; the first line must be `utfuzz 1 lines` or `utfuzz 1 frames`"
                ));
            }
        };
        let mut common = Keys::default();
        let (mut entries, mut error) = (Vec::<Keys>::new(), None);
        for line in keys {
            let (key, value) = line.split_once('=').ok_or_else(|| format!("{} is not key=value", quoted(line, 80)))?;
            if key == "name" {
                entries.push(common.clone());
            }
            match key {
                "error" => error = Some(printable(value)),
                _ => entries.last_mut().unwrap_or(&mut common).set(key, value)?,
            }
        }
        let entries = entries.into_iter().map(Keys::into_entry).collect::<Result<Vec<_>, _>>()?;
        match entries.is_empty() && error.is_none() {
            true => Err("the greeting has no `name`, so there is no entry point".into()),
            false => Ok(Self { spelling, entries, error }),
        }
    }
}

/// The keys of one entry point.
#[derive(Clone, Debug, Default)]
struct Keys {
    name: Option<String>,
    package: Option<String>,
    version: Option<String>,
    lineage: Option<String>,
    answers: Option<Parts>,
    output: Option<OutputForm>,
    encoding: Option<Encoding>,
    contract: Option<(Contract, Promise)>,
    source: Option<String>,
    environment: Option<String>,
}

impl Keys {
    fn set(&mut self, key: &str, value: &str) -> Result<(), String> {
        let text = Some(value.to_owned());
        match key {
            "name" => self.name = text,
            "package" => self.package = text,
            "version" => self.version = text,
            "lineage" => self.lineage = text,
            "source" => self.source = text,
            "environment" => self.environment = text,
            "answers" => self.answers = Some(parts(value)?),
            "output" => {
                self.output = Some(match value {
                    "utf-8" => OutputForm::Utf8,
                    "utf-16le" => OutputForm::Utf16Le,
                    "utf-32le" => OutputForm::Utf32Le,
                    _ => {
                        let value = quoted(value, 40);
                        return Err(format!("output={value} is not utf-8, utf-16le or utf-32le"));
                    }
                });
            }
            "encoding" => {
                let named = Encoding::named(value).ok().filter(|encoding| ENCODINGS.contains(encoding));
                self.encoding = Some(named.ok_or_else(|| {
                    let known = ENCODINGS.map(|encoding| encoding.name().to_lowercase()).join(", ");
                    format!("encoding={} is none of {known}", quoted(value, 40))
                })?);
            }
            "contract" => {
                self.contract = match value {
                    "undocumented" => None,
                    _ => Some(contract(value).map_err(|error| format!("contract={}: {error}", quoted(value, 80)))?),
                };
            }
            _ => return Err(format!("the key {} is unknown", quoted(key, 40))),
        }
        Ok(())
    }

    fn into_entry(self) -> Result<Entry, String> {
        let name = self.name.unwrap_or_default();
        let missing = |key: &str| format!("the entry point {} lacks {key}=", quoted(&name, 80));
        let package = self.package.ok_or_else(|| missing("package"))?;
        if self.encoding.is_some() && self.contract.is_some() {
            let name = quoted(&name, 80);
            return Err(format!("{name}: contracts are about UTF-8, so an entry point with encoding= has none"));
        }
        let states_length = self.answers.is_some_and(|answers| answers.length);
        if states_length && matches!(self.contract, Some((_, Promise::AnySegmentation))) {
            return Err(format!(
                "{}: any-segmentation promises no length, so answers= must not have it",
                quoted(&name, 80)
            ));
        }
        Ok(Entry {
            version: self.version.filter(|version| !version.is_empty()).ok_or_else(|| missing("version"))?,
            lineage: self.lineage.unwrap_or_else(|| package.clone()),
            answers: self.answers.ok_or_else(|| missing("answers"))?,
            output: self.output.unwrap_or(OutputForm::Utf8),
            encoding: self.encoding,
            contract: self.contract.map(|(contract, _)| contract),
            promise: self.contract.map_or(Promise::Nothing, |(_, promise)| promise),
            source: self.source,
            environment: self.environment,
            package,
            name,
        })
    }
}

/// A contract, and how much of it is promised.
fn contract(words: &str) -> Result<(Contract, Promise), String> {
    let mut promise = Promise::Everything;
    let mut others = Vec::new();
    for word in words.split_whitespace() {
        match [Promise::WellFormed, Promise::AnySegmentation].into_iter().find(|promise| promise.word() == Some(word)) {
            Some(named) => promise = named,
            None => others.push(word),
        }
    }
    let contract = others.join(" ").parse()?;
    promise.check(&contract).map(|()| (contract, promise))
}

fn parts(words: &str) -> Result<Parts, String> {
    let mut parts = Parts::default();
    for word in words.split_whitespace() {
        match word {
            "verdict" => parts.verdict = true,
            "offset" => parts.offset = true,
            "length" => parts.length = true,
            "output" => parts.output = true,
            "stream" => parts.stream = true,
            _ => {
                return Err(format!(
                    "answers={} is unknown; known: verdict, offset, length, output, stream",
                    quoted(word, 40)
                ));
            }
        }
    }
    match parts.verdict || parts.output {
        true => Ok(parts),
        false => Err("answers= has neither verdict nor output".into()),
    }
}

/// What is asked of an adapter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Decode as a whole.
    Decode,
    /// Decode the next chunk of this stream.
    Push(u32),
    /// End this stream.
    Finish(u32),
    /// Forget this stream.
    Drop(u32),
}

impl Operation {
    /// Takes the next operation and its bytes from the body of a request in frames; `None` if there is no whole one.
    pub fn take<'b>(body: &mut &'b [u8]) -> Option<(Self, &'b [u8])> {
        let ([code, numbers @ ..], rest) = body.split_first_chunk::<9>()?;
        let number = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| numbers[at + byte]));
        let operation = match code {
            0 => Self::Decode,
            1 => Self::Push(number(0)),
            2 => Self::Finish(number(0)),
            3 => Self::Drop(number(0)),
            _ => return None,
        };
        let (bytes, rest) = rest.split_at_checked(number(4) as usize)?;
        *body = rest;
        Some((operation, bytes))
    }
}

/// Operations that are sent together.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    operations: Vec<(Operation, usize)>,
    /// The bytes of all operations, each of which states where its part ends.
    bytes: Vec<u8>,
}

impl Batch {
    /// Adds an operation.
    pub fn push(&mut self, operation: Operation, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.operations.push((operation, self.bytes.len()));
    }

    /// The number of operations.
    pub fn len(&self) -> usize {
        self.operations.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.operations.is_empty()
    }

    /// An operation and its bytes.
    ///
    /// # Panics
    /// If the index is out of range.
    pub fn operation(&self, index: usize) -> (Operation, &[u8]) {
        let start = index.checked_sub(1).map_or(0, |before| self.operations[before].1);
        let (operation, end) = self.operations[index];
        (operation, &self.bytes[start..end])
    }

    /// Every operation and its bytes.
    pub fn operations(&self) -> impl Iterator<Item = (Operation, &[u8])> {
        (0..self.len()).map(|index| self.operation(index))
    }

    /// Some of the operations.
    ///
    /// # Panics
    /// If the range ends after the last operation.
    pub fn part(&self, range: Range<usize>) -> Self {
        let mut part = Self::default();
        range.map(|index| self.operation(index)).for_each(|(operation, bytes)| part.push(operation, bytes));
        part
    }

    /// Writes the request in a spelling.
    ///
    /// # Errors
    /// It cannot be written.
    pub fn write(&self, spelling: Spelling, to: &mut impl Write) -> io::Result<()> {
        let mut text = Vec::with_capacity(self.len() * 9 + 3 * self.bytes.len() + 8);
        match spelling {
            Spelling::Frames => {
                text.extend_from_slice(&[0; 4]);
                for (operation, bytes) in self.operations() {
                    let (code, stream) = match operation {
                        Operation::Decode => (0, 0),
                        Operation::Push(stream) => (1, stream),
                        Operation::Finish(stream) => (2, stream),
                        Operation::Drop(stream) => (3, stream),
                    };
                    text.push(code);
                    text.extend_from_slice(&stream.to_le_bytes());
                    text.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
                    text.extend_from_slice(bytes);
                }
                let size = (text.len() - 4) as u32;
                text[..4].copy_from_slice(&size.to_le_bytes());
            }
            Spelling::Lines => {
                for (operation, bytes) in self.operations() {
                    match operation {
                        Operation::Decode => {}
                        Operation::Push(stream) => write!(text, "{stream}+")?,
                        Operation::Finish(stream) => write!(text, "{stream}=")?,
                        Operation::Drop(stream) => write!(text, "{stream}-")?,
                    }
                    if matches!(operation, Operation::Decode | Operation::Push(_)) {
                        match bytes {
                            [] => text.push(b'.'),
                            _ => text.extend(
                                bytes
                                    .iter()
                                    .flat_map(|byte| [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]]),
                            ),
                        }
                    }
                    text.push(b'\n');
                }
                text.push(b'\n');
            }
        }
        to.write_all(&text)?;
        to.flush()
    }

    /// The size that no reply in frames exceeds: an honest output has at most one short replacement for each byte.
    fn largest_reply(&self) -> u64 {
        64 + 40 * self.bytes.len() as u64 + 4096 * self.len() as u64
    }

    /// Reads the answers, one for each operation.
    ///
    /// # Errors
    /// What is wrong with the reply; `None` if it ended.
    pub(super) fn read(&self, spelling: Spelling, from: &mut impl BufRead) -> Result<Vec<Answer>, Option<String>> {
        match spelling {
            Spelling::Frames => self.read_frame(from),
            Spelling::Lines => {
                // Two digits for each byte.
                let mut from = from.take(2 * self.largest_reply());
                let mut line = Vec::new();
                let mut answers = Vec::with_capacity(self.len());
                for index in 0..self.len() {
                    line.clear();
                    from.read_until(b'\n', &mut line).map_err(|_| None)?;
                    let Some(text) = line.strip_suffix(b"\n") else {
                        return Err(
                            (from.limit() == 0).then(|| "its answers are longer than those of a batch can be".into())
                        );
                    };
                    let wrong = || {
                        let text = quoted(&String::from_utf8_lossy(text), 80);
                        Some(format!(
                            "answer {} of {} is {text}, not `VERDICT OFFSET LENGTH OUTPUT`",
                            index + 1,
                            self.len()
                        ))
                    };
                    answers.push(Answer::of_line(text).ok_or_else(wrong)?);
                }
                Ok(answers)
            }
        }
    }

    fn read_frame(&self, from: &mut impl BufRead) -> Result<Vec<Answer>, Option<String>> {
        let mut size = [0; 4];
        from.read_exact(&mut size).map_err(|_| None)?;
        let size = u64::from(u32::from_le_bytes(size));
        let least = 13 * self.len() as u64;
        if size < least {
            return Err(Some(format!(
                "a reply of {size} bytes to {} operations; it must have at least {least}",
                self.len()
            )));
        }
        if size > self.largest_reply() {
            return Err(Some(format!(
                "a reply of {size} bytes to {} operations with {} bytes in all; is its size field right?",
                self.len(),
                self.bytes.len()
            )));
        }
        let mut body = vec![0; size as usize];
        from.read_exact(&mut body).map_err(|_| None)?;
        let mut rest = body.as_slice();
        let mut answers = Vec::with_capacity(self.len());
        for index in 0..self.len() {
            let wrong = |what: String| Some(format!("answer {} of {}: {what}", index + 1, self.len()));
            let Some((&[verdict, ref numbers @ ..], after)) = rest.split_first_chunk::<13>() else {
                return Err(wrong("the reply ends too early".into()));
            };
            let number = |at: usize| i32::from_le_bytes([0, 1, 2, 3].map(|byte| numbers[at + byte]));
            let (offset, length, len) = (number(0), number(4), number(8));
            let output = match usize::try_from(len) {
                Err(_) if len == -1 => None,
                Ok(len) if len <= after.len() => Some(after[..len].to_vec()),
                _ => return Err(wrong(format!("{len} bytes of output, of which {} are there", after.len()))),
            };
            rest = &after[output.as_ref().map_or(0, Vec::len)..];
            let answer = Answer::new(verdict, offset, length, output);
            answers.push(answer.ok_or_else(|| wrong(format!("verdict {verdict}, offset {offset}, length {length}")))?);
        }
        match rest.len() {
            0 => Ok(answers),
            more => Err(Some(format!("the reply has {more} bytes more than its {} answers", self.len()))),
        }
    }
}

/// What an adapter says about the decoder's verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The input is ill-formed.
    IllFormed,
    /// The input is well-formed.
    WellFormed,
    /// The decoder states none.
    NotStated,
    /// The decoder cannot be asked about this input.
    CannotSay,
    /// The decoder failed in some way other than rejecting the input.
    Failed,
}

/// The answer to one operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The verdict.
    pub verdict: Verdict,
    /// The offset of the first error.
    pub offset: Option<usize>,
    /// The length of the first error.
    pub length: Option<ErrorLen>,
    /// The output as the adapter spells it, or a reason in words.
    pub output: Option<Vec<u8>>,
}

impl Answer {
    /// An answer from the numbers of a frame; `None` if they do not make one.
    pub(super) fn new(verdict: u8, offset: i32, length: i32, output: Option<Vec<u8>>) -> Option<Self> {
        let verdict = match verdict {
            0 => Verdict::IllFormed,
            1 => Verdict::WellFormed,
            2 => Verdict::NotStated,
            3 => Verdict::CannotSay,
            4 => Verdict::Failed,
            _ => return None,
        };
        let stated = |number: i32| if number == -1 { Some(None) } else { usize::try_from(number).ok().map(Some) };
        let length = stated(length)?.map(|len| if len == 0 { ErrorLen::Incomplete } else { ErrorLen::Bytes(len) });
        Some(Self { verdict, offset: stated(offset)?, length, output })
    }

    fn of_line(line: &[u8]) -> Option<Self> {
        let line = std::str::from_utf8(line.strip_suffix(b"\r").unwrap_or(line)).ok()?;
        let mut words = line.split(' ');
        let (verdict, offset) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
        let length = words.next()?.parse().ok()?;
        let output = match words.next()? {
            "-" => None,
            "." => Some(Vec::new()),
            digits => Some(bytes_of(digits.as_bytes())?),
        };
        words.next().is_none().then(|| Self::new(verdict, offset, length, output)).flatten()
    }

    /// The verdict as far as it is stated.
    pub fn validity(&self, parts: Parts) -> Option<Validity> {
        match self.verdict {
            Verdict::WellFormed => Some(Validity::Valid),
            Verdict::IllFormed => Some(Validity::Invalid(Malformed {
                valid_up_to: self.offset.filter(|_| parts.offset),
                len: self.length.filter(|_| parts.length),
                kind: None,
            })),
            _ => None,
        }
        .filter(|_| parts.verdict)
    }

    /// The reason, if the verdict has one; otherwise the output, or nothing.
    pub fn reason(&self) -> String {
        String::from_utf8_lossy(self.output.as_deref().unwrap_or_default()).into_owned()
    }
}

/// The bytes of hexadecimal digits, two for each; [`parse_hex`](crate::generate::vectors::parse_hex) reads what people
/// write, and takes longer.
fn bytes_of(digits: &[u8]) -> Option<Vec<u8>> {
    let value = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    match digits.as_chunks::<2>() {
        (pairs, []) => pairs.iter().map(|[high, low]| Some(value(*high)? << 4 | value(*low)?)).collect(),
        _ => None,
    }
}

/// Translates output to UTF-8. A chunk may end inside a character, whose bytes wait here for the next.
#[derive(Clone, Debug)]
pub struct Translator {
    form: OutputForm,
    waiting: Vec<u8>,
}

impl Translator {
    /// A translator at the start of an output.
    pub fn new(form: OutputForm) -> Self {
        Self { form, waiting: Vec::new() }
    }

    /// Appends what is complete as UTF-8, in which lone surrogates have three bytes.
    pub fn push(&mut self, output: &[u8], out: &mut Vec<u8>) {
        let bytes: Vec<u8> = self.waiting.drain(..).chain(output.iter().copied()).collect();
        match self.form {
            OutputForm::Utf8 => out.extend_from_slice(&bytes),
            OutputForm::Utf16Le => {
                let (units, rest) = bytes.as_chunks::<2>();
                let mut units: Vec<u16> = units.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
                let last = units.pop_if(|last| (0xD800..0xDC00).contains(last));
                push_utf16(&units, out);
                self.waiting.extend(last.into_iter().flat_map(u16::to_le_bytes).chain(rest.iter().copied()));
            }
            OutputForm::Utf32Le => {
                let (values, rest) = bytes.as_chunks::<4>();
                values.iter().for_each(|value| push_value(u32::from_le_bytes(*value), out));
                self.waiting.extend_from_slice(rest);
            }
        }
    }

    /// Appends what is left at the end: a lone surrogate, or U+FFFD for half a code unit.
    pub fn finish(&mut self, out: &mut Vec<u8>) {
        let waiting = std::mem::take(&mut self.waiting);
        let (units, rest) = match self.form {
            OutputForm::Utf16Le => waiting.as_chunks::<2>(),
            OutputForm::Utf8 | OutputForm::Utf32Le => (&[][..], &waiting[..]),
        };
        let units: Vec<u16> = units.iter().map(|unit| u16::from_le_bytes(*unit)).collect();
        push_utf16(&units, out);
        if !rest.is_empty() {
            out.extend_from_slice(crate::utf8::REPLACEMENT);
        }
    }
}

fn push_utf16(units: &[u16], out: &mut Vec<u8>) {
    for decoded in char::decode_utf16(units.iter().copied()) {
        push_value(decoded.map_or_else(|lone| u32::from(lone.unpaired_surrogate()), u32::from), out);
    }
}

/// Writes a value; U+FFFD if it has more than 31 bits.
fn push_value(value: u32, out: &mut Vec<u8>) {
    match value {
        0..0x8000_0000 => push_extended(value, out),
        _ => out.extend_from_slice(crate::utf8::REPLACEMENT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_code_unit_at_the_end_is_one_replacement() {
        let translated = |form, output: &[u8]| {
            let (mut translator, mut out) = (Translator::new(form), Vec::new());
            output.chunks(3).for_each(|chunk| translator.push(chunk, &mut out));
            translator.finish(&mut out);
            String::from_utf8_lossy(&out).into_owned()
        };
        assert_eq!(translated(OutputForm::Utf32Le, b"a\0\0\0b\0"), "a\u{FFFD}");
        assert_eq!(translated(OutputForm::Utf32Le, b"a\0\0\0b\0\0\0"), "ab");
        assert_eq!(translated(OutputForm::Utf16Le, b"a\0b"), "a\u{FFFD}");
        assert_eq!(translated(OutputForm::Utf16Le, b"a\0\x3D\xD8\0\xDE"), "a😀");
    }
}
