//! The encoding of some bytes: known if they are well-formed UTF-8 or begin with a byte order mark, otherwise the
//! likeliest, with the reason.

use crate::codec;
use crate::codec::convert::charset::WINDOWS_1252_STRICT;
use crate::codec::convert::converter::Converter;
use crate::codec::convert::encoding::{Encoding, Order};
use crate::codec::convert::fault::{Fault, Options};
use crate::codec::convert::repair::repair;

/// The encoding of some bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Detection {
    /// The encoding, if it is one that can be converted; also `None` if the bytes are not text.
    pub encoding: Option<Encoding>,
    /// The name of the encoding, even of one that cannot be converted; `None` if the bytes are not text.
    pub name: Option<&'static str>,
    /// How sure the answer is.
    pub confidence: Confidence,
    /// Why.
    pub reason: String,
    /// How many bytes were examined: all, or as many as decided the answer.
    pub read: u64,
    /// Whether all of them are ASCII.
    pub is_ascii: bool,
    /// Whether they begin with a byte order mark.
    pub byte_order_mark: bool,
    /// Where they first are ill-formed in UTF-8.
    pub not_utf8: Option<Fault>,
}

/// How sure a [`Detection`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Confidence {
    /// Other encodings fit as well.
    Guess,
    /// Text in another encoding rarely looks like this.
    Likely,
    /// The bytes are well-formed UTF-8, or begin with a byte order mark and are well-formed.
    Certain,
}

impl Confidence {
    /// The name, in lower case.
    pub fn name(self) -> &'static str {
        match self {
            Self::Guess => "guess",
            Self::Likely => "likely",
            Self::Certain => "certain",
        }
    }
}

impl Detection {
    /// Whether the encoding is only a guess among those that are not Unicode.
    pub fn is_unknown(&self) -> bool {
        self.confidence == Confidence::Guess
            && self.encoding.is_some_and(|encoding| encoding.is_single_byte() || encoding.is_charset())
    }
}

/// An encoding, and why.
struct Answer {
    encoding: Option<Encoding>,
    name: Option<&'static str>,
    confidence: Confidence,
    reason: String,
}

impl Answer {
    fn new(encoding: Encoding, confidence: Confidence, reason: impl Into<String>) -> Self {
        Self { encoding: Some(encoding), name: Some(encoding.name()), confidence, reason: reason.into() }
    }
}

/// Examines bytes in chunks, in constant memory.
///
/// ```
/// # use utfuzz_core as utfuzz;
/// use utfuzz::codec::convert::{Detector, Encoding};
///
/// let mut detector = Detector::new();
/// detector.push(b"\x93caf");
/// detector.push(b"\xE9\x94");
/// let detection = detector.finish();
/// assert_eq!(detection.encoding, Some(Encoding::Windows1252));
/// assert_eq!(detection.not_utf8.unwrap().offset(), 0);
/// ```
#[derive(Clone, Debug)]
pub struct Detector {
    candidates: Vec<Candidate>,
    /// The encoding that the byte order mark names, unless it is UTF-8.
    marked: Option<Candidate>,
    /// The start, which is examined more closely.
    sample: Vec<u8>,
    beyond_ascii: bool,
    read: u64,
    out: Vec<u8>,
}

/// UTF-8 or a relative in which the bytes may be encoded.
#[derive(Clone, Debug)]
struct Candidate {
    encoding: Encoding,
    converter: Converter,
    fault: Option<Fault>,
}

impl Candidate {
    fn new(encoding: Encoding) -> Option<Self> {
        let converter = Converter::new(encoding, Encoding::Rfc2279, Options::STRICT).ok()?;
        Some(Self { encoding, converter, fault: None })
    }

    /// Examines a chunk, unless there was a fault; `out` is room for its text.
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        if self.fault.is_none() {
            out.clear();
            self.fault = self.converter.push(chunk, out).err();
        }
    }
}

/// Bytes that are examined more closely.
const SAMPLE: usize = 0x4_0000;

/// Where the last byte of the longest byte order mark is.
const END_OF_MARK: usize = 3;

