//! Which encoding is detected, and how sure that is.
#![cfg(feature = "peers")]

use utfuzz::codec::convert::{Confidence, Detection, Detector, Encoding, Options, convert};

const FRENCH: &str = "Les élèves français ont mangé des crêpes à Noël, où l'été était déjà fini. Ça va être très drôle: le coeur n'y est plus, hélas.\n";
const GERMAN: &str = "Die Bäcker in Köln müssen früh aufstehen. Größere Brötchen heißen anders, und über die Straße läuft ein Mädchen.\n";
const QUOTES: &str = "He said “it’s fine” – naïve, isn’t it… The “façade” cost €5 — or more.\n";
const JAPANESE: &str = "日本語の文章はひらがなとカタカナと漢字でできています。これは文字コードの判定を試すための例文です。コンピュータは便利ですね。\n";
const CHINESE: &str =
    "中文文本的编码检测需要足够多的汉字。这是一个用来测试字符编码检测的例句。今天天气很好，我们去公园散步吧。\n";
const KOREAN: &str =
    "한국어 문장은 한글로 씁니다. 이것은 문자 인코딩 판별을 시험하기 위한 예문입니다. 오늘 날씨가 좋습니다.\n";
const RUSSIAN: &str = "Съешь же ещё этих мягких французских булок, да выпей чаю. Русский текст нужен для проверки определения кодировки.\n";
const EMOJI: &str = "Smile 😀 and dance 💃 in the café.\n";

fn ours(text: &str, to: Encoding) -> Vec<u8> {
    convert(text.as_bytes(), Encoding::Utf8, to, Options::STRICT).unwrap()
}

/// In one of the encodings of the Encoding Standard.
fn theirs(text: &str, label: &str) -> Vec<u8> {
    let (bytes, _, unmappable) = encoding_rs::Encoding::for_label(label.as_bytes()).unwrap().encode(text);
    assert!(!unmappable, "{label}");
    bytes.into_owned()
}

/// In the code page of the first IBM PC.
fn cp437(text: &str) -> Vec<u8> {
    let upper = "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑ";
    let byte = |c: char| match upper.chars().position(|other| other == c) {
        Some(at) => 0x80 + at as u8,
        None => u8::try_from(c).unwrap(),
    };
    text.chars().map(byte).collect()
}

/// Each character beyond ASCII in UTF-16 and base64 (RFC 2152).
fn utf_7(text: &str) -> Vec<u8> {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = Vec::new();
    for c in text.chars() {
        if c.is_ascii() {
            out.push(c as u8);
            continue;
        }
        let unit = u32::from(u16::try_from(u32::from(c)).unwrap()) << 2;
        out.push(b'+');
        out.extend([12, 6, 0].map(|shift| digits[(unit >> shift & 0x3F) as usize]));
        out.push(b'-');
    }
    out
}

