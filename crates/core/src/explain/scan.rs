//! Reads an input of any length in bounded memory: counts its errors, keeps the part worth showing, and guesses what
//! happened to it: how the bytes came to be as they are, and how to repair them.

use crate::codec;
use crate::codec::convert::{Detector, Encoding, repair};
use crate::spec::grammar::{Form, RFC3629};
use crate::spec::policy::{Charset, Segmentation};
use crate::spec::{Contract, Reading, Segments, segments};
use crate::text::{counted, quoted};
use crate::utf8::Kind;
use std::io::{self, Read};

/// The part of an input that is worth showing, and what the whole input is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The bytes: all of a short input; of a long one, those around its first ill-formed segment, or around the first
    /// byte that is not ASCII if there is none.
    pub bytes: Vec<u8>,
    /// The offset of the first of them.
    pub start: u64,
    /// How many bytes the input has.
    pub total: u64,
    /// How many ill-formed segments the input has.
    pub faults: u64,
    /// The offset of the first, and its line, counted from 1.
    pub first: Option<(u64, u64)>,
}

/// How many bytes are kept before and after the place that is shown.
const AROUND: usize = 32_768;
/// How many bytes are read at a time.
const CHUNK: usize = 65_536;
/// More than any sequence takes.
const UNDECIDED: usize = 16;

impl Window {
    /// Reads all of an input.
    ///
    /// # Errors
    /// Those of the reader.
    pub fn read(contract: &Contract, mut input: impl Read) -> io::Result<Self> {
        let mut scan = Scan::new(contract);
        let mut chunk = vec![0; CHUNK];
        loop {
            match input.read(&mut chunk) {
                Ok(0) => return Ok(scan.finish()),
                Ok(len) => scan.push(&chunk[..len]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Whether this is all of the input.
    pub fn is_whole(&self) -> bool {
        self.bytes.len() as u64 == self.total
    }
}

struct Scan<'c> {
    contract: &'c Contract,
    takes_ascii: bool,
    /// The last bytes that were received, whose meaning depends on what follows.
    pending: Vec<u8>,
    /// The form of the sequence before them, if they may depend on it.
    previous: Option<Form>,
    /// Whether they begin in a run of ill-formed bytes that is counted already.
    is_counted: bool,
    total: u64,
    faults: u64,
    first: Option<(u64, u64)>,
    line_feeds: u64,
    /// The end of what was read.
    recent: Vec<u8>,
    head: Kept,
    beyond_ascii: Option<Kept>,
    fault: Option<Kept>,
}

/// Bytes around a place.
struct Kept {
    bytes: Vec<u8>,
    start: u64,
    /// They are kept up to this offset.
    end: u64,
}

impl Kept {
    /// Starts with what was read last, which ends at `total`.
    fn around(place: u64, recent: &[u8], total: u64) -> Self {
        let first = total - recent.len() as u64;
        let start = place.saturating_sub(AROUND as u64).max(first);
        let mut kept = Self { bytes: Vec::new(), start, end: place + AROUND as u64 };
        kept.extend(&recent[(start - first) as usize..]);
        kept
    }

    fn extend(&mut self, bytes: &[u8]) {
        let room = self.end.saturating_sub(self.start + self.bytes.len() as u64);
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room as usize)]);
    }
}

impl<'c> Scan<'c> {
    fn new(contract: &'c Contract) -> Self {
        let takes_ascii = segments(contract, b"\0").all(|segment| matches!(segment.reading, Reading::WellFormed(_)));
        let head = Kept { bytes: Vec::new(), start: 0, end: 2 * AROUND as u64 };
        Self {
            contract,
            takes_ascii,
            pending: Vec::new(),
            previous: None,
            is_counted: false,
            total: 0,
            faults: 0,
            first: None,
            line_feeds: 0,
            recent: Vec::new(),
            head,
            beyond_ascii: None,
            fault: None,
        }
    }

    fn push(&mut self, chunk: &[u8]) {
        let before = self.total;
        self.total += chunk.len() as u64;
        self.recent.extend_from_slice(chunk);
        for kept in [Some(&mut self.head), self.beyond_ascii.as_mut(), self.fault.as_mut()].into_iter().flatten() {
            kept.extend(chunk);
        }
        if self.beyond_ascii.is_none()
            && let Some(index) = chunk.iter().position(|byte| !byte.is_ascii())
        {
            self.beyond_ascii = Some(Kept::around(before + index as u64, &self.recent, self.total));
        }
        self.pending.extend_from_slice(chunk);
        self.read(false);
        let excess = self.recent.len().saturating_sub(AROUND + UNDECIDED);
        self.recent.drain(..excess);
    }

