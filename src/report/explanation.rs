//! The explanation of an input: for people, in a terminal or as a page, and for programs.

use crate::case::Case;
use crate::decoder::Decoder;
use crate::explain::{Family, Grid, Guess, Window, annotate_from, bits};
use crate::report::document::{Block, Document, Table, code, paragraph, plain, strong};
use crate::report::page;
use crate::report::record::{Answer, FileName, Rule, answers};
use crate::spec::{Contract, Reading, code_points, segments, validity};
use crate::text::{counted, hex};
use serde::Serialize;
use std::fmt::Write;
use std::io;

/// What an input is, what is wrong with it, what probably happened, and what decoders make of it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Explanation {
    /// How many bytes the input has.
    pub(crate) bytes: u64,
    /// How the bytes were given: `bytes`, or the notation of an argument.
    pub(crate) notation: String,
    /// The file, if it is one.
    #[serde(flatten)]
    pub(crate) path: Option<FileName>,
    /// The grammar by which it is read.
    pub(crate) grammar: String,
    /// Whether all of it is well-formed.
    pub(crate) valid: bool,
    /// The number of ill-formed segments.
    pub(crate) faults: u64,
    /// The first of them.
    pub(crate) first: Option<Fault>,
    /// The part of a long input that the other fields are about: its offset and its length in bytes.
    pub(crate) part: (u64, u64),
    /// The segments of the part; only the first 1000.
    pub(crate) segments: Vec<Segment>,
    /// What probably happened.
    pub(crate) guesses: Vec<Probably>,
    /// The decoders of each grammar, by verdict.
    pub(crate) families: Vec<Verdicts>,
    /// Every answer.
    pub(crate) answers: Vec<Answer>,
    /// Whether another notation may have been meant.
    #[serde(skip)]
    pub(crate) doubtful: bool,
    #[serde(skip)]
    lines: Vec<String>,
    #[serde(skip)]
    bits: String,
    #[serde(skip)]
    grid: String,
}

/// The first ill-formed segment.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Fault {
    /// Its offset in bytes.
    pub(crate) offset: u64,
    /// Its line, counted from 1.
    pub(crate) line: u64,
    /// Its bytes.
    pub(crate) hex: String,
    /// The kind of error.
    pub(crate) kind: String,
    /// The clause it breaks.
    pub(crate) rule: Rule,
}

/// A well-formed sequence, or an ill-formed segment.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Segment {
    /// Its offset in bytes.
    pub(crate) offset: u64,
    /// Its bytes.
    pub(crate) hex: String,
    /// The code point; `null` if it is ill-formed.
    pub(crate) code_point: Option<u32>,
    /// The kind of error; `null` if it is well-formed.
    pub(crate) kind: Option<String>,
}

/// What probably happened to the input.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Probably {
    /// `double-encoding`, `single-byte`, `encoding`, `cut` or `replaced`.
    pub(crate) guess: String,
    /// One sentence.
    pub(crate) says: String,
    /// A command that repairs the file.
    pub(crate) repair: Option<String>,
}

/// The decoders of one grammar.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Verdicts {
    /// The name of the grammar.
    pub(crate) grammar: String,
    /// Those that accept the part.
    pub(crate) accept: Vec<String>,
    /// Those that reject it.
    pub(crate) reject: Vec<String>,
    #[serde(skip)]
    says: String,
}

impl Explanation {
    /// Asks the decoders about a window, and sums up.
    pub(crate) fn of(
        contract: &Contract,
        window: &Window,
        notation: &str,
        path: Option<FileName>,
        decoders: &[&dyn Decoder],
    ) -> Self {
        let bytes = &window.bytes[..];
        let grid = Grid::of(contract, decoders.iter().copied(), &Case::new(bytes));
        let file = path.as_ref().map_or("FILE", FileName::word).to_owned();
        let guesses = Guess::all(contract, window).into_iter().map(|guess| Probably {
            guess: guess.name.into(),
            says: guess.says,
            repair: guess.repair.map(|arguments| format!("utfuzz {arguments} {file}")),
        });
        let families = Family::all(&grid, decoders.iter().copied()).into_iter().map(|family| Verdicts {
            says: family.says(),
            grammar: family.grammar.into(),
            accept: family.accept.iter().map(ToString::to_string).collect(),
            reject: family.reject.iter().map(ToString::to_string).collect(),
        });
        let is_long = !window.is_whole();
        Self {
            bytes: window.total,
            notation: notation.into(),
            path,
            grammar: contract.grammar.name.into(),
            valid: window.faults == 0,
            faults: window.faults,
            first: first(contract, window),
            part: (window.start, bytes.len() as u64),
            segments: shown(contract, window),
            guesses: guesses.collect(),
            families: families.collect(),
            answers: answers(&grid),
            doubtful: false,
            lines: lines(contract, window, is_long),
            bits: bits(contract, bytes),
            grid: grid.to_string(),
        }
    }

