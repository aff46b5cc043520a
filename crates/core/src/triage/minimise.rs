//! Minimises an input in-process: the smallest one found with the same signature, by the same steps on every machine.
//!
//! Every candidate is judged. It replaces the current input only if it has the same signature, or one that the caller
//! treats as the same, so that one divergence never turns into another. Candidates are shorter inputs (segments and
//! bytes removed, from halves down to single ones, then single cuts), then simpler inputs of the same length (each
//! character `a`, each continuation byte 80 or 90, any byte the canonical one of its class), repeated until neither
//! helps. Finally every shorter class string is tried, up to a limit.

use crate::case::{Cuts, Input};
use crate::decoder::Decoder;
use crate::explain::{Divergence, Signature};
use crate::generate::classes::Block;
use crate::judge::{Judge, Law, Questions};
use crate::spec::{Contract, Reading, Segment, segments};
use crate::utf8::{ByteClass, is_continuation};

/// The most inputs that each of the two phases judges: reducing the input, and trying all shorter class strings.
const STEPS: u64 = 60_000;
/// How many class strings are prepared at a time.
const BATCH: usize = 256;
/// The most inputs for which a phase computes the signature.
const EXAMINED: u64 = 600;

/// A minimised divergence.
#[derive(Clone, Debug)]
pub struct Witness {
    /// The signature of the divergence, or one that the caller treats as the same.
    pub signature: Signature,
    /// The smallest input found that has it.
    pub input: Input,
    /// An input that differs in one byte and on which the decoder breaks no law, if one was found.
    pub agreeing: Option<Vec<u8>>,
    /// How many inputs were judged in total.
    pub steps: u64,
}

/// The smallest input that shows this divergence of this decoder.
pub fn minimise(decoder: &dyn Decoder, divergence: &Divergence) -> Witness {
    minimise_as(decoder, divergence, &|signature| *signature == divergence.signature)
}

/// The smallest input whose signature the caller treats as the same.
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

/// These bytes, cut at these offsets.
fn cut_at(bytes: &[u8], cuts: Option<Vec<usize>>) -> Input {
    Input { bytes: bytes.to_vec(), cuts: cuts.map(|cuts| Cuts::new(cuts, bytes.len())) }
}

/// The input without the bytes `start..end`; cuts inside them move to `start`.
fn without(input: &Input, start: usize, end: usize) -> Input {
    let bytes = [&input.bytes[..start], &input.bytes[end..]].concat();
    let moved = |&cut: &usize| if cut >= end { cut - (end - start) } else { cut.min(start) };
    let cuts = input.cuts.map(|cuts| Cuts::new(cuts.offsets().iter().map(moved), bytes.len()));
    Input { bytes, cuts }
}

/// Other bytes with the same cuts.
fn with_bytes(input: &Input, bytes: Vec<u8>) -> Input {
    Input { bytes, cuts: input.cuts }
}

/// Judges candidates.
struct Hunt<'a> {
    judge: Judge<'a>,
    law: Law,
    same: &'a dyn Fn(&Signature) -> bool,
    /// The signature of the last input accepted as equivalent to the divergence.
    signature: Signature,
    steps: u64,
    /// The value of `steps` when this phase began.
    phase: u64,
    /// For how many inputs of this phase the signature was computed.
    examined: u64,
    /// Whether to reject inputs that break another law without computing their signature.
    same_law: bool,
}

impl<'a> Hunt<'a> {
    fn new(decoder: &'a dyn Decoder, divergence: &Divergence, same: &'a dyn Fn(&Signature) -> bool) -> Self {
        let Signature { law, .. } = divergence.signature;
        let signature = divergence.signature.clone();
        Self { judge: Judge::new([decoder]), law, same, signature, steps: 0, phase: 0, examined: 0, same_law: true }
    }

