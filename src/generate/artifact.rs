//! Files that fuzz targets and people leave: what the decoders saw, and where it was cut.

use crate::case::trailer::CutInput;
use crate::case::{Case, Cuts};
use crate::error::Error;
use crate::generate::structured::Structured;
use crate::text::shown;
use arbitrary::{Arbitrary, Unstructured};
use std::fs;
use std::path::Path;

/// How the bytes of a file are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The file is exactly what the decoders see.
    Bytes,
    /// Bytes and a trailer with the cuts: what the target `streaming` reads.
    Cut,
    /// The state of a generator: what the target `structured` reads.
    Structured,
}

impl Form {
    /// The form of a file, told from its path: `NAME.cut`, or below a directory named like the target.
    pub fn of(path: &Path) -> Self {
        let below = |name: &str| path.parent().is_some_and(|parent| parent.iter().any(|part| part == name));
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("cut") => Self::Cut,
            Some("bin") => Self::Bytes,
            _ if below("streaming") => Self::Cut,
            _ if below("structured") => Self::Structured,
            _ => Self::Bytes,
        }
    }
}

/// An input as it was put to decoders.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Artifact {
    /// What the decoders see.
    pub bytes: Vec<u8>,
    /// Where it is cut; `None` where that follows from the bytes.
    pub cuts: Option<Cuts>,
}

impl Artifact {
    /// More than this is not read: no decoder's fault needs it, and no fuzz target writes it.
    pub const MOST: u64 = 1 << 20;

    /// Reads a file in the form its path tells.
    ///
    /// # Errors
    /// It cannot be read, is no file, or is longer than [`Artifact::MOST`].
    pub fn read(path: &Path) -> Result<Self, Error> {
        let metadata = fs::metadata(path).map_err(|error| Error::io(path, &error))?;
        if metadata.is_file() && metadata.len() > Self::MOST {
            let len = metadata.len();
            return Err(Error::usage(format!("{}: {len} bytes; more than {} are not read", shown(path), Self::MOST)));
        }
        let file = crate::case::files::read_file(path)?;
        Ok(Self::parse(Form::of(path), file))
    }

    /// Reads the bytes of a file. Any bytes can be read in any form.
    pub fn parse(form: Form, file: Vec<u8>) -> Self {
        match form {
            Form::Bytes => Self { bytes: file, cuts: None },
            Form::Cut => {
                let CutInput { bytes, cuts } = CutInput::parse(&file);
                Self { bytes: bytes.to_vec(), cuts: Some(cuts) }
            }
            Form::Structured => {
                // Drawing fails only where the state runs out.
                let drawn = Structured::arbitrary(&mut Unstructured::new(&file));
                Self { bytes: drawn.map(|drawn| drawn.0).unwrap_or_default(), cuts: None }
            }
        }
    }

    /// The case to judge.
    pub fn case(&self) -> Case<'_> {
        match self.cuts {
            Some(cuts) => Case::with_cuts(&self.bytes, cuts),
            None => Case::new(&self.bytes),
        }
    }

    /// The file that reads back as this, and the ending of its name.
    pub fn file(&self) -> (Vec<u8>, &'static str) {
        match &self.cuts {
            Some(cuts) => (CutInput::compose(&self.bytes, cuts), "cut"),
            None => (self.bytes.clone(), "bin"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_tells_the_form() {
        for (path, form) in [
            ("fuzz/artifacts/differential/crash-1", Form::Bytes),
            ("fuzz/artifacts/streaming/crash-1", Form::Cut),
            ("fuzz/artifacts/structured/slow-unit-1", Form::Structured),
            ("corpus/regressions/a.cut", Form::Cut),
            ("streaming/a.bin", Form::Bytes),
            ("streaming", Form::Bytes),
        ] {
            assert_eq!(Form::of(Path::new(path)), form, "{path}");
        }
    }

    #[test]
    fn what_is_written_reads_back() {
        for cuts in [None, Some(Cuts::NONE), Some(Cuts::new([1, 2, 2], 5))] {
            let artifact = Artifact { bytes: b"a\xFF\xE2\x82b".to_vec(), cuts };
            let (file, ending) = artifact.file();
            let form = Form::of(Path::new(&format!("x.{ending}")));
            assert_eq!(Artifact::parse(form, file), artifact);
        }
    }
}
