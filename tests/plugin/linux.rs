use libtest_mimic::{Arguments, Failed, Trial};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};

const UTFUZZ: &str = env!("CARGO_BIN_EXE_utfuzz");

/// Plugins that are wrong, one for each macro, or whose only decoder misbehaves.
const WRONG: &str = r#"
#include "utfuzz_decoder.h"
#include <stdlib.h>
#include <string.h>

static void decode(void *context, const uint8_t *bytes, size_t length, utfuzz_answer *answer, utfuzz_write write, void *to)
{
    (void)context;
    int is_special = memchr(bytes, 0xFE, length) != NULL;
    answer->verdict = UTFUZZ_NOT_STATED, answer->has_output = 1;
    if (is_special) {
#ifdef ABORTS
        abort();
#elif defined EXITS
        exit(0);
#elif defined FAULTS
        static char *volatile nowhere = (char *)8;
        *nowhere = 1;
#elif defined READS
        if (*(volatile const uint8_t *)(bytes + length) == 0) write(to, "0", 1);
#elif defined ANSWERS
        answer->verdict = 9;
#elif defined FAILS
        answer->verdict = UTFUZZ_FAILED, write(to, "out of luck", 11);
        return;
#endif
    }
    write(to, bytes, length);
}

#ifndef PUSH
#define PUSH NULL
#endif
static void *open_nothing(void *context) { return (void)context, (void *)0; }
static void push(void *s, const uint8_t *b, size_t n, utfuzz_answer *a, utfuzz_write w, void *t)
    { (void)s, (void)b, (void)n, (void)a, (void)w, (void)t; }
static void finish(void *s, utfuzz_answer *a, utfuzz_write w, void *t) { (void)s, (void)a, (void)w, (void)t; }
static void drop(void *s) { (void)s; }

#ifndef NAME
#define NAME "wrong"
#endif
#ifndef PACKAGE
#define PACKAGE "wrong"
#endif
#ifndef VERSION
#define VERSION "1"
#endif
#ifndef ANSWERED
#define ANSWERED "output"
#endif
#ifndef CONTRACT
#define CONTRACT NULL
#endif
#ifndef DECODE
#define DECODE decode
#endif
#ifndef TABLE
#define TABLE UTFUZZ_PLUGIN_VERSION, 1, entries
#endif

static const utfuzz_entry entries[] = {
    {NAME, PACKAGE, VERSION, NULL, ANSWERED, NULL, CONTRACT, NULL, NULL, NULL, DECODE, open_nothing, PUSH, finish, drop},
};

#ifndef FUNCTION
#define FUNCTION utfuzz_plugin_v1
#endif
const utfuzz_plugin *FUNCTION(void)
{
    static const utfuzz_plugin plugin = {TABLE};
    (void)entries, (void)push, (void)decode;
#ifdef NO_TABLE
    return (void)plugin, NULL;
#else
    return &plugin;
#endif
}
"#;

/// A plugin that prints when it is loaded, and whenever it writes output.
const PRINTING: &str = r#"
#include <stdio.h>
#define write(to, bytes, length) (puts("printed"), fflush(stdout), write(to, bytes, length))
__attribute__((constructor)) static void loaded(void) { puts("printed"), fflush(stdout); }
#include "example.c"
"#;

/// Libraries that cannot be used: what is defined to make them, and what is said about each.
const REFUSED: [(&str, &str); 14] = [
    (
        "-DFUNCTION=utfuzz_plugin_v2",
        "it exports no function utfuzz_plugin_v1, which adapters/c/utfuzz_decoder.h declares",
    ),
    ("-DNO_TABLE", "utfuzz_plugin_v1 returns NULL"),
    ("-DTABLE=2,1,entries", "its table has version 2, and utfuzz_plugin_v1 returns one of version 1"),
    ("-DTABLE=1,0,entries", "the table has `count` 0, and its `entries` are not NULL"),
    ("-DTABLE=1,-1,entries", "the table has `count` 4294967295, "),
    ("-DTABLE=1,1,NULL", "the table has `count` 1, and its `entries` are NULL"),
    ("-DNAME=NULL", "the name of entry point 1 is NULL"),
    ("-DNAME=\"Wrong\"", "is named \"Wrong\"; use lower-case letters"),
    ("-DVERSION=\"1\\xFF\"", "the version of entry point 1 is not UTF-8: 31FF"),
    ("-DPACKAGE=\"a\\nb\"", "the package of entry point 1 is not one line: \"a\\nb\""),
    ("-DPACKAGE=NULL", "the entry point \"wrong\" lacks package="),
    ("-DCONTRACT=\"rfc3629 sometimes\"", "contract=\"rfc3629 sometimes\": "),
    ("-DDECODE=NULL", "the entry point \"wrong\" lacks the function decode"),
    ("-DANSWERED=\"output stream\"", "lacks the function push, which answers=stream requires"),
];

