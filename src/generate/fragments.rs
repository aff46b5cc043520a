//! Every short string of fragments (characters and faults that decoders, or the formats on top of them, treat
//! specially), and text that contains every character.
//!
//! Class strings represent each class by two bytes, so they contain no byte order mark, U+FFFD or quotation mark.

/// What the strings are made of.
const FRAGMENTS: [&[u8]; 25] = [
    b"a",
    b"\0",
    b"\n",
    b"\r",
    b"\"",
    b"\\",
    b"\x7F",
    b"\x80",
    b"\xBF",
    b"\xC0\x80",
    b"\xC2",
    b"\xC3\xA9",
    b"\xCC\x81",
    b"\xE2\x82",
    b"\xE2\x82\xAC",
    b"\xED\xA0\x80",
    b"\xED\xB0\x80",
    b"\xEF\xBB\xBF",
    b"\xEF\xBF\xBD",
    b"\xEF\xBF\xBE",
    b"\xF0\x9F\x98\x80",
    b"\xF4\x90\x80\x80",
    b"\xFE",
    b"\xFF",
    b"\xF0\x90\x80",
];

/// The maximum number of fragments in a string.
pub const LONGEST: u32 = 3;
/// How many ASCII bytes precede the first fragment: none, or enough to put it across the end of a block of 64 bytes.
const OFFSETS: [usize; 2] = [0, 61];

/// Every string of up to this many fragments, at the start of the input and across a block edge.
pub fn strings_up_to(longest: u32) -> impl Iterator<Item = Vec<u8>> {
    let lengths = (1..=longest).map(|len| (len, FRAGMENTS.len().pow(len)));
    let all = lengths.flat_map(|(len, count)| (0..count).map(move |index| (len, index)));
    OFFSETS.into_iter().flat_map(move |offset| {
        all.clone().map(move |(len, mut index)| {
            let mut bytes = vec![b'a'; offset];
            for _ in 0..len {
                bytes.extend_from_slice(FRAGMENTS[index % FRAGMENTS.len()]);
                index /= FRAGMENTS.len();
            }
            bytes
        })
    })
}

/// Text with every scalar value and every pair of ASCII bytes, a few dozen characters to an input, to catch decoders
/// that treat one character or one pair specially.
pub fn texts() -> impl Iterator<Item = Vec<u8>> {
    const EACH: usize = 64;
    let scalars = (0..=char::MAX as u32).step_by(EACH).filter_map(|first| {
        let text: String = (first..first + EACH as u32).filter_map(char::from_u32).collect();
        (!text.is_empty()).then(|| text.into_bytes())
    });
    // The sequence `first, 0, first, 1, first, 2, …` contains each pair with `first` in both orders.
    let pairs = (0..0x80u8).map(|first| (0..0x80).flat_map(|second| [first, second]).collect());
    scalars.chain(pairs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_texts_contain_every_scalar_value_and_every_ascii_pair() {
        let texts: Vec<String> = texts().map(|bytes| String::from_utf8(bytes).unwrap()).collect();
        let scalars: BTreeSet<char> = texts.iter().flat_map(|text| text.chars()).collect();
        assert_eq!(scalars.len(), 0x11_0000 - 0x800);
        let pairs: BTreeSet<[u8; 2]> =
            texts.iter().flat_map(|text| text.as_bytes().windows(2)).map(|pair| [pair[0], pair[1]]).collect();
        assert_eq!(pairs.iter().filter(|pair| pair.is_ascii()).count(), 128 * 128);
    }

    #[test]
    fn every_string_of_fragments_is_generated() {
        let all: BTreeSet<Vec<u8>> = strings_up_to(LONGEST).collect();
        for bytes in [&b"\xEF\xBB\xBF\xFFa"[..], b"\"\x80\"", b"\xEF\xBF\xBD", b"\xED\xA0\x80\xED\xB0\x80"] {
            assert!(all.contains(bytes));
            assert!(all.contains(&[&[b'a'; 61], bytes].concat()));
        }
        // Some strings result from several combinations, so there are slightly fewer strings than combinations.
        let ways = OFFSETS.len() * (25 + 25 * 25 + 25 * 25 * 25);
        assert!(strings_up_to(LONGEST).count() == ways && all.len() > ways * 9 / 10, "{} of {ways}", all.len());
    }
}
