//! What probably happened to bytes: how they came to be as they are, and how to repair them.

use crate::codec::convert::{Detector, Encoding, repair};
use crate::explain::scan::Window;
use crate::spec::policy::Charset;
use crate::spec::{Contract, Reading, segments};
use crate::text::{counted, quoted};
use crate::utf8::Kind;

/// What probably happened to an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Guess {
    /// A name for programs: `double-encoding`, `single-byte`, `encoding`, `cut` or `replaced`.
    pub name: &'static str,
    /// One sentence.
    pub says: String,
    /// The arguments of the command that repairs a file, without its name.
    pub repair: Option<String>,
}

impl Guess {
    fn new(name: &'static str, says: impl Into<String>, repair: Option<String>) -> Self {
        Self { name, says: says.into(), repair }
    }

    /// What probably happened, the most helpful guess first.
    pub fn all(contract: &Contract, window: &Window) -> Vec<Self> {
        let valid = core::str::from_utf8(&window.bytes);
        let cut = cut(contract, window);
        // A single error that a cut explains needs no other explanation.
        let other = if cut.is_some() && window.faults == 1 { None } else { other_encoding(window) };
        let guesses = [valid.ok().and_then(double_encoding), other, cut, valid.ok().and_then(replaced)];
        guesses.into_iter().flatten().collect()
    }
}

/// UTF-8 that was read as Windows-1252 or Latin-1 and encoded again, in at least one line.
fn double_encoding(text: &str) -> Option<Guess> {
    let repairs = repair(text.as_bytes());
    let first = repairs.repaired.first()?;
    let layers = repairs.repaired.iter().map(|line| line.layers).max()?;
    let again = if layers == 1 { "again".to_owned() } else { format!("again, {layers} times") };
    let was = quoted(&first.after, QUOTED);
    let says = format!("UTF-8 that was read as Windows-1252 or Latin-1 and encoded {again}; it was {was}");
    Some(Guess::new("double-encoding", says, Some("repair --apply -o -".to_owned())))
}

/// The maximum number of characters that are quoted.
const QUOTED: usize = 40;

/// Text in another encoding.
fn other_encoding(window: &Window) -> Option<Guess> {
    let mut detector = Detector::new();
    detector.push(&window.bytes);
    let found = detector.finish();
    let encoding = found.encoding?;
    let repair = || Some(format!("convert -f {} -t utf-8", encoding.name().to_lowercase()));
    if encoding.is_single_byte() {
        // Any bytes are text in these encodings, so only what looks like words counts.
        let letters = window.bytes.iter().filter(|byte| byte.is_ascii_alphabetic()).count();
        let high = window.bytes.iter().filter(|byte| !byte.is_ascii()).count();
        let decoded: Vec<char> = window
            .bytes
            .iter()
            .filter_map(|&byte| char::from_u32(Charset::Windows1252.decode(byte).unwrap_or(0xFFFD)))
            .collect();
        let looks_like_words =
            letters >= 2 && high <= letters && !decoded.iter().any(|c| matches!(c, '\u{80}'..='\u{9F}'));
        return looks_like_words.then(|| {
            let text: String = decoded.into_iter().collect();
            let says = format!("{} text that was read as UTF-8: {}", encoding.name(), quoted(&text, QUOTED));
            Guess::new("single-byte", says, repair())
        });
    }
    let is_utf8 = encoding == Encoding::Utf8 || window.bytes.is_empty();
    (!is_utf8).then(|| Guess::new("encoding", format!("{}: {}", encoding.name(), found.reason), repair()))
}

/// A sequence that ends too soon where a buffer may have ended.
fn cut(contract: &Contract, window: &Window) -> Option<Guess> {
    /// The sizes of buffers are multiples of this.
    const UNIT: u64 = 512;
    let truncated = segments(contract, &window.bytes).find_map(|segment| {
        let is_short = matches!(segment.reading, Reading::IllFormed { kind: Kind::Incomplete | Kind::TooShort, .. });
        let end = window.start + segment.range().end as u64;
        (is_short && end.is_multiple_of(UNIT)).then_some(end)
    });
    if let Some(end) = truncated {
        let what = if end == window.total { "the input ends inside a character" } else { "a character is cut off" };
        let says = format!("{what} at byte {end}, a multiple of {UNIT}: text was cut at the size of a buffer");
        return Some(Guess::new("cut", says, None));
    }
    let is_cut = segments(contract, &window.bytes).any(|segment| segment.is_incomplete());
    let is_end = window.start + window.bytes.len() as u64 == window.total;
    (is_cut && is_end)
        .then(|| Guess::new("cut", "the input ends inside a character: it was cut, or more follows", None))
}

