//! The conversion: bytes in, cut anywhere; bytes out.
//!
//! Code points are the pivot, in blocks: a reader for each form of encoding makes them, a writer takes them
//! (`code_points.rs`). Well-formed text takes a shortcut where there is one ([`Direct`]): its runs go through the kernels,
//! most by way of UTF-16, and never become single code points.

use crate::codec;
use crate::codec::Kernel;
use crate::codec::convert::charset::{Identity, IllFormed, SingleByte};
use crate::codec::convert::code_points::{Read, Reader, Substitute, Writer};
use crate::codec::convert::encoding::{Encoding, Form, Order, Utf8Like, first_of, text_prefix};
use crate::codec::convert::fault::{Fault, Mark, Options, Reason, UnpairedSurrogates};
use crate::error::Error;
use crate::spec::{Replacement, Segmentation};

/// A conversion from one encoding to another, fed in chunks.
#[derive(Clone, Debug)]
pub struct Converter {
    named: Encoding,
    /// What the input is read as: the encoding that was named, or that of the byte order mark.
    from: Encoding,
    to: Encoding,
    options: Options,
    reader: Reader,
    writer: Writer,
    direct: Option<Direct>,
    /// Bytes whose meaning depends on those to come.
    pending: Vec<u8>,
    progress: Progress,
    scratch: Scratch,
    /// Whether long chunks are divided among the threads of rayon.
    #[cfg(feature = "rayon")]
    in_parallel: bool,
}

/// Working memory.
#[derive(Clone, Debug, Default)]
struct Scratch {
    block: Vec<u32>,
    units: Vec<u16>,
    /// Units and output of each share that a thread converts. New memory each time would take longer than the conversion.
    #[cfg(feature = "rayon")]
    shares: Vec<(Vec<u16>, Vec<u8>)>,
}

/// How far the conversion has come in its input, and what was wrong so far.
#[derive(Clone, Debug, Default)]
struct Progress {
    /// The byte order mark at the start has been looked for.
    begun: bool,
    place: Place,
    faults: u64,
    first: Option<Fault>,
    /// Where the last run of ill-formed bytes ends.
    run_end: Option<u64>,
    /// The fault that ended the conversion.
    stopped: Option<Fault>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Place {
    offset: u64,
    line_feeds: u64,
}

/// The result of converting one input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Summary {
    /// How many bytes were read.
    pub read: u64,
    /// How many places were replaced or left out.
    pub faults: u64,
    /// The first of them.
    pub first: Option<Fault>,
    /// What the input was read as: the encoding that was named, or that of the byte order mark.
    pub from: Encoding,
}

/// Code units that are converted at a time, so that their output stays in the cache.
const PIECE: usize = 4096;

impl Converter {
    /// A conversion at the start of its input.
    ///
    /// # Errors
    /// The options make no sense for these encodings.
    pub fn new(from: Encoding, to: Encoding, options: Options) -> Result<Self, Error> {
        options.check(from, to)?;
        let form = form(to, &options);
        let escapes = options.on_error == Some(Replacement::SurrogateEscape) && !form.has_lone_surrogates();
        let mut converter = Self {
            named: from,
            from,
            to,
            options,
            reader: Reader::new(from.form(), options.segmentation, None),
            writer: Writer::new(form, escapes || to == Encoding::Utf8b),
            direct: None,
            pending: Vec::new(),
            progress: Progress::default(),
            scratch: Scratch::default(),
            #[cfg(feature = "rayon")]
            in_parallel: false,
        };
        converter.read_as(from);
        Ok(converter)
    }

    /// Divides chunks of at least 512 KiB among the threads of the rayon pool in which
    /// [`push`](Self::push) is called. The output is the same.
    #[cfg(feature = "rayon")]
    pub fn in_parallel(mut self) -> Self {
        self.in_parallel = true;
        self
    }

