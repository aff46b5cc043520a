//! The command line: the commands, and the options that `utfuzz.toml` adds to them.
//!
//! Exit status: 0 clean, 1 a new divergence (or a stale ledger entry, or a silent decoder) or ill-formed input, 2 usage
//! or environment, 130 interrupted before anything new was found. A closed pipe on standard output does not change the
//! status. A write error changes 0 and 130 to 2, but leaves 1 unchanged.
//!
//! `utfuzz.toml` in the current directory has options that commands take as if they had been typed. Each table is a
//! command, each key one of its long options: `[nightly]`, `minutes = 20`. An option that is typed, or that conflicts
//! with a typed one, is left out. Commands that people run in any directory, such as `explain`, take none from the
//! file, and options that start programs or name what is written are refused.

mod arguments;
mod check;
mod convert;
mod detect;
mod explain;
mod fuzzing;
mod help;
mod init;
mod output;
mod probe;
mod reports;

use crate::cli::check::TIMEOUT;
use crate::cli::help::{WIDEST, is_for_projects, with_examples, with_groups};
use crate::cli::output::{DIVERGED, Failure, INTERRUPTED, StandardOutput, Verdict, fail, survive_the_file_size_limit};
use crate::codec::Kernel;
use crate::decoder::Decoder;
use crate::error::Error;
use crate::judge::isolate::{exit, is_child, name_crashes};
use crate::text::{hex, printable, shown};
use clap::parser::ValueSource;
use clap::{Arg, ArgGroup, ArgMatches, Command, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};
use toml::{Table, Value};

/// Differential testing of UTF-8 decoders against an executable standard.
#[derive(Debug, Parser)]
#[command(version, max_term_width = WIDEST, args_override_self = true)]
pub struct Cli {
    #[command(flatten)]
    display: output::Display,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Check(check::Check),
    Replay(fuzzing::Replay),
    Explain(explain::Explain),
    Convert(convert::Convert),
    Detect(detect::Detect),
    Repair(detect::Repair),
    Chart(explain::Chart),
    List(probe::List),
    Probe(probe::ProbeVerb),
    Diff(probe::Diff),
    Matrix(reports::MatrixVerb),
    #[command(hide = cfg!(not(feature = "planted")))]
    Score(reports::Score),
    Measure(reports::Measure),
    #[cfg(unix)]
    Adapter(arguments::Adapter),
    Minimize(fuzzing::Minimize),
    Triage(fuzzing::Triage),
    Nightly(fuzzing::Nightly),
    Merge(reports::Merge),
    Init(init::Init),
    Site(reports::Site),
    Completions(help::Completions),
    Man(help::Man),
    #[command(hide = true)]
    Reports(reports::Reports),
    #[command(hide = true)]
    ServePlugin(arguments::ServePlugin),
}

impl Cli {
    /// The same as [`Cli::main`] for a program with decoders of its own. Subcommands judge these unless `--decoders` names
    /// others.
    ///
    /// ```no_run
    /// # fn decoders() -> Vec<Box<dyn utfuzz::Decoder>> { Vec::new() }
    /// fn main() -> std::process::ExitCode {
    ///     utfuzz::cli::Cli::main_with(decoders)
    /// }
    /// ```
    pub fn main_with(decoders: fn() -> Vec<Box<dyn Decoder>>) -> ExitCode {
        arguments::register(decoders);
        Self::main()
    }

    /// Parses the arguments of the process, runs the subcommand and returns the exit status.
    pub fn main() -> ExitCode {
        output::apply_color(std::env::args_os());
        let command = with_groups(command());
        let arguments = match arguments(&command) {
            Ok(arguments) => arguments,
            Err(error) => return fail(&error),
        };
        let matches = command.try_get_matches_from(arguments.all());
        match matches.and_then(|matches| Self::from_arg_matches(&matches)) {
            Ok(cli) => cli.run(arguments.line()),
            Err(error) if error.use_stderr() => {
                // The message repeats the arguments, which are untrusted.
                let text = error.render().to_string();
                let lines: Vec<String> = text.lines().map(printable).collect();
                let _ = writeln!(io::stderr(), "{}", lines.join("\n").trim_end());
                if let Some(origin) = arguments.origin() {
                    output::note(&origin);
                }
                ExitCode::from(2)
            }
            Err(help) => match help.print() {
                Err(error) if error.kind() != io::ErrorKind::BrokenPipe => fail(error),
                _ => ExitCode::SUCCESS,
            },
        }
    }

