//! The program, run on a crate of two functions.

use std::fs;
use std::process::Command;

const LIBRARY: &str = "//! Tiny.

pub mod tiny;

#[cfg(test)]
mod tests {
    #[test]
    fn two_and_two() {
        assert_eq!(crate::tiny::sum(2, 2), 4);
    }
}
";

const MODULE: &str = "//! Two functions.

/// Tested, but not with `b = 0`.
pub fn sum(a: u32, b: u32) -> u32 {
    a + b
}

/// Not tested.
pub fn is_even(a: u32) -> bool {
    a % 2 == 0
}
";

/// A mutant of the operator at this place, as cargo-mutants lists it.
fn mutant(line: usize, column: usize, len: usize, with: &str) -> String {
    format!(
        r#"{{"file": "src/tiny.rs", "genre": "BinaryOperator", "name": "src/tiny.rs:{line}:{column}: {with}", "replacement": "{with}",
            "span": {{"start": {{"line": {line}, "column": {column}}}, "end": {{"line": {line}, "column": {}}}}}}}"#,
        column + len
    )
}

/// Without it, no mutant of a crate would compile.
#[test]
fn every_crate_has_the_switch() {
    let directory = std::env::temp_dir().join(format!("mutants-crates-{}", std::process::id()));
    let path = |name: &str| directory.join(name);
    let write = |name: &str, text: &str| {
        fs::create_dir_all(path(name).parent().unwrap()).unwrap();
        fs::write(path(name), text).unwrap();
    };
    let manifest = |name| format!("[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n");
    write("Cargo.toml", "[workspace]\nmembers = [\"crates/*\"]\nresolver = \"3\"\n");
    write("crates/codec/Cargo.toml", &manifest("utfuzz-codec"));
    let core = manifest("utfuzz-core") + "[dependencies]\nutfuzz-codec = { path = \"../codec\" }\n";
    write("crates/core/Cargo.toml", &core);
    let mut mutants = Vec::new();
    for name in ["codec", "core"] {
        write(&format!("crates/{name}/src/lib.rs"), LIBRARY);
        write(&format!("crates/{name}/src/tiny.rs"), MODULE);
        mutants.push(mutant(5, 7, 1, "-").replace("src/tiny.rs", &format!("crates/{name}/src/tiny.rs")));
    }
    write("list.json", &format!("[{}]", mutants.join(",")));
    write("reasons.toml", "");
    let output = Command::new(env!("CARGO_BIN_EXE_utfuzz-mutants"))
        .arg(&directory)
        .args([path("list.json"), path("reasons.toml"), path("report.md")])
        .args(["--workspace", "--lib"])
        .env("CARGO_TARGET_DIR", path("target"))
        .output()
        .unwrap();
    let report = fs::read_to_string(path("report.md")).unwrap_or_default();
    assert!(report.contains("2 mutants: 2 caught"), "{report}{}", String::from_utf8_lossy(&output.stderr));
    fs::remove_dir_all(directory).unwrap();
}

#[test]
fn what_no_test_notices_is_named() {
    let directory = std::env::temp_dir().join(format!("mutants-tiny-{}", std::process::id()));
    fs::create_dir_all(directory.join("src")).unwrap();
    let manifest = "[package]\nname = \"tiny\"\nversion = \"0.0.0\"\nedition = \"2024\"\n[workspace]\n";
    fs::write(directory.join("Cargo.toml"), manifest).unwrap();
    let list = [mutant(5, 7, 1, "-"), mutant(5, 7, 1, "*"), mutant(5, 7, 1, "&&"), mutant(10, 11, 2, "!=")].join(",");
    fs::write(directory.join("list.json"), format!("[{list}]")).unwrap();
    let run_with = |library: &str, reasons: &str| {
        fs::write(directory.join("src/lib.rs"), library).unwrap();
        fs::write(directory.join("src/tiny.rs"), MODULE).unwrap();
        fs::write(directory.join("reasons.toml"), reasons).unwrap();
        let path = |name| directory.join(name);
        let output = Command::new(env!("CARGO_BIN_EXE_utfuzz-mutants"))
            .arg(&directory)
            .args([path("list.json"), path("reasons.toml"), path("report.md")])
            .arg("--lib")
            .env("CARGO_TARGET_DIR", path("target"))
            .output()
            .unwrap();
        let report = fs::read_to_string(path("report.md")).unwrap_or_default();
        (output.status.code(), report, String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let run = |reasons: &str| run_with(LIBRARY, reasons);
    // 2 - 2 is not 4, but 2 * 2 is.
    let (status, report, _) = run("");
    assert_eq!(status, Some(1), "{report}");
    assert!(report.contains("4 mutants: 1 caught, 0 timed out"), "{report}");
    assert!(
        report.contains("1 do not compile, 2 are missed: 0 of these have a reason below, and 2 do not."),
        "{report}"
    );
    assert!(report.contains("\nsrc/tiny.rs: *\nno test reaches it: src/tiny.rs: !=\n"), "{report}");
    let reasons = "[[group]]\nreason = \"Why not.\"\nmutants = [\"src/tiny.rs: *\"]\n";
    let (status, report, _) = run(reasons);
    assert_eq!(status, Some(0), "{report}");
    assert!(report.contains("\nWhy not.\n\n```text\nsrc/tiny.rs: *\nsrc/tiny.rs: !=\n"), "{report}");
    let (status, _, errors) = run(&reasons.replace("*\"]", "*\", \"src/none.rs: *\"]"));
    assert_eq!(status, Some(1), "{errors}");
    assert!(errors.contains("no mutant needs this reason any more: src/none.rs: *"), "{errors}");
    // A test that fails in any case notices nothing.
    let failing =
        LIBRARY.replace("    #[test]\n", "    #[test]\n    fn wrong() {\n        panic!();\n    }\n\n    #[test]\n");
    let (status, report, _) = run_with(&failing, reasons);
    assert_eq!(status, Some(1), "{report}");
    assert!(
        report.contains("\n## Tests that fail without a mutant\n\n```text\ntiny")
            && report.contains(" tests::wrong\n```")
    );
    fs::remove_dir_all(directory).unwrap();
}
