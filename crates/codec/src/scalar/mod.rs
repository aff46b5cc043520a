//! The portable decoder, without unsafe code.
//!
//! Validation, errors and counting. The kernels call these functions for very short input, and to find the place of an error.
//! Replacement in longer input, and conversions from UTF-8 to code units and back, are in `kernel/portable.rs`.
//!
//! # Validation
//!
//! Short text is validated byte by byte, without branches, by a finite automaton whose step is one shift. A state is a bit offset,
//! a multiple of six. Each byte value has a 64-bit row that holds, at the offset of every state, the offset of the next state:
//!
//! ```text
//! state = NEXT[byte] >> (state & 63)          the low six bits are the new state
//! ```
//!
//! Example, `C3 A9` (é): the row of C3 holds `ONE` (6) at offset 0, so `BOUNDARY` (0) becomes 6. The row of A9 holds
//! `BOUNDARY` at offset 6, so 6 becomes 0: a sequence is complete. If 61 follows instead, its row holds `REJECT` at
//! offset 6.
//!
//! The row is loaded independently of the state, so the chain from byte to byte is one shift, whatever the text. The automaton is
//! the shift-based one of P. Vognsen (2021).
//!
//! Longer text is validated many bytes at a time. Whether a byte may stand in its place depends on itself and the three bytes
//! before it, so all bytes of a block can be checked at once. [`wrong`] decides with operations on bytes that every SIMD instruction
//! set has, and the compiler turns a loop over a block into such instructions. Text without long sequences needs fewer operations, so
//! the highest byte of a block and of the three before it chooses one of three loops; ASCII is skipped. In `61 E2 82 AC ED A0 80`,
//! which has no byte from F0 on:
//!
//! ```text
//! byte            61 E2 82 AC ED A0 80
//! one before       .  . E2  .  . ED  .       those from C0 on: a continuation byte is needed
//! two before       .  .  . E2  .  . ED       those from E0 on
//! needed           .  .  1  1  .  1  1
//! continuation     .  .  1  1  .  1  1       equal: right
//! refused          .  .  .  .  .  1  .       ED refuses A0: wrong
//! ```
//!
//! On x86-64 this costs about fifty instructions for sixteen bytes, thirty if no sequence is longer than three bytes, and twelve if
//! none is longer than two; the search for the highest byte costs eight more. If a block has an error, the block is checked a second
//! time, and the bytes before the first wrong one are counted without a branch. On targets without registers of sixteen bytes the
//! automaton checks all text. The kernels do the same, some with wider registers, and look up what a lead refuses.
//!
//! # Code units
//!
//! UTF-16 and UTF-32 are validated, converted into each other, and read from and written as bytes, and single-byte encodings are
//! converted to UTF-16, by plain loops over blocks of 32 units. A kernel compiles the functions marked `#[inline(always)]` for its
//! instruction set, and the compiler turns the loops over a block into register operations; the loops over single units are
//! for surrogates and the last block. `kernel/to_utf8.rs` and `kernel/avx512` have functions of their own for some of these.

use crate::utf8::{Kind, REPLACEMENT, is_continuation};
use core::fmt;

/// The first segment of a non-empty byte string.
#[derive(Clone, Copy)]
pub(super) enum Sequence {
    /// A well-formed sequence of `len` bytes.
    WellFormed { len: usize, scalar: char },
    /// A maximal subpart of `len` bytes. `Kind::Incomplete` if more bytes could complete it.
    IllFormed { len: usize, kind: Kind },
}

impl Sequence {
    /// Reads the first segment of `rest`; `None` if it is empty.
    #[inline]
    pub(super) fn read(rest: &[u8]) -> Option<Self> {
        let tail = |byte: u8| u32::from(byte & 0x3F);
        let (len, bits) = match *rest {
            [] => return None,
            [one @ ..0x80, ..] => (1, u32::from(one)),
            [one @ 0xC2..=0xDF, two, ..] if is_continuation(two) => (2, u32::from(one & 0x1F) << 6 | tail(two)),
            [one @ 0xE0..=0xEF, two, three, ..] if is_second(one, two) && is_continuation(three) => {
                (3, u32::from(one & 0xF) << 12 | tail(two) << 6 | tail(three))
            }
            [one @ 0xF0..=0xF4, two, three, four, ..]
                if is_second(one, two) && is_continuation(three) && is_continuation(four) =>
            {
                (4, u32::from(one & 7) << 18 | tail(two) << 12 | tail(three) << 6 | tail(four))
            }
            _ => return Some(Self::ill_formed(rest)),
        };
        // `is_second` excludes surrogates and everything above U+10FFFF, so this is always `Some`.
        char::from_u32(bits).map(|scalar| Self::WellFormed { len, scalar })
    }

