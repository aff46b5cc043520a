//! Decoders in other processes, in any language: each is an entry point of an adapter, a program that speaks the
//! protocol of `docs/adapter.md`; or of a shared library, see [`plugin`].
//!
//! A question takes up to 150 µs by itself, and less than 1 µs in a batch of a thousand. So the judge plans its
//! questions ahead (see [`Batched`]): first a stand-in for the decoder notes them, and answers as `spec` does; then the
//! adapter is asked all of them at once, and the judge gets the real answers from memory. A question that was not
//! foreseen is asked by itself.

pub mod plugin;
pub mod process;
mod proof;
pub mod protocol;
pub mod prove;
pub mod registry;

use crate::decoder::{Batched, Decoder, Ending, Info, NoAnswer, Stream};
use crate::spec;
use crate::spec::Contract;
use crate::utf8::{Malformed, Validity};
use process::{Process, Program, Trouble};
use protocol::{Answer, Batch, Entry, Operation, Translator, Verdict};
use std::collections::{HashMap, HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::resume_unwind;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

/// A decoder in another process.
pub struct Foreign {
    info: Info,
    is_slow: bool,
    shared: Arc<Shared>,
    planner: Planner,
}

/// An answer, or why there is none.
type Reply = Result<Answer, Failure>;

/// What happened instead of an answer.
#[derive(Clone, Debug)]
struct Failure {
    ending: Option<Ending>,
    what: Arc<str>,
}

/// What the decoder, its planner and their streams share.
struct Shared {
    name: String,
    program: Program,
    entry: Entry,
    contract: Contract,
    /// Each thread has a process of its own.
    lanes: Mutex<HashMap<ThreadId, Arc<Mutex<Lane>>>>,
}

/// What one thread has planned, asked and been told.
#[derive(Default)]
struct Lane {
    process: Option<Process>,
    planned: Batch,
    noted: HashSet<u64>,
    /// The answers to planned questions about whole inputs.
    whole: HashMap<u64, Reply>,
    /// The answers to planned operations on streams, in the order of asking.
    streamed: HashMap<u64, VecDeque<Reply>>,
    next_stream: u32,
    cost: Cost,
    /// The longest time for an operation, as the mean over a batch.
    slowest: Option<Duration>,
}

/// What was asked of an adapter, and how long it took.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// The number of operations.
    pub operations: u64,
    /// The number of batches.
    pub batches: u64,
    /// The time between requests and replies.
    pub time: Duration,
    /// How many questions ended the process, those that took too long counted tenfold.
    pub failures: u32,
}

/// The shortest time after which an adapter is said to hang.
const LEAST: Duration = Duration::from_secs(1);

/// How often an adapter may fail before it is set aside.
const MOST_FAILURES: u32 = 20;

impl Foreign {
    /// The decoder at an entry point of a program. The program is started when it is first asked.
    pub fn new(program: Program, entry: Entry) -> Self {
        let info = info(&entry);
        let lanes = Mutex::default();
        let shared = Arc::new(Shared { name: entry.name.clone(), program, entry, contract: info.contract, lanes });
        let planner = Planner { info: info.clone(), shared: shared.clone() };
        Self { info, is_slow: false, shared, planner }
    }

    /// The same decoder, which is asked less if it is slow.
    pub fn slow(self, is_slow: bool) -> Self {
        Self { is_slow, ..self }
    }

    /// How it is started.
    pub fn program(&self) -> &Program {
        &self.shared.program
    }

    /// The entry point.
    pub fn entry(&self) -> &Entry {
        &self.shared.entry
    }

    /// What was asked so far.
    pub fn cost(&self) -> Cost {
        let mut sum = Cost::default();
        for lane in lock(&self.shared.lanes).values() {
            let cost = lock(lane).cost;
            sum.operations += cost.operations;
            sum.batches += cost.batches;
            sum.time += cost.time;
            sum.failures += cost.failures;
        }
        sum
    }
}

