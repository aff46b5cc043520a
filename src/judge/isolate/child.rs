//! A decoder in a process of its own, which may end in any way.
//!
//! The supervised process keeps each question in a file before it asks it. If it ends in the middle of a question, the
//! file says which decoder was asked, and about which input.

use crate::decoder::Ending;
use crate::judge::isolate::crash::{FAULTS, Noted, Page, keep_questions_in, limit_memory};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// The environment variable that contains the directory of a supervised process.
const DIRECTORY: &str = "UTFUZZ_SUPERVISED";

/// The most memory that a supervised process may have, in bytes.
const MEMORY: u64 = 4 << 30;

/// A command that will run under supervision, and a directory for files that it exchanges with its parent.
#[derive(Debug)]
pub struct Child {
    command: Command,
    directory: TempDir,
}

/// How a supervised process ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Its status.
    pub status: ExitStatus,
    /// What a decoder did to end it; `None` if it ended while none was being asked.
    pub crash: Option<Crash>,
    /// The end of what it printed to standard error.
    pub printed: String,
}

/// A question that ended a process, or that was not answered in time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Crash {
    /// The name of the decoder.
    pub decoder: String,
    /// The input; only its start if it is longer than 1 MiB.
    pub bytes: Vec<u8>,
    /// What happened.
    pub ending: Ending,
    /// The same with its number: a signal, or an exit status.
    pub detail: String,
}

/// Whether this process was started by [`Child::run`]: the directory that it shares with its parent.
pub fn is_child() -> Option<PathBuf> {
    std::env::var_os(DIRECTORY).map(PathBuf::from)
}

/// To be called by a supervised process before it asks a decoder: keeps each question where the parent finds it, and
/// limits the memory of the process to 4 GiB. Only one question at a time is kept, so decoders should be asked by one
/// thread only.
///
/// # Errors
/// The file in the directory cannot be created.
pub fn note_questions(directory: &Path) -> io::Result<()> {
    let file = File::options().read(true).write(true).create(true).truncate(false).open(question_file(directory))?;
    keep_questions_in(&file)?;
    let found = File::options().append(true).create(true).open(directory.join(FOUND))?;
    // Only the first call has an effect.
    let _ = KEPT.set(found);
    limit_memory(MEMORY);
    Ok(())
}

/// What a supervised process has found, in case it cannot hand over its result: a line for each finding.
static KEPT: OnceLock<File> = OnceLock::new();
const FOUND: &str = "found";

/// Keeps a line where the parent finds it, if this process is supervised.
pub(crate) fn keep_finding(line: impl FnOnce() -> String) {
    if let Some(mut file) = KEPT.get() {
        // If it cannot be kept, it is still part of the result.
        let _ = file.write_all((line() + "\n").as_bytes());
    }
}

fn question_file(directory: &Path) -> PathBuf {
    directory.join("question")
}

impl Child {
    /// A child that will run this command. Its standard input is empty, and what it prints to standard output is
    /// discarded.
    ///
    /// # Errors
    /// No temporary directory can be created.
    pub fn new(mut command: Command) -> io::Result<Self> {
        let directory = tempfile::Builder::new().prefix("utfuzz-").tempdir()?;
        command.env(DIRECTORY, directory.path()).stdin(Stdio::null()).stdout(Stdio::null());
        Ok(Self { command, directory })
    }

    /// The directory that the process finds by [`is_child`]. It is removed with this value.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The findings that the process has kept, a line for each.
    pub(crate) fn findings(&self) -> Vec<String> {
        let text = fs::read(self.directory.path().join(FOUND)).unwrap_or_default();
        String::from_utf8_lossy(&text).lines().map(str::to_owned).collect()
    }

    /// Runs the command to its end. It is killed if a decoder does not answer within `timeout`.
    ///
    /// # Errors
    /// It cannot be started or waited for.
    pub fn run(&mut self, timeout: Duration) -> io::Result<Ended> {
        let printed = self.directory.path().join("printed");
        self.command.stderr(File::create(&printed)?);
        let mut process = self.command.spawn()?;
        let mut seen = (self.noted_epoch(), Instant::now());
        let mut pause = Duration::from_millis(2);
        let (status, is_stuck) = loop {
            if let Some(status) = process.try_wait()? {
                break (status, false);
            }
            let epoch = self.noted_epoch();
            if epoch != seen.0 {
                seen = (epoch, Instant::now());
            } else if epoch % 2 == 1 && seen.1.elapsed() >= timeout {
                process.kill()?;
                break (process.wait()?, true);
            }
            thread::sleep(pause);
            pause = (2 * pause).min(Duration::from_millis(50));
        };
        let noted = Page::read(&fs::read(question_file(self.directory.path())).unwrap_or_default());
        let crash = ending(status, is_stuck, &noted).map(|(ending, detail)| Crash {
            decoder: noted.decoder,
            bytes: noted.bytes,
            ending,
            detail,
        });
        Ok(Ended { status, crash, printed: end_of(&printed) })
    }

    fn noted_epoch(&self) -> u64 {
        use std::io::Read;
        let mut start = Vec::new();
        let file = File::open(question_file(self.directory.path()));
        let _ = file.and_then(|file| file.take(8).read_to_end(&mut start));
        Page::read(&start).epoch
    }
}

/// What ended the process, if a decoder did. A signal is attributed to the last question even if it has been answered,
/// since a decoder may have damaged memory.
fn ending(status: ExitStatus, is_stuck: bool, noted: &Noted) -> Option<(Ending, String)> {
    let is_asking = noted.epoch % 2 == 1;
    // Other signals come from outside, such as that of ^C.
    let name = |signal| FAULTS.iter().find(|(known, _)| *known == signal).map(|(_, name)| *name);
    match (status.signal(), status.code()) {
        _ if noted.epoch == 0 => None,
        _ if is_stuck => Some((Ending::Hang, "no answer".to_owned())),
        (Some(libc::SIGKILL), _) => Some((Ending::Kill, "SIGKILL; perhaps the system was out of memory".to_owned())),
        // The runtime of Rust recognises an overflow in its handler of SIGSEGV, and aborts.
        (Some(libc::SIGABRT), _) if [libc::SIGSEGV, libc::SIGBUS].contains(&(noted.signal as i32)) => {
            Some((Ending::StackOverflow, "stack overflow".to_owned()))
        }
        (Some(libc::SIGABRT), _) => Some((Ending::Abort, "SIGABRT".to_owned())),
        (Some(signal), _) => Some((Ending::Fault, name(signal)?.to_owned())),
        (None, Some(code)) if is_asking => Some((Ending::Exit, format!("exit with status {code}"))),
        _ => None,
    }
}

/// The last lines of a file.
fn end_of(path: &Path) -> String {
    const BYTES: usize = 2000;
    let text = fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&text[text.len().saturating_sub(BYTES)..]).trim().to_owned()
}