    fn run(self, line: String) -> ExitCode {
        self.display.apply();
        if let Err(error) = kernel_is_known() {
            return fail(&error);
        }
        survive_the_file_size_limit();
        crate::judge::silence_panics();
        // The process that started an adapter sees how it ends, and the parent of an isolated process watches it.
        let is_adapter = matches!(self.verb, Verb::ServePlugin(_));
        let _guard = (!is_adapter).then(|| name_crashes(DIVERGED));
        if !is_adapter && is_child().is_none() {
            watch_for_hangs();
        }
        let mut out = StandardOutput::open();
        let result = match self.verb {
            Verb::Check(check) => check.run(&mut out),
            Verb::Replay(replay) => replay.run(&mut out),
            Verb::Explain(explain) => explain.run(&mut out),
            Verb::Convert(convert) => convert.run(&mut out),
            Verb::Detect(detect) => detect.run(&mut out),
            Verb::Repair(repair) => repair.run(&mut out),
            Verb::Chart(chart) => chart.run(&mut out),
            Verb::List(list) => list.run(&mut out),
            Verb::Probe(probe) => probe.run(&mut out),
            Verb::Diff(diff) => diff.run(&mut out),
            Verb::Matrix(matrix) => matrix.run(line, &mut out),
            Verb::Score(score) => score.run(&mut out),
            Verb::Measure(measure) => measure.run(&mut out),
            #[cfg(unix)]
            Verb::Adapter(adapter) => adapter.run(&mut out),
            Verb::Minimize(minimize) => minimize.run(&mut out),
            Verb::Triage(triage) => triage.run(&mut out),
            Verb::Nightly(nightly) => nightly.run(&mut out),
            Verb::Merge(merge) => merge.run(&mut out),
            Verb::Init(init) => init.run(&mut out),
            Verb::Completions(completions) => completions.run(command(), &mut out),
            Verb::Man(man) => man.run(command(), &mut out),
            Verb::Site(site) => site.run(&mut out),
            Verb::Reports(reports) => reports.run(&mut out),
            Verb::ServePlugin(serve) => serve.run(),
        };
        let unwritten = out.finish();
        match (result, unwritten) {
            (Err(Failure(error)), _) => fail(&error),
            (Ok(Verdict::Clean), None) => ExitCode::SUCCESS,
            (Ok(Verdict::Diverged | Verdict::IllFormed), None) => ExitCode::from(DIVERGED),
            (Ok(Verdict::Interrupted), None) => ExitCode::from(INTERRUPTED),
            (Ok(verdict), Some(error)) => {
                let status = fail(format_args!("standard output: {error}"));
                match verdict {
                    Verdict::Clean | Verdict::Interrupted => status,
                    Verdict::Diverged | Verdict::IllFormed => ExitCode::from(DIVERGED),
                }
            }
        }
    }
}

/// # Errors
/// The environment limits our codec to a kernel that this processor cannot run, or that does not exist.
fn kernel_is_known() -> Result<(), Error> {
    let Some(name) = std::env::var_os(Kernel::LIMIT) else { return Ok(()) };
    let names: Vec<&str> = Kernel::available().map(Kernel::name).collect();
    if names.iter().any(|known| name == *known) {
        return Ok(());
    }
    let (variable, name, names) = (Kernel::LIMIT, name.to_string_lossy(), names.join(", "));
    Err(Error::usage(format!("{variable}: no kernel {name:?} on this processor; known: {names}")))
}

/// Ends the process when a decoder hangs.
fn watch_for_hangs() {
    crate::judge::watch(TIMEOUT, |stuck| {
        /// Longer input is not shown in full.
        const SHOWN: usize = 2048;
        let shown = stuck.bytes.len().min(SHOWN);
        let more = if shown < stuck.bytes.len() { " …" } else { "" };
        let bytes = hex(&stuck.bytes[..shown]);
        let (decoder, seconds) = (&stuck.decoder, stuck.waited.as_secs());
        let _ = writeln!(
            io::stderr(),
            "utfuzz: progress/{decoder}: no answer for {seconds} s on {} bytes: {bytes}{more}; leave it out with \
             --decoders=-{decoder}",
            stuck.bytes.len()
        );
        exit(DIVERGED);
    });
}

