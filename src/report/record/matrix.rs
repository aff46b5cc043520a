//! The behaviour matrix: what every decoder does with the input of every column of [`crate::probe::COLUMNS`], and which
//! decoders disagree about what is well-formed.

use crate::codec::convert::Encoding;
use crate::decoder::{Decoder, Info};
use crate::peers::units::ENCODINGS;
use crate::probe::{self, COLUMNS, Disguised, Verdicts, cells, disguised, questions, unit_cells};
use crate::spec::Contract;
use crate::text::hex;
use crate::triage::ledger::Ledger;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What decoders do.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Matrix {
    /// The questions.
    pub columns: Vec<Column>,
    /// The decoders, by package.
    pub rows: Vec<Row>,
    /// Decoders that accept the same strings, for those that give verdicts.
    pub classes: Vec<Class>,
    /// For each class and each other, in the order of the classes, the shortest string that the first accepts and the
    /// other rejects, in hexadecimal; null if there is none.
    pub beyond: Vec<Vec<Option<String>>>,
    /// Inputs that become text with a separator that is not in them.
    pub injections: Vec<Injection>,
    /// Decoders of UTF-16 and UTF-32, by encoding.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub units: Vec<Units>,
}

/// A question.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Column {
    /// Its name, which does not change.
    pub id: String,
    /// What it is about.
    pub group: String,
    /// The input, in words.
    pub title: String,
    /// The input, in hexadecimal.
    pub bytes: String,
    /// Where the input is cut into chunks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cuts: Vec<usize>,
    /// Every answer that a decoder gave.
    pub answers: Vec<Seen>,
}

/// An answer.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Seen {
    /// In a few words.
    pub word: String,
    /// In at most five characters.
    pub symbol: String,
    /// In full: verdict, output.
    pub says: String,
    /// The input that shows it, in hexadecimal, if it is not that of the column.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub witness: Option<String>,
}

/// A decoder.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// The runtime, library or package that it is part of.
    pub package: String,
    /// Its version.
    pub version: String,
    /// The implementation that runs.
    pub lineage: String,
    /// The grammar of its contract.
    pub grammar: String,
    /// The contract that it claims.
    pub contract: String,
    /// For each column, the index of its answer there.
    pub cells: Vec<usize>,
    /// The columns, by id, on whose input it breaks its contract.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub broken: BTreeMap<String, Breach>,
}

/// The decoders of one encoding whose code units have 16 or 32 bits.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Units {
    /// The encoding.
    pub encoding: String,
    /// The questions.
    pub columns: Vec<Column>,
    /// The decoders, by package.
    pub rows: Vec<UnitRow>,
}

/// One of these decoders, which claim no contract.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct UnitRow {
    /// Its name.
    pub name: String,
    /// The runtime, library or package that it is part of.
    pub package: String,
    /// Its version.
    pub version: String,
    /// The implementation that runs.
    pub lineage: String,
    /// For each column, the index of its answer there.
    pub cells: Vec<usize>,
}

/// How a contract is broken.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Breach {
    /// The law.
    pub law: String,
    /// What the decoder gets wrong.
    pub subject: String,
    /// The entry of the ledger that covers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// Where to read more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

/// Decoders that give the same verdicts on all class strings of up to [`probe::LONGEST`] bytes and on the inputs of the
/// questionnaire.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Class {
    /// Their names.
    pub decoders: Vec<String>,
    /// How many of the strings they accept.
    pub accepted: usize,
}

/// An input that becomes text with a separator that is not in it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Injection {
    /// The separator, such as `U+002F`.
    pub character: String,
    /// The input, in hexadecimal.
    pub bytes: String,
    /// The decoders that write it.
    pub written_by: Vec<String>,
    /// The decoders that accept the input and do not write it: a check by one of these lets it pass.
    pub passed_by: Vec<String>,
}

/// One decoder, asked everything.
pub struct Examined {
    row: Row,
    seen: Vec<Seen>,
    verdicts: Option<Verdicts>,
    disguised: Disguised,
}

impl Examined {
    /// Asks a decoder. One that is slow is not asked for all verdicts.
    pub fn of(decoder: &dyn Decoder, ledger: &Ledger) -> Self {
        let info = decoder.info();
        let all = cells(decoder);
        let of_column = |(column, cell): (&probe::Column, &probe::Cell)| {
            let broken = cell.broken?;
            let entry = ledger.covers(info, broken.law, broken.subject).map(|index| &ledger.entries()[index]);
            let breach = Breach {
                law: broken.law.name().to_owned(),
                subject: broken.subject.name().to_owned(),
                known: entry.map(|entry| entry.id.clone()),
                link: entry.map(|entry| entry.link.clone()),
            };
            Some((column.id.to_owned(), breach))
        };
        let broken = COLUMNS.iter().zip(&all).filter_map(of_column).collect();
        let is_slow = decoder.batched().is_some_and(|batched| batched.is_slow());
        let verdicts = (!is_slow).then(|| Verdicts::of(decoder)).flatten();
        let disguised = if is_slow { Disguised::default() } else { disguised(decoder) };
        Self { row: Row::of(info, broken), seen: all.into_iter().map(Seen::from).collect(), verdicts, disguised }
    }
}

