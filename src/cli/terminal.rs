//! What the user wants to see: how much of it, in which colours, and how wide the terminal is.

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Effects, Style};
use clap::{Args, ValueEnum};
use std::borrow::Cow;
use std::ffi::OsString;
use std::io;
use std::sync::OnceLock;

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
const STYLES: [(&str, Style); 12] = [
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
    ("unread: ", BAD),
    ("fault: ", BAD),
];

/// A text report for standard output, in colours if it has any: each line in the style of its mark.
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
}
