//! The behaviour matrix: some fifty questions, each about one input, and what a decoder's answer to each amounts to; and
//! what two decoders disagree about.
//!
//! An answer is reduced to a word by looking at it alone, never at what a contract expects. Whether the decoder keeps its
//! contract on the same input is judged separately.
//!
//! Two decoders are compared by the shortest inputs that tell them apart ([`differences`]), and by what matters when one
//! checks a string and the other reads it: which strings one accepts and the other rejects ([`Verdicts`]), and which strings
//! turn into text with a character that separates or quotes ([`disguised`]).

use crate::case::{Case, Cuts};
use crate::decoder::Decoder;
use crate::generate::classes::Block;
use crate::judge::isolate::panics;
use crate::judge::laws::verdict_mismatch;
use crate::judge::{Broken, Judge, Law, Questions};
use crate::probe::contracts::{Answer, INPUTS, decoded};
use crate::probe::{Offsets, Unit, ask};
use crate::spec::Replacement;
use crate::text::{counted, hex};
use crate::utf8::{ErrorLen, Malformed, REPLACEMENT, Validity};
use std::sync::LazyLock;

/// A question: a column of the matrix.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// A name for it, unique, that does not change.
    pub id: &'static str,
    /// The heading of the columns that belong together.
    pub group: &'static str,
    /// What the input is, in words.
    pub title: &'static str,
    /// The input.
    pub bytes: &'static [u8],
    /// Where it is cut into chunks.
    pub cuts: &'static [usize],
    asks: Asks,
}

/// What is read from the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    /// Whether the input is accepted.
    Accepted,
    /// What is written for the bytes between "a" and "b", "é" or the end.
    Written,
    /// What becomes of U+FEFF.
    Mark,
    /// The offset of the first error.
    Offset,
    /// The length of the first error.
    Length,
    /// Whether the chunks give what the whole gives.
    Chunks,
    /// After which chunk the output appears.
    Prompt,
    /// Whether the answer is the same after 0 to 300 bytes of ASCII.
    Lengths,
}

/// What a decoder does with the input of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cell {
    /// The answer in at most five characters.
    pub symbol: String,
    /// The answer in a few words.
    pub word: String,
    /// What the decoder answered, in full.
    pub says: String,
    /// An input other than that of the column, if that is the one that shows the answer.
    pub witness: Option<Vec<u8>>,
    /// How the decoder breaks its contract on this input, if it does.
    pub broken: Option<Broken>,
}

const WELL_FORMED: &str = "taken for well-formed";
pub(super) const WRITTEN: &str = "written for these bytes inside text";
pub(super) const AT_THE_END: &str = "written at the end of the input";
pub(super) const MARK: &str = "U+FEFF";
pub(super) const ERRORS: &str = "first error";
pub(super) const STREAMS: &str = "in chunks";
const LENGTHS: &str = "after ASCII";

