//! Contracts: all of them, what each answers to a list of inputs, and which input tells most of them apart; a contract in
//! words, and as Rust.
//!
//! [`confirm`] then holds a decoder to the contract that was found, and says on which inputs it departs from that and
//! what those have in common.

use crate::case::Case;
use crate::decoder::{Batched, Decoder};
use crate::generate::classes::ClassPartition;
use crate::generate::{fragments, plan};
use crate::judge::laws::{Aspect, verdict_mismatch};
use crate::judge::{Broken, Judge, Law, Questions, Subject};
use crate::spec::grammar::{ALL, RFC2279, RFC3629};
use crate::spec::{Bom, Contract, Detection, End, Reading, Replacement, Segmentation, lossy, segments, validity};
use crate::text::hex;
use crate::utf8::{Kind, Malformed, Validity};
use core::fmt;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::LazyLock;

/// What a decoder answers to one input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Answer {
    /// The verdict; `None` if it has none.
    pub verdict: Option<Validity>,
    /// The text; `None` if it gives none.
    pub output: Option<Vec<u8>>,
    /// Whether it failed instead of answering.
    pub panicked: bool,
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.verdict, &self.output) {
            _ if self.panicked => f.write_str("no answer: it fails"),
            (None, None) => f.write_str("no answer"),
            (Some(verdict), None) => verdict.fmt(f),
            (None, Some(output)) => write!(f, "output {}", hex(output)),
            (Some(verdict), Some(output)) => write!(f, "{verdict}, output {}", hex(output)),
        }
    }
}

/// Which parts of an answer a decoder states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Abilities {
    /// A verdict.
    pub verdict: bool,
    /// With the verdict, the offset of the first error.
    pub offset: bool,
    /// With the verdict, the length of the first error.
    pub length: bool,
    /// Text.
    pub output: bool,
    /// Text for ill-formed input too.
    pub replacement: bool,
}

/// The inputs of which the questionnaire consists. Together they tell apart all contracts that any class string of up
/// to four bytes tells apart; a test compares every second contract.
pub(super) const INPUTS: &[&[u8]] = &[
    b"\xC0\x80\x80A",
    b"\xED\xA0\x80\xED\xB0\x80",
    b"\xEF\xBB\xBFA",
    b"\xF4\x90\x80\x80",
    b"\xF8\x88\x80\x80\x80",
    b"\xE0\xF0\x90",
    b"\0",
    b"\xF0\x90\x80\x80",
    b"\xC0\x90\x80",
    b"\xFF\x80",
    b"\xF5\x80",
    b"\xE0\xA0",
    b"\xFC\x80\x80\x80\x80\x80",
    b"\x80\x80",
    b"\xF8\x80",
    b"\xC0\x80",
    b"\xC1\xBF",
    b"\xE0\x80\xAF",
    b"\xE0\x9F\xBFA",
    b"\xF0\x80\x80\xAF",
    b"\xED\xA0\x80",
    b"\xED\xA0",
    b"\xED\xA0A",
    b"\xED\xB0\x80A",
    b"\xED\xA0\x80\xED\xA0\x80",
    b"\xEF\xBF\xBE",
    b"\xEF\xB7\x90",
    b"\xF0\x9F\xBF\xBF",
    b"\xF4\x8F\xBF\xBF",
    b"\xF5\x80\x80\x80A",
    b"\xF7\xBF\xBF\xBF",
    b"\xFB\xBF\xBF\xBF\xBFA",
    b"\xFD\xBF\xBF\xBF\xBF\xBF",
    b"\xFE\x80\x80",
    b"\xFF",
    b"A\x80B",
    b"\x81\x9D",
    b"\x85\xA0",
    b"\xE2\x82A",
    b"\xE2\x82",
    b"\xC2",
    b"\xC2\xFF",
    b"\xC2\xC3\x80",
    b"\xE1\x80\xC0\x80",
    b"\xE1\x80\xC2\x80",
    b"\xF1\x80\x80",
    b"\xF1\x80\x80\xF1A",
    b"\xF0\x80\x80",
    b"\xF4\x90\x80A",
    b"\xEF\xBB\xBF",
    b"\xEF\xBB\xBF\xEF\xBB\xBF",
    b"\xEF\xBB\xBF\xFF",
    b"A\xEF\xBB\xBF",
];

/// The replacements, and none.
fn replacements() -> impl Iterator<Item = Option<Replacement>> {
    Replacement::ALL.into_iter().map(Some).chain([None])
}

/// Every contract that does not contradict itself, the plainest first. Detection is always late: whether errors are
/// detected at once can be seen only in a stream.
pub fn all() -> Vec<Contract> {
    let mut contracts = Vec::new();
    for grammar in ALL {
        for segmentation in Segmentation::ALL {
            for replacement in replacements() {
                for bom in [Bom::Keep, Bom::Strip] {
                    for end in [End::Incomplete, End::Error] {
                        let detection = Detection::Late;
                        contracts.push(Contract { grammar, segmentation, replacement, bom, end, detection });
                    }
                }
            }
        }
    }
    contracts.retain(|contract| contract.check().is_ok());
    contracts
}

