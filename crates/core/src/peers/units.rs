//! Decoders of UTF-16, UTF-32, UCS-2 and UCS-4. They claim no contract and are not in the registry of decoders of UTF-8;
//! only the behaviour matrix asks them.

use crate::codec::convert::{Converter, Encoding, Options};
use crate::decoder::{Decoder, Info, Promise, Stream};
use crate::peers::adapter::{accepted, invalid_at};
#[cfg(feature = "peers")]
use crate::peers::crates::{StrictStream, to_utf8};
#[cfg(all(feature = "glibc", target_os = "linux", target_env = "gnu"))]
use crate::peers::glibc;
#[cfg(feature = "simdutf")]
use crate::peers::simdutf;
#[cfg(all(feature = "glibc", target_os = "linux", target_env = "gnu"))]
use crate::spec::Contract;
use crate::spec::Replacement;
use crate::utf8::Validity;

/// A decoder of an encoding whose code units have 16 or 32 bits.
pub struct UnitDecoder {
    /// What it decodes.
    pub encoding: Encoding,
    /// The decoder. Like that of any [`Decoder`], its text is UTF-8, in which a lone surrogate has three bytes.
    pub decoder: Box<dyn Decoder>,
}

/// What a decoder says when it has read a chunk.
enum Said {
    /// Nothing: it replaces what is ill-formed.
    Nothing,
    Verdict(Validity),
    /// It cannot be asked about this input.
    CannotSay,
}

impl Said {
    fn verdict(self) -> Option<Validity> {
        match self {
            Self::Verdict(validity) => Some(validity),
            Self::Nothing | Self::CannotSay => None,
        }
    }
}

/// Reads a chunk, the last if the flag is set, and appends its text.
type Feed = Box<dyn FnMut(&[u8], bool, &mut Vec<u8>) -> Said>;

/// A decoder that is fed whole inputs, and chunks if it has streams.
struct Units {
    info: Info,
    has_streams: bool,
    start: Box<dyn Fn() -> Feed + Send + Sync>,
}

impl Decoder for Units {
    fn info(&self) -> &Info {
        &self.info
    }

    fn validate(&self, bytes: &[u8]) -> Option<Validity> {
        (self.start)()(bytes, true, &mut Vec::new()).verdict()
    }

    fn decode_lossy(&self, bytes: &[u8], out: &mut Vec<u8>) -> Option<()> {
        let mut text = Vec::new();
        let is_text = match (self.start)()(bytes, true, &mut text) {
            Said::Nothing => true,
            Said::Verdict(validity) => validity.is_valid(),
            Said::CannotSay => false,
        };
        is_text.then(|| out.append(&mut text))
    }

    fn stream(&self) -> Option<Box<dyn Stream + '_>> {
        self.has_streams
            .then(|| Box::new(UnitStream { of: self, feed: (self.start)(), rejected: None }) as Box<dyn Stream>)
    }
}

struct UnitStream<'d> {
    of: &'d Units,
    feed: Feed,
    rejected: Option<Validity>,
}

impl UnitStream<'_> {
    fn feed(&mut self, chunk: &[u8], last: bool, out: &mut Vec<u8>) -> Option<Validity> {
        if self.rejected.is_none() {
            let verdict = (self.feed)(chunk, last, out).verdict();
            self.rejected = verdict.filter(|verdict| !verdict.is_valid());
            return verdict;
        }
        self.rejected
    }
}

impl Stream for UnitStream<'_> {
    fn push(&mut self, chunk: &[u8], out: &mut Vec<u8>) {
        self.feed(chunk, false, out);
    }

    fn finish(&mut self, out: &mut Vec<u8>) -> Option<Validity> {
        let verdict = self.feed(&[], true, out);
        (self.feed, self.rejected) = ((self.of.start)(), None);
        verdict
    }
}

/// What such decoders decode.
pub const ENCODINGS: [Encoding; 10] = [
    Encoding::Utf16,
    Encoding::Utf16Le,
    Encoding::Utf16Be,
    Encoding::Utf32,
    Encoding::Utf32Le,
    Encoding::Utf32Be,
    Encoding::Ucs2Le,
    Encoding::Ucs2Be,
    Encoding::Ucs4Le,
    Encoding::Ucs4Be,
];

