//! Data flows one way: a file imports only from lower layers, and there are no import cycles, neither between
//! directories nor between the files of one directory.
//!
//! The sources are read as tokens, so a path counts wherever it appears: in a `use`, in an expression, in the arguments
//! of a macro. A name that is re-exported counts for the file that defines it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::{fs, iter};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{ItemUse, UseTree};

/// The rules that the sources of a crate must follow.
struct Rules<'a> {
    /// The modules of `lib.rs`, from low to high.
    layers: &'a [&'a str],
    /// Directories or files, as module paths, with the only other places that they may import from.
    only: &'a [(&'a str, &'a [&'a str])],
    /// Two directories of which the first must not import from the second, whatever their layers.
    never: &'a [(&'a str, &'a str)],
    /// At most this many files, of any kind.
    files: usize,
    /// Imports between files that break a rule and are tolerated for now; `*` at the end of a name matches any rest. An
    /// entry that is no longer needed is an error.
    still: &'a [(&'a str, &'a str)],
}

/// The sources of each crate, the lowest first, and their rules. That no crate imports from a higher one, cargo sees to.
const CRATES: [(&str, Rules); 3] = [
    (
        "crates/codec/src",
        Rules {
            layers: &["utf8", "scalar", "kernel", "decode", "parallel"],
            only: &[],
            never: &[],
            files: 20,
            still: &[],
        },
    ),
    (
        "crates/core/src",
        Rules {
            layers: &[
                "text", "error", "io", "spec", "codec", "case", "generate", "decoder", "peers", "judge", "explain",
                "probe", "triage", "engine",
            ],
            // And of course from `utf8`.
            only: &[("spec", &[])],
            never: &[("judge", "peers"), ("explain", "peers")],
            files: 88,
            still: &[],
        },
    ),
    ("src", Rules { layers: &["bench", "report", "cli"], only: &[], never: &[], files: 33, still: &[] }),
];

fn top() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn sources_keep_the_layers() {
    let mut imports = 0;
    for (directory, rules) in &CRATES {
        let sources = Sources::read(&top().join(directory));
        println!("{directory}: {} files, {} imports between them", sources.files.len(), sources.arrows.len());
        for (from, to) in rules.still {
            println!("still tolerated: {from} -> {to}");
        }
        imports += sources.arrows.len();
        let broken = sources.violations(rules);
        assert!(broken.is_empty(), "{directory}:\n{}", broken.join("\n"));
    }
    assert!(imports > 400, "only {imports} imports were found");
}

#[test]
fn the_document_draws_these_layers() {
    let document = fs::read_to_string(top().join("docs/architecture.md")).unwrap();
    let drawing = document.split("```text layers\n").nth(1).unwrap().split("```").next().unwrap();
    let drawn: Vec<&str> = drawing.lines().filter_map(|line| line.strip_prefix(' ')?.split(' ').next()).collect();
    let layers: Vec<&str> = CRATES.iter().flat_map(|(_, rules)| rules.layers).copied().collect();
    assert_eq!(drawn.into_iter().rev().collect::<Vec<_>>(), layers);
}

/// The violations, as text, in a tree of these files, with the layers `low`, `middle` and `high`.
fn planted(files: &[(&str, &str)], still: &[(&str, &str)]) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let sound = [
        ("lib.rs", "pub mod low;\npub mod middle;\npub mod high;\npub use high::{High, thing};\n"),
        ("main.rs", "fn main() { utfuzz::high::thing(); }"),
        ("low/mod.rs", "mod left;\nmod right;\npub use left::Left;\n"),
        ("low/left.rs", "pub struct Left;\nimpl Left { pub fn new() -> Self { Self } }\n"),
        ("low/right.rs", "use super::Left;\npub fn right(_: Left) {}\n"),
        (
            "middle.rs",
            "use crate::low::Left;\nfn middle(_: Left) {}\n#[cfg(test)]\nmod tests { use crate::high::High; }\n",
        ),
        ("high/mod.rs", "mod one;\npub struct High;\npub fn thing() { println!(\"{:?}\", crate::middle::middle()) }\n"),
        ("high/one.rs", "//! Named in a comment only: crate::high::High, [`super::High`].\nfn one() {}\n"),
    ];
    for (name, text) in sound.iter().filter(|(name, _)| !files.iter().any(|(other, _)| other == name)).chain(files) {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    Sources::read(directory.path()).violations(&Rules {
        layers: &["low", "middle", "high"],
        only: &[("low::right", &["low::left"])],
        never: &[("high", "low")],
        files: sound.len(),
        still,
    })
}

