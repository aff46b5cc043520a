//! The file is exactly the bytes every decoder sees.
#![no_main]

use utfuzz::engine::fuzz::{Scope, Target};

utfuzz::fuzz_target!(bytes, Target::peers(Scope::Standard));
