//! What a decoder can be asked, and what `spec` expects of its answers.
//!
//! A case has one reading for each grammar and segmentation, and one output for each contract, both computed on demand.
//! Readings come from an [`Automaton`]: a grammar's rows compiled into a table that finds the same ill-formed segments
//! as [`segments`], but faster. A state is the set of rows that still match the bytes since the last boundary, so the
//! table follows from the rows. For maximal subparts and single bytes, `model` gives the kind of an error once for each
//! state and byte; for other segmentations, and at the end of the input, it reads each error. Outside ASCII, the loop over
//! bytes has no integer comparison that a fuzzer would trace: it uses iterators and tables of `bool`.
//!
//! [`segments`]: crate::spec::model::segments

use crate::case::Choices;
use crate::generate::plan::Ask;
use crate::spec;
use crate::spec::grammar::{ALL, Form, Grammar};
use crate::spec::model::{Reading, Segment, Segments, fault, is_last_error, malformed, stripped};
use crate::spec::policy::{Contract, Segmentation};
use crate::spec::{Bom, Replacement};
use crate::utf8::{BYTE_ORDER_MARK, Kind, Malformed, Validity, extended_len, payload};
use std::sync::{Arc, OnceLock};

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
    /// The verdict on the same bytes at another address, between other bytes, and their output.
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

    /// Every question about the input itself, at the address it has or next to an inaccessible page.
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

    /// The verdict on the same bytes at another address, and their output.
    pub const PLACEMENT: Self = Self::of(&[Question::Placement]);

    /// These questions.
    pub(crate) const fn of(questions: &[Question]) -> Self {
        Self { asked: bits(questions), after_error: None }
    }

    /// This set with the verdict and the output: the other answers of a decoder that does not promise everything are compared
    /// with these.
    pub(crate) const fn comparable(self) -> Self {
        Self { asked: self.asked | Self::ANSWERS.asked, ..self }
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

/// A compiled grammar.
#[derive(Clone, Debug)]
pub(crate) struct Automaton {
    /// The next state, for each state and byte.
    next: Box<[[u8; 256]; 256]>,
    /// The rule broken, for each state and byte that is refused.
    refused: Vec<[Kind; 256]>,
    /// The number of bytes since the last boundary, for each state.
    depth: [u8; 256],
    /// Whether a leading surrogate precedes those bytes, for each state.
    after_lead: [bool; 256],
    /// Whether every ASCII byte is a sequence of its own, and leads from one boundary to the next.
    ascii_is_whole: bool,
}

/// The rows that still match the bytes since the last boundary, an example of these bytes, and whether a leading
/// surrogate precedes them.
#[derive(Clone, Debug)]
struct State {
    rows: Vec<usize>,
    bytes: Vec<u8>,
    after_lead: bool,
}

impl Automaton {
    /// State 0 is a boundary between sequences, state 1 a boundary after a leading surrogate, and this one refuses the
    /// byte.
    const REFUSED: u8 = u8::MAX;
    const IS_REFUSED: [bool; 256] = {
        let mut table = [false; 256];
        table[Self::REFUSED as usize] = true;
        table
    };

    /// Compiles the rows of a grammar.
    pub(crate) fn of(grammar: &Grammar) -> Self {
        let start = |after_lead| State { rows: (0..grammar.rows.len()).collect(), bytes: Vec::new(), after_lead };
        let mut states = vec![start(false), start(true)];
        let mut next = Box::new([[Self::REFUSED; 256]; 256]);
        let mut refused = Vec::new();
        while let Some(state) = states.get(refused.len()).cloned() {
            let mut kinds = [Kind::Incomplete; 256];
            for byte in 0..=u8::MAX {
                let bytes = [&state.bytes[..], &[byte]].concat();
                let reached = match state.step(grammar, &bytes) {
                    None => {
                        let previous = state.after_lead.then_some(Form::LeadSurrogate);
                        kinds[usize::from(byte)] = fault(grammar, &bytes, state.bytes.len(), previous);
                        continue;
                    }
                    Some((rows, None)) => {
                        let same = |other: &State| {
                            (&other.rows, other.bytes.len(), other.after_lead) == (&rows, bytes.len(), state.after_lead)
                        };
                        states.iter().position(same).unwrap_or_else(|| {
                            states.push(State { rows, bytes, after_lead: state.after_lead });
                            states.len() - 1
                        })
                    }
                    Some((_, Some(form))) => usize::from(form == Form::LeadSurrogate),
                };
                next[refused.len()][usize::from(byte)] = reached as u8;
            }
            refused.push(kinds);
        }
        let (mut depth, mut after_lead) = ([0; 256], [false; 256]);
        for (index, state) in states.iter().enumerate() {
            depth[index] = state.bytes.len() as u8;
            after_lead[index] = state.after_lead;
        }
        let ascii_is_whole = next[0][..0x80].iter().all(|&reached| reached == 0);
        Self { next, refused, depth, after_lead, ascii_is_whole }
    }

    /// Skips ASCII up to the first other byte, if every ASCII byte is a sequence of its own. It may stop up to seven ASCII
    /// bytes too early.
    #[inline]
    fn skip_ascii<'a>(&self, mut rest: &'a [u8]) -> &'a [u8] {
        const HIGH_BITS: u128 = 0x8080_8080_8080_8080_8080_8080_8080_8080;
        const HIGH_BITS_OF_HALF: u64 = HIGH_BITS as u64;
        if !self.ascii_is_whole {
            return rest;
        }
        while let Some((block, after)) = rest.split_first_chunk() {
            match u128::from_le_bytes(*block) & HIGH_BITS {
                0 => rest = after,
                high => return &rest[high.trailing_zeros() as usize / 8..],
            }
        }
        if let Some((block, after)) = rest.split_first_chunk() {
            match u64::from_le_bytes(*block) & HIGH_BITS_OF_HALF {
                0 => rest = after,
                high => return &rest[high.trailing_zeros() as usize / 8..],
            }
        }
        rest
    }

    /// Calls `found` with each ill-formed segment of `bytes` under this grammar and segmentation, in order.
    pub(crate) fn ill_formed(&self, contract: &Contract, bytes: &[u8], mut found: impl FnMut(Segment)) {
        const IS_BOUNDARY: [bool; 256] = {
            let mut table = [false; 256];
            table[0] = true;
            table
        };
        let mut rest = self.skip_ascii(bytes).iter();
        let mut state = 0;
        while let Some(&byte) = rest.next() {
            let reached = self.next[usize::from(state)][usize::from(byte)];
            if !Self::IS_REFUSED[usize::from(reached)] {
                state = reached;
                if IS_BOUNDARY[usize::from(state)] {
                    rest = self.skip_ascii(rest.as_slice()).iter();
                }
                continue;
            }
            let here = bytes.len() - rest.len() - 1;
            let segment = self.refused_unit(contract, bytes, here, state);
            found(segment);
            rest = bytes[segment.range().end.min(bytes.len())..].iter();
            state = 0;
        }
        // The end of the input inside a sequence: one maximal subpart, but several segments under some segmentations.
        let mut start = bytes.len() - usize::from(self.depth[usize::from(state)]);
        while start < bytes.len() {
            let segment = self.read_slowly(contract, bytes, start, state);
            found(segment);
            (start, state) = (segment.range().end, 0);
        }
    }

    /// The first ill-formed segment of `bytes`; faster than [`Automaton::ill_formed`] on short strings.
    #[cfg(any(feature = "check", test))]
    pub(crate) fn first_ill_formed(&self, contract: &Contract, bytes: &[u8]) -> Option<Segment> {
        let mut state = 0;
        for (here, &byte) in bytes.iter().enumerate() {
            let reached = self.next[usize::from(state)][usize::from(byte)];
            if reached == Self::REFUSED {
                return Some(self.refused_unit(contract, bytes, here, state));
            }
            state = reached;
        }
        let start = bytes.len() - usize::from(self.depth[usize::from(state)]);
        (start < bytes.len()).then(|| self.read_slowly(contract, bytes, start, state))
    }

    /// The ill-formed segment that is found when this state refuses the byte at `here`.
    #[inline]
    fn refused_unit(&self, contract: &Contract, bytes: &[u8], here: usize, state: u8) -> Segment {
        let matched = usize::from(self.depth[usize::from(state)]);
        let start = here - matched;
        let len = match contract.segmentation {
            Segmentation::MaximalSubpart => matched.max(1),
            Segmentation::Byte => 1,
            _ => return self.read_slowly(contract, bytes, start, state),
        };
        let kind = self.refused[usize::from(state)][usize::from(bytes[here])];
        Segment { start, len, reading: Reading::IllFormed { kind } }
    }

    fn read_slowly(&self, contract: &Contract, bytes: &[u8], start: usize, state: u8) -> Segment {
        let previous = self.after_lead[usize::from(state)].then_some(Form::LeadSurrogate);
        let nothing = Segment { start, len: bytes.len() - start, reading: Reading::WellFormed(0) };
        Segments::resume(contract, bytes, start, previous).next().unwrap_or(nothing)
    }
}