#[test]
fn every_kind_of_violation_is_found() {
    assert_eq!(planted(&[], &[]), [""; 0]);
    let upward = "upward: middle.rs -> high/mod.rs: ";
    let two = "cycle in src/low: left right";
    let mut missed = Vec::new();
    for (file, text, expected) in [
        ("middle.rs", "use crate::high::High;", upward),
        ("middle.rs", "use super::high::High;", upward),
        ("middle.rs", "use crate::{high::High as Other, low};", upward),
        ("middle.rs", "use crate::high as other;\nfn f() { other::thing() }", upward),
        ("middle.rs", "fn f() -> crate::high::High { loop {} }", upward),
        ("middle.rs", "fn f() { assert!(vec![super::high::thing()].is_empty()) }", upward),
        ("middle.rs", "macro_rules! f { () => { $crate::high::thing() } }", upward),
        ("middle.rs", "mod inner { fn f() { super::super::high::thing() } }", upward),
        // By the name that `lib.rs` re-exports.
        ("middle.rs", "use crate::High;", upward),
        ("middle.rs", "use crate::*;\nfn f() { crate::thing() }", upward),
        // Only test modules are exempt, and the rest of the file is not.
        ("middle.rs", "#[cfg(test)]\nfn f() { crate::high::thing() }", upward),
        ("middle.rs", "#[cfg(test)]\nmod tests { fn f() {} }\nfn f() { crate::high::thing() }", upward),
        ("middle.rs", "#[cfg(test)]\nconst A: u8 = 0;\nmod f { fn f() { crate::high::thing() } }", upward),
        ("middle.rs", "pub use crate::high::High;", upward),
        ("low/left.rs", "pub struct Left;\npub use super::right::Right;", two),
        ("low/left.rs", "pub struct Left(crate::low::right::Right);", two),
        ("low/left.rs", "use super::*;\npub struct Left(right::Right);", two),
        ("low/left.rs", "use super::right;\npub struct Left(right::Right);", two),
        (
            "high/one.rs",
            "use super::High;\npub fn one() { crate::low::left::Left::new(); }",
            "high must not import low: ",
        ),
        ("low/right.rs", "use crate::low::other;", "low::right may import only low::left: low/right.rs -> low/mod.rs"),
        ("low/other.rs", "", "9 files, and only 8 are allowed"),
        ("low/other.html", "", "9 files, and only 8 are allowed"),
        ("main.rs", "mod low;\nmod other { fn f() { crate::low::f() } }\nfn f( {}", "main.rs: "),
        ("other.rs", "", "other is not in the list of layers"),
        ("lib.rs", "pub mod low;\npub mod high;\npub mod middle;", "lib.rs declares low high middle"),
    ] {
        let broken = planted(&[(file, text)], &[]);
        if !broken.iter().any(|line| line.contains(expected)) {
            missed.push(format!("{file}: {text:?}: {broken:?}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
    // A parent and its child, and a cycle of three directories.
    let parent = [
        ("high/mod.rs", "mod one;\npub struct High;\npub fn thing() { one::one() }"),
        ("high/one.rs", "use super::High;"),
    ];
    assert!(planted(&parent, &[])[0].starts_with("cycle in src/high: mod.rs one\n"), "{:?}", planted(&parent, &[]));
    assert_eq!(planted(&parent, &[("high/one.rs", "high/mod.rs")]), [""; 0]);
    assert_eq!(planted(&parent, &[("high/*", "high/mod.rs")]), [""; 0]);
    let ring = [
        ("high/one.rs", "pub mod a;\npub mod b;\npub mod c;"),
        ("high/one/a/mod.rs", "pub mod in_a;"),
        ("high/one/a/in_a.rs", "use super::super::b::B;"),
        ("high/one/b.rs", "pub struct B;\nuse crate::high::one::c::C;"),
        ("high/one/c.rs", "pub struct C;\nuse super::a::in_a::A;"),
    ];
    assert!(planted(&ring, &[]).iter().any(|line| line.starts_with("cycle in src/high/one: a b c\n")));
    // An entry that is not needed.
    let idle = planted(&[], &[("high/mod.rs", "middle.rs")]);
    assert_eq!(idle, ["high/mod.rs -> middle.rs no longer breaks a rule: remove it from the list"]);
}

/// One `mod`, in a file of its own or within one.
#[derive(Default)]
struct Module {
    /// Index into [`Sources::files`].
    file: usize,
    /// What `use` binds: the name, and the path it stands for.
    names: BTreeMap<String, Vec<String>>,
    /// Paths of `use ...::*`.
    globs: Vec<Vec<String>>,
    /// What is defined here.
    items: BTreeSet<String>,
    /// The modules with files of their own that this one declares, in order.
    children: Vec<String>,
    /// Paths that code uses. The flag marks those of a `pub use`, which count unless they lead below this module.
    used: Vec<(Vec<String>, bool)>,
}

struct File {
    /// Relative to `src/`, with `/`.
    name: String,
    module: Vec<String>,
}

#[derive(Default)]
struct Sources {
    files: Vec<File>,
    modules: BTreeMap<Vec<String>, Module>,
    /// The module of each macro.
    macros: BTreeMap<Vec<String>, Vec<String>>,
    /// Imports from file to file, each with one path that causes it.
    arrows: BTreeMap<(usize, usize), String>,
    /// What could not be read.
    errors: Vec<String>,
    /// How many files there are, of any kind.
    count: usize,
}

impl Sources {
    fn read(directory: &Path) -> Self {
        let files = files_under(directory);
        let mut sources = Self { count: files.len(), ..Self::default() };
        let mut tests = BTreeSet::new();
        for path in files.into_iter().filter(|path| path.extension().is_some_and(|extension| extension == "rs")) {
            let name = path.strip_prefix(directory).unwrap().to_str().unwrap().replace('\\', "/");
            let stem = name.trim_end_matches(".rs").trim_end_matches("/mod");
            // `main.rs` and a build script are separate crates, above the library.
            let module: Vec<String> = if stem == "lib" { vec![] } else { stem.split('/').map(str::to_owned).collect() };
            let file = sources.files.len();
            sources.files.push(File { name, module: module.clone() });
            sources.modules.entry(module.clone()).or_default().file = file;
            match fs::read_to_string(&path).unwrap().parse::<TokenStream>() {
                Ok(tokens) => sources.collect(tokens, &module, &mut tests),
                Err(error) => sources.errors.push(format!("{}: {error}", path.display())),
            }
        }
        // `#[cfg(test)] mod name;`
        sources.modules.retain(|module, _| !tests.iter().any(|test| module.starts_with(test)));
        sources.files.iter_mut().filter(|file| !sources.modules.contains_key(&file.module)).for_each(|file| {
            file.name.insert_str(0, "test: ");
        });
        for (module, content) in &sources.modules {
            for (path, facade) in &content.used {
                let Some(target) = sources.resolve(module, path, 0) else { continue };
                let file = sources.modules[&target].file;
                if file != content.file && !(*facade && target.starts_with(module)) {
                    sources.arrows.entry((content.file, file)).or_insert_with(|| path.join("::"));
                }
            }
        }
        sources
    }

    /// Reads the contents of `module` and of the modules within it; adds the names of test modules to `tests`.
    fn collect(&mut self, tokens: TokenStream, module: &[String], tests: &mut BTreeSet<Vec<String>>) {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let word = |at: usize| match tokens.get(at) {
            Some(TokenTree::Ident(ident)) => ident.to_string(),
            Some(TokenTree::Punct(punct)) => punct.as_char().to_string(),
            _ => String::new(),
        };
        let is_path = |at: usize| word(at) == ":" && word(at + 1) == ":";
        let child = |name: String| module.iter().cloned().chain(iter::once(name)).collect::<Vec<_>>();
        let mut at = 0;
        // Whether an attribute before the next item is `cfg(test)`.
        let mut for_tests = false;
        while at < tokens.len() {
            let this = word(at);
            match &tokens[at] {
                TokenTree::Punct(_) if this == "#" => {
                    if let Some(TokenTree::Group(group)) = tokens.get(at + 1) {
                        for_tests |= group.stream().to_string().replace(' ', "") == "cfg(test)";
                    }
                    at += 1;
                    continue;
                }
                TokenTree::Ident(_) if this == "mod" => {
                    let inner = child(word(at + 1));
                    match tokens.get(at + 2) {
                        Some(_) if for_tests => {
                            tests.insert(inner);
                            at += 2;
                        }
                        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                            let file = self.modules[module].file;
                            self.modules.entry(inner.clone()).or_default().file = file;
                            self.collect(group.stream(), &inner, tests);
                            at += 2;
                        }
                        _ => self.modules.get_mut(module).unwrap().children.push(word(at + 1)),
                    }
                }
                TokenTree::Ident(_) if this == "use" => {
                    let end = (at..tokens.len()).find(|end| word(*end) == ";").unwrap_or(at);
                    let text: TokenStream = tokens[at..=end].iter().cloned().collect();
                    if let Ok(item) = syn::parse2::<ItemUse>(text) {
                        let facade = at > 0 && (word(at - 1) == "pub" || at > 1 && word(at - 2) == "pub");
                        let content = self.modules.get_mut(module).unwrap();
                        flatten(&item.tree, &mut vec![], &mut |path, name| {
                            content.used.push((path.clone(), facade));
                            match name {
                                Some(name) => drop(content.names.insert(name, path)),
                                None => content.globs.push(path),
                            }
                        });
                        at = end;
                    }
                }
                TokenTree::Ident(_) if is_path(at + 1) && !(at > 1 && is_path(at - 2)) => {
                    let mut path = vec![this];
                    while is_path(at + 1) && matches!(tokens.get(at + 3), Some(TokenTree::Ident(_))) {
                        path.push(word(at + 3));
                        at += 3;
                    }
                    // A macro that is exported is at the root, wherever it is defined.
                    let defined = self.macros.get(&path[1..]).filter(|_| path[0] == "crate" && word(at + 1) == "!");
                    if let Some(defined) = defined {
                        path.splice(1.., defined.iter().cloned());
                    }
                    self.modules.get_mut(module).unwrap().used.push((path, false));
                }
                TokenTree::Ident(_) => {
                    const ITEMS: [&str; 8] = ["fn", "struct", "enum", "union", "trait", "type", "const", "static"];
                    let name = match this.as_str() {
                        "macro_rules" => word(at + 2),
                        item if ITEMS.contains(&item) => word(at + 1),
                        _ => String::new(),
                    };
                    if this == "macro_rules" {
                        self.macros.insert(vec![name.clone()], module.to_vec());
                    }
                    self.modules.get_mut(module).unwrap().items.insert(name);
                }
                TokenTree::Group(group) => {
                    self.collect(group.stream(), module, tests);
                    // An attribute belongs to the item after it.
                    if group.delimiter() == Delimiter::Bracket && at > 0 && word(at - 1) == "#" {
                        at += 1;
                        continue;
                    }
                }
                _ => {}
            }
            for_tests &= ["pub", "#"].contains(&word(at).as_str());
            at += 1;
        }
    }

    /// The module that defines what `path` names, as seen from `module`; none for a path to another crate.
    fn resolve(&self, module: &[String], path: &[String], depth: usize) -> Option<Vec<String>> {
        let (first, rest) = path.split_first()?;
        let mut here = match first.as_str() {
            "crate" | "utfuzz" => vec![],
            "self" => module.to_vec(),
            "super" => module.split_last()?.1.to_vec(),
            name => self.step(module, name, depth)?,
        };
        for name in rest {
            match name.as_str() {
                "super" => drop(here.pop()),
                "self" => {}
                name => match self.step(&here, name, depth) {
                    Some(next) => here = next,
                    None if self.leads_outside(&here, name, depth) => return None,
                    // An item of this module, or a part of one.
                    None => break,
                },
            }
        }
        self.modules.contains_key(&here).then_some(here)
    }

    /// Whether a `use` in `module`, of this name or of everything, binds `name` to something in another crate.
    fn leads_outside(&self, module: &[String], name: &str, depth: usize) -> bool {
        let Some(content) = self.modules.get(module).filter(|content| !content.items.contains(name)) else {
            return false;
        };
        let is_outside = |path: &Vec<String>| path[..] != [name] && self.resolve(module, path, depth + 1).is_none();
        content.names.get(name).map_or_else(|| content.globs.iter().any(is_outside), is_outside)
    }

    /// The module that `name` leads to from `module`: below it, or by a `use`.
    fn step(&self, module: &[String], name: &str, depth: usize) -> Option<Vec<String>> {
        if depth > 8 {
            return None;
        }
        let child: Vec<String> = module.iter().cloned().chain(iter::once(name.to_owned())).collect();
        if self.modules.contains_key(&child) {
            return Some(child);
        }
        let content = self.modules.get(module)?;
        if let Some(path) = content.names.get(name).filter(|path| path[..] != [name]) {
            return self.resolve(module, path, depth + 1);
        }
        if content.items.contains(name) {
            return None;
        }
        content.globs.iter().find_map(|glob| {
            let there = self.resolve(module, glob, depth + 1)?;
            if there == module {
                return None;
            }
            let known = self.modules[&there].items.contains(name).then(|| there.clone());
            known.or_else(|| self.step(&there, name, depth + 1))
        })
    }

    /// Every violation of the rules, as text.
    fn violations(&self, rules: &Rules) -> Vec<String> {
        let mut broken = self.errors.clone();
        if self.count > rules.files {
            broken.push(format!("{} files, and only {} are allowed", self.count, rules.files));
        }
        let lib = self.modules.get(&[][..]).map_or(&[][..], |lib| &lib.children);
        if lib != rules.layers {
            broken.push(format!("lib.rs declares {}; the layers are {}", lib.join(" "), rules.layers.join(" ")));
        }
        let declared: BTreeSet<&str> =
            self.files.iter().filter_map(|file| file.module.first()).map(|s| &s[..]).collect();
        for module in declared.iter().filter(|module| !OTHERS.contains(module) && !rules.layers.contains(module)) {
            broken.push(format!("{module} is not in the list of layers"));
        }
        let excused_by = |(from, to): &(&str, &str), arrow: &(usize, usize)| {
            let is = |pattern: &str, file: usize| {
                let name = &self.files[file].name;
                pattern.strip_suffix('*').map_or(name == pattern, |start| name.starts_with(start))
            };
            is(from, arrow.0) && is(to, arrow.1)
        };
        let (excused, kept): (BTreeSet<_>, BTreeSet<_>) =
            self.arrows.keys().partition(|arrow| rules.still.iter().any(|entry| excused_by(entry, arrow)));
        for entry in rules.still {
            let with_it = kept.iter().chain(excused.iter().filter(|arrow| excused_by(entry, arrow))).copied().collect();
            if self.breaches(rules, &with_it).len() <= self.breaches(rules, &kept).len() {
                broken.push(format!("{} -> {} no longer breaks a rule: remove it from the list", entry.0, entry.1));
            }
        }
        broken.extend(self.breaches(rules, &kept));
        broken
    }

    /// The rules that `arrows` break.
    fn breaches(&self, rules: &Rules, arrows: &BTreeSet<(usize, usize)>) -> Vec<String> {
        let mut broken = Vec::new();
        // For each directory, the imports between its files and subdirectories.
        let mut folders: BTreeMap<&[String], BTreeMap<(String, String), String>> = BTreeMap::new();
        for &(from, to) in arrows {
            let words = format!("{} -> {}: {}", self.files[from].name, self.files[to].name, self.arrows[&(from, to)]);
            let (from, to) = (&self.files[from].module, &self.files[to].module);
            let below = |module: &[String], place: &str| {
                module.len() >= place.split("::").count() && place.split("::").zip(module).all(|(a, b)| a == b)
            };
            let floor = |module: &[String]| {
                // What is not in the list is above all layers.
                module.first().and_then(|name| rules.layers.iter().position(|layer| layer == name)).unwrap_or(99)
            };
            if floor(from) < floor(to) {
                broken.push(format!("upward: {words}"));
            }
            for (place, allowed) in rules.only {
                if below(from, place) && !below(to, place) && !allowed.iter().any(|place| below(to, place)) {
                    broken.push(format!("{place} may import only {}: {words}", allowed.join(" and ")));
                }
            }
            for (low, high) in rules.never {
                if below(from, low) && below(to, high) {
                    broken.push(format!("{low} must not import {high}: {words}"));
                }
            }
            let common = from.iter().zip(to).take_while(|(a, b)| a == b).count();
            let node = |module: &[String]| module.get(common).cloned().unwrap_or("mod.rs".into());
            folders.entry(&from[..common]).or_default().entry((node(from), node(to))).or_insert(words);
        }
        for (folder, arrows) in folders {
            for cycle in cycles(arrows.keys()) {
                let within = |(from, to): &(String, String)| cycle.contains(from) && cycle.contains(to);
                let arrows: Vec<&str> =
                    arrows.iter().filter(|(arrow, _)| within(arrow)).map(|(_, words)| words.as_str()).collect();
                let nodes: Vec<&str> = cycle.iter().map(String::as_str).collect();
                let folder = iter::once("src").chain(folder.iter().map(String::as_str)).collect::<Vec<_>>().join("/");
                broken.push(format!("cycle in {folder}: {}\n    {}", nodes.join(" "), arrows.join("\n    ")));
            }
        }
        broken
    }
}

/// Files of `src/` that are crates of their own.
const OTHERS: [&str; 2] = ["main", "build"];

/// Every file below `directory`, sorted by name.
fn files_under(directory: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let below = entries.into_iter().flat_map(|path| if path.is_dir() { files_under(&path) } else { vec![path] });
    below.collect()
}

/// Calls `each` with every path of a `use` and the name it binds; without a name for `*`.
fn flatten(tree: &UseTree, before: &mut Vec<String>, each: &mut impl FnMut(Vec<String>, Option<String>)) {
    let path = |name: &syn::Ident| {
        let mut path = before.clone();
        if *name != "self" || path.is_empty() {
            path.push(name.to_string());
        }
        path
    };
    match tree {
        UseTree::Path(part) => {
            before.push(part.ident.to_string());
            flatten(&part.tree, before, each);
            before.pop();
        }
        UseTree::Name(name) => {
            let path = path(&name.ident);
            let bound = path.last().cloned();
            each(path, bound);
        }
        UseTree::Rename(name) => each(path(&name.ident), Some(name.rename.to_string())),
        UseTree::Glob(_) => each(before.clone(), None),
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, before, each)),
    }
}

/// The sets of at least two nodes that all reach each other.
fn cycles<'a>(arrows: impl Iterator<Item = &'a (String, String)> + Clone) -> BTreeSet<BTreeSet<String>> {
    let reached = |start: &String| {
        let mut reached = BTreeSet::new();
        let mut next = vec![start.clone()];
        while let Some(node) = next.pop() {
            for (_, to) in arrows.clone().filter(|(from, _)| *from == node) {
                if reached.insert(to.clone()) {
                    next.push(to.clone());
                }
            }
        }
        reached
    };
    let all: BTreeMap<&String, BTreeSet<String>> = arrows.clone().map(|(from, _)| (from, reached(from))).collect();
    let cycle = |node: &String| {
        let mutual = all[node].iter().filter(|other| all.get(other).is_some_and(|back| back.contains(node)));
        mutual.cloned().collect::<BTreeSet<String>>()
    };
    all.keys().map(|node| cycle(node)).filter(|cycle| cycle.len() > 1).collect()
}
