//! An adapter in Rust, as `docs/adapter.md` describes it, for `core::str::from_utf8` and `String::from_utf8_lossy`:
//!
//! ```console
//! $ cargo build --example adapter
//! $ utfuzz check --adapter target/debug/examples/adapter
//! ```

use std::io::{self, BufRead, Write};

/// What an adapter says first. The program is a part of utfuzz, which knows the version of `core`.
fn greeting() -> String {
    let version = utfuzz::COMPILER;
    format!(
        "utfuzz 1 lines
package=core
version={version}
name=core-str
answers=verdict offset length
contract=rfc3629 maximal-subpart no-output bom-kept incomplete-reported
name=core-str-lossy
answers=output
contract=rfc3629 maximal-subpart U+FFFD bom-kept
"
    )
}

fn main() -> io::Result<()> {
    let (greeting, entry) = (greeting(), std::env::args().nth(1));
    let mut out = io::stdout().lock();
    match &entry {
        None => writeln!(out, "{greeting}")?,
        Some(entry) => {
            // What precedes the first name, then the keys of this entry point.
            let mut blocks = greeting.split("name=");
            let common = blocks.next().unwrap_or_default();
            let block = blocks.find(|block| block.lines().next() == Some(entry)).unwrap_or_default();
            writeln!(out, "{common}name={block}")?;
        }
    }
    out.flush()?;
    let is_lossy = entry.as_deref() == Some("core-str-lossy");
    let mut answers = String::new();
    for line in io::stdin().lock().lines() {
        let line = line?;
        if line.is_empty() {
            out.write_all(answers.as_bytes())?;
            out.flush()?;
            answers.clear();
            continue;
        }
        let bytes = from_hex(&line);
        let answer = match (is_lossy, std::str::from_utf8(&bytes)) {
            (true, _) => format!("2 -1 -1 {}", hex(String::from_utf8_lossy(&bytes).as_bytes())),
            (false, Ok(_)) => "1 -1 -1 -".to_owned(),
            (false, Err(error)) => format!("0 {} {} -", error.valid_up_to(), error.error_len().unwrap_or(0)),
        };
        answers += &(answer + "\n");
    }
    Ok(())
}

fn from_hex(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks_exact(2);
    let value = |pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap_or_default(), 16).unwrap_or_default();
    pairs.map(value).collect()
}

fn hex(bytes: &[u8]) -> String {
    match bytes {
        [] => ".".to_owned(),
        _ => bytes.iter().map(|byte| format!("{byte:02X}")).collect(),
    }
}
