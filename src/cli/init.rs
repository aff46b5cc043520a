//! `utfuzz init`: sets up fuzz targets, a test, a CI workflow and an empty ledger in somebody else's crate.

use crate::cli::output::{Failure, Verdict, note};
use crate::engine::targets;
use crate::error::Error;
use crate::io::create_file;
use crate::text::shown;
use clap::Args;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Set up fuzzing, a test and CI for the decoders of your own crate
///
/// Writes a crate of fuzz targets, tests/utfuzz/, a GitHub workflow, ClusterFuzzLite's build files and an empty ledger of
/// known differences, and adds utfuzz to the dev-dependencies in Cargo.toml. No other file that exists is changed.
#[derive(Debug, Args)]
pub(super) struct Init {
    /// The directory of the crate
    #[arg(value_name = "DIR", default_value = ".")]
    directory: PathBuf,
    /// The name of the directory for the crate of fuzz targets
    #[arg(long, value_name = "NAME", default_value = "fuzz")]
    fuzz_dir: String,
}

impl Init {
    pub(super) fn run(self, out: &mut dyn Write) -> Result<Verdict, Failure> {
        let Self { directory, fuzz_dir } = self;
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if fuzz_dir.is_empty() || !fuzz_dir.chars().all(is_name) {
            return Err(Error::usage(format!("--fuzz-dir {fuzz_dir:?}: name one directory, such as fuzz")).into());
        }
        let package = Package::read(&directory)?;
        let manifest = directory.join(&fuzz_dir).join("Cargo.toml");
        // A second run completes what the first wrote.
        let is_ours = std::fs::read_to_string(&manifest).is_ok_and(|text| text.contains("\nutfuzz = "));
        if manifest.exists() && !is_ours {
            let path = shown(&manifest);
            let message = format!("{path} exists, and a second set of targets needs a directory of its own");
            return Err(Error::usage(format!("{message}: utfuzz init --fuzz-dir utf8-fuzz")).into());
        }
        for (path, text) in files(&package, &fuzz_dir) {
            let file = directory.join(&path);
            let parent = file.parent().unwrap_or(&directory);
            std::fs::create_dir_all(parent).map_err(|error| Error::io(parent, &error))?;
            let is_kept = file.exists() || !create_file(&file, text.as_bytes())?;
            if !is_kept && text.starts_with("#!") {
                make_executable(&file)?;
            }
            writeln!(out, "{} {path}", if is_kept { "kept   " } else { "written" })?;
        }
        let added = package.add_dependency(&directory);
        if let Ok(message) = &added {
            writeln!(out, "{message}")?;
        }
        if package.source().contains_key("path") {
            let manifests = if added.is_ok() { "Cargo.toml and " } else { "" };
            note(&format!(
                "utfuzz is named by its path on this machine in {manifests}{fuzz_dir}/Cargo.toml; for CI and ClusterFuzzLite, \
                 name a version or a git repository"
            ));
        }
        let Package { name, .. } = package;
        let option = if fuzz_dir == "fuzz" { String::new() } else { format!(" --fuzz-dir {fuzz_dir}") };
        writeln!(
            out,
            "\nIn tests/utfuzz/decoder.rs, call the decoder of {name}. Then:\n\n  \
             cargo test --test utfuzz\n  \
             cargo +nightly fuzz run{option} --no-trace-compares differential -- -max_total_time=60 -dict={fuzz_dir}/utf8.dict\n\n\
             The second command needs `cargo install --locked cargo-fuzz`. docs/your-crate.md of utfuzz says how to go on: from a \
             crash to a regression, intended differences, and a run every night."
        )?;
        added?;
        Ok(Verdict::Clean)
    }
}

/// What `init` writes about the crate into its files.
struct Package {
    name: String,
    version: String,
    /// The name of its library in Rust code.
    library: String,
    /// The dependency on utfuzz, if there is one.
    dependency: Option<toml::Value>,
}

impl Package {
    fn read(directory: &Path) -> Result<Self, Error> {
        let path = directory.join("Cargo.toml");
        let text = std::fs::read_to_string(&path).map_err(|error| Error::io(&path, &error))?;
        let wrong = |what: &str| Error::usage(format!("{}: {what}", shown(&path)));
        let manifest: toml::Table = text.parse().map_err(|error: toml::de::Error| wrong(error.message()))?;
        let at = |table: &str, key: &str| manifest.get(table)?.get(key)?.as_str().map(str::to_owned);
        let name = at("package", "name").ok_or_else(|| wrong("not a package; name the directory of a crate"))?;
        if !directory.join("src/lib.rs").is_file() && !manifest.contains_key("lib") {
            return Err(wrong("the crate has no library, so no test can call its decoder; add src/lib.rs"));
        }
        let library = at("lib", "name").unwrap_or_else(|| name.replace('-', "_"));
        let version = match manifest["package"].get("version") {
            Some(toml::Value::String(version)) => version.clone(),
            Some(_) => inherited_version(directory, &name).unwrap_or_else(|| {
                note(&format!(
                    "the version of {name}, which a workspace states, is not known; correct 0.0.0 in the files"
                ));
                "0.0.0".to_owned()
            }),
            // As Cargo does.
            None => "0.0.0".to_owned(),
        };
        let dependency = manifest.get("dev-dependencies").and_then(|table| table.get("utfuzz")).cloned();
        Ok(Self { name, version, library, dependency })
    }

