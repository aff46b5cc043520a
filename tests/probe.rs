//! `probe` names what decoders do: those built from `spec`, our own and our peers, and the planted ones.
#![cfg(feature = "fuzz")]

mod faulty;

use faulty::{Faulty, Honest};
use std::collections::BTreeMap;
use utfuzz::decoder::Decoder;
use utfuzz::generate::classes::Block;
use utfuzz::probe::{
    Answer, Field, Held, Kind, Machine, Offsets, Place, Rewritten, Unit, all, answer, ask, confirm, differences,
    in_words, probe, rust, shown_ranges,
};
use utfuzz::spec::{Bom, Contract, End, Segmentation};
use utfuzz::utf8::{ByteClass, ErrorLen, Malformed, Validity};
use utfuzz::{Info, peers};

/// The class strings of a length.
fn strings(len: u32) -> impl Iterator<Item = Vec<u8>> {
    let block = Block { len, offset: 0 };
    (0..block.count()).map(move |index| {
        let mut bytes = Vec::new();
        block.write(index, &mut bytes);
        bytes
    })
}

/// Whether two contracts give the same answers to all class strings of up to four bytes, with a byte order mark and without.
fn are_alike(one: &Contract, other: &Contract) -> bool {
    (0..=4).flat_map(strings).all(|bytes| {
        let marked = [b"\xEF\xBB\xBF", bytes.as_slice()].concat();
        [&bytes, &marked].into_iter().all(|bytes| answer(one, bytes) == answer(other, bytes))
    })
}

/// Probes decoders of these contracts, each of which must be named by at most eight questions.
fn contracts_are_named(contracts: &[Contract]) {
    let (mut asked, mut most) = (0, 0);
    for contract in contracts {
        let found = probe(&Honest::new(*contract)).unwrap();
        assert!(found.is_exact(), "{contract}");
        // Contracts that always answer alike have one name.
        let is_named = found.contract == *contract || are_alike(&found.contract, contract);
        assert!(is_named, "{contract} was named {}", found.contract);
        asked += found.asked.len();
        most = most.max(found.asked.len());
    }
    let average = asked as f64 / contracts.len() as f64;
    println!("{} contracts, {average:.1} questions on average, at most {most}", contracts.len());
    assert!(most <= 8, "{most} questions");
}

#[test]
fn a_contract_is_named_by_at_most_eight_questions() {
    // A prime, so that all fields vary.
    let contracts: Vec<Contract> = all().into_iter().step_by(13).collect();
    assert!(contracts.len() > 75);
    contracts_are_named(&contracts);
}

#[test]
#[ignore = "takes half a minute; .ci/run exhaustive"]
fn every_contract_is_named_by_at_most_eight_questions() {
    let contracts: Vec<Contract> = all().into_iter().collect();
    assert!(contracts.len() > 1000);
    contracts_are_named(&contracts);
}

#[test]
fn the_contract_of_every_honest_decoder_here_is_named() {
    let known = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/known.toml")).unwrap();
    let mut named = 0;
    for decoder in peers::all().iter().filter(|decoder| !decoder.info().name.starts_with("planted-")) {
        let info = decoder.info();
        let found = probe(&**decoder).unwrap_or_else(|| panic!("{} answers nothing", info.name));
        assert!(found.asked.len() <= 12, "{}: {} questions", info.name, found.asked.len());
        let is_named = found.is_exact() && found.agrees(&info.contract);
        named += usize::from(is_named);
        // One that does not keep its contract is in the ledger.
        let is_known = known.contains(&format!("{:?}", info.name));
        assert!(is_named || is_known, "{} claims {}, and was named {}", info.name, info.contract, found.contract);
    }
    assert!(named >= 20, "{named}");
}

