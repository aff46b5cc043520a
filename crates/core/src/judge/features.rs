//! Behaviour features: what an input exercises, in terms of the standard. They are given to libFuzzer instead
//! of code coverage.
//!
//! The decoders that matter are branch-free, and `core` is not instrumented, so code coverage hardly distinguishes
//! inputs. These features do: which byte classes are where in a block, which errors result, and which decoders break
//! which law. `.ci/report ablation` measures what each group of features is worth. Two more were dropped,
//! since bugs were found sooner without them: the classes on both sides of a cut; and the place in a block of an error
//! that is the only one and at the end.

use crate::judge::expect::Expectation;
use crate::judge::laws::Broken;
use crate::spec::Reading;
use crate::utf8::{ByteClass, Kind};

/// A group of features, with its name and size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Group {
    name: &'static str,
    first: usize,
    count: usize,
}

impl Group {
    const fn after(name: &'static str, before: Self, count: usize) -> Self {
        Self { name, first: before.end(), count }
    }

    /// The feature after its last.
    const fn end(self) -> usize {
        self.first + self.count
    }

    /// The feature of this index in the group.
    fn at(self, index: usize) -> usize {
        self.first + index % self.count
    }
}

const CLASSES: usize = ByteClass::COUNT;
const KINDS: usize = Kind::ALL.len();
const BLOCK: usize = 64;

/// The examined positions in a block: next to its edges, its middle and the end of its first quarter.
const EDGES: [usize; 10] = [0, 1, 2, 15, 16, 31, 32, 61, 62, 63];

/// Each class at each examined position, with the class at the examined position before it.
const PAIRS: Group = Group { name: "pairs", first: 0, count: CLASSES * CLASSES * EDGES.len() };
/// Each kind of error at each position in a block.
const ERRORS: Group = Group::after("errors", PAIRS, KINDS * BLOCK);
/// Each kind of error, with the kind of the error before it.
const NEIGHBOURS: Group = Group::after("neighbours", ERRORS, KINDS * KINDS);
/// Each length within a block, well-formed or not.
const LENGTHS: Group = Group::after("lengths", NEIGHBOURS, 2 * BLOCK);
/// How long the input is and how many errors it has, both to a power of two.
const SIZES: Group = Group::after("sizes", LENGTHS, 16 * 16);
/// Which decoders break which law, with the first error; a hash.
const OUTCOMES: Group = Group::after("outcomes", SIZES, 512);
const GROUPS: [Group; 6] = [PAIRS, ERRORS, NEIGHBOURS, LENGTHS, SIZES, OUTCOMES];

/// The number of features, rounded up to a multiple of eight.
pub const FEATURES: usize = OUTCOMES.end().next_multiple_of(8);

/// The features seen so far.
pub(super) struct Features {
    /// One byte for each feature: 0 if it has not been seen.
    seen: Box<[u8; FEATURES]>,
    /// Which groups are enabled.
    groups: [bool; GROUPS.len()],
}

impl Features {
    pub(super) fn new() -> Self {
        Self { seen: Box::new([0; FEATURES]), groups: [true; GROUPS.len()] }
    }

