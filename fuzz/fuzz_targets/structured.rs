//! Segments of text and of errors across block edges, generated from the file (`utfuzz::generate::structured`).
#![no_main]

use utfuzz::engine::fuzz::{Scope, Target};

utfuzz::fuzz_target!(structured, Target::peers(Scope::All));
