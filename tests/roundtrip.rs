//! Round trips: decode(encode(x)) = x over the whole range of every grammar, and encode(decode(b)) = b for every
//! well-formed b of up to four bytes and for some longer ones.
//!
//! All tests together take minutes, even with optimisation: `cargo test --release --test roundtrip -- --ignored`.
//! Progress goes to standard error. Every core is used.

mod walk;

use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use utfuzz::codec::convert::{Converter, Encoding, Mark, Options, UnpairedSurrogates};
use utfuzz::spec;
use utfuzz::spec::grammar::{Form, Grammar, Row};
use utfuzz::spec::{Contract, Reading, grammar};
use utfuzz::utf8::Kind;
use walk::{Codec, Tally};

/// The implementations under test.
const CODECS: [Codec; 1] = [Codec::SPEC];

/// Distributes `count` pieces of work over all cores, reports progress, and returns the results.
fn on_every_core<T: Send>(what: &str, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    const PAUSE: Duration = Duration::from_secs(5);
    let next = AtomicUsize::new(0);
    let (start, done) = (Instant::now(), Mutex::new((Vec::new(), Instant::now())));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        break;
                    }
                    let result = work(index);
                    let (results, reported) = &mut *done.lock().unwrap();
                    results.push(result);
                    if reported.elapsed() > PAUSE {
                        *reported = Instant::now();
                        tell(&format!("{what}: {} %, {} s", results.len() * 100 / count, start.elapsed().as_secs()));
                    }
                }
            });
        }
    });
    done.into_inner().unwrap().0
}

