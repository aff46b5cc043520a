//! A decoder that does exactly what `spec` says, under every contract there is, breaks no law: the laws themselves are sound.

use utfuzz::input::exhaustive::Block;
use utfuzz::input::{Case, seeds};
use utfuzz::judge::Judge;
use utfuzz::spec::{self, Bom, Contract, Detection, End, Replacement, UnitRule, grammar};
use utfuzz::utf8::Validity;
use utfuzz::{Decoder, Info};

struct Perfect(Info);

impl Decoder for Perfect {
    fn info(&self) -> &Info {
        &self.0
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        Some(spec::validity(&self.0.contract, bytes))
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        spec::lossy(&self.0.contract, bytes, out)
    }
}

fn contracts() -> Vec<Contract> {
    let units = [
        UnitRule::MaximalSubpart,
        UnitRule::MaximalSubpartSurrogate,
        UnitRule::Byte,
        UnitRule::Run,
        UnitRule::LeadAnnounced,
        UnitRule::SwallowNonLead,
    ];
    let outputs = [
        (Some(Replacement::ReplacementCharacter), Bom::Keep, End::Incomplete),
        (Some(Replacement::ReplacementCharacter), Bom::Strip, End::Error),
        (Some(Replacement::Drop), Bom::Keep, End::Error),
        (Some(Replacement::SurrogateEscape), Bom::Keep, End::Incomplete),
        (Some(Replacement::Windows1252), Bom::Strip, End::Incomplete),
        (None, Bom::Keep, End::Incomplete),
    ];
    let grammars = grammar::ALL.into_iter();
    let detection = Detection::Late;
    let contract =
        |grammar, unit, (replacement, bom, end)| Contract { grammar, unit, replacement, bom, end, detection };
    grammars.flat_map(|g| units.into_iter().flat_map(move |u| outputs.map(|o| contract(g, u, o)))).collect()
}

#[test]
fn no_law_is_broken_by_the_standard_itself() {
    let info = |contract| Info { name: "perfect", version: "0", package: "spec", contract, lineage: |_| "spec" };
    let decoders: Vec<Perfect> = contracts().into_iter().map(|contract| Perfect(info(contract))).collect();
    let mut judge = Judge::new(decoders.iter().map(|decoder| decoder as &dyn Decoder));
    let mut inputs: Vec<Vec<u8>> = seeds::differential().into_values().collect();
    for block in [Block { len: 2, offset: 0 }, Block { len: 3, offset: 0 }, Block { len: 2, offset: 62 }] {
        inputs.extend((0..block.count()).map(|index| {
            let mut bytes = Vec::new();
            block.write(index, &mut bytes);
            bytes
        }));
    }
    let mut broken = std::collections::BTreeMap::new();
    for bytes in &inputs {
        for broke in judge.judge(&Case::new(bytes)).to_vec() {
            let what = format!("{} {} under {}", broke.law, broke.subject, decoders[broke.decoder].0.contract);
            broken.entry(what).or_insert_with(|| bytes.escape_ascii().to_string());
        }
    }
    assert!(decoders.len() == 9 * 6 * 6 && inputs.len() > 2500);
    assert!(broken.is_empty(), "{} kinds of false alarm: {broken:#?}", broken.len());
}
