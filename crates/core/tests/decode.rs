//! Operations of our decoder that are not part of the trait, compared with the standard library.
#![cfg(feature = "arbitrary")]

use utfuzz_core::generate::classes::Block;
use utfuzz_core::generate::structured::Structured;
use utfuzz_core::spec::{Contract, Reading};
use utfuzz_core::utf8::Kind;
use utfuzz_core::{codec, spec};

/// Every class string up to length 4, and structured inputs; fewer for Miri, which is slow.
fn inputs() -> Vec<Vec<u8>> {
    let (longest, structured) = if cfg!(miri) { (2, 2) } else { (4, 20_000) };
    let blocks = (1..=longest).map(|len| Block { len, offset: 0 }).chain([Block { len: longest - 1, offset: 14 }]);
    let class_strings = blocks.flat_map(|block| {
        (0..block.count()).map(move |index| {
            let mut bytes = Vec::new();
            block.write(index, &mut bytes);
            bytes
        })
    });
    class_strings.chain((0..structured).map(|seed| Structured::seeded(seed).0)).collect()
}

#[test]
fn every_operation_agrees_with_the_standard_library() {
    let inputs = inputs();
    assert!(inputs.len() > if cfg!(miri) { 100 } else { 50_000 });
    for bytes in &inputs {
        let text = String::from_utf8_lossy(bytes);
        assert_eq!(codec::from_utf8_lossy(bytes), text, "{bytes:02X?}");
        let borrowed = matches!(codec::from_utf8_lossy(bytes), std::borrow::Cow::Borrowed(_));
        assert_eq!(borrowed, std::str::from_utf8(bytes).is_ok(), "{bytes:02X?}");
        let chars: String = codec::chars(bytes).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        assert_eq!(chars, text, "{bytes:02X?}");
        let expected: Vec<u16> = text.encode_utf16().collect();
        let (mut ours, mut standard) = (Vec::new(), Vec::new());
        codec::utf16_lossy_into(bytes, &mut ours);
        spec::utf16(&Contract::STANDARD, bytes, &mut standard);
        assert_eq!((&ours, &standard), (&expected, &expected), "{bytes:02X?}");
        let invalid: Vec<&[u8]> = bytes.utf8_chunks().map(|chunk| chunk.invalid()).filter(|i| !i.is_empty()).collect();
        let errors: Vec<&[u8]> = codec::errors(bytes).map(|error| &bytes[error.range()]).collect();
        assert_eq!(errors, invalid, "{bytes:02X?}");
        let kinds: Vec<Kind> = codec::errors(bytes).map(|error| error.kind()).collect();
        let segments = spec::segments(&Contract::STANDARD, bytes);
        let expected = segments.filter_map(|segment| match segment.reading {
            Reading::IllFormed { kind, .. } => Some(kind),
            Reading::WellFormed(_) => None,
        });
        assert_eq!(kinds, expected.collect::<Vec<_>>(), "{bytes:02X?}");
        let from_chars = codec::chars(bytes).filter_map(Result::err);
        assert!(from_chars.eq(codec::errors(bytes)), "{bytes:02X?}");
    }
}

#[test]
fn an_error_matches_core_str_and_names_its_kind() {
    for (bytes, says) in [
        (&b"a\xC0\xAF"[..], "ill-formed UTF-8 at byte 1: overlong-2"),
        (b"\xED\xA0\x80", "ill-formed UTF-8 at byte 0: surrogate"),
        (b"\xF4\x90\x80\x80", "ill-formed UTF-8 at byte 0: too-large"),
        (b"ab\xE2\x82", "ill-formed UTF-8 at byte 2: incomplete"),
    ] {
        let (ours, theirs) = (codec::validate(bytes).unwrap_err(), std::str::from_utf8(bytes).unwrap_err());
        assert_eq!(ours.to_string(), says);
        assert_eq!((ours.valid_up_to(), ours.error_len()), (theirs.valid_up_to(), theirs.error_len()));
    }
    assert_eq!(codec::validate("Grüße, 世界 😀".as_bytes()), Ok(()));
}

#[test]
fn a_stream_cut_anywhere_gives_the_same_output() {
    let mixed = b"a\xE2\x82\xAC\xF0\x9F\x98\x80\xE2\x82\xF0\x9F\x98z\xED\xA0\x80\xC3";
    for text in [&mixed[..], b"", b"abc", b"ab\xE2\x82", b"\xC3\xA9\xF0\x9F\x98", b"\xE2\x82\xAC"] {
        let expected = (codec::from_utf8_lossy(text).into_owned().into_bytes(), codec::validate(text));
        for first in 0..=text.len() {
            for second in first..=text.len() {
                let (mut stream, mut out) = (codec::Streaming::new(), Vec::new());
                for chunk in [&text[..first], &text[first..second], &[], &text[second..]] {
                    let before = out.len();
                    stream.push(chunk, &mut out);
                    assert!(out.len() >= before);
                }
                // At most three bytes are pending.
                assert!(out.len() + 3 >= expected.0.len().saturating_sub(3), "cut at {first} and {second}");
                let verdict = stream.finish(&mut out);
                assert_eq!((out, verdict), expected, "{text:02X?} cut at {first} and {second}");
            }
        }
    }
}
