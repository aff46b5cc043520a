//! What each decoder answered: which decoders give the same answers, and how often; and the agreement grid of one case, in
//! which answers are grouped, with the number of lineages.
//!
//! Contracts play no part in agreement: decoders with different contracts may differ without either being wrong.

use crate::case::Case;
use crate::decoder::Decoder;
use crate::judge::expect::{Expectation, Expectations, Questions};
use crate::judge::isolate::panics;
use crate::judge::laws;
use crate::judge::laws::verdict_mismatch;
use crate::judge::observe::{Observation, Streams};
use crate::spec::Contract;
use crate::utf8::Validity;
use core::fmt;
use std::borrow::Cow;

/// For each pair of decoders, on how many inputs they agree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Agreement {
    /// How many inputs there were.
    pub inputs: u64,
    /// The decoders.
    pub decoders: Vec<Cow<'static, str>>,
    /// By row and column: on how many inputs both agree in everything that both answer.
    pub same: Vec<Vec<u64>>,
    /// By row and column: on how many inputs both give answers that can be compared.
    pub asked: Vec<Vec<u64>>,
}

/// What a decoder answered, printable.
pub(super) enum Answer {
    Panicked,
    /// What it stated: the verdict, the output, or both.
    Given {
        verdict: Option<Validity>,
        output: Option<Vec<u8>>,
    },
}

impl Agreement {
    /// Asks all decoders for verdict and output of all inputs.
    pub fn of<'i>(decoders: &[&dyn Decoder], inputs: impl IntoIterator<Item = &'i [u8]>) -> Self {
        let count = decoders.len();
        let (mut same, mut asked) = (vec![vec![0; count]; count], vec![vec![0; count]; count]);
        let mut seen = 0;
        for bytes in inputs {
            seen += 1;
            let answers: Vec<Answer> = decoders.iter().map(|decoder| answer(*decoder, bytes)).collect();
            for (row, one) in answers.iter().enumerate() {
                for (column, other) in answers.iter().enumerate() {
                    let agrees = one.agrees_with(other);
                    asked[row][column] += u64::from(agrees.is_some());
                    same[row][column] += u64::from(agrees == Some(true));
                }
            }
        }
        let decoders = decoders.iter().map(|decoder| decoder.info().name.clone()).collect();
        Self { inputs: seen, decoders, same, asked }
    }
}

fn answer(decoder: &dyn Decoder, bytes: &[u8]) -> Answer {
    let (mut verdict, mut output) = (None, Vec::new());
    let mut written = None;
    let ask = || {
        verdict = decoder.validate(bytes);
        written = decoder.decode_lossy(bytes, &mut output);
    };
    if panics(&decoder.info().name, bytes, ask) {
        return Answer::Panicked;
    }
    Answer::Given { verdict, output: written.map(|()| output) }
}

impl Answer {
    /// Whether both agree in everything that both state; `None` if they state nothing that can be compared.
    pub(super) fn agrees_with(&self, other: &Self) -> Option<bool> {
        let (Self::Given { verdict, output }, Self::Given { verdict: other_verdict, output: other_output }) =
            (self, other)
        else {
            return Some(matches!((self, other), (Self::Panicked, Self::Panicked)));
        };
        let verdicts = verdict.as_ref().zip(other_verdict.as_ref()).map(|(a, b)| verdict_mismatch(a, b).is_none());
        let outputs = output.as_ref().zip(other_output.as_ref()).map(|(a, b)| a == b);
        [verdicts, outputs].into_iter().flatten().reduce(|a, b| a && b)
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Given { verdict, output } = self else { return f.write_str("panicked") };
        let verdict = verdict.map(|verdict| verdict.to_string());
        let output = output.as_deref().map(|bytes| if bytes.is_empty() { "(nothing)".to_owned() } else { hex(bytes) });
        let stated: Vec<String> = [verdict, output].into_iter().flatten().collect();
        f.write_str(if stated.is_empty() { "no answer" } else { "" })?;
        f.write_str(&stated.join("; "))
    }
}

/// What each decoder answered on one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The contract whose answers are marked with a star.
    pub contract: Contract,
    /// The questions at least one decoder answers.
    pub questions: Vec<Question>,
}

/// One question and its answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// `verdict`, `output` or `stream`.
    pub name: &'static str,
    /// The answers: first the one of the arbiter, then those that agree with it but state less, then the others.
    pub groups: Vec<Group>,
}

