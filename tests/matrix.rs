//! The behaviour matrix: its words, what it says of disagreement, and the committed one against decoders asked again.
#![cfg(feature = "check")]

mod faulty;

use faulty::{Faulty, Honest};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use utfuzz::codec::Streaming;
use utfuzz::codec::convert::Encoding;
use utfuzz::peers::units::{ENCODINGS, UnitDecoder};
use utfuzz::probe::{
    Answer, COLUMNS, Cell, Column, SEPARATORS, Verdicts, cells, disguised, is_well_formed, questions, unit_cells,
};
use utfuzz::report::Record;
use utfuzz::report::record::Section;
use utfuzz::report::record::matrix::{Examined, ExaminedUnits, Matrix, Row};
use utfuzz::spec::{Bom, Contract, Grammar, Replacement, Segmentation};
use utfuzz::triage::ledger::Ledger;
use utfuzz::utf8::Validity;
use utfuzz::{Decoder, Info, Stream, peers};

/// The cell of one decoder in one column.
fn cell(decoder: &dyn Decoder, id: &str) -> Cell {
    let at = COLUMNS.iter().position(|column| column.id == id).unwrap_or_else(|| panic!("no column {id}"));
    cells(decoder).swap_remove(at)
}

fn word(decoder: &dyn Decoder, id: &str) -> String {
    cell(decoder, id).word
}

#[test]
fn columns_have_names_of_their_own_and_those_of_a_group_are_together() {
    let ids: BTreeSet<&str> = COLUMNS.iter().map(|column| column.id).collect();
    assert_eq!(ids.len(), COLUMNS.len());
    let groups: Vec<&[Column]> = COLUMNS.chunk_by(|one, other| one.group == other.group).collect();
    let names: BTreeSet<&str> = COLUMNS.iter().map(|column| column.group).collect();
    assert_eq!(groups.len(), names.len());
    assert!(COLUMNS.len() >= 30);
    assert!(Column::named("ff").is_some() && Column::named("none").is_none());
}

#[test]
fn what_is_written_has_a_word_for_each_replacement() {
    let written = [
        (Replacement::ReplacementCharacter, "1 U+FFFD"),
        (Replacement::Drop, "nothing"),
        (Replacement::SurrogateEscape, "U+DC80 to U+DCFF"),
        (Replacement::Latin1, "as Latin-1"),
        (Replacement::Windows1252, "as Windows-1252"),
        (Replacement::Windows1252Strict, "as Windows-1252"),
    ];
    for (replacement, says) in written {
        let decoder = Honest::new(Contract { replacement: Some(replacement), ..Contract::STANDARD });
        // In Latin-1 the byte 80 is another character than in Windows-1252.
        assert_eq!(word(&decoder, "continuation"), says, "{replacement:?}");
    }
    assert_eq!(word(&Honest::new(Contract::VALIDATOR), "ff"), "rejects");
    let counts = [
        (Segmentation::MaximalSubpart, ["1 U+FFFD", "3 U+FFFD"]),
        (Segmentation::MaximalSubpartSurrogate, ["1 U+FFFD", "1 U+FFFD"]),
        (Segmentation::Byte, ["2 U+FFFD", "3 U+FFFD"]),
        (Segmentation::Run, ["1 U+FFFD", "1 U+FFFD"]),
    ];
    for (segmentation, says) in counts {
        let decoder = Honest::new(Contract { segmentation, ..Contract::STANDARD });
        assert_eq!(["cut-3", "surrogate"].map(|id| word(&decoder, id)), says, "{segmentation:?}");
    }
    let lossy = |text: fn(&[u8]) -> Vec<u8>| {
        Faulty { lossy: |bytes| Some(faulty::lossy(bytes)), ..Faulty::default() }.with(text)
    };
    let asked = lossy(|bytes| {
        faulty::lossy(bytes)
            .iter()
            .filter(|byte| **byte != 0xEF && **byte != 0xBF)
            .map(|byte| if *byte == 0xBD { b'?' } else { *byte })
            .collect()
    });
    assert_eq!(word(&asked, "ff"), "1 question mark");
    let escaped = lossy(|bytes| String::from_utf8_lossy(bytes).replace('\u{FFFD}', "<bad>").into_bytes());
    assert_eq!(word(&escaped, "ff"), "\"<bad>\"");
    let swallowing = lossy(|bytes| String::from_utf8_lossy(bytes).replace("\u{FFFD}b", "\u{FFFD}").into_bytes());
    assert_eq!(word(&swallowing, "cut-3"), "1 U+FFFD, and the next character is lost");
    assert_eq!(word(&swallowing, "end-2-of-3"), "1 U+FFFD");
}

impl Faulty {
    /// The same with another output.
    fn with(self, text: fn(&[u8]) -> Vec<u8>) -> Changed {
        Changed(self.info, text)
    }
}

/// A decoder without verdicts.
struct Changed(Info, fn(&[u8]) -> Vec<u8>);

impl Decoder for Changed {
    fn info(&self) -> &Info {
        &self.0
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        out.extend((self.1)(bytes));
        Some(())
    }
}

#[test]
fn what_is_accepted_is_what_the_grammar_has() {
    let columns =
        ["nul", "fffe", "overlong-nul", "overlong-3", "high-surrogate", "surrogate-pair", "too-large", "six-bytes"];
    for grammar in utfuzz::spec::grammar::ALL {
        let contract = Contract { grammar, ..Contract::STANDARD };
        let (judging, decoding) = (Honest::new(contract), Silent(Honest::new(contract)));
        for id in columns {
            let bytes = Column::named(id).unwrap().bytes;
            let says = if utfuzz::spec::validity(&contract, bytes).is_valid() { "accepts" } else { "rejects" };
            assert_eq!(word(&judging, id), says, "{} {id}", grammar.name);
            // By its output, if it gives no verdict.
            let says = if says == "rejects" { "not taken for well-formed" } else { says };
            assert_eq!(word(&decoding, id), says, "{} {id}, by output", grammar.name);
        }
    }
}

