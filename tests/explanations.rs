//! What an explanation shows: which decoders are asked, the lines around an error, the part of a long input, and what
//! probably happened to it.
#![cfg(feature = "fuzz")]

mod faulty;

use faulty::{Faulty, Honest};
use std::io::{self, Read};
use utfuzz::case::{Case, Cuts};
use utfuzz::explain::{Family, Grid, Guess, Window, annotate, explain};
use utfuzz::judge::Judge;
use utfuzz::spec::{Contract, Reading, Segment, Segmentation, grammar, segments};
use utfuzz::utf8::{Validity, is_continuation};
use utfuzz::{Decoder, Divergence, Info, first_divergence};

/// A validator that accepts everything.
fn credulous() -> Faulty {
    let info = Info::new("credulous", "0").contract(Contract::VALIDATOR);
    Faulty { info, validate: |_| Some(Validity::Valid), lossy: |_| None, ..Faulty::default() }
}

/// What is explained if the validator that accepts everything is judged beside a decoder that is right.
fn explained(bytes: &[u8]) -> Divergence {
    let (credulous, honest) = (credulous(), Honest::new(Contract::STANDARD));
    let mut judge = Judge::new([&credulous as &dyn Decoder, &honest]);
    let case = Case::with_cuts(bytes, Cuts::NONE);
    let broken = judge.judge(&case).to_vec();
    assert_eq!(broken.iter().map(|broken| broken.decoder).collect::<Vec<_>>(), [0]);
    explain(&judge, &case, &broken[0])
}

#[test]
fn the_output_is_that_of_the_replacement_character_if_the_decoder_has_none() {
    let divergence = explained(b"a\xFF");
    assert_eq!((divergence.contract, divergence.grid.contract), (Contract::VALIDATOR, Contract::STANDARD));
    let output = divergence.grid.questions.iter().find(|question| question.name == "output").unwrap();
    let [group] = &output.groups[..] else { panic!("{output:?}") };
    assert_eq!((&*group.answer, group.arbiter, &group.decoders[..]), ("61 EF BF BD", true, &["honest".into()][..]));
}

#[test]
fn only_the_decoder_that_diverges_is_asked_about_a_long_input() {
    let asked = |len: usize| {
        let divergence = explained(&[&vec![b'a'; len - 1][..], b"\xFF"].concat());
        let groups = divergence.grid.questions.into_iter().flat_map(|question| question.groups);
        let mut names: Vec<String> = groups.flat_map(|group| group.decoders).map(Into::into).collect();
        names.sort();
        names.dedup();
        names
    };
    assert_eq!(asked(Divergence::LONG), ["credulous", "honest"]);
    assert_eq!(asked(Divergence::LONG + 1), ["credulous"]);
}

#[test]
fn an_explanation_ends_with_a_test_that_can_be_pasted() {
    let divergence = first_divergence(&credulous(), &Case::new(b"a\xFF")).unwrap();
    let test = divergence.test();
    assert!(divergence.to_string().ends_with(&format!("\n{test}")), "{divergence}");
    assert!(test.starts_with("#[test]\nfn ") && test.ends_with("}\n"), "{test}");
    assert!(test.contains("name == \"credulous\"") && test.contains("let bytes = b\"a\\xff\";\n"), "{test}");
}

#[test]
fn the_lines_that_are_left_out_are_counted() {
    for (before, after, first, last) in [
        (24, 24, "       0  C3 A9 ", "      95  C3 A9 "),
        (25, 25, "  … 1 line before", "  … 1 line after"),
        (30, 40, "  … 6 lines before", "  … 16 lines after"),
    ] {
        let bytes = ["é".repeat(before).as_bytes(), b"\xFF", "é".repeat(after).as_bytes()].concat();
        let text = annotate(&Contract::STANDARD, &bytes);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with(first) && lines[lines.len() - 1].starts_with(last), "{text}");
        let marks = lines.iter().filter(|line| line.contains("C3 A9") || line.starts_with('!')).map(|line| &line[..1]);
        assert_eq!(marks.collect::<String>(), [&" ".repeat(24), "!", &" ".repeat(24)].concat(), "{text}");
    }
}

#[test]
fn decoders_are_counted_by_their_grammar_and_verdict() {
    let named = |name, grammar| Honest(Info::new(name, "0").contract(Contract { grammar, ..Contract::STANDARD }));
    let (strict, pairs, credulous) = (named("strict", &grammar::RFC3629), named("pairs", &grammar::CESU8), credulous());
    let silent = Faulty { info: Info::new("silent", "0"), validate: |_| None, ..Faulty::default() };
    let decoders: [&dyn Decoder; 4] = [&strict, &pairs, &credulous, &silent];
    let grid = Grid::of(&Contract::STANDARD, decoders, &Case::new(b"\xED\xA0\xBD\xED\xB8\x80"));
    let of_rfc3629 = Family { grammar: "rfc3629", accept: vec!["credulous".into()], reject: vec!["strict".into()] };
    let of_cesu_8 = Family { grammar: "cesu-8", accept: vec!["pairs".into()], reject: Vec::new() };
    assert_eq!(Family::all(&grid, decoders), [of_rfc3629, of_cesu_8]);
}

/// Reads parts of an input, each with a read of its own, and is interrupted before each of them.
struct Interrupted<'a>(Vec<&'a [u8]>, bool);

impl Read for Interrupted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(io::ErrorKind::Interrupted.into());
        }
        if self.0.is_empty() { Ok(0) } else { self.0.remove(0).read(buffer) }
    }
}