    /// Where the crate of fuzz targets, a directory further down, finds utfuzz: where this crate finds it, or in the
    /// checkout that this program was built from, or in the registry.
    fn source(&self) -> toml::Table {
        let mut source = match &self.dependency {
            Some(toml::Value::Table(table)) => table.clone(),
            Some(version) => [("version".to_owned(), version.clone())].into_iter().collect(),
            None => toml::Table::new(),
        };
        source.retain(|key, _| ["path", "version", "git", "branch", "tag", "rev", "registry"].contains(&key));
        // A dependency that is inherited from a workspace has none of these, and the crate of fuzz targets is in no workspace.
        if source.is_empty() {
            let (key, value) = match checkout() {
                Some(path) => ("path", path.to_string_lossy().into_owned()),
                None => ("version", env!("CARGO_PKG_VERSION").to_owned()),
            };
            source.insert(key.to_owned(), value.into());
        }
        if let Some(toml::Value::String(path)) = source.get_mut("path") {
            // An absolute path replaces what it is joined to.
            *path = Path::new("..").join(&*path).to_string_lossy().into_owned();
        }
        source
    }

    /// Adds utfuzz to the dev-dependencies. Returns what was done.
    fn add_dependency(&self, directory: &Path) -> Result<String, Error> {
        if self.has_ledger() {
            return Ok("kept    Cargo.toml: utfuzz is among the dev-dependencies".to_owned());
        }
        let mut command = Command::new("cargo");
        command.args(["add", "--quiet", "--dev", "--features", "ledger"]).current_dir(directory).stdin(Stdio::null());
        match (&self.dependency, checkout()) {
            // Only the feature is added.
            (Some(_), _) => command.arg("utfuzz"),
            (None, Some(path)) => command.arg("--no-default-features").arg("--path").arg(path),
            (None, None) => command.arg("--no-default-features").arg(concat!("utfuzz@", env!("CARGO_PKG_VERSION"))),
        };
        let reason = match command.output() {
            Ok(output) if output.status.success() => {
                return Ok("changed Cargo.toml: utfuzz is a dev-dependency, with the feature ledger".to_owned());
            }
            Ok(output) => crate::text::printable_lines(&String::from_utf8_lossy(&output.stderr)).trim().to_owned(),
            Err(error) => format!("cargo: {error}"),
        };
        let source = match checkout() {
            Some(path) => format!("path = {:?}", path.to_string_lossy()),
            None => concat!("version = \"", env!("CARGO_PKG_VERSION"), "\"").to_owned(),
        };
        let remedy = match &self.dependency {
            Some(_) => "give utfuzz the feature ledger there".to_owned(),
            None => {
                format!(
                    "add this line there: utfuzz = {{ {source}, default-features = false, features = [\"ledger\"] }}"
                )
            }
        };
        Err(Error::usage(format!(
            "utfuzz with the feature ledger was not added to the dev-dependencies in Cargo.toml: {reason}; {remedy}"
        )))
    }

    /// Whether the dependency has the feature `ledger`, which the default features include.
    fn has_ledger(&self) -> bool {
        match &self.dependency {
            None => false,
            Some(toml::Value::Table(table)) => {
                let is_default = table.get("default-features").and_then(toml::Value::as_bool) != Some(false);
                let features = table.get("features").and_then(toml::Value::as_array);
                let named =
                    features.is_some_and(|features| features.iter().any(|name| name.as_str() == Some("ledger")));
                is_default && !table.contains_key("workspace") || named
            }
            Some(_) => true,
        }
    }
}

/// The version of this package as Cargo understands its manifest, which may inherit it from a workspace.
fn inherited_version(directory: &Path, name: &str) -> Option<String> {
    let mut command = Command::new("cargo");
    command.args(["metadata", "--no-deps", "--format-version=1"]).current_dir(directory).stdin(Stdio::null());
    let metadata: serde_json::Value = serde_json::from_slice(&command.output().ok()?.stdout).ok()?;
    let mut packages = metadata["packages"].as_array()?.iter();
    packages.find(|package| package["name"] == name)?["version"].as_str().map(str::to_owned)
}

