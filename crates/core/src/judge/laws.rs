//! The laws, and [`Subject`]: what is in the input where an answer is wrong. A law compares what a decoder answered with
//! what `spec` expects, or with what the decoder itself answers to a related input. No law depends on which decoder is
//! being judged.
//!
//! Each law is one row of the table below, and most have a function of their own. The rows are in order of strength: of
//! several broken laws the first in the table is reported.

use crate::case::Case;
use crate::decoder::{Ending, Promise};
use crate::judge::expect::Expectation;
use crate::judge::observe::{End, Errors, Observation, Streamed};
use crate::spec::{Contract, Reading, segments};
use crate::utf8::{Kind, Malformed, Validity};
use core::fmt;

/// Declares the laws: name of the variant, name in signatures, aspect, check, and the sentence that states the law. The
/// check is `None` for a law that has none of its own: that of `Verdict` covers the three after it, and the judge notices
/// panics while it asks.
macro_rules! laws {
    ($($law:ident $name:literal $aspect:ident $check:expr, $sentence:literal;)*) => {
        /// What a decoder must comply with, in order of strength: an earlier law is stronger.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        pub enum Law {
            $(#[doc = $sentence] $law,)*
        }

        impl Law {
            /// Every law, in order of strength.
            pub const ALL: [Self; [$(Law::$law),*].len()] = [$(Self::$law),*];
        }

        /// The table, in the order of the variants.
        const TABLE: [Row; Law::ALL.len()] =
            [$(Row { name: $name, sentence: $sentence, aspect: Aspect::$aspect, check: $check }),*];
    };
}

laws! {
    Panic "panic" Memory None,
        "A decoder answers; it does not panic.";
    Bounds "bounds" Memory Some(bounds),
        "Nothing outside the slice is read.";
    Verdict "verdict" Verdict Some(verdict),
        "Well-formed input is accepted, and no other.";
    ValidUpTo "valid-up-to" Verdict None,
        "The offset of the first error is that of its first byte, as the standard has it.";
    ErrorLength "error-length" Verdict None,
        "The length of the first error is the one the contract prescribes.";
    ErrorKind "error-kind" Verdict None,
        "The kind of the first error is that of the standard.";
    Spans "spans" Verdict Some(spans),
        "Every error has the offset and length that the contract prescribes.";
    Progress "progress" Output Some(progress),
        "Output is bounded: at most four bytes for each byte of the input, and 16 more.";
    Identity "identity" Output Some(identity),
        "The output for well-formed input is the input itself.";
    WellFormedOutput "well-formed-output" Output Some(well_formed_output),
        "The output is well-formed.";
    Lossy "lossy" Output Some(lossy),
        "Each ill-formed segment is replaced as the contract prescribes, and nothing else.";
    Stream "stream" Stream Some(stream),
        "Input in chunks has the same answer as in one piece.";
    Detection "detection" Stream Some(detection),
        "A stream whose contract says so writes all decided output at once.";
    Reset "reset" Stream Some(reset),
        "A finished stream behaves like a new one.";
    Repeat "repeat" Surroundings Some(repeat),
        "The same question has the same answer, whatever was asked before or is asked at the same time.";
    Placement "placement" Surroundings Some(placement),
        "The address and the neighbours of the bytes change nothing.";
    Prefix "prefix" Surroundings Some(prefix),
        "An ASCII prefix shifts the first error and changes nothing else.";
    Concatenation "concatenation" Surroundings Some(concatenation),
        "The concatenation of two well-formed strings is well-formed.";
}

/// The properties of one law.
struct Row {
    name: &'static str,
    sentence: &'static str,
    aspect: Aspect,
    check: Option<Check>,
}

type Check = fn(&Expectation<'_>, &Observation, &Case<'_>) -> LawOutcome;

/// The aspect of a decoder that a law is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Aspect {
    /// Panics and accesses outside the input.
    Memory,
    /// The verdict and the errors.
    Verdict,
    /// The output for the whole input.
    Output,
    /// Input in chunks.
    Stream,
    /// Neighbouring bytes, and earlier inputs.
    Surroundings,
}

