//! What a judge asks a decoder, to the letter: which bytes, at which addresses, into which buffers, in which chunks.
//!
//! `tests/questions.txt` holds inputs, and after each of them the questions. Where the answers are right, these depend only on the
//! input. `UPDATE_QUESTIONS=1 cargo test --test questions` looks for inputs with questions of all sorts where there are
//! none, and writes the questions again; review the difference before you commit it.
#![cfg(all(target_os = "linux", feature = "guard-pages"))]

mod faulty;

use faulty::{finish, lossy, verdict};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use utfuzz::case::Case;
use utfuzz::codec::Streaming;
use utfuzz::generate::structured::Structured;
use utfuzz::judge::Judge;
use utfuzz::utf8::Validity;
use utfuzz::{Decoder, Info, Stream};

/// What was asked.
struct Log {
    lines: Vec<String>,
    /// What other threads asked for at the same time, any number of times.
    at_once: BTreeSet<String>,
    /// Where the input is.
    input: (usize, usize),
    placement: (usize, bool),
    main: ThreadId,
}

/// Sound, and notes each question.
struct Noting {
    info: Info,
    log: Arc<Mutex<Log>>,
    streams: AtomicUsize,
}

struct NotingStream {
    inner: Streaming,
    number: usize,
    log: Arc<Mutex<Log>>,
}

impl Log {
    /// Names the bytes by where they are in the input, or by their address.
    fn name(&self, bytes: &[u8]) -> String {
        let (start, len) = self.input;
        let address = bytes.as_ptr().addr();
        if (start..=start + len).contains(&address) && address + bytes.len() <= start + len {
            return format!("{}..{}", address - start, address - start + bytes.len());
        }
        let text = bytes.iter().take(3).chain(bytes.iter().rev().take(1)).fold(String::new(), |mut text, byte| {
            write!(text, " {byte:02X}").unwrap();
            text
        });
        if bytes.len() != len || bytes.is_empty() {
            return format!("{} bytes{text}", bytes.len());
        }
        let (alignment, _) = self.placement;
        // A whole page is aligned only where the input is placed across the edge of one, or next to its end.
        match address % 64 {
            same if same == alignment => format!("copy at 64n + {same}{text}"),
            _ => format!("copy at 4096n + {}{text}", address % 4096),
        }
    }

    fn note(&mut self, line: String) {
        if thread::current().id() == self.main {
            self.lines.push(line);
        } else {
            self.at_once.insert(line);
        }
    }
}

/// The least room in a buffer in which the output begins at a certain address.
const MUCH: usize = 128;

/// Whether the bytes begin or end where a page does.
fn at_page(bytes: &[u8]) -> bool {
    let pointers = bytes.as_ptr_range();
    [pointers.start, pointers.end].iter().any(|pointer| pointer.addr().is_multiple_of(4096))
}

/// How much is in a buffer, and how much room is left.
fn room(out: &Vec<u8>) -> String {
    match out.capacity() {
        // How much is used depends on the address.
        MUCH.. => "with much room".to_owned(),
        capacity => format!("after {} bytes, with room for {}", out.len(), capacity - out.len()),
    }
}

impl Decoder for Noting {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        let mut log = self.log.lock().unwrap();
        let line = format!("validate {}", log.name(bytes));
        log.note(line);
        Some(verdict(bytes))
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let mut log = self.log.lock().unwrap();
        let mut line = format!("decode {} {}", log.name(bytes), room(out));
        // Next to the edge of a page the buffer may be any.
        if line.contains("copy") && out.capacity() >= MUCH && !at_page(bytes) {
            line = format!("decode {} to 64n + {}", log.name(bytes), out.as_ptr_range().end.addr() % 64);
        }
        log.note(line);
        out.extend(lossy(bytes));
        Some(())
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        let number = self.streams.fetch_add(1, Relaxed);
        self.log.lock().unwrap().note(format!("stream {number}"));
        Some(Box::new(NotingStream { inner: Streaming::new(), number, log: self.log.clone() }))
    }
}