/// What a decoder with this contract answers, if it states all it can.
pub fn answer(contract: &Contract, bytes: &[u8]) -> Answer {
    let verdict = validity(contract, bytes);
    let mut output = Vec::new();
    let of_replacing = lossy(contract, bytes, &mut output);
    let output = match contract.replacement {
        Some(_) => of_replacing.map(|()| output),
        // It decodes what it accepts, as any decoder with the same grammar.
        None if verdict.is_valid() => {
            let replacing = Contract { replacement: Some(Replacement::ReplacementCharacter), ..*contract };
            let mut output = Vec::new();
            lossy(&replacing, bytes, &mut output).map(|()| output)
        }
        None => None,
    };
    Answer { verdict: Some(verdict), output, panicked: false }
}

/// A contract by whose grammar every output can be read: generalized and extended UTF-8.
pub(super) const GENERALIZED: Contract = Contract { grammar: &RFC2279, ..Contract::VALIDATOR };

/// What decoders of each grammar in which the bytes are well-formed decode them to, as extended UTF-8.
pub(super) fn decoded(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> + '_ {
    ALL.into_iter().filter_map(|grammar| answer(&Contract { grammar, ..Contract::VALIDATOR }, bytes).output)
}

impl Answer {
    /// The part that a decoder with these abilities states.
    pub fn stated(&self, able: Abilities) -> Self {
        let verdict = self.verdict.filter(|_| able.verdict).map(|verdict| match verdict {
            Validity::Valid => Validity::Valid,
            Validity::Invalid(Malformed { valid_up_to, len, .. }) => Validity::Invalid(Malformed {
                valid_up_to: valid_up_to.filter(|_| able.offset),
                len: len.filter(|_| able.length),
                kind: None,
            }),
        });
        Self { verdict, output: self.output.clone().filter(|_| able.output), panicked: self.panicked }
    }

    /// Whether a decoder that gave this answer may be one that is expected to give `expected`.
    pub fn agrees(&self, expected: &Self, able: Abilities) -> bool {
        // About some inputs a decoder cannot be asked, such as one that reads JSON about a quotation mark.
        let refuses_by_silence = !able.verdict && !able.replacement;
        if self.verdict.is_none() && self.output.is_none() && !self.panicked && !refuses_by_silence {
            return true;
        }
        let (observed, expected) = (self.stated(able), expected.stated(able));
        let verdict = match (&expected.verdict, &observed.verdict) {
            (Some(expected), Some(observed)) => verdict_mismatch(expected, observed).is_none(),
            _ => true,
        };
        verdict && (!able.output || observed.output == expected.output)
    }
}

/// Contracts with the answers of each to all inputs.
pub(super) struct Table {
    pub(super) contracts: Vec<Contract>,
    /// The answers of a contract to all inputs.
    answers: Vec<Vec<Answer>>,
}

impl Table {
    pub(super) fn get() -> &'static Self {
        static TABLE: LazyLock<Table> = LazyLock::new(|| {
            let contracts = all();
            let answers = |contract| INPUTS.iter().map(|bytes| answer(contract, bytes)).collect();
            let answers = contracts.iter().map(answers).collect();
            Table { contracts, answers }
        });
        &TABLE
    }

    pub(super) fn inputs(&self) -> &'static [&'static [u8]] {
        INPUTS
    }

    pub(super) fn answer(&self, contract: usize, input: usize) -> &Answer {
        &self.answers[contract][input]
    }

    /// Of the inputs left, the one whose answer leaves the fewest of these contracts in the worst case; `None` if no
    /// input tells any of them apart.
    pub(super) fn best(&self, contracts: &[usize], left: &[usize], able: Abilities) -> Option<usize> {
        let worst = |input: usize| {
            let mut groups: HashMap<_, usize> = HashMap::new();
            for &contract in contracts {
                let Answer { verdict, output, .. } = self.answer(contract, input).stated(able);
                let verdict = verdict.map(|verdict| match verdict {
                    Validity::Valid => None,
                    Validity::Invalid(Malformed { valid_up_to, len, .. }) => Some((valid_up_to, len)),
                });
                *groups.entry((verdict, output)).or_default() += 1;
            }
            groups.into_values().max().unwrap_or_default()
        };
        let (worst, input) = left.iter().map(|&input| (worst(input), input)).min()?;
        (worst < contracts.len()).then_some(input)
    }
}

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

/// The contract in a sentence: as a well-known decoder, except for what it does differently. Streams are not compared.
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
    let described = PROFILES.iter().map(|(who, profile)| (differences(profile), who, profile.end));
    let Some((mut all, who, end)) = described.min_by_key(|(all, ..)| all.len()) else { return String::new() };
    // The other way round it is also what is assumed of a decoder that does not show it.
    if (contract.end, end) == (End::Error, End::Incomplete) {
        all.push("with an incomplete sequence at the end as an error like any other".to_owned());
    }
    if all.is_empty() { format!("as {who}") } else { format!("as {who}, but {}", all.join(", ")) }
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

    /// Where the departure is. A place is named if all inputs seen have it, and the smallest, changed to lack it, shows no
    /// departure.
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
