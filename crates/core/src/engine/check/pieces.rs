//! Cuts the work of a check into pieces, and decides which piece a free thread takes next: stage after stage or, with a
//! budget, that of the stage furthest behind its share.

use crate::case::{Case, Input};
use crate::decoder::Decoder;
use crate::engine::check::outcome::{BATCH, Control, Covered, Options, Outcome, Ran, Stage, session};
use crate::generate::classes::{ClassPartition, Turn};
use crate::generate::plan::{Part, Set};
use crate::generate::structured::Structured;
use crate::judge::Questions;
use crate::triage::session::{Record, Session, Shown};
use rayon::prelude::*;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Some strings of a set.
type Stretch = (Set, Range<u64>);

/// Cases that one thread judges in one go.
enum Piece {
    /// Those of a list of inputs.
    Inputs { list: usize, range: Range<usize> },
    /// Those of a part of the plan of class strings.
    Strings { part: usize, stretches: Vec<Stretch> },
    /// The structured inputs of these seeds, counted from the first one.
    Seeds(Range<u64>),
}

/// The inputs of a stage, and the questions about them.
pub(super) struct Inputs {
    pub(super) stage: Stage,
    /// When they are run if time is short, the lowest of the stage first.
    pub(super) rank: u32,
    pub(super) inputs: Vec<Input>,
    pub(super) questions: Questions,
}

/// Everything that a check is to run.
#[derive(Default)]
pub(super) struct Work {
    /// Lists of inputs, in the order of their stages.
    pub(super) lists: Vec<Inputs>,
    /// The class strings.
    pub(super) parts: Vec<Part>,
    /// Whether structured inputs are run.
    pub(super) structured: bool,
}

/// What is left of a stage.
struct Line {
    stage: Stage,
    /// In reverse order: the last one is taken next.
    pieces: Vec<Piece>,
    /// The number of cases of all pieces; `None` if there is no end to them.
    planned: Option<u64>,
    /// The time that all threads have spent on it.
    spent: Duration,
    cases: u64,
    begun: bool,
}

/// The pieces that are left, stage by stage.
struct Queue {
    lines: Vec<Line>,
    next_seed: u64,
    /// When the first structured inputs were handed out.
    drawn_since: Option<Instant>,
}

/// What ends a check before everything has been run.
struct End<'c> {
    control: &'c Control,
    deadline: Option<Instant>,
    /// Whether something new was found, if that is to end it.
    found: Option<AtomicBool>,
}

impl End<'_> {
    fn is_now(&self) -> bool {
        let is_found = self.found.as_ref().is_some_and(|found| found.load(Ordering::Relaxed));
        is_found || self.control.is_stopped() || self.deadline.is_some_and(|deadline| Instant::now() >= deadline)
    }
}

/// How many cases of class strings a piece has if the stages are run one after the other; more is not faster.
const STRINGS: u64 = 1 << 16;
/// The same for inputs, and about how many bytes it has if they are long.
const INPUTS: usize = 2048;
const BYTES: usize = 1 << 20;
/// The same if the stages take turns.
const INPUTS_IN_TURNS: usize = 16;
const BYTES_IN_TURNS: usize = 1 << 15;

/// The inputs in pieces of at most this many, and of about this many bytes.
fn ranges(inputs: &[Input], most: usize, most_bytes: usize) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let (mut first, mut bytes) = (0, 0);
    for (index, input) in inputs.iter().enumerate() {
        if index > first && (index - first == most || bytes + input.bytes.len() > most_bytes) {
            ranges.push(first..index);
            (first, bytes) = (index, 0);
        }
        bytes += input.bytes.len();
    }
    ranges.extend((first < inputs.len()).then_some(first..inputs.len()));
    ranges
}

