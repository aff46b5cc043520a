//! The executable standard: every expected answer in this crate comes from here.
//!
//! Grammars are tables ([`grammar`]), policies are data ([`policy`]), and one loop ([`model`]) reads bytes by
//! them. It is slow and obvious on purpose; it is checked against published vectors and against `core::str` on every
//! short string, and everything else is checked against it.

mod charset;
pub mod grammar;
pub mod model;
pub mod policy;
mod rule;
mod text;

pub use charset::Charset;
pub use grammar::Grammar;
pub use model::{Reading, Unit, Units, code_points, detected_at, encode, lossy, units, utf16, validity};
pub use policy::{Bom, Contract, Detection, End, Replacement, UnitRule};
pub use rule::Rule;
pub use text::{Unencodable, concatenate, decode, encode_text, encode_utf16};
