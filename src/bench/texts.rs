//! The texts that are measured, and how they change from pass to pass.

use super::subjects::{Input, Operation};
use crate::case::Rng;
use crate::case::input::files_below;
use crate::error::Error;
use crate::spec;
use crate::spec::Contract;
use crate::text::matches_glob;
use std::borrow::Cow;
use std::hint::black_box;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What to measure.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The texts, each with its operations.
    pub texts: Vec<Text>,
    /// The number of samples of each subject on each text.
    pub rounds: usize,
    /// The approximate duration of a sample.
    pub sample: Duration,
    /// Which subjects: names, in which `*` matches any characters; all subjects if empty.
    pub subjects: Vec<String>,
}

/// A text.
#[derive(Clone, Debug)]
pub struct Text {
    /// Its name.
    pub name: String,
    /// At least one; a pass reads any of them.
    versions: Vec<Vec<u8>>,
    /// The mean distance between two errors, if it is a corrupted text.
    one_in: Option<usize>,
    /// The operations on it.
    pub operations: Vec<Operation>,
}

impl Text {
    /// A text that is the same in every pass.
    pub(super) fn new(name: String, bytes: Vec<u8>, operations: &[Operation]) -> Self {
        Self { name, versions: vec![bytes], one_in: None, operations: operations.to_vec() }
    }

    /// A text that changes from pass to pass if its length is in `LENGTHS`; `version(n)` makes version `n`.
    fn of_versions(name: String, len: usize, operations: &[Operation], version: impl Fn(u64) -> Vec<u8>) -> Self {
        /// So many that no processor remembers the branches of all.
        const VERSIONS: u64 = 8;
        /// Reading the clock takes long in comparison with a pass over a shorter text. A longer one has too many branches to
        /// be remembered, and copying it would leave other data in the caches.
        const LENGTHS: RangeInclusive<usize> = 1 << 14..=1 << 17;
        let versions = if LENGTHS.contains(&len) { VERSIONS } else { 1 };
        Self { versions: (0..versions).map(version).collect(), ..Self::new(name, Vec::new(), operations) }
    }

    /// The first version, with errors if it is a corrupted text.
    pub fn bytes(&self) -> Cow<'_, [u8]> {
        let first = self.versions.first().map_or(&[][..], |first| first);
        let Some(one_in) = self.one_in else { return Cow::Borrowed(first) };
        let mut corrupted = first.to_vec();
        scatter(&mut corrupted, one_in, &mut Rng::new(one_in as u64));
        Cow::Owned(corrupted)
    }

    /// What it changes to from pass to pass, without errors; nothing, if it stays the same.
    fn changed(&self) -> std::slice::Iter<'_, Vec<u8>> {
        let changes = self.versions.len() > 1 || self.one_in.is_some();
        if changes { self.versions.iter() } else { [].iter() }
    }
}

/// A text in the form that an operation reads. It can change from pass to pass.
#[derive(Debug, Default)]
pub struct Source {
    bytes: Form<u8>,
    utf16: Form<u16>,
    utf32: Form<u32>,
    /// The mean distance between two errors in the bytes, if it is a corrupted text.
    one_in: Option<usize>,
    /// Whether the operation is [`Operation::Count`].
    counts: bool,
}

impl Source {
    /// The first version of this text, for this operation.
    pub fn new(text: &Text, operation: Operation) -> Self {
        let counts = operation == Operation::Count;
        let mut source = Self { one_in: text.one_in, counts, ..Self::default() };
        let utf16 = |bytes: &[u8]| {
            let mut units = Vec::new();
            spec::utf16(&Contract::STANDARD, bytes, &mut units);
            units
        };
        let utf32 = |bytes: &[u8]| spec::code_points(&Contract::STANDARD, bytes).collect::<Vec<_>>();
        let first = text.bytes();
        match operation {
            Operation::FromUtf16 => source.utf16 = Form::new(&utf16(&first), text.changed().map(|bytes| utf16(bytes))),
            Operation::FromUtf32 => source.utf32 = Form::new(&utf32(&first), text.changed().map(|bytes| utf32(bytes))),
            Operation::Utf16 => {
                source.bytes = Form::new(&first, text.changed().cloned());
                source.utf16 = Form::new(&utf16(&first), std::iter::empty());
            }
            _ => source.bytes = Form::new(&first, text.changed().cloned()),
        }
        source
    }

