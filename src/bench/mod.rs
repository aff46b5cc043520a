//! How fast decoders are: all subjects that can perform an operation, in turns, on the same bytes.
//!
//! Before anything is timed, each answer is compared with that of the standard; a wrong one is marked and not timed. In
//! every round the subjects run one after the other, so that a temporary slowdown of the machine affects all of them.
//! Compare ratios of medians, not absolute times.

#[cfg(all(feature = "foreign", unix))]
pub mod adapters;
mod subjects;
pub mod texts;

pub use subjects::{Kind, Operation};

use crate::case::input::files_below;
use crate::codec::Kernel;
use crate::error::Error;
use crate::text::matches_glob;
use serde::{Deserialize, Serialize};
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use subjects::{Answer, Buffers, Placed, Subject, subjects};
use texts::{SCRIPTS, corrupted, latin_1, page, random};

/// The result of a measurement.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Measured {
    /// One for each operation and text.
    pub rows: Vec<Row>,
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

    /// How many times as fast as the fastest peer the subject of this name is.
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
        "page" => page(len),
        "latin-1" => latin_1(len),
        _ => SCRIPTS.iter().find(|one| one.name == script)?.text(len),
    };
    let subject = subjects(operation).into_iter().find(|subject| subject.name == name)?;
    let mut buffers = match operation {
        Operation::FromUtf16 | Operation::FromUtf32 | Operation::Count => Buffers::of(&bytes),
        _ => Buffers::default(),
    };
    (0..passes).all(|_| black_box((subject.run)(black_box(&bytes), &mut buffers)).is_some()).then_some(())
}

