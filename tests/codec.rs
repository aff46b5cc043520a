//! The public functions of our codec, one by one, compared with the standard library.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::{self, Read};
use std::process::Command;
use utfuzz::codec::{self, Kernel, Utf8Reader};
use utfuzz::spec::{self, Contract, Reading};

/// Text with characters of each length, in runs shorter and longer than what is read or counted at once.
fn texts() -> Vec<String> {
    let words = ["", "a", "é", "€", "😀", "Grüße, 世界 😀", "\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}"];
    let times = if cfg!(miri) { &[1, 40][..] } else { &[1, 7, 16, 40, 100, 6000] };
    words.iter().flat_map(|word| times.iter().map(|&times| word.repeat(times))).collect()
}

/// Bytes that are not text, whatever is before and after them.
const ERRORS: [&[u8]; 15] = [
    b"\x80",
    b"\xBF",
    b"\xC0\x80",
    b"\xC1",
    b"\xC3",
    b"\xE0\x80\x80",
    b"\xE2\x82",
    b"\xED\xA0\x80",
    b"\xF0\x80",
    b"\xF0\x9F\x98",
    b"\xF4\x90",
    b"\xF5",
    b"\xF7\xBF",
    b"\xF8",
    b"\xFF",
];

/// Whether `operation` appends `expected`, and keeps what is there.
fn appends<T: Clone + PartialEq + From<u8>, R>(expected: &[T], operation: impl FnOnce(&mut Vec<T>) -> R) -> (bool, R) {
    let mut out = vec![T::from(7)];
    let result = operation(&mut out);
    (out[0] == T::from(7) && out[1..] == *expected, result)
}

#[test]
fn text_is_well_formed_and_converts_to_every_form_and_back() {
    for text in texts() {
        let what: String = text.chars().take(8).collect();
        let bytes = text.as_bytes();
        let units: Vec<u16> = text.encode_utf16().collect();
        let scalars: Vec<u32> = text.chars().map(u32::from).collect();
        assert_eq!(codec::validate(bytes), Ok(()), "{what}");
        assert_eq!(codec::from_utf8(bytes), Ok(&*text), "{what}");
        assert!(matches!(codec::from_utf8_lossy(bytes), Cow::Borrowed(same) if same == text), "{what}");
        assert_eq!((codec::char_count(&text), codec::utf16_len(&text)), (scalars.len(), units.len()), "{what}");
        assert_eq!(appends(&units, |out| codec::utf16_into(bytes, out)), (true, Ok(())), "{what}");
        assert_eq!(appends(&scalars, |out| codec::utf32_into(bytes, out)), (true, Ok(())), "{what}");
        assert_eq!(appends(bytes, |out| codec::from_utf16_into(&units, out)), (true, Ok(())), "{what}");
        assert_eq!(appends(bytes, |out| codec::from_utf32_into(&scalars, out)), (true, Ok(())), "{what}");
        assert!(appends(bytes, |out| codec::lossy_into(bytes, out)).0, "{what}");
        assert!(appends(&units, |out| codec::utf16_lossy_into(bytes, out)).0, "{what}");
        assert!(appends(&scalars, |out| codec::utf32_lossy_into(bytes, out)).0, "{what}");
        assert!(appends(bytes, |out| codec::from_utf16_lossy_into(&units, out)).0, "{what}");
        assert!(appends(bytes, |out| codec::from_utf32_lossy_into(&scalars, out)).0, "{what}");
        assert!(appends(&scalars, |out| codec::utf32_from_utf16_lossy_into(&units, out)).0, "{what}");
        assert!(appends(&units, |out| codec::utf16_from_utf32_lossy_into(&scalars, out)).0, "{what}");
        let latin_1: String = bytes.iter().copied().map(char::from).collect();
        assert!(appends(latin_1.as_bytes(), |out| codec::from_latin_1_into(bytes, out)).0, "{what}");
    }
}

