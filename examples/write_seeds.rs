//! Writes the committed seeds to `corpus/differential` and `corpus/relatives`, and short ones with cuts to
//! `corpus/streaming`.
//!
//! Run from the top of the repository: `cargo run --example write_seeds`.

use std::path::Path;
use std::{fs, io};
use utfuzz::case::{Case, Input};
use utfuzz::generate::seeds;

fn main() -> io::Result<()> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
    for directory in ["differential", "streaming", "relatives"] {
        fs::create_dir_all(corpus.join(directory))?;
    }
    for (name, bytes) in seeds::differential() {
        fs::write(corpus.join("differential").join(&name), &bytes)?;
        if bytes.len() <= 100 {
            let cuts = Some(*Case::new(&bytes).cuts());
            fs::write(corpus.join("streaming").join(&name), Input { bytes, cuts }.to_file().0)?;
        }
    }
    for (name, bytes) in seeds::relatives() {
        fs::write(corpus.join("relatives").join(name), bytes)?;
    }
    Ok(())
}
