//! The crates `utf-8` and `utf8-zero`, a fork with the same interface: incremental decoding on top of `core::str`.

use crate::decoder::Decoder;

pub(super) fn family() -> Vec<Box<dyn Decoder>> {
    vec![utf8::decoder(), zero::decoder()]
}

/// A module for a crate with this interface; one adapter serves both, types apart.
macro_rules! incremental {
    ($module:ident, $krate:ident, $name:literal, $version:literal) => {
        mod $module {
            use crate::decoder::{Decoder, Info, Stream};
            use crate::spec::{Contract, Detection};
            use crate::utf8::{ErrorLen, Malformed, Validity};
            use std::cell::RefCell;
            use std::rc::Rc;

            pub(super) struct Incremental {
                info: Info,
            }

            pub(super) fn decoder() -> Box<dyn Decoder> {
                let contract = Contract { detection: Detection::Earliest, ..Contract::STANDARD };
                Box::new(Incremental { info: Info::new($name, $version).contract(contract).lineage("core::str") })
            }

            impl Decoder for Incremental {
                fn info(&self) -> &Info {
                    &self.info
                }

                fn validate(&self, bytes: &[u8]) -> Option<Validity> {
                    use $krate::DecodeError;
                    Some(match $krate::decode(bytes) {
                        Ok(_) => Validity::Valid,
                        Err(DecodeError::Invalid { valid_prefix, invalid_sequence, .. }) => {
                            Malformed::at(valid_prefix.len(), ErrorLen::Bytes(invalid_sequence.len())).into()
                        }
                        Err(DecodeError::Incomplete { valid_prefix, .. }) => {
                            Malformed::at(valid_prefix.len(), ErrorLen::Incomplete).into()
                        }
                    })
                }

                fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
                    $krate::LossyDecoder::new(|text| out.extend_from_slice(text.as_bytes())).feed(bytes);
                    Some(())
                }

                fn stream(&self) -> Option<Box<dyn Stream + '_>> {
                    let output = Rc::new(RefCell::new(Vec::new()));
                    let start = move || {
                        let sink = Rc::clone(&output);
                        let push = move |text: &str| sink.borrow_mut().extend_from_slice(text.as_bytes());
                        ($krate::LossyDecoder::new(push), Rc::clone(&output))
                    };
                    let (decoder, output) = start();
                    Some(Box::new(Lossy { decoder, output, start }))
                }
            }

            /// A `LossyDecoder`, which writes through a callback and ends its input when dropped.
            struct Lossy<D, S> {
                decoder: D,
                output: Rc<RefCell<Vec<u8>>>,
                start: S,
            }

            impl<F, S> Stream for Lossy<$krate::LossyDecoder<F>, S>
            where
                F: FnMut(&str),
                S: Fn() -> ($krate::LossyDecoder<F>, Rc<RefCell<Vec<u8>>>),
            {
                fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
                    self.decoder.feed(chunk);
                    out.append(&mut self.output.borrow_mut());
                }

                fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
                    self.decoder = (self.start)().0;
                    out.append(&mut self.output.borrow_mut());
                    None
                }
            }
        }
    };
}

incremental!(utf8, utf8, "utf-8", "0.7.6");
incremental!(zero, utf8_zero, "utf8-zero", "0.8.1");