    /// The maximal subpart at the start of `rest`, which does not start with a well-formed sequence.
    fn ill_formed(rest: &[u8]) -> Self {
        let (len, kind) = match *rest {
            [lead, ..] if !matches!(lead, 0xC2..=0xF4) => (1, never_leads(lead)),
            [_] => (1, Kind::Incomplete),
            [lead, second, ..] if !is_second(lead, second) => (1, refused_second(lead, second)),
            [_, _] => (2, Kind::Incomplete),
            [0xF0..=0xF4, _, third] if is_continuation(third) => (3, Kind::Incomplete),
            [0xF0..=0xF4, _, third, ..] if is_continuation(third) => (3, Kind::TooShort),
            _ => (2, Kind::TooShort),
        };
        Self::IllFormed { len, kind }
    }
}

/// Whether `second` may follow `lead`, one of C2 to F4 (RFC 3629 §4).
#[inline]
fn is_second(lead: u8, second: u8) -> bool {
    match lead {
        0xE0 => matches!(second, 0xA0..=0xBF),
        0xED => matches!(second, 0x80..=0x9F),
        0xF0 => matches!(second, 0x90..=0xBF),
        0xF4 => matches!(second, 0x80..=0x8F),
        _ => is_continuation(second),
    }
}

fn never_leads(byte: u8) -> Kind {
    match byte {
        0x80..=0xBF => Kind::Continuation,
        0xC0 | 0xC1 => Kind::Overlong(2),
        0xF5..=0xF7 => Kind::TooLarge,
        _ => Kind::InvalidByte,
    }
}

fn refused_second(lead: u8, second: u8) -> Kind {
    match lead {
        _ if !is_continuation(second) => Kind::TooShort,
        0xE0 => Kind::Overlong(3),
        0xED => Kind::Surrogate,
        0xF0 => Kind::Overlong(4),
        _ => Kind::TooLarge,
    }
}

/// An error in ill-formed UTF-8: what `core::str::Utf8Error` reports, and the rule that is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Utf8Error {
    pub(super) valid_up_to: usize,
    pub(super) len: usize,
    pub(super) kind: Kind,
}

impl Utf8Error {
    /// Offset of the error in bytes. The bytes before the first error are well-formed.
    pub fn valid_up_to(&self) -> usize {
        self.valid_up_to
    }

    /// Length in bytes of the maximal subpart, 1 to 3; `None` if the input ends inside a sequence.
    pub fn error_len(&self) -> Option<usize> {
        (self.kind != Kind::Incomplete).then_some(self.len)
    }

    /// The bytes of the error, incomplete or not.
    pub fn range(&self) -> core::ops::Range<usize> {
        self.valid_up_to..self.valid_up_to.saturating_add(self.len)
    }

    /// The rule that is broken.
    pub fn kind(&self) -> Kind {
        self.kind
    }
}

impl fmt::Display for Utf8Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ill-formed UTF-8 at byte {}: {}", self.valid_up_to, self.kind)
    }
}

impl core::error::Error for Utf8Error {}

/// The first error of `bytes`, whose first `good` bytes are well-formed and end between two sequences.
pub(super) fn first_error(bytes: &[u8], good: usize) -> Result<(), Utf8Error> {
    Errors { bytes, at: good }.next().map_or(Ok(()), Err)
}

/// Every error of `bytes`, in order: the maximal subparts between the well-formed runs.
///
/// ```
/// let errors: Vec<_> = utfuzz_codec::errors(b"a\xFFb\xE2\x82").map(|error| error.range()).collect();
/// assert_eq!(errors, [1..2, 3..5]);
/// ```
pub fn errors(bytes: &[u8]) -> Errors<'_> {
    Errors { bytes, at: 0 }
}

/// Iterator over the errors of a byte string; see [`errors`].
#[derive(Clone, Debug)]
pub struct Errors<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Iterator for Errors<'_> {
    type Item = Utf8Error;

    fn next(&mut self) -> Option<Utf8Error> {
        let valid_up_to = self.at + well_formed_prefix(&self.bytes[self.at..]);
        match Sequence::read(&self.bytes[valid_up_to..])? {
            Sequence::IllFormed { len, kind } => {
                self.at = valid_up_to + len;
                Some(Utf8Error { valid_up_to, len, kind })
            }
            Sequence::WellFormed { .. } => None,
        }
    }
}

/// The characters of `bytes`; an error for each maximal subpart.
///
/// ```
/// let text: String = utfuzz_codec::chars(b"a\xFF\xC3\xA9").map(|c| c.unwrap_or('?')).collect();
/// assert_eq!(text, "a?é");
/// ```
pub fn chars(bytes: &[u8]) -> Chars<'_> {
    Chars { bytes, at: 0 }
}

