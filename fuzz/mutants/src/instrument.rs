//! The sources with all mutants in them.

use crate::{Mutant, Position};
use std::ops::Range;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

/// A file with its mutants written into it.
pub struct Instrumented {
    pub text: String,
    /// Where the code of each mutant is, and its index.
    pub places: Vec<(Range<usize>, usize)>,
    /// Where mutants and the code they replace are, and the index of each.
    pub switches: Vec<(Range<usize>, usize)>,
}

/// Byte offsets of the lines of a text.
struct Lines<'a>(Vec<&'a str>, Vec<usize>);

impl<'a> Lines<'a> {
    fn of(text: &'a str) -> Self {
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let starts = lines.iter().scan(0, |at, line| Some(std::mem::replace(at, *at + line.len()))).collect();
        Self(lines, starts)
    }

    /// The offset of a line from 1 and a column from 0.
    fn offset(&self, line: usize, column: usize) -> usize {
        let Some(text) = self.0.get(line - 1) else { return self.1.last().copied().unwrap_or(0) };
        self.1[line - 1] + text.char_indices().nth(column).map_or(text.len(), |(at, _)| at)
    }

    fn at(&self, position: Position) -> usize {
        self.offset(position.line, position.column - 1)
    }

    fn range(&self, span: proc_macro2::Span) -> Range<usize> {
        self.offset(span.start().line, span.start().column)..self.offset(span.end().line, span.end().column)
    }
}

/// What a mutant can be put beside: an expression, or all that a body contains.
struct Finder<'a> {
    lines: &'a Lines<'a>,
    places: Vec<(Range<usize>, bool)>,
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_expr(&mut self, expr: &'ast syn::Expr) {
        use syn::Expr::{Binary, Match, Struct, Unary};
        // Conditions with `let` cannot be put into braces.
        if matches!(expr, Binary(_) | Match(_) | Struct(_) | Unary(_)) && !has_let(expr) {
            self.places.push((self.lines.range(expr.span()), false));
        }
        visit::visit_expr(self, expr);
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.body(&item.block);
        visit::visit_item_fn(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.body(&item.block);
        visit::visit_impl_item_fn(self, item);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        if let Some(block) = &item.default {
            self.body(block);
        }
        visit::visit_trait_item_fn(self, item);
    }
}

impl Finder<'_> {
    fn body(&mut self, block: &syn::Block) {
        let range = self.lines.range(block.span());
        self.places.push((range.start + 1..range.end - 1, true));
    }
}

fn has_let(expr: &syn::Expr) -> bool {
    match expr {
        syn::Expr::Let(_) => true,
        syn::Expr::Binary(binary) => has_let(&binary.left) || has_let(&binary.right),
        _ => false,
    }
}

