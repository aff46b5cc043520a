//! The body of `differential` behind AFL++: a file is exactly the bytes every decoder sees.

fn main() {
    afl::fuzz!(|bytes: &[u8]| {
        utfuzz::engine::fuzz::differential(bytes);
    });
}
