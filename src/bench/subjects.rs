//! What is measured: operations, and the subjects that can perform them.
//!
//! A peer is called here through its own interface, not through its adapter: the `Decoder` trait appends to a `Vec` and
//! translates the answer, which would be timed too.

use crate::codec;
use crate::codec::Kernel;
use crate::spec;
use crate::spec::Contract;
use crate::utf8::Validity;
use encoding_rs::Encoding;
use serde::{Deserialize, Serialize};

/// The kind of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Our decoder, as it chooses its kernel.
    Own,
    /// One of our kernels.
    Kernel,
    /// Someone else's decoder.
    Peer,
    /// Not a decoder: a limit set by the machine.
    Limit,
}

/// An operation on bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Are they well-formed?
    Validate,
    /// How many bytes precede the first error?
    Locate,
    /// To UTF-8, with U+FFFD for each maximal subpart.
    Lossy,
    /// To UTF-16, with U+FFFD for each maximal subpart.
    Utf16,
    /// To UTF-32, with U+FFFD for each maximal subpart.
    Utf32,
    /// From UTF-16 to UTF-8.
    #[serde(rename = "from-utf16")]
    FromUtf16,
    /// From UTF-32 to UTF-8.
    #[serde(rename = "from-utf32")]
    FromUtf32,
    /// From Latin-1 to UTF-8.
    #[serde(rename = "from-latin-1")]
    FromLatin1,
    /// How many characters?
    Count,
}

impl Operation {
    /// Every operation.
    pub const ALL: [Self; 9] = [
        Self::Validate,
        Self::Locate,
        Self::Lossy,
        Self::Utf16,
        Self::Utf32,
        Self::FromUtf16,
        Self::FromUtf32,
        Self::FromLatin1,
        Self::Count,
    ];

    /// The name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Validate => "validate",
            Self::Locate => "locate",
            Self::Lossy => "lossy",
            Self::Utf16 => "utf16",
            Self::Utf32 => "utf32",
            Self::FromUtf16 => "from-utf16",
            Self::FromUtf32 => "from-utf32",
            Self::FromLatin1 => "from-latin-1",
            Self::Count => "count",
        }
    }

    /// The answer of the standard; on large inputs the verdict and the offset of the error are those of `core::str`,
    /// which is checked against the standard elsewhere.
    pub(super) fn expected(self, bytes: &[u8]) -> Answer {
        const MANY: usize = 4 << 20;
        let contract = &Contract::STANDARD;
        let good = || match bytes.len() {
            ..=MANY => match spec::validity(contract, bytes) {
                Validity::Valid => Some(bytes.len()),
                Validity::Invalid(malformed) => malformed.valid_up_to,
            },
            _ => Some(core::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len)),
        };
        match self {
            Self::Validate => Answer::Number(u64::from(good() == Some(bytes.len()))),
            Self::Locate => Answer::Number(good().unwrap_or(0) as u64),
            Self::Lossy => {
                let mut out = Vec::new();
                spec::lossy(contract, bytes, &mut out);
                Answer::Bytes(out)
            }
            Self::Utf16 => {
                let mut out = Vec::new();
                spec::utf16(contract, bytes, &mut out);
                Answer::Units(out)
            }
            Self::Utf32 => Answer::Scalars(spec::code_points(contract, bytes).collect()),
            Self::FromUtf16 | Self::FromUtf32 => Self::Lossy.expected(bytes),
            Self::FromLatin1 => {
                let mut out = Vec::new();
                bytes.iter().for_each(|&byte| crate::utf8::push_extended(byte.into(), &mut out));
                Answer::Bytes(out)
            }
            Self::Count => Answer::Number(spec::code_points(contract, bytes).count() as u64),
        }
    }

    /// The length of the input in bytes.
    pub(super) fn input_len(self, input: &Input) -> usize {
        match self {
            Self::FromUtf16 => 2 * input.utf16.len(),
            Self::FromUtf32 => 4 * input.utf32.len(),
            _ => input.bytes.len(),
        }
    }

    /// A subject's answer, taken from the buffers it wrote to.
    pub(super) fn answer(self, output: Output, buffers: &Buffers) -> Answer {
        let in_units = self == Self::Utf16;
        if self == Self::Utf32 {
            let len = if let Output::Filled(len) = output { len } else { buffers.scalars.len() };
            return Answer::Scalars(buffers.scalars[..len].to_vec());
        }
        match output {
            Output::Number(number) => Answer::Number(number),
            Output::Appended if in_units => Answer::Units(buffers.units.clone()),
            Output::Appended => Answer::Bytes(buffers.bytes.clone()),
            Output::Text => Answer::Bytes(buffers.text.clone().into_bytes()),
            Output::Filled(len) if in_units => Answer::Units(buffers.units[..len].to_vec()),
            Output::Filled(len) => Answer::Bytes(buffers.bytes[..len].to_vec()),
        }
    }
}

