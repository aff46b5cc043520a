//! A case: the bytes, their cuts, and other choices derived from the bytes.

pub(crate) mod choices;
pub mod input;

pub use input::Input;

use choices::{Choices, Rng};
use core::cell::OnceCell;

/// One input to be judged.
#[derive(Clone, Debug)]
pub struct Case<'a> {
    /// Exactly what the decoders see.
    pub bytes: &'a [u8],
    pub(crate) choices: Choices,
    cuts: OnceCell<Cuts>,
}

impl<'a> Case<'a> {
    /// The case of these bytes, the same on every machine and run.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, choices: Choices::of(bytes), cuts: OnceCell::new() }
    }

    /// The longest of the usual prefixes, in bytes.
    pub const SHORT_PREFIX: usize = Choices::SHORT_PREFIX;

    /// How many ASCII bytes precede the bytes when the effect of a prefix is examined: 1 to 64, or occasionally a
    /// number near the limit of a counter or the size of a buffer.
    pub fn prefix(&self) -> usize {
        self.choices.prefix()
    }

    /// Whether a judge drops the streams of every decoder after this case, as a user would, and takes new ones; true one
    /// time in 64.
    pub(crate) fn drops_streams(&self) -> bool {
        self.choices.drops_streams()
    }

    /// Whether judging this case may allocate although the buffers have grown: streams are taken or dropped, buffers are
    /// new on purpose, or threads are started.
    pub fn allocates(&self) -> bool {
        let choices = &self.choices;
        let streams = choices.drops_streams() || choices.is_new_stream() || choices.has_others();
        streams || choices.is_moved() || choices.is_at_once() || choices.room() < Choices::FRESH_ROOMS
    }

    /// These bytes with these cuts, and with all other choices of this case.
    pub(crate) fn alike<'b>(&self, bytes: &'b [u8], cuts: Cuts) -> Case<'b> {
        Case::of(bytes, self.choices, cuts)
    }

    /// The case with these choices.
    pub(crate) fn of(bytes: &'a [u8], choices: Choices, cuts: Cuts) -> Self {
        Self { bytes, choices, cuts: OnceCell::from(cuts) }
    }

    /// This case, placed at another alignment.
    pub(crate) fn at_alignment(&self, alignment: usize) -> Self {
        let (_, poisoned) = self.placement();
        Self { choices: self.choices.with_placement(alignment, poisoned), ..self.clone() }
    }

    /// The case of these bytes with these cuts.
    pub fn with_cuts(bytes: &'a [u8], cuts: Cuts) -> Self {
        Self { cuts: OnceCell::from(cuts), ..Self::new(bytes) }
    }

    /// The case of these bytes, placed at this alignment in a block of 64 bytes; if `poisoned`, between
    /// neighbours that change the verdict if they are read, otherwise between ASCII.
    pub fn placed(bytes: &'a [u8], alignment: usize, poisoned: bool) -> Self {
        let case = Self::new(bytes);
        Self { choices: case.choices.with_placement(alignment, poisoned), ..case }
    }

    /// The alignment in a block of 64 bytes at which the effect of another address is examined, and whether the
    /// neighbours there change the verdict if they are read.
    pub fn placement(&self) -> (usize, bool) {
        self.choices.placement()
    }

    /// Where the input is cut into chunks for streaming decoders.
    pub fn cuts(&self) -> &Cuts {
        self.cuts.get_or_init(|| Cuts::derive(self.bytes, &mut self.choices.cuts()))
    }
}

/// Offsets at which an input is cut; two equal offsets make an empty chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cuts {
    at: [usize; Self::MOST],
    count: usize,
    /// The distance in bytes, if the input is cut at regular distances any number of times; otherwise 0.
    step: usize,
}

impl Cuts {
    /// The maximum number of cuts that are stored as offsets.
    pub const MOST: usize = 32;

    /// No cut: one chunk.
    pub const NONE: Self = Self { at: [0; Self::MOST], count: 0, step: 0 };

    /// These cuts, sorted and limited to `len`; at most the first [`Cuts::MOST`].
    pub fn new(cuts: impl IntoIterator<Item = usize>, len: usize) -> Self {
        let mut new = Self::NONE;
        for cut in cuts.into_iter().take(Self::MOST) {
            new.at[new.count] = cut.min(len);
            new.count += 1;
        }
        new.at[..new.count].sort_unstable();
        new
    }

    /// A cut after every `step` bytes, at least 1.
    pub fn every(step: usize, len: usize) -> Self {
        let step = step.max(1);
        let first = (1..=Self::MOST).map(|index| index * step).take_while(|&cut| cut < len);
        Self { step, ..Self::new(first, len) }
    }

    /// The distance in bytes, if the input is cut at regular distances.
    pub fn step(&self) -> Option<usize> {
        (self.step > 0).then_some(self.step)
    }

    /// The offsets in ascending order; only the first [`Cuts::MOST`] of them.
    pub fn offsets(&self) -> &[usize] {
        &self.at[..self.count]
    }

    /// The chunks between the cuts: one more than the number of cuts.
    pub fn chunks<'a>(&self, bytes: &'a [u8]) -> impl Iterator<Item = &'a [u8]> {
        let Self { at, count, step } = *self;
        let (mut start, mut index) = (0, 0);
        core::iter::from_fn(move || {
            let cut = match step {
                0 if index < count => at[index],
                0 => bytes.len(),
                _ => start + step,
            };
            let is_last = if step == 0 { index == count } else { cut >= bytes.len() };
            if index == usize::MAX {
                return None;
            }
            index = if is_last { usize::MAX } else { index + 1 };
            let end = cut.clamp(start, bytes.len());
            let chunk = &bytes[start..end];
            start = end;
            Some(chunk)
        })
    }

    fn derive(bytes: &[u8], rng: &mut Rng) -> Self {
        let len = bytes.len();
        // Cuts inside ASCII show little: look for the next lead or continuation byte from a random place on.
        let from = rng.below(len + 1);
        let near = bytes[from..].iter().take(16).position(|byte| !byte.is_ascii()).map_or(from, |at| from + at);
        match rng.below(4) {
            0 => Self::new([near + rng.below(4)], len),
            1 => Self::new(near.saturating_sub(1)..near + 9, len),
            2 => {
                let cut = near + rng.below(4);
                Self::new([cut, cut, rng.below(len + 1)], len)
            }
            _ => Self::every(rng.choose([1, 2, 3, 16, 31, 32, 63, 64]), len),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_the_whole_in_order() {
        for bytes in [&b""[..], b"a", b"\xE2\x82\xAC", &[0xC3; 300]] {
            let case = Case::new(bytes);
            assert_eq!(case.cuts().chunks(bytes).collect::<Vec<_>>().concat(), bytes);
            assert!((1..=65536).contains(&case.prefix()));
            assert_eq!(case.cuts(), Case::new(bytes).cuts());
        }
        let case = Case::with_cuts(b"abc", Cuts::new([9, 1, 1], 3));
        assert_eq!(case.cuts().chunks(b"abc").collect::<Vec<_>>(), [&b"a"[..], b"", b"bc", b""]);
    }

    #[test]
    fn every_kind_of_cut_is_derived() {
        let mut counts = std::collections::BTreeSet::new();
        for seed in 0..200u8 {
            let bytes = [seed, 0xE2, 0x82, 0xAC, b'a', seed];
            counts.insert(Case::new(&bytes).cuts().offsets().len());
        }
        assert!(counts.contains(&1) && counts.contains(&3) && counts.contains(&10), "{counts:?}");
    }
}