/// The decoders that give one answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The answer, printable: exactly what these decoders stated.
    pub answer: String,
    /// Whether everything it states agrees with the answer of `spec` under the contract of the grid.
    pub arbiter: bool,
    /// The decoders.
    pub decoders: Vec<Cow<'static, str>>,
    /// The decoders whose own contract this answer violates.
    pub breaches: Vec<Breach>,
    /// The lineages that gave the answer, without duplicates.
    pub lineages: Vec<String>,
}

/// An answer that violates the decoder's own contract.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breach {
    /// The decoder.
    pub decoder: Cow<'static, str>,
    /// The answer its contract requires.
    pub expected: String,
}

/// The questions, in the order in which [`expected`] answers them.
const QUESTIONS: [(&str, Questions); 3] =
    [("verdict", Questions::VERDICT), ("output", Questions::OUTPUT), ("stream", Questions::CHUNKS)];

impl Grid {
    /// Asks all decoders. The answers of `contract` are marked with a star; each decoder is held to its own contract.
    pub fn of<'d>(contract: &Contract, decoders: impl IntoIterator<Item = &'d dyn Decoder>, case: &Case<'_>) -> Self {
        let mut expectations = Expectations::default();
        let place = expectations.place(*contract);
        let arbiter = expectations.of(place, case.bytes, true).map(|arbiter| expected(&arbiter));
        let arbiter = arbiter.into_iter().flatten().collect::<Vec<_>>();
        let mut questions: Vec<Question> = QUESTIONS
            .iter()
            .zip(&arbiter)
            .map(|((name, _), answer)| Question { name, groups: vec![Group::new(answer.to_string(), true)] })
            .collect();
        for decoder in decoders {
            let info = decoder.info();
            let place = expectations.place(info.contract);
            let Some(own) = expectations.of(place, case.bytes, true) else { continue };
            let lineage = info.lineage.at(case.bytes.len());
            let of_contract = expected(&own).into_iter();
            for (index, ((_, asked), of_contract)) in QUESTIONS.iter().zip(of_contract).enumerate() {
                let (answer, keeps_contract) = ask(decoder, *asked, &own, case);
                let Some(answer) = answer else { continue };
                let agrees = answer.agrees_with(&arbiter[index]) == Some(true);
                let group = questions[index].group(&answer.to_string(), agrees);
                group.decoders.push(info.name.clone());
                if !keeps_contract {
                    group.breaches.push(Breach { decoder: info.name.clone(), expected: of_contract.to_string() });
                }
                if !group.lineages.iter().any(|known| known == lineage) {
                    group.lineages.push(lineage.to_owned());
                }
            }
        }
        questions.retain(|question| question.groups.iter().any(|group| !group.decoders.is_empty()));
        questions.iter_mut().for_each(|question| question.groups.sort_by_key(|group| !group.arbiter));
        Self { contract: *contract, questions }
    }

    /// The contract; only its grammar if its answers are otherwise those of [`Contract::STANDARD`].
    fn marked_with_a_star(&self) -> String {
        let Contract { grammar, detection, .. } = self.contract;
        match self.contract == (Contract { grammar, detection, ..Contract::STANDARD }) {
            true => grammar.name.to_owned(),
            false => self.contract.to_string(),
        }
    }
}

/// The answer that a contract requires to each of the [`QUESTIONS`].
fn expected(expectation: &Expectation<'_>) -> [Answer; 3] {
    let verdict = Some(expectation.validity());
    let output = Some(expectation.lossy().to_vec());
    let replaces = expectation.contract().replacement.is_some();
    let is_decoded = replaces || expectation.validity().is_valid();
    [
        Answer::Given { verdict, output: None },
        Answer::Given { verdict: None, output: output.clone().filter(|_| is_decoded) },
        Answer::Given { verdict, output: output.filter(|_| replaces) },
    ]
}

/// What a decoder answers, if it can answer, and whether that complies with its contract.
fn ask(decoder: &dyn Decoder, questions: Questions, own: &Expectation<'_>, case: &Case<'_>) -> (Option<Answer>, bool) {
    let mut observed = Observation::default();
    let ask = || {
        let mut streams = Streams { primary: decoder.stream(), interleaved: None };
        observed.observe(decoder, &mut streams, case, questions, own.errors());
    };
    if panics(&decoder.info().name, case.bytes, ask) {
        return (Some(Answer::Panicked), false);
    }
    let streamed = observed.streamed();
    let verdict = observed.verdict.or(streamed.and_then(|streamed| streamed.validity));
    let of_stream =
        streamed.filter(|_| own.contract().replacement.is_some()).map(|streamed| streamed.output.as_slice());
    let output = observed.output().or(of_stream).map(<[u8]>::to_vec);
    let is_given = verdict.is_some() || output.is_some();
    let keeps_contract = laws::first_broken(decoder.info().promise, own, &mut observed, case, &mut 0).is_none();
    (is_given.then_some(Answer::Given { verdict, output }), keeps_contract)
}