/// Decoders that misbehave when they see one byte: what is defined to make them, the signature in a child, and that in a
/// process that asks directly, with `--isolate`.
const MISBEHAVED: [(&str, &str, &str); 7] = [
    ("-DABORTS", "panic/wrong/abort/anywhere", "panic/wrong/abort/anywhere"),
    ("-DEXITS", "panic/wrong/exit/anywhere", "panic/wrong/exit/anywhere"),
    ("-DFAULTS", "panic/wrong/fault/anywhere", "panic/wrong/fault/anywhere"),
    ("-DREADS", "panic/wrong/", "bounds/wrong/"),
    ("-DANSWERS", "panic/wrong/garbage/anywhere", "panic/wrong/garbage/anywhere"),
    ("-DFAILS", "panic/wrong/", "panic/wrong/"),
    // Only streams fail, so only the law says so.
    ("-DPUSH=push -DANSWERED=\"output stream\"", "panic/wrong/", "panic/wrong/"),
];

/// Builds a shared library. Several definitions are separated by ` -D`.
fn build(compiler: &str, source: &Path, define: &str, to: &Path) -> Result<PathBuf, Failed> {
    let library = to.join("lib.so");
    let mut command = Command::new(compiler);
    command.args(["-Wall", "-Wextra", "-Werror", "-O1", "-fPIC", "-shared", "-Iadapters/c"]).arg(source);
    let output = command.args(define.split(" -D").map(defined)).arg("-o").arg(&library).output()?;
    check(output.status.success(), format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)))?;
    Ok(library)
}

fn defined(definition: &str) -> String {
    match definition.trim_start_matches("-D") {
        "" => "-O1".to_owned(),
        definition => format!("-D{definition}"),
    }
}

/// A plugin of this source, in a directory of its own.
fn plugin(source: &str, define: &str) -> Result<(tempfile::TempDir, PathBuf), Failed> {
    let directory = tempfile::tempdir()?;
    let file = directory.path().join("plugin.c");
    fs::write(&file, source)?;
    let library = build("cc", &file, define, directory.path())?;
    Ok((directory, library))
}

struct Run {
    output: Output,
    out: String,
    err: String,
}

fn run(program: &Path, args: &[&str], library: &Path) -> Result<Run, Failed> {
    let mut command = Command::new(program);
    command.args(args).arg("--plugin").arg(library).stdin(Stdio::null()).env("RUST_BACKTRACE", "0");
    let output = command.current_dir(library.parent().unwrap_or(Path::new("/"))).output()?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok(Run { out: text(&output.stdout), err: text(&output.stderr), output })
}

fn check(holds: bool, what: impl std::fmt::Display) -> Result<(), Failed> {
    if holds { Ok(()) } else { Err(what.to_string().into()) }
}

const CHECK: [&str; 6] = ["check", "--quick", "--seconds", "0", "--no-ledger", "--json"];

/// The signatures that a check finds, and what it wrote to standard error.
fn signatures(program: &Path, library: &Path, more: &[&str]) -> Result<(BTreeSet<String>, String), Failed> {
    let run = run(program, &[&CHECK, more].concat(), library)?;
    let record: serde_json::Value =
        serde_json::from_str(&run.out).map_err(|error| format!("{error}: {}{}", run.out, run.err))?;
    let found = record["divergences"].as_array().ok_or("no divergences")?;
    check(run.output.status.code() == Some(i32::from(!found.is_empty())), format!("{:?}: {}", run.output, run.err))?;
    Ok((found.iter().map(|found| found["signature"].as_str().unwrap_or_default().to_owned()).collect(), run.err))
}

/// In a child and in process, by this program and by another one.
fn an_example_has_the_same_findings_everywhere(compiler: &str, source: &str, name: &str) -> Result<(), Failed> {
    let directory = tempfile::tempdir()?;
    let library = build(compiler, &Path::new("adapters/c").join(source), "", directory.path())?;
    let (in_child, err) = signatures(Path::new(UTFUZZ), &library, &[])?;
    check(err.contains(&format!("note: {name} 1.0: ")) && err.contains(" a second"), &err)?;
    // The honest entry point is clean, the other one has the bug that its source states.
    let bug = format!("{name}-surrogates");
    check(in_child.iter().all(|signature| signature.split('/').nth(1) == Some(&bug)), format!("{in_child:?}"))?;
    check(in_child.contains(&format!("verdict/{bug}/surrogate/anywhere")), format!("{in_child:?}"))?;
    let (in_process, err) = signatures(Path::new(UTFUZZ), &library, &["--in-process"])?;
    check(!err.contains(" a second"), &err)?;
    check(in_process == in_child, format!("{in_process:?}\n{in_child:?}"))?;
    let (by_another, _) = signatures(&std::env::current_exe()?, &library, &[])?;
    check(by_another == in_child, format!("{by_another:?}\n{in_child:?}"))
}

