//! utf8_iter: `ErrorReportingUtf8Chars` and `Utf8Chars`.

use crate::decoder::{Decoder, Info};
use crate::spec::{Contract, End};
use crate::utf8::{ErrorLen, Malformed, Validity};
use utf8_iter::{ErrorReportingUtf8Chars, Utf8Chars};

pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    vec![Box::new(Utf8Iter)]
}

struct Utf8Iter;

static INFO: Info = Info::new("utf8_iter", "1.1.0").contract(Contract { end: End::Error, ..Contract::STANDARD });

impl Decoder for Utf8Iter {
    fn info(&self) -> &Info {
        &INFO
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        let mut chars = ErrorReportingUtf8Chars::new(bytes);
        loop {
            let rest = chars.as_slice().len();
            match chars.next() {
                None => return Some(Validity::Valid),
                Some(Ok(_)) => {}
                Some(Err(_)) => {
                    let len = rest - chars.as_slice().len();
                    return Some(Malformed::at(bytes.len() - rest, ErrorLen::Bytes(len)).into());
                }
            }
        }
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        for scalar in Utf8Chars::new(bytes) {
            out.extend_from_slice(scalar.encode_utf8(&mut [0; 4]).as_bytes());
        }
        Some(())
    }
}