    /// Enables only these groups.
    ///
    /// # Errors
    /// The names of all groups, if a name is unknown.
    pub(super) fn only(&mut self, names: &[&str]) -> Result<(), Vec<&'static str>> {
        if names.iter().any(|name| GROUPS.iter().all(|group| group.name != *name)) {
            return Err(GROUPS.iter().map(|group| group.name).collect());
        }
        self.groups = GROUPS.map(|group| names.contains(&group.name));
        for (group, _) in GROUPS.iter().zip(self.groups).filter(|(_, enabled)| !enabled) {
            self.seen[group.first..group.end()].fill(1);
        }
        Ok(())
    }

    /// Calls back with the features of a case and of its outcome whose groups are enabled; some perhaps more than once.
    pub(super) fn name(
        &self,
        expectation: Expectation<'_>,
        bytes: &[u8],
        broken: &[Broken],
        mut feature: impl FnMut(usize),
    ) {
        let mut if_enabled = |at: usize| {
            if self.is_enabled(at) {
                feature(at)
            }
        };
        each(expectation, bytes, &mut if_enabled);
        if_enabled(outcome(expectation, broken));
    }

    /// Whether this feature's group is enabled.
    fn is_enabled(&self, feature: usize) -> bool {
        let mut groups = GROUPS.iter().zip(self.groups);
        groups.any(|(group, enabled)| enabled && (group.first..group.end()).contains(&feature))
    }

    /// Records the features of an input. True if any is new.
    pub(super) fn note(&mut self, expectation: Expectation<'_>, bytes: &[u8]) -> bool {
        let mut seen = 1;
        each(expectation, bytes, |feature| seen &= core::mem::replace(&mut self.seen[feature], 1));
        seen == 0
    }

    /// Records the outcome of a case that all decoders were judged on. True if it is new.
    pub(super) fn note_outcome(&mut self, expectation: Expectation<'_>, broken: &[Broken]) -> bool {
        core::mem::replace(&mut self.seen[outcome(expectation, broken)], 1) == 0
    }
}

/// Calls back with the features of a case, some perhaps more than once, but not those of its outcome.
fn each(expectation: Expectation<'_>, bytes: &[u8], mut feature: impl FnMut(usize)) {
    let valid = usize::from(expectation.segments().is_empty());
    feature(LENGTHS.at(valid * BLOCK + bytes.len() % BLOCK));
    feature(SIZES.at(magnitude(bytes.len()) * 16 + magnitude(expectation.segments().len())));
    let mut before = KINDS - 1;
    for segment in expectation.segments() {
        let Reading::IllFormed { kind, .. } = segment.reading else { continue };
        let kind = kind.index();
        feature(ERRORS.at(kind * BLOCK + segment.start % BLOCK));
        feature(NEIGHBOURS.at(before * KINDS + kind));
        before = kind;
    }
    for block in bytes.chunks(BLOCK) {
        let mut before = ByteClass::of(b'a').index();
        for (place, &position) in EDGES.iter().enumerate() {
            let Some(&byte) = block.get(position) else { break };
            let class = ByteClass::of(byte).index();
            feature(PAIRS.at((before * CLASSES + class) * EDGES.len() + place));
            before = class;
        }
    }
}

/// The feature of an outcome: which decoders break which law, and the first error.
fn outcome(expectation: Expectation<'_>, broken: &[Broken]) -> usize {
    const PRIME: usize = 0x0100_0193;
    let mix = |hash: usize, value: usize| (hash ^ value).wrapping_mul(PRIME);
    let first = expectation.errors().next();
    let kind = first.and_then(|error| error.kind).map_or(KINDS, Kind::index);
    let len = expectation.segments().first().map_or(0, |segment| segment.len);
    let hash = broken.iter().fold(mix(kind, len), |hash, broken| mix(mix(hash, broken.decoder), broken.law as usize));
    OUTCOMES.at(hash ^ hash >> 15)
}

