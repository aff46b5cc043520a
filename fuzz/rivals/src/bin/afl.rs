//! The property under AFL++. Outside AFL++ it reads one input from standard input.

use utfuzz_rivals::Rival;

fn main() {
    let rival = std::panic::AssertUnwindSafe(Rival::from_env());
    afl::fuzz!(|bytes: &[u8]| rival.test_bytes(bytes));
}
