//! The proof of one entry point of an adapter: what its steps share, and the conversation with the adapter, byte by
//! byte. Requests are written in pieces, answers are recorded as they came, and every wait has an end.

use crate::codec::convert::{Encoding, Options, convert};
use crate::peers::foreign::process::{Printed, Program, command, ended};
use crate::peers::foreign::protocol::{
    Answer, Batch, Entry, Greeting, Operation, OutputForm, Spelling, Translator, Verdict,
};
use crate::text::{hex, printable_lines, quoted};
use crate::utf8::ErrorLen;
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use serde::Serialize;
use std::io::{self, BufRead, Read, Write};
use std::ops::Range;
use std::process::{Child, ChildStdin, ChildStdout};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::{Duration, Instant};

/// A running adapter. It is killed, with the processes it has started, when this is dropped.
pub(super) struct Wire {
    child: Child,
    requests: Option<Sender<Request>>,
    replies: Replies,
    printed: Printed,
    spelling: Spelling,
}

/// Bytes to write, in pieces of this length. After each piece comes a pause, which lasts until the piece has been read.
struct Request {
    bytes: Vec<u8>,
    piece: usize,
    pause: Duration,
}

/// What an adapter did after the end of its input.
pub(super) enum End {
    /// It exited with this status, after this time.
    Exited(Option<i32>, Duration),
    /// It was still running after the time it had.
    Running,
    /// It exited, and a process that it started goes on running.
    Offspring,
}