/// Every column.
pub const COLUMNS: [Column; 52] = [
    column("nul", WELL_FORMED, "NUL", b"\0", Asks::Accepted),
    column("fffe", WELL_FORMED, "noncharacter U+FFFE", b"\xEF\xBF\xBE", Asks::Accepted),
    column("fdd0", WELL_FORMED, "noncharacter U+FDD0", b"\xEF\xB7\x90", Asks::Accepted),
    column("1ffff", WELL_FORMED, "noncharacter U+1FFFF", b"\xF0\x9F\xBF\xBF", Asks::Accepted),
    column("overlong-nul", WELL_FORMED, "overlong NUL", b"\xC0\x80", Asks::Accepted),
    column("overlong-2", WELL_FORMED, "overlong U+007F, 2 bytes", b"\xC1\xBF", Asks::Accepted),
    column("overlong-3", WELL_FORMED, "overlong U+002F, 3 bytes", b"\xE0\x80\xAF", Asks::Accepted),
    column("overlong-4", WELL_FORMED, "overlong U+002F, 4 bytes", b"\xF0\x80\x80\xAF", Asks::Accepted),
    column("high-surrogate", WELL_FORMED, "surrogate U+D800", b"\xED\xA0\x80", Asks::Accepted),
    column("low-surrogate", WELL_FORMED, "surrogate U+DC00", b"\xED\xB0\x80", Asks::Accepted),
    column("surrogate-pair", WELL_FORMED, "surrogate pair", b"\xED\xA0\xBD\xED\xB8\x80", Asks::Accepted),
    column("reversed-pair", WELL_FORMED, "low before high surrogate", b"\xED\xB8\x80\xED\xA0\xBD", Asks::Accepted),
    column("too-large", WELL_FORMED, "U+110000", b"\xF4\x90\x80\x80", Asks::Accepted),
    column("five-bytes", WELL_FORMED, "five-byte form", b"\xF8\x88\x80\x80\x80", Asks::Accepted),
    column("six-bytes", WELL_FORMED, "six-byte form", b"\xFC\x84\x80\x80\x80\x80", Asks::Accepted),
    column("continuation", WRITTEN, "a continuation byte", b"a\x80b", Asks::Written),
    column("continuations", WRITTEN, "two continuation bytes", b"a\x80\xBFb", Asks::Written),
    column("ff", WRITTEN, "byte FF", b"a\xFFb", Asks::Written),
    column("cut-2", WRITTEN, "1 of 2 bytes", b"a\xC3b", Asks::Written),
    column("cut-3", WRITTEN, "2 of 3 bytes", b"a\xE2\x82b", Asks::Written),
    column("cut-4", WRITTEN, "3 of 4 bytes", b"a\xF0\x9F\x98b", Asks::Written),
    column("slash-2", WRITTEN, "overlong U+002F, 2 bytes", b"a\xC0\xAFb", Asks::Written),
    column("slash-3", WRITTEN, "overlong U+002F, 3 bytes", b"a\xE0\x80\xAFb", Asks::Written),
    column("surrogate", WRITTEN, "a surrogate", b"a\xED\xA0\x80b", Asks::Written),
    column("pair", WRITTEN, "a surrogate pair", b"a\xED\xA0\xBD\xED\xB8\x80b", Asks::Written),
    column("f4-90", WRITTEN, "U+110000", b"a\xF4\x90\x80\x80b", Asks::Written),
    column("f5", WRITTEN, "lead byte F5", b"a\xF5\x80\x80\x80b", Asks::Written),
    column("five", WRITTEN, "five-byte form", b"a\xF8\x88\x80\x80\x80b", Asks::Written),
    column("cut-before-lead", WRITTEN, "1 of 2 bytes, before é", b"a\xC3\xC3\xA9", Asks::Written),
    column("end-1-of-2", AT_THE_END, "1 of 2 bytes", b"a\xC3", Asks::Written),
    column("end-1-of-3", AT_THE_END, "1 of 3 bytes", b"a\xE2", Asks::Written),
    column("end-2-of-3", AT_THE_END, "2 of 3 bytes", b"a\xE2\x82", Asks::Written),
    column("end-3-of-4", AT_THE_END, "3 of 4 bytes", b"a\xF0\x9F\x98", Asks::Written),
    column("end-high", AT_THE_END, "a high surrogate", b"a\xED\xA0\xBD", Asks::Written),
    column("mark-start", MARK, "at the start", b"\xEF\xBB\xBFa", Asks::Mark),
    column("mark-twice", MARK, "twice at the start", b"\xEF\xBB\xBF\xEF\xBB\xBFa", Asks::Mark),
    column("mark-alone", MARK, "alone", b"\xEF\xBB\xBF", Asks::Mark),
    column("mark-inside", MARK, "inside", b"a\xEF\xBB\xBFb", Asks::Mark),
    column("offset", ERRORS, "its offset", OFFSET, Asks::Offset),
    column("length", ERRORS, "its length, before text", b"a\xE2\x82b", Asks::Length),
    column("length-end", ERRORS, "its length, at the end", b"a\xE2\x82", Asks::Length),
    column("length-ff", ERRORS, "its length, of FF FF", b"a\xFF\xFFb", Asks::Length),
    chunks("chunks-2", "é", b"\xC3\xA9", &[1], Asks::Chunks),
    chunks("chunks-4", "U+1F600", b"\xF0\x9F\x98\x80", &[1, 2, 3], Asks::Chunks),
    chunks("chunks-cut", "2 of 3 bytes", b"a\xE2\x82b", &[2, 3], Asks::Chunks),
    chunks("chunks-end", "3 of 4 bytes, at the end", b"\xF0\x9F\x98", &[1, 2], Asks::Chunks),
    chunks("chunks-mark", "U+FEFF", b"\xEF\xBB\xBFa", &[1, 2], Asks::Chunks),
    chunks("prompt-text", "when text is written", b"abc", &[1, 2], Asks::Prompt),
    chunks("prompt-error", "when U+FFFD is written", b"a\xFFb", &[2], Asks::Prompt),
    column("lengths-text", LENGTHS, "€", b"\xE2\x82\xAC", Asks::Lengths),
    column("lengths-cut", LENGTHS, "2 of 3 bytes", b"\xE2\x82b", Asks::Lengths),
    column("lengths-end", LENGTHS, "2 of 3 bytes, at the end", b"\xE2\x82", Asks::Lengths),
];