/// A decoder without verdicts.
struct Silent(Honest);

impl Decoder for Silent {
    fn info(&self) -> &Info {
        self.0.info()
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        self.0.decode_lossy(bytes, out)
    }
}

#[test]
fn marks_offsets_and_lengths_have_words() {
    let stripping = Honest::new(Contract { bom: Bom::Strip, ..Contract::STANDARD });
    let marks = ["mark-start", "mark-twice", "mark-alone", "mark-inside"];
    assert_eq!(marks.map(|id| word(&stripping, id)), ["removed", "1 of 2 kept", "removed", "kept"]);
    assert_eq!(marks.map(|id| word(&Honest::new(Contract::STANDARD), id)), ["kept"; 4]);
    let errors = ["offset", "length", "length-end", "length-ff"];
    let said = ["in bytes, from 0", "2 bytes", "incomplete", "1 byte"];
    assert_eq!(errors.map(|id| word(&Honest::new(Contract::STANDARD), id)), said);
    let without_four = Contract { grammar: &utfuzz::spec::grammar::CESU8, ..Contract::STANDARD };
    assert_eq!(word(&Honest::new(without_four), "offset"), "0, the first byte");
}

/// Streams of our own decoder, with a fault.
fn streaming(
    push: fn(&mut Streaming, &[u8], &mut Vec<u8>),
    finish: fn(&mut Streaming, &mut Vec<u8>),
) -> Box<dyn Stream> {
    Box::new(faulty::Leaky { inner: Streaming::new(), push, finish })
}

#[test]
fn streams_are_compared_with_the_whole() {
    let right = Faulty {
        stream: || Some(streaming(|stream, chunk, out| stream.push(chunk, out), faulty::finish)),
        ..Faulty::default()
    };
    let of = |decoder: &Faulty| {
        ["chunks-2", "chunks-cut", "chunks-end", "prompt-text", "prompt-error"].map(|id| word(decoder, id))
    };
    assert_eq!(
        of(&right),
        ["as in one piece", "as in one piece", "as in one piece", "with its chunk", "with its chunk"]
    );
    let forgetful = Faulty {
        stream: || Some(streaming(|stream, chunk, out| stream.push(chunk, out), |_, _| {})),
        ..Faulty::default()
    };
    assert_eq!(word(&forgetful, "chunks-end"), "not as in one piece: nothing");
    let silent = Faulty { stream: || Some(streaming(|_, _, _| {}, |_, _| {})), ..Faulty::default() };
    assert_eq!(word(&silent, "prompt-text"), "writes nothing");
    assert_eq!(word(&silent, "chunks-2"), "not as in one piece: nothing");
    struct Verdicts;
    impl Stream for Verdicts {
        fn push(&mut self, _: &[u8], _: &mut Vec<u8>) {}
        fn finish(&mut self, _: &mut Vec<u8>) -> Option<Validity> {
            Some(Validity::Valid)
        }
    }
    let dropping = Faulty {
        stream: || {
            Some(streaming(
                |stream, chunk, out| {
                    let text: Vec<u8> = chunk.iter().copied().filter(u8::is_ascii).collect();
                    stream.push(&text, out);
                },
                faulty::finish,
            ))
        },
        ..Faulty::default()
    };
    assert_eq!(word(&dropping, "prompt-error"), "writes nothing for it");
    let late = Faulty {
        stream: || {
            Some(streaming(
                |stream, chunk, out| {
                    let held = if chunk.ends_with(b"\xFF") { &chunk[..chunk.len() - 1] } else { chunk };
                    if held == b"b" {
                        stream.push(b"\xFF", out);
                    }
                    stream.push(held, out);
                },
                faulty::finish,
            ))
        },
        ..Faulty::default()
    };
    assert_eq!(word(&late, "prompt-error"), "with a later chunk");
    let verdicts = Faulty { stream: || Some(Box::new(Verdicts)), ..Faulty::default() };
    assert_eq!(word(&verdicts, "chunks-2"), "the same verdict as in one piece");
    assert_eq!(word(&verdicts, "chunks-end"), "not as in one piece: nothing");
    assert_eq!(word(&Faulty::default(), "chunks-2"), "no streams");
}

#[test]
fn a_decoder_that_depends_on_the_length_is_seen_with_the_shortest_input() {
    let wrong = Faulty {
        lossy: |bytes| {
            Some(if bytes.len() > 67 && bytes.ends_with(b"\xE2\x82") { b"?".to_vec() } else { faulty::lossy(bytes) })
        },
        ..Faulty::default()
    };
    let cell = cell(&wrong, "lengths-end");
    assert_eq!((cell.word.as_str(), cell.witness.map(|bytes| bytes.len())), ("another after 66 bytes", Some(68)));
    assert!(cell.broken.is_some(), "it breaks its contract on that input");
    assert_eq!(word(&wrong, "lengths-text"), "always the same");
}

#[test]
fn a_decoder_that_fails_has_a_cell_that_says_so() {
    utfuzz::judge::silence_panics();
    let failing = Faulty {
        lossy: |bytes| if bytes.contains(&0xFF) { panic!() } else { Some(faulty::lossy(bytes)) },
        ..Faulty::default()
    };
    let cell = cell(&failing, "ff");
    assert_eq!(cell.word, "fails");
    assert_eq!(cell.broken.map(|broken| broken.law.name()), Some("panic"));
}

