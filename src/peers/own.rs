//! Our own decoder: the only bridge to `decode`.

use crate::codec::{Kernel, Streaming, Utf8Error};
use crate::decoder::{Decoder, Info, Stream};
use crate::spec::{Contract, Detection};
use crate::utf8::{ErrorLen, Malformed, Validity};

/// The kernels by name, and the feature without which a processor cannot run each.
pub(super) const KERNELS: [(&str, &str); 3] =
    [("own-avx2", "avx2"), ("own-avx512", "avx512vbmi2"), ("own-sse41", "sse4.1")];

/// Our decoder, by the kernel it chooses, and by each other that this machine can run. The one chosen has no second name:
/// its lineage says which it is.
pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    let best = Kernel::best();
    let chosen = Own { kernel: best, info: info(best).name("own") };
    let others = Kernel::available().filter(|kernel| *kernel != best);
    let others = others.map(|kernel| Own { kernel, info: info(kernel) });
    [chosen].into_iter().chain(others).map(|own| Box::new(own) as Box<dyn Decoder>).collect()
}

struct Own {
    kernel: Kernel,
    info: Info,
}

/// Below as many bytes as one register takes, and for the place of an error, the scalar kernel is behind every other.
fn info(kernel: Kernel) -> Info {
    let (name, lineage): (_, fn(usize) -> &'static str) = match kernel.name() {
        "sse41" => ("own-sse41", |len| if len < 19 { "own-scalar" } else { "own-sse41" }),
        "avx2" => ("own-avx2", |len| if len < 35 { "own-scalar" } else { "own-avx2" }),
        "avx512" => ("own-avx512", |_| "own-avx512"),
        _ => ("own-scalar", |_| "own-scalar"),
    };
    let contract = Contract { detection: Detection::Earliest, ..Contract::STANDARD };
    Info::new("utfuzz", env!("CARGO_PKG_VERSION")).name(name).contract(contract).lineage_by_length(lineage)
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
}

/// What the trait says for this.
pub(super) fn validity(result: Result<(), Utf8Error>) -> Validity {
    let Err(error) = result else { return Validity::Valid };
    let len = ErrorLen::from_error_len(error.error_len());
    Malformed { kind: Some(error.kind()), ..Malformed::at(error.valid_up_to(), len) }.into()
}