/// Every such decoder of this build, by encoding.
pub fn all() -> Vec<UnitDecoder> {
    let mut all = Vec::new();
    for encoding in ENCODINGS {
        all.extend(own(encoding));
        all.extend(std(encoding));
        #[cfg(feature = "peers")]
        all.extend(of_encoding_rs(encoding));
        #[cfg(feature = "simdutf")]
        all.extend(of_simdutf(encoding));
        #[cfg(all(feature = "glibc", target_os = "linux", target_env = "gnu"))]
        all.extend(of_glibc(encoding));
    }
    all
}

/// A decoder whose name is that of its library, the encoding and a word.
fn unit<F>(library: Info, encoding: Encoding, word: &str, has_streams: bool, start: F) -> UnitDecoder
where
    F: Fn() -> Feed + Send + Sync + 'static,
{
    let name = format!("{}-{}{word}", library.name, encoding.name().to_lowercase());
    let mut info = library.name(name);
    info.promise = Promise::Nothing;
    UnitDecoder { encoding, decoder: Box::new(Units { info, has_streams, start: Box::new(start) }) }
}

/// Our own, strict and with U+FFFD.
fn own(encoding: Encoding) -> impl Iterator<Item = UnitDecoder> {
    // UCS-4 has values that UTF-8 has not.
    let is_wide = matches!(encoding, Encoding::Ucs4Le | Encoding::Ucs4Be);
    let to = if is_wide { Encoding::Rfc2279 } else { Encoding::Utf8 };
    [("", None), ("-replace", Some(Replacement::ReplacementCharacter))].into_iter().map(move |(word, on_error)| {
        let info = Info::new("utfuzz", env!("CARGO_PKG_VERSION")).name("own");
        unit(info, encoding, word, true, move || {
            let mut converter = Converter::new(encoding, to, Options { on_error, ..Options::STRICT }).ok();
            Box::new(move |chunk, last, out| {
                let Some(converter) = &mut converter else { return Said::CannotSay };
                let read = converter.push(chunk, out);
                match read.and_then(|()| if last { converter.finish(out).map(drop) } else { Ok(()) }) {
                    Err(fault) => Said::Verdict(invalid_at(fault.offset() as usize)),
                    Ok(()) if on_error.is_some() => Said::Nothing,
                    Ok(()) => Said::Verdict(Validity::Valid),
                }
            })
        })
    })
}

/// A decoder of an array of code units of `N` bytes, without streams. Bytes that are not a whole number of units cannot be
/// asked about.
fn of_array<const N: usize, U: 'static>(
    library: Info,
    encoding: Encoding,
    word: &str,
    unit_of: fn([u8; N]) -> U,
    decode: fn(&[U], &mut Vec<u8>) -> Said,
) -> UnitDecoder {
    unit(library, encoding, word, false, move || {
        Box::new(move |bytes, _, out| match bytes.as_chunks::<N>() {
            (units, []) => decode(&units.iter().map(|unit| unit_of(*unit)).collect::<Vec<_>>(), out),
            _ => Said::CannotSay,
        })
    })
}

/// Appends the text, if there is one.
fn text_or_not(text: Option<impl AsRef<str>>, out: &mut Vec<u8>) -> Said {
    if let Some(text) = &text {
        out.extend_from_slice(text.as_ref().as_bytes());
    }
    Said::Verdict(accepted(text.is_some()))
}

fn core() -> Info {
    Info::new("std", env!("UTFUZZ_CORE_VERSION")).package("core").lineage("core")
}

/// `String::from_utf16`, `String::from_utf16_lossy` and `char::from_u32`.
fn std(encoding: Encoding) -> Vec<UnitDecoder> {
    let utf16 = |unit_of: fn([u8; 2]) -> u16| {
        let strict = |units: &[u16], out: &mut Vec<u8>| text_or_not(String::from_utf16(units).ok(), out);
        let lossy = |units: &[u16], out: &mut Vec<u8>| {
            out.extend_from_slice(String::from_utf16_lossy(units).as_bytes());
            Said::Nothing
        };
        let of = |word, decode| of_array(core(), encoding, word, unit_of, decode);
        vec![of("", strict as fn(&[u16], &mut Vec<u8>) -> Said), of("-lossy", lossy)]
    };
    let utf32 = |unit_of: fn([u8; 4]) -> u32| {
        let decode = |units: &[u32], out: &mut Vec<u8>| {
            text_or_not(units.iter().map(|unit| char::from_u32(*unit)).collect::<Option<String>>(), out)
        };
        vec![of_array(core(), encoding, "", unit_of, decode)]
    };
    match encoding {
        Encoding::Utf16Le => utf16(u16::from_le_bytes),
        Encoding::Utf16Be => utf16(u16::from_be_bytes),
        Encoding::Utf32Le => utf32(u32::from_le_bytes),
        Encoding::Utf32Be => utf32(u32::from_be_bytes),
        _ => Vec::new(),
    }
}

