//! Every kernel that this machine can run, compared with the scalar kernel.
#![cfg(feature = "arbitrary")]

use utfuzz_core::codec;
use utfuzz_core::codec::{Kernel, Streaming};
use utfuzz_core::generate::classes::Block;
use utfuzz_core::generate::structured::Structured;

/// Whether the tests take only a few inputs, because running is slow: under Miri, and on the processor that `.ci/emulate`
/// emulates.
const FEW: bool = cfg!(miri) || option_env!("UTFUZZ_EMULATED").is_some();

/// Asserts that no kernel reads outside these bytes, which are placed next to inaccessible pages, before and after.
#[cfg(all(target_os = "linux", feature = "guard-pages"))]
#[allow(unsafe_code, reason = "code units are placed beside inaccessible pages, like bytes")]
fn keeps_within(bytes: &[u8]) {
    use std::cell::RefCell;
    use utfuzz_core::judge::isolate::guard_pages::GuardedBuffer;
    thread_local! {
        static GUARDED: RefCell<GuardedBuffer> = RefCell::new(GuardedBuffer::new().expect("pages can be allocated"));
    }
    GUARDED.with_borrow_mut(|guarded| {
        let (mut out, mut units, mut scalars) = (Vec::new(), Vec::new(), Vec::new());
        for kernel in Kernel::available() {
            for place in [GuardedBuffer::at_start, GuardedBuffer::at_end] {
                let Some(bytes) = place(guarded, bytes) else { continue };
                let _ = kernel.validate(bytes);
                out.clear();
                kernel.lossy_into(bytes, &mut out);
                units.clear();
                kernel.utf16_lossy_into(bytes, &mut units);
                scalars.clear();
                kernel.utf32_lossy_into(bytes, &mut scalars);
                out.clear();
                kernel.from_latin_1_into(bytes, &mut out);
                for big_endian in [false, true] {
                    kernel.read_16_into(bytes, big_endian, &mut units);
                    kernel.read_32_into(bytes, big_endian, &mut scalars);
                }
                kernel.utf16_from_bytes_into(bytes, &[7; 32], &mut units);
                assert!(!guarded.out_of_bounds_access(), "{kernel}: reads outside its input");
            }
            // Whole units, so that they are aligned at either end.
            for place in [GuardedBuffer::at_start, GuardedBuffer::at_end] {
                let Some(bytes) = place(guarded, &bytes[..bytes.len() / 4 * 4]) else { continue };
                // SAFETY: every bit pattern is a valid integer.
                let (twos, fours) = unsafe { (bytes.align_to::<u16>().1, bytes.align_to::<u32>().1) };
                assert_eq!((2 * twos.len(), 4 * fours.len()), (bytes.len(), bytes.len()));
                out.clear();
                kernel.from_utf16_lossy_into(twos, &mut out);
                kernel.from_utf32_lossy_into(fours, &mut out);
                units.clear();
                kernel.utf16_from_utf32_lossy_into(fours, &mut units);
                scalars.clear();
                kernel.utf32_from_utf16_lossy_into(twos, &mut scalars);
                let _ = (kernel.utf16_valid_up_to(twos), kernel.utf32_valid_up_to(fours));
                kernel.write_16_into(twos, true, &mut out);
                kernel.write_32_into(fours, true, &mut out);
                kernel.write_16_as_32_into(twos, true, &mut out);
                assert!(!guarded.out_of_bounds_access(), "{kernel}: reads outside its units");
            }
        }
    });
}

#[cfg(not(all(target_os = "linux", feature = "guard-pages")))]
fn keeps_within(_: &[u8]) {}