fn row(plan: &Plan, text: &Text, operation: Operation) -> Row {
    let subjects: Vec<Subject> =
        subjects(operation).into_iter().filter(|subject| plan.selects(&subject.name)).collect();
    let mut buffers = Buffers::of(&text.bytes);
    let expected = operation.expected(&text.bytes);
    let verdicts: Vec<Verdict> =
        subjects.iter().map(|subject| verdict(subject, text, operation, &expected, &mut buffers)).collect();
    let mut samples: Vec<Vec<f64>> = vec![Vec::new(); subjects.len()];
    let mut passes = vec![1; subjects.len()];
    let mut input = Placed::new(&text.bytes);
    for round in 0..=plan.rounds {
        input.place(round);
        buffers.place(round);
        for (index, subject) in subjects.iter().enumerate().filter(|(index, _)| verdicts[*index] == Verdict::Right) {
            let time = sample(subject, &input, &mut buffers, passes[index]);
            let one = time.as_nanos() as f64 / f64::from(passes[index]);
            // The first round warms up, and finds how many passes make a sample.
            match round {
                0 => passes[index] = warmed(subject, &input, &mut buffers, plan.sample),
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
    let bytes = operation.input_len(&text.bytes, &buffers);
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
fn verdict(subject: &Subject, text: &Text, operation: Operation, expected: &Answer, buffers: &mut Buffers) -> Verdict {
    let mut worst = Verdict::Right;
    for _ in 0..2 {
        match (subject.run)(&text.bytes, buffers) {
            None => return Verdict::Silent,
            Some(_) if subject.kind == Kind::Limit => {}
            Some(output) if operation.answer(output, buffers) == *expected => {}
            Some(_) => worst = Verdict::Wrong,
        }
    }
    worst
}

fn sample(subject: &Subject, bytes: &[u8], buffers: &mut Buffers, passes: u32) -> Duration {
    let start = Instant::now();
    for _ in 0..passes {
        black_box((subject.run)(black_box(bytes), buffers));
    }
    start.elapsed()
}

/// The number of passes that take about this long.
fn warmed(subject: &Subject, bytes: &[u8], buffers: &mut Buffers, long: Duration) -> u32 {
    const MOST: u32 = 1 << 20;
    let mut passes = 1;
    while passes < MOST {
        let time = sample(subject, bytes, buffers, passes);
        if time >= long / 2 {
            break;
        }
        passes *= 2;
    }
    passes
}

/// What to measure.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The texts, each with its operations.
    pub texts: Vec<Text>,
    /// The number of samples of each subject on each text.
    pub rounds: usize,
    /// The approximate duration of a sample.
    pub sample: Duration,
    /// Which subjects: names, in which `*` matches any characters; all subjects if empty.
    pub subjects: Vec<String>,
}

/// A text.
#[derive(Clone, Debug)]
pub struct Text {
    /// Its name.
    pub name: String,
    /// The bytes.
    pub bytes: Vec<u8>,
    /// The operations on it.
    pub operations: Vec<Operation>,
}

impl Text {
    fn new(name: impl Into<String>, bytes: Vec<u8>, operations: &[Operation]) -> Self {
        Self { name: name.into(), bytes, operations: operations.to_vec() }
    }
}

/// The length of most texts in bytes: larger than a first-level cache.
const LEN: usize = 80_000;

impl Plan {
    /// Text in every script, whole, corrupted and truncated; random bytes and Latin-1; every length up to 128; large
    /// texts.
    pub fn built_in(quick: bool) -> Self {
        // These texts are UTF-8, not Latin-1.
        let all: Vec<_> = Operation::ALL.into_iter().filter(|one| *one != Operation::FromLatin1).collect();
        let all = &all[..];
        let mut texts: Vec<Text> = SCRIPTS.iter().map(|script| Text::new(script.name, script.text(LEN), all)).collect();
        texts.push(Text::new("page", page(LEN), all));
        for (percent, one_in) in [("0.1", 1000), ("1", 100), ("10", 10)] {
            for script in &SCRIPTS {
                let name = format!("{}, {percent} % corrupted", script.name);
                texts.push(Text::new(name, corrupted(script.text(LEN), one_in), &[Operation::Lossy, Operation::Utf16]));
            }
        }
        for (name, bytes) in [("random bytes", random(LEN)), ("latin-1", latin_1(LEN))] {
            texts.push(Text::new(name, bytes, &[Operation::Lossy, Operation::Utf16, Operation::FromLatin1]));
        }
        let cut_off = [&SCRIPTS[8].text(LEN)[..], b"\xE4\xBD"].concat();
        texts.push(Text::new("chinese, cut off", cut_off, all));
        let sizes: &[usize] = if quick { &[1 << 10, 1 << 20] } else { &[1 << 10, 1 << 16, 1 << 20, 1 << 24, 1 << 28] };
        for &size in sizes {
            for script in [&SCRIPTS[0], &SCRIPTS[8]] {
                texts.push(Text::new(
                    format!("{}, {}", script.name, words(size)),
                    script.text(size),
                    &[Operation::Validate],
                ));
            }
        }
        let step = if quick { 8 } else { 1 };
        for len in (0..=128).step_by(step) {
            texts.push(Text::new(format!("ascii, {len}"), vec![b'a'; len], &[Operation::Validate]));
            texts.push(Text::new(format!("mixed, {len}"), mixed(len), &[Operation::Validate]));
        }
        let (rounds, sample) = if quick { (5, Duration::from_micros(300)) } else { (15, Duration::from_millis(1)) };
        Self { texts, rounds, sample, subjects: Vec::new() }
    }

    /// These files, and those below these directories, with every operation.
    ///
    /// # Errors
    /// A file cannot be read, or the directories contain none.
    pub fn of_files(paths: &[PathBuf], quick: bool) -> Result<Self, Error> {
        let mut files = Vec::new();
        for path in paths {
            match path.is_dir() {
                true => files.extend(files_below(path)?),
                false => files.push(path.clone()),
            }
        }
        if files.is_empty() {
            return Err(Error::usage("the named directories contain no files; nothing was measured"));
        }
        let read = |path: &Path| std::fs::read(path).map_err(|error| Error::io(path, &error));
        let text = |path: &Path| Ok(Text::new(path.to_string_lossy(), read(path)?, &Operation::ALL));
        let texts = files.iter().map(|path| text(path)).collect::<Result<_, Error>>()?;
        Ok(Self { texts, ..Self::built_in(quick) })
    }

    /// Whether a subject of this name takes part.
    pub fn selects(&self, name: &str) -> bool {
        self.subjects.is_empty() || self.subjects.iter().any(|glob| matches_glob(glob, name))
    }
}

/// Short text with characters of all widths, of exactly this length in bytes.
fn mixed(len: usize) -> Vec<u8> {
    let mut text = "aé€ b😀ñ ж".repeat(1 + len / 8);
    let end = (0..=len.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    text.truncate(end);
    text.extend(std::iter::repeat_n('a', len - end));
    text.into_bytes()
}

fn words(size: usize) -> String {
    match size {
        ..1_048_576 => format!("{} KiB", size >> 10),
        _ => format!("{} MiB", size >> 20),
    }
}

#[cfg(test)]
mod tests {
    use super::subjects::Output;
    use super::*;

    fn text(bytes: &[u8]) -> Text {
        Text { name: String::from("text"), bytes: bytes.to_vec(), operations: Operation::ALL.to_vec() }
    }

    #[test]
    fn every_subject_is_right_on_short_texts_or_gives_no_answer() {
        let mut silent = 0;
        for bytes in [&b""[..], b"a", b"\xC3\xA9", b"\xFF", b"ab\xE2\x82", b"\xF0\x9F\x98\x80\xED\xA0\x80"] {
            let mut buffers = Buffers::of(bytes);
            for operation in Operation::ALL {
                let expected = operation.expected(bytes);
                for subject in subjects(operation) {
                    let verdict = verdict(&subject, &text(bytes), operation, &expected, &mut buffers);
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
        let verdict = |number, buffers: &mut Buffers| {
            verdict(&says(number), &text(b"\xFF"), Operation::Validate, &expected, buffers)
        };
        assert_eq!(verdict(1, &mut buffers), Verdict::Wrong);
        assert_eq!(verdict(0, &mut buffers), Verdict::Right);
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
        let row = Row { class: String::new(), operation: Operation::Validate, text: String::new(), bytes: 100, cells };
        assert_eq!(row.best_peer().map(|(name, _)| name), Some("fast"));
        assert_eq!(row.ratio("own"), Some(2.0));
        assert_eq!(row.ratio("wrong"), None);
        assert_eq!(row.throughput(Time { median: 50.0, low: 0.0, high: 0.0 }), Some(2.0));
    }
}
