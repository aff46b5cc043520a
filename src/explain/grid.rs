//! The agreement grid: who says what, grouped by answer, lineages counted.

use crate::case::Case;
use crate::decoder::Decoder;
use crate::explain::annotate::hex;
use crate::judge::expect::Expectations;
use crate::judge::feed::Streams;
use crate::judge::isolate::panics::panics;
use crate::judge::laws;
use crate::judge::observe::Observation;
use crate::judge::question::Questions;
use crate::spec::Contract;
use crate::utf8::Validity;
use core::fmt;
use std::borrow::Cow;

/// Who says what of one case.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grid {
    /// The questions at least one decoder answers.
    pub questions: Vec<Question>,
}

/// One question and its answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// `verdict`, `output` or `stream`.
    pub name: &'static str,
    /// The answers; the arbiter's stands first.
    pub groups: Vec<Group>,
}

/// The decoders that give one answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The answer, printable.
    pub answer: String,
    /// True for what `spec` answers under [`Contract::STANDARD`]. A decoder is in this group if it says what `spec`
    /// says under its own contract and leaves out no more than that contract lets it.
    pub arbiter: bool,
    /// The decoders.
    pub decoders: Vec<Cow<'static, str>>,
    /// Whose code gave the answer, each once.
    pub lineages: Vec<String>,
}

impl Grid {
    /// Asks all decoders.
    pub fn of<'d>(decoders: impl IntoIterator<Item = &'d dyn Decoder>, case: &Case<'_>) -> Self {
        let output = |bytes: &[u8]| if bytes.is_empty() { "(nothing)".to_owned() } else { hex(bytes) };
        let mut expectations = Expectations::default();
        let place = expectations.place(Contract::STANDARD);
        let standard = expectations.of(place, case.bytes, true);
        let verdict = standard.map_or(Validity::Valid, |standard| standard.validity());
        let text = standard.map_or(String::new(), |standard| output(standard.lossy()));
        let answers = [verdict.to_string(), text.clone(), text];
        let mut questions: Vec<Question> = ["verdict", "output", "stream"]
            .into_iter()
            .zip(answers)
            .map(|(name, answer)| Question { name, groups: vec![Group::new(answer, true)] })
            .collect();
        for decoder in decoders {
            let place = expectations.place(decoder.info().contract);
            let Some(own) = expectations.of(place, case.bytes, true) else { continue };
            let none = Questions::NONE;
            let ask = |questions: Questions| {
                let mut seen = Observation::default();
                let panicked = panics(|| {
                    let mut streams = Streams { asked: decoder.stream(), beside: None };
                    seen.observe(decoder, &mut streams, case, questions, own.errors());
                });
                let keeps = !panicked && laws::first_broken(&own, &seen, case, &mut 0).is_none();
                (seen, keeps, panicked)
            };
            let lineage = decoder.info().lineage.at(case.bytes.len());
            let mut add = |question: usize, keeps: bool, answer: String| {
                questions[question].add(keeps, answer, &decoder.info().name, lineage);
            };
            let (seen, keeps, panicked) = ask(Questions { verdict: true, ..none });
            if panicked {
                add(0, keeps, "panicked".into());
            } else if let Some(validity) = seen.validity {
                add(0, keeps, validity.to_string());
            }
            let (seen, keeps, panicked) = ask(Questions { lossy: true, ..none });
            if panicked {
                add(1, keeps, "panicked".into());
            } else if seen.lossy.is_some() {
                add(1, keeps, output(&seen.lossy_bytes));
            }
            let (seen, keeps, panicked) = ask(Questions { stream: true, ..none });
            if panicked {
                add(2, keeps, "panicked".into());
            } else if let Some(streamed) = seen.streamed {
                let verdict = streamed.validity.map(|validity| validity.to_string());
                let text = own.contract().replacement.map(|_| output(&seen.streamed_output.bytes));
                add(2, keeps, [verdict, text].into_iter().flatten().collect::<Vec<_>>().join("; "));
            }
        }
        questions.retain(|question| question.groups.iter().any(|group| !group.decoders.is_empty()));
        Self { questions }
    }
}

impl Question {
    fn add(&mut self, arbiter: bool, answer: String, name: &Cow<'static, str>, lineage: &str) {
        let same = |group: &Group| if arbiter { group.arbiter } else { !group.arbiter && group.answer == answer };
        let index = self.groups.iter().position(same).unwrap_or_else(|| {
            self.groups.push(Group::new(answer, false));
            self.groups.len() - 1
        });
        let group = &mut self.groups[index];
        group.decoders.push(name.clone());
        if !group.lineages.iter().any(|known| known == lineage) {
            group.lineages.push(lineage.to_owned());
        }
    }
}

impl Group {
    fn new(answer: String, arbiter: bool) -> Self {
        Self { answer, arbiter, decoders: Vec::new(), lineages: Vec::new() }
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for question in &self.questions {
            writeln!(f, "{} (* is what the standard says)", question.name)?;
            for group in &question.groups {
                let mark = if group.arbiter { '*' } else { ' ' };
                writeln!(f, "{mark} {}", group.answer)?;
                let (decoders, lineages) = (group.decoders.len(), group.lineages.len());
                let names = if decoders == 0 { "no decoder".to_owned() } else { group.decoders.join(", ") };
                writeln!(f, "    {names}  ({})", lineage_count(decoders, lineages))?;
            }
        }
        Ok(())
    }
}

fn lineage_count(decoders: usize, lineages: usize) -> String {
    let plural = |count: usize, noun: &str| format!("{count} {noun}{}", if count == 1 { "" } else { "s" });
    format!("{}, {}", plural(decoders, "decoder"), plural(lineages, "lineage"))
}
