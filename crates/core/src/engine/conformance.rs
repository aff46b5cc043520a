//! A test of one decoder that takes a second or two and needs no dependencies.

use crate::case::{Input, input};
use crate::decoder::{Decoder, check_infos};
use crate::error::Error;
use crate::explain::{Divergence, Signature, explain};
use crate::generate::classes::Block;
use crate::generate::{fragments, seeds};
use crate::judge::{Broken, Judge, Law, Subject, silence_panics};
use crate::text::{counted, shown};
#[cfg(feature = "ledger")]
use crate::triage::ledger::Ledger;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};

/// The maximum number of bytes in a class string.
const LONGEST: u32 = 3;
/// How many ASCII bytes precede a class string: none, or enough to put it across the edge of a vector register.
const OFFSETS: [usize; 4] = [0, 14, 30, 62];

/// A test of one decoder: whether it keeps its contract, apart from the differences in a ledger if it has one.
pub struct Conformance<'a> {
    decoder: &'a dyn Decoder,
    #[cfg(feature = "ledger")]
    ledger: Ledger,
}

impl<'a> Conformance<'a> {
    /// A test without a ledger.
    pub fn of(decoder: &'a dyn Decoder) -> Self {
        Self {
            decoder,
            #[cfg(feature = "ledger")]
            ledger: Ledger::default(),
        }
    }

    /// The same with a ledger of known differences, the text of a TOML file such as `fuzz/known.toml`.
    ///
    /// ```
    /// # use utfuzz_core as utfuzz;
    /// use utfuzz::{Contract, Decoder, Info, Validity};
    ///
    /// /// U+0000 may be written as C0 80.
    /// struct Mine;
    ///
    /// static INFO: Info = Info::new("mine", "0.1.0").contract(Contract::VALIDATOR).expression("Mine");
    ///
    /// impl Decoder for Mine {
    ///     fn info(&self) -> &Info {
    ///         &INFO
    ///     }
    ///
    ///     fn validate(&self, bytes: &[u8]) -> Option<Validity> {
    ///         let mut bytes = bytes.to_vec();
    ///         while let Some(at) = bytes.windows(2).position(|pair| pair == b"\xC0\x80") {
    ///             bytes[at..at + 2].fill(0);
    ///         }
    ///         Some(core::str::from_utf8(&bytes).is_ok().into())
    ///     }
    /// }
    ///
    /// const KNOWN: &str = r#"
    ///     [[known]]
    ///     id = "zero-in-two-bytes"
    ///     decoder = "mine"
    ///     versions = "<1"
    ///     laws = ["verdict"]
    ///     subjects = ["overlong-2"]
    ///     reason = "Modified UTF-8 has no byte 00."
    ///     link = "https://docs.oracle.com/javase/8/docs/api/java/io/DataInput.html#modified-utf-8"
    ///     date = "2026-11-25"
    /// "#;
    /// utfuzz::Conformance::of(&Mine).ledger(KNOWN).assert();
    /// ```
    ///
    /// # Panics
    /// The text is not a ledger. The message says in which line, and what a ledger may hold.
    #[cfg(feature = "ledger")]
    #[track_caller]
    #[must_use]
    pub fn ledger(mut self, text: &str) -> Self {
        self.ledger = or_panic(Ledger::parse(text, "the ledger"));
        self
    }

    /// Panics unless the decoder keeps its contract on the inputs of [`assert_conforms`].
    ///
    /// # Panics
    /// As [`assert_conforms`].
    #[track_caller]
    pub fn assert(&self) {
        let found = self.divergences(inputs().map(|input| (input, None)));
        assert!(found.is_empty(), "{}", message(&self.decoder.info().name, &found));
        assert_answers(self.decoder);
    }

    /// Panics unless the decoder keeps its contract on every file below a directory, such as the witnesses that `utfuzz
    /// triage -o` keeps: each file is exactly the input, except that the last bytes of a file named `*.cut` say where the
    /// input is cut. Files named `.gitkeep` or `README.md` are ignored. A directory that does not exist has no files.
    ///
    /// # Panics
    /// As [`assert_conforms`], or a file cannot be read.
    #[track_caller]
    pub fn assert_on(&self, directory: &Path) {
        let inputs = or_panic(if directory.exists() { files(directory) } else { Ok(Vec::new()) });
        let found = self.divergences(inputs.into_iter());
        assert!(found.is_empty(), "{}: {}", shown(directory), message(&self.decoder.info().name, &found));
        assert_answers(self.decoder);
    }

