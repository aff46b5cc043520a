//! The executable standard: every expected answer in this crate comes from here.
//!
//! Grammars are tables ([`grammar`]), policies are data ([`policy`]), and one loop ([`model`]) reads bytes accordingly.
//! It is slow and obvious on purpose; it is checked against published vectors and against `core::str` on every short
//! string, and everything else is checked against it.
//!
//! ```
//! # use utfuzz_core as utfuzz;
//! use utfuzz::spec::{Contract, Grammar, decode, encode_text, validity};
//!
//! let overlong = validity(&Contract::STANDARD, b"a\xC0\xAF");
//! assert_eq!(overlong.to_string(), "invalid at 1, length 1, overlong-2");
//!
//! let wtf_8 = Contract { grammar: Grammar::named("wtf-8").unwrap(), ..Contract::VALIDATOR };
//! let (mut code_points, mut bytes) = (Vec::new(), Vec::new());
//! decode(&wtf_8, b"\xED\xA0\xBD", &mut code_points).unwrap();
//! encode_text(&wtf_8, &[0xD83D, 0xDE00], &mut bytes).unwrap();
//! assert_eq!((&code_points[..], &bytes[..]), (&[0xD83D][..], "\u{1F600}".as_bytes()));
//! ```

pub mod grammar;
pub mod model;
pub mod policy;

pub use grammar::Grammar;
pub use model::{
    Reading, Rule, Segment, Segments, Unencodable, code_points, concatenate, decode, detected_at, encode, encode_text,
    encode_utf16, lossy, segments, utf16, validity,
};
pub use policy::{Bom, Charset, Contract, Detection, End, Replacement, Segmentation};
