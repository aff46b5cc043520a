//! A decoder in a process of its own, which may end in any way, and the name of the decoder that ends it.
//!
//! A decoder that aborts, overflows its stack or accesses memory that it does not have raises a signal on the thread
//! that asked it. One that calls `exit` runs the functions registered for the exit. The signal's handler and one such
//! function read what the thread is asking (`watchdog.rs`), and write a line to standard error. A process that is
//! killed runs nothing more; therefore a supervised process keeps each question, before it asks it, in memory that it
//! shares with a file. If it ends in the middle of a question, the file says which decoder was asked, and about which
//! input.
#![allow(unsafe_code, reason = "signals are handled and memory is mapped by the operating system")]

use crate::decoder::Ending;
use crate::judge::isolate::watchdog::{Asked, current};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Mutex, MutexGuard, Once, OnceLock};
use std::thread;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Signals that a fault raises on the thread that it occurs on, and their names.
pub(super) const FAULTS: [(libc::c_int, &str); 7] = [
    (libc::SIGABRT, "SIGABRT"),
    (libc::SIGSEGV, "SIGSEGV"),
    (libc::SIGBUS, "SIGBUS"),
    (libc::SIGILL, "SIGILL"),
    (libc::SIGFPE, "SIGFPE"),
    (libc::SIGTRAP, "SIGTRAP"),
    (libc::SIGSYS, "SIGSYS"),
];

/// The previous handlers of the [`FAULTS`].
static BEFORE: [AtomicPtr<libc::sigaction>; FAULTS.len()] =
    [const { AtomicPtr::new(core::ptr::null_mut()) }; FAULTS.len()];

/// Whether an exit of the process is unexpected.
static IS_UNEXPECTED: AtomicBool = AtomicBool::new(false);

/// The exit status instead of the one that the decoder chose.
static STATUS: AtomicU8 = AtomicU8::new(0);

/// While it exists, an exit of the process is unexpected.
#[derive(Debug)]
pub struct ExitGuard(());

impl Drop for ExitGuard {
    fn drop(&mut self) {
        IS_UNEXPECTED.store(false, Ordering::SeqCst);
    }
}

/// Installs handlers, once for the whole process, that write one line to standard error when a decoder ends the process
/// by a fault or, while the result exists, by `exit`: which decoder, how, and on which input. A process that `exit` ends
/// has this status instead. For programs, not libraries.
pub fn name_crashes(status: u8) -> ExitGuard {
    static ONCE: Once = Once::new();
    install();
    ONCE.call_once(|| {
        // SAFETY: the function is async-signal-safe and stays loaded.
        unsafe { libc::atexit(on_exit) };
    });
    STATUS.store(status, Ordering::SeqCst);
    IS_UNEXPECTED.store(true, Ordering::SeqCst);
    ExitGuard(())
}

/// Ends the process by an exit that is not taken for one of a decoder.
pub fn exit(status: u8) -> ! {
    IS_UNEXPECTED.store(false, Ordering::SeqCst);
    std::process::exit(status.into())
}

/// Installs the handler of the [`FAULTS`], once.
fn install() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| FAULTS.iter().zip(&BEFORE).for_each(|((signal, _), before)| handle(*signal, before)));
}

fn handle(signal: libc::c_int, before: &AtomicPtr<libc::sigaction>) {
    // SAFETY: both structures are plain data for which zero is a value; the handler is async-signal-safe.
    unsafe {
        let mut old: libc::sigaction = core::mem::zeroed();
        let mut ours: libc::sigaction = core::mem::zeroed();
        ours.sa_sigaction = on_fault as *const () as usize;
        // The handler has a stack of its own, since the thread's may be exhausted.
        ours.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        if libc::sigaction(signal, &ours, &mut old) == 0 {
            before.store(Box::into_raw(Box::new(old)), Ordering::SeqCst);
        }
    }
}