#[test]
fn what_is_not_text_is_refused_where_it_begins_or_replaced() {
    for error in ERRORS {
        for before in ["", "aé€😀", &"€".repeat(30)] {
            for after in [&b""[..], b"z", "€😀".as_bytes()] {
                let bytes = [before.as_bytes(), error, after].concat();
                let text = String::from_utf8_lossy(&bytes);
                let units: Vec<u16> = text.encode_utf16().collect();
                let scalars: Vec<u32> = text.chars().map(u32::from).collect();
                let standard = str::from_utf8(&bytes).unwrap_err();
                let ours = codec::from_utf8(&bytes).unwrap_err();
                assert_eq!((ours.valid_up_to(), ours.error_len()), (standard.valid_up_to(), standard.error_len()));
                assert_eq!(codec::validate(&bytes), Err(ours));
                assert_eq!(appends(&[], |out| codec::utf16_into(&bytes, out)), (true, Err(ours)), "{bytes:02X?}");
                assert_eq!(appends(&[], |out| codec::utf32_into(&bytes, out)), (true, Err(ours)), "{bytes:02X?}");
                assert_eq!(codec::from_utf8_lossy(&bytes), text);
                assert!(appends(text.as_bytes(), |out| codec::lossy_into(&bytes, out)).0, "{bytes:02X?}");
                assert!(appends(&units, |out| codec::utf16_lossy_into(&bytes, out)).0, "{bytes:02X?}");
                assert!(appends(&scalars, |out| codec::utf32_lossy_into(&bytes, out)).0, "{bytes:02X?}");
                let kinds = codec::errors(&bytes).map(|error| error.kind());
                let expected =
                    spec::segments(&Contract::STANDARD, &bytes).filter_map(|segment| match segment.reading {
                        Reading::IllFormed { kind, .. } => Some(kind),
                        Reading::WellFormed(_) => None,
                    });
                assert!(kinds.eq(expected), "{bytes:02X?}");
            }
        }
    }
}

#[test]
fn the_first_code_unit_that_is_none_is_named_and_nothing_appended() {
    for good in [0, 1, 15, 16, 31, 32, 33, 64, 100] {
        for wrong in [0xD800, 0xDBFF, 0xDC00, 0xDFFF] {
            let units = [&vec![0x61; good][..], &[wrong, 0x61], &[wrong]].concat();
            let (kept, result) = appends(&[], |out| codec::from_utf16_into(&units, out));
            let error = result.unwrap_err();
            assert!(kept && error.valid_up_to() == good, "{error} in {units:04X?}");
            assert_eq!(error.to_string(), format!("ill-formed code unit at {good}"));
            let text = String::from_utf16_lossy(&units);
            assert!(appends(text.as_bytes(), |out| codec::from_utf16_lossy_into(&units, out)).0, "{units:04X?}");
            let scalars: Vec<u32> = text.chars().map(u32::from).collect();
            assert!(appends(&scalars, |out| codec::utf32_from_utf16_lossy_into(&units, out)).0, "{units:04X?}");
        }
        for wrong in [0xD800, 0xDFFF, 0x11_0000, u32::MAX] {
            let units = [&vec![0x61; good][..], &[wrong, 0x61], &[wrong]].concat();
            let (kept, result) = appends(&[], |out| codec::from_utf32_into(&units, out));
            let error = result.unwrap_err();
            assert!(kept && error.valid_up_to() == good, "{error} in {units:04X?}");
            let text: String = units.iter().map(|&unit| char::from_u32(unit).unwrap_or('\u{FFFD}')).collect();
            assert!(appends(text.as_bytes(), |out| codec::from_utf32_lossy_into(&units, out)).0, "{units:04X?}");
            let utf16: Vec<u16> = text.encode_utf16().collect();
            assert!(appends(&utf16, |out| codec::utf16_from_utf32_lossy_into(&units, out)).0, "{units:04X?}");
        }
    }
}

#[test]
fn every_kernel_counts_and_converts_long_text() {
    for text in texts() {
        let what: String = text.chars().take(8).collect();
        let units: Vec<u16> = text.encode_utf16().collect();
        let scalars: Vec<u32> = text.chars().map(u32::from).collect();
        for kernel in Kernel::available() {
            let counted = (kernel.char_count(&text), kernel.utf16_len(&text));
            assert_eq!(counted, (scalars.len(), units.len()), "{kernel}: {what}");
            assert!(appends(&units, |out| kernel.utf16_lossy_into(text.as_bytes(), out)).0, "{kernel}: {what}");
            assert!(appends(&scalars, |out| kernel.utf32_lossy_into(text.as_bytes(), out)).0, "{kernel}: {what}");
            assert!(appends(&units, |out| kernel.utf16_from_utf32_lossy_into(&scalars, out)).0, "{kernel}: {what}");
            assert!(appends(&scalars, |out| kernel.utf32_from_utf16_lossy_into(&units, out)).0, "{kernel}: {what}");
            assert_eq!(kernel.utf16_valid_up_to(&units), units.len(), "{kernel}: {what}");
            assert_eq!(kernel.utf32_valid_up_to(&scalars), scalars.len(), "{kernel}: {what}");
        }
    }
}

