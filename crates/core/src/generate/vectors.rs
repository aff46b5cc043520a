//! Published conformance vectors: text files of `name | hex | expectations`.
//!
//! Expectations are words: `valid` or `invalid`, then any of `grammar=NAME` (RFC 3629 otherwise), `replace=HEX`
//! (U+FFFD for each maximal subpart), `skip=HEX` (ill-formed bytes dropped), `replace-byte=HEX`, `replace-run=HEX`,
//! `fail-at=N|end` (after how many bytes a decoder fed one byte at a time must fail), `code-points=HEX,…` and `runes=N`
//! (the number of segments, with each ill-formed byte a segment). `-` is the empty string.

use crate::spec;
use crate::spec::{Contract, Grammar, Replacement, Segmentation};

/// The suites of `corpus/vectors`: the name of each file, and its text.
#[cfg(feature = "check")]
pub const SUITES: [(&str, &str); 8] = [
    ("cpython-issue8271.txt", include_str!("../../corpus/vectors/cpython-issue8271.txt")),
    ("go-utf8.txt", include_str!("../../corpus/vectors/go-utf8.txt")),
    ("perl-utf8decode.txt", include_str!("../../corpus/vectors/perl-utf8decode.txt")),
    ("tomcat.txt", include_str!("../../corpus/vectors/tomcat.txt")),
    ("unicode-ch3.txt", include_str!("../../corpus/vectors/unicode-ch3.txt")),
    ("utf8tests.txt", include_str!("../../corpus/vectors/utf8tests.txt")),
    ("utr26.txt", include_str!("../../corpus/vectors/utr26.txt")),
    ("webassembly.txt", include_str!("../../corpus/vectors/webassembly.txt")),
];

/// One row of a vector file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vector {
    /// The row's name, unique in its file.
    pub name: String,
    /// The input.
    pub bytes: Vec<u8>,
    /// What the suite claims.
    pub claims: Vec<Claim>,
}

impl Vector {
    /// The claims that `spec` contradicts, each with what it says instead; `suite` names the file.
    pub fn contradictions(&self, suite: &str) -> Vec<String> {
        let contradictions = self.claims.iter().filter_map(|claim| claim.contradiction(&self.bytes));
        contradictions.map(|what| format!("{suite}, {}: {what}", crate::text::printable(&self.name))).collect()
    }
}

/// One claim of a suite about an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Well-formed or not, under this grammar.
    Valid(&'static Grammar, bool),
    /// The output under RFC 3629 with this segmentation and replacement.
    Output(Segmentation, Replacement, Vec<u8>),
    /// After how many bytes a decoder fed one byte at a time must fail; `None`: only at the end of the input.
    DetectedAt(Option<usize>),
    /// The code points of a well-formed input, under this grammar.
    CodePoints(&'static Grammar, Vec<u32>),
    /// The number of segments, with each ill-formed byte a segment.
    Runes(usize),
}

/// A line of a vector file that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorError {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong with the line.
    pub what: String,
}

impl core::fmt::Display for VectorError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "line {}: {}; a row is `name | hex | expectations`", self.line, self.what)
    }
}

impl core::error::Error for VectorError {}

/// Reads a vector file.
///
/// # Errors
/// The first line that is neither blank, a comment, nor a row.
pub fn parse(text: &str) -> Result<Vec<Vector>, VectorError> {
    let rows = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    rows.map(|(index, line)| parse_row(line).map_err(|what| VectorError { line: index + 1, what })).collect()
}

fn parse_row(line: &str) -> Result<Vector, String> {
    let [name, hex, expectations] = line.split('|').map(str::trim).collect::<Vec<_>>()[..] else {
        return Err("not three fields".into());
    };
    let mut words = expectations.split_whitespace();
    let valid = match words.next() {
        Some("valid") => true,
        Some("invalid") => false,
        other => return Err(format!("{other:?} is neither `valid` nor `invalid`")),
    };
    let pairs: Vec<(&str, &str)> = words
        .map(|word| word.split_once('=').ok_or_else(|| format!("{word:?} is not KEY=VALUE")))
        .collect::<Result<_, _>>()?;
    let grammar = match pairs.iter().find(|(key, _)| *key == "grammar") {
        None => &spec::grammar::RFC3629,
        Some((_, name)) => Grammar::named(name).ok_or_else(|| format!("no grammar is named {name:?}"))?,
    };
    let mut claims = vec![Claim::Valid(grammar, valid)];
    for (key, value) in pairs {
        claims.push(match key {
            "grammar" => continue,
            "replace" => output(Segmentation::MaximalSubpart, Replacement::ReplacementCharacter, value)?,
            "skip" => output(Segmentation::MaximalSubpart, Replacement::Drop, value)?,
            "replace-byte" => output(Segmentation::Byte, Replacement::ReplacementCharacter, value)?,
            "replace-run" => output(Segmentation::Run, Replacement::ReplacementCharacter, value)?,
            "fail-at" if value == "end" => Claim::DetectedAt(None),
            "fail-at" => Claim::DetectedAt(Some(number(value)?)),
            "code-points" => {
                let code_points =
                    value.split(',').map(|hex| u32::from_str_radix(hex, 16).map_err(|e| format!("{hex:?}: {e}")));
                Claim::CodePoints(grammar, code_points.collect::<Result<_, _>>()?)
            }
            "runes" => Claim::Runes(number(value)?),
            _ => return Err(format!("unknown expectation {key:?}")),
        });
    }
    Ok(Vector { name: name.to_owned(), bytes: parse_hex(hex)?, claims })
}

