//! Validation, register by register: the length of the well-formed prefix of a byte string; and which continuation bytes a
//! lead refuses, as tables for lookups of bytes, computed at compile time.
//!
//! # Idea
//!
//! Whether a byte is right depends on itself and the three bytes before it: it must be a continuation byte exactly where one
//! of those needs one, and the byte before it must not refuse it (E0 refuses 80..9F, and so on; see [`REFUSALS`]). A register
//! checks all its bytes against the same bytes one, two and three places earlier, which are loaded again from memory.
//! Registers pass nothing to each other, and errors are only added up, so a byte may be checked twice: the last register
//! overlaps the one before it. Where the input has only one or two bytes more than a register, zeros are shifted in before the
//! last register, too, and errors in its first three bytes do not count. Kernels without masked loads, all but AVX-512,
//! leave inputs below four bytes to scalar code.
//!
//! ```text
//! check the first register, zeros shifted in before it
//! for each aligned group of 8 registers:
//!     highest = the highest byte at each place, including the three bytes before
//!     if highest < 80: next group                     (ASCII; a tighter loop follows)
//!     if highest < E0: if the byte before the group is C0 or C1: return its place
//!                      check with the byte before          (cheaper: no sequence is longer than two bytes)
//!     if highest < F0: check with two bytes before
//!     else:            check with three bytes before; after two such in a row, the next 2 to 16, too
//!     if there is an error: return the boundary at the start of the first register with one
//! check the last registers, and that no sequence continues after the last byte
//! ```
//!
//! The caller finds the error in the remaining bytes with scalar code.
//!
//! # Example
//!
//! `61 E2 82 AC ED A0 80`, with the bytes that AVX-512 compares (the other kernels use a different lookup, with the same
//! result):
//!
//! ```text
//! bytes           61 E2 82 AC ED A0 80
//! one before      00 61 E2 82 AC ED A0     from C0 on: needs a continuation byte now
//! two before      00 00 61 E2 82 AC ED     from E0 on
//! three before    00 00 00 61 E2 82 AC     from F0 on
//! needed           .  .  1  1  .  1  1
//! continuation     .  .  1  1  .  1  1     equal: no error
//! refused          .  .  .  .  .  1  .     ED refuses A0: an error
//! ```
//!
//! # Cost
//!
//! With three bytes before, a register costs four loads and about twenty instructions; with one, two loads and about ten. ASCII
//! costs a load and an `or`. Loads across a cache line are cheaper here than shuffles: the lookups already use the units for those.
//! Groups of large inputs are prefetched, except
//! while all are ASCII; those of others, where they are checked without a look at their highest byte. Inputs of up to [`SHORT`] bytes take a path without groups,
//! because aligning and grouping cost more than they save there. It is slow on inputs shorter than a few bytes, where the calls and
//! the scalar search for the place of an error take most of the time, and on text with many errors, where each one costs a check
//! of a whole group and of its registers one by one: decoding with replacement uses windows instead.

use crate::kernel::info::{Path, Registers, note_run};
use crate::kernel::vector::{Aligned, Apart, Vector, opaque};
use crate::scalar;
use crate::scalar::{LINE, boundary, pending};

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
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only AVX-512 uses it"))]
pub(super) const BELOW_LEADS: [i8; 3] = [0x40, 0x60, 0x70];

/// For each place in a register, the highest byte that needs no continuation byte after the register. A shorter
/// register uses the end of this table.
pub(super) static FINISHED: Aligned<[u8; 64]> = {
    let mut table = [0xFF; 64];
    [table[61], table[62], table[63]] = [0xEF, 0xDF, 0xBF];
    Aligned(table)
};

/// By the low six bits of a lead: the ranges of [`SECOND`] it refuses.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only AVX-512 uses it"))]
pub(super) static LEAD: Aligned<[u8; 64]> = Aligned(refused_by_leads());

const fn refused_by_leads() -> [u8; 64] {
    let (ranges, mut table) = (ranges_of_seconds(), [0; 64]);
    let mut lead = 0xC0;
    while lead <= 0xFF {
        let mut at = 0;
        while at < REFUSALS.len() {
            let (leads, seconds) = REFUSALS[at];
            let mut second = 0x80;
            while leads[0] as usize <= lead && lead <= leads[1] as usize && second <= 0xBF {
                if seconds[0] as usize <= second && second <= seconds[1] as usize {
                    table[lead - 0xC0] |= ranges[second - 0x80];
                }
                second += 1;
            }
            at += 1;
        }
        lead += 1;
    }
    table
}