/// Iterator over characters and errors; see [`chars`].
#[derive(Clone, Debug)]
pub struct Chars<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl Iterator for Chars<'_> {
    type Item = Result<char, Utf8Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.at;
        match Sequence::read(&self.bytes[start..])? {
            Sequence::WellFormed { len, scalar } => {
                self.at += len;
                Some(Ok(scalar))
            }
            Sequence::IllFormed { len, kind } => {
                self.at += len;
                Some(Err(Utf8Error { valid_up_to: start, len, kind }))
            }
        }
    }
}

/// Appends `bytes` with U+FFFD for every maximal subpart, error by error.
pub(super) fn lossy_by_errors(bytes: &[u8], out: &mut Vec<u8>) {
    let mut copied = 0;
    for error in errors(bytes) {
        out.extend_from_slice(&bytes[copied..error.range().start]);
        out.extend_from_slice(REPLACEMENT);
        copied = error.range().end;
    }
    out.extend_from_slice(&bytes[copied..]);
}

/// Bytes in a cache line. Loads and stores across two lines are slower.
pub(super) const LINE: usize = 64;

/// Splits long input at its first whole cache line. Of short input, the first part is empty.
#[inline(always)]
pub(super) fn before_and_from_line(bytes: &[u8]) -> (&[u8], &[u8]) {
    /// Shorter input gains less from loads within a line than the bytes before the line cost.
    const LONG: usize = 1024;
    let before = if bytes.len() < LONG { 0 } else { bytes.as_ptr().align_offset(LINE) };
    bytes.split_at(before.min(bytes.len()))
}

/// The sum of `number`, which returns `MOST` at most, over all bytes.
#[inline(always)]
fn sum<const MOST: u8>(bytes: &[u8], number: impl Fn(u8) -> u8) -> usize {
    const BLOCK: usize = 128;
    // How many blocks can be added up in bytes.
    let blocks_at_once = usize::from(u8::MAX / MOST);
    let (before, bytes) = before_and_from_line(bytes);
    let (blocks, rest) = bytes.as_chunks::<BLOCK>();
    // Both are shorter than a block, so a byte has room for their sum.
    const { assert!((BLOCK - 1) * MOST as usize <= u8::MAX as usize) };
    let of_few = |bytes: &[u8]| usize::from(bytes.iter().map(|&byte| number(byte)).sum::<u8>());
    let mut total = of_few(before) + of_few(rest);
    for blocks in blocks.chunks(blocks_at_once) {
        // The compiler keeps these in registers.
        let mut sums = [0; BLOCK];
        for block in blocks {
            for place in 0..BLOCK {
                sums[place] += number(block[place]);
            }
        }
        total += sums.iter().map(|&sum| usize::from(sum)).sum::<usize>();
    }
    total
}

/// Characters of well-formed `bytes`: one for each byte that is not a continuation byte.
#[inline(always)]
pub(super) fn chars_by_bytes(bytes: &[u8]) -> usize {
    sum::<1>(bytes, |byte| u8::from(!is_continuation(byte)))
}

/// UTF-16 code units of well-formed `bytes`: one for each character, and one more for each character of four bytes.
#[inline(always)]
pub(super) fn utf16_len_by_bytes(bytes: &[u8]) -> usize {
    sum::<2>(bytes, |byte| u8::from(!is_continuation(byte)) + u8::from(byte >= 0xF0))
}

/// Bits of a state, and the distance between two states. Six, because 64-bit shifts of x86 use only the low six bits of the count,
/// so that no mask is needed.
const WIDTH: u64 = 6;

/// Between two sequences.
const BOUNDARY: u64 = 0;
/// One, two or three continuation bytes are missing.
const ONE: u64 = 6;
const TWO: u64 = 12;
const THREE: u64 = 18;
/// After a lead that refuses some continuation bytes.
const AFTER_E0: u64 = 24;
const AFTER_ED: u64 = 30;
const AFTER_F0: u64 = 36;
const AFTER_F4: u64 = 42;
/// Ill-formed: no byte leads out of it.
const REJECT: u64 = 48;

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

static NEXT: [u64; 256] = next();

/// The rows of all bytes.
pub(super) const fn next() -> [u64; 256] {
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
}

/// Bytes in a run of the automaton; the state is checked after it.
const BLOCK: usize = 16;

/// Bytes in a block of long text: those that are checked at once, for ASCII or for errors.
const ASCII: usize = 64;

/// Whether all of these bytes are ASCII.
#[inline(always)]
pub(super) fn is_ascii(bytes: &[u8; ASCII]) -> bool {
    any_bits(bytes) & NON_ASCII == 0
}

/// The highest bit of each byte of a word.
const NON_ASCII: u64 = 0x8080_8080_8080_8080;

