//! Whole texts, encoded and decoded by `spec`: which surrogates join, what round-trips, and what is refused and why.

use utfuzz::generate::classes::Block;
use utfuzz::spec;
use utfuzz::spec::grammar::Grammar;
use utfuzz::spec::{Charset, Contract, Replacement, Unencodable, grammar};
use utfuzz::utf8::{ErrorLen, Kind, Malformed};

fn strict(grammar: &'static Grammar) -> Contract {
    Contract { grammar, ..Contract::VALIDATOR }
}

fn replacing(grammar: &'static Grammar, replacement: Replacement) -> Contract {
    Contract { grammar, replacement: Some(replacement), ..Contract::STANDARD }
}

fn decoded(contract: &Contract, bytes: &[u8]) -> Result<Vec<u32>, Malformed> {
    let mut out = Vec::new();
    spec::decode(contract, bytes, &mut out).map(|()| out)
}

fn encoded(contract: &Contract, text: &[u32]) -> Result<Vec<u8>, Unencodable> {
    let mut out = Vec::new();
    spec::encode_text(contract, text, &mut out).map(|()| out)
}

#[test]
fn surrogates_join_where_a_pair_has_one_form() {
    let cases: [(&Grammar, Result<&[u8], Kind>); 9] = [
        (&grammar::RFC3629, Err(Kind::Surrogate)),
        (&grammar::RFC2279, Ok(b"\xED\xA1\x8C\xED\xBE\xB4")),
        (&grammar::RFC2279_WITHOUT_SURROGATES, Err(Kind::Surrogate)),
        (&grammar::RFC3629_WITH_SURROGATES, Ok(b"\xED\xA1\x8C\xED\xBE\xB4")),
        (&grammar::RFC3629_WITH_OVERLONG, Err(Kind::Surrogate)),
        (&grammar::RFC3629_WITHOUT_NONCHARACTERS, Err(Kind::Surrogate)),
        (&grammar::CESU8, Ok(b"\xED\xA1\x8C\xED\xBE\xB4")),
        (&grammar::MODIFIED_UTF8, Ok(b"\xED\xA1\x8C\xED\xBE\xB4")),
        (&grammar::WTF8, Ok(b"\xF0\xA3\x8E\xB4")),
    ];
    for ((expected_of, expected), grammar) in cases.into_iter().zip(grammar::ALL) {
        assert_eq!(expected_of, grammar);
        let contract = strict(grammar);
        let expected = expected.map(<[u8]>::to_vec).map_err(|kind| Unencodable { index: 0, code_point: 0xD84C, kind });
        assert_eq!(encoded(&contract, &[0xD84C, 0xDFB4]), expected, "{}", grammar.name);
        // A pair in UTF-16 is one code point, whatever the grammar.
        let mut from_utf16 = Vec::new();
        spec::encode_utf16(&contract, &[0xD84C, 0xDFB4], &mut from_utf16).unwrap();
        assert_eq!(from_utf16, encoded(&contract, &[0x2_33B4]).unwrap(), "{}", grammar.name);
    }
}

#[test]
fn a_refusal_names_the_code_point_and_leaves_nothing() {
    let cases: [(&Grammar, &[u32], usize, Kind); 7] = [
        (&grammar::RFC3629, &[0x61, 0xDC80], 1, Kind::Surrogate),
        (&grammar::RFC3629, &[0x11_0000], 0, Kind::TooLarge),
        (&grammar::RFC2279, &[0x7FFF_FFFF, 0x8000_0000], 1, Kind::TooLarge),
        (&grammar::CESU8, &[0xD800, 0xDC00, 0xD800], 2, Kind::Surrogate),
        (&grammar::CESU8, &[0xDC00, 0xD800], 0, Kind::Surrogate),
        (&grammar::RFC3629_WITHOUT_NONCHARACTERS, &[0xFFFE], 0, Kind::Noncharacter),
        (&grammar::WTF8, &[0xD800, 0x11_0000], 1, Kind::TooLarge),
    ];
    for (grammar, text, index, kind) in cases {
        let mut out = b"kept".to_vec();
        let refusal = spec::encode_text(&strict(grammar), text, &mut out).unwrap_err();
        assert_eq!(refusal, Unencodable { index, code_point: text[index], kind }, "{}", grammar.name);
        assert_eq!(out, b"kept");
    }
    let mut out = Vec::new();
    let unpaired = spec::encode_utf16(&strict(&grammar::CESU8), &[0xD800, 0xDC00, 0xDC01, 0x61], &mut out);
    assert_eq!(unpaired, Err(Unencodable { index: 2, code_point: 0xDC01, kind: Kind::Surrogate }));
    assert!(out.is_empty());
    assert_eq!(unpaired.unwrap_err().to_string(), "U+DC01 at index 2: surrogate");
}

