//! Asks a decoder the questions, and records its answers unchanged.

use crate::case::Case;
use crate::decoder::{Decoder, Promise, Stream};
use crate::judge::expect::{Question, Questions};
#[cfg(all(target_os = "linux", feature = "guard-pages"))]
use crate::judge::isolate::guard_pages::GuardedBuffer;
use crate::utf8::{ErrorLen, Malformed, Validity};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// The answers of one decoder to one case; `None` if it was not asked or could not answer. The buffers are kept from
/// case to case.
#[derive(Default)]
pub(crate) struct Observation {
    /// The verdict on the input.
    pub(crate) verdict: Option<Validity>,
    output: Answer<Output>,
    errors: Answer<Errors>,
    streamed: Answer<Streamed>,
    reused: Answer<Reused>,
    prefixed: Answer<Prefixed>,
    placed: Answer<Placed>,
    /// Whether the answers were the same while another thread asked about other bytes.
    pub(crate) at_once: Option<bool>,
    /// Whether only the input was read; otherwise, past which end.
    pub(crate) bounds: Option<Result<(), End>>,
    #[cfg(all(target_os = "linux", feature = "guard-pages"))]
    guarded: Guarded,
    /// The verdicts on the input before and after the first cut.
    pub(crate) halves: Option<(Validity, Validity)>,
}

/// An answer in a buffer that is reused from case to case. The buffer can be read only while it holds an answer.
#[derive(Default)]
struct Answer<T> {
    is_given: bool,
    buffer: T,
}

impl<T> Answer<T> {
    /// Forgets the last answer. If the question is asked, `ask` fills the buffer and returns whether there is an
    /// answer.
    fn set(&mut self, is_asked: bool, ask: impl FnOnce(&mut T) -> bool) {
        self.is_given = false;
        self.is_given = is_asked && ask(&mut self.buffer);
    }

    fn get(&self) -> Option<&T> {
        self.is_given.then_some(&self.buffer)
    }
}

/// The output for the whole input.
#[derive(Default)]
struct Output {
    bytes: Vec<u8>,
    /// Whether the existing content of the buffer was preserved.
    existing_kept: bool,
}

/// Errors, found by validating again after each.
#[derive(Default)]
pub(crate) struct Errors {
    /// The index of the expected error that corresponds to the first in the list.
    pub(crate) first: usize,
    /// The maximum number that was asked for.
    pub(crate) asked: usize,
    pub(crate) list: Vec<Malformed>,
}

/// What a finished stream answered.
#[derive(Default)]
pub(crate) struct Streamed {
    pub(crate) validity: Option<Validity>,
    pub(crate) output: Vec<u8>,
    /// The offset of a cut, and the length of the output once the chunk that ends there has been pushed.
    pub(crate) written: Option<(usize, usize)>,
    /// Whether the existing content of the output was preserved.
    pub(crate) existing_kept: bool,
    /// A buffer for the output of one chunk.
    piece: Vec<u8>,
}

/// The answers of a stream that has been finished before.
#[derive(Default)]
pub(crate) struct Reused {
    /// The answer to the input in one chunk.
    pub(crate) streamed: Streamed,
    /// Whether it accepts and writes nothing when finished again without input.
    pub(crate) ends_empty: bool,
}

/// The answers to the input after an ASCII prefix.
#[derive(Default)]
struct Prefixed {
    /// The verdict on the whole input, and the verdict of a stream whose first chunk is the prefix.
    verdicts: [Option<Validity>; 2],
    /// The output for the whole input, of a decoder that does not promise everything.
    output: Option<Vec<u8>>,
    bytes: Vec<u8>,
    streamed: Streamed,
}

/// The answers to the same bytes at another address, between other bytes.
#[derive(Default)]
struct Placed {
    verdict: Option<Validity>,
    /// The output, written at another address too, if there is one.
    output: Vec<u8>,
    has_output: bool,
    /// The buffers for the input, and for other outputs.
    bytes: Vec<u8>,
    text: Vec<u8>,
}