/// Writes the mutants of these indices into the text of their file.
pub fn instrument(text: &str, mutants: &[Mutant], indices: &[usize]) -> Instrumented {
    let lines = Lines::of(text);
    let file = syn::parse_file(text).unwrap_or_else(|error| panic!("{}: {error}", mutants[indices[0]].file));
    let mut finder = Finder { lines: &lines, places: Vec::new() };
    finder.visit_file(&file);
    // What is put where: before and after each place, in the order in which the places are nested.
    let mut switches: Vec<(Range<usize>, bool, usize, String)> = Vec::new();
    for &index in indices {
        let mutant = &mutants[index];
        let span = lines.at(mutant.span.start)..lines.at(mutant.span.end);
        let holds = |place: &&(Range<usize>, bool)| {
            let (range, is_body) = place;
            let is_part = range.start <= span.start && span.end <= range.end;
            is_part && (*is_body || mutant.genre != "FnValue" && *range != span)
        };
        let (place, is_body) =
            finder.places.iter().filter(holds).min_by_key(|(range, _)| range.len()).unwrap_or_else(|| {
                panic!("{}: no function contains it", mutant.name);
            });
        let changed = format!("{}{}{}", &text[place.start..span.start], mutant.replacement, &text[span.end..place.end]);
        switches.push((place.clone(), *is_body, index, changed));
    }
    // The longest first, so that a shorter one is inside.
    switches.sort_by_key(|(place, ..)| (place.start, usize::MAX - place.len()));
    let mut edits: Vec<(usize, i64, String, Option<usize>)> = Vec::new();
    for (order, (place, is_body, index, changed)) in switches.iter().enumerate() {
        let order = order as i64 + 1;
        let (open, close) = if *is_body { ("", "") } else { ("(", ")") };
        edits.push((place.start, order, format!("{open}if crate::mutant::is_active({}) {{\n", index + 1), None));
        edits.push((place.start, order, changed.clone(), Some(*index)));
        edits.push((place.start, order, "\n} else {\n".to_owned(), None));
        edits.push((place.end, -order, format!("\n}}{close}"), None));
    }
    edits.sort_by_key(|&(at, order, ..)| (at, order));
    let (mut out, mut from, mut places) = (String::new(), 0, Vec::new());
    let mut starts = std::collections::BTreeMap::new();
    let mut ranges = Vec::new();
    for (at, order, inserted, index) in edits {
        out.push_str(&text[from..at]);
        from = at;
        if order > 0 {
            starts.entry(order).or_insert(out.len());
        }
        if let Some(index) = index {
            places.push((out.len()..out.len() + inserted.len(), index));
        }
        out.push_str(&inserted);
        if order < 0 {
            ranges.push((starts[&-order]..out.len(), switches[(-order - 1) as usize].2));
        }
    }
    out.push_str(&text[from..]);
    Instrumented { text: out, places, switches: ranges }
}

/// The module that is added to the crate. It is told by `MUTANT` which mutant is active; with `MUTANT=record` the process
/// appends the mutants it reaches to the file `REACHED`.
pub const SWITCH: &str = r##"
#[allow(unsafe_code, missing_docs, dead_code, unreachable_pub)]
#[doc(hidden)]
pub mod mutant {
    use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering::Relaxed};
    static ACTIVE: AtomicU32 = AtomicU32::new(0);
    /// A byte for each mutant, in a file that the test shares with the processes it starts, so that nothing is lost when one
    /// of them is killed.
    static REACHED: AtomicPtr<u8> = AtomicPtr::new(std::ptr::null_mut());
    #[inline(always)]
    pub const fn is_active(index: u32) -> bool {
        core::intrinsics::const_eval_select((index,), never, selected)
    }
    const fn never(_: u32) -> bool { false }
    #[inline(always)]
    fn selected(index: u32) -> bool {
        let active = ACTIVE.load(Relaxed);
        if active == u32::MAX {
            // SAFETY: the file has a byte for each mutant.
            unsafe { REACHED.load(Relaxed).add(index as usize - 1).write_volatile(1) }
        }
        active == index
    }
    unsafe extern "C" { fn mmap(at: *mut u8, len: usize, access: i32, flags: i32, file: i32, offset: i64) -> *mut u8; }
    extern "C" fn select() {
        match std::env::var("MUTANT").as_deref() {
            Ok("record") => {
                use std::os::fd::AsRawFd;
                let path = std::env::var("REACHED").unwrap();
                let file = std::fs::OpenOptions::new().read(true).write(true).create(true).open(path).unwrap();
                // Not again in a process for which a test limits the length of files.
                if file.metadata().unwrap().len() != COUNT as u64 {
                    file.set_len(COUNT as u64).unwrap();
                }
                // SAFETY: PROT_READ | PROT_WRITE and MAP_SHARED, of a file of this length.
                let bytes = unsafe { mmap(std::ptr::null_mut(), COUNT, 3, 1, file.as_raw_fd(), 0) };
                assert!(bytes as isize != -1, "the file cannot be mapped");
                REACHED.store(bytes, Relaxed);
                ACTIVE.store(u32::MAX, Relaxed);
            }
            Ok(index) => ACTIVE.store(index.parse().unwrap(), Relaxed),
            Err(_) => {}
        }
    }
    #[used]
    #[unsafe(link_section = ".init_array")]
    static INIT: extern "C" fn() = select;
"##;
