//! Asks a decoder.

use crate::decoder::Decoder;
use crate::judge::isolate::panics;
use crate::probe::contracts::Answer;

/// Asks a decoder about some inputs, all at once if it can be asked so. A decoder that panics gives no answer.
pub fn ask(decoder: &dyn Decoder, inputs: &[&[u8]]) -> Vec<Answer> {
    let one = |decoder: &dyn Decoder, bytes: &[u8]| {
        let mut answer = Answer::default();
        panics(&decoder.info().name, bytes, || {
            let mut output = Vec::new();
            answer.verdict = decoder.validate(bytes);
            answer.output = decoder.decode_lossy(bytes, &mut output).map(|()| output);
        });
        answer
    };
    if let Some(batched) = decoder.batched() {
        inputs.iter().for_each(|bytes| drop(one(batched.planner(), bytes)));
        batched.ask_planned();
    }
    inputs.iter().map(|bytes| one(decoder, bytes)).collect()
}