    /// Converts a chunk and appends everything already decided to `out`.
    ///
    /// # Errors
    /// The fault that ends the conversion; the output before it has been appended. The input can then only be finished.
    pub fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        /// More than any code point or byte order mark takes.
        const DECIDES: usize = 16;
        let mut chunk = chunk;
        let waiting = self.pending.len();
        if waiting > 0 {
            let (taken, _) = chunk.split_at(chunk.len().min(DECIDES));
            let mut joined = core::mem::take(&mut self.pending);
            joined.extend_from_slice(taken);
            let used = self.feed(&joined, false, out)?;
            // Otherwise the chunk is too short to decide.
            let is_decided = used >= waiting;
            joined.drain(..if is_decided { joined.len() } else { used });
            self.pending = joined;
            if !is_decided {
                return Ok(());
            }
            chunk = &chunk[used - waiting..];
        }
        let used = self.feed(chunk, false, out)?;
        self.pending.extend_from_slice(&chunk[used..]);
        Ok(())
    }

    /// Ends the input. The next push starts another input, which continues the same output.
    ///
    /// # Errors
    /// The fault that ended the conversion.
    pub fn finish(&mut self, out: &mut Vec<u8>) -> Result<Summary, Fault> {
        let mut pending = core::mem::take(&mut self.pending);
        let fed = self.feed(&pending, true, out);
        pending.clear();
        self.pending = pending;
        self.writer.flush(out);
        let Progress { place, faults, first, .. } = core::mem::take(&mut self.progress);
        let summary = Summary { read: place.offset, faults, first, from: self.from };
        self.read_as(self.named);
        fed.map(|_| summary)
    }

    /// From here on the input is in this encoding.
    fn read_as(&mut self, from: Encoding) {
        self.from = from;
        self.read_form(form(from, &self.options));
    }

    /// The next input is in this encoding. The output goes on as before.
    ///
    /// # Errors
    /// The options make no sense for this encoding.
    pub fn set_from(&mut self, from: Encoding) -> Result<(), Error> {
        self.options.check(from, self.to)?;
        self.named = from;
        self.read_as(from);
        Ok(())
    }

    fn read_form(&mut self, form: Form) {
        self.reader = Reader::new(form, self.options.segmentation, self.substitute());
        self.direct = Direct::between(form, self.writer.form());
    }

    /// What replaces ill-formed segments, if the reader can do it.
    fn substitute(&self) -> Option<Substitute> {
        match self.options.on_error {
            _ if self.from == Encoding::Utf8b => Some(Substitute::Bytes(Replacement::SurrogateEscape)),
            None => None,
            // The end of a run is known only when the next segment begins.
            Some(_) if self.options.segmentation == Segmentation::Run => None,
            Some(Replacement::Drop) => Some(Substitute::Nothing),
            Some(Replacement::ReplacementCharacter) => Some(Substitute::CodePoint(self.replacement())),
            Some(replacement) => Some(Substitute::Bytes(replacement)),
        }
    }

    /// U+FFFD, or what the output encoding has in its place.
    fn replacement(&self) -> u32 {
        if self.to.lacks_replacement() { u32::from('?') } else { 0xFFFD }
    }

    /// Converts the bytes at the start whose meaning does not depend on those to come. Returns how many these are.
    fn feed(&mut self, bytes: &[u8], last: bool, out: &mut Vec<u8>) -> Result<usize, Fault> {
        if let Some(fault) = self.progress.stopped {
            return Err(fault);
        }
        let mut at = 0;
        if !self.progress.begun {
            match self.begin(bytes, last, out) {
                Some(mark) => at = mark,
                None => return Ok(0),
            }
        }
        #[cfg(feature = "rayon")]
        if self.in_parallel {
            at += self.text_in_parallel(&bytes[at..], out);
        }
        while at < bytes.len() {
            let end = bytes.len().min(at + PIECE * self.reader.form().unit_len());
            match self.piece(&bytes[at..end], last && end == bytes.len(), out)? {
                0 => break,
                used => at += used,
            }
        }
        Ok(at)
    }

    /// Converts the text at the start on several threads, up to the first segment that needs more than the shortcut. Returns
    /// how many bytes those are; 0 if there is no shortcut or there are too few bytes.
    #[cfg(feature = "rayon")]
    fn text_in_parallel(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> usize {
        use rayon::prelude::*;
        /// Bytes for each thread at a time.
        const SHARE: usize = 0x4_0000;
        let form = self.reader.form();
        let shortcut = self.direct.filter(|_| !self.reader.is_after_error() && !self.writer.is_waiting());
        let (Some(direct), 2..) = (shortcut, bytes.len() / SHARE) else { return 0 };
        // What the input begins with may look like the rest of a character.
        let cut = |index: usize| if index == 0 { 0 } else { form.boundary(bytes, index * SHARE) };
        let shares: Vec<&[u8]> =
            (0..bytes.len().div_ceil(SHARE)).map(|index| &bytes[cut(index)..cut(index + 1)]).collect();
        let convert = |(share, (units, converted)): (&&[u8], &mut (Vec<u16>, Vec<u8>))| {
            converted.clear();
            let mut used = 0;
            loop {
                let end = share.len().min(used + PIECE * form.unit_len());
                match direct.convert(&share[used..end], units, converted) {
                    0 => break,
                    more => used += more,
                }
            }
            (used, Place::default().after(&share[..used], form))
        };
        let buffers = &mut self.scratch.shares;
        buffers.resize_with(buffers.len().max(shares.len()), Default::default);
        let ends: Vec<_> = shares.par_iter().zip(&mut *buffers).map(convert).collect();
        let mut at = 0;
        for ((share, (_, converted)), (used, place)) in shares.iter().zip(&*buffers).zip(ends) {
            out.extend_from_slice(converted);
            self.progress.place.offset += place.offset;
            self.progress.place.line_feeds += place.line_feeds;
            at += used;
            if used < share.len() {
                break;
            }
        }
        if at > 0 {
            self.reader.skip_text();
        }
        at
    }

    /// Handles the byte order mark. Returns how many of its bytes are not copied; `None` if there are too few bytes to
    /// tell.
    fn begin(&mut self, bytes: &[u8], last: bool, out: &mut Vec<u8>) -> Option<usize> {
        /// Bytes of the longest mark.
        const LONGEST: usize = 4;
        let mark = self.options.mark;
        let looks = self.from.is_marked() || !matches!(mark, Mark::AsEncoded | Mark::Keep);
        if !last && (bytes.is_empty() || looks && bytes.len() < LONGEST) {
            return None;
        }
        self.progress.begun = true;
        if mark == Mark::Detect
            && let Some(from) = Encoding::of_byte_order_mark(bytes)
        {
            self.read_as(from);
        }
        let was_marked = self.from.is_marked();
        let reversed = self.reader.form().reversed();
        if was_marked && bytes.starts_with(reversed.mark()) {
            self.read_form(reversed);
        }
        let leaves_out =
            mark == Mark::AsEncoded && was_marked || matches!(mark, Mark::Strip | Mark::Add | Mark::Detect);
        let mut left_out = 0;
        if leaves_out {
            let found = self.reader.form().mark();
            left_out = if bytes.starts_with(found) { found.len() } else { 0 };
            self.progress.place.offset += left_out as u64;
        }
        if mark == Mark::Add || self.to.is_marked() && mark != Mark::Keep {
            self.writer.mark(out);
        }
        Some(left_out)
    }

    /// Converts the start of a piece. Returns how many bytes that is, 0 if it must wait for more.
    fn piece(&mut self, piece: &[u8], last: bool, out: &mut Vec<u8>) -> Result<usize, Fault> {
        if let Some(direct) = self.direct
            && !self.reader.is_after_error()
            && !self.writer.is_waiting()
        {
            let used = direct.convert(piece, &mut self.scratch.units, out);
            if used > 0 {
                self.reader.skip_text();
                self.progress.place.advance(&piece[..used], self.reader.form());
                return Ok(used);
            }
        }
        let before = self.reader;
        let mut block = core::mem::take(&mut self.scratch.block);
        block.clear();
        let Read { used, replaced, first, ill_formed } =
            self.reader.read(piece, last, &mut self.scratch.units, &mut block);
        if replaced > 0 && self.from != Encoding::Utf8b {
            self.progress.faults += replaced;
            if self.progress.first.is_none() {
                self.progress.first = first.map(|(start, ill_formed)| {
                    let place = self.progress.place.after(&piece[..start], self.reader.form());
                    place.ill_formed(&piece[start..start + ill_formed.len], ill_formed, self.from)
                });
            }
        }
        let written = self.write(&block, piece, last, before, out);
        self.scratch.block = block;
        written?;
        self.progress.place.advance(&piece[..used], self.reader.form());
        let Some(ill_formed) = ill_formed else { return Ok(used) };
        let segment = &piece[used..used + ill_formed.len];
        self.replace(segment, ill_formed, out)?;
        self.progress.place.advance(segment, self.reader.form());
        Ok(used + segment.len())
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
            // To find its offset, the piece is read again. A fault of the reader in this piece may come before it.
            let progress = &self.progress;
            let may_be_first = at == index && progress.first.is_none_or(|first| first.offset >= progress.place.offset);
            let is_wanted = may_be_first || self.ends_with_unencodable();
            let fault = is_wanted.then(|| {
                let (start, len) = before.place(piece, last, at);
                let place = progress.place.after(&piece[..start], before.form());
                place.fault(&piece[start..start + len], Reason::Unencodable(block[at]), self.to)
            });
            self.unencodable(fault, out)?;
            at += 1;
        }
        Ok(())
    }

    /// Whether a code point that the output encoding lacks ends the conversion.
    fn ends_with_unencodable(&self) -> bool {
        !matches!(self.options.on_error, Some(Replacement::ReplacementCharacter | Replacement::Drop))
    }

    /// Replaces a code point that the output encoding lacks.
    fn unencodable(&mut self, fault: Option<Fault>, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.progress.note(fault);
        match fault {
            Some(fault) if self.ends_with_unencodable() => return self.stop(fault, out),
            _ if self.options.on_error == Some(Replacement::ReplacementCharacter) => {
                // Every encoding has it.
                let _ = self.writer.write(&[self.replacement()], out);
            }
            _ => {}
        }
        Ok(())
    }

    /// Ends the conversion at an ill-formed segment, or replaces it, once for all segments of a run.
    fn replace(&mut self, segment: &[u8], ill_formed: IllFormed, out: &mut Vec<u8>) -> Result<(), Fault> {
        let offset = self.progress.place.offset;
        let continues_run = self.progress.run_end == Some(offset);
        self.progress.run_end = Some(offset + segment.len() as u64);
        if continues_run {
            self.progress.lengthen(segment);
        } else {
            let fault = self.progress.place.ill_formed(segment, ill_formed, self.from);
            self.progress.note(Some(fault));
            if self.options.on_error.is_none() {
                return self.stop(fault, out);
            }
        }
        match self.options.on_error {
            None | Some(Replacement::Drop) => {}
            Some(Replacement::ReplacementCharacter) if continues_run => {}
            Some(Replacement::ReplacementCharacter) => self.write_one(self.replacement(), segment, out)?,
            Some(replacement) => {
                for code_point in replacement.code_points(segment) {
                    self.write_one(code_point, segment, out)?;
                }
            }
        }
        Ok(())
    }

    /// Writes a code point that replaces `segment`.
    fn write_one(&mut self, code_point: u32, segment: &[u8], out: &mut Vec<u8>) -> Result<(), Fault> {
        self.writer.write(&[code_point], out).or_else(|_| {
            let fault = self.progress.place.fault(segment, Reason::Unencodable(code_point), self.to);
            self.unencodable(Some(fault), out)
        })
    }

    /// Ends the conversion. What precedes the fault is written, whether or not [`Self::finish`] is called.
    fn stop(&mut self, fault: Fault, out: &mut Vec<u8>) -> Result<(), Fault> {
        self.writer.flush(out);
        self.progress.stopped = Some(fault);
        Err(fault)
    }
}

