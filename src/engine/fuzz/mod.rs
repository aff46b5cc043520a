//! What the targets under `fuzz/` call: one harness for the process, a report and an abort on the first new divergence.
//!
//! A target returns whether its input did something new in terms of the standard (`judge::feedback`), and [`features`]
//! names what. libFuzzer is told to keep those inputs and to forget the others, which also spares it looking at tens of
//! thousands of code counters that say little about branch-free decoders.
//!
//! A target judges the decoders of its [`Scope`], and whatever it is given beside the peers. `UTFUZZ_DECODERS` selects others
//! (see [`peers::select`]). A decoder that is switched off keeps its place.
//! `UTFUZZ_FEATURES` selects groups of behaviour features by name, separated by commas, to measure what each is worth;
//! `none` leaves libFuzzer with code coverage alone, and every input is judged in full.

mod roundtrip;

pub use roundtrip::{Deviation, RoundTrip};

use crate::case::{Case, Input};
use crate::decoder::Decoder;
use crate::explain::{Divergence, Signature};
use crate::generate::structured::Structured;
use crate::judge::{Broken, Judge};
use crate::peers;
use crate::spec::grammar::RFC3629;
use crate::spec::{Contract, Replacement};
use crate::triage::ledger::Ledger;
use arbitrary::{Arbitrary, Unstructured};
use std::cell::RefCell;
use std::fmt;
use std::sync::OnceLock;

/// The environment variable that selects decoders.
pub const DECODERS: &str = "UTFUZZ_DECODERS";

/// The environment variable that selects groups of behaviour features.
pub const FEATURES: &str = "UTFUZZ_FEATURES";

/// Which of the peers a target judges where the environment does not say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// All of them.
    All,
    /// Those whose grammar is RFC 3629.
    Standard,
    /// Those of every other contract: another grammar, or another replacement than U+FFFD.
    Relatives,
}

impl Scope {
    fn has(self, contract: &Contract) -> bool {
        let replaces = |other| other != Replacement::ReplacementCharacter;
        match self {
            Self::All => true,
            Self::Standard => *contract.grammar == RFC3629,
            Self::Relatives => *contract.grammar != RFC3629 || contract.replacement.is_some_and(replaces),
        }
    }
}

/// Judges cases and lets known differences pass.
pub struct Harness<'d> {
    judge: Judge<'d>,
    ledger: Ledger,
    known: u64,
}

impl<'d> Harness<'d> {
    /// A harness of those of the decoders that this filter selects; all of them where it is empty.
    ///
    /// # Errors
    /// The filter names a decoder there is not.
    pub fn new(decoders: &'d [Box<dyn Decoder>], filter: &str, ledger: Ledger) -> Result<Self, peers::UnknownDecoder> {
        let selected = peers::select(decoders, filter)?;
        let mut judge = Judge::new(decoders.iter().map(|decoder| &**decoder));
        selected.iter().enumerate().filter(|(_, selected)| !**selected).for_each(|(index, _)| judge.switch_off(index));
        Ok(Self { judge, ledger, known: 0 })
    }

    /// The first divergence of a case that the ledger does not know. A case that does nothing new is only sampled.
    pub fn run(&mut self, case: &Case<'_>) -> Option<Divergence> {
        self.run_naming(case, |_| {}).0
    }

    /// As [`Harness::run`]; also whether the case did something new, and if so, the behaviour features it has.
    fn run_naming(&mut self, case: &Case<'_>, feature: impl FnMut(usize)) -> (Option<Divergence>, bool) {
        let novel = self.judge.judge_novelty(case, feature);
        let (broken, is_novel) = (novel.broken.to_vec(), novel.is_novel);
        (self.first_new(case, &broken), is_novel)
    }

    /// As [`Harness::run`], with every question put to every decoder.
    pub fn run_in_full(&mut self, case: &Case<'_>) -> Option<Divergence> {
        let broken = self.judge.judge(case).to_vec();
        self.first_new(case, &broken)
    }

    fn first_new(&mut self, case: &Case<'_>, all_broken: &[Broken]) -> Option<Divergence> {
        for &broken in all_broken {
            if self.is_known(&broken) {
                self.known += 1;
                continue;
            }
            // One question alone may show a known difference in another light: ask this decoder everything. What is
            // not found again hangs on what was asked before: that is a difference too.
            let whole = self.judge.judge_one(broken.decoder, case).unwrap_or(broken);
            if !self.is_known(&whole) {
                let divergence = crate::explain::explain(&self.judge, case, &whole);
                let Signature { law, subject, .. } = divergence.signature;
                if !self.is_known(&Broken { law, subject, ..whole }) {
                    return Some(divergence);
                }
            }
            self.known += 1;
        }
        None
    }

    fn is_known(&self, broken: &Broken) -> bool {
        let info = self.judge.decoders().nth(broken.decoder).map(Decoder::info);
        info.is_some_and(|info| self.ledger.covers(info, broken.law, broken.subject).is_some())
    }
}

