//! The committed seed corpora, such as the one that `cargo fuzz run differential` starts from.
//!
//! `cargo run --example write_seeds` writes them to `corpus/`; a test compares the directories with these lists.

use crate::case::Case;
use crate::spec::grammar;
use crate::spec::grammar::{RFC2279, Row};
use crate::utf8::ByteClass;
use crate::utf8::{push_extended, push_form};
use std::collections::BTreeMap;

/// Name and bytes of every seed, sorted by name, without duplicates.
pub fn differential() -> BTreeMap<String, Vec<u8>> {
    let mut seeds = Seeds::default();
    seeds.add("empty", b"");
    widths(&mut seeds);
    faults(&mut seeds);
    edges(&mut seeds);
    examples(&mut seeds);
    texts(&mut seeds);
    class_pairs(&mut seeds);
    fault_pairs(&mut seeds);
    lengths(&mut seeds);
    sizes(&mut seeds);
    paths(&mut seeds);
    seeds.by_name
}

/// The seeds of the target `relatives`: the bounds of every row of every grammar, whole and truncated, and every pair
/// of `RELATED` sequences, which exercise surrogate pairing and fast paths.
pub fn relatives() -> BTreeMap<String, Vec<u8>> {
    let mut seeds = Seeds::default();
    for grammar in grammar::ALL {
        let bounds = |row: &Row| -> [Vec<u8>; 2] {
            let (lowest, highest) = row.bytes.iter().copied().unzip();
            [lowest, highest]
        };
        for (index, row) in grammar.rows.iter().enumerate() {
            let [lowest, highest] = bounds(row);
            let name = |what: &str| format!("{}-{index}-{what}", grammar.name.replace('+', "-with-"));
            seeds.add(name("lowest"), &lowest);
            seeds.add(name("highest"), &highest);
            seeds.add(name("cut-off"), &highest[..highest.len() - 1]);
            seeds.add(name("far"), &[&[b'a'; 61][..], &lowest, b"a"].concat());
        }
        let together: Vec<u8> = grammar.rows.iter().flat_map(bounds).flatten().collect();
        seeds.add(format!("{}-together", grammar.name.replace('+', "-with-")), &together);
    }
    for (name, one) in RELATED {
        for (other_name, other) in RELATED {
            seeds.add(format!("{name}-{other_name}"), &[one, other].concat());
        }
    }
    seeds.by_name
}

/// Sequences that some relatives of UTF-8 accept and others reject.
const RELATED: [(&str, &[u8]); 8] = [
    ("null", b"\0"),
    ("null-as-two", b"\xC0\x80"),
    ("lead-surrogate", b"\xED\xA0\xBD"),
    ("trail-surrogate", b"\xED\xB2\xA9"),
    ("pair", b"\xED\xA0\xBD\xED\xB2\xA9"),
    ("four", b"\xF0\x9F\x92\xA9"),
    ("five", b"\xF8\x88\x80\x80\x80"),
    ("windows", b"\x80\x81"),
];

#[derive(Default)]
struct Seeds {
    by_name: BTreeMap<String, Vec<u8>>,
}

impl Seeds {
    fn add(&mut self, name: impl Into<String>, bytes: &[u8]) {
        if !self.by_name.values().any(|known| known == bytes) {
            self.by_name.insert(name.into(), bytes.to_vec());
        }
    }
}

fn encoded(code_point: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    push_extended(code_point, &mut bytes);
    bytes
}

/// A code point in the form of `len` bytes, which may be overlong.
fn form(code_point: u32, len: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    push_form(code_point, len, &mut bytes);
    bytes
}