impl Law {
    fn row(self) -> &'static Row {
        &TABLE[self as usize]
    }

    /// The name used in signatures and the ledger.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// What the law demands, in a sentence.
    pub fn sentence(self) -> &'static str {
        self.row().sentence
    }

    /// The aspect of a decoder it is about.
    pub(crate) fn aspect(self) -> Aspect {
        self.row().aspect
    }

    /// Whether it is `other`, or would be reported instead of it.
    pub fn is_at_least_as_strong_as(self, other: Self) -> bool {
        self <= other
    }

    /// Whether it is about input in chunks.
    pub fn is_about_streams(self) -> bool {
        self.aspect() == Aspect::Stream
    }

    /// Whether the cuts are examined as the cause of a violation: for laws about input in chunks, and for panics.
    pub(crate) fn may_depend_on_cuts(self) -> bool {
        self.is_about_streams() || self == Self::Panic
    }

    /// Whether it is about memory, the verdict, the errors or the output: not about chunks, nor about the surroundings.
    pub(crate) fn is_about_one_answer(self) -> bool {
        matches!(self.aspect(), Aspect::Memory | Aspect::Verdict | Aspect::Output)
    }

    /// Whether the verdict on the whole input suffices to check it: it is about the first error.
    pub(crate) fn is_about_first_error(self) -> bool {
        self.aspect() == Aspect::Verdict && self != Self::Spans
    }

    /// Whether it is about state that a decoder keeps from one input to the next.
    pub(crate) fn is_about_state(self) -> bool {
        matches!(self, Self::Reset | Self::Repeat)
    }
}

impl core::fmt::Display for Law {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

/// A law broken by a decoder on a case, not yet explained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The index of the decoder in the judge's list.
    pub decoder: usize,
    /// The first law it breaks.
    pub law: Law,
    /// The first offset in the input at which the answers differ, if it is known.
    pub offset: Option<usize>,
    /// What is at that offset.
    pub subject: Subject,
}

/// Where an observed answer differs from the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mismatch {
    /// The law it breaks.
    pub(crate) law: Law,
    /// The offset in the input, if it is known.
    pub(crate) offset: Option<usize>,
}

/// The result of checking an observation against a law.
enum LawOutcome {
    /// The decoder could not answer, or the law does not apply to this case.
    NotApplicable,
    Holds,
    Violated(Mismatch),
}

impl From<Option<Mismatch>> for LawOutcome {
    fn from(mismatch: Option<Mismatch>) -> Self {
        mismatch.map_or(Self::Holds, Self::Violated)
    }
}

/// The first law the observation breaks, of those that a decoder with this promise must keep. Adds to `comparisons` the
/// number of laws that had something to compare.
pub(crate) fn first_broken(
    promise: Promise,
    expected: &Expectation<'_>,
    observed: &mut Observation,
    case: &Case<'_>,
    comparisons: &mut u64,
) -> Option<Mismatch> {
    match promise {
        Promise::Everything => first_unexpected(expected, observed, case, comparisons),
        Promise::AnySegmentation => first_inconsistent(expected, observed, case, comparisons).or_else(|| {
            observed.accept_segmentation(expected.lossy(), &expected.other_texts());
            first_unexpected(expected, observed, case, comparisons)
        }),
        Promise::WellFormed if expected.validity().is_valid() => {
            first_unexpected(expected, observed, case, comparisons)
        }
        Promise::WellFormed | Promise::Nothing => first_inconsistent(expected, observed, case, comparisons),
    }
}

/// The first law broken by an observation, if all that the contract says about it is promised.
fn first_unexpected(
    expected: &Expectation<'_>,
    observed: &Observation,
    case: &Case<'_>,
    comparisons: &mut u64,
) -> Option<Mismatch> {
    for check in TABLE.iter().filter_map(|row| row.check) {
        match check(expected, observed, case) {
            LawOutcome::NotApplicable => {}
            LawOutcome::Holds => *comparisons += 1,
            LawOutcome::Violated(mismatch) => {
                *comparisons += 1;
                return Some(mismatch);
            }
        }
    }
    None
}

