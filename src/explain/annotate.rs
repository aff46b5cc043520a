//! Bytes made readable: hex, one unit a line, with what `spec` reads there.

use crate::spec::{Contract, Reading, Rule, Unit, units};

/// At most so many lines stand before and behind the first ill-formed unit.
const AROUND: usize = 24;

/// One line for each unit, runs of ASCII together; a long input is shown around its first ill-formed unit.
pub fn annotate(contract: &Contract, bytes: &[u8]) -> String {
    let lines = lines(contract, bytes);
    let first = lines.iter().position(|line| line.ill_formed).unwrap_or(0);
    let from = first.saturating_sub(AROUND);
    let until = lines.len().min(first + AROUND + 1);
    let mut text = String::new();
    if from > 0 {
        text += &format!("  … {from} lines before\n");
    }
    for line in &lines[from..until] {
        text += &line.text;
        text.push('\n');
    }
    if until < lines.len() {
        text += &format!("  … {} lines behind\n", lines.len() - until);
    }
    if lines.is_empty() {
        text += "  (no bytes)\n";
    }
    text
}

struct Line {
    text: String,
    ill_formed: bool,
}

fn lines(contract: &Contract, bytes: &[u8]) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut units = units(contract, bytes).peekable();
    while let Some(unit) = units.next() {
        let is_ascii = |unit: &Unit| matches!(unit.reading, Reading::WellFormed(0..=0x7F)) && unit.len == 1;
        if is_ascii(&unit) {
            let mut end = unit.range().end;
            while end - unit.start < 16
                && let Some(next) = units.next_if(is_ascii)
            {
                end = next.range().end;
            }
            let run = &bytes[unit.start..end];
            let says = format!("\"{}\"", escape(run));
            lines.push(line(unit.start, run, &says, false));
            continue;
        }
        let part = &bytes[unit.range()];
        match unit.reading {
            Reading::WellFormed(code_point) => {
                let shown = char::from_u32(code_point).filter(|&c| is_plain(c));
                let shown = shown.map_or(String::new(), |c| format!(" {c}"));
                lines.push(line(unit.start, part, &format!("U+{code_point:04X}{shown}"), false));
            }
            Reading::IllFormed { kind, .. } => {
                let rule = Rule::broken(contract.grammar, kind, &bytes[unit.start..]);
                lines.push(line(unit.start, part, &format!("{kind}: {} [{}]", rule.says, rule.source), true));
            }
        }
    }
    lines
}

fn line(start: usize, part: &[u8], says: &str, ill_formed: bool) -> Line {
    let mark = if ill_formed { '!' } else { ' ' };
    Line { text: format!("{mark} {start:6}  {:<47}  {says}", hex(part)), ill_formed }
}

/// Upper-case pairs separated by spaces, cut at 64 bytes.
pub(super) fn hex(bytes: &[u8]) -> String {
    let mut pairs: Vec<String> = bytes.iter().take(64).map(|byte| format!("{byte:02X}")).collect();
    if bytes.len() > 64 {
        pairs.push(format!("… {} bytes", bytes.len()));
    }
    pairs.join(" ")
}

/// Untrusted bytes as text that is safe for a terminal: printable ASCII, all else escaped.
pub fn escape(bytes: &[u8]) -> String {
    bytes.escape_ascii().to_string()
}

/// Letters and signs that change nothing but their own cell of a terminal: no controls, marks, format or private use.
fn is_plain(c: char) -> bool {
    let bidi = matches!(u32::from(c), 0x0590..=0x08FF | 0xFB1D..=0xFDFF | 0xFE70..=0xFEFF | 0x1_0800..=0x1_0FFF | 0x1_E800..=0x1_EFFF);
    c.is_alphanumeric() && !bidi || matches!(u32::from(c), 0x20A0..=0x20C0 | 0x2190..=0x21FF | 0x1_F300..=0x1_F64F)
}
