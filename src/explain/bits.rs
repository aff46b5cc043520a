//! Sequences bit by bit: hexadecimal, octal and binary, and which bits are payload.

use crate::spec::model::payload;
use crate::spec::{Contract, Reading, Unit, units};

/// At most so many units are shown.
const MOST: usize = 16;

/// Four lines for each unit; where there are many, only for those that are not ASCII.
///
/// The payload stands under the bits it is of, with a dot under every bit that only marks.
pub fn bits(contract: &Contract, bytes: &[u8]) -> String {
    let is_ascii = |unit: &Unit| unit.len == 1 && matches!(unit.reading, Reading::WellFormed(0..=0x7F));
    let all = units(contract, bytes).take(MOST + 1).count() <= MOST;
    let mut shown = units(contract, bytes).filter(|unit| all || !is_ascii(unit));
    let mut text: Vec<String> = shown.by_ref().take(MOST).map(|unit| of_unit(&unit, &bytes[unit.range()])).collect();
    let more = shown.count();
    if more > 0 {
        text.push(format!("  … {more} more\n"));
    }
    text.join("\n")
}

fn of_unit(unit: &Unit, part: &[u8]) -> String {
    // A run of ill-formed bytes may be long.
    let part = &part[..part.len().min(8)];
    let line = |name: &str, of_byte: &dyn Fn(u8) -> String| {
        let columns: Vec<String> = part.iter().map(|&byte| format!("{:8}", of_byte(byte))).collect();
        format!("{name:8} {}", columns.join(" ").trim_end())
    };
    let marked = line("payload", &|byte| {
        let marks = 8 - payload_bits(byte);
        format!("{}{}", ".".repeat(marks), &format!("{byte:08b}")[marks..])
    });
    let spelled = match unit.reading {
        Reading::WellFormed(code_point) => format!("  = {}", spelled(part, code_point)),
        Reading::IllFormed { .. } => String::new(),
    };
    let lines = [
        line("hex", &|byte| format!("{byte:02X}")),
        line("octal", &|byte| format!("{byte:03o}")),
        line("binary", &|byte| format!("{byte:08b}")),
        marked + &spelled,
    ];
    let (first, other) = (format!("{:6}", unit.start), " ".repeat(6));
    let heads = [&first, &other, &other, &other];
    heads.into_iter().zip(lines).map(|(head, line)| format!("  {head}  {line}\n")).collect()
}

/// The bits of each half of a pair, or of the code point, in fours from the right.
fn spelled(part: &[u8], code_point: u32) -> String {
    if let (6, [0xED, _, _, trail @ ..]) = (part.len(), part) {
        let halves = [payload(&part[..3]), payload(trail)].map(|half| format!("U+{half:04X}"));
        return format!("{} = U+{code_point:04X}", halves.join(" "));
    }
    let count: usize = part.iter().map(|&byte| payload_bits(byte)).sum();
    let digits = format!("{code_point:0count$b}");
    let mut fours = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(4) {
            fours.push(' ');
        }
        fours.push(digit);
    }
    format!("{fours} = U+{code_point:04X}")
}

/// How many bits of a byte are payload: those behind its leading ones and the zero that ends them (RFC 2279 §2).
fn payload_bits(byte: u8) -> usize {
    match byte.leading_ones() as usize {
        0 => 7,
        marks @ 1..=6 => 7 - marks,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::encode;
    use crate::spec::grammar::{ALL, CESU8};
    use crate::spec::model::generalised_len;

    #[test]
    fn the_euro_sign_is_taken_apart() {
        let text = bits(&Contract::STANDARD, b"\xE2\x82\xAC");
        let lines: Vec<&str> = text.lines().map(str::trim_start).collect();
        assert_eq!(lines[0], "0  hex      E2       82       AC");
        assert_eq!(lines[1], "octal    342      202      254");
        assert_eq!(lines[2], "binary   11100010 10000010 10101100");
        assert_eq!(lines[3], "payload  ....0010 ..000010 ..101100  = 0010 0000 1010 1100 = U+20AC");
    }

    #[test]
    fn a_pair_is_shown_by_its_halves() {
        let contract = Contract { grammar: &CESU8, ..Contract::STANDARD };
        let text = bits(&contract, b"\xED\xA1\x8C\xED\xBE\xB4");
        assert!(text.ends_with("..110100  = U+D84C U+DFB4 = U+233B4\n"), "{text}");
    }

    /// The bits that are not dots are those of the code point, from the first to the last.
    #[test]
    fn the_payload_is_the_code_point() {
        for grammar in ALL {
            let contract = Contract { grammar, ..Contract::STANDARD };
            let mut seen = 0;
            for code_point in (0..31).flat_map(|bit| [1 << bit, (1u32 << bit) - 1, (1 << bit) + (1 << bit) / 4]) {
                let mut bytes = Vec::new();
                if encode(grammar, code_point, &mut bytes).is_err() || bytes.len() != generalised_len(code_point) {
                    continue;
                }
                let text = bits(&contract, &bytes);
                let last = text.lines().last().unwrap();
                let (payload, rest) = last.trim_start().strip_prefix("payload").unwrap().split_once('=').unwrap();
                let digits: String = payload.chars().filter(char::is_ascii_digit).collect();
                assert_eq!(u32::from_str_radix(&digits, 2), Ok(code_point), "{text}");
                let fours: String = rest.split('=').next().unwrap().split_whitespace().collect();
                assert_eq!(fours, digits, "{text}");
                seen += 1;
            }
            assert!(seen > 40, "{}: {seen}", grammar.name);
        }
    }

    #[test]
    fn what_is_no_sequence_has_its_marks_too() {
        let text = bits(&Contract::STANDARD, b"\xC0\xFF");
        assert!(text.contains("payload  ...00000\n") && text.contains("payload  ........\n"), "{text}");
        assert_eq!(bits(&Contract::STANDARD, b""), "");
        let many = bits(&Contract::STANDARD, &[&[b'a'; 40][..], b"\xC3\xA4", &[0xFF; 20]].concat());
        assert!(
            !many.contains("hex      61") && many.contains("C3       A4") && many.ends_with("… 5 more\n"),
            "{many}"
        );
    }
}
