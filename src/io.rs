//! Files written in one step, and untrusted text made safe to print.

use crate::error::Error;
use std::path::Path;

/// Writes a file in one step: whoever reads it sees what was there before, or all of this.
///
/// # Errors
/// The file, or one beside it, cannot be written.
pub fn replace_file(path: &Path, text: &[u8]) -> Result<(), Error> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".new");
    let beside = path.with_file_name(name);
    let written = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, path));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&beside);
        Error::io(path, &error)
    })
}