/// The form of an encoding under the options.
fn form(encoding: Encoding, options: &Options) -> Form {
    match options.surrogates {
        UnpairedSurrogates::Pass if encoding != Encoding::Utf8b => encoding.form().with_lone_surrogates(),
        _ => encoding.form(),
    }
}

impl Place {
    fn advance(&mut self, bytes: &[u8], form: Form) {
        self.offset += bytes.len() as u64;
        self.line_feeds += line_feeds(bytes, form);
    }

    fn after(mut self, bytes: &[u8], form: Form) -> Self {
        self.advance(bytes, form);
        self
    }

    /// A fault whose bytes are all in `segment`.
    fn fault(self, segment: &[u8], reason: Reason, encoding: Encoding) -> Fault {
        let mut shown = [0; Fault::SHOWN];
        let len = segment.len().min(shown.len());
        shown[..len].copy_from_slice(&segment[..len]);
        let (offset, line) = (self.offset, 1 + self.line_feeds);
        Fault { offset, line, len: segment.len() as u64, shown, incomplete: false, reason, encoding }
    }

    fn ill_formed(self, segment: &[u8], ill_formed: IllFormed, encoding: Encoding) -> Fault {
        let reason = ill_formed.kind.map_or(Reason::Unassigned, Reason::IllFormed);
        Fault { incomplete: ill_formed.incomplete, ..self.fault(segment, reason, encoding) }
    }
}