impl Wire {
    /// Starts the program, for one entry point if it is named, and reads its greeting.
    ///
    /// # Errors
    /// What went wrong, in words, and what the adapter wrote until then.
    pub(super) fn start(
        program: &Program,
        entry: Option<&str>,
        patience: Duration,
    ) -> Result<(Self, Greeting), (String, Vec<u8>)> {
        let broken = |what: String| (what, Vec::new());
        let Some(name) = program.command.first() else { return Err(broken("the command is empty".into())) };
        let cannot = |error: io::Error| broken(format!("{name} cannot be started: {error}"));
        let mut child = command(program, entry).spawn().map_err(cannot)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(to), Some(from), Some(errors)) = pipes else { return Err(broken("it has no pipes".into())) };
        let ((requests, to_write), (chunks, read)) = (channel(), channel());
        let printed = Printed::default();
        let listener = printed.clone();
        spawn(move || listener.read(errors)).map_err(cannot)?;
        spawn(move || write(to, &to_write)).map_err(cannot)?;
        spawn(move || read_chunks(from, &chunks)).map_err(cannot)?;
        let replies = Replies::new(read);
        let mut wire = Self { child, requests: Some(requests), replies, printed, spelling: Spelling::Lines };
        wire.replies.begin(patience);
        match Greeting::read(&mut wire.replies) {
            Ok(greeting) => {
                wire.spelling = greeting.spelling;
                Ok((wire, greeting))
            }
            Err(_) if wire.replies.is_late => {
                Err((wire.late("no complete greeting came", patience), wire.replies.log.clone()))
            }
            Err(what) => Err((wire.and_its_end(what), wire.replies.log.clone())),
        }
    }

    /// The spelling of requests and answers.
    pub(super) fn spelling(&self) -> Spelling {
        self.spelling
    }

    /// Writes a batch in one piece, and reads its answers.
    ///
    /// # Errors
    /// What went wrong, in words, and what the adapter wrote until then.
    pub(super) fn ask(&mut self, batch: &Batch, patience: Duration) -> Result<Vec<Answer>, (String, Vec<u8>)> {
        self.ask_in_pieces(batch, usize::MAX, Duration::ZERO, patience)
    }

    /// The same in pieces of `piece` bytes, with a pause after each.
    ///
    /// # Errors
    /// What went wrong, in words, and what the adapter wrote until then.
    pub(super) fn ask_in_pieces(
        &mut self,
        batch: &Batch,
        piece: usize,
        pause: Duration,
        patience: Duration,
    ) -> Result<Vec<Answer>, (String, Vec<u8>)> {
        let mut bytes = Vec::new();
        // Writing to memory does not fail.
        let _ = batch.write(self.spelling, &mut bytes);
        self.send(bytes, piece, pause);
        self.replies.begin(patience);
        let what = match batch.read(self.spelling, &mut self.replies) {
            Ok(answers) => match self.replies.rest() {
                [] => return Ok(answers),
                rest => self.too_much(answers.len(), rest),
            },
            Err(Some(what)) => what,
            Err(None) if self.replies.is_late => {
                let came = match self.spelling {
                    Spelling::Lines => self.replies.log.iter().filter(|byte| **byte == b'\n').count(),
                    Spelling::Frames => 0,
                };
                self.late(&format!("{came} of {} answers came", batch.len()), patience)
            }
            Err(None) => self.and_its_end("it ended instead of answering".into()),
        };
        Err((what, self.replies.log.clone()))
    }

    /// What to say about bytes that follow the answers of a batch.
    pub(super) fn too_much(&self, answers: usize, rest: &[u8]) -> String {
        format!("after the {answers} answers it writes more than was asked for: {}", self.spelled(rest))
    }

    /// Writes these bytes.
    pub(super) fn send(&mut self, bytes: Vec<u8>, piece: usize, pause: Duration) {
        if let Some(requests) = &self.requests {
            // An adapter that has ended shows that when its answers are read.
            let _ = requests.send(Request { bytes, piece, pause });
        }
    }

    /// What it writes in this time, up to its end; and whether it has ended.
    pub(super) fn listen(&mut self, time: Duration, enough: impl Fn(&[u8]) -> bool) -> (Vec<u8>, bool) {
        self.replies.begin(time);
        let mut heard = Vec::new();
        while !enough(&heard) {
            match self.replies.fill_buf() {
                Ok([]) => return (heard, true),
                Err(_) => break,
                Ok(some) => {
                    let len = some.len();
                    heard.extend_from_slice(some);
                    self.replies.consume(len);
                }
            }
        }
        (heard, false)
    }

    /// Bytes of a reply as they are shown: lines as text, frames in hexadecimal.
    pub(super) fn spelled(&self, bytes: &[u8]) -> String {
        spelled(self.spelling, bytes)
    }

    /// Ends the adapter's input, and waits for its end.
    pub(super) fn close(&mut self, patience: Duration) -> End {
        self.requests = None;
        let start = Instant::now();
        let group = Pid::from_child(&self.child);
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => {
                    let took = start.elapsed();
                    // What it started may need a moment, too.
                    while test_kill_process_group(group).is_ok() {
                        if start.elapsed() > patience {
                            return End::Offspring;
                        }
                        thread::sleep(Duration::from_millis(2));
                    }
                    return End::Exited(status.code(), took);
                }
                Ok(None) if start.elapsed() < patience => thread::sleep(Duration::from_millis(2)),
                _ => return End::Running,
            }
        }
    }

    /// Whether the process has ended.
    pub(super) fn has_ended(&mut self) -> bool {
        ended(&mut self.child, Duration::from_millis(100)).is_some()
    }

    /// What went wrong, how the process ended, and what it printed.
    pub(super) fn and_its_end(&mut self, what: String) -> String {
        let end = ended(&mut self.child, Duration::from_millis(300));
        // The thread that reads standard error may be a little behind.
        thread::sleep(Duration::from_millis(20));
        let printed = self.printed.text();
        let end = end.map(|trouble| format!("; {}", trouble.what)).unwrap_or_default();
        match printed.trim_end() {
            "" => format!("{what}{end}"),
            printed => format!("{what}{end}; it printed: {}", printable_lines(printed)),
        }
    }

    fn late(&mut self, what: &str, patience: Duration) -> String {
        self.and_its_end(format!("{what}, and then nothing within {:.1} s", patience.as_secs_f64()))
    }
}