/// The first law broken by an observation, whatever the decoder promises: its answers to related questions are
/// compared with each other, never with the standard. Of the expectation, only the contract is used, since it says how
/// questions are put.
fn first_inconsistent(
    expected: &Expectation<'_>,
    observed: &Observation,
    case: &Case<'_>,
    comparisons: &mut u64,
) -> Option<Mismatch> {
    let verdict = |law, other: Option<Validity>| match (observed.verdict, other) {
        (Some(whole), Some(other)) => verdict_mismatch(&whole, &other)
            .map(|found| Mismatch { law, ..found })
            .map_or(LawOutcome::Holds, LawOutcome::Violated),
        _ => LawOutcome::NotApplicable,
    };
    // Without a replacement, a stream writes nothing, even if the whole input is decoded.
    let replaces = expected.contract().replacement.is_some();
    let output = |law, other: &[u8]| match observed.output().filter(|_| replaces) {
        None => LawOutcome::NotApplicable,
        Some(whole) if whole == other => LawOutcome::Holds,
        Some(_) => violated(law, None),
    };
    let unshifted = |validity: Validity| match validity {
        Validity::Invalid(Malformed { valid_up_to: Some(offset), len, kind }) => {
            let offset = offset.saturating_sub(case.prefix());
            Validity::Invalid(Malformed { valid_up_to: Some(offset), len, kind })
        }
        validity => validity,
    };
    let streamed = observed.streamed().filter(|streamed| streamed.existing_kept);
    let reused = observed.reused();
    let prefixed = observed.prefixed().copied().unwrap_or_default();
    let mut outcomes = vec![
        bounds_alone(observed, case),
        verdict(Law::Stream, streamed.and_then(|streamed| streamed.validity)),
        streamed.map_or(LawOutcome::NotApplicable, |streamed| output(Law::Stream, &streamed.output)),
        verdict(Law::Reset, reused.and_then(|reused| reused.streamed.validity)),
        reused.map_or(LawOutcome::NotApplicable, |reused| output(Law::Reset, &reused.streamed.output)),
        observed.at_once.map_or(LawOutcome::NotApplicable, at_once),
        verdict(Law::Placement, observed.placed().and_then(|(verdict, _)| verdict)),
        observed
            .placed()
            .and_then(|(_, text)| text)
            .map_or(LawOutcome::NotApplicable, |text| output(Law::Placement, text)),
    ];
    // At the start of the input a byte order mark may mean something, in any encoding.
    let marks: [&[u8]; 3] = [b"\xEF\xBB\xBF", b"\xFE\xFF", b"\xFF\xFE"];
    let is_marked = |bytes: &[u8]| marks.iter().any(|mark| bytes.starts_with(mark));
    let may_be_moved = !is_marked(case.bytes);
    if may_be_moved {
        outcomes.extend(prefixed.map(|prefixed| verdict(Law::Prefix, prefixed.map(unshifted))));
    }
    outcomes.push(match (observed.output(), observed.prefixed_output()) {
        (Some(output), Some(prefixed)) if may_be_moved => {
            let is_shifted = prefixed.len() == case.prefix() + output.len() && prefixed.ends_with(output);
            if is_shifted { LawOutcome::Holds } else { violated(Law::Prefix, None) }
        }
        _ => LawOutcome::NotApplicable,
    });
    let cut = case.cuts().offsets().first().copied().unwrap_or_default();
    let is_plain = may_be_moved && case.bytes.get(cut..).is_some_and(|second| !is_marked(second));
    // As in `concatenation`.
    let is_plain = is_plain && !expected.contract().grammar.pairs_join;
    outcomes.push(match (observed.verdict, observed.halves.filter(|_| is_plain)) {
        (Some(whole), Some((first, second))) if first.is_valid() && second.is_valid() => match whole.is_valid() {
            true => LawOutcome::Holds,
            false => violated(Law::Concatenation, None),
        },
        _ => LawOutcome::NotApplicable,
    });
    for outcome in outcomes {
        match outcome {
            LawOutcome::NotApplicable => {}
            LawOutcome::Holds => *comparisons += 1,
            LawOutcome::Violated(mismatch) => {
                *comparisons += 1;
                return Some(mismatch);
            }
        }
    }
    None
}

