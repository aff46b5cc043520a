//! The findings for programs: one object, the fields of [`Findings`].

use crate::report::escape;
use crate::report::findings::{Exporter, Findings};
use std::io::{self, Write};

/// One JSON object, and a line feed.
pub struct Json;

impl Exporter for Json {
    fn export(&self, findings: &Findings, out: &mut dyn Write) -> io::Result<()> {
        out.write_all(escape::json(findings)?.as_bytes())
    }
}
