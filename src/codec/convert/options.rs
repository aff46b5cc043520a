//! How a conversion goes about what is not plain text.

use crate::codec::convert::encoding::Encoding;
use crate::error::Error;
use crate::spec::{Replacement, UnitRule};

/// How a conversion goes about errors, byte order marks and surrogates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// What is written for an ill-formed unit; none where the first ends the conversion.
    ///
    /// U+FFFD stands for what the other encoding cannot say too, or `?` where it has no U+FFFD; `Drop` leaves that out. The
    /// others say what ill-formed bytes are, and what cannot be encoded still ends the conversion.
    pub on_error: Option<Replacement>,
    /// How ill-formed bytes of UTF-8 and its relatives are cut into units: each is replaced, or the first ends the
    /// conversion, and is so long.
    pub unit: UnitRule,
    /// What becomes of a byte order mark.
    pub mark: Mark,
    /// What becomes of unpaired surrogates.
    pub surrogates: Surrogates,
}

/// What becomes of a byte order mark: of U+FEFF at the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// As the encodings have it: UTF-16 and UTF-32 without a byte order start with one, which is no part of the text; in any
    /// other encoding it is kept.
    AsEncoded,
    /// It is part of the text.
    Keep,
    /// It is left out.
    Strip,
    /// The output starts with one, whether the input does or not.
    Add,
    /// It says what the input is in, whatever was named, and is left out.
    Detect,
}

/// What becomes of unpaired surrogates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surrogates {
    /// They are ill-formed, but for the encodings that have them: RFC 2279, WTF-8, UTF-8B (which has some).
    Refuse,
    /// They are code points like others, to be read and written.
    Pass,
}

impl Options {
    /// The first error ends the conversion.
    pub const STRICT: Self =
        Self { on_error: None, unit: UnitRule::MaximalSubpart, mark: Mark::AsEncoded, surrogates: Surrogates::Refuse };

    /// Whether all of this makes sense from one encoding to the other.
    ///
    /// # Errors
    /// What does not.
    pub(super) fn check(&self, from: Encoding, to: Encoding) -> Result<(), Error> {
        let by_bytes = match self.on_error {
            None | Some(Replacement::ReplacementCharacter | Replacement::Drop) => false,
            Some(_) => true,
        };
        let wrong = if by_bytes && !from.is_octets() && !from.is_single_byte() {
            format!("ill-formed {from} is not made of single bytes to be replaced; let errors be replaced or skipped")
        } else if self.unit != UnitRule::MaximalSubpart && !from.is_octets() {
            format!("{from} is no relative of UTF-8, so there is no policy to cut it by; leave the policy out")
        } else if self.unit == UnitRule::Run && self.on_error.is_none() {
            "a run of errors is one, and the first error of it ends it all; leave the policy out".into()
        } else if self.mark == Mark::Add && !to.has_byte_order_mark() {
            format!("{to} has no byte order mark to add")
        } else if self.mark == Mark::Strip && to.is_marked() {
            format!("{to} begins with a byte order mark; name {to}LE or {to}BE to have none")
        } else {
            return Ok(());
        };
        Err(Error::usage(wrong))
    }
}