impl State {
    /// The rows that still match `bytes`, one byte more than this state's, and the form of the row that they complete.
    fn step(&self, grammar: &Grammar, bytes: &[u8]) -> Option<(Vec<usize>, Option<Form>)> {
        let at = self.bytes.len();
        let goes_on = |index: &usize| {
            let row = &grammar.rows[*index];
            let (first, last) = row.bytes[at];
            let joins = grammar.pairs_join && row.form == Form::TrailSurrogate && self.after_lead;
            (first..=last).contains(&bytes[at]) && !joins
        };
        let rows: Vec<usize> = self.rows.iter().copied().filter(goes_on).collect();
        let first = &grammar.rows[*rows.first()?];
        let whole = (first.bytes.len() == bytes.len()).then_some(first.form);
        Some((rows, whole))
    }
}

/// The length of the longest sequence of any grammar in bytes.
const LONGEST: usize = 6;

/// The expectations under every contract of a judge.
#[derive(Default)]
pub(crate) struct Expectations {
    readings: Vec<IllFormed>,
    outputs: Vec<Output>,
}

/// The ill-formed segments of the input under one grammar and segmentation.
struct IllFormed {
    contract: Contract,
    automaton: Arc<Automaton>,
    segments: Vec<Segment>,
    known: bool,
}

