//! The trait a decoder implements to be judged, and the description of a decoder.
//!
//! An implementation translates between the trait and the decoder, and does nothing else: it never compares, asserts or
//! repairs.

use crate::error::Error;
use crate::spec::{Contract, Detection, Replacement};
use crate::utf8::Validity;
use core::fmt;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A decoder under test.
///
/// Implement [`info`](Decoder::info) and at least one of [`validate`](Decoder::validate),
/// [`decode_lossy`](Decoder::decode_lossy) and [`stream`](Decoder::stream). The answer `None` means "cannot say", and is never
/// taken for "rejected".
///
/// ```
/// # use utfuzz_core as utfuzz;
/// use utfuzz::spec::Contract;
/// use utfuzz::utf8::Validity;
/// use utfuzz::{Decoder, Info, Judge};
///
/// /// Accepts surrogates, which UTF-8 does not have.
/// struct Mine;
///
/// static INFO: Info = Info::new("mine", "0.1.0").contract(Contract::VALIDATOR);
///
/// impl Decoder for Mine {
///     fn info(&self) -> &Info {
///         &INFO
///     }
///
///     fn validate(&self, bytes: &[u8]) -> Option<Validity> {
///         let surrogate = bytes.windows(2).any(|pair| pair[0] == 0xED && pair[1] >= 0xA0);
///         Some(if surrogate { Validity::Valid } else { core::str::from_utf8(bytes).map(drop).into() })
///     }
/// }
///
/// let mut judge = Judge::new([&Mine as &dyn Decoder]);
/// assert!(judge.judge(&utfuzz::case::Case::new("na\u{EF}ve".as_bytes())).is_empty());
/// let broken = judge.judge(&utfuzz::case::Case::new(b"\xED\xA0\x80"));
/// assert_eq!(broken[0].law.name(), "verdict");
/// ```
pub trait Decoder: Send + Sync {
    /// Which decoder this is, and what it promises. The same at every call.
    fn info(&self) -> &Info;

    /// Whether `bytes` are well-formed, and if not, where the first error is and what it is.
    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        let _ = bytes;
        None
    }

    /// Appends the decoded text to `out`, with ill-formed segments replaced as the contract prescribes. `out` may
    /// already contain arbitrary bytes, which must be preserved.
    ///
    /// Text is written as UTF-8. A decoder whose own output is UTF-16 or code points writes a lone surrogate as three
    /// bytes and a value above U+10FFFF as up to six. A decoder whose contract has no replacement decodes well-formed
    /// input and answers `None` to input it rejects.
    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let _ = (bytes, out);
        None
    }

    /// A decoder for input in chunks, at the start of a stream. Several may be alive at once and must not affect each
    /// other; any of them may be dropped before its end.
    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        None
    }

    /// How to ask many questions at once, for a decoder that answers them faster together than one by one; `None` if
    /// that makes no difference.
    fn batched(&self) -> Option<&dyn Batched> {
        None
    }
}

/// A decoder that answers many questions at once faster than one by one, such as one in another process.
pub trait Batched: Send + Sync {
    /// A decoder that notes each question it is asked by this thread, and answers it as expected.
    fn planner(&self) -> &dyn Decoder;

    /// Asks the questions that this thread has noted since the last call. When the thread asks them again, in any order,
    /// it gets the answers immediately.
    fn ask_planned(&self);

    /// Whether answers take so long, more than about 50 µs, that the decoder should be asked less.
    fn is_slow(&self) -> bool;

    /// Frees what it needs to answer, such as processes. It can still be asked again.
    fn stop(&self);

    /// How much was asked so far, and how fast it answered, in a few words.
    fn summary(&self) -> String;

    /// Whether it failed so often that it is not asked any more: its answers are then missing.
    fn is_set_aside(&self) -> bool {
        false
    }
}

/// What a decoder panics with, by [`resume_unwind`](std::panic::resume_unwind), if it fails, or if the process that
/// runs it ends or does not answer.
#[derive(Clone, Debug)]
pub struct NoAnswer {
    /// How the process ended; `None` if the decoder failed in some way other than rejecting its input.
    pub ending: Option<Ending>,
    /// What happened, in words.
    pub what: String,
}

/// How a decoder ended the process that asked it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Ending {
    /// It called `abort`, perhaps because it could not allocate memory.
    Abort,
    /// Its stack overflowed.
    StackOverflow,
    /// A signal such as SIGSEGV.
    Fault,
    /// It called `exit`.
    Exit,
    /// It was killed from outside, for example because no memory was left.
    Kill,
    /// It did not answer, and was killed.
    Hang,
    /// An adapter broke the protocol, and was killed.
    Garbage,
}

impl Ending {
    /// Every ending.
    pub const ALL: [Self; 7] =
        [Self::Abort, Self::StackOverflow, Self::Fault, Self::Exit, Self::Kill, Self::Hang, Self::Garbage];