/// By the low six bits of a continuation byte: one bit for each of the ranges 80..8F, 90..9F, A0..BF.
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only AVX-512 uses it"))]
pub(super) static SECOND: Aligned<[u8; 64]> = Aligned(ranges_of_seconds());

const fn ranges_of_seconds() -> [u8; 64] {
    let mut table = [4; 64];
    let mut second = 0;
    while second < 32 {
        table[second] = if second < 16 { 1 } else { 2 };
        second += 1;
    }
    table
}

/// Subtracted with saturation from the bytes two and three places earlier. A lead whose sequence reaches this byte becomes a lead of
/// two bytes (E0..FF become C0..DF, F0..FF become C0..CF); any other byte ends up below C0.
pub(super) const LOWERED: [i8; 2] = [0x20, 0x30];

/// Subtracted with saturation, this leaves zero of every byte that is not a lead, so that no refusal is found where only a lowered
/// lead selects from the first table. The low nibble of the difference tells leads with the same high nibble apart.
pub(super) const BELOW_FIRST_LEAD: i8 = 0xBF_u8 as i8;

/// The rules for two bytes in a row, one bit each, in three tables of sixteen entries: a rule is broken where its bit is set in all
/// three. The third and fourth bytes of a sequence need no rules of their own: its lead, [`LOWERED`], stands in for the byte before.
///
/// The lookup is that of J. Keiser and D. Lemire, "Validating UTF-8 in less than one instruction per byte" (2021), with other
/// indices. Theirs has a bit for two continuation bytes in a row, and compares it with whether an earlier lead needs them.
pub(super) struct Nibbles {
    /// By the high nibble of the highest of the byte before and the two before that, [`LOWERED`].
    pub(super) high: [u8; 16],
    /// By the low nibble of the difference between the byte before and [`BELOW_FIRST_LEAD`], which is at least zero.
    pub(super) low: [u8; 16],
    /// By the high nibble of the byte.
    pub(super) next: [u8; 16],
}

/// The rules of well-formed UTF-8.
pub(super) static NIBBLES: Nibbles = {
    let mut rules = Nibbles { high: [0; 16], low: [0; 16], next: [0; 16] };
    // A lead without continuation.
    rules.add([0xC0, 0xFF], [0x00, 0x7F], 1);
    rules.add([0xC0, 0xFF], [0xC0, 0xFF], 1);
    // A continuation without lead.
    rules.add([0x00, 0xBF], [0x80, 0xBF], 2);
    let mut at = 0;
    while at < REFUSALS.len() {
        rules.add(REFUSALS[at].0, REFUSALS[at].1, 4 << at);
        at += 1;
    }
    rules
};

/// The bits of [`NIBBLES`] for a lead and a continuation byte it refuses.
pub(super) const REFUSED: u8 = 0xFC;

impl Nibbles {
    /// Adds the rule that no byte in the range `byte` follows one in the range `before`.
    const fn add(&mut self, before: [u8; 2], byte: [u8; 2], bit: u8) {
        let mut value = before[0] as usize;
        while value <= before[1] as usize {
            self.high[value >> 4] |= bit;
            self.low[value.saturating_sub(BELOW_FIRST_LEAD as u8 as usize) & 0xF] |= bit;
            value += 1;
        }
        let mut value = byte[0] as usize;
        while value <= byte[1] as usize {
            self.next[value >> 4] |= bit;
            value += 1;
        }
    }
}

/// Registers in a group.
const GROUP: usize = 8;

/// Once two groups in a row have sequences of four bytes in both halves, the next groups are checked for such sequences without
/// looking at their highest byte first: `LIKELY[0]` of them at first, at most `LIKELY[1]`. The number doubles as long as the text stays like this:
/// starting with many would cost more in a page of several scripts than it saves in emoji.
const LIKELY: [usize; 2] = [2, 16];

/// Inputs with at least this many bytes are taken to exceed the first-level cache, and groups are prefetched: the processor
/// does not prefetch beyond a page of memory by itself.
const LARGE: usize = 0x4_0000;