/// The output under one contract.
struct Output {
    contract: Contract,
    reading: usize,
    bytes: Vec<u8>,
    known: bool,
    /// Whether the output for a well-formed input is the input itself.
    identity: bool,
    /// The lead bytes of well-formed sequences that are written differently in the output.
    respelled: [bool; 256],
    /// Whether all output must be well-formed UTF-8.
    scalars_only: bool,
}

impl Expectations {
    /// The index of a contract's expectation.
    pub(crate) fn place(&mut self, contract: Contract) -> usize {
        if let Some(place) = self.outputs.iter().position(|output| output.contract == contract) {
            return place;
        }
        let alike = |known: &IllFormed| {
            (known.contract.grammar, known.contract.segmentation) == (contract.grammar, contract.segmentation)
        };
        let reading = self.readings.iter().position(alike).unwrap_or_else(|| {
            let automaton = compiled(contract.grammar);
            self.readings.push(IllFormed { contract, automaton, segments: Vec::new(), known: false });
            self.readings.len() - 1
        });
        self.outputs.push(Output::new(contract, reading));
        self.outputs.len() - 1
    }

    /// Discards all results, for another input.
    pub(crate) fn forget(&mut self) {
        self.readings.iter_mut().for_each(|reading| reading.known = false);
        self.outputs.iter_mut().for_each(|output| output.known = false);
    }

    /// The expectation for `bytes`, which must be the same since [`Expectations::forget`]; with the output if it is
    /// wanted.
    pub(crate) fn of<'a>(&'a mut self, place: usize, bytes: &'a [u8], output_wanted: bool) -> Option<Expectation<'a>> {
        let output = self.outputs.get_mut(place)?;
        let reading = self.readings.get_mut(output.reading)?;
        if !reading.known {
            reading.segments.clear();
            reading.automaton.ill_formed(&reading.contract, bytes, |segment| reading.segments.push(segment));
            reading.known = true;
        }
        if output_wanted && !output.known {
            output.write(bytes, &reading.segments);
            output.known = true;
        }
        Some(Expectation { bytes, automaton: &reading.automaton, segments: &reading.segments, output })
    }
}

