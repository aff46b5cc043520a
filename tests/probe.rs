//! `probe` names what decoders do: those built from `spec`, our own and our peers, and the planted ones.
#![cfg(feature = "fuzz")]

mod faulty;

use faulty::{Faulty, Honest};
use utfuzz::decoder::Decoder;
use utfuzz::generate::classes::Block;
use utfuzz::probe::{Answer, Field, Kind, Offsets, Probe, Unit, all, answer, differences, in_words, probe, rust};
use utfuzz::spec::{Bom, Contract, End, Segmentation};
use utfuzz::utf8::{Malformed, Validity};
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

#[test]
fn five_hundred_contracts_are_named_by_at_most_eight_questions_each() {
    let (mut asked, mut most) = (0, 0);
    // Every third contract: five hundred of all grammars, segmentations and replacements.
    let contracts: Vec<Contract> = all().into_iter().step_by(3).collect();
    assert!(contracts.len() > 500);
    for contract in &contracts {
        let found = probe(&Honest::new(*contract)).unwrap();
        assert!(found.is_exact, "{contract}");
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

/// What the probe leaves open must be equal in the contract that the decoder claims.
fn keeps_its_claim(decoder: &dyn Decoder, found: &Probe) -> bool {
    let Contract { grammar, segmentation, replacement, bom, end, .. } = decoder.info().contract;
    let is = |field: Field, same: bool| same || found.open.contains(&field);
    found.is_exact
        && is(Field::Grammar, grammar.name == found.contract.grammar.name)
        && is(Field::Segmentation, segmentation == found.contract.segmentation)
        && is(Field::Replacement, replacement == found.contract.replacement)
        && is(Field::Bom, bom == found.contract.bom)
        && is(Field::End, end == found.contract.end)
}

#[test]
fn the_contract_of_every_honest_decoder_here_is_named() {
    let known = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/corpus/known.toml")).unwrap();
    let mut named = 0;
    for decoder in peers::all().iter().filter(|decoder| !decoder.info().name.starts_with("planted-")) {
        let info = decoder.info();
        let found = probe(&**decoder).unwrap_or_else(|| panic!("{} answers nothing", info.name));
        assert!(found.asked.len() <= 12, "{}: {} questions", info.name, found.asked.len());
        let is_named = keeps_its_claim(&**decoder, &found);
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
    assert!(found.is_exact && found.able.verdict && !found.able.length && !found.able.output);
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
    assert!(!found.is_exact);
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
        let differences = differences(&Honest::new(*one), &Honest::new(*other), 3);
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
    assert!(differences(&Honest::new(contracts[0]), &Honest::new(contracts[0]), 3).is_empty());
}
