//! The encoding of some bytes: known if they are well-formed UTF-8 or begin with a byte order mark, and else the likeliest,
//! with the reason.

use crate::codec;
use crate::codec::convert::confidence::Confidence;
use crate::codec::convert::converter::Converter;
use crate::codec::convert::encoding::{Encoding, Order};
use crate::codec::convert::fault::{Fault, Options};
use crate::codec::convert::frequencies;
use crate::codec::convert::hints;
use crate::codec::convert::single_byte::WINDOWS_1252_STRICT;

/// The encoding of some bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Detection {
    /// The encoding, if it is one that can be converted; `None` too if the bytes are not text.
    pub encoding: Option<Encoding>,
    /// The name of the encoding, also of one that cannot be converted; `None` if the bytes are not text.
    pub name: Option<&'static str>,
    /// How sure the answer is.
    pub confidence: Confidence,
    /// Why.
    pub reason: String,
    /// How many bytes there were.
    pub read: u64,
    /// Whether all of them are ASCII.
    pub is_ascii: bool,
    /// Whether they begin with a byte order mark.
    pub byte_order_mark: bool,
    /// Where they first are ill-formed in UTF-8.
    pub not_utf8: Option<Fault>,
}

impl Detection {
    /// Whether the bytes are text of one byte or more for each character, in an encoding that is not known.
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

/// Bytes that are examined more closely.
const SAMPLE: usize = 256 << 10;

/// UTF-8 and encodings that could be taken for it; the first that fits is chosen.
const CANDIDATES: [Encoding; 5] =
    [Encoding::Utf8, Encoding::Cesu8, Encoding::ModifiedUtf8, Encoding::Wtf8, Encoding::Rfc2279];

impl Detector {
    /// A detector at the start of its input.
    pub fn new() -> Self {
        let candidate = |encoding| {
            let converter = Converter::new(encoding, Encoding::Rfc2279, Options::STRICT).ok()?;
            Some(Candidate { encoding, converter, fault: None })
        };
        let candidates = CANDIDATES.into_iter().filter_map(candidate).collect();
        Self { candidates, sample: Vec::new(), beyond_ascii: false, read: 0, out: Vec::new() }
    }

    /// Examines a chunk.
    pub fn push(&mut self, chunk: &[u8]) {
        self.read += chunk.len() as u64;
        self.beyond_ascii |= !chunk.is_ascii();
        let room = SAMPLE - self.sample.len();
        self.sample.extend_from_slice(&chunk[..room.min(chunk.len())]);
        for candidate in self.candidates.iter_mut().filter(|candidate| candidate.fault.is_none()) {
            self.out.clear();
            candidate.fault = candidate.converter.push(chunk, &mut self.out).err();
        }
    }

    /// Whether more bytes will not change the answer.
    pub fn is_decided(&self) -> bool {
        self.sample.len() == SAMPLE && self.candidates.iter().all(|candidate| candidate.fault.is_some())
    }

    /// The encoding of the bytes.
    pub fn finish(mut self) -> Detection {
        for candidate in self.candidates.iter_mut().filter(|candidate| candidate.fault.is_none()) {
            candidate.fault = candidate.converter.finish(&mut self.out).err();
        }
        let not_utf8 = self.candidates.first().and_then(|candidate| candidate.fault);
        let Answer { encoding, name, confidence, reason } = self.judge(not_utf8);
        let byte_order_mark = Encoding::of_byte_order_mark(&self.sample).is_some();
        let (read, is_ascii) = (self.read, !self.beyond_ascii);
        Detection { encoding, name, confidence, reason, read, is_ascii, byte_order_mark, not_utf8 }
    }

    fn judge(&self, not_utf8: Option<Fault>) -> Answer {
        let sample = &self.sample[..];
        if let Some(marked) = Encoding::of_byte_order_mark(sample) {
            let wrong = if marked == Encoding::Utf8 { not_utf8 } else { first_fault(marked, sample) };
            if wrong.is_none() {
                let reason = "it begins with the byte order mark, and is well-formed";
                return Answer::new(marked, Confidence::Certain, reason);
            }
        }
        if let Some(found) = self.units(not_utf8) {
            return found;
        }
        let controls = sample.iter().filter(|&&byte| is_odd_control(byte)).count();
        // Well-formed text may hold more of them.
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
            (Some(fault), None) => self.bytes(fault),
        }
    }

    /// Well-formed UTF-8.
    fn utf8(&self) -> Answer {
        let hint = if self.beyond_ascii { None } else { hints::of_ascii(&self.sample) };
        if let Some((name, reason)) = hint {
            let encoding = Encoding::named(name).ok();
            return Answer { encoding, name: Some(name), confidence: Confidence::Likely, reason };
        }
        let reason = match (self.read, self.beyond_ascii) {
            (0, _) => "it is empty",
            (_, true) => "it is well-formed",
            (_, false) => "it is well-formed; every byte is ASCII",
        };
        Answer::new(Encoding::Utf8, Confidence::Certain, reason)
    }

    /// UTF-16 or UTF-32 without a byte order mark.
    fn units(&self, not_utf8: Option<Fault>) -> Option<Answer> {
        let whole = |size| &self.sample[..self.sample.len() / size * size];
        for (encoding, order) in [(Encoding::Utf32Le, Order::Little), (Encoding::Utf32Be, Order::Big)] {
            let units = whole(4).as_chunks().0;
            let zeros = units.iter().filter(|&&unit| order.unit_32(unit) >> 16 == 0).count();
            if zeros * 2 > units.len() && self.read.is_multiple_of(4) && first_fault(encoding, whole(4)).is_none() {
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
        let believed = most * share > units.len()
            && most > 2 * least
            && controls * share <= units.len()
            && self.read.is_multiple_of(2);
        (believed && first_fault(encoding, whole(2)).is_none()).then(|| {
            let reason = format!("{most} of the first {} units of two bytes are common characters", units.len());
            let confidence = if most * 4 > units.len() { Confidence::Likely } else { Confidence::Guess };
            Answer::new(encoding, confidence, reason)
        })
    }

    /// UTF-8 with errors, or an encoding that looks like none of the others.
    fn bytes(&self, fault: Fault) -> Answer {
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
        let is_all = self.sample.len() as u64 == self.read;
        match frequencies::judge(&self.sample, is_all) {
            Some((found, confidence, why)) => {
                // What is meant by Windows-1252 is decided here.
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
