//! What `spec` expects of a case, once for each distinct contract.

use crate::spec::grammar::Form;
use crate::spec::model::{generalised_len, malformed, payload, push_generalised, stripped};
use crate::spec::{self, Automaton, Bom, Contract, Reading, Replacement, Unit};
use crate::utf8::{BYTE_ORDER_MARK, Malformed, Validity};

/// The expected answers under one contract.
pub(super) struct Expectation {
    pub(super) contract: Contract,
    /// Every ill-formed unit, in order.
    pub(super) errors: Vec<Malformed>,
    /// The same, as units.
    units: Vec<Unit>,
    /// The output; meaningless where the contract has no replacement.
    pub(super) lossy: Vec<u8>,
    automaton: Automaton,
    /// Whether a well-formed input is its own output.
    identity: bool,
    /// Whether all output must be well-formed UTF-8.
    scalars_only: bool,
}

impl Expectation {
    fn new(contract: Contract) -> Self {
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
            units: Vec::new(),
            lossy: Vec::new(),
            identity: shortest,
            scalars_only: scalars_only && contract.replacement != Some(Replacement::SurrogateEscape),
        }
    }

    /// Finds the errors.
    fn read(&mut self, bytes: &[u8]) {
        let Self { contract, errors, units, automaton, .. } = self;
        errors.clear();
        units.clear();
        automaton.ill_formed(contract, bytes, |unit| {
            units.push(*unit);
            errors.extend(malformed(contract, unit));
        });
    }

    /// Writes the output, from the ill-formed units where all between them is its own output.
    fn write(&mut self, bytes: &[u8]) {
        let Self { contract, lossy, units, .. } = self;
        lossy.clear();
        let Some(replacement) = contract.replacement else { return };
        if !self.identity {
            spec::lossy(contract, bytes, lossy);
            return;
        }
        let mut copied = stripped(contract, bytes);
        for unit in units {
            lossy.extend_from_slice(&bytes[copied..unit.start]);
            replacement.code_points(&bytes[unit.range()]).for_each(|code_point| push_generalised(code_point, lossy));
            copied = unit.range().end;
        }
        lossy.extend_from_slice(&bytes[copied..]);
    }

    /// What is expected of one input under one contract.
    pub(super) fn whole(contract: Contract, bytes: &[u8]) -> Self {
        let mut whole = Self::new(contract);
        whole.read(bytes);
        whole.write(bytes);
        whole
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

/// The expectations under every contract of a judge, computed when they are asked for.
pub(super) struct Expectations {
    list: Vec<Expectation>,
    /// Which of the list are up to date with the input.
    known: Vec<Known>,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Known {
    errors: bool,
    output: bool,
}

impl Expectations {
    pub(super) fn new() -> Self {
        Self { list: Vec::new(), known: Vec::new() }
    }

    /// The place of a contract's expectation.
    pub(super) fn place(&mut self, contract: Contract) -> usize {
        self.list.iter().position(|expectation| expectation.contract == contract).unwrap_or_else(|| {
            self.list.push(Expectation::new(contract));
            self.known.push(Known::default());
            self.list.len() - 1
        })
    }

    /// Forgets the last input.
    pub(super) fn forget(&mut self) {
        self.known.fill(Known::default());
    }

    /// What is expected of `bytes`, the same since [`Expectations::forget`]; with the output where that is wanted.
    pub(super) fn of(&mut self, place: usize, bytes: &[u8], output: bool) -> Option<&Expectation> {
        let expectation = self.list.get_mut(place)?;
        let known = self.known.get_mut(place)?;
        if !known.errors {
            expectation.read(bytes);
            *known = Known { errors: true, output: false };
        }
        if output && !known.output {
            expectation.write(bytes);
            known.output = true;
        }
        Some(expectation)
    }
}
