//! Pseudo-random numbers, the same on every machine and run (SplitMix64, Steele, Lea and Flood 2014).

/// A sequence determined by its seed.
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Determined by length, first and last bytes of an input.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let word = |part: &[u8]| part.iter().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
        let ends = word(&bytes[..bytes.len().min(8)]) ^ word(&bytes[bytes.len().saturating_sub(8)..]).rotate_left(29);
        Self(ends ^ (bytes.len() as u64).rotate_left(47))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    pub(crate) fn roll(&mut self) -> u32 {
        (self.next() >> 32) as u32
    }

    /// A number below `bound`; 0 where that is 0.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        ((u64::from(self.roll()) * bound as u64) >> 32) as usize
    }

    /// One of these.
    pub(crate) fn choose<T: Copy, const N: usize>(&mut self, of: [T; N]) -> T {
        of[self.below(N)]
    }

    /// True one time in `count`.
    pub(crate) fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }

    /// Fills with random bytes.
    #[cfg(feature = "arbitrary")]
    pub(crate) fn fill(&mut self, bytes: &mut [u8]) {
        bytes.chunks_mut(8).for_each(|chunk| chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]));
    }
}
