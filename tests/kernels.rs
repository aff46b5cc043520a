//! Every kernel this machine can run, against the scalar one.
#![cfg(feature = "arbitrary")]

use utfuzz::decode::{self, Kernel, Streaming};
use utfuzz::input::exhaustive::Block;
use utfuzz::input::generate::Structured;

/// Asserts that no kernel reads beside these bytes: they stand at either end of memory.
#[cfg(all(target_os = "linux", feature = "fence"))]
fn keeps_within(bytes: &[u8]) {
    use std::cell::RefCell;
    use utfuzz::input::fence::Fence;
    thread_local! {
        static FENCE: RefCell<Fence> = RefCell::new(Fence::new().expect("the system gives pages"));
    }
    FENCE.with_borrow_mut(|fence| {
        let (mut out, mut units, mut scalars) = (Vec::new(), Vec::new(), Vec::new());
        for kernel in Kernel::available() {
            for place in [Fence::at_start, Fence::at_end] {
                let Some(bytes) = place(fence, bytes) else { continue };
                let _ = kernel.validate(bytes);
                out.clear();
                kernel.lossy_into(bytes, &mut out);
                units.clear();
                kernel.utf16_lossy_into(bytes, &mut units);
                scalars.clear();
                kernel.utf32_lossy_into(bytes, &mut scalars);
                out.clear();
                kernel.from_latin_1_into(bytes, &mut out);
                assert!(!fence.was_touched(), "{kernel}: reads beside its input");
            }
        }
    });
}

#[cfg(not(all(target_os = "linux", feature = "fence")))]
fn keeps_within(_: &[u8]) {}

/// Asserts that every kernel answers as the scalar one does, in one piece and in three.
fn agree(bytes: &[u8]) {
    keeps_within(bytes);
    let (verdict, mut expected) = (Kernel::SCALAR.validate(bytes), Vec::new());
    Kernel::SCALAR.lossy_into(bytes, &mut expected);
    let mut units = Vec::new();
    Kernel::SCALAR.utf16_lossy_into(bytes, &mut units);
    for kernel in Kernel::available() {
        assert_eq!(kernel.validate(bytes), verdict, "{kernel}: {bytes:02X?}");
        let mut out = b"kept".to_vec();
        kernel.lossy_into(bytes, &mut out);
        assert_eq!(&out[4..], expected, "{kernel}: {bytes:02X?}");
        let mut out = vec![7];
        kernel.utf16_lossy_into(bytes, &mut out);
        assert_eq!(&out[1..], units, "{kernel}: {bytes:02X?}");
        let (mut stream, mut out) = (Streaming::with(kernel), Vec::new());
        let (first, rest) = bytes.split_at(bytes.len() / 3);
        let (second, third) = rest.split_at(rest.len() / 2);
        for chunk in [first, second, third] {
            stream.push(chunk, &mut out);
        }
        assert_eq!(stream.finish(&mut out), verdict, "{kernel}, in three: {bytes:02X?}");
        assert_eq!(out, expected, "{kernel}, in three: {bytes:02X?}");
    }
}

#[test]
fn class_strings_everywhere_in_registers() {
    // Every class string of three bytes, so placed that it spans every edge; behind and before it text of each width.
    let surroundings: [&[u8]; 4] = [b"a", "é".as_bytes(), "€".as_bytes(), "😀".as_bytes()];
    let offsets = if cfg!(miri) { 0..1 } else { 0..66 };
    for offset in offsets {
        for text in surroundings {
            let before: Vec<u8> = text.iter().copied().cycle().take(offset / text.len() * text.len()).collect();
            for behind in [0, 1, 70, 200] {
                let behind: Vec<u8> = text.iter().copied().cycle().take(behind / text.len() * text.len()).collect();
                let block = Block { len: 3, offset: 0 };
                for index in (0..block.count()).step_by(if cfg!(debug_assertions) { 7 } else { 1 }) {
                    let mut string = Vec::new();
                    block.write(index, &mut string);
                    agree(&[&before[..], &string, &behind].concat());
                }
            }
        }
    }
}

