//! The operations on UTF-8 on several threads, for large inputs. The result is that of a single thread, byte for byte.
//!
//! UTF-8 can be cut near any place: a cut moves past up to three continuation bytes. No sequence, whole or truncated,
//! continues after three of them, and a continuation byte of no sequence is an error by itself on either side of a cut. To
//! convert, each of rayon's threads takes a part. First the units of each part are counted, which takes a fraction of the time
//! of decoding; the last part need not be counted if it has room for a unit per byte. Then each thread knows where its
//! units begin, and decodes to that place. A kernel writes past its last unit, where the place of another thread begins, so
//! the last pieces of a part are decoded into a buffer first; for UTF-8 with replacement all pieces are. Pieces with errors
//! are decoded to count their units.
//! Inputs of a few pieces are converted by the calling thread.
//!
//! ```
//! use utfuzz_codec::parallel;
//!
//! let text = "Grüße, 世界 😀 ".repeat(100_000);
//! let mut units = Vec::new();
//! parallel::utf16_lossy_into(text.as_bytes(), &mut units);
//! assert!(units.iter().copied().eq(text.encode_utf16()));
//! ```
#![allow(unsafe_code)]

use crate::kernel::room::{MARGIN, Room};
use crate::utf8::is_continuation;
use crate::{Kernel, Utf8Error};
use core::mem::MaybeUninit;
use rayon::prelude::*;

/// The approximate length of a piece in bytes: it stays in a cache while it is validated and then counted.
const PIECE: usize = 0x1_0000;

/// Starting threads takes longer than converting fewer pieces than this.
const FEW: usize = 16;

/// Checks that `bytes` are well-formed UTF-8.
///
/// # Errors
/// The first error: its offset, its length, its kind.
pub fn validate(bytes: &[u8]) -> Result<(), Utf8Error> {
    let kernel = Kernel::best();
    let first = pieces(bytes).find_map_first(|(at, piece)| Some(at + kernel.validate(piece).err()?.valid_up_to()));
    // The length and kind of an error may depend on the bytes after its piece.
    first.map_or(Ok(()), |at| kernel.validate(&bytes[at..]).map_err(|error| Utf8Error { valid_up_to: at, ..error }))
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
    LOSSY.append(bytes, out);
}

/// Appends `bytes` as UTF-16, with U+FFFD for every maximal subpart. At most one code unit for each byte read.
pub fn utf16_lossy_into(bytes: &[u8], out: &mut Vec<u16>) {
    TO_UTF16.append(bytes, out);
}

/// Appends `bytes` as UTF-32, with U+FFFD for every maximal subpart. At most one code unit for each byte read.
pub fn utf32_lossy_into(bytes: &[u8], out: &mut Vec<u32>) {
    TO_UTF32.append(bytes, out);
}

/// A place, `at` or up to three bytes later, where the input can be cut, as no segment continues there; the end of the input if
/// `at` is after it.
pub fn boundary(bytes: &[u8], at: usize) -> usize {
    const LONGEST: usize = 3;
    let rest = bytes.get(at..).unwrap_or_default();
    at.min(bytes.len()) + rest.iter().take(LONGEST).take_while(|&&byte| is_continuation(byte)).count()
}

/// The pieces of an input, and where they begin.
fn pieces(bytes: &[u8]) -> impl IndexedParallelIterator<Item = (usize, &[u8])> {
    (0..count_of(bytes, PIECE)).into_par_iter().map(|index| part(bytes, index, PIECE))
}

/// How many parts of about this length an input has; the last is shorter than two of them.
fn count_of(bytes: &[u8], len: usize) -> usize {
    (bytes.len() / len).max(1)
}

/// A part of about this length, and where it begins.
fn part(bytes: &[u8], index: usize, len: usize) -> (usize, &[u8]) {
    let cut = |index: usize| match index {
        0 => 0,
        index if index == count_of(bytes, len) => bytes.len(),
        index => boundary(bytes, index * len),
    };
    (cut(index), &bytes[cut(index)..cut(index + 1)])
}

/// A part for each thread, or fewer if the input is short.
fn parts(bytes: &[u8], threads: usize) -> Vec<&[u8]> {
    let len = (bytes.len() / threads).max(FEW / 2 * PIECE);
    (0..count_of(bytes, len)).map(|index| part(bytes, index, len).1).collect()
}

