//! Adapters for decoders that need no dependency: our own, those of the relatives of UTF-8 and of UTF-8 under other
//! policies, and `core::str`.
//!
//! A decoder of a relative, or of another policy, is a conversion to extended UTF-8 (RFC 2279, with surrogates).

use crate::codec::convert::{Converter, Encoding, Fault, Mark, Options};
use crate::codec::{Kernel, Path, Streaming, Utf8Error};
use crate::decoder::{Decoder, Info, Stream};
use crate::error::Error;
use crate::peers::adapter::Functions;
use crate::spec::{Bom, Contract, Detection, Replacement, Segmentation};
use crate::utf8::{ErrorLen, Malformed, REPLACEMENT, Validity};
use core::cell::RefCell;
use std::sync::{Mutex, PoisonError};

/// Our kernels, and the names of the decoders that run on them.
const NAMES: [(&str, &str); 5] = [
    ("scalar", "own-scalar"),
    ("sse41", "own-sse41"),
    ("avx2", "own-avx2"),
    ("avx512", "own-avx512"),
    ("neon", "own-neon"),
];

/// The decoders by name, and the CPU features that each needs; all but the portable one.
pub(super) fn kernels() -> impl Iterator<Item = (&'static str, &'static [&'static str])> {
    let needy = Kernel::known().filter(|kernel| !kernel.features.is_empty());
    needy.map(|kernel| (decoder_name(kernel.name), kernel.features))
}

fn decoder_name(kernel: &str) -> &'static str {
    NAMES.iter().find(|(name, _)| *name == kernel).map_or("own", |(_, decoder)| decoder)
}

/// Our decoder with each kernel, our decoders of the relatives of UTF-8, and `core::str`.
pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    let mut family = kernel_decoders();
    family.extend(relatives());
    family.push(core_str());
    family
}

/// Our decoder with the kernel it chooses, and with every other kernel that this machine can run. The chosen kernel is
/// not listed under its own name too; the lineage names it.
fn kernel_decoders() -> Vec<Box<dyn Decoder>> {
    let best = Kernel::best();
    let chosen = Own { kernel: best, info: info(best.name()).name("own") };
    let others = Kernel::available().filter(|kernel| *kernel != best);
    let others = others.map(|kernel| Own { kernel, info: info(kernel.name()) });
    [chosen].into_iter().chain(others).map(|own| Box::new(own) as Box<dyn Decoder>).collect()
}

struct Own {
    kernel: Kernel,
    info: Info,
}

/// The code that validates `len` bytes, as the kernel at this place in [`NAMES`] reports it.
fn path<const AT: usize>(len: usize) -> Path {
    let known = Kernel::known().find(|kernel| kernel.name == NAMES[AT].0);
    (known.unwrap_or(Kernel::SCALAR.info()).path)(len)
}

fn lineage<const AT: usize>(len: usize) -> &'static str {
    decoder_name(path::<AT>(len).kernel)
}

fn variant<const AT: usize>(len: usize) -> u8 {
    path::<AT>(len).registers as u8
}

/// The decoder on the kernel of this name, whether or not this processor can run it.
fn info(kernel: &str) -> Info {
    let contract = Contract { detection: Detection::Earliest, ..Contract::STANDARD };
    let info = Info::new("utfuzz", env!("CARGO_PKG_VERSION")).name(decoder_name(kernel)).contract(contract);
    match kernel {
        "sse41" => info.lineage_by_length(lineage::<1>).variant_by_length(variant::<1>),
        "avx2" => info.lineage_by_length(lineage::<2>).variant_by_length(variant::<2>),
        "avx512" => info.lineage_by_length(lineage::<3>).variant_by_length(variant::<3>),
        "neon" => info.lineage_by_length(lineage::<4>).variant_by_length(variant::<4>),
        _ => info.lineage("own-scalar"),
    }
}

impl Decoder for Own {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        Some(validity(self.kernel.validate(bytes)))
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        self.kernel.lossy_into(bytes, out);
        Some(())
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        Some(Box::new(Streaming::with(self.kernel)))
    }
}

