//! A case: the bytes, their cuts, and other choices derived from the bytes, where not every possibility can be tried.

pub mod input;

pub use input::Input;

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

    /// Whether something is drawn that fewer than one case in a thousand has: a long prefix, another thread.
    pub(crate) fn is_rare(&self) -> bool {
        let choices = &self.choices;
        choices.prefix() > Self::SHORT_PREFIX || choices.is_moved() || choices.is_at_once()
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

/// The SplitMix64 generator (Steele, Lea and Flood 2014): the same numbers on every machine and run.
#[derive(Clone, Debug)]
pub struct Rng(u64);

impl Rng {
    /// The numbers of this seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Seeded by the length, the first and the last eight bytes of an input.
    pub fn of(bytes: &[u8]) -> Self {
        let word = |part: &[u8]| part.iter().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
        let ends = word(&bytes[..bytes.len().min(8)]) ^ word(&bytes[bytes.len().saturating_sub(8)..]).rotate_left(29);
        Self(ends ^ (bytes.len() as u64).rotate_left(47))
    }

    /// The next number.
    #[allow(clippy::should_implement_trait, reason = "there is always a next number")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// The upper half of the next number.
    pub fn next_u32(&mut self) -> u32 {
        (self.next() >> 32) as u32
    }

    /// A number below `bound`; 0 if that is 0.
    pub fn below(&mut self, bound: usize) -> usize {
        scaled(self.next_u32(), bound)
    }

    /// One of these.
    pub fn choose<T: Copy, const N: usize>(&mut self, of: [T; N]) -> T {
        of[self.below(N)]
    }

    /// True one time in `count`.
    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// Fills with random bytes.
    #[cfg(feature = "arbitrary")]
    pub fn fill(&mut self, bytes: &mut [u8]) {
        bytes.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]));
    }
}

/// A 32-bit number, scaled to below `bound`.
fn scaled(number: u32, bound: usize) -> usize {
    ((u64::from(number) * bound as u64) >> 32) as usize
}

/// The choices for a case. Each uses bits of its own, so that they are independent, except that an abandoned stream
/// implies a new one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Choices {
    prefix: usize,
    cuts: u32,
    /// How questions are asked.
    manner: u64,
    /// Which question is asked, if only one is.
    sample: u64,
    /// What is asked rarely.
    rare: u64,
}

/// Some bits of a word.
#[derive(Clone, Copy)]
struct Field {
    shift: u32,
    bits: u32,
}

impl Field {
    const fn first(bits: u32) -> Self {
        Self { shift: 0, bits }
    }

    /// A field of the bits that follow this one.
    const fn next(self, bits: u32) -> Self {
        let next = Self { shift: self.shift + self.bits, bits };
        assert!(next.shift + next.bits <= u64::BITS);
        next
    }

    fn of(self, word: u64) -> u32 {
        (word >> self.shift & ((1 << self.bits) - 1)) as u32
    }

    fn set(self, word: u64, value: u64) -> u64 {
        let mask = (1u64 << self.bits) - 1;
        word & !(mask << self.shift) | (value & mask) << self.shift
    }
}

// The fields of `manner`.
const ALIGNMENT: Field = Field::first(6);
const NEIGHBOURS: Field = ALIGNMENT.next(1);
const OUTPUT: Field = NEIGHBOURS.next(2);
const STREAM_OUTPUT: Field = OUTPUT.next(2);
const DRAINED: Field = STREAM_OUTPUT.next(1);
const INTERLEAVED: Field = DRAINED.next(2);
const BOUNDS_OUTPUT: Field = INTERLEAVED.next(1);
const BOUNDS_SIDES: Field = BOUNDS_OUTPUT.next(2);
const WATCHED_CUT: Field = BOUNDS_SIDES.next(8);
const DROPPED: Field = WATCHED_CUT.next(6);
const START: Field = DROPPED.next(3);
const OTHERS: Field = START.next(3);
const ONE_SHOT: Field = OTHERS.next(3);
const ROOM: Field = ONE_SHOT.next(3);
const PAGE: Field = ROOM.next(2);

// The fields of `rare`. Starting a thread takes as long as hundreds of answers, and milliseconds on a busy machine.
const MOVED: Field = Field::first(10);
const AT_ONCE: Field = MOVED.next(12);