impl Queue {
    /// Each case of the work once: in order; or, for a check in turns, in small pieces: first those that find most,
    /// then the others, drawn from everywhere.
    fn of(work: &Work, in_turns: bool) -> Self {
        let mut lines: Vec<Line> = Vec::new();
        for (list, Inputs { stage, inputs, .. }) in work.lists.iter().enumerate() {
            let (most, bytes) = if in_turns { (INPUTS_IN_TURNS, BYTES_IN_TURNS) } else { (INPUTS, BYTES) };
            let pieces = ranges(inputs, most, bytes).into_iter().map(|range| Piece::Inputs { list, range });
            let cases = inputs.len() as u64;
            match lines.last_mut().filter(|line| line.stage == *stage) {
                Some(line) => {
                    line.pieces.extend(pieces);
                    line.planned = line.planned.map(|planned| planned + cases);
                }
                None => lines.push(Line::of(*stage, pieces.collect(), Some(cases))),
            }
        }
        if !work.parts.is_empty() {
            let cases: u64 = work.parts.iter().map(Part::cases).sum();
            /// About how many pieces there are: fewer in a small plan, more in a large one.
            const PIECES: u64 = 1 << 13;
            let size = if in_turns { (cases / PIECES).clamp(256, STRINGS) } else { STRINGS };
            let parts = work.parts.iter().enumerate();
            let pieces = parts.flat_map(|(part, of)| {
                pieces(of, size).into_iter().map(move |stretches| Piece::Strings { part, stretches })
            });
            lines.push(Line::of(Stage::Classes, pieces.collect(), Some(cases)));
        }
        if work.structured {
            lines.push(Line::of(Stage::Structured, Vec::new(), None));
        }
        for line in &mut lines {
            if in_turns {
                // Neighbouring pieces are alike.
                let mut drawn: Vec<_> = line.pieces.drain(..).enumerate().collect();
                drawn.sort_by_key(|(index, piece)| {
                    (piece.rank(&work.lists), (*index as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15))
                });
                line.pieces.extend(drawn.into_iter().map(|(_, piece)| piece));
            }
            line.pieces.reverse();
        }
        Self { lines, next_seed: 0, drawn_since: None }
    }

    /// The next piece, and the index of its line.
    fn next(&mut self, options: &Options) -> Option<(usize, Piece)> {
        let drawn_for = self.drawn_since.map_or(Duration::ZERO, |since| since.elapsed());
        let has_more = |line: &Line| match line.planned {
            Some(_) => !line.pieces.is_empty(),
            None => options.budget.is_some() || drawn_for < options.time,
        };
        let mut left = self.lines.iter().enumerate().filter(|(_, line)| has_more(line));
        let (index, _) = match options.budget {
            None => left.next()?,
            Some(_) => left.min_by_key(|(_, line)| line.spent / line.stage.share())?,
        };
        let line = &mut self.lines[index];
        line.begun = true;
        let piece = line.pieces.pop().unwrap_or_else(|| {
            self.drawn_since.get_or_insert_with(Instant::now);
            let first = self.next_seed;
            self.next_seed += if options.budget.is_some() { INPUTS_IN_TURNS } else { BATCH } as u64;
            Piece::Seeds(first..self.next_seed)
        });
        Some((index, piece))
    }
}

impl Line {
    fn of(stage: Stage, pieces: Vec<Piece>, planned: Option<u64>) -> Self {
        Self { stage, pieces, planned, spent: Duration::ZERO, cases: 0, begun: false }
    }
}

impl Piece {
    /// The lowest first, if time is short.
    fn rank(&self, lists: &[Inputs]) -> u32 {
        match self {
            Self::Strings { stretches, .. } => stretches.first().map_or(0, |(set, _)| set.rank()),
            Self::Inputs { list, .. } => lists[*list].rank,
            Self::Seeds(_) => 0,
        }
    }
}

/// Every string of every set once, in pieces of about this many cases.
fn pieces(part: &Part, cases: u64) -> Vec<Vec<Stretch>> {
    let mut pieces = Vec::new();
    let mut piece: Vec<Stretch> = Vec::new();
    let mut room = cases;
    for set in &part.sets {
        let (count, variants) = (set.strings.count(), set.ask.variants(set.strings.len));
        let mut next = 0;
        while next < count {
            let end = count.min(next + room.div_ceil(variants));
            piece.push((*set, next..end));
            room = room.saturating_sub((end - next) * variants);
            next = end;
            if room == 0 {
                pieces.push(std::mem::take(&mut piece));
                room = cases;
            }
        }
    }
    pieces.extend((!piece.is_empty()).then_some(piece));
    pieces
}

/// How far a part of the plan of class strings has been run.
#[derive(Clone, Default)]
struct Tally {
    cases: u64,
    comparisons: Vec<u64>,
    spent: Duration,
}

