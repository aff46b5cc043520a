//! Tests of the oracle: `spec` is compared with `core::str` on every short string, and with published vectors.

use std::collections::BTreeMap;
use std::fs;
use utfuzz::generate::classes::Block;
use utfuzz::generate::vectors;
use utfuzz::spec;
use utfuzz::spec::{Bom, Contract, Detection, End, Reading, Replacement, Segmentation, grammar};
use utfuzz::utf8::{ByteClass, ErrorLen, Kind, Malformed, Validity};

/// Asserts that `spec` and `core::str` give the same verdict and output for every byte string of length `N`.
fn agrees_with_core_str<const N: usize>(firsts: impl Iterator<Item = u8>) -> u64 {
    let mut lossy = Vec::new();
    let mut cases = 0;
    for first in firsts {
        for rest in 0..1u64 << (8 * (N - 1)) {
            let mut bytes = [first; N];
            bytes[1..].copy_from_slice(&rest.to_be_bytes()[9 - N..]);
            let verdict = match spec::validity(&Contract::STANDARD, &bytes) {
                Validity::Valid => Validity::Valid,
                Validity::Invalid(malformed) => utfuzz::utf8::Malformed { kind: None, ..malformed }.into(),
            };
            assert_eq!(verdict, std::str::from_utf8(&bytes).map(drop).into(), "{bytes:02X?}");
            lossy.clear();
            spec::lossy(&Contract::STANDARD, &bytes, &mut lossy);
            assert_eq!(lossy, String::from_utf8_lossy(&bytes).as_bytes(), "{bytes:02X?}");
            cases += 1;
        }
    }
    cases
}

#[test]
fn spec_equals_core_str_on_every_string_of_one_to_three_bytes() {
    assert_eq!(agrees_with_core_str::<1>(0..=255), 1 << 8);
    assert_eq!(agrees_with_core_str::<2>(0..=255), 1 << 16);
    assert_eq!(agrees_with_core_str::<3>(0..=255), 1 << 24);
}

