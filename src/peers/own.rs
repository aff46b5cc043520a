//! Adapters for our own decoder.

use crate::codec::{Kernel, Path, Streaming, Utf8Error};
use crate::decoder::{Decoder, Info, Stream};
use crate::spec::{Contract, Detection};
use crate::utf8::{ErrorLen, Malformed, Validity};

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

/// Our decoder with the kernel it chooses, and with every other kernel that this machine can run. The chosen kernel is
/// not listed under its own name too; the lineage names it.
pub(super) fn family() -> Vec<Box<dyn Decoder>> {
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
            ("sse41", 1..=1000, "own-sse41"),
            ("avx2", 1..=31, "own-sse41"),
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
            let others = [(128, 129, false), (1, 4, true), (1000, 2000, true)];
            let pairs = short.chain(others).filter(|&(len, other, same)| info.runs_same_code(len, other) != same);
            wrong.extend(pairs.map(|(len, other, _)| (kernel, len, other)));
        }
        assert_eq!(wrong, []);
        assert!(info("scalar").runs_same_code(4, 128));
    }
}
