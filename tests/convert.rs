//! Conversions, compared with `spec`: every scalar value between any two encodings, every cut, every error.

use utfuzz::codec::convert::{
    ConvertReader, ConvertWriter, Converter, Doubt, Encoding, Failed, Fault, Mark, Options, Reason, UnpairedSurrogates,
    repair,
};
use utfuzz::spec::{Contract, Replacement, Segmentation, code_points, encode, grammar, validity};
use utfuzz::utf8::{Kind, Validity};

/// The encodings that are in every build. `tests/charsets.rs` is about the others.
fn encodings() -> impl Iterator<Item = Encoding> {
    Encoding::all().filter(|encoding| !encoding.is_charset())
}

/// The bytes of a code point, if the encoding can represent it.
fn expected(encoding: Encoding, code_point: u32) -> Option<Vec<u8>> {
    if encoding == Encoding::Utf8b && (0xDC80..=0xDCFF).contains(&code_point) {
        return Some(vec![code_point as u8]);
    }
    if let Some(grammar) = encoding.grammar() {
        let mut out = Vec::new();
        return encode(grammar, code_point, &mut out).ok().map(|()| out);
    }
    if let Some(charset) = encoding.charset() {
        return charset.encode(code_point).map(|byte| vec![byte]);
    }
    let unit_16 = |big: bool| {
        let scalar = char::from_u32(code_point)?;
        let units = scalar.encode_utf16(&mut [0; 2]).to_vec();
        Some(units.iter().flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect())
    };
    let unit_32 = |last: u32, big: bool| {
        let bytes = if big { code_point.to_be_bytes() } else { code_point.to_le_bytes() };
        let is_surrogate = (0xD800..0xE000).contains(&code_point);
        (!is_surrogate && code_point <= last).then(|| bytes.to_vec())
    };
    match encoding {
        Encoding::Utf16 | Encoding::Utf16Le => unit_16(false),
        Encoding::Utf16Be => unit_16(true),
        Encoding::Ucs2Le => unit_16(false).filter(|bytes: &Vec<u8>| bytes.len() == 2),
        Encoding::Ucs2Be => unit_16(true).filter(|bytes: &Vec<u8>| bytes.len() == 2),
        Encoding::Utf32 | Encoding::Utf32Le => unit_32(0x10_FFFF, false),
        Encoding::Utf32Be => unit_32(0x10_FFFF, true),
        Encoding::Ucs4Le => unit_32(0x7FFF_FFFF, false),
        Encoding::Ucs4Be => unit_32(0x7FFF_FFFF, true),
        other => panic!("{other} has no grammar, no character set and no row here"),
    }
}

/// UTF-8 and relatives of it, with the grammar of each.
const RELATIVES: [(Encoding, &grammar::Grammar); 5] = [
    (Encoding::Utf8, &grammar::RFC3629),
    (Encoding::Rfc2279, &grammar::RFC2279),
    (Encoding::Cesu8, &grammar::CESU8),
    (Encoding::ModifiedUtf8, &grammar::MODIFIED_UTF8),
    (Encoding::Wtf8, &grammar::WTF8),
];

/// Byte order marks are neither looked for nor written.
const PLAIN: Options = Options { mark: Mark::Keep, ..Options::STRICT };

fn replacing(replacement: Replacement) -> Options {
    Options { on_error: Some(replacement), ..PLAIN }
}

/// The output, and the first fault or the one that ended the conversion.
fn convert(
    from: Encoding,
    to: Encoding,
    options: Options,
    chunks: &[&[u8]],
) -> (Vec<u8>, Result<Option<Fault>, Fault>) {
    let mut converter = Converter::new(from, to, options).unwrap();
    let mut out = Vec::new();
    let pushed: Result<(), Fault> = chunks.iter().try_for_each(|chunk| converter.push(chunk, &mut out));
    let finished = converter.finish(&mut out);
    assert!(pushed.is_ok() || finished.is_err(), "the fault that ended the conversion was forgotten");
    (out, finished.map(|summary| summary.first))
}

/// Code points that are not scalar values, but that some encodings have. No leading surrogate precedes a trailing one.
const OTHERS: [u32; 14] = [
    0xDC00,
    0xDC7F,
    0xDC80,
    0xDCFF,
    0xDD00,
    0xDFFF,
    0xD800,
    0xDBFF,
    0x11_0000,
    0x1F_FFFF,
    0x20_0000,
    0x3FF_FFFF,
    0x400_0000,
    0x7FFF_FFFF,
];

/// The bytes of every code point in one encoding, one after the other.
struct Spelled {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    /// The indices of the code points that the encoding can represent.
    spelled: Vec<usize>,
}

impl Spelled {
    fn of(encoding: Encoding, code_points: &[u32]) -> Self {
        let (mut bytes, mut ends, mut spelled) = (Vec::new(), vec![0], Vec::new());
        for (index, &code_point) in code_points.iter().enumerate() {
            let expected = expected(encoding, code_point);
            spelled.extend(expected.is_some().then_some(index));
            bytes.extend(expected.unwrap_or_default());
            ends.push(bytes.len());
        }
        Self { bytes, ends, spelled }
    }

    /// Empty if the encoding cannot represent it.
    fn at(&self, index: usize) -> &[u8] {
        &self.bytes[self.ends[index]..self.ends[index + 1]]
    }
}

#[test]
fn scalar_values_go_from_any_encoding_to_any_other() {
    // Those of common scripts and at the bounds of lengths and blocks, and some of the others.
    let is_chosen =
        |scalar: u32| scalar < 0x3000 || matches!(scalar & 0xFFF, 0..=2 | 0xFFD..=0xFFF) || scalar.is_multiple_of(13);
    go_from_any_encoding_to_any_other(('\0'..=char::MAX).map(u32::from).filter(|&scalar| is_chosen(scalar)));
}

#[test]
#[ignore = "takes half a minute; .ci/run exhaustive"]
fn every_scalar_value_goes_from_any_encoding_to_any_other() {
    go_from_any_encoding_to_any_other(('\0'..=char::MAX).map(u32::from));
}

fn go_from_any_encoding_to_any_other(scalars: impl Iterator<Item = u32>) {
    let code_points: Vec<u32> = scalars.chain(OTHERS).collect();
    let spelled: Vec<_> = encodings().map(|encoding| (encoding, Spelled::of(encoding, &code_points))).collect();
    for (from, here) in &spelled {
        for (to, there) in &spelled {
            let (fewer, other) = if here.spelled.len() < there.spelled.len() { (here, there) } else { (there, here) };
            let (mut text, mut wanted) = (Vec::new(), Vec::new());
            for &index in fewer.spelled.iter().filter(|&&index| !other.at(index).is_empty()) {
                text.extend_from_slice(here.at(index));
                wanted.extend_from_slice(there.at(index));
            }
            assert!(wanted.len() >= 0x80, "{from} to {to}");
            let (out, ended) = convert(*from, *to, PLAIN, &[&text]);
            assert!(out == wanted && ended == Ok(None), "{from} to {to}: {ended:?}");
            // The first, the last and some in between of the code points that the output encoding lacks.
            let refused: Vec<usize> =
                here.spelled.iter().copied().filter(|&index| there.at(index).is_empty()).collect();
            let some = refused.iter().step_by(refused.len() / 50 + 1).chain(refused.last());
            for &index in some {
                let bytes = here.at(index);
                let text =
                    if from.is_utf8_like() || from.is_single_byte() { [b"ab", bytes].concat() } else { bytes.to_vec() };
                let (out, ended) = convert(*from, *to, PLAIN, &[&text]);
                let fault = ended.unwrap_err();
                assert_eq!(fault.reason(), Reason::Unencodable(code_points[index]), "{from} to {to}");
                assert_eq!(fault.offset() as usize, text.len() - bytes.len(), "{from} to {to}");
                assert_eq!((fault.bytes(), fault.encoding()), (bytes, *to));
                assert_eq!(out.is_empty(), fault.offset() == 0);
            }
        }
    }
}

