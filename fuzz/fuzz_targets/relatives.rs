//! Like `differential`, for decoders of relatives of UTF-8: other grammars and other replacement policies.
#![no_main]

use utfuzz::engine::fuzz::{Scope, Target};

utfuzz::fuzz_target!(bytes, Target::new(Scope::Relatives, utfuzz::peers::policies));
