//! The reason: the cause of a broken law, and how it is shown.
//!
//! [`explain`] finds the part of the input that a decoder gets wrong and gives the divergence its signature. [`annotate`],
//! [`bits`] and [`notation`] make bytes readable: segment by segment with the reading of `spec`, bit by bit, and in a short
//! notation.

mod agreement;
mod scan;
mod signature;

pub use agreement::{Agreement, Breach, Family, Grid, Group, Question};
pub use scan::{Guess, Window};
pub use signature::{Shape, Signature};

use crate::case::{Case, Choices, Cuts};
use crate::decoder::{Decoder, Info};
use crate::judge::isolate::panics;
use crate::judge::{Broken, Judge, Law, Subject};
use crate::spec::{Contract, Reading, Rule, Segment, Segments, segments};
use crate::text::counted;
use crate::utf8::payload;
use agreement::hex;
use core::fmt;
use core::fmt::Write;
use core::iter::Peekable;
use std::borrow::Cow;
use std::collections::VecDeque;

/// A broken law, explained. Its `Display` is the whole explanation, with a test that reproduces it.
#[derive(Clone, Debug)]
pub struct Divergence {
    /// What it is.
    pub signature: Signature,
    /// The decoder's version.
    pub version: Cow<'static, str>,
    /// The decoder's contract.
    pub contract: Contract,
    /// The contract, and which part of it is promised, in words.
    pub claim: String,
    /// The clause that decides, if the subject is ill-formed.
    pub rule: Option<Rule>,
    /// The input.
    pub bytes: Vec<u8>,
    /// Where it was cut, if that matters; only the first offsets, if it was cut at regular distances.
    pub cuts: Vec<usize>,
    /// The distance in bytes, if it was cut at regular distances.
    pub step: Option<usize>,
    /// What each decoder answered. A star marks the answers of the contract, which writes U+FFFD if the decoder itself
    /// has no output.
    pub grid: Grid,
    test: String,
    choices: Choices,
    chunks: Cuts,
}

/// The signature of a broken law, without the rest of the explanation.
pub fn signature(decoder: &dyn Decoder, case: &Case<'_>, broken: &Broken) -> Signature {
    signature::examine(decoder, case, broken).signature(decoder)
}

/// Explains a law that `judge` found broken. This takes about a thousand judgements.
pub fn explain(judge: &Judge<'_>, case: &Case<'_>, broken: &Broken) -> Divergence {
    let mut divergence = explain_alone(judge.decoder(broken.decoder), case, broken);
    divergence.ask(judge.active());
    divergence
}

/// Explains a broken law without asking other decoders: the grid has no answers.
pub(crate) fn explain_alone(decoder: &dyn Decoder, case: &Case<'_>, broken: &Broken) -> Divergence {
    let info = decoder.info();
    let located = signature::examine(decoder, case, broken);
    // The witness must show what the signature says.
    let moved = located.witness.as_deref().map(|bytes| Case::with_cuts(bytes, Cuts::NONE));
    let case = moved.as_ref().unwrap_or(case);
    let mut streams = false;
    panics(&info.name, case.bytes, || streams = decoder.stream().is_some());
    let cuts = (streams && broken.law.may_depend_on_cuts()).then(|| *case.cuts());
    let is_subject = |segment: &Segment| matches!(segment.reading, Reading::IllFormed { kind, .. } if located.subject == Subject::Fault(kind));
    let first = segments(&info.contract, case.bytes).find(is_subject);
    let rule = first.and_then(|segment| match located.subject {
        Subject::Fault(kind) => Some(Rule::broken(info.contract.grammar, kind, &case.bytes[segment.start..])),
        _ => None,
    });
    let signature = located.signature(decoder);
    let replacement = info.contract.replacement.or(Contract::STANDARD.replacement);
    let of_grid = Contract { replacement, ..info.contract };
    Divergence {
        version: info.version.clone(),
        contract: info.contract,
        claim: info.claim(),
        rule,
        bytes: case.bytes.to_vec(),
        cuts: cuts.map_or_else(Vec::new, |cuts| cuts.offsets().to_vec()),
        step: cuts.and_then(|cuts| cuts.step()),
        grid: Grid { contract: of_grid, questions: Vec::new() },
        test: printed_test(&signature, info, case, cuts),
        signature,
        choices: case.choices,
        chunks: *case.cuts(),
    }
}

