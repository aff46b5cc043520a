//! The child process of an adapter: started, asked with a deadline, and never left running.

use crate::decoder::Ending;
use crate::peers::foreign::protocol::{Answer, Batch, Greeting, Spelling};
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process_group, setrlimit};
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, BufReader, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// How an adapter is started.
#[derive(Clone, Debug)]
pub struct Program {
    /// The program and its arguments, to which the name of an entry point is added.
    pub command: Vec<String>,
    /// The directory in which it runs; without one, the current directory.
    pub directory: Option<PathBuf>,
    /// Additions to its environment.
    pub environment: BTreeMap<String, String>,
    /// How long it may take for a batch.
    pub timeout: Duration,
}

impl Program {
    /// How long a batch may take unless something else is configured.
    pub const TIMEOUT: Duration = Duration::from_secs(10);

    /// A program that is started here, in this environment.
    pub fn of_command(command: Vec<String>) -> Self {
        Self { command, directory: None, environment: BTreeMap::new(), timeout: Self::TIMEOUT }
    }
}

/// How long a runtime may take to start.
const STARTING: Duration = Duration::from_secs(60);

/// How long to wait for what an adapter has printed before its end.
const PRINTING: Duration = Duration::from_millis(100);

/// The most memory that an adapter may use for data, in bytes. Its address space is not limited, since some runtimes
/// reserve far more than they use.
const MEMORY: u64 = 8 << 30;

/// The longest file that an adapter may write, in bytes.
const FILE: u64 = 1 << 30;

/// Variables that make a runtime print or load what nobody asked for.
const REMOVED: [&str; 7] =
    ["JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "NODE_OPTIONS", "PYTHONSTARTUP", "RUBYOPT", "PERL5OPT"];

/// Why an adapter does not answer.
#[derive(Clone, Debug)]
pub struct Trouble {
    /// How its process ended.
    pub ending: Ending,
    /// What happened, in words.
    pub what: String,
}

impl Trouble {
    /// It could not be started, or broke the protocol.
    fn of(what: impl Into<String>) -> Self {
        Self { ending: Ending::Garbage, what: what.into() }
    }
}

/// A running adapter. It is killed, with the processes it has started, when this is dropped.
pub struct Process {
    requests: Option<Sender<Batch>>,
    events: Receiver<Event>,
    /// Its process group.
    group: Pid,
    printed: Printed,
}

/// What the thread that talks to the adapter reports.
enum Event {
    Started(Pid),
    Greeted(Greeting),
    Answered(Vec<Answer>),
    Trouble(Trouble),
}

impl Process {
    /// Starts the program, for one entry point if it is named.
    ///
    /// # Errors
    /// It cannot be started, or does not greet.
    pub fn start(program: &Program, entry: Option<&str>) -> Result<(Self, Greeting), Trouble> {
        let Some(name) = program.command.first().cloned() else { return Err(Trouble::of("the command is empty")) };
        let command = command(program, entry);
        let printed = Printed::default();
        let ((requests, to_do), (to_us, events)) = (channel(), channel());
        let worker = {
            let printed = printed.clone();
            // The child dies with the thread that has started it.
            move || serve(command, &printed, &to_do, &to_us)
        };
        let thread = thread::Builder::new().name("adapter".into()).spawn(worker);
        thread.map_err(|error| Trouble::of(format!("{name}: no thread: {error}")))?;
        let group = match events.recv() {
            Ok(Event::Started(group)) => group,
            Ok(Event::Trouble(trouble)) => {
                return Err(Trouble { what: format!("{name}: {}", trouble.what), ..trouble });
            }
            _ => return Err(Trouble::of(format!("{name}: it was not started"))),
        };
        let mut process = Self { requests: Some(requests), events, group, printed };
        match process.wait(STARTING.max(program.timeout))? {
            Event::Greeted(greeting) => Ok((process, greeting)),
            _ => Err(Trouble::of(format!("{name}: no greeting"))),
        }
    }

    /// The answers to a batch, one for each operation.
    ///
    /// # Errors
    /// The adapter ended, broke the protocol, or took longer than `patience`. In each case it has been killed.
    pub fn ask(&mut self, batch: &Batch, patience: Duration) -> Result<Vec<Answer>, Trouble> {
        if let Some(requests) = &self.requests {
            // If the thread has ended, the next event says why.
            let _ = requests.send(batch.clone());
        }
        match self.wait(patience)? {
            Event::Answered(answers) => Ok(answers),
            _ => Err(Trouble::of("it greeted twice")),
        }
    }

    fn wait(&mut self, timeout: Duration) -> Result<Event, Trouble> {
        let trouble = match self.events.recv_timeout(timeout) {
            Ok(Event::Trouble(trouble)) => trouble,
            Ok(event) => return Ok(event),
            Err(RecvTimeoutError::Timeout) => {
                let what = format!("no answer within {:.1} s", timeout.as_secs_f64());
                Trouble { ending: Ending::Hang, what }
            }
            Err(RecvTimeoutError::Disconnected) => Trouble::of("it has ended"),
        };
        self.kill();
        let printed = self.printed.text();
        let what = match printed.is_empty() {
            true => trouble.what,
            false => format!("{}; it printed: {}", trouble.what, crate::text::printable_lines(printed.trim_end())),
        };
        Err(Trouble { what, ..trouble })
    }

    fn kill(&mut self) {
        self.requests = None;
        // It may have ended already.
        let _ = kill_process_group(self.group, Signal::KILL);
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}

/// How the program is started for an entry point, or for its greeting.
pub(super) fn command(program: &Program, entry: Option<&str>) -> Command {
    let mut command = Command::new(&program.command[0]);
    command.args(&program.command[1..]).args(entry);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    for name in REMOVED {
        command.env_remove(name);
    }
    command.env("LC_ALL", "C.UTF-8").envs(&program.environment);
    if let Some(directory) = &program.directory {
        command.current_dir(directory);
    }
    limit(&mut command);
    command
}

#[allow(unsafe_code, reason = "runs between fork and exec")]
fn limit(command: &mut Command) {
    let limited = || {
        let limits = |most| Rlimit { current: Some(most), maximum: Some(most) };
        // Limits that the system does not allow are left as they are.
        let _ = setrlimit(Resource::Data, limits(MEMORY));
        let _ = setrlimit(Resource::Fsize, limits(FILE));
        let _ = setrlimit(Resource::Core, limits(0));
        // Elsewhere an adapter notices that its input ends.
        #[cfg(target_os = "linux")]
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        Ok(())
    };
    // SAFETY: the closure makes system calls only, which are async-signal-safe; it neither allocates nor locks.
    unsafe { command.pre_exec(limited) };
}

/// Starts the adapter, reads its greeting, and passes batches to it until all are answered or it ends.
fn serve(mut command: Command, printed: &Printed, requests: &Receiver<Batch>, events: &Sender<Event>) {
    // If nobody receives an event any more, the adapter has been killed.
    let tell = |event| drop(events.send(event));
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            return tell(Event::Trouble(Trouble::of(format!(
                "cannot be started: {error}; check the command, and that its program is installed"
            ))));
        }
    };
    tell(Event::Started(Pid::from_child(&child)));
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut to), Some(from), Some(errors)) = pipes else { return };
    let listener = printed.clone();
    let listening = thread::Builder::new().name("adapter errors".into()).spawn(move || listener.read(errors));
    let mut from = BufReader::with_capacity(1 << 16, from);
    let spelling = match Greeting::read(&mut from) {
        Ok(greeting) => {
            let spelling = greeting.spelling;
            tell(Event::Greeted(greeting));
            Some(spelling)
        }
        Err(what) => {
            let trouble = ended(&mut child, Duration::from_millis(200));
            let what = trouble.map_or(what.clone(), |trouble| format!("{what}; {}", trouble.what));
            tell(Event::Trouble(Trouble::of(what)));
            None
        }
    };
    if let Some(spelling) = spelling {
        let trouble = exchange(spelling, requests, &mut to, &mut from, events);
        drop(to);
        let trouble = trouble.map(Trouble::of).or_else(|| {
            // It should end when its input does.
            let mut rest = [0];
            match from.read(&mut rest) {
                Ok(1..) => Some(Trouble::of("it writes more than was asked for")),
                _ => ended(&mut child, Duration::from_secs(5)),
            }
        });
        let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
        // What it printed arrives shortly after its end, unless a process that left its group holds the pipe open.
        let start = Instant::now();
        while listening.as_ref().is_ok_and(|thread| !thread.is_finished()) && start.elapsed() < PRINTING {
            thread::sleep(Duration::from_millis(1));
        }
        tell(Event::Trouble(trouble.unwrap_or_else(|| Trouble::of("it closed its output and goes on running"))));
    }
    let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
    let _ = child.wait();
}