/// Every text of length `len` over this alphabet.
fn texts<T: Copy>(alphabet: &[T], len: u32) -> impl Iterator<Item = Vec<T>> {
    let digits =
        move |index: usize| (0..len).map(move |place| alphabet[index / alphabet.len().pow(place) % alphabet.len()]);
    (0..alphabet.len().pow(len)).map(move |index| digits(index).collect())
}

const CODE_POINTS: [u32; 9] = [0, 0x41, 0xE4, 0xD7FF, 0xD801, 0xDBFF, 0xDC00, 0xDCE4, 0x1_0401];

#[test]
fn encoded_text_is_decoded_with_pairs_joined() {
    let (mut written, mut refused) = (0, 0);
    for grammar in grammar::ALL {
        let contract = strict(grammar);
        for text in texts(&CODE_POINTS, 4) {
            let Ok(bytes) = encoded(&contract, &text) else {
                refused += 1;
                continue;
            };
            let back = decoded(&contract, &bytes).unwrap_or_else(|error| panic!("{text:X?} {bytes:X?}: {error:?}"));
            assert_eq!(encoded(&contract, &back).as_deref(), Ok(&bytes[..]));
            let units = |text: &[u32]| -> Vec<u16> {
                let halves = |&code_point: &u32| match char::from_u32(code_point) {
                    Some(scalar) => scalar.encode_utf16(&mut [0; 2]).to_vec(),
                    None => vec![code_point as u16],
                };
                text.iter().flat_map(halves).collect()
            };
            assert_eq!(units(&back), units(&text), "{}: {text:X?}", grammar.name);
            assert!(*grammar == grammar::WTF8 || bytes.len() >= text.len());
            written += 1;
        }
    }
    assert!(written > 10_000 && refused > 10_000, "{written} {refused}");
}

#[test]
fn concatenation_equals_encoding_both_at_once() {
    let mut joined = 0;
    for grammar in grammar::ALL {
        let contract = strict(grammar);
        for (first, second) in
            texts(&CODE_POINTS, 2).flat_map(|one| texts(&CODE_POINTS, 2).map(move |two| (one.clone(), two)))
        {
            let (Ok(left), Ok(right)) = (encoded(&contract, &first), encoded(&contract, &second)) else { continue };
            let mut both = b"kept".to_vec();
            spec::concatenate(grammar, &left, &right, &mut both).unwrap();
            assert_eq!(Ok(&both[4..]), encoded(&contract, &[first, second].concat()).as_deref(), "{}", grammar.name);
            assert!(spec::validity(&contract, &both).is_valid());
            joined += usize::from(both.len() < 4 + left.len() + right.len());
        }
    }
    // Only WTF-8 joins: texts that end in one of two leading surrogates with texts that start with one of two trailing.
    assert_eq!(joined, 9 * 2 * 2 * 9);
    let mut out = Vec::new();
    let error = Malformed { kind: Some(Kind::Overlong(2)), ..Malformed::at(3, ErrorLen::Bytes(1)) };
    assert_eq!(spec::concatenate(&grammar::RFC3629, b"ab", b"c\xC0\x80", &mut out), Err(error));
    assert!(out.is_empty());
}

