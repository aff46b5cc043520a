//! The reason: the cause of a broken law, and how it is shown.
//!
//! [`explain`] finds the part of the input that a decoder gets wrong and gives the divergence its signature.

mod agreement;
mod annotate;
mod grid;
mod guess;
mod locate;
mod scan;
mod signature;

pub use agreement::Agreement;
pub use annotate::{annotate, annotate_from, bits, escape, notation};
pub use grid::{Breach, Family, Grid, Group, Question};
pub use guess::Guess;
pub use scan::Window;
pub use signature::{Shape, Signature};

use crate::case::choices::Choices;
use crate::case::{Case, Cuts};
use crate::decoder::{Decoder, Info};
use crate::judge::isolate::panics;
use crate::judge::{Broken, Judge, Law, Subject};
use crate::spec::{Contract, Reading, Rule, Segment, segments};
use crate::text::counted;
use core::fmt;
use std::borrow::Cow;

/// A broken law, explained. Its `Display` is the whole explanation, with a test that reproduces it.
#[derive(Clone, Debug)]
pub struct Divergence {
    /// What it is.
    pub signature: Signature,
    /// The decoder's version.
    pub version: Cow<'static, str>,
    /// The decoder's contract.
    pub contract: Contract,
    /// The contract, and which part of it is promised, in words.
    pub claim: String,
    /// The clause that decides, if the subject is ill-formed.
    pub rule: Option<Rule>,
    /// The input.
    pub bytes: Vec<u8>,
    /// Where it was cut, if that matters; only the first offsets, if it was cut at regular distances.
    pub cuts: Vec<usize>,
    /// The distance in bytes, if it was cut at regular distances.
    pub step: Option<usize>,
    /// What each decoder answered. A star marks the answers of the contract, which replaces by U+FFFD if the decoder itself
    /// has no output.
    pub grid: Grid,
    test: String,
    choices: Choices,
    chunks: Cuts,
}

/// The signature of a broken law, without the rest of the explanation.
pub fn signature(decoder: &dyn Decoder, case: &Case<'_>, broken: &Broken) -> Signature {
    locate::examine(decoder, case, broken).signature(decoder)
}

/// Explains a law that `judge` found broken. This takes about a thousand judgements.
pub fn explain(judge: &Judge<'_>, case: &Case<'_>, broken: &Broken) -> Divergence {
    let mut divergence = explain_alone(judge.decoder(broken.decoder), case, broken);
    divergence.ask(judge.active());
    divergence
}

/// Explains a broken law without asking other decoders: the grid has no answers.
pub(crate) fn explain_alone(decoder: &dyn Decoder, case: &Case<'_>, broken: &Broken) -> Divergence {
    let info = decoder.info();
    let located = locate::examine(decoder, case, broken);
    // The witness must show what the signature says.
    let moved = located.witness.as_deref().map(|bytes| Case::with_cuts(bytes, Cuts::NONE));
    let case = moved.as_ref().unwrap_or(case);
    let mut streams = false;
    panics(&info.name, case.bytes, || streams = decoder.stream().is_some());
    let cuts = (streams && broken.law.may_depend_on_cuts()).then(|| *case.cuts());
    let is_subject = |segment: &Segment| matches!(segment.reading, Reading::IllFormed { kind, .. } if located.subject == Subject::Fault(kind));
    let first = segments(&info.contract, case.bytes).find(is_subject);
    let rule = first.and_then(|segment| match located.subject {
        Subject::Fault(kind) => Some(Rule::broken(info.contract.grammar, kind, &case.bytes[segment.start..])),
        _ => None,
    });
    let signature = located.signature(decoder);
    let replacement = info.contract.replacement.or(Contract::STANDARD.replacement);
    let of_grid = Contract { replacement, ..info.contract };
    Divergence {
        version: info.version.clone(),
        contract: info.contract,
        claim: info.claim(),
        rule,
        bytes: case.bytes.to_vec(),
        cuts: cuts.map_or_else(Vec::new, |cuts| cuts.offsets().to_vec()),
        step: cuts.and_then(|cuts| cuts.step()),
        grid: Grid { contract: of_grid, questions: Vec::new() },
        test: printed_test(&signature, info, case, cuts),
        signature,
        choices: case.choices,
        chunks: *case.cuts(),
    }
}

