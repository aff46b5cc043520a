//! A contract in words, and as Rust.

use crate::spec::grammar::RFC3629;
use crate::spec::{Bom, Contract, Detection, End, Replacement, Segmentation};

/// What well-known decoders do.
const PROFILES: [(&str, Contract); 4] = [
    ("Rust's core::str", Contract::STANDARD),
    ("the WHATWG decoder", Contract { bom: Bom::Strip, detection: Detection::Earliest, ..Contract::STANDARD }),
    ("Go's range loop", Contract { segmentation: Segmentation::Byte, end: End::Error, ..Contract::STANDARD }),
    (
        "Python's surrogateescape",
        Contract { replacement: Some(Replacement::SurrogateEscape), end: End::Error, ..Contract::STANDARD },
    ),
];

/// The contract in a sentence: as a well-known decoder, except for what it does differently.
pub fn in_words(contract: &Contract) -> String {
    let differences = |profile: &Contract| -> Vec<String> {
        let mut all = Vec::new();
        if profile.grammar != contract.grammar {
            all.push(format!("by the grammar of {}", contract.grammar.name));
        }
        if profile.segmentation != contract.segmentation && contract.replacement.is_some() {
            all.push(cut(contract.segmentation).to_owned());
        }
        if profile.replacement != contract.replacement {
            all.push(written(contract.replacement).to_owned());
        }
        if profile.bom != contract.bom {
            all.push(bom(contract.bom).to_owned());
        }
        all
    };
    let nearest = PROFILES.iter().map(|(who, profile)| (differences(profile), who)).min_by_key(|(all, _)| all.len());
    match nearest {
        Some((all, who)) if all.is_empty() => format!("as {who}"),
        Some((all, who)) => format!("as {who}, but {}", all.join(", ")),
        None => String::new(),
    }
}

fn cut(segmentation: Segmentation) -> &'static str {
    match segmentation {
        Segmentation::MaximalSubpart => "with one error for each maximal subpart",
        Segmentation::MaximalSubpartSurrogate => "with one error for each maximal subpart or surrogate",
        Segmentation::Byte => "with one error for each byte",
        Segmentation::Run => "with one error for each run of ill-formed bytes",
        Segmentation::LeadAnnounced => "with errors as long as the lead byte announces",
        Segmentation::SwallowNonLead => "with errors as long as the lead byte announces, up to the next lead byte",
    }
}

fn written(replacement: Option<Replacement>) -> &'static str {
    match replacement {
        Some(Replacement::ReplacementCharacter) => "with U+FFFD for each error",
        Some(Replacement::Drop) => "with nothing in place of errors",
        Some(Replacement::SurrogateEscape) => "with U+DC80..U+DCFF for ill-formed bytes",
        Some(Replacement::Latin1) => "with ill-formed bytes as Latin-1",
        Some(Replacement::Windows1252) => "with ill-formed bytes as Windows-1252",
        Some(Replacement::Windows1252Strict) => "with ill-formed bytes as Windows-1252, U+FFFD where it is undefined",
        None => "rejecting ill-formed input",
    }
}

fn bom(bom: Bom) -> &'static str {
    match bom {
        Bom::Keep => "keeping a byte order mark",
        Bom::Strip => "stripping a byte order mark",
    }
}

/// The contract as a Rust expression.
pub fn rust(contract: &Contract) -> String {
    let standard = Contract::STANDARD;
    let mut fields = Vec::new();
    if *contract.grammar != RFC3629 {
        fields.push(format!("grammar: Grammar::named({:?}).unwrap()", contract.grammar.name));
    }
    if contract.segmentation != standard.segmentation {
        fields.push(format!("segmentation: Segmentation::{:?}", contract.segmentation));
    }
    match contract.replacement {
        None => fields.push("replacement: None".to_owned()),
        Some(Replacement::ReplacementCharacter) => {}
        Some(replacement) => fields.push(format!("replacement: Some(Replacement::{replacement:?})")),
    }
    if contract.bom != standard.bom {
        fields.push(format!("bom: Bom::{:?}", contract.bom));
    }
    if contract.end != standard.end {
        fields.push(format!("end: End::{:?}", contract.end));
    }
    if contract.detection != standard.detection {
        fields.push(format!("detection: Detection::{:?}", contract.detection));
    }
    match fields.is_empty() {
        true => "Contract::STANDARD".to_owned(),
        false => format!("Contract {{ {}, ..Contract::STANDARD }}", fields.join(", ")),
    }
}
