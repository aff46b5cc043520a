//! Asking a decoder about several inputs at once, and holding it to a contract other than the one it claims.

use crate::decoder::{Batched, Decoder, Info, Promise, Stream};
use crate::judge::isolate::panics;
use crate::probe::contracts::Answer;
use crate::spec::{Contract, Replacement};
use crate::text::{hex_separated, printable};
use crate::utf8::{Malformed, Validity};
use std::collections::HashSet;

/// Asks a decoder about some inputs, all at once if that is possible. A decoder that panics gives no answer.
pub fn ask(decoder: &dyn Decoder, inputs: &[&[u8]]) -> Vec<Answer> {
    let one = |decoder: &dyn Decoder, bytes: &[u8]| {
        let mut answer = Answer::default();
        let panicked = panics(&decoder.info().name, bytes, || {
            let mut output = Vec::new();
            answer.verdict = decoder.validate(bytes);
            answer.output = decoder.decode_lossy(bytes, &mut output).map(|()| output);
        });
        Answer { panicked, ..answer }
    };
    if let Some(batched) = decoder.batched() {
        inputs.iter().for_each(|bytes| drop(one(batched.planner(), bytes)));
        batched.ask_planned();
    }
    inputs.iter().map(|bytes| one(decoder, bytes)).collect()
}

/// A decoder, held to a contract other than the one it claims.
pub struct Held<'d> {
    decoder: &'d dyn Decoder,
    info: Info,
    /// Whether the offsets that it states are those of this crate. If not, they are left out.
    has_offsets: bool,
}

impl<'d> Held<'d> {
    /// The decoder, held to this contract. With `has_offsets`, its offsets are compared too.
    pub fn to(contract: Contract, decoder: &'d dyn Decoder, has_offsets: bool) -> Self {
        let info = Info { contract, promise: Promise::Everything, ..decoder.info().clone() };
        Self { decoder, info, has_offsets }
    }
}

fn without_offsets(verdict: Validity) -> Validity {
    match verdict {
        Validity::Valid => Validity::Valid,
        Validity::Invalid(_) => Validity::Invalid(Malformed { valid_up_to: None, len: None, kind: None }),
    }
}

impl Decoder for Held<'_> {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        let verdict = self.decoder.validate(bytes);
        if self.has_offsets { verdict } else { verdict.map(without_offsets) }
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        self.decoder.decode_lossy(bytes, out)
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        let stream = self.decoder.stream()?;
        Some(if self.has_offsets { stream } else { Box::new(WithoutOffsets(stream)) })
    }

    fn batched(&self) -> Option<&dyn Batched> {
        self.decoder.batched()
    }
}

struct WithoutOffsets<'s>(Box<dyn Stream + 's>);

impl Stream for WithoutOffsets<'_> {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        self.0.push(chunk, out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        self.0.finish(out).map(without_offsets)
    }

    fn is_answered(&self) -> bool {
        self.0.is_answered()
    }
}

/// A decoder whose replacement is in no contract, presented as one that writes that of a contract: U+FFFD if it
/// writes the same for every byte, such as `?`, and U+DC80 to U+DCFF if it writes something else for each, such as `%8F`.
pub struct Rewritten<'d> {
    decoder: &'d dyn Decoder,
    /// What it writes for each of the bytes 80 to FF by itself, or for all of them.
    written: Vec<Vec<u8>>,
    /// Whether any of them starts with a byte.
    starts: [bool; 256],
}

impl<'d> Rewritten<'d> {
    /// Tries what the decoder writes for single bytes; `None` if that is U+FFFD or nothing, or the same for only some of
    /// them.
    pub fn of(decoder: &'d dyn Decoder) -> Option<Self> {
        let inputs: Vec<[u8; 1]> = (0x80..=0xFF).map(|byte| [byte]).collect();
        let answers = ask(decoder, &inputs.iter().map(|input| input.as_slice()).collect::<Vec<_>>());
        let mut written: Vec<Vec<u8>> = answers.into_iter().map(|answer| answer.output).collect::<Option<_>>()?;
        let different: HashSet<&[u8]> = written.iter().map(Vec::as_slice).collect();
        let is_new = !different.contains(&[][..]) && !different.contains("\u{FFFD}".as_bytes());
        let count = different.len();
        let can_be_told = count == 1 || count == written.len();
        written.truncate(count);
        let mut starts = [false; 256];
        written.iter().flat_map(|written| written.first()).for_each(|&byte| starts[usize::from(byte)] = true);
        (is_new && can_be_told).then_some(Self { decoder, written, starts })
    }

    /// What it writes, and instead of what.
    pub fn says(&self) -> String {
        let shown = |written: &[u8]| match std::str::from_utf8(written) {
            Ok(text) if text.is_ascii() => format!("\"{}\"", printable(text)),
            _ => hex_separated(written, " "),
        };
        match self.written.as_slice() {
            [all] => format!("{} instead of U+FFFD", shown(all)),
            each => format!("{} instead of U+DC8F for the byte 8F, and so on", shown(&each[0x0F])),
        }
    }

    /// If these bytes start with what it writes for some byte: that byte, and the length of what it writes.
    fn at_start(&self, bytes: &[u8]) -> Option<(u8, usize)> {
        bytes.first().filter(|&&byte| self.starts[usize::from(byte)])?;
        let mut all = (0x80..=0xFF).zip(&self.written);
        let (byte, written) = all.find(|(_, written)| bytes.starts_with(written))?;
        Some((byte, written.len()))
    }

    /// Writes `from` as the contract would have it.
    fn rewrite(&self, mut from: &[u8], out: &mut Vec<u8>) {
        while let Some((&first, rest)) = from.split_first() {
            match self.at_start(from) {
                Some((byte, len)) => {
                    let replacement = if self.written.len() == 1 {
                        Replacement::ReplacementCharacter
                    } else {
                        Replacement::SurrogateEscape
                    };
                    replacement.push(&[byte], out);
                    from = &from[len..];
                }
                None => {
                    out.push(first);
                    from = rest;
                }
            }
        }
    }
}

impl Decoder for Rewritten<'_> {
    fn info(&self) -> &Info {
        self.decoder.info()
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        self.decoder.validate(bytes)
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let mut written = Vec::new();
        self.decoder.decode_lossy(bytes, &mut written)?;
        // In an input that contains what it writes, that cannot be told from a replacement.
        let is_clear = (0..bytes.len()).all(|start| self.at_start(&bytes[start..]).is_none());
        is_clear.then(|| self.rewrite(&written, out))
    }

    fn batched(&self) -> Option<&dyn Batched> {
        self.decoder.batched()
    }
}
