//! How fast decoders are: all subjects that can perform an operation, in turns, on the same bytes.
//!
//! Before a subject is timed on a text, its answer is compared with that of the standard; if it is wrong, it is marked and
//! not timed. In every round the subjects run one after the other, so that a temporary slowdown of the machine affects all
//! of them. Compare ratios of medians, not absolute times.
//!
//! The texts are generated words in many scripts, without and with errors; they are the same on every machine and in
//! every run. Before each pass over a text of medium length, outside the timed section, another text of the same kind takes its
//! place, and errors move to new places, in the same order for every subject. Otherwise the processor would learn the branches
//! that the text takes, and a decoder that branches at every character or error would look faster than it is. The answers
//! that are compared are those for the first text, with the errors in their first places. What an operation of an adapter
//! costs is measured in batches of several sizes.

mod subjects;
mod texts;

pub use subjects::{Input, Kind, Operation};
pub use texts::{Plan, SCRIPTS, Script, Source, Text};

use crate::case::Rng;
use crate::codec::Kernel;
use crate::peers::foreign::Foreign;
use crate::peers::foreign::process::{Process, Trouble};
use crate::peers::foreign::protocol::{self, Batch};
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::hint::black_box;
use std::sync::LazyLock;
use std::time::{Duration, Instant};
use subjects::{Answer, Buffers, Subject, subjects};
use texts::{latin_1, page};

/// The result of a measurement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measured {
    /// One for each operation and text.
    pub rows: Vec<Row>,
}

impl Measured {
    /// Each row from the measurement in which the ratio of our decoder is the middle one; if it gave a wrong answer, from one
    /// in which it did. `None` for no measurements, or for measurements of different operations or texts.
    pub(crate) fn middle(all: Vec<Self>) -> Option<Self> {
        let mut all = all.into_iter();
        let mut of: Vec<Vec<Row>> = all.next()?.rows.into_iter().map(|row| vec![row]).collect();
        for one in all {
            let same = |(of, row): (&Vec<Row>, &Row)| of[0].operation == row.operation && of[0].text == row.text;
            if one.rows.len() != of.len() || !of.iter().zip(&one.rows).all(same) {
                return None;
            }
            of.iter_mut().zip(one.rows).for_each(|(of, row)| of.push(row));
        }
        let rows = of.into_iter().map(|mut rows| {
            rows.sort_by(|a, b| a.ratio("own").partial_cmp(&b.ratio("own")).unwrap_or(Ordering::Equal));
            let is_wrong = |row: &Row| row.cells.iter().any(|cell| cell.kind == Kind::Own && cell.wrong);
            let at = rows.iter().position(is_wrong).unwrap_or(rows.len() / 2);
            rows.swap_remove(at)
        });
        Some(Self { rows: rows.collect() })
    }
}

/// A class of machines: an instruction set that our decoder and its peers are held to.
#[derive(Clone, Copy, Debug)]
pub struct Class {
    /// The best kernel of our decoder, as [`Kernel::LIMIT`] names it.
    pub kernel: &'static str,
    /// The implementation of simdutf with the same instructions, as [`Class::SIMDUTF`] names it.
    pub simdutf: &'static str,
}

impl Class {
    /// Every class, the one with the most instructions first.
    pub const ALL: [Self; 5] = [
        Self { kernel: "avx512", simdutf: "icelake" },
        Self { kernel: "avx2", simdutf: "haswell" },
        Self { kernel: "sse41", simdutf: "westmere" },
        Self { kernel: "neon", simdutf: "arm64" },
        Self { kernel: "scalar", simdutf: "fallback" },
    ];

    /// The environment variable by which simdutf chooses an implementation.
    pub const SIMDUTF: &'static str = "SIMDUTF_FORCE_IMPLEMENTATION";

    /// The classes that this processor can run.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|class| Kernel::available().any(|kernel| kernel.name() == class.kernel))
    }
}

/// One operation on one text.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The class of machines: the kernel of the subject `own`.
    pub class: String,
    /// The operation.
    pub operation: Operation,
    /// The name of the text.
    pub text: String,
    /// Its length in bytes.
    pub bytes: usize,
    /// The subjects.
    pub cells: Vec<Cell>,
}

/// One subject in a row.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Cell {
    /// Its name.
    pub name: String,
    /// The kind of subject.
    pub kind: Kind,
    /// Whether its answer differs from that of the standard.
    pub wrong: bool,
    /// Its time, if its answer is right.
    pub time: Option<Time>,
}

/// Nanoseconds for one pass over the text.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Time {
    /// The median of the rounds.
    pub median: f64,
    /// The first quartile of the rounds.
    pub low: f64,
    /// The third quartile of the rounds.
    pub high: f64,
}