    #[cfg(feature = "ledger")]
    fn is_known(&self, law: Law, subject: Subject) -> bool {
        self.ledger.covers(self.decoder.info(), law, subject).is_some()
    }

    #[cfg(not(feature = "ledger"))]
    fn is_known(&self, _: Law, _: Subject) -> bool {
        false
    }

    /// The smallest input of each signature, explained, and its file; the strongest law first, then the smallest input.
    #[track_caller]
    fn divergences(&self, inputs: impl Iterator<Item = Named>) -> Vec<(Divergence, Option<PathBuf>)> {
        or_panic(check_infos([self.decoder]));
        // A panic of the decoder is reported once, and not for every input.
        silence_panics();
        /// How many inputs are explained for each law and subject. Their signatures differ if the input must be long, or
        /// cut.
        const EXPLAINED: usize = 4;
        let mut judge = Judge::new([self.decoder]);
        let mut found: BTreeMap<(Law, Subject), Vec<(Named, Broken)>> = BTreeMap::new();
        for (input, file) in inputs {
            for &broken in judge.judge(&input.case()).iter().filter(|broken| !self.is_known(broken.law, broken.subject))
            {
                let smallest = found.entry((broken.law, broken.subject)).or_default();
                smallest.push(((input.clone(), file.clone()), broken));
                smallest.sort_by_key(|((input, _), _)| input.bytes.len());
                smallest.truncate(EXPLAINED);
            }
        }
        let mut explained: BTreeMap<Signature, (Divergence, Option<PathBuf>)> = BTreeMap::new();
        for ((input, file), broken) in found.into_values().flatten() {
            let divergence = explain(&judge, &input.case(), &broken);
            // The broken law may be a consequence of a stronger one that is known.
            if !self.is_known(divergence.signature.law, divergence.signature.subject) {
                explained.entry(divergence.signature.clone()).or_insert((divergence, file));
            }
        }
        let mut divergences: Vec<_> = explained.into_values().collect();
        divergences.sort_by_key(|(divergence, _)| (divergence.signature.law, divergence.bytes.len()));
        divergences
    }
}

/// Panics unless the decoder keeps its contract on some 12,000 inputs, the same ones at every call: the seeds of the
/// fuzz targets, every string of one or two fragments of text and errors, and every string of up to three byte classes,
/// alone and across the edges of vector registers. [`Conformance`] does the same with a ledger of known differences.
///
/// Panics of the decoder are caught and not printed, in the whole process from then on.
///
/// ```
/// # use utfuzz_core as utfuzz;
/// use utfuzz::{Contract, Decoder, Info, Validity};
///
/// struct Mine;
///
/// static INFO: Info = Info::new("mine", "0.1.0").contract(Contract::VALIDATOR).expression("Mine");
///
/// impl Decoder for Mine {
///     fn info(&self) -> &Info {
///         &INFO
///     }
///
///     fn validate(&self, bytes: &[u8]) -> Option<Validity> {
///         Some(core::str::from_utf8(bytes).map(drop).into())
///     }
/// }
///
/// utfuzz::assert_conforms(&Mine);
/// ```
///
/// # Panics
/// The decoder answers nothing, or breaks its contract, or has a name or a contract that [`check_infos`] refuses. The message
/// has the signature of each fault and, for the first three, the smallest input, the reason and a test.
#[track_caller]
pub fn assert_conforms(decoder: &dyn Decoder) {
    Conformance::of(decoder).assert();
}

/// [`Conformance::assert_on`] without a ledger.
///
/// # Panics
/// As [`assert_conforms`], or a file cannot be read.
#[track_caller]
pub fn assert_conforms_on(decoder: &dyn Decoder, directory: &Path) {
    Conformance::of(decoder).assert_on(directory);
}

/// The value, or a panic with the location of the caller, which a panic in a closure would not have.
#[track_caller]
fn or_panic<T>(result: Result<T, impl Display>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => panic!("{error}"),
    }
}

/// An input, and its file if it is from one.
type Named = (Input, Option<PathBuf>);

