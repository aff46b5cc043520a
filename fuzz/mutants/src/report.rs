//! The report: what became of the mutants, and why those that no test notices may stay.

use crate::{Mutant, Outcome};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Why some mutants need not be noticed.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reasons {
    #[serde(default)]
    group: Vec<Group>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Group {
    reason: String,
    /// With this feature, as Linux names it, the processor can run the mutants, and the group does not apply.
    without: Option<String>,
    /// Names without line and column; `*` stands for any text.
    mutants: Vec<String>,
}

impl Reasons {
    /// Leaves out the groups for processors without a feature that this one has. `features` is what Linux says of the
    /// processor in `/proc/cpuinfo`.
    pub fn on(mut self, features: &str) -> Self {
        let has = |feature: &String| features.split_whitespace().any(|word| word == feature);
        self.group.retain(|group| !group.without.as_ref().is_some_and(has));
        self
    }

    /// The pattern that matches this name, and its reason.
    pub fn of(&self, name: &str) -> Option<(&str, &str)> {
        let patterns = self.group.iter().flat_map(|group| group.mutants.iter().map(move |pattern| (pattern, group)));
        let (pattern, group) = patterns.into_iter().find(|(pattern, _)| matches(pattern, name))?;
        Some((pattern, &group.reason))
    }
}

/// The name without line and column, and numbered where a file has several of that name.
pub fn names(mutants: &[Mutant]) -> Vec<String> {
    let mut seen = BTreeMap::new();
    let name = |mutant: &Mutant| {
        let said = mutant.name.splitn(4, ':').nth(3).unwrap_or(&mutant.name).trim();
        let name = format!("{}: {said}", mutant.file);
        let count = seen.entry(name.clone()).and_modify(|count| *count += 1).or_insert(1);
        if *count == 1 { name } else { format!("{name} ({count})") }
    };
    mutants.iter().map(name).collect()
}

/// The report as Markdown, and whether all is well: every mutant is noticed, or has a reason why it need not be, and no test
/// fails without a mutant.
pub fn report(
    mutants: &[Mutant],
    outcomes: &[(Outcome, Option<String>)],
    reasons: &Reasons,
    failed: &[String],
) -> (String, bool) {
    let names = names(mutants);
    let mut used = BTreeSet::new();
    let mut reason = |name: &str| {
        let (pattern, reason) = reasons.of(name)?;
        used.insert(pattern);
        Some(reason)
    };
    let mut folders: BTreeMap<String, BTreeMap<Outcome, usize>> = BTreeMap::new();
    let (mut explained, mut open) = (BTreeMap::<&str, Vec<&str>>::new(), Vec::new());
    for ((mutant, name), (outcome, _)) in mutants.iter().zip(&names).zip(outcomes) {
        let folder = mutant.file.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        *folders.entry(folder).or_default().entry(*outcome).or_insert(0) += 1;
        if matches!(outcome, Outcome::Missed | Outcome::Unreached) {
            match reason(name) {
                Some(reason) => explained.entry(reason).or_default().push(name),
                None => open.push((name, outcome)),
            }
        }
    }
    let total = |outcome| outcomes.iter().filter(|(other, _)| *other == outcome).count();
    let mut out = String::from(
        "# Mutants\n\nSmall changes of the code, and whether a test notices; written by `.ci/mutants`.\n\n",
    );
    let _ = writeln!(
        out,
        "{} mutants: {} caught, {} timed out (an endless loop is noticed, too), {} do not compile, {} are missed: {} of these \
         have a reason below, and {} do not.\n",
        mutants.len(),
        total(Outcome::Caught),
        total(Outcome::TimedOut),
        total(Outcome::Unviable),
        total(Outcome::Missed) + total(Outcome::Unreached),
        total(Outcome::Missed) + total(Outcome::Unreached) - open.len(),
        open.len(),
    );
    out += "| place | caught | timed out | do not compile | missed | not reached |\n| --- | --: | --: | --: | --: | --: |\n";
    for (folder, counts) in &folders {
        let count = |outcome| counts.get(&outcome).copied().unwrap_or(0);
        let _ = writeln!(
            out,
            "| `{folder}` | {} | {} | {} | {} | {} |",
            count(Outcome::Caught),
            count(Outcome::TimedOut),
            count(Outcome::Unviable),
            count(Outcome::Missed),
            count(Outcome::Unreached)
        );
    }
    if !failed.is_empty() {
        let _ = writeln!(out, "\n## Tests that fail without a mutant\n\n```text\n{}\n```", failed.join("\n"));
    }
    if !open.is_empty() {
        out += "\n## Missed without a reason\n\n```text\n";
        for (name, outcome) in &open {
            let _ =
                writeln!(out, "{}{name}", if **outcome == Outcome::Unreached { "no test reaches it: " } else { "" });
        }
        out += "```\n";
    }
    if !explained.is_empty() {
        out += "\n## Missed with a reason\n";
    }
    for (reason, names) in &explained {
        let _ = writeln!(out, "\n{reason}\n\n```text\n{}\n```", names.join("\n"));
    }
    let patterns = reasons.group.iter().flat_map(|group| &group.mutants);
    let unused: Vec<&String> = patterns.filter(|pattern| !used.contains(pattern.as_str())).collect();
    unused.iter().for_each(|pattern| eprintln!("no mutant needs this reason any more: {pattern}"));
    (out, open.is_empty() && unused.is_empty() && failed.is_empty())
}

/// Whether a pattern in which `*` stands for any text matches the whole name. Names contain `*` too, which it also matches.
fn matches(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            (0..=rest.len()).filter(|&at| rest.is_char_boundary(at)).any(|at| matches(after, &rest[at..]))
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_for_lack_of_a_feature_does_not_apply_where_the_processor_has_it() {
        let text = "[[group]]\nreason = 'not here'\nwithout = 'wide'\nmutants = ['wide.rs: *']\n";
        let reason = |features: &str| {
            let reasons = toml::from_str::<Reasons>(text).unwrap().on(features);
            reasons.of("wide.rs: replace + with -").map(|(_, reason)| reason.to_owned())
        };
        assert_eq!(reason("flags : fpu wider\n").as_deref(), Some("not here"));
        assert_eq!(reason("flags : fpu wide\n"), None);
    }

    #[test]
    fn a_star_stands_for_any_text() {
        assert!(matches("a*c", "abbc") && matches("a*", "a") && matches("* with *", "x + with * in y"));
        assert!(!matches("a*c", "abbd") && !matches("a", "ab") && !matches("a*b", "a"));
    }
}
