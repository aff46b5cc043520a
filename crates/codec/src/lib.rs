//! Our own codec: UTF-8 by RFC 3629, one U+FFFD for each maximal subpart, exact error offsets and lengths.
//!
//! The functions here run on [`Kernel::best`], the fastest kernel this processor can run. Functions named `*_into`
//! append. Those named `lossy` write U+FFFD for what is ill-formed: in UTF-8 for every maximal subpart, in UTF-16 for
//! every lone surrogate, in UTF-32 for every number that is not a scalar value. Other functions named `*_into` append
//! nothing if there is an error, and return where the first one is.
//!
//! Input in chunks is decoded by [`Streaming`], into which the caller pushes bytes, and [`Utf8Reader`], which pulls them
//! from another reader.
//!
//! In the comments, bytes, code units and code points are hexadecimal, without a prefix; lengths and counts are decimal.
//!
//! Modules are declared lowest layer first: each imports only modules declared before it.

pub mod utf8;

mod scalar;

mod kernel;

mod decode;

#[cfg(feature = "rayon")]
pub mod parallel;

pub use decode::*;
pub use kernel::{Kernel, KernelInfo, Path, Registers};
pub use scalar::{Chars, Errors, Utf8Error, chars, errors};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
mod readme {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_automaton_tells_text_from_what_is_none_and_from_what_may_become_text() {
        /// The first and the last byte of every range that RFC 3629 tells apart.
        const ENDS: [u8; 24] = [
            0x00, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC0, 0xC1, 0xC2, 0xDF, 0xE0, 0xE1, 0xEC, 0xED, 0xEE, 0xEF,
            0xF0, 0xF1, 0xF3, 0xF4, 0xF5, 0xFF,
        ];
        let next = scalar::next();
        let after = |bytes: &[u8]| bytes.iter().fold(0, |state, &byte| next[usize::from(byte)] >> (state & 63)) & 63;
        let (text, none) = (after(b""), after(b"\xFF"));
        for index in (0..ENDS.len().pow(4)).step_by(if cfg!(miri) { 997 } else { 1 }) {
            let bytes = [0, 1, 2, 3].map(|place| ENDS[index / ENDS.len().pow(place) % ENDS.len()]);
            for len in 1..=bytes.len() {
                let state = after(&bytes[..len]);
                let standard = str::from_utf8(&bytes[..len]);
                assert_eq!(state == text, standard.is_ok(), "{:02X?}", &bytes[..len]);
                let is_wrong = standard.is_err_and(|error| error.error_len().is_some());
                assert_eq!(state == none, is_wrong, "{:02X?}", &bytes[..len]);
            }
        }
    }
}