/// UTF-8 and encodings that could be taken for it; the first that fits is chosen.
const CANDIDATES: [Encoding; 5] =
    [Encoding::Utf8, Encoding::Cesu8, Encoding::ModifiedUtf8, Encoding::Wtf8, Encoding::Rfc2279];

impl Detector {
    /// A detector at the start of its input.
    pub fn new() -> Self {
        let candidates = CANDIDATES.into_iter().filter_map(Candidate::new).collect();
        Self { candidates, marked: None, sample: Vec::new(), beyond_ascii: false, read: 0, out: Vec::new() }
    }

    /// Examines a chunk.
    pub fn push(&mut self, chunk: &[u8]) {
        self.read += chunk.len() as u64;
        self.beyond_ascii |= !chunk.is_ascii();
        let known = self.sample.len();
        self.sample.extend_from_slice(&chunk[..(SAMPLE - known).min(chunk.len())]);
        if (known..self.sample.len()).contains(&END_OF_MARK) {
            self.read_as_marked(known);
        }
        self.candidates.iter_mut().chain(&mut self.marked).for_each(|candidate| candidate.push(chunk, &mut self.out));
    }

    /// Begins to read what the byte order mark says, with this many bytes of the sample.
    fn read_as_marked(&mut self, len: usize) {
        let marked = Encoding::of_byte_order_mark(&self.sample).filter(|encoding| *encoding != Encoding::Utf8);
        self.marked = marked.and_then(Candidate::new);
        self.marked.iter_mut().for_each(|marked| marked.push(&self.sample[..len], &mut self.out));
    }

    /// Whether nothing about the bytes to come can change the answer, except how many they are.
    pub fn is_decided(&self) -> bool {
        let mut left = self.candidates.iter().chain(&self.marked).filter(|candidate| candidate.fault.is_none());
        self.sample.len() == SAMPLE && left.next().is_none()
    }

    /// The encoding of the bytes.
    pub fn finish(self) -> Detection {
        self.detection(true)
    }

    /// The encoding of bytes that are only the start of a text, and may end inside a character.
    pub fn finish_start(self) -> Detection {
        self.detection(false)
    }

    fn detection(mut self, is_all: bool) -> Detection {
        if self.marked.is_none() {
            self.read_as_marked(self.sample.len());
        }
        let candidates = self.candidates.iter_mut().chain(&mut self.marked);
        for candidate in candidates.filter(|candidate| is_all && candidate.fault.is_none()) {
            candidate.fault = candidate.converter.finish(&mut self.out).err();
        }
        let not_utf8 = self.candidates.first().and_then(|candidate| candidate.fault);
        let Answer { encoding, name, confidence, reason } = self.judge(not_utf8, is_all);
        let byte_order_mark = Encoding::of_byte_order_mark(&self.sample).is_some();
        let (read, is_ascii) = (self.read, !self.beyond_ascii);
        Detection { encoding, name, confidence, reason, read, is_ascii, byte_order_mark, not_utf8 }
    }

    fn judge(&self, not_utf8: Option<Fault>, is_all: bool) -> Answer {
        let sample = &self.sample[..];
        if let Some(marked) = Encoding::of_byte_order_mark(sample) {
            match self.marked.as_ref().map_or(not_utf8, |candidate| candidate.fault) {
                None => {
                    let reason = "it begins with the byte order mark, and is well-formed";
                    return Answer::new(marked, Confidence::Certain, reason);
                }
                // A fault in the sample: it may be something else.
                Some(_) if marked == Encoding::Utf8 || first_fault(marked, sample).is_some() => {}
                Some(fault) => {
                    let reason = format!("it begins with the byte order mark, but is not well-formed ({fault})");
                    return Answer::new(marked, Confidence::Likely, reason);
                }
            }
        }
        if let Some(found) = self.units(not_utf8, is_all) {
            return found;
        }
        let controls = sample.iter().filter(|&&byte| is_odd_control(byte)).count();
        // Well-formed text may have a larger share of them.
        let share = if not_utf8.is_none() { 5 } else { 50 };
        let fits = self.candidates.iter().find(|candidate| candidate.fault.is_none()).map(|it| it.encoding);
        if controls * share > sample.len() && (not_utf8.is_none() || fits.is_none()) {
            let reason = format!("{controls} of the first {} bytes are control characters", sample.len());
            return Answer { encoding: None, name: None, confidence: Confidence::Likely, reason };
        }
        match (not_utf8, fits) {
            (None, _) => self.utf8(),
            (Some(fault), Some(encoding)) => {
                Answer::new(encoding, Confidence::Likely, format!("it is well-formed, and not UTF-8 ({fault})"))
            }
            (Some(fault), None) => self.bytes(fault, is_all),
        }
    }

