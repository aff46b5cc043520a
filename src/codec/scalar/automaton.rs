//! Validation byte by byte without branches: a finite automaton whose step is one shift.
//!
//! A state is a bit offset, a multiple of six. Each byte value has a 64-bit row that holds, at the offset of every state, the
//! offset of the next state:
//!
//! ```text
//! state = NEXT[byte] >> (state & 63)          the low six bits are the new state
//! ```
//!
//! Example, `C3 A9` (é): the row of C3 holds `ONE` (6) at offset 0, so `BOUNDARY` (0) becomes 6. The row of A9 holds
//! `BOUNDARY` at offset 6, so 6 becomes 0: a sequence is complete. Had 61 followed, its row holds `REJECT` at offset 6.
//!
//! The row is loaded independently of the state, so the chain from byte to byte is one shift, whatever the text. Blocks
//! of ASCII are skipped; any other byte costs the same. The kernels are faster: they check a register of sixteen or
//! more bytes in about thirty instructions. This is the shift-based automaton of P. Vognsen (2021).

/// Bits of a state. Six, because x86 shifts use the low six bits of the count and need no mask.
const WIDTH: u64 = 6;

/// Between two sequences.
const BOUNDARY: u64 = 0;
/// One, two or three continuation bytes are missing.
const ONE: u64 = WIDTH;
const TWO: u64 = 2 * WIDTH;
const THREE: u64 = 3 * WIDTH;
/// After a lead that refuses some continuation bytes.
const AFTER_E0: u64 = 4 * WIDTH;
const AFTER_ED: u64 = 5 * WIDTH;
const AFTER_F0: u64 = 6 * WIDTH;
const AFTER_F4: u64 = 7 * WIDTH;
/// Ill-formed: no byte leads out of it.
const REJECT: u64 = 8 * WIDTH;

/// From a state, by a byte of a range, to a state (RFC 3629 §4). All other bytes lead to [`REJECT`].
const STEPS: [(u64, [u8; 2], u64); 16] = [
    (BOUNDARY, [0x00, 0x7F], BOUNDARY),
    (BOUNDARY, [0xC2, 0xDF], ONE),
    (BOUNDARY, [0xE0, 0xE0], AFTER_E0),
    (BOUNDARY, [0xE1, 0xEC], TWO),
    (BOUNDARY, [0xED, 0xED], AFTER_ED),
    (BOUNDARY, [0xEE, 0xEF], TWO),
    (BOUNDARY, [0xF0, 0xF0], AFTER_F0),
    (BOUNDARY, [0xF1, 0xF3], THREE),
    (BOUNDARY, [0xF4, 0xF4], AFTER_F4),
    (AFTER_E0, [0xA0, 0xBF], ONE),
    (AFTER_ED, [0x80, 0x9F], ONE),
    (AFTER_F0, [0x90, 0xBF], TWO),
    (AFTER_F4, [0x80, 0x8F], TWO),
    (THREE, [0x80, 0xBF], TWO),
    (TWO, [0x80, 0xBF], ONE),
    (ONE, [0x80, 0xBF], BOUNDARY),
];

static NEXT: [u64; 256] = {
    let mut rejecting = 0;
    let mut state = BOUNDARY;
    while state <= REJECT {
        rejecting |= REJECT << state;
        state += WIDTH;
    }
    let mut next = [rejecting; 256];
    let mut at = 0;
    while at < STEPS.len() {
        let (from, [first, last], to) = STEPS[at];
        let mut byte = first as usize;
        while byte <= last as usize {
            next[byte] ^= (REJECT ^ to) << from;
            byte += 1;
        }
        at += 1;
    }
    next
};

/// Bytes between two checks of the state.
const BLOCK: usize = 16;

/// Bytes that are checked for ASCII at once.
const ASCII: usize = 4 * BLOCK;

/// Shorter inputs go straight to the automaton.
const VERY_SHORT: usize = 4;

/// Length in bytes of the longest prefix that is well-formed and ends between two sequences. After it comes an error, an
/// incomplete sequence, or nothing.
#[inline(never)]
pub(crate) fn well_formed_prefix(bytes: &[u8]) -> usize {
    let (mut at, mut state) = (0, BOUNDARY);
    if bytes.len() >= VERY_SHORT {
        if bytes.len() < ASCII && is_short_ascii(bytes) {
            return bytes.len();
        }
        while let Some(next) = bytes[at..].first_chunk::<ASCII>() {
            if state == BOUNDARY && next.is_ascii() {
                at += ASCII;
                continue;
            }
            for block in next.as_chunks::<BLOCK>().0 {
                if state == BOUNDARY && block.is_ascii() {
                    at += BLOCK;
                    continue;
                }
                let before = state;
                state = run(state, block);
                if state == REJECT {
                    return boundary(bytes, at + rejected(before, block));
                }
                at += BLOCK;
            }
        }
        while let Some(block) = bytes[at..].first_chunk::<BLOCK>() {
            let before = state;
            if state != BOUNDARY || !block.is_ascii() {
                state = run(state, block);
            }
            if state == REJECT {
                return boundary(bytes, at + rejected(before, block));
            }
            at += BLOCK;
        }
    }
    match run(state, &bytes[at..]) {
        BOUNDARY => bytes.len(),
        REJECT => boundary(bytes, at + rejected(state, &bytes[at..])),
        _ => boundary(bytes, bytes.len()),
    }
}

/// Index of the byte that leads from this state to [`REJECT`].
fn rejected(mut state: u64, bytes: &[u8]) -> usize {
    let rejects = |byte: &u8| {
        state = run(state, &[*byte]);
        state == REJECT
    };
    bytes.iter().position(rejects).unwrap_or(bytes.len())
}

/// Whether at least [`VERY_SHORT`] and fewer than [`ASCII`] bytes are ASCII: checks the first ones and the last ones, which
/// may overlap.
#[inline]
fn is_short_ascii(bytes: &[u8]) -> bool {
    fn ends<const HALF: usize>(bytes: &[u8]) -> bool {
        let ends = bytes.first_chunk::<HALF>().zip(bytes.last_chunk::<HALF>());
        ends.is_some_and(|(first, last)| first.is_ascii() && last.is_ascii())
    }
    match bytes.len() {
        0..8 => ends::<4>(bytes),
        8..16 => ends::<8>(bytes),
        16..32 => ends::<16>(bytes),
        _ => ends::<32>(bytes),
    }
}

#[inline]
fn run(state: u64, bytes: &[u8]) -> u64 {
    let step = |state: u64, &byte: &u8| NEXT[usize::from(byte)] >> (state & 63);
    bytes.iter().fold(state, step) & 63
}

/// The last boundary between sequences at or before `at`. The bytes before `at` are well-formed, except that the
/// last sequence may continue after it.
#[inline(never)]
pub(crate) fn boundary(bytes: &[u8], at: usize) -> usize {
    at - pending(bytes, at)
}

/// How many bytes before `at` belong to a sequence that continues after it. The bytes before that sequence are well-formed.
#[inline]
pub(crate) fn pending(bytes: &[u8], at: usize) -> usize {
    let byte = |back: usize| at.checked_sub(back).and_then(|index| bytes.get(index)).copied().unwrap_or(0);
    if byte(1) >= 0xC0 {
        1
    } else if byte(2) >= 0xE0 {
        2
    } else if byte(3) >= 0xF0 {
        3
    } else {
        0
    }
}
