//! Sixty-four bytes at a time where errors may be: what each byte is, and what becomes of it, as bits of a word.
//!
//! What becomes of a byte is settled by the three before it and the three behind it, so windows stand side by side at
//! fixed places, and nothing waits for the one before but the last bits of it.

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
    /// Bytes of well-formed sequences.
    pub(super) good: u64,
    /// First bytes of maximal subparts of ill-formed ones; what is in neither mask are their other bytes.
    pub(super) replaced: u64,
}

/// What the end of a window settles of the next.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Carry {
    /// Bytes that go on with a well-formed sequence.
    pub(super) good: u64,
    /// Bytes that go on with any unit.
    pub(super) others: u64,
}

impl Masks {
    /// Whether no lead has a continuation byte behind it, here or from before: then every byte that is not ASCII is an
    /// error of its own, and nothing goes on behind this window.
    #[inline(always)]
    pub(super) fn are_alone(self, carry: Carry) -> bool {
        let continuation = self.non_ascii & !self.lead;
        self.lead << 1 & continuation | self.lead >> 63 | carry.others == 0
    }

    /// Decides what becomes of the bytes between a window that left this carry and `next`.
    #[inline(always)]
    pub(super) fn decide(self, next: Self, carry: &mut Carry) -> Window {
        let Self { non_ascii, lead, lead_of_3, lead_of_4, refused } = self;
        let continuation = non_ascii & !lead;
        let behind = next.non_ascii & !next.lead;
        // Where continuation bytes are asked for, and where behind this window.
        let asked = lead << 1 | lead_of_3 << 2 | lead_of_4 << 3 | carry.good;
        let asked_behind = lead >> 63 | lead_of_3 >> 62 | lead_of_4 >> 61;
        if asked ^ continuation | lead & refused | carry.good ^ carry.others | asked_behind & !behind == 0 {
            *carry = Carry { good: asked_behind, others: asked_behind };
            return Window { good: !0, replaced: 0 };
        }
        if self.are_alone(*carry) {
            return Window { good: !non_ascii, replaced: non_ascii };
        }
        // Leads followed by one, two and three bytes of theirs.
        let by_1 = lead & !refused & (opaque(continuation >> 1) | behind << 63);
        let by_2 = by_1 & lead_of_3 & (opaque(continuation >> 2) | behind << 62);
        let by_3 = by_2 & lead_of_4 & (opaque(continuation >> 3) | behind << 61);
        // First bytes, and those with another and with two others of their sequence behind them.
        let of_3 = by_2 & !lead_of_4 | by_3;
        let of_2 = by_1 & !lead_of_3 | of_3;
        let good = !non_ascii | of_2 | of_2 << 1 | of_3 << 2 | by_3 << 3 | carry.good;
        let others = by_1 << 1 | by_2 << 2 | by_3 << 3 | carry.others;
        *carry = Carry { good: of_2 >> 63 | of_3 >> 62 | by_3 >> 61, others: by_1 >> 63 | by_2 >> 62 | by_3 >> 61 };
        Window { good, replaced: !(good | others) }
    }
}

/// The word, of which the compiler knows nothing any more. It would turn shifts that fill up from a neighbour into one
/// instruction that is slower than three, and arithmetic on words that came from vectors into arithmetic on vectors of
/// bits, which takes several times as long.
#[inline(always)]
pub(super) fn opaque(mut word: u64) -> u64 {
    // SAFETY: no instruction.
    unsafe { core::arch::asm!("/* {0} */", inout(reg) word, options(pure, nomem, nostack, preserves_flags)) };
    word
}
