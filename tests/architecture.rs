//! Data flows one way: a file uses only modules that stand above its own in `src/lib.rs`.

use std::fs;
use std::path::{Path, PathBuf};

#[test]
fn no_file_uses_a_layer_below_its_own() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let lib = fs::read_to_string(source.join("lib.rs")).unwrap();
    let layers: Vec<&str> =
        lib.lines().filter_map(|line| line.strip_prefix("pub mod ")).map(|rest| rest.trim_end_matches(';')).collect();
    assert!(layers.len() >= 10, "{layers:?}");
    let mut upward = Vec::new();
    let mut uses = 0;
    for file in files(&source) {
        let relative = file.strip_prefix(&source).unwrap();
        let module = relative.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
        let Some(own) = layers.iter().position(|layer| *layer == module.trim_end_matches(".rs")) else { continue };
        let text = fs::read_to_string(&file).unwrap();
        // Tests may look at anything.
        let code = text.split("#[cfg(test)]").next().unwrap();
        if code.contains("crate::{") {
            upward.push(format!("{}: `use crate::{{` hides layers from this test; one line each", relative.display()));
        }
        for part in code.split("crate::").skip(1) {
            let name: String = part.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
            // Names that `lib.rs` re-exports stand for the layer they come from.
            let name = match name.as_str() {
                "Judge" => "judge",
                "Decoder" | "Info" | "Stream" => "decoder",
                other => other,
            };
            let Some(used) = layers.iter().position(|layer| *layer == name) else { continue };
            uses += 1;
            if used > own {
                upward.push(format!("{} uses {name}", relative.display()));
            }
        }
    }
    println!("{uses} uses of other layers");
    assert!(uses > 80, "only {uses} uses were found; is the search broken?");
    assert!(upward.is_empty(), "{upward:#?}");
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}