impl From<probe::Cell> for Seen {
    fn from(cell: probe::Cell) -> Self {
        let witness = cell.witness.as_deref().map(hex);
        Self { word: cell.word, symbol: cell.symbol, says: cell.says, witness }
    }
}

/// One decoder of UTF-16 or UTF-32, asked everything.
pub struct ExaminedUnits {
    encoding: Encoding,
    row: UnitRow,
    seen: Vec<Seen>,
}

impl ExaminedUnits {
    /// Asks a decoder of this encoding.
    pub fn of(decoder: &dyn Decoder, encoding: Encoding) -> Self {
        let info = decoder.info();
        let row = UnitRow {
            name: info.name.to_string(),
            package: info.package.to_string(),
            version: info.version.to_string(),
            lineage: info.lineage.at(usize::MAX).to_owned(),
            cells: Vec::new(),
        };
        Self { encoding, row, seen: unit_cells(decoder, encoding).into_iter().map(Seen::from).collect() }
    }
}

impl Units {
    /// Those of one encoding.
    fn of(encoding: Encoding, examined: Vec<&ExaminedUnits>) -> Self {
        let columns = questions(encoding).enumerate().map(|(at, question)| {
            let (bytes, cuts) = question.input(encoding);
            let answers: BTreeSet<Seen> = examined.iter().map(|of| of.seen[at].clone()).collect();
            Column {
                id: question.id.to_owned(),
                group: question.group.to_owned(),
                title: question.title.to_owned(),
                bytes: hex(&bytes),
                cuts,
                answers: answers.into_iter().collect(),
            }
        });
        let columns: Vec<Column> = columns.collect();
        let row = |of: &ExaminedUnits| UnitRow { cells: places(&columns, &of.seen), ..of.row.clone() };
        let mut rows: Vec<UnitRow> = examined.into_iter().map(row).collect();
        rows.sort_by_cached_key(|row| (row.package.to_lowercase(), row.package.clone()));
        Self { encoding: encoding.name().to_owned(), columns, rows }
    }
}

/// For each column, the index of an answer there.
fn places(columns: &[Column], seen: &[Seen]) -> Vec<usize> {
    columns.iter().zip(seen).map(|(column, seen)| column.answers.binary_search(seen).unwrap_or_default()).collect()
}

impl Row {
    fn of(info: &Info, broken: BTreeMap<String, Breach>) -> Self {
        let Contract { grammar, .. } = info.contract;
        Self {
            name: info.name.to_string(),
            package: info.package.to_string(),
            version: info.version.to_string(),
            lineage: info.lineage.at(usize::MAX).to_owned(),
            grammar: grammar.name.to_owned(),
            contract: info.claim(),
            cells: Vec::new(),
            broken,
        }
    }
}

impl Matrix {
    /// The matrix of these decoders, ordered by package.
    pub fn of(examined: Vec<Examined>) -> Self {
        let columns = COLUMNS.iter().enumerate().map(|(at, column)| {
            let answers: BTreeSet<Seen> = examined.iter().map(|of| of.seen[at].clone()).collect();
            Column {
                id: column.id.to_owned(),
                group: column.group.to_owned(),
                title: column.title.to_owned(),
                bytes: hex(column.bytes),
                cuts: column.cuts.to_vec(),
                answers: answers.into_iter().collect(),
            }
        });
        let columns: Vec<Column> = columns.collect();
        let (classes, beyond) = classes(&examined);
        let injections = injections(&examined);
        let row = |of: Examined| Row { cells: places(&columns, &of.seen), ..of.row };
        let mut rows: Vec<Row> = examined.into_iter().map(row).collect();
        rows.sort_by_cached_key(|row| (row.package.to_lowercase(), row.package.clone()));
        Self { columns, rows, classes, beyond, injections, units: Vec::new() }
    }

    /// The same with these decoders of UTF-16 and UTF-32.
    #[must_use]
    pub fn with_units(self, examined: Vec<ExaminedUnits>) -> Self {
        let of = |encoding| (encoding, examined.iter().filter(|of| of.encoding == encoding).collect::<Vec<_>>());
        let units = ENCODINGS.map(of).into_iter().filter(|(_, examined)| !examined.is_empty());
        Self { units: units.map(|(encoding, examined)| Units::of(encoding, examined)).collect(), ..self }
    }

