//! The code blocks of the documents are run: Rust blocks as doctests (see the end of `src/lib.rs`), console blocks
//! here, and those in `docs/findings` by `.ci/findings`. Paths and lists in the documents are compared with the
//! repository.
#![cfg(feature = "cli")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

/// Blocks that are not run, by file and first line: they install something, take too long, or would run these tests.
const EXEMPT: &[(&str, &str)] = &[
    ("docs/CONTRIBUTING.md", "cargo test"),
    ("docs/adapter.md", "utfuzz adapter check python3 mine.py"),
    ("docs/adapter.md", "cc -std=c11 -O2 -fPIC -shared adapters/c/example.c -o libexample.so"),
    ("docs/ci.md", ".ci/run               # the parts marked quick"),
    ("docs/commands.md", "utfuzz check"),
    ("docs/commands.md", "cargo run --release --features simdutf -- measure --classes all --output reports/throughput"),
    ("docs/conversions.md", "printf 'a\\n\\xC0\\xAF' | utfuzz convert --from utf-8 --to utf-16le"),
    ("docs/fuzzing.md", "cargo install --locked cargo-fuzz"),
    ("docs/fuzzing.md", "utfuzz triage fuzz/artifacts --output corpus/regressions --report reports/triage"),
    ("docs/fuzzing.md", "utfuzz nightly --minutes 240"),
    ("docs/fuzzing.md", "cargo install --locked cargo-afl && cargo afl config --build"),
    ("docs/fuzzing.md", "cargo run --release --features planted -- score"),
    (
        "docs/fuzzing.md",
        "cargo run --release --features planted -- score --engines exhaustive,structured,plain,behaviour,proptest,bolero,afl --unsanitized",
    ),
    ("docs/your-crate.md", "cargo add --dev utfuzz --no-default-features --path ../utfuzz"),
    ("docs/your-crate.md", "cargo add --dev utfuzz --no-default-features --git https://example.org/you/utfuzz"),
    ("docs/your-crate.md", "utfuzz init"),
    ("docs/your-crate.md", "cargo test --test utfuzz"),
    (
        "docs/your-crate.md",
        "cargo run --release --manifest-path fuzz/Cargo.toml --example utfuzz -- triage fuzz/artifacts --output fuzz/regressions",
    ),
    (
        "docs/your-crate.md",
        "cargo run --release --manifest-path fuzz/Cargo.toml --example utfuzz -- nightly --minutes 60",
    ),
    (
        "docs/your-crate.md",
        "cargo run --release --manifest-path fuzz/Cargo.toml --example utfuzz -- nightly --minutes 60 --shards 1/4 -o results/1",
    ),
    ("README.md", "cargo +stable install --path . --locked"),
    ("README.md", "cargo add --dev utfuzz --no-default-features --path ../utfuzz"),
    ("README.md", "utfuzz check"),
    (
        "README.md",
        "cargo install --locked cargo-fuzz && cargo fuzz run --no-trace-compares differential -- -max_total_time=60",
    ),
];

