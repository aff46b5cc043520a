//! The questions to decoders of UTF-16, UTF-32, UCS-2 and UCS-4, each about one input, and what an answer amounts to, in
//! the words of the behaviour matrix. These decoders claim no contract, so nothing is judged.

use crate::codec::convert::Encoding;
use crate::decoder::Decoder;
use crate::probe::ask;
use crate::probe::contracts::{Answer, GENERALIZED};
use crate::probe::matrix::{
    AT_THE_END, Cell, ERRORS, MARK, STREAMS, Streamed, WRITTEN, chunked, describe, first_error, mark, offset,
    without_output, written,
};
use crate::spec::{Contract, encode_text, encode_utf16};
use crate::utf8::REPLACEMENT;

/// A question about one input, which differs between encodings only in the width of the code units, the order of their
/// bytes, and a byte order mark before them.
#[derive(Clone, Copy, Debug)]
pub struct Question {
    /// A name for it, unique for an encoding, that does not change.
    pub id: &'static str,
    /// The heading of the questions that belong together.
    pub group: &'static str,
    /// What the input is, in words.
    pub title: &'static str,
    of: Of,
    order: Order,
    units: &'static [u32],
    /// Bytes of an incomplete code unit at the end.
    tail: &'static [u8],
    cuts: &'static [usize],
    asks: Asks,
}

/// Of which encodings a question is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Of {
    All,
    /// Those whose code units have this many bytes.
    Width(usize),
    /// Those without a byte order in their name.
    Unordered,
}

/// The byte order of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// That of the encoding. If its name states none, little-endian, with a byte order mark before the input unless it
    /// begins with one.
    Named,
    Little,
    Big,
}

/// What is read from the answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asks {
    /// What is written for the code units between "a" and "b" or the end.
    Written,
    /// What becomes of U+FEFF.
    Mark,
    /// What the text is.
    Text,
    /// The offset of the first error, after this many bytes; before it are 3 code points, or 5 code units of UTF-16.
    Offset(usize),
    /// Whether the chunks give what the whole gives.
    Chunks,
}

const SIXTEEN: Of = Of::Width(2);
const THIRTY_TWO: Of = Of::Width(4);
const A: u32 = 0x61;
const B: u32 = 0x62;
const HIGH: u32 = 0xD83D;
const LOW: u32 = 0xDE00;
const FEFF: u32 = 0xFEFF;
const EURO: u32 = 0x20AC;

const QUESTIONS: [Question; 33] = [
    written_for("nul", "NUL", Of::All, &[A, 0, B]),
    written_for("fffe", "noncharacter U+FFFE", Of::All, &[A, 0xFFFE, B]),
    written_for("ffff", "noncharacter U+FFFF", Of::All, &[A, 0xFFFF, B]),
    written_for("pair", "a surrogate pair", Of::All, &[A, HIGH, LOW, B]),
    written_for("high", "a high surrogate", Of::All, &[A, HIGH, B]),
    written_for("low", "a low surrogate", Of::All, &[A, LOW, B]),
    written_for("high-pair", "two high surrogates, then a low one", SIXTEEN, &[A, HIGH, HIGH, LOW, B]),
    written_for("reversed-pair", "low before high surrogate", SIXTEEN, &[A, LOW, HIGH, B]),
    written_for("too-large", "110000", THIRTY_TWO, &[A, 0x11_0000, B]),
    written_for("31-bits", "7FFFFFFF", THIRTY_TWO, &[A, 0x7FFF_FFFF, B]),
    written_for("32-bits", "FFFFFFFF", THIRTY_TWO, &[A, u32::MAX, B]),
    at_the_end("end-high", "a high surrogate", SIXTEEN, &[A, HIGH], &[]),
    at_the_end("end-high-1", "a high surrogate and 1 byte", SIXTEEN, &[A, HIGH], b"\xDE"),
    at_the_end("end-1-of-2", "1 of 2 bytes", SIXTEEN, &[A], b"b"),
    at_the_end("end-1-of-4", "1 of 4 bytes", THIRTY_TWO, &[A], b"b"),
    at_the_end("end-2-of-4", "2 of 4 bytes", THIRTY_TWO, &[A], b"b\0"),
    at_the_end("end-3-of-4", "3 of 4 bytes", THIRTY_TWO, &[A], b"b\0\0"),
    marked("mark-little", "before little-endian text", Order::Little, &[FEFF, A]),
    marked("mark-big", "before big-endian text", Order::Big, &[FEFF, A]),
    marked("mark-twice", "twice at the start", Order::Named, &[FEFF, FEFF, A]),
    marked("mark-alone", "alone", Order::Named, &[FEFF]),
    marked("mark-inside", "inside", Order::Named, &[A, FEFF, B]),
    unmarked("none-little", "none, little-endian text", Order::Little),
    unmarked("none-big", "none, big-endian text", Order::Big),
    offset_of(SIXTEEN, &[HIGH, LOW, HIGH, LOW, EURO, HIGH, B], 10),
    offset_of(THIRTY_TWO, &[0x1_F600, 0x1_F600, EURO, HIGH, B], 12),
    chunks("chunks-unit", "€", SIXTEEN, &[EURO], &[1]),
    chunks("chunks-pair", "a surrogate pair", SIXTEEN, &[HIGH, LOW], &[2]),
    chunks("chunks-high", "a high surrogate, before text", SIXTEEN, &[A, HIGH, B], &[4]),
    chunks("chunks-end", "a high surrogate, at the end", SIXTEEN, &[A, HIGH], &[3]),
    chunks("chunks-unit", "€", THIRTY_TWO, &[EURO], &[1, 2, 3]),
    chunks("chunks-surrogate", "a high surrogate, before text", THIRTY_TWO, &[A, HIGH, B], &[5]),
    chunks("chunks-mark", "U+FEFF", Of::All, &[FEFF, A], &[1]),
];

