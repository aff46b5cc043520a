//! An input as it is stored: its bytes, and its cuts if they matter. Both are written to one file, in the format that
//! the target `streaming` reads:
//!
//! ```text
//! file    = bytes *cut count
//! cut     = 2 bytes, little endian; the bytes are cut at offset (cut mod (number of bytes + 1))
//! count   = 1 byte; there are (count mod 33) cuts, or as many as the file has room for
//! ```
//! An empty file has no bytes and no cuts. Any file is a valid input, and changing a cut in the file moves only that
//! cut.
//!
//! This module also reads files and directories of inputs.

use crate::case::{Case, Cuts};
use crate::error::Error;
use crate::text::shown;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The bytes that decoders see, and where they are cut.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// Exactly the bytes that decoders see.
    pub bytes: Vec<u8>,
    /// The cuts; `None` if they are derived from the bytes.
    pub cuts: Option<Cuts>,
}

impl Input {
    /// The case to judge.
    pub fn case(&self) -> Case<'_> {
        match self.cuts {
            Some(cuts) => Case::with_cuts(&self.bytes, cuts),
            None => Case::new(&self.bytes),
        }
    }

    /// Reads a file with cuts, as described above.
    pub fn from_cut_file(file: &[u8]) -> Self {
        let (bytes, cuts) = split(file);
        Self { bytes: bytes.to_vec(), cuts: Some(cuts) }
    }

    /// The content of the file for this input, and its extension: `bin` for only bytes, `cut` for bytes and cuts. Cuts
    /// at offsets above 65,535, and all but the first 32 of cuts at every N-th byte, cannot be written and are omitted.
    pub fn to_file(&self) -> (Vec<u8>, &'static str) {
        let Some(cuts) = &self.cuts else { return (self.bytes.clone(), "bin") };
        let cuts: Vec<u16> = cuts.offsets().iter().filter_map(|&cut| u16::try_from(cut).ok()).collect();
        let trailer = cuts.iter().flat_map(|cut| cut.to_le_bytes());
        (self.bytes.iter().copied().chain(trailer).chain([cuts.len() as u8]).collect(), "cut")
    }
}

fn split(file: &[u8]) -> (&[u8], Cuts) {
    let Some((&count, rest)) = file.split_last() else { return (file, Cuts::NONE) };
    let count = (usize::from(count) % (Cuts::MOST + 1)).min(rest.len() / 2);
    let (bytes, trailer) = rest.split_at(rest.len() - 2 * count);
    let cut = |pair: &[u8; 2]| usize::from(u16::from_le_bytes(*pair)) % (bytes.len() + 1);
    (bytes, Cuts::new(trailer.as_chunks().0.iter().map(cut), bytes.len()))
}

/// Read as a file with cuts.
#[cfg(feature = "arbitrary")]
impl<'a> arbitrary::Arbitrary<'a> for Input {
    fn arbitrary(u: &mut arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        u.bytes(u.len()).map(Self::from_cut_file)
    }

    fn arbitrary_take_rest(u: arbitrary::Unstructured<'a>) -> arbitrary::Result<Self> {
        Ok(Self::from_cut_file(u.take_rest()))
    }
}

/// Reads one file of at most `most` bytes. Of an endless device, at most one byte more is read.
///
/// # Errors
/// It cannot be read, is a directory, or is longer.
pub fn read_file(path: &Path, most: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(most.saturating_add(1)).read_to_end(&mut bytes));
    read.map_err(|error| Error::io(path, &error))?;
    if bytes.len() as u64 > most {
        return Err(Error::usage(format!("{}: longer than the limit of {most} bytes", shown(path))));
    }
    Ok(bytes)
}

/// Every file below a directory, sorted by path; symbolic links to directories are not followed. Names that begin with
/// a dot are skipped, since a file that is still being written has one. What cannot be examined or listed, such as a
/// link that leads nowhere, is among the files: reading it gives the reason.
///
/// # Errors
/// The directory itself cannot be listed.
pub fn files_below(root: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    let mut directories = vec![root.to_owned()];
    while let Some(directory) = directories.pop() {
        let entries = match fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(_) if directory != root => {
                files.push(directory);
                continue;
            }
            Err(error) => return Err(Error::io(root, &error)),
        };
        for entry in entries {
            let entry = entry.map_err(|error| Error::io(&directory, &error))?;
            let path = entry.path();
            if entry.file_name().as_encoded_bytes().starts_with(b".") {
                continue;
            }
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_dir() && !is_link => directories.push(path),
                Ok(metadata) if !metadata.is_file() => {}
                _ => files.push(path),
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The files a user named: files as they are, directories only where `recursive` allows them.
///
/// # Errors
/// A path does not exist, or is a directory without `recursive`.
pub fn named_files(paths: &[PathBuf], recursive: bool) -> Result<Vec<PathBuf>, Error> {
    let mut files = Vec::new();
    for path in paths {
        let metadata = fs::metadata(path).map_err(|error| Error::io(path, &error))?;
        match (metadata.is_dir(), recursive) {
            (false, _) => files.push(path.clone()),
            (true, true) => files.extend(files_below(path)?),
            (true, false) => {
                return Err(Error::usage(format!(
                    "{} is a directory; add --recursive for every file below it",
                    shown(path)
                )));
            }
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_it_was_written() {
        for (bytes, cuts) in [(&b""[..], &[][..]), (b"abc", &[1, 1, 3]), (b"\xE2\x82\xAC", &[0, 1, 2, 3])] {
            let cuts = Some(Cuts::new(cuts.iter().copied(), bytes.len()));
            let input = Input { bytes: bytes.to_vec(), cuts };
            let (file, ending) = input.to_file();
            assert_eq!((Input::from_cut_file(&file), ending), (input, "cut"));
        }
    }

    #[test]
    fn every_file_is_a_case() {
        for file in [&b""[..], b"\xFF", b"a\xFF", b"abcdefg\x03", &[0xFF; 100]] {
            let (bytes, cuts) = split(file);
            assert!(bytes.len() <= file.len());
            assert!(cuts.offsets().iter().all(|&cut| cut <= bytes.len()));
        }
        let (bytes, cuts) = split(b"ab\x03\x00\x01");
        assert_eq!((bytes, cuts.offsets()), (&b"ab"[..], &[0][..]));
    }

    #[test]
    #[cfg(unix)]
    fn what_cannot_be_read_does_not_hide_the_rest() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path();
        fs::create_dir(root.join("folder")).unwrap();
        fs::write(root.join("folder/file"), "a").unwrap();
        fs::write(root.join(".hidden"), "a").unwrap();
        for (target, link) in [("nowhere", "dangling"), ("folder", "around"), ("self", "self")] {
            std::os::unix::fs::symlink(target, root.join(link)).unwrap();
        }
        let files = files_below(root).unwrap();
        assert_eq!(files, ["dangling", "folder/file", "self"].map(|name| root.join(name)));
        assert!(read_file(&files[0], 10).unwrap_err().to_string().contains("dangling: "));
        assert!(files_below(&root.join("nowhere")).is_err());
    }

    #[test]
    fn no_more_is_read_than_allowed() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), [0; 10]).unwrap();
        assert_eq!(read_file(file.path(), 10).unwrap().len(), 10);
        assert!(read_file(file.path(), 9).unwrap_err().to_string().contains("9 bytes"));
        #[cfg(unix)]
        assert!(read_file(Path::new("/dev/zero"), 100).is_err());
    }
}