/// Its error is at byte 11, code point 3, code unit 5 of UTF-16.
const OFFSET: &[u8] = b"\xF0\x9F\x98\x80\xF0\x9F\x98\x80\xE2\x82\xAC\xFF";

/// The most bytes of ASCII before the input of [`Asks::Lengths`].
const MOST_BEFORE: usize = 300;

const fn column(
    id: &'static str,
    group: &'static str,
    title: &'static str,
    bytes: &'static [u8],
    asks: Asks,
) -> Column {
    Column { id, group, title, bytes, cuts: &[], asks }
}

const fn chunks(
    id: &'static str,
    title: &'static str,
    bytes: &'static [u8],
    cuts: &'static [usize],
    asks: Asks,
) -> Column {
    Column { id, group: STREAMS, title, bytes, cuts, asks }
}

impl Column {
    /// The column of this name.
    pub fn named(id: &str) -> Option<&'static Self> {
        COLUMNS.iter().find(|column| column.id == id)
    }

    fn case(&self) -> Case<'static> {
        Case::with_cuts(self.bytes, Cuts::new(self.cuts.iter().copied(), self.bytes.len()))
    }

    /// What the decoder is judged by on the input of this column.
    fn questions(&self) -> Questions {
        if self.cuts.is_empty() { Questions::ANSWERS } else { Questions::STREAM }
    }

    /// What a decoder does here. `whole` is its answer to the input in one piece.
    fn cell(&self, decoder: &dyn Decoder, whole: &Answer) -> Cell {
        if whole.panicked {
            return Cell::fails();
        }
        match self.asks {
            Asks::Accepted => accepted(whole, self.bytes),
            Asks::Written => written(whole, self.bytes),
            Asks::Mark => mark(whole, self.bytes),
            Asks::Offset => first_error(whole, |malformed| offset(malformed, [11, 3, 5])),
            Asks::Length => first_error(whole, length),
            Asks::Chunks | Asks::Prompt => match Streamed::of(decoder, self.bytes, self.cuts) {
                None => Cell::fails(),
                Some(None) => Cell::new("", "no streams", "it decodes no streams".to_owned()),
                Some(Some(streamed)) if self.asks == Asks::Chunks => {
                    // A decoder whose streams only give verdicts may give the text of the whole.
                    let text =
                        || Column::named("prompt-text").and_then(|text| Streamed::of(decoder, text.bytes, text.cuts)?);
                    let is_silent = || text().is_some_and(|text| text.written.concat().is_empty());
                    let has_output = !streamed.written.concat().is_empty() || !is_silent();
                    chunked(&streamed, whole, has_output)
                }
                Some(Some(streamed)) => prompt(&streamed, self.bytes),
            },
            Asks::Lengths => lengths(decoder, self.bytes),
        }
    }
}

impl Cell {
    pub(super) fn new(symbol: impl Into<String>, word: impl Into<String>, says: String) -> Self {
        Self { symbol: symbol.into(), word: word.into(), says, witness: None, broken: None }
    }

    pub(super) fn fails() -> Self {
        Self::new("err", "fails", "no answer: it fails".to_owned())
    }
}