/// The harness of the process, which says what it has seen when the process ends.
struct Announced {
    harness: Harness<'static>,
    /// Whether libFuzzer goes by behaviour; else by code coverage alone.
    by_behaviour: bool,
    /// The behaviour features of the last input, where it was novel.
    features: Vec<usize>,
}

impl Drop for Announced {
    fn drop(&mut self) {
        let Harness { judge, known, .. } = &self.harness;
        eprintln!("\noracle: {}\nknown differences passed: {known}", judge.statistics());
    }
}

thread_local! {
    /// Dropped when the process ends, which is when the statistics are printed.
    static HARNESS: RefCell<Option<Announced>> = const { RefCell::new(None) };
}

fn from_environment(scope: Scope, more: fn() -> Vec<Box<dyn Decoder>>) -> Announced {
    static ALL: OnceLock<Vec<Box<dyn Decoder>>> = OnceLock::new();
    let peers = peers::all();
    let count = peers.len();
    let decoders = ALL.get_or_init(|| peers.into_iter().chain(more()).collect());
    let variable = |name| std::env::var(name).unwrap_or_default();
    let refuse = |name: &str, error: &dyn fmt::Display| -> ! {
        eprintln!("{name}: {error}");
        std::process::exit(2);
    };
    crate::judge::silence_panics();
    let mut harness = Harness::new(decoders, &variable(DECODERS), Ledger::built_in())
        .unwrap_or_else(|error| refuse(DECODERS, &error));
    if variable(DECODERS).is_empty() {
        let outside = |decoder: &dyn Decoder| !scope.has(&decoder.info().contract);
        let outside = decoders[..count].iter().enumerate().filter(|(_, decoder)| outside(&***decoder));
        outside.for_each(|(index, _)| harness.judge.switch_off(index));
    }
    let groups = variable(FEATURES);
    let groups: Vec<&str> = groups.split(',').map(str::trim).filter(|group| !group.is_empty()).collect();
    let by_behaviour = groups != ["none"];
    if by_behaviour
        && !groups.is_empty()
        && let Err(known) = harness.judge.only_features(&groups)
    {
        refuse(FEATURES, &format_args!("none alone, or some of {}", known.join(", ")));
    }
    Announced { harness, by_behaviour, features: Vec::new() }
}

fn run(scope: Scope, more: fn() -> Vec<Box<dyn Decoder>>, case: &Case<'_>) -> bool {
    run_by(true, scope, more, case)
}

fn run_by(behaviour: bool, scope: Scope, more: fn() -> Vec<Box<dyn Decoder>>, case: &Case<'_>) -> bool {
    HARNESS.with_borrow_mut(|slot| {
        let Announced { harness, by_behaviour, features } = slot.get_or_insert_with(|| from_environment(scope, more));
        features.clear();
        let by_behaviour = behaviour && *by_behaviour;
        let (divergence, is_novel) = if by_behaviour {
            harness.run_naming(case, |feature| features.push(feature))
        } else {
            (harness.run_in_full(case), true)
        };
        if let Some(divergence) = divergence {
            eprintln!("{}", crash_report(&divergence));
            #[cfg(all(address_sanitizer, unix))]
            sanitizer::silence();
            std::process::abort();
        }
        is_novel
    })
}

#[cfg(all(address_sanitizer, unix))]
#[allow(unsafe_code, reason = "the sanitizer is asked by its C interface")]
mod sanitizer {
    use core::ffi::c_void;
    use std::os::fd::IntoRawFd;

    /// Keeps the stack of the abort out of the report. It is the harness's own, the same for every divergence, yet
    /// ClusterFuzz would put two of its frames behind the signature; and it groups crash states that share two lines.
    pub(super) fn silence() {
        unsafe extern "C" {
            fn __sanitizer_set_report_fd(fd: *mut c_void);
        }
        if let Ok(nowhere) = std::fs::File::create("/dev/null") {
            // SAFETY: the function takes a file descriptor in the shape of a pointer, and this one is never closed.
            unsafe { __sanitizer_set_report_fd(core::ptr::without_provenance_mut(nowhere.into_raw_fd() as usize)) };
        }
    }
}

/// Names the behaviour features, below [`judge::FEATURES`](crate::judge::FEATURES), of the last input where it was novel.
pub fn features(each: impl FnMut(usize)) {
    HARNESS.with_borrow(|slot| slot.iter().flat_map(|announced| &announced.features).copied().for_each(each));
}

/// What is printed before aborting. The last two lines are read by machines: ClusterFuzz makes the first the crash
/// state, libFuzzer's minimiser does not let the second change.
pub fn crash_report(divergence: &Divergence) -> String {
    let signature = &divergence.signature;
    format!("\n{divergence}\nAssertion failure: {}\nDEDUP_TOKEN: {signature}", signature.spelled())
}

