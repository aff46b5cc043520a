//! Untrusted text, made safe to print.

use std::path::Path;

/// A path that is safe to print.
pub fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

/// Untrusted text that is safe to print on a line: controls, line separators, what reorders text and
/// what XML cannot hold are escaped.
pub fn printable(text: &str) -> String {
    let escape = |c: char| {
        let unsafe_here = c.is_control()
            || matches!(c, '\u{61C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}');
        if unsafe_here { c.escape_default().collect() } else { String::from(c) }
    };
    text.chars().map(escape).collect()
}
