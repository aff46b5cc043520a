//! The proof of one entry point of an adapter: what its steps share.

use crate::codec::convert::{Encoding, Options, convert};
use crate::peers::foreign::process::Program;
use crate::peers::foreign::protocol::{Answer, Batch, Entry, Operation, OutputForm, Spelling, Translator, Verdict};
use crate::peers::foreign::wire::{End, Wire, spelled};
use crate::text::hex;
use crate::utf8::ErrorLen;
use serde::Serialize;
use std::ops::Range;
use std::time::{Duration, Instant};

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
    /// How long an operation took so far, as the mean over a step.
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

    /// Asks about whole inputs, and whether each comes back; `false` for what the adapter says it cannot ask.
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

    /// That nothing follows the answers about these inputs.
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

    /// How many operations take about two seconds, at most this many.
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
                    format!("{when} the answer is another one than before, which was {}", in_words(&before[index]));
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