/// Bytes of a reply: lines as text, frames in hexadecimal; at most the first 64.
pub(super) fn spelled(spelling: Spelling, bytes: &[u8]) -> String {
    const MOST: usize = 64;
    let more = if bytes.len() > MOST { format!("… ({} bytes)", bytes.len()) } else { String::new() };
    match spelling {
        Spelling::Lines => quoted(&String::from_utf8_lossy(bytes), MOST),
        Spelling::Frames => format!("{}{more}", hex(&bytes[..bytes.len().min(MOST)])),
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = kill_process_group(Pid::from_child(&self.child), Signal::KILL);
        let _ = self.child.wait();
    }
}

fn spawn(run: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name("adapter proof".into()).spawn(run).map(drop)
}

fn write(mut to: ChildStdin, requests: &Receiver<Request>) {
    for Request { bytes, piece, pause } in requests {
        for piece in bytes.chunks(piece) {
            if to.write_all(piece).and_then(|()| to.flush()).is_err() {
                return;
            }
            if pause.is_zero() {
                continue;
            }
            // On a busy machine the adapter may not have read this piece yet, and would then read it with the next.
            let start = Instant::now();
            let is_unread = || rustix::io::ioctl_fionread(&to).is_ok_and(|unread| unread > 0);
            thread::sleep(pause);
            while is_unread() && start.elapsed() < Duration::from_secs(1) {
                thread::sleep(pause);
            }
        }
    }
}

fn read_chunks(mut from: ChildStdout, chunks: &Sender<Vec<u8>>) {
    let mut chunk = vec![0; 1 << 16];
    while let Ok(len @ 1..) = from.read(&mut chunk) {
        if chunks.send(chunk[..len].to_vec()).is_err() {
            return;
        }
    }
}

/// What the adapter writes, read until a deadline.
struct Replies {
    chunks: Receiver<Vec<u8>>,
    chunk: Vec<u8>,
    at: usize,
    deadline: Instant,
    is_late: bool,
    /// What came since the last request.
    log: Vec<u8>,
}

impl Replies {
    fn new(chunks: Receiver<Vec<u8>>) -> Self {
        Self { chunks, chunk: Vec::new(), at: 0, deadline: Instant::now(), is_late: false, log: Vec::new() }
    }

    fn begin(&mut self, patience: Duration) {
        self.deadline = Instant::now() + patience;
        self.is_late = false;
        self.log = self.rest().to_vec();
    }

    /// What has come and was not read.
    fn rest(&self) -> &[u8] {
        &self.chunk[self.at..]
    }
}

impl Read for Replies {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let mut some = self.fill_buf()?;
        let len = some.read(into)?;
        self.consume(len);
        Ok(len)
    }
}

impl BufRead for Replies {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.chunk.len() {
            let left = self.deadline.saturating_duration_since(Instant::now());
            self.at = 0;
            self.chunk = match self.chunks.recv_timeout(left) {
                Ok(chunk) => chunk,
                Err(RecvTimeoutError::Disconnected) => Vec::new(),
                Err(RecvTimeoutError::Timeout) => {
                    self.chunk.clear();
                    self.is_late = true;
                    return Err(io::ErrorKind::TimedOut.into());
                }
            };
            self.log.extend_from_slice(&self.chunk);
        }
        Ok(self.rest())
    }

    fn consume(&mut self, len: usize) {
        self.at += len;
    }
}

/// What is wrong with an adapter.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Fault {
    /// One sentence.
    pub what: String,
    /// What was asked: operations with bytes in hexadecimal.
    pub request: String,
    /// What came back: lines as text, frames in hexadecimal.
    pub answer: String,
    /// What to do about it.
    pub remedy: String,
}

impl Fault {
    pub(super) fn with_remedy(remedy: &str) -> Self {
        Self { remedy: remedy.to_owned(), ..Self::default() }
    }
}

/// The proof of one entry point.
pub(super) struct Proof<'p> {
    pub(super) program: &'p Program,
    pub(super) entry: &'p Entry,
    pub(super) wire: Wire,
    /// How long the program took to greet.
    start: Duration,
    /// How long an operation took, as the mean over the last batch.
    each: Duration,
    nonces: u64,
    /// Inputs with answers of all kinds, without those on which the process ends.
    pub(super) various: Vec<Vec<u8>>,
}

