//! What the programs under `fuzz/` call: a [`Target`] that judges one input after another, and aborts with a report on
//! the first new divergence.
//!
//! A target returns whether its input has a new behaviour feature (see [`judge`](crate::judge)), and which. libFuzzer
//! keeps inputs with a new feature and discards the others. On Linux (x86-64, AArch64) it gets the counters of code
//! coverage in these targets, about a hundred thousand, only with `UTFUZZ_FEATURES=none` (see [`link`](crate::engine::link)): they say little
//! about branch-free decoders.
//!
//! A target judges the peers of its [`Scope`] and any additional decoders it is given. The environment variable
//! `UTFUZZ_DECODERS` selects others (see [`peers::select`]). `UTFUZZ_FEATURES` selects groups of behaviour features by
//! name, separated by commas, to measure what each is worth; with `none`, libFuzzer uses only code coverage, and every
//! input is judged in full. `UTFUZZ_ADAPTERS` adds decoders in other processes, which are asked about inputs that have a
//! new feature, a few hundred at a time. `UTFUZZ_REPORTED` names a file of signatures that were reported before.

#[cfg(feature = "libfuzzer")]
mod macros;
#[cfg(all(feature = "foreign", unix))]
mod queue;
mod roundtrip;

#[cfg(feature = "libfuzzer")]
pub use libfuzzer_sys;
#[cfg(feature = "libfuzzer")]
pub use macros::{judged, mutate_by_pool, mutated, start};
#[cfg(all(feature = "foreign", unix))]
pub use queue::ADAPTERS;
pub use roundtrip::{Deviation, RoundTrip};

use crate::case::Case;
use crate::decoder::Decoder;
#[cfg(feature = "libfuzzer")]
use crate::explain::Shape;
use crate::explain::{Divergence, Signature};
use crate::generate::structured::Structured;
#[cfg(feature = "libfuzzer")]
use crate::judge::{Ending, Law, Subject};
use crate::peers;
use crate::spec::grammar::RFC3629;
use crate::spec::{Contract, Replacement};
#[cfg(feature = "libfuzzer")]
use crate::text::{counted, hex};
use crate::triage::ledger::Ledger;
use crate::triage::session::{Session, Shown};
use arbitrary::{Arbitrary, Unstructured};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::Write;
use std::path::PathBuf;
use std::sync::Mutex;
use std::time::Instant;
use std::{fmt, fs};

/// The environment variable that selects decoders.
pub const DECODERS: &str = "UTFUZZ_DECODERS";

/// Before it aborts, a target prints this and the seconds from the first input until the divergence was found.
pub const FOUND_AFTER: &str = "FOUND_AFTER: ";

/// The environment variable that selects groups of behaviour features.
pub const FEATURES: &str = "UTFUZZ_FEATURES";

/// The environment variable that names a file in which targets write the signatures at which they abort. A target goes on
/// after one that is in it three times, so that a night does not end at its first finding.
pub const REPORTED: &str = "UTFUZZ_REPORTED";

/// The value of [`FEATURES`] that selects none: libFuzzer is guided by code coverage.
const NO_FEATURES: &str = "none";

/// Which peers a target judges, unless the environment variable selects decoders.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// None of them: only the decoders that the target is given.
    None,
    /// All of them.
    All,
    /// Those whose grammar is RFC 3629.
    Standard,
    /// Those with another grammar, or another replacement than U+FFFD.
    Relatives,
}

impl Scope {
    fn has(self, contract: &Contract) -> bool {
        let replaces = |other| other != Replacement::ReplacementCharacter;
        match self {
            Self::None => false,
            Self::All => true,
            Self::Standard => *contract.grammar == RFC3629,
            Self::Relatives => *contract.grammar != RFC3629 || contract.replacement.is_some_and(replaces),
        }
    }
}

