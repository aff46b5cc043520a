//! What a subcommand shows, and where: its result on standard output, and notes and progress on standard error; files
//! are written completely or not at all. Also how much of it the user wants to see, in which colours, and how wide the
//! terminal is. A write to standard output never fails, so a closed pipe does not change a verdict; `mod.rs` makes the exit
//! status.
//!
//! Progress is a bar on a terminal, otherwise a line every ten seconds.

use crate::error::Error;
use crate::io::temporary_beside;
use crate::judge::isolate::is_child;
use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Effects, Style};
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use std::borrow::Cow;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufWriter, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};
use tempfile::NamedTempFile;

/// Options that every command has.
#[derive(Clone, Copy, Debug, Default, Args)]
pub(super) struct Display {
    /// When to use colours; auto: on a terminal, unless the environment variable NO_COLOR is set
    #[arg(
        long,
        global = true,
        display_order = 900,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true
    )]
    color: Color,
    /// Print no notes and no progress
    #[arg(short, long, global = true, display_order = 901)]
    quiet: bool,
    /// Print more: explain shows the bits of each byte and every decoder's answers
    #[arg(short, long, global = true, display_order = 902, conflicts_with = "quiet")]
    verbose: bool,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum Color {
    #[default]
    Auto,
    Always,
    Never,
}

static DISPLAY: OnceLock<Display> = OnceLock::new();

impl Display {
    /// Applies the options to the process.
    pub(super) fn apply(self) {
        self.color.apply();
        // A process runs one command.
        let _ = DISPLAY.set(self);
    }
}

impl Color {
    fn apply(self) {
        match self {
            Self::Auto => ColorChoice::Auto,
            Self::Always => ColorChoice::Always,
            Self::Never => ColorChoice::Never,
        }
        .write_global();
    }
}

/// Applies `--color` before the arguments are parsed, since help is printed while they are.
pub(super) fn apply_color(arguments: impl Iterator<Item = OsString>) {
    let arguments: Vec<String> = arguments.map(|word| word.to_string_lossy().into_owned()).collect();
    let joined = arguments.iter().find_map(|word| word.strip_prefix("--color="));
    let apart = arguments.windows(2).find(|pair| pair[0] == "--color").map(|pair| &*pair[1]);
    if let Some(Ok(color)) = joined.or(apart).map(|word| Color::from_str(word, false)) {
        color.apply();
    }
}

pub(super) fn is_quiet() -> bool {
    DISPLAY.get().is_some_and(|display| display.quiet)
}

pub(super) fn is_verbose() -> bool {
    DISPLAY.get().is_some_and(|display| display.verbose)
}

/// Whether standard output is shown in colours.
pub(super) fn has_colours() -> bool {
    !matches!(AutoStream::choice(&io::stdout()), ColorChoice::Never)
}

/// The columns of the terminal on standard output, or else those in the environment variable COLUMNS, if it is set.
pub(super) fn width() -> Option<u16> {
    let terminal = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0);
    terminal.or_else(|| std::env::var("COLUMNS").ok()?.parse().ok())
}

const BAD: Style = AnsiColor::Red.on_default();
const NEW: Style = AnsiColor::Red.on_default().effects(Effects::BOLD);
const BACK: Style = AnsiColor::Magenta.on_default().effects(Effects::BOLD);
const KNOWN: Style = AnsiColor::Yellow.on_default();
const GOOD: Style = AnsiColor::Green.on_default();
const CLEAN: Style = AnsiColor::Green.on_default().effects(Effects::BOLD);

/// The style of a line, by how it begins.
const STYLES: [(&str, Style); 14] = [
    ("! ", BAD),
    ("* ", GOOD),
    ("clean", CLEAN),
    ("not clean", NEW),
    ("new: ", NEW),
    ("divergence: ", NEW),
    ("regression: ", BACK),
    ("known: ", KNOWN),
    ("STALE: ", NEW),
    ("SILENT: ", NEW),
    ("SET ASIDE: ", NEW),
    ("CONTRADICTED ", NEW),
    ("unread: ", BAD),
    ("fault: ", BAD),
];

/// A text report for standard output, in colours if these are on: each line in the style of its mark.
pub(super) fn painted(text: &str) -> Cow<'_, str> {
    if has_colours() { painted_lines(text).into() } else { text.into() }
}

fn painted_lines(text: &str) -> String {
    let style = |line: &str| match STYLES.iter().find(|(start, _)| line.starts_with(start)) {
        // A number comes first.
        None if line.contains(" new signature") => Some(NEW),
        found => found.map(|(_, style)| *style),
    };
    let line = |line: &str| match style(line) {
        Some(style) => {
            let end = line.trim_end_matches('\n');
            format!("{style}{end}{style:#}{}", &line[end.len()..])
        }
        None => line.to_owned(),
    };
    text.split_inclusive('\n').map(line).collect()
}