/// Several libraries, together with our decoders; and a command that judges files.
fn plugins_are_ordinary_decoders() -> Result<(), Failed> {
    let (c, cpp) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let first = build("cc", Path::new("adapters/c/example.c"), "", c.path())?;
    let second = build("c++", Path::new("adapters/c/example.cpp"), "", cpp.path())?;
    fs::write(c.path().join("case.bin"), b"a\xED\xA0\x80")?;
    let both = format!("--plugin={}", second.display());
    for mode in [&[][..], &["--in-process"]] {
        let listed = run(Path::new(UTFUZZ), &[&["list", &both], mode].concat(), &first)?;
        let names: Vec<_> = listed.out.lines().skip(1).filter_map(|line| line.split(' ').next()).collect();
        check(listed.err.is_empty() && names.len() == 4, format!("{}{}", listed.out, listed.err))?;
        let args = [&["replay", "case.bin", "--decoders", "example-*,own", &both], mode].concat();
        let replayed = run(Path::new(UTFUZZ), &args, &first)?;
        for name in ["example-c-surrogates", "example-cpp-surrogates"] {
            let signature = format!("verdict/{name}/surrogate/anywhere");
            check(replayed.out.contains(&signature), format!("{signature}: {}{}", replayed.out, replayed.err))?;
        }
        check(!replayed.out.contains("/own/") && !replayed.out.contains("/example-c/"), &replayed.out)?;
    }
    Ok(())
}

/// One line names the library and what is wrong with it, in a child and in process.
fn a_wrong_library_is_refused() -> Result<(), Failed> {
    let directory = tempfile::tempdir()?;
    let (text, missing) = (directory.path().join("text.so"), directory.path().join("missing.so"));
    fs::write(&text, "not a library")?;
    let mut built = Vec::new();
    for (define, says) in REFUSED {
        let (directory, library) = plugin(WRONG, define)?;
        built.push((library, says, Some(directory)));
    }
    built.push((text, "it cannot be loaded as a shared library: ", None));
    built.push((missing, "No such file or directory", None));
    built.push((directory.path().to_owned(), "it cannot be loaded as a shared library: ", None));
    let mut failed = Vec::new();
    for (library, says, _) in &built {
        for mode in [&["list"][..], &["list", "--in-process"]] {
            let Run { output, out, err } = run(Path::new(UTFUZZ), mode, library)?;
            let is_named = err.contains(&*library.to_string_lossy()) || says.contains("is named");
            let is_line = err.starts_with("utfuzz: ") && err.lines().count() == 1 && out.is_empty();
            if output.status.code() != Some(2) || !is_named || !is_line || !err.contains(says) {
                failed.push(format!("{says}: {mode:?}: {:?} {out}{err}", output.status));
            }
        }
    }
    check(failed.is_empty(), failed.join("\n"))
}

fn a_decoder_that_misbehaves_is_named() -> Result<(), Failed> {
    let mut failed = Vec::new();
    for (define, in_child, in_process) in MISBEHAVED {
        let (_directory, library) = plugin(WRONG, define)?;
        for (signature, more) in [(in_child, &[][..]), (in_process, &["--in-process", "--isolate"])] {
            let (found, err) = signatures(Path::new(UTFUZZ), &library, more)?;
            if !found.iter().any(|found| found.starts_with(signature)) {
                failed.push(format!("{define} {more:?}: {signature}: {found:?} {err}"));
            }
        }
    }
    check(failed.is_empty(), failed.join("\n"))
}

/// What the library prints does not get between the answers.
fn a_library_may_print() -> Result<(), Failed> {
    let (_directory, library) = plugin(PRINTING, "")?;
    let (found, err) = signatures(Path::new(UTFUZZ), &library, &[])?;
    let of_the_bug = |signature: &String| signature.contains("/example-c-surrogates/surrogate/");
    check(!found.is_empty() && found.iter().all(of_the_bug), format!("{found:?} {err}"))
}

pub(crate) fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().collect();
    if matches!(args.get(1).map(String::as_str), Some("check" | "serve-plugin")) {
        return utfuzz::cli::Cli::main_with(Vec::new);
    }
    let has = |compiler| Command::new(compiler).arg("--version").output().is_ok_and(|output| output.status.success());
    let (c, cpp) = (has("cc"), has("c++"));
    for (compiler, _) in [("cc", c), ("c++", cpp)].iter().filter(|(_, has)| !has) {
        println!("there is no {compiler}, so the tests that need it are not run:");
    }
    let findings = an_example_has_the_same_findings_everywhere;
    let trials = vec![
        Trial::test("an_example_in_c_has_the_same_findings_everywhere", move || {
            findings("cc", "example.c", "example-c")
        })
        .with_ignored_flag(!c),
        Trial::test("an_example_in_cpp_has_the_same_findings_everywhere", move || {
            findings("c++", "example.cpp", "example-cpp")
        })
        .with_ignored_flag(!cpp),
        Trial::test("plugins_are_ordinary_decoders", plugins_are_ordinary_decoders).with_ignored_flag(!(c && cpp)),
        Trial::test("a_wrong_library_is_refused", a_wrong_library_is_refused).with_ignored_flag(!c),
        Trial::test("a_decoder_that_misbehaves_is_named", a_decoder_that_misbehaves_is_named).with_ignored_flag(!c),
        Trial::test("a_library_may_print", a_library_may_print).with_ignored_flag(!c),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
