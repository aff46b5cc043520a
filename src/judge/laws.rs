//! The laws. A law compares what a decoder answered with what `spec` expects, or with what the decoder itself says
//! of a related input. No law knows a decoder by name.

use crate::case::Case;
use crate::judge::expect::Expectation;
use crate::judge::feed::Streamed;
use crate::judge::observe::{ErrorsFrom, Observation, Side};
use crate::judge::subject::Subject;
use crate::utf8::{Malformed, Validity};

/// What a decoder must keep, strongest first: of several broken laws the first is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Law {
    /// A decoder answers; it does not panic.
    Panic,
    /// Nothing outside the slice is read.
    Bounds,
    /// Well-formed or not.
    Verdict,
    /// The offset of the first error.
    ValidUpTo,
    /// The length of the first error, and whether it is incomplete.
    ErrorLength,
    /// The kind of the first error.
    ErrorKind,
    /// Every error's offset and length.
    Spans,
    /// Output is bounded: no more than four bytes for each byte of the input.
    Progress,
    /// A well-formed input is its own output.
    Identity,
    /// The output is well-formed.
    WellFormedOutput,
    /// The output with replacements.
    Lossy,
    /// In chunks as in one.
    Stream,
    /// A stream that promises it writes at once what is decided.
    Detection,
    /// A finished stream is as new.
    Reset,
    /// The same question has the same answer, whatever was asked before.
    Repeat,
    /// Address and neighbours of the bytes change nothing.
    Placement,
    /// An ASCII prefix shifts the first error and changes nothing else.
    Prefix,
    /// Two well-formed strings are well-formed together.
    Concatenation,
}

impl Law {
    /// Every law, in order.
    pub const ALL: [Self; 18] = [
        Self::Panic,
        Self::Bounds,
        Self::Verdict,
        Self::ValidUpTo,
        Self::ErrorLength,
        Self::ErrorKind,
        Self::Spans,
        Self::Progress,
        Self::Identity,
        Self::WellFormedOutput,
        Self::Lossy,
        Self::Stream,
        Self::Detection,
        Self::Reset,
        Self::Repeat,
        Self::Placement,
        Self::Prefix,
        Self::Concatenation,
    ];

    /// The name used in signatures and the ledger.
    pub fn name(self) -> &'static str {
        match self {
            Self::Panic => "panic",
            Self::Bounds => "bounds",
            Self::Verdict => "verdict",
            Self::ValidUpTo => "valid-up-to",
            Self::ErrorLength => "error-length",
            Self::ErrorKind => "error-kind",
            Self::Lossy => "lossy",
            Self::Progress => "progress",
            Self::Identity => "identity",
            Self::WellFormedOutput => "well-formed-output",
            Self::Spans => "spans",
            Self::Stream => "stream",
            Self::Detection => "detection",
            Self::Reset => "reset",
            Self::Repeat => "repeat",
            Self::Placement => "placement",
            Self::Prefix => "prefix",
            Self::Concatenation => "concatenation",
        }
    }
}

impl Law {
    /// What the law demands, in a sentence.
    pub fn says(self) -> &'static str {
        match self {
            Self::Panic => "A decoder answers; it does not panic.",
            Self::Bounds => "Nothing outside the slice is read.",
            Self::Verdict => "What is well-formed is accepted, and nothing else.",
            Self::ValidUpTo => "The offset of the first error is the standard's.",
            Self::ErrorLength => "The length of the first error is what the contract says.",
            Self::ErrorKind => "The kind of the first error is the standard's.",
            Self::Spans => "Every error has the offset and length the contract says.",
            Self::Progress => "Output is bounded: no more than four bytes for each byte of the input.",
            Self::Identity => "A well-formed input is its own output.",
            Self::WellFormedOutput => "The output is well-formed.",
            Self::Lossy => "Each ill-formed unit is replaced as the contract says, and nothing else.",
            Self::Stream => "In chunks the answer is the same as in one.",
            Self::Detection => "A stream that promises it writes at once what is decided.",
            Self::Reset => "A finished stream is as new.",
            Self::Repeat => "The same question has the same answer, whatever was asked before.",
            Self::Placement => "Address and neighbours of the bytes change nothing.",
            Self::Prefix => "An ASCII prefix shifts the first error and changes nothing else.",
            Self::Concatenation => "Two well-formed strings are well-formed together.",
        }
    }
}

impl core::fmt::Display for Law {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

/// A law broken by a decoder on a case, before anything is explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The decoder's place in the judge's list.
    pub decoder: usize,
    /// The first law it breaks.
    pub law: Law,
    /// Where in the input it differs first, where that is known.
    pub offset: Option<usize>,
    /// What stands there.
    pub subject: Subject,
}

/// A law and the offset in the input where the answers part, if that can be told.
pub(crate) type Parting = (Law, Option<usize>);

/// What came of holding an observation to a law.
enum Held {
    /// The decoder could not answer, or the law does not speak of this case.
    NotAsked,
    Kept,
    Broken(Parting),
}

