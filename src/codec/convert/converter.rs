//! The conversion: bytes in, cut anywhere; bytes out.
//!
//! Code points are the pivot, in blocks: a reader for each shape of encoding makes them, a writer takes them. Text that is
//! as it should be takes a shorter way where there is one.

use crate::codec::convert::direct::Direct;
use crate::codec::convert::encoding::{Encoding, Shape, Surrogate};
use crate::codec::convert::fault::{Fault, Reason};
use crate::codec::convert::options::{Mark, Options, Surrogates};
use crate::codec::convert::read::{Broken, Read, Reader, Substitute};
use crate::codec::convert::write::Writer;
use crate::error::Error;
use crate::spec::{Replacement, UnitRule};
use crate::utf8::Kind;

/// A conversion from one encoding to another, fed in chunks.
#[derive(Clone, Debug)]
pub struct Converter {
    named: Encoding,
    /// What is read: the one that was named, or that which the byte order mark says.
    from: Encoding,
    to: Encoding,
    options: Options,
    reader: Reader,
    writer: Writer,
    direct: Option<Direct>,
    block: Vec<u32>,
    units: Vec<u16>,
    /// Bytes that wait for more.
    held: Vec<u8>,
    /// The byte order mark at the start has been looked for.
    begun: bool,
    /// The output has got its byte order mark.
    marked: bool,
    tally: Tally,
}

/// Where the conversion is in its input, and what was wrong before.
#[derive(Clone, Debug, Default)]
struct Tally {
    offset: u64,
    line_feeds: u64,
    faults: u64,
    first: Option<Fault>,
    /// Where the run of ill-formed bytes that was read last ends.
    run_end: Option<u64>,
    /// What ended the conversion.
    stopped: Option<Fault>,
}

/// What an input came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// How many bytes were read.
    pub read: u64,
    /// How many places were replaced or left out.
    pub faults: u64,
    /// The first of them.
    pub first: Option<Fault>,
    /// What the input was read as: the encoding that was named, unless a byte order mark said otherwise.
    pub from: Encoding,
}

/// Code units that are converted at a time: what comes of them stays in the cache.
const PIECE: usize = 4 << 10;

impl Converter {
    /// A conversion at the start of its input.
    ///
    /// # Errors
    /// The options make no sense between these encodings.
    pub fn new(from: Encoding, to: Encoding, options: Options) -> Result<Self, Error> {
        options.check(from, to)?;
        let pass = options.surrogates == Surrogates::Pass;
        let shape = match to.shape() {
            shape if pass && to != Encoding::Utf8b => shape.with_surrogates(),
            shape => shape,
        };
        let holds_escapes = match shape {
            Shape::Octets(octets) => !matches!(octets.surrogates, Surrogate::Refused | Surrogate::Paired),
            _ => pass,
        };
        let escapes = options.on_error == Some(Replacement::SurrogateEscape) && !holds_escapes;
        let mut converter = Self {
            named: from,
            from,
            to,
            options,
            reader: Reader::new(from.shape(), options.unit, pass, None),
            writer: Writer::new(shape, pass, escapes || to == Encoding::Utf8b),
            direct: None,
            block: Vec::new(),
            units: Vec::new(),
            held: Vec::new(),
            begun: false,
            marked: false,
            tally: Tally::default(),
        };
        converter.read_as(from, from.shape());
        Ok(converter)
    }

