//! Holding a decoder to the contract that was found: on which inputs it departs from that, and what those have in common.

use crate::case::Case;
use crate::decoder::{Batched, Decoder};
use crate::generate::classes::ClassPartition;
use crate::generate::{fragments, plan};
use crate::judge::laws::Aspect;
use crate::judge::{Broken, Judge, Law, Questions, Subject};
use crate::probe::contracts::INPUTS;
use crate::spec::{Contract, Reading, segments, validity};
use crate::utf8::Kind;
use core::fmt;
use std::collections::{BTreeMap, BTreeSet};

/// A way in which a decoder departs from its contract.
#[derive(Clone, Debug)]
pub struct Departure {
    /// The law that it breaks.
    pub law: Law,
    /// The subject on which it breaks it.
    pub subject: Subject,
    /// The smallest input that shows the departure.
    pub bytes: Vec<u8>,
    /// Where the departure shows.
    pub place: Place,
}

/// Where a departure was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// At several places.
    Anywhere,
    /// Only at the end of the input.
    End,
    /// Only in chunks.
    Chunks,
    /// Only after this many bytes of ASCII.
    After(usize),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Anywhere => f.write_str("everywhere"),
            Self::End => f.write_str("only at the end of the input"),
            Self::Chunks => f.write_str("only in chunks"),
            Self::After(len) => write!(f, "only after {len} bytes of ASCII or more"),
        }
    }
}

/// How a decoder keeps its contract on many inputs.
#[derive(Clone, Debug, Default)]
pub struct Confirmed {
    /// The number of inputs.
    pub cases: u64,
    /// The departures, by law and subject.
    pub departures: Vec<Departure>,
    /// Whether it took every input for well-formed, and at least one of them wrongly. Inputs with control characters are
    /// not counted: a decoder of JSON, for example, cannot be asked about them.
    pub accepts_all: bool,
}

/// The inputs that break one law on one subject.
struct Seen {
    smallest: Vec<u8>,
    /// Whether the subject was at the end of every one of them.
    at_the_end: bool,
    /// The least number of ASCII bytes before the first other byte.
    after: usize,
}

/// Judges a decoder by its own contract: every class string of a plan, the inputs of the questionnaire, and if it is in this
/// process, texts and random inputs too.
pub fn confirm(decoder: &dyn Decoder) -> Confirmed {
    let slow = decoder.batched().map(Batched::is_slow);
    let mut confirming = Confirming::new(decoder);
    confirming.whole(INPUTS.iter().map(|bytes| bytes.to_vec()));
    let parts = slow.map_or_else(plan::quick, plan::remote);
    parts.iter().flat_map(|part| &part.sets).for_each(|set| confirming.set(set));
    if slow.is_none() {
        confirming.whole(fragments::strings_up_to(2));
        confirming.whole(fragments::texts());
        #[cfg(feature = "arbitrary")]
        confirming.whole((0..20_000).map(|seed| crate::generate::structured::Structured::seeded(seed).0));
    }
    confirming.finish()
}

struct Confirming<'d> {
    decoder: &'d dyn Decoder,
    judge: Judge<'d>,
    seen: BTreeMap<(Law, Subject), Seen>,
    cases: u64,
    /// How many more departures are wanted. Each is asked again by itself, which takes long in another process.
    wanted: usize,
    /// Whether it refused an input without control characters.
    refused: bool,
}

impl<'d> Confirming<'d> {
    /// How many strings are planned at once.
    const BATCH: usize = 1024;

    fn new(decoder: &'d dyn Decoder) -> Self {
        let wanted = match decoder.batched().map(Batched::is_slow) {
            None => usize::MAX,
            Some(false) => 2000,
            Some(true) => 200,
        };
        Self { decoder, judge: Judge::new([decoder]), seen: BTreeMap::new(), cases: 0, wanted, refused: false }
    }

    /// Judges inputs by every question.
    fn whole(&mut self, inputs: impl Iterator<Item = Vec<u8>>) {
        let mut inputs = inputs.peekable();
        while inputs.peek().is_some() && self.wanted > 0 {
            let some: Vec<Vec<u8>> = inputs.by_ref().take(Self::BATCH).collect();
            self.judge.prepare(some.iter().map(|bytes| Case::new(bytes)), Questions::ALL);
            some.iter().for_each(|bytes| self.judge(&Case::new(bytes), Questions::ALL));
        }
    }