/// The checkout that this program was built from, if it still exists; a program installed from a registry has none.
fn checkout() -> Option<&'static Path> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR"));
    // Cargo adds this file when it packages a crate.
    let is_packaged = directory.join("Cargo.toml.orig").exists();
    (!is_packaged && directory.join("Cargo.toml").is_file()).then_some(directory)
}

fn make_executable(path: &Path) -> Result<(), Error> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let permissions = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(path, permissions).map_err(|error| Error::io(path, &error))?;
    }
    Ok(())
}

const BUILD: &str = "fn main() -> std::io::Result<()> {\n    utfuzz::engine::link::fuzz_targets(&[])\n}\n";

const TARGET: &str = "#![no_main]\n\nutfuzz::fuzz_target!(@form@, @crate@_fuzz::target());\n";

const IGNORED: &str = "/target/\n/artifacts/\n/corpus/\n/coverage/\n";

/// Each target: its name, and what its input files are.
const TARGETS: [(&str, &str); 3] = [
    ("differential", "//! The file is exactly the bytes that the decoders see.\n"),
    ("streaming", "//! The bytes, then a trailer with the offsets at which they are cut into chunks.\n"),
    ("structured", "//! Text and errors across block edges, generated from the file.\n"),
];

/// Every file, relative to the directory of the crate, with its text.
fn files(package: &Package, fuzz: &str) -> Vec<(String, String)> {
    let source: Vec<String> = package.source().iter().map(|(key, value)| format!("{key} = {value}")).collect();
    let source = source.join(", ");
    let library_of_fuzz = package.name.replace('-', "_");
    let filled = |template: &str| {
        let values = [
            ("@package@", &*package.name),
            ("@version@", &package.version),
            ("@library@", &package.library),
            ("@crate@", &library_of_fuzz),
            ("@decoder@", &decoder_name(&package.name)),
            ("@fuzz@", fuzz),
            ("@utfuzz@", &source),
            ("@libfuzzer@", &libfuzzer_version()),
        ];
        values.iter().fold(template.to_owned(), |text, (mark, value)| text.replace(mark, value))
    };
    let mut files = vec![
        ("tests/utfuzz/main.rs".to_owned(), filled(include_str!("../../examples/template/test.rs.txt"))),
        ("tests/utfuzz/decoder.rs".to_owned(), filled(include_str!("../../examples/template/decoder.rs.txt"))),
        (format!("{fuzz}/Cargo.toml"), filled(include_str!("../../examples/template/Cargo.toml.txt"))),
        (format!("{fuzz}/build.rs"), BUILD.to_owned()),
        (format!("{fuzz}/src/lib.rs"), filled(include_str!("../../examples/template/lib.rs.txt"))),
        (format!("{fuzz}/examples/utfuzz.rs"), filled(include_str!("../../examples/template/command.rs.txt"))),
        (format!("{fuzz}/utf8.dict"), include_str!("../../examples/template/utf8.dict").to_owned()),
        (format!("{fuzz}/known.toml"), filled(include_str!("../../examples/template/known.toml.txt"))),
        (format!("{fuzz}/regressions/.gitkeep"), String::new()),
        (format!("{fuzz}/.gitignore"), IGNORED.to_owned()),
        (
            ".github/workflows/utfuzz.yml".to_owned(),
            filled(&pinned(include_str!("../../examples/template/workflow.yml.txt"))),
        ),
        (".github/utfuzz-issues".to_owned(), issues(fuzz)),
        (".clusterfuzzlite/Dockerfile".to_owned(), filled(include_str!("../../examples/template/Dockerfile.txt"))),
        (".clusterfuzzlite/build.sh".to_owned(), filled(include_str!("../../examples/template/build.sh.txt"))),
        (".clusterfuzzlite/project.yaml".to_owned(), include_str!("../../.clusterfuzzlite/project.yaml").to_owned()),
        (
            ".clusterfuzzlite/libfuzzer.options".to_owned(),
            include_str!("../../.clusterfuzzlite/libfuzzer.options").to_owned(),
        ),
    ];
    files.extend(TARGETS.map(|(name, about)| {
        // As here, so that `triage` reads their files as they do.
        let form = targets::ALL.iter().find(|target| target.name == name).map_or("bytes", |target| target.form.name());
        (format!("{fuzz}/fuzz_targets/{name}.rs"), filled(&format!("{about}{TARGET}")).replace("@form@", form))
    }));
    files
}