/// What a decoder does with the input of every column, in their order. Takes about a thousand questions.
pub fn cells(decoder: &dyn Decoder) -> Vec<Cell> {
    let inputs = COLUMNS.map(|column| column.bytes);
    let whole = ask(decoder, &inputs);
    let mut cells: Vec<Cell> = COLUMNS.iter().zip(&whole).map(|(column, whole)| column.cell(decoder, whole)).collect();
    let mut judge = Judge::new([decoder]);
    for by in [Questions::ANSWERS, Questions::STREAM] {
        let of = || COLUMNS.iter().zip(0..).filter(|(column, _)| column.questions() == by);
        judge.prepare(of().map(|(column, _)| column.case()), by);
        for (column, at) in of() {
            let cell = &mut cells[at];
            let case = cell.witness.as_deref().map_or_else(|| column.case(), Case::new);
            cell.broken = judge.judge_on(&case, by).first().copied();
        }
    }
    cells
}

/// Whether the input was decoded as text.
pub(super) fn is_accepted(answer: &Answer, bytes: &[u8]) -> Option<bool> {
    let by_output = || Some(decoded(bytes).any(|text| answer.output.as_deref() == Some(&*text)));
    answer.verdict.map(|verdict| verdict.is_valid()).or_else(|| answer.output.as_ref().and_then(|_| by_output()))
}

fn accepted(answer: &Answer, bytes: &[u8]) -> Cell {
    let (symbol, word) = match is_accepted(answer, bytes) {
        Some(true) => ("✓", "accepts"),
        Some(false) if answer.verdict.is_none() => ("✗", "not taken for well-formed"),
        Some(false) => ("✗", "rejects"),
        None => NOTHING,
    };
    Cell::new(symbol, word, answer.to_string())
}

const NOTHING: (&str, &str) = ("", "no answer");

pub(super) fn written(answer: &Answer, bytes: &[u8]) -> Cell {
    let Some(output) = &answer.output else { return without_output(answer) };
    let between = bytes.strip_prefix(b"a").unwrap_or(bytes);
    let text = ["b", "é"].into_iter().find(|text| between.ends_with(text.as_bytes())).unwrap_or_default().as_bytes();
    let between = &between[..between.len() - text.len()];
    let Some(rest) = output.strip_prefix(b"a") else {
        return Cell::new("…", format!("the text before it is lost: {}", code_points(output)), answer.to_string());
    };
    let (rest, is_lost) = rest.strip_suffix(text).map_or((rest, true), |rest| (rest, false));
    let (mut symbol, mut word) = describe(rest, between);
    if is_lost {
        symbol.push('-');
        word.push_str(", and the next character is lost");
    }
    Cell::new(symbol, word, answer.to_string())
}

pub(super) fn without_output(answer: &Answer) -> Cell {
    let (symbol, word) = match answer.verdict {
        Some(Validity::Valid) => ("✓", "accepts"),
        Some(Validity::Invalid(_)) => ("✗", "rejects"),
        None => NOTHING,
    };
    Cell::new(symbol, word, answer.to_string())
}

/// What was written for some ill-formed bytes.
pub(super) fn describe(output: &[u8], bytes: &[u8]) -> (String, String) {
    let escaped = |replacement: Replacement| {
        let mut text = Vec::new();
        replacement.push(bytes, &mut text);
        text
    };
    let characters = output.len() / REPLACEMENT.len();
    if output.is_empty() {
        ("∅".into(), "nothing".into())
    } else if output == REPLACEMENT.repeat(characters) {
        (characters.to_string(), format!("{characters} U+FFFD"))
    } else if output.iter().all(|byte| *byte == b'?') {
        (
            format!("{}?", output.len()),
            format!("{} question mark{}", output.len(), if output.len() == 1 { "" } else { "s" }),
        )
    } else if decoded(bytes).any(|text| text == output) {
        ("✓".into(), format!("accepts: {}", code_points(output)))
    } else if output == bytes {
        ("=".into(), "the same bytes".into())
    } else if output == escaped(Replacement::SurrogateEscape) {
        ("DC".into(), "U+DC80 to U+DCFF".into())
    } else if output == escaped(Replacement::Latin1) {
        ("L1".into(), "as Latin-1".into())
    } else if output == escaped(Replacement::Windows1252) || output == escaped(Replacement::Windows1252Strict) {
        ("1252".into(), "as Windows-1252".into())
    } else if output.is_ascii() {
        ("esc".into(), format!("{:?}", String::from_utf8_lossy(output)))
    } else {
        ("…".into(), code_points(output))
    }
}