/// Inputs with at least this many bytes are taken to be outside all caches but the largest: see [`Vector::Far`].
const FAR: usize = 0x40_0000;

/// How many bytes before its turn a group is prefetched.
const AHEAD: usize = 3072;

/// Registers in half a group, which are skipped if all of them are ASCII.
const HALF: usize = 4;

/// Inputs of up to this many bytes are checked by [`short_prefix`], longer ones by [`long_prefix`]: at least two registers
/// of any kernel.
pub(super) const SHORT: usize = 128;

// `is_middle_ascii` reads four registers from each end if they have 16 bytes, and two if they have more.
const _: () = assert!(SHORT <= 2 * 4 * 16);

/// How a kernel checks inputs of up to about one register.
///
/// # Safety
/// `partial_prefix` returns the length of a prefix that is well-formed and ends between two sequences: callers read memory, and
/// make `str`, on the strength of it. `MOST` is `LEN` or `LEN - 1`. The functions may be called only on a processor with the
/// instructions of the implementing file, and `partial_prefix` only for `MOST` bytes at most.
pub(super) unsafe trait Partial: Apart {
    /// Up to this many bytes are checked by [`Partial::partial_prefix`].
    const MOST: usize = Self::LEN;

    /// The code that runs for `len` bytes, which are [`Partial::MOST`] at most.
    fn partial_path(len: usize) -> Path;

    /// As [`short_prefix`], for [`Partial::MOST`] bytes at most.
    unsafe fn partial_prefix(bytes: &[u8]) -> usize;
}

/// The code that checks `len` bytes: the decisions of [`well_formed_prefix`], by the same constants.
pub(super) fn path<V: Partial>(len: usize) -> Path {
    let registers = if len <= V::MOST {
        return V::partial_path(len);
    } else if len == V::LEN {
        Registers::One
    } else if has_short_rest::<V>(len) {
        Registers::OneAndRest
    } else if len <= SHORT {
        Registers::Several
    } else {
        Registers::Groups
    };
    Path { kernel: V::NAME, registers }
}

/// Whether fewer than three bytes stand before the last register, too few to check it.
#[inline(always)]
fn has_short_rest<V: Vector>(len: usize) -> bool {
    matches!(len - V::LEN, 1 | 2)
}

/// Length in bytes of a prefix of `bytes` that is well-formed and ends between two sequences. After it comes an error within a few
/// registers, an incomplete sequence, or nothing. Whether [`long_prefix`] is `INLINED` decides
/// only the speed: not inlined is faster for short inputs, inlined for replacement with many errors.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn well_formed_prefix<V: Partial, const INLINED: bool>(bytes: &[u8]) -> usize {
    // SAFETY: `partial_prefix` is called for at most `MOST` bytes, `short_prefix` for at most `SHORT`, the others for more;
    // `long_prefix` with what `ascii_groups` returned, which is not all bytes.
    unsafe {
        // As in `short_prefix`, but before the test for `SHORT`: the shortest inputs pass one test fewer.
        if bytes.len() <= V::MOST {
            return V::partial_prefix(bytes);
        }
        if bytes.len() <= SHORT {
            return short_prefix::<V>(bytes);
        }
        let ascii = ascii_groups::<V>(bytes);
        if ascii == bytes.len() {
            ascii
        } else if INLINED {
            long_prefix::<V>(bytes, ascii)
        } else {
            V::long_prefix(bytes, ascii)
        }
    }
}