/// The automaton of a grammar. For the grammars of `spec` it is compiled once in a process, since explaining a
/// divergence creates many short-lived judges. It depends only on the grammar.
fn compiled(grammar: &'static Grammar) -> Arc<Automaton> {
    static COMPILED: [OnceLock<Arc<Automaton>>; ALL.len()] = [const { OnceLock::new() }; ALL.len()];
    let compile = || Arc::new(Automaton::of(grammar));
    match ALL.iter().position(|known| *known == grammar) {
        Some(index) => Arc::clone(COMPILED[index].get_or_init(compile)),
        None => compile(),
    }
}

impl Output {
    fn new(contract: Contract, reading: usize) -> Self {
        let rows = contract.grammar.rows;
        let mut respelled = [false; 256];
        for row in rows {
            let lowest: Vec<u8> = row.bytes.iter().map(|&(first, _)| first).collect();
            if row.form == Form::Pair || extended_len(payload(&lowest)) != row.bytes.len() {
                respelled[usize::from(row.bytes[0].0)..=usize::from(row.bytes[0].1)].fill(true);
            }
        }
        let identity = !respelled.contains(&true);
        let scalars_only = rows.iter().all(|row| {
            let highest: Vec<u8> = row.bytes.iter().map(|&(_, last)| last).collect();
            row.form == Form::Pair || row.form == Form::Scalar && payload(&highest) <= 0x10_FFFF
        });
        let scalars_only = scalars_only && contract.replacement != Some(Replacement::SurrogateEscape);
        Self { contract, reading, bytes: Vec::new(), known: false, identity, respelled, scalars_only }
    }

    fn write(&mut self, bytes: &[u8], segments: &[Segment]) {
        self.bytes.clear();
        let replacement = self.contract.replacement;
        if replacement.is_none() && !segments.is_empty() {
            return;
        }
        let mut copied = stripped(&self.contract, bytes);
        for segment in segments {
            self.write_text(&bytes[copied..segment.start]);
            replacement.iter().for_each(|replacement| replacement.push(&bytes[segment.range()], &mut self.bytes));
            copied = segment.range().end;
        }
        self.write_text(&bytes[copied..]);
    }

    /// Writes the output of well-formed bytes.
    fn write_text(&mut self, text: &[u8]) {
        let respelled = |byte: &u8| self.respelled[usize::from(*byte)];
        let first = if self.identity { None } else { text.iter().position(respelled) };
        let (same, other) = text.split_at(first.unwrap_or(text.len()));
        self.bytes.extend_from_slice(same);
        if !other.is_empty() {
            spec::lossy(&Contract { bom: Bom::Keep, ..self.contract }, other, &mut self.bytes);
        }
    }
}

/// The expected answers under one contract.
#[derive(Clone, Copy)]
pub(crate) struct Expectation<'a> {
    bytes: &'a [u8],
    automaton: &'a Automaton,
    segments: &'a [Segment],
    output: &'a Output,
}