fn output(segmentation: Segmentation, replacement: Replacement, hex: &str) -> Result<Claim, String> {
    Ok(Claim::Output(segmentation, replacement, parse_hex(hex)?))
}

fn number(value: &str) -> Result<usize, String> {
    value.parse().map_err(|error| format!("{value:?}: {error}"))
}

/// Reads hexadecimal digits, two for each byte, ignoring white space and case; `-` is the empty string.
///
/// # Errors
/// What is wrong with the text.
pub fn parse_hex(text: &str) -> Result<Vec<u8>, String> {
    if text.trim() == "-" {
        return Ok(Vec::new());
    }
    let digit =
        |c: char| c.to_digit(16).map(|digit| digit as u8).ok_or_else(|| format!("{c:?} is not a hexadecimal digit"));
    let digits = text.chars().filter(|c| !c.is_whitespace()).map(digit).collect::<Result<Vec<u8>, _>>()?;
    match digits.as_chunks() {
        (pairs, []) => Ok(pairs.iter().map(|[high, low]| high << 4 | low).collect()),
        _ => Err(format!("{} hexadecimal digits; each byte needs two", digits.len())),
    }
}

impl Claim {
    /// What `spec` says instead; `None` if it agrees.
    pub fn contradiction(&self, bytes: &[u8]) -> Option<String> {
        let under = |grammar| Contract { grammar, ..Contract::STANDARD };
        match self {
            Self::Valid(grammar, valid) => {
                let verdict = spec::validity(&under(grammar), bytes);
                (verdict.is_valid() != *valid).then(|| format!("claimed valid: {valid}, spec: {verdict}"))
            }
            Self::Output(segmentation, replacement, output) => {
                let contract =
                    Contract { segmentation: *segmentation, replacement: Some(*replacement), ..Contract::STANDARD };
                let mut lossy = Vec::new();
                spec::lossy(&contract, bytes, &mut lossy);
                (lossy != *output).then(|| format!("claimed output: {output:02X?}, spec: {lossy:02X?}"))
            }
            Self::DetectedAt(at) => {
                let detected = spec::detected_at(&spec::grammar::RFC3629, bytes);
                (detected != *at).then(|| format!("claimed detected at {at:?}, spec: {detected:?}"))
            }
            Self::CodePoints(grammar, code_points) => {
                let read: Vec<u32> = spec::code_points(&under(grammar), bytes).collect();
                (read != *code_points).then(|| format!("claimed code points {code_points:X?}, spec: {read:X?}"))
            }
            Self::Runes(count) => {
                let read =
                    spec::segments(&Contract { segmentation: Segmentation::Byte, ..Contract::STANDARD }, bytes).count();
                (read != *count).then(|| format!("claimed {count} runes, spec: {read}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "check")]
    #[test]
    fn the_suites_are_those_of_the_folder() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus/vectors");
        let mut files: Vec<String> =
            std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        files.sort();
        assert_eq!(SUITES.map(|(name, _)| name).to_vec(), files);
        for (name, text) in SUITES {
            assert!(!parse(text).unwrap().is_empty(), "{name}");
        }
    }

    #[test]
    fn a_row_is_read() {
        let text = "# comment\n\nslash | C0 AF | invalid replace=EFBFBDEFBFBD skip=- fail-at=1\n";
        let [vector] = &parse(text).unwrap()[..] else { panic!("one row") };
        assert_eq!((vector.name.as_str(), &vector.bytes[..]), ("slash", &b"\xC0\xAF"[..]));
        assert_eq!(vector.claims.len(), 4);
        assert!(vector.claims.iter().all(|claim| claim.contradiction(&vector.bytes).is_none()));
    }

    #[test]
    fn a_false_claim_is_contradicted() {
        let text = "wrong | C0 AF | valid replace=2F skip=2F fail-at=2 runes=1 code-points=2F";
        let vector = &parse(text).unwrap()[0];
        assert_eq!(vector.claims.len(), 6);
        assert!(vector.claims.iter().all(|claim| claim.contradiction(&vector.bytes).is_some()));
    }

    #[test]
    fn a_bad_line_is_named() {
        for (text, says) in [
            ("a | C0", "three fields"),
            ("\na | C | valid", "needs two"),
            ("a | G0 | valid", "'G'"),
            ("a | C0 | perhaps", "perhaps"),
            ("a | C0 | invalid grammar=utf-9", "utf-9"),
            ("a | C0 | invalid colour=red", "colour"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.what.contains(says), "{error}");
            assert_eq!(error.line, if text.starts_with('\n') { 2 } else { 1 });
        }
    }
}
