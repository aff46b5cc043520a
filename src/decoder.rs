//! The trait a decoder implements to be judged.
//!
//! Adapters translate and do nothing else: they never compare, assert or repair.

use crate::spec::Contract;
use crate::utf8::Validity;

/// A decoder under test.
///
/// Each question may be answered `None`: "this decoder cannot say". That is never taken for "rejected".
pub trait Decoder: Send + Sync {
    /// Who this is, and what it promises.
    fn info(&self) -> &Info;

    /// Is `bytes` well-formed, and if not, where and how?
    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        let _ = bytes;
        None
    }

    /// Appends to `out`, whatever that holds already, the decoded text, ill-formed units replaced as the contract says.
    ///
    /// A decoder whose output is UTF-16 or code points writes generalised UTF-8, surrogates as three bytes. One whose
    /// contract has no replacement decodes what is well-formed, and answers `None` to what it refuses.
    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let _ = (bytes, out);
        None
    }

    /// A decoder for input in chunks, at the start of a stream. Several may be alive at once, and one may be dropped
    /// before its end; none may feel another.
    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        None
    }
}

/// A decoder fed in chunks.
pub trait Stream {
    /// Takes the next chunk, which may be empty, and appends what it decodes to `out`.
    ///
    /// `out` may be another buffer each time, and what it holds already is not to be looked at or changed.
    ///
    /// Nothing is written where the contract has no replacement.
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>);

    /// Ends the stream, appends what is left to `out`, and says what the whole stream was, if it can.
    ///
    /// Offsets count from the start of the stream. A finished stream starts fresh with the next `push`; a stream that is
    /// given nothing may be finished too, and is the empty string.
    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity>;
}

/// Who a decoder is and what it promises.
#[derive(Clone, Debug)]
pub struct Info {
    /// The name, unique among the decoders judged together: lower case, digits, hyphens, underscores.
    pub name: &'static str,
    /// The version of the implementation.
    pub version: &'static str,
    /// The crate or library the version is of; equal to the package name in `Cargo.lock` where there is one.
    pub package: &'static str,
    /// What it promises.
    pub contract: Contract,
    /// Whose code really runs for an input of so many bytes. A verdict counts lineages, not names.
    pub lineage: fn(usize) -> &'static str,
}