/// Generalized UTF-8 as code points; other bytes in hexadecimal.
fn code_points(output: &[u8]) -> String {
    let mut points = Vec::new();
    match crate::spec::decode(&crate::probe::contracts::GENERALIZED, output, &mut points) {
        Ok(()) => points.iter().map(|point| format!("U+{point:04X}")).collect::<Vec<_>>().join(" "),
        Err(_) => format!("bytes {}", hex(output)),
    }
}

pub(super) fn mark(answer: &Answer, bytes: &[u8]) -> Cell {
    const FEFF: &[u8] = b"\xEF\xBB\xBF";
    let count = |text: &[u8]| text.windows(FEFF.len()).filter(|window| *window == FEFF).count();
    let Some(output) = &answer.output else { return without_output(answer) };
    let (kept, all) = (count(output), count(bytes));
    let (symbol, word) = match answer.verdict {
        Some(Validity::Invalid(_)) => ("✗".to_owned(), "rejects".to_owned()),
        _ if kept == all => ("=".to_owned(), "kept".to_owned()),
        _ if kept == 0 => ("∅".to_owned(), "removed".to_owned()),
        _ => (format!("{kept}/{all}"), format!("{kept} of {all} kept")),
    };
    Cell::new(symbol, word, answer.to_string())
}

/// The cell of an answer by a part of its first error.
pub(super) fn first_error(answer: &Answer, part: impl Fn(Malformed) -> (String, String)) -> Cell {
    let (symbol, word) = match answer.verdict {
        Some(Validity::Invalid(malformed)) => part(malformed),
        Some(Validity::Valid) => ("✓".to_owned(), "accepts".to_owned()),
        None => (String::new(), "no verdict".to_owned()),
    };
    Cell::new(symbol, word, answer.to_string())
}

/// What the offset counts, for an error after these numbers of bytes, code points and code units of UTF-16.
pub(super) fn offset(malformed: Malformed, places: [usize; 3]) -> (String, String) {
    let Some(stated) = malformed.valid_up_to else { return (String::new(), "not stated".to_owned()) };
    match Offsets::counted(stated, places) {
        Offsets::Counted(unit, first) => {
            let symbol = match unit {
                Unit::Bytes => "B",
                Unit::CodePoints => "C",
                Unit::Utf16 => "U",
            };
            (format!("{symbol}{first}"), format!("in {}, from {first}", unit.name()))
        }
        // A grammar without characters of four bytes has its first error there.
        Offsets::Other(0) => ("0".to_owned(), "0, the first byte".to_owned()),
        Offsets::Other(stated) => ("≠".to_owned(), format!("{stated}, where {} bytes precede the error", places[0])),
    }
}

fn length(malformed: Malformed) -> (String, String) {
    match malformed.len {
        None => (String::new(), "not stated".to_owned()),
        Some(ErrorLen::Incomplete) => ("inc".to_owned(), "incomplete".to_owned()),
        Some(ErrorLen::Bytes(len)) => (len.to_string(), counted(len, "byte")),
    }
}

/// What a stream wrote.
pub(super) struct Streamed {
    /// After each chunk, and at the end.
    written: Vec<Vec<u8>>,
    verdict: Option<Validity>,
}

impl Streamed {
    /// `None` if the decoder fails, `Some(None)` if it has no streams.
    pub(super) fn of(decoder: &dyn Decoder, bytes: &[u8], cuts: &[usize]) -> Option<Option<Self>> {
        let mut streamed = None;
        let failed = panics(&decoder.info().name, bytes, || {
            let Some(mut stream) = decoder.stream() else { return };
            let ends = cuts.iter().copied().chain([bytes.len()]);
            let starts = [0].into_iter().chain(cuts.iter().copied());
            let mut written = Vec::new();
            for (start, end) in starts.zip(ends) {
                let mut out = Vec::new();
                stream.push(&bytes[start..end], &mut out);
                written.push(out);
            }
            let mut out = Vec::new();
            let verdict = stream.finish(&mut out);
            written.push(out);
            streamed = stream.is_answered().then_some(Self { written, verdict });
        });
        (!failed).then_some(streamed)
    }

