//! The encodings that the feature `charsets` adds, compared with encoding_rs.
#![cfg(feature = "charsets")]

use utfuzz::codec::convert::{Converter, Detector, Encoding, Fault, Options, Reason, convert as at_once};
use utfuzz::spec::Replacement;

fn all() -> impl Iterator<Item = (Encoding, &'static encoding_rs::Encoding)> {
    Encoding::all()
        .filter(|encoding| encoding.is_charset())
        .map(|encoding| (encoding, encoding_rs::Encoding::for_label(encoding.name().as_bytes()).unwrap()))
}

fn replacing(replacement: Replacement) -> Options {
    Options { on_error: Some(replacement), ..Options::STRICT }
}

/// The output, and how it ended, for a text in chunks of this many bytes.
fn convert(from: Encoding, to: Encoding, options: Options, text: &[u8], chunk: usize) -> (Vec<u8>, Result<u64, Fault>) {
    let mut converter = Converter::new(from, to, options).unwrap();
    let mut out = Vec::new();
    let pushed: Result<(), Fault> = text.chunks(chunk).try_for_each(|chunk| converter.push(chunk, &mut out));
    let finished = converter.finish(&mut out).map(|summary| summary.faults);
    (out, pushed.and(finished))
}

#[test]
fn every_scalar_value_is_encoded_as_by_encoding_rs() {
    let text: String = ('\0'..=char::MAX).collect();
    let mut count = 0;
    for (to, theirs) in all() {
        let has = |c: &char| !theirs.encode(c.encode_utf8(&mut [0; 4])).2;
        let (lacks, text): (String, String) = text.chars().partition(|c| !has(c));
        count += text.len();
        let bytes = theirs.encode(&text).0;
        let (out, ended) = convert(Encoding::Utf8, to, Options::STRICT, text.as_bytes(), 5000);
        assert_eq!(ended, Ok(0), "{to}");
        // In ISO-2022-JP, ASCII after Roman may be in either.
        if to != Encoding::Iso2022Jp {
            assert!(out == *bytes, "{to}");
        }
        let there = theirs.decode_without_bom_handling(&bytes).0;
        let (back, ended) = convert(to, Encoding::Utf8, Options::STRICT, &out, 777);
        assert_eq!(ended, Ok(0), "{to}");
        assert!(back == there.as_bytes(), "{to}");
        // A character that it lacks has its place and its replacement.
        for c in lacks.chars().step_by(lacks.chars().count() / 20 + 1) {
            let text = format!("ab{c}");
            let fault = convert(Encoding::Utf8, to, Options::STRICT, text.as_bytes(), 1).1.unwrap_err();
            assert_eq!((fault.offset(), fault.reason()), (2, Reason::Unencodable(c.into())), "{to}");
            let replaced = at_once(text.as_bytes(), Encoding::Utf8, to, replacing(Replacement::ReplacementCharacter));
            let wanted = if to == Encoding::Gb18030 { &b"ab\x84\x31\xA4\x37"[..] } else { b"ab?" };
            assert_eq!(replaced.unwrap(), wanted, "{to}: {c:?}");
        }
    }
    assert!(count > 1 << 20, "{count}");
}

/// Every pair of bytes, and the same before and after text, with what encoding_rs makes of them.
#[test]
fn every_pair_of_bytes_is_decoded_as_by_encoding_rs() {
    let options = replacing(Replacement::ReplacementCharacter);
    for (from, theirs) in all() {
        for pair in 0..=u16::MAX {
            let text = [&b"a"[..], &pair.to_be_bytes(), b"1b\n"].concat();
            let (out, ended) = convert(from, Encoding::Utf8, options, &text, 6);
            let (wanted, is_wrong) = theirs.decode_without_bom_handling(&text);
            assert_eq!(String::from_utf8_lossy(&out), wanted, "{from}: {text:02X?}");
            assert_eq!(ended.unwrap() > 0, is_wrong, "{from}: {text:02X?}");
            if pair % 7 == 0 {
                assert_eq!(convert(from, Encoding::Utf8, options, &text, 1).0, out, "{from}: {text:02X?}");
            }
        }
    }
}