impl Stream for Streaming {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        Streaming::push(self, chunk, out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        Some(validity(Streaming::finish(self, out)))
    }

    fn sendable(&mut self) -> Option<&mut (dyn Stream + Send + '_)> {
        Some(self)
    }
}

/// A result of `codec` as a verdict.
pub(super) fn validity(result: Result<(), Utf8Error>) -> Validity {
    let Err(error) = result else { return Validity::Valid };
    let len = ErrorLen::from_error_len(error.error_len());
    Malformed { kind: Some(error.kind()), ..Malformed::at(error.valid_up_to(), len) }.into()
}

/// One decoder for each relative.
fn relatives() -> Vec<Box<dyn Decoder>> {
    decoders([
        ("own-rfc2279", Encoding::Rfc2279, STANDARD),
        // "scalars": without surrogates. With the full name of the grammar, the crash state would be too long.
        ("own-rfc2279-scalars", Encoding::Rfc2279WithoutSurrogates, STANDARD),
        ("own-cesu-8", Encoding::Cesu8, STANDARD),
        ("own-modified-utf-8", Encoding::ModifiedUtf8, STANDARD),
        ("own-wtf-8", Encoding::Wtf8, STANDARD),
    ])
}

/// UTF-8 under other policies, one at a time, and UTF-8B. They are not in [`all`](crate::peers::all), because they
/// would double the time that each case takes.
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

/// `core::str::from_utf8`, and `<[u8]>::utf8_chunks`, on which `String::from_utf8_lossy` is built.
fn core_str() -> Box<dyn Decoder> {
    // `core` does not expose its version; this is the compiler's.
    let info = Info::new("std", env!("UTFUZZ_CORE_VERSION")).package("core").lineage("core::str");
    let std =
        Functions::new(info).validate(|bytes| core::str::from_utf8(bytes).map(drop).into()).lossy(|bytes, out| {
            for chunk in bytes.utf8_chunks() {
                out.extend_from_slice(chunk.valid().as_bytes());
                if !chunk.invalid().is_empty() {
                    out.extend_from_slice(REPLACEMENT);
                }
            }
            Some(())
        });
    std.boxed()
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;

    #[test]
    fn the_lineage_is_the_kernel_whose_registers_are_used() {
        let kernels: Vec<_> = Kernel::known().map(|kernel| kernel.name).collect();
        assert_eq!(kernels, NAMES.map(|(kernel, _)| kernel)[..4]);
        let mut wrong = Vec::new();
        for (kernel, lens, lineage) in [
            ("scalar", 1..=1000, "own-scalar"),
            ("sse41", 1..=3, "own-scalar"),
            ("sse41", 4..=1000, "own-sse41"),
            ("avx2", 1..=3, "own-scalar"),
            ("avx2", 4..=31, "own-sse41"),
            ("avx2", 32..=1000, "own-avx2"),
            ("avx512", 1..=16, "own-sse41"),
            ("avx512", 17..=32, "own-avx2"),
            ("avx512", 33..=1000, "own-avx512"),
        ] {
            let info = info(kernel);
            let others = lens.map(|len| (len, info.lineage.at(len))).filter(|(_, at)| *at != lineage);
            wrong.extend(others.map(|(len, at)| format!("{}, {len} bytes: {at}", info.name)));
        }
        assert!(wrong.is_empty(), "{} are wrong, the first {:?}", wrong.len(), wrong.first());
    }

    #[test]
    fn a_short_input_and_several_registers_are_different_code() {
        let mut wrong = Vec::new();
        for kernel in ["sse41", "avx2", "avx512"] {
            let info = info(kernel);
            let short = (1..=4).map(|len| (len, 128, false));
            let others = [(128, 129, false), (1, 3, true), (1000, 2000, true)];
            let pairs = short.chain(others).filter(|&(len, other, same)| info.runs_same_code(len, other) != same);
            wrong.extend(pairs.map(|(len, other, _)| (kernel, len, other)));
        }
        assert_eq!(wrong, []);
        assert!(info("scalar").runs_same_code(4, 128));
    }
}