/// 2^32 strings, which take minutes even with optimisation: `cargo test --release --test spec -- --ignored`.
#[test]
#[ignore = "minutes; `.ci/run full` runs it, in release"]
fn spec_equals_core_str_on_every_string_of_four_bytes() {
    let cases: u64 = std::thread::scope(|scope| {
        let threads: u8 = std::thread::available_parallelism().map_or(1, |count| count.get().min(64) as u8);
        let workers: Vec<_> = (0..threads)
            .map(|worker| scope.spawn(move || agrees_with_core_str::<4>((worker..=255).step_by(threads.into()))))
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert_eq!(cases, 1 << 32);
}

#[test]
fn spec_agrees_with_every_published_vector() {
    let mut contradictions = Vec::new();
    let mut counts = Vec::new();
    for entry in fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/vectors")).unwrap() {
        let path = entry.unwrap().path();
        let rows =
            vectors::parse(&fs::read_to_string(&path).unwrap()).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let file = path.file_name().unwrap().to_string_lossy().into_owned();
        for row in &rows {
            for claim in &row.claims {
                if let Some(contradiction) = claim.contradiction(&row.bytes) {
                    contradictions.push(format!("{file} {}: {:02X?}: {contradiction}", row.name, row.bytes));
                }
            }
        }
        counts.push((file, rows.len()));
    }
    counts.sort();
    println!("{counts:?}");
    assert!(contradictions.is_empty(), "{}", contradictions.join("\n"));
    assert!(counts.len() >= 7 && counts.iter().map(|(_, rows)| rows).sum::<usize>() >= 700, "{counts:?}");
}

/// Unicode chapter 3 and PR-121 name the policies; the examples distinguish each policy from the others.
#[test]
fn every_segmentation_and_replacement_is_distinct() {
    let segments = |segmentation, bytes: &[u8]| {
        let contract = Contract { segmentation, ..Contract::STANDARD };
        let lengths =
            spec::segments(&contract, bytes).filter(|segment| matches!(segment.reading, Reading::IllFormed { .. }));
        lengths.map(|segment| segment.len).collect::<Vec<_>>()
    };
    // PR-121: 61 F1 80 80 E1 80 C2 62 gives 1, 3 and 6 replacements under policies 1, 2 and 3.
    let pr121 = b"\x61\xF1\x80\x80\xE1\x80\xC2\x62";
    assert_eq!(segments(Segmentation::Run, pr121), [6]);
    assert_eq!(segments(Segmentation::MaximalSubpart, pr121), [3, 2, 1]);
    assert_eq!(segments(Segmentation::Byte, pr121), [1; 6]);
    // OpenJDK: a surrogate is one segment, whether it is whole, cut off by the end, or cut off by another byte.
    assert_eq!(segments(Segmentation::MaximalSubpartSurrogate, b"\xED\xA0\x80"), [3]);
    assert_eq!(segments(Segmentation::MaximalSubpartSurrogate, b"\xED\xA0"), [2]);
    assert_eq!(segments(Segmentation::MaximalSubpartSurrogate, b"\xED\xA0a"), [2]);
    assert_eq!(segments(Segmentation::MaximalSubpart, b"\xED\xA0\x80"), [1, 1, 1]);
    // ICU before 60: the announced length, cut off at the first byte that is not a continuation byte.
    assert_eq!(segments(Segmentation::LeadAnnounced, b"\xF0\x80\x80"), [3]);
    assert_eq!(segments(Segmentation::LeadAnnounced, b"\xFB\xBF\xBF\xBF\xBFa"), [5]);
    assert_eq!(segments(Segmentation::LeadAnnounced, b"\xE1\x80\xC0\x80"), [2, 2]);
    // PHP htmlspecialchars: C0 and FF cannot start a sequence, so they are swallowed.
    assert_eq!(segments(Segmentation::SwallowNonLead, b"\xC2\xFF"), [2]);
    assert_eq!(segments(Segmentation::SwallowNonLead, b"\xE1\xC0\x80"), [3]);
    assert_eq!(segments(Segmentation::SwallowNonLead, b"\xE1\x80\xC2\x80"), [2]);

    let output = |replacement, bytes: &[u8]| {
        let contract = Contract { replacement: Some(replacement), ..Contract::STANDARD };
        spec::code_points(&contract, bytes).collect::<Vec<_>>()
    };
    assert_eq!(output(Replacement::Drop, b"a\xE0\xA0b"), [0x61, 0x62]);
    assert_eq!(output(Replacement::SurrogateEscape, b"\xE0\xA0"), [0xDCE0, 0xDCA0]);
    assert_eq!(output(Replacement::Latin1, b"\xE4\x80"), [0xE4, 0x80]);
    assert_eq!(output(Replacement::Windows1252, b"\x80\x81\xFF"), [0x20AC, 0x81, 0xFF]);
}

/// As CPython's incremental decoders, glibc's `mbrtowc`, Perl's `STOP_AT_PARTIAL` and Go's `FullRune` report it: what more
/// bytes could complete is incomplete, whatever is written for each of its bytes.
#[test]
fn an_incomplete_sequence_is_incomplete_however_it_is_cut() {
    let verdict = |contract: Contract, bytes: &[u8]| spec::validity(&contract, bytes).malformed().copied().unwrap();
    for grammar in grammar::ALL {
        for segmentation in Segmentation::ALL {
            let contract = Contract { grammar, segmentation, ..Contract::STANDARD };
            for row in grammar.rows {
                let lowest: Vec<u8> = row.bytes.iter().map(|&(first, _)| first).collect();
                for len in 1..lowest.len() {
                    let begun = &lowest[..len];
                    // Where lone surrogates have a form, three bytes of a pair are whole.
                    if spec::validity(&contract, begun).is_valid() {
                        continue;
                    }
                    let reported = verdict(contract, begun);
                    let expected = Malformed { kind: Some(Kind::Incomplete), ..Malformed::at(0, ErrorLen::Incomplete) };
                    assert_eq!(reported, expected, "{contract}: {begun:02X?}");
                    // A decoder that reports it as an error reports the first segment.
                    let first = spec::segments(&contract, begun).next().unwrap();
                    let reported = verdict(Contract { end: End::Error, ..contract }, begun);
                    assert_eq!(reported.len, Some(ErrorLen::Bytes(first.len)), "{contract}: {begun:02X?}");
                    // Followed by something else, it is an error like any other.
                    let wrong = verdict(contract, &[begun, b"\xFF"].concat());
                    assert!(matches!(wrong.len, Some(ErrorLen::Bytes(_))), "{contract}: {begun:02X?}");
                }
            }
        }
    }
    let by_byte = Contract { segmentation: Segmentation::Byte, ..Contract::STANDARD };
    let mut out = Vec::new();
    spec::lossy(&by_byte, b"\xE0\xA0", &mut out);
    assert_eq!(out, "\u{FFFD}\u{FFFD}".as_bytes());
}

#[test]
fn grammars_differ_where_documented() {
    let verdict = |grammar, bytes: &[u8]| match spec::validity(&Contract { grammar, ..Contract::STANDARD }, bytes) {
        Validity::Valid => None,
        Validity::Invalid(malformed) => Some((malformed.valid_up_to.unwrap(), malformed.kind.unwrap())),
    };
    let pair = b"\xED\xA0\x81\xED\xB0\x81";
    assert_eq!(verdict(&grammar::RFC3629, pair), Some((0, Kind::Surrogate)));
    assert_eq!(verdict(&grammar::RFC3629_WITH_SURROGATES, pair), None);
    assert_eq!(verdict(&grammar::CESU8, pair), None);
    assert_eq!(verdict(&grammar::WTF8, pair), Some((3, Kind::SurrogatePair)));
    assert_eq!(verdict(&grammar::WTF8, b"\xED\xA0\x81a\xED\xB0\x81"), None);
    assert_eq!(verdict(&grammar::CESU8, b"\xED\xA0\x81a"), Some((0, Kind::Surrogate)));
    assert_eq!(verdict(&grammar::CESU8, b"\xF0\x90\x90\x81"), Some((0, Kind::FourByte)));
    assert_eq!(verdict(&grammar::MODIFIED_UTF8, b"\xC0\x80"), None);
    assert_eq!(verdict(&grammar::MODIFIED_UTF8, b"\x00"), Some((0, Kind::Null)));
    assert_eq!(verdict(&grammar::RFC2279, b"\xFD\xBF\xBF\xBF\xBF\xBF"), None);
    assert_eq!(verdict(&grammar::RFC2279, b"\xF8\x80\x80\x80\x80"), Some((0, Kind::Overlong(5))));
    assert_eq!(verdict(&grammar::RFC2279, b"\xFC\x80\x80\x80\x80\x80"), Some((0, Kind::Overlong(6))));
    assert_eq!(verdict(&grammar::RFC2279, b"\xFE"), Some((0, Kind::InvalidByte)));
    assert_eq!(verdict(&grammar::RFC3629_WITH_OVERLONG, b"\xC0\xAF\xE0\x80\xAF\xF0\x80\x80\xAF"), None);
    assert_eq!(verdict(&grammar::RFC3629_WITHOUT_NONCHARACTERS, b"\xEF\xBF\xBE"), Some((0, Kind::Noncharacter)));
    assert_eq!(verdict(&grammar::RFC3629_WITHOUT_NONCHARACTERS, b"\xF1\xBF\xBF\xBF"), Some((0, Kind::Noncharacter)));
    assert_eq!(verdict(&grammar::RFC3629, b"\xF4\x90\x80\x80"), Some((0, Kind::TooLarge)));
    assert_eq!(verdict(&grammar::RFC3629, b"a\xE2\x82"), Some((1, Kind::Incomplete)));
    assert_eq!(verdict(&grammar::RFC3629, b"a\xE2\x82a"), Some((1, Kind::TooShort)));
}

#[test]
fn encode_is_the_inverse_of_reading() {
    for grammar in grammar::ALL {
        let contract = Contract { grammar, ..Contract::STANDARD };
        let mut accepted = 0;
        let mut bytes = Vec::new();
        for code_point in 0..=0x11_0000 {
            bytes.clear();
            match spec::encode(grammar, code_point, &mut bytes) {
                Ok(()) => {
                    assert_eq!(spec::code_points(&contract, &bytes).collect::<Vec<_>>(), [code_point]);
                    assert!(spec::validity(&contract, &bytes).is_valid());
                    accepted += 1;
                }
                Err(kind) => {
                    assert!(bytes.is_empty());
                    let expected = match code_point {
                        0xD800..=0xDFFF => Kind::Surrogate,
                        0x11_0000.. => Kind::TooLarge,
                        _ => Kind::Noncharacter,
                    };
                    assert_eq!(kind, expected, "{} U+{code_point:04X}", grammar.name);
                }
            }
        }
        let expected = match grammar.name {
            "rfc2279" => 0x11_0001,
            "rfc2279-without-surrogates" => 0x11_0001 - 2048,
            "rfc3629-with-surrogates" | "wtf-8" => 0x11_0000,
            "rfc3629-without-noncharacters" => 0x11_0000 - 2048 - 66,
            _ => 0x11_0000 - 2048,
        };
        assert_eq!(accepted, expected, "{}", grammar.name);
    }
}

/// Exchanging a byte for another of its class changes nothing but code points.
#[test]
fn the_thirteen_classes_are_sound() {
    let shape = |bytes: &[u8]| {
        spec::segments(&Contract::STANDARD, bytes)
            .map(|segment| {
                (
                    segment.start,
                    segment.len,
                    if let Reading::IllFormed { kind, .. } = segment.reading { Some(kind) } else { None },
                )
            })
            .collect::<Vec<_>>()
    };
    // F5..F7 and F8..FF differ only in the name of the kind.
    let blur = |mut shape: Vec<(usize, usize, Option<Kind>)>| {
        for (_, _, kind) in &mut shape {
            if *kind == Some(Kind::InvalidByte) {
                *kind = Some(Kind::TooLarge);
            }
        }
        shape
    };
    let classes: Vec<_> = ByteClass::all().collect();
    for index in 0..classes.len().pow(4) {
        let digits = [index % 13, index / 13 % 13, index / 169 % 13, index / 2197];
        let canonical = digits.map(|digit| classes[digit].canonical());
        let expected = blur(shape(&canonical));
        for at in 0..4 {
            let mut bytes = canonical;
            for byte in classes[digits[at]].bytes() {
                bytes[at] = byte;
                assert_eq!(blur(shape(&bytes)), expected, "{bytes:02X?}");
            }
        }
    }
}

/// `tests/kinds.txt` holds, for each grammar and kind, how many strings begin with such an error, and what is said of the first
/// and of the last of them. `UPDATE_KINDS=1 cargo test --test spec` writes it again; review the difference before you commit it.
#[test]
fn the_kind_of_an_error_and_its_rule_are_these() {
    // Surrogates in four bytes, their neighbours, noncharacters, and half a pair.
    let others: [&[u8]; 13] = [
        b"\xF0\x9F\xBF\xBE",
        b"\xF4\x8F\xBF\xBE",
        b"\xED\xA0\x80",
        b"\xED\xA0",
        b"\xF0\x8D\x9F\xBF",
        b"\xF0\x8D\xA0\x80",
        b"\xF0\x8C\xA0\x80",
        b"\xF0\x8D\xBF\xBF",
        b"\xED\xA0\x80\xED\xB0\x80",
        b"\xED\xA0\x80\xEDa",
        b"\xED\xA0\x80\xED\xB0a",
        b"\xED\xA0a",
        b"\xED\xB0a",
    ];
    let mut text = String::new();
    for grammar in grammar::ALL {
        let contract = Contract { grammar, ..Contract::STANDARD };
        let mut found: BTreeMap<String, (u32, [String; 2])> = BTreeMap::new();
        let mut note = |bytes: &[u8]| {
            let ill_formed = |segment: &spec::Segment| matches!(segment.reading, Reading::IllFormed { .. });
            let Some(segment) = spec::segments(&contract, bytes).find(ill_formed) else { return };
            let Reading::IllFormed { kind } = segment.reading else { return };
            let (count, examples) = found.entry(kind.to_string()).or_default();
            *count += 1;
            let spec::Rule { says, source } = spec::Rule::broken(grammar, kind, &bytes[segment.start..]);
            let example = format!("    {bytes:02X?} at {}: {says} [{source}]\n", segment.start);
            examples[if *count == 1 { 0 } else { 1 }] = example;
        };
        let mut bytes = Vec::new();
        for len in 1..=3 {
            let block = Block { len, offset: 0 };
            for index in 0..block.count() {
                block.write(index, &mut bytes);
                note(&bytes);
                // As long as its first byte announces.
                note(&[&bytes[..], &[0x80; 5]].concat()[..6.max(bytes.len())]);
            }
        }
        for (kind, (count, [first, last])) in found {
            text += &format!("{} {kind} {count}\n{first}{last}", grammar.name);
        }
        for bytes in others {
            let Some(segment) = spec::segments(&contract, bytes).next() else { continue };
            text += &format!("{} {bytes:02X?}: {:?}\n", grammar.name, segment.reading);
            if let Reading::IllFormed { kind } = segment.reading {
                text += &format!("    {}\n", spec::Rule::broken(grammar, kind, bytes).says);
            }
        }
    }
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/kinds.txt");
    if std::env::var_os("UPDATE_KINDS").is_some() {
        fs::write(path, &text).unwrap();
    }
    let kept = fs::read_to_string(path).unwrap();
    assert_eq!(text.lines().zip(kept.lines()).find(|(found, kept)| found != kept), None, "found and kept");
    assert_eq!(text.lines().count(), kept.lines().count());
}

/// Fed one byte at a time, an input is known to be ill-formed at the first prefix that no further bytes can complete.
#[test]
fn an_error_is_detected_at_the_first_byte_that_decides() {
    let begun: [&[u8]; 7] = [
        b"",
        b"\xC1\x81",
        b"\xC0\x80",
        b"\xED\xA0\xBD",
        b"\xED\xA0\xBD\xED\xB8\x80",
        b"\xF4\x90\x80\x80",
        b"\xF8\x88\x80\x80\x80",
    ];
    let mut bytes = Vec::new();
    for grammar in grammar::ALL {
        let contract = Contract { grammar, ..Contract::STANDARD };
        let is_decided = |bytes: &[u8]| match spec::validity(&contract, bytes) {
            Validity::Valid => false,
            Validity::Invalid(malformed) => malformed.len != Some(ErrorLen::Incomplete),
        };
        for len in 1..=2 {
            let block = Block { len, offset: 0 };
            for index in 0..block.count() {
                block.write(index, &mut bytes);
                for begun in begun {
                    let bytes = [begun, &bytes[..]].concat();
                    let first = (1..=bytes.len()).find(|&end| is_decided(&bytes[..end]));
                    assert_eq!(spec::detected_at(grammar, &bytes), first, "{}: {bytes:02X?}", grammar.name);
                }
            }
        }
    }
}

#[test]
fn a_contract_is_read_as_it_is_written() {
    let replacements: Vec<Option<Replacement>> = Replacement::ALL.into_iter().map(Some).chain([None]).collect();
    let mut read = 0;
    for grammar in grammar::ALL {
        for segmentation in Segmentation::ALL {
            for &replacement in &replacements {
                for bom in [Bom::Keep, Bom::Strip] {
                    for end in [End::Incomplete, End::Error] {
                        for detection in [Detection::Late, Detection::Earliest] {
                            let contract = Contract { grammar, segmentation, replacement, bom, end, detection };
                            let expected = contract.check().map(|()| contract);
                            assert_eq!(contract.to_string().parse(), expected, "{contract}");
                            read += usize::from(expected.is_ok());
                        }
                    }
                }
            }
        }
    }
    assert!(read > 2000, "{read}");
    // What is not stated is as in the standard, and a word that is none is refused.
    assert_eq!("rfc3629".parse(), Ok(Contract::STANDARD));
    assert_eq!("rfc3629 no-output".parse(), Ok(Contract::VALIDATOR));
    let refused = "rfc3629 byte replaced".parse::<Contract>();
    assert_eq!(refused, Err("\"replaced\" is not a word of a contract".to_owned()));
}

#[test]
fn every_segmentation_is_described_in_its_own_words() {
    let summaries: BTreeMap<&str, &str> = Segmentation::ALL.map(|of| (of.summary(), of.name())).into();
    assert_eq!(summaries.len(), Segmentation::ALL.len(), "{summaries:?}");
    // Software that readers may know is named where a policy is that of one program.
    for (segmentation, user) in [
        (Segmentation::MaximalSubpart, "the Unicode Standard"),
        (Segmentation::MaximalSubpartSurrogate, "OpenJDK"),
        (Segmentation::Byte, "Go"),
        (Segmentation::Run, "Go strings.ToValidUTF8"),
        (Segmentation::LeadAnnounced, "ICU before 60"),
        (Segmentation::SwallowNonLead, "PHP htmlspecialchars"),
    ] {
        assert!(segmentation.summary().contains(user), "{}: {}", segmentation.name(), segmentation.summary());
    }
}