#[test]
fn who_accepts_more_is_shown_by_the_shortest_string() {
    let verdicts = |grammar: &str| {
        let grammar = Grammar::named(grammar).unwrap();
        Verdicts::of(&Honest::new(Contract { grammar, ..Contract::VALIDATOR })).unwrap()
    };
    let (strict, surrogates, cesu) = (verdicts("rfc3629"), verdicts("wtf-8"), verdicts("cesu-8"));
    assert_eq!(surrogates.beyond(&strict), Some(&b"\xED\xA0\x80"[..]));
    assert_eq!(strict.beyond(&surrogates), None);
    assert_eq!(strict.beyond(&strict), None);
    assert_eq!(cesu.beyond(&strict).map(<[u8]>::len), Some(6), "a surrogate pair");
    assert_eq!(strict.beyond(&cesu).map(<[u8]>::len), Some(4), "four bytes");
    assert!(Verdicts::of(&Silent(Honest::new(Contract::STANDARD))).is_none());
}

#[test]
fn separators_that_appear_are_found() {
    let overlong = Contract { grammar: Grammar::named("rfc3629-with-overlong").unwrap(), ..Contract::STANDARD };
    let written = disguised(&Honest::new(overlong)).written;
    let found: BTreeMap<u8, Vec<u8>> = written.into_iter().collect();
    assert_eq!(found.keys().copied().collect::<BTreeSet<_>>(), SEPARATORS.into_iter().collect());
    assert_eq!(found[&b'/'], b"\xC0\xAF");
    let strict = disguised(&Honest::new(Contract::STANDARD));
    assert_eq!(strict.written, []);
    // It is well-formed, and is no slash.
    assert!(strict.accepted.contains(&(b'/', b"\xC2\xAF".to_vec())));
    let seven_bits = Changed(Info::new("seven", "0"), |bytes| bytes.iter().map(|byte| byte & 0x7F).collect());
    assert_eq!(disguised(&seven_bits).written[0], (0, vec![0x80]));
}

/// The words of a decoder of an encoding, by question.
fn unit_words(decoder: &dyn Decoder, encoding: Encoding) -> BTreeMap<&'static str, String> {
    let cells = unit_cells(decoder, encoding);
    assert_eq!(cells.len(), questions(encoding).count());
    questions(encoding).zip(cells).map(|(question, cell)| (question.id, cell.word)).collect()
}

/// Little-endian UTF-16 by `std`, with what becomes of surrogates and of half a code unit.
fn utf16(bytes: &[u8], surrogate: fn(u16) -> Option<Vec<u8>>, half: &str) -> Option<Vec<u8>> {
    let (units, rest) = bytes.as_chunks();
    let mut text = Vec::new();
    for read in char::decode_utf16(units.iter().map(|unit| u16::from_le_bytes(*unit))) {
        match read {
            Ok(character) => text.extend_from_slice(character.to_string().as_bytes()),
            Err(lone) => text.extend(surrogate(lone.unpaired_surrogate())?),
        }
    }
    if !rest.is_empty() {
        text.extend_from_slice(half.as_bytes());
    }
    Some(text)
}

/// A surrogate as three bytes.
fn three_bytes(surrogate: u16) -> Vec<u8> {
    vec![0xED, 0x80 | (surrogate >> 6 & 0x3F) as u8, 0x80 | (surrogate & 0x3F) as u8]
}

fn lossy_units(lossy: fn(&[u8]) -> Option<Vec<u8>>) -> Faulty {
    Faulty { validate: |_| None, lossy, ..Faulty::default() }
}

#[test]
fn questions_about_code_units_have_names_of_their_own() {
    for encoding in ENCODINGS {
        let ids: Vec<&str> = questions(encoding).map(|question| question.id).collect();
        assert_eq!(ids.iter().collect::<BTreeSet<_>>().len(), ids.len(), "{encoding}");
        assert!(ids.len() > 20, "{encoding}");
        let groups: Vec<&str> = questions(encoding).map(|question| question.group).collect();
        let runs = groups.chunk_by(|one, other| one == other).count();
        assert_eq!(groups.iter().collect::<BTreeSet<_>>().len(), runs, "{encoding}");
    }
    assert_eq!(questions(Encoding::Utf8).count(), 0);
    let input = |encoding, id: &str| {
        let (bytes, cuts) = questions(encoding).find(|question| question.id == id).unwrap().input(encoding);
        (bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>(), cuts)
    };
    assert_eq!(input(Encoding::Utf16Le, "chunks-high"), ("61003DD86200".to_owned(), vec![4]));
    assert_eq!(input(Encoding::Utf16Be, "chunks-high"), ("0061D83D0062".to_owned(), vec![4]));
    // Without a byte order in the name, after a mark.
    assert_eq!(input(Encoding::Utf16, "chunks-high"), ("FFFE61003DD86200".to_owned(), vec![6]));
    assert_eq!(input(Encoding::Utf16, "mark-big"), ("FEFF0061".to_owned(), vec![]));
    assert_eq!(input(Encoding::Utf16, "none-little"), ("61006200".to_owned(), vec![]));
    assert_eq!(input(Encoding::Utf32Be, "end-3-of-4"), ("00000061620000".to_owned(), vec![]));
}

