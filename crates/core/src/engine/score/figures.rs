//! The figures of a score: of each engine, against plain libFuzzer and the rivals, and how many findings a fault has.

use crate::engine::score::{Behind, Cell, Comparison, Engine, Outcome, Row, Score, median};
use crate::explain::Shape;
use crate::judge::Subject;
use crate::triage::Cause;
use std::collections::BTreeSet;

/// The figures of a score.
#[derive(Clone, Debug, PartialEq)]
pub struct Summary<'a> {
    /// The number of planted decoders.
    pub decoders: usize,
    /// The figures of each engine, in the order of the score.
    pub engines: Vec<Figures>,
    /// The decoders that [`Engine::Plain`] was run against and caught in no run.
    pub never_by_plain: Vec<&'a str>,
    /// The decoders that no engine with signatures caught: none of ours, and not [`Engine::Plain`].
    pub by_none: Vec<&'a str>,
    /// Runs that reported a signature which the fault does not imply, in all cells.
    pub wrong_runs: usize,
    /// How many findings the runs reported for one fault.
    pub signatures: SignaturesPerFault<'a>,
}

/// How many different findings were reported for one fault, over all runs of engines that report signatures. Signatures
/// that `triage` merges into one finding, and a night into one issue, count as one: those of one law whose
/// [cause](crate::triage::Cause) is the location, or any ill-formed sequence. Faults that no engine reported are left
/// out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SignaturesPerFault<'a> {
    /// The median; `None` if none was reported.
    pub median: Option<f64>,
    /// The most.
    pub most: usize,
    /// The decoders with the most, if that is more than one.
    pub decoders: Vec<&'a str>,
    /// The median and the maximum if every signature counts as a finding of its own. A fault is often shown by errors
    /// of several kinds; they have signatures of their own, so that a known difference does not cover others.
    pub unmerged: (Option<f64>, usize),
}

/// The figures of one engine. Each decoder counts in one of `caught`, `wrong_law`, `missed` and `not_run`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figures {
    /// The engine.
    pub engine: Engine,
    /// Decoders it caught in more than half of its runs.
    pub caught: usize,
    /// Decoders it did not catch, but reported under another signature in at least one run.
    pub wrong_law: usize,
    /// Decoders it missed.
    pub missed: usize,
    /// Decoders it was not run against.
    pub not_run: usize,
    /// The median over the decoders of the median executions; infinite if that is a miss, `None` without runs.
    pub executions: Option<f64>,
    /// The same for the seconds.
    pub seconds: Option<f64>,
    /// Its median executions divided by those of [`Engine::Plain`], both over the decoders that `Plain` caught and this
    /// engine was run against: below 1 means fewer than `Plain`. `None` if there is nothing to divide by.
    pub against_plain: Option<f64>,
}

impl<'a> Summary<'a> {
    /// The figures of `score`.
    pub fn of(score: &'a Score) -> Self {
        let rows = &score.rows;
        let names = |keep: &dyn Fn(&Row) -> bool| {
            rows.iter().filter(|row| keep(row)).map(|row| row.decoder.as_str()).collect::<Vec<_>>()
        };
        let runs = rows.iter().flat_map(|row| &row.cells).flat_map(|cell| &cell.runs);
        Self {
            decoders: rows.len(),
            engines: score.engines.iter().map(|engine| Figures::of(rows, *engine)).collect(),
            never_by_plain: names(&|row| {
                row.cell(Engine::Plain).is_some_and(|cell| !cell.runs.is_empty() && cell.count(Outcome::Caught) == 0)
            }),
            by_none: names(&|row| {
                let mut judged = row.cells.iter().filter(|cell| !cell.engine.is_naive());
                !judged.any(|cell| cell.verdict() == Some(Outcome::Caught))
            }),
            wrong_runs: runs.filter(|run| run.outcome == Outcome::WrongLaw).count(),
            signatures: SignaturesPerFault::of(rows),
        }
    }

    /// Whether every planted decoder was caught by an engine with signatures, and no run reported another law. A score
    /// without decoders is not clean.
    pub fn is_clean(&self) -> bool {
        self.decoders > 0 && self.by_none.is_empty() && self.wrong_runs == 0
    }
}

impl<'a> SignaturesPerFault<'a> {
    fn of(rows: &'a [Row]) -> Self {
        let all = || rows.iter().map(|row| (row, row.signatures())).filter(|(_, all)| !all.is_empty());
        let merged =
            |row, all: BTreeSet<&'a str>| all.into_iter().map(|text| finding(row, text)).collect::<BTreeSet<_>>().len();
        let counts: Vec<(&str, usize)> = all().map(|(row, all)| (row.decoder.as_str(), merged(row, all))).collect();
        let unmerged: Vec<usize> = all().map(|(_, all)| all.len()).collect();
        let most = counts.iter().map(|(_, count)| *count).max().unwrap_or(0);
        let with_most = counts.iter().filter(|(_, count)| most > 1 && *count == most);
        Self {
            median: median(counts.iter().map(|(_, count)| *count as f64)),
            most,
            decoders: with_most.map(|(name, _)| *name).collect(),
            unmerged: (median(unmerged.iter().map(|count| *count as f64)), unmerged.iter().copied().max().unwrap_or(0)),
        }
    }
}