impl<'p> Proof<'p> {
    pub(super) fn start(program: &'p Program, entry: &'p Entry, start: Duration) -> Result<Self, Fault> {
        let started = Wire::start(program, Some(&entry.name), Duration::from_secs(60).max(program.timeout));
        let remedy = "started with the name of an entry point, greet with this one only, in the same words";
        let fault = |what, answer: &[u8]| Fault {
            what,
            request: format!("{} {}", program.command.join(" "), entry.name),
            answer: spelled(Spelling::Lines, answer),
            remedy: remedy.to_owned(),
        };
        let (wire, greeting) = started.map_err(|(what, answer)| fault(what, &answer))?;
        let wrong = match greeting.entries.as_slice() {
            [same] if format!("{same:?}") == format!("{entry:?}") => None,
            [other] if other.name == entry.name => {
                Some("it describes itself differently than when started without its name".into())
            }
            entries => {
                let names: Vec<&str> = entries.iter().map(|entry| &*entry.name).collect();
                Some(format!("it greets with {} instead of {} alone", names.join(" "), entry.name))
            }
        };
        match wrong {
            Some(what) => Err(fault(what, b"")),
            None => Ok(Self { program, entry, wire, start, each: Duration::ZERO, nonces: 0, various: Vec::new() }),
        }
    }