impl Progress {
    fn note(&mut self, fault: Option<Fault>) {
        self.faults += 1;
        self.first = self.first.into_iter().chain(fault).min_by_key(|fault| fault.offset);
    }

    /// One more segment of the last run.
    fn lengthen(&mut self, segment: &[u8]) {
        if self.faults != 1 {
            return;
        }
        if let Some(first) = &mut self.first {
            for &byte in segment {
                if let Some(place) = first.shown.get_mut(first.len as usize) {
                    *place = byte;
                }
                first.len += 1;
            }
        }
    }
}

/// How many of the code points of a piece are U+000A.
fn line_feeds(bytes: &[u8], form: Form) -> u64 {
    /// The most bytes whose line feeds are counted in a `u8`.
    const FEW: usize = 255;
    let in_few = |bytes: &[u8]| bytes.iter().fold(0u8, |count, &byte| count + u8::from(byte == b'\n'));
    match form {
        Form::Utf8Like(_) | Form::SingleByte(_) | Form::Legacy(_) => {
            bytes.chunks(FEW).map(|few| u64::from(in_few(few))).sum()
        }
        Form::Units16 { order, .. } => {
            let units = bytes.as_chunks().0.iter().map(|&unit| order.unit_16(unit));
            units.fold(0u32, |count, unit| count + u32::from(unit == 0x0A)).into()
        }
        Form::Units32 { order, .. } => {
            let units = bytes.as_chunks().0.iter().map(|&unit| order.unit_32(unit));
            units.fold(0u32, |count, unit| count + u32::from(unit == 0x0A)).into()
        }
    }
}