/// Strings with something to cut in every encoding, some of them ill-formed.
const CUT: [&[u8]; 9] = [
    b"",
    b"a\nb",
    b"\xEF\xBB\xBFa\xE2\x82\xAC\xF0\x9F\x98\x80\n\xC3\xA9",
    b"a\xED\xA0\xBD\xED\xB8\x80\xED\xA0\xBD.\xED\xB0\x80",
    b"\xC0\x80\x00\xC0\xAF\xF4\x90\x80\x80\xFC\x84\x80\x80\x80\x80\xFD\xBF",
    b"\xFF\xFEa\x00\x3D\xD8\x00\xDEb\x00\x3D\xD8\x0A\x00\x00\xDC\x3D\xD8",
    b"\xFE\xFF\x00a\xD8\x3D\xDE\x00\xD8\x3D\x00\x0A\xDE\x00\x00",
    b"\xFF\xFE\x00\x00a\x00\x00\x00\x00\xF6\x01\x00\x00\xD8\x00\x00\xFF\xFF\xFF\xFFa\x00",
    b"\x80\x81\x9D\xE9\xFF\xED\xA0\xF0\x90\x80\xE2\x82",
];

#[test]
fn chunks_cut_anywhere_give_the_same_output() {
    let replacements = [None, Some(Replacement::ReplacementCharacter), Some(Replacement::Drop)];
    let marks = [Mark::AsEncoded, Mark::Keep, Mark::Strip, Mark::Add, Mark::Detect];
    let rules = [
        Segmentation::MaximalSubpart,
        Segmentation::Run,
        Segmentation::LeadAnnounced,
        Segmentation::MaximalSubpartSurrogate,
    ];
    let mut conversions = 0;
    for from in encodings() {
        for to in encodings() {
            for on_error in replacements {
                for (mark, segmentation) in marks.into_iter().zip(rules.into_iter().cycle()) {
                    let options = Options { on_error, mark, segmentation, surrogates: UnpairedSurrogates::Refuse };
                    if Converter::new(from, to, options).is_err() {
                        continue;
                    }
                    for text in CUT {
                        let whole = convert(from, to, options, &[text]);
                        for cut in 0..=text.len() {
                            let (first, second) = text.split_at(cut);
                            let parts = convert(from, to, options, &[first, &[], second]);
                            assert_eq!(parts, whole, "{from} to {to}, {options:?}: {text:02X?} cut at {cut}");
                        }
                        let bytes: Vec<&[u8]> = text.chunks(1).collect();
                        assert_eq!(
                            convert(from, to, options, &bytes),
                            whole,
                            "{from} to {to}, {options:?}: {text:02X?}"
                        );
                        conversions += 1;
                    }
                }
            }
        }
    }
    assert!(conversions > 20_000, "{conversions}");
}

#[test]
fn unencodable_code_points_are_replaced_anywhere_in_long_text() {
    // Next to the edges of blocks, stretches and pieces.
    let places = [0, 1, 31, 32, 63, 255, 256, 1023, 1024, 2047, 2048, 4094, 4095, 4096];
    let mut conversions = 0;
    for from in encodings() {
        for to in encodings() {
            for code_point in [0, 0x81, 0xE9, 0x20AC, 0x1_F600, 0x11_0000] {
                let Some(there) = expected(from, code_point) else { continue };
                let text = |encoding| expected(encoding, b'a'.into()).unwrap();
                let replacement = || expected(to, if to.is_single_byte() { b'?'.into() } else { 0xFFFD }).unwrap();
                for before in places {
                    let input = [text(from).repeat(before), there.clone(), text(from).repeat(100)].concat();
                    let of = |said: Vec<u8>| [text(to).repeat(before), said, text(to).repeat(100)].concat();
                    let said = expected(to, code_point);
                    let options = replacing(Replacement::ReplacementCharacter);
                    let whole = convert(from, to, options, &[&input]);
                    assert_eq!(whole.0, of(said.clone().unwrap_or_else(replacement)), "{from} to {to}: {before}");
                    let (out, _) = convert(from, to, replacing(Replacement::Drop), &[&input]);
                    assert_eq!(out, of(said.clone().unwrap_or_default()), "{from} to {to}: {before}");
                    let first = whole.1.as_ref().unwrap().map(|fault| fault.offset());
                    let place = (before * text(from).len()) as u64;
                    assert_eq!(first, said.is_none().then_some(place), "{from} to {to}: {before}");
                    let (one, two) = input.split_at(input.len() / 3);
                    assert_eq!(convert(from, to, options, &[one, two]), whole, "{from} to {to}: {before}");
                    conversions += 1;
                }
            }
        }
    }
    assert!(conversions > 20_000, "{conversions}");
}

/// Every string of up to three bytes from those in which grammars differ, and some longer strings.
fn ill_formed() -> Vec<Vec<u8>> {
    let alphabet = *b"\x00\x41\x7F\x80\x8F\x90\x9F\xA0\xAF\xB0\xBF\xC0\xC2\xDF\xE0\xED\xEF\xF0\xF4\xF8\xFC\xFF";
    let mut strings = vec![Vec::new()];
    let mut longer = strings.clone();
    for _ in 0..3 {
        longer = longer
            .iter()
            .flat_map(|string| alphabet.iter().map(move |&byte| [&string[..], &[byte]].concat()))
            .collect();
        strings.extend(longer.iter().cloned());
    }
    strings.extend(CUT.map(<[u8]>::to_vec));
    strings
}

#[test]
fn ill_formed_input_is_replaced_as_the_standard_says_after_and_before_long_text() {
    let strings = ill_formed();
    let text = "naïve 世界, ".repeat(20);
    for (from, grammar) in RELATIVES {
        let contract = Contract { grammar, ..Contract::STANDARD };
        for string in &strings {
            for bytes in [string.clone(), [text.as_bytes(), string, text.as_bytes()].concat()] {
                let (out, ended) = convert(
                    from,
                    Encoding::Ucs4Le,
                    Options { surrogates: UnpairedSurrogates::Pass, ..PLAIN },
                    &[&bytes],
                );
                let is_valid = from == Encoding::Rfc2279 && validity(&contract, &bytes).is_valid();
                if is_valid {
                    let units: Vec<u8> = code_points(&contract, &bytes).flat_map(u32::to_le_bytes).collect();
                    assert_eq!((out, ended), (units, Ok(None)), "{from}: {bytes:02X?}");
                }
                let (out, ended) =
                    convert(from, Encoding::Rfc2279, replacing(Replacement::ReplacementCharacter), &[&bytes]);
                let mut wanted = Vec::new();
                for code_point in code_points(&contract, &bytes) {
                    encode(&grammar::RFC2279, code_point, &mut wanted).unwrap();
                }
                assert_eq!(out, wanted, "{from}: {bytes:02X?}");
                let first = ended.unwrap();
                let expected = match validity(&contract, &bytes) {
                    Validity::Valid => None,
                    Validity::Invalid(malformed) => malformed.valid_up_to.zip(malformed.kind),
                };
                let said = first.map(|fault| (fault.offset() as usize, fault.kind().unwrap()));
                assert_eq!(said, expected, "{from}: {bytes:02X?}");
            }
        }
    }
}