#[track_caller]
fn assert_answers(decoder: &dyn Decoder) {
    let answers = decoder.validate(b"a").is_some()
        || decoder.decode_lossy(b"a", &mut Vec::new()).is_some()
        || decoder.stream().is_some();
    let name = &decoder.info().name;
    assert!(answers, "{name} answers nothing, so nothing was tested; see `Decoder` for what to implement");
}

fn files(directory: &Path) -> Result<Vec<Named>, Error> {
    /// The maximum size of a file in bytes.
    const MOST: u64 = 1 << 20;
    let is_input = |path: &PathBuf| !(path.ends_with(".gitkeep") || path.ends_with("README.md"));
    let paths = input::files_below(directory)?;
    let read = paths.into_iter().filter(is_input).map(|path| {
        let bytes = input::read_file(&path, MOST)?;
        let has_cuts = path.extension().is_some_and(|extension| extension == "cut");
        Ok((if has_cuts { Input::from_cut_file(&bytes) } else { Input { bytes, cuts: None } }, Some(path)))
    });
    read.collect()
}

fn inputs() -> impl Iterator<Item = Input> {
    let seeds = seeds::differential().into_values().chain(seeds::relatives().into_values());
    let strings = seeds.chain(fragments::strings_up_to(2)).chain(class_strings());
    strings.map(|bytes| Input { bytes, cuts: None })
}

fn class_strings() -> impl Iterator<Item = Vec<u8>> {
    let blocks = (0..=LONGEST).flat_map(|len| OFFSETS.map(|offset| Block { len, offset }));
    blocks.flat_map(|strings| {
        (0..strings.count()).map(move |index| {
            let mut bytes = Vec::new();
            strings.write(index, &mut bytes);
            bytes
        })
    })
}