/// The samples: what each is, its encoding, and the bytes.
fn samples() -> Vec<(&'static str, Option<&'static str>, Vec<u8>)> {
    let marked = |text: &str, to| ours(&format!("\u{FEFF}{text}"), to);
    let doubled: String = FRENCH.bytes().map(char::from).collect();
    let mut elf = b"\x7FELF\x02\x01\x01".to_vec();
    elf.extend([0; 9]);
    elf.extend(b"\x03\0\x3E\0\x01\0\0\0\x60\x10\0\0\0\0\0\0\x40\0\0\0\0\0\0\0\x08\x37\0\0\0\0\0\0\0\0\0\0\0\0\0\0");
    let png =
        b"\x89PNG\r\n\x1A\n\0\0\0\rIHDR\0\0\x01\0\0\0\x01\0\x08\x06\0\0\0\\r\xA8f\0\0\0\x04gAMA\0\0\xB1\x8F\x0B\xFCa";
    let (start, end) = FRENCH.split_at(70);
    vec![
        ("UTF-8", Some("UTF-8"), [FRENCH, JAPANESE].concat().into_bytes()),
        ("UTF-8, marked", Some("UTF-8"), marked(FRENCH, Encoding::Utf8)),
        ("UTF-16LE, marked", Some("UTF-16LE"), marked(FRENCH, Encoding::Utf16Le)),
        ("UTF-16BE, marked", Some("UTF-16BE"), marked(FRENCH, Encoding::Utf16Be)),
        ("UTF-32LE, marked", Some("UTF-32LE"), marked(FRENCH, Encoding::Utf32Le)),
        ("UTF-16LE", Some("UTF-16LE"), ours(FRENCH, Encoding::Utf16Le)),
        ("UTF-16BE", Some("UTF-16BE"), ours(FRENCH, Encoding::Utf16Be)),
        ("UTF-16LE, Japanese", Some("UTF-16LE"), ours(JAPANESE, Encoding::Utf16Le)),
        ("Latin-1, French", Some("ISO-8859-1"), ours(FRENCH, Encoding::Latin1)),
        ("Latin-1, German", Some("ISO-8859-1"), ours(GERMAN, Encoding::Latin1)),
        ("Windows-1252", Some("windows-1252"), ours(QUOTES, Encoding::Windows1252)),
        ("Shift_JIS", Some("Shift_JIS"), theirs(JAPANESE, "shift_jis")),
        ("GBK", Some("GBK"), theirs(CHINESE, "gbk")),
        ("EUC-JP", Some("EUC-JP"), theirs(JAPANESE, "euc-jp")),
        ("EUC-KR", Some("EUC-KR"), theirs(KOREAN, "euc-kr")),
        ("KOI8-R", Some("KOI8-R"), theirs(RUSSIAN, "koi8-r")),
        ("Windows-1251", Some("windows-1251"), theirs(RUSSIAN, "windows-1251")),
        ("CESU-8", Some("CESU-8"), ours(EMOJI, Encoding::Cesu8)),
        ("Modified UTF-8", Some("Modified-UTF-8"), ours(&format!("{EMOJI}\0"), Encoding::ModifiedUtf8)),
        ("a program", None, elf),
        ("a picture", None, png.to_vec()),
        ("one letter of Latin-1", Some("ISO-8859-1"), b"\xE9".to_vec()),
        ("UTF-8 with a bad byte", Some("UTF-8"), [start.as_bytes(), b"\xFF", end.as_bytes()].concat()),
        ("UTF-8, cut off", Some("UTF-8"), [FRENCH.as_bytes(), b"\xC3"].concat()),
        ("UTF-8 with U+0000", Some("UTF-8"), [FRENCH, "\0", FRENCH].concat().into_bytes()),
        ("ISO-2022-JP", Some("ISO-2022-JP"), theirs(JAPANESE, "iso-2022-jp")),
        ("UTF-7", Some("UTF-7"), utf_7(FRENCH)),
        ("CP437", Some("CP437"), cp437(FRENCH)),
        ("UTF-8, encoded twice", Some("UTF-8"), doubled.into_bytes()),
        ("ASCII", Some("UTF-8"), b"plain text, nothing else\n".to_vec()),
    ]
}

fn detect(bytes: &[u8]) -> Detection {
    let mut detector = Detector::new();
    bytes.chunks(7).for_each(|chunk| detector.push(chunk));
    detector.finish()
}

/// Of the same samples, chardet 7.7 names 23 rightly, uchardet 0.0.7 21, charset-normalizer 3.5 18 and file 5.44 12.
#[test]
fn no_sample_is_wrong_and_sure() {
    let samples = samples();
    assert_eq!(samples.len(), 30);
    let mut wrong = Vec::new();
    for (what, encoding, bytes) in &samples {
        let found = detect(bytes);
        if found.name != *encoding {
            assert_eq!(found.confidence, Confidence::Guess, "{what}: {found:?}");
            assert!(found.is_unknown(), "{what}: {found:?}");
            wrong.push(*what);
        }
    }
    match cfg!(feature = "charsets") {
        true => assert_eq!(wrong, ["CP437"]),
        false => {
            assert_eq!(wrong, ["Shift_JIS", "GBK", "EUC-JP", "EUC-KR", "KOI8-R", "Windows-1251", "CP437"]);
        }
    }
}