/// The version of libfuzzer-sys that this crate needs, from its manifest.
fn libfuzzer_version() -> String {
    let manifest: toml::Table = include_str!("../../Cargo.toml").parse().unwrap_or_default();
    // Cargo writes what the workspace says into the manifest that it packages.
    let of = |table: Option<&toml::Value>| {
        table?.get("dependencies")?.get("libfuzzer-sys")?.get("version")?.as_str().map(str::to_owned)
    };
    of(manifest.get("workspace")).or_else(|| of(Some(&manifest.into()))).unwrap_or_else(|| "*".to_owned())
}

/// The script that keeps one issue for each signature, for another ledger.
fn issues(fuzz: &str) -> String {
    let known = format!("{fuzz}/known.toml");
    include_str!("../../.ci/issues").replace("corpus/known.toml", &known).replace(".ci/issues", ".github/utfuzz-issues")
}

/// A name that a decoder may have: lower-case letters, digits, hyphens, underscores.
fn decoder_name(package: &str) -> String {
    package.to_lowercase()
}

/// The workflow of this repository, which pins GitHub's actions by commit, and cargo-fuzz by version.
const NIGHTLY: &str = include_str!("../../.github/workflows/nightly.yml");

/// Replaces `@ACTION@` by the pinned action, and `@cargo-fuzz@` by the command that installs it.
fn pinned(workflow: &str) -> String {
    let lines = NIGHTLY.lines().map(str::trim_start);
    let install =
        lines.clone().find_map(|line| line.strip_prefix("- run: ").filter(|line| line.contains("cargo-fuzz")));
    let text = workflow.replace("@cargo-fuzz@", install.unwrap_or("cargo install --locked cargo-fuzz"));
    let pins = lines.filter_map(|line| line.trim_start_matches("- ").strip_prefix("uses: "));
    pins.fold(text, |text, pin| match pin.split_once('@') {
        Some((action, _)) => text.replace(&format!("@{action}@"), pin),
        None => text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn package(dependency: &str) -> Package {
        let manifest: toml::Table = format!("utfuzz = {dependency}").parse().unwrap();
        let dependency = manifest.get("utfuzz").cloned();
        Package { name: "mine".to_owned(), version: "1.0.0".to_owned(), library: "mine".to_owned(), dependency }
    }

    #[test]
    fn the_targets_find_utfuzz_where_the_crate_does_or_where_this_program_comes_from() {
        let source = |dependency: &str| package(dependency).source().to_string();
        assert_eq!(source(r#""1.2""#), "version = \"1.2\"\n");
        assert_eq!(
            source(r#"{ git = "https://example.org", features = ["check"] }"#),
            "git = \"https://example.org\"\n"
        );
        assert_eq!(source(r#"{ path = "../utfuzz" }"#), "path = \"../../utfuzz\"\n");
        let inherited = package("{ workspace = true }").source();
        assert!(inherited.contains_key("path") || inherited.contains_key("version"), "{inherited:?}");
    }

    #[test]
    fn a_version_is_stated_or_inherited_from_the_workspace() {
        let workspace = tempfile::tempdir().unwrap();
        let member = workspace.path().join("mine");
        std::fs::create_dir_all(member.join("src")).unwrap();
        std::fs::write(member.join("src/lib.rs"), "").unwrap();
        let top = "[workspace]\nmembers = [\"mine\"]\n[workspace.package]\nversion = \"4.5.6\"\n";
        std::fs::write(workspace.path().join("Cargo.toml"), top).unwrap();
        let version = |line: &str| {
            std::fs::write(member.join("Cargo.toml"), format!("[package]\nname = \"mine\"\n{line}\n")).unwrap();
            Package::read(&member).unwrap_or_else(|error| panic!("{error}")).version
        };
        for (line, expected) in [("version.workspace = true", "4.5.6"), ("version = \"1.2.3\"", "1.2.3"), ("", "0.0.0")]
        {
            assert_eq!(version(line), expected, "{line}");
        }
        // The workspace states none.
        std::fs::write(workspace.path().join("Cargo.toml"), "[workspace]\nmembers = [\"mine\"]\n").unwrap();
        assert_eq!(version("version.workspace = true"), "0.0.0");
    }

    #[test]
    fn the_feature_of_the_ledger_is_added_only_if_it_is_missing() {
        for (dependency, expected) in [
            (r#""1.2""#, true),
            (r#"{ path = "a" }"#, true),
            (r#"{ path = "a", default-features = false }"#, false),
            (r#"{ path = "a", default-features = false, features = ["ledger"] }"#, true),
            (r#"{ workspace = true }"#, false),
            (r#"{ workspace = true, features = ["ledger"] }"#, true),
        ] {
            assert_eq!(package(dependency).has_ledger(), expected, "{dependency}");
        }
    }
}