    /// Well-formed UTF-8.
    fn utf8(&self) -> Answer {
        let hint = if self.beyond_ascii { None } else { of_ascii(&self.sample) };
        if let Some((name, reason)) = hint {
            let encoding = Encoding::named(name).ok();
            return Answer { encoding, name: Some(name), confidence: Confidence::Likely, reason };
        }
        let mut reason = String::from(match (self.read, self.beyond_ascii) {
            (0, _) => "it is empty",
            (_, true) => "it is well-formed",
            (_, false) => "it is well-formed; every byte is ASCII",
        });
        let doubled = repair(&self.sample).repaired.iter().filter(|line| line.layers > 0).count();
        if doubled > 0 {
            reason += &format!("; lines that were decoded wrongly and encoded again: {doubled} (see `utfuzz repair`)");
        }
        Answer::new(Encoding::Utf8, Confidence::Certain, reason)
    }

    /// UTF-16 or UTF-32 without a byte order mark.
    fn units(&self, not_utf8: Option<Fault>, is_all: bool) -> Option<Answer> {
        let may_be_units_of = |size| !is_all || self.read.is_multiple_of(size);
        let whole = |size| &self.sample[..self.sample.len() / size * size];
        for (encoding, order) in [(Encoding::Utf32Le, Order::Little), (Encoding::Utf32Be, Order::Big)] {
            let units = whole(4).as_chunks().0;
            let zeros = units.iter().filter(|&&unit| order.unit_32(unit) >> 16 == 0).count();
            if zeros * 2 > units.len() && may_be_units_of(4) && first_fault(encoding, whole(4)).is_none() {
                let reason = format!("{zeros} of the first {} units of four bytes have two zeros", units.len());
                return Some(Answer::new(encoding, Confidence::Likely, reason));
            }
        }
        let units = whole(2).as_chunks().0;
        let likely = |order: Order| units.iter().filter(|&&unit| is_likely(order.unit_16(unit))).count();
        let (little, big) = (likely(Order::Little), likely(Order::Big));
        let (encoding, order, most, least) = match little >= big {
            true => (Encoding::Utf16Le, Order::Little, little, big),
            false => (Encoding::Utf16Be, Order::Big, big, little),
        };
        // If it is UTF-8 at the same time, more evidence is needed.
        let share = if not_utf8.is_none() { 2 } else { 50 };
        let controls =
            units.iter().filter(|&&unit| u8::try_from(order.unit_16(unit)).is_ok_and(is_odd_control)).count();
        let believed =
            most * share > units.len() && most > 2 * least && controls * share <= units.len() && may_be_units_of(2);
        (believed && first_fault(encoding, whole(2)).is_none()).then(|| {
            let reason = format!("{most} of the first {} units of two bytes are common characters", units.len());
            let confidence = if most * 4 > units.len() { Confidence::Likely } else { Confidence::Guess };
            Answer::new(encoding, confidence, reason)
        })
    }

