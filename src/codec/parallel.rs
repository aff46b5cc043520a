//! The operations on UTF-8 on several threads, for large inputs. The result is that of a single thread, byte for byte.
//!
//! UTF-8 can be cut anywhere: no sequence, and no maximal subpart, continues after three continuation bytes, or begins
//! with one. Pieces are decoded on rayon's threads into buffers that stay in the caches, some pieces for each thread at a
//! time, and then copied to their places. Inputs of less than two pieces are left to the thread that asks.
//!
//! ```
//! use utfuzz::codec::parallel;
//!
//! let text = "Grüße, 世界 😀 ".repeat(100_000);
//! let mut units = Vec::new();
//! parallel::utf16_lossy_into(text.as_bytes(), &mut units);
//! assert!(units.iter().copied().eq(text.encode_utf16()));
//! ```
#![allow(unsafe_code)]

use crate::codec::{Kernel, Utf8Error};
use crate::utf8::is_continuation;
use core::mem::MaybeUninit;
use rayon::prelude::*;

/// The approximate length of a piece in bytes.
const PIECE: usize = 1 << 18;

/// How many pieces each thread has at a time.
const EACH: usize = 4;

/// Checks that `bytes` are well-formed UTF-8.
///
/// # Errors
/// The first error: its offset, its length, its kind.
pub fn validate(bytes: &[u8]) -> Result<(), Utf8Error> {
    let kernel = Kernel::best();
    let first = pieces(bytes).find_map_first(|(at, piece)| Some(at + kernel.validate(piece).err()?.valid_up_to()));
    // The length and kind of an error may depend on the bytes after its piece.
    first.map_or(Ok(()), |at| {
        kernel.validate(&bytes[at..]).map_err(|error| Utf8Error { valid_up_to: at + error.valid_up_to, ..error })
    })
}

/// How many characters `text` has.
pub fn char_count(text: &str) -> usize {
    count(text, Kernel::char_count)
}

/// How many code units `text` has in UTF-16.
pub fn utf16_len(text: &str) -> usize {
    count(text, Kernel::utf16_len)
}

fn count(text: &str, count: fn(Kernel, &str) -> usize) -> usize {
    let kernel = Kernel::best();
    // In text, a boundary is between two characters.
    let piece = |(at, piece): (usize, &[u8])| text.get(at..at + piece.len()).map_or(0, |piece| count(kernel, piece));
    pieces(text.as_bytes()).map(piece).sum()
}

/// Appends `bytes` with U+FFFD for every maximal subpart. At most three bytes are written for each byte read.
pub fn lossy_into(bytes: &[u8], out: &mut Vec<u8>) {
    append(bytes, out, Kernel::lossy_into);
}

/// Appends `bytes` as UTF-16, with U+FFFD for every maximal subpart. At most one code unit for each byte read.
pub fn utf16_lossy_into(bytes: &[u8], out: &mut Vec<u16>) {
    append(bytes, out, Kernel::utf16_lossy_into);
}

/// Appends `bytes` as UTF-32, with U+FFFD for every maximal subpart. At most one code unit for each byte read.
pub fn utf32_lossy_into(bytes: &[u8], out: &mut Vec<u32>) {
    append(bytes, out, Kernel::utf32_lossy_into);
}

/// Where the input can be cut at `at` or up to three bytes later: no segment continues there.
pub(crate) fn boundary(bytes: &[u8], at: usize) -> usize {
    const LONGEST: usize = 3;
    let rest = bytes.get(at..).unwrap_or_default();
    at.min(bytes.len()) + rest.iter().take(LONGEST).take_while(|&&byte| is_continuation(byte)).count()
}

/// The pieces of an input, and where they begin.
fn pieces(bytes: &[u8]) -> impl IndexedParallelIterator<Item = (usize, &[u8])> {
    let count = (bytes.len() / PIECE).max(1);
    let cut = move |index: usize| match index {
        0 => 0,
        index if index == count => bytes.len(),
        index => boundary(bytes, index * PIECE),
    };
    (0..count).into_par_iter().map(move |index| (cut(index), &bytes[cut(index)..cut(index + 1)]))
}