    fn says(&self) -> String {
        let shown = |out: &Vec<u8>| if out.is_empty() { "nothing".to_owned() } else { hex(out) };
        let written: Vec<String> = self.written.iter().map(shown).collect();
        let verdict = self.verdict.map(|verdict| format!("{verdict}, ")).unwrap_or_default();
        format!("{verdict}written after each chunk, and at the end: {}", written.join(" | "))
    }
}

pub(super) fn chunked(streamed: &Streamed, whole: &Answer, has_output: bool) -> Cell {
    let output = streamed.written.concat();
    let same_output = whole.output.as_ref().is_none_or(|whole| *whole == output);
    let same_verdict = match (whole.verdict, streamed.verdict) {
        (Some(one), Some(other)) => one.is_valid() == other.is_valid(),
        _ => true,
    };
    // Without an output for rejected input, a stream may have written what preceded the error.
    let is_rejected = streamed.verdict.is_some_and(|verdict| !verdict.is_valid()) && whole.output.is_none();
    let has_only_a_verdict = streamed.verdict.is_some() && !has_output;
    match same_verdict && (same_output || is_rejected || has_only_a_verdict) {
        true if has_only_a_verdict => Cell::new("=", "the same verdict as in one piece", streamed.says()),
        true => Cell::new("=", "as in one piece", streamed.says()),
        false => {
            let written = if output.is_empty() { "nothing".to_owned() } else { code_points(&output) };
            Cell::new("≠", format!("not as in one piece: {written}"), streamed.says())
        }
    }
}

/// When the text of the first chunk is written; or, if the chunk has an ill-formed byte after one character, when its
/// replacement is written.
fn prompt(streamed: &Streamed, bytes: &[u8]) -> Cell {
    let last = streamed.written.len() - 1;
    let (text, before): (Vec<u8>, usize) =
        if bytes.is_ascii() { (Vec::new(), 0) } else { (bytes.iter().copied().filter(u8::is_ascii).collect(), 1) };
    let mut len = 0;
    let first = streamed.written.iter().position(|out| {
        len += out.len();
        len > before
    });
    let first = first.filter(|_| !text.starts_with(&streamed.written.concat()));
    let late = streamed.written[last].len();
    let (symbol, word) = match first {
        None if before > 0 => ("∅", "writes nothing for it"),
        None => ("", "writes nothing"),
        Some(first) if first == last => ("end", "at the end"),
        Some(0) if late == 0 => ("now", "with its chunk"),
        Some(_) => ("late", "with a later chunk"),
    };
    Cell::new(symbol, word, streamed.says())
}

fn lengths(decoder: &dyn Decoder, bytes: &[u8]) -> Cell {
    let inputs: Vec<Vec<u8>> = (0..=MOST_BEFORE).map(|len| [&vec![b'a'; len], bytes].concat()).collect();
    let answers = ask(decoder, &inputs.iter().map(Vec::as_slice).collect::<Vec<_>>());
    let alone = &answers[0];
    let is_alike = |(len, answer): &(usize, &Answer)| {
        let output = |answer: &Answer, before: usize| {
            answer.output.as_deref().map(|output| output.get(before..).map(<[u8]>::to_vec))
        };
        let moved = |answer: &Answer, by: usize| match answer.verdict {
            Some(Validity::Invalid(malformed)) => {
                Some((malformed.valid_up_to.map(|offset| offset.wrapping_sub(by)), malformed.len))
            }
            _ => None,
        };
        let is_valid = |answer: &Answer| answer.verdict.map(|verdict| verdict.is_valid());
        !answer.panicked
            && output(answer, *len) == output(alone, 0)
            && moved(answer, *len) == moved(alone, 0)
            && is_valid(answer) == is_valid(alone)
    };
    if alone.verdict.is_none() && alone.output.is_none() {
        return Cell::new(NOTHING.0, NOTHING.1, alone.to_string());
    }
    match answers.iter().enumerate().find(|answer| !is_alike(answer)) {
        None => Cell::new("=", "always the same", alone.to_string()),
        Some((len, answer)) => Cell {
            witness: Some(inputs[len].clone()),
            ..Cell::new("≠", format!("another after {}", counted(len, "byte")), answer.to_string())
        },
    }
}

