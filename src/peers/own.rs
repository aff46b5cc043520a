//! Our own decoder: the only bridge to `decode`.

use crate::decode::{Streaming, Utf8Error, lossy_into, validate};
use crate::decoder::{Decoder, Info, Stream};
use crate::spec::{Contract, Detection};
use crate::utf8::{ErrorLen, Malformed, Validity};

pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    vec![Box::new(Own)]
}

struct Own;

static INFO: Info = Info {
    name: "own",
    version: env!("CARGO_PKG_VERSION"),
    package: "utfuzz",
    contract: Contract { detection: Detection::Earliest, ..Contract::STANDARD },
    lineage: |_| "own",
};

impl Decoder for Own {
    fn info(&self) -> &Info {
        &INFO
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        Some(validity(validate(bytes)))
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        lossy_into(bytes, out);
        Some(())
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        Some(Box::new(Streaming::new()))
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