    /// Converts a chunk and appends to `out` all that is certain.
    ///
    /// # Errors
    /// What ends the conversion; all before it has been appended. The input can only be finished then.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        /// More than any code point or byte order mark takes.
        const DECIDES: usize = 16;
        let mut chunk = chunk;
        let waiting = self.held.len();
        if waiting > 0 {
            let (taken, _) = chunk.split_at(chunk.len().min(DECIDES));
            let mut joined = core::mem::take(&mut self.held);
            joined.extend_from_slice(taken);
            let used = self.feed(&joined, false, out)?;
            // Else so few bytes that they do not decide.
            let is_decided = used >= waiting;
            joined.drain(..if is_decided { joined.len() } else { used });
            self.held = joined;
            if !is_decided {
                return Ok(());
            }
            chunk = &chunk[used - waiting..];
        }
        let used = self.feed(chunk, false, out)?;
        self.held.extend_from_slice(&chunk[used..]);
        Ok(())
    }

    /// Ends the input. What is pushed next is another input that goes on in the same output.
    ///
    /// # Errors
    /// What ended the conversion.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<Summary, Fault> {
        let mut held = core::mem::take(&mut self.held);
        let fed = self.feed(&held, true, out);
        held.clear();
        self.held = held;
        self.writer.flush(out);
        let tally = core::mem::take(&mut self.tally);
        let summary = Summary { read: tally.offset, faults: tally.faults, first: tally.first, from: self.from };
        self.begun = false;
        self.read_as(self.named, self.named.shape());
        fed.map(|_| summary)
    }

    /// From here on the input is in this encoding, in this shape of it.
    fn read_as(&mut self, from: Encoding, shape: Shape) {
        let pass = self.options.surrogates == Surrogates::Pass;
        let shape = if pass && from != Encoding::Utf8b { shape.with_surrogates() } else { shape };
        self.from = from;
        self.reader = Reader::new(shape, self.options.unit, pass, self.substitute());
        self.direct = Direct::between(shape, self.writer.shape());
    }

    /// What stands for ill-formed units; none where it takes more than that.
    fn substitute(&self) -> Option<Substitute> {
        match self.options.on_error {
            _ if self.from == Encoding::Utf8b => Some(Substitute::Bytes(Replacement::SurrogateEscape)),
            None => None,
            // Where a unit ends is known when the next begins.
            Some(_) if self.options.unit == UnitRule::Run => None,
            Some(Replacement::Drop) => Some(Substitute::Nothing),
            Some(Replacement::ReplacementCharacter) => Some(Substitute::CodePoint(self.replacement())),
            Some(replacement) => Some(Substitute::Bytes(replacement)),
        }
    }

    /// U+FFFD, or what stands for it.
    fn replacement(&self) -> u32 {
        if self.to.is_single_byte() { u32::from('?') } else { 0xFFFD }
    }

    /// Converts all of `bytes` but what more bytes would decide, and says how many that are.
    fn feed(&mut self, bytes: &[u8], last: bool, out: &mut Vec<u8>) -> Result<usize, Fault> {
        if let Some(fault) = self.tally.stopped {
            return Err(fault);
        }
        let mut at = 0;
        if !self.begun {
            match self.begin(bytes, last, out) {
                Some(mark) => at = mark,
                None => return Ok(0),
            }
        }
        while at < bytes.len() {
            let end = bytes.len().min(at + PIECE * self.reader.shape().unit_len());
            match self.piece(&bytes[at..end], last && end == bytes.len(), out)? {
                0 => break,
                used => at += used,
            }
        }
        Ok(at)
    }

    /// Looks at the byte order mark; how many bytes of it are left out, or none where too little is there to say.
    fn begin(&mut self, bytes: &[u8], last: bool, out: &mut Vec<u8>) -> Option<usize> {
        /// Bytes of the longest mark.
        const LONGEST: usize = 4;
        let mark = self.options.mark;
        let looks = self.from.is_marked() || !matches!(mark, Mark::AsEncoded | Mark::Keep);
        if !last && (bytes.is_empty() || looks && bytes.len() < LONGEST) {
            return None;
        }
        self.begun = true;
        if mark == Mark::Detect
            && let Some(from) = crate::codec::convert::detect::byte_order_mark(bytes)
        {
            self.read_as(from, from.shape());
        }
        let was_marked = self.from.is_marked();
        if was_marked
            && let Some(shape) = self.from.shape().reversed()
            && bytes.starts_with(shape.mark())
        {
            self.read_as(self.from, shape);
        }
        let leaves_out =
            mark == Mark::AsEncoded && was_marked || matches!(mark, Mark::Strip | Mark::Add | Mark::Detect);
        let mut left_out = 0;
        if leaves_out {
            let found = self.reader.shape().mark();
            left_out = if bytes.starts_with(found) { found.len() } else { 0 };
            self.tally.offset += left_out as u64;
        }
        let adds = mark == Mark::Add || self.to.is_marked() && mark != Mark::Keep;
        if adds && !core::mem::replace(&mut self.marked, true) {
            out.extend_from_slice(self.writer.shape().mark());
        }
        Some(left_out)
    }

    /// Converts the start of a piece; how many bytes that are, none where it must wait for more.
    fn piece(&mut self, piece: &[u8], last: bool, out: &mut Vec<u8>) -> Result<usize, Fault> {
        if let Some(direct) = self.direct
            && !self.reader.is_rough()
            && !self.writer.is_waiting()
        {
            let used = direct.convert(piece, &mut self.units, out);
            if used > 0 {
                self.reader.passed();
                self.tally.advance(&piece[..used], self.reader.shape());
                return Ok(used);
            }
        }
        let before = self.reader;
        let mut block = core::mem::take(&mut self.block);
        block.clear();
        let Read { used, replaced, first, broken } = self.reader.read(piece, last, &mut self.units, &mut block);
        if replaced > 0 && self.from != Encoding::Utf8b {
            self.tally.faults += replaced;
            if self.tally.first.is_none() {
                self.tally.first = first.map(|(start, broken)| {
                    let here = self.tally.behind(&piece[..start], self.reader.shape());
                    here.ill_formed(&piece[start..start + broken.len], broken, self.from)
                });
            }
        }
        let written = self.write(&block, piece, last, before, out);
        self.block = block;
        written?;
        self.tally.advance(&piece[..used], self.reader.shape());
        let Some(broken) = broken else { return Ok(used) };
        let unit = &piece[used..used + broken.len];
        self.replace(unit, broken, out)?;
        self.tally.advance(unit, self.reader.shape());
        Ok(used + broken.len)
    }

    /// Writes the code points that `before` reads at the start of `piece`.
    fn write(
        &mut self,
        block: &[u32],
        piece: &[u8],
        last: bool,
        before: Reader,
        out: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let mut at = 0;
        while let Err(index) = self.writer.write(&block[at..], out) {
            at += index;
            // It takes a second reading to say where it stands. What is ill-formed in this piece may stand before.
            let may_be_first = at == index && self.tally.first.is_none_or(|first| first.offset >= self.tally.offset);
            let is_wanted = may_be_first || self.ends_with_unencodable();
            let fault = is_wanted.then(|| {
                let (start, len) = { before }.place(piece, last, at);
                let here = self.tally.behind(&piece[..start], before.shape());
                here.fault(&piece[start..start + len], Reason::Unencodable(block[at]), self.to)
            });
            self.unencodable(fault, out)?;
            at += 1;
        }
        Ok(())
    }

    /// Whether what the other encoding cannot say ends the conversion.
    fn ends_with_unencodable(&self) -> bool {
        !matches!(self.options.on_error, Some(Replacement::ReplacementCharacter | Replacement::Drop))
    }

    /// Replaces a code point the other encoding cannot say.
    fn unencodable(&mut self, fault: Option<Fault>, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.tally.note(fault);
        match fault {
            Some(fault) if self.ends_with_unencodable() => return self.stop(fault),
            _ if self.options.on_error == Some(Replacement::ReplacementCharacter) => {
                // Every encoding has it.
                let _ = self.writer.write(&[self.replacement()], out);
            }
            _ => {}
        }
        Ok(())
    }

    /// Ends the conversion at an ill-formed unit, or goes on with one of a run.
    fn replace(&mut self, unit: &[u8], broken: Broken, out: &mut Vec<u8>) -> Result<(), Fault> {
        let goes_on = self.tally.run_end == Some(self.tally.offset);
        self.tally.run_end = Some(self.tally.offset + unit.len() as u64);
        if goes_on {
            self.tally.lengthen(unit);
        } else {
            let mut fault = self.tally.ill_formed(unit, broken, self.from);
            // A run goes on to where the input ends, if its first sequence does.
            fault.incomplete |= self.options.unit == UnitRule::Run && broken.kind == Some(Kind::Incomplete);
            self.tally.note(Some(fault));
            if self.options.on_error.is_none() {
                return self.stop(fault);
            }
        }
        match self.options.on_error {
            None | Some(Replacement::Drop) => {}
            Some(Replacement::ReplacementCharacter) if goes_on => {}
            Some(Replacement::ReplacementCharacter) => self.write_one(self.replacement(), unit, out)?,
            Some(replacement) => {
                for code_point in replacement.code_points(unit) {
                    self.write_one(code_point, unit, out)?;
                }
            }
        }
        Ok(())
    }

    /// Writes a code point that stands for what is wrong here.
    fn write_one(&mut self, code_point: u32, unit: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        self.writer.write(&[code_point], out).or_else(|_| {
            let fault = self.tally.fault(unit, Reason::Unencodable(code_point), self.to);
            self.unencodable(Some(fault), out)
        })
    }

    fn stop(&mut self, fault: Fault) -> Result<(), Fault> {
        self.tally.stopped = Some(fault);
        Err(fault)
    }
}