/// Prints immediately, since the test harness holds other output back until the end.
fn tell(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// The number of sequences that the rows describe.
fn sequences(grammar: &Grammar) -> u64 {
    let of_row =
        |bytes: &[(u8, u8)]| -> u64 { bytes.iter().map(|&(first, last)| u64::from(last - first) + 1).product() };
    grammar.rows.iter().map(|row| of_row(row.bytes)).sum()
}

#[test]
#[ignore = "minutes; `.ci/run full` runs it, in release"]
fn every_code_point_round_trips() {
    const PIECE: u32 = 1 << 20;
    for codec in &CODECS {
        for grammar in grammar::ALL {
            let what = format!("{} {}", codec.name, grammar.name);
            // Twice as far if the last code point is U+10FFFF, to count refusals.
            let scalar = |row: &&Row| row.form == Form::Scalar;
            let longest = grammar.rows.iter().filter(scalar).map(|row| row.bytes.len()).max();
            let end: u32 = if longest == Some(6) { 1 << 31 } else { 1 << 22 };
            let walked = on_every_core(&what, (end / PIECE) as usize, |piece| {
                let first = piece as u32 * PIECE;
                Tally::of(codec, grammar, first, first + PIECE)
            });
            let mut tally = Tally::EMPTY;
            walked.into_iter().for_each(|piece| tally.add(piece));
            walk::assert_properties(grammar, &tally);
            let refused = tally.refused.iter().sum::<u64>();
            assert_eq!(tally.encoded + refused, u64::from(end), "{what}");
            // Each code point has a sequence of its own, and there are no other sequences: the inverse holds too.
            if *grammar != grammar::RFC3629_WITH_OVERLONG {
                assert_eq!(tally.encoded, sequences(grammar), "{what}");
            }
            let by = |kind: Kind| tally.refused[kind.index()];
            assert_eq!(by(Kind::Surrogate) + by(Kind::TooLarge) + by(Kind::Noncharacter), refused, "{what}");
            let _ =
                writeln!(std::io::stderr(), "{what}: {} code points round-trip, {refused} are refused", tally.encoded);
        }
    }
}

/// Converts every code point of every relative of UTF-8 there and back.
#[test]
#[ignore = "minutes; `.ci/run full` runs it, in release"]
fn every_code_point_goes_through_our_conversions() {
    const PIECE: u32 = 1 << 20;
    let options = Options { mark: Mark::Keep, surrogates: UnpairedSurrogates::Pass, ..Options::STRICT };
    let convert = |from, to, bytes: &[u8]| {
        let (mut converter, mut out) = (Converter::new(from, to, options).unwrap(), Vec::new());
        converter.push(bytes, &mut out).unwrap();
        assert_eq!(converter.finish(&mut out).unwrap().faults, 0);
        out
    };
    for encoding in Encoding::all().filter(|encoding| *encoding != Encoding::Utf8b) {
        let Some(grammar) = encoding.grammar() else { continue };
        let has = |code_point: &u32| spec::encode(grammar, *code_point, &mut Vec::new()).is_ok();
        let end: u32 = if has(&0x7FFF_FFFF) { 1 << 31 } else { 0x11_0000 };
        let walked = on_every_core(encoding.name(), end.div_ceil(PIECE) as usize, |piece| {
            let first = piece as u32 * PIECE;
            // In descending order, so that no surrogates form a pair.
            let text = (first..end.min(first + PIECE)).rev().filter(|code_point| first > 0 || has(code_point));
            let wide: Vec<u8> = text.flat_map(u32::to_le_bytes).collect();
            let there = convert(Encoding::Ucs4Le, encoding, &wide);
            assert!(convert(encoding, Encoding::Ucs4Le, &there) == wide, "{encoding} from {first:X} on");
            wide.len() as u64 / 4
        });
        assert_eq!(walked.iter().sum::<u64>(), sequences(grammar), "{encoding}");
    }
}

/// Decodes and encodes texts, with buffers that are allocated once.
#[derive(Default)]
struct Texts {
    text: Vec<u32>,
    back: Vec<u8>,
    count: u64,
    /// How many are encoded in another form than they had.
    other: u64,
}

impl Texts {
    /// Extends `bytes` by every combination of sequences to `len` bytes, and tests each text.
    fn grow(&mut self, sequences: &[Vec<Vec<u8>>; 5], contract: &Contract, bytes: &mut Vec<u8>, len: usize) {
        let left = len - bytes.len();
        if left == 0 {
            // Most of the texts are ASCII, which is the same in every grammar, so they are tested in RFC 3629 only.
            if *contract.grammar == grammar::RFC3629 || !bytes.is_ascii() {
                self.read(contract, bytes);
            }
            return;
        }
        for of_len in &sequences[1..=left] {
            for sequence in of_len {
                bytes.extend_from_slice(sequence);
                self.grow(sequences, contract, bytes, len);
                bytes.truncate(bytes.len() - sequence.len());
            }
        }
    }

    fn read(&mut self, contract: &Contract, bytes: &[u8]) {
        self.text.clear();
        if spec::decode(contract, bytes, &mut self.text).is_err() {
            // A surrogate pair as two sequences.
            assert!(contract.grammar.pairs_join, "{}: {bytes:02X?}", contract.grammar.name);
            return;
        }
        self.back.clear();
        let written = spec::encode_text(contract, &self.text, &mut self.back);
        assert_eq!(written, Ok(()), "{}: {bytes:02X?}", contract.grammar.name);
        self.count += 1;
        self.other += u64::from(self.back != bytes);
    }
}

/// Every sequence of up to four bytes, by length.
fn short_sequences(grammar: &'static Grammar) -> [Vec<Vec<u8>>; 5] {
    let mut by_len = [const { Vec::new() }; 5];
    for row in grammar.rows.iter().filter(|row| row.bytes.len() < 5) {
        let mut begun = vec![Vec::new()];
        for &(first, last) in row.bytes {
            begun =
                begun.iter().flat_map(|start| (first..=last).map(move |byte| [&start[..], &[byte]].concat())).collect();
        }
        by_len[row.bytes.len()].extend(begun);
    }
    by_len
}

fn every_text(len: usize) {
    for grammar in grammar::ALL {
        let contract = Contract { grammar, ..Contract::VALIDATOR };
        let sequences = short_sequences(grammar);
        let what = format!("{} texts of {len} bytes", grammar.name);
        let counts = on_every_core(&what, 256, |lead| {
            let mut texts = Texts::default();
            let led = sequences[1..=len].iter().flatten().filter(|first| usize::from(first[0]) == lead);
            led.for_each(|first| texts.grow(&sequences, &contract, &mut first.clone(), len));
            (texts.count, texts.other)
        });
        let (count, other) = counts.into_iter().fold((0, 0), |sum, of| (sum.0 + of.0, sum.1 + of.1));
        assert_eq!(other > 0, *grammar == grammar::RFC3629_WITH_OVERLONG && len > 1, "{what}: {other} of {count}");
        if len > 2 {
            tell(&format!("{what}: {count} round-trip, {other} of them only in the shortest form"));
        }
    }
}

#[test]
fn every_text_of_up_to_two_bytes_round_trips() {
    (1..=2).for_each(every_text);
}

#[test]
#[ignore = "minutes; `.ci/run full` runs it, in release"]
fn every_text_of_three_and_four_bytes_round_trips() {
    (3..=4).for_each(every_text);
}

/// Texts of many sequences, chosen evenly from the rows of each grammar.
#[test]
fn long_texts_round_trip() {
    let mut state = 0x2545_F491_4F6C_DD1Du64;
    let mut below = |bound: usize| {
        // Xorshift is good enough here.
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as usize % bound
    };
    let mut bytes = Vec::new();
    for grammar in grammar::ALL.into_iter().filter(|grammar| **grammar != grammar::RFC3629_WITH_OVERLONG) {
        let contract = Contract { grammar, ..Contract::VALIDATOR };
        let mut texts = Texts::default();
        for _ in 0..20_000 {
            bytes.clear();
            for _ in 0..1 + below(12) {
                let row = &grammar.rows[below(grammar.rows.len())];
                bytes.extend(row.bytes.iter().map(|&(first, last)| first + below(usize::from(last - first) + 1) as u8));
            }
            texts.read(&contract, &bytes);
            let well_formed = |unit: spec::Segment| matches!(unit.reading, Reading::WellFormed(_));
            assert!(grammar.pairs_join || spec::segments(&contract, &bytes).all(well_formed), "{bytes:02X?}");
        }
        assert!(texts.count > 15_000, "{}: {}", grammar.name, texts.count);
        assert_eq!(texts.other, 0, "{}", grammar.name);
    }
}