    /// UTF-8 with errors, or an encoding that looks like none of the others.
    fn bytes(&self, fault: Fault, is_all: bool) -> Answer {
        let (mut whole, mut broken) = (0, 0);
        for character in codec::chars(&self.sample) {
            match character {
                Ok(scalar) => whole += usize::from(!scalar.is_ascii()),
                Err(_) => broken += 1,
            }
        }
        if whole > 4 * broken {
            let reason =
                format!("{whole} characters of two and more bytes are well-formed, and {broken} are not ({fault})");
            return Answer::new(Encoding::Utf8, Confidence::Likely, reason);
        }
        let c1 = self.sample.iter().filter(|&&byte| (0x80..0xA0).contains(&byte)).count();
        let unassigned = self.sample.iter().filter(|&&byte| WINDOWS_1252_STRICT.code_point(byte).is_none()).count();
        let (encoding, because) = match (c1, unassigned) {
            (0, _) => (Encoding::Latin1, "it has none of the bytes 80..9F, in which Windows-1252 differs"),
            (_, 0) => (Encoding::Windows1252, "of the bytes 80..9F it has only those that Windows-1252 assigns"),
            _ => (Encoding::Latin1, "it has bytes that Windows-1252 does not assign"),
        };
        // Whether more follows a full sample is not known if it was enough for a decision.
        let is_all = is_all && self.sample.len() < SAMPLE;
        match by_frequencies(&self.sample, is_all) {
            Some((found, confidence, why)) => {
                // If chardetng says Windows-1252, the choice above decides.
                let encoding = if found == Encoding::Windows1252 { encoding } else { found };
                Answer::new(encoding, confidence, format!("it is not UTF-8 ({fault}); {why}"))
            }
            None => Answer::new(encoding, Confidence::Guess, format!("it is not UTF-8 ({fault}); {because}")),
        }
    }
}

impl Default for Detector {
    fn default() -> Self {
        Self::new()
    }
}

/// The first fault in the start of a text, which may end anywhere.
fn first_fault(encoding: Encoding, sample: &[u8]) -> Option<Fault> {
    let mut converter = Converter::new(encoding, Encoding::Rfc2279, Options::STRICT).ok()?;
    converter.push(sample, &mut Vec::new()).err()
}

/// Characters that most texts have some of: letters and signs up to U+017F, white space, kana, and the stops of East
/// Asia.
fn is_likely(unit: u16) -> bool {
    matches!(unit, 0x09 | 0x0A | 0x0D | 0x20..=0x7E | 0xA0..=0x17F | 0x3000..=0x3002 | 0x3041..=0x30FE | 0xFF0C)
}

/// Control characters that do not occur in text.
fn is_odd_control(byte: u8) -> bool {
    matches!(byte, 0..=0x08 | 0x0B | 0x0E..=0x1A | 0x1C..=0x1F | 0x7F)
}

/// The most probable encoding, how sure that is, and why. It is likely if each half of the text has the same answer.
#[cfg(feature = "charsets")]
fn by_frequencies(text: &[u8], is_all: bool) -> Option<(Encoding, Confidence, String)> {
    /// The number of bytes beyond ASCII that each half needs.
    const ENOUGH: usize = 8;
    let beyond_ascii = |bytes: &[u8]| bytes.iter().filter(|byte| !byte.is_ascii()).count();
    let encoding = guess(text, is_all)?;
    let (first, second) = text.split_at(text.len() / 2);
    // The cut may be inside a character.
    let starts = [second, second.get(1..).unwrap_or_default()];
    let agree = [first, second].map(beyond_ascii).iter().all(|&count| count >= ENOUGH)
        && guess(first, false) == Some(encoding)
        && starts.iter().any(|half| guess(half, is_all) == Some(encoding));
    let (confidence, share) = match agree {
        true => (Confidence::Likely, "in each half of the text"),
        false => (Confidence::Guess, "but not in each half of the text"),
    };
    Some((encoding, confidence, format!("its characters follow each other as in {encoding}, {share}")))
}

#[cfg(not(feature = "charsets"))]
fn by_frequencies(_: &[u8], _: bool) -> Option<(Encoding, Confidence, String)> {
    None
}

#[cfg(feature = "charsets")]
fn guess(text: &[u8], is_all: bool) -> Option<Encoding> {
    use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(text, is_all);
    match Encoding::named(detector.guess(None, Utf8Detection::Deny).name()).ok()? {
        // They differ in these bytes, and chardetng does not tell them apart.
        Encoding::Koi8U if !text.iter().any(|byte| b"\xA4\xA6\xA7\xAD\xB4\xB6\xB7\xBD".contains(byte)) => {
            Some(Encoding::Koi8R)
        }
        encoding => Some(encoding),
    }
}

/// The encoding whose shift sequences are in ASCII text, and why, if there are any and all of them are well-formed; of
/// escape sequences, only the first is examined.
fn of_ascii(text: &[u8]) -> Option<(&'static str, String)> {
    escapes(text).or_else(|| hz(text)).or_else(|| utf_7(text))
}

