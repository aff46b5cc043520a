//! A grammar's rows compiled into a table, for those who read very much: the same errors as [`units`], sooner.
//!
//! A state is the set of rows that the bytes since the last boundary begin, so the table follows from the rows alone.
//! Only the walk over well-formed text is done here; what an error is, and how long, `model` decides as always.
//!
//! [`units`]: super::model::units

use super::grammar::{Form, Grammar};
use super::model::{Unit, Units};
use super::policy::Contract;

/// A compiled grammar.
#[derive(Clone, Debug)]
pub struct Automaton {
    next: Vec<[u8; 256]>,
    /// Whether every ASCII byte is a sequence of its own.
    ascii: bool,
}

/// The rows that the bytes since the last boundary begin, how many bytes these are, and whether a leading surrogate
/// stands before them.
#[derive(Clone, Debug, PartialEq, Eq)]
struct State {
    rows: Vec<usize>,
    len: usize,
    behind_lead: bool,
}

impl Automaton {
    /// State 0 is a boundary between sequences, state 1 a boundary behind a leading surrogate.
    const BOUNDARIES: u8 = 2;
    const REJECT: u8 = u8::MAX;

    /// Compiles the rows of a grammar.
    pub fn of(grammar: &Grammar) -> Self {
        let start = |behind_lead| State { rows: (0..grammar.rows.len()).collect(), len: 0, behind_lead };
        let mut states = vec![start(false), start(true)];
        let mut next = Vec::new();
        while let Some(state) = states.get(next.len()).cloned() {
            let mut row = [Self::REJECT; 256];
            for (byte, slot) in (0..=u8::MAX).zip(&mut row) {
                let goes_on = |index: &usize| {
                    let row = &grammar.rows[*index];
                    let (first, last) = row.bytes[state.len];
                    let joins = grammar.pairs_join && row.form == Form::TrailSurrogate && state.behind_lead;
                    (first..=last).contains(&byte) && !joins
                };
                let rows: Vec<usize> = state.rows.iter().copied().filter(goes_on).collect();
                let Some(&first) = rows.first() else { continue };
                if grammar.rows[first].bytes.len() == state.len + 1 {
                    *slot = u8::from(grammar.rows[first].form == Form::LeadSurrogate);
                    continue;
                }
                let reached = State { rows, len: state.len + 1, behind_lead: state.behind_lead };
                let known = states.iter().position(|state| *state == reached).unwrap_or_else(|| {
                    states.push(reached);
                    states.len() - 1
                });
                *slot = known as u8;
            }
            next.push(row);
        }
        let ascii = next[0][..0x80].iter().all(|&state| state == 0);
        Self { next, ascii }
    }

    /// Calls `found` with each ill-formed unit of `bytes` under a contract of this grammar, in order.
    pub fn ill_formed(&self, contract: &Contract, bytes: &[u8], mut found: impl FnMut(&Unit)) {
        let mut at = 0;
        while let Some((offset, behind_lead)) = self.first_error(&bytes[at..]) {
            let previous = behind_lead.then_some(Form::LeadSurrogate);
            let Some(unit) = Units::behind(contract, bytes, at + offset, previous).next() else { return };
            found(&unit);
            at = unit.range().end;
        }
    }

    /// The offset of the first sequence that is not well-formed, and whether a leading surrogate stands before it.
    fn first_error(&self, bytes: &[u8]) -> Option<(usize, bool)> {
        const WORD: usize = size_of::<u64>();
        let (mut at, mut state) = (0, 0);
        let (mut boundary, mut state_there) = (0, 0);
        while let Some(&byte) = bytes.get(at) {
            if state < Self::BOUNDARIES {
                (boundary, state_there) = (at, state);
                if self.ascii
                    && let Some(word) = bytes[at..].first_chunk::<WORD>()
                    && u64::from_ne_bytes(*word) & 0x8080_8080_8080_8080 == 0
                {
                    at += WORD;
                    state = 0;
                    continue;
                }
            }
            state = self.next[usize::from(state)][usize::from(byte)];
            if state == Self::REJECT {
                return Some((boundary, state_there == 1));
            }
            at += 1;
        }
        (state >= Self::BOUNDARIES).then_some((boundary, state_there == 1))
    }
}

#[cfg(test)]
mod tests {
    use super::super::grammar::ALL;
    use super::super::model::{Reading, units};
    use super::*;
    use crate::input::exhaustive::Block;

    #[test]
    fn the_automaton_finds_the_errors_of_the_rows() {
        for grammar in ALL {
            let automaton = Automaton::of(grammar);
            let contract = Contract { grammar, ..Contract::STANDARD };
            let same = |bytes: &[u8]| {
                let mut found = Vec::new();
                automaton.ill_formed(&contract, bytes, |unit| found.push(*unit));
                let ill_formed = |unit: &Unit| matches!(unit.reading, Reading::IllFormed { .. });
                assert_eq!(found, units(&contract, bytes).filter(ill_formed).collect::<Vec<_>>(), "{}: {bytes:02X?}", grammar.name);
            };
            for first in 0..=255 {
                (0..=255).for_each(|second| same(&[first, second]));
            }
            let mut bytes = Vec::new();
            for block in [Block { len: 3, offset: 0 }, Block { len: 4, offset: 0 }, Block { len: 2, offset: 7 }] {
                for index in 0..block.count() {
                    block.write(index, &mut bytes);
                    same(&bytes);
                    same(&[&bytes[..], b"\xED\xA0\x80\xED\xB0\x80 is a pair of three bytes each", &bytes].concat());
                }
            }
        }
    }
}