/// The first law a single decoder breaks on a case, explained; `None` if it breaks none.
///
/// This is what a regression test calls:
///
/// ```
/// use utfuzz::case::Case;
/// use utfuzz::explain::first_divergence;
/// use utfuzz::peers;
///
/// let peers = peers::all();
/// let own = peers.iter().find(|peer| peer.info().name == "own").unwrap();
/// // The overlong form of U+002F.
/// let divergence = first_divergence(&**own, &Case::new(b"\xC0\xAF"));
/// assert!(divergence.is_none(), "{}", divergence.unwrap());
/// ```
pub fn first_divergence(decoder: &dyn Decoder, case: &Case<'_>) -> Option<Divergence> {
    let mut judge = Judge::new([decoder]);
    let broken = judge.judge(case).first().copied()?;
    Some(explain(&judge, case, &broken))
}

impl Divergence {
    /// The length in bytes above which other decoders are not asked: what they answer says little about such an input, and
    /// is not read.
    pub const LONG: usize = 1 << 14;

    /// Fills the grid with the answers of these decoders; if the input is long, with those of the one that diverges.
    pub(crate) fn ask<'d>(&mut self, decoders: impl IntoIterator<Item = &'d dyn Decoder>) {
        let case = Case::of(&self.bytes, self.choices, self.chunks);
        let is_long = self.bytes.len() > Self::LONG;
        let decoders = decoders.into_iter().filter(|of| !is_long || of.info().name == self.signature.decoder);
        self.grid = Grid::of(&self.grid.contract, decoders, &case);
    }

    /// A test that fails while the decoder diverges, to be pasted into a test file.
    pub fn test(&self) -> &str {
        &self.test
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "divergence: {}", self.signature)?;
        writeln!(f, "decoder {} {}, contract: {}", self.signature.decoder, self.version, self.claim)?;
        writeln!(f, "law: {}", self.signature.law.sentence())?;
        if let Some(rule) = &self.rule {
            writeln!(f, "rule: {} [{}]", rule.says, rule.source)?;
        }
        writeln!(f, "\n{}", self.grid)?;
        write!(f, "input, {}", counted(self.bytes.len(), "byte"))?;
        match (self.step, &self.cuts[..]) {
            (Some(step), _) => writeln!(f, ", cut after every {}:", counted(step, "byte"))?,
            (None, []) => writeln!(f, ":")?,
            (None, cuts) => writeln!(f, ", cut at {cuts:?}:")?,
        }
        writeln!(f, "{}", annotate(&self.contract, &self.bytes))?;
        write!(f, "{}", self.test)
    }
}

/// A test that fails while the decoder diverges on this case, to be pasted into a test file. Without `cuts`, the case
/// is only its bytes.
fn printed_test(signature: &Signature, info: &Info, case: &Case<'_>, cuts: Option<Cuts>) -> String {
    let name: String = signature.to_string().chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let decoder = match &info.expression {
        Some(expression) => format!("let decoder = &{expression};"),
        None => format!(
            "// Construct the decoder here if it is not one of the peers.\n    \
             let peers = utfuzz::peers::all();\n    \
             let decoder = &**peers.iter().find(|peer| peer.info().name == {:?}).unwrap();",
            signature.decoder
        ),
    };
    let bytes = case.bytes.escape_ascii();
    let case = match (signature.law, cuts) {
        (Law::Placement, _) => {
            let (alignment, poisoned) = case.placement();
            format!("placed(bytes, {alignment}, {poisoned})")
        }
        (_, None) => "new(bytes)".to_owned(),
        (_, Some(cuts)) => match cuts.step() {
            Some(step) => format!("with_cuts(bytes, utfuzz::Cuts::every({step}, bytes.len()))"),
            None => format!("with_cuts(bytes, utfuzz::Cuts::new({:?}, bytes.len()))", cuts.offsets()),
        },
    };
    format!(
        "#[test]\nfn {name}() {{\n    \
         {decoder}\n    \
         let bytes = b\"{bytes}\";\n    \
         let divergence = utfuzz::first_divergence(decoder, &utfuzz::Case::{case});\n    \
         assert!(divergence.is_none(), \"{{}}\", divergence.unwrap());\n}}\n"
    )
}