/// The description of the decoder at an entry point.
fn info(entry: &Entry) -> Info {
    let mut info = Info::new("", "")
        .contract(entry.contract.unwrap_or(Contract::STANDARD))
        .name(entry.name.clone())
        .version(entry.version.clone())
        .package(entry.package.clone())
        .lineage(entry.lineage.clone());
    info.promise = entry.promise;
    info
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shared {
    fn lane(&self) -> Arc<Mutex<Lane>> {
        lock(&self.lanes).entry(std::thread::current().id()).or_default().clone()
    }

    /// The answer to a question about a whole input.
    fn whole(&self, bytes: &[u8]) -> Reply {
        let lane = self.lane();
        let mut lane = lock(&lane);
        if let Some(reply) = lane.whole.get(&key(bytes)) {
            return reply.clone();
        }
        let mut batch = Batch::default();
        batch.push(Operation::Decode, bytes);
        self.ask(&mut lane, &batch).pop().unwrap_or_else(|| Err(Failure::of("no reply")))
    }

    /// One reply for each operation. If the adapter does not answer them together, it is asked one question after the
    /// other until the one is found that it does not answer.
    fn ask(&self, lane: &mut Lane, batch: &Batch) -> Vec<Reply> {
        let mut replies: Vec<Reply> = Vec::with_capacity(batch.len());
        while replies.len() < batch.len() {
            let rest = batch.part(replies.len()..batch.len());
            if lane.cost.failures >= MOST_FAILURES {
                let nothing = Answer { verdict: Verdict::CannotSay, offset: None, length: None, output: None };
                replies.extend((0..rest.len()).map(|_| Ok(nothing.clone())));
                break;
            }
            match self.exchange(lane, &rest) {
                Ok(answers) => replies.extend(answers.into_iter().map(Ok)),
                Err(trouble) => self.ask_singly(lane, &rest, trouble, &mut replies),
            }
        }
        replies
    }

    /// Asks the questions of a failed batch one by one, up to the first that fails. If none does and
    /// the batch only took too long, nothing is wrong: the machine was busy. After any other failure the last question is
    /// named, since the failure depends on what came before it.
    fn ask_singly(&self, lane: &mut Lane, batch: &Batch, trouble: Trouble, replies: &mut Vec<Reply>) {
        let mut start = 0;
        let mut failed = (batch.len() == 1).then(|| (1, trouble.clone()));
        for end in seams(batch) {
            if failed.is_some() {
                break;
            }
            match self.exchange(lane, &batch.part(start..end)) {
                Ok(answers) => replies.extend(answers.into_iter().map(Ok)),
                Err(trouble) => failed = Some((end - start, trouble)),
            }
            start = end;
        }
        let (count, trouble) = match failed {
            Some(failed) => failed,
            None if trouble.ending == Ending::Hang => return,
            None => {
                replies.pop();
                (1, trouble)
            }
        };
        // Waiting takes a long time.
        lane.cost.failures += if trouble.ending == Ending::Hang { MOST_FAILURES / 2 } else { 1 };
        let failure = Failure { ending: Some(trouble.ending), what: trouble.what.into() };
        replies.extend((0..count).map(|_| Err(failure.clone())));
    }

    fn exchange(&self, lane: &mut Lane, batch: &Batch) -> Result<Vec<Answer>, Trouble> {
        let mut process = match lane.process.take() {
            Some(process) => process,
            None => Process::start(&self.program, Some(&self.name))?.0,
        };
        // A batch that takes fifty times as long as any before is taken to hang. A single question has the full time: it is asked
        // alone because it is suspected.
        let most = self.program.timeout;
        let usual = lane.slowest.filter(|_| batch.len() > 1);
        let usual = usual.map(|slowest| LEAST + 50 * slowest * batch.len() as u32);
        let start = Instant::now();
        let answers = process.ask(batch, usual.map_or(most, |usual| usual.min(most)));
        lane.cost.time += start.elapsed();
        if answers.is_ok() {
            // In a small batch, most of the time is spent on the way there and back.
            lane.slowest = lane.slowest.max(Some(start.elapsed() / batch.len().max(256) as u32));
        }
        lane.cost.operations += batch.len() as u64;
        lane.cost.batches += 1;
        let answers = answers?;
        lane.process = Some(process);
        Ok(answers)
    }

    fn masked(&self, validity: Validity) -> Option<Validity> {
        let parts = self.entry.answers;
        let validity = match validity {
            Validity::Valid => Validity::Valid,
            Validity::Invalid(malformed) => Validity::Invalid(Malformed {
                valid_up_to: malformed.valid_up_to.filter(|_| parts.offset),
                len: malformed.len.filter(|_| parts.length),
                kind: None,
            }),
        };
        parts.verdict.then_some(validity)
    }
}

/// Where a batch can be divided: the numbers of operations after which no stream is open.
fn seams(batch: &Batch) -> Vec<usize> {
    let mut open = HashSet::new();
    let mut seams = Vec::new();
    for (index, (operation, _)) in batch.operations().enumerate() {
        match operation {
            Operation::Decode => {}
            Operation::Push(stream) => drop(open.insert(stream)),
            Operation::Finish(stream) | Operation::Drop(stream) => drop(open.remove(&stream)),
        }
        seams.extend((open.is_empty() || index + 1 == batch.len()).then_some(index + 1));
    }
    seams
}

impl Failure {
    fn of(what: &str) -> Self {
        Self { ending: None, what: what.into() }
    }

    /// Ends the question as the end of a process would.
    fn throw(self) -> ! {
        resume_unwind(Box::new(NoAnswer { ending: self.ending, what: self.what.to_string() }))
    }
}

/// The answer, if the decoder gave one.
fn answered(reply: Reply) -> Answer {
    match reply {
        Ok(answer) if answer.verdict == Verdict::Failed => Failure::of(&answer.reason()).throw(),
        Ok(answer) => answer,
        Err(failure) => failure.throw(),
    }
}

/// Appends the output for a whole input, if it is stated.
fn output(entry: &Entry, answer: &Answer, out: &mut Vec<u8>) -> Option<()> {
    let stated = answer.output.as_ref().filter(|_| answer.verdict != Verdict::CannotSay)?;
    let mut translator = Translator::new(entry.output);
    translator.push(stated, out);
    translator.finish(out);
    Some(())
}

/// What the answers about a stream amount to.
struct Reading {
    /// The verdict of an earlier chunk, after which the stream is not examined.
    rejected: Option<Validity>,
    /// Whether a chunk before any that was rejected held something about which the decoder cannot be asked.
    cannot_say: bool,
    /// The same for the last stream that was finished.
    could_not_say: bool,
    translator: Translator,
}

impl Reading {
    fn new(entry: &Entry) -> Self {
        let translator = Translator::new(entry.output);
        Self { rejected: None, cannot_say: false, could_not_say: false, translator }
    }

    /// Takes the answer to a chunk.
    fn push(&mut self, entry: &Entry, answer: &Answer, out: &mut Vec<u8>) {
        if self.rejected.is_some() {
            return;
        }
        self.cannot_say |= answer.verdict == Verdict::CannotSay;
        if self.cannot_say {
            return;
        }
        self.take(entry, answer, out);
        if answer.verdict == Verdict::IllFormed {
            self.rejected = answer.validity(entry.answers).or(Some(Validity::INVALID));
        }
    }

    /// Takes the answer to the end of the stream.
    fn finish(&mut self, entry: &Entry, answer: &Answer, out: &mut Vec<u8>) -> Option<Validity> {
        let rejected = self.rejected.take();
        self.cannot_say |= rejected.is_none() && answer.verdict == Verdict::CannotSay;
        self.could_not_say = std::mem::take(&mut self.cannot_say);
        if rejected.is_none() && !self.could_not_say {
            self.take(entry, answer, out);
        }
        self.translator.finish(out);
        let parts = entry.answers;
        rejected.filter(|_| parts.verdict).or_else(|| answer.validity(parts))
    }

    /// A decoder without a replacement gives its output only for the whole input, so that it is known to be complete.
    fn take(&mut self, entry: &Entry, answer: &Answer, out: &mut Vec<u8>) {
        let has_output = entry.contract.is_none_or(|contract| contract.replacement.is_some());
        if let Some(output) = answer.output.as_ref().filter(|_| has_output) {
            self.translator.push(output, out);
        }
    }
}

fn key(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    bytes.hash(&mut hasher);
    hasher.finish()
}

impl Decoder for Foreign {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        let parts = self.shared.entry.answers;
        parts.verdict.then(|| answered(self.shared.whole(bytes)).validity(parts)).flatten()
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let entry = &self.shared.entry;
        entry.answers.output.then(|| output(entry, &answered(self.shared.whole(bytes)), out)).flatten()
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        let stream = || ForeignStream {
            shared: &self.shared,
            life: DefaultHasher::new(),
            chunks: Vec::new(),
            own: None,
            reading: Reading::new(&self.shared.entry),
        };
        self.shared.entry.answers.stream.then(|| Box::new(stream()) as Box<dyn Stream>)
    }

    fn batched(&self) -> Option<&dyn Batched> {
        Some(self)
    }
}