/// The words of `bytes`, whose length is a multiple of eight, combined by OR.
#[inline(always)]
fn any_bits(bytes: &[u8]) -> u64 {
    let words = bytes.as_chunks().0.iter().map(|&word| u64::from_ne_bytes(word));
    words.fold(0, |any, word| any | word)
}

/// Inputs with fewer bytes go to the automaton at once.
const VERY_SHORT: usize = 8;

/// Inputs with fewer bytes go to the automaton if they are not ASCII. Others fill a register and have [`BEFORE`] bytes before it.
const SHORT: usize = 26;

/// Length in bytes of the longest prefix that is well-formed and ends between two sequences. After it comes an error, an
/// incomplete sequence, or nothing.
#[inline(never)]
pub(crate) fn well_formed_prefix(bytes: &[u8]) -> usize {
    if bytes.len() < ASCII {
        #[expect(clippy::match_same_arms, reason = "the compiler unrolls the loop of the first")]
        let is_well_formed = match bytes.len() {
            0..4 => run(BOUNDARY, bytes) == BOUNDARY,
            4..VERY_SHORT => run(BOUNDARY, bytes) == BOUNDARY,
            _ if is_short_ascii(bytes) => return bytes.len(),
            VERY_SHORT..SHORT => run(BOUNDARY, bytes) == BOUNDARY,
            _ => false,
        };
        return if is_well_formed { bytes.len() } else { well_formed_from(bytes, 0) };
    }
    well_formed_by_blocks(bytes)
}

/// [`well_formed_prefix`] for at least [`ASCII`] bytes. Not inlined: as part of that function, its loop over ASCII took up to 1.8
/// times as long on Zen 5.
#[inline(never)]
fn well_formed_by_blocks(bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some(block) = bytes[at..].first_chunk() {
        if !is_ascii(block) {
            return well_formed_from(bytes, at);
        }
        at += ASCII;
    }
    // The rest, by the last block, which may overlap the one before it.
    if bytes.last_chunk().is_some_and(is_ascii) { bytes.len() } else { well_formed_from(bytes, at) }
}

/// As [`well_formed_prefix`], where the bytes before `at` are ASCII; there are none, or at least [`BEFORE`].
#[inline(never)]
fn well_formed_from(bytes: &[u8], at: usize) -> usize {
    if HAS_REGISTERS && bytes.len() >= SHORT {
        well_formed_by_registers(bytes, at)
    } else {
        well_formed_by_bytes(bytes, at)
    }
}

/// Whether the target features of this build include registers of sixteen bytes, which the compiler then uses for loops over bytes.
const HAS_REGISTERS: bool =
    cfg!(any(target_feature = "sse2", target_feature = "neon", target_feature = "simd128", target_feature = "vsx"));

/// Bytes in such a register.
const REGISTER: usize = 16;

/// How many bytes before a byte decide, with the byte itself, whether it is right.
const BEFORE: usize = 3;

/// [`well_formed_from`] for at least [`SHORT`] bytes, by registers and blocks.
#[inline(always)]
fn well_formed_by_registers(bytes: &[u8], mut at: usize) -> usize {
    if at == 0 {
        if run(BOUNDARY, &bytes[..BEFORE]) == REJECT {
            return boundary(bytes, rejected(BOUNDARY, bytes));
        }
        at = BEFORE;
    }
    let last = bytes.len() - REGISTER;
    loop {
        // One register first: an error may be close. The last register ends with the input, and may overlap the one before it.
        let from = at.min(last);
        if !is_right::<4, REGISTER>(bytes, from) {
            return boundary(bytes, from + right_len::<REGISTER>(bytes, from));
        }
        if from == last {
            return boundary(bytes, bytes.len());
        }
        at += REGISTER;
        while bytes.len() - at >= ASCII {
            let highest = highest(bytes, at);
            let is_good = match highest {
                ..0x80 => true,
                0x80..0xE0 => is_right::<2, ASCII>(bytes, at),
                0xE0..0xF0 => is_right::<3, ASCII>(bytes, at),
                0xF0.. => is_right::<4, ASCII>(bytes, at),
            };
            if !is_good {
                return boundary(bytes, at + right_len::<ASCII>(bytes, at));
            }
            at += ASCII;
            while highest < 0x80 && bytes[at..].first_chunk().is_some_and(is_ascii) {
                at += ASCII;
            }
        }
    }
}

/// Whether none of the `COUNT` bytes at `at` is [`wrong`]. The bytes before `at` must be right. None of these bytes, nor of the
/// [`BEFORE`] bytes before them, may lead a sequence of more than `LONGEST` bytes.
#[inline(always)]
fn is_right<const LONGEST: usize, const COUNT: usize>(bytes: &[u8], at: usize) -> bool {
    let window = &bytes[at - BEFORE..][..BEFORE + COUNT];
    (0..COUNT).fold(0, |any, place| any | wrong_at::<LONGEST>(window, place)) & 0x80 == 0
}

