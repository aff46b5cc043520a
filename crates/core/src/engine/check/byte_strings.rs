//! Every byte string of a length: the verdict of each decoder, compared with the standard.
//!
//! A [`Judge`](crate::judge::Judge) asks and stores too much to be fast enough for four billion strings. Here a verdict
//! is compared directly, by the same comparison as in the judge, and the judge runs only on wrong ones. A decoder that
//! runs different code on longer inputs is asked twice: about the string alone, and about the string across the edge of
//! a block of 64 bytes, surrounded by ASCII.

use crate::case::Case;
use crate::decoder::{Decoder, Info, check_infos};
use crate::engine::check::outcome::{Control, Outcome, Run, Stage, State, piece_range, session};
use crate::error::Error;
use crate::judge::agrees_with;
use crate::judge::expect::Automaton;
use crate::spec::Contract;
use crate::spec::model::malformed;
use crate::triage::ledger::Ledger;
use crate::triage::session::{Record, Session};
use crate::utf8::{ErrorLen, Kind, Malformed, Validity};
use rayon::prelude::*;
use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// The maximum length of the strings, in bytes.
pub const LONGEST: u32 = 4;

/// The length in bytes of an input with a string across the edge of its first block.
pub const ACROSS: usize = 128;

/// What to run.
#[derive(Clone, Debug)]
pub struct ByteOptions {
    /// The length of the strings in bytes, 1 to [`LONGEST`].
    pub len: u32,
    /// The known differences.
    pub ledger: Ledger,
    /// A file that records the progress, so that an interrupted run can be resumed.
    pub resume: Option<PathBuf>,
    /// To watch the run, and to end it early.
    pub control: Control,
}

/// Whether a decoder is also asked about each string of this length across the edge of a block.
pub fn is_asked_across(info: &Info, len: u32) -> bool {
    !info.runs_same_code(len as usize, ACROSS)
}

/// How many ASCII bytes precede a string that is asked across an edge.
pub fn bytes_before(len: u32) -> usize {
    64 - len.div_ceil(2) as usize
}

/// Asks decoders about every byte string of a length, calling `progress` from any thread with the fraction that is
/// done.
///
/// # Errors
/// The [names or contracts](check_infos) of the decoders are wrong; the length is not 1 to 4; the file to resume from
/// belongs to another run, or cannot be read or written.
pub fn check_bytes(
    decoders: &[&dyn Decoder],
    options: &ByteOptions,
    progress: &(dyn Fn(Stage, f64) + Sync),
) -> Result<Outcome, Error> {
    run(decoders, options, progress, usize::MAX)
}

/// Like [`check_bytes`], but ends after this many pieces.
fn run(
    decoders: &[&dyn Decoder],
    options: &ByteOptions,
    progress: &(dyn Fn(Stage, f64) + Sync),
    pieces: usize,
) -> Result<Outcome, Error> {
    if !(1..=LONGEST).contains(&options.len) {
        return Err(Error::usage(format!("byte strings of length {}; choose 1 to {LONGEST}", options.len)));
    }
    check_infos(decoders.iter().copied())?;
    let of_this = Run::of(decoders, options.len, &options.ledger, options.resume.is_some());
    let state = match &options.resume {
        Some(path) => State::open(path, of_this, decoders, &options.ledger)?,
        None => State::new(of_this),
    };
    let todo: Vec<usize> = state.todo().take(pieces).collect();
    let (all, total) = (options.len, state.pieces() as f64);
    let state = Mutex::new(state);
    let start = Instant::now();
    // A piece takes so long that the cost of saving after each is negligible.
    let save = |state: &State| options.resume.as_ref().map_or(Ok(()), |path| state.save(path, &options.ledger));
    let control = &options.control;
    todo.into_par_iter().try_for_each(|piece| {
        if control.is_stopped() {
            return Ok(());
        }
        let range = piece_range(all, piece);
        let mut scan = Scan::new(decoders, &options.ledger, all);
        range.for_each(|index| scan.string(index));
        let of_piece = scan.finish();
        control.cases.fetch_add(of_piece.statistics.cases, Ordering::Relaxed);
        // A poisoned lock would mean that our code panicked; the state still consists of whole pieces.
        let mut state = state.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        state.add(piece, of_piece, start.elapsed());
        progress(Stage::Bytes, state.done() as f64 / total);
        save(&state)
    })?;
    let mut state = state.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    state.end(start.elapsed());
    save(&state)?;
    let interrupted = control.is_stopped() && state.todo().next().is_some();
    Ok(Outcome { interrupted, ..state.into_outcome() })
}

