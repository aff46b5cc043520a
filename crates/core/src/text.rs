//! Small functions on text: hexadecimal, patterns for names, and untrusted text made safe to print.

use core::fmt::Write;
use std::path::Path;

/// A path that is safe to print.
pub fn shown(path: &Path) -> String {
    printable(&path.to_string_lossy())
}

/// Untrusted text that is safe to print on one line: control characters, line separators, common invisible characters,
/// those that change the direction of text and those that XML cannot contain are escaped.
pub fn printable(text: &str) -> String {
    let mut printable = String::with_capacity(text.len());
    for c in text.chars() {
        if is_printable(c) {
            printable.push(c);
        } else {
            printable.extend(c.escape_default());
        }
    }
    printable
}

/// Untrusted text of several lines that is safe to print: line feeds are kept, everything else is as in [`printable`].
pub fn printable_lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

/// The start of untrusted text, up to this many characters, in quotes and safe to print.
pub fn quoted(text: &str, most: usize) -> String {
    let start: String = text.chars().take(most).collect();
    let more = if start.len() < text.len() { "…" } else { "" };
    format!("\"{}{more}\"", printable(&start))
}

/// Whether [`printable`] leaves this character unchanged.
pub fn is_printable(c: char) -> bool {
    !c.is_control()
        && !matches!(c, '\u{61C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{FEFF}' | '\u{FFFE}' | '\u{FFFF}')
}

/// JSON with every character safe to print.
pub fn printable_json(text: &str) -> String {
    // Outside strings, this JSON has only line feeds and printable ASCII, so an unsafe character is inside a string.
    let escape = |c: char| match c {
        '\n' => String::from(c),
        _ if is_printable(c) => String::from(c),
        _ => c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
    };
    text.chars().map(escape).collect()
}

/// A number with its noun, whose plural ends in `s`: `1 byte`, `2 bytes`.
pub fn counted(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}

/// Bytes as two upper-case hexadecimal digits each.
pub fn hex(bytes: &[u8]) -> String {
    hex_separated(bytes, "")
}

/// Bytes as two upper-case hexadecimal digits each, with `separator` between them.
pub fn hex_separated(bytes: &[u8], separator: &str) -> String {
    let mut text = String::with_capacity(bytes.len() * (2 + separator.len()));
    for (index, byte) in bytes.iter().enumerate() {
        let separator = if index == 0 { "" } else { separator };
        let _ = write!(text, "{separator}{byte:02X}");
    }
    text
}

/// Whether a name matches a pattern in which `*` matches any characters, or none.
pub fn matches_glob(glob: &str, name: &str) -> bool {
    let Some((head, tail)) = glob.split_once('*') else { return glob == name };
    let Some(rest) = name.strip_prefix(head) else { return false };
    (0..=rest.len()).filter(|&at| rest.is_char_boundary(at)).any(|at| matches_glob(tail, &rest[at..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_in_hexadecimal() {
        assert_eq!(hex(&[]), "");
        assert_eq!(hex(&[0, 0x9F, 0xFF]), "009FFF");
        assert_eq!(hex_separated(&[0xC0, 0xAF], " "), "C0 AF");
    }

    #[test]
    fn nothing_unprintable_is_left() {
        assert_eq!(printable("a\nb\u{1B}é\u{202E}"), "a\\nb\\u{1b}é\\u{202e}");
        assert_eq!(printable_lines("a\nb\r\n"), "a\nb\\r\n");
        let all: String = ('\0'..=char::MAX).collect();
        assert!(printable(&all).chars().all(is_printable));
    }

    #[test]
    fn one_thing_is_singular() {
        assert_eq!([0, 1, 2].map(|number| counted(number, "hit")), ["0 hits", "1 hit", "2 hits"]);
    }

    #[test]
    fn patterns() {
        for (glob, name, fits) in [
            ("own*", "own", true),
            ("own*", "own-avx2", true),
            ("*-avx2", "own-avx2", true),
            ("a*b*c", "aXbYbc", true),
            ("a*b*c", "acb", false),
            ("own", "own-avx2", false),
            ("*é", "éé", true),
        ] {
            assert_eq!(matches_glob(glob, name), fits, "{glob} {name}");
        }
    }
}