    /// Reads what is pending, except for what may continue.
    fn read(&mut self, is_end: bool) {
        let bytes = std::mem::take(&mut self.pending);
        let base = self.total - bytes.len() as u64;
        let is_utf8 = *self.contract.grammar == RFC3629 && codec::validate(&bytes).is_ok();
        if is_utf8 || self.takes_ascii && bytes.is_ascii() {
            self.count_lines(&bytes);
            self.previous = None;
            return;
        }
        let decided = if is_end { bytes.len() } else { bytes.len().saturating_sub(UNDECIDED) };
        let mut read = 0;
        for segment in Segments::resume(self.contract, &bytes, 0, self.previous) {
            let is_fault = matches!(segment.reading, Reading::IllFormed { .. });
            // Of a run of ill-formed bytes only the end is undecided. It may be long, and is not kept.
            let is_open = is_fault
                && self.contract.segmentation == Segmentation::Run
                && (segment.start + 1..segment.range().end).contains(&decided);
            if segment.range().end > decided && !is_open {
                break;
            }
            if is_fault && !std::mem::take(&mut self.is_counted) {
                self.faults += 1;
                if self.first.is_none() {
                    self.count_lines(&bytes[..segment.start]);
                    let offset = base + segment.start as u64;
                    self.first = Some((offset, self.line_feeds + 1));
                    self.fault = Some(Kept::around(offset, &self.recent, self.total));
                }
            }
            let is_lead = matches!(segment.reading, Reading::WellFormed(0xD800..=0xDBFF));
            self.previous = is_lead.then_some(Form::LeadSurrogate);
            read = segment.range().end;
            if is_open {
                (read, self.is_counted) = (decided, true);
                break;
            }
        }
        self.count_lines(&bytes[..read]);
        self.pending = bytes[read..].to_vec();
    }

    fn count_lines(&mut self, bytes: &[u8]) {
        if self.first.is_none() {
            self.line_feeds += bytes.iter().filter(|&&byte| byte == b'\n').count() as u64;
        }
    }

    fn finish(mut self) -> Window {
        self.read(true);
        let is_whole = self.total <= self.head.end;
        let Kept { mut bytes, mut start, .. } = match is_whole {
            true => self.head,
            false => self.fault.or(self.beyond_ascii).unwrap_or(self.head),
        };
        // A character may be cut off at the start.
        let cut = if start == 0 { 0 } else { bytes.iter().take(5).take_while(|&&byte| byte & 0xC0 == 0x80).count() };
        bytes.drain(..cut);
        start += cut as u64;
        Window { bytes, start, total: self.total, faults: self.faults, first: self.first }
    }
}

/// What probably happened to an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess {
    /// A name for programs: `double-encoding`, `single-byte`, `encoding`, `cut` or `replaced`.
    pub name: &'static str,
    /// One sentence.
    pub says: String,
    /// The arguments of the command that repairs a file, without its name.
    pub repair: Option<String>,
}

impl Guess {
    fn new(name: &'static str, says: impl Into<String>, repair: Option<String>) -> Self {
        Self { name, says: says.into(), repair }
    }

    /// What probably happened, the most helpful guess first.
    pub fn all(contract: &Contract, window: &Window) -> Vec<Self> {
        let valid = core::str::from_utf8(&window.bytes);
        let cut = cut(contract, window);
        // A single error that a cut explains needs no other explanation.
        let other = if cut.is_some() && window.faults == 1 { None } else { other_encoding(window) };
        let guesses = [valid.ok().and_then(double_encoding), other, cut, valid.ok().and_then(replaced)];
        guesses.into_iter().flatten().collect()
    }
}

/// UTF-8 that was read as Windows-1252 or Latin-1 and encoded again, in at least one line.
fn double_encoding(text: &str) -> Option<Guess> {
    let repairs = repair(text.as_bytes());
    let first = repairs.repaired.first()?;
    let layers = repairs.repaired.iter().map(|line| line.layers).max()?;
    let again = if layers == 1 { "again".to_owned() } else { format!("again, {layers} times") };
    let was = quoted(&first.after, QUOTED);
    let says = format!("UTF-8 that was read as Windows-1252 or Latin-1 and encoded {again}; it was {was}");
    Some(Guess::new("double-encoding", says, Some("repair --apply -o -".to_owned())))
}

/// The maximum number of characters that are quoted.
const QUOTED: usize = 40;