fn append<U: Copy + Send + Sync>(bytes: &[u8], out: &mut Vec<U>, decode: fn(Kernel, &[u8], &mut Vec<U>)) {
    let (kernel, threads) = (Kernel::best(), rayon::current_num_threads());
    if threads < 2 || bytes.len() < 2 * PIECE {
        return decode(kernel, bytes, out);
    }
    let mut buffers: Vec<Vec<U>> = vec![Vec::new(); EACH * threads];
    let mut at = 0;
    while at < bytes.len() {
        let end = boundary(bytes, at + buffers.len() * PIECE);
        let round = &bytes[at..end];
        let used = pieces(round).len();
        let filled = &mut buffers[..used];
        pieces(round).zip(&mut *filled).for_each(|((_, piece), buffer)| {
            buffer.clear();
            decode(kernel, piece, buffer);
        });
        let len = filled.iter().map(Vec::len).sum();
        // The rounds to come are likely to take as much room as this one.
        if out.capacity() - out.len() < len {
            out.reserve(len.saturating_mul((bytes.len() - at).div_ceil(round.len())));
        }
        let mut room = &mut out.spare_capacity_mut()[..len];
        let places = filled.iter().map(|buffer| {
            let place;
            (place, room) = core::mem::take(&mut room).split_at_mut(buffer.len());
            place
        });
        let places: Vec<&mut [MaybeUninit<U>]> = places.collect();
        places.into_par_iter().zip(&*filled).for_each(|(place, buffer)| {
            for (to, from) in place.iter_mut().zip(buffer) {
                to.write(*from);
            }
        });
        // SAFETY: the places together are the first `len` units of the spare capacity, and each was written.
        unsafe { out.set_len(out.len() + len) };
        at = end;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Rng;

    /// Text and errors, longer than a few pieces.
    fn input(seed: u64) -> Vec<u8> {
        const WORDS: [&[u8]; 8] = [
            b"word ",
            "é".as_bytes(),
            "世界".as_bytes(),
            "😀".as_bytes(),
            b"\xFF",
            b"\x80\x80\x80\x80",
            b"\xE4\xB8",
            b"\xF0\x9F\x98",
        ];
        let mut rng = Rng::new(seed);
        let (count, most) =
            (PIECE * (1 + rng.below(9)) + rng.below(PIECE), if seed.is_multiple_of(2) { 4 } else { WORDS.len() });
        let mut bytes = Vec::new();
        while bytes.len() < count {
            bytes.extend_from_slice(WORDS[rng.below(most)]);
        }
        bytes
    }

    #[test]
    fn the_answer_is_that_of_one_thread() {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for seed in 0..24 {
            let bytes = input(seed);
            let kernel = Kernel::best();
            let (mut utf8, mut utf16, mut utf32) = (b"x".to_vec(), vec![1], vec![1]);
            kernel.lossy_into(&bytes, &mut utf8);
            kernel.utf16_lossy_into(&bytes, &mut utf16);
            kernel.utf32_lossy_into(&bytes, &mut utf32);
            threads.install(|| {
                let (mut utf8_too, mut utf16_too, mut utf32_too) = (b"x".to_vec(), vec![1], vec![1]);
                lossy_into(&bytes, &mut utf8_too);
                utf16_lossy_into(&bytes, &mut utf16_too);
                utf32_lossy_into(&bytes, &mut utf32_too);
                assert!(utf8 == utf8_too && utf16 == utf16_too && utf32 == utf32_too, "seed {seed}");
                assert_eq!(validate(&bytes), kernel.validate(&bytes), "seed {seed}");
                let text = str::from_utf8(&utf8).unwrap();
                assert_eq!((char_count(text), utf16_len(text)), (kernel.char_count(text), kernel.utf16_len(text)));
            });
        }
    }

    /// One error at each place around the edge of a piece.
    #[test]
    fn an_error_is_found_where_pieces_meet() {
        for error in [&b"\xFF"[..], b"\x80", b"\x80\x80\x80\x80", b"\xE4\xB8", b"\xF0\x9F\x98", b"\xED\xA0\x80"] {
            for at in 2 * PIECE - 8..2 * PIECE + 8 {
                let mut bytes = vec![b'a'; 4 * PIECE];
                bytes[at..at + error.len()].copy_from_slice(error);
                assert_eq!(validate(&bytes), Kernel::best().validate(&bytes), "{error:02X?} at {at}");
            }
        }
        assert_eq!(validate(b""), Ok(()));
        let cut = &"é".repeat(PIECE).into_bytes()[..2 * PIECE - 1];
        assert_eq!(validate(cut).unwrap_err().error_len(), None);
    }

    #[test]
    fn a_boundary_is_where_no_segment_continues() {
        assert_eq!(boundary("aé".as_bytes(), 1), 1);
        assert_eq!(boundary("aé".as_bytes(), 2), 3);
        assert_eq!(boundary("😀".as_bytes(), 1), 4);
        assert_eq!(boundary(b"\x80\x80\x80\x80\x80", 0), 3);
        assert_eq!((boundary(b"a", 1), boundary(b"a", 9)), (1, 1));
    }
}