    /// What a decoder answered in a column.
    pub fn seen(&self, row: &Row, column: usize) -> Option<&Seen> {
        answer(&self.columns, &row.cells, column)
    }

    /// Which cells differ from those of an older matrix: decoders by name, columns by id.
    pub fn since<'m>(&'m self, old: &'m Self) -> Vec<Change<'m>> {
        let mut changes = Vec::new();
        for row in &self.rows {
            if let Some(before) = old.rows.iter().find(|before| before.name == row.name) {
                let rows = [before, row].map(|row| (&*row.version, &*row.cells));
                changed(&row.name, [&old.columns, &self.columns], rows, &mut changes);
            }
        }
        for units in &self.units {
            let Some(of) = old.units.iter().find(|old| old.encoding == units.encoding) else { continue };
            for row in &units.rows {
                if let Some(before) = of.rows.iter().find(|before| before.name == row.name) {
                    let rows = [before, row].map(|row| (&*row.version, &*row.cells));
                    changed(&row.name, [&of.columns, &units.columns], rows, &mut changes);
                }
            }
        }
        changes
    }
}

impl Units {
    /// What a decoder answered in a column.
    pub fn seen(&self, row: &UnitRow, column: usize) -> Option<&Seen> {
        answer(&self.columns, &row.cells, column)
    }
}

fn answer<'m>(columns: &'m [Column], cells: &[usize], column: usize) -> Option<&'m Seen> {
    columns.get(column)?.answers.get(*cells.get(column)?)
}

/// Adds which cells of a decoder differ between an older table and a newer one: from each the columns, and the version and
/// cells of the decoder.
fn changed<'m>(
    name: &'m str,
    [old, new]: [&'m [Column]; 2],
    [(before, old_cells), (version, cells)]: [(&'m str, &[usize]); 2],
    changes: &mut Vec<Change<'m>>,
) {
    for (at, column) in new.iter().enumerate() {
        let Some(place) = old.iter().position(|other| other.id == column.id) else { continue };
        if let (Some(from), Some(to)) = (answer(old, old_cells, place), answer(new, cells, at))
            && from.word != to.word
        {
            changes.push(Change { name, before, version, column, from, to });
        }
    }
}

/// A cell that differs from the same cell of an older matrix.
#[derive(Clone, Debug)]
pub struct Change<'m> {
    /// The decoder.
    pub name: &'m str,
    /// Its version in the older matrix.
    pub before: &'m str,
    /// Its version now.
    pub version: &'m str,
    /// The question.
    pub column: &'m Column,
    /// What it answered.
    pub from: &'m Seen,
    /// What it answers.
    pub to: &'m Seen,
}

/// The classes by verdicts, the largest first, and for each pair what tells them apart.
fn classes(examined: &[Examined]) -> (Vec<Class>, Vec<Vec<Option<String>>>) {
    let mut by_verdicts: BTreeMap<&Verdicts, Vec<String>> = BTreeMap::new();
    for of in examined {
        if let Some(verdicts) = &of.verdicts {
            by_verdicts.entry(verdicts).or_default().push(of.row.name.clone());
        }
    }
    let mut classes: Vec<(&Verdicts, Vec<String>)> = by_verdicts.into_iter().collect();
    classes.sort_by_key(|(_, decoders)| std::cmp::Reverse(decoders.len()));
    let beyond =
        classes.iter().map(|(one, _)| classes.iter().map(|(other, _)| one.beyond(other).map(hex)).collect()).collect();
    let class = |(verdicts, decoders): (&Verdicts, Vec<String>)| Class { decoders, accepted: verdicts.accepted() };
    (classes.into_iter().map(class).collect(), beyond)
}

fn injections(examined: &[Examined]) -> Vec<Injection> {
    let mut all: BTreeMap<(u8, usize, &[u8]), Vec<String>> = BTreeMap::new();
    for of in examined {
        for (character, bytes) in &of.disguised.written {
            all.entry((*character, bytes.len(), bytes)).or_default().push(of.row.name.clone());
        }
    }
    let passes = |of: &&Examined, character: u8, bytes: &[u8]| {
        of.disguised.accepted.iter().any(|(of, input)| (*of, &**input) == (character, bytes))
    };
    let injection = |((character, _, bytes), written_by): ((u8, usize, &[u8]), Vec<String>)| Injection {
        character: format!("U+{character:04X}"),
        bytes: hex(bytes),
        written_by,
        passed_by: examined.iter().filter(|of| passes(of, character, bytes)).map(|of| of.row.name.clone()).collect(),
    };
    all.into_iter().map(injection).collect()
}
