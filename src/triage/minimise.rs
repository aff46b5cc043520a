//! The smallest input with the same signature, found in the process, by the same steps on every machine.
//!
//! Every candidate is judged; it is kept only if it has the signature of the input at hand, or one that this is told to
//! take for the same, so that one divergence never turns into another. What is tried: shorter strings (segments, bytes and cuts taken out, from halves down to one), then
//! plainer ones of the same length (the byte that stands for its class, `a` for characters), both in turn until
//! nothing helps; at the end every class string that would be shorter still, as far as there are few enough.

use crate::case::{Cuts, Input};
use crate::decoder::Decoder;
use crate::explain::{Divergence, Signature};
use crate::judge::{Judge, Law};
use crate::spec::{Contract, Reading, Segment, segments};
use crate::utf8::ByteClass;

/// How many inputs each of the two phases judges at most: making an input smaller, and trying all that are smaller still.
const STEPS: u64 = 60_000;
/// How many of them are examined for their signature at most.
const EXAMINED: u64 = 600;

/// What a divergence comes down to.
#[derive(Clone, Debug)]
pub struct Witness {
    /// Its signature: that of the divergence, or one taken for the same.
    pub signature: Signature,
    /// The smallest input found that has it.
    pub input: Input,
    /// An input as near to it as can be on which the decoder does what it should, if one was found.
    pub agreeing: Option<Vec<u8>>,
    /// How many inputs were judged, all in all.
    pub steps: u64,
}

/// The smallest input that shows this divergence of this decoder.
pub fn minimise(decoder: &dyn Decoder, divergence: &Divergence) -> Witness {
    minimise_as(decoder, divergence, &|signature| *signature == divergence.signature)
}

/// The smallest input with a signature that is the same for the caller.
pub fn minimise_as(decoder: &dyn Decoder, divergence: &Divergence, same: &dyn Fn(&Signature) -> bool) -> Witness {
    let mut hunt = Hunt::new(decoder, divergence, same);
    let contract = decoder.info().contract;
    let mut best = hunt.start(divergence).unwrap_or_else(|| Input { bytes: divergence.bytes.clone(), cuts: None });
    loop {
        let before = best.clone();
        shorten(&mut hunt, contract, &mut best);
        simplify(&mut hunt, contract, &mut best);
        if best == before {
            break;
        }
    }
    if let Some(shorter) = shortest(&mut hunt, &best) {
        best = shorter;
        simplify(&mut hunt, contract, &mut best);
    }
    let agreeing = nearest_agreeing(&mut hunt, &best);
    Witness { signature: hunt.signature, input: best, agreeing, steps: hunt.steps }
}

/// These bytes, cut at these places.
fn cut_at(bytes: &[u8], cuts: Option<Vec<usize>>) -> Input {
    Input { bytes: bytes.to_vec(), cuts: cuts.map(|cuts| Cuts::new(cuts, bytes.len())) }
}

/// Without these bytes; cuts in them move to where they were.
fn without(input: &Input, start: usize, end: usize) -> Input {
    let bytes = [&input.bytes[..start], &input.bytes[end..]].concat();
    let moved = |&cut: &usize| if cut >= end { cut - (end - start) } else { cut.min(start) };
    let cuts = input.cuts.map(|cuts| Cuts::new(cuts.offsets().iter().map(moved), bytes.len()));
    Input { bytes, cuts }
}

/// Other bytes, cut where these are.
fn with_bytes(input: &Input, bytes: Vec<u8>) -> Input {
    Input { bytes, cuts: input.cuts }
}

/// Judges candidates.
struct Hunt<'a> {
    judge: Judge<'a>,
    law: Law,
    same: &'a dyn Fn(&Signature) -> bool,
    /// That of the best input.
    signature: Signature,
    steps: u64,
    /// How many inputs had been judged when this phase began.
    phase: u64,
    /// How many of this phase were examined for their signature.
    examined: u64,
    /// Whether the input at hand breaks the law of the signature itself; others need not be examined then.
    same_law: bool,
}

impl<'a> Hunt<'a> {
    fn new(decoder: &'a dyn Decoder, divergence: &Divergence, same: &'a dyn Fn(&Signature) -> bool) -> Self {
        let Signature { law, .. } = divergence.signature;
        let signature = divergence.signature.clone();
        Self { judge: Judge::new([decoder]), law, same, signature, steps: 0, phase: 0, examined: 0, same_law: true }
    }

