//! What was covered, told from the very sets of cases that were run.

use crate::engine::check::{Covered, byte_strings, stretches};
use crate::generate::classes::padding::Filler;
use crate::generate::classes::plan;
use crate::generate::classes::plan::Ask;
use crate::report::certificate::Report;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Strings of some lengths at some offsets in one setting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Row {
    pub(super) part: String,
    /// First and last length.
    pub(super) lengths: (u32, u32),
    /// First and last of each stretch of offsets.
    pub(super) offsets: Vec<(usize, usize)>,
    pub(super) before: String,
    pub(super) behind: String,
    pub(super) asked: String,
    /// How many strings, each at how many offsets.
    pub(super) strings: u64,
    pub(super) cases: u64,
}

/// What a part came to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) cases: u64,
    pub(super) comparisons: Vec<(String, u64)>,
    pub(super) seconds: f64,
}

impl Part {
    pub(super) fn of(covered: &Covered) -> Self {
        Self::new(covered.part.name, covered.cases, &covered.comparisons, covered.seconds)
    }

    /// All of a run.
    pub(super) fn whole(report: &Report<'_>) -> Self {
        let statistics = &report.outcome.statistics;
        Self::new("byte strings", statistics.cases, &statistics.comparisons, report.seconds)
    }

    fn new(name: &str, cases: u64, comparisons: &[(std::borrow::Cow<'static, str>, u64)], seconds: f64) -> Self {
        let comparisons = comparisons.iter().map(|(name, count)| (name.clone().into_owned(), *count)).collect();
        Self { name: name.to_owned(), cases, comparisons, seconds }
    }

    pub(super) fn compared(&self) -> u64 {
        self.comparisons.iter().map(|(_, count)| count).sum()
    }
}

/// The offsets of each length in one setting.
type Lengths = BTreeMap<u32, Vec<usize>>;

/// The sets of a part: one row for lengths that stand at the same offsets in the same setting.
pub(super) fn rows(part: &plan::Part) -> Vec<Row> {
    let mut settings: BTreeMap<(Ask, Filler, Option<Filler>), Lengths> = BTreeMap::new();
    for set in &part.sets {
        let lengths = settings.entry((set.ask, set.before, set.behind)).or_default();
        lengths.entry(set.strings.len).or_default().push(set.strings.offset);
    }
    let mut rows = Vec::new();
    for ((ask, before, behind), lengths) in settings {
        let mut setting: Vec<Row> = Vec::new();
        for (len, mut offsets) in lengths {
            offsets.sort_unstable();
            let strings = 13u64.pow(len) * offsets.len() as u64;
            let cases = strings * ask.variants(len);
            let offsets = stretches(offsets);
            match setting.last_mut() {
                Some(row) if row.offsets == offsets && row.lengths.1 + 1 == len => {
                    row.lengths.1 = len;
                    row.strings += strings;
                    row.cases += cases;
                }
                _ => setting.push(Row {
                    part: part.name.to_owned(),
                    lengths: (len, len),
                    before: if offsets == [(0, 0)] { "nothing" } else { before.name() }.to_owned(),
                    behind: behind.map_or("nothing".to_owned(), |filler| {
                        format!("{} bytes {}", plan::Set::BEHIND, filler.name())
                    }),
                    offsets,
                    asked: ask.says().to_owned(),
                    strings,
                    cases,
                }),
            }
        }
        rows.extend(setting);
    }
    rows
}

/// Every byte string of a length: alone, and for some decoders across the edge of a block.
pub(super) fn byte_rows(report: &Report<'_>, len: u32) -> Vec<Row> {
    let strings = 1u64 << (8 * len);
    let row = |offset, before: &str, behind: String, decoders: Vec<&str>| Row {
        part: "byte strings".to_owned(),
        lengths: (len, len),
        offsets: vec![(offset, offset)],
        before: before.to_owned(),
        behind,
        asked: format!("verdict, and offset, length and kind of the first error where stated: {}", decoders.join(", ")),
        strings,
        cases: strings,
    };
    let infos = || report.decoders.iter().map(|decoder| decoder.info());
    let mut rows = vec![row(0, "nothing", "nothing".to_owned(), infos().map(|info| &*info.name).collect())];
    let across: Vec<_> =
        infos().filter(|info| byte_strings::is_asked_across(info, len)).map(|info| &*info.name).collect();
    if !across.is_empty() {
        let before = byte_strings::bytes_before(len);
        let behind = byte_strings::ACROSS - before - len as usize;
        rows.push(row(before, "ASCII", format!("{behind} bytes ASCII"), across));
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::generate::classes::strings::Block;

    /// The sets a row tells of.
    fn sets(row: &Row) -> Vec<plan::Set> {
        let filler = |name: &str| Filler::ALL.into_iter().find(|filler| name.ends_with(filler.name()));
        let asks = [Ask::Everything, Ask::Bytes, Ask::Answers, Ask::EveryWayCut, Ask::EveryCut, Ask::Placement];
        let ask = asks.into_iter().find(|ask| ask.says() == row.asked).unwrap();
        let before = filler(&row.before).unwrap_or(Filler::Ascii);
        let offsets = || row.offsets.iter().flat_map(|&(first, last)| first..=last);
        let blocks = (row.lengths.0..=row.lengths.1).flat_map(|len| offsets().map(move |offset| Block { len, offset }));
        blocks.map(|strings| plan::Set { strings, before, behind: filler(&row.behind), ask }).collect()
    }

    #[test]
    fn rows_tell_of_every_set_and_of_no_other() {
        for part in plan::deep() {
            let rows = rows(&part);
            let mut told: Vec<_> = rows.iter().flat_map(sets).map(|set| format!("{set:?}")).collect();
            let mut run: Vec<_> = part.sets.iter().map(|set| format!("{set:?}")).collect();
            told.sort();
            run.sort();
            assert_eq!(told, run);
            assert_eq!(rows.iter().map(|row| row.cases).sum::<u64>(), part.cases());
            assert_eq!(
                rows.iter().map(|row| row.strings).sum::<u64>(),
                part.sets.iter().map(|set| set.strings.count()).sum::<u64>()
            );
        }
    }
}