#[test]
fn every_kernel_finds_the_first_number_that_is_too_large_or_a_surrogate() {
    for good in [0, 1, 31, 32, 33, 70] {
        for (wrong, last) in [(0x11_0000, 0x10_FFFF), (0xD800, 0x10_FFFF), (0xDFFF, 0x7FFF_FFFF), (0x100, 0xFF)] {
            let units = [&vec![0x20; good][..], &[wrong], &[0x20; 40]].concat();
            for kernel in Kernel::available() {
                assert_eq!(kernel.ucs4_valid_up_to(&units, last), good, "{kernel}: {wrong:X}");
                assert_eq!(kernel.utf32_valid_up_to(&units) == good, last == 0x10_FFFF || wrong > 0x100, "{kernel}");
            }
        }
    }
}

#[test]
fn every_kernel_reads_code_units_in_both_byte_orders() {
    let bytes: Vec<u8> = (0..=255).cycle().skip(7).take(203).collect();
    for len in [0, 1, 2, 3, 4, 63, 64, 65, 127, 128, 200, 203] {
        let bytes = &bytes[..len];
        let (twos, fours) = (bytes.as_chunks().0, bytes.as_chunks().0);
        for kernel in Kernel::available() {
            for (big_endian, read_16, read_32) in [
                (false, u16::from_le_bytes as fn([u8; 2]) -> u16, u32::from_le_bytes as fn([u8; 4]) -> u32),
                (true, u16::from_be_bytes, u32::from_be_bytes),
            ] {
                let units: Vec<u16> = twos.iter().copied().map(read_16).collect();
                assert!(appends(&units, |out| kernel.read_16_into(bytes, big_endian, out)).0, "{kernel}, {len} bytes");
                let units: Vec<u32> = fours.iter().copied().map(read_32).collect();
                assert!(appends(&units, |out| kernel.read_32_into(bytes, big_endian, out)).0, "{kernel}, {len} bytes");
            }
        }
    }
}

/// One byte from 80 to 9F among others, which are mapped, whichever place of a block it has.
#[test]
fn every_kernel_maps_the_bytes_that_an_encoding_defines() {
    let of_80: [u16; 32] = std::array::from_fn(|at| 0x2000 + at as u16);
    for len in [1, 31, 32, 33, 64, 100] {
        for at in 0..len {
            let mut bytes = vec![0xE9; len];
            bytes[at] = 0x80 | (at % 32) as u8;
            let mut expected = vec![0xE9; len];
            expected[at] = of_80[at % 32];
            for kernel in Kernel::available() {
                let (same, ()) = appends(&expected, |out| kernel.utf16_from_bytes_into(&bytes, &of_80, out));
                assert!(same, "{kernel}: byte {at} of {len}");
            }
        }
    }
}

/// A replacement is longer than what it replaces, so nothing needs more room.
#[test]
fn every_kernel_makes_room_for_errors_everywhere() {
    for len in (1..700).step_by(if cfg!(miri) { 97 } else { 1 }) {
        for before in ["", "é"] {
            let bytes = [before.as_bytes(), &vec![0xFF; len]].concat();
            let expected = before.to_owned() + &"\u{FFFD}".repeat(len);
            for kernel in Kernel::available() {
                let mut out = Vec::new();
                kernel.lossy_into(&bytes, &mut out);
                assert!(out == expected.as_bytes(), "{kernel}: {before} and {len} errors");
            }
        }
    }
}

#[test]
fn a_kernel_says_its_name() {
    assert_eq!(Kernel::SCALAR.name(), "scalar");
    for kernel in Kernel::available() {
        assert_eq!(kernel.to_string(), kernel.name());
        assert_eq!(format!("{kernel:?}"), format!("Kernel({})", kernel.name()));
        assert_eq!(kernel.info().name, kernel.name());
    }
}

/// A process determines its best kernel once, so every name needs a process.
#[test]
#[cfg_attr(miri, ignore = "Miri starts no processes")]
fn the_best_kernel_is_the_one_that_the_environment_names() {
    const EXPECTED: &str = "UTFUZZ_TEST_EXPECTED_KERNEL";
    if let Ok(expected) = std::env::var(EXPECTED) {
        assert_eq!(Kernel::best().name(), expected);
        return;
    }
    let names: Vec<&str> = Kernel::available().map(Kernel::name).collect();
    let best = names[names.len() - 1];
    for (named, expected) in names.iter().map(|&name| (name, name)).chain([("sse9", best), ("", best)]) {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "the_best_kernel_is_the_one_that_the_environment_names"])
            .env(Kernel::LIMIT, named)
            .env(EXPECTED, expected)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{named:?}: {said}");
    }
}