/// The state for placing the bytes next to an inaccessible page.
#[cfg(all(target_os = "linux", feature = "guard-pages"))]
#[derive(Default)]
struct Guarded {
    buffer: Option<GuardedBuffer>,
    output: Streamed,
}

/// One end of a byte string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(all(target_os = "linux", feature = "guard-pages")), allow(dead_code, reason = "needs guard pages"))]
pub(crate) enum End {
    Start,
    End,
}

/// The maximum number of errors of one input that are followed in turn. Later ones are asked for individually.
const FOLLOWED: usize = 4096;
/// About how many bytes in all are validated again to follow the errors of an input. Many decoders read the whole input,
/// wherever its first error is.
const FOLLOWED_BYTES: usize = 4_194_304;

impl Observation {
    /// Asks the decoder these questions. `expected` are the errors `spec` finds.
    pub(crate) fn observe<'s>(
        &mut self,
        decoder: &'s dyn Decoder,
        streams: &mut Streams<'s>,
        case: &Case<'_>,
        questions: Questions,
        expected: impl ExactSizeIterator<Item = Malformed> + Clone,
    ) {
        let asks = |question| questions.has(&[question]);
        let bytes = case.bytes;
        self.verdict = if asks(Question::Verdict) { decoder.validate(bytes) } else { None };
        self.output.set(asks(Question::Output), |output| output.ask(decoder, case));
        let first = self.verdict;
        self.errors.set(asks(Question::Errors), |errors| match questions.after_error {
            None => errors.ask_all(decoder, bytes, first, expected.clone()),
            Some(index) => errors.ask_next(decoder, bytes, index, expected.clone().nth(index)),
        });
        self.streamed.set(asks(Question::Stream), |streamed| {
            let watched = observed_cut(case).filter(|_| asks(Question::Written));
            let mode = FeedMode::of(case, decoder);
            if case.choices.is_new_stream() {
                streams.renew(decoder, case.choices.is_after_abandoned_stream());
            }
            streamed.feed(streams, case.cuts().chunks(bytes), watched, mode)
        });
        self.reused.set(asks(Question::Reused), |reused| reused.ask(streams, bytes));
        self.bounds = None;
        #[cfg(all(target_os = "linux", feature = "guard-pages"))]
        if asks(Question::Bounds) {
            self.bounds = self.guarded.ask(decoder, streams, case);
        }
        self.prefixed.set(asks(Question::Prefix), |prefixed| prefixed.ask(decoder, streams, case));
        let len = self.output.get().map(|output| output.bytes.len());
        self.placed.set(asks(Question::Placement), |placed| placed.ask(decoder, case, len));
        self.at_once = None;
        if asks(Question::Placement) && case.choices.is_at_once() {
            self.at_once = ask_at_once(decoder, bytes);
        }
        self.halves = None;
        if asks(Question::Halves)
            && expected.len() > 0
            && let Some(&cut) = case.cuts().offsets().first()
            && (1..bytes.len()).contains(&cut)
        {
            self.halves = decoder.validate(&bytes[..cut]).zip(decoder.validate(&bytes[cut..]));
        }
    }

    /// Replaces each output by the expected one if it differs from that, or from one that is `alike`, only in how many U+FFFD
    /// stand in a row; and forgets the lengths of errors.
    pub(crate) fn accept_segmentation(&mut self, expected: &[u8], alike: &[Vec<u8>]) {
        let Self { verdict, output, errors, streamed, reused, prefixed, placed, .. } = self;
        // Where the next error is looked for depends on the length of the one before.
        errors.is_given &= errors.buffer.list.iter().all(|error| error.len.is_none());
        let of_streams = [&mut streamed.buffer.validity, &mut reused.buffer.streamed.validity];
        let others = prefixed.buffer.verdicts.iter_mut().chain([verdict, &mut placed.buffer.verdict]);
        for verdict in others.chain(of_streams) {
            if let Some(Validity::Invalid(error)) = verdict {
                error.len = None;
            }
        }
        let (output, placed) = (&mut output.buffer.bytes, &mut placed.buffer.output);
        let outputs = [output, &mut streamed.buffer.output, &mut reused.buffer.streamed.output, placed];
        for observed in outputs {
            let is_like = |text: &[u8]| one_for_each_run(observed).eq(one_for_each_run(text));
            if observed != expected && (is_like(expected) || alike.iter().any(|text| is_like(text))) {
                expected.clone_into(observed);
            }
        }
    }

    /// The output, unless the existing content of its buffer was changed.
    pub(crate) fn output(&self) -> Option<&[u8]> {
        self.output.get().filter(|output| output.existing_kept).map(|output| output.bytes.as_slice())
    }

    pub(crate) fn errors(&self) -> Option<&Errors> {
        self.errors.get()
    }

    /// The answer to the input in chunks.
    pub(crate) fn streamed(&self) -> Option<&Streamed> {
        self.streamed.get()
    }

    /// The verdict at another address, and the output.
    pub(crate) fn placed(&self) -> Option<(Option<Validity>, Option<&[u8]>)> {
        self.placed.get().map(|placed| (placed.verdict, placed.has_output.then_some(&*placed.output)))
    }

    pub(crate) fn reused(&self) -> Option<&Reused> {
        self.reused.get()
    }

    /// The verdicts on the input after an ASCII prefix, on the whole and as a stream.
    pub(crate) fn prefixed(&self) -> Option<&[Option<Validity>; 2]> {
        self.prefixed.get().map(|prefixed| &prefixed.verdicts)
    }

    /// The output for the input after an ASCII prefix, of a decoder that does not promise
    /// everything.
    pub(crate) fn prefixed_output(&self) -> Option<&[u8]> {
        self.prefixed.get()?.output.as_deref()
    }

    /// Whether the existing content of an output buffer was changed.
    pub(crate) fn has_changed_existing_output(&self) -> bool {
        let output = self.output.get().is_some_and(|output| !output.existing_kept);
        output || self.streamed.get().is_some_and(|streamed| !streamed.existing_kept)
    }
}