impl Row {
    /// Gigabytes (10^9 bytes) of input per second; `None` if the text is empty.
    pub fn throughput(&self, time: Time) -> Option<f64> {
        (self.bytes > 0).then(|| self.bytes as f64 / time.median)
    }

    /// The fastest peer.
    pub fn best_peer(&self) -> Option<(&str, Time)> {
        let peers = self.cells.iter().filter(|cell| cell.kind == Kind::Peer);
        let timed = peers.filter_map(|cell| Some((&*cell.name, cell.time?)));
        timed.min_by(|(_, a), (_, b)| a.median.total_cmp(&b.median))
    }

    /// The speed of the subject of this name, divided by that of the fastest peer.
    pub fn ratio(&self, name: &str) -> Option<f64> {
        let own = self.cells.iter().find(|cell| cell.name == name)?.time?;
        Some(self.best_peer()?.1.median / own.median)
    }
}

/// The names of all subjects.
pub fn names() -> Vec<String> {
    let mut names: Vec<String> = Operation::ALL.into_iter().flat_map(subjects).map(|subject| subject.name).collect();
    names.sort();
    names.dedup();
    names
}

/// Measures what the plan lists. `progress` is called with the fraction that is done.
pub fn run(plan: &Plan, progress: &dyn Fn(f64)) -> Measured {
    let rows = plan.texts.iter().flat_map(|text| text.operations.iter().map(move |operation| (text, *operation)));
    let rows: Vec<_> = rows.collect();
    let measured = rows.iter().enumerate().map(|(done, (text, operation))| {
        progress(done as f64 / rows.len() as f64);
        row(plan, text, *operation)
    });
    Measured { rows: measured.collect() }
}

/// Runs the subject of this name `passes` times on a text in a built-in script, for programs that count instructions; so its
/// answers are not compared with those of the standard. `None` if there is no such subject, operation or script, or no answer.
pub fn repeat(name: &str, operation: &str, script: &str, len: usize, passes: u32) -> Option<()> {
    let operation = Operation::ALL.into_iter().find(|one| one.name() == operation)?;
    let bytes = match script {
        "page" => page(len, 0),
        "latin-1" => latin_1(len, 0),
        _ => SCRIPTS.iter().find(|one| one.name == script)?.text(len, 0),
    };
    let subject = subjects(operation).into_iter().find(|subject| subject.name == name)?;
    let source = Source::new(&Text::new(script.to_owned(), bytes, &[]), operation);
    let mut buffers = Buffers::default();
    let input = source.input();
    (0..passes).all(|_| black_box((subject.run)(black_box(&input), &mut buffers)).is_some()).then_some(())
}

