//! The target `differential` under AFL++: a file is exactly the bytes every decoder sees.

use utfuzz::case::Case;
use utfuzz::engine::fuzz::{Scope, Target};

thread_local!(static TARGET: Target = const { Target::new(Scope::Standard, Vec::new) });

fn main() {
    afl::fuzz!(|bytes: &[u8]| {
        TARGET.with(|target| target.run(&Case::new(bytes), |_| {}));
    });
}