#[test]
fn a_read_that_is_interrupted_is_repeated() {
    let window = Window::read(&Contract::STANDARD, Interrupted(vec![b"a\n\xE2\x82", b"\xAC\xFF"], false)).unwrap();
    assert_eq!((&window.bytes[..], window.faults, window.first), (&b"a\n\xE2\x82\xAC\xFF"[..], 1, Some((5, 2))));
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
    }
    let error = Window::read(&Contract::STANDARD, Broken).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::BrokenPipe);
}

/// Two reads; the second begins with an error, or soon after.
#[test]
fn as_much_is_shown_before_an_error_wherever_reads_end() {
    const SHOWN: u64 = 32_768;
    for into in [0, 1, 15, 16, 1000] {
        let (first, second) = (vec![b'a'; 65_536], [&vec![b'b'; into][..], b"\xFF", &[b'c'; 65_536]].concat());
        let window = Window::read(&Contract::STANDARD, first.chain(&second[..])).unwrap();
        let at = (first.len() + into) as u64;
        assert_eq!((window.first, window.start), (Some((at, 1)), at - SHOWN), "{into}");
        assert_eq!(window.bytes.len() as u64, 2 * SHOWN, "{into}");
    }
}

/// A run of ill-formed bytes is one error in this segmentation, and ends in the second read, when little of what was before
/// it is still kept.
#[test]
fn the_part_shown_begins_with_a_character_and_not_after_the_error() {
    let contract = Contract { segmentation: Segmentation::Run, ..Contract::STANDARD };
    for (ill_formed, more) in [(0xFF, 2), (0xFF, 1), (0x80, 2), (0x80, 1), (0x80, 0)] {
        // How many bytes are kept between two reads, less those that are left of the last character.
        let run = vec![ill_formed; 32_768 + 16 - more];
        let text = [&vec![b'a'; 65_536 - run.len() - 3][..], "€".as_bytes(), &run].concat();
        let window = Window::read(&contract, text.chain(&[b'b'; 100][..])).unwrap();
        let at = (text.len() - run.len()) as u64;
        assert_eq!((window.faults, window.first), (1, Some((at, 1))));
        assert!(!window.is_whole() && window.start <= at, "{ill_formed:02X} {more}: {} for {at}", window.start);
        // A character that is cut off at the start is left out, unless the error looks like a part of it.
        assert!(ill_formed == 0x80 || !is_continuation(window.bytes[0]), "{ill_formed:02X} {more}");
    }
}

fn guesses(bytes: &[u8]) -> Vec<&'static str> {
    let window = Window::read(&Contract::STANDARD, bytes).unwrap();
    Guess::all(&Contract::STANDARD, &window).iter().map(|guess| guess.name).collect()
}

#[test]
fn one_stray_byte_is_text_in_another_encoding_and_one_cut_character_is_not() {
    assert_eq!(guesses(b"Stra\xDFe"), ["single-byte"]);
    assert_eq!(guesses(b"words \xE2\x82"), ["cut"]);
    let [_, "cut"] = guesses(b"Stra\xDFe \xE2")[..] else { panic!("two errors, of which a cut explains one") };
}

#[test]
fn bytes_that_do_not_look_like_words_are_not_text_in_another_encoding() {
    for bytes in [&b"ab\xE4\xF6\xFC"[..], b"ab\x81", b"abcd\x8D\xE4", b"a\xE4", b"\xE4\xF6\xFC"] {
        assert!(!guesses(bytes).contains(&"single-byte"), "{bytes:02X?}");
    }
}

/// Wherever reads end: inside a character, a pair or a run of ill-formed bytes.
#[test]
fn every_error_is_counted_once_however_the_input_is_read() {
    let bytes = [
        "é€😀\n".as_bytes(),
        b"\xED\xA0\xBD\xED\xB8\x80\x80\xED\xA0\xBDa\xED\xB8\x80\xC0\x80\xED\xA0\xBD\xED\xB8",
        &b"\xFF\n\x80".repeat(30),
        b"\xFF".repeat(50).as_slice(),
        "é€😀\n".repeat(8).as_bytes(),
        b"\x00\xE2\x82",
    ]
    .concat();
    for grammar in grammar::ALL {
        for segmentation in Segmentation::ALL {
            let contract = Contract { grammar, segmentation, ..Contract::STANDARD };
            let is_fault = |segment: &Segment| matches!(segment.reading, Reading::IllFormed { .. });
            let faults: Vec<Segment> = segments(&contract, &bytes).filter(is_fault).collect();
            let line = bytes[..faults[0].start].iter().filter(|&&byte| byte == b'\n').count() + 1;
            for size in 1..=60 {
                let window = Window::read(&contract, Interrupted(bytes.chunks(size).collect(), false)).unwrap();
                assert_eq!(window.faults, faults.len() as u64, "{contract}, {size}");
                assert_eq!(window.first, Some((faults[0].start as u64, line as u64)), "{contract}, {size}");
                assert!(window.is_whole() && window.bytes == bytes);
            }
        }
    }
}

#[test]
fn the_start_of_a_long_run_of_ill_formed_bytes_is_shown() {
    let contract = Contract { segmentation: Segmentation::Run, ..Contract::STANDARD };
    let bytes = [&b"text\n"[..], &[0xFF; 300_000], b"text"].concat();
    let window = Window::read(&contract, &bytes[..]).unwrap();
    assert_eq!((window.start, window.faults, window.first), (0, 1, Some((5, 2))));
    assert!(window.bytes.starts_with(b"text\n\xFF"));
}
