//! The property under the crate `bolero`. `utfuzz score` builds it for bolero's libFuzzer engine, by the flags that
//! `cargo bolero` gives to the compiler; a plain build has bolero's random engine.

use utfuzz_rivals::Rival;

fn main() {
    let rival = std::panic::AssertUnwindSafe(Rival::from_env());
    bolero::check!().for_each(move |bytes: &[u8]| rival.test_bytes(bytes));
}