#[test]
fn what_becomes_of_code_units_has_a_word() {
    let ids = ["nul", "fffe", "pair", "high", "high-pair", "reversed-pair", "end-high", "end-high-1", "end-1-of-2"];
    let of = |decoder: &dyn Decoder| {
        let words = unit_words(decoder, Encoding::Utf16Le);
        ids.map(|id| words[id].clone())
    };
    let well_formed = ["accepts: U+0000", "accepts: U+FFFE", "accepts: U+1F600"];
    let replaced = ["1 U+FFFD", "U+FFFD U+1F600", "2 U+FFFD", "1 U+FFFD", "2 U+FFFD", "1 U+FFFD"];
    let replacing = lossy_units(|bytes| utf16(bytes, |_| Some("\u{FFFD}".into()), "\u{FFFD}"));
    assert_eq!(of(&replacing), [&well_formed[..], &replaced].concat()[..]);
    let dropping = lossy_units(|bytes| utf16(bytes, |_| Some(Vec::new()), ""));
    let dropped = ["nothing", "U+1F600", "nothing", "nothing", "nothing", "nothing"];
    assert_eq!(of(&dropping)[3..], dropped);
    let asking = lossy_units(|bytes| utf16(bytes, |_| Some(b"?".into()), "?"));
    assert_eq!(of(&asking)[3], "1 question mark");
    let passing = lossy_units(|bytes| utf16(bytes, |lone| Some(three_bytes(lone)), ""));
    let passed = ["accepts: U+D83D", "accepts: U+D83D U+1F600", "accepts: U+DE00 U+D83D", "accepts: U+D83D"];
    assert_eq!(of(&passing)[3..7], passed);
    let swallowing = lossy_units(|bytes| {
        let text = String::from_utf8(utf16(bytes, |_| Some("\u{FFFD}".into()), "")?).ok()?;
        Some(text.replace("\u{FFFD}b", "\u{FFFD}").into_bytes())
    });
    assert_eq!(of(&swallowing)[3], "1 U+FFFD, and the next character is lost");
    let strict = Faulty {
        validate: |bytes| Some(if utf16(bytes, |_| None, "").is_some() { Validity::Valid } else { Validity::INVALID }),
        lossy: |bytes| utf16(bytes, |_| None, ""),
        ..Faulty::default()
    };
    assert_eq!(of(&strict)[3..], ["rejects", "rejects", "rejects", "rejects", "rejects", "nothing"]);
    assert_eq!(unit_words(&strict, Encoding::Utf16Le)["offset"], "not stated");
    let silent = Faulty { validate: |_| None, lossy: |_| None, ..Faulty::default() };
    assert_eq!(of(&silent), ["no answer"; 9]);
    utfuzz::judge::silence_panics();
    let failing = Faulty { validate: |_| panic!(), ..Faulty::default() };
    assert_eq!(of(&failing), ["fails"; 9]);
}

#[test]
fn marks_of_code_units_have_words() {
    let ids = ["mark-little", "mark-big", "mark-twice", "mark-alone", "mark-inside", "none-little", "none-big"];
    let of = |decoder: &dyn Decoder| {
        let words = unit_words(decoder, Encoding::Utf16);
        ids.map(|id| words[id].clone())
    };
    let ignoring = lossy_units(|bytes| utf16(bytes, |_| None, ""));
    let (here, other) = ("accepts: U+0061 U+0062", "U+6100 U+6200");
    assert_eq!(of(&ignoring), ["kept", "U+FFFE U+6100", "kept", "kept", "kept", here, other]);
    let following = lossy_units(|bytes| {
        let swapped: Vec<u8> = bytes.as_chunks::<2>().0.iter().flat_map(|[one, other]| [*other, *one]).collect();
        match bytes {
            [0xFF, 0xFE, rest @ ..] => utf16(rest, |_| None, ""),
            _ => utf16(&swapped, |_| None, "")
                .map(|text| text.strip_prefix("\u{FEFF}".as_bytes()).map_or_else(|| text.clone(), <[u8]>::to_vec)),
        }
    });
    assert_eq!(of(&following), ["removed", "removed", "1 of 2 kept", "removed", "kept", other, here]);
    let without = lossy_units(|bytes| {
        let text = utf16(bytes, |_| None, "")?;
        Some(String::from_utf8(text).ok()?.replace('\u{FEFF}', "").into_bytes())
    });
    assert_eq!(of(&without)[..5], ["removed", "U+FFFE U+6100", "removed", "removed", "removed"]);
    // The mark before another input is no part of the answer.
    assert_eq!(unit_words(&ignoring, Encoding::Utf16)["nul"], "accepts: U+0000");
    assert_eq!(unit_words(&ignoring, Encoding::Utf16Le)["mark-twice"], "kept");
    let validating = Faulty { validate: |_| Some(Validity::Valid), lossy: |_| None, ..Faulty::default() };
    assert_eq!(of(&validating), ["accepts"; 7]);
}

#[test]
fn values_of_32_bits_have_words() {
    let wide = lossy_units(|bytes| {
        let mut text = Vec::new();
        for unit in bytes.as_chunks().0 {
            match u32::from_le_bytes(*unit) {
                value @ 0..0x8000_0000 => utfuzz::utf8::push_extended(value, &mut text),
                _ => text.extend_from_slice("\u{FFFD}".as_bytes()),
            }
        }
        Some(text)
    });
    let words = unit_words(&wide, Encoding::Utf32Le);
    let said = ["pair", "high", "too-large", "31-bits", "32-bits", "end-2-of-4"].map(|id| words[id].as_str());
    let expected = [
        "accepts: U+D83D U+DE00",
        "accepts: U+D83D",
        "accepts: U+110000",
        "accepts: U+7FFFFFFF",
        "1 U+FFFD",
        "nothing",
    ];
    assert_eq!(said, expected);
}

#[test]
fn offsets_in_code_units_have_words() {
    // In the input for little-endian UTF-16 ten bytes precede the error: three code points, five code units.
    let at = |offset: fn(usize) -> usize| {
        struct At(Info, fn(usize) -> usize);
        impl Decoder for At {
            fn info(&self) -> &Info {
                &self.0
            }
            fn validate(&self, bytes: &[u8]) -> Option<Validity> {
                let at = bytes.windows(4).position(|window| window == [0x3D, 0xD8, b'b', 0])?;
                Some(utfuzz::utf8::Malformed { valid_up_to: Some((self.1)(at)), len: None, kind: None }.into())
            }
        }
        unit_words(&At(Info::new("at", "0"), offset), Encoding::Utf16Le)["offset"].clone()
    };
    assert_eq!(at(|bytes| bytes), "in bytes, from 0");
    assert_eq!(at(|bytes| bytes / 2), "in UTF-16 code units, from 0");
    assert_eq!(at(|_| 3), "in code points, from 0");
    assert_eq!(at(|bytes| bytes - 2), "8, where 10 bytes precede the error");
}

