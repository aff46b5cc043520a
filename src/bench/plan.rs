//! What is measured on.

use crate::bench::Operation;
use crate::bench::texts::{SCRIPTS, corrupted, latin_1, page, random};
use crate::case::files::files_below;
use crate::error::Error;
use crate::text::matches_glob;
use std::path::Path;
use std::time::Duration;

/// What to do.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The texts, each with what is done to it.
    pub texts: Vec<Text>,
    /// How often each subject is timed on each.
    pub rounds: usize,
    /// About how long each time.
    pub sample: Duration,
    /// Which subjects: names, `*` standing for any characters; all where there are none.
    pub subjects: Vec<String>,
}

/// A text.
#[derive(Clone, Debug)]
pub struct Text {
    /// Its name.
    pub name: String,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// What is done to it.
    pub operations: Vec<Operation>,
}

impl Text {
    fn new(name: impl Into<String>, bytes: Vec<u8>, operations: &[Operation]) -> Self {
        Self { name: name.into(), bytes, operations: operations.to_vec() }
    }
}

/// The length of most texts: more than a first-level cache holds.
const LEN: usize = 80_000;

impl Plan {
    /// Text in every script, whole, corrupted and cut off, random bytes and Latin-1; every length up to 128; large ones.
    pub fn built_in(quick: bool) -> Self {
        // Text is in UTF-8; Latin-1 is another matter.
        let all: Vec<_> = Operation::ALL.into_iter().filter(|one| *one != Operation::FromLatin1).collect();
        let all = &all[..];
        let mut texts: Vec<Text> = SCRIPTS.iter().map(|script| Text::new(script.name, script.text(LEN), all)).collect();
        texts.push(Text::new("page", page(LEN), all));
        for (percent, one_in) in [("0.1", 1000), ("1", 100), ("10", 10)] {
            for script in &SCRIPTS {
                let name = format!("{}, {percent} % corrupted", script.name);
                texts.push(Text::new(name, corrupted(script.text(LEN), one_in), &[Operation::Lossy, Operation::Utf16]));
            }
        }
        for (name, bytes) in [("random bytes", random(LEN)), ("latin-1", latin_1(LEN))] {
            texts.push(Text::new(name, bytes, &[Operation::Lossy, Operation::Utf16, Operation::FromLatin1]));
        }
        let cut_off = [&SCRIPTS[8].text(LEN)[..], b"\xE4\xBD"].concat();
        texts.push(Text::new("chinese, cut off", cut_off, all));
        let sizes: &[usize] = if quick { &[1 << 10, 1 << 20] } else { &[1 << 10, 1 << 16, 1 << 20, 1 << 24, 1 << 28] };
        for &size in sizes {
            for script in [&SCRIPTS[0], &SCRIPTS[8]] {
                texts.push(Text::new(
                    format!("{}, {}", script.name, words(size)),
                    script.text(size),
                    &[Operation::Validate],
                ));
            }
        }
        let step = if quick { 8 } else { 1 };
        for len in (0..=128).step_by(step) {
            texts.push(Text::new(format!("ascii, {len}"), vec![b'a'; len], &[Operation::Validate]));
            texts.push(Text::new(format!("mixed, {len}"), mixed(len), &[Operation::Validate]));
        }
        let (rounds, sample) = if quick { (5, Duration::from_micros(300)) } else { (15, Duration::from_millis(1)) };
        Self { texts, rounds, sample, subjects: Vec::new() }
    }

    /// These files, and those below these directories, with every operation.
    ///
    /// # Errors
    /// One cannot be read, or there is none.
    pub fn of_files(paths: &[std::path::PathBuf], quick: bool) -> Result<Self, Error> {
        let mut files = Vec::new();
        for path in paths {
            match path.is_dir() {
                true => files.extend(files_below(path)?),
                false => files.push(path.clone()),
            }
        }
        if files.is_empty() {
            return Err(Error::usage("there is no file below these directories; name some text to measure on"));
        }
        let read = |path: &Path| std::fs::read(path).map_err(|error| Error::io(path, &error));
        let text = |path: &Path| Ok(Text::new(path.to_string_lossy(), read(path)?, &Operation::ALL));
        let texts = files.iter().map(|path| text(path)).collect::<Result<_, Error>>()?;
        Ok(Self { texts, ..Self::built_in(quick) })
    }

    /// Whether a subject of this name takes part.
    pub fn selects(&self, name: &str) -> bool {
        self.subjects.is_empty() || self.subjects.iter().any(|glob| matches_glob(glob, name))
    }
}

/// Short text of all widths, of just this length.
fn mixed(len: usize) -> Vec<u8> {
    let mut text = "aé€ b😀ñ ж".repeat(1 + len / 8);
    let end = (0..=len.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    text.truncate(end);
    text.extend(std::iter::repeat_n('a', len - end));
    text.into_bytes()
}

fn words(size: usize) -> String {
    match size {
        ..1_048_576 => format!("{} KiB", size >> 10),
        _ => format!("{} MiB", size >> 20),
    }
}