/// An answer.
#[derive(PartialEq, Eq)]
pub(super) enum Answer {
    Number(u64),
    Bytes(Vec<u8>),
    Units(Vec<u16>),
    Scalars(Vec<u32>),
}

/// What an operation reads in one pass; the forms that it does not read are empty.
#[derive(Clone, Copy, Debug)]
pub struct Input<'a> {
    /// For all operations but `FromUtf16` and `FromUtf32`.
    pub bytes: &'a [u8],
    /// For `Count`, if it is well-formed.
    pub text: Option<&'a str>,
    /// For `FromUtf16`. For `Utf16`, the output for the first version of the text.
    pub utf16: &'a [u16],
    /// For `FromUtf32`.
    pub utf32: &'a [u32],
}

/// The buffers for the output: all subjects write into the same memory, unless they make a string. They keep their size from pass
/// to pass, so that neither allocation nor zeroing is timed.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    bytes: Vec<u8>,
    text: String,
    units: Vec<u16>,
    scalars: Vec<u32>,
}

/// What a subject returns: a number, or which buffer it wrote to.
#[derive(Clone, Copy)]
pub(super) enum Output {
    Number(u64),
    Appended,
    Text,
    Filled(usize),
}

/// Performs an operation; `None` if the subject cannot.
type Run = Box<dyn Fn(&Input, &mut Buffers) -> Option<Output>>;

/// An implementation of an operation, or a limit of the machine.
pub(super) struct Subject {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) run: Run,
}

fn subject(kind: Kind, name: &str, run: impl Fn(&Input, &mut Buffers) -> Option<Output> + 'static) -> Subject {
    Subject { name: name.to_owned(), kind, run: Box::new(run) }
}

/// All subjects that can perform this operation on this machine.
pub(super) fn subjects(operation: Operation) -> Vec<Subject> {
    let kernels =
        Kernel::available().map(|kernel| by_kernel(Kind::Kernel, &format!("own-{kernel}"), operation, kernel));
    let others = match operation {
        Operation::Validate => validators(),
        Operation::Locate => locators(),
        Operation::Lossy => replacers(),
        Operation::Utf16 => transcoders(),
        Operation::Utf32 => transcoders_to_32(),
        Operation::FromUtf16 => encoders(),
        Operation::FromUtf32 => encoders_of_32(),
        Operation::FromLatin1 => encoders_of_latin_1(),
        Operation::Count => counters(),
    };
    [chosen(operation)].into_iter().chain(kernels).chain(others).collect()
}

/// Our decoder as users call it; in `Validate` and `Locate`, the choice of the kernel is timed too.
fn chosen(operation: Operation) -> Subject {
    match operation {
        Operation::Validate => subject(Kind::Own, "own", |&Input { bytes, .. }, _| {
            Some(Output::Number(u64::from(codec::validate(bytes).is_ok())))
        }),
        Operation::Locate => subject(Kind::Own, "own", |&Input { bytes, .. }, _| {
            Some(Output::Number(codec::validate(bytes).map_or_else(|e| e.valid_up_to(), |()| bytes.len()) as u64))
        }),
        _ => by_kernel(Kind::Own, "own", operation, Kernel::best()),
    }
}