/// The first law a single decoder breaks on a case, explained; `None` if it breaks none.
///
/// This is what a regression test calls:
///
/// ```
/// # use utfuzz_core as utfuzz;
/// use utfuzz::case::Case;
/// use utfuzz::explain::first_divergence;
/// use utfuzz::peers;
///
/// let peers = peers::all();
/// let own = peers.iter().find(|peer| peer.info().name == "own").unwrap();
/// // The overlong form of U+002F.
/// let divergence = first_divergence(&**own, &Case::new(b"\xC0\xAF"));
/// assert!(divergence.is_none(), "{}", divergence.unwrap());
/// ```
pub fn first_divergence(decoder: &dyn Decoder, case: &Case<'_>) -> Option<Divergence> {
    let mut judge = Judge::new([decoder]);
    let broken = judge.judge(case).first().copied()?;
    Some(explain(&judge, case, &broken))
}

impl Divergence {
    /// The length in bytes above which other decoders are not asked: what they answer says little about such an input,
    /// and nobody reads it.
    pub const LONG: usize = 16_384;

    /// Fills the grid with the answers of these decoders; if the input is long, with those of the one that diverges.
    pub(crate) fn ask<'d>(&mut self, decoders: impl IntoIterator<Item = &'d dyn Decoder>) {
        let case = Case::of(&self.bytes, self.choices, self.chunks);
        let is_long = self.bytes.len() > Self::LONG;
        let decoders = decoders.into_iter().filter(|of| !is_long || of.info().name == self.signature.decoder);
        self.grid = Grid::of(&self.grid.contract, decoders, &case);
    }

    /// A test that fails while the decoder diverges, to be pasted into a test file.
    pub fn test(&self) -> &str {
        &self.test
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "divergence: {}", self.signature)?;
        writeln!(f, "decoder {} {}, contract: {}", self.signature.decoder, self.version, self.claim)?;
        writeln!(f, "law: {}", self.signature.law.sentence())?;
        if let Some(rule) = &self.rule {
            writeln!(f, "rule: {} [{}]", rule.says, rule.source)?;
        }
        writeln!(f, "\n{}", self.grid)?;
        write!(f, "input, {}", counted(self.bytes.len(), "byte"))?;
        match (self.step, &self.cuts[..]) {
            (Some(step), _) => writeln!(f, ", cut after every {}:", counted(step, "byte"))?,
            (None, []) => writeln!(f, ":")?,
            (None, cuts) => writeln!(f, ", cut at {cuts:?}:")?,
        }
        writeln!(f, "{}", annotate(&self.contract, &self.bytes))?;
        write!(f, "{}", self.test)
    }
}

/// A test that fails while the decoder diverges on this case, to be pasted into a test file. Without `cuts`, the case
/// is only its bytes.
fn printed_test(signature: &Signature, info: &Info, case: &Case<'_>, cuts: Option<Cuts>) -> String {
    let name: String = signature.to_string().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let decoder = match &info.expression {
        Some(expression) => format!("let decoder = &{expression};"),
        None => format!(
            "// Construct the decoder here if it is not one of the peers.\n    \
             let peers = utfuzz::peers::all();\n    \
             let decoder = &**peers.iter().find(|peer| peer.info().name == {:?}).unwrap();",
            signature.decoder
        ),
    };
    let bytes = case.bytes.escape_ascii();
    let case = match (signature.law, cuts) {
        (Law::Placement, _) => {
            let (alignment, poisoned) = case.placement();
            format!("placed(bytes, {alignment}, {poisoned})")
        }
        (_, None) => "new(bytes)".to_owned(),
        (_, Some(cuts)) => match cuts.step() {
            Some(step) => format!("with_cuts(bytes, utfuzz::Cuts::every({step}, bytes.len()))"),
            None => format!("with_cuts(bytes, utfuzz::Cuts::new({:?}, bytes.len()))", cuts.offsets()),
        },
    };
    format!(
        "#[test]\nfn {name}() {{\n    \
         {decoder}\n    \
         let bytes = b\"{bytes}\";\n    \
         let divergence = utfuzz::first_divergence(decoder, &utfuzz::Case::{case});\n    \
         assert!(divergence.is_none(), \"{{}}\", divergence.unwrap());\n}}\n"
    )
}

/// The maximum number of lines shown before and after the first ill-formed segment.
const AROUND: usize = 24;

