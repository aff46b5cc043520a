//! What a decoder answers: questions put to it, and the answers kept as they are.

use crate::case::Case;
use crate::decoder::Decoder;
use crate::judge::feed::{Manner, Output, Streamed, Streams, empty, held, watched};
#[cfg(all(target_os = "linux", feature = "fence"))]
use crate::judge::isolate::guard_pages::Fence;
use crate::judge::question::{Questions, Spans};
use crate::utf8::{ErrorLen, Malformed, Validity};

/// The answers of one decoder to one case; `None` where it was not asked or could not say. The buffers are kept from
/// case to case.
#[derive(Default)]
pub(crate) struct Observation {
    /// The verdict on the input.
    pub(crate) validity: Option<Validity>,
    /// The output.
    pub(crate) lossy: Option<()>,
    pub(crate) lossy_bytes: Vec<u8>,
    /// Errors, from the expected one of this index on, found by going on behind each.
    pub(crate) errors: Option<ErrorsFrom>,
    pub(crate) error_list: Vec<Malformed>,
    /// The input in chunks.
    pub(crate) streamed: Option<Streamed>,
    pub(crate) streamed_output: Output,
    /// The input in one chunk, on the stream that has just been finished.
    pub(crate) again: Option<Streamed>,
    pub(crate) again_output: Output,
    /// Whether a stream that was given nothing ended with nothing.
    pub(crate) ended_empty: Option<bool>,
    /// The verdict on the input behind an ASCII prefix.
    pub(crate) prefixed: Option<Validity>,
    prefixed_bytes: Vec<u8>,
    /// The verdict of a stream on the same, the prefix being the first chunk.
    pub(crate) prefixed_stream: Option<Validity>,
    /// The verdict on the same bytes at another address, between other bytes.
    pub(crate) placed: Option<Validity>,
    placed_bytes: Vec<u8>,
    /// Whether the output left alone what was in its buffer before.
    pub(crate) appended: Option<bool>,
    /// Whether only the bytes themselves were read, or on which side others were.
    pub(crate) bounds: Option<Result<(), Side>>,
    #[cfg(all(target_os = "linux", feature = "fence"))]
    fence: Option<Fence>,
    #[cfg(all(target_os = "linux", feature = "fence"))]
    fenced_output: Output,
    /// The verdicts on the input before and after the first cut.
    pub(crate) halves: Option<(Validity, Validity)>,
}

/// One end of a byte string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(not(all(target_os = "linux", feature = "fence")), allow(dead_code, reason = "only a fence tells"))]
pub(crate) enum Side {
    Before,
    Behind,
}

/// Which of the expected errors the list of errors answers to.
#[derive(Clone, Copy)]
pub(crate) struct ErrorsFrom {
    pub(crate) first: usize,
    /// So many were asked for at the most.
    pub(crate) asked: usize,
}

/// So many errors of one input are followed. Behind them, single ones are asked for by [`Spans::Behind`].
const FOLLOWED: usize = 4096;

impl Observation {
    /// Puts these questions to the decoder. `expected` are the errors `spec` finds.
    pub(crate) fn observe(
        &mut self,
        decoder: &dyn Decoder,
        streams: &mut Streams<'_>,
        case: &Case<'_>,
        questions: Questions,
        expected: impl ExactSizeIterator<Item = Malformed> + Clone,
    ) {
        let bytes = case.bytes;
        self.validity = if questions.verdict { decoder.validate(bytes) } else { None };
        self.lossy = None;
        self.appended = None;
        if questions.lossy {
            self.observe_output(decoder, case);
        }
        self.errors = None;
        match questions.spans {
            Spans::No => {}
            Spans::All => self.observe_all_errors(decoder, bytes, expected.clone()),
            Spans::Behind(index) => self.observe_next_error(decoder, bytes, index, expected.clone().nth(index)),
        }
        self.observe_stream(streams, case, questions);
        self.bounds = None;
        #[cfg(all(target_os = "linux", feature = "fence"))]
        if questions.bounds {
            self.observe_bounds(decoder, streams, case);
        }
        self.prefixed = None;
        self.prefixed_stream = None;
        if questions.prefix {
            self.observe_prefixed(decoder, streams, case);
        }
        self.placed = None;
        if questions.placement {
            self.placed = self.observe_placed(decoder, case);
        }
        self.halves = None;
        if questions.halves
            && expected.len() > 0
            && let Some(&cut) = case.cuts().offsets().first()
            && (1..bytes.len()).contains(&cut)
        {
            self.halves = decoder.validate(&bytes[..cut]).zip(decoder.validate(&bytes[cut..]));
        }
    }

    /// Half of the outputs are put behind something, which must stay.
    fn observe_output(&mut self, decoder: &dyn Decoder, case: &Case<'_>) {
        let before = held(case.lot >> 1);
        empty(&mut self.lossy_bytes);
        self.lossy_bytes.extend_from_slice(before);
        self.lossy = decoder.decode_lossy(case.bytes, &mut self.lossy_bytes);
        if self.lossy.is_some() && !before.is_empty() {
            let kept = self.lossy_bytes.starts_with(before);
            self.appended = Some(kept);
            self.lossy_bytes.drain(..if kept { before.len() } else { 0 });
            self.lossy = self.lossy.filter(|()| kept);
        }
    }

    fn observe_stream(&mut self, streams: &mut Streams<'_>, case: &Case<'_>, questions: Questions) {
        self.streamed = None;
        if questions.stream {
            let watched = watched(case).filter(|_| questions.written);
            let chunks = case.cuts().chunks(case.bytes);
            self.streamed = self.streamed_output.feed(streams, chunks, watched, Manner::of(case));
        }
        self.again = None;
        self.ended_empty = None;
        if questions.again {
            self.again = self.again_output.feed(streams, [case.bytes], None, Manner::default());
            self.ended_empty = streams.asked.as_deref_mut().map(|stream| self.again_output.ends_empty(stream));
        }
    }