/// Writes what is being asked, and restores the previous handler, under which the faulting instruction runs again.
extern "C" fn on_fault(signal: libc::c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let Some(index) = FAULTS.iter().position(|(known, _)| *known == signal) else { return };
    if let Some(page) = page() {
        let _ = page.signal.compare_exchange(0, signal as u32, Ordering::SeqCst, Ordering::SeqCst);
    } else if let Some(asked) = current() {
        report(&asked, FAULTS[index].1);
    }
    // SAFETY: `BEFORE` holds null or a structure that is never freed; the system passes a valid `info`. Nothing here
    // allocates or locks.
    unsafe {
        let before = BEFORE[index].load(Ordering::SeqCst);
        let default: libc::sigaction = core::mem::zeroed();
        libc::sigaction(signal, if before.is_null() { &default } else { before }, core::ptr::null_mut());
        // The signal was sent by a process, so no instruction raises it again.
        if (*info).si_code <= 0 {
            libc::raise(signal);
        }
    }
}

extern "C" fn on_exit() {
    if !IS_UNEXPECTED.load(Ordering::SeqCst) || page().is_some() {
        return;
    }
    match current() {
        Some(asked) => report(&asked, "exit"),
        None => write(b"utfuzz: a decoder ended the process\n"),
    }
    // SAFETY: it ends the process, whose output has been written or is lost.
    unsafe { libc::_exit(STATUS.load(Ordering::SeqCst).into()) };
}

/// Writes one line. It allocates nothing and locks nothing.
fn report(asked: &Asked, how: &str) {
    static REPORTED: AtomicBool = AtomicBool::new(false);
    if REPORTED.swap(true, Ordering::SeqCst) {
        return;
    }
    /// The most bytes of an input that are shown.
    const SHOWN: usize = 4096;
    // SAFETY: name and input exist while the question is asked, and this thread is asking it.
    let (decoder, bytes) = unsafe { (&*asked.decoder, &*asked.bytes) };
    write(b"utfuzz: panic/");
    write(decoder.as_bytes());
    write(b": ended the process by ");
    write(how.as_bytes());
    write(b" on ");
    let (mut digits, mut start, mut number) = ([0; 20], 20, bytes.len());
    while start == 20 || number > 0 {
        start -= 1;
        digits[start] = b'0' + (number % 10) as u8;
        number /= 10;
    }
    write(&digits[start..]);
    write(b" bytes: ");
    for chunk in bytes[..bytes.len().min(SHOWN)].chunks(32) {
        let mut hex = [0; 64];
        for (pair, byte) in hex.chunks_mut(2).zip(chunk) {
            let digit = |value: u8| b"0123456789ABCDEF"[usize::from(value)];
            pair.copy_from_slice(&[digit(byte >> 4), digit(byte & 15)]);
        }
        write(&hex[..2 * chunk.len()]);
    }
    write(if bytes.len() > SHOWN { b"..." } else { b"" });
    write(b"; see `utfuzz check --isolate`, or leave it out with --decoders=-");
    write(decoder.as_bytes());
    write(b"\n");
}

/// Writes to standard error; a failure is ignored.
fn write(bytes: &[u8]) {
    // SAFETY: the slice can be read.
    unsafe { libc::write(libc::STDERR_FILENO, bytes.as_ptr().cast(), bytes.len()) };
}

/// The last question of a process, in memory that is shared with a file.
#[repr(C)]
pub(super) struct Page {
    /// Incremented when a decoder is asked and again when it has answered, so it is odd in between.
    epoch: AtomicU64,
    /// The number of bytes of the input.
    len: AtomicU64,
    /// The first of the [`FAULTS`] that occurred; 0 if none has.
    signal: AtomicU32,
    name_len: AtomicU32,
    name: [AtomicU8; Page::NAME],
    bytes: [AtomicU8; Page::BYTES],
}

/// What a [`Page`] holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Noted {
    pub(super) epoch: u64,
    pub(super) signal: u32,
    pub(super) decoder: String,
    /// The number of bytes of the input.
    pub(super) len: u64,
    /// The input; only the start of a very long one.
    pub(super) bytes: Vec<u8>,
}