    /// Moves the text to the place for this round.
    pub fn place(&mut self, round: usize) {
        self.bytes.current.place(round);
        self.utf16.current.place(round);
        self.utf32.current.place(round);
    }

    /// Whether [`Source::change`] changes anything.
    pub(super) fn changes(&self) -> bool {
        !(self.bytes.versions.is_empty() && self.utf16.versions.is_empty() && self.utf32.versions.is_empty())
    }

    /// Any version of the text, with errors at other places.
    pub(super) fn change(&mut self, rng: &mut Rng) {
        self.bytes.change(rng);
        self.utf16.change(rng);
        self.utf32.change(rng);
        if let Some(one_in) = self.one_in {
            scatter(&mut self.bytes.current, one_in, rng);
        }
    }

    /// What an operation reads now.
    pub fn input(&self) -> Input<'_> {
        Input {
            bytes: &self.bytes.current,
            text: if self.counts { std::str::from_utf8(&self.bytes.current).ok() } else { None },
            utf16: &self.utf16.current,
            utf32: &self.utf32.current,
        }
    }
}

/// A text in one encoding.
#[derive(Debug, Default)]
struct Form<T> {
    current: Placed<T>,
    /// What it can change to; nothing, if it always stays the same.
    versions: Vec<Vec<T>>,
}

impl<T: Copy + Default> Form<T> {
    fn new(first: &[T], versions: impl Iterator<Item = Vec<T>>) -> Self {
        let versions: Vec<_> = versions.collect();
        let longest = versions.iter().map(Vec::len).fold(first.len(), usize::max);
        Self { current: Placed::new(first, longest), versions }
    }

    fn change(&mut self, rng: &mut Rng) {
        if let Some(version) = self.versions.get(rng.below(self.versions.len())) {
            self.current.set(version);
            // Copying alone does not bring all of it into the caches.
            for line in self.current.chunks(LINE / size_of::<T>()) {
                black_box(line[0]);
            }
        }
    }
}

/// An input, at a different place in its memory page in each round. If a load is at the same place
/// in its page as data that is still being stored, a processor may take it for a load of that data, and wait (4 KiB
/// aliasing); so the time depends on where input and output happen to be.
#[derive(Debug, Default)]
struct Placed<T> {
    all: Vec<T>,
    start: usize,
    len: usize,
}

impl<T: Copy + Default> Placed<T> {
    /// Has room for `longest` items.
    fn new(input: &[T], longest: usize) -> Self {
        let mut all = input.to_vec();
        all.resize(longest + PAGE, T::default());
        Self { all, start: 0, len: input.len() }
    }

    /// Puts another input at the same place.
    fn set(&mut self, input: &[T]) {
        self.len = input.len();
        self.copy_from_slice(input);
    }

    /// Moves the input to the place for this round.
    fn place(&mut self, round: usize) {
        if let Some(start) = start_in_page(round, self.len * size_of::<T>()) {
            let start = start / size_of::<T>();
            self.all.copy_within(self.start..self.start + self.len, start);
            self.start = start;
        }
    }
}

impl<T> core::ops::Deref for Placed<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.all[self.start..self.start + self.len]
    }
}

impl<T> core::ops::DerefMut for Placed<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.all[self.start..self.start + self.len]
    }
}

/// Bytes in a memory page, and in a cache line.
const PAGE: usize = 4096;
const LINE: usize = 64;

/// Where an input of `len` bytes begins in its page in this round. `None`: it stays where it is, because it is empty, or so long that
/// moving it would drive it out of the caches.
fn start_in_page(round: usize, len: usize) -> Option<usize> {
    const LARGEST: usize = 1 << 20;
    /// In units of sixteen bytes, it has no divisor in common with the number of such places in a page.
    const STRIDE: usize = 16 * 37;
    (1..=LARGEST).contains(&len).then_some(round * STRIDE % PAGE)
}

/// Replaces one byte in `one_in` by a random one.
fn scatter(text: &mut [u8], one_in: usize, rng: &mut Rng) {
    // Each byte is replaced with the same probability. So the number of bytes that are left out before one that is has the
    // geometric distribution, which is drawn by the inverse of its distribution function.
    let log_kept = (-1.0 / one_in as f64).ln_1p();
    let mut at = 0;
    loop {
        let uniform = (f64::from(rng.next_u32()) + 0.5) / 4_294_967_296.0;
        at += (uniform.ln() / log_kept) as usize;
        let Some(byte) = text.get_mut(at) else { break };
        *byte = rng.next_u32() as u8;
        at += 1;
    }
}