#[test]
fn text_is_certain_only_if_it_is_utf_8_or_marked() {
    for (what, _, bytes) in samples() {
        let found = detect(&bytes);
        let is_certain = std::str::from_utf8(&bytes).is_ok() && !matches!(what, "ISO-2022-JP" | "UTF-7" | "a program")
            || found.byte_order_mark;
        // UTF-16 of ASCII letters would be well-formed UTF-8 too.
        assert_eq!(found.confidence == Confidence::Certain, is_certain, "{what}: {found:?}");
        assert_eq!(found.is_ascii, bytes.is_ascii(), "{what}");
        let is_doubled = what == "UTF-8, encoded twice";
        assert_eq!(found.reason.contains("lines that were decoded wrongly and encoded again: 1"), is_doubled, "{what}");
    }
}

#[test]
fn the_most_likely_encoding_is_detected() {
    let text = "Grüße aus Köln, naïve “façade” – 世界 😀\n".repeat(30);
    let western = "Grüße aus Köln, naïve “façade” – œuvre\n".repeat(30);
    let encoded = |to, text: &str| ours(text, to);
    let lone = [text.as_bytes(), b"\xED\xA0\x80"].concat();
    let random: Vec<u8> = (0..4000u32).map(|n| (n.wrapping_mul(2_654_435_761) >> 13) as u8).collect();
    let rows: Vec<(Vec<u8>, Option<Encoding>)> = vec![
        (Vec::new(), Some(Encoding::Utf8)),
        (b"plain\n".to_vec(), Some(Encoding::Utf8)),
        (text.clone().into_bytes(), Some(Encoding::Utf8)),
        ([text.as_bytes(), b"\xFF"].concat(), Some(Encoding::Utf8)),
        (encoded(Encoding::Utf16, &text), Some(Encoding::Utf16Le)),
        (encoded(Encoding::Utf16Le, &text), Some(Encoding::Utf16Le)),
        (encoded(Encoding::Utf16Be, &text), Some(Encoding::Utf16Be)),
        (encoded(Encoding::Utf16Le, "你好，世界。这是一个测试。"), Some(Encoding::Utf16Le)),
        (encoded(Encoding::Utf32Le, &text), Some(Encoding::Utf32Le)),
        (encoded(Encoding::Utf32Be, &text), Some(Encoding::Utf32Be)),
        (encoded(Encoding::Cesu8, &text), Some(Encoding::Cesu8)),
        (encoded(Encoding::ModifiedUtf8, "a\0😀"), Some(Encoding::ModifiedUtf8)),
        (lone, Some(Encoding::Wtf8)),
        (b"\xF4\x90\x80\x80".to_vec(), Some(Encoding::Rfc2279)),
        (encoded(Encoding::Windows1252, &western), Some(Encoding::Windows1252)),
        (b"caf\xE9 na\xEFve".to_vec(), Some(Encoding::Latin1)),
        (random, None),
    ];
    for (bytes, encoding) in rows {
        let detection = detect(&bytes);
        assert_eq!(detection.encoding, encoding, "{} ({:02X?} …)", detection.reason, &bytes[..bytes.len().min(16)]);
        assert_eq!(detection.not_utf8.is_none(), std::str::from_utf8(&bytes).is_ok());
        assert_eq!(detection.read, bytes.len() as u64);
    }
}

#[test]
fn base64_and_shifts_are_an_encoding_only_if_they_are_letters() {
    let (utf_7, hz) = (Some("UTF-7"), Some("HZ-GB-2312"));
    let rows: [(&str, Option<&str>); 22] = [
        ("caf+AOk-", utf_7),
        // A Greek letter with a digit among its digits, and letters with the digits 62 and 63.
        ("+A6k-", utf_7),
        ("+A+Q-", utf_7),
        ("+A/A-", utf_7),
        ("caf+AOkA6ADq-", utf_7),
        // Cut off.
        ("caf+AOk- caf+AO", utf_7),
        ("caf+AOk- caf+", utf_7),
        ("caf+AOk", None),
        // A digit too many.
        ("caf+AOkA6ADqA-", None),
        // An ASCII letter needs no base64.
        ("+AGE-", None),
        ("+AOkAYQ-", None),
        // For private use, and an arrow.
        ("+4AA-", None),
        ("+IZA-", None),
        ("1 + 1 = 2", None),
        ("caf+AOk- and 1+1=2", None),
        ("caf+AOk- and 1 + 1", None),
        ("a~{VP~}b", hz),
        ("a~{VPND~}b~{VPND~}", hz),
        ("~{VPND~}~{VPND~}", hz),
        ("a~{VPN~}b", None),
        ("a~{~}b", None),
        ("a~{VPND~}b ~{VPND", None),
    ];
    for (text, name) in rows {
        let found = detect(text.as_bytes());
        assert_eq!(found.name, name.or(Some("UTF-8")), "{text}: {found:?}");
        assert_eq!(found.confidence == Confidence::Certain, name.is_none(), "{text}: {found:?}");
    }
}

