//! How fast decoders are: every one that can do an operation, on the same bytes, in turns.
//!
//! Before anything is timed, each answer is held to what the standard says; one that is wrong is a row that says so, and
//! has no time. In every round each subject runs once, one after the other, so that what slows the machine down for a
//! while slows all of them; ratios of medians are what counts.

mod plan;
mod subject;
pub mod texts;

pub use plan::{Plan, Text};
pub use subject::Operation;

use subject::{Answer, Room, Subject, subjects};

use serde::Serialize;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// What was measured.
#[derive(Debug, Serialize)]
pub struct Measured {
    /// One for each operation and text.
    pub rows: Vec<Row>,
    /// How long it took, in seconds.
    pub seconds: f64,
}

/// One operation on one text.
#[derive(Debug, Serialize)]
pub struct Row {
    /// What was done.
    pub operation: Operation,
    /// The name of the text.
    pub text: String,
    /// Its length in bytes.
    pub bytes: usize,
    /// Who did it.
    pub cells: Vec<Cell>,
}

/// One subject in a row.
#[derive(Debug, Serialize)]
pub struct Cell {
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub kind: Kind,
    /// Whether it answers, and not as the standard does.
    pub wrong: bool,
    /// Its time, where its answer is right.
    pub time: Option<Time>,
}

/// Whose a subject is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Our decoder, as it chooses its kernel.
    Own,
    /// One of our kernels.
    Kernel,
    /// A decoder of others.
    Peer,
    /// No decoder: what the machine can do at best.
    Limit,
}

/// Nanoseconds for one pass over the text.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Time {
    /// Half of the rounds took less.
    pub median: f64,
    /// A quarter of the rounds took less.
    pub low: f64,
    /// A quarter of the rounds took more.
    pub high: f64,
}

impl Row {
    /// Gigabytes of input in a second; `None` for no bytes.
    pub fn throughput(&self, time: Time) -> Option<f64> {
        (self.bytes > 0).then(|| self.bytes as f64 / time.median)
    }

    /// The fastest peer.
    pub fn best_peer(&self) -> Option<(&str, Time)> {
        let peers = self.cells.iter().filter(|cell| cell.kind == Kind::Peer);
        let timed = peers.filter_map(|cell| Some((&*cell.name, cell.time?)));
        timed.min_by(|(_, a), (_, b)| a.median.total_cmp(&b.median))
    }

    /// How many times as fast as the fastest peer the subject of this name is.
    pub fn ratio(&self, name: &str) -> Option<f64> {
        let own = self.cells.iter().find(|cell| cell.name == name)?.time?;
        Some(self.best_peer()?.1.median / own.median)
    }
}

/// Who can take part.
pub fn names() -> Vec<String> {
    let mut names: Vec<String> = Operation::ALL.into_iter().flat_map(subjects).map(|subject| subject.name).collect();
    names.sort();
    names.dedup();
    names
}

/// Measures what the plan says. `progress` is told the share that is done.
pub fn run(plan: &Plan, progress: &dyn Fn(f64)) -> Measured {
    let start = Instant::now();
    let rows = plan.texts.iter().flat_map(|text| text.operations.iter().map(move |operation| (text, *operation)));
    let rows: Vec<_> = rows.collect();
    let measured = rows.iter().enumerate().map(|(done, (text, operation))| {
        progress(done as f64 / rows.len() as f64);
        row(plan, text, *operation)
    });
    Measured { rows: measured.collect(), seconds: start.elapsed().as_secs_f64() }
}

fn row(plan: &Plan, text: &Text, operation: Operation) -> Row {
    let subjects: Vec<Subject> =
        subjects(operation).into_iter().filter(|subject| plan.selects(&subject.name)).collect();
    let mut room = Room::of(&text.bytes);
    let expected = operation.expected(&text.bytes);
    let verdicts: Vec<Verdict> =
        subjects.iter().map(|subject| verdict(subject, text, operation, &expected, &mut room)).collect();
    let mut samples: Vec<Vec<f64>> = vec![Vec::new(); subjects.len()];
    let mut passes = vec![1; subjects.len()];
    for round in 0..=plan.rounds {
        for (index, subject) in subjects.iter().enumerate().filter(|(index, _)| verdicts[*index] == Verdict::Right) {
            let time = sample(subject, &text.bytes, &mut room, passes[index]);
            let one = time.as_nanos() as f64 / f64::from(passes[index]);
            // The first round warms up, and says how many passes make a sample.
            match round {
                0 => passes[index] = warmed(subject, &text.bytes, &mut room, plan.sample),
                _ => samples[index].push(one),
            }
        }
    }
    let cells = subjects.iter().zip(samples).zip(verdicts).map(|((subject, mut samples), verdict)| {
        samples.sort_by(f64::total_cmp);
        let at = |share: usize| samples.get(samples.len() * share / 4).copied();
        let time = || Some(Time { low: at(1)?, median: at(2)?, high: at(3)? });
        Cell { name: subject.name.clone(), kind: subject.kind, wrong: verdict == Verdict::Wrong, time: time() }
    });
    let bytes = operation.input_len(&text.bytes, &room);
    Row { operation, text: text.name.clone(), bytes, cells: cells.collect() }
}