#[test]
fn utf_8b_round_trips_any_bytes() {
    for bytes in ill_formed() {
        let (escaped, ended) = convert(Encoding::Utf8b, Encoding::Wtf8, PLAIN, &[&bytes]);
        assert_eq!(ended, Ok(None));
        assert!(validity(&Contract { grammar: &grammar::WTF8, ..Contract::STANDARD }, &escaped).is_valid());
        let (back, ended) = convert(Encoding::Wtf8, Encoding::Utf8b, PLAIN, &[&escaped]);
        assert_eq!((back, ended), (bytes.clone(), Ok(None)));
        // The same with the option to escape errors, for an output without surrogates.
        let same = convert(Encoding::Utf8, Encoding::Utf8, replacing(Replacement::SurrogateEscape), &[&bytes]);
        assert_eq!(same.0, bytes);
    }
}

#[test]
fn surrogates_that_meet_join_in_wtf_8_and_pass_where_they_may() {
    let pass = Options { surrogates: UnpairedSurrogates::Pass, ..PLAIN };
    let apart = b"\xED\xA0\xBD\xED\xB8\x80";
    let joined = "😀".as_bytes();
    assert_eq!(convert(Encoding::Rfc2279, Encoding::Wtf8, PLAIN, &[&apart[..3], &apart[3..]]).0, joined);
    assert_eq!(convert(Encoding::Rfc2279, Encoding::Wtf8, PLAIN, &[&apart[..3]]).0, apart[..3]);
    assert_eq!(
        convert(Encoding::Utf16Le, Encoding::Wtf8, pass, &[b"\x3D\xD8a\x00\x3D\xD8\x00\xDE"]).0,
        *b"\xED\xA0\xBDa\xF0\x9F\x98\x80"
    );
    let lone = b"\x00\xDC\x3D\xD8";
    let (out, ended) = convert(Encoding::Utf16Le, Encoding::Utf8, PLAIN, &[lone]);
    assert_eq!((out.len(), ended.unwrap_err().kind()), (0, Some(Kind::Surrogate)));
    for to in [Encoding::Utf8, Encoding::Cesu8, Encoding::Utf16Be, Encoding::Utf32Le, Encoding::Ucs2Le] {
        let (out, ended) = convert(Encoding::Utf16Le, to, pass, &[lone]);
        assert_eq!(ended, Ok(None), "{to}");
        assert_eq!(convert(to, Encoding::Utf16Le, pass, &[&out]), (lone.to_vec(), Ok(None)), "{to}");
    }
    // A leading surrogate at the end of a chunk waits for its other half.
    let (out, _) = convert(Encoding::Cesu8, Encoding::Utf16Le, pass, &[&apart[..4], &apart[4..], &apart[..3]]);
    assert_eq!(out, b"\x3D\xD8\x00\xDE\x3D\xD8");
}

#[test]
fn a_fault_says_where_and_why() {
    let rows: [(Encoding, Encoding, &[u8], &str); 8] = [
        (
            Encoding::Utf8,
            Encoding::Utf16Le,
            b"a\nb\xC0\xAF",
            "byte 3, line 2: C0: overlong-2: the start of an overlong 2-byte form",
        ),
        (
            Encoding::Utf8,
            Encoding::Latin1,
            "a\n\n€".as_bytes(),
            "byte 3, line 3: E2 82 AC: unencodable: U+20AC is not in ISO-8859-1",
        ),
        (
            Encoding::Windows1252Strict,
            Encoding::Utf8,
            b"\n\x81",
            "byte 1, line 2: 81: unassigned: 81 is not a character of windows-1252-strict",
        ),
        (
            Encoding::Utf16Le,
            Encoding::Utf8,
            b"\n\x00\x00\xDC",
            "byte 2, line 2: 00 DC: surrogate in UTF-16LE: a surrogate without",
        ),
        (
            Encoding::Utf16Be,
            Encoding::Utf8,
            b"\x00\n\x00",
            "byte 2, line 2: 00: incomplete in UTF-16BE: the input ends before",
        ),
        (
            Encoding::Utf32Be,
            Encoding::Utf8,
            b"\x00\x11\x00\x00",
            "byte 0, line 1: 00 11 00 00: too-large in UTF-32BE: beyond",
        ),
        (Encoding::Cesu8, Encoding::Utf8, "a😀".as_bytes(), "byte 1, line 1: F0: four-byte: "),
        (Encoding::ModifiedUtf8, Encoding::Utf8, b"a\x00", "byte 1, line 1: 00: null: "),
    ];
    for (from, to, bytes, says) in rows {
        let fault = convert(from, to, PLAIN, &[bytes]).1.unwrap_err();
        assert!(fault.to_string().starts_with(says), "{fault}");
    }
}

#[test]
fn the_first_of_two_faults_is_reported_whatever_it_is() {
    let options = replacing(Replacement::ReplacementCharacter);
    for (bytes, offset) in [(&b"a\xE2\x82\xAC\xFF"[..], 1), (b"ab\xFF\xE2\x82\xAC", 2)] {
        let (out, ended) = convert(Encoding::Utf8, Encoding::Latin1, options, &[bytes]);
        assert_eq!(ended.unwrap().map(|fault| fault.offset()), Some(offset));
        assert!(out.ends_with(b"??"));
    }
    // An unencodable code point ends the conversion if errors are read as bytes, and is the fault that is reported.
    let (out, ended) =
        convert(Encoding::Utf8, Encoding::Latin1, replacing(Replacement::Latin1), &[b"\xFF\n\xE2\x82\xAC"]);
    let fault = ended.unwrap_err();
    assert_eq!((out, fault.offset(), fault.line()), (b"\xFF\n".to_vec(), 2, 2));
    assert_eq!(fault.reason(), Reason::Unencodable(0x20AC));
}

/// Single-byte encodings have no surrogates, so escaped bytes are restored whether surrogates pass or not.
#[test]
fn escaped_bytes_are_restored_in_single_byte_encodings() {
    for surrogates in [UnpairedSurrogates::Refuse, UnpairedSurrogates::Pass] {
        let options = Options { surrogates, ..replacing(Replacement::SurrogateEscape) };
        for to in encodings().filter(|encoding| encoding.is_single_byte()) {
            let (out, ended) = convert(Encoding::Utf8, to, options, &[b"caf\xE9 x"]);
            assert_eq!(out, b"caf\xE9 x", "{to}, {surrogates:?}");
            assert_eq!(ended.unwrap().map(|fault| fault.offset()), Some(3), "{to}, {surrogates:?}");
        }
    }
}