    /// Judges the strings of a set that the grammar of the contract distinguishes.
    fn set(&mut self, set: &plan::Set) {
        let (start, end) = (set.strings.offset, set.strings.offset + set.strings.len as usize);
        let partition = ClassPartition::of(&self.decoder.info().contract);
        let is_selected = |bytes: &[u8]| partition.has(&bytes[start..end], start);
        let (questions, mut writer) = (Questions::from(set.ask), set.writer());
        for first in (0..set.strings.count()).step_by(Self::BATCH) {
            if self.wanted == 0 {
                return;
            }
            let batch = first..set.strings.count().min(first + Self::BATCH as u64);
            if self.judge.is_batched() {
                let judge = &mut self.judge;
                batch.clone().for_each(|index| {
                    writer.each(index, |case| judge.plan(case, questions, |_| is_selected(case.bytes)));
                });
                judge.ask_planned();
            }
            batch.for_each(|index| {
                writer.each(index, |case| {
                    if is_selected(case.bytes) {
                        self.judge(case, questions);
                    }
                });
            });
        }
    }

    fn judge(&mut self, case: &Case<'_>, questions: Questions) {
        if self.wanted == 0 {
            return;
        }
        self.cases += 1;
        let contract = self.decoder.info().contract;
        let Some(Broken { law, subject, offset, .. }) = self.judge.judge_on(case, questions).first().copied() else {
            self.refused |= !case.bytes.iter().any(|byte| *byte < b' ') && !is_valid(&contract, case.bytes);
            return;
        };
        self.wanted -= 1;
        self.refused |= law != Law::Verdict || is_valid(&contract, case.bytes);
        let at_the_end = is_at_the_end(&contract, case.bytes, offset);
        let after = case.bytes.iter().take_while(|byte| byte.is_ascii()).count();
        let size = |bytes: &[u8]| (bytes.len(), bytes.to_vec());
        match self.seen.get_mut(&(law, subject)) {
            None => {
                self.seen.insert((law, subject), Seen { smallest: case.bytes.to_vec(), at_the_end, after });
            }
            Some(seen) => {
                seen.at_the_end &= at_the_end;
                seen.after = seen.after.min(after);
                if case.bytes.len() <= seen.smallest.len() && size(case.bytes) < size(&seen.smallest) {
                    seen.smallest = case.bytes.to_vec();
                }
            }
        }
    }

    fn finish(mut self) -> Confirmed {
        let seen = std::mem::take(&mut self.seen);
        let accepts_all = !seen.is_empty() && !self.refused;
        let mut departures = Vec::new();
        for ((law, subject), seen) in seen {
            let place = self.place(law, &seen);
            departures.push(Departure { law, subject, bytes: seen.smallest, place });
        }
        Confirmed { cases: self.cases, departures, accepts_all }
    }

    /// Where the departure is: what all inputs that were seen have in common, if the smallest of them, changed so that it
    /// lacks that, shows no departure.
    fn place(&mut self, law: Law, seen: &Seen) -> Place {
        let bytes = &seen.smallest;
        if law.is_about_streams() {
            return Place::Chunks;
        }
        let followed = |len| [bytes.as_slice(), &[b'a'; 64][..len]].concat();
        if seen.at_the_end && ![1, 64].into_iter().any(|len| self.breaks(law, &followed(len))) {
            return Place::End;
        }
        let ascii = bytes.iter().take_while(|byte| byte.is_ascii()).count();
        // Shorter prefixes are there by chance.
        if seen.after >= 8 && !self.breaks(law, &bytes[ascii..]) {
            return Place::After(seen.after);
        }
        Place::Anywhere
    }

    fn breaks(&mut self, law: Law, bytes: &[u8]) -> bool {
        self.judge.judge_on(&Case::new(bytes), Questions::ALL).iter().any(|broken| broken.law == law)
    }
}

