//! The help: the commands in groups, with examples and the exit status; scripts for shells, and manual pages.

use crate::cli::output::{Failure, Verdict};
use crate::error::Error;
use crate::io::replace_file;
use clap::builder::StyledStr;
use clap::{Args, Command};
use clap_complete::Shell;
use std::fmt::Write as _;
use std::io::Write;
use std::path::PathBuf;

/// A command, and examples of its use: what is typed, and what that does.
type Entry = (&'static str, &'static [(&'static str, &'static str)]);

/// The commands in groups, as `utfuzz --help` lists them.
const GROUPS: [(&str, &[Entry]); 4] = [
    (
        "For everyone:",
        &[
            (
                "explain",
                &[
                    ("utfuzz explain 'C0 AF'", "bytes in hexadecimal; also %C3%A9, \\xC0 or U+20AC"),
                    ("utfuzz explain 'GrÃ¼ÃŸe'", "text: this was decoded wrongly once"),
                    ("utfuzz explain -v notes.txt", "a file, with the answers of every decoder"),
                ],
            ),
            (
                "convert",
                &[
                    ("utfuzz convert old.txt", "from the detected encoding to UTF-8, on standard output"),
                    ("utfuzz convert -f utf-16 -t utf-8 a.txt -o b.txt", "to a file"),
                ],
            ),
            (
                "detect",
                &[
                    ("utfuzz detect *.txt", "the likeliest encoding of each file, with the reason"),
                    ("iconv -f \"$(utfuzz detect -b a.txt)\" a.txt", "only its name"),
                ],
            ),
            (
                "repair",
                &[
                    ("utfuzz repair old.txt", "shows what was decoded wrongly, as a diff"),
                    ("utfuzz repair old.txt --apply -o new.txt", "writes the repaired text"),
                    ("utfuzz repair --in-place .orig old.txt", "repairs the file, and keeps a copy"),
                ],
            ),
            (
                "chart",
                &[("utfuzz chart", "the 256 bytes of UTF-8"), ("utfuzz chart --grammar cesu-8", "of a relative")],
            ),
        ],
    ),
    (
        "For maintainers of decoders:",
        &[
            (
                "check",
                &[
                    ("utfuzz check --quick", "ten seconds"),
                    ("utfuzz check", "about a minute"),
                    ("utfuzz check --budget 10 --stop-at-first", "ends after ten seconds, or with what is found first"),
                    ("utfuzz check --deep --certificate proof", "some minutes; records what was covered"),
                    ("utfuzz check --bytes 3 --decoders std", "every string of three bytes"),
                ],
            ),
            (
                "replay",
                &[
                    ("utfuzz replay crash-1 crash-2", "which decoders are wrong about these files"),
                    ("utfuzz replay corpus/regressions", "about every file below a directory"),
                    ("printf '\\xC0\\xAF' | utfuzz replay -", "about standard input"),
                ],
            ),
            ("minimize", &[("utfuzz minimize crash-1 -o witnesses", "keeps the smallest input in a directory")]),
            (
                "triage",
                &[("utfuzz triage fuzz/artifacts -o corpus/regressions", "groups crashes, and keeps the new ones")],
            ),
            ("nightly", &[("utfuzz nightly --minutes 60", "every target of ./fuzz, an hour in total")]),
            ("merge", &[("utfuzz merge shard-1 shard-2 -o reports/night", "one report of a night in shards")]),
            ("site", &[("utfuzz site -o target/site", "a page for each report below ./reports, and an index")]),
        ],
    ),
    (
        "Measuring:",
        &[
            ("score", &[("utfuzz score --engines exhaustive,structured", "how many planted faults are found")]),
            (
                "measure",
                &[
                    ("utfuzz measure --quick", "seconds instead of minutes"),
                    ("utfuzz measure book.txt --subjects own,std", "your text, two subjects"),
                    ("utfuzz measure --adapters", "what an operation of each adapter costs"),
                ],
            ),
            (
                "probe",
                &[
                    ("utfuzz probe --decoders encoding_rs", "the contract that it keeps"),
                    ("utfuzz probe --adapter 'perl adapter.pl'", "of a decoder in another language"),
                ],
            ),
            ("diff", &[("utfuzz diff std utf-8", "the shortest inputs that tell them apart, if any do")]),
            (
                "matrix",
                &[
                    ("utfuzz matrix --decoders own,std,simdutf8", "some decoders, on the terminal"),
                    ("utfuzz matrix --adapters -o reports/matrix", "all that can be asked, as a page"),
                    ("utfuzz matrix --since reports/matrix/matrix.json", "what has changed since"),
                ],
            ),
            ("list", &[("utfuzz list --decoders 'simd*'", "only decoders with such names")]),
        ],
    ),
    (
        "Setting up:",
        &[
            ("init", &[("utfuzz init", "in the directory of a crate with a decoder")]),
            (
                "adapter",
                &[
                    ("utfuzz adapter check python3 mine.py", "tests a new adapter, step by step"),
                    ("utfuzz adapter check adapters/perl", "the adapter in a directory"),
                ],
            ),
            (
                "completions",
                &[("utfuzz completions bash >~/.local/share/bash-completion/completions/utfuzz", "installs them")],
            ),
            ("man", &[("utfuzz man -o ~/.local/share/man/man1", "a page for each command")]),
        ],
    ),
];