#[test]
fn chunks_of_code_units_are_compared_with_the_whole() {
    /// Decodes each chunk by itself.
    struct Apart;
    impl Stream for Apart {
        fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
            out.extend(utf16(chunk, |_| Some("\u{FFFD}".into()), "").unwrap_or_default());
        }
        fn finish(&mut self, _: &mut Vec<u8>) -> Option<Validity> {
            None
        }
    }
    let apart = Faulty {
        stream: || Some(Box::new(Apart)),
        ..lossy_units(|bytes| utf16(bytes, |_| Some("\u{FFFD}".into()), ""))
    };
    let words = unit_words(&apart, Encoding::Utf16Le);
    assert_eq!(words["chunks-pair"], "not as in one piece: U+FFFD U+FFFD");
    assert_eq!(words["chunks-unit"], "not as in one piece: nothing");
    assert_eq!(words["chunks-high"], "as in one piece");
    assert_eq!(unit_words(&lossy_units(|_| None), Encoding::Utf16Le)["chunks-pair"], "no streams");
}

fn unit_decoder(name: &str) -> UnitDecoder {
    let mut all = peers::units::all().into_iter();
    all.find(|of| of.decoder.info().name == name).unwrap_or_else(|| panic!("no decoder {name}"))
}

#[test]
fn our_decoder_of_code_units_accepts_what_the_standard_has() {
    for encoding in ENCODINGS {
        let name = encoding.name().to_lowercase();
        let strict = unit_words(&*unit_decoder(&format!("own-{name}")).decoder, encoding);
        let replacing = unit_words(&*unit_decoder(&format!("own-{name}-replace")).decoder, encoding);
        for question in questions(encoding) {
            let (bytes, cuts) = question.input(encoding);
            let (strict, replacing) = (strict[question.id].as_str(), replacing[question.id].as_str());
            let place = format!("{encoding}, {}: {strict}, {replacing}", question.id);
            if !cuts.is_empty() {
                assert_eq!([strict, replacing], ["as in one piece"; 2], "{place}");
                continue;
            }
            let Some(is_text) = is_well_formed(encoding, &bytes) else { continue };
            match question.id {
                "offset" => assert_eq!([strict, replacing], ["in bytes, from 0", "no verdict"], "{place}"),
                // Without a mark, our decoder reads little-endian text; by the standard it is big-endian.
                "none-little" | "none-big" => {}
                _ if is_text => assert!(strict == replacing && strict != "rejects", "{place}"),
                _ => assert!(strict == "rejects" && replacing.contains("U+FFFD"), "{place}"),
            }
        }
    }
}

#[test]
fn our_decoder_of_code_units_answers_as_std_does() {
    let mut compared = 0;
    for (own, std) in [
        ("own-utf-16le", "std-utf-16le"),
        ("own-utf-16be", "std-utf-16be"),
        ("own-utf-16le-replace", "std-utf-16le-lossy"),
        ("own-utf-16be-replace", "std-utf-16be-lossy"),
        ("own-utf-32le", "std-utf-32le"),
        ("own-utf-32be", "std-utf-32be"),
    ] {
        let [own, std] = [own, std].map(|name| {
            let of = unit_decoder(name);
            unit_words(&*of.decoder, of.encoding)
        });
        // What it does not state, or cannot be asked about.
        let unstated = ["no answer", "no streams", "not stated"];
        for (id, word) in std.iter().filter(|(_, word)| !unstated.contains(&word.as_str())) {
            assert_eq!(own[id], *word, "{id}");
            compared += 1;
        }
    }
    assert!(compared >= 6 * 12, "{compared}");
}

#[test]
fn what_is_well_formed_is_what_std_reads() {
    for encoding in [Encoding::Utf16Le, Encoding::Utf32Le] {
        for question in questions(encoding) {
            let (bytes, _) = question.input(encoding);
            let (units, wide) = (bytes.as_chunks::<2>(), bytes.as_chunks::<4>());
            let is_text = match encoding {
                Encoding::Utf16Le => {
                    let units = units.0.iter().map(|unit| u16::from_le_bytes(*unit));
                    units.len() * 2 == bytes.len() && char::decode_utf16(units).all(|read| read.is_ok())
                }
                _ => {
                    let is_scalar = |unit: &[u8; 4]| char::from_u32(u32::from_le_bytes(*unit)).is_some();
                    wide.1.is_empty() && wide.0.iter().all(is_scalar)
                }
            };
            assert_eq!(is_well_formed(encoding, &bytes), Some(is_text), "{encoding}, {}", question.id);
        }
    }
    // Without a mark they are big-endian.
    assert_eq!(is_well_formed(Encoding::Utf16, b"\0\xD8"), Some(true));
    assert_eq!(is_well_formed(Encoding::Utf16, b"\xFF\xFE\0\xD8"), Some(false));
    assert_eq!(is_well_formed(Encoding::Ucs2Le, b"a\0"), None);
}

