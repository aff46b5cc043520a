//! The properties for which UTF-8 was designed: which grammars have them, and how the others differ.
//!
//! Covers every code point of every grammar; of RFC 2279, those up to U+10FFFF and some above. All 2^31 are covered by
//! `tests/roundtrip.rs`.

mod walk;

use utfuzz::spec;
use utfuzz::spec::grammar::{Form, Grammar, Row};
use utfuzz::spec::{Contract, Reading, Segmentation, grammar};
use utfuzz::utf8::{ErrorLen, Malformed, Validity, is_continuation};
use utfuzz::utf8::{extended_len, push_form};
use walk::{Codec, Tally};

fn strict(grammar: &'static Grammar) -> Contract {
    Contract { grammar, ..Contract::VALIDATOR }
}

fn has_pairs(grammar: &Grammar) -> bool {
    grammar.rows.iter().any(|row| row.form == Form::Pair)
}

/// Every sequence of a row in which each byte is the first or last of its range.
fn corners(row: &Row) -> impl Iterator<Item = Vec<u8>> + '_ {
    let ends = |corner: usize| {
        row.bytes.iter().enumerate().map(move |(at, &(first, last))| if corner >> at & 1 == 0 { first } else { last })
    };
    (0..1usize << row.bytes.len()).map(move |corner| ends(corner).collect())
}

fn sequences(grammar: &'static Grammar) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = grammar.rows.iter().flat_map(corners).collect();
    all.sort();
    all.dedup();
    all
}

/// Every well-formed text of two such sequences.
fn texts(grammar: &'static Grammar) -> Vec<Vec<u8>> {
    let sequences = sequences(grammar);
    let both = sequences.iter().flat_map(|first| sequences.iter().map(move |second| [&first[..], second].concat()));
    both.filter(|text| spec::validity(&strict(grammar), text).is_valid()).collect()
}

fn code_points(grammar: &'static Grammar, text: &[u8]) -> Vec<u32> {
    spec::code_points(&strict(grammar), text).collect()
}

/// The start of each segment, and the end of the text.
fn boundaries(grammar: &'static Grammar, text: &[u8]) -> Vec<usize> {
    spec::segments(&strict(grammar), text).map(|segment| segment.start).chain([text.len()]).collect()
}

/// What a walk over every code point shows: the lengths of sequences, their order, and which bytes occur where.
#[test]
fn every_code_point_keeps_the_properties_of_its_grammar() {
    for grammar in grammar::ALL {
        let mut tally = Tally::of(&Codec::SPEC, grammar, 0, 0x11_0000);
        let mut last = 0x7F;
        if grammar.rows.iter().any(|row| row.bytes.len() > 4 && row.form == Form::Scalar) {
            // Each power of two, and a thousand values between two of them, each with its neighbours.
            for start in
                (20..31).flat_map(|bits| (0..1000u32).map(move |step| (1 << bits) + ((1 << bits) / 1000 * step)))
            {
                tally.add(Tally::of(&Codec::SPEC, grammar, start - 1, start + 2));
            }
            tally.add(Tally::of(&Codec::SPEC, grammar, 0x7FFF_FFF0, 0x8000_0000));
            last = 0xFD;
        }
        walk::assert_properties(grammar, &tally);
        let highest = (0..=255).rev().find(|&byte: &u8| tally.seen[usize::from(byte)]);
        let expected = match grammar.name {
            "cesu-8" | "modified-utf-8" => 0xEF,
            _ if last == 0xFD => 0xFD,
            _ => 0xF4,
        };
        assert_eq!(highest, Some(expected), "{}", grammar.name);
    }
}

/// Checked for every sequence that is accepted, not only for those that are written.
#[test]
fn no_row_has_ascii_inside_or_fe_or_ff() {
    for row in grammar::ALL.into_iter().flat_map(|grammar| grammar.rows) {
        let is_multiple = row.bytes.len() > 1;
        let allowed = |&(first, last): &(u8, u8)| last < 0xFE && (first >= 0x80 || !is_multiple);
        assert!(row.bytes.iter().all(allowed), "{row:02X?}");
    }
}

#[test]
fn no_sequence_begins_another() {
    for grammar in grammar::ALL {
        for text in sequences(grammar) {
            assert!(spec::validity(&strict(grammar), &text).is_valid());
            for len in 1..text.len() {
                let prefix = &text[..len];
                let expected = Malformed::at(0, ErrorLen::Incomplete);
                let Validity::Invalid(error) = spec::validity(&strict(grammar), prefix) else {
                    panic!("{}: {prefix:02X?} is a whole sequence, and so is {text:02X?}", grammar.name);
                };
                assert_eq!(Malformed { kind: None, ..error }, expected, "{}: {prefix:02X?}", grammar.name);
            }
        }
    }
}