/// Decodes into room for a unit for each byte and [`MARGIN`].
type DecodeTo<U> = fn(Kernel, &[u8], &mut Room<'_, U>);

/// A conversion of UTF-8 to units.
struct Conversion<U> {
    decode: fn(Kernel, &[u8], &mut Vec<U>),
    /// How many units text becomes.
    count: fn(Kernel, &str) -> usize,
    /// `None` if an input may become more units than it has bytes.
    decode_to: Option<DecodeTo<U>>,
}

const LOSSY: Conversion<u8> = Conversion { decode: Kernel::lossy_into, count: |_, text| text.len(), decode_to: None };
const TO_UTF16: Conversion<u16> =
    Conversion { decode: Kernel::utf16_lossy_into, count: Kernel::utf16_len, decode_to: Some(Kernel::utf16_lossy) };
const TO_UTF32: Conversion<u32> =
    Conversion { decode: Kernel::utf32_lossy_into, count: Kernel::char_count, decode_to: Some(Kernel::utf32_lossy) };

impl<U: Copy + Send + Sync> Conversion<U> {
    fn append(&self, bytes: &[u8], out: &mut Vec<U>) {
        let (kernel, threads) = (Kernel::best(), rayon::current_num_threads());
        if threads < 2 || count_of(bytes, PIECE) < FEW {
            return (self.decode)(kernel, bytes, out);
        }
        let parts = parts(bytes, threads);
        let counted = parts.len() - usize::from(self.decode_to.is_some());
        let mut lens: Vec<usize> = parts[..counted].par_iter().map(|part| self.len(kernel, part)).collect();
        lens.extend(parts[counted..].iter().map(|part| part.len()));
        out.reserve(lens.iter().copied().fold(0, usize::saturating_add));
        let mut room = out.spare_capacity_mut();
        let places = lens.iter().map(|&len| {
            let place;
            (place, room) = core::mem::take(&mut room).split_at_mut(len);
            place
        });
        let places: Vec<&mut [MaybeUninit<U>]> = places.collect();
        let written: Vec<usize> =
            places.into_par_iter().zip(&parts).map(|(place, part)| self.fill(kernel, part, place)).collect();
        assert_eq!(written[..counted], lens[..counted], "a kernel counts other units than it decodes");
        let written = written.iter().sum::<usize>();
        // SAFETY: the places whose units were counted are full. Only the last may have been sized by its bytes instead, and its
        // units are at its start. So `written` units are in a row from the end of `out` on.
        unsafe { out.set_len(out.len() + written) };
    }

    /// How many units a part becomes.
    fn len(&self, kernel: Kernel, part: &[u8]) -> usize {
        let of_piece = |buffer: &mut Vec<U>, (_, piece): (usize, &[u8])| match kernel.from_utf8(piece) {
            Ok(text) => (self.count)(kernel, text),
            Err(_) => {
                buffer.clear();
                (self.decode)(kernel, piece, buffer);
                buffer.len()
            }
        };
        pieces(part).map_init(Vec::new, of_piece).sum()
    }

    /// Decodes a part to this place, which has room for its units. Returns how many those are. Pieces for which there might not
    /// be room for all that a kernel writes go through a buffer, as do all if there is no `decode_to`.
    fn fill(&self, kernel: Kernel, part: &[u8], place: &mut [MaybeUninit<U>]) -> usize {
        let mut buffer = Vec::new();
        let mut filled = 0;
        for index in 0..count_of(part, PIECE) {
            let (_, piece) = self::part(part, index, PIECE);
            let place = &mut place[filled..];
            filled += match self.decode_to {
                Some(decode_to) if piece.len() + MARGIN <= place.len() => {
                    let mut room = Room::new(place);
                    decode_to(kernel, piece, &mut room);
                    room.len()
                }
                _ => {
                    buffer.clear();
                    (self.decode)(kernel, piece, &mut buffer);
                    for (to, from) in place[..buffer.len()].iter_mut().zip(&buffer) {
                        to.write(*from);
                    }
                    buffer.len()
                }
            };
        }
        filled
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fastrand::Rng;

    /// ASCII, other text, or text with errors, by the remainder of `seed`, of one to 49 pieces.
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
        let mut rng = Rng::with_seed(seed);
        let count = PIECE * (1 + rng.usize(..3 * FEW)) + rng.usize(..PIECE);
        let most = [1, 4, WORDS.len()][seed as usize % 3];
        let mut bytes = Vec::new();
        while bytes.len() < count {
            bytes.extend_from_slice(WORDS[rng.usize(..most)]);
        }
        bytes
    }

    #[test]
    fn ascii_becomes_what_one_thread_makes_of_it() {
        becomes_what_one_thread_makes_of_it(0);
    }

    #[test]
    fn text_becomes_what_one_thread_makes_of_it() {
        becomes_what_one_thread_makes_of_it(1);
    }

    #[test]
    fn errors_become_what_one_thread_makes_of_them() {
        becomes_what_one_thread_makes_of_it(2);
    }

    /// `kind` is the remainder of the seeds of [`input`]. One test for each, since they take long under mutation testing.
    fn becomes_what_one_thread_makes_of_it(kind: usize) {
        let threads = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        for seed in (kind as u64..24).step_by(3) {
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

    #[test]
    fn each_thread_has_a_part_of_a_long_input() {
        for threads in [2, 3, 8] {
            for more in 0..=threads {
                for pieces in [FEW / 2, FEW] {
                    let bytes = vec![b'a'; threads * pieces * PIECE + more];
                    let parts = parts(&bytes, threads);
                    assert_eq!(parts.len(), threads, "{more} more");
                    let lens = || parts.iter().map(|part| part.len());
                    assert!(lens().max() <= lens().min().map(|least| least + threads), "{more} more");
                }
            }
        }
    }

    #[test]
    fn a_short_input_has_fewer_parts_than_there_are_threads() {
        assert_eq!(parts(&[b'a'; FEW * PIECE], 8).len(), 2);
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

    #[test]
    fn parts_are_about_as_long_as_asked_and_together_the_input() {
        for bytes in [&b""[..], &[b'a'; 99], &[b'a'; 100], &[0x80; 250], "😀".repeat(70).as_bytes()] {
            for len in [10, 50, 100] {
                let parts: Vec<_> = (0..count_of(bytes, len)).map(|index| part(bytes, index, len)).collect();
                let mut end = 0;
                for &(at, part) in &parts {
                    assert_eq!(at, end);
                    end += part.len();
                }
                assert_eq!(parts.iter().map(|(_, part)| *part).collect::<Vec<_>>().concat(), bytes);
                let ((_, last), others) = parts.split_last().unwrap();
                assert!(last.len() < 2 * len, "the last of {} has {} bytes", parts.len(), last.len());
                for (_, part) in others {
                    assert!((len - 3..=len + 3).contains(&part.len()), "{} bytes instead of {len}", part.len());
                }
            }
        }
    }
}