impl Question {
    /// The group of this answer, which is created if it does not exist.
    fn group(&mut self, answer: &str, arbiter: bool) -> &mut Group {
        let same = |group: &Group| (group.arbiter, group.answer.as_str()) == (arbiter, answer);
        let index = self.groups.iter().position(same).unwrap_or_else(|| {
            self.groups.push(Group::new(answer.to_owned(), arbiter));
            self.groups.len() - 1
        });
        &mut self.groups[index]
    }
}

impl Group {
    fn new(answer: String, arbiter: bool) -> Self {
        Self { answer, arbiter, decoders: Vec::new(), breaches: Vec::new(), lineages: Vec::new() }
    }

    /// The decoders, with a mark for those whose contract the answer violates.
    fn marked(&self) -> String {
        let breaks = |decoder: &Cow<'_, str>| self.breaches.iter().any(|breach| breach.decoder == *decoder);
        let names: Vec<String> = self
            .decoders
            .iter()
            .map(|decoder| format!("{decoder}{}", if breaks(decoder) { "!" } else { "" }))
            .collect();
        names.join(", ")
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for question in &self.questions {
            let groups = &question.groups;
            let is_marked = groups.iter().any(|group| !group.breaches.is_empty());
            let marks = if is_marked { "; ! breaks its own contract" } else { "" };
            writeln!(f, "{} (* is the answer of {}{marks})", question.name, self.marked_with_a_star())?;
            for group in groups {
                let mark = if group.arbiter { '*' } else { ' ' };
                writeln!(f, "{mark} {}", group.answer)?;
                match group.decoders.len() {
                    0 => writeln!(f, "    no decoder answers this")?,
                    count => {
                        let counts = lineage_count(count, group.lineages.len());
                        writeln!(f, "    {}  ({counts})", group.marked())?;
                    }
                }
                let other = group.breaches.iter().filter(|breach| breach.expected != groups[0].answer);
                other.into_iter().try_for_each(|Breach { decoder, expected }| {
                    writeln!(f, "    {decoder}! should answer: {expected}")
                })?;
            }
        }
        Ok(())
    }
}

fn lineage_count(decoders: usize, lineages: usize) -> String {
    let plural = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    format!("{}, {}", plural(decoders, "decoder"), plural(lineages, "lineage"))
}

/// The decoders that are held to one grammar, and which of them accept an input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Family {
    /// The name of the grammar.
    pub grammar: &'static str,
    /// The decoders that accept the input, in the order of the list.
    pub accept: Vec<Cow<'static, str>>,
    /// Those that reject it, or panic.
    pub reject: Vec<Cow<'static, str>>,
}

impl Family {
    /// The families of these decoders, by the verdicts in a grid. Decoders without a verdict are left out.
    pub fn all<'d>(grid: &Grid, decoders: impl IntoIterator<Item = &'d dyn Decoder>) -> Vec<Self> {
        let verdict = grid.questions.iter().find(|question| question.name == "verdict");
        let groups = verdict.map_or(&[][..], |question| &question.groups);
        let mut families: Vec<Self> = Vec::new();
        for decoder in decoders {
            let info = decoder.info();
            let Some(group) = groups.iter().find(|group| group.decoders.contains(&info.name)) else { continue };
            let grammar = info.contract.grammar.name;
            let index = families.iter().position(|family| family.grammar == grammar).unwrap_or_else(|| {
                families.push(Self { grammar, accept: Vec::new(), reject: Vec::new() });
                families.len() - 1
            });
            let accepts = group.answer == "valid";
            let side = if accepts { &mut families[index].accept } else { &mut families[index].reject };
            side.push(info.name.clone());
        }
        families
    }

    /// What they do, in a line: how many accept and reject the input, and their names if these are few.
    pub fn says(&self) -> String {
        /// More names than this do not fit a line.
        const NAMED: usize = 4;
        let part = |names: &[Cow<'static, str>], one: &str, many: &str, others: usize| {
            let does = if names.len() == 1 { one } else { many };
            let named = names.len() <= NAMED && (others > 0 || names.len() == 1);
            let which = if named { format!(" ({})", names.join(", ")) } else { String::new() };
            format!("{} {does} it{which}", names.len())
        };
        let (accept, reject) = (&self.accept, &self.reject);
        let accepts = part(accept, "accepts", "accept", reject.len());
        let rejects = part(reject, "rejects", "reject", accept.len());
        match (accept.len(), reject.len()) {
            (_, 0) => accepts,
            (0, _) => rejects,
            (accept, reject) if accept < reject => format!("{rejects}, {accepts}"),
            _ => format!("{accepts}, {rejects}"),
        }
    }
}