    /// The first screen: what it is, what is wrong, what to do; and with `details` the bits and all answers.
    pub(crate) fn text(&self, details: bool) -> String {
        let [head, annotated, decoded] = &self.lines[..] else { return String::new() };
        let mut text = format!("{head}\n");
        // Writing to a `String` cannot fail.
        if self.doubtful {
            let _ = writeln!(text, "given in {}; --text explains the characters as they are", self.notation);
        }
        if let Some(first) = &self.first
            && (self.faults > 1 || first.line > 1)
        {
            let _ = writeln!(text, "{}, the first in line {}", counted(self.faults as usize, "error"), first.line);
        }
        for Probably { says, repair, .. } in &self.guesses {
            let _ = writeln!(text, "probably: {}", crate::text::printable(says));
            if let Some(repair) = repair {
                let _ = writeln!(text, "repair:   {repair}");
            }
        }
        let _ = write!(text, "\n{annotated}\n");
        if details && !self.bits.is_empty() {
            let _ = writeln!(text, "{}", self.bits);
        }
        let _ = writeln!(text, "decoded: {decoded}\n");
        if details {
            return text + &self.grid;
        }
        let count = |side: fn(&Verdicts) -> usize| self.families.iter().map(side).sum::<usize>();
        let (accept, reject) = (count(|family| family.accept.len()), count(|family| family.reject.len()));
        if accept == 0 || reject == 0 {
            let does = if accept == 0 { "reject" } else { "accept" };
            return text + &format!("all {} {does} it; -v shows their answers\n", counted(accept + reject, "decoder"));
        }
        let width = self.families.iter().map(|family| family.grammar.len()).max().unwrap_or(0);
        for Verdicts { grammar, says, .. } in &self.families {
            let _ = writeln!(text, "decoders of {grammar:width$}  {says}");
        }
        text + "-v shows the answers of every decoder\n"
    }

    /// A self-contained HTML page.
    ///
    /// # Errors
    /// The page cannot be rendered.
    pub(crate) fn page(&self) -> io::Result<String> {
        let [head, annotated, decoded] = &self.lines[..] else { return Ok(String::new()) };
        let mut document = Document::new("Explanation");
        document.blocks.push(paragraph([strong(head)]));
        for Probably { says, repair, .. } in &self.guesses {
            let repair = repair.as_ref().map_or(String::new(), |command| format!(" Repair: {command}"));
            document.paragraph(format!("Probably: {says}.{repair}"));
        }
        document.blocks.push(code("text", annotated));
        document.blocks.push(paragraph([plain(format!("Decoded: {decoded}"))]));
        document.heading(2, "Decoders");
        let mut table = Table::new(["grammar", "what they do"]);
        self.families.iter().for_each(|family| table.row([&*family.grammar, &*family.says]));
        document.table(table);
        let mut table = Table::new(["question", "answer", "as the grammar", "decoders"]);
        for answer in &self.answers {
            let agrees = if answer.arbiter { "yes" } else { "no" };
            table.row([&*answer.question, &*answer.answer, agrees, &answer.decoders.join(", ")]);
        }
        document.table(table);
        if !self.bits.is_empty() {
            document.blocks.push(Block::Fold { title: "Bits", blocks: vec![code("text", &self.bits)] });
        }
        page::html(&document)
    }
}

/// The head line, the annotated bytes, and the code points.
fn lines(contract: &Contract, window: &Window, is_long: bool) -> Vec<String> {
    const MOST: usize = 64;
    let (bytes, total) = (&window.bytes[..], counted(window.total as usize, "byte"));
    let head = match (is_long, window.first) {
        (false, _) => format!("{total}: {}", validity(contract, bytes)),
        (true, None) => format!("{total}: valid"),
        (true, Some((offset, _))) => format!("{total}: invalid at {offset}"),
    };
    let until = window.start + bytes.len() as u64;
    let part = if is_long { format!("bytes {} to {until}:\n", window.start) } else { String::new() };
    let annotated = part + &annotate_from(contract, bytes, window.start);
    let named: Vec<String> = code_points(contract, bytes).take(MOST).map(|point| format!("U+{point:04X}")).collect();
    let more = if is_long { usize::MAX } else { code_points(contract, bytes).skip(MOST).count() };
    let more = match more {
        0 => String::new(),
        usize::MAX => " …".to_owned(),
        more => format!(" … {more} more"),
    };
    vec![head, annotated, named.join(" ") + &more]
}

fn first(contract: &Contract, window: &Window) -> Option<Fault> {
    let (offset, line) = window.first?;
    let rest = window.bytes.get(usize::try_from(offset.checked_sub(window.start)?).ok()?..)?;
    let segment = segments(contract, rest).next()?;
    let Reading::IllFormed { kind, .. } = segment.reading else { return None };
    let broken = crate::spec::Rule::broken(contract.grammar, kind, rest);
    let rule = Rule { says: broken.says, source: broken.source.to_owned() };
    Some(Fault { offset, line, hex: hex(&rest[segment.range()]), kind: kind.to_string(), rule })
}

fn shown(contract: &Contract, window: &Window) -> Vec<Segment> {
    const MOST: usize = 1000;
    let segment = |segment: crate::spec::Segment| {
        let (code_point, kind) = match segment.reading {
            Reading::WellFormed(code_point) => (Some(code_point), None),
            Reading::IllFormed { kind, .. } => (None, Some(kind.to_string())),
        };
        let part = &window.bytes[segment.range()];
        Segment { offset: window.start + segment.start as u64, hex: hex(part), code_point, kind }
    };
    segments(contract, &window.bytes).take(MOST).map(segment).collect()
}