/// A decoder that states the offset of the first error as `offset` counts it.
fn counting(offset: fn(&str) -> usize) -> Option<Offsets> {
    struct Counting(Info, fn(&str) -> usize);
    impl Decoder for Counting {
        fn info(&self) -> &Info {
            &self.0
        }

        fn validate(&self, bytes: &[u8]) -> Option<Validity> {
            let Err(error) = std::str::from_utf8(bytes) else { return Some(Validity::Valid) };
            let text = std::str::from_utf8(&bytes[..error.valid_up_to()]).unwrap();
            Some(Validity::Invalid(Malformed { valid_up_to: Some((self.1)(text)), len: None, kind: None }))
        }
    }
    let found = probe(&Counting(Info::new("counting", "0"), offset)).unwrap();
    assert!(found.is_exact() && found.able.verdict && !found.able.length && !found.able.output);
    found.offsets
}

#[test]
fn offsets_are_told_apart_by_unit_and_origin() {
    assert_eq!(counting(str::len), Some(Offsets::Counted(Unit::Bytes, 0)));
    assert_eq!(counting(|text| text.len() + 1), Some(Offsets::Counted(Unit::Bytes, 1)));
    assert_eq!(counting(|text| text.chars().count()), Some(Offsets::Counted(Unit::CodePoints, 0)));
    assert_eq!(counting(|text| text.chars().count() + 1), Some(Offsets::Counted(Unit::CodePoints, 1)));
    assert_eq!(counting(|text| text.encode_utf16().count()), Some(Offsets::Counted(Unit::Utf16, 0)));
    assert_eq!(counting(|text| 2 * text.len()), Some(Offsets::Other(22)));
}

#[test]
fn what_no_contract_explains_has_a_nearest_one() {
    // Accepts one ill-formed sequence.
    let credulous = Faulty {
        validate: |bytes| Some(if bytes == b"\xC0\x80\x80A" { Validity::Valid } else { faulty::verdict(bytes) }),
        lossy: |bytes| Some(faulty::lossy(bytes)),
        ..Faulty::default()
    };
    let found = probe(&credulous).unwrap();
    assert!(!found.is_exact());
    assert_eq!(found.contract, Contract::STANDARD);
    struct Silent(Info);
    impl Decoder for Silent {
        fn info(&self) -> &Info {
            &self.0
        }
    }
    assert!(probe(&Silent(Info::new("silent", "0"))).is_none());
}

#[test]
fn each_field_has_an_input_that_shows_it() {
    let contract = Contract { segmentation: Segmentation::LeadAnnounced, bom: Bom::Strip, ..Contract::STANDARD };
    let found = probe(&Honest::new(contract)).unwrap();
    assert_eq!(found.open, []);
    for field in Field::ALL {
        let witness = found.witness(field).unwrap_or_else(|| panic!("{field:?}"));
        assert_eq!(witness.answer, answer(&contract, &witness.bytes));
    }
    // Of a validator that states no length, only the grammar can be known.
    let validator = Faulty {
        validate: |bytes| {
            Some(match faulty::verdict(bytes) {
                Validity::Valid => Validity::Valid,
                Validity::Invalid(_) => Validity::Invalid(Malformed { valid_up_to: None, len: None, kind: None }),
            })
        },
        lossy: |_| None,
        ..Faulty::default()
    };
    let found = probe(&validator).unwrap();
    assert_eq!(found.open, [Field::Segmentation, Field::Replacement, Field::Bom, Field::End]);
    assert!(found.witness(Field::Grammar).is_some());
}