/// The first half of a pair and one byte of the second are one segment: the input ends before the code point does.
#[test]
fn a_pair_of_utf_16_that_is_cut_off_is_one_fault() {
    for (from, bytes) in [(Encoding::Utf16Le, b"a\0\x3D\xD8\0"), (Encoding::Utf16Be, b"\0a\xD8\x3D\xDE")] {
        let (out, ended) = convert(from, Encoding::Utf8, replacing(Replacement::ReplacementCharacter), &[bytes]);
        assert_eq!(out, "a\u{FFFD}".as_bytes(), "{from}");
        let fault = ended.unwrap().unwrap();
        assert_eq!((fault.kind(), fault.offset(), fault.byte_len()), (Some(Kind::Incomplete), 2, 3), "{from}");
        assert!(fault.is_incomplete());
    }
}

#[test]
fn the_first_fault_is_as_long_as_the_first_run() {
    let options = Options { segmentation: Segmentation::Run, ..replacing(Replacement::ReplacementCharacter) };
    let rows: [(&[u8], u64, bool); 5] = [
        (b"a\xFF\xFEb", 2, false),
        (b"a\xFF\xFEb\xC0\x80\x80c", 2, false),
        (b"a\xE2\x82b", 2, false),
        (b"a\xE2\x82", 2, true),
        (b"a\xFF\xE2\x82", 3, false),
    ];
    for (bytes, len, incomplete) in rows {
        let first = convert(Encoding::Utf8, Encoding::Utf8, options, &[bytes]).1.unwrap().unwrap();
        assert_eq!((first.offset(), first.byte_len(), first.is_incomplete()), (1, len, incomplete), "{bytes:02X?}");
        let runs = bytes.split(u8::is_ascii).filter(|run| !run.is_empty()).count();
        let mut converter = Converter::new(Encoding::Utf8, Encoding::Utf8, options).unwrap();
        converter.push(bytes, &mut Vec::new()).unwrap();
        assert_eq!(converter.finish(&mut Vec::new()).unwrap().faults, runs as u64, "{bytes:02X?}");
    }
}

#[test]
fn byte_order_marks_are_kept_stripped_added_and_detected() {
    use Encoding::{Utf8, Utf16, Utf16Be, Utf16Le, Utf32, Utf32Be};
    type Row = (Encoding, Encoding, Mark, &'static [u8], &'static [u8]);
    let rows: [Row; 14] = [
        (Utf8, Utf8, Mark::AsEncoded, b"\xEF\xBB\xBFa", b"\xEF\xBB\xBFa"),
        (Utf8, Utf8, Mark::Strip, b"\xEF\xBB\xBF\xEF\xBB\xBFa", b"\xEF\xBB\xBFa"),
        (Utf8, Utf8, Mark::Add, b"a", b"\xEF\xBB\xBFa"),
        (Utf8, Utf8, Mark::Add, b"\xEF\xBB\xBFa", b"\xEF\xBB\xBFa"),
        (Utf8, Utf8, Mark::Detect, b"\xFF\xFEa\0", b"a"),
        (Utf8, Utf8, Mark::Detect, b"\xFE\xFF\0a", b"a"),
        (Utf16Le, Utf8, Mark::Detect, b"\xEF\xBB\xBFa", b"a"),
        (Utf8, Utf8, Mark::Detect, b"\xFF\xFE\0\0a\0\0\0", b"a"),
        (Utf16, Utf8, Mark::AsEncoded, b"\xFE\xFF\0a", b"a"),
        (Utf16, Utf8, Mark::AsEncoded, b"a\0", b"a"),
        (Utf16, Utf16Be, Mark::Keep, b"\xFF\xFEa\0", b"\xFE\xFF\0a"),
        (Utf8, Utf16, Mark::AsEncoded, b"a", b"\xFF\xFEa\0"),
        (Utf32Be, Utf32, Mark::AsEncoded, b"\0\0\0a", b"\xFF\xFE\0\0a\0\0\0"),
        (Utf32, Utf32Be, Mark::Add, b"\0\0\xFE\xFF\0\0\0a", b"\0\0\xFE\xFF\0\0\0a"),
    ];
    for (from, to, mark, bytes, wanted) in rows {
        let (out, ended) = convert(from, to, Options { mark, ..Options::STRICT }, &[bytes]);
        assert_eq!((&out[..], ended), (wanted, Ok(None)), "{from} to {to}, {mark:?}: {bytes:02X?}");
    }
    // A second input continues the same output.
    let mut converter = Converter::new(Utf16, Utf16, Options::STRICT).unwrap();
    let mut out = Vec::new();
    for input in [b"\xFE\xFF\0a", b"\xFF\xFEb\0"] {
        converter.push(input, &mut out).unwrap();
        assert_eq!(converter.finish(&mut out).unwrap().read, 4);
    }
    assert_eq!(out, b"\xFF\xFEa\0b\0");
}

#[test]
fn options_that_make_no_sense_together_are_refused() {
    use Encoding::{Latin1, Utf8, Utf16, Utf16Le};
    let rows = [
        (Utf16Le, Utf8, replacing(Replacement::Latin1), "single bytes"),
        (
            Latin1,
            Utf8,
            Options { segmentation: Segmentation::Byte, ..replacing(Replacement::Drop) },
            "not a relative of UTF-8",
        ),
        (Utf8, Utf8, Options { segmentation: Segmentation::Run, ..PLAIN }, "policy"),
        (Utf8, Latin1, Options { mark: Mark::Add, ..PLAIN }, "no byte order mark"),
        (Utf8, Utf16, Options { mark: Mark::Strip, ..PLAIN }, "UTF-16LE"),
    ];
    for (from, to, options, says) in rows {
        let error = Converter::new(from, to, options).map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(says), "{error}");
    }
}

/// Claims to have read more than there was room for.
struct Boastful;

impl std::io::Read for Boastful {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        Ok(buffer.len() + 1)
    }
}

#[test]
fn a_reader_that_lies_is_an_error() {
    let converter = Converter::new(Encoding::Utf8, Encoding::Latin1, PLAIN).unwrap();
    for error in [
        std::io::read_to_string(ConvertReader::new(Boastful, converter)).unwrap_err(),
        std::io::read_to_string(utfuzz::codec::Utf8Reader::new(Boastful)).unwrap_err(),
    ] {
        assert!(error.to_string().starts_with("the reader claims to have read 65537 bytes"), "{error}");
    }
}

/// The fault of an error of a reader or writer.
fn fault_of(error: &std::io::Error) -> Fault {
    assert_eq!(error.kind(), std::io::ErrorKind::InvalidData);
    *error.get_ref().and_then(|inner| inner.downcast_ref()).unwrap()
}