impl Output {
    /// Some outputs are appended to existing content, which must be preserved.
    fn ask(&mut self, decoder: &dyn Decoder, case: &Case<'_>) -> bool {
        let existing = existing_output(case.choices.existing_output());
        empty(&mut self.bytes);
        self.bytes.extend_from_slice(existing);
        if decoder.decode_lossy(case.bytes, &mut self.bytes).is_none() {
            return false;
        }
        self.existing_kept = take_existing(&mut self.bytes, existing);
        true
    }
}

impl Errors {
    /// Continues after each error: where the decoder says that it ends or, if it does not say, where the expected one does.
    fn ask_all(
        &mut self,
        decoder: &dyn Decoder,
        bytes: &[u8],
        first: Option<Validity>,
        mut expected: impl ExactSizeIterator<Item = Malformed>,
    ) -> bool {
        (self.first, self.asked) = (0, FOLLOWED.min(1 + FOLLOWED_BYTES / (bytes.len() + 1)));
        self.list.clear();
        let mut start = 0;
        let mut verdict = first;
        while let Some(Validity::Invalid(malformed)) = verdict
            && self.list.len() < self.asked
        {
            let stated = shifted(malformed, start);
            self.list.push(stated);
            let expected = expected.next();
            let end = match (stated.valid_up_to, stated.len) {
                (Some(_), Some(_)) => end(&stated),
                _ => expected.as_ref().and_then(end),
            };
            let Some(end) = end.filter(|&end| end > start && end <= bytes.len()) else { break };
            start = end;
            verdict = decoder.validate(&bytes[start..]);
        }
        verdict.is_some()
    }

    /// The error after the expected error `expected`, whose index is `index`.
    fn ask_next(&mut self, decoder: &dyn Decoder, bytes: &[u8], index: usize, expected: Option<Malformed>) -> bool {
        (self.first, self.asked) = (index + 1, 1);
        self.list.clear();
        let Some(start) = expected.as_ref().and_then(end).filter(|&end| end <= bytes.len()) else { return false };
        let verdict = decoder.validate(&bytes[start..]);
        if let Some(Validity::Invalid(malformed)) = verdict {
            self.list.push(shifted(malformed, start));
        }
        verdict.is_some()
    }
}