#[test]
fn contracts_are_told_in_words_and_in_rust() {
    assert_eq!(in_words(&Contract::STANDARD), "as Rust's core::str");
    let stripping = Contract { bom: Bom::Strip, segmentation: Segmentation::Run, ..Contract::STANDARD };
    assert_eq!(in_words(&stripping), "as the WHATWG decoder, but with one error for each run of ill-formed bytes");
    let erring = Contract { end: End::Error, ..Contract::STANDARD };
    let end = "as Rust's core::str, but with an incomplete sequence at the end as an error like any other";
    assert_eq!(in_words(&erring), end);
    let rejecting = in_words(&Contract { replacement: None, ..erring });
    assert!(rejecting.starts_with("as Rust's core::str, but ") && rejecting.ends_with(&end[25..]), "{rejecting}");
    let by_byte = Contract { segmentation: Segmentation::Byte, ..Contract::STANDARD };
    assert_eq!([in_words(&by_byte), in_words(&Contract { end: End::Error, ..by_byte })], ["as Go's range loop"; 2]);
    assert_eq!(rust(&Contract::STANDARD), "Contract::STANDARD");
    let other = Contract { segmentation: Segmentation::Byte, replacement: None, end: End::Error, ..Contract::STANDARD };
    assert_eq!(
        rust(&other),
        "Contract { segmentation: Segmentation::Byte, replacement: None, end: End::Error, ..Contract::STANDARD }"
    );
}

/// The first class string, by length and then in the order of the block, to which two contracts answer differently.
fn first_difference(one: &Contract, other: &Contract, differ: impl Fn(&Answer, &Answer) -> bool) -> Option<Vec<u8>> {
    (0..=3).flat_map(strings).find(|bytes| differ(&answer(one, bytes), &answer(other, bytes)))
}

#[test]
fn differences_are_the_first_of_each_kind() {
    let contracts: Vec<Contract> = all().into_iter().step_by(97).collect();
    let mut found = 0;
    for (one, other) in contracts.iter().zip(contracts.iter().skip(1)) {
        let differences = differences(&Honest::new(*one), &Honest::new(*other), 3).differences;
        found += differences.len();
        let verdict = |one: &Answer, other: &Answer| {
            one.verdict.map(|verdict| verdict.is_valid()) != other.verdict.map(|verdict| verdict.is_valid())
        };
        let output =
            |one: &Answer, other: &Answer| one.output.is_some() && other.output.is_some() && one.output != other.output;
        let bytes = |kind| differences.iter().find(|found| found.kind == kind).map(|found| found.bytes.clone());
        assert_eq!(bytes(Kind::Verdict), first_difference(one, other, verdict), "{one} and {other}");
        assert_eq!(bytes(Kind::Output), first_difference(one, other, output), "{one} and {other}");
    }
    assert!(found > 20, "{found}");
    let same = differences(&Honest::new(contracts[0]), &Honest::new(contracts[0]), 3);
    assert!(same.differences.is_empty());
    assert_eq!(same.comparable, (0..=3).flat_map(strings).count(), "each string was compared");
}

#[test]
fn a_failure_is_a_difference_and_nothing_in_common_is_not_agreement() {
    let failing = Faulty {
        validate: |bytes| match bytes {
            [0xF5..=0xFF] => panic!("as intended"),
            _ => Some(faulty::verdict(bytes)),
        },
        ..Faulty::default()
    };
    let found = differences(&failing, &Honest::new(Contract::STANDARD), 2).differences;
    let failures: Vec<_> = found.iter().map(|found| (found.kind, found.bytes.as_slice())).collect();
    assert!(matches!(failures[..], [(Kind::Failure, [0xF5..=0xFF])]), "{failures:02X?}");
    let judging = Faulty { lossy: |_| None, ..Faulty::default() };
    let writing = Faulty { validate: |_| None, ..Faulty::default() };
    let nothing = differences(&judging, &writing, 2);
    assert!(nothing.differences.is_empty() && nothing.comparable == 0, "{nothing:?}");
}

#[test]
fn a_machine_that_is_still_wrong_says_so() {
    // Each of these rejected strings is told from the others by a suffix of its own, and each round adds those of one.
    fn is_rejected(bytes: &[u8]) -> bool {
        let at = |index: usize| ByteClass::of(bytes[index]).index();
        bytes.len() == 4 && at(0) < 10 && (1..4).all(|index| at(index) == (at(0) + index * 3) % ByteClass::COUNT)
    }
    let decoder = Faulty {
        validate: |bytes| {
            let malformed = Malformed { valid_up_to: None, len: None, kind: None };
            Some(if is_rejected(bytes) { Validity::Invalid(malformed) } else { Validity::Valid })
        },
        ..Faulty::default()
    };
    let machine = Machine::of(&decoder, 4).unwrap();
    let wrong = strings(4).find(|bytes| machine.accepts(bytes) == Some(is_rejected(bytes)));
    assert!(wrong.is_some(), "eight rounds were enough; the test needs more rejected strings");
    assert_eq!(machine.wrong, wrong);
}

