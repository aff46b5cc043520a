//! Everything that commands print with `--json` is as `docs/output.schema.json` says.
#![cfg(feature = "cli")]

#[allow(dead_code)]
mod record;

use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::process::Command;

fn schema() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/output.schema.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

/// The keywords that the schema uses: an unknown one would check nothing.
const KEYWORDS: [&str; 12] = [
    "$schema",
    "$defs",
    "$ref",
    "title",
    "description",
    "oneOf",
    "const",
    "type",
    "required",
    "properties",
    "additionalProperties",
    "items",
];

/// What is wrong with a value, by a schema of these keywords.
fn wrong(root: &Value, schema: &Value, value: &Value, place: &str) -> Vec<String> {
    if let Some(name) = schema["$ref"].as_str() {
        let target = root.pointer(name.trim_start_matches('#')).unwrap_or_else(|| panic!("{name} leads nowhere"));
        return wrong(root, target, value, place);
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let all: Vec<_> = choices.iter().map(|choice| wrong(root, choice, value, place)).collect();
        let fit = all.iter().filter(|wrong| wrong.is_empty()).count();
        let least = all.into_iter().min_by_key(Vec::len).unwrap_or_default();
        return if fit == 1 { Vec::new() } else { [vec![format!("{place}: {fit} fit")], least].concat() };
    }
    let mut found = Vec::new();
    if let Some(expected) = schema.get("const")
        && expected != value
    {
        found.push(format!("{place}: {value} instead of {expected}"));
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    let fits = |name: &Value| name == kind || name == "number" && kind == "integer";
    let is_type = match &schema["type"] {
        Value::Null => true,
        Value::Array(names) => names.iter().any(fits),
        name => fits(name),
    };
    found.extend((!is_type).then(|| format!("{place}: {kind} instead of {}", schema["type"])));
    if let Some(fields) = value.as_object() {
        let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        found.extend(required.filter(|key| !fields.contains_key(*key)).map(|key| format!("{place}: lacks {key}")));
        for (key, value) in fields {
            let place = format!("{place}/{key}");
            match schema["properties"].get(key) {
                Some(schema) => found.extend(wrong(root, schema, value, &place)),
                None if schema["additionalProperties"] == false => found.push(format!("{place}: not described")),
                None => {}
            }
        }
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        if let Some(schema) = schema.get("items") {
            found.extend(wrong(root, schema, item, &format!("{place}/{index}")));
        }
    }
    found
}

#[test]
fn every_output_is_as_the_schema_says() {
    let directory = tempfile::tempdir().unwrap();
    let adapter = b"echo 'utfuzz 1 lines\npackage=x\nversion=1\nname=x\nanswers=verdict\n'
while read -r line; do
    case $line in '') ;; 78) echo 1 -1 -1 - ;; *) echo 2 -1 -1 - ;; esac
