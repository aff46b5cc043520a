//! bstr: `to_str`, and `to_str_lossy_into`.

use crate::decoder::{Decoder, Info};
use crate::peers::append_text;
use crate::utf8::{ErrorLen, Malformed, Validity};
use bstr::ByteSlice;

pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    vec![Box::new(Bstr)]
}

struct Bstr;

static INFO: Info = Info::new("bstr", "1.13.1");

impl Decoder for Bstr {
    fn info(&self) -> &Info {
        &INFO
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        Some(match bytes.to_str() {
            Ok(_) => Validity::Valid,
            Err(error) => Malformed::at(error.valid_up_to(), ErrorLen::from_error_len(error.error_len())).into(),
        })
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        append_text(out, |text| bytes.to_str_lossy_into(text));
        Some(())
    }
}