/// The length of most texts in bytes: larger than a first-level cache.
const LEN: usize = 80_000;

impl Plan {
    /// Text in every script, whole, corrupted and truncated; random bytes and Latin-1; every length up to 128; large
    /// texts. Only the texts whose names contain `part` are generated.
    pub fn built_in(quick: bool, part: &str) -> Self {
        // These texts are UTF-8, not Latin-1.
        let all: Vec<_> = Operation::ALL.into_iter().filter(|one| *one != Operation::FromLatin1).collect();
        let from_ill_formed = [Operation::Lossy, Operation::Utf16, Operation::FromLatin1];
        let is_selected = |name: &String| name.contains(part);
        let one = |name: String, operations: &[Operation], bytes: &dyn Fn() -> Vec<u8>| {
            is_selected(&name).then(|| Text::new(name, bytes(), operations))
        };
        let many = |name: String, len: usize, operations: &[Operation], version: &dyn Fn(usize, u64) -> Vec<u8>| {
            is_selected(&name).then(|| Text::of_versions(name, len, operations, |seed| version(len, seed)))
        };
        // Any ASCII takes the same branches.
        let in_script = |name: String, len: usize, operations: &[Operation], script: &Script| match script.name {
            "ascii" => one(name, operations, &|| script.text(len, 0)),
            _ => many(name, len, operations, &|len, seed| script.text(len, seed)),
        };
        let mut texts = Vec::new();
        for script in &SCRIPTS {
            texts.extend(in_script(script.name.to_owned(), LEN, &all, script));
        }
        texts.extend(many("page".to_owned(), LEN, &all, &page));
        for (percent, one_in) in [("0.1", 1000), ("1", 100), ("10", 10)] {
            for script in &SCRIPTS {
                let name = format!("{}, {percent} % corrupted", script.name);
                let text = in_script(name, LEN, &[Operation::Lossy, Operation::Utf16], script);
                texts.extend(text.map(|text| Text { one_in: Some(one_in), ..text }));
            }
        }
        texts.extend(many("random bytes".to_owned(), LEN, &from_ill_formed, &random));
        texts.extend(many("latin-1".to_owned(), LEN, &from_ill_formed, &latin_1));
        texts.extend(many("chinese, cut off".to_owned(), LEN, &all, &|len, seed| {
            [&SCRIPTS[8].text(len, seed)[..], b"\xE4\xBD"].concat()
        }));
        let sizes: &[usize] = if quick { &[1 << 10, 1 << 20] } else { &[1 << 10, 1 << 16, 1 << 20, 1 << 24, 1 << 28] };
        for &size in sizes {
            for script in [&SCRIPTS[0], &SCRIPTS[8]] {
                let name = format!("{}, {}", script.name, words(size));
                texts.extend(in_script(name, size, &[Operation::Validate], script));
            }
        }
        let step = if quick { 8 } else { 1 };
        for len in (0..=128).step_by(step) {
            texts.extend(one(format!("ascii, {len}"), &[Operation::Validate], &|| vec![b'a'; len]));
            texts.extend(one(format!("mixed, {len}"), &[Operation::Validate], &|| mixed(len)));
        }
        Self::of_texts(texts, quick)
    }

    fn of_texts(texts: Vec<Text>, quick: bool) -> Self {
        let (rounds, sample) = if quick { (5, Duration::from_micros(300)) } else { (15, Duration::from_millis(1)) };
        Self { texts, rounds, sample, subjects: Vec::new() }
    }

    /// These files, and those below these directories, with every operation.
    ///
    /// # Errors
    /// A file cannot be read, or the directories contain none.
    pub fn of_files(paths: &[PathBuf], quick: bool) -> Result<Self, Error> {
        let mut files = Vec::new();
        for path in paths {
            match path.is_dir() {
                true => files.extend(files_below(path)?),
                false => files.push(path.clone()),
            }
        }
        if files.is_empty() {
            return Err(Error::usage("the named directories contain no files; nothing was measured"));
        }
        let read = |path: &Path| std::fs::read(path).map_err(|error| Error::io(path, &error));
        let text = |path: &PathBuf| Ok(Text::new(path.to_string_lossy().into_owned(), read(path)?, &Operation::ALL));
        Ok(Self::of_texts(files.iter().map(text).collect::<Result<_, Error>>()?, quick))
    }