/// The state of a fuzz target. It is initialised at the first input, and prints its statistics when it is dropped,
/// which for a thread-local is when the process ends:
///
/// ```no_run
/// # use utfuzz_core as utfuzz;
/// use utfuzz::engine::fuzz::{Scope, Target};
///
/// thread_local!(static TARGET: Target = const { Target::new(Scope::Standard, Vec::new) });
///
/// fn fuzz(bytes: &[u8]) -> bool {
///     TARGET.with(|target| target.run(&utfuzz::case::Case::new(bytes), |_feature| {}))
/// }
/// ```
pub struct Target {
    scope: Scope,
    more: fn() -> Vec<Box<dyn Decoder>>,
    ledger: Option<&'static str>,
    running: RefCell<Option<Running>>,
}

struct Running {
    session: Session<'static>,
    /// When the first input came.
    since: Option<Instant>,
    /// Whether libFuzzer is guided by behaviour features; otherwise by code coverage only.
    by_behaviour: bool,
    reported: Option<Reported>,
    /// Inputs for decoders in other processes.
    #[cfg(all(feature = "foreign", unix))]
    queue: Option<queue::Queue>,
}

impl Target {
    /// A target that judges the decoders that `decoders` creates, which is called once.
    pub const fn of(decoders: fn() -> Vec<Box<dyn Decoder>>) -> Self {
        Self::new(Scope::None, decoders)
    }

    /// A target that judges the peers of a scope.
    pub const fn peers(scope: Scope) -> Self {
        Self::new(scope, Vec::new)
    }

    /// A target that judges the peers of a scope and the decoders that `more` creates, which is called once.
    pub const fn new(scope: Scope, more: fn() -> Vec<Box<dyn Decoder>>) -> Self {
        Self { scope, more, ledger: None, running: RefCell::new(None) }
    }

    /// The same with this ledger of known differences, the text of a TOML file, instead of the one of this crate.
    #[must_use]
    pub const fn ledger(mut self, text: &'static str) -> Self {
        self.ledger = Some(text);
        self
    }

    /// Judges a case: in full if it has a new behaviour feature, otherwise by a sample. Returns whether libFuzzer
    /// should keep it. If it has a new feature, `feature` is called with each of its behaviour features, numbers below
    /// [`judge::FEATURES`](crate::judge::FEATURES).
    ///
    /// A new divergence is printed, and the process aborts. If an environment variable is invalid, the process prints
    /// an error and exits with status 2.
    pub fn run(&self, case: &Case<'_>, feature: impl FnMut(usize)) -> bool {
        self.with_input(|running| match running.by_behaviour {
            true => {
                let novel = running.session.judge_novelty(case, feature);
                running.stop_at_new(novel.shown);
                if novel.is_novel {
                    running.enqueue(case);
                }
                novel.is_novel
            }
            false => {
                let shown = running.session.judge(case);
                running.stop_at_new(shown);
                running.enqueue(case);
                true
            }
        })
    }

    /// Asks every decoder every question about a case. Aborts like [`Target::run`].
    pub fn run_in_full(&self, case: &Case<'_>) {
        self.with_input(|running| {
            let shown = running.session.judge(case);
            running.stop_at_new(shown);
        });
    }

    fn with_input<T>(&self, work: impl FnOnce(&mut Running) -> T) -> T {
        self.with(|running| {
            running.since.get_or_insert_with(Instant::now);
            work(running)
        })
    }

    fn with<T>(&self, work: impl FnOnce(&mut Running) -> T) -> T {
        let mut running = self.running.borrow_mut();
        let start = || {
            Running::start(self.scope, self.more, self.ledger).unwrap_or_else(|error| {
                eprintln!("{error}");
                std::process::exit(2)
            })
        };
        work(running.get_or_insert_with(start))
    }
}

/// Whether the environment selects code coverage instead of behaviour features.
pub fn is_guided_by_code() -> bool {
    let groups = std::env::var(FEATURES).unwrap_or_default();
    groups_in(&groups).eq([NO_FEATURES])
}

/// The names in a value of [`FEATURES`].
fn groups_in(value: &str) -> impl Iterator<Item = &str> {
    value.split(',').map(str::trim).filter(|group| !group.is_empty())
}