impl Stream for NotingStream {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        let mut log = self.log.lock().unwrap();
        let place = if thread::current().id() == log.main { "" } else { " on another thread" };
        let name = log.name(chunk);
        // After a long prefix, the input is where that ends.
        let name = if name.starts_with("copy") && !at_page(chunk) { "copy" } else { &name };
        let line = format!("stream {}: push {name} {}{place}", self.number, room(out));
        log.lines.push(line);
        self.inner.push(chunk, out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        self.log.lock().unwrap().note(format!("stream {}: finish {}", self.number, room(out)));
        finish(&mut self.inner, out);
        None
    }

    fn sendable(&mut self) -> Option<&mut (dyn Stream + Send + '_)> {
        Some(self)
    }
}

impl Drop for NotingStream {
    fn drop(&mut self) {
        if let Ok(mut log) = self.log.lock() {
            log.note(format!("stream {}: drop", self.number));
        }
    }
}

/// What a new judge asks about an input.
fn questions(bytes: &[u8]) -> Vec<String> {
    let case = Case::new(bytes);
    let log = Log {
        lines: Vec::new(),
        at_once: BTreeSet::new(),
        input: (bytes.as_ptr().addr(), bytes.len()),
        placement: case.placement(),
        main: thread::current().id(),
    };
    let log = Arc::new(Mutex::new(log));
    let decoder = Noting { info: Info::new("noting", "0"), log: log.clone(), streams: AtomicUsize::new(0) };
    let mut judge = Judge::new([&decoder as &dyn Decoder]);
    assert!(judge.judge(&case).is_empty(), "{bytes:02X?}");
    drop(judge);
    let log = log.lock().unwrap();
    let at_once = log.at_once.iter().map(|line| format!("at the same time: {line}"));
    log.lines.iter().cloned().chain(at_once).collect()
}

/// A line without the numbers in it: what sort of question it is.
fn sort(line: &str) -> String {
    line.chars().filter(|c| !c.is_ascii_hexdigit()).collect()
}

/// Inputs whose questions, in their order, are of a sort that no other has.
fn inputs() -> Vec<Vec<u8>> {
    let mut seen = BTreeSet::new();
    let mut inputs = Vec::new();
    for seed in 0..200_000 {
        let input = if seed % 2 == 0 { Structured::dense(seed) } else { Structured::seeded(seed) }.0;
        if input.len() > 40 {
            continue;
        }
        let questions = questions(&input);
        // Those that are rare, and a few of the others.
        let is_new = questions.iter().filter(|line| seen.insert(sort(line))).count() > 0;
        if is_new || inputs.len() < 24 {
            inputs.push(input);
        }
    }
    inputs
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/questions.txt")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02X} ")).trim_end().to_owned()
}

#[test]
fn the_questions_about_an_input_are_these() {
    let kept = fs::read_to_string(path()).unwrap_or_default();
    let inputs = match kept.split("\n=== ").skip(1).map(|part| part.lines().next().unwrap()).collect::<Vec<_>>() {
        kept if kept.is_empty() => inputs(),
        kept => {
            let bytes =
                |line: &str| line.split_whitespace().map(|byte| u8::from_str_radix(byte, 16).unwrap()).collect();
            kept.into_iter().map(bytes).collect()
        }
    };
    let found: String =
        inputs.iter().map(|input| format!("\n=== {}\n{}\n", hex(input), questions(input).join("\n"))).collect();
    if std::env::var_os("UPDATE_QUESTIONS").is_some() {
        fs::write(path(), &found).unwrap();
        return;
    }
    let different = found.lines().zip(kept.lines()).enumerate().find(|(_, (found, kept))| found != kept);
    assert_eq!(different, None, "line, found and kept");
    assert_eq!(found.lines().count(), kept.lines().count());
    assert!(inputs.len() >= 30, "{}", inputs.len());
}
