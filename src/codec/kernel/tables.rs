//! Which continuation bytes a lead refuses, as tables for lookups of bytes. All are computed at compile time from
//! [`REFUSALS`].

/// Pairs of bytes that no well-formed string holds although the second is a continuation byte: leads, and the second bytes
/// they refuse (RFC 3629 §4: the second byte of UTF8-3 and UTF8-4; C0, C1 and F5 to FF lead nothing).
const REFUSALS: [([u8; 2], [u8; 2]); 6] = [
    ([0xC0, 0xC1], [0x80, 0xBF]),
    ([0xE0, 0xE0], [0x80, 0x9F]),
    ([0xED, 0xED], [0xA0, 0xBF]),
    ([0xF0, 0xF0], [0x80, 0x8F]),
    ([0xF4, 0xF4], [0x90, 0xBF]),
    ([0xF5, 0xFF], [0x80, 0xBF]),
];

/// Subtracted with saturation, these leave the highest bit set only in leads that need a continuation byte one, two and
/// three places later: from C0, E0 and F0 on.
pub(super) const BELOW_LEADS: [i8; 3] = [0x40, 0x60, 0x70];

/// For each place in a register, the highest byte that needs no continuation byte after the register. A shorter
/// register uses the end of this table.
pub(super) static FINISHED: [u8; 64] = {
    let mut table = [0xFF; 64];
    [table[61], table[62], table[63]] = [0xEF, 0xDF, 0xBF];
    table
};

/// By the low six bits of a lead: the ranges of [`SECOND`] it refuses.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only AVX-512 uses it"))]
pub(super) static LEAD: [u8; 64] = {
    let mut table = [0; 64];
    let mut lead = 0xC0;
    while lead <= 0xFF {
        let mut at = 0;
        while at < REFUSALS.len() {
            let (leads, seconds) = REFUSALS[at];
            let mut second = 0x80;
            while leads[0] as usize <= lead && lead <= leads[1] as usize && second <= 0xBF {
                if seconds[0] as usize <= second && second <= seconds[1] as usize {
                    table[lead - 0xC0] |= SECOND[second - 0x80];
                }
                second += 1;
            }
            at += 1;
        }
        lead += 1;
    }
    table
};

/// By the low six bits of a continuation byte: one bit for each of the ranges 80..8F, 90..9F, A0..BF.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only AVX-512 uses it"))]
pub(super) static SECOND: [u8; 64] = {
    let mut table = [4; 64];
    let mut second = 0;
    while second < 32 {
        table[second] = if second < 16 { 1 } else { 2 };
        second += 1;
    }
    table
};

/// By the high nibble of a byte, by its low nibble, and by the high nibble of the next byte: a bit set in all three entries is
/// an error, except [`TWO_CONTINUATIONS`], which is right where a sequence of three or four bytes needs it. This is the
/// lookup of J. Keiser and D. Lemire, "Validating UTF-8 in less than one instruction per byte" (2021).
pub(super) static NIBBLES: [[u8; 16]; 3] = {
    // Every rule: a range of bytes, a range of next bytes, and a bit.
    let rules: [([u8; 2], [u8; 2], u8); 11] = [
        // A lead without continuation.
        ([0xC0, 0xFF], [0x00, 0x7F], 1),
        ([0xC0, 0xFF], [0xC0, 0xFF], 1),
        // A continuation without lead.
        ([0x00, 0x7F], [0x80, 0xBF], 2),
        ([0x80, 0xBF], [0x80, 0xBF], TWO_CONTINUATIONS),
        (REFUSALS[0].0, REFUSALS[0].1, 4),
        (REFUSALS[1].0, REFUSALS[1].1, 8),
        (REFUSALS[2].0, REFUSALS[2].1, 16),
        // Leads from F4 on and 90..BF share a bit; F0 and those from F5 on, and 80..8F, another: there are eight bits.
        (REFUSALS[3].0, REFUSALS[3].1, 32),
        (REFUSALS[4].0, REFUSALS[4].1, 64),
        (REFUSALS[5].0, [0x90, 0xBF], 64),
        (REFUSALS[5].0, [0x80, 0x8F], 32),
    ];
    let mut tables = [[0; 16]; 3];
    let mut at = 0;
    while at < rules.len() {
        let (before, byte, bit) = rules[at];
        let mut value = before[0] as usize;
        while value <= before[1] as usize {
            tables[0][value >> 4] |= bit;
            tables[1][value & 0xF] |= bit;
            value += 1;
        }
        let mut value = byte[0] as usize;
        while value <= byte[1] as usize {
            tables[2][value >> 4] |= bit;
            value += 1;
        }
        at += 1;
    }
    tables
};

/// The bit of [`NIBBLES`] for two continuation bytes in a row: the highest.
pub(super) const TWO_CONTINUATIONS: u8 = 0x80;

/// The bits of [`NIBBLES`] for a lead and a continuation byte it refuses.
pub(super) const REFUSED: u8 = 4 | 8 | 16 | 32 | 64;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::scalar::Sequence;
    use crate::utf8::{Kind, is_continuation};

    #[test]
    fn the_tables_say_of_each_pair_what_the_scalar_step_says() {
        for (lead, second) in (0..=255).flat_map(|lead| (0..=255).map(move |second| (lead, second))) {
            let refused = match Sequence::read(&[lead, second, 0x80, 0x80]) {
                Some(Sequence::IllFormed { kind: Kind::Continuation | Kind::TooShort, .. }) => false,
                Some(Sequence::IllFormed { .. }) => true,
                _ => false,
            };
            let refused = refused && is_continuation(second);
            if lead >= 0xC0 && is_continuation(second) {
                let found = LEAD[usize::from(lead & 0x3F)] & SECOND[usize::from(second & 0x3F)];
                assert_eq!(found != 0, refused, "{lead:02X} {second:02X}");
            }
            let [high, low, next] = &NIBBLES;
            let found = high[usize::from(lead >> 4)] & low[usize::from(lead & 0xF)] & next[usize::from(second >> 4)];
            assert_eq!(found & REFUSED != 0, refused, "{lead:02X} {second:02X}");
            assert_eq!(found & 1 != 0, lead >= 0xC0 && !is_continuation(second), "{lead:02X} {second:02X}");
            assert_eq!(found & 2 != 0, lead < 0x80 && is_continuation(second), "{lead:02X} {second:02X}");
            let two = is_continuation(lead) && is_continuation(second);
            assert_eq!(found & TWO_CONTINUATIONS != 0, two, "{lead:02X} {second:02X}");
        }
    }
}
