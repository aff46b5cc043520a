//! What all commands have in common: help, colours, `--quiet`, completions and manual pages.

use super::run::{Run, assert_none_wrong, command, directory_with, run};

/// The commands in `utfuzz --help`.
fn commands() -> Vec<String> {
    let directory = directory_with(&[]);
    let help = run(directory.path(), &["--help"]).out();
    let listed = help.lines().take_while(|line| *line != "Options:");
    let names = listed.filter_map(|line| line.strip_prefix("  ")?.split(' ').next()).filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

#[test]
fn an_unknown_kernel_is_named() {
    let directory = directory_with(&[]);
    let with = |kernel: &str| {
        let output = command(directory.path(), &["explain", "a"]).env("UTFUZZ_KERNEL", kernel).output().unwrap();
        (output.status.code(), String::from_utf8(output.stderr).unwrap())
    };
    assert_eq!(with("scalar"), (Some(0), String::new()));
    let (status, said) = with("sse9");
    assert_eq!(status, Some(2));
    assert!(said.contains("UTFUZZ_KERNEL: no kernel \"sse9\" on this processor; known: scalar"), "{said}");
}

#[test]
fn help_lists_the_commands_in_groups() {
    let directory = directory_with(&[]);
    let help = run(directory.path(), &["--help"]);
    assert_none_wrong(help.wrong_quiet(0));
    let groups: Vec<Vec<String>> =
        ["For everyone:\n", "For maintainers of decoders:\n", "Measuring:\n", "Setting up:\n"]
            .iter()
            .map(|heading| {
                let group =
                    help.out().split(heading).nth(1).unwrap_or_default().split("\n\n").next().unwrap().to_owned();
                let names = group
                    .lines()
                    .filter(|line| !line.starts_with("   "))
                    .filter_map(|line| line.split_whitespace().next());
                names.map(str::to_owned).collect()
            })
            .collect();
    for (group, expected) in groups.iter().zip([
        &["explain", "convert", "detect", "chart"][..],
        &["check", "replay", "minimize", "triage", "nightly"],
        &["measure", "list"],
        &["completions", "man"],
    ]) {
        let missing: Vec<_> = expected.iter().filter(|name| !group.iter().any(|listed| listed == *name)).collect();
        assert!(missing.is_empty(), "{missing:?} are not in {group:?}");
    }
    assert_eq!(cfg!(feature = "planted"), groups[2].contains(&"score".to_owned()));
    // Every command that is not hidden has its place: clap's own list has no others.
    let completions = run(directory.path(), &["completions", "fish"]).out();
    let known = commands();
    let offered = completions.lines().filter(|line| line.contains("_needs_command\" -f -a \""));
    let unlisted: Vec<&str> = offered
        .filter_map(|line| line.split(" -a \"").nth(1)?.split('"').next())
        .filter(|name| {
            !["help", "reports", "score", "serve-plugin"].contains(name) && !known.iter().any(|listed| listed == name)
        })
        .collect();
    assert!(unlisted.is_empty() && known.len() >= 13, "{unlisted:?} are not in {known:?}");
}

#[test]
fn every_help_has_examples_and_the_exit_status() {
    let directory = directory_with(&[]);
    let mut wrong = Vec::new();
    for name in commands() {
        let help = run(directory.path(), &[&name, "--help"]);
        wrong.extend(help.wrong_quiet(0));
        let out = help.out();
        for expected in ["Example", &format!("\n  utfuzz {name}"), "Exit status:\n  0 ", "\n  1 ", "\n  2 ", "\n  130 "]
        {
            wrong.extend((!out.contains(expected)).then(|| format!("{}: lacks {expected:?}: {out}", help.line)));
        }
    }
    assert_none_wrong(wrong);
}

#[test]
fn help_fits_the_terminal_and_a_hundred_columns() {
    let directory = directory_with(&[]);
    let mut wrong = Vec::new();
    for name in commands().iter().map(String::as_str).chain([""]) {
        for (columns, most) in [("70", 70), ("300", 100)] {
            let args: Vec<&str> = [name, "--help"].into_iter().filter(|word| !word.is_empty()).collect();
            let mut command = command(directory.path(), &args);
            let output = command.env("COLUMNS", columns).output().unwrap();
            let help = Run::of(&command, output);
            let examples = |line: &&str| line.starts_with("  utfuzz ") || line.starts_with("Usage: ");
            let out = help.out();
            let long = out.lines().filter(|line| !examples(line)).find(|line| line.chars().count() > most);
            wrong.extend(long.map(|line| format!("{} in {columns} columns: {line:?}", help.line)));
        }
    }
    assert_none_wrong(wrong);
}

/// Runs with these words of environment variables, without those of the tests' own environment.
fn coloured(args: &[&str], variables: &[(&str, &str)]) -> Run {
    let directory = directory_with(&[("case.bin", b"\xC0\xAF")]);
    let mut command = command(directory.path(), args);
    command.env_remove("NO_COLOR").envs(variables.iter().copied());
    let output = command.output().unwrap();
    Run::of(&command, output)
}

#[test]
fn colours_are_for_terminals_or_as_the_user_says() {
    let explain = ["explain", "C0 41", "--decoders", "own,utf8-decode"];
    let with = |when| [&explain[..], &["--color", when]].concat();
    let (red, green) = ("\u{1B}[31m!", "\u{1B}[32m*");
    let always = coloured(&with("always"), &[]);
    assert!(always.out().contains(red) && always.out().contains(green), "{}", always.out());
    let forced = coloured(&explain, &[("CLICOLOR_FORCE", "1")]);
    assert_eq!(forced.out(), always.out());
    let plain = coloured(&explain, &[]);
    assert!(!plain.out().contains('\u{1B}'), "{}", plain.out());
    for (args, variables) in
        [(with("auto"), &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")][..]), (with("never"), &[("CLICOLOR_FORCE", "1")])]
    {
        let run = coloured(&args, variables);
        assert_eq!(run.out(), plain.out(), "{}", run.line);
    }
    let help = coloured(&["--color=always", "list", "--help"], &[]);
    assert!(help.out().contains('\u{1B}'), "{}", help.out());
    let replayed = |more: &[&str]| {
        coloured(&[&["replay", "case.bin", "--decoders", "utf8-decode", "--color", "always"], more].concat(), &[]).out()
    };
    let new = replayed(&["--no-ledger"]);
    assert!(
        new.starts_with("\u{1B}[1m\u{1B}[31m1 new signature: 1 case, ")
            && new.contains("\u{1B}[1m\u{1B}[31mdivergence: "),
        "{new:?}"
    );
    let known = replayed(&[]);
    assert!(known.starts_with("\u{1B}[1m\u{1B}[32mclean: 1 case, "), "{known:?}");
    assert!(known.contains("\u{1B}[33mknown: utf8-decode-accepts-overlong, 1 hit\u{1B}[0m\n"), "{known:?}");
    assert_none_wrong(coloured(&["list", "--color", "sometimes"], &[]).wrong_status(2));
}

#[test]
fn quiet_silences_notes() {
    let directory = directory_with(&[]);
    let args = ["check", "--seconds", "0", "--quick", "--decoders", "own"];
    let loud = run(directory.path(), &args);
    let quiet = run(directory.path(), &[&args[..], &["--quiet"]].concat());
    assert!(loud.err().starts_with("note: no corpus directory here"), "{}", loud.err());
    assert_none_wrong(quiet.wrong_quiet(0));
}

#[test]
fn completions_and_manual_pages_know_the_commands() {
    let directory = directory_with(&[]);
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = run(directory.path(), &["completions", shell]);
        assert_none_wrong(script.wrong_quiet(0));
        assert!(script.out().contains("minimize") && script.out().contains("no-ledger"), "{shell}: {}", script.out());
    }
    let page = run(directory.path(), &["man"]);
    assert_none_wrong(page.wrong_quiet(0));
    assert!(page.out().contains(".TH utfuzz 1") && page.out().contains("utfuzz\\-explain(1)"), "{}", page.out());
    let written = run(directory.path(), &["man", "--output", "pages/man1"]);
    assert_none_wrong(written.wrong_quiet(0));
    let check = std::fs::read_to_string(directory.path().join("pages/man1/utfuzz-check.1")).unwrap();
    for expected in [".TH utfuzz-check 1", "\\-\\-certificate", "Exit status:", "utfuzz check"] {
        assert!(check.contains(expected), "lacks {expected:?}: {check}");
    }
    assert!(!directory.path().join("pages/man1/utfuzz-reports.1").exists());
}

#[test]
fn a_file_in_the_directory_gives_options_to_commands() {
    let of_own = ("utfuzz.toml", &b"[list]\ndecoders = 'own'\n"[..]);
    let directory = directory_with(&[of_own, ("other.toml", b"[list]\ndecoders = 'std'\n")]);
    let names = |run: Run| -> Vec<String> {
        assert_none_wrong(run.wrong_quiet(0));
        run.out().lines().skip(1).filter_map(|line| Some(line.split(' ').next()?.to_owned())).collect()
    };
    assert_eq!(names(run(directory.path(), &["list"])), ["own"]);
    assert_eq!(names(run(directory.path(), &["list", "--decoders", "bstr"])), ["bstr"], "the command line wins");
    let elsewhere = |file: &str| {
        let mut command = command(directory.path(), &["list"]);
        let output = command.env("UTFUZZ_CONFIG", file).output().unwrap();
        Run::of(&command, output)
    };
    assert_eq!(names(elsewhere("other.toml")), ["std"]);
    assert!(names(elsewhere("")).len() > 10, "an empty name means no file");
    assert_none_wrong(elsewhere("nowhere.toml").wrong_refusal(&["nowhere.toml"]));
    assert_none_wrong(elsewhere("/dev/zero").wrong_refusal(&["/dev/zero", "not a regular file"]));
    let tier = directory_with(&[("utfuzz.toml", b"[list]\ntier = 1\n")]);
    let needs = run(tier.path(), &["list"]);
    assert_none_wrong(needs.wrong_status(2));
    assert!(needs.err().ends_with("note: utfuzz.toml adds: --tier=1\n"), "{}", needs.err());
    let wrong = directory_with(&[("utfuzz.toml", b"[list]\ndecoder = 'own'\n")]);
    assert_none_wrong(run(wrong.path(), &["check"]).wrong_refusal(&["utfuzz.toml", "decoder", "utfuzz list --help"]));
    assert_none_wrong(run(wrong.path(), &["chart"]).wrong_quiet(0));
    let value = directory_with(&[("utfuzz.toml", b"[check]\nseconds = 'soon'\n")]);
    assert_none_wrong(run(value.path(), &["check"]).wrong_status(2));
}