/// Asserts that every kernel gives the answers of the scalar kernel, for the input as a whole and in three chunks.
fn agree(bytes: &[u8]) {
    keeps_within(bytes);
    let (verdict, mut expected) = (Kernel::SCALAR.validate(bytes), Vec::new());
    Kernel::SCALAR.lossy_into(bytes, &mut expected);
    let mut units = Vec::new();
    Kernel::SCALAR.utf16_lossy_into(bytes, &mut units);
    let mut scalars = Vec::new();
    Kernel::SCALAR.utf32_lossy_into(bytes, &mut scalars);
    for kernel in Kernel::available() {
        assert_eq!(kernel.validate(bytes), verdict, "{kernel}: {bytes:02X?}");
        let mut out = b"kept".to_vec();
        kernel.lossy_into(bytes, &mut out);
        assert_eq!(&out[4..], expected, "{kernel}: {bytes:02X?}");
        // Kernels align their stores to cache lines, so the output begins at various offsets.
        let before = bytes.len() % 33;
        let mut out = vec![7; before];
        kernel.utf16_lossy_into(bytes, &mut out);
        assert_eq!(&out[before..], units, "{kernel}: {bytes:02X?}");
        let mut out = vec![7; before];
        kernel.utf32_lossy_into(bytes, &mut out);
        assert_eq!(&out[before..], scalars, "{kernel}: {bytes:02X?}");
        let (mut stream, mut out) = (Streaming::with(kernel), Vec::new());
        let (first, rest) = bytes.split_at(bytes.len() / 3);
        let (second, third) = rest.split_at(rest.len() / 2);
        for chunk in [first, second, third] {
            stream.push(chunk, &mut out);
        }
        assert_eq!(stream.finish(&mut out), verdict, "{kernel}, in three chunks: {bytes:02X?}");
        assert_eq!(out, expected, "{kernel}, in three chunks: {bytes:02X?}");
    }
}

#[test]
fn class_strings_everywhere_in_registers() {
    // Every class string of three bytes at every offset, with text of each width before and after it.
    let surroundings: [&[u8]; 4] = [b"a", "é".as_bytes(), "€".as_bytes(), "😀".as_bytes()];
    let step = match FEW {
        true => 691,
        false if cfg!(debug_assertions) => 7,
        false => 1,
    };
    // Each turn starts at another index, so that together they have every string.
    let mut turn = 0;
    for offset in 0..66 {
        for text in surroundings {
            let before: Vec<u8> = text.iter().copied().cycle().take(offset / text.len() * text.len()).collect();
            for after in [0, 1, 70, 200] {
                let after: Vec<u8> = text.iter().copied().cycle().take(after / text.len() * text.len()).collect();
                let block = Block { len: 3, offset: 0 };
                for index in (turn % step as u64..block.count()).step_by(step) {
                    let mut string = Vec::new();
                    block.write(index, &mut string);
                    agree(&[&before[..], &string, &after].concat());
                }
                turn += 1;
            }
        }
    }
}

/// Every kind of broken sequence, at every offset in a few groups of registers, with text of each width before and after
/// it. Which bytes a kernel checks, and against how many bytes before them, depends on what else is in the group.
#[test]
fn broken_sequences_everywhere_in_groups() {
    const BROKEN: [&[u8]; 18] = [
        b"\x80",
        b"\xC0",
        b"\xC0\xAF",
        b"\xC1\x80",
        b"\xC3",
        b"\xE0\x9F\x80",
        b"\xE2",
        b"\xE2\x82",
        b"\xED\xA0\x80",
        b"\xEF\xBF",
        b"\xF0",
        b"\xF0\x8F\xBF\xBF",
        b"\xF0\x90",
        b"\xF0\x90\x80",
        b"\xF4\x90\x80\x80",
        b"\xF1\x80\x80\xC3",
        b"\xF1\x80\xC0",
        b"\xFF",
    ];
    // More than two groups of the longest registers.
    const OFFSETS: usize = 1200;
    let texts = ["a", "é", "€", "😀"];
    // Without optimisation, not every combination; the step is prime, so that offsets differ from turn to turn.
    let step = match FEW {
        true => 4999,
        false if cfg!(debug_assertions) => 7,
        false => 1,
    };
    let mut room = vec![0; 2 * OFFSETS];
    let aligned = room.as_ptr().align_offset(64);
    let mut turn = 0;
    for before in texts.map(str::as_bytes) {
        for after in texts.map(str::as_bytes) {
            for broken in BROKEN {
                for offset in 0..OFFSETS {
                    turn += 1;
                    if turn % step != 0 {
                        continue;
                    }
                    let bytes = &mut room[aligned..];
                    let pad = offset % before.len();
                    bytes[..pad].fill(b'a');
                    bytes[pad..offset].chunks_mut(before.len()).for_each(|place| place.copy_from_slice(before));
                    let end = offset + broken.len();
                    bytes[offset..end].copy_from_slice(broken);
                    let len = end + 200 / after.len() * after.len();
                    bytes[end..len].chunks_mut(after.len()).for_each(|place| place.copy_from_slice(after));
                    let bytes = &bytes[..len];
                    for kernel in Kernel::available() {
                        let found = kernel.validate(bytes).map_err(|error| error.valid_up_to());
                        assert_eq!(found, Err(offset), "{kernel}: {broken:02X?} at {offset}");
                    }
                }
            }
        }
    }
}