#[test]
fn errors_anywhere_in_long_text() {
    let errors: [&[u8]; 8] =
        [b"\x80", b"\xFF", b"\xE2\x82", b"\xF0\x9F\x98", b"\xED\xA0\x80", b"\xC0\xAF", b"\xF4\x90", b"\xE2\x28\xA1"];
    for text in ["a", "é", "€", "😀", "aé€😀"] {
        let long = text.repeat(2000 / text.len());
        agree(long.as_bytes());
        let step = if cfg!(miri) { 977 } else { 1 };
        for at in (0..long.len()).step_by(step).filter(|&at| long.is_char_boundary(at)) {
            let error = errors[at % errors.len()];
            agree(&[&long.as_bytes()[..at], error, &long.as_bytes()[at..]].concat());
            agree(&[&long.as_bytes()[..at], error].concat());
        }
    }
}

/// UTF-16 with pairs, lone surrogates and units of every length.
fn units(bytes: &[u8]) -> Vec<u16> {
    let unit = |pair: &[u8; 2]| match pair {
        [0..=0x3F, low] => u16::from(*low),
        [0x40..=0x7F, low] => 0xD800 | u16::from(*low) | u16::from(pair[0] & 7) << 8,
        pair => u16::from_be_bytes(*pair),
    };
    bytes.as_chunks::<2>().0.iter().map(unit).collect()
}

#[test]
fn other_forms_there_and_back() {
    for seed in 0..if cfg!(miri) { 3 } else { 3000 } {
        let bytes = Structured::dense(seed).0;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let units: Vec<u16> = match seed % 2 {
            0 => text.encode_utf16().collect(),
            _ => units(&bytes),
        };
        for kernel in Kernel::available() {
            let mut utf32 = vec![7];
            kernel.utf32_lossy_into(&bytes, &mut utf32);
            assert!(utf32[1..].iter().copied().eq(text.chars().map(u32::from)), "{kernel}, seed {seed}");
            let mut utf8 = b"kept".to_vec();
            kernel.from_utf16_lossy_into(&units, &mut utf8);
            assert_eq!(&utf8[4..], String::from_utf16_lossy(&units).as_bytes(), "{kernel}, seed {seed}");
            utf8.truncate(4);
            kernel.from_latin_1_into(&bytes, &mut utf8);
            let latin_1: String = bytes.iter().copied().map(char::from).collect();
            assert_eq!(&utf8[4..], latin_1.as_bytes(), "{kernel}, seed {seed}");
            let len = (kernel.char_count(&text), kernel.utf16_len(&text));
            assert_eq!(len, (text.chars().count(), text.encode_utf16().count()), "{kernel}, seed {seed}");
        }
        let mut there = Vec::new();
        let mut back = Vec::new();
        assert_eq!(decode::utf32_into(text.as_bytes(), &mut there), Ok(()));
        assert_eq!(decode::from_utf32_into(&there, &mut back), Ok(()));
        assert_eq!(back, text.as_bytes());
        assert_eq!(decode::utf32_into(&bytes, &mut there).is_ok(), std::str::from_utf8(&bytes).is_ok());
        let strict = decode::from_utf16_into(&units, &mut back);
        assert_eq!(strict.is_ok(), String::from_utf16(&units).is_ok());
        if let Err(error) = strict {
            let good = error.valid_up_to();
            assert!(String::from_utf16(&units[..good]).is_ok() && String::from_utf16(&units[..=good]).is_err());
        }
        let mut reader = decode::Utf8Reader::new(&bytes[..]);
        let mut read = String::new();
        std::io::Read::read_to_string(&mut reader, &mut read).unwrap();
        assert_eq!(read, text);
        assert_eq!(reader.verdict(), Some(decode::validate(&bytes)));
    }
}

#[test]
fn structured_inputs_one_behind_the_other() {
    let mut all = Vec::new();
    for seed in 0..if cfg!(miri) { 3 } else { 5000 } {
        let input = Structured::seeded(seed).0;
        agree(&input);
        all.extend_from_slice(&input);
        if all.len() > 40_000 {
            agree(&all);
            all.clear();
        }
    }
    agree(&all);
}