/// The error with its offset, if stated, counted from the start of the input.
fn shifted(malformed: Malformed, start: usize) -> Malformed {
    Malformed { valid_up_to: malformed.valid_up_to.map(|offset| offset.saturating_add(start)), ..malformed }
}

fn end(malformed: &Malformed) -> Option<usize> {
    match (malformed.valid_up_to, malformed.len) {
        (Some(offset), Some(ErrorLen::Bytes(len))) if len > 0 => offset.checked_add(len),
        _ => None,
    }
}

/// The streams of one decoder.
#[derive(Default)]
pub(crate) struct Streams<'s> {
    /// The one whose answers are judged.
    pub(crate) primary: Option<Box<dyn Stream + 's>>,
    /// Another one, alive at the same time.
    pub(crate) interleaved: Option<Box<dyn Stream + 's>>,
}

impl<'s> Streams<'s> {
    /// Takes a new stream to be judged; if `abandoned`, after another one was dropped inside a sequence.
    fn renew(&mut self, decoder: &'s dyn Decoder, abandoned: bool) {
        if abandoned && let Some(mut stream) = decoder.stream() {
            stream.push(b"\xF0\x9F", &mut Vec::new());
        }
        self.primary = None;
        self.primary = decoder.stream();
    }
}

/// One more stream of the decoder, which is not judged.
struct Spare<'s>(Option<Box<dyn Stream + 's>>);

impl Drop for Spare<'_> {
    fn drop(&mut self) {
        forget_after_panic(&mut self.0);
    }
}

impl Drop for Streams<'_> {
    fn drop(&mut self) {
        forget_after_panic(&mut self.primary);
        forget_after_panic(&mut self.interleaved);
    }
}

/// While a panic unwinds, a stream is not dropped: a panic in its destructor would then end the process.
fn forget_after_panic(stream: &mut Option<Box<dyn Stream + '_>>) {
    if thread::panicking() {
        std::mem::forget(stream.take());
    }
}

/// How a stream is fed. The mode is derived from the bytes, since a case is fed in one mode only.
#[derive(Clone, Copy, Default)]
struct FeedMode<'d> {
    /// The output is taken away after each chunk.
    drained: bool,
    /// The existing content of the output, if it is not drained.
    existing: &'static [u8],
    /// Another stream of the decoder is fed in between.
    interleaved: bool,
    /// The decoder, of which three more streams are alive and fed in between.
    others: Option<&'d dyn Decoder>,
    /// The decoder, which decodes other bytes in one piece in between.
    one_shot: Option<&'d dyn Decoder>,
    /// The second chunk is pushed on another thread.
    moved: bool,
}

impl<'d> FeedMode<'d> {
    fn of(case: &Case<'_>, decoder: &'d dyn Decoder) -> Self {
        let choices = &case.choices;
        Self {
            drained: choices.is_drained(),
            existing: existing_output(choices.existing_stream_output()),
            interleaved: choices.is_interleaved(),
            others: choices.has_others().then_some(decoder),
            one_shot: choices.has_one_shot_between().then_some(decoder),
            // A process of an adapter belongs to one thread.
            moved: choices.is_moved() && decoder.batched().is_none(),
        }
    }
}

/// The existing content of an output: nothing, text, or ill-formed bytes that end inside a sequence.
fn existing_output(choice: u32) -> &'static [u8] {
    match choice {
        0 => b"ab",
        1 => b"\xEF\xBF\xBD\xFF\xE2\x82",
        _ => b"",
    }
}

/// Removes the existing content of an output. False if it was changed.
fn take_existing(output: &mut Vec<u8>, existing: &[u8]) -> bool {
    let kept = output.starts_with(existing);
    output.drain(..if kept { existing.len() } else { 0 });
    kept
}

/// Empties an output and releases the capacity left by a long case: a decoder may scan all of it, as encoding_rs does,
/// which would slow down every later short case.
fn empty(output: &mut Vec<u8>) {
    const CAPACITY: usize = 4096;
    output.clear();
    output.shrink_to(CAPACITY);
}

