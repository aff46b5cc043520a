//! What is measured: operations, and who can do them.

use crate::bench::Kind;
use crate::codec;
use crate::codec::Kernel;
use crate::spec;
use crate::spec::Contract;
use crate::utf8::Validity;
use encoding_rs::Encoding;
use serde::Serialize;

/// What is done with bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// Are they well-formed?
    Validate,
    /// How many of them are well-formed, up to the first error?
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
    /// From Latin-1 to UTF-8.
    #[serde(rename = "from-latin-1")]
    FromLatin1,
    /// How many characters?
    Count,
}

impl Operation {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Validate,
        Self::Locate,
        Self::Lossy,
        Self::Utf16,
        Self::Utf32,
        Self::FromUtf16,
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
            Self::FromLatin1 => "from-latin-1",
            Self::Count => "count",
        }
    }

    /// What the standard says; of many bytes, what `core::str` says, which is held to it elsewhere.
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
            Self::FromUtf16 => Self::Lossy.expected(bytes),
            Self::FromLatin1 => {
                let mut out = Vec::new();
                bytes.iter().for_each(|&byte| spec::model::push_generalised(byte.into(), &mut out));
                Answer::Bytes(out)
            }
            Self::Count => Answer::Number(spec::code_points(contract, bytes).count() as u64),
        }
    }

    /// How many bytes are read.
    pub(super) fn input_len(self, bytes: &[u8], room: &Room) -> usize {
        if self == Self::FromUtf16 { 2 * room.source_units.len() } else { bytes.len() }
    }

    /// A subject's answer, with what it wrote.
    pub(super) fn answer(self, said: Said, room: &Room) -> Answer {
        let in_units = self == Self::Utf16;
        if self == Self::Utf32 {
            let len = if let Said::Filled(len) = said { len } else { room.scalars.len() };
            return Answer::Scalars(room.scalars[..len].to_vec());
        }
        match said {
            Said::Number(number) => Answer::Number(number),
            Said::Appended if in_units => Answer::Units(room.units.clone()),
            Said::Appended => Answer::Bytes(room.bytes.clone()),
            Said::Text => Answer::Bytes(room.text.clone().into_bytes()),
            Said::Filled(len) if in_units => Answer::Units(room.unit_slice[..len].to_vec()),
            Said::Filled(len) => Answer::Bytes(room.byte_slice[..len].to_vec()),
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

/// Where subjects write. It keeps its size from pass to pass, so nobody's time is that of an allocation, or of zeros for a
/// buffer that is overwritten.
#[derive(Debug, Default)]
pub(super) struct Room {
    /// For those who append.
    bytes: Vec<u8>,
    text: String,
    units: Vec<u16>,
    scalars: Vec<u32>,
    /// What is read instead of the bytes: the same in UTF-16; the same as text, empty where it is none.
    source_units: Vec<u16>,
    source_text: String,
    /// For those who write into a slice.
    byte_slice: Vec<u8>,
    unit_slice: Vec<u16>,
}

impl Room {
    /// Room for these bytes.
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut room = Self { source_text: String::from_utf8(bytes.to_vec()).unwrap_or_default(), ..Self::default() };
        spec::utf16(&Contract::STANDARD, bytes, &mut room.source_units);
        room
    }

    /// The bytes as text, where they are.
    fn text_of(&self, bytes: &[u8]) -> Option<&str> {
        (self.source_text.len() == bytes.len()).then_some(&self.source_text)
    }
}

/// What a subject says, and where it wrote.
#[derive(Clone, Copy)]
pub(super) enum Said {
    Number(u64),
    Appended,
    Text,
    Filled(usize),
}

/// Does an operation; `None` where it cannot say.
type Run = Box<dyn Fn(&[u8], &mut Room) -> Option<Said>>;

/// One who can do an operation.
pub(super) struct Subject {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) run: Run,
}

fn subject(kind: Kind, name: &str, run: impl Fn(&[u8], &mut Room) -> Option<Said> + 'static) -> Subject {
    Subject { name: name.to_owned(), kind, run: Box::new(run) }
}

/// Everyone who can do this operation here.
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
        Operation::FromLatin1 => encoders_of_latin_1(),
        Operation::Count => counters(),
    };
    [chosen(operation)].into_iter().chain(kernels).chain(others).collect()
}