/// One line for each segment, or for a run of ASCII; of a long input, only the part around its first ill-formed
/// segment.
pub fn annotate(contract: &Contract, bytes: &[u8]) -> String {
    annotate_from(contract, bytes, 0)
}

/// Like [`annotate`], for bytes that are at this offset of an input.
pub fn annotate_from(contract: &Contract, bytes: &[u8], offset: u64) -> String {
    let mut lines = Lines { segments: segments(contract, bytes).peekable() }.enumerate();
    // The first lines, in case none is ill-formed; and the last lines before the first ill-formed one.
    let (mut head, mut before) = (Vec::new(), VecDeque::new());
    let (mut first, mut count) = (None, 0);
    for (index, line) in lines.by_ref() {
        if let Some(Reading::IllFormed { .. }) = line.reading {
            first = Some((index, line));
            break;
        }
        count += 1;
        if head.len() <= AROUND {
            head.push(line);
        }
        if before.len() == AROUND {
            before.pop_front();
        }
        before.push_back(line);
    }
    let (shown, from, more): (Vec<Line>, usize, usize) = match first {
        Some((index, line)) => {
            let from = index - before.len();
            let after: Vec<Line> = lines.by_ref().take(AROUND).map(|(_, line)| line).collect();
            (before.into_iter().chain([line]).chain(after).collect(), from, lines.count())
        }
        None => {
            let more = count - head.len();
            (head, 0, more)
        }
    };
    let mut text = String::new();
    if from > 0 {
        text += &format!("  … {} before\n", counted(from, "line"));
    }
    for line in &shown {
        text += &line.text(contract, bytes, offset);
        text.push('\n');
    }
    if more > 0 {
        text += &format!("  … {} after\n", counted(more, "line"));
    }
    if shown.is_empty() {
        text += "  (no bytes)\n";
    }
    text
}

/// What one line shows.
#[derive(Clone, Copy)]
struct Line {
    start: usize,
    end: usize,
    /// `None` for a run of ASCII.
    reading: Option<Reading>,
}

struct Lines<'a> {
    segments: Peekable<Segments<'a>>,
}

impl Iterator for Lines<'_> {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        let segment = self.segments.next()?;
        let (start, mut end) = (segment.start, segment.range().end);
        let is_ascii = |segment: &Segment| matches!(segment.reading, Reading::WellFormed(0..=0x7F)) && segment.len == 1;
        if !is_ascii(&segment) {
            return Some(Line { start, end, reading: Some(segment.reading) });
        }
        while end - start < 16
            && let Some(next) = self.segments.next_if(is_ascii)
        {
            end = next.range().end;
        }
        Some(Line { start, end, reading: None })
    }
}

impl Line {
    fn text(&self, contract: &Contract, bytes: &[u8], offset: u64) -> String {
        let part = &bytes[self.start..self.end];
        let (mark, says) = match self.reading {
            None => (' ', format!("\"{}\"", escape(part))),
            Some(Reading::WellFormed(code_point)) => {
                let shown = char::from_u32(code_point).filter(|&c| is_plain(c));
                let shown = shown.map_or(String::new(), |c| format!(" {c}"));
                (' ', format!("U+{code_point:04X}{shown}"))
            }
            Some(Reading::IllFormed { kind, .. }) => {
                let rule = Rule::broken(contract.grammar, kind, &bytes[self.start..]);
                ('!', format!("{kind}: {} [{}]", rule.says, rule.source))
            }
        };
        format!("{mark} {:6}  {:<47}  {says}", offset + self.start as u64, hex(part))
    }
}