#[test]
fn decoders_of_code_units_have_a_table_for_each_encoding() {
    let examined = |names: &[&str]| -> Vec<ExaminedUnits> {
        let of = |name: &&str| {
            let of = unit_decoder(name);
            ExaminedUnits::of(&*of.decoder, of.encoding)
        };
        names.iter().map(of).collect()
    };
    let names = ["own-utf-16le", "own-utf-32", "own-utf-16le-replace", "std-utf-16le-lossy"];
    let with = matrix(&[&Honest::new(Contract::STANDARD)]).with_units(examined(&names));
    let shape: Vec<_> = with.units.iter().map(|units| (units.encoding.as_str(), units.rows.len())).collect();
    assert_eq!(shape, [("UTF-16LE", 3), ("UTF-32", 1)]);
    assert_eq!(with.rows.len(), 1, "they are not among the others");
    let clock = utfuzz::report::Clock::start("test");
    let directory = tempfile::tempdir().unwrap();
    let old: Matrix = serde_json::from_str(&serde_json::to_string(&with).unwrap()).unwrap();
    utfuzz::report::write_all(&Record::of_matrix(&clock, with), directory.path()).unwrap();
    let page = fs::read_to_string(directory.path().join("matrix.md")).unwrap();
    let (_, section) = page.split_once("## Decoders of UTF-16 and UTF-32").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    assert!(section.contains("### UTF-16LE: 3 decoders") && section.contains("### UTF-32: 1 decoder\n"), "{section}");
    let rows: Vec<&str> = section.lines().skip_while(|line| !line.contains(": a high surrogate |")).take(2).collect();
    assert!(rows[0].ends_with("| 61 00 3D D8 62 00 | ill-formed | 1 U+FFFD | all others |"), "{}", rows[0]);
    assert!(rows[1].ends_with("| rejects | own-utf-16le |"), "{}", rows[1]);
    // A decoder that has changed.
    let mut new = old.clone();
    let at = new.units[0].columns.iter().position(|column| column.id == "high").unwrap();
    // std is the first by its package; of our two the strict one comes first.
    new.units[0].rows[1].cells[at] = old.units[0].rows[2].cells[at];
    let changes = new.since(&old);
    let [change] = changes.as_slice() else { panic!("{changes:?}") };
    assert_eq!((change.name, change.column.id.as_str()), ("own-utf-16le", "high"));
    assert_eq!([change.from, change.to].map(|seen| seen.word.as_str()), ["rejects", "1 U+FFFD"]);
}

#[cfg(unix)]
#[test]
fn decoders_of_code_units_are_not_among_those_of_utf_8() {
    use std::process::Command;
    let registered: BTreeSet<String> = peers::all().iter().map(|decoder| decoder.info().name.to_string()).collect();
    for of in peers::units::all() {
        assert!(!registered.contains(&*of.decoder.info().name), "{}", of.decoder.info().name);
        assert_eq!(of.decoder.info().promise, utfuzz::decoder::Promise::Nothing);
    }
    let directory = tempfile::tempdir().unwrap();
    let greeting = |more: &str| {
        format!(
            "echo 'utfuzz 1 lines\npackage=x\nversion=1\nname=x\nanswers=verdict\nname=wide\nanswers=verdict\n{more}\n'
while read -r line; do case $line in '') ;; *) echo 1 -1 -1 - ;; esac; done\n"
        )
    };
    let path = directory.path().join("adapter.sh");
    let utfuzz = |more: &str, args: &[&str]| {
        fs::write(&path, greeting(more)).unwrap();
        let adapter = format!("sh {}", path.display());
        let mut command = Command::new(env!("CARGO_BIN_EXE_utfuzz"));
        let output = command.args(args).args(["--adapter", &adapter]).current_dir(directory.path()).output().unwrap();
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let named = |list: &serde_json::Value| -> Vec<String> {
        list.as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    let (checked, notes) = utfuzz("encoding=utf-16be", &["check", "--json", "--quick", "--seconds", "0"]);
    let checked: serde_json::Value = serde_json::from_str(&checked).unwrap_or_else(|error| panic!("{error}: {notes}"));
    assert_eq!(named(&checked["decoders"]), ["x"]);
    let (asked, notes) = utfuzz("encoding=utf-16be", &["matrix", "--json", "--decoders", "x,wide"]);
    let asked: serde_json::Value = serde_json::from_str(&asked).unwrap_or_else(|error| panic!("{error}: {notes}"));
    assert_eq!(named(&asked["rows"]), ["x"]);
    assert_eq!(
        (asked["units"][0]["encoding"].as_str(), named(&asked["units"][0]["rows"])),
        (Some("UTF-16BE"), vec!["wide".to_owned()])
    );
    let (_, unknown) = utfuzz("encoding=utf-16be", &["check", "--decoders", "wide"]);
    assert!(unknown.contains("no decoder is named \"wide\""), "{unknown}");
    for other in ["utf-7", "utf-8"] {
        let (_, wrong) = utfuzz(&format!("encoding={other}"), &["check"]);
        assert!(wrong.contains(&format!("encoding=\"{other}\" is none of utf-16, utf-16le")), "{wrong}");
    }
    let (_, wrong) = utfuzz("encoding=utf-16be\ncontract=rfc3629", &["check"]);
    assert!(wrong.contains("an entry point with encoding= has none"), "{wrong}");
}

fn matrix(decoders: &[&dyn Decoder]) -> Matrix {
    let ledger = Ledger::default();
    Matrix::of(decoders.iter().map(|decoder| Examined::of(*decoder, &ledger)).collect())
}

#[test]
fn the_cells_that_changed_are_listed() {
    let before = Honest(Info::new("mine", "1"));
    let after = Honest(Info::new("mine", "2").contract(Contract { bom: Bom::Strip, ..Contract::STANDARD }));
    let (old, new) = (matrix(&[&before]), matrix(&[&after, &Honest::new(Contract::STANDARD)]));
    let changes = new.since(&old);
    let ids: Vec<&str> = changes.iter().map(|change| change.column.id.as_str()).collect();
    assert_eq!(ids, ["mark-start", "mark-twice", "mark-alone"]);
    assert_eq!((changes[0].from.word.as_str(), changes[0].to.word.as_str()), ("kept", "removed"));
    assert_eq!(old.since(&old).len(), 0);
}

#[test]
fn decoders_of_a_package_are_together_and_so_are_those_that_accept_alike() {
    let of = |name: &'static str, package: &'static str, contract| {
        Honest(Info::new(name, "1").package(package).contract(contract))
    };
    let lax = Contract { grammar: Grammar::named("wtf-8").unwrap(), ..Contract::STANDARD };
    let decoders = [of("a", "x", Contract::STANDARD), of("b", "y", lax), of("c", "x", Contract::STANDARD)];
    let matrix = matrix(&decoders.each_ref().map(|decoder| decoder as &dyn Decoder));
    assert_eq!(matrix.rows.iter().map(|row| row.name.as_str()).collect::<Vec<_>>(), ["a", "c", "b"]);
    assert_eq!(matrix.classes.iter().map(|class| class.decoders.concat()).collect::<Vec<_>>(), ["ac", "b"]);
    assert_eq!(matrix.beyond, [[None, None], [Some("EDA080".to_owned()), None]]);
}

#[test]
fn decoders_of_another_grammar_are_compared_with_it() {
    let cesu_8 = |name: &'static str, grammar: &str| {
        let claimed = Contract { grammar: Grammar::named("cesu-8").unwrap(), ..Contract::VALIDATOR };
        let kept = Contract { grammar: Grammar::named(grammar).unwrap(), ..Contract::VALIDATOR };
        Claiming(Info::new(name, "1").contract(claimed), Honest::new(kept))
    };
    let (honest, wrong) = (cesu_8("honest", "cesu-8"), cesu_8("wrong", "wtf-8"));
    let matrix = matrix(&[&honest, &wrong, &Honest::new(Contract::STANDARD)]);
    let clock = utfuzz::report::Clock::start("test");
    let directory = tempfile::tempdir().unwrap();
    utfuzz::report::write_all(&Record::of_matrix(&clock, matrix), directory.path()).unwrap();
    let page = fs::read_to_string(directory.path().join("matrix.md")).unwrap();
    let (_, section) = page.split_once("## Decoders of other grammars").unwrap();
    let (section, _) = section.split_once("\n## ").unwrap();
    assert!(section.contains("### cesu-8, UTR \\#26 §2, Table 3-6B: 2 decoders"), "{section}");
    assert!(!section.contains("rfc3629"), "it has a table of its own: {section}");
    let row = |title: &str| {
        let mut lines = section.lines().skip_while(|line| !line.contains(title));
        [lines.next().unwrap(), lines.next().unwrap()]
            .map(|line| line.split(" | ").skip(2).collect::<Vec<_>>().join(" "))
    };
    assert_eq!(row(": surrogate pair |"), ["well-formed accepts honest |", " rejects wrong\\! |"]);
    assert_eq!(row(": surrogate U+D800 |"), ["ill-formed accepts wrong\\! |", " rejects honest |"]);
}