    /// Whether a subject of this name takes part.
    pub fn selects(&self, name: &str) -> bool {
        self.subjects.is_empty() || self.subjects.iter().any(|glob| matches_glob(glob, name))
    }
}

/// Short text with characters of all widths, of exactly this length in bytes.
fn mixed(len: usize) -> Vec<u8> {
    let mut text = "aé€ b😀ñ ж".repeat(1 + len / 8);
    let end = (0..=len.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0);
    text.truncate(end);
    text.extend(std::iter::repeat_n('a', len - end));
    text.into_bytes()
}

fn words(size: usize) -> String {
    match size {
        ..1_048_576 => format!("{} KiB", size >> 10),
        _ => format!("{} MiB", size >> 20),
    }
}

/// A script: the code points of its letters, and the length of its words.
#[derive(Clone, Copy, Debug)]
pub struct Script {
    /// The name in reports.
    pub name: &'static str,
    /// Ranges of code points, first and last, all equally likely.
    letters: &'static [(u32, u32)],
    /// The maximum number of letters between two spaces.
    longest_word: usize,
}

const ASCII: (u32, u32) = (0x61, 0x7A);

/// Scripts with one to four bytes for each letter.
pub const SCRIPTS: [Script; 12] = [
    Script { name: "ascii", letters: &[ASCII], longest_word: 9 },
    // One letter in eight has an accent.
    Script {
        name: "latin",
        letters: &[ASCII, ASCII, ASCII, ASCII, ASCII, ASCII, ASCII, (0xE0, 0xF6)],
        longest_word: 9,
    },
    Script { name: "greek", letters: &[(0x3B1, 0x3C9)], longest_word: 9 },
    Script { name: "cyrillic", letters: &[(0x430, 0x44F)], longest_word: 9 },
    Script { name: "hebrew", letters: &[(0x5D0, 0x5EA)], longest_word: 7 },
    Script { name: "arabic", letters: &[(0x627, 0x64A)], longest_word: 7 },
    Script { name: "hindi", letters: &[(0x904, 0x939)], longest_word: 7 },
    Script { name: "thai", letters: &[(0xE01, 0xE2E)], longest_word: 20 },
    Script { name: "chinese", letters: &[(0x4E00, 0x9FA5)], longest_word: 20 },
    Script { name: "japanese", letters: &[(0x3041, 0x3093), (0x30A1, 0x30F6), (0x4E00, 0x9FA5)], longest_word: 20 },
    Script { name: "korean", letters: &[(0xAC00, 0xD7A3)], longest_word: 6 },
    Script { name: "emoji", letters: &[(0x1_F300, 0x1_F5FF)], longest_word: 20 },
];

impl Script {
    /// Text of at most `len` bytes, and at least `len - 3`; another one for each seed.
    pub fn text(&self, len: usize, seed: u64) -> Vec<u8> {
        let mut rng = seeded(len, seed);
        let mut text = String::with_capacity(len);
        while text.len() + 4 <= len {
            for _ in 0..=rng.below(self.longest_word) {
                let (first, last) = self.letters[rng.below(self.letters.len())];
                let letter = first + rng.below((last - first + 1) as usize) as u32;
                text.extend(char::from_u32(letter).filter(|letter| text.len() + letter.len_utf8() < len));
            }
            text.push(' ');
        }
        text.into_bytes()
    }
}

fn seeded(len: usize, seed: u64) -> Rng {
    Rng::new(seed << 32 | len as u64)
}

/// Text of all scripts between tags, as in a web page; at most `len` bytes.
pub(super) fn page(len: usize, seed: u64) -> Vec<u8> {
    let mut rng = seeded(len, seed);
    let mut text = Vec::with_capacity(len);
    while text.len() < len {
        text.extend_from_slice(b"<p class=\"text\"><a href=\"https://example.org/\">");
        let script = SCRIPTS[rng.below(SCRIPTS.len())];
        text.extend_from_slice(&script.text(40 + rng.below(160), seed));
        text.extend_from_slice(b"</a></p>\n");
    }
    let is_boundary = |at: &usize| text[*at] & 0xC0 != 0x80;
    text.truncate((0..len).rev().find(is_boundary).unwrap_or(0));
    text
}