/// Length in bytes of a prefix of at most [`SHORT`] `bytes` that is well-formed and ends between two sequences. After it
/// comes an error, an incomplete sequence, or nothing.
///
/// # Safety
/// The processor has the instructions of `V`; there are at most [`SHORT`] bytes.
#[inline(always)]
pub(super) unsafe fn short_prefix<V: Partial>(bytes: &[u8]) -> usize {
    let (start, len) = (bytes.as_ptr(), bytes.len());
    if len <= V::MOST {
        // SAFETY: there are `MOST` bytes at most.
        return unsafe { V::partial_prefix(bytes) };
    }
    // SAFETY: `len >= LEN`, as `MOST >= LEN - 1`. The first load reads `..LEN`, the last `len - LEN..len`. `is_middle_ascii` is
    // called with more than `2 * LEN` bytes. `check_all` is called with `at = LEN`, at least three, and `len >= LEN + 3`, as other
    // lengths have returned.
    unsafe {
        let (first, last) = (V::load(start), V::load(start.add(len - V::LEN)));
        if first.or(last).is_ascii() && (len <= 2 * V::LEN || is_middle_ascii::<V>(start, len)) {
            return len;
        }
        if V::MOST < V::LEN && len == V::LEN {
            return prefix_of_sequences(first, bytes, !0);
        }
        let mut errors = first.check(first.shift_in(), V::no_errors());
        if has_short_rest::<V>(len) {
            note_run(V::NAME, Registers::OneAndRest);
            // The first register has the first three bytes of the last one, too, and knows what is before them.
            let rest = V::error_mask(last.check(last.shift_in(), V::no_errors())) & !0b111;
            return if V::has_error(errors) {
                0
            } else if rest != 0 {
                boundary(bytes, V::LEN)
            } else if last.is_complete(V::no_errors()) {
                len
            } else {
                boundary(bytes, len)
            };
        }
        note_run(V::NAME, Registers::Several);
        errors = check_all::<V>(start, V::LEN, len, errors);
        if last.is_complete(errors) {
            len
        } else if V::has_error(errors) {
            0
        } else {
            boundary(bytes, len)
        }
    }
}

/// Length of a prefix of `bytes`, which are not all ASCII, that is well-formed and ends between two sequences. `all` holds the bytes
/// at the places `mask`. At the others it holds zeros, or `bytes` again.
///
/// # Safety
/// The processor has the instructions of `V`, and `all` is as described.
#[inline(always)]
pub(super) unsafe fn prefix_of_sequences<V: Vector>(all: V, bytes: &[u8], mask: u64) -> usize {
    note_run(V::NAME, Registers::One);
    // SAFETY: registers only.
    unsafe {
        // An incomplete sequence at the end makes an error of what comes after it, if anything does.
        let errors = all.check(all.shift_in(), V::no_errors());
        if all.is_complete(errors) {
            bytes.len()
        } else if V::error_mask(errors) & mask == 0 {
            boundary(bytes, bytes.len())
        } else {
            0
        }
    }
}

/// The length of a prefix that is ASCII, of more than [`SHORT`] bytes: all of them, or up to the beginning of a group; none, if
/// another byte stands before the first group.
///
/// # Safety
/// The processor has the instructions of `V`; there are more than [`SHORT`] bytes.
#[inline(always)]
pub(super) unsafe fn ascii_groups<V: Vector>(bytes: &[u8]) -> usize {
    note_run(V::NAME, Registers::Groups);
    let (start, len) = (bytes.as_ptr(), bytes.len());
    // SAFETY: `len > 128 >= 2 * LEN`, and `at <= LEN + 2`. The first two loads read `..LEN` and
    // `at - LEN..at`, or `..LEN` again if `at` is less. A group begins at
    // a multiple of `LEN`, as the first does, and ends at `len` at most. `or_all` reads below `len`.
    unsafe {
        let first = V::load(start);
        if !first.is_ascii() {
            return 0;
        }
        let mut at = first_group::<V>(start);
        if !V::load(start.add(at.saturating_sub(V::LEN))).is_ascii() {
            return 0;
        }
        while V::LEN > V::Far::LEN && len >= FAR && len - at >= GROUP * V::LEN && is_far_group_ascii::<V>(start.add(at))
        {
            at += GROUP * V::LEN;
        }
        while len - at >= GROUP * V::LEN && is_ascii_group::<V>(start.add(at)) {
            at += GROUP * V::LEN;
        }
        if len - at < GROUP * V::LEN && or_all(start, at, len, first).is_ascii() { len } else { at }
    }
}

/// Where the first group begins: at the first aligned register with three bytes before it, at most `LEN + 2`.
#[inline(always)]
fn first_group<V: Vector>(start: *const u8) -> usize {
    let at = start.align_offset(V::LEN);
    if at < 3 { at + V::LEN } else { at }
}