#[test]
fn readers_and_writers_convert_like_the_converter() {
    use std::io::{Read, Write};
    let options = [PLAIN, replacing(Replacement::ReplacementCharacter)];
    for (from, to) in
        [(Encoding::Utf8, Encoding::Utf16), (Encoding::Utf16Le, Encoding::Wtf8), (Encoding::Utf8, Encoding::Latin1)]
    {
        for (options, text) in options.into_iter().flat_map(|options| CUT.map(|text| (options, text))) {
            let (wanted, ended) = convert(from, to, options, &[text]);
            let converter = || Converter::new(from, to, options).unwrap();

            let mut reader = ConvertReader::new(text, converter());
            let (mut out, mut byte) = (Vec::new(), [0]);
            let read = loop {
                match reader.read(&mut byte) {
                    Ok(0) => break Ok(reader.summary().unwrap().first),
                    Ok(_) => out.push(byte[0]),
                    Err(error) => break Err(fault_of(&error)),
                }
            };
            assert_eq!((&out, read), (&wanted, ended), "{from} to {to}, {options:?}: {text:02X?}");

            let mut writer = ConvertWriter::new(Vec::new(), converter());
            let written = text.iter().try_for_each(|&byte| writer.write_all(&[byte]));
            let finished = written.and_then(|()| writer.finish());
            let finished = finished.map_err(|error| fault_of(&error));
            let same = finished.map(|(out, summary)| {
                assert_eq!(out, wanted, "{from} to {to}, {options:?}: {text:02X?}");
                summary.first
            });
            assert_eq!(same, ended, "{from} to {to}, {options:?}: {text:02X?}");

            let once = utfuzz::codec::convert::convert(text, from, to, options);
            match (once, ended) {
                (Ok(out), Ok(_)) => assert_eq!(out, wanted),
                (Err(Failed::Fault(fault)), Err(other)) => assert_eq!(fault, other),
                (once, _) => panic!("{from} to {to}, {options:?}: {text:02X?}: {once:?}"),
            }
        }
    }
}

/// Where surrogates pass, a surrogate is one segment, even if what follows it is not a continuation byte.
#[test]
fn a_surrogate_that_is_cut_off_is_one_segment_where_surrogates_pass() {
    for (surrogates, segments) in [(UnpairedSurrogates::Refuse, 2), (UnpairedSurrogates::Pass, 1)] {
        let options = Options { surrogates, ..replacing(Replacement::ReplacementCharacter) };
        let (out, _) = convert(Encoding::Utf8, Encoding::Utf8, options, &[b"\xED\xB3x"]);
        assert_eq!(out, ["\u{FFFD}".repeat(segments), "x".into()].concat().as_bytes(), "{surrogates:?}");
    }
}

#[test]
fn the_input_encoding_can_change_between_inputs() {
    let mut converter = Converter::new(Encoding::Latin1, Encoding::Utf8, PLAIN).unwrap();
    let mut out = Vec::new();
    converter.push(b"\xE9", &mut out).unwrap();
    converter.finish(&mut out).unwrap();
    converter.set_from(Encoding::Utf16Be).unwrap();
    converter.push(b"\0\xE9", &mut out).unwrap();
    assert_eq!(converter.finish(&mut out).unwrap().from, Encoding::Utf16Be);
    assert_eq!(out, "éé".as_bytes());
    let options = Options { segmentation: Segmentation::Byte, ..replacing(Replacement::Drop) };
    let mut converter = Converter::new(Encoding::Utf8, Encoding::Utf8, options).unwrap();
    assert!(converter.set_from(Encoding::Latin1).unwrap_err().to_string().contains("policy"));
}

/// Characters of every width, and a fault here and there.
#[cfg(feature = "rayon")]
fn long_text(encoding: Encoding, seed: u64, len: usize) -> Vec<u8> {
    // Knuth's generator for MMIX; the upper bits.
    let mut state = seed;
    let mut below = |limit: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % limit
    };
    let mut text = Vec::with_capacity(len + 8);
    while text.len() < len {
        let code_point = match below(8) {
            0..4 => u32::from(b'a'),
            4 => 0xE9,
            5 => 0x4E16,
            6 => 0x1_F600,
            _ => u32::from(b'\n'),
        };
        text.extend(expected(encoding, code_point).or_else(|| expected(encoding, b'?'.into())).unwrap_or_default());
    }
    for _ in 0..below(3) {
        let at = below(text.len());
        text[at] = below(256) as u8;
    }
    text
}

#[cfg(feature = "rayon")]
#[test]
fn several_threads_give_the_output_of_one() {
    let threads = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    let forms = [
        Encoding::Utf8,
        Encoding::Utf16Le,
        Encoding::Utf16Be,
        Encoding::Utf32Le,
        Encoding::Windows1252,
        Encoding::Latin1,
        Encoding::Cesu8,
        Encoding::Wtf8,
    ];
    let mut in_parallel = 0;
    for (seed, (from, to)) in forms.iter().flat_map(|from| forms.map(|to| (*from, to))).enumerate() {
        let text = long_text(from, seed as u64, (1 << 20) + 12_345);
        for options in [Options::STRICT, replacing(Replacement::ReplacementCharacter)] {
            let (mut one, mut several) = (Vec::new(), Vec::new());
            let mut converter = Converter::new(from, to, options).unwrap();
            let pushed = converter.push(&text, &mut one);
            let expected = (pushed, converter.finish(&mut one));
            let mut converter = Converter::new(from, to, options).unwrap().in_parallel();
            let (first, second) = text.split_at(text.len() - 7);
            let pushed = threads.install(|| converter.push(first, &mut several));
            let pushed = pushed.and_then(|()| converter.push(second, &mut several));
            assert_eq!((pushed, converter.finish(&mut several)), expected, "{from} to {to}, {options:?}");
            assert!(one == several, "{from} to {to}, {options:?}: the output differs");
            in_parallel += 1;
        }
    }
    assert_eq!(in_parallel, 2 * forms.len() * forms.len());
}

/// Text of one code point fills whole blocks, so a block that is taken for what it is not shows.
#[test]
fn text_of_one_code_point_goes_from_any_encoding_to_any_other() {
    const TIMES: usize = 67;
    const CODE_POINTS: [u32; 25] = [
        0,
        0x41,
        0x7F,
        0x80,
        0x81,
        0x9F,
        0xA0,
        0xE9,
        0xFF,
        0x100,
        0x160,
        0x178,
        0x20AC,
        0xD7FF,
        0xD800,
        0xDBFF,
        0xDC80,
        0xDFFF,
        0xE000,
        0xFFFD,
        0xFFFF,
        0x1_0000,
        0x10_FFFF,
        0x11_0000,
        0x7FFF_FFFF,
    ];
    let mut conversions = 0;
    for code_point in CODE_POINTS {
        for from in encodings() {
            let Some(here) = expected(from, code_point) else { continue };
            for to in encodings() {
                let (out, ended) = convert(from, to, PLAIN, &[&here.repeat(TIMES)]);
                match expected(to, code_point) {
                    Some(there) => {
                        assert_eq!((out, ended), (there.repeat(TIMES), Ok(None)), "{from} to {to}: {code_point:04X}");
                    }
                    None => {
                        let said = ended.map_err(|fault| (fault.offset(), fault.reason()));
                        let wanted = Err((0, Reason::Unencodable(code_point)));
                        assert_eq!((out, said), (Vec::new(), wanted), "{from} to {to}: {code_point:04X}");
                    }
                }
                conversions += 1;
            }
        }
    }
    assert!(conversions > 5000, "{conversions}");
}