fn row(plan: &Plan, text: &Text, operation: Operation) -> Row {
    let subjects: Vec<Subject> =
        subjects(operation).into_iter().filter(|subject| plan.selects(&subject.name)).collect();
    let mut source = Source::new(text, operation);
    let mut buffers = Buffers::default();
    let expected = operation.expected(&text.bytes());
    let input = source.input();
    let bytes = operation.input_len(&input);
    let verdicts: Vec<Verdict> =
        subjects.iter().map(|subject| verdict(subject, &input, operation, &expected, &mut buffers)).collect();
    let mut samples: Vec<Vec<f64>> = vec![Vec::new(); subjects.len()];
    let mut passes = vec![1; subjects.len()];
    for round in 0..=plan.rounds {
        source.place(round);
        for (index, subject) in subjects.iter().enumerate().filter(|(index, _)| verdicts[*index] == Verdict::Right) {
            let time = sample(subject, &mut source, round, &mut buffers, passes[index]);
            let one = time.as_nanos() as f64 / f64::from(passes[index]);
            // The first round warms up, and finds how many passes make a sample.
            match round {
                0 => passes[index] = warmed(subject, &mut source, &mut buffers, plan.sample),
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
    Row { class: Kernel::best().name().into(), operation, text: text.name.clone(), bytes, cells: cells.collect() }
}

/// Whether a subject's answer is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    Right,
    Wrong,
    /// It gives no answer.
    Silent,
}

/// Runs a subject twice, since the first call must not affect the second through the buffers.
fn verdict(
    subject: &Subject,
    input: &Input,
    operation: Operation,
    expected: &Answer,
    buffers: &mut Buffers,
) -> Verdict {
    let mut worst = Verdict::Right;
    for _ in 0..2 {
        match (subject.run)(input, buffers) {
            None => return Verdict::Silent,
            Some(_) if subject.kind == Kind::Limit => {}
            Some(output) if operation.answer(output, buffers) == *expected => {}
            Some(_) => worst = Verdict::Wrong,
        }
    }
    worst
}

fn sample(subject: &Subject, source: &mut Source, round: usize, buffers: &mut Buffers, passes: u32) -> Duration {
    time(passes, source, round, |input| {
        black_box((subject.run)(input, buffers));
    })
}

/// How long these passes over the text take. If the text changes, it does so before each pass, which takes time that does not
/// count; in the same round it changes in the same way.
///
/// Not inlined, so that the loops around two subjects have the same instructions at the same distance from a cache line.
#[inline(never)]
pub fn time(passes: u32, source: &mut Source, round: usize, mut pass: impl FnMut(&Input)) -> Duration {
    if !source.changes() {
        let input = source.input();
        let start = Instant::now();
        (0..passes).for_each(|_| pass(black_box(&input)));
        return start.elapsed();
    }
    let mut rng = Rng::new(round as u64);
    let timed = |_| {
        source.change(&mut rng);
        let input = source.input();
        let start = Instant::now();
        pass(black_box(&input));
        start.elapsed().saturating_sub(*CLOCK)
    };
    (0..passes).map(timed).sum()
}

/// How long it takes to read the clock.
static CLOCK: LazyLock<Duration> = LazyLock::new(|| {
    let mut times = [Duration::ZERO; 1001];
    times.fill_with(|| Instant::now().elapsed());
    times.sort();
    times[times.len() / 2]
});

/// The number of passes that take about this long.
fn warmed(subject: &Subject, source: &mut Source, buffers: &mut Buffers, long: Duration) -> u32 {
    const MOST: u32 = 1 << 20;
    let mut passes = 1;
    while passes < MOST {
        let time = sample(subject, source, 0, buffers, passes);
        if time >= long / 2 {
            break;
        }
        passes *= 2;
    }
    passes
}

/// The numbers of operations in a batch.
pub const BATCHES: [usize; 4] = [1, 16, 256, 4096];

/// What an operation of one entry point costs.
#[derive(Clone, Debug, Serialize)]
pub struct AdapterCost {
    /// The name of the entry point.
    pub name: String,
    /// The costs in batches of each size.
    pub batches: Vec<BatchCost>,
    /// Why there are none.
    pub trouble: Option<String>,
}

/// What an operation costs in batches of one size.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct BatchCost {
    /// The number of operations.
    pub operations: usize,
    /// Nanoseconds for one operation, from request to reply: the median of the batches. None if, judging by smaller
    /// batches, one of this size would take too long.
    pub nanoseconds: Option<f64>,
}

/// Measures an entry point on inputs of 1 to 6 bytes, well-formed and not, for about `time` for each size of batches.
pub fn measure(decoder: &Foreign, time: Duration) -> AdapterCost {
    let name = decoder.entry().name.clone();
    match costs(decoder, time) {
        Ok(batches) => AdapterCost { name, batches, trouble: None },
        Err(trouble) => AdapterCost { name, batches: Vec::new(), trouble: Some(trouble.what) },
    }
}

fn costs(decoder: &Foreign, time: Duration) -> Result<Vec<BatchCost>, Trouble> {
    let program = decoder.program();
    let (mut process, _) = Process::start(program, Some(&decoder.entry().name))?;
    let mut each = Duration::ZERO;
    let mut costs = Vec::new();
    for operations in BATCHES {
        let batch = of_short_inputs(operations);
        let mut samples = Vec::new();
        let is_affordable = each * operations as u32 / 4 < time;
        let start = Instant::now();
        // The first batch warms up.
        while is_affordable && (samples.len() < 3 || start.elapsed() < time) {
            let start = Instant::now();
            process.ask(&batch, program.timeout)?;
            samples.push(start.elapsed().as_nanos() as f64 / operations as f64);
        }
        if is_affordable {
            samples.remove(0);
            samples.sort_by(f64::total_cmp);
        }
        let nanoseconds = samples.get(samples.len() / 2).copied();
        each = nanoseconds.map_or(each, |nanoseconds| Duration::from_nanos(nanoseconds as u64));
        costs.push(BatchCost { operations, nanoseconds });
    }
    Ok(costs)
}

/// Inputs of 1 to 6 bytes: text and what is ill-formed, as a check asks them.
fn of_short_inputs(count: usize) -> Batch {
    let inputs: [&[u8]; 12] = [
        b"a",
        b"\xFF",
        b"ab",
        b"\xC3\xA9",
        b"\xE2\x82\xAC",
        b"a\x80b",
        b"\xF0\x9F\x98\x80",
        b"ab\xC0\xAF",
        b"a\xE2\x82\xACb",
        b"\xED\xA0\x80ab",
        b"abcdef",
        b"\xE2\x82\xAC\xE2\x82\xAC",
    ];
    let mut batch = Batch::default();
    inputs.iter().cycle().take(count).for_each(|input| batch.push(protocol::Operation::Decode, input));
    batch
}

#[cfg(test)]
mod tests {
    use super::subjects::Output;
    use super::*;

    fn text(bytes: &[u8]) -> Text {
        Text::new(String::from("text"), bytes.to_vec(), &Operation::ALL)
    }

    #[test]
    fn every_subject_is_right_on_short_texts_or_gives_no_answer() {
        let mut silent = 0;
        for bytes in [&b""[..], b"a", b"\xC3\xA9", b"\xFF", b"ab\xE2\x82", b"\xF0\x9F\x98\x80\xED\xA0\x80"] {
            let mut buffers = Buffers::default();
            for operation in Operation::ALL {
                let expected = operation.expected(bytes);
                let source = Source::new(&text(bytes), operation);
                for subject in subjects(operation) {
                    let verdict = verdict(&subject, &source.input(), operation, &expected, &mut buffers);
                    silent += usize::from(verdict == Verdict::Silent);
                    assert_ne!(verdict, Verdict::Wrong, "{} {operation:?} {bytes:02X?}", subject.name);
                }
            }
        }
        // Subjects count only the characters of well-formed input, and simdutf converts only well-formed input.
        let (ill_formed, counters) = (3, 2 + Kernel::available().count());
        let of_simdutf = if cfg!(feature = "simdutf") { 4 } else { 0 };
        assert_eq!(silent, ill_formed * (counters + of_simdutf));
    }

    #[test]
    fn a_wrong_answer_is_a_row_without_a_time() {
        let mut buffers = Buffers::default();
        let expected = Operation::Validate.expected(b"\xFF");
        let says = |number| Subject {
            name: String::from("x"),
            kind: Kind::Peer,
            run: Box::new(move |_, _| Some(Output::Number(number))),
        };
        let source = Source::new(&text(b"\xFF"), Operation::Validate);
        let verdict = |number, buffers: &mut Buffers| {
            verdict(&says(number), &source.input(), Operation::Validate, &expected, buffers)
        };
        assert_eq!(verdict(1, &mut buffers), Verdict::Wrong);
        assert_eq!(verdict(0, &mut buffers), Verdict::Right);
    }

    /// `None`: the answer is wrong.
    fn cell(name: &str, kind: Kind, median: Option<f64>) -> Cell {
        let time = median.map(|median| Time { median, low: median, high: median });
        Cell { name: name.to_owned(), kind, wrong: median.is_none(), time }
    }

    /// A row of `own` and one peer; `None`: the answer of `own` is wrong.
    fn beside_a_peer(text: &str, own: Option<f64>) -> Row {
        let cells = vec![cell("own", Kind::Own, own), cell("peer", Kind::Peer, Some(12.0))];
        Row { class: String::new(), operation: Operation::Validate, text: text.into(), bytes: 1, cells }
    }

    #[test]
    fn of_several_measurements_the_middle_one_counts_in_each_row() {
        let of = |times: [Option<f64>; 2]| Measured {
            rows: vec![beside_a_peer("a", times[0]), beside_a_peer("b", times[1])],
        };
        let all = [of([Some(2.0), Some(4.0)]), of([Some(6.0), Some(3.0)]), of([Some(3.0), Some(6.0)])];
        let ratios = |all: &[Measured]| -> Vec<Option<f64>> {
            Measured::middle(all.to_vec()).unwrap().rows.iter().map(|row| row.ratio("own")).collect()
        };
        assert_eq!(ratios(&all), [Some(4.0), Some(3.0)]);
        assert_eq!(ratios(&all[..1]), [Some(6.0), Some(3.0)]);
        // A wrong answer is not lost.
        assert_eq!(ratios(&[of([Some(2.0), None]), all[1].clone(), all[2].clone()]), [Some(4.0), None]);
        let other = Measured { rows: vec![beside_a_peer("a", Some(1.0)), beside_a_peer("c", Some(1.0))] };
        let short = Measured { rows: vec![beside_a_peer("a", Some(1.0))] };
        assert!(
            [vec![], vec![of([None; 2]), other], vec![of([None; 2]), short]]
                .map(Measured::middle)
                .iter()
                .all(Option::is_none)
        );
    }

    #[test]
    fn ratios_are_to_the_fastest_peer() {
        let cells = vec![
            cell("own", Kind::Own, Some(10.0)),
            cell("slow", Kind::Peer, Some(40.0)),
            cell("fast", Kind::Peer, Some(20.0)),
            cell("wrong", Kind::Peer, None),
            cell("read", Kind::Limit, Some(1.0)),
        ];
        let row = Row { class: String::new(), operation: Operation::Validate, text: String::new(), bytes: 100, cells };
        assert_eq!(row.best_peer().map(|(name, _)| name), Some("fast"));
        assert_eq!(row.ratio("own"), Some(2.0));
        assert_eq!(row.ratio("wrong"), None);
        assert_eq!(row.throughput(Time { median: 50.0, low: 0.0, high: 0.0 }), Some(2.0));
    }
}