done\n";
    let files: [(&str, &[u8]); 7] = [
        ("adapter.sh", adapter),
        ("tree/overlong.bin", b"\xC0\xAF"),
        ("tree/good.bin", "é".as_bytes()),
        ("double.txt", "GrÃ¼ÃŸe\n".as_bytes()),
        ("latin.txt", b"Stra\xDFe in K\xF6ln\n"),
        ("noise.bin", b"\xFF\x01\x02\x03\x00\x80"),
        ("streaming/cut.cut", b"\xE2\x82\xAC\x01\x00\x01"),
    ];
    for (name, bytes) in files {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    let rows = [
        ("list", "list"),
        ("probe --decoders own-wtf-8,utf8-decode,simdutf8-basic", "probe"),
        ("probe --quick --decoders own", "probe"),
        ("matrix --decoders own,utf8-decode,cesu8,std-utf-16le,own-utf-32", "matrix"),
        ("diff own own-wtf-8", "diff"),
        ("diff own std", "diff"),
        ("chart", "chart"),
        ("chart --grammar wtf-8", "chart"),
        ("explain C0 AF 41 E2 82", "explain"),
        ("explain --text word", "explain"),
        ("explain double.txt", "explain"),
        ("explain latin.txt", "explain"),
        ("check --bytes 1", "check"),
        ("check --quick --seconds 0 --decoders own --quiet", "check"),
        ("replay tree streaming latin.txt", "check"),
        ("replay tree --no-ledger --decoders utf8-decode,cesu8", "check"),
        ("triage tree streaming", "triage"),
        ("triage tree latin.txt --no-ledger --decoders utf8-decode,own -o kept", "triage"),
        ("triage tree --no-ledger --decoders utf8-decode,own -o kept", "triage"),
        ("detect double.txt latin.txt noise.bin tree/good.bin", "detect"),
        ("repair double.txt", "repair"),
        ("repair latin.txt", "repair"),
        ("measure double.txt --quick --subjects own,std", "throughput"),
        // What follows the command belongs to it.
        ("adapter check --json false", "adapter"),
        ("adapter check --json sh adapter.sh", "adapter"),
        ("measure --quick --adapter sh\tadapter.sh", "adapter-costs"),
    ];
    let schema = schema();
    let mut all = Vec::new();
    for (line, record) in rows {
        let mut command = Command::new(env!("CARGO_BIN_EXE_utfuzz"));
        let output = command.args(line.split(' ')).arg("--json").current_dir(directory.path()).output().unwrap();
        let value: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{line}: {error}: {}", String::from_utf8_lossy(&output.stderr)));
        assert_eq!(value["record"], record, "{line}");
        let definition = &schema["$defs"][record];
        all.extend(wrong(&schema, definition, &value, "").into_iter().map(|wrong| format!("{line}: {wrong}")));
        all.extend(wrong(&schema, &schema, &value, "").first().map(|wrong| format!("{line}: {wrong}")));
    }
    assert!(all.is_empty(), "{}", all.join("\n"));
}

/// `score` needs planted decoders and minutes, so its output is a sample.
#[test]
fn a_score_is_as_the_schema_says() {
    let record = record::score(&["planted-a".to_owned(), "planted-b".to_owned()]);
    let schema = schema();
    let mut value = serde_json::to_value(record).unwrap();
    // A score has rows, no list of decoders; the sample has both.
    value.as_object_mut().unwrap().remove("decoders").unwrap();
    assert_eq!(wrong(&schema, &schema["$defs"]["score"], &value, ""), [""; 0]);
    assert_eq!(wrong(&schema, &schema, &value, ""), [""; 0]);
    value["score"]["comparisons"][0]["behind"][0]["more"] = json!(1);
    assert_eq!(wrong(&schema, &schema["$defs"]["score"], &value, "").len(), 1);
}

#[test]
fn what_differs_from_the_schema_is_noticed() {
    let schema = schema();
    let mut listed =
        json!({"schema": utfuzz::report::record::SCHEMA, "version": "0", "record": "list", "decoders": []});
    assert_eq!(wrong(&schema, &schema, &listed, ""), [""; 0]);
    listed["more"] = json!(1);
    assert!(wrong(&schema, &schema, &listed, "").contains(&"/more: not described".to_owned()));
    listed.as_object_mut().unwrap().remove("more");
    listed["schema"] = json!(1);
    assert!(!wrong(&schema, &schema, &listed, "").is_empty());
    listed.as_object_mut().unwrap().remove("schema");
    assert!(wrong(&schema, &schema, &listed, "").contains(&": lacks schema".to_owned()));
    assert!(!wrong(&schema, &schema["$defs"]["list"], &json!({"decoders": "x"}), "").is_empty());
}

/// Every key of a schema, outside `properties` and `$defs`, is one that [`wrong`] reads.
#[test]
fn the_schema_uses_no_other_keyword() {
    fn keywords(schema: &Value, found: &mut Vec<String>) {
        for (key, value) in schema.as_object().into_iter().flatten() {
            found.push(key.clone());
            match key.as_str() {
                "properties" | "$defs" => {
                    value.as_object().into_iter().flatten().for_each(|(_, schema)| keywords(schema, found));
                }
                "items" => keywords(value, found),
                _ => {}
            }
        }
    }
    let mut found = Vec::new();
    keywords(&schema(), &mut found);
    found.retain(|key| !KEYWORDS.contains(&key.as_str()));
    assert!(found.is_empty(), "{found:?}");
}