#[test]
fn shift_sequences_go_through_any_cut() {
    let text = "半角ｶﾅ and ¥100‾, 日本語\nASCII";
    let (bytes, _, unmappable) = encoding_rs::ISO_2022_JP.encode(text);
    assert!(!unmappable);
    let wanted = encoding_rs::ISO_2022_JP.decode_without_bom_handling(&bytes).0;
    for chunk in 1..=bytes.len() {
        let (out, ended) = convert(Encoding::Iso2022Jp, Encoding::Utf8, Options::STRICT, &bytes, chunk);
        assert_eq!((String::from_utf8(out).unwrap(), ended), (wanted.to_string(), Ok(0)), "{chunk}");
        let (back, _) = convert(Encoding::Utf8, Encoding::Iso2022Jp, Options::STRICT, text.as_bytes(), chunk);
        assert_eq!(encoding_rs::ISO_2022_JP.decode_without_bom_handling(&back).0, wanted, "{chunk}");
        assert!(back.is_ascii());
    }
    // Two escape sequences in a row are a fault, and the second one counts.
    let twice = b"\x1B(J\x1B$BF|";
    let (out, faults) =
        convert(Encoding::Iso2022Jp, Encoding::Utf8, replacing(Replacement::ReplacementCharacter), twice, 4);
    assert_eq!((String::from_utf8(out).unwrap(), faults), ("\u{FFFD}日".into(), Ok(1)));
    // The end of a text is in ASCII.
    let (out, _) = convert(Encoding::Utf8, Encoding::Iso2022Jp, Options::STRICT, "日".as_bytes(), 1);
    assert_eq!(out, b"\x1B$BF|\x1B(B");
}

#[test]
fn faults_have_their_place() {
    let rows: [(Encoding, &[u8], &str); 5] = [
        (Encoding::ShiftJis, b"a\n\x83\x65\x83 ", "byte 4, line 2: 83: unassigned: 83 is not a character of Shift_JIS"),
        (Encoding::ShiftJis, b"\x83\x65\x83", "byte 2, line 1: 83: incomplete in Shift_JIS: the input ends before"),
        (Encoding::Gb18030, b"\x84\x31", "byte 0, line 1: 84 31: incomplete in gb18030"),
        (Encoding::Windows1253, b"a\xAA", "byte 1, line 1: AA: unassigned: AA is not a character of windows-1253"),
        (Encoding::Iso2022Jp, b"a\x1B$x", "byte 1, line 1: 1B: unassigned: 1B is not"),
    ];
    for (from, text, says) in rows {
        for chunk in [1, 100] {
            let fault = convert(from, Encoding::Utf8, Options::STRICT, text, chunk).1.unwrap_err();
            assert!(fault.to_string().starts_with(says), "{fault}");
        }
    }
    // Two code points for one character, neither of them in Latin-1.
    let fault = convert(Encoding::Big5, Encoding::Ascii, Options::STRICT, b"ab\x88\x62c", 100).1.unwrap_err();
    assert_eq!((fault.offset(), fault.bytes(), fault.reason()), (2, &b"\x88\x62"[..], Reason::Unencodable(0xCA)));
    let (out, _) = convert(Encoding::ShiftJis, Encoding::Utf8, replacing(Replacement::Latin1), b"\x83\x65\xFF", 1);
    assert_eq!(out, "テÿ".as_bytes());
    let escape = replacing(Replacement::SurrogateEscape);
    assert_eq!(convert(Encoding::EucJp, Encoding::EucJp, escape, b"\xA4\xA2\xFF.", 2).0, b"\xA4\xA2\xFF.");
}

