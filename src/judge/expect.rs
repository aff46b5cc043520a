//! What `spec` expects of a case, once for each distinct contract.

use crate::spec::grammar::Form;
use crate::spec::model::{generalised_len, payload};
use crate::spec::{self, Bom, Contract, Reading, Replacement};
use crate::utf8::{BYTE_ORDER_MARK, Malformed, Validity};

/// The expected answers under one contract.
pub(super) struct Expectation {
    pub(super) contract: Contract,
    /// Every ill-formed unit, in order.
    pub(super) errors: Vec<Malformed>,
    /// The output; meaningless where the contract has no replacement.
    pub(super) lossy: Vec<u8>,
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
            errors: Vec::new(),
            lossy: Vec::new(),
            identity: shortest,
            scalars_only: scalars_only && contract.replacement != Some(Replacement::SurrogateEscape),
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

/// Computes all expectations of one input.
pub(super) fn fill(expectations: &mut [Expectation], bytes: &[u8]) {
    for index in 0..expectations.len() {
        let (done, rest) = expectations.split_at_mut(index);
        let Some(expectation) = rest.first_mut() else { return };
        expectation.errors.clear();
        let contract = expectation.contract;
        // Contracts that read alike share one reading.
        let alike = |other: &&mut Expectation| {
            let other = other.contract;
            (other.grammar, other.unit, other.end) == (contract.grammar, contract.unit, contract.end)
        };
        match done.iter_mut().find(alike) {
            Some(other) => expectation.errors.extend_from_slice(&other.errors),
            None => expectation
                .errors
                .extend(spec::units(&contract, bytes).filter_map(|unit| spec::model::malformed(&contract, &unit))),
        }
        expectation.lossy.clear();
        if contract.replacement.is_some() {
            let like = |other: &&mut Expectation| Contract { end: contract.end, ..other.contract } == contract;
            match done.iter_mut().find(like) {
                Some(other) => expectation.lossy.extend_from_slice(&other.lossy),
                None => {
                    spec::lossy(&contract, bytes, &mut expectation.lossy);
                }
            }
        }
    }
}