impl Batched for Foreign {
    fn is_slow(&self) -> bool {
        self.is_slow
    }

    fn stop(&self) {
        lock(&self.shared.lanes).values().for_each(|lane| lock(lane).process = None);
    }

    fn summary(&self) -> String {
        let Cost { operations, time, failures, .. } = self.cost();
        let rate = operations as f64 / time.as_secs_f64().max(1e-9);
        let failed = match failures {
            0 => "",
            _ if self.is_set_aside() => "; set aside, since it failed too often",
            _ => "; started again after failures",
        };
        format!("{operations} operations in {:.1} s, {rate:.0} a second{failed}", time.as_secs_f64())
    }

    fn is_set_aside(&self) -> bool {
        lock(&self.shared.lanes).values().any(|lane| lock(lane).cost.failures >= MOST_FAILURES)
    }

    fn planner(&self) -> &dyn Decoder {
        &self.planner
    }

    fn ask_planned(&self) {
        let lane = self.shared.lane();
        let mut lane = lock(&lane);
        let planned = std::mem::take(&mut lane.planned);
        lane.noted.clear();
        lane.whole.clear();
        lane.streamed.clear();
        if planned.is_empty() {
            return;
        }
        let replies = self.shared.ask(&mut lane, &planned);
        let mut lives: HashMap<u32, DefaultHasher> = HashMap::new();
        for ((operation, bytes), reply) in planned.operations().zip(replies) {
            match operation {
                Operation::Decode => drop(lane.whole.insert(key(bytes), reply)),
                Operation::Push(stream) => {
                    let life = lives.entry(stream).or_default();
                    bytes.hash(life);
                    let key = life.finish();
                    lane.streamed.entry(key).or_default().push_back(reply);
                }
                Operation::Finish(stream) => {
                    let life = lives.remove(&stream).unwrap_or_default();
                    lane.streamed.entry(end_of(life)).or_default().push_back(reply);
                }
                Operation::Drop(stream) => drop(lives.remove(&stream)),
            }
        }
    }
}