/// Ours, as users call it: the choice of the kernel is part of it.
fn chosen(operation: Operation) -> Subject {
    match operation {
        Operation::Validate => {
            subject(Kind::Own, "own", |bytes, _| Some(Said::Number(u64::from(codec::validate(bytes).is_ok()))))
        }
        Operation::Locate => subject(Kind::Own, "own", |bytes, _| {
            Some(Said::Number(codec::validate(bytes).map_or_else(|e| e.valid_up_to(), |()| bytes.len()) as u64))
        }),
        _ => by_kernel(Kind::Own, "own", operation, Kernel::best()),
    }
}

fn by_kernel(kind: Kind, name: &str, operation: Operation, kernel: Kernel) -> Subject {
    match operation {
        Operation::Validate => {
            subject(kind, name, move |bytes, _| Some(Said::Number(u64::from(kernel.validate(bytes).is_ok()))))
        }
        Operation::Locate => subject(kind, name, move |bytes, _| {
            Some(Said::Number(kernel.validate(bytes).map_or_else(|e| e.valid_up_to(), |()| bytes.len()) as u64))
        }),
        Operation::Lossy => subject(kind, name, move |bytes, room| {
            room.bytes.clear();
            kernel.lossy_into(bytes, &mut room.bytes);
            Some(Said::Appended)
        }),
        Operation::Utf16 => subject(kind, name, move |bytes, room| {
            room.units.clear();
            kernel.utf16_lossy_into(bytes, &mut room.units);
            Some(Said::Appended)
        }),
        Operation::Utf32 => subject(kind, name, move |bytes, room| {
            room.scalars.clear();
            kernel.utf32_lossy_into(bytes, &mut room.scalars);
            Some(Said::Appended)
        }),
        Operation::FromUtf16 => subject(kind, name, move |_, room| {
            room.bytes.clear();
            kernel.from_utf16_lossy_into(&room.source_units, &mut room.bytes);
            Some(Said::Appended)
        }),
        Operation::FromLatin1 => subject(kind, name, move |bytes, room| {
            room.bytes.clear();
            kernel.from_latin_1_into(bytes, &mut room.bytes);
            Some(Said::Appended)
        }),
        Operation::Count => {
            subject(kind, name, move |bytes, room| Some(Said::Number(kernel.char_count(room.text_of(bytes)?) as u64)))
        }
    }
}

fn peer(name: &str, run: fn(&[u8], &mut Room) -> Option<Said>) -> Subject {
    subject(Kind::Peer, name, run)
}

fn validators() -> Vec<Subject> {
    let is = |valid: bool| Some(Said::Number(u64::from(valid)));
    let limit = subject(Kind::Limit, "read", move |bytes, _| {
        std::hint::black_box(read(bytes));
        is(true)
    });
    vec![
        subject(Kind::Peer, "std", move |bytes, _| is(core::str::from_utf8(bytes).is_ok())),
        subject(Kind::Peer, "simdutf8", move |bytes, _| is(simdutf8::basic::from_utf8(bytes).is_ok())),
        subject(Kind::Peer, "encoding_rs", move |bytes, _| is(Encoding::utf8_valid_up_to(bytes) == bytes.len())),
        #[cfg(feature = "simdutf")]
        subject(Kind::Peer, "simdutf", move |bytes, _| is(simdutf::validate_utf8(bytes))),
        limit,
    ]
}

fn locators() -> Vec<Subject> {
    let at = |offset: usize| Some(Said::Number(offset as u64));
    vec![
        subject(Kind::Peer, "std", move |bytes, _| {
            at(core::str::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len))
        }),
        subject(Kind::Peer, "simdutf8-compat", move |bytes, _| {
            at(simdutf8::compat::from_utf8(bytes).map_or_else(|error| error.valid_up_to(), str::len))
        }),
        subject(Kind::Peer, "encoding_rs", move |bytes, _| at(Encoding::utf8_valid_up_to(bytes))),
        #[cfg(feature = "simdutf")]
        subject(Kind::Peer, "simdutf", move |bytes, _| at(simdutf::validate_utf8_with_errors(bytes).count)),
    ]
}

fn replacers() -> Vec<Subject> {
    vec![
        peer("std", |bytes, room| {
            room.bytes.clear();
            room.bytes.extend_from_slice(String::from_utf8_lossy(bytes).as_bytes());
            Some(Said::Appended)
        }),
        peer("encoding_rs", |bytes, room| {
            let mut decoder = encoding_rs::UTF_8.new_decoder_without_bom_handling();
            fit(&mut room.byte_slice, decoder.max_utf8_buffer_length(bytes.len())?);
            let (_, _, written, _) = decoder.decode_to_utf8(bytes, &mut room.byte_slice, true);
            Some(Said::Filled(written))
        }),
        peer("bstr", |bytes, room| {
            room.text.clear();
            bstr::ByteSlice::to_str_lossy_into(bytes, &mut room.text);
            Some(Said::Text)
        }),
        subject(Kind::Limit, "copy", |bytes, room| {
            fit(&mut room.byte_slice, bytes.len());
            room.byte_slice[..bytes.len()].copy_from_slice(bytes);
            std::hint::black_box(&room.byte_slice);
            Some(Said::Filled(bytes.len()))
        }),
    ]
}