/// In what two answers differ, told without the laws.
fn told_apart(one: &Answer, other: &Answer) -> Vec<Kind> {
    let mut kinds = Vec::new();
    let differ = |one: Option<usize>, other: Option<usize>| one.zip(other).is_some_and(|(one, other)| one != other);
    match (one.verdict, other.verdict) {
        (Some(Validity::Invalid(one)), Some(Validity::Invalid(other))) => {
            let length =
                |malformed: Malformed| malformed.len.map(|len| if let ErrorLen::Bytes(len) = len { len } else { 0 });
            if differ(one.valid_up_to, other.valid_up_to) {
                kinds.push(Kind::Offset);
            } else if differ(length(one), length(other)) {
                kinds.push(Kind::Length);
            }
        }
        (Some(one), Some(other)) if one.is_valid() != other.is_valid() => kinds.push(Kind::Verdict),
        _ => {}
    }
    if one.output.as_ref().zip(other.output.as_ref()).is_some_and(|(one, other)| one != other) {
        kinds.push(Kind::Output);
    }
    kinds
}

/// Compares `differences` of every pair of decoders here with all class strings up to this length.
fn every_pair_is_told_apart_by_a_shortest_string(longest: u32) {
    let decoders = peers::all();
    let decoders: Vec<_> = decoders.iter().filter(|decoder| !decoder.info().name.starts_with("planted-")).collect();
    let strings: Vec<Vec<u8>> = (0..=longest).flat_map(strings).collect();
    let inputs: Vec<&[u8]> = strings.iter().map(Vec::as_slice).collect();
    let answers: Vec<Vec<Answer>> = decoders.iter().map(|decoder| ask(&***decoder, &inputs)).collect();
    let (mut pairs, mut differ) = (0, 0);
    for one in 0..decoders.len() {
        for other in 0..one {
            let mut shortest: BTreeMap<Kind, &[u8]> = BTreeMap::new();
            for (index, bytes) in inputs.iter().enumerate() {
                for kind in told_apart(&answers[one][index], &answers[other][index]) {
                    shortest.entry(kind).or_insert(bytes);
                }
            }
            let found = differences(&**decoders[one], &**decoders[other], longest).differences;
            let found: BTreeMap<Kind, &[u8]> = found.iter().map(|found| (found.kind, &*found.bytes)).collect();
            assert_eq!(found, shortest, "{} and {}", decoders[one].info().name, decoders[other].info().name);
            (pairs, differ) = (pairs + 1, differ + usize::from(!found.is_empty()));
        }
    }
    println!("{pairs} pairs, {differ} of them differ");
    assert!(pairs >= 300 && differ >= 100, "{pairs} pairs, {differ} differ");
}

#[test]
fn every_pair_of_decoders_here_is_told_apart_by_a_shortest_string() {
    every_pair_is_told_apart_by_a_shortest_string(3);
}

#[test]
#[ignore = "takes minutes; .ci/run exhaustive"]
fn every_pair_is_told_apart_by_a_shortest_string_of_up_to_five_bytes() {
    every_pair_is_told_apart_by_a_shortest_string(5);
}

/// What the departures of a decoder from its contract have in common.
fn rule(decoder: &dyn Decoder) -> Option<String> {
    let confirmed = confirm(decoder);
    assert!(!confirmed.departures.is_empty() && confirmed.cases > 10_000);
    confirmed.rule(&decoder.info().contract)
}

