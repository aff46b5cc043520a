//! Our own decoders of the relatives of UTF-8, and of UTF-8 under other policies.
//!
//! Each is a conversion to extended UTF-8 (RFC 2279, with surrogates).

use crate::codec::convert::{Converter, Encoding, Fault, Mark, Options};
use crate::decoder::{Decoder, Info, Stream};
use crate::error::Error;
use crate::spec::{Bom, Contract, Detection, Replacement, Segmentation};
use crate::utf8::{ErrorLen, Malformed, Validity};
use core::cell::RefCell;
use std::sync::{Mutex, PoisonError};

/// One decoder for each relative.
pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    decoders([
        ("own-rfc2279", Encoding::Rfc2279, STANDARD),
        // "scalars": without surrogates. With the full name of the grammar, the crash state would be too long.
        ("own-rfc2279-scalars", Encoding::Rfc2279WithoutSurrogates, STANDARD),
        ("own-cesu-8", Encoding::Cesu8, STANDARD),
        ("own-modified-utf-8", Encoding::ModifiedUtf8, STANDARD),
        ("own-wtf-8", Encoding::Wtf8, STANDARD),
    ])
}

/// UTF-8 under every other policy, and UTF-8B. They are not in [`all`](crate::peers::all), because they would double
/// the time that each case takes.
pub fn policies() -> Vec<Box<dyn Decoder>> {
    let replaced = |replacement| Contract { replacement: Some(replacement), ..STANDARD };
    // These segmentations look past a sequence, so errors are not detected at once.
    let cut = |segmentation| Contract { segmentation, ..Contract::STANDARD };
    decoders([
        ("own-utf-8b", Encoding::Utf8, replaced(Replacement::SurrogateEscape)),
        ("own-latin-1", Encoding::Utf8, replaced(Replacement::Latin1)),
        ("own-windows-1252", Encoding::Utf8, replaced(Replacement::Windows1252)),
        ("own-replace-none", Encoding::Utf8, replaced(Replacement::Drop)),
        ("own-bom", Encoding::Utf8, Contract { bom: Bom::Strip, ..Contract::STANDARD }),
        ("own-replace-byte", Encoding::Utf8, Contract { segmentation: Segmentation::Byte, ..STANDARD }),
        ("own-replace-run", Encoding::Utf8, cut(Segmentation::Run)),
        ("own-surrogate-3", Encoding::Utf8, cut(Segmentation::MaximalSubpartSurrogate)),
        ("own-lead-announced", Encoding::Utf8, cut(Segmentation::LeadAnnounced)),
        ("own-swallow-non-lead", Encoding::Utf8, cut(Segmentation::SwallowNonLead)),
    ])
}

const STANDARD: Contract = Contract { detection: Detection::Earliest, ..Contract::STANDARD };

fn decoders<const N: usize>(rows: [(&'static str, Encoding, Contract); N]) -> Vec<Box<dyn Decoder>> {
    let decoders = rows.into_iter().filter_map(|(name, encoding, contract)| {
        Relative::new(name, encoding, Contract { grammar: encoding.grammar()?, ..contract }).ok()
    });
    decoders.map(|relative| Box::new(relative) as Box<dyn Decoder>).collect()
}

struct Relative {
    info: Info,
    fresh: Converter,
    /// A converter that ends at the first error; `None` if segments are runs, which may span several errors.
    strict: Option<Converter>,
    /// Finished converters, for reuse.
    idle: Mutex<Vec<Converter>>,
    idle_strict: Mutex<Vec<Converter>>,
}

impl Relative {
    fn new(name: &'static str, encoding: Encoding, contract: Contract) -> Result<Self, Error> {
        let options = Options {
            on_error: contract.replacement,
            segmentation: contract.segmentation,
            mark: match contract.bom {
                Bom::Keep => Mark::Keep,
                Bom::Strip => Mark::Strip,
            },
            ..Options::STRICT
        };
        let fresh = Converter::new(encoding, Encoding::Rfc2279, options)?;
        let strict = Converter::new(encoding, Encoding::Rfc2279, Options { on_error: None, ..options }).ok();
        let version = env!("CARGO_PKG_VERSION");
        let info = Info::new("utfuzz", version).name(name).contract(contract).lineage("own-convert");
        Ok(Self { info, fresh, strict, idle: Mutex::default(), idle_strict: Mutex::default() })
    }
}

/// Converts the whole input with an idle converter, or a new one if there is none.
fn whole(fresh: &Converter, idle: &Mutex<Vec<Converter>>, bytes: &[u8], out: &mut Vec<u8>) -> Validity {
    let idle = || idle.lock().unwrap_or_else(PoisonError::into_inner);
    let idle_one = idle().pop();
    let mut converter = idle_one.unwrap_or_else(|| fresh.clone());
    // The fault that ends the conversion is returned again at the end.
    let _ = converter.push(bytes, out);
    let validity = match converter.finish(out) {
        Ok(summary) => summary.first.map_or(Validity::Valid, invalid),
        Err(fault) => invalid(fault),
    };
    idle().push(converter);
    validity
}

fn invalid(fault: Fault) -> Validity {
    let len = match fault.is_incomplete() {
        true => ErrorLen::Incomplete,
        false => ErrorLen::Bytes(fault.byte_len() as usize),
    };
    Malformed { kind: fault.kind(), ..Malformed::at(fault.offset() as usize, len) }.into()
}

impl Decoder for Relative {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        thread_local! {
            static DISCARDED: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
        }
        DISCARDED.with_borrow_mut(|out| {
            out.clear();
            Some(match &self.strict {
                Some(strict) => whole(strict, &self.idle_strict, bytes, out),
                None => whole(&self.fresh, &self.idle, bytes, out),
            })
        })
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        whole(&self.fresh, &self.idle, bytes, out);
        Some(())
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        Some(Box::new(self.fresh.clone()))
    }
}

impl Stream for Converter {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        // A conversion that replaces all errors does not fail.
        let _ = Converter::push(self, chunk, out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        Some(Converter::finish(self, out).ok()?.first.map_or(Validity::Valid, invalid))
    }

    fn sendable(&mut self) -> Option<&mut (dyn Stream + Send + '_)> {
        Some(self)
    }
}