/// Upper-case hexadecimal pairs separated by spaces, truncated to 64 bytes.
pub(super) fn hex(bytes: &[u8]) -> String {
    let mut pairs: Vec<String> = bytes.iter().take(64).map(|byte| format!("{byte:02X}")).collect();
    if bytes.len() > 64 {
        pairs.push(format!("… {} bytes", bytes.len()));
    }
    pairs.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoder::Info;

    struct Says(Info, fn(&[u8]) -> Option<Validity>, Option<&'static [u8]>);

    impl Decoder for Says {
        fn info(&self) -> &Info {
            &self.0
        }

        fn validate(&self, bytes: &[u8]) -> Option<Validity> {
            (self.1)(bytes)
        }

        fn decode_lossy(&self, _: &[u8], out: &mut Vec<u8>) -> Option<()> {
            self.2.map(|text| out.extend_from_slice(text))
        }
    }

    #[test]
    fn pairs_are_compared_in_what_both_state() {
        let valid = |_: &[u8]| Some(Validity::Valid);
        let info = |name| Info::new(name, "0");
        let decoders = [
            Says(info("valid"), valid, None),
            Says(info("valid-a"), valid, Some(b"a")),
            Says(info("a"), |_| None, Some(b"a")),
            Says(info("valid-b"), valid, Some(b"b")),
            Says(info("short"), |bytes| Some(if bytes.len() < 2 { Validity::Valid } else { Validity::INVALID }), None),
            Says(info("panics"), |_| panic!("no answer"), None),
        ];
        let decoders: Vec<&dyn Decoder> = decoders.iter().map(|decoder| decoder as &dyn Decoder).collect();
        let agreement = Agreement::of(&decoders, [&b"x"[..], b"xy", b"xyz"]);
        assert_eq!((agreement.inputs, &*agreement.decoders[4]), (3, "short"));
        let same = [
            [3, 3, 0, 3, 1, 0],
            [3, 3, 3, 0, 1, 0],
            [0, 3, 3, 0, 0, 0],
            [3, 0, 0, 3, 1, 0],
            [1, 1, 0, 1, 3, 0],
            [0, 0, 0, 0, 0, 3],
        ];
        assert_eq!(agreement.same, same);
        // A validator and one that only decodes have nothing in common.
        assert_eq!((agreement.asked[0][2], agreement.asked[4][2], agreement.asked[0][5]), (0, 0, 3));
        assert!(Agreement::of(&decoders[..0], [&b""[..]]).decoders.is_empty());
    }

    #[test]
    fn the_exceptions_are_named() {
        let names = |count: usize| (0..count).map(|index| format!("d{index}").into()).collect::<Vec<_>>();
        let says = |accept, reject| Family { grammar: "", accept: names(accept), reject: names(reject) }.says();
        assert_eq!(says(1, 9), "9 reject it, 1 accepts it (d0)");
        assert_eq!(says(2, 3), "3 reject it (d0, d1, d2), 2 accept it (d0, d1)");
        assert_eq!(says(9, 0), "9 accept it");
        assert_eq!(says(0, 1), "1 rejects it (d0)");
    }

    #[test]
    fn a_family_is_said_in_a_line() {
        let says = |accept: &str, reject: &str| {
            let names = |names: &str| names.split_whitespace().map(|name| Cow::Owned(name.to_owned())).collect();
            Family { grammar: "rfc3629", accept: names(accept), reject: names(reject) }.says()
        };
        assert_eq!(says("a", ""), "1 accepts it (a)");
        assert_eq!(says("a b", ""), "2 accept it");
        assert_eq!(says("", "a b"), "2 reject it");
        assert_eq!(says("a b", "c"), "2 accept it (a, b), 1 rejects it (c)");
        assert_eq!(says("a", "b c"), "2 reject it (b, c), 1 accepts it (a)");
        assert_eq!(says("a b", "c d"), "2 accept it (a, b), 2 reject it (c, d)");
        assert_eq!(says("a b c d", "e"), "4 accept it (a, b, c, d), 1 rejects it (e)");
        assert_eq!(says("a b c d e", "f"), "5 accept it, 1 rejects it (f)");
    }

    #[test]
    fn long_bytes_are_cut_off() {
        assert_eq!(hex(&[0xC3; 64]), vec!["C3"; 64].join(" "));
        assert_eq!(hex(&[0xC3; 65]), vec!["C3"; 64].join(" ") + " … 65 bytes");
    }
}
