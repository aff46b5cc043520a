//! Reads an input of any length in bounded memory: counts its errors, and keeps the part worth showing.

use crate::codec;
use crate::spec::grammar::RFC3629;
use crate::spec::{Contract, Reading, segments};
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
const AROUND: usize = 32 << 10;
/// How many bytes are read at a time.
const CHUNK: usize = 64 << 10;
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
    /// The last bytes that were read. The first of them are known already, see `known`.
    pending: Vec<u8>,
    known: usize,
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
            known: 0,
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
            self.count_lines(&bytes[self.known..]);
            self.known = 0;
            return;
        }
        let decided = if is_end { bytes.len() } else { bytes.len().saturating_sub(UNDECIDED) };
        let (mut last, mut read) = (0, self.known);
        for segment in segments(self.contract, &bytes) {
            if segment.range().end > decided {
                break;
            }
            last = segment.start;
            if segment.start < self.known {
                continue;
            }
            if let Reading::IllFormed { .. } = segment.reading {
                self.faults += 1;
                if self.first.is_none() {
                    self.count_lines(&bytes[read..segment.start]);
                    read = segment.start;
                    let offset = base + segment.start as u64;
                    self.first = Some((offset, self.line_feeds + 1));
                    self.fault = Some(Kept::around(offset, &self.recent, self.total));
                }
            }
            self.known = segment.range().end;
        }
        self.count_lines(&bytes[read.min(self.known)..self.known]);
        // The meaning of a segment may depend on the one before it.
        self.pending = bytes[last..].to_vec();
        self.known = self.known.saturating_sub(last);
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
        let cut = if self.first.is_some_and(|(first, _)| first < start + cut as u64) { 0 } else { cut };
        bytes.drain(..cut);
        start += cut as u64;
        Window { bytes, start, total: self.total, faults: self.faults, first: self.first }
    }
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
}