/// The command with the help of every subcommand.
fn command() -> Command {
    with_examples(Cli::command())
}

/// The file, unless the environment variable [`ELSEWHERE`] names another.
const FILE: &str = "utfuzz.toml";

/// Names another file; if it is empty, none is read.
const ELSEWHERE: &str = "UTFUZZ_CONFIG";

/// Options that start programs, load libraries, or name what is written.
const REFUSED: [&str; 14] = [
    "program",
    "adapter",
    "adapters",
    "plugin",
    "in-process",
    "fuzz-dir",
    "output",
    "report",
    "state",
    "history",
    "regressions",
    "certificate",
    "resume",
    "reports",
];

/// The arguments of this process: those typed, and those of the file.
#[derive(Clone, Debug, Default)]
struct Arguments {
    typed: Vec<OsString>,
    /// The index of the command's name in `typed`.
    at: usize,
    of_file: Vec<String>,
    path: PathBuf,
}

impl Arguments {
    /// All arguments; those of the file come directly after the name of the command.
    fn all(&self) -> Vec<OsString> {
        let mut all = self.typed.clone();
        let at = all.len().min(self.at + 1);
        all.splice(at..at, self.of_file.iter().map(OsString::from));
        all
    }

    /// The command line.
    fn line(&self) -> String {
        let words: Vec<String> = self.all().iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        format!("utfuzz {}", words.join(" "))
    }

    /// What the file adds, in words; `None` if that is nothing.
    fn origin(&self) -> Option<String> {
        (!self.of_file.is_empty()).then(|| format!("{} adds: {}", shown(&self.path), self.of_file.join(" ")))
    }
}

/// The arguments of this process, and those of the file.
fn arguments(command: &Command) -> Result<Arguments, Error> {
    let typed: Vec<OsString> = env::args_os().collect();
    let elsewhere = env::var_os(ELSEWHERE).map(PathBuf::from);
    let path = elsewhere.as_deref().unwrap_or(Path::new(FILE));
    let Some(at) = verb(command, &typed).filter(|_| !path.as_os_str().is_empty()) else {
        return Ok(Arguments { typed, ..Arguments::default() });
    };
    match read(path) {
        Ok(text) => merged(command, typed, at, path, &text),
        Err(error) if error.kind() == io::ErrorKind::NotFound && elsewhere.is_none() => {
            Ok(Arguments { typed, ..Arguments::default() })
        }
        Err(error) => Err(Error::io(path, &error)),
    }
}

/// The text of a regular file of a reasonable length.
fn read(path: &Path) -> io::Result<String> {
    const LONGEST: u64 = 1 << 20;
    let about = fs::metadata(path)?;
    if !about.is_file() {
        return Err(io::Error::other("this is not a regular file"));
    }
    if about.len() > LONGEST {
        return Err(io::Error::other("this has more than 1 MiB, too much for a list of options"));
    }
    fs::read_to_string(path)
}

/// Where the name of the command is in the arguments, if it takes options from a file.
fn verb(command: &Command, typed: &[OsString]) -> Option<usize> {
    let at = (1..typed.len()).find(|at| command.find_subcommand(&typed[*at]).is_some())?;
    let is_group = command.find_subcommand(&typed[at]).is_some_and(Command::has_subcommands);
    let is_help = typed[..at].iter().any(|word| word == "help")
        || is_group && typed.get(at + 1).is_some_and(|word| word == "help")
        || typed.iter().any(|word| word == "--help" || word == "-h");
    typed[at].to_str().is_some_and(|name| !is_help && is_for_projects(name)).then_some(at)
}

