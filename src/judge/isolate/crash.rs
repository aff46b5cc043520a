//! Names the decoder that ends the process: in a message on standard error, and in a file that outlives the process.
//!
//! A decoder that aborts, overflows its stack or accesses memory that it does not have raises a signal on the thread
//! that asked it. One that calls `exit` runs the functions registered for the exit. Both read what the thread is asking
//! (`asked.rs`), and write a line. A process that is killed runs nothing more; therefore a supervised process (`child.rs`)
//! keeps each question in memory that it shares with a file.
#![allow(unsafe_code, reason = "signals are handled and memory is mapped by the operating system")]

use crate::judge::isolate::watchdog::{Asked, current};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;
use std::sync::{Mutex, MutexGuard, Once};

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
    write(b"; see `check --isolate`, or leave it out with --decoders=-");
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
    const BYTES: usize = 1 << 20;
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