/// Keeps decoders, and the ledger of their known differences, until the process ends.
fn keep(decoders: Vec<Box<dyn Decoder>>, ledger: Ledger) -> (&'static [Box<dyn Decoder>], &'static Ledger) {
    type Kept = (&'static [Box<dyn Decoder>], &'static Ledger);
    /// Where the leak checker of AddressSanitizer finds them.
    static KEPT: Mutex<Vec<Kept>> = Mutex::new(Vec::new());
    let kept: Kept = (decoders.leak(), Box::leak(Box::new(ledger)));
    KEPT.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).push(kept);
    kept
}

impl Running {
    /// # Errors
    /// The environment variable that is invalid, and why.
    fn start(scope: Scope, more: fn() -> Vec<Box<dyn Decoder>>, ledger: Option<&'static str>) -> Result<Self, String> {
        let ledger = match ledger {
            Some(text) => Ledger::parse(text, "the ledger of the fuzz targets").map_err(|error| error.to_string())?,
            None => Ledger::built_in(),
        };
        let mut decoders = peers::all();
        let count = decoders.len();
        decoders.extend(more());
        let filter = std::env::var(DECODERS).unwrap_or_default();
        let invalid = |error| format!("{DECODERS}: {error}");
        #[cfg(all(feature = "foreign", unix))]
        let (selected, queue) = match queue::Foreign::named(&ledger)? {
            Some(mut foreign) => {
                // One filter applies to all decoders.
                let here = decoders.len();
                decoders.append(&mut foreign.decoders);
                let mut selected = peers::select(&decoders, &filter).map_err(invalid)?;
                let elsewhere = decoders.drain(here..).zip(selected.drain(here..));
                let chosen: Vec<_> = elsewhere.filter_map(|(decoder, selected)| selected.then_some(decoder)).collect();
                if chosen.is_empty() {
                    return Err(format!("{DECODERS}: {filter:?} selects no decoder of {}", queue::ADAPTERS));
                }
                let (chosen, known) = keep(chosen, foreign.ledger);
                (selected, Some(queue::Queue::of(chosen, known)))
            }
            None => (peers::select(&decoders, &filter).map_err(invalid)?, None),
        };
        #[cfg(not(all(feature = "foreign", unix)))]
        let selected = peers::select(&decoders, &filter).map_err(invalid)?;
        let (decoders, ledger) = keep(decoders, ledger);
        crate::judge::silence_panics();
        // A target meets a divergence more than once only if it was reported before.
        let mut session = Session::new(decoders.iter().map(|decoder| &**decoder), ledger).settling_after(8);
        let judge = session.judge_mut();
        for (index, decoder) in decoders.iter().enumerate() {
            let in_scope = !filter.is_empty() || index >= count || scope.has(&decoder.info().contract);
            if !selected[index] || !in_scope {
                judge.switch_off(index);
            }
        }
        let groups = std::env::var(FEATURES).unwrap_or_default();
        let groups: Vec<&str> = groups_in(&groups).collect();
        let by_behaviour = !is_guided_by_code();
        if by_behaviour && !groups.is_empty() {
            let refused =
                |known: Vec<&str>| format!("{FEATURES}: {NO_FEATURES} alone, or some of {}", known.join(", "));
            judge.only_features(&groups).map_err(refused)?;
        }
        let reported = std::env::var_os(REPORTED).map(|path| Reported::new(path.into()));
        Ok(Self {
            session,
            since: None,
            by_behaviour,
            reported,
            #[cfg(all(feature = "foreign", unix))]
            queue,
        })
    }

    fn stop_at_new(&mut self, shown: Vec<Shown>) {
        for shown in shown {
            if let Shown::New(divergence) = shown
                && !self.reported.as_mut().is_some_and(|reported| reported.has(&divergence.signature))
            {
                let elapsed = self.since.map(|since| since.elapsed()).unwrap_or_default();
                let found_after = elapsed.saturating_sub(self.session.explaining() + self.session.confirming());
                eprintln!("{FOUND_AFTER}{:.6}", found_after.as_secs_f64());
                eprintln!("{}", crash_report(&divergence));
                #[cfg(all(address_sanitizer, unix))]
                sanitizer::silence();
                std::process::abort();
            }
        }
    }