/// A document, with its path relative to the package.
fn documents() -> Vec<(String, String)> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<PathBuf> = fs::read_dir(top.join("docs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();
    paths.push(top.join("README.md"));
    let name = |path: &Path| path.strip_prefix(top).unwrap().to_str().unwrap().replace('\\', "/");
    paths.iter().map(|path| (name(path), fs::read_to_string(path).unwrap())).collect()
}

/// The code blocks of a document: the words after the fence (none for an indented block), and the text.
fn blocks(document: &str) -> Vec<(String, String)> {
    let mut blocks = Vec::new();
    let mut inside = false;
    for event in Parser::new(document) {
        match event {
            Event::Start(Tag::CodeBlock(kind)) => {
                inside = true;
                let info = if let CodeBlockKind::Fenced(info) = kind { info.to_string() } else { String::new() };
                blocks.push((info, String::new()));
            }
            Event::End(TagEnd::CodeBlock) => inside = false,
            Event::Text(text) if inside => blocks.last_mut().unwrap().1.push_str(&text),
            _ => {}
        }
    }
    blocks
}

/// Whether a block is exempt from being run, or what is wrong with it.
fn judge(info: &str, text: &str) -> Result<bool, String> {
    match info.split(',').collect::<Vec<_>>()[..] {
        ["rust"] => Ok(false),
        ["console"] if text.starts_with("$ utfuzz ") => Ok(false),
        // `the_first_adapter_of_the_documents_is_clean` in tests/adapters.rs runs it.
        ["python"] => Ok(false),
        ["console"] => Err("a console block starts with `$ utfuzz `".into()),
        ["toml"] => text.parse::<toml::Table>().map(|_| false).map_err(|error| error.to_string()),
        ["text"] | ["text layers"] if text.lines().any(|line| line.starts_with("$ ")) => {
            Err("a command in a text block is not run; make it a console block".into())
        }
        ["text"] | ["text layers"] => Ok(false),
        ["rust" | "console" | "sh", "ignore"] => Ok(true),
        _ => Err(format!("a block of {info:?}, which is not rust, console, python, toml, text, or sh,ignore")),
    }
}

#[test]
fn every_block_is_run_or_listed() {
    let (mut wrong, mut exempt, mut count) = (Vec::new(), Vec::new(), 0);
    for (name, document) in documents() {
        for (info, text) in blocks(&document) {
            count += 1;
            let first = text.lines().next().unwrap_or_default();
            match judge(&info, &text) {
                Ok(true) => exempt.push((name.clone(), first.to_owned())),
                Ok(false) => {}
                Err(error) => wrong.push(format!("{name}: {first}: {error}")),
            }
        }
    }
    assert!(count >= 10, "{count}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let exempt: Vec<(&str, &str)> = exempt.iter().map(|(name, line)| (&name[..], &line[..])).collect();
    assert_eq!(exempt, EXEMPT);
}

#[test]
fn a_block_that_is_not_run_is_noticed() {
    let found = |document: &str| -> Vec<Result<bool, String>> {
        blocks(document).iter().map(|(info, text)| judge(info, text)).collect()
    };
    assert_eq!(found("```rust\nlet a = 1;\n```\n```sh,ignore\ncargo test\n```"), [Ok(false), Ok(true)]);
    for document in [
        "```sh\ncargo test\n```",
        "```\nutfuzz list\n```",
        "    utfuzz list\n",
        "```text\n$ utfuzz list\n```",
        "```console\nutfuzz list\n```",
        "```console\n$ cargo test\n```",
        "```rust,no_run\nlet a = 1;\n```",
        "```toml\na = \n```",
        "- a list\n\n  ```bash\n  utfuzz list\n  ```",
    ] {
        assert!(matches!(&found(document)[..], [Err(_)]), "{document}");
    }
}

#[test]
fn console_blocks_print_what_they_show() {
    let cases = trycmd::TestCases::new();
    cases.register_bin("utfuzz", Path::new(env!("CARGO_BIN_EXE_utfuzz")));
    cases.case("README.md").case("docs/*.md");
}

/// A console block that shows other output than the program's fails.
#[test]
#[should_panic]
fn a_console_block_that_shows_something_else_fails() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("wrong.md");
    fs::write(&path, "```console\n$ utfuzz --version\nutfuzz 99.9\n\n```\n").unwrap();
    let cases = trycmd::TestCases::new();
    cases.register_bin("utfuzz", Path::new(env!("CARGO_BIN_EXE_utfuzz")));
    cases.case(path);
}

#[test]
fn rust_blocks_are_doctests() {
    let lib = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lib.rs")).unwrap();
    let is_doctest = |name: &str| lib.contains(&format!("include_str!(\"../{name}\")"));
    let has_rust = |text: &str| blocks(text).iter().any(|(info, _)| info == "rust");
    let missing: Vec<String> = documents()
        .into_iter()
        .filter(|(name, text)| has_rust(text) && !is_doctest(name))
        .map(|(name, _)| name)
        .collect();
    assert!(missing.is_empty(), "not in src/lib.rs: {missing:?}");
    assert!(is_doctest("README.md"));
}

/// If utfuzz cannot be added to the dependencies, `init` says which line is missing, and fails.
#[test]
fn init_fails_if_the_dependency_is_not_added() {
    let directory = new_crate();
    let mut init = Command::new(env!("CARGO_BIN_EXE_utfuzz"));
    let init = init.args(["-q", "init"]).env("PATH", "/nowhere").current_dir(directory.path()).output().unwrap();
    let said = String::from_utf8(init.stderr).unwrap();
    assert_eq!(init.status.code(), Some(2), "{said}");
    assert!(said.contains("add this line there: utfuzz = { ") && said.contains("features = [\"ledger\"] }"), "{said}");
}

/// A new crate in which `utfuzz init` has run.
fn initialised_crate() -> tempfile::TempDir {
    let directory = new_crate();
    let init = Command::new(env!("CARGO_BIN_EXE_utfuzz")).arg("init").current_dir(directory.path()).output().unwrap();
    assert!(init.status.success(), "{init:?}");
    directory
}

fn new_crate() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("src")).unwrap();
    fs::write(directory.path().join("src/lib.rs"), "").unwrap();
    fs::write(directory.path().join("Cargo.toml"), "[package]\nname = \"mine\"\nedition = \"2021\"\n").unwrap();
    directory
}

