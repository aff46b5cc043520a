//! Inputs that meet the edges of what a kernel decodes at once, windows of 64 bytes, compared with the standard library.

use utfuzz::codec::Kernel;

/// Asserts that every kernel replaces what the standard library replaces, in every form.
fn agree(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for kernel in Kernel::available() {
        let (mut utf8, mut utf16, mut utf32) = (Vec::new(), Vec::new(), Vec::new());
        kernel.lossy_into(bytes, &mut utf8);
        assert_eq!(utf8, text.as_bytes(), "{kernel}: {bytes:02X?}");
        kernel.utf16_lossy_into(bytes, &mut utf16);
        assert!(utf16.iter().copied().eq(text.encode_utf16()), "{kernel}: {bytes:02X?}");
        kernel.utf32_lossy_into(bytes, &mut utf32);
        assert!(utf32.iter().copied().eq(text.chars().map(u32::from)), "{kernel}: {bytes:02X?}");
    }
}

/// `len` bytes: `begin`, as many characters as fit, ASCII, and `end`.
fn window(begin: &[u8], character: &str, end: &[u8], len: usize) -> Vec<u8> {
    let room = len - begin.len() - end.len();
    let text = character.repeat(room / character.len()) + &"a".repeat(room % character.len());
    [begin, text.as_bytes(), end].concat()
}

const BEGUN: [&[u8]; 6] = [b"\xC3", b"\xE4", b"\xE4\xB8", b"\xF0", b"\xF0\x9F", b"\xF0\x9F\x98"];

/// A window ends with the begin of a sequence. Exactly where the next would have to continue it, it does not.
#[test]
fn a_window_of_continuation_bytes_does_not_continue_the_last_sequence() {
    for (character, after) in ["é", "世"].into_iter().flat_map(|character| [(character, 0), (character, 400)]) {
        for begun in BEGUN {
            let first = window(b"\xFF", character, b"", 64);
            let second = window(b"", character, begun, 64);
            for others in 1..4 {
                let third = [&b"aaa"[..others], &[0x80; 64][others..]].concat();
                agree(&[&first[..], &second, &third, &window(b"", character, b"", after)].concat());
            }
        }
    }
}

/// The only errors of a window are a lead that refuses the byte after it, at the start, and a sequence without end.
#[test]
fn a_refused_byte_and_a_sequence_without_end_are_two_errors() {
    let refused: [&[u8]; 5] = [b"\xC0\x80", b"\xE0\x80\x80", b"\xED\xA0\x80", b"\xF0\x80\x80\x80", b"\xF4\x90\x80\x80"];
    for (character, after) in ["é", "世"].into_iter().flat_map(|character| [(character, 0), (character, 400)]) {
        for (refused, begun) in refused.into_iter().flat_map(|refused| BEGUN.map(|begun| (refused, begun))) {
            let first = window(b"\xFF", character, b"", 64);
            let second = window(refused, character, begun, 64);
            agree(&[&first[..], &second, &window(b"", character, b"", 64 + after)].concat());
        }
    }
}

/// ASCII at the end of an input, of whole windows or not, with one character or error at every place.
#[test]
fn ascii_at_the_end_is_written_up_to_what_is_not_ascii() {
    for len in [63, 64, 65, 127, 128, 129, 191, 192, 256, 257, 330] {
        agree(&vec![b'a'; len]);
        for other in ["é".as_bytes(), "😀".as_bytes(), b"\xFF", b"\xF0\x9F"] {
            for at in 0..=len - other.len() {
                let mut bytes = vec![b'a'; len];
                bytes[at..at + other.len()].copy_from_slice(other);
                agree(&bytes);
            }
        }
    }
}

/// As many windows as are decoded in a row, each with an error; the last ends with one. What comes after it is decoded as text.
#[test]
fn text_takes_nothing_from_an_error_before_it() {
    const MOST: usize = 256;
    for text in ["ab世界", "a世é", "éb世", "éé世", "世界", "ab😀", "é😀世", "ab"].map(|text| text.repeat(200))
    {
        for error in
            [b"\xC3", b"\xE0", b"\xE4", b"\xEF", b"\xF0", b"\xF4", &b"\xEF\xBF"[..], b"\xF0\x9F", b"\xF4\x8F\xBF"]
        {
            let windows = window(b"\xFF", "世", b"", 64).repeat(MOST - 1);
            agree(&[&windows[..], &window(b"\xFF", "世", error, 64), text.as_bytes()].concat());
        }
    }
}