fn by_kernel(kind: Kind, name: &str, operation: Operation, kernel: Kernel) -> Subject {
    match operation {
        Operation::Validate => subject(kind, name, move |&Input { bytes, .. }, _| {
            Some(Output::Number(u64::from(kernel.validate(bytes).is_ok())))
        }),
        Operation::Locate => subject(kind, name, move |&Input { bytes, .. }, _| {
            Some(Output::Number(kernel.validate(bytes).map_or_else(|e| e.valid_up_to(), |()| bytes.len()) as u64))
        }),
        Operation::Lossy => subject(kind, name, move |&Input { bytes, .. }, buffers| {
            buffers.bytes.clear();
            kernel.lossy_into(bytes, &mut buffers.bytes);
            Some(Output::Appended)
        }),
        Operation::Utf16 => subject(kind, name, move |&Input { bytes, .. }, buffers| {
            buffers.units.clear();
            kernel.utf16_lossy_into(bytes, &mut buffers.units);
            Some(Output::Appended)
        }),
        Operation::Utf32 => subject(kind, name, move |&Input { bytes, .. }, buffers| {
            buffers.scalars.clear();
            kernel.utf32_lossy_into(bytes, &mut buffers.scalars);
            Some(Output::Appended)
        }),
        Operation::FromUtf16 => subject(kind, name, move |&Input { utf16, .. }, buffers| {
            buffers.bytes.clear();
            kernel.from_utf16_lossy_into(utf16, &mut buffers.bytes);
            Some(Output::Appended)
        }),
        Operation::FromUtf32 => subject(kind, name, move |&Input { utf32, .. }, buffers| {
            buffers.bytes.clear();
            kernel.from_utf32_lossy_into(utf32, &mut buffers.bytes);
            Some(Output::Appended)
        }),
        Operation::FromLatin1 => subject(kind, name, move |&Input { bytes, .. }, buffers| {
            buffers.bytes.clear();
            kernel.from_latin_1_into(bytes, &mut buffers.bytes);
            Some(Output::Appended)
        }),
        Operation::Count => {
            subject(kind, name, move |&Input { text, .. }, _| Some(Output::Number(kernel.char_count(text?) as u64)))
        }
    }
}

fn peer(name: &str, run: fn(&Input, &mut Buffers) -> Option<Output>) -> Subject {
    subject(Kind::Peer, name, run)
}

/// Whether simdutf8, and encoding_rs, which validates with it, run with the instructions of our kernel: they choose by
/// themselves, and cannot be held to fewer.
fn chooses_freely() -> bool {
    let best = Kernel::best();
    Kernel::available().last() == Some(best) || !matches!(best.name(), "scalar" | "sse41")
}

fn validators() -> Vec<Subject> {
    let is = |valid: bool| Some(Output::Number(u64::from(valid)));
    let best = Kernel::best();
    let is_free = chooses_freely();
    let limit = subject(Kind::Limit, "read", move |&Input { bytes, .. }, _| {
        std::hint::black_box(read(bytes));
        is(true)
    });
    vec![
        subject(Kind::Peer, "std", move |&Input { bytes, .. }, _| is(core::str::from_utf8(bytes).is_ok())),
        subject(Kind::Peer, "simdutf8", move |&Input { bytes, .. }, _| match best.name() {
            #[cfg(target_arch = "x86_64")]
            "sse41" => is(crate::peers::is_well_formed_by_sse42(bytes)?),
            _ => is_free.then(|| simdutf8::basic::from_utf8(bytes).is_ok()).and_then(is),
        }),
        subject(Kind::Peer, "encoding_rs", move |&Input { bytes, .. }, _| {
            is_free.then(|| Encoding::utf8_valid_up_to(bytes) == bytes.len()).and_then(is)
        }),
        #[cfg(feature = "simdutf")]
        subject(Kind::Peer, "simdutf", move |&Input { bytes, .. }, _| is(simdutf::validate_utf8(bytes))),
        limit,
    ]
}

