//! How many units well-formed text has: one for each byte that is no continuation byte, in UTF-16 another for each lead of
//! four.

use crate::codec::count::{chars_by_bytes, utf16_len_by_bytes};
use crate::codec::kernel::replace::WINDOW;
use crate::codec::kernel::vector::Vector;

/// The characters of well-formed `bytes`; with `PAIRS`, the units of UTF-16.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn count<V: Vector, const PAIRS: bool>(bytes: &[u8]) -> usize {
    let (windows, rest) = bytes.as_chunks::<WINDOW>();
    let mut units = if PAIRS { utf16_len_by_bytes(rest) } else { chars_by_bytes(rest) };
    for window in windows {
        for part in 0..WINDOW / V::LEN {
            // SAFETY: the caller has the instructions, and a part has `V::LEN` bytes.
            unsafe {
                let bytes = V::load(window.as_ptr().add(part * V::LEN));
                units += V::LEN - bytes.continuations().count_ones() as usize;
                if PAIRS {
                    units += bytes.leads_of_4().count_ones() as usize;
                }
            }
        }
    }
    units
}