fn merged(command: &Command, typed: Vec<OsString>, at: usize, path: &Path, text: &str) -> Result<Arguments, Error> {
    let wrong = |why: String| Error::parse(format!("{}: {why}", shown(path)));
    let tables: Table = text.parse().map_err(|error: toml::de::Error| wrong(error.to_string()))?;
    // What is typed is parsed by itself, to see which options it has. Errors in it are reported later.
    let mut parser = command.clone().ignore_errors(true);
    let alone = parser.try_get_matches_from_mut(&typed).ok();
    let mut of_file = Vec::new();
    for (name, options) in &tables {
        let Some(of) = command.find_subcommand(name) else {
            return Err(wrong(format!("utfuzz has no command {name:?}; `utfuzz --help` lists them")));
        };
        if !is_for_projects(name) {
            return Err(wrong(format!("{name} takes no options from a file; remove [{name}]")));
        }
        let Value::Table(options) = options else {
            return Err(wrong(format!(
                "{name} is not a table; write [{name}], and below it the options of the command"
            )));
        };
        let typed_here = alone.as_ref().and_then(|alone| alone.subcommand_matches(name));
        for (key, value) in options {
            let (named, argument) = option(command, of, key, value).map_err(|why| wrong(format!("[{name}]: {why}")))?;
            let is_overruled =
                typed_here.zip(parser.find_subcommand(name)).is_some_and(|(typed, of)| is_overruled(of, typed, named));
            if typed[at].to_str() == Some(name) && !is_overruled {
                of_file.extend(argument);
            }
        }
    }
    Ok(Arguments { typed, at, of_file, path: path.to_owned() })
}

/// Whether an option is typed, or excluded by what is typed. `of` is the command after it has parsed that: only then does
/// it have its groups, and the options of every command.
fn is_overruled(of: &Command, typed: &ArgMatches, option: &Arg) -> bool {
    let is_typed = |other: &Arg| {
        let id = other.get_id().as_str();
        typed.try_contains_id(id).is_ok() && typed.value_source(id) == Some(ValueSource::CommandLine)
    };
    let conflict =
        |one: &Arg, other: &Arg| of.get_arg_conflicts_with(one).iter().any(|of| of.get_id() == other.get_id());
    let has = |group: &ArgGroup, option: &Arg| group.get_args().any(|id| id == option.get_id());
    // Only one option of a group can be given, unless the group says otherwise.
    let are_alternatives = |one: &Arg, other: &Arg| {
        of.get_groups().any(|group| !group.clone().is_multiple() && has(group, one) && has(group, other))
    };
    of.get_arguments().filter(|other| is_typed(other)).any(|other| {
        other.get_id() == option.get_id()
            || conflict(option, other)
            || conflict(other, option)
            || are_alternatives(option, other)
    })
}