/// Text in another encoding.
fn other_encoding(window: &Window) -> Option<Guess> {
    let mut detector = Detector::new();
    detector.push(&window.bytes);
    let found = detector.finish();
    let encoding = found.encoding?;
    let repair = || Some(format!("convert -f {} -t utf-8", encoding.name().to_lowercase()));
    if encoding.is_single_byte() {
        // Any bytes are text in these encodings, so only what looks like words counts.
        let letters = window.bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
        let high = window.bytes.iter().filter(|byte| !byte.is_ascii()).count();
        let decoded: Vec<char> = window
            .bytes
            .iter()
            .filter_map(|&byte| char::from_u32(Charset::Windows1252.decode(byte).unwrap_or(0xFFFD)))
            .collect();
        let looks_like_words =
            letters >= 2 && high <= letters && !decoded.iter().any(|c| matches!(c, '\u{80}'..='\u{9F}'));
        return looks_like_words.then(|| {
            let text: String = decoded.into_iter().collect();
            let says = format!("{} text that was read as UTF-8: {}", encoding.name(), quoted(&text, QUOTED));
            Guess::new("single-byte", says, repair())
        });
    }
    let is_utf8 = encoding == Encoding::Utf8 || window.bytes.is_empty();
    (!is_utf8).then(|| Guess::new("encoding", format!("{}: {}", encoding.name(), found.reason), repair()))
}

/// A sequence that ends too soon where a buffer may have ended.
fn cut(contract: &Contract, window: &Window) -> Option<Guess> {
    /// The sizes of buffers are multiples of this.
    const UNIT: u64 = 512;
    let truncated = segments(contract, &window.bytes).find_map(|segment| {
        let is_short = matches!(segment.reading, Reading::IllFormed { kind: Kind::Incomplete | Kind::TooShort, .. });
        let end = window.start + segment.range().end as u64;
        (is_short && end.is_multiple_of(UNIT)).then_some(end)
    });
    if let Some(end) = truncated {
        let what = if end == window.total { "the input ends inside a character" } else { "a character is cut off" };
        let says = format!("{what} at byte {end}, a multiple of {UNIT}: text was cut at the size of a buffer");
        return Some(Guess::new("cut", says, None));
    }
    let is_cut = segments(contract, &window.bytes).any(|segment| segment.is_incomplete());
    let is_end = window.start + window.bytes.len() as u64 == window.total;
    (is_cut && is_end)
        .then(|| Guess::new("cut", "the input ends inside a character: it was cut, or more follows", None))
}

