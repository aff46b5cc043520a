//! A short way to write bytes: `b"a"*63 + FF + b"text"`.

use core::fmt::Write;

/// Runs of one byte as a count, printable ASCII as text, the rest in hexadecimal. Short for an input that is mostly
/// padding, and safe to print whatever the bytes.
pub fn notation(bytes: &[u8]) -> String {
    /// A run of so many equal bytes is counted.
    const RUN: usize = 5;
    let mut parts = Vec::new();
    let mut rest = bytes;
    while let Some(&first) = rest.first() {
        let run = equal(rest);
        let (part, len) = if run >= RUN {
            (format!("{}*{run}", piece(&[first])), run)
        } else {
            let kind = is_text(first);
            let ends = |at: &usize| is_text(rest[*at]) != kind || equal(&rest[*at..]) >= RUN;
            let len = (1..rest.len()).find(ends).unwrap_or(rest.len());
            (piece(&rest[..len]), len)
        };
        parts.push(part);
        rest = &rest[len..];
    }
    if parts.is_empty() { "b\"\"".into() } else { parts.join(" + ") }
}

/// How many bytes at the start are the same.
fn equal(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|&&byte| Some(&byte) == bytes.first()).count()
}

fn is_text(byte: u8) -> bool {
    matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\'
}

/// Bytes of one sort.
fn piece(bytes: &[u8]) -> String {
    match bytes.first() {
        Some(&first) if is_text(first) => format!("b\"{}\"", bytes.escape_ascii()),
        _ => {
            let mut hex = String::new();
            for (index, byte) in bytes.iter().enumerate() {
                let gap = if index > 0 { " " } else { "" };
                // Writing to a `String` does not fail.
                let _ = write!(hex, "{gap}{byte:02X}");
            }
            hex
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_is_counted_and_the_rest_is_shown() {
        for (bytes, text) in [
            (&b""[..], "b\"\""),
            (b"abc", "b\"abc\""),
            (b"\xFF", "FF"),
            (&[&[b'a'; 63][..], b"\xFF"].concat(), "b\"a\"*63 + FF"),
            (&[&[b' '; 15][..], b"\xE2\x82", &[0x80; 6]].concat(), "b\" \"*15 + E2 82 + 80*6"),
            (b"a\"b\x1B[2J", "b\"a\" + 22 + b\"b\" + 1B + b\"[2J\""),
        ] {
            assert_eq!(notation(bytes), text);
        }
    }
}