/// Whether a command is for work on a project: not for everyone, and not for setting up.
pub(super) fn is_for_projects(name: &str) -> bool {
    let [_, maintainers, measuring, _] = GROUPS;
    [maintainers, measuring].iter().any(|(_, entries)| entries.iter().any(|(of, _)| *of == name))
}

/// What the exit status of every command means.
const EXIT_STATUS: &str = "Exit status:
  0    clean, or done
  1    something new was found; or input is ill-formed, not text, or to be repaired
  2    wrong usage, or an error with a file or a process
  130  interrupted before anything new was found";

/// Adds examples and the exit status to the help of every command.
pub(super) fn with_examples(command: Command) -> Command {
    let entries = GROUPS.iter().flat_map(|(_, entries)| *entries);
    entries.fold(command, |command, (name, examples)| {
        command.mut_subcommand(name, |verb| {
            let mut help = match verb.get_after_help() {
                Some(help) => format!("{help}\n\n"),
                None => String::new(),
            };
            help += if examples.len() == 1 { "Example:\n" } else { "Examples:\n" };
            let width = examples.iter().map(|(typed, _)| typed.chars().count()).max().unwrap_or(0);
            for (typed, does) in *examples {
                // Writing to a `String` cannot fail.
                let _ = match width > 50 {
                    true => writeln!(help, "  {typed}\n      {does}"),
                    false => writeln!(help, "  {typed:width$}  {does}"),
                };
            }
            verb.after_help(format!("{help}\n{EXIT_STATUS}"))
        })
    })
}

/// Lists the commands in groups instead of one after the other.
pub(super) fn with_groups(command: Command) -> Command {
    let mut groups = StyledStr::new();
    for (heading, entries) in GROUPS {
        let group = entries.iter().filter_map(|(name, _)| {
            let verb = command.find_subcommand(name).filter(|verb| !verb.is_hide_set())?;
            Some(Command::new(*name).about(verb.get_about().cloned().unwrap_or_default()))
        });
        let list = Command::new("group")
            .disable_help_subcommand(true)
            .help_template("{subcommands}")
            .max_term_width(WIDEST)
            .subcommands(group)
            .render_help();
        let style = anstyle::Style::new().bold().underline();
        let _ = write!(groups, "{style}{heading}{style:#}\n{}\n\n", list.ansi().to_string().trim_end());
    }
    command.before_help(groups).help_template(
        "{about}\n\n{usage-heading} {usage}\n\n{before-help}Options:\n{options}\n\n\
         utfuzz COMMAND --help shows options, examples and the exit status.\n",
    )
}

/// Help is at most this many columns wide.
pub(super) const WIDEST: usize = 100;

/// Print a script that completes commands and options in a shell
#[derive(Debug, Args)]
pub(super) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(super) fn run(self, mut command: Command, out: &mut dyn Write) -> Result<Verdict, Failure> {
        clap_complete::generate(self.shell, &mut command, "utfuzz", &mut &mut *out);
        Ok(Verdict::Clean)
    }
}

/// Print the manual page, or write one for each command
#[derive(Debug, Args)]
pub(super) struct Man {
    /// Write utfuzz.1, utfuzz-check.1 and so on into this directory, which is created if necessary
    #[arg(short, long, value_name = "DIR")]
    output: Option<PathBuf>,
}

impl Man {
    pub(super) fn run(self, command: Command, out: &mut dyn Write) -> Result<Verdict, Failure> {
        match self.output {
            Some(directory) => {
                let wrong = |error: std::io::Error| Error::io(&directory, &error);
                std::fs::create_dir_all(&directory).map_err(wrong)?;
                // `generate_to` would leave half a page if the disk is full.
                let pages = tempfile::tempdir().map_err(wrong)?;
                clap_mangen::generate_to(command, &pages).map_err(wrong)?;
                for page in std::fs::read_dir(&pages).map_err(wrong)? {
                    let page = page.map_err(wrong)?;
                    replace_file(&directory.join(page.file_name()), &std::fs::read(page.path()).map_err(wrong)?)?;
                }
            }
            None => clap_mangen::Man::new(command).render(&mut &mut *out)?,
        }
        Ok(Verdict::Clean)
    }
}