/// An option of a command as it is typed.
fn option<'c>(
    command: &'c Command,
    of: &'c Command,
    key: &str,
    value: &Value,
) -> Result<(&'c Arg, Option<String>), String> {
    let all = of.get_arguments().chain(command.get_arguments().filter(|option| option.is_global_set()));
    let Some(named) = all.into_iter().find(|option| option.get_long() == Some(key)) else {
        let name = of.get_name();
        return Err(format!("the command has no option {key:?}; `utfuzz {name} --help` lists them"));
    };
    if REFUSED.contains(&key) {
        return Err(format!(
            "{key} starts programs or names what is written, so it cannot be set in a file; type --{key}"
        ));
    }
    let one = |value: &Value| match value {
        Value::String(text) => Ok(format!("--{key}={text}")),
        Value::Integer(number) => Ok(format!("--{key}={number}")),
        Value::Float(number) => Ok(format!("--{key}={number}")),
        _ => Err(format!("{key} must be text, a number, true or false")),
    };
    match value {
        Value::Boolean(_) if named.get_action().takes_values() => Err(format!("{key} needs a value")),
        Value::Boolean(is_set) => Ok((named, is_set.then(|| format!("--{key}")))),
        value => Ok((named, Some(one(value)?))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(typed: &str, text: &str) -> Result<String, String> {
        let typed: Vec<OsString> = typed.split(' ').map(OsString::from).collect();
        let command = crate::cli::command();
        let merged = match verb(&command, &typed) {
            Some(at) => merged(&command, typed, at, Path::new(FILE), text).map_err(|error| error.to_string())?.all(),
            None => typed,
        };
        Ok(merged.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn options_of_the_file_are_added_unless_they_are_typed() {
        let text = "[check]\nseconds = 3\nquick = true\njson = false\ncolor = 'never'\n[list]\ndecoders = 'own*'\n";
        let check = "utfuzz check --color=never --quick --seconds=3 --decoders std";
        assert_eq!(words("utfuzz check --decoders std", text).as_deref(), Ok(check));
        for (typed, merged) in [
            ("utfuzz check --seconds 1", "utfuzz check --color=never --quick --seconds 1"),
            ("utfuzz --color always check", "utfuzz --color always check --quick --seconds=3"),
            ("utfuzz check --deep", "utfuzz check --color=never --seconds=3 --deep"),
        ] {
            assert_eq!(words(typed, text).as_deref(), Ok(merged), "what conflicts with a typed option is left out");
        }
        let list = "[measure]\nsubjects = 'own,std'\n";
        let subjects = "utfuzz measure --subjects wtf8";
        assert_eq!(words(subjects, list).as_deref(), Ok(subjects), "a list is not added to a typed one");
        assert_eq!(words("utfuzz -q list", text).as_deref(), Ok("utfuzz -q list --decoders=own*"));
        assert_eq!(
            words("utfuzz chart", "[").as_deref(),
            Ok("utfuzz chart"),
            "it is not read for a command for everyone"
        );
        assert_eq!(words("utfuzz --help", text).as_deref(), Ok("utfuzz --help"));
        assert_eq!(words("utfuzz list --help", text).as_deref(), Ok("utfuzz list --help"));
    }

    #[test]
    fn what_a_typed_option_excludes_is_left_out() {
        for (typed, text, merged) in [
            // These are alternatives of a group.
            ("utfuzz check --bytes 2", "[check]\ndeep = true\n", "utfuzz check --bytes 2"),
            ("utfuzz check --deep", "[check]\nbytes = 2\n", "utfuzz check --deep"),
            // Every command has these.
            ("utfuzz check -v", "[check]\nquiet = true\n", "utfuzz check -v"),
            ("utfuzz -q check", "[check]\nverbose = true\n", "utfuzz -q check"),
            ("utfuzz check", "[check]\nverbose = true\n", "utfuzz check --verbose"),
            #[cfg(unix)]
            ("utfuzz measure --adapters", "[measure]\nclasses = 'all'\n", "utfuzz measure --adapters"),
        ] {
            assert_eq!(words(typed, text).as_deref(), Ok(merged), "{text}");
        }
    }

    /// Whatever names a file or a program is either refused or only read.
    #[test]
    fn no_option_of_the_file_starts_a_program_or_names_what_is_written() {
        // `nightly` adds regressions to the corpus; but it also runs the code of the project.
        const READ: [&str; 3] = ["corpus", "ledger", "since"];
        const PATHS: [&str; 6] = ["FILE", "DIR", "PATH", "COMMAND", "LIBRARY", "SUFFIX"];
        let (command, mut doubtful) = (crate::cli::command(), Vec::new());
        for of in command.get_subcommands().filter(|of| is_for_projects(of.get_name())) {
            for option in of.get_arguments().filter(|option| option.get_action().takes_values()) {
                let names = option.get_value_names().unwrap_or_default();
                let is_path = names.iter().any(|name| PATHS.iter().any(|path| name.contains(path)));
                if let Some(long) = option.get_long().filter(|long| is_path && !READ.contains(long)) {
                    doubtful.extend((!REFUSED.contains(&long)).then(|| format!("{} --{long}", of.get_name())));
                }
            }
        }
        assert_eq!(doubtful, Vec::<String>::new());
    }

    #[test]
    fn what_is_wrong_is_named_whatever_the_command() {
        for (text, named) in [
            ("[chekc]\n", "no command \"chekc\""),
            ("decoders = 'own'\n", "no command \"decoders\""),
            ("check = 1\n", "check is not a table"),
            ("[convert]\noutput = 'a'\n", "convert takes no options from a file"),
            ("[init]\n", "init takes no options from a file"),
            ("[serve-plugin]\n", "serve-plugin takes no options from a file"),
            ("[check]\nsecond = 1\n", "[check]: the command has no option \"second\"; `utfuzz check --help`"),
            ("[check]\nseconds = {}\n", "seconds must be text"),
            ("[check]\ndecoders = true\n", "decoders needs a value"),
            ("[check]\ndecoders = ['own']\n", "decoders must be text"),
            ("[matrix]\noutput = '..'\n", "type --output"),
            ("[check]\nadapter = 'sh'\n", "type --adapter"),
            ("[check]\nplugin = ['a.so']\n", "type --plugin"),
            ("[measure]\nclasses = 'scalar'\nprogram = './a'\n", "type --program"),
            ("[check\n", "utfuzz.toml: "),
        ] {
            let error = words("utfuzz list", text).unwrap_err();
            assert!(error.starts_with("utfuzz.toml: ") && error.contains(named), "{text}: {error}");
        }
    }
}