/// How many of the `COUNT` bytes at `at` come before the first [`wrong`] one. The bytes before `at` must be right. Checks every byte
/// again: keeping the results of [`is_right`] would slow down text without errors. Not inlined, since it runs once at most.
#[inline(never)]
fn right_len<const COUNT: usize>(bytes: &[u8], at: usize) -> usize {
    let window = &bytes[at - BEFORE..][..BEFORE + COUNT];
    // As in ASCII, the highest bit of a right byte's flags is not set.
    ascii_len::<COUNT>(&core::array::from_fn(|place| wrong_at::<4>(window, place)))
}

/// [`wrong`] for the byte at `place + BEFORE` of the window, after the three bytes before it.
#[inline(always)]
fn wrong_at<const LONGEST: usize>(window: &[u8], place: usize) -> u8 {
    wrong::<LONGEST>(core::array::from_fn(|back| window[place + back]), window[place + BEFORE])
}

/// How many bytes at the start are ASCII, counted without a branch. `N` must be a multiple of eight.
#[inline(never)]
pub(crate) fn ascii_len<const N: usize>(bytes: &[u8; N]) -> usize {
    let words = bytes.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word) & NON_ASCII);
    words.enumerate().rev().fold(bytes.len(), |len, (place, non_ascii)| {
        core::hint::select_unpredictable(non_ascii == 0, len, 8 * place + non_ascii.trailing_zeros() as usize / 8)
    })
}

/// The highest byte of the block at `at` and of the [`BEFORE`] bytes before it.
#[inline(always)]
fn highest(bytes: &[u8], at: usize) -> u8 {
    let window = &bytes[at - BEFORE..][..BEFORE + ASCII];
    (0..ASCII).fold(0, |highest, place| window[place].max(window[place + BEFORE]).max(highest))
}

/// [`well_formed_from`] by the automaton.
fn well_formed_by_bytes(bytes: &[u8], mut at: usize) -> usize {
    let mut state = BOUNDARY;
    while let Some(block) = bytes[at..].first_chunk::<BLOCK>() {
        let before = state;
        if !block.is_ascii() || state != BOUNDARY {
            state = run(state, block);
        }
        if state == REJECT {
            return boundary(bytes, at + rejected(before, block));
        }
        at += BLOCK;
    }
    match run(state, &bytes[at..]) {
        BOUNDARY => bytes.len(),
        REJECT => boundary(bytes, at + rejected(state, &bytes[at..])),
        _ => boundary(bytes, bytes.len()),
    }
}

/// The highest bit is set if `byte` is wrong after these bytes, provided that they are right: so the first wrong byte is always found.
/// None of the four leads a sequence of more than `LONGEST` bytes. The other bits mean nothing.
#[inline(always)]
fn wrong<const LONGEST: usize>([three, two, one]: [u8; BEFORE], byte: u8) -> u8 {
    let all_if = |condition: bool| if condition { 0xFF } else { 0 };
    // The highest bit remains only of bytes from C0, E0 and F0 on: leads that need a continuation byte one, two and three places
    // later.
    let mut needed = one.saturating_sub(0x40);
    if LONGEST > 2 {
        needed |= two.saturating_sub(0x60);
    }
    if LONGEST > 3 {
        needed |= three.saturating_sub(0x70);
    }
    // A continuation byte has the highest bit, and not the next. C0 and C1 are always wrong.
    let mut wrong = needed ^ (byte & !(byte << 1)) | all_if(byte & 0xFE == 0xC0);
    // A continuation byte is at least A0 if it has the third highest bit, and at least 90 if it has that or the fourth. E0 refuses
    // those below A0, ED the others, F0 those below 90, F4 the others.
    let from_a0 = byte << 2;
    if LONGEST > 2 {
        wrong |= all_if(one == 0xE0) & !from_a0 | all_if(one == 0xED) & from_a0;
    }
    if LONGEST > 3 {
        let from_90 = from_a0 | byte << 3;
        wrong |= all_if(one == 0xF0) & !from_90 | all_if(one == 0xF4) & from_90 | all_if(byte >= 0xF5);
    }
    wrong
}

/// Index of the byte that leads from this state to [`REJECT`]; the length if there is none.
fn rejected(mut state: u64, bytes: &[u8]) -> usize {
    let rejects = |byte: &u8| {
        state = run(state, &[*byte]);
        state == REJECT
    };
    bytes.iter().position(rejects).unwrap_or(bytes.len())
}