    /// Text that was not sent before, of letters only, which no context treats in a special way.
    pub(super) fn nonce(&mut self, len: usize) -> Vec<u8> {
        self.nonces += 1;
        let mut state = self.nonces.wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let letter = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            b'a' + ((state >> 33) % 26) as u8
        };
        std::iter::repeat_with(letter).take(len).collect()
    }

    pub(super) fn ask(&mut self, batch: &Batch) -> Result<Vec<Answer>, Fault> {
        let start = Instant::now();
        let answers = self.wire.ask(batch, self.program.timeout);
        self.each = start.elapsed() / batch.len().max(1) as u32;
        answers.map_err(|(what, answer)| self.broken(what, batch, &answer))
    }

    /// The fault of a reply that breaks the protocol.
    pub(super) fn broken(&self, what: String, batch: &Batch, answer: &[u8]) -> Fault {
        let remedy = match self.wire.spelling() {
            Spelling::Lines => {
                "read up to the empty line, write one line `VERDICT OFFSET LENGTH OUTPUT` for each line read, then flush; \
                 nothing else may be written to standard output"
            }
            Spelling::Frames => {
                "read all of the frame, however many reads that takes; write the size, then verdict, offset, length and \
                 output length with its bytes for each operation, then flush; nothing else may be written to standard \
                 output"
            }
        };
        let request = asked(batch, 0..batch.len().min(3));
        Fault { what, request, answer: self.wire.spelled(answer), remedy: remedy.into() }
    }

    /// The fault of one answer.
    pub(super) fn fault(
        &self,
        what: impl Into<String>,
        batch: &Batch,
        index: usize,
        answer: &Answer,
        remedy: &str,
    ) -> Fault {
        Fault {
            what: what.into(),
            request: asked(batch, index..index + 1),
            answer: in_words(answer),
            remedy: remedy.to_owned(),
        }
    }

    /// Asks about whole inputs. Returns whether each was answered; `false` for what the adapter says it cannot ask.
    pub(super) fn come_back(&mut self, inputs: &[Vec<u8>]) -> Result<Vec<bool>, Fault> {
        let batch = self.texts(inputs);
        let answers = self.ask(&batch)?;
        let mut answered = Vec::new();
        for (index, answer) in answers.iter().enumerate() {
            match self.is_sound(&inputs[index], answer) {
                Ok(is_answered) => answered.push(is_answered),
                Err((what, remedy)) => {
                    let (what, remedy) = self.of_another(inputs, index, answer).unwrap_or((what, remedy));
                    return Err(self.fault(what, &batch, index, answer, remedy));
                }
            }
        }
        Ok(answered)
    }

    /// Checks that nothing follows the answers about these inputs.
    pub(super) fn nothing_follows(&mut self, inputs: &[Vec<u8>]) -> Result<(), Fault> {
        let (more, ended) = self.wire.listen(Duration::from_millis(30), |heard| !heard.is_empty());
        let what = match (more.as_slice(), ended) {
            ([], false) => return Ok(()),
            ([], true) => self.wire.and_its_end("it ended after the answers".into()),
            (more, _) => self.wire.too_much(inputs.len(), more),
        };
        Err(self.broken(what, &self.texts(inputs), &more))
    }

    /// Whether an answer is about another operation of the batch.
    pub(super) fn of_another(
        &self,
        inputs: &[Vec<u8>],
        index: usize,
        answer: &Answer,
    ) -> Option<(String, &'static str)> {
        let output = self.translated(answer)?;
        let is_another = !output.is_empty() && output != inputs[index];
        let other = inputs.iter().position(|input| *input == output).filter(|_| is_another)?;
        let what = format!("the output of answer {} of {} is that of operation {}", index + 1, inputs.len(), other + 1);
        Some((what, "write the answers in the order of the operations, and keep no answer for later"))
    }

    /// Questions about whole texts, in the encoding of the decoder.
    pub(super) fn texts(&self, texts: &[Vec<u8>]) -> Batch {
        let encoded = |text: &Vec<u8>| match self.entry.encoding {
            Some(encoding) => convert(text, Encoding::Utf8, encoding, Options::STRICT).unwrap_or_default(),
            None => text.clone(),
        };
        decoding(&texts.iter().map(encoded).collect::<Vec<_>>())
    }

    pub(super) fn translated(&self, answer: &Answer) -> Option<Vec<u8>> {
        let mut translator = Translator::new(self.entry.output);
        let mut out = Vec::new();
        translator.push(answer.output.as_deref()?, &mut out);
        translator.finish(&mut out);
        Some(out)
    }

    /// Whether this is an answer to well-formed text; `false` if the text cannot be asked about.
    pub(super) fn is_sound(&self, bytes: &[u8], answer: &Answer) -> Result<bool, (String, &'static str)> {
        let claims = self.entry.answers;
        match answer.verdict {
            Verdict::CannotSay => return Ok(false),
            Verdict::Failed => {
                let what = format!("it fails on plain text: {}", answer.reason());
                return Err((what, "make sure that the decoder is called as its documentation says"));
            }
            Verdict::IllFormed => {
                let remedy = "check whether the decoder gets exactly these bytes, and whether 0 and 1 are swapped";
                return Err(("it rejects plain text".into(), remedy));
            }
            Verdict::NotStated if claims.verdict => {
                return Err(("it claims a verdict, and states none".into(), "state 0 or 1, or claim no verdict"));
            }
            _ => {}
        }
        if !claims.output {
            return Ok(true);
        }
        let Some(out) = self.translated(answer) else {
            let remedy = "state the output, `.` or the length 0 if it is empty, or claim no output";
            return Err(("it claims output, and states none".into(), remedy));
        };
        let size = answer.output.as_ref().map_or(0, Vec::len);
        let unit = match self.entry.output {
            OutputForm::Utf8 => 1,
            OutputForm::Utf16Le => 2,
            OutputForm::Utf32Le => 4,
        };
        if !size.is_multiple_of(unit) {
            let what = format!("the output has {size} bytes, which is not a whole number of units of {unit} bytes");
            return Err((what, "look at the key `output` of the greeting"));
        }
        match () {
            () if out == bytes => Ok(true),
            () if bytes.starts_with(&out) => {
                let what = format!("the output ends after {} of {} bytes", out.len(), bytes.len());
                Err((what, "look for a buffer that is too short, or for a length that is off by one"))
            }
            () if bytes.ends_with(&out) => {
                let what = format!("the output lacks the first {} of {} bytes", bytes.len() - out.len(), bytes.len());
                Err((what, "check where the input begins within what was read"))
            }
            () => {
                let remedy = "look for bytes that are taken for another encoding, on the way in or out";
                Err(("plain text comes back changed".into(), remedy))
            }
        }
    }

    /// How many operations take about two seconds: at least 16, and at most this many.
    pub(super) fn affordable(&self, most: usize) -> usize {
        let each = self.each.max(Duration::from_nanos(100));
        ((Duration::from_secs(2).as_nanos() / each.as_nanos()) as usize).clamp(16, most)
    }

    /// Compares answers with those that the same operations had before.
    pub(super) fn same(
        &self,
        batch: &Batch,
        answers: &[Answer],
        before: &[Answer],
        when: &str,
        remedy: &str,
    ) -> Result<(), Fault> {
        match (0..answers.len()).find(|&index| answers[index] != before[index]) {
            None => Ok(()),
            Some(index) => {
                let what =
                    format!("{when} the answer differs from the one before, which was {}", in_words(&before[index]));
                Err(self.fault(what, batch, index, &answers[index], remedy))
            }
        }
    }

    pub(super) fn restart(&mut self) -> Result<(), Fault> {
        self.wire = Self::start(self.program, self.entry, self.start)?.wire;
        Ok(())
    }

    pub(super) fn end(&mut self) -> Result<String, Fault> {
        // What starts slowly may take as long to end.
        let patience = Duration::from_secs(1).max(self.start);
        let fault = |what: String, remedy: &str| {
            Err(Fault { what, request: "the end of the input".into(), ..Fault::with_remedy(remedy) })
        };
        match self.wire.close(patience) {
            End::Exited(Some(0), took) => Ok(format!("after {:.2} s", took.as_secs_f64())),
            End::Exited(status, _) => {
                let status = status.map_or("by a signal".into(), |status| format!("with status {status}"));
                let what = self.wire.and_its_end(format!("at the end of its input it exits {status}, not 0"));
                fault(what, "treat the end of the input as the end of the work, not as an error")
            }
            End::Running => {
                let what = format!("{:.1} s after the end of its input it is still running", patience.as_secs_f64());
                fault(what, "leave the loop when nothing more can be read, and end threads and timers")
            }
            End::Offspring => fault(
                "it exits, and a process that it started goes on running".into(),
                "end the processes that the adapter starts before it exits",
            ),
        }
    }
}