impl<'a> Expectation<'a> {
    /// The contract.
    pub(crate) fn contract(&self) -> &'a Contract {
        &self.output.contract
    }

    /// Every ill-formed segment, in order.
    pub(crate) fn segments(&self) -> &'a [Segment] {
        self.segments
    }

    /// Every error, in order. An incomplete sequence is one error, the last, however many segments it is cut into.
    pub(crate) fn errors(&self) -> impl ExactSizeIterator<Item = Malformed> + Clone + 'a {
        let contract = self.contract();
        let nowhere = Malformed { valid_up_to: None, len: None, kind: None };
        let last = self.segments.len().saturating_sub(LONGEST);
        let ends = self.segments[last..].iter().position(|segment| is_last_error(contract, segment));
        let errors = ends.map_or(self.segments, |end| &self.segments[..=last + end]);
        errors.iter().map(move |segment| malformed(contract, segment).unwrap_or(nowhere))
    }

    /// The expected verdict.
    pub(crate) fn validity(&self) -> Validity {
        self.errors().next().map_or(Validity::Valid, Validity::Invalid)
    }

    /// The output; meaningless if it was not wanted, or the contract rejects the input.
    pub(crate) fn lossy(&self) -> &'a [u8] {
        &self.output.bytes
    }

    /// The outputs of other segmentations that may differ from [`Expectation::lossy`] in more than the number of
    /// U+FFFD: in a grammar with pairs, a maximal subpart may contain the first byte of the next sequence.
    pub(crate) fn other_texts(&self) -> Vec<Vec<u8>> {
        let has_pairs = self.contract().grammar.rows.iter().any(|row| row.form == Form::Pair);
        let segmentations = [Segmentation::MaximalSubpart, Segmentation::Byte].into_iter().filter(|_| has_pairs);
        let text = |segmentation| {
            let mut out = Vec::new();
            spec::lossy(&Contract { segmentation, ..*self.contract() }, self.bytes, &mut out).map(|()| out)
        };
        segmentations.filter_map(text).collect()
    }

    /// The length in bytes of the output that is decided once `cut` bytes have been read: all but the output of a
    /// sequence that more bytes could complete.
    pub(crate) fn decided_by(&self, cut: usize) -> usize {
        let (contract, read) = (self.contract(), &self.bytes[..cut]);
        let Some(replacement) = contract.replacement else { return 0 };
        // A run ends before any byte at which a sequence begins.
        let segmentation = match contract.segmentation {
            Segmentation::Run => Segmentation::Byte,
            other => other,
        };
        let mut decided = cut;
        self.automaton.ill_formed(&Contract { segmentation, ..*contract }, read, |segment| {
            if segment.is_incomplete() {
                decided = decided.min(segment.start);
            }
        });
        let read = &read[..decided];
        if !self.output.identity {
            return spec::code_points(contract, read).map(extended_len).sum();
        }
        let (mut removed, mut replaced) = (0, 0);
        self.automaton.ill_formed(contract, read, |segment| {
            removed += segment.len;
            replaced += replacement.code_points(&read[segment.range()]).map(extended_len).sum::<usize>();
        });
        (decided - removed).saturating_sub(stripped(contract, read)) + replaced
    }

    /// Whether a valid input must come back unchanged.
    pub(crate) fn is_identity(&self) -> bool {
        self.output.identity && (self.contract().bom == Bom::Keep || !self.bytes.starts_with(BYTE_ORDER_MARK))
    }

    /// The offset in the input of the segment whose output contains byte `output_offset` of the expected output, the
    /// first byte at which the observed output differs.
    ///
    /// Directly after an ill-formed segment it is the offset of that segment, since its replacement is wrong; unless
    /// the observed output ends there, or continues after the next segment, which was then omitted.
    pub(crate) fn input_offset(&self, output_offset: usize, output: &[u8]) -> usize {
        let replacement = self.contract().replacement;
        let left_out = stripped(self.contract(), self.bytes);
        // A byte order mark that should have been stripped.
        let kept = output.strip_prefix(BYTE_ORDER_MARK).filter(|_| left_out > 0);
        if kept.is_some_and(|rest| rest.iter().zip(self.lossy()).take(6).all(|(left, right)| left == right)) {
            return 0;
        }
        let observed = &output[output_offset.min(output.len())..];
        let mut written = 0;
        let mut ill_formed_before = None;
        for segment in spec::segments(self.contract(), self.bytes).filter(|segment| segment.start >= left_out) {
            let (len, ill_formed) = match segment.reading {
                Reading::WellFormed(code_point) => (extended_len(code_point), None),
                Reading::IllFormed { .. } => {
                    let replaced = replacement.iter().flat_map(|r| r.code_points(&self.bytes[segment.range()]));
                    (replaced.map(extended_len).sum(), Some(segment.start))
                }
            };
            if output_offset < written + len {
                let after_it = self.lossy().get(written + len..).unwrap_or_default();
                let goes_on = !after_it.is_empty() && observed.starts_with(&after_it[..after_it.len().min(6)]);
                let skipped = observed.is_empty() || goes_on;
                let at_start = output_offset == written && ill_formed.is_none();
                return ill_formed_before.filter(|_| at_start && !skipped).unwrap_or(segment.start);
            }
            written += len;
            ill_formed_before = ill_formed;
        }
        ill_formed_before.unwrap_or(self.bytes.len())
    }

    /// Whether this output must be well-formed, but is not.
    pub(crate) fn is_ill_formed_output(&self, output: &[u8]) -> bool {
        // With `scalars_only`, the expected output is well-formed.
        self.output.scalars_only && output != self.lossy() && core::str::from_utf8(output).is_err()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::classes::Block;
    use crate::spec::grammar::RFC3629;
    use crate::spec::model::{Reading, segments};

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

    /// Asserts that under every grammar and segmentation the automaton finds the errors that `segments` finds.
    fn finds_the_errors_of_the_rows(bytes: &[u8]) {
        for grammar in ALL {
            let automaton = compiled(grammar);
            for segmentation in Segmentation::ALL {
                let contract = Contract { grammar, segmentation, ..Contract::STANDARD };
                let mut found = Vec::new();
                automaton.ill_formed(&contract, bytes, |segment| found.push(segment));
                assert_eq!(automaton.first_ill_formed(&contract, bytes), found.first().copied(), "{bytes:02X?}");
                let ill_formed = |segment: &Segment| matches!(segment.reading, Reading::IllFormed { .. });
                let expected: Vec<Segment> = segments(&contract, bytes).filter(ill_formed).collect();
                assert_eq!(found, expected, "{contract}: {bytes:02X?}");
            }
        }
    }

    fn each_of(block: Block, mut call: impl FnMut(&[u8])) {
        let mut bytes = Vec::new();
        for index in 0..block.count() {
            block.write(index, &mut bytes);
            call(&bytes);
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes Miri too long")]
    fn ascii_is_skipped_up_to_the_first_other_byte() {
        for (len, at) in (0..60).flat_map(|len| (0..len).map(move |at| (len, at))) {
            let mut bytes = vec![b'a'; len];
            bytes[at] = 0x80;
            finds_the_errors_of_the_rows(&bytes);
            let skipped = len - compiled(&RFC3629).skip_ascii(&bytes).len();
            assert!((at.saturating_sub(7)..=at).contains(&skipped), "{skipped} of {at} in {len} bytes");
            bytes.resize(at, b'a');
            finds_the_errors_of_the_rows(&[&bytes[..], b"\xE2\x82"].concat());
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes Miri too long")]
    fn the_automaton_finds_the_errors_of_the_rows() {
        // Whole blocks of one byte: only ASCII may be skipped.
        (0..=255).for_each(|byte| finds_the_errors_of_the_rows(&[byte; 40]));
        each_of(Block { len: 2, offset: 0 }, |bytes| {
            finds_the_errors_of_the_rows(bytes);
            let pair = b"\xED\xA0\x80\xED\xB0\x80 is a pair of three bytes each";
            finds_the_errors_of_the_rows(&[bytes, pair, bytes].concat());
            finds_the_errors_of_the_rows(&[bytes, b"\xED\xB0\x80"].concat());
        });
        each_of(Block { len: 2, offset: 7 }, finds_the_errors_of_the_rows);
        each_of(Block { len: 3, offset: 0 }, finds_the_errors_of_the_rows);
    }

    #[test]
    #[cfg_attr(miri, ignore = "takes Miri too long")]
    fn the_automaton_finds_the_errors_of_the_rows_in_longer_strings() {
        for first in 0..=255 {
            (0..=255).for_each(|second| finds_the_errors_of_the_rows(&[first, second]));
        }
        each_of(Block { len: 4, offset: 0 }, finds_the_errors_of_the_rows);
        each_of(Block { len: 3, offset: 0 }, |bytes| {
            let pair = b"\xED\xA0\x80\xED\xB0\x80 is a pair of three bytes each";
            finds_the_errors_of_the_rows(&[bytes, pair, bytes].concat());
        });
    }
}