    /// The name used in signatures.
    pub fn name(self) -> &'static str {
        match self {
            Self::Abort => "abort",
            Self::StackOverflow => "stack-overflow",
            Self::Fault => "fault",
            Self::Exit => "exit",
            Self::Kill => "kill",
            Self::Hang => "hang",
            Self::Garbage => "garbage",
        }
    }
}

/// A decoder that is fed in chunks.
pub trait Stream {
    /// Decodes the next chunk, which may be empty, and appends the text to `out`.
    ///
    /// `out` may be a different buffer at each call; its existing content must be neither read nor changed. Nothing is
    /// written if the contract has no replacement.
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>);

    /// Ends the stream, appends the remaining output to `out`, and returns the verdict on the whole stream if the
    /// decoder has one.
    ///
    /// Offsets count from the start of the stream. After this the next `push` starts a new stream. A stream that was
    /// never fed may be finished too: it is the empty string.
    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity>;

    /// False if the stream that was just finished held something about which this decoder cannot be asked, such as a
    /// quotation mark for one that reads JSON. Then its answers are not judged.
    fn is_answered(&self) -> bool {
        true
    }

    /// This stream, if it may move to another thread between two chunks: `Some(self)` for a type that is [`Send`]. Then
    /// it is also judged there.
    fn sendable(&mut self) -> Option<&mut (dyn Stream + Send + '_)> {
        None
    }
}

/// The identity of a decoder, and its contract.
///
/// [`Info::new`], [`Info::contract`], [`Info::expression`], [`Info::lineage_by_length`] and [`Info::variant_by_length`]
/// are `const`, so that an `Info` can be a `static`. Text that is known only at run time may be owned.
///
/// ```
/// # use utfuzz_core as utfuzz;
/// use utfuzz::Info;
///
/// let version = String::from("3.2.1");
/// let info = Info::new("mine-fast", "").version(version).package("mine").lineage("simdutf");
/// assert_eq!((&*info.name, &*info.version, info.lineage.at(1000)), ("mine-fast", "3.2.1", "simdutf"));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Info {
    /// The name, unique among the decoders judged together: lower-case letters, digits, `-`, `_` and `.`.
    pub name: Cow<'static, str>,
    /// The version of the implementation.
    pub version: Cow<'static, str>,
    /// The crate or library that has this version; for a crate, the package name in `Cargo.lock`.
    pub package: Cow<'static, str>,
    /// What the decoder promises.
    pub contract: Contract,
    /// The implementation that runs. Verdicts are counted by lineage, not by name.
    pub lineage: Lineage,
    /// A number that identifies the code, within the lineage, that validates an input of this many bytes; see
    /// [`Info::runs_same_code`].
    pub variant: fn(usize) -> u8,
    /// A Rust expression for the decoder. The tests that are printed with divergences contain it.
    pub expression: Option<Cow<'static, str>>,
    /// Which input the contract is about.
    pub promise: Promise,
}

/// Which input the contract of a decoder is about. For other input, `contract` says only how questions are put, and
/// the decoder is held to what every decoder must do: answer, always in the same way, and for chunks as for the whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Promise {
    /// All input.
    #[default]
    Everything,
    /// All input, except how many errors ill-formed bytes are cut into: one U+FFFD or several may stand for them.
    AnySegmentation,
    /// Well-formed input; what becomes of other input is not documented.
    WellFormed,
    /// No input: nothing is documented.
    Nothing,
}

impl Promise {
    /// The word that is added to the contract; none if all of it is promised.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Everything => None,
            Self::AnySegmentation => Some("any-segmentation"),
            Self::WellFormed => Some("well-formed-only"),
            Self::Nothing => Some("undocumented"),
        }
    }

    /// Checks that a decoder with this contract can make this promise.
    ///
    /// # Errors
    /// Which part of the contract contradicts it, why, and what to declare instead.
    pub fn check(self, contract: &Contract) -> Result<(), String> {
        match (self, contract.replacement, contract.detection) {
            (Self::AnySegmentation, Some(Replacement::ReplacementCharacter), Detection::Late) => Ok(()),
            (Self::AnySegmentation, Some(Replacement::ReplacementCharacter), Detection::Earliest) => Err(
                "detected-at-once contradicts any-segmentation: how much is decided depends on how many U+FFFD are \
                     written; name the segmentation, or declare Detection::Late"
                    .to_owned(),
            ),
            (Self::AnySegmentation, other, _) => Err(format!(
                "{} contradicts any-segmentation, which is about how many U+FFFD are written; promise everything",
                other.map_or("no-output", Replacement::name)
            )),
            _ => Ok(()),
        }
    }
}

impl Info {
    /// A decoder with [`Contract::STANDARD`], whose package and lineage have the same name.
    pub const fn new(name: &'static str, version: &'static str) -> Self {
        Self {
            name: Cow::Borrowed(name),
            version: Cow::Borrowed(version),
            package: Cow::Borrowed(name),
            contract: Contract::STANDARD,
            lineage: Lineage::Same(Cow::Borrowed(name)),
            variant: |_| 0,
            expression: None,
            promise: Promise::Everything,
        }
    }

