//! Texts for the benchmarks: generated words in many scripts, and the same with errors. They are the same on every
//! machine and run.

use crate::case::choices::Rng;

/// A script: the code points of its letters, and the length of its words.
#[derive(Clone, Copy, Debug)]
pub struct Script {
    /// The name in reports.
    pub name: &'static str,
    /// Ranges of code points, first and last, all equally likely.
    letters: &'static [(u32, u32)],
    /// The maximum number of letters between two spaces.
    longest_word: usize,
}

const ASCII: (u32, u32) = (0x61, 0x7A);

/// Scripts with one to four bytes for each letter.
pub const SCRIPTS: [Script; 12] = [
    Script { name: "ascii", letters: &[ASCII], longest_word: 9 },
    // One letter in eight has an accent.
    Script {
        name: "latin",
        letters: &[ASCII, ASCII, ASCII, ASCII, ASCII, ASCII, ASCII, (0xE0, 0xF6)],
        longest_word: 9,
    },
    Script { name: "greek", letters: &[(0x3B1, 0x3C9)], longest_word: 9 },
    Script { name: "cyrillic", letters: &[(0x430, 0x44F)], longest_word: 9 },
    Script { name: "hebrew", letters: &[(0x5D0, 0x5EA)], longest_word: 7 },
    Script { name: "arabic", letters: &[(0x627, 0x64A)], longest_word: 7 },
    Script { name: "hindi", letters: &[(0x904, 0x939)], longest_word: 7 },
    Script { name: "thai", letters: &[(0xE01, 0xE2E)], longest_word: 20 },
    Script { name: "chinese", letters: &[(0x4E00, 0x9FA5)], longest_word: 20 },
    Script { name: "japanese", letters: &[(0x3041, 0x3093), (0x30A1, 0x30F6), (0x4E00, 0x9FA5)], longest_word: 20 },
    Script { name: "korean", letters: &[(0xAC00, 0xD7A3)], longest_word: 6 },
    Script { name: "emoji", letters: &[(0x1_F300, 0x1_F5FF)], longest_word: 20 },
];

impl Script {
    /// Text of at most `len` bytes, and at least `len - 3`.
    pub fn text(&self, len: usize) -> Vec<u8> {
        let mut rng = Rng::new(len as u64);
        let mut text = String::with_capacity(len);
        while text.len() + 4 <= len {
            for _ in 0..=rng.below(self.longest_word) {
                let (first, last) = self.letters[rng.below(self.letters.len())];
                let letter = first + rng.below((last - first + 1) as usize) as u32;
                text.extend(char::from_u32(letter).filter(|letter| text.len() + letter.len_utf8() < len));
            }
            text.push(' ');
        }
        text.into_bytes()
    }
}

/// Text of all scripts between tags, as in a web page; at most `len` bytes.
pub fn page(len: usize) -> Vec<u8> {
    let mut rng = Rng::new(len as u64);
    let mut text = Vec::with_capacity(len);
    while text.len() < len {
        text.extend_from_slice(b"<p class=\"text\"><a href=\"https://example.org/\">");
        let script = SCRIPTS[rng.below(SCRIPTS.len())];
        text.extend_from_slice(&script.text(40 + rng.below(160)));
        text.extend_from_slice(b"</a></p>\n");
    }
    let is_boundary = |at: &usize| text[*at] & 0xC0 != 0x80;
    text.truncate((0..len).rev().find(is_boundary).unwrap_or(0));
    text
}

/// The same bytes, one in `one_in` replaced by a random one.
pub fn corrupted(mut text: Vec<u8>, one_in: usize) -> Vec<u8> {
    let mut rng = Rng::new(one_in as u64);
    for byte in &mut text {
        if rng.one_in(one_in) {
            *byte = rng.next_u32() as u8;
        }
    }
    text
}

/// Random bytes.
pub fn random(len: usize) -> Vec<u8> {
    let mut rng = Rng::new(1);
    (0..len).map(|_| rng.next_u32() as u8).collect()
}

/// Text in Latin-1, one letter in twenty with an accent, which is ill-formed UTF-8.
pub fn latin_1(len: usize) -> Vec<u8> {
    let mut rng = Rng::new(2);
    let mut letter = || if rng.one_in(20) { 0xE0 + rng.below(23) as u8 } else { b'a' + rng.below(26) as u8 };
    (0..len).map(|_| letter()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_well_formed_and_has_the_requested_length() {
        for len in [0, 1, 3, 4, 5, 64, 1000, 65_536] {
            for script in SCRIPTS {
                let text = script.text(len);
                assert!(core::str::from_utf8(&text).is_ok(), "{} {len}", script.name);
                assert!(text.len() <= len && text.len() + 3 >= len, "{} {len}: {}", script.name, text.len());
            }
            assert!(core::str::from_utf8(&page(len)).is_ok());
        }
        assert!(core::str::from_utf8(&latin_1(1000)).is_err());
        let changed = corrupted(SCRIPTS[0].text(100_000), 100);
        let changed = changed.iter().zip(SCRIPTS[0].text(100_000)).filter(|(a, b)| *a != b).count();
        assert!((700..1300).contains(&changed), "{changed}");
    }
}