/// The number of binary digits, at most 15.
fn magnitude(number: usize) -> usize {
    (usize::BITS - number.leading_zeros()).min(15) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::expect::Expectations;
    use crate::judge::{Law, Subject};
    use crate::spec::Contract;

    /// The features of an input, each as its group and the index in it, without those of pairs.
    fn features(bytes: &[u8]) -> Vec<(&'static str, usize)> {
        let mut expectations = Expectations::default();
        let place = expectations.place(Contract::STANDARD);
        let mut features = Vec::new();
        let named = |feature: usize| {
            let group = GROUPS.into_iter().rfind(|group| group.first <= feature).unwrap();
            (group.name, feature - group.first)
        };
        each(expectations.of(place, bytes, false).unwrap(), bytes, |feature| features.push(named(feature)));
        features
    }

    #[test]
    fn features_say_what_is_where() {
        let [a, lead, tail] = [b'a', 0xC3, 0xA9].map(|byte| ByteClass::of(byte).index());
        let pair = |before: usize, class: usize, place: usize| ("pairs", (before * CLASSES + class) * 10 + place);
        assert_eq!(features(b""), [("lengths", 64), ("sizes", 0)]);
        let found = features(b"a\xC3\xA9");
        assert_eq!(
            found,
            [("lengths", 64 + 3), ("sizes", 2 * 16), pair(a, a, 0), pair(a, lead, 1), pair(lead, tail, 2)]
        );
        let text = [&[b'a'; 65][..], b"\xFF\xC3"].concat();
        let (invalid, incomplete) = (Kind::InvalidByte.index(), Kind::Incomplete.index());
        let found: Vec<_> = features(&text).into_iter().filter(|(group, _)| *group != "pairs").collect();
        let neighbours =
            [(KINDS - 1) * KINDS + invalid, invalid * KINDS + incomplete].map(|index| ("neighbours", index));
        let errors = [invalid * 64 + 1, incomplete * 64 + 2].map(|index| ("errors", index));
        assert_eq!(found, [("lengths", 3), ("sizes", 7 * 16 + 2), errors[0], neighbours[0], errors[1], neighbours[1]]);
        assert_eq!([0, 1, 2, 255, 256, 1 << 14, 1 << 20].map(magnitude), [0, 1, 2, 8, 9, 15, 15]);
        assert_eq!(PAIRS.at(PAIRS.count + 3), 3);
    }

    #[test]
    fn each_group_has_a_feature_for_each_index_and_follows_the_one_before_it() {
        let sizes = [CLASSES * CLASSES * 10, KINDS * 64, KINDS * KINDS, 128, 256, 512];
        assert_eq!(GROUPS.map(|group| group.count), sizes);
        let mut end = 0;
        for group in GROUPS {
            assert_eq!(group.first, end, "{}", group.name);
            end += group.count;
            assert_eq!([group.end(), Group::after("next", group, 1).first], [end; 2], "{}", group.name);
        }
        assert_eq!(FEATURES, end.next_multiple_of(8));
    }

    #[test]
    fn another_outcome_is_another_feature() {
        let mut expectations = Expectations::default();
        let place = expectations.place(Contract::STANDARD);
        let broken = |decoder, law| Broken { decoder, law, offset: None, subject: Subject::End };
        let mut of = |bytes: &[u8], broken: &[Broken]| {
            expectations.forget();
            outcome(expectations.of(place, bytes, false).unwrap(), broken)
        };
        let verdict = broken(0, Law::Verdict);
        let outcomes = [
            of(b"a", &[]),
            of(b"\xFF", &[]),
            of(b"\xFF", &[verdict]),
            of(b"\xFF", &[broken(1, Law::Verdict)]),
            of(b"\xFF", &[broken(0, Law::Lossy)]),
            of(b"\xFF", &[verdict, broken(1, Law::Lossy)]),
            of(b"\xE2\x82a", &[verdict]),
            of(b"\xE2a", &[verdict]),
        ];
        assert_eq!(outcomes.map(|outcome| outcome - OUTCOMES.first), OF_OUTCOMES);
        let mut features = Features::new();
        expectations.forget();
        let first = expectations.of(place, b"\xFF", false).unwrap();
        let novel = [&[][..], &[], &[verdict], &[verdict]].map(|broken| features.note_outcome(first, broken));
        assert_eq!(novel, [true, false, true, false]);
        assert!(features.is_enabled(OUTCOMES.first) && features.is_enabled(OUTCOMES.first + OUTCOMES.count - 1));
        features.only(&["sizes"]).unwrap();
        let enabled = [SIZES.first - 1, SIZES.first, SIZES.first + SIZES.count - 1, OUTCOMES.first];
        assert_eq!(enabled.map(|feature| features.is_enabled(feature)), [false, true, true, false]);
    }

    /// All different; the numbers themselves mean nothing.
    const OF_OUTCOMES: [usize; 8] = [413, 0, 294, 327, 446, 290, 277, 192];
}