impl Page {
    /// The longest name that is kept, in bytes.
    const NAME: usize = 256;
    /// The longest input that is kept, in bytes.
    const BYTES: usize = 1_048_576;
    pub(super) const SIZE: usize = size_of::<Self>();

    /// Reads the content of the file.
    pub(super) fn read(file: &[u8]) -> Noted {
        let field = |at: usize, len: usize| file.get(at..at + len).unwrap_or_default();
        let number = |bytes: &[u8]| bytes.iter().rev().fold(0u64, |number, &byte| number << 8 | u64::from(byte));
        const NAME: usize = core::mem::offset_of!(Page, name);
        let name_len = number(field(core::mem::offset_of!(Self, name_len), 4)).min(Self::NAME as u64) as usize;
        let len = number(field(core::mem::offset_of!(Self, len), 8));
        let kept = len.min(Self::BYTES as u64) as usize;
        Noted {
            epoch: number(field(core::mem::offset_of!(Self, epoch), 8)),
            signal: number(field(core::mem::offset_of!(Self, signal), 4)) as u32,
            decoder: String::from_utf8_lossy(field(NAME, name_len)).into_owned(),
            len,
            bytes: field(core::mem::offset_of!(Self, bytes), kept).to_vec(),
        }
    }
}

static PAGE: AtomicPtr<Page> = AtomicPtr::new(core::ptr::null_mut());

fn page() -> Option<&'static Page> {
    // SAFETY: it is null, or a mapping of this type that is never removed.
    unsafe { PAGE.load(Ordering::Acquire).as_ref() }
}

/// From now on, keeps each question in this file, whose length becomes [`Page::SIZE`].
pub(super) fn keep_questions_in(file: &File) -> io::Result<()> {
    file.set_len(Page::SIZE as u64)?;
    // SAFETY: a new mapping of the whole file, at an address of the system's choice; every content is a valid `Page`.
    let mapped = unsafe {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        libc::mmap(core::ptr::null_mut(), Page::SIZE, access, libc::MAP_SHARED, file.as_raw_fd(), 0)
    };
    if mapped == libc::MAP_FAILED {
        return Err(io::Error::last_os_error());
    }
    PAGE.store(mapped.cast(), Ordering::Release);
    install();
    Ok(())
}

/// Limits the memory of this process to this many bytes, so that a decoder that asks for ever more gets an error from
/// the allocator before the machine has none left; and keeps a crash from writing a core file.
pub(super) fn limit_memory(bytes: u64) {
    for (resource, limit) in [(libc::RLIMIT_DATA, bytes), (libc::RLIMIT_CORE, 0)] {
        // SAFETY: the structure is plain data, and outlives the calls.
        unsafe {
            let mut limits: libc::rlimit = core::mem::zeroed();
            if libc::getrlimit(resource, &mut limits) == 0 {
                limits.rlim_cur = limits.rlim_max.min(limit as libc::rlim_t);
                libc::setrlimit(resource, &limits);
            }
        }
    }
}

/// A question in the [`Page`], until it is dropped.
pub(super) struct Note(&'static Page, #[allow(dead_code, reason = "held")] MutexGuard<'static, ()>);

impl Drop for Note {
    fn drop(&mut self) {
        self.0.epoch.fetch_add(1, Ordering::SeqCst);
    }
}

/// Keeps a question in the file, if there is one. Of questions asked at the same time, one is kept.
pub(super) fn note(decoder: &str, bytes: &[u8]) -> Option<Note> {
    static ONE: Mutex<()> = Mutex::new(());
    let page = page()?;
    let one = ONE.try_lock().ok()?;
    let store = |to: &[AtomicU8], from: &[u8]| {
        to.iter().zip(from).for_each(|(to, &from)| to.store(from, Ordering::Relaxed));
    };
    store(&page.name, decoder.as_bytes());
    store(&page.bytes, bytes);
    page.name_len.store(decoder.len().min(Page::NAME) as u32, Ordering::Relaxed);
    page.len.store(bytes.len() as u64, Ordering::Relaxed);
    page.epoch.fetch_add(1, Ordering::SeqCst);
    Some(Note(page, one))
}