/// Text that begins up to three bytes before an aligned register. Under Miri, it begins with its allocation, so that a
/// read before it is found.
#[test]
fn nothing_before_the_start_is_read() {
    for before in 0..4 {
        for text in ["a", "é", "€", "😀", "aé€😀"] {
            let bytes = [text.repeat(300 / text.len()).as_bytes(), b"\xE2\x82"].concat();
            // The longest register has 64 bytes.
            let begins = |room: &&Vec<u8>| room.as_ptr().align_offset(64) == before;
            if cfg!(miri) {
                // Miri chooses addresses at random.
                let rooms: Vec<Vec<u8>> = (0..1000).map(|_| bytes.clone()).collect();
                agree(rooms.iter().find(begins).expect("an allocation begins there"));
            } else {
                let mut room = vec![0; 128 + bytes.len()];
                let start = room.as_ptr().align_offset(64) + 64 - before;
                room[start..][..bytes.len()].copy_from_slice(&bytes);
                agree(&room[start..][..bytes.len()]);
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
        let step = if FEW { 61 } else { 1 };
        for at in (0..long.len()).step_by(step).filter(|&at| long.is_char_boundary(at)) {
            let error = errors[at % errors.len()];
            agree(&[&long.as_bytes()[..at], error, &long.as_bytes()[at..]].concat());
            agree(&[&long.as_bytes()[..at], error].concat());
        }
    }
}

/// Kernels load large texts ahead of their turn, and may read ASCII in them with shorter registers.
#[test]
fn errors_in_texts_larger_than_the_caches_of_a_core() {
    if FEW {
        return;
    }
    for text in ["a", "é", "€", "😀"] {
        let mut long = text.repeat((4 << 20) / text.len() + 500).into_bytes();
        let len = long.len();
        for kernel in Kernel::available() {
            assert_eq!(kernel.validate(&long), Ok(()), "{}: {text}", kernel.name());
        }
        let step = if cfg!(debug_assertions) { 131 } else { 13 };
        for at in (0..1500).chain(len / 2..len / 2 + 1500).chain(len - 1500..len).step_by(step) {
            let kept = std::mem::replace(&mut long[at], 0xFF);
            for kernel in Kernel::available() {
                let found = kernel.validate(&long).map_err(|error| error.valid_up_to());
                assert_eq!(found, Err(at - at % text.len()), "{}: {text}", kernel.name());
            }
            long[at] = kept;
        }
    }
}

/// UTF-16 with pairs, lone surrogates, and code units of every length in UTF-8.
fn units(bytes: &[u8]) -> Vec<u16> {
    let unit = |pair: &[u8; 2]| match pair {
        [0..=0x3F, low] => u16::from(*low),
        [0x40..=0x7F, low] => 0xD800 | u16::from(*low) | u16::from(pair[0] & 7) << 8,
        pair => u16::from_be_bytes(*pair),
    };
    bytes.as_chunks::<2>().0.iter().map(unit).collect()
}

/// Numbers: many are scalar values of every length in UTF-8, others are surrogates or too large.
fn numbers(bytes: &[u8]) -> Vec<u32> {
    let number = |four: &[u8; 4]| match four[0] {
        0..=0x3F => u32::from(four[3]),
        0x40..=0x7F => u32::from(four[2] & 7) << 8 | u32::from(four[3]),
        0x80..=0xBF => u32::from(four[2]) << 8 | u32::from(four[3]),
        0xC0..=0xFB => u32::from(four[1] & 0x1F) << 16 | u32::from(four[2]) << 8 | u32::from(four[3]),
        _ => u32::from_be_bytes(*four),
    };
    bytes.as_chunks::<4>().0.iter().map(number).collect()
}

#[test]
fn conversions_from_and_to_other_encodings() {
    for seed in 0..if FEW { 100 } else { 3000 } {
        let bytes = Structured::dense(seed).0;
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let units: Vec<u16> = match seed % 2 {
            0 => text.encode_utf16().collect(),
            _ => units(&bytes),
        };
        let numbers: Vec<u32> = match seed % 4 {
            0 | 1 => text.chars().map(u32::from).collect(),
            _ => numbers(&bytes),
        };
        let scalars: String =
            numbers.iter().map(|&number| char::from_u32(number).unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        for kernel in Kernel::available() {
            let decoded = || char::decode_utf16(units.iter().copied());
            let good = decoded().map_while(Result::ok).map(char::len_utf16).sum::<usize>();
            assert_eq!(kernel.utf16_valid_up_to(&units), good, "{kernel}, seed {seed}");
            let good = numbers.iter().take_while(|&&number| char::from_u32(number).is_some()).count();
            assert_eq!(kernel.utf32_valid_up_to(&numbers), good, "{kernel}, seed {seed}");
            let good = numbers.iter().take_while(|&&number| number < 0x800_0000 && number & !0x7FF != 0xD800).count();
            assert_eq!(kernel.ucs4_valid_up_to(&numbers, 0x7FF_FFFF), good, "{kernel}, seed {seed}");
            let mut utf32 = vec![7];
            kernel.utf32_from_utf16_lossy_into(&units, &mut utf32);
            let expected = decoded().map(|scalar| u32::from(scalar.unwrap_or(char::REPLACEMENT_CHARACTER)));
            assert!(utf32[1..].iter().copied().eq(expected), "{kernel}, seed {seed}");
            let mut utf16 = vec![7];
            kernel.utf16_from_utf32_lossy_into(&numbers, &mut utf16);
            assert!(utf16[1..].iter().copied().eq(scalars.encode_utf16()), "{kernel}, seed {seed}");
            let mut utf8 = b"kept".to_vec();
            kernel.from_utf32_lossy_into(&numbers, &mut utf8);
            assert_eq!(&utf8[4..], scalars.as_bytes(), "{kernel}, seed {seed}");
            let of_80 = std::array::from_fn(|at| 0x2000 + at as u16);
            let mapped =
                bytes.iter().map(|&byte| if byte & 0xE0 == 0x80 { 0x1F80 + u16::from(byte) } else { byte.into() });
            utf16.truncate(1);
            kernel.utf16_from_bytes_into(&bytes, &of_80, &mut utf16);
            assert!(utf16[1..].iter().copied().eq(mapped), "{kernel}, seed {seed}");
            for big_endian in [false, true] {
                let (mut utf16, mut utf32) = (vec![7], vec![7]);
                kernel.read_16_into(&bytes, big_endian, &mut utf16);
                kernel.read_32_into(&bytes, big_endian, &mut utf32);
                let read_16 = if big_endian { u16::from_be_bytes } else { u16::from_le_bytes };
                assert!(utf16[1..].iter().copied().eq(bytes.as_chunks().0.iter().copied().map(read_16)));
                let read_32 = if big_endian { u32::from_be_bytes } else { u32::from_le_bytes };
                assert!(utf32[1..].iter().copied().eq(bytes.as_chunks().0.iter().copied().map(read_32)));
                let mut back = b"kept".to_vec();
                kernel.write_16_into(&utf16[1..], big_endian, &mut back);
                assert_eq!(back[4..], bytes[..bytes.len() / 2 * 2], "{kernel}, seed {seed}");
                back.truncate(4);
                kernel.write_16_as_32_into(&utf16[1..], big_endian, &mut back);
                let write_32 = if big_endian { u32::to_be_bytes } else { u32::to_le_bytes };
                assert!(back[4..].iter().copied().eq(utf16[1..].iter().flat_map(|&unit| write_32(unit.into()))));
                back.truncate(4);
                kernel.write_32_into(&utf32[1..], big_endian, &mut back);
                assert_eq!(back[4..], bytes[..bytes.len() / 4 * 4], "{kernel}, seed {seed}");
            }
            utf32.truncate(1);
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
        assert_eq!(codec::utf32_into(text.as_bytes(), &mut there), Ok(()));
        assert_eq!(codec::from_utf32_into(&there, &mut back), Ok(()));
        assert_eq!(back, text.as_bytes());
        assert_eq!(codec::utf32_into(&bytes, &mut there).is_ok(), std::str::from_utf8(&bytes).is_ok());
        let strict = codec::from_utf16_into(&units, &mut back);
        assert_eq!(strict.is_ok(), String::from_utf16(&units).is_ok());
        if let Err(error) = strict {
            let good = error.valid_up_to();
            assert!(String::from_utf16(&units[..good]).is_ok() && String::from_utf16(&units[..=good]).is_err());
        }
        let mut reader = codec::Utf8Reader::new(&bytes[..]);
        let mut read = String::new();
        std::io::Read::read_to_string(&mut reader, &mut read).unwrap();
        assert_eq!(read, text);
        assert_eq!(reader.verdict(), Some(codec::validate(&bytes)));
    }
}

/// Blocks of units whose bits, taken together, are the lowest that ASCII does not have, or all that it does not have.
#[test]
fn blocks_that_are_almost_ascii() {
    for kernel in Kernel::available() {
        let mut utf8 = Vec::new();
        let mut expect = |character: &str, convert: &dyn Fn(&mut Vec<u8>)| {
            utf8.clear();
            convert(&mut utf8);
            assert_eq!(str::from_utf8(&utf8), Ok(&*character.repeat(100)), "{kernel}");
        };
        expect("\u{80}", &|out| kernel.from_latin_1_into(&[0x80; 100], out));
        expect("\u{80}", &|out| kernel.from_utf16_lossy_into(&[0x80; 100], out));
        expect("\u{80}", &|out| kernel.from_utf32_lossy_into(&[0x80; 100], out));
        expect("\u{FFFD}", &|out| kernel.from_utf32_lossy_into(&[0xFFFF_FF80; 100], out));
    }
}

#[test]
fn characters_are_counted_wherever_in_a_cache_line_the_text_begins() {
    let text = "a\u{1F600}é\u{20AC}".repeat(300);
    for kernel in Kernel::available() {
        for start in (0..=64).filter(|&start| text.is_char_boundary(start)) {
            let text = &text[start..];
            let len = (kernel.char_count(text), kernel.utf16_len(text));
            assert_eq!(len, (text.chars().count(), text.encode_utf16().count()), "{kernel}, from {start}");
        }
    }
}

/// Texts that are longer than the stretches for which room is made, shifted so that every kind of block meets every edge.
#[test]
fn long_texts_to_utf_8() {
    const PIECES: [&str; 6] = [
        "ASCII in a run that is longer than a block of registers, ",
        "é",
        "世界の",
        "😀😃😄😁",
        "a\u{7FF}\u{800}\u{FFFF}",
        "😀b",
    ];
    const LEN: usize = if FEW { 300 } else { 3000 };
    for shift in 0..if FEW { 4 } else { 40 } {
        let pieces = (0..LEN).map(|index| PIECES[(index / (1 + index % 7) + shift) % PIECES.len()]);
        let text: String = std::iter::repeat_n("a", shift).chain(pieces).collect();
        let units: Vec<u16> = text.encode_utf16().collect();
        let numbers: Vec<u32> = text.chars().map(u32::from).collect();
        let latin_1: String = text.bytes().map(char::from).collect();
        for kernel in Kernel::available() {
            let mut utf8 = Vec::new();
            kernel.from_utf16_lossy_into(&units, &mut utf8);
            assert!(utf8 == text.as_bytes(), "{kernel}, shift {shift}");
            utf8.clear();
            kernel.from_utf32_lossy_into(&numbers, &mut utf8);
            assert!(utf8 == text.as_bytes(), "{kernel}, shift {shift}");
            utf8.clear();
            kernel.from_latin_1_into(text.as_bytes(), &mut utf8);
            assert!(utf8 == latin_1.as_bytes(), "{kernel}, shift {shift}");
        }
    }
}

/// Words of one script each, of every length up to that of some windows, some with an error in between. Kernels write runs of
/// characters of the same length at once, and turn from text to errors and back.
#[test]
fn long_texts_from_utf_8() {
    const WORDS: [&[u8]; 12] = [
        b"a",
        "é".as_bytes(),
        "й".as_bytes(),
        "世".as_bytes(),
        "ก".as_bytes(),
        "😀".as_bytes(),
        "\u{7FF}\u{800}".as_bytes(),
        "\u{FFFF}\u{10000}".as_bytes(),
        "aй世😀".as_bytes(),
        b"\xFF",
        b"\xE4\xB8",
        b"\xF0\x9F\x98",
    ];
    const WELL_FORMED: usize = 9;
    for shift in 0..if FEW { 3 } else { 60 } {
        let mut bytes = vec![b'a'; shift];
        let mut number = shift as u64;
        while bytes.len() < if FEW { 1000 } else { 60_000 } {
            number = number.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            // One word in 64 is no text; one input in three has none.
            let words = if shift % 3 > 0 && number >> 32 & 63 == 0 { WORDS.len() } else { WELL_FORMED };
            let word = WORDS[(number >> 40) as usize % words];
            bytes.extend_from_slice(
                &word.repeat(1 + (number >> 56) as usize % if words > WELL_FORMED { 2 } else { 140 }),
            );
            bytes.resize(bytes.len() + (number >> 48) as usize % 4, b' ');
        }
        let text = String::from_utf8_lossy(&bytes);
        let units: Vec<u16> = text.encode_utf16().collect();
        let numbers: Vec<u32> = text.chars().map(u32::from).collect();
        for kernel in Kernel::available() {
            let (mut utf16, mut utf32) = (Vec::new(), Vec::new());
            kernel.utf16_lossy_into(&bytes, &mut utf16);
            kernel.utf32_lossy_into(&bytes, &mut utf32);
            assert!(utf16 == units && utf32 == numbers, "{kernel}, shift {shift}");
        }
    }
}

#[test]
fn pairs_and_lone_surrogates_anywhere_in_long_units() {
    let ends: [&[u16]; 5] =
        [&[0xD83D, 0xDE00], &[0xD83D], &[0xDE00], &[0xDE00, 0xD83D, 0xDE00], &[0xD83D, 0xD83D, 0xDE00]];
    // Kernels make room for 2048 or 4096 units at a time, and end with a step of 16 or 32.
    let ends_of_room = if FEW { [2046..2050, 4078..4082] } else { [2030..2100, 4070..4110] };
    for before in (0..70).chain(ends_of_room.into_iter().flatten()) {
        for middle in ends {
            for (unit, after) in [(0x61, 0), (0x61, 1), (0x61, 25), (0x61, 40), (0xE9, 40), (0x20AC, 40)] {
                let units = [&vec![unit; before], middle, &vec![unit; after]].concat();
                let scalars: String = char::decode_utf16(units.iter().copied())
                    .map(|scalar| scalar.unwrap_or(char::REPLACEMENT_CHARACTER))
                    .collect();
                let good: usize =
                    char::decode_utf16(units.iter().copied()).map_while(Result::ok).map(char::len_utf16).sum();
                for kernel in Kernel::available() {
                    assert_eq!(kernel.utf16_valid_up_to(&units), good, "{kernel}: {units:04X?}");
                    let mut utf32 = Vec::new();
                    kernel.utf32_from_utf16_lossy_into(&units, &mut utf32);
                    assert!(utf32.iter().copied().eq(scalars.chars().map(u32::from)), "{kernel}: {units:04X?}");
                    let mut utf8 = Vec::new();
                    kernel.from_utf16_lossy_into(&units, &mut utf8);
                    assert_eq!(utf8, scalars.as_bytes(), "{kernel}: {units:04X?}");
                    utf8.clear();
                    kernel.from_utf32_lossy_into(&utf32, &mut utf8);
                    assert_eq!(utf8, scalars.as_bytes(), "{kernel}: {units:04X?}");
                    let mut utf16 = Vec::new();
                    kernel.utf16_from_utf32_lossy_into(&utf32, &mut utf16);
                    assert!(utf16.iter().copied().eq(scalars.encode_utf16()), "{kernel}: {units:04X?}");
                }
            }
        }
    }
}

#[test]
fn structured_inputs_concatenated() {
    let mut all = Vec::new();
    for seed in 0..if FEW { 100 } else { 5000 } {
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