/// As [`short_prefix`], for more than [`SHORT`] bytes, of which those before `at` are ASCII. If an error follows the prefix, it is
/// within [`GROUP`] registers.
///
/// # Safety
/// The processor has the instructions of `V`; there are more than [`SHORT`] bytes; `at` is what [`ascii_groups`] returns for them,
/// less than their number.
#[inline(always)]
pub(super) unsafe fn long_prefix<V: Partial>(bytes: &[u8], mut at: usize) -> usize {
    let (start, len) = (bytes.as_ptr(), bytes.len());
    // SAFETY: `len > 128 >= 2 * LEN`. The first load reads `..LEN`. `at` is then at least 3 and at most `LEN + 2`, or the beginning
    // of a later group; the register at 3 reads `..LEN + 3` at most. A group begins at a multiple of `LEN`, as the first does, and
    // reads `at - 3..at + GROUP * LEN`, which is at most `len`; `good_groups` is given no more groups than end there. The last load
    // reads `len - LEN..len`. `check_all` has `at >= 3` and `len >= LEN + 3`.
    unsafe {
        if at == 0 {
            // The bytes between the end of the first register and the first group, if there are any, are checked by one more
            // register.
            at = first_group::<V>(start);
            let first = V::load(start);
            if V::has_error(first.check(first.shift_in(), V::no_errors())) {
                return 0;
            }
            if at > V::LEN && V::has_error(check::<V, 4>(start.add(3), V::no_errors())) {
                return boundary(bytes, 3);
            }
        }
        // The end of the last group with sequences of four bytes in both halves.
        let mut long_until = 0;
        let mut likely = LIKELY[0];
        while len - at >= GROUP * V::LEN {
            let group = start.add(at);
            if len >= LARGE {
                load_ahead::<V>(group);
            }
            // The highest byte at each place of each half; for the first also of the three bytes before, where a sequence may
            // begin that continues in it.
            let first = highest::<V>(group).max(V::load(group.sub(3)));
            let second = highest::<V>(group.add(HALF * V::LEN));
            let highest = first.max(second);
            if highest.is_ascii() {
                at += GROUP * V::LEN;
                while len - at >= GROUP * V::LEN && is_ascii_group::<V>(start.add(at)) {
                    at += GROUP * V::LEN;
                }
                continue;
            }
            // `check_pairs` finds C0 and C1 only in the bytes that it checks, and `check` only by the byte after: one at the end of
            // the group before may not have been found yet.
            let is_after_overlong = || matches!(group.sub(1).read(), 0xC0 | 0xC1);
            // A half that is ASCII is skipped.
            let errors = if first.is_ascii() {
                check_half::<V>(group.add(HALF * V::LEN), highest)
            } else if second.is_ascii() && pending(bytes, at + HALF * V::LEN) == 0 {
                if is_after_overlong() {
                    return boundary(bytes, at);
                }
                check_half::<V>(group, highest)
            } else if highest.is_below(0xE0) {
                if is_after_overlong() {
                    return boundary(bytes, at);
                }
                check_each::<V, GROUP, 2>(group)
            } else if highest.is_below(0xF0) {
                check_each::<V, GROUP, 3>(group)
            } else if first.is_below(0xF0) || second.is_below(0xF0) {
                check_each::<V, GROUP, 4>(group)
            } else if at != long_until {
                long_until = at + GROUP * V::LEN;
                likely = LIKELY[0];
                check_each::<V, GROUP, 4>(group)
            } else {
                // This group, and those that most likely are like it.
                let most = (1 + likely).min((len - at) / (GROUP * V::LEN));
                let good = V::good_groups(group, most);
                at += good * GROUP * V::LEN;
                if good < most {
                    return boundary(bytes, at + good_registers::<V>(start.add(at)));
                }
                long_until = at;
                likely = LIKELY[1].min(2 * likely);
                continue;
            };
            if V::has_error(errors) {
                return boundary(bytes, at + good_registers::<V>(group));
            }
            at += GROUP * V::LEN;
        }
        let last = V::load(start.add(len - V::LEN));
        // If the last register is not ASCII, the others need not be read for this.
        if last.is_ascii() && or_all(start, at, len, last).is_ascii() && pending(bytes, at) == 0 {
            len
        } else {
            let errors = check_all::<V>(start, at, len, V::no_errors());
            if last.is_complete(errors) {
                len
            } else if V::has_error(errors) {
                boundary(bytes, at)
            } else {
                boundary(bytes, len)
            }
        }
    }
}