#[test]
fn what_departures_have_in_common_is_told() {
    // It loses a truncated sequence at the end.
    let dropping = Faulty {
        validate: |_| None,
        lossy: |bytes| {
            let end = match std::str::from_utf8(bytes) {
                Err(error) if error.error_len().is_none() => error.valid_up_to(),
                _ => bytes.len(),
            };
            Some(faulty::lossy(&bytes[..end]))
        },
        ..Faulty::default()
    };
    assert_eq!(rule(&dropping).as_deref(), Some("only at the end of the input"));
}

#[test]
#[ignore = "takes a minute; .ci/run exhaustive"]
fn each_thing_that_departures_can_have_in_common_is_told() {
    // It accepts surrogates, in inputs of one sequence.
    let lax = Faulty {
        validate: |bytes| {
            Some(match bytes {
                [0xED, 0xA0..=0xBF, 0x80..=0xBF] => Validity::Valid,
                _ => faulty::verdict(bytes),
            })
        },
        ..Faulty::default()
    };
    assert_eq!(rule(&lax).as_deref(), Some("only for surrogates"));
    let long = Faulty {
        validate: |bytes| {
            Some(if bytes.len() > 40 && bytes[..32].is_ascii() { Validity::Valid } else { faulty::verdict(bytes) })
        },
        ..Faulty::default()
    };
    let verdict = confirm(&long).departures.into_iter().find(|departure| departure.law.name() == "verdict");
    let verdict = verdict.unwrap();
    assert!(matches!(verdict.place, Place::After(32..)) && verdict.bytes.len() == 41, "{verdict:?}");
    let anything = Faulty { validate: |_| Some(Validity::Valid), ..Faulty::default() };
    assert_eq!(rule(&anything).as_deref(), Some("in that it takes every input for well-formed"));
    let but_one = Faulty {
        validate: |bytes| Some(if bytes == b"a\xFF" { faulty::verdict(bytes) } else { Validity::Valid }),
        ..Faulty::default()
    };
    assert!(!confirm(&but_one).accepts_all);
    let long = Faulty {
        validate: |bytes| {
            Some(match faulty::verdict(bytes) {
                Validity::Invalid(malformed) => {
                    Validity::Invalid(Malformed { len: Some(ErrorLen::Bytes(9)), ..malformed })
                }
                Validity::Valid => Validity::Valid,
            })
        },
        ..Faulty::default()
    };
    assert_eq!(rule(&long).as_deref(), Some("only in the lengths of the errors"));
    assert!(confirm(&Honest::new(Contract::STANDARD)).departures.is_empty());
    let escaping = Faulty {
        validate: |_| None,
        lossy: |bytes| {
            let bad = |chunk: &std::str::Utf8Chunk<'_>| if chunk.invalid().is_empty() { "" } else { "<bad>" };
            Some(bytes.utf8_chunks().flat_map(|chunk| [chunk.valid(), bad(&chunk)]).collect::<String>().into_bytes())
        },
        ..Faulty::default()
    };
    let found = confirm(&escaping);
    assert_eq!(found.rule(&Contract::STANDARD).as_deref(), Some("only in what it writes for ill-formed bytes"));
}

