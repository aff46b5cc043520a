//! Which decoders give the same answers, and how often.
//!
//! Contracts play no part here: decoders with different contracts may differ without either being wrong.

use crate::decoder::Decoder;
use crate::explain::annotate::hex;
use crate::judge::isolate::panics;
use crate::judge::laws::verdict_mismatch;
use crate::utf8::Validity;
use core::fmt;
use std::borrow::Cow;

/// For each pair of decoders, on how many inputs they agree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// How many inputs there were.
    pub inputs: u64,
    /// The decoders.
    pub decoders: Vec<Cow<'static, str>>,
    /// By row and column: on how many inputs both agree in everything that both answer.
    pub same: Vec<Vec<u64>>,
    /// By row and column: on how many inputs both give answers that can be compared.
    pub asked: Vec<Vec<u64>>,
}

/// What a decoder answered, printable.
pub(super) enum Answer {
    Panicked,
    /// What it stated: the verdict, the output, or both.
    Given {
        verdict: Option<Validity>,
        output: Option<Vec<u8>>,
    },
}

impl Agreement {
    /// Asks all decoders for verdict and output of all inputs.
    pub fn of<'i>(decoders: &[&dyn Decoder], inputs: impl IntoIterator<Item = &'i [u8]>) -> Self {
        let count = decoders.len();
        let (mut same, mut asked) = (vec![vec![0; count]; count], vec![vec![0; count]; count]);
        let mut seen = 0;
        for bytes in inputs {
            seen += 1;
            let answers: Vec<Answer> = decoders.iter().map(|decoder| answer(*decoder, bytes)).collect();
            for (row, one) in answers.iter().enumerate() {
                for (column, other) in answers.iter().enumerate() {
                    let agrees = one.agrees_with(other);
                    asked[row][column] += u64::from(agrees.is_some());
                    same[row][column] += u64::from(agrees == Some(true));
                }
            }
        }
        let decoders = decoders.iter().map(|decoder| decoder.info().name.clone()).collect();
        Self { inputs: seen, decoders, same, asked }
    }
}

fn answer(decoder: &dyn Decoder, bytes: &[u8]) -> Answer {
    let (mut verdict, mut output) = (None, Vec::new());
    let mut written = None;
    let ask = || {
        verdict = decoder.validate(bytes);
        written = decoder.decode_lossy(bytes, &mut output);
    };
    if panics(&decoder.info().name, bytes, ask) {
        return Answer::Panicked;
    }
    Answer::Given { verdict, output: written.map(|()| output) }
}

impl Answer {
    /// Whether both agree in everything that both state; `None` if they state nothing that can be compared.
    pub(super) fn agrees_with(&self, other: &Self) -> Option<bool> {
        let (Self::Given { verdict, output }, Self::Given { verdict: other_verdict, output: other_output }) =
            (self, other)
        else {
            return Some(matches!((self, other), (Self::Panicked, Self::Panicked)));
        };
        let verdicts = verdict.as_ref().zip(other_verdict.as_ref()).map(|(a, b)| verdict_mismatch(a, b).is_none());
        let outputs = output.as_ref().zip(other_output.as_ref()).map(|(a, b)| a == b);
        [verdicts, outputs].into_iter().flatten().reduce(|a, b| a && b)
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Given { verdict, output } = self else { return f.write_str("panicked") };
        let verdict = verdict.map(|verdict| verdict.to_string());
        let output = output.as_deref().map(|bytes| if bytes.is_empty() { "(nothing)".to_owned() } else { hex(bytes) });
        let stated: Vec<String> = [verdict, output].into_iter().flatten().collect();
        f.write_str(if stated.is_empty() { "no answer" } else { "" })?;
        f.write_str(&stated.join("; "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoder::Info;

    struct Says(Info, fn(&[u8]) -> Option<Validity>, Option<&'static [u8]>);

    impl Decoder for Says {
        fn info(&self) -> &Info {
            &self.0
        }

        fn validate(&self, bytes: &[u8]) -> Option<Validity> {
            (self.1)(bytes)
        }

        fn decode_lossy(&self, _: &[u8], out: &mut Vec<u8>) -> Option<()> {
            self.2.map(|text| out.extend_from_slice(text))
        }
    }

    #[test]
    fn pairs_are_compared_in_what_both_state() {
        let valid = |_: &[u8]| Some(Validity::Valid);
        let info = |name| Info::new(name, "0");
        let decoders = [
            Says(info("valid"), valid, None),
            Says(info("valid-a"), valid, Some(b"a")),
            Says(info("a"), |_| None, Some(b"a")),
            Says(info("valid-b"), valid, Some(b"b")),
            Says(info("short"), |bytes| Some(if bytes.len() < 2 { Validity::Valid } else { Validity::INVALID }), None),
            Says(info("panics"), |_| panic!("no answer"), None),
        ];
        let decoders: Vec<&dyn Decoder> = decoders.iter().map(|decoder| decoder as &dyn Decoder).collect();
        let agreement = Agreement::of(&decoders, [&b"x"[..], b"xy", b"xyz"]);
        assert_eq!((agreement.inputs, &*agreement.decoders[4]), (3, "short"));
        let same = [
            [3, 3, 0, 3, 1, 0],
            [3, 3, 3, 0, 1, 0],
            [0, 3, 3, 0, 0, 0],
            [3, 0, 0, 3, 1, 0],
            [1, 1, 0, 1, 3, 0],
            [0, 0, 0, 0, 0, 3],
        ];
        assert_eq!(agreement.same, same);
        // A validator and one that only decodes have nothing in common.
        assert_eq!((agreement.asked[0][2], agreement.asked[4][2], agreement.asked[0][5]), (0, 0, 3));
        assert!(Agreement::of(&decoders[..0], [&b""[..]]).decoders.is_empty());
    }
}