fn violated(law: Law, offset: Option<usize>) -> LawOutcome {
    LawOutcome::Violated(Mismatch { law, offset })
}

/// The mismatch is at the first or the last segment, depending on which end the decoder read past.
fn bounds(_: &Expectation<'_>, observed: &Observation, case: &Case<'_>) -> LawOutcome {
    bounds_alone(observed, case)
}

fn bounds_alone(observed: &Observation, case: &Case<'_>) -> LawOutcome {
    match observed.bounds {
        None => LawOutcome::NotApplicable,
        Some(Ok(())) => LawOutcome::Holds,
        Some(Err(End::Start)) => violated(Law::Bounds, Some(0)),
        Some(Err(End::End)) => violated(Law::Bounds, Some(case.bytes.len().saturating_sub(1))),
    }
}

/// The verdict, and the offset, length and kind of the first error. Decoding without a replacement counts as
/// acceptance.
fn verdict(expected: &Expectation<'_>, observed: &Observation, _: &Case<'_>) -> LawOutcome {
    let decoded = observed.output().filter(|_| expected.contract().replacement.is_none());
    let verdicts = [observed.verdict, decoded.map(|_| Validity::Valid)];
    if verdicts == [None, None] {
        return LawOutcome::NotApplicable;
    }
    verdicts.into_iter().flatten().find_map(|verdict| verdict_mismatch(&expected.validity(), &verdict)).into()
}

/// An error without a stated offset matches an expected error at any offset.
fn spans(expected: &Expectation<'_>, observed: &Observation, _: &Case<'_>) -> LawOutcome {
    let Some(Errors { first, asked, list }) = observed.errors() else { return LawOutcome::NotApplicable };
    let mut expected = expected.errors().skip(*first).take(*asked);
    let mut observed = list.iter();
    loop {
        let offsets = match (expected.next(), observed.next()) {
            (None, None) => return LawOutcome::Holds,
            (Some(expected), Some(observed)) => match error_mismatch(&expected, observed) {
                None => continue,
                Some(_) => [expected.valid_up_to, observed.valid_up_to],
            },
            (expected, observed) => {
                [expected, observed.copied()].map(|error| error.and_then(|error| error.valid_up_to))
            }
        };
        return violated(Law::Spans, offsets.into_iter().flatten().min());
    }
}

/// No contract writes more than three bytes for each input byte; the law leaves a margin.
fn progress(expected: &Expectation<'_>, observed: &Observation, case: &Case<'_>) -> LawOutcome {
    let bound = 4 * case.bytes.len() + 16;
    match observed.output() {
        None => LawOutcome::NotApplicable,
        Some(output) if output.len() <= bound => LawOutcome::Holds,
        Some(output) => output_mismatch(Law::Progress, expected, output).into(),
    }
}

/// Input that the decoder itself accepts comes back unchanged.
fn identity(expected: &Expectation<'_>, observed: &Observation, case: &Case<'_>) -> LawOutcome {
    match (observed.verdict, observed.output()) {
        (Some(Validity::Valid), Some(output)) if expected.is_identity() => {
            let same = output == case.bytes;
            let offset = || Some(common_prefix(output, case.bytes));
            if same { LawOutcome::Holds } else { violated(Law::Identity, offset()) }
        }
        _ => LawOutcome::NotApplicable,
    }
}

fn well_formed_output(expected: &Expectation<'_>, observed: &Observation, _: &Case<'_>) -> LawOutcome {
    match observed.output() {
        None => LawOutcome::NotApplicable,
        Some(output) if expected.is_ill_formed_output(output) => violated(Law::WellFormedOutput, None),
        Some(_) => LawOutcome::Holds,
    }
}

fn lossy(expected: &Expectation<'_>, observed: &Observation, _: &Case<'_>) -> LawOutcome {
    match observed.output() {
        None => LawOutcome::NotApplicable,
        Some(output) => output_mismatch(Law::Lossy, expected, output).into(),
    }
}