#[test]
fn a_replacement_that_no_contract_has_is_named() {
    fn writing(bytes: &[u8], write: impl Fn(&[u8]) -> String) -> Option<Vec<u8>> {
        let chunks = bytes.utf8_chunks().flat_map(|chunk| {
            let bad = if chunk.invalid().is_empty() { String::new() } else { write(chunk.invalid()) };
            [chunk.valid().to_owned(), bad]
        });
        Some(chunks.collect::<String>().into_bytes())
    }
    let named = |lossy: fn(&[u8]) -> Option<Vec<u8>>| {
        let decoder = Faulty { validate: |_| None, lossy, ..Faulty::default() };
        assert!(!probe(&decoder).unwrap().is_exact());
        let rewritten = Rewritten::of(&decoder)?;
        let found = probe(&rewritten).unwrap();
        assert!(found.is_exact() && confirm(&Held::to(found.contract, &rewritten, true)).departures.is_empty());
        Some((found.contract.to_string(), rewritten.says()))
    };
    let (contract, written) = named(|bytes| writing(bytes, |_| "?".to_owned())).unwrap();
    assert_eq!(contract, Contract { ..Contract::STANDARD }.to_string());
    assert_eq!(written, "\"?\" instead of U+FFFD");
    let hex = |bytes: &[u8]| writing(bytes, |bad| bad.iter().map(|byte| format!("%{byte:02X}")).collect());
    let (contract, written) = named(hex).unwrap();
    assert_eq!(contract.split(' ').nth(2), Some("surrogateescape"));
    assert_eq!(written, "\"%8F\" instead of U+DC8F for the byte 8F, and so on");
    // The same for some bytes only.
    assert!(named(|bytes| writing(bytes, |bad| format!("<{}>", bad[0] & 0x0F))).is_none());
}

#[test]
fn the_machine_of_the_verdicts_is_the_one_of_the_standard() {
    let of = |contract| Machine::of(&Honest::new(contract), 4).unwrap();
    let edges = |machine: &Machine, after: &[u8]| {
        let state = machine.states.iter().find(|state| state.after == after).unwrap();
        let shown = |(next, ranges): (usize, Vec<_>)| format!("{}: {}", shown_ranges(&ranges), machine.name(next));
        Machine::edges(state).into_iter().map(shown).collect::<Vec<_>>()
    };
    let machine = of(Contract::STANDARD);
    // The rows of table 3-7 of the Unicode standard, as states: the start, C2, E0, E1, ED, F0, F1, F4, and no way back.
    assert_eq!((machine.states.len(), &machine.wrong), (9, &None));
    assert!(machine.cases > 30_000);
    assert_eq!(edges(&machine, b"\xE0"), ["00-9F C0-FF: ill-formed", "A0-BF: after C2"]);
    assert_eq!(edges(&machine, b"\xED"), ["00-7F A0-FF: ill-formed", "80-9F: after C2"]);
    assert_eq!(edges(&machine, b"\xF4"), ["00-7F 90-FF: ill-formed", "80-8F: after E1"]);
    assert!(machine.dot("std").contains("0 -> 0 [label=\"00-7F\"];"));
    for grammar in utfuzz::spec::grammar::ALL {
        let contract = Contract { grammar, ..Contract::STANDARD };
        let machine = of(contract);
        assert_eq!(machine.wrong, None, "{contract}: {machine}");
        let mut bytes = Vec::new();
        // Strings that it was not found from.
        for index in (0..).step_by(977).take(5000) {
            Block { len: 6, offset: 0 }.write(index, &mut bytes);
            let valid = utfuzz::spec::validity(&contract, &bytes).is_valid();
            assert_eq!(machine.accepts(&bytes), Some(valid), "{contract}: {bytes:02X?}");
        }
    }
    // A suffix that only the comparison brings is learned; what depends on the length is no machine.
    const ODD: &[u8] = b"\0\x7F\0\x7F";
    let odd = Faulty {
        validate: |bytes| {
            Some(faulty::verdict(if bytes.len() == ODD.len() && bytes.is_ascii() { b"\xFF" } else { bytes }))
        },
        ..Faulty::default()
    };
    let machine = Machine::of(&odd, 4).unwrap();
    let accepts = [b"", b"a".as_slice()].map(|before| machine.accepts(&[before, ODD].concat()));
    assert_eq!((accepts, &machine.wrong), ([Some(false), Some(true)], &None), "{machine}");
    let even = Faulty {
        validate: |bytes| Some(if bytes.len() % 100 < 99 { Validity::Valid } else { faulty::verdict(b"\xFF") }),
        ..Faulty::default()
    };
    assert_eq!(Machine::of(&even, 2).unwrap().states.len(), 1);
}