/// Characters that a decoder has already replaced.
fn replaced(text: &str) -> Option<Guess> {
    let count = text.matches('\u{FFFD}').count();
    let says = || {
        let times = counted(count, "time");
        format!("U+FFFD, {times}: a decoder replaced what it could not read; the original bytes are lost")
    };
    (count > 0).then(|| Guess::new("replaced", says(), None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::grammar::ALL;
    use crate::spec::validity;
    use crate::utf8::Validity;

    fn of(contract: &Contract, bytes: &[u8]) -> Window {
        Window::read(contract, bytes).unwrap()
    }

    /// However the input is cut into chunks, and in every grammar.
    #[test]
    fn every_error_is_counted_once() {
        let text = [&"é€😀\n".repeat(5)[..], "x"].concat();
        let bytes =
            [text.as_bytes(), b"\xC0\xAF\xED\xA0\xBD\n\xED\xB8\x80\x00\xF4\x90\x80\x80", text.as_bytes(), b"\xE2\x82"]
                .concat();
        for grammar in ALL {
            let contract = Contract { grammar, ..Contract::STANDARD };
            let is_fault = |segment: &crate::spec::Segment| matches!(segment.reading, Reading::IllFormed { .. });
            let faults: Vec<_> = segments(&contract, &bytes).filter(is_fault).collect();
            let line = bytes[..faults[0].start].iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
            for size in [1, 2, 3, 7, 20, 100] {
                let mut scan = Scan::new(&contract);
                bytes.chunks(size).for_each(|chunk| scan.push(chunk));
                let window = scan.finish();
                assert_eq!(window.faults, faults.len() as u64, "{} {size}", grammar.name);
                assert_eq!(window.first, Some((faults[0].start as u64, line)), "{} {size}", grammar.name);
                assert!(window.is_whole() && window.bytes == bytes);
            }
        }
    }

    #[test]
    fn a_long_input_is_shown_where_it_is_wrong() {
        let contract = Contract::STANDARD;
        let long = vec![b'a'; 300_000];
        let window = of(&contract, &long);
        assert_eq!((window.start, window.total, window.faults, window.bytes.len()), (0, 300_000, 0, 2 * AROUND));
        let text = [&long[..], "é".as_bytes(), &long].concat();
        let window = of(&contract, &text);
        assert_eq!((window.start, window.faults, window.first), (300_000 - AROUND as u64, 0, None));
        assert_eq!(window.bytes.len(), 2 * AROUND);
        let wrong = [&text[..], b"\n\xFF", &text].concat();
        let window = of(&contract, &wrong);
        let at = text.len() as u64 + 1;
        assert_eq!((window.faults, window.first), (1, Some((at, 2))));
        assert!(!window.is_whole() && window.bytes[(at - window.start) as usize] == 0xFF);
        // A window may begin inside a character, of which nothing is then shown.
        let text = "é€😀".repeat(40_000);
        for more in 0..9 {
            let bytes = [&text.as_bytes()[..text.len() - 9], &b"aaaaaaaaa"[..more], b"\xFF"].concat();
            let window = of(&contract, &bytes);
            let at = (bytes.len() as u64 - 1 - window.start) as usize;
            assert_eq!(validity(&contract, &window.bytes[..at]), Validity::Valid, "{more}");
        }
    }

    fn guesses(bytes: &[u8]) -> Vec<Guess> {
        let contract = Contract::STANDARD;
        Guess::all(&contract, &Window::read(&contract, bytes).unwrap())
    }

    fn names(bytes: &[u8]) -> Vec<&'static str> {
        guesses(bytes).iter().map(|guess| guess.name).collect()
    }

    fn misread(text: &str, charset: Charset) -> String {
        text.bytes().filter_map(|byte| char::from_u32(charset.decode(byte)?)).collect()
    }

    #[test]
    fn double_encoding_is_recognised_and_undone() {
        for text in ["Grüße", "naïve café – 5 €", "日本語", "😀"] {
            for charset in [Charset::Windows1252, Charset::Latin1] {
                let once = misread(text, charset);
                let twice = misread(&once, charset);
                for (broken, times) in [(&once, "encoded again;"), (&twice, "encoded again, 2 times;")] {
                    let found = &guesses(broken.as_bytes())[0];
                    assert_eq!(found.name, "double-encoding", "{broken}");
                    assert!(found.says.contains(times) && found.says.contains(text), "{broken}: {}", found.says);
                }
            }
        }
        assert_eq!(guesses("GrÃ¼ÃŸe".as_bytes())[0].repair.as_deref(), Some("repair --apply -o -"));
        // Good text, and a line of which only a part is double-encoded.
        for text in ["", "plain", "Grüße", "Ã", "Ärger – Œuvre", "日本語", "Ã© und ü"] {
            assert!(names(text.as_bytes()).is_empty(), "{text}: {:?}", guesses(text.as_bytes()));
        }
    }

    #[test]
    fn other_encodings_are_recognised() {
        let latin = &guesses(b"Stra\xDFe nach Gr\xFCnau")[0];
        assert_eq!(latin.name, "single-byte");
        assert!(latin.says.contains("\"Straße nach Grünau\""), "{}", latin.says);
        let utf16: Vec<u8> = "Grüße aus Wien".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(guesses(&utf16)[0].repair.as_deref(), Some("convert -f utf-16le -t utf-8"));
        let cesu = &guesses(b"a\xED\xA0\xBD\xED\xB8\x80")[0];
        assert!(cesu.says.starts_with("CESU-8") && cesu.repair.is_some(), "{cesu:?}");
        // With legacy encodings, C0 AF FF are letters of one; text with a control character is of none.
        #[cfg(not(feature = "charsets"))]
        assert!(names(b"\xC0\xAF\xFF").is_empty(), "{:?}", guesses(b"\xC0\xAF\xFF"));
        assert!(names(b"\xC0\xAF\xFF\x01").is_empty(), "{:?}", guesses(b"\xC0\xAF\xFF\x01"));
    }

    #[test]
    fn a_cut_at_the_size_of_a_buffer_is_recognised() {
        let cut = |len: usize, rest: &[u8]| {
            let bytes = [&vec![b'a'; len][..], b"\xE2\x82", rest].concat();
            guesses(&bytes).into_iter().find(|guess| guess.name == "cut").map(|guess| guess.says)
        };
        assert_eq!(names(&[&b"words "[..], b"\xE2\x82"].concat()), ["cut"]);
        assert!(cut(510, b"").unwrap().starts_with("the input ends inside a character at byte 512, a multiple of 512"));
        assert!(cut(4094, b"\n more").unwrap().starts_with("a character is cut off at byte 4096"));
        assert!(cut(100, b"").unwrap().ends_with("it was cut, or more follows"));
        assert_eq!(cut(100, b"\n more"), None);
        assert_eq!(names("a\u{FFFD}b".as_bytes()), ["replaced"]);
    }
}