fn message(name: &str, found: &[(Divergence, Option<PathBuf>)]) -> String {
    /// How many are printed in full.
    const FULL: usize = 3;
    let named = |(divergence, file): &(Divergence, Option<PathBuf>)| {
        let file = file.as_ref().map_or(String::new(), |file| format!(": {}", shown(file)));
        format!("\n  {}{file}", divergence.signature)
    };
    let names: String = found.iter().map(named).collect();
    let full: String = found.iter().take(FULL).map(|(divergence, _)| format!("\n{divergence}\n")).collect();
    let ways = counted(found.len(), "way");
    let others = match found.len().saturating_sub(FULL) {
        0 => String::new(),
        others => format!("\n{others} more, listed above, will be shown once these are fixed.\n"),
    };
    format!("{name} breaks its contract in {ways}:{names}\n{full}{others}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decoder::Info;
    use crate::spec::grammar::WTF8;
    use crate::spec::{Contract, Replacement};
    use crate::utf8::Validity;
    use std::fs;
    use std::panic::catch_unwind;

    /// `core::str`, except that these bytes are well-formed anywhere.
    struct Accepting(&'static [u8]);

    static INFO: Info = Info::new("accepting", "1.0.0").contract(Contract::VALIDATOR).expression("mine::Accepting");

    impl Decoder for Accepting {
        fn info(&self) -> &Info {
            &INFO
        }

        fn validate(&self, bytes: &[u8]) -> Option<Validity> {
            let mut bytes = bytes.to_vec();
            while let Some(at) = bytes.windows(self.0.len().max(1)).position(|window| window == self.0) {
                bytes[at..at + self.0.len()].fill(b'a');
            }
            Some(if core::str::from_utf8(&bytes).is_ok() { Validity::Valid } else { Validity::INVALID })
        }
    }

    fn panic_of(assertion: impl FnOnce() + std::panic::UnwindSafe) -> String {
        *catch_unwind(assertion).unwrap_err().downcast::<String>().unwrap()
    }

    #[test]
    fn a_decoder_that_conforms_passes() {
        assert_conforms(&Accepting(b""));
    }

    #[test]
    fn each_way_in_which_a_decoder_is_wrong_is_shown_with_its_smallest_input_and_a_test() {
        let message = panic_of(|| assert_conforms(&Accepting(b"\xED\xA0\x80")));
        let lines: Vec<&str> = message.lines().take(2).collect();
        assert_eq!(lines, ["accepting breaks its contract in 1 way:", "  verdict/accepting/surrogate/anywhere"]);
        assert!(message.contains("\ninput, 3 bytes:\n"), "{message}");
        let test = "#[test]\nfn verdict_accepting_surrogate_anywhere() {\n    let decoder = &mine::Accepting;\n    \
                    let bytes = b\"\\xed\\xa0\\x80\";\n    \
                    let divergence = utfuzz::first_divergence(decoder, &utfuzz::Case::new(bytes));\n    \
                    assert!(divergence.is_none(), \"{}\", divergence.unwrap());\n}\n";
        assert!(message.contains(test), "{message}");
    }

    /// Answers no question.
    struct Silent;

    impl Decoder for Silent {
        fn info(&self) -> &Info {
            &INFO
        }
    }

    #[test]
    fn a_decoder_that_answers_nothing_does_not_pass() {
        let message = panic_of(|| assert_conforms(&Silent));
        assert!(message.starts_with("accepting answers nothing"), "{message}");
    }

    /// Escapes bytes as code points that its grammar accepts.
    struct Contradicting;

    static CONTRADICTION: Info = Info::new("contradicting", "1.0.0").contract(Contract {
        grammar: &WTF8,
        replacement: Some(Replacement::SurrogateEscape),
        ..Contract::STANDARD
    });

    impl Decoder for Contradicting {
        fn info(&self) -> &Info {
            &CONTRADICTION
        }

        fn validate(&self, bytes: &[u8]) -> Option<Validity> {
            Some(core::str::from_utf8(bytes).is_ok().into())
        }
    }

    #[test]
    fn a_contract_that_contradicts_itself_does_not_pass() {
        let message = panic_of(|| assert_conforms(&Contradicting));
        assert!(message.contains("(contradicting) has a contract that cannot be kept: surrogateescape"), "{message}");
    }

    /// Panics if the input ends with C2, in one-shot decoding only, so cuts do not matter.
    struct Panicking;

    impl Decoder for Panicking {
        fn info(&self) -> &Info {
            &INFO
        }

        fn validate(&self, bytes: &[u8]) -> Option<Validity> {
            assert!(!bytes.ends_with(b"\xC2"), "an end");
            Some(core::str::from_utf8(bytes).map(drop).into())
        }
    }

    #[test]
    fn a_panic_is_reported_without_cuts_that_do_not_matter() {
        let message = panic_of(|| assert_conforms(&Panicking));
        assert!(message.contains("  panic/accepting/incomplete/tail\n"), "{message}");
        assert!(message.contains("\ninput, 1 byte:\n") && message.contains("&utfuzz::Case::new(bytes));"), "{message}");
    }

    #[cfg(feature = "ledger")]
    #[test]
    fn what_the_ledger_names_is_passed_over_and_nothing_else() {
        let ledger = crate::triage::ledger::EXAMPLE.replace("\"faulty\"", "\"accepting\"");
        for overlong in [b"\xC0\xAF", b"\xC0\x80"] {
            Conformance::of(&Accepting(overlong)).ledger(&ledger).assert();
        }
        let message = panic_of(|| Conformance::of(&Accepting(b"\xED\xA0\x80")).ledger(&ledger).assert());
        assert!(message.contains("\n  verdict/accepting/surrogate/anywhere\n"), "{message}");
        let message = panic_of(|| drop(Conformance::of(&Accepting(b"")).ledger("[[known]]\nid = 1")));
        assert!(message.starts_with("the ledger, line 2: "), "{message}");
    }

    #[test]
    fn files_are_judged_and_what_is_not_an_input_is_ignored() {
        let scratch = std::env::temp_dir().join(format!("utfuzz-conformance-{}", std::process::id()));
        fs::create_dir_all(&scratch).unwrap();
        fs::write(scratch.join(".gitkeep"), b"\xC0\xAF").unwrap();
        fs::write(scratch.join("valid.bin"), "é").unwrap();
        let decoder = Accepting(b"\xC0\xAF");
        assert_conforms_on(&decoder, &scratch);
        assert_conforms_on(&decoder, &scratch.join("none"));
        // The same bytes with a trailer of cuts.
        fs::write(scratch.join("overlong.cut"), b"\xC0\xAF\x01\x00\x01").unwrap();
        let message = panic_of(|| assert_conforms_on(&decoder, &scratch));
        fs::remove_dir_all(&scratch).unwrap();
        let named = format!("\n  verdict/accepting/overlong-2/anywhere: {}\n", scratch.join("overlong.cut").display());
        assert!(message.contains(&named), "{message}");
    }
}