    /// The input to start from: with cuts of its own where they matter, one alone if that will do; if it has the
    /// signature at all.
    fn start(&mut self, divergence: &Divergence) -> Option<Input> {
        let bytes = &divergence.bytes;
        let with = |cuts: Option<Vec<usize>>| cut_at(bytes, cuts);
        let cuts: Vec<usize> = match divergence.step {
            Some(step) => (1..).map(|at| at * step).take_while(|&at| at < bytes.len()).collect(),
            None => divergence.cuts.clone(),
        };
        let is_about_cuts = self.law.may_depend_on_cuts();
        let few = cuts.len() <= Cuts::MOST;
        let one = cuts.iter().map(|&cut| with(Some(vec![cut])));
        let own = is_about_cuts.then(|| one.chain(few.then(|| with(Some(cuts.clone())))));
        let all: Vec<Input> = own.into_iter().flatten().chain([with(None)]).collect();
        let groups: Vec<&[usize]> = if is_about_cuts && !few { cuts.chunks(Cuts::MOST).collect() } else { Vec::new() };
        [true, false].into_iter().find_map(|same_law| {
            self.same_law = same_law;
            // Of very many cuts one among those that show it together, before each is tried by itself.
            let near = groups.iter().find_map(|group| {
                let together = self.shows(&with(Some(group.to_vec())));
                let mut alone = group.iter().filter(|_| together).map(|&cut| with(Some(vec![cut])));
                alone.find(|input| self.shows(input))
            });
            near.or_else(|| all.iter().find(|input| self.shows(input)).cloned())
        })
    }

    /// Whether the input has the signature.
    fn shows(&mut self, input: &Input) -> bool {
        if self.steps - self.phase >= STEPS || self.examined >= EXAMINED {
            return false;
        }
        self.steps += 1;
        let case = input.case();
        let Some(broken) = self.judge.judge(&case).first().copied() else { return false };
        if self.same_law && broken.law != self.law {
            return false;
        }
        self.examined += 1;
        let signature = crate::explain::signature(self.judge.decoder(broken.decoder), &case, &broken);
        let same = (self.same)(&signature);
        if same {
            self.signature = signature;
        }
        same
    }

    fn take(&mut self, candidate: Input, best: &mut Input) -> bool {
        let better = self.shows(&candidate);
        if better {
            *best = candidate;
        }
        better
    }

    fn agrees(&mut self, input: &Input) -> bool {
        self.steps += 1;
        self.judge.judge(&input.case()).is_empty()
    }
}

/// Takes out segments, then bytes, then cuts.
fn shorten(hunt: &mut Hunt<'_>, contract: Contract, best: &mut Input) {
    let ends: Vec<usize> = segments(&contract, &best.bytes).map(|segment| segment.range().end).collect();
    take_out(hunt, best, ends);
    let ends = (1..=best.bytes.len()).collect();
    take_out(hunt, best, ends);
    let count = best.cuts.map_or(0, |cuts| cuts.offsets().len());
    for index in (0..count).rev() {
        let mut fewer = best.cuts.map_or(Vec::new(), |cuts| cuts.offsets().to_vec());
        fewer.remove(index);
        hunt.take(cut_at(&best.bytes, Some(fewer)), best);
    }
}

/// Takes out pieces, which end at these offsets: half of them at a time, then a quarter, down to one.
fn take_out(hunt: &mut Hunt<'_>, best: &mut Input, mut ends: Vec<usize>) {
    let mut many = ends.len().div_ceil(2);
    while many > 0 {
        // From the back: what stands before an error moves it, what stands behind it does not.
        let mut last = ends.len();
        while last > 0 {
            let first = last.saturating_sub(many);
            let start = if first == 0 { 0 } else { ends[first - 1] };
            let end = ends[last - 1];
            if hunt.take(without(best, start, end), best) {
                ends.drain(first..last);
                ends[first..].iter_mut().for_each(|at| *at -= end - start);
            }
            last = first;
        }
        many = if many == 1 { 0 } else { many.div_ceil(2) };
    }
}

/// Makes characters `a`, and bytes those that stand for their class; nothing moves where that would lose the signature.
fn simplify(hunt: &mut Hunt<'_>, contract: Contract, best: &mut Input) {
    let is_character = |segment: &Segment| matches!(segment.reading, Reading::WellFormed(_));
    let characters: Vec<Segment> = segments(&contract, &best.bytes).filter(is_character).collect();
    for segment in characters.iter().rev() {
        let range = segment.range();
        if best.bytes[range.clone()].iter().all(|&byte| byte == b'a') {
            continue;
        }
        let as_long = vec![b'a'; segment.len];
        let with = |best: &Input, text: &[u8]| {
            with_bytes(best, [&best.bytes[..range.start], text, &best.bytes[range.end..]].concat())
        };
        hunt.take(with(best, &as_long), best);
    }
    for index in 0..best.bytes.len() {
        let byte = best.bytes[index];
        let plain = ByteClass::of(byte).canonical();
        if byte != plain && byte != b'a' {
            let mut bytes = best.bytes.clone();
            bytes[index] = plain;
            hunt.take(with_bytes(best, bytes), best);
        }
    }
}