pub(super) fn decoding(inputs: &[Vec<u8>]) -> Batch {
    let mut batch = Batch::default();
    inputs.iter().for_each(|input| batch.push(Operation::Decode, input));
    batch
}

/// Operations, as text: at most the first bytes of each.
pub(super) fn asked(batch: &Batch, range: Range<usize>) -> String {
    let rest = batch.len() - range.len();
    let one = |index| {
        let (operation, bytes) = batch.operation(index);
        match operation {
            Operation::Decode => format!("decode {}", shortened(bytes)),
            Operation::Push(stream) => format!("push to {stream} {}", shortened(bytes)),
            Operation::Finish(stream) => format!("finish {stream}"),
            Operation::Drop(stream) => format!("drop {stream}"),
        }
    };
    let text = range.map(one).collect::<Vec<_>>().join(", ");
    match rest {
        0 => text,
        _ => format!("{text} (one of {} operations)", batch.len()),
    }
}

/// An answer as the spelling of lines has it.
pub(super) fn in_words(answer: &Answer) -> String {
    let verdict = match answer.verdict {
        Verdict::IllFormed => 0,
        Verdict::WellFormed => 1,
        Verdict::NotStated => 2,
        Verdict::CannotSay => 3,
        Verdict::Failed => 4,
    };
    let stated = |number: Option<usize>| number.map_or("-1".into(), |number| number.to_string());
    let length = answer.length.map(bytes_of);
    let output = answer.output.as_deref().map_or("-".into(), shortened);
    format!("{verdict} {} {} {output}", stated(answer.offset), stated(length))
}

pub(super) fn bytes_of(length: ErrorLen) -> usize {
    match length {
        ErrorLen::Bytes(len) => len,
        ErrorLen::Incomplete => 0,
    }
}

/// Bytes in hexadecimal, at most the first 40; `.` stands for none.
pub(super) fn shortened(bytes: &[u8]) -> String {
    const MOST: usize = 40;
    match bytes.len() {
        0 => ".".into(),
        1..=MOST => hex(bytes),
        len => format!("{}… ({len} bytes)", hex(&bytes[..MOST])),
    }
}