/// The verdict of a subcommand that did not fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    Clean,
    Diverged,
    /// Input is ill-formed.
    IllFormed,
    /// The user interrupted it before it found anything new.
    Interrupted,
}

/// The usage or environment error that leaves a subcommand without a verdict.
pub(super) struct Failure(pub(super) Error);

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(error)
    }
}

/// Writing to [`StandardOutput`] never fails while a subcommand runs, so this error comes from serialising a report, or
/// from `serve-plugin`, which writes elsewhere.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self(Error::io(Path::new("standard output"), &error))
    }
}

/// The exit status of a new divergence and of ill-formed input.
pub(super) const DIVERGED: u8 = 1;
/// The exit status of an interrupted command, as shells have it: 128 plus the number of the signal.
pub(super) const INTERRUPTED: u8 = 130;

pub(super) fn fail(message: impl std::fmt::Display) -> ExitCode {
    // The exit status does not change if standard error is closed.
    let _ = writeln!(io::stderr(), "utfuzz: {message}");
    ExitCode::from(2)
}

pub(super) fn note(message: &str) {
    if !is_quiet() {
        let _ = writeln!(io::stderr(), "note: {message}");
    }
}

/// Sets `stop` at the first ^C or SIGTERM; the second ends the process.
pub(super) fn stop_when_interrupted(stop: &Arc<AtomicBool>) {
    #[cfg(unix)]
    {
        use signal_hook::consts::{SIGINT, SIGTERM};
        use signal_hook::flag;
        for (signal, status) in [(SIGINT, INTERRUPTED), (SIGTERM, INTERRUPTED - 2 + 15)] {
            // If a handler cannot be installed, the signal ends the process as usual.
            let _ = flag::register_conditional_shutdown(signal, status.into(), Arc::clone(stop))
                .and_then(|_| flag::register(signal, Arc::clone(stop)));
        }
    }
    #[cfg(not(unix))]
    let _ = stop;
}

/// Standard output. Writing to it never fails: after the first error nothing more is written, and the subcommand
/// continues to its verdict.
pub(super) struct StandardOutput {
    out: BufWriter<Box<dyn Write>>,
    error: Option<io::Error>,
}

impl StandardOutput {
    pub(super) fn open() -> Self {
        Self { out: BufWriter::new(standard_output()), error: None }
    }

    /// Whether nothing more can be written.
    pub(super) fn is_closed(&self) -> bool {
        self.error.is_some()
    }

    /// Writes what is buffered. Returns why not all of the output was written, unless its reader closed it.
    pub(super) fn finish(mut self) -> Option<io::Error> {
        let _ = self.flush();
        self.error.filter(|error| error.kind() != io::ErrorKind::BrokenPipe)
    }
}

impl Write for StandardOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.error.is_none() {
            self.error = self.out.write_all(bytes).err();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.error.is_none() {
            self.error = self.out.flush().err();
        }
        Ok(())
    }
}

/// Standard output as a file, since `std::io::Stdout` searches everything for its last line feed.
fn standard_output() -> Box<dyn Write> {
    #[cfg(unix)]
    if let Ok(descriptor) = std::os::fd::AsFd::as_fd(&io::stdout()).try_clone_to_owned() {
        return Box::new(File::from(descriptor));
    }
    Box::new(io::stdout().lock())
}

/// A file that appears at its path only when it is complete.
pub(super) struct OutputFile {
    path: PathBuf,
    sink: Sink,
}

enum Sink {
    TempFile(NamedTempFile),
    /// A pipe, a device or an open descriptor is written to directly.
    Direct(File),
}