/// What a subject's answer is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Right,
    Wrong,
    /// It has none.
    Silent,
}

/// Asks twice: what is left over from the first time must not show.
fn verdict(subject: &Subject, text: &Text, operation: Operation, expected: &Answer, room: &mut Room) -> Verdict {
    let mut worst = Verdict::Right;
    for _ in 0..2 {
        match (subject.run)(&text.bytes, room) {
            None => return Verdict::Silent,
            Some(_) if subject.kind == Kind::Limit => {}
            Some(said) if operation.answer(said, room) == *expected => {}
            Some(_) => worst = Verdict::Wrong,
        }
    }
    worst
}

fn sample(subject: &Subject, bytes: &[u8], room: &mut Room, passes: u32) -> Duration {
    let start = Instant::now();
    for _ in 0..passes {
        black_box((subject.run)(black_box(bytes), room));
    }
    start.elapsed()
}

/// How many passes take about so long.
fn warmed(subject: &Subject, bytes: &[u8], room: &mut Room, long: Duration) -> u32 {
    const MOST: u32 = 1 << 20;
    let mut passes = 1;
    while passes < MOST {
        let time = sample(subject, bytes, room, passes);
        if time >= long / 2 {
            break;
        }
        passes *= 2;
    }
    passes
}

#[cfg(test)]
mod tests {
    use super::subject::Said;
    use super::*;
    use crate::codec::Kernel;

    fn text(bytes: &[u8]) -> Text {
        Text { name: String::from("text"), bytes: bytes.to_vec(), operations: Operation::ALL.to_vec() }
    }

    #[test]
    fn everyone_is_right_on_short_texts_or_silent() {
        let mut silent = 0;
        for bytes in [&b""[..], b"a", b"\xC3\xA9", b"\xFF", b"ab\xE2\x82", b"\xF0\x9F\x98\x80\xED\xA0\x80"] {
            let mut room = Room::of(bytes);
            for operation in Operation::ALL {
                let expected = operation.expected(bytes);
                for subject in subjects(operation) {
                    let verdict = verdict(&subject, &text(bytes), operation, &expected, &mut room);
                    silent += usize::from(verdict == Verdict::Silent);
                    assert_ne!(verdict, Verdict::Wrong, "{} {operation:?} {bytes:02X?}", subject.name);
                }
            }
        }
        // Characters of ill-formed bytes are not counted, and simdutf gives them neither in UTF-16 nor in UTF-32.
        let (ill_formed, counters) = (3, 2 + Kernel::available().count());
        let of_simdutf = if cfg!(feature = "simdutf") { 3 } else { 0 };
        assert_eq!(silent, ill_formed * (counters + of_simdutf));
    }

    #[test]
    fn a_wrong_answer_is_a_row_without_a_time() {
        let mut room = Room::default();
        let expected = Operation::Validate.expected(b"\xFF");
        let says = |number| Subject {
            name: String::from("x"),
            kind: Kind::Peer,
            run: Box::new(move |_, _| Some(Said::Number(number))),
        };
        let verdict =
            |number, room: &mut Room| verdict(&says(number), &text(b"\xFF"), Operation::Validate, &expected, room);
        assert_eq!(verdict(1, &mut room), Verdict::Wrong);
        assert_eq!(verdict(0, &mut room), Verdict::Right);
    }

    #[test]
    fn ratios_are_to_the_fastest_peer() {
        let cell = |name: &str, kind, median: Option<f64>| Cell {
            name: name.to_owned(),
            kind,
            wrong: median.is_none(),
            time: median.map(|median| Time { median, low: median, high: median }),
        };
        let cells = vec![
            cell("own", Kind::Own, Some(10.0)),
            cell("slow", Kind::Peer, Some(40.0)),
            cell("fast", Kind::Peer, Some(20.0)),
            cell("wrong", Kind::Peer, None),
            cell("read", Kind::Limit, Some(1.0)),
        ];
        let row = Row { operation: Operation::Validate, text: String::new(), bytes: 100, cells };
        assert_eq!(row.best_peer().map(|(name, _)| name), Some("fast"));
        assert_eq!(row.ratio("own"), Some(2.0));
        assert_eq!(row.ratio("wrong"), None);
        assert_eq!(row.throughput(Time { median: 50.0, low: 0.0, high: 0.0 }), Some(2.0));
    }
}
