//! Reads files left by fuzz targets or users as the inputs they represent.

use crate::case::{Input, input};
use crate::error::Error;
use crate::generate::structured::Structured;
use crate::text::shown;
use arbitrary::{Arbitrary, Unstructured};
use std::path::Path;

/// How the bytes of a file are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Form {
    /// The file is exactly what the decoders see.
    Bytes,
    /// Bytes and a trailer with the cuts: what the target `streaming` reads.
    Cut,
    /// Entropy for a generator: what the target `structured` reads.
    Structured,
    /// Entropy from which the target `roundtrip` generates conversions. It is not an input for decoders.
    Conversion,
}

impl Form {
    /// The name, for scripts.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bytes => "bytes",
            Self::Cut => "cut",
            Self::Structured => "structured",
            Self::Conversion => "conversion",
        }
    }

    /// The form of a file, determined by its path: `NAME.cut`, or in a directory named after the target, or one level below
    /// that; `NAME.bin` is always bytes. It does not depend on how the path is typed.
    pub fn of(path: &Path) -> Self {
        let directory = path.parent().filter(|parent| *parent != Path::new("")).unwrap_or(Path::new("."));
        let directory = directory.canonicalize().unwrap_or_else(|_| directory.to_owned());
        let below = |name: &str| directory.iter().rev().take(2).any(|part| part == name);
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("cut") => Self::Cut,
            Some("bin") => Self::Bytes,
            _ if below("streaming") => Self::Cut,
            _ if below("structured") => Self::Structured,
            _ if below("roundtrip") => Self::Conversion,
            _ => Self::Bytes,
        }
    }
}

/// The maximum size of a file in bytes: no fault of a decoder needs more, and no fuzz target writes more.
pub const LONGEST: u64 = 1 << 20;

/// Reads a file in the form that its path determines.
///
/// # Errors
/// It cannot be read, is longer than [`LONGEST`], or is not an input for decoders.
pub fn read(path: &Path) -> Result<Input, Error> {
    let file = input::read_file(path, LONGEST)?;
    parse(Form::of(path), file).ok_or_else(|| {
        let path = shown(path);
        Error::usage(format!("{path}: conversions, not an input for decoders; use `cargo fuzz run roundtrip {path}`"))
    })
}

/// Reads the bytes of a file; `None` for [`Form::Conversion`]. Any bytes can be read in any other form.
pub fn parse(form: Form, file: Vec<u8>) -> Option<Input> {
    match form {
        Form::Bytes => Some(Input { bytes: file, cuts: None }),
        Form::Cut => Some(Input::from_cut_file(&file)),
        Form::Structured => {
            // This fails only if the entropy runs out.
            let drawn = Structured::arbitrary(&mut Unstructured::new(&file));
            Some(Input { bytes: drawn.map(|drawn| drawn.0).unwrap_or_default(), cuts: None })
        }
        Form::Conversion => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Cuts;

    #[test]
    fn the_path_determines_the_form() {
        for (path, form) in [
            ("fuzz/artifacts/differential/crash-1", Form::Bytes),
            ("fuzz/artifacts/streaming/crash-1", Form::Cut),
            ("fuzz/artifacts/structured/slow-unit-1", Form::Structured),
            ("fuzz/artifacts/roundtrip/crash-1", Form::Conversion),
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
            let input = Input { bytes: b"a\xFF\xE2\x82b".to_vec(), cuts };
            let (file, ending) = input.to_file();
            let form = Form::of(Path::new(&format!("x.{ending}")));
            assert_eq!(parse(form, file), Some(input));
        }
    }

    #[test]
    fn a_file_of_conversions_is_not_taken_for_an_input() {
        let scratch = tempfile::tempdir().unwrap();
        let directory = scratch.path().join("roundtrip");
        std::fs::create_dir(&directory).unwrap();
        std::fs::write(directory.join("crash-1"), b"\xFF").unwrap();
        let error = read(&directory.join("crash-1")).unwrap_err().to_string();
        assert!(error.contains("cargo fuzz run roundtrip"), "{error}");
    }
}