/// Checks up to `most` groups, each with the three bytes before it; returns how many precede the first error.
///
/// # Safety
/// `from - 3..from + most * GROUP * LEN` can be read; the processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn good_groups<V: Vector>(from: *const u8, most: usize) -> usize {
    let mut good = 0;
    // SAFETY: group `good` begins at `good * GROUP * LEN`, and `good < most`.
    unsafe {
        while good < most {
            let group = from.add(good * GROUP * V::LEN);
            load_ahead::<V>(group);
            if V::has_error(check_each::<V, GROUP, 4>(group)) {
                break;
            }
            good += 1;
        }
    }
    good
}

/// Prefetches the group that is [`AHEAD`] bytes after this one.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
unsafe fn load_ahead<V: Vector>(group: *const u8) {
    for line in 0..GROUP * V::LEN / LINE {
        // SAFETY: the same contract.
        unsafe { V::prefetch(group.wrapping_add(AHEAD + LINE * line)) };
    }
}

/// How many bytes of a group precede the first register with an error; there is one.
///
/// # Safety
/// `from - 3..from + GROUP * LEN` can be read; the processor has the instructions of `V`.
#[inline(always)]
unsafe fn good_registers<V: Vector>(from: *const u8) -> usize {
    let mut at = 0;
    // SAFETY: the last register is not checked: it begins at `(GROUP - 1) * LEN`.
    while at < (GROUP - 1) * V::LEN && unsafe { !V::has_error(check::<V, 4>(from.add(at), V::no_errors())) } {
        at += V::LEN;
    }
    at
}

/// Whether a group is ASCII.
///
/// # Safety
/// `from..from + GROUP * LEN` can be read, and `from` is a multiple of `LEN`; the processor has the instructions of `V`.
#[inline(always)]
unsafe fn is_ascii_group<V: Vector>(from: *const u8) -> bool {
    // SAFETY: register `index` reads `index * LEN..(index + 1) * LEN`, and `index < GROUP`.
    unsafe {
        let mut all = V::load_aligned(from);
        for index in 1..GROUP {
            all = all.or(V::load_aligned(from.add(index * V::LEN)));
        }
        all.is_ascii()
    }
}

/// As [`is_ascii_group`], with registers of [`Vector::Far`].
///
/// # Safety
/// `from..from + GROUP * LEN` can be read, and `from` is a multiple of `LEN`; the processor has the instructions of `V`.
#[inline(always)]
unsafe fn is_far_group_ascii<V: Vector>(from: *const u8) -> bool {
    // SAFETY: each group of `Far` begins at a multiple of its `LEN`, which divides that of `V`, and together they are the group of `V`.
    // `Far` needs no other instructions than `V`.
    (0..V::LEN / V::Far::LEN).all(|part| unsafe { is_ascii_group::<V::Far>(from.add(part * GROUP * V::Far::LEN)) })
}

/// The bits that are set in `all`, in any byte of `at..len`, or in any other byte of the last register.
///
/// # Safety
/// `start..start + len` can be read, at least `LEN` bytes; the processor has the instructions of `V`.
#[inline(always)]
unsafe fn or_all<V: Vector>(start: *const u8, mut at: usize, len: usize, mut all: V) -> V {
    // SAFETY: in the loop `at + LEN < len`; the last load reads `len - LEN..len`.
    unsafe {
        while at + V::LEN < len {
            all = all.or(V::load(start.add(at)));
            // Hidden from the optimiser, which would unroll a loop that rarely has more than a few steps.
            at = opaque((at + V::LEN) as u64) as usize;
        }
        all.or(V::load(start.add(len - V::LEN)))
    }
}

/// Whether all bytes between the first register and the last are ASCII. There are more than two registers and at most [`SHORT`]
/// bytes, so the registers nearest to both ends hold them all, some of them twice: the code needs no loop, whose end would be hard
/// to predict.
///
/// # Safety
/// `start..start + len` can be read, more than `2 * LEN` bytes; the processor has the instructions of `V`.
#[inline(always)]
unsafe fn is_middle_ascii<V: Vector>(start: *const u8, len: usize) -> bool {
    // SAFETY: a register begins at `index * LEN`, or ends `index * LEN` before the end, and `len >= (index + 1) * LEN`.
    unsafe {
        let both = |index: usize| V::load(start.add(index * V::LEN)).or(V::load(start.add(len - (index + 1) * V::LEN)));
        let mut all = both(1);
        if V::LEN == 16 && len > 4 * V::LEN {
            all = all.or(both(2)).or(both(3));
        }
        all.is_ascii()
    }
}