fn locators() -> Vec<Subject> {
    let at = |offset: usize| Some(Output::Number(offset as u64));
    let is_free = chooses_freely();
    vec![
        subject(Kind::Peer, "std", move |&Input { bytes, .. }, _| {
            at(core::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len))
        }),
        subject(Kind::Peer, "simdutf8-compat", move |&Input { bytes, .. }, _| {
            let answer = || simdutf8::compat::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len);
            is_free.then(answer).and_then(at)
        }),
        subject(Kind::Peer, "encoding_rs", move |&Input { bytes, .. }, _| {
            is_free.then(|| Encoding::utf8_valid_up_to(bytes)).and_then(at)
        }),
        #[cfg(feature = "simdutf")]
        subject(Kind::Peer, "simdutf", move |&Input { bytes, .. }, _| {
            at(simdutf::validate_utf8_with_errors(bytes).count)
        }),
    ]
}

fn replacers() -> Vec<Subject> {
    let is_free = chooses_freely();
    vec![
        peer("std", |&Input { bytes, .. }, buffers| {
            buffers.bytes.clear();
            buffers.bytes.extend_from_slice(String::from_utf8_lossy(bytes).as_bytes());
            Some(Output::Appended)
        }),
        subject(Kind::Peer, "encoding_rs", move |&Input { bytes, .. }, buffers| {
            let mut decoder = is_free.then(|| encoding_rs::UTF_8.new_decoder_without_bom_handling())?;
            fit(&mut buffers.bytes, decoder.max_utf8_buffer_length(bytes.len())?);
            let (_, _, written, _) = decoder.decode_to_utf8(bytes, &mut buffers.bytes, true);
            Some(Output::Filled(written))
        }),
        peer("bstr", |&Input { bytes, .. }, buffers| {
            buffers.text.clear();
            bstr::ByteSlice::to_str_lossy_into(bytes, &mut buffers.text);
            Some(Output::Text)
        }),
        subject(Kind::Limit, "copy", |&Input { bytes, .. }, buffers| {
            fit(&mut buffers.bytes, bytes.len());
            buffers.bytes[..bytes.len()].copy_from_slice(bytes);
            std::hint::black_box(&buffers.bytes);
            Some(Output::Filled(bytes.len()))
        }),
    ]
}

fn transcoders() -> Vec<Subject> {
    vec![
        peer("std", |&Input { bytes, .. }, buffers| {
            buffers.units.clear();
            buffers.units.extend(String::from_utf8_lossy(bytes).encode_utf16());
            Some(Output::Appended)
        }),
        peer("encoding_rs", |&Input { bytes, .. }, buffers| {
            let mut decoder = encoding_rs::UTF_8.new_decoder_without_bom_handling();
            fit(&mut buffers.units, decoder.max_utf16_buffer_length(bytes.len())?);
            let (_, _, written, _) = decoder.decode_to_utf16(bytes, &mut buffers.units, true);
            Some(Output::Filled(written))
        }),
        // It reports ill-formed input, but not where the error is.
        #[cfg(feature = "simdutf")]
        peer("simdutf", |&Input { bytes, .. }, buffers| {
            fit(&mut buffers.units, bytes.len());
            crate::peers::simdutf::utf16(bytes, &mut buffers.units).map(Output::Filled)
        }),
        // Writes as many code units, and reads nothing.
        subject(Kind::Limit, "fill", |&Input { utf16, .. }, buffers| {
            let len = utf16.len();
            fit(&mut buffers.units, len);
            buffers.units[..len].fill(0x2020);
            std::hint::black_box(&buffers.units);
            Some(Output::Filled(len))
        }),
    ]
}

