//! The laws are sound: a decoder that does exactly what `spec` says breaks none of them, under any contract.

use std::collections::BTreeMap;
use utfuzz::case::Case;
use utfuzz::generate::classes::Block;
use utfuzz::generate::seeds;
use utfuzz::judge::Judge;
use utfuzz::spec::{Bom, Contract, Detection, End, Reading, Replacement, Segment, Segmentation, grammar};
use utfuzz::utf8::Validity;
use utfuzz::{Decoder, Info, Stream, peers, spec};

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

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        Some(Box::new(PerfectStream { contract: self.0.contract, read: Vec::new(), written: 0 }))
    }
}

/// Writes immediately what later bytes cannot change, for segmentations that permit it; for others, at the end.
struct PerfectStream {
    contract: Contract,
    read: Vec<u8>,
    written: usize,
}

impl PerfectStream {
    fn write(&mut self, end: usize, out: &mut Vec<u8>) {
        if self.contract.replacement.is_none() {
            return;
        }
        let mut text = Vec::new();
        spec::lossy(&self.contract, &self.read[..end], &mut text);
        out.extend_from_slice(&text[self.written..]);
        self.written = text.len();
    }
}

impl Stream for PerfectStream {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        self.read.extend_from_slice(chunk);
        if matches!(self.contract.segmentation, Segmentation::MaximalSubpart | Segmentation::Byte) {
            let subparts = Contract { segmentation: Segmentation::MaximalSubpart, ..self.contract };
            let is_incomplete =
                |segment: &Segment| matches!(segment.reading, Reading::IllFormed { incomplete: true, .. });
            // What precedes a subpart matters: in WTF-8 no trailing surrogate may follow a leading one. With one error
            // per byte, a sequence may begin inside a subpart.
            let waits = if self.contract.segmentation == Segmentation::MaximalSubpart {
                spec::segments(&subparts, &self.read).find(is_incomplete).map(|segment| segment.start)
            } else {
                let goes_on = |start: &usize| {
                    spec::segments(&subparts, &self.read[*start..])
                        .next()
                        .is_some_and(|segment| is_incomplete(&segment))
                };
                spec::segments(&self.contract, &self.read).map(|segment| segment.start).find(goes_on)
            };
            self.write(waits.unwrap_or(self.read.len()), out);
        }
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        self.write(self.read.len(), out);
        self.written = 0;
        Some(spec::validity(&self.contract, &std::mem::take(&mut self.read)))
    }

    fn sendable(&mut self) -> Option<&mut (dyn Stream + Send + '_)> {
        Some(self)
    }
}

fn contracts() -> Vec<Contract> {
    let segmentations = [
        Segmentation::MaximalSubpart,
        Segmentation::MaximalSubpartSurrogate,
        Segmentation::Byte,
        Segmentation::Run,
        Segmentation::LeadAnnounced,
        Segmentation::SwallowNonLead,
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
    let detection = Detection::Earliest;
    let contract = |grammar, segmentation, (replacement, bom, end)| Contract {
        grammar,
        segmentation,
        replacement,
        bom,
        end,
        detection,
    };
    grammars.flat_map(|g| segmentations.into_iter().flat_map(move |s| outputs.map(|o| contract(g, s, o)))).collect()
}

/// The seeds, every class string of two and three bytes at the start, and every one of two across the end of a block.
fn inputs() -> Vec<Vec<u8>> {
    let mut inputs: Vec<Vec<u8>> =
        seeds::differential().into_values().chain(seeds::relatives().into_values()).collect();
    for block in [Block { len: 2, offset: 0 }, Block { len: 3, offset: 0 }, Block { len: 2, offset: 62 }] {
        inputs.extend((0..block.count()).map(|index| {
            let mut bytes = Vec::new();
            block.write(index, &mut bytes);
            bytes
        }));
    }
    assert!(inputs.len() > 2700);
    inputs
}

/// The laws broken on any of the inputs, each with the first input that breaks it.
fn broken(decoders: &[Box<dyn Decoder>]) -> BTreeMap<String, String> {
    let mut judge = Judge::new(decoders.iter().map(|decoder| &**decoder));
    let mut broken = BTreeMap::new();
    for bytes in inputs() {
        for broke in judge.judge(&Case::new(&bytes)).to_vec() {
            let what = format!("{} {} under {}", broke.law, broke.subject, decoders[broke.decoder].info().contract);
            broken.entry(what).or_insert_with(|| bytes.escape_ascii().to_string());
        }
    }
    broken
}

#[test]
fn the_standard_itself_breaks_no_law() {
    let info = |contract| Info::new("perfect", "0").contract(contract);
    let perfect = |contract| Box::new(Perfect(info(contract))) as Box<dyn Decoder>;
    let decoders: Vec<Box<dyn Decoder>> = contracts().into_iter().map(perfect).collect();
    assert_eq!(decoders.len(), 9 * 6 * 6);
    let broken = broken(&decoders);
    assert!(broken.is_empty(), "{} kinds of false alarm: {broken:#?}", broken.len());
}

#[test]
fn our_conversions_break_no_law_under_any_policy() {
    let policies = peers::policies();
    assert_eq!(policies.len(), 10);
    let broken = broken(&policies);
    assert!(broken.is_empty(), "{broken:#?}");
}