/// encoding_rs, with the byte order mark kept, removed, and deciding what is decoded, as for the label `utf-16`.
#[cfg(feature = "peers")]
fn of_encoding_rs(encoding: Encoding) -> Vec<UnitDecoder> {
    use encoding_rs::{Decoder, UTF_16BE, UTF_16LE};
    let library = || Info::new("encoding_rs", "0.8.44");
    let lossy = |word, start: fn() -> Decoder| {
        unit(library(), encoding, word, true, move || {
            let mut decoder = start();
            Box::new(move |chunk, last, out| {
                to_utf8(&mut decoder, chunk, last, out);
                Said::Nothing
            })
        })
    };
    let strict = |start: fn() -> Decoder| {
        unit(library(), encoding, "-strict", true, move || {
            let mut stream = StrictStream::new(start());
            Box::new(move |chunk, last, out| {
                Said::Verdict(stream.feed(chunk, last, |text| out.extend_from_slice(text)))
            })
        })
    };
    match encoding {
        Encoding::Utf16 => vec![lossy("", || UTF_16LE.new_decoder()), strict(|| UTF_16LE.new_decoder())],
        Encoding::Utf16Le => vec![
            lossy("", || UTF_16LE.new_decoder_without_bom_handling()),
            lossy("-bom", || UTF_16LE.new_decoder_with_bom_removal()),
            strict(|| UTF_16LE.new_decoder_without_bom_handling()),
        ],
        Encoding::Utf16Be => vec![
            lossy("", || UTF_16BE.new_decoder_without_bom_handling()),
            lossy("-bom", || UTF_16BE.new_decoder_with_bom_removal()),
            strict(|| UTF_16BE.new_decoder_without_bom_handling()),
        ],
        _ => Vec::new(),
    }
}

/// simdutf, which takes code units of the byte order of the machine.
#[cfg(feature = "simdutf")]
fn of_simdutf(encoding: Encoding) -> Option<UnitDecoder> {
    let library = Info::new("simdutf", "0.7.0");
    match encoding {
        Encoding::Utf16Le => Some(of_array(library, encoding, "", u16::from_le_bytes, |units, out| {
            let mut text = vec![0; 3 * units.len()];
            let len = simdutf::from_utf16(units, &mut text);
            text_or_not(len.and_then(|len| std::str::from_utf8(&text[..len]).ok()), out)
        })),
        Encoding::Utf32Le => Some(of_array(library, encoding, "", u32::from_le_bytes, |units, out| {
            let mut text = vec![0; 4 * units.len()];
            let len = simdutf::from_utf32(units, &mut text);
            text_or_not(len.and_then(|len| std::str::from_utf8(&text[..len]).ok()), out)
        })),
        _ => None,
    }
}

/// `iconv` of the GNU C library.
#[cfg(all(feature = "glibc", target_os = "linux", target_env = "gnu"))]
fn of_glibc(encoding: Encoding) -> Option<UnitDecoder> {
    let from = match encoding {
        Encoding::Utf16 => c"UTF-16",
        Encoding::Utf16Le => c"UTF-16LE",
        Encoding::Utf16Be => c"UTF-16BE",
        Encoding::Utf32 => c"UTF-32",
        Encoding::Utf32Le => c"UTF-32LE",
        Encoding::Utf32Be => c"UTF-32BE",
        Encoding::Ucs2Le => c"UCS-2LE",
        Encoding::Ucs2Be => c"UCS-2BE",
        Encoding::Ucs4Le => c"UCS-4LE",
        Encoding::Ucs4Be => c"UCS-4BE",
        _ => return None,
    };
    // A converter may be a module that is not installed.
    drop(glibc::reader(from)?);
    let library = glibc::info("glibc-iconv", Contract::STANDARD);
    Some(unit(library, encoding, "", true, move || {
        let mut reader = glibc::reader(from);
        Box::new(move |chunk, last, out| match &mut reader {
            Some(reader) => Said::Verdict(reader(chunk, last, out)),
            None => Said::CannotSay,
        })
    }))
}
