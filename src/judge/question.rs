//! Which questions are put to a decoder.

/// A set of questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Questions {
    /// The verdict on the input.
    pub(crate) verdict: bool,
    /// The errors behind the first.
    pub(crate) spans: Spans,
    /// The output.
    pub(crate) lossy: bool,
    /// The input in chunks.
    pub(crate) stream: bool,
    /// The input in one chunk, on the stream just finished (or fresh).
    pub(crate) again: bool,
    /// The verdict on the input behind an ASCII prefix.
    pub(crate) prefix: bool,
    /// The verdict on the same bytes at another address, between other bytes.
    pub(crate) placement: bool,
    /// Verdict and output of a copy with an inaccessible page beside it.
    pub(crate) bounds: bool,
    /// What a stream has written before its end.
    pub(crate) written: bool,
    /// The verdicts on both halves of an ill-formed input.
    pub(crate) halves: bool,
}

/// How the errors behind the first are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Spans {
    No,
    /// Going on behind each error the decoder finds.
    All,
    /// The next error behind the expected one of this index.
    Behind(usize),
}

impl Questions {
    pub(crate) const NONE: Self = Self {
        verdict: false,
        spans: Spans::No,
        lossy: false,
        stream: false,
        again: false,
        prefix: false,
        placement: false,
        bounds: false,
        written: false,
        halves: false,
    };

    /// Every question there is.
    pub const ALL: Self = Self {
        verdict: true,
        spans: Spans::All,
        lossy: true,
        stream: true,
        again: true,
        prefix: true,
        placement: true,
        bounds: true,
        written: true,
        halves: true,
    };

    /// Every question about the input itself, where it stands.
    pub(crate) const HERE: Self = Self { prefix: false, placement: false, halves: false, ..Self::ALL };

    /// Every question about the bytes, none about where they stand, what goes before or what their halves are.
    pub const BYTES: Self =
        Self { again: false, prefix: false, placement: false, bounds: false, halves: false, ..Self::ALL };

    /// The verdict and the output.
    pub const ANSWERS: Self = Self { verdict: true, lossy: true, ..Self::NONE };

    /// The verdict on the input, where it stands.
    pub(crate) const VERDICT: Self = Self { verdict: true, ..Self::NONE };

    /// The input in chunks, and what is written before its end.
    pub const STREAM: Self = Self { stream: true, written: true, ..Self::NONE };

    /// The verdict on the same bytes at another address.
    pub const PLACEMENT: Self = Self { placement: true, ..Self::NONE };
}

/// What a decoder can be asked at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Abilities {
    pub(crate) validate: bool,
    pub(crate) lossy: bool,
    pub(crate) stream: bool,
}

impl Abilities {
    /// One question this decoder can answer, picked by a number; `errors` is how many the input has.
    pub(crate) fn pick(&self, number: u32, errors: usize) -> Questions {
        let none = Questions::NONE;
        // Both halves are used, so that which error is asked about does not hang on which question it is.
        let (number, which) = (number as usize & 0xFFFF, (number >> 16) as usize);
        // The verdict and the output come up more often than the rest: they show most.
        let validate = [
            Questions { verdict: true, ..none },
            Questions { verdict: true, ..none },
            Questions { spans: if errors == 0 { Spans::No } else { Spans::Behind(which % errors) }, ..none },
            Questions { prefix: true, ..none },
            Questions { placement: true, ..none },
            Questions { halves: true, ..none },
            Questions { bounds: true, ..none },
        ];
        let lossy = [Questions { lossy: true, ..none }; 3];
        let stream = [
            Questions { stream: true, ..none },
            Questions { stream: true, written: true, ..none },
            Questions { stream: true, again: true, ..none },
        ];
        let groups: [(bool, &[Questions]); 3] =
            [(self.validate, &validate), (self.lossy, &lossy), (self.stream, &stream)];
        let count: usize = groups.iter().filter(|(can, _)| *can).map(|(_, questions)| questions.len()).sum();
        if count == 0 {
            return none;
        }
        let mut index = number % count;
        for (_, questions) in groups.iter().filter(|(can, _)| *can) {
            match questions.get(index) {
                Some(picked) => return *picked,
                None => index -= questions.len(),
            }
        }
        none
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_is_picked_sooner_or_later() {
        let able = Abilities { validate: true, lossy: true, stream: true };
        let picked: Vec<_> = (0..1000u32).map(|number| able.pick(number.wrapping_mul(0x9E37_79B9), 3)).collect();
        assert!(picked.iter().any(|questions| questions.verdict));
        for index in 0..3 {
            assert!(picked.iter().any(|questions| questions.spans == Spans::Behind(index)));
        }
        assert!(picked.iter().any(|questions| questions.lossy));
        assert!(picked.iter().any(|questions| questions.stream && !questions.again));
        assert!(picked.iter().any(|questions| questions.again));
        assert!(picked.iter().any(|questions| questions.prefix));
        assert!(picked.iter().any(|questions| questions.placement));
        assert!(picked.iter().any(|questions| questions.halves));
        assert!(picked.iter().any(|questions| questions.bounds));
        assert!(picked.iter().any(|questions| questions.written));
        let validator = Abilities { validate: true, lossy: false, stream: false };
        assert!((0..1000).all(|number| !validator.pick(number, 0).lossy && !validator.pick(number, 0).stream));
    }
}