#[test]
fn the_labels_of_the_encoding_standard_name_them() {
    for (label, name) in [
        ("sjis", "Shift_JIS"),
        ("windows-31j", "Shift_JIS"),
        ("cp932", "Shift_JIS"),
        ("gb2312", "GBK"),
        ("iso-8859-8-i", "ISO-8859-8"),
        ("koi", "KOI8-R"),
        ("tis-620", "windows-874"),
        // These two are as IANA has them.
        ("latin1", "ISO-8859-1"),
        ("ascii", "US-ASCII"),
    ] {
        assert_eq!(label.parse::<Encoding>().unwrap().name(), name, "{label}");
    }
    assert!("replacement".parse::<Encoding>().is_err());
}

#[test]
fn long_text_is_likely_and_short_text_a_guess() {
    let russian = "Съешь ещё этих мягких французских булок, да выпей чаю. ";
    let polish = "Zażółć gęślą jaźń, a potem pójdź w dół ścieżką między drzewami. ";
    for (text, name, confidence) in [
        (russian.repeat(3), "KOI8-R", "likely"),
        (russian.repeat(3), "windows-1251", "likely"),
        ("Їжак і ґава живуть у лісі біля річки, де росте калина. ".repeat(3), "KOI8-U", "likely"),
        (polish.repeat(3), "windows-1250", "likely"),
        ("ещё".into(), "windows-1251", "guess"),
    ] {
        let bytes = at_once(text.as_bytes(), Encoding::Utf8, Encoding::named(name).unwrap(), Options::STRICT).unwrap();
        let mut detector = Detector::new();
        detector.push(&bytes);
        let found = detector.finish();
        assert_eq!(found.confidence.name(), confidence, "{name}: {found:?}");
        assert!(found.name == Some(name) || confidence == "guess", "{name}: {found:?}");
    }
}

/// The same as for every scalar value and every pair of bytes, for some of them, in less time, and cut anywhere.
#[test]
fn some_text_is_converted_as_by_encoding_rs_whatever_its_chunks() {
    let options = replacing(Replacement::ReplacementCharacter);
    let text: Vec<char> = ('\0'..='\u{17F}').chain(('\u{180}'..=char::MAX).step_by(331)).collect();
    let mut count = 0;
    for (encoding, theirs) in all() {
        let has = |c: &char| !theirs.encode(c.encode_utf8(&mut [0; 4])).2;
        let (lacks, text): (String, String) = text.iter().copied().partition(|c| !has(c));
        let bytes = theirs.encode(&text).0;
        let there = theirs.decode_without_bom_handling(&bytes).0;
        count += text.len();
        for chunk in [1, 7, 100_000] {
            let (out, ended) = convert(Encoding::Utf8, encoding, Options::STRICT, text.as_bytes(), chunk);
            assert_eq!(ended, Ok(0), "{encoding}");
            assert!(out == *bytes || encoding == Encoding::Iso2022Jp, "{encoding}");
            let (back, ended) = convert(encoding, Encoding::Utf8, Options::STRICT, &bytes, chunk);
            assert_eq!(ended, Ok(0), "{encoding}");
            assert!(back == there.as_bytes(), "{encoding}");
        }
        for c in lacks.chars().step_by(lacks.chars().count() / 5 + 1) {
            let text = format!("abc{c}d{c}");
            let fault = convert(Encoding::Utf8, encoding, Options::STRICT, text.as_bytes(), 1).1.unwrap_err();
            assert_eq!((fault.offset(), fault.reason()), (3, Reason::Unencodable(c.into())), "{encoding}");
            let wanted =
                if encoding == Encoding::Gb18030 { &b"abc\x84\x31\xA4\x37d\x84\x31\xA4\x37"[..] } else { b"abc?d?" };
            let replaced = convert(Encoding::Utf8, encoding, options, text.as_bytes(), 100);
            assert_eq!(replaced, (wanted.to_vec(), Ok(2)), "{encoding}: {c:?}");
        }
        for pair in (0..=u16::MAX).step_by(83) {
            let text = [&b"a"[..], &pair.to_be_bytes(), b"1b\n"].concat();
            let (wanted, is_wrong) = theirs.decode_without_bom_handling(&text);
            for chunk in [1, 6] {
                let (out, ended) = convert(encoding, Encoding::Utf8, options, &text, chunk);
                assert_eq!(String::from_utf8_lossy(&out), wanted, "{encoding}: {text:02X?}");
                assert_eq!(ended.unwrap() > 0, is_wrong, "{encoding}: {text:02X?}");
            }
        }
    }
    assert!(count > 10_000, "{count}");
}