impl OutputFile {
    /// Starts writing the file at `path`.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn create(path: &Path) -> Result<Self, Error> {
        let wrong = |error: io::Error| Error::io(path, &error);
        #[cfg(unix)]
        if let Some(open) = open_descriptor(path) {
            return Ok(Self { path: path.to_owned(), sink: Sink::Direct(open) });
        }
        let place = fs::canonicalize(path).unwrap_or_else(|_| behind_dangling_links(path));
        let before = match fs::metadata(&place) {
            Ok(before) => Some(before),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(wrong(error)),
        };
        if before.is_some() {
            let opened = File::options().write(true).open(&place).map_err(wrong)?;
            if before.as_ref().is_some_and(|before| !before.is_file()) {
                return Ok(Self { path: path.to_owned(), sink: Sink::Direct(opened) });
            }
        }
        // The lock is held until the name is stored, so that a signal handler finds and removes the file.
        let mut unfinished = unfinished();
        let file = temporary_beside(&place)?;
        *unfinished = Some(file.path().to_owned());
        drop(unfinished);
        if let Some(before) = before {
            set_owner_and_permissions(file.as_file(), &before).map_err(wrong)?;
        }
        #[cfg(unix)]
        clean_up_on_signals().map_err(wrong)?;
        Ok(Self { path: place, sink: Sink::TempFile(file) })
    }

    /// Appends bytes.
    ///
    /// # Errors
    /// The file cannot be written, for example because the disk is full.
    pub(super) fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let written = match &mut self.sink {
            Sink::TempFile(file) => file.write_all(bytes),
            Sink::Direct(file) => file.write_all(bytes),
        };
        written.map_err(|error| Error::io(&self.path, &error))
    }

    /// Moves the file to its path.
    ///
    /// # Errors
    /// That is not possible; the old file is unchanged.
    pub(super) fn finish(self) -> Result<(), Error> {
        let Sink::TempFile(file) = self.sink else { return Ok(()) };
        let mut unfinished = unfinished();
        let put = file
            .as_file()
            .sync_all()
            .map_err(|error| Error::io(&self.path, &error))
            .and_then(|()| file.persist(&self.path).map_err(|error| Error::io(&self.path, &error.error)));
        *unfinished = None;
        put.map(|_| ())
    }
}

/// Gives a file the permissions of another one and, as far as this is permitted, its owner and group.
pub(super) fn set_owner_and_permissions(file: &File, of: &fs::Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};
        let _ = fchown(file, None, Some(of.gid()));
        let _ = fchown(file, Some(of.uid()), None);
    }
    file.set_permissions(of.permissions())
}

/// Whether `path` is a name of standard output.
pub(super) fn is_standard_output(path: &Path) -> bool {
    ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"].iter().any(|name| path == Path::new(name))
}

/// Standard output or standard error, if `path` is a name of it, such as `/dev/stdout`. To replace the file that it is
/// redirected to would lose what others wrote to the same descriptor.
#[cfg(unix)]
fn open_descriptor(path: &Path) -> Option<File> {
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;
    let is_name = ["/dev", "/proc"].iter().any(|top| path.starts_with(top));
    let there = fs::metadata(path).ok().filter(|_| is_name)?;
    let copies = [io::stdout().as_fd().try_clone_to_owned(), io::stderr().as_fd().try_clone_to_owned()];
    copies
        .into_iter()
        .flatten()
        .map(File::from)
        .find(|open| open.metadata().is_ok_and(|open| (open.dev(), open.ino()) == (there.dev(), there.ino())))
}

/// Writes to a file, which is replaced only when it is complete; `-` is standard output.
pub(super) fn write_to(path: &Path, bytes: &[u8], out: &mut dyn Write) -> Result<(), Failure> {
    if path == Path::new("-") {
        return Ok(out.write_all(bytes)?);
    }
    let mut file = OutputFile::create(path)?;
    file.write(bytes)?;
    Ok(file.finish()?)
}

/// The path to which dangling symbolic links lead, where nothing exists; the path itself if something exists there.
fn behind_dangling_links(path: &Path) -> PathBuf {
    /// Opening a path that leads through more links is an error.
    const LINKS: usize = 40;
    let mut place = path.to_owned();
    for _ in 0..LINKS {
        match fs::read_link(&place) {
            Ok(target) if fs::metadata(&place).is_err() => {
                place = place.parent().unwrap_or(Path::new("")).join(target);
            }
            _ => break,
        }
    }
    place
}

/// Makes a write beyond the limit on the size of files fail, instead of ending the process.
pub(super) fn survive_the_file_size_limit() {
    #[cfg(unix)]
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, std::sync::Arc::default());
}

/// The file to remove when a signal ends the process.
fn unfinished() -> MutexGuard<'static, Option<PathBuf>> {
    static UNFINISHED: Mutex<Option<PathBuf>> = Mutex::new(None);
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Installs handlers that remove the unfinished file when a signal ends the process.
#[cfg(unix)]
fn clean_up_on_signals() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM])?;
    std::thread::Builder::new().spawn(move || {
        if let Some(signal) = signals.forever().next() {
            // The lock is held until the process ends, so that no file is moved to its path any more.
            let unfinished = unfinished();
            if let Some(path) = &*unfinished {
                let _ = fs::remove_file(path);
            }
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        }
    })?;
    Ok(())
}