/// Checks every byte of `at..len`; the last register is a whole one.
///
/// # Safety
/// `start..start + len` can be read, `at >= 3` and `len >= LEN + 3`; the processor has the instructions of `V`.
#[inline(always)]
unsafe fn check_all<V: Vector>(start: *const u8, mut at: usize, len: usize, mut errors: V::Errors) -> V::Errors {
    // SAFETY: in the loop a register reads `at - 3..at + LEN`, with `at >= 3` and `at + LEN < len`; the last one reads
    // `len - LEN - 3..len`.
    unsafe {
        while at + V::LEN < len {
            errors = check::<V, 4>(start.add(at), errors);
            at += V::LEN;
        }
        check::<V, 4>(start.add(len - V::LEN), errors)
    }
}

/// The highest byte at each place of half a group.
///
/// # Safety
/// `from..from + HALF * LEN` can be read, and `from` is a multiple of `LEN`; the processor has the instructions of `V`.
#[inline(always)]
unsafe fn highest<V: Vector>(from: *const u8) -> V {
    // SAFETY: register `index` reads `index * LEN..(index + 1) * LEN`, and `index < HALF`.
    unsafe {
        let mut highest = V::load_aligned(from);
        for index in 1..HALF {
            highest = highest.max(V::load_aligned(from.add(index * V::LEN)));
        }
        highest
    }
}

/// Checks half a group. No byte in it or in the three before is above the highest byte of `highest`, and the byte before is not C0 or
/// C1.
///
/// # Safety
/// `from - 3..from + HALF * LEN` can be read; the processor has the instructions of `V`.
#[inline(always)]
unsafe fn check_half<V: Vector>(from: *const u8, highest: V) -> V::Errors {
    // SAFETY: the same contract.
    unsafe {
        if highest.is_below(0xE0) {
            check_each::<V, HALF, 2>(from)
        } else if highest.is_below(0xF0) {
            check_each::<V, HALF, 3>(from)
        } else {
            check_each::<V, HALF, 4>(from)
        }
    }
}

/// Checks `COUNT` registers, where no sequence is longer than `LONGEST` bytes. If that is two, the caller has looked for C0 and C1 in
/// the byte before `from`.
///
/// # Safety
/// `from - 3..from + COUNT * LEN` can be read; the processor has the instructions of `V`.
#[inline(always)]
unsafe fn check_each<V: Vector, const COUNT: usize, const LONGEST: usize>(from: *const u8) -> V::Errors {
    // SAFETY: register `index` reads `index * LEN - 3..(index + 1) * LEN`, and `index < COUNT`.
    unsafe {
        let mut errors = V::no_errors();
        for index in 0..COUNT {
            errors = check::<V, LONGEST>(from.add(index * V::LEN), errors);
        }
        errors
    }
}

/// Checks the register at `from`, with as many bytes before it as a sequence of at most `LONGEST` bytes can reach. If that is two, C0
/// or C1 in the byte before is not found.
///
/// # Safety
/// `from - 3..from + LEN` can be read; the processor has the instructions of `V`.
#[inline(always)]
unsafe fn check<V: Vector, const LONGEST: usize>(from: *const u8, errors: V::Errors) -> V::Errors {
    // SAFETY: the loads begin one to three bytes before `from`, or there, and read `LEN` bytes.
    unsafe {
        let (bytes, one) = (V::load(from), V::load(from.sub(1)));
        if LONGEST == 2 {
            return bytes.check_pairs(one, errors);
        }
        let three = if LONGEST > 3 { V::load(from.sub(3)) } else { V::zero() };
        bytes.check([one, V::load(from.sub(2)), three], errors)
    }
}

/// Fewer bytes are left to scalar code by the kernels of sixteen bytes.
const FEW: usize = 4;

/// [`Partial::partial_path`] of [`prefix_of_words`].
pub(super) fn path_of_words<V: Vector>(len: usize) -> Path {
    if len < FEW { Path::SCALAR } else { Path { kernel: V::NAME, registers: Registers::One } }
}

