//! Links the targets as `utfuzz::engine::link` describes.

/// The targets that keep cargo-fuzz's defaults, since others are measured against these.
const YARDSTICKS: [&str; 2] = ["baseline", "plain"];

fn main() -> std::io::Result<()> {
    utfuzz::engine::link::fuzz_targets(&YARDSTICKS)
}
