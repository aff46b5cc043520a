//! `utfuzz.toml` in the current directory: options that commands take without their being typed.
//!
//! Each table is a command, each key one of its long options: `[nightly]`, `minutes = 20`. An option that is typed, or that
//! conflicts with a typed one, is left out. Commands that people run in any directory, such as `explain`, take none from
//! the file, and options that start programs or name what is written are refused.

use crate::cli::help::is_for_projects;
use crate::error::Error;
use crate::text::shown;
use clap::parser::ValueSource;
use clap::{Arg, Command};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::{env, fs, io};
use toml::{Table, Value};

/// The file, unless the environment variable [`ELSEWHERE`] names another.
const FILE: &str = "utfuzz.toml";

/// Names another file; if it is empty, none is read.
const ELSEWHERE: &str = "UTFUZZ_CONFIG";

/// Options that start programs, load libraries, or name what is written.
const REFUSED: [&str; 13] = [
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
pub(super) struct Arguments {
    typed: Vec<OsString>,
    /// The index of the command's name in `typed`.
    at: usize,
    of_file: Vec<String>,
    path: PathBuf,
}

impl Arguments {
    /// All arguments; those of the file come directly after the name of the command.
    pub(super) fn all(&self) -> Vec<OsString> {
        let mut all = self.typed.clone();
        let at = all.len().min(self.at + 1);
        all.splice(at..at, self.of_file.iter().map(OsString::from));
        all
    }

    /// The command line.
    pub(super) fn line(&self) -> String {
        let words: Vec<String> = self.all().iter().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
        format!("utfuzz {}", words.join(" "))
    }

    /// What the file adds, in words; `None` if that is nothing.
    pub(super) fn origin(&self) -> Option<String> {
        (!self.of_file.is_empty()).then(|| format!("{} adds: {}", shown(&self.path), self.of_file.join(" ")))
    }
}

/// The arguments of this process, and those of the file.
pub(super) fn arguments(command: &Command) -> Result<Arguments, Error> {
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
    let is_help = typed.iter().any(|word| ["help", "--help", "-h"].iter().any(|help| word == help));
    typed[at].to_str().is_some_and(|name| !is_help && is_for_projects(name)).then_some(at)
}

fn merged(command: &Command, typed: Vec<OsString>, at: usize, path: &Path, text: &str) -> Result<Arguments, Error> {
    let wrong = |why: String| Error::parse(format!("{}: {why}", shown(path)));
    let tables: Table = text.parse().map_err(|error: toml::de::Error| wrong(error.to_string()))?;
    // What is typed is parsed by itself, to see which options it has. Errors in it are reported later.
    let alone = command.clone().ignore_errors(true).try_get_matches_from(&typed).ok();
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
            let is_typed = |option: &Arg| {
                let typed = typed_here.filter(|typed| typed.try_contains_id(option.get_id().as_str()).is_ok());
                typed
                    .is_some_and(|typed| typed.value_source(option.get_id().as_str()) == Some(ValueSource::CommandLine))
            };
            let is_overruled = is_typed(named)
                || of.get_arg_conflicts_with(named).into_iter().any(is_typed)
                || of.get_arguments().any(|other| {
                    is_typed(other) && of.get_arg_conflicts_with(other).iter().any(|of| of.get_id() == named.get_id())
                });
            if typed[at].to_str() == Some(name) && !is_overruled {
                of_file.extend(argument);
            }
        }
    }
    Ok(Arguments { typed, at, of_file, path: path.to_owned() })
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
            ("[check\n", "utfuzz.toml: "),
        ] {
            let error = words("utfuzz list", text).unwrap_err();
            assert!(error.starts_with("utfuzz.toml: ") && error.contains(named), "{text}: {error}");
        }
    }
}