/// Every link to a file, and every path in code such as `src/lib.rs`. In `docs/your-crate.md`, the latter are paths in a
/// crate in which `utfuzz init` has run.
#[test]
fn paths_in_documents_exist() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let yours = initialised_crate();
    let tops = [
        "src/",
        "tests/",
        "docs/",
        "fuzz/",
        "corpus/",
        "reports/",
        "examples/",
        "adapters/",
        ".ci/",
        ".github/",
        ".clusterfuzzlite/",
    ];
    // These are created by running the program.
    let by_use =
        ["tests/utf8.rs", "fuzz/target/", "fuzz/artifacts", "reports/night", "reports/triage", "reports/history.jsonl"];
    let (mut missing, mut count) = (Vec::new(), 0);
    for (name, document) in documents() {
        for event in Parser::new(&document) {
            let path = match &event {
                Event::Start(Tag::Link { dest_url, .. }) if !dest_url.contains("://") => {
                    let file = dest_url.split('#').next().unwrap();
                    repository.join(&name).parent().unwrap().join(file)
                }
                Event::Code(code)
                    if tops.iter().any(|top| code.starts_with(top))
                        && !by_use.iter().any(|path| code.starts_with(path)) =>
                {
                    let top = if name == "docs/your-crate.md" { yours.path() } else { repository };
                    top.join(code.split(' ').next().unwrap())
                }
                _ => continue,
            };
            count += 1;
            if !path.exists() {
                missing.push(format!("{name}: {}", path.display()));
            }
        }
    }
    assert!(count >= 30, "{count}");
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// Every source file is named where the architecture says where to find things, by its path or, in a list of files
/// of one directory, by its name. A `mod.rs` may only declare modules.
#[test]
fn the_architecture_names_every_file() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let map = fs::read_to_string(repository.join("docs/architecture.md")).unwrap();
    let map = map.split_once("\n## Where to find things\n").unwrap().1;
    let sources = ["src", "crates/core/src", "crates/codec/src"];
    let files = sources.iter().flat_map(|below| utfuzz::case::input::files_below(&repository.join(below)).unwrap());
    let (mut names, mut missing) = (0, Vec::new());
    for path in files {
        let name = path.file_name().unwrap().to_str().unwrap();
        if !["mod.rs", "lib.rs", "main.rs"].contains(&name) {
            names += 1;
            let full = path.strip_prefix(repository).unwrap().to_str().unwrap().replace('\\', "/");
            if ![&full, name].iter().any(|name| map.contains(&format!("`{name}`"))) {
                missing.push(full);
            }
        }
    }
    assert!(names > 80, "{names}");
    assert!(missing.is_empty(), "docs/architecture.md does not say what is in {missing:?}");
}

