//! Untrusted text made inert for a format.

use crate::text::printable;
use serde::Serialize;

/// Text that stays text in the middle of a line of Markdown: no markup, no HTML, no link, no end of a table's cell.
pub(super) fn markdown(text: &str) -> String {
    let mut escaped = String::new();
    for c in printable(text).chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '$' | '@' | ':' | '!' | '#') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    // GitHub makes a link of this without any markup.
    escaped.replace("www.", "www\\.").trim().to_owned()
}

/// Several lines of Markdown that are shown as they are.
pub(super) fn fenced(language: &str, text: &str) -> String {
    let lines = lines(text);
    let mut longest = 0;
    for run in lines.split(|c| c != '`') {
        longest = longest.max(run.len());
    }
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}{language}\n{}\n{fence}\n", lines.trim_end())
}

/// Untrusted text of several lines that is safe to print.
pub(super) fn lines(text: &str) -> String {
    text.split('\n').map(printable).collect::<Vec<_>>().join("\n")
}

/// A value as JSON that is safe to print, indented so that two of them can be compared line by line.
pub(super) fn json(value: &impl Serialize) -> serde_json::Result<String> {
    let text = serde_json::to_string_pretty(value)? + "\n";
    // Outside strings there is only ASCII, so what is unsafe to print stands inside one.
    let escape = |c: char| match c {
        '\n' => String::from(c),
        _ if safe(c) => String::from(c),
        _ => c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}")).collect(),
    };
    Ok(text.chars().map(escape).collect())
}

/// Whether a character can be printed as it is.
pub(super) fn safe(c: char) -> bool {
    printable(c.encode_utf8(&mut [0; 4])).chars().eq([c])
}