/// Whether what is at this offset reaches to the end of the input; without an offset, whether the end is ill-formed.
fn is_at_the_end(contract: &Contract, bytes: &[u8], offset: Option<usize>) -> bool {
    let is_meant = |segment: &crate::spec::Segment| match offset {
        Some(offset) => segment.range().contains(&offset) || offset == bytes.len(),
        None => matches!(segment.reading, Reading::IllFormed { .. }),
    };
    segments(contract, bytes).last().is_none_or(|segment| is_meant(&segment))
}

fn is_valid(contract: &Contract, bytes: &[u8]) -> bool {
    validity(contract, bytes).is_valid()
}

impl Confirmed {
    /// What all departures from the contract that were seen have in common, in words; `None` if there are none, or it is
    /// nothing that is known here.
    pub fn rule(&self, contract: &Contract) -> Option<String> {
        let first = self.departures.first()?;
        let all = |is: &dyn Fn(&Departure) -> bool| self.departures.iter().all(is);
        if self.accepts_all {
            return Some("in that it takes every input for well-formed".to_owned());
        }
        match first.place {
            Place::After(_) if all(&|departure| matches!(departure.place, Place::After(_))) => {
                return Some(first.place.to_string());
            }
            Place::End | Place::Chunks if all(&|departure| departure.place == first.place) => {
                return Some(first.place.to_string());
            }
            _ => {}
        }
        let topics: Option<BTreeSet<String>> =
            self.departures.iter().map(|departure| topic_of(contract, departure)).collect();
        let topics: Vec<String> = topics.into_iter().flatten().collect();
        match topics.as_slice() {
            [one] => Some(format!("only for {one}")),
            [one, other] => Some(format!("only for {one} and {other}")),
            _ if all(&|departure| is_about_lengths(departure.law)) => {
                Some("only in the lengths of the errors".to_owned())
            }
            _ if all(&is_about_replacements) => Some("only in what it writes for ill-formed bytes".to_owned()),
            [one, other, third] => Some(format!("only for {one}, {other} and {third}")),
            _ => None,
        }
    }
}

/// Whether only the length of an error differs; the offsets of later errors follow from it.
fn is_about_lengths(law: Law) -> bool {
    matches!(law, Law::ErrorLength | Law::Spans)
}

/// Whether only the output for ill-formed bytes differs.
fn is_about_replacements(Departure { law, subject, .. }: &Departure) -> bool {
    matches!(law.aspect(), Aspect::Output | Aspect::Stream) && !matches!(subject, Subject::WellFormed(_))
}

/// What a departure is about, in words; `None` if the decoder ended its process or there are faults of several kinds.
fn topic_of(contract: &Contract, departure: &Departure) -> Option<String> {
    match departure.subject {
        Subject::Unplaced | Subject::End => {
            let mut kinds = segments(contract, &departure.bytes).filter_map(|segment| match segment.reading {
                Reading::IllFormed { kind, .. } => Some(kind),
                Reading::WellFormed(_) => None,
            });
            let Some(first) = kinds.next() else {
                let width = segments(contract, &departure.bytes).map(|segment| segment.len).max()?;
                return Some(well_formed(width));
            };
            kinds.all(|kind| topic(kind) == topic(first)).then(|| topic(first).to_owned())
        }
        Subject::Fault(kind) => Some(topic(kind).to_owned()),
        Subject::WellFormed(width) => Some(well_formed(width)),
        Subject::Process(_) => None,
    }
}

fn well_formed(width: usize) -> String {
    match width {
        1 => "ASCII characters".to_owned(),
        _ => format!("well-formed {width}-byte sequences"),
    }
}

fn topic(kind: Kind) -> &'static str {
    match kind {
        Kind::Continuation => "continuation bytes without a lead byte",
        Kind::InvalidByte => "bytes that no sequence contains",
        Kind::Overlong(_) => "overlong forms",
        Kind::Surrogate | Kind::SurrogatePair => "surrogates",
        Kind::TooLarge => "code points that are too large",
        Kind::TooShort | Kind::Incomplete => "truncated sequences",
        Kind::Noncharacter => "noncharacters",
        Kind::FourByte => "four-byte forms",
        Kind::Null => "NUL",
    }
}