/// Where a character is two code points, each has its place.
#[test]
fn a_character_of_two_code_points_has_its_place() {
    let (out, ended) = convert(Encoding::Big5, Encoding::Utf8, Options::STRICT, b"\x88\x62\x88\x64a", 1);
    assert_eq!((String::from_utf8(out).unwrap(), ended), ("Ê̄Ê̌a".into(), Ok(0)));
    for before in [&b""[..], b"a", b"\x88\x62"] {
        for (to, code_point) in [(Encoding::Ascii, 0xCA), (Encoding::Latin1, 0x304)] {
            let text = [before, b"\x88\x62b"].concat();
            let fault = convert(Encoding::Big5, to, Options::STRICT, &text, 100).1.unwrap_err();
            let offset = if before.len() == 1 { 1 } else { 0 };
            assert_eq!((fault.offset(), fault.byte_len()), (offset, 2), "{to}: {text:02X?}");
            assert_eq!(fault.reason(), Reason::Unencodable(code_point), "{to}: {text:02X?}");
        }
    }
}

#[test]
fn what_is_cut_off_at_the_end_is_one_fault_or_several_as_by_encoding_rs() {
    let options = replacing(Replacement::ReplacementCharacter);
    let ends: [&[u8]; 9] = [
        b"\x1B",
        b"\x1B$",
        b"\x1B(",
        b"\x1B(J\x1B$",
        b"\x1B$B\x21",
        b"\x81",
        b"\x84\x31",
        b"\x84\x31\x81",
        b"\x8F\xA2",
    ];
    for (encoding, theirs) in all() {
        for end in ends {
            let text = [b"ab", end].concat();
            for chunk in [1, 100] {
                let (out, _) = convert(encoding, Encoding::Utf8, options, &text, chunk);
                let wanted = theirs.decode_without_bom_handling(&text).0;
                assert_eq!(String::from_utf8_lossy(&out), wanted, "{encoding}: {text:02X?}");
            }
        }
    }
}

/// A character of several bytes is not cut off where the text ends, so these are none.
#[test]
fn short_text_that_ends_in_a_letter_is_not_taken_for_half_a_character() {
    for (text, encoding) in [("Съеш", Encoding::Koi8R), ("Zażółć", Encoding::Windows1250)] {
        let bytes = at_once(text.as_bytes(), Encoding::Utf8, encoding, Options::STRICT).unwrap();
        let mut detector = Detector::new();
        detector.push(&bytes);
        let found = detector.finish();
        assert_eq!(found.encoding, Some(encoding), "{found:?}");
        assert!(found.is_unknown());
    }
}

#[test]
fn a_character_across_the_end_of_what_is_examined_does_not_rule_its_encoding_out() {
    let text = "中华人民共和国位于亚洲东部，是世界上历史最悠久的国家之一。".repeat(6000);
    let (text, _, _) = encoding_rs::GBK.encode(&text);
    // Two bytes each from an odd offset on.
    let text = [b"\n", &text[..]].concat();
    let mut detector = Detector::new();
    for chunk in text.chunks(0x1_0000) {
        if detector.is_decided() {
            break;
        }
        detector.push(chunk);
    }
    let found = detector.finish();
    assert_eq!((found.read, found.encoding.map(Encoding::name)), (0x4_0000, Some("GBK")), "{found:?}");
}