    /// Keeps a case for the decoders in other processes. Ends the process if one of those that wait shows a new divergence.
    fn enqueue(&mut self, case: &Case<'_>) {
        #[cfg(all(feature = "foreign", unix))]
        if let Some(queue) = &mut self.queue
            && let Some((divergence, input)) = queue.add(case)
        {
            stop_at_queued(&divergence, &input);
        }
        #[cfg(not(all(feature = "foreign", unix)))]
        let _ = case;
    }
}

/// The file that [`REPORTED`] names.
struct Reported {
    path: PathBuf,
    /// What need not be reported again.
    enough: BTreeSet<Signature>,
}

impl Reported {
    /// How often a signature is reported. The process may be killed before libFuzzer has written the artifact.
    const TIMES: usize = 3;

    fn new(path: PathBuf) -> Self {
        Self { path, enough: BTreeSet::new() }
    }

    /// Whether this signature was reported often enough. If not, it is added to the file.
    fn has(&mut self, signature: &Signature) -> bool {
        if self.enough.contains(signature) {
            return true;
        }
        let name = signature.to_string();
        // Other processes write to the same file.
        let before = fs::read_to_string(&self.path).unwrap_or_default();
        let is_enough = before.lines().filter(|line| *line == name).count() >= Self::TIMES;
        if is_enough {
            self.enough.insert(signature.clone());
        } else {
            // If it cannot be written, the signature is reported again.
            let file = fs::File::options().create(true).append(true).open(&self.path);
            let _ = file.and_then(|mut file| file.write_all(format!("{name}\n").as_bytes()));
        }
        is_enough
    }
}

/// Writes the artifact of a divergence of a decoder in another process, prints what libFuzzer would print, and ends the
/// process with the exit status of a crash.
#[cfg(all(feature = "foreign", unix))]
fn stop_at_queued(divergence: &Divergence, input: &crate::case::Input) -> ! {
    /// The exit status with which libFuzzer reports a crash.
    const CRASHED: i32 = 77;
    eprintln!("{}", crash_report(divergence));
    match queue::write_artifact(input) {
        Ok(path) => eprintln!("Test unit written to {}", crate::text::shown(&path)),
        Err(error) => eprintln!("The artifact cannot be written: {error}"),
    }
    // SAFETY: `_exit` only ends the process. `exit` would run the callback with which libFuzzer writes the current input.
    #[allow(unsafe_code, reason = "the C library's `_exit` has no safe equivalent")]
    unsafe {
        libc::_exit(CRASHED)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let known: u64 = self.session.record().known.values().sum();
        #[cfg(all(feature = "foreign", unix))]
        if let Some(queue) = &mut self.queue {
            if let Some((divergence, input)) = queue.ask() {
                stop_at_queued(&divergence, &input);
            }
            eprintln!("\nadapters: {}", queue.statistics());
        }
        eprintln!("\noracle: {}\nknown differences passed: {known}", self.session.statistics());
    }
}

#[cfg(all(address_sanitizer, unix))]
#[allow(unsafe_code, reason = "the sanitizer has a C interface")]
mod sanitizer {
    use core::ffi::c_void;
    use std::os::fd::IntoRawFd;

    /// Keeps the stack of the abort out of the report. It is that of the harness and the same for every divergence.
    /// ClusterFuzz would add two of its frames to the crash state, and it groups crash states that share two lines.
    pub(super) fn silence() {
        unsafe extern "C" {
            fn __sanitizer_set_report_fd(fd: *mut c_void);
        }
        if let Ok(nowhere) = std::fs::File::create("/dev/null") {
            // SAFETY: the function takes a file descriptor as a pointer value, and this one is never closed.
            unsafe { __sanitizer_set_report_fd(core::ptr::without_provenance_mut(nowhere.into_raw_fd() as usize)) };
        }
    }
}