/// Untrusted bytes as text that is safe for a terminal: printable ASCII, everything else escaped.
pub fn escape(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

/// Whether a character is also shown as itself: a letter, digit or symbol that is not written from right to left.
fn is_plain(c: char) -> bool {
    let code_point = u32::from(c);
    let bidi = matches!(code_point, 0x0590..=0x08FF | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFF | 0x1_0800..=0x1_0FFF | 0x1_E800..=0x1_EFFF);
    c.is_alphanumeric() && !bidi || SYMBOLS.iter().any(|&(first, last)| (first..=last).contains(&code_point))
}

/// Punctuation and symbols: blocks, or parts of them, without marks and format characters.
const SYMBOLS: [(u32, u32); 10] = [
    (0xA1, 0xAC),
    (0xAE, 0xFF),
    (0x2010, 0x2027),
    (0x2030, 0x205E),
    (0x20A0, 0x20C0),
    (0x2100, 0x2BFF),
    (0x3001, 0x3029),
    (0x3030, 0x303F),
    (0xFF01, 0xFF5E),
    (0x1_F300, 0x1_FAFF),
];

/// The maximum number of segments shown bit by bit.
const SEGMENTS: usize = 16;

/// Four lines for each segment; if there are many, only for those that are not ASCII.
///
/// The payload is below the bits, with a dot below every bit that is not payload.
pub fn bits(contract: &Contract, bytes: &[u8]) -> String {
    let is_ascii = |segment: &Segment| segment.len == 1 && matches!(segment.reading, Reading::WellFormed(0..=0x7F));
    let all = segments(contract, bytes).take(SEGMENTS + 1).count() <= SEGMENTS;
    let mut shown = segments(contract, bytes).filter(|segment| all || !is_ascii(segment));
    let mut text: Vec<String> =
        shown.by_ref().take(SEGMENTS).map(|segment| of_segment(&segment, &bytes[segment.range()])).collect();
    let more = shown.count();
    if more > 0 {
        text.push(format!("  … {more} more\n"));
    }
    text.join("\n")
}

fn of_segment(segment: &Segment, part: &[u8]) -> String {
    // A run of ill-formed bytes may be long.
    let part = &part[..part.len().min(8)];
    let line = |name: &str, of_byte: &dyn Fn(u8) -> String| {
        let columns: Vec<String> = part.iter().map(|&byte| format!("{:8}", of_byte(byte))).collect();
        format!("{name:8} {}", columns.join(" ").trim_end())
    };
    let marked = line("payload", &|byte| {
        let marks = 8 - payload_bits(byte);
        format!("{}{}", ".".repeat(marks), &format!("{byte:08b}")[marks..])
    });
    let spelled = match segment.reading {
        Reading::WellFormed(code_point) => format!("  = {}", spelled(part, code_point)),
        Reading::IllFormed { .. } => String::new(),
    };
    let lines = [
        line("hex", &|byte| format!("{byte:02X}")),
        line("octal", &|byte| format!("{byte:03o}")),
        line("binary", &|byte| format!("{byte:08b}")),
        marked + &spelled,
    ];
    let (first, other) = (format!("{:6}", segment.start), " ".repeat(6));
    let heads = [&first, &other, &other, &other];
    heads.into_iter().zip(lines).map(|(head, line)| format!("  {head}  {line}\n")).collect()
}

/// A pair as its two halves; any other sequence as the bits of its code point, in groups of four from the right.
fn spelled(part: &[u8], code_point: u32) -> String {
    if let (6, [0xED, _, _, trail @ ..]) = (part.len(), part) {
        let halves = [payload(&part[..3]), payload(trail)].map(|half| format!("U+{half:04X}"));
        return format!("{} = U+{code_point:04X}", halves.join(" "));
    }
    let count: usize = part.iter().map(|&byte| payload_bits(byte)).sum();
    let digits = format!("{code_point:0count$b}");
    let mut fours = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(4) {
            fours.push(' ');
        }
        fours.push(digit);
    }
    format!("{fours} = U+{code_point:04X}")
}

/// How many bits of a byte are payload: those after its leading ones and the zero that follows them (RFC 2279 §2).
fn payload_bits(byte: u8) -> usize {
    match byte.leading_ones() as usize {
        0 => 7,
        marks @ 1..=6 => 7 - marks,
        _ => 0,
    }
}

/// Runs of equal bytes as a count, printable ASCII as text, the rest in hexadecimal. Short for an input that is mostly
/// padding, and always safe to print.
pub fn notation(bytes: &[u8]) -> String {
    /// The length of the shortest run of equal bytes that is written as a count.
    const RUN: usize = 5;
    let mut parts = Vec::new();
    let mut rest = bytes;
    while let Some(&first) = rest.first() {
        let run = equal(rest);
        let (part, len) = if run >= RUN {
            (format!("{}*{run}", piece(&[first])), run)
        } else {
            let kind = is_text(first);
            let ends = |at: &usize| is_text(rest[*at]) != kind || equal(&rest[*at..]) >= RUN;
            let len = (1..rest.len()).find(ends).unwrap_or(rest.len());
            (piece(&rest[..len]), len)
        };
        parts.push(part);
        rest = &rest[len..];
    }
    if parts.is_empty() { "b\"\"".into() } else { parts.join(" + ") }
}