/// A boundary is found from any byte by going back over continuation bytes, and in CESU-8 over the other half of a
/// pair.
#[test]
fn a_boundary_is_found_by_backing_up() {
    for grammar in grammar::ALL {
        let mut farthest = 0;
        for text in texts(grammar) {
            let boundaries = boundaries(grammar, &text);
            for at in 0..text.len() {
                let mut start = (0..=at).rev().find(|&at| !is_continuation(text[at])).unwrap();
                if has_pairs(grammar) && text[start] == 0xED && text.get(start + 1).is_some_and(|&byte| byte >= 0xB0) {
                    start -= 3;
                }
                let expected = boundaries.iter().rev().find(|&&boundary| boundary <= at);
                assert_eq!(Some(&start), expected, "{}: {text:02X?} from {at}", grammar.name);
                farthest = farthest.max(at - start);
            }
        }
        let longest = grammar.rows.iter().map(|row| row.bytes.len()).max();
        assert_eq!(Some(farthest + 1), longest, "{}", grammar.name);
        assert_eq!(farthest, if grammar.name.starts_with("rfc2279") || has_pairs(grammar) { 5 } else { 3 });
    }
}

/// A reader that starts inside a sequence decodes nothing of it, and decodes the next one correctly.
#[test]
fn a_lost_start_costs_one_character() {
    for grammar in grammar::ALL {
        for text in texts(grammar) {
            let second = boundaries(grammar, &text)[1];
            for at in 1..second {
                let contract = Contract { segmentation: Segmentation::Byte, ..strict(grammar) };
                let segments: Vec<_> = spec::segments(&contract, &text[at..]).collect();
                let (lost, rest) = segments.split_at(second - at);
                assert!(lost.iter().all(|segment| matches!(segment.reading, Reading::IllFormed { .. })), "{text:02X?}");
                let expected = spec::segments(&contract, &text[second..]).map(|segment| segment.reading);
                assert!(rest.iter().map(|segment| segment.reading).eq(expected), "{}: {text:02X?}", grammar.name);
            }
        }
    }
}

#[test]
fn a_search_for_bytes_finds_characters() {
    for grammar in grammar::ALL {
        let needles = sequences(grammar);
        let mut found = 0;
        for text in texts(grammar) {
            let boundaries = boundaries(grammar, &text);
            for needle in &needles {
                for (at, _) in text.windows(needle.len()).enumerate().filter(|(_, window)| window == needle) {
                    let is_whole = boundaries.contains(&at) && boundaries.contains(&(at + needle.len()));
                    assert!(is_whole, "{}: {needle:02X?} in {text:02X?} at {at}", grammar.name);
                    found += 1;
                }
            }
        }
        assert!(found >= needles.len() * needles.len(), "{}: {found}", grammar.name);
    }
}

/// Texts sorted by bytes are sorted by code points; in CESU-8 they are sorted by UTF-16 code units instead.
#[test]
fn byte_order_is_code_point_order() {
    let utf16 = |grammar, text: &[u8]| {
        let mut units = Vec::new();
        spec::utf16(&strict(grammar), text, &mut units);
        units
    };
    for grammar in grammar::ALL {
        let mut texts = texts(grammar);
        texts.sort();
        let by_code_point = texts.is_sorted_by_key(|text| code_points(grammar, text));
        let by_utf16 = texts.is_sorted_by_key(|text| utf16(grammar, text));
        let expected = match grammar.name {
            "cesu-8" => (false, true),
            // U+0000 is C0 80, which sorts after all of ASCII.
            "modified-utf-8" => (false, false),
            // Other texts sort between two forms of one code point.
            "rfc3629-with-overlong" => (false, false),
            _ => (true, false),
        };
        assert_eq!((by_code_point, by_utf16), expected, "{}", grammar.name);
    }
}

/// Every form longer than the shortest, of two to six bytes, of every code point up to U+10FFFF.
#[test]
fn only_the_shortest_form_is_accepted() {
    for grammar in grammar::ALL {
        let mut allowed = [0; 7];
        let mut form = Vec::new();
        for code_point in 0..=0x10_FFFF {
            for (len, allowed) in allowed.iter_mut().enumerate().skip(extended_len(code_point) + 1) {
                form.clear();
                push_form(code_point, len, &mut form);
                *allowed += u32::from(spec::validity(&strict(grammar), &form).is_valid());
            }
        }
        let expected = match grammar.name {
            // Without the surrogates, which RFC 3629 §3 forbids in any form.
            "rfc3629-with-overlong" => [0, 0, 1 << 7, 1 << 11, (1 << 16) - 2048, 0, 0],
            "modified-utf-8" => [0, 0, 1, 0, 0, 0, 0],
            _ => [0; 7],
        };
        assert_eq!(allowed, expected, "{}", grammar.name);
    }
}