/// The environment variable that contains the directory of a supervised process.
const DIRECTORY: &str = "UTFUZZ_SUPERVISED";

/// The most memory that a supervised process may have: 4 GiB.
const MEMORY: u64 = 4_294_967_296;

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
    /// What a decoder did to end it; `None` if no decoder is taken to have ended it.
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
    /// The same in words: the name of a signal, or an exit status.
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
/// The files in the directory cannot be created or mapped.
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
    pub fn findings(&self) -> Vec<String> {
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

/// The end of a file as text, trimmed.
fn end_of(path: &Path) -> String {
    const BYTES: usize = 2000;
    let text = fs::read(path).unwrap_or_default();
    String::from_utf8_lossy(&text[text.len().saturating_sub(BYTES)..]).trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ended_a_process_is_named() {
        let exited = |code: i32| ExitStatus::from_raw(code << 8);
        let killed = ExitStatus::from_raw;
        let rows = [
            (killed(libc::SIGSEGV), false, 0, 0, None),
            (killed(libc::SIGKILL), true, 3, 0, Some((Ending::Hang, "no answer"))),
            (killed(libc::SIGKILL), false, 3, 0, Some((Ending::Kill, "SIGKILL"))),
            (killed(libc::SIGABRT), false, 3, 0, Some((Ending::Abort, "SIGABRT"))),
            (killed(libc::SIGABRT), false, 3, libc::SIGSEGV, Some((Ending::StackOverflow, "stack overflow"))),
            (killed(libc::SIGABRT), false, 4, libc::SIGBUS, Some((Ending::StackOverflow, "stack overflow"))),
            (killed(libc::SIGSEGV), false, 4, libc::SIGSEGV, Some((Ending::Fault, "SIGSEGV"))),
            (killed(libc::SIGINT), false, 3, 0, None),
            (exited(7), false, 3, 0, Some((Ending::Exit, "exit with status 7"))),
            (exited(7), false, 4, 0, None),
            (exited(0), false, 4, 0, None),
        ];
        for (status, is_stuck, epoch, signal, expected) in rows {
            let noted = Noted { epoch, signal: signal as u32, decoder: String::new(), len: 0, bytes: Vec::new() };
            let found = ending(status, is_stuck, &noted);
            let is_expected = match (&found, expected) {
                (Some((ending, detail)), Some((named, begin))) => *ending == named && detail.starts_with(begin),
                (found, expected) => found.is_none() && expected.is_none(),
            };
            assert!(is_expected, "{status:?} {epoch} {signal}: {found:?}");
        }
    }

    #[test]
    fn a_page_is_read_as_it_was_written() {
        let mut file = vec![0; Page::SIZE];
        let mut put = |at: usize, bytes: &[u8]| file[at..at + bytes.len()].copy_from_slice(bytes);
        put(core::mem::offset_of!(Page, epoch), &0x0102_0304_0506_0708u64.to_le_bytes());
        put(core::mem::offset_of!(Page, signal), &11u32.to_le_bytes());
        put(core::mem::offset_of!(Page, name_len), &4u32.to_le_bytes());
        put(core::mem::offset_of!(Page, name), b"name and more");
        put(core::mem::offset_of!(Page, len), &300u64.to_le_bytes());
        put(core::mem::offset_of!(Page, bytes), &[0xC3; 400]);
        let noted = Page::read(&file);
        assert_eq!((noted.epoch, noted.signal, &*noted.decoder), (0x0102_0304_0506_0708, 11, "name"));
        assert_eq!((noted.len, &noted.bytes[..]), (300, &[0xC3; 300][..]));
        assert_eq!(Page::read(b"").epoch, 0);
    }

    #[test]
    fn the_end_of_a_file_is_shown() {
        let scratch = tempfile::tempdir().unwrap();
        let path = scratch.path().join("printed");
        fs::write(&path, [&[b'a'; 3000][..], b"last\n"].concat()).unwrap();
        assert_eq!(end_of(&path), "a".repeat(1995) + "last");
        assert_eq!(end_of(&scratch.path().join("none")), "");
    }
}