/// [`Partial::partial_prefix`] that reads the bytes as two integers, which overlap. `load` makes a register of two words.
///
/// # Safety
/// The processor has the instructions of `V`, whose registers have sixteen bytes; `load` puts the first word in the lower half.
#[inline(always)]
pub(super) unsafe fn prefix_of_words<V: Vector>(bytes: &[u8], load: impl Fn([u64; 2]) -> V) -> usize {
    let len = bytes.len();
    let check = |words: [u64; 2]| {
        if (words[0] | words[1]) & 0x8080_8080_8080_8080 == 0 {
            return len;
        }
        // SAFETY: the same contract.
        unsafe { prefix_of_sequences(load(words), bytes, (1 << len) - 1) }
    };
    if let (Some(first), Some(last)) = (bytes.first_chunk(), bytes.last_chunk()) {
        // The bytes after the first eight. Of eight bytes in all there are none, and as `wrapping_shr` by 64 shifts by 0, the same
        // eight stand there again. They complete no sequence: a continuation byte that they begin with is an error of the first eight.
        check([u64::from_le_bytes(*first), u64::from_le_bytes(*last).wrapping_shr(8 * (16 - len as u32))])
    } else if let (Some(first), Some(last)) = (bytes.first_chunk::<FEW>(), bytes.last_chunk()) {
        let after = u64::from(u32::from_le_bytes(*last)) >> (8 * (8 - len as u32));
        check([u64::from(u32::from_le_bytes(*first)) | after << 32, 0])
    } else {
        note_run(Path::SCALAR.kernel, Path::SCALAR.registers);
        // ASCII without another call.
        let ends = bytes.first().zip(bytes.last()).zip(bytes.get(len / 2));
        let is_ascii = ends.is_some_and(|((first, last), middle)| (first | last | middle).is_ascii());
        if is_ascii { len } else { scalar::well_formed_prefix(bytes) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scalar::Sequence;
    use crate::utf8::{Kind, is_continuation};

    #[test]
    fn the_tables_say_of_each_pair_what_the_scalar_step_says() {
        let (leads, seconds, rules) = (refused_by_leads(), ranges_of_seconds(), &NIBBLES);
        for (lead, second) in (0..=255).flat_map(|lead| (0..=255).map(move |second| (lead, second))) {
            let refused = match Sequence::read(&[lead, second, 0x80, 0x80]) {
                Some(Sequence::IllFormed { kind: Kind::Continuation | Kind::TooShort, .. }) => false,
                Some(Sequence::IllFormed { .. }) => true,
                _ => false,
            };
            let refused = refused && is_continuation(second);
            if lead >= 0xC0 && is_continuation(second) {
                let found = leads[usize::from(lead & 0x3F)] & seconds[usize::from(second & 0x3F)];
                assert_eq!(found != 0, refused, "{lead:02X} {second:02X}");
            }
            // With only a pair, the byte before is itself the highest.
            let low = usize::from(lead.saturating_sub(BELOW_FIRST_LEAD as u8) & 0xF);
            let found = rules.high[usize::from(lead >> 4)] & rules.low[low] & rules.next[usize::from(second >> 4)];
            assert_eq!(found & REFUSED != 0, refused, "{lead:02X} {second:02X}");
            assert_eq!(found & 1 != 0, lead >= 0xC0 && !is_continuation(second), "{lead:02X} {second:02X}");
            assert_eq!(found & 2 != 0, lead < 0xC0 && is_continuation(second), "{lead:02X} {second:02X}");
        }
    }

    #[test]
    fn a_rule_is_in_the_rows_of_its_bytes() {
        let mut rules = Nibbles { high: [0; 16], low: [0; 16], next: [0; 16] };
        rules.add([0xE0, 0xE0], [0x80, 0x9F], 8);
        rules.add([0xF5, 0xF7], [0x9F, 0xA0], 16);
        let rows = |of: &[(usize, u8)]| {
            let mut table = [0; 16];
            of.iter().for_each(|&(row, bits)| table[row] = bits);
            table
        };
        assert_eq!(rules.high, rows(&[(14, 8), (15, 16)]));
        assert_eq!(rules.low, rows(&[(1, 8), (6, 16), (7, 16), (8, 16)]));
        assert_eq!(rules.next, rows(&[(8, 8), (9, 8 | 16), (10, 16)]));
        // Bytes that are not leads share the first row.
        rules.add([0x00, 0xBF], [0x80, 0x80], 1);
        assert_eq!(rules.low[0], 1);
    }
}