impl Tally {
    fn advance(&mut self, bytes: &[u8], shape: Shape) {
        self.offset += bytes.len() as u64;
        self.line_feeds += line_feeds(bytes, shape);
    }

    /// The same, behind these bytes.
    fn behind(&self, bytes: &[u8], shape: Shape) -> Self {
        let mut behind = self.clone();
        behind.advance(bytes, shape);
        behind
    }

    /// What is wrong with the bytes that are here.
    fn fault(&self, unit: &[u8], reason: Reason, encoding: Encoding) -> Fault {
        let mut shown = [0; Fault::SHOWN];
        let len = unit.len().min(shown.len());
        shown[..len].copy_from_slice(&unit[..len]);
        let (offset, line) = (self.offset, 1 + self.line_feeds);
        Fault { offset, line, len: unit.len() as u64, shown, incomplete: false, reason, encoding }
    }

    fn ill_formed(&self, unit: &[u8], broken: Broken, encoding: Encoding) -> Fault {
        let reason = broken.kind.map_or(Reason::Unassigned, Reason::IllFormed);
        Fault { incomplete: broken.incomplete, ..self.fault(unit, reason, encoding) }
    }

    fn note(&mut self, fault: Option<Fault>) {
        self.faults += 1;
        self.first = self.first.into_iter().chain(fault).min_by_key(|fault| fault.offset);
    }