impl Tally {
    fn add(&mut self, other: &Self) {
        self.cases += other.cases;
        self.comparisons.resize(self.comparisons.len().max(other.comparisons.len()), 0);
        self.comparisons.iter_mut().zip(&other.comparisons).for_each(|(sum, count)| *sum += count);
        self.spent += other.spent;
    }
}

/// Runs the work on all cores: stage after stage and, if there is time, structured inputs; or with a budget in turns until
/// `deadline`.
///
/// A decoder whose grammar distinguishes fewer classes is judged on one class string of each group that its grammar does
/// not distinguish.
pub(super) fn run(
    decoders: &[&dyn Decoder],
    options: &Options,
    deadline: Option<Instant>,
    work: &Work,
    progress: &(dyn Fn(Stage, f64) + Sync),
) -> Outcome {
    let start = Instant::now();
    let queue = Mutex::new(Queue::of(work, options.budget.is_some()));
    // A poisoned lock would mean that our code panicked; the queue still consists of whole pieces.
    let lock = || queue.lock().unwrap_or_else(PoisonError::into_inner);
    let found = options.stop_at_first.then(AtomicBool::default);
    let end = End { control: &options.control, deadline, found };
    let threads = rayon::current_num_threads();
    let each = |_| {
        let mut thread = Thread::new(decoders, options, work, &end);
        while !end.is_now()
            && let Some((index, piece)) = { lock().next(options) }
        {
            let (cases, spent) = thread.run(piece);
            options.control.cases.fetch_add(cases, Ordering::Relaxed);
            let mut queue = lock();
            let since = queue.drawn_since;
            let line = &mut queue.lines[index];
            line.cases += cases;
            line.spent += spent;
            let share = match (options.budget, line.planned) {
                (Some(budget), _) => start.elapsed().as_secs_f64() / budget.as_secs_f64(),
                (None, Some(planned)) => line.cases as f64 / planned as f64,
                (None, None) => since.map_or(0.0, |since| since.elapsed().as_secs_f64()) / options.time.as_secs_f64(),
            };
            progress(line.stage, share.min(1.0));
        }
        thread.finish()
    };
    let parts: Vec<(Record, Vec<Tally>)> = (0..threads).into_par_iter().with_max_len(1).map(each).collect();
    let (mut record, mut tallies) = (Record::default(), vec![Tally::default(); work.parts.len()]);
    for (of_thread, part) in parts {
        record = record.merge(of_thread);
        tallies.iter_mut().zip(&part).for_each(|(sum, of_thread)| sum.add(of_thread));
    }
    let seconds = |spent: Duration| spent.as_secs_f64() / threads as f64;
    let lines = queue.into_inner().unwrap_or_else(PoisonError::into_inner).lines;
    let is_finished = lines.iter().all(|line| line.planned.is_none_or(|planned| planned == line.cases));
    let stages = lines.into_iter().filter(|line| line.begun || line.planned == Some(0) || options.budget.is_some());
    let ran = |Line { stage, planned, spent, cases, .. }| Ran { stage, cases, planned, seconds: seconds(spent) };
    let names = record.statistics.comparisons.iter().map(|(name, _)| name.clone());
    let covered = work.parts.iter().zip(tallies).filter(|(part, tally)| tally.cases == part.cases());
    let covered = covered.map(|(part, tally)| Covered {
        part: part.clone(),
        cases: tally.cases,
        comparisons: names.clone().zip(tally.comparisons).collect(),
        seconds: seconds(tally.spent),
    });
    let covered = covered.collect();
    if end.found.is_some_and(AtomicBool::into_inner) {
        // Others may have been found at the same time.
        record.findings = record.findings.into_iter().take(1).collect();
    }
    record.ask(decoders);
    let interrupted = options.control.is_stopped();
    let partial = !interrupted && !is_finished;
    Outcome { stages: stages.map(ran).collect(), covered, interrupted, partial, ..Outcome::of(record) }
}

/// What one thread does and finds.
struct Thread<'w, 'd> {
    decoders: &'w [&'d dyn Decoder],
    options: &'d Options,
    work: &'w Work,
    end: &'w End<'w>,
    partitions: Vec<ClassPartition>,
    session: Option<Session<'d>>,
    record: Record,
    tallies: Vec<Tally>,
    /// About how much was asked since it was last tested whether the check has ended.
    since: usize,
}

