//! The judge under unmodified libFuzzer: its own mutations and code coverage, every input judged in full. `utfuzz
//! score` compares the other engines with it.
#![no_main]

use utfuzz::case::Case;
use utfuzz::engine::fuzz::{Scope, Target};

thread_local!(static TARGET: Target = const { Target::new(Scope::Standard, Vec::new) });

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| TARGET.with(|target| target.run_in_full(&Case::new(bytes))));