/// The bounds of every row of RFC 3629, and of RFC 2279, whose further rows are ill-formed under RFC 3629.
fn widths(seeds: &mut Seeds) {
    for code_point in [
        0x00, 0x61, 0x7F, 0x80, 0x7FF, 0x800, 0xFFF, 0x1000, 0xCFFF, 0xD000, 0xD7FF, 0xE000, 0xFDD0, 0xFDEF, 0xFEFF,
        0xFFFD, 0xFFFE, 0xFFFF, 0x1_0000, 0x1_FFFE, 0x1_FFFF, 0x3_FFFF, 0x4_0000, 0xF_FFFF, 0x10_0000, 0x10_FFFE,
        0x10_FFFF,
    ] {
        seeds.add(format!("scalar-{code_point:04x}"), &encoded(code_point));
    }
    for (index, Row { bytes, .. }) in RFC2279.rows.iter().enumerate() {
        let first: Vec<u8> = bytes.iter().map(|&(first, _)| first).collect();
        let last: Vec<u8> = bytes.iter().map(|&(_, last)| last).collect();
        seeds.add(format!("row-{index:02}-first"), &first);
        seeds.add(format!("row-{index:02}-last"), &last);
        for cut in 1..first.len() {
            seeds.add(format!("cut-{index:02}-{cut}-first"), &first[..cut]);
            seeds.add(format!("cut-{index:02}-{cut}-last"), &last[..cut]);
            seeds.add(format!("cut-{index:02}-{cut}-then-ascii"), &[&first[..cut], b"a"].concat());
            seeds.add(format!("cut-{index:02}-{cut}-then-lead"), &[&last[..cut], b"\xC3\xA9"].concat());
        }
    }
}

fn faults(seeds: &mut Seeds) {
    for (len, last) in [(2, 0x7F), (3, 0x7FF), (4, 0xFFFF), (5, 0x1F_FFFF), (6, 0x3FF_FFFF)] {
        for code_point in [0, 0x2F, last] {
            seeds.add(format!("overlong-{len}-{code_point:04x}"), &form(code_point, len));
        }
    }
    for surrogate in [0xD800, 0xDB7F, 0xDBFF, 0xDC00, 0xDFFF] {
        seeds.add(format!("surrogate-{surrogate:04x}"), &encoded(surrogate));
    }
    for (lead, trail) in [(0xD800, 0xDC00), (0xDBFF, 0xDFFF), (0xDC00, 0xD800)] {
        seeds.add(format!("surrogates-{lead:04x}-{trail:04x}"), &[encoded(lead), encoded(trail)].concat());
    }
    for code_point in [0x11_0000, 0x13_FFFF, 0x14_0000, 0x1F_FFFF, 0x20_0000, 0x3FF_FFFF, 0x400_0000, 0x7FFF_FFFF] {
        seeds.add(format!("too-large-{code_point:04x}"), &encoded(code_point));
    }
    for count in 1..=6 {
        seeds.add(format!("continuation-80-{count}"), &vec![0x80; count]);
        seeds.add(format!("continuation-bf-{count}"), &vec![0xBF; count]);
    }
    for byte in [0xC0, 0xC1, 0xF5, 0xF7, 0xF8, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF] {
        seeds.add(format!("never-{byte:02x}"), &[byte]);
        seeds.add(format!("never-{byte:02x}-in-text"), &[b'a', byte, b'b']);
    }
    seeds.add("every-lead-then-space", &(0xC0..=0xFF).flat_map(|lead| [lead, b' ']).collect::<Vec<_>>());
    seeds.add("every-continuation", &(0x80..=0xBF).collect::<Vec<_>>());
    seeds.add("every-byte", &(0x00..=0xFF).collect::<Vec<_>>());
    seeds.add("every-byte-backwards", &(0x00..=0xFF).rev().collect::<Vec<_>>());
}

/// Well-formed and ill-formed sequences on both sides of a block edge.
fn edges(seeds: &mut Seeds) {
    let subjects: [(&str, &[u8]); 6] = [
        ("ff", b"\xFF"),
        ("cut-2", b"\xC3"),
        ("cut-3", b"\xE2\x82"),
        ("cut-4", b"\xF0\x9F\x98"),
        ("euro", b"\xE2\x82\xAC"),
        ("emoji", b"\xF0\x9F\x98\x80"),
    ];
    for edge in [16, 32, 64, 256] {
        for (name, subject) in subjects {
            for end in [0, 1, 3] {
                // The subject ends `end` bytes after the edge.
                let before = edge + end - subject.len();
                let ascii = vec![b'a'; before];
                seeds.add(format!("edge-{edge}-plus-{end}-{name}"), &[&ascii, subject].concat());
                if end == 0 {
                    let after = [b'b'; 16];
                    seeds.add(format!("edge-{edge}-{name}-then-text"), &[&ascii, subject, &after].concat());
                }
            }
        }
        seeds.add(format!("ascii-{}", edge - 1), &vec![b'a'; edge - 1]);
        seeds.add(format!("ascii-{edge}"), &vec![b'a'; edge]);
        seeds.add(format!("ascii-{}", edge + 1), &vec![b'a'; edge + 1]);
        seeds.add(
            format!("continuation-first-in-block-{edge}"),
            &[&vec![b'a'; edge], &b"\x80"[..], &[b'a'; 15]].concat(),
        );
    }
}