fn stream(expected: &Expectation<'_>, observed: &Observation, _: &Case<'_>) -> LawOutcome {
    match observed.streamed() {
        // A change of the existing output violates the placement law.
        None | Some(Streamed { existing_kept: false, .. }) => LawOutcome::NotApplicable,
        Some(streamed) => stream_mismatch(Law::Stream, expected, streamed).into(),
    }
}

/// Checked only for streams whose contract promises it.
fn detection(expected: &Expectation<'_>, observed: &Observation, _: &Case<'_>) -> LawOutcome {
    let streamed = observed.streamed().filter(|streamed| streamed.existing_kept);
    let Some((cut, written)) = streamed.and_then(|streamed| streamed.written) else {
        return LawOutcome::NotApplicable;
    };
    if written >= expected.decided_by(cut) {
        return LawOutcome::Holds;
    }
    let waiting = expected.input_offset(written, expected.lossy().get(..written).unwrap_or_default());
    violated(Law::Detection, Some(waiting))
}

fn reset(expected: &Expectation<'_>, observed: &Observation, _: &Case<'_>) -> LawOutcome {
    match observed.reused() {
        None => LawOutcome::NotApplicable,
        Some(reused) if !reused.ends_empty => violated(Law::Reset, None),
        Some(reused) => stream_mismatch(Law::Reset, expected, &reused.streamed).into(),
    }
}

/// Checks questions that are asked at the same time. A dependence on earlier questions is found by the judge while it asks.
fn repeat(_: &Expectation<'_>, observed: &Observation, _: &Case<'_>) -> LawOutcome {
    observed.at_once.map_or(LawOutcome::NotApplicable, at_once)
}

fn at_once(is_same: bool) -> LawOutcome {
    if is_same { LawOutcome::Holds } else { violated(Law::Repeat, None) }
}

/// Neither the address, the neighbouring bytes, nor the existing content and the size of the output buffer changes the
/// answer.
fn placement(expected: &Expectation<'_>, observed: &Observation, _: &Case<'_>) -> LawOutcome {
    if observed.has_changed_existing_output() {
        return violated(Law::Placement, None);
    }
    let Some((verdict, output)) = observed.placed() else { return LawOutcome::NotApplicable };
    let mismatch = verdict.and_then(|verdict| verdict_mismatch(&expected.validity(), &verdict));
    let decodes = expected.contract().replacement.is_some() || expected.validity().is_valid();
    let output = output.filter(|_| decodes);
    let differs = || output.and_then(|output| output_mismatch(Law::Placement, expected, output));
    mismatch.map(|mismatch| Mismatch { law: Law::Placement, ..mismatch }).or_else(differs).into()
}

fn prefix(expected: &Expectation<'_>, observed: &Observation, case: &Case<'_>) -> LawOutcome {
    let Some(verdicts) = observed.prefixed().filter(|verdicts| **verdicts != [None, None]) else {
        return LawOutcome::NotApplicable;
    };
    let shifted = match expected.validity() {
        Validity::Valid => Validity::Valid,
        Validity::Invalid(malformed) => Validity::Invalid(Malformed {
            valid_up_to: malformed.valid_up_to.map(|offset| offset + case.prefix()),
            ..malformed
        }),
    };
    let unshift = |offset: usize| offset.saturating_sub(case.prefix());
    let mismatch = verdicts.iter().flatten().find_map(|prefixed| verdict_mismatch(&shifted, prefixed));
    mismatch.map(|mismatch| Mismatch { law: Law::Prefix, offset: mismatch.offset.map(unshift) }).into()
}

fn concatenation(expected: &Expectation<'_>, observed: &Observation, _: &Case<'_>) -> LawOutcome {
    match observed.halves {
        None => LawOutcome::NotApplicable,
        // WTF-8 is not closed under concatenation: a surrogate pair must be joined.
        Some(_) if expected.contract().grammar.pairs_join => LawOutcome::NotApplicable,
        Some((first, second)) if first.is_valid() && second.is_valid() => {
            violated(Law::Concatenation, expected.errors().next().and_then(|error| error.valid_up_to))
        }
        Some(_) => LawOutcome::Holds,
    }
}

