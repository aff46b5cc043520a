//! The well-formed prefix of a byte string, register by register.
//!
//! A byte is judged by itself and the three before it, which are read again from memory, one, two and three places
//! earlier: loads that straddle a cache line cost less here than shuffles would, which the lookups need. So nothing is
//! carried from register to register but what was found wrong. The last register may overlap the one before it: to
//! judge a byte twice does no harm. What is left to the caller are fewer than eight registers, the first of them wrong
//! or the string too short.

use super::vector::Vector;

/// Registers judged together. Each is checked for ASCII with the others: one branch, taken the same way by most text.
const GROUP: usize = 8;

/// Length in bytes of a prefix of `bytes` that is well-formed, and ends between two sequences. Behind it there is an
/// error within the next [`GROUP`] registers, or nothing, or three bytes, or `bytes` are shorter than a register.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn well_formed_prefix<V: Vector>(bytes: &[u8]) -> usize {
    let len = bytes.len();
    if len < V::LEN + 3 {
        // SAFETY: the caller has the instructions.
        let mut good = unsafe { V::short_prefix(&bytes[..len.min(V::LEN)]) };
        // Two bytes at most are left behind a whole register.
        while good >= V::LEN && good < len && bytes[good].is_ascii() {
            good += 1;
        }
        return good;
    }
    let start = bytes.as_ptr();
    // SAFETY: `len` is at least `V::LEN + 3`.
    unsafe {
        let first = V::load(start);
        if len <= 2 * V::LEN {
            let last = start.add(len - V::LEN);
            if first.or(V::load(last)).is_ascii() {
                return len;
            }
            let found = check::<V>(last, first.check(first.later(), V::nothing()));
            return if V::is_wrong(found) { 0 } else { boundary(bytes, len) };
        }
        if !first.is_ascii() && V::is_wrong(first.check(first.later(), V::nothing())) {
            return 0;
        }
    }
    // From the first boundary of a register that has three bytes before it; those behind the first register and before
    // that boundary, if there are any, are judged by one more.
    let mut at = start.align_offset(V::LEN);
    if at < 3 {
        at += V::LEN;
        // SAFETY: `len` is at least `V::LEN + 3`.
        if unsafe { V::is_wrong(check::<V>(start.add(3), V::nothing())) } {
            return boundary(bytes, 3);
        }
    }
    while len.saturating_sub(at) >= GROUP * V::LEN {
        // SAFETY: `at` is at least 3, and so many bytes follow.
        unsafe {
            let group = start.add(at);
            let mut all = V::load(group);
            for index in 1..GROUP {
                all = all.or(V::load(group.add(index * V::LEN)));
            }
            if all.is_ascii() {
                if pending(bytes, at) > 0 {
                    return boundary(bytes, at);
                }
            } else {
                let mut found = V::nothing();
                for index in 0..GROUP {
                    found = check::<V>(group.add(index * V::LEN), found);
                }
                if V::is_wrong(found) {
                    return boundary(bytes, at);
                }
            }
        }
        at += GROUP * V::LEN;
    }
    // SAFETY: every load is of `V::LEN` bytes that end within `bytes`, with three bytes before them.
    unsafe {
        let mut all = V::load(start.add(len - V::LEN));
        let mut next = at;
        while next + V::LEN <= len {
            all = all.or(V::load(start.add(next)));
            next += V::LEN;
        }
        if all.is_ascii() {
            return if pending(bytes, at.min(len)) > 0 { boundary(bytes, at.min(len)) } else { len };
        }
        let mut found = V::nothing();
        let mut next = at;
        while next + V::LEN <= len {
            found = check::<V>(start.add(next), found);
            next += V::LEN;
        }
        found = check::<V>(start.add(len - V::LEN), found);
        if V::is_wrong(found) {
            return boundary(bytes, at.min(len));
        }
    }
    boundary(bytes, len)
}

/// Judges the register at `from`.
///
/// # Safety
/// `V::LEN` bytes can be read there, and three before.
#[inline(always)]
unsafe fn check<V: Vector>(from: *const u8, found: V::Found) -> V::Found {
    // SAFETY: as the caller says.
    unsafe {
        let before = [V::load(from.sub(1)), V::load(from.sub(2)), V::load(from.sub(3))];
        V::load(from).check(before, found)
    }
}

/// How many bytes before `at` belong to a sequence that goes on there; the bytes before it are well-formed.
#[inline(always)]
pub(super) fn pending(bytes: &[u8], at: usize) -> usize {
    let byte = |back: usize| at.checked_sub(back).and_then(|index| bytes.get(index)).copied().unwrap_or(0);
    match () {
        () if byte(1) >= 0xC0 => 1,
        () if byte(2) >= 0xE0 => 2,
        () if byte(3) >= 0xF0 => 3,
        () => 0,
    }
}

/// The last place up to `at` that no sequence spans.
#[inline(always)]
pub(super) fn boundary(bytes: &[u8], at: usize) -> usize {
    at - pending(bytes, at)
}