/// The index and offset of the cut at which the output of a stream is examined; derived from the bytes.
fn observed_cut(case: &Case<'_>) -> Option<(usize, usize)> {
    let cuts = case.cuts().offsets();
    let index = case.choices.watched_cut(cuts.len());
    cuts.get(index).map(|&cut| (index, cut))
}

impl Streamed {
    /// Feeds the chunks and ends the stream. With `watched`, records how much has been written at that cut. False if
    /// the decoder has no streams, or cannot be asked about this input.
    fn feed<'a>(
        &mut self,
        streams: &mut Streams<'_>,
        chunks: impl IntoIterator<Item = &'a [u8]>,
        watched: Option<(usize, usize)>,
        mode: FeedMode<'_>,
    ) -> bool {
        const NOISE: &[u8] = b"\xF0\x9F";
        // The first bytes of sequences of each length.
        const NOISES: [&[u8]; 3] = [b"\xC3", b"\xE2\x82", b"\xF0\x9F\x98"];
        let mut others = mode.others.map(|decoder| NOISES.map(|noise| (Spare(decoder.stream()), noise)));
        let Streams { primary, interleaved } = streams;
        let Some(stream) = primary.as_deref_mut() else { return false };
        let mut interleaved = interleaved.as_deref_mut().filter(|_| mode.interleaved);
        let existing = if mode.drained { b"" } else { mode.existing };
        empty(&mut self.output);
        self.output.extend_from_slice(existing);
        self.written = None;
        for (index, chunk) in chunks.into_iter().enumerate() {
            match stream.sendable().filter(|_| mode.moved && index == 1) {
                Some(stream) => self.write(mode.drained, |out| elsewhere(|| stream.push(chunk, out))),
                None => self.write(mode.drained, |out| stream.push(chunk, out)),
            }
            for (other, noise) in others.iter_mut().flatten() {
                empty(&mut self.piece);
                other.0.iter_mut().for_each(|other| other.push(noise, &mut self.piece));
            }
            if let Some(decoder) = mode.one_shot {
                empty(&mut self.piece);
                decoder.validate(NOISE);
                decoder.decode_lossy(NOISE, &mut self.piece);
            }
            if let Some(other) = &mut interleaved {
                empty(&mut self.piece);
                other.push(NOISE, &mut self.piece);
            }
            if let Some((_, cut)) = watched.filter(|&(at, _)| at == index) {
                self.written = Some((cut, self.output.len() - existing.len().min(self.output.len())));
            }
        }
        self.validity = self.write(mode.drained, |out| stream.finish(out));
        if let Some(other) = interleaved {
            empty(&mut self.piece);
            other.finish(&mut self.piece);
        }
        self.existing_kept = take_existing(&mut self.output, existing);
        stream.is_answered()
    }

    fn write<T>(&mut self, drained: bool, write: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        if !drained {
            return write(&mut self.output);
        }
        empty(&mut self.piece);
        let answer = write(&mut self.piece);
        self.output.extend_from_slice(&self.piece);
        answer
    }
}

impl Reused {
    fn ask(&mut self, streams: &mut Streams<'_>, bytes: &[u8]) -> bool {
        let is_given = self.streamed.feed(streams, [bytes], None, FeedMode::default());
        if let Some(stream) = streams.primary.as_deref_mut() {
            let piece = &mut self.streamed.piece;
            empty(piece);
            let validity = stream.finish(piece);
            self.ends_empty = piece.is_empty() && validity.is_none_or(|validity| validity.is_valid());
        }
        is_given
    }
}

impl Prefixed {
    /// A stream is asked only if the prefix is long: a short prefix as the first chunk is like any other cut.
    fn ask(&mut self, decoder: &dyn Decoder, streams: &mut Streams<'_>, case: &Case<'_>) -> bool {
        self.bytes.clear();
        self.bytes.resize(case.prefix(), b'a');
        self.bytes.extend_from_slice(case.bytes);
        self.verdicts = [decoder.validate(&self.bytes), None];
        self.output = None;
        if decoder.info().promise != Promise::Everything {
            let mut output = Vec::new();
            self.output = decoder.decode_lossy(&self.bytes, &mut output).map(|()| output);
        }
        if case.prefix() > Case::SHORT_PREFIX {
            let (prefix, rest) = self.bytes.split_at(case.prefix());
            let is_given = self.streamed.feed(streams, [prefix, rest], None, FeedMode::default());
            self.verdicts[1] = self.streamed.validity.filter(|_| is_given);
        }
        true
    }
}