fn examples(seeds: &mut Seeds) {
    // RFC 3629 §7, "Examples", and §10; RFC 2279 §6.
    seeds.add("rfc3629-a-not-identical", b"\x41\xE2\x89\xA2\xCE\x91\x2E");
    seeds.add("rfc3629-hangugeo", b"\xED\x95\x9C\xEA\xB5\xAD\xEC\x96\xB4");
    seeds.add("rfc3629-nihongo", b"\xE6\x97\xA5\xE6\x9C\xAC\xE8\xAA\x9E");
    seeds.add("rfc3629-bom-233b4", b"\xEF\xBB\xBF\xF0\xA3\x8E\xB4");
    seeds.add("rfc3629-overlong-nul", b"\xC0\x80");
    seeds.add("rfc3629-surrogate-pair-233b4", b"\xED\xA1\x8C\xED\xBE\xB4");
    seeds.add("rfc2279-slash-dot-dot-slash", b"\x2F\xC0\xAE\x2E\x2F");
    // Unicode chapter 3, Tables 3-8 to 3-11; PR-121.
    seeds.add("unicode-table-3-8", b"\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41");
    seeds.add("unicode-table-3-9", b"\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41");
    seeds.add("unicode-table-3-10", b"\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42");
    seeds.add("unicode-table-3-11", b"\xE1\x80\xE2\xF0\x91\x92\xF1\xBF\x41");
    seeds.add("unicode-pr-121", b"\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64");
    seeds.add("bom", b"\xEF\xBB\xBF");
    seeds.add("bom-text", b"\xEF\xBB\xBFtext");
    seeds.add("bom-twice", b"\xEF\xBB\xBF\xEF\xBB\xBF");
    seeds.add("bom-inside", b"a\xEF\xBB\xBFb");
    seeds.add("bom-cut-1", b"\xEF");
    seeds.add("bom-cut-2", b"\xEF\xBB");
    seeds.add("bom-spoilt", b"\xEF\xBB\xBE");
    seeds.add("bom-utf-16-le", b"\xFF\xFEa\0");
    seeds.add("bom-utf-16-be", b"\xFE\xFF\0a");
    seeds.add("replacement-character", b"\xEF\xBF\xBD");
    seeds.add("replacement-character-and-fault", b"\xEF\xBF\xBD\xFF\xEF\xBF\xBD");
}

/// A greeting in sixteen scripts: well-formed, repeated, with a byte removed, and with a byte corrupted.
fn texts(seeds: &mut Seeds) {
    const TEXTS: [(&str, &str); 16] = [
        ("latin", "Schöne Grüße an alle, wünschte sie"),
        ("greek", "Καλημέρα κόσμε, χαίρετε"),
        ("cyrillic", "Доброе утро, дорогой мир"),
        ("hebrew", "שלום עולם ובוקר טוב"),
        ("arabic", "صباح الخير يا عالم"),
        ("armenian", "Բարի լույս աշխարհ"),
        ("georgian", "დილა მშვიდობისა მსოფლიო"),
        ("devanagari", "नमस्ते दुनिया सुप्रभात"),
        ("tamil", "வணக்கம் உலகமே"),
        ("thai", "สวัสดีชาวโลก"),
        ("ethiopic", "ሰላም ለዓለም"),
        ("han", "世界你好，早安"),
        ("kana", "せかいよ、おはよう"),
        ("hangul", "안녕하세요 세계"),
        ("gothic", "𐌲𐍉𐌳𐍃 𐌳𐌰𐌲𐍃"),
        ("emoji", "👋🌍🌅😀👨\u{200D}👩\u{200D}👧"),
    ];
    for (script, text) in TEXTS {
        let bytes = text.as_bytes();
        seeds.add(format!("text-{script}"), bytes);
        seeds.add(format!("text-{script}-long"), text.repeat(5).as_bytes());
        seeds.add(format!("text-{script}-tail-lost"), &bytes[..bytes.len() - 1]);
        let middle = bytes.len() / 2;
        seeds.add(format!("text-{script}-byte-lost"), &[&bytes[..middle], &bytes[middle + 1..]].concat());
        let mut spoilt = bytes.to_vec();
        spoilt[middle] ^= 0x40;
        seeds.add(format!("text-{script}-byte-spoilt"), &spoilt);
    }
    seeds.add("text-html", "<p lang=\"fr\">Où ? Là-bas… “ici” — 3 €</p>\r\n".as_bytes());
    seeds.add("text-json", "{\"naïve\":\"\\u00e9 é 😀\",\"n\":[1,2]}".as_bytes());
    seeds.add("text-latin-1", b"Gr\xFC\xDFe aus M\xFCnchen, d\xE9j\xE0 vu");
    seeds.add("text-windows-1252", b"\x93quoted\x94 \x96 \x80 100");
}

