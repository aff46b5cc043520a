//! What a decoder answers: questions put to it, and the answers kept as they are.

use super::question::{Questions, Spans};
use crate::decoder::{Decoder, Stream};
use crate::input::Case;
#[cfg(all(target_os = "linux", feature = "fence"))]
use crate::input::fence::Fence;
use crate::utf8::{ErrorLen, Malformed, Validity};

/// The answers of one decoder to one case; `None` where it was not asked or could not say. The buffers are kept from
/// case to case.
#[derive(Default)]
pub(super) struct Observation {
    /// The verdict on the input.
    pub(super) validity: Option<Validity>,
    /// The output.
    pub(super) lossy: Option<()>,
    pub(super) lossy_bytes: Vec<u8>,
    /// Errors, from the expected one of this index on, found by going on behind each.
    pub(super) errors: Option<ErrorsFrom>,
    pub(super) error_list: Vec<Malformed>,
    /// The input in chunks.
    pub(super) streamed: Option<Streamed>,
    pub(super) streamed_bytes: Vec<u8>,
    /// The input in one chunk, on the stream that has just been finished.
    pub(super) again: Option<Streamed>,
    pub(super) again_bytes: Vec<u8>,
    /// The verdict on the input behind an ASCII prefix.
    pub(super) prefixed: Option<Validity>,
    prefixed_bytes: Vec<u8>,
    /// The verdict on the same bytes at another address, between other bytes.
    pub(super) placed: Option<Validity>,
    placed_bytes: Vec<u8>,
    /// Whether the output left alone what was in its buffer before.
    pub(super) appended: Option<bool>,
    /// Whether only the bytes themselves were read, or on which side others were.
    pub(super) bounds: Option<Result<(), Side>>,
    #[cfg(all(target_os = "linux", feature = "fence"))]
    fence: Option<Fence>,
    #[cfg(all(target_os = "linux", feature = "fence"))]
    fenced_bytes: Vec<u8>,
    /// The verdicts on the input before and after the first cut.
    pub(super) halves: Option<(Validity, Validity)>,
}

/// What a finished stream said.
#[derive(Clone, Copy)]
pub(super) struct Streamed {
    pub(super) validity: Option<Validity>,
    /// A cut, and how long the output was when the chunk before it had been pushed.
    pub(super) written: Option<(usize, usize)>,
}

/// One end of a byte string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Before,
    Behind,
}

/// Which of the expected errors the list of errors answers to.
#[derive(Clone, Copy)]
pub(super) struct ErrorsFrom {
    pub(super) first: usize,
    /// So many were asked for at the most.
    pub(super) asked: usize,
}

/// So many errors of one input are followed. Behind them, single ones are asked for by [`Spans::Behind`].
const FOLLOWED: usize = 4096;

impl Observation {
    /// Puts these questions to the decoder. `expected` are the errors `spec` finds.
    pub(super) fn observe<'s>(
        &mut self,
        decoder: &dyn Decoder,
        stream: Option<&mut (dyn Stream + 's)>,
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
        self.streamed = None;
        self.again = None;
        let mut stream = stream;
        if let Some(stream) = &mut stream {
            if questions.stream {
                self.streamed_bytes.clear();
                let watched = watched(case).filter(|_| questions.written);
                self.streamed =
                    Some(in_chunks(&mut **stream, case.cuts().chunks(bytes), watched, &mut self.streamed_bytes));
            }
            if questions.again {
                self.again_bytes.clear();
                self.again = Some(in_chunks(&mut **stream, [bytes], None, &mut self.again_bytes));
            }
        }
        self.bounds = None;
        #[cfg(all(target_os = "linux", feature = "fence"))]
        if questions.bounds {
            self.observe_bounds(decoder, stream, case);
        }
        self.prefixed = None;
        if questions.prefix {
            self.prefixed_bytes.clear();
            self.prefixed_bytes.resize(case.prefix, b'a');
            self.prefixed_bytes.extend_from_slice(bytes);
            self.prefixed = decoder.validate(&self.prefixed_bytes);
        }
        self.placed = None;
        if questions.placement {
            let range = place(&mut self.placed_bytes, case);
            self.placed = decoder.validate(&self.placed_bytes[range]);
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
        const BEFORE: &[u8] = b"ab";
        let before = if case.lot & 2 == 0 { BEFORE } else { b"" };
        self.lossy_bytes.clear();
        self.lossy_bytes.extend_from_slice(before);
        self.lossy = decoder.decode_lossy(case.bytes, &mut self.lossy_bytes);
        if self.lossy.is_some() && !before.is_empty() {
            let kept = self.lossy_bytes.starts_with(before);
            self.appended = Some(kept);
            self.lossy_bytes.drain(..if kept { before.len() } else { 0 });
        }
    }

    /// Puts the bytes where readable memory ends, and where it begins, and asks for the verdict. What is asked besides,
    /// and on which side, is picked by the bytes.
    #[cfg(all(target_os = "linux", feature = "fence"))]
    fn observe_bounds<'s>(
        &mut self,
        decoder: &dyn Decoder,
        mut stream: Option<&mut (dyn Stream + 's)>,
        case: &Case<'_>,
    ) {
        if self.fence.is_none() {
            self.fence = Fence::new();
        }
        let Some(fence) = &mut self.fence else { return };
        // A decoder that panicked may have left something.
        fence.was_touched();
        let picked = if case.lot & 4 == 0 { Side::Before } else { Side::Behind };
        for side in [Side::Behind, Side::Before] {
            let copy = match side {
                Side::Before => fence.at_start(case.bytes),
                Side::Behind => fence.at_end(case.bytes),
            };
            let Some(copy) = copy else { return };
            decoder.validate(copy);
            self.fenced_bytes.clear();
            match (&mut stream, side == picked) {
                (_, true) => {
                    decoder.decode_lossy(copy, &mut self.fenced_bytes);
                }
                (Some(stream), false) => {
                    in_chunks(&mut **stream, [copy], None, &mut self.fenced_bytes);
                }
                (None, false) => {}
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
            let end = match (stated.valid_up_to, stated.len) {
                (Some(_), Some(_)) => end(&stated),
                _ => expected.next().as_ref().and_then(end),
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

/// The cut, and its place in the list, at which a stream is watched; picked by the bytes.
fn watched(case: &Case<'_>) -> Option<(usize, usize)> {
    let cuts = case.cuts().offsets();
    let index = (case.lot >> 8) as usize % cuts.len().max(1);
    cuts.get(index).map(|&cut| (index, cut))
}

/// Feeds the chunks and ends the stream. With `watched`, notes how much is written when that cut is reached.
fn in_chunks<'a, 's>(
    stream: &mut (dyn Stream + 's),
    chunks: impl IntoIterator<Item = &'a [u8]>,
    watched: Option<(usize, usize)>,
    out: &mut Vec<u8>,
) -> Streamed {
    let mut written = None;
    for (index, chunk) in chunks.into_iter().enumerate() {
        stream.push(chunk, out);
        if let Some((_, cut)) = watched.filter(|&(at, _)| at == index) {
            written = Some((cut, out.len()));
        }
    }
    Streamed { validity: stream.finish(out), written }
}