/// How often the bar is drawn, and how often a line is written.
const DRAWN: Duration = Duration::from_millis(200);
const WRITTEN: Duration = Duration::from_secs(10);

/// Progress on standard error, until it is dropped.
pub(super) struct Bar {
    state: Arc<Mutex<State>>,
    bar: Option<ProgressBar>,
    /// Ends the thread that shows the state when dropped.
    _shown: Option<Sender<()>>,
}

#[derive(Clone)]
struct State {
    stage: &'static str,
    share: f64,
    began: Instant,
    /// When the stage began, and how many cases there had been.
    entered: (Instant, u64),
    cases: Option<Arc<AtomicU64>>,
}

impl Bar {
    const STEPS: u64 = 1000;

    pub(super) fn new() -> Self {
        Self::with(None)
    }

    /// Shows the rate at which this number grows, too.
    pub(super) fn counting(cases: Arc<AtomicU64>) -> Self {
        Self::with(Some(cases))
    }

    fn with(cases: Option<Arc<AtomicU64>>) -> Self {
        let now = Instant::now();
        let state = State { stage: "", share: 0.0, began: now, entered: (now, 0), cases };
        let state = Arc::new(Mutex::new(state));
        if is_quiet() || is_child().is_some() {
            return Self { state, bar: None, _shown: None };
        }
        let bar = io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(Self::STEPS);
            let style = ProgressStyle::with_template("{prefix:15} {wide_bar} {msg}");
            if let Ok(style) = style { bar.with_style(style) } else { bar }
        });
        let (shown, ended) = mpsc::channel();
        let (seen, drawn) = (Arc::clone(&state), bar.clone());
        std::thread::spawn(move || {
            let period = if drawn.is_some() { DRAWN } else { WRITTEN };
            while ended.recv_timeout(period) == Err(RecvTimeoutError::Timeout) {
                let state = seen.lock().unwrap_or_else(PoisonError::into_inner).clone();
                match &drawn {
                    Some(bar) => {
                        bar.set_prefix(state.stage);
                        bar.set_message(state.says(Instant::now()));
                        bar.set_position((state.share * Self::STEPS as f64) as u64);
                    }
                    None => {
                        let _ = writeln!(io::stderr(), "{}: {}", state.stage, state.says(Instant::now()));
                    }
                }
            }
        });
        Self { state, bar, _shown: Some(shown) }
    }

    pub(super) fn show(&self, stage: &'static str, share: f64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.stage != stage {
            state.entered = (Instant::now(), state.count());
            state.stage = stage;
        }
        state.share = share;
    }

    pub(super) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.finish();
    }
}

impl State {
    fn count(&self) -> u64 {
        self.cases.as_ref().map_or(0, |cases| cases.load(Ordering::Relaxed))
    }

    /// The share of the stage that is done, its rate, the time since the start, and the time left in the stage.
    fn says(&self, now: Instant) -> String {
        let spent = (now - self.entered.0).as_secs_f64();
        let mut text = format!("{:3.0} %", self.share * 100.0);
        let cases = self.count() - self.entered.1.min(self.count());
        if cases > 0 && spent > 0.0 {
            text += &format!(", {:.0} cases/s", cases as f64 / spent);
        }
        text += &format!(", {} elapsed", clock((now - self.began).as_secs_f64()));
        // Earlier it would be a guess.
        if self.share >= 0.02 {
            text += &format!(", {} left", clock(spent / self.share * (1.0 - self.share)));
        }
        text
    }
}

/// Seconds as minutes and seconds.
fn clock(seconds: f64) -> String {
    let seconds = seconds as u64;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_style_of_its_mark() {
        assert_eq!(
            painted_lines("! 0  C0\n  1  41\n* valid"),
            "\u{1B}[31m! 0  C0\u{1B}[0m\n  1  41\n\u{1B}[32m* valid\u{1B}[0m"
        );
        assert_eq!(painted_lines("renew: x\n"), "renew: x\n");
    }

    #[test]
    fn progress_says_share_rate_elapsed_and_remaining_time() {
        let began = Instant::now();
        let entered = (began + Duration::from_secs(60), 1000);
        let cases = Some(Arc::new(AtomicU64::new(21_000)));
        let state = State { stage: "class strings", share: 0.25, began, entered, cases };
        let now = began + Duration::from_secs(80);
        assert_eq!(state.says(now), " 25 %, 1000 cases/s, 1:20 elapsed, 1:00 left");
        let start = State { share: 0.0, cases: None, entered: (began, 0), ..state };
        assert_eq!(start.says(now), "  0 %, 1:20 elapsed");
    }
}