/// The length in bytes of the longest class strings of [`Verdicts`].
pub const LONGEST: u32 = 4;

/// The characters that end a string or a line, separate the parts of a path, or begin a tag.
pub const SEPARATORS: [u8; 7] = *b"\0\n\r\"'/<";

/// How many inputs are asked about at once.
const BATCH: usize = 4096;

/// The verdicts of a decoder on all class strings of up to [`LONGEST`] bytes, and on the inputs of the questionnaire.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Verdicts(Vec<bool>);

/// All class strings of up to [`LONGEST`] bytes and the inputs of the questionnaire, the shortest first.
fn strings() -> &'static [Vec<u8>] {
    static STRINGS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
        let blocks = (0..=LONGEST).map(|len| Block { len, offset: 0 });
        let indices = blocks.flat_map(|block| (0..block.count()).map(move |index| (block, index)));
        let class_strings = indices.map(|(block, index)| {
            let mut bytes = Vec::new();
            block.write(index, &mut bytes);
            bytes
        });
        let mut all: Vec<Vec<u8>> = class_strings.chain(INPUTS.iter().map(|bytes| bytes.to_vec())).collect();
        all.sort_by(|one, other| (one.len(), one).cmp(&(other.len(), other)));
        all.dedup();
        all
    });
    &STRINGS
}

impl Verdicts {
    /// Asks for all verdicts; `None` if the decoder gives none, or does not answer each time.
    pub fn of(decoder: &dyn Decoder) -> Option<Self> {
        ask(decoder, &[b"a"])[0].verdict?;
        let mut verdicts = Vec::with_capacity(strings().len());
        for some in strings().chunks(BATCH) {
            let inputs: Vec<&[u8]> = some.iter().map(Vec::as_slice).collect();
            for answer in ask(decoder, &inputs) {
                verdicts.push(answer.verdict?.is_valid());
            }
        }
        Some(Self(verdicts))
    }

    /// How many strings are accepted.
    pub fn accepted(&self) -> usize {
        self.0.iter().filter(|accepted| **accepted).count()
    }

    /// The shortest string that is accepted here and rejected there.
    pub fn beyond(&self, other: &Self) -> Option<&'static [u8]> {
        let mut pairs = self.0.iter().zip(&other.0);
        strings().get(pairs.position(|(here, there)| *here && !there)?).map(Vec::as_slice)
    }
}

/// What a decoder makes of inputs that contain no separator, but that a careless decoder decodes to one.
#[derive(Clone, Debug, Default)]
pub struct Disguised {
    /// Each of [`SEPARATORS`] that it writes for such an input, and the shortest such input that was asked.
    pub written: Vec<(u8, Vec<u8>)>,
    /// The inputs that it accepts without writing the separator.
    pub accepted: Vec<(u8, Vec<u8>)>,
}

/// Inputs without this ASCII character that a careless decoder decodes to it, the shortest first: overlong forms, and
/// bytes of which some bits are ignored.
fn disguises(character: u8) -> Vec<Vec<u8>> {
    let (high, low) = (character >> 6, character & 0x3F);
    let single = (0..=u8::MAX).map(|byte| vec![byte]);
    let pairs = (0x80..=u8::MAX).flat_map(|lead| [0x80, 0xC0, 0x40, 0].map(|top| vec![lead, top | low]));
    let overlong: [&[u8]; 4] = [
        &[0xE0, 0x80 | high],
        &[0xF0, 0x80, 0x80 | high],
        &[0xF8, 0x80, 0x80, 0x80 | high],
        &[0xFC, 0x80, 0x80, 0x80, 0x80 | high],
    ];
    let overlong = overlong.into_iter().map(|lead| [lead, &[0x80 | low]].concat());
    single.chain(pairs).chain(overlong).filter(|bytes| !bytes.contains(&character)).collect()
}