/// The key of the end of a stream that was fed these chunks.
fn end_of(mut life: DefaultHasher) -> u64 {
    "end".hash(&mut life);
    life.finish()
}

/// A stream of a decoder in another process.
struct ForeignStream<'s> {
    shared: &'s Shared,
    /// The chunks since the start, hashed.
    life: DefaultHasher,
    chunks: Vec<Vec<u8>>,
    /// The number that the stream has in the adapter, if something unforeseen was asked.
    own: Option<u32>,
    reading: Reading,
}

impl ForeignStream<'_> {
    /// The reply to the last chunk, or to the end.
    fn ask(&mut self, operation: fn(u32) -> Operation, key: u64) -> Answer {
        let lane = self.shared.lane();
        let mut lane = lock(&lane);
        let foreseen = match self.own {
            None => lane.streamed.get_mut(&key).and_then(VecDeque::pop_front),
            Some(_) => None,
        };
        if let Some(reply) = foreseen {
            return answered(reply);
        }
        let mut batch = Batch::default();
        let is_new = self.own.is_none();
        let number = *self.own.get_or_insert_with(|| lane.number());
        let last = matches!(operation(number), Operation::Push(_));
        // All chunks so far if the adapter has seen none, otherwise only this one.
        let from = if is_new { 0 } else { self.chunks.len() - usize::from(last) };
        self.chunks[from..].iter().for_each(|chunk| batch.push(Operation::Push(number), chunk));
        if !last {
            batch.push(operation(number), b"");
        }
        answered(self.shared.ask(&mut lane, &batch).pop().unwrap_or_else(|| Err(Failure::of("no reply"))))
    }
}