impl<'w, 'd> Thread<'w, 'd> {
    fn new(decoders: &'w [&'d dyn Decoder], options: &'d Options, work: &'w Work, end: &'w End<'w>) -> Self {
        let partitions = decoders.iter().map(|decoder| ClassPartition::of(&decoder.info().contract)).collect();
        let tallies = vec![Tally::default(); work.parts.len()];
        let record = Record::default();
        Self { decoders, options, work, end, partitions, session: None, record, tallies, since: 0 }
    }

    /// Judges a piece. Returns the number of cases, and the time.
    ///
    /// A session learns when a fault need not be explained again. What is found in a stage that has an end must not depend
    /// on which thread takes which piece, so there each piece has a session of its own, unless time is short.
    fn run(&mut self, piece: Piece) -> (u64, Duration) {
        let start = Instant::now();
        let is_kept = self.options.budget.is_some() || matches!(piece, Piece::Seeds(_));
        let mut session = match self.session.take() {
            Some(session) => session,
            None => session(self.decoders, &self.options.ledger).asking_later(),
        };
        let count = |session: &Session<'_>| {
            let statistics = session.statistics();
            (statistics.cases, statistics.comparisons.iter().map(|(_, count)| *count).collect::<Vec<_>>())
        };
        let (cases, comparisons) = count(&session);
        let part = if let Piece::Strings { part, .. } = &piece { Some(*part) } else { None };
        // A piece that ends early is noticed by the number of its cases.
        let _ = self.judge_piece(&mut session, piece);
        let (cases_now, mut comparisons_now) = count(&session);
        comparisons_now.iter_mut().zip(comparisons).for_each(|(now, before)| *now -= before);
        let (cases, spent) = (cases_now - cases, start.elapsed());
        if let Some(part) = part {
            self.tallies[part].add(&Tally { cases, comparisons: comparisons_now, spent });
        }
        match is_kept {
            true => self.session = Some(session),
            false => self.add(session),
        }
        (cases, spent)
    }

    fn add(&mut self, session: Session<'_>) {
        self.record = std::mem::take(&mut self.record).merge(session.finish());
    }

    fn finish(mut self) -> (Record, Vec<Tally>) {
        if let Some(session) = self.session.take() {
            self.add(session);
        }
        (self.record, self.tallies)
    }

    fn judge_piece(&mut self, session: &mut Session<'d>, piece: Piece) -> ControlFlow<()> {
        match piece {
            Piece::Inputs { list, range } => {
                let Inputs { inputs, questions, .. } = &self.work.lists[list];
                inputs[range].chunks(BATCH).try_for_each(|batch| {
                    session.prepare(batch.iter().map(Input::case), *questions);
                    batch.iter().try_for_each(|input| self.judge(session, &input.case(), *questions, |_| true))
                })
            }
            Piece::Seeds(range) => {
                let seeds = range.map(|index| self.options.seed.wrapping_add(index));
                let inputs: Vec<Vec<u8>> = seeds.map(|seed| Structured::seeded(seed).0).collect();
                session.prepare(inputs.iter().map(|bytes| Case::new(bytes)), Questions::ALL);
                inputs.iter().try_for_each(|bytes| self.judge(session, &Case::new(bytes), Questions::ALL, |_| true))
            }
            Piece::Strings { stretches, .. } => {
                stretches.into_iter().try_for_each(|stretch| self.judge_strings(session, stretch))
            }
        }
    }

    fn judge_strings(&mut self, session: &mut Session<'d>, (set, range): Stretch) -> ControlFlow<()> {
        let (questions, mut writer) = (Questions::from(set.ask), set.writer());
        let (start, end) = (set.strings.offset, set.strings.offset + set.strings.len as usize);
        let partitions = std::mem::take(&mut self.partitions);
        let is_selected = |case: &Case<'_>, decoder: usize| {
            let partition: &ClassPartition = &partitions[decoder];
            partition.has(&case.bytes[start..end], start) && !(set.turn == Turn::NotIts && partition.is_by_turns())
        };
        let mut flow = ControlFlow::Continue(());
        for first in range.clone().step_by(BATCH) {
            let batch = first..range.end.min(first + BATCH as u64);
            if session.is_batched() {
                batch.clone().for_each(|index| {
                    writer.each(index, |case| session.plan(case, questions, |decoder| is_selected(case, decoder)));
                });
                session.ask_planned();
            }
            for index in batch {
                writer.each(index, |case| {
                    if flow.is_continue() {
                        flow = self.judge(session, case, questions, |decoder| is_selected(case, decoder));
                    }
                });
            }
            if flow.is_break() {
                break;
            }
        }
        self.partitions = partitions;
        flow
    }

    /// Judges a case. Breaks if the check has reached its end: this is tested at once after an explanation, and
    /// otherwise every few dozen cases.
    fn judge(
        &mut self,
        session: &mut Session<'d>,
        case: &Case<'_>,
        questions: Questions,
        is_selected: impl Fn(usize) -> bool,
    ) -> ControlFlow<()> {
        /// How often the clock is read: asking for the time takes as long as asking a fast decoder.
        const SINCE: usize = 64;
        let shown = session.judge_selected(case, questions, is_selected);
        let is_new = shown.iter().any(|shown| matches!(shown, Shown::New(_)));
        if let Some(found) = self.end.found.as_ref().filter(|_| is_new) {
            found.store(true, Ordering::Relaxed);
        }
        self.since += 1 + case.bytes.len() / SINCE;
        if !is_new && self.since < SINCE {
            return ControlFlow::Continue(());
        }
        self.since = 0;
        if self.end.is_now() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::check::faulty::{Faulty, RIGHT};
    use crate::generate::plan;
    use crate::judge::Law;
    use crate::triage::ledger::Ledger;
    use crate::utf8::Validity;
    use std::collections::{BTreeMap, BTreeSet};

    /// The parts, with only their short strings.
    fn small(parts: Vec<Part>, longest: u32) -> Vec<Part> {
        let keep = |mut part: Part| {
            part.sets.retain(|set| set.strings.len <= longest);
            part
        };
        parts.into_iter().map(keep).filter(|part| !part.sets.is_empty()).collect()
    }

    fn run_on(decoder: &Faulty, parts: Vec<Part>) -> Outcome {
        let options = Options { ledger: Ledger::default(), ..Options::default() };
        run(&[decoder], &options, None, &Work { parts, ..Work::default() }, &|_, _| {})
    }

    #[test]
    fn pieces_hold_every_string_of_every_set_once() {
        for part in plan::deep() {
            let mut ends: BTreeMap<String, u64> = BTreeMap::new();
            for (set, range) in pieces(&part, STRINGS).into_iter().flatten() {
                let end = ends.entry(format!("{set:?}")).or_default();
                assert_eq!(range.start, *end, "{set:?}");
                assert!(range.end > range.start);
                *end = range.end;
            }
            assert_eq!(ends.len(), part.sets.len());
            part.sets.iter().for_each(|set| assert_eq!(ends[&format!("{set:?}")], set.strings.count()));
        }
    }

    /// In whatever order, and however small the pieces are.
    #[test]
    fn a_queue_holds_every_case_once() {
        let input = |byte| Input { bytes: vec![byte], cuts: None };
        let list = |stage, rank, count: u8| {
            let inputs = (0..count).map(input).collect();
            Inputs { stage, rank, inputs, questions: Questions::ALL }
        };
        let words = [list(Stage::Words, 0, 0), list(Stage::Words, 2, 100), list(Stage::Words, 1, 50)];
        let lists = [list(Stage::Vectors, 0, 200)].into_iter().chain(words).collect();
        let work = Work { lists, parts: plan::quick(), structured: true };
        for budget in [None, Some(Duration::from_secs(1))] {
            let options = Options { budget, time: Duration::ZERO, ..Options::default() };
            let mut queue = Queue::of(&work, budget.is_some());
            assert_eq!(
                queue.lines.iter().map(|line| line.stage).collect::<Vec<_>>(),
                [Stage::Vectors, Stage::Words, Stage::Classes, Stage::Structured]
            );
            let planned: Vec<Option<u64>> = queue.lines.iter().map(|line| line.planned).collect();
            assert_eq!(planned, [Some(200), Some(150), Some(work.parts[0].cases()), None]);
            let (mut order, mut inputs, mut strings) = (Vec::new(), BTreeMap::new(), 0);
            let mut lists = Vec::new();
            while let Some((line, piece)) = queue.next(&options) {
                let spent = &mut queue.lines[line].spent;
                *spent += Duration::from_millis(1);
                order.push(line);
                match piece {
                    Piece::Inputs { list, range } => {
                        lists.push(list);
                        range.for_each(|at| *inputs.entry((list, at)).or_insert(0) += 1);
                    }
                    Piece::Strings { stretches, .. } => {
                        strings += stretches.iter().map(|(_, range)| range.end - range.start).sum::<u64>();
                    }
                    Piece::Seeds(_) if queue.lines[..3].iter().all(|line| line.pieces.is_empty()) => break,
                    Piece::Seeds(_) => {}
                }
            }
            assert!(inputs.len() == 350 && inputs.values().all(|times| *times == 1));
            assert_eq!(Some(strings), planned[2]);
            // One list after the other, or the most urgent one of a stage first.
            lists.retain(|list| *list > 0);
            lists.dedup();
            assert_eq!(lists, if budget.is_some() { [3, 2] } else { [2, 3] });
            // One stage after the other, or something of each among the first pieces.
            let first: BTreeSet<usize> = order.iter().take(6).copied().collect();
            assert!(if budget.is_some() { first.len() == 4 } else { order.is_sorted() }, "{order:?}");
        }
    }

    #[test]
    fn what_is_covered_is_what_was_planned() {
        let parts = small(plan::deep(), 1);
        let outcome = run_on(&RIGHT, parts.clone());
        assert!(outcome.divergences.is_empty(), "{:?}", outcome.divergences.keys());
        assert_eq!(outcome.covered.len(), parts.len());
        for (covered, part) in outcome.covered.iter().zip(parts) {
            assert_eq!(covered.part, part);
            assert_eq!(covered.cases, part.cases());
            assert!(covered.comparisons[0].1 >= part.cases(), "{}", part.name);
        }
        assert_eq!(outcome.statistics.cases, outcome.covered.iter().map(|covered| covered.cases).sum::<u64>());
    }

    /// Asserts that the deep plan finds the fault and the standard plan does not, both with strings up to this length.
    fn only_deep_finds(decoder: &Faulty, longest: u32, law: Law) {
        let standard = run_on(decoder, small(plan::standard(), longest));
        assert!(standard.divergences.is_empty(), "{:?}", standard.divergences.keys());
        let deep = run_on(decoder, small(plan::deep(), longest));
        let laws: Vec<Law> = deep.divergences.keys().map(|signature| signature.law).collect();
        assert!(laws.contains(&law), "{laws:?}");
    }

    #[test]
    fn a_fault_in_ill_formed_surroundings_is_found() {
        // With four errors or more, the last byte of the output is missing.
        let output = |bytes: &[u8], out: &mut Vec<u8>| {
            if core::str::from_utf8(bytes).is_err() && String::from_utf8_lossy(bytes).matches('\u{FFFD}').count() > 3 {
                out.pop();
            }
        };
        only_deep_finds(&Faulty { output, ..RIGHT }, 1, Law::Lossy);
    }

    #[test]
    fn a_fault_in_valid_surroundings_is_found() {
        let verdict = |bytes: &[u8], verdict: Validity| {
            let spoiled = bytes.first().is_some_and(|byte| !byte.is_ascii()) && bytes.len() > 64;
            if spoiled && !verdict.is_valid() { Validity::Valid } else { verdict }
        };
        only_deep_finds(&Faulty { verdict, ..RIGHT }, 1, Law::Verdict);
    }

    #[test]
    fn a_fault_at_certain_cuts_is_found() {
        // An empty chunk after each byte: cuts derived from the bytes have fewer of these.
        let streamed = |chunks: &[usize], bytes: &mut Vec<u8>| {
            if chunks.windows(5).any(|lengths| lengths == [0, 1, 0, 1, 0]) {
                bytes.pop();
            }
        };
        only_deep_finds(&Faulty { streamed, ..RIGHT }, 2, Law::Stream);
    }

    #[test]
    fn a_fault_at_one_alignment_is_found() {
        let verdict = |bytes: &[u8], verdict: Validity| {
            let spoiled = bytes.as_ptr().addr() % 64 == 13 && bytes.len() == 1 && bytes[0] >= 0xF5;
            if spoiled { Validity::Valid } else { verdict }
        };
        let decoder = Faulty { verdict, ..RIGHT };
        let mut parts = small(plan::deep(), 1);
        parts.retain(|part| part.name == "alignments");
        let outcome = run_on(&decoder, parts);
        assert!(outcome.divergences.keys().all(|signature| signature.law == Law::Placement));
        assert!(!outcome.divergences.is_empty());
    }
}
