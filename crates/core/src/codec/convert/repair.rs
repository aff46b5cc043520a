//! Repairs of text that was decoded wrongly and encoded again: UTF-8 that was read as Latin-1 or Windows-1252, once or
//! several times, and Windows-1252 among UTF-8.
//!
//! A line is repaired only if exactly one repair is possible and the line is implausible as it is. Stray bytes are
//! repaired only if those of all other lines are plausible, too, and some of the text beyond ASCII is UTF-8.
//! The rule is in `docs/conversions.md`.

use crate::codec;
use crate::codec::convert::charset::{WINDOWS_1252, WINDOWS_1252_STRICT};
use crate::utf8::BYTE_ORDER_MARK;

/// A text with its repairs.
///
/// ```
/// # use utfuzz_core as utfuzz;
/// use utfuzz::codec::convert::{Doubt, repair};
///
/// let text = "un cafÃ© crème\nun cafÃ©\nCAFÉ…\n";
/// let repairs = repair(text.as_bytes());
/// assert_eq!(repairs.text, "un cafÃ© crème\nun café\nCAFÉ…\n".as_bytes());
/// assert_eq!((repairs.repaired[0].line, &repairs.repaired[0].after[..]), (2, "un café"));
/// let doubts: Vec<_> = repairs.left.iter().map(|left| (left.line, left.doubt)).collect();
/// assert_eq!(doubts, [(1, Doubt::Part), (3, Doubt::Plausible)]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repairs {
    /// The whole text, repaired.
    pub text: Vec<u8>,
    /// How many lines there are.
    pub lines: u64,
    /// The lines that were repaired.
    pub repaired: Vec<Repaired>,
    /// The lines that were left although they may be wrong.
    pub left: Vec<Left>,
}

/// A line that was repaired.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// Its number, from 1.
    pub line: u64,
    /// Offset of its first byte in the original text.
    pub offset: u64,
    /// Its original bytes, without the line feed.
    pub before: Vec<u8>,
    /// What it is now.
    pub after: String,
    /// How many times it was decoded wrongly and encoded again.
    pub layers: u32,
    /// How many of its bytes were Windows-1252.
    pub stray_bytes: u64,
}

/// A line that may be wrong, and was left.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Left {
    /// Its number, from 1.
    pub line: u64,
    /// Offset of its first byte.
    pub offset: u64,
    /// Its bytes, without the line feed.
    pub text: Vec<u8>,
    /// Why it was left.
    pub doubt: Doubt,
    /// What it may have been.
    pub candidates: Vec<String>,
}

/// Why a line was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Doubt {
    /// It is plausible as it is.
    Plausible,
    /// What could be undone stands alone between quotation marks or brackets.
    Cited,
    /// Only a part of its characters beyond ASCII could be undone.
    Part,
    /// It could be undone once, or several times.
    Depth,
    /// Undone, it would have control characters.
    Controls,
    /// Some of its bytes are neither UTF-8 nor plausible as Windows-1252, in this line or another.
    OtherEncoding,
    /// Some of its bytes are not UTF-8, and the text has no UTF-8 character beyond ASCII.
    NotUtf8,
}

impl Doubt {
    /// The name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plausible => "plausible",
            Self::Cited => "cited",
            Self::Part => "part",
            Self::Depth => "depth",
            Self::Controls => "controls",
            Self::OtherEncoding => "other-encoding",
            Self::NotUtf8 => "not-utf-8",
        }
    }

    /// A clause that explains it.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Plausible => "it is plausible as it is",
            Self::Cited => "what could be undone stands alone between quotation marks or brackets",
            Self::Part => "only a part of its characters beyond ASCII could be undone",
            Self::Depth => "it could be undone once or several times",
            Self::Controls => "undone, it would have control characters",
            Self::OtherEncoding => "there are bytes that are neither UTF-8 nor plausible as Windows-1252",
            Self::NotUtf8 => "no character beyond ASCII is in UTF-8; to convert all of the text, use `utfuzz convert`",
        }
    }
}

/// What is to be done about a line.
enum Line {
    Sound,
    Repaired { after: String, layers: u32, stray_bytes: u64 },
    Left { doubt: Doubt, candidates: Vec<String> },
}