/// UTF-8B: every string of up to two bytes, then every string over the byte classes.
#[test]
fn utf8b_round_trips_any_bytes() {
    let same = |bytes: &[u8]| {
        for grammar in [
            &grammar::RFC3629,
            &grammar::RFC2279_WITHOUT_SURROGATES,
            &grammar::RFC3629_WITHOUT_NONCHARACTERS,
            &grammar::CESU8,
        ] {
            let contract = replacing(grammar, Replacement::SurrogateEscape);
            let text = decoded(&contract, bytes).unwrap();
            assert_eq!(encoded(&contract, &text).as_deref(), Ok(bytes), "{}: {text:X?}", grammar.name);
        }
    };
    for first in 0..=255 {
        same(&[first]);
        (0..=255).for_each(|second| same(&[first, second]));
    }
    let mut bytes = Vec::new();
    for len in 3..=5 {
        let block = Block { len, offset: 0 };
        for index in 0..block.count() {
            block.write(index, &mut bytes);
            same(&bytes);
        }
    }
    // In the opposite direction, adjacent escaped bytes may form a character.
    let contract = replacing(&grammar::RFC3629, Replacement::SurrogateEscape);
    assert_eq!(encoded(&contract, &[0xDCC3, 0xDCA4]).as_deref(), Ok(&b"\xC3\xA4"[..]));
    assert_eq!(encoded(&contract, &[0x61, 0xDC7F]).map_err(|refusal| refusal.index), Err(1));
    // Only bytes from 80 up can be escaped, and Modified UTF-8 rejects 00.
    let modified = replacing(&grammar::MODIFIED_UTF8, Replacement::SurrogateEscape);
    assert_eq!(encoded(&modified, &decoded(&modified, b"\0").unwrap()).map_err(|refusal| refusal.index), Err(0));
    assert_eq!(encoded(&contract, &[0x61, 0xDD00]).map_err(|refusal| refusal.index), Err(1));
}

#[test]
fn a_text_is_decoded_up_to_the_refused_bytes() {
    let refused = |contract: &Contract, bytes: &[u8]| {
        let mut out = Vec::new();
        let error = spec::decode(contract, bytes, &mut out).unwrap_err();
        (out, error)
    };
    let error = Malformed { kind: Some(Kind::TooShort), ..Malformed::at(1, ErrorLen::Bytes(2)) };
    assert_eq!(refused(&strict(&grammar::RFC3629), b"a\xE2\x82a"), (vec![0x61], error));
    let error = Malformed { kind: Some(Kind::TooShort), ..Malformed::at(2, ErrorLen::Bytes(1)) };
    let holes = replacing(&grammar::RFC3629, Replacement::Windows1252Strict);
    assert_eq!(refused(&holes, b"a\xF1\x90a"), (vec![0x61, 0xF1], error));
    for byte in 0x80..=0xFF {
        let character = Charset::Windows1252Strict.decode(byte);
        assert_eq!(decoded(&holes, &[byte]).ok(), character.map(|code_point| vec![code_point]), "{byte:02X}");
        // `code_points` has to write something, so it writes U+FFFD.
        let written: Vec<u32> = spec::code_points(&holes, &[byte]).collect();
        assert_eq!(written, [character.unwrap_or(0xFFFD)]);
    }
}

/// `decode`, `code_points` and `lossy` apply each replacement in the same way.
#[test]
fn decode_code_points_and_lossy_agree() {
    let replacements = [
        Replacement::ReplacementCharacter,
        Replacement::Drop,
        Replacement::SurrogateEscape,
        Replacement::Latin1,
        Replacement::Windows1252,
        Replacement::Windows1252Strict,
    ];
    let (mut bytes, mut lossy) = (Vec::new(), Vec::new());
    let block = Block { len: 4, offset: 0 };
    for index in 0..block.count() {
        block.write(index, &mut bytes);
        for replacement in replacements {
            let contract = replacing(&grammar::RFC3629, replacement);
            let Ok(text) = decoded(&contract, &bytes) else {
                assert_eq!(replacement, Replacement::Windows1252Strict, "{bytes:02X?}");
                continue;
            };
            assert_eq!(text, spec::code_points(&contract, &bytes).collect::<Vec<_>>(), "{bytes:02X?}");
            lossy.clear();
            spec::lossy(&contract, &bytes, &mut lossy).unwrap();
            assert_eq!(
                encoded(&strict(&grammar::RFC3629_WITH_SURROGATES), &text).as_deref(),
                Ok(&lossy[..]),
                "{bytes:02X?}"
            );
        }
    }
}

#[test]
fn a_stripped_mark_is_not_decoded() {
    let contract: Contract = "rfc3629 bom-stripped".parse().unwrap();
    assert_eq!(decoded(&contract, b"\xEF\xBB\xBFa\xEF\xBB\xBF"), Ok(vec![0x61, 0xFEFF]));
    assert_eq!(decoded(&contract, b"ab"), Ok(vec![0x61, 0x62]));
}