/// What AddressSanitizer calls before it reports an error (`__asan_on_error`): prints which decoder was asked, and
/// keeps out the sanitizer's report, by whose stack ClusterFuzz would group. The environment variable
/// `UTFUZZ_ASAN_REPORT` brings it back.
#[cfg(feature = "libfuzzer")]
pub fn memory_fault() {
    let Some((decoder, bytes)) = crate::judge::isolate::asked() else { return };
    let signature = Signature {
        law: Law::Panic,
        decoder: decoder.clone().into(),
        subject: Subject::Process(Ending::Fault),
        shape: Shape::Anywhere,
    };
    let (len, hex) = (counted(bytes.len(), "byte"), hex(&bytes));
    let what = "accessed memory that is not its own; UTFUZZ_ASAN_REPORT=1 shows the report of AddressSanitizer";
    eprintln!("\n{decoder} {what}\ninput, {len}: {hex}");
    eprintln!("Assertion failure: {}\nDEDUP_TOKEN: {signature}", signature.spelled());
    #[cfg(all(address_sanitizer, unix))]
    if std::env::var_os("UTFUZZ_ASAN_REPORT").is_none() {
        sanitizer::silence();
    }
}

/// What is printed before aborting. The last two lines are for tools: ClusterFuzz uses the first as the crash state,
/// and libFuzzer's minimiser keeps the second unchanged.
pub fn crash_report(divergence: &Divergence) -> String {
    let signature = &divergence.signature;
    format!("\n{divergence}\nAssertion failure: {}\nDEDUP_TOKEN: {signature}", signature.spelled())
}

/// The target `roundtrip`: conversions there and back, generated from the file.
pub fn roundtrip(input: &RoundTrip) {
    if let Some(deviation) = input.deviation() {
        eprintln!("\n{input:?}\n{deviation}");
        std::process::abort();
    }
}

/// The input of the target `structured`. Its `Debug` prints what each decoder answers.
pub struct StructuredInput(Structured);

impl StructuredInput {
    /// The case to judge.
    pub fn case(&self) -> Case<'_> {
        Case::new(&self.0.0)
    }
}

impl<'a> Arbitrary<'a> for StructuredInput {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        Structured::arbitrary(u).map(Self)
    }
}