fn transcoders_to_32() -> Vec<Subject> {
    vec![
        peer("std", |&Input { bytes, .. }, buffers| {
            buffers.scalars.clear();
            buffers.scalars.extend(String::from_utf8_lossy(bytes).chars().map(u32::from));
            Some(Output::Appended)
        }),
        #[cfg(feature = "simdutf")]
        peer("simdutf", |&Input { bytes, .. }, buffers| {
            fit(&mut buffers.scalars, bytes.len());
            crate::peers::simdutf::utf32(bytes, &mut buffers.scalars).map(Output::Filled)
        }),
    ]
}

fn encoders() -> Vec<Subject> {
    vec![
        peer("std", |&Input { utf16, .. }, buffers| {
            buffers.text.clear();
            let scalars = char::decode_utf16(utf16.iter().copied());
            buffers.text.extend(scalars.map(|scalar| scalar.unwrap_or(char::REPLACEMENT_CHARACTER)));
            Some(Output::Text)
        }),
        peer("encoding_rs", |&Input { utf16, .. }, buffers| {
            fit(&mut buffers.bytes, 3 * utf16.len());
            Some(Output::Filled(encoding_rs::mem::convert_utf16_to_utf8(utf16, &mut buffers.bytes)))
        }),
        #[cfg(feature = "simdutf")]
        peer("simdutf", |&Input { utf16, .. }, buffers| {
            fit(&mut buffers.bytes, 3 * utf16.len());
            crate::peers::simdutf::from_utf16(utf16, &mut buffers.bytes).map(Output::Filled)
        }),
    ]
}

fn encoders_of_32() -> Vec<Subject> {
    vec![
        peer("std", |&Input { utf32, .. }, buffers| {
            buffers.text.clear();
            let scalars = utf32.iter().copied().map(char::from_u32);
            buffers.text.extend(scalars.map(|scalar| scalar.unwrap_or(char::REPLACEMENT_CHARACTER)));
            Some(Output::Text)
        }),
        #[cfg(feature = "simdutf")]
        peer("simdutf", |&Input { utf32, .. }, buffers| {
            fit(&mut buffers.bytes, 4 * utf32.len());
            crate::peers::simdutf::from_utf32(utf32, &mut buffers.bytes).map(Output::Filled)
        }),
    ]
}

fn encoders_of_latin_1() -> Vec<Subject> {
    vec![
        peer("std", |&Input { bytes, .. }, buffers| {
            buffers.text.clear();
            buffers.text.extend(bytes.iter().copied().map(char::from));
            Some(Output::Text)
        }),
        peer("encoding_rs", |&Input { bytes, .. }, buffers| {
            fit(&mut buffers.bytes, 2 * bytes.len());
            Some(Output::Filled(encoding_rs::mem::convert_latin1_to_utf8(bytes, &mut buffers.bytes)))
        }),
        #[cfg(feature = "simdutf")]
        peer("simdutf", |&Input { bytes, .. }, buffers| {
            fit(&mut buffers.bytes, 2 * bytes.len());
            crate::peers::simdutf::from_latin_1(bytes, &mut buffers.bytes).map(Output::Filled)
        }),
    ]
}

fn counters() -> Vec<Subject> {
    vec![
        peer("std", |&Input { text, .. }, _| Some(Output::Number(text?.chars().count() as u64))),
        #[cfg(feature = "simdutf")]
        peer("simdutf", |&Input { text, .. }, _| Some(Output::Number(simdutf::count_utf8(text?.as_bytes()) as u64))),
    ]
}

/// Grows a buffer to at least this length.
fn fit<T: Copy + Default>(slice: &mut Vec<T>, len: usize) {
    if slice.len() < len {
        slice.resize(len, T::default());
    }
}

/// Reads every byte, and does nothing else.
fn read(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<64>();
    let word = |part: &[u8]| part.iter().fold(0u64, |word, &byte| word << 8 | u64::from(byte));
    let mut all = [0u64; 8];
    for chunk in words {
        for (all, word) in all.iter_mut().zip(chunk.as_chunks::<8>().0) {
            *all |= u64::from_ne_bytes(*word);
        }
    }
    all.iter().fold(0, |all, word| all | word) | word(rest)
}
