//! How many characters well-formed text has: one for each byte that is no continuation byte.

use super::replace::WINDOW;
use super::vector::Vector;
use super::window::opaque;
use crate::decode::count::{Lengths, lengths_by_bytes};

/// The lengths of well-formed `bytes`.
///
/// # Safety
/// The processor has the instructions of `V`.
#[inline(always)]
pub(super) unsafe fn lengths<V: Vector>(bytes: &[u8]) -> Lengths {
    let (windows, rest) = bytes.as_chunks::<WINDOW>();
    let mut all = lengths_by_bytes(rest);
    for window in windows {
        for part in window.as_chunks::<16>().0.chunks_exact(V::LEN / 16) {
            // SAFETY: the caller has the instructions, and a part has `V::LEN` bytes.
            unsafe {
                let bytes = V::load(part.as_ptr().cast());
                let once = bytes.doubled();
                let (bit_7, bit_6) = (opaque(bytes.signs()), opaque(once.signs()));
                let bits_5_4 = opaque(once.doubled().signs()) & opaque(once.doubled().doubled().signs());
                all.chars += V::LEN - (bit_7 & !bit_6).count_ones() as usize;
                all.of_four += (bit_7 & bit_6 & bits_5_4).count_ones() as usize;
            }
        }
    }
    all
}
