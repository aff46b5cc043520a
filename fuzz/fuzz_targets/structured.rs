//! Segments of text and of errors across block edges, generated from the file (`utfuzz::generate::structured`).
#![no_main]

use libfuzzer_sys::{Corpus, fuzz_target};
use utfuzz::engine::fuzz::{Scope, StructuredInput, Target};
use utfuzz_fuzz::judged;

thread_local!(static TARGET: Target = const { Target::new(Scope::All, Vec::new) });

fuzz_target!(|input: StructuredInput| -> Corpus { judged(&TARGET, &input.case()) });