/// A decoder that claims another contract than it keeps.
struct Claiming(Info, Honest);

impl Decoder for Claiming {
    fn info(&self) -> &Info {
        &self.0
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        self.1.validate(bytes)
    }
}

/// The committed matrix.
fn committed() -> Matrix {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("reports/matrix/matrix.json");
    let record: Record = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    match record.section {
        Section::Matrix(matrix) => matrix,
        _ => panic!("it is another kind of record"),
    }
}

/// Every file beside `matrix.json` is made from it; `UPDATE_DOCUMENTS=1 cargo test --test matrix` makes them again.
#[test]
fn the_committed_files_are_those_of_the_record() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("reports/matrix");
    let record: Record = serde_json::from_slice(&fs::read(directory.join("matrix.json")).unwrap()).unwrap();
    if std::env::var_os("UPDATE_DOCUMENTS").is_some() {
        utfuzz::report::write_all(&record, &directory).unwrap();
    }
    let again = tempfile::tempdir().unwrap();
    utfuzz::report::write_all(&record, again.path()).unwrap();
    let read = |directory: &Path, name: &str| fs::read(directory.join(name)).unwrap();
    for ending in ["json", "md", "html", "csv", "svg"] {
        let name = format!("matrix.{ending}");
        assert!(read(again.path(), &name) == read(&directory, &name), "{name} is not made from matrix.json");
    }
}

#[test]
fn every_symbol_is_in_the_legend() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("reports/matrix/matrix.html");
    let page = fs::read_to_string(path).unwrap();
    let legend = page.split("</dl>").next().unwrap().replace("&#x2f;", "/");
    let explained: BTreeSet<&str> =
        legend.split("<dt>").skip(1).map(|rest| rest.split("</dt>").next().unwrap()).collect();
    let matrix = committed();
    let symbols = matrix.columns.iter().flat_map(|column| column.answers.iter().map(|seen| seen.symbol.as_str()));
    let mut seen = BTreeSet::from(["(empty)", "!"]);
    for symbol in symbols.filter(|symbol| !symbol.is_empty()) {
        let (symbol, lost) = symbol.strip_suffix('-').map_or((symbol, false), |symbol| (symbol, true));
        seen.extend(lost.then_some("-"));
        // Of a number, only that it is one.
        seen.insert(match symbol.trim_end_matches(|c: char| c.is_ascii_digit()) {
            "" if symbol != "1252" => "1",
            "B" => "B1",
            "C" => "C1",
            "U" => "U1",
            _ if symbol.ends_with('?') => "1?",
            _ => symbol,
        });
    }
    // Nothing here counts offsets from 1, or in these units, yet.
    seen.extend(["C1", "U1"]);
    assert_eq!(seen, explained);
}

/// What a decoder answers, as the matrix states it, put together here.
fn said(verdict: Option<Validity>, output: Option<&[u8]>) -> String {
    let digits = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02X}")).collect::<String>();
    let parts = [verdict.map(|verdict| verdict.to_string()), output.map(|output| format!("output {}", digits(output)))];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() { "no answer".to_owned() } else { parts.join(", ") }
}

