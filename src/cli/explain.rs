//! `utfuzz explain`: what bytes mean, and what each decoder answers to them. They come from a file, or are typed or
//! pasted: hexadecimal, escapes, code points, or text. Also `utfuzz chart`: the byte chart of a grammar.

use crate::cli::arguments::{Selection, grammar};
use crate::cli::output::{Failure, Verdict, has_colours, is_verbose, painted, write_to};
use crate::error::Error;
use crate::explain::Window;
use crate::generate::input_file;
use crate::generate::vectors::parse_hex;
use crate::report::pages::Explanation;
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
/// escapes (\xC0, %C3%A9, \u20AC) or code points (U+20AC). Only a part of a long input is shown, around its first error.
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
    /// Write an HTML page to this file, and print nothing; - is standard output
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
        let bytes = match read(text, notation)? {
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
            write_to(path, page.as_bytes(), out)?;
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
            if self.notation().is_none() && is_there(path) {
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
        let notation = self.notation().unwrap_or_else(|| recognise(&text));
        if self.notation().is_none() {
            let is_file = |word: &&&str| words.len() > 1 && (**word == "-" || Path::new(word).is_file());
            if words.iter().any(|word| is_file(&word))
                && words.iter().all(|word| is_file(&word) || is_like_a_path(word))
            {
                return Err(Error::usage("explain one file at a time; --text explains the names themselves"));
            }
            if notation == Notation::Text && is_like_a_path(&text) {
                let name = shown(Path::new(&text));
                return Err(Error::usage(format!("{name}: there is no such file; --text explains the name itself")));
            }
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
        input.by_ref().take(most + 1).read_to_end(&mut start).map_err(wrong)?;
        let notation = match self.notation() {
            Some(notation) => Some(notation).filter(|notation| *notation != Notation::Text),
            None => recognise_content(&start),
        };
        match notation {
            None => {
                let window = Window::read(contract, start.chain(input)).map_err(wrong)?;
                Ok(Given { window, notation: "bytes", doubtful: false, path: None })
            }
            Some(notation) => {
                let text = piped(start)?;
                Ok(Given { doubtful: self.notation().is_none(), ..Given::typed(contract, text.trim(), notation)? })
            }
        }
    }
}

/// What was read from standard input as text in a notation.
fn piped(read: Vec<u8>) -> Result<String, Error> {
    const MOST: u64 = input_file::LONGEST;
    if read.len() as u64 > MOST {
        return Err(Error::usage(format!(
            "standard input: longer than the limit of {MOST} bytes for --hex and --escapes; split it"
        )));
    }
    let wrong = |_| Error::usage("standard input: not UTF-8; leave out --hex or --escapes to explain its bytes");
    String::from_utf8(read).map_err(wrong)
}

/// Whether something is at a path, even if it cannot be opened.
fn is_there(path: &Path) -> bool {
    let found = path.symlink_metadata();
    found.map_or_else(|error| error.kind() == io::ErrorKind::PermissionDenied, |_| true)
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
            _ => format!("choose one that has it, with --as: {}", others.join(", ")),
        };
        Error::usage(format!("{} refuses {refused}; {remedy}", contract.grammar.name))
    })
}

/// Show the byte chart of a grammar: what each of the 256 bytes may be
#[derive(Debug, Args)]
pub(super) struct Chart {
    /// The grammar: rfc3629, rfc2279, cesu-8, modified-utf-8, wtf-8 or another; an unknown name lists them all
    #[arg(long, value_name = "NAME", default_value = "rfc3629")]
    grammar: String,
    /// Write it as an HTML page to this file, and print nothing; - is standard output
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
            write_to(path, page.as_bytes(), out)?;
        } else if self.json {
            write_json("chart", &chart::Chart::of(grammar), out)?;
        } else {
            chart::text(grammar, has_colours(), out)?;
        }
        Ok(Verdict::Clean)
    }
}

/// A notation for bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Notation {
    /// `C0 AF`, `C0AF`, `0xC0, 0xAF`, `{0xC0, 0xAF}`.
    Hex,
    /// `\xC0\xAF`, `\303\251`, `\u20AC`, `caf%C3%A9`.
    Escapes,
    /// `U+20AC`.
    CodePoints,
    /// Anything else.
    Text,
}

impl Notation {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Hex => "hexadecimal",
            Self::Escapes => "escapes",
            Self::CodePoints => "code points",
            Self::Text => "text",
        }
    }
}

/// What a text is in one of the notations.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Typed {
    Bytes(Vec<u8>),
    CodePoints(Vec<u32>),
}

/// The notation that an argument is probably meant in.
pub(super) fn recognise(text: &str) -> Notation {
    let mut words = words(text).peekable();
    let first = words.peek().copied().unwrap_or_default();
    let is_code_point = |word: &str| word.starts_with("U+") || word.starts_with("u+");
    // A wrong digit further on is an error, and not a sign that all of it is text.
    let is_byte = |word: &str| is_pairs(word) && (word.len() == 2 || word.contains(|c: char| c.is_ascii_digit()));
    if is_code_point(first) {
        Notation::CodePoints
    } else if has_escapes(text) {
        Notation::Escapes
    } else if text.is_empty() || is_pairs(first) && words.count() == 1 || is_byte(unprefixed(first)) || is_hex(text) {
        Notation::Hex
    } else {
        Notation::Text
    }
}

