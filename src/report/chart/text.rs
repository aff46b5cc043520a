//! The code page for a terminal of eighty columns.

use crate::report::chart::{Chart, Role, Span};
use crate::spec::Grammar;
use std::io::{self, Write};

/// Writes the code page, what its signs mean, and the ranges; in colours only where the reader is a terminal.
///
/// # Errors
/// Those of the writer.
pub fn text(grammar: &'static Grammar, colours: bool, out: &mut dyn Write) -> io::Result<()> {
    let chart = Chart::of(grammar);
    writeln!(out, "{}: {}\n", chart.grammar, chart.source)?;
    write!(out, "   ")?;
    for column in 0..16 {
        write!(out, "  _{column:X}")?;
    }
    writeln!(out)?;
    for line in chart.bytes.chunks(16) {
        write!(out, "{:X}_ ", line[0].byte >> 4)?;
        for cell in line {
            write!(out, " {}", paint(colours, cell.role, &format!("{:>3}", cell.symbol())))?;
        }
        writeln!(out)?;
    }
    writeln!(out)?;
    for role in Role::ALL {
        let count = chart.bytes.iter().filter(|cell| cell.role == role).count();
        let signs = match role {
            Role::Single => "NUL, A",
            Role::Continuation => "+00",
            Role::Lead => "2, 3",
            Role::RestrictedLead => "3!",
            Role::Never => "--",
        };
        if count > 0 {
            writeln!(out, "{}  {count:3} bytes: {}", paint(colours, role, &format!("{signs:>6}")), role.words())?;
        }
    }
    for (fault, bytes) in chart.faults() {
        writeln!(out, "             {fault}: {bytes}")?;
    }
    ranges(&chart, out)
}

fn ranges(chart: &Chart, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\nbits  {:10}  {:10}  {:>10}  bytes", "first", "last", "code points")?;
    for span in &chart.lengths {
        let (first, last) = hex(span);
        writeln!(out, "{:4}  {first:10}  {last:10}  {:11}  {}", span.bits, span.count, span.patterns().join(" "))?;
    }
    writeln!(out, "\n      {:10}  {:10}  {:>10}  bytes", "first", "last", "code points")?;
    for span in &chart.rows {
        let (first, last) = hex(span);
        let form = if span.form.is_empty() { String::new() } else { format!("  {}", span.form) };
        writeln!(out, "      {first:10}  {last:10}  {:11}  {}{form}", span.count, span.ranges().join(" "))?;
    }
    writeln!(out, "\nIn octal, where a continuation byte is two digits behind a 2:\n")?;
    for span in &chart.lengths {
        for (code_point, bytes) in [span.first, span.last].into_iter().zip(span.octal()) {
            writeln!(out, "      {code_point:>11o}  {bytes}")?;
        }
    }
    Ok(())
}

fn hex(span: &Span) -> (String, String) {
    (format!("U+{:04X}", span.first), format!("U+{:04X}", span.last))
}

fn paint(colours: bool, role: Role, text: &str) -> String {
    let code = match role {
        Role::Single => return text.to_owned(),
        Role::Continuation => 33,
        Role::Lead => 32,
        Role::RestrictedLead => 35,
        Role::Never => 31,
    };
    if colours { format!("\x1B[{code}m{text}\x1B[0m") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::grammar::ALL;

    fn written(grammar: &'static Grammar, colours: bool) -> String {
        let mut out = Vec::new();
        text(grammar, colours, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn colours_are_all_that_differs() {
        for grammar in ALL {
            let (plain, mut coloured) = (written(grammar, false), written(grammar, true));
            assert!(!plain.contains('\x1B') && coloured.contains("\x1B[31m"), "{coloured}");
            for code in [0, 31, 32, 33, 35] {
                coloured = coloured.replace(&format!("\x1B[{code}m"), "");
            }
            assert_eq!(coloured, plain);
            let page = plain.lines().take(19);
            assert!(page.into_iter().all(|line| line.chars().count() <= 80), "{plain}");
        }
    }
}