fn transcoders() -> Vec<Subject> {
    vec![
        peer("std", |bytes, room| {
            room.units.clear();
            room.units.extend(String::from_utf8_lossy(bytes).encode_utf16());
            Some(Said::Appended)
        }),
        peer("encoding_rs", |bytes, room| {
            let mut decoder = encoding_rs::UTF_8.new_decoder_without_bom_handling();
            fit(&mut room.unit_slice, decoder.max_utf16_buffer_length(bytes.len())?);
            let (_, _, written, _) = decoder.decode_to_utf16(bytes, &mut room.unit_slice, true);
            Some(Said::Filled(written))
        }),
        // Of ill-formed bytes it says no more than that they are.
        #[cfg(feature = "simdutf")]
        peer("simdutf", |bytes, room| {
            fit(&mut room.unit_slice, bytes.len());
            crate::peers::simdutf::utf16(bytes, &mut room.unit_slice).map(Said::Filled)
        }),
        // Writes as many units, and reads nothing.
        subject(Kind::Limit, "fill", |_, room| {
            let len = room.source_units.len();
            fit(&mut room.unit_slice, len);
            room.unit_slice[..len].fill(0x2020);
            std::hint::black_box(&room.unit_slice);
            Some(Said::Filled(len))
        }),
    ]
}

fn transcoders_to_32() -> Vec<Subject> {
    vec![
        peer("std", |bytes, room| {
            room.scalars.clear();
            room.scalars.extend(String::from_utf8_lossy(bytes).chars().map(u32::from));
            Some(Said::Appended)
        }),
        #[cfg(feature = "simdutf")]
        peer("simdutf", |bytes, room| {
            fit(&mut room.scalars, bytes.len());
            crate::peers::simdutf::utf32(bytes, &mut room.scalars).map(Said::Filled)
        }),
    ]
}

fn encoders() -> Vec<Subject> {
    vec![
        peer("std", |_, room| {
            room.text.clear();
            let scalars = char::decode_utf16(room.source_units.iter().copied());
            room.text.extend(scalars.map(|scalar| scalar.unwrap_or(char::REPLACEMENT_CHARACTER)));
            Some(Said::Text)
        }),
        peer("encoding_rs", |_, room| {
            fit(&mut room.byte_slice, 3 * room.source_units.len());
            Some(Said::Filled(encoding_rs::mem::convert_utf16_to_utf8(&room.source_units, &mut room.byte_slice)))
        }),
        #[cfg(feature = "simdutf")]
        peer("simdutf", |_, room| {
            fit(&mut room.byte_slice, 3 * room.source_units.len());
            crate::peers::simdutf::from_utf16(&room.source_units, &mut room.byte_slice).map(Said::Filled)
        }),
    ]
}

fn encoders_of_latin_1() -> Vec<Subject> {
    vec![
        peer("std", |bytes, room| {
            room.text.clear();
            room.text.extend(bytes.iter().copied().map(char::from));
            Some(Said::Text)
        }),
        peer("encoding_rs", |bytes, room| {
            fit(&mut room.byte_slice, 2 * bytes.len());
            Some(Said::Filled(encoding_rs::mem::convert_latin1_to_utf8(bytes, &mut room.byte_slice)))
        }),
        #[cfg(feature = "simdutf")]
        peer("simdutf", |bytes, room| {
            fit(&mut room.byte_slice, 2 * bytes.len());
            crate::peers::simdutf::from_latin_1(bytes, &mut room.byte_slice).map(Said::Filled)
        }),
    ]
}

fn counters() -> Vec<Subject> {
    vec![
        peer("std", |bytes, room| Some(Said::Number(room.text_of(bytes)?.chars().count() as u64))),
        #[cfg(feature = "simdutf")]
        peer("simdutf", |bytes, room| {
            room.text_of(bytes)?;
            Some(Said::Number(simdutf::count_utf8(bytes) as u64))
        }),
    ]
}

/// Makes a slice long enough, and never shorter.
fn fit<T: Copy + Default>(slice: &mut Vec<T>, len: usize) {
    if slice.len() < len {
        slice.resize(len, T::default());
    }
}

/// Looks at every byte, and does no more.
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