/// Asks about all such inputs.
pub fn disguised(decoder: &dyn Decoder) -> Disguised {
    let mut all = Disguised::default();
    for character in SEPARATORS {
        let inputs = disguises(character);
        let answers = ask(decoder, &inputs.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let mut is_written = false;
        for (bytes, answer) in inputs.into_iter().zip(answers) {
            let writes = answer.output.is_some_and(|output| output.contains(&character));
            if writes && !is_written {
                is_written = true;
                all.written.push((character, bytes));
            } else if !writes && !bytes.is_ascii() && answer.verdict == Some(Validity::Valid) {
                all.accepted.push((character, bytes));
            }
        }
    }
    all
}

/// In what two answers differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// One accepts what the other rejects.
    Verdict,
    /// Both reject, and state different offsets.
    Offset,
    /// Both reject, and state different lengths of the error.
    Length,
    /// The text differs.
    Output,
    /// One fails where the other answers.
    Failure,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 5] = [Self::Verdict, Self::Offset, Self::Length, Self::Output, Self::Failure];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Verdict => "verdict",
            Self::Offset => "offset",
            Self::Length => "length",
            Self::Output => "output",
            Self::Failure => "failure",
        }
    }
}

/// An input to which two decoders give answers that differ.
#[derive(Clone, Debug)]
pub struct Difference {
    /// A kind in which they differ.
    pub kind: Kind,
    /// The input.
    pub bytes: Vec<u8>,
    /// Both answers.
    pub answers: [Answer; 2],
}

/// What a comparison of two decoders found.
#[derive(Clone, Debug, Default)]
pub struct Compared {
    /// For each kind in which their answers differ, a shortest input that shows it.
    pub differences: Vec<Difference>,
    /// On how many inputs both stated a verdict, or both an output. On all others there was nothing to compare.
    pub comparable: usize,
}

/// The kinds in which two answers differ, comparing what both of them state.
fn kinds(one: &Answer, other: &Answer) -> Vec<Kind> {
    if one.panicked || other.panicked {
        return if one.panicked == other.panicked { Vec::new() } else { vec![Kind::Failure] };
    }
    let mut kinds = Vec::new();
    if let (Some(one), Some(other)) = (&one.verdict, &other.verdict) {
        kinds.extend(match verdict_mismatch(one, other).map(|mismatch| mismatch.law) {
            Some(Law::ValidUpTo) => Some(Kind::Offset),
            Some(Law::ErrorLength) => Some(Kind::Length),
            Some(Law::Verdict) => Some(Kind::Verdict),
            _ => None,
        });
    }
    if let (Some(one), Some(other)) = (&one.output, &other.output) {
        kinds.extend((one != other).then_some(Kind::Output));
    }
    kinds
}

/// Compares the answers of two decoders to all class strings of up to `longest` bytes, until they differ in every kind. The
/// differences are the first in the order of [`Block::write`].
pub fn differences(one: &dyn Decoder, other: &dyn Decoder, longest: u32) -> Compared {
    /// How many inputs are asked about at once.
    const BATCH: u64 = 4096;
    let mut found = Compared::default();
    for len in 0..=longest {
        let block = Block { len, offset: 0 };
        let mut start = 0;
        while start < block.count() && found.differences.len() < Kind::ALL.len() {
            let end = block.count().min(start + BATCH);
            let string = |index| {
                let mut bytes = Vec::new();
                block.write(index, &mut bytes);
                bytes
            };
            let strings: Vec<Vec<u8>> = (start..end).map(string).collect();
            let inputs: Vec<&[u8]> = strings.iter().map(Vec::as_slice).collect();
            for ((bytes, one), other) in inputs.iter().zip(ask(one, &inputs)).zip(ask(other, &inputs)) {
                let both_state = (one.verdict.is_some() && other.verdict.is_some())
                    || (one.output.is_some() && other.output.is_some());
                found.comparable += usize::from(both_state);
                for kind in kinds(&one, &other) {
                    if found.differences.iter().all(|found| found.kind != kind) {
                        found.differences.push(Difference {
                            kind,
                            bytes: bytes.to_vec(),
                            answers: [one.clone(), other.clone()],
                        });
                    }
                }
            }
            start = end;
        }
    }
    found
}
