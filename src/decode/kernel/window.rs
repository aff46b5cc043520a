//! Sixty-four bytes at a time where errors may be: what each byte is, as bits of a word.
//!
//! A window begins between two units, so nothing is carried into it; it ends where no unit can go on, at the first such
//! place of its last four bytes, so nothing is carried out.

/// What 64 bytes are, by bits: bit `i` is byte `i`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Masks {
    /// 80 and above.
    pub(super) non_ascii: u64,
    /// C0 and above.
    pub(super) lead: u64,
    /// E0 and above.
    pub(super) lead_of_3: u64,
    /// F0 and above.
    pub(super) lead_of_4: u64,
    /// Leads that refuse the byte behind them, where that is a continuation byte; other bits mean nothing where there is
    /// no lead.
    pub(super) refused: u64,
}

/// What becomes of the bytes of a window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    /// How many bytes are decided: 60 to 63; of the last window all, at most 63.
    pub(super) len: usize,
    /// Bytes of well-formed sequences.
    pub(super) good: u64,
    /// First bytes of maximal subparts of ill-formed ones; what is in neither mask are their other bytes.
    pub(super) replaced: u64,
    /// Last bytes of well-formed sequences.
    pub(super) last: u64,
    /// Third bytes of well-formed sequences of four.
    pub(super) third_of_4: u64,
}

impl Masks {
    /// Decides a window behind which there are more bytes.
    #[inline(always)]
    pub(super) fn decide(self) -> Window {
        const EARLIEST: u32 = 60;
        let continuation = self.non_ascii & !self.lead;
        // A sequence that begins before the place has at most three bytes from there on.
        let go_on = ((continuation >> EARLIEST) & 7).trailing_ones();
        self.split((EARLIEST + go_on) as usize)
    }

    /// Decides the last window, which has so many bytes, up to 63; the others are zero.
    #[inline(always)]
    pub(super) fn decide_last(self, len: usize) -> Window {
        self.split(len)
    }

    #[inline(always)]
    fn split(self, len: usize) -> Window {
        let Self { non_ascii, lead, lead_of_3, lead_of_4, refused } = self;
        let continuation = non_ascii & !lead;
        // Leads followed by one, two and three bytes of theirs.
        let by_1 = lead & !refused & continuation >> 1;
        let by_2 = by_1 & lead_of_3 & continuation >> 2;
        let by_3 = by_2 & lead_of_4 & continuation >> 3;
        let of_2 = by_1 & !lead_of_3;
        let of_3 = by_2 & !lead_of_4;
        let well_formed = of_2 | of_3 | by_3;
        let good = !non_ascii | well_formed | well_formed << 1 | (of_3 | by_3) << 2 | by_3 << 3;
        let others = by_1 << 1 | by_2 << 2 | by_3 << 3;
        let here = (1 << len) - 1;
        Window {
            len,
            good: good & here,
            replaced: !(good | others) & here,
            last: (!non_ascii | of_2 << 1 | of_3 << 2 | by_3 << 3) & here,
            third_of_4: by_3 << 2 & here,
        }
    }
}

impl Window {
    /// Whether every byte belongs to a well-formed sequence.
    #[inline(always)]
    pub(super) fn is_good(&self) -> bool {
        self.bad() == 0
    }

    /// Bytes that do not.
    #[inline(always)]
    pub(super) fn bad(&self) -> u64 {
        !self.good & ((1 << self.len) - 1)
    }
}