/// The bytes before each are fewer or more by one unit or character.
#[test]
fn units_are_believed_if_most_of_them_are_common() {
    let rows: [(&[u8], Option<&str>); 6] = [
        (b"a\0b\0c\0xx", Some("UTF-16LE")),
        // Half of the units are not enough if the bytes are UTF-8 as well.
        (b"a\0xx", None),
        // An odd number of bytes.
        (b"a\0b\0c\0d", None),
        // In one order there are only twice as many as in the other.
        (b"a\0b\0\0c", None),
        (b"a\0b\0d\0\0c", Some("UTF-16LE")),
        (b"\0\0\xFE\xFF\0\0\0a", Some("UTF-32BE")),
    ];
    for (bytes, name) in rows {
        let found = detect(bytes);
        assert_eq!(found.name, name, "{bytes:02X?}: {found:?}");
        assert_eq!(found.byte_order_mark, name == Some("UTF-32BE"), "{bytes:02X?}");
        assert_eq!(found.confidence == Confidence::Certain, found.byte_order_mark, "{bytes:02X?}");
    }
    // More than a quarter of the units is likely, and a quarter a guess, but a guess with a name.
    for (text, confidence) in [
        ("你好，世界。这是一个测试。", Confidence::Guess),
        ("你好，世界。这是个测试。", Confidence::Guess),
        ("你好，世，界。是个测试。", Confidence::Likely),
    ] {
        let found = detect(&ours(text, Encoding::Utf16Le));
        assert_eq!((found.name, found.confidence), (Some("UTF-16LE"), confidence), "{text}: {found:?}");
        assert!(!found.is_unknown(), "{text}");
    }
}

#[test]
fn text_with_few_errors_is_likely_utf_8() {
    for (text, is_utf_8) in [
        (&b"\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xFF"[..], true),
        (b"\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xFF", false),
        (b"\xC3\xA9\xC3\xA9\xC3\xA9\xFF\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xFF.\xFF", false),
    ] {
        let found = detect(text);
        assert_eq!(found.encoding == Some(Encoding::Utf8), is_utf_8, "{found:?}");
        assert!(found.confidence == Confidence::Likely || !is_utf_8, "{found:?}");
        assert_eq!(found.is_unknown(), found.confidence == Confidence::Guess, "{found:?}");
    }
}

#[test]
fn a_detector_is_decided_when_more_bytes_change_nothing() {
    // The start that is examined more closely, which `SAMPLE` in the source is.
    const SAMPLE: usize = 256 * 1024;
    for (piece, decides) in [(&b"a"[..], false), (b"\xE9 ", true), (b"\xC3\xA9", false)] {
        let mut detector = Detector::new();
        assert!(!detector.is_decided());
        let text = piece.repeat(2 * SAMPLE / piece.len());
        let mut pushed = 0;
        for chunk in text.chunks(60_000) {
            detector.push(chunk);
            pushed += chunk.len();
            assert_eq!(detector.is_decided(), decides && pushed >= SAMPLE, "{} bytes", pushed);
        }
        let found = detector.finish();
        assert_eq!((found.read, found.is_ascii), (2 * SAMPLE as u64, piece.is_ascii()));
        assert_eq!(found.encoding == Some(Encoding::Utf8), !decides, "{found:?}");
    }
    // The sample ends inside a character: it is not repaired, and no line is counted as wrong.
    let found = detect(&"é\n".repeat(SAMPLE / 2).into_bytes());
    assert_eq!((found.confidence, &found.reason[..]), (Confidence::Certain, "it is well-formed"));
}
