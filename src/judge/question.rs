//! Questions that a decoder can be asked, and sets of them.

use crate::case::choices::Choices;
use crate::generate::plan::Ask;

/// One question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Question {
    /// The verdict on the input.
    Verdict,
    /// The errors after the first.
    Errors,
    /// The output.
    Output,
    /// The input in chunks.
    Stream,
    /// How much output a stream has written before its end; a part of [`Question::Stream`].
    Written,
    /// The input in one chunk, on the stream just finished, or on a new one.
    Reused,
    /// The verdict on the input after an ASCII prefix.
    Prefix,
    /// The verdict on the same bytes at another address, between other bytes.
    Placement,
    /// Verdict and output of a copy next to an inaccessible page.
    Bounds,
    /// The verdicts on both halves of an ill-formed input.
    Halves,
}

/// A set of questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Questions {
    /// A bit for each question.
    asked: u32,
    /// The index of the expected error after which [`Question::Errors`] asks for the next one; `None` for all errors.
    pub(crate) after_error: Option<usize>,
}

impl From<Ask> for Questions {
    fn from(ask: Ask) -> Self {
        match ask {
            Ask::Everything => Self::ALL,
            Ask::Bytes => Self::BYTES,
            Ask::Answers => Self::ANSWERS,
            Ask::EveryWayCut | Ask::EveryCut => Self::STREAM,
            Ask::Placement => Self::PLACEMENT,
        }
    }
}

impl Questions {
    /// Every question.
    pub const ALL: Self = Self { asked: u32::MAX, after_error: None };

    /// Every question about the input itself, at the address it has.
    pub(crate) const IN_PLACE: Self = Self::ALL.without(&[Question::Prefix, Question::Placement, Question::Halves]);

    /// Every question about the bytes; none about their address, their halves or earlier inputs.
    pub const BYTES: Self = Self::IN_PLACE.without(&[Question::Reused, Question::Bounds]);

    /// The verdict and the output.
    pub const ANSWERS: Self = Self::of(&[Question::Verdict, Question::Output]);

    /// The verdict and the output, and the input in chunks.
    #[cfg(feature = "check")]
    pub(crate) const IN_CHUNKS_TOO: Self = Self::of(&[Question::Verdict, Question::Output, Question::Stream]);

    /// The verdict.
    pub(crate) const VERDICT: Self = Self::of(&[Question::Verdict]);

    /// The output.
    pub(crate) const OUTPUT: Self = Self::of(&[Question::Output]);

    /// The input in chunks.
    pub(crate) const CHUNKS: Self = Self::of(&[Question::Stream]);

    /// The input in chunks, and the output written before its end.
    pub const STREAM: Self = Self::of(&[Question::Stream, Question::Written]);

    /// The verdict on the same bytes at another address.
    pub const PLACEMENT: Self = Self::of(&[Question::Placement]);

    /// These questions.
    pub(crate) const fn of(questions: &[Question]) -> Self {
        Self { asked: bits(questions), after_error: None }
    }

    /// This set without these questions.
    pub(crate) const fn without(self, questions: &[Question]) -> Self {
        Self { asked: self.asked & !bits(questions), ..self }
    }

    /// Whether any of these is asked.
    pub(crate) const fn has(self, questions: &[Question]) -> bool {
        self.asked & bits(questions) != 0
    }
}

const fn bits(questions: &[Question]) -> u32 {
    let (mut bits, mut index) = (0, 0);
    while index < questions.len() {
        bits |= 1 << questions[index] as u32;
        index += 1;
    }
    bits
}

/// Which questions a decoder can answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Abilities {
    pub(crate) validate: bool,
    pub(crate) lossy: bool,
    pub(crate) stream: bool,
}

impl Abilities {
    /// One question that this decoder can answer, derived from the bytes; `errors` is the number of errors in the
    /// input.
    pub(crate) fn pick(&self, choices: &Choices, errors: usize) -> Questions {
        // The verdict and the output are picked more often, since they reveal most faults.
        const VALIDATE: [Questions; 7] = [
            Questions::VERDICT,
            Questions::VERDICT,
            Questions::of(&[Question::Errors]),
            Questions::of(&[Question::Prefix]),
            Questions::PLACEMENT,
            Questions::of(&[Question::Halves]),
            Questions::of(&[Question::Bounds]),
        ];
        const LOSSY: [Questions; 3] = [Questions::OUTPUT; 3];
        const STREAM: [Questions; 3] =
            [Questions::CHUNKS, Questions::STREAM, Questions::of(&[Question::Stream, Question::Reused])];
        let groups: [(bool, &[Questions]); 3] =
            [(self.validate, &VALIDATE), (self.lossy, &LOSSY), (self.stream, &STREAM)];
        let able = groups.iter().filter(|(is_able, _)| *is_able);
        let count: usize = able.clone().map(|(_, questions)| questions.len()).sum();
        let picked = able.flat_map(|(_, questions)| *questions).nth(choices.sampled_question(count));
        let picked = picked.copied().unwrap_or(Questions::of(&[]));
        match picked.has(&[Question::Errors]) {
            true if errors == 0 => Questions::of(&[]),
            true => Questions { after_error: Some(choices.sampled_error(errors)), ..picked },
            false => picked,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_is_picked_eventually() {
        use Question::{Bounds, Errors, Halves, Output, Placement, Prefix, Reused, Stream, Verdict, Written};
        let able = Abilities { validate: true, lossy: true, stream: true };
        let choices = |number: u32| Choices::of(&number.to_be_bytes());
        let picked: Vec<_> = (0..1000).map(|number| able.pick(&choices(number), 3)).collect();
        for question in [Verdict, Errors, Output, Stream, Written, Reused, Prefix, Placement, Bounds, Halves] {
            assert!(picked.iter().any(|questions| questions.has(&[question])), "{question:?}");
        }
        for index in 0..3 {
            assert!(picked.iter().any(|questions| questions.after_error == Some(index)));
        }
        assert!(picked.iter().any(|questions| questions.has(&[Stream]) && !questions.has(&[Reused])));
        let validator = Abilities { validate: true, lossy: false, stream: false };
        assert!((0..1000).all(|number| !validator.pick(&choices(number), 0).has(&[Output, Stream])));
    }
}
