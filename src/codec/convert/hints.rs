//! Encodings that write all text in ASCII: what gives them away.

/// The encoding whose shift sequences are in ASCII text, and why, if there are any and all of them are well-formed.
pub(super) fn of_ascii(text: &[u8]) -> Option<(&'static str, String)> {
    escapes(text).or_else(|| hz(text)).or_else(|| utf_7(text))
}

/// The designations of ISO 2022 (ECMA-35), of which each of these encodings has some.
const DESIGNATIONS: [(&[u8], &str); 7] = [
    (b"\x1B$B", "ISO-2022-JP"),
    (b"\x1B$@", "ISO-2022-JP"),
    (b"\x1B(J", "ISO-2022-JP"),
    (b"\x1B(I", "ISO-2022-JP"),
    (b"\x1B$(D", "ISO-2022-JP"),
    (b"\x1B$)C", "ISO-2022-KR"),
    (b"\x1B$)A", "ISO-2022-CN"),
];

fn escapes(text: &[u8]) -> Option<(&'static str, String)> {
    let at = text.iter().position(|&byte| byte == 0x1B)?;
    let (escape, name) = DESIGNATIONS.iter().find(|(escape, _)| text[at..].starts_with(escape))?;
    let shown = escape[1..].escape_ascii();
    Some((name, format!("every byte is ASCII, and ESC {shown} at byte {at} selects a character set")))
}

/// HZ (RFC 1843): pairs of bytes between `~{` and `~}`, on one line.
fn hz(text: &[u8]) -> Option<(&'static str, String)> {
    let mut shifts = 0;
    for line in text.split(|&byte| byte == b'\n') {
        let mut rest = line;
        while let Some(at) = find(rest, b"~{") {
            let pairs = &rest[at + 2..];
            let end = find(pairs, b"~}")?;
            let all = pairs[..end].iter().all(|byte| (0x21..=0x77).contains(byte));
            if end == 0 || end % 2 == 1 || !all {
                return None;
            }
            shifts += 1;
            rest = &pairs[end + 2..];
        }
    }
    (shifts > 0).then(|| ("HZ-GB-2312", format!("every byte is ASCII, with {shifts} pairs of ~{{ and ~}}")))
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

/// UTF-7 (RFC 2152): UTF-16 in base64 between `+` and `-`.
fn utf_7(text: &[u8]) -> Option<(&'static str, String)> {
    let mut shifts = 0;
    let mut rest = text;
    while let Some(at) = rest.iter().position(|&byte| byte == b'+') {
        let digits = &rest[at + 1..];
        let len = digits.iter().take_while(|&&byte| sextet(byte).is_some()).count();
        let ends = digits.get(len) == Some(&b'-');
        rest = &digits[len..];
        if len == 0 && ends {
            // A plus sign.
            continue;
        }
        // Where the text was cut, this one is incomplete.
        if rest.is_empty() && shifts > 0 {
            break;
        }
        if !is_letters(&digits[..len]) {
            return None;
        }
        shifts += usize::from(ends || !rest.is_empty());
    }
    (shifts > 0)
        .then(|| ("UTF-7", format!("every byte is ASCII, and each of {shifts} plus signs begins letters in base64")))
}

/// Whether these digits of base64 are well-formed UTF-16 without ASCII letters and without rare characters.
fn is_letters(digits: &[u8]) -> bool {
    let (mut bits, mut count, mut units) = (0u32, 0, Vec::new());
    for sextet in digits.iter().filter_map(|&digit| sextet(digit)) {
        bits = bits << 6 | sextet;
        count += 6;
        if count >= 16 {
            count -= 16;
            units.push((bits >> count) as u16);
            bits &= (1 << count) - 1;
        }
    }
    let is_common = |c: char| {
        c.is_alphabetic()
            || matches!(c, '\u{A0}'..='\u{BF}' | '\u{2010}'..='\u{2044}' | '€' | '\u{3000}'..='\u{303F}' | '\u{FF00}'..='\u{FF65}' | '\u{1F300}'..='\u{1FAFF}')
    };
    let text: Result<String, _> = char::decode_utf16(units).collect();
    bits == 0
        && count < 6
        && text.is_ok_and(|text| {
            !text.is_empty()
                && text.chars().any(|c| !c.is_ascii())
                && text.chars().all(|c| is_common(c) && !c.is_ascii_alphanumeric())
        })
}

/// The value of a digit of base64.
fn sextet(digit: u8) -> Option<u32> {
    Some(u32::from(match digit {
        b'A'..=b'Z' => digit - b'A',
        b'a'..=b'z' => digit - b'a' + 26,
        b'0'..=b'9' => digit - b'0' + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shift_sequences_give_an_encoding_away() {
        let rows: [(&[u8], Option<&str>); 18] = [
            (b"\x1B$B$\"\x1B(B", Some("ISO-2022-JP")),
            (b"a \x1B(J\\\x1B(B", Some("ISO-2022-JP")),
            (b"\x1B$)C\x0E!!\x0F", Some("ISO-2022-KR")),
            (b"\x1B[31mred\x1B[0m", None),
            (b"a~{VPND~}b", Some("HZ-GB-2312")),
            (b"a~{VPN~}b", None),
            (b"~{VPND", None),
            (b"~/{x}", None),
            (b"caf+AOk-", Some("UTF-7")),
            (b"1 +- 1, caf+AOk.", Some("UTF-7")),
            (b"+2D3eAA-", Some("UTF-7")),
            (b"+2D0-", None),
            (b"1+1=2", None),
            (b"C++ and a+b", None),
            (b"foo+barbaz-", None),
            (b"+49 30 123", None),
            (b"+-", None),
            (b"", None),
        ];
        for (text, name) in rows {
            assert_eq!(of_ascii(text).map(|(name, _)| name), name, "{}", text.escape_ascii());
        }
    }
}
