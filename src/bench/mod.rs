//! How fast decoders are: all subjects that can perform an operation, in turns, on the same bytes.
//!
//! Before anything is timed, each answer is compared with that of the standard; a wrong one is marked and not timed. In
//! every round the subjects run one after the other, so that a temporary slowdown of the machine affects all of them.
//! Compare ratios of medians, not absolute times.
//!
//! The texts are generated words in many scripts, without and with errors; they are the same on every machine and in
//! every run. Before each pass, outside the timed section, the errors of a corrupted text move to new places, the same for every
//! subject. Otherwise the processor would learn the branches that the text takes, and a decoder that branches at every error
//! would look faster than it is. So answers are compared with the errors in their first places. What an operation of an adapter
//! costs is measured in batches of several sizes.

mod subjects;

pub use subjects::{Kind, Operation};

use crate::case::Rng;
use crate::case::input::files_below;
use crate::codec::Kernel;
use crate::error::Error;
use crate::peers::foreign::Foreign;
use crate::peers::foreign::process::{Process, Trouble};
use crate::peers::foreign::protocol::{self, Batch};
use crate::text::matches_glob;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use subjects::{Answer, Buffers, Placed, Subject, subjects};

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
    let (mut input, mut errors) = (Placed::new(&text.bytes), text.errors.clone());
    for round in 0..=plan.rounds {
        input.place(round);
        buffers.place(round);
        for (index, subject) in subjects.iter().enumerate().filter(|(index, _)| verdicts[*index] == Verdict::Right) {
            let time = sample(subject, &mut input, errors.as_mut(), round, &mut buffers, passes[index]);
            let one = time.as_nanos() as f64 / f64::from(passes[index]);
            // The first round warms up, and finds how many passes make a sample.
            match round {
                0 => passes[index] = warmed(subject, &mut input, errors.as_mut(), &mut buffers, plan.sample),
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

fn sample(
    subject: &Subject,
    text: &mut [u8],
    errors: Option<&mut Errors>,
    round: usize,
    buffers: &mut Buffers,
    passes: u32,
) -> Duration {
    time(passes, text, errors, round, |text| {
        black_box((subject.run)(text, buffers));
    })
}

/// How long these passes over the text take. Before each, the errors move, which takes time that does not count; in the same
/// round they move to the same places.
///
/// Not inlined, so that the loops around two subjects have the same instructions at the same distance from a cache line.
#[inline(never)]
pub fn time(
    passes: u32,
    text: &mut [u8],
    errors: Option<&mut Errors>,
    round: usize,
    mut pass: impl FnMut(&[u8]),
) -> Duration {
    let Some(errors) = errors else {
        let start = Instant::now();
        (0..passes).for_each(|_| pass(black_box(&*text)));
        return start.elapsed();
    };
    let mut rng = Rng::new(round as u64);
    let timed = |_| {
        errors.scatter(text, &mut rng);
        let start = Instant::now();
        pass(black_box(&*text));
        start.elapsed()
    };
    (0..passes).map(timed).sum()
}

/// The number of passes that take about this long.
fn warmed(
    subject: &Subject,
    text: &mut [u8],
    mut errors: Option<&mut Errors>,
    buffers: &mut Buffers,
    long: Duration,
) -> u32 {
    const MOST: u32 = 1 << 20;
    let mut passes = 1;
    while passes < MOST {
        let time = sample(subject, text, errors.as_deref_mut(), 0, buffers, passes);
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
    /// Its errors, if it is a corrupted text.
    pub errors: Option<Errors>,
    /// The operations on it.
    pub operations: Vec<Operation>,
}

impl Text {
    /// A text whose errors, if any, stay where they are.
    fn new(name: String, bytes: Vec<u8>, operations: &[Operation]) -> Self {
        Self { name, bytes, errors: None, operations: operations.to_vec() }
    }

    /// The same text, one byte in `one_in` replaced by a random one.
    fn corrupted(mut self, one_in: usize) -> Self {
        let mut errors = Errors { one_in, replaced: Vec::new() };
        errors.scatter(&mut self.bytes, &mut Rng::new(one_in as u64));
        Self { errors: Some(errors), ..self }
    }
}

/// Random bytes in a text, at random places. They can be moved to other places.
#[derive(Clone, Debug)]
pub struct Errors {
    /// The mean distance between two of them.
    one_in: usize,
    /// The places, and the bytes that stood there.
    replaced: Vec<(usize, u8)>,
}

impl Errors {
    /// Undoes the previous call, then puts errors in new places. `text` must be the one that was passed last, or a
    /// prefix of it.
    fn scatter(&mut self, text: &mut [u8], rng: &mut Rng) {
        for (at, replaced) in self.replaced.drain(..) {
            if let Some(byte) = text.get_mut(at) {
                *byte = replaced;
            }
        }
        // Each byte is replaced with the same probability. So the number of bytes that are left out before one that is has
        // the geometric distribution, which is drawn by the inverse of its distribution function.
        let log_kept = (-1.0 / self.one_in as f64).ln_1p();
        let mut at = 0;
        loop {
            let uniform = (f64::from(rng.next_u32()) + 0.5) / 4_294_967_296.0;
            at += (uniform.ln() / log_kept) as usize;
            let Some(byte) = text.get_mut(at) else { break };
            self.replaced.push((at, *byte));
            *byte = rng.next_u32() as u8;
            at += 1;
        }
    }
}

/// The length of most texts in bytes: larger than a first-level cache.
const LEN: usize = 80_000;

impl Plan {
    /// Text in every script, whole, corrupted and truncated; random bytes and Latin-1; every length up to 128; large
    /// texts. Only the texts whose names contain `part` are generated.
    pub fn built_in(quick: bool, part: &str) -> Self {
        let text = |name: String, operations: &[Operation], bytes: &dyn Fn() -> Vec<u8>| {
            name.contains(part).then(|| Text::new(name, bytes(), operations))
        };
        let mut texts = Vec::new();
        // These texts are UTF-8, not Latin-1.
        let all: Vec<_> = Operation::ALL.into_iter().filter(|one| *one != Operation::FromLatin1).collect();
        let all = &all[..];
        for script in &SCRIPTS {
            texts.extend(text(script.name.to_owned(), all, &|| script.text(LEN)));
        }
        texts.extend(text("page".to_owned(), all, &|| page(LEN)));
        for (percent, one_in) in [("0.1", 1000), ("1", 100), ("10", 10)] {
            for script in &SCRIPTS {
                let name = format!("{}, {percent} % corrupted", script.name);
                let intact = text(name, &[Operation::Lossy, Operation::Utf16], &|| script.text(LEN));
                texts.extend(intact.map(|text| text.corrupted(one_in)));
            }
        }
        for (name, bytes) in [("random bytes", random as fn(usize) -> Vec<u8>), ("latin-1", latin_1)] {
            texts.extend(text(name.to_owned(), &[Operation::Lossy, Operation::Utf16, Operation::FromLatin1], &|| {
                bytes(LEN)
            }));
        }
        texts.extend(text("chinese, cut off".to_owned(), all, &|| [&SCRIPTS[8].text(LEN)[..], b"\xE4\xBD"].concat()));
        let sizes: &[usize] = if quick { &[1 << 10, 1 << 20] } else { &[1 << 10, 1 << 16, 1 << 20, 1 << 24, 1 << 28] };
        for &size in sizes {
            for script in [&SCRIPTS[0], &SCRIPTS[8]] {
                texts.extend(text(format!("{}, {}", script.name, words(size)), &[Operation::Validate], &|| {
                    script.text(size)
                }));
            }
        }
        let step = if quick { 8 } else { 1 };
        for len in (0..=128).step_by(step) {
            texts.extend(text(format!("ascii, {len}"), &[Operation::Validate], &|| vec![b'a'; len]));
            texts.extend(text(format!("mixed, {len}"), &[Operation::Validate], &|| mixed(len)));
        }
        Self::of_texts(texts, quick)
    }

    fn of_texts(texts: Vec<Text>, quick: bool) -> Self {
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
        let text = |path: &PathBuf| Ok(Text::new(path.to_string_lossy().into_owned(), read(path)?, &Operation::ALL));
        Ok(Self::of_texts(files.iter().map(text).collect::<Result<_, Error>>()?, quick))
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

/// A script: the code points of its letters, and the length of its words.
#[derive(Clone, Copy, Debug)]
pub struct Script {
    /// The name in reports.
    pub name: &'static str,
    /// Ranges of code points, first and last, all equally likely.
    letters: &'static [(u32, u32)],
    /// The maximum number of letters between two spaces.
    longest_word: usize,
}

const ASCII: (u32, u32) = (0x61, 0x7A);

/// Scripts with one to four bytes for each letter.
pub const SCRIPTS: [Script; 12] = [
    Script { name: "ascii", letters: &[ASCII], longest_word: 9 },
    // One letter in eight has an accent.
    Script {
        name: "latin",
        letters: &[ASCII, ASCII, ASCII, ASCII, ASCII, ASCII, ASCII, (0xE0, 0xF6)],
        longest_word: 9,
    },
    Script { name: "greek", letters: &[(0x3B1, 0x3C9)], longest_word: 9 },
    Script { name: "cyrillic", letters: &[(0x430, 0x44F)], longest_word: 9 },
    Script { name: "hebrew", letters: &[(0x5D0, 0x5EA)], longest_word: 7 },
    Script { name: "arabic", letters: &[(0x627, 0x64A)], longest_word: 7 },
    Script { name: "hindi", letters: &[(0x904, 0x939)], longest_word: 7 },
    Script { name: "thai", letters: &[(0xE01, 0xE2E)], longest_word: 20 },
    Script { name: "chinese", letters: &[(0x4E00, 0x9FA5)], longest_word: 20 },
    Script { name: "japanese", letters: &[(0x3041, 0x3093), (0x30A1, 0x30F6), (0x4E00, 0x9FA5)], longest_word: 20 },
    Script { name: "korean", letters: &[(0xAC00, 0xD7A3)], longest_word: 6 },
    Script { name: "emoji", letters: &[(0x1_F300, 0x1_F5FF)], longest_word: 20 },
];

impl Script {
    /// Text of at most `len` bytes, and at least `len - 3`.
    pub fn text(&self, len: usize) -> Vec<u8> {
        let mut rng = Rng::new(len as u64);
        let mut text = String::with_capacity(len);
        while text.len() + 4 <= len {
            for _ in 0..=rng.below(self.longest_word) {
                let (first, last) = self.letters[rng.below(self.letters.len())];
                let letter = first + rng.below((last - first + 1) as usize) as u32;
                text.extend(char::from_u32(letter).filter(|letter| text.len() + letter.len_utf8() < len));
            }
            text.push(' ');
        }
        text.into_bytes()
    }
}

/// Text of all scripts between tags, as in a web page; at most `len` bytes.
pub fn page(len: usize) -> Vec<u8> {
    let mut rng = Rng::new(len as u64);
    let mut text = Vec::with_capacity(len);
    while text.len() < len {
        text.extend_from_slice(b"<p class=\"text\"><a href=\"https://example.org/\">");
        let script = SCRIPTS[rng.below(SCRIPTS.len())];
        text.extend_from_slice(&script.text(40 + rng.below(160)));
        text.extend_from_slice(b"</a></p>\n");
    }
    let is_boundary = |at: &usize| text[*at] & 0xC0 != 0x80;
    text.truncate((0..len).rev().find(is_boundary).unwrap_or(0));
    text
}

/// Random bytes.
pub fn random(len: usize) -> Vec<u8> {
    let mut rng = Rng::new(1);
    (0..len).map(|_| rng.next_u32() as u8).collect()
}

/// Text in Latin-1, one letter in twenty with an accent, which is ill-formed UTF-8.
pub fn latin_1(len: usize) -> Vec<u8> {
    let mut rng = Rng::new(2);
    let mut letter = || if rng.one_in(20) { 0xE0 + rng.below(23) as u8 } else { b'a' + rng.below(26) as u8 };
    (0..len).map(|_| letter()).collect()
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

    #[test]
    fn text_is_well_formed_and_has_the_requested_length() {
        for len in [0, 1, 3, 4, 5, 64, 1000, 65_536] {
            for script in SCRIPTS {
                let text = script.text(len);
                assert!(core::str::from_utf8(&text).is_ok(), "{} {len}", script.name);
                assert!(text.len() <= len && text.len() + 3 >= len, "{} {len}: {}", script.name, text.len());
            }
            assert!(core::str::from_utf8(&page(len)).is_ok());
        }
        assert!(core::str::from_utf8(&latin_1(1000)).is_err());
    }

    #[test]
    fn errors_move_before_each_pass_to_places_that_the_round_decides() {
        let intact = SCRIPTS[0].text(100_000);
        let places = |text: &[u8]| -> Vec<usize> { (0..text.len()).filter(|&at| text[at] != intact[at]).collect() };
        for one_in in [10, 100] {
            let Text { bytes, errors, .. } = Text::new(String::new(), intact.clone(), &[]).corrupted(one_in);
            let seen = |round| {
                let (mut texts, mut text, mut errors) = (vec![bytes.clone()], bytes.clone(), errors.clone());
                time(3, &mut text, errors.as_mut(), round, |text| texts.push(text.to_vec()));
                texts
            };
            let texts = seen(1);
            for pair in texts.windows(2) {
                let [before, after] = [&pair[0], &pair[1]].map(|text| places(text));
                let expected = intact.len() / one_in;
                assert!((expected * 8 / 10..=expected * 12 / 10).contains(&after.len()), "{one_in}: {}", after.len());
                let same = after.iter().filter(|at| before.binary_search(at).is_ok()).count();
                assert!(same * 4 < after.len(), "{one_in}: {same} of {}", after.len());
            }
            assert_eq!(texts, seen(1));
            assert_ne!(texts[1..], seen(2)[1..]);
        }
    }
}
