//! The bytes, then a trailer with the offsets at which they are cut (`utfuzz::case::Input`).
#![no_main]

use utfuzz::engine::fuzz::{Scope, Target};

utfuzz::fuzz_target!(cut, Target::peers(Scope::All));