#[test]
fn every_policy_cuts_ill_formed_input_as_the_standard_says() {
    let mut strings: Vec<Vec<u8>> = ill_formed().into_iter().filter(|string| string.len() != 3).collect();
    // A lead byte of every length before what may follow it, and half a pair before what may follow that.
    for lead in *b"\xC1\xC3\xE1\xED\xF1\xF6\xF9\xFC\xFD\xFE" {
        for tail in
            [&b"\x80\x80"[..], b"\xA0\x80\x80", b"\x80\x80\x80\x80", b"\xFF\x80\x80", b"\x85\x80\x80\x80\x80\x80"]
        {
            strings.push([b"a", &[lead], tail, b"z"].concat());
            strings.push([&[lead], tail].concat());
        }
    }
    for tail in [
        &b""[..],
        b"\xED",
        b"\xEDa",
        b"\xED\xB0",
        b"\xED\xB0a",
        b"\xED\xB0\xC3\xA9",
        b"\xED\x80\x80",
        b"\xEDa\x80",
        b"a",
    ] {
        strings.push([b"\xED\xA0\xBD", tail].concat());
    }
    for (from, grammar) in RELATIVES {
        for segmentation in Segmentation::ALL {
            let contract = Contract { grammar, segmentation, ..Contract::STANDARD };
            for string in &strings {
                for on_error in [Replacement::ReplacementCharacter, Replacement::Drop] {
                    let options = Options { segmentation, ..replacing(on_error) };
                    let (out, ended) = convert(from, Encoding::Rfc2279, options, &[string]);
                    let contract = Contract { replacement: Some(on_error), ..contract };
                    let mut wanted = Vec::new();
                    for code_point in code_points(&contract, string) {
                        encode(&grammar::RFC2279, code_point, &mut wanted).unwrap();
                    }
                    assert_eq!(out, wanted, "{from}, {segmentation:?}, {on_error:?}: {string:02X?}");
                    let first = ended.unwrap().map(|fault| (fault.offset() as usize, fault.kind().unwrap()));
                    let expected = match validity(&contract, string) {
                        Validity::Valid => None,
                        Validity::Invalid(malformed) => malformed.valid_up_to.zip(malformed.kind),
                    };
                    assert_eq!(first, expected, "{from}, {segmentation:?}: {string:02X?}");
                }
            }
        }
    }
}

#[test]
fn the_summary_counts_what_was_replaced() {
    for (text, faults) in [(&b"a\xFFb\xFF\xFEc"[..], 3), (b"\xE2\x82", 1), (b"abc", 0)] {
        for on_error in [Replacement::ReplacementCharacter, Replacement::Drop] {
            let mut converter = Converter::new(Encoding::Utf8, Encoding::Utf16Le, replacing(on_error)).unwrap();
            converter.push(text, &mut Vec::new()).unwrap();
            let summary = converter.finish(&mut Vec::new()).unwrap();
            assert_eq!((summary.faults, summary.read), (faults, text.len() as u64), "{text:02X?}");
        }
    }
}

#[test]
fn lines_are_counted_in_units_of_every_size() {
    for from in encodings().filter(|from| !from.is_utf8_like()) {
        let text: Vec<u8> = "a\n\n\nb".chars().flat_map(|c| expected(from, c.into()).unwrap()).collect();
        let (to, bad) = match expected(from, 0x100) {
            Some(bytes) => (Encoding::Latin1, bytes),
            None => match expected(from, 0xE9) {
                Some(bytes) => (Encoding::Ascii, bytes),
                None => (Encoding::Utf8, vec![0xE9]),
            },
        };
        let fault = convert(from, to, PLAIN, &[&[&text[..], &bad].concat()]).1.unwrap_err();
        assert_eq!((fault.offset() as usize, fault.line()), (text.len(), 4), "{from} to {to}");
    }
}

#[test]
fn a_fault_shows_eight_bytes_and_says_that_there_are_more() {
    let options = Options { segmentation: Segmentation::Run, ..replacing(Replacement::Drop) };
    for (len, says) in [
        (2, "byte 1, line 1: FF FF: "),
        (8, "byte 1, line 1: FF FF FF FF FF FF FF FF: "),
        (9, "byte 1, line 1: FF FF FF FF FF FF FF FF …: "),
    ] {
        let text = [b"a", &b"\xFF".repeat(len)[..], b"b"].concat();
        let fault = convert(Encoding::Utf8, Encoding::Utf8, options, &[&text]).1.unwrap().unwrap();
        assert_eq!((fault.byte_len(), fault.bytes().len()), (len as u64, len.min(8)));
        assert!(fault.to_string().starts_with(says), "{fault}");
    }
}

/// Where unpaired surrogates pass, half a pair is a code point only if the other half does not come.
#[test]
fn a_pair_that_is_cut_is_joined_where_surrogates_pass() {
    let pass = Options { surrogates: UnpairedSurrogates::Pass, ..PLAIN };
    let rows: [(Encoding, &[u8]); 3] = [
        (Encoding::Utf16Le, b"\x3D\xD8\x00\xDE"),
        (Encoding::Utf16Be, b"\xD8\x3D\xDE\x00"),
        (Encoding::Cesu8, b"\xED\xA0\xBD\xED\xB8\x80"),
    ];
    for (from, pair) in rows {
        for cut in 0..=pair.len() {
            let (first, second) = pair.split_at(cut);
            let (out, ended) = convert(from, Encoding::Utf8, pass, &[first, second]);
            assert_eq!((&out[..], ended), ("😀".as_bytes(), Ok(None)), "{from}, cut at {cut}");
        }
        let half = &pair[..pair.len() / 2];
        for after in ["", "a", "é", "世"] {
            let after = after.chars().flat_map(|c| expected(from, c.into()).unwrap()).collect::<Vec<u8>>();
            let text = [half, &after].concat();
            let (out, ended) = convert(from, Encoding::Wtf8, pass, &[&text]);
            assert_eq!(ended, Ok(None), "{from}: {text:02X?}");
            assert!(out.starts_with(b"\xED\xA0\xBD"), "{from}: {out:02X?}");
            assert_eq!(convert(Encoding::Wtf8, from, pass, &[&out]).0, text, "{from}");
        }
    }
}

#[test]
fn an_escaped_byte_stays_a_surrogate_where_the_output_has_surrogates() {
    let escape = replacing(Replacement::SurrogateEscape);
    let pass = Options { surrogates: UnpairedSurrogates::Pass, ..escape };
    let rows: [(Encoding, Options, &[u8]); 7] = [
        (Encoding::Utf8, escape, b"a\xFF"),
        (Encoding::Utf8, pass, b"a\xED\xB3\xBF"),
        (Encoding::Wtf8, escape, b"a\xED\xB3\xBF"),
        (Encoding::Cesu8, escape, b"a\xFF"),
        (Encoding::Cesu8, pass, b"a\xED\xB3\xBF"),
        (Encoding::Utf16Be, pass, b"\0a\xDC\xFF"),
        (Encoding::Utf32Be, pass, b"\0\0\0a\0\0\xDC\xFF"),
    ];
    for (to, options, wanted) in rows {
        assert_eq!(convert(Encoding::Utf8, to, options, &[b"a\xFF"]).0, wanted, "{to}, {options:?}");
    }
}

#[test]
fn the_mark_of_every_order_is_detected() {
    let detect = Options { mark: Mark::Detect, ..Options::STRICT };
    for (encoding, marked) in [
        (Encoding::Utf8, &b"\xEF\xBB\xBFa"[..]),
        (Encoding::Utf16Le, b"\xFF\xFEa\0"),
        (Encoding::Utf16Be, b"\xFE\xFF\0a"),
        (Encoding::Utf32Le, b"\xFF\xFE\0\0a\0\0\0"),
        (Encoding::Utf32Be, b"\0\0\xFE\xFF\0\0\0a"),
    ] {
        let mut converter = Converter::new(Encoding::Latin1, Encoding::Utf8, detect).unwrap();
        let mut out = Vec::new();
        converter.push(marked, &mut out).unwrap();
        assert_eq!((converter.finish(&mut out).unwrap().from, &out[..]), (encoding, &b"a"[..]));
    }
}