#[test]
fn every_page_is_in_the_index() {
    let documents = documents();
    let index = &documents.iter().find(|(name, _)| name == "docs/README.md").unwrap().1;
    let linked = |name: &str| index.contains(&format!("({})", name.trim_start_matches("docs/")));
    let findings = "docs/findings/README.md".to_owned();
    let missing: Vec<&String> = documents
        .iter()
        .map(|(name, _)| name)
        .chain([&findings])
        .filter(|name| name.starts_with("docs/") && *name != "docs/README.md" && !linked(name))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[cfg(unix)]
#[test]
fn the_table_of_parts_matches_the_script() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(top.join(".ci/run")).arg("list").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let list = String::from_utf8(output.stdout).unwrap();
    let parts = list.lines().map(|line| {
        let mut rest = line;
        let mut word = || {
            let (word, after) = rest.split_once(' ').unwrap();
            rest = after.trim_start();
            word
        };
        let (name, when, lane) = (word(), word(), word());
        format!("| `{name}` | {when} | {lane} | {rest} |")
    });
    let document = fs::read_to_string(top.join("docs/ci.md")).unwrap();
    let is_row = |line: &&str| [" | debug | ", " | release | "].iter().any(|lane| line.contains(lane));
    let rows: Vec<&str> = document.lines().filter(is_row).collect();
    assert_eq!(parts.collect::<Vec<_>>(), rows);

    // Each part has a function, and each script in `.ci` is mentioned in `.ci/run` or in the document.
    let script = fs::read_to_string(top.join(".ci/run")).unwrap();
    let functions: BTreeSet<&str> =
        script.lines().filter_map(|line| line.strip_prefix("part_")?.split("()").next()).collect();
    let names: BTreeSet<&str> = list.lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(functions, names);
    for entry in fs::read_dir(top.join(".ci")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let called = script.contains(&format!(".ci/{name}")) || document.contains(&format!("`.ci/{name}`"));
        assert!(called || name.ends_with(".py"), "{name} is in neither .ci/run nor docs/ci.md");
    }
}

/// The README is the first page, and stays one.
#[test]
fn the_readme_is_short() {
    let readme = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md")).unwrap();
    let lines = readme.lines().count();
    assert!(lines <= 150, "README.md has {lines} lines; move something into docs");
}

/// The README says how many findings there are, as the list does.
#[test]
fn the_readme_counts_the_findings() {
    let read = |path: &str| fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let (readme, list) = (read("README.md"), read("docs/findings/README.md"));
    let counted = list.lines().find(|line| line.contains(" findings in ")).unwrap().trim_end_matches('.');
    assert!(readme.split_whitespace().collect::<Vec<_>>().join(" ").contains(counted), "the README lacks {counted:?}");
}

/// The README shows the ledger as a table; `UPDATE_DOCUMENTS=1 cargo test --test documents` rewrites it.
#[test]
fn the_readme_lists_the_ledger() {
    const START: &str =
        "<!-- The ledger, from corpus/known.toml; UPDATE_DOCUMENTS=1 cargo test --test documents writes it. -->\n";
    const END: &str = "<!-- End of the ledger. -->";
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let (before, rest) = readme.split_once(START).unwrap();
    let (table, after) = rest.split_once(END).unwrap();
    let mut expected = String::from("| decoder | version | what it does |\n| --- | --- | --- |\n");
    for entry in utfuzz::triage::ledger::Ledger::built_in().entries() {
        let version = entry.versions.to_string();
        let version = version.trim_start_matches(['=', '~']);
        expected += &format!("| [{}]({}) | {version} | {} |\n", entry.decoder, entry.link, entry.reason);
    }
    if std::env::var_os("UPDATE_DOCUMENTS").is_some() {
        fs::write(&path, format!("{before}{START}{expected}{END}{after}")).unwrap();
    } else {
        assert_eq!(table, expected);
    }
}