    /// A stream is asked only where the prefix is a long one: a short one, as its first chunk, is like any other cut.
    fn observe_prefixed(&mut self, decoder: &dyn Decoder, streams: &mut Streams<'_>, case: &Case<'_>) {
        self.prefixed_bytes.clear();
        self.prefixed_bytes.resize(case.prefix, b'a');
        self.prefixed_bytes.extend_from_slice(case.bytes);
        self.prefixed = decoder.validate(&self.prefixed_bytes);
        if case.prefix > Case::SHORT_PREFIX {
            let (prefix, rest) = self.prefixed_bytes.split_at(case.prefix);
            let streamed = self.again_output.feed(streams, [prefix, rest], None, Manner::default());
            self.prefixed_stream = streamed.and_then(|streamed| streamed.validity);
            // What law 10 looks at is gone.
            self.again = None;
        }
    }

    /// The verdict of the bytes where they are put; after that of bytes next to them, which were there before.
    fn observe_placed(&mut self, decoder: &dyn Decoder, case: &Case<'_>) -> Option<Validity> {
        let range = place(&mut self.placed_bytes, case);
        if let Some(last) = self.placed_bytes[range.clone()].last_mut() {
            let right = std::mem::replace(last, if *last == 0xFF { b'a' } else { 0xFF });
            decoder.validate(&self.placed_bytes[range.clone()]);
            self.placed_bytes[range.end - 1] = right;
        }
        decoder.validate(&self.placed_bytes[range])
    }

    /// Puts the bytes where readable memory ends, and now and then where it begins, and asks for the verdict, and for the
    /// output, whole or of a stream. When, and which, is picked by the bytes.
    #[cfg(all(target_os = "linux", feature = "fence"))]
    fn observe_bounds(&mut self, decoder: &dyn Decoder, streams: &mut Streams<'_>, case: &Case<'_>) {
        if self.fence.is_none() {
            self.fence = Fence::new();
        }
        let Some(fence) = &mut self.fence else { return };
        // A decoder that panicked may have left something.
        fence.was_touched();
        let (whole, both) = (case.lot & 4 == 0, case.lot >> 9 & 3 == 0);
        for side in [Side::Behind, Side::Before].into_iter().take(if both { 2 } else { 1 }) {
            let copy = match side {
                Side::Before => fence.at_start(case.bytes),
                Side::Behind => fence.at_end(case.bytes),
            };
            let Some(copy) = copy else { return };
            decoder.validate(copy);
            if whole == (side == Side::Behind) {
                empty(&mut self.fenced_output.bytes);
                decoder.decode_lossy(copy, &mut self.fenced_output.bytes);
            } else {
                self.fenced_output.feed(streams, case.cuts().chunks(copy), None, Manner::default());
            }
            if fence.was_touched() {
                self.bounds = Some(Err(side));
                return;
            }
        }
        self.bounds = Some(Ok(()));
    }

    /// Goes on behind each error the decoder finds, or where it does not state them, behind each that is expected.
    fn observe_all_errors(
        &mut self,
        decoder: &dyn Decoder,
        bytes: &[u8],
        mut expected: impl ExactSizeIterator<Item = Malformed>,
    ) {
        self.error_list.clear();
        let mut start = 0;
        let mut verdict = self.validity;
        while let Some(Validity::Invalid(malformed)) = verdict
            && self.error_list.len() < FOLLOWED
        {
            let stated = shifted(malformed, start);
            self.error_list.push(stated);
            let expected = expected.next();
            let end = match (stated.valid_up_to, stated.len) {
                (Some(_), Some(_)) => end(&stated),
                _ => expected.as_ref().and_then(end),
            };
            let Some(end) = end.filter(|&end| end > start && end <= bytes.len()) else { break };
            start = end;
            verdict = decoder.validate(&bytes[start..]);
        }
        self.errors = verdict.map(|_| ErrorsFrom { first: 0, asked: FOLLOWED });
    }

    fn observe_next_error(&mut self, decoder: &dyn Decoder, bytes: &[u8], index: usize, expected: Option<Malformed>) {
        self.error_list.clear();
        let Some(start) = expected.as_ref().and_then(end).filter(|&end| end <= bytes.len()) else { return };
        match decoder.validate(&bytes[start..]) {
            Some(Validity::Invalid(malformed)) => self.error_list.push(shifted(malformed, start)),
            Some(Validity::Valid) => {}
            None => return,
        }
        self.errors = Some(ErrorsFrom { first: index + 1, asked: 1 });
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

/// Puts the bytes at one of 64 alignments, between margins that would spoil the verdict if they were read: leads before
/// and continuation bytes behind, or ASCII at both sides. Alignment and margins are picked by the bytes.
fn place(buffer: &mut Vec<u8>, case: &Case<'_>) -> std::ops::Range<usize> {
    const BLOCK: usize = 64;
    let (alignment, poisoned) = case.placement();
    let (before, behind) = if poisoned { (0xC3, 0x80) } else { (b'a', b'a') };
    let len = case.bytes.len();
    buffer.clear();
    buffer.resize(4 * BLOCK + len, behind);
    let start = buffer.as_ptr().align_offset(BLOCK).min(BLOCK) + BLOCK + alignment;
    buffer[..start].fill(before);
    buffer[start..start + len].copy_from_slice(case.bytes);
    start..start + len
}
