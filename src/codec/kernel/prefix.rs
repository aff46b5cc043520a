//! The well-formed prefix of a byte string, register by register.
//!
//! A byte is judged by itself and the three before it, which are read again from memory, one, two and three places
//! earlier: loads that straddle a cache line cost less here than shuffles would, which the lookups need. They cost enough
//! to ask first whether there are sequences that long. So nothing is carried from register to register but what was found
//! wrong. The last register may overlap the one before it: to judge a byte twice does no harm.

use crate::codec::automaton;
use crate::codec::automaton::{boundary, pending};
use crate::codec::kernel::vector::Vector;

/// Registers judged together. Each is checked for ASCII with the others: one branch, taken the same way by most text.
const GROUP: usize = 8;

/// Registers of a group that are passed over if all of them are ASCII.
const HALF: usize = GROUP / 2;

/// Up to so many bytes are judged by [`short_prefix`], more by [`long_prefix`]: no less than two registers of any kernel.
pub(super) const SHORT: usize = 128;

/// Length in bytes of a prefix of `bytes` that is well-formed and ends between two sequences: [`short_prefix`] or
/// [`long_prefix`].
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn well_formed_prefix<V: Vector>(bytes: &[u8]) -> usize {
    // SAFETY: the caller has the instructions.
    unsafe { if bytes.len() <= SHORT { short_prefix::<V>(bytes) } else { long_prefix::<V>(bytes) } }
}

/// Length in bytes of a prefix of at most [`SHORT`] `bytes` that is well-formed and ends between two sequences. Behind it
/// there is an error, or an incomplete sequence, or nothing.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn short_prefix<V: Vector>(bytes: &[u8]) -> usize {
    let (start, len) = (bytes.as_ptr(), bytes.len());
    if len < V::LEN {
        // SAFETY: the caller has the instructions.
        return unsafe { V::short_prefix(bytes) };
    }
    if len == V::LEN {
        // SAFETY: the caller has the instructions.
        return unsafe { prefix_of(V::load(start), bytes, !0) };
    }
    // SAFETY: every load is of `V::LEN` bytes that end within `bytes`, with three bytes before all but the first.
    unsafe {
        let (first, last) = (V::load(start), V::load(start.add(len - V::LEN)));
        if or_all(start, V::LEN, len, first).is_ascii() {
            return len;
        }
        let mut found = first.check(first.later(), V::nothing());
        // Too few bytes may stand before the last register to judge it.
        if matches!(len - V::LEN, 1 | 2) {
            let good = if V::is_wrong(found) { 0 } else { boundary(bytes, V::LEN) };
            return good + automaton::well_formed_prefix(&bytes[good..]);
        }
        found = check_all::<V>(start, V::LEN, len, found);
        match () {
            () if last.is_complete(found) => len,
            () if V::is_wrong(found) => 0,
            () => boundary(bytes, len),
        }
    }
}

/// Length of a prefix of `bytes` that is well-formed and ends between two sequences: they are those of `all` that are
/// `there`, and the others are zeros.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn prefix_of<V: Vector>(all: V, bytes: &[u8], there: u64) -> usize {
    // SAFETY: as the caller says.
    unsafe {
        if all.is_ascii() {
            return bytes.len();
        }
        // What a sequence that is cut off asks for, it asks of the zeros, where there are any.
        let found = all.check(all.later(), V::nothing());
        match () {
            () if all.is_complete(found) => bytes.len(),
            () if V::wrong(found) & there == 0 => boundary(bytes, bytes.len()),
            () => 0,
        }
    }
}

/// The same as [`short_prefix`] of more than [`SHORT`] bytes. An error is within the next [`GROUP`] registers.
///
/// # Safety
/// The processor has the instructions of `V`; there are more bytes than [`SHORT`].
#[inline(always)]
pub(super) unsafe fn long_prefix<V: Vector>(bytes: &[u8]) -> usize {
    let (start, len) = (bytes.as_ptr(), bytes.len());
    // From the first boundary of a register that has three bytes before it; those behind the first register and before
    // that boundary, if there are any, are judged by one more.
    let mut at = start.align_offset(V::LEN);
    // SAFETY: every load is of `V::LEN` bytes that end within `bytes`, with three bytes before all but the first.
    unsafe {
        let first = V::load(start);
        if !first.is_ascii() && V::is_wrong(first.check(first.later(), V::nothing())) {
            return 0;
        }
        if at < 3 {
            at += V::LEN;
            if V::is_wrong(check::<V, 4>(start.add(3), V::nothing())) {
                return boundary(bytes, 3);
            }
        }
        while len - at >= GROUP * V::LEN {
            let group = start.add(at);
            // The highest byte of each half, also of those that a sequence may begin with that goes on in the first.
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
            // A half that is ASCII is passed over.
            let found = match () {
                () if first.is_ascii() => check_row::<V, HALF>(group.add(HALF * V::LEN), highest),
                () if second.is_ascii() && pending(bytes, at + HALF * V::LEN) == 0 => {
                    check_row::<V, HALF>(group, highest)
                }
                () => check_row::<V, GROUP>(group, highest),
            };
            if V::is_wrong(found) {
                return boundary(bytes, at);
            }
            at += GROUP * V::LEN;
        }
        let last = V::load(start.add(len - V::LEN));
        match () {
            () if or_all(start, at, len, last).is_ascii() && pending(bytes, at) == 0 => len,
            () => {
                let found = check_all::<V>(start, at, len, V::nothing());
                match () {
                    () if last.is_complete(found) => len,
                    () if V::is_wrong(found) => boundary(bytes, at),
                    () => boundary(bytes, len),
                }
            }
        }
    }
}