// The fields of `sample`.
const DECODER: Field = Field::first(32);
const QUESTION: Field = DECODER.next(16);
const ERROR: Field = QUESTION.next(16);

impl Choices {
    /// The longest of the usual prefixes, in bytes.
    const SHORT_PREFIX: usize = 64;
    /// The values of [`Choices::room`] below this stand for an output buffer that is allocated anew.
    pub(crate) const FRESH_ROOMS: u32 = 3;
    /// Lengths of the occasional long prefixes, in bytes: next to typical sizes of counters and buffers.
    const LONG_PREFIXES: [usize; 6] = [255, 256, 4095, 4096, 65535, 65536];

    /// The choices for these bytes, the same on every machine and run.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let mut rng = Rng::of(bytes);
        let (short, cuts) = (1 + rng.below(Self::SHORT_PREFIX), rng.next_u32());
        let prefix = if rng.one_in(4096) { rng.choose(Self::LONG_PREFIXES) } else { short };
        Self { prefix, cuts, manner: rng.next(), sample: rng.next(), rare: rng.next() }
    }

    fn with_placement(self, alignment: usize, poisoned: bool) -> Self {
        let manner = ALIGNMENT.set(self.manner, alignment as u64);
        // Not across the edge of a page.
        let manner = PAGE.set(manner, 1);
        Self { manner: NEIGHBOURS.set(manner, poisoned.into()), ..self }
    }

    fn prefix(&self) -> usize {
        self.prefix
    }

    /// The generator for the cuts.
    fn cuts(&self) -> Rng {
        Rng::new(self.cuts.into())
    }

    fn placement(&self) -> (usize, bool) {
        (ALIGNMENT.of(self.manner) as usize, NEIGHBOURS.of(self.manner) == 1)
    }

    /// The existing content of the output of `decode_lossy`, as one of four.
    pub(crate) fn existing_output(&self) -> u32 {
        OUTPUT.of(self.manner)
    }

    /// The existing content of the output of a stream, as one of four.
    pub(crate) fn existing_stream_output(&self) -> u32 {
        STREAM_OUTPUT.of(self.manner)
    }

    /// Whether the output of a stream is taken away after each chunk.
    pub(crate) fn is_drained(&self) -> bool {
        DRAINED.of(self.manner) == 0
    }

    /// Whether another stream of the decoder is fed in between; true one time in four.
    pub(crate) fn is_interleaved(&self) -> bool {
        INTERLEAVED.of(self.manner) == 0
    }

    /// Whether the decoder is asked for the output in one piece next to a guard page; otherwise as a stream.
    #[cfg_attr(not(feature = "guard-pages"), allow(dead_code, reason = "only guard pages need it"))]
    pub(crate) fn is_whole_at_bounds(&self) -> bool {
        BOUNDS_OUTPUT.of(self.manner) == 0
    }

    /// Whether the bytes are also placed at the start of accessible memory; true one time in four.
    #[cfg_attr(not(feature = "guard-pages"), allow(dead_code, reason = "only guard pages need it"))]
    pub(crate) fn has_both_bounds(&self) -> bool {
        BOUNDS_SIDES.of(self.manner) == 0
    }

    /// The index, below `count`, of the cut at which the output of a stream is examined.
    pub(crate) fn watched_cut(&self, count: usize) -> usize {
        WATCHED_CUT.of(self.manner) as usize % count.max(1)
    }

    /// Whether the stream is a new one, which was never used; true three times in eight.
    pub(crate) fn is_new_stream(&self) -> bool {
        START.of(self.manner) < 3
    }

    /// Whether, before the stream is taken, another one is dropped inside a sequence; true one time in eight.
    pub(crate) fn is_after_abandoned_stream(&self) -> bool {
        START.of(self.manner) == 0
    }

    /// Whether three more streams are alive; true one time in eight.
    pub(crate) fn has_others(&self) -> bool {
        OTHERS.of(self.manner) == 0
    }

    /// Whether other bytes are decoded in one piece between two chunks of a stream; true one time in eight.
    pub(crate) fn has_one_shot_between(&self) -> bool {
        ONE_SHOT.of(self.manner) == 0
    }

    /// Whether a stream gets its second chunk on another thread; true one time in 1024.
    pub(crate) fn is_moved(&self) -> bool {
        MOVED.of(self.rare) == 0
    }

    /// Whether the decoder is also asked on two threads at the same time; true one time in 4096.
    pub(crate) fn is_at_once(&self) -> bool {
        AT_ONCE.of(self.rare) == 0
    }

    /// How much room there is in the output at another address, as one of eight.
    pub(crate) fn room(&self) -> u32 {
        ROOM.of(self.manner)
    }

    /// Whether the bytes at another address cross the edge of a memory page; true one time in four.
    pub(crate) fn is_across_pages(&self) -> bool {
        PAGE.of(self.manner) == 0
    }

    /// Whether the streams are dropped afterwards; true one time in 64.
    pub(crate) fn drops_streams(&self) -> bool {
        DROPPED.of(self.manner) == 0
    }

    /// The index, below `count`, of the decoder that is asked a sampled question.
    pub(crate) fn sampled_decoder(&self, count: usize) -> usize {
        scaled(DECODER.of(self.sample), count)
    }

    /// The index, below `count`, of a sampled question.
    pub(crate) fn sampled_question(&self, count: usize) -> usize {
        QUESTION.of(self.sample) as usize % count.max(1)
    }

    /// The index, below `count`, of the error that a sampled question is about.
    pub(crate) fn sampled_error(&self, count: usize) -> usize {
        ERROR.of(self.sample) as usize % count.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

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

    /// A name, a value below some bound, and the bound.
    type Reduced = (&'static str, fn(&Choices) -> usize, usize);

    /// Most choices, each reduced to one of four or of two.
    const CHOICES: [Reduced; 19] = [
        ("prefix", |choices| choices.prefix() % 4, 4),
        ("kind of cuts", |choices| choices.cuts().below(4), 4),
        ("alignment", |choices| choices.placement().0 / 16, 4),
        ("low bits of the alignment", |choices| choices.placement().0 % 4, 4),
        ("neighbours", |choices| choices.placement().1.into(), 2),
        ("existing output", |choices| choices.existing_output() as usize, 4),
        ("existing output of a stream", |choices| choices.existing_stream_output() as usize, 4),
        ("drained", |choices| choices.is_drained().into(), 2),
        ("interleaved", |choices| choices.is_interleaved().into(), 2),
        ("whole at bounds", |choices| choices.is_whole_at_bounds().into(), 2),
        ("both bounds", |choices| choices.has_both_bounds().into(), 2),
        ("watched cut", |choices| choices.watched_cut(4), 4),
        ("new stream", |choices| choices.is_new_stream().into(), 2),
        ("other streams", |choices| choices.has_others().into(), 2),
        ("one-shot between", |choices| choices.has_one_shot_between().into(), 2),
        ("room", |choices| choices.room() as usize % 4, 4),
        ("across pages", |choices| choices.is_across_pages().into(), 2),
        ("decoder", |choices| choices.sampled_decoder(4), 4),
        ("question and error", |choices| 2 * choices.sampled_question(2) + choices.sampled_error(2), 4),
    ];

    /// Every pair of choices occurs in every combination.
    #[test]
    fn choices_are_independent_of_each_other() {
        let drawn: Vec<Choices> = (0..4000u32).map(|number| Choices::of(&number.to_be_bytes())).collect();
        let mut dependent = Vec::new();
        for (index, (first, of_first, first_count)) in CHOICES.iter().enumerate() {
            for (second, of_second, second_count) in &CHOICES[..index] {
                let met: BTreeSet<_> = drawn.iter().map(|choices| (of_first(choices), of_second(choices))).collect();
                if met.len() < first_count * second_count {
                    dependent.push(format!("{first}, {second}: {} of {}", met.len(), first_count * second_count));
                }
            }
        }
        assert!(dependent.is_empty(), "{dependent:#?}");
    }

    #[test]
    fn a_placement_can_be_set() {
        for (alignment, poisoned) in [(0, true), (63, false), (17, true)] {
            let drawn = Choices::of(b"abc");
            let placed = drawn.with_placement(alignment, poisoned);
            assert_eq!(placed.placement(), (alignment, poisoned));
            assert_eq!((placed.existing_output(), placed.is_drained()), (drawn.existing_output(), drawn.is_drained()));
        }
    }
}