/// The word that must be in the cell, if it is one of those that are easily told.
fn easily(group: &str, verdict: Option<Validity>, output: Option<&[u8]>) -> Option<String> {
    let text = output.and_then(|output| std::str::from_utf8(output).ok());
    match group {
        "taken for well-formed" => {
            verdict.map(|verdict| if verdict.is_valid() { "accepts" } else { "rejects" }.to_owned())
        }
        "written for these bytes inside text" | "written at the end of the input" => {
            let count = text.as_ref()?.matches('\u{FFFD}').count();
            let plain = ["a", "ab", "aé"].into_iter().any(|kept| {
                text.as_ref().is_some_and(|text| text.replace('\u{FFFD}', "") == kept && text.starts_with('a'))
            });
            (plain && count > 0).then(|| format!("{count} U+FFFD"))
        }
        _ => None,
    }
}

/// Compares 200 random cells of decoders that are here in the version of the matrix with what they answer. Columns about
/// chunks and lengths consist of several answers and are left out.
fn compare(matrix: &Matrix, ask: &mut dyn FnMut(&Row, &[u8]) -> Option<Answer>) -> usize {
    let columns: Vec<usize> = (0..matrix.columns.len())
        .filter(|&at| !["in chunks", "after ASCII"].contains(&&*matrix.columns[at].group))
        .collect();
    let (mut random, mut compared) = (0x9E37_79B9_7F4A_7C15_u64, 0);
    for _ in 0..20_000 {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let row = &matrix.rows[(random >> 33) as usize % matrix.rows.len()];
        let at = columns[(random >> 20) as usize % columns.len()];
        let column = &matrix.columns[at];
        let bytes = utfuzz::generate::vectors::parse_hex(&column.bytes).unwrap();
        let Some(Answer { verdict, output, .. }) = ask(row, &bytes) else { continue };
        let seen = matrix.seen(row, at).unwrap();
        assert_eq!(seen.says, said(verdict, output.as_deref()), "{} {}", row.name, column.id);
        if let Some(word) = easily(&column.group, verdict, output.as_deref()) {
            // The next character may be lost.
            assert!(
                seen.word.starts_with(&word) || seen.word.starts_with("accepts"),
                "{} {}: {} and {word}",
                row.name,
                column.id,
                seen.word
            );
        }
        compared += 1;
        if compared == 200 {
            break;
        }
    }
    compared
}

#[test]
fn cells_of_the_committed_matrix_are_what_the_decoders_here_answer() {
    let matrix = committed();
    let decoders = peers::all();
    let compared = compare(&matrix, &mut |row, bytes| {
        let decoder =
            decoders.iter().find(|decoder| decoder.info().name == row.name && decoder.info().version == row.version)?;
        let mut output = Vec::new();
        let output = decoder.decode_lossy(bytes, &mut output).map(|()| output);
        Some(Answer { verdict: decoder.validate(bytes), output, panicked: false })
    });
    assert_eq!(compared, 200);
}

#[test]
fn cells_of_the_committed_tables_of_code_units_are_what_the_decoders_here_answer() {
    let (matrix, decoders) = (committed(), peers::units::all());
    let mut compared = 0;
    for units in &matrix.units {
        for row in &units.rows {
            let is_same = |info: &Info| info.name == row.name && info.version == row.version;
            let Some(of) = decoders.iter().find(|of| is_same(of.decoder.info())) else { continue };
            let words = unit_words(&*of.decoder, of.encoding);
            for (at, column) in units.columns.iter().enumerate() {
                assert_eq!(units.seen(row, at).unwrap().word, words[column.id.as_str()], "{} {}", row.name, column.id);
                compared += 1;
            }
        }
    }
    assert!(matrix.units.is_empty() || compared > 100, "{compared}");
}

/// The same for decoders in other processes, asked without the parts of the harness that plan, cache and judge.
#[cfg(unix)]
#[test]
#[ignore = "needs adapters; .ci/run adapters"]
fn cells_of_adapters_are_what_their_processes_answer() {
    use utfuzz::peers::foreign::Foreign;
    use utfuzz::peers::foreign::process::Process;
    use utfuzz::peers::foreign::protocol::{Batch, Operation, Translator, Verdict};
    use utfuzz::peers::foreign::registry::Found;
    let found = Found::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("adapters"), 3).unwrap();
    let of_row = |row: &Row| -> Option<&Foreign> {
        found.decoders.iter().find(|it| it.info().name == row.name && it.info().version == row.version)
    };
    let mut processes: BTreeMap<String, Process> = BTreeMap::new();
    let compared = compare(&committed(), &mut |row, bytes| {
        let foreign = of_row(row)?;
        if !processes.contains_key(&row.name) {
            processes.insert(row.name.clone(), Process::start(foreign.program(), Some(&row.name)).ok()?.0);
        }
        let mut batch = Batch::default();
        batch.push(Operation::Decode, bytes);
        let answer = processes.get_mut(&row.name)?.ask(&batch, foreign.program().timeout).ok()?.pop()?;
        if matches!(answer.verdict, Verdict::CannotSay | Verdict::Failed) {
            return None;
        }
        let (parts, form) = (foreign.entry().answers, foreign.entry().output);
        let output = answer.output.as_ref().filter(|_| parts.output).map(|output| {
            let (mut translator, mut out) = (Translator::new(form), Vec::new());
            translator.push(output, &mut out);
            translator.finish(&mut out);
            out
        });
        Some(Answer { verdict: answer.validity(parts).filter(|_| parts.verdict), output, panicked: false })
    });
    println!("{compared} cells of {} decoders compared", processes.len());
    assert!(compared >= 50, "only {compared} cells of decoders that are here in the version of the matrix");
}
