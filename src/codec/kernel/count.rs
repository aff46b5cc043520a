//! How long well-formed UTF-8 is in UTF-32 and UTF-16, in code units.
//!
//! A character has exactly one byte that is not a continuation byte, and makes two units of UTF-16 exactly where that byte is
//! F0 or above. So bytes are counted, not decoded:
//!
//! ```text
//! UTF-32: bytes - continuation bytes
//! UTF-16: the same + leads of four bytes
//! ```
//!
//! Example, `61 C3 A9 F0 9F 98 80` (`aé😀`): seven bytes, four of them continuation bytes (A9 9F 98 80), one lead from F0 on.
//! UTF-32 has 7 - 4 = 3 units, UTF-16 has 4.
//!
//! A register costs a load, a few operations for the mask and a population count. Up to 63 bytes at the end are counted by
//! a plain loop, which is all there is for shorter text: there nothing is gained. With SSE4.1 alone there is no instruction
//! for the population count, so each mask costs a dozen instructions.

use crate::codec::kernel::vector::Vector;
use crate::codec::kernel::window::WINDOW;
use crate::codec::scalar::{chars_by_bytes, utf16_len_by_bytes};

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
            // SAFETY: part `p` reads `p * LEN..(p + 1) * LEN` of the window, and the last ends at 64.
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