/// The part of a signature that tells its finding apart from others of the same decoder: the law and the cause, or all of
/// it if it cannot be read.
fn finding<'a>(row: &Row, signature: &'a str) -> (&'a str, Option<Cause>) {
    let parts: Vec<&str> = signature.split('/').collect();
    let [law, _, subject, shape] = parts[..] else { return (signature, None) };
    let on_every_kind = || row.on_every_kind.iter().any(|name| name == law);
    match (Subject::all().find(|known| known.name() == subject), Shape::named(shape)) {
        (Some(subject), Some(shape)) => (law, Some(Cause::of(subject, shape, on_every_kind))),
        _ => (signature, None),
    }
}

impl Figures {
    fn of(rows: &[Row], engine: Engine) -> Self {
        let cells = || rows.iter().filter_map(|row| row.cell(engine));
        let count = |verdict| cells().filter(|cell| cell.verdict() == Some(verdict)).count();
        let (caught, wrong_law) = (count(Outcome::Caught), count(Outcome::WrongLaw));
        let missed = count(Outcome::Missed);
        Self {
            engine,
            caught,
            wrong_law,
            missed,
            not_run: rows.len() - caught - wrong_law - missed,
            executions: median(cells().filter_map(Cell::executions)),
            seconds: median(cells().filter_map(Cell::seconds)),
            against_plain: against_plain(rows, engine),
        }
    }
}

fn against_plain(rows: &[Row], engine: Engine) -> Option<f64> {
    let pairs = rows.iter().filter_map(|row| {
        let plain = row.cell(Engine::Plain).filter(|cell| cell.verdict() == Some(Outcome::Caught))?;
        Some((row.cell(engine)?.executions()?, plain.executions()?))
    });
    let (own, plain): (Vec<f64>, Vec<f64>) = pairs.unzip();
    let (own, plain) = (median(own)?, median(plain)?);
    (plain > 0.0).then(|| own / plain)
}

impl Comparison {
    /// Above this ratio, our engine counts as far behind.
    pub const FAR: f64 = 3.0;

    /// Each of our engines among these, against each rival among them.
    pub fn all(engines: &[Engine], rows: &[Row], budget_seconds: f64) -> Vec<Self> {
        let present = |known: &'static [Engine]| known.iter().copied().filter(|engine| engines.contains(engine));
        let pairs =
            present(&Engine::OURS).flat_map(|engine| present(&Engine::RIVALS).map(move |rival| (engine, rival)));
        pairs.map(|(engine, rival)| Self::of(rows, engine, rival, budget_seconds)).collect()
    }

    fn of(rows: &[Row], engine: Engine, rival: Engine, budget_seconds: f64) -> Self {
        let compared: Vec<Behind> =
            rows.iter().filter_map(|row| Behind::of(row, engine, rival, budget_seconds)).collect();
        Self {
            engine,
            rival,
            decoders: compared.len(),
            missed: compared.iter().filter(|one| one.missed).count(),
            executions: geometric_mean(compared.iter().map(|one| one.executions)),
            seconds: geometric_mean(compared.iter().map(|one| one.seconds)),
            behind: compared.into_iter().filter(|one| one.executions.max(one.seconds) > Self::FAR).collect(),
        }
    }
}

impl Behind {
    /// The ratios on one decoder; `None` if the rival does not catch it, or ours was not run against it.
    fn of(row: &Row, engine: Engine, rival: Engine, budget_seconds: f64) -> Option<Self> {
        let rival = row.cell(rival).filter(|cell| cell.verdict() == Some(Outcome::Caught))?;
        let ours = row.cell(engine).filter(|cell| !cell.runs.is_empty())?;
        let missed = ours.verdict() != Some(Outcome::Caught);
        let (executions, seconds) = match missed {
            true => (ours.runs.iter().map(|run| run.executions).max()? as f64, budget_seconds),
            false => (ours.executions()?, ours.seconds()?),
        };
        // Shorter times depend on the clock, and on the code being run for the first time, more than on the engine.
        const SHORT: f64 = 1e-3;
        let ratio = |ours: f64, rival: f64, least: f64| ours.max(least) / rival.max(least);
        Some(Self {
            decoder: row.decoder.clone(),
            executions: ratio(executions, rival.executions()?, 1.0),
            seconds: ratio(seconds, rival.seconds()?, SHORT),
            missed,
        })
    }
}