/// The state of a thread that works on one piece.
struct Scan<'d> {
    len: usize,
    groups: Vec<Group<'d>>,
    session: Session<'d>,
    /// The string, followed by an `a`.
    followed: [u8; LONGEST as usize + 1],
    across: [u8; ACROSS],
    wrong: Vec<(usize, bool)>,
    strings: u64,
    valid: u64,
    kinds: [u64; Kind::ALL.len()],
    comparisons: Vec<(Cow<'static, str>, u64)>,
}

/// Decoders with the same expected verdicts.
struct Group<'d> {
    contract: Contract,
    automaton: Automaton,
    decoders: Vec<Asked<'d>>,
    any_across: bool,
}

struct Asked<'d> {
    decoder: &'d dyn Decoder,
    index: usize,
    across: bool,
}

impl<'d> Scan<'d> {
    fn new(decoders: &[&'d dyn Decoder], ledger: &'d Ledger, len: u32) -> Self {
        Self {
            len: len as usize,
            groups: Group::all(decoders, len),
            session: session(decoders, ledger),
            followed: [b'a'; LONGEST as usize + 1],
            across: [b'a'; ACROSS],
            wrong: Vec::new(),
            strings: 0,
            valid: 0,
            kinds: [0; Kind::ALL.len()],
            comparisons: decoders.iter().map(|decoder| (decoder.info().name.clone(), 0)).collect(),
        }
    }

    /// Asks about the string with this number.
    fn string(&mut self, number: u64) {
        let len = self.len;
        let before = bytes_before(len as u32);
        let string = &number.to_be_bytes()[8 - len..];
        self.followed[..len].copy_from_slice(string);
        self.across[before..before + len].copy_from_slice(string);
        self.strings += 1;
        for (place, group) in self.groups.iter().enumerate() {
            let expected = group.alone(&self.followed[..len]);
            if place == 0 {
                match expected.malformed().and_then(|malformed| malformed.kind) {
                    None => self.valid += 1,
                    Some(kind) => self.kinds[kind.index()] += 1,
                }
            }
            let across = if group.any_across { group.across(&expected, &self.followed[..len + 1]) } else { expected };
            for asked in &group.decoders {
                let count = &mut self.comparisons[asked.index].1;
                if asked.is_wrong(&self.followed[..len], &expected, count) {
                    self.wrong.push((asked.index, false));
                }
                if asked.across && asked.is_wrong(&self.across, &across, count) {
                    self.wrong.push((asked.index, true));
                }
            }
        }
        if !self.wrong.is_empty() {
            self.confirm();
        }
    }

    fn confirm(&mut self) {
        for (decoder, across) in std::mem::take(&mut self.wrong) {
            let bytes = if across { &self.across[..] } else { &self.followed[..self.len] };
            self.session.confirm(decoder, &Case::new(bytes));
        }
    }

    fn finish(self) -> Record {
        let mut record = self.session.finish();
        let statistics = &mut record.statistics;
        (statistics.cases, statistics.valid) = (self.strings, self.valid);
        statistics.comparisons = self.comparisons;
        let kinds = Kind::ALL.into_iter().zip(self.kinds);
        statistics.kinds = kinds.filter(|(_, count)| *count > 0).collect();
        record
    }
}

impl<'d> Group<'d> {
    fn all(decoders: &[&'d dyn Decoder], len: u32) -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for (index, &decoder) in decoders.iter().enumerate() {
            let Contract { grammar, segmentation, end, .. } = decoder.info().contract;
            // A verdict depends only on these three.
            let contract = Contract { grammar, segmentation, end, ..Contract::VALIDATOR };
            let place = groups.iter().position(|group| group.contract == contract).unwrap_or_else(|| {
                let automaton = Automaton::of(grammar);
                groups.push(Self { contract, automaton, decoders: Vec::new(), any_across: false });
                groups.len() - 1
            });
            let across = is_asked_across(decoder.info(), len);
            groups[place].any_across |= across;
            groups[place].decoders.push(Asked { decoder, index, across });
        }
        groups
    }

    /// The expected verdict on the string alone.
    fn alone(&self, string: &[u8]) -> Validity {
        let unit = self.automaton.first_ill_formed(&self.contract, string);
        unit.and_then(|unit| malformed(&self.contract, &unit)).map_or(Validity::Valid, Validity::Invalid)
    }