const fn question(id: &'static str, group: &'static str, title: &'static str, of: Of, asks: Asks) -> Question {
    Question { id, group, title, of, order: Order::Named, units: &[], tail: &[], cuts: &[], asks }
}

const fn written_for(id: &'static str, title: &'static str, of: Of, units: &'static [u32]) -> Question {
    Question { units, ..question(id, WRITTEN, title, of, Asks::Written) }
}

const fn at_the_end(
    id: &'static str,
    title: &'static str,
    of: Of,
    units: &'static [u32],
    tail: &'static [u8],
) -> Question {
    Question { units, tail, ..question(id, AT_THE_END, title, of, Asks::Written) }
}

const fn marked(id: &'static str, title: &'static str, order: Order, units: &'static [u32]) -> Question {
    Question { order, units, ..question(id, MARK, title, Of::All, Asks::Mark) }
}

const fn unmarked(id: &'static str, title: &'static str, order: Order) -> Question {
    Question { order, units: &[A, B], ..question(id, MARK, title, Of::Unordered, Asks::Text) }
}

const fn offset_of(of: Of, units: &'static [u32], bytes: usize) -> Question {
    Question { units, ..question("offset", ERRORS, "its offset", of, Asks::Offset(bytes)) }
}

const fn chunks(
    id: &'static str,
    title: &'static str,
    of: Of,
    units: &'static [u32],
    cuts: &'static [usize],
) -> Question {
    Question { units, cuts, ..question(id, STREAMS, title, of, Asks::Chunks) }
}

/// The bytes of a code unit of an encoding, and whether it is big-endian, if its name says so; `None` for encodings of
/// bytes.
fn form(encoding: Encoding) -> Option<(usize, Option<bool>)> {
    Some(match encoding {
        Encoding::Utf16 => (2, None),
        Encoding::Utf16Le | Encoding::Ucs2Le => (2, Some(false)),
        Encoding::Utf16Be | Encoding::Ucs2Be => (2, Some(true)),
        Encoding::Utf32 => (4, None),
        Encoding::Utf32Le | Encoding::Ucs4Le => (4, Some(false)),
        Encoding::Utf32Be | Encoding::Ucs4Be => (4, Some(true)),
        _ => return None,
    })
}

/// The questions about an encoding; none if its code units are bytes.
pub fn questions(encoding: Encoding) -> impl Iterator<Item = &'static Question> {
    let is_asked = move |question: &&Question| match (form(encoding), question.of) {
        (None, _) => false,
        (_, Of::All) => true,
        (Some((width, _)), Of::Width(of)) => width == of,
        (Some((_, order)), Of::Unordered) => order.is_none(),
    };
    QUESTIONS.iter().filter(is_asked)
}

impl Question {
    /// The input in an encoding, and where it is cut into chunks.
    pub fn input(&self, encoding: Encoding) -> (Vec<u8>, Vec<usize>) {
        let (width, order) = form(encoding).unwrap_or((1, None));
        let is_big = match self.order {
            Order::Named => order == Some(true),
            order => order == Order::Big,
        };
        let before = self.before(encoding);
        let units = [FEFF].into_iter().filter(|_| before > 0).chain(self.units.iter().copied());
        let mut bytes: Vec<u8> = units
            .flat_map(|unit| {
                let mut bytes = unit.to_le_bytes()[..width].to_vec();
                if is_big {
                    bytes.reverse();
                }
                bytes
            })
            .collect();
        bytes.extend_from_slice(self.tail);
        (bytes, self.cuts.iter().map(|cut| before + cut).collect())
    }