/// Characters that a decoder has already replaced.
fn replaced(text: &str) -> Option<Guess> {
    let count = text.matches('\u{FFFD}').count();
    let says = || {
        let times = counted(count, "time");
        format!("U+FFFD, {times}: a decoder replaced what it could not read; the bytes before that are lost")
    };
    (count > 0).then(|| Guess::new("replaced", says(), None))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guesses(bytes: &[u8]) -> Vec<Guess> {
        let contract = Contract::STANDARD;
        Guess::all(&contract, &Window::read(&contract, bytes).unwrap())
    }

    fn names(bytes: &[u8]) -> Vec<&'static str> {
        guesses(bytes).iter().map(|guess| guess.name).collect()
    }

    fn misread(text: &str, charset: Charset) -> String {
        text.bytes().filter_map(|byte| char::from_u32(charset.decode(byte)?)).collect()
    }

    #[test]
    fn double_encoding_is_recognised_and_undone() {
        for text in ["Grüße", "naïve café – 5 €", "日本語", "😀"] {
            for charset in [Charset::Windows1252, Charset::Latin1] {
                let once = misread(text, charset);
                let twice = misread(&once, charset);
                for (broken, times) in [(&once, "encoded again;"), (&twice, "encoded again, 2 times;")] {
                    let found = &guesses(broken.as_bytes())[0];
                    assert_eq!(found.name, "double-encoding", "{broken}");
                    assert!(found.says.contains(times) && found.says.contains(text), "{broken}: {}", found.says);
                }
            }
        }
        assert_eq!(guesses("GrÃ¼ÃŸe".as_bytes())[0].repair.as_deref(), Some("repair --apply -o -"));
        // Good text, also beside double encoding.
        for text in ["", "plain", "Grüße", "Ã", "Ärger – Œuvre", "日本語", "Ã© und ü"] {
            assert!(names(text.as_bytes()).is_empty(), "{text}: {:?}", guesses(text.as_bytes()));
        }
    }

    #[test]
    fn other_encodings_are_recognised() {
        let latin = &guesses(b"Stra\xDFe nach Gr\xFCnau")[0];
        assert_eq!(latin.name, "single-byte");
        assert!(latin.says.contains("\"Straße nach Grünau\""), "{}", latin.says);
        let utf16: Vec<u8> = "Grüße aus Wien".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(guesses(&utf16)[0].repair.as_deref(), Some("convert -f utf-16le -t utf-8"));
        let cesu = &guesses(b"a\xED\xA0\xBD\xED\xB8\x80")[0];
        assert!(cesu.says.starts_with("CESU-8") && cesu.repair.is_some(), "{cesu:?}");
        assert!(names(b"\xC0\xAF\xFF").is_empty(), "{:?}", guesses(b"\xC0\xAF\xFF"));
    }

    #[test]
    fn a_cut_at_the_size_of_a_buffer_is_recognised() {
        let cut = |len: usize, rest: &[u8]| {
            let bytes = [&vec![b'a'; len][..], b"\xE2\x82", rest].concat();
            guesses(&bytes).into_iter().find(|guess| guess.name == "cut").map(|guess| guess.says)
        };
        assert_eq!(names(&[&b"words "[..], b"\xE2\x82"].concat()), ["cut"]);
        assert!(cut(510, b"").unwrap().starts_with("the input ends inside a character at byte 512, a multiple of 512"));
        assert!(cut(4094, b"\n more").unwrap().starts_with("a character is cut off at byte 4096"));
        assert!(cut(100, b"").unwrap().ends_with("it was cut, or more follows"));
        assert_eq!(cut(100, b"\n more"), None);
        assert_eq!(names("a\u{FFFD}b".as_bytes()), ["replaced"]);
    }
}
