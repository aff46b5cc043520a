//! A divergence: a broken law with its signature, its evidence, and a test that shows it.

use super::annotate::annotate;
use super::grid::Grid;
use super::laws::{Broken, Law};
use super::{Slot, shape};
use crate::decoder::Decoder;
use crate::input::{Case, Cuts};
use crate::spec::{Contract, Reading, Rule, Unit, units};
use crate::utf8::Kind;
use core::fmt;

/// What stands at the place where answers part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Subject {
    /// An ill-formed unit.
    Fault(Kind),
    /// A well-formed sequence of so many bytes.
    WellFormed(usize),
    /// The end of the input.
    End,
    /// The decoder does not say where.
    Unplaced,
}

impl Subject {
    /// What `spec` reads at this offset.
    pub(super) fn at(contract: &Contract, bytes: &[u8], offset: Option<usize>) -> Self {
        let Some(offset) = offset else { return Self::Unplaced };
        let unit = units(contract, bytes).find(|unit| unit.range().contains(&offset));
        unit.map_or(Self::End, |unit| match unit.reading {
            Reading::WellFormed(_) => Self::WellFormed(unit.len),
            Reading::IllFormed { kind, .. } => Self::Fault(kind),
        })
    }

    /// Every name there is.
    pub fn names() -> Vec<&'static str> {
        let kinds = Kind::ALL.into_iter().map(Self::Fault);
        let widths = (1..=6).map(Self::WellFormed);
        kinds.chain(widths).chain([Self::End, Self::Unplaced]).map(Self::name).collect()
    }

    /// The name used in signatures and the ledger: a kind, `valid-1` to `valid-6`, `end` or `unplaced`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fault(kind) => kind.name(),
            Self::WellFormed(1) => "valid-1",
            Self::WellFormed(2) => "valid-2",
            Self::WellFormed(3) => "valid-3",
            Self::WellFormed(4) => "valid-4",
            Self::WellFormed(5) => "valid-5",
            Self::WellFormed(_) => "valid-6",
            Self::End => "end",
            Self::Unplaced => "unplaced",
        }
    }
}

impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether a divergence depends on where its subject stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shape {
    /// At every offset, with text behind it.
    Anywhere,
    /// Only at certain offsets, which repeat every 16, 32 or 64 bytes.
    Edge(u8),
    /// Only at certain offsets, which do not repeat so.
    Offset,
    /// Only at the end of the input.
    Tail,
    /// Only where chunks are cut.
    Cut,
    /// Only together with more of what surrounds it.
    Context,
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anywhere => f.write_str("anywhere"),
            Self::Edge(period) => write!(f, "edge{period}"),
            Self::Offset => f.write_str("offset"),
            Self::Tail => f.write_str("tail"),
            Self::Cut => f.write_str("cut"),
            Self::Context => f.write_str("context"),
        }
    }
}

/// What a divergence is, the same on every machine and run: `law/decoder/subject/shape`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Signature {
    /// The strongest law that shows it.
    pub law: Law,
    /// The decoder's name.
    pub decoder: &'static str,
    /// What it goes wrong on.
    pub subject: Subject,
    /// Where it does.
    pub shape: Shape,
}

impl fmt::Display for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}/{}/{}", self.law, self.decoder, self.subject, self.shape)
    }
}

impl Signature {
    /// The signature with its digits spelled, for crash states in which digits are normalised away.
    pub fn spelled(&self) -> String {
        const DIGITS: [&str; 10] = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];
        let spell = |c: char| match c.to_digit(10) {
            Some(digit) => DIGITS[digit as usize].to_owned(),
            None => c.to_string(),
        };
        self.to_string().chars().map(spell).collect()
    }
}

/// A broken law, explained.
#[derive(Clone, Debug)]
pub struct Divergence {
    /// What it is.
    pub signature: Signature,
    /// The decoder's version.
    pub version: &'static str,
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
    /// Whether the decoder is one of [`peers::all`](crate::peers::all).
    pub is_peer: bool,
}

impl Divergence {
    pub(super) fn signature(decoder: &dyn Decoder, case: &Case<'_>, broken: &Broken) -> Signature {
        shape::examine(decoder, case, broken).signature(decoder)
    }

    pub(super) fn new(slots: &[Slot<'_>], case: &Case<'_>, broken: &Broken) -> Self {
        let decoder = slots[broken.decoder].decoder;
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
            version: info.version,
            contract: info.contract,
            rule,
            bytes: case.bytes.to_vec(),
            cuts: case.cuts().offsets().to_vec(),
            step: case.cuts().step(),
            placement: case.placement(),
            grid: Grid::of(slots.iter().filter(|slot| slot.on).map(|slot| slot.decoder), case),
            is_peer: crate::peers::all().iter().any(|peer| peer.info().name == info.name),
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
            _ => format!("with_cuts(bytes, utfuzz::input::Cuts::{cuts})"),
        };
        let decoder = match self.is_peer {
            true => format!(
                "let peers = utfuzz::peers::all();\n    \
                 let decoder = &**peers.iter().find(|peer| peer.info().name == {:?}).unwrap();",
                self.signature.decoder
            ),
            false => format!("let decoder = &/* your decoder {:?} */;", self.signature.decoder),
        };
        format!(
            "#[test]\nfn {name}() {{\n    {decoder}\n    let bytes = b\"{bytes}\";\n    \
             let case = utfuzz::input::Case::{case};\n    \
             let divergence = utfuzz::judge::first_divergence(decoder, &case);\n    \
             assert!(divergence.is_none(), \"{{}}\", divergence.unwrap());\n}}\n",
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
