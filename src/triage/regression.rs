//! Regressions: witnesses kept as files, each named after its signature.
//!
//! The name is `SUBJECT__LAW__DECODER.bin`, with the shape after the decoder unless it is `anywhere`, and `.cut`
//! instead of `.bin` if the file contains cuts. `cargo test` replays each of them.

use crate::case::Input;
use crate::error::Error;
use crate::explain::{Shape, Signature};
use crate::io::create_file;
use crate::text::shown;
use std::fs;
use std::path::{Path, PathBuf};

/// The name of the file for a signature, without its extension.
pub fn name(signature: &Signature) -> String {
    let Signature { law, decoder, subject, shape } = signature;
    match shape {
        Shape::Anywhere => format!("{subject}__{law}__{decoder}"),
        _ => format!("{subject}__{law}__{decoder}__{shape}"),
    }
}

/// Keeps an input in this directory, which is created if it does not exist. An existing file of that name is never
/// changed: if it has the same bytes, nothing is written; otherwise the new file gets a number. A file is written
/// completely or not at all.
///
/// # Errors
/// The directory or the file cannot be written.
pub fn keep(directory: &Path, signature: &Signature, input: &Input) -> Result<PathBuf, Error> {
    let (bytes, ending) = input.to_file();
    let name = name(signature);
    fs::create_dir_all(directory).map_err(|error| Error::io(directory, &error))?;
    for number in 1..1000 {
        let number = if number == 1 { String::new() } else { format!("__{number}") };
        let path = directory.join(format!("{name}{number}.{ending}"));
        if create_file(&path, &bytes)? {
            return Ok(path);
        }
    }
    Err(Error::usage(format!(
        "{}: there are already a thousand files named {name}; triage or delete some",
        shown(directory)
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Cuts;
    use crate::judge::{Law, Subject};
    use crate::utf8::Kind;

    #[test]
    fn nothing_is_overwritten() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("regressions");
        let subject = Subject::Fault(Kind::Overlong(2));
        let mut signature = Signature { law: Law::Verdict, decoder: "d".into(), subject, shape: Shape::Anywhere };
        let input = |bytes: &[u8], cuts: Option<Cuts>| Input { bytes: bytes.to_vec(), cuts };
        let first = keep(&directory, &signature, &input(b"\xC0\x80", None)).unwrap();
        assert_eq!(first.file_name().unwrap(), "overlong-2__verdict__d.bin");
        assert_eq!(keep(&directory, &signature, &input(b"\xC0\x80", None)).unwrap(), first);
        let second = keep(&directory, &signature, &input(b"\xC0\xAF", None)).unwrap();
        assert_eq!(second.file_name().unwrap(), "overlong-2__verdict__d__2.bin");
        signature.shape = Shape::Edge(64);
        let cut = keep(&directory, &signature, &input(b"\xC0\xAF", Some(Cuts::new([1], 2)))).unwrap();
        assert_eq!(cut.file_name().unwrap(), "overlong-2__verdict__d__edge64.cut");
        assert_eq!(fs::read(first).unwrap(), b"\xC0\x80");
        assert_eq!(fs::read(cut).unwrap(), b"\xC0\xAF\x01\x00\x01");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 3);
    }
}
