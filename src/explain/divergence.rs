//! A divergence: a broken law with its signature, its evidence, and a test that shows it.

use crate::case::{Case, Cuts};
use crate::decoder::Decoder;
use crate::explain::annotate::annotate;
use crate::explain::grid::Grid;
use crate::explain::shape;
use crate::explain::signature::Signature;
use crate::judge::laws::{Broken, Law};
use crate::judge::{Judge, Subject};
use crate::spec::{Contract, Reading, Rule, Unit, units};
use core::fmt;
use std::borrow::Cow;

/// A broken law, explained.
#[derive(Clone, Debug)]
pub struct Divergence {
    /// What it is.
    pub signature: Signature,
    /// The decoder's version.
    pub version: Cow<'static, str>,
    /// The decoder's contract.
    pub contract: Contract,
    /// The clause that decides, where the subject is ill-formed.
    pub rule: Option<Rule>,
    /// The input.
    pub bytes: Vec<u8>,
    /// Where it was cut; the first places, where it was cut at even distances.
    pub cuts: Vec<usize>,
    /// At which alignment the effect of another address was examined, and whether its neighbours would spoil the verdict.
    pub placement: (usize, bool),
    /// The distance, where it was cut at even ones.
    pub step: Option<usize>,
    /// Who says what.
    pub grid: Grid,
}

/// The signature of a broken law: what [`explain`] says first, without the rest.
pub fn signature(decoder: &dyn Decoder, case: &Case<'_>, broken: &Broken) -> Signature {
    shape::examine(decoder, case, broken).signature(decoder)
}

/// All there is to say of a law that `judge` found broken, its signature first. This takes a thousand judgements or so.
pub fn explain(judge: &Judge<'_>, case: &Case<'_>, broken: &Broken) -> Divergence {
    Divergence::new(judge, case, broken)
}

impl Divergence {
    fn new(judge: &Judge<'_>, case: &Case<'_>, broken: &Broken) -> Self {
        let decoder = judge.decoder(broken.decoder);
        let info = decoder.info();
        let seen = shape::examine(decoder, case, broken);
        // The evidence must show what the signature names.
        let moved = seen.witness.as_deref().map(|bytes| Case::with_cuts(bytes, Cuts::NONE));
        let case = moved.as_ref().unwrap_or(case);
        let ill_formed = |unit: &Unit| matches!(unit.reading, Reading::IllFormed { kind, .. } if seen.subject == Subject::Fault(kind));
        let first = units(&info.contract, case.bytes).find(ill_formed);
        let rule = first.and_then(|unit| match seen.subject {
            Subject::Fault(kind) => Some(Rule::broken(info.contract.grammar, kind, &case.bytes[unit.start..])),
            _ => None,
        });
        Self {
            signature: seen.signature(decoder),
            version: info.version.clone(),
            contract: info.contract,
            rule,
            bytes: case.bytes.to_vec(),
            cuts: case.cuts().offsets().to_vec(),
            step: case.cuts().step(),
            placement: case.placement(),
            grid: Grid::of(judge.active(), case),
        }
    }

    /// A test that fails while the decoder diverges, to be pasted into a test file.
    pub fn test(&self) -> String {
        let name: String =
            self.signature.to_string().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let bytes = self.bytes.escape_ascii();
        let cuts = match self.step {
            Some(step) => format!("every({step}, bytes.len())"),
            None => format!("new({:?}, bytes.len())", self.cuts),
        };
        let (alignment, poisoned) = self.placement;
        let case = match self.signature.law {
            Law::Placement => format!("placed(bytes, {alignment}, {poisoned})"),
            _ => format!("with_cuts(bytes, utfuzz::case::Cuts::{cuts})"),
        };
        format!(
            "#[test]\nfn {name}() {{\n    \
             // Construct the decoder here if it is not one of the peers.\n    \
             let peers = utfuzz::peers::all();\n    \
             let decoder = &**peers.iter().find(|peer| peer.info().name == {:?}).unwrap();\n    \
             let bytes = b\"{bytes}\";\n    \
             let case = utfuzz::case::Case::{case};\n    \
             let divergence = utfuzz::explain::first_divergence(decoder, &case);\n    \
             assert!(divergence.is_none(), \"{{}}\", divergence.unwrap());\n}}\n",
            self.signature.decoder
        )
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "divergence: {}", self.signature)?;
        writeln!(f, "decoder {} {}, contract: {}", self.signature.decoder, self.version, self.contract)?;
        if let Some(rule) = &self.rule {
            writeln!(f, "rule: {} [{}]", rule.says, rule.source)?;
        }
        writeln!(f, "\n{}", self.grid)?;
        writeln!(f, "input, {} bytes, cut at {:?}:", self.bytes.len(), self.cuts)?;
        writeln!(f, "{}", annotate(&self.contract, &self.bytes))?;
        write!(f, "{}", self.test())
    }
}