/// The designations of ISO 2022 (ECMA-35), of which each of these encodings has some.
const DESIGNATIONS: [(&[u8], &str); 7] = [
    (b"\x1B$B", "ISO-2022-JP"),
    (b"\x1B$@", "ISO-2022-JP"),
    (b"\x1B(J", "ISO-2022-JP"),
    (b"\x1B(I", "ISO-2022-JP"),
    (b"\x1B$(D", "ISO-2022-JP"),
    (b"\x1B$)C", "ISO-2022-KR"),
    (b"\x1B$)A", "ISO-2022-CN"),
];

fn escapes(text: &[u8]) -> Option<(&'static str, String)> {
    let at = text.iter().position(|&byte| byte == 0x1B)?;
    let (escape, name) = DESIGNATIONS.iter().find(|(escape, _)| text[at..].starts_with(escape))?;
    let shown = escape[1..].escape_ascii();
    Some((name, format!("every byte is ASCII, and ESC {shown} at byte {at} selects a character set")))
}

/// HZ (RFC 1843): pairs of bytes between `~{` and `~}`, on one line.
fn hz(text: &[u8]) -> Option<(&'static str, String)> {
    let mut shifts = 0;
    for line in text.split(|&byte| byte == b'\n') {
        let mut rest = line;
        while let Some(at) = find(rest, b"~{") {
            let pairs = &rest[at + 2..];
            let end = find(pairs, b"~}")?;
            let all = pairs[..end].iter().all(|byte| (0x21..=0x77).contains(byte));
            if end == 0 || end % 2 == 1 || !all {
                return None;
            }
            shifts += 1;
            rest = &pairs[end + 2..];
        }
    }
    (shifts > 0).then(|| ("HZ-GB-2312", format!("every byte is ASCII, with {shifts} pairs of ~{{ and ~}}")))
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

/// UTF-7 (RFC 2152): UTF-16 in base64 between `+` and `-`.
fn utf_7(text: &[u8]) -> Option<(&'static str, String)> {
    let mut shifts = 0;
    let mut rest = text;
    while let Some(at) = rest.iter().position(|&byte| byte == b'+') {
        let digits = &rest[at + 1..];
        let len = digits.iter().take_while(|&&byte| sextet(byte).is_some()).count();
        let ends = digits.get(len) == Some(&b'-');
        rest = &digits[len..];
        if len == 0 && ends {
            // A plus sign.
            continue;
        }
        // The text may have been cut here.
        if rest.is_empty() {
            break;
        }
        if !is_letters(&digits[..len]) {
            return None;
        }
        shifts += 1;
    }
    (shifts > 0)
        .then(|| ("UTF-7", format!("every byte is ASCII, and each of {shifts} plus signs begins letters in base64")))
}

/// Whether these digits of base64 are well-formed UTF-16 without ASCII letters and without rare characters.
fn is_letters(digits: &[u8]) -> bool {
    let (mut bits, mut count, mut units) = (0u32, 0, Vec::new());
    for sextet in digits.iter().filter_map(|&digit| sextet(digit)) {
        bits = bits << 6 | sextet;
        count += 6;
        if count >= 16 {
            count -= 16;
            units.push((bits >> count) as u16);
            bits &= (1 << count) - 1;
        }
    }
    let is_common = |c: char| {
        c.is_alphabetic()
            || matches!(c, '\u{A0}'..='\u{BF}' | '\u{2010}'..='\u{2044}' | '€' | '\u{3000}'..='\u{303F}' | '\u{FF00}'..='\u{FF65}' | '\u{1F300}'..='\u{1FAFF}')
    };
    let text: Result<String, _> = char::decode_utf16(units).collect();
    bits == 0
        && count < 6
        && text.is_ok_and(|text| !text.is_empty() && text.chars().all(|c| is_common(c) && !c.is_ascii_alphanumeric()))
}

/// The value of a digit of base64.
fn sextet(digit: u8) -> Option<u32> {
    Some(u32::from(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The start may end inside a character or a unit, which is a fault only at the end of all the text.
    #[test]
    fn the_start_of_a_text_may_end_anywhere() {
        let text = "a é Grüße";
        let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let wide: Vec<u8> = text.chars().flat_map(|c| u32::from(c).to_be_bytes()).collect();
        for (bytes, encoding) in
            [(text.as_bytes(), Encoding::Utf8), (&units, Encoding::Utf16Le), (&wide, Encoding::Utf32Be)]
        {
            for end in 1..=bytes.len() {
                let mut detector = Detector::new();
                detector.push(&bytes[..end]);
                let (start, all) = (detector.clone().finish_start(), detector.finish());
                if end > bytes.len() / 2 {
                    assert_eq!(start.encoding, Some(encoding), "{end}: {}", start.reason);
                }
                let is_whole = std::str::from_utf8(&bytes[..end]).is_ok();
                assert!(encoding != Encoding::Utf8 || is_whole == all.not_utf8.is_none() && start.not_utf8.is_none());
            }
        }
    }

    /// What is called well-formed was read to its end, in whatever pieces.
    #[test]
    fn a_byte_order_mark_vouches_for_no_fault_after_it() {
        let mut bytes = vec![0xFF, 0xFE];
        bytes.extend([b'a', 0].repeat(SAMPLE));
        let reasons = |bytes: &[u8]| {
            [1, 3, 4, 0x1_0000, usize::MAX].map(|piece| {
                let mut detector = Detector::new();
                for chunk in bytes.chunks(piece) {
                    if !detector.is_decided() {
                        detector.push(chunk);
                    }
                }
                let found = detector.finish();
                assert_eq!(found.encoding, Some(Encoding::Utf16Le));
                (found.confidence, found.reason.contains("but is not well-formed"))
            })
        };
        assert_eq!(reasons(&bytes), [(Confidence::Certain, false); 5]);
        // Faults after the sample, in it, and at the end of the text.
        for end in [&b"a"[..], b"\0\xD8", b"\0\xD8a\0", b"\0\xD8a\0a"] {
            assert_eq!(reasons(&[&bytes, end].concat()), [(Confidence::Likely, true); 5], "{end:?}");
            assert_eq!(
                reasons(&[&[0xFF, 0xFE, b'a', 0][..], &end[..end.len().min(2)]].concat()),
                [(Confidence::Likely, true); 5]
            );
        }
        assert_eq!(reasons(&[0xFF, 0xFE]), [(Confidence::Certain, false); 5]);
        assert_eq!(reasons(&[0xFF, 0xFE, b'a', 0]), [(Confidence::Certain, false); 5]);
        // With a fault in the sample, it may be something else.
        let text = [b'a', 0].repeat(9);
        for bytes in [&[b"\xFF\xFE\0\xD8", &text[..], &text].concat()[..], b"\xEF\xBB\xBFcaf\xE9"] {
            let mut detector = Detector::new();
            detector.push(bytes);
            let found = detector.finish();
            assert!(found.byte_order_mark && !found.reason.contains("it begins with"), "{}", found.reason);
        }
        assert_eq!(reasons(&[0xFF, 0xFE, b'a']), [(Confidence::Likely, true); 5]);
    }

    #[test]
    fn shift_sequences_give_an_encoding_away() {
        let rows: [(&[u8], Option<&str>); 18] = [
            (b"\x1B$B$\"\x1B(B", Some("ISO-2022-JP")),
            (b"a \x1B(J\\\x1B(B", Some("ISO-2022-JP")),
            (b"\x1B$)C\x0E!!\x0F", Some("ISO-2022-KR")),
            (b"\x1B[31mred\x1B[0m", None),
            (b"a~{VPND~}b", Some("HZ-GB-2312")),
            (b"a~{VPN~}b", None),
            (b"~{VPND", None),
            (b"~/{x}", None),
            (b"caf+AOk-", Some("UTF-7")),
            (b"1 +- 1, caf+AOk.", Some("UTF-7")),
            (b"+2D3eAA-", Some("UTF-7")),
            (b"+2D0-", None),
            (b"1+1=2", None),
            (b"C++ and a+b", None),
            (b"foo+barbaz-", None),
            (b"+49 30 123", None),
            (b"+-", None),
            (b"", None),
        ];
        for (text, name) in rows {
            assert_eq!(of_ascii(text).map(|(name, _)| name), name, "{}", text.escape_ascii());
        }
    }
}
