//! A conversation with an adapter byte by byte, for its proof: requests are written in pieces, answers are recorded as
//! they came, and every wait has an end.

use crate::peers::foreign::process::{Printed, Program, command, ended};
use crate::peers::foreign::protocol::{Answer, Batch, Greeting, Spelling};
use crate::text::{hex, printable_lines, quoted};
use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};
use std::io::{self, BufRead, Read, Write};
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

/// Bytes to write, in pieces of some bytes with a pause after each, until it has been read.
struct Request {
    bytes: Vec<u8>,
    piece: usize,
    pause: Duration,
}

/// How the input of an adapter was ended, and what it did then.
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

    /// The same in pieces of some bytes, with a pause after each.
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