    /// The same with another contract.
    #[must_use]
    pub const fn contract(mut self, contract: Contract) -> Self {
        self.contract = contract;
        self
    }

    /// The same with a Rust expression for the decoder, such as `decoder::Mine`, which printed tests contain.
    #[must_use]
    pub const fn expression(mut self, expression: &'static str) -> Self {
        // As in `lineage_by_length`.
        core::mem::forget(self.expression.replace(Cow::Borrowed(expression)));
        self
    }

    /// The same with another name; package and lineage stay.
    #[must_use]
    pub fn name(mut self, name: impl Into<Cow<'static, str>>) -> Self {
        self.name = name.into();
        self
    }

    /// The same with another version.
    #[must_use]
    pub fn version(mut self, version: impl Into<Cow<'static, str>>) -> Self {
        self.version = version.into();
        self
    }

    /// The same with another package.
    #[must_use]
    pub fn package(mut self, package: impl Into<Cow<'static, str>>) -> Self {
        self.package = package.into();
        self
    }

    /// The same with another lineage, for inputs of every length.
    #[must_use]
    pub fn lineage(mut self, lineage: impl Into<Cow<'static, str>>) -> Self {
        self.lineage = Lineage::Same(lineage.into());
        self
    }

    /// The same with a lineage that depends on the length of the input in bytes.
    #[must_use]
    pub const fn lineage_by_length(mut self, lineage: fn(usize) -> &'static str) -> Self {
        // A `const fn` may not drop what it replaces, which is borrowed text unless the caller has set it before.
        core::mem::forget(core::mem::replace(&mut self.lineage, Lineage::ByLength(lineage)));
        self
    }

    /// The same with code that depends, within a lineage, on the length of the input in bytes: different numbers mean
    /// different code.
    #[must_use]
    pub const fn variant_by_length(mut self, variant: fn(usize) -> u8) -> Self {
        self.variant = variant;
        self
    }

    /// Checks that the contract contradicts neither itself nor the promise.
    ///
    /// # Errors
    /// What contradicts what, why, and what to declare instead.
    pub fn check(&self) -> Result<(), String> {
        self.contract.check()?;
        self.promise.check(&self.contract)
    }

    /// The contract, and which part of it is promised, in one line.
    pub fn claim(&self) -> String {
        let word = self.promise.word().map(|word| format!(" {word}"));
        format!("{}{}", self.contract, word.unwrap_or_default())
    }

    /// Whether the same code validates inputs of these two lengths in bytes. If not, a test at one length does not
    /// cover the other.
    pub fn runs_same_code(&self, len: usize, other: usize) -> bool {
        self.lineage.at(len) == self.lineage.at(other) && (self.variant)(len) == (self.variant)(other)
    }
}

/// Checks that decoders can be judged together: each has a unique name, of lower-case letters, digits, `-`, `_` and `.`,
/// and a contract and a promise that contradict neither each other nor themselves.
///
/// # Errors
/// Which decoder has no such name or contract, or panics when it is asked for them.
pub fn check_infos<'d>(decoders: impl IntoIterator<Item = &'d dyn Decoder>) -> Result<(), Error> {
    let mut names = BTreeSet::new();
    for (index, decoder) in decoders.into_iter().enumerate() {
        let wrong = |what: &str| Err(Error::usage(format!("decoder {} of the list {what}", index + 1)));
        let Ok(info) = catch_unwind(AssertUnwindSafe(|| decoder.info())) else {
            return wrong("panics when it is asked for its `Info`");
        };
        let name = &*info.name;
        if name.is_empty() || !name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' | b'.')) {
            return wrong(&format!("is named {name:?}; use lower-case letters, digits, `-`, `_` and `.`"));
        }
        if !names.insert(name) {
            return wrong(&format!("is named {name:?}, like one before it; names must be unique"));
        }
        if let Err(contradiction) = info.check() {
            return wrong(&format!("({name}) has a contract that cannot be kept: {contradiction}"));
        }
    }
    Ok(())
}

/// The implementation that runs when a decoder is called. Decoders of one lineage are not independent of each other.
#[derive(Clone)]
#[non_exhaustive]
pub enum Lineage {
    /// The same code for every input.
    Same(Cow<'static, str>),
    /// Different code depending on the length of the input in bytes.
    ByLength(fn(usize) -> &'static str),
}

impl Lineage {
    /// The lineage for an input of `len` bytes.
    pub fn at(&self, len: usize) -> &str {
        match self {
            Self::Same(name) => name,
            Self::ByLength(name) => name(len),
        }
    }
}

impl fmt::Debug for Lineage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Same(name) => name.fmt(f),
            Self::ByLength(name) => write!(f, "{:?}..{:?}", name(0), name(usize::MAX)),
        }
    }
}
