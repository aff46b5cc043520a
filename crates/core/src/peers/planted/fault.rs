//! The rows of the fault tables, and helpers to build planted decoders.

use crate::codec::{self, errors, lossy_into};
use crate::decoder::Stream;
use crate::peers::own::validity;
use crate::spec::Contract;
use crate::utf8::{ErrorLen, Malformed, Validity, is_continuation};

/// A fault, and where it was reported.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// A letter for the category (g: grammar, s: blocks and buffers, r: replacement, t: streams, m: memory, x:
    /// relatives of UTF-8, h: hard) and a number.
    pub id: &'static str,
    /// What the decoder does wrong.
    pub fault: &'static str,
    /// The decoders that had it, or one of its family; or that it is invented.
    pub citation: &'static str,
    /// The signatures that the fault implies, without the decoder: `law/subject/shape`, with `*` for any characters.
    ///
    /// They are derived from the fault, not from what the harness finds. The shape is given if the fault depends on the
    /// position. If the fault breaks several laws at once, the strongest is given.
    pub expected_signatures: &'static [&'static str],
}

/// Our decoder, with one or more answers replaced.
#[derive(Clone, Copy)]
pub(super) struct Planted {
    pub(super) row: Row,
    /// The decoder's name, unless it is "planted-" and the id.
    pub(super) name: Option<&'static str>,
    pub(super) contract: Contract,
    pub(super) validate: fn(&[u8]) -> Option<Validity>,
    pub(super) lossy: fn(&[u8], &mut Vec<u8>),
    pub(super) stream: fn() -> Option<Box<dyn Stream>>,
}

/// A correct decoder, to which a fault is added: `Planted { lossy: ..., ..sound(...) }`. The arguments are the fields
/// of [`Row`].
pub(super) const fn sound(
    id: &'static str,
    fault: &'static str,
    citation: &'static str,
    expected_signatures: &'static [&'static str],
) -> Planted {
    Planted {
        row: Row { id, fault, citation, expected_signatures },
        name: None,
        contract: Contract::STANDARD,
        validate,
        lossy: codec::lossy_into,
        stream,
    }
}

impl Planted {
    /// The same decoder under another contract.
    pub(super) const fn under(self, contract: Contract) -> Self {
        Self { contract, ..self }
    }

    pub(super) fn name(&self) -> String {
        self.name.map_or_else(|| format!("planted-{}", self.row.id), str::to_owned)
    }
}

pub(super) fn validate(bytes: &[u8]) -> Option<Validity> {
    Some(validity(codec::validate(bytes)))
}

pub(super) fn stream() -> Option<Box<dyn Stream>> {
    Some(Box::new(codec::Streaming::new()))
}

/// The first error that `forgiven` does not accept. `forgiven` takes the input and the offset of an error, and returns
/// how many bytes to skip, or `None` to report the error.
pub(super) fn forgiving(bytes: &[u8], forgiven: fn(&[u8], usize) -> Option<usize>) -> Option<Validity> {
    let mut start = 0;
    while let Some(error) = codec::errors(bytes.get(start..)?).next() {
        let at = start + error.valid_up_to();
        match forgiven(bytes, at) {
            Some(len) => start = at + len.max(1),
            None => {
                let len = ErrorLen::from_error_len(error.error_len());
                return Some(Malformed::at(at, len).into());
            }
        }
    }
    Some(Validity::Valid)
}

/// The verdict `accepts`; for a rejection, with the offset, length and kind that our decoder reports.
pub(super) fn decided(bytes: &[u8], accepts: bool) -> Option<Validity> {
    let exact = validity(codec::validate(bytes));
    Some(match (accepts, exact) {
        (true, _) => Validity::Valid,
        (false, Validity::Valid) => Validity::INVALID,
        (false, invalid) => invalid,
    })
}

/// What is written where the report of a real fault would be cited.
pub(super) const INVENTED: &str = "invented";

/// The output without its last character, as far as it was written from `start` on.
pub(super) fn without_last(out: &mut Vec<u8>, start: usize) {
    let last = out[start..].iter().rposition(|&byte| !is_continuation(byte));
    out.truncate(last.map_or(start, |last| start + last));
}

/// Our output, without the last character if `is_lost`.
pub(super) fn losing(bytes: &[u8], out: &mut Vec<u8>, is_lost: bool) {
    let start = out.len();
    lossy_into(bytes, out);
    if is_lost {
        without_last(out, start);
    }
}

/// Our output, with each ill-formed segment written by `replace`, which is given its number and offset.
pub(super) fn replacing(bytes: &[u8], out: &mut Vec<u8>, replace: impl Fn(usize, usize, &mut Vec<u8>)) {
    let mut copied = 0;
    for (number, error) in errors(bytes).enumerate() {
        out.extend_from_slice(&bytes[copied..error.range().start]);
        replace(number, error.range().start, out);
        copied = error.range().end;
    }
    out.extend_from_slice(&bytes[copied..]);
}

/// Our verdict, ignoring errors at the offsets for which `is_missed` holds.
pub(super) fn missing(bytes: &[u8], is_missed: impl Fn(usize) -> bool) -> Option<Validity> {
    let seen = errors(bytes).find(|error| !is_missed(error.valid_up_to()));
    Some(seen.map_or(Validity::Valid, |error| {
        Malformed::at(error.valid_up_to(), ErrorLen::from_error_len(error.error_len())).into()
    }))
}

#[cfg(test)]
pub(super) mod tests {
    use crate::generate::classes::Block;

    /// Asserts that short strings at every offset, and longer ones across an edge, are accepted if and only if
    /// `core::str` accepts them.
    pub(crate) fn assert_sound(accepts: fn(&[u8]) -> bool) {
        let blocks = (1..=3).flat_map(|len| (0..=130).map(move |offset| Block { len, offset }));
        let mut bytes = Vec::new();
        for block in blocks.chain([Block { len: 4, offset: 13 }]) {
            for index in 0..block.count() {
                block.write(index, &mut bytes);
                let valid = core::str::from_utf8(&bytes).is_ok();
                assert_eq!(accepts(&bytes), valid, "{}: {:02X?}", block.offset, &bytes[block.offset..]);
            }
        }
    }
}