    /// How many bytes the byte order mark has that precedes the input.
    fn before(&self, encoding: Encoding) -> usize {
        let is_bare = self.order == Order::Named && self.units.first() != Some(&FEFF);
        form(encoding).filter(|(_, order)| order.is_none() && is_bare).map_or(0, |(width, _)| width)
    }

    /// The text as extended UTF-8, in which a value of more than 31 bits is U+FFFD.
    fn text(&self, encoding: Encoding) -> Vec<u8> {
        let mut text = Vec::new();
        let halves: Option<Vec<u16>> = self.units.iter().map(|unit| u16::try_from(*unit).ok()).collect();
        match halves.filter(|_| form(encoding).is_some_and(|(width, _)| width == 2)) {
            Some(units) => drop(encode_utf16(&GENERALIZED, &units, &mut text)),
            None => self.units.iter().for_each(|unit| {
                if encode_text(&GENERALIZED, &[*unit], &mut text).is_err() {
                    text.extend_from_slice(REPLACEMENT);
                }
            }),
        }
        text
    }

    fn cell(&self, decoder: &dyn Decoder, encoding: Encoding, whole: &Answer) -> Cell {
        if whole.panicked {
            return Cell::fails();
        }
        let (text, before) = (self.text(encoding), self.before(encoding));
        let mut answer = whole.clone();
        // What becomes of the mark before the input is asked elsewhere.
        let kept = answer.output.as_ref().and_then(|output| output.strip_prefix("\u{FEFF}".as_bytes()));
        if let Some(rest) = kept.filter(|_| before > 0).map(<[u8]>::to_vec) {
            answer.output = Some(rest);
        }
        let cell = match self.asks {
            Asks::Written => written(&answer, &text),
            Asks::Mark
                if answer.output.as_deref().is_none_or(|output| unmarked_text(output) == unmarked_text(&text)) =>
            {
                mark(&answer, &text)
            }
            Asks::Mark | Asks::Text => described(&answer, &text),
            Asks::Offset(bytes) => first_error(&answer, |malformed| offset(malformed, [before + bytes, 3, 5])),
            Asks::Chunks => {
                let (bytes, cuts) = self.input(encoding);
                return match Streamed::of(decoder, &bytes, &cuts) {
                    None => Cell::fails(),
                    Some(None) => Cell::new("", "no streams", "it decodes no streams".to_owned()),
                    Some(Some(streamed)) => chunked(&streamed, whole, true),
                };
            }
        };
        Cell { says: whole.to_string(), ..cell }
    }
}

/// Text without U+FEFF.
fn unmarked_text(text: &[u8]) -> Vec<u8> {
    String::from_utf8_lossy(text).replace('\u{FEFF}', "").into_bytes()
}

/// All that was written.
fn described(answer: &Answer, text: &[u8]) -> Cell {
    let Some(output) = &answer.output else { return without_output(answer) };
    let (symbol, word) = describe(output, text);
    Cell::new(symbol, word, answer.to_string())
}

/// What a decoder of an encoding does with the input of each of its [`questions`], in their order.
pub fn unit_cells(decoder: &dyn Decoder, encoding: Encoding) -> Vec<Cell> {
    let inputs: Vec<Vec<u8>> = questions(encoding).map(|question| question.input(encoding).0).collect();
    let answers = ask(decoder, &inputs.iter().map(Vec::as_slice).collect::<Vec<_>>());
    questions(encoding).zip(&answers).map(|(question, answer)| question.cell(decoder, encoding, answer)).collect()
}

/// Whether bytes are well-formed in UTF-16 or UTF-32; without a byte order in the name, they are big-endian unless a byte
/// order mark says otherwise (Unicode, D98 and D101). `None` for any other encoding.
pub fn is_well_formed(encoding: Encoding, bytes: &[u8]) -> Option<bool> {
    let (width, order) = form(encoding)?;
    if matches!(encoding, Encoding::Ucs2Le | Encoding::Ucs2Be | Encoding::Ucs4Le | Encoding::Ucs4Be) {
        return None;
    }
    let is_big = order.unwrap_or_else(|| !bytes.starts_with(&FEFF.to_le_bytes()[..width]));
    let values = bytes.chunks(width).map(|unit| {
        let value = |sum: u32, byte: &u8| sum << 8 | u32::from(*byte);
        if is_big { unit.iter().fold(0, value) } else { unit.iter().rev().fold(0, value) }
    });
    let mut text = Vec::new();
    let is_text = match width {
        2 => {
            encode_utf16(&Contract::VALIDATOR, &values.map(|value| value as u16).collect::<Vec<_>>(), &mut text).is_ok()
        }
        _ => encode_text(&Contract::VALIDATOR, &values.collect::<Vec<_>>(), &mut text).is_ok(),
    };
    Some(is_text && bytes.len().is_multiple_of(width))
}