/// Each byte class directly after each other one: at both ends of a block, and across the edges at 16 and 32 bytes.
fn class_pairs(seeds: &mut Seeds) {
    for first in ByteClass::all() {
        for second in ByteClass::all() {
            let mut block = [b'a'; 64];
            for (places, class) in [([0, 2, 16, 32, 62], first), ([1, 15, 31, 61, 63], second)] {
                places.into_iter().for_each(|place| block[place] = class.canonical());
            }
            seeds.add(format!("pair-{:02x}-{:02x}", first.canonical(), second.canonical()), &block);
        }
    }
}

/// Each kind of fault, in its shortest form, at every offset in a block and before every other kind.
fn fault_pairs(seeds: &mut Seeds) {
    const FAULTS: [(&str, &[u8]); 8] = [
        ("continuation", b"\x80"),
        ("invalid-byte", b"\xFF"),
        ("overlong-2", b"\xC0"),
        ("overlong-3", b"\xE0\x80"),
        ("overlong-4", b"\xF0\x80"),
        ("surrogate", b"\xED\xA0"),
        ("too-large", b"\xF5"),
        ("too-short", b"\xE2\x82"),
    ];
    for (name, fault) in FAULTS {
        // Three bytes repeated 64 times put the fault at every offset in a block, since 3 and 64 are coprime.
        let mut three = [b'a'; 3];
        three[..fault.len()].copy_from_slice(fault);
        seeds.add(format!("every-place-{name}"), &three.repeat(64));
        let others: Vec<u8> = FAULTS.iter().flat_map(|(_, other)| [fault, other, b"a"].concat()).collect();
        seeds.add(format!("before-every-fault-{name}"), &[&others, fault, b"\xE2"].concat());
    }
}

/// Every length up to one block, as well-formed text and followed by a truncated character.
fn lengths(seeds: &mut Seeds) {
    for len in 1..=64 {
        let text = ["é".repeat(len / 2), "a".repeat(len % 2)].concat().into_bytes();
        seeds.add(format!("length-{len:02}"), &text);
        seeds.add(format!("length-{len:02}-then-cut"), &[&text[..], b"\xE2\x82"].concat());
    }
}

/// Lengths and error counts at every power of two up to 512 bytes. Longer inputs are left to the fuzzer: long seeds
/// make long mutants, which are slow.
fn sizes(seeds: &mut Seeds) {
    for len in (0..=9).map(|power| 1 << power) {
        for errors in (0..=10).map(|power| (1 << power) / 2).filter(|&errors| errors <= len) {
            let bytes = [vec![0xFF; errors], vec![b'a'; len - errors]].concat();
            seeds.add(format!("size-{len:03}-errors-{errors:03}"), &bytes);
        }
    }
}

/// Inputs that reach code of the judge that no other seed reaches.
fn paths(seeds: &mut Seeds) {
    // utf8-decode finds the first error at its offset but misses later ones: its list of errors is too short (`spans`).
    seeds.add("more-errors-than-utf8-decode-finds", b"\xBF\xF0\x80\x9F\xBF");
    // The `prefix` law with a long prefix, which few inputs choose.
    let long = (0..=9999).map(|number| format!("prefix-{number:04}").into_bytes());
    if let Some(bytes) = long.into_iter().find(|bytes| Case::new(bytes).prefix() > Case::SHORT_PREFIX) {
        seeds.add("long-prefix", &bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_enough_seeds_and_they_are_small() {
        let seeds = differential();
        assert!(seeds.len() >= 300, "{}", seeds.len());
        assert!(seeds.values().all(|bytes| bytes.len() <= 512));
        assert!(seeds.keys().all(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')));
    }
}