/// The bytes, with one U+FFFD for each run of them.
fn one_for_each_run(bytes: &[u8]) -> impl Iterator<Item = u8> {
    const REPLACEMENT: &[u8] = "\u{FFFD}".as_bytes();
    let is_repeated = |at: usize| bytes[..at].ends_with(REPLACEMENT) && bytes[at..].starts_with(REPLACEMENT);
    let mut at = 0;
    std::iter::from_fn(move || {
        while is_repeated(at) {
            at += REPLACEMENT.len();
        }
        at += 1;
        bytes.get(at - 1).copied()
    })
}

impl Placed {
    /// The answers at another address, where the decoder has just been asked about other bytes.
    /// `len` is the length of the output, if the decoder was asked for it.
    fn ask(&mut self, decoder: &dyn Decoder, case: &Case<'_>, len: Option<usize>) -> bool {
        let range = place(&mut self.bytes, case);
        let len = len.or_else(|| {
            empty(&mut self.text);
            decoder.decode_lossy(case.bytes, &mut self.text).map(|()| self.text.len())
        });
        if let Some(last) = self.bytes[range.clone()].last_mut() {
            let right = std::mem::replace(last, if *last == 0xFF { b'a' } else { 0xFF });
            decoder.validate(&self.bytes[range.clone()]);
            if len.is_some() {
                empty(&mut self.text);
                decoder.decode_lossy(&self.bytes[range.clone()], &mut self.text);
            }
            self.bytes[range.end - 1] = right;
        }
        let bytes = &self.bytes[range];
        self.verdict = decoder.validate(bytes);
        self.has_output = false;
        if let Some(len) = len {
            let existing = make_room(&mut self.output, case, len);
            self.has_output = decoder.decode_lossy(bytes, &mut self.output).is_some();
            self.output.drain(..existing.min(self.output.len()));
        }
        self.verdict.is_some() || self.has_output
    }
}

/// Prepares a buffer for an output of this length, and returns how many bytes it holds already: a buffer without any
/// capacity, one that is exactly large enough, one that is a byte too small; or else a large one, in which the output
/// begins at an address that is derived from the alignment of the input.
fn make_room(output: &mut Vec<u8>, case: &Case<'_>, len: usize) -> usize {
    let (alignment, _) = case.placement();
    match case.choices.room() {
        0 => *output = Vec::new(),
        1 => *output = Vec::with_capacity(alignment + len),
        2 => *output = Vec::with_capacity(alignment + len.saturating_sub(1)),
        _ => {
            empty(output);
            output.reserve(2 * BLOCK + len);
            let start = output.as_ptr().align_offset(BLOCK).min(BLOCK);
            // The factor is odd, so a fault that repeats with the alignment of the output repeats with that of the input.
            output.resize(start + (5 * alignment + 3) % BLOCK, b'a');
            return output.len();
        }
    }
    output.resize(if output.capacity() > 0 { alignment } else { 0 }, b'a');
    output.len()
}

