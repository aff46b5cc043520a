//! Which adapters there are: the files `adapter.toml`.

use crate::decoder::Ending;
use crate::error::Error;
use crate::peers::foreign::Foreign;
use crate::peers::foreign::process::{Process, Program, Trouble};
use crate::peers::foreign::protocol::Entry;
use crate::peers::units::UnitDecoder;
use crate::text::{matches_glob, shown};
use rayon::prelude::*;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A file `adapter.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    adapter: Vec<Adapter>,
}

/// A program of such a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Adapter {
    /// The program and its arguments, run in the directory of the file. `{installed}` stands for the directory into which
    /// the script `setup` beside the file has installed it.
    command: Vec<String>,
    /// How much it takes to install: 0 nothing, 1 small packages of the system, 2 packages of a language, 3 large ones.
    #[serde(default)]
    tier: u8,
    /// Additions to its environment.
    #[serde(default)]
    environment: BTreeMap<String, String>,
    /// How many seconds it may take for a batch.
    timeout: Option<u32>,
    /// Only these of its entry points.
    entries: Option<Vec<String>>,
    /// Those of its entry points that take more than some 50 µs for an answer, as names with `*`.
    #[serde(default)]
    slow: Vec<String>,
}

/// The adapters that were found.
#[derive(Default)]
pub struct Found {
    /// The decoders at all their entry points.
    pub decoders: Vec<Foreign>,
    /// The decoders of UTF-16 and UTF-32 among their entry points, which are not judged.
    pub units: Vec<UnitDecoder>,
    /// Adapters that cannot be started, and why.
    pub skipped: Vec<(String, String)>,
}

impl Found {
    /// The entry points of a program that is given on the command line.
    ///
    /// # Errors
    /// It cannot be started, or does not greet.
    pub fn command(command: Vec<String>) -> Result<Self, Error> {
        let name = command.join(" ");
        Self::one(command)
            .map_err(|why| Error::usage(format!("{name}: {why}; docs/adapter.md describes what an adapter does")))
    }

    /// The entry points of a shared library, each in a process of its own. `server` is a command that is an adapter for
    /// the library whose path is added to its arguments.
    ///
    /// # Errors
    /// There is no such file, or it cannot be loaded, or its table is wrong.
    pub fn plugin(path: &Path, mut server: Vec<String>) -> Result<Self, Error> {
        let full = fs::canonicalize(path).map_err(|error| Error::io(path, &error))?;
        let wrong = |why: &str| Error::usage(format!("{}: {why}", shown(path)));
        server.push(full.into_os_string().into_string().map_err(|_| wrong("its path is not UTF-8; rename it"))?);
        Self::one(server).map_err(|why| wrong(&why))
    }

    /// The entry points of one program, or why there are none.
    fn one(command: Vec<String>) -> Result<Self, String> {
        let mut found = Self::default();
        found.add(Program::of_command(command).decoders(None, &[]).map_err(|trouble| trouble.what)?);
        Ok(found)
    }

    /// The adapters of a file `adapter.toml`, or of those in a directory and each directory in it; up to this tier.
    ///
    /// # Errors
    /// There is no such file, or one cannot be read or parsed.
    pub fn read(path: &Path, tier: u8) -> Result<Self, Error> {
        let greet = |Configured { name, program, entries, slow }| (name, program.decoders(entries.as_deref(), &slow));
        let greeted: Vec<_> = configured(path, tier)?.into_par_iter().with_max_len(1).map(greet).collect();
        let mut found = Self::default();
        greeted.into_iter().for_each(|(name, decoders)| found.take(name, decoders));
        Ok(found)
    }

    fn take(&mut self, name: String, decoders: Result<Vec<Foreign>, Trouble>) {
        match decoders {
            Ok(decoders) => self.add(decoders),
            Err(trouble) => self.skipped.push((name, trouble.what)),
        }
    }

    fn add(&mut self, decoders: Vec<Foreign>) {
        for decoder in decoders {
            match decoder.entry().encoding {
                None => self.decoders.push(decoder),
                Some(encoding) => self.units.push(UnitDecoder { encoding, decoder: Box::new(decoder) }),
            }
        }
    }
}

impl Program {
    /// Starts it, and returns the decoders that it greets with: only those named in `only`, if it is set. Those that
    /// match a glob in `slow` are slow.
    fn decoders(&self, only: Option<&[String]>, slow: &[String]) -> Result<Vec<Foreign>, Trouble> {
        let (_, greeting) = Process::start(self, None)?;
        if let Some(what) = greeting.error {
            return Err(Trouble { ending: Ending::Garbage, what });
        }
        let is_missing = |name: &&String| greeting.entries.iter().all(|entry| entry.name != **name);
        if let Some(name) = only.and_then(|only| only.iter().find(is_missing)) {
            let names: Vec<&str> = greeting.entries.iter().map(|entry| &*entry.name).collect();
            let what = format!("`entries` names {name:?}; its entry points are {}", names.join(", "));
            return Err(Trouble { ending: Ending::Garbage, what });
        }
        let entries = greeting.entries.into_iter();
        let entries = entries.filter(|entry| only.is_none_or(|only| only.contains(&entry.name)));
        let is_slow = |entry: &Entry| slow.iter().any(|glob| matches_glob(glob, &entry.name));
        Ok(entries
            .map(|entry| {
                let is_slow = is_slow(&entry);
                Foreign::new(self.clone(), entry).slow(is_slow)
            })
            .collect())
    }
}

/// A program that a file `adapter.toml` configures.
pub struct Configured {
    /// The name of the directory of the file.
    pub name: String,
    /// How it is started.
    pub program: Program,
    /// Only these of its entry points.
    pub entries: Option<Vec<String>>,
    /// Those of its entry points that are slow, as names with `*`.
    pub slow: Vec<String>,
}

/// The programs of a file `adapter.toml`, or of those in a directory and each directory in it; up to this tier.
///
/// # Errors
/// There is no such file, or one cannot be read or parsed.
pub fn configured(path: &Path, tier: u8) -> Result<Vec<Configured>, Error> {
    let files = match path.is_dir() {
        false => vec![path.to_owned()],
        true => {
            let entries = fs::read_dir(path).map_err(|error| Error::io(path, &error))?;
            let files = entries.filter_map(|entry| Some(entry.ok()?.path().join("adapter.toml")));
            let mut files: Vec<PathBuf> =
                files.chain([path.join("adapter.toml")]).filter(|file| file.is_file()).collect();
            files.sort();
            files
        }
    };
    if files.is_empty() {
        return Err(Error::usage(format!(
            "{}: no adapter.toml there, nor in its directories; name a directory of adapters, or one adapter.toml",
            shown(path)
        )));
    }
    let mut programs = Vec::new();
    for file in files {
        let text = fs::read_to_string(&file).map_err(|error| Error::io(&file, &error))?;
        let adapters: File =
            toml::from_str(&text).map_err(|error| Error::parse(format!("{}: {error}", shown(&file))))?;
        let directory = fs::canonicalize(&file).map_err(|error| Error::io(&file, &error))?;
        let directory = directory.parent().unwrap_or(Path::new("/"));
        let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let installed = installed(directory);
        let place = |text: &String| text.replace("{installed}", &installed);
        for adapter in adapters.adapter.into_iter().filter(|adapter| adapter.tier <= tier) {
            let program = Program {
                command: adapter.command.iter().map(place).collect(),
                directory: Some(directory.to_owned()),
                environment: adapter.environment.iter().map(|(name, value)| (name.clone(), place(value))).collect(),
                timeout: adapter.timeout.map_or(Program::TIMEOUT, |seconds| Duration::from_secs(seconds.into())),
            };
            programs.push(Configured { name: name.clone(), program, entries: adapter.entries, slow: adapter.slow });
        }
    }
    Ok(programs)
}

/// Where the script `setup` in a directory of adapters installs: `target/adapters/NAME`, two directories higher.
fn installed(directory: &Path) -> String {
    let name = directory.file_name().unwrap_or_default();
    let root = directory.ancestors().nth(2).unwrap_or(directory);
    root.join("target/adapters").join(name).to_string_lossy().into_owned()
}