/// Repairs a text line by line.
pub fn repair(text: &[u8]) -> Repairs {
    let mark = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let lines = || text[mark..].split_inclusive(|&byte| byte == b'\n');
    let mixed: Vec<Option<Mixed>> = lines().map(|line| Mixed::read(content(line))).collect();
    let veto = if mixed.iter().flatten().any(|mixed| !mixed.is_plausible) {
        Some(Doubt::OtherEncoding)
    } else if !lines().zip(&mixed).any(|(line, mixed)| has_utf8(line, mixed.as_ref())) {
        Some(Doubt::NotUtf8)
    } else {
        None
    };
    let mut repairs = Repairs { text: text[..mark].to_vec(), lines: 0, repaired: Vec::new(), left: Vec::new() };
    let mut offset = mark as u64;
    for (line, mixed) in lines().zip(mixed) {
        repairs.lines += 1;
        let (before, number) = (content(line), repairs.lines);
        let judged = match (&mixed, core::str::from_utf8(before)) {
            (Some(mixed), _) => mixed.judge(veto),
            (None, Ok(text)) => undo_all(text),
            (None, Err(_)) => Line::Sound,
        };
        match judged {
            Line::Sound => repairs.text.extend_from_slice(line),
            Line::Left { doubt, candidates } => {
                repairs.text.extend_from_slice(line);
                repairs.left.push(Left { line: number, offset, text: before.to_vec(), doubt, candidates });
            }
            Line::Repaired { after, layers, stray_bytes } => {
                repairs.text.extend_from_slice(after.as_bytes());
                repairs.text.extend_from_slice(&line[before.len()..]);
                let before = before.to_vec();
                repairs.repaired.push(Repaired { line: number, offset, before, after, layers, stray_bytes });
            }
        }
        offset += line.len() as u64;
    }
    repairs
}

/// The line without its line feed.
fn content(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\n").unwrap_or(line)
}

/// Whether a line has a character that is surely UTF-8 and not Windows-1252.
fn has_utf8(line: &[u8], mixed: Option<&Mixed>) -> bool {
    mixed.map_or_else(|| !line.is_ascii(), |mixed| mixed.has_utf8)
}

/// Undoes as many layers as there are.
fn undo_all(text: &str) -> Line {
    let mut current = text.to_owned();
    let mut layers = 0;
    loop {
        match undo(&current) {
            None if layers == 0 => return Line::Sound,
            None if current.chars().any(|c| ('\u{80}'..='\u{9F}').contains(&c)) => {
                return Line::Left { doubt: Doubt::Controls, candidates: vec![current] };
            }
            None => return Line::Repaired { after: current, layers, stray_bytes: 0 },
            Some(Ok(next)) => current = next,
            Some(Err((doubt, candidate))) if layers == 0 => {
                return Line::Left { doubt, candidates: vec![candidate] };
            }
            Some(Err((_, candidate))) => {
                return Line::Left { doubt: Doubt::Depth, candidates: vec![current, candidate] };
            }
        }
        layers += 1;
    }
}

/// Undoes one layer: what the text was, or why that is doubtful and what it may have been; `None` if there is nothing to
/// undo.
fn undo(text: &str) -> Option<Result<String, (Doubt, String)>> {
    let sequences = Sequence::all(text);
    if sequences.is_empty() {
        return None;
    }
    let (mut undone, mut at, mut is_whole) = (String::new(), 0, true);
    for sequence in &sequences {
        let between = &text[at..sequence.start];
        is_whole &= between.is_ascii();
        undone.push_str(between);
        undone.push(sequence.scalar);
        at = sequence.end;
    }
    is_whole &= text[at..].is_ascii();
    undone.push_str(&text[at..]);
    let is_plausible = sequences.iter().all(|sequence| sequence.is_plausible(text));
    let doubt = match () {
        () if is_plausible && !is_whole => return None,
        () if is_plausible => Doubt::Plausible,
        () if !is_whole => Doubt::Part,
        () if is_any_cited(&sequences, text) => Doubt::Cited,
        () => return Some(Ok(undone)),
    };
    Some(Err((doubt, undone)))
}

/// Two to four characters of a text whose bytes, in Windows-1252 or Latin-1, are one character in UTF-8.
struct Sequence {
    start: usize,
    end: usize,
    scalar: char,
}

impl Sequence {
    /// Bytes of the longest.
    const LONGEST: usize = 4;

