//! What `spec` expects of a case: one reading for each grammar and segmentation, and one output for each contract, both
//! computed on demand.

use crate::judge::automaton::Automaton;
use crate::spec;
use crate::spec::grammar::{ALL, Form, Grammar};
use crate::spec::model::{is_last_error, malformed, stripped};
use crate::spec::{Bom, Contract, Reading, Replacement, Segment, Segmentation};
use crate::utf8::{BYTE_ORDER_MARK, Malformed, Validity};
use crate::utf8::{extended_len, payload};
use std::sync::{Arc, OnceLock};

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

    /// Every error, in order. An incomplete sequence is one error, the last, into however many segments it is cut.
    pub(crate) fn errors(&self) -> impl ExactSizeIterator<Item = Malformed> + Clone + 'a {
        let contract = self.contract();
        let nowhere = Malformed { valid_up_to: None, len: None, kind: None };
        let last = self.segments.len().saturating_sub(LONGEST - 1);
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

    /// The outputs of other segmentations that differ from [`Expectation::lossy`] in more than the number of U+FFFD: in a
    /// grammar with pairs, a maximal subpart may contain the first byte of the next sequence.
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