/// Whether a group is ASCII.
///
/// # Safety
/// It can be read at `from`; the processor has the instructions of `V`.
#[inline(always)]
unsafe fn is_ascii_group<V: Vector>(from: *const u8) -> bool {
    // SAFETY: as the caller says.
    unsafe {
        let mut all = V::load(from);
        for index in 1..GROUP {
            all = all.or(V::load(from.add(index * V::LEN)));
        }
        all.is_ascii()
    }
}

/// The bits that are set in `all`, or in any byte from `at` on.
///
/// # Safety
/// `len` bytes can be read from `start`, and they are at least `V::LEN`; the processor has the instructions of `V`.
#[inline(always)]
unsafe fn or_all<V: Vector>(start: *const u8, mut at: usize, len: usize, mut all: V) -> V {
    // SAFETY: as the caller says.
    unsafe {
        while at + V::LEN < len {
            all = all.or(V::load(start.add(at)));
            at += V::LEN;
        }
        all.or(V::load(start.add(len - V::LEN)))
    }
}

/// Judges every byte from `at` on, the last register whole.
///
/// # Safety
/// `len` bytes can be read from `start`, of which there are three more than a register has, and `at` is at least three;
/// the processor has the instructions of `V`.
#[inline(always)]
unsafe fn check_all<V: Vector>(start: *const u8, mut at: usize, len: usize, mut found: V::Found) -> V::Found {
    // SAFETY: as the caller says.
    unsafe {
        while at + V::LEN < len {
            found = check::<V, 4>(start.add(at), found);
            at += V::LEN;
        }
        check::<V, 4>(start.add(len - V::LEN), found)
    }
}

/// The highest of each byte of half a group.
///
/// # Safety
/// It can be read at `from`; the processor has the instructions of `V`.
#[inline(always)]
unsafe fn highest<V: Vector>(from: *const u8) -> V {
    // SAFETY: as the caller says.
    unsafe {
        let mut highest = V::load(from);
        for index in 1..HALF {
            highest = highest.max(V::load(from.add(index * V::LEN)));
        }
        highest
    }
}

/// Judges so many registers. No byte of them, nor of the three before, is higher than the `highest`.
///
/// # Safety
/// As of [`check`], for each register.
#[inline(always)]
unsafe fn check_row<V: Vector, const COUNT: usize>(from: *const u8, highest: V) -> V::Found {
    // SAFETY: as the caller says.
    unsafe {
        let mut found = V::nothing();
        match () {
            () if highest.is_below(0xE0) => {
                for index in 0..COUNT {
                    found = check::<V, 2>(from.add(index * V::LEN), found);
                }
            }
            () if highest.is_below(0xF0) => {
                for index in 0..COUNT {
                    found = check::<V, 3>(from.add(index * V::LEN), found);
                }
            }
            () => {
                for index in 0..COUNT {
                    found = check::<V, 4>(from.add(index * V::LEN), found);
                }
            }
        }
        found
    }
}

/// Judges the register at `from`, with those before it that can begin a sequence of at most `LONGEST` bytes.
///
/// # Safety
/// `V::LEN` bytes can be read there, and three before.
#[inline(always)]
unsafe fn check<V: Vector, const LONGEST: usize>(from: *const u8, found: V::Found) -> V::Found {
    // SAFETY: as the caller says.
    unsafe {
        let two = if LONGEST > 2 { V::load(from.sub(2)) } else { V::zero() };
        let three = if LONGEST > 3 { V::load(from.sub(3)) } else { V::zero() };
        V::load(from).check([V::load(from.sub(1)), two, three], found)
    }
}