/// A way from one encoding to another for text that is well-formed in RFC 3629, in UTF-16, or in an encoding of one byte for
/// each code point.
#[derive(Clone, Copy, Debug)]
pub(super) enum Direct {
    /// The bytes that are well-formed in RFC 3629 are copied.
    Copy(Utf8Like),
    /// The bytes that are assigned in this encoding are copied.
    CopyBytes(&'static SingleByte),
    /// From single bytes to single bytes that differ only in 80..9F.
    CopyOutside80To9F,
    /// Latin-1 to UTF-8.
    FromLatin1,
    /// From single bytes to units of 32 bits.
    Widen(&'static SingleByte, Order),
    /// By way of UTF-16.
    Utf16 { from: Form, to: Form },
}

impl Direct {
    /// The shortcut, if there is one.
    pub(super) fn between(from: Form, to: Form) -> Option<Self> {
        match (from, to) {
            (Form::Legacy(_), _) | (_, Form::Legacy(_)) => None,
            (Form::Utf8Like(from), Form::Utf8Like(to)) if to.extends_rfc3629() => Some(Self::Copy(from)),
            (Form::SingleByte(from), Form::SingleByte(to)) => Some(Self::between_single_bytes(from, to)),
            (Form::SingleByte(from), Form::Utf8Like(Utf8Like { null_as_two: false, .. })) if from.is_ascii() => {
                Some(Self::CopyBytes(from))
            }
            (Form::SingleByte(from), Form::Utf8Like(to)) if from.identity == Identity::All && to.extends_rfc3629() => {
                Some(Self::FromLatin1)
            }
            (Form::SingleByte(from), Form::Units32 { order, .. }) => Some(Self::Widen(from, order)),
            (Form::Units32 { .. }, _) | (_, Form::Units32 { .. }) => None,
            (_, Form::Utf8Like(to)) if !to.extends_rfc3629() => None,
            _ => Some(Self::Utf16 { from, to }),
        }
    }

    fn between_single_bytes(from: &'static SingleByte, to: &'static SingleByte) -> Self {
        match (from.identity, to.identity) {
            _ if from == to || from.is_ascii() => Self::CopyBytes(from),
            _ if to.is_ascii() => Self::CopyBytes(to),
            (Identity::Ascii, _) | (_, Identity::Ascii) => {
                Self::Utf16 { from: Form::SingleByte(from), to: Form::SingleByte(to) }
            }
            _ => Self::CopyOutside80To9F,
        }
    }

    /// Converts the bytes at the start that are well-formed and complete. Returns how many these are. `units` is
    /// working memory.
    pub(super) fn convert(self, bytes: &[u8], units: &mut Vec<u16>, out: &mut Vec<u8>) -> usize {
        match self {
            Self::Copy(like) => {
                let common = like.common_prefix(bytes);
                out.extend_from_slice(&bytes[..common]);
                common
            }
            Self::CopyBytes(all) => {
                let clean = all.clean_prefix(bytes);
                out.extend_from_slice(&bytes[..clean]);
                clean
            }
            Self::FromLatin1 => {
                codec::from_latin_1_into(bytes, out);
                bytes.len()
            }
            Self::Widen(from, order) => {
                units.clear();
                let clean = from.clean_prefix(bytes);
                from.to_utf16(&bytes[..clean], units);
                Kernel::best().write_16_as_32_into(units, order.is_big_endian(), out);
                clean
            }
            Self::CopyOutside80To9F => {
                let same = first_of(bytes, |byte| byte & 0xE0 == 0x80);
                out.extend_from_slice(&bytes[..same]);
                same
            }
            Self::Utf16 { from, to } => {
                units.clear();
                let used = to_utf16(from, bytes, units);
                let start = out.len();
                let written = from_utf16(to, units, out);
                match from {
                    _ if written == units.len() => used,
                    Form::SingleByte(_) => written,
                    Form::Units16 { .. } => 2 * written,
                    // The length of the sequences that were written is not known.
                    Form::Utf8Like(_) | Form::Units32 { .. } | Form::Legacy(_) => {
                        out.truncate(start);
                        0
                    }
                }
            }
        }
    }
}

/// Reads the bytes at the start that are well-formed and complete as UTF-16. Returns how many these are.
fn to_utf16(from: Form, bytes: &[u8], units: &mut Vec<u16>) -> usize {
    match from {
        Form::Utf8Like(like) => {
            let common = like.common_prefix(bytes);
            codec::utf16_lossy_into(&bytes[..common], units);
            common
        }
        Form::Units16 { order, pairs, .. } => {
            let good = order.read_16(bytes, pairs, units);
            units.truncate(good);
            2 * good
        }
        Form::SingleByte(from) => {
            let clean = from.clean_prefix(bytes);
            from.to_utf16(&bytes[..clean], units);
            clean
        }
        Form::Units32 { .. } | Form::Legacy(_) => 0,
    }
}

/// Writes well-formed UTF-16 up to the first code unit, or to the block of the first, that `to` lacks. Returns how many
/// units these are.
fn from_utf16(to: Form, units: &[u16], out: &mut Vec<u8>) -> usize {
    match to {
        Form::Utf8Like(_) => {
            codec::from_utf16_lossy_into(units, out);
            units.len()
        }
        Form::Units16 { order, pairs, .. } => {
            let text = if pairs { units.len() } else { text_prefix(units, pairs) };
            order.write_16(&units[..text], out);
            text
        }
        Form::SingleByte(to) => narrow(to, units, out),
        Form::Units32 { .. } | Form::Legacy(_) => 0,
    }
}

/// Writes UTF-16 in an encoding of one byte for each code point, up to the first code unit, or to the block of the
/// first, that it lacks. Returns how many units are written.
fn narrow(to: &SingleByte, units: &[u16], out: &mut Vec<u8>) -> usize {
    const BLOCK: usize = 32;
    let start = out.len();
    out.reserve(units.len());
    let (blocks, rest) = units.as_chunks::<BLOCK>();
    for block in blocks {
        let is_same = match to.identity {
            Identity::Ascii => block.iter().fold(true, |all, &unit| all & (unit < 0x80)),
            Identity::Outside80To9F => {
                block.iter().fold(true, |all, &unit| all & ((unit < 0x80) | (unit.wrapping_sub(0xA0) < 0x60)))
            }
            Identity::All => block.iter().fold(true, |all, &unit| all & (unit < 0x100)),
        };
        let mut bytes = [0; BLOCK];
        if is_same {
            bytes.iter_mut().zip(block).for_each(|(byte, &unit)| *byte = unit as u8);
        } else {
            let mut all = true;
            for (place, &unit) in bytes.iter_mut().zip(block) {
                *place = to.byte_or_0(unit);
                all &= (*place != 0) | (unit == 0);
            }
            if !all {
                return out.len() - start;
            }
        }
        out.extend_from_slice(&bytes);
    }
    out.extend(rest.iter().map_while(|&unit| to.byte(unit.into())));
    out.len() - start
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_precedes_a_fault_is_written_with_it() {
        let mut converter = Converter::new(Encoding::Wtf8, Encoding::Wtf8, Options::STRICT).unwrap();
        let mut out = Vec::new();
        // The writer waits for the other half of a pair.
        let fault = converter.push(b"\xED\xA0\x80\xFF", &mut out).unwrap_err();
        assert_eq!((fault.offset(), &out[..]), (3, &b"\xED\xA0\x80"[..]));
        assert!(converter.finish(&mut out).is_err());
        assert_eq!(out, b"\xED\xA0\x80");
    }

    #[test]
    fn a_character_that_the_output_lacks_is_replaced_after_other_output() {
        let replacing = Options { on_error: Some(Replacement::ReplacementCharacter), ..Options::STRICT };
        let text = format!("{0}世{0}", "é".repeat(100));
        let units: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        for (from, bytes) in [(Encoding::Utf8, text.as_bytes()), (Encoding::Utf16Le, &units)] {
            let mut converter = Converter::new(from, Encoding::Latin1, replacing).unwrap();
            let mut out = b"before".to_vec();
            converter.push(bytes, &mut out).unwrap();
            assert_eq!(converter.finish(&mut out).unwrap().faults, 1, "{from}");
            assert_eq!(out, [b"before", &[0xE9; 100][..], b"?", &[0xE9; 100]].concat(), "{from}");
        }
    }
}