#[test]
fn the_cost_curve_is_that_of_the_recorded_score() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = match Command::new("python3").arg(".ci/cost.py").current_dir(root).output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return println!("not run: there is no python3"),
        output => output.unwrap(),
    };
    assert!(output.status.success(), "{output:?}");
    let committed = fs::read_to_string(root.join("reports/score/cost.md")).unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), committed, ".ci/cost.py >reports/score/cost.md");
}

/// The blocks of the pages in `docs/findings` are run by `.ci/findings`, where the decoders are installed.
#[test]
fn the_findings_are_complete_and_in_their_index() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = match Command::new("python3").args([".ci/findings", "pages"]).current_dir(root).output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return println!("not run: there is no python3"),
        output => output.unwrap(),
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// `.github/workflows/reusable.yml` runs the same jobs as the workflow that `utfuzz init` writes, with inputs instead of
/// fixed values.
#[test]
fn the_reusable_workflow_has_the_jobs_that_init_writes() {
    let yours = initialised_crate();
    let written = fs::read_to_string(yours.path().join(".github/workflows/utfuzz.yml")).unwrap();
    let (_, jobs) = written.split_once("\n  fuzz:\n").unwrap();
    let header = "\
# A night for a crate in which `utfuzz init` has run: fuzzing, triage, one issue for each finding. Call it from a
# workflow with permission to write issues and security events. A test compares it with the workflow that init writes.
name: Reusable night

on:
  workflow_call:
    inputs:
      minutes:
        description: How long to fuzz, in minutes
        type: number
        default: 60
      fuzz-dir:
        description: The directory of the crate of fuzz targets
        type: string
        default: fuzz

permissions:
  contents: read

env:
  UTFUZZ: cargo +nightly run --quiet --release --manifest-path ${{ inputs.fuzz-dir }}/Cargo.toml --example utfuzz --

jobs:
  fuzz:
";
    let condition = "    if: github.event_name == 'schedule' || github.event_name == 'workflow_dispatch'\n";
    assert!(jobs.contains(condition));
    let jobs = jobs
        .replace(condition, "")
        .replace("${{ inputs.minutes || 60 }}", "${{ inputs.minutes }}")
        .replace(" fuzz/regressions", " ${{ inputs.fuzz-dir }}/regressions")
        .replace("nightly --fuzz-dir fuzz", "nightly --fuzz-dir \"$FUZZ_DIR\"")
        .replace("      MINUTES:", "      FUZZ_DIR: ${{ inputs.fuzz-dir }}\n      MINUTES:");
    let expected = format!("{header}{jobs}");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(".github/workflows/reusable.yml");
    if std::env::var_os("UPDATE_DOCUMENTS").is_some() {
        fs::write(&path, &expected).unwrap();
    }
    assert_eq!(
        fs::read_to_string(&path).unwrap(),
        expected,
        "UPDATE_DOCUMENTS=1 cargo test --test documents writes it"
    );
}

/// A tag can be moved; a commit cannot.
#[test]
fn actions_are_pinned_by_commit() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join(".github/workflows");
    let yours = initialised_crate();
    let workflows = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    let workflows = workflows.chain([yours.path().join(".github/workflows/utfuzz.yml")]);
    let (mut loose, mut count) = (Vec::new(), 0);
    for path in workflows {
        let text = fs::read_to_string(&path).unwrap();
        for used in text.lines().filter_map(|line| line.trim().trim_start_matches("- ").strip_prefix("uses: ")) {
            count += 1;
            let commit = used.split_once('@').map_or("", |(_, version)| version.split(' ').next().unwrap());
            if commit.len() != 40 || !commit.bytes().all(|byte| byte.is_ascii_hexdigit()) || !used.contains(" # v") {
                loose.push(format!("{}: {used}", path.display()));
            }
        }
    }
    assert!(count >= 15 && loose.is_empty(), "{count}: {loose:#?}");
}