impl fmt::Debug for StructuredInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decoders = peers::all();
        let grid =
            crate::explain::Grid::of(&Contract::STANDARD, decoders.iter().map(|decoder| &**decoder), &self.case());
        write!(f, "{:?}\n{grid}", self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::Shape;
    use crate::judge::{Law, Subject};
    use crate::utf8::Kind;

    fn shipped() -> Vec<Box<dyn Decoder>> {
        peers::all().into_iter().filter(|decoder| !decoder.info().name.starts_with("planted-")).collect()
    }

    /// The first thing that a session with this ledger shows for these bytes.
    fn first_shown(decoders: &[Box<dyn Decoder>], ledger: &Ledger, bytes: &[u8]) -> Option<Shown> {
        let mut session = Session::new(decoders.iter().map(|decoder| &**decoder), ledger);
        session.judge_novelty(&Case::new(bytes), |_| {}).shown.into_iter().next()
    }

    #[test]
    fn a_known_difference_passes_and_a_new_one_is_reported() {
        let decoders = shipped();
        let known = first_shown(&decoders, &Ledger::built_in(), b"\xC0\xAF");
        assert!(matches!(known, Some(Shown::Known(_))), "{known:?}");
        let new = first_shown(&decoders, &Ledger::default(), b"\xC0\xAF");
        let Some(Shown::New(divergence)) = new else { panic!("{new:?}") };
        let report = crash_report(&divergence);
        let last: Vec<&str> = report.lines().rev().take(2).collect();
        assert_eq!(last[0], "DEDUP_TOKEN: verdict/utf8-decode/overlong-2/anywhere");
        assert_eq!(last[1], "Assertion failure: verdict/utfeight-decode/overlong-two/anywhere");
        assert!(report.contains("#[test]\nfn verdict_utf8_decode_overlong_2_anywhere() {"), "{report}");
        assert!(report.contains("RFC 3629 §3") && report.contains("C0"), "{report}");
    }

    #[test]
    fn a_signature_is_reported_three_times_by_all_processes_together() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("reported");
        let [one, other] = [Shape::Anywhere, Shape::Tail].map(|shape| Signature {
            law: Law::Verdict,
            decoder: "a".into(),
            subject: Subject::End,
            shape,
        });
        let mut first = Reported::new(path.clone());
        assert_eq!([&one, &one, &other].map(|signature| first.has(signature)), [false; 3]);
        let mut second = Reported::new(path.clone());
        assert_eq!([&one, &one, &one, &other].map(|signature| second.has(signature)), [false, true, true, false]);
        assert!(first.has(&one) && !first.has(&other) && first.has(&other));
        assert_eq!(fs::read_to_string(path).unwrap().lines().count(), 6);
        let mut unwritable = Reported::new(directory.path().to_owned());
        assert_eq!([&one; 5].map(|signature| unwritable.has(signature)), [false; 5]);
    }

    #[test]
    fn no_signature_is_cut_short_as_a_crash_state() {
        /// The number of bytes of a line that ClusterFuzz keeps.
        const KEPT: usize = 80;
        let shapes = [Shape::Anywhere, Shape::Edge(64), Shape::Offset, Shape::Tail, Shape::Cut, Shape::Context];
        let kinds = Kind::ALL.into_iter().map(Subject::Fault);
        let subjects: Vec<_> = kinds.chain([Subject::WellFormed(3), Subject::End, Subject::Unplaced]).collect();
        for decoder in shipped().iter().map(|decoder| &decoder.info().name) {
            for law in Law::ALL {
                for (&subject, shape) in subjects.iter().flat_map(|subject| shapes.map(|shape| (subject, shape))) {
                    let spelled = Signature { law, decoder: decoder.clone(), subject, shape }.spelled();
                    assert!(spelled.len() <= KEPT && !spelled.contains(|c: char| c.is_ascii_digit()), "{spelled}");
                }
            }
        }
    }

    /// The names of the decoders with at least one answer that a target has compared.
    fn judged(target: &Target) -> Vec<String> {
        target.run(&Case::new(b"a\xE2\x82\xAC"), |_| {});
        target.with(|running| {
            let comparisons = &running.session.statistics().comparisons;
            comparisons.iter().filter(|(_, count)| *count > 0).map(|(name, _)| name.to_string()).collect()
        })
    }

    /// Two targets in one process are independent. With planted decoders, tests name the decoders that are judged, whatever the
    /// target.
    #[test]
    #[cfg_attr(feature = "planted", ignore = "UTFUZZ_DECODERS would be set")]
    fn each_target_judges_its_own_decoders() {
        let own = |target: &Target, name: &str| judged(target).iter().any(|judged| judged == name);
        let standard = Target::new(Scope::Standard, Vec::new);
        let relatives = Target::new(Scope::Relatives, peers::policies);
        assert!(own(&standard, "std") && !own(&standard, "own-cesu-8"));
        assert!(!own(&relatives, "std") && own(&relatives, "own-cesu-8"));
        let policy = peers::policies()[0].info().name.to_string();
        assert!(own(&relatives, &policy) && !own(&standard, &policy));
    }

    #[test]
    fn novelty_is_returned_with_its_features_once() {
        let target = Target::new(Scope::Standard, Vec::new);
        let novel = |bytes: &[u8]| {
            let mut features = 0;
            let is_novel = target.run(&Case::new(bytes), |_| features += 1);
            (is_novel, features > 0)
        };
        assert_eq!(novel(b"\xE2\x82"), (true, true));
        assert_eq!(novel(b"\xE2\x82"), (false, false));
        assert_eq!(novel(b"a\xE2\x82"), (true, true));
    }

    #[test]
    fn a_structured_input_shows_the_answer_of_each_decoder() {
        let shown = format!("{:?}", StructuredInput(Structured(b"\xC0\xAF".to_vec())));
        assert!(shown.contains(r#"b"\xc0\xaf""#) && shown.contains("utf8-decode"), "{shown}");
    }
}