    /// One more unit of the run that was read last.
    fn lengthen(&mut self, unit: &[u8]) {
        if self.faults != 1 {
            return;
        }
        if let Some(first) = &mut self.first {
            for &byte in unit {
                if let Some(place) = first.shown.get_mut(first.len as usize) {
                    *place = byte;
                }
                first.len += 1;
            }
        }
    }
}

/// How many of the code points of a piece are U+000A.
fn line_feeds(bytes: &[u8], shape: Shape) -> u64 {
    /// So few bytes that a byte counts them.
    const FEW: usize = 255;
    let in_few = |bytes: &[u8]| bytes.iter().fold(0u8, |count, &byte| count + u8::from(byte == b'\n'));
    match shape {
        Shape::Octets(_) | Shape::Bytes(_) => bytes.chunks(FEW).map(|few| u64::from(in_few(few))).sum(),
        Shape::Units16 { order, .. } => {
            let units = bytes.as_chunks().0.iter().map(|&unit| order.unit_16(unit));
            units.fold(0u32, |count, unit| count + u32::from(unit == 0x0A)).into()
        }
        Shape::Units32 { order, .. } => {
            let units = bytes.as_chunks().0.iter().map(|&unit| order.unit_32(unit));
            units.fold(0u32, |count, unit| count + u32::from(unit == 0x0A)).into()
        }
    }
}