/// Passes batches on until all are answered, or the adapter ends (`None`), or breaks the protocol.
fn exchange(
    spelling: Spelling,
    requests: &Receiver<Batch>,
    to: &mut impl io::Write,
    from: &mut impl io::BufRead,
    events: &Sender<Event>,
) -> Option<String> {
    for batch in requests {
        // An adapter that has ended shows that when its answers are read.
        let _ = batch.write(spelling, to);
        match batch.read(spelling, from) {
            Ok(answers) => drop(events.send(Event::Answered(answers))),
            Err(what) => return what,
        }
    }
    None
}

/// How the adapter ended, if it does so within this time.
pub(super) fn ended(child: &mut Child, patience: Duration) -> Option<Trouble> {
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Some(ending(status)),
            Ok(None) if start.elapsed() < patience => thread::sleep(Duration::from_millis(1)),
            _ => return None,
        }
    }
}

fn ending(status: ExitStatus) -> Trouble {
    let ending = match status.signal() {
        None => Ending::Exit,
        Some(libc::SIGABRT) => Ending::Abort,
        Some(libc::SIGKILL | libc::SIGTERM | libc::SIGXFSZ | libc::SIGXCPU) => Ending::Kill,
        Some(_) => Ending::Fault,
    };
    let what = match (status.code(), status.signal()) {
        (Some(code), _) => format!("it ended with status {code}"),
        (None, Some(signal)) => format!("it was ended by signal {signal}"),
        (None, None) => "it ended".into(),
    };
    Trouble { ending, what }
}

/// The end of what an adapter has printed to standard error.
#[derive(Clone, Default)]
pub(super) struct Printed(Arc<Mutex<VecDeque<u8>>>);

impl Printed {
    const MOST: usize = 4096;

    /// Reads until the adapter closes it.
    pub(super) fn read(&self, mut errors: ChildStderr) {
        let mut piece = [0; 4096];
        while let Ok(len @ 1..) = errors.read(&mut piece) {
            let mut printed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            printed.extend(&piece[..len]);
            let excess = printed.len().saturating_sub(Self::MOST);
            printed.drain(..excess);
        }
    }

    /// What is kept.
    pub(super) fn text(&self) -> String {
        let mut printed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(printed.make_contiguous()).into_owned()
    }
}