/// Like [`recognise`] for the content of a file or a pipe. That is taken as bytes, unless it is probably notation: it is
/// short, and nothing but pairs of digits with spaces between, escapes without text, or code points.
pub(super) fn recognise_content(content: &[u8]) -> Option<Notation> {
    const LONGEST: usize = 4096;
    let text = core::str::from_utf8(content).ok().filter(|text| text.is_ascii() && text.len() <= LONGEST)?.trim();
    let are = |fits: &dyn Fn(&str) -> bool| words(text).next().is_some() && words(text).all(fits);
    let is_pair = |word: &str| unprefixed(word).len() == 2 && is_pairs(unprefixed(word));
    if are(&|word| word.starts_with("U+") && word.len() > 3) {
        Some(Notation::CodePoints)
    } else if are(&is_pair) && (text.len() > 2) {
        Some(Notation::Hex)
    } else {
        let hex = |of: &str| of.len() == 2 && is_pairs(of);
        let all = |mark: &str| text.strip_prefix(mark).is_some_and(|rest| rest.split(mark).all(hex));
        (all("\\x") || all("%")).then_some(Notation::Escapes)
    }
}

/// Reads a text in a notation.
///
/// # Errors
/// It is not in that notation.
pub(super) fn read(text: &str, notation: Notation) -> Result<Typed, Error> {
    let hint = "; --text explains it as text";
    Ok(Typed::Bytes(match notation {
        Notation::Text => text.as_bytes().to_vec(),
        Notation::CodePoints => return words(text).map(code_point).collect::<Result<_, _>>().map(Typed::CodePoints),
        Notation::Escapes => {
            escapes(text).ok_or_else(|| Error::usage(format!("{text:?} has an unknown or incomplete escape{hint}")))?
        }
        Notation::Hex => {
            let digits: String = words(text).map(unprefixed).collect();
            if digits.is_empty() && words(text).next().is_some() {
                return Err(Error::usage(format!("{text:?} is not hexadecimal: it has no digits{hint}")));
            }
            parse_hex(&digits).map_err(|what| Error::usage(format!("{text:?} is not hexadecimal: {what}{hint}")))?
        }
    }))
}

/// What stands between spaces, commas, brackets and quotes.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let between = |c: char| c.is_whitespace() || matches!(c, ',' | ';' | ':' | '{' | '}' | '[' | ']' | '(' | ')' | '"');
    text.split(between).filter(|word| !word.is_empty())
}

fn unprefixed(word: &str) -> &str {
    word.strip_prefix("0x").or_else(|| word.strip_prefix("0X")).unwrap_or(word)
}

fn is_pairs(word: &str) -> bool {
    !word.is_empty() && word.len().is_multiple_of(2) && word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Whether it starts with 0x, or all of it is hexadecimal, however it is grouped.
fn is_hex(text: &str) -> bool {
    let digits: String = words(text).map(unprefixed).collect();
    is_pairs(&digits) || text.starts_with("0x")
}

fn code_point(word: &str) -> Result<u32, Error> {
    let digits = word.strip_prefix("U+").or_else(|| word.strip_prefix("u+"));
    let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    number.ok_or_else(|| Error::usage(format!("{word:?} is not a code point; write it like U+20AC")))
}

/// Whether it has escapes, and each backslash and percent sign begins one.
fn has_escapes(text: &str) -> bool {
    text.contains(['\\', '%']) && escapes(text).is_some()
}

/// Text with escapes as bytes: of C, of a URL, and `\u20AC`, `\u{20AC}`, `\U0001F600`, which are UTF-8. `None` if a
/// backslash or percent sign begins no escape.
fn escapes(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['\\', '%']) {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        let (mark, after) = rest[at..].split_at(1);
        rest = escape(mark, after, &mut bytes)?;
    }
    bytes.extend_from_slice(rest.as_bytes());
    Some(bytes)
}