/// The first shorter input that has the signature: of every class string of up to four bytes, three where each is also
/// tried with every cut; and of up to two behind ASCII.
fn shortest(hunt: &mut Hunt<'_>, best: &Input) -> Option<Input> {
    const BEHIND_ASCII: usize = 2;
    /// No block is longer.
    const LONGEST: usize = 256;
    let alone = if best.cuts.is_some() { 3 } else { 4 };
    // What a law about related inputs shows is as good, if it comes to the same.
    (hunt.phase, hunt.examined, hunt.same_law) = (hunt.steps, 0, false);
    let mut strings = Strings::default();
    for len in 0..best.bytes.len().min(LONGEST) {
        for tail in if len <= alone { len..=len } else { 1..=BEHIND_ASCII } {
            for index in 0..(ByteClass::COUNT as u64).pow(tail as u32) {
                let bytes = strings.behind_ascii(len - tail, tail as u32, index);
                for cuts in ways(best, len) {
                    if hunt.steps - hunt.phase >= STEPS {
                        return None;
                    }
                    let candidate = cut_at(bytes, cuts);
                    if hunt.shows(&candidate) {
                        return Some(candidate);
                    }
                }
            }
        }
    }
    None
}

/// The cuts to try in a string of this length: none and each one, where there were some; then as they are derived.
fn ways(best: &Input, len: usize) -> impl Iterator<Item = Option<Vec<usize>>> {
    let own = best.cuts.map(|_| [Vec::new()].into_iter().chain((0..=len).map(|cut| vec![cut])));
    own.into_iter().flatten().map(Some).chain([None])
}

/// Writes class strings.
#[derive(Default)]
struct Strings(Vec<u8>);

impl Strings {
    fn behind_ascii(&mut self, offset: usize, len: u32, index: u64) -> &[u8] {
        crate::generate::classes::Block { len, offset }.write(index, &mut self.0);
        &self.0
    }
}

/// One byte changed, taken out or put in, and the decoder does what it should.
fn nearest_agreeing(hunt: &mut Hunt<'_>, best: &Input) -> Option<Vec<u8>> {
    let bytes = &best.bytes;
    // What goes wrong stands behind what leads up to it.
    for index in (0..bytes.len()).rev() {
        for class in ByteClass::all().map(ByteClass::canonical) {
            let mut changed = bytes.clone();
            changed[index] = class;
            if changed != *bytes && hunt.agrees(&with_bytes(best, changed.clone())) {
                return Some(changed);
            }
        }
        let shorter = without(best, index, index + 1);
        if hunt.agrees(&shorter) {
            return Some(shorter.bytes);
        }
    }
    let longer = [&bytes[..], b"a"].concat();
    hunt.agrees(&with_bytes(best, longer.clone())).then_some(longer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::Case;
    use crate::decoder::Info;
    use crate::spec;
    use crate::utf8::Validity;

    /// Takes two bytes for well-formed that no text has.
    struct Wrong;

    static INFO: Info = Info::new("wrong", "1.0.0").contract(Contract::VALIDATOR);

    impl Decoder for Wrong {
        fn info(&self) -> &Info {
            &INFO
        }

        fn validate(&self, bytes: &[u8]) -> Option<Validity> {
            let is_wrong = bytes.windows(2).any(|pair| pair == b"\xFF\xFE");
            Some(if is_wrong { Validity::Valid } else { spec::validity(&Contract::VALIDATOR, bytes) })
        }
    }

    #[test]
    fn every_step_counts() {
        let bytes = b"some text \xFF\xFE, and more text";
        let divergence = crate::explain::first_divergence(&Wrong, &Case::new(bytes)).unwrap();
        let same = |signature: &Signature| *signature == divergence.signature;
        let mut hunt = Hunt::new(&Wrong, &divergence, &same);
        let mut best = hunt.start(&divergence).unwrap();
        shorten(&mut hunt, Contract::VALIDATOR, &mut best);
        let before = hunt.steps;
        assert!(shortest(&mut hunt, &best).is_none() && best.bytes.len() == 2, "{best:?}");
        // The empty string and every class; each byte pair stands for its class only.
        assert!(hunt.steps >= before + 1 + ByteClass::COUNT as u64, "{} after {before}", hunt.steps);
        let witness = minimise(&Wrong, &divergence);
        assert!(witness.steps > hunt.steps, "{} of at least {}", witness.steps, hunt.steps);
    }
}