impl Lane {
    fn number(&mut self) -> u32 {
        self.next_stream += 1;
        self.next_stream
    }
}

impl Stream for ForeignStream<'_> {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        chunk.hash(&mut self.life);
        self.chunks.push(chunk.to_vec());
        let key = self.life.finish();
        let answer = self.ask(Operation::Push, key);
        self.reading.push(&self.shared.entry, &answer, out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        let life = std::mem::take(&mut self.life);
        let answer = self.ask(Operation::Finish, end_of(life));
        self.chunks.clear();
        self.reading.finish(&self.shared.entry, &answer, out)
    }

    fn is_answered(&self) -> bool {
        !self.reading.could_not_say
    }
}

impl Drop for ForeignStream<'_> {
    fn drop(&mut self) {
        let Some(number) = self.own else { return };
        let mut batch = Batch::default();
        batch.push(Operation::Drop(number), b"");
        let lane = self.shared.lane();
        let mut lane = lock(&lane);
        if lane.process.is_some() {
            self.shared.ask(&mut lane, &batch);
        }
    }
}

/// Notes what is asked, and answers as the contract prescribes.
struct Planner {
    info: Info,
    shared: Arc<Shared>,
}

impl Planner {
    fn note(&self, bytes: &[u8]) {
        let lane = self.shared.lane();
        let mut lane = lock(&lane);
        if lane.noted.insert(key(bytes)) {
            lane.planned.push(Operation::Decode, bytes);
        }
    }
}

impl Decoder for Planner {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        if !self.shared.entry.answers.verdict {
            return None;
        }
        self.note(bytes);
        self.shared.masked(spec::validity(&self.shared.contract, bytes))
    }

    fn decode_lossy(&self, bytes: &[u8], _: &mut Vec<u8>) -> Option<()> {
        if !self.shared.entry.answers.output {
            return None;
        }
        self.note(bytes);
        Some(())
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        let shared = &*self.shared;
        shared.entry.answers.stream.then(|| {
            let number = lock(&shared.lane()).number();
            Box::new(PlannedStream { shared, number }) as Box<dyn Stream>
        })
    }
}

/// A stream of a [`Planner`].
struct PlannedStream<'s> {
    shared: &'s Shared,
    number: u32,
}

impl PlannedStream<'_> {
    fn note(&self, operation: Operation, bytes: &[u8]) {
        lock(&self.shared.lane()).planned.push(operation, bytes);
    }
}

impl Stream for PlannedStream<'_> {
    fn push(&mut self, chunk: &[u8], _: &mut Vec<u8>) {
        self.note(Operation::Push(self.number), chunk);
    }

    fn finish(&mut self, _: &mut Vec<u8>) -> Option<Validity> {
        self.note(Operation::Finish(self.number), b"");
        None
    }
}

impl Drop for PlannedStream<'_> {
    fn drop(&mut self) {
        self.note(Operation::Drop(self.number), b"");
    }
}
