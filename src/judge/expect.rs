//! What `spec` expects of a case, once for each distinct contract.

use crate::spec::grammar::Form;
use crate::spec::model::{generalised_len, payload, push_generalised};
use crate::spec::{self, Automaton, Bom, Contract, End, Reading, Replacement, UnitRule};
use crate::utf8::{BYTE_ORDER_MARK, ErrorLen, Kind, Malformed, Validity};

/// The expected answers under one contract.
pub(super) struct Expectation {
    pub(super) contract: Contract,
    /// Every ill-formed unit, in order.
    pub(super) errors: Vec<Malformed>,
    /// The output; meaningless where the contract has no replacement.
    pub(super) lossy: Vec<u8>,
    automaton: Automaton,
    /// Whether a well-formed input is its own output.
    identity: bool,
    /// Whether all output must be well-formed UTF-8.
    scalars_only: bool,
}

impl Expectation {
    pub(super) fn new(contract: Contract) -> Self {
        let shortest = contract.grammar.rows.iter().all(|row| {
            let lowest: Vec<u8> = row.bytes.iter().map(|&(first, _)| first).collect();
            let code_point = payload(&lowest);
            row.form != Form::Pair && generalised_len(code_point) == row.bytes.len()
        });
        let scalars_only = contract.grammar.rows.iter().all(|row| {
            let highest: Vec<u8> = row.bytes.iter().map(|&(_, last)| last).collect();
            row.form == Form::Pair || row.form == Form::Scalar && payload(&highest) <= 0x10_FFFF
        });
        Self {
            contract,
            automaton: Automaton::of(contract.grammar),
            errors: Vec::new(),
            lossy: Vec::new(),
            identity: shortest,
            scalars_only: scalars_only && contract.replacement != Some(Replacement::SurrogateEscape),
        }
    }

    /// Whether another contract's expectation follows from this one without reading the input again.
    fn serves(&self, other: &Contract) -> bool {
        let (ours, bom) = (self.contract, self.contract.bom);
        let output = other.replacement.is_none() || other.replacement == ours.replacement;
        (ours.grammar, ours.unit, bom) == (other.grammar, UnitRule::MaximalSubpart, Bom::Keep)
            && ours.unit == other.unit
            && output
    }

    fn read(&mut self, bytes: &[u8]) {
        let Self { contract, errors, lossy, automaton, .. } = self;
        let replacement = contract.replacement.filter(|_| self.identity);
        let mut copied = spec::model::stripped(contract, bytes);
        automaton.ill_formed(contract, bytes, |unit| {
            errors.extend(spec::model::malformed(contract, unit));
            if let Some(replacement) = replacement {
                lossy.extend_from_slice(&bytes[copied..unit.start]);
                replacement.code_points(&bytes[unit.range()]).for_each(|code_point| push_generalised(code_point, lossy));
                copied = unit.range().end;
            }
        });
        match replacement {
            Some(_) => lossy.extend_from_slice(&bytes[copied..]),
            None => _ = spec::lossy(contract, bytes, lossy),
        }
    }

    fn derive(&mut self, known: &Self, bytes: &[u8]) {
        self.errors.extend_from_slice(&known.errors);
        if let (Some(last), end) = (self.errors.last_mut(), self.contract.end)
            && last.kind == Some(Kind::Incomplete)
            && let Some(offset) = last.valid_up_to
        {
            last.len = Some(match end {
                End::Incomplete => ErrorLen::Incomplete,
                End::Error => ErrorLen::Bytes(bytes.len() - offset),
            });
        }
        if self.contract.replacement.is_some() {
            let stripped = self.contract.bom == Bom::Strip && bytes.starts_with(BYTE_ORDER_MARK);
            self.lossy.extend_from_slice(&known.lossy[if stripped { BYTE_ORDER_MARK.len() } else { 0 }..]);
        }
    }

    /// The expected verdict.
    pub(super) fn validity(&self) -> Validity {
        self.errors.first().map_or(Validity::Valid, |&malformed| Validity::Invalid(malformed))
    }

    /// Whether law 6 wants a valid input back unchanged.
    pub(super) fn is_identity(&self, bytes: &[u8]) -> bool {
        self.identity && (self.contract.bom == Bom::Keep || !bytes.starts_with(BYTE_ORDER_MARK))
    }

    /// The offset in the input of the unit whose output holds byte `output_offset` of the expected output.
    ///
    /// Where the output parts right behind an ill-formed unit, that unit is meant: its replacement is what went wrong.
    pub(super) fn input_offset(&self, bytes: &[u8], output_offset: usize) -> usize {
        let Some(replacement) = self.contract.replacement else { return 0 };
        let mut written = 0;
        let mut ill_formed_before = None;
        for unit in spec::units(&self.contract, bytes) {
            let stripped = self.contract.bom == Bom::Strip && unit.start == 0 && bytes.starts_with(BYTE_ORDER_MARK);
            let (len, ill_formed) = match unit.reading {
                Reading::WellFormed(_) if stripped => (0, None),
                Reading::WellFormed(code_point) => (generalised_len(code_point), None),
                Reading::IllFormed { .. } => {
                    (replacement.code_points(&bytes[unit.range()]).map(generalised_len).sum(), Some(unit.start))
                }
            };
            if output_offset < written + len {
                let behind = ill_formed_before.filter(|_| output_offset == written && ill_formed.is_none());
                return behind.unwrap_or(unit.start);
            }
            written += len;
            ill_formed_before = ill_formed;
        }
        ill_formed_before.unwrap_or(bytes.len())
    }

    /// Whether law 6 wants this output well-formed, and it is not.
    pub(super) fn is_ill_formed_output(&self, output: &[u8]) -> bool {
        self.scalars_only && core::str::from_utf8(output).is_err()
    }
}

/// Computes all expectations of one input, reading it once for each grammar and unit rule.
pub(super) fn fill(expectations: &mut [Expectation], bytes: &[u8]) {
    for index in 0..expectations.len() {
        let (done, rest) = expectations.split_at_mut(index);
        let Some(new) = rest.first_mut() else { return };
        new.errors.clear();
        new.lossy.clear();
        match done.iter().find(|known| known.serves(&new.contract)) {
            Some(known) => new.derive(known, bytes),
            None => new.read(bytes),
        }
    }
}