/// Whether `bytes`, at least [`VERY_SHORT`] and fewer than [`ASCII`], are all ASCII: tests the first ones and the last ones, which
/// may overlap.
#[inline]
fn is_short_ascii(bytes: &[u8]) -> bool {
    fn ends<const HALF: usize>(bytes: &[u8]) -> bool {
        let ends = bytes.first_chunk::<HALF>().zip(bytes.last_chunk::<HALF>());
        ends.is_some_and(|(first, last)| {
            // A few words are tested faster one by one, many faster combined.
            if HALF < 32 {
                first.is_ascii() && last.is_ascii()
            } else {
                (any_bits(first) | any_bits(last)) & NON_ASCII == 0
            }
        })
    }
    match bytes.len() {
        VERY_SHORT..16 => ends::<8>(bytes),
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

/// Code units in a block.
const UNIT_BLOCK: usize = 32;

/// A code unit of `N` bytes.
pub(crate) trait CodeUnit<const N: usize>: Copy + Default {
    fn from_le_bytes(bytes: [u8; N]) -> Self;
    fn to_le_bytes(self) -> [u8; N];
    fn swap_bytes(self) -> Self;
}

impl CodeUnit<2> for u16 {
    #[inline(always)]
    fn from_le_bytes(bytes: [u8; 2]) -> Self {
        Self::from_le_bytes(bytes)
    }

    #[inline(always)]
    fn to_le_bytes(self) -> [u8; 2] {
        self.to_le_bytes()
    }

    #[inline(always)]
    fn swap_bytes(self) -> Self {
        self.swap_bytes()
    }
}

impl CodeUnit<4> for u32 {
    #[inline(always)]
    fn from_le_bytes(bytes: [u8; 4]) -> Self {
        Self::from_le_bytes(bytes)
    }

    #[inline(always)]
    fn to_le_bytes(self) -> [u8; 4] {
        self.to_le_bytes()
    }

    #[inline(always)]
    fn swap_bytes(self) -> Self {
        self.swap_bytes()
    }
}

/// `unit`, with its bytes in the other order if `swap`.
#[inline(always)]
fn swapped_if<U: CodeUnit<N>, const N: usize>(swap: bool, unit: U) -> U {
    if swap { unit.swap_bytes() } else { unit }
}

#[inline(always)]
fn is_surrogate(unit: u16) -> bool {
    unit & 0xF800 == 0xD800
}

/// Whether `unit` is at most `last` and not a surrogate.
#[inline(always)]
fn is_scalar(unit: u32, last: u32) -> bool {
    (unit.wrapping_sub(0xD800) >= 0x800) & (unit <= last)
}

#[inline(always)]
fn any_surrogate(block: &[u16; UNIT_BLOCK]) -> bool {
    let mut any = false;
    for &unit in block {
        any |= is_surrogate(unit);
    }
    any
}

#[inline(always)]
fn all_scalars(block: &[u32; UNIT_BLOCK], last: u32) -> bool {
    let mut all = true;
    for &unit in block {
        all &= is_scalar(unit, last);
    }
    all
}

/// How many units at the start are UTF-16 without a lone surrogate.
#[inline(always)]
pub(crate) fn utf16_prefix(units: &[u16]) -> usize {
    let mut at = 0;
    while at < units.len() {
        while units[at..].first_chunk().is_some_and(|block| !any_surrogate(block)) {
            at += UNIT_BLOCK;
        }
        let end = units.len().min(at + UNIT_BLOCK);
        while at < end {
            at += match units[at..] {
                [0xD800..=0xDBFF, 0xDC00..=0xDFFF, ..] => 2,
                [unit, ..] if !is_surrogate(unit) => 1,
                _ => return at,
            };
        }
    }
    at
}

/// How many units at the start are at most `last` and not surrogates.
#[inline(always)]
pub(crate) fn utf32_prefix(units: &[u32], last: u32) -> usize {
    let mut at = 0;
    while units[at..].first_chunk().is_some_and(|block| all_scalars(block, last)) {
        at += UNIT_BLOCK;
    }
    while units.get(at).is_some_and(|&unit| is_scalar(unit, last)) {
        at += 1;
    }
    at
}

/// Appends UTF-16 as UTF-32, with U+FFFD for every lone surrogate.
#[inline(always)]
pub(crate) fn utf32_from_utf16(units: &[u16], out: &mut Vec<u32>) {
    out.reserve(units.len());
    let mut at = 0;
    while at < units.len() {
        if let Some(block) = units[at..].first_chunk::<UNIT_BLOCK>()
            && !any_surrogate(block)
        {
            let mut wide = [0; UNIT_BLOCK];
            for place in 0..UNIT_BLOCK {
                wide[place] = u32::from(block[place]);
            }
            out.extend_from_slice(&wide);
            at += UNIT_BLOCK;
            continue;
        }
        let end = units.len().min(at + UNIT_BLOCK);
        while at < end {
            let (unit, len) = match units[at..] {
                [lead @ 0xD800..=0xDBFF, trail @ 0xDC00..=0xDFFF, ..] => {
                    (0x1_0000 + (u32::from(lead & 0x3FF) << 10) + u32::from(trail & 0x3FF), 2)
                }
                [unit, ..] if is_surrogate(unit) => (0xFFFD, 1),
                _ => (u32::from(units[at]), 1),
            };
            out.push(unit);
            at += len;
        }
    }
}

/// Appends UTF-32 as UTF-16, with U+FFFD for every number that is not a scalar value.
#[inline(always)]
pub(crate) fn utf16_from_utf32(units: &[u32], out: &mut Vec<u16>) {
    out.reserve(units.len());
    for block in units.chunks(UNIT_BLOCK) {
        // Both units of a pair are always written; where there is only one, the next overwrites the second.
        let mut narrow = [0; 2 * UNIT_BLOCK];
        let mut len = 0;
        for &unit in block {
            let scalar = if is_scalar(unit, 0x10_FFFF) { unit } else { 0xFFFD };
            let bits = scalar.wrapping_sub(0x1_0000);
            let is_pair = scalar >= 0x1_0000;
            narrow[len % (2 * UNIT_BLOCK)] = if is_pair { 0xD800 | (bits >> 10) as u16 } else { scalar as u16 };
            narrow[(len + 1) % (2 * UNIT_BLOCK)] = 0xDC00 | (bits & 0x3FF) as u16;
            len += 1 + usize::from(is_pair);
        }
        out.extend_from_slice(&narrow[..len]);
    }
}

/// Appends bytes of a single-byte encoding as UTF-16: each is the code point of the same number, except 80..9F, whose code
/// points are in `of_80`.
#[inline(always)]
pub(crate) fn utf16_from_bytes(bytes: &[u8], of_80: &[u16; 32], out: &mut Vec<u16>) {
    out.reserve(bytes.len());
    let is_mapped = |byte: u8| byte & 0xE0 == 0x80;
    let unit = |byte: u8| if is_mapped(byte) { of_80[usize::from(byte & 0x1F)] } else { byte.into() };
    let (blocks, rest) = bytes.as_chunks::<UNIT_BLOCK>();
    for block in blocks {
        let mut any = false;
        for &byte in block {
            any |= is_mapped(byte);
        }
        let mut wide = [0; UNIT_BLOCK];
        for place in 0..UNIT_BLOCK {
            wide[place] = u16::from(block[place]);
        }
        if any {
            for place in 0..UNIT_BLOCK {
                wide[place] = unit(block[place]);
            }
        }
        out.extend_from_slice(&wide);
    }
    for &byte in rest {
        out.push(unit(byte));
    }
}

/// Appends `bytes` as code units, in either byte order. Bytes at the end that are not a whole unit are left out.
#[inline(always)]
pub(crate) fn read_units<U: CodeUnit<N>, const N: usize>(bytes: &[u8], big_endian: bool, out: &mut Vec<U>) {
    let (blocks, rest) = bytes.as_chunks::<N>().0.as_chunks::<UNIT_BLOCK>();
    out.reserve(bytes.len() / N);
    for block in blocks {
        let mut units = [U::default(); UNIT_BLOCK];
        for at in 0..UNIT_BLOCK {
            units[at] = U::from_le_bytes(block[at]);
        }
        if big_endian {
            for unit in &mut units {
                *unit = unit.swap_bytes();
            }
        }
        out.extend_from_slice(&units);
    }
    for &bytes in rest {
        out.push(swapped_if(big_endian, U::from_le_bytes(bytes)));
    }
}

/// Appends the bytes of units, each widened to `U`, in either byte order.
#[inline(always)]
pub(crate) fn write_units<U: CodeUnit<N> + From<F>, F: Copy, const N: usize>(
    units: &[F],
    big_endian: bool,
    out: &mut Vec<u8>,
) {
    let (blocks, rest) = units.as_chunks::<UNIT_BLOCK>();
    out.reserve(N * units.len());
    for block in blocks {
        let mut bytes = [[0; N]; UNIT_BLOCK];
        for at in 0..UNIT_BLOCK {
            bytes[at] = swapped_if(big_endian, U::from(block[at])).to_le_bytes();
        }
        out.extend_from_slice(bytes.as_flattened());
    }
    for &unit in rest {
        out.extend_from_slice(&swapped_if(big_endian, U::from(unit)).to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The offset is `usize::MAX` where a stream is longer than memory.
    #[test]
    fn the_range_of_an_error_ends_within_memory() {
        let error = Utf8Error { valid_up_to: usize::MAX, len: 3, kind: Kind::Surrogate };
        assert_eq!(error.range(), usize::MAX..usize::MAX);
        assert_eq!(Utf8Error { valid_up_to: 5, ..error }.range(), 5..8);
    }

    #[test]
    fn every_character_is_read_from_its_sequence() {
        let is_read = |character: char| chars(character.encode_utf8(&mut [0; 4]).as_bytes()).eq([Ok(character)]);
        assert!(('\0'..=char::MAX).all(is_read));
    }

    // A register and the bytes before it fit into the input.
    const _: () = assert!(SHORT >= BEFORE + REGISTER && SHORT <= ASCII);

    /// A sequence that whole blocks of ASCII interrupt, in inputs of every length up to two blocks after the first register.
    #[test]
    fn blocks_of_ascii_do_not_continue_a_sequence() {
        for len in 2..=BEFORE + REGISTER + 2 * ASCII {
            for lead in 0..len - 1 {
                let mut bytes = vec![b'a'; len];
                [bytes[lead], bytes[lead + 1]] = [0xC3, 0xA9];
                assert_eq!(well_formed_prefix(&bytes), len);
                for last in lead + 2..len {
                    [bytes[lead + 1], bytes[last]] = [b'a', 0xA9];
                    assert_eq!(well_formed_prefix(&bytes), lead, "{len} bytes, C3 at {lead}, A9 at {last}");
                    bytes[last] = b'a';
                }
            }
        }
    }

    /// Every string of four bytes from the ends of the ranges of [`STEPS`] and their neighbours.
    fn strings_of_four() -> impl Iterator<Item = [u8; 4]> {
        let around = |[first, last]: [u8; 2]| [first.wrapping_sub(1), first, last, last.wrapping_add(1)];
        let mut ends = STEPS.map(|(_, range, _)| around(range)).concat();
        ends.sort_unstable();
        ends.dedup();
        let all = (0..ends.len().pow(4)).step_by(if cfg!(miri) { 997 } else { 1 });
        all.map(move |index| [0, 1, 2, 3].map(|place| ends[index / ends.len().pow(place) % ends.len()]))
    }

    /// After bytes that are right wherever a sequence began, and in each of the loops that may be chosen for them.
    #[test]
    fn a_byte_is_wrong_if_the_automaton_rejects_it() {
        for [three, two, one, byte] in strings_of_four() {
            let before = [three, two, one];
            let highest = before.into_iter().fold(byte, u8::max);
            for start in [BOUNDARY, ONE, TWO, THREE] {
                let state = run(start, &before);
                if state == REJECT {
                    continue;
                }
                let expected = run(state, &[byte]) == REJECT;
                let is_wrong = |flags: u8| flags & 0x80 != 0;
                if highest < 0xE0 {
                    assert_eq!(is_wrong(wrong::<2>(before, byte)), expected, "{before:02X?} {byte:02X}");
                }
                if highest < 0xF0 {
                    assert_eq!(is_wrong(wrong::<3>(before, byte)), expected, "{before:02X?} {byte:02X}");
                }
                assert_eq!(is_wrong(wrong::<4>(before, byte)), expected, "{before:02X?} {byte:02X}");
            }
        }
    }

    /// Four bytes of every class, at every place of a text of a register, two blocks and a rest.
    #[test]
    fn registers_and_bytes_find_what_the_standard_library_finds() {
        const LEN: usize = BEFORE + REGISTER + 2 * ASCII + 7;
        const CLASSES: [u8; 5] = [b'a', 0x85, 0xC3, 0xE4, 0xF1];
        for at in (0..=LEN - 4).step_by(if cfg!(miri) { 40 } else { 1 }) {
            let mut bytes = [b'a'; LEN];
            for index in 0..CLASSES.len().pow(4) {
                let four = [0, 1, 2, 3].map(|place| CLASSES[index / CLASSES.len().pow(place) % CLASSES.len()]);
                bytes[at..at + 4].copy_from_slice(&four);
                let expected = str::from_utf8(&bytes).map_or_else(|error| error.valid_up_to(), |text| text.len());
                assert_eq!(well_formed_by_registers(&bytes, 0), expected, "{four:02X?} at {at}");
                assert_eq!(well_formed_by_bytes(&bytes, 0), expected, "{four:02X?} at {at}");
            }
        }
    }

    #[test]
    fn text_of_every_length_of_sequences_is_right() {
        fn assert_right<const LONGEST: usize>(text: &str) {
            let bytes = text.repeat(BEFORE + ASCII).into_bytes();
            assert!((BEFORE..bytes.len() - ASCII).all(|at| is_right::<LONGEST, ASCII>(&bytes, at)), "{text}");
        }
        assert_right::<2>("é");
        assert_right::<3>("世");
        assert_right::<4>("😀");
    }
}