impl From<Option<Parting>> for Held {
    fn from(parting: Option<Parting>) -> Self {
        parting.map_or(Self::Kept, Self::Broken)
    }
}

/// The first law the observation breaks. Adds to `comparisons` how many laws had something to compare.
pub(crate) fn first_broken(
    expected: &Expectation<'_>,
    observed: &Observation,
    case: &Case<'_>,
    comparisons: &mut u64,
) -> Option<Parting> {
    let laws = [
        bounds,
        verdict,
        spans,
        progress,
        identity,
        well_formed_output,
        lossy,
        stream,
        detection,
        reset,
        placement,
        prefix,
        concatenation,
    ];
    for law in laws {
        match law(expected, observed, case) {
            Held::NotAsked => {}
            Held::Kept => *comparisons += 1,
            Held::Broken(parting) => {
                *comparisons += 1;
                return Some(parting);
            }
        }
    }
    None
}

/// Law 8, last third: the last unit, or the first, is what made a decoder read on.
fn bounds(_: &Expectation<'_>, observed: &Observation, case: &Case<'_>) -> Held {
    match observed.bounds {
        None => Held::NotAsked,
        Some(Ok(())) => Held::Kept,
        Some(Err(Side::Before)) => Held::Broken((Law::Bounds, Some(0))),
        Some(Err(Side::Behind)) => Held::Broken((Law::Bounds, Some(case.bytes.len().saturating_sub(1)))),
    }
}

/// Laws 1 to 3. To decode without a replacement is to accept.
fn verdict(expected: &Expectation<'_>, observed: &Observation, _: &Case<'_>) -> Held {
    let decoded = observed.lossy.filter(|()| expected.contract().replacement.is_none());
    let said = [observed.validity, decoded.map(|()| Validity::Valid)];
    if said == [None, None] {
        return Held::NotAsked;
    }
    said.into_iter().flatten().find_map(|said| verdicts_part(&expected.validity(), &said)).into()
}

/// Law 4.
fn lossy(expected: &Expectation<'_>, observed: &Observation, _: &Case<'_>) -> Held {
    match observed.lossy {
        None => Held::NotAsked,
        Some(()) => outputs_part(Law::Lossy, expected, &observed.lossy_bytes).into(),
    }
}

/// Law 11. No contract writes more than three bytes for one.
fn progress(expected: &Expectation<'_>, observed: &Observation, case: &Case<'_>) -> Held {
    let bound = 4 * case.bytes.len() + 16;
    match observed.lossy {
        None => Held::NotAsked,
        Some(()) if observed.lossy_bytes.len() <= bound => Held::Kept,
        Some(()) => outputs_part(Law::Progress, expected, &observed.lossy_bytes).into(),
    }
}

/// Law 6, first half: what the decoder itself calls valid comes back unchanged.
fn identity(expected: &Expectation<'_>, observed: &Observation, case: &Case<'_>) -> Held {
    match (observed.validity, observed.lossy) {
        (Some(Validity::Valid), Some(())) if expected.is_identity() => {
            let same = observed.lossy_bytes == case.bytes;
            (!same).then(|| (Law::Identity, Some(common_prefix(&observed.lossy_bytes, case.bytes)))).into()
        }
        _ => Held::NotAsked,
    }
}

/// Law 6, second half.
fn well_formed_output(expected: &Expectation<'_>, observed: &Observation, _: &Case<'_>) -> Held {
    match observed.lossy {
        None => Held::NotAsked,
        Some(()) => {
            let ill_formed = expected.is_ill_formed_output(&observed.lossy_bytes);
            ill_formed.then_some((Law::WellFormedOutput, None)).into()
        }
    }
}

/// Law 5. An error whose offset a decoder does not state counts as one, wherever it is.
fn spans(expected: &Expectation<'_>, observed: &Observation, _: &Case<'_>) -> Held {
    let Some(ErrorsFrom { first, asked }) = observed.errors else { return Held::NotAsked };
    let mut expected = expected.errors().skip(first).take(asked);
    let mut observed = observed.error_list.iter();
    loop {
        let offsets = match (expected.next(), observed.next()) {
            (None, None) => return Held::Kept,
            (Some(expected), Some(observed)) => match errors_part(&expected, observed) {
                None => continue,
                Some(_) => [expected.valid_up_to, observed.valid_up_to],
            },
            (expected, observed) => {
                [expected, observed.copied()].map(|error| error.and_then(|error| error.valid_up_to))
            }
        };
        return Held::Broken((Law::Spans, offsets.into_iter().flatten().min()));
    }
}

/// Law 7.
fn stream(expected: &Expectation<'_>, observed: &Observation, _: &Case<'_>) -> Held {
    match observed.streamed {
        // An output that was tampered with is law 8's.
        None | Some(Streamed { kept: false, .. }) => Held::NotAsked,
        Some(streamed) => stream_parts(Law::Stream, expected, streamed, &observed.streamed_output.bytes).into(),
    }
}