    /// All of them, from left to right.
    fn all(text: &str) -> Vec<Self> {
        let mut sequences: Vec<Self> = Vec::new();
        for (start, lead) in text.char_indices().filter(|(_, c)| !c.is_ascii()) {
            if sequences.last().is_none_or(|last| last.end <= start) && byte(lead).is_some_and(|byte| byte >= 0xC2) {
                sequences.extend(Self::at(text, start));
            }
        }
        sequences
    }

    fn at(text: &str, start: usize) -> Option<Self> {
        let mut bytes = Vec::new();
        for (at, c) in text[start..].char_indices().take(Self::LONGEST) {
            bytes.push(byte(c)?);
            if let Ok(found) = core::str::from_utf8(&bytes) {
                return Some(Self { start, end: start + at + c.len_utf8(), scalar: found.chars().next()? });
            }
        }
        None
    }

    /// Whether its characters may be intended as they are: a letter at the end of a word, and punctuation that may follow it.
    fn is_plausible(&self, text: &str) -> bool {
        let mut characters = text[self.start..self.end].chars();
        let Some(lead) = characters.next() else { return false };
        let before = text[..self.start].chars().next_back();
        let after = text[self.end..].chars().next();
        let clashes = before.is_some_and(|c| c.is_numeric() || lead.is_uppercase() && c.is_lowercase());
        let goes_on =
            after.is_some_and(char::is_alphanumeric) || text[..self.end].ends_with('\u{A0}') && after == Some(' ');
        characters.all(may_follow_a_word) && !clashes && !goes_on
    }
}

/// Punctuation and signs that may follow a word without a space.
fn may_follow_a_word(c: char) -> bool {
    matches!(c, '\u{A0}' | '…' | '’' | '”' | '»' | '›' | '–' | '—' | '™' | '®' | '°' | '¹' | '²' | '³')
}

/// Whether sequences stand alone between quotation marks or brackets.
fn is_any_cited(sequences: &[Sequence], text: &str) -> bool {
    let runs = sequences.chunk_by(|one, next| one.end == next.start);
    runs.filter_map(|run| Some((run.first()?.start, run.last()?.end))).any(|(start, end)| {
        let before = text[..start].chars().next_back();
        let after = text[end..].chars().next();
        matches!(
            (before, after),
            (Some('"'), Some('"'))
                | (Some('\''), Some('\''))
                | (Some('`'), Some('`' | '\''))
                | (Some('('), Some(')'))
                | (Some('['), Some(']'))
                | (Some('{'), Some('}'))
                | (Some('<'), Some('>'))
        )
    })
}

/// The byte of a character in Windows-1252 or else in Latin-1.
fn byte(c: char) -> Option<u8> {
    let latin_1 = || u8::try_from(u32::from(c)).ok();
    WINDOWS_1252.byte(c.into()).or_else(latin_1)
}

/// A line of UTF-8 with stray bytes, which are read as Windows-1252.
struct Mixed {
    text: String,
    /// All of the line as Windows-1252, if that is plausible.
    other: Option<String>,
    stray_bytes: u64,
    /// The stray bytes are plausible.
    is_plausible: bool,
    /// It has a character that is implausible as Windows-1252.
    has_utf8: bool,
}

impl Mixed {
    /// `None` if there are no stray bytes.
    fn read(line: &[u8]) -> Option<Self> {
        if codec::validate(line).is_ok() {
            return None;
        }
        let (mut text, mut strays, mut stray_bytes) = (String::new(), Vec::new(), 0);
        for character in codec::chars(line) {
            match character {
                Ok(scalar) => text.push(scalar),
                Err(error) => {
                    for &byte in line.get(error.range()).unwrap_or_default() {
                        let scalar = WINDOWS_1252_STRICT.code_point(byte).and_then(char::from_u32);
                        stray_bytes += 1;
                        strays.push(text.len());
                        text.push(scalar.unwrap_or(char::REPLACEMENT_CHARACTER));
                    }
                }
            }
        }
        let is_plausible = are_plausible(&strays, &text);
        let all = |byte: &u8| WINDOWS_1252_STRICT.code_point(*byte).and_then(char::from_u32);
        let windows: Option<String> = line.iter().map(all).collect();
        let sequences = windows.as_deref().map(Sequence::all).unwrap_or_default();
        let is_meant = |sequence: &Sequence| windows.as_deref().is_some_and(|text| sequence.is_plausible(text));
        let has_utf8 = sequences.iter().any(|sequence| !is_meant(sequence));
        let other = if sequences.iter().any(is_meant) { windows.clone() } else { None };
        Some(Self { text, other, stray_bytes, is_plausible, has_utf8 })
    }