/// Reads one escape after its mark; returns what follows it.
fn escape<'t>(mark: &str, after: &'t str, bytes: &mut Vec<u8>) -> Option<&'t str> {
    let number = |digits: &str, radix: u32| {
        let all = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
        all.then(|| u32::from_str_radix(digits, radix).ok()).flatten()
    };
    if mark == "%" {
        bytes.push(number(after.get(..2)?, 16)? as u8);
        return after.get(2..);
    }
    let kind = after.chars().next()?;
    let rest = &after[kind.len_utf8()..];
    let mut character = |digits: &str| {
        let c = number(digits, 16).and_then(char::from_u32)?;
        bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        Some(())
    };
    match kind {
        'u' if rest.starts_with('{') => {
            let (digits, rest) = rest[1..].split_once('}')?;
            character(digits)?;
            return Some(rest);
        }
        'u' | 'U' => {
            let len = if kind == 'u' { 4 } else { 8 };
            character(rest.get(..len)?)?;
            return rest.get(len..);
        }
        'x' => {
            bytes.push(number(rest.get(..2)?, 16)? as u8);
            return rest.get(2..);
        }
        '0'..='7' => {
            let len = after.bytes().take(3).take_while(|byte| matches!(byte, b'0'..=b'7')).count();
            bytes.push(u8::try_from(number(&after[..len], 8)?).ok()?);
            return after.get(len..);
        }
        _ => {}
    }
    let simple = [('n', b'\n'), ('r', b'\r'), ('t', b'\t'), ('a', 7), ('b', 8), ('e', 27), ('f', 12), ('v', 11)];
    let simple = simple.into_iter().find(|(c, _)| *c == kind).map(|(_, byte)| byte);
    bytes.push(simple.or(matches!(kind, '\\' | '"' | '\'').then_some(kind as u8))?);
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_paste_is_recognised() {
        let rows: [(&str, Notation, &[u8]); 24] = [
            ("C0 AF", Notation::Hex, b"\xC0\xAF"),
            ("c0af", Notation::Hex, b"\xC0\xAF"),
            ("F490 8080", Notation::Hex, b"\xF4\x90\x80\x80"),
            ("0xC0,0xAF", Notation::Hex, b"\xC0\xAF"),
            ("{0xC0, 0xAF};", Notation::Hex, b"\xC0\xAF"),
            ("C0:AF", Notation::Hex, b"\xC0\xAF"),
            ("0xC0AF", Notation::Hex, b"\xC0\xAF"),
            ("24", Notation::Hex, b"$"),
            ("", Notation::Hex, b""),
            ("\\xC0\\xAF", Notation::Escapes, b"\xC0\xAF"),
            ("\"caf\\xC3\\xA9\"", Notation::Escapes, b"\"caf\xC3\xA9\""),
            ("\\303\\251", Notation::Escapes, b"\xC3\xA9"),
            ("\\u20AC\\u{20ac}\\U0001F600\\n", Notation::Escapes, "€€😀\n".as_bytes()),
            ("caf%C3%A9", Notation::Escapes, b"caf\xC3\xA9"),
            ("Gr\u{FC}\u{DF}e", Notation::Text, "Grüße".as_bytes()),
            ("é", Notation::Text, "é".as_bytes()),
            ("100% sure", Notation::Text, b"100% sure"),
            ("C:\\windows", Notation::Text, b"C:\\windows"),
            ("hello", Notation::Text, b"hello"),
            ("abc", Notation::Text, b"abc"),
            ("a fact", Notation::Text, b"a fact"),
            ("zz", Notation::Text, b"zz"),
            ("it is 5", Notation::Text, b"it is 5"),
            ("\u{1B}[31m", Notation::Text, b"\x1B[31m"),
        ];
        for (text, notation, bytes) in rows {
            assert_eq!(recognise(text), notation, "{text:?}");
            assert_eq!(read(text, notation).unwrap(), Typed::Bytes(bytes.to_vec()), "{text:?}");
        }
        assert_eq!(recognise("U+20AC, u+41"), Notation::CodePoints);
        assert_eq!(read("U+20AC, u+41", Notation::CodePoints).unwrap(), Typed::CodePoints(vec![0x20AC, 0x41]));
    }

    #[test]
    fn a_slip_in_hexadecimal_is_an_error_and_not_text() {
        for (text, says) in
            [("C0 A", "3 hexadecimal digits"), ("C0 AG", "'G'"), ("0xC", "each byte needs two"), ("C0\nA", "C0")]
        {
            assert_eq!(recognise(text), Notation::Hex, "{text:?}");
            let error = read(text, Notation::Hex).unwrap_err().to_string();
            assert!(error.contains(says) && error.contains("--text"), "{error}");
        }
    }

    #[test]
    fn content_is_bytes_unless_it_can_hardly_be() {
        for (content, notation) in [
            (&b"C0 AF\n"[..], Some(Notation::Hex)),
            (b"0xC0, 0xAF", Some(Notation::Hex)),
            (b"\\xC0\\xAF", Some(Notation::Escapes)),
            (b"%C3%A9\n", Some(Notation::Escapes)),
            (b"U+20AC U+41", Some(Notation::CodePoints)),
            (b"\xC0\xAF", None),
            (b"", None),
            (b"42", None),
            (b"C0AF", None),
            (b"caf\\xC3", None),
            (b"be a dear", None),
        ] {
            assert_eq!(recognise_content(content), notation, "{content:?}");
        }
    }

    #[test]
    fn what_is_piped_in_a_notation_is_taken_as_a_whole_or_refused() {
        assert_eq!(piped("é\\xC0".into()).unwrap(), "é\\xC0");
        let longest = input_file::LONGEST as usize;
        assert_eq!(piped(vec![b'0'; longest]).unwrap().len(), longest);
        for (read, says) in [(vec![b'0'; longest + 1], "limit of 1048576 bytes"), (b"\xFF".to_vec(), "not UTF-8")] {
            let error = piped(read).unwrap_err().to_string();
            assert!(error.starts_with("standard input: ") && error.contains(says), "{error}");
        }
    }
}