    /// The expected verdict on the string between ASCII: the same at a larger offset, unless the string ends inside a
    /// sequence.
    fn across(&self, alone: &Validity, followed: &[u8]) -> Validity {
        let at_the_end = |malformed: &Malformed| {
            malformed.kind == Some(Kind::Incomplete) || malformed.len == Some(ErrorLen::Incomplete)
        };
        let open = alone.malformed().is_some_and(at_the_end);
        let before = bytes_before(followed.len() as u32 - 1);
        match if open { self.alone(followed) } else { *alone } {
            Validity::Valid => Validity::Valid,
            Validity::Invalid(malformed) => {
                let valid_up_to = malformed.valid_up_to.map(|offset| offset + before);
                Validity::Invalid(Malformed { valid_up_to, ..malformed })
            }
        }
    }
}

impl Asked<'_> {
    fn is_wrong(&self, bytes: &[u8], expected: &Validity, comparisons: &mut u64) -> bool {
        let Some(right) = agrees_with(self.decoder, bytes, expected) else { return false };
        *comparisons += 1;
        !right
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::check::faulty::{Faulty, RIGHT};
    use crate::engine::check::outcome::piece_count;
    use crate::explain::Shape;
    use crate::generate::classes::Block;
    use crate::judge::Law;
    use crate::spec::{Segmentation, grammar, validity};
    use crate::triage::ledger::EXAMPLE;

    fn options(len: u32) -> ByteOptions {
        ByteOptions { len, ledger: Ledger::default(), resume: None, control: Control::default() }
    }

    fn outcome(decoder: &Faulty, options: &ByteOptions) -> Outcome {
        check_bytes(&[decoder], options, &|_, _| {}).unwrap()
    }

    /// What must not depend on interruptions of a run.
    fn essence(outcome: &Outcome) -> String {
        let mut statistics = outcome.statistics.clone();
        statistics.kinds.sort();
        let found = outcome.divergences.iter();
        let found: Vec<_> = found.map(|(signature, found)| (signature, found.hits, found.divergence.test())).collect();
        format!("{statistics:?} {found:?} {:?}", outcome.known)
    }

    #[test]
    fn every_string_is_asked_once_alone_and_once_across() {
        for len in 1..=2 {
            let outcome = outcome(&RIGHT, &options(len));
            let strings = 1 << (8 * len);
            assert_eq!(outcome.statistics.cases, strings);
            assert_eq!(outcome.statistics.comparisons, [("faulty".into(), 2 * strings)]);
            assert_eq!(
                outcome.statistics.kinds.iter().map(|(_, count)| count).sum::<u64>(),
                strings - outcome.statistics.valid
            );
            assert!(outcome.is_clean());
            let alike = Faulty { info: RIGHT.info.lineage("one"), ..RIGHT };
            let outcome = check_bytes(&[&alike], &options(len), &|_, _| {}).unwrap();
            assert_eq!(outcome.statistics.comparisons, [("faulty".into(), strings)]);
        }
        for len in [0, 5, u32::MAX] {
            assert!(check_bytes(&[&RIGHT], &options(len), &|_, _| {}).is_err());
        }
    }

    #[test]
    fn pieces_are_all_strings_in_order() {
        for len in 1..=LONGEST {
            let ranges: Vec<_> = (0..piece_count(len)).map(|piece| piece_range(len, piece)).collect();
            assert!(ranges.len() >= 16);
            assert_eq!((ranges[0].start, ranges[ranges.len() - 1].end), (0, 1 << (8 * len)));
            assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start));
        }
    }

    #[test]
    fn one_wrong_verdict_is_found() {
        let verdict = |bytes: &[u8], verdict| if bytes == b"\xE0\x9F" { Validity::Valid } else { verdict };
        let outcome = outcome(&Faulty { verdict, ..RIGHT }, &options(2));
        let found: Vec<_> = outcome.divergences.iter().map(|(signature, found)| (signature.law, found.hits)).collect();
        assert_eq!(found, [(Law::Verdict, 1)]);
    }

    #[test]
    fn a_fault_of_the_code_for_long_inputs_is_found() {
        let verdict = |bytes: &[u8], verdict| match bytes.get(63..65) {
            Some(b"\xC3\xA9") => Validity::INVALID,
            _ => verdict,
        };
        let outcome = outcome(&Faulty { verdict, ..RIGHT }, &options(2));
        let signatures: Vec<_> = outcome.divergences.keys().map(|signature| (signature.law, signature.shape)).collect();
        assert_eq!(signatures, [(Law::Verdict, Shape::Offset)]);
    }

    #[test]
    fn a_panic_and_a_verdict_that_changes_are_found() {
        use std::sync::atomic::{AtomicBool, Ordering};
        crate::judge::silence_panics();
        let verdict = |bytes: &[u8], verdict| if bytes == b"\xFF" { panic!("as it should") } else { verdict };
        let outcome_of_panic = outcome(&Faulty { verdict, ..RIGHT }, &options(1));
        assert_eq!(outcome_of_panic.divergences.keys().next().unwrap().law, Law::Panic);

        static SAID: AtomicBool = AtomicBool::new(false);
        let verdict = |bytes: &[u8], verdict| {
            let once = bytes == b"\xFE" && !SAID.swap(true, Ordering::Relaxed);
            if once { Validity::Valid } else { verdict }
        };
        let outcome = outcome(&Faulty { verdict, ..RIGHT }, &options(1));
        assert_eq!(outcome.divergences.keys().next().unwrap().law, Law::Verdict);
    }

    #[test]
    fn what_is_expected_across_an_edge_is_what_the_standard_says() {
        let rules = [Segmentation::MaximalSubpart, Segmentation::Byte, Segmentation::LeadAnnounced, Segmentation::Run];
        for grammar in grammar::ALL {
            for segmentation in rules {
                let contract = Contract { grammar, segmentation, ..Contract::STANDARD };
                let automaton = Automaton::of(grammar);
                let group = Group { contract, automaton, decoders: Vec::new(), any_across: true };
                for len in 1..=3 {
                    let mut string = Vec::new();
                    for index in 0..(Block { len, offset: 0 }).count() {
                        Block { len, offset: 0 }.write(index, &mut string);
                        let alone = group.alone(&string);
                        assert_eq!(alone, validity(&contract, &string), "{contract}: {string:02X?}");
                        let mut whole = vec![b'a'; ACROSS];
                        whole[bytes_before(len)..][..string.len()].copy_from_slice(&string);
                        string.push(b'a');
                        let across = group.across(&alone, &string);
                        assert_eq!(across, validity(&contract, &whole), "{contract}: {string:02X?}");
                    }
                }
            }
        }
    }

    /// A decoder that is wrong on every string of two bytes that starts with E0 or 21, and on C0 80.
    fn wrong() -> Faulty {
        let verdict = |bytes: &[u8], verdict| match bytes {
            [0xE0 | 0x21, _] | [0xC0, 0x80] => {
                if verdict == Validity::Valid {
                    Validity::INVALID
                } else {
                    Validity::Valid
                }
            }
            _ => verdict,
        };
        Faulty { verdict, ..RIGHT }
    }

    #[test]
    fn an_interrupted_run_has_the_same_result() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state");
        let ledger = Ledger::parse(EXAMPLE, "test").unwrap();
        let whole = outcome(&wrong(), &ByteOptions { ledger: ledger.clone(), ..options(2) });
        assert_eq!(whole.known.values().sum::<u64>(), 3);
        assert_eq!(whole.divergences.values().map(|found| found.hits).sum::<u64>(), 510);
        let resumed = ByteOptions { resume: Some(path), ledger, ..options(2) };
        let decoder = wrong();
        let mut cases = Vec::new();
        for pieces in [0, 3, 1, 7, 16, 0] {
            let part = run(&[&decoder], &resumed, &|_, _| {}, pieces).unwrap();
            cases.push(part.statistics.cases / 4096);
            if part.statistics.cases == 1 << 16 {
                assert_eq!(essence(&part), essence(&whole));
            }
        }
        assert_eq!(cases, [0, 3, 4, 11, 16, 16]);
        assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 1);
    }

    #[test]
    fn the_state_of_another_run_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("state");
        let resumed = |len| ByteOptions { resume: Some(path.clone()), ..options(len) };
        run(&[&RIGHT], &resumed(2), &|_, _| {}, 2).unwrap();
        let refused = |decoder: &Faulty, options: &ByteOptions| {
            let error = check_bytes(&[decoder], options, &|_, _| {}).unwrap_err().to_string();
            assert!(error.contains("state") && error.contains("delete it") && !error.contains('\n'), "{error}");
            error
        };
        assert!(refused(&RIGHT, &resumed(1)).contains("another length"));
        let info = RIGHT.info.version("1.0.1");
        assert!(refused(&Faulty { info, ..RIGHT }, &resumed(2)).contains("other decoders"));
        let ledger = Ledger::built_in();
        assert!(refused(&RIGHT, &ByteOptions { ledger, ..resumed(2) }).contains("another ledger"));
        let text = std::fs::read_to_string(&path).unwrap();
        let damage = |from: &str, to: &str| {
            assert!(text.contains(from), "{text}");
            std::fs::write(&path, text.replacen(from, to, 1)).unwrap();
        };
        damage("\"program\":\"", "\"program\":\"0");
        assert!(refused(&RIGHT, &resumed(2)).contains("another build"));
        for (from, to) in [
            ("[[0,1]]", "[[0,99]]"),
            ("[[0,1]]", "[[1,0]]"),
            ("{", ""),
            ("\"seconds\":", "\"seconds\":-"),
            ("\"comparisons\":[", "\"comparisons\":[1,"),
        ] {
            damage(from, to);
            refused(&RIGHT, &resumed(2));
        }
    }
}