/// Random bytes.
fn random(len: usize, seed: u64) -> Vec<u8> {
    let mut rng = seeded(len, seed);
    (0..len).map(|_| rng.next_u32() as u8).collect()
}

/// Text in Latin-1, one letter in twenty with an accent, which is ill-formed UTF-8.
pub(super) fn latin_1(len: usize, seed: u64) -> Vec<u8> {
    let mut rng = seeded(len, seed);
    let mut letter = || if rng.one_in(20) { 0xE0 + rng.below(23) as u8 } else { b'a' + rng.below(26) as u8 };
    (0..len).map(|_| letter()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::time;
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn text_is_well_formed_and_has_the_requested_length() {
        for len in [0, 1, 3, 4, 5, 64, 1000, 65_536] {
            for script in SCRIPTS {
                let text = script.text(len, 0);
                assert!(core::str::from_utf8(&text).is_ok(), "{} {len}", script.name);
                assert!(text.len() <= len && text.len() + 3 >= len, "{} {len}: {}", script.name, text.len());
            }
            assert!(core::str::from_utf8(&page(len, 0)).is_ok());
        }
        assert!(core::str::from_utf8(&latin_1(1000, 0)).is_err());
    }

    /// What is read in these passes of a round.
    fn seen(text: &Text, operation: Operation, round: usize) -> Vec<Vec<u8>> {
        let mut seen = Vec::new();
        let bytes_of = |input: &Input| match operation {
            Operation::FromUtf16 => String::from_utf16_lossy(input.utf16).into_bytes(),
            Operation::FromUtf32 => {
                input.utf32.iter().filter_map(|&it| char::from_u32(it)).collect::<String>().into_bytes()
            }
            _ => input.bytes.to_vec(),
        };
        time(20, &mut Source::new(text, operation), round, |input| seen.push(bytes_of(input)));
        seen
    }

    fn built_in(name: &str) -> Text {
        Plan::built_in(false, name).texts.into_iter().find(|text| text.name == name).unwrap()
    }

    #[test]
    fn every_pass_over_a_long_text_reads_one_of_its_versions() {
        for name in ["greek", "page", "latin-1", "random bytes", "chinese, 64 KiB"] {
            let text = built_in(name);
            for &operation in &text.operations {
                let seen = seen(&text, operation, 1);
                let distinct: HashSet<_> = seen.iter().collect();
                assert!((5..=8).contains(&distinct.len()), "{name} {operation:?}: {}", distinct.len());
                assert!(seen.iter().all(|bytes| text.versions.contains(bytes)), "{name} {operation:?}");
                assert_eq!(seen, self::seen(&text, operation, 1));
                assert_ne!(seen, self::seen(&text, operation, 2));
            }
        }
        for name in ["ascii, 64 KiB", "chinese, 1 KiB", "mixed, 64"] {
            let text = built_in(name);
            assert!(seen(&text, Operation::Validate, 1).iter().all(|bytes| *bytes == *text.bytes()), "{name}");
        }
    }

    #[test]
    fn errors_move_before_each_pass_to_places_that_the_round_decides() {
        let intact = SCRIPTS[0].text(100_000, 0);
        let places = |text: &[u8]| -> Vec<usize> { (0..text.len()).filter(|&at| text[at] != intact[at]).collect() };
        for one_in in [10, 100] {
            let text = Text { one_in: Some(one_in), ..Text::new(String::new(), intact.clone(), &[]) };
            let seen = |round| [vec![text.bytes().into_owned()], self::seen(&text, Operation::Lossy, round)].concat();
            let texts = seen(1);
            for pair in texts.windows(2) {
                let [before, after] = [&pair[0], &pair[1]].map(|text| places(text));
                let expected = intact.len() / one_in;
                assert!((expected * 8 / 10..=expected * 12 / 10).contains(&after.len()), "{one_in}: {}", after.len());
                let same = after.iter().filter(|at| before.binary_search(at).is_ok()).count();
                assert!(same * 4 < after.len(), "{one_in}: {same} of {}", after.len());
            }
            assert_eq!(texts, seen(1));
            assert_ne!(texts[1..], seen(2)[1..]);
        }
    }
}