/// Target `differential`: the file is exactly the bytes the decoders see.
pub fn differential(bytes: &[u8]) -> bool {
    run(Scope::Standard, Vec::new, &Case::new(bytes))
}

/// Target `relatives`: as [`differential`], for decoders of the relatives of UTF-8.
pub fn relatives(bytes: &[u8]) -> bool {
    run(Scope::Relatives, peers::policies, &Case::new(bytes))
}

/// Target `plain`: as [`differential`], every question put to every decoder, and nothing said of behaviour.
pub fn plain(bytes: &[u8]) {
    run_by(false, Scope::Standard, Vec::new, &Case::new(bytes));
}

/// As [`differential`], with decoders of one's own beside the peers: `more` is called once.
pub fn differential_with(more: fn() -> Vec<Box<dyn Decoder>>, bytes: &[u8]) -> bool {
    run(Scope::Standard, more, &Case::new(bytes))
}

/// Target `streaming`: the bytes, then a trailer with the cuts.
pub fn streaming(input: &Input) -> bool {
    run(Scope::All, Vec::new, &input.case())
}

/// As [`streaming`], with decoders of one's own beside the peers: `more` is called once.
pub fn streaming_with(more: fn() -> Vec<Box<dyn Decoder>>, input: &Input) -> bool {
    run(Scope::All, more, &input.case())
}

/// Target `structured`: segments drawn from the file.
pub fn structured(input: &Shown) -> bool {
    run(Scope::All, Vec::new, &Case::new(&input.0.0))
}

/// Target `roundtrip`: conversions there and back, drawn from the file.
pub fn roundtrip(input: &RoundTrip) {
    if let Some(deviation) = input.deviation() {
        eprintln!("\n{input:?}\n{deviation}");
        std::process::abort();
    }
}

/// A structured input whose `Debug` prints who says what of it.
pub struct Shown(Structured);

impl<'a> Arbitrary<'a> for Shown {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        Structured::arbitrary(u).map(Self)
    }
}

impl fmt::Debug for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let decoders = peers::all();
        let grid = crate::explain::Grid::of(
            &Contract::STANDARD,
            decoders.iter().map(|decoder| &**decoder),
            &Case::new(&self.0.0),
        );
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

    #[test]
    fn a_known_difference_passes_and_a_new_one_is_reported() {
        let case = Case::new(b"\xC0\xAF");
        let decoders = shipped();
        assert!(Harness::new(&decoders, "", Ledger::built_in()).unwrap().run(&case).is_none());
        let divergence = Harness::new(&decoders, "", Ledger::default()).unwrap().run(&case).unwrap();
        let report = crash_report(&divergence);
        let last: Vec<&str> = report.lines().rev().take(2).collect();
        assert_eq!(last[0], "DEDUP_TOKEN: verdict/utf8-decode/overlong-2/anywhere");
        assert_eq!(last[1], "Assertion failure: verdict/utfeight-decode/overlong-two/anywhere");
        assert!(report.contains("#[test]\nfn verdict_utf8_decode_overlong_2_anywhere() {"), "{report}");
        assert!(report.contains("RFC 3629 §3") && report.contains("C0"), "{report}");
    }

    #[test]
    fn no_signature_is_cut_short_as_a_crash_state() {
        /// So many bytes of a line are kept by ClusterFuzz.
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

    #[test]
    fn a_decoder_that_is_switched_off_is_not_asked() {
        let mut decoders = shipped();
        decoders.retain(|decoder| Scope::Standard.has(&decoder.info().contract));
        let mut harness = Harness::new(&decoders, "-utf8-decode", Ledger::default()).unwrap();
        assert!(harness.run(&Case::new(b"\xC0\xAF")).is_none());
        let asked = |name| harness.judge.statistics().comparisons.iter().find(|(known, _)| *known == name).unwrap().1;
        assert_eq!(asked("utf8-decode"), 0);
        assert!(asked("own") > 0);
        assert!(Harness::new(&decoders, "utf9", Ledger::default()).is_err());
    }

    #[test]
    fn novelty_is_found_once() {
        let decoders = shipped();
        let mut harness = Harness::new(&decoders, "own", Ledger::default()).unwrap();
        let mut novel = |bytes: &[u8]| {
            let (divergence, is_novel) = harness.run_naming(&Case::new(bytes), |_| {});
            assert!(divergence.is_none());
            is_novel
        };
        assert!(novel(b"\xE2\x82"));
        assert!(!novel(b"\xE2\x82"));
        assert!(novel(b"a\xE2\x82"));
    }

    #[test]
    fn a_structured_input_shows_who_says_what() {
        let shown = format!("{:?}", Shown(Structured(b"\xC0\xAF".to_vec())));
        assert!(shown.contains(r#"b"\xc0\xaf""#) && shown.contains("utf8-decode"), "{shown}");
    }
}