    fn judge(&self, veto: Option<Doubt>) -> Line {
        let candidates = || [self.text.clone()].into_iter().chain(self.other.clone()).collect();
        match (veto, &self.other, undo(&self.text)) {
            (Some(doubt), ..) => {
                let candidates = if self.is_plausible { candidates() } else { Vec::new() };
                Line::Left { doubt, candidates }
            }
            (None, Some(_), _) => Line::Left { doubt: Doubt::Plausible, candidates: candidates() },
            (None, None, None) => Line::Repaired { after: self.text.clone(), layers: 0, stray_bytes: self.stray_bytes },
            (None, None, Some(Ok(undone) | Err((_, undone)))) => {
                Line::Left { doubt: Doubt::Depth, candidates: vec![self.text.clone(), undone] }
            }
        }
    }
}

/// Whether the characters at these places are plausible as Windows-1252: common signs or letters, with at most two
/// letters in a row, no letter in upper case after one in lower case, and no letter between two signs.
fn are_plausible(places: &[usize], text: &str) -> bool {
    let mut row = 0;
    let mut end = 0;
    places.iter().all(|&at| {
        let Some(c) = text[at..].chars().next() else { return false };
        let before = text[..at].chars().next_back();
        let touches = end == at && at > 0;
        end = at + c.len_utf8();
        if !c.is_alphabetic() {
            row = 0;
            return !matches!(c, '¤' | '¦' | '¨' | '¬' | '¯' | '¶' | '¸' | '˜' | char::REPLACEMENT_CHARACTER);
        }
        let after_sign = touches && row == 0;
        row = if touches { row + 1 } else { 1 };
        let before_sign =
            places.binary_search(&end).is_ok() && text[end..].chars().next().is_some_and(|c| !c.is_alphabetic());
        let clashes = c.is_uppercase() && before.is_some_and(char::is_lowercase);
        row <= 2 && !clashes && !(after_sign && before_sign) && !matches!(c, 'ƒ' | 'ˆ')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A text as it looks after it was read as Windows-1252 (Latin-1 where that has no character) and encoded again.
    fn doubled(text: &str) -> String {
        let read = |&byte: &u8| WINDOWS_1252_STRICT.code_point(byte).and_then(char::from_u32).unwrap_or(byte.into());
        text.as_bytes().iter().map(read).collect()
    }

    /// The text after repair, and why lines were left.
    fn repaired(text: &[u8]) -> (Vec<u8>, Vec<Doubt>) {
        let repairs = repair(text);
        (repairs.text, repairs.left.into_iter().map(|left| left.doubt).collect())
    }

    const TEXTS: [&str; 12] = [
        "un café à Noël, déjà vu: “ça va”… l’œuvre — 5 €",
        "Größe, Straße, ÄÖÜ; Übermut tut selten gut",
        "mañana, ¿qué tal? ¡olé! El Niño",
        "Съешь ещё этих мягких булок",
        "日本語の文章です。",
        "Zażółć gęślą jaźń",
        "Příliš žluťoučký kůň",
        "Καλημέρα κόσμε",
        "smile 😀 and 💃",
        "한국어 문장",
        "20 °C, 5 £, N° 7, ½ l",
        "naïve CAFÉ, ÉTÉ; «voilà»",
    ];

    #[test]
    fn every_layer_is_undone() {
        for text in TEXTS {
            assert_eq!(repaired(text.as_bytes()), (text.as_bytes().to_vec(), vec![]), "{text}");
            let latin_1: String = text.bytes().map(char::from).collect();
            let mut wrong = doubled(text);
            assert_eq!(repaired(latin_1.as_bytes()), (text.as_bytes().to_vec(), vec![]), "{latin_1}");
            for layers in 1..=4 {
                let repairs = repair(wrong.as_bytes());
                assert_eq!(repairs.text, text.as_bytes(), "{layers} layers of {text}: {wrong}");
                assert_eq!(repairs.repaired[0].layers, layers, "{text}");
                wrong = doubled(&wrong);
            }
        }
    }

    #[test]
    fn what_is_plausible_or_ambiguous_is_left() {
        let rows = [
            ("CAFÉ…", Doubt::Plausible),
            ("Viel Spaß…", Doubt::Plausible),
            ("AMANHÃ…", Doubt::Plausible),
            ("\"Ã©\" is what an e with an acute becomes", Doubt::Cited),
            ("(Ã©)", Doubt::Cited),
            ("« Ã© » est un « é » mal lu", Doubt::Part),
            ("cafÃ© crème", Doubt::Part),
            ("caf\u{C3}\u{A9}\u{C2}\u{84}", Doubt::Controls),
        ];
        for (text, doubt) in rows {
            assert_eq!(repaired(text.as_bytes()), (text.as_bytes().to_vec(), vec![doubt]), "{text}");
        }
        // After it is undone once, it is plausible and could be undone again.
        let wrong = doubled("CAFÉ…");
        assert_eq!(repaired(wrong.as_bytes()), (wrong.as_bytes().to_vec(), vec![Doubt::Depth]));
        assert_eq!(repair(wrong.as_bytes()).left[0].candidates[0], "CAFÉ…");
    }

    /// Each is implausible for one reason only: what comes before, what comes after, or the space.
    #[test]
    fn punctuation_in_an_impossible_place_is_undone() {
        for (wrong, right) in [
            ("mot\u{C2}\u{A0}: oui", "mot\u{A0}: oui"),
            ("ADIÃ³S", "ADIóS"),
            ("20Â° dehors", "20° dehors"),
            ("Ã\u{A0} la", "à la"),
        ] {
            assert_eq!(repaired(wrong.as_bytes()), (right.as_bytes().to_vec(), vec![]), "{wrong}");
        }
    }

    #[test]
    fn windows_1252_among_utf_8_is_repaired() {
        let rows: [(&[u8], &str); 4] = [
            (b"caf\xE9 et th\xC3\xA9", "café et thé"),
            (b"th\xC3\xA9\r\n\x93quoted\x94 \x96 caf\xE9\r\n", "thé\r\n“quoted” – café\r\n"),
            (b"\xEF\xBB\xBFth\xC3\xA9\n\xE0 la", "\u{FEFF}thé\nà la"),
            (b"\xC3\xA9\n5 \x80", "é\n5 €"),
        ];
        for (bytes, text) in rows {
            assert_eq!(repaired(bytes), (text.as_bytes().to_vec(), vec![]), "{text}");
        }
        let left: [(&[u8], &[Doubt]); 8] = [
            (b"caf\xE9", &[Doubt::NotUtf8]),
            // Shift_JIS (two characters) and KOI8-R.
            (b"\xC3\xA9\n\x93\xFA\x96\x7B\ncaf\xE9", &[Doubt::OtherEncoding; 2]),
            (b"\xC3\xA9\n\xF2\xD5\xD3\xD3\xCB\xC9\xCA", &[Doubt::OtherEncoding]),
            (b"\xC3\xA9\n\x81", &[Doubt::OtherEncoding]),
            (b"\xC3\xA9\nx\xE5\xE4\xF6x", &[Doubt::OtherEncoding]),
            (b"\xC3\xA9\na\xC9x", &[Doubt::OtherEncoding]),
            // `CAFÉ…` in Windows-1252, or U+0245 after CAF.
            (b"\xC3\xA9\nCAF\xC9\x85 caf\xE9", &[Doubt::Plausible]),
            (b"caf\xE9 et th\xC3\x83\xC2\xA9", &[Doubt::Depth]),
        ];
        for (bytes, doubts) in left {
            assert_eq!(repaired(bytes), (bytes.to_vec(), doubts.to_vec()), "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn nothing_else_changes() {
        // With every pair of bytes in a line. A second repair changes nothing.
        for pair in 0..=u16::MAX {
            let bytes = [b"th\xC3\xA9\nx", &pair.to_be_bytes()[..], b"y\r\nlast"].concat();
            let repairs = repair(&bytes);
            let again = repair(&repairs.text);
            assert!(again.repaired.is_empty(), "{pair:04X}");
            assert_eq!(again.text, repairs.text);
            assert_eq!(repairs.repaired.is_empty(), repairs.text == bytes, "{pair:04X}");
            assert!(
                repairs.text.starts_with("thé\n".as_bytes()) && repairs.text.ends_with(b"\r\nlast")
                    || pair & 0xFF == 0x0A
            );
        }
    }
}
