//! The encoding of some bytes: known if they are well-formed UTF-8 or begin with a byte order mark, and else the likeliest,
//! with the reason.

use crate::codec;
use crate::codec::convert::converter::Converter;
use crate::codec::convert::encoding::{Encoding, Order, WINDOWS_1252_STRICT};
use crate::codec::convert::fault::{Fault, Options};

/// The encoding of some bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Detection {
    /// The encoding; `None` if the bytes are not text.
    pub encoding: Option<Encoding>,
    /// Why.
    pub reason: String,
    /// How many bytes there were.
    pub read: u64,
    /// Whether they begin with a byte order mark.
    pub byte_order_mark: bool,
    /// Where they first are ill-formed in UTF-8.
    pub not_utf8: Option<Fault>,
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
        let (encoding, reason) = self.judge(not_utf8);
        let byte_order_mark = Encoding::of_byte_order_mark(&self.sample).is_some();
        Detection { encoding, reason, read: self.read, byte_order_mark, not_utf8 }
    }

    fn judge(&self, not_utf8: Option<Fault>) -> (Option<Encoding>, String) {
        let sample = &self.sample[..];
        if let Some(marked) = Encoding::of_byte_order_mark(sample) {
            let wrong = if marked == Encoding::Utf8 { not_utf8 } else { first_fault(marked, sample) };
            if wrong.is_none() {
                return (Some(marked), "it begins with the byte order mark, and is well-formed".into());
            }
        }
        if let Some(found) = self.units(not_utf8) {
            return found;
        }
        let Some(fault) = not_utf8 else {
            let reason = match (self.read, self.beyond_ascii) {
                (0, _) => "it is empty",
                (_, true) => "it is well-formed",
                (_, false) => "it is well-formed; every byte is ASCII",
            };
            return (Some(Encoding::Utf8), reason.into());
        };
        let fits = self.candidates.iter().find(|candidate| candidate.fault.is_none());
        if let Some(Candidate { encoding, .. }) = fits {
            return (Some(*encoding), format!("it is well-formed, and not UTF-8 ({fault})"));
        }
        let controls = sample.iter().filter(|&&byte| is_odd_control(byte)).count();
        if controls * 50 > sample.len() {
            let reason = format!("{controls} of the first {} bytes are control characters", sample.len());
            return (None, reason);
        }
        self.single_bytes(fault)
    }

    /// UTF-16 or UTF-32 without a byte order mark.
    fn units(&self, not_utf8: Option<Fault>) -> Option<(Option<Encoding>, String)> {
        let whole = |size| &self.sample[..self.sample.len() / size * size];
        for (encoding, order) in [(Encoding::Utf32Le, Order::Little), (Encoding::Utf32Be, Order::Big)] {
            let units = whole(4).as_chunks().0;
            let zeros = units.iter().filter(|&&unit| order.unit_32(unit) >> 16 == 0).count();
            if zeros * 2 > units.len() && self.read.is_multiple_of(4) && first_fault(encoding, whole(4)).is_none() {
                let reason = format!("{zeros} of the first {} units of four bytes have two zeros", units.len());
                return Some((Some(encoding), reason));
            }
        }
        let units = whole(2).as_chunks().0;
        let likely = |order: Order| units.iter().filter(|&&unit| is_likely(order.unit_16(unit))).count();
        let (little, big) = (likely(Order::Little), likely(Order::Big));
        let (encoding, most, least) =
            if little >= big { (Encoding::Utf16Le, little, big) } else { (Encoding::Utf16Be, big, little) };
        // If it is UTF-8 at the same time, more evidence is needed.
        let share = if not_utf8.is_none() { 2 } else { 50 };
        let believed = most * share > units.len() && most > 2 * least && self.read.is_multiple_of(2);
        (believed && first_fault(encoding, whole(2)).is_none()).then(|| {
            let reason = format!("{most} of the first {} units of two bytes are likely characters", units.len());
            (Some(encoding), reason)
        })
    }

    /// One byte for each character, or UTF-8 with errors.
    fn single_bytes(&self, fault: Fault) -> (Option<Encoding>, String) {
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
            return (Some(Encoding::Utf8), reason);
        }
        let c1 = self.sample.iter().filter(|&&byte| (0x80..0xA0).contains(&byte)).count();
        let held = self.sample.iter().filter(|&&byte| WINDOWS_1252_STRICT.code_point(byte).is_none()).count();
        match (c1, held) {
            (0, _) => (
                Some(Encoding::Latin1),
                format!("it is not UTF-8 ({fault}), and has none of the bytes 80..9F, in which Windows-1252 differs"),
            ),
            (_, 0) => (
                Some(Encoding::Windows1252),
                format!("it is not UTF-8 ({fault}), and of the bytes 80..9F only those that Windows-1252 assigns"),
            ),
            _ => (
                Some(Encoding::Latin1),
                format!("it is not UTF-8 ({fault}), and has bytes that Windows-1252 does not assign"),
            ),
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

/// Characters that most texts have some of: letters and signs up to U+017F, white space, and the stops of East Asia.
fn is_likely(unit: u16) -> bool {
    matches!(unit, 0x09 | 0x0A | 0x0D | 0x20..=0x7E | 0xA0..=0x17F | 0x3000..=0x3002 | 0xFF0C)
}

/// Control characters that do not occur in text.
fn is_odd_control(byte: u8) -> bool {
    matches!(byte, 0..=0x08 | 0x0B | 0x0E..=0x1A | 0x1C..=0x1F | 0x7F)
}
