//! How a stream is fed: the chunks, what its output holds before, and what goes on beside it.

use crate::case::Case;
use crate::decoder::Stream;
use crate::utf8::Validity;

/// The streams of one decoder.
#[derive(Default)]
pub(crate) struct Streams<'s> {
    /// The one that is asked.
    pub(crate) asked: Option<Box<dyn Stream + 's>>,
    /// Another, alive at the same time.
    pub(crate) beside: Option<Box<dyn Stream + 's>>,
}

/// What a finished stream said.
#[derive(Clone, Copy)]
pub(crate) struct Streamed {
    pub(crate) validity: Option<Validity>,
    /// A cut, and how long the output was when the chunk before it had been pushed.
    pub(crate) written: Option<(usize, usize)>,
    /// Whether what the output held before is still there.
    pub(crate) kept: bool,
}

/// The manner of feeding; picked by the bytes, since not every case can be fed in every manner.
#[derive(Clone, Copy, Default)]
pub(crate) struct Manner {
    /// The output is taken away after each chunk.
    drained: bool,
    /// What the output holds before, if it is not drained.
    before: &'static [u8],
    /// Another stream of the decoder is fed in between.
    beside: bool,
}

/// What an output may hold already: nothing, text, or what is no text and ends in the middle.
pub(crate) fn held(lot: u32) -> &'static [u8] {
    match lot % 4 {
        0 => b"ab",
        1 => b"\xEF\xBF\xBD\xFF\xE2\x82",
        _ => b"",
    }
}

impl Manner {
    pub(crate) fn of(case: &Case<'_>) -> Self {
        let lot = case.lot >> 3;
        Self { drained: lot & 1 == 0, before: held(lot >> 1), beside: lot >> 3 & 3 == 0 }
    }
}

/// Empties an output. Room that one long case has made it take is given back: a decoder may look over all of it, as
/// encoding_rs does, and every short case would pay for the long one.
pub(crate) fn empty(output: &mut Vec<u8>) {
    const ROOM: usize = 4096;
    output.clear();
    output.shrink_to(ROOM);
}

/// The cut, and its place in the list, at which a stream is watched; picked by the bytes.
pub(crate) fn watched(case: &Case<'_>) -> Option<(usize, usize)> {
    let cuts = case.cuts().offsets();
    let index = (case.lot >> 17) as usize % cuts.len().max(1);
    cuts.get(index).map(|&cut| (index, cut))
}

/// A stream's output and room beside it; kept from case to case.
#[derive(Default)]
pub(crate) struct Output {
    pub(crate) bytes: Vec<u8>,
    piece: Vec<u8>,
}

impl Output {
    /// Feeds the chunks and ends the stream. With `watched`, notes how much is written when that cut is reached.
    pub(crate) fn feed<'a>(
        &mut self,
        streams: &mut Streams<'_>,
        chunks: impl IntoIterator<Item = &'a [u8]>,
        watched: Option<(usize, usize)>,
        manner: Manner,
    ) -> Option<Streamed> {
        const NOISE: &[u8] = b"\xF0\x9F";
        let Streams { asked, beside } = streams;
        let stream = asked.as_deref_mut()?;
        let mut beside = beside.as_deref_mut().filter(|_| manner.beside);
        let before = if manner.drained { b"" } else { manner.before };
        empty(&mut self.bytes);
        self.bytes.extend_from_slice(before);
        let mut written = None;
        for (index, chunk) in chunks.into_iter().enumerate() {
            self.write(manner.drained, |out| stream.push(chunk, out));
            if let Some(beside) = &mut beside {
                empty(&mut self.piece);
                beside.push(NOISE, &mut self.piece);
            }
            if let Some((_, cut)) = watched.filter(|&(at, _)| at == index) {
                written = Some((cut, self.bytes.len() - before.len().min(self.bytes.len())));
            }
        }
        let validity = self.write(manner.drained, |out| stream.finish(out));
        if let Some(beside) = beside {
            empty(&mut self.piece);
            beside.finish(&mut self.piece);
        }
        let kept = self.bytes.starts_with(before);
        self.bytes.drain(..if kept { before.len() } else { 0 });
        Some(Streamed { validity, written, kept })
    }

    /// Ends a stream that has been given nothing. True where it says that nothing is well-formed, and writes nothing.
    pub(crate) fn ends_empty(&mut self, stream: &mut dyn Stream) -> bool {
        empty(&mut self.piece);
        let validity = stream.finish(&mut self.piece);
        self.piece.is_empty() && validity.is_none_or(|validity| validity.is_valid())
    }

    fn write<T>(&mut self, drained: bool, write: impl FnOnce(&mut Vec<u8>) -> T) -> T {
        if !drained {
            return write(&mut self.bytes);
        }
        empty(&mut self.piece);
        let answer = write(&mut self.piece);
        self.bytes.extend_from_slice(&self.piece);
        answer
    }
}