#[test]
fn a_name_is_suggested_only_if_it_is_near() {
    let error = |label| Encoding::named(label).unwrap_err().to_string();
    for near in ["utf-9", "latin11", "wtf-", "uft8"] {
        assert!(error(near).contains("did you mean "), "{}", error(near));
    }
    // One letter is as far from every name as no letter, and a long name is far from a short part of it.
    for far in ["x", "8859", "klingon"] {
        assert!(error(far).contains("; known: UTF-8, "), "{}", error(far));
    }
}

#[test]
fn a_failed_conversion_says_why() {
    use utfuzz::codec::convert::convert;
    let fault = convert(b"a\xFF", Encoding::Utf8, Encoding::Latin1, PLAIN).unwrap_err();
    assert!(matches!(fault, Failed::Fault(_)));
    assert!(fault.to_string().starts_with("byte 1, line 1: FF: invalid-byte: "), "{fault}");
    let options = convert(b"a", Encoding::Utf16, Encoding::Utf8, replacing(Replacement::Latin1)).unwrap_err();
    assert!(matches!(options, Failed::Options(_)));
    assert!(options.to_string().contains("does not consist of single bytes"), "{options}");
}

/// Counts how often it is flushed.
struct Flushed<'a>(&'a std::cell::Cell<u32>);

impl std::io::Write for Flushed<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.set(self.0.get() + 1);
        Ok(())
    }
}

#[test]
fn a_writer_flushes_what_it_writes_to() {
    use std::io::Write;
    let flushed = std::cell::Cell::new(0);
    let converter = Converter::new(Encoding::Utf8, Encoding::Latin1, PLAIN).unwrap();
    let mut writer = ConvertWriter::new(Flushed(&flushed), converter);
    writer.write_all(b"a").unwrap();
    assert_eq!(flushed.get(), 0);
    writer.flush().unwrap();
    assert_eq!(flushed.get(), 1);
    writer.finish().unwrap();
    assert_eq!(flushed.get(), 2);
}

#[test]
fn a_reader_gives_what_is_left_to_any_buffer() {
    use std::io::Read;
    let text = "Grüße, 世界 ".repeat(20_000);
    let converter = Converter::new(Encoding::Utf8, Encoding::Utf16Be, PLAIN).unwrap();
    let mut reader = ConvertReader::new(text.as_bytes(), converter);
    let (mut out, mut buffer) = (Vec::new(), vec![0; 1 << 20]);
    for len in [1, 3, 1 << 20, 7, 100_000, 1].into_iter().chain(std::iter::repeat(1 << 20)) {
        match reader.read(&mut buffer[..len]).unwrap() {
            0 => break,
            count => out.extend_from_slice(&buffer[..count]),
        }
    }
    let wanted: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    assert!(out == wanted, "{} bytes", out.len());
}

#[test]
fn a_converter_of_single_bytes_can_be_shown() {
    let converter = Converter::new(Encoding::Windows1252, Encoding::Utf8, PLAIN).unwrap();
    let shown = format!("{converter:?}");
    assert!(shown.contains("SingleByte([20AC, 0081, 201A, "), "{shown}");
}

/// How many bytes were read and how many faults there were; or the offset and the line of the fault that ended it.
#[cfg(feature = "rayon")]
type Counted = Result<(u64, u64), (u64, u64)>;

/// On one thread, and on several: the output, and what was counted.
#[cfg(feature = "rayon")]
fn both(from: Encoding, to: Encoding, options: Options, chunks: &[&[u8]]) -> (Vec<u8>, Counted) {
    let convert = |mut converter: Converter| {
        let mut out = Vec::new();
        let pushed = chunks.iter().try_for_each(|chunk| converter.push(chunk, &mut out));
        let finished = converter.finish(&mut out);
        let said = pushed.and(finished).map(|summary| (summary.read, summary.faults));
        (out, said.map_err(|fault| (fault.offset(), fault.line())))
    };
    let converter = || Converter::new(from, to, options).unwrap();
    let (one, several) = (convert(converter()), convert(converter().in_parallel()));
    assert_eq!(one.1, several.1, "{from} to {to}");
    assert!(one.0 == several.0, "{from} to {to}: the output differs");
    several
}

#[cfg(feature = "rayon")]
#[test]
fn several_threads_convert_text_up_to_a_fault_like_one() {
    const LEN: usize = 600_000;
    // The first unit, and the cut between two shares: half a pair, and what may be taken for it.
    for (from, to) in [
        (Encoding::Utf8, Encoding::Utf16Le),
        (Encoding::Utf16Le, Encoding::Utf8),
        (Encoding::Utf16Be, Encoding::Ucs2Le),
        (Encoding::Latin1, Encoding::Utf32Be),
        (Encoding::Cesu8, Encoding::Utf8),
    ] {
        let of = |text: &str| -> Vec<u8> {
            text.chars().flat_map(|c| expected(from, c.into()).unwrap_or_else(|| vec![b'?'])).collect()
        };
        let fill = |line: &str| of(line).repeat(LEN / of(line).len());
        for line in ["a\n", "\u{2000}", "😀"] {
            let text = fill(line);
            for begin in ["a", "\u{FEFF}"] {
                let text = [of(begin), text.clone()].concat();
                let options = Options { mark: Mark::Detect, ..replacing(Replacement::ReplacementCharacter) };
                let (out, said) = both(from, to, options, &[&text]);
                assert!(out.len() > 1000 && said.is_ok_and(|(read, _)| read == text.len() as u64), "{from} to {to}");
            }
        }
        // In the first share, in the last, and at the start.
        let text = fill("aé\n");
        let bad: &[u8] = match from {
            Encoding::Latin1 => b"",
            Encoding::Utf16Be => b"\xDC\x80",
            _ => b"\x80\xDC",
        };
        for at in [0, 60_000, LEN - 60_000] {
            let text = [&text[..at], bad, &text[at..]].concat();
            assert_eq!(both(from, to, PLAIN, &[&text]).1.is_err(), !bad.is_empty(), "{from} to {to}");
            assert!(both(from, to, replacing(Replacement::Drop), &[&text]).1.is_ok(), "{from} to {to}");
        }
    }
}

#[cfg(feature = "rayon")]
#[test]
fn several_threads_keep_half_a_pair_in_its_place() {
    let (lead, trail, text) = (&b"\xED\xA0\xBD"[..], &b"\xED\xB8\x80"[..], "naïve\n".repeat(100_000));
    let text = text.as_bytes();
    // The first half waits for the second, which does not come.
    let (out, _) = both(Encoding::Rfc2279, Encoding::Wtf8, PLAIN, &[lead, text]);
    assert!(out == [lead, text].concat());
    // Two surrogates with text between them are not a pair; next to each other they are ill-formed here.
    let (out, said) = both(Encoding::Wtf8, Encoding::Rfc2279, PLAIN, &[lead, &[text, trail].concat()]);
    assert!(out == [lead, text, trail].concat() && said.is_ok());
    let (out, said) = both(Encoding::Wtf8, Encoding::Rfc2279, PLAIN, &[lead, &[trail, text].concat()]);
    assert_eq!((&out[..], said), (lead, Err((3, 1))));
}

