//! A grammar's rows compiled into a table that finds the same ill-formed segments as [`segments`], but faster.
//!
//! A state is the set of rows that match the bytes since the last boundary so far, so the table follows from the rows.
//! The kind and length of an error come from `model`: once for each state and byte for maximal subparts and single
//! bytes, and at each error for the other segmentations.
//!
//! The inner loop has no integer comparison that a fuzzer would trace: it uses iterators and tables of `bool`.
//!
//! [`segments`]: crate::spec::model::segments

use crate::spec::grammar::{Form, Grammar};
use crate::spec::model::{Reading, Segment, Segments, fault};
use crate::spec::policy::{Contract, Segmentation};
use crate::utf8::Kind;

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

/// The rows that match the bytes since the last boundary so far, an example of these bytes, and whether a leading
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

    /// Skips blocks of ASCII, if every ASCII byte is a sequence of its own.
    #[inline]
    fn skip_ascii<'a>(&self, mut rest: &'a [u8]) -> &'a [u8] {
        const HIGH_BITS: u128 = 0x8080_8080_8080_8080_8080_8080_8080_8080;
        while self.ascii_is_whole
            && let Some((block, after)) = rest.split_first_chunk::<16>()
            && u128::from_ne_bytes(*block) & HIGH_BITS == 0
        {
            rest = after;
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
        // The end of the input inside a sequence; under other segmentations it may be several segments.
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

    /// The ill-formed segment that ends before or with the byte at `here`, which this state refuses.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::classes::Block;
    use crate::spec::grammar::ALL;
    use crate::spec::model::{Reading, segments};

    #[test]
    #[cfg_attr(miri, ignore = "takes Miri too long")]
    fn the_automaton_finds_the_errors_of_the_rows() {
        for grammar in ALL {
            let automaton = Automaton::of(grammar);
            let same = |bytes: &[u8]| {
                Segmentation::ALL.iter().for_each(|&segmentation| {
                    let contract = Contract { grammar, segmentation, ..Contract::STANDARD };
                    let mut found = Vec::new();
                    automaton.ill_formed(&contract, bytes, |segment| found.push(segment));
                    assert_eq!(automaton.first_ill_formed(&contract, bytes), found.first().copied(), "{bytes:02X?}");
                    let ill_formed = |segment: &Segment| matches!(segment.reading, Reading::IllFormed { .. });
                    assert_eq!(
                        found,
                        segments(&contract, bytes).filter(ill_formed).collect::<Vec<_>>(),
                        "{contract}: {bytes:02X?}"
                    );
                })
            };
            for first in 0..=255 {
                (0..=255).for_each(|second| same(&[first, second]));
            }
            // Whole blocks of one byte: only ASCII may be skipped.
            (0..=255).for_each(|byte| same(&[byte; 40]));
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