fn stream_mismatch(law: Law, expected: &Expectation<'_>, streamed: &Streamed) -> Option<Mismatch> {
    let verdict = streamed.validity.and_then(|validity| verdict_mismatch(&expected.validity(), &validity));
    let output = || match expected.contract().replacement {
        Some(_) => output_mismatch(law, expected, &streamed.output),
        // A stream without output must write nothing.
        None => (!streamed.output.is_empty()).then_some(Mismatch { law, offset: None }),
    };
    verdict.map(|mismatch| Mismatch { law, ..mismatch }).or_else(output)
}

/// Compares what both verdicts state.
pub(crate) fn verdict_mismatch(expected: &Validity, observed: &Validity) -> Option<Mismatch> {
    match (expected, observed) {
        (Validity::Valid, Validity::Valid) => None,
        (Validity::Valid, Validity::Invalid(malformed)) | (Validity::Invalid(malformed), Validity::Valid) => {
            Some(Mismatch { law: Law::Verdict, offset: malformed.valid_up_to })
        }
        (Validity::Invalid(expected), Validity::Invalid(observed)) => error_mismatch(expected, observed),
    }
}

fn error_mismatch(expected: &Malformed, observed: &Malformed) -> Option<Mismatch> {
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
    Some(Mismatch { law, offset: [expected.valid_up_to, observed.valid_up_to].into_iter().flatten().min() })
}

fn output_mismatch(law: Law, expected: &Expectation<'_>, output: &[u8]) -> Option<Mismatch> {
    if expected.lossy() == output {
        return None;
    }
    let same = common_prefix(expected.lossy(), output);
    Some(Mismatch { law, offset: Some(expected.input_offset(same, output)) })
}

fn common_prefix(left: &[u8], right: &[u8]) -> usize {
    left.iter().zip(right).take_while(|(left, right)| left == right).count()
}

/// What is at the offset where the observed answer differs from the expected one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Subject {
    /// An ill-formed segment of this kind.
    Fault(Kind),
    /// A well-formed sequence of this many bytes.
    WellFormed(usize),
    /// The end of the input.
    End,
    /// The decoder states no offset.
    Unplaced,
    /// The whole process: the decoder ended it.
    Process(Ending),
}

impl Subject {
    /// What `spec` reads at this offset.
    pub(crate) fn at(contract: &Contract, bytes: &[u8], offset: Option<usize>) -> Self {
        let Some(offset) = offset else { return Self::Unplaced };
        let segment = segments(contract, bytes).find(|segment| segment.range().contains(&offset));
        segment.map_or(Self::End, |segment| match segment.reading {
            Reading::WellFormed(_) => Self::WellFormed(segment.len),
            Reading::IllFormed { kind, .. } => Self::Fault(kind),
        })
    }

    /// Every subject.
    pub fn all() -> impl Iterator<Item = Self> {
        let kinds = Kind::ALL.into_iter().map(Self::Fault);
        let widths = (1..=6).map(Self::WellFormed);
        let endings = Ending::ALL.into_iter().map(Self::Process);
        kinds.chain(widths).chain([Self::End, Self::Unplaced]).chain(endings)
    }

    /// The name used in signatures and the ledger: a kind, `valid-1` to `valid-6`, `end`, `unplaced`, or the name of
    /// an [`Ending`].
    pub fn name(self) -> &'static str {
        match self {
            Self::Fault(kind) => kind.name(),
            Self::WellFormed(1) => "valid-1",
            Self::WellFormed(2) => "valid-2",
            Self::WellFormed(3) => "valid-3",
            Self::WellFormed(4) => "valid-4",
            Self::WellFormed(5) => "valid-5",
            Self::WellFormed(_) => "valid-6",
            Self::End => "end",
            Self::Unplaced => "unplaced",
            Self::Process(ending) => ending.name(),
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