    /// The input to start from, with explicit cuts if they may matter, a single one if that suffices. `None` if none
    /// has the signature.
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
            // If there are very many cuts, find a group of them that shows it, and then a single one in that group.
            let near = groups.iter().find_map(|group| {
                let together = self.shows(&with(Some(group.to_vec())));
                let mut alone = group.iter().filter(|_| together).map(|&cut| with(Some(vec![cut])));
                alone.find(|input| self.shows(input))
            });
            near.or_else(|| all.iter().find(|input| self.shows(input)).cloned())
        })
    }

    /// Whether this phase has judged as many inputs as it may.
    fn is_over(&self) -> bool {
        self.steps - self.phase >= STEPS
    }

    /// Whether the input has the signature.
    fn shows(&mut self, input: &Input) -> bool {
        if self.is_over() || self.examined >= EXAMINED {
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

/// Removes segments, then bytes, then cuts.
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

/// Removes pieces, which end at these offsets: half of them at a time, then a quarter, down to one.
fn take_out(hunt: &mut Hunt<'_>, best: &mut Input, mut ends: Vec<usize>) {
    let mut many = ends.len().div_ceil(2);
    while many > 0 {
        // From the end: removing bytes after an error does not move it.
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

/// Replaces characters by `a`, continuation bytes by 80 or 90, and bytes by the canonical byte of their class, where
/// that keeps the signature.
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
        // Often any continuation byte will do; witnesses of one cause should not differ in it.
        let lower = [0x80, 0x90].into_iter().filter(|&lower| is_continuation(byte) && lower <= byte);
        for plain in lower.chain([ByteClass::of(byte).canonical()]) {
            let mut bytes = best.bytes.clone();
            bytes[index] = plain;
            if byte != plain && byte != b'a' && hunt.take(with_bytes(best, bytes), best) {
                break;
            }
        }
    }
}

/// The first shorter input that has the signature, among all class strings of up to four bytes (up to three if each is
/// also tried with every cut), and those of one or two bytes after ASCII.
fn shortest(hunt: &mut Hunt<'_>, best: &Input) -> Option<Input> {
    const AFTER_ASCII: usize = 2;
    /// No decoder processes blocks of more than this many bytes.
    const LONGEST: usize = 256;
    let alone = if best.cuts.is_some() { 3 } else { 4 };
    // An input that breaks another law will do if its signature is the same.
    (hunt.phase, hunt.examined, hunt.same_law) = (hunt.steps, 0, false);
    for len in 0..best.bytes.len().min(LONGEST) {
        for tail in if len <= alone { len..=len } else { 1..=AFTER_ASCII } {
            let block = Block { len: tail as u32, offset: len - tail };
            let mut candidates = (0..block.count()).flat_map(|index| {
                let mut bytes = Vec::new();
                block.write(index, &mut bytes);
                ways(best, len).map(move |cuts| cut_at(&bytes, cuts))
            });
            loop {
                let batch: Vec<Input> = candidates.by_ref().take(BATCH).collect();
                if batch.is_empty() {
                    break;
                }
                hunt.judge.prepare(batch.iter().map(Input::case), Questions::ALL);
                for candidate in batch {
                    if hunt.is_over() {
                        return None;
                    }
                    if hunt.shows(&candidate) {
                        return Some(candidate);
                    }
                }
            }
        }
    }
    None
}

/// The cuts to try in a string of this length: if the input has explicit cuts, none and each single one; then the cuts
/// derived from the bytes.
fn ways(best: &Input, len: usize) -> impl Iterator<Item = Option<Vec<usize>>> {
    let own = best.cuts.map(|_| [Vec::new()].into_iter().chain((0..=len).map(|cut| vec![cut])));
    own.into_iter().flatten().map(Some).chain([None])
}

/// The input with one byte replaced, removed or appended, so that the decoder breaks no law.
fn nearest_agreeing(hunt: &mut Hunt<'_>, best: &Input) -> Option<Vec<u8>> {
    let bytes = &best.bytes;
    // From the end, where the error usually is.
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

    /// Accepts input that contains FF FE.
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
        // The empty string and one string for each class.
        assert!(hunt.steps >= before + 1 + ByteClass::COUNT as u64, "{} after {before}", hunt.steps);
        let witness = minimise(&Wrong, &divergence);
        assert!(witness.steps > hunt.steps, "{} of at least {}", witness.steps, hunt.steps);
    }

    #[test]
    fn each_phase_judges_and_examines_so_many_inputs_and_no_more() {
        let bytes = b"some text \xFF\xFE, and more text";
        let divergence = crate::explain::first_divergence(&Wrong, &Case::new(bytes)).unwrap();
        let same = |signature: &Signature| *signature == divergence.signature;
        let input = Input { bytes: bytes.to_vec(), cuts: None };
        // How many inputs had been judged when the phase began, how many have been since, and for how many of these the
        // signature was computed.
        let shows = |before: u64, since: u64, examined: u64| {
            let mut hunt = Hunt::new(&Wrong, &divergence, &same);
            (hunt.steps, hunt.phase, hunt.examined) = (before + since, before, examined);
            let shown = hunt.shows(&input);
            let is_one_more = (hunt.steps, hunt.examined) == (before + since + 1, examined + 1);
            let is_as_before = (hunt.steps, hunt.examined) == (before + since, examined);
            assert!(if shown { is_one_more } else { is_as_before }, "{before} {since} {examined}");
            shown
        };
        assert!(shows(0, 0, 0) && shows(0, STEPS - 1, EXAMINED - 1) && shows(STEPS, STEPS - 1, 0));
        assert!(!shows(0, STEPS, 0) && !shows(STEPS, STEPS, 0) && !shows(0, 0, EXAMINED));
        // The second phase has a limit of its own.
        let mut hunt = Hunt::new(&Wrong, &divergence, &same);
        (hunt.steps, hunt.examined) = (STEPS, EXAMINED);
        let best = Input { bytes: b"\xFF\xFE".to_vec(), cuts: None };
        assert!(shortest(&mut hunt, &best).is_none() && hunt.steps > STEPS + ByteClass::COUNT as u64);
    }
}