#[test]
fn a_line_is_repaired_only_if_all_of_it_is_wrong() {
    let rows: [(&[u8], &str, &[Doubt]); 12] = [
        // What is sound before what could be undone.
        ("crème cafÃ©".as_bytes(), "crème cafÃ©", &[Doubt::Part]),
        // What is plausible next to what is sound.
        ("CAFÉ… é".as_bytes(), "CAFÉ… é", &[]),
        ("\"Ã©Ã¨\" as it looks".as_bytes(), "\"Ã©Ã¨\" as it looks", &[Doubt::Cited]),
        ("\"Ã©\"Ã¨".as_bytes(), "\"Ã©\"Ã¨", &[Doubt::Cited]),
        ("\"Ã©, Ã¨\"".as_bytes(), "\"é, è\"", &[]),
        // Letters next to signs, but not between two of them.
        (b"th\xC3\xA9\n\xE9\x94 x", "thé\né” x", &[]),
        (b"th\xC3\xA9\n\x93\xE9 x", "thé\n“é x", &[]),
        (b"th\xC3\xA9\nx \xE9\x94", "thé\nx é”", &[]),
        (b"th\xC3\xA9\n\x93x\xE9\x94 \xE9.", "thé\n“xé” é.", &[]),
        (b"th\xC3\xA9\n\x93a \xE9\xE8 \xE9", "thé\n“a éè é", &[]),
        (b"th\xC3\xA9\n\x93\xE9\x94 x", "", &[Doubt::OtherEncoding]),
        (b"th\xC3\xA9\na\x81 \xE9", "", &[Doubt::OtherEncoding]),
    ];
    for (bytes, wanted, doubts) in rows {
        let repairs = repair(bytes);
        let wanted = if wanted.is_empty() { bytes } else { wanted.as_bytes() };
        assert_eq!(String::from_utf8_lossy(&repairs.text), String::from_utf8_lossy(wanted));
        let said: Vec<_> = repairs.left.iter().map(|left| left.doubt).collect();
        assert_eq!(said, doubts, "{}", String::from_utf8_lossy(bytes));
        // Two or more bytes are repaired in each of these.
        assert!(repairs.repaired.iter().all(|line| line.layers == 1 || line.stray_bytes >= 2), "{repairs:?}");
    }
}

/// The bounds of the surrogates and the last code point of encodings of 32 bits, byte by byte, so that each is a step of its own.
#[test]
fn the_last_code_point_of_32_bits_is_converted_and_the_next_is_not() {
    use Encoding::{Rfc2279, Ucs4Be, Ucs4Le, Utf32Be, Utf32Le};
    let one_by_one = |from, to, bytes: &[u8]| {
        let chunks: Vec<&[u8]> = bytes.chunks(1).collect();
        let (out, ended) = convert(from, to, PLAIN, &chunks);
        ended.map(|_| out).map_err(|fault| fault.kind())
    };
    for (encoding, last) in
        [(Utf32Le, 0x10_FFFF_u32), (Utf32Be, 0x10_FFFF), (Ucs4Le, 0x7FFF_FFFF), (Ucs4Be, 0x7FFF_FFFF)]
    {
        let is_big_endian = encoding == Utf32Be || encoding == Ucs4Be;
        for code_point in [0xD7FF, 0xD800, 0xDFFF, 0xE000, last, last + 1] {
            let unit = if is_big_endian { code_point.to_be_bytes() } else { code_point.to_le_bytes() };
            let read = one_by_one(encoding, Rfc2279, &unit);
            let mut spelled = Vec::new();
            let is_spelled = encode(&grammar::RFC2279, code_point, &mut spelled).is_ok();
            match code_point {
                0xD800..=0xDFFF => assert_eq!(read, Err(Some(Kind::Surrogate)), "{encoding}"),
                _ if code_point > last => assert_eq!(read, Err(Some(Kind::TooLarge)), "{encoding}"),
                _ => assert_eq!(read.as_ref(), Ok(&spelled), "{encoding}: {code_point:X}"),
            }
            if is_spelled {
                let written = one_by_one(Rfc2279, encoding, &spelled);
                assert_eq!(written.ok(), expected(encoding, code_point), "{encoding}: {code_point:X}");
            }
            // After a unit that is replaced, the next is read and written alone.
            let surrogate = if is_big_endian { 0xD800_u32.to_be_bytes() } else { 0xD800_u32.to_le_bytes() };
            if code_point == last {
                let replaced = replacing(Replacement::ReplacementCharacter);
                let (out, _) = convert(encoding, Rfc2279, replaced, &[&[surrogate, unit].concat()]);
                assert_eq!(out, [b"\xEF\xBF\xBD", &spelled[..]].concat(), "{encoding}");
                let (out, _) = convert(Rfc2279, encoding, replaced, &[&[b"\xED\xA0\x80", &spelled[..]].concat()]);
                assert_eq!(Some(&out[4..]), expected(encoding, code_point).as_deref(), "{encoding}");
            }
        }
    }
}

/// In UTF-8B the unpaired surrogates DC80 to DCFF stand for bytes, and no others exist, whatever is done with surrogates.
#[test]
fn surrogates_that_are_passed_on_are_bytes_in_utf_8b() {
    let pass = Options { surrogates: UnpairedSurrogates::Pass, ..PLAIN };
    for bytes in [&b"\xFF"[..], b"\xED\xA0\x80"] {
        let units: Vec<u8> = bytes.iter().flat_map(|&byte| (0xDC00 | u32::from(byte)).to_le_bytes()).collect();
        assert_eq!(convert(Encoding::Utf8b, Encoding::Ucs4Le, pass, &[bytes]), (units.clone(), Ok(None)));
        assert_eq!(convert(Encoding::Ucs4Le, Encoding::Utf8b, pass, &[&units]), (bytes.to_vec(), Ok(None)));
    }
    let (out, ended) = convert(Encoding::Ucs4Le, Encoding::Utf8b, pass, &[&0xD800_u32.to_le_bytes()]);
    assert!(out.is_empty() && ended.is_err(), "{out:02X?}");
}

#[cfg(feature = "cli")]
#[test]
fn a_file_that_cannot_be_read_is_named_even_if_the_next_is_ill_formed() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("wrong"), b"a\xFF").unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_utfuzz"));
    let output = command.current_dir(&directory).args(["convert", "-f", "utf-8", "nowhere", "wrong"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!((output.status.code(), output.stdout), (Some(1), b"a".to_vec()), "{said}");
    let named: Vec<&str> = said.lines().filter_map(|line| line.split(": ").nth(1)).collect();
    assert_eq!(named, ["nowhere", "wrong"], "{said}");
}

#[cfg(all(unix, feature = "cli"))]
#[test]
fn the_output_has_its_mark_even_if_the_first_input_cannot_be_read() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("good"), "a").unwrap();
    // A directory can be opened and not read.
    std::fs::create_dir(directory.path().join("directory")).unwrap();
    let convert = |files: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_utfuzz"));
        command.current_dir(&directory).args(["convert", "-f", "utf-8", "-t", "utf-16"]).args(files).output().unwrap()
    };
    let (alone, second) = (convert(&["good"]), convert(&["directory", "good"]));
    assert_eq!(alone.stdout.len(), 4, "{alone:?}");
    assert_eq!((second.stdout, second.status.code()), (alone.stdout, Some(2)));
}