/// How many bytes at the start are equal.
fn equal(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|&&byte| Some(&byte) == bytes.first()).count()
}

fn is_text(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\'
}

/// Writes bytes as text if all of them are printable ASCII, and in hexadecimal if none is.
fn piece(bytes: &[u8]) -> String {
    match bytes.first() {
        Some(&first) if is_text(first) => format!("b\"{}\"", bytes.escape_ascii()),
        _ => {
            let mut hex = String::new();
            for (index, byte) in bytes.iter().enumerate() {
                let gap = if index > 0 { " " } else { "" };
                // Writing to a `String` cannot fail.
                let _ = write!(hex, "{gap}{byte:02X}");
            }
            hex
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::encode;
    use crate::spec::grammar::{ALL, CESU8};
    use crate::utf8::extended_len;

    #[test]
    fn the_bits_of_the_euro_sign_are_shown() {
        let text = bits(&Contract::STANDARD, b"\xE2\x82\xAC");
        let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
        assert_eq!(lines[0], "0  hex      E2       82       AC");
        assert_eq!(lines[1], "octal    342      202      254");
        assert_eq!(lines[2], "binary   11100010 10000010 10101100");
        assert_eq!(lines[3], "payload  ....0010 ..000010 ..101100  = 0010 0000 1010 1100 = U+20AC");
    }

    #[test]
    fn a_pair_is_shown_as_two_halves() {
        let contract = Contract { grammar: &CESU8, ..Contract::STANDARD };
        let text = bits(&contract, b"\xED\xA1\x8C\xED\xBE\xB4");
        assert!(text.ends_with("..110100  = U+D84C U+DFB4 = U+233B4\n"), "{text}");
    }

    /// The bits that are not dots are those of the code point, from the first to the last.
    #[test]
    fn the_payload_is_the_code_point() {
        for grammar in ALL {
            let contract = Contract { grammar, ..Contract::STANDARD };
            let mut seen = 0;
            for code_point in (0..31).flat_map(|bit| [1 << bit, (1u32 << bit) - 1, (1 << bit) + (1 << bit) / 4]) {
                let mut bytes = Vec::new();
                if encode(grammar, code_point, &mut bytes).is_err() || bytes.len() != extended_len(code_point) {
                    continue;
                }
                let text = bits(&contract, &bytes);
                let last = text.lines().last().unwrap();
                let (payload, rest) = last.trim_start().strip_prefix("payload").unwrap().split_once('=').unwrap();
                let digits: String = payload.chars().filter(char::is_ascii_digit).collect();
                assert_eq!(u32::from_str_radix(&digits, 2), Ok(code_point), "{text}");
                let fours: String = rest.split('=').next().unwrap().split_whitespace().collect();
                assert_eq!(fours, digits, "{text}");
                seen += 1;
            }
            assert!(seen > 40, "{}: {seen}", grammar.name);
        }
    }

    #[test]
    fn ill_formed_bytes_have_dots_too() {
        let text = bits(&Contract::STANDARD, b"\xC0\xFF");
        assert!(text.contains("payload  ...00000\n") && text.contains("payload  ........\n"), "{text}");
        assert_eq!(bits(&Contract::STANDARD, b""), "");
        let many = bits(&Contract::STANDARD, &[&[b'a'; 40][..], b"\xC3\xA4", &[0xFF; 20]].concat());
        assert!(
            !many.contains("hex      61") && many.contains("C3       A4") && many.ends_with("… 5 more\n"),
            "{many}"
        );
    }

    #[test]
    fn padding_is_counted_and_the_rest_is_shown() {
        for (bytes, text) in [
            (&b""[..], "b\"\""),
            (b"abc", "b\"abc\""),
            (b"\xFF", "FF"),
            (&[&[b'a'; 63][..], b"\xFF"].concat(), "b\"a\"*63 + FF"),
            (&[&[b' '; 15][..], b"\xE2\x82", &[0x80; 6]].concat(), "b\" \"*15 + E2 82 + 80*6"),
            (b"a\"b\x1B[2J", "b\"a\" + 22 + b\"b\" + 1B + b\"[2J\""),
        ] {
            assert_eq!(notation(bytes), text);
        }
    }
}