/// Law 12. Asked only of streams that promise it.
fn detection(expected: &Expectation<'_>, observed: &Observation, _: &Case<'_>) -> Held {
    let streamed = observed.streamed.filter(|streamed| streamed.kept);
    let Some((cut, written)) = streamed.and_then(|streamed| streamed.written) else { return Held::NotAsked };
    let decided = expected.decided_by(cut);
    let waiting = || expected.input_offset(written, expected.lossy().get(..written).unwrap_or_default());
    (written < decided).then(|| (Law::Detection, Some(waiting()))).into()
}

/// Law 10.
fn reset(expected: &Expectation<'_>, observed: &Observation, _: &Case<'_>) -> Held {
    if observed.ended_empty == Some(false) {
        return Held::Broken((Law::Reset, None));
    }
    match observed.again {
        None => Held::NotAsked,
        Some(again) => stream_parts(Law::Reset, expected, again, &observed.again_output.bytes).into(),
    }
}

/// Law 8, first two thirds: neither what surrounds the bytes nor what the output held before changes anything.
fn placement(expected: &Expectation<'_>, observed: &Observation, _: &Case<'_>) -> Held {
    if observed.appended == Some(false) || observed.streamed.is_some_and(|streamed| !streamed.kept) {
        return Held::Broken((Law::Placement, None));
    }
    let Some(placed) = observed.placed else { return Held::NotAsked };
    verdicts_part(&expected.validity(), &placed).map(|(_, offset)| (Law::Placement, offset)).into()
}

/// Law 9, second half: an ASCII prefix shifts the verdict and does nothing else.
fn prefix(expected: &Expectation<'_>, observed: &Observation, case: &Case<'_>) -> Held {
    let said = [observed.prefixed, observed.prefixed_stream];
    if said == [None, None] {
        return Held::NotAsked;
    }
    let shifted = match expected.validity() {
        Validity::Valid => Validity::Valid,
        Validity::Invalid(malformed) => Validity::Invalid(Malformed {
            valid_up_to: malformed.valid_up_to.map(|offset| offset + case.prefix),
            ..malformed
        }),
    };
    let unshift = |offset: usize| offset.saturating_sub(case.prefix);
    let parting = said.into_iter().flatten().find_map(|prefixed| verdicts_part(&shifted, &prefixed));
    parting.map(|(_, offset)| (Law::Prefix, offset.map(unshift))).into()
}

/// Law 9, first half.
fn concatenation(expected: &Expectation<'_>, observed: &Observation, _: &Case<'_>) -> Held {
    match observed.halves {
        None => Held::NotAsked,
        // WTF-8 is not closed under concatenation: surrogates that meet must join.
        Some(_) if expected.contract().grammar.pairs_join => Held::NotAsked,
        Some((first, second)) => {
            let broken = first.is_valid() && second.is_valid();
            let offset = expected.errors().next().and_then(|error| error.valid_up_to);
            broken.then_some((Law::Concatenation, offset)).into()
        }
    }
}

fn stream_parts(law: Law, expected: &Expectation<'_>, streamed: Streamed, output: &[u8]) -> Option<Parting> {
    let verdict = streamed.validity.and_then(|validity| verdicts_part(&expected.validity(), &validity));
    let output = || match expected.contract().replacement {
        Some(_) => outputs_part(law, expected, output),
        // A stream without output must write nothing.
        None => (!output.is_empty()).then_some((law, None)),
    };
    verdict.map(|(_, offset)| (law, offset)).or_else(output)
}

/// Compares what both verdicts state.
pub(crate) fn verdicts_part(expected: &Validity, observed: &Validity) -> Option<Parting> {
    match (expected, observed) {
        (Validity::Valid, Validity::Valid) => None,
        (Validity::Valid, Validity::Invalid(malformed)) | (Validity::Invalid(malformed), Validity::Valid) => {
            Some((Law::Verdict, malformed.valid_up_to))
        }
        (Validity::Invalid(expected), Validity::Invalid(observed)) => errors_part(expected, observed),
    }
}

fn errors_part(expected: &Malformed, observed: &Malformed) -> Option<Parting> {
    fn differ<T: PartialEq>(expected: Option<T>, observed: Option<T>) -> bool {
        expected.zip(observed).is_some_and(|(expected, observed)| expected != observed)
    }
    let law = if differ(expected.valid_up_to, observed.valid_up_to) {
        Law::ValidUpTo
    } else if differ(expected.len, observed.len) {
        Law::ErrorLength
    } else if differ(expected.kind, observed.kind) {
        Law::ErrorKind
    } else {
        return None;
    };
    Some((law, [expected.valid_up_to, observed.valid_up_to].into_iter().flatten().min()))
}

fn outputs_part(law: Law, expected: &Expectation<'_>, output: &[u8]) -> Option<Parting> {
    if expected.lossy() == output {
        return None;
    }
    let same = common_prefix(expected.lossy(), output);
    Some((law, Some(expected.input_offset(same, output))))
}

fn common_prefix(left: &[u8], right: &[u8]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}