/// The geometric mean of positive values; `None` if there are none.
fn geometric_mean(values: impl ExactSizeIterator<Item = f64>) -> Option<f64> {
    let count = values.len();
    (count > 0).then(|| (values.map(f64::ln).sum::<f64>() / count as f64).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::score::Outcome::{Caught, Missed, WrongLaw};
    use crate::engine::score::tests::{MISS, cell};

    fn score(engines: &[Engine], rows: Vec<Vec<Cell>>) -> Score {
        let row = |(index, cells): (usize, Vec<Cell>)| Row {
            decoder: format!("planted-{index}"),
            id: index.to_string(),
            fault: String::new(),
            citation: String::new(),
            signs: Vec::new(),
            on_every_kind: Vec::new(),
            cells,
        };
        Score {
            schema: 1,
            version: String::new(),
            jobs: 1,
            budget_seconds: 1.0,
            sanitizer: crate::engine::targets::Sanitizer::Address,
            seeds: vec![1],
            seconds: 1.0,
            engines: engines.to_vec(),
            left_out: Vec::new(),
            rows: rows.into_iter().enumerate().map(row).collect(),
            comparisons: Vec::new(),
        }
    }

    #[test]
    fn signatures_are_counted_per_fault() {
        let with = |engine, reported: &[&str]| {
            let mut cell = cell(engine, &vec![(Caught, 1); reported.len()]);
            cell.runs.iter_mut().zip(reported).for_each(|(run, text)| run.signature = Some((*text).into()));
            cell
        };
        let of = |rows: Vec<Vec<Cell>>| {
            let score = score(&[], rows);
            let SignaturesPerFault { median, most, decoders, unmerged } = Summary::of(&score).signatures;
            (median, most, decoders.into_iter().map(str::to_owned).collect::<Vec<_>>(), unmerged)
        };
        let one = || {
            vec![with(Engine::Structured, &["a/b/surrogate/cut"; 3]), with(Engine::Exhaustive, &["a/b/surrogate/cut"])]
        };
        let two = || {
            vec![with(
                Engine::Structured,
                &["a/b/surrogate/anywhere", "a/b/too-large/anywhere", "a/b/too-large/anywhere"],
            )]
        };
        // Here the location is the cause.
        let merged = || vec![with(Engine::Structured, &["a/b/surrogate/edge64", "a/b/too-large/context"])];
        let kinds = || vec![with(Engine::Structured, &["a/b/surrogate/anywhere", "a/b/too-large/anywhere"])];
        let mut every = score(&[], vec![kinds(), kinds()]);
        every.rows[0].on_every_kind = vec!["a".into()];
        assert_eq!(Summary::of(&every).signatures.decoders, ["planted-1"], "of the other, any kind is the cause");
        // Neither what a rival says nor what a sanitizer says is a signature, and a fault without any is left out.
        let none = || vec![with(Engine::Proptest, &["a/b/surrogate/d"]), with(Engine::Plain, &["AddressSanitizer: x"])];
        assert_eq!(of(vec![one(), none(), one()]), (Some(1.0), 1, vec![], (Some(1.0), 1)));
        let names = |indices: [u32; 2]| indices.map(|index| format!("planted-{index}")).to_vec();
        assert_eq!(of(vec![one(), two(), two()]), (Some(2.0), 2, names([1, 2]), (Some(2.0), 2)));
        assert_eq!(of(vec![merged(), one(), merged()]), (Some(1.0), 1, vec![], (Some(2.0), 2)));
        assert_eq!(of(vec![none()]), (None, 0, vec![], (None, 0)));
    }

    #[test]
    fn figures_of_each_engine() {
        let (plain, mutator) = (Engine::Plain, Engine::Mutator);
        let score = score(
            &[plain, mutator, Engine::Exhaustive],
            vec![
                vec![cell(plain, &[(Caught, 100)]), cell(mutator, &[(Caught, 10)])],
                vec![cell(plain, &[(Caught, 300)]), cell(mutator, &[(Caught, 50)])],
                // Caught in one run of three is neither "never" nor "caught".
                vec![cell(plain, &[(Caught, 1), (Missed, 9), (Missed, 9)]), cell(mutator, &[(Caught, 70)])],
                vec![cell(plain, &[(Missed, 900)]), cell(mutator, &[(WrongLaw, 3)])],
                vec![cell(plain, &[])],
            ],
        );
        let summary = Summary::of(&score);
        let expected = Figures {
            engine: plain,
            caught: 2,
            wrong_law: 0,
            missed: 2,
            not_run: 1,
            executions: Some(MISS),
            seconds: Some(MISS),
            against_plain: Some(1.0),
        };
        assert_eq!(summary.engines[0], expected);
        let expected = Figures {
            engine: mutator,
            caught: 3,
            wrong_law: 1,
            missed: 0,
            not_run: 1,
            executions: Some(60.0),
            seconds: Some(0.6),
            against_plain: Some(0.15),
        };
        assert_eq!(summary.engines[1], expected);
        let none = &summary.engines[2];
        assert_eq!((none.not_run, none.executions, none.against_plain), (5, None, None));
        assert_eq!(summary.never_by_plain, ["planted-3"]);
        assert_eq!(summary.by_none, ["planted-3", "planted-4"]);
        assert_eq!((summary.decoders, summary.wrong_runs, summary.is_clean()), (5, 1, false));
    }

    #[test]
    fn ratios_without_a_divisor_are_none() {
        let plain = Engine::Plain;
        for (engines, rows) in [
            (vec![], vec![]),
            (vec![], vec![vec![]]),
            (vec![plain], vec![]),
            (vec![plain], vec![vec![]]),
            (vec![plain], vec![vec![cell(plain, &[(Missed, 0)])]]),
            (vec![plain], vec![vec![cell(plain, &[(Caught, 0)])]]),
        ] {
            let score = score(&engines, rows);
            let summary = Summary::of(&score);
            assert!(summary.engines.iter().all(|figures| figures.against_plain.is_none()), "{summary:?}");
        }
    }

    #[test]
    fn an_engine_that_misses_what_plain_catches_is_infinitely_slower() {
        let score = score(
            &[Engine::Structured],
            vec![vec![cell(Engine::Plain, &[(Caught, 5)]), cell(Engine::Structured, &[(Missed, 9)])]],
        );
        assert_eq!(Summary::of(&score).engines[0].against_plain, Some(MISS));
    }

    #[test]
    fn ours_are_compared_over_what_a_rival_catches() {
        let (ours, rival) = (Engine::Behaviour, Engine::Proptest);
        let score = score(
            &[ours, rival],
            vec![
                vec![cell(ours, &[(Caught, 10)]), cell(rival, &[(Caught, 40)])],
                vec![cell(ours, &[(Caught, 400)]), cell(rival, &[(Caught, 100)])],
                // A miss counts with what was done within the budget: 50 executions, 1 s.
                vec![cell(ours, &[(Missed, 50), (WrongLaw, 3)]), cell(rival, &[(Caught, 2)])],
                // Not caught by the rival; not run.
                vec![cell(ours, &[(Caught, 10)]), cell(rival, &[(Missed, 90)])],
                vec![cell(ours, &[]), cell(rival, &[(Caught, 1)])],
            ],
        );
        let all = Comparison::all(&score.engines, &score.rows, 1.0);
        let [only] = &all[..] else { panic!("{all:?}") };
        assert_eq!((only.engine, only.rival, only.decoders, only.missed), (ours, rival, 3, 1));
        let near = |value: Option<f64>, expected: f64| (value.unwrap() / expected - 1.0).abs() < 1e-9;
        assert!(near(only.executions, 25f64.cbrt()), "{only:?}");
        assert!(near(only.seconds, 50f64.cbrt()), "{only:?}");
        let behind: Vec<_> = only.behind.iter().map(|far| (&*far.decoder, far.missed)).collect();
        assert_eq!(behind, [("planted-1", false), ("planted-2", true)]);
        assert_eq!((only.behind[0].executions, only.behind[1].executions), (4.0, 25.0));
        let none = &Comparison::all(&[ours, Engine::Plain], &score.rows, 1.0)[0];
        assert_eq!((none.decoders, none.executions, none.seconds), (0, None, None));
    }

    #[test]
    fn what_only_a_rival_catches_is_caught_by_none() {
        let score =
            score(&[Engine::Afl], vec![vec![cell(Engine::Plain, &[(Missed, 5)]), cell(Engine::Afl, &[(Caught, 5)])]]);
        assert_eq!(Summary::of(&score).by_none, ["planted-0"]);
    }

    #[test]
    fn clean_is_every_decoder_caught_under_the_right_law() {
        let clean = |rows: Vec<Vec<Cell>>| Summary::of(&score(&[Engine::Plain, Engine::Mutator], rows)).is_clean();
        let caught = || cell(Engine::Plain, &[(Caught, 5)]);
        let missed = || cell(Engine::Mutator, &[(Missed, 5)]);
        assert!(clean(vec![vec![caught(), missed()], vec![caught()]]));
        assert!(!clean(vec![]), "nothing was shown");
        assert!(!clean(vec![vec![caught()], vec![missed()]]));
        assert!(!clean(vec![vec![caught()], vec![]]));
        // A run with the wrong law counts, regardless of the other runs of its cell and row.
        assert!(!clean(vec![vec![caught(), cell(Engine::Mutator, &[(WrongLaw, 5)])]]));
        assert!(!clean(vec![vec![cell(Engine::Plain, &[(Caught, 5), (Caught, 5), (WrongLaw, 5)])]]));
    }
}