/// Whether the decoder gives the same answers as before while another thread asks it about other bytes; `None` if it
/// cannot answer, or if its process belongs to one thread.
fn ask_at_once(decoder: &dyn Decoder, bytes: &[u8]) -> Option<bool> {
    /// How often this thread asks while the other one does.
    const ROUNDS: usize = 32;
    /// From this many bytes on, an answer takes long enough that a thread which wakes may interrupt it. Two threads neither of
    /// which ever waits may take turns instead, with many answers in each turn.
    const LONG: usize = 1024;
    /// Ends the other thread, even if this one panics.
    struct Until<'f>(&'f AtomicBool);
    impl Drop for Until<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    if decoder.batched().is_some() {
        return None;
    }
    let answer = |bytes: &[u8]| {
        let mut output = Vec::new();
        (decoder.validate(bytes), decoder.decode_lossy(bytes, &mut output).map(|()| output))
    };
    let alone = answer(bytes);
    if alone == (None, None) {
        return None;
    }
    let others = [b"\xE2\x82", &bytes[bytes.len() / 2..]].concat();
    let ended = AtomicBool::new(false);
    let (start, started) = mpsc::sync_channel(1);
    Some(thread::scope(|scope| {
        let (ended, others) = (&ended, &others);
        scope.spawn(move || {
            answer(others);
            if start.send(()).is_ok() {
                while !ended.load(Ordering::Relaxed) {
                    answer(others);
                }
            }
        });
        let _until = Until(ended);
        // A thread that has waited in the kernel wakes on an idle processor if there is one; one that has spun may share
        // its processor with the other. If the other has panicked, there is nothing to receive, and the scope says so.
        started.recv().is_err()
            || (0..ROUNDS).all(|_| {
                if bytes.len() >= LONG {
                    thread::sleep(Duration::from_micros(10));
                }
                answer(bytes) == alone
            })
    }))
}

/// Runs this on another thread, and waits for it. A panic there becomes a panic here.
fn elsewhere(run: impl FnOnce() + Send) {
    let panic = thread::scope(|scope| scope.spawn(run).join().err());
    if let Some(panic) = panic {
        std::panic::resume_unwind(panic);
    }
}

/// The size in bytes of a cache line.
const BLOCK: usize = 64;

/// Places the bytes at one of 64 alignments or across the edge of a memory page, between margins that change the verdict
/// if they are read (lead bytes before, continuation bytes after), or between ASCII. This is derived from the bytes.
fn place(buffer: &mut Vec<u8>, case: &Case<'_>) -> Range<usize> {
    const PAGE: usize = 4096;
    let (alignment, poisoned) = case.placement();
    let (before, after) = if poisoned { (0xC3, 0x80) } else { (b'a', b'a') };
    let len = case.bytes.len();
    let unit = if case.choices.is_across_pages() { PAGE } else { BLOCK };
    buffer.resize(buffer.len().max(4 * unit + len), 0);
    let edge = buffer.as_ptr().align_offset(unit).min(unit) + unit;
    let start = match unit {
        PAGE => edge - (alignment * (len + 1) / BLOCK).min(PAGE - BLOCK),
        _ => edge + alignment,
    };
    if let Some(margin) = buffer[..start].last_chunk_mut::<BLOCK>() {
        margin.fill(before);
    }
    buffer[start..start + len].copy_from_slice(case.bytes);
    buffer[start + len..start + len + BLOCK].fill(after);
    start..start + len
}

#[cfg(all(target_os = "linux", feature = "guard-pages"))]
impl Guarded {
    /// Places the bytes at the end of accessible memory, and one time in four also at its start, and asks for the
    /// verdict and for the output, either in one piece or as a stream. These choices are derived from the bytes. `None`
    /// if they cannot be placed there, or the decoder answers neither.
    fn ask(&mut self, decoder: &dyn Decoder, streams: &mut Streams<'_>, case: &Case<'_>) -> Option<Result<(), End>> {
        if self.buffer.is_none() {
            self.buffer = GuardedBuffer::new();
        }
        let buffer = self.buffer.as_mut()?;
        // Clear an out-of-bounds access still recorded from a decoder that panicked.
        buffer.out_of_bounds_access();
        let (whole, both) = (case.choices.is_whole_at_bounds(), case.choices.has_both_bounds());
        let mut is_answered = false;
        for end in [End::End, End::Start].into_iter().take(if both { 2 } else { 1 }) {
            let copy = match end {
                End::Start => buffer.at_start(case.bytes),
                End::End => buffer.at_end(case.bytes),
            }?;
            is_answered |= decoder.validate(copy).is_some();
            is_answered |= if whole == (end == End::End) {
                empty(&mut self.output.output);
                decoder.decode_lossy(copy, &mut self.output.output).is_some()
            } else {
                self.output.feed(streams, case.cuts().chunks(copy), None, FeedMode::default())
            };
            if buffer.out_of_bounds_access() {
                return Some(Err(end));
            }
        }
        is_answered.then_some(Ok(()))
    }
}