/// A reader that gives these answers, one for each call, and then nothing.
struct Answers(VecDeque<io::Result<Vec<u8>>>);

impl Answers {
    fn new<const N: usize>(answers: [Result<&[u8], io::ErrorKind>; N]) -> Self {
        Self(answers.map(|answer| answer.map(<[u8]>::to_vec).map_err(io::Error::from)).into())
    }
}

impl Read for Answers {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.0.pop_front().unwrap_or_else(|| Ok(Vec::new()))?;
        buffer[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }
}

#[test]
fn a_reader_gives_the_same_text_in_pieces_of_any_length() {
    let long = "é€😀".repeat(30_000) + "a";
    let inputs =
        [&b""[..], b"a\xFFb", b"\xE2\x82", "aé€😀".as_bytes(), &long.as_bytes()[1..], &long.as_bytes()[..180_000]];
    for bytes in inputs {
        for len in [1, 3, 1000, 1 << 20] {
            if bytes.len() > 1000 * len {
                continue;
            }
            let mut reader = Utf8Reader::new(bytes);
            let (mut read, mut buffer) = (Vec::new(), vec![0; len]);
            assert_eq!(reader.verdict(), None);
            loop {
                let count = reader.read(&mut buffer).unwrap();
                read.extend_from_slice(&buffer[..count]);
                if count == 0 {
                    break;
                }
            }
            assert!(read == String::from_utf8_lossy(bytes).as_bytes(), "{} bytes, {len} at a time", bytes.len());
            assert_eq!(reader.verdict(), Some(codec::validate(bytes)), "{} bytes, {len} at a time", bytes.len());
            // At the end it stays.
            assert_eq!(reader.read(&mut buffer).unwrap(), 0);
            assert_eq!(reader.verdict(), Some(codec::validate(bytes)));
        }
    }
}

#[test]
fn a_reader_reads_nothing_into_no_room() {
    let mut reader = Utf8Reader::new(Answers::new([Ok(b"ab")]));
    assert_eq!(reader.read(&mut []).unwrap(), 0);
    assert_eq!(reader.verdict(), None);
    let mut buffer = [0; 1];
    assert_eq!((reader.read(&mut buffer).unwrap(), buffer), (1, *b"a"));
    assert_eq!(reader.read(&mut []).unwrap(), 0);
    assert_eq!((reader.read(&mut buffer).unwrap(), buffer), (1, *b"b"));
    assert_eq!(reader.read(&mut []).unwrap(), 0);
    assert_eq!(reader.verdict(), None);
    assert_eq!(reader.read(&mut buffer).unwrap(), 0);
    assert_eq!(reader.verdict(), Some(Ok(())));
}

#[test]
fn a_reader_continues_after_an_interruption_and_passes_on_other_errors() {
    let interrupted = Err(io::ErrorKind::Interrupted);
    let answers =
        [interrupted, Ok(&b"a\xE2"[..]), interrupted, interrupted, Ok(b"\x82\xAC"), Err(io::ErrorKind::TimedOut)];
    let mut reader = Utf8Reader::new(Answers::new(answers));
    let mut buffer = [0; 9];
    assert_eq!(reader.read(&mut buffer).unwrap(), 1);
    assert_eq!(reader.read(&mut buffer).unwrap(), 3);
    assert_eq!(buffer[..3], *"€".as_bytes());
    assert_eq!(reader.read(&mut buffer).unwrap_err().kind(), io::ErrorKind::TimedOut);
    assert_eq!(reader.verdict(), None);
    assert_eq!(reader.read(&mut buffer).unwrap(), 0);
    assert_eq!(reader.verdict(), Some(Ok(())));
}

#[test]
fn a_reader_that_claims_too_much_is_an_error() {
    struct Liar;
    impl Read for Liar {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            Ok(buffer.len() + 1)
        }
    }
    let error = Utf8Reader::new(Liar).read(&mut [0; 9]).unwrap_err();
    assert_eq!(error.to_string(), "the reader claims to have read 65537 bytes into a buffer of 65536");
}
